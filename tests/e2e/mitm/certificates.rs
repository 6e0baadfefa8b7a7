//! The certificate authority and its leaves, looked at by OpenSSL.

use super::{API, Intercepted, builder, connect_port, curl, text};
use crate::upstream::{NOWHERE, Upstream};
use anyhow::{Context, Result};
use grov_tests::{Daemon, Grov, eventually};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// `openssl s_client` through the CONNECT proxy.
fn s_client(port: u16, target: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new("openssl")
        .args([
            "s_client",
            "-proxy",
            &format!("127.0.0.1:{port}"),
            "-connect",
            target,
        ])
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .context("openssl is not installed")?;
    Ok(text(&output.stdout) + &text(&output.stderr))
}

fn s_client_with(work: &Intercepted, arguments: &[&str]) -> Result<String> {
    let bundle = work.bundle();
    let bundle = bundle.to_str().context("a UTF-8 path")?;
    let all = [&["-CAfile", bundle], arguments].concat();
    s_client(work.port()?, "api.anthropic.com:443", &all)
}

/// Whether a client with the bundle gets an answer.
fn is_trusted(daemon: &Daemon, bundle: &Path) -> Result<Output> {
    let proxy = format!("http://127.0.0.1:{}", connect_port(daemon)?);
    curl(&proxy, bundle, &["-o", "/dev/null", &format!("{API}/")])
}

#[test]
fn both_tls_versions_and_only_http_1_1() -> Result<()> {
    let work = Intercepted::start()?;
    let host = ["-verify_hostname", "api.anthropic.com", "-verify_return_error"];
    for version in ["-tls1_2", "-tls1_3"] {
        let seen = s_client_with(&work, &[&host[..], &[version, "-alpn", "h2,http/1.1"]].concat())?;
        assert!(seen.contains("Verify return code: 0 (ok)"), "{version}: {seen}");
        assert!(seen.contains("ALPN protocol: http/1.1"), "{version}: {seen}");
    }
    let without = s_client_with(&work, &host)?;
    assert!(without.contains("No ALPN negotiated"), "{without}");
    let refused = s_client_with(&work, &[&host[..], &["-alpn", "h2"]].concat())?;
    assert!(refused.contains("no application protocol"), "{refused}");
    let old = s_client_with(&work, &[&host[..], &["-tls1_1"]].concat())?;
    assert!(old.contains("Cipher is (NONE)"), "{old}");
    Ok(())
}

#[test]
fn the_target_of_connect_decides_and_not_the_name_in_tls() -> Result<()> {
    let work = Intercepted::start()?;
    for name in [&["-noservername"][..], &["-servername", "other.example"]] {
        let host = ["-verify_hostname", "api.anthropic.com", "-verify_return_error"];
        let seen = s_client_with(&work, &[&host[..], name].concat())?;
        assert!(seen.contains("Verify return code: 0 (ok)"), "{name:?}: {seen}");
    }
    Ok(())
}

#[test]
fn leaves_live_a_day_and_are_for_servers() -> Result<()> {
    let work = Intercepted::start()?;
    let shown = s_client_with(&work, &["-showcerts"])?;
    let begin = shown.find("-----BEGIN").context("a certificate")?;
    let leaf = work.home.join("leaf.pem");
    std::fs::write(&leaf, &shown[begin..])?;
    let x509 = |arguments: &[&str]| -> Result<String> {
        let output = Command::new("openssl")
            .args(["x509", "-noout", "-in"])
            .arg(&leaf)
            .args(arguments)
            .output()?;
        Ok(text(&output.stdout))
    };
    let extensions = x509(&["-ext", "subjectAltName,extendedKeyUsage,basicConstraints"])?;
    for part in [
        "DNS:api.anthropic.com",
        "TLS Web Server Authentication",
        "CA:FALSE",
    ] {
        assert!(extensions.contains(part), "{part}: {extensions}");
    }
    assert_eq!(x509(&["-checkend", "86400"])?.trim(), "Certificate will expire");
    assert_eq!(
        x509(&["-checkend", "72000"])?.trim(),
        "Certificate will not expire"
    );
    let purpose = Command::new("openssl")
        .args(["verify", "-purpose", "sslserver", "-x509_strict", "-CAfile"])
        .arg(work.bundle())
        .arg(&leaf)
        .output()?;
    assert!(purpose.status.success(), "{}", text(&purpose.stderr));
    Ok(())
}

#[test]
fn the_authority_cannot_sign_for_other_hosts() -> Result<()> {
    let work = Intercepted::start()?;
    let ca = work.home.join("ca");
    let request = work.home.join("request.pem");
    let made = Command::new("openssl")
        .args([
            "req",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
        ])
        .args([
            "-subj",
            "/CN=bank.example",
            "-addext",
            "subjectAltName=DNS:bank.example",
        ])
        .args(["-x509", "-days", "1", "-CA"])
        .arg(ca.join("ca.crt"))
        .arg("-CAkey")
        .arg(ca.join("ca.key"))
        .arg("-keyout")
        .arg(work.home.join("stolen.key"))
        .arg("-out")
        .arg(&request)
        .output()?;
    assert!(made.status.success(), "{}", text(&made.stderr));
    let verified = Command::new("openssl")
        .args(["verify", "-CAfile"])
        .arg(ca.join("ca.crt"))
        .arg(&request)
        .output()?;
    let seen = text(&verified.stdout) + &text(&verified.stderr);
    assert!(
        !verified.status.success() && seen.contains("permitted subtree violation"),
        "{seen}"
    );
    Ok(())
}

#[test]
fn rotation_keeps_running_clients_working() -> Result<()> {
    let work = Intercepted::start()?;
    let old = work.home.join("old-bundle.pem");
    std::fs::copy(work.bundle(), &old)?;
    let shown = work.grov().run_json(&["ca", "show"])?.json;
    assert_eq!(shown["current"]["hosts"][0], "api.anthropic.com", "{shown}");
    assert_eq!(shown["old"], serde_json::Value::Null);
    let rotated = work.grov().run_json(&["ca", "rotate"])?.json;
    assert_eq!(
        rotated["old"]["fingerprint_sha256"],
        shown["current"]["fingerprint_sha256"]
    );
    for bundle in [&old, &work.bundle()] {
        let output = is_trusted(&work.daemon, bundle)?;
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    work.grov().run_json(&["ca", "rotate", "--now"])?;
    // The daemon looks at the files once a second.
    eventually("the old authority to be gone", || {
        let is_gone = !is_trusted(&work.daemon, &old).ok()?.status.success();
        (is_gone && is_trusted(&work.daemon, &work.bundle()).ok()?.status.success()).then_some(())
    })?;
    let log = work.daemon.log();
    assert!(log.contains("does not trust Grov's certificate"), "{log}");
    Ok(())
}

#[test]
fn a_deleted_authority_is_not_made_again_by_the_daemon() -> Result<()> {
    let work = Intercepted::start()?;
    let bundle = work.home.join("old-bundle.pem");
    std::fs::copy(work.bundle(), &bundle)?;
    let removed = work.grov().run_json(&["ca", "remove"])?.json;
    assert_eq!(removed["removed"], true);
    eventually("connections to be refused", || {
        (!is_trusted(&work.daemon, &bundle).ok()?.status.success()).then_some(())
    })?;
    assert!(!work.home.join("ca/ca.key").exists());
    assert!(work.daemon.log().contains("was deleted"), "{}", work.daemon.log());
    let path = work.grov().run_json(&["ca", "path"])?.json;
    assert_eq!(path["bundle"].as_str(), work.bundle().to_str());
    eventually("the new authority", || {
        is_trusted(&work.daemon, &work.bundle())
            .ok()?
            .status
            .success()
            .then_some(())
    })?;
    Ok(())
}

#[test]
fn a_readable_key_is_repaired_and_said() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    Grov::on(&home).run_json(&["ca", "path"])?;
    let key = home.join("ca/ca.key");
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o644))?;
    let daemon = builder(&home, NOWHERE).start()?;
    assert_eq!(std::fs::metadata(&key)?.permissions().mode() & 0o777, 0o600);
    assert!(
        daemon.log().contains("accessible to other users"),
        "{}",
        daemon.log()
    );
    Ok(())
}

#[test]
fn a_host_that_is_added_gets_a_certificate() -> Result<()> {
    let upstream = Upstream::start()?;
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let first = builder(&home, &upstream.url()).start()?;
    let old = folder.path().join("old.pem");
    std::fs::copy(home.join("ca/bundle.pem"), &old)?;
    first.stop()?;
    let second = builder(&home, &upstream.url())
        .env("GROV_MITM_HOSTS", "api.anthropic.com, localhost:1")
        .start()?;
    assert!(
        second.log().contains("not made for localhost"),
        "{}",
        second.log()
    );
    // A client that started before the change.
    let output = is_trusted(&second, &old)?;
    assert!(output.status.success(), "{}", text(&output.stderr));
    let seen = s_client(
        connect_port(&second)?,
        "localhost:1",
        &[
            "-CAfile",
            home.join("ca/bundle.pem").to_str().context("a UTF-8 path")?,
            "-verify_hostname",
            "localhost",
        ],
    )?;
    assert!(seen.contains("Verify return code: 0 (ok)"), "{seen}");
    Ok(())
}

#[test]
fn wrong_settings_are_refused_with_the_fix() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    for (hosts, reason) in [
        ("*.anthropic.com", "wildcards"),
        ("a:0", "port"),
        ("http://a", "port"),
    ] {
        let ended = builder(&home, NOWHERE).env("GROV_MITM_HOSTS", hosts).refuse()?;
        assert_eq!(ended.code(), Some(64), "{hosts}: {}", ended.stderr);
        assert!(
            ended.stderr.contains(reason) && ended.stderr.contains("mitm.hosts"),
            "{hosts}: {}",
            ended.stderr
        );
    }
    std::fs::create_dir_all(&home)?;
    std::fs::write(home.join("ca"), "in the way")?;
    let ended = builder(&home, NOWHERE).refuse()?;
    assert_eq!(ended.code(), Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("hint:"), "{}", ended.stderr);
    Ok(())
}

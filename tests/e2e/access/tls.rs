use super::{Scene, curl, post, s_client};
use crate::turn;
use anyhow::{Context, Result};
use grov_tests::{Request, eventually, exchange, open, read_response};
use rcgen::{CertificateParams, KeyPair};
use std::io::{BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};
use time::OffsetDateTime;

#[test]
fn a_self_made_certificate_serves_https_and_nothing_in_the_clear() -> Result<()> {
    let scene = Scene::new()?;
    let daemon = scene.builder(&["ENABLE_TLS"]).start()?;
    let log = daemon.log();
    assert!(log.contains("listening on https://127.0.0.1:"), "{log}");
    let fingerprint = eventually("the fingerprint", || {
        let log = daemon.log();
        let (_, rest) = log.split_once("SHA-256 fingerprint ")?;
        Some(rest.lines().next()?.to_owned())
    })?;
    let port = daemon.port();
    let authority = scene.authority();
    for host in ["localhost", "127.0.0.1"] {
        let answer = post(&format!("https://{host}:{port}"), 1, &["--cacert", &authority])?;
        assert_eq!(answer.status, 200, "{}", answer.stderr);
        assert!(answer.body.contains("message_stop"), "{}", answer.body);
    }
    let untrusting = post(&format!("https://localhost:{port}"), 2, &[])?;
    assert_eq!(untrusting.status, 0, "the client does not trust it");

    let shown = s_client(port, &["-showcerts"])?;
    let at = scene.folder.path().join("shown.pem");
    let begin = shown.find("-----BEGIN").context("no certificate")?;
    let end = shown.find("-----END").context("no certificate")?;
    std::fs::write(&at, format!("{}-----END CERTIFICATE-----\n", &shown[begin..end]))?;
    let output = std::process::Command::new("openssl")
        .args(["x509", "-noout", "-fingerprint", "-sha256", "-in"])
        .arg(&at)
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.trim().ends_with(&fingerprint), "{text} {fingerprint}");

    for path in ["/v1/messages", "/", "/_grov/health"] {
        let plain = curl(&format!("http://127.0.0.1:{port}{path}"), &[])?;
        assert_eq!(plain.status, 400, "{path}");
        let (_, message) = plain.error()?;
        assert!(message.contains("https://"), "{message}");
    }
    assert_eq!(scene.upstream.turns(), 2);
    Ok(())
}

#[test]
fn both_versions_of_tls_are_spoken_with_http_1_1_only() -> Result<()> {
    let scene = Scene::new()?;
    let daemon = scene.builder(&["ENABLE_TLS"]).start()?;
    let authority = scene.authority();
    for (version, name) in [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")] {
        let arguments = [
            version,
            "-CAfile",
            &authority,
            "-alpn",
            "h2,http/1.1",
            "-verify_return_error",
        ];
        let shown = s_client(daemon.port(), &arguments)?;
        assert!(
            shown.contains(name) && shown.contains("ALPN protocol: http/1.1"),
            "{shown}"
        );
        assert!(
            shown.contains("Verify return code: 0 (ok)") || shown.contains("Verification: OK"),
            "{shown}"
        );
    }
    let h2_only = s_client(daemon.port(), &["-alpn", "h2"])?;
    assert!(h2_only.contains("no application protocol"), "{h2_only}");
    let old = s_client(daemon.port(), &["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"])?;
    assert!(!old.contains("Session-ID: ") || old.contains("alert"), "{old}");
    Ok(())
}

#[test]
fn commands_and_hooks_of_this_machine_reach_a_daemon_with_tls() -> Result<()> {
    let scene = Scene::new()?;
    let daemon = scene.builder(&["ENABLE_TLS", "ENABLE_AUTH"]).start()?;
    let status = scene.grov().run_json(&["proxy-status"])?.json;
    let proxy = &status["proxy"];
    assert_eq!(proxy["running"], true, "{proxy}");
    assert_eq!(proxy["url"], format!("https://127.0.0.1:{}", daemon.port()));
    assert_eq!(proxy["access"]["tokens"]["active"], 0);
    assert_eq!(proxy["access"]["tls"]["self_signed"], true);
    // In the clear, only with the header of Grov's own programs, and only below /_grov/.
    let own = |path: &str| {
        exchange(
            daemon.port(),
            &Request::new("GET", path).header("x-grov-local", "1"),
        )
    };
    assert_eq!(own("/_grov/health")?.status, 200);
    assert_eq!(own("/v1/models")?.status, 400);
    let doctor = scene.grov().run_json(&["doctor"])?.json;
    let checks = doctor["checks"].as_array().context("no checks")?;
    let access = checks
        .iter()
        .find(|check| check["name"] == "access")
        .context("no check of access")?;
    assert_eq!(access["status"], "warn", "no token is active: {access}");
    Ok(())
}

struct Files {
    certificate: std::path::PathBuf,
    key: std::path::PathBuf,
}

impl Files {
    fn below(folder: &Path) -> Self {
        Self {
            certificate: folder.join("server.pem"),
            key: folder.join("server.key"),
        }
    }

    /// Replaces the files by a certificate that is valid for some days from `from` on.
    fn renew(&self, from: OffsetDateTime, days: i64) -> Result<()> {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()])?;
        params.not_before = from;
        params.not_after = from + time::Duration::days(days);
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?;
        std::fs::write(&self.key, key.serialize_pem())?;
        std::fs::set_permissions(&self.key, std::fs::Permissions::from_mode(0o600))?;
        std::fs::write(&self.certificate, certificate.pem())?;
        Ok(())
    }
}

#[test]
fn renewed_files_are_used_and_broken_ones_are_not() -> Result<()> {
    let scene = Scene::new()?;
    let files = Files::below(scene.folder.path());
    let yesterday = OffsetDateTime::now_utc() - time::Duration::days(1);
    files.renew(yesterday, 30)?;
    let daemon = scene
        .builder(&[])
        .arg("--tls-cert")
        .arg(&files.certificate)
        .arg("--tls-key")
        .arg(&files.key)
        .start()?;
    let url = format!("https://localhost:{}", daemon.port());
    let old = scene.folder.path().join("old.pem");
    std::fs::copy(&files.certificate, &old)?;
    let trusted = |authority: &Path| {
        Ok::<_, anyhow::Error>(post(&url, 1, &["--cacert", &authority.display().to_string()])?.status == 200)
    };
    assert!(trusted(&old)?);
    std::fs::write(&files.certificate, "no certificate")?;
    eventually("the fault to be logged", || {
        daemon
            .log()
            .contains("the old certificate stays in use")
            .then_some(())
    })?;
    assert!(trusted(&old)?);
    let status = scene.grov().run_json(&["proxy-status"])?.json;
    assert!(
        status["proxy"]["access"]["tls"]["last_error"].is_string(),
        "{status}"
    );
    files.renew(yesterday, 60)?;
    eventually("the renewed certificate", || {
        trusted(&files.certificate).ok()?.then_some(())
    })?;
    assert!(!trusted(&old)?);
    Ok(())
}

#[test]
fn unusable_certificates_are_refused_at_the_start() -> Result<()> {
    let scene = Scene::new()?;
    let files = Files::below(scene.folder.path());
    let refused = |part: &str| -> Result<()> {
        let ended = scene
            .builder(&["ENABLE_TLS"])
            .env("GROV_PROXY_TLS_CERT", &files.certificate)
            .env("GROV_PROXY_TLS_KEY", &files.key)
            .refuse()?;
        assert_eq!(ended.code(), Some(64), "{}", ended.stderr);
        assert!(
            ended.stderr.contains(part) && ended.stderr.contains("hint: "),
            "{part}: {}",
            ended.stderr
        );
        Ok(())
    };
    let now = OffsetDateTime::now_utc();
    refused("server.pem")?;
    files.renew(now - time::Duration::days(40), 30)?;
    refused("expired")?;
    files.renew(now + time::Duration::days(2), 30)?;
    refused("not valid before")?;
    files.renew(now - time::Duration::days(1), 30)?;
    std::fs::set_permissions(&files.key, std::fs::Permissions::from_mode(0o644))?;
    refused("permissions")?;
    std::fs::write(&files.key, KeyPair::generate()?.serialize_pem())?;
    std::fs::set_permissions(&files.key, std::fs::Permissions::from_mode(0o600))?;
    refused("is not the key")?;
    std::fs::remove_file(&files.key)?;
    refused("server.key")?;
    let half = scene
        .builder(&[])
        .env("GROV_PROXY_TLS_CERT", &files.certificate)
        .refuse()?;
    assert_eq!(half.code(), Some(64), "{}", half.stderr);
    Ok(())
}

#[test]
fn clients_that_are_no_tls_clients_are_closed() -> Result<()> {
    let scene = Scene::new()?;
    let daemon = scene.builder(&["ENABLE_TLS"]).start()?;
    let port = daemon.port();
    let is_closed = |stream: &mut std::net::TcpStream| {
        let mut rest = Vec::new();
        // A reset is a close too.
        let _ = stream.read_to_end(&mut rest);
        !String::from_utf8_lossy(&rest).contains("200 OK")
    };
    // Nothing at all, half a record, junk, a handshake of junk.
    for bytes in [
        &b""[..],
        b"\x16\x03\x01",
        b"\x00\x01\x02",
        b"\x16\x03\x01\x00\x10aaaaaaaaaaaaaaaa",
    ] {
        let mut stream = open(port)?;
        let _ = stream.write_all(bytes);
        // The proxy may have closed it already.
        let _ = stream.shutdown(std::net::Shutdown::Write);
        assert!(is_closed(&mut stream), "{bytes:?}");
    }
    // Ten megabytes before the first line.
    for byte in [b'\n', b'x', b'G'] {
        let mut stream = open(port)?;
        let _ = stream.write_all(&vec![byte; 10 * 1024 * 1024]);
        assert!(is_closed(&mut stream), "{byte}");
    }
    // In the clear and then nothing: the head of the request never ends.
    let mut slow = open(port)?;
    slow.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")?;
    assert_eq!(read_response(&mut BufReader::new(&slow), |_| {})?.status, 400);
    let answer = post(
        &format!("https://localhost:{port}"),
        1,
        &["--cacert", &scene.authority()],
    )?;
    assert_eq!(answer.status, 200, "{}", answer.stderr);
    Ok(())
}

#[test]
fn a_stop_does_not_wait_for_handshakes() -> Result<()> {
    let scene = Scene::new()?;
    let daemon = scene.builder(&["ENABLE_TLS"]).start()?;
    let silent = open(daemon.port())?;
    let mut half = open(daemon.port())?;
    half.write_all(b"\x16\x03\x01\x02\x00")?;
    std::thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    let ended = daemon.stop()?;
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    drop((silent, half));
    Ok(())
}

#[test]
fn a_large_answer_and_a_large_request_pass_unchanged() -> Result<()> {
    let scene = Scene::new()?;
    let daemon = scene.builder(&["ENABLE_TLS"]).start()?;
    let session = turn::session(5);
    let text = format!("[[scenario:tools]] {}", "x".repeat(3_000_000));
    let request = turn::prompt(&session, &text).bytes(0);
    let at = scene.folder.path().join("body");
    let head = request
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .context("no head")?;
    std::fs::write(&at, &request[head + 4..])?;
    let url = format!("https://localhost:{}/v1/messages", daemon.port());
    let data = format!("@{}", at.display());
    let arguments = [
        "--cacert",
        &scene.authority(),
        "-H",
        "content-type: application/json",
        "-H",
        "x-api-key: sk-ant-api03-test-0000",
        "-H",
        "anthropic-version: 2023-06-01",
        "--data-binary",
        &data,
    ];
    let answer = curl(&url, &arguments)?;
    assert_eq!(answer.status, 200, "{}", answer.stderr);
    let seen = scene.upstream.sim().messages();
    assert_eq!(seen.last().context("nothing arrived")?.body, &request[head + 4..]);
    Ok(())
}

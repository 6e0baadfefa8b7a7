//! What runs inside `grov run`: another run, and a daemon that outlives it.

use crate::upstream::NOWHERE;
use anyhow::{Context, Result, ensure};
use grov_tests::{Grov, binary};
use std::path::Path;

const OUTER_PROXY: &str = "http://ana:hunter2@proxy.example:3128";

/// The command line of a user behind a company's proxy, with the company's certificates.
fn grov(home: &Path, certificates: &Path) -> Result<Grov> {
    std::fs::write(certificates, "# mine\n")?;
    Ok(Grov::on(home)
        .env("HTTPS_PROXY", OUTER_PROXY)
        .env("NODE_EXTRA_CA_CERTS", certificates.to_str().context("not UTF-8")?)
        .env("GROV", binary("grov")?.to_str().context("not UTF-8")?))
}

#[test]
fn a_run_inside_a_run_keeps_the_users_certificates_and_proxy() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let grov = grov(&home, &folder.path().join("own.pem"))?;
    // The inner daemon's environment says through which proxy it goes.
    let inner = "tr '\\0' '\\n' < /proc/$(cat $GROV_HOME/run/*.json | tr ',' '\\n' | sed -n 's/.*\"pid\"://p' | tail -1)/environ \
                 | grep ^HTTPS_PROXY=; cat $NODE_EXTRA_CA_CERTS";
    let script = format!(
        "exec $GROV run --upstream {NOWHERE} -- sh -c '{}'",
        inner.replace('\'', "'\\''")
    );
    let ended = grov.run(&["run", "--upstream", NOWHERE, "--", "sh", "-c", &script])?;
    ensure!(ended.code() == Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("# mine"), "{}", ended.stdout);
    let authorities = ended.stdout.matches("BEGIN CERTIFICATE").count();
    assert_eq!(authorities, 1, "{}", ended.stdout);
    if cfg!(target_os = "linux") {
        let line = format!("HTTPS_PROXY={OUTER_PROXY}");
        assert!(ended.stdout.contains(&line), "{}", ended.stdout);
    }
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn a_daemon_started_inside_a_run_does_not_depend_on_it() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let own = folder.path().join("own.pem");
    let grov = grov(&home, &own)?;
    // Programs in the run do not see the password.
    let script = "env | grep hunter2; $GROV proxy start >&2";
    let words = ["run", "--upstream", NOWHERE, "--", "sh", "-c", script];
    let ended = grov.clone().env("GROV_PROXY_PORT", "0").run(&words)?;
    let record = std::fs::read(home.join("daemon.json")).with_context(|| ended.stderr.clone())?;
    let record: serde_json::Value = serde_json::from_slice(&record)?;
    let environment = std::fs::read(format!("/proc/{}/environ", record["pid"]));
    let stopped = grov.run(&["proxy", "stop"])?;
    let environment = String::from_utf8(environment?)?;
    let variables: Vec<&str> = environment.split('\0').collect();
    assert!(
        variables.contains(&format!("HTTPS_PROXY={OUTER_PROXY}").as_str()),
        "{variables:?}"
    );
    let certificates = format!("NODE_EXTRA_CA_CERTS={}", own.display());
    assert!(variables.contains(&certificates.as_str()), "{variables:?}");
    let of_run = |line: &&str| line.starts_with("https_proxy=") || line.starts_with("GROV_RUN_");
    assert_eq!(variables.iter().find(|line| of_run(line)), None);
    assert_eq!(stopped.code(), Some(0));
    assert_eq!(ended.stdout, "");
    let left = std::fs::read_dir(home.join("run"))?.count();
    assert_eq!(left, 0, "the record of the run is deleted");
    Ok(())
}

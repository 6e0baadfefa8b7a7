//! `grov init --mitm`: a function of the shell, which is removed byte for byte.

use anyhow::{Context, Result};
use grov_tests::Grov;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const RC: &str = "# mine\nalias ll='ls -l'\n\nexport A=b";

#[test]
fn the_function_is_added_and_removed_byte_for_byte() -> Result<()> {
    for command in ["unregister", "uninstall"] {
        let folder = tempfile::tempdir()?;
        let rc = folder.path().join(".bashrc");
        fs::write(&rc, RC)?;
        fs::set_permissions(&rc, fs::Permissions::from_mode(0o640))?;
        let grov = Grov::on(&folder.path().join("grov")).env("SHELL", "/bin/bash");
        let planned = grov.run_json(&["init", "--mitm", "--dry-run"])?;
        assert_eq!(planned.code, Some(0), "{}", planned.json);
        assert_eq!(fs::read_to_string(&rc)?, RC, "a dry run changes nothing");
        for _ in 0..2 {
            let done = grov.run(&["init", "--mitm"])?;
            assert_eq!(done.code(), Some(0), "{done:?}");
        }
        let text = fs::read_to_string(&rc)?;
        assert_eq!(text.matches("function claude").count(), 1, "{text}");
        let doctor = grov.run_json(&["doctor"])?;
        let checks = doctor.json["checks"].as_array().context("no checks")?;
        let check = checks.iter().find(|check| check["name"] == "shell function");
        assert_eq!(check.context("no check")?["status"], "ok");
        let undone = grov.run(&[command])?;
        assert_eq!(undone.code(), Some(0), "{undone:?}");
        assert_eq!(fs::read_to_string(&rc)?, RC);
        assert_eq!(fs::metadata(&rc)?.permissions().mode() & 0o777, 0o640);
        assert!(
            !folder.path().join(".claude").exists(),
            "the settings file is left"
        );
    }
    Ok(())
}

#[test]
fn a_shell_that_is_not_known_is_told_what_to_do() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let grov = Grov::on(&folder.path().join("grov")).env("SHELL", "/bin/tcsh");
    let ended = grov.run(&["init", "--mitm"])?;
    assert_eq!(ended.code(), Some(2), "{ended:?}");
    assert!(ended.stderr.contains("run -- claude"), "{}", ended.stderr);
    assert!(
        !folder.path().join(".claude").exists(),
        "nothing is registered before"
    );
    Ok(())
}

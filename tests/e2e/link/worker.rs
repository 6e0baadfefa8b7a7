//! The process that keeps links going where no daemon runs.

use super::{Developer, key};
use crate::agent::Scene;
use anyhow::Result;
use grov_tests::eventually;
use serde_json::json;
use std::fs;
use std::process::{Child, Stdio};

/// A worker of a linked developer, started by the test so that its end can be seen.
fn working(scene: &Scene, developer: &Developer) -> Result<Child> {
    let lock = developer.without_worker()?;
    developer.link(scene, &key(scene, "ada", "approver")?)?;
    drop(lock);
    let mut command = developer.grov.command(&["agent", "sync", "--follow"])?;
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let worker = command.spawn()?;
    eventually("the worker to exchange something", || {
        developer.status().ok()?["last_sync"].as_str().map(drop)
    })?;
    Ok(worker)
}

fn ends(mut worker: Child) -> Result<()> {
    let ended = eventually("the worker to end", || worker.try_wait().ok().flatten());
    if ended.is_err() {
        worker.kill()?;
        worker.wait()?;
    }
    ended.map(drop)
}

#[test]
fn a_worker_ends_if_its_database_becomes_unreadable() -> Result<()> {
    let scene = Scene::offline()?;
    let ada = Developer::new("Ada")?;
    let worker = working(&scene, &ada)?;
    let broken = ada.folder.path().join("broken");
    fs::write(&broken, [0xa5; 16 * 4096])?;
    fs::rename(broken, ada.home().join("grov.db"))?;
    ends(worker)
}

#[test]
fn a_worker_ends_with_its_home() -> Result<()> {
    let scene = Scene::offline()?;
    let ada = Developer::new("Ada")?;
    let worker = working(&scene, &ada)?;
    fs::remove_dir_all(ada.home())?;
    ends(worker)?;
    assert!(!ada.home().exists(), "the worker made its home again");
    Ok(())
}

#[test]
fn uninstall_ends_the_worker() -> Result<()> {
    let scene = Scene::offline()?;
    let ada = Developer::new("Ada")?;
    let worker = working(&scene, &ada)?;
    let pid = json!(worker.id());
    let planned = ada.grov.run_json(&["uninstall", "--dry-run"])?.json;
    assert_eq!(planned["ended_link_worker"], pid);
    assert!(ada.status()?["running"] == true);
    let done = ada.grov.run_json(&["uninstall"])?.json;
    assert_eq!(done["ended_link_worker"], pid);
    ends(worker)?;
    let again = ada.grov.run_json(&["uninstall"])?.json;
    assert_eq!(again.get("ended_link_worker"), None);
    Ok(())
}

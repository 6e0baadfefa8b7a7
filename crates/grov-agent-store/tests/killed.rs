//! A process that writes to SQLite is killed again and again.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(
    clippy::print_stdout,
    reason = "the killed process tells its parent what it wrote"
)]

use grov_agent::{ProjectId, SearchStore};
use grov_agent_store::contract::load::{self, Done, Load};
use grov_agent_store::contract::sample;
use grov_agent_store::{AgentDatabase, DatabaseOptions};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Tells the process that is killed where it writes.
const URL: &str = "GROV_TEST_URL";
const PROJECT: &str = "GROV_TEST_PROJECT";

/// How often it is killed.
const KILLS: u32 = 100;

#[test]
#[ignore = "is started and killed by the other test"]
fn writer() {
    let (Ok(url), Ok(project)) = (std::env::var(URL), std::env::var(PROJECT)) else {
        return;
    };
    let project: ProjectId = project.parse().unwrap();
    runtime().block_on(async {
        let database = AgentDatabase::open(&url, &DatabaseOptions::default())
            .await
            .unwrap();
        let mut load = Load::new(project, 0);
        for _ in 0..100_000 {
            if let Some(done) = load.step(&database).await.unwrap() {
                println!("\n{done}");
                std::io::stdout().flush().unwrap();
            }
        }
    });
}

#[test]
fn a_killed_process_leaves_what_it_acknowledged_and_nothing_by_half() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("agent.db").display());
    let runtime = runtime();
    let options = DatabaseOptions::default();
    let database = runtime.block_on(AgentDatabase::open(&url, &options)).unwrap();
    let project = runtime.block_on(async {
        let project = sample::project(&database).await;
        database.use_model("m", 8).await.unwrap();
        project
    });
    let mut acknowledged: Vec<Done> = Vec::new();
    for kill in 0..KILLS {
        let mut writer = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "writer", "--ignored", "--nocapture"])
            .env(URL, &url)
            .env(PROJECT, project.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        // It has opened the database when it has written something. Then it is killed at another moment each time.
        let first: Option<Done> = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.parse().ok());
        acknowledged.extend(first);
        std::thread::sleep(Duration::from_micros(u64::from(kill) * 617 % 23_000));
        writer.kill().unwrap();
        writer.wait().unwrap();
        acknowledged.extend(
            lines
                .map_while(Result::ok)
                .filter_map(|line| line.parse::<Done>().ok()),
        );
        if kill % 10 == 9 {
            runtime.block_on(load::verify(&database, &url, project, &acknowledged));
        }
    }
    assert!(acknowledged.len() > KILLS as usize, "{}", acknowledged.len());
    println!(
        "{} writes were acknowledged before {KILLS} kills",
        acknowledged.len()
    );
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

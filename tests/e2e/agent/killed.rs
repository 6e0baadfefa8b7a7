//! The service is killed in the middle of chats, uploads and proposals, again and again.

use super::created;
use super::model::{Model, Say, ticket};
use super::workload::Workload;
use anyhow::{Context, Result, ensure};
use grov_tests::{Agent, AgentBuilder, PostgresServer};
use sqlx::{Connection, Row};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often it is killed, unless GROV_KILLS says otherwise.
const KILLS: u64 = 20;

fn kills() -> u64 {
    std::env::var("GROV_KILLS")
        .ok()
        .and_then(|kills| kills.parse().ok())
        .unwrap_or(KILLS)
}

fn with_model(home: &std::path::Path, model: &Model) -> AgentBuilder {
    Agent::on(home)
        .env("CHAT_PROVIDER", "openai")
        .env("CHAT_MODEL", "scripted")
        .env("CHAT_BASE_URL", model.url())
        .env("GROV_AGENT_CHATS_PER_MINUTE", "100000")
        .env("GROV_ALLOW_MOCK", "1")
        .env("EMBEDDING_PROVIDER", "mock")
        .env("EMBEDDING_DIMS", "16")
}

/// Kills a service at another moment each time, and checks what it has done.
fn kill_again_and_again(builder: &AgentBuilder) -> Result<usize> {
    let mut agent = builder.start()?;
    let project = created(&agent, "Shop")?;
    let workload = Workload::new(&project, agent.port());
    std::thread::scope(|scope| -> Result<()> {
        let workers: Vec<_> = (0..3).map(|_| scope.spawn(|| workload.run(usize::MAX))).collect();
        let killed = (0..kills()).try_for_each(|kill| -> Result<()> {
            std::thread::sleep(Duration::from_millis(150 + kill * 37 % 400));
            let before = workload.made();
            agent.signal("KILL")?;
            let old = std::mem::replace(&mut agent, builder.start()?);
            old.ended(Duration::from_secs(10))?;
            workload.port.store(agent.port(), Ordering::Relaxed);
            ensure!(before > 0, "nothing was requested before the first kill");
            Ok(())
        });
        workload.is_over.store(true, Ordering::Relaxed);
        for worker in workers {
            worker.join().ok().context("a worker panicked")??;
        }
        killed
    })?;
    workload.verify(&agent)?;
    agent.stop()?;
    Ok(workload.made())
}

#[test]
fn a_service_that_is_killed_again_and_again_does_everything_once() -> Result<()> {
    const WRONG: [&str; 4] = [
        "SELECT count(*) FROM chunks c WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.id = c.document_id)",
        "SELECT count(*) FROM entries e WHERE e.chunk_id IS NOT NULL AND NOT EXISTS \
         (SELECT 1 FROM chunks c WHERE c.id = e.chunk_id)",
        "SELECT count(*) FROM vectors v WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.number = v.entry)",
        "SELECT count(*) FROM chunks c WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.chunk_id = c.id)",
    ];
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let model = Model::start([Say::Slowly(ticket("Once"), Duration::from_millis(2))])?;
    let made = kill_again_and_again(&with_model(&home, &model))?;
    ensure!(made > 20, "only {made} requests");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(home.join("agent.db"));
        let mut database = sqlx::SqliteConnection::connect_with(&options).await?;
        for sql in WRONG {
            let count: i64 = sqlx::query(sql).fetch_one(&mut database).await?.get(0);
            ensure!(count == 0, "{sql}: {count}");
        }
        let intact: String = sqlx::query("PRAGMA integrity_check")
            .fetch_one(&mut database)
            .await?
            .get(0);
        ensure!(intact == "ok", "{intact}");
        Ok(())
    })
}

/// The module's name tells the test runner that the tests need PostgreSQL.
mod postgres {
    use super::*;

    #[test]
    fn a_service_that_is_killed_again_and_again_does_everything_once() -> Result<()> {
        let Some(server) = PostgresServer::start()? else {
            return Ok(());
        };
        let folder = tempfile::tempdir()?;
        let model = Model::start([Say::Slowly(ticket("Once"), Duration::from_millis(2))])?;
        let builder = with_model(&folder.path().join("grov"), &model).env("DATABASE_URL", server.url());
        let made = kill_again_and_again(&builder)?;
        ensure!(made > 20, "only {made} requests");
        let orphans = server.query(
            "SELECT (SELECT count(*) FROM grov_agent.vectors v LEFT JOIN grov_agent.entries e ON e.number = v.entry \
             WHERE e.number IS NULL) + (SELECT count(*) FROM grov_agent.chunks c LEFT JOIN grov_agent.entries e \
             ON e.chunk_id = c.id WHERE e.number IS NULL)",
        )?;
        ensure!(orphans == ["0"], "{orphans:?}");
        Ok(())
    }
}

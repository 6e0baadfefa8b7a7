//! Two services on one database behind a reverse proxy, of which one is killed now and then.

use super::created;
use super::model::{Model, Say, ticket};
use super::workload::Workload;
use anyhow::{Context, Result, ensure};
use grov_tests::{Agent, Balancer, PostgresServer};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How many requests are made, unless GROV_REQUESTS says otherwise.
const REQUESTS: usize = 600;
/// Clients at the same time.
const CLIENTS: usize = 6;

/// The module's name tells the test runner that the tests need PostgreSQL.
mod postgres {
    use super::*;

    #[test]
    fn requests_to_two_replicas_are_neither_lost_nor_done_twice_when_one_is_killed() -> Result<()> {
        let Some(server) = PostgresServer::start()? else {
            return Ok(());
        };
        let requests = std::env::var("GROV_REQUESTS")
            .ok()
            .and_then(|requests| requests.parse().ok());
        let requests = requests.unwrap_or(REQUESTS);
        let folder = tempfile::tempdir()?;
        let model = Model::start([Say::Slowly(ticket("Once"), Duration::from_millis(1))])?;
        let builder = |number: usize| {
            Agent::on(&folder.path().join(format!("replica-{number}")))
                .env("DATABASE_URL", server.url())
                .env("CHAT_PROVIDER", "openai")
                .env("CHAT_MODEL", "scripted")
                .env("CHAT_BASE_URL", model.url())
                .env("GROV_AGENT_CHATS_PER_MINUTE", "100000")
                .env("GROV_ALLOW_MOCK", "1")
                .env("EMBEDDING_PROVIDER", "mock")
                .env("EMBEDDING_DIMS", "16")
        };
        let mut replicas = [builder(0).start()?, builder(1).start()?];
        let balancer = Balancer::start(replicas.iter().map(Agent::port).collect())?;
        let project = created(&replicas[0], "Shop")?;
        let workload = Workload::new(&project, balancer.port());
        let mut kills = 0_usize;
        std::thread::scope(|scope| -> Result<()> {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|_| scope.spawn(|| workload.run(requests)))
                .collect();
            while !clients.iter().all(std::thread::ScopedJoinHandle::is_finished) {
                std::thread::sleep(Duration::from_millis(400));
                let number = kills % replicas.len();
                let old = replicas[number].port();
                replicas[number].signal("KILL")?;
                replicas[number] = builder(number).start()?;
                balancer.replace(old, replicas[number].port());
                kills += 1;
            }
            for client in clients {
                client.join().ok().context("a client panicked")??;
            }
            Ok(())
        })?;
        workload.is_over.store(true, Ordering::Relaxed);
        ensure!(
            kills > 0 && workload.made() == requests,
            "{kills} kills, {} requests",
            workload.made()
        );
        workload.verify(&replicas[0])?;
        let twice = server.query(
            "SELECT count(*) FROM (SELECT 1 FROM grov_agent.memory_items GROUP BY content HAVING count(*) > 1) AS twice",
        )?;
        ensure!(twice == ["0"], "{twice:?}");
        Ok(())
    }
}

//! Serves until a signal.

use crate::assembly::{self, Wakers};
use crate::embedding::{self, EmbeddingWork};
use crate::listener;
use crate::output;
use crate::providers::Providers;
use crate::qdrant;
use crate::setup::Setup;
use crate::sole_server::SoleServer;
use crate::stop::Stop;
use crate::webhook::{self, Webhook};
use anyhow::anyhow;
use grov_agent::{AgentStore, OutboxStore, SearchStore};
use grov_agent_http::{Server, Service, tidy, tidy_uploads};
use grov_domain::{Clock, SystemClock};
use grov_runtime::{Shutdown, Tasks, TlsFiles};
use grov_serve::{CertificateError, CertificateFiles, ServerCertificate, Signals};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// How often expired tool calls and old rows are looked for.
const TIDY_EVERY: Duration = Duration::from_secs(60);
/// How often is checked whether the files of the certificate were replaced.
const RENEW_EVERY: Duration = Duration::from_secs(1);
/// How often unused uploads are looked for, in rounds of `TIDY_EVERY`.
const UPLOADS_EVERY: u32 = 60;
/// Time for background work at shutdown.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);
/// The most threads. The service waits for the database and for providers, so more do not help.
const MAX_THREADS: usize = 8;

/// Runs the service.
pub(crate) fn run(setup: &Setup, is_insecure: bool) -> Result<ExitCode, Stop> {
    ensure_clock(SystemTime::now())?;
    ensure_safe(setup, is_insecure)?;
    setup.create_home()?;
    setup.start_log()?;
    let threads = std::thread::available_parallelism().map_or(2, |count| count.get().clamp(2, MAX_THREADS));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .map_err(Stop::fault)?;
    let result = runtime.block_on(serve(setup));
    // Aborts what still runs after a second signal.
    runtime.shutdown_background();
    result
}

/// Checks that the year is within 1970 to 9999. Otherwise the HTTP library panics when it writes the date of a response.
fn ensure_clock(now: SystemTime) -> Result<(), Stop> {
    const AFTER_9999: u64 = 253_402_300_800;
    let since_1970 = now.duration_since(SystemTime::UNIX_EPOCH);
    if since_1970.is_ok_and(|since| since.as_secs() < AFTER_9999) {
        return Ok(());
    }
    let error =
        anyhow!("this machine's clock is before 1970 or after 9999, so that no request can be answered");
    Err(Stop::fault(error).with_hint("set the clock, then start grov-agentd again"))
}

/// Refuses to serve other machines in the clear unless that is asked for.
fn ensure_safe(setup: &Setup, is_insecure: bool) -> Result<(), Stop> {
    let host = setup.agent.host;
    if host.to_canonical().is_loopback() || setup.agent.tls.is_some() || is_insecure {
        return Ok(());
    }
    let error =
        anyhow!("{host} is not a loopback address: other machines would send keys and contents in the clear");
    let hint = "give --tls-cert and --tls-key, or --insecure behind a proxy that speaks TLS";
    Err(Stop::usage(error).with_hint(hint))
}

async fn serve(setup: &Setup) -> Result<ExitCode, Stop> {
    let agent = &setup.agent;
    let certificate = agent
        .tls
        .as_ref()
        .map(certificate)
        .transpose()
        .map_err(unusable)?;
    let tls = certificate.as_ref().map(|certificate| certificate.config());
    let tls = tls.transpose().map_err(unusable)?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let mut sole_server = SoleServer::lock(&agent.database)?;
    let database = Arc::new(setup.database().await?);
    database.use_qdrant().await.map_err(Stop::fault)?;
    let wakers = Wakers::default();
    let (listener, address) = listener::bind(SocketAddr::new(agent.host, agent.port))?;
    // Before anything is accepted, so that reading a model may block.
    let providers = setup.providers(&[address])?;
    let service = assembly::service(setup, &database, &providers, &wakers)?;
    let mut signals = Signals::listen().map_err(Stop::fault)?;
    let tasks = Tasks::new(tokio::runtime::Handle::current());
    tasks.spawn("tidy", tidy_regularly(service.clone(), tasks.shutdown()));
    if let Some(certificate) = certificate {
        tasks.spawn("certificate", renew_regularly(certificate, tasks.shutdown()));
    }
    if let Some(embedder) = providers.embedder.clone() {
        let store = Arc::clone(&database) as Arc<dyn SearchStore>;
        let rebuild = Providers::rebuild(agent.embedding.clone(), vec![address]);
        let work = EmbeddingWork::new(
            store,
            embedder,
            providers.status.clone(),
            Arc::clone(&wakers.texts),
        )
        .searching(wakers.older.clone(), rebuild);
        tasks.spawn("embedding", embedding::run(work, tasks.shutdown()));
    }
    if agent.qdrant_url.is_some() {
        tasks.spawn("qdrant", qdrant::run(Arc::clone(&database), tasks.shutdown()));
    }
    if let Some(url) = agent.webhook_url.clone() {
        let own_url = format!("{scheme}://{address}");
        let public_url = agent
            .public_url
            .as_ref()
            .map_or(own_url, |url| url.as_str().to_owned());
        if agent.public_url.is_none() && agent.host.is_unspecified() {
            tracing::warn!(
                "the callback_url of webhook events is {public_url}, which no other machine can reach; set agent.public_url"
            );
        }
        let webhook = Webhook {
            store: Arc::clone(&database) as Arc<dyn OutboxStore>,
            clock: Arc::new(SystemClock),
            url,
            secret: agent.webhook_secret.clone(),
            public_url: public_url.trim_end_matches('/').to_owned(),
            own_listeners: vec![address],
            wake: Arc::clone(&wakers.events),
        };
        tasks.spawn("webhook", webhook::run(webhook, tasks.shutdown()));
    }
    sole_server.announce(scheme, address);
    output::message(&format!("listening on {scheme}://{address}"));
    let server = Server::new(service.clone(), tls, agent.shutdown_grace);
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let mut serving = std::pin::pin!(server.serve(listener, async {
        // Also resolves when the sender is dropped.
        let _ = stopped.await;
    }));
    tokio::select! {
        _ = &mut serving => return Err(Stop::fault(anyhow!("the server ended by itself"))),
        () = signals.next() => {}
    }
    tracing::info!(
        chats = service.running_chats(),
        "stopping; a second signal ends running chats at once"
    );
    let _ = stop.send(());
    let cut = tokio::select! {
        cut = &mut serving => cut,
        () = signals.next() => return Ok(ExitCode::from(130)),
    };
    if cut > 0 {
        tracing::warn!(cut, "connections were cut off at the end of the grace period");
    }
    tasks.shut_down();
    tasks.drain(FLUSH_TIMEOUT).await;
    // A database that does not answer must not keep the process.
    let _ = tokio::time::timeout(FLUSH_TIMEOUT, database.close()).await;
    Ok(ExitCode::SUCCESS)
}

fn certificate(files: &TlsFiles) -> Result<Arc<ServerCertificate>, CertificateError> {
    let files = CertificateFiles {
        certificates: files.certificates.clone(),
        key: files.key.clone(),
    };
    ServerCertificate::load(files, SystemClock.now()).map(Arc::new)
}

fn unusable(error: CertificateError) -> Stop {
    let hint = error.hint();
    Stop::usage(error).with_hint(hint)
}

/// Uses a renewed certificate without a restart.
async fn renew_regularly(certificate: Arc<ServerCertificate>, mut stopping: Shutdown) {
    let work = async {
        loop {
            tokio::time::sleep(RENEW_EVERY).await;
            match certificate.refresh(SystemClock.now()) {
                Ok(false) => {}
                Ok(true) => tracing::info!("the renewed certificate is in use"),
                Err(error) => tracing::error!(%error, "the old certificate stays in use"),
            }
        }
    };
    tokio::select! {
        () = work => {}
        () = stopping.requested() => {}
    }
}

async fn tidy_regularly(service: Service, mut stopping: Shutdown) {
    let work = async {
        for round in 0_u32.. {
            tidy(&service).await;
            if round % UPLOADS_EVERY == 0 {
                tidy_uploads(&service).await;
            }
            tokio::time::sleep(TIDY_EVERY).await;
        }
    };
    tokio::select! {
        () = work => {}
        () = stopping.requested() => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_http_cannot_write_is_refused() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        assert!(ensure_clock(at(1_800_000_000)).is_ok());
        assert!(ensure_clock(at(253_402_300_800)).is_err());
        assert!(ensure_clock(SystemTime::UNIX_EPOCH - Duration::from_secs(1)).is_err());
    }
}

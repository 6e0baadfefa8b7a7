//! `grov agent link|unlink|status|sync`

use crate::arguments::{AgentCommand, LinkArguments};
use crate::context::{Context, block_on};
use crate::failure::Failure;
use crate::format::{ago, plural};
use crate::link_worker;
use crate::output::{ExitStatus, Outcome, Style, note};
use crate::table::Fields;
use grov_domain::{
    Clock, Link, LinkCounts, LinkState, LinkStore, MemoryScope, ProjectId, StoreConnection, SystemClock,
};
use grov_link::{KeyFile, LinkError, SenderLock, Service, ServiceAddress, pull, push};
use grov_redact::{Redactor, Secret};
use serde::Serialize;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};
use time::OffsetDateTime;

/// The variable with the key if no flag gives it.
const KEY_VARIABLE: &str = "GROV_AGENT_KEY";
/// How long another process may take to send what waits, and how often it is looked.
const LONGEST_SYNC: Duration = Duration::from_secs(30);
const SYNC_INTERVAL: Duration = Duration::from_millis(100);
/// The longest key that is read from a file.
const MAX_KEY: u64 = 4096;

#[derive(Default, Serialize)]
struct LinkView {
    linked: bool,
    url: Option<String>,
    project_id: Option<String>,
    /// `on`, or `stopped` if the key was refused.
    state: Option<&'static str>,
    /// What is wrong at present.
    fault: Option<String>,
    pending_out: u64,
    conflicts: u64,
    #[serde(with = "time::serde::rfc3339::option")]
    last_sync: Option<OffsetDateTime>,
    /// Whether the daemon or a worker keeps the link going.
    running: bool,
}

impl LinkView {
    fn of(link: Link, counts: LinkCounts, home: &Path) -> Self {
        Self {
            linked: true,
            url: Some(link.url),
            project_id: Some(link.remote_project.to_string()),
            state: Some(link.state.as_str()),
            fault: link.fault,
            pending_out: counts.pending_out,
            conflicts: counts.conflicts,
            last_sync: link.last_sync,
            running: matches!(SenderLock::try_take(home), Ok(None)),
        }
    }
}

pub(crate) fn run(context: &Context, command: &AgentCommand) -> Outcome {
    match command {
        AgentCommand::Link(arguments) => link(context, arguments),
        AgentCommand::Unlink => unlink(context),
        AgentCommand::Status => status(context),
        AgentCommand::Sync { follow: true } => link_worker::run(context),
        AgentCommand::Sync { follow: false } => sync(context),
    }
}

impl From<LinkError> for Failure {
    fn from(error: LinkError) -> Self {
        match error {
            LinkError::Store(error) => error.into(),
            LinkError::Address(message) => Self::usage(message),
            LinkError::Unauthorized | LinkError::Forbidden(_) => Self::negative("key", error.to_string()),
            LinkError::NoProject => Self::negative("unknown_project", error.to_string())
                .hint("`GET /projects` of the service lists the ids"),
            _ => Self::error("agent_service", error.to_string()),
        }
    }
}

fn scope(context: &Context) -> Result<MemoryScope, Failure> {
    let project = context.project()?;
    Ok(MemoryScope {
        project_path: project.key().to_owned(),
        project_remote: project.remote,
    })
}

/// The link of a project: its own, or that of another directory with the same remote.
async fn link_of(store: &dyn StoreConnection, scope: &MemoryScope) -> Result<Option<Link>, Failure> {
    let links = store.links().await?;
    let is_own = |link: &&Link| link.scope.project_path == scope.project_path;
    let is_same =
        |link: &&Link| scope.project_remote.is_some() && link.scope.project_remote == scope.project_remote;
    Ok(links
        .iter()
        .find(is_own)
        .or_else(|| links.iter().find(is_same))
        .cloned())
}

fn link(context: &Context, arguments: &LinkArguments) -> Outcome {
    let address = ServiceAddress::parse(&arguments.url, arguments.insecure)?;
    let remote_project: ProjectId = arguments.remote_project.parse().map_err(|_| {
        Failure::usage("--remote-project has to be the id of a project, a UUID")
            .hint("`GET /projects` of the service lists the ids")
    })?;
    let key = key(arguments)?;
    let scope = scope(context)?;
    let service = Service::new(&address, remote_project, key.clone())?;
    block_on(async {
        service.version().await.map_err(not_linked)?;
        service.check().await.map_err(not_linked)
    })?;
    let key_file = KeyFile::of(context.home.root(), &remote_project.to_string());
    let view = context.create(async |store| {
        if let Some(link) = link_of(store, &scope).await? {
            let is_other = link.url != address.as_str() || link.remote_project != remote_project;
            if is_other || link.scope.project_path != scope.project_path {
                let message = format!(
                    "this repository is linked to the project {} at {}",
                    link.remote_project, link.url
                );
                return Err(
                    Failure::negative("linked", message).hint("end that link first: grov agent unlink")
                );
            }
        }
        key_file.write(&key)?;
        let link = Link {
            scope: scope.clone(),
            url: address.as_str().to_owned(),
            remote_project,
            cursor: 0,
            state: LinkState::On,
            fault: None,
            last_sync: None,
            linked_at: SystemClock.now(),
        };
        store.save_link(&Redactor::shared().clean(link)).await?;
        view(context, store, &scope).await
    })?;
    link_worker::start(context);
    context.answer(view, linked_text)
}

/// Why there is no link: nothing is tried again, and there is nothing to look up.
fn not_linked(error: LinkError) -> Failure {
    let is_about_address = matches!(
        error,
        LinkError::Unreachable(_) | LinkError::NotTheService(_) | LinkError::Busy { .. }
    );
    let failure = Failure::from(error);
    match is_about_address {
        true => failure.hint("nothing was linked; check the URL, and that grov-agentd runs there"),
        false => failure,
    }
}

fn key(arguments: &LinkArguments) -> Result<Secret, Failure> {
    let text = match (&arguments.key, &arguments.key_file) {
        (Some(key), _) => key.clone(),
        (None, Some(file)) => read_key(file)?,
        (None, None) => std::env::var(KEY_VARIABLE).unwrap_or_default(),
    };
    match text.trim() {
        "" => Err(
            Failure::usage("a key of the agent service is needed").hint(format!(
                "give it with --key-file FILE, on standard input with --key-file -, or in {KEY_VARIABLE}"
            )),
        ),
        key => Ok(Secret::from(key)),
    }
}

fn read_key(file: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = if file == Path::new("-") {
        std::io::stdin().take(MAX_KEY).read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|opened| opened.take(MAX_KEY).read_to_string(&mut text))
    };
    read.map_err(|error| {
        Failure::error(
            "input",
            format!("cannot read the key from {}: {error}", file.display()),
        )
    })?;
    Ok(text)
}

async fn view(
    context: &Context,
    store: &dyn StoreConnection,
    scope: &MemoryScope,
) -> Result<LinkView, Failure> {
    match link_of(store, scope).await? {
        Some(link) => {
            let counts = store.link_counts(&link.scope.project_path).await?;
            Ok(LinkView::of(link, counts, context.home.root()))
        }
        None => Ok(LinkView::default()),
    }
}

fn unlink(context: &Context) -> Outcome {
    let scope = scope(context)?;
    let removed = context.write(async |store| {
        let Some(link) = link_of(store, &scope).await? else {
            return Ok(false);
        };
        let removed = store.remove_link(&link.scope.project_path).await?;
        let links = store.links().await?;
        if links
            .iter()
            .all(|other| other.remote_project != link.remote_project)
        {
            KeyFile::of(context.home.root(), &link.remote_project.to_string()).remove();
        }
        Ok(removed)
    })?;
    let removed = removed.unwrap_or(false);
    context.answer(LinkView::default(), |_, _| {
        if removed {
            "unlinked; memory stays here and in the service\n".to_owned()
        } else {
            "this repository is not linked\n".to_owned()
        }
    })?;
    Ok(ExitStatus::success_if(removed))
}

fn status(context: &Context) -> Outcome {
    let scope = scope(context)?;
    let found = context.read(async |store| view(context, store, &scope).await)?;
    let found = found.unwrap_or_default();
    let linked = found.linked;
    context.answer(found, linked_text)?;
    Ok(ExitStatus::success_if(linked))
}

/// Sends and receives until nothing is left. If another process keeps the link going, waits until it has sent what waits.
fn sync(context: &Context) -> Outcome {
    let scope = scope(context)?;
    let home = context.home.root();
    let is_linked = context.read(async |store| Ok(link_of(store, &scope).await?.is_some()))?;
    if is_linked != Some(true) {
        return status(context);
    }
    let Some(_lock) = SenderLock::try_take(home)
        .map_err(|error| Failure::error("home", format!("cannot lock {}: {error}", home.display())))?
    else {
        note!("the daemon or a worker keeps the link going");
        return wait_until_sent(context, &scope);
    };
    let synced = context.write(async |store| {
        let Some(link) = link_of(store, &scope).await? else {
            return Ok(None);
        };
        let exchanged = exchange(context, store, &link).await;
        let fault = exchanged
            .as_ref()
            .err()
            .map(|error| Redactor::shared().text(&error.of_link()));
        let stops = exchanged.as_ref().is_err_and(LinkError::stops);
        let state = if stops { LinkState::Stopped } else { LinkState::On };
        let at = exchanged.is_ok().then(|| SystemClock.now());
        store
            .note_link(&link.scope.project_path, state, fault.as_ref(), at)
            .await?;
        exchanged.map_err(not_synced)?;
        view(context, store, &scope).await.map(Some)
    })?;
    match synced.flatten() {
        Some(mut view) => {
            // The lock is this process's own.
            view.running = false;
            context.answer(view, linked_text)
        }
        None => status(context),
    }
}

/// Waits while another process sends: until nothing waits, it reports a fault, or it takes too long. Shows the state then. Fails at
/// once if the service does not answer this key: the other process may be in a pause and not know.
fn wait_until_sent(context: &Context, scope: &MemoryScope) -> Outcome {
    let link = context.read(async |store| link_of(store, scope).await)?;
    if let Some(link) = link.flatten() {
        block_on(async { check(context, &link).await.map_err(not_synced) })?;
    }
    let started = Instant::now();
    loop {
        let found = context.read(async |store| view(context, store, scope).await)?;
        let found = found.unwrap_or_default();
        let is_stopped = found.state == Some(LinkState::Stopped.as_str());
        let is_synced = found.pending_out == 0 && found.fault.is_none();
        let is_over = is_synced || is_stopped || !found.running;
        if is_over || started.elapsed() >= LONGEST_SYNC {
            let is_synced = found.linked && is_synced && !is_stopped;
            context.answer(found, linked_text)?;
            return Ok(ExitStatus::success_if(is_synced));
        }
        std::thread::sleep(SYNC_INTERVAL);
    }
}

/// Why nothing was exchanged, and what follows.
fn not_synced(error: LinkError) -> Failure {
    match error {
        LinkError::Unreachable(_) | LinkError::NotTheService(_) | LinkError::Busy { .. } => {
            Failure::error("agent_service", error.of_link())
        }
        other => other.into(),
    }
}

/// Checks that the service answers the key of a link.
async fn check(context: &Context, link: &Link) -> Result<i64, LinkError> {
    service(context, link)?.check().await
}

/// The service of a link, with its key.
fn service(context: &Context, link: &Link) -> Result<Service, LinkError> {
    let key = KeyFile::of(context.home.root(), &link.remote_project.to_string()).read()?;
    Service::new(&ServiceAddress::parse(&link.url, true)?, link.remote_project, key)
}

async fn exchange(context: &Context, store: &dyn StoreConnection, link: &Link) -> Result<(), LinkError> {
    let service = service(context, link)?;
    let links: &dyn LinkStore = store;
    let mut cursor = link.cursor;
    for _ in 0..MAX_ROUNDS {
        let before = cursor;
        cursor = pull(links, &service, link, cursor, Duration::ZERO, &SystemClock).await?;
        let sent = match push(links, &service, link).await {
            // What others did is read first.
            Err(LinkError::Conflict) => 1,
            other => other?,
        };
        if cursor == before && sent == 0 {
            break;
        }
    }
    Ok(())
}

/// Rounds of an exchange: more than a team's memory needs.
const MAX_ROUNDS: usize = 10_000;

fn linked_text(view: &LinkView, style: Style) -> String {
    if !view.linked {
        return "this repository is not linked; link it with: grov agent link URL --remote-project ID\n"
            .to_owned();
    }
    let mut fields = Fields::new(8, 120, style);
    fields.add("service", view.url.as_deref().unwrap_or_default());
    fields.add("project", view.project_id.as_deref().unwrap_or_default());
    let state = match (view.state, view.running) {
        (Some("stopped"), _) => "stopped".to_owned(),
        (_, true) => "kept going in the background".to_owned(),
        (_, false) => "waits for the next session or `grov agent sync`".to_owned(),
    };
    fields.add("state", &state);
    if let Some(fault) = &view.fault {
        fields.add_styled("fault", &style.red(&crate::table::one_line(fault)));
    }
    let last = view
        .last_sync
        .map_or("never".to_owned(), |at| ago(at, SystemClock.now()));
    fields.add("last sync", &last);
    fields.add("to send", &plural(view.pending_out, "change", "changes"));
    if view.conflicts > 0 {
        fields.add(
            "conflicts",
            &format!("{}; see `grov memory inbox`", view.conflicts),
        );
    }
    fields.into_text()
}

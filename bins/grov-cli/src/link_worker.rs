//! Keeps links to agent services going where no daemon does: a process in the background while sessions are active.

use crate::assembly;
use crate::context::{Context, block_on};
use crate::failure::Failure;
use crate::output::{ExitStatus, Outcome};
use grov_domain::{Clock, LinkState, SystemClock, time_before};
use grov_link::{Followed, SenderLock, follow};
use grov_runtime::{Environment, Home, Settings, daemon};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long after the last hook, or after its start, the worker ends.
const IDLE: Duration = Duration::from_secs(15 * 60);
/// How often it is looked whether sessions are active.
const LOOK: Duration = Duration::from_secs(30);
/// How long the database may be unreadable before the worker ends; the next hook starts another one.
const UNREADABLE: Duration = Duration::from_secs(10);

/// Starts a worker unless there is no link or another process keeps the links going. Faults are left to `grov agent status`.
pub(crate) fn start(context: &Context) {
    let environment = Environment::of_process();
    start_in(
        &context.home,
        context.common.home.as_deref(),
        &environment,
        &context.settings,
    );
}

/// The same for hooks, which have no context.
pub(crate) fn start_in(
    home: &Home,
    named_home: Option<&Path>,
    environment: &Environment,
    settings: &Settings,
) {
    if !has_link(home) || !matches!(SenderLock::try_take(home.root()), Ok(Some(_))) {
        return;
    }
    let Ok(own) = std::env::current_exe() else { return };
    let mut command = Command::new(own);
    if let Some(home) = named_home {
        command.arg("--home").arg(home);
    }
    // The client's keys, tokens and addresses are not the worker's business.
    let environment = daemon::scrubbed_environment(environment, settings);
    command
        .args(["agent", "sync", "--follow"])
        .env_clear()
        .envs(environment.iter())
        .current_dir(home.root())
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let _ = command.spawn();
}

/// Whether there may be a link: without one there is no key, and nothing is opened.
pub(crate) fn has_link(home: &Home) -> bool {
    let keys = std::fs::read_dir(home.root().join("links"));
    keys.is_ok_and(|keys| {
        keys.filter_map(Result::ok).any(|file| {
            file.path()
                .extension()
                .is_some_and(|extension| extension == "key")
        })
    })
}

/// Returns the device and the number of a file; `None` if there is no such file.
fn file_identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// Keeps all links of the home going until no session was active for a while.
pub(crate) fn run(context: &Context) -> Outcome {
    let home = context.home.root();
    let taken = SenderLock::try_take(home);
    let taken =
        taken.map_err(|error| Failure::error("home", format!("cannot lock {}: {error}", home.display())))?;
    let Some(_lock) = taken else {
        return Ok(ExitStatus::Success);
    };
    block_on(async {
        let database = context.database();
        let store = assembly::link_store(&database);
        let followed = Followed {
            store: Arc::clone(&store),
            home: home.to_owned(),
            clock: Arc::new(SystemClock),
        };
        let opened = file_identity(&database);
        let started = Instant::now();
        let mut looked = Instant::now();
        let mut readable = Instant::now();
        follow(followed, async |links| {
            // A file that was deleted or replaced can still be read while it is open, but nothing else writes to it.
            if file_identity(&database) != opened {
                return true;
            }
            let Ok(links) = links else {
                return readable.elapsed() >= UNREADABLE;
            };
            readable = Instant::now();
            if links.iter().all(|link| link.state == LinkState::Stopped) {
                return true;
            }
            if started.elapsed() < IDLE || looked.elapsed() < LOOK {
                return false;
            }
            looked = Instant::now();
            let since = time_before(SystemClock.now(), IDLE);
            !store.is_active_since(since).await.unwrap_or(false)
        })
        .await;
        Ok::<_, Failure>(ExitStatus::Success)
    })
}

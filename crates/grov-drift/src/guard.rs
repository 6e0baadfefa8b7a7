//! The guard: checks a tool call before it runs (PreToolUse), and records that it ran (PostToolUse).
//!
//! The guard waits for a busy database for as long as the client waits for the guard. One second before the client would run
//! the call, the guard asks the user instead. Only reading the history has a shorter time limit (`check`). If the check fails,
//! the call runs unless it is destructive. With `guard.fail = "closed"` it is blocked, and only then does a hook exit with
//! code 2.

mod check;
mod decision;
pub(crate) mod fault_notice;
mod proxied_past;
mod replaced_text;
mod script_reader;
mod tool_access;
mod unread_prompts;

pub use decision::{PastAction, Question, Stop, decide};

use crate::dispatch::HookResponse;
use crate::error::HookError;
use crate::error_log::{log_error, single_line};
use crate::hook::HookContext;
use crate::runtime;
use crate::services::{STORE_TIMEOUT, Services};
use check::{CheckOutcome, GuardCheck};
use decision::{is_never_stopped, runs_tests};
use grov_domain::{ClientSessionId, GuardVerdict, StoreError};
use grov_hooks::event::GUARD_TIMEOUT;
use grov_hooks::permission;
use grov_redact::Redactor;
use grov_runtime::{Environment, GuardMode, Home};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Deadline of the guard: one second before the client stops waiting and runs the call.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(GUARD_TIMEOUT - 1);

/// Extra time for the checking thread to report its own timeout.
const GRACE: Duration = Duration::from_millis(250);

/// How long the process waits after its response for the record to be written.
const RECORD_TIMEOUT: Duration = Duration::from_millis(if cfg!(debug_assertions) { 5_000 } else { 100 });

/// Checks a tool call before it runs.
pub(crate) fn pre_tool_use(context: &HookContext<'_>) -> HookResponse {
    let settings = match context.settings(None) {
        Ok(settings) => settings,
        Err(fault) => {
            return check_failed(
                context,
                is_fail_closed(Some(context.home), context.environment),
                &fault.to_string(),
            );
        }
    };
    let guard = settings.guard();
    if guard.mode == GuardMode::Off {
        return HookResponse::Empty;
    }
    let until = context.waiting_since + RESPONSE_TIMEOUT;
    let check = catch_unwind(AssertUnwindSafe(|| GuardCheck::of(context, &settings, until)));
    let check = match check {
        Ok(Some(check)) => check,
        // No input at all: nothing to check.
        Ok(None) if !guard.fails_closed && context.hook.input.trim_ascii().is_empty() => {
            return HookResponse::Empty;
        }
        _ => {
            return check_failed(context, guard.fails_closed, "the tool call could not be parsed");
        }
    };
    if let Some(stop) = check.refused_tool(context.input, &settings.tools().allow) {
        return refused(Arc::new(check), stop);
    }
    if is_never_stopped(&check.action, Some(&check.root))
        && !(runs_tests(&check.action) && check.runs_scripts())
    {
        return HookResponse::Empty;
    }
    let check = Arc::new(check);
    let (sender, receiver) = mpsc::channel();
    let (record_sender, record) = mpsc::channel();
    let checking = Arc::clone(&check);
    let run = move || {
        let outcome = checking.run();
        let stop = match &outcome {
            Ok(CheckOutcome::Stopped { stop, .. }) => Some(stop.clone()),
            _ => None,
        };
        // Respond before recording: if recording fails, the user is asked again. The receiver may be gone.
        let _ = sender.send(outcome);
        if let Some(stop) = stop {
            let _ = record_sender.send(checking.record(&stop));
        }
    };
    if let Err(error) = thread::Builder::new().spawn(run) {
        return store_failed(context, &check, &format!("no thread: {error}"));
    }
    match receiver.recv_timeout((until + GRACE).saturating_duration_since(Instant::now())) {
        Ok(Ok(CheckOutcome::Allowed)) => HookResponse::Empty,
        Ok(Ok(CheckOutcome::Stopped { stop, is_certain })) => {
            if !is_certain {
                if guard.fails_closed {
                    return check_failed(context, true, HISTORY_UNREAD);
                }
                log_error(Some(context.home), format_args!("the guard: {HISTORY_UNREAD}"));
            }
            HookResponse::Decision(
                permission(stop.verdict, &Redactor::shared().text(&stop.reason)),
                PendingRecord(record),
            )
        }
        Ok(Ok(CheckOutcome::UnknownSession)) => check_failed(context, true, "the session is unknown"),
        Ok(Ok(CheckOutcome::TimedOut)) | Err(RecvTimeoutError::Timeout) => timed_out(context, &check),
        Ok(Err(error)) => store_failed(context, &check, &error.to_string()),
        Err(RecvTimeoutError::Disconnected) => store_failed(context, &check, "the check panicked"),
    }
}

/// The response to a call of a tool that the agent may not call. The record is written in the background.
fn refused(check: Arc<GuardCheck>, stop: Stop) -> HookResponse {
    let reply = permission(stop.verdict, &Redactor::shared().text(&stop.reason));
    let (sender, record) = mpsc::channel();
    let write = move || {
        // The receiver may be gone.
        let _ = sender.send(check.record(&stop));
    };
    match thread::Builder::new().spawn(write) {
        Ok(_) => HookResponse::Decision(reply, PendingRecord(record)),
        Err(_) => HookResponse::Json(reply),
    }
}

/// Logged if the history could not be read, so that earlier actions cannot excuse the call.
const HISTORY_UNREAD: &str = "earlier actions could not be read in time";

/// The response if the store cannot be read: destructive calls are stopped anyway.
fn store_failed(context: &HookContext<'_>, check: &GuardCheck, fault: &str) -> HookResponse {
    if check.fails_closed {
        return check_failed(context, true, fault);
    }
    log_error(Some(context.home), format_args!("the guard: {fault}"));
    let Some(stop) = check.destructive_stop() else {
        return fault_notice::notice(Some(context.home), context.input.session_id.as_deref(), fault).into();
    };
    let reason = format!(
        "{} The rules that you set for this session could not be read: {}. Run grov doctor for details.",
        stop.reason,
        single_line(fault.lines().next().unwrap_or_default())
    );
    HookResponse::Json(permission(stop.verdict, &Redactor::shared().text(&reason)))
}

/// The response if the store was busy until the deadline.
fn timed_out(context: &HookContext<'_>, check: &GuardCheck) -> HookResponse {
    let fault = format!("the database was busy for {} s", RESPONSE_TIMEOUT.as_secs());
    if check.fails_closed {
        return check_failed(context, true, &fault);
    }
    log_error(Some(context.home), format_args!("the guard: {fault}"));
    let destructive = check.destructive_stop().map(|stop| stop.reason);
    let reason = format!(
        "{} {STORE_BUSY}",
        destructive
            .as_deref()
            .unwrap_or("Grov: this call could not be checked.")
    );
    HookResponse::Json(permission(
        check.verdict_if_busy,
        &Redactor::shared().text(&reason),
    ))
}

/// Tells the user why the call could not be checked.
const STORE_BUSY: &str = "The database was busy for a minute, so Grov does not know whether you forbade or allowed this. Check the \
    call before you allow it. Run grov doctor for details.";

/// Records that a tool call ran: if the user was asked, they allowed it.
pub(crate) fn post_tool_use(context: &HookContext<'_>) -> Result<Option<String>, HookError> {
    let is_off = context
        .settings(None)
        .is_ok_and(|settings| settings.guard().mode == GuardMode::Off);
    let (false, Some(session_ref), Some(tool_use_id)) = (
        is_off,
        context.session_ref(),
        context.input.tool_use_id.as_deref(),
    ) else {
        return Ok(None);
    };
    runtime()?.block_on(mark_run(context.services, &session_ref.id(), tool_use_id))?;
    Ok(None)
}

/// Most calls were never asked about, or no person was; the database is opened for writing only for those that were.
async fn mark_run(
    services: &Services,
    session: &ClientSessionId,
    tool_use_id: &str,
) -> Result<(), StoreError> {
    let Some(store) = services.stores.open_existing(Some(STORE_TIMEOUT)).await? else {
        return Ok(());
    };
    let log = store.guard_log(session).await?;
    if log.iter().any(|guarded| {
        guarded.tool_use_id == tool_use_id && guarded.verdict == GuardVerdict::Ask && !guarded.ran
    }) {
        let store = services.stores.open(Some(STORE_TIMEOUT)).await?;
        store.mark_guarded_run(session, tool_use_id).await?;
    }
    Ok(())
}

/// Whether the guard fails closed, if the settings cannot be read.
fn is_fail_closed(home: Option<&Home>, environment: &Environment) -> bool {
    let line_says = |line: &str| {
        let line = line.split('#').next().unwrap_or_default();
        line.contains("fail") && line.contains("closed")
    };
    match environment.get("GROV_GUARD_FAIL") {
        Some(word) => word == "closed",
        None => home
            .and_then(|home| std::fs::read_to_string(home.config_file()).ok())
            .is_some_and(|file| file.lines().any(line_says)),
    }
}

/// The response to a tool call that could not be checked.
fn check_failed(context: &HookContext<'_>, fails_closed: bool, fault: &str) -> HookResponse {
    log_error(Some(context.home), format_args!("the guard: {fault}"));
    let session = context.input.session_id.as_deref();
    fail(Some(context.home), session, fails_closed, fault)
}

/// The response if the check panicked.
pub(crate) fn panicked(home: &Home, environment: &Environment) -> HookResponse {
    let fails_closed = is_fail_closed(Some(home), environment);
    fail(Some(home), None, fails_closed, "the check panicked")
}

/// The response if Grov has no home directory.
pub(crate) fn without_home(environment: &Environment) -> HookResponse {
    let fails_closed = is_fail_closed(None, environment);
    fail(None, None, fails_closed, "Grov has no home directory")
}

fn fail(home: Option<&Home>, session: Option<&str>, fails_closed: bool, fault: &str) -> HookResponse {
    if !fails_closed {
        return fault_notice::notice(home, session, fault).into();
    }
    let fault = single_line(fault.lines().next().unwrap_or_default());
    HookResponse::Block(format!(
        "Grov could not check this call, and guard.fail is \"closed\": {fault}. The user can run grov doctor for details."
    ))
}

/// A guard record that is still being written.
#[derive(Debug)]
pub struct PendingRecord(Receiver<Result<(), HookError>>);

impl PendingRecord {
    /// Waits briefly until the record is written.
    ///
    /// # Errors
    /// The record could not be written in time.
    pub fn finish(self) -> Result<(), HookError> {
        self.finish_within(RECORD_TIMEOUT)
    }

    fn finish_within(self, timeout: Duration) -> Result<(), HookError> {
        match self.0.recv_timeout(timeout) {
            Ok(recorded) => recorded.map_err(|error| HookError::Record(Box::new(error))),
            Err(RecvTimeoutError::Timeout) => Err(HookError::RecordTimedOut),
            Err(RecvTimeoutError::Disconnected) => Err(HookError::RecordPanicked),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::services;
    use std::path::Path;

    #[test]
    fn waiting_for_a_record_is_limited() {
        let (sender, receiver) = mpsc::channel();
        drop(sender);
        assert!(
            PendingRecord(receiver)
                .finish()
                .unwrap_err()
                .to_string()
                .contains("panicked")
        );
        let (sender, receiver) = mpsc::channel();
        let fault = PendingRecord(receiver).finish_within(Duration::ZERO).unwrap_err();
        assert!(fault.to_string().contains("timed out"), "{fault}");
        // A record that is written later is ignored.
        assert!(sender.send(Ok(())).is_err());
        let (sender, receiver) = mpsc::channel();
        sender.send(Ok(())).unwrap();
        assert!(PendingRecord(receiver).finish().is_ok());
    }

    struct Nothing;

    impl crate::Programs for Nothing {
        fn start_proxy(&self, _: u16) -> Result<(), HookError> {
            Ok(())
        }

        fn move_proxy(&self) -> Result<String, HookError> {
            Ok(String::new())
        }

        fn start_worker(&self, _: crate::Work, _: &grov_runtime::Settings) -> Result<(), HookError> {
            Ok(())
        }

        fn exits_after_response(&self) -> bool {
            false
        }
    }

    /// The response to a command while the database is locked and the client has waited for a minute.
    fn response_at_deadline(command: &str, configuration: &str) -> HookResponse {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::default();
        let home = Home::locate(Some(folder.path()), &environment).unwrap();
        std::fs::write(home.config_file(), configuration).unwrap();
        let database = home.database();
        let services = services(database.clone());
        runtime().unwrap().block_on(services.stores.open(None)).unwrap();
        let lock = std::fs::File::open(database.with_extension("db.lock")).unwrap();
        lock.lock().unwrap();
        let input = serde_json::json!({
            "session_id": "s", "cwd": folder.path(), "tool_name": "Bash", "tool_input": {"command": command},
        });
        let since = Instant::now().checked_sub(RESPONSE_TIMEOUT).unwrap();
        response("PreToolUse", &input, folder.path(), &services, since)
    }

    /// The response to a hook of a client that has waited since an instant.
    fn response(
        event: &str,
        input: &serde_json::Value,
        folder: &Path,
        services: &Arc<Services>,
        waiting_since: Instant,
    ) -> HookResponse {
        let environment = Environment::default();
        crate::handle(&crate::Hook {
            event: Some(event),
            input: input.to_string().as_bytes(),
            home: &Home::locate(Some(folder), &environment).unwrap(),
            environment: &environment,
            daemon_port: None,
            programs: &Nothing,
            services,
            waiting_since,
        })
    }

    #[test]
    fn a_busy_database_makes_the_guard_ask_at_the_deadline() {
        let HookResponse::Json(text) = response_at_deadline("touch a", "") else {
            panic!("no decision");
        };
        assert!(text.contains(r#""ask""#) && text.contains("busy"), "{text}");
        let HookResponse::Json(text) = response_at_deadline("rm -rf /", "[guard]\nmode = \"deny\"\n") else {
            panic!("no decision");
        };
        assert!(
            text.contains("removes everything") && text.contains("busy"),
            "{text}"
        );
        assert!(
            matches!(response_at_deadline("ls", ""), HookResponse::Empty),
            "read-only calls do not wait"
        );
        let closed = response_at_deadline("touch a", "[guard]\nfail = \"closed\"\n");
        assert!(matches!(closed, HookResponse::Block(_)), "{closed:?}");
    }

    /// A client in a permission mode whose calls run after the guard asked about them.
    struct Client {
        folder: tempfile::TempDir,
        services: Arc<Services>,
        mode: &'static str,
    }

    impl Client {
        fn new(mode: &'static str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let database = Home::locate(Some(folder.path()), &Environment::default())
                .unwrap()
                .database();
            let services = services(database);
            runtime().unwrap().block_on(services.stores.open(None)).unwrap();
            Self {
                folder,
                services,
                mode,
            }
        }

        fn hook(&self, event: &str, call: &str, command: &str) -> HookResponse {
            let input = serde_json::json!({
                "session_id": "s", "cwd": self.folder.path(), "permission_mode": self.mode, "tool_name": "Bash",
                "tool_input": {"command": command}, "tool_use_id": call,
            });
            response(event, &input, self.folder.path(), &self.services, Instant::now())
        }

        /// Whether the guard asks about a command. If `runs`, the command runs afterwards.
        fn is_asked(&self, call: &str, command: &str, runs: bool) -> bool {
            let is_asked = match self.hook("PreToolUse", call, command) {
                HookResponse::Decision(text, record) => {
                    record.finish().unwrap();
                    assert!(text.contains(r#""ask""#), "{text}");
                    true
                }
                HookResponse::Empty => false,
                other => panic!("{other:?}"),
            };
            if runs {
                self.hook("PostToolUse", call, command);
            }
            is_asked
        }
    }

    #[test]
    fn a_yes_counts_only_in_a_mode_in_which_a_person_answers() {
        let push = "git push --force origin main";
        for (mode, counts) in [
            ("default", true),
            ("acceptEdits", true),
            ("bypassPermissions", false),
            ("dontAsk", false),
            ("auto", false),
        ] {
            let client = Client::new(mode);
            assert!(client.is_asked("1", push, true), "{mode}");
            assert_eq!(client.is_asked("2", push, false), !counts, "{mode}");
            let asked = runtime().unwrap().block_on(async {
                let store = client.services.stores.open(None).await.unwrap();
                store.asked_calls(&ClientSessionId::new("s")).await.unwrap()
            });
            assert_eq!(asked.iter().any(|call| call.ran), counts, "{mode}");
        }
    }

    #[test]
    fn a_call_that_an_allow_rule_let_through_is_no_yes() {
        let push = "git push --force origin main";
        let client = Client::new("default");
        // An allow rule answered in the client: the guard sees only that the call ran.
        client.hook("PostToolUse", "1", push);
        assert!(client.is_asked("2", push, false));
        let asked = runtime().unwrap().block_on(async {
            let store = client.services.stores.open(None).await.unwrap();
            store.asked_calls(&ClientSessionId::new("s")).await.unwrap()
        });
        assert!(asked.iter().all(|call| !call.ran), "{asked:?}");
    }

    #[test]
    fn a_refused_call_is_asked_about_again_also_in_other_words() {
        let client = Client::new("default");
        for (call, command) in [
            ("1", "git push --force origin main"),
            ("2", "git push --force origin main"),
            ("3", "git push -f origin main"),
            ("4", "sh -c 'git push origin +main'"),
            ("5", "cd . && git -C . push --force origin HEAD:main"),
        ] {
            assert!(client.is_asked(call, command, false), "{command}");
        }
    }
}

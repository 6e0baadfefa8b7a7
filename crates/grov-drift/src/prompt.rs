//! Handles UserPromptSubmit.

use crate::answered_events::answer_once;
use crate::error::HookError;
use crate::error_log::log_error;
use crate::follower::pending::{can_defer, has_no_actions, record_pending};
use crate::hook::HookContext;
use crate::resume::{SessionRef, load_readings, reader, resume, start_session};
use crate::services::STORE_TIMEOUT;
use crate::team_memory::{MemoryRequest, RenderedMemories, is_off, is_worth_recalling, matching_memories};
use crate::transcript_file::{catch_up, length, read_range};
use crate::{Work, daemon, plans, runtime};
use grov_actions::transcript::typed_text;
use grov_domain::{ClientDialect, Clock, HookSession, StoreConnection, StoreError, SystemClock, TaskId};
use grov_hooks::event;
use grov_project::ProjectLocation;
use grov_redact::Redactor;
use grov_rules::IntentCache;
use grov_runtime::{DriftSettings, MemorySettings, Settings};
use grov_session::sanitize_prompt;
use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tokio::task::yield_now;

/// Time limit for comparing files with the memories about them.
const FILE_CHECK_TIMEOUT: Duration = Duration::from_millis(15);
/// Time limit for following an unread transcript; the worker after the turn follows the rest.
const FOLLOW_TIMEOUT: Duration = Duration::from_millis(100);
/// Maximum number of unread transcript bytes processed while the client waits.
const MAX_UNREAD_BYTES: u64 = 256 * 1024;
/// Maximum length in bytes of a prompt that is read while the database opens: longer ones take longer than that.
const MAX_PREFETCH_BYTES: usize = 16 * 1024;
/// Retries if another hook wrote at the same time.
const MAX_ATTEMPTS: usize = 3;
/// How long a prompt waits for a database that others write to. A lost prompt is a lost limit; without writers there is no wait.
const PATIENCE: Duration = Duration::from_millis(500);
/// The pause between two attempts. Nothing else runs in a hook.
const PAUSE: Duration = Duration::from_millis(5);
/// Maximum number of characters of injected text. The client truncates at 10,000.
const MAX_CHARS: usize = 9_600;
/// Estimated maximum number of characters per token.
const MAX_CHARS_PER_TOKEN: usize = 3;

/// Follows the transcript since the last prompt and injects a correction and memories for the prompt.
pub(crate) fn handle(context: &HookContext<'_>) -> Result<Option<String>, HookError> {
    let prompt = context.input.prompt.as_deref().unwrap_or_default();
    // Remove text that the client wrote, such as a subagent's completion.
    let prompt = typed_text(&ClientDialect::CLAUDE_CODE, &[Cow::Borrowed(prompt)], false);
    // Redact first: a fragment of a secret is not recognized later.
    let prompt = Redactor::shared().redact(&prompt);
    // Memory needs a project; the delivery log needs a session.
    let (false, Some(session_ref)) = (prompt.is_empty(), context.session_ref()) else {
        return Ok(None);
    };
    plans::capture(context, &session_ref, &prompt);
    let settings = context.settings(Some(&session_ref.directory))?;
    // Sessions that go through the proxy are recorded and corrected there.
    if let Some(proxy) = daemon::proxy_address(context, &settings) {
        return Ok(daemon::at_prompt(context, proxy));
    }
    let handler = PromptHandler {
        context,
        session_ref: &session_ref,
        prompt: &prompt,
        settings: &settings,
        drift: settings.drift(),
        memory: settings.memory(),
        intents: Arc::<IntentCache>::default(),
    };
    let event = context.input.prompt_id.as_deref().map(|id| {
        let prompt = BuildHasherDefault::<DefaultHasher>::default().hash_one((id, &*prompt));
        format!("prompt {prompt:016x}")
    });
    let text = answer_once(context, event.as_deref(), None, || {
        Ok(runtime()?.block_on(handler.answer())?)
    })?;
    // Redact once more before injecting.
    let text = text.map(|text| Redactor::shared().text(&text));
    Ok(text.map(|text| event::context(event::USER_PROMPT_SUBMIT, &text, None)))
}

struct PromptHandler<'a> {
    context: &'a HookContext<'a>,
    session_ref: &'a SessionRef,
    prompt: &'a str,
    settings: &'a Settings,
    drift: DriftSettings,
    memory: MemorySettings,
    /// Caches the intent of prompts, which are read while waiting for the database if possible.
    intents: Arc<IntentCache>,
}

impl PromptHandler<'_> {
    /// Builds the injected text.
    async fn answer(&self) -> Result<Option<String>, StoreError> {
        let until = Instant::now() + PATIENCE;
        let open = async {
            loop {
                match self.context.services.stores.open(Some(STORE_TIMEOUT)).await {
                    Err(error) if error.is_transient() && Instant::now() < until => thread::sleep(PAUSE),
                    opened => return opened,
                }
            }
        };
        let read = async {
            if self.prompt.len() <= MAX_PREFETCH_BYTES {
                self.intents.prefetch_alone(&sanitize_prompt(self.prompt));
            }
        };
        let (store, ()) = tokio::join!(open, read);
        let store = store?;
        let mut added = Additions::default();
        let mut attempts = 0;
        while attempts < MAX_ATTEMPTS {
            match self.process(&*store, &mut added).await {
                Ok(true) => break,
                Ok(false) => {
                    added.correction = None;
                    attempts += 1;
                }
                Err(error) if error.is_transient() && Instant::now() < until => {
                    added.correction = None;
                    thread::sleep(PAUSE);
                }
                Err(error) => {
                    // A correction that was not recorded must not be delivered, or every prompt would repeat it.
                    added.correction = None;
                    log_error(
                        Some(self.context.home),
                        format_args!("following a session: {error}"),
                    );
                    break;
                }
            }
        }
        self.context.release(store);
        let memory = added.memory.flatten().filter(|memory| self.log_delivery(memory));
        Ok(join(
            added.correction,
            memory.map(|memory| memory.text.into_inner()),
        ))
    }

    /// Records the prompt and collects the additions. `false` if another hook wrote at the same time.
    async fn process(&self, store: &dyn StoreConnection, added: &mut Additions) -> Result<bool, StoreError> {
        let session = store.hook_session_summary(&self.session_ref.id()).await?;
        if let Some(session) = &session {
            load_readings(&self.intents, session);
        }
        let unread = self.unread(session.as_ref());
        match unread {
            Unread::Actions => self.follow(store, added).await,
            Unread::NoActions { length } => self.store_pending(store, session, length, added).await,
            Unread::TooMuch { length } => {
                let is_stored = self.store_pending(store, session, length, added).await?;
                if is_stored {
                    self.follow_later();
                }
                Ok(is_stored)
            }
        }
    }

    /// Classifies the unread part of the transcript.
    fn unread(&self, session: Option<&HookSession>) -> Unread {
        if session.is_some_and(|session| !can_defer(session, self.drift.enabled)) {
            return Unread::Actions;
        }
        let Some(path) = &self.session_ref.transcript else {
            return Unread::NoActions { length: 0 };
        };
        let length = length(path).ok().flatten().unwrap_or(0);
        let read_to = session.map_or(0, |session| session.read_to);
        if length < read_to {
            return Unread::Actions;
        }
        let unread = length - read_to;
        if unread > MAX_UNREAD_BYTES {
            return Unread::TooMuch { length };
        }
        let is_quiet = session.is_some_and(|session| {
            unread == 0
                || read_range(path, read_to, unread)
                    .is_ok_and(|bytes| has_no_actions(session, &bytes, self.prompt))
        });
        if is_quiet {
            Unread::NoActions { length }
        } else {
            Unread::Actions
        }
    }

    /// Records the prompt without following the transcript, and collects the additions.
    async fn store_pending(
        &self,
        store: &dyn StoreConnection,
        session: Option<HookSession>,
        length: u64,
        added: &mut Additions,
    ) -> Result<bool, StoreError> {
        let mut session = match session {
            Some(session) => session,
            None => start_session(store, self.context.home, self.session_ref).await?,
        };
        // The memory query itself checks whether Grov is off.
        let query = self.query_memory(store, false, added);
        let (queried, ()) = tokio::join!(query, self.prefetch(&session.contract.instructions));
        queried?;
        record_pending(&mut session, self.prompt, length, reader(&self.intents));
        session.prompt_readings = self.intents.stored(&session.contract.instructions);
        if let Some(path) = &self.session_ref.transcript {
            session.transcript_path = Some(path.to_string_lossy().into_owned());
        }
        session.updated_at = SystemClock.now();
        self.mark_active(&mut session, added);
        store.save_hook_session(&Redactor::shared().clean(session)).await
    }

    /// Reads earlier prompts, and yields to the database between them.
    async fn prefetch(&self, instructions: &[String]) {
        for (place, prompt) in instructions.iter().enumerate() {
            // The first and the newest prompt determine most of the contract.
            if place == 0 || place + 1 == instructions.len() {
                self.intents.prefetch_alone(prompt);
            } else {
                self.intents.prefetch(prompt);
            }
            yield_now().await;
        }
    }

    /// Starts a worker for a transcript that is too long to follow now. If that fails, the worker after the turn follows it.
    fn follow_later(&self) {
        let work = Work {
            session_ref: self.session_ref.clone(),
            event: event::USER_PROMPT_SUBMIT.to_owned(),
            answer: String::new(),
            agent: None,
        };
        if let Err(fault) = self.context.programs.start_worker(work, self.settings) {
            log_error(Some(self.context.home), fault);
        }
    }

    async fn is_off(&self, store: &dyn StoreConnection) -> Result<bool, StoreError> {
        let project = ProjectLocation::locate(&self.session_ref.directory).project();
        is_off(store, project.key(), &self.session_ref.id()).await
    }

    /// Follows the transcript up to this prompt, and checks the actions.
    async fn follow(&self, store: &dyn StoreConnection, added: &mut Additions) -> Result<bool, StoreError> {
        let mut follower = resume(store, self.context.home, self.session_ref, reader(&self.intents)).await?;
        // After `resume`: a fork inherits the off switch.
        let is_off = self.is_off(store).await?;
        let until = Instant::now() + FOLLOW_TIMEOUT;
        let is_at_end = catch_up(&mut follower, until).unwrap_or_else(|error| {
            log_error(Some(self.context.home), HookError::Transcript(error));
            false
        });
        let now = SystemClock.now();
        if is_at_end {
            follower.add_prompt(self.prompt, now);
        } else {
            let path = self.session_ref.transcript.as_deref();
            let length = path.and_then(|path| length(path).ok().flatten());
            follower.queue_prompt(self.prompt, length.unwrap_or(0));
        }
        follower.set_corrects(self.drift.corrections && !is_off);
        let is_checked = self.drift.enabled && is_at_end;
        let check = if is_checked { follower.check(now) } else { None };
        added.correction = check.and_then(|check| check.correction);
        self.query_memory(store, is_off, added).await?;
        let readings = self.intents.stored(&follower.contract().instructions);
        follower.session_mut().prompt_readings = readings;
        self.mark_active(follower.session_mut(), added);
        let progress = follower.into_progress(now);
        store
            .save_hook_progress(&Redactor::shared().clean(progress))
            .await
    }

    /// Queries memory for the prompt, once.
    async fn query_memory(
        &self,
        store: &dyn StoreConnection,
        is_off: bool,
        added: &mut Additions,
    ) -> Result<(), StoreError> {
        if added.memory.is_none() {
            let is_queried = self.memory.enabled && !is_off && is_worth_recalling(self.prompt);
            let correction = added.correction.as_deref().map_or(0, |text| text.chars().count());
            added.memory = Some(if is_queried {
                store.begin_reading().await?;
                let memories = self
                    .matching_memories(store, MAX_CHARS.saturating_sub(correction))
                    .await;
                store.end_reading().await?;
                memories?
            } else {
                None
            });
        }
        Ok(())
    }

    /// Marks the session as active and counts delivered memories.
    fn mark_active(&self, session: &mut HookSession, added: &Additions) {
        let memory = added.memory.as_ref().and_then(Option::as_ref);
        session.memories_injected += memory.map_or(0, |memory| memory.memories.len() as u64);
        session.turn_ended_at = None;
        session.ended_at = None;
    }

    /// Finds memories for the prompt, within `room` characters.
    async fn matching_memories(
        &self,
        store: &dyn StoreConnection,
        room: usize,
    ) -> Result<Option<RenderedMemories>, StoreError> {
        let delivered: HashSet<TaskId> = self
            .context
            .delivery_log()
            .map(|list| list.read())
            .unwrap_or_default();
        let request = MemoryRequest {
            text: self.prompt,
            session_ref: self.session_ref,
            delivered: &delivered,
            tokens: self.memory.budget_tokens.min(room / MAX_CHARS_PER_TOKEN),
            file_check_timeout: FILE_CHECK_TIMEOUT,
        };
        matching_memories(store, &request).await
    }

    /// Logs the delivery of memories. If that fails, they are not delivered, because every prompt would repeat them.
    fn log_delivery(&self, memory: &RenderedMemories) -> bool {
        let Some(list) = self.context.delivery_log() else {
            return false;
        };
        let added = list.add(&memory.memories);
        added
            .map_err(|error| log_error(Some(self.context.home), HookError::DeliveryLog(error)))
            .is_ok()
    }
}

/// The unread part of a transcript.
enum Unread {
    /// No actions; the transcript has `length` bytes.
    NoActions { length: u64 },
    /// Unread actions, or followed ones that await a check.
    Actions,
    /// More than can be read while the client waits.
    TooMuch { length: u64 },
}

/// The texts injected with a prompt.
#[derive(Default)]
struct Additions {
    correction: Option<String>,
    /// `None` until memory was queried.
    memory: Option<Option<RenderedMemories>>,
}

/// Joins both texts, the correction first.
fn join(correction: Option<String>, memory: Option<String>) -> Option<String> {
    match (correction, memory) {
        (Some(correction), Some(memory)) => Some(format!("{correction}\n{memory}")),
        (correction, memory) => correction.or(memory),
    }
}

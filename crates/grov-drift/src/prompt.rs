//! The user has sent a prompt.

use crate::answered_events::AnsweredEvents;
use crate::error_log::log_error;
use crate::follower::pending::{can_defer, has_no_actions, record_pending};
use crate::hook::HookContext;
use crate::resume::{SessionRef, reader, resume, start_session};
use crate::room::Room;
use crate::services::STORE_TIMEOUT;
use crate::team_memory::{Prompt, RenderedMemories, is_off, is_worth_recalling, remembered};
use crate::transcript_file::{catch_up, length, read_range};
use crate::{Work, daemon, runtime};
use grov_actions::transcript::typed_text;
use grov_domain::{ClientSessionId, Clock, HookSession, StoreConnection, StoreError, SystemClock, TaskId};
use grov_hooks::event;
use grov_memory::Budget;
use grov_project::Place;
use grov_redact::Redactor;
use grov_rules::IntentCache;
use grov_runtime::{DriftSettings, MemorySettings, Settings};
use grov_session::sanitize_prompt;
use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::yield_now;

/// Time for looking whether files are as memories left them.
const TIME_FOR_FILES: Duration = Duration::from_millis(15);
/// Time for following what no hook has followed so far; the rest is left to the end of the turn.
const TIME_TO_FOLLOW: Duration = Duration::from_millis(100);
/// Bytes of transcript that are looked through while the client waits.
const MOST_UNREAD: u64 = 256 * 1024;
/// Bytes of a prompt that is read while the database is opened: a longer one would take longer than that.
const READ_AHEAD: usize = 16 * 1024;
/// How often a session is taken up anew because another hook wrote meanwhile.
const TRIES: usize = 3;
/// How long another hook of the session is waited for: the client waits for that one as well.
const PATIENCE: Duration = Duration::from_millis(200);
/// Characters of a text that the client passes on whole, with some room.
const LONGEST: usize = 9_600;
/// As many as a token has at most, by the estimate that memory is told by.
const CHARACTERS_OF_A_TOKEN: usize = 3;

/// Follows what the agent did since the last prompt, and tells what is to be told: that it left its goal, and what
/// memory knows about the prompt.
pub(crate) fn handle(context: &HookContext<'_>) -> Result<Option<String>, String> {
    let prompt = context.input.prompt.as_deref().unwrap_or_default();
    // The client sends texts of its own too, such as that a subagent is done.
    let prompt = typed_text(&[Cow::Borrowed(prompt)], false);
    // Before anything is made of it: words that are cut out no longer show that they are secret.
    let prompt = Redactor::shared().redact(&prompt);
    // Without a place in the file system nobody knows whose memory it is, without a session nobody what was said.
    let (false, Some(session_ref)) = (prompt.is_empty(), context.session_ref()) else {
        return Ok(None);
    };
    // The daemon keeps its threads.
    let room = context.programs.ends().then(Room::ahead);
    let settings = context.settings(Some(&session_ref.directory))?;
    // What goes through the proxy is followed there and hears it from there: two that know nothing of one another would
    // say it twice.
    if daemon::proxy_address(context, &settings).is_some() {
        return Ok(None);
    }
    let arrival = PromptHandler {
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
        if let Some(room) = room {
            room.ready();
        }
        let text = runtime()?.block_on(arrival.answer());
        text.map_err(|error| error.to_string())
    })?;
    // Another hook may have found it.
    let text = text.map(|text| Redactor::shared().text(&text));
    Ok(text.map(|text| event::context(event::USER_PROMPT_SUBMIT, &text)))
}

/// Asks for an answer to an event, unless another hook gave it, or is giving it: where two settings files register Grov in
/// other words each, the client runs both. An event that no name tells from others is answered by one hook at a time.
pub(crate) fn answer_once(
    context: &HookContext<'_>,
    event: Option<&str>,
    within: Option<Duration>,
    answer: impl FnOnce() -> Result<Option<String>, String>,
) -> Result<Option<String>, String> {
    let session = context.input.session_id.as_deref().map(ClientSessionId::new);
    let answers = session.and_then(|session| AnsweredEvents::of(context.home.root(), &session));
    let Some(answers) = answers else { return answer() };
    let held = answers.hold(PATIENCE);
    let held = held.map_err(|error| format!("what was answered: {error}"))?;
    let Some(held) = held.filter(|held| event.is_none_or(|event| !held.has(event, within))) else {
        return Ok(None);
    };
    let text = answer()?;
    if let Some(event) = event
        && let Err(error) = held.answered(event)
    {
        log_error(Some(context.home), &format!("what was answered: {error}"));
    }
    Ok(text)
}

struct PromptHandler<'a> {
    context: &'a HookContext<'a>,
    session_ref: &'a SessionRef,
    prompt: &'a str,
    settings: &'a Settings,
    drift: DriftSettings,
    memory: MemorySettings,
    /// What prompts ask for: each is read once, while the database has the word where that can be.
    intents: Arc<IntentCache>,
}

impl PromptHandler<'_> {
    /// What the agent is told.
    async fn answer(&self) -> Result<Option<String>, StoreError> {
        let open = self.context.services.stores.open(Some(STORE_TIMEOUT));
        let read = async {
            if self.prompt.len() <= READ_AHEAD {
                self.intents.prefetch_alone(&sanitize_prompt(self.prompt));
            }
        };
        let (store, ()) = tokio::join!(open, read);
        let store = store?;
        let mut told = Additions::default();
        for _ in 0..TRIES {
            match self.process(&*store, &mut told).await {
                Ok(true) => break,
                Ok(false) => told.correction = None,
                Err(error) => {
                    // What cannot be noted must not be said, or it would be said again with every prompt.
                    told.correction = None;
                    log_error(Some(self.context.home), &format!("following a session: {error}"));
                    break;
                }
            }
        }
        self.context.put_away(store);
        let memory = told.memory.flatten().filter(|memory| self.log_delivery(memory));
        Ok(joined(
            told.correction,
            memory.map(|memory| memory.text.into_inner()),
        ))
    }

    /// Takes the prompt in, and keeps what is to be told with it. `false`: somebody else wrote meanwhile.
    async fn process(&self, store: &dyn StoreConnection, told: &mut Additions) -> Result<bool, StoreError> {
        let standing = store.hook_session_summary(&self.session_ref.id()).await?;
        let unread = self.unread(standing.as_ref());
        match unread {
            Unread::Actions => self.follow(store, told).await,
            Unread::NoActions { length } => self.store_pending(store, standing, length, told).await,
            Unread::TooMuch { length } => {
                let noted = self.store_pending(store, standing, length, told).await?;
                if noted {
                    self.follow_later();
                }
                Ok(noted)
            }
        }
    }

    /// What of the transcript nobody has followed yet.
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
        if unread > MOST_UNREAD {
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

    /// Notes the prompt, for whoever follows the session next, and keeps what is to be told with it.
    async fn store_pending(
        &self,
        store: &dyn StoreConnection,
        session: Option<HookSession>,
        length: u64,
        told: &mut Additions,
    ) -> Result<bool, StoreError> {
        let mut session = match session {
            Some(session) => session,
            None => start_session(store, self.context.home, self.session_ref).await?,
        };
        // Memory is silent by itself where Grov is off.
        let ask = self.ask(store, false, told);
        let (asked, ()) = tokio::join!(ask, self.prefetch(&session.contract.instructions));
        asked?;
        record_pending(&mut session, self.prompt, length, reader(&self.intents));
        if let Some(path) = &self.session_ref.transcript {
            session.transcript_path = Some(path.to_string_lossy().into_owned());
        }
        session.updated_at = SystemClock.now();
        self.mark_active(&mut session, told);
        store.save_hook_session(&Redactor::shared().clean(session)).await
    }

    /// Reads what was typed before, and lets an answer of the database be taken up between two prompts.
    async fn prefetch(&self, instructions: &[String]) {
        for (place, prompt) in instructions.iter().enumerate() {
            // The first and the newest say most of what the agent is held to.
            if place == 0 || place + 1 == instructions.len() {
                self.intents.prefetch_alone(prompt);
            } else {
                self.intents.prefetch(prompt);
            }
            yield_now().await;
        }
    }

    /// Hands over what is too much to be read while the client waits. Without that it is read when the turn is over.
    fn follow_later(&self) {
        let work = Work {
            session_ref: self.session_ref.clone(),
            event: event::USER_PROMPT_SUBMIT.to_owned(),
            answer: String::new(),
            agent: None,
        };
        if let Err(fault) = self.context.programs.hand_over(work, self.settings) {
            log_error(Some(self.context.home), &fault);
        }
    }

    async fn is_off(&self, store: &dyn StoreConnection) -> Result<bool, StoreError> {
        let project = Place::locate(&self.session_ref.directory).project();
        is_off(store, project.key(), Some(&self.session_ref.id())).await
    }

    /// Follows the session up to this prompt.
    async fn follow(&self, store: &dyn StoreConnection, told: &mut Additions) -> Result<bool, StoreError> {
        let mut follower = resume(store, self.context.home, self.session_ref, reader(&self.intents)).await?;
        // After that: a fork is off where what it goes on with is.
        let is_off = self.is_off(store).await?;
        let until = Instant::now() + TIME_TO_FOLLOW;
        let is_at_end = catch_up(&mut follower, until).unwrap_or_else(|error| {
            log_error(Some(self.context.home), &format!("the transcript: {error}"));
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
        told.correction = check.and_then(|check| check.correction);
        self.ask(store, is_off, told).await?;
        self.mark_active(follower.session_mut(), told);
        let progress = follower.into_progress(now);
        store
            .save_hook_progress(&Redactor::shared().clean(progress))
            .await
    }

    /// Asks memory about the prompt, once.
    async fn ask(
        &self,
        store: &dyn StoreConnection,
        is_off: bool,
        told: &mut Additions,
    ) -> Result<(), StoreError> {
        if told.memory.is_none() {
            let is_asked = self.memory.enabled && !is_off && is_worth_recalling(self.prompt);
            let correction = told.correction.as_deref().map_or(0, |text| text.chars().count());
            told.memory = Some(if is_asked {
                store.begin_reading().await?;
                let remembered = self.remembered(store, LONGEST.saturating_sub(correction)).await;
                store.end_reading().await?;
                remembered?
            } else {
                None
            });
        }
        Ok(())
    }

    /// Whoever says something goes on, and is told what is to be told.
    fn mark_active(&self, session: &mut HookSession, told: &Additions) {
        let memory = told.memory.as_ref().and_then(Option::as_ref);
        session.memories_told += memory.map_or(0, |memory| memory.memories.len() as u64);
        session.ended_at = None;
    }

    /// What memory knows about the prompt, in so many characters.
    async fn remembered(
        &self,
        store: &dyn StoreConnection,
        room: usize,
    ) -> Result<Option<RenderedMemories>, StoreError> {
        let told: HashSet<TaskId> = self
            .context
            .delivery_log()
            .map(|list| list.read())
            .unwrap_or_default();
        let session = self.session_ref.id();
        let prompt = Prompt {
            text: self.prompt,
            session: Some(&session),
            directory: &self.session_ref.directory,
            told: &told,
            budget: Budget {
                tokens: self.memory.budget_tokens.min(room / CHARACTERS_OF_A_TOKEN),
            },
            time_for_files: TIME_FOR_FILES,
        };
        remembered(store, &prompt).await
    }

    /// Notes what is told: what nobody knows was said would be said again with every prompt.
    fn log_delivery(&self, memory: &RenderedMemories) -> bool {
        let Some(list) = self.context.delivery_log() else {
            return false;
        };
        let added = list.add(&memory.memories);
        if let Err(error) = &added {
            log_error(Some(self.context.home), &format!("what was told: {error}"));
        }
        added.is_ok()
    }
}

/// What of a transcript nobody has followed yet.
enum Unread {
    /// Nothing that could be off the goal, in a transcript of so many bytes.
    NoActions { length: u64 },
    /// Something to be looked at, or something that was followed is still to be spoken of.
    Actions,
    /// More than can be looked at while the client waits.
    TooMuch { length: u64 },
}

/// What is to be told with a prompt.
#[derive(Default)]
struct Additions {
    correction: Option<String>,
    /// `None` while nobody asked memory.
    memory: Option<Option<RenderedMemories>>,
}

/// Both in one text, the correction first.
fn joined(correction: Option<String>, memory: Option<String>) -> Option<String> {
    match (correction, memory) {
        (Some(correction), Some(memory)) => Some(format!("{correction}\n{memory}")),
        (correction, memory) => correction.or(memory),
    }
}

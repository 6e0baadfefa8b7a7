//! The user has sent a prompt.

use crate::answered_events::Answers;
use crate::error_log::note;
use crate::follower::pending::{announce, is_quiet, may_wait};
use crate::hook::Call;
use crate::resume::{Whose, begin, reader, take_up};
use crate::room::Room;
use crate::services::STORE_TIMEOUT;
use crate::team_memory::{Prompt, RenderedMemories, is_off, is_worth_asking, remembered};
use crate::transcript_file::{catch_up, length, portion};
use crate::{Work, daemon, runtime};
use grov_actions::transcript::typed_text;
use grov_domain::{ClientSessionId, Clock, HookSession, StoreConnection, StoreError, SystemClock, TaskId};
use grov_hooks::event;
use grov_memory::Budget;
use grov_project::Place;
use grov_redact::Redactor;
use grov_rules::IntentMemo;
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
pub(crate) fn arrives(call: &Call<'_>) -> Result<Option<String>, String> {
    let prompt = call.input.prompt.as_deref().unwrap_or_default();
    // The client sends texts of its own too, such as that a subagent is done.
    let prompt = typed_text(&[Cow::Borrowed(prompt)], false);
    // Before anything is made of it: words that are cut out no longer show that they are secret.
    let prompt = Redactor::shared().redact(&prompt);
    // Without a place in the file system nobody knows whose memory it is, without a session nobody what was said.
    let (false, Some(whose)) = (prompt.is_empty(), call.whose()) else {
        return Ok(None);
    };
    // The daemon keeps its threads.
    let room = call.programs.ends().then(Room::ahead);
    let settings = call.settings(Some(&whose.directory))?;
    // What goes through the proxy is followed there and hears it from there: two that know nothing of one another would
    // say it twice.
    if daemon::own(call, &settings).is_some() {
        return Ok(None);
    }
    let arrival = Arrival {
        call,
        whose: &whose,
        prompt: &prompt,
        settings: &settings,
        drift: settings.drift(),
        memory: settings.memory(),
        intents: Arc::<IntentMemo>::default(),
    };
    let event = call.input.prompt_id.as_deref().map(|id| {
        let prompt = BuildHasherDefault::<DefaultHasher>::default().hash_one((id, &*prompt));
        format!("prompt {prompt:016x}")
    });
    let text = once(call, event.as_deref(), None, || {
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
pub(crate) fn once(
    call: &Call<'_>,
    event: Option<&str>,
    within: Option<Duration>,
    answer: impl FnOnce() -> Result<Option<String>, String>,
) -> Result<Option<String>, String> {
    let session = call.input.session_id.as_deref().map(ClientSessionId::new);
    let answers = session.and_then(|session| Answers::of(call.home.root(), &session));
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
        note(Some(call.home), &format!("what was answered: {error}"));
    }
    Ok(text)
}

struct Arrival<'a> {
    call: &'a Call<'a>,
    whose: &'a Whose,
    prompt: &'a str,
    settings: &'a Settings,
    drift: DriftSettings,
    memory: MemorySettings,
    /// What prompts ask for: each is read once, while the database has the word where that can be.
    intents: Arc<IntentMemo>,
}

impl Arrival<'_> {
    /// What the agent is told.
    async fn answer(&self) -> Result<Option<String>, StoreError> {
        let open = self.call.services.stores.open(Some(STORE_TIMEOUT));
        let read = async {
            if self.prompt.len() <= READ_AHEAD {
                self.intents.prefetch_alone(&sanitize_prompt(self.prompt));
            }
        };
        let (store, ()) = tokio::join!(open, read);
        let store = store?;
        let mut told = ToTell::default();
        for _ in 0..TRIES {
            match self.take_in(&*store, &mut told).await {
                Ok(true) => break,
                Ok(false) => told.correction = None,
                Err(error) => {
                    // What cannot be noted must not be said, or it would be said again with every prompt.
                    told.correction = None;
                    note(Some(self.call.home), &format!("following a session: {error}"));
                    break;
                }
            }
        }
        self.call.put_away(store);
        let memory = told.memory.flatten().filter(|memory| self.noted(memory));
        Ok(joined(
            told.correction,
            memory.map(|memory| memory.text.into_inner()),
        ))
    }

    /// Takes the prompt in, and keeps what is to be told with it. `false`: somebody else wrote meanwhile.
    async fn take_in(&self, store: &dyn StoreConnection, told: &mut ToTell) -> Result<bool, StoreError> {
        let standing = store.hook_session_summary(&self.whose.id()).await?;
        let unread = self.unread(standing.as_ref());
        match unread {
            Unread::Actions => self.follow(store, told).await,
            Unread::Words { length } => self.note(store, standing, length, told).await,
            Unread::Much { length } => {
                let noted = self.note(store, standing, length, told).await?;
                if noted {
                    self.follow_later();
                }
                Ok(noted)
            }
        }
    }

    /// What of the transcript nobody has followed yet.
    fn unread(&self, session: Option<&HookSession>) -> Unread {
        if session.is_some_and(|session| !may_wait(session, self.drift.enabled)) {
            return Unread::Actions;
        }
        let Some(path) = &self.whose.transcript else {
            return Unread::Words { length: 0 };
        };
        let length = length(path).ok().flatten().unwrap_or(0);
        let read_to = session.map_or(0, |session| session.read_to);
        if length < read_to {
            return Unread::Actions;
        }
        let unread = length - read_to;
        if unread > MOST_UNREAD {
            return Unread::Much { length };
        }
        let is_quiet = session.is_some_and(|session| {
            unread == 0
                || portion(path, read_to, unread).is_ok_and(|bytes| is_quiet(session, &bytes, self.prompt))
        });
        if is_quiet {
            Unread::Words { length }
        } else {
            Unread::Actions
        }
    }

    /// Notes the prompt, for whoever follows the session next, and keeps what is to be told with it.
    async fn note(
        &self,
        store: &dyn StoreConnection,
        session: Option<HookSession>,
        length: u64,
        told: &mut ToTell,
    ) -> Result<bool, StoreError> {
        let mut session = match session {
            Some(session) => session,
            None => begin(store, self.call.home, self.whose).await?,
        };
        // Memory is silent by itself where Grov is off.
        let ask = self.ask(store, false, told);
        let (asked, ()) = tokio::join!(ask, self.prefetch(&session.contract.instructions));
        asked?;
        announce(&mut session, self.prompt, length, reader(&self.intents));
        if let Some(path) = &self.whose.transcript {
            session.transcript_path = Some(path.to_string_lossy().into_owned());
        }
        session.updated_at = SystemClock.now();
        self.goes_on(&mut session, told);
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
            whose: self.whose.clone(),
            event: event::USER_PROMPT_SUBMIT.to_owned(),
            answer: String::new(),
            agent: None,
        };
        if let Err(fault) = self.call.programs.hand_over(work, self.settings) {
            note(Some(self.call.home), &fault);
        }
    }

    async fn is_off(&self, store: &dyn StoreConnection) -> Result<bool, StoreError> {
        let project = Place::locate(&self.whose.directory).project();
        is_off(store, project.key(), Some(&self.whose.id())).await
    }

    /// Follows the session up to this prompt.
    async fn follow(&self, store: &dyn StoreConnection, told: &mut ToTell) -> Result<bool, StoreError> {
        let mut following = take_up(store, self.call.home, self.whose, reader(&self.intents)).await?;
        // After that: a fork is off where what it goes on with is.
        let is_off = self.is_off(store).await?;
        let until = Instant::now() + TIME_TO_FOLLOW;
        let is_at_end = catch_up(&mut following, until).unwrap_or_else(|error| {
            note(Some(self.call.home), &format!("the transcript: {error}"));
            false
        });
        let now = SystemClock.now();
        if is_at_end {
            following.prompted(self.prompt, now);
        } else {
            let path = self.whose.transcript.as_deref();
            let length = path.and_then(|path| length(path).ok().flatten());
            following.waits(self.prompt, length.unwrap_or(0));
        }
        following.set_corrects(self.drift.corrections && !is_off);
        let is_checked = self.drift.enabled && is_at_end;
        let check = if is_checked { following.check(now) } else { None };
        told.correction = check.and_then(|check| check.correction);
        self.ask(store, is_off, told).await?;
        self.goes_on(following.session_mut(), told);
        let progress = following.into_progress(now);
        store
            .save_hook_progress(&Redactor::shared().clean(progress))
            .await
    }

    /// Asks memory about the prompt, once.
    async fn ask(
        &self,
        store: &dyn StoreConnection,
        is_off: bool,
        told: &mut ToTell,
    ) -> Result<(), StoreError> {
        if told.memory.is_none() {
            let is_asked = self.memory.enabled && !is_off && is_worth_asking(self.prompt);
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
    fn goes_on(&self, session: &mut HookSession, told: &ToTell) {
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
        let told: HashSet<TaskId> = self.call.told_list().map(|list| list.read()).unwrap_or_default();
        let session = self.whose.id();
        let prompt = Prompt {
            text: self.prompt,
            session: Some(&session),
            directory: &self.whose.directory,
            told: &told,
            budget: Budget {
                tokens: self.memory.budget_tokens.min(room / CHARACTERS_OF_A_TOKEN),
            },
            time_for_files: TIME_FOR_FILES,
        };
        remembered(store, &prompt).await
    }

    /// Notes what is told: what nobody knows was said would be said again with every prompt.
    fn noted(&self, memory: &RenderedMemories) -> bool {
        let Some(list) = self.call.told_list() else {
            return false;
        };
        let added = list.add(&memory.memories);
        if let Err(error) = &added {
            note(Some(self.call.home), &format!("what was told: {error}"));
        }
        added.is_ok()
    }
}

/// What of a transcript nobody has followed yet.
enum Unread {
    /// Nothing that could be off the goal, in a transcript of so many bytes.
    Words { length: u64 },
    /// Something to be looked at, or something that was followed is still to be spoken of.
    Actions,
    /// More than can be looked at while the client waits.
    Much { length: u64 },
}

/// What is to be told with a prompt.
#[derive(Default)]
struct ToTell {
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

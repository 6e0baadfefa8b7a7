//! The user has sent a prompt.

use crate::call::Call;
use crate::faults::note;
use crate::following::{Whose, catch_up, take_up};
use crate::{proxy, runtime};
use grov_actions::transcript::typed;
use grov_domain::{ClientSessionId, Clock, HookStore, StoreError, SystemClock, TaskId};
use grov_hooks::memory::{Prompt, Told, is_off, is_worth_asking, remembered};
use grov_hooks::{Answers, event};
use grov_memory::Budget;
use grov_project::Place;
use grov_runtime::{DriftSettings, MemorySettings};
use grov_store::{OpenOptions, SqliteStore};
use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::time::{Duration, Instant};

/// Time for looking whether files are as memories left them.
const TIME_FOR_FILES: Duration = Duration::from_millis(15);
/// Time for following what no hook has followed so far; the rest is left to the end of the turn.
const TIME_TO_FOLLOW: Duration = Duration::from_millis(100);
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
    let prompt = typed(&[Cow::Borrowed(prompt)], false);
    // Without a place in the file system nobody knows whose memory it is, without a session nobody what was said.
    let (false, Some(whose)) = (prompt.is_empty(), call.whose()) else {
        return Ok(None);
    };
    let settings = call.settings(Some(&whose.directory))?;
    // What goes through the proxy is followed there and hears it from there: two that know nothing of one another would
    // say it twice.
    if proxy::own(call, &settings).is_some() {
        return Ok(None);
    }
    let arrival = Arrival {
        call,
        whose: &whose,
        prompt: &prompt,
        drift: settings.drift(),
        memory: settings.memory(),
    };
    let event = call.input.prompt_id.as_deref().map(|id| {
        let prompt = BuildHasherDefault::<DefaultHasher>::default().hash_one((id, &*prompt));
        format!("prompt {prompt:016x}")
    });
    let text = once(call, event.as_deref(), None, || {
        let text = runtime()?.block_on(arrival.answer());
        text.map_err(|error| error.to_string())
    })?;
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
    drift: DriftSettings,
    memory: MemorySettings,
}

impl Arrival<'_> {
    /// What the agent is told.
    async fn answer(&self) -> Result<Option<String>, StoreError> {
        let database = self.call.home.database();
        let store = SqliteStore::open(&database, &OpenOptions::brief()).await?;
        let mut told = ToTell::default();
        for _ in 0..TRIES {
            match self.follow(&store, &mut told).await {
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
        let memory = told.memory.flatten().filter(|memory| self.noted(memory));
        Ok(joined(told.correction, memory.map(|memory| memory.text)))
    }

    /// Follows the session up to this prompt, and keeps what is to be told with it. `false`: somebody else wrote meanwhile.
    async fn follow(&self, store: &SqliteStore, told: &mut ToTell) -> Result<bool, StoreError> {
        let mut following = take_up(store, self.call.home, self.whose).await?;
        // After that: a fork is off where what it goes on with is.
        let project = Place::locate(&self.whose.directory).project();
        let is_off = is_off(store, project.key(), Some(&self.whose.id())).await?;
        let until = Instant::now() + TIME_TO_FOLLOW;
        let is_at_end = catch_up(&mut following, until).unwrap_or_else(|error| {
            note(Some(self.call.home), &format!("the transcript: {error}"));
            false
        });
        following.prompted(self.prompt);
        following.set_corrects(self.drift.corrections && !is_off);
        let now = SystemClock.now();
        let is_checked = self.drift.enabled && is_at_end;
        let check = if is_checked { following.check(now) } else { None };
        told.correction = check.and_then(|check| check.correction);
        if told.memory.is_none() {
            let memory = self.memory.enabled && !is_off && is_worth_asking(self.prompt);
            let room = LONGEST
                - told
                    .correction
                    .as_deref()
                    .map_or(0, |text| text.chars().count())
                    .min(LONGEST);
            told.memory = Some(if memory {
                self.remembered(store, room).await?
            } else {
                None
            });
        }
        let memory = told.memory.as_ref().and_then(Option::as_ref);
        let session = following.session_mut();
        session.memories_told += memory.map_or(0, |memory| memory.memories.len() as u64);
        // Whoever says something goes on.
        session.ended_at = None;
        let progress = following.into_progress(now);
        store.follow(&progress).await
    }

    /// What memory knows about the prompt, in so many characters.
    async fn remembered(&self, store: &SqliteStore, room: usize) -> Result<Option<Told>, StoreError> {
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
            until: Instant::now() + TIME_FOR_FILES,
        };
        remembered(store, &prompt).await
    }

    /// Notes what is told: what nobody knows was said would be said again with every prompt.
    fn noted(&self, memory: &Told) -> bool {
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

/// What is to be told with a prompt.
#[derive(Default)]
struct ToTell {
    correction: Option<String>,
    /// `None` while nobody asked memory.
    memory: Option<Option<Told>>,
}

/// Both in one text, the correction first.
fn joined(correction: Option<String>, memory: Option<String>) -> Option<String> {
    match (correction, memory) {
        (Some(correction), Some(memory)) => Some(format!("{correction}\n{memory}")),
        (correction, memory) => correction.or(memory),
    }
}

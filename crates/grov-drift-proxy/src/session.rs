//! One client session in memory.

use crate::asked::Breaking;
use crate::contract::{Agreement, IntentReader, PromptKind, TaskGoal};
use crate::course::{Course, Policy, Progress, Spoken};
use crate::early::{CatchUp, Done, Early, Event, Found};
use crate::judging::Inquiry;
use crate::objection::consent;
use grov_domain::{
    ClientSessionId, Correction, CorrectionId, DriftState, GoalEdit, SessionId, StepId, both_ends,
};
use grov_proxy_core::{Answered, Question};
use grov_redact::Redactor;
use grov_scope::Rules;
use std::collections::{HashSet, VecDeque};
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use time::OffsetDateTime;
use tokio::sync::Notify;

/// Tool calls whose assessment is remembered: those of some responses.
const MOST_CALLS: usize = 256;
/// Actions of which nothing is concluded until what was before is loaded.
const MOST_OPEN: usize = 64;
/// Prompts of which is kept what they mean for what waits to be said, until it is known what waits; the first ones.
const MOST_SPOKEN: usize = 16;

/// Bytes kept of each end of words that the user said yes to.
const CONSENT_END: usize = 1024;

/// A session, and who waits for it.
pub(crate) struct Slot {
    session: Mutex<Session>,
    /// Told when actions were assessed, and when the session is loaded.
    pub(crate) news: Notify,
    /// When it was used last, in uses.
    pub(crate) used: AtomicU64,
}

/// Whether what was stored of a session is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loading {
    No,
    UnderWay,
    Done,
}

pub(crate) struct Session {
    pub(crate) id: ClientSessionId,
    pub(crate) loading: Loading,
    /// It is known where the session stood: what waits in it can be said, though what was done in it may not be loaded yet.
    pub(crate) is_placed: bool,
    /// An exchange with a project was seen: actions are assessed.
    pub(crate) is_followed: bool,
    pub(crate) agreement: Agreement,
    pub(crate) rules: Option<Rules>,
    /// What relative paths are meant from.
    pub(crate) root: Option<String>,
    pub(crate) course: Course,
    /// The task in work; the first one as long as nobody knows.
    pub(crate) task: SessionId,
    /// Somebody said which task is in work.
    pub(crate) is_task_known: bool,
    /// What happened before the session was loaded.
    pub(crate) early: Early,
    /// What was typed before it was known where the session stood.
    pub(crate) spoken: Vec<Spoken>,
    /// Early actions of which nothing was found and from which nothing was concluded.
    pub(crate) open: Vec<StepId>,
    /// Something was typed or concluded since: nothing is said of the open ones any more.
    pub(crate) is_open_overtaken: bool,
    /// What was handed out to be said.
    pub(crate) offered: Option<Correction>,
    /// What was said at the place that was decided last.
    pub(crate) said_last: Option<CorrectionId>,
    /// A judge is being asked.
    pub(crate) is_judging: bool,
    /// What the judge is to be asked next. It holds the session's slot, and goes with the end of the question under way.
    pub(crate) next_inquiry: Option<Box<Inquiry>>,
    /// Suspicions for which a judge was asked since the newest prompt.
    pub(crate) suspicions: u8,
    /// The score of the newest changing response.
    pub(crate) last_score: Option<u8>,
    /// What is known of the contract is being read again.
    pub(crate) is_refreshing: bool,
    /// It was looked for what was typed before anything of the session was seen.
    pub(crate) has_read_history: bool,
    /// The last text of the newest answer: what a "yes" says yes to.
    pub(crate) last_answer: Option<String>,
    /// What the user was asked and has not answered yet.
    pub(crate) questions: Vec<Question>,
    /// What broke something that the user may have been asked about.
    pub(crate) breaking: Breaking,
    calls: Calls,
}

/// What was stored of a session but where it stood.
pub(crate) struct Stored {
    pub(crate) steps: Vec<Done>,
    /// Calls that ran after the user was asked about them.
    pub(crate) allowed: HashSet<String>,
    pub(crate) terms: Terms,
}

/// What a session is held to by what is stored.
#[derive(Clone)]
pub(crate) struct Terms {
    pub(crate) task: TaskGoal,
    /// Those that say something, oldest first.
    pub(crate) prompts: Vec<String>,
    pub(crate) edits: Vec<GoalEdit>,
}

/// The newest tool calls that were assessed.
#[derive(Default)]
struct Calls {
    order: VecDeque<String>,
    known: HashSet<String>,
}

impl Slot {
    pub(crate) fn new(
        id: ClientSessionId,
        reader: IntentReader,
        policy: Policy,
        now: OffsetDateTime,
    ) -> Self {
        let session = Session {
            task: id.first_task(),
            course: Course::new(DriftState::new(id.clone(), now), policy),
            id,
            loading: Loading::No,
            is_placed: false,
            is_followed: false,
            agreement: Agreement::new(reader),
            rules: None,
            root: None,
            is_task_known: false,
            early: Early::default(),
            spoken: Vec::new(),
            open: Vec::new(),
            is_open_overtaken: false,
            offered: None,
            said_last: None,
            is_judging: false,
            next_inquiry: None,
            suspicions: 0,
            last_score: None,
            is_refreshing: false,
            has_read_history: false,
            last_answer: None,
            questions: Vec::new(),
            breaking: Breaking::default(),
            calls: Calls::default(),
        };
        Self {
            session: Mutex::new(session),
            news: Notify::new(),
            used: AtomicU64::default(),
        }
    }

    pub(crate) fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session, if nobody is at it: on the path of a request nobody waits for a lock.
    pub(crate) fn try_session(&self) -> Option<MutexGuard<'_, Session>> {
        match self.session.try_lock() {
            Ok(session) => Some(session),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Whether words of it were handed out that were not said yet, or somebody is at it.
    pub(crate) fn is_speaking(&self) -> bool {
        self.try_session().is_none_or(|session| session.offered.is_some())
    }

    /// The session and its task in work.
    pub(crate) fn whose(&self) -> (ClientSessionId, SessionId) {
        let session = self.session();
        (session.id.clone(), session.task.clone())
    }

    /// Takes over what the session is held to, unless it turned to another task than `task` meanwhile. Prompts are read before
    /// anybody has to wait for it.
    pub(crate) fn take_over(&self, terms: Terms, task: &SessionId) -> bool {
        let (mut agreement, version) = {
            let session = self.session();
            if session.task != *task {
                return false;
            }
            (session.agreement.clone(), session.agreement.version())
        };
        agreement.take_over(terms.clone());
        let mut session = self.session();
        if session.task != *task {
            return false;
        }
        if session.agreement.version() == version {
            session.agreement = agreement;
        } else {
            session.agreement.take_over(terms);
        }
        true
    }

    /// The session is in this task, if nobody knows better.
    pub(crate) fn found_in(&self, task: &SessionId) {
        let mut session = self.session();
        if !session.is_task_known && session.loading != Loading::Done {
            session.task = task.clone();
        }
    }

    /// Takes over where the session stood; `None`: nothing is stored of it. What came of it, changed if the state is another
    /// one than the stored one now.
    pub(crate) fn place(&self, state: Option<DriftState>, at: OffsetDateTime) -> Progress {
        let mut session = self.session();
        if session.is_placed {
            return Progress::default();
        }
        session.is_placed = true;
        let spoken = std::mem::take(&mut session.spoken);
        let progress = match state {
            Some(state) => session.course.resume(state, &spoken, at),
            None => Progress {
                changed: true,
                ..Progress::default()
            },
        };
        drop(session);
        self.news.notify_waiters();
        progress
    }

    /// Takes over what was stored, with what happened meanwhile. What rules say of actions from which nothing was concluded
    /// yet; `None`: it turned to another task than `task` meanwhile, and nothing was taken over.
    pub(crate) fn load(&self, stored: Stored, task: &SessionId) -> Option<Found> {
        let loading = self.begin_to_load(stored, task)?;
        self.end_loading(loading)
    }

    /// The first part of [`Slot::load`]: what takes long is done before anybody has to wait for it.
    pub(crate) fn begin_to_load(&self, stored: Stored, task: &SessionId) -> Option<UnderWay> {
        let Stored {
            steps,
            allowed,
            mut terms,
        } = stored;
        let (mut agreement, version, root, consents, events) = {
            let session = self.session();
            if session.task != *task {
                return None;
            }
            let mut consents = session.course.state().consent.words.clone();
            consents.retain(|words| session.early.agreed().all(|since| since != words));
            (
                session.agreement.clone(),
                session.agreement.version(),
                session.root.clone(),
                consents,
                session.early.events().to_vec(),
            )
        };
        // What was typed since may be recorded by now.
        terms.prompts.retain(|prompt| {
            let mut events = events.iter();
            !events.any(|event| matches!(event, Event::Typed { prompt: typed, .. } if typed == prompt))
        });
        let before = agreement.resume(terms.clone());
        let mut caught_up = CatchUp::new(before, root.as_deref(), &consents, &allowed, steps, &events);
        caught_up.follow(&events);
        Some(UnderWay {
            task: task.clone(),
            agreement,
            version,
            terms,
            caught_up,
        })
    }

    /// The rest of it.
    pub(crate) fn end_loading(&self, loading: UnderWay) -> Option<Found> {
        let UnderWay {
            task,
            agreement,
            version,
            terms,
            mut caught_up,
        } = loading;
        let mut session = self.session();
        if session.task != task {
            return None;
        }
        if session.loading == Loading::Done {
            // Another conversation began in its place.
            return Some(Found::default());
        }
        if session.agreement.version() == version {
            session.agreement = agreement;
        } else {
            session.agreement.resume(terms);
        }
        let early = std::mem::take(&mut session.early);
        caught_up.follow(early.events());
        let (mut rules, mut found) = caught_up.into_parts();
        rules.hold_to(session.agreement.contract().clone());
        // They stay open until something is concluded: something may be typed before that.
        found.retain(&session.open);
        if rules.consents() != session.course.state().consent.words {
            let latest = session.course.state().updated_at;
            session.course.consented(rules.consents().to_vec(), latest);
            found.is_consent_new = session.is_followed;
        }
        session.rules = Some(rules);
        session.loading = Loading::Done;
        drop(session);
        self.news.notify_waiters();
        Some(found)
    }
}

/// What is stored of a session, half taken over.
pub(crate) struct UnderWay {
    task: SessionId,
    /// What the session is held to by all that is known, if it is still at that version.
    agreement: Agreement,
    version: u64,
    terms: Terms,
    caught_up: CatchUp,
}

/// What is kept of words that the user said yes to: of long ones both ends. Half a secret is none to the redactor, so they
/// are cut afterwards.
fn kept_of(words: &str) -> String {
    let safe = Redactor::shared().redact(words);
    both_ends(&safe, CONSENT_END, "\n").into_owned()
}

impl Session {
    /// The rules, held to the contract as it is now.
    pub(crate) fn rules(&mut self) -> &mut Rules {
        let contract = self.agreement.contract();
        let rules = self
            .rules
            .get_or_insert_with(|| Rules::new(contract.clone(), self.root.as_deref()));
        if rules.contract() != contract {
            rules.hold_to(contract.clone());
        }
        rules
    }

    /// The user said yes to these words of the agent.
    pub(crate) fn consented(&mut self, words: &str, at: OffsetDateTime) {
        self.rules().consented(words);
        let kept = kept_of(words);
        self.keep_early(|| Event::Agreed(kept.clone()));
        let mut all = self.course.state().consent.words.clone();
        all.retain(|known| *known != kept);
        all.push(kept);
        if let Some(rules) = self.rules.as_ref().filter(|_| self.loading == Loading::Done) {
            all.drain(..all.len().saturating_sub(rules.consents().len()));
        }
        self.course.consented(all, at);
    }

    /// Lets go of what the user said yes to where another task ended it. Whether there was anything.
    pub(crate) fn drop_consents(&mut self, at: OffsetDateTime) -> bool {
        let is_over = self.loading == Loading::Done
            && self
                .rules
                .as_ref()
                .is_some_and(|rules| rules.consents().is_empty())
            && !self.course.state().consent.words.is_empty();
        if is_over {
            self.course.consented(Vec::new(), at);
        }
        is_over
    }

    /// A conversation begins: what is stored is of another one.
    pub(crate) fn begins(&mut self) {
        self.loading = Loading::Done;
        self.is_placed = true;
        self.agreement.is_new();
        self.early.clear();
        self.spoken.clear();
        self.open.clear();
    }

    /// Keeps what happened until what was before is loaded.
    pub(crate) fn keep_early(&mut self, event: impl FnOnce() -> Event) {
        if self.loading != Loading::Done {
            self.early.keep(event());
        }
    }

    /// Keeps what was typed, with what it says yes to if it is a mere "yes", until what was before is loaded.
    pub(crate) fn keep_typed(&mut self, prompt: &str, last_answer: Option<&str>) {
        self.keep_early(|| Event::Typed {
            prompt: grov_session::kept_of(prompt),
            agrees_to: consent(PromptKind::Assent, prompt, last_answer).map(kept_of),
        });
    }

    /// Keeps what a prompt means for what was said, until it is known what was.
    pub(crate) fn keep_spoken(&mut self, spoken: Spoken) {
        if !self.is_placed && self.spoken.len() < MOST_SPOKEN {
            self.spoken.push(spoken);
        }
    }

    /// Nothing is concluded from these actions until what was before is loaded.
    pub(crate) fn leave_open(&mut self, steps: impl Iterator<Item = StepId>) {
        let room = MOST_OPEN.saturating_sub(self.open.len());
        self.open.extend(steps.take(room));
    }

    pub(crate) fn assessed(&mut self, call: &str) {
        if !self.calls.known.insert(call.to_owned()) {
            return;
        }
        self.calls.order.push_back(call.to_owned());
        if self.calls.order.len() > MOST_CALLS
            && let Some(oldest) = self.calls.order.pop_front()
        {
            self.calls.known.remove(&oldest);
        }
    }

    /// Whether all these calls were assessed, and nothing is being loaded that bears on it.
    pub(crate) fn has_assessed(&self, calls: &[Answered]) -> bool {
        let is_known = |call: &Answered| self.calls.known.contains(&call.tool_use_id);
        (self.is_placed || self.loading != Loading::UnderWay)
            && (!self.is_followed || calls.iter().all(is_known))
    }
}

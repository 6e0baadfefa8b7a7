//! What lies before an engine, while it is not known: what happens meanwhile is kept in its order, and rules go through it
//! again once the past is known. What was done is judged by what was asked for then, not by what was asked for before it or
//! after.

use crate::assessed::Assessed;
use crate::course::{Moment, Progress, Spoken};
use crate::engine::SessionEngine;
use crate::event::Effects;
use crate::holding::{Agreement, TaskGoal};
use crate::inquiry::Occasion;
use crate::level::ON_GOAL_FROM;
use crate::verdict::{certain, verdicts};
use crate::way_back::has_hard;
use grov_domain::{ActionSketch, DriftState, GoalEdit, StepId};
use grov_scope::Rules;
use std::collections::HashSet;
use time::OffsetDateTime;

/// Actions of which nothing is concluded until what was before is known.
const MOST_OPEN: usize = 64;
/// Prompts of which is kept what they mean for what waits to be said, until it is known what waits; the first ones.
const MOST_SPOKEN: usize = 16;
/// So much is kept. What comes later is not judged any more.
const MOST_EARLY: usize = 256;

/// An action that was done before.
#[derive(Clone, Debug)]
pub struct Done {
    /// The step it is recorded as.
    pub step: StepId,
    /// What was done.
    pub action: ActionSketch,
    /// The tool call.
    pub call: Option<String>,
    /// A subagent did it.
    pub is_delegated: bool,
}

/// Something that rules are told of.
#[derive(Clone)]
pub(crate) enum Event {
    /// The user typed it.
    Typed {
        /// As it is kept in a contract.
        prompt: String,
        /// What the agent had said, if the user says yes to it where the prompt is a mere "yes".
        agrees_to: Option<String>,
    },
    /// The agent did it.
    Done(Done),
    /// A call ended.
    Ended { call: String, failed: bool },
    /// The agent was shown it.
    Heard(String),
    /// The user said yes to it.
    Agreed(String),
    /// The user was asked about it and let it run.
    Allowed {
        /// What it is.
        action: ActionSketch,
        /// Its tool call.
        call: Option<String>,
    },
}

/// What was before, as far as it is known, and what happened while it is not.
#[derive(Default)]
pub(crate) struct Past {
    is_known: bool,
    /// It is known where the session stood, though maybe not what was done in it.
    is_placed: bool,
    /// What happened since, oldest first.
    early: Vec<Event>,
    /// What was typed before it was known where the session stood.
    spoken: Vec<Spoken>,
    /// Early actions of which nothing was found and from which nothing was concluded.
    open: Vec<StepId>,
    /// Something was typed or concluded since: nothing is said of the open ones any more.
    is_open_overtaken: bool,
}

impl Past {
    /// Whether what was before is known, or nothing was.
    pub(crate) fn is_known(&self) -> bool {
        self.is_known
    }

    /// Nothing was before, or it is known already.
    pub(crate) fn holds_nothing(&mut self) {
        *self = Self {
            is_known: true,
            is_placed: true,
            ..Self::default()
        };
    }

    /// Keeps what happened until what was before is known.
    pub(crate) fn keep(&mut self, event: impl FnOnce() -> Event) {
        if !self.is_known && self.early.len() < MOST_EARLY {
            self.early.push(event());
        }
    }

    /// Keeps an action that is recorded as a step.
    pub(crate) fn keep_action(
        &mut self,
        action: &ActionSketch,
        call: Option<&str>,
        step: Option<&StepId>,
        is_delegated: bool,
    ) {
        if let Some(step) = step {
            self.keep(|| {
                Event::Done(Done {
                    step: step.clone(),
                    action: action.clone(),
                    call: call.map(str::to_owned),
                    is_delegated,
                })
            });
        }
    }

    /// Keeps what a prompt means for what was said, until it is known what was.
    pub(crate) fn keep_spoken(&mut self, spoken: Spoken) {
        if !self.is_placed && self.spoken.len() < MOST_SPOKEN {
            self.spoken.push(spoken);
        }
    }

    /// A prompt overtakes what is open.
    pub(crate) fn overtake(&mut self) {
        self.is_open_overtaken |= !self.open.is_empty();
    }

    /// A response was judged, or, where that `is_blind`, left open.
    pub(crate) fn concluded(&mut self, is_blind: bool, response: &[Assessed]) {
        if is_blind {
            let room = MOST_OPEN.saturating_sub(self.open.len());
            let steps = response.iter().filter_map(|one| one.step.clone());
            self.open.extend(steps.take(room));
        } else if !response.is_empty() {
            self.overtake();
        }
    }

    /// The words that the user said yes to meanwhile.
    fn agreed(&self) -> impl Iterator<Item = &String> {
        self.early.iter().filter_map(|event| match event {
            Event::Agreed(words) => Some(words),
            _ => None,
        })
    }
}

/// What a session is held to by what is stored.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// The task in work.
    pub task: TaskGoal,
    /// Prompts that say something, oldest first, see [`instructions`](crate::instructions).
    pub prompts: Vec<String>,
    /// What a person changed, oldest first.
    pub edits: Vec<GoalEdit>,
}

/// What is stored of a session but where it stood.
#[derive(Clone, Debug, Default)]
pub struct Stored {
    /// What was done, oldest first.
    pub steps: Vec<Done>,
    /// Calls that ran after the user was asked about them.
    pub allowed: HashSet<String>,
    /// What it is held to.
    pub terms: Terms,
}

/// What an engine has in mind, copied out to be brought together with what is stored: that takes long, and the engine goes on
/// meanwhile.
pub struct Snapshot {
    agreement: Agreement,
    version: u64,
    root: Option<String>,
    consents: Vec<String>,
    events: Vec<Event>,
}

/// What is stored of a session, half taken over.
pub struct UnderWay {
    /// What the session is held to by all that is known, if it is still at that version.
    agreement: Agreement,
    version: u64,
    terms: Terms,
    caught_up: CatchUp,
}

impl Snapshot {
    /// Brings it together with what is stored.
    pub fn with(self, stored: Stored) -> UnderWay {
        let Self {
            mut agreement,
            version,
            root,
            consents,
            events,
        } = self;
        let Stored {
            steps,
            allowed,
            mut terms,
        } = stored;
        // What was typed since may be recorded by now.
        terms.prompts.retain(|prompt| {
            let mut events = events.iter();
            !events.any(|event| matches!(event, Event::Typed { prompt: typed, .. } if typed == prompt))
        });
        let before = resume(&mut agreement, terms.clone());
        let mut caught_up = CatchUp::new(before, root.as_deref(), &consents, &allowed, steps, &events);
        caught_up.follow(&events);
        UnderWay {
            agreement,
            version,
            terms,
            caught_up,
        }
    }
}

/// What is stored about an agreement from before it was seen. How it stood then is returned.
fn resume(agreement: &mut Agreement, terms: Terms) -> Agreement {
    let mut before = agreement.resume(terms.task, terms.prompts);
    before.edited(terms.edits.clone());
    agreement.edited(terms.edits);
    before
}

fn take_over(agreement: &mut Agreement, terms: Terms) {
    agreement.work_on(terms.task, terms.prompts);
    agreement.edited(terms.edits);
}

/// A contract that is read again: prompts are read without the engine, which goes on meanwhile.
pub struct Refresh {
    agreement: Agreement,
    version: u64,
    terms: Terms,
}

impl SessionEngine {
    /// Whether what was before is known.
    pub fn is_past_known(&self) -> bool {
        self.past.is_known
    }

    /// Whether it is known where the session stood.
    pub fn is_placed(&self) -> bool {
        self.past.is_placed
    }

    /// Whether what the conversation is about is known from its beginning on.
    pub fn is_whole(&self) -> bool {
        self.agreement.is_whole()
    }

    /// What was typed in this history before anything of it was seen, oldest first.
    pub fn continues(&mut self, prompts: &[String]) {
        self.agreement.continues(prompts);
    }

    /// Another task is in work: what was typed for the last one is none of its.
    pub fn turned_to_another_task(&mut self) {
        self.agreement.turned_to_another_task();
    }

    /// Reads again what the session is held to.
    pub fn refresh(&self, terms: Terms) -> Refresh {
        Refresh {
            agreement: self.agreement.clone(),
            version: self.agreement.version(),
            terms,
        }
    }

    /// Takes over a contract that was read again.
    pub fn refreshed(&mut self, refresh: Refresh) {
        if self.agreement.version() == refresh.version {
            self.agreement = refresh.agreement;
            self.held = None;
        } else {
            take_over(&mut self.agreement, refresh.terms);
        }
    }

    /// Takes over where the session stood; `None`: nothing is stored of it. Changed is the state if it is another one than the
    /// stored one now.
    pub fn place(&mut self, state: Option<DriftState>, at: OffsetDateTime) -> Progress {
        if self.past.is_placed {
            return Progress::default();
        }
        self.past.is_placed = true;
        let spoken = std::mem::take(&mut self.past.spoken);
        match state {
            Some(state) => self.course.resume(state, &spoken, at),
            None => Progress {
                changed: true,
                ..Progress::default()
            },
        }
    }

    /// What is to be brought together with what is stored.
    pub fn snapshot(&self) -> Snapshot {
        let mut consents = self.course.state().consent.words.clone();
        consents.retain(|words| self.past.agreed().all(|since| since != words));
        Snapshot {
            agreement: self.agreement.clone(),
            version: self.agreement.version(),
            root: self.root.clone(),
            consents,
            events: self.past.early.clone(),
        }
    }

    /// Takes over what was stored, with what happened meanwhile, and returns what is found of early actions from which
    /// nothing was concluded yet.
    pub fn load(&mut self, loading: UnderWay) -> Found {
        if self.past.is_known {
            // Another conversation began in its place.
            return Found::default();
        }
        let UnderWay {
            agreement,
            version,
            terms,
            mut caught_up,
        } = loading;
        if self.agreement.version() == version {
            self.agreement = agreement;
            self.held = None;
        } else {
            resume(&mut self.agreement, terms);
        }
        let early = std::mem::take(&mut self.past.early);
        caught_up.follow(&early);
        let (mut rules, mut found) = caught_up.into_parts();
        rules.hold_to(self.agreement.contract().clone());
        // They stay open until something is concluded: something may be typed before that.
        found.retain(&self.past.open);
        if rules.consents() != self.course.state().consent.words {
            let latest = self.course.state().updated_at;
            self.course.consented(rules.consents().to_vec(), latest);
            found.is_consent_new = true;
        }
        self.rules = Some(rules);
        self.held = None;
        self.past.is_known = true;
        found
    }

    /// Concludes from actions that were seen before the past was known, as if they were done now. Of what is off the goal as
    /// a fact nothing is said where something was typed or found since. What is a guess is said by a judge alone: the stored
    /// steps tell less than there was, and the agent may be further by now. Of what failed nothing is said.
    pub fn conclude(&mut self, found: Found, moment: &Moment) -> Effects {
        let Found {
            done: mut open,
            mut failed,
            is_consent_new,
        } = found;
        if !self.agreement.is_whole() {
            for one in open.iter_mut().chain(&mut failed) {
                one.assessment = certain(one.assessment.clone(), true);
            }
        }
        self.past.open.clear();
        let is_overtaken = std::mem::take(&mut self.past.is_open_overtaken);
        let is_guess = |one: &Assessed| one.assessment.score < ON_GOAL_FROM && !has_hard(&one.assessment);
        let (guesses, facts): (Vec<Assessed>, Vec<Assessed>) = open.into_iter().partition(is_guess);
        let is_on_goal = guesses.is_empty() && facts.iter().all(|one| one.assessment.score >= ON_GOAL_FROM);
        let mut effects = Effects::default();
        if is_on_goal || (!is_overtaken && facts.iter().any(|one| has_hard(&one.assessment))) {
            let contract = self.agreement.contract().clone();
            effects.progress = self.course.respond(&facts, &contract, moment.clone());
        }
        if !is_overtaken && !guesses.is_empty() && self.agreement.is_whole() {
            effects
                .inquiries
                .push((self.inquiry(&guesses), Some(Occasion::Suspicion)));
        }
        let of_facts = facts.iter().zip(verdicts(&facts, &effects.progress));
        let of_guesses = guesses.iter().zip(verdicts(&guesses, &Progress::default()));
        let of_failed = failed.iter().zip(verdicts(&failed, &Progress::default()));
        effects.later_verdicts = of_facts
            .chain(of_guesses)
            .chain(of_failed)
            .filter_map(|(one, verdict)| one.step.clone().zip(verdict))
            .filter(|(_, verdict)| !verdict.findings.is_empty() || verdict.level.is_some())
            .collect();
        effects.progress.changed |= is_consent_new;
        effects
    }
}

impl Refresh {
    /// Reads the prompts, which takes long.
    pub fn read(mut self) -> Self {
        take_over(&mut self.agreement, self.terms.clone());
        self
    }
}

/// Rules that know what is stored of a session, on their way through what happened since.
struct CatchUp {
    /// What the session was held to before, then what it is held to now.
    agreement: Agreement,
    rules: Rules,
    /// What was done before.
    known: HashSet<StepId>,
    taken: usize,
    found: Found,
}

/// What rules say of what was done before the session was loaded, oldest first.
#[derive(Debug, Default)]
pub struct Found {
    /// Of what took place, as far as is known.
    pub done: Vec<Assessed>,
    /// Of what failed or was denied: it changed nothing.
    pub failed: Vec<Assessed>,
    /// What the user said yes to is not what is stored of it.
    pub is_consent_new: bool,
}

impl Found {
    /// Leaves out all but these steps.
    fn retain(&mut self, steps: &[StepId]) {
        let is_one = |one: &Assessed| one.step.as_ref().is_some_and(|step| steps.contains(step));
        self.done.retain(is_one);
        self.failed.retain(is_one);
    }

    /// A call failed.
    fn fail(&mut self, call: &str) {
        let is_of = |one: &mut Assessed| one.call.as_deref() == Some(call);
        self.failed.extend(self.done.extract_if(.., is_of));
    }
}

impl CatchUp {
    /// From a session as it stood before, whose actions are `steps`. Those that are among `events` come with these.
    fn new(
        agreement: Agreement,
        root: Option<&str>,
        consents: &[String],
        allowed: &HashSet<String>,
        mut steps: Vec<Done>,
        events: &[Event],
    ) -> Self {
        let mut rules = Rules::new(agreement.contract().clone(), root);
        for words in consents {
            rules.consented(words);
        }
        let seen: HashSet<&StepId> = events
            .iter()
            .filter_map(|event| match event {
                Event::Done(done) => Some(&done.step),
                _ => None,
            })
            .collect();
        // They come last, with what they write.
        steps.retain(|one| !seen.contains(&one.step));
        for one in &steps {
            if one.call.as_ref().is_some_and(|call| allowed.contains(call)) {
                rules.allow(&one.action, one.call.as_deref());
            }
            rules.assess(&one.action, one.call.as_deref());
        }
        Self {
            agreement,
            rules,
            known: steps.into_iter().map(|one| one.step).collect(),
            taken: 0,
            found: Found::default(),
        }
    }

    /// Follows what it has not followed yet of all that happened.
    fn follow(&mut self, events: &[Event]) {
        for event in events.iter().skip(self.taken) {
            match event {
                Event::Typed { prompt, agrees_to } => {
                    let says_something = self.agreement.prompted(prompt);
                    self.rules.hold_to(self.agreement.contract().clone());
                    self.rules.prompted();
                    // Whoever knew nothing of the session took a "yes" for what it is about.
                    if let Some(words) = agrees_to.as_ref().filter(|_| !says_something) {
                        self.rules.consented(words);
                    }
                }
                Event::Done(done) => self.assess(done),
                Event::Ended { call, failed } => {
                    self.rules.ended(call, *failed);
                    if *failed {
                        self.found.fail(call);
                    }
                }
                Event::Heard(text) => self.rules.heard(text),
                Event::Agreed(words) => self.rules.consented(words),
                Event::Allowed { action, call } => self.rules.allow(action, call.as_deref()),
            }
        }
        self.taken = self.taken.max(events.len());
    }

    fn assess(&mut self, done: &Done) {
        if self.known.contains(&done.step) {
            return;
        }
        let call = done.call.as_deref();
        let assessment = if done.is_delegated {
            self.rules.assess_delegated(&done.action)
        } else {
            self.rules.assess(&done.action, call)
        };
        self.found.done.push(Assessed {
            action: done.action.clone(),
            step: Some(done.step.clone()),
            call: done.call.clone(),
            assessment,
            is_delegated: done.is_delegated,
            put_back: self.rules.put_back().to_vec(),
        });
    }

    /// The rules, and what they say of what was done since.
    fn into_parts(self) -> (Rules, Found) {
        (self.rules, self.found)
    }
}

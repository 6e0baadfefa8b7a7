//! What happens before a session is loaded, kept in its order, and the rules that go through it again once it is: what was
//! done is judged by what was asked for then, not by what was asked for before it or after.

use crate::contract::{Agreement, PromptKind};
use crate::course::Assessed;
use grov_domain::{ActionSketch, StepId};
use grov_scope::Rules;
use std::collections::HashSet;

/// So much is kept. What comes later is not judged any more.
const MOST_EARLY: usize = 256;

/// An action, done before the session was loaded.
#[derive(Clone)]
pub(crate) struct Done {
    pub(crate) step: StepId,
    pub(crate) action: ActionSketch,
    pub(crate) call: Option<String>,
    /// A subagent did it.
    pub(crate) is_delegated: bool,
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

/// What happened since the session is in memory, oldest first.
#[derive(Default)]
pub(crate) struct Early(Vec<Event>);

impl Early {
    pub(crate) fn keep(&mut self, event: Event) {
        if self.0.len() < MOST_EARLY {
            self.0.push(event);
        }
    }

    pub(crate) fn events(&self) -> &[Event] {
        &self.0
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The words that the user said yes to.
    pub(crate) fn agreed(&self) -> impl Iterator<Item = &String> {
        self.0.iter().filter_map(|event| match event {
            Event::Agreed(words) => Some(words),
            _ => None,
        })
    }
}

/// Rules that know what is stored of a session, on their way through what happened since.
pub(crate) struct CatchUp {
    /// What the session was held to before, then what it is held to now.
    agreement: Agreement,
    rules: Rules,
    /// What was done before.
    known: HashSet<StepId>,
    taken: usize,
    found: Found,
}

/// What rules say of what was done before the session was loaded, oldest first.
#[derive(Default)]
pub(crate) struct Found {
    /// Of what took place, as far as is known.
    pub(crate) done: Vec<Assessed>,
    /// Of what failed or was denied: it changed nothing.
    pub(crate) failed: Vec<Assessed>,
    /// What the user said yes to is not what is stored of it.
    pub(crate) is_consent_new: bool,
}

impl Found {
    /// Leaves out all but these steps.
    pub(crate) fn retain(&mut self, steps: &[StepId]) {
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
    pub(crate) fn new(
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
    pub(crate) fn follow(&mut self, events: &[Event]) {
        for event in events.iter().skip(self.taken) {
            match event {
                Event::Typed { prompt, agrees_to } => {
                    let kind = self.agreement.prompted(prompt);
                    self.rules.hold_to(self.agreement.contract().clone());
                    self.rules.prompted();
                    // Whoever knew nothing of the session took a "yes" for what it is about.
                    if let Some(words) = agrees_to.as_ref().filter(|_| kind == PromptKind::Assent) {
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
        });
    }

    /// The rules, and what they say of what was done since.
    pub(crate) fn into_parts(self) -> (Rules, Found) {
        (self.rules, self.found)
    }
}

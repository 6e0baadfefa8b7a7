//! Calls that the user was asked about by the guard's dialog. A hook notes the question before the dialog is shown; a call
//! that ran all the same was allowed.

use crate::course::Assessed;
use crate::drift::Shared;
use crate::early::Event;
use crate::session::{Session, Slot};
use crate::work::Job;
use grov_domain::{AskedCall, JudgedBy, StepId, StepVerdict};

/// Actions that are kept until it is known whether the user was asked about them.
const MOST: usize = 32;

/// Actions against a fact of which nobody knows yet whether the user allowed them.
#[derive(Default)]
pub(crate) struct Breaking(Vec<Open>);

struct Open {
    action: Assessed,
    has_run: bool,
}

impl Breaking {
    /// An action that a fact stands against.
    pub(crate) fn add(&mut self, action: Assessed) {
        if action.call.is_none() {
            return;
        }
        if self.0.len() >= MOST {
            self.0.remove(0);
        }
        self.0.push(Open {
            action,
            has_run: false,
        });
    }

    /// How a call ended. Whether it is one of these and ran.
    pub(crate) fn ended(&mut self, call: &str, failed: bool) -> bool {
        if failed {
            self.0.retain(|open| open.action.call.as_deref() != Some(call));
            return false;
        }
        let open = self
            .0
            .iter_mut()
            .find(|open| open.action.call.as_deref() == Some(call));
        open.is_some_and(|open| {
            open.has_run = true;
            true
        })
    }

    /// Whether a call is one of these.
    pub(crate) fn has(&self, call: &str) -> bool {
        self.0
            .iter()
            .any(|open| open.action.call.as_deref() == Some(call))
    }

    /// Takes out the ones that ran though the user was asked: they said yes. Of the others that ran they were not asked.
    fn taken(&mut self, asked: &[AskedCall]) -> Vec<Assessed> {
        let is_asked = |open: &Open| {
            let mut asked = asked.iter();
            asked.any(|one| open.action.call.as_deref() == Some(one.tool_use_id.as_str()))
        };
        let allowed = self.0.extract_if(.., |open| open.has_run && is_asked(open));
        allowed.map(|open| open.action).collect()
    }
}

impl Shared {
    /// Looks which of the actions that ran the user was asked about: those break nothing. An error: nobody knows.
    pub(crate) async fn look_what_was_asked(&self, slot: &Slot) -> Result<(), grov_domain::StoreError> {
        let (id, _) = slot.whose();
        let asked = self.store.asked_calls(&id).await?;
        let verdicts = {
            let mut session = slot.session();
            let allowed = session.breaking.taken(&asked);
            if allowed.is_empty() {
                return Ok(());
            }
            let verdicts: Vec<(StepId, StepVerdict)> = allowed
                .iter()
                .filter_map(|one| Some((one.step.clone()?, acquitted())))
                .collect();
            for one in allowed {
                self.allow(&mut session, &one);
            }
            self.save_state(&session);
            verdicts
        };
        self.ask(Job::Verdicts(id, verdicts));
        Ok(())
    }

    fn allow(&self, session: &mut Session, one: &Assessed) {
        session.rules().allow(&one.action, one.call.as_deref());
        session.keep_early(|| Event::Allowed {
            action: one.action.clone(),
            call: one.call.clone(),
        });
        let progress = session.course.allowed(one, self.clock.now());
        self.follow_up(&progress);
    }
}

/// The verdict on what the user allowed.
fn acquitted() -> StepVerdict {
    StepVerdict {
        score: 10,
        by: JudgedBy::Rules,
        findings: Vec::new(),
        level: None,
        correction: None,
        recovery_plan: Vec::new(),
    }
}

//! Replays the stored history and the events since, each under the contract of its time.

use super::{BufferedEvent, Reassessed};
use crate::assessed_action::assess;
use crate::contract_builder::GoalContractBuilder;
use crate::event::ObservedAction;
use grov_domain::StepId;
use grov_scope::{Rules, is_assent};
use std::collections::HashSet;

/// Replays the stored history and then the buffered events.
pub(super) struct CatchUp {
    /// The builder, advanced with each prompt.
    builder: GoalContractBuilder,
    pub(super) rules: Rules,
    /// The steps of the stored history.
    known: HashSet<StepId>,
    taken: usize,
    pub(super) found: Reassessed,
}

impl CatchUp {
    /// Replays the stored actions `steps`, except for those that are also in `events`.
    pub(super) fn new(
        builder: GoalContractBuilder,
        root: Option<&str>,
        consents: &[String],
        allowed: &HashSet<String>,
        mut steps: Vec<ObservedAction>,
        events: &[BufferedEvent],
    ) -> Self {
        let mut rules = Rules::new(builder.contract().clone(), root);
        for words in consents {
            rules.record_consent(words);
        }
        let seen: HashSet<&StepId> = events
            .iter()
            .filter_map(|event| match event {
                BufferedEvent::Action(done) => done.step.as_ref(),
                _ => None,
            })
            .collect();
        // Unlike stored actions, buffered ones include the written content.
        steps.retain(|one| one.step.as_ref().is_none_or(|step| !seen.contains(step)));
        for one in &steps {
            if one.call.as_ref().is_some_and(|call| allowed.contains(call)) {
                rules.grant(&one.action, one.call.as_deref());
            }
            rules.assess(&one.action, one.call.as_deref());
        }
        Self {
            builder,
            rules,
            known: steps.into_iter().filter_map(|one| one.step).collect(),
            taken: 0,
            found: Reassessed::default(),
        }
    }

    /// Replays the events that were not replayed yet.
    pub(super) fn follow(&mut self, events: &[BufferedEvent]) {
        for event in events.iter().skip(self.taken) {
            match event {
                BufferedEvent::Prompt { prompt, orders } => {
                    self.builder.add_prompt(prompt);
                    self.rules.set_contract(self.builder.contract().clone());
                    self.rules.record_prompt();
                    if !is_assent(prompt) {
                        self.rules.forget_consents();
                    }
                    if let Some(orders) = orders {
                        self.rules.record_consent(orders);
                    }
                }
                BufferedEvent::Action(done) => {
                    if done.step.as_ref().is_some_and(|step| !self.known.contains(step)) {
                        self.found.done.push(assess(&mut self.rules, done.clone()));
                    }
                }
                BufferedEvent::Ended { call, failed } => {
                    self.rules.record_result(call, *failed);
                    if *failed {
                        self.found.fail(call);
                    }
                }
                BufferedEvent::OutputShown(text) => self.rules.record_output(text),
                BufferedEvent::Consent(orders) => self.rules.record_consent(orders),
                BufferedEvent::Allowed { action, call } => self.rules.grant(action, call.as_deref()),
            }
        }
        self.taken = self.taken.max(events.len());
    }
}

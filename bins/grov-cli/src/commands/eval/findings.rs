//! The findings of judged actions, by rule.

use super::RuleCount;
use crate::commands::drift::JudgedAction;
use grov_domain::DriftEventId;
use std::collections::{BTreeMap, HashSet};

/// Counts findings.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) actions: u64,
    /// By rule and whether it is a doubt.
    by_rule: BTreeMap<(&'static str, bool), Counts>,
    /// The events that the user marked as wrong, and the rule of each.
    wrong: HashSet<(DriftEventId, String)>,
}

#[derive(Default)]
struct Counts {
    all: u64,
    allowed: u64,
    marked_wrong: u64,
}

impl Findings {
    /// Counts nothing yet. `wrong` are the events that the user marked as wrong, and the rule of each.
    pub(super) fn new(wrong: HashSet<(DriftEventId, String)>) -> Self {
        Self {
            wrong,
            ..Self::default()
        }
    }

    /// Adds an action. `allowed` are the calls that the user allowed when the guard asked.
    pub(super) fn add(&mut self, action: &JudgedAction, allowed: &HashSet<&str>) {
        self.actions += 1;
        let call = action.tool_use_id.as_deref();
        let is_allowed = call.is_some_and(|call| allowed.contains(call));
        for finding in &action.findings {
            let rule = finding.rule.as_str();
            let is_wrong = |event: &DriftEventId| self.wrong.contains(&(event.clone(), rule.to_owned()));
            let is_wrong = action.events.iter().any(is_wrong);
            let counts = self.by_rule.entry((rule, finding.rule.is_doubt())).or_default();
            counts.all += 1;
            counts.allowed += u64::from(is_allowed);
            counts.marked_wrong += u64::from(is_wrong);
        }
    }

    /// The counts of each rule.
    pub(super) fn rules(self) -> Vec<RuleCount> {
        let actions = self.actions.max(1) as f64;
        let rules = self.by_rule.into_iter();
        rules
            .map(|((rule, is_doubt), counts)| RuleCount {
                rule: rule.to_owned(),
                certainty: if is_doubt { "doubt" } else { "fact" }.to_owned(),
                findings: counts.all,
                per_100_actions: counts.all as f64 * 100.0 / actions,
                allowed: counts.allowed,
                marked_wrong: counts.marked_wrong,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_domain::{Finding, Rule};

    #[test]
    fn what_the_user_allowed_and_marked_wrong_is_counted_by_rule() {
        let action = |call: &str, event: &str| JudgedAction {
            tool_use_id: Some(call.to_owned()),
            events: vec![DriftEventId::new(event)],
            findings: vec![Finding {
                rule: Rule::Constraint,
                file: None,
                reason: "r".to_owned(),
                at_most: 2,
                broken: None,
                invocation: None,
                machine: None,
                is_interpreted: false,
            }],
        };
        let rule = Rule::Constraint.as_str().to_owned();
        let wrong = [("e1", rule.as_str()), ("e2", "another rule")];
        let wrong = wrong.map(|(event, rule)| (DriftEventId::new(event), rule.to_owned()));
        let mut findings = Findings::new(wrong.into());
        for (call, event) in [("c1", "e1"), ("c2", "e2"), ("c3", "e3"), ("c4", "e4")] {
            findings.add(&action(call, event), &["c3"].into());
        }
        let rules = findings.rules();
        assert_eq!(rules.len(), 1);
        let counts = (rules[0].findings, rules[0].allowed, rules[0].marked_wrong);
        assert_eq!((counts, rules[0].per_100_actions), ((4, 1, 1), 100.0));
    }
}

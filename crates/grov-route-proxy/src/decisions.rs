//! The newest routing decisions with their reasons and results, for pages. They are kept in memory only.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Decisions that are kept.
const MOST: usize = 100;
/// Attempts of a decision that are kept.
const MOST_ATTEMPTS: usize = 16;

/// The newest decisions.
#[derive(Debug, Default)]
pub(crate) struct Decisions(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// Oldest first.
    decisions: VecDeque<Decision>,
    /// Decisions so far, which names the next one.
    count: u64,
}

/// Names a decision.
pub(crate) type DecisionId = u64;

/// A decision about a request.
#[derive(Debug)]
struct Decision {
    id: DecisionId,
    /// Milliseconds since 1970.
    at: u128,
    label: String,
    /// The model that the client asked for.
    asked_model: String,
    /// The provider and model; empty if none was asked.
    chosen: String,
    reason: String,
    /// What failed, in order.
    failures: Vec<String>,
    /// Who answered.
    answered_by: String,
    /// How it ended; empty while it lasts.
    result: String,
    /// How long it took.
    ms: Option<u64>,
}

impl Decisions {
    /// Notes that a provider was chosen.
    pub(crate) fn chosen(
        &self,
        label: &str,
        asked_model: String,
        chosen: String,
        reason: &str,
    ) -> DecisionId {
        self.add(label, asked_model, chosen, reason, String::new())
    }

    /// Notes that Grov answered itself.
    pub(crate) fn answered_here(&self, label: &str, asked_model: String, why: &str) {
        self.add(
            label,
            asked_model,
            String::new(),
            why,
            "answered by Grov".to_owned(),
        );
    }

    fn add(
        &self,
        label: &str,
        asked_model: String,
        chosen: String,
        reason: &str,
        result: String,
    ) -> DecisionId {
        let at = SystemTime::now().duration_since(UNIX_EPOCH);
        let mut kept = self.kept();
        let id = kept.count;
        kept.count += 1;
        if kept.decisions.len() == MOST {
            kept.decisions.pop_front();
        }
        kept.decisions.push_back(Decision {
            id,
            at: at.unwrap_or_default().as_millis(),
            label: label.to_owned(),
            asked_model,
            chosen,
            reason: reason.to_owned(),
            failures: Vec::new(),
            answered_by: String::new(),
            result,
            ms: None,
        });
        id
    }

    /// Notes a failed attempt.
    pub(crate) fn failed(&self, id: DecisionId, what: String) {
        self.change(id, |decision| {
            if decision.failures.len() < MOST_ATTEMPTS {
                decision.failures.push(what);
            }
        });
    }

    /// Notes how it ended.
    pub(crate) fn ended(&self, id: DecisionId, result: &str, answered_by: String, ms: u128) {
        self.change(id, |decision| {
            decision.result = result.to_owned();
            decision.answered_by = answered_by;
            decision.ms = u64::try_from(ms).ok();
        });
    }

    /// Changes a decision, if it is still kept.
    fn change(&self, id: DecisionId, change: impl FnOnce(&mut Decision)) {
        let mut kept = self.kept();
        if let Some(decision) = kept.decisions.iter_mut().rev().find(|one| one.id == id) {
            change(decision);
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The decisions, newest first.
    pub(crate) fn all(&self) -> Vec<Value> {
        let kept = self.kept();
        let decisions = kept.decisions.iter().rev();
        decisions
            .map(|one| {
                json!({
                    "at_ms": u64::try_from(one.at).unwrap_or(u64::MAX),
                    "label": one.label,
                    "asked_model": one.asked_model,
                    "chosen": one.chosen,
                    "reason": one.reason,
                    "failures": one.failures,
                    "answered_by": one.answered_by,
                    "result": one.result,
                    "ms": one.ms,
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_decisions_are_kept_with_what_became_of_them() {
        let decisions = Decisions::default();
        let first = decisions.chosen("l", "opus".to_owned(), "p/m".to_owned(), "marker");
        for number in 1..MOST {
            decisions.answered_here("l", String::new(), &number.to_string());
        }
        decisions.failed(first, "status 500".to_owned());
        decisions.ended(first, "complete", "p/m".to_owned(), 12);
        let all = decisions.all();
        assert_eq!(all.len(), MOST);
        let oldest = all.last().unwrap();
        assert_eq!(
            (&oldest["failures"], &oldest["result"], &oldest["ms"]),
            (&json!(["status 500"]), &json!("complete"), &json!(12))
        );
        decisions.answered_here("l", String::new(), "newest");
        // What is gone is changed no more.
        decisions.failed(first, "late".to_owned());
        let all = decisions.all();
        assert_eq!((all.len(), &all[0]["reason"]), (MOST, &json!("newest")));
        assert!(all.iter().all(|one| one["failures"] == json!([])));
    }
}

//! The finding for an unrelated change.

use super::evidence::Evidence;
use grov_domain::{Finding, Rule};

/// The share of known words up to which a text shares almost no words with the work.
const NEXT_TO_NOTHING: f64 = 0.1;
/// The share of known words below which a text shares few words with the work.
const LITTLE: f64 = 0.3;

/// The finding for an unrelated change. `number` is its position in the drift, starting at 1.
pub(super) fn finding(file: &str, evidence: &Evidence, number: u32, at_most: u8) -> Finding {
    let mut reasons = Vec::new();
    if evidence.talk <= NEXT_TO_NOTHING {
        reasons.push("shares almost no words with the goal or the work so far");
    } else if evidence.talk < LITTLE {
        reasons.push("its text shares few words with the goal and the work so far");
    }
    if evidence.is_new_part {
        reasons.push("a part of the project not touched before");
    } else if !evidence.knows_folder {
        reasons.push("a folder not worked in before");
    }
    if evidence.is_out_of_scope {
        reasons.push("outside the expected scope");
    }
    if reasons.is_empty() {
        reasons.push("only loosely related to the goal");
    }
    let again = if number > 1 {
        format!("; change number {number} of this kind")
    } else {
        String::new()
    };
    let rule = if evidence.talk < LITTLE {
        Rule::Tangent
    } else {
        Rule::ScopeCreep
    };
    let reason = format!("{file}: {}{again}", reasons.join(", "));
    Finding::new(rule, at_most, Some(file), reason)
}

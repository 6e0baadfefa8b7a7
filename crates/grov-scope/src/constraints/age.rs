//! Tracks when each constraint started to apply, because later requests of the user can lift it.

use super::request::is_negation;
use crate::words::{fold, words};
use grov_domain::{GoalContract, both_ends};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The bytes at each end of an instruction that are searched for a constraint.
const END: usize = 2 * 1024;

/// For constraints that occur in no instruction: the newest instruction when the constraint was first seen.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ConstraintAges(BTreeMap<String, Start>);

/// The newest instruction when a constraint was first seen.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Start {
    instruction: String,
    /// The instruction counts as newer than the constraint.
    is_younger: bool,
}

impl ConstraintAges {
    /// Records the new constraints of a contract. The age of constraints in the initial contract is unknown, so only the
    /// newest instruction counts as newer than them.
    pub(crate) fn note(&mut self, contract: &GoalContract, is_beginning: bool) {
        let constraints = || contract.constraints.iter().take(super::MAX_CONSTRAINTS);
        self.0.retain(|known, _| constraints().any(|text| text == known));
        for text in constraints() {
            self.0.entry(text.clone()).or_insert_with(|| Start {
                instruction: contract.newest_instruction().to_owned(),
                is_younger: is_beginning,
            });
        }
    }

    /// Finds the instructions that are newer than a constraint.
    pub(super) fn first_younger(&self, constraint: &str, said: &[InstructionText]) -> LaterInstructions {
        let wanted = InstructionText::of(constraint);
        if let Some(at) = said.iter().rposition(|instruction| instruction.holds(&wanted)) {
            return LaterInstructions {
                from: at + 1,
                own: Some(at),
            };
        }
        let from = match self.0.get(constraint) {
            Some(start) => {
                let known = said
                    .iter()
                    .rposition(|instruction| instruction.text == start.instruction);
                known.map_or(0, |at| if start.is_younger { at } else { at + 1 })
            }
            None => said.len().saturating_sub(1),
        };
        LaterInstructions { from, own: None }
    }
}

/// The instructions that may lift a constraint.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaterInstructions {
    /// The index of the first newer instruction.
    pub(super) from: usize,
    /// The index of the instruction that contains the constraint, if known.
    pub(super) own: Option<usize>,
}

/// An instruction, prepared for searching constraints in it.
#[derive(Clone, Debug)]
pub(super) struct InstructionText {
    text: String,
    folded: String,
    words: BTreeSet<String>,
}

impl InstructionText {
    /// Prepares an instruction.
    pub(super) fn of(text: &str) -> Self {
        let ends = both_ends(text, END, "\n");
        Self {
            folded: fold(ends.trim().trim_end_matches(['.', '!', ';'])),
            words: words(&ends)
                .into_iter()
                .filter(|word| word.folded.len() >= 3 || is_negation(word))
                .map(|word| word.folded)
                .collect(),
            text: text.to_owned(),
        }
    }

    /// Whether the instruction contains the constraint, or at least 4 of 5 of its words.
    fn holds(&self, constraint: &Self) -> bool {
        let shared = constraint.words.intersection(&self.words).count();
        self.folded.contains(&constraint.folded)
            || constraint.words.len() >= 3 && shared * 5 >= constraint.words.len() * 4
    }
}

//! Since when each constraint has applied. A later request of the user releases it.

use super::grammar::is_negation;
use crate::words::{fold, words};
use grov_domain::{GoalContract, both_ends};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Of each instruction so much of both ends is searched for a constraint.
const END: usize = 2 * 1024;

/// For constraints that no instruction holds in its words: what had been said when they were seen first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ConstraintAges(BTreeMap<String, Start>);

/// An instruction, by its text.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Start {
    instruction: String,
    /// It was said after the constraint.
    is_younger: bool,
}

impl ConstraintAges {
    /// Notes what is new of a contract. Of constraints that were there from the beginning nobody knows since when they
    /// hold; then the newest instruction alone counts as younger.
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

    /// The number of the first instruction that is younger than a constraint.
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

/// Which instructions may take a constraint back.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaterInstructions {
    /// All from here on.
    pub(super) from: usize,
    /// The one that holds the constraint, where that is known.
    pub(super) own: Option<usize>,
}

/// An instruction, to find constraints in.
#[derive(Clone, Debug)]
pub(super) struct InstructionText {
    text: String,
    folded: String,
    words: BTreeSet<String>,
}

impl InstructionText {
    /// Reads an instruction.
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

    /// Whether a constraint stands in it, or nearly all of its words do.
    fn holds(&self, constraint: &Self) -> bool {
        let shared = constraint.words.intersection(&self.words).count();
        self.folded.contains(&constraint.folded)
            || constraint.words.len() >= 3 && shared * 5 >= constraint.words.len() * 4
    }
}

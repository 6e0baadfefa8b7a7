//! How far a change is related to the work: to the goal, the told scope and everything that was done so far.
//!
//! Work on a goal is connected. The next file that is changed was named, was looked at in the beginning, lies beside what was
//! worked on, or is written about in words that the work uses already. Drift is the change of a file never worked on that has
//! none of these ties. So only the first changes of a file are judged, by the weighed sum of its ties ([`weights`]).
//!
//! To look is never drift. A look that nothing explains waits for the change that follows: with that it belongs to the work
//! or to the drift.

mod asked;
mod breadth;
mod expected;
mod memory;
mod reason;
mod score;
mod subject;
mod text;
mod ties;
mod told;
mod weights;

use crate::contract::Compiled;
use crate::deed::Deed;
use crate::kinds::FileKind;
use crate::neighbours::{Neighbour, Neighbourhood};
use crate::place::{Place, Root};
use asked::Asked;
use expected::Expected;
use grov_domain::{ActionType, Finding, GoalContract};
pub(crate) use memory::Memory;
use memory::Seen;
use score::{Touch, Weighed, weigh};
use subject::Subject;
use text::Heard;
use ties::{Numbered, USER};
use weights::{BAND, BROAD, FLAG, UNSEEN, WORDLESS};

/// So many letters of a command are looked at, and of a text that is written: as many as the weights were fitted with.
const COMMAND_LETTERS: usize = 600;
const TEXT_LETTERS: usize = 400;

/// Scores in hundredths: of work on what was worked on, of actions without files, of those in a drift.
const KNOWN: u16 = 1000;
const NO_FILE: u16 = 950;
const NO_FILE_IN_DRIFT: u16 = 800;
/// What is related scores from here on; scores from 5 to 8 are left to other rules.
const RELATED: (f64, f64) = (8.0, 10.0);
/// What is not related scores below 5, and above 2: to be unrelated alone stops nobody.
const UNRELATED: (f64, f64) = (2.01, 4.99);
/// The same as whole scores.
const WHOLE_UNRELATED: (u8, u8) = (3, 4);

/// Of a change that looks unrelated to broad work.
const DOUBTFUL: u16 = 475;
/// Of one that follows soon, of which nothing is said.
const DOUBTED_LATELY: u16 = 510;

/// What came out for an action.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Related {
    /// In hundredths, 201 to 1000; below 500 is off the goal. Looks that go on with a drift have less than 500 too, to
    /// tell them from others, and yet no finding.
    pub(crate) score: u16,
    /// What was found of a change.
    pub(crate) finding: Option<Finding>,
}

impl Related {
    fn of(score: u16) -> Self {
        Self { score, finding: None }
    }
}

/// The told scope without what the user's own words name: a name in a sentence is a tie of its own, and says nothing of where
/// the rest of the work lies.
fn beyond_words(asked: &Asked, compiled: &Compiled, root: &Root) -> Expected {
    let told = compiled.scope.iter();
    let told: Vec<_> = told
        .filter(|entry| !asked.mentions(entry.text()))
        .cloned()
        .collect();
    Expected::new(root, &told)
}

/// Follows one conversation.
#[derive(Clone, Debug)]
pub(crate) struct Relatedness {
    asked: Asked,
    expected: Expected,
    memory: Memory,
}

impl Relatedness {
    /// For a conversation that begins under a contract.
    pub(crate) fn new(contract: &GoalContract, compiled: &Compiled, root: &Root) -> Self {
        let asked = Asked::new(contract);
        let mut memory = Memory::default();
        memory.on.hear(&asked.heard(), &[USER]);
        Self {
            expected: beyond_words(&asked, compiled, root),
            asked,
            memory,
        }
    }

    /// What is known of the conversation.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Goes on with what was known of a conversation, under the contract that held.
    pub(crate) fn recall(contract: &GoalContract, compiled: &Compiled, root: &Root, memory: Memory) -> Self {
        let asked = Asked::new(contract);
        Self {
            expected: beyond_words(&asked, compiled, root),
            asked,
            memory,
        }
    }

    /// Goes on under another contract. What the user says anew is on the goal at once, and nothing that was done before is
    /// held against it.
    pub(crate) fn hold_to(&mut self, contract: &GoalContract, compiled: &Compiled, root: &Root) {
        let asked = Asked::new(contract);
        self.expected = beyond_words(&asked, compiled, root);
        if !self.asked.says_the_same(&asked) {
            self.memory.reopen(&asked.heard(), self.asked.is_new_task(&asked));
            self.asked = asked;
        }
    }

    /// The user said something that asks for nothing new, as "yes": nothing that was done before is held against the agent.
    pub(crate) fn prompted(&mut self) {
        self.memory.forgive();
    }

    /// The agent was shown a text.
    pub(crate) fn overhear(&mut self, root: &Root, text: &str) {
        self.memory.told.hear(root, text);
    }

    /// Passes over an action that is off the goal as a matter of fact: nothing is learned from it.
    pub(crate) fn pass_over(&mut self) -> Related {
        self.memory.next();
        Related::of(KNOWN)
    }

    /// Judges the next action, and learns from it.
    pub(crate) fn judge(&mut self, deed: &Deed<'_>, compiled: &Compiled, around: &Neighbourhood) -> Related {
        let at = self.memory.next();
        let action = deed.action;
        let is_edit = action.action_type.modifies_files();
        let changes = is_edit || deed.changes();
        let command = action.command.as_deref().unwrap_or_default();
        let heard = Heard::of([(command, COMMAND_LETTERS), (deed.content(), TEXT_LETTERS)]);
        let places: &[Place] = if deed.removes && !is_edit {
            // What is removed or moved has no text; whether that may be is for the rules of danger and constraints.
            &[]
        } else if changes {
            &deed.changed
        } else {
            &deed.touched
        };
        let Some(files) = self.numbered(places) else {
            // Too much was seen to know what is new.
            return Related::of(KNOWN);
        };
        let seen = Seen {
            files,
            changes,
            is_edit,
            has_text: action.content.is_some(),
            heard,
            at,
        };
        if seen.files.is_empty() {
            return self.without_files(&seen);
        }
        let is_known = self
            .memory
            .forms(&seen.files)
            .any(|id| !changes || self.memory.on.has_edited(id));
        let is_allowed = places.iter().any(|place| compiled.is_allowed(place));
        if is_known || is_allowed || self.asked.is_empty() || self.memory.on.is_full() {
            self.memory.go_on(seen);
            return Related::of(KNOWN);
        }
        let touch = Touch {
            files: &seen.files,
            heard: &seen.heard,
            is_command: action.action_type == ActionType::Bash,
            looks: !changes,
        };
        let weighed = weigh(touch, &self.asked, &self.expected, &self.memory);
        let flag = self.flag(&seen);
        let is_neighbour = |place: &Place| match around.neighbour(place, deed) {
            Some(Neighbour::Test) => FileKind::Test.is(place),
            Some(Neighbour::Settings | Neighbour::Index | Neighbour::Imports | Neighbour::Imported) => true,
            Some(Neighbour::Docs | Neighbour::Temporary) | None => false,
        };
        let is_named = seen.files.iter().any(|file| self.asked.names(&file.subject))
            || places
                .iter()
                .any(|place| is_neighbour(place) || compiled.is_agreed(place));
        // What the user named is never off by being unrelated.
        let excess = if is_named {
            (weighed.sum - flag).min(-0.1)
        } else {
            weighed.sum - flag
        };
        if changes {
            self.change(seen, &weighed, excess, is_named)
        } else {
            self.look(seen, excess)
        }
    }

    fn numbered(&mut self, places: &[Place]) -> Option<Vec<Numbered>> {
        let mut files: Vec<Numbered> = Vec::new();
        for subject in places.iter().filter_map(Subject::new) {
            let id = self.memory.files.number(&subject.path)?;
            if files.iter().all(|file| file.id != id) {
                files.push(Numbered { id, subject });
            }
        }
        Some(files)
    }

    fn without_files(&mut self, seen: &Seen) -> Related {
        if self.memory.is_drifting() {
            return Related::of(NO_FILE_IN_DRIFT);
        }
        self.memory.on.hear(&seen.heard, &[USER]);
        Related::of(NO_FILE)
    }

    /// The sum above which an action is off.
    fn flag(&self, seen: &Seen) -> f64 {
        let blind = if seen.is_edit && !seen.has_text {
            1.0
        } else {
            self.memory.unseen()
        };
        let wordless = if self.asked.is_wordless() { WORDLESS } else { 0.0 };
        let broad = if self.asked.is_broad() { BROAD } else { 0.0 };
        FLAG + UNSEEN * blind + wordless + broad
    }

    fn change(&mut self, seen: Seen, weighed: &Weighed, excess: f64, is_named: bool) -> Related {
        if excess > 0.0 && self.asked.is_broad() {
            return self.doubt(seen, weighed);
        }
        if excess > 0.0 {
            let score = unrelated(excess, self.memory.odd());
            let file = shown(&seen);
            self.memory.flag(seen);
            let finding = reason::finding(&file, weighed, self.memory.odd(), whole_unrelated(score));
            return Related {
                score,
                finding: Some(finding),
            };
        }
        if excess > -BAND && self.memory.has_edited() && !is_named {
            self.memory.wait(seen);
        } else {
            self.memory.believe(seen);
        }
        Related::of(related(excess))
    }

    /// An odd change in the course of broad work: it says nothing of the next one, and is told of now and then.
    fn doubt(&mut self, seen: Seen, weighed: &Weighed) -> Related {
        let file = shown(&seen);
        let at = seen.at;
        self.memory.believe(seen);
        if !self.memory.may_doubt(at) {
            return Related::of(DOUBTED_LATELY);
        }
        let finding = reason::finding(&file, weighed, 1, whole_unrelated(DOUBTFUL));
        Related {
            score: DOUBTFUL,
            finding: Some(finding),
        }
    }

    fn look(&mut self, seen: Seen, excess: f64) -> Related {
        if self.memory.is_drifting() {
            if excess > 0.0 {
                let score = unrelated(excess, self.memory.odd());
                self.memory.condemn(seen);
                return Related::of(score);
            }
            if excess < -BAND {
                self.memory.come_back(&seen);
            } else {
                self.memory.look(seen);
            }
        } else if excess > 0.0 {
            self.memory.look(seen);
        } else {
            self.memory.learn(&seen);
        }
        Related::of(related(excess))
    }
}

/// The file that a person is told of.
fn shown(seen: &Seen) -> String {
    let file = seen.files.first();
    file.map(|file| file.subject.shown.clone()).unwrap_or_default()
}

/// 8 to 10: the score of what lies this far below the flag.
fn related(excess: f64) -> u16 {
    let (least, most) = RELATED;
    hundredths((least - 2.0 * (excess / 2.0).tanh()).clamp(least, most))
}

/// Above 2 and below 5: the score of what lies this far above the flag, after so many changes of the same drift.
fn unrelated(excess: f64, odd: u32) -> u16 {
    let (least, most) = UNRELATED;
    hundredths((most - 1.99 * (excess / 3.0).tanh() - (0.25 * f64::from(odd)).min(1.0)).clamp(least, most))
}

/// A score of 2 to 10 in hundredths.
fn hundredths(score: f64) -> u16 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a score is between 2 and 10"
    )]
    let rounded = (score * 100.0).round() as u16;
    rounded
}

/// The whole score on the same side of 5, and above 2.
fn whole_unrelated(score: u16) -> u8 {
    let (least, most) = WHOLE_UNRELATED;
    if score < 350 { least } else { most }
}

#[cfg(test)]
mod tests;

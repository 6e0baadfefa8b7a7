//! The weights of what speaks for and against a tie between a change and the work.
//!
//! They are log-odds: added up, a sum above nought means that the change is more likely off the goal than on it. They were
//! fitted by logistic regression on a development set of 200 recorded sequences and then rounded by hand, so that the
//! uncertainty of the fit is visible in them; `docs/drift.md` tells how well they do and what happens when they are moved.

/// A change of a file never worked on is suspicious until something ties it to the work.
pub(super) const START: f64 = 1.6;
/// The share of the text's words that the work uses already: the strongest single tie.
pub(super) const TALK: f64 = -2.5;
/// The same, compared with what the changes of this conversation usually reach.
pub(super) const USUAL: f64 = -0.5;
/// The share of the path's words that the work uses; a word of every path counts for little.
pub(super) const PATH_WORDS: f64 = -0.8;
/// Words that the user typed.
pub(super) const GOAL_WORDS: f64 = -0.7;
/// Compound identifiers that the work uses: to share `refreshToken` is near proof.
pub(super) const IDENTIFIERS: f64 = -1.2;
/// The file's name was said: imported, searched for, mentioned.
pub(super) const NAMED: f64 = -0.6;
/// Another file of the folder was touched.
pub(super) const FOLDER: f64 = -0.6;
/// A file of the same stem was touched: a test and what it tests, a component and its styles.
pub(super) const PARTNER: f64 = -0.7;
/// The text names a file that was changed.
pub(super) const MENTIONS: f64 = -0.6;
/// The file lies in the told scope.
pub(super) const IN_SCOPE: f64 = -1.5;
/// A scope was told and the file lies outside: a hint only, for a told scope is incomplete by nature.
pub(super) const OUT_OF_SCOPE: f64 = 0.3;
/// The first file of a part of the project.
pub(super) const NEW_PART: f64 = 0.7;
/// The first file of an ending: another language.
pub(super) const NEW_ENDING: f64 = 0.3;
/// It was looked at before the first edit: what the agent explores first is what the task is about.
pub(super) const EXPLORED: f64 = -1.0;
/// Nothing was edited yet: where the agent starts is the task.
pub(super) const FIRST_EDIT: f64 = -1.5;
/// Little is known yet; fades over the first actions.
pub(super) const EARLY: f64 = -0.7;
/// Something the agent was shown (a log, a plan) tells something of the file, and the share of the words that it uses.
/// Policy: the recorded sequences have no outputs to fit it with.
pub(super) const TOLD: f64 = -3.0;
pub(super) const TOLD_WORDS: f64 = -1.0;
/// The changes before were off the goal. Policy, not fit: a fit learns to trust it so much that one false alarm brings the next.
pub(super) const DRIFTING: f64 = 0.4;
/// The share of its words that what went off the goal uses. Policy, as [`DRIFTING`].
pub(super) const LIKE_DRIFT: f64 = 0.8;
/// For each loosely tied change that waits to be explained: several in a row add up. Policy, as [`DRIFTING`].
pub(super) const WAITING: f64 = 0.3;
/// A manifest, a lock or a change log after the first edit: changes of code drag them along. Policy, as [`DRIFTING`].
pub(super) const HOUSEHOLD: f64 = -1.5;
/// Files of a command are guessed from its text.
pub(super) const COMMAND: f64 = -1.0;
/// To look is weaker evidence than to change.
pub(super) const READING: f64 = -0.5;

/// Above this sum a change is off the goal; the point on the trade-off curve of `docs/drift.md` with one false alarm in a
/// hundred changes and nine of ten drifts found.
pub(super) const FLAG: f64 = 0.0;
/// Changes that are this little below [`FLAG`] wait: neither believed nor held against the agent.
pub(super) const BAND: f64 = 1.0;
/// Added to [`FLAG`] where what an edit writes is not known: most ties are in the texts, and without them it is better to
/// miss a drift than to raise a false alarm.
pub(super) const UNSEEN: f64 = 1.0;
/// Added to [`FLAG`] where the user's words cannot be compared with code, being none or in another script.
pub(super) const WORDLESS: f64 = 0.5;
/// Added to [`FLAG`] where work all over the project was asked for: there a log, a list or a plan ties the changes, and not
/// the words that they share. Policy: the recorded sequences have too few of such goals to fit it with.
pub(super) const BROAD: f64 = 2.0;

//! The weights of the evidence for and against a tie between a change and the work.
//!
//! They are log-odds: a sum above zero means that the change is more likely off the goal than on it. They were
//! fitted by logistic regression on recorded sequences and on cases of ordinary work, and rounded by hand to reflect the
//! uncertainty of the fit. `docs/drift.md` documents their accuracy and sensitivity.

/// A change of a new file, before any other evidence.
pub(super) const START: f64 = 2.6;
/// The share of the text's words that the work already uses: the strongest single tie.
pub(super) const TALK: f64 = -3.2;
/// That share minus its mean over the changes of this conversation.
pub(super) const USUAL: f64 = -3.5;
/// The share of the path's words that the work uses. Words of many paths count less.
pub(super) const PATH_WORDS: f64 = -0.9;
/// Words of the request in the path and text.
pub(super) const GOAL_WORDS: f64 = -1.2;
/// Compound identifiers that the work uses. Sharing `refreshToken` is nearly a proof.
pub(super) const IDENTIFIERS: f64 = -1.2;
/// The file's name occurred: imported, searched for, mentioned.
pub(super) const NAMED: f64 = -0.4;
/// Another file of the folder was touched.
pub(super) const FOLDER: f64 = -0.5;
/// A file of the same stem was touched: a test and what it tests, a component and its styles.
pub(super) const PARTNER: f64 = -0.3;
/// The file's name is about the same subject as that of a changed file: another layer, its test, its view.
pub(super) const KIN: f64 = -0.6;
/// The request names the role of the file: "docker" and `Dockerfile`, "docs" and `docs/guide.md`.
pub(super) const ASKED_ROLE: f64 = -2.5;
/// A whole file is written that was not read before.
pub(super) const NEW_FILE: f64 = 0.5;
/// A test after an edit on the goal.
pub(super) const TEST: f64 = -0.8;
/// A schema, a migration, seeds.
pub(super) const DATA: f64 = -0.5;
/// Documentation and translations that exist.
pub(super) const DOCS: f64 = -0.6;
/// The user named a folder, or a path with its folder, that covers the file.
pub(super) const ASKED_PLACE: f64 = -0.8;
/// The name of the file is a word of the request.
pub(super) const ASKED_STEM: f64 = -0.4;
/// The request has few words, so that little can be compared with it. Fades with their number.
pub(super) const TERSE: f64 = -2.5;
/// The text names a file that was changed.
pub(super) const MENTIONS: f64 = -0.4;
/// The file is in the expected scope.
pub(super) const IN_SCOPE: f64 = -1.5;
/// The file is outside the expected scope. This is only a hint, because expected scopes are rarely complete.
pub(super) const OUT_OF_SCOPE: f64 = 1.0;
/// The first file of a part of the project.
pub(super) const NEW_PART: f64 = 0.2;
/// The first file with its extension: another language.
pub(super) const NEW_ENDING: f64 = 0.2;
/// The file was read before the first edit. The files that the agent explores first belong to the task.
pub(super) const EXPLORED: f64 = -1.1;
/// Nothing was edited yet. The first edited file belongs to the task.
pub(super) const FIRST_EDIT: f64 = -1.7;
/// Little is known yet. Fades over the first actions.
pub(super) const EARLY: f64 = -1.2;
/// A text shown to the agent (a log, a plan) names the file, and the share of its words that such texts contain.
/// Not fitted: the recorded sequences have no outputs.
pub(super) const SHOWN: f64 = -3.0;
pub(super) const SHOWN_WORDS: f64 = -1.0;
/// The conversation is drifting. Not fitted: a fitted weight is so large that one false alarm causes the next.
pub(super) const DRIFTING: f64 = 0.5;
/// The share of its words that occur in the drift. Not fitted, as [`DRIFTING`].
pub(super) const LIKE_DRIFT: f64 = 0.7;
/// For each undecided change. Not fitted, as [`DRIFTING`].
pub(super) const WAITING: f64 = 0.1;
/// A manifest, lock file or change log after the first edit and outside a drift, because code changes require them. Not fitted, as [`DRIFTING`].
pub(super) const HOUSEHOLD: f64 = -1.5;
/// The files come from a command, whose files are only inferred.
pub(super) const COMMAND: f64 = -1.0;
/// The action only reads, which is weaker evidence than a change.
pub(super) const READING: f64 = -0.5;

/// The sum above which a change is off the goal: the point on the trade-off curve in `docs/drift.md` with one false alarm in
/// 100 changes and 9 of 10 drifts found.
pub(super) const FLAG: f64 = 0.0;
/// Changes less than this below [`FLAG`] are undecided.
pub(super) const BAND: f64 = 1.0;
/// Added to [`FLAG`] if the text of an edit is unknown. Most ties are in the texts; without them it is better to
/// miss a drift than to raise a false alarm.
pub(super) const UNSEEN: f64 = 1.0;
/// Added to [`FLAG`] if the request can hardly be compared with code, because it has no words or is not in English. Not
/// fitted: such requests raise twice as many doubts on ordinary work.
pub(super) const FOREIGN: f64 = 0.75;
/// Added to [`FLAG`] if the request is broad. Then the changes are tied by a log, a list or a plan instead of
/// shared words. Not fitted: the recorded sequences have too few broad requests.
pub(super) const BROAD: f64 = 2.0;

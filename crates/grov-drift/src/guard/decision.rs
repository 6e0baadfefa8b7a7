//! Decides whether an action may run.
//!
//! Only facts decide: forbidden paths, and destructive or outgoing actions that nobody asked for. Actions that are merely
//! unrelated to the goal run and may be corrected afterwards. Reading and running tests are never stopped.

use grov_domain::{
    ActionSketch, ActionType, EffectKind, Finding, GoalContract, GuardVerdict, OFF_GOAL_BELOW, beginning_of,
    beginning_to,
};
use grov_hooks::settings::shell_word;
use grov_redact::Redactor;
use grov_scope::{AnalyzedAction, FindingSubject, NormalizedPath, ProjectRoot, Rules};
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64;

/// Longer instructions are truncated when quoted, in characters.
const MOST_OF_INSTRUCTION: usize = 100;
/// Longer reasons are truncated, in characters.
const MOST_OF_REASON: usize = 600;
/// Longer commands are truncated in their subject and identified by a hash, in bytes.
const MOST_OF_COMMAND: usize = 200;

/// An action and the context needed to decide on it.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The active contract, with the user's edits.
    pub contract: &'a GoalContract,
    /// The folder that relative paths of the contract refer to.
    pub root: Option<&'a str>,
    /// Working directory, if it differs from `root`.
    pub directory: Option<&'a str>,
    /// The action.
    pub action: &'a ActionSketch,
    /// The action with its secrets masked, if it has any; messages and records are made from it.
    pub masked: Option<&'a ActionSketch>,
    /// Earlier actions, oldest first: the agent may remove what it created. `None` if unknown; then only what no earlier
    /// action could excuse counts as dangerous.
    pub past: Option<&'a [PastAction]>,
    /// The user lifted a "change nothing" request by confirming a question or plan.
    pub is_released: bool,
    /// Subjects that the user allowed in this session, one per line.
    pub allowed: &'a [String],
    /// The verdict if the action is stopped.
    pub verdict: GuardVerdict,
}

/// An earlier action.
#[derive(Clone, Debug)]
pub struct PastAction {
    /// The action.
    pub action: ActionSketch,
    /// It broke a constraint.
    pub broke_constraint: bool,
    /// The agent was told to undo it since.
    pub is_corrected: bool,
}

/// A decision to stop an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Ask or deny.
    pub verdict: GuardVerdict,
    /// What was stopped, one subject per line, redacted. A subject that the user allows once is allowed for the session.
    pub subject: String,
    /// The reason and how to allow it, on one line, for user and agent.
    pub reason: String,
}

/// Decides on an action; `None` if it may run.
pub fn decide(question: &Question<'_>) -> Option<Stop> {
    let root = ProjectRoot::new(question.root);
    let action = AnalyzedAction::new(&root, question.action);
    if is_harmless(&action) {
        return None;
    }
    let found = findings(question, question.contract);
    if found.is_empty() {
        return None;
    }
    let Some(masked) = question.masked else {
        return worded(question, &action, &root, &found);
    };
    let masked = Question {
        action: masked,
        masked: None,
        ..*question
    };
    let shown = findings(&masked, question.contract);
    if shown.len() < found.len() {
        // A mask hides some of the findings, so nothing can be quoted.
        return unquoted(question, &action);
    }
    worded(&masked, &AnalyzedAction::new(&root, masked.action), &root, &shown)
}

/// Builds the stop for findings, the most severe first; `None` if all were allowed.
fn worded(
    question: &Question<'_>,
    action: &AnalyzedAction<'_>,
    root: &ProjectRoot,
    found: &[Finding],
) -> Option<Stop> {
    let mut subjects: Vec<String> = Vec::new();
    let mut gravest = None;
    for finding in found {
        // Allowed subjects are stored redacted.
        let subject = subject(finding, action, root);
        let subject = Redactor::shared().redact(&subject).into_owned();
        if is_allowed(&subject, question.allowed) || subjects.contains(&subject) {
            continue;
        }
        subjects.push(subject);
        gravest = gravest.or(Some(finding));
    }
    Some(Stop {
        verdict: question.verdict,
        reason: reason(gravest?, question),
        subject: subjects.join("\n"),
    })
}

/// Builds the stop for an action that cannot be quoted; a hash identifies it.
fn unquoted(question: &Question<'_>, action: &AnalyzedAction<'_>) -> Option<Stop> {
    let written = format!("{:?} {:?}", action.sketch.command, action.sketch.files);
    let subject = format!("call {:016x}", xxh3_64(written.as_bytes()));
    if is_allowed(&subject, question.allowed) {
        return None;
    }
    let what = "this call changes what you forbade, or destroys something, and holds a secret, so that it is not quoted";
    Some(Stop {
        verdict: question.verdict,
        reason: format!(
            "Grov: {what}. If the user wants it, they can say so in a prompt, or do it themselves."
        ),
        subject,
    })
}

/// Whether an action is never stopped under any contract: reading, and tests alone.
pub(super) fn is_never_stopped(action: &ActionSketch, root: Option<&str>) -> bool {
    is_harmless(&AnalyzedAction::new(&ProjectRoot::new(root), action))
}

/// Whether the action only reads or runs tests.
fn is_harmless(action: &AnalyzedAction<'_>) -> bool {
    let effects = &action.sketch.effects;
    let tests = |effect: &EffectKind| matches!(effect, EffectKind::Read | EffectKind::Test);
    action.is_read_only()
        || (!effects.is_empty() && !action.is_partially_analyzed() && effects.iter().all(tests))
}

/// The findings against an action, the most severe first.
fn findings(question: &Question<'_>, contract: &GoalContract) -> Vec<Finding> {
    let mut rules = Rules::new(contract.clone(), question.root);
    if question.is_released {
        rules.lift_read_only();
    }
    for done in question.past.unwrap_or_default() {
        rules.replay(&done.action, done.broke_constraint);
        if done.is_corrected {
            rules.request_revert();
        }
    }
    if rules.is_undo_requested() {
        rules.request_revert();
    }
    if let Some(directory) = question.directory {
        rules.assess(&going_to(directory), None);
    }
    // Facts only, regardless of who acts.
    let assessment = match question.past {
        Some(_) => rules.assess_subagent(question.action),
        None => rules.assess_without_history(question.action),
    };
    let mut found = assessment.findings;
    found.retain(|finding| finding.rule.is_hard() && finding.at_most < OFF_GOAL_BELOW);
    found
}

/// The command that leads to a folder.
fn going_to(directory: &str) -> ActionSketch {
    let quote = if directory.contains('\'') { '"' } else { '\'' };
    ActionSketch {
        command: Some(format!("cd {quote}{directory}{quote}")),
        effects: vec![EffectKind::Execute],
        ..ActionSketch::empty(ActionType::Bash)
    }
}

/// The subject of a finding: what the user allows by confirming.
fn subject(finding: &Finding, action: &AnalyzedAction<'_>, root: &ProjectRoot) -> String {
    match FindingSubject::of(finding, action, root) {
        FindingSubject::File { place, removes: true } => format!("removal of {place}"),
        FindingSubject::File { place, .. } => format!("change of {place}"),
        FindingSubject::Words {
            violation,
            words,
            verbs,
        } => {
            let git = if verbs.is_empty() { "" } else { "git" };
            let verbs = verbs.join(", ");
            one_line(&format!("{violation} against {words} {git} {verbs}"), usize::MAX)
        }
        FindingSubject::Command(command) => format!("command {}", text_hash(command)),
    }
}

/// A redacted key of a command. Redact before truncating: half a secret is not recognised.
fn text_hash(command: &str) -> String {
    let command = one_line(command, usize::MAX);
    let safe = Redactor::shared().redact(&command);
    if safe.len() <= MOST_OF_COMMAND {
        return safe.into_owned();
    }
    let beginning = beginning_to(&safe, safe.floor_char_boundary(MOST_OF_COMMAND));
    format!("{beginning}… {:016x}", xxh3_64(command.as_bytes()))
}

fn is_allowed(subject: &str, allowed: &[String]) -> bool {
    allowed
        .iter()
        .flat_map(|allowed| allowed.lines())
        .any(|allowed| allowed == subject)
}

fn reason(finding: &Finding, question: &Question<'_>) -> String {
    let what = finding.reason.trim_end_matches('.');
    let asked = match one_line(question.contract.current_instruction(), MOST_OF_INSTRUCTION) {
        asked if asked.is_empty() => String::new(),
        asked => format!(" The task: \"{}\".", asked.trim_end_matches('.')),
    };
    let how = match finding.file.as_deref().filter(|file| is_lifted(file, question)) {
        Some(file) => format!(
            "The user can allow it: grov goal allow {}",
            shell_word(&from_here(file, question))
        ),
        None => "If the user wants it, they can say so in a prompt, or do it themselves.".to_owned(),
    };
    one_line(&format!("Grov: {what}.{asked} {how}"), MOST_OF_REASON)
}

/// A file's path as the user must type it where the session works.
fn from_here<'a>(file: &'a str, question: &Question<'_>) -> Cow<'a, str> {
    match question.root {
        Some(root) if question.directory.is_some_and(|directory| directory != root) => {
            let is_below = NormalizedPath::new(&ProjectRoot::new(question.root), file).is_in_project()
                && !file.starts_with('/');
            if is_below {
                format!("{}/{file}", root.trim_end_matches('/')).into()
            } else {
                file.into()
            }
        }
        _ => file.into(),
    }
}

/// Whether allowing the file removes every finding against it.
fn is_lifted(file: &str, question: &Question<'_>) -> bool {
    let mut contract = question.contract.clone();
    contract.forbidden.retain(|glob| glob != file);
    contract.allowed.push(file.to_owned());
    let found = findings(question, &contract);
    !found.iter().any(|finding| finding.file.as_deref() == Some(file))
}

/// A text on one line, truncated to `most` characters.
fn one_line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text
        .split(|letter: char| letter.is_whitespace() || letter.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    let line = words.join(" ");
    let kept = beginning_of(&line, most);
    if kept.len() < line.len() {
        format!("{kept}…")
    } else {
        line
    }
}

#[cfg(test)]
mod tests;

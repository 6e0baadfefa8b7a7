//! Whether an action is to be stopped before it runs.
//!
//! Matters of fact alone decide: what somebody forbade, and what destroys or goes out though nobody asked for it. What is
//! merely far from the goal runs; it is corrected afterwards, if at all. Looking and running tests are never stopped.

use grov_domain::{
    ActionSketch, ActionType, EffectKind, Finding, GoalContract, GuardVerdict, OFF_GOAL_BELOW, beginning_of,
    beginning_to,
};
use grov_redact::Redactor;
use grov_scope::{AnalyzedAction, FindingSubject, NormalizedPath, ProjectRoot, Rules};
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64;

/// Of a longer instruction the beginning is quoted, in characters.
const MOST_OF_INSTRUCTION: usize = 100;
/// Longer reasons are cut, in characters: the client shows them in one piece.
const MOST_OF_REASON: usize = 600;
/// Of longer commands the beginning stands in their subject, in bytes, and a hash for all of it.
const MOST_OF_COMMAND: usize = 200;

/// An action that is about to run, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// What the agent is held to, with what a person changed of it.
    pub contract: &'a GoalContract,
    /// The folder that relative paths of the contract are meant from.
    pub root: Option<&'a str>,
    /// Where commands run now, if not there.
    pub directory: Option<&'a str>,
    /// What is about to be done.
    pub action: &'a ActionSketch,
    /// The same with its secrets masked, where it has any: what is said and kept is read from this one.
    pub masked: Option<&'a ActionSketch>,
    /// What the agent did before, oldest first: what it made itself it may remove. `None` where nobody knows, and then
    /// only that is dangerous which nothing done before could excuse.
    pub past: Option<&'a [PastAction]>,
    /// The user let go of the wish that nothing be changed, by a "yes" to a question or a plan.
    pub is_released: bool,
    /// Subjects that were asked about in this session and then ran, one a line.
    pub allowed: &'a [String],
    /// What becomes of an action that is not to run just so.
    pub verdict: GuardVerdict,
}

/// An action of the past.
#[derive(Clone, Debug)]
pub struct PastAction {
    /// What was done.
    pub action: ActionSketch,
    /// A constraint forbade it when it was done.
    pub broke_constraint: bool,
    /// The agent was told to take it back since.
    pub is_corrected: bool,
}

/// That an action is not to run just so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// What becomes of it.
    pub verdict: GuardVerdict,
    /// What it is about, one a line and without secrets; allowed once, it is allowed for the session.
    pub subject: String,
    /// Why, and how it is allowed, in one line for a person and for the agent.
    pub reason: String,
}

/// Whether an action is to be stopped. `None`: it may run, as far as Grov is asked.
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
        // A mask hides some of what stands against it, so nothing of it can be quoted.
        return unquoted(question, &action);
    }
    worded(&masked, &AnalyzedAction::new(&root, masked.action), &root, &shown)
}

/// The words for what stands against an action, the gravest first; `None` where all of it was allowed.
fn worded(
    question: &Question<'_>,
    action: &AnalyzedAction<'_>,
    root: &ProjectRoot,
    found: &[Finding],
) -> Option<Stop> {
    let mut subjects: Vec<String> = Vec::new();
    let mut gravest = None;
    for finding in found {
        // What was allowed is kept without secrets.
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

/// The words where nothing of an action can be quoted. It is known again by a hash.
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

/// Whether an action is never stopped, whatever the agent is held to: looking, and tests with nothing beside them.
pub(super) fn is_never_stopped(action: &ActionSketch, root: Option<&str>) -> bool {
    is_harmless(&AnalyzedAction::new(&ProjectRoot::new(root), action))
}

/// Looking, and tests with nothing beside them.
fn is_harmless(action: &AnalyzedAction<'_>) -> bool {
    let effects = &action.sketch.effects;
    let tests = |effect: &EffectKind| matches!(effect, EffectKind::Read | EffectKind::Test);
    action.is_read_only()
        || (!effects.is_empty() && !action.is_partially_analyzed() && effects.iter().all(tests))
}

/// What stands against an action, the gravest first.
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
    // Facts alone, whoever acts.
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

/// What a finding is about: what somebody allows who says yes.
fn subject(finding: &Finding, action: &AnalyzedAction<'_>, root: &ProjectRoot) -> String {
    match FindingSubject::of(finding, action, root) {
        FindingSubject::File { place, removes: true } => format!("removal of {place}"),
        FindingSubject::File { place, .. } => format!("change of {place}"),
        FindingSubject::Words { words, verbs } if verbs.is_empty() => one_line(words, usize::MAX),
        FindingSubject::Words { words, verbs } => {
            format!("{} (git {})", one_line(words, usize::MAX), verbs.join(", "))
        }
        FindingSubject::Command(command) => format!("command {}", text_hash(command)),
    }
}

/// A command by which the same one is known. Cut without its secrets: half of one is none to the redactor.
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

/// A file by the name that means it where the session works: below the root by its path from there.
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

/// Whether nothing stands against a change of the file any more once the user has allowed it.
fn is_lifted(file: &str, question: &Question<'_>) -> bool {
    let mut contract = question.contract.clone();
    contract.forbidden.retain(|glob| glob != file);
    contract.allowed.push(file.to_owned());
    let found = findings(question, &contract);
    !found.iter().any(|finding| finding.file.as_deref() == Some(file))
}

/// A text on one line, of a longer one the beginning.
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

/// A path as a word for a shell.
fn shell_word(path: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "/._-+@%~".contains(letter);
    if path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests;

//! Decides whether an action may run.
//!
//! Only facts decide: forbidden paths, and destructive or outgoing actions that the user did not ask for. Actions that are
//! merely unrelated to the goal run and may be corrected afterwards. Reading and running tests
//! are stopped only by a limit that is about them.

use grov_domain::{
    ActionSketch, ActionType, Breach, EffectKind, Finding, GoalContract, GuardVerdict, OFF_GOAL_BELOW,
    beginning_of, beginning_to,
};
use grov_hooks::settings::shell_word;
use grov_redact::Redactor;
use grov_scope::{
    AnalyzedAction, FindingSubject, LimitOnFiles, NormalizedPath, OVERRULED, ProjectRoot, Rules, RunScript,
};
use std::borrow::Cow;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Maximum number of characters of a quoted instruction.
const MAX_INSTRUCTION_CHARS: usize = 100;
/// Maximum number of characters of a reason.
const MAX_REASON_CHARS: usize = 600;
/// Maximum number of bytes of a command in a subject. Longer ones are truncated and identified by a hash.
const MAX_COMMAND_BYTES: usize = 200;

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
    /// The action with its secrets masked, if it contains any. Messages and records use it.
    pub masked: Option<&'a ActionSketch>,
    /// The scripts that the action runs, as far as they could be read.
    pub scripts: &'a [RunScript],
    /// Earlier actions, oldest first: the agent may remove files that it created. `None` if unknown; then only actions that no
    /// earlier action could excuse count as dangerous.
    pub past: Option<&'a [PastAction]>,
    /// The user lifted a "change nothing" request by confirming a question or plan.
    pub is_released: bool,
    /// Questions, plans and options of the agent that the user agreed to, oldest first: what they name is asked for.
    pub consents: &'a [String],
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
    /// Whether it violated a constraint.
    pub broke_constraint: bool,
    /// Whether a later correction asked the agent to undo it.
    pub is_corrected: bool,
}

/// A decision to stop an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Ask or deny.
    pub verdict: GuardVerdict,
    /// The subjects of the findings, one per line, redacted. A subject that the user allows once is allowed for the session.
    pub subject: String,
    /// The reason and how to allow it, on one line, for user and agent.
    pub reason: String,
}

/// Decides on an action; `None` if it may run.
pub fn decide(question: &Question<'_>) -> Option<Stop> {
    let root = ProjectRoot::new(question.root);
    let action = AnalyzedAction::new(&root, question.action);
    let has_scripts = !action.is_read_only() && !question.scripts.is_empty();
    if is_harmless(&action) && !action.has_known_effect() && !has_scripts {
        return None;
    }
    let found = findings(question, question.contract);
    if found.is_empty() {
        return None;
    }
    let Some(masked) = question.masked else {
        return quoted(question, &action, &root, &found);
    };
    let masked = Question {
        action: masked,
        masked: None,
        ..*question
    };
    let shown = findings(&masked, question.contract);
    if shown.len() < found.len() {
        // Masking hides some of the findings, so the action cannot be quoted.
        return unquoted(question, &action);
    }
    quoted(&masked, &AnalyzedAction::new(&root, masked.action), &root, &shown)
}

/// Builds the stop for findings, the most severe first; `None` if all were allowed.
fn quoted(
    question: &Question<'_>,
    action: &AnalyzedAction<'_>,
    root: &ProjectRoot,
    found: &[Finding],
) -> Option<Stop> {
    let mut subjects: Vec<String> = Vec::new();
    let mut limits: Vec<String> = Vec::new();
    let mut most_severe = None;
    for finding in found {
        let limit = FindingSubject::limit_of(finding, action).map(limit_line);
        if let Some(limit) = &limit
            && is_overruled(limit, question.allowed)
        {
            continue;
        }
        // Allowed subjects are stored redacted.
        let subject = subject(finding, action, root, question.scripts);
        let subject = Redactor::shared().redact(&subject).into_owned();
        if is_allowed(&subject, question.allowed) || subjects.contains(&subject) {
            continue;
        }
        subjects.push(subject);
        limits.extend(limit.filter(|limit| !limits.contains(limit)));
        most_severe = most_severe.or(Some(finding));
    }
    subjects.extend(limits);
    Some(Stop {
        verdict: question.verdict,
        reason: reason(most_severe?, question),
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

/// Whether an action runs under any contract: it only reads, or runs tests.
pub(super) fn is_never_stopped(action: &ActionSketch, root: Option<&str>) -> bool {
    let action = AnalyzedAction::new(&ProjectRoot::new(root), action);
    is_harmless(&action) && !action.has_known_effect()
}

/// Whether an action runs tests: scripts of the project that run with them may do more.
pub(super) fn runs_tests(action: &ActionSketch) -> bool {
    action.effects.contains(&EffectKind::Test)
}

/// Whether the action only reads or runs tests.
fn is_harmless(action: &AnalyzedAction<'_>) -> bool {
    let effects = &action.sketch.effects;
    let tests = |effect: &EffectKind| matches!(effect, EffectKind::Read | EffectKind::Test);
    !action.needs_rules()
        && (action.is_read_only()
            || !effects.is_empty() && !action.is_partially_analyzed() && effects.iter().all(tests))
}

/// The findings against an action, the most severe first.
fn findings(question: &Question<'_>, contract: &GoalContract) -> Vec<Finding> {
    let mut rules = Rules::new(contract.clone(), question.root);
    if is_harmless(&AnalyzedAction::new(
        &ProjectRoot::new(question.root),
        question.action,
    )) {
        // Tests run under any contract that does not forbid them; what else runs with them is judged as a script.
        let mut found = rules.assess_scripts(question.scripts, question.past.is_none());
        found.extend(rules.effect_questions(question.action));
        found.retain(|finding| finding.rule.is_hard() && finding.at_most < OFF_GOAL_BELOW);
        found.sort_by_key(|finding| finding.at_most);
        return found;
    }
    for consent in question.consents {
        rules.record_consent(consent);
    }
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
        rules.assess(&change_directory(directory), None);
    }
    // Only facts count, as for a subagent.
    let questions = rules.questions(question.action, question.past.is_none());
    let assessment = match question.past {
        Some(_) => rules.assess_subagent(question.action),
        None => rules.assess_without_history(question.action),
    };
    let mut found = assessment.findings;
    found.extend(rules.assess_scripts(question.scripts, question.past.is_none()));
    // Going back on what was objected to is no new offence, also by the words of the constraint.
    let is_revert = question.past.is_some() && !rules.reverted_files().is_empty();
    if !is_revert {
        found.extend(questions);
    }
    found.retain(|finding| finding.rule.is_hard() && finding.at_most < OFF_GOAL_BELOW);
    found.sort_by_key(|finding| finding.at_most);
    found
}

/// The command that changes to a folder.
fn change_directory(directory: &str) -> ActionSketch {
    let quote = if directory.contains('\'') { '"' } else { '\'' };
    ActionSketch {
        command: Some(format!("cd {quote}{directory}{quote}")),
        effects: vec![EffectKind::Execute],
        ..ActionSketch::empty(ActionType::Bash)
    }
}

/// The subject of a finding: the key under which the user's approval is stored.
fn subject(
    finding: &Finding,
    action: &AnalyzedAction<'_>,
    root: &ProjectRoot,
    scripts: &[RunScript],
) -> String {
    match FindingSubject::of(finding, action, root) {
        FindingSubject::File { place, removes: true } => format!("removal of {place}"),
        FindingSubject::File { place, .. } => format!("change of {place}"),
        FindingSubject::Words { by, words, verbs } => {
            let violation = by.map_or("", Breach::as_str);
            let git = if verbs.is_empty() { "" } else { "git" };
            let verbs = verbs.join(", ");
            let words = words.trim_end_matches(['.', ';']);
            one_line(
                &format!("{violation} against \"{words}\" {git} {verbs}"),
                usize::MAX,
            )
        }
        FindingSubject::Command(command) => format!("command {}", command_key(command)),
        // A script that was edited since is another program.
        FindingSubject::Invocation(invocation) if !scripts.is_empty() => format!(
            "program {} with scripts {:016x}",
            command_key(invocation),
            hash_of(scripts)
        ),
        FindingSubject::Invocation(invocation) => format!("program {}", command_key(invocation)),
    }
}

/// A hash of the texts of scripts.
fn hash_of(scripts: &[RunScript]) -> u64 {
    let mut hash = Xxh3::new();
    for script in scripts {
        hash.update(script.path.as_bytes());
        hash.update(script.text.as_bytes());
    }
    hash.digest()
}

/// The line of a subject that names what a change goes against beside the file, redacted.
fn limit_line(limit: LimitOnFiles<'_>) -> String {
    let line = match limit {
        LimitOnFiles::Words { words, removes: true } => format!("removal against \"{words}\""),
        LimitOnFiles::Words { words, .. } => format!("change against \"{words}\""),
        LimitOnFiles::Folder(folder) => format!("change in {folder}"),
        LimitOnFiles::Machine(machine) => format!("change on {machine}"),
    };
    let line = one_line(&line, usize::MAX);
    Redactor::shared().redact(&line).into_owned()
}

/// Whether the user permitted so many such changes that the limit no longer holds.
fn is_overruled(limit: &str, allowed: &[String]) -> bool {
    let permits = |subject: &&String| subject.lines().any(|line| line == limit);
    allowed.iter().filter(permits).count() >= OVERRULED
}

/// A redacted key of a command. Redact before truncating: a fragment of a secret is not recognized.
fn command_key(command: &str) -> String {
    let command = one_line(command, usize::MAX);
    let safe = Redactor::shared().redact(&command);
    if safe.len() <= MAX_COMMAND_BYTES {
        return safe.into_owned();
    }
    let beginning = beginning_to(&safe, safe.floor_char_boundary(MAX_COMMAND_BYTES));
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
    let asked = match one_line(question.contract.current_instruction(), MAX_INSTRUCTION_CHARS) {
        asked if asked.is_empty() => String::new(),
        asked => format!(" The task: \"{}\".", asked.trim_end_matches('.')),
    };
    let how = match finding.file.as_deref().filter(|file| is_lifted(file, question)) {
        Some(file) => format!(
            "The user can allow it: grov goal allow {}",
            shell_word(&path_from_directory(file, question))
        ),
        None => "If the user wants it, they can say so in a prompt, or do it themselves.".to_owned(),
    };
    one_line(&format!("Grov: {what}.{asked} {how}"), MAX_REASON_CHARS)
}

/// A file's path as the user must type it in the session's working directory.
fn path_from_directory<'a>(file: &'a str, question: &Question<'_>) -> Cow<'a, str> {
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

/// A text on one line, truncated to `max` characters.
fn one_line(text: &str, max: usize) -> String {
    let words: Vec<&str> = text
        .split(|letter: char| letter.is_whitespace() || letter.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    let line = words.join(" ");
    let beginning = beginning_of(&line, max);
    if beginning.len() < line.len() {
        format!("{beginning}…")
    } else {
        line
    }
}

#[cfg(test)]
mod tests;

//! The subject of a finding: what the user permits by saying yes.

use crate::analyzed_action::AnalyzedAction;
use crate::history::{call_hash, command_hash};
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use grov_domain::{ActionType, Breach, Finding, Rule};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The maximum number of kept permissions; the oldest are dropped.
const MAX_GRANTS: usize = 256;

/// The subject of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FindingSubject<'a> {
    /// A change of a file, or its removal, which is asked about separately.
    File {
        /// The normalised path.
        place: String,
        /// It is removed or moved.
        removes: bool,
    },
    /// A constraint in words. Once permitted, it no longer holds.
    Words {
        /// How it is violated, if known.
        by: Option<Breach>,
        /// The constraint, or else the whole reason.
        words: &'a str,
        /// The Git commands that violate it, if any: permission to commit is not permission to push.
        verbs: Vec<String>,
    },
    /// This exact command.
    Command(&'a str),
    /// This program with these arguments, in any command line.
    Invocation(&'a str),
}

impl<'a> FindingSubject<'a> {
    /// The subject of a finding for an action.
    pub fn of(finding: &'a Finding, action: &AnalyzedAction<'a>, root: &ProjectRoot) -> Self {
        match (&finding.file, &action.sketch.command) {
            (Some(file), _) => Self::File {
                place: NormalizedPath::new(root, file).as_str().to_owned(),
                removes: action.removes,
            },
            (None, Some(command)) if finding.rule != Rule::Constraint => match &finding.invocation {
                Some(invocation) => Self::Invocation(invocation),
                None => Self::Command(command),
            },
            (None, _) => {
                let broken = finding.broken.as_ref();
                Self::Words {
                    by: broken.map(|broken| broken.by),
                    words: broken.map_or(&finding.reason, |broken| &broken.words),
                    verbs: git_verbs(action),
                }
            }
        }
    }

    /// What a change of a file goes against, beside the file itself. It no longer holds once the user permitted [`OVERRULED`] such
    /// changes.
    pub fn limit_of(finding: &'a Finding, action: &AnalyzedAction<'_>) -> Option<LimitOnFiles<'a>> {
        if let Some(machine) = &finding.machine {
            return Some(LimitOnFiles::Machine(machine));
        }
        let file = finding.file.as_deref()?;
        if let Some(broken) = &finding.broken {
            return Some(LimitOnFiles::Words {
                words: broken.words.trim_end_matches(['.', ';']),
                removes: action.removes,
            });
        }
        // A command may replace what cannot be brought back.
        let is_edit = matches!(action.sketch.action_type, ActionType::Edit | ActionType::Write);
        let folder = project_folder(file).filter(|_| finding.rule == Rule::Danger && is_edit)?;
        Some(LimitOnFiles::Folder(folder))
    }

    fn grant_key(&self, action: &AnalyzedAction<'_>) -> u64 {
        let mut hasher = DefaultHasher::new();
        match self {
            Self::Command(_) => ("command", command_hash(action)).hash(&mut hasher),
            other => other.hash(&mut hasher),
        }
        hasher.finish()
    }
}

/// The number of permitted changes of files after which a limit no longer holds: the user did not mean it so.
pub const OVERRULED: usize = 2;

/// What a change of a file goes against, and other changes do, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitOnFiles<'a> {
    /// A constraint.
    Words {
        /// Its words.
        words: &'a str,
        /// The file is removed, which is more than a change.
        removes: bool,
    },
    /// A folder of the project whose files are protected, such as `.claude/hooks`.
    Folder(&'a str),
    /// Another machine.
    Machine(&'a str),
}

impl LimitOnFiles<'_> {
    fn grant_key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        match self {
            Self::Words { words, removes } => ("limit", words, removes).hash(&mut hasher),
            Self::Folder(folder) => ("folder", folder).hash(&mut hasher),
            Self::Machine(machine) => ("machine", machine).hash(&mut hasher),
        }
        hasher.finish()
    }
}

/// The folder of a file in the project; `None` for files elsewhere and at the root of the project.
fn project_folder(file: &str) -> Option<&str> {
    let is_elsewhere =
        file.starts_with(['/', '~', '$']) || file.contains([':', '\\']) || file.starts_with("..");
    let (folder, _) = file.rsplit_once('/').filter(|_| !is_elsewhere)?;
    Some(folder)
}

/// The Git commands of an action that neither read nor stage, sorted.
fn git_verbs(action: &AnalyzedAction<'_>) -> Vec<String> {
    #[rustfmt::skip]
    const LOOKS: &[&str] = &[
        "", "add", "diff", "fetch", "log", "ls-files", "remote", "rev-parse", "show", "status",
    ];
    let verbs = action.programs().iter().map(|command| command.git().0);
    let mut verbs: Vec<String> = verbs
        .filter(|verb| !LOOKS.contains(verb))
        .map(str::to_owned)
        .collect();
    verbs.sort_unstable();
    verbs.dedup();
    verbs
}

/// Findings that the user permitted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Grants(VecDeque<Grant>);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Grant {
    subject: u64,
    call: Option<u64>,
}

impl Grants {
    /// Records that the user permitted an action with these findings.
    pub(super) fn add(
        &mut self,
        facts: &[Finding],
        action: &AnalyzedAction<'_>,
        root: &ProjectRoot,
        call: Option<&str>,
    ) {
        let subjects = facts
            .iter()
            .map(|finding| FindingSubject::of(finding, action, root).grant_key(action));
        let mut limits: Vec<u64> = limits_of(facts, action).map(|limit| limit.grant_key()).collect();
        // One call counts once.
        limits.sort_unstable();
        limits.dedup();
        for subject in subjects.chain(limits) {
            if self.0.len() >= MAX_GRANTS {
                self.0.pop_front();
            }
            self.0.push_back(Grant {
                subject,
                call: call.map(call_hash),
            });
        }
    }

    /// Removes the permissions of a call that did not run.
    pub(super) fn withdraw(&mut self, call: &str) {
        let call = call_hash(call);
        self.0.retain(|grant| grant.call != Some(call));
    }

    /// Removes permitted findings.
    pub(super) fn remove_from(
        &self,
        found: &mut Vec<Finding>,
        action: &AnalyzedAction<'_>,
        root: &ProjectRoot,
    ) {
        if self.0.is_empty() {
            return;
        }
        let count = |key: u64| self.0.iter().filter(|grant| grant.subject == key).count();
        found.retain(|finding| {
            let limit = FindingSubject::limit_of(finding, action);
            count(FindingSubject::of(finding, action, root).grant_key(action)) == 0
                && limit.is_none_or(|limit| count(limit.grant_key()) < OVERRULED)
        });
    }
}

fn limits_of<'a>(
    facts: &'a [Finding],
    action: &'a AnalyzedAction<'_>,
) -> impl Iterator<Item = LimitOnFiles<'a>> {
    facts
        .iter()
        .filter_map(|finding| FindingSubject::limit_of(finding, action))
}

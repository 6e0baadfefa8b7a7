//! What a finding is about: what somebody allows who says yes when asked.

use crate::analyzed_action::AnalyzedAction;
use crate::history::{call_hash, command_hash};
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use grov_domain::{Finding, Rule};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Yeses that are kept, the newest.
const MOST: usize = 256;

/// What a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FindingSubject<'a> {
    /// A change of a file or, which is asked about apart, its removal.
    File {
        /// The file in the one spelling that is compared.
        place: String,
        /// It is removed or moved.
        removes: bool,
    },
    /// What was forbidden in words. Done once, it is forbidden no longer.
    Words {
        /// The words.
        words: &'a str,
        /// What Git is told to do against them, if it is Git: a yes to a commit is none to a push.
        verbs: Vec<String>,
    },
    /// This very command.
    Command(&'a str),
}

impl<'a> FindingSubject<'a> {
    /// The subject of what was found of a action.
    pub fn of(finding: &'a Finding, action: &AnalyzedAction<'a>, root: &ProjectRoot) -> Self {
        match (&finding.file, &action.sketch.command) {
            (Some(file), _) => Self::File {
                place: NormalizedPath::new(root, file).as_str().to_owned(),
                removes: action.removes,
            },
            (None, Some(command)) if finding.rule != Rule::Constraint => Self::Command(command),
            (None, _) => Self::Words {
                words: &finding.reason,
                verbs: git_verbs(action),
            },
        }
    }

    fn known_by(&self, action: &AnalyzedAction<'_>) -> u64 {
        let mut hasher = DefaultHasher::new();
        match self {
            Self::Command(_) => ("command", command_hash(action)).hash(&mut hasher),
            other => other.hash(&mut hasher),
        }
        hasher.finish()
    }
}

/// What Git is told to do beside looking and preparing, in one order.
fn git_verbs(action: &AnalyzedAction<'_>) -> Vec<String> {
    const LOOKS: &[&str] = &[
        "",
        "add",
        "diff",
        "fetch",
        "log",
        "ls-files",
        "remote",
        "rev-parse",
        "show",
        "status",
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

/// What the user said yes to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Grants(VecDeque<Grant>);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Grant {
    subject: u64,
    call: Option<u64>,
}

impl Grants {
    /// The user said yes to an action of which this was found.
    pub(super) fn add(
        &mut self,
        facts: &[Finding],
        action: &AnalyzedAction<'_>,
        root: &ProjectRoot,
        call: Option<&str>,
    ) {
        for finding in facts {
            if self.0.len() >= MOST {
                self.0.pop_front();
            }
            self.0.push_back(Grant {
                subject: FindingSubject::of(finding, action, root).known_by(action),
                call: call.map(call_hash),
            });
        }
    }

    /// The call did not run after all.
    pub(super) fn withdraw(&mut self, call: &str) {
        let call = call_hash(call);
        self.0.retain(|grant| grant.call != Some(call));
    }

    /// Leaves out what the user said yes to.
    pub(super) fn remove_from(
        &self,
        found: &mut Vec<Finding>,
        action: &AnalyzedAction<'_>,
        root: &ProjectRoot,
    ) {
        if self.0.is_empty() {
            return;
        }
        found.retain(|finding| {
            let subject = FindingSubject::of(finding, action, root).known_by(action);
            !self.0.iter().any(|grant| grant.subject == subject)
        });
    }
}

//! The goal contract, compiled once so that actions are compared quickly.

mod lazy_request;
mod request_words;

use crate::constraints::{ConstraintAges, Constraints};
use crate::danger::AskedActions;
use crate::names::{named, paths};
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use crate::pattern::Pattern;
use grov_domain::GoalContract;
pub(crate) use lazy_request::LazyRequest;
pub use request_words::asks_to_act;
pub(crate) use request_words::{MAIN_POINT, RequestWords};

/// Only the first entries of a list count.
const MAX_ENTRIES: usize = 200;

/// The number of newest instructions that count, and the bytes of each.
const MAX_INSTRUCTIONS: usize = 20;
const MAX_BYTES: usize = 16 * 1024;

/// A compiled contract.
#[derive(Clone, Debug, Default)]
pub(crate) struct CompiledContract {
    allowed: Vec<Pattern>,
    forbidden: Vec<Pattern>,
    /// Paths that the work is expected to touch; empty if none were given.
    pub(crate) scope: Vec<Pattern>,
    /// Paths that the user named in the goal or in an instruction.
    pub(crate) named: Vec<Pattern>,
    /// Files that the user named without an ending.
    informal: Vec<Pattern>,
    /// Paths named in the agent's proposals that the user accepted.
    agreed: Vec<Pattern>,
    pub(crate) limits: Constraints,
    /// The dangerous actions that the user asks for, as a model reads them.
    pub(crate) asked: AskedActions,
    /// The words of the request.
    pub(crate) request: LazyRequest,
}

impl CompiledContract {
    /// Compiles a contract. Relative paths are resolved against `root`. Accepted proposals count as requested and forbid
    /// nothing.
    pub(crate) fn new(
        root: &ProjectRoot,
        contract: &GoalContract,
        consents: &[String],
        since: &ConstraintAges,
    ) -> Self {
        let patterns = |entries: &[String]| -> Vec<Pattern> {
            entries
                .iter()
                .take(MAX_ENTRIES)
                .map(|entry| Pattern::new(root, entry))
                .collect()
        };
        let newest_first = contract.instructions.iter().rev().take(MAX_INSTRUCTIONS);
        let texts: Vec<&str> = std::iter::once(&contract.goal)
            .chain(newest_first)
            .map(|text| bounded(text))
            .collect();
        let mut names = patterns_in(root, texts.iter().copied());
        let agreed = patterns_in(root, consents.iter().map(String::as_str));
        let limits = Constraints::new(root, contract, consents, since);
        names.extend(agreed.iter().cloned());
        let informal = texts.iter().flat_map(|text| conventional_names(text));
        let informal = informal.map(|name| Pattern::new(root, &name)).collect();
        Self {
            allowed: patterns(&contract.allowed),
            forbidden: patterns(&contract.forbidden),
            scope: patterns(&contract.scope),
            named: names,
            informal,
            agreed,
            limits,
            asked: AskedActions::new(root, contract.reading.as_ref().map_or(&[], |read| &read.asked)),
            request: LazyRequest::new(&texts, consents),
        }
    }

    /// Whether the user allowed a path. Rules about paths then do not apply.
    pub(crate) fn is_allowed(&self, place: &NormalizedPath) -> bool {
        self.allowed.iter().any(|pattern| pattern.covers(place))
    }

    /// The entry that forbids a path.
    pub(crate) fn forbids(&self, place: &NormalizedPath) -> Option<&str> {
        let pattern = self.forbidden.iter().find(|pattern| pattern.covers(place))?;
        (!self.is_allowed(place)).then_some(pattern.text())
    }

    /// Whether the user named the path.
    pub(crate) fn is_named(&self, place: &NormalizedPath) -> bool {
        self.named.iter().any(|pattern| pattern.expects(place))
    }

    /// Whether the user mentioned the file without an ending, which ties it to the work and permits nothing.
    pub(crate) fn is_mentioned(&self, place: &NormalizedPath) -> bool {
        self.informal.iter().any(|pattern| pattern.expects(place))
    }

    /// Whether the user named a folder, or a path with its folder, that covers the path.
    pub(crate) fn is_in_named_folder(&self, place: &NormalizedPath) -> bool {
        let mut folders = self.named.iter().filter(|pattern| pattern.text().contains('/'));
        folders.any(|pattern| pattern.covers(place))
    }

    /// Whether the user accepted a proposal of the agent that names the path.
    pub(crate) fn is_agreed(&self, place: &NormalizedPath) -> bool {
        self.agreed.iter().any(|pattern| pattern.expects(place))
    }

    /// Whether the path is in the expected scope.
    pub(crate) fn is_in_scope(&self, place: &NormalizedPath) -> bool {
        self.scope.iter().any(|pattern| pattern.expects(place))
    }
}

/// The paths and identifiers that texts name.
fn patterns_in<'a>(root: &ProjectRoot, texts: impl Iterator<Item = &'a str>) -> Vec<Pattern> {
    let mut names = Vec::new();
    for text in texts {
        let mut entries = paths(text);
        named(text, &mut entries);
        names.extend(entries.iter().map(|entry| Pattern::new(root, entry)));
    }
    names.truncate(MAX_ENTRIES);
    names
}

/// Files that people name without an ending: "don't forget the readme".
const CONVENTIONAL: &[&str] = &[
    "brewfile",
    "changelog",
    "codeowners",
    "contributing",
    "dockerfile",
    "gemfile",
    "jenkinsfile",
    "justfile",
    "license",
    "makefile",
    "podfile",
    "procfile",
    "rakefile",
    "readme",
    "vagrantfile",
];

fn conventional_names(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words
        .map(str::to_lowercase)
        .filter(|word| CONVENTIONAL.contains(&word.as_str()))
}

fn bounded(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_BYTES)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allowing_beats_forbidding() {
        let root = ProjectRoot::new(Some("/home/me/p"));
        let contract = GoalContract {
            allowed: vec!["src/auth/a.rs".to_owned()],
            forbidden: vec!["src/auth/**".to_owned()],
            ..GoalContract::default()
        };
        let compiled = CompiledContract::new(&root, &contract, &[], &ConstraintAges::default());
        let place = |path: &str| NormalizedPath::new(&root, path);
        assert_eq!(
            compiled.forbids(&place("/home/me/p/src/auth/b.rs")),
            Some("src/auth/**")
        );
        assert_eq!(compiled.forbids(&place("src/auth/a.rs")), None);
        assert!(compiled.is_allowed(&place("src/auth/a.rs")));
    }

    #[test]
    fn files_are_named_without_their_ending() {
        let root = ProjectRoot::new(Some("/home/me/p"));
        let contract = GoalContract {
            instructions: vec!["Readme nicht vergessen, und das Dockerfile".to_owned()],
            ..GoalContract::default()
        };
        let compiled = CompiledContract::new(&root, &contract, &[], &ConstraintAges::default());
        for file in ["README.md", "docs/readme.rst", "Dockerfile"] {
            assert!(compiled.is_mentioned(&NormalizedPath::new(&root, file)), "{file}");
        }
        assert!(!compiled.is_mentioned(&NormalizedPath::new(&root, "CHANGELOG.md")));
        assert!(!compiled.is_named(&NormalizedPath::new(&root, "README.md")));
    }

    #[test]
    fn what_is_negated_is_not_requested() {
        let request = |text: &str| RequestWords::new(vec![text], &[]);
        for text in [
            "Skip the flaky test",
            "don't change the code, skip the test",
            "No rush. Skip it",
            "跳过这个测试",
            "skip the slow ones but don't skip the fast ones",
        ] {
            assert!(request(text).requests_any(&["skip", "跳过"]), "{text}");
        }
        for text in [
            "Get the tests green, don't skip any",
            "without skipping tests",
            "never ever just skip a test",
            "不要跳过测试",
            "Fix the tests",
            "fix offset",
        ] {
            assert!(!request(text).requests_any(&["skip", "跳过", "off."]), "{text}");
        }
        assert!(request("turn it off").requests_any(&["off."]));
    }

    #[test]
    fn what_the_user_named_is_known() {
        let root = ProjectRoot::default();
        let contract = GoalContract {
            goal: "Make UserStore faster".to_owned(),
            instructions: vec!["look at `src/db/*.rs` too".to_owned(), "go on".to_owned()],
            ..GoalContract::default()
        };
        let compiled = CompiledContract::new(&root, &contract, &[], &ConstraintAges::default());
        assert!(compiled.is_named(&NormalizedPath::new(&root, "lib/UserStore.ts")));
        assert!(compiled.is_named(&NormalizedPath::new(&root, "src/db/pool.rs")));
        assert!(!compiled.is_named(&NormalizedPath::new(&root, "src/web.rs")));
        assert!(compiled.request.mentions_any(&["fast"]) && !compiled.request.mentions_any(&["publish"]));
    }
}

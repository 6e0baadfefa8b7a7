//! Dangerous actions that the user asks for, as a model reads them. The guard does not ask about them.

use crate::model_pattern::{self, MAX_COMMAND, ORDINARY_COMMANDS};
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use crate::pattern::Pattern;
use grov_domain::{Program, ReadRequest};

/// The most requests that count.
const MAX_REQUESTS: usize = 8;

/// Dangerous commands of different kinds. A pattern that matches several is no request for one of them.
const UNRELATED: &[&str] = &[
    "rm -rf src",
    "git push origin main",
    "git reset --hard HEAD~3",
    "npm publish",
    "kubectl delete namespace shop",
    "psql -c DROP TABLE orders",
    "terraform destroy",
    "docker volume rm data",
];
/// The most of [`UNRELATED`] that a pattern may match: its own kind.
const OF_ONE_KIND: usize = 1;

/// What the user asks for, by the files that it removes and the commands that do it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AskedActions {
    files: Vec<Pattern>,
    commands: Vec<String>,
}

impl AskedActions {
    pub(crate) fn new(root: &ProjectRoot, read: &[ReadRequest]) -> Self {
        let read = || read.iter().take(MAX_REQUESTS);
        let files = read().flat_map(|request| &request.files);
        let commands = read().flat_map(|request| &request.commands);
        Self {
            files: files
                .filter(|glob| names_something(glob))
                // With what is in a folder, the folder itself.
                .map(|glob| Pattern::new(root, glob.trim_end_matches("/**")))
                .collect(),
            commands: commands.cloned().collect(),
        }
    }

    /// Whether the user wants this file removed or overwritten.
    pub(crate) fn is_file(&self, place: &NormalizedPath) -> bool {
        place.is_in_project() && self.files.iter().any(|glob| glob.covers(place))
    }

    /// Whether the user wants this command to run. `line` is the command line as written.
    pub(super) fn is_command(&self, command: &Program, line: &str) -> bool {
        if self.commands.is_empty() {
            return false;
        }
        let text = command.words().collect::<Vec<_>>().join(" ");
        // A command in another one is asked for with it: `ssh web1 systemctl restart nginx`.
        let whole = Some(line.trim()).filter(|line| is_single(line));
        let texts = std::iter::once(text.as_str()).chain(whole);
        let texts: Vec<&str> = texts
            .map(|text| &text[..text.floor_char_boundary(MAX_COMMAND)])
            .collect();
        let is_any = |pattern: &String| texts.iter().any(|text| any_matches(pattern, text));
        self.commands
            .iter()
            .any(|pattern| is_any(pattern) && is_of_one_kind(pattern))
    }
}

/// Whether a glob names at least one part of a path: `**` would permit anything.
fn names_something(glob: &str) -> bool {
    glob.split('/')
        .any(|part| part.chars().filter(|letter| letter.is_alphanumeric()).count() >= 2)
}

fn any_matches(pattern: &String, text: &str) -> bool {
    model_pattern::any_matches(std::slice::from_ref(pattern), &[text], ORDINARY_COMMANDS)
}

/// Whether a pattern matches dangerous commands of one kind only.
fn is_of_one_kind(pattern: &String) -> bool {
    UNRELATED.iter().filter(|text| any_matches(pattern, text)).count() <= OF_ONE_KIND
}

/// Whether a command line is a single command.
fn is_single(line: &str) -> bool {
    !line.contains([';', '|', '&', '\n', '`']) && !line.contains("$(")
}

#[cfg(test)]
mod tests {
    use crate::rules::Rules;
    use grov_domain::{ActionType, GoalContract, PromptReading, ReadRequest};

    fn asks(commands: &[&str], files: &[&str], run: &str) -> bool {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        let contract = GoalContract {
            goal: "Tidy the parser".to_owned(),
            reading: Some(PromptReading {
                asked: vec![ReadRequest {
                    words: "tidy".to_owned(),
                    files: owned(files),
                    commands: owned(commands),
                }],
                ..PromptReading::default()
            }),
            ..GoalContract::default()
        };
        let mut rules = Rules::new(contract, Some("/home/me/p"));
        let action = crate::analyzed_action::tests::bash(run);
        assert_eq!(action.action_type, ActionType::Bash);
        rules.assess_subagent(&action).score < 5
    }

    #[test]
    fn what_the_model_read_as_asked_for_is_no_question() {
        assert!(asks(&[], &[], "git push origin main"));
        assert!(!asks(
            &["^git push( origin)?( main)?$"],
            &[],
            "git push origin main"
        ));
        assert!(!asks(
            &["^git push\\b"],
            &[],
            "cargo test && git push origin main"
        ));
    }

    #[test]
    fn a_request_excuses_its_own_command_only() {
        let push: &[&str] = &["^git push( origin)?( main)?$"];
        assert!(asks(push, &[], "git push --force origin main"));
        assert!(asks(push, &[], "git push origin main && npm publish"));
        assert!(asks(push, &[], "npm publish # git push origin main"));
    }

    #[test]
    fn a_pattern_of_anything_excuses_nothing() {
        for pattern in [".*", "^\\w+ ", "push|publish|rm|delete", "(", ""] {
            assert!(asks(&[pattern], &[], "git push origin main"), "{pattern}");
        }
        assert!(asks(&[], &["**"], "rm -rf content"));
        assert!(!asks(&[], &["content/**"], "rm -rf content"));
    }

    #[test]
    fn what_cannot_be_undone_stays_a_question() {
        assert!(asks(&["^mkfs"], &[], "mkfs.ext4 /dev/sda1"));
        assert!(asks(&["^rm -rf /"], &["/**"], "rm -rf /"));
    }

    #[test]
    fn grov_itself_is_not_switched_off_by_request() {
        assert!(asks(&["^pkill grov"], &[], "pkill grov-proxyd"));
    }

    #[test]
    fn a_command_on_another_machine_is_asked_for_as_a_whole() {
        let restart: &[&str] = &["^ssh web1 .*restart nginx"];
        assert!(asks(&[], &[], "ssh web1 sudo systemctl restart nginx"));
        assert!(!asks(restart, &[], "ssh web1 sudo systemctl restart nginx"));
        assert!(asks(
            restart,
            &[],
            "ssh web1 sudo systemctl restart nginx; ssh web1 rm -rf /var/www"
        ));
    }
}

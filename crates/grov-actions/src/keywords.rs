//! Keywords of an action, and whether it carries a decision.

use crate::has_word;
use crate::path::file_name;
use grov_domain::{Action, ActionType, EffectKind};

/// The maximum number of keywords per action.
const MAX_KEYWORDS: usize = 32;

/// Words that occur in too many paths and commands to be useful.
const COMMON: &str = "src lib libs main mod index test tests spec the and for with from this that usr bin tmp home dev null \
    var etc run new get set true false echo cat grep head tail sed awk init http https www com";

/// Words for searching the action later: the stems of its files and their parts (`user_store`, `user`, `store`), the
/// folders that contain them, and the words of its command. Lower case, without duplicates, at most 32.
pub fn keywords(action: &Action) -> Vec<String> {
    let mut words = Keywords::default();
    for file in &action.files {
        let name = file_name(file);
        words.add_with_parts(
            name.split_once('.')
                .map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem }),
        );
    }
    for place in action.files.iter().chain(&action.folders) {
        let mut parts = place.rsplit(['/', '\\']);
        if action.files.contains(place) {
            parts.next();
        }
        parts.take(2).for_each(|folder| words.add(folder));
    }
    if let Some(command) = action
        .command
        .as_deref()
        .filter(|_| action.action_type != ActionType::Task)
    {
        const MAX_LOOKED_AT: usize = 2048;
        let command = &command[..command.floor_char_boundary(MAX_LOOKED_AT)];
        for word in command.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-'))) {
            words.add(word);
        }
    }
    words.0
}

#[derive(Default)]
struct Keywords(Vec<String>);

impl Keywords {
    /// Adds a word unless it is too short, too long, too common or an id.
    fn add(&mut self, word: &str) {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let length = word.chars().count();
        let is_useful = (3..=48).contains(&length)
            && word.chars().any(char::is_alphabetic)
            && !has_word(COMMON, &word)
            && !looks_like_an_id(&word);
        if is_useful && self.0.len() < MAX_KEYWORDS && !self.0.contains(&word) {
            self.0.push(word);
        }
    }

    /// Adds an identifier and its parts: `user_store`, `userStore`, `UserStore`.
    fn add_with_parts(&mut self, identifier: &str) {
        self.add(identifier);
        for part in identifier.split(|c: char| !c.is_alphanumeric()) {
            let mut start = 0;
            let letters: Vec<(usize, char)> = part.char_indices().collect();
            for pair in letters.windows(2) {
                let ((_, before), (at, c)) = (pair[0], pair[1]);
                if before.is_lowercase() && c.is_uppercase() {
                    self.add(&part[start..at]);
                    start = at;
                }
            }
            self.add(&part[start..]);
        }
    }
}

/// Whether the word is a hash or an id: mostly digits, or long and hexadecimal.
fn looks_like_an_id(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    digits * 2 > word.len()
        || word.len() >= 7 && digits > 0 && word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Shorter texts do not count as decisions, in characters. They announce the next step.
const MIN_REASONING: usize = 200;

/// Whether the action carries a decision: it changes files, or the assistant's text before it has more than 200
/// characters and mentions a choice or a reason (decided, instead, because, trade-off, chose, approach …).
pub fn is_key_decision(action: &Action, reasoning: Option<&str>) -> bool {
    changes_files(action) || reasoning.is_some_and(states_a_decision)
}

fn changes_files(action: &Action) -> bool {
    let changes = |kind: EffectKind| kind.changes_files() && kind != EffectKind::Permission;
    action.action_type.modifies_files()
        || action
            .effects
            .iter()
            .any(|effect| changes(effect.kind) && !effect.paths.is_empty())
}

fn states_a_decision(text: &str) -> bool {
    const DECISION_WORDS: &str = "decide decided decision decisions instead because tradeoff tradeoffs trade-off trade-offs chose \
        choose chosen choosing approach approaches rather opted prefer preferred therefore rationale \
        reason";
    text.chars().nth(MIN_REASONING).is_some()
        && text
            .split(|c: char| !(c.is_alphanumeric() || c == '-'))
            .any(|word| has_word(DECISION_WORDS, &word.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_domain::Effect;

    fn action(action_type: ActionType) -> Action {
        Action {
            tool: "T".into(),
            tool_use_id: None,
            action_type,
            files: Vec::new(),
            folders: Vec::new(),
            command: None,
            effects: Vec::new(),
            line: None,
            change: None,
        }
    }

    #[test]
    fn keywords_are_the_words_of_paths_and_commands() {
        let edit = Action {
            files: vec![
                "/home/me/grov/crates/store/src/user_store.rs".into(),
                "/w/UserProfile.test.tsx".into(),
                "/w/.gitignore".into(),
            ],
            ..action(ActionType::Edit)
        };
        assert_eq!(
            keywords(&edit),
            [
                "user_store",
                "user",
                "store",
                "userprofile",
                "profile",
                "gitignore"
            ]
        );
        let bash = Action {
            command: Some(
                "cargo nextest run -p grov-wire 3f2a9bc1 && git commit -m 'Fix the SSE codec'".into(),
            ),
            ..action(ActionType::Bash)
        };
        assert_eq!(
            keywords(&bash),
            [
                "cargo",
                "nextest",
                "grov-wire",
                "git",
                "commit",
                "fix",
                "sse",
                "codec"
            ]
        );
    }

    #[test]
    fn the_number_of_keywords_is_limited() {
        let words: Vec<String> = (0..500)
            .map(|n| format!("word{}", "x".repeat(n % 40) + &n.to_string()))
            .collect();
        let bash = Action {
            command: Some(words.join(" ")),
            ..action(ActionType::Bash)
        };
        assert_eq!(keywords(&bash).len(), MAX_KEYWORDS);
    }

    #[test]
    fn changing_files_is_a_decision() {
        assert!(is_key_decision(&action(ActionType::Edit), None));
        assert!(is_key_decision(&action(ActionType::Write), Some("ok")));
        assert!(!is_key_decision(&action(ActionType::Read), None));
        let with = |kind, paths: &[&str]| Action {
            effects: vec![Effect {
                kind,
                paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            }],
            ..action(ActionType::Bash)
        };
        assert!(is_key_decision(&with(EffectKind::Delete, &["/w/a"]), None));
        assert!(!is_key_decision(&with(EffectKind::Read, &["/w/a"]), None));
        assert!(!is_key_decision(&with(EffectKind::Write, &[]), None));
    }

    #[test]
    fn a_long_text_that_states_a_choice_is_a_decision() {
        let padding = "I looked at the files and at the tests. ".repeat(6);
        let read = action(ActionType::Read);
        assert!(is_key_decision(
            &read,
            Some(&format!("{padding}I chose BTreeMap, a trade-off."))
        ));
        assert!(is_key_decision(
            &read,
            Some(&format!("{padding}Instead of a lock, a channel."))
        ));
        assert!(!is_key_decision(&read, Some(&padding)));
        assert!(
            !is_key_decision(&read, Some("I decided.")),
            "short text announces"
        );
        assert!(
            !is_key_decision(&read, Some(&format!("{padding} An approachable text."))),
            "whole words only"
        );
    }
}

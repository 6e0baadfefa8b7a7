//! Limits as a model reads them: globs of files, and patterns of commands and of lines.
//!
//! What they find is an interpretation: the guard asks about it, and the agent gets one correction.

use super::named::{Change, looks};
use crate::analyzed_action::AnalyzedAction;
use crate::file_kind::is_temporary;
use crate::model_pattern::{self, MAX_COMMAND, MAX_LINE, MAX_LINES, ORDINARY_COMMANDS, ORDINARY_LINES};
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use crate::pattern::Pattern;
use crate::words::words;
use grov_domain::ReadLimit;

/// Globs of everything.
const EVERYTHING: &[&str] = &["*", "**", "**/*", ".", "./**"];

/// Two texts are about the same limit if they share this part of the shorter one's words.
const SAME: f64 = 0.6;

/// A limit with its globs; patterns are compiled when they are needed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LimitByModel {
    /// The user's words.
    pub(super) words: String,
    files: Vec<Pattern>,
    only: Vec<Pattern>,
    except: Vec<Pattern>,
    commands: Vec<String>,
    adds: Vec<String>,
    removes: Vec<String>,
}

impl LimitByModel {
    pub(super) fn new(root: &ProjectRoot, read: &ReadLimit) -> Self {
        let globs = |globs: &[String]| globs.iter().map(|glob| Pattern::new(root, glob)).collect();
        Self {
            words: read.words.clone(),
            files: globs(&read.files),
            only: globs(&read.only),
            except: globs(&read.except),
            commands: read.commands.clone(),
            adds: read.adds.clone(),
            removes: read.removes.clone(),
        }
    }

    /// Whether an action breaks it.
    pub(super) fn is_broken_by(&self, action: &AnalyzedAction<'_>, change: &Change<'_>) -> bool {
        change.places().iter().any(|place| self.forbids(place))
            || self.is_run(action)
            || model_pattern::any_matches(&self.adds, &bounded(&change.added_lines()), ORDINARY_LINES)
            || model_pattern::any_matches(&self.removes, &bounded(&change.removed_lines()), ORDINARY_LINES)
    }

    fn forbids(&self, place: &NormalizedPath) -> bool {
        let is_in = |globs: &[Pattern]| globs.iter().any(|glob| glob.covers(place));
        place.is_in_project()
            && !is_temporary(place)
            && !is_in(&self.except)
            && (is_in(&self.files) || !self.only.is_empty() && !is_in(&self.only))
    }

    /// Whether it is about the limit with these words.
    pub(super) fn is_about(&self, text: &str) -> bool {
        let (own, other) = (distinct(&self.words), distinct(text));
        let shared = own.iter().filter(|word| other.contains(word)).count();
        let least = own.len().min(other.len());
        self.words.contains(text)
            || !self.words.is_empty() && text.contains(self.words.as_str())
            || least > 0 && shared as f64 >= SAME * least as f64
    }

    /// Whether it tells the files that must not change.
    pub(super) fn tells_places(&self) -> bool {
        !self.files.is_empty() || !self.only.is_empty()
    }

    /// Whether one of its globs is about a path that the user wrote.
    pub(super) fn tells_place(&self, root: &ProjectRoot, path: &Pattern) -> bool {
        let (own, below) = (path.text(), format!("{}/x", path.text().trim_end_matches('/')));
        let places = [own, below.as_str()].map(|text| NormalizedPath::new(root, text));
        let mut globs = self.files.iter().chain(&self.only).chain(&self.except);
        globs.any(|glob| {
            places.iter().any(|place| glob.covers(place))
                || path.covers(&NormalizedPath::new(root, glob.text()))
        })
    }

    /// Whether it tells files, commands or lines that break it.
    pub(super) fn tells_anything(&self) -> bool {
        let mut patterns = self.adds.iter().chain(&self.removes).chain(&self.commands);
        self.tells_places() || patterns.any(|pattern| model_pattern::compiled(pattern).is_some())
    }

    /// Whether it forbids any change of files.
    pub(super) fn forbids_everything(&self) -> bool {
        let is_all = |glob: &Pattern| EVERYTHING.contains(&glob.text());
        self.files.iter().any(is_all)
    }

    /// Whether a command is one of those that break it, and does not only look.
    fn is_run(&self, action: &AnalyzedAction<'_>) -> bool {
        let Some(command) = action
            .sketch
            .command
            .as_deref()
            .filter(|_| !self.commands.is_empty())
        else {
            return false;
        };
        let only_looks = !action.programs().is_empty() && action.programs().iter().all(looks);
        let command = &command[..command.floor_char_boundary(MAX_COMMAND)];
        !only_looks && model_pattern::any_matches(&self.commands, &[command], ORDINARY_COMMANDS)
    }
}

fn distinct(text: &str) -> Vec<String> {
    let mut found: Vec<String> = words(text).into_iter().map(|word| word.folded).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The beginnings of lines, as far as they are searched.
fn bounded<'t>(lines: &[&'t str]) -> Vec<&'t str> {
    let mut left = MAX_LINES;
    let beginnings = lines
        .iter()
        .map(|line| &line[..line.floor_char_boundary(MAX_LINE)]);
    beginnings
        .take_while(|line| {
            let fits = line.len() < left;
            left = left.saturating_sub(line.len() + 1);
            fits
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyzed_action::tests::{bash, replacement};
    use crate::constraints::command_effects::implied_changes;
    use grov_domain::ActionSketch;

    fn breaks(read: &ReadLimit, sketch: &ActionSketch) -> bool {
        let root = ProjectRoot::new(Some("/home/me/p"));
        let action = AnalyzedAction::new(&root, sketch);
        let implied = implied_changes(&root, &action);
        let mut change = Change::of(&action);
        change.add_places(implied.iter().map(|(place, _)| place));
        LimitByModel::new(&root, read).is_broken_by(&action, &change)
    }

    fn texts(all: &[&str]) -> Vec<String> {
        all.iter().map(|text| (*text).to_owned()).collect()
    }

    fn edit(file: &str, before: &str, after: &str) -> ActionSketch {
        ActionSketch {
            content: Some(after.to_owned()),
            ..replacement(file, before, after)
        }
    }

    #[test]
    fn files_are_forbidden_spared_and_confined() {
        let read = ReadLimit {
            files: texts(&["**/templates/**"]),
            except: texts(&["**/templates/new/**"]),
            ..ReadLimit::default()
        };
        assert!(breaks(&read, &edit("app/templates/a.html", "a", "b")));
        assert!(breaks(&read, &bash("sed -i 's/a/b/' app/templates/a.html")));
        assert!(breaks(&read, &bash("rm app/templates/a.html")));
        assert!(!breaks(&read, &bash("cat app/templates/a.html")));
        assert!(!breaks(&read, &edit("app/templates/new/a.html", "a", "b")));
        assert!(!breaks(&read, &edit("app/mail.py", "a", "b")));
        let only = ReadLimit {
            only: texts(&["web/theme/**"]),
            ..ReadLimit::default()
        };
        assert!(breaks(&only, &edit("web/search/a.js", "a", "b")));
        assert!(!breaks(&only, &edit("web/theme/a.css", "a", "b")));
        assert!(!breaks(&only, &edit("/tmp/notes.md", "a", "b")));
    }

    #[test]
    fn commands_are_searched_and_looking_breaks_nothing() {
        let read = ReadLimit {
            commands: texts(&[r"\bnpm (i|install|add) +[a-z@]", r"\bterraform\b"]),
            ..ReadLimit::default()
        };
        assert!(breaks(&read, &bash("cd web && npm i lodash")));
        assert!(!breaks(&read, &bash("npm install")));
        assert!(breaks(&read, &bash("terraform apply")));
    }

    #[test]
    fn added_and_removed_lines_are_searched_and_lines_that_stay_are_not() {
        let read = ReadLimit {
            adds: texts(&[r"\bunsafe\b"]),
            removes: texts(&["DeprecationWarning"]),
            ..ReadLimit::default()
        };
        assert!(breaks(
            &read,
            &edit("src/a.rs", "let a = 1;", "let a = unsafe { b() };")
        ));
        assert!(!breaks(
            &read,
            &edit("src/a.rs", "unsafe { b() }\nx", "unsafe { b() }\ny")
        ));
        assert!(breaks(&read, &edit("a.py", "warn(DeprecationWarning)", "")));
        assert!(!breaks(&read, &edit("a.py", "x = 1", "warn(DeprecationWarning)")));
    }

    #[test]
    fn patterns_that_are_none_or_match_anything_find_nothing() {
        let read = ReadLimit {
            adds: texts(&["(", ".*", "(?=a)", r"\w", "", r"(\w{1,500}){1,500}"]),
            commands: texts(&["[", "(?<!x)y", r"(a{1,900}){1,900}", ".*", r"\bmake\b"]),
            ..ReadLimit::default()
        };
        assert!(!breaks(&read, &edit("a.py", "x = 1", "anything = at(all)")));
        assert!(!breaks(&read, &bash("make all")));
    }

    #[test]
    fn a_limit_is_known_again_by_its_words() {
        let read = |words: &str| {
            let read = ReadLimit {
                words: words.to_owned(),
                ..ReadLimit::default()
            };
            LimitByModel::new(&ProjectRoot::default(), &read)
        };
        assert!(
            read("please keep the ISR in isr.c exactly as is")
                .is_about("keep the ISR in isr.c exactly as is")
        );
        assert!(!read("no new packages").is_about("keep the ISR in isr.c exactly as is"));
        assert!(!read("").is_about("no new packages"));
        assert!(!read("no new packages").tells_places() && !read("no new packages").tells_anything());
    }

    #[test]
    fn words_of_other_scripts_are_found() {
        let read = ReadLimit {
            adds: texts(&["价格|цена"]),
            ..ReadLimit::default()
        };
        assert!(breaks(&read, &edit("a.py", "x", "label = '价格'")));
    }
}

//! Things that constraints name in words, and the actions that concern them.
//!
//! The typed limits of [`super::limit`] know what a constraint means. This module knows only which words its object has, and
//! looks for them in what an edit adds and in the commands that an action runs; numbers, names and formats are compared before and
//! after. What it finds is a reason to ask the user, and none to correct the agent.

mod amounts;
mod areas;
mod aspects;
mod branches;
mod change;
mod concepts;
mod facts;
mod kinds;
mod labels;
mod platforms;
mod reading;
mod source;
mod stem;
mod surface;

use super::command_effects::{formats, upgrades_everything};
use super::limit::Place;
use super::written::{has_other_version, setting_of};
use crate::analyzed_action::{AnalyzedAction, asks_a_server};
use crate::file_kind::{FileKind, is_temporary};
use crate::normalized_path::NormalizedPath;
use crate::pattern::Pattern;
use crate::words::common_beginning;
use amounts::Amount;
use areas::Area;
pub(super) use areas::is_about_word;
use aspects::Aspect;
pub(super) use change::Change;
pub(super) use change::command_words;
use change::words_of;
pub(super) use change::{looks, only_reads};
use grov_domain::Program;
use kinds::Kind;
use labels::LabelKind;
use platforms::Platform;
pub(super) use reading::read;
use std::borrow::Cow;
pub(super) use stem::{is_same_word, is_unspaced_text};

/// What must not happen to a thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Rule {
    /// It stays as it is.
    #[default]
    Keep,
    /// It must not be added or used.
    Add,
    /// It must be neither changed, added nor run.
    Any,
    /// It must not be removed.
    Stay,
    /// It is left out of what is requested.
    Except,
    /// Nothing else may change.
    Only,
}

/// The things that a clause names.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Named {
    rule: Rule,
    /// Words of which one tells that an action concerns them.
    words: Vec<String>,
    /// Names that are quoted, or written as in code.
    literals: Vec<String>,
    /// Names as in code.
    identifiers: Vec<String>,
    /// Texts in quotation marks that are no names of files.
    quoted: Vec<String>,
    /// The environments in which a command is forbidden.
    environments: Vec<String>,

    /// Properties of code.
    aspects: Vec<Aspect>,
    /// Kinds of things in code.
    kinds: Vec<Kind>,
    /// The kinds of names that it is about.
    labels: Vec<LabelKind>,
    /// Versions that code must run on.
    platforms: Vec<Platform>,
    /// The most that it allows.
    amounts: Vec<Amount>,
    /// What people who speak other languages than the code call the thing, in code.
    translated: Vec<String>,
    /// The paths that the clause names.
    places: Vec<String>,
    /// The parts of the project that it names.
    areas: Vec<Area>,
    /// They are those that exist.
    is_existing: bool,
    /// It forbids to add its object: "no sleeps".
    bans: bool,
    /// It says what its subject stays: "the base image must stay debian".
    states: bool,
    /// It is about pushes alone: "don't push tags".
    pushes: bool,
    /// The branches that it names.
    branches: Vec<String>,
    /// It forbids to switch branches.
    is_switch: bool,
    /// The hosts that it names.
    hosts: Vec<String>,
    /// Versions and other numbers.
    numbers: Vec<String>,
    /// Everything else than what was requested.
    rest: bool,
    /// The paths that the prompt names besides, and the words of what it asks for: "the other validators" are all but these.
    spared: Vec<String>,
    requested: Vec<String>,
    /// It forbids to rename, and nothing else.
    renames: bool,
    /// The prompt is not in English.
    is_foreign: bool,
}

/// A constraint on named things.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NamedConstraint {
    /// The text of the constraint.
    pub(super) text: String,
    pub(super) named: Named,
    /// Paths that the user asked to change nevertheless.
    pub(super) lifted: Vec<Pattern>,
}

impl NamedConstraint {
    /// Whether an action concerns what must not change.
    pub(super) fn is_broken_by(&self, action: &AnalyzedAction<'_>, change: &Change<'_>) -> bool {
        let is_lifted = |place: &NormalizedPath| {
            self.lifted
                .iter()
                .any(|pattern| pattern.covers(place) || pattern.expects(place))
        };
        let is_requested = !action.changed.is_empty() && action.changed.iter().all(is_lifted);
        !is_requested && self.named.is_broken_by(action, change)
    }
}

impl Named {
    /// Whether an action concerns what must not change.
    fn is_broken_by(&self, action: &AnalyzedAction<'_>, change: &Change<'_>) -> bool {
        if action.is_read_only() {
            return self.rule != Rule::Only && self.uses_branch_or_host(action) || self.reads_from(action);
        }
        if !change.places.is_empty() && change.places.iter().all(|place| is_temporary(place)) {
            return false;
        }
        if (self.rest || self.rule == Rule::Only) && self.reformats(action) {
            return true;
        }
        if self.rule != Rule::Only && self.uses_branch_or_host(action) {
            return true;
        }
        if self.is_in_area(action, change) {
            return true;
        }
        // "The public header include/a.h" is about that file alone.
        let is_elsewhere = || {
            let named: Vec<Area> = self
                .places
                .iter()
                .map(|place| Area::Path(place.clone()))
                .collect();
            !named.is_empty()
                && !change.places.is_empty()
                && !change
                    .places
                    .iter()
                    .any(|place| named.iter().any(|area| area.holds(place)))
        };
        if !self.aspects.is_empty() && is_elsewhere() {
            return false;
        }
        // "The lines with "FETCH" stay" is about these lines.
        if !self.quoted.is_empty() && matches!(self.rule, Rule::Keep | Rule::Stay) && change.is_edit {
            return self.is_quoted_lost(change);
        }
        if self.breaks_kind(action, change) {
            return true;
        }
        match self.rule {
            Rule::Only => self.leaves(change),
            _ if self.rest => false,
            _ if !self.numbers.is_empty() => {
                self.changes_number(change)
                    || self.sets_number(action, change)
                    || self.states && self.is_lost(change)
            }
            Rule::Keep | Rule::Any if !self.aspects.is_empty() => {
                self.changes_aspect(change) || self.moves(action) || self.renames_stored(change)
            }
            Rule::Stay if !self.aspects.is_empty() && self.literals.is_empty() => {
                self.changes_aspect(change) || self.is_lost(change)
            }
            Rule::Add | Rule::Any => self.is_added(change) || self.is_run(action, change),
            Rule::Keep => self.changes_setting(change) || self.is_lost(change),
            Rule::Except => self.changes_setting(change),
            Rule::Stay => self.is_lost(change),
        }
    }

    /// Whether a line with a text that the clause quotes is gone or another one.
    fn is_quoted_lost(&self, change: &Change<'_>) -> bool {
        let has = |line: &str| self.quoted.iter().any(|text| line.contains(text.as_str()));
        change.removed.iter().any(|line| has(line))
    }

    /// Whether a change does to a kind of thing what is forbidden, uses what a version does not have, or exceeds an amount.
    fn breaks_kind(&self, action: &AnalyzedAction<'_>, change: &Change<'_>) -> bool {
        if self.kinds.is_empty() && self.platforms.is_empty() && self.amounts.is_empty() {
            return false;
        }
        let lacks = |platform: &Platform| change.sides().iter().any(|side| platform.lacks(side));
        let is_exceeded = |amount: &Amount| {
            change.sides().iter().any(|side| amount.is_exceeded(side))
                || action
                    .programs()
                    .iter()
                    .any(|program| amount.exceeds(&program.words().collect::<Vec<_>>().join(" ")))
        };
        self.kinds
            .iter()
            .any(|kind| kind.is_broken_by(change, self.rule, self.bans))
            || self.platforms.iter().any(lacks)
            || self.amounts.iter().any(is_exceeded)
    }

    /// Whether a file is moved where names must not change.
    fn moves(&self, action: &AnalyzedAction<'_>) -> bool {
        let moves = |program: &Program| program.name() == "mv" || program.git().0 == "mv";
        self.aspects.contains(&Aspect::Names)
            && self.words.is_empty()
            && self.places.is_empty()
            && action.programs().iter().any(moves)
    }

    /// Whether a statement or a migration renames stored data.
    fn renames_stored(&self, change: &Change<'_>) -> bool {
        const RENAMING: &[&str] = &[
            "rename to",
            "rename column",
            "rename table",
            "rename_table",
            "rename_column",
            "renamefield",
            "renamemodel",
            "renameindex",
            "renamecolumn",
            "sp_rename",
        ];
        let renames = |text: &str| {
            let lower = text.to_lowercase();
            RENAMING.iter().any(|mark| lower.contains(mark))
        };
        self.renames
            && change
                .sides()
                .iter()
                .any(|side| renames(&side.after) && !side.before.as_deref().is_some_and(renames))
    }

    /// Whether a Git command changes a branch, or a command reaches a host, that the clause names.
    fn uses_branch_or_host(&self, action: &AnalyzedAction<'_>) -> bool {
        let reaches = |program: &Program| {
            program
                .words()
                .any(|word| self.hosts.iter().any(|host| word.contains(host.as_str())))
        };
        action
            .programs()
            .iter()
            .any(|program| self.changes_branch(program) || reaches(program))
    }

    /// Whether a formatter rewrites more than what may change.
    fn reformats(&self, action: &AnalyzedAction<'_>) -> bool {
        let names_place = |program: &Program| {
            let mut operands = program.operands();
            operands.any(|word| {
                self.places
                    .iter()
                    .any(|place| word.contains(place.trim_end_matches('/')))
            })
        };
        let is_meant = |program: &Program| self.has(&command_words(program)) || names_place(program);
        action.programs().iter().any(|program| {
            (formats(program) || upgrades_everything(program)) && !looks(program) && !is_meant(program)
        })
    }

    fn has(&self, words: &[String]) -> bool {
        has_any(words, &self.words) || has_any(words, &self.translated)
    }

    /// Whether what an edit newly imports or calls has a word of the clause.
    fn is_added(&self, change: &Change<'_>) -> bool {
        let adds = self.bans || self.rule == Rule::Add;
        // What has a kind is found by that, and not by what else its name means.
        let translates = adds && self.kinds.is_empty();
        let is_named = |words: &Vec<String>| {
            has_any(words, &self.words) || translates && has_any(words, &self.translated)
        };
        change.new_words().iter().any(is_named) || adds && change.inserted_words().iter().any(is_named)
    }

    /// Whether an edit gives another value to a setting that the clause names.
    fn changes_setting(&self, change: &Change<'_>) -> bool {
        // `r.Shadow.MaxResolution` is one of the shadow.
        const MOST: usize = 2;
        let is_named = |line: &Cow<'_, str>| {
            setting_of(line).is_some_and(|name| {
                let words = words_of(name);
                words.iter().filter(|word| word.len() > 1).count() <= MOST && self.has(&words)
            })
        };
        change.removed.iter().any(|line| {
            is_named(line)
                && change
                    .added
                    .iter()
                    .any(|other| setting_of(other) == setting_of(line))
        })
    }

    /// Whether a line with what must stay is gone: two of its words, or one that is written as in code.
    fn is_lost(&self, change: &Change<'_>) -> bool {
        let known = |line: &str| {
            let words = words_of(line);
            let own = if self.literals.is_empty() {
                self.words.as_slice()
            } else {
                &[]
            };
            let plain = own
                .iter()
                .filter(|name| words.iter().any(|word| is_same_word(word, name)))
                .count();
            plain
                + 2 * self
                    .literals
                    .iter()
                    .filter(|name| line.contains(name.as_str()))
                    .count()
        };
        // One word tells if its line is changed, and not removed with others.
        let is_word_lost = || {
            let kept = change.added.iter().any(|line| known(line) >= 1);
            let near = |line: &Cow<'_, str>| change.added.iter().any(|other| is_like(line, other));
            matches!(self.rule, Rule::Keep | Rule::Stay)
                && !self.is_existing
                && !kept
                && change.removed.iter().any(|line| known(line) >= 1 && near(line))
        };
        change.removed.iter().any(|line| known(line) >= 2)
            && !change.added.iter().any(|line| known(line) >= 2)
            || is_word_lost()
    }

    /// Whether a number in a changed line is gone, and another one is there instead.
    fn changes_number(&self, change: &Change<'_>) -> bool {
        let has_number = |line: &str, number: &str| {
            line.match_indices(number).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                let after = line[at + number.len()..].chars().next();
                !before.is_some_and(|letter| letter.is_ascii_digit() || letter == '.')
                    && !after.is_some_and(|letter| letter.is_ascii_digit())
            })
        };
        let any_digit = |line: &Cow<'_, str>| line.contains(|letter: char| letter.is_ascii_digit());
        self.numbers.iter().any(|number| {
            change.removed.iter().any(|line| has_number(line, number))
                && change.added.iter().any(&any_digit)
                && !change.added.iter().any(|line| has_number(line, number))
        })
    }

    /// Whether a line or a package gives a thing another number: `react@18` against "stay on react 17".
    fn sets_number(&self, action: &AnalyzedAction<'_>, change: &Change<'_>) -> bool {
        let Some(number) = self.numbers.first() else {
            return false;
        };
        let differs = |line: &str| {
            self.words
                .iter()
                .any(|word| has_other_version(line, word, number))
        };
        let installs = action
            .programs()
            .iter()
            .flat_map(Program::operands)
            .any(|word| word.contains(['@', '=']) && differs(word));
        let is_unknown = change.is_edit && change.before.is_none();
        installs || is_unknown && change.added.iter().any(|line| differs(line))
    }

    /// Whether the lines of a change, or its file, have a name of the clause, if it has some.
    fn concerns_identifier(&self, change: &Change<'_>) -> bool {
        let named = |name: &String| {
            let is_file = |place: &&NormalizedPath| place.display().contains(name.as_str());
            change.places.iter().any(is_file)
                || change.before.is_some_and(|text| text.contains(name.as_str()))
                || change.removed.iter().any(|line| line.contains(name.as_str()))
        };
        self.identifiers.is_empty() || self.identifiers.iter().any(named)
    }

    fn changes_aspect(&self, change: &Change<'_>) -> bool {
        if !self.concerns_identifier(change) {
            return false;
        }
        let extension = change.places.first().map_or("", |place| place.extension());
        let is_meant = |aspect: &Aspect| *aspect != Aspect::Versions || self.names_line(change);
        self.aspects
            .iter()
            .any(|aspect| aspect.is_changed_by(change, extension, &self.labels) && is_meant(aspect))
    }

    /// Whether the changed lines, or those before them in the same edit, have a word of the clause: "the version of Redis".
    fn names_line(&self, change: &Change<'_>) -> bool {
        let major = self
            .words
            .iter()
            .any(|word| word.starts_with("maj") || word.starts_with("mayor"));
        let names: Vec<String> = self
            .words
            .iter()
            .filter(|word| !word.starts_with("version") && !word.starts_with("maj"))
            .cloned()
            .collect();
        if major {
            let first = |line: &Cow<'_, str>| {
                line.split(|letter: char| !letter.is_ascii_digit())
                    .find(|part| !part.is_empty())
                    .map(str::to_owned)
            };
            return change
                .removed
                .iter()
                .map(first)
                .ne(change.added.iter().map(first));
        }
        names.is_empty()
            || change.sides().iter().any(|side| {
                let before = side.before.as_deref().unwrap_or_default();
                has_any(&words_of(before), &names) || has_any(&words_of(&side.after), &names)
            })
    }

    /// Whether a command that does something names it.
    fn is_run(&self, action: &AnalyzedAction<'_>, change: &Change<'_>) -> bool {
        if self.states {
            return false;
        }
        if self.pushes {
            return action.programs().iter().any(|program| self.pushes_named(program));
        }
        let is_there = |words: &[String]| self.environments.is_empty() || has_any(words, &self.environments);
        let named = action
            .programs()
            .iter()
            .any(|program| is_there(&command_words(program)));
        named && change.run_words(action).iter().any(|words| self.has(words))
    }

    /// Whether a push takes along what the clause names: tags.
    fn pushes_named(&self, program: &Program) -> bool {
        let ("push", rest) = program.git() else {
            return false;
        };
        let is_version = |word: &str| {
            let word = word.trim_start_matches("refs/tags/").trim_start_matches('v');
            word.starts_with(|letter: char| letter.is_ascii_digit()) && word.contains('.')
        };
        let names_tags = self.words.iter().any(|word| word.starts_with("tag"));
        let pushes_tags = program.has_word(&["--tags", "--follow-tags", "--mirror"])
            || rest.iter().any(|word| is_version(word.as_str()));
        names_tags && pushes_tags || self.has(&command_words(program))
    }

    /// Whether a command reads from an environment that must not be used.
    fn reads_from(&self, action: &AnalyzedAction<'_>) -> bool {
        let names = self.words.iter().chain(&self.translated);
        let environments: Vec<String> = names
            .filter(|name| ENVIRONMENTS.contains(&name.as_str()))
            .cloned()
            .collect();
        let uses = matches!(self.rule, Rule::Add | Rule::Any);
        uses && action
            .programs()
            .iter()
            .any(|program| asks_a_server(program) && has_any(&command_words(program), &environments))
    }

    /// Whether an action changes a part of the project that must not change.
    fn is_in_area(&self, action: &AnalyzedAction<'_>, change: &Change<'_>) -> bool {
        let applies = match self.rule {
            Rule::Keep | Rule::Any | Rule::Except => true,
            Rule::Stay => action.removes,
            Rule::Add | Rule::Only => false,
        };
        // "Existing invoices" are documents or data, and not the code that makes them.
        let is_old = |place: &NormalizedPath| {
            !self.is_existing || !change.is_whole && !Place::Source.covers(place) && !FileKind::Test.is(place)
        };
        let is_spared = |place: &NormalizedPath| {
            let path = place.as_str();
            self.rest
                && (self
                    .spared
                    .iter()
                    .any(|spared| path.ends_with(&spared.to_lowercase()))
                    || areas::component_words(place.display().rsplit('/').next().unwrap_or_default())
                        .iter()
                        .any(|word| self.requested.contains(word)))
        };
        let holds = |place: &NormalizedPath| {
            if is_spared(place) {
                return false;
            }
            let touches = |area: &Area| match area {
                Area::Code => area.holds(place) && change.changes_code(place.extension()),
                _ => area.holds(place) && is_old(place),
            };
            self.areas.iter().any(touches)
        };
        applies
            && change
                .places
                .iter()
                .any(|place| holds(place) && !is_temporary(place))
    }

    /// Whether an edit changes code where only comments may change.
    fn leaves(&self, change: &Change<'_>) -> bool {
        let Some(place) = change.places.first() else {
            return false;
        };
        self.aspects.contains(&Aspect::Comments) && Aspect::Code.is_changed_by(change, place.extension(), &[])
    }
}

/// Whether two lines begin alike, as one that was changed does.
fn is_like(one: &str, other: &str) -> bool {
    const FEWEST: usize = 6;
    common_beginning(one.trim(), other.trim()) >= FEWEST
}

/// Whether words, or two of them written as one, are among names.
fn has_any(words: &[String], names: &[String]) -> bool {
    let is_joined = |name: &str, word: &str, next: Option<&String>| {
        next.is_some_and(|next| name.strip_prefix(word) == Some(next.as_str()))
    };
    words.iter().enumerate().any(|(at, word)| {
        let next = words.get(at + 1);
        names
            .iter()
            .any(|name| is_same_word(word, name) || is_joined(name, word, next))
    })
}

/// What paths, texts and commands call a thing that people name with a word.
pub(super) fn concept_names(word: &str) -> Vec<String> {
    let mut names = vec![word.to_owned()];
    for concept in concepts::named_by(word) {
        names.extend(concept.words.iter().map(|name| (*name).to_owned()));
    }
    names
}

/// Names of environments.
const ENVIRONMENTS: &[&str] = &[
    "prod",
    "production",
    "live",
    "staging",
    "stage",
    "primary",
    "master",
    "main",
];

#[cfg(test)]
mod tests;

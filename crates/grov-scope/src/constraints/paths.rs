//! Constraints on files and folders.

use super::grammar::{forbidden, is_change, is_negation, is_removal, orders_change, orders_more};
use super::limit::{Layer, Place, PlaceRule};
use super::place::glob_reaches;
use crate::analyzed_action::AnalyzedAction;
use crate::file_kind::{FileKind, is_temporary};
use crate::names::{is_path, paths};
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use crate::pattern::Pattern;
use crate::words::{Word, any_phrase_at, words};
use grov_domain::ActionType;

/// The constraints on files and folders.
#[derive(Clone, Debug, Default)]
pub(super) struct PathConstraints {
    forbidden: Vec<PathConstraint>,
    /// Constraints that allow changes of their own paths only.
    only: Vec<PathConstraint>,
}

/// The maximum number of paths from change requests kept per constraint.
const MAX_LIFTED: usize = 100;

/// A sentence that requests a change, and the files it names.
#[derive(Clone, Debug, Default)]
pub(super) struct ChangeRequest {
    /// The sentence.
    pub(super) sentence: String,
    paths: Vec<Pattern>,
    kinds: Vec<FileKind>,
    /// The words after its verbs, folded.
    objects: Vec<String>,
}

impl ChangeRequest {
    /// The maximum number of words after a verb that belong to its object.
    const OBJECT: usize = 6;

    /// Parses a sentence. `None` if it requests no change.
    pub(super) fn read(root: &ProjectRoot, sentence: &str) -> Option<Self> {
        let words = words(sentence);
        let is_asked = sentence.ends_with('?') && !words.iter().any(|word| word.folded == "you");
        if is_asked || !orders_more(&words) {
            return None;
        }
        let mut order = Self {
            sentence: sentence.to_owned(),
            paths: paths(sentence)
                .iter()
                .map(|path| Pattern::new(root, path))
                .collect(),
            ..Self::default()
        };
        for at in (0..words.len()).filter(|at| orders_change(&words[*at])) {
            let after = words[at + 1..].iter().take(Self::OBJECT);
            for word in after.take_while(|word| !is_path(word.raw)) {
                order.kinds.extend(named_kind(word));
                order.objects.push(word.folded.clone());
                if word.pauses() {
                    break;
                }
            }
        }
        Some(order)
    }

    /// Whether it requests a change of a constraint's target, named by something other than its path.
    fn takes_back(&self, target: &Target) -> bool {
        match target {
            Target::Kind(kind) => self.kinds.contains(kind),
            Target::Named(name) => self.objects.contains(name),
            Target::Place(Place::Words(words)) => words.iter().all(|word| {
                self.objects
                    .iter()
                    .any(|object| object == word || object.strip_suffix('s') == Some(word))
            }),
            Target::Place(_) => false,
            Target::Path(pattern) => {
                let path = pattern.text().trim_end_matches(['*', '/']).to_lowercase();
                let name = path.rsplit('/').next().unwrap_or_default();
                let stem = name.split('.').next().unwrap_or_default();
                let is_telling = stem.len() >= 4 && !stem.contains('*');
                is_telling && self.objects.iter().any(|word| word == stem || word == name)
            }
        }
    }
}

#[derive(Clone, Debug)]
struct PathConstraint {
    /// The text of the constraint.
    text: String,
    targets: Vec<Target>,
    /// The exceptions after "except".
    except: Vec<Target>,
    /// Paths that the user asked to change nevertheless.
    lifted: Vec<Pattern>,
    /// Only removal is forbidden.
    removal_only: bool,
    /// Only changes of existing files are forbidden.
    existing_only: bool,
}

/// What a constraint refers to.
#[derive(Clone, Debug)]
enum Target {
    Path(Pattern),
    Kind(FileKind),
    /// Any folder or file with this name.
    Named(String),
    /// A place that has no path.
    Place(Place),
}

impl Target {
    fn of(root: &ProjectRoot, place: &Place) -> Self {
        match place {
            Place::Path(path) => Self::Path(Pattern::new(root, path)),
            Place::Kind(kind) => Self::Kind(*kind),
            other => Self::Place(other.clone()),
        }
    }

    fn covers(&self, place: &NormalizedPath) -> bool {
        match self {
            Self::Path(pattern) => pattern.covers(place) || glob_reaches(place.as_str(), pattern.text()),
            Self::Kind(kind) => kind.is(place),
            Self::Named(name) => place.stem() == name || place.components().any(|part| part == name),
            Self::Place(described) => described.covers(place),
        }
    }
}

fn covered(targets: &[Target], place: &NormalizedPath) -> bool {
    targets.iter().any(|target| target.covers(place))
}

impl PathConstraints {
    pub(super) fn append(&mut self, added: Self) {
        self.forbidden.extend(added.forbidden);
        self.only.extend(added.only);
    }

    /// Lifts constraints for paths that the user asked to change: in the constraint's own instruction (`own`), if named by
    /// path; in later ones (`younger`), however named. A constraint that allows only its paths ends if other paths are requested.
    pub(super) fn lift(&mut self, root: &ProjectRoot, own: &[&ChangeRequest], younger: &[&ChangeRequest]) {
        let named = |limit: &mut PathConstraint| {
            // "Fix it in src/. Leave the snapshots alone" limits the change of src/.
            let is_file = |path: &&Pattern| {
                path.text()
                    .rsplit('/')
                    .next()
                    .is_some_and(|name| name.contains('.'))
            };
            let own = own.iter().flat_map(|order| order.paths.iter().filter(is_file));
            let later = younger.iter().flat_map(|order| &order.paths);
            limit.lifted.extend(own.chain(later).take(MAX_LIFTED).cloned());
        };
        for limit in &mut self.forbidden {
            named(limit);
            limit
                .targets
                .retain(|target| !younger.iter().any(|order| order.takes_back(target)));
        }
        self.forbidden.retain(|limit| !limit.targets.is_empty());
        for limit in &mut self.only {
            named(limit);
            let ends = younger.iter().any(|order| {
                let is_other =
                    |path: &Pattern| !covered(&limit.targets, &NormalizedPath::new(root, path.text()));
                order.paths.iter().any(is_other) || !order.kinds.is_empty()
            });
            if ends {
                limit.targets.clear();
            }
        }
        self.only.retain(|limit| !limit.targets.is_empty());
    }

    /// Parses a constraint and adds it.
    pub(super) fn read(&mut self, root: &ProjectRoot, text: &str, words: &[Word<'_>]) {
        let exception = words.iter().position(|word| word.is_any(EXCEPTIONS));
        let (rule, except) = words.split_at(exception.unwrap_or(words.len()));
        let constraint = PathConstraint {
            text: text.to_owned(),
            targets: Vec::new(),
            except: paths_in(root, except),
            lifted: Vec::new(),
            removal_only: false,
            existing_only: rule
                .iter()
                .any(|word| word.is_any(&["existing", "current", "existente"])),
        };
        match Reading::of(root, rule, except) {
            Some(Reading { targets, .. }) if targets.is_empty() => {}
            Some(Reading { effect, targets }) => {
                let list = match effect {
                    Effect::AllowsOnly => &mut self.only,
                    Effect::Forbids | Effect::ForbidsRemoval => &mut self.forbidden,
                };
                list.push(PathConstraint {
                    targets,
                    removal_only: effect == Effect::ForbidsRemoval,
                    ..constraint
                });
            }
            None => {}
        }
    }

    /// Adds places that must not change.
    pub(super) fn forbid(&mut self, root: &ProjectRoot, text: &str, places: &[Place], rule: &PlaceRule) {
        let targets = |places: &[Place]| places.iter().map(|place| Target::of(root, place)).collect();
        self.forbidden.push(PathConstraint {
            text: text.to_owned(),
            targets: targets(places),
            except: targets(&rule.except),
            lifted: Vec::new(),
            removal_only: rule.removal_only,
            existing_only: rule.existing_only,
        });
    }

    /// Adds places that alone may change.
    pub(super) fn confine(&mut self, root: &ProjectRoot, text: &str, places: &[Place]) {
        self.only.push(PathConstraint {
            text: text.to_owned(),
            targets: places.iter().map(|place| Target::of(root, place)).collect(),
            except: Vec::new(),
            lifted: Vec::new(),
            removal_only: false,
            existing_only: false,
        });
    }

    /// The text of the constraint that an action violates by changing `place`.
    pub(super) fn breach(&self, place: &NormalizedPath, action: &AnalyzedAction<'_>) -> Option<&str> {
        self.breach_by(place, action, action.removes)
    }

    /// Like [`Self::breach`], for a place that the action changes or `removes`.
    pub(super) fn breach_by(
        &self,
        place: &NormalizedPath,
        action: &AnalyzedAction<'_>,
        removes: bool,
    ) -> Option<&str> {
        let is_lifted = |limit: &PathConstraint| limit.lifted.iter().any(|pattern| pattern.covers(place));
        let forbids = |limit: &&PathConstraint| {
            covered(&limit.targets, place)
                && !covered(&limit.except, place)
                && !is_lifted(limit)
                && (!limit.removal_only || removes)
                && (!limit.existing_only
                    || action.sketch.action_type != ActionType::Write && !is_overview(place))
        };
        let may_be_excluded = place.is_in_project() && !is_temporary(place);
        let excludes = |limit: &&PathConstraint| {
            may_be_excluded
                && !is_lifted(limit)
                && !covered(&limit.targets, place)
                && !covered(&limit.except, place)
                && leaves_layer(&limit.targets, place)
        };
        let limit = self
            .forbidden
            .iter()
            .find(forbids)
            .or_else(|| self.only.iter().find(excludes))?;
        Some(&limit.text)
    }
}

/// Whether a file lists others, which the limit on the existing ones is not about.
fn is_overview(place: &NormalizedPath) -> bool {
    matches!(place.stem(), "readme" | "index" | "changelog" | "summary")
}

/// Whether a place is in the other part of the application, if only one part may change.
fn leaves_layer(targets: &[Target], place: &NormalizedPath) -> bool {
    let other = |target: &Target| match target {
        Target::Place(Place::Layer(Layer::Frontend)) => Place::Layer(Layer::Backend).covers(place),
        Target::Place(Place::Layer(Layer::Backend)) => Place::Layer(Layer::Frontend).covers(place),
        _ => true,
    };
    targets.iter().all(other)
}

/// What a constraint does with its paths.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// They must not change.
    Forbids,
    /// They must not be removed.
    ForbidsRemoval,
    /// Nothing else may change.
    AllowsOnly,
}

/// A parsed constraint about paths.
struct Reading {
    effect: Effect,
    targets: Vec<Target>,
}

impl Reading {
    /// Parses a sentence: the rule and the words after "except".
    fn of(root: &ProjectRoot, rule: &[Word<'_>], except: &[Word<'_>]) -> Option<Self> {
        let reading = |effect, targets| Some(Self { effect, targets });
        if let Some(targets) = subject_of_state(root, rule) {
            return reading(Effect::Forbids, targets);
        }
        if let Some(targets) = confines(root, rule) {
            return reading(Effect::AllowsOnly, targets);
        }
        // "Nothing in src/ may change"
        let nothing = rule
            .first()
            .is_some_and(|word| word.is_any(&["nothing", "nimic"]));
        if nothing && rule.iter().any(is_change) {
            return reading(Effect::Forbids, object_of(root, &rule[1..]));
        }
        if let Some(object) = stays_away(rule) {
            return reading(Effect::Forbids, object_of(root, &rule[object..]));
        }
        if let Some(verb) = forbidden(rule, is_change) {
            return Self::of_forbidden_change(root, &rule[..verb], &rule[verb + 1..], except);
        }
        if let Some(verb) = forbidden(rule, is_removal) {
            return reading(Effect::ForbidsRemoval, object_of(root, &rule[verb + 1..]));
        }
        if let Some(verb) = forbidden(rule, |word| word.is_any(WRITES)) {
            // "Don't add files to src/" forbids changes in the folder; "don't add tests" names no file.
            let object = &rule[verb + 1..];
            let into = object.iter().position(|word| word.is_any(INTO)).unwrap_or(0);
            let names_files = object.first().is_none_or(|word| {
                word.is_any(ANYTHING) || word.is_any(&["new", "noi"]) || is_path(word.raw)
            });
            return names_files
                .then(|| reading(Effect::Forbids, object_of(root, &object[into..])))
                .flatten();
        }
        let keeps = rule.iter().position(|word| word.is_any(KEEPING));
        let keeps = keeps.filter(|at| *at <= 2 && stays_the_same(&rule[*at..]))?;
        reading(Effect::Forbids, object_of(root, &rule[keeps + 1..]))
    }

    /// Parses "do not change `object`".
    fn of_forbidden_change(
        root: &ProjectRoot,
        before: &[Word<'_>],
        object: &[Word<'_>],
        except: &[Word<'_>],
    ) -> Option<Self> {
        let mut targets = object_of(root, object);
        // "src/db/ is another team's, do not change it"
        let refers_back = object
            .first()
            .is_some_and(|word| word.is_any(&["it", "them", "those", "there"]));
        if targets.is_empty() && refers_back {
            targets = paths_in(root, before);
        }
        if !targets.is_empty() {
            return Some(Self {
                effect: Effect::Forbids,
                targets,
            });
        }
        let is_all_but = !except.is_empty() && object.iter().any(|word| word.is_any(ANYTHING));
        is_all_but.then(|| Self {
            effect: Effect::AllowsOnly,
            targets: paths_in(root, except),
        })
    }
}

#[rustfmt::skip]
const ONLY: &[&str] = &["only", "solely", "exclusively", "just", "doar", "numai"];

#[rustfmt::skip]
const EXCEPTIONS: &[&str] = &[
    "except", "besides", "but", "other", "than", "apart", "outside", "excluding", "beyond", "exceptand",
    "decat", "afara", "exceptia",
];

#[rustfmt::skip]
const ANYTHING: &[&str] = &[
    "anything", "everything", "nothing", "files", "file", "code", "any", "nimic", "altceva", "fisiere", "fisier",
];

#[rustfmt::skip]
const WRITES: &[&str] = &["add", "adding", "create", "creating", "write", "writing", "adauga", "crea", "scrie", "scrii"];

#[rustfmt::skip]
const INTO: &[&str] = &["to", "in", "into", "under", "inside", "within", "din"];

/// Words that may occur between "change" and the path that is its object.
#[rustfmt::skip]
const FILLERS: &[&str] = &[
    "the", "any", "a", "file", "files", "folder", "directory", "module", "anything", "everything", "code",
    "in", "to", "under", "inside", "within", "into", "below", "beneath", "my", "our", "all", "of", "existing", "contents", "content", "and",
    "or", "nor", "fisierul", "fisierele", "folderul", "directorul", "nimic", "din", "in", "pe", "si", "sau",
    "codul", "nici", "from", "at", "whole", "entire", "both", "either", "current", "la", "de", "made", "path", "paths", "made",
];

#[rustfmt::skip]
const KEEPING: &[&str] = &[
    "keep", "leave", "keeping", "leaving", "pastreaza", "pastrati", "lasa", "lasati", "preserve", "freeze", "treat", "consider",
];

#[rustfmt::skip]
const UNCHANGED: &[&str] = &[
    "unchanged", "untouched", "alone", "as-is", "intact", "neschimbat", "neschimbata", "neschimbate", "unmodified",
    "neatins", "neatinsa", "neatinse", "pace", "asa", "frozen", "read-only", "readonly", "out",
];

/// Phrases after a path that say that it must not change.
#[rustfmt::skip]
const STATES: &[&str] = &[
    "is not allowed", "are not allowed", "isn't allowed", "aren't allowed", "is prohibited", "are prohibited",
    "should be left", "must be left", "has to be left", "have to be left", "is to be left", "are to be left",
    "needs to remain", "need to remain",
    "is frozen", "are frozen", "is read-only", "are read-only", "is readonly", "are readonly", "is read only",
    "are read only", "is off limits", "are off limits", "is off-limits", "are off-limits", "is out of scope",
    "are out of scope", "is out of bounds", "are out of bounds", "is locked", "are locked", "is protected",
    "is untouchable", "are untouchable", "is not to be", "are not to be", "is forbidden", "are forbidden", "is taboo", "must stay", "must remain", "has to stay", "have to stay",
    "has to remain", "have to remain", "needs to stay", "need to stay", "should stay", "should remain", "shall stay", "shall remain",
    "stays as", "stay as", "stays untouched", "stay untouched", "stays unchanged", "stay unchanged", "stays the", "remains unchanged", "remain unchanged",
    "remains untouched", "remain untouched", "must not change", "mustn't change", "should not change", "shouldn't change",
    "must not be", "mustn't be", "should not be", "shouldn't be", "may not be", "cannot be", "can't be", "must never be", "should never be",
    "is not yours", "hands off", "no changes", "no edits", "no touching", "don't touch", "do not touch", "don't edit", "do not edit", "don't change", "do not change",
    "ramane", "raman", "trebuie sa ramana", "sa ramana", "nu se modifica", "nu se schimba", "nu se atinge",
    "e inghetat", "este inghetat", "nu trebuie", "e interzis", "este interzis", "nu ai voie",
];

/// Phrases before a path that say that it must not change.
#[rustfmt::skip]
const AWAY: &[&str] = &[
    "hands off", "stay out of", "keep out of", "stay away from", "keep away from", "steer clear of", "stay clear of", "keep your hands off",
    "freeze", "exclude", "stai departe de", "feri-te de", "fereste-te de", "nu te atinge de", "nu te lega de", "off limits",
    "off-limits", "out of scope", "out of bounds", "do not go into", "don't go into", "do not go near", "don't go near",
];

/// Phrases before a path that limit changes to it.
#[rustfmt::skip]
const CONFINING: &[&str] = &[
    "limit", "restrict", "confine", "stay within", "stay in", "stay inside", "keep within", "limiteaza-te", "ramai in",
    "limiteaza",
];

/// Words for kinds of files.
const KINDS: &[(&str, FileKind)] = &[
    ("tests", FileKind::Test),
    ("test", FileKind::Test),
    ("teste", FileKind::Test),
    ("testele", FileKind::Test),
    ("schema", FileKind::Schema),
    ("schemas", FileKind::Schema),
    ("migrations", FileKind::Migration),
    ("migrarile", FileKind::Migration),
    ("docs", FileKind::Docs),
    ("documentation", FileKind::Docs),
    ("documentatia", FileKind::Docs),
    ("stylesheets", FileKind::Styles),
    ("styles", FileKind::Styles),
    ("css", FileKind::Styles),
    ("workflows", FileKind::Pipeline),
    ("ci", FileKind::Pipeline),
    ("pipeline", FileKind::Pipeline),
    ("pipelines", FileKind::Pipeline),
    ("lockfile", FileKind::Lock),
    ("lockfiles", FileKind::Lock),
    ("vendored", FileKind::Vendored),
    ("vendor", FileKind::Vendored),
    ("generated", FileKind::Vendored),
];

/// Objects of "touch" that are not files or folders.
#[rustfmt::skip]
const NO_PLACES: &[&str] = &[
    "anything", "everything", "something", "behavior", "behaviour", "interface", "logic", "code", "state", "default", "defaults", "rest", "others", "other",
    "semantics", "signature", "signatures", "version", "output", "format", "names", "name", "order", "public", "production",
    "comments", "functionality", "else", "that", "this", "these", "those", "them", "with", "them", "branch", "branches", "main", "history",
    "file", "files", "stuff", "things", "what", "which",
];

/// Words that may follow the name of a file kind or folder without changing its meaning.
#[rustfmt::skip]
const GO_ON: &[&str] = &[
    "and", "or", "nor", "in", "for", "at", "now", "please", "alone", "untouched", "unchanged", "intact", "as", "here", "either", "is", "are",
    "file", "files", "folder", "directory", "module", "crate", "package", "code", "si", "sau", "asa", "pace", "neschimbat", "neschimbate", "neatinse", "neatins", "neschimbata",
    "out", "under", "this", "anymore", "again", "yet", "suite", "cum",
];

/// Parses a path followed by a state: "src/a.rs is read-only for this task".
fn subject_of_state(root: &ProjectRoot, rule: &[Word<'_>]) -> Option<Vec<Target>> {
    let (state, length) = (1..rule.len()).find_map(|at| Some((at, any_phrase_at(rule, at, STATES)?)))?;
    let subject = &rule[..state];
    if subject.iter().any(is_negation) {
        return None;
    }
    // "Must not be larger than …" is not about changes.
    let open = rule[state + length - 1].is_any(&[
        "be", "stay", "remain", "stays", "ramane", "raman", "ramana", "trebuie",
    ]);
    let closes = rule[state + length..].iter().take(3).any(|word| {
        is_change(word)
            || word.is_any(UNCHANGED)
            || word.is_any(&["as", "same", "cum", "la", "modified", "removed"])
    });
    if open && !closes {
        return None;
    }
    // "The tests in src/a.rs must stay as they are" is about the tests.
    let targets = object_of(root, subject);
    let whole = subject.iter().all(|word| {
        is_path(word.raw)
            || is_change(word)
            || word.is_any(FILLERS)
            || word.is_any(GO_ON)
            || named_kind(word).is_some()
            || word.is_any(&["please", "note", "important"])
    });
    (whole && !targets.is_empty()).then_some(targets)
}

/// Parses "only change src/a.rs" and "limit changes to src/".
fn confines(root: &ProjectRoot, rule: &[Word<'_>]) -> Option<Vec<Target>> {
    let targets = if let Some(at) = rule.iter().position(|word| word.is_any(ONLY)) {
        let works = rule
            .iter()
            .any(|word| is_change(word) || word.is_any(&["work", "working", "lucreaza", "changes", "edits"]));
        let negated = rule[..at].iter().any(is_negation);
        if !works || negated {
            return None;
        }
        // Earlier clauses are not part of it: "fix x.rs, only change src/".
        let from = (0..at)
            .rev()
            .find(|index| rule[*index].pauses())
            .map_or(0, |index| index + 1);
        paths_in(root, &rule[from..])
    } else {
        let begins = rule.first().is_some_and(|word| word.is_any(&["please", "and"]));
        let length = any_phrase_at(rule, usize::from(begins), CONFINING)?;
        let after = &rule[usize::from(begins) + length..];
        let place = after.iter().take_while(|word| !is_path(word.raw));
        let plain = place.clone().count() < after.len()
            && place.clone().all(|word| {
                word.is_any(FILLERS)
                    || is_change(word)
                    || word.is_any(&["yourself", "your", "work", "edits", "diff", "self", "la"])
            });
        if !plain {
            return None;
        }
        paths_in(root, after)
    };
    (!targets.is_empty()).then_some(targets)
}

/// The index of the object of "hands off …".
fn stays_away(rule: &[Word<'_>]) -> Option<usize> {
    (0..rule.len().min(3)).find_map(|at| Some(at + any_phrase_at(rule, at, AWAY)?))
}

/// Whether "leave …" or "keep …" says that something must not change.
fn stays_the_same(words: &[Word<'_>]) -> bool {
    words
        .first()
        .is_some_and(|word| word.is_any(&["freeze", "preserve"]))
        || words.iter().any(|word| word.is_any(UNCHANGED))
        || words.windows(2).any(|pair| {
            pair[0].is_any(&["as", "cum", "asa"])
                && pair[1].is_any(&["is", "it", "they", "now", "e", "este", "sunt"])
        })
}

/// The targets that directly follow a verb.
fn object_of(root: &ProjectRoot, words: &[Word<'_>]) -> Vec<Target> {
    let mut found = Vec::new();

    for (at, word) in words.iter().enumerate() {
        let ends = word.pauses() || words.get(at + 1).is_none_or(|next| next.is_any(GO_ON));
        if is_path(word.raw) || is_rooted(word.raw) {
            found.extend(paths_of(root, word.raw));
        } else if let Some(kind) = named_kind(word).filter(|_| ends) {
            found.push(Target::Kind(kind));
        } else if names_a_place(words, at) {
            found.push(Target::Named(word.folded.clone()));
        } else if !(word.is_any(FILLERS)
            || is_change(word) && !ends
            || word.is_any(&["database", "db", "sql"]))
        {
            break;
        }
    }
    found
}

/// Whether a plain word names a folder or file: "the auth module", "the parser".
fn names_a_place(words: &[Word<'_>], at: usize) -> bool {
    let word = &words[at];
    let next = words.get(at + 1);
    let told = next.is_some_and(|next| next.is_any(&["folder", "directory", "module", "crate", "package"]))
        && !word.pauses();
    let article = at
        .checked_sub(1)
        .is_some_and(|before| words[before].is_any(&["the", "our", "my"]));
    let ends = word.pauses()
        || next.is_none_or(|next| {
            next.is_any(&["alone", "untouched", "and", "or", "please", "now", "unchanged"])
        });
    let plain = word.folded.len() >= 3
        && word
            .folded
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-'))
        && !word.is_any(FILLERS)
        && !word.is_any(NO_PLACES);
    plain && (told || article && ends && word.folded.len() >= 4)
}

fn named_kind(word: &Word<'_>) -> Option<FileKind> {
    KINDS
        .iter()
        .find(|(name, _)| *name == word.folded)
        .map(|(_, kind)| *kind)
}

/// Whether a word is a path that starts with a drive letter.
fn is_rooted(raw: &str) -> bool {
    let bytes = raw.as_bytes();
    bytes.len() > 3 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && matches!(bytes[2], b'\\' | b'/')
}

fn paths_of(root: &ProjectRoot, raw: &str) -> Vec<Target> {
    if is_rooted(raw) {
        return vec![Target::Path(Pattern::new(root, raw))];
    }
    paths(raw)
        .iter()
        .map(|path| Target::Path(Pattern::new(root, path)))
        .collect()
}

fn paths_in(root: &ProjectRoot, words: &[Word<'_>]) -> Vec<Target> {
    words.iter().flat_map(|word| paths_of(root, word.raw)).collect()
}

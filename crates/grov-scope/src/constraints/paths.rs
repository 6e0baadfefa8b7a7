//! Constraints on files and folders.

use super::limit::{Layer, Place, PlaceRule};
use super::place::{glob_reaches, path_words};
use super::request::{RequestedChange, Sentence};
use crate::analyzed_action::AnalyzedAction;
use crate::file_kind::{FileKind, is_temporary};
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use crate::pattern::Pattern;
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
    /// Of a constraint that allows its own paths only: what belongs to them is not allowed either.
    is_strict: bool,
    /// Only places that the constraint names by their path count: a model that read the prompts did not confirm the rest.
    only_named: bool,
    /// Tests are not among the files that it names by a wildcard.
    spares_tests: bool,
}

/// What a constraint refers to.
#[derive(Clone, Debug)]
enum Target {
    Path(Pattern),
    Kind(FileKind),
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

    /// Whether a later request for a change takes it back, naming it by something other than its path.
    fn is_requested_by(&self, change: &RequestedChange) -> bool {
        let names = |word: &str| {
            let objects = change.objects.iter();
            objects
                .map(String::as_str)
                .any(|object| object == word || object.strip_suffix('s') == Some(word))
        };
        match self {
            Self::Kind(kind) => change.kinds.contains(kind),
            Self::Place(Place::Words(words) | Place::KindOf(_, words)) => {
                words.iter().all(|word| names(word))
            }
            Self::Place(_) => false,
            Self::Path(pattern) => {
                let path = pattern.text().trim_end_matches(['*', '/']).to_lowercase();
                let name = path.rsplit('/').next().unwrap_or_default();
                let stem = name.split('.').next().unwrap_or_default();
                let is_telling = stem.len() >= 4 && !stem.contains('*');
                is_telling && (names(stem) || names(name))
            }
        }
    }

    /// Whether a file belongs to it: its tests, and the manifests, documents and pipelines of its folders.
    fn owns(&self, place: &NormalizedPath) -> bool {
        let Self::Path(pattern) = self else { return false };
        let path = pattern
            .text()
            .trim_start_matches("./")
            .trim_end_matches(['*', '/'])
            .to_lowercase();
        let is_above = place.parent().is_empty() || path.starts_with(&format!("{}/", place.parent()));
        let shares_name = || {
            let name = path.rsplit('/').next().unwrap_or_default();
            let stem = name.trim_start_matches('.').split('.').next().unwrap_or_default();
            let named = path_words(place.display());
            !stem.is_empty() && path_words(stem).iter().all(|word| named.contains(word))
        };
        let is = |kinds: &[FileKind]| kinds.iter().any(|kind| kind.is(place));
        // The documents of one language do not belong to those of another.
        let is_document = FileKind::Docs.is(&NormalizedPath::new(&ProjectRoot::default(), &path));
        is(&[FileKind::Manifest, FileKind::Lock]) && is_above
            || FileKind::Docs.is(place) && is_above && !is_document
            || is(&[
                FileKind::Test,
                FileKind::Snapshot,
                FileKind::Docs,
                FileKind::Pipeline,
            ]) && shares_name()
    }

    /// Like [`Self::covers`], of all files that a path with wildcards names.
    fn holds(&self, place: &NormalizedPath) -> bool {
        match self {
            Self::Path(pattern) => pattern.covers(place),
            other => other.covers(place),
        }
    }

    /// Whether it covers a file by a path that stands in the text of its constraint: a file, a folder, or all below a folder.
    fn is_quoted(&self, place: &NormalizedPath, text: &str) -> bool {
        match self {
            Self::Path(pattern) => {
                let path = pattern
                    .text()
                    .trim_start_matches("./")
                    .trim_end_matches(['*', '/']);
                !path.is_empty() && !path.contains('*') && text.contains(path) && self.covers(place)
            }
            Self::Kind(_) | Self::Place(_) => false,
        }
    }

    fn covers(&self, place: &NormalizedPath) -> bool {
        match self {
            Self::Path(pattern) => pattern.covers(place) || glob_reaches(place.as_str(), pattern.text()),
            Self::Kind(kind) => kind.is(place),
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

    /// Keeps what names a place by its path.
    pub(super) fn keep_named(&mut self) {
        self.only.clear();
        self.forbidden
            .iter_mut()
            .for_each(|limit| limit.only_named = true);
    }

    /// Keeps the paths that a constraint names and a model that read it does not tell.
    pub(super) fn keep_untold(&mut self, is_told: impl Fn(&Pattern) -> bool) {
        self.keep_named();
        for limit in &mut self.forbidden {
            limit
                .targets
                .retain(|target| matches!(target, Target::Path(path) if !is_told(path)));
        }
        self.forbidden.retain(|limit| !limit.targets.is_empty());
    }

    /// Lifts constraints for paths that the user asked to change: in the constraint's own instruction (`own`), if named by
    /// path; in later ones (`later`), however named. A constraint that allows only its paths ends if other paths are requested.
    pub(super) fn lift(&mut self, root: &ProjectRoot, own: &[&Sentence], later: &[Sentence]) {
        let younger: Vec<&RequestedChange> = later
            .iter()
            .filter_map(|sentence| sentence.change.as_ref())
            .collect();
        let named = |limit: &mut PathConstraint, with_own: bool| {
            // "Fix it in src/. Leave the snapshots alone" limits the change of src/.
            let own = own
                .iter()
                .filter(|_| with_own)
                .filter_map(|sentence| sentence.change.as_ref());
            let own = own.flat_map(|change| change.paths.iter().filter(|path| is_file(path)));
            let later = younger
                .iter()
                .flat_map(|change| change.paths.iter().chain(&change.names));
            limit.lifted.extend(own.chain(later).take(MAX_LIFTED).cloned());
        };
        for limit in &mut self.forbidden {
            named(limit, true);
            limit
                .targets
                .retain(|target| !younger.iter().any(|change| target.is_requested_by(change)));
        }
        self.forbidden.retain(|limit| !limit.targets.is_empty());
        for limit in &mut self.only {
            // "Write the missing tests of lib/cart.ts. Only tests"
            let is_kind = limit
                .targets
                .iter()
                .all(|target| matches!(target, Target::Kind(_)));
            named(limit, !is_kind);
            let is_other = |path: &Pattern| !covered(&limit.targets, &NormalizedPath::new(root, path.text()));
            let ends = younger.iter().any(|change| !change.kinds.is_empty())
                || later.iter().any(|sentence| sentence.places.iter().any(is_other))
                || younger.iter().any(|change| change.paths.iter().any(is_other));
            if ends {
                limit.targets.clear();
            }
        }
        self.only.retain(|limit| !limit.targets.is_empty());
    }

    /// "Only change tax.rb, and leave the templates": a file that alone may change is forbidden by no limit that does not name it.
    pub(super) fn spare_confined(&mut self) {
        let targets = self.only.iter().flat_map(|limit| &limit.targets);
        let files = targets.filter_map(|target| match target {
            Target::Path(pattern) if is_file(pattern) => Some(pattern.clone()),
            _ => None,
        });
        for file in files.take(MAX_LIFTED).collect::<Vec<_>>() {
            let others = self.forbidden.iter_mut();
            for limit in others.filter(|limit| !limit.text.contains(file.text())) {
                limit.lifted.push(file.clone());
            }
        }
    }

    /// "Write tests for src/cart. Don't change src/cart/*.ts": the tests that the prompt asks for are none of these files.
    pub(super) fn spare_tests(&mut self) {
        for limit in &mut self.forbidden {
            limit.spares_tests = true;
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
            is_strict: false,
            only_named: false,
            spares_tests: false,
        });
    }

    /// Adds places that alone may change; what belongs to them may too, unless the constraint is strict.
    pub(super) fn confine(&mut self, root: &ProjectRoot, text: &str, places: &[Place], is_strict: bool) {
        self.only.push(PathConstraint {
            text: text.to_owned(),
            targets: places.iter().map(|place| Target::of(root, place)).collect(),
            except: Vec::new(),
            lifted: Vec::new(),
            removal_only: false,
            existing_only: false,
            is_strict,
            only_named: false,
            spares_tests: false,
        });
    }

    /// The constraint that an action violates by changing `place`.
    pub(super) fn breach(
        &self,
        place: &NormalizedPath,
        action: &AnalyzedAction<'_>,
    ) -> Option<PathBreach<'_>> {
        self.breach_by(place, action, action.removes)
    }

    /// Like [`Self::breach`], for a place that the action changes or `removes`.
    pub(super) fn breach_by(
        &self,
        place: &NormalizedPath,
        action: &AnalyzedAction<'_>,
        removes: bool,
    ) -> Option<PathBreach<'_>> {
        // An identifier names the file of its name.
        let names = |pattern: &Pattern| match pattern.text().contains(['/', '.']) {
            true => pattern.covers(place),
            false => pattern.expects(place),
        };
        let is_lifted = |limit: &PathConstraint| limit.lifted.iter().any(names);
        let is_test = FileKind::Test.is(place);
        let is_meant = |limit: &PathConstraint, target: &Target| {
            let is_spared = limit.spares_tests
                && is_test
                && matches!(target, Target::Path(path) if names_any_source(path.text()));
            target.covers(place) && !is_spared
        };
        let forbids = |limit: &&PathConstraint| {
            limit.targets.iter().any(|target| is_meant(limit, target))
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
                && !limit.targets.iter().any(|target| target.holds(place))
                && (limit.is_strict || !limit.targets.iter().any(|target| target.owns(place)))
                && leaves_layer(&limit.targets, place)
        };
        let is_quoted = |limit: &PathConstraint| {
            let mut targets = limit.targets.iter();
            targets.any(|target| target.is_quoted(place, &limit.text))
        };
        let broken = || self.forbidden.iter().filter(forbids);
        // What is certain counts more than what is understood.
        if let Some(limit) = broken()
            .find(|limit| is_quoted(limit))
            .or_else(|| broken().find(|limit| !limit.only_named))
        {
            return Some(PathBreach {
                text: &limit.text,
                is_interpreted: !is_quoted(limit),
            });
        }
        // How far the work on a place reaches is a matter of opinion.
        let limit = self.only.iter().find(excludes)?;
        Some(PathBreach {
            text: &limit.text,
            is_interpreted: true,
        })
    }
}

/// A violated constraint.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathBreach<'a> {
    pub(super) text: &'a str,
    /// Whether the constraint does not name the place by its path.
    pub(super) is_interpreted: bool,
}

/// Whether a path names a file, and no folder.
fn is_file(path: &Pattern) -> bool {
    let name = path.text().rsplit('/').next();
    name.is_some_and(|name| name.contains('.') && !name.contains('*'))
}

/// Whether a path names files by a wildcard, and no tests: `src/cart/*.ts`.
fn names_any_source(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.contains('*') && !name.contains("test") && !name.contains("spec") && name.rsplit_once('.').is_some()
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

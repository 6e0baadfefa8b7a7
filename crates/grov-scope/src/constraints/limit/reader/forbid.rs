//! "Don't …": what must not change, run or be written.

use super::confine::only;
use super::{COMMANDS, ClauseReader, VERBS};
use crate::constraints::clause::{Token, clauses, tokens};
use crate::constraints::limit::forbidden_commands::{PROGRAMS, commands};
use crate::constraints::limit::forbidden_texts::{signatures, written};
use crate::constraints::limit::parts::{GENERAL, Parts, is_name, place_of};
use crate::constraints::limit::{ForbiddenCommand, Limit, Place, PlaceRule};
use crate::constraints::vocabulary::Term;
use crate::constraints::written::Construct;
use crate::file_kind::FileKind;

impl ClauseReader<'_> {
    /// "Don't …", "hands off …", "ask before …".
    pub(super) fn forbid(&self, cue: usize, is_state: bool) -> Vec<Limit> {
        let (mut rule, mut except) = self.around(cue, is_state);
        // "Except a.rs change nothing"
        if let Some(at) = self.clause[..cue].iter().position(|token| token.is(Term::Except)) {
            except = &self.clause[at + 1..cue];
            // "Everything except src/layout/ is off limits"
            if is_state && rule.len() > at {
                rule = &self.clause[..at];
            }
        }
        // "docs/ 以外のファイルは変更せず": the place stands before.
        if let Some(at) = self.clause[..cue].iter().position(|token| token.is(Term::Except))
            && !self.clause[at].raw.is_ascii()
        {
            let places = self.places_in(&self.clause[..at]);
            if !places.is_empty() {
                return only(places, true);
            }
            // "それ以外のファイルには触らないで": what was named before.
            let others = self.only_named();
            if !others.is_empty() && Parts::of(self.clause).places.is_empty() {
                return others;
            }
        }
        // "In the parser change nothing"
        let all = Parts::of(rule);
        let before = Parts::of(&self.clause[..cue]);
        let nothing = self.clause.iter().any(|token| token.is(Term::Nothing));
        let is_unnamed = all.has(Term::All) || nothing;
        if is_unnamed && all.is_empty() && except.is_empty() && !before.is_empty() {
            rule = self.clause;
        }
        let mut parts = Parts::of(rule);
        // "It", "there", "them": what the clause before names.
        // Japanese puts the object before a pause: "*.g.dart) は手で編集しない".
        let is_verb_last = cue + 1 == self.clause.len() && parts.has_only(&[Term::Change, Term::Not]);
        // "Dist/ is generated, no lo edites": the pronoun says nothing.
        let is_verb_alone = parts.has_only(&[Term::Change, Term::Remove, Term::Rename, Term::Until])
            && parts.has_any(&[Term::Change, Term::Remove, Term::Rename])
            && (!Parts::of(self.before).places.is_empty() || self.is_described_before());
        // "其他文件不要动": all but what the prompt names.
        if is_state && parts.is_empty() && before.has(Term::Else) && before.is_empty() {
            return self.only_named();
        }
        // "Les layouts on n'y touche pas" names its object itself.
        let names_own = before.words.len() > 1 && parts.has(Term::That);
        if parts.is_empty()
            && !names_own
            && (parts.has(Term::That) || is_state || is_verb_last || is_verb_alone)
        {
            parts.places.extend(self.places_before());
        }
        parts.places.extend(numbered(rule));
        if parts.has(Term::Outside) && !parts.places.is_empty() {
            let mut places = parts.places;
            places.extend(Parts::of(except).places);
            return only(places, true);
        }
        let except_places = self.places_in(except);
        let is_all = (parts.has(Term::All) || nothing) && parts.is_empty();
        let is_change = parts.has(Term::Change) || is_state;
        // "And no other files"
        let is_else = parts.has_only(&[Term::Else, Term::File]) && !is_state;
        if parts.has(Term::Else)
            && parts.is_empty()
            && (is_change || nothing || is_else)
            && !parts.has_any(COMMANDS)
        {
            return self.only_named();
        }
        if is_all && !except_places.is_empty() && is_change {
            return only(except_places, true);
        }
        if except.is_empty()
            && let Some(limit) = self.forbids_all(&parts, rule, is_all, is_state)
        {
            return vec![limit];
        }
        if parts.has(Term::Key) && (is_state || is_change) {
            return vec![Limit::Written(Construct::Keys)];
        }
        let is_layer = parts.kinds().iter().any(|kind| matches!(kind, Place::Layer(_)));
        if is_state && parts.has_any(&[Term::Signature, Term::Public]) && !is_layer {
            return signatures(&parts, self.context);
        }
        // "I'll upload it myself"
        if let (true, [verb], true) = (
            self.clause[cue].is(Term::Myself),
            parts.words.as_slice(),
            parts.has(Term::That),
        ) {
            return vec![Limit::Command(ForbiddenCommand::Named((*verb).to_owned()))];
        }
        let mut found = commands(&parts, rule, is_state, self.context);
        let knobs = super::knobs::kept(self.clause);
        found.extend(knobs.into_iter().map(Limit::Written));
        // "Nothing that hits the network"
        if nothing && parts.has(Term::Network) && parts.words.len() <= 1 {
            found.push(Limit::Command(ForbiddenCommand::Network));
        }
        // "Delete nothing"
        if nothing && parts.has(Term::Remove) && parts.has_only(&[Term::Remove, Term::Until]) {
            found.push(Limit::Command(ForbiddenCommand::Delete));
        }
        if found.contains(&Limit::Command(ForbiddenCommand::Format)) {
            found.push(Limit::Written(Construct::Formatting));
        }
        found.extend(written(&parts, rule, &self.clause[cue], is_state, self.context));
        found.extend(forbids_packages(&parts, rule, nothing).then_some(Limit::Package(None)));
        if self.clause.iter().any(|token| token.is(Term::Use)) {
            found.extend(libraries(&parts));
        }
        if parts.has(Term::File)
            && parts.has_any(&[Term::New, Term::Add])
            && parts.is_empty()
            && !parts.has(Term::Change)
        {
            found.push(Limit::NewFiles);
        }
        found.extend(self.places(
            &parts,
            rule,
            is_state || nothing || self.clause[cue].is(Term::Ask) || self.is_exclusion(cue, &parts),
            except_places.clone(),
        ));
        found.extend(self.listed(rule, is_state, &except_places));
        found
    }

    /// Whether the words before the limit say what a file is, and ask for nothing: "src/a.ts is generated, don't edit".
    fn is_described_before(&self) -> bool {
        let clauses = clauses(tokens(&self.context.before, self.context.languages));
        let named = clauses.iter().rfind(|clause| clause.iter().any(Token::is_place));
        named.is_some_and(|clause| {
            let first = clause.iter().find(|token| !token.is(Term::Filler));
            // "Generated" means adding in some languages.
            let acts = |token: &Token| token.is_action() && !token.is(Term::Add);
            first.is_some_and(Token::is_place) && !clause.iter().any(acts)
        })
    }

    /// "Change nothing", "no edits", "don't apply": nothing may change, or no infrastructure.
    fn forbids_all(&self, parts: &Parts<'_>, rule: &[Token], is_all: bool, is_state: bool) -> Option<Limit> {
        if is_all
            && !self.names_apply()
            && parts.has_any(&[Term::Change, Term::Apply])
            && !parts.has_any(NARROWING)
        {
            return Some(Limit::ReadOnly);
        }
        // "No edits", "without changes"
        let is_noun = |token: &Token| CHANGES.contains(&token.folded.as_str());
        if rule.iter().any(is_noun)
            && !self.context.names_work
            && parts.has_only(&[
                Term::Change,
                Term::Code,
                Term::File,
                Term::All,
                Term::Add,
                Term::Until,
                Term::Not,
            ])
        {
            return Some(Limit::ReadOnly);
        }
        if parts.has_only(&[
            Term::Apply,
            Term::Until,
            Term::Change,
            Term::Code,
            Term::All,
            Term::Add,
            Term::Not,
        ]) && (parts.has_any(&[Term::Apply, Term::Code])
            && !parts.has(Term::New)
            && !is_state
            && parts.has_any(&[Term::Apply, Term::Add, Term::Until, Term::Change])
            || parts.has(Term::Code) && rule.len() == 1)
        {
            return Some(if self.names_apply() || self.tells_infrastructure() {
                Limit::Command(ForbiddenCommand::Infrastructure)
            } else {
                Limit::ReadOnly
            });
        }
        None
    }

    /// "Not the partner pages", "but not in batch07": an object of what the prompt requests.
    fn is_exclusion(&self, cue: usize, parts: &Parts<'_>) -> bool {
        let negates = matches!(
            self.clause[cue].folded.as_str(),
            "not" | "nicht" | "niet" | "nie" | "nao" | "pas"
        );
        let next = self.clause.get(cue + 1);
        let is_noun =
            next.is_some_and(|token| token.is(Term::Filler) && ARTICLES.contains(&token.folded.as_str()));
        negates
            && is_noun
            && !parts.has_any(VERBS)
            && !parts.has_any(&[Term::Look, Term::Aspect, Term::Code, Term::That])
    }

    /// Whether "apply" is the command: "no apply", and not "don't apply anything".
    fn names_apply(&self) -> bool {
        let verb = ["don't", "do not", "not", "never"];
        self.clause.iter().any(|token| token.folded == "apply")
            && !self.clause.iter().any(|token| {
                verb.contains(&token.folded.as_str()) || token.is(Term::Not) && token.folded == "do"
            })
    }

    /// "Terraform" or "helm" is the subject.
    fn tells_infrastructure(&self) -> bool {
        self.context.is_infrastructure
            || self.clause.iter().chain(self.before).any(|token| {
                matches!(
                    token.folded.as_str(),
                    "terraform" | "plan" | "helm" | "kubectl" | "tofu" | "pulumi"
                )
            })
    }

    /// The places that must not change.
    fn places(
        &self,
        parts: &Parts<'_>,
        words: &[Token],
        binds_without_verb: bool,
        except: Vec<Place>,
    ) -> Vec<Limit> {
        // "Nothing in src/a.rs may panic"
        let states = self.clause.iter().any(|token| token.is(Term::Nothing));
        let is_statement = states && !parts.words.is_empty() && !parts.places.is_empty();
        let binds_without_verb = binds_without_verb && !is_statement;
        let removes = parts.has_any(&[Term::Remove, Term::Rename]);
        let changes = parts.has(Term::Change) || parts.has(Term::Merge);
        let adds = parts.has_any(&[Term::Add, Term::Upgrade]);
        // "Don't change the signature of f in src/a.rs" is not about the file.
        if parts.has_any(&[
            Term::Aspect,
            Term::Signature,
            Term::Function,
            Term::Comment,
            Term::Line,
            Term::Use,
            Term::Run,
            Term::Look,
            Term::Network,
            Term::Dependency,
            Term::Query,
        ]) {
            // "Don't change src/a.rs or the signatures" is.
            let places = direct_objects(words);
            let rule = PlaceRule {
                removal_only: removes && !changes,
                existing_only: false,
                except,
            };
            let is_forbidden = !places.is_empty() && (changes || removes);
            return is_forbidden
                .then_some(Limit::Places(places, rule))
                .into_iter()
                .collect();
        }
        // "The handler's interface" is no file.
        let is_layer = parts.kinds().iter().any(|kind| matches!(kind, Place::Layer(_)));
        if parts.has(Term::Public) && parts.places.is_empty() && !is_layer {
            return Vec::new();
        }
        let is_plain = parts.words.is_empty() && parts.literals.is_empty();
        if !(changes || removes || binds_without_verb || adds || is_plain && !parts.places.is_empty()) {
            return Vec::new();
        }
        let mut places = parts.places.clone();
        if changes || removes || binds_without_verb {
            places.extend(parts.kinds());
        } else if adds || is_plain {
            let kinds = parts
                .kinds()
                .into_iter()
                .filter(|kind| matches!(kind, Place::Kind(FileKind::Migration | FileKind::Docs)));
            places.extend(kinds);
        }
        // Named by words: "the billing code".
        let is_named = (changes || binds_without_verb)
            && places.is_empty()
            && parts.literals.is_empty()
            // "Existing invoices" are data.
            && !parts.has(Term::Existing)
            && !parts.has_any(COMMANDS);
        let mut found = Vec::new();
        if is_named {
            let named = parts.named();
            let is_telling = |group: &&Vec<String>| group.iter().all(|word| word.len() >= 3);
            places.extend(named.iter().filter(is_telling).cloned().map(Place::Words));
            // One word names too much: "text", "order".
            let names_section = self
                .clause
                .iter()
                .any(|token| GENERAL.contains(&token.folded.as_str()));
            let settings = named
                .into_iter()
                .filter(|group| group.len() >= 2 || names_section);
            found.extend(settings.map(|group| Limit::Written(Construct::Setting(group))));
        }
        // The file of a type, the folder of a name.
        let names = parts
            .literals
            .iter()
            .filter(|name| is_name(&name.replace('.', "-")) && (changes || binds_without_verb));
        places.extend(
            names.flat_map(|name| [Place::Path(format!("{name}.*")), Place::Path((*name).to_owned())]),
        );
        if places.is_empty() {
            return found;
        }
        let rule = PlaceRule {
            removal_only: removes && !changes,
            existing_only: parts.has(Term::Existing),
            except,
        };
        found.push(Limit::Places(places, rule));
        found
    }
}

/// "Chapter 3": the file or folder of one of several things that have numbers.
fn numbered(words: &[Token]) -> Vec<Place> {
    let is_number =
        |token: &Token| token.raw.len() <= 2 && token.raw.bytes().all(|byte| byte.is_ascii_digit());
    let pairs = words.windows(2).filter(|pair| {
        pair[0].term.is_none()
            && is_name(&pair[0].folded)
            && pair[0].folded.len() >= 4
            && !pair[0].pauses
            && is_number(&pair[1])
    });
    pairs
        .flat_map(|pair| {
            let (name, number) = (&pair[0].folded, &pair[1].raw);
            let names = ["", "-", "_", "0", "-0", "_0"].map(|joint| format!("{name}{joint}{number}"));
            names
                .into_iter()
                .flat_map(|name| [Place::Path(format!("{name}.*")), Place::Path(name)])
        })
        .collect()
}

/// The paths that are what a verb changes, or are listed with that: no preposition stands before them.
fn direct_objects(words: &[Token]) -> Vec<Place> {
    let is_article = |token: &&Token| DETERMINERS.contains(&token.folded.as_str());
    // "The signature of f in a.rs or b.rs": what is listed with a path is as direct as that.
    let mut direct = vec![false; words.len()];
    for at in 0..words.len() {
        let before = words[..at]
            .iter()
            .rposition(|token| !is_article(&token) && !token.is(Term::And));
        let joined = words[..at].iter().rposition(|token| !is_article(&token));
        direct[at] = before.is_none_or(|before| match &words[before] {
            token if token.is_place() => direct[before],
            token => {
                token.pauses
                    || token.is_any(&[Term::Change, Term::Remove, Term::Rename])
                    || joined.is_some_and(|joined| words[joined].is(Term::And))
            }
        });
    }
    let is_direct = |at: usize| direct[at];
    let paths = words.iter().enumerate().filter(|(_, token)| token.is_place());
    paths
        .filter(|(at, _)| is_direct(*at))
        .map(|(_, token)| place_of(token))
        .collect()
}

/// Words before an object that are no prepositions.
#[rustfmt::skip]
const DETERMINERS: &[&str] = &[
    "the", "this", "that", "any", "my", "our", "your", "file", "files", "folder", "directory", "either", "both", "die", "der", "das", "den", "dem", "datei", "dateien", "ordner", "het", "bestand", "map", "le", "la", "les",
    "fichier", "fichiers", "dossier", "el", "los", "las", "archivo", "archivos", "carpeta", "il", "lo", "gli", "i", "cartella", "o", "os", "as", "a", "arquivo", "pasta", "plik", "pliku", "plikow", "katalog", "fisierul", "folderul", "dosarul",
];

/// "Don't use moment.js": a library, and no file.
fn libraries(parts: &Parts<'_>) -> Vec<Limit> {
    let names = parts.places.iter().filter_map(|place| match place {
        Place::Path(path) if !path.contains('/') => path.strip_suffix(".js"),
        _ => None,
    });
    let names: Vec<String> = names
        .filter(|name| is_name(name))
        .map(str::to_lowercase)
        .collect();
    let limits = names.into_iter().flat_map(|name| {
        [
            Limit::Package(Some(name.clone())),
            Limit::Written(Construct::Name(name)),
        ]
    });
    limits.collect()
}

/// Beginnings of words for what comes from elsewhere, folded: "librerías externas".
const FOREIGN: &[&str] = &[
    "extern",
    "estern",
    "zewnetrzn",
    "fremd",
    "terze",
    "terceir",
    "tercer",
];

/// Whether every new package is forbidden.
fn forbids_packages(parts: &Parts<'_>, rule: &[Token], nothing: bool) -> bool {
    let others = |token: &Token| {
        let first = token.phrase.split(' ').next().unwrap_or_default();
        token.is(Term::Dependency) && matches!(first, "other" | "another" | "extra" | "new")
    };
    let is_foreign = |token: &Token| {
        token.is(Term::Dependency)
            && matches!(
                token.phrase.as_str(),
                "third party" | "third-party" | "3rd party" | "frameworks" | "framework"
            )
            || FOREIGN.iter().any(|stem| token.folded.starts_with(stem))
    };
    // "No new dependencies in pom.xml"
    let is_manifest =
        |place: &Place| matches!(place, Place::Path(path) if MANIFESTS.contains(&path.as_str()));
    let says_new = parts.has_any(&[Term::New, Term::Else]) || rule.iter().any(others);
    let names_one = parts.literals.iter().any(|name| is_name(name));
    // "Another npm package" names the manager alone.
    let is_unnamed = parts.words.iter().all(|word| PROGRAMS.contains(word))
        // "Any third-party date library", "CSS frameworks"
        || parts.words.len() <= 1 && (parts.has(Term::All) || rule.iter().any(is_foreign));
    let is_about_packages = parts.has(Term::Dependency)
        && !parts.has_any(&[Term::Aspect, Term::Remove, Term::Rename])
        && parts.places.iter().all(is_manifest)
        && (says_new || is_unnamed && !names_one);
    let is_install = parts.has(Term::Install)
        && (nothing || parts.has_any(&[Term::All, Term::Nothing]) || parts.has_only(&[Term::Install]));
    is_about_packages || is_install
}

/// Files that list dependencies.
#[rustfmt::skip]
pub(super) const MANIFESTS: &[&str] = &[
    "Cargo.toml", "Gemfile", "Package.swift", "Pipfile", "build.gradle", "build.gradle.kts", "composer.json", "go.mod", "mix.exs", "package.json", "pom.xml", "pubspec.yaml", "pyproject.toml", "requirements.txt",
];

/// Articles and prepositions before an object.
#[rustfmt::skip]
const ARTICLES: &[&str] = &[
    "the", "in", "die", "der", "das", "den", "dem", "im", "de", "het", "w", "we", "na", "as", "os", "le", "la", "les", "dans",
];

/// Nouns for any change.
#[rustfmt::skip]
const CHANGES: &[&str] = &[
    "changes", "change", "edits", "modifications", "modification", "anderungen", "anderung", "modificari", "schimbari", "modifications", "changements", "cambios", "modificaciones", "modifiche", "cambiamenti",
    "mudancas", "alteracao", "alteracoes", "zmian", "zmiany", "wijzigingen", "any changes", "make changes to",
];

/// Nouns that narrow "anything".
#[rustfmt::skip]
const NARROWING: &[Term] = &[
    Term::Else, Term::Aspect, Term::Signature, Term::Public, Term::Dependency, Term::Function, Term::Data, Term::Comment, Term::Install, Term::Run, Term::Branch, Term::Outside,
];

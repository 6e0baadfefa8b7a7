//! Parts of a project that a constraint names in words: a folder, a file or a group of files whose path has these words.

use super::concepts;
use super::kinds::{self, Kind};
use super::stem::{cognate, is_same_word};
use crate::constraints::clause::Token;
use crate::constraints::limit::{Place, kind_of};
use crate::constraints::place::{language_code, path_words};
use crate::constraints::vocabulary::Term;
use crate::file_kind::FileKind;
use crate::normalized_path::NormalizedPath;
use crate::words::fold;

/// A part of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Area {
    /// A path, as written.
    Path(String),
    /// A kind of files.
    Kind(Place),
    /// The code of sources, without their comments.
    Code,
    /// The words of a name, each with what code calls it besides.
    Words(Vec<Vec<String>>),
}

/// Nouns for a part of a project, which tell nothing about which part. Their English names are those of folders.
#[rustfmt::skip]
const CONTAINERS: &[&str] = &[
    "actual", "ansichten", "app", "apps", "aquelas", "aqueles", "aquellas", "aquellos", "area", "around", "bagian", "bereich", "bestanden", "bibliothek", "bildschirm", "bits", "block", "camada",
    "capa", "cei", "cele", "celle", "celles", "celui", "ceux", "clasa", "clases", "class", "classe", "classes", "code", "codigo", "codul", "command", "commands", "component", "componente",
    "componenti", "components", "composant", "composants", "controleur", "controller", "controllers", "couche", "dateien", "degene", "dialog", "dialogs", "domain", "dossier", "ebene", "ecran",
    "ecrans", "ekran", "ekranu", "endpoint", "endpoints", "entidad", "entidade", "entidades", "entita", "entitat", "entitaten", "entite", "entites", "entities", "entity", "feature", "features",
    "fichier", "fichiers", "fisier", "fisiere", "fisierul", "flow", "flows", "folder", "formular", "funktion", "handler", "handlers", "helper", "helpers", "job", "jobs", "katalog", "katalogu",
    "klasa", "klasse", "klassen", "klasy", "kod", "kode", "kodu", "laag", "layer", "library", "logic", "logica", "logik", "logique", "manager", "middleware", "model", "modele", "modeles", "modell",
    "modelle", "modelli", "modello", "modelo", "modelos", "models", "modelul", "modul", "module", "modules", "modulo", "modulul", "moduly", "ones", "pachet", "pachetul", "package", "packages",
    "page", "pages", "pagina", "paginas", "pagine", "paginii", "paginile", "paket", "pantalla", "pantallas", "part", "parte", "partea", "partie", "pieces", "plik", "pliki", "plikow", "quei",
    "quelle", "quelli", "related", "rund", "scherm", "schermata", "schermen", "screen", "screens", "script", "scripts", "secao", "seccion", "secciones", "secoes", "sectie", "secties", "section",
    "sectiune", "sectiunea", "seite", "seiten", "sekcja", "sekcje", "sekcji", "service", "services", "servicio", "servizio", "side", "sezione", "specific", "stuff", "subsystem", "system", "tabelle",
    "tabellen", "tamtych", "teil", "teile", "tela", "telas", "template", "templates", "those", "tool", "tools", "tych", "umgebung", "view", "views", "vistas", "viste", "vues", "warstwa", "whole",
    "widget", "widgets", "widok", "widoki", "widoku", "workspace", "workspaces", "zona", "zone",
];

/// Words at the end of the name of a file that tell what it is, and not what it is about.
#[rustfmt::skip]
const SUFFIXES: &[&str] = &[
    "api", "base", "builder", "client", "component", "config", "controller", "css", "dao", "dto", "factory", "form", "handler", "helper", "helpers", "impl", "index", "js", "main", "manager", "middleware", "model", "models", "module", "page",
    "provider", "repository", "router", "routes", "schema", "screen", "service", "services", "spec", "store", "test", "tests", "ts", "types", "util", "utils", "view", "views", "worker",
];

/// The parts of a project that the object of a clause names. `requested` are the words of what the prompt asks for;
/// `has_verb` tells that a verb precedes the object, so that further ones are nouns.
/// `is_foreign` tells that the prompt is not in English.
pub(super) fn of(object: &[&Token], requested: &[String], mut has_verb: bool, is_foreign: bool) -> Vec<Area> {
    let mut found = Vec::new();
    let mut group: Vec<&Token> = Vec::new();
    let mut before: Option<&Token> = None;
    for token in object {
        // "X stays strict": the words after the cue come first, and name another thing.
        if before.is_some_and(|before| std::ptr::from_ref(*token) < std::ptr::from_ref(before)) {
            found.extend(named(&std::mem::take(&mut group), requested, is_foreign));
        }
        before = Some(token);
        // "Don't touch the import": the second verb is a noun.
        let is_noun = token.is_action() && has_verb;
        has_verb |= token.is_action();
        let is_word = token.term.is_none() && !token.is_place() && !token.is_quoted
            || token.is(Term::Component)
            || is_noun && !token.is_phrase;
        if is_word {
            group.push(token);
        } else if token.is(Term::Production) {
            let names = ["prod", "production", "live"].map(str::to_owned);
            found.push(Area::Words(vec![names.to_vec()]));
        } else if token.is_place() {
            found.push(Area::Path(token.raw.clone()));
        } else {
            // "The styles" are files in the plural, and formatting in the singular.
            let term = if is_styles(token) {
                Some(Term::Styles)
            } else {
                token.term
            };
            // "The payment tests" are those of one thing.
            let kinds = term.map(kinds_of).unwrap_or_default();
            if !kinds.is_empty() && group.is_empty() {
                found.extend(kinds.into_iter().map(Area::Kind));
            }
        }
        if !is_word && !token.is_any(&[Term::Filler, Term::File]) || token.pauses {
            found.extend(named(&std::mem::take(&mut group), requested, is_foreign));
        }
    }
    found.extend(named(&group, requested, is_foreign));
    if object.iter().any(|token| token.folded.starts_with("toolchain")) {
        found.extend(TOOLCHAINS.iter().map(|path| Area::Path((*path).to_owned())));
    }
    // "The code" alone is all sources; "the code in src/a" is not.
    if found.is_empty() && object.iter().any(|token| token.is(Term::Code)) {
        found.push(Area::Code);
    }
    found
}

/// Whether a word for formatting means style sheets.
pub(super) fn is_styles(token: &Token) -> bool {
    token.is(Term::Format) && STYLES.contains(&token.folded.as_str())
}

/// Style sheets, in the plural.
const STYLES: &[&str] = &[
    "styles", "estilos", "stili", "stile", "stijlen", "style", "stiluri",
];

/// Files that select the version of a compiler or interpreter.
#[rustfmt::skip]
const TOOLCHAINS: &[&str] = &[
    "rust-toolchain.toml", "rust-toolchain", ".nvmrc", ".node-version", ".python-version", ".ruby-version", ".tool-versions", ".go-version", ".java-version", "global.json", ".sdkmanrc", "gradle/wrapper/gradle-wrapper.properties",
];

/// The parts of a project that the things in a text without spaces name: "支付模块" is `payment/`.
pub(super) fn in_unspaced(text: &str, requested: &[String]) -> Vec<Area> {
    let is_requested = |concept: &&concepts::Concept| {
        concept
            .words
            .iter()
            .any(|word| requested.iter().any(|known| known == word))
    };
    concepts::named_in(text)
        .filter(|concept| !is_requested(concept))
        .map(|concept| {
            let names = concept.words.iter().map(|word| (*word).to_owned());
            Area::Words(vec![names.collect()])
        })
        .collect()
}

/// The kinds of files that a word means. A database is described by its schema and changed by migrations.
fn kinds_of(term: Term) -> Vec<Place> {
    match term {
        Term::Data => vec![Place::Kind(FileKind::Schema), Place::Kind(FileKind::Migration)],
        Term::Styles => vec![Place::Kind(FileKind::Styles)],
        Term::Schema => vec![Place::Kind(FileKind::Schema), Place::Kind(FileKind::Migration)],
        // "The component" alone names none.
        Term::Component | Term::Production => Vec::new(),
        _ => kind_of(term).into_iter().collect(),
    }
}

/// The area with the words of a group, without nouns that tell nothing.
fn named(group: &[&Token], requested: &[String], is_foreign: bool) -> Option<Area> {
    const MOST: usize = 3;
    let telling: Vec<&str> = group
        .iter()
        // "The login-page"
        .flat_map(|token| token.folded.split('-'))
        .filter(|word| !CONTAINERS.contains(word))
        .collect();
    let is_word = |word: &&str| {
        word.chars().count() >= 3
            && word
                .chars()
                .all(|letter| letter.is_alphanumeric() || letter == '-')
    };
    if telling.is_empty() || telling.len() > MOST || !telling.iter().all(is_word) {
        return None;
    }
    let is_requested = |word: &&str| requested.iter().any(|known| is_same_word(known, word));
    if telling.iter().all(is_requested) {
        return None;
    }
    let names = |word: &&str| {
        let mut names = vec![(*word).to_owned()];
        names.extend(language_code(word).map(str::to_owned));
        for concept in concepts::named_by(word) {
            let others = concept
                .words
                .iter()
                .filter(|name| !requested.iter().any(|known| known == *name));
            names.extend(others.map(|name| (*name).to_owned()));
        }
        names.extend(
            cognate(word)
                .filter(|_| is_foreign)
                .map(|stem| format!("{stem}*")),
        );
        names
    };
    Some(Area::Words(telling.iter().map(names).collect()))
}

impl Area {
    /// Whether it is named by several words.
    pub(super) fn is_narrow(&self) -> bool {
        matches!(self, Self::Words(words) if words.len() > 1)
    }

    /// Whether its only name is that of a kind of thing in code, other than a heading: "the exit codes".
    pub(super) fn is_of_kind(&self) -> bool {
        match self {
            Self::Words(words) => words.iter().all(|names| {
                let names: Vec<&str> = names.iter().take(1).map(String::as_str).collect();
                let kinds = kinds::named_by(&names);
                !kinds.is_empty() && kinds.iter().all(|kind| *kind != Kind::Heading)
            }),
            _ => true,
        }
    }
    /// Whether a file or folder belongs to it.
    pub(super) fn holds(&self, place: &NormalizedPath) -> bool {
        match self {
            Self::Path(path) => {
                let path = path
                    .trim_start_matches("./")
                    .trim_end_matches(['*', '/'])
                    .to_lowercase();
                let whole = place.as_str();
                !path.is_empty()
                    && (whole == path
                        || whole.ends_with(&format!("/{path}"))
                        || whole.starts_with(&format!("{path}/"))
                        || whole.contains(&format!("/{path}/")))
            }
            Self::Code => Place::Source.covers(place),
            Self::Kind(Place::Kind(kind)) => kind.is(place),
            Self::Kind(place_of) => place_of.covers(place),
            Self::Words(words) => {
                let components: Vec<Vec<String>> = place.display().split('/').map(component_words).collect();
                match words.as_slice() {
                    // One word must be all that a component is about: "payment" is `payment_service.rs`, and not `last_payment_of_user.rs`.
                    [names] => components.iter().enumerate().any(|(at, component)| {
                        let is_file = at + 1 == components.len();
                        // The tests of a thing are not the thing.
                        !(is_file && FileKind::Test.is(place)) && is_about(component, names)
                    }),
                    _ => {
                        let path = words_of_path(place);
                        words
                            .iter()
                            .all(|names| path.iter().any(|word| is_any(word, names)))
                    }
                }
            }
        }
    }
}

/// The words of a path with the ending of the file, folded.
fn words_of_path(place: &NormalizedPath) -> Vec<String> {
    let mut found: Vec<String> = place.display().split('/').flat_map(component_words).collect();
    found.push(place.extension().to_owned());
    found
}

/// The words of a folder or of a file without its ending, folded.
pub(super) fn component_words(component: &str) -> Vec<String> {
    let stem = component.split_once('.').map_or(component, |(stem, _)| stem);
    let stem = if stem.is_empty() { component } else { stem };
    path_words(stem)
        .iter()
        .map(|word| fold(word))
        .filter(|word| !word.is_empty())
        .collect()
}

/// Whether a folder or file of a path is about a word, which may be inflected.
pub(in crate::constraints) fn is_about_word(place: &NormalizedPath, words: &[String]) -> bool {
    let mut names = words.to_vec();
    names.extend(
        words
            .iter()
            .filter_map(|word| language_code(word))
            .map(str::to_owned),
    );
    Area::Words(vec![names]).holds(place)
}

/// Whether a folder or file is about a thing with one of these names.
fn is_about(component: &[String], names: &[String]) -> bool {
    let mut telling = component
        .iter()
        .filter(|word| !SUFFIXES.contains(&word.as_str()) || is_any(word, names));
    let first = telling.next();
    first.is_some_and(|word| is_any(word, names)) && telling.all(|word| is_any(word, names))
}

fn is_any(word: &str, names: &[String]) -> bool {
    names.iter().any(|name| is_same_word(word, name))
}

//! Whether a path is at a place that a constraint describes in words.

use super::limit::{Layer, Place};
use crate::file_kind::FileKind;
use crate::normalized_path::NormalizedPath;

/// Extensions of source code.
#[rustfmt::skip]
const SOURCES: &[&str] = &[
    "c", "cc", "clj", "cpp", "cs", "dart", "erl", "ex", "f90", "fs", "go", "h", "hpp", "hs", "java", "jl", "js", "jsx", "kt", "lua", "m", "mjs", "ml", "php", "pl", "py", "r", "rb", "rs", "scala", "svelte",
    "swift", "ts", "tsx", "vue", "zig",
];

/// Folders and extensions of what users see.
const FRONTEND_FOLDERS: &[&str] = &[
    "client",
    "components",
    "frontend",
    "pages",
    "public",
    "static",
    "styles",
    "templates",
    "ui",
    "views",
    "web",
    "www",
];
const FRONTEND_ENDINGS: &[&str] = &[
    "css", "ejs", "erb", "haml", "hbs", "htm", "html", "jinja", "j2", "jsx", "less", "sass", "scss",
    "svelte", "tsx", "twig", "vue",
];

/// Folders and extensions of what serves it.
const BACKEND_FOLDERS: &[&str] = &[
    "api",
    "backend",
    "cmd",
    "controllers",
    "internal",
    "migrations",
    "models",
    "repositories",
    "server",
];
const BACKEND_ENDINGS: &[&str] = &[
    "cs", "ex", "exs", "go", "java", "kt", "php", "py", "rb", "rs", "scala", "sql",
];

impl Place {
    /// Whether a path is at this place. Paths and kinds have targets of their own.
    pub(super) fn covers(&self, place: &NormalizedPath) -> bool {
        match self {
            Self::Path(_) => false,
            Self::Kind(kind) => kind.is(place),
            Self::Source => {
                SOURCES.contains(&place.extension())
                    && !FileKind::Test.is(place)
                    && !place.name().contains(".config.")
            }
            Self::Layer(layer) => layer.holds(place),
            // The tests of a thing are not the thing.
            Self::Words(words) if FileKind::Test.is(place) => has_words(folder_of(place), words),
            // One word must be all that a component is about.
            Self::Words(words) if words.len() == 1 => super::named::is_about_word(place, words),
            Self::Words(words) => has_words(place.display(), words),
            Self::Translations => is_translation(place),
            Self::Assets => {
                ASSETS.contains(&place.extension())
                    || place
                        .components()
                        .any(|part| matches!(part, "assets" | "images" | "img" | "icons" | "fonts"))
                        && !SOURCES.contains(&place.extension())
            }
            Self::OtherEnvironment(names) => {
                let named = path_words(place.display());
                let is_other = |part: &String| {
                    environment(part)
                        .is_some_and(|name| names.iter().all(|own| environment(own) != Some(name)))
                };
                named.iter().any(is_other)
            }
            Self::KindOf(kind, words) => kind.is(place) && has_words(place.display(), words),
        }
    }
}

/// Extensions of images, fonts and sounds.
#[rustfmt::skip]
const ASSETS: &[&str] = &[
    "aseprite", "blend", "bmp", "fbx", "gif", "glb", "ico", "jpeg", "jpg", "mp3", "mp4", "obj", "ogg", "otf", "png", "psd", "svg", "ttf", "wav", "webm", "webp", "woff", "woff2",
];

/// Whether a file holds texts in the languages of users.
fn is_translation(place: &NormalizedPath) -> bool {
    let is_ending = matches!(
        place.extension(),
        "po" | "pot" | "arb" | "xliff" | "xlf" | "strings" | "xcstrings" | "resx" | "ftl"
    );
    let is_folder = |part: &str| {
        matches!(
            part,
            "i18n"
                | "l10n"
                | "lang"
                | "langs"
                | "languages"
                | "locale"
                | "locales"
                | "translations"
                | "messages"
        )
    };
    let parent = place.parent();
    is_ending || parent.split('/').any(is_folder) && !SOURCES.contains(&place.extension())
}

/// Names of languages, with their codes.
#[rustfmt::skip]
const LANGUAGES: &[(&str, &str)] = &[
    ("english", "en"), ("englisch", "en"), ("anglais", "en"), ("ingles", "en"), ("inglese", "en"), ("engels", "en"), ("angielski", "en"), ("engleza", "en"), ("german", "de"), ("deutsch", "de"),
    ("allemand", "de"), ("aleman", "de"), ("tedesco", "de"), ("duits", "de"), ("french", "fr"), ("franzosisch", "fr"), ("francais", "fr"), ("frances", "fr"), ("francese", "fr"), ("frans", "fr"),
    ("spanish", "es"), ("spanisch", "es"), ("espagnol", "es"), ("espanol", "es"), ("spagnolo", "es"), ("spaans", "es"), ("italian", "it"), ("italienisch", "it"), ("italien", "it"), ("italiano", "it"),
    ("portuguese", "pt"), ("portugues", "pt"), ("polish", "pl"), ("polnisch", "pl"), ("polski", "pl"), ("dutch", "nl"), ("nederlands", "nl"), ("romanian", "ro"), ("romana", "ro"), ("japanese", "ja"), ("chinese", "zh"),
];

/// The code of a language by its name.
pub(super) fn language_code(word: &str) -> Option<&'static str> {
    let row = LANGUAGES.iter().find(|(name, _)| *name == word)?;
    Some(row.1)
}

/// Names of environments: the first of each row, and what it is called besides.
const ENVIRONMENTS: &[&[&str]] = &[
    &["prod", "production", "live"],
    &["staging", "stage", "stg"],
    &["dev", "development"],
    &["qa"],
    &["preprod"],
    &["sandbox"],
];

/// The environment that a word names.
pub(super) fn environment(word: &str) -> Option<&'static str> {
    let row = ENVIRONMENTS.iter().find(|row| row.contains(&word))?;
    row.first().copied()
}

/// The names of an environment, or of all others.
pub(super) fn environments(name: &str, is_own: bool) -> Vec<String> {
    let rows = ENVIRONMENTS.iter().filter(|row| row.contains(&name) == is_own);
    rows.flat_map(|row| row.iter().map(|name| (*name).to_owned()))
        .collect()
}

/// The folder of a path, in its original case.
fn folder_of(place: &NormalizedPath) -> &str {
    place.display().rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Whether a path or name has all of these words.
pub(super) fn has_words(path: &str, words: &[String]) -> bool {
    let named = path_words(path);
    words
        .iter()
        .all(|word| named.iter().any(|part| is_same(part, word)))
}

impl Layer {
    fn holds(self, place: &NormalizedPath) -> bool {
        let is_in = |folders: &[&str]| place.parent().split('/').any(|part| folders.contains(&part));
        let ends = |endings: &[&str]| endings.contains(&place.extension());
        let is_within = |folder: &str| {
            place.components().next() == Some(folder) || place.components().any(|part| part == folder)
        };
        match self {
            _ if is_within("frontend") => self == Self::Frontend,
            _ if is_within("backend") => self == Self::Backend,
            Self::Frontend => is_in(FRONTEND_FOLDERS) || ends(FRONTEND_ENDINGS),
            Self::Backend => {
                !is_in(FRONTEND_FOLDERS)
                    && !ends(FRONTEND_ENDINGS)
                    && (is_in(BACKEND_FOLDERS) || ends(BACKEND_ENDINGS))
            }
        }
    }
}

/// The words of a path: `Header`, `form` and `vue` of `HeaderForm.vue`. A component `*` stays.
pub(super) fn path_words(path: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut before = ' ';
    for letter in path.chars() {
        let opens = letter.is_uppercase() && before.is_lowercase();
        if (opens || !(letter.is_alphanumeric() || letter == '*'))
            && found.last().is_some_and(|word| !word.is_empty())
        {
            found.push(String::new());
        }
        if letter.is_alphanumeric() || letter == '*' {
            found
                .last_mut()
                .into_iter()
                .for_each(|word| word.extend(letter.to_lowercase()));
        }
        before = letter;
    }
    found
}

/// Whether a word of a path is a word of a constraint.
fn is_same(part: &str, word: &str) -> bool {
    let plural = |one: &str, other: &str| {
        one.strip_suffix('s') == Some(other) || one.strip_suffix("es") == Some(other)
    };
    // "Backendu", "animations": inflected alike, after enough letters to tell.
    let inflected = |one: &str, other: &str| {
        one.strip_prefix(other)
            .is_some_and(|rest| other.chars().count() >= 5 && rest.chars().count() <= 2)
    };
    part == word
        || plural(part, word)
        || inflected(part, word)
        || inflected(word, part)
        || plural(word, part)
        || part == "*"
        || LANGUAGES.contains(&(word, part))
        || word == "prod" && matches!(part, "production" | "live")
}

/// Whether a changed path with wildcards (`infra/*/main.tf`) may be a place or lie below it.
pub(super) fn glob_reaches(changed: &str, place: &str) -> bool {
    if !changed.contains('*') || place.contains('*') {
        return false;
    }
    let matches = |(glob, part): (&str, &str)| {
        let (head, tail) = glob.split_once('*').unwrap_or((glob, ""));
        glob == part
            || glob.contains('*')
                && part.len() >= head.len() + tail.len()
                && part.starts_with(head)
                && part.ends_with(tail)
    };
    let place = place.trim_end_matches('/').to_lowercase();
    let (parts, wanted): (Vec<&str>, Vec<&str>) = (changed.split('/').collect(), place.split('/').collect());
    parts.len() >= wanted.len() && parts.iter().copied().zip(wanted).all(matches)
}

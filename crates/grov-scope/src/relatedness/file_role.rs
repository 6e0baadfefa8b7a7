//! The role of a file that work on other files changes along with them, and the roles that a request names.

use super::terms::words as words_of;
use super::tracked_file::{TrackedFile, name};
use crate::file_kind::FileKind;
use crate::normalized_path::NormalizedPath;
use crate::phrases::{Noun, PhraseMap, nouns};
use crate::words::words;
use serde::{Deserialize, Serialize};

/// The bytes of a text in which roles are found. The rest of a long text mentions much in passing.
const MAX_BYTES: usize = 600;

/// The minimum length of a word that tells the subject of a file.
const MIN_SUBJECT: usize = 4;

/// Stems of words in names of files that tell the layer instead of the subject, sorted.
#[rustfmt::skip]
const LAYERS: &[&str] = &[
    "base", "client", "component", "conf", "config", "controll", "dto", "factor", "form", "handl", "help",
    "item", "list", "manag", "mapp", "model", "modul", "page", "provid", "repositor", "request", "resolv",
    "respons", "rout", "schema", "screen", "serializ", "server", "servic", "sett", "spec", "stat", "stor",
    "test", "type", "util", "view",
];

/// The role of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FileRole {
    /// Tests, their data and helpers.
    Test,
    /// Documentation, man pages, descriptions of an API, completions of a shell.
    Docs,
    /// Style sheets.
    Styles,
    /// Texts in the languages of the users.
    Locale,
    /// Schemas, migrations and seeds.
    Data,
    /// CI pipelines.
    Pipeline,
    /// Container images and what deploys them.
    Deployment,
    /// Manifests, lock files and files of build tools.
    Build,
    /// Settings of the program, of tools, of the environment.
    Settings,
}

/// Names of files by role, without extensions, sorted.
#[rustfmt::skip]
const NAMES: &[(&str, FileRole)] = &[
    ("build", FileRole::Build), ("cmakelists", FileRole::Build), ("cmakepresets", FileRole::Build),
    ("compose", FileRole::Deployment), ("config", FileRole::Settings), ("conftest", FileRole::Test),
    ("containerfile", FileRole::Deployment), ("crontab", FileRole::Deployment),
    ("docker-compose", FileRole::Deployment), ("docker-entrypoint", FileRole::Deployment),
    ("dockerfile", FileRole::Deployment), ("dockerignore", FileRole::Deployment),
    ("entrypoint", FileRole::Deployment), ("env", FileRole::Settings), ("gitattributes", FileRole::Settings),
    ("gitignore", FileRole::Settings), ("goreleaser", FileRole::Deployment), ("gradle", FileRole::Build),
    ("justfile", FileRole::Build), ("makefile", FileRole::Build), ("meson", FileRole::Build),
    ("openapi", FileRole::Docs), ("procfile", FileRole::Deployment), ("rakefile", FileRole::Build),
    ("routes", FileRole::Settings), ("seed", FileRole::Data), ("seeds", FileRole::Data),
    ("settings", FileRole::Settings), ("structure", FileRole::Data), ("swagger", FileRole::Docs),
    ("taskfile", FileRole::Build), ("urls", FileRole::Settings), ("vite", FileRole::Build),
    ("webpack", FileRole::Build),
];

/// Extensions by role, sorted.
#[rustfmt::skip]
const EXTENSIONS: &[(&str, FileRole)] = &[
    ("arb", FileRole::Locale), ("bazel", FileRole::Build), ("cmake", FileRole::Build), ("gradle", FileRole::Build),
    ("mk", FileRole::Build), ("pbxproj", FileRole::Build), ("po", FileRole::Locale), ("pot", FileRole::Locale),
    ("props", FileRole::Build), ("resx", FileRole::Locale), ("scd", FileRole::Docs), ("snap", FileRole::Test),
    ("sql", FileRole::Data), ("strings", FileRole::Locale), ("stringsdict", FileRole::Locale),
    ("tf", FileRole::Deployment), ("tfvars", FileRole::Deployment), ("xcstrings", FileRole::Locale),
];

/// Folders by role, sorted.
#[rustfmt::skip]
const FOLDERS: &[(&str, FileRole)] = &[
    ("ansible", FileRole::Deployment), ("charts", FileRole::Deployment), ("completions", FileRole::Docs),
    ("deploy", FileRole::Deployment), ("deployment", FileRole::Deployment), ("docker", FileRole::Deployment),
    ("helm", FileRole::Deployment), ("i18n", FileRole::Locale), ("infra", FileRole::Deployment),
    ("initializers", FileRole::Settings), ("k8s", FileRole::Deployment), ("kubernetes", FileRole::Deployment),
    ("lang", FileRole::Locale), ("locale", FileRole::Locale), ("locales", FileRole::Locale),
    ("man", FileRole::Docs), ("monitoring", FileRole::Deployment), ("seeds", FileRole::Data),
    ("settings", FileRole::Settings), ("terraform", FileRole::Deployment), ("translations", FileRole::Locale),
];

/// English words of a request that name a role, as stems with `*`, sorted. The names of tools are the same in all languages.
#[rustfmt::skip]
static WORDS: PhraseMap<FileRole> = PhraseMap::of(&[
    ("ansible", FileRole::Deployment), ("build*", FileRole::Build), ("cmake", FileRole::Build),
    ("codecov", FileRole::Pipeline), ("column*", FileRole::Data), ("compose", FileRole::Deployment),
    ("container*", FileRole::Deployment), ("css", FileRole::Styles), ("deploy*", FileRole::Deployment),
    ("design*", FileRole::Styles), ("docker*", FileRole::Deployment), ("e2e", FileRole::Test),
    ("env", FileRole::Settings), ("fixture*", FileRole::Test), ("github", FileRole::Pipeline),
    ("gitlab", FileRole::Pipeline), ("gradle", FileRole::Build), ("helm", FileRole::Deployment),
    ("i18n", FileRole::Locale), ("image", FileRole::Deployment), ("index", FileRole::Data),
    ("k8s", FileRole::Deployment), ("kubernetes", FileRole::Deployment), ("languag*", FileRole::Locale),
    ("layout*", FileRole::Styles), ("locali*", FileRole::Locale), ("maven", FileRole::Build), ("openapi", FileRole::Docs), ("podman", FileRole::Deployment),
    ("postgres*", FileRole::Data), ("query", FileRole::Data), ("release*", FileRole::Deployment),
    ("responsive", FileRole::Styles), ("scss", FileRole::Styles), ("spec", FileRole::Test),
    ("specs", FileRole::Test), ("sql", FileRole::Data), ("staging", FileRole::Deployment),
    ("styl*", FileRole::Styles), ("swagger", FileRole::Docs), ("systemd", FileRole::Deployment),
    ("table*", FileRole::Data), ("tailwind", FileRole::Styles), ("terraform", FileRole::Deployment),
    ("theme*", FileRole::Styles), ("tradu*", FileRole::Locale), ("translat*", FileRole::Locale),
    ("ubersetz*", FileRole::Locale), ("webpack", FileRole::Build), ("workflow*", FileRole::Pipeline),
]);

impl FileRole {
    /// The role of a file, if it has one.
    pub(super) fn of(place: &NormalizedPath) -> Option<Self> {
        let kinds = [
            (FileKind::Test, Self::Test),
            (FileKind::Pipeline, Self::Pipeline),
            (FileKind::Migration, Self::Data),
            (FileKind::Schema, Self::Data),
            (FileKind::Lock, Self::Build),
            (FileKind::Manifest, Self::Build),
        ];
        let by_kind = kinds.iter().find(|(kind, _)| kind.is(place));
        if let Some((_, role)) = by_kind {
            return Some(*role);
        }
        let name = name(place.as_str()).trim_start_matches('.');
        let stem = name.split('.').next().unwrap_or_default();
        find(NAMES, stem)
            .or_else(|| find(EXTENSIONS, place.extension()))
            .or_else(|| place.components().find_map(|part| find(FOLDERS, part)))
            .or_else(|| {
                let kinds = [
                    (FileKind::Styles, Self::Styles),
                    (FileKind::Docs, Self::Docs),
                    (FileKind::Config, Self::Settings),
                ];
                kinds
                    .iter()
                    .find(|(kind, _)| kind.is(place))
                    .map(|(_, role)| *role)
            })
    }

    /// The roles that the beginning of a text names, in eleven languages.
    pub(super) fn named_in(text: &str) -> Vec<Self> {
        let text = &text[..text.floor_char_boundary(MAX_BYTES)];
        let mut found: Vec<Self> = nouns(text)
            .iter()
            .filter_map(|noun| match noun.means {
                Noun::Ci => Some(Self::Pipeline),
                Noun::Config => Some(Self::Settings),
                Noun::Database | Noun::Migration | Noun::Schema => Some(Self::Data),
                Noun::Dependency => Some(Self::Build),
                Noun::Deployment => Some(Self::Deployment),
                Noun::Docs | Noun::Readme => Some(Self::Docs),
                Noun::Snapshot | Noun::Test => Some(Self::Test),
                Noun::Style => Some(Self::Styles),
                _ => None,
            })
            .collect();
        let words = words(text);
        let named = |at: usize| WORDS.at(&words, at);
        found.extend((0..words.len()).filter_map(|at| named(at).map(|(_, role)| role)));
        found
    }
}

fn find(table: &[(&str, FileRole)], name: &str) -> Option<FileRole> {
    let at = table.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    Some(table[at].1)
}

/// The words of a file's name that tell its subject: `project` of `projects_controller`.
///
/// `cart` of `cart/index.html`, whose name tells nothing.
pub(super) fn subjects(file: &TrackedFile) -> Vec<String> {
    let of_name = subject_words(&file.stem);
    if of_name.is_empty() {
        return subject_words(name(file.parent()));
    }
    of_name
}

fn subject_words(name: &str) -> Vec<String> {
    let tells = |word: &String| word.len() >= MIN_SUBJECT && LAYERS.binary_search(&word.as_str()).is_err();
    words_of(name).into_iter().filter(tells).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalized_path::ProjectRoot;

    #[test]
    fn tables_are_sorted() {
        assert!(NAMES.is_sorted_by(|a, b| a.0 < b.0) && EXTENSIONS.is_sorted_by(|a, b| a.0 < b.0));
        assert!(FOLDERS.is_sorted_by(|a, b| a.0 < b.0) && LAYERS.is_sorted());
        assert!(
            WORDS.entries().is_sorted_by(|a, b| a.0 < b.0),
            "{:?}",
            WORDS.entries().windows(2).find(|pair| pair[0].0 >= pair[1].0)
        );
    }

    #[test]
    fn files_have_roles() {
        use FileRole::*;
        for (path, expected) in [
            ("tests/test_limits.py", Some(Test)),
            ("test/fixtures/projects.yml", Some(Test)),
            ("docs/man/pantry.1.scd", Some(Docs)),
            ("README.md", Some(Docs)),
            ("assets/styles/cart.scss", Some(Styles)),
            ("config/locales/es.yml", Some(Locale)),
            ("App/Resources/Localizable.xcstrings", Some(Locale)),
            ("db/migrate/2_add_x.rb", Some(Data)),
            ("schema.sql", Some(Data)),
            ("db/seeds.rb", Some(Data)),
            (".github/workflows/docs.yml", Some(Pipeline)),
            ("Dockerfile", Some(Deployment)),
            (".dockerignore", Some(Deployment)),
            ("docker-compose.prod.yml", Some(Deployment)),
            ("k8s/hpa.yaml", Some(Deployment)),
            ("CMakeLists.txt", Some(Build)),
            ("Cargo.toml", Some(Build)),
            (".env.example", Some(Settings)),
            ("config/initializers/sidekiq.rb", Some(Settings)),
            ("src/login.ts", None),
            ("app/models/project.rb", None),
        ] {
            let place = NormalizedPath::new(&ProjectRoot::default(), path);
            assert_eq!(FileRole::of(&place), expected, "{path}");
        }
    }

    #[test]
    fn requests_name_roles() {
        use FileRole::*;
        for (text, expected) in [
            ("our docker image is 2.3 GB, get it down", &[Deployment][..]),
            ("los tests e2e fallan por el nuevo header", &[Test]),
            ("Dazu Doku und Alarmregel in monitoring/", &[Docs]),
            ("ドキュメントも直してください", &[Docs]),
            ("CI で -W にしてほしい", &[Pipeline]),
            ("make the product page responsive", &[Styles]),
            ("Fix the login", &[]),
        ] {
            let found = FileRole::named_in(text);
            assert!(
                expected.iter().all(|role| found.contains(role)),
                "{text}: {found:?}"
            );
            assert_eq!(found.is_empty(), expected.is_empty(), "{text}: {found:?}");
        }
    }

    #[test]
    fn names_of_layers_share_their_subject() {
        let of = |path: &str| {
            let file = TrackedFile::new(&NormalizedPath::new(&ProjectRoot::default(), path));
            subjects(&file.unwrap())
        };
        assert_eq!(
            of("app/controllers/projects_controller.rb"),
            of("app/views/projects/_project.html.erb")
        );
        assert_eq!(of("src/user_service.ts"), of("src/dto/user.dto.ts"));
        assert_eq!(
            of("templates/cart/index.html.twig"),
            of("assets/styles/cart.scss")
        );
        assert!(of("src/index_test.ts").is_empty());
    }
}

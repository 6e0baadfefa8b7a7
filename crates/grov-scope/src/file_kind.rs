//! Kinds of files, recognised by their names.

use crate::normalized_path::NormalizedPath;

/// The purpose of a file, judged by its name and folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// Tests and their data.
    Test,
    /// Schemas of stored data.
    Schema,
    /// Schema migrations.
    Migration,
    /// Documentation, change logs.
    Docs,
    /// Style sheets.
    Styles,
    /// CI pipelines.
    Pipeline,
    /// Lock files of package managers.
    Lock,
    /// Manifests that declare dependencies.
    Manifest,
    /// Vendored or generated code.
    Vendored,
    /// Configuration of tools and of the program itself.
    Config,
    /// Module indexes such as `mod.rs` and `index.ts`.
    Index,
    /// Recorded outputs of tests.
    Snapshot,
}

#[rustfmt::skip]
const LOCKS: &[&str] = &[
    "cargo.lock", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb",
    "poetry.lock", "uv.lock", "pipfile.lock", "pdm.lock", "go.sum", "go.work.sum", "gemfile.lock", "composer.lock",
    "mix.lock", "pubspec.lock", "podfile.lock", "packages.lock.json", "flake.lock", "deno.lock", "gradle.lockfile",
    "package.resolved",
];

#[rustfmt::skip]
const MANIFESTS: &[&str] = &[
    "cargo.toml", "package.json", "pyproject.toml", "setup.py", "setup.cfg", "pipfile", "go.mod", "go.work", "gemfile",
    "composer.json", "mix.exs", "pubspec.yaml", "podfile", "pom.xml", "build.gradle", "build.gradle.kts",
    "settings.gradle", "deno.json", "package.swift", "environment.yml", "conanfile.txt", "vcpkg.json", "build.sbt",
    "pnpm-workspace.yaml", "libs.versions.toml", "directory.packages.props",
];

#[rustfmt::skip]
const INDEXES: &[&str] = &[
    "mod.rs", "lib.rs", "index.ts", "index.tsx", "index.js", "index.jsx", "index.mjs", "__init__.py", "index.d.ts",
    "barrel.ts", "module.ts",
];

/// Files that configure a pipeline.
#[rustfmt::skip]
const PIPELINE_FILES: &[&str] = &[
    ".gitlab-ci.yml", ".travis.yml", "jenkinsfile", "azure-pipelines.yml", "cloudbuild.yaml",
];

/// Names of folders with vendored or generated code.
#[rustfmt::skip]
const VENDOR_DIRS: &[&str] = &[
    "vendor", "vendored", "third_party", "third-party", "node_modules", "generated", "__generated__",
];

impl FileKind {
    /// Whether a file is of this kind.
    pub fn is(self, place: &NormalizedPath) -> bool {
        let name = place.name();
        let ending = place.extension();
        let is_in = |folders: &[&str]| place.components().any(|part| folders.contains(&part));
        match self {
            Self::Test => is_test(place),
            Self::Schema => {
                let stem = place.stem();
                (stem == "schema"
                    || stem.ends_with("_schema")
                    || stem.ends_with("-schema")
                    || stem.ends_with(".schema"))
                    || matches!(ending, "prisma" | "graphqls")
                    || is_in(&["schema", "schemas"])
            }
            Self::Migration => is_in(&["migration", "migrations", "migrate", "alembic"]),
            Self::Docs => {
                matches!(ending, "md" | "mdx" | "rst" | "adoc")
                    || ["readme", "changelog", "license", "contributing", "authors"]
                        .iter()
                        .any(|begin| name.starts_with(begin))
                    || is_in(&["docs", "doc"])
            }
            Self::Styles => matches!(ending, "css" | "scss" | "sass" | "less" | "styl"),
            Self::Pipeline => {
                is_in(&[".github", ".circleci", ".buildkite", ".gitlab", "workflows"])
                    || PIPELINE_FILES.contains(&name)
            }
            Self::Lock => LOCKS.contains(&name),
            Self::Manifest => {
                MANIFESTS.contains(&name)
                    || name.starts_with("requirements") && matches!(ending, "txt" | "in")
                    || matches!(ending, "csproj" | "gemspec" | "cabal")
            }
            Self::Vendored => is_in(VENDOR_DIRS),
            Self::Config => {
                matches!(ending, "toml" | "ini" | "cfg" | "conf" | "env" | "properties")
                    || name.starts_with('.') && place.components().count() <= 2
                    || name.contains(".config.")
                    || name.contains("rc.")
                    || matches!(ending, "yml" | "yaml" | "json") && place.components().count() == 1
                    || matches!(ending, "yml" | "yaml" | "json" | "xml")
                        && is_in(&["config", "configs", "conf", "settings"])
            }
            Self::Index => INDEXES.contains(&name),
            Self::Snapshot => {
                ending == "snap" || is_in(&["__snapshots__", "__image_snapshots__", "snapshots"])
            }
        }
    }
}

/// Names of folders with tests.
#[rustfmt::skip]
const TEST_DIRS: &[&str] = &[
    "test", "tests", "__tests__", "spec", "specs", "e2e", "testdata", "fixtures", "__snapshots__",
    "integration_test", "integration_tests", "androidtest", "unittests", "testing",
];

/// Whether a file contains tests, by the conventions of common languages.
fn is_test(place: &NormalizedPath) -> bool {
    let name = place.name();
    let base = name.rsplit_once('.').map_or(name, |(base, _)| base);
    let in_folder = place
        .parent()
        .split('/')
        .any(|part| TEST_DIRS.contains(&part) || part.ends_with(".tests"));
    in_folder || tested_stem(base) != base || matches!(base, "tests" | "test" | "conftest")
}

/// The stem that a test's name is about: `form` for `form.test`, `test_form` and `form_spec`. Other names are returned
/// unchanged.
pub(crate) fn tested_stem(base: &str) -> &str {
    #[rustfmt::skip]
    const ENDINGS: &[&str] = &[
        ".test", ".tests", ".spec", ".e2e", ".stories", "_test", "_tests", "_spec", "-test", "-spec", "_unittest",
        ".integration", "_integration_test", "tests", "test", "spec",
    ];
    let base = base
        .strip_prefix("test_")
        .or_else(|| base.strip_prefix("test-"))
        .unwrap_or(base);
    for ending in ENDINGS {
        if let Some(subject) = base.strip_suffix(ending)
            // "latest" and "contest" are not tests; "parsertest" is.
            && (ending.starts_with(['.', '_', '-']) || subject.len() >= 4)
            && !subject.is_empty()
            && !matches!(base, "latest" | "contest" | "protest" | "attest" | "inspect" | "greatest" | "fastest")
        {
            return subject;
        }
    }
    base
}

/// Absolute paths of folders for temporary files.
#[rustfmt::skip]
const TEMPORARY_ROOTS: &[&str] = &[
    "/tmp", "/var/tmp", "/private/tmp", "/private/var/folders", "/var/folders", "/dev/shm", "$tmpdir", "$tmp", "$temp",
];

/// Names of folders for temporary files.
const TEMPORARY_DIRS: &[&str] = &["scratchpad", "scratch", "tmp", "temp", ".tmp", ".cache"];

/// Whether a path is in a folder for temporary files or in the agent's scratch folder.
pub fn is_temporary(place: &NormalizedPath) -> bool {
    let text = place.as_str();
    let is_below = |folder: &&str| {
        let rest = text.strip_prefix(*folder);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    TEMPORARY_ROOTS.iter().any(is_below)
        || place.components().any(|part| TEMPORARY_DIRS.contains(&part))
        || text.contains("appdata/local/temp")
}

/// Names of folders that a build or an installation creates.
#[rustfmt::skip]
const BUILD_DIRS: &[&str] = &[
    "target", "node_modules", "dist", "build", "out", ".next", ".nuxt", ".svelte-kit", "__pycache__",
    ".pytest_cache", ".mypy_cache", ".ruff_cache", "coverage", ".coverage", "htmlcov", ".turbo", ".parcel-cache",
    ".vite", ".gradle", ".venv", "venv", ".tox", "bin", "obj", "pods", ".dart_tool", "deriveddata", ".build",
    "_build", ".eggs", "logs", ".nyc_output", ".angular", ".docusaurus", ".terraform", "test-results",
    "playwright-report", "storybook-static", "vendor", ".output", ".expo", "cmake-build-debug",
    "cmake-build-release",
];

/// Whether a path is in a folder that a build or an installation creates.
pub fn is_build_output(place: &NormalizedPath) -> bool {
    place
        .components()
        .any(|part| BUILD_DIRS.contains(&part) || part.ends_with(".egg-info") || part.ends_with("-cache"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalized_path::ProjectRoot;

    fn is(kind: FileKind, path: &str) -> bool {
        kind.is(&NormalizedPath::new(&ProjectRoot::default(), path))
    }

    #[test]
    fn tests_are_known_by_their_names() {
        for path in [
            "src/form.test.ts",
            "tests/form.rs",
            "pkg/form_test.go",
            "test_form.py",
            "src/FormTest.java",
            "src/FormTests.cs",
            "spec/form_spec.rb",
            "src/__tests__/form.js",
            "src/form/tests.rs",
            "e2e/login.ts",
            "Form.spec.tsx",
        ] {
            assert!(is(FileKind::Test, path), "{path}");
        }
        for path in [
            "src/form.ts",
            "src/latest.rs",
            "src/attest.go",
            "contest.py",
            "src/testimonials.ts",
        ] {
            assert!(!is(FileKind::Test, path), "{path}");
        }
    }

    #[test]
    fn other_kinds_are_known() {
        assert!(is(FileKind::Lock, "crates/x/Cargo.lock"));
        assert!(is(FileKind::Manifest, "web/package.json"));
        assert!(is(FileKind::Manifest, "requirements-dev.txt"));
        assert!(is(FileKind::Migration, "db/migrations/1.sql"));
        assert!(is(FileKind::Schema, "prisma/schema.prisma"));
        assert!(is(FileKind::Pipeline, ".github/workflows/ci.yml"));
        assert!(is(FileKind::Docs, "CHANGELOG.md"));
        assert!(is(FileKind::Index, "src/a/mod.rs"));
        assert!(!is(FileKind::Schema, "src/parser.rs"));
        let place = |path: &str| NormalizedPath::new(&ProjectRoot::new(Some("/home/me/p")), path);
        assert!(is_temporary(&place("/tmp/x/a.sh")) && !is_temporary(&place("src/a.sh")));
        assert!(is_build_output(&place("web/node_modules")) && !is_build_output(&place("src")));
    }
}

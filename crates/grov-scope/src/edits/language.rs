//! Languages of files, as far as marks for tests and checks differ.

use crate::normalized_path::NormalizedPath;

/// The language of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    JavaScript,
    Python,
    Rust,
    Go,
    /// Java, Kotlin, Groovy, Scala.
    Jvm,
    CSharp,
    Ruby,
    Php,
    Swift,
    Elixir,
    Dart,
    C,
    Shell,
    /// Settings of tools, manifests, pipelines.
    Settings,
    Other,
}

impl Language {
    pub(super) fn of(place: &NormalizedPath) -> Self {
        match place.extension() {
            "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" | "vue" | "svelte" | "astro" => {
                Self::JavaScript
            }
            "py" | "pyi" | "ipynb" => Self::Python,
            "rs" => Self::Rust,
            "go" => Self::Go,
            "java" | "kt" | "groovy" | "scala" => Self::Jvm,
            "cs" | "fs" | "vb" => Self::CSharp,
            "rb" | "rake" => Self::Ruby,
            "php" => Self::Php,
            "swift" | "m" | "mm" => Self::Swift,
            "ex" | "exs" => Self::Elixir,
            "dart" => Self::Dart,
            "c" | "cc" | "cpp" | "cxx" | "h" | "hh" | "hpp" => Self::C,
            "sh" | "bash" | "zsh" => Self::Shell,
            "json" | "jsonc" | "json5" | "yml" | "yaml" | "toml" | "ini" | "cfg" | "conf" | "xml"
            | "gradle" | "kts" | "properties" | "tf" | "neon" | "mk" | "cmake" | "csproj" | "props"
            | "txt" => Self::Settings,
            _ if matches!(
                place.name(),
                "makefile" | "justfile" | "dockerfile" | "rakefile" | "jenkinsfile"
            ) =>
            {
                Self::Settings
            }
            _ if place.name().starts_with('.') => Self::Settings,
            _ => Self::Other,
        }
    }

    /// Whether it is a programming language.
    pub(super) fn is_code(self) -> bool {
        !matches!(self, Self::Settings | Self::Other | Self::Shell)
    }

    /// The beginnings of comment lines.
    pub(super) fn comments(self) -> &'static [&'static str] {
        match self {
            Self::Python | Self::Ruby | Self::Elixir | Self::Shell | Self::Settings => &["#"],
            _ => &["//", "/*", "* ", "*/"],
        }
    }
}

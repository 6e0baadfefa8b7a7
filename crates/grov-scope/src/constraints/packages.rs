//! Constraints on new dependencies.

use super::grammar::{is_negation, orders};
use crate::analyzed_action::AnalyzedAction;
use crate::contract::CompiledContract;
use crate::manifest::added_dependencies;
use crate::words::{Word, words};
use grov_domain::Program;

/// A constraint on new dependencies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PackageConstraint {
    /// The text of the constraint.
    text: String,
    /// The forbidden package; `None` for every new dependency.
    package: Option<String>,
}

#[rustfmt::skip]
const DEPENDENCIES: &[&str] = &[
    "dependency", "dependencies", "deps", "dep", "package", "packages", "library", "libraries", "libs", "crate", "crates", "modules", "gem",
    "gems", "dependinta", "dependinte", "dependente", "dependenta", "pachet", "pachete", "biblioteca", "biblioteci", "librarie", "librarii",
];

#[rustfmt::skip]
const ADDING: &[&str] = &[
    "add", "adding", "introduce", "introducing", "install", "installing", "pull", "bring", "bringing", "use", "using", "need", "require", "include", "want",
    "adauga", "adaugi", "introduci", "instala", "folosi", "upgrade", "bump", "update", "change", "changing",
];

#[rustfmt::skip]
const NEW: &[&str] = &[
    "any", "new", "extra", "additional", "more", "external", "third-party", "third", "party", "runtime", "npm", "the", "a", "other", "further", "noi", "nou", "noua", "alte", "externe", "python",
    "rust", "dev", "in", "production",
];

/// Parses the dependencies that a constraint forbids.
pub(super) fn read(text: &str, words: &[Word<'_>]) -> Option<PackageConstraint> {
    let limit = |package: Option<&Word<'_>>| PackageConstraint {
        text: text.to_owned(),
        package: package.map(|word| word.folded.clone()),
    };
    if let Some(negation) = words.iter().position(is_negation) {
        let mut said_new = words[negation].is_any(&["no", "zero"]);
        for (at, word) in words.iter().enumerate().skip(negation + 1).take(6) {
            if word.is_any(DEPENDENCIES) {
                // "No dependencies between crates" and "don't change the package layout" are about something else.
                let after = words.get(at + 1);
                let new_behind =
                    after.is_some_and(|word| word.is_any(&["noi", "noua", "nou", "suplimentare"]));
                let whole = word.pauses()
                    || after.is_none_or(|next| {
                        new_behind
                            || next.is_any(&[
                                "at", "please", "and", "or", "for", "in", "to", "here", "like", "such",
                                "are", "should", "si",
                            ])
                    });
                return (whole && (said_new || new_behind)).then(|| limit(None));
            }
            if word.is_any(NEW) || word.is_any(ADDING) {
                said_new = true;
                // "Don't add lodash" forbids one package, if "lodash" can be the name of a package.
                let named = words
                    .get(at + 1)
                    .filter(|next| word.is_any(ADDING) && !next.is_any(NEW) && !next.is_any(DEPENDENCIES));
                if let Some(named) = named {
                    let told = words[at + 2..]
                        .iter()
                        .take(4)
                        .any(|word| word.is_any(DEPENDENCIES));
                    return (told
                        || word.is_any(&["use", "using", "add", "install", "folosi", "instala"])
                            && is_package(named))
                    .then(|| limit(Some(named)));
                }
            } else if is_package(word) && words.get(at + 1).is_some_and(|next| next.is_any(DEPENDENCIES)) {
                return Some(limit(Some(word)));
            } else {
                break;
            }
        }
        return None;
    }
    // "Keep lodash out", "stay dependency-free".
    let keeps = words.first().is_some_and(|word| word.is_any(&["keep", "leave"]));
    let out = words.iter().position(|word| word.folded == "out");
    match (keeps, out) {
        (true, Some(2)) if is_package(&words[1]) => Some(limit(Some(&words[1]))),
        _ => words
            .iter()
            .any(|word| word.is_any(&["dependency-free", "zero-dependency"]))
            .then(|| limit(None)),
    }
}

/// Whether a word may be a package's name.
fn is_package(word: &Word<'_>) -> bool {
    let name = word.folded.as_str();
    (3..=60).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'@' | b'/'))
        && name.contains(|letter: char| letter.is_ascii_alphabetic())
        && ![
            "the", "any", "new", "git", "npm", "yarn", "pnpm", "pip", "cargo", "it", "this", "that", "files",
            "tests", "code", "comments", "docs", "logging", "features", "features",
        ]
        .contains(&name)
}

/// Whether a command installs a package, in any version.
pub(super) fn installs(command: &Program, package: &str) -> bool {
    let names = installed_by(command);
    names
        .iter()
        .any(|name| without_version(name).eq_ignore_ascii_case(package))
}

impl PackageConstraint {
    /// A constraint on a package; on every new one if there is none.
    pub(super) fn on(text: &str, package: Option<String>) -> Self {
        Self {
            text: text.to_owned(),
            package,
        }
    }

    /// The text of the constraint.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether a sentence requests the forbidden dependency.
    pub(super) fn is_lifted_by(&self, sentence: &str) -> bool {
        let words = words(sentence);
        let named = |word: &Word<'_>| match &self.package {
            Some(package) => word.folded == *package,
            None => word.is_any(DEPENDENCIES),
        };
        orders(&words) && words.iter().any(named)
    }

    /// Whether an action adds a forbidden package: `Some(true)` if certain, `Some(false)` if very likely.
    pub(super) fn broken_by(&self, action: &AnalyzedAction<'_>, compiled: &CompiledContract) -> Option<bool> {
        let asked = |name: &str| compiled.request.names(name);
        let installed: Vec<&str> = action.programs().iter().flat_map(installed_by).collect();
        match &self.package {
            Some(package) => {
                if installed
                    .iter()
                    .any(|name| without_version(name).eq_ignore_ascii_case(package))
                {
                    return Some(true);
                }
                let declares = added_dependencies(action, |_| true).iter().any(|added| {
                    // `group:artifact`, `vendor/package`
                    let last = added.name.rsplit([':', '/']).next().unwrap_or_default();
                    added.name.eq_ignore_ascii_case(package) || last.eq_ignore_ascii_case(package)
                });
                let imports = action.changes_files()
                    && action
                        .content()
                        .lines()
                        .take(400)
                        .any(|line| imports(line, package));
                (declares || imports).then_some(true)
            }
            None => {
                if installed.iter().any(|name| !asked(without_version(name))) {
                    return Some(true);
                }
                let is_asked = |name: &str| name.split([':', '/']).any(asked);
                let added = added_dependencies(action, |place| !compiled.is_allowed(place));
                let new = added.iter().filter(|added| !is_asked(&added.name));
                new.map(|added| added.is_certain)
                    .reduce(|one, other| one || other)
            }
        }
    }
}

/// Commands that add the packages that follow them: names of programs and the possible operands before the packages.
#[rustfmt::skip]
const ADDING_COMMANDS: &[(&[&str], &[&[&str]])] = &[
    (&["npm", "pnpm", "bun"], &[&["install"], &["i"], &["add"]]),
    // `uv pip install x`, `dotnet add package x`, `flutter pub add x`
    (
        &["yarn", "poetry", "uv", "cargo", "pdm", "pixi", "bundle", "dotnet", "flutter", "dart", "mix", "deno"],
        &[&["add"], &["pip", "install"], &["pip", "add"], &["pub", "install"], &["pub", "add"]],
    ),
    (INSTALLERS, &[&["install"]]),
    (PYTHON, &[&["pip", "install"]]),
    (&["go"], &[&["get"]]),
    (&["composer"], &[&["require"]]),
];

const INSTALLERS: &[&str] = &[
    "pip", "pip3", "pipenv", "pipx", "gem", "conda", "brew", "apt", "apt-get",
];
const PYTHON: &[&str] = &["python", "python3"];

/// The packages that a command adds. `npm install` without packages adds none.
fn installed_by(command: &Program) -> Vec<&str> {
    let name = command.name();
    let is_python = PYTHON.contains(&name);
    // The packages of `pip install -r requirements.txt` are not new.
    let reads_list =
        command.has_word(&["-r", "-e"]) || !is_python && command.has_word(&["--requirement", "--editable"]);
    if command.has_word(&["--dry-run"])
        || reads_list && (is_python || INSTALLERS.contains(&name))
        || is_python && command.arguments.first().is_none_or(|word| word != "-m")
    {
        return Vec::new();
    }
    let Some((_, forms)) = ADDING_COMMANDS
        .iter()
        .find(|(programs, _)| programs.contains(&name))
    else {
        return Vec::new();
    };
    let is_form = |form: &&&[&str]| command.operands().take(form.len()).eq(form.iter().copied());
    let Some(form) = forms.iter().find(is_form) else {
        return Vec::new();
    };
    let operands = command.operands().skip(form.len());
    operands
        .filter(|name| {
            *name != "package"
                && !name.starts_with(['.', '/', '~'])
                && !name.ends_with(".txt")
                && *name != "install"
        })
        .collect()
}

/// `lodash` of `lodash@4`, `requests` of `requests==2`.
fn without_version(name: &str) -> &str {
    let end = name
        .char_indices()
        .find(|(at, letter)| *at > 0 && matches!(letter, '@' | '=' | '<' | '>' | '~' | '[' | '^'))
        .map_or(name.len(), |(at, _)| at);
    &name[..end]
}

/// Whether a line of code imports a package.
fn imports(line: &str, package: &str) -> bool {
    let line = line.trim();
    let brings = [
        "import ",
        "from ",
        "use ",
        "require(",
        "extern crate ",
        "#include",
        "using ",
    ]
    .iter()
    .any(|begin| line.starts_with(begin))
        || line.contains("require(")
        || line.contains(" from ");
    brings
        && line
            .split(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '-' | '_' | '@')))
            .any(|word| {
                word.eq_ignore_ascii_case(package) || word.replace('_', "-").eq_ignore_ascii_case(package)
            })
}

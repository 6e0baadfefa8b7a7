//! Constraints on new dependencies.

use super::request::Sentence;
use crate::analyzed_action::AnalyzedAction;
use crate::contract::CompiledContract;
use crate::manifest::added_dependencies;
use grov_domain::Program;

/// A constraint on new dependencies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PackageConstraint {
    /// The text of the constraint.
    pub(super) text: String,
    /// The forbidden package; `None` for every new dependency.
    pub(super) package: Option<String>,
}

#[rustfmt::skip]
const DEPENDENCIES: &[&str] = &[
    "dependency", "dependencies", "deps", "dep", "package", "packages", "library", "libraries", "libs", "crate", "crates", "modules", "gem",
    "gems", "dependinta", "dependinte", "dependente", "dependenta", "pachet", "pachete", "biblioteca", "biblioteci", "librarie", "librarii",
];

/// Whether a command installs a package, in any version.
pub(super) fn installs(command: &Program, package: &str) -> bool {
    let names = installed_by(command);
    names
        .iter()
        .any(|name| without_version(name).eq_ignore_ascii_case(package))
}

impl PackageConstraint {
    /// Whether a sentence requests the forbidden dependency.
    pub(super) fn is_lifted_by(&self, sentence: &Sentence) -> bool {
        match &self.package {
            Some(package) => sentence.requests(&[package.as_str()]),
            None => sentence.requests(DEPENDENCIES),
        }
    }

    /// Whether an action adds a forbidden package: `Some(true)` if certain, `Some(false)` if very likely.
    pub(super) fn broken_by(&self, action: &AnalyzedAction<'_>, compiled: &CompiledContract) -> Option<bool> {
        let asked = |name: &str| {
            compiled
                .request
                .requests_any(&[&format!("{}.", name.to_lowercase())])
        };
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

//! The provider file that a command uses.

use crate::context::Context;
use crate::failure::Failure;
use grov_route::{Problem, ProviderFile, ProviderFileError};
use grov_runtime::{EXIT_USAGE, Environment, ProviderFiles, RouteSettings};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where the provider file is, and its variables.
pub(super) struct Source {
    files: ProviderFiles,
}

impl Source {
    /// The file that `flag` names, else that of the settings.
    pub(super) fn new(context: &Context, flag: Option<&Path>) -> Self {
        let settings = context.settings.route();
        let named = flag.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
        let settings = RouteSettings {
            providers: named.or_else(|| settings.providers.clone()),
            ..settings.clone()
        };
        Self {
            files: ProviderFiles::new(&context.home, &Environment::of_process(), &settings),
        }
    }

    /// The existing file, if there is one.
    pub(super) fn existing(&self) -> Option<&Path> {
        self.files.find()
    }

    /// The existing file, else the one to create.
    pub(super) fn path(&self) -> PathBuf {
        let first = self.files.candidates().first();
        self.existing()
            .or(first.map(PathBuf::as_path))
            .map(Path::to_owned)
            .unwrap_or_default()
    }

    /// The file of the home that holds variables.
    pub(super) fn env_file(&self) -> &Path {
        self.files.env_file()
    }

    /// The value of a variable.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        self.files.variable(name)
    }

    /// The text of the file; `None` if there is none.
    pub(super) fn text(&self) -> Result<Option<String>, Failure> {
        let Some(path) = self.existing() else {
            return Ok(None);
        };
        match std::fs::read_to_string(path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Failure::error(
                "input",
                format!("cannot read {}: {error}", path.display()),
            )),
        }
    }

    /// Parses the text of a provider file.
    pub(super) fn parse(&self, text: &str) -> Result<ProviderFile, ProviderFileError> {
        let path = self.path();
        let mut file = ProviderFile::read_at(&path, text, &|name| self.variable(name))?;
        if let Ok(metadata) = std::fs::metadata(&path) {
            file.check_permissions(metadata.permissions().mode());
        }
        Ok(file)
    }

    /// The file, which must be valid if there is one.
    pub(super) fn load(&self) -> Result<Option<ProviderFile>, Failure> {
        let Some(text) = self.text()? else {
            return Ok(None);
        };
        let parsed = self.parse(&text).map(Some);
        parsed.map_err(|error| self.invalid(&error))
    }

    /// The file, which must exist and be valid.
    pub(super) fn load_existing(&self) -> Result<ProviderFile, Failure> {
        self.load()?.ok_or_else(|| {
            let message = format!("there is no provider file at {}", self.path().display());
            Failure::negative("no_providers", message).hint("create one with grov route add")
        })
    }

    /// The failure of a command that needs a valid file.
    pub(super) fn invalid(&self, error: &ProviderFileError) -> Failure {
        let message = format!("{}: {error}", self.path().display());
        Failure::new("providers", EXIT_USAGE, message).hint("grov route check shows all problems")
    }
}

/// The failure for a label that the file does not have.
pub(super) fn unknown_label(label: &str, file: &ProviderFile) -> Failure {
    let failure = Failure::negative("not_found", format!("the provider file has no model `{label}`"));
    match file.nearest_label(label) {
        Some(nearest) => failure.hint(format!("did you mean `{nearest}`?")),
        None => failure.hint("grov route list shows the labels"),
    }
}

/// One line for a problem.
pub(super) fn problem_line(path: &str, problem: &Problem) -> String {
    let hint = problem
        .hint
        .as_ref()
        .map_or_else(String::new, |hint| format!("\n  hint: {hint}"));
    format!("{path}:{}: {}{hint}", problem.line, problem.message)
}

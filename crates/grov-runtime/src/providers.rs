//! Where the provider file is, and where its variables come from.

use crate::dotenv;
use crate::settings::RouteSettings;
use crate::{Environment, Home};
use std::path::{Path, PathBuf};

/// The provider file of claude-hybrid, below the user's home directory.
const HYBRID_FILE: &str = ".claude-hybrid/config.yaml";

/// Where the provider file is, and where the variables come from that it names as `${NAME}`.
#[derive(Clone, Debug)]
pub struct ProviderFiles {
    candidates: Vec<PathBuf>,
    environment: Environment,
    env_file: PathBuf,
}

impl ProviderFiles {
    /// The files of a home. The setting `route.providers` names the only one, if it is set.
    pub fn new(home: &Home, environment: &Environment, settings: &RouteSettings) -> Self {
        let user_home = environment.get("HOME").map(PathBuf::from);
        let candidates = match &settings.providers {
            Some(path) => vec![path.clone()],
            None => {
                let hybrid = user_home.map(|user| user.join(HYBRID_FILE));
                std::iter::once(home.providers_file()).chain(hybrid).collect()
            }
        };
        Self {
            candidates,
            environment: environment.clone(),
            env_file: home.env_file(),
        }
    }

    /// The paths that are tried. The first that exists is the provider file.
    pub fn candidates(&self) -> &[PathBuf] {
        &self.candidates
    }

    /// The provider file, if there is one.
    pub fn find(&self) -> Option<&Path> {
        self.candidates
            .iter()
            .map(PathBuf::as_path)
            .find(|path| path.exists())
    }

    /// The names in every `${NAME}` of the provider file, if it can be read.
    pub fn named_variables(&self) -> Vec<String> {
        let text = self.find().and_then(|path| std::fs::read_to_string(path).ok());
        let text = text.unwrap_or_default();
        let parts = text.split("${").skip(1);
        parts
            .filter_map(|part| Some(part.split_once('}')?.0.trim().to_owned()))
            .collect()
    }

    /// The file of variables with lower precedence than the environment.
    pub fn env_file(&self) -> &Path {
        &self.env_file
    }

    /// The value of a variable: of the environment, else of the home's `.env`, which is read with every call.
    pub fn variable(&self, name: &str) -> Option<String> {
        if let Some(value) = self.environment.get(name) {
            return value.to_str().map(str::to_owned);
        }
        let text = std::fs::read_to_string(&self.env_file).ok()?;
        let assignments = dotenv::parse(&text).assignments;
        let found = assignments.into_iter().find(|assignment| assignment.name == name);
        found.map(|found| found.value).filter(|value| !value.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Inputs, Settings};

    fn files(home: &Path, environment: &[(&str, &str)], flags: &[(&'static str, String)]) -> ProviderFiles {
        let environment = Environment::from_iter(environment.iter().copied());
        let home = Home::locate(Some(home), &environment).unwrap();
        let settings = Settings::load(Inputs {
            home: &home,
            environment: &environment,
            directory: None,
            flags,
        });
        ProviderFiles::new(&home, &environment, settings.unwrap().route())
    }

    #[test]
    fn own_file_comes_before_that_of_claude_hybrid() {
        let directory = tempfile::tempdir().unwrap();
        let user = directory.path().to_str().unwrap();
        let files = files(&directory.path().join("grov"), &[("HOME", user)], &[]);
        let (own, hybrid) = (
            directory.path().join("grov/providers.yaml"),
            directory.path().join(HYBRID_FILE),
        );
        assert_eq!(files.candidates(), [own.clone(), hybrid.clone()]);
        assert_eq!(files.find(), None);
        for path in [&hybrid, &own] {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
            assert_eq!(files.find(), Some(path.as_path()));
        }
    }

    #[test]
    fn variables_of_the_provider_file_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let files = files(directory.path(), &[], &[]);
        assert_eq!(files.named_variables(), [""; 0]);
        std::fs::write(
            directory.path().join("providers.yaml"),
            "a: ${ONE}\nb: x-${ TWO }-${open\n",
        )
        .unwrap();
        assert_eq!(files.named_variables(), ["ONE", "TWO"]);
    }

    #[test]
    fn setting_names_the_only_file() {
        let directory = tempfile::tempdir().unwrap();
        let flags = [("route.providers", "mine.yaml".to_owned())];
        let files = files(directory.path(), &[("HOME", "/h")], &flags);
        assert_eq!(files.candidates(), [directory.path().join("mine.yaml")]);
    }

    #[test]
    fn variables_come_from_the_environment_and_then_from_the_env_file() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(".env"), "A=file\nB='file too'\nC=\n").unwrap();
        let files = files(directory.path(), &[("A", "environment"), ("B", "")], &[]);
        let value = |name| files.variable(name);
        assert_eq!(value("A").as_deref(), Some("environment"));
        assert_eq!(value("B").as_deref(), Some("file too"));
        assert_eq!((value("C"), value("D")), (None, None));
    }
}

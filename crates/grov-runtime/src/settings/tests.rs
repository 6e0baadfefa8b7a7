mod agent;
mod mistakes;
mod models;
mod projects;
mod sources;
mod starting;

use super::*;
use tempfile::TempDir;

/// A user's home directory with a Grov home and a repository, in a temporary directory.
struct Scene {
    directory: TempDir,
    environment: Vec<(String, String)>,
    flags: Vec<(&'static str, String)>,
}

impl Scene {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(directory.path().join("user/.grov")).unwrap();
        std::fs::create_dir_all(directory.path().join("user/code/repo/.git")).unwrap();
        std::fs::create_dir_all(directory.path().join("user/code/repo/deep/down")).unwrap();
        let home = directory.path().join("user").to_str().unwrap().to_owned();
        Self {
            directory,
            environment: vec![("HOME".to_owned(), home)],
            flags: Vec::new(),
        }
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.directory.path().join("user").join(relative)
    }

    fn write(self, relative: &str, text: &str) -> Self {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn user_file(self, text: &str) -> Self {
        self.write(".grov/config.toml", text)
    }

    fn project_file(self, text: &str) -> Self {
        self.write("code/repo/.grov/config.toml", text)
    }

    fn env_file(self, text: &str) -> Self {
        self.write(".grov/.env", text)
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    fn flag(mut self, name: &'static str, value: &str) -> Self {
        self.flags.push((name, value.to_owned()));
        self
    }

    fn environment(&self) -> Environment {
        self.environment.iter().cloned().collect()
    }

    fn load_in(&self, directory: Option<&str>) -> Result<Settings, SettingsError> {
        let environment = self.environment();
        let home = Home::locate(None, &environment).unwrap();
        let directory = directory.map(|relative| self.path(relative));
        Settings::load(Inputs {
            home: &home,
            environment: &environment,
            directory: directory.as_deref(),
            flags: &self.flags,
        })
    }

    fn load(&self) -> Result<Settings, SettingsError> {
        self.load_in(Some("code/repo/deep/down"))
    }

    fn error(&self) -> String {
        self.load().unwrap_err().to_string()
    }

    fn refusal(&self) -> String {
        self.load()
            .unwrap()
            .ensure_startable(&self.environment())
            .unwrap_err()
            .to_string()
    }
}

/// The value, its origin, and the kind, value and status of each candidate.
fn explained(settings: &Settings, name: &str) -> (String, String, Vec<String>) {
    let explanation = settings.explain(name).unwrap();
    let candidates = explanation.candidates.iter().map(|candidate| {
        format!(
            "{}={} {}",
            candidate.origin.rank(),
            candidate.shown,
            candidate.status.as_str()
        )
    });
    (
        explanation.value.to_string(),
        explanation.origin.to_string(),
        candidates.collect(),
    )
}

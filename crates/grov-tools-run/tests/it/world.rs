//! The surroundings of a tool in a test.

use grov_domain::{CallFilter, LlmCall, MicroUsd, SystemClock};
use grov_runtime::{Environment, Home, Variables};
use grov_store::{OnCorruption, OpenOptions, SqliteStore};
use grov_tools::{Arguments, Registry};
use grov_tools_run::{Piped, Surroundings, run};
use serde_json::Value;
use std::sync::Arc;

pub(crate) struct World {
    pub(crate) around: Surroundings,
    pub(crate) registry: Registry,
    pub(crate) folder: tempfile::TempDir,
}

/// The object that was printed, and its exit code.
pub(crate) struct Printed {
    pub(crate) value: Value,
    pub(crate) code: u8,
}

impl Printed {
    pub(crate) fn kind(&self) -> &str {
        self.value["error"]["kind"].as_str().unwrap_or("none")
    }
}

impl World {
    pub(crate) fn new(variables: &[(&str, &str)]) -> Self {
        Self::with_file(variables, "")
    }

    /// With variables of the environment, and the text of the home's `.env`.
    pub(crate) fn with_file(variables: &[(&str, &str)], file: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let environment: Environment = variables.iter().copied().collect();
        let home = Home::locate(Some(&folder.path().join("home")), &environment).unwrap();
        home.create().unwrap();
        std::fs::write(home.env_file(), file).unwrap();
        let directory = folder.path().join("project");
        std::fs::create_dir(&directory).unwrap();
        let store = SqliteStore::reopening(&home.database(), &OpenOptions::default(), OnCorruption::Fail);
        let around = Surroundings {
            variables: Variables::load(&home, &environment).unwrap(),
            directory,
            spending: Arc::new(store),
            clock: Arc::new(SystemClock),
            budget: MicroUsd(5_000_000),
            proxy: None,
            own_listeners: Vec::new(),
            progress: Arc::new(|_| {}),
            home,
        };
        Self {
            around,
            registry: Registry::built_in(),
            folder,
        }
    }

    /// With both web providers at this address.
    pub(crate) fn of_web(url: &str) -> Self {
        Self::new(&[
            ("PERPLEXITY_API_KEY", "pplx-secret-key"),
            ("PERPLEXITY_BASE_URL", url),
            ("TAVILY_API_KEY", "tvly-secret-key"),
            ("TAVILY_BASE_URL", url),
        ])
    }

    /// Writes a file of the project.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.around.directory.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.around.directory.join(path)).unwrap()
    }

    pub(crate) fn git(&self, arguments: &[&str]) {
        let status = std::process::Command::new("git")
            .arg("-C")
            .arg(&self.around.directory)
            .args(["-c", "user.name=T", "-c", "user.email=t@example.com"])
            .args(arguments)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .status();
        assert!(status.unwrap().success(), "{arguments:?}");
    }

    /// Runs a tool: options as `("depth", "advanced")`, flags with an empty value.
    pub(crate) async fn run(&self, tool: &str, given: &[(&str, &str)]) -> Printed {
        self.run_with(tool, given, None, std::future::pending()).await
    }

    pub(crate) async fn run_with(
        &self,
        tool: &str,
        given: &[(&str, &str)],
        piped: Option<&str>,
        cancelled: impl Future<Output = ()>,
    ) -> Printed {
        let tool = self.registry.find_slug(tool).unwrap();
        let words = given.iter().map(|(field, word)| {
            let words = if word.is_empty() {
                Vec::new()
            } else {
                vec![(*word).to_owned()]
            };
            ((*field).to_owned(), words)
        });
        let arguments = Arguments::of_words(tool, words.collect()).unwrap();
        let piped = piped.map(|text| Piped {
            text: text.to_owned(),
            cut: 0,
        });
        let envelope = run(&self.around, tool, arguments, piped, cancelled).await;
        Printed {
            value: serde_json::to_value(&envelope).unwrap(),
            code: envelope.exit_code(),
        }
    }

    /// The calls in the ledger.
    pub(crate) async fn calls(&self) -> Vec<LlmCall> {
        self.around.spending.calls(&CallFilter::default()).await.unwrap()
    }
}

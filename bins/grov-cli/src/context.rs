//! The environment of a command: home, settings, project, store.

use crate::arguments::Common;
use crate::assembly;
use crate::failure::Failure;
use crate::output::{Outcome, Style, Terminal, note};
use crate::table::one_line;
use grov_domain::{Judge, Project, StoreConnection};
use grov_project::{GrovIgnore, ProjectLocation};
use grov_query::known_projects;
use grov_runtime::{Environment, Home, Inputs, Settings, logging};
use rustix::fs::{Access, access};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Maximum number of projects that are listed for a misspelt one.
const MAX_PROJECTS: usize = 10;

/// The environment of a command.
pub(crate) struct Context {
    pub(crate) home: Home,
    pub(crate) settings: Settings,
    pub(crate) common: Common,
    pub(crate) terminal: Terminal,
    directory: Option<PathBuf>,
}

impl Context {
    /// Reads the configuration for the project, and prints its warnings.
    pub(crate) fn load(common: &Common, terminal: Terminal) -> Result<Self, Failure> {
        let environment = Environment::of_process();
        let home = Home::locate(common.home.as_deref(), &environment)?;
        if home.root().exists() && !home.root().is_dir() {
            let message = format!("{} is not a directory", home.root().display());
            return Err(Failure::error("home", message)
                .hint("move it away, or use another home: --home or GROV_HOME"));
        }
        let directory = match &common.project {
            Some(project) => project.is_dir().then(|| project.clone()),
            None => std::env::current_dir().ok(),
        };
        let inputs = Inputs {
            home: &home,
            environment: &environment,
            directory: directory.as_deref(),
            flags: &[],
        };
        let settings = Settings::load(inputs)?;
        for warning in settings.warnings() {
            note!("warning: {warning}");
        }
        // Commands log only if that is configured.
        if settings.is_set("log.level") {
            let log = grov_runtime::LogSettings {
                file: None,
                ..settings.log().clone()
            };
            logging::init(&log).map_err(|error| Failure::error("configuration", error.to_string()))?;
        }
        Ok(Self {
            home,
            settings,
            common: common.clone(),
            terminal,
            directory,
        })
    }

    /// Prints the answer as JSON, or as the text that `text` makes of it.
    pub(crate) fn answer<T: Serialize>(&self, answer: T, text: impl FnOnce(&T, Style) -> String) -> Outcome {
        self.terminal.answer(answer, text)
    }

    /// The project of `--project` or of the current directory.
    pub(crate) fn project(&self) -> Result<Project, Failure> {
        match (&self.directory, &self.common.project) {
            (Some(directory), _) => Ok(ProjectLocation::locate(directory).project()),
            (None, Some(key)) => Ok(Project {
                path: Some(key.to_string_lossy().into_owned()),
                remote: None,
            }),
            (None, None) => Err(Failure::error("project", "cannot find the current directory")
                .hint("name the project with --project P")),
        }
    }

    /// The key of the project that `--project` names; `None` without it.
    pub(crate) fn named_project(&self) -> Result<Option<String>, Failure> {
        match self.common.project {
            Some(_) => Ok(self.project()?.path),
            None => Ok(None),
        }
    }

    /// The project's `.grovignore`. Prints its problems.
    pub(crate) fn ignore(&self) -> GrovIgnore {
        let place = self.directory.as_deref().map(ProjectLocation::locate);
        let ignore = place.as_ref().map(GrovIgnore::at).unwrap_or_default();
        for problem in ignore.problems() {
            note!("warning: {problem}");
        }
        ignore
    }

    /// The top of the project's working tree; `None` if the project is named by its key.
    pub(crate) fn top(&self) -> Option<PathBuf> {
        let place = ProjectLocation::locate(self.directory.as_deref()?);
        Some(place.work_tree().unwrap_or(place.root()).to_owned())
    }

    /// The current directory or that of `--project`; `None` if the project is named by its key.
    pub(crate) fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.home.database()
    }

    /// Runs `work` on the existing store, opened for reading; `None` if there is none.
    pub(crate) fn read<T>(
        &self,
        work: impl AsyncFnOnce(&dyn StoreConnection) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        block_on(async {
            match assembly::open_existing(&self.database()).await? {
                Some(store) => {
                    self.ensure_known(&store).await?;
                    work(&store).await.map(Some)
                }
                // Without records, zeros would be a lie where none can be written.
                None => self.ensure_writable().map(|()| None),
            }
        })
    }

    /// Fails for a project that is named by a key without records, which may be misspelt.
    async fn ensure_known(&self, store: &dyn StoreConnection) -> Result<(), Failure> {
        let (None, Some(named)) = (&self.directory, &self.common.project) else {
            return Ok(());
        };
        let named = named.to_string_lossy();
        let known = known_projects(store).await?;
        if known.is_empty() || known.iter().any(|known| *known == named) {
            return Ok(());
        }
        let mut message = format!(
            "no project {:?}: it is no directory, and nothing is recorded for it",
            one_line(&named)
        );
        message.push_str("; recorded are:");
        for known in known.iter().take(MAX_PROJECTS) {
            message.push_str(&format!("\n  {}", one_line(known)));
        }
        if known.len() > MAX_PROJECTS {
            message.push_str(&format!("\n  and {} more", known.len() - MAX_PROJECTS));
        }
        Err(Failure::negative("no_project", message).hint("name one of them, or a directory, with --project"))
    }

    /// Fails if the home exists and cannot be used, or cannot be made.
    fn ensure_writable(&self) -> Result<(), Failure> {
        let root = self.home.root();
        let existing = root.ancestors().find(|path| path.symlink_metadata().is_ok());
        let Some(existing) = existing else { return Ok(()) };
        let usable = match existing.is_dir() {
            true => access(existing, Access::WRITE_OK | Access::EXEC_OK).map_err(|error| error.to_string()),
            false => Err("it is not a directory".to_owned()),
        };
        usable.map_err(|error| {
            let message = format!(
                "cannot write to {}: {error}; nothing can be recorded, and there are no records to show",
                existing.display()
            );
            let hint = format!(
                "make it yours with chown and chmod u+rwx, or use another home: GROV_HOME or --home (now {})",
                root.display()
            );
            Failure::error("home", message).hint(hint)
        })
    }

    /// Runs `work` on the existing store, opened for writing; `None` if there is none.
    pub(crate) fn write<T>(
        &self,
        work: impl AsyncFnOnce(&dyn StoreConnection) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        if !is_created(&self.database()) {
            return Ok(None);
        }
        self.create(work).map(Some)
    }

    /// Runs `work` on the store, opened for writing and created if there is none.
    pub(crate) fn create<T>(
        &self,
        work: impl AsyncFnOnce(&dyn StoreConnection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        block_on(async { work(&assembly::open(&self.database()).await?).await })
    }

    /// The configured judge; `None` if rules judge alone. Prints a warning if the judge cannot be used.
    pub(crate) fn judge(&self) -> Option<impl Judge + 'static> {
        let warn = |trouble: &str| note!("warning: {trouble}");
        assembly::judge(&self.settings, &self.database(), warn)
    }
}

/// Runs a future to its end on this thread.
pub(crate) fn block_on<T, E: Into<Failure>>(work: impl Future<Output = Result<T, E>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::error("system", format!("cannot start the async runtime: {error}")))?;
    runtime.block_on(work).map_err(Into::into)
}

fn is_created(database: &Path) -> bool {
    std::fs::metadata(database).is_ok_and(|metadata| metadata.len() > 0)
}

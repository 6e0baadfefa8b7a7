//! The directory with a user's configuration, database and logs.

use crate::Environment;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Mode of directories: accessible only to the owner.
const PRIVATE_DIRECTORY: u32 = 0o700;
/// Mode of files: accessible only to the owner.
const PRIVATE_FILE: u32 = 0o600;

/// The path of the directory with configuration, database and logs. The directory need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

/// Why there is no usable home.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HomeError {
    /// None of `--home`, `GROV_HOME` and `HOME` is given.
    #[error("there is no home directory: HOME is not set to an absolute path")]
    Unknown,
    /// A relative path was given and the working directory does not exist.
    #[error("the home {} is relative and the working directory cannot be found: {source}", path.display())]
    Relative {
        /// The path as given.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The directory does not exist and cannot be created, or is not a directory.
    #[error("the home {} cannot be used: {source}", path.display())]
    Unusable {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl HomeError {
    /// What the user can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unknown => "set GROV_HOME, or pass --home DIR",
            Self::Relative { .. } => "give an absolute path",
            Self::Unusable { .. } => {
                "check the path and its permissions, or name another with GROV_HOME or --home DIR"
            }
        }
    }
}

impl Home {
    /// The home that `--home` names, else `GROV_HOME`, else `.grov` in the user's home directory. Does not access the file system.
    pub fn locate(flag: Option<&Path>, environment: &Environment) -> Result<Self, HomeError> {
        let named = flag
            .map(Path::to_path_buf)
            .or_else(|| environment.get("GROV_HOME").map(PathBuf::from));
        let root = match named {
            Some(path) => {
                std::path::absolute(&path).map_err(|source| HomeError::Relative { path, source })?
            }
            None => environment
                .get("HOME")
                .map(Path::new)
                .filter(|home| home.is_absolute())
                .ok_or(HomeError::Unknown)?
                .join(".grov"),
        };
        Ok(Self { root })
    }

    /// Creates the directory (mode 0700) unless it exists. An existing one keeps its mode.
    pub fn create(&self) -> Result<(), HomeError> {
        self.create_directory(&self.root)
    }

    /// Creates the log directory, and the home if needed.
    pub fn create_logs(&self) -> Result<PathBuf, HomeError> {
        let logs = self.logs();
        self.create_directory(&logs)?;
        Ok(logs)
    }

    /// Creates the directory of [`run_records`](Self::run_records), and the home if needed.
    pub fn create_run_records(&self) -> Result<(), HomeError> {
        self.create_directory(&self.run_records())
    }

    fn create_directory(&self, path: &Path) -> Result<(), HomeError> {
        create_directory(path).map_err(|source| HomeError::Unusable {
            path: path.to_owned(),
            source,
        })
    }

    /// Why nothing can be written to the directory, such as a full disk; `None` if a small file can, which is removed again.
    pub fn write_fault(&self) -> Option<io::Error> {
        let path = self.root.join(format!(".writable-{}.tmp", std::process::id()));
        let written = std::fs::write(&path, [b'.'; 4096]);
        // Fails if it could not be created.
        let _ = std::fs::remove_file(&path);
        written.err()
    }

    /// The directory itself, absolute.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The database.
    pub fn database(&self) -> PathBuf {
        self.root.join("grov.db")
    }

    /// Records that wait to be stored in the database.
    pub fn spool(&self) -> PathBuf {
        self.root.join("spool.jsonl")
    }

    /// The record of the running daemon.
    pub fn daemon_record(&self) -> PathBuf {
        self.root.join("daemon.json")
    }

    /// The lock of the running daemon.
    pub fn daemon_lock(&self) -> PathBuf {
        self.root.join("daemon.lock")
    }

    /// The directory with the records of daemons that serve one `grov run`.
    pub fn run_records(&self) -> PathBuf {
        self.root.join("run")
    }

    /// The socket on which the running daemon accepts commands.
    pub fn control_socket(&self) -> PathBuf {
        self.root.join("control.sock")
    }

    /// The log of a daemon in the background, unless `log.file` names another file.
    pub fn daemon_log(&self) -> PathBuf {
        self.logs().join("proxy.log")
    }

    /// The user's configuration, unless `GROV_CONFIG` names another file.
    pub fn config_file(&self) -> PathBuf {
        self.root.join("config.toml")
    }

    /// The providers of other models, unless `route.providers` names another file.
    pub fn providers_file(&self) -> PathBuf {
        self.root.join("providers.yaml")
    }

    /// Variables with lower precedence than those of the environment.
    pub fn env_file(&self) -> PathBuf {
        self.root.join(".env")
    }

    /// The token with which hooks over HTTP authenticate.
    pub fn hook_token(&self) -> PathBuf {
        self.root.join("hook-token")
    }

    /// The key of links to the dashboard.
    pub fn browser_key(&self) -> PathBuf {
        self.root.join("ui-key")
    }

    /// The hashes of the tokens with which clients use the proxy.
    pub fn tokens(&self) -> PathBuf {
        self.root.join("tokens.json")
    }

    /// The lock of a process that changes the tokens.
    pub fn tokens_lock(&self) -> PathBuf {
        self.root.join("tokens.lock")
    }

    /// When tokens were last used, as the daemon notes it.
    pub fn token_uses(&self) -> PathBuf {
        self.root.join("token-uses.json")
    }

    /// The certificate that the proxy makes if none is configured.
    pub fn own_certificate(&self) -> PathBuf {
        self.root.join("tls").join("server.crt")
    }

    /// The key of that certificate.
    pub fn own_certificate_key(&self) -> PathBuf {
        self.root.join("tls").join("server.key")
    }

    /// The directory of the certificate authority for intercepted connections.
    pub fn certificate_authority(&self) -> PathBuf {
        self.root.join("ca")
    }

    /// The directory of log files.
    pub fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }
}

/// Creates a directory that only its owner can read, and those above it, unless it exists.
pub(crate) fn create_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(PRIVATE_DIRECTORY)
        .create(path)
}

/// Replaces a file atomically, so that readers see the old or the new content. Only its owner can read it.
///
/// # Errors
/// The system's error.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{number}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = create_private(
        &temporary,
        OpenOptions::new().write(true).create(true).truncate(true),
    )
    .and_then(|mut file| file.write_all(content))
    .and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        // Only the first error is returned; the file may not exist.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

/// Opens a file with `options`, and restricts its permissions to its owner.
///
/// # Errors
/// The system's error.
pub fn create_private(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = options.mode(PRIVATE_FILE).open(path)?;
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(PRIVATE_FILE))?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locate(flag: Option<&str>, variables: &[(&str, &str)]) -> Result<Home, HomeError> {
        Home::locate(flag.map(Path::new), &variables.iter().copied().collect())
    }

    #[test]
    fn the_flag_overrides_the_variable_and_the_variable_the_default() {
        let variables = [("GROV_HOME", "/g"), ("HOME", "/h")];
        assert_eq!(locate(Some("/f"), &variables).unwrap().root(), Path::new("/f"));
        assert_eq!(locate(None, &variables).unwrap().root(), Path::new("/g"));
        assert_eq!(
            locate(None, &[("HOME", "/h")]).unwrap().root(),
            Path::new("/h/.grov")
        );
        assert_eq!(
            locate(None, &[("GROV_HOME", ""), ("HOME", "/h")]).unwrap().root(),
            Path::new("/h/.grov")
        );
        assert!(locate(Some("here"), &[]).unwrap().root().is_absolute());
    }

    #[test]
    fn no_home_is_a_clear_error() {
        assert!(matches!(locate(None, &[]), Err(HomeError::Unknown)));
        assert!(matches!(
            locate(None, &[("HOME", "relative")]),
            Err(HomeError::Unknown)
        ));
    }

    #[test]
    fn directories_and_files_are_private() {
        let directory = tempfile::tempdir().unwrap();
        let home = locate(Some(directory.path().join("a/b").to_str().unwrap()), &[]).unwrap();
        let logs = home.create_logs().unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(home.root()), mode(&logs)), (0o700, 0o700));

        let file = home.daemon_record();
        std::fs::write(&file, "old and longer").unwrap();
        write_private(&file, b"new").unwrap();
        assert_eq!(
            (std::fs::read(&file).unwrap().as_slice(), mode(&file)),
            (b"new".as_slice(), 0o600)
        );
        assert_eq!(
            std::fs::read_dir(home.root()).unwrap().count(),
            2,
            "no temporary file is left"
        );

        std::fs::set_permissions(home.root(), Permissions::from_mode(0o755)).unwrap();
        home.create().unwrap();
        assert_eq!(mode(home.root()), 0o755, "an existing directory keeps its mode");
    }

    #[test]
    fn a_file_in_the_way_is_a_clear_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, "").unwrap();
        let error = Home::locate(Some(&path), &Environment::default())
            .unwrap()
            .create()
            .unwrap_err();
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    }
}

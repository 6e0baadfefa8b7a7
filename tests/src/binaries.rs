//! Where the binaries under test are.

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The path of the binary `name`, built from the current source.
///
/// `cargo xtask test` builds all binaries first and sets `GROV_BIN_DIR` to their directory. Without the variable this
/// function runs cargo, so that plain `cargo test` never uses an old binary.
///
/// # Errors
/// The build fails or does not produce the binary.
pub fn binary(name: &str) -> Result<PathBuf> {
    static FOLDER: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let folder = FOLDER
        .get_or_init(|| match std::env::var_os("GROV_BIN_DIR") {
            Some(folder) => Ok(PathBuf::from(folder)),
            None => build().map_err(|error| format!("{error:#}")),
        })
        .as_ref()
        .map_err(|error| anyhow::anyhow!("{error}"))?;
    let path = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    ensure!(path.is_file(), "the binary {} does not exist", path.display());
    Ok(path)
}

/// Builds the binaries into the target directory, with the profile of the running test.
fn build() -> Result<PathBuf> {
    let test = std::env::current_exe().context("the running test has no path")?;
    // target/PROFILE/deps/TEST
    let folder = test
        .ancestors()
        .nth(2)
        .context("the running test is not in a target directory")?;
    let target = folder
        .parent()
        .context("the running test is not in a target directory")?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("the tests have no parent directory")?;
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // The same set of features as for the tests: dependencies are not built a second time.
    cargo
        .current_dir(root)
        .args(["build", "--quiet", "--locked", "--workspace", "--bins", "--tests"]);
    cargo.arg("--target-dir").arg(target).stdin(Stdio::null());
    if folder.ends_with("release") {
        cargo.arg("--release");
    }
    let status = cargo.status().context("cannot start cargo")?;
    ensure!(status.success(), "the binaries do not build");
    Ok(folder.to_path_buf())
}

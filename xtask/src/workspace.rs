//! The workspace according to cargo and git: its root, packages and files.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The root directory of the workspace, and how to run things in it.
pub(crate) struct Workspace {
    /// Absolute path of the directory that contains the root `Cargo.toml`.
    pub(crate) root: PathBuf,
}

/// One package of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    /// Its name.
    pub(crate) name: String,
    /// Its `Cargo.toml`.
    pub(crate) manifest: PathBuf,
    /// What it depends on directly, of every kind and for every platform.
    pub(crate) dependencies: Vec<Dependency>,
    /// The root source files of its library and its binaries.
    pub(crate) roots: Vec<PathBuf>,
    /// The names of its examples.
    pub(crate) examples: Vec<String>,
}

/// One declared dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// Name of the package depended on.
    pub(crate) name: String,
    /// Only for tests, benches and examples.
    pub(crate) dev: bool,
}

impl Workspace {
    /// Finds the workspace of this tool.
    pub(crate) fn locate() -> Result<Self> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = here.parent().context("xtask has no parent directory")?;
        Ok(Self {
            root: root.to_path_buf(),
        })
    }

    /// A command that runs in the root.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).stdin(Stdio::null());
        command
    }

    /// The cargo that runs this tool.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(arguments);
        command
    }

    /// The compiler's host platform, for example `x86_64-unknown-linux-gnu`.
    pub(crate) fn host(&self) -> Result<String> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let text = output(self.command(rustc).arg("-vV"))?;
        let host = text.lines().find_map(|line| line.strip_prefix("host: "));
        Ok(host.context("the output of rustc -vV has no host")?.to_owned())
    }

    /// The output directory of debug builds.
    pub(crate) fn built(&self) -> PathBuf {
        let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
        self.root.join(target).join("debug")
    }

    /// The packages of the workspace.
    pub(crate) fn packages(&self) -> Result<Vec<Package>> {
        let text = output(&mut self.cargo(&["metadata", "--format-version", "1", "--no-deps"]))?;
        parse_metadata(&text)
    }

    /// Every file that git tracks or would track, relative to the root, without deleted ones.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>> {
        let listing = output(self.command("git").args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]))?;
        let mut files: Vec<PathBuf> = listing
            .split('\0')
            .filter(|name| !name.is_empty())
            .map(PathBuf::from)
            .collect();
        files.retain(|file| self.root.join(file).is_file());
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// The text of a file given relative to the root.
    pub(crate) fn read(&self, file: &Path) -> Result<String> {
        let path = self.root.join(file);
        std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }
}

fn output(command: &mut Command) -> Result<String> {
    let result = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start {command:?}"))?;
    if !result.status.success() {
        bail!("{command:?} failed ({})", result.status);
    }
    String::from_utf8(result.stdout).with_context(|| format!("{command:?} printed no UTF-8"))
}

fn parse_metadata(text: &str) -> Result<Vec<Package>> {
    let metadata: Value = serde_json::from_str(text).context("the output of cargo metadata is not JSON")?;
    let packages = metadata["packages"]
        .as_array()
        .context("the output of cargo metadata has no packages")?;
    packages.iter().map(parse_package).collect()
}

fn parse_package(package: &Value) -> Result<Package> {
    let text = |value: &Value| {
        value
            .as_str()
            .map(str::to_owned)
            .context("a field is missing in the output of cargo metadata")
    };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let dependencies = list(&package["dependencies"])
        .iter()
        .map(|dependency| {
            Ok(Dependency {
                name: text(&dependency["name"])?,
                dev: dependency["kind"].as_str() == Some("dev"),
            })
        })
        .collect::<Result<_>>()?;
    let targets = list(&package["targets"]);
    let of_kinds = |kinds: &[&str]| -> Vec<&Value> {
        let fits = |kind: &Value| kind.as_str().is_some_and(|kind| kinds.contains(&kind));
        targets
            .iter()
            .filter(|target| list(&target["kind"]).iter().any(fits))
            .collect()
    };
    let roots = of_kinds(&["lib", "bin", "proc-macro"])
        .into_iter()
        .map(|target| text(&target["src_path"]).map(PathBuf::from))
        .collect::<Result<_>>()?;
    let examples = of_kinds(&["example"])
        .into_iter()
        .map(|target| text(&target["name"]))
        .collect::<Result<_>>()?;
    Ok(Package {
        name: text(&package["name"])?,
        manifest: PathBuf::from(text(&package["manifest_path"])?),
        dependencies,
        roots,
        examples,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_parsed_into_packages() {
        let text = r#"{"packages":[{"name":"a","manifest_path":"/x/a/Cargo.toml",
            "dependencies":[{"name":"b","kind":null},{"name":"c","kind":"dev"},{"name":"d","kind":"build"}],
            "targets":[{"kind":["lib"],"src_path":"/x/a/src/lib.rs"},{"kind":["bench"],"name":"x","src_path":"/x/a/benches/x.rs"},
                       {"kind":["example"],"name":"show","src_path":"/x/a/examples/show.rs"}]}]}"#;
        let packages = parse_metadata(text).unwrap();
        let expected = |name: &str, dev| Dependency {
            name: name.to_owned(),
            dev,
        };
        assert_eq!(
            packages[0].dependencies,
            [expected("b", false), expected("c", true), expected("d", false)]
        );
        assert_eq!(packages[0].roots, [PathBuf::from("/x/a/src/lib.rs")]);
        assert_eq!(packages[0].examples, ["show"]);
    }
}

//! The provider file on disk.

use grov_route::{Problem, ProviderFile};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The largest provider file, in bytes.
const MAX_SIZE: u64 = 1024 * 1024;

/// Returns the value of a variable that the provider file refers to.
pub type Environment = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Where the provider file is, and where its variables come from.
pub struct ProviderSource {
    /// The first of these that exists is the provider file.
    pub candidates: Vec<PathBuf>,
    /// Other files that the variables come from. A change of them is a change of the provider file.
    pub variables: Vec<PathBuf>,
    /// The variables, asked again with every load.
    pub environment: Environment,
}

/// What is known of a file without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    path: PathBuf,
    /// The position among the candidates.
    rank: usize,
    modified: Option<SystemTime>,
    size: u64,
}

/// What a provider file and the files of its variables looked like. Equal if nothing changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    file: Option<Stamp>,
    variables: Vec<Stamp>,
}

impl Fingerprint {
    /// Whether the provider file of `self` became empty, or is missing in `newer`.
    pub(crate) fn lost_file(&self, newer: &Self) -> bool {
        let Some(old) = &self.file else {
            return false;
        };
        match &newer.file {
            None => true,
            Some(new) if new.path == old.path => new.size == 0,
            Some(new) => new.rank > old.rank,
        }
    }
}

/// The provider file as it was read.
pub(crate) struct Reading {
    /// The path, or `None` if there is no provider file.
    pub(crate) path: Option<PathBuf>,
    /// The file, or what is wrong with it; `Ok(None)` if there is none.
    pub(crate) result: Result<Option<ProviderFile>, Vec<Problem>>,
}

impl ProviderSource {
    /// Returns what the files look like now.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        Fingerprint {
            file: stamps(&self.candidates).next(),
            variables: stamps(&self.variables).collect(),
        }
    }

    /// Reads the provider file.
    pub(crate) fn read(&self) -> Reading {
        let Some(Stamp { path, .. }) = stamps(&self.candidates).next() else {
            return Reading {
                path: None,
                result: Ok(None),
            };
        };
        let result = match text_of(&path) {
            Ok((text, mode)) => ProviderFile::read_at(&path, &text, &self.environment)
                .map(|mut file| {
                    file.check_permissions(mode);
                    Some(file)
                })
                .map_err(|error| error.problems),
            Err(error) => Err(vec![Problem {
                line: 1,
                message: format!("the file cannot be read: {error}"),
                hint: None,
            }]),
        };
        Reading {
            path: Some(path),
            result,
        }
    }
}

/// The stamps of the files that exist.
fn stamps(paths: &[PathBuf]) -> impl Iterator<Item = Stamp> {
    paths.iter().enumerate().filter_map(|(rank, path)| {
        let metadata = std::fs::metadata(path).ok()?;
        Some(Stamp {
            path: path.clone(),
            rank,
            modified: metadata.modified().ok(),
            size: metadata.len(),
        })
    })
}

/// The text of a file, and its permissions.
fn text_of(path: &Path) -> io::Result<(String, u32)> {
    let mut text = String::new();
    let file = File::open(path)?;
    let mode = file.metadata()?.permissions().mode();
    file.take(MAX_SIZE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_SIZE {
        let reason = format!("it has more than {MAX_SIZE} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
    Ok((text, mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_lost_if_it_is_empty_or_a_later_candidate_takes_its_place() {
        let home = tempfile::tempdir().unwrap();
        let [own, other] = ["own.yaml", "other.yaml"].map(|name| home.path().join(name));
        let source = ProviderSource {
            candidates: vec![own.clone(), other.clone()],
            variables: Vec::new(),
            environment: Box::new(|_| None),
        };
        let none = source.fingerprint();
        std::fs::write(&other, "x").unwrap();
        let later = source.fingerprint();
        std::fs::write(&own, "x").unwrap();
        let first = source.fingerprint();
        std::fs::write(&own, "").unwrap();
        let empty = source.fingerprint();
        for newer in [&none, &later, &empty] {
            assert!(first.lost_file(newer), "{newer:?}");
        }
        assert!(!later.lost_file(&first) && !none.lost_file(&first) && !none.lost_file(&none));
    }

    #[test]
    fn first_candidate_that_exists_is_read_and_changes_are_noticed() {
        let home = tempfile::tempdir().unwrap();
        let [own, other, variables] = ["own.yaml", "other.yaml", ".env"].map(|name| home.path().join(name));
        let source = ProviderSource {
            candidates: vec![own.clone(), other.clone()],
            variables: vec![variables.clone()],
            environment: Box::new(|_| None),
        };
        let none = source.fingerprint();
        assert!(matches!(
            source.read(),
            Reading {
                path: None,
                result: Ok(None)
            }
        ));
        let text = |label| {
            format!(
                "providers:\n  - name: p\n    endpoint: http://127.0.0.1:1\n    models:\n      {label}: m\n"
            )
        };
        std::fs::write(&other, text("fallback")).unwrap();
        let fallback = source.fingerprint();
        std::fs::write(&own, text("first")).unwrap();
        let both = source.fingerprint();
        std::fs::write(&variables, "KEY=1").unwrap();
        let with_variables = source.fingerprint();
        assert!(none != fallback && fallback != both && both != with_variables);
        assert_eq!(with_variables, source.fingerprint());
        let read = source.read();
        assert_eq!(read.path, Some(own.clone()));
        assert!(read.result.unwrap().unwrap().target("first").is_some());
        std::fs::write(&own, vec![b'#'; 1024 * 1024 + 1]).unwrap();
        assert!(source.read().result.unwrap_err()[0].message.contains("more than"));
    }
}

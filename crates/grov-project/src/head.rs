//! The checked-out branch and commit.

use crate::read::{find_line, small_text};
use std::path::Path;

/// The maximum size of a reference file in bytes. A reference is one line of a few hundred bytes.
const REFERENCE_LIMIT: u64 = 4096;
/// The maximum size of `packed-refs` in bytes: about 700,000 references. In larger repositories, the commit is unknown.
const PACKED_LIMIT: u64 = 64 * 1024 * 1024;
/// The maximum length of a chain of symbolic references, as in Git.
const DEPTH: usize = 5;

/// The checked-out branch and commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The branch; `None` if a commit is checked out directly.
    pub branch: Option<String>,
    /// The commit, in hexadecimal; `None` on a branch without commits.
    pub commit: Option<String>,
}

impl Head {
    pub(crate) fn read(git_directory: &Path, common_directory: &Path) -> Self {
        let mut head = Self::default();
        let mut content = small_text(&git_directory.join("HEAD"), REFERENCE_LIMIT);
        for step in 0..DEPTH {
            let Some(text) = content else { break };
            let text = text.trim();
            let Some(name) = text.strip_prefix("ref:").map(str::trim) else {
                head.commit = as_commit(text);
                break;
            };
            // `.invalid` marks a repository with an unsupported reference format.
            if !is_reference_name(name) || name.ends_with("/.invalid") {
                break;
            }
            if step == 0 {
                head.branch = name.strip_prefix("refs/heads/").map(str::to_owned);
            }
            content = small_text(&git_directory.join(name), REFERENCE_LIMIT)
                .or_else(|| small_text(&common_directory.join(name), REFERENCE_LIMIT))
                .or_else(|| packed(common_directory, name));
        }
        head
    }
}

fn packed(common_directory: &Path, name: &str) -> Option<String> {
    find_line(&common_directory.join("packed-refs"), PACKED_LIMIT, |line| {
        let (commit, rest) = line.split_at_checked(line.iter().position(|byte| *byte == b' ')?)?;
        (&rest[1..] == name.as_bytes()).then(|| String::from_utf8_lossy(commit).into_owned())
    })
}

/// Parses a SHA-1 or SHA-256 hash in hexadecimal.
fn as_commit(text: &str) -> Option<String> {
    let is_commit = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit.then(|| text.to_ascii_lowercase())
}

/// Whether the name stays inside the directory of references.
fn is_reference_name(name: &str) -> bool {
    name.starts_with("refs/") && !name.contains("..") && !name.contains(|c: char| c.is_control() || c == '\\')
}

//! Adds a prompt and the files that it mentions to the plan of the checked-out branch. It runs while the user waits.

use crate::file::open_to_append;
use crate::lines::{MAX_LIST, MentionedFile, Query};
use crate::plan_dir::{FILES, PlanDir, QUERIES, is_own};
use crate::{Branch, PlanError};
use grov_redact::Redacted;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The maximum number of words of a prompt that are looked up as files.
const MAX_LOOKUPS: usize = 64;
/// How long to wait for another hook that answers the same prompt.
const LOCK_TIMEOUT: Duration = Duration::from_millis(50);

/// A prompt to add.
#[derive(Clone, Copy, Debug)]
pub struct Prompt<'a> {
    /// The text.
    pub text: &'a Redacted,
    /// The working directory, to which its paths are relative.
    pub directory: &'a Path,
    /// The client's session.
    pub session: Option<&'a str>,
    /// The client's id of the prompt. Duplicates of the last prompt are recognized by it.
    pub id: Option<&'a str>,
    /// The checked-out commit.
    pub commit: Option<&'a str>,
    /// The time.
    pub at: OffsetDateTime,
}

/// Adds a prompt to the plan of a branch, which is created if there is none. Returns whether it was added: an empty prompt, a
/// duplicate of the last one, and one for a list that is too long are not.
///
/// # Errors
/// As [`PlanDir::find_or_create`]; a list cannot be written.
pub fn capture(work_tree: &Path, branch: &Branch, prompt: &Prompt<'_>) -> Result<bool, PlanError> {
    if prompt.text.trim().is_empty() {
        return Ok(false);
    }
    let plan = PlanDir::find_or_create(work_tree, branch)?;
    let text = |text: Option<&str>| text.map(str::to_owned);
    let query = Query {
        prompt: prompt.text.to_string(),
        session: text(prompt.session),
        id: text(prompt.id),
        commit: text(prompt.commit),
        at: prompt.at.format(&Rfc3339).ok(),
    };
    if !add_query(&plan, &query)? {
        return Ok(false);
    }
    let files = mentioned_files(prompt.text, prompt.directory, [work_tree, plan.work_tree()]);
    if !files.is_empty() {
        let lines: String = files
            .into_iter()
            .map(|path| line(&MentionedFile { path }))
            .collect();
        append(&plan.inside(FILES)?, &lines, |_, _| Ok(false))?;
    }
    Ok(true)
}

fn add_query(plan: &PlanDir, query: &Query) -> Result<bool, PlanError> {
    let text = line(query);
    let same = line(&Query {
        at: None,
        ..query.clone()
    });
    // The common beginning of the lines of two duplicates.
    let same = same.trim_end_matches("}\n").to_owned();
    let is_known = query.id.is_some();
    append(&plan.inside(QUERIES)?, &text, move |file, length| {
        Ok(is_known && last_line(file, length, text_length(&same))?.starts_with(same.as_bytes()))
    })
}

/// The number of bytes at the end of the list that hold a duplicate with a time.
fn text_length(same: &str) -> u64 {
    same.len() as u64 + 64
}

/// Appends lines unless `is_there` says that they are there already, or the file is too long.
fn append(
    path: &Path,
    lines: &str,
    is_there: impl FnOnce(&mut File, u64) -> std::io::Result<bool>,
) -> Result<bool, PlanError> {
    let (mut file, _) = open_to_append(path)?;
    lock(&file);
    let written = (|| {
        // Measured again, because another process may have added lines before the lock was free.
        let length = file.metadata()?.len();
        if length + lines.len() as u64 > MAX_LIST || is_there(&mut file, length)? {
            return Ok(false);
        }
        // After an interrupted write the last line has no end.
        let torn = length > 0 && last_byte(&mut file)? != b'\n';
        let separator = if torn { "\n" } else { "" };
        file.write_all(format!("{separator}{lines}").as_bytes())?;
        Ok(true)
    })();
    written.map_err(PlanError::io(path, "written"))
}

/// Waits for the lock, but not long: without it a prompt may be added twice, which is better than a late answer.
fn lock(file: &File) {
    let until = Instant::now() + LOCK_TIMEOUT;
    while let Err(TryLockError::WouldBlock) = file.try_lock() {
        if Instant::now() >= until {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn last_byte(file: &mut File) -> std::io::Result<u8> {
    let mut byte = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut byte)?;
    Ok(byte[0])
}

/// The last complete line, if it has at most `most` bytes.
fn last_line(file: &mut File, length: u64, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    file.take(most).read_to_end(&mut bytes)?;
    let end = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let start = end.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    Ok(end[start..].to_vec())
}

fn line<T: Serialize>(value: &T) -> String {
    // Serializing these types cannot fail; without a line, nothing is added.
    serde_json::to_string(value).map_or_else(|_| String::new(), |text| text + "\n")
}

/// The files of the working tree that a text mentions, relative to its top, which is given as it is called and with symbolic
/// links resolved. Paths that lead elsewhere are not looked up, because a file system behind them may not answer.
fn mentioned_files(text: &str, directory: &Path, [called, root]: [&Path; 2]) -> BTreeSet<String> {
    let Ok(directory) = directory.canonicalize() else {
        return BTreeSet::new();
    };
    let mut candidates: Vec<&str> = Vec::new();
    for word in text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-'))) {
        let word = word.trim_end_matches(['.', '/', '-']);
        let looks_like_a_path = word.contains(['.', '/']) && word.len() <= 1024;
        if looks_like_a_path && !candidates.contains(&word) {
            candidates.push(word);
            if candidates.len() == MAX_LOOKUPS {
                break;
            }
        }
    }
    let real = |word: &&str| -> Option<String> {
        let named = without_parents(&directory.join(word));
        if !named.starts_with(root) && !named.starts_with(called) {
            return None;
        }
        let path: PathBuf = named.canonicalize().ok()?;
        let inside = path.strip_prefix(root).ok().filter(|_| path.is_file())?;
        (!is_own(inside)).then(|| inside.to_str().map(str::to_owned))?
    };
    candidates.iter().filter_map(real).collect()
}

/// The path with each `..` applied, without a look at the files.
fn without_parents(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            part => clean.push(part),
        }
    }
    clean
}

#[cfg(test)]
mod tests;

//! Answers of identical calls, kept for an hour.

use crate::Surroundings;
use crate::material::clean;
use grov_domain::MicroUsd;
use grov_tools::{Answer, HttpCall};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fs::DirBuilder;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use time::{Duration, OffsetDateTime};
use xxhash_rust::xxh3::xxh3_128;

/// How long an answer is used.
const LIFETIME: Duration = Duration::HOUR;
/// Larger answers are not kept.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// The place of a call's answer.
pub(crate) struct Cache {
    file: PathBuf,
    now: OffsetDateTime,
}

#[derive(Deserialize)]
struct Kept {
    #[serde(with = "time::serde::timestamp")]
    at: OffsetDateTime,
    data: Value,
    model: Option<String>,
    metadata: Map<String, Value>,
}

/// [`Kept`], to be written.
#[derive(Serialize)]
struct Keeping<'a> {
    #[serde(with = "time::serde::timestamp")]
    at: OffsetDateTime,
    data: &'a Value,
    model: Option<&'a str>,
    metadata: &'a Map<String, Value>,
}

/// A buffer that refuses more than the limit, so that a large answer is not copied.
struct Limited(Vec<u8>);

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_BYTES {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Cache {
    /// The place of the answer to this call of a tool. The key is not part of it.
    pub(crate) fn of(around: &Surroundings, slug: &str, base: &str, call: &HttpCall, options: &str) -> Self {
        let text = format!("{slug}\n{base}\n{}\n{options}\n{}", call.path, call.body);
        let name = format!("{:032x}.json", xxh3_128(text.as_bytes()));
        Self {
            file: around.home.root().join("cache").join("tools").join(name),
            now: around.clock.now(),
        }
    }

    /// The place of something else that belongs to the same call.
    pub(crate) fn beside(&self, extension: &str) -> PathBuf {
        self.file.with_extension(extension)
    }

    /// A kept answer that is not too old.
    pub(crate) fn get(&self) -> Option<Answer> {
        let kept: Kept = serde_json::from_slice(&std::fs::read(&self.file).ok()?).ok()?;
        let age = self.now - kept.at;
        let mut metadata = kept.metadata;
        metadata.insert("cached".to_owned(), true.into());
        (Duration::ZERO..LIFETIME).contains(&age).then_some(Answer {
            data: kept.data,
            model: kept.model,
            cost: Some(MicroUsd(0)),
            metadata,
        })
    }

    /// Keeps an answer, and removes those that are too old. A cache that cannot be written is no reason to fail.
    pub(crate) fn put(&self, answer: &Answer) {
        let kept = Keeping {
            at: self.now,
            data: &answer.data,
            model: answer.model.as_deref(),
            metadata: &answer.metadata,
        };
        let mut text = Limited(Vec::new());
        let is_written = serde_json::to_writer(&mut text, &kept).is_ok();
        let (Ok(text), true) = (String::from_utf8(text.0), is_written) else {
            return;
        };
        let Some(folder) = self.file.parent() else { return };
        if create_folder(folder).is_err() {
            return;
        }
        let mut text = text;
        grov_redact::each_text_of_json(&mut text, &mut |text| *text = clean(text));
        // See above.
        let _ = grov_runtime::write_private(&self.file, text.as_bytes());
        let now = std::time::SystemTime::now();
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let is_job = entry
                .path()
                .extension()
                .is_some_and(|extension| extension == "job");
            let lifetime = if is_job { crate::job::LIFETIME } else { LIFETIME };
            let old = now.checked_sub(lifetime.unsigned_abs());
            let modified = entry.metadata().and_then(|metadata| metadata.modified());
            if modified.is_ok_and(|modified| old.is_some_and(|old| modified < old)) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// Creates a folder that only its user can read.
pub(crate) fn create_folder(path: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

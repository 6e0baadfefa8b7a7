//! One pass over a text, with the findings so far and the part that each rule has examined.

use crate::assignment;
use crate::bare;
use crate::command::{self, PROGRAMS};
use crate::context::{self, CONTEXTS};
use crate::index::{Trigger, for_each_keyword};
use crate::prose::is_chosen;
use crate::redactor::Finding;
use crate::tokens::{COUNT, TOKENS};
use crate::url;
use memchr::memchr3_iter;
use std::ops::Range;

/// The evidence for a finding, strongest first. The strongest of overlapping findings names the mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Certainty {
    /// Marked by the user.
    Marked,
    /// The form of the secret.
    Form,
    /// The text around it.
    Place,
    /// The name that it is assigned to.
    Name,
    /// Only its randomness.
    Randomness,
}

/// A finding, not yet merged with overlapping ones.
#[derive(Debug)]
struct Found {
    range: Range<usize>,
    rule: &'static str,
    certainty: Certainty,
}

/// Returns the position of the first byte from `from` on that `ends` accepts, at most `limit` bytes after it.
pub(crate) fn end_of_run(bytes: &[u8], from: usize, limit: usize, ends: impl FnMut(&u8) -> bool) -> usize {
    let run = &bytes[from..bytes.len().min(from.saturating_add(limit))];
    from + run.iter().position(ends).unwrap_or(run.len())
}

/// A pass over one text.
#[derive(Debug)]
pub(crate) struct Scan<'t> {
    pub(crate) text: &'t str,
    pub(crate) bytes: &'t [u8],
    found: Vec<Found>,
    /// Assignments before this offset are inside a value that was already found.
    pub(crate) assigned_until: usize,
    /// Command lines before this offset were already examined, for each program.
    pub(crate) commands_until: [usize; PROGRAMS.len()],
    /// Private blocks and keys before this offset were already found.
    pub(crate) blocks_until: usize,
    /// The heading of the table whose rows were read last, and their end.
    pub(crate) table: Range<usize>,
}

impl<'t> Scan<'t> {
    /// Returns the secrets of a text in order, without overlaps.
    pub(crate) fn run(text: &'t str) -> Vec<Finding> {
        let mut scan = Self {
            text,
            bytes: text.as_bytes(),
            found: Vec::new(),
            assigned_until: 0,
            commands_until: [0; PROGRAMS.len()],
            blocks_until: 0,
            table: 0..0,
        };
        scan.keywords();
        scan.separators();
        bare::tokens(&mut scan);
        scan.repeated();
        scan.merged()
    }

    /// Adds a finding. Empty ranges are ignored.
    pub(crate) fn found(&mut self, rule: &'static str, certainty: Certainty, range: Range<usize>) {
        if !range.is_empty() {
            self.found.push(Found {
                range,
                rule,
                certainty,
            });
        }
    }

    fn keywords(&mut self) {
        // A token rule skips keywords that end before this, so that it examines each byte once.
        let mut dead_until = [0_usize; COUNT];
        let bytes = self.bytes;
        for_each_keyword(bytes, |keyword, trigger| match trigger {
            Trigger::Token(number) if keyword.end <= dead_until[number] => {}
            Trigger::Token(number) => {
                let rule = TOKENS[number];
                match rule.find(bytes, keyword) {
                    Ok(range) => {
                        dead_until[number] = range.end;
                        if rule.id == "aws-access-key-id" {
                            context::secret_of_access_key(self, &range);
                        }
                        self.found(rule.id, Certainty::Form, range);
                    }
                    Err(position) => dead_until[number] = dead_until[number].max(position),
                }
            }
            Trigger::Context(number) => CONTEXTS[number].0(self, keyword),
            Trigger::Command(number) => command::options(self, number, keyword),
        });
    }

    fn separators(&mut self) {
        for at in memchr3_iter(b'=', b':', b'.', self.bytes) {
            match self.bytes[at] {
                b'.' => context::discord_token(self, at),
                b':' if self.bytes[at..].starts_with(b"://") => url::credentials(self, at),
                b'=' if self.bytes.get(at + 1) == Some(&b'=') => context::padded_key(self, at),
                _ => {
                    context::key_in_file_name(self, at);
                    assignment::find(self, at);
                }
            }
        }
    }

    /// Finds the other places of the passwords that the text around them gave away: what is a secret once is one everywhere. Only of
    /// words that nobody writes by chance.
    fn repeated(&mut self) {
        const MAX_PASSWORDS: usize = 8;
        const LONGEST: usize = 64;
        let mut passwords: Vec<(&str, &'static str)> = Vec::new();
        for found in &self.found {
            let text = self.text.get(found.range.clone()).unwrap_or_default();
            let is_given = matches!(found.certainty, Certainty::Place | Certainty::Name);
            if passwords.len() < MAX_PASSWORDS
                && is_given
                && text.len() <= LONGEST
                && is_chosen(text)
                && passwords.iter().all(|(known, _)| *known != text)
            {
                passwords.push((text, found.rule));
            }
        }
        for (password, rule) in passwords {
            for at in memchr::memmem::find_iter(self.bytes, password) {
                let end = at + password.len();
                let joins = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
                if !joins(at.checked_sub(1).and_then(|before| self.bytes.get(before)))
                    && !joins(self.bytes.get(end))
                {
                    self.found(rule, Certainty::Place, at..end);
                }
            }
        }
    }

    /// Merges overlapping findings. The strongest, then the first, gives the name.
    fn merged(mut self) -> Vec<Finding> {
        self.found
            .sort_by_key(|found| (found.range.start, found.certainty));
        let mut merged: Vec<Found> = Vec::with_capacity(self.found.len());
        for found in self.found {
            match merged.last_mut() {
                Some(last) if found.range.start < last.range.end => {
                    last.range.end = last.range.end.max(found.range.end);
                    if found.certainty < last.certainty {
                        last.certainty = found.certainty;
                        last.rule = found.rule;
                    }
                }
                _ => merged.push(found),
            }
        }
        merged
            .into_iter()
            .map(|found| Finding {
                rule: found.rule,
                range: found.range,
            })
            .collect()
    }
}

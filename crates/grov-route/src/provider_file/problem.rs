//! What is wrong with a provider file, and what to write instead.

use std::fmt;

/// One problem of a provider file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong. Contains no keys.
    pub message: String,
    /// What to write instead.
    pub hint: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

/// A provider file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", summary(.problems))]
pub struct ProviderFileError {
    /// Every problem found, in the order of the lines; never empty.
    pub problems: Vec<Problem>,
}

fn summary(problems: &[Problem]) -> String {
    match problems {
        [] => "the provider file is invalid".to_owned(),
        [only] => only.to_string(),
        [first, rest @ ..] => format!("{first}; and {} more", rest.len()),
    }
}

/// The known name that is most similar to `name`: it differs by a few typing errors, or `name` is its last part.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Comparing a long name would be slow, and no known one is long.
    if name.len() > 64 {
        return None;
    }
    let name = name.to_lowercase();
    let allowed = (name.chars().count() / 3).clamp(1, 4);
    known
        .into_iter()
        .filter_map(|known| {
            let is_last_part = known.rsplit_once(':').is_some_and(|(_, last)| last == name);
            let distance = strsim::damerau_levenshtein(&name, &known.to_lowercase());
            match is_last_part {
                true => Some((0, known)),
                false => (distance <= allowed).then_some((distance, known)),
            }
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// A hint that names the nearest known name, or else all of them.
pub(super) fn did_you_mean(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("known are {}", known.join(", ")),
    }
}

/// A hint for an unknown label.
pub(super) fn label_hint(name: &str, labels: &[&str]) -> String {
    match labels {
        [] => "the file has no models".to_owned(),
        labels => did_you_mean(name, labels),
    }
}

//! The pattern language of the token rules.
//!
//! A pattern is a sequence of runs and fixed texts after a keyword. Runs are greedy and matching never backtracks.

/// A set of ASCII bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class(u128);

impl Class {
    pub(crate) const DIGIT: Self = Self::of("0-9");
    pub(crate) const LOWER_HEX: Self = Self::of("0-9a-f");
    pub(crate) const HEX: Self = Self::of("0-9a-fA-F");
    pub(crate) const UPPER: Self = Self::of("A-Z0-9");
    pub(crate) const LOWER: Self = Self::of("a-z0-9");
    pub(crate) const ALNUM: Self = Self::of("A-Za-z0-9");
    pub(crate) const WORD: Self = Self::of("A-Za-z0-9_");
    pub(crate) const DASHED: Self = Self::of("A-Za-z0-9-");
    pub(crate) const BASE64: Self = Self::of("A-Za-z0-9+/=");
    pub(crate) const BASE64_URL: Self = Self::of("A-Za-z0-9_-");

    /// Returns the set for `spec`: single bytes and ranges such as `a-z`. A dash at the end is a dash.
    pub(crate) const fn of(spec: &str) -> Self {
        let spec = spec.as_bytes();
        let mut set = 0_u128;
        let mut i = 0;
        while i < spec.len() {
            let first = spec[i];
            let ranged = i + 2 < spec.len() && spec[i + 1] == b'-';
            let last = if ranged { spec[i + 2] } else { first };
            let mut byte = first;
            while byte <= last {
                set |= 1 << byte;
                byte += 1;
            }
            i += if ranged { 3 } else { 1 };
        }
        Self(set)
    }

    /// Returns whether the set contains the byte.
    pub(crate) const fn has(self, byte: u8) -> bool {
        byte < 128 && self.0 >> byte & 1 == 1
    }

    /// Returns the end of the run of this class that starts at `from`, after at most `limit` bytes.
    pub(crate) fn run(self, bytes: &[u8], from: usize, limit: usize) -> usize {
        let stop = bytes.len().min(from.saturating_add(limit));
        let mut at = from.min(bytes.len());
        while at < stop && self.has(bytes[at]) {
            at += 1;
        }
        at
    }

    /// Returns the start of the run of this class that ends at `to`, at most `limit` bytes before it.
    pub(crate) fn run_back(self, bytes: &[u8], to: usize, limit: usize) -> usize {
        let stop = to.saturating_sub(limit);
        let mut at = to;
        while at > stop && self.has(bytes[at - 1]) {
            at -= 1;
        }
        at
    }
}

/// No maximum length of a run.
pub(crate) const OPEN: usize = usize::MAX;

/// A part of a pattern.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// A greedy run of a class with a minimum and maximum length.
    Run(Class, usize, usize),
    /// Exactly this text.
    Text(&'static str),
}

/// Matches `parts` from `from` on and returns the end of the match.
///
/// If they do not match, returns a position. The same parts cannot match from an earlier position either, because
/// their first run has the same end.
pub(crate) fn walk(parts: &[Part], bytes: &[u8], from: usize) -> Result<usize, usize> {
    let mut at = from;
    let mut first_run_end = None;
    for part in parts {
        match *part {
            Part::Run(class, min, max) => {
                // One byte more than the maximum shows that the run is too long.
                let end = class.run(bytes, at, max.saturating_add(1));
                let length = end - at;
                if length < min || length > max {
                    let whole = max == OPEN || length <= max;
                    return Err(first_run_end.unwrap_or(if whole { end } else { from }));
                }
                first_run_end.get_or_insert(end);
                at = end;
            }
            Part::Text(text) => {
                if !bytes[at..].starts_with(text.as_bytes()) {
                    return Err(first_run_end.unwrap_or(from));
                }
                at += text.len();
            }
        }
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_holds_its_ranges_and_a_dash_at_the_end() {
        let class = Class::of("a-c_-");
        assert_eq!((0..=255).filter(|b| class.has(*b)).collect::<Vec<u8>>(), b"-_abc");
    }

    #[test]
    fn a_run_is_taken_whole_or_not_at_all() {
        let parts = [
            Part::Run(Class::DIGIT, 2, 3),
            Part::Text("-"),
            Part::Run(Class::UPPER, 1, OPEN),
        ];
        let end = |text: &str| walk(&parts, text.as_bytes(), 0).ok();
        assert_eq!(end("12-AB c"), Some(5));
        assert_eq!(end("123-A"), Some(5));
        assert_eq!(end("1234-A"), None);
        assert_eq!(end("1-A"), None);
        assert_eq!(end("12-"), None);
        assert_eq!(end("12"), None);
    }
}

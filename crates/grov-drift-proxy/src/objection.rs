//! Whether what the user typed holds a "no" of some sort.

/// Words that rule out, stop or take back, in English and Romanian.
const WORDS: &[&str] = &[
    "no",
    "nope",
    "not",
    "dont",
    "don't",
    "never",
    "none",
    "stop",
    "wait",
    "cancel",
    "undo",
    "revert",
    "rollback",
    "without",
    "cannot",
    "can't",
    "shouldn't",
    "mustn't",
    "won't",
    "wrong",
    "why",
    "nu",
    "nici",
    "niciodată",
    "niciodata",
    "oprește",
    "opreste",
    "stai",
    "anulează",
    "anuleaza",
    "fără",
    "fara",
    "greșit",
    "gresit",
];

/// Words that are looked at.
const MOST_WORDS: usize = 2000;

/// Whether there is an objection in a prompt. It errs on the side of one: "no problem, go on" is taken for an objection,
/// and nothing is held to be allowed because of it.
pub(crate) fn objects(prompt: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || character == '\'';
    let plain = prompt.replace('\u{2019}', "'").to_lowercase();
    let mut words = plain.split(|character| !is_part(character)).take(MOST_WORDS);
    words.any(|word| WORDS.contains(&word.trim_matches('\'')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_no_is_told_from_a_yes() {
        for prompt in [
            "no",
            "No.",
            "don't do that",
            "Don\u{2019}t",
            "stop!",
            "Nu, lasă",
            "why did you touch it?",
            "please do NOT push",
        ] {
            assert!(objects(prompt), "{prompt}");
        }
        for prompt in [
            "yes",
            "go on",
            "da, continuă",
            "Also update notes.md",
            "now do it",
            "ok, know-how",
            "",
        ] {
            assert!(!objects(prompt), "{prompt}");
        }
    }
}

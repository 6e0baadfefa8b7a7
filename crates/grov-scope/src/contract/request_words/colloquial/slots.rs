//! What the alternatives of a pair match: stems, numbers of versions, places.

use super::Spoken;
use crate::contract::request_words::is_form_of;

/// Places where users see what is published.
#[rustfmt::skip]
const LIVE: &[&str] = &[
    "live.", "prod.", "proda.", "prodzie.", "production.", "prd.", "online.", "staging.", "stage.", "produktion.", "produktiv.", "produccion.", "produzione.", "producao.",
    "productie.", "productia.", "produkcje.", "produkcji.", "produkcja.", "生产", "线上", "本番", "ステージング", "预发",
];

/// Registries of packages.
#[rustfmt::skip]
const REGISTRIES: &[&str] = &[
    "npm.", "pypi.", "crates.io.", "crates.", "rubygems.", "nuget.", "hackage.", "packagist.", "dockerhub.", "ghcr.", "jsr.", "marketplace.", "cpan.", "hex.pm.", "npmjs.",
];

/// Remote repositories.
const REMOTES: &[&str] = &[
    "github.",
    "gitlab.",
    "origin.",
    "remote.",
    "remoto.",
    "upstream.",
    "远程",
    "リモート",
];

/// Words before the name of a place as the target of a movement: "to prod", "auf npm".
#[rustfmt::skip]
const TOWARDS: &[&str] = &[
    "to", "onto", "into", "go", "goes", "auf", "nach", "zu", "sur", "en", "a", "em", "pra", "para", "pro", "no", "su", "na", "pe", "op", "naar", "do", "in", "on", "now", "live", "it", "this", "that", "them", "es", "das", "ca", "lo", "isso", "to", "het",
];

/// Of those, the ones that also tell where something is: they count only next to the verb.
const WHERE: &[&str] = &["in", "on", "en", "em", "su", "na", "no", "pe", "op", "auf", "do"];

/// Words after a name that do not make it a part of a noun, such as "the live preview".
#[rustfmt::skip]
const AFTER: &[&str] = &[
    "and", "then", "now", "today", "pls", "plz", "please", "once", "when", "after", "if", "with", "on", "in", "at", "as", "for", "too", "again", "asap", "via", "to", "so",
    "und", "bitte", "jetzt", "dann", "damit", "heute", "mit", "auf", "schalten", "bringen", "stellen", "nehmen", "gehen", "setzen", "spielen", "machen", "schieben",
    "et", "maintenant", "puis", "y", "ya", "ahora", "e", "adesso", "ora", "agora", "ja", "si", "acum", "i", "teraz", "juz", "en", "nu", "maar", "zetten", "gooien", "brengen",
    "dan", "by", "por", "per", "s'il", "stp", "svp", "again", "wieder", "mal",
];

/// Words that may stand between the words of a pair.
#[rustfmt::skip]
const SMALL: &[&str] = &[
    "a", "an", "the", "this", "that", "it", "them", "those", "these", "my", "our", "me", "us", "all", "some", "more", "enough", "up", "off", "out", "of", "on", "to", "into", "onto", "bit", "new", "next", "version", "release", "rel", "v", "as", "what's", "whatever's", "is",
    "patch", "minor", "major", "tag", "final", "first", "beta", "and", "just", "now", "then", "please", "pls", "getting", "almost",
    "der", "die", "das", "den", "dem", "ein", "eine", "einen", "es", "mal", "bitte", "jetzt", "doch", "noch", "neue", "neuen", "auf", "zu", "zum", "ist", "mehr", "etwas", "alles", "wieder", "vom", "von", "ne", "nen",
    "le", "la", "les", "un", "une", "du", "de", "des", "ca", "l'", "sur", "en", "plus", "est", "au", "tout", "nouvelle", "el", "los", "las", "lo", "una", "uno", "del", "al", "esto", "eso", "todo", "mas", "esta", "nueva",
    "il", "i", "gli", "uno", "di", "da", "della", "piu", "po'", "nuova", "e", "o", "os", "as", "um", "uma", "do", "na", "no", "mais", "nova", "isso", "pra", "pro", "para",
    "o", "pe", "mai", "mult", "este", "noua", "nowa", "nowe", "te", "ta", "wersje", "het", "een", "maar", "weer", "wat", "nieuwe", "versie", "version", "versiunea", "versiune", "versione", "versao", "versionen", "je", "mij", "naar", "jest",
];

/// Whether a word may stand between the words of a pair.
pub(super) fn is_small(word: &Spoken) -> bool {
    SMALL.contains(&word.folded.as_str())
}

/// Whether the word at a position is one of the alternatives.
pub(super) fn is_any(words: &[Spoken], at: usize, alternatives: &[&str]) -> bool {
    let Some(word) = words.get(at) else {
        return false;
    };
    alternatives.iter().any(|alternative| match *alternative {
        "#" => is_version(&word.folded),
        "@" => is_target(words, at, LIVE),
        "&" => is_target(words, at, REGISTRIES),
        "%" => is_target(words, at, REMOTES),
        stem => match stem.strip_suffix('$') {
            Some(whole) => word.folded == whole && closes(words, at),
            None => is_form_of(&word.folded, &[stem]),
        },
    })
}

/// Whether a word is the number of a version: `0.14.0`, `v2`, `1.6`, `v2.0.0-beta.1`, `0.8er`. A plain number is none.
fn is_version(word: &str) -> bool {
    let number = word.strip_prefix('v').unwrap_or(word);
    let has_prefix = number.len() < word.len();
    let main = number.split(['-', '+']).next().unwrap_or(number);
    let main = main.trim_end_matches(|letter: char| letter.is_ascii_alphabetic() || !letter.is_ascii());
    let parts: Vec<&str> = main.split('.').collect();
    (parts.len() >= 2 || has_prefix)
        && parts.len() <= 4
        && parts
            .iter()
            .all(|part| (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether the word at a position names a place to which something moves.
fn is_target(words: &[Spoken], at: usize, places: &[&str]) -> bool {
    let Some(word) = words.get(at).filter(|word| is_form_of(&word.folded, places)) else {
        return false;
    };
    if !word.folded.is_ascii() {
        return true;
    }
    let before = |distance: usize| {
        let word = at.checked_sub(distance).and_then(|at| words.get(at));
        word.map_or("", |word| word.folded.as_str())
    };
    let is_far = || !is_verb_near(words, at);
    let (last, is_first) = (before(1), at == 0);
    let is_adverb = matches!(word.folded.as_str(), "live" | "online");
    let moves = is_first
        || TOWARDS.contains(&last) && !(WHERE.contains(&last) && is_far())
        || is_adverb
            && !matches!(
                last,
                "the" | "a" | "our" | "is" | "die" | "der" | "das" | "le" | "la" | "el" | "il" | "o" | "een"
            )
        || words[..at].iter().all(|word| word.may_order && is_small(word));
    moves && closes(words, at)
}

/// Whether at most three small words stand between a place and the word before them.
fn is_verb_near(words: &[Spoken], at: usize) -> bool {
    let small = words[..at].iter().rev().take_while(|word| is_small(word)).count();
    at.saturating_sub(small) <= 1
}

/// Whether a phrase ends after a word.
fn closes(words: &[Spoken], at: usize) -> bool {
    let next = words.get(at + 1);
    words.get(at).is_some_and(|word| word.ends)
        || next.is_none_or(|next| AFTER.contains(&next.folded.as_str()))
}

#[cfg(test)]
mod tests {
    use super::is_version;

    #[test]
    fn versions_are_no_plain_numbers() {
        for word in ["0.14.0", "v2", "1.6", "v2.0.0-beta.1", "0.8er", "10.2.1"] {
            assert!(is_version(word), "{word}");
        }
        for word in ["14", "v", "a.b", "1234567.1", "192.168.178.10.1", "vue"] {
            assert!(!is_version(word), "{word}");
        }
    }
}

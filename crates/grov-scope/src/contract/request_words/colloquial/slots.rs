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

/// Words before the name of a place as the target of a movement, however far away the verb is: "to prod", "nach Produktion". Other
/// prepositions also tell where something is, and count only next to the verb: "put it on staging".
const TOWARDS: &[&str] = &["to", "onto", "into", "nach", "a", "pra", "para", "naar", "spre"];

/// Words that make a noun of an adverb, or describe with it: "our live", "is live".
const ARTICLES: &[&str] = &[
    "the", "a", "our", "is", "are", "was", "die", "der", "das", "ist", "le", "la", "el", "il", "o", "een",
    "est",
];

/// Words after a name that do not make it a part of a noun, such as "the live preview".
#[rustfmt::skip]
const AFTER: &[&str] = &[
    "and", "then", "now", "today", "pls", "plz", "please", "once", "when", "after", "if", "with", "on", "in", "at", "as", "for", "too", "again", "asap", "via", "to", "so",
    "und", "bitte", "jetzt", "dann", "damit", "heute", "mit", "auf", "schalten", "bringen", "stellen", "nehmen", "gehen", "setzen", "spielen", "machen", "schieben",
    "et", "maintenant", "puis", "y", "ya", "ahora", "e", "adesso", "ora", "agora", "ja", "si", "acum", "i", "teraz", "juz", "en", "nu", "maar", "zetten", "gooien", "brengen",
    "dan", "by", "por", "per", "s'il", "stp", "svp", "again", "wieder", "mal",
    "already", "again", "tonight", "tomorrow", "right", "schon", "endlich",
];

/// Words that may stand between the words of a pair.
#[rustfmt::skip]
const SMALL: &[&str] = &[
    "in", "nel", "nella", "im", "ins", "totul", "toate", "wszystko", "alles",
    "tutto", "tudo", "toute", "tous", "everything", "dev", "lokale", "locale", "local", "lokal", "c'est", "c'e", "d'une", "mnie", "mam", "l", "wersja", "already", "finally",
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

/// Whether the word at a position is one of the alternatives. `is_next`: only small words stand between it and the verb.
pub(super) fn is_any(words: &[Spoken], at: usize, alternatives: &[&str], is_next: bool) -> bool {
    let Some(word) = words.get(at) else {
        return false;
    };
    alternatives.iter().any(|alternative| match *alternative {
        "#" => is_version(&word.folded),
        "@" => is_target(words, at, LIVE, is_next),
        "&" => is_target(words, at, REGISTRIES, is_next),
        "%" => is_target(words, at, REMOTES, is_next),
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
fn is_target(words: &[Spoken], at: usize, places: &[&str], is_next: bool) -> bool {
    let Some(word) = words.get(at).filter(|word| is_form_of(&word.folded, places)) else {
        return false;
    };
    if !word.folded.is_ascii() {
        return true;
    }
    let before = at.checked_sub(1).and_then(|at| words.get(at));
    let last = before.map_or("", |word| word.folded.as_str());
    let is_adverb = matches!(word.folded.as_str(), "live" | "online");
    // "In production" is where something is, "in produzione" may be where it goes.
    let is_english = matches!(
        word.folded.as_str(),
        "prod" | "production" | "staging" | "stage" | "live"
    );
    let moves = is_next && !matches!(last, "for" | "from") && !(last == "in" && is_english)
        || TOWARDS.contains(&last)
        || is_adverb && !ARTICLES.contains(&last);
    moves && closes(words, at)
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

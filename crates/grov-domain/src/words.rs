//! Splits text into words for search. Stored memories and queries are split in the same way.
//!
//! Words are lower case, and English words are stemmed. An identifier is split into itself and its parts: `parseHTTPUrl`
//! and `parse_http_url` give the same words. Text in a script without spaces is split into pairs of adjacent characters.

use grov_redact::is_unspaced;

/// Maximum characters of a word. Longer ones are data: hashes, keys, encoded images.
const MAX_WORD: usize = 48;

/// Returns at most `limit` words of a text, in order, including repetitions.
pub fn words(text: &str, limit: usize) -> Vec<String> {
    split(text, limit, stem)
}

/// Like [`words`], with English words as they are written: for an index that stems by its own rules.
pub fn unstemmed_words(text: &str, limit: usize) -> Vec<String> {
    split(text, limit, str::to_owned)
}

fn split(text: &str, limit: usize, stem: fn(&str) -> String) -> Vec<String> {
    let mut found = Vec::new();
    for run in runs(text) {
        if found.len() >= limit {
            break;
        }
        split_run(run, stem, &mut found);
    }
    found.truncate(limit);
    found
}

/// Returns at most 64 words of a path, in order.
pub fn path_words(path: &str) -> Vec<String> {
    words(path, 64)
}

/// Returns the last component of a path in lower case.
pub fn file_name(path: &str) -> String {
    let name = path.trim_end_matches('/').rsplit(['/', '\\']).next();
    name.unwrap_or(path).to_lowercase()
}

/// Whether a word looks like an identifier: letters with an underscore, an inner capital letter or a digit.
pub fn is_identifier(run: &str) -> bool {
    let mut before = None;
    let mut letters = false;
    let mut special = false;
    for character in run.chars() {
        letters |= character.is_alphabetic();
        special |= character == '_' || character.is_ascii_digit();
        special |= character.is_uppercase() && before.is_some_and(char::is_lowercase);
        before = Some(character);
    }
    letters && special
}

/// Returns at most `limit` identifiers of a text, each once, in lower case without underscores.
pub fn identifiers(text: &str, limit: usize) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for run in runs(text).filter(|run| run.chars().count() <= MAX_WORD && is_identifier(run)) {
        if found.len() >= limit {
            break;
        }
        let whole = whole(run);
        if !found.contains(&whole) {
            found.push(whole);
        }
    }
    found
}

/// Returns the runs of letters, digits and underscores.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !(character.is_alphanumeric() || character == '_'))
        .map(|run| run.trim_matches('_'))
        .filter(|run| !run.is_empty())
}

/// Returns an identifier in lower case without underscores.
fn whole(run: &str) -> String {
    run.chars()
        .filter(|character| *character != '_')
        .flat_map(char::to_lowercase)
        .collect()
}

fn split_run(run: &str, stem: fn(&str) -> String, found: &mut Vec<String>) {
    // The common case.
    if run.bytes().all(|byte| byte.is_ascii_lowercase()) {
        if run.len() <= MAX_WORD {
            found.push(stem(run));
        }
        return;
    }
    if run.chars().any(is_unspaced) {
        split_unspaced(run, stem, found);
        return;
    }
    if run.len() > MAX_WORD {
        return;
    }
    let parts = parts(run);
    if parts.len() > 1 {
        found.push(whole(run));
    }
    found.extend(parts.iter().map(|part| stem(&part.to_lowercase())));
}

/// Splits an identifier at underscores, before capital letters that start a word, and between letters and digits.
fn parts(run: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let characters: Vec<(usize, char)> = run.char_indices().collect();
    for (place, &(at, character)) in characters.iter().enumerate() {
        let Some(&(_, before)) = place.checked_sub(1).and_then(|place| characters.get(place)) else {
            continue;
        };
        let next_is_small = characters
            .get(place + 1)
            .is_some_and(|(_, next)| next.is_lowercase());
        let begins = character == '_'
            || before == '_'
            || (character.is_uppercase()
                && (before.is_lowercase() || (before.is_uppercase() && next_is_small)))
            || character.is_ascii_digit() != before.is_ascii_digit();
        if begins {
            parts.push(&run[start..at]);
            start = at;
        }
    }
    parts.push(&run[start..]);
    parts.retain(|part| !part.is_empty() && *part != "_");
    parts
}

/// Splits text in scripts without spaces into pairs of adjacent characters, and other text as usual.
fn split_unspaced(run: &str, stem: fn(&str) -> String, found: &mut Vec<String>) {
    let mut rest = run;
    while let Some(first) = rest.chars().next() {
        let unspaced = is_unspaced(first);
        let end = rest
            .find(|character| is_unspaced(character) != unspaced)
            .unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        rest = after;
        if !unspaced {
            split_run(piece, stem, found);
            continue;
        }
        let characters: Vec<char> = piece.chars().collect();
        if let [single] = characters[..] {
            found.push(single.to_string());
        }
        found.extend(characters.windows(2).map(|pair| pair.iter().collect::<String>()));
    }
}

/// Removes English endings of plurals, participles and adverbs, so that `limits`, `limited` and `limiting` have the same
/// stem. Returns other words unchanged.
fn stem(word: &str) -> String {
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let mut stem = word.to_owned();
    if let Some(base) = word.strip_suffix("ies").or_else(|| word.strip_suffix("ied")) {
        stem = if base.len() > 1 {
            format!("{base}y")
        } else {
            format!("{base}ie")
        };
    } else if word.ends_with("sses")
        || word.ends_with("shes")
        || word.ends_with("ches")
        || word.ends_with("xes")
    {
        stem.truncate(word.len() - 2);
    } else if word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us") && !word.ends_with("is") {
        stem.truncate(word.len() - 1);
    }
    for ending in ["ingly", "edly", "ing", "ed", "ly"] {
        if let Some(base) = stem.strip_suffix(ending) {
            if base.len() >= 3 && base.bytes().any(is_vowel) {
                let mut base = base.to_owned();
                let doubled = base.len() > 3
                    && base.as_bytes().last() == base.as_bytes().get(base.len() - 2)
                    && !base.ends_with(['l', 's', 'z']);
                if doubled {
                    base.pop();
                }
                stem = base;
            }
            break;
        }
    }
    // Endings add or remove a final vowel: `cache`, `cached`, `caching`.
    if stem.len() > 3 && stem.ends_with('e') {
        stem.pop();
    }
    if stem.len() > 3 && stem.ends_with('y') {
        stem.pop();
        stem.push('i');
    }
    stem
}

fn is_vowel(byte: u8) -> bool {
    matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inflected_words_have_the_same_stem() {
        for group in [
            &["limit", "limits", "limited", "limiting"][..],
            &["cache", "caches", "cached", "caching"],
            &["retry", "retries", "retried"],
            &["stop", "stops", "stopped", "stopping"],
            &["match", "matches", "matched"],
        ] {
            let stems: Vec<String> = group.iter().map(|word| stem(word)).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{stems:?}");
        }
        assert_eq!(stem("class"), "class");
        assert_eq!(stem("string"), "string");
        assert_eq!(stem("bus"), "bus");
    }

    #[test]
    fn identifiers_are_split_into_parts() {
        assert_eq!(words("parseHTTPUrl", 9), ["parsehttpurl", "pars", "http", "url"]);
        assert_eq!(
            words("parse_http_url", 9),
            ["parsehttpurl", "pars", "http", "url"]
        );
        assert_eq!(
            words("src/user_store.rs", 9),
            ["src", "userstore", "user", "stor", "rs"]
        );
        assert_eq!(words("int32", 9), ["int32", "int", "32"]);
        assert_eq!(
            unstemmed_words("parseHTTPUrls caching", 9),
            ["parsehttpurls", "parse", "http", "urls", "caching"]
        );
        assert_eq!(
            identifiers("fix userStore and user_store in Go", 9),
            ["userstore"]
        );
    }

    #[test]
    fn scripts_without_spaces_are_split_into_pairs() {
        assert_eq!(words("修复缓存bug", 9), ["修复", "复缓", "缓存", "bug"]);
        assert_eq!(words("字", 9), ["字"]);
        assert!(words("キャッシュを直す", 9).contains(&"キャ".to_owned()));
        assert_eq!(words("Überprüfung größer", 9), ["überprüfung", "größer"]);
    }

    #[test]
    fn operators_and_long_runs_are_not_words() {
        assert_eq!(words("\"a* NEAR(b) -c AND", 9), ["a", "near", "b", "c", "and"]);
        assert_eq!(words(&"x".repeat(5000), 9), Vec::<String>::new());
        assert_eq!(words("", 9), Vec::<String>::new());
        assert_eq!(words("___", 9), Vec::<String>::new());
        assert_eq!(words("a b c", 2), ["a", "b"]);
    }

    #[test]
    fn file_name_is_the_last_component() {
        assert_eq!(file_name("/a/B/Main.RS"), "main.rs");
        assert_eq!(file_name(r"C:\a\b.txt"), "b.txt");
        assert_eq!(file_name("a/b/"), "b");
        assert_eq!(file_name(""), "");
    }
}

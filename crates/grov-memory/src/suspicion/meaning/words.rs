//! A text as sentences of words with meanings.

use super::concept::{Concept, Meaning};
use super::is_unspaced;
use super::lexicon::LEXICON;
use crate::quote::is_hidden;
use crate::suspicion::hosts::{Host, host};
use crate::suspicion::look_alikes::{look_alike, narrow};

/// The most words of an expression, with its gaps.
const LONGEST: usize = 12;

/// A word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    /// The byte offset of its beginning in the text.
    pub(super) at: usize,
    /// What it means.
    pub(super) meaning: Meaning,
    /// Whether a clause begins with it.
    pub(super) begins: bool,
}

/// The sentences of a text.
pub(super) fn sentences(text: &str) -> Vec<Vec<Word>> {
    let mut reader = Reader::default();
    let mut at = 0;
    for chunk in text.split_inclusive(char::is_whitespace) {
        let word = chunk.trim_end();
        if !word.is_empty() {
            reader.chunk(word, at);
        }
        if chunk.ends_with('\n') {
            reader.end();
        }
        at += chunk.len();
    }
    reader.end();
    reader.done
}

/// Reads words, and gives expressions their meanings at the end of a sentence.
#[derive(Default)]
struct Reader {
    words: Vec<Word>,
    /// The plain words beside them.
    plain: Vec<String>,
    begins: bool,
    /// Whether the parts of a path are read.
    in_path: bool,
    done: Vec<Vec<Word>>,
}

impl Reader {
    /// What stands between two spaces.
    fn chunk(&mut self, chunk: &str, at: usize) {
        let bare = chunk.trim_start_matches(|mark: char| OPENING.contains(mark));
        let at = at + chunk.len() - bare.len();
        let word = bare.trim_end_matches(|mark: char| CLOSING.contains(mark));
        let tail = &bare[word.len()..];
        if !bare.is_empty() && chunk.starts_with(['(', '\u{2014}', '\u{2013}']) {
            self.begins = true;
        }
        let thing = thing(word);
        if let Some(meaning) = thing {
            self.push(String::new(), at, meaning);
        }
        let is_secret = |meaning: Meaning| meaning == Meaning::of(&[Concept::Secret]);
        if matches!(chunk, "''" | "\"\"") {
            self.push("off".to_owned(), at, Meaning::of(&[Concept::Remove]));
        } else if thing.is_none_or(is_secret) {
            self.word(word, at);
        } else if let Some((before, _)) = word.split_once("://") {
            // `registry=https://…`: the name before the address.
            if let Some((name, _)) = before.rsplit_once(['=', '"', '(', '\'']) {
                self.word(name, at);
            }
        }
        if tail.contains(['.', '!', '?', ';', '\u{3002}', '\u{ff01}', '\u{ff1f}', '\u{ff1b}']) {
            self.end();
        } else if tail.contains([',', ':', ')', '\u{3001}', '\u{ff0c}'])
            || matches!(chunk, "-" | "\u{2014}" | "\u{2013}")
        {
            self.begins = true;
        }
    }

    /// A word, or the parts of a name.
    fn word(&mut self, word: &str, at: usize) {
        let plain = plain(word);
        if plain.is_empty() {
            return;
        }
        if !word.chars().any(is_unspaced) {
            let meaning = LEXICON.meaning(&plain);
            let is_whole = plain.chars().all(char::is_alphanumeric) && !has_humps(word);
            if is_whole {
                self.push(plain, at, meaning);
                return;
            }
            if LEXICON.is_entry(&plain) {
                self.push(plain, at, meaning);
                return;
            }
            let first = self.words.len();
            let sentences = self.done.len();
            self.parts(word, at);
            // `pre-commit` means more than its parts.
            if self.done.len() == sentences
                && let Some(word) = self.words.get_mut(first)
            {
                word.meaning.add(meaning);
            }
            return;
        }
        self.parts(word, at);
    }

    /// The parts of `skipSignatureCheck`, `verify=False`, `pre-commit/hook`, and of a text without spaces.
    fn parts(&mut self, word: &str, at: usize) {
        self.in_path = word.contains(['/', '.', '_']) && word.is_ascii();
        let mut part = String::new();
        let mut start = at;
        let mut before = ' ';
        let mut skip = 0;
        let mut unknown = 0;
        for (place, letter) in word.char_indices() {
            if place < skip {
                continue;
            }
            if is_unspaced(letter) {
                self.part(&mut part, start);
                if let Some((length, meaning)) = LEXICON.piece(&word[place..]) {
                    self.push(String::new(), at + place, meaning);
                    skip = place + length;
                } else {
                    // Two unknown letters are about a word.
                    unknown += 1;
                    if unknown % 2 == 0 {
                        self.push(String::new(), at + place, Meaning::default());
                    }
                }
            } else if letter.is_alphanumeric() || letter == '\'' || letter == '\u{2019}' {
                if letter.is_uppercase() && before.is_lowercase() {
                    self.part(&mut part, start);
                }
                if part.is_empty() {
                    start = at + place;
                }
                part.push(letter);
            } else {
                self.part(&mut part, start);
                match letter {
                    '。' | '！' | '？' | '；' | ';' => self.end(),
                    '，' | '、' | '：' | '（' | ',' => self.begins = true,
                    '=' if is_off(&word[place + 1..]) => {
                        self.push("off".to_owned(), at + place, Meaning::of(&[Concept::Remove]))
                    }
                    _ => {}
                }
            }
            before = letter;
        }
        self.part(&mut part, start);
    }

    fn part(&mut self, part: &mut String, at: usize) {
        if !part.is_empty() {
            let plain = plain(part);
            let meaning = LEXICON.meaning(&plain);
            // `.claude` names a folder.
            let is_name = self.in_path && meaning.has(Meaning::of(&[Concept::Agent]));
            self.push(plain, at, if is_name { Meaning::default() } else { meaning });
            part.clear();
        }
    }

    fn push(&mut self, plain: String, at: usize, meaning: Meaning) {
        self.words.push(Word {
            at,
            meaning,
            begins: std::mem::take(&mut self.begins),
        });
        self.plain.push(plain);
    }

    /// Ends a sentence.
    fn end(&mut self) {
        let plain: Vec<&str> = self.plain.iter().map(String::as_str).collect();
        let nothing = Meaning::of(&[Concept::Nothing]);
        for place in 0..plain.len() {
            let mut found = Meaning::default();
            let mut silenced = 0;
            let end = plain.len().min(place + LONGEST);
            LEXICON.expressions(&plain[place..end], |length, concept| {
                if concept == Concept::Nothing {
                    silenced = silenced.max(length);
                } else {
                    found.add(Meaning::of(&[concept]));
                }
            });
            if silenced > 0 {
                for word in &mut self.words[place..place + silenced] {
                    word.meaning = nothing;
                }
            } else if !self.words[place].meaning.has(nothing) {
                self.words[place].meaning.add(found);
            }
        }
        self.plain.clear();
        self.begins = false;
        if !self.words.is_empty() {
            self.done.push(std::mem::take(&mut self.words));
        }
    }
}

/// Marks before a word.
const OPENING: &str = "([{<\"'`\u{201c}\u{201e}\u{201d}\u{2018}\u{ab}*#>!-\u{2014}\u{2013}|,:";
/// Marks after a word.
const CLOSING: &str =
    ")]}>\"'`\u{201c}\u{201d}\u{2019}\u{bb}*.,:;!?\u{2026}\u{3002}\u{ff01}\u{ff1f}\u{ff1b}\u{3001}\u{ff0c}|";

/// Whether a value after `=` means "off".
fn is_off(value: &str) -> bool {
    let value = value
        .trim_matches(|mark: char| !mark.is_alphanumeric())
        .to_ascii_lowercase();
    matches!(
        value.as_str(),
        "0" | "no" | "none" | "disabled" | "disable" | "never"
    )
}

/// Whether a name has a capital letter after a small one.
fn has_humps(word: &str) -> bool {
    let mut before = ' ';
    word.chars().any(|letter| {
        let is_hump = letter.is_uppercase() && before.is_lowercase();
        before = letter;
        is_hump
    })
}

/// A word in lower case, without accents, hidden characters and apostrophes; look-alikes beside Latin letters are Latin.
fn plain(word: &str) -> String {
    let has_latin = word.bytes().any(|byte| byte.is_ascii_alphabetic());
    let mut plain = String::with_capacity(word.len());
    for letter in word
        .chars()
        .filter(|letter| !is_hidden(*letter) && !matches!(letter, '\'' | '\u{2019}'))
    {
        for letter in narrow(letter).to_lowercase() {
            let letter = without_accent(letter);
            if letter == 'ß' {
                plain.push('s');
                plain.push('s');
            } else if has_latin && !letter.is_ascii() {
                plain.push(look_alike(letter));
            } else {
                plain.push(letter);
            }
        }
    }
    plain
}

fn without_accent(letter: char) -> char {
    match letter {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ă' | 'ą' => 'a',
        'ç' | 'ć' | 'č' => 'c',
        'ď' => 'd',
        'è' | 'é' | 'ê' | 'ë' | 'ę' | 'ě' => 'e',
        'ğ' => 'g',
        'ì' | 'í' | 'î' | 'ï' | 'ı' => 'i',
        'ł' => 'l',
        'ñ' | 'ń' | 'ň' => 'n',
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' | 'ő' => 'o',
        'ř' => 'r',
        'ś' | 'š' | 'ş' | 'ș' => 's',
        'ť' | 'ț' | 'ţ' => 't',
        'ù' | 'ú' | 'û' | 'ü' | 'ů' | 'ű' => 'u',
        'ý' | 'ÿ' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        'ё' => 'е',
        other => other,
    }
}

fn is_mail(word: &str) -> bool {
    word.split_once('@').is_some_and(|(user, domain)| {
        !user.is_empty()
            && !domain.contains(['/', ':', '@'])
            && domain.contains('.')
            && domain.ends_with(char::is_alphabetic)
    })
}

/// An address, a variable of a secret: what a word is by its form.
fn thing(word: &str) -> Option<Meaning> {
    use Concept::*;
    if is_mail(word) {
        let is_internal = word
            .rsplit('@')
            .next()
            .is_some_and(|domain| host(domain) == Host::Internal || is_reserved(domain));
        return Some(Meaning::of(if is_internal { &[Known] } else { &[Mail] }));
    }
    if let Some((before, address)) = word.split_once("://") {
        let address = address.trim_start_matches('/');
        let is_plain = before.ends_with("http") || before.ends_with("ftp");
        let mut meaning = address_meaning(address, is_plain);
        let is_secret = address
            .split(|mark: char| !(mark.is_ascii_alphanumeric() || mark == '_'))
            .any(is_secret_name);
        if is_secret {
            meaning.add(Meaning::of(&[Secret]));
        }
        if address.contains("$(")
            || address.contains("${")
            || address.contains('`')
            || address.contains("=$")
            || address.ends_with('=')
        {
            meaning.add(Meaning::of(&[Filled]));
        }
        return Some(meaning);
    }
    let name = word.trim_start_matches(['$', '{', '%', '-', '/']);
    let is_bare_host = !word.starts_with(['/', '.', '~', '-', '@']) && is_host(name);
    if is_bare_host {
        return Some(address_meaning(name, false));
    }
    is_secret_name(word).then(|| Meaning::of(&[Secret]))
}

fn address_meaning(address: &str, is_plain: bool) -> Meaning {
    use Concept::*;
    if is_reserved(address) {
        return Meaning::of(&[Known]);
    }
    match host(address) {
        Host::Internal | Host::Known => Meaning::of(&[Known]),
        Host::Address => Meaning::of(&[Url, Dubious]),
        Host::Dubious => Meaning::of(&[Url, Dubious]),
        Host::Foreign if is_plain => Meaning::of(&[Url, Dubious]),
        Host::Foreign => Meaning::of(&[Url]),
    }
}

/// Whether a word is a host without a scheme: an address, or a name below a common domain.
fn is_host(word: &str) -> bool {
    const DOMAINS: &[&str] = &[
        "com", "net", "org", "dev", "app", "xyz", "top", "ru", "cn", "de", "fr", "es", "it", "pl", "nl",
        "ro", "jp", "br", "pt", "uk", "eu", "info", "biz", "cc", "example", "site", "online", "cloud", "tk",
        "icu", "pw", "click", "su", "space", "link", "zone",
    ];
    let name = word.split(['/', ':', '?']).next().unwrap_or_default();
    let labels: Vec<&str> = name.split('.').collect();
    let is_name = labels.iter().all(|label| {
        !label.is_empty()
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    });
    let is_number = labels.len() == 4 && labels.iter().all(|label| label.parse::<u8>().is_ok());
    is_number && !matches!(name, "0.0.0.0" | "127.0.0.1")
        || is_name && labels.len() >= 2 && labels.last().is_some_and(|domain| DOMAINS.contains(domain))
}

/// Whether a word is the name of a variable that holds a secret: `$NPM_TOKEN`.
fn is_secret_name(word: &str) -> bool {
    const ENDS: &[&str] = &[
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "API_KEY",
        "APIKEY",
        "_KEY",
        "CREDENTIALS",
        "_PAT",
    ];
    let name = word.trim_matches(|mark: char| !(mark.is_ascii_alphanumeric() || mark == '_'));
    let is_variable = name.len() > 4
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    is_variable && ENDS.iter().any(|end| name.ends_with(end))
}

/// Whether a host is below a domain that never leaves the machine.
fn is_reserved(address: &str) -> bool {
    let name = address.split(['/', ':', '?']).next().unwrap_or_default();
    [".test", ".invalid", ".localhost"]
        .iter()
        .any(|end| name.ends_with(end))
}

//! Options of a list, and the short prompts that choose one.

use super::assent::is_assent;
use super::{as_order, fold, is_set_aside, is_unspaced, words};

/// Maximum length of a prompt that chooses an option, in words.
const MAX_CHOICE_WORDS: usize = 6;

/// Words before the label of an option.
#[rustfmt::skip]
const OPTION_WORDS: &[&str] = &[
    "approach", "choice", "choose", "go", "number", "nr", "opcion", "opcja", "opcao", "optie", "option", "optiunea", "opzione", "pick",
    "plan", "solution", "take", "use", "variant", "variante", "way", "with", "вариант", "нимм", "nimm",
];
const UNSPACED_OPTION_WORDS: &[&str] = &[
    "方案", "选项", "選項", "第", "案", "番", "选", "選", "方法", "옵션",
];

/// Words that may stand beside the label in the prompt.
#[rustfmt::skip]
const BESIDE: &[&str] = &["and", "bitte", "das", "die", "el", "favor", "for", "i", "i'd", "il", "la", "le", "let's", "like", "one", "please", "pls", "por", "the", "then", "und", "y"];
const UNSPACED_BESIDE: &[&str] = &["个", "個", "请", "用", "吧", "で", "を", "お願いします", "种"];

/// Words of the request to choose, folded.
#[rustfmt::skip]
const CHOOSING: &[&str] = &[
    "which", "choose", "pick", "prefer", "option", "options", "variant", "one of", "tell me", "your call", "or", "welche", "welcher", "welches", "welchen",
    "lieber", "wahlen", "wahle", "oder", "quelle", "quel", "laquelle", "lequel", "preferez", "preferes", "ou", "cual", "prefieres", "elige", "quale", "preferisci",
    "scegli", "qual", "prefere", "care", "preferi", "alege", "ktora", "ktory", "wolisz", "welke", "liever", "какой", "какую",
];
const UNSPACED_CHOOSING: &[&str] = &["哪", "选", "選", "どちら", "どれ", "还是", "어느", "어떤"];

/// Words before a part of an option that weighs it: "Drawback: somebody has to push".
#[rustfmt::skip]
const WEIGHING: &[&str] = &["drawback", "drawbacks", "con", "cons", "pro", "pros", "risk", "risks", "downside", "background", "note", "nachteil", "nachteile", "vorteil", "risiko", "inconvenient", "desventaja", "svantaggio"];

/// Ordinals that stand for a label.
#[rustfmt::skip]
const ORDINALS: &[(&str, &str)] = &[
    ("first", "1"), ("second", "2"), ("third", "3"), ("erste", "1"), ("ersten", "1"), ("zweite", "2"), ("zweiten", "2"), ("dritte", "3"),
    ("premiere", "1"), ("deuxieme", "2"), ("troisieme", "3"), ("primera", "1"), ("segunda", "2"), ("tercera", "3"), ("prima", "1"),
    ("seconda", "2"), ("terza", "3"), ("primeira", "1"), ("terceira", "3"), ("pierwsza", "1"), ("druga", "2"), ("eerste", "1"), ("tweede", "2"),
];

/// The numbers of options in Chinese and Japanese.
const UNSPACED_NUMBERS: &[(char, &str)] = &[('一', "1"), ('二', "2"), ('三', "3"), ('四', "4"), ('五', "5")];

/// The entries of the list at the end of a text that a prompt chooses; none if it says more, or chooses what is not there.
pub(super) fn chosen(prompt: &str, text: &str) -> Vec<String> {
    let labels = chosen_labels(prompt);
    if labels.is_empty() {
        return Vec::new();
    }
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('>'))
        .collect();
    let Some(last) = lines.iter().rposition(|line| label_of(line).is_some()) else {
        return Vec::new();
    };
    // The list that ends there: labels, and what is indented below them.
    let is_part = |line: &&&str| label_of(line).is_some() || line.starts_with([' ', '\t']);
    let length = lines[..=last].iter().rev().take_while(is_part).count();
    let list = &lines[last + 1 - length..];
    let before = lines[..last + 1 - length].last();
    let after = lines[last + 1..]
        .iter()
        .filter(|line| !line.starts_with([' ', '\t']));
    let says_choose = |line: &&str| label_of(line).is_none() && asks_to_choose(line);
    if !before.is_some_and(says_choose) && !after.clone().any(says_choose) {
        return Vec::new();
    }
    let mut orders = Vec::new();
    for label in labels {
        let Some(begin) = list
            .iter()
            .position(|line| label_of(line).as_deref() == Some(label.as_str()))
        else {
            return Vec::new();
        };
        let below = list[begin + 1..]
            .iter()
            .take_while(|line| label_of(line).is_none() && line.starts_with([' ', '\t']));
        let below = below.filter(|line| !is_weighing(line) && !line.contains("```"));
        let parts = std::iter::once(&list[begin])
            .chain(below)
            .flat_map(|line| super::sentences(line));
        orders.extend(
            parts
                .filter(|part| !is_set_aside(part) && !is_weighing(part))
                .map(as_order),
        );
    }
    orders.retain(|order| !order.is_empty());
    orders
}

fn asks_to_choose(line: &str) -> bool {
    let words = words(line);
    words.iter().any(|word| word.is_any(CHOOSING))
        || fold(line).contains("one of")
        || UNSPACED_CHOOSING.iter().any(|part| line.contains(part))
}

fn is_weighing(line: &str) -> bool {
    words(line).first().is_some_and(|first| first.is_any(WEIGHING))
}

/// The labels that a prompt chooses; none if it says more.
fn chosen_labels(prompt: &str) -> Vec<String> {
    if prompt.contains(['?', '？']) {
        return Vec::new();
    }
    let mut labels = Vec::new();
    if prompt.chars().any(is_unspaced) {
        let names_option = UNSPACED_OPTION_WORDS.iter().any(|word| prompt.contains(word));
        let mut rest = prompt.to_owned();
        for part in UNSPACED_OPTION_WORDS.iter().chain(UNSPACED_BESIDE) {
            rest = rest.replace(part, " ");
        }
        for letter in rest.chars() {
            let number = UNSPACED_NUMBERS.iter().find(|(number, _)| *number == letter);
            match (letter, number) {
                ('1'..='9' | 'A'..='F', _) => labels.push(letter.to_lowercase().to_string()),
                (_, Some((_, label))) => labels.push((*label).to_owned()),
                _ if letter.is_whitespace() || "，。,.!！、".contains(letter) => {}
                _ => return Vec::new(),
            }
        }
        return if names_option { labels } else { Vec::new() };
    }
    let all = words(prompt);
    if all.len() > MAX_CHOICE_WORDS {
        return labels;
    }
    for (at, word) in all.iter().enumerate() {
        let ordinal = ORDINALS.iter().find(|(name, _)| word.folded == *name);
        if let Some((_, label)) = ordinal {
            labels.push((*label).to_owned());
        } else if let Some(label) = label(word.raw)
            .filter(|_| word.raw != "a" || all.len() == 1 || at > 0 && all[at - 1].is_any(OPTION_WORDS))
        {
            labels.push(label);
        } else if !word.is_any(OPTION_WORDS) && !word.is_any(BESIDE) && !is_assent(word.raw) {
            return Vec::new();
        }
    }
    labels
}

/// The label that a word is: a number of one or two digits, or a letter from A to F.
pub(super) fn label(word: &str) -> Option<String> {
    let is_number = word.len() <= 2 && !word.is_empty() && word.bytes().all(|digit| digit.is_ascii_digit());
    let is_letter = matches!(word.as_bytes(), [b'A'..=b'F' | b'a'..=b'f']);
    (is_number || is_letter).then(|| word.to_lowercase())
}

/// The label of a line that begins an option: `2.`, `**B)**`, `(1)`, `- Option 2:`, `方案 2：`.
pub(super) fn label_of(line: &str) -> Option<String> {
    let line = line.trim_start_matches(|letter: char| letter.is_whitespace() || "#*->_•`([".contains(letter));
    let mut rest = line;
    if let Some(word) = UNSPACED_OPTION_WORDS.iter().find(|word| line.starts_with(**word)) {
        rest = &line[word.len()..];
    } else if let Some((first, after)) = line.split_once(' ')
        && OPTION_WORDS.contains(&fold(first).as_str())
    {
        rest = after;
    }
    let is_named = rest.len() < line.len();
    let rest = rest.trim_start();
    let end = rest
        .find(|letter: char| !letter.is_ascii_alphanumeric())
        .unwrap_or(rest.len());
    let (found, after) = rest.split_at(end);
    if found.is_empty()
        && let Some(first) = rest.chars().next().filter(|_| is_named)
    {
        let number = UNSPACED_NUMBERS.iter().find(|(number, _)| *number == first)?;
        return Some(number.1.to_owned());
    }
    let is_set_off = after.starts_with(['.', ')', ':', '：', '、', '*', ']']) || is_named;
    label(found).filter(|_| is_set_off)
}

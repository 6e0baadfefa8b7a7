//! What the user agrees to in a text of the agent, as orders: the question that it ends with, the plan that a question such as "Shall
//! I go ahead?" is about, or the option that the user chose. In doubt the user agreed to nothing, and is asked.

mod assent;
mod options;
mod plan;
mod question;

pub use assent::is_assent;
pub use plan::approved;

use crate::constraints::is_unspaced;
use crate::words::{fold, words};

/// The end of a text that is searched for the question, in bytes.
const MAX_TEXT: usize = 16 * 1024;

/// What joins question and answer in the client's record of a question that was answered.
const ANSWERED: &str = "\"=\"";

/// Words of a sentence that rules something out.
#[rustfmt::skip]
const NEGATIONS: &[&str] = &[
    "don't", "dont", "never", "no", "not", "won't", "without", "cannot", "can't", "mustn't", "shouldn't", "neither", "nor", "avoid", "kein", "keine",
    "keinen", "nicht", "nie", "ohne", "jamais", "ne", "pas", "sans", "nunca", "sin", "mai", "non", "senza", "nao", "sem", "bez", "nie", "geen", "niet",
    "zonder", "fara", "nu", "без", "не",
];

/// The same in scripts without spaces.
const UNSPACED_NEGATIONS: &[&str] = &[
    "不",
    "没",
    "没有",
    "無",
    "别",
    "ない",
    "ません",
    "なし",
    "안",
    "않",
    "말고",
];

/// Words of a sentence that leaves something for later or to somebody else: "Shall I hold off pushing until you have reviewed it?"
#[rustfmt::skip]
const DEFERRING: &[&str] = &[
    "after", "afterwards", "before", "hold", "instead", "keep", "later", "leave", "postpone", "skip", "somebody", "someone", "until", "wait", "yourself",
    "aufschieben", "behalten", "bevor", "bis", "erst", "lassen", "nachdem", "selbst", "spater", "statt", "uberlassen", "uberspringen", "warte", "warten",
    "apres", "attendre", "avant", "laisser", "plus tard", "sauter", "antes", "dejar", "despues", "esperar", "esperare", "luego", "aspettare", "aspetto",
    "dopo", "lasciare", "prima", "aguardar", "deixar", "depois", "esperar", "astept", "dupa", "inainte", "las", "pana", "czekac", "poczekac", "pozniej",
    "przed", "laten", "later", "voordat", "wachten", "подождать", "позже", "после",
];
const UNSPACED_DEFERRING: &[&str] = &[
    "以后", "之后", "稍后", "等", "先", "後で", "あと", "待", "まで", "나중", "기다",
];

/// Words between alternatives: a yes to a question with one of them says nothing.
#[rustfmt::skip]
const ALTERNATIVES: &[&str] = &["or", "oder", "ou", "oppure", "lub", "albo", "sau", "или", "veya", "eller"];
const UNSPACED_ALTERNATIVES: &[&str] = &["还是", "還是", "或者", "或", "または", "それとも", "아니면"];

/// What the user asks for by answering a text of the agent with a prompt: a yes to its question, or an option of its list.
pub fn agreed(prompt: &str, text: &str) -> Vec<String> {
    let text = end_of(text);
    if is_assent(prompt) {
        return question::orders(text);
    }
    options::chosen(prompt, text)
}

/// What the user asks for by answering the client's dialog, from its record: `"Push it to main?"="Yes"`. A yes stands for the question,
/// any other answer for itself. An answer with notes counts for nothing.
pub fn answered(record: &str) -> Vec<String> {
    let parts: Vec<&str> = end_of(record).split(ANSWERED).collect();
    let mut orders = Vec::new();
    for pair in parts.windows(2) {
        let [before, after] = pair else { continue };
        let question = before.rsplit('"').next().unwrap_or_default();
        let (answer, rest) = after.split_once('"').unwrap_or((after, ""));
        // Between two pairs stands a comma.
        let between = rest.trim_end_matches(question_start(rest));
        if between.contains("notes:") {
            continue;
        }
        if is_assent(answer) {
            orders.extend(question::order_of(question));
        } else if !is_set_aside(answer) {
            orders.push(as_order(answer));
        }
    }
    orders
}

/// The last quoted part of what follows an answer: the next question.
fn question_start(rest: &str) -> &str {
    rest.rfind('"').map_or("", |at| &rest[at..])
}

/// Whether a sentence rules something out, leaves it for later, or to somebody else.
fn is_set_aside(sentence: &str) -> bool {
    let words = words(sentence);
    let is_any = |list: &[&str]| words.iter().any(|word| word.is_any(list));
    let holds = |list: &[&str]| list.iter().any(|part| sentence.contains(part));
    is_any(NEGATIONS) || is_any(DEFERRING) || holds(UNSPACED_NEGATIONS) || holds(UNSPACED_DEFERRING)
}

/// Whether a question names alternatives.
fn has_alternatives(question: &str) -> bool {
    words(question).iter().any(|word| word.is_any(ALTERNATIVES))
        || UNSPACED_ALTERNATIVES.iter().any(|part| question.contains(part))
}

/// A sentence without the marks of lists and emphasis around it, and without what stands in parentheses.
fn as_order(sentence: &str) -> String {
    let mut plain = String::with_capacity(sentence.len());
    let mut depth = 0_usize;
    for letter in without_marks(sentence).chars() {
        match letter {
            '(' | '（' => depth += 1,
            ')' | '）' if depth > 0 => depth -= 1,
            _ if depth == 0 => plain.push(letter),
            _ => {}
        }
    }
    let is_mark = |letter: char| letter.is_whitespace() || "?？*_\"".contains(letter);
    plain.trim_matches(is_mark).to_owned()
}

/// A line without the mark and the label of a list.
fn without_marks(line: &str) -> &str {
    let plain = line.trim_start_matches(is_list_mark);
    match options::label_of(plain) {
        Some(_) => plain
            .split_once(['.', ')', ':', '：', '、', ']'])
            .map_or(plain, |(_, rest)| rest),
        None => plain,
    }
    .trim()
}

fn is_list_mark(letter: char) -> bool {
    letter.is_whitespace() || "#*-_•+¿\"".contains(letter)
}

/// Whether a line is an entry of a list.
fn is_entry(line: &str) -> bool {
    let line = line.trim_start();
    let is_bullet = |mark: char| line.strip_prefix(mark).is_some_and(|rest| rest.starts_with(' '));
    ['-', '*', '•', '+'].into_iter().any(is_bullet) || options::label_of(line).is_some()
}

/// Whether an entry reports what was done: "✅ Tests", "- Removed the flag".
fn is_done(line: &str) -> bool {
    line.contains(['✅', '✓', '✔', '☑'])
        || line.contains("[x]")
        || words(line)
            .iter()
            .find(|word| word.raw.len() > 1)
            .is_some_and(|first| first.folded.ends_with("ed"))
}

/// The sentences of a line.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let ends = |(at, mark): &(usize, &str)| {
        let after = line[at + mark.len()..].chars().next();
        !mark.is_ascii() || after.is_none_or(char::is_whitespace)
    };
    let mut from = 0;
    let mut ends: Vec<usize> = line
        .match_indices(['.', '!', '?', '。', '！', '？'])
        .filter(ends)
        .map(|(at, mark)| at + mark.len())
        .collect();
    ends.push(line.len());
    let parts: Vec<&str> = ends
        .into_iter()
        .map(|end| {
            let part = line.get(from..end).unwrap_or_default();
            from = end;
            part.trim()
        })
        .collect();
    parts.into_iter().filter(|part| !part.is_empty())
}

/// The last [`MAX_TEXT`] bytes of a text.
fn end_of(text: &str) -> &str {
    let mut from = text.len().saturating_sub(MAX_TEXT);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

#[cfg(test)]
mod tests;

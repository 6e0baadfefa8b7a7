//! Answers a question by quoting the sentence that has its words.

use crate::chat::citations::cited;
use crate::chat::draft::{Draft, DraftDecision};
use crate::chat::sentence::sentences;
use crate::chat::source::Source;
use crate::memory::contradicts;
use crate::subject::is_stop_word;
use crate::{Category, Citation};
use grov_domain::words;
use grov_redact::is_unspaced;
use std::collections::BTreeSet;
use std::ops::Range;

/// The share of a question's words that a sentence with its headings has to have.
const COVERED: f64 = 0.8;

/// The same for a question in a script without spaces, whose words are pairs of characters.
const COVERED_UNSPACED: f64 = 0.6;

/// The share that the sentence alone has to have.
const COVERED_BY_SENTENCE: f64 = 0.4;

/// What a word counts that stands elsewhere in the passage.
const ELSEWHERE: f64 = 0.5;

/// What a document is ahead of memory.
const DOCUMENT_BONUS: f64 = 0.1;

/// The most quotations of an answer.
const MAX_QUOTES: usize = 3;

/// The most lines that follow a line that ends with a colon.
const MAX_LIST: usize = 6;

/// Beginnings of requests for information that are no questions, in lower case.
const REQUESTS: &[&str] = &[
    "tell",
    "show",
    "explain",
    "describe",
    "list",
    "give",
    "name",
    "summarise",
    "summarize",
    "what",
    "when",
    "who",
    "where",
    "which",
    "how",
    "why",
    "nenne",
    "erkläre",
    "erklär",
    "beschreibe",
    "zeig",
    "zeige",
    "sag",
    "sage",
    "wann",
    "wer",
    "wo",
    "was",
    "wie",
    "welche",
    "welcher",
    "dis-moi",
    "dites-moi",
    "explique",
    "montre",
    "donne",
    "quand",
    "qui",
    "où",
    "quel",
    "quelle",
    "combien",
    "dime",
    "explica",
    "muestra",
    "cuándo",
    "quién",
    "dónde",
    "cuánto",
    "diga",
    "diz-me",
    "explique",
    "mostre",
    "quando",
    "quem",
    "onde",
    "quanto",
    "dimmi",
    "spiega",
    "mostra",
    "powiedz",
    "wyjaśnij",
    "pokaż",
    "kiedy",
    "kto",
    "gdzie",
    "ile",
    "скажи",
    "поясни",
    "покажи",
    "коли",
    "хто",
    "де",
    "скільки",
    "söyle",
    "açıkla",
    "göster",
    "vertel",
    "leg",
    "toon",
    "wanneer",
    "waar",
    "hoeveel",
    "أخبرني",
    "اشرح",
    "متى",
    "أين",
    "كم",
    "ما",
    "من",
];

/// A sentence that may answer.
struct Candidate<'s> {
    source: &'s Source,
    quote: &'s str,
    /// The share of the question's words that it covers.
    covered: f64,
    /// The share that the sentence itself has.
    own: f64,
}

impl Candidate<'_> {
    /// A document outranks memory unless memory covers clearly more of the question.
    fn score(&self) -> f64 {
        self.covered
            + if self.source.category.is_some() {
                DOCUMENT_BONUS
            } else {
                0.0
            }
    }
}

/// Returns an answer that quotes, or `None`.
///
/// The message has to ask for information. A sentence answers if 80 % of the question's content words are in the sentence, in
/// its headings or title, or, for half, elsewhere in its passage, and 40 % in the sentence itself. (For scripts without spaces: 60 %
/// of the pairs of characters.) The best sentence is quoted, with others that are as good and do not contradict it. Documents
/// come before memory. At equal shares RULES come before STATE before FACTS: STATE tells what is the case at present. If another
/// source contradicts what is quoted, the answer says so.
pub(super) fn from_sources(message: &str, sources: &[Source], has_tools: bool) -> Option<Draft> {
    if !asks_for_information(message, has_tools) {
        return None;
    }
    let question = question_words(message);
    if question.is_empty() {
        return None;
    }
    let needed = if message.chars().any(is_unspaced) {
        COVERED_UNSPACED
    } else {
        COVERED
    };
    let mut candidates: Vec<Candidate<'_>> = sources
        .iter()
        .flat_map(|source| candidates(source, &question))
        .filter(|candidate| candidate.covered >= needed)
        .collect();
    candidates.sort_by(|one, other| {
        let order = other
            .score()
            .total_cmp(&one.score())
            .then_with(|| other.own.total_cmp(&one.own));
        order.then_with(|| rank(one.source).cmp(&rank(other.source)))
    });
    let best = candidates.first()?;
    let mut quoted: Vec<&Candidate<'_>> = vec![best];
    let mut otherwise: Vec<&Candidate<'_>> = Vec::new();
    for candidate in &candidates[1..] {
        if quoted.iter().any(|quoted| overlaps(quoted, candidate)) {
            continue;
        }
        if quoted
            .iter()
            .any(|quoted| contradicts(quoted.quote, candidate.quote))
        {
            otherwise.push(candidate);
        } else if candidate.score() >= best.score() && candidate.own >= best.own && quoted.len() < MAX_QUOTES
        {
            quoted.push(candidate);
        }
    }
    Some(draft(&quoted, &otherwise))
}

fn draft(quoted: &[&Candidate<'_>], otherwise: &[&Candidate<'_>]) -> Draft {
    let mut answer = String::new();
    let mut citations: Vec<Citation> = Vec::new();
    for candidate in quoted {
        let lines: Vec<String> = candidate.quote.lines().map(|line| format!("> {line}")).collect();
        answer.push_str(&format!(
            "{}:\n\n{}\n\n",
            place(candidate.source),
            lines.join("\n")
        ));
        citations.push(cited(candidate.source, candidate.quote));
    }
    let mut named: Vec<String> = Vec::new();
    for candidate in otherwise {
        let place = place(candidate.source);
        if !named.contains(&place) {
            answer.push_str(&format!("{place} says otherwise; what is quoted outranks it.\n"));
            named.push(place);
        }
    }
    Draft {
        decision: DraftDecision::Noop {
            answer: answer.trim_end().to_owned(),
        },
        citations,
        proposals: Vec::new(),
    }
}

/// Names a source.
fn place(source: &Source) -> String {
    match source.category {
        Some(_) => {
            let mut place = vec![source.title.as_str()];
            place.extend(
                source
                    .heading_path
                    .iter()
                    .map(String::as_str)
                    .filter(|heading| *heading != source.title),
            );
            place.join(" › ")
        }
        None => format!("Memory ({})", source.title),
    }
}

fn rank(source: &Source) -> u8 {
    match source.category {
        Some(Category::Rules) => 0,
        Some(Category::State) => 1,
        Some(Category::Facts) => 2,
        None => 3,
    }
}

fn overlaps(one: &Candidate<'_>, other: &Candidate<'_>) -> bool {
    one.quote.contains(other.quote) || other.quote.contains(one.quote)
}

fn asks_for_information(message: &str, has_tools: bool) -> bool {
    if message.contains(['?', '？', '؟', ';'])
        && message
            .trim_end()
            .ends_with(|letter: char| !letter.is_alphanumeric())
    {
        return true;
    }
    let lower = message.trim().to_lowercase();
    if lower.trim_end_matches(['。', '.']).ends_with('か') {
        return true;
    }
    let first = lower
        .split(|letter: char| letter.is_whitespace() || matches!(letter, ',' | '¿'))
        .find(|word| !word.is_empty());
    !has_tools || first.is_some_and(|first| REQUESTS.contains(&first))
}

/// Returns the content words of a question. Of pairs of characters only those with a character that bears meaning count.
fn question_words(message: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in words(message, 60) {
        if !is_stop_word(&word) && !is_grammar(&word) && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// Whether a word of a script without spaces is grammar: Hiragana alone, or with a sign of a question.
fn is_grammar(word: &str) -> bool {
    const QUESTION_SIGNS: [char; 8] = ['哪', '什', '么', '吗', '谁', '何', '几', '请'];
    word.chars()
        .all(|letter| ('\u{3040}'..='\u{309f}').contains(&letter))
        || word.contains(QUESTION_SIGNS)
}

fn candidates<'s>(source: &'s Source, question: &[String]) -> Vec<Candidate<'s>> {
    let headings: BTreeSet<String> = words(
        &format!(
            "{} {}",
            source.title.replace('_', " "),
            source.heading_path.join(" ")
        ),
        200,
    )
    .into_iter()
    .collect();
    let passage: BTreeSet<String> = words(&source.text, 2_000).into_iter().collect();
    let ranges = sentences(&source.text);
    let is_heading = |range: &Range<usize>| source.text[..range.start].trim_end_matches(' ').ends_with('#');
    let mut found = Vec::new();
    for (place, range) in ranges.iter().enumerate().filter(|(_, range)| !is_heading(range)) {
        let own: BTreeSet<String> = words(&source.text[range.clone()], 400).into_iter().collect();
        let (mut in_sentence, mut covered) = (0.0, 0.0);
        for word in question {
            if has(&own, word) {
                in_sentence += 1.0;
                covered += 1.0;
            } else if has(&headings, word) {
                covered += 1.0;
            } else if has(&passage, word) {
                covered += ELSEWHERE;
            }
        }
        let all = question.len() as f64;
        if in_sentence / all >= COVERED_BY_SENTENCE {
            let end = end_of_list(&source.text, &ranges, place);
            found.push(Candidate {
                source,
                quote: &source.text[range.start..end],
                covered: covered / all,
                own: in_sentence / all,
            });
        }
    }
    found
}

/// Returns where a quotation ends: with the lines of a list after a line that ends with a colon.
fn end_of_list(text: &str, ranges: &[Range<usize>], place: usize) -> usize {
    let mut end = ranges[place].end;
    if !text[ranges[place].clone()].ends_with([':', '：']) {
        return end;
    }
    for next in ranges[place + 1..].iter().take(MAX_LIST) {
        let between = &text[end..next.start];
        if between.contains('#') || between.matches('\n').count() > 2 {
            break;
        }
        end = next.end;
    }
    end
}

/// Whether a word is among others, also with another ending or as a part of a compound.
fn has(words: &BTreeSet<String>, word: &str) -> bool {
    words.contains(word) || words.iter().any(|other| are_forms(other, word))
}

/// Whether two words are probably forms of one: they begin alike and differ in at most three letters at the end, or the longer
/// one contains the other. Short words and words of scripts without spaces have to be equal.
fn are_forms(one: &str, other: &str) -> bool {
    if one.chars().any(is_unspaced) || one.bytes().any(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let (short, long) = if one.len() <= other.len() {
        (one, other)
    } else {
        (other, one)
    };
    let lengths = (short.chars().count(), long.chars().count());
    if lengths.0 < 4 {
        return false;
    }
    let common = short
        .chars()
        .zip(long.chars())
        .take_while(|(one, other)| one == other)
        .count();
    let is_ending =
        common >= 4 && lengths.0 - common <= 3 && lengths.1 - common <= 3 && common * 3 >= lengths.1 * 2;
    is_ending || (lengths.0 >= 5 && long.contains(short))
}

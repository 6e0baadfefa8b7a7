//! Sentences of a source that may answer a question, and how much of the question they cover.

use crate::chat::sentence::sentences;
use crate::chat::source::Source;
use crate::retrieve::folded;
use grov_domain::words;
use grov_redact::is_unspaced;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

/// The share that the sentence alone has to have.
const COVERED_BY_SENTENCE: f64 = 0.33;

/// What a word counts that stands elsewhere in the passage.
const ELSEWHERE: f64 = 0.5;

/// What a document is ahead of memory.
const DOCUMENT_BONUS: f64 = 0.1;

/// What a sentence with a number is ahead if the question asks for one.
const NUMBER_BONUS: f64 = 0.05;

/// What one sentence is ahead of two.
const SHORT_BONUS: f64 = 0.05;

/// The most lines that follow a line that ends with a colon.
const MAX_LIST: usize = 6;

/// Words of a question that name the kind of its answer, which the answer itself seldom repeats. They count if they are found.
const KINDS_OF_ANSWER: &str = "
time date day hour amount number still currently yet already today decide decided agree agreed exactly most least maximum minimum
high large big long far old
zeit uhrzeit uhr datum tag stunde anzahl entschieden beschlossen vereinbart noch derzeit aktuell heute genau maximal höchstens mindestens
hoch hohe hoher lang lange groß weit alt teuer
temps heure date jour nombre montant décidé convenu encore actuellement élevé élevée grand longue
tiempo hora fecha día número cantidad decidimos decidido acordado todavía actualmente hoy
tempo hora data dia número quantidade decidimos decidido combinado ainda atualmente hoje
ora data giorno numero deciso ancora
tijd uur datum dag aantal besloten nog
czas godzina godzinie data dzień liczba zdecydowaliśmy jeszcze obecnie
час година дата день кількість вирішили ще зараз
время час дата день число решили ещё сейчас
zaman saat tarih gün sayı karar hâlâ şu
وقت ساعة تاريخ يوم عدد قررنا حاليا
";

/// Signs in a question that its answer has a number, in lower case.
const ASKS_FOR_NUMBER: &[&str] = &[
    "when ",
    "how many",
    "how much",
    "how long",
    "what time",
    "wann ",
    "wie viel",
    "wieviel",
    "wie lange",
    "wie oft",
    "combien",
    "quand ",
    "quelle heure",
    "cuánt",
    "cuándo",
    "qué hora",
    "quant",
    "quando ",
    "que horas",
    "hoeveel",
    "wanneer",
    "ile ",
    "kiedy",
    "скільки",
    "коли",
    "сколько",
    "когда",
    "kaç",
    "ne zaman",
    "ne kadar",
    "كم ",
    "متى",
    "几",
    "多少",
    "何時",
    "何人",
    "何日",
    "いくら",
    "いつ",
    "몇",
    "얼마",
    "언제",
];

static OPTIONAL: LazyLock<BTreeSet<String>> =
    LazyLock::new(|| words(&folded(KINDS_OF_ANSWER), usize::MAX).into_iter().collect());

/// A question as it is compared with sentences.
#[derive(Debug)]
pub(super) struct Question {
    words: Vec<String>,
    /// The word that names what is asked for, in most languages the first: the guarantor in `Who is the guarantor of the
    /// lease?`. None for scripts without spaces.
    asked: Option<String>,
    asks_for_number: bool,
}

impl Question {
    /// Reads the content words of a question, or returns `None` if it has none. Of pairs of characters only those with a
    /// character that bears meaning count.
    pub(super) fn of(message: &str) -> Option<Self> {
        let mut found: Vec<String> = Vec::new();
        for word in words(&folded(message), 60) {
            if !crate::subject::is_stop_word(&word) && !is_grammar(&word) && !found.contains(&word) {
                found.push(word);
            }
        }
        let lower = message.to_lowercase();
        let first = found.iter().find(|word| !OPTIONAL.contains(*word));
        let asked = first.filter(|word| !word.chars().any(is_unspaced)).cloned();
        (!found.is_empty()).then(|| Self {
            words: found,
            asked,
            asks_for_number: ASKS_FOR_NUMBER.iter().any(|sign| lower.contains(sign)),
        })
    }
}

/// Whether a word of a script without spaces is grammar: Hiragana alone, or with a sign of a question.
fn is_grammar(word: &str) -> bool {
    const QUESTION_SIGNS: [char; 14] = [
        '哪', '什', '么', '吗', '呢', '谁', '何', '几', '请', '诉', '怎', '教', '誰', '까',
    ];
    word.chars()
        .all(|letter| ('\u{3040}'..='\u{309f}').contains(&letter))
        || word.contains(QUESTION_SIGNS)
}

/// A part of a source that may answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'s> {
    pub(super) source: &'s Source,
    pub(super) quote: &'s str,
    /// The share of the question's words that it covers.
    pub(super) covered: f64,
    /// The share that the quotation itself has.
    pub(super) own: f64,
    /// Whether the word that names what is asked for is in its passage.
    has_asked: bool,
    bonus: f64,
}

impl Candidate<'_> {
    /// Whether it covers enough of the question to answer it.
    pub(super) fn answers(&self, needed: f64) -> bool {
        self.has_asked && self.covered >= needed
    }

    /// By which candidates are ordered.
    pub(super) fn score(&self) -> f64 {
        self.covered + self.bonus
    }
}

/// Returns the sentences of a source, and pairs of sentences of a paragraph, that share enough words with a question.
///
/// The words of the title, of the headings and, for a row of a table, of its first row count like those of the sentence. Headings
/// alone are no candidates.
pub(super) fn candidates<'s>(source: &'s Source, question: &Question) -> Vec<Candidate<'s>> {
    let text = source.text.as_str();
    let title = source.title.replace('_', " ");
    let headings = word_set(&format!("{title} {}", source.heading_path.join(" ")));
    let passage = word_set(text);
    let ranges = sentences(text);
    let mut found = Vec::new();
    // The words of the heading above a sentence, and of the first row of its table.
    let mut section = BTreeSet::new();
    let mut table: Option<BTreeSet<String>> = None;
    for (place, range) in ranges.iter().enumerate() {
        match line_start(text, range.start) {
            '#' => {
                section = word_set(&text[range.clone()]);
                table = None;
                continue;
            }
            '|' if table.is_none() => {
                table = Some(word_set(&text[range.clone()]));
                continue;
            }
            '|' => {}
            _ => table = None,
        }
        let context = |word: &String| {
            has(&headings, word)
                || has(&section, word)
                || table.as_ref().is_some_and(|first| has(first, word))
        };
        let add = |found: &mut Vec<Candidate<'s>>, quote: &'s str, bonus: f64| {
            let own = word_set(quote);
            let (mut in_quote, mut covered, mut all) = (0.0, 0.0, question.words.len() as f64);
            for word in &question.words {
                if has(&own, word) {
                    in_quote += 1.0;
                    covered += 1.0;
                } else if context(word) {
                    covered += 1.0;
                } else if has(&passage, word) {
                    covered += ELSEWHERE;
                } else if OPTIONAL.contains(word) {
                    all -= 1.0;
                }
            }
            let has_number = question.asks_for_number && quote.chars().any(char::is_numeric);
            let is_there = |word: &String| has(&own, word) || context(word) || has(&passage, word);
            let has_asked = question.asked.as_ref().is_none_or(is_there);
            if in_quote > 0.0 && in_quote / all >= COVERED_BY_SENTENCE {
                found.push(Candidate {
                    source,
                    quote,
                    covered: covered / all,
                    own: in_quote / all,
                    has_asked,
                    bonus: bonus
                        + if has_number { NUMBER_BONUS } else { 0.0 }
                        + if source.category.is_some() {
                            DOCUMENT_BONUS
                        } else {
                            0.0
                        },
                });
            }
        };
        add(
            &mut found,
            &text[range.start..end_of_list(text, &ranges, place)],
            SHORT_BONUS,
        );
        if let Some(next) = ranges.get(place + 1)
            && table.is_none()
            && !text[range.end..next.start].contains(['#', '|'])
            && !text[range.end..next.start].contains("\n\n")
        {
            add(&mut found, &text[range.start..next.end], 0.0);
        }
    }
    found
}

fn word_set(text: &str) -> BTreeSet<String> {
    words(&folded(text), 2_000).into_iter().collect()
}

/// Returns the first character of the line at an offset, or a space.
fn line_start(text: &str, at: usize) -> char {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    text[start..]
        .trim_start_matches([' ', '\t'])
        .chars()
        .next()
        .unwrap_or(' ')
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
/// one contains the other. Short words, words with digits and words of scripts without spaces have to be equal.
fn are_forms(one: &str, other: &str) -> bool {
    if one
        .chars()
        .any(|letter| is_unspaced(letter) || letter.is_numeric())
    {
        return false;
    }
    let (one_length, other_length) = (one.chars().count(), other.chars().count());
    let (short, long) = if one_length <= other_length {
        (one, other)
    } else {
        (other, one)
    };
    let lengths = (one_length.min(other_length), one_length.max(other_length));
    if lengths.0 < 4 {
        return false;
    }
    let common = short
        .chars()
        .zip(long.chars())
        .take_while(|(one, other)| one == other)
        .count();
    let is_ending = common >= 4 && lengths.1 - common <= 3 && common * 3 >= lengths.1 * 2;
    is_ending || (lengths.0 >= 5 && long.contains(short))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_are_recognised() {
        for (one, other) in [
            ("schlafsäcken", "schlafsäcke"),
            ("personas", "persona"),
            ("publicar", "publicados"),
            ("frist", "rückgabefrist"),
            ("ücreti", "ücret"),
            ("przedłużoną", "przedłużona"),
        ] {
            assert!(are_forms(one, other) && are_forms(other, one), "{one} {other}");
        }
        for (one, other) in [
            ("rent", "road"),
            ("port", "sport"),
            ("2024", "2025"),
            ("contract", "contact"),
            ("返品", "返金"),
        ] {
            assert!(!are_forms(one, other), "{one} {other}");
        }
    }
}

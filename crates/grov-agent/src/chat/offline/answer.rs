//! Answers a question by quoting the sentence that has its words.

use super::candidate::{Candidate, Question, candidates};
use crate::chat::citations::cited;
use crate::chat::draft::{Draft, DraftDecision};
use crate::chat::source::Source;
use crate::memory::contradicts;
use crate::subject::Subject;
use crate::{Category, Citation};
use grov_redact::is_unspaced;

/// The share of a question's words that a sentence with its headings has to have.
const COVERED: f64 = 0.8;

/// The same for a question in a script without spaces, whose words are pairs of characters.
const COVERED_UNSPACED: f64 = 0.6;

/// The share from which a document takes the place of memory that it contradicts.
const COVERED_TO_OUTRANK: f64 = 0.6;

/// The most quotations of an answer.
const MAX_QUOTES: usize = 3;

/// Beginnings of requests for information that are no questions, in lower case.
const REQUESTS: &str = "
tell show explain describe list give name summarise summarize what when who where which how why nenne
erkläre erklär beschreibe zeig zeige sag sage wann wer wo was wie welche welcher dis-moi dites-moi
explique montre donne quand qui où quel quelle combien dime explica muestra cuándo quién dónde cuánto
diga diz-me mostre quando quem onde quanto dimmi spiega mostra powiedz wyjaśnij pokaż kiedy kto gdzie ile
скажи поясни покажи коли хто де скільки söyle açıkla göster vertel leg toon wanneer waar hoeveel أخبرني
اشرح متى أين كم ما من
";

/// Returns an answer that quotes, or `None`.
///
/// The message has to ask for information. A sentence answers if 80 % of the question's content words are in the sentence, in
/// its headings or title, or, for half, elsewhere in its passage, and a third in the sentence itself. (For scripts without spaces: 60 %
/// of the pairs of characters.) The first content word, which names what is asked for, has to be in the passage or its headings.
/// The best sentence is quoted, with others that are as good and do not contradict it. Documents come before memory. At equal shares RULES come before STATE before FACTS: STATE tells what is the case at present. If another
/// source contradicts what is quoted, the answer says so.
pub(super) fn from_sources(message: &str, sources: &[Source], has_tools: bool) -> Option<Draft> {
    if !asks_for_information(message, has_tools) {
        return None;
    }
    let question = Question::of(message)?;
    let needed = if message.chars().any(is_unspaced) {
        COVERED_UNSPACED
    } else {
        COVERED
    };
    let mut candidates: Vec<Candidate<'_>> = sources
        .iter()
        .flat_map(|source| candidates(source, &question))
        .filter(|candidate| candidate.covered >= needed.min(COVERED_TO_OUTRANK))
        .collect();
    candidates.sort_by(|one, other| {
        let order = other
            .score()
            .total_cmp(&one.score())
            .then_with(|| other.own.total_cmp(&one.own));
        order.then_with(|| rank(one.source).cmp(&rank(other.source)))
    });
    let best = outranking(&candidates, needed)?;
    let mut quoted: Vec<&Candidate<'_>> = vec![best];
    let mut otherwise: Vec<&Candidate<'_>> = Vec::new();
    for candidate in &candidates {
        if quoted.iter().any(|quoted| overlaps(quoted, candidate)) {
            continue;
        }
        if !candidate.answers(needed) {
            continue;
        }
        if quoted.iter().any(|quoted| says_otherwise(quoted, candidate)) {
            // Sentences of one passage are about different things.
            if candidate.source != best.source {
                otherwise.push(candidate);
            }
        } else if candidate.score() >= best.score() && candidate.own >= best.own && quoted.len() < MAX_QUOTES
        {
            quoted.push(candidate);
        }
    }
    Some(draft(&quoted, &otherwise))
}

/// Returns the best candidate, or one that contradicts it and is of a source that outranks its own. A document takes the place of
/// memory even if it covers less of the question.
fn outranking<'c, 's>(candidates: &'c [Candidate<'s>], needed: f64) -> Option<&'c Candidate<'s>> {
    let mut best = candidates.iter().find(|candidate| candidate.answers(needed))?;
    for candidate in candidates {
        let is_covering = candidate.answers(needed) || best.source.category.is_none();
        if is_covering && rank(candidate.source) < rank(best.source) && says_otherwise(best, candidate) {
            best = candidate;
        }
    }
    Some(best)
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
            let outranked = quoted
                .iter()
                .all(|quoted| rank(quoted.source) < rank(candidate.source));
            let end = if outranked {
                "; what is quoted outranks it.\n"
            } else {
                ".\n"
            };
            answer.push_str(&format!("{place} says otherwise{end}"));
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

fn says_otherwise(one: &Candidate<'_>, other: &Candidate<'_>) -> bool {
    contradicts(&Subject::of(one.quote), &Subject::of(other.quote))
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
    !has_tools || first.is_some_and(|first| REQUESTS.split_whitespace().any(|word| word == first))
}

//! Decisions in languages with spaces between words.

use super::deeds::{is_temporal, states_deed};
use super::lexicon::{
    ABOUT, ADVICE, AFTER_REASON, ALTERNATIVES, AMBIGUOUS, CAUSES, CHOICES, CONDITIONS, CONSEQUENCES, DECIDED,
    DESCRIBING, DETERMINERS, EARLIER, FAILING_VERBS, FINITE, GOING_ON, INQUIRIES, Kind, LISTS, NARRATING,
    NEGATIONS, NUMERALS, OBSERVING, OTHERWISE, PROBLEMS, PURPOSES, RATIONALES, REASON_LABELS, SINCE,
    SPEAKERS, STEPS,
};
use super::report::{TEST_WORDS, tells_of_fault, tells_of_inability, tells_of_work};
use super::{Candidate, Context, Source, has_any, is_unspaced};
use crate::goal::{Sentence, asks_for_work};
use crate::phrased::only_assents;
use crate::text::{Word, words};
use grov_scope::phrases::any_at;

/// The fewest words of the text after a colon, dash or parenthesis that is a reason.
const MIN_CLAUSE: usize = 4;

/// The same in a list of decisions.
const MIN_ANNOUNCED: usize = 2;

/// The fewest words after "as", which is also no connective.
const MIN_AFTER_AS: usize = 4;

/// Words before "as" or after it that make it no connective.
#[rustfmt::skip]
const NOT_CAUSAL_AS: (&[&str], &[&str]) = (
    &["as", "far", "is", "just", "long", "many", "much", "same", "so", "soon", "such", "twice", "well", "act", "acts", "known", "treated"],
    &["a", "an", "before", "described", "expected", "far", "follows", "in", "is", "json", "long", "many", "much", "of", "part", "requested",
      "soon", "well"],
);

/// Subjects after "so" without a pause.
const SUBJECTS: &[&str] = &[
    "everyone", "it", "no", "nobody", "nothing", "people", "the", "they", "users", "we", "you",
];

/// Words that reject what they stand before.
#[rustfmt::skip]
const NONE_OF: &[&str] = &[
    "aucun", "aucune", "bez", "fara", "geen", "kein", "keine", "keinen", "nenhum", "nenhuma", "nessun", "nessuna", "niciun", "nicio",
    "niente", "ningun", "ninguna", "not", "pas", "sans", "sem", "senza", "sin", "zadnego", "zadnej", "zadnych", "без", "никаких",
];

/// Words that reject something for good.
const NEVER: &[&str] = &[
    "asla",
    "jamais",
    "mai",
    "never",
    "nie",
    "niemals",
    "nigdy",
    "nooit",
    "nunca",
    "никогда",
];

/// A connective in a sentence.
#[derive(Clone, Copy, Debug)]
struct Connective {
    /// The index of its first word.
    at: usize,
    /// Its length in words.
    length: usize,
    kind: Kind,
}

/// The decision in a sentence, or in it and the `next` one.
pub(super) fn decision(text: &str, next: Option<&str>, context: Context) -> Option<Candidate> {
    let all = words(text);
    if all.len() < 3 {
        return None;
    }
    connected(text, &all, context)
        .or_else(|| after_turkish_reason(text, &all, context))
        .or_else(|| labelled(text, &all))
        .or_else(|| set_off(text, &all, context))
        .or_else(|| spoken(text, &all, context))
        .or_else(|| with_next(text, &all, next, context))
}

/// Whether a sentence states a choice.
pub(super) fn is_choice(text: &str, context: Context) -> bool {
    weight(text, &words(text), context).is_some()
}

/// The decision in the user's answer to a question: the choice up to the first pause or connective, and the rest.
pub(super) fn answer(text: &str) -> Option<Candidate> {
    let text = text.trim();
    let all = words(text);
    if all.iter().any(|word| word.raw.chars().any(is_unspaced)) {
        return None;
    }
    let connective = connectives(&all)
        .into_iter()
        .find(|one| one.at > 0 && one.kind != Kind::Consequence);
    let pause = (0..all.len()).find(|at| all[*at].pauses() && at + 1 < all.len());
    let (end, from) = match (connective, pause) {
        (Some(one), Some(pause)) if one.at <= pause + 1 => (all[one.at - 1].end, one),
        (Some(one), None) => (all[one.at - 1].end, one),
        (_, Some(pause)) => {
            let at = pause + 1;
            let front = connectives(&all).into_iter().find(|one| one.at == at);
            // "It works. So commit it" decides nothing.
            if front.is_some_and(|one| one.kind == Kind::Consequence) {
                return None;
            }
            let from = front.unwrap_or(Connective {
                at,
                length: 0,
                kind: Kind::Cause,
            });
            (all[pause].end, from)
        }
        (None, None) => return None,
    };
    let reason = &all[from.at..];
    let choice = all.get(..from.at).unwrap_or_default();
    // "Yes, clean it up" agrees, and orders; "It is not working, I still see …" reports.
    let observes = |words: &[Word<'_>]| words.iter().take(MAX_OPENING).any(|word| word.is_any(OBSERVING));
    let follows = from.length > 0 || !asks_for_work(reason) && !observes(choice) && !observes(reason);
    let is_choice = !only_assents(choice) && !narrates_problem(choice) && follows;
    (is_choice && reason.len() >= 3).then(|| Candidate {
        choice: text[..end].to_owned(),
        reason: reason_text(text, &all, from).to_owned(),
        weight: 3,
    })
}

/// The first words of a reason that tell whether its speaker only reports.
const MAX_SPOKEN: usize = 3;

/// The words of a part that tell what it is about.
const MAX_OPENING: usize = 6;

/// The reason after a connective. The connective belongs to a purpose, and not to a cause.
fn reason_text<'t>(text: &'t str, all: &[Word<'_>], one: Connective) -> &'t str {
    let skipped = match one.kind {
        Kind::Cause | Kind::Front => one.length,
        _ => 0,
    };
    // An elided connective is part of its word: "parce qu'il".
    let is_elided = skipped > 0 && all[one.at + skipped - 1].folded.contains('\'');
    let from = if is_elided { one.at } else { one.at + skipped };
    all.get(from).map_or("", |word| &text[word.start..])
}

/// The connectives of a sentence, in order.
fn connectives(all: &[Word<'_>]) -> Vec<Connective> {
    let tables = [
        (CAUSES, Kind::Cause),
        (PURPOSES, Kind::Purpose),
        (OTHERWISE, Kind::Otherwise),
        (CONSEQUENCES, Kind::Consequence),
    ];
    let mut found = Vec::new();
    for at in 0..all.len() {
        let known = tables
            .iter()
            .filter_map(|(table, kind)| Some((any_at(table, all, at)?, *kind)))
            .max_by_key(|(length, _)| *length)
            .or_else(|| ambiguous(all, at));
        if let Some((length, kind)) = known {
            found.push(Connective { at, length, kind });
        }
    }
    found
}

/// A connective that means something else in other languages or places.
fn ambiguous(all: &[Word<'_>], at: usize) -> Option<(usize, Kind)> {
    let word = &all[at];
    let (_, kind, common) = AMBIGUOUS.iter().find(|(entry, _, _)| *entry == word.folded)?;
    let evidence = all
        .iter()
        .filter(|other| other.is_any(common) && other.start != word.start)
        .count();
    if evidence < 2 {
        return None;
    }
    if *kind == Kind::Front {
        return (at == 0).then_some((1, Kind::Cause));
    }
    let before = at.checked_sub(1).map(|before| &all[before]);
    let next = all.get(at + 1)?;
    let is_connective = match word.folded.as_str() {
        "as" => {
            !before.is_some_and(|before| before.is_any(NOT_CAUSAL_AS.0))
                && !next.is_any(NOT_CAUSAL_AS.1)
                && all.len() - at > MIN_AFTER_AS
                && (at == 0 || says_something(&all[at + 1..]))
        }
        // "So nobody loses data" without a pause is a purpose.
        "so" if at > 0 && before.is_some_and(|before| !before.pauses()) => {
            return next.is_any(SUBJECTS).then_some((1, Kind::Purpose));
        }
        // "So far", "so much"; a consequence follows a pause.
        "so" => before.is_some_and(|before| before.pauses()) && !next.is_any(&["far", "much", "that"]),
        // German "da" ends no clause and is no "there": it follows a comma or begins a sentence.
        "da" | "damit" | "want" | "pois" => before.is_none_or(|before| before.pauses()),
        _ => true,
    };
    is_connective.then_some((1, *kind))
}

/// Whether words after "as" are a clause: they have a finite verb, or a pronoun as an object.
fn says_something(rest: &[Word<'_>]) -> bool {
    // "Stored as text so that …" is about the purpose.
    let end = (0..rest.len())
        .find(|at| any_at(PURPOSES, rest, *at).is_some())
        .unwrap_or(rest.len());
    let rest = &rest[..end];
    let Some(first) = rest.first() else { return false };
    let subject = usize::from(first.is_any(&[
        "the", "our", "all", "every", "this", "that", "its", "their", "some",
    ]));
    rest.iter()
        .take(6)
        .any(|word| word.is_any(FINITE) || word.is_any(&["us", "we", "they", "it", "you"]))
        || rest
            .get(subject + 1)
            .is_some_and(|verb| verb.folded.ends_with('s') || verb.folded.ends_with("ed"))
}

/// A choice and a reason in one sentence, with a connective.
fn connected(text: &str, all: &[Word<'_>], context: Context) -> Option<Candidate> {
    let found = connectives(all);
    let strength = |one: &&Connective| match one.kind {
        Kind::Cause | Kind::Front => 3,
        Kind::Otherwise => 2,
        Kind::Purpose => 1,
        Kind::Consequence => 0,
    };
    let mut by_strength: Vec<&Connective> = found.iter().collect();
    by_strength.sort_by_key(|one| std::cmp::Reverse(strength(one)));
    by_strength
        .into_iter()
        .find_map(|one| around(text, all, *one, context))
}

/// The choice and the reason around a connective.
fn around(text: &str, all: &[Word<'_>], one: Connective, context: Context) -> Option<Candidate> {
    let after = one.at + one.length;
    let is_front = one.at <= 1
        && all[..one.at]
            .iter()
            .all(|word| word.is_any(&["and", "but", "und", "aber", "et", "mais", "y", "pero"]));
    let (choice, reason) = if is_front {
        // "Since X, Y". Without a pause it is the reason of an earlier sentence.
        let pause = (after + 1..all.len().saturating_sub(1)).find(|at| all[*at].pauses())?;
        (&all[pause + 1..], &all[after..=pause])
    } else if one.kind == Kind::Consequence && names_choice(&all[..one.at], context) {
        // "Retries: exponential backoff, so a dead host is not hammered": the consequence is the purpose.
        (&all[..one.at], &all[after..])
    } else if one.kind == Kind::Consequence {
        // The subject of a commit states its choice.
        if context.source == Source::Commit {
            return None;
        }
        (all.get(after..)?, &all[..one.at])
    } else {
        (&all[..one.at], &all[after..])
    };
    // "Since this morning", and not "since rows are deleted".
    if all[one.at].is_any(&["since"]) && one.length == 1 && is_temporal(choice, reason) {
        return None;
    }
    let (first, last) = (choice.first()?, choice.last()?);
    let choice_text = &text[first.start..last.end];
    let is_purpose = one.kind == Kind::Consequence && !is_front && names_choice(&all[..one.at], context);
    let found = weight(choice_text, choice, context).or_else(|| is_purpose.then_some(2));
    let is_turned = (one.kind == Kind::Consequence && !is_purpose) || is_front;
    // "The page loads, so you can delete four hooks" advises.
    let advises = choice
        .iter()
        .any(|word| word.is_any(&["you", "your", "vous", "tu", "puedes", "du", "sie", "voce", "puoi"]));
    let found = found.filter(|weight| {
        one.kind != Kind::Consequence
            || is_purpose
            || context.source != Source::Closing
            || is_own_choice(choice, *weight)
            || !advises
    });
    let weight = match found {
        Some(weight) => weight,
        None if one.kind != Kind::Consequence => {
            let is_deed = one.kind == Kind::Cause && states_deed(choice, &all[one.at..after], is_front);
            weak(choice, reason, (one.kind, is_deed), is_front, context)?
        }
        None => return None,
    };
    let reason = if is_turned {
        &text[reason.first()?.start..reason.last()?.end]
    } else {
        reason_text(text, all, one)
    };
    let is_prompt = matches!(context.source, Source::Prompt | Source::Answer);
    if is_prompt
        && !is_turned
        && let Some(at) = limit_after(all, after)
    {
        // "Postgres because of JSON indexes, never MySQL": the end belongs to the choice.
        let limit = &text[all[at].start..];
        let end = reason.len() - limit.len();
        return Some(Candidate {
            choice: format!("{choice_text}, {limit}"),
            reason: reason[..end].to_owned(),
            weight,
        });
    }
    Some(Candidate {
        choice: choice_text.to_owned(),
        reason: reason.to_owned(),
        weight,
    })
}

/// Whether words are the name of a part and what was chosen for it, without a verb: "Retries: exponential backoff".
fn names_choice(words: &[Word<'_>], context: Context) -> bool {
    let colon = words.iter().position(|word| word.after.contains(':'));
    let is_verbless = words
        .iter()
        .all(|word| !word.is_any(FINITE) && !word.is_any(SPEAKERS));
    let has_both = colon.is_some_and(|at| at < MAX_PART && at + 1 < words.len());
    context.source == Source::Closing
        && context.is_item
        && has_both
        && is_verbless
        && !has_any(PROBLEMS, words)
}

/// The most words of the name of a part.
const MAX_PART: usize = 3;

/// The longest limit behind a reason, in words.
const MAX_LIMIT: usize = 5;

/// The index of the first word of a limit behind a reason that begins at `from`: "never MySQL".
fn limit_after(all: &[Word<'_>], from: usize) -> Option<usize> {
    let at = (from + 2..all.len()).rev().find(|at| all[at - 1].pauses())?;
    let limit = &all[at..];
    let opens = limit[0].is_any(NEVER) || limit[0].is_any(NONE_OF);
    let is_clause = limit.iter().any(|word| word.is_any(FINITE));
    (opens && (2..=MAX_LIMIT).contains(&limit.len()) && !is_clause).then_some(at)
}

/// How surely words state a choice, from 1; `None` if they do not, or narrate a problem, or give advice.
fn weight(text: &str, choice: &[Word<'_>], context: Context) -> Option<u8> {
    let rejects = rejects(choice);
    let decided = has_any(DECIDED, choice);
    let is_prompt = context.source == Source::Prompt;
    if !is_prompt && (has_any(ADVICE, choice) || narrates_past(choice) || tells_step(choice, context)) {
        return None;
    }
    if !is_prompt && !context.is_announced && choice.first().is_some_and(|first| first.is_any(GOING_ON)) {
        return None;
    }
    // "The issue was that …", "The reason you saw …"
    if !is_prompt && !context.is_announced && has_any(PROBLEMS, choice.get(..MAX_SPOKEN).unwrap_or(choice)) {
        return None;
    }
    if context.is_announced || decided || rejects {
        return Some(3);
    }
    if narrates_problem(choice) && !is_prompt {
        return None;
    }
    if is_prompt {
        let text = [text.to_owned()];
        let sentences = Sentence::read(&text);
        let orders = sentences
            .iter()
            .any(|sentence| sentence.asks_for_work() || !sentence.constraints().is_empty());
        let asks = choice
            .iter()
            .take(6)
            .enumerate()
            .any(|(at, _)| any_at(INQUIRIES, choice, at).is_some());
        let names_choice = has_any(CHOICES, choice) || has_number(choice);
        return (!asks && (names_choice || orders && !narrates_problem(choice))).then_some(2);
    }
    if has_any(CHOICES, choice) || negates_a_deed(choice) {
        return Some(2);
    }
    None
}

/// Whether words state a choice of the agent's own, for which a colon or a dash may stand before the reason.
fn is_own_choice(choice: &[Word<'_>], weight: u8) -> bool {
    let first_person = |word: &Word<'_>| FIRST_PERSON.iter().any(|ending| word.folded.ends_with(ending));
    // "Doesn't limit the speed" describes; "nie dodałem indeksu" left something out.
    let left_out = |word: &Word<'_>| word.is_any(NEGATIONS) && !word.is_any(DESCRIBING);
    weight >= 3
        || choice.iter().any(left_out) && !fails(choice)
        || choice.first().is_some_and(|first| first.is_any(&["why"]))
        || choice
            .get(1)
            .is_some_and(|second| second.is_any(&["he", "hemos", "ho", "abbiamo"]))
        || choice.first().is_some_and(|first| first.is_any(SPEAKERS))
        || choice.last().is_some_and(first_person)
        || has_number(choice) && has_any(CHOICES, choice)
}

/// Whether words name what was not chosen.
fn rejects(choice: &[Word<'_>]) -> bool {
    has_any(ALTERNATIVES, choice) || says_not(choice) || prefers_over(choice)
}

/// The most words of "X over Y".
const MAX_OVER: usize = 7;

/// What something runs over, without being preferred to it.
#[rustfmt::skip]
const CARRIERS: &[&str] = &[
    "bluetooth", "email", "ethernet", "grpc", "http", "https", "ip", "mqtt", "network", "network's", "radio", "ssh", "ssl", "tcp", "the", "time", "tls",
    "udp", "usb", "websocket", "websockets", "wifi", "wire",
];

/// "Postgres tsvector over Elasticsearch": two names, and no verb.
fn prefers_over(choice: &[Word<'_>]) -> bool {
    let Some(at) = choice.iter().position(|word| word.is_any(&["over"])) else {
        return false;
    };
    let (before, after) = (&choice[..at], &choice[at + 1..]);
    let is_thing = |words: &[Word<'_>]| {
        !words.is_empty()
            && words
                .iter()
                .all(|word| !word.is_any(FINITE) && !word.is_any(SPEAKERS))
            && !words[0].raw.starts_with(|letter: char| letter.is_ascii_digit())
    };
    let opens_plainly = before
        .first()
        .is_some_and(|first| any_at(DETERMINERS, choice, 0).is_none() && !first.pauses());
    // "Traffic goes over …": a verb stands before it.
    let last = before.last();
    let is_verb = last.is_some_and(|last| {
        let is_name = last
            .raw
            .contains(|letter: char| letter.is_ascii_uppercase() || "`._".contains(letter));
        before.len() > 1 && last.folded.ends_with('s') && !last.folded.ends_with("ss") && !is_name
    });
    choice.len() <= MAX_OVER
        && opens_plainly
        && !is_verb
        && is_thing(before)
        && is_thing(after)
        && !after.iter().any(|word| word.is_any(CARRIERS))
}

/// "Not GPG", "X, not Y": a choice that is rejected by name.
fn says_not(choice: &[Word<'_>]) -> bool {
    choice.iter().enumerate().any(|(at, word)| {
        let opens = at == 0 || choice[at - 1].pauses();
        opens && word.is_any(NONE_OF) && at + 1 < choice.len()
    })
}

/// Whether the words set a number: "capped at 500".
fn has_number(words: &[Word<'_>]) -> bool {
    words
        .iter()
        .any(|word| word.raw.starts_with(|letter: char| letter.is_ascii_digit()))
}

/// "The original implementation used …": how it was before the work.
fn narrates_past(choice: &[Word<'_>]) -> bool {
    let first = &choice[..choice.len().min(6)];
    let earlier = first.iter().position(|word| word.is_any(EARLIER));
    earlier.is_some_and(|at| choice[at..].iter().any(|word| word.is_any(NARRATING)))
        && !has_any(DECIDED, choice)
}

/// "Reload the window": a step that the user is to take. Commits are written in the same mood.
fn tells_step(choice: &[Word<'_>], context: Context) -> bool {
    let first = choice
        .first()
        .filter(|_| context.source == Source::Closing && !context.is_announced);
    first.is_some_and(|first| first.is_any(STEPS))
}

/// Whether words begin with a condition or a remark: "If the remote used another name".
fn is_conditional(choice: &[Word<'_>]) -> bool {
    choice.first().is_some_and(|first| first.is_any(CONDITIONS))
}

fn narrates_problem(choice: &[Word<'_>]) -> bool {
    has_any(PROBLEMS, choice) || fails(choice)
}

/// "Did not pass", "passt nicht".
fn fails(choice: &[Word<'_>]) -> bool {
    (0..choice.len()).any(|at| {
        choice[at].is_any(NEGATIONS) && {
            let near = &choice[at.saturating_sub(2)..(at + 3).min(choice.len())];
            has_any(FAILING_VERBS, near)
        }
    })
}

/// "I did not add …", "React.memo wird nicht gebraucht": something was left out.
fn negates_a_deed(choice: &[Word<'_>]) -> bool {
    choice.iter().any(|word| word.is_any(NEGATIONS)) && !fails(choice)
}

/// The weight of a reported piece of work (`is_deed`: by who made it) with a reason that names a need: "Retries with jitter, since all workers would …".
fn weak(
    choice: &[Word<'_>],
    reason: &[Word<'_>],
    (kind, is_deed): (Kind, bool),
    is_front: bool,
    context: Context,
) -> Option<u8> {
    let is_report = matches!(context.source, Source::Closing | Source::Commit);
    let names = kind == Kind::Cause && is_name(choice);
    let is_short = choice.len() < 2 && !names;
    if !is_report
        || narrates_problem(choice)
        || has_any(ADVICE, choice)
        || choice.first().is_some_and(|first| first.is_any(GOING_ON))
        || is_short
        || tells_of_inability(choice)
        || tells_step(choice, context)
    {
        return None;
    }
    let is_question = choice
        .first()
        .is_some_and(|word| word.is_any(&["why", "warum", "pourquoi"]));
    let sets_number = has_number(choice) && !choice.iter().any(|word| word.folded.starts_with("test"));
    let is_checked = choice.iter().any(|word| word.is_any(TEST_WORDS));
    let tells = kind == Kind::Cause
        && context.is_report
        && (is_deed && !choice.iter().any(|word| word.is_any(&["already"])) || tells_of_work(choice))
        && !is_checked
        && !tells_of_fault(reason);
    let explains = has_any(RATIONALES, reason)
        || sets_number
        || tells
        || matches!(kind, Kind::Otherwise | Kind::Purpose);
    // "Added a queue since …", "I …", and not "VLC exits because …".
    let reports = choice.first().is_some_and(|first| {
        first.is_any(SPEAKERS)
            || first.folded.ends_with("ed")
            || first.is_any(&["he", "ho", "am", "heb", "dodalem", "usunalem"])
    }) && !choice.iter().any(|word| word.is_any(&["already"]));
    let is_passive = choice
        .windows(2)
        .any(|pair| pair[0].is_any(&["are", "is"]) && pair[1].folded.ends_with("ed"));
    // "Sessions are in Redis now, because …", "Meilisearch, because …".
    let states = names || has_any(SINCE, choice) && !choice.iter().any(|word| word.is_any(TEST_WORDS));
    // "Because the API drops requests, calls go through a bucket."
    let is_report = context.source == Source::Commit
        || reports
        || tells
        || is_passive
        || sets_number
        || states
        || is_front
        || kind == Kind::Otherwise;
    (!is_question && is_report && reason.len() >= 3 && (explains || states || context.is_item)).then_some(1)
}

/// The most words of a choice that is only named.
const MAX_NAME: usize = 3;

/// Words of a report that are no name.
const FINISHED: &[&str] = &[
    "behoben",
    "done",
    "erledigt",
    "fait",
    "fatto",
    "feito",
    "fertig",
    "gata",
    "gefixt",
    "gelost",
    "gotowe",
    "hecho",
    "klaar",
    "listo",
    "naprawione",
    "opgelost",
    "resolu",
    "resuelto",
    "risolto",
    "tamam",
    "termine",
    "готово",
    "исправлено",
];

/// Whether words only name something: "Meilisearch", "the outbox table".
fn is_name(choice: &[Word<'_>]) -> bool {
    let is_verb =
        |word: &Word<'_>| word.is_any(FINITE) || word.folded.ends_with("ed") || word.folded.ends_with("ing");
    // Every sentence begins with a capital letter.
    let named = if choice.len() == 1 {
        choice
    } else {
        choice.get(1..).unwrap_or_default()
    };
    let is_proper = |word: &Word<'_>| word.raw.chars().any(char::is_uppercase) && !word.is_any(FINISHED);
    choice.len() <= MAX_NAME && named.iter().any(is_proper) && !choice.iter().any(is_verb)
}

/// Endings of Turkish verbs in the first person.
const FIRST_PERSON: &[&str] = &[
    "yorum", "dım", "dim", "dum", "tım", "tim", "tum", "acagim", "acağım",
];

/// "X olduğu için Y": Turkish reasons come first.
fn after_turkish_reason(text: &str, all: &[Word<'_>], context: Context) -> Option<Candidate> {
    let at = (2..all.len().saturating_sub(1)).find(|at| all[*at].is_any(AFTER_REASON))?;
    let choice = &all[at + 1..];
    let choice_text = &text[choice.first()?.start..choice.last()?.end];
    let acts = choice
        .last()
        .is_some_and(|verb| FIRST_PERSON.iter().any(|ending| verb.folded.ends_with(ending)));
    let acts = acts && !narrates_problem(choice) && context.source == Source::Closing;
    let weight = weight(choice_text, choice, context).or_else(|| acts.then_some(2))?;
    Some(Candidate {
        choice: choice_text.to_owned(),
        reason: text[all[0].start..all[at].end].to_owned(),
        weight,
    })
}

/// "Reason for the separate table: the auditor may not read names."
fn labelled(text: &str, all: &[Word<'_>]) -> Option<Candidate> {
    let is_label = all[0].is_any(REASON_LABELS) && all.get(1)?.is_any(ABOUT);
    let colon = (2..all.len().saturating_sub(2)).find(|at| all[*at].after.contains(':'))?;
    is_label.then(|| Candidate {
        choice: text[all[2].start..all[colon].end].to_owned(),
        reason: text[all[colon + 1].start..].to_owned(),
        weight: 3,
    })
}

/// A reason after a colon or dash, or in parentheses: "Not GPG: its keyring needs …", "kept gp3 (io2 would …)".
fn set_off(text: &str, all: &[Word<'_>], context: Context) -> Option<Candidate> {
    let least = if context.is_announced {
        MIN_ANNOUNCED
    } else {
        MIN_CLAUSE
    };
    for at in 0..all.len().saturating_sub(least) {
        let marks = all[at].after;
        let opens = all[at + 1].before.contains('(');
        if !(marks.contains([':', '—', '–']) || opens) {
            continue;
        }
        let (choice, mut reason) = all.split_at(at + 1);
        if opens {
            let end = reason.iter().position(|word| word.after.contains(')'))?;
            reason = &reason[..=end];
            if reason.len() < MIN_CLAUSE {
                // "10 min (was 60)"
                continue;
            }
        }
        let choice_text = &text[choice[0].start..choice[at].end];
        let is_list = |word: &Word<'_>| {
            word.is_any(NUMERALS)
                || word.is_any(LISTS) && (word.after.contains(':') || word.start == choice[at].start)
        };
        let announces_list = choice.iter().any(is_list);
        // In a list of decisions few words are a reason: "Used zod over yup – better type inference".
        let is_clause = reason.len() >= least && !announces_list && !is_enumeration(reason)
            || reason.iter().any(|word| word.is_any(FINITE))
                && !is_enumeration(reason)
                && reason.len() >= MIN_CLAUSE;
        if !is_clause || context.source == Source::Remark || is_conditional(choice) {
            continue;
        }
        // "Changed in 2.0: …" is pasted.
        // "Fix the navbar: the logo overlaps the menu" asks for work and says how it is; "…: use the other one" asks, too.
        let is_own = context.source != Source::Prompt
            || (has_any(CHOICES, choice) || has_any(DECIDED, choice) || rejects(choice))
                && !asks_for_work(reason);
        let is_report = context.source == Source::Closing;
        let found = weight(choice_text, choice, context);
        if let Some(weight) = found.filter(|weight| is_own && (!is_report || is_own_choice(choice, *weight)))
        {
            return Some(Candidate {
                choice: choice_text.to_owned(),
                reason: text[reason[0].start..reason[reason.len() - 1].end].to_owned(),
                weight,
            });
        }
    }
    None
}

/// "a, b and c": names, and no clause.
fn is_enumeration(reason: &[Word<'_>]) -> bool {
    let commas = reason.iter().filter(|word| word.after.contains(',')).count();
    commas >= 2 && commas * 4 >= reason.len()
}

/// An order of the user and, after a comma, its circumstances: "use the queue, we don't want another broker".
fn spoken(text: &str, all: &[Word<'_>], context: Context) -> Option<Candidate> {
    if context.source == Source::Remark {
        return None;
    }
    let is_prompt = context.source == Source::Prompt;
    for at in 1..all.len().saturating_sub(2) {
        if !all[at].pauses() {
            continue;
        }
        let (choice, reason) = all.split_at(at + 1);
        let choice_text = &text[choice[0].start..choice[at].end];
        // "Cache the lookups, they dominate every trace" gives a reason for the task, and names no choice.
        let is_choice = [CHOICES, DECIDED, ALTERNATIVES, NEGATIONS]
            .iter()
            .any(|table| has_any(table, choice));
        let speaks = any_at(SPEAKERS, reason, 0).is_some();
        let is_clause = speaks || any_at(DETERMINERS, reason, 0).is_some();
        let denies = reason.iter().any(|word| word.is_any(NEGATIONS));
        let rejects = rejects(choice);
        let tells = match () {
            () if context.is_announced => is_clause,
            () if is_prompt => {
                speaks && is_choice
                    || is_clause && (denies || rejects || is_choice && has_any(RATIONALES, reason))
            }
            // The agent goes on with what it did: "I kept it, I added a test".
            () => is_choice && is_clause && denies && !reason[0].is_any(&["i", "ich", "je", "ik"]),
        };
        // "It does not keep up, I still see …"
        let observes = reason.iter().take(MAX_SPOKEN).any(|word| word.is_any(OBSERVING));
        if !tells || narrates_problem(reason) || is_conditional(choice) || is_prompt && observes {
            continue;
        }
        if let Some(weight) = weight(choice_text, choice, context) {
            return Some(Candidate {
                choice: choice_text.to_owned(),
                reason: text[reason[0].start..].to_owned(),
                weight,
            });
        }
    }
    None
}

/// A choice, and its reason in the next sentence: "I left it out. Otherwise …".
fn with_next(text: &str, all: &[Word<'_>], next: Option<&str>, context: Context) -> Option<Candidate> {
    let next = next?;
    let read = words(next);
    let first = connectives(&read).into_iter().find(|one| one.at == 0);
    let opens = match first {
        // "Since X, Y" is a sentence of its own.
        Some(one) => match one.kind {
            Kind::Cause => !read[..read.len().saturating_sub(1)]
                .iter()
                .any(|word| word.after.contains(',')),
            Kind::Otherwise => true,
            Kind::Purpose | Kind::Front | Kind::Consequence => false,
        },
        None => any_at(
            &["ainsi", "asi", "cosi", "that way", "this way", "with that"],
            &read,
            0,
        )
        .is_some(),
    };
    let is_pair = text.trim_end().ends_with(';') && context.source != Source::Commit;
    let goes_on = read
        .first()
        .is_some_and(|first| first.is_any(&["and", "i", "ich", "je", "ik", "then"]));
    let is_sure = has_any(DECIDED, all) || negates_a_deed(all);
    let follows = is_pair && !goes_on && read.len() > MIN_CLAUSE && (is_sure || has_any(RATIONALES, &read));
    if !(opens || follows) || read.len() < 3 {
        return None;
    }
    let weight = weight(text, all, context).filter(|weight| *weight >= 2)?;
    let reason = first.map_or(next, |one| reason_text(next, &read, one));
    Some(Candidate {
        choice: text.to_owned(),
        reason: reason.to_owned(),
        weight,
    })
}

//! "Don't raise the timeout", "no retries": values that hide a fault instead of mending it, which have a name of one word.

use crate::constraints::clause::Token;
use crate::constraints::vocabulary::Term;
use crate::constraints::written::Construct;

/// What people call such a value, folded, and the beginning of its name in code.
#[rustfmt::skip]
const KNOBS: &[(&str, &[&str])] = &[
    ("timeout", &["timeout", "timeouts", "time-out", "zeitlimit", "delai", "tiempo de espera", "limite de tiempo", "timeoutu", "timeoutul", "timeoutow"]),
    ("retr", &["retry", "retries", "retrys", "reintento", "reintentos", "wiederholung", "wiederholungen", "neuversuche", "tentatives", "tentativi", "tentativas", "ponowien", "herhalingen", "reincercari"]),
    ("threshold", &["threshold", "thresholds", "schwelle", "schwellwert", "schwellenwert", "seuil", "umbral", "soglia", "limiar", "prog", "drempel", "drempelwaarde", "prag", "pragul"]),
    ("tolerance", &["tolerance", "tolerances", "toleranz", "tolerancia", "tolleranza", "tolerancja", "tolerantie", "toleranta"]),
    ("concurrency", &["concurrency", "nebenlaufigkeit", "concurrence", "concurrencia", "concorrenza"]),
];

/// Verbs for another value.
#[rustfmt::skip]
const RAISING: &[&str] = &[
    "raise", "raising", "increase", "increasing", "bump", "bumping", "lower", "lowering", "loosen", "relax", "extend", "lengthen", "crank", "double", "erhohen", "erhohe", "hochsetzen", "hochdrehen", "verlangern", "senken", "lockern", "anheben",
    "augmente", "augmenter", "augmentez", "allonge", "allonger", "aumentes", "aumentar", "aumente", "aumentare", "alzare", "alargues", "subas", "subir", "zwiekszaj", "zwiekszac", "podnos", "wydluzaj", "verhogen", "verhoog", "verlengen", "mari", "creste", "mareste",
];

/// The values that a negated clause says to keep: by the beginning of their names in code, or by several words.
pub(super) fn kept(clause: &[Token]) -> Vec<Construct> {
    let is_negated = clause
        .iter()
        .any(|token| token.is_any(&[Term::Not, Term::Nothing]));
    let raises = |token: &Token| RAISING.contains(&token.folded.as_str());
    let acts =
        |token: &Token| raises(token) || token.is_any(&[Term::Add, Term::Use, Term::Change, Term::Upgrade]);
    let knob = |token: &Token| {
        let row = KNOBS
            .iter()
            .find(|(_, names)| names.contains(&token.folded.as_str()));
        row.map(|(name, _)| *name)
    };
    // "No retries please"
    let is_bare = || {
        let others = |token: &&Token| !token.is_any(IDLE);
        clause.iter().filter(others).all(|token| knob(token).is_some())
    };
    if !is_negated || clause.iter().any(|token| token.is(Term::Remove)) {
        return Vec::new();
    }
    let knobs: Vec<&str> = clause.iter().filter_map(knob).collect();
    if !knobs.is_empty() {
        let is_kept = clause.iter().any(acts) || is_bare();
        let knobs = knobs.into_iter().filter(|_| is_kept);
        return knobs.map(|name| Construct::Knob(name.to_owned())).collect();
    }
    // "Don't raise the batch size"
    let Some(verb) = clause.iter().position(raises) else {
        return Vec::new();
    };
    let named = clause[verb + 1..].iter().filter(|token| !token.is(Term::Filler));
    let words: Vec<String> = named
        .take_while(|token| token.term.is_none())
        .map(|token| token.folded.clone())
        .collect();
    let is_setting = (2..=3).contains(&words.len());
    is_setting
        .then_some(Construct::Setting(words))
        .into_iter()
        .collect()
}

/// Meanings beside the name of a value that add nothing.
#[rustfmt::skip]
const IDLE: &[Term] = &[
    Term::Not, Term::Nothing, Term::Filler, Term::And, Term::Until, Term::New, Term::All, Term::Else,
];

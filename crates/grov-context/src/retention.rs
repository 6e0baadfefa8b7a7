//! Which points of a session a compaction summary still contains.
//!
//! Compares words. A summary in another language than the point counts as a loss: giving a point back twice costs a line,
//! losing it costs the work.

use crate::SessionPoints;
use grov_domain::{Decision, PointKind, SessionPoint, is_function_word, is_stop_word, words};
use std::collections::HashSet;

/// Maximum words that are compared.
const MAX_WORDS: usize = 20_000;
/// Share of the words of a point that must be in the summary, in percent.
const ENOUGH: usize = 60;
/// Sentences that together may contain a point.
const SENTENCES: usize = 2;
/// Letters of a word that must agree, if its end differs.
const MIN_COMMON: usize = 5;

/// Words that limit: what a constraint loses first.
#[rustfmt::skip]
const LIMITS: &[&str] = &[
    "not", "no", "never", "don't", "dont", "without", "only", "must", "mustn't", "keep", "leave", "avoid", "unchanged",
    "unless", "until", "except", "instead", "below", "most", "less", "than", "forbidden", "cannot", "can't", "shouldn't",
    "nicht", "kein", "keine", "keinen", "nie", "nur", "ohne", "muss", "müssen", "darf", "ne", "pas", "jamais", "aucun", "aucune",
    "sans", "seulement", "uniquement", "no", "nunca", "sin", "solo", "sólo", "solamente", "menos", "debe", "deben", "não", "nao",
    "sem", "só", "apenas", "nada", "não", "не", "нельзя", "только", "без", "никогда",
];

/// The same in Chinese and Japanese.
#[rustfmt::skip]
const LIMITS_UNSPACED: &[&str] = &[
    "不", "别", "勿", "仅", "只", "禁止", "保持", "ない", "ません", "のみ", "だけ", "禁止", "まで",
];

/// What a summary kept and what it lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Points that the summary contains.
    pub kept: Vec<SessionPoint>,
    /// Points that it does not contain.
    pub lost: Vec<SessionPoint>,
    /// The lost points, to be given back.
    pub missing: SessionPoints,
}

impl Retention {
    /// Compares points with a summary.
    pub fn of(points: &SessionPoints, summary: &str) -> Self {
        let summary = Summary::new(summary);
        let mut retention = Self::default();
        if !points.goal.is_empty() {
            let keeps = summary.contains(&points.goal, usize::MAX);
            if retention.note(PointKind::Goal, &points.goal, keeps) {
                retention.missing.goal.clone_from(&points.goal);
            }
        }
        if !points.newest_instruction.is_empty() {
            let keeps = summary.contains(&points.newest_instruction, usize::MAX);
            if retention.note(PointKind::Goal, &points.newest_instruction, keeps) {
                retention
                    .missing
                    .newest_instruction
                    .clone_from(&points.newest_instruction);
            }
        }
        for constraint in &points.constraints {
            let keeps = summary.keeps_limit(constraint);
            if retention.note(PointKind::Constraint, constraint, keeps) {
                retention.missing.constraints.push(constraint.clone());
            }
        }
        for path in &points.forbidden {
            let limit = format!("not to be changed: {path}");
            if retention.note(PointKind::Constraint, &limit, summary.names(path)) {
                retention.missing.forbidden.push(path.clone());
            }
        }
        for decision in &points.decisions {
            let keeps = summary.keeps_decision(decision);
            if retention.note(PointKind::Decision, &said(decision), keeps) {
                retention.missing.decisions.push(decision.clone());
            }
        }
        for open in &points.open_ends {
            if retention.note(PointKind::OpenEnd, open, summary.contains(open, SENTENCES)) {
                retention.missing.open_ends.push(open.clone());
            }
        }
        for file in &points.files_modified {
            if retention.note(PointKind::File, file, summary.names(file)) {
                retention.missing.files_modified.push(file.clone());
            }
        }
        let is_begun = !(points.progress.is_empty() && points.files_modified.is_empty());
        let of_work = |text| if is_begun { text } else { "" };
        let (state, next) = (of_work(&*points.current_state), of_work(&*points.next_action));
        if !state.is_empty() && retention.note(PointKind::State, state, summary.contains(state, SENTENCES)) {
            retention.missing.current_state = state.to_owned();
        }
        if !next.is_empty() && retention.note(PointKind::Next, next, summary.contains(next, SENTENCES)) {
            retention.missing.next_action = next.to_owned();
        }
        retention
    }

    /// Whether nothing was lost that has to be given back. A summary tells the state and the next action in words of its own:
    /// they come back with other points, and are no reason of their own.
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }

    /// Notes a point; returns whether it is lost.
    fn note(&mut self, kind: PointKind, text: &str, is_kept: bool) -> bool {
        let list = if is_kept { &mut self.kept } else { &mut self.lost };
        list.push(SessionPoint {
            kind,
            text: text.to_owned(),
        });
        !is_kept
    }
}

/// A decision as one text.
fn said(decision: &Decision) -> String {
    if decision.reason.is_empty() {
        return decision.choice.clone();
    }
    format!("{}: {}", decision.choice, decision.reason)
}

/// A summary, prepared for comparison.
struct Summary {
    sentences: Vec<Sentence>,
    text: String,
}

struct Sentence {
    terms: HashSet<String>,
    limits: bool,
}

impl Summary {
    fn new(text: &str) -> Self {
        let ends = |character: char| matches!(character, '\n' | '!' | '?' | ';' | '。' | '！' | '？' | '；');
        let lines = text.split(ends).flat_map(|line| line.split(". "));
        let sentences = lines.filter(|line| !line.trim().is_empty()).map(|line| Sentence {
            terms: terms(line).into_iter().collect(),
            limits: limits(line),
        });
        Self {
            sentences: sentences.collect(),
            text: text.to_lowercase(),
        }
    }

    /// Whether some sentences, at most `together` in a row, contain most words of a text.
    fn contains(&self, text: &str, together: usize) -> bool {
        self.windows(together)
            .any(|window| has_enough(&terms(text), window))
    }

    fn windows(&self, together: usize) -> impl Iterator<Item = &[Sentence]> {
        let size = together.min(self.sentences.len()).max(1);
        self.sentences.windows(size)
    }

    /// Whether it states a limit: its words near a word that limits.
    fn keeps_limit(&self, text: &str) -> bool {
        let terms = terms(text);
        let needs_limit = limits(text);
        self.windows(1)
            .chain(self.windows(SENTENCES))
            .any(|window| has_enough(&terms, window) && (!needs_limit || window.iter().any(|one| one.limits)))
    }

    /// Whether it states a decision with its reason.
    fn keeps_decision(&self, decision: &Decision) -> bool {
        let (choice, reason) = (terms(&decision.choice), terms(&decision.reason));
        self.windows(SENTENCES + 1)
            .any(|window| has_enough(&choice, window) && has_enough(&reason, window))
    }

    /// Whether it names a path or a pattern of paths.
    fn names(&self, path: &str) -> bool {
        let plain = path.trim_end_matches(['*', '/']).trim_start_matches("./");
        !plain.is_empty() && self.text.contains(&plain.to_lowercase())
    }
}

/// The words of a text that carry its meaning, each once.
fn terms(text: &str) -> Vec<String> {
    let mut terms = words(text, MAX_WORDS);
    terms.retain(|word| !is_stop_word(word) && !is_function_word(word));
    terms.sort_unstable();
    terms.dedup();
    terms
}

fn limits(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words =
        lower.split(|character: char| !(character.is_alphanumeric() || matches!(character, '\'' | '’')));
    words.any(|word| LIMITS.contains(&word.replace('’', "'").as_str()))
        || LIMITS_UNSPACED.iter().any(|limit| lower.contains(limit))
}

/// Whether a window has enough of the terms. All numbers must be in it.
fn has_enough(terms: &[String], window: &[Sentence]) -> bool {
    let has = |term: &String| window.iter().any(|sentence| sentence.has(term));
    let numbers = terms.iter().filter(|term| is_number(term));
    let found = terms.iter().filter(|term| has(term)).count();
    numbers.clone().all(has) && found * 100 >= terms.len() * ENOUGH
}

fn is_number(term: &str) -> bool {
    !term.is_empty() && term.bytes().all(|byte| byte.is_ascii_digit())
}

impl Sentence {
    fn has(&self, term: &str) -> bool {
        self.terms.contains(term) || self.terms.iter().any(|other| is_inflected(term, other))
    }
}

/// Whether two words differ only in their ends: `Migrationsdatei`, `Migrationsdateien`.
fn is_inflected(one: &str, other: &str) -> bool {
    let common = one
        .chars()
        .zip(other.chars())
        .take_while(|(one, other)| one == other)
        .count();
    let longest = one.chars().count().max(other.chars().count());
    common >= MIN_COMMON && common * 4 >= longest * 3
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMMARY: &str = "1. The user wants rate limiting on the public API (100 requests a minute).\n2. Files: src/limit.ts\n\
                           3. A sliding window was chosen because fixed windows let twice the limit through. The admin routes \
                           must not be touched.\n4. Retry-After is still missing.";

    fn kept(text: &str) -> bool {
        Summary::new(SUMMARY).keeps_limit(text)
    }

    #[test]
    fn what_the_summary_says_is_kept() {
        let decision = |choice: &str, reason: &str| Decision {
            choice: choice.to_owned(),
            reason: reason.to_owned(),
        };
        let points = SessionPoints {
            goal: "Add rate limiting to the public API, 100 requests a minute".to_owned(),
            constraints: vec![
                "do not touch the admin routes".to_owned(),
                "don't add a dependency".to_owned(),
            ],
            forbidden: vec!["migrations/**".to_owned(), "src/limit.ts".to_owned()],
            decisions: vec![
                decision("a sliding window", "fixed windows let twice the limit through"),
                decision("a sliding window", "it is easier to explain to customers"),
            ],
            open_ends: vec![
                "Retry-After is missing".to_owned(),
                "no test for two keys".to_owned(),
            ],
            ..SessionPoints::default()
        };
        let found = Retention::of(&points, SUMMARY);
        let texts = |list: &[SessionPoint]| list.iter().map(|point| point.text.clone()).collect::<Vec<_>>();
        assert_eq!(found.kept.len(), 5, "{:?}", texts(&found.kept));
        assert_eq!(
            texts(&found.lost),
            [
                "don't add a dependency",
                "not to be changed: migrations/**",
                "a sliding window: it is easier to explain to customers",
                "no test for two keys"
            ]
        );
        assert_eq!(found.missing.constraints, ["don't add a dependency"]);
        assert_eq!(found.missing.goal, "");
    }

    #[test]
    fn changed_files_state_and_next_action_are_lost_with_the_history_too() {
        let points = SessionPoints {
            files_modified: vec!["src/limit.ts".to_owned(), "src/routes.ts".to_owned()],
            current_state: "2 files were changed; `npm test` failed last.".to_owned(),
            next_action: "Make `npm test` pass".to_owned(),
            ..SessionPoints::default()
        };
        let found = Retention::of(&points, SUMMARY);
        assert_eq!(found.missing.files_modified, ["src/routes.ts"]);
        assert_eq!(found.missing.current_state, points.current_state);
        assert_eq!(found.missing.next_action, points.next_action);
        assert_eq!(SessionPoints::of_list(&found.lost), found.missing);
        let says_all =
            format!("{SUMMARY} src/routes.ts: 2 files were changed. `npm test` failed last, make it pass.");
        assert_eq!(Retention::of(&points, &says_all).lost, []);
        let only_state = SessionPoints {
            files_modified: Vec::new(),
            progress: vec!["Ran npm test".to_owned()],
            ..points
        };
        let found = Retention::of(&only_state, SUMMARY);
        assert!(found.is_complete() && found.lost.len() == 2, "{found:?}");
        // Before the first action the next one is the goal.
        let begun = SessionPoints {
            progress: Vec::new(),
            ..only_state
        };
        assert_eq!(Retention::of(&begun, SUMMARY).lost, []);
    }

    #[test]
    fn a_topic_without_its_limit_is_lost() {
        assert!(kept("never touch the admin routes"));
        let mentions = Summary::new("The admin routes were read.");
        assert!(!mentions.keeps_limit("never touch the admin routes"));
        let other_number = Summary::new("At most 50 requests.");
        assert!(!other_number.keeps_limit("at most 100 requests"));
    }

    #[test]
    fn inflected_words_are_the_same() {
        assert!(is_inflected("migrationsdatei", "migrationsdateien"));
        assert!(!is_inflected("migration", "migrate") && !is_inflected("test", "tests"));
        let german = Summary::new("Die Migrationsdateien dürfen nicht geändert werden.");
        assert!(german.keeps_limit("nicht die Migrationsdatei"));
        let chinese = Summary::new("用户要求不要修改支付模块。");
        assert!(chinese.keeps_limit("不要修改支付模块"));
        assert!(!chinese.keeps_limit("不要引入新的依赖"));
    }

    #[test]
    fn an_empty_summary_keeps_nothing() {
        let points = SessionPoints {
            goal: "x".to_owned(),
            open_ends: vec!["write the docs".to_owned()],
            ..SessionPoints::default()
        };
        assert_eq!(Retention::of(&points, "").lost.len(), 2);
    }

    proptest::proptest! {
        #[test]
        fn every_point_is_either_kept_or_lost(text in "\\PC{0,200}", summary in "\\PC{0,400}") {
            let points = SessionPoints { constraints: vec![text.clone()], open_ends: vec![text], ..SessionPoints::default() };
            let found = Retention::of(&points, &summary);
            proptest::prop_assert_eq!(found.kept.len() + found.lost.len(), 2);
        }
    }
}

//! Finds what the agent says is left to do or undecided.

use super::claims::{announces, leaves_something};
use super::clean::clean;
use super::proposals::{LEFT, LEFT_UNSPACED};
use super::text::{ends_with_question, has_phrase, push_new, sentences, shorten, words};
use grov_domain::{Statement, StatementSource};

/// The most open ends.
const MAX_OPEN_ENDS: usize = 12;
/// The most closing texts that are read, the newest: what older ones left is usually done.
const MAX_TEXTS: usize = 3;
/// The longest open end in characters.
const MAX_CHARACTERS: usize = 240;

/// The most open ends in a trace.
const MAX_TRACED: usize = 3;

/// Words of work or questions that are left, beyond those that deny that a turn finished its work.
#[rustfmt::skip]
const OPEN: &[&str] = &[
    "open question", "still open", "undecided", "unclear", "not sure", "wasn't sure", "don't know", "do not know",
    "should decide", "have to decide", "need to decide", "we need a decision", "still have to", "i still", "needs a fix",
    "must be", "should be", "could be", "need to", "needs to", "has to", "have to", "not been", "have not", "haven't",
    "has not", "hasn't", "is not", "are not", "isn't", "aren't", "cannot", "can't", "is next", "are next", "is missing",
    "are missing", "is left", "are left", "was not", "were not", "wasn't", "weren't", "i'd like to", "before we call",
    "for now", "will turn", "i will", "next step", "please tell", "still to", "to do", "todo", "not fixed", "still fire",
    "still fires", "still mention", "still mentions", "fail on", "fails about",
    "offen", "ungeklart", "klaren", "unklar", "fehlt", "fehlen", "noch", "als nachstes", "muss", "mussen", "danach",
    "nachster schritt",
    "il reste", "reste a", "pas encore", "n'est pas", "ne sont pas", "a faire", "prochaine etape", "il faut", "manque",
    "a decider", "falta", "faltan", "pendiente", "pendientes", "queda", "quedan", "todavia", "aun no", "hay que",
    "siguiente paso", "por decidir", "ainda", "precisamos", "falta decidir", "proximo passo", "por fazer",
    "осталось", "остался", "пока не", "еще не", "нужно", "надо", "не проверено", "следующий шаг", "следует",
];

/// The same in Chinese and Japanese, found anywhere.
#[rustfmt::skip]
const OPEN_UNSPACED: &[&str] = &[
    "还没", "还有", "没有做", "尚未", "未", "待确认", "待定", "待办", "需要", "接下来", "下一步", "剩下", "问题是", "まだ", "次", "残って", "残り", "必要", "未",
    "これから", "決めて",
];

/// Words of work that fails.
#[rustfmt::skip]
const FAILING: &[&str] = &[
    "are red", "fail", "failing", "fails", "is red", "schlagt fehl", "schlagen fehl", "scheitert", "scheitern", "echoue", "echouent", "falla", "fallan",
    "falha", "falham", "fallisce", "falliscono", "faalt", "falen", "pica", "padaja", "nie przechodza", "падает", "падают",
];

/// Returns what is left, newest text first: sentences of the newest closing texts that state unfinished work or an open
/// question.
pub(crate) fn open_ends(statements: &[Statement], answer: &str) -> Vec<String> {
    let closings = statements
        .iter()
        .filter(|statement| statement.source == StatementSource::Closing)
        .map(|statement| statement.text.as_str());
    let mut texts: Vec<&str> = closings.chain([answer]).collect();
    texts.retain(|text| !text.trim().is_empty());
    texts.dedup();
    let mut found = Vec::new();
    for text in texts.iter().rev().take(MAX_TEXTS) {
        for sentence in sentences(&clean(text).prose) {
            if is_open(&sentence) {
                push_new(&mut found, shorten(&sentence, MAX_CHARACTERS), MAX_OPEN_ENDS);
            }
        }
    }
    found
}

/// Returns what a closing text says is left, as lines of a trace: for work that was not finished.
pub fn left_open(answer: &str) -> Vec<String> {
    let mut open = open_ends(&[], answer);
    open.retain(|sentence| is_left(sentence));
    let lines = open
        .into_iter()
        .take(MAX_TRACED)
        .map(|open| format!("Open: {open}"));
    lines.collect()
}

/// Whether a sentence leaves work outright: "it cannot go negative" leaves none.
fn is_left(sentence: &str) -> bool {
    let words = words(sentence);
    leaves_something(sentence, &words)
        || announces(&words)
        || has_phrase(&words, LEFT)
        || has_phrase(&words, FAILING)
        || LEFT_UNSPACED.iter().any(|entry| sentence.contains(entry))
}

fn is_open(sentence: &str) -> bool {
    let words = words(sentence);
    ends_with_question(sentence)
        || leaves_something(sentence, &words)
        || announces(&words)
        || has_phrase(&words, OPEN)
        || OPEN_UNSPACED.iter().any(|entry| sentence.contains(entry))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(answer: &str) -> Vec<String> {
        open_ends(&[], answer)
    }

    #[test]
    fn sentences_that_leave_something_are_open_ends() {
        let answer = "The limiter counts in Redis now. What is left: the 429 response has no Retry-After header. I have not \
                      written tests. Should it be per key or per user?";
        assert_eq!(of(answer).len(), 3, "{:?}", of(answer));
        assert_eq!(
            of("All tests pass. The page loads in 700 ms."),
            Vec::<String>::new()
        );
        assert_eq!(
            of("首页现在 2.6 秒。字体文件还没有拆分。"),
            ["字体文件还没有拆分。"]
        );
        assert_eq!(
            of("Die Suche läuft. Es fehlt noch ein Test."),
            ["Es fehlt noch ein Test."]
        );
    }

    #[test]
    fn what_unfinished_work_leaves_is_stated_outright() {
        let left = |answer: &str| left_open(answer);
        assert_eq!(
            left(
                "Two tests still fail: test_ttl and test_evict. I chose hashes because keys cannot expire. Next: fix eviction."
            ),
            [
                "Open: Two tests still fail: test_ttl and test_evict.",
                "Open: Next: fix eviction."
            ]
        );
        assert_eq!(
            left(
                "The variance uses this form since it cannot go negative. Still open: the proof in appendix B."
            ),
            ["Open: Still open: the proof in appendix B."]
        );
        assert_eq!(
            left("Die Suche läuft. Es fehlt noch ein Test."),
            ["Open: Es fehlt noch ein Test."]
        );
        assert_eq!(
            left("All tests pass. The form is not cached."),
            Vec::<String>::new()
        );
    }

    #[test]
    fn newer_texts_come_first_and_old_ones_are_left_out() {
        let statement = |number: usize| Statement {
            source: StatementSource::Closing,
            text: format!("Step {number} is missing."),
        };
        let statements: Vec<Statement> = (0..9).map(statement).collect();
        let found = open_ends(&statements, "Step 8 is missing.");
        assert_eq!(
            found,
            ["Step 8 is missing.", "Step 7 is missing.", "Step 6 is missing."]
        );
    }
}

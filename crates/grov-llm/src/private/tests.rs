use super::*;
use crate::offline;
use crate::questions::Question;
use grov_domain::{
    ActionSketch, ActionType, DriftQuestion, EffectKind, ForcedRecoveryQuestion, IntentQuestion,
    ReasoningQuestion, SessionId, SummaryQuestion, TaskContextQuestion, TaskSketch, TaskType,
};
use grov_redact::Redactor;
use proptest::prelude::*;
use std::fmt::Debug;

#[test]
fn blocks_are_left_out_as_redaction_leaves_them_out() {
    let cases = [
        ("a <private>x</private> b", "a   b"),
        ("<PRIVATE>x</Private >b", " b"),
        ("a <private>x <private>y</private> z</private> b", "a   b"),
        ("a <private reason=\"pay\">never closed", "a  "),
        ("a </private> b <private key> c", "a </private> b <private key> c"),
    ];
    for (text, expected) in cases {
        assert_eq!(without_private(text), expected);
    }
}

#[test]
fn a_tail_begins_behind_what_the_cut_went_through() {
    let cases = [
        ("public", 0, "public"),
        ("cret</PRIVATE> public", 0, " public"),
        ("cret</private> public", 1, " public"),
        ("cret", 1, ""),
        ("cret <private>x</private> y", 1, ""),
        ("y</private> z</private> public", 2, " public"),
        ("y</private <private a=b>z", 1, ""),
        ("a <private>x</private> b", 0, "a <private>x</private> b"),
    ];
    for (tail, open, expected) in cases {
        assert_eq!(behind_cut(tail, open), expected, "{tail}");
    }
    let text = "a <private>b</private> <private reason=\"x\">c";
    assert_eq!([12, 25, 30].map(|cut| open_at(text, cut)), [1, 1, 1]);
    assert_eq!([2, 22, 23].map(|cut| open_at(text, cut)), [0, 0, 0]);
}

const SECRET: &str = "swordfish";

/// The secret as an order, as a limit, as a decision and as a file: in whatever the rules look for.
const CONFIDED: &str = "Fix swordfish in src/swordfish.rs now. Do not touch swordfish/swordfish.rs. \
    I chose swordfish instead of swordfish because swordfish requires swordfish at most. \
    All done, swordfish passes. Which swordfish do you mean?\n";

/// Something that is not private, of about `length` bytes.
fn filling(kind: usize, length: usize) -> String {
    let piece = [
        "word ",
        "Fix the parser in src/parser.rs. Do not touch the lexer.\n",
        "2025-01-31T10:00:00Z INFO started\n",
        "x",
        "\n",
        "```\nlet a = 1;\n```\n",
        "\u{1}",
        "a < b ",
        "<grov-context>note</grov-context> ",
        "<private>nothing</private> ",
    ][kind];
    piece.repeat(length / piece.len())
}

/// About as long as the windows that are looked at, or much shorter.
fn length() -> impl Strategy<Value = usize> {
    prop_oneof![
        2 => Just(0),
        4 => 0..600_usize,
        4 => 0..24_000_usize,
        4 => 16_000..50_000_usize,
        1 => 250_000..530_000_usize,
    ]
}

fn confided() -> impl Strategy<Value = String> {
    let tags = prop::sample::select(vec![
        ("<private>", "</private>"),
        ("<PRIVATE>", "</Private>"),
        ("<private reason=\"x\">", "</private >"),
        ("\n<private>\n", "\n</private>\n"),
        ("<private>", ""),
    ]);
    (0..10_usize, length(), tags, length(), 0..10_usize, length()).prop_map(
        |(before, before_length, (opening, closing), secret, after, after_length)| {
            let secret = CONFIDED.repeat(1 + secret / CONFIDED.len());
            let before = filling(before, before_length);
            format!(
                "{before}{opening}{secret}{closing}{}",
                filling(after, after_length)
            )
        },
    )
}

/// Everything that is told of a question.
fn told<Q: Question>(question: &Q) -> String
where
    Q::Answer: Debug,
{
    format!("{}\n{:?}", question.request().user, question.by_rules())
}

fn check(text: &str) -> Result<(), TestCaseError> {
    let texts = || vec![text.to_owned()];
    let action = ActionSketch {
        action_type: ActionType::Bash,
        files: vec!["src/a.rs".to_owned()],
        command: Some(text.to_owned()),
        effects: vec![EffectKind::Modify],
        reasoning: Some(text.to_owned()),
        failed: Some(true),
        output: Some(text.to_owned()),
        content: None,
        line: None,
    };
    let task = TaskSketch {
        id: SessionId::new("t1"),
        goal: text.to_owned(),
        task_type: TaskType::Main,
        parent: None,
        completed: false,
    };
    let answers = [
        told(&IntentQuestion {
            prompts: texts(),
            first_files: Vec::new(),
        }),
        told(&TaskContextQuestion {
            current: Some(task),
            prompts: texts(),
            actions: vec![action.clone()],
            answer: text.to_owned(),
            ..TaskContextQuestion::default()
        }),
        told(&ReasoningQuestion {
            goal: text.to_owned(),
            prompts: texts(),
            constraints: texts(),
            actions: vec![action.clone()],
            answer: text.to_owned(),
        }),
        told(&SummaryQuestion {
            goal: text.to_owned(),
            constraints: texts(),
            prompts: texts(),
            actions: vec![action.clone()],
            answer: text.to_owned(),
        }),
        told(&DriftQuestion {
            goal: text.to_owned(),
            newest_instruction: text.to_owned(),
            scope: vec!["src/b.rs".to_owned()],
            constraints: texts(),
            actions: vec![action.clone()],
            ..DriftQuestion::default()
        }),
        told(&ForcedRecoveryQuestion {
            goal: text.to_owned(),
            newest_instruction: text.to_owned(),
            constraints: texts(),
            diagnostics: texts(),
            actions: vec![action],
        }),
    ];
    for answer in &answers {
        let at = answer.find(SECRET);
        let shown = at.map(|at| &answer[answer.floor_char_boundary(at.saturating_sub(200))..at]);
        prop_assert!(at.is_none(), "shown behind {:?}", shown);
    }
    Ok(())
}

#[test]
fn what_is_not_private_is_still_told() {
    let text = format!("<private>{}</private> Fix the parser.", CONFIDED.repeat(4_000));
    let question = IntentQuestion {
        prompts: vec![text],
        first_files: Vec::new(),
    };
    assert!(question.request().user.contains("Fix the parser."));
    assert_eq!(offline::extract_intent(&question).goal, "Fix the parser.");
}

#[test]
fn a_tag_that_only_what_is_left_of_a_text_makes_is_one_too() {
    let text = "<private <private></private>=> in confidence";
    assert_eq!(without_private(text), " ");
    assert_eq!(Redactor::shared().redact(text), "[redacted:private]");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn a_private_block_that_a_cut_went_through_is_not_shown(text in confided()) {
        check(&text)?;
    }

    #[test]
    fn tags_are_read_as_redaction_reads_them(
        pieces in prop::collection::vec(
            prop::sample::select(vec!["<private>", "</private>", "<PRIVATE a=b>", "<private ", ">", "</Private ", "x y ", "<", "=", "\n"]),
            0..12,
        ),
    ) {
        let text = pieces.concat();
        let ours = without_private(&text);
        let theirs = Redactor::shared().redact(&text);
        let theirs = theirs.replace("[redacted:private]", " ");
        prop_assert_eq!(ours, theirs);
    }
}

use super::*;
use crate::ingest::{code, markdown, text};
use proptest::prelude::*;

fn divided(text: &str) -> Vec<(Vec<String>, String)> {
    let outline = markdown::outline(text);
    chunks(text, &outline)
        .into_iter()
        .map(|piece| {
            let path = piece
                .path
                .places()
                .map(|place| outline.headings[place].title.clone());
            (path.collect(), text[piece.range].to_owned())
        })
        .collect()
}

/// Chunks are in order, do not overlap, and contain everything but white space.
fn assert_covers(text: &str, pieces: &[Piece]) {
    let mut at = 0;
    for piece in pieces {
        assert!(
            piece.range.start >= at && piece.range.end > piece.range.start,
            "{piece:?}"
        );
        assert_eq!(text[at..piece.range.start].trim(), "", "left out");
        at = piece.range.end;
    }
    assert_eq!(text[at..].trim(), "", "left out at the end");
}

#[test]
fn a_heading_stays_with_its_text() {
    let long = "word ".repeat(200);
    let text = format!("# A\n## B\n{long}\n\n## C\n{long}\n");
    let pieces = divided(&text);
    assert_eq!(pieces.len(), 2);
    assert_eq!(pieces[0].0, ["A", "B"]);
    assert!(pieces[0].1.starts_with("# A\n## B\nword"));
    assert_eq!(pieces[1].0, ["A", "C"]);
}

#[test]
fn each_section_of_a_small_document_keeps_its_headings() {
    let text = "# A\nIntroduction.\n## B\nshort\n## C\nshorter\n";
    let paths: Vec<_> = divided(text).into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, [vec!["A"], vec!["A", "B"], vec!["A", "C"]]);
}

#[test]
fn tiny_sections_are_joined_under_their_common_heading_where_there_are_very_many() {
    let text = format!("# A\nIntroduction.\n{}", "## B\nshort\n".repeat(MAX_OWN_SECTIONS));
    let pieces = divided(&text);
    assert!(pieces.len() < 20, "{}", pieces.len());
    assert_eq!(pieces[0].0, ["A"]);
}

#[test]
fn large_code_blocks_and_tables_stay_whole_with_their_introduction() {
    let code = format!("```\n{}```\n", "let a = 1;\n\n".repeat(400));
    let table = format!("| k | v |\n|---|---|\n{}", "| key | value |\n".repeat(300));
    let text = format!(
        "# A\nRun this:\n\n{code}\n{}\n\n{table}\nend\n",
        "prose ".repeat(300)
    );
    let pieces = divided(&text);
    assert!(
        pieces
            .iter()
            .any(|(_, piece)| piece.contains("Run this") && piece.contains(code.trim_end()))
    );
    assert!(pieces.iter().any(|(_, piece)| piece.contains(table.trim_end())));
    let huge = format!("```\n{}```\n", "let a = 1;\n".repeat(4_000));
    let pieces = divided(&huge);
    assert!(pieces.len() > 10 && pieces.iter().all(|(_, piece)| piece.len() <= TARGET_BYTES));
}

#[test]
fn prose_without_breaks_is_divided_at_sentences() {
    let text = "This is a sentence of some length. ".repeat(200);
    let pieces = divided(&text);
    assert!(
        pieces
            .iter()
            .all(|(_, piece)| piece.len() <= TARGET_BYTES && piece.ends_with('.'))
    );
    assert!(pieces.len() <= 7);
}

#[test]
fn a_text_without_spaces_is_divided_anywhere() {
    for text in ["x".repeat(100_000), "日本".repeat(20_000), "é\n".repeat(30_000)] {
        let outline = text::outline(&text);
        let pieces = chunks(&text, &outline);
        assert_covers(&text, &pieces);
        assert!(pieces.iter().all(|piece| piece.range.len() <= TARGET_BYTES));
    }
}

/// Markdown made of the marks that matter.
fn markdown_like() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("# "),
        Just("## "),
        Just("###### "),
        Just("\n"),
        Just("\n\n"),
        Just("```\n"),
        Just("---\n"),
        Just("===\n"),
        Just("> "),
        Just("- "),
        Just("1. "),
        Just("    "),
        Just("\t"),
        Just("| a | b |\n|---|---|\n"),
        Just("| c |\n"),
        Just("word "),
        Just("é日"),
        Just("\r\n"),
        Just("<div>\n"),
        Just("[^1]: "),
        Just("$$\n"),
        Just("~~~"),
        Just("\u{a0}"),
        Just(
            "lorem ipsum dolor sit amet, consectetur adipiscing elit. sed do eiusmod tempor incididunt ut labore. "
        ),
    ];
    prop::collection::vec(part, 0..400).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn chunks_cover_any_markdown(text in markdown_like()) {
        let pieces = chunks(&text, &markdown::outline(&text));
        assert_covers(&text, &pieces);
        prop_assert!(pieces.iter().all(|piece| piece.range.len() <= MAX_WHOLE_BYTES + 2 * TINY_BYTES));
    }

    #[test]
    fn chunks_cover_any_text(text in "\\PC{0,3000}|(?s).{0,3000}") {
        assert_covers(&text, &chunks(&text, &markdown::outline(&text)));
        assert_covers(&text, &chunks(&text, &text::outline(&text)));
        assert_covers(&text, &chunks(&text, &code::outline(&text)));
    }
}

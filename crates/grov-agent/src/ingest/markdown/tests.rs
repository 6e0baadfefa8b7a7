use super::*;

fn titles(text: &str) -> Vec<(Vec<String>, &str)> {
    let outline = outline(text);
    outline
        .sections
        .iter()
        .map(|section| {
            let path = section
                .path
                .places()
                .map(|place| outline.headings[place].title.clone());
            (path.collect(), &text[section.range.clone()])
        })
        .collect()
}

#[test]
fn headings_of_both_kinds_make_paths() {
    let text = "before\n\n# One `a`\ntext\n\nTwo\n---\n\nmore\n### Three #\n# Four\n";
    let path = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        titles(text),
        [
            (path(&[]), "before\n\n"),
            (path(&["One a"]), "# One `a`\ntext\n\n"),
            (path(&["One a", "Two"]), "Two\n---\n\nmore\n"),
            (path(&["One a", "Two", "Three"]), "### Three #\n"),
            (path(&["Four"]), "# Four\n"),
        ]
    );
}

#[test]
fn a_mark_inside_code_or_a_quotation_is_no_heading() {
    let text = "# Real\n```sh\n# comment\n```\n\n    # indented\n\n> # quoted\n\n- # in a list\n";
    assert_eq!(titles(text).len(), 1);
}

#[test]
fn code_and_tables_are_wholes_without_breaks() {
    let text = "a\n\n```\nx\n\ny\n```\n\n| k | v |\n|---|---|\n| a | b |\n\nend\n";
    let outline = outline(text);
    let wholes: Vec<&str> = outline.wholes.iter().map(|whole| &text[whole.clone()]).collect();
    assert_eq!(
        wholes,
        ["```\nx\n\ny\n```\n", "| k | v |\n|---|---|\n| a | b |\n"]
    );
    for whole in &outline.wholes {
        let inside = outline
            .breaks
            .iter()
            .filter(|place| place.at > whole.start && place.at < whole.end);
        assert_eq!(inside.count(), 0);
    }
}

#[test]
fn front_matter_is_no_heading() {
    assert_eq!(titles("---\ntitle: x\n---\n# A\n").len(), 2);
}

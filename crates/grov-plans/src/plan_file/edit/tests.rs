use super::*;
use proptest::prelude::*;

#[test]
fn the_status_is_read_in_every_form() {
    for (text, status_, note) in [
        ("", Status::Draft, None),
        (
            "# X\n## Status: draft | validating | approved\n",
            Status::Draft,
            None,
        ),
        ("## Status: approved\n", Status::Approved, None),
        (
            "**Status:** Validating (m, 1)\r\n",
            Status::Validating,
            Some("m, 1"),
        ),
        (
            "- **Status**: approved by Ada\n",
            Status::Approved,
            Some("by Ada"),
        ),
        ("status: APPROVED", Status::Approved, None),
        (
            "```\n## Status: approved\n```\n## Status: validating\n",
            Status::Validating,
            None,
        ),
        ("<!--\nStatus: approved\n-->\n", Status::Draft, None),
        ("Statuses: approved\nThe status: approved\n", Status::Draft, None),
        ("## Status:\n", Status::Draft, None),
        ("## Status: Fertig ü\n", Status::Draft, Some("ü")),
    ] {
        assert_eq!(status(text), (status_, note.map(str::to_owned)), "{text:?}");
    }
}

#[test]
fn the_status_is_set_in_its_own_form() {
    for (text, expected) in [
        (
            "# X\n## Status: draft | validating | approved\nrest",
            "# X\n## Status: approved (A)\nrest",
        ),
        (
            "**Status:** draft\r\nrest\r\n",
            "**Status:** approved (A)\r\nrest\r\n",
        ),
        ("## Status:\n", "## Status: approved (A)\n"),
        ("# X\n\ntext\n", "# X\n\n## Status: approved (A)\n\ntext\n"),
        ("text\n", "## Status: approved (A)\n\ntext\n"),
        ("# X", "# X\n\n## Status: approved (A)\n"),
    ] {
        assert_eq!(with_status(text, Status::Approved, "A"), expected, "{text:?}");
    }
}

#[test]
fn a_requirement_that_reads_status_is_not_the_status() {
    for requirement in [
        "- Status: 404 if there is no such user",
        "* **Status**: 404 if there is none",
        "Status: the code of the answer",
        "  - status: int",
    ] {
        let text = format!("# X\n\n{requirement}\n");
        assert_eq!(status(&text), (Status::Draft, None), "{text:?}");
        assert_eq!(
            with_status(&text, Status::Approved, "A"),
            format!("# X\n\n## Status: approved (A)\n\n{requirement}\n")
        );
        let text = format!("{requirement}\n\n- Status: draft\n");
        assert_eq!(
            with_status(&text, Status::Approved, "A"),
            format!("{requirement}\n\n- Status: approved (A)\n")
        );
    }
}

fn entries(verdict: &str, questions: &[&str]) -> [Entry; 3] {
    [
        Entry::new("Last validated", "now".to_owned()),
        Entry::new("Verdict", verdict.to_owned()),
        Entry::list(
            "Open questions",
            questions.iter().map(|text| (*text).to_owned()).collect(),
        ),
    ]
}

#[test]
fn lines_of_the_user_in_the_section_are_kept() {
    let text = "# X\n\n## Validation\n- Last validated: [timestamp]\n- **Verdict**: [from vertex validate]\n  more\n\
                mine\n- Open questions: [if any]\n  - old?\n\n## Notes\n- Verdict: mine\n";
    let expected = "# X\n\n## Validation\n- Last validated: now\n- Verdict: approved\nmine\n- Open questions:\n  - new?\n\n\
                    ## Notes\n- Verdict: mine\n";
    let edited = with_validation(text, &entries("approved", &["new?"]));
    assert_eq!(edited, expected);
    assert_eq!(
        with_validation(&edited, &entries("approved", &["new?"])),
        edited,
        "again"
    );
}

#[test]
fn missing_entries_are_added_in_order() {
    let text = "## Validation\n\nmine\n### Sub\nx\n## End\n";
    let expected = "## Validation\n\n- Last validated: now\n- Verdict: v\n- Open questions: none\nmine\n### Sub\nx\n## End\n";
    assert_eq!(with_validation(text, &entries("v", &[])), expected);
    assert_eq!(
        with_validation("## Validation", &entries("v", &[])),
        "## Validation\n- Last validated: now\n- Verdict: v\n- Open questions: none\n"
    );
}

#[test]
fn a_section_in_a_code_block_is_not_the_section() {
    let text = "```\n## Validation\n```\n";
    let edited = with_validation(text, &entries("v", &[]));
    assert!(
        edited.starts_with("```\n## Validation\n```\n\n## Validation\n"),
        "{edited}"
    );
}

proptest! {
    #[test]
    fn edits_keep_every_line_of_the_user(text in "(# T|## Validation|mine|- x|```|<!--|-->|Status: draft|- Status: 404|## End|\r\n|\n|ü ){0,40}") {
        let edited = with_status(&with_validation(&text, &entries("v", &["q?"])), Status::Approved, "A");
        let left: Vec<&str> = edited.lines().collect();
        for line in text.lines().filter(|line| status_value(line).is_none()) {
            prop_assert!(left.contains(&line), "{line:?} in {edited:?}");
        }
        let again = with_validation(&edited, &entries("v", &["q?"]));
        prop_assert_eq!(&again, &edited);
    }
}

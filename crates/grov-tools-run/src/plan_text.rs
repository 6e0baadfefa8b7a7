//! A plan's text without what Grov writes into it, so that a verdict does not influence the next one.

/// The entries of the Validation section that Grov writes.
const ENTRIES: [&str; 6] = [
    "last validated",
    "verdict",
    "open questions",
    "last reviewed",
    "review verdict",
    "review questions",
];

/// The text without its status line and Grov's entries in the Validation section; without the section if nothing else is in it.
pub(crate) fn without_own_lines(text: &str) -> String {
    let mut kept = Kept::default();
    let (mut is_quoted, mut has_status, mut is_nested) = (false, false, false);
    // The heading's level and its place in `kept`.
    let mut section: Option<(usize, usize)> = None;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let is_fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        is_quoted ^= is_fence;
        if is_quoted || is_fence {
            is_nested = false;
            kept.add(line);
            continue;
        }
        if !has_status && is_status(trimmed) {
            has_status = true;
            kept.remove();
            kept.is_status_gap = true;
            continue;
        }
        if let Some((level, title)) = heading(line) {
            if section.is_some_and(|(other, _)| level <= other) {
                kept.end_section(section.take());
            }
            if section.is_none() && title.eq_ignore_ascii_case("validation") {
                section = Some((level, kept.lines.len()));
            }
        }
        let is_indented = line.starts_with([' ', '\t']) && !trimmed.is_empty();
        is_nested = section.is_some() && (is_entry(line) || (is_nested && is_indented));
        match is_nested {
            true => kept.remove(),
            false => kept.add(line),
        }
    }
    kept.end_section(section);
    kept.lines.concat().trim_matches(['\r', '\n']).to_owned()
}

#[derive(Default)]
struct Kept<'t> {
    lines: Vec<&'t str>,
    /// Whether the line before was removed.
    is_gap: bool,
    /// Whether it was the status, which is written with an empty line before it.
    is_status_gap: bool,
}

impl<'t> Kept<'t> {
    /// Of the empty lines around a removed one, those before it stay.
    fn add(&mut self, line: &'t str) {
        let is_empty = |line: &&str| line.trim().is_empty();
        if self.is_gap && is_empty(&line) && self.lines.last().is_none_or(is_empty) {
            self.is_status_gap = false;
            return;
        }
        if std::mem::take(&mut self.is_status_gap) && self.lines.last().is_some_and(is_empty) {
            self.lines.pop();
        }
        self.is_gap = false;
        self.lines.push(line);
    }

    fn remove(&mut self) {
        self.is_gap = true;
    }

    /// Removes the section's heading if only empty lines follow it.
    fn end_section(&mut self, section: Option<(usize, usize)>) {
        let Some((_, at)) = section else { return };
        let mut rest = self.lines.iter().skip(at + 1);
        if rest.all(|line| line.trim().is_empty()) {
            self.lines.truncate(at);
            self.is_gap = true;
        }
    }
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let title = line.get(level..).filter(|title| title.starts_with([' ', '\t']))?;
    (1..=6).contains(&level).then(|| (level, title.trim()))
}

fn is_status(line: &str) -> bool {
    let rest = line.trim_start_matches(['#', ' ', '*', '-', '_']);
    let word = rest.get(..6).filter(|word| word.eq_ignore_ascii_case("status"));
    word.is_some() && rest[6..].trim_start_matches(['*', '_', ' ']).starts_with(':')
}

fn is_entry(line: &str) -> bool {
    let entry = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
    let name = entry.and_then(|entry| entry.split_once(':'));
    name.is_some_and(|(name, _)| {
        let name = name.trim().trim_matches('*').to_ascii_lowercase();
        ENTRIES.contains(&name.as_str())
    })
}

/// The largest number of a step in a plan: of headings and list items such as `## Step 2` and `- [ ] Step 2: …`, else of numbered
/// items at the start of a line. `None` if steps have no numbers.
pub(crate) fn last_step(plan: &str) -> Option<u64> {
    /// Larger numbers count something else.
    const MOST: u64 = 1_000;
    let number = |text: &str| -> Option<u64> {
        let digits = text.len()
            - text
                .trim_start_matches(|letter: char| letter.is_ascii_digit())
                .len();
        let found = text[..digits].parse().ok()?;
        (1..=MOST).contains(&found).then_some(found)
    };
    let named = |line: &str| {
        let line = line.trim_start_matches(|letter: char| " \t#*-+[]xX_>".contains(letter));
        let word = line.get(..5).filter(|word| word.eq_ignore_ascii_case("step "))?;
        number(&line[word.len()..])
    };
    let listed = |line: &str| {
        let found = number(line)?;
        let rest = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
        (rest.starts_with(". ") || rest.starts_with(") ")).then_some(found)
    };
    let steps = plan.lines().filter_map(named).max();
    steps.or_else(|| plan.lines().filter_map(listed).max())
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_plans::{PlanFile, Validation, ValidationKind};

    #[test]
    fn the_last_step_is_found_in_the_usual_forms() {
        for (plan, last) in [
            (
                "# Plan\n\n## Step 1: parse\n\n1. a\n2. b\n3. c\n\n## Step 2: test\n",
                Some(2),
            ),
            ("- [x] Step 1 done\n- [ ] **Step 4** open\n", Some(4)),
            ("## Steps\n\n1. parse\n2. test\n", Some(2)),
            ("2024. was a year\n", None),
            ("Do it.\nStepwise 3\n", None),
            ("", None),
        ] {
            assert_eq!(last_step(plan), last, "{plan}");
        }
    }

    #[test]
    fn a_verdict_written_into_a_plan_does_not_change_what_is_sent() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.md");
        let questions = ["Which port?".to_owned()];
        for text in [
            "# X\n\n## Steps\n1. One",
            "# X\n\n## Status: draft | validating | approved\n\n## Steps\n1. One\n",
            "# X\n## Validation\n\nmine\n\n## Steps\n",
            "# X\n\n## Validation\n- Last validated: never\n\n## Steps\n",
            "no title\n\n```\n## Status: approved\n```\n",
        ] {
            std::fs::write(&path, text).unwrap();
            let plan = PlanFile::at(folder.path(), &path).unwrap();
            let before = without_own_lines(text);
            for kind in [
                ValidationKind::Plan,
                ValidationKind::Implementation { step: Some(1) },
            ] {
                let validation = Validation {
                    kind,
                    verdict: "approved",
                    questions: &questions,
                    by: "model-1",
                    at: time::OffsetDateTime::UNIX_EPOCH,
                };
                plan.write_validation(&validation).unwrap();
                let after = plan.text().unwrap().unwrap();
                assert!(after.contains("Which port?"));
                assert_eq!(without_own_lines(&after), before, "{after}");
            }
        }
    }

    #[test]
    fn lines_of_the_user_are_sent() {
        let text =
            "# X\n\n- Verdict: mine\n\n## Validation\n- Verdict: approved\n- Checked by hand\n\n## End";
        assert_eq!(
            without_own_lines(text),
            "# X\n\n- Verdict: mine\n\n## Validation\n- Checked by hand\n\n## End"
        );
    }
}

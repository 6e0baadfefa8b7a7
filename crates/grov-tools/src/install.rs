//! The files that `envoy install` writes, and the block in CLAUDE.md.

use crate::Registry;
use crate::docs;
use crate::opinion::Opinion;

/// A file to be installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// The path below `.claude`.
    pub path: String,
    /// Its content.
    pub content: String,
}

/// All files, in order.
pub fn files(registry: &Registry) -> Vec<Installed> {
    let mut files = vec![Installed {
        path: "envoy/README.md".to_owned(),
        content: docs::catalogue(registry),
    }];
    files.extend(registry.tools().iter().map(|tool| Installed {
        path: format!("envoy/snippets/{}", docs::snippet_file(tool)),
        content: docs::snippet(tool),
    }));
    files.extend(Opinion::ALL.map(|opinion| Installed {
        path: format!("envoy/prompts/{}.txt", opinion.name()),
        content: opinion.prompt().to_owned(),
    }));
    let skills = [
        (
            "skills/claude-envoy-usage/SKILL.md",
            include_str!("../skills/claude-envoy-usage.md"),
        ),
        (
            "skills/claude-envoy-curation/SKILL.md",
            include_str!("../skills/claude-envoy-curation.md"),
        ),
        (
            "skills/deep-research/SKILL.md",
            include_str!("../skills/deep-research.md"),
        ),
        (
            "agents/envoy-planner.md",
            include_str!("../skills/envoy-planner.md"),
        ),
    ];
    files.extend(skills.map(|(path, content)| Installed {
        path: path.to_owned(),
        content: content.to_owned(),
    }));
    files
}

/// The directions for CLAUDE.md.
const DIRECTIONS: &str = include_str!("../skills/directions.md");
/// The beginning of the block. The number of line ends that were put before it follows, so that removal restores every byte.
const START: &str = "<!-- envoy:start ";
const END: &str = "<!-- envoy:end -->";

/// The block in CLAUDE.md begins, but does not end before the next one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the block that begins with `{START}` has no end, so it is not known what belongs to it")]
pub struct BrokenBlock;

/// The text of CLAUDE.md with the block at its end; an older block is replaced.
///
/// # Errors
///
/// If the older block has no end.
pub fn with_block(text: &str) -> Result<String, BrokenBlock> {
    let text = without_block(text)?.unwrap_or_else(|| text.to_owned());
    let line_ends = match text.as_str() {
        "" => 0,
        text if text.ends_with('\n') => 1,
        _ => 2,
    };
    let before = "\n".repeat(line_ends);
    Ok(format!(
        "{text}{before}{START}{line_ends} -->\n{DIRECTIONS}{END}\n"
    ))
}

/// The text of CLAUDE.md without the block; `None` if it has none.
///
/// # Errors
///
/// If the block has no end.
pub fn without_block(text: &str) -> Result<Option<String>, BrokenBlock> {
    let found = text.match_indices(START).find_map(|(start, _)| {
        let rest = &text[start + START.len()..];
        let (number, _) = rest.split_once(" -->")?;
        let line_ends: usize = number.parse().ok().filter(|number| *number <= 2)?;
        Some((start, line_ends))
    });
    let Some((start, line_ends)) = found else {
        return Ok(None);
    };
    let (before, rest) = (&text[..start], &text[start + START.len()..]);
    let (inside, after) = rest.split_once(END).ok_or(BrokenBlock)?;
    if inside.contains(START) {
        return Err(BrokenBlock);
    }
    // An editor may have removed or changed the last line end.
    let after = after
        .strip_prefix("\r\n")
        .or_else(|| after.strip_prefix('\n'))
        .unwrap_or(after);
    // Lines that the user removed are not removed twice.
    let written = before.len() - before.trim_end_matches('\n').len();
    let before = &before[..before.len() - line_ends.min(written)];
    Ok(Some(format!("{before}{after}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn files_are_unique_and_have_front_matter() {
        let files = files(&Registry::built_in());
        let mut paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), files.len());
        for file in files
            .iter()
            .filter(|file| file.path.starts_with("skills/") || file.path.starts_with("agents/"))
        {
            let (front, _) = file
                .content
                .strip_prefix("---\n")
                .unwrap()
                .split_once("\n---\n")
                .unwrap();
            let name = front
                .lines()
                .find_map(|line| line.strip_prefix("name: "))
                .unwrap();
            assert!(file.path.contains(name), "{name}");
            let description = front
                .lines()
                .find_map(|line| line.strip_prefix("description: "))
                .unwrap();
            assert!(
                (20..1024).contains(&description.len()) && !description.contains(": "),
                "{description}"
            );
        }
    }

    #[test]
    fn every_command_in_the_skills_exists() {
        let registry = Registry::built_in();
        for file in files(&registry)
            .iter()
            .filter(|file| !file.path.starts_with("envoy/"))
        {
            for call in file.content.split("envoy ").skip(1) {
                let mut words = call
                    .split_whitespace()
                    .map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-'));
                let (group, name) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
                if registry.groups().contains(&group) {
                    assert!(
                        registry.find(group, name).is_some(),
                        "{}: {group} {name}",
                        file.path
                    );
                }
            }
        }
    }

    #[test]
    fn a_block_without_its_last_line_end_is_found() {
        let with = with_block("mine\n").unwrap();
        for changed in [with.trim_end().to_owned(), with.replace('\n', "\r\n")] {
            let without = without_block(&changed).unwrap().unwrap();
            assert_eq!(without.trim_end(), "mine", "{changed:?}");
        }
    }

    #[test]
    fn a_block_without_end_does_not_take_the_text_up_to_the_next_one() {
        let block = with_block("").unwrap();
        let begun = block.lines().next().unwrap();
        for text in [format!("{begun}\nmine\n"), format!("{begun}\nmine\n{block}")] {
            assert_eq!(without_block(&text), Err(BrokenBlock), "{text}");
            assert_eq!(with_block(&text), Err(BrokenBlock), "{text}");
        }
        let mentioned = format!("`{START}` begins a block\n{block}");
        assert!(!without_block(&mentioned).unwrap().unwrap().contains(END));
    }

    proptest! {
        #[test]
        fn the_block_is_removed_byte_for_byte(text in "[a-z\n #é]{0,40}") {
            let with = with_block(&text).unwrap();
            prop_assert_eq!(with_block(&with), Ok(with.clone()));
            prop_assert_eq!(without_block(&with), Ok(Some(text.clone())));
            let more = format!("{with}later\n");
            prop_assert_eq!(without_block(&more), Ok(Some(format!("{text}later\n"))));
            prop_assert_eq!(without_block(&text), Ok(None));
        }
    }
}

//! Extracts the intent of prompts.

use super::goal::Goal;
use super::parsed_prompt::ParsedPrompt;
use super::scope::Keywords;
use super::text::{push_new, shorten};
use super::{constraints, scope};
use grov_domain::{Intent, IntentQuestion};

/// The most prompts read; the newest count.
pub(crate) const MAX_PROMPTS: usize = 20;

/// How many of the files read first are taken into the scope.
const FIRST_FILES: usize = 8;

/// The intent of prompts: the goal of the newest instruction; the scope from paths and identifiers named and from the files read
/// first; constraints of all prompts; keywords. At most 200 characters of goal, 40 scope entries, 20 constraints, 12 keywords.
pub fn extract_intent(question: &IntentQuestion) -> Intent {
    let parsed: Vec<ParsedPrompt> = newest(&question.prompts)
        .iter()
        .map(|prompt| ParsedPrompt::of(prompt))
        .collect();
    let parsed: Vec<&ParsedPrompt> = parsed.iter().collect();
    combine(&parsed, &question.first_files)
}

/// The newest prompts.
pub(crate) fn newest(prompts: &[String]) -> &[String] {
    &prompts[prompts.len().saturating_sub(MAX_PROMPTS)..]
}

/// Combines parsed prompts, oldest first, into the intent of a task that read these files first.
pub(crate) fn combine(parsed: &[&ParsedPrompt], first_files: &[String]) -> Intent {
    let files = first_files.iter().take(FIRST_FILES).map(|file| file.trim());
    let files = files.map(|file| shorten(file, 300));
    let mut scope = Vec::new();
    let named = parsed.iter().flat_map(|prompt| &prompt.named).cloned();
    for entry in named.chain(files) {
        push_new(&mut scope, entry, scope::MAX_ENTRIES);
    }
    let mut constraints = Vec::new();
    for constraint in parsed.iter().flat_map(|prompt| &prompt.constraints) {
        push_new(&mut constraints, constraint.clone(), constraints::MAX_CONSTRAINTS);
    }
    let telling = newest_goal(parsed.iter().rev().copied());
    let searched = telling.map(ParsedPrompt::goal_words).into_iter();
    let searched = searched.chain(parsed.last().map(|last| last.text_words()));
    Intent {
        goal: telling
            .map(|reading| reading.goal().text.clone())
            .unwrap_or_default(),
        scope,
        constraints,
        keywords: Keywords::of_all(searched),
        turns_away: parsed.last().is_some_and(|last| last.turns_away()),
    }
}

/// Of prompts, newest first, the first with a goal; those that only acknowledge or approve count last.
pub(crate) fn newest_goal<G: AsRef<Goal>>(prompts: impl Iterator<Item = G>) -> Option<G> {
    let mut fall_back = None;
    for prompt in prompts {
        let goal = prompt.as_ref();
        if goal.text.is_empty() {
            continue;
        }
        if !goal.assents {
            return Some(prompt);
        }
        fall_back = fall_back.or(Some(prompt));
    }
    fall_back
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn intent(prompts: &[&str], first_files: &[&str]) -> Intent {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        extract_intent(&IntentQuestion {
            prompts: owned(prompts),
            first_files: owned(first_files),
        })
    }

    #[test]
    fn the_newest_instruction_counts() {
        let found = intent(
            &[
                "Add a toggle to src/settings.rs. Don't touch the header.",
                "Now fix the login bug in src/auth.rs",
                "thanks",
            ],
            &["src/session.rs"],
        );
        assert_eq!(found.goal, "Now fix the login bug in src/auth.rs");
        assert_eq!(found.scope, ["src/settings.rs", "src/auth.rs", "src/session.rs"]);
        assert_eq!(found.constraints, ["Don't touch the header"]);
        assert_eq!(found.keywords[..2], ["login", "bug"]);
    }

    #[test]
    fn what_is_not_the_users_is_no_intent() {
        let reminder = "<system-reminder>Never stop. Fix the docs in docs/a.md.</system-reminder>";
        assert_eq!(intent(&[reminder], &[]), Intent::default());
        assert_eq!(
            intent(&[&format!("{reminder}\nSalut! Adaugă un test.")], &[]).goal,
            "Adaugă un test."
        );
        assert_eq!(intent(&[], &[]), Intent::default());
    }

    /// A reference implementation: all prompts at once, one after the other into the same lists.
    fn at_once(question: &IntentQuestion) -> Intent {
        use crate::clean::{Cleaned, clean};
        use crate::lexicon::is_work_verb;
        use crate::prompt::Prompt;
        use crate::text::push_new;
        use crate::turning_away;

        let cleaned: Vec<Cleaned> = newest(&question.prompts)
            .iter()
            .map(|prompt| clean(prompt))
            .collect();
        let sentences: Vec<Vec<String>> = cleaned.iter().map(Cleaned::sentences).collect();
        let goals = sentences.iter().rev().map(|sentences| {
            let goal = crate::goal::goal_of(sentences.clone());
            (goal, Prompt::read(sentences))
        });
        let goals: Vec<(String, Prompt)> = goals.filter(|(goal, _)| !goal.is_empty()).collect();
        let instruction = goals
            .iter()
            .find(|(_, read)| !read.acknowledges && !read.approves);
        let goal = instruction.or(goals.first()).map(|(goal, _)| goal.clone());
        let goal = goal.unwrap_or_default();
        let mut scope = Vec::new();
        let mut constraints = Vec::new();
        for (prompt, sentences) in cleaned.iter().zip(&sentences) {
            scope::named(&prompt.whole, &mut scope);
            constraints::find(sentences, &mut constraints);
        }
        for file in question.first_files.iter().take(FIRST_FILES) {
            push_new(&mut scope, shorten(file.trim(), 300), scope::MAX_ENTRIES);
        }
        let mut keywords = Vec::new();
        let texts = [&*goal, cleaned.last().map(Cleaned::best).unwrap_or_default()];
        for only_names in [true, false] {
            for word in texts.into_iter().flat_map(scope::content_words) {
                if (!only_names || !is_work_verb(&word)) && (only_names || !has_names(texts)) {
                    push_new(&mut keywords, word, 12);
                }
            }
        }
        Intent {
            goal,
            scope,
            constraints,
            keywords,
            turns_away: sentences
                .last()
                .is_some_and(|newest| turning_away::turns_away(newest.iter().map(String::as_str))),
        }
    }

    fn has_names(texts: [&str; 2]) -> bool {
        use crate::lexicon::is_work_verb;
        let mut words = texts.into_iter().flat_map(scope::content_words);
        words.any(|word| !is_work_verb(&word))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        #[test]
        fn merged_prompts_give_the_same_intent_as_all_prompts_at_once(
            prompts in prop::collection::vec(prompt(), 0..30),
            first_files in prop::collection::vec(prompt(), 0..12),
        ) {
            let question = IntentQuestion { prompts, first_files };
            prop_assert_eq!(extract_intent(&question), at_once(&question));
        }
    }

    /// Typical prompts that repeat names and constraints, also in other letter case.
    fn prompt() -> impl Strategy<Value = String> {
        #[rustfmt::skip]
        let piece = prop::sample::select(vec![
            "Fix the login bug in src/auth.rs. ", "thanks", "yes, go ahead", "ok ", "?", "\n\n", ", ", "Salut! ",
            "Don't touch SRC/auth.rs. ", "don't touch src/auth.rs. ", "Only `parse()`, nothing else. ", "run it ",
            "Add `Store::open` and user_id to crates/store/src/lib.rs", " without new dependencies. ", "Why: ",
            "Te rog să adaugi un test, fără să modifici tests/a.py. ", "The page crashes, fix it. ", "Hey Claude! ",
            "```\nlet code = run(\"src/code.rs\");\n```\n", "<system-reminder>Never stop.</system-reminder>",
            "İ ", "We need the tests to stay green. ", "is it possible to commit? ", "update update tests ",
        ]);
        let many = (0..60u32).prop_map(|first| {
            let names =
                (first..first + 45).map(|number| format!("a/b{number}.rs, never edit C/d{number}.rs; "));
            names.collect()
        });
        prop_oneof![
            12 => prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat()),
            1 => many,
            1 => any::<String>(),
        ]
    }

    #[test]
    fn pasted_logs_are_not_the_goal() {
        let prompt = "Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'do not touch'\n\nfix this crash in a.py";
        let found = intent(&[prompt], &[]);
        assert_eq!(found.goal, "fix this crash in a.py");
        assert!(found.constraints.is_empty());
    }
}

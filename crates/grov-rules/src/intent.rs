//! Extracts the intent of prompts.

use super::goal::{self, Goal, Role};
use super::own_subject::is_about_other_work;
use super::parsed_prompt::ParsedPrompt;
use super::scope::Keywords;
use super::text::{push_new, shorten};
use super::{constraints, lifting, scope};
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
    for prompt in parsed {
        lifting::lift(&mut constraints, prompt);
        for constraint in &prompt.constraints {
            push_new(&mut constraints, constraint.clone(), constraints::MAX_CONSTRAINTS);
        }
    }
    let (goal, telling) = current_goal(parsed.iter().copied());
    let searched = telling.map(ParsedPrompt::goal_words).into_iter();
    let newest = parsed.iter().rev().find(|prompt| !prompt.goal().assents);
    let searched = searched.chain(newest.or(parsed.last()).map(|newest| newest.text_words()));
    Intent {
        goal,
        scope,
        constraints,
        keywords: Keywords::of_all(searched),
        turns_away: parsed.last().is_some_and(|last| last.turns_away),
    }
}

/// The goal of prompts, oldest first, and the newest prompt that states a part of it. Prompts that only acknowledge or approve
/// count last.
pub(crate) fn current_goal<G: AsRef<Goal>>(prompts: impl Iterator<Item = G>) -> (String, Option<G>) {
    let mut parts: Vec<String> = Vec::new();
    let mut telling: Option<G> = None;
    let mut is_firm = false;
    let mut asks = false;
    for prompt in prompts {
        let goal = prompt.as_ref();
        // "Yes, proceed" states no goal, even if nothing is known of what it agrees to.
        if goal.text.is_empty() || goal.assents && telling.is_none() {
            continue;
        }
        // After a statement or a question, the next order says what is to be done about it.
        let may_replace = !asks && telling.as_ref().is_some_and(|telling| telling.as_ref().orders);
        let role = match goal.role {
            _ if telling.is_none() || !is_firm && goal.is_firm => Role::Replaces,
            _ if !is_firm => Role::Keeps,
            // Short, and about something else: other work, or a part of this one that nobody named yet.
            Role::Keeps if may_replace && goal.is_own && is_about_other_work(&goal.text, &parts) => {
                Role::Adds
            }
            // The answer to a question leads to the work: "then merge them into one".
            Role::Replaces if asks && !goal.turns => Role::Adds,
            role => role,
        };
        if telling.is_some() && (goal.assents || role == Role::Keeps) {
            continue;
        }
        is_firm |= goal.is_firm && !goal.assents;
        asks = goal.asks && role == Role::Replaces;
        if role == Role::Replaces {
            parts.clear();
        }
        // The same words again ask for nothing more.
        if !parts.contains(&goal.text) {
            parts.push(goal.text.clone());
        }
        telling = Some(prompt);
    }
    (joined(parts), telling)
}

/// The parts of a goal in one text, at most [`goal::MAX_CHARACTERS`] long. The first and the newest part count most.
fn joined(mut parts: Vec<String>) -> String {
    const MARK: &str = " … ";
    let length = |parts: &[String]| -> usize {
        let characters: usize = parts.iter().map(|part| part.chars().count()).sum();
        characters + MARK.chars().count() * parts.len().saturating_sub(1)
    };
    while parts.len() > 2 && length(&parts) > goal::MAX_CHARACTERS {
        parts.remove(1);
    }
    if let [first, newest] = &mut parts[..]
        && first.chars().count() + newest.chars().count() + MARK.chars().count() > goal::MAX_CHARACTERS
    {
        let room = goal::MAX_CHARACTERS - MARK.chars().count();
        *newest = shorten(newest, room.saturating_sub(first.chars().count()).max(room / 2));
        *first = shorten(first, room - newest.chars().count());
    }
    parts.join(MARK)
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
    fn the_same_prompt_twice_is_one_goal() {
        let prompt = "and rename the file header to invoices";
        assert_eq!(intent(&[prompt, prompt], &[]).goal, prompt);
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
    fn an_assent_alone_states_no_goal() {
        for assent in ["Yes, proceed.", "ja, mach weiter", "go on", "好的，继续"] {
            assert_eq!(intent(&[assent], &[]).goal, "", "{assent}");
        }
        assert_eq!(
            intent(&["Yes, proceed.", "Add a toggle"], &[]).goal,
            "Add a toggle"
        );
        assert_eq!(
            intent(&["yes, but fix the menu first"], &[]).goal,
            "yes, but fix the menu first"
        );
    }

    #[test]
    fn an_answer_or_the_end_of_the_work_keeps_the_goal() {
        let goal = "Add a toggle to src/settings.rs";
        for later in [
            "go on",
            "ja, mach weiter",
            "oui continue",
            "vale, dale",
            "avanti",
            "pode continuar",
            "dalej",
            "ga verder",
            "继续",
            "続けて",
            "push",
            "commit it and push",
            "run the tests",
            "yes, do it",
            "only on mobile please",
            "why is it off by default?",
            "don't touch the header",
            "ok you may touch the header now",
        ] {
            assert_eq!(intent(&[goal, later], &[]).goal, goal, "{later}");
        }
    }

    #[test]
    fn a_short_prompt_about_something_else_is_not_lost() {
        for (goal, others, more) in [
            (
                "Add a rate limiter to the login page",
                &[
                    "Translate the emails to French",
                    "The dashboard shows wrong totals, please look into it",
                    "The invoice PDF needs a larger logo",
                    "thanks. Now upgrade the docker base image",
                ][..],
                &[
                    "Make it configurable",
                    "use redis instead",
                    "use the existing badge component",
                    "keep the old template names",
                    "Put that into a helper function",
                    "the page crashes, fix it",
                    "also translate the error message",
                    "ten attempts per minute please",
                    "no, ten attempts per minute",
                    "first install the dependencies",
                    "run the linter",
                    "why is there no captcha?",
                ][..],
            ),
            (
                "Behebe den Absturz des Parsers bei leeren Dateien",
                &[
                    "Die Startseite braucht einen Dunkelmodus",
                    "Übersetze die Mails ins Französische",
                ],
                &[
                    "mach das konfigurierbar",
                    "und auch bei Leerzeichen",
                    "der Parser soll eine Warnung ausgeben",
                    "nimm stattdessen eine Warnung",
                ],
            ),
            (
                "Corrige le plantage du parseur",
                &[
                    "Traduis les e-mails en anglais",
                    "La page d'accueil a besoin d'un mode sombre",
                ],
                &["fais pareil pour le lexeur", "rends ça configurable"],
            ),
            (
                "Corrige el fallo del analizador",
                &[
                    "Traduce los correos al francés",
                    "La portada necesita un modo oscuro",
                ],
                &["hazlo configurable", "también en la consola"],
            ),
        ] {
            for other in others {
                let found = intent(&[goal, other], &[]).goal;
                // Other work, or a part of this one: both are told.
                assert!(found != goal && !found.is_empty(), "{other}: {found}");
            }
            let stated = [
                "The search finds nothing with capitals",
                "fix in lib/index.js please",
            ];
            let stated = intent(&stated, &[]).goal;
            assert!(stated.starts_with("The search"), "{stated}");
            for same in more {
                let found = intent(&[goal, same], &[]).goal;
                assert!(found.starts_with(goal), "{same}: {found}");
            }
        }
    }

    #[test]
    fn a_forbidden_path_is_no_scope() {
        let cases: &[(&str, &[&str])] = &[
            ("Fix src/auth.rs but don't touch src/db.rs", &["src/auth.rs"]),
            ("Bump the deps, leave vendor/lib.go alone", &[]),
            ("Corrige src/a.py sans toucher à src/b.py", &["src/a.py"]),
            ("Fix the login, only touch src/auth.rs", &["src/auth.rs"]),
            ("Repara el login, solo en src/auth.ts", &["src/auth.ts"]),
            (
                "Move src/a.rs to lib/. Don't change src/a.rs otherwise",
                &["src/a.rs", "lib/"],
            ),
            (
                "Überarbeite src/a.ts, nicht aber src/b.ts anfassen",
                &["src/a.ts"],
            ),
        ];
        for (prompt, scope) in cases {
            assert_eq!(&intent(&[prompt], &[]).scope, scope, "{prompt}");
        }
    }

    #[test]
    fn turning_away_replaces_the_goal() {
        let cases = [
            ("forget that; rather fix the login", "fix the login"),
            (
                "vergiss das, bau lieber den Export um",
                "bau lieber den Export um",
            ),
            (
                "laisse tomber, corrige plutôt la page d'accueil",
                "corrige plutôt la page d'accueil",
            ),
            ("mejor no, olvídalo. Arregla el buscador", "Arregla el buscador"),
            ("anzi no, sistema il menu", "sistema il menu"),
            ("lascia stare. Sistema il menu", "Sistema il menu"),
            ("esquece isso, arruma o menu", "arruma o menu"),
            ("zapomnij o tym, popraw menu", "popraw menu"),
            ("laat maar, fix het menu", "fix het menu"),
            ("算了，先修登录页面", "算了，先修登录页面"),
            ("やっぱりログイン画面を直して", "やっぱりログイン画面を直して"),
        ];
        for (later, goal) in cases {
            assert_eq!(
                intent(&["Add a toggle to src/settings.rs", later], &[]).goal,
                goal
            );
        }
    }

    #[test]
    fn work_on_tabs_or_steps_is_no_style() {
        for (prompt, goal) in [
            (
                "Move the tabs to the left. Then update the readme",
                "Move the tabs to the left.",
            ),
            (
                "Write the steps of the onboarding wizard. Use the design from the mockups",
                "Write the steps of the onboarding wizard.",
            ),
        ] {
            assert!(intent(&[prompt], &[]).goal.starts_with(goal), "{prompt}");
        }
    }

    #[test]
    fn a_short_refinement_keeps_the_goal() {
        let found = intent(
            &[
                "Add a rate limiter to the login page",
                "store the counters in Redis",
            ],
            &[],
        );
        assert!(
            found.goal.contains("rate limiter") && found.goal.contains("Redis"),
            "{}",
            found.goal
        );
    }

    #[test]
    fn a_permission_is_no_new_goal() {
        for later in ["you may change the tests", "ok, you can edit config/ now"] {
            let found = intent(&["Refactor the cart. Don't touch tests or config/.", later], &[]);
            assert_eq!(found.goal, "Refactor the cart.", "{later}");
        }
    }

    #[test]
    fn a_later_prompt_lifts_constraints() {
        let cases: &[(&[&str], &[&str])] = &[
            (
                &[
                    "Bump Go, vendor/ is frozen, don't regenerate it",
                    "ok you may touch vendor now",
                ],
                &[],
            ),
            (
                &[
                    "Plan the split. only the plan, no code",
                    "looks good, do it. Don't push",
                ],
                &["Don't push"],
            ),
            (
                &["まず調査だけして。編集はまだ禁止", "OK、進めて。編集していいよ"],
                &[],
            ),
            (
                &[
                    "Mach die Suche schneller, keine neuen Pakete",
                    "du darfst jetzt doch Pakete nehmen",
                ],
                &[],
            ),
            (
                &[
                    "Fix the parser. Don't touch the tests. No new packages.",
                    "you can touch the tests after all",
                ],
                &["No new packages"],
            ),
            // One item of a list: the rest stays, and what is permitted is known from the later prompt.
            (
                &[
                    "Refactor the cart. Don't touch tests or package.json.",
                    "you may change the tests",
                ],
                &["Don't touch tests or package.json"],
            ),
            (
                &[
                    "Refactor the cart. Don't touch tests or package.json.",
                    "ok, you may change the tests",
                ],
                &["Don't touch tests or package.json"],
            ),
            (
                &[
                    "Refactor it. Don't touch src/a.ts or src/b.ts.",
                    "you may change both now",
                ],
                &[],
            ),
            (
                &[
                    "Refactor the cart. Don't touch vendor/ or third_party/.",
                    "you may touch vendor/ and third_party/",
                ],
                &[],
            ),
            (
                &[
                    "Add dark mode. Work only inside website/theme please. No new packages.",
                    "Next: the search box. It is in website/search, so the theme restriction is off now.",
                ],
                &["No new packages"],
            ),
            (
                &[
                    "Try to reproduce issue 77, read-only for now.",
                    "Nice. Now fix it, the read-only rule is lifted.",
                ],
                &[],
            ),
            (
                &[
                    "Mach die Suche schneller, nur in src/suche.",
                    "Weiter mit src/index, die Beschränkung auf src/suche gilt nicht mehr.",
                ],
                &[],
            ),
            (
                &["Fix the parser. Don't touch the tests.", "thanks, go on"],
                &["Don't touch the tests"],
            ),
        ];
        for (prompts, expected) in cases {
            assert_eq!(&intent(prompts, &[]).constraints, expected, "{prompts:?}");
        }
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

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

        #[test]
        fn loaded_prompts_give_the_same_intent_as_new_ones(prompts in prop::collection::vec(prompt(), 1..25)) {
            let first = crate::IntentCache::default();
            let question = IntentQuestion { prompts: prompts.clone(), first_files: Vec::new() };
            first.extract_intent(&question);
            let second = crate::IntentCache::default();
            if let Some(stored) = first.stored(&prompts) {
                second.load(&stored, &prompts);
                prop_assert_eq!(second.stored(&prompts), Some(stored));
            }
            prop_assert_eq!(second.extract_intent(&question), extract_intent(&question));
            for prompt in &prompts {
                prop_assert_eq!(second.turns_away(prompt), first.turns_away(prompt));
            }
        }

        #[test]
        fn cached_prompts_give_the_same_intent_as_new_ones(
            prompts in prop::collection::vec(prompt(), 0..30),
            first_files in prop::collection::vec(prompt(), 0..12),
        ) {
            let cache = crate::IntentCache::default();
            for length in 0..=prompts.len() {
                let question = IntentQuestion { prompts: prompts[..length].to_vec(), first_files: first_files.clone() };
                prop_assert_eq!(cache.extract_intent(&question), extract_intent(&question));
            }
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

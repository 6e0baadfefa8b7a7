//! Constraints as people write them, and what breaks them.

mod with_reading;

use super::*;
use crate::analyzed_action::tests::{bash, edit};
use crate::history::History;
use grov_domain::{ActionSketch, ActionType, GoalContract};

fn broken(constraints: &[&str], newest: &str, action: &ActionSketch) -> Vec<Finding> {
    let root = ProjectRoot::new(Some("/home/me/p"));
    let contract = GoalContract {
        instructions: vec![newest.to_owned()],
        constraints: constraints.iter().map(|text| (*text).to_owned()).collect(),
        ..GoalContract::default()
    };
    let compiled = CompiledContract::new(&root, &contract, &[], &ConstraintAges::default());
    compiled.limits.findings(
        &root,
        &AnalyzedAction::new(&root, action),
        &compiled,
        &History::default(),
    )
}

fn breaks(constraint: &str, action: &ActionSketch) -> bool {
    !broken(&[constraint], "", action).is_empty()
}

fn touches(constraint: &str, file: &str) -> bool {
    breaks(constraint, &edit(file, "fn a() {}"))
}

/// Checks cases, and lists all that are wrong.
fn all_hold(cases: &[(&str, &str)], test: impl Fn(&str, &str) -> bool) {
    let wrong: Vec<_> = cases.iter().filter(|(one, other)| !test(one, other)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_path_with_spaces_is_forbidden_as_a_whole() {
    let cases = [
        "Don't touch \"docs/My Notes/plan.md\"",
        "leave `docs/My Notes/` alone",
        "do not change docs/My\\ Notes/plan.md",
        "don't edit @\"docs/My Notes/plan.md\"",
        "Ändere nichts in „docs/My Notes/“",
        "Ne touche pas à «docs/My Notes/plan.md»",
        "Ne touche pas à «docs/My Notes/plan.md",
    ];
    let wrong: Vec<_> = cases
        .iter()
        .filter(|text| !touches(text, "docs/My Notes/plan.md") || touches(text, "docs/My/plan.md"))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_forbidden_by_its_path_is_seen() {
    let cases = [
        ("Do not touch src/auth.rs", "src/auth.rs"),
        ("don't modify anything in `src/auth/`", "src/auth/token.rs"),
        (
            "Do not modify anything under src/auth/",
            "/home/me/p/src/auth/token.rs",
        ),
        ("never edit src/a.rs or src/b.rs", "src/b.rs"),
        ("without changing the file Cargo.toml", "crates/x/Cargo.toml"),
        ("no changes to src/db/ please", "src/db/pool.rs"),
        ("No changes to src/db/ in this task", "src/db/pool.rs"),
        ("Leave migrations/ untouched", "db/migrations/1.sql"),
        ("keep src/api.rs as is", "src/api.rs"),
        ("src/api.rs must stay as it is", "src/api.rs"),
        ("src/api.rs and src/b.rs are read-only for this task", "src/b.rs"),
        (
            "src/db/ is frozen for this task; no edits there",
            "src/db/pool.rs",
        ),
        ("src/db/ is off limits", "src/db/pool.rs"),
        ("src/db/pool.rs should not be changed", "src/db/pool.rs"),
        ("src/db/ is another team's, do not change it", "src/db/pool.rs"),
        ("Treat src/db/ as read-only", "src/db/pool.rs"),
        ("Changes to src/db/ are not allowed", "src/db/pool.rs"),
        ("Exclude src/db/ from this change", "src/db/pool.rs"),
        ("It is forbidden to change src/db/", "src/db/pool.rs"),
        ("No modifications to src/db/ allowed", "src/db/pool.rs"),
        ("nothing in src/db/ may change", "src/db/pool.rs"),
        ("src/db/ should be left alone", "src/db/pool.rs"),
        ("src/db/ needs to remain untouched", "src/db/pool.rs"),
        ("Hands off src/db/", "src/db/pool.rs"),
        ("Stay out of src/db/", "src/db/pool.rs"),
        ("Please don't rewrite src/db/pool.rs", "src/db/pool.rs"),
        ("do not change src/*.css", "src/site.css"),
        ("only change src/a.rs", "src/b.rs"),
        ("Only touch files in web/", "src/b.rs"),
        ("limit your changes to web/", "src/b.rs"),
        ("stay within web/", "src/b.rs"),
        ("do not change anything except src/a.rs", "src/b.rs"),
        ("don't touch src/ except src/a.rs", "src/b.rs"),
        ("don't add files to src/db/", "src/db/new.rs"),
        ("leave the schema alone", "prisma/schema.prisma"),
        ("don't touch the tests", "src/form.test.ts"),
        ("Don't change the existing tests", "tests/form.rs"),
        ("leave the parser alone", "src/parser.rs"),
        ("don't change the auth module", "src/auth/token.rs"),
        (r"Do not touch src\auth\token.rs", "src/auth/token.rs"),
        ("Nu modifica src/auth.rs", "src/auth.rs"),
        ("fără să atingi fișierul src/auth.rs", "src/auth.rs"),
        ("modifică doar src/a.rs", "src/b.rs"),
        ("lasă src/auth/ neatins", "src/auth/a.rs"),
        ("src/auth.rs rămâne neschimbat", "src/auth.rs"),
        ("nu te atinge de src/auth.rs", "src/auth.rs"),
    ];
    all_hold(&cases, touches);
}

#[test]
fn ambiguous_constraints_forbid_nothing() {
    let cases = [
        ("Do not touch src/auth.rs", "src/auth_test.rs"),
        ("Do not touch src/auth.rs", "src/main.rs"),
        ("do not change the signature of parse() in src/a.rs", "src/a.rs"),
        ("do not remove the comments in src/a.rs", "src/a.rs"),
        ("do not remove src/a.rs", "src/a.rs"),
        ("do not use src/legacy.rs", "src/legacy.rs"),
        ("do not touch the public API", "src/api.rs"),
        ("do not touch src/a.rs unless you must", "src/a.rs"),
        ("only change src/a.rs", "src/a.rs"),
        ("only change src/a.rs", "/tmp/notes.md"),
        ("only use src/a.rs as an example", "src/b.rs"),
        ("do not only change src/a.rs", "src/b.rs"),
        ("do not change anything except src/a.rs", "src/a.rs"),
        ("don't touch src/ except src/a.rs", "src/a.rs"),
        ("without dependencies", "Cargo.toml"),
        ("keep src/a.rs small", "src/a.rs"),
        ("treat src/a.rs as the reference", "src/a.rs"),
        ("nothing in src/a.rs may panic", "src/a.rs"),
        ("lines in src/a.rs should be left aligned", "src/a.rs"),
        ("keep the tests green", "tests/a.rs"),
        ("src/a.rs must stay small", "src/a.rs"),
        (
            "the functions in src/a.rs must not be longer than 40 lines",
            "src/a.rs",
        ),
        ("don't add tests", "tests/a.rs"),
        ("do not change the behaviour", "src/behaviour.rs"),
        ("", "src/a.rs"),
    ];
    all_hold(&cases, |constraint, file| !touches(constraint, file));
}

#[test]
fn a_constraint_on_existing_tests_permits_new_ones() {
    let new = ActionSketch {
        action_type: ActionType::Write,
        ..edit("tests/new.rs", "#[test] fn a() {}")
    };
    assert!(!breaks("don't modify existing tests", &new));
    assert!(breaks("don't modify existing tests", &edit("tests/old.rs", "")));
}

#[test]
fn commands_change_files_too() {
    for command in [
        "rm src/auth/a.rs",
        "echo x >> src/auth/a.rs",
        "sed -i s/a/b/ src/auth/a.rs",
        "mv src/auth/a.rs b.rs",
        "cd src && git checkout -- auth/a.rs",
    ] {
        assert!(breaks("Do not touch src/auth/", &bash(command)), "{command}");
    }
    for command in [
        "cat src/auth/a.rs > /tmp/x",
        "cp src/auth/a.rs src/b.rs",
        "cargo test src/auth",
        "git add src/auth",
    ] {
        assert!(!breaks("Do not touch src/auth/", &bash(command)), "{command}");
    }
    assert!(breaks("do not delete src/a.rs", &bash("rm src/a.rs")));
}

#[test]
fn forbidden_commands_are_seen() {
    let cases = [
        ("don't run git push", "cd x && git push origin main"),
        ("Do not push", "git -C x push"),
        ("Don't commit or push", "git push"),
        ("do not commit anything yet", "git commit -m 'a'"),
        ("never force-push", "git push -f"),
        ("no force push", "git push --force-with-lease"),
        ("do not use npm", "npm install"),
        ("don't use `npm run build`", "npm run build"),
        ("never push to main", "git push origin main"),
        ("no network access", "curl https://example.com"),
        ("No network", "wget https://example.com/a"),
        ("don't run the tests", "cargo test"),
        ("do not install anything", "pip install requests"),
        ("no deploys", "fly deploy"),
        ("don't publish", "cargo publish"),
        ("do not delete any files", "rm a.txt"),
        ("never use sudo", "sudo apt-get install x"),
        ("nu da push", "git push"),
        ("nu face commit", "git commit -m x"),
        ("nu folosi npm", "npm ci"),
    ];
    all_hold(&cases, |constraint, command| breaks(constraint, &bash(command)));
}

#[test]
fn other_commands_are_not_forbidden() {
    let cases = [
        ("don't run git push", "git commit -m 'then git push'"),
        ("Do not push", "echo git push"),
        ("never force-push", "git push origin x"),
        ("do not use npm", "pnpm install"),
        ("never push to main", "git push origin feature"),
        ("don't commit secrets", "git commit -m x"),
        ("don't push before the tests pass", "git push"),
        ("no network access", "curl http://localhost:3000/health"),
        ("don't run the tests", "cargo build"),
        ("do not use git stash", "git stash list"),
        ("don't break the build", "cargo build"),
        ("do not call unwrap()", "cargo build"),
        ("don't worry about the tests", "cargo test"),
        ("nu merge salvarea", "git merge x"),
    ];
    all_hold(&cases, |constraint, command| !breaks(constraint, &bash(command)));
}

#[test]
fn forbidden_dependencies_are_seen() {
    for constraint in [
        "no new dependencies",
        "don't add any dependencies",
        "without adding new packages",
        "do not introduce third-party libraries",
        "Don't add new crates.",
        "fără dependențe noi",
        "nu adăuga pachete noi",
    ] {
        assert!(breaks(constraint, &bash("npm install lodash")), "{constraint}");
        assert!(breaks(constraint, &bash("cargo add serde")), "{constraint}");
        let manifest = edit(
            "package.json",
            "  \"dependencies\": {\n    \"lodash\": \"^4.17.0\",\n",
        );
        assert!(breaks(constraint, &manifest), "{constraint}");
        assert!(
            breaks(constraint, &edit("Cargo.toml", "serde = { version = \"1\" }")),
            "{constraint}"
        );
        assert!(!breaks(constraint, &bash("npm install")), "{constraint}");
        assert!(
            !breaks(constraint, &bash("cargo add serde --dry-run")),
            "{constraint}"
        );
        assert!(
            !breaks(constraint, &bash("pip install -r requirements.txt")),
            "{constraint}"
        );
        assert!(
            !breaks(constraint, &edit("Cargo.toml", "version = \"0.2.0\"")),
            "{constraint}"
        );
        assert!(
            !breaks(
                constraint,
                &edit("package.json", "\"scripts\": {\n \"build\": \"2 steps\"\n}")
            ),
            "{constraint}"
        );
    }
    for constraint in [
        "keep lodash out",
        "don't use the lodash library",
        "don't add lodash",
    ] {
        assert!(breaks(constraint, &bash("npm i lodash@4")), "{constraint}");
        assert!(
            breaks(constraint, &edit("a.ts", "import _ from 'lodash';")),
            "{constraint}"
        );
        assert!(!breaks(constraint, &bash("npm i left-pad")), "{constraint}");
    }
    assert!(!breaks(
        "no dependencies between crates",
        &bash("cargo add serde")
    ));
    assert!(!breaks("don't change the package layout", &bash("npm i x")));
}

#[test]
fn the_newest_instruction_forbids_and_allows() {
    let auth = edit("src/auth.rs", "");
    let said = ["Do not touch src/auth.rs"];
    assert!(broken(&said, "ok, now change src/auth.rs after all", &auth).is_empty());
    assert!(broken(&said, "now fix src/auth.rs too", &auth).is_empty());
    assert_eq!(
        broken(&said, "go on, and keep src/auth.rs out of it", &auth).len(),
        1
    );
    let repeated = "Fix the parser. Don't touch src/auth.rs.";
    assert_eq!(
        broken(&said, repeated, &auth).len(),
        1,
        "to say it again lifts nothing"
    );
    assert!(broken(&[], repeated, &edit("src/parser.rs", "")).is_empty());
    for story in [
        "It doesn't change src/auth.rs, why?",
        "I did not touch src/auth.rs.",
        "Why don't you edit src/auth.rs?",
    ] {
        assert!(broken(&[], story, &auth).is_empty(), "{story}");
    }
    // Bold text in a plan describes the program; it is not an instruction.
    let plan = "The exporter writes files, but it **does not commit any changes**.";
    assert!(broken(&[], plan, &bash("git commit -m x")).is_empty());
    assert!(broken(&["don't push"], "push it now", &bash("git push")).is_empty());
    assert!(!broken(&["don't push"], "don't push it now", &bash("git push")).is_empty());
}

#[test]
fn a_reason_quotes_the_constraint() {
    let found = broken(
        &["Do not touch src/Auth/."],
        "",
        &edit("/home/me/p/src/Auth/A.rs", ""),
    );
    assert_eq!(
        found[0].reason,
        "src/Auth/A.rs is changed in violation of \"Do not touch src/Auth/\""
    );
    assert_eq!(found[0].file.as_deref(), Some("src/Auth/A.rs"));
    assert_eq!((found[0].rule, found[0].at_most), (Rule::Constraint, 3));
}

/// Whether the rules forbid an action after these prompts. `constraint` is the one extracted from the first prompt.
fn is_forbidden_after(constraint: &str, said: &[&str], action: &ActionSketch) -> bool {
    let contract = GoalContract {
        goal: "Fix the login".to_owned(),
        instructions: said.iter().map(|text| (*text).to_owned()).collect(),
        constraints: vec![constraint.to_owned()],
        ..GoalContract::default()
    };
    let mut rules = crate::Rules::new(contract, Some("/home/me/p"));
    let found = rules.assess(action, None).findings;
    found.iter().any(|finding| finding.rule == Rule::Constraint)
}

#[test]
fn a_later_prompt_lifts_a_constraint_by_kind_name_or_path() {
    let tests = edit("tests/login.rs", "#[test]");
    let first = "Fix the login. Don't touch the tests.";
    assert!(is_forbidden_after("Don't touch the tests", &[first], &tests));
    for later in [
        "OK, now update the tests too",
        "update tests/login.rs",
        "Add tests for it",
        "Also fix the tests, please",
    ] {
        assert!(
            !is_forbidden_after("Don't touch the tests", &[first, later], &tests),
            "{later}"
        );
    }
    for later in [
        "run the tests",
        "make the tests pass",
        "fix the parser too",
        "why do the tests fail?",
        "fix it, but not the tests",
    ] {
        assert!(
            is_forbidden_after("Don't touch the tests", &[first, later], &tests),
            "{later}"
        );
    }
    let said = [
        "Repară login-ul. Nu atinge testele.",
        "Bine, acum actualizează și testele",
    ];
    assert!(!is_forbidden_after("Nu atinge testele", &said, &tests));
    let said = [
        "Fix the login. Leave the auth module alone.",
        "OK, now refactor auth as well",
    ];
    assert!(!is_forbidden_after(
        "Leave the auth module alone",
        &said,
        &edit("src/auth/a.rs", "")
    ));
}

#[test]
fn a_lifted_constraint_stays_lifted_until_it_is_repeated() {
    let tests = edit("tests/login.rs", "#[test]");
    let said = [
        "Fix the login. Don't touch the tests.",
        "update tests/login.rs",
        "also add a case for an empty password",
    ];
    assert!(!is_forbidden_after("Don't touch the tests", &said, &tests));
    let again = [said[0], said[1], "Good. From here on don't touch the tests."];
    assert!(is_forbidden_after("Don't touch the tests", &again, &tests));
    let push = bash("git push");
    let said = ["Fix it, don't push", "push it", "fix the typo in the docs"];
    assert!(!is_forbidden_after("don't push", &said, &push));
    assert!(!is_forbidden_after(
        "don't push",
        &[said[0], "fix the typo and update the PR"],
        &push
    ));
    assert!(is_forbidden_after("don't push", &[said[0], said[2]], &push));
}

#[test]
fn a_limit_to_one_place_ends_where_another_is_named() {
    let session = edit("src/session.rs", "");
    let first = "Only change src/auth.rs";
    assert!(is_forbidden_after(first, &[first], &session));
    assert!(!is_forbidden_after(
        first,
        &[first, "Now do the same for src/session.rs"],
        &session
    ));
    assert!(is_forbidden_after(
        first,
        &[first, "now rename the function in src/auth.rs"],
        &session
    ));
    assert!(is_forbidden_after(first, &[first, "add a retry"], &session));
}

#[test]
fn a_request_before_a_constraint_does_not_lift_it() {
    let said = [
        "update the tests in tests/login.rs",
        "and from now on don't touch the tests",
    ];
    assert!(is_forbidden_after(
        "don't touch the tests",
        &said,
        &edit("tests/login.rs", "")
    ));
    // A constraint that is in no prompt applies from the time it is first set.
    let mut contract = GoalContract {
        instructions: vec!["update tests/login.rs".to_owned()],
        ..GoalContract::default()
    };
    let mut rules = crate::Rules::new(contract.clone(), Some("/home/me/p"));
    contract.constraints = vec!["hands off tests/".to_owned()];
    rules.set_contract(contract.clone());
    let score = |rules: &mut crate::Rules| rules.assess(&edit("tests/login.rs", ""), None).score;
    assert_eq!(score(&mut rules), 3);
    for (later, expected) in [("update tests/login.rs after all", 10), ("and add a case", 10)] {
        contract.instructions.push(later.to_owned());
        rules.set_contract(contract.clone());
        assert_eq!(score(&mut rules), expected, "{later}");
    }
}

#[test]
fn what_is_pasted_forbids_nothing() {
    let pasted = "CI fails with this, please fix it:\n\
        error: do not modify Cargo.lock in --locked mode\n\
        // Do not edit src/gen/api.ts\n\
        # never touch src/a.rs\n\
        /*\n * Do not edit src/b.rs\n */\n\
        [2026-01-31 12:00:01] do not change src/c.rs\n\
        12:00:01.500 do not change src/d.rs\n";
    for file in [
        "Cargo.lock",
        "src/gen/api.ts",
        "src/a.rs",
        "src/b.rs",
        "src/c.rs",
        "src/d.rs",
    ] {
        assert!(broken(&[], pasted, &edit(file, "")).is_empty(), "{file}");
    }
}

#[test]
fn half_a_sentence_of_a_long_text_forbids_nothing() {
    let padding = "This tells how the relay counts its frames. ".repeat(400);
    let sentence = "Do not change src/auth/ unless a test asks for it, which it does today. ";
    // Wherever the text is truncated, the sentence is parsed completely or not at all.
    for shift in 0..sentence.len() {
        let head = &padding[..8 * 1024 - shift];
        let text = format!("{head}. {sentence}{padding}{padding}");
        let read = super::sentences::sentences(&text);
        let half = read
            .iter()
            .find(|read| sentence.trim_end().starts_with(read.as_str()) && read.len() + 2 < sentence.len());
        assert_eq!(half, None, "{shift}");
    }
}

/// Whether a prompt with a constraint forbids an action after later prompts.
fn forbidden_after(prompt: &str, constraint: &str, later: &[&str], action: &ActionSketch) -> bool {
    let root = ProjectRoot::new(Some("/home/me/p"));
    let instructions = [prompt].into_iter().chain(later.iter().copied());
    let contract = GoalContract {
        instructions: instructions.map(str::to_owned).collect(),
        constraints: vec![constraint.to_owned()],
        ..GoalContract::default()
    };
    let compiled = CompiledContract::new(&root, &contract, &[], &ConstraintAges::default());
    let action = AnalyzedAction::new(&root, action);
    !compiled
        .limits
        .findings(&root, &action, &compiled, &History::default())
        .is_empty()
}

#[test]
fn a_request_for_an_explanation_only_forbids_changes() {
    let mut wrong = Vec::new();
    for (prompt, constraint) in [
        (
            "Explain how the login works. Don't change anything.",
            "Don't change anything",
        ),
        (
            "explain how I would add a provider; do not modify any files",
            "do not modify any files",
        ),
        (
            "Can you explain the login without changing anything?",
            "without changing anything",
        ),
        ("Review only; the rest is mine", "Review only"),
        ("How does the cache work? Read only.", "Read only"),
        (
            "This is a read-only task: describe the modules",
            "This is a read-only task",
        ),
        ("Look at src/auth.rs, no edits please", "no edits please"),
        ("No code changes. What does the parser do?", "No code changes"),
        ("Make no changes, I only want to understand it", "Make no changes"),
        (
            "just look at the login and tell me what you think",
            "just look at the login",
        ),
        (
            "Only analyze the performance of src/db/",
            "Only analyze the performance of src/db/",
        ),
        ("Nur erklären, nichts ändern", "nichts ändern"),
        ("Nur erklären bitte", "Nur erklären"),
        ("Erkläre den Login. Bitte ändere nichts.", "ändere nichts"),
        ("Keine Änderungen! Wie geht das?", "Keine Änderungen"),
        ("Explică login-ul, nu schimba nimic", "nu schimba nimic"),
        ("Explică login-ul, fără modificări", "fără modificări"),
        (
            "Don't touch anything yet, tell me how you would do it",
            "Don't touch anything yet",
        ),
        (
            "Please do not edit or create any files, just explain",
            "do not edit or create any files",
        ),
        ("Change nothing. Why is it slow?", "Change nothing"),
        (
            "Don't write any code, explain the options",
            "Don't write any code",
        ),
        ("Explique le login, ne change rien", "ne change rien"),
        ("Explícame el login, no toques nada", "no toques nada"),
        ("Spiega il login, non modificare niente", "non modificare niente"),
        ("Explica o login, não mude nada", "não mude nada"),
        ("Wyjaśnij logowanie, niczego nie zmieniaj", "niczego nie zmieniaj"),
        ("Leg de login uit, niets wijzigen", "niets wijzigen"),
        ("解释一下登录，什么都不要改", "什么都不要改"),
        ("ログインを説明して。何も変更しないで", "何も変更しないで"),
    ] {
        for (actions, expected) in [
            (
                vec![
                    edit("src/login.rs", "x"),
                    bash("rm src/login.rs"),
                    bash("mv src/a.rs src/b.rs"),
                    bash("sed -i s/a/b/ src/a.rs"),
                    bash("git commit -am x"),
                    bash("echo x > notes.md"),
                ],
                true,
            ),
            (
                vec![
                    bash("cat src/a.rs | grep x"),
                    bash("git log --oneline && git diff"),
                    bash("cargo test 2>/dev/null"),
                    bash("git stash list"),
                    edit("/tmp/notes.md", "x"),
                    bash("cargo build > /tmp/log.txt"),
                    edit("/home/me/.claude/plans/x.md", "x"),
                ],
                false,
            ),
        ] {
            for action in actions {
                if forbidden_after(prompt, constraint, &[], &action) != expected {
                    wrong.push(format!("{prompt}: {:?} {:?}", action.command, action.files));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_narrower_limit_does_not_forbid_every_change() {
    let cases = [
        (
            "Fix the login. Don't change anything else.",
            "Don't change anything else",
        ),
        (
            "Fix the login and don't change anything besides src/login.rs",
            "don't change anything besides src/login.rs",
        ),
        (
            "Don't change anything in src/db/. Fix the rest.",
            "Don't change anything in src/db/",
        ),
        (
            "Don't change the API of the parser",
            "Don't change the API of the parser",
        ),
        (
            "Make it faster without changing any behaviour",
            "without changing any behaviour",
        ),
        (
            "Refactor the parser without changing anything in its output",
            "without changing anything in its output",
        ),
        ("Fix the tests. Don't change anything.", "Don't change anything"),
        (
            "No changes to the public API please",
            "No changes to the public API please",
        ),
        ("no breaking changes", "no breaking changes"),
        (
            "Don't change the file that I mentioned",
            "Don't change the file that I mentioned",
        ),
        (
            "just look at the failing test first, then fix it",
            "just look at the failing test first",
        ),
        ("Just read the ticket and implement it", "Just read the ticket"),
        (
            "Only review comments of Ana are to be addressed",
            "Only review comments of Ana are to be addressed",
        ),
        (
            "Don't make any further changes to the schema, but finish the form",
            "Don't make any further changes to the schema",
        ),
        ("don't edit files outside src/", "don't edit files outside src/"),
        (
            "Don't change anything unless the tests fail",
            "Don't change anything unless the tests fail",
        ),
        ("Don't change anything, only the docs", "Don't change anything"),
        (
            "can you check whether these tests could be joined? don't change anything, just let me know\nNow: I'd like to integrate 1.+2. and for 3 I'd like to create a general test",
            "don't change anything",
        ),
    ];
    let login = edit("src/login.rs", "x");
    all_hold(&cases, |prompt, constraint| {
        !forbidden_after(prompt, constraint, &[], &login)
    });
}

#[test]
fn a_request_in_the_goal_lifts_the_read_only_constraint_if_there_are_no_instructions() {
    let root = ProjectRoot::new(Some("/home/me/p"));
    let contract = |goal: &str| GoalContract {
        goal: goal.to_owned(),
        constraints: vec!["don't change anything".to_owned()],
        ..GoalContract::default()
    };
    for (goal, expected) in [
        (
            "Can these tests be joined? don't change anything\nNow: I'd like to create a general test.",
            false,
        ),
        ("Can these tests be joined? don't change anything", true),
        ("Look at the tests", true),
    ] {
        let compiled = CompiledContract::new(&root, &contract(goal), &[], &ConstraintAges::default());
        assert_eq!(compiled.limits.look_only().is_some(), expected, "{goal}");
    }
}

#[test]
fn looking_only_ends_when_a_change_is_asked_for() {
    let first = "Explain how the login works. Don't change anything.";
    let is_forbidden =
        |later: &[&str]| forbidden_after(first, "Don't change anything", later, &edit("src/login.rs", "x"));
    for next in [
        "And how does logout work?",
        "Show me the tests",
        "explain it again in more detail",
    ] {
        assert!(is_forbidden(&[next]), "{next}");
    }
    for next in [
        "Now fix the timeout",
        "ok, implement it",
        "Can you add a test for that?",
        "yes, go ahead",
        "do it",
        "Acum repară login-ul",
        "dale",
        "vas-y",
    ] {
        assert!(!is_forbidden(&[next]), "{next}");
    }
    assert!(is_forbidden(&[
        "Now fix the timeout",
        "Explain logout. Don't change anything."
    ]));
}

#[test]
fn a_yes_lifts_what_had_to_be_asked_first() {
    let first = "Take the SDK out of the app. Ask before you delete any file.";
    let removal = bash("git rm src/crash.ts");
    let is_forbidden =
        |later: &[&str]| forbidden_after(first, "Ask before you delete any file", later, &removal);
    assert!(is_forbidden(&[]));
    for next in ["And the readme?", "no, keep it", "don't delete it yes or no"] {
        assert!(is_forbidden(&[next]), "{next}");
    }
    for next in [
        "ok saw your question: yes crash.ts can go",
        "Yes, delete it",
        "ja, weg damit",
    ] {
        assert!(!is_forbidden(&[next]), "{next}");
    }
}

#[test]
fn what_alone_may_change_is_forbidden_by_no_other_limit() {
    let root = ProjectRoot::new(Some("/home/me/p"));
    let prompt = "修复小数的问题，只改 export/excel.py，别的文件先别动。";
    let contract = GoalContract {
        instructions: vec![prompt.to_owned()],
        constraints: vec!["只改 export/excel.py".to_owned(), "别的文件先别动".to_owned()],
        ..GoalContract::default()
    };
    let compiled = CompiledContract::new(&root, &contract, &[], &ConstraintAges::default());
    let breaks = |path: &str| {
        let sketch = edit(path, "x");
        let action = AnalyzedAction::new(&root, &sketch);
        let limits = &compiled.limits;
        !limits
            .findings(&root, &action, &compiled, &History::default())
            .is_empty()
    };
    assert!(!breaks("export/excel.py"));
    assert!(breaks("export/csv.py"));
}

#[test]
fn a_limit_to_a_place_ends_when_the_user_names_another_one() {
    let first = "Add dark mode. Work only inside src/theme please.";
    let constraint = "Work only inside src/theme";
    let change = edit("src/search/index.js", "x");
    let is_forbidden = |later: &[&str]| forbidden_after(first, constraint, later, &change);
    for next in [
        "Looks good, go on",
        "see src/search/README.md for the markup",
        "don't touch src/search",
    ] {
        assert!(is_forbidden(&[next]), "{next}");
    }
    assert!(!is_forbidden(&[
        "Next: the search box. That one is in src/search."
    ]));
}

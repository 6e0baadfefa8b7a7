//! Undoing what was forbidden, and what the agent made itself.

use super::*;
use crate::analyzed_action::tests::replacement;

fn write(file: &str, content: &str) -> ActionSketch {
    ActionSketch {
        action_type: ActionType::Write,
        ..edit(file, content)
    }
}

fn changed_back() -> ActionSketch {
    edit("/home/me/p/src/db/pool.rs", "const MAX: usize = 5;")
}

#[test]
fn undoing_a_violation_is_not_a_violation() {
    let made = write("/home/me/p/src/db/new.rs", "pub fn pool() {}");
    let changed = edit("/home/me/p/src/db/pool.rs", "const SIZE: usize = 50;");
    for (breach, undoing) in [
        (&made, bash("rm src/db/new.rs")),
        (&made, bash("rm -f /home/me/p/src/db/new.rs")),
        (&made, bash("git stash")),
        (&changed, bash("git checkout -- src/db/pool.rs")),
        (&changed, bash("git checkout HEAD -- src/db/pool.rs")),
        (&changed, bash("git restore src/db/pool.rs")),
        (&changed, bash("git restore src/db/")),
        (&changed, bash("git checkout -- src/db")),
        (
            &changed,
            edit("/home/me/p/src/db/pool.rs", "const SIZE: usize = 5;"),
        ),
    ] {
        let mut rules = without_the_database();
        assert!(is_fact(&rules.assess(breach, Some("1"))));
        rules.request_revert();
        let undone = rules.assess(&undoing, Some("2"));
        assert!(!is_fact(&undone), "{undoing:?}: {undone:?}");
        // The same holds for a subagent.
        let mut rules = without_the_database();
        rules.assess_subagent(breach);
        rules.request_revert();
        assert!(!is_fact(&rules.assess_subagent(&undoing)), "{undoing:?}");
    }
}

#[test]
fn an_action_that_does_not_undo_the_agents_change_is_a_violation() {
    let made = write("/home/me/p/src/db/new.rs", "pub fn pool() {}");
    let changed = edit("/home/me/p/src/db/pool.rs", "const SIZE: usize = 50;");
    for (breach, action) in [
        (&made, bash("rm -rf src/db")),
        (&made, bash("rm src/db/new.rs src/db/old.rs")),
        (&made, bash("git checkout -- src/db/old.rs")),
        (&changed, bash("rm src/db/pool.rs")),
        (&changed, bash("git checkout main~3 -- src/db/pool.rs")),
        (
            &changed,
            edit("/home/me/p/src/db/pool.rs", "const SIZE: usize = 50; // more"),
        ),
        (&changed, edit("/home/me/p/src/db/other.rs", "x")),
    ] {
        let mut rules = without_the_database();
        rules.assess(breach, Some("1"));
        rules.request_revert();
        assert!(is_fact(&rules.assess(&action, Some("2"))), "{action:?}");
    }
    // An edit counts as a revert only after a requested revert, and once per change. A failed call changed nothing.
    let mut rules = without_the_database();
    let back = edit("/home/me/p/src/db/pool.rs", "const SIZE: usize = 5;");
    rules.assess(&changed, Some("1"));
    assert!(is_fact(&rules.assess(&back, Some("2"))));
    rules.request_revert();
    assert!(!is_fact(&rules.assess(&changed_back(), Some("3"))));
    assert!(is_fact(&rules.assess(&changed_back(), Some("4"))));
    let mut rules = without_the_database();
    rules.assess(&made, Some("1"));
    rules.record_result("1", true);
    assert!(is_fact(&rules.assess(&bash("rm src/db/new.rs"), Some("2"))));
}

#[test]
fn reverting_the_whole_work_tree_reverts_the_violation() {
    let change = edit("/home/me/p/src/db/pool.rs", "const SIZE: usize = 50;");
    for (command, is_back) in [
        ("git stash", true),
        ("git stash push -u", true),
        ("git checkout .", true),
        ("git checkout -- .", true),
        ("git restore .", true),
        ("git stash && cargo build && git stash pop", false),
        ("git stash list", false),
        ("git checkout -", false),
        ("git checkout main", false),
    ] {
        let mut rules = without_the_database();
        assert!(is_fact(&rules.assess(&change, Some("1"))));
        rules.assess(&bash(command), Some("2"));
        let expected: &[&str] = if is_back { &["src/db/pool.rs"] } else { &[] };
        assert_eq!(rules.reverted_files(), expected, "{command}");
    }
}

#[test]
fn bringing_back_what_was_removed_or_moved_is_not_a_violation() {
    for (breach, undoing) in [
        ("rm src/db/pool.rs", "git checkout -- src/db/pool.rs"),
        ("rm src/db/pool.rs", "git restore src/db/pool.rs"),
        ("rm -r src/db", "git checkout -- src/db"),
        ("rm -r src/db", "git restore src/db/pool.rs"),
        ("git rm -q src/db/pool.rs", "git checkout HEAD -- src/db/pool.rs"),
        ("mv src/db/pool.rs src/pool.rs", "mv src/pool.rs src/db/pool.rs"),
        (
            "git mv src/db/pool.rs src/pool.rs",
            "git mv src/pool.rs src/db/pool.rs",
        ),
        ("mv src/pool.rs src/db/pool.rs", "mv src/db/pool.rs src/pool.rs"),
        ("cp src/pool.rs src/db/copy.rs", "rm src/db/copy.rs"),
        ("sed -i s/5/50/ src/db/pool.rs", "git checkout src/db/pool.rs"),
    ] {
        let mut rules = without_the_database();
        assert!(is_fact(&rules.assess(&bash(breach), Some("1"))), "{breach}");
        let undone = rules.assess(&bash(undoing), Some("2"));
        assert!(!is_fact(&undone), "{breach}; {undoing}: {undone:?}");
        assert!(!rules.reverted_files().is_empty(), "{breach}; {undoing}");
    }
    for (breach, action) in [
        ("rm src/db/pool.rs", "rm src/db/other.rs"),
        ("rm src/db/pool.rs", "mv src/pool.rs src/db/pool.rs"),
        ("mv src/db/pool.rs src/pool.rs", "mv src/db/other.rs src/pool.rs"),
        ("mv src/db/pool.rs src/pool.rs", "rm src/db/pool.rs"),
    ] {
        let mut rules = without_the_database();
        rules.assess(&bash(breach), Some("1"));
        assert!(
            is_fact(&rules.assess(&bash(action), Some("2"))),
            "{breach}; {action}"
        );
    }
}

#[test]
fn taking_back_a_forbidden_commit_is_not_a_violation() {
    let rules = |constraint: &str| {
        let contract = GoalContract {
            goal: "Explain the login".to_owned(),
            instructions: vec![format!("Explain the login. {constraint}")],
            constraints: vec![constraint.to_owned()],
            ..GoalContract::default()
        };
        Rules::new(contract, Some("/home/me/p"))
    };
    for constraint in ["Don't commit anything", "Don't change anything"] {
        for undoing in [
            "git reset --soft HEAD~1",
            "git reset HEAD~",
            "git reset --mixed HEAD^",
            "git revert --no-edit HEAD",
            "git revert HEAD --no-commit",
        ] {
            let mut rules = rules(constraint);
            let breach = rules.assess(&bash("git commit -qam wip"), Some("1"));
            assert!(is_fact(&breach), "{constraint}");
            let undone = rules.assess(&bash(undoing), Some("2"));
            assert!(!is_fact(&undone), "{constraint}; {undoing}: {undone:?}");
            assert_eq!(rules.reverted_files(), [crate::FORBIDDEN_COMMIT], "{undoing}");
            // Only once for each commit.
            rules.assess(&bash(undoing), Some("3"));
            assert!(rules.reverted_files().is_empty(), "{undoing}");
        }
    }
    let mut rules = rules("Don't commit anything");
    rules.assess(&bash("git commit -qam wip"), Some("1"));
    assert!(is_fact(&rules.assess(&bash("git commit -qam more"), Some("2"))));
    rules.assess(&bash("git reset"), Some("3"));
    assert!(rules.reverted_files().is_empty(), "only the index is reset");
}

#[test]
fn an_edit_that_puts_the_replaced_text_back_is_not_a_violation() {
    let replace = |before: &str, after: &str| replacement("/home/me/p/src/db/pool.rs", before, after);
    let mut rules = without_the_database();
    assert!(is_fact(
        &rules.assess(&replace("SIZE = 5", "SIZE = 50"), Some("1"))
    ));
    assert!(is_fact(
        &passed_on(&rules, Some("/home/me/p")).assess(&replace("SIZE = 50", "SIZE = 9"), None)
    ));
    // The agent noticed it before it was asked to.
    let mut rules = passed_on(&rules, Some("/home/me/p"));
    assert!(!is_fact(
        &rules.assess(&replace("SIZE = 50", "SIZE = 5"), Some("2"))
    ));
    assert_eq!(rules.reverted_files(), ["src/db/pool.rs"]);
    assert!(is_fact(
        &rules.assess(&replace("SIZE = 5", "SIZE = 50"), Some("3"))
    ));
}

#[test]
fn a_subagent_may_remove_what_it_made() {
    let mut rules = Rules::new(contract(&["src/parser.rs"], &[], &[], &[]), Some("/home/me/p"));
    let removal = bash("rm -rf ../demo");
    assert_eq!(rules.assess_subagent(&removal).score, 3);
    rules.assess_subagent(&ActionSketch {
        effects: vec![EffectKind::Write],
        ..bash("mkdir ../demo")
    });
    assert_eq!(rules.assess_subagent(&removal), Assessment::on_goal());
    assert_eq!(rules.assess(&removal, None).score, 10);
}

#[test]
fn touching_an_existing_path_does_not_count_as_creating_it() {
    for (made, removal) in [
        ("mkdir -p ~/Documents", "rm -rf ~/Documents"),
        ("mkdir --parents /srv/data", "rm -rf /srv/data"),
        ("touch /srv/data", "rm -rf /srv/data"),
        ("mkdir -p src", "rm -rf src"),
    ] {
        let mut rules = Rules::new(contract(&[], &[], &[], &[]), Some("/home/me/p"));
        rules.assess(&bash(made), None);
        assert!(is_fact(&rules.assess(&bash(removal), None)), "{made}; {removal}");
    }
    let mut rules = Rules::new(contract(&[], &[], &[], &[]), Some("/home/me/p"));
    rules.assess(&bash("mkdir /srv/data && touch /srv/data/a"), None);
    assert!(!is_fact(&rules.assess(&bash("rm -rf /srv/data"), None)));
    let mut rules = without_the_database();
    rules.assess(&bash("touch src/db/pool.rs"), None);
    assert!(is_fact(&rules.assess(&bash("rm src/db/pool.rs"), None)));
}

//! Work that git would throw away, here or on the server.

use super::*;

#[test]
fn a_commit_that_was_amended_may_go_out_by_lease() {
    let mut rules = Rules::new(GoalContract::default(), Some("/home/me/p"));
    assert_eq!(rules.assess(&bash("git push --force-with-lease"), None).score, 4);
    rules.assess(&bash("git commit --amend --no-edit"), None);
    assert_eq!(rules.assess(&bash("git push --force-with-lease"), None).score, 10);
    assert_eq!(rules.assess(&bash("git push --force"), None).score, 3);
}

#[test]
fn a_line_that_amends_a_commit_may_push_it_with_lease() {
    let line = "git commit --amend --no-edit && git push --force-with-lease";
    assert_eq!(score("Address the comments", &[], &bash(line)), 10);
    assert_eq!(
        score(
            "Address the comments",
            &[],
            &bash("git add . && git push --force-with-lease")
        ),
        4
    );
}

#[test]
fn what_is_not_committed_is_not_thrown_away_in_any_spelling() {
    for command in [
        "git checkout .",
        "git checkout HEAD .",
        "git checkout -f",
        "git checkout --force main",
        "git switch -f main",
        "git switch --discard-changes main",
        "git checkout -- src",
        "git checkout HEAD src",
        "git restore src",
        "git restore src/",
        "git restore -S -W .",
        "git stash drop",
        "git clean -f",
        "git branch keep && git reset --hard",
        "git tag keep; git reset --hard",
        "git commit --dry-run; git reset --hard",
        "git stash list; git reset --hard",
    ] {
        let found = score("Fix the parser", &[], &bash(command));
        assert!(found <= 4, "{command}: {found}");
    }
    for command in [
        "git checkout -b fix",
        "git checkout -bfix",
        "git checkout main",
        "git checkout main -- src/a.rs",
        "git restore src/a.rs",
        "git restore --staged .",
        "git switch feature",
        "git switch -c fix",
        "git stash apply && git stash drop",
        "git stash && git reset --hard",
        "git commit -am wip && git reset --hard HEAD~1",
    ] {
        assert_eq!(score("Fix the parser", &[], &bash(command)), 10, "{command}");
    }
}

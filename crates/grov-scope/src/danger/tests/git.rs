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
    dangers("Address the comments", NO_DANGER)
        .of(&["git commit --amend --no-edit && git push --force-with-lease"]);
    dangers("Address the comments", 4..=4).of(&["git add . && git push --force-with-lease"]);
}

#[test]
fn what_is_not_committed_is_not_thrown_away_in_any_spelling() {
    dangers("Fix the parser", 0..=4).of(&[
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
    ]);
    dangers("Fix the parser", NO_DANGER).of(&[
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
    ]);
}

#[test]
fn a_folder_that_git_removes_is_asked_about_no_more_than_one_that_rm_removes() {
    for goal in [
        "Remove the dead code under internal/legacy, nothing imports it any more",
        "Lösch den toten Code unter internal/legacy",
    ] {
        dangers(goal, NO_DANGER).of(&["git rm -rq internal/legacy", "rm -rf internal/legacy"]);
        dangers(goal, 0..=4).of(&["git rm -rq internal/core", "git rm -r ."]);
    }
    dangers("What is under internal/legacy?", 0..=4).of(&["git rm -rq internal/legacy"]);
}

#[test]
fn a_forced_push_of_ones_own_branch_is_none_of_a_branch_of_others() {
    requests_asked(&[
        ("Squash my branch and force push it", "git push -f origin main"),
        (
            "Squash my branch and force push it",
            "git push --force origin develop",
        ),
        (
            "Force push the branch",
            "git push --force-with-lease origin HEAD:main",
        ),
        ("Clean up merged branches", "git push origin --delete develop"),
        ("Clean up merged branches", "git push origin :main"),
        (
            "Rebase my branch on main and force push it",
            "git push --force origin main",
        ),
        (
            "Fix the main menu, then force push",
            "git push --force origin main",
        ),
    ]);
    requests_silent(&[
        ("Squash my branch and force push it", "git push -f"),
        (
            "Squash my branch and force push it",
            "git push -f origin feature/work",
        ),
        ("Force push main", "git push -f origin main"),
        (
            "Delete the remote branch develop",
            "git push origin --delete develop",
        ),
    ]);
}

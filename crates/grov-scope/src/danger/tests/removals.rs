//! Removed files and folders: where they lie, and whose they are.

use super::*;

#[test]
fn a_removal_outside_the_expected_scope_is_a_minor_finding() {
    let removal = bash("rm -rf web/legacy");
    assert_eq!(score("Fix the parser", &["src/parser.rs"], &removal), 7);
    assert_eq!(score("Fix the parser", &[], &removal), 10);
    assert_eq!(score("Remove the old pages", &["src/parser.rs"], &removal), 10);
    assert_eq!(score("Fix the pages", &["web/"], &removal), 10);
    let again = bash("rm -rf demo && mkdir demo");
    assert_eq!(score("Fix the parser", &["src/parser.rs"], &again), 10);
}

#[test]
fn recreating_a_folder_does_not_excuse_its_removal() {
    dangers_at_most(&[
        ("rm -rf / ; mkdir /", 1),
        ("rm -rf ~ && mkdir ~", 1),
        ("rm -rf . && mkdir .", 1),
        ("mkdir -p .git && rm -rf .git", 1),
        ("mkdir -p ~/Documents && rm -rf ~/Documents", 3),
        ("rm -rf src && mkdir src", 4),
    ]);
    dangers("Fix the parser", NO_DANGER).of(&[
        "rm -rf target && mkdir target",
        "rm -rf /tmp/try && mkdir -p /tmp/try",
    ]);
}

#[test]
fn removals_that_are_part_of_the_work_are_not_dangers() {
    for (goal, scope, command) in [
        (
            "Upgrade react to 19 in package.json",
            "package.json",
            "rm -rf node_modules package-lock.json && npm install",
        ),
        (
            "Bump react in package.json",
            "package.json",
            "rm -rf package-lock.json",
        ),
        (
            "Implement the plan in docs/plan.md",
            "docs/plan.md",
            "rm -rf src/legacy",
        ),
        ("Tidy up scripts/", "scripts/", "rm -rf scripts/old tools/legacy"),
        ("Rename module auth to session", "src/auth.rs", "rm -rf src/auth"),
    ] {
        assert_eq!(score(goal, &[scope], &bash(command)), 10, "{goal}: {command}");
    }
}

#[test]
fn the_sources_as_a_whole_are_not_removed_unasked() {
    dangers("Fix the login", 4..=4).of(&["rm -rf src", "rm -rf ./src/", "rm -r -f crates"]);
    RequestedDangers(NO_DANGER).of(&[
        ("Delete the old tests folder", "rm -rf tests"),
        ("Rewrite the server in Rust", "rm -rf src"),
    ]);
    dangers("Fix the login", NO_DANGER).of(&["rm -rf target", "rm -rf src/generated", "rm -rf coverage"]);
}

#[test]
fn a_removal_is_meant_from_the_folder_that_the_line_went_to() {
    dangers("Fix the parser", NO_DANGER).of(&[
        "cd build && rm -rf * && cmake ..",
        "cd /tmp/try && rm -rf ./* && git clone x",
        "cd src/gen && rm -rf *",
        "cd \"$OUT\" && rm -rf *",
        "mkdir -p demo && cd demo && rm -rf ./*",
        "pushd web/dist && rm -rf .",
    ]);
    dangers("Add a dropdown", 1..=1).of(&["rm -rf *"]);
    dangers("Golește folderul", NO_DANGER).of(&["rm -rf *"]);
    dangers_at_most(&[
        ("cd ~ && rm -rf *", 1),
        ("cd src && cd .. && rm -rf *", 1),
        ("cd / && rm -rf ./*", 1),
        ("cd src && rm -rf /", 1),
        ("cd .. && rm -rf other", 3),
        ("cd src && rm -rf ../../other", 3),
    ]);
}

#[test]
fn a_shell_stays_in_the_folder_that_it_went_to() {
    let mut rules = Rules::new(GoalContract::default(), Some("/home/me/p"));
    rules.assess(&bash("cd build"), None);
    assert_eq!(rules.assess(&bash("rm -rf *"), None).score, 10);
    rules.assess(&bash("cd /home/me/p"), None);
    assert_eq!(rules.assess(&bash("rm -rf *"), None).score, 1);
}

#[test]
fn a_nested_shell_does_not_change_the_working_directory() {
    // The removed folder is in the project: `cd` in the nested shell does not affect the outer shell.
    assert_eq!(score("Fix it", &[], &bash("bash -c 'cd /'; rm -rf old")), 10);
    assert_eq!(
        score("Fix it", &[], &bash("bash -c 'cd /srv && rm -rf notes'")),
        3
    );
    let mut rules = Rules::new(GoalContract::default(), Some("/home/me/p"));
    rules.assess(
        &bash("python3 -c \"import os; os.chdir('/tmp'); os.system('ls')\""),
        None,
    );
    assert_eq!(
        rules.assess(&bash("rm -rf ../other"), None).score,
        3,
        "it is where it was"
    );
}

#[test]
fn a_variable_below_a_folder_outside_the_project_is_found() {
    dangers("Fix the parser", 4..=4).of(&[
        "rm -rf /var/www/sessions/$id",
        "awk '{system(\"rm -rf /var/www/sessions/\" $2)}' access.log",
        "rm -rf \"$HOME/work/$name\"",
    ]);
    dangers("Fix the parser", NO_DANGER).of(&[
        "rm -rf /tmp/$id",
        "rm -rf \"$TMP\" $DIR/x /home/me/p/$name",
        "rm -rf ~/.cache/x-$id",
    ]);
}

#[test]
fn a_part_of_the_sources_is_not_removed_unasked() {
    under("Fix the navbar").asked(&[
        "rm -rf src/components",
        "rm -rf app/models",
        "rm -rf server/api",
        "rm -rf packages/ui",
        "rm -r internal/auth",
    ]);
    requests_silent(&[
        ("Fix the navbar", "rm -rf src/dist"),
        ("Fix the navbar", "rm -rf packages/ui/dist"),
        ("Fix the navbar", "rm -rf src/generated"),
        ("Remove the legacy importer", "rm -rf src/importer"),
        ("Move the components into packages/ui", "rm -rf src/components"),
        ("Split the billing package in two", "rm -rf packages/billing"),
        (
            "Use the shared package instead of our own hooks",
            "rm -rf src/hooks",
        ),
    ]);
}

#[test]
fn tidying_code_asks_for_no_removal_of_data() {
    requests_asked(&[
        (
            "Clean up the project, remove dead code and unused files",
            "rm -rf public/uploads",
        ),
        ("Remove the unused imports", "rm -rf backups"),
    ]);
    requests_silent(&[
        ("Delete the old uploads", "rm -rf public/uploads"),
        ("Delete all uploaded images", "rm -rf uploads"),
        ("Remove the postgres volume", "rm -rf pgdata"),
        ("Remove the backups of last year", "rm -rf backups/2023"),
    ]);
}

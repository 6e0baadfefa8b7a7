//! How a goal contract follows prompts, tasks and edits.

use super::*;
use crate::testing::read_intent;
use grov_domain::{ClientSessionId, GoalEditId, GoalEditKind};
use time::OffsetDateTime;

fn builder() -> GoalContractBuilder {
    GoalContractBuilder::new(Arc::new(read_intent))
}

#[test]
fn the_first_prompt_is_the_goal_and_assent_changes_nothing() {
    let mut builder = builder();
    let first = "Fix the token refresh in src/auth/token.ts";
    assert!(builder.add_prompt(first));
    let before = builder.contract().clone();
    assert_eq!(before.goal, first);
    assert_eq!(before.scope, ["src/auth/token.ts"]);
    for assent in ["yes", "continue", "ok"] {
        assert!(!builder.add_prompt(assent));
    }
    assert_eq!(*builder.contract(), before);
}

#[test]
fn a_follow_up_keeps_the_goal_and_opens_its_files() {
    let mut builder = builder();
    builder.add_prompt("Fix the token refresh in src/auth/token.ts");
    builder.add_prompt("also cover the token with a test in tests/token.ts");
    let contract = builder.contract();
    assert!(contract.goal.starts_with("Fix the token"));
    assert_eq!(contract.scope, ["tests/token.ts", "src/auth/token.ts"]);
    assert!(contract.newest_instruction().starts_with("also cover"));
}

#[test]
fn a_prompt_that_turns_elsewhere_is_the_goal_at_once() {
    let mut builder = builder();
    builder.add_prompt("Fix the token refresh in src/auth/token.ts");
    builder.add_prompt("Translate README.md into French");
    assert_eq!(builder.contract().goal, "Translate README.md into French");
}

#[test]
fn what_follows_a_turn_is_not_held_to_the_goal_before_it() {
    let mut builder = builder();
    builder.add_prompt("Fix the token refresh in src/auth/token.ts");
    builder.add_prompt("Translate README.md into French");
    builder.add_prompt("and keep the French headings in README.md short");
    assert_eq!(builder.contract().goal, "Translate README.md into French");
}

#[test]
fn the_task_in_work_gives_the_goal_but_not_over_what_was_just_typed() {
    let mut builder = builder();
    builder.add_prompt("Fix the token refresh in src/auth/token.ts");
    builder.turn_ended();
    let task = Intent {
        goal: "Make the token refresh robust".to_owned(),
        constraints: vec!["no new dependencies".to_owned()],
        ..Intent::default()
    };
    let recorded = [
        "Fix the token refresh in src/auth/token.ts".to_owned(),
        "yes".to_owned(),
    ];
    let recorded = instructions(&builder.reader, &recorded);
    builder.set_task(task.clone(), recorded.clone());
    assert_eq!(builder.contract().goal, "Make the token refresh robust");
    assert_eq!(builder.contract().constraints, ["no new dependencies"]);
    assert_eq!(builder.contract().instructions.len(), 1);

    builder.add_prompt("Translate README.md into French");
    builder.set_task(task, recorded);
    assert_eq!(builder.contract().goal, "Translate README.md into French");
    assert_eq!(builder.contract().instructions.len(), 2);
}

#[test]
fn a_prompt_that_the_store_does_not_show_yet_is_kept_though_its_turn_is_over() {
    let mut builder = builder();
    let (first, second) = ("Fix src/auth/token.ts", "Also edit tests/auth.rs");
    builder.add_prompt(first);
    builder.turn_ended();
    builder.add_prompt(second);
    builder.turn_ended();
    // Asked for when the second one was not recorded yet.
    builder.set_task(Intent::default(), vec![first.to_owned()]);
    assert_eq!(builder.contract().instructions, [first, second]);
    builder.set_task(Intent::default(), vec![first.to_owned(), second.to_owned()]);
    assert_eq!(builder.contract().instructions, [first, second]);
    // It was shown, so what the store says from now on counts.
    builder.set_task(Intent::default(), vec![first.to_owned()]);
    assert_eq!(builder.contract().instructions, [first]);
}

#[test]
fn what_a_fork_inherits_stays_though_no_store_has_it() {
    let mut builder = builder();
    builder.inherit_prompts(&["Fix src/auth/token.ts".to_owned(), "yes".to_owned()]);
    assert!(builder.is_complete());
    assert!(!builder.add_prompt("continue"));
    builder.add_prompt("Also edit tests/auth.rs");
    builder.turn_ended();
    builder.set_task(Intent::default(), vec!["Also edit tests/auth.rs".to_owned()]);
    let both = ["Fix src/auth/token.ts", "Also edit tests/auth.rs"];
    assert_eq!(builder.contract().instructions, both);
    assert_eq!(builder.contract().goal, both[0]);
}

#[test]
fn what_a_history_says_gives_way_to_what_is_stored_of_its_tasks() {
    let mut builder = builder();
    let earlier = ["Fix src/auth/token.ts", "Translate README.md into French"];
    builder.inherit_prompts(&earlier.map(str::to_owned));
    builder.add_prompt("Also edit CHANGELOG.md");
    let task = Intent {
        goal: "Translate the readme".to_owned(),
        ..Intent::default()
    };
    // The first one was of a task that is done.
    builder.resume(task, vec![earlier[1].to_owned()]);
    let instructions = [earlier[1], "Also edit CHANGELOG.md"];
    assert_eq!(builder.contract().instructions, instructions);
}

#[test]
fn what_began_before_it_was_seen_is_not_known_from_the_beginning() {
    let mut builder = builder();
    builder.add_prompt("go ahead");
    builder.resume(Intent::default(), vec!["go ahead".to_owned()]);
    assert!(!builder.is_complete());
    builder.resume(
        Intent::default(),
        vec!["Fix it".to_owned(), "go ahead".to_owned()],
    );
    assert!(builder.is_complete());
}

#[test]
fn what_was_typed_since_can_be_typed_again_into_what_was_asked_for_before() {
    let mut builder = builder();
    let (first, second) = ("Fix src/auth/token.ts", "Translate README.md into French");
    // Nothing is known before it, so it might say something.
    assert!(builder.add_prompt("continue"));
    builder.add_prompt(second);
    let recorded = || vec![first.to_owned(), second.to_owned()];
    let mut before = builder.resume(Intent::default(), recorded());
    assert_eq!(before.contract().instructions, [first]);
    assert_eq!(before.contract().goal, first);
    assert_eq!(builder.contract().instructions, [first, second]);
    for prompt in ["continue", second] {
        before.add_prompt(prompt);
    }
    assert_eq!(before.contract(), builder.contract());
    // The turn is over, and another task is in work: neither is any of its.
    builder.turn_ended();
    builder.switch_task();
    builder.set_task(Intent::default(), vec!["Write CHANGELOG.md".to_owned()]);
    assert_eq!(builder.contract().instructions, ["Write CHANGELOG.md"]);
}

#[test]
fn another_task_leaves_what_was_typed_for_the_last_one() {
    let mut builder = builder();
    builder.add_prompt("Fix the token refresh in src/auth/token.ts");
    builder.turn_ended();
    builder.switch_task();
    let task = Intent {
        goal: "Translate the readme".to_owned(),
        ..Intent::default()
    };
    builder.set_task(task, vec!["Translate README.md into French".to_owned()]);
    let contract = builder.contract();
    assert_eq!(contract.goal, "Translate the readme");
    assert_eq!(contract.instructions, ["Translate README.md into French"]);
    assert_eq!(contract.scope, ["README.md"]);
}

#[test]
fn what_a_person_changed_stands_on_top() {
    let mut builder = builder();
    builder.add_prompt("Fix the token refresh in src/auth/token.ts");
    builder.set_edits(vec![GoalEdit {
        id: GoalEditId::fresh(),
        client_session_id: ClientSessionId::new("s"),
        kind: GoalEditKind::Set,
        text: "Something else".to_owned(),
        at: OffsetDateTime::UNIX_EPOCH,
    }]);
    assert_eq!(builder.contract().goal, "Something else");
    builder.add_prompt("Translate README.md into French");
    assert_eq!(builder.contract().goal, "Something else");
    builder.reset();
    assert_eq!(builder.contract().goal, "Something else");
    assert!(builder.contract().instructions.is_empty());
}

#[test]
fn private_words_are_not_kept_and_long_prompts_are_cut() {
    let mut builder = builder();
    builder.add_prompt(&format!(
        "Fix a.rs <private>{}</private> {}",
        "zebra ".repeat(5000),
        "x ".repeat(40_000)
    ));
    let [kept] = &builder.contract().instructions[..] else {
        panic!("one instruction");
    };
    assert!(!kept.contains("zebra") && kept.len() < 3 * MAX_END_BYTES);
    assert!(!builder.add_prompt(""));
}

//! How a goal contract follows prompts, tasks and edits.

use super::*;
use crate::testing::read_intent;
use grov_domain::{ClientSessionId, GoalEditId, GoalEditKind};
use time::OffsetDateTime;

fn builder() -> GoalContractBuilder {
    GoalContractBuilder::new(Arc::new(read_intent))
}

#[test]
fn the_first_prompt_is_the_goal_and_a_yes_changes_nothing() {
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
fn a_prompt_that_only_says_push_or_ship_it_is_an_instruction() {
    for act in ["push", "ok, ship it", "merge it"] {
        let mut builder = builder();
        builder.add_prompt("Fix the token refresh in src/auth/token.ts");
        builder.add_prompt(act);
        assert_eq!(builder.contract().newest_instruction(), act);
    }
}

#[test]
fn a_follow_up_keeps_the_goal_and_extends_the_scope() {
    let mut builder = builder();
    builder.add_prompt("Fix the token refresh in src/auth/token.ts");
    builder.add_prompt("also cover the token with a test in tests/token.ts");
    let contract = builder.contract();
    assert!(contract.goal.starts_with("Fix the token"));
    assert_eq!(contract.scope, ["tests/token.ts", "src/auth/token.ts"]);
    assert!(contract.newest_instruction().starts_with("also cover"));
}

#[test]
fn a_prompt_that_changes_the_subject_is_the_new_goal() {
    let mut builder = builder();
    builder.add_prompt("Fix the token refresh in src/auth/token.ts");
    builder.add_prompt("Translate README.md into French");
    assert_eq!(builder.contract().goal, "Translate README.md into French");
}

#[test]
fn prompts_after_a_change_of_subject_keep_the_new_goal() {
    let mut builder = builder();
    builder.add_prompt("Fix the token refresh in src/auth/token.ts");
    builder.add_prompt("Translate README.md into French");
    builder.add_prompt("and keep the French headings in README.md short");
    assert_eq!(builder.contract().goal, "Translate README.md into French");
}

#[test]
fn the_active_task_gives_the_goal_unless_a_newer_prompt_changes_the_subject() {
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
fn a_prompt_that_is_not_recorded_yet_is_kept_after_its_turn() {
    let mut builder = builder();
    let (first, second) = ("Fix src/auth/token.ts", "Also edit tests/auth.rs");
    builder.add_prompt(first);
    builder.turn_ended();
    builder.add_prompt(second);
    builder.turn_ended();
    // Read before the second one was recorded.
    builder.set_task(Intent::default(), vec![first.to_owned()]);
    assert_eq!(builder.contract().instructions, [first, second]);
    builder.set_task(Intent::default(), vec![first.to_owned(), second.to_owned()]);
    assert_eq!(builder.contract().instructions, [first, second]);
    // The store has returned it once, so from now on the store decides.
    builder.set_task(Intent::default(), vec![first.to_owned()]);
    assert_eq!(builder.contract().instructions, [first]);
}

#[test]
fn inherited_prompts_are_kept_although_they_are_not_stored() {
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
fn stored_prompts_replace_inherited_ones() {
    let mut builder = builder();
    let earlier = ["Fix src/auth/token.ts", "Translate README.md into French"];
    builder.inherit_prompts(&earlier.map(str::to_owned));
    builder.add_prompt("Also edit CHANGELOG.md");
    let task = Intent {
        goal: "Translate the readme".to_owned(),
        ..Intent::default()
    };
    // The first one belongs to a finished task.
    builder.resume(task, vec![earlier[1].to_owned()]);
    let instructions = [earlier[1], "Also edit CHANGELOG.md"];
    assert_eq!(builder.contract().instructions, instructions);
}

#[test]
fn a_session_without_earlier_prompts_is_not_complete() {
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
fn prompts_since_can_be_replayed_on_the_earlier_contract() {
    let mut builder = builder();
    let (first, second) = ("Fix src/auth/token.ts", "Translate README.md into French");
    // Without earlier prompts, it may have content.
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
    // After the turn, another task is active: neither prompt belongs to it.
    builder.turn_ended();
    builder.switch_task();
    builder.set_task(Intent::default(), vec!["Write CHANGELOG.md".to_owned()]);
    assert_eq!(builder.contract().instructions, ["Write CHANGELOG.md"]);
}

#[test]
fn another_task_drops_earlier_instructions() {
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
fn edits_override_the_prompts() {
    let mut builder = builder();
    builder.add_prompt("Fix the token refresh in src/auth/token.ts");
    builder.set_edits(vec![GoalEdit {
        id: GoalEditId::fresh(),
        client_session_id: ClientSessionId::new("s"),
        kind: GoalEditKind::Set,
        text: "Something else".to_owned(),
        at: OffsetDateTime::UNIX_EPOCH,
        since_prompt: None,
    }]);
    assert_eq!(builder.contract().goal, "Something else");
    builder.add_prompt("Translate README.md into French");
    assert_eq!(builder.contract().goal, "Something else");
    builder.reset();
    assert_eq!(builder.contract().goal, "Something else");
    assert!(builder.contract().instructions.is_empty());
}

#[test]
fn private_text_is_removed_and_long_prompts_are_shortened() {
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

#[test]
fn turning_away_replaces_goal_and_scope_and_keeps_what_binds_any_work() {
    let mut builder = builder();
    builder.add_prompt("Fix the token refresh in src/auth/token.ts. Do not push.");
    builder.add_prompt("And do not change anything outside src/auth/mod.ts");
    builder.add_prompt("Forget that; rather fix the token footer in web/footer.css");
    let contract = builder.contract();
    assert!(contract.goal.contains("footer"), "{contract:?}");
    assert_eq!(contract.scope, ["web/footer.css"]);
    assert!(contract.constraints[0].contains("Do not push"), "{contract:?}");
    assert_eq!(contract.constraints.len(), 1, "{contract:?}");
    assert_eq!(contract.instructions.len(), 3);
    // The next instruction goes on with the new work.
    builder.add_prompt("also the token footer in web/print.css");
    let contract = builder.contract();
    assert!(contract.goal.contains("footer"), "{contract:?}");
    assert_eq!(contract.scope, ["web/print.css", "web/footer.css"]);
}

#[test]
fn turning_away_drops_the_stored_task_until_a_new_one_starts() {
    let mut builder = builder();
    let (first, second) = ("Fix src/auth/token.ts", "Forget that; rather fix web/footer.css");
    builder.add_prompt(first);
    builder.turn_ended();
    let task = |goal: &str, scope: &str| Intent {
        goal: goal.to_owned(),
        scope: vec![scope.to_owned()],
        constraints: vec!["never push".to_owned(), "only change src/auth".to_owned()],
        ..Intent::default()
    };
    builder.set_task(
        task("Make the token robust", "src/auth/lib.ts"),
        vec![first.to_owned()],
    );
    builder.add_prompt(second);
    let contract = builder.contract();
    assert!(contract.goal.contains("footer"), "{contract:?}");
    assert_eq!(contract.scope, ["web/footer.css"]);
    assert_eq!(contract.constraints, ["never push"]);
    builder.turn_ended();
    builder.switch_task();
    builder.set_task(task("Repair the footer", "web/base.css"), vec![second.to_owned()]);
    let contract = builder.contract();
    assert_eq!(contract.scope, ["web/footer.css", "web/base.css"]);
    assert_eq!(contract.constraints, ["never push", "only change src/auth"]);
}

/// What a model reads: the user asks for a push.
fn push_is_asked() -> PromptReading {
    PromptReading {
        asked: vec![grov_domain::ReadRequest {
            words: "push it".to_owned(),
            commands: vec!["^git push$".to_owned()],
            ..Default::default()
        }],
        ..PromptReading::default()
    }
}

#[test]
fn a_request_that_a_model_read_ends_when_the_user_says_no() {
    let first = "Fix the token refresh in src/auth/token.ts and push it";
    let asked = |builder: &GoalContractBuilder| {
        let reading = builder.contract().reading.as_ref();
        reading.map(|read| read.asked.len())
    };
    for objection in ["no", "not yet", "wait", "don't"] {
        // Bare words have no content for the rules' reader.
        let reader = move |question: &IntentQuestion| {
            let prompts = question.prompts.iter().filter(|prompt| *prompt != objection);
            read_intent(&IntentQuestion {
                prompts: prompts.cloned().collect(),
                ..question.clone()
            })
        };
        let mut builder = GoalContractBuilder::new(Arc::new(reader));
        builder.add_prompt(first);
        assert!(builder.set_reading(first, push_is_asked()));
        builder.add_prompt("yes");
        assert_eq!(asked(&builder), Some(1), "a yes withdraws nothing");
        assert!(!builder.add_prompt(objection));
        assert_eq!(asked(&builder), Some(0), "{objection}");
        // The model reads the same prompts again.
        assert!(builder.set_reading(first, push_is_asked()));
        assert_eq!(asked(&builder), Some(0), "{objection}");
    }
}

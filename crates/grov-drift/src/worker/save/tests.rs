use super::*;
use grov_domain::{ActionSketch, ActionType, EffectKind};
use grov_session::capture::prompts;
use time::Duration;

/// Writes a file for a prompt, at that minute.
fn write(prompt: u64, file: &str) -> PerformedAction {
    PerformedAction {
        action: ActionSketch {
            files: vec![file.to_owned()],
            ..ActionSketch::empty(ActionType::Write)
        },
        is_off_goal: false,
        prompt,
        at: minute(prompt),
    }
}

fn commit(prompt: u64) -> PerformedAction {
    let mut done = write(prompt, "");
    done.action = ActionSketch {
        command: Some("git commit -m x".to_owned()),
        effects: vec![EffectKind::VersionControl],
        failed: Some(false),
        ..ActionSketch::empty(ActionType::Bash)
    };
    done
}

fn minute(prompt: u64) -> OffsetDateTime {
    OffsetDateTime::UNIX_EPOCH + Duration::minutes(i64::try_from(prompt).unwrap())
}

/// The record that a turn with this goal left.
fn saved(goal: &str, file: &str, prompt: u64, status: TaskStatus) -> Task {
    let client = grov_domain::ClientSessionId::new("s");
    let state = SessionState {
        original_goal: Some(goal.to_owned()),
        ..SessionState::new(client.clone(), client.hook_task(0), "/p", minute(0))
    };
    let material = TaskMaterial::new(prompts([goal]), [write(prompt, file)], None, |_| false);
    let saving = SaveContext {
        id: TaskId::fresh(),
        ending: Ending::Complete,
        remote: None,
        head: None,
        before: None,
        at: minute(prompt) + Duration::seconds(30),
    };
    let mut task = material.task(&state, grov_domain::Reasoning::default(), saving);
    task.status = status;
    task
}

const LIMIT: &str = "Rate limit the login page to five attempts a minute.";

/// The goal of new work after a second prompt, when the contract added it to the goal.
fn second(prompt: &str, file: &str, done: &[PerformedAction], status: TaskStatus) -> Option<String> {
    let mut done = done.to_vec();
    done.push(write(2, file));
    let material = TaskMaterial::new(prompts([LIMIT, prompt]), done.clone(), None, |_| false);
    let stated = format!("{LIMIT} … {prompt}");
    new_goal(
        &material,
        &done,
        &[saved(LIMIT, "login/limit.py", 1, status)],
        &stated,
    )
}

#[test]
fn an_order_after_committed_work_is_another_task() {
    let committed = [write(1, "login/limit.py"), commit(1)];
    for prompt in [
        "Translate the emails to French",
        "Upgrade the Docker base image",
        "Now do something else. Upgrade the Docker base image",
    ] {
        let found = second(prompt, "b/x.py", &committed, TaskStatus::Complete);
        assert!(
            found.as_deref().is_some_and(|goal| prompt.contains(goal)),
            "{found:?}"
        );
        assert_eq!(second(prompt, "b/x.py", &committed, TaskStatus::Abandoned), None);
    }
    for same in [
        "also the register page",
        "make it shorter",
        "push it",
        "yes, go on",
    ] {
        assert_eq!(
            second(same, "login/register.py", &committed, TaskStatus::Complete),
            None,
            "{same}"
        );
    }
    // Work that was not committed may go on.
    let uncommitted = [write(1, "login/limit.py")];
    let goes_on = second(
        "Translate the emails to French",
        "b/x.py",
        &uncommitted,
        TaskStatus::Complete,
    );
    assert_eq!(goes_on, None);
}

#[test]
fn a_second_end_of_a_turn_starts_no_second_task() {
    let done = [write(1, "login/limit.py"), commit(1)];
    let mut later = write(1, "login/limit.py");
    later.at = minute(2);
    let done = [done.as_slice(), &[later]].concat();
    let material = TaskMaterial::new(prompts([LIMIT]), done.clone(), None, |_| false);
    let saved = [saved(LIMIT, "login/limit.py", 1, TaskStatus::Complete)];
    assert_eq!(new_goal(&material, &done, &saved, LIMIT), None);
}

#[test]
fn the_goal_of_later_work_does_not_begin_with_earlier_work() {
    let stated = "Rate limit the login. … Translate the emails … and to German";
    assert_eq!(
        goal_from(stated, "Translate the emails"),
        Some("Translate the emails … and to German")
    );
    assert_eq!(goal_from(stated, "Upgrade the image"), None);
    assert_eq!(goal_from(stated, ""), None);
}

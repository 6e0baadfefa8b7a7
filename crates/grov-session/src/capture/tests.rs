use super::*;
use crate::review::{CorrectionRecord, Scored};
use crate::tasks::Division;
use grov_domain::{
    ActionType, ClientSessionId, CorrectionLevel, Effect, EffectKind, ExchangeId, OWN_TEXT_CLOSING,
    OWN_TEXT_OPENING, SessionId, StepId, TaskStatus,
};

fn state() -> SessionState {
    SessionState {
        original_goal: Some("Add a greeting".to_owned()),
        constraints: vec!["leave main.rs alone".to_owned()],
        ..SessionState::new(
            ClientSessionId::new("s1"),
            SessionId::new("s1"),
            "/p",
            OffsetDateTime::UNIX_EPOCH,
        )
    }
}

fn edit(file: &str, prompt: u64) -> PerformedAction {
    PerformedAction {
        action: ActionSketch {
            files: vec![format!("/p/{file}")],
            reasoning: Some("told <grov-context>by Grov</grov-context>by the agent".to_owned()),
            ..ActionSketch::empty(ActionType::Edit)
        },
        is_off_goal: false,
        prompt,
        at: OffsetDateTime::UNIX_EPOCH,
    }
}

fn command(line: &str, effect: EffectKind, file: &str) -> PerformedAction {
    let mut done = edit(file, 1);
    done.action.action_type = ActionType::Bash;
    done.action.command = Some(line.to_owned());
    done.action.effects = vec![effect];
    done
}

fn material(texts: &[&str], done: &[PerformedAction]) -> TaskMaterial {
    TaskMaterial::new(
        prompts(texts.iter().copied()),
        done.to_vec(),
        Some(Path::new("/p")),
        |_| false,
    )
}

fn saving<'a>() -> SaveContext<'a> {
    SaveContext {
        id: TaskId::new("t"),
        ending: Ending::Complete,
        remote: None,
        head: None,
        before: None,
        at: OffsetDateTime::UNIX_EPOCH,
    }
}

fn saved(material: &TaskMaterial) -> Task {
    material.task(&state(), Reasoning::default(), saving())
}

fn touched(done: &[PerformedAction]) -> Vec<String> {
    saved(&material(&[], done)).files_touched
}

#[test]
fn goal_and_query_of_a_memory_come_from_the_same_prompt() {
    let material = material(
        &["How does the login work?", "Translate the readme into French"],
        &[],
    );
    let mut state = state();
    state.original_goal = Some("Translate the readme into French".to_owned());
    let task = material.task(&state, Reasoning::default(), saving());
    assert_eq!(task.original_query, "Translate the readme into French");
    assert_eq!(
        material.reasoning_question(&state, "").prompts,
        ["Translate the readme into French"]
    );
}

#[test]
fn off_goal_actions_and_ignored_files_are_left_out() {
    let mut off = edit("off", 1);
    off.is_off_goal = true;
    let done = [edit("good", 1), off, edit("secret", 1)];
    let material = TaskMaterial::new(Vec::new(), done.clone(), Some(Path::new("/p")), |file| {
        file == "/p/secret"
    });
    let actions = material.reasoning_question(&state(), "").actions;
    let files: Vec<_> = actions.into_iter().flat_map(|action| action.files).collect();
    assert_eq!(files, ["good"]);
    assert_eq!(saved(&material).files_touched, ["good"]);
    let nothing = TaskMaterial::new(Vec::new(), done[1..].to_vec(), None, |file| file == "/p/secret");
    assert!(!nothing.is_memory(&Reasoning::default(), None));
}

#[test]
fn a_step_is_off_goal_by_its_score_or_by_a_verdict() {
    let step = |score, is_validated| StepRow {
        id: StepId::new("a"),
        session_id: SessionId::new("s1"),
        exchange_id: ExchangeId::new("x"),
        agent_id: None,
        tool: "Edit".to_owned(),
        tool_use_id: None,
        action_type: ActionType::Edit,
        files: vec!["/p/a".to_owned()],
        folders: Vec::new(),
        command: None,
        effects: vec![Effect {
            kind: EffectKind::Delete,
            paths: Vec::new(),
        }],
        reasoning: None,
        drift_score: score,
        drift_type: None,
        outcome: None,
        is_key_decision: false,
        is_validated,
        correction_given: None,
        correction_level: None,
        keywords: Vec::new(),
        timestamp: OffsetDateTime::UNIX_EPOCH,
    };
    for (score, is_validated, expected) in [
        (Some(5), true, false),
        (None, true, false),
        (Some(4), true, true),
        (None, false, true),
    ] {
        let done = PerformedAction::from(&step(score, is_validated));
        assert_eq!(done.is_off_goal, expected, "{score:?} {is_validated}");
        assert_eq!(done.action.effects, [EffectKind::Delete]);
    }
}

#[test]
fn injected_text_is_not_captured() {
    let material = material(
        &[
            "<grov-context>memory</grov-context>",
            "fix <grov-context>m</grov-context>it",
        ],
        &[edit("a", 1)],
    );
    let mut state = state();
    state.original_goal = None;
    let question = material.reasoning_question(&state, "");
    assert_eq!(question.prompts, ["fix it"]);
    assert_eq!(
        question.actions[0].reasoning.as_deref(),
        Some("told by the agent")
    );
    let task = material.task(&state, Reasoning::default(), saving());
    assert_eq!((task.original_query.as_str(), task.goal), ("fix it", None));
    assert_eq!(task.constraints, ["leave main.rs alone"]);
}

#[test]
fn the_turn_contains_the_newest_prompt_and_its_actions() {
    let material = material(&["go", "on"], &[edit("old", 1), edit("new", 2)]);
    let turn = material.turn(None, 2);
    assert_eq!(turn.prompts, ["on"]);
    let files: Vec<_> = turn.actions().flat_map(|action| &action.files).collect();
    assert_eq!(files, ["new"]);
    assert_eq!(material.turn(Some("typed".to_owned()), 2).prompts, ["typed"]);
}

#[test]
fn a_failed_action_is_no_goal() {
    let traced = |trace: &[&str]| {
        let reasoning = Reasoning {
            reasoning_trace: trace.iter().map(ToString::to_string).collect(),
            ..Reasoning::default()
        };
        let mut state = state();
        state.original_goal = None;
        material(&["continue"], &[edit("a", 1)])
            .task(&state, reasoning, saving())
            .goal
    };
    let goal = traced(&[
        "Failed to change src/export.py",
        "Ran `make`: failed",
        "Edited src/export.py",
    ]);
    assert_eq!(goal.as_deref(), Some("Edited src/export.py"));
    assert_eq!(traced(&["Failed to change src/export.py"]), None);
}

#[test]
fn a_replaced_record_keeps_its_original_query() {
    let first = saved(&material(&["go"], &[edit("a", 1)]));
    // The oldest prompts may have been dropped.
    let later = material(&["on"], &[edit("a", 1)]);
    let again = SaveContext {
        before: Some(&first),
        ..saving()
    };
    let again = later.task(&state(), Reasoning::default(), again);
    assert_eq!(again.original_query, "go");
}

#[test]
fn actions_covered_by_an_earlier_task_are_left_out() {
    let first = saved(&material(&["Add a greeting"], &[edit("greeting", 1)]));
    let mut readme = edit("readme", 2);
    readme.at += time::Duration::seconds(1);
    let done = [edit("greeting", 1), readme];
    let french = "Translate the readme into French";
    let material = material(&["Add a greeting", french], &done);
    assert!(material.changed_subject("Add a greeting", french));
    let material = material.after_prompt(covered(&done, first.created_at));
    let mut state = state();
    state.original_goal = Some(french.to_owned());
    let second = material.task(&state, Reasoning::default(), saving());
    assert_eq!(second.original_query, french);
    assert_eq!(second.files_touched, ["readme"]);
    assert_eq!(material.reasoning_question(&state, "").prompts, [french]);
}

#[test]
fn a_question_after_work_is_not_a_memory() {
    let mut read = edit("a", 2);
    read.action.action_type = ActionType::Read;
    read.at += time::Duration::seconds(1);
    let done = [edit("a", 1), read];
    let material = material(&["go", "and how does it work?"], &done);
    let reasoning = Reasoning::default();
    assert!(material.is_memory(&reasoning, None));
    let asked = material.after_prompt(covered(&done, OffsetDateTime::UNIX_EPOCH));
    assert!(!asked.is_memory(&reasoning, None));
    let before = saved(&asked);
    assert!(asked.is_memory(&reasoning, Some(&before)), "kept up to date");
}

#[test]
fn a_forgotten_session_has_nothing_to_save() {
    let mut wordless = edit("a", 1);
    wordless.action.files.clear();
    wordless.action.reasoning = None;
    assert!(material(&[], &[wordless]).is_empty());
    assert!(!material(&["go"], &[]).is_empty());
}

#[test]
fn refused_calls_are_not_work() {
    let mut refused = edit("refused", 1);
    refused.action.failed = Some(true);
    let changed = |done: &[PerformedAction]| material(&[], done).work(1, None, false, "").is_changed;
    let only = std::slice::from_ref(&refused);
    assert_eq!((touched(only), changed(only)), (Vec::new(), false));
    assert_eq!(touched(&[refused.clone(), edit("done", 1)]), ["done"]);
    // It may have failed after the deletion.
    let mut removal = command("rm removed && false", EffectKind::Delete, "removed");
    removal.action.failed = Some(true);
    let both = [refused, removal.clone()];
    assert_eq!(
        (touched(&both), changed(&both)),
        (vec!["removed".to_owned()], true)
    );
    removal.action.output = Some("[…] The tool use was rejected (eg. …".to_owned());
    assert!(touched(&[removal]).is_empty());
}

#[test]
fn a_task_without_changes_lists_the_files_that_were_read() {
    let mut read = edit("read", 1);
    read.action.action_type = ActionType::Read;
    assert_eq!(touched(std::slice::from_ref(&read)), ["read"]);
    let removed = command("rm removed", EffectKind::Delete, "removed");
    assert_eq!(touched(&[read, removed]), ["removed"]);
}

#[test]
fn a_turn_includes_changes_since_the_last_save() {
    let later = OffsetDateTime::UNIX_EPOCH + time::Duration::seconds(9);
    let mut queued = edit("queued", 2);
    queued.at = later;
    // A prompt typed in the meantime has its own number.
    let material = material(&[], &[edit("a", 1), queued]);
    let changed = |first, saved_at| material.work(first, saved_at, false, "").is_changed;
    assert!(changed(3, Some(OffsetDateTime::UNIX_EPOCH)));
    assert!(!changed(3, Some(later)) && !changed(3, None));
    assert!(changed(2, Some(later)));
}

#[test]
fn reads_alone_are_worth_saving_when_the_session_ends() {
    let mut read = edit("read", 1);
    read.action.action_type = ActionType::Read;
    let looked = material(&["why?"], &[read]);
    assert!(!looked.work(1, None, false, "Because.").is_worth_saving);
    assert!(looked.work(1, None, true, "").is_worth_saving);
    let asked = material(&["why?"], &[]);
    assert!(asked.work(1, None, true, "Because.").is_worth_saving);
    assert!(!asked.work(1, None, true, "").is_worth_saving);
}

#[test]
fn the_linked_commit_is_the_head_if_the_work_was_committed() {
    let commit = command("git commit -am x", EffectKind::VersionControl, "a");
    let linked = |start: Option<&str>, done: &[PerformedAction]| {
        let mut state = state();
        state.head_at_start = start.map(str::to_owned);
        let saving = SaveContext {
            head: Some("abc".to_owned()),
            ..saving()
        };
        let task = material(&["go"], done).task(&state, Reasoning::default(), saving);
        task.linked_commit
    };
    let work = [edit("a", 1)];
    assert_eq!(linked(Some("one"), &work).as_deref(), Some("abc"), "it moved");
    assert_eq!(linked(Some("abc"), std::slice::from_ref(&commit)), None);
    assert_eq!(linked(None, &work), None);
    assert_eq!(
        linked(None, std::slice::from_ref(&commit)).as_deref(),
        Some("abc")
    );
    let mut failed = commit;
    failed.action.failed = Some(true);
    assert_eq!(linked(None, &[failed]), None);
}

#[test]
fn the_policy_decides_about_the_drift_summary() {
    let evidence = Evidence {
        scored: vec![Scored::new(Some(3), true)],
        corrections: vec![CorrectionRecord {
            level: CorrectionLevel::Correct,
            reason: None,
            is_delivered: true,
        }],
        escalation: 0,
    };
    let trace = |evidence: &Evidence, adds_drift_summary| {
        let policy = TaskPolicy {
            division: Division::ByVerdict,
            saves_unfinished: false,
            adds_drift_summary,
        };
        let task = reviewed(saved(&material(&["go"], &[])), evidence, policy);
        assert_eq!(task.status, TaskStatus::Complete);
        task.reasoning_trace
    };
    let line = "Drift: 1 checks, 1 corrections, mean score 3.0, last score 3";
    assert_eq!(trace(&evidence, true), [line]);
    assert!(trace(&evidence, false).is_empty());
    assert!(trace(&Evidence::default(), true).is_empty());
}

#[test]
fn a_long_prompt_is_shortened_to_both_ends() {
    assert_eq!(ends_of_prompt("short"), "short");
    let long = format!("fix this: {}: why?", "é".repeat(1 << 20));
    let cut = ends_of_prompt(&long);
    assert!(cut.starts_with("fix this") && cut.ends_with("why?"));
    assert!(cut.len() < 2 * MAX_PROMPT_END + 16);
}

#[test]
fn a_private_part_is_not_revealed_by_a_cut() {
    for (opening, closing) in [
        ("<private>", "</private>"),
        ("<PRIVATE>", "</Private>"),
        (OWN_TEXT_OPENING, OWN_TEXT_CLOSING),
    ] {
        for before in [0, 10, MAX_PROMPT_END - 20, 2 * MAX_PROMPT_END, 5 * MAX_PROMPT_END] {
            for secrets in [1, 4000, 20_000] {
                let text = format!(
                    "{}{opening}{}{closing}{}",
                    "a".repeat(before),
                    "zebra ".repeat(secrets),
                    "b".repeat(2000)
                );
                let cut = ends_of_prompt(&text);
                // If both ends are complete, it is still recognized.
                let is_complete = cut.contains(opening) && cut.contains(closing);
                if cut.len() < text.len() && !is_complete {
                    assert!(!cut.contains("zebra"), "{opening} {before} {secrets}");
                }
            }
        }
    }
}

#[test]
fn a_staged_folder_is_no_changed_file() {
    let staged = |file: &str| command("git add x", EffectKind::VersionControl, file);
    let touched = |done: &[PerformedAction]| saved(&material(&["Send the news"], done)).files_touched;
    assert_eq!(
        touched(&[edit("news/send.py", 1), staged("news")]),
        ["news/send.py"]
    );
    assert_eq!(
        touched(&[edit("news/send.py", 1), staged("other.py")]),
        ["news/send.py"]
    );
    assert_eq!(touched(&[staged("news/send.py")]), ["news/send.py"]);
    let mut both = command(
        "printf x > news/send.py && git add news",
        EffectKind::Write,
        "news/send.py",
    );
    both.action.files.push("/p/news".to_owned());
    assert_eq!(touched(&[both]), ["news/send.py"]);
}

#[test]
fn the_decision_of_work_that_failed_is_no_memory() {
    let reasoning = Reasoning {
        decisions: vec![grov_domain::Decision {
            choice: "I chose a mutex".to_owned(),
            reason: "of races".to_owned(),
        }],
        ..Reasoning::default()
    };
    let is_memory = |failed, read_only: bool| {
        let mut done = edit("a.py", 1);
        done.action.failed = Some(failed);
        if read_only {
            done.action.action_type = ActionType::Read;
        }
        material(&["Make the counter safe"], &[done]).is_memory(&reasoning, None)
    };
    assert!(!is_memory(true, false));
    assert!(is_memory(false, false));
    assert!(is_memory(true, true), "a question may lead to a decision");
}

//! Finished tasks, drift events and reasoning about files.

use super::sample::{PROJECT, client, drift, drift_log, exchange, file_reasoning, session, task};
use grov_domain::{FileReasoning, MemoryEdits, ProjectStatus, Redacted, Store, Task, TaskId, TaskStatus};
use std::sync::Arc;

fn ids(tasks: &[Task]) -> Vec<&str> {
    tasks.iter().map(|task| task.id.as_str()).collect()
}

/// A task is loaded as saved; saving the same id replaces it.
pub async fn task_is_loaded_as_saved(store: Arc<dyn Store>) {
    let mut saved = task("t", 1);
    store.save_task(&Redacted::of(&saved)).await.unwrap();
    assert_eq!(store.task(&saved.id).await.unwrap(), Some(saved.clone()));
    saved.status = TaskStatus::Abandoned;
    saved.trigger_reason = None;
    saved.goal = None;
    saved.project_remote = None;
    saved.linked_commit = None;
    saved.parent_session_id = None;
    saved.parent_task_id = None;
    saved.files_touched = vec!["/new".to_owned()];
    saved.decisions.clear();
    saved.tags.clear();
    store.save_task(&Redacted::of(&saved)).await.unwrap();
    assert_eq!(store.task(&saved.id).await.unwrap(), Some(saved.clone()));
    assert_eq!(ids(&store.tasks_for_project(PROJECT, 10).await.unwrap()), ["t"]);
    assert_eq!(
        store
            .tasks_by_files(PROJECT, &["/new".to_owned()], 10)
            .await
            .unwrap()
            .len(),
        1
    );
    let old = "/home/dev/projects/relay/src/limit.rs".to_owned();
    assert_eq!(store.tasks_by_files(PROJECT, &[old], 10).await.unwrap(), []);
    assert_eq!(store.task(&TaskId::new("other")).await.unwrap(), None);
}

/// The same (client session, session) is one task, under the id of its first save.
pub async fn task_is_unique_per_session(store: Arc<dyn Store>) {
    let of = |id: &str, client_session: Option<&str>, task_session: Option<&str>, seconds| Task {
        client_session_id: client_session.map(client),
        session_id: task_session.map(session),
        ..task(id, seconds)
    };
    store
        .save_task(&Redacted::of(&of("first", Some("c"), Some("s"), 1)))
        .await
        .unwrap();
    let child = Task {
        parent_task_id: Some(TaskId::new("first")),
        ..task("child", 2)
    };
    store.save_task(&Redacted::of(&child)).await.unwrap();
    let about = FileReasoning {
        task_id: Some(TaskId::new("first")),
        ..file_reasoning("f", "/f", 2)
    };
    store.save_file_reasoning(&Redacted::of(&about)).await.unwrap();

    let second = of("second", Some("c"), Some("s"), 3);
    store.save_task(&Redacted::of(&second)).await.unwrap();
    assert_eq!(
        ids(&store.tasks_for_project(PROJECT, 10).await.unwrap()),
        ["first", "child"]
    );
    assert_eq!(store.task(&second.id).await.unwrap(), None);
    let first = TaskId::new("first");
    assert_eq!(
        store.task(&first).await.unwrap(),
        Some(Task {
            id: first.clone(),
            ..second
        })
    );
    assert_eq!(
        store.task(&child.id).await.unwrap().unwrap().parent_task_id,
        Some(first)
    );

    store
        .save_task(&Redacted::of(&of("other-session", Some("c"), Some("s2"), 4)))
        .await
        .unwrap();
    store
        .save_task(&Redacted::of(&of("other-client", Some("c2"), Some("s"), 5)))
        .await
        .unwrap();
    store
        .save_task(&Redacted::of(&of("no-session", Some("c"), None, 6)))
        .await
        .unwrap();
    store
        .save_task(&Redacted::of(&of("no-session-2", Some("c"), None, 7)))
        .await
        .unwrap();
    store
        .save_task(&Redacted::of(&of("import", None, Some("s"), 8)))
        .await
        .unwrap();
    store
        .save_task(&Redacted::of(&of("import-2", None, Some("s"), 9)))
        .await
        .unwrap();
    assert_eq!(store.tasks_for_project(PROJECT, 100).await.unwrap().len(), 8);

    // A task that moves to a session with a task is merged into that task, with its references.
    let about = FileReasoning {
        task_id: Some(TaskId::new("child")),
        ..file_reasoning("f2", "/f2", 2)
    };
    store.save_file_reasoning(&Redacted::of(&about)).await.unwrap();
    store
        .save_task(&Redacted::of(&of("child", Some("c"), Some("s"), 10)))
        .await
        .unwrap();
    let tasks = store.tasks_for_project(PROJECT, 100).await.unwrap();
    assert_eq!((tasks.len(), tasks[0].id.as_str()), (7, "first"));
    assert_eq!(store.task(&TaskId::new("child")).await.unwrap(), None);
    for file in ["/f", "/f2"] {
        let about = store.file_reasoning(PROJECT, file, 1).await.unwrap();
        assert_eq!(about[0].task_id, Some(TaskId::new("first")));
    }
}

/// A session that saves its task again keeps what a person changed in it; so does an import. Other tasks are not changed.
pub async fn an_edited_task_keeps_its_edits(store: Arc<dyn Store>) {
    let of = |id: &str, name: &str| Task {
        client_session_id: Some(client("c")),
        session_id: Some(session(name)),
        ..task(id, 1)
    };
    for task in [of("first", "s"), of("second", "s2")] {
        store.save_task(&Redacted::of(&task)).await.unwrap();
    }
    let before = store.task(&TaskId::new("first")).await.unwrap().unwrap();
    let mut after = before.clone();
    after.goal = Some("Limit the frames".to_owned());
    after.decisions.clear();
    after.edits = MemoryEdits::between(&before, &after);
    store.import(&[Redacted::of(&after)]).await.unwrap();
    let mut later = of("of-the-next-turn", "s");
    later.tags.push("frames".to_owned());
    store.save_task(&Redacted::of(&later)).await.unwrap();
    let expected = Task {
        tags: later.tags,
        ..after.clone()
    };
    let tasks = store.tasks_of_session(&client("c")).await.unwrap();
    assert_eq!(ids(&tasks), ["second", "first"]);
    assert_eq!(tasks[1], expected);
    assert_eq!(tasks[0], of("second", "s2"));
    assert_eq!(store.tasks_of_session(&client("d")).await.unwrap(), []);

    // An export has no edits.
    let mut export = expected.clone();
    export.edits = MemoryEdits::default();
    let report = store.import(&[Redacted::of(&export)]).await.unwrap();
    assert_eq!(report.unchanged, 1);
    export.tags.clear();
    store.import(&[Redacted::of(&export)]).await.unwrap();
    let kept = store.task(&TaskId::new("first")).await.unwrap().unwrap();
    assert_eq!((kept.edits, kept.tags), (after.edits, Vec::<String>::new()));
}

/// A task is linked to its parent, in any order and number of saves.
pub async fn tasks_are_linked_to_their_parent(store: Arc<dyn Store>) {
    let of = |id: &str, client_session: &str, task_session: &str, parent: Option<&str>| Task {
        client_session_id: Some(client(client_session)),
        session_id: Some(session(task_session)),
        parent_session_id: parent.map(session),
        parent_task_id: None,
        ..task(id, 1)
    };
    let parent = async |id: &str| {
        let found = store.task(&TaskId::new(id)).await.unwrap().unwrap();
        found.parent_task_id.map(|id| id.to_string())
    };
    let early = of("early", "c", "sub-1", Some("main"));
    store.save_task(&Redacted::of(&early)).await.unwrap();
    store
        .save_task(&Redacted::of(&of("abroad", "c2", "sub-1", Some("main"))))
        .await
        .unwrap();
    store
        .save_task(&Redacted::of(&of("of-another", "c", "sub-2", Some("other"))))
        .await
        .unwrap();
    assert_eq!(parent("early").await, None);

    store
        .save_task(&Redacted::of(&of("whole", "c", "main", None)))
        .await
        .unwrap();
    store
        .save_task(&Redacted::of(&of("late", "c", "sub-3", Some("main"))))
        .await
        .unwrap();
    for _ in 0..2 {
        assert_eq!(parent("early").await.as_deref(), Some("whole"));
        assert_eq!(parent("late").await.as_deref(), Some("whole"));
        assert_eq!(parent("abroad").await, None, "of another client session");
        assert_eq!(parent("of-another").await, None, "of another task");
        assert_eq!(parent("whole").await, None);
        store
            .save_task(&Redacted::of(&of("whole-again", "c", "main", None)))
            .await
            .unwrap();
        store.save_task(&Redacted::of(&early)).await.unwrap();
    }
    let served = store.task(&early.id).await.unwrap().unwrap();
    assert_eq!(served.parent_session_id, early.parent_session_id);

    store
        .save_task(&Redacted::of(&of("itself", "c3", "s", Some("s"))))
        .await
        .unwrap();
    assert_eq!(parent("itself").await, None, "nothing serves itself");
}

/// Tasks are found by project and by exact file, newest first.
pub async fn tasks_are_found_by_project_and_file(store: Arc<dyn Store>) {
    let touching = |id: &str, files: &[&str], seconds| Task {
        files_touched: files.iter().map(|file| (*file).to_owned()).collect(),
        ..task(id, seconds)
    };
    store
        .save_task(&Redacted::of(&touching("old", &["/a", "/b"], 1)))
        .await
        .unwrap();
    store
        .save_task(&Redacted::of(&touching("new", &["/b", "/c", "/b"], 9)))
        .await
        .unwrap();
    store
        .save_task(&Redacted::of(&touching("middle", &[], 5)))
        .await
        .unwrap();
    store
        .save_task(&Redacted::of(&Task {
            project_path: "/elsewhere".to_owned(),
            ..touching("abroad", &["/a"], 7)
        }))
        .await
        .unwrap();

    assert_eq!(
        ids(&store.tasks_for_project(PROJECT, 10).await.unwrap()),
        ["new", "middle", "old"]
    );
    assert_eq!(ids(&store.tasks_for_project(PROJECT, 1).await.unwrap()), ["new"]);
    let by_files = async |files: &[&str], limit| -> Vec<String> {
        let files: Vec<_> = files.iter().map(|file| (*file).to_owned()).collect();
        let tasks = store.tasks_by_files(PROJECT, &files, limit).await.unwrap();
        tasks.iter().map(|task| task.id.to_string()).collect()
    };
    assert_eq!(by_files(&["/a"], 10).await, ["old"]);
    assert_eq!(by_files(&["/b"], 10).await, ["new", "old"]);
    assert_eq!(by_files(&["/a", "/c", "/nothing"], 10).await, ["new", "old"]);
    assert_eq!(by_files(&["/b"], 1).await, ["new"]);
    assert_eq!(by_files(&["/"], 10).await, [""; 0]);
    assert_eq!(by_files(&[], 10).await, [""; 0]);
    let many: Vec<String> = (0..40_000)
        .map(|number| format!("/none/{number}"))
        .chain(["/a".to_owned()])
        .collect();
    assert_eq!(
        ids(&store.tasks_by_files(PROJECT, &many, 10).await.unwrap()),
        ["old"]
    );
}

/// Counts of a project.
pub async fn project_status_counts(store: Arc<dyn Store>) {
    assert_eq!(
        store.project_status(PROJECT).await.unwrap(),
        ProjectStatus::default()
    );
    store
        .append(&Redacted::each(&[
            exchange("a", 1),
            exchange("a", 2),
            exchange("b", 3),
        ]))
        .await
        .unwrap();
    store.save_task(&Redacted::of(&task("old", 1))).await.unwrap();
    store.save_task(&Redacted::of(&task("new", 2))).await.unwrap();
    store
        .save_task(&Redacted::of(&Task {
            project_path: "/elsewhere".to_owned(),
            ..task("abroad", 3)
        }))
        .await
        .unwrap();
    let expected = ProjectStatus {
        tasks: 2,
        memory_items: 0,
        sessions: 2,
        steps: 6,
        last_task: Some(task("new", 2)),
    };
    assert_eq!(store.project_status(PROJECT).await.unwrap(), expected);
}

/// Drift events are loaded as saved, oldest first, of one task or all. They need no session.
pub async fn drift_log_is_kept_in_order(store: Arc<dyn Store>) {
    let mut bare = drift("bare", "a", 2);
    bare.action_type = None;
    bare.files.clear();
    bare.drift_score = None;
    bare.level = None;
    bare.reason = None;
    bare.correction_given = None;
    bare.recovery_plan.clear();
    let (late, other) = (drift("late", "a", 9), drift("other", "b", 5));
    let full = drift("bare", "b", 30);
    for event in [&late, &full, &other, &bare] {
        store.append_drift(&Redacted::of(event)).await.unwrap();
    }
    assert_eq!(drift_log(&store, None).await, [bare.clone(), other, late.clone()]);
    assert_eq!(drift_log(&store, Some(&session("a"))).await, [bare, late]);
    assert_eq!(drift_log(&store, Some(&session("c"))).await, []);
}

/// Reasoning about files is found by a literal part of the path, newest first.
pub async fn file_reasoning_is_found_by_path(store: Arc<dyn Store>) {
    let (old, new) = (
        file_reasoning("old", "/src/100%_Limit.rs", 1),
        file_reasoning("new", "/src/100%_Limit.rs", 3),
    );
    let near = file_reasoning("near", "/src/100x-Limit.rs", 2);
    let abroad = FileReasoning {
        project_path: "/elsewhere".to_owned(),
        ..file_reasoning("abroad", "/src/x.rs", 4)
    };
    for entry in [&new, &old, &near, &abroad] {
        store.save_file_reasoning(&Redacted::of(entry)).await.unwrap();
    }
    let part = async |part, limit| store.file_reasoning(PROJECT, part, limit).await.unwrap();
    assert_eq!(part("/src/100%_Limit.rs", 10).await, [new.clone(), old.clone()]);
    assert_eq!(part("/src/100%_Limit.rs", 1).await, std::slice::from_ref(&new));
    assert_eq!(part("100%_", 10).await, [new.clone(), old.clone()]);
    assert_eq!(part("Limit", 10).await, [new.clone(), near.clone(), old.clone()]);
    assert_eq!(part("Limit", 2).await, [new, near.clone()]);
    assert_eq!(part("limit", 10).await, []);
    assert_eq!(part("x.rs", 10).await, []);

    let mut bare = file_reasoning("old", "/src/moved.rs", 9);
    (bare.task_id, bare.anchor, bare.line_start, bare.line_end) = (None, None, None, None);
    (bare.code_hash, bare.change_type) = (None, None);
    store.save_file_reasoning(&Redacted::of(&bare)).await.unwrap();
    assert_eq!(part("/src/moved.rs", 10).await, [bare]);
    assert_eq!(part("/src/100%_Limit.rs", 10).await.len(), 1);
}

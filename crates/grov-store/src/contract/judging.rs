//! What a model, or the user after it, says about the texts of memories.

use super::sample::{at, client, task};
use grov_domain::{
    Decision, Harm, HarmKind, MemoryScope, ModelScreening, Redacted, Store, Task, TaskId, UnjudgedMemory,
};
use std::sync::Arc;
use time::{Duration, OffsetDateTime};

const NOW: i64 = 10_000;

fn screening(words: &str) -> ModelScreening {
    ModelScreening {
        text: -3,
        harms: vec![Harm {
            kind: HarmKind::Sabotage,
            quote: words.to_owned(),
        }],
        trusted: false,
    }
}

fn ids(memories: &[UnjudgedMemory]) -> Vec<&str> {
    memories.iter().map(|memory| memory.task.id.as_str()).collect()
}

async fn save(store: &dyn Store, task: &Task) {
    store.save_task(&Redacted::of(task)).await.unwrap();
}

async fn found(store: &dyn Store, id: &str) -> Option<ModelScreening> {
    let task = store.task(&TaskId::new(id)).await.unwrap().unwrap();
    task.model_screening
}

async fn reserve(store: &dyn Store, now: OffsetDateTime) -> Vec<UnjudgedMemory> {
    store.reserve_unjudged(now, 2).await.unwrap()
}

/// A verdict is stored with the memory, kept when the same text is saved again, and nothing else is asked about it.
pub async fn a_model_judges_each_text_once(store: Arc<dyn Store>) {
    for name in ["a", "b", "c"] {
        save(&*store, &task(name, 1)).await;
    }
    let everywhere = MemoryScope {
        project_path: task("a", 1).project_path,
        project_remote: None,
    };
    let elsewhere = MemoryScope {
        project_path: "/elsewhere".to_owned(),
        project_remote: None,
    };
    assert_eq!(store.unjudged(Some(&everywhere), at(NOW)).await.unwrap(), 3);
    assert_eq!(store.unjudged(Some(&elsewhere), at(NOW)).await.unwrap(), 0);
    let first = reserve(&*store, at(NOW)).await;
    assert_eq!(ids(&first), ["a", "b"]);
    let second = reserve(&*store, at(NOW)).await;
    assert_eq!(ids(&second), ["c"], "not twice");
    for memory in first.iter().chain(&second) {
        let words = screening(memory.task.id.as_str());
        assert!(
            store
                .save_model_screening(memory, &Redacted::of(&words))
                .await
                .unwrap()
        );
        assert!(
            !store
                .save_model_screening(memory, &Redacted::of(&words))
                .await
                .unwrap()
        );
    }
    assert_eq!(store.unjudged(None, at(NOW)).await.unwrap(), 0);
    assert_eq!(reserve(&*store, at(NOW * 100)).await, []);
    // As a session saves it that goes on, without another word.
    save(
        &*store,
        &Task {
            created_at: at(5),
            screened: None,
            ..task("a", 1)
        },
    )
    .await;
    assert_eq!(found(&*store, "a").await, Some(screening("a")));
    let report = store.import(&[Redacted::of(&task("b", 1))]).await.unwrap();
    assert_eq!(report.unchanged, 1);
    assert_eq!(found(&*store, "b").await, Some(screening("b")));
    assert_eq!(store.unjudged(None, at(NOW)).await.unwrap(), 0);
}

/// Memories of sessions come after imported ones, and not while the session may go on.
pub async fn imported_and_newest_memories_are_judged_first(store: Arc<dyn Store>) {
    for (name, seconds) in [("old", 1), ("new", 2)] {
        save(&*store, &task(name, seconds)).await;
        let own = Task {
            client_session_id: Some(client(name)),
            ..task(&format!("own-{name}"), seconds + 10)
        };
        save(&*store, &own).await;
    }
    let working = Task {
        client_session_id: Some(client("working")),
        ..task("working", NOW - 60)
    };
    save(&*store, &working).await;
    assert_eq!(ids(&reserve(&*store, at(NOW)).await), ["new", "old"]);
    assert_eq!(ids(&reserve(&*store, at(NOW)).await), ["own-new", "own-old"]);
    assert_eq!(reserve(&*store, at(NOW)).await, []);
    assert_eq!(ids(&reserve(&*store, at(NOW + 600 - 60)).await), ["working"]);
    // An old memory of the user's own costs no question; an old one from elsewhere does.
    for (name, session) in [("own-ancient", Some(client("ancient"))), ("ancient", None)] {
        let ancient = Task {
            client_session_id: session,
            ..task(name, NOW)
        };
        save(&*store, &ancient).await;
    }
    let later = at(NOW) + Duration::days(31);
    assert_eq!(ids(&reserve(&*store, later).await), ["ancient"]);
    let waiting = store.unjudged(None, later).await.unwrap();
    assert_eq!(waiting, 3, "those from elsewhere");
}

/// A memory that was not answered waits longer each time, after new ones, and alone.
pub async fn an_unanswered_memory_comes_alone_and_later(store: Arc<dyn Store>) {
    for name in ["a", "b"] {
        save(&*store, &task(name, 1)).await;
    }
    let mut now = at(NOW);
    assert_eq!(ids(&reserve(&*store, now).await), ["a", "b"]);
    assert_eq!(reserve(&*store, now + Duration::minutes(9)).await, []);
    now += Duration::minutes(10);
    save(&*store, &task("new", 1)).await;
    assert_eq!(ids(&reserve(&*store, now).await), ["new"]);
    assert_eq!(ids(&reserve(&*store, now).await), ["a"]);
    assert_eq!(ids(&reserve(&*store, now).await), ["b"]);
    assert_eq!(reserve(&*store, now + Duration::minutes(9)).await, []);
    assert_eq!(ids(&reserve(&*store, now + Duration::minutes(10)).await), ["new"]);
    assert_eq!(reserve(&*store, now + Duration::minutes(19)).await, []);
    assert_eq!(ids(&reserve(&*store, now + Duration::minutes(20)).await), ["a"]);
}

/// A text that was edited while the model read it is judged again; an expired reservation of another process says nothing.
pub async fn a_verdict_on_a_text_that_changed_is_refused(store: Arc<dyn Store>) {
    let words = Redacted::of(&screening("words"));
    save(&*store, &task("a", 1)).await;
    let read = reserve(&*store, at(NOW)).await.remove(0);
    let edited = Task {
        decisions: vec![Decision {
            choice: "another".to_owned(),
            reason: "word".to_owned(),
        }],
        ..task("a", 1)
    };
    save(&*store, &edited).await;
    assert!(!store.save_model_screening(&read, &words).await.unwrap());
    let read = reserve(&*store, at(NOW)).await.remove(0);
    assert_eq!(read.task.decisions, edited.decisions);
    let again = reserve(&*store, at(NOW + 600)).await.remove(0);
    assert!(!store.save_model_screening(&read, &words).await.unwrap());
    assert!(store.save_model_screening(&again, &words).await.unwrap());

    let edits: [fn(&mut Task); 8] = [
        |task| task.original_query.push('.'),
        |task| task.goal = None,
        |task| task.reasoning_trace.clear(),
        |task| task.files_touched.clear(),
        |task| task.decisions.clear(),
        |task| task.constraints.clear(),
        |task| task.tags.clear(),
        |task| task.user = None,
    ];
    for (number, edit) in edits.into_iter().enumerate() {
        let name = format!("t{number}");
        let mut task = task(&name, 1);
        save(&*store, &task).await;
        let read = reserve(&*store, at(NOW)).await.remove(0);
        assert!(store.save_model_screening(&read, &words).await.unwrap());
        edit(&mut task);
        store.import(&[Redacted::of(&task)]).await.unwrap();
        assert_eq!(found(&*store, &name).await, None, "edit {number}");
        let read = reserve(&*store, at(NOW)).await.remove(0);
        assert!(store.save_model_screening(&read, &words).await.unwrap());
    }
}

/// The user's word is kept, is not judged again, and is refused for a text that is no longer stored.
pub async fn a_trusted_text_is_trusted_until_it_changes(store: Arc<dyn Store>) {
    let trusted = Redacted::of(&ModelScreening {
        trusted: true,
        ..screening("words")
    });
    save(&*store, &task("a", 1)).await;
    let read = store.task(&TaskId::new("a")).await.unwrap().unwrap();
    let reserved = reserve(&*store, at(NOW)).await.remove(0);
    assert!(store.trust_memory(&read, &trusted).await.unwrap());
    let words = Redacted::of(&screening("words"));
    assert!(
        !store.save_model_screening(&reserved, &words).await.unwrap(),
        "overruled"
    );
    assert_eq!(found(&*store, "a").await.as_ref(), Some(&*trusted));
    assert_eq!(store.unjudged(None, at(NOW)).await.unwrap(), 0);
    let edited = Task {
        goal: Some("another".to_owned()),
        ..task("a", 1)
    };
    save(&*store, &edited).await;
    assert_eq!(found(&*store, "a").await, None);
    assert!(
        !store.trust_memory(&read, &trusted).await.unwrap(),
        "another text"
    );
    assert_eq!(found(&*store, "a").await, None);
    assert!(!store.trust_memory(&task("gone", 1), &trusted).await.unwrap());
}

/// Nothing of a verdict survives its memory, and an export does not carry what its author trusts.
pub async fn forgetting_a_memory_erases_what_a_model_found(store: Arc<dyn Store>) {
    save(&*store, &task("a", 1)).await;
    let read = reserve(&*store, at(NOW)).await.remove(0);
    let secret = "password: hunter2-hunter2";
    let words = grov_redact::Redactor::shared().clean(screening(secret));
    assert!(store.save_model_screening(&read, &words).await.unwrap());
    let stored = found(&*store, "a").await.unwrap();
    assert!(!stored.harms[0].quote.contains("hunter2"), "{stored:?}");
    let exported = store.export(None, None, 9).await.unwrap();
    assert!(!serde_json::to_string(&exported).unwrap().contains("sabotage"));
    store.forget(&[TaskId::new("a")]).await.unwrap();
    save(&*store, &task("a", 2)).await;
    assert_eq!(found(&*store, "a").await, None);
    assert_eq!(store.unjudged(None, at(NOW)).await.unwrap(), 1);
}

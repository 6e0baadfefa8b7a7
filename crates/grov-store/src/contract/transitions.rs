//! Transitions: tasks of a client session begin, end and exchange records.

use super::sample::{PROJECT, at, client, edit, exchange, prompt, session, state, task};
use grov_domain::{
    Applied, ExchangeId, ExchangeKind, ExchangeRecord, Move, Redacted, SessionStatus, SessionSummary,
    SideRequest, Store, StoreError, Task, TaskId, TaskTransition, TokenUsage,
};
use std::sync::Arc;

const FILE: &str = "/home/dev/projects/relay/src/limit.rs";

async fn summary(store: &Arc<dyn Store>, task: &str) -> SessionSummary {
    store
        .session(&session(task))
        .await
        .unwrap()
        .expect("the session is stored")
}

fn moving(exchanges: &[&ExchangeRecord], to: &str) -> Move {
    Move {
        client_session_id: client("a"),
        exchanges: exchanges.iter().map(|record| record.id.clone()).collect(),
        to: session(to),
        all_or_nothing: true,
    }
}

/// Begins the task `to` with these exchanges.
fn begin(to: &str, seconds: i64, exchanges: &[&ExchangeRecord]) -> TaskTransition {
    TaskTransition {
        sessions: vec![state("a", to, seconds)],
        moves: Some(moving(exchanges, to)),
        ..TaskTransition::default()
    }
}

/// Moves exchanges and changes nothing else.
fn only(moves: Move) -> TaskTransition {
    TaskTransition {
        moves: Some(moves),
        ..TaskTransition::default()
    }
}

async fn done(store: &Arc<dyn Store>, transition: &TaskTransition) {
    assert_eq!(
        store.apply(&Redacted::of(transition)).await.unwrap(),
        Applied::Done { missing: Vec::new() }
    );
}

/// All records of client session `a`.
async fn everything(store: &Arc<dyn Store>) -> String {
    let mut text = String::new();
    for summary in store.client_session(&client("a")).await.unwrap() {
        let id = &summary.state.session_id;
        let (steps, prompts) = (
            store.steps(id).await.unwrap(),
            store.prompts(id, None).await.unwrap(),
        );
        text += &format!("{summary:#?}\n{steps:#?}\n{prompts:#?}\n");
    }
    let steps = store.steps_reasoning_by_path(PROJECT, FILE, 100).await.unwrap();
    let tasks = store.tasks_for_project(PROJECT, 100).await.unwrap();
    format!("{text}{steps:#?}\n{tasks:#?}")
}

/// Three turns of client session `a`: one with a prompt, one with a side request, one with two prompts.
fn turns() -> [ExchangeRecord; 4] {
    let mut first = exchange("a", 10);
    first.prompts = vec![prompt("one")];
    let second = exchange("a", 20);
    let mut title = exchange("a", 21);
    title.kind = ExchangeKind::Side(SideRequest::Title);
    title.steps.clear();
    let mut third = exchange("a", 30);
    third.prompts = vec![prompt("two"), prompt("three")];
    third.usage.cache_read = 5000;
    [first, second, title, third]
}

/// Exchanges move with prompts, steps and lookups, and both tasks are counted again.
pub async fn exchanges_move_with_all_their_rows(store: Arc<dyn Store>) {
    let [first, second, title, third] = turns();
    store
        .append(&Redacted::each(&[
            first.clone(),
            second.clone(),
            title.clone(),
            third.clone(),
        ]))
        .await
        .unwrap();
    store.append(&Redacted::each(&[exchange("b", 5)])).await.unwrap();
    let whole = summary(&store, "a").await;
    let finished = Task {
        client_session_id: Some(client("a")),
        session_id: Some(session("a")),
        ..task("t", 40)
    };
    let mut old = whole.state.clone();
    old.status = SessionStatus::Completed;
    let transition = TaskTransition {
        sessions: vec![old, state("a", "new", 35)],
        moves: Some(moving(&[&title, &third], "new")),
        finished: vec![finished.clone()],
        ..TaskTransition::default()
    };
    done(&store, &transition).await;

    let old = summary(&store, "a").await;
    assert_eq!((old.prompts, old.steps, old.exchanges), (1, 4, 2));
    assert_eq!((old.state.start_time, old.state.last_update), (at(9), at(20)));
    assert_eq!(
        (old.state.status, old.state.token_count),
        (SessionStatus::Completed, 1563)
    );
    assert_eq!((old.tokens.output, old.tokens.cache_read), (1000, 2000));
    assert_eq!(old.last_action.unwrap().timestamp, at(20));
    let new = summary(&store, "new").await;
    assert_eq!((new.prompts, new.steps, new.exchanges), (2, 2, 2));
    assert_eq!((new.state.start_time, new.state.last_update), (at(20), at(30)));
    assert_eq!(new.state.token_count, 5563);
    assert_eq!((new.tokens.output, new.tokens.cache_read), (1000, 6000));
    assert_eq!(new.state.constraints, ["do not touch the tests"]);
    let last = new.last_action.unwrap();
    assert_eq!((last.timestamp, &last.session_id), (at(30), &session("new")));

    let steps = store.steps(&session("new")).await.unwrap();
    assert_eq!(steps.len(), 2);
    for (row, step) in steps.iter().zip(&third.steps) {
        assert_eq!((&row.id, &row.exchange_id), (&step.id, &third.id));
        assert_eq!(row.reasoning, step.reasoning);
    }
    assert_eq!(store.client_steps(&client("a")).await.unwrap().len(), 6);
    assert_eq!(store.prompts(&session("new"), None).await.unwrap(), third.prompts);
    assert_eq!(store.prompts(&session("a"), None).await.unwrap(), first.prompts);
    // Prompts up to a time; a prompt has the time of the beginning of its exchange.
    let begun = first.started_at;
    let until = store.prompts(&session("a"), Some(begun)).await.unwrap();
    assert_eq!(until, first.prompts);
    let before = begun - time::Duration::milliseconds(1);
    assert_eq!(store.prompts(&session("a"), Some(before)).await.unwrap(), []);
    let touching = store.steps_reasoning_by_path(PROJECT, FILE, 100).await.unwrap();
    let places: Vec<_> = touching.iter().map(|step| step.session_id.as_str()).collect();
    assert_eq!(places, ["new", "a", "a", "b"]);
    assert_eq!(store.task(&finished.id).await.unwrap(), Some(finished));
    assert_eq!(summary(&store, "b").await.exchanges, 1);

    // Later records are added to the counts.
    store.append(&Redacted::each(&[exchange("a", 15)])).await.unwrap();
    let late = ExchangeRecord {
        session_id: session("new"),
        ..exchange("a", 50)
    };
    store.append(&Redacted::each(&[late])).await.unwrap();
    assert_eq!(summary(&store, "a").await.exchanges, 3);
    assert_eq!(summary(&store, "a").await.state.token_count, 1563);
    let new = summary(&store, "new").await;
    assert_eq!((new.exchanges, new.steps, new.state.token_count), (3, 4, 1563));
}

/// Repeating a transition changes nothing, even after all its exchanges left the task.
pub async fn transition_is_idempotent(store: Arc<dyn Store>) {
    let [first, second, title, third] = turns();
    let all = [&first, &second, &title, &third];
    store
        .append(&Redacted::each(&all.map(Clone::clone)))
        .await
        .unwrap();
    let mut old = summary(&store, "a").await.state;
    old.status = SessionStatus::Abandoned;
    let of = |id: &str| Task {
        client_session_id: Some(client("a")),
        session_id: Some(session("a")),
        ..task(id, 40)
    };
    let transition = |id: &str| TaskTransition {
        sessions: vec![old.clone(), state("a", "new", 35)],
        moves: Some(moving(&all, "new")),
        finished: vec![of(id)],
        ..TaskTransition::default()
    };
    done(&store, &transition("t")).await;
    let once = everything(&store).await;
    done(&store, &transition("t")).await;
    assert_eq!(everything(&store).await, once);
    done(&store, &transition("another id for the same")).await;
    assert_eq!(everything(&store).await, once);

    let emptied = summary(&store, "a").await;
    assert_eq!((emptied.prompts, emptied.steps, emptied.exchanges), (0, 0, 0));
    assert_eq!(
        (emptied.tokens, emptied.last_action),
        (TokenUsage::default(), None)
    );
    assert_eq!(emptied.state.token_count, 0);
    assert_eq!(summary(&store, "new").await.exchanges, 4);

    let nothing = TaskTransition::default();
    done(&store, &nothing).await;
    assert_eq!(everything(&store).await, once);
}

/// A transition that needs all its exchanges changes nothing while one is not stored.
pub async fn transition_waits_for_all_of_its_exchanges(store: Arc<dyn Store>) {
    let [first, second, _, third] = turns();
    store
        .append(&Redacted::each(&[first.clone(), second.clone()]))
        .await
        .unwrap();
    let before = everything(&store).await;
    let mut transition = begin("new", 35, &[&third, &second]);
    transition.finished = vec![task("t", 1)];
    assert_eq!(
        store.apply(&Redacted::of(&transition)).await.unwrap(),
        Applied::NotYet {
            missing: vec![third.id.clone()]
        }
    );
    assert_eq!(everything(&store).await, before);
    assert_eq!(store.session(&session("new")).await.unwrap(), None);

    store.append(&[Redacted::of(&third)]).await.unwrap();
    done(&store, &transition).await;
    assert_eq!(summary(&store, "new").await.exchanges, 2);
    assert_eq!(summary(&store, "a").await.exchanges, 1);
}

/// A transition that accepts missing exchanges returns them.
pub async fn transition_skips_exchanges_that_are_not_stored(store: Arc<dyn Store>) {
    let [first, second, _, third] = turns();
    store
        .append(&Redacted::each(&[first, second.clone()]))
        .await
        .unwrap();
    // The same id in another client session is another exchange.
    let mut foreign = third.clone();
    (foreign.client_session_id, foreign.session_id) = (client("b"), session("b"));
    store.append(&Redacted::each(&[foreign])).await.unwrap();
    let mut transition = begin("new", 35, &[&second, &third]);
    transition.moves.as_mut().unwrap().all_or_nothing = false;
    let missing = vec![third.id.clone()];
    assert_eq!(
        store.apply(&Redacted::of(&transition)).await.unwrap(),
        Applied::Done { missing }
    );
    assert_eq!(summary(&store, "new").await.exchanges, 1);
    assert_eq!(summary(&store, "b").await.exchanges, 1);
}

/// Exchanges do not move to an unknown task or to another client session. Then nothing of the transition is applied.
pub async fn transition_needs_a_task_of_the_client_session(store: Arc<dyn Store>) {
    let [first, ..] = turns();
    store
        .append(&Redacted::each(&[first.clone(), exchange("b", 1)]))
        .await
        .unwrap();
    let before = everything(&store).await;
    for to in ["nowhere", "b"] {
        let transition = TaskTransition {
            sessions: vec![state("a", "other", 5)],
            moves: Some(moving(&[&first], to)),
            finished: vec![task("t", 1)],
            ..TaskTransition::default()
        };
        let error = store.apply(&Redacted::of(&transition)).await.unwrap_err();
        assert!(matches!(error, StoreError::Other(_)), "{error}");
        assert!(error.to_string().contains(to), "{error}");
        assert_eq!(everything(&store).await, before);
    }
    assert_eq!(summary(&store, "b").await.exchanges, 1);
}

/// A record that is repeated after its exchange moved is recognised, under the old and the new task.
pub async fn exchange_that_moved_is_not_recorded_again(store: Arc<dyn Store>) {
    let [first, second, title, third] = turns();
    store
        .append(&Redacted::each(&[
            first.clone(),
            second.clone(),
            title.clone(),
            third.clone(),
        ]))
        .await
        .unwrap();
    done(&store, &begin("new", 35, &[&second, &third])).await;
    let before = everything(&store).await;
    let under_new = ExchangeRecord {
        session_id: session("new"),
        ..third.clone()
    };
    let repeats = [third.clone(), first, second, title, under_new];
    assert_eq!(store.append(&Redacted::each(&repeats)).await.unwrap(), 0);
    assert_eq!(everything(&store).await, before);
    let mixed = [third, exchange("a", 40)];
    assert_eq!(store.append(&Redacted::each(&mixed)).await.unwrap(), 1);
    assert_eq!(summary(&store, "a").await.exchanges, 3);
    assert_eq!(summary(&store, "new").await.exchanges, 2);
}

/// Exchanges can move again, to a third task and back, and are in one task at a time.
pub async fn exchanges_move_on_and_back(store: Arc<dyn Store>) {
    let [first, second, title, third] = turns();
    store
        .append(&Redacted::each(&[
            first.clone(),
            second.clone(),
            title.clone(),
            third.clone(),
        ]))
        .await
        .unwrap();
    let of_first = async || {
        let id = session("a");
        (
            summary(&store, "a").await,
            store.steps(&id).await.unwrap(),
            store.prompts(&id, None).await.unwrap(),
        )
    };
    let start = of_first().await;
    done(&store, &begin("new", 35, &[&second, &third])).await;
    done(&store, &begin("newer", 36, &[&first, &third])).await;
    let counts = async |task| {
        let summary = summary(&store, task).await;
        (summary.prompts, summary.steps, summary.exchanges)
    };
    assert_eq!(counts("a").await, (0, 0, 1));
    assert_eq!(counts("new").await, (0, 2, 1));
    assert_eq!(counts("newer").await, (3, 4, 2));
    done(&store, &only(moving(&[&third, &second, &first], "a"))).await;
    assert_eq!(counts("new").await, (0, 0, 0));
    assert_eq!(counts("newer").await, (0, 0, 0));
    let end = everything(&store).await;
    assert_eq!(of_first().await, start);
    assert_eq!(counts("a").await, (3, 6, 4));
    assert_eq!(
        store
            .append(&Redacted::each(&[first, second, title, third]))
            .await
            .unwrap(),
        0
    );
    assert_eq!(everything(&store).await, end);
}

/// An action that a later exchange repeats is one step, even if the earlier exchange moved in between.
pub async fn step_of_an_earlier_exchange_stays_with_its_task(store: Arc<dyn Store>) {
    let broken = exchange("a", 10);
    store.append(&[Redacted::of(&broken)]).await.unwrap();
    done(&store, &begin("new", 15, &[&broken])).await;
    let mut next = exchange("a", 20);
    next.steps.insert(0, broken.steps[1].clone());
    next.steps[0].timestamp = at(99);
    store.append(&[Redacted::of(&next)]).await.unwrap();
    let old = summary(&store, "a").await;
    assert_eq!(old.steps, 2);
    assert_eq!(old.last_action.unwrap().timestamp, at(20));
    assert_eq!(store.client_steps(&client("a")).await.unwrap().len(), 4);
    // Another client session can use the same ids.
    let mut foreign = next.clone();
    (foreign.client_session_id, foreign.session_id) = (client("b"), session("b"));
    store.append(&Redacted::each(&[foreign])).await.unwrap();
    assert_eq!(summary(&store, "b").await.steps, 3);

    // The same step under both tasks, because the records arrived in the opposite order.
    let mut early = exchange("a", 30);
    let late_id = ExchangeId::new("a-exchange-late");
    early.steps.push(edit(&late_id, 0, 30, FILE));
    store.append(&[Redacted::of(&early)]).await.unwrap();
    done(&store, &only(moving(&[&early], "new"))).await;
    let late = ExchangeRecord {
        steps: vec![edit(&late_id, 0, 30, FILE)],
        id: late_id,
        ..exchange("a", 31)
    };
    store.append(&[Redacted::of(&late)]).await.unwrap();
    done(&store, &only(moving(&[&late, &next], "new"))).await;
    let steps = store.steps(&session("new")).await.unwrap();
    assert_eq!(steps.len(), 7);
    assert_eq!(summary(&store, "new").await.steps, 7);
    let touching = store.steps_reasoning_by_path(PROJECT, FILE, 100).await.unwrap();
    let of_a = touching.iter().filter(|step| step.session_id == session("new"));
    assert_eq!(of_a.count(), 4);
}

/// A task without exchanges gets the context size of its next exchange, however old.
pub async fn late_exchange_is_counted_in_an_emptied_task(store: Arc<dyn Store>) {
    let only = exchange("a", 50);
    store.append(&[Redacted::of(&only)]).await.unwrap();
    done(&store, &begin("new", 60, &[&only])).await;
    store.append(&Redacted::each(&[exchange("a", 10)])).await.unwrap();
    let old = summary(&store, "a").await;
    assert_eq!((old.exchanges, old.state.token_count), (1, 1563));
    assert_eq!(old.last_action.unwrap().timestamp, at(10));
}

/// Prompts are returned oldest first, unchanged.
pub async fn prompts_come_in_order(store: Arc<dyn Store>) {
    let typed = |seconds, texts: &[&str]| ExchangeRecord {
        prompts: texts.iter().map(|text| prompt(text)).collect(),
        ..exchange("a", seconds)
    };
    let mut queued = typed(20, &["second", "third"]);
    queued.prompts[1].queued = true;
    store
        .append(&Redacted::each(&[
            typed(30, &["fourth"]),
            queued.clone(),
            typed(10, &["first"]),
        ]))
        .await
        .unwrap();
    store.append(&Redacted::each(&[exchange("b", 1)])).await.unwrap();
    let prompts = store.prompts(&session("a"), None).await.unwrap();
    let texts: Vec<_> = prompts.iter().map(|prompt| prompt.text.as_str()).collect();
    assert_eq!(texts, ["first", "second", "third", "fourth"]);
    assert_eq!(prompts[1..3], queued.prompts);
    assert_eq!(store.prompts(&session("b"), None).await.unwrap(), []);
}

/// A transition that was judged before a memory was forgotten may contain its texts, so nothing of it is applied.
pub async fn transition_judged_before_a_memory_was_forgotten_is_refused(store: Arc<dyn Store>) {
    let first = exchange("a", 10);
    store.append(&[Redacted::of(&first)]).await.unwrap();
    store.save_task(&Redacted::of(&task("t", 1))).await.unwrap();
    store.save_task(&Redacted::of(&task("other", 2))).await.unwrap();
    let before = store.revision().await.unwrap();
    let judged = |id: &str, judged_under| TaskTransition {
        finished: vec![task(id, 3)],
        judged_under: Some(judged_under),
        ..begin("new", 5, &[&first])
    };
    assert_eq!(store.forget(&[TaskId::new("nothing")]).await.unwrap(), []);
    assert_eq!(store.revision().await.unwrap(), before, "nothing went");
    done(&store, &judged("other", before)).await;

    let gone = [TaskId::new("t")];
    assert_eq!(store.forget(&gone).await.unwrap(), gone);
    let untouched = everything(&store).await;
    let late = judged("t", before);
    assert_eq!(
        store.apply(&Redacted::of(&late)).await.unwrap(),
        Applied::Outdated
    );
    assert_eq!(everything(&store).await, untouched);
    assert_eq!(store.task(&gone[0]).await.unwrap(), None);
    // A transition without texts is applied.
    done(&store, &only(moving(&[&first], "a"))).await;
    done(&store, &judged("other", store.revision().await.unwrap())).await;
}

//! Recording of exchanges.

use super::sample::{at, bash, client, edit, exchange, prompt, session, state};
use grov_domain::{
    AgentId, ExchangeId, ExchangeKind, ExchangeRecord, Outcome, Project, Redacted, SessionSummary,
    SideRequest, Store, TokenUsage,
};
use std::sync::Arc;

async fn summary(store: &Arc<dyn Store>, task: &str) -> SessionSummary {
    store
        .session(&session(task))
        .await
        .unwrap()
        .expect("the session is stored")
}

/// Recording the same exchange again, alone or in a batch, changes nothing.
pub async fn append_is_idempotent(store: Arc<dyn Store>) {
    assert_eq!(store.append(&Redacted::each(&[])).await.unwrap(), 0);
    let mut first = exchange("a", 1);
    first.prompts = vec![prompt("one"), prompt("two")];
    let second = exchange("a", 2);
    assert_eq!(
        store
            .append(&Redacted::each(&[first.clone(), second.clone()]))
            .await
            .unwrap(),
        2
    );
    let (summary_before, steps_before) = (
        summary(&store, "a").await,
        store.steps(&session("a")).await.unwrap(),
    );

    assert_eq!(
        store
            .append(&Redacted::each(&[first.clone(), second.clone()]))
            .await
            .unwrap(),
        0
    );
    assert_eq!(summary(&store, "a").await, summary_before);
    assert_eq!(store.steps(&session("a")).await.unwrap(), steps_before);

    let third = exchange("a", 3);
    let mixed = [third.clone(), second, third.clone(), first];
    assert_eq!(
        store.append(&Redacted::each(&mixed)).await.unwrap(),
        1,
        "one is new, though the batch holds it twice"
    );
    let summary = summary(&store, "a").await;
    assert_eq!((summary.exchanges, summary.prompts, summary.steps), (3, 2, 6));
    assert_eq!(store.steps(&session("a")).await.unwrap().len(), 6);
}

/// Exchanges of two sessions are distinct, even with the same id and in one batch.
pub async fn append_distinguishes_exchanges_of_two_sessions(store: Arc<dyn Store>) {
    let known = exchange("a", 1);
    let same_id = ExchangeRecord {
        id: known.id.clone(),
        steps: known.steps.clone(),
        ..exchange("b", 1)
    };
    store.append(&[Redacted::of(&known)]).await.unwrap();
    assert_eq!(
        store
            .append(&Redacted::each(&[known.clone(), same_id.clone()]))
            .await
            .unwrap(),
        1
    );
    assert_eq!(store.append(&Redacted::each(&[same_id, known])).await.unwrap(), 0);
    for task in ["a", "b"] {
        let summary = summary(&store, task).await;
        assert_eq!((summary.exchanges, summary.steps), (1, 2), "{task}");
    }
}

/// An action that two exchanges report is one step.
pub async fn append_counts_each_step_once(store: Arc<dyn Store>) {
    let broken = exchange("a", 1);
    let mut next = exchange("a", 2);
    next.steps.insert(0, broken.steps[1].clone());
    store.append(&[Redacted::of(&broken)]).await.unwrap();
    store.append(&Redacted::each(&[next])).await.unwrap();
    let mut inside = exchange("a", 3);
    let id = inside.id.clone();
    inside.steps = vec![edit(&id, 0, 3, "/a"), edit(&id, 0, 3, "/a"), bash(&id, 1, 3)];
    store.append(&Redacted::each(&[inside])).await.unwrap();
    assert_eq!(store.steps(&session("a")).await.unwrap().len(), 6);
    assert_eq!(summary(&store, "a").await.steps, 6);
}

/// Prompts, steps, exchanges and tokens by class are summed per task, side requests included.
pub async fn append_keeps_counters(store: Arc<dyn Store>) {
    let mut main = exchange("a", 1);
    main.prompts = vec![prompt("do it")];
    let mut subagent = exchange("a", 2);
    subagent.kind = ExchangeKind::Subagent;
    subagent.agent_id = Some(AgentId::new("agent-1"));
    let mut title = exchange("a", 3);
    title.kind = ExchangeKind::Side(SideRequest::Title);
    title.steps.clear();
    let mut queued = exchange("a", 4);
    queued.prompts = vec![prompt("and this"), prompt("and that")];
    queued.prompts[0].queued = true;
    let other = exchange("b", 1);
    store
        .append(&Redacted::each(&[main, subagent, other]))
        .await
        .unwrap();
    store.append(&Redacted::each(&[title, queued])).await.unwrap();

    let a = summary(&store, "a").await;
    assert_eq!((a.prompts, a.steps, a.exchanges), (3, 6, 4));
    assert_eq!(
        a.tokens,
        TokenUsage {
            input: 12,
            cache_read: 4000,
            cache_creation: 240,
            cache_creation_5m: 80,
            cache_creation_1h: 160,
            output: 2000
        }
    );
    assert_eq!((a.state.start_time, a.state.last_update), (at(0), at(4)));
    assert_eq!(a.state.user_id.as_deref(), Some("Dev <dev@example.com>"));
    assert_eq!(a.state.client_session_id, client("a"));
    let b = summary(&store, "b").await;
    assert_eq!((b.prompts, b.steps, b.exchanges, b.tokens.output), (0, 2, 1, 500));
    assert_eq!(store.session(&session("c")).await.unwrap(), None);

    let steps = store.steps(&session("a")).await.unwrap();
    let by_agent: Vec<_> = steps.iter().filter(|step| step.agent_id.is_some()).collect();
    assert_eq!(by_agent.len(), 2);
    assert_eq!(by_agent[0].agent_id, Some(AgentId::new("agent-1")));
    assert_eq!(a.last_action.as_ref(), steps.last());
}

/// The context size is that of the newest main exchange that has one, in any order of recording.
pub async fn context_size_is_that_of_the_newest_main_exchange(store: Arc<dyn Store>) {
    let sized = |seconds, cache_read| ExchangeRecord {
        usage: TokenUsage {
            input: 1,
            cache_read,
            cache_creation: 10,
            output: 100,
            ..TokenUsage::default()
        },
        ..exchange("a", seconds)
    };
    let size = async || summary(&store, "a").await.state.token_count;
    store
        .append(&Redacted::each(&[sized(5, 5000), sized(4, 4000)]))
        .await
        .unwrap();
    assert_eq!(size().await, 5111, "the newest of a batch");
    store.append(&Redacted::each(&[sized(3, 3000)])).await.unwrap();
    assert_eq!(size().await, 5111, "an older one that comes late");
    let agent = ExchangeRecord {
        kind: ExchangeKind::Subagent,
        ..sized(6, 60)
    };
    let side = ExchangeRecord {
        kind: ExchangeKind::Side(SideRequest::Compaction),
        ..sized(7, 70)
    };
    let failed = ExchangeRecord {
        usage: TokenUsage::default(),
        outcome: Outcome::UpstreamError,
        ..exchange("a", 8)
    };
    store
        .append(&Redacted::each(&[agent, side, failed]))
        .await
        .unwrap();
    assert_eq!(size().await, 5111, "others say nothing about it");
    store.append(&Redacted::each(&[sized(9, 100)])).await.unwrap();
    assert_eq!(size().await, 211, "it shrinks after a compaction");
}

/// Exchanges with any token counts are recorded.
pub async fn huge_token_counts_do_not_overflow(store: Arc<dyn Store>) {
    for seconds in 0..4 {
        let all = u64::MAX;
        let usage = TokenUsage {
            input: all,
            cache_read: all,
            cache_creation: all,
            cache_creation_5m: all,
            cache_creation_1h: all,
            output: all,
        };
        assert_eq!(
            store
                .append(&Redacted::each(&[ExchangeRecord {
                    usage,
                    ..exchange("a", seconds)
                }]))
                .await
                .unwrap(),
            1
        );
    }
    let summary = summary(&store, "a").await;
    assert_eq!(summary.exchanges, 4);
    assert!(summary.tokens.output > 0);
}

/// Concurrent appends, partly of the same exchanges, give the same result as sequential ones.
pub async fn concurrent_appends_lose_and_duplicate_nothing(store: Arc<dyn Store>) {
    let append = async |writer: i64| {
        let mut new = 0;
        for round in 0..20 {
            // Every second writer repeats the exchanges of its neighbour.
            let batch: Vec<_> = (0..4)
                .map(|index| {
                    exchange(
                        &format!("s{}", round % 3),
                        (writer / 2) * 1000 + round * 10 + index,
                    )
                })
                .collect();
            new += store.append(&Redacted::each(&batch)).await.unwrap();
        }
        new
    };
    let writers = futures_util::future::join_all((0..6).map(append)).await;
    assert_eq!(writers.into_iter().sum::<usize>(), 240);
    let (mut exchanges, mut steps) = (0, 0);
    for summary in store.sessions(&Default::default()).await.unwrap() {
        let kept = store.steps(&summary.state.session_id).await.unwrap();
        assert_eq!(summary.steps, kept.len() as u64);
        exchanges += summary.exchanges;
        steps += summary.steps;
    }
    assert_eq!((exchanges, steps), (240, 480));
}

/// Until a better goal is known, the beginning of the first prompt is the goal.
pub async fn first_prompt_becomes_the_goal(store: Arc<dyn Store>) {
    let goal = async || summary(&store, "a").await.state.original_goal;
    store.append(&Redacted::each(&[exchange("a", 1)])).await.unwrap();
    assert_eq!(goal().await, None);
    let mut prompted = exchange("a", 2);
    let long = "häufig ".repeat(100);
    prompted.prompts = vec![prompt(&format!("\n  {long}")), prompt("second")];
    store.append(&Redacted::each(&[prompted])).await.unwrap();
    assert_eq!(goal().await, Some(long.chars().take(200).collect()));
    let mut later = exchange("a", 3);
    later.prompts = vec![prompt("something else")];
    store.append(&Redacted::each(&[later])).await.unwrap();
    assert_eq!(goal().await, Some(long.chars().take(200).collect()));
    store
        .save_session(&Redacted::of(&state("a", "a", 4)))
        .await
        .unwrap();
    assert_eq!(goal().await.as_deref(), Some("Check the limit on every frame"));
}

/// As soon as one exchange of a client session has the project, all its current and later tasks have it.
pub async fn unknown_project_is_filled_in_later(store: Arc<dyn Store>) {
    let homeless = |client_session: &str, task: &str, seconds| ExchangeRecord {
        id: ExchangeId::new(format!("{task}-{seconds}")),
        session_id: session(task),
        project: Project::default(),
        steps: Vec::new(),
        ..exchange(client_session, seconds)
    };
    let project = async |task: &str| summary(&store, task).await.state.project_path;
    store
        .append(&Redacted::each(&[
            homeless("a", "a", 1),
            homeless("a", "a2", 2),
            homeless("z", "z", 2),
        ]))
        .await
        .unwrap();
    assert_eq!(project("a").await, "");
    let mut saved = super::sample::task("t", 3);
    saved.project_path = String::new();
    saved.client_session_id = Some(client("a"));
    saved.session_id = Some(session("a"));
    store.save_task(&Redacted::of(&saved)).await.unwrap();

    store.append(&Redacted::each(&[exchange("a", 3)])).await.unwrap();
    let home = super::sample::PROJECT;
    assert_eq!(
        (project("a").await.as_str(), project("a2").await.as_str()),
        (home, home)
    );
    assert_eq!(project("z").await, "", "another client session stays where it is");
    assert_eq!(store.tasks_for_project(home, 10).await.unwrap().len(), 1);
    assert_eq!(store.tasks_for_project("", 10).await.unwrap().len(), 0);

    store
        .append(&Redacted::each(&[homeless("a", "a3", 4)]))
        .await
        .unwrap();
    assert_eq!(
        project("a3").await,
        home,
        "a new task finds its sibling's project"
    );
    let elsewhere = Project {
        path: Some("/elsewhere".to_owned()),
        remote: None,
    };
    store
        .append(&Redacted::each(&[ExchangeRecord {
            project: elsewhere,
            ..exchange("a", 5)
        }]))
        .await
        .unwrap();
    assert_eq!(project("a").await, home, "what is known stays");

    let mut state = state("z", "z", 6);
    state.project_path = "/z".to_owned();
    store.save_session(&Redacted::of(&state)).await.unwrap();
    store
        .append(&Redacted::each(&[homeless("z", "z2", 7)]))
        .await
        .unwrap();
    assert_eq!(
        (project("z").await.as_str(), project("z2").await.as_str()),
        ("/z", "/z")
    );
}

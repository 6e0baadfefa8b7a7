use crate::sim;
use grov_domain::{ExchangeKind, SideRequest};
use grov_sim::cache::{BreakReason, CacheAudit};
use grov_sim::{
    Behaviour, ManualClock, Player, PlayerConfig, Recording, Rule, Scenario, ScenarioSet, Sim, SimConfig,
    When,
};
use std::time::Duration;
use tempfile::TempDir;
use time::macros::datetime;

struct Stage {
    sim: Sim,
    directory: TempDir,
    player: Player,
}

impl Stage {
    async fn with(set_up: impl FnOnce(&mut PlayerConfig)) -> Self {
        Self::on(sim().await, set_up)
    }

    fn on(sim: Sim, set_up: impl FnOnce(&mut PlayerConfig)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut config = PlayerConfig {
            retry_delay: Duration::ZERO,
            ..PlayerConfig::in_directory(directory.path())
        };
        set_up(&mut config);
        let player = Player::new(&sim.url(), config).unwrap();
        Self {
            sim,
            directory,
            player,
        }
    }

    async fn new() -> Self {
        Self::with(|_| {}).await
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.directory.path().join(name)).unwrap()
    }

    /// Tools used, in order, the failed ones with `!`.
    fn tools(&self) -> Vec<String> {
        let actions = &self.player.transcript().actions;
        actions
            .iter()
            .map(|action| format!("{}{}", action.tool, if action.is_error { "!" } else { "" }))
            .collect()
    }

    fn kinds(&self) -> Vec<ExchangeKind> {
        self.player
            .transcript()
            .exchanges
            .iter()
            .map(|exchange| exchange.kind)
            .collect()
    }

    #[track_caller]
    fn assert_no_cache_breaks(&self) {
        let report = self.sim.cache_report();
        let broken: Vec<_> = report.broken().collect();
        assert!(broken.is_empty(), "{broken:#?}");
    }
}

#[tokio::test]
async fn text() {
    let mut stage = Stage::new().await;
    stage.player.run(["hello"]).await;
    let transcript = stage.player.transcript();
    assert_eq!(transcript.probe_status, Some(200));
    assert_eq!(
        transcript.turns[0].answer,
        "Everything is in order; there is nothing to change."
    );
    assert_eq!(stage.sim.messages()[0].body, transcript.exchanges[0].sent);
}

#[tokio::test]
async fn tools() {
    let mut stage = Stage::new().await;
    stage.player.run(["add a greeting [[scenario:tools]]"]).await;
    assert_eq!(stage.tools(), ["Write", "Read", "Edit", "Bash"]);
    assert_eq!(stage.file("greeting.txt"), "hello\ngrov\n");
    assert_eq!(stage.player.transcript().actions[3].result, "2 greeting.txt\n1");
    assert_eq!(stage.player.transcript().exchanges.len(), 5);
    stage.assert_no_cache_breaks();
    let report = stage.sim.cache_report();
    assert_eq!(report.requests[0].actual_read, 0);
    assert!(
        report.requests[1..]
            .iter()
            .all(|request| request.actual_read > 10_000 && request.expected_read > 10_000)
    );
}

#[tokio::test]
async fn parallel_and_thinking() {
    let mut stage = Stage::new().await;
    stage
        .player
        .run(["[[scenario:parallel]]", "[[scenario:thinking]]"])
        .await;
    assert_eq!(
        stage.tools(),
        ["Write", "Write", "Bash", "Read", "Read", "Write", "Bash"]
    );
    assert_eq!(stage.file("right.txt"), "right\n");
    assert_eq!(stage.player.transcript().first_error(), None);
    let body = String::from_utf8(stage.sim.messages().last().unwrap().body.to_vec()).unwrap();
    assert!(body.contains(
        r#"{"type":"thinking","thinking":"A small note is enough; a file will do.","signature":"EqoB"#
    ));
    stage.assert_no_cache_breaks();
}

#[tokio::test]
async fn a_subagent_has_its_own_conversation() {
    let mut stage = Stage::new().await;
    stage.player.run(["count [[scenario:subagent]]"]).await;
    assert_eq!(stage.tools(), ["Write", "Bash", "Read", "Agent"]);
    let transcript = stage.player.transcript();
    let agent = transcript.actions[1].agent_id.clone().unwrap();
    assert!(
        transcript.actions[3]
            .result
            .starts_with("list.txt has 3 lines.\nagentId: a")
    );
    let with_header: Vec<_> = stage
        .sim
        .messages()
        .iter()
        .filter_map(|request| request.header("x-claude-code-agent-id").map(str::to_owned))
        .collect();
    assert_eq!(with_header, vec![agent; 3]);
    stage.assert_no_cache_breaks();
}

#[tokio::test]
async fn seventy_steps_of_one_prompt() {
    let mut stage = Stage::with(|config| config.tools_size = 20_000).await;
    stage.player.run(["[[scenario:long]]"]).await;
    assert_eq!(stage.player.transcript().exchanges.len(), 70);
    assert_eq!(
        stage.player.transcript().turns[0].answer,
        "All parts are written."
    );
    assert_eq!(stage.file("log.txt").lines().last(), Some("step 69"));
    stage.assert_no_cache_breaks();
}

#[tokio::test]
async fn title_suggestion_and_search_are_outside_of_the_conversation() {
    let mut stage = Stage::with(|config| config.interactive = true).await;
    stage
        .player
        .run(["[[scenario:tools]]", "[[scenario:search]]"])
        .await;
    let transcript = stage.player.transcript();
    assert_eq!(transcript.title.as_deref(), Some("Add a greeting"));
    assert_eq!(transcript.suggestion.as_deref(), Some("go on"));
    let side = |kind| {
        stage
            .kinds()
            .iter()
            .filter(|it| **it == ExchangeKind::Side(kind))
            .count()
    };
    assert_eq!(
        (
            side(SideRequest::Title),
            side(SideRequest::Suggestion),
            side(SideRequest::WebTool)
        ),
        (1, 2, 1)
    );
    assert_eq!(transcript.turns[1].answer, "The search found one page.");
    assert!(
        transcript
            .actions
            .last()
            .unwrap()
            .result
            .contains("One page was found.")
    );
    stage.assert_no_cache_breaks();
}

#[tokio::test]
async fn work_continues_after_a_compaction() {
    let mut stage = Stage::new().await;
    stage
        .player
        .run(["[[scenario:tools]]", "/compact", "[[scenario:parallel]]"])
        .await;
    assert_eq!(stage.player.transcript().first_error(), None);
    assert_eq!(stage.tools().len(), 4 + 5);
    let last = stage.sim.messages().last().unwrap().body.clone();
    let last = String::from_utf8(last.to_vec()).unwrap();
    assert!(last.contains("A greeting file was written, changed and counted."));
    assert!(!last.contains("[[scenario:tools]]"));
    stage.assert_no_cache_breaks();
}

#[tokio::test]
async fn the_older_dialect_works_the_same() {
    let mut stage = Stage::with(|config| config.model = "claude-sonnet-4-5".to_owned()).await;
    stage
        .player
        .run(["[[scenario:tools]]", "[[scenario:question]]"])
        .await;
    assert_eq!(stage.player.transcript().first_error(), None);
    assert_eq!(stage.tools().len(), 4);
    assert!(
        stage.player.transcript().turns[1]
            .answer
            .starts_with("Which of the two files")
    );
    stage.assert_no_cache_breaks();
}

#[tokio::test]
async fn the_clients_token_counts_equal_the_cache_report() {
    let mut stage = Stage::new().await;
    stage.player.run(["[[scenario:tools]]"]).await;
    let usage = stage.player.transcript().usage();
    let report = stage.sim.cache_report();
    assert_eq!(
        (usage.cache_read, usage.cache_creation),
        (report.read(), report.written())
    );
    assert_eq!(usage.cache_creation, usage.cache_creation_5m);
    assert!(usage.output > 100);
}

#[tokio::test]
async fn a_pause_of_six_minutes_expires_the_cache_without_a_reported_break() {
    let clock = ManualClock::at(datetime!(2026-01-01 00:00 UTC));
    let config = SimConfig {
        clock: std::sync::Arc::new(clock.clone()),
        ..SimConfig::default()
    };
    let mut stage = Stage::on(Sim::start(config).await.unwrap(), |_| {});
    stage.player.run(["one"]).await;
    clock.advance(Duration::from_secs(6 * 60));
    stage.player.run(["two"]).await;
    let report = stage.sim.cache_report();
    assert_eq!(report.requests[1].actual_read, 0);
    stage.assert_no_cache_breaks();
}

#[tokio::test]
async fn a_change_of_the_system_prompt_is_reported() {
    let mut stage = Stage::new().await;
    stage.player.run(["one"]).await;
    // The same session continues with a different system prompt, as if a proxy had changed it.
    let first = stage.sim.messages()[0].body.clone();
    let changed = String::from_utf8(first.to_vec())
        .unwrap()
        .replace("Primary working", "Changed working");
    let request = crate::messages_request(
        &changed,
        &format!(
            "anthropic-beta: context-management-2025-06-27\r\nx-claude-code-session-id: {}\r\n",
            stage.player.transcript().session_id
        ),
    );
    crate::exchange(&mut crate::connect(&stage.sim).await, &request).await;
    let report = stage.sim.cache_report();
    let broken: Vec<_> = report.broken().collect();
    assert_eq!(broken.len(), 1);
    let reason = &broken[0].broken.as_ref().unwrap().reason;
    assert!(
        matches!(reason, BreakReason::Changed { before, .. } if before == "system[2]"),
        "{reason:?}"
    );
}

#[tokio::test]
async fn an_audit_of_untouched_traffic_finds_nothing() {
    let mut stage = Stage::new().await;
    stage.player.run(["[[scenario:tools]]", "and now?"]).await;
    let mut audit = CacheAudit::default();
    let now = datetime!(2026-01-01 00:00 UTC);
    for exchange in &stage.player.transcript().exchanges {
        let arrived = stage
            .sim
            .messages()
            .into_iter()
            .find(|it| Some(&it.request_id) == exchange.request_id.as_ref());
        let comparison = audit
            .observe(&exchange.sent, &arrived.unwrap().body, now)
            .unwrap();
        assert!(!comparison.caused_a_miss());
    }
}

#[tokio::test]
async fn an_overload_is_retried() {
    let mut stage = Stage::new().await;
    stage
        .sim
        .inject(Rule::new(When::Always, "status=529,times=3".parse().unwrap()));
    stage.player.run(["hello"]).await;
    let statuses: Vec<_> = stage
        .player
        .transcript()
        .exchanges
        .iter()
        .map(|exchange| exchange.status)
        .collect();
    assert_eq!(statuses, [Some(529), Some(529), Some(529), Some(200)]);
    let bodies: Vec<_> = stage
        .sim
        .messages()
        .iter()
        .map(|request| request.body.clone())
        .collect();
    assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]));
}

#[tokio::test]
async fn a_stream_that_breaks_early_is_retried_without_streaming() {
    for fault in [
        "cut-events=2",
        "malformed=3",
        "error-event=2",
        "html",
        "empty",
        "json",
    ] {
        let mut stage = Stage::new().await;
        stage.sim.inject(Rule::new(When::Nth(1), fault.parse().unwrap()));
        stage.player.run(["hello"]).await;
        let transcript = stage.player.transcript();
        assert_eq!(transcript.first_error(), None, "{fault}");
        let streams: Vec<_> = transcript
            .exchanges
            .iter()
            .map(|exchange| exchange.stream)
            .collect();
        assert_eq!(streams, [true, false], "{fault}");
        assert_eq!(stage.sim.messages()[1].header("x-stainless-timeout"), Some("300"));
    }
}

#[tokio::test]
async fn a_stream_that_breaks_after_a_block_ends_the_turn() {
    let mut stage = Stage::new().await;
    // Start, block start, ping, two deltas and the end of the first block.
    stage
        .sim
        .inject(Rule::new(When::Nth(1), "cut-events=7".parse().unwrap()));
    stage
        .player
        .run(["[[scenario:tools]]", "[[scenario:text]]"])
        .await;
    let transcript = stage.player.transcript();
    assert_eq!(
        transcript.turns[0].error.as_deref(),
        Some("Connection closed mid-response")
    );
    assert!(transcript.actions.is_empty());
    assert_eq!(transcript.turns[1].error, None, "the session goes on");
}

#[tokio::test]
async fn an_interactive_session_continues_after_a_failed_turn() {
    let mut stage = Stage::with(|config| config.interactive = true).await;
    stage.player.run(["one"]).await;
    let sent = stage.sim.messages().len() as u64;
    stage
        .sim
        .inject(Rule::new(When::Nth(sent + 1), "status=403".parse().unwrap()));
    stage.player.run(["two", "three"]).await;
    let transcript = stage.player.transcript();
    let failed: Vec<bool> = transcript.turns.iter().map(|turn| turn.error.is_some()).collect();
    assert_eq!(failed, [false, true, false]);
    let statuses: Vec<_> = transcript
        .exchanges
        .iter()
        .filter_map(|exchange| exchange.status)
        .collect();
    assert_eq!(
        statuses.iter().filter(|status| **status != 200).count(),
        1,
        "{statuses:?}"
    );
}

#[tokio::test]
async fn a_reset_is_retried_and_a_refusal_is_not() {
    let mut stage = Stage::new().await;
    stage
        .sim
        .inject(Rule::new(When::Nth(1), "reset".parse().unwrap()));
    stage
        .sim
        .inject(Rule::new(When::Nth(3), "status=403".parse().unwrap()));
    stage.player.run(["one", "two"]).await;
    let transcript = stage.player.transcript();
    assert_eq!(
        (transcript.exchanges.len(), transcript.turns[0].error.as_deref()),
        (3, None)
    );
    assert!(
        transcript.turns[1]
            .error
            .as_deref()
            .unwrap()
            .starts_with("API Error: 403")
    );
}

#[tokio::test]
async fn a_silent_response_times_out() {
    let mut stage = Stage::with(|config| config.patience = Duration::from_millis(300)).await;
    stage
        .sim
        .inject(Rule::new(When::Nth(1), "stall=0".parse().unwrap()));
    stage.player.run(["one"]).await;
    let transcript = stage.player.transcript();
    assert_eq!(
        (
            transcript.exchanges[0].status,
            transcript.turns[0].error.as_deref()
        ),
        (None, None)
    );
}

#[tokio::test]
async fn every_encoding_and_framing_is_decoded() {
    for behaviour in [
        "encoding=gzip",
        "encoding=deflate",
        "encoding=br,frame=7",
        "encoding=zstd,write=3",
        "frame=1",
        "write=1",
        "until-close",
        "http10",
        "length",
        "crlf,comments",
        "trailer=x:y",
        "interim=103",
        "connection-close",
    ] {
        let config = SimConfig {
            behaviour: behaviour.parse::<Behaviour>().unwrap(),
            ..SimConfig::default()
        };
        let mut stage = Stage::on(Sim::start(config).await.unwrap(), |config| {
            config.tools_size = 2000
        });
        stage.player.run(["[[scenario:tools]]"]).await;
        assert_eq!(stage.player.transcript().first_error(), None, "{behaviour}");
        assert_eq!(stage.tools().len(), 4, "{behaviour}");
        assert_eq!(stage.player.transcript().exchanges.len(), 5, "{behaviour}");
    }
}

#[tokio::test]
async fn a_custom_scenario_can_be_played() {
    let scenario = br#"{"default":"mine","scenarios":{"mine":{"steps":[
        {"repeat":3,"blocks":[{"type":"tool_use","name":"Bash","input":{"command":"echo {step} in {cwd}"}}]},
        {"blocks":[{"type":"text","text":"cut"}],"stop_reason":"max_tokens"},
        {"blocks":[{"type":"text","text":"end"}]}]}}}"#;
    let mut stage = Stage::new().await;
    stage
        .sim
        .set_script(ScenarioSet::default().with_json(scenario).unwrap());
    stage.player.run(["go"]).await;
    let transcript = stage.player.transcript();
    assert_eq!(
        transcript.actions[2].result,
        format!("3 in {}", stage.directory.path().display())
    );
    assert_eq!(
        (transcript.exchanges.len(), transcript.turns[0].answer.as_str()),
        (5, "end")
    );
    stage
        .sim
        .set_script(ScenarioSet::default().with("text", Scenario::default()));
    stage.player.run(["more"]).await;
    assert_eq!(
        stage.player.transcript().turns[1].answer,
        grov_sim::scenario::ENDED
    );
}

#[tokio::test]
async fn many_players_can_run_without_kept_bodies() {
    let config = SimConfig {
        recording: Recording::Nothing,
        ..SimConfig::default()
    };
    let sim = Sim::start(config).await.unwrap();
    let mut players = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let url = sim.url();
        players.spawn(async move {
            let directory = tempfile::tempdir().unwrap();
            let config = PlayerConfig {
                tools_size: 2000,
                ..PlayerConfig::in_directory(directory.path())
            };
            let mut player = Player::new(&url, config).unwrap();
            player
                .run(["[[scenario:tools]]"])
                .await
                .first_error()
                .map(str::to_owned)
        });
    }
    assert!(players.join_all().await.iter().all(Option::is_none));
    assert!(sim.requests().is_empty() && sim.cache_report().requests.is_empty());
    assert_eq!(sim.connections(), 40, "a probe and a session each");
}

//! The configured judge, and the cost of Grov's own model calls.

use crate::scene::{Scene, json};
use crate::stored::fill;
use grov_domain::{
    CallOutcome, LlmCall, LlmCallId, MicroUsd, Purpose, Redacted, SessionId, SpendingStore, TokenUsage,
};
use serde_json::json as object;
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

fn call(purpose: Purpose, session: Option<&str>, at: OffsetDateTime, micro_usd: u64) -> LlmCall {
    LlmCall {
        id: LlmCallId::fresh(),
        purpose,
        provider: "anthropic".to_owned(),
        model: "small-model".to_owned(),
        session_id: session.map(SessionId::new),
        at,
        latency: std::time::Duration::from_millis(750),
        usage: TokenUsage {
            input: 1000,
            cache_read: 10,
            cache_creation: 1,
            output: 100,
            ..TokenUsage::default()
        },
        cost: MicroUsd(micro_usd),
        outcome: CallOutcome::Answered,
    }
}

/// Three calls on two days of May, for two purposes: two of sessions and one without.
fn three_calls(scene: &Scene) {
    let calls = [
        call(
            Purpose::ExtractIntent,
            Some("one"),
            datetime!(2026-05-28 10:00 UTC),
            1500,
        ),
        call(
            Purpose::CheckDrift,
            Some("two"),
            datetime!(2026-05-28 23:59:59 UTC),
            9000,
        ),
        call(Purpose::ExtractIntent, None, datetime!(2026-05-29 0:00 UTC), 250),
    ];
    fill(scene, async |store| {
        for call in &calls {
            store.settle(&Redacted::of(call)).await.unwrap();
        }
    });
}

#[test]
fn usage_lists_calls_with_their_cost() {
    let scene = Scene::new();
    three_calls(&scene);
    let answer = scene.ask(&["usage"]);
    assert_eq!(
        answer["calls"][0],
        object!({
            "purpose": "extract_intent", "provider": "anthropic", "model": "small-model", "session_id": "one",
            "tokens": {"input": 1000, "cache_read": 10, "cache_creation": 1, "cache_creation_5m": 0,
                "cache_creation_1h": 0, "output": 100},
            "cost_usd": 0.0015, "latency_ms": 750, "outcome": "answered", "at": "2026-05-28T10:00:00Z",
        })
    );
    assert_eq!(answer["calls"].as_array().unwrap().len(), 3);
    assert_eq!(answer["calls"][2]["session_id"], object!(null));
    assert_eq!(answer["total_usd"], 0.01075);
    assert_eq!(answer.get("groups"), None);
    let text = scene.run(&["usage"]).stdout;
    for part in [
        "COST",
        "check_drift",
        "$0.009000",
        "total",
        "$0.010750",
        "budget: ",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}

#[test]
fn usage_is_grouped_on_request() {
    let scene = Scene::new();
    three_calls(&scene);
    let groups = |by: &str| {
        let answer = scene.ask(&["usage", "--by", by]);
        assert_eq!(answer["total_usd"], 0.01075);
        assert_eq!(answer["calls"].as_array().unwrap().len(), 3);
        let groups = answer["groups"].as_array().unwrap().iter();
        groups
            .map(|group| {
                object!([
                    group["key"],
                    group["calls"],
                    group["cost_usd"],
                    group["tokens"]["input"]
                ])
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        groups("day"),
        [
            object!(["2026-05-28", 2, 0.0105, 2000]),
            object!(["2026-05-29", 1, 0.00025, 1000])
        ]
    );
    assert_eq!(
        groups("session"),
        [
            object!(["two", 1, 0.009, 1000]),
            object!(["one", 1, 0.0015, 1000]),
            object!([null, 1, 0.00025, 1000])
        ]
    );
    assert_eq!(
        groups("purpose"),
        [
            object!(["check_drift", 1, 0.009, 1000]),
            object!(["extract_intent", 2, 0.00175, 2000])
        ]
    );
    let text = scene.run(&["usage", "--by", "session"]).stdout;
    assert!(
        text.starts_with("SESSION") && text.contains("none") && text.contains("$0.010750"),
        "{text}"
    );
}

#[test]
fn usage_since_a_time_omits_earlier_calls() {
    let scene = Scene::new();
    three_calls(&scene);
    let count = |since: &str| {
        let answer = scene.ask(&["usage", "--since", since]);
        answer["calls"].as_array().unwrap().len()
    };
    assert_eq!(count("2026-05-29"), 1);
    assert_eq!(count("2026-05-28T12:00:00Z"), 2);
    assert_eq!(count("0s"), 0);
    let ended = scene.run(&["usage", "--since", "soon", "--json"]);
    let message = json(&ended)["error"]["message"].as_str().unwrap().to_owned();
    assert!(ended.code == 64 && message.contains("7d"), "{message}");
}

#[test]
fn text_shows_the_newest_calls_and_the_total_of_all() {
    let scene = Scene::new();
    fill(&scene, async |store| {
        for minute in 0..25 {
            let at = datetime!(2026-05-28 10:00 UTC) + Duration::minutes(minute);
            let call = call(Purpose::CheckDrift, None, at, 1000);
            store.settle(&Redacted::of(&call)).await.unwrap();
        }
    });
    let text = scene.run(&["usage"]).stdout;
    assert_eq!(text.matches("check_drift").count(), 20, "{text}");
    assert!(
        text.contains("25 calls") && text.contains("$0.025000") && text.contains("10:24 UTC"),
        "{text}"
    );
    assert_eq!(scene.ask(&["usage"])["calls"].as_array().unwrap().len(), 25);
}

#[test]
fn the_budget_counts_amounts_spent_and_reserved_today() {
    let scene = Scene::new().env("GROV_LLM_API_KEY", "key-of-grov");
    let now = OffsetDateTime::now_utc();
    let spend = |micro_usd, at| {
        let reserved = LlmCall {
            outcome: CallOutcome::Reserved,
            ..call(Purpose::CheckDrift, None, at, micro_usd)
        };
        fill(&scene, async |store| {
            store.settle(&Redacted::of(&reserved)).await.unwrap()
        });
    };
    spend(700_000, now - Duration::days(2));
    // A call in the future counts for every day, so the test also passes at midnight.
    spend(120_000, now + Duration::days(1));
    let budget = object!({"daily_usd": 0.5, "spent_today_usd": 0.12, "left_usd": 0.38});
    assert_eq!(scene.ask(&["usage"])["budget"], budget);
    let judge = object!({
        "provider": "anthropic", "model": "claude-haiku-4-5-20251001", "missing": null, "budget": budget,
    });
    for command in ["status", "proxy-status"] {
        assert_eq!(scene.ask(&[command])["judge"], judge, "{command}");
        let text = scene.run(&[command]).stdout;
        let line = "anthropic claude-haiku-4-5-20251001; $0.12 of $0.50 spent today, $0.38 left";
        assert!(text.contains(line), "{text}");
    }
    spend(500_000, now + Duration::days(1));
    assert_eq!(scene.ask(&["usage"])["budget"]["left_usd"], 0.0);
    let text = scene.run(&["status"]).stdout;
    assert!(
        text.contains("$0.62 of $0.50 spent today, nothing left until midnight UTC"),
        "{text}"
    );
}

#[test]
fn status_shows_the_judge_and_missing_settings() {
    let judge = |variables: &[(&str, &str)]| {
        let scene = variables
            .iter()
            .fold(Scene::new(), |scene, (name, value)| scene.env(name, value));
        let judge = scene.ask(&["status"])["judge"].clone();
        let text = scene.run(&["status"]).stdout;
        let line = text.lines().find(|line| line.starts_with("judge")).unwrap();
        (
            format!("{} {}", judge["provider"], judge["model"]),
            line["judge".len()..].trim().to_owned(),
        )
    };
    let expected = |json: &str, line: &str| (json.to_owned(), line.to_owned());
    assert_eq!(judge(&[]), expected("\"offline\" null", "rules only"));
    assert_eq!(
        judge(&[("ANTHROPIC_API_KEY", "the-clients")]),
        expected("\"offline\" null", "rules only")
    );
    assert_eq!(
        judge(&[("GROV_LLM_PROVIDER", "anthropic")]),
        expected(
            "\"offline\" null",
            "rules only; llm.provider is anthropic, but there is no key: set GROV_LLM_API_KEY"
        )
    );
    assert_eq!(
        judge(&[
            ("GROV_LLM_PROVIDER", "openai"),
            ("GROV_LLM_BASE_URL", "http://127.0.0.1:11434/v1"),
            ("GROV_LLM_MODEL", "local"),
            ("GROV_LLM_DAILY_BUDGET_USD", "0"),
        ]),
        expected(
            "\"openai\" \"local\"",
            "openai local; spending is off (llm.daily_budget_usd is 0)"
        )
    );
}

#[test]
fn a_key_is_shown_as_set_and_never_printed() {
    let scene = Scene::new();
    assert_eq!(
        scene.ask(&["config", "explain", "llm.api_key"])["value"],
        "not set"
    );
    scene.repository("work", "h.example:o/r");
    scene.write("home/.grov/config.toml", "[llm]\napi_key = 'hush-hush-1'\n");
    scene.write("home/.grov/.env", "GROV_LLM_API_KEY=hush-hush-2\n");
    scene.write("work/.grov/config.toml", "llm.api_key = 'hush-hush-3'\n");
    let scene = scene.env("GROV_LLM_API_KEY", "hush-hush-4");
    let ended = scene.run(&["config", "explain", "llm.api_key", "--json"]);
    let answer = json(&ended);
    assert_eq!(answer["value"], "set");
    assert_eq!(answer["origin"]["name"], "GROV_LLM_API_KEY");
    let standings: Vec<_> = answer["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|candidate| {
            assert_eq!(candidate["value"], "set");
            candidate["standing"].as_str().unwrap()
        })
        .collect();
    assert_eq!(standings, ["used", "overridden", "refused", "overridden"]);
    assert!(
        ended.stderr.contains("config.toml:1: llm.api_key is ignored") && ended.stderr.contains("revoke it"),
        "{}",
        ended.stderr
    );
    for words in [
        &["config", "explain", "llm.api_key"][..],
        &["config", "explain", "llm.api_key", "--json"],
        &["config", "list"],
        &["config", "list", "--json"],
        &["status"],
        &["status", "--json"],
        &["proxy-status"],
        &["usage"],
    ] {
        let ended = scene.run(words);
        assert_eq!(ended.code, 0);
        assert!(
            !ended.stdout.contains("hush") && !ended.stderr.contains("hush"),
            "{words:?}: {ended:?}"
        );
    }
    let scene = scene.env("GROV_LLM_API_KEY", "hush hush");
    let ended = scene.run(&["status"]);
    assert!(
        ended.code == 64 && ended.stderr.contains("GROV_LLM_API_KEY") && !ended.stderr.contains("hush"),
        "{}",
        ended.stderr
    );
}

#[test]
fn pruning_counts_the_calls_removed_from_the_ledger() {
    let scene = Scene::new();
    three_calls(&scene);
    scene.write("home/.grov/config.toml", "[store]\nretention_spending = '2d'\n");
    let now = OffsetDateTime::now_utc();
    fill(&scene, async |store| {
        store
            .settle(&Redacted::of(&call(Purpose::ExtractIntent, None, now, 100)))
            .await
            .unwrap();
    });
    let would = scene.ask(&["store", "prune", "--dry-run"]);
    assert_eq!(would["removed"]["llm_calls"], 3);
    let ended = scene.run(&["store", "prune"]);
    assert!(ended.stdout.contains("removed 3 model calls"), "{}", ended.stdout);
    assert_eq!(scene.ask(&["usage"])["calls"].as_array().unwrap().len(), 1);
}

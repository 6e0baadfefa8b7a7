//! Usage of routed requests.

use super::sample::at;
use grov_domain::{MicroUsd, Redacted, RoutedUsage, Store, TokenUsage};
use std::sync::Arc;
use time::{Duration, OffsetDateTime};

fn request(time: OffsetDateTime, label: &str) -> RoutedUsage {
    RoutedUsage {
        day: time,
        provider: "local".to_owned(),
        label: label.to_owned(),
        model: "qwen3:32b".to_owned(),
        asked_model: "claude-haiku-4-5".to_owned(),
        requests: 1,
        unpriced: 0,
        tokens: TokenUsage {
            input: 100,
            cache_read: 20,
            output: 7,
            ..TokenUsage::default()
        },
        cost: MicroUsd(3),
        asked_cost: MicroUsd(50),
    }
}

/// Requests of one day to one model add up to one row; other days and labels have rows of their own.
pub async fn routed_usage_adds_up_by_day_and_model(store: Arc<dyn Store>) {
    let day = at(0).replace_time(time::Time::MIDNIGHT);
    for (time, label) in [
        (day + Duration::hours(1), "fast"),
        (day + Duration::hours(23), "fast"),
        (day + Duration::hours(2), "deep"),
        (day + Duration::days(1), "fast"),
    ] {
        let usage = Redacted::of(&request(time, label));
        store.add_routed_usage(&usage).await.unwrap();
    }
    let twice = RoutedUsage {
        requests: 2,
        tokens: TokenUsage {
            input: 200,
            cache_read: 40,
            output: 14,
            ..TokenUsage::default()
        },
        cost: MicroUsd(6),
        asked_cost: MicroUsd(100),
        ..request(day, "fast")
    };
    let next = request(day + Duration::days(1), "fast");
    let all = store.routed_usage(None).await.unwrap();
    assert_eq!(all, [request(day, "deep"), twice, next.clone()]);
    let since = store.routed_usage(Some(day + Duration::hours(30))).await.unwrap();
    assert_eq!(since, [next]);
}

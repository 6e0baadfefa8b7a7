//! A late text whose second place is missed, too.

use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A source that has nothing to say about tool results, and takes too long for it a few times.
struct Hesitant {
    times: usize,
    asked: AtomicUsize,
}

#[async_trait]
impl ContextSource for Hesitant {
    fn name(&self) -> &'static str {
        "hesitant"
    }

    fn applies(&self, point: &InjectionPoint) -> bool {
        point.prompt.is_empty()
    }

    async fn context(&self, _: &InjectionPoint) -> Option<ContextText> {
        if self.asked.fetch_add(1, Ordering::Relaxed) < self.times {
            tokio::time::sleep(Duration::from_secs(5)).await;
        }
        None
    }
}

/// A daemon whose first text is late, and whose next `times` places are missed.
async fn daemon(home: &Home, times: usize) -> Daemon {
    let source = Arc::new(late_once());
    let hesitant = Hesitant {
        times,
        asked: AtomicUsize::new(0),
    };
    let sources = vec![Arc::clone(&source) as Arc<dyn ContextSource>, Arc::new(hesitant)];
    let timeouts = Timeouts {
        text: Duration::from_millis(200),
        ..LONG_TIMEOUTS
    };
    let (policy, work) = Injection::with_timeouts(timeouts, home.store().await, sources);
    let (stop, stopped) = oneshot::channel();
    #[allow(clippy::disallowed_methods, reason = "awaited in stop")]
    let work = tokio::spawn(work.run(async {
        let _ = stopped.await;
    }));
    Daemon {
        policy,
        source,
        stop,
        work,
    }
}

/// A turn with this many tool results.
fn turn(results: usize) -> Value {
    let mut messages = vec![user(json!("fix the retry"))];
    for number in 1..=results {
        let id = format!("t{number}");
        messages.push(assistant(
            json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {}}]),
        ));
        messages.push(user(
            json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]),
        ));
    }
    json!(messages)
}

/// The numbers of the messages that got a text.
async fn told(home: &Home, daemon: &Daemon, results: usize) -> Vec<usize> {
    let sent = daemon.send(&home.request("s", &turn(results))).await;
    let messages = sent.as_array().unwrap().iter().enumerate();
    let told = messages.filter(|(_, message)| message.to_string().contains("note 2"));
    told.map(|(number, _)| number).collect()
}

#[tokio::test]
async fn a_late_text_that_could_not_be_stored_in_time_is_told_at_the_place_after() {
    let home = Home::new();
    let daemon = daemon(&home, 2).await;
    daemon.send(&home.request("s", &turn(0))).await;
    for results in 1..=2 {
        daemon.wait_for_late_text("s").await;
        assert_eq!(told(&home, &daemon, results).await, [0; 0], "missed");
    }
    daemon.wait_for_late_text("s").await;
    for results in 3..=5 {
        assert_eq!(told(&home, &daemon, results).await, [6], "once, at one place");
    }
    assert_eq!(daemon.count("added_later"), 1);
    daemon.stop().await;
}

#[tokio::test]
async fn a_late_text_is_dropped_after_a_few_missed_places() {
    let home = Home::new();
    let daemon = daemon(&home, 5).await;
    daemon.send(&home.request("s", &turn(0))).await;
    daemon.wait_for_late_text("s").await;
    for results in 1..=8 {
        assert_eq!(told(&home, &daemon, results).await, [0; 0]);
    }
    daemon.stop().await;
}

/// The counters by which a person sees that memory came too late.
#[tokio::test]
async fn memory_that_came_too_late_is_counted() {
    for (times, added_later) in [(0, 1), (5, 0)] {
        let home = Home::new();
        let daemon = daemon(&home, times).await;
        daemon.send(&home.request("s", &turn(0))).await;
        daemon.wait_for_late_text("s").await;
        for results in 1..=6 {
            daemon.send(&home.request("s", &turn(results))).await;
        }
        let counted = ["memory_asked", "memory_late", "memory_added_later"].map(|name| daemon.count(name));
        assert_eq!(counted, [1, 1, added_later], "{times} missed places");
        daemon.stop().await;
    }
    // In time.
    let home = Home::new();
    let daemon = home.daemon(TestSource::default()).await;
    daemon.send(&home.request("s", &turn(0))).await;
    assert_eq!(
        (daemon.count("memory_asked"), daemon.count("memory_late")),
        (1, 0)
    );
    daemon.stop().await;
}

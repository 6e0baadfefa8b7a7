use super::*;
use crate::request::MessagesRequest;
use time::macros::datetime;

const START: OffsetDateTime = datetime!(2026-01-01 00:00 UTC);

fn minutes(minutes: i64) -> OffsetDateTime {
    START + time::Duration::minutes(minutes)
}

fn render(body: &str) -> RenderedPrompt {
    RenderedPrompt::of(&MessagesRequest::parse(body.as_bytes()).unwrap())
}

/// A prompt with these messages; `!` before a text puts a five-minute breakpoint on it, `h!` a one-hour breakpoint.
/// Every text is padded to exceed any minimum length.
fn prompt(texts: &[&str]) -> RenderedPrompt {
    let blocks: Vec<String> = texts
        .iter()
        .map(|text| {
            let (control, text) = match text.split_once('!') {
                Some(("", text)) => (r#","cache_control":{"type":"ephemeral"}"#, text),
                Some(("h", text)) => (r#","cache_control":{"type":"ephemeral","ttl":"1h"}"#, text),
                _ => ("", *text),
            };
            format!(r#"{{"type":"text","text":"{text:.<20000}"{control}}}"#)
        })
        .collect();
    let blocks = blocks.join(",");
    render(&format!(
        r#"{{"model":"claude-opus-4-8","messages":[{{"role":"user","content":[{blocks}]}}]}}"#
    ))
}

fn send(cache: &mut PromptCache, prompt: &RenderedPrompt, now: OffsetDateTime) -> Plan {
    let plan = cache.plan(prompt, now);
    cache.commit(&plan, now);
    plan
}

#[test]
fn a_growing_conversation_reads_the_prefix_of_the_previous_request() {
    let mut cache = PromptCache::default();
    let first = prompt(&["a", "!b"]);
    let plan = send(&mut cache, &first, START);
    assert_eq!((plan.usage.read, plan.usage.input), (0, 0));
    assert_eq!(plan.usage.creation_5m, first.tokens());
    let second = prompt(&["a", "b", "c", "!d", "e"]);
    let plan = send(&mut cache, &second, minutes(1));
    assert_eq!(plan.read_blocks, 2);
    assert_eq!(plan.usage.read, first.tokens());
    assert_eq!(plan.usage.creation_5m, second.tokens_through(3) - first.tokens());
    assert_eq!(plan.usage.input, second.blocks[4].tokens);
    assert_eq!(
        plan.usage.input + plan.usage.read + plan.usage.creation(),
        second.tokens()
    );
}

#[test]
fn one_changed_block_invalidates_everything_after_it() {
    let mut cache = PromptCache::default();
    send(&mut cache, &prompt(&["a", "!b", "c", "!d"]), START);
    assert_eq!(
        send(&mut cache, &prompt(&["a", "b", "X", "d", "!e"]), START).read_blocks,
        2
    );
    assert_eq!(
        send(&mut cache, &prompt(&["X", "b", "c", "d", "!e"]), START).read_blocks,
        0
    );
}

#[test]
fn the_look_back_covers_twenty_blocks() {
    for (added, read) in [(19, 1), (20, 0)] {
        let mut cache = PromptCache::default();
        send(&mut cache, &prompt(&["!a"]), START);
        let mut texts = vec!["a".to_owned()];
        texts.extend((0..added).map(|at| {
            if at + 1 == added {
                format!("!{at}")
            } else {
                at.to_string()
            }
        }));
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(
            cache.plan(&prompt(&texts), START).read_blocks,
            read,
            "{added} blocks added"
        );
    }
}

#[test]
fn every_breakpoint_has_its_own_look_back() {
    let mut cache = PromptCache::default();
    send(&mut cache, &prompt(&["!a"]), START);
    let mut texts = vec!["a", "b", "!c"];
    texts.extend(["x"; 30]);
    texts.push("!y");
    assert_eq!(cache.plan(&prompt(&texts), START).read_blocks, 1);
}

#[test]
fn entries_expire_and_every_use_renews_them() {
    let mut cache = PromptCache::default();
    let five = prompt(&["a", "!b"]);
    send(&mut cache, &five, START);
    assert_eq!(send(&mut cache, &five, minutes(4)).read_blocks, 2);
    assert_eq!(send(&mut cache, &five, minutes(8)).read_blocks, 2);
    assert_eq!(cache.plan(&five, minutes(13)).read_blocks, 0);
    let hour = prompt(&["h!c", "d"]);
    send(&mut cache, &hour, START);
    assert_eq!(cache.plan(&hour, minutes(59)).read_blocks, 1);
    assert_eq!(cache.plan(&hour, minutes(60)).read_blocks, 0);
    cache.sweep(minutes(100));
    assert!(cache.is_empty());
}

#[test]
fn both_lifetimes_are_billed_separately() {
    let mut cache = PromptCache::default();
    let mixed = prompt(&["h!a", "b", "!c", "d"]);
    let usage = send(&mut cache, &mixed, START).usage;
    assert_eq!(usage.creation_1h, mixed.tokens_through(0));
    assert_eq!(
        usage.creation_5m,
        mixed.tokens_through(2) - mixed.tokens_through(0)
    );
    assert_eq!(usage.input, mixed.blocks[3].tokens);
    // Half an hour later only the one-hour entry is left, and the blocks after it are written again.
    let usage = send(&mut cache, &mixed, minutes(30)).usage;
    assert_eq!((usage.read, usage.creation_1h), (mixed.tokens_through(0), 0));
    assert_eq!(
        usage.creation_5m,
        mixed.tokens_through(2) - mixed.tokens_through(0)
    );
}

#[test]
fn short_prefixes_are_neither_written_nor_read() {
    let body = |model: &str| {
        format!(
            r#"{{"model":"{model}","messages":[{{"role":"user","content":[
                {{"type":"text","text":"{:.<6000}","cache_control":{{"type":"ephemeral"}}}}]}}]}}"#,
            "x"
        )
    };
    for (model, cached) in [("claude-opus-4-8", false), ("claude-sonnet-4-5-20250929", true)] {
        let mut cache = PromptCache::default();
        let prompt = render(&body(model));
        assert!((1024..2048).contains(&prompt.tokens()));
        send(&mut cache, &prompt, START);
        let usage = send(&mut cache, &prompt, START).usage;
        assert_eq!(usage.read > 0, cached, "{model}");
        assert_eq!(usage.input == 0, cached, "{model}");
    }
    let cache = PromptCache::default().with_minimum("claude-opus-4-8", 100);
    assert_eq!(cache.minimum("claude-opus-4-8-20260101"), 100);
    assert_eq!(cache.minimum("claude-opus-4-1"), 1024);
}

#[test]
fn an_entry_is_readable_only_once_the_response_has_begun() {
    let mut cache = PromptCache::default();
    let prompt = prompt(&["!a"]);
    let first = cache.plan(&prompt, START);
    assert_eq!(
        cache.plan(&prompt, START).read_blocks,
        0,
        "the first has not begun to answer"
    );
    cache.commit(&first, START);
    assert_eq!(cache.plan(&prompt, START).read_blocks, 1);
}

#[test]
fn equivalent_requests_render_alike() {
    let base = r#"{"model":"m","system":"s","messages":[{"role":"user","content":"hello"},
        {"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"a":1,"b":2}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}]}"#;
    let alike = r#"{"stream":true,"messages":[{"role":"user","content":[{"text":"hello","type":"text",
        "cache_control":{"type":"ephemeral"}}]},
        {"role":"assistant","content":[{"type":"tool_use","name":"Bash","input":{"a":1,"b":2},"id":"t"}]},
        {"content":[{"tool_use_id":"t","type":"tool_result","content":[{"type":"text","text":"ok"}]}],"role":"user"}],
        "system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"model":"m","max_tokens":5}"#;
    let prefixes = |body: &str| {
        render(body)
            .blocks
            .iter()
            .map(|block| block.prefix)
            .collect::<Vec<_>>()
    };
    assert_eq!(prefixes(base), prefixes(alike));
    let reordered = base.replace(r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#);
    assert_ne!(
        prefixes(base),
        prefixes(&reordered),
        "the order inside a tool's input counts"
    );
}

#[test]
fn parameters_are_part_of_their_prefix() {
    let body = |parameters: &str| {
        format!(
            r#"{{"model":"m","tools":[{{"name":"t"}}],"system":"s"{parameters},
                "messages":[{{"role":"user","content":"hello"}}]}}"#
        )
    };
    let changed_from = |parameters: &str| {
        let (one, other) = (render(&body("")), render(&body(parameters)));
        (0..3).find(|at| one.blocks[*at].prefix != other.blocks[*at].prefix)
    };
    assert_eq!(
        changed_from(r#","max_tokens":9,"metadata":{"user_id":"u"},"stream":true"#),
        None
    );
    assert_eq!(changed_from(r#","tool_choice":{"type":"any"}"#), Some(2));
    assert_eq!(changed_from(r#","thinking":{"type":"disabled"}"#), Some(2));
    assert_eq!(changed_from(r#","output_config":{"effort":"low"}"#), Some(0));
}

#[test]
fn a_top_level_breakpoint_applies_to_the_last_block() {
    let prompt = render(
        r#"{"model":"m","cache_control":{"type":"ephemeral","ttl":"1h"},"messages":[{"role":"user","content":"a"}]}"#,
    );
    assert_eq!(prompt.breakpoints().collect::<Vec<_>>(), [(0, Ttl::Hour)]);
}

mod report {
    use super::*;
    use crate::cache::report::Conversations;

    struct Run {
        cache: PromptCache,
        conversations: Conversations,
    }

    impl Run {
        fn new() -> Self {
            Self {
                cache: PromptCache::default(),
                conversations: Conversations::default(),
            }
        }

        fn send(&mut self, messages: &str, now: OffsetDateTime) -> CacheObservation {
            let filler = format!("{:.<40000}", "s");
            let body =
                format!(r#"{{"model":"claude-opus-4-8","system":"{filler}","messages":[{messages}]}}"#);
            let request = MessagesRequest::parse(body.as_bytes()).unwrap();
            let prompt = RenderedPrompt::of(&request);
            let plan = self.cache.plan(&prompt, now);
            let seen = self.conversations.observe("s", &request, &prompt, &plan, now);
            self.cache.commit(&plan, now);
            self.conversations.remember("s", &request, &prompt, &plan, now);
            seen
        }
    }

    fn user(text: &str) -> String {
        format!(
            r#"{{"role":"user","content":[{{"type":"text","text":"{text}","cache_control":{{"type":"ephemeral"}}}}]}}"#
        )
    }

    fn plain(role: &str, text: &str) -> String {
        format!(r#"{{"role":"{role}","content":"{text}"}}"#)
    }

    #[test]
    fn an_unchanged_conversation_has_no_miss() {
        let mut run = Run::new();
        assert_eq!(run.send(&user("one"), START).expected_read, 0);
        let next = format!(
            "{},{},{}",
            plain("user", "one"),
            plain("assistant", "yes"),
            user("two")
        );
        let seen = run.send(&next, START);
        assert!(seen.expected_read > 0);
        assert_eq!((seen.actual_read, seen.broken), (seen.expected_read, None));
    }

    #[test]
    fn text_that_is_not_sent_again_causes_a_miss() {
        let mut run = Run::new();
        let added = r#"{"role":"user","content":[{"type":"text","text":"one"},
            {"type":"text","text":"added","cache_control":{"type":"ephemeral"}}]}"#;
        run.send(added, START);
        let next = format!(
            "{},{},{}",
            plain("user", "one"),
            plain("assistant", "yes"),
            user("two")
        );
        let broken = run.send(&next, START).broken.unwrap();
        assert!(broken.missed_tokens > 0);
        assert_eq!(
            broken.reason,
            BreakReason::Changed {
                index: 2,
                before: "messages[0].user text".to_owned(),
                after: "messages[1].assistant text".to_owned()
            }
        );
    }

    #[test]
    fn expiry_compaction_and_another_model_are_not_misses() {
        let mut run = Run::new();
        run.send(&user("one"), START);
        let next = format!(
            "{},{},{}",
            plain("user", "one"),
            plain("assistant", "yes"),
            user("two")
        );
        assert_eq!(run.send(&next, minutes(6)).broken, None);
        let compacted = user("This session is being continued from a previous conversation");
        assert_eq!(run.send(&compacted, minutes(6)).broken, None);
    }

    #[test]
    fn a_miss_due_to_too_many_new_blocks_is_identified() {
        let mut run = Run::new();
        run.send(&user("one"), START);
        let many = vec![r#"{"type":"text","text":"x"}"#; 25].join(",");
        let next = format!(
            r#"{},{},{{"role":"user","content":[{many}]}},{}"#,
            plain("user", "one"),
            plain("assistant", "yes"),
            user("two")
        );
        assert_eq!(
            run.send(&next, START).broken.unwrap().reason,
            BreakReason::LookBack
        );
    }
}

mod audit {
    use super::*;

    fn body(texts: &[&str]) -> String {
        let blocks: Vec<String> = texts
            .iter()
            .enumerate()
            .map(|(at, text)| {
                let control = if at + 1 == texts.len() {
                    r#","cache_control":{"type":"ephemeral"}"#
                } else {
                    ""
                };
                format!(r#"{{"type":"text","text":"{text:.<20000}"{control}}}"#)
            })
            .collect();
        format!(
            r#"{{"model":"claude-opus-4-8","messages":[{{"role":"user","content":[{}]}}]}}"#,
            blocks.join(",")
        )
    }

    fn run(pairs: &[(&[&str], &[&str])]) -> Vec<Comparison> {
        let mut audit = CacheAudit::default();
        pairs
            .iter()
            .map(|(sent, arrived)| {
                audit
                    .observe(body(sent).as_bytes(), body(arrived).as_bytes(), START)
                    .unwrap()
            })
            .collect()
    }

    #[test]
    fn a_repeated_insertion_causes_no_miss() {
        let seen = run(&[
            (&["a"], &["a", "+"]),
            (&["a", "b"], &["a", "+", "b"]),
            (&["a", "b", "c"], &["a", "+", "b", "c"]),
        ]);
        assert!(seen.iter().all(|comparison| !comparison.caused_a_miss()));
        assert_eq!(
            seen[2],
            Comparison {
                cached_as_sent: 2,
                cached_as_arrived: 2,
                within_any_reach: 2,
                left_as_sent: 3,
                blocks: 3
            }
        );
    }

    #[test]
    fn a_removed_insertion_causes_a_miss() {
        let seen = run(&[
            (&["a", "b"], &["a", "+", "b"]),
            (&["a", "b", "c"], &["a", "b", "c"]),
        ]);
        assert!(!seen[0].caused_a_miss());
        assert_eq!(
            seen[1],
            Comparison {
                cached_as_sent: 2,
                cached_as_arrived: 0,
                within_any_reach: 0,
                left_as_sent: 3,
                blocks: 3
            }
        );
        assert!(seen[1].caused_a_miss());
    }

    #[test]
    fn misses_of_the_client_itself_are_not_attributed() {
        let seen = run(&[(&["a", "b"], &["a", "b"]), (&["X", "b", "c"], &["X", "b", "c"])]);
        assert_eq!(
            seen[1],
            Comparison {
                cached_as_sent: 0,
                cached_as_arrived: 0,
                within_any_reach: 0,
                left_as_sent: 3,
                blocks: 3
            }
        );
        assert!(!seen[1].caused_a_miss());
    }
}

//! Changes to a history that keep its key, and changes that do not.

use crate::golden;
use bytes::Bytes;
use grov_wire::{Key128, Link, RequestIndex, Skeleton, Speaker};
use serde_json::{Value, json};

fn skeleton_of(messages: Value) -> Skeleton {
    let body = Bytes::from(json!({ "messages": messages }).to_string());
    RequestIndex::parse(&body).unwrap().skeleton()
}

fn keys(skeleton: &Skeleton) -> Vec<Key128> {
    skeleton.links().iter().map(|link| link.key).collect()
}

/// Panics unless the second history starts with the first one, except for its last `but` links.
pub(crate) fn assert_continues(earlier: &RequestIndex, later: &RequestIndex, but: usize) {
    let (earlier, later) = (keys(&earlier.skeleton()), keys(&later.skeleton()));
    let shared = earlier.len().checked_sub(but).unwrap();
    assert!(
        later.starts_with(&earlier[..shared]),
        "{earlier:?}\nis not continued by\n{later:?}"
    );
    assert!(
        shared > 0 && later.len() > shared,
        "there is nothing to compare: {earlier:?} and {later:?}"
    );
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "true"}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "done"})
}

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

fn assistant(content: impl Into<Value>) -> Value {
    json!({"role": "assistant", "content": content.into()})
}

const REMINDER: &str = "<system-reminder>\nbe kind\n</system-reminder>\n";

/// A short history in its simplest form.
fn plain() -> Value {
    json!([
        user("fix it"),
        assistant(vec![text("On it."), call("toolu_1"), call("toolu_2")]),
        user(vec![result("toolu_1"), result("toolu_2"), text("and hurry")]),
        assistant("Done."),
        user("thanks"),
    ])
}

#[test]
fn rewrites_by_the_client_keep_the_key() {
    let cached = |mut block: Value| {
        block["cache_control"] = json!({"type": "ephemeral"});
        block
    };
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "x"});
    let with_input = json!({"input": {"x": [1]}, "name": "Edit", "id": "toolu_1", "type": "tool_use"});
    let cleared = json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": [], "is_error": true});
    let folded =
        json!({"type": "tool_result", "tool_use_id": "toolu_2", "content": format!("done\n\n{REMINDER}")});
    let rewritten = json!([
        {"role": "system", "content": "skills"},
        user(vec![text(REMINDER), cached(text("  fix it\n"))]),
        {"role": "system", "content": "agents"},
        assistant(vec![thinking, text("On it.\n"), with_input, call("toolu_2")]),
        user(vec![folded, cleared, text(&format!("{REMINDER}and hurry")), text(REMINDER), text(" ")]),
        user(REMINDER),
        assistant(vec![cached(text("Done."))]),
        assistant(""),
        user(vec![text("thanks")]),
        {"role": "system", "content": [text("The user sent a new message while you were working:\nhi")]},
        {"role": "critic", "content": "meh"},
    ]);
    assert_eq!(keys(&skeleton_of(rewritten)), keys(&skeleton_of(plain())));
}

#[test]
fn consecutive_messages_of_one_role_equal_one_message() {
    let together = json!([
        user(vec![result("a"), text("one"), text("two")]),
        assistant(vec![text("x"), call("b")])
    ]);
    let apart = json!([
        user(vec![result("a")]),
        user("one"),
        {"role": "system", "content": "hm"},
        user(vec![text("two")]),
        assistant("x"),
        assistant(vec![call("b")]),
    ]);
    assert_eq!(keys(&skeleton_of(together)), keys(&skeleton_of(apart)));
}

#[test]
fn key_depends_on_texts_and_calls() {
    let tips = [
        plain(),
        json!([]),
        json!([user("fix it")]),
        json!([assistant("fix it")]),
        json!([user("fix"), user("it")]),
        json!([user("it"), user("fix")]),
        json!([user("fixit")]),
        json!([user("f"), user("ixit")]),
        json!([user("Fix it")]),
        json!([assistant(vec![call("fix it")])]),
        json!([user(vec![result("fix it")])]),
        json!([user(vec![result("a"), result("bc")])]),
        json!([user(vec![result("ab"), result("c")])]),
        json!([user(vec![result("a")]), user(vec![result("bc")])]),
        json!([assistant(vec![call("a"), call("bc")])]),
        json!([assistant(vec![call("bc"), call("a")])]),
        json!([user("what is a <system-reminder>?")]),
    ]
    .map(|messages| skeleton_of(messages).tip());
    for (number, tip) in tips.iter().enumerate() {
        assert!(
            !tips[..number].contains(tip),
            "history {number} is taken for an earlier one"
        );
    }
}

#[test]
fn stored_keys_do_not_change() {
    // A change invalidates all stored keys. A new form of the chain needs a new root.
    assert_eq!(
        skeleton_of(json!([])).tip().to_string(),
        "7298ad2fa5bf81f892442e57192cd7ac"
    );
    assert_eq!(
        skeleton_of(plain()).tip().to_string(),
        "81f720b1da631bcc990ec56eeace4432"
    );
    let key = skeleton_of(plain()).tip();
    assert_eq!(Key128::from_u128(key.as_u128()), key);
}

#[test]
fn links_give_speaker_and_insertion_point() {
    let skeleton = skeleton_of(plain());
    let places: Vec<_> = skeleton
        .links()
        .iter()
        .map(|link| (link.message, link.block, link.speaker))
        .collect();
    assert_eq!(
        places,
        [
            (0, None, Speaker::User),
            (1, Some(0), Speaker::Assistant),
            (1, Some(1), Speaker::Assistant),
            (1, Some(2), Speaker::Assistant),
            (2, Some(1), Speaker::User),
            (2, Some(2), Speaker::User),
            (3, None, Speaker::Assistant),
            (4, None, Speaker::User),
        ]
    );
    assert_eq!(skeleton.tip(), skeleton.links()[7].key);
    assert_eq!(skeleton.tip_at_last_assistant(), Some(skeleton.links()[6].key));
    assert_eq!(skeleton.newest_user_link(), Some(&skeleton.links()[7]));
    assert_eq!(skeleton.find(skeleton.links()[3].key), Some(&skeleton.links()[3]));
    assert_eq!(skeleton.find(Key128::from_u128(0)), None);
}

#[test]
fn no_newest_user_link_after_the_assistant() {
    assert_eq!(
        skeleton_of(json!([user("hi"), assistant("ho")])).newest_user_link(),
        None
    );
    assert_eq!(skeleton_of(json!([])).newest_user_link(), None);
}

#[test]
fn insertions_after_a_text_follow_all_results_of_its_message() {
    let skeleton = skeleton_of(json!([user(vec![
        text("see:"),
        result("a"),
        text("well?"),
        result("b")
    ])]));
    let places: Vec<_> = skeleton.links().iter().map(|link| link.block).collect();
    assert_eq!(places, [Some(3), Some(3), Some(3)]);
}

#[test]
fn golden_requests_continue_each_other() {
    for (earlier, later, but) in [
        ("loop_0_first", "loop_1_after_write", 0),
        ("loop_1_after_write", "loop_2_after_bash", 0),
        ("loop_2_after_bash", "loop_4_second_prompt", 0),
        ("loop_3_queued_prompt", "loop_4_second_prompt", 0),
        ("loop_4_second_prompt", "loop_4_resumed", 0),
        ("loop_2_after_bash", "side_compaction", 0),
        ("loop_2_after_bash", "side_suggestion", 0),
        // The client does not keep the suggestion.
        ("side_suggestion", "loop_4_resumed", 1),
        ("older_0_first", "older_1_parallel", 0),
        ("older_1_parallel", "older_2_resumed", 0),
    ] {
        assert_continues(&golden::index(earlier), &golden::index(later), but);
    }
    let queued = golden::index("loop_3_queued_prompt").skeleton();
    assert_eq!(
        keys(&queued),
        keys(&golden::index("loop_2_after_bash").skeleton())
    );
}

#[test]
fn every_key_of_a_golden_request_is_found_in_its_continuations() {
    for run in [
        &[
            "loop_0_first",
            "loop_1_after_write",
            "loop_2_after_bash",
            "loop_4_second_prompt",
            "loop_4_resumed",
        ][..],
        &["older_0_first", "older_1_parallel", "older_2_resumed"],
    ] {
        for (number, earlier) in run.iter().enumerate() {
            let skeleton = golden::index(earlier).skeleton();
            let anchor = *skeleton.newest_user_link().unwrap();
            for later in &run[number..] {
                let skeleton = golden::index(later).skeleton();
                let found: &Link = skeleton.find(anchor.key).unwrap();
                assert_eq!(
                    (found.message, found.speaker),
                    (anchor.message, anchor.speaker),
                    "{earlier} in {later}"
                );
                if let Some(tip) = golden::index(earlier).skeleton().tip_at_last_assistant() {
                    assert!(
                        skeleton.find(tip).is_some(),
                        "the tip of {earlier} is not in {later}"
                    );
                }
            }
        }
    }
}

#[test]
fn unrelated_histories_share_no_key() {
    let histories = [
        "loop_4_resumed",
        "older_2_resumed",
        "side_title",
        "side_web_search",
        "after_compaction",
    ];
    for one in histories {
        for other in histories {
            if one != other {
                let known = keys(&golden::index(one).skeleton());
                assert!(
                    keys(&golden::index(other).skeleton())
                        .iter()
                        .all(|key| !known.contains(key))
                );
            }
        }
    }
}

use super::*;

fn request(messages: &str) -> MessagesRequest {
    let body = format!(
        r#"{{"model":"claude-opus-4-8","system":"- Primary working directory: /home/dev/p","messages":{messages}}}"#
    );
    MessagesRequest::parse(body.as_bytes()).unwrap()
}

fn answer(messages: &str) -> Reply {
    reply(&ScenarioSet::default(), &request(messages), "session")
}

#[test]
fn the_marker_selects_the_scenario_and_assistant_messages_the_step() {
    let first = answer(r#"[{"role":"user","content":"go [[scenario:tools]]"}]"#);
    assert_eq!(first.index, 0);
    assert_eq!(first.stop_reason, "tool_use");
    let write = &first.blocks[1];
    assert_eq!(
        write.get("input").unwrap().get_str("file_path"),
        Some("/home/dev/p/greeting.txt")
    );
    let id = write.get_str("id").unwrap();
    let second = answer(&format!(
        r#"[{{"role":"user","content":[{{"type":"text","text":"<system-reminder>x</system-reminder>"}},
                {{"type":"text","text":"go [[scenario:tools]]"}}]}},
            {{"role":"system","content":"skills"}},
            {{"role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"Write","input":{{}}}}]}},
            {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"ok"}},
                {{"type":"text","text":"<system-reminder>[[scenario:text]]</system-reminder>"}}]}},
            {{"role":"system","content":"The user sent a new message while you were working: [[scenario:text]]"}}]"#
    ));
    assert_eq!(second.index, 1);
    assert_eq!(second.blocks[0].get_str("name"), Some("Read"));
    assert_ne!(second.blocks[0].get_str("id"), Some(id));
}

#[test]
fn a_new_prompt_restarts_and_an_unknown_marker_selects_the_default() {
    let history = r#"[{"role":"user","content":"go [[scenario:tools]]"},
        {"role":"assistant","content":"hm"},{"role":"user","content":"again [[scenario:no-such]]"}]"#;
    let reply = answer(history);
    assert_eq!((reply.index, reply.stop_reason.as_str()), (0, "end_turn"));
}

#[test]
fn text_added_by_a_proxy_is_not_a_prompt() {
    let prompt = r#"{"role":"user","content":[{"type":"text","text":"go [[scenario:tools]]"},
        {"type":"text","text":"What the team knows: nothing."}]}"#;
    let in_loop = |text: &str| {
        answer(&format!(
            r#"[{prompt},{{"role":"assistant","content":[{{"type":"tool_use","id":"t","name":"Write","input":{{}}}}]}},
            {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":"ok"}},{text}]}}]"#
        ))
    };
    assert_eq!(answer(&format!("[{prompt}]")).stop_reason, "tool_use");
    assert_eq!(in_loop(r#"{"type":"text","text":"Mind the goal."}"#).index, 1);
    let interrupted = r#"{"type":"text","text":"[Request interrupted by user for tool use]"},{"type":"text","text":"stop"}"#;
    assert_eq!(in_loop(interrupted).index, 0);
}

#[test]
fn the_same_request_gets_the_same_answer_and_other_sessions_get_other_ids() {
    let messages = r#"[{"role":"user","content":"go [[scenario:parallel]]"}]"#;
    assert_eq!(answer(messages), answer(messages));
    let other = reply(&ScenarioSet::default(), &request(messages), "another session");
    assert_ne!(answer(messages).blocks, other.blocks);
    let ids: Vec<_> = other
        .blocks
        .iter()
        .filter_map(|block| block.get_str("id"))
        .collect();
    assert_eq!(ids.len(), 3);
    assert!(ids[0] != ids[1] && ids[1] != ids[2]);
}

#[test]
fn the_scenario_continues_after_a_compaction() {
    let call = |step: usize| format!("toolu_01{}", block_id(7, step, 0));
    let pair = |id: &str| {
        format!(
            r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"Bash","input":{{}}}}]}},
               {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"ok"}}]}}"#
        )
    };
    let compaction = answer(&format!(
        r#"[{{"role":"user","content":"go [[scenario:long]]"}},{},{},{}]"#,
        pair(&call(0)),
        pair(&call(1)),
        r#"{"role":"user","content":"CRITICAL: Respond with TEXT ONLY. Do NOT call any tools."}"#
    ));
    let summary = compaction.blocks[0].get_str("text").unwrap().to_owned();
    assert!(summary.contains("[[scenario:long+2]]"), "{summary}");
    let text = Json::from(format!(
        "This session is being continued from a previous conversation.\n{summary}"
    ));
    // The kept tail is the exchange of step 1 (from 0); the next answer is step 2.
    let head = format!(r#"{{"role":"user","content":{text}}}"#);
    assert_eq!(answer(&format!("[{head},{}]", pair(&call(1)))).index, 2);
    assert_eq!(
        answer(&format!("[{head},{},{}]", pair(&call(1)), pair(&call(2)))).index,
        3
    );
    assert_eq!(answer(&format!("[{head}]")).index, 2);
}

#[test]
fn side_requests_get_separate_answers() {
    let title = r#"{"model":"claude-haiku-4-5","tools":[],"output_config":{"format":{"type":"json_schema",
        "schema":{"properties":{"title":{"type":"string"}}}}},
        "messages":[{"role":"user","content":"<session>\nx [[scenario:tools]]\n</session>"}]}"#;
    let set = ScenarioSet::default();
    let reply_to = |body: &str| reply(&set, &MessagesRequest::parse(body.as_bytes()).unwrap(), "s");
    assert_eq!(
        reply_to(title).blocks[0].get_str("text"),
        Some(r#"{"title":"Add a greeting"}"#)
    );
    let suggestion = r#"[{"role":"user","content":"go [[scenario:tools]]"},{"role":"assistant","content":"ok"},
        {"role":"user","content":"[SUGGESTION MODE: Suggest what …"}]"#;
    assert_eq!(
        answer(suggestion).blocks[0].get_str("text"),
        Some("run the tests")
    );
    let search = r#"{"model":"m","tools":[{"type":"web_search_20250305","name":"web_search"}],
        "messages":[{"role":"user","content":"Perform a web search for the query: red fish"}]}"#;
    let found = reply_to(search);
    assert_eq!(
        found.blocks[0].get("input").unwrap().get_str("query"),
        Some("red fish")
    );
    assert!(is_type(&found.blocks[1], "web_search_tool_result"));
}

#[test]
fn a_prompt_may_set_the_delivery_of_the_answer() {
    let reply = answer(r#"[{"role":"user","content":"go [[scenario:tools]] [[sim:cut=10,times=1]]"}]"#);
    assert_eq!(reply.prompt_behaviour.as_deref(), Some("cut=10,times=1"));
}

#[test]
fn a_marker_that_was_injected_starts_nothing() {
    let text = "go on [[scenario:text]]\n<grov-context source=\"x\">was: [[scenario:tools]]</grov-context> [[other:1]]";
    assert_eq!(marker(text, "scenario").as_deref(), Some("text"));
    assert_eq!(marker("<grov-context>[[scenario:tools]]", "scenario"), None);
    let cleared = "<grov-context source=\"context\">\nGOAL: count [[scenario:tools]]\n</grov-context>";
    assert_eq!(marker(cleared, "scenario").as_deref(), Some("tools"));
}

//! The kind, files, folders and command of each tool.

use grov_actions::{MAX_FILES, ToolCall, keywords, understand};
use grov_domain::{Action, ActionType, EffectKind};
use proptest::prelude::*;
use serde_json::{Value, json};

fn act(name: &str, input: &Value) -> Action {
    understand(&ToolCall {
        name,
        id: Some("toolu_1"),
        input: input.into(),
        working_directory: Some("/w"),
    })
}

/// Tool, arguments, kind, files, folders, command.
type Case = (
    &'static str,
    Value,
    ActionType,
    &'static [&'static str],
    &'static [&'static str],
    Option<&'static str>,
);

fn cases() -> Vec<Case> {
    use ActionType::{Bash, Edit, Mcp, Other, Read, Search, Task, Todo, Web, Write};
    vec![
        (
            "Edit",
            json!({"file_path": "/w/a.rs", "old_string": "x", "new_string": "y"}),
            Edit,
            &["/w/a.rs"],
            &[],
            None,
        ),
        (
            "Edit",
            json!({"file_path": "src/../b.rs", "old_string": "/etc/passwd"}),
            Edit,
            &["/w/b.rs"],
            &[],
            None,
        ),
        (
            "Edit",
            json!({"file_path": "C:\\w\\a.rs"}),
            Edit,
            &["C:\\w\\a.rs"],
            &[],
            None,
        ),
        (
            "MultiEdit",
            json!({"file_path": "/w/a.rs", "edits": [{"old_string": "x"}]}),
            Edit,
            &["/w/a.rs"],
            &[],
            None,
        ),
        (
            "NotebookEdit",
            json!({"notebook_path": "/w/a.ipynb", "new_source": "x"}),
            Edit,
            &["/w/a.ipynb"],
            &[],
            None,
        ),
        (
            "Write",
            json!({"file_path": "/w/a.txt", "content": "rm /x"}),
            Write,
            &["/w/a.txt"],
            &[],
            None,
        ),
        (
            "Read",
            json!({"file_path": "/w/a.txt", "offset": 3}),
            Read,
            &["/w/a.txt"],
            &[],
            None,
        ),
        (
            "Read",
            json!({"file_path": "~/notes.md"}),
            Read,
            &["~/notes.md"],
            &[],
            None,
        ),
        (
            "NotebookRead",
            json!({"notebook_path": "a.ipynb"}),
            Read,
            &["/w/a.ipynb"],
            &[],
            None,
        ),
        (
            "Glob",
            json!({"pattern": "**/*.rs"}),
            Search,
            &[],
            &["/w"],
            Some("**/*.rs"),
        ),
        (
            "Glob",
            json!({"pattern": "src/**/*.rs"}),
            Search,
            &[],
            &["/w/src"],
            Some("src/**/*.rs"),
        ),
        (
            "Glob",
            json!({"pattern": "x/*.rs", "path": "sub"}),
            Search,
            &[],
            &["/w/sub/x"],
            Some("x/*.rs"),
        ),
        (
            "Glob",
            json!({"pattern": "/etc/*.conf"}),
            Search,
            &[],
            &["/etc"],
            Some("/etc/*.conf"),
        ),
        (
            "Grep",
            json!({"pattern": "fn main"}),
            Search,
            &[],
            &["/w"],
            Some("fn main"),
        ),
        (
            "Grep",
            json!({"pattern": "x", "path": "src"}),
            Search,
            &[],
            &["/w/src"],
            Some("x"),
        ),
        (
            "Grep",
            json!({"pattern": "x", "path": "/w/src/a.rs"}),
            Search,
            &["/w/src/a.rs"],
            &[],
            Some("x"),
        ),
        ("LS", json!({"path": "/w/src"}), Search, &[], &["/w/src"], None),
        (
            "Bash",
            json!({"command": "rm a && cd sub", "description": "d"}),
            Bash,
            &["/w/a"],
            &["/w/sub"],
            Some("rm a && cd sub"),
        ),
        ("BashOutput", json!({"bash_id": "b1"}), Bash, &[], &[], None),
        ("KillShell", json!({"shell_id": "b1"}), Bash, &[], &[], None),
        ("KillBash", json!({"shell_id": "b1"}), Bash, &[], &[], None),
        (
            "TaskOutput",
            json!({"task_id": "t1", "block": true}),
            Bash,
            &[],
            &[],
            None,
        ),
        ("TaskStop", json!({"task_id": "t1"}), Bash, &[], &[], None),
        (
            "Task",
            json!({"description": "d", "prompt": "look at /w/a.rs", "subagent_type": "x"}),
            Task,
            &[],
            &[],
            Some("look at /w/a.rs"),
        ),
        (
            "Agent",
            json!({"description": "d", "prompt": "p"}),
            Task,
            &[],
            &[],
            Some("p"),
        ),
        (
            "SendMessage",
            json!({"to": "x", "message": "m"}),
            Task,
            &[],
            &[],
            Some("m"),
        ),
        (
            "WebFetch",
            json!({"url": "https://x.y/z.html", "prompt": "p"}),
            Web,
            &[],
            &[],
            Some("https://x.y/z.html"),
        ),
        ("WebSearch", json!({"query": "q"}), Web, &[], &[], Some("q")),
        (
            "TodoWrite",
            json!({"todos": [{"content": "x", "status": "pending"}]}),
            Todo,
            &[],
            &[],
            None,
        ),
        ("TodoRead", json!({}), Todo, &[], &[], None),
        (
            "TaskCreate",
            json!({"subject": "s", "description": "d"}),
            Todo,
            &[],
            &[],
            Some("s"),
        ),
        (
            "TaskUpdate",
            json!({"taskId": "1", "status": "completed"}),
            Todo,
            &[],
            &[],
            None,
        ),
        ("TaskList", json!({}), Todo, &[], &[], None),
        ("TaskGet", json!({"taskId": "1"}), Todo, &[], &[], None),
        (
            "Skill",
            json!({"skill": "simplify", "args": "a b"}),
            Other,
            &[],
            &[],
            Some("simplify a b"),
        ),
        (
            "ToolSearch",
            json!({"query": "select:X", "max_results": 5}),
            Other,
            &[],
            &[],
            Some("select:X"),
        ),
        ("ExitPlanMode", json!({"plan": "# Plan"}), Other, &[], &[], None),
        ("EnterPlanMode", json!({}), Other, &[], &[], None),
        (
            "AskUserQuestion",
            json!({"questions": [{"question": "A?", "options": []}, {"question": "B?"}]}),
            Other,
            &[],
            &[],
            Some("A?\nB?"),
        ),
        (
            "EnterWorktree",
            json!({"path": "/w/../x"}),
            Other,
            &["/x"],
            &[],
            None,
        ),
        (
            "CronCreate",
            json!({"cron": "* * * * *", "prompt": "p"}),
            Other,
            &[],
            &[],
            Some("p"),
        ),
        (
            "mcp__files__read_file",
            json!({"path": "src/a.rs"}),
            Mcp,
            &["/w/src/a.rs"],
            &[],
            None,
        ),
        (
            "mcp__files__move",
            json!({"source": "a.rs", "target": "b.rs"}),
            Mcp,
            &["/w/a.rs", "/w/b.rs"],
            &[],
            None,
        ),
        (
            "mcp__ide__open",
            json!({"uri": "file:///w/a%20b.rs"}),
            Mcp,
            &["/w/a b.rs"],
            &[],
            None,
        ),
        (
            "mcp__files__list",
            json!({"directory": "src", "paths": ["x.rs", "y.rs"]}),
            Mcp,
            &["/w/x.rs", "/w/y.rs"],
            &["/w/src"],
            None,
        ),
        (
            "mcp__db__query",
            json!({"sql": "select 1", "url": "https://x/y.html"}),
            Mcp,
            &[],
            &[],
            Some("https://x/y.html"),
        ),
        ("NoSuchTool", json!({"x": 1}), Other, &[], &[], None),
        (
            "NoSuchTool",
            json!({"file_path": "a.rs", "query": "q"}),
            Other,
            &["/w/a.rs"],
            &[],
            Some("q"),
        ),
        ("", json!(null), Other, &[], &[], None),
    ]
}

#[test]
fn every_tool_is_parsed() {
    for (name, input, action_type, files, folders, command) in cases() {
        let action = act(name, &input);
        assert_eq!(action.tool, name);
        assert_eq!(action.tool_use_id.as_deref(), Some("toolu_1"));
        assert_eq!(action.action_type, action_type, "{name} {input}");
        assert_eq!(action.files, files, "{name} {input}");
        assert_eq!(action.folders, folders, "{name} {input}");
        assert_eq!(action.command.as_deref(), command, "{name} {input}");
        assert_eq!(action.effects.is_empty(), name != "Bash", "{name}");
    }
}

#[test]
fn arguments_of_the_wrong_type_are_ignored() {
    for (name, ..) in cases() {
        for input in [
            json!(null),
            json!([]),
            json!("x"),
            json!(7),
            json!({"file_path": 1, "command": [], "path": {}, "pattern": null}),
        ] {
            let action = act(name, &input);
            assert!(action.files.is_empty(), "{name} {input}");
        }
    }
}

#[test]
fn truncated_arguments_are_parsed_up_to_the_cut() {
    let call = |name, input: &'static str| {
        understand(&ToolCall {
            name,
            id: None,
            input: input.into(),
            working_directory: Some("/w"),
        })
    };
    assert_eq!(
        call("Edit", r#"{"file_path": "/w/a.rs", "old_string": "fn ma"#).files,
        ["/w/a.rs"]
    );
    let bash = call("Bash", r#"{"command": "rm a.txt && ech"#);
    assert_eq!(bash.command.as_deref(), Some("rm a.txt && ech"));
    assert_eq!(bash.effects[0].kind, EffectKind::Delete);
    assert_eq!(call("Read", "nonsense").files, Vec::<String>::new());
    assert_eq!(call("Read", "").action_type, ActionType::Read);
}

#[test]
fn without_a_working_directory_relative_paths_stay_relative() {
    let input = json!({"file_path": "./src/a.rs"});
    let call = ToolCall {
        name: "Edit",
        id: None,
        input: (&input).into(),
        working_directory: None,
    };
    assert_eq!(understand(&call).files, ["src/a.rs"]);
    let input = json!({"pattern": "x"});
    let call = ToolCall {
        name: "Grep",
        id: None,
        input: (&input).into(),
        working_directory: None,
    };
    assert!(understand(&call).folders.is_empty());
}

#[test]
fn long_commands_are_truncated_but_analyzed_completely() {
    let command = format!("echo {} ; rm last.txt", "ü".repeat(10_000));
    let action = act("Bash", &json!({ "command": command }));
    let command = action.command.unwrap();
    assert!(
        command.len() < 9000 && command.ends_with("bytes in all]"),
        "{}",
        command.len()
    );
    assert_eq!(action.files, ["/w/last.txt"]);
}

#[test]
fn the_number_of_files_is_limited() {
    let paths: Vec<String> = (0..1000).map(|n| format!("f{n}.rs")).collect();
    assert_eq!(
        act("mcp__x__y", &json!({ "paths": paths })).files.len(),
        MAX_FILES
    );
}

proptest! {
    #[test]
    fn any_call_can_be_parsed(name in "[A-Za-z_]{0,12}", input in any::<String>(), folder in any::<Option<String>>()) {
        let call = ToolCall { name: &name, id: None, input: input.as_str().into(), working_directory: folder.as_deref() };
        let action = understand(&call);
        prop_assert!(keywords(&action).len() <= 32);
    }

    #[test]
    fn any_command_can_be_analyzed_in_any_folder(command in any::<String>(), folder in any::<Option<String>>()) {
        let input = json!({ "command": command });
        understand(&ToolCall { name: "Bash", id: None, input: (&input).into(), working_directory: folder.as_deref() });
    }
}

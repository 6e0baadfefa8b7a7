//! Tools of the user's own.

use crate::server::{Reply, Server};
use crate::world::World;
use grov_tools_run::load_user_tools;
use serde_json::json;

fn world(declaration: &str, variables: &[(&str, &str)]) -> World {
    let mut world = World::new(variables);
    let folder = world.folder.path().join("tools");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("tool.toml"), declaration).unwrap();
    let tools = load_user_tools(&[folder]);
    assert!(tools.problems.is_empty(), "{:?}", tools.problems);
    world.registry = tools.registry;
    world
}

const INPUT: &str = "[input]\ntype='object'\nrequired=['text']\n[input.properties.text]\ntype='string'\n";

#[tokio::test]
async fn a_program_gets_its_input_and_only_its_own_key() {
    let declaration = format!(
        "group='local'\nname='echo'\ndescription='d'\nkey='LOCAL_KEY'\ncommand=['sh', '-c', 'cat; printf \" [%s] [%s]\" \"$LOCAL_KEY\" \"$OTHER_KEY\"']\n{INPUT}"
    );
    let world = world(
        &declaration,
        &[
            ("LOCAL_KEY", "mine"),
            ("OTHER_KEY", "not-mine"),
            ("PATH", "/usr/bin:/bin"),
        ],
    );
    let printed = world.run("local-echo", &[("text", "a b")]).await;
    assert_eq!(
        printed.value["data"]["content"], "{\"text\":\"a b\"} [mine] []",
        "{}",
        printed.value
    );
    let shown = world
        .run("local-echo", &[("text", "a b"), ("show_request", "")])
        .await;
    assert_eq!(shown.value["data"]["request"]["stdin"], json!({"text": "a b"}));
}

#[tokio::test]
async fn a_missing_key_of_an_own_tool_is_asked_for_without_a_made_up_source() {
    let declaration =
        format!("group='local'\nname='echo'\ndescription='d'\nkey='LOCAL_KEY'\ncommand=['cat']\n{INPUT}");
    let world = world(&declaration, &[("PATH", "/usr/bin:/bin")]);
    let printed = world.run("local-echo", &[("text", "a")]).await;
    assert_eq!((printed.kind(), printed.code), ("no_key", 2));
    let hint = printed.value["error"]["hint"].as_str().unwrap();
    assert!(
        hint.contains("LOCAL_KEY=…") && !hint.contains("get one"),
        "{hint}"
    );
}

#[tokio::test]
async fn a_program_that_fails_or_takes_too_long_is_an_error() {
    for (script, kind) in [("echo broken >&2; exit 3", "user_tool"), ("sleep 5", "timed_out")] {
        let declaration =
            format!("group='local'\nname='bad'\ndescription='d'\ncommand=['sh', '-c', '{script}']\n");
        let world = world(
            &declaration,
            &[("ENVOY_TIMEOUT_MS", "500"), ("PATH", "/usr/bin:/bin")],
        );
        let printed = world.run("local-bad", &[]).await;
        assert_eq!((printed.kind(), printed.code), (kind, 2), "{}", printed.value);
    }
}

#[tokio::test]
async fn an_http_tool_sends_json_or_a_query() {
    for (method, line) in [
        ("POST", "POST /api HTTP/1.1"),
        ("GET", "GET /api?text=a%20b HTTP/1.1"),
    ] {
        let server = Server::start(vec![Reply::json(200, "{\"count\":2}")]);
        let declaration = format!(
            "group='my'\nname='api'\ndescription='d'\nkey='MY_KEY'\n{INPUT}[http]\nurl='{}/api'\nmethod='{method}'\n",
            server.url
        );
        let world = world(&declaration, &[("MY_KEY", "secret-of-mine")]);
        let printed = world.run("my-api", &[("text", "a b")]).await;
        assert_eq!(printed.value["data"], json!({"count": 2}), "{}", printed.value);
        assert_eq!(server.requests()[0].line, line);
        assert!(server.requests()[0].head.contains("Bearer secret-of-mine"));
    }
}

#[tokio::test]
async fn a_program_with_many_messages_runs_to_its_end() {
    let declaration = "group='local'\nname='loud'\ndescription='d'\ncommand=['sh', '-c', 'head -c 1000000 /dev/zero >&2; echo done']\n";
    let world = world(declaration, &[("PATH", "/usr/bin:/bin")]);
    let printed = world.run("local-loud", &[]).await;
    assert_eq!(printed.value["data"]["content"], "done", "{}", printed.value);
}

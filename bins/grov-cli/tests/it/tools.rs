//! `envoy` and `grov tools`: one object on standard output, whatever happens.

use crate::scene::{Ended, Scene};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const SEARCH: &str = r#"{"query":"q","results":[{"title":"T","url":"https://a","content":"c","score":0.9}],"response_time":1.2}"#;

/// Answers every request with this body, after a pause.
fn serve(body: &'static str, pause: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            thread::spawn(move || answer(stream, body, pause));
        }
    });
    url
}

fn answer(mut stream: TcpStream, body: &str, pause: Duration) {
    let mut buffer = [0; 65536];
    // One read has the whole of these small requests, or the answer comes early, which clients accept.
    let _ = stream.read(&mut buffer);
    thread::sleep(pause);
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}

fn envoy(scene: &Scene) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_envoy"));
    let like = scene.command();
    command
        .env_clear()
        .current_dir(scene.path("work"))
        .stdin(Stdio::null());
    for (name, value) in like.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command
}

fn run(scene: &Scene, words: &[&str]) -> Ended {
    Ended::of(&envoy(scene).args(words).output().unwrap())
}

/// The only object on standard output.
fn object(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

#[test]
fn a_tool_runs_end_to_end_with_keys_of_the_home() {
    let url = serve(SEARCH, Duration::ZERO);
    let scene = Scene::new();
    scene.write(
        "home/.grov/.env",
        &format!("TAVILY_API_KEY=tvly-hidden-key\nTAVILY_BASE_URL={url}\n"),
    );
    let ended = run(&scene, &["tavily", "search", "q", "--max-results", "3"]);
    let printed = object(&ended);
    assert_eq!((ended.code, &printed["status"]), (0, &json!("success")));
    assert_eq!(printed["metadata"]["command"], "tavily search");
    assert_eq!(printed["data"]["results"][0]["url"], "https://a");
    assert_eq!(ended.stderr, "");
    let usage = scene.ask(&["usage"]);
    assert_eq!(usage["calls"][0]["purpose"], "tool");
    let info = object(&run(&scene, &["info"]));
    assert_eq!(info["data"]["spending"]["spent_today_usd"], 0.008);
    assert_eq!(info["data"]["providers"]["tavily"], true);
    assert!(!info.to_string().contains("hidden"));
    let same = scene.run(&["tools", "tavily", "search", "q", "--max-results", "3"]);
    assert_eq!(
        object(&same)["metadata"]["cached"],
        true,
        "grov tools is the same program"
    );
}

#[test]
fn bad_usage_and_missing_keys_are_one_object_too() {
    let scene = Scene::new();
    let many = vec!["https://a.example"; 21].join(",");
    for (words, code, kind) in [
        (&["tavily", "extract", &many][..], 64, "usage"),
        (&["tavily", "search", "q", "--depth", "deep"], 64, "usage"),
        (&["tavily", "search"], 64, "usage"),
        (&["nothing"], 64, "usage"),
        (&[], 64, "usage"),
        (&["tavily", "search", "q"], 2, "no_key"),
        (&["snippet", "none"], 2, "not_found"),
        (&["vertex", "validate", "--plan", "none.md"], 2, "not_found"),
    ] {
        let ended = run(&scene, words);
        let printed = object(&ended);
        assert_eq!(
            (ended.code, printed["status"].as_str()),
            (code, Some("error")),
            "{words:?}"
        );
        assert_eq!(printed["error"]["kind"], kind, "{words:?}");
        assert_eq!(ended.stderr, "", "{words:?}");
    }
    assert!(scene.is_untouched());
}

#[test]
fn help_is_text_and_snippets_are_complete() {
    let scene = Scene::new();
    let help = run(&scene, &["tavily", "extract", "--help"]);
    assert_eq!(help.code, 0);
    assert!(help.stdout.contains("--include-images"), "{}", help.stdout);
    let snippet = object(&run(&scene, &["snippet", "perplexity-research"]));
    assert!(
        snippet["data"]["content"]
            .as_str()
            .unwrap()
            .contains("--strip-thinking")
    );
    let docs = run(&scene, &["docs", "out"]);
    assert_eq!(docs.code, 0);
    assert!(scene.path("work/out/README.md").is_file() && scene.path("work/out/vertex-review.md").is_file());
}

#[test]
fn a_cancelled_call_is_one_object_with_130() {
    let url = serve(SEARCH, Duration::from_secs(20));
    let scene = Scene::new()
        .env("TAVILY_API_KEY", "k")
        .env("TAVILY_BASE_URL", &url);
    let mut command = envoy(&scene);
    command
        .args(["tavily", "search", "q"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    thread::sleep(Duration::from_millis(1500));
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    let ended = Ended::of(&child.wait_with_output().unwrap());
    assert_eq!(ended.code, 130);
    assert_eq!(object(&ended)["error"]["kind"], "cancelled");
}

#[test]
fn a_call_is_cancelled_while_git_runs() {
    let scene = Scene::new();
    let git = scene.write("bin/git", "#!/bin/sh\nexec sleep 20\n");
    std::fs::set_permissions(&git, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let folder = scene.path("bin");
    let mut command = envoy(&scene);
    command.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
    command
        .args(["vertex", "review"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    thread::sleep(Duration::from_millis(1500));
    let id = child.id().to_string();
    let begun = Instant::now();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    let ended = Ended::of(&child.wait_with_output().unwrap());
    assert_eq!(
        (ended.code, &object(&ended)["error"]["kind"]),
        (130, &json!("cancelled"))
    );
    assert!(begun.elapsed() < Duration::from_secs(15));
}

#[test]
fn long_input_is_cut_and_named() {
    let scene = Scene::new();
    let mut command = envoy(&scene);
    command.args(["vertex", "ask", "--stdin", "q", "--show-request"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let block = "plain words\n".repeat(8192);
    for _ in 0..520 {
        stdin.write_all(block.as_bytes()).unwrap();
    }
    drop(stdin);
    let ended = Ended::of(&child.wait_with_output().unwrap());
    let printed = object(&ended);
    assert_eq!(ended.code, 0, "{}", printed["error"]);
    assert!(
        printed["metadata"]["omitted"][0]
            .as_str()
            .unwrap()
            .starts_with("stdin: the last ")
    );
}

#[test]
fn tools_of_the_user_appear_and_run() {
    let scene = Scene::new();
    let declaration = "group='local'\nname='wordcount'\ndescription='Counts words'\ncommand=['wc', '-w']\n[input]\nrequired=['text']\n[input.properties.text]\ntype='string'\n";
    scene.write("home/.grov/tools/wordcount.toml", declaration);
    scene.write(
        "work/.claude/envoy/tools/evil.toml",
        &declaration.replace("wordcount", "evil"),
    );
    let counted = object(&run(&scene, &["local", "wordcount", "text"]));
    assert_eq!(counted["data"], json!({"result": 1}));
    assert_eq!(
        run(&scene, &["local", "evil", "text"]).code,
        64,
        "a project is not trusted"
    );
    let work = scene.path("work");
    let work = work.to_str().unwrap();
    let scene = scene.env("GROV_TOOLS_TRUSTED_PROJECTS", work);
    assert_eq!(
        run(&scene, &["local", "evil", "text"]).code,
        64,
        "a project's settings can set the environment"
    );
    scene.write(
        "home/.grov/.env",
        &format!("GROV_TOOLS_TRUSTED_PROJECTS={work}\n"),
    );
    assert_eq!(run(&scene, &["local", "evil", "text"]).code, 0);
}

#[test]
fn an_installation_is_removed_again() {
    let scene = Scene::new();
    scene.write("work/CLAUDE.md", "# Mine");
    let installed = object(&run(&scene, &["install"]));
    assert!(installed["data"]["written"].as_array().unwrap().len() > 15);
    assert!(scene.path("work/.claude/skills/deep-research/SKILL.md").is_file());
    assert_eq!(run(&scene, &["uninstall"]).code, 0);
    assert_eq!(
        std::fs::read_to_string(scene.path("work/CLAUDE.md")).unwrap(),
        "# Mine"
    );
    assert!(!scene.path("work/.claude").exists());
}

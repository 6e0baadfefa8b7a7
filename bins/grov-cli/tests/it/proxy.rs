//! `grov proxy`: which daemon it starts, its arguments and environment, and errors. The daemon is a fake.

use crate::scene::{Ended, Scene, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const FAKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake/grov-proxyd");

/// `grov` in a separate folder, next to the fake daemon.
struct Installed {
    scene: Scene,
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

impl Installed {
    fn new() -> Self {
        let installed = Self::alone();
        symlink(FAKE, installed.folder.path().join("grov-proxyd")).unwrap();
        installed
    }

    fn alone() -> Self {
        let scene = Scene::new();
        // On the same file system as the binary, which is linked and not copied.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        std::fs::hard_link(env!("CARGO_BIN_EXE_grov"), folder.path().join("grov")).unwrap();
        let notes = scene.path("notes").to_str().unwrap().to_owned();
        Self {
            scene,
            folder,
            variables: vec![("GROV_FAKE_NOTES".to_owned(), notes)],
        }
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.folder.path().join("grov"));
        command
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", "/usr/bin:/bin");
        command.envs(self.variables.iter().cloned()).args(words);
        command.current_dir(self.scene.path("work")).stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> Ended {
        Ended::of(&self.command(words).output().unwrap())
    }

    fn home(&self) -> PathBuf {
        self.scene.path("home")
    }

    fn grov_home(&self) -> PathBuf {
        self.scene.path("home/.grov")
    }

    /// The notes of the fake daemon.
    fn notes(&self) -> Vec<String> {
        let notes = std::fs::read_to_string(self.scene.path("notes")).unwrap();
        notes.lines().map(str::to_owned).collect()
    }

    fn words(&self) -> Vec<String> {
        self.notes()
            .iter()
            .filter_map(|line| line.strip_prefix("word="))
            .map(str::to_owned)
            .collect()
    }

    fn was_started(&self) -> bool {
        self.scene.path("notes").exists()
    }
}

/// Answers every request like a healthy daemon.
fn healthy() -> String {
    healthy_as(String::new)
}

/// Like [`healthy`], with more fields of the answer.
fn healthy_as(fields: impl Fn() -> String + Send + 'static) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let fields = fields();
            let answer = format!(
                "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{{\"status\":\"ok\",\"version\":\"9.9.9\"{fields}}}"
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    url
}

/// Ends the fake daemon even if the test fails.
struct Running(u64);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-9", &self.0.to_string()]).status();
    }
}

#[test]
fn in_the_foreground_grov_is_replaced_by_the_daemon_next_to_it() {
    let installed = Installed::new().env("ANTHROPIC_API_KEY", "kept");
    let words = [
        "proxy",
        "--port",
        "0",
        "--upstream",
        "http://127.0.0.1:9",
        "--host",
        "::1",
        "--log-level",
        "debug",
    ];
    let child = installed.command(&words).stdout(Stdio::null()).spawn().unwrap();
    let pid = child.id();
    assert!(child.wait_with_output().unwrap().status.success());
    let home = installed.grov_home().to_str().unwrap().to_owned();
    assert_eq!(
        installed.words(),
        [
            "--home",
            &home,
            "--port=0",
            "--host=::1",
            "--upstream=http://127.0.0.1:9",
            "--log-level=debug"
        ]
    );
    assert!(
        installed.notes().contains(&format!("pid={pid}")),
        "the process stays the same"
    );
    assert!(
        installed.notes().contains(&"ANTHROPIC_API_KEY=kept".to_owned()),
        "a person's own shell is left alone"
    );
}

#[test]
fn the_exit_code_is_the_daemons() {
    let installed = Installed::new()
        .env("GROV_FAKE_REFUSAL", "grov-proxyd: no")
        .env("GROV_FAKE_CODE", "7");
    let ended = installed.run(&["proxy"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (7, "grov-proxyd: no\n"));
}

#[test]
fn without_a_daemon_next_to_grov_the_path_is_searched() {
    let installed = Installed::alone();
    let ended = installed.run(&["proxy", "--json"]);
    assert_eq!(
        (ended.code, json(&ended)["error"]["kind"].as_str()),
        (2, Some("proxy"))
    );
    let folder = Path::new(FAKE).parent().unwrap();
    // A relative entry depends on the working directory, which may contain untrusted files.
    symlink(FAKE, installed.scene.path("work/grov-proxyd")).unwrap();
    let installed = installed.env("PATH", ".::/usr/bin:/bin");
    assert_eq!(installed.run(&["proxy"]).code, 2);
    assert!(!installed.was_started());
    let installed = installed.env("PATH", &format!("{}:/usr/bin:/bin", folder.display()));
    assert_eq!(installed.run(&["proxy"]).code, 0);
    assert!(installed.was_started());
}

#[test]
fn refused_settings_start_no_process() {
    for (words, variable) in [
        (&["--host", "0.0.0.0"][..], ("X", "")),
        (&["--port", "many"], ("X", "")),
        (&["--port", "-1"], ("X", "")),
        (&["--upstream", "api.anthropic.com"], ("X", "")),
        (&["--upstream", "http://localhost:8080"], ("X", "")),
        (&["--log-level", "loud"], ("X", "")),
        (&["--tls-cert", "server.crt"], ("X", "")),
        (&[], ("PROXY_HOST", "192.168.0.1")),
    ] {
        for detach in [&[][..], &["--detach"]] {
            let installed = Installed::new().env(variable.0, variable.1);
            let words = [&["proxy"], words, detach].concat();
            let ended = installed.run(&words);
            assert_eq!(
                (ended.code, ended.stdout.as_str()),
                (64, ""),
                "{words:?} {variable:?}"
            );
            assert!(ended.stderr.contains("hint: "), "{}", ended.stderr);
            assert!(
                !installed.was_started() && !installed.grov_home().exists(),
                "{words:?} {variable:?}"
            );
        }
    }
}

#[test]
fn a_project_cannot_configure_the_daemon() {
    let installed = Installed::new();
    installed.scene.repository("work", "h.example:o/r");
    installed.scene.write(
        "work/.grov/config.toml",
        "[proxy]\nport = 'broken'\nupstream = 'https://evil.example'\n",
    );
    let ended = installed.run(&["proxy"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
}

#[test]
fn a_detached_daemon_has_its_own_session_and_none_of_the_clients_secrets() {
    let url = healthy();
    let installed = Installed::new()
        .env("GROV_FAKE_URL", &url)
        .env("ANTHROPIC_API_KEY", "secret")
        .env("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080")
        .env("CLAUDE_CODE_OAUTH_TOKEN", "secret")
        .env("CLAUDECODE", "1")
        .env("HTTPS_PROXY", "http://127.0.0.1:8080")
        .env("HTTP_PROXY", "http://proxy.example:3128")
        .env("ANTHROPIC_TARGET", "https://gate.example");
    let ended = installed.run(&["proxy", "--detach", "--json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let answer = json(&ended);
    let pid = answer["pid"].as_u64().unwrap();
    let _running = Running(pid);
    assert_eq!(
        (&answer["url"], &answer["version"], &answer["started"]),
        (&url.as_str().into(), &"9.9.9".into(), &true.into())
    );

    let notes = installed.notes();
    let has = |start: &str| notes.iter().any(|line| line.starts_with(start));
    assert!(has(&format!("pid={pid}")));
    for gone in ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "CLAUDE", "HTTPS_PROXY"] {
        assert!(!has(gone), "{gone} is handed on");
    }
    for kept in [
        "HTTP_PROXY=http://proxy.example:3128",
        "ANTHROPIC_TARGET=https://gate.example",
        "HOME=",
    ] {
        assert!(has(kept), "{kept} is not handed on");
    }
    let logs = installed.grov_home().join("logs");
    assert!(has(&format!(
        "GROV_LOG_FILE={}",
        logs.join("proxy.log").display()
    )));
    let session = Command::new("ps")
        .args(["-o", "sid=", "-p", &pid.to_string()])
        .output();
    if let Ok(output) = session {
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), pid.to_string());
    }
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (
            mode(&installed.grov_home()),
            mode(&logs.join("grov-proxyd.stderr"))
        ),
        (0o700, 0o600)
    );

    let again = json(&installed.run(&["proxy", "--detach", "--json"]));
    assert_eq!(
        (&again["pid"], &again["started"]),
        (&pid.into(), &false.into()),
        "one daemon is enough"
    );
    let text = installed.run(&["proxy", "--detach"]).stdout;
    assert_eq!(
        text,
        format!("grov-proxyd was already listening at {url} (pid {pid})\n")
    );
    let status = installed.run(&["proxy-status", "--json"]);
    assert_eq!(json(&status)["proxy"]["running"], true);
}

#[test]
fn a_detached_daemon_gets_only_grovs_keys() {
    for (config, is_allowed) in [
        ("[llm]\nuse_anthropic_key = true\n", true),
        ("[llm]\nuse_anthropic_key = false\n", false),
    ] {
        let url = healthy();
        let installed = Installed::new()
            .env("GROV_FAKE_URL", &url)
            .env("ANTHROPIC_API_KEY", "shared")
            .env("ANTHROPIC_AUTH_TOKEN", "the-clients")
            .env("GROV_LLM_API_KEY", "own");
        installed.scene.write("home/.grov/config.toml", config);
        // A repository cannot allow the use of the user's key.
        installed.scene.repository("work", "h.example:o/r");
        installed
            .scene
            .write("work/.grov/config.toml", "llm.use_anthropic_key = true\n");
        let ended = installed.run(&["proxy", "--detach", "--json"]);
        assert_eq!(ended.code, 0, "{ended:?}");
        let _running = Running(json(&ended)["pid"].as_u64().unwrap());
        let notes = installed.notes();
        let has = |line: &str| notes.contains(&line.to_owned());
        assert_eq!(has("ANTHROPIC_API_KEY=shared"), is_allowed, "{config}");
        assert!(has("GROV_LLM_API_KEY=own"));
        assert!(!has("ANTHROPIC_AUTH_TOKEN=the-clients"));
    }
}

#[test]
fn the_error_of_a_detached_daemon_is_shown() {
    let installed = Installed::new()
        .env(
            "GROV_FAKE_REFUSAL",
            "grov-proxyd: port 8080 is in use\nhint: choose another with --port",
        )
        .env("GROV_FAKE_CODE", "2");
    let ended = installed.run(&["proxy", "--detach", "--json"]);
    assert_eq!(ended.code, 2);
    let error = json(&ended)["error"].clone();
    assert_eq!(error["message"], "grov-proxyd did not start: port 8080 is in use");
    assert_eq!(error["hint"], "choose another with --port");
    let installed = installed.env("GROV_FAKE_CODE", "64");
    assert_eq!(installed.run(&["proxy", "--detach"]).code, 64);
    let installed = installed.env("GROV_FAKE_REFUSAL", "");
    let ended = installed.run(&["proxy", "--detach"]);
    assert!(
        ended.code == 2 && ended.stderr.contains("printed no error"),
        "{ended:?}"
    );
}

/// The fake daemon serves but cannot record where: its health, which the test answers, has its process id.
fn serving_unrecorded() -> (Installed, String) {
    let installed = Installed::new().env("GROV_FAKE_UNRECORDED", "1");
    let notes = installed.scene.path("notes");
    let url = healthy_as(move || {
        let notes = std::fs::read_to_string(&notes).unwrap_or_default();
        let pid = notes.lines().find_map(|line| line.strip_prefix("pid="));
        format!(",\"pid\":{}", pid.unwrap_or("0"))
    });
    let port = url.rsplit(':').next().unwrap().to_owned();
    (installed, port)
}

#[test]
fn a_daemon_that_serves_but_cannot_record_its_address_is_not_killed() {
    let (installed, port) = serving_unrecorded();
    let ended = installed.run(&["proxy", "--detach", "--json", "--port", &port]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let answer = json(&ended);
    let pid = answer["pid"].as_u64().unwrap();
    let _running = Running(pid);
    assert_eq!(
        (&answer["url"], &answer["started"]),
        (&format!("http://127.0.0.1:{port}").into(), &true.into())
    );
    assert!(
        ended.stderr.contains("could not record that") && ended.stderr.contains("nothing is recorded"),
        "{ended:?}"
    );
    assert!(Path::new(&format!("/proc/{pid}")).exists() || cfg!(not(target_os = "linux")));
}

#[test]
fn a_home_that_cannot_be_created_still_gets_a_relay() {
    let (installed, port) = serving_unrecorded();
    // A file where the home should be.
    std::fs::write(installed.grov_home(), "").unwrap();
    let ended = installed.run(&["proxy", "--detach", "--json", "--port", &port]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let _running = Running(json(&ended)["pid"].as_u64().unwrap());
    assert!(ended.stderr.contains(".grov cannot be written: "), "{ended:?}");
}

#[test]
fn a_hook_answers_in_time_while_a_daemon_starts_slowly() {
    let installed = Installed::new().env("GROV_FAKE_UNRECORDED", "1");
    let start = std::time::Instant::now();
    let ended = installed.run(&["proxy", "--detach", "--for-hook", "--json", "--port", "9"]);
    assert!(start.elapsed().as_secs_f64() < 4.5, "{:?}", start.elapsed());
    let message = json(&ended)["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("is still starting"), "{message}");
    let pid = message.split(|character: char| !character.is_ascii_digit());
    let pid = pid.filter_map(|word| word.parse().ok()).next().unwrap();
    let _running = Running(pid);
    assert!(
        Command::new("kill")
            .args(["-0", &pid.to_string()])
            .status()
            .unwrap()
            .success(),
        "it was killed while it started"
    );
}

#[test]
fn a_session_start_reports_a_missing_daemon_at_once() {
    let installed = Installed::alone().env("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
    let mut command = installed.command(&["hook", "SessionStart"]);
    command
        .env("GROV_PROXY_PORT", "9")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let input = serde_json::json!({
        "session_id": "s", "cwd": installed.scene.path("work"), "source": "startup",
    });
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.to_string().as_bytes())
        .unwrap();
    let ended = Ended::of(&child.wait_with_output().unwrap());
    assert_eq!(ended.code, 0, "{ended:?}");
    let answer: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let notice = answer["systemMessage"].as_str().unwrap();
    assert!(
        notice.contains("grov-proxyd is neither next to grov") && notice.contains("127.0.0.1:9"),
        "{notice}"
    );
}

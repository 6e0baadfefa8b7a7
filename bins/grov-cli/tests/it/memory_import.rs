//! `grov memory import`: odd records, and imports that fail.

use crate::scene::{Ended, Scene, json};
use serde_json::{Value, json as object};
use std::io::{BufRead, BufReader, Write};
#[cfg(target_os = "linux")]
use std::net::{TcpListener, TcpStream};
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::process::Stdio;

fn import(scene: &Scene, text: &[u8], words: &[&str]) -> Ended {
    let path = scene.path("records.jsonl");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    scene.run(&[&["memory", "import", path, "--project", "key"], words].concat())
}

fn export(scene: &Scene) -> String {
    scene.run(&["memory", "export", "--project", "key"]).stdout
}

fn lines(count: usize) -> String {
    (0..count)
        .map(|number| format!("{{\"id\":\"m{number:05}\",\"goal\":\"goal {number}\",\"created_at\":\"2026-01-01T00:00:00Z\"}}\n"))
        .collect()
}

#[test]
fn odd_titles_and_huge_fields_are_kept_unchanged() {
    let scene = Scene::new();
    let title = "tab\there \"quoted\" 'so' \u{202e}desrever\u{202c} \u{200b} 漢字 \u{1b}[31mred\n'; DROP TABLE tasks; --";
    let huge = "many words ".repeat(20_000);
    let odd = object!({
        "id": "odd \"id\"\t'; --", "original_query": title, "goal": title, "reasoning_trace": [huge],
        "decisions": [{"choice": title, "reason": title}], "tags": [title], "files_touched": ["a\tb/\"c\".rs"],
        "created_at": "2026-01-01T00:00:00Z",
    });
    let ended = import(&scene, odd.to_string().as_bytes(), &["--json"]);
    assert_eq!(
        (&json(&ended)["added"], &json(&ended)["skipped"]),
        (&1.into(), &0.into()),
        "{ended:?}"
    );
    let exported = export(&scene);
    let kept: Value = serde_json::from_str(&exported).unwrap();
    for (key, value) in odd.as_object().unwrap() {
        assert_eq!(&kept[key], value, "{key}");
    }
    let other = Scene::new();
    import(&other, exported.as_bytes(), &[]);
    assert_eq!(export(&other), exported);
    for words in [
        &["list"][..],
        &["show", "odd \"id\"\t'; --"],
        &["search", "quoted"],
        &["audit"],
    ] {
        let ended = scene.run(&[&["memory"], words, &["--project", "key"]].concat());
        assert!(
            !ended.stdout.contains(['\u{1b}', '\u{202e}', '\t']) && ended.stdout.contains("quoted"),
            "{words:?}: {}",
            ended.stdout.chars().take(500).collect::<String>()
        );
    }
}

#[test]
fn lines_that_are_not_text_are_skipped_and_reported_by_number() {
    let scene = Scene::new();
    let mut text = lines(1).into_bytes();
    text.extend_from_slice(b"{\"id\":\"x\",\"goal\":\"\xc3\x28\"}\n");
    text.extend_from_slice(b"\x00\x01\x02\n{\"id\":\"nul\",\"goal\":\"a\\u0000b\"}\n");
    text.extend_from_slice(b"{\"id\":\"lone\",\"goal\":\"\\ud800\"}\n");
    let ended = import(&scene, &text, &["--json"]);
    assert_eq!(json(&ended)["skipped"], 3, "{ended:?}");
    for part in ["line 2 is not UTF-8", "line 3 ", "line 5 "] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    assert!(!ended.stderr.contains('\u{0}'), "{:?}", ended.stderr);
    let ids: Vec<String> = export(&scene)
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["id"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(ids, ["m00000", "nul"]);
}

#[test]
fn a_record_with_a_new_id_never_replaces_the_memory_of_its_session() {
    let scene = Scene::new();
    let record = |id: &str, goal: &str| {
        object!({
            "id": id, "goal": goal, "session_id": "s-1", "client_session_id": "c-1", "created_at": "2026-01-01T00:00:00Z",
        })
        .to_string()
    };
    let ids = || -> Vec<String> {
        let records = export(&scene);
        let id = |line: &str| {
            serde_json::from_str::<Value>(line).unwrap()["id"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        records.lines().map(id).collect()
    };
    import(&scene, record("first", "Add paging").as_bytes(), &[]);
    let second = import(&scene, record("second", "Add sorting").as_bytes(), &["--json"]);
    assert_eq!(
        (&json(&second)["added"], &json(&second)["replaced"]),
        (&1.into(), &0.into())
    );
    assert_eq!(ids(), ["first", "second"]);
    // A known id replaces its record, and keeps the session.
    let known = import(
        &scene,
        record("first", "Add paging to the list").as_bytes(),
        &["--json"],
    );
    assert_eq!(
        (&json(&known)["added"], &json(&known)["replaced"]),
        (&0.into(), &1.into())
    );
    assert_eq!(ids(), ["first", "second"]);
    assert!(
        export(&scene)
            .lines()
            .next()
            .unwrap()
            .contains("\"session_id\":\"s-1\"")
    );
    // As the refusal advises: with a new id another project takes it.
    let other = |id: &str| {
        let path = scene.path("other.jsonl");
        std::fs::write(&path, record(id, "Add paging")).unwrap();
        scene.run(&[
            "memory",
            "import",
            path.to_str().unwrap(),
            "--project",
            "other",
            "--json",
        ])
    };
    assert_eq!(json(&other("first"))["of_other_projects"], 1);
    assert_eq!(json(&other("third"))["added"], 1);
}

#[test]
fn an_import_continues_where_it_failed() {
    let scene = Scene::new();
    let text = lines(2500);
    let whole = import(&scene, text.as_bytes(), &["--json"]);
    assert_eq!(json(&whole)["added"], 2500);
    let exported = export(&scene);

    let scene = Scene::new();
    let first: String = text.split_inclusive('\n').take(1200).collect();
    import(&scene, first.as_bytes(), &[]);
    let rest = import(&scene, text.as_bytes(), &["--from-line", "1201", "--json"]);
    assert_eq!(
        (&json(&rest)["added"], &json(&rest)["replaced"]),
        (&1300.into(), &0.into()),
        "{rest:?}"
    );
    assert_eq!(export(&scene), exported);
    // Line numbers are those of the file.
    let bad = import(&scene, (lines(3) + "bad\n").as_bytes(), &["--from-line", "4"]);
    assert!(bad.stderr.contains("line 4 "), "{bad:?}");
    let beyond = import(&scene, lines(3).as_bytes(), &["--from-line", "100", "--json"]);
    assert_eq!((beyond.code, &json(&beyond)["added"]), (0, &0.into()));
    assert_eq!(import(&scene, b"", &["--from-line", "0"]).code, 64);
}

/// Records that were read before the source failed are kept, and the rest can be imported later.
#[cfg(target_os = "linux")]
#[test]
fn an_import_that_fails_reports_the_line() {
    let scene = Scene::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut source = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut far_end, _) = listener.accept().unwrap();
    // Closing an end with unread data resets the connection.
    source.write_all(b"unread").unwrap();
    far_end.peek(&mut [0; 1]).unwrap();
    let child = scene
        .command()
        .args(["memory", "import", "-", "--project", "key", "--json"])
        .stdin(Stdio::from(OwnedFd::from(source)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    far_end.write_all(lines(1500).as_bytes()).unwrap();
    drop(far_end);
    let ended = Ended::of(&child.wait_with_output().unwrap());
    assert_eq!(ended.code, 2, "{ended:?}");
    let error = json(&ended)["error"].clone();
    assert_eq!(error["kind"], "input");
    assert_eq!(
        error["hint"],
        "lines up to 1500 are imported; continue with --from-line 1501"
    );
    assert_eq!(export(&scene).lines().count(), 1500);
}

#[test]
fn progress_is_reported_on_request() {
    let scene = Scene::new();
    let mut child = scene
        .command()
        .args(["memory", "import", "-", "--project", "key", "--progress"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    // Sends batches until the import has run long enough for a report.
    let writer = std::thread::spawn(move || while stdin.write_all(lines(1000).as_bytes()).is_ok() {});
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert!(
        line.starts_with("line ") && line.contains(" done: ") && line.contains(" records in "),
        "{line}"
    );
    child.kill().unwrap();
    child.wait().unwrap();
    drop(stderr);
    writer.join().unwrap();
    // Without a terminal and without --progress there are no reports.
    assert_eq!(import(&Scene::new(), lines(10).as_bytes(), &[]).stderr, "");
}

//! Input that does not hold: each is a clear problem, and nothing is half written.

use super::{Scene, text};
use anyhow::Result;
use grov_tests::{Request, Response};
use serde_json::{Value, json};

const ID: &str = "00000000-0000-7000-8000-000000000000";

fn problem(answer: &Response, status: u16, code: &str) -> Value {
    let text = answer.text();
    assert_eq!(answer.status, status, "{text}");
    assert_eq!(
        answer.header("content-type"),
        Some("application/problem+json"),
        "{text}"
    );
    let body: Value = serde_json::from_str(&text).unwrap_or_default();
    assert_eq!(body["code"], code, "{text}");
    assert_eq!(body["status"], status, "{text}");
    for field in ["type", "title", "detail"] {
        assert!(body[field].is_string(), "{text}");
    }
    assert!(answer.header("x-request-id").is_some());
    body
}

fn json_post(scene: &Scene, target: &str, body: impl Into<Vec<u8>>) -> Request {
    let request = scene.agent.request("POST", target);
    request.header("Content-Type", "application/json").body(body)
}

#[test]
fn unknown_paths_methods_ids_and_types_are_problems() -> Result<()> {
    let scene = Scene::offline()?;
    let project = &scene.project;
    let send = |method: &str, target: &str| scene.agent.send(&scene.agent.request(method, target));
    problem(&send("GET", "/nowhere")?, 404, "not_found");
    problem(&send("PUT", "/projects")?, 405, "method_not_allowed");
    problem(&send("OPTIONS", "/chat")?, 405, "method_not_allowed");
    for target in [
        "/projects/x".to_owned(),
        format!("/projects/{ID}"),
        "/projects/%ff%fe".to_owned(),
        format!("/projects/{project}/docs/{ID}"),
        format!("/projects/{project}/docs/..%2f..%2fx"),
        format!("/projects/{project}/memory/{ID}"),
        format!("/tool_calls/{ID}"),
        "/tool_calls/x".to_owned(),
        format!("/threads/{ID}/messages"),
        format!("/threads?project_id={ID}"),
    ] {
        problem(&send("GET", &target)?, 404, "not_found");
    }
    let plain = scene.agent.request("POST", "/projects").body("{}");
    problem(
        &scene.agent.send(&plain.header("Content-Type", "text/plain"))?,
        415,
        "unsupported_media_type",
    );
    let image = json!({"title": "x", "category": "FACTS", "content": "x", "content_type": "image/png"});
    let target = format!("/projects/{project}/docs");
    let answer = scene.agent.send(&json_post(&scene, &target, image.to_string()))?;
    problem(&answer, 415, "unsupported_media_type");
    for target in [
        format!("/projects/{project}/docs?limit=0"),
        format!("/projects/{project}/docs?limit=x"),
        format!("/projects/{project}/docs?cursor=no-cursor"),
        format!("/projects/{project}/memory?type=nothing"),
        format!("/projects/{project}/search"),
        format!("/projects/{project}/search?q=x&k=1000"),
        format!("/projects/{project}/search?q=x&category=NONE"),
        "/tool_calls?status=nothing".to_owned(),
        "/threads".to_owned(),
    ] {
        let body = problem(&send("GET", &target)?, 422, "invalid");
        assert!(body["errors"][0]["message"].is_string(), "{target}: {body}");
    }
    Ok(())
}

#[test]
fn bodies_that_do_not_hold_say_where() -> Result<()> {
    let scene = Scene::offline()?;
    let project = &scene.project;
    let invalid = |target: &str, body: &str| -> Result<String> {
        let answer = scene.agent.send(&json_post(&scene, target, body))?;
        let body = problem(&answer, 422, "invalid");
        Ok(text(&body["errors"][0]["path"]).to_owned())
    };
    assert_eq!(invalid("/projects", "{")?, "");
    assert_eq!(invalid("/projects", "[]")?, "");
    assert_eq!(
        invalid("/projects", r#"{"name": 7, "role_statement": ""}"#)?,
        "/name"
    );
    assert_eq!(
        invalid("/projects", r#"{"name": " ", "role_statement": ""}"#)?,
        "/name"
    );
    assert_eq!(
        invalid("/projects", r#"{"name": "a\u0000b", "role_statement": ""}"#)?,
        "/name"
    );
    let docs = format!("/projects/{project}/docs");
    assert_eq!(
        invalid(&docs, r#"{"title": "x", "category": "OTHER", "content": "x"}"#)?,
        "/category"
    );
    assert_eq!(
        invalid(
            &docs,
            r#"{"title": "x", "category": "FACTS", "content": "a\u0000b"}"#
        )?,
        "/content"
    );
    assert_eq!(
        invalid(&docs, r#"{"title": "x", "category": "FACTS", "content": "  "}"#)?,
        "/content"
    );
    let chat = |tools: &str| format!(r#"{{"project_id": "{project}", "message": "x", "tools": {tools}}}"#);
    for (tools, path) in [
        ("7", "/tools"),
        (
            r#"[{"name": "a b", "description": "x", "parameters": {}}]"#,
            "/tools/0/name",
        ),
        (
            r#"[{"name": "memory.propose_add", "description": "x", "parameters": {}}]"#,
            "/tools/0/name",
        ),
        (
            r#"[{"name": "a", "description": "x", "parameters": {"b": {"type": "text"}}}]"#,
            "/tools/0/parameters/b/type",
        ),
    ] {
        assert_eq!(invalid("/chat", &chat(tools))?, path, "{tools}");
    }
    let empty = format!(r#"{{"project_id": "{project}", "message": ""}}"#);
    assert_eq!(invalid("/chat", &empty)?, "/message");
    let memory = format!("/projects/{project}/memory");
    assert_eq!(
        invalid(&memory, r#"{"type": "opinion", "content": "x"}"#)?,
        "/type"
    );
    assert_eq!(
        invalid(&memory, r#"{"type": "metric", "content": "x", "ttl_seconds": 0}"#)?,
        "/ttl_seconds"
    );
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    invalid("/chat", &chat(&deep))?;
    let broken = json_post(
        &scene,
        "/projects",
        b"{\"name\": \"\xff\", \"role_statement\": \"\"}".to_vec(),
    );
    problem(&scene.agent.send(&broken)?, 422, "invalid");
    let unknown = json!({"project_id": project, "message": "x", "thread_id": ID}).to_string();
    problem(
        &scene.agent.send(&json_post(&scene, "/chat", unknown))?,
        404,
        "not_found",
    );
    let call = json!({"tool_call_id": ID, "status": "succeeded"}).to_string();
    problem(
        &scene.agent.send(&json_post(&scene, "/tools/result", call))?,
        404,
        "not_found",
    );
    Ok(())
}

#[test]
fn large_bodies_are_refused_and_the_client_sees_it() -> Result<()> {
    let scene = Scene::with(|agent| agent.env("GROV_AGENT_MAX_BODY_BYTES", "1MiB"))?;
    let target = format!("/projects/{}/docs", scene.project);
    let text = "word ".repeat(10 * 1024 * 1024 / 5);
    let body = json!({"title": "x", "category": "FACTS", "content": text}).to_string();
    problem(
        &scene.agent.send(&json_post(&scene, &target, body.clone()))?,
        413,
        "too_large",
    );
    // The same without an announced length.
    let mut stream = grov_tests::open(scene.agent.port())?;
    let head = format!(
        "POST {target} HTTP/1.1\r\nHost: localhost\r\nX-AGENT-KEY: test-admin-key\r\nContent-Type: application/json\r\n\
         Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        body.len()
    );
    std::io::Write::write_all(&mut stream, head.as_bytes())?;
    let answer = grov_tests::read_response(&mut std::io::BufReader::new(stream), |_| {})?;
    problem(&answer, 413, "too_large");
    let listed = scene.at(200, "GET", "/docs", &Value::Null)?;
    assert_eq!(listed["items"], json!([]));
    Ok(())
}

#[test]
fn only_an_upload_may_be_larger_than_2_mib() -> Result<()> {
    let scene = Scene::offline()?;
    let text = "x".repeat(3 * 1024 * 1024);
    let chat = json!({"project_id": scene.project, "message": text}).to_string();
    let answer = scene.agent.send(&json_post(&scene, "/chat", chat))?;
    problem(&answer, 413, "too_large");
    // The upload is read, and refused for something else.
    let target = format!("/projects/{}/docs", scene.project);
    let upload = json!({"title": "x", "category": "NONE", "content": text}).to_string();
    problem(
        &scene.agent.send(&json_post(&scene, &target, upload))?,
        422,
        "invalid",
    );
    Ok(())
}

fn form(parts: &[(&str, Option<&str>, &[u8])]) -> (String, Vec<u8>) {
    let mut body = Vec::new();
    for (name, file_name, content) in parts {
        let file = file_name.map_or_else(String::new, |name| format!("; filename=\"{name}\""));
        body.extend(format!("--X\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n").bytes());
        body.extend(*content);
        body.extend(b"\r\n");
    }
    body.extend(b"--X--\r\n");
    ("multipart/form-data; boundary=X".to_owned(), body)
}

#[test]
fn the_name_of_a_file_is_never_a_path() -> Result<()> {
    let scene = Scene::offline()?;
    let target = format!("/projects/{}/docs", scene.project);
    let upload = |parts: &[(&str, Option<&str>, &[u8])]| {
        let (media_type, body) = form(parts);
        let request = scene.agent.request("POST", &target);
        scene
            .agent
            .send(&request.header("Content-Type", &media_type).body(body))
    };
    let content: &[u8] = b"# Notes\n\nThe door code changes in May.";
    for name in ["../../x.md", "/etc/passwd.md", "..\\..\\x.md"] {
        let answer = upload(&[("file", Some(name), content), ("category", None, b"FACTS")])?;
        assert_eq!(answer.status, 201, "{}", answer.text());
    }
    let home = scene.folder.path().join("grov");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(scene.folder.path())? {
        names.push(entry?.file_name());
    }
    assert_eq!(names, ["grov"]);
    let mut kept = Vec::new();
    for folder in std::fs::read_dir(home.join("uploads"))? {
        for file in std::fs::read_dir(folder?.path())? {
            kept.push(file?.path());
        }
    }
    assert_eq!(kept.len(), 1, "one content, one file: {kept:?}");
    assert_eq!(std::fs::read(&kept[0])?, content);
    problem(&upload(&[("file", Some("a.md"), content)])?, 422, "invalid");
    problem(&upload(&[("category", None, b"FACTS")])?, 422, "invalid");
    let not_text: &[u8] = b"caf\xe9 \xff\xfe text";
    problem(
        &upload(&[("file", Some("a.txt"), not_text), ("category", None, b"FACTS")])?,
        422,
        "invalid",
    );
    let cut = scene.agent.request("POST", &target);
    let cut = cut
        .header("Content-Type", "multipart/form-data; boundary=X")
        .body("--X\r\n");
    problem(&scene.agent.send(&cut)?, 422, "invalid");
    Ok(())
}

#[test]
fn decisions_after_the_end_and_by_two_people_are_conflicts() -> Result<()> {
    let scene = Scene::offline()?;
    let item = scene.at(
        201,
        "POST",
        "/memory",
        &json!({"type": "fact", "content": "We open at 9"}),
    )?;
    let approve = format!("/projects/{}/memory/{}/approve", scene.project, text(&item["id"]));
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| scene.agent.call("POST", &approve, &json!({}))))
            .collect();
        let answers = threads.into_iter().filter_map(|thread| thread.join().ok()?.ok());
        answers.map(|(status, _)| status).collect()
    });
    assert_eq!(
        statuses.iter().filter(|status| **status == 200).count(),
        1,
        "{statuses:?}"
    );
    assert_eq!(
        statuses.iter().filter(|status| **status == 409).count(),
        3,
        "{statuses:?}"
    );
    Ok(())
}

/// A PDF with one page whose content is compressed.
fn pdf(content: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut encoder, content)?;
    let packed = encoder.finish()?;
    let mut page = format!("<</Length {}/Filter/FlateDecode>>\nstream\n", packed.len()).into_bytes();
    page.extend(packed);
    page.extend(b"\nendstream");
    let objects = [
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>"
            .to_vec(),
        page,
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_vec(),
    ];
    let (mut file, mut places) = (b"%PDF-1.7\n".to_vec(), Vec::new());
    for (number, object) in objects.iter().enumerate() {
        places.push(file.len());
        file.extend(format!("{} 0 obj\n", number + 1).bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let start = file.len();
    file.extend(b"xref\n0 6\n0000000000 65535 f \n");
    for place in places {
        file.extend(format!("{place:010} 00000 n \n").bytes());
    }
    file.extend(format!("trailer\n<</Size 6/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n").bytes());
    Ok(file)
}

#[test]
fn a_pdf_that_needs_endless_memory_costs_the_service_none() -> Result<()> {
    let scene = Scene::offline()?;
    let target = format!("/projects/{}/docs", scene.project);
    let upload = |bytes: &[u8]| {
        let (media_type, body) = form(&[("file", Some("a.pdf"), bytes), ("category", None, b"FACTS")]);
        let request = scene.agent.request("POST", &target);
        scene
            .agent
            .send(&request.header("Content-Type", &media_type).body(body))
    };
    let good = upload(&pdf(
        b"BT /F1 12 Tf 72 700 Td (Invoices are kept for ten years.) Tj ET",
    )?)?;
    assert_eq!(good.status, 201, "{}", good.text());
    // 60 MB of operators in 60 kB.
    let bomb = upload(&pdf(&b"q Q ".repeat(15_000_000))?)?;
    assert!(matches!(bomb.status, 413 | 422), "{}", bomb.text());
    let found = scene.at(200, "GET", "/search?q=invoices+ten+years", &Value::Null)?;
    assert_eq!(found["results"][0]["document"]["title"], "a.pdf", "{found}");
    let status = std::fs::read_to_string(format!("/proc/{}/status", scene.agent.pid()))?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak: u64 = peak
        .and_then(|peak| peak.trim().split(' ').next()?.parse().ok())
        .unwrap_or(u64::MAX);
    assert!(peak < 400 * 1024, "the service itself took {peak} kB");
    Ok(())
}

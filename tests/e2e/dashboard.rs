//! The dashboard over HTTP: signing in, what it shows, and whom it refuses. What needs a browser is in `scripts/browser`.

mod requests;
mod routes;
mod sessions;

use crate::store_faults::Hold;
use crate::turn;
use crate::upstream::Upstream;
use anyhow::{Context, Result, ensure};
use grov_tests::{Daemon, Grov, Request, Response, exchange, open};
use std::io::{BufRead, BufReader, Write};
use std::time::Instant;

/// A daemon with a home, an upstream and a signed-in browser.
pub struct Scene {
    pub daemon: Daemon,
    pub grov: Grov,
    _upstream: Upstream,
    pub cookie: String,
    pub folder: tempfile::TempDir,
}

/// Opens a new link of `grov ui`.
pub fn enter(grov: &Grov, daemon: &Daemon) -> Result<Response> {
    let answer = grov.run_json(&["ui"])?;
    let url = answer.json["url"].as_str().context("no link")?.to_owned();
    let (_, path) = url
        .split_once(&daemon.port().to_string())
        .context("another port")?;
    exchange(daemon.port(), &Request::new("GET", path))
}

/// The cookie of a response, as the browser sends it.
pub fn cookie_of(response: &Response) -> Option<String> {
    let cookie = response.header("set-cookie")?;
    Some(cookie.split(';').next()?.to_owned())
}

impl Scene {
    pub fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let home = folder.path().join("grov");
        let upstream = Upstream::start()?;
        let daemon = Daemon::on(&home, &upstream.url()).start()?;
        let grov = Grov::on(&home);
        let cookie = cookie_of(&enter(&grov, &daemon)?).context("no cookie")?;
        Ok(Self {
            daemon,
            grov,
            _upstream: upstream,
            cookie,
            folder,
        })
    }

    fn request(&self, method: &str, path: &str) -> Request {
        let path = format!("/_grov/ui{path}");
        Request::new(method, &path).header("Cookie", &self.cookie)
    }

    pub fn get(&self, path: &str) -> Result<Response> {
        exchange(self.daemon.port(), &self.request("GET", path))
    }

    /// The token that forms on the pages contain.
    pub fn token(&self) -> Result<String> {
        let page = self.get("/settings")?.text();
        let (_, rest) = page.split_once("name=\"token\" value=\"").context("no form")?;
        Ok(rest.split('"').next().unwrap_or_default().to_owned())
    }

    pub fn post(&self, path: &str, form: &str) -> Result<Response> {
        let request = self
            .request("POST", path)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .header("Origin", &self.daemon.url());
        exchange(self.daemon.port(), &request.body(form))
    }

    fn database(&self) -> std::path::PathBuf {
        self.folder.path().join("grov").join("grov.db")
    }

    /// Plays a turn and waits until its action is stored.
    pub fn play(&self, number: usize, prompt: &str) -> Result<String> {
        let session = turn::session(number);
        let answer = exchange(self.daemon.port(), &turn::prompt(&session, prompt))?;
        ensure!(answer.status == 200, "{}", answer.text());
        self.grov.wait_for_steps(&session, 1)?;
        Ok(session)
    }
}

#[test]
fn a_link_signs_in_one_browser_once() -> Result<()> {
    let scene = Scene::new()?;
    let port = scene.daemon.port();
    let link = scene.grov.run_json(&["ui"])?.json["url"].to_string();
    let (_, path) = link
        .trim_matches('"')
        .split_once(&port.to_string())
        .context("port")?;
    // Something that only looks at the link does not use it up.
    let looked = exchange(port, &Request::new("HEAD", path))?;
    assert_eq!((looked.status, looked.header("set-cookie")), (200, None));
    let first = exchange(port, &Request::new("GET", path))?;
    let cookie = first.header("set-cookie").context("no cookie")?;
    for attribute in ["HttpOnly", "SameSite=Strict", "Path=/_grov/ui"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    let again = exchange(port, &Request::new("GET", path))?;
    assert_eq!((again.status, again.header("set-cookie")), (401, None));
    for wrong in ["/_grov/ui/enter", "/_grov/ui/enter?link=1.2.3"] {
        assert_eq!(
            exchange(port, &Request::new("GET", wrong))?.status,
            401,
            "{wrong}"
        );
    }
    assert_eq!(scene.get("")?.status, 200);
    Ok(())
}

#[test]
fn without_a_session_nothing_is_shown_and_signing_out_ends_all() -> Result<()> {
    let scene = Scene::new()?;
    scene.play(1, "[[scenario:tools]] a private goal")?;
    let port = scene.daemon.port();
    let paths = [
        "",
        "/",
        "/events",
        "/settings",
        "/doctor",
        "/cost",
        "/memory",
        "/drift",
        "/sessions/x",
    ];
    for path in paths {
        let answer = exchange(port, &Request::new("GET", &format!("/_grov/ui{path}")))?;
        assert_eq!(answer.status, 401, "{path}");
        assert!(!answer.text().contains("private goal"), "{path}");
    }
    let refused = scene.post("/sign-out", "token=wrong")?;
    assert_eq!(refused.status, 403);
    assert_eq!(scene.get("")?.status, 200);
    let token = scene.token()?;
    assert_eq!(scene.post("/sign-out", &format!("token={token}"))?.status, 200);
    assert_eq!(scene.get("")?.status, 401);
    Ok(())
}

#[test]
fn other_pages_can_neither_read_nor_act() -> Result<()> {
    let scene = Scene::new()?;
    let token = scene.token()?;
    let port = scene.daemon.port();
    let form = |headers: &[(&str, &str)]| {
        let request = scene
            .request("POST", "/sign-out")
            .header("Content-Type", "application/x-www-form-urlencoded");
        let request = headers
            .iter()
            .fold(request, |request, (name, value)| request.header(name, value));
        exchange(port, &request.body(format!("token={token}")))
    };
    // Even with the cookie and the token.
    let refused: &[&[(&str, &str)]] = &[
        &[("Origin", "https://evil.example")],
        &[("Origin", "http://127.0.0.1:1")],
        &[("Origin", "null")],
        &[("Sec-Fetch-Site", "same-site")],
        &[
            ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Mode", "navigate"),
            ("Sec-Fetch-Dest", "document"),
        ],
        &[("Host", "evil.example")],
    ];
    for headers in refused {
        assert_eq!(form(headers)?.status, 403, "{headers:?}");
    }
    let embedded = scene.request("GET", "").header("Sec-Fetch-Site", "same-site");
    assert_eq!(exchange(port, &embedded)?.status, 403);
    let page = scene.get("")?;
    let policy = page.header("content-security-policy").context("no policy")?;
    assert!(
        policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"),
        "{policy}"
    );
    assert_eq!(page.header("access-control-allow-origin"), None);
    assert_eq!(page.header("cache-control"), Some("no-store"));
    Ok(())
}

#[test]
fn hostile_text_is_shown_as_text() -> Result<()> {
    let scene = Scene::new()?;
    let hostile =
        "[[scenario:tools]] Fix <script>alert(1)</script> \" onload=\"x \u{202e}txt.exe\u{1b}[2J & ' {{7*7}}";
    let session = scene.play(1, hostile)?;
    for path in [String::new(), format!("/sessions/{session}")] {
        let page = scene.get(&path)?.text();
        assert!(page.contains("&#60;script&#62;alert(1)"), "{page}");
        assert!(
            !page.contains("<script>alert") && !page.contains("onload=\"x"),
            "{page}"
        );
        assert!(!page.contains('\u{202e}') && !page.contains('\u{1b}'), "{page}");
        assert!(page.contains("{{7*7}}"), "{page}");
    }
    Ok(())
}

#[test]
fn hostile_addresses_are_missing_pages() -> Result<()> {
    let scene = Scene::new()?;
    scene.play(1, "[[scenario:tools]] work")?;
    let paths = [
        "/sessions/..%2f..%2f..%2fetc%2fpasswd",
        "/sessions/%00",
        "/sessions/%3Cscript%3E",
        "/sessions/'%20OR%201=1--",
        "/assets/..%2f..%2fCargo.toml",
        "/nowhere",
        "/sessions/%ff",
    ];
    for path in paths {
        let answer = scene.get(path)?;
        assert!(matches!(answer.status, 400 | 404), "{path}: {}", answer.status);
        assert!(
            !answer.text().contains("<script>") || answer.text().contains("assets"),
            "{path}"
        );
    }
    let session = turn::session(1);
    for query in ["before=9223372036854775807", "before=-1", "before=x"] {
        let answer = scene.get(&format!("/sessions/{session}?{query}"))?;
        assert!(matches!(answer.status, 200 | 400), "{query}: {}", answer.status);
    }
    Ok(())
}

#[test]
fn an_open_page_hears_of_an_action_and_does_not_delay_the_end() -> Result<()> {
    let scene = Scene::new()?;
    let stream = open(scene.daemon.port())?;
    let mut reader = BufReader::new(stream.try_clone()?);
    (&stream).write_all(&scene.request("GET", "/events").bytes(scene.daemon.port()))?;
    let mut next = |wanted: &str| -> Result<String> {
        loop {
            let mut line = String::new();
            ensure!(reader.read_line(&mut line)? > 0, "the stream ended");
            if line.contains(wanted) {
                return Ok(line);
            }
        }
    };
    next("retry")?;
    // The first look remembers what is there.
    std::thread::sleep(std::time::Duration::from_millis(600));
    let session = scene.play(1, "[[scenario:tools]] work")?;
    let event = next("data: ")?;
    assert!(event.contains(&session), "{event}");
    let start = Instant::now();
    scene.daemon.stop()?;
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    Ok(())
}

#[test]
fn signing_out_ends_the_events_of_an_open_page() -> Result<()> {
    let scene = Scene::new()?;
    let stream = open(scene.daemon.port())?;
    let mut reader = BufReader::new(stream.try_clone()?);
    (&stream).write_all(&scene.request("GET", "/events").bytes(scene.daemon.port()))?;
    let mut line = String::new();
    while !line.contains("retry") {
        line.clear();
        ensure!(reader.read_line(&mut line)? > 0, "the stream ended");
    }
    let token = scene.token()?;
    assert_eq!(scene.post("/sign-out", &format!("token={token}"))?.status, 200);
    let session = scene.play(1, "[[scenario:tools]] work")?;
    let mut rest = String::new();
    while !rest.ends_with("0\r\n\r\n") {
        ensure!(reader.read_line(&mut rest)? > 0, "the connection was cut: {rest}");
    }
    assert!(!rest.contains(&session), "{rest}");
    Ok(())
}

#[test]
fn a_locked_database_is_shown_and_an_empty_one_explained() -> Result<()> {
    let scene = Scene::new()?;
    assert!(scene.get("")?.text().contains("Nothing is recorded yet"));
    let session = scene.play(1, "[[scenario:tools]] work")?;
    let hold = Hold::on(&scene.database())?;
    let answer = scene.get("")?;
    assert!(
        answer.status == 200 && answer.text().contains(&session),
        "readers wait for no writer"
    );
    hold.release()
}

#[test]
fn a_newer_database_is_a_clear_page() -> Result<()> {
    let scene = Scene::new()?;
    scene.play(1, "[[scenario:tools]] work")?;
    let hold = Hold::on(&scene.database())?;
    hold.run("PRAGMA user_version = 999")?.release()?;
    let answer = scene.get("")?;
    assert_eq!(answer.status, 503, "{}", answer.text());
    assert!(
        answer.text().contains("newer than this daemon"),
        "{}",
        answer.text()
    );
    Ok(())
}

#[test]
fn pages_show_the_answers_of_the_command_line() -> Result<()> {
    let scene = Scene::new()?;
    scene.play(1, "[[scenario:tools]] work")?;
    let expected = [
        ("/doctor", "judge"),
        ("/settings", "proxy.port"),
        ("/routes", "Anthropic"),
        ("/cost?by=model&since=all", "claude-opus-4-8"),
    ];
    for (path, text) in expected {
        let answer = scene.get(path)?;
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.text().contains(text), "{path}: {}", answer.text());
        assert!(!answer.text().contains("told bad"), "{path}: {}", answer.text());
    }
    Ok(())
}

#[test]
fn top_shows_sessions_on_a_terminal_and_leaves_it_as_it_was() -> Result<()> {
    let scene = Scene::new()?;
    let session = scene.play(1, "[[scenario:tools]] Fix the login")?;
    let snapshot = scene.grov.run_json(&["top"])?;
    assert_eq!(snapshot.json["sessions"][0]["id"], session.as_str());
    let refused = scene.grov.run(&["top"])?;
    assert_eq!(refused.code(), Some(64), "{}", refused.stderr);

    let grov = grov_tests::binary("grov")?;
    let line = format!(
        "stty rows 30 cols 120; {} top --home {}",
        grov.display(),
        scene.daemon.home().display()
    );
    let mut top = std::process::Command::new("script")
        .args(["-qefc", &line, "/dev/null"])
        .env("TERM", "xterm")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .context("cannot start script of util-linux")?;
    let mut screen = top.stdout.take().context("no output")?;
    let mut keys = top.stdin.take().context("no input")?;
    let mut shown = Vec::new();
    let mut piece = [0; 4096];
    while !String::from_utf8_lossy(&shown).contains("login") {
        let length = std::io::Read::read(&mut screen, &mut piece)?;
        ensure!(length > 0, "it ended: {}", String::from_utf8_lossy(&shown));
        shown.extend_from_slice(&piece[..length]);
    }
    keys.write_all(b"q")?;
    std::io::Read::read_to_end(&mut screen, &mut shown)?;
    assert!(top.wait()?.success());
    let shown = String::from_utf8_lossy(&shown).into_owned();
    // The alternate screen was entered and left, and the cursor is back.
    for sequence in ["\u{1b}[?1049h", "\u{1b}[?1049l", "\u{1b}[?25h"] {
        assert!(shown.contains(sequence), "{sequence:?} in {shown:?}");
    }
    Ok(())
}

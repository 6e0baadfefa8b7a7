//! `grov run`: the command's environment, signals and exit code, and what is left when it has ended.

mod nested;
mod real_client;
mod refused;

use crate::upstream::{NOWHERE, Upstream};
use anyhow::{Context, Result, ensure};
use grov_tests::{Grov, Request, eventually, exchange, signal};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};

/// A started `grov run`. Killed when dropped.
struct Launched {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Launched {
    /// Runs a shell script by `grov run` with these options.
    fn script(grov: &Grov, options: &[&str], script: &str) -> Result<Self> {
        let words = [&["run", "--base-url"], options, &["--", "sh", "-c", script]].concat();
        Self::with(grov, &words)
    }

    fn with(grov: &Grov, words: &[&str]) -> Result<Self> {
        let mut command = grov.command(words)?;
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let output = BufReader::new(child.stdout.take().context("no output")?);
        Ok(Self { child, output })
    }

    /// The next line of its output.
    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        ensure!(self.output.read_line(&mut line)? > 0, "no output");
        Ok(line.trim_end().to_owned())
    }

    fn signal(&self, name: &str) -> Result<()> {
        signal(self.child.id(), name)
    }

    fn code(mut self) -> Result<Option<i32>> {
        let status = eventually("the end of grov run", || self.child.try_wait().ok().flatten())?;
        Ok(status.code())
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn port_of(url: &str) -> Result<u16> {
    let port = url.rsplit(':').next().context("no port")?;
    port.parse().with_context(|| format!("{url} has no port"))
}

fn is_closed(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_err()
}

/// Writes the URL and, in the next line, the process id of the shell.
const URL: &str = "echo $ANTHROPIC_BASE_URL; ";

#[test]
fn the_command_gets_the_variables_and_its_exit_code_is_returned() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let upstream = Upstream::start()?;
    let grov = Grov::on(&home)
        .env("HTTPS_PROXY", "http://proxy.example:3128")
        .env("NO_PROXY", "corp.example");
    let script = "echo $ANTHROPIC_BASE_URL $ENABLE_TOOL_SEARCH $NO_PROXY; exit 7";
    let words = [
        "run",
        "--base-url",
        "--upstream",
        &upstream.url(),
        "--",
        "sh",
        "-c",
        script,
    ];
    let ended = grov.run(&words)?;
    assert_eq!((ended.code(), ended.stderr.as_str()), (Some(7), ""));
    let words: Vec<&str> = ended.stdout.split_whitespace().collect();
    assert_eq!(&words[1..], ["true", "corp.example,127.0.0.1,localhost"]);
    assert!(is_closed(port_of(words[0])?), "its proxy has ended");
    assert_eq!(
        std::fs::read_dir(home.join("run"))?.count(),
        0,
        "no record is left"
    );
    assert!(
        !home.join("daemon.json").exists(),
        "the home's own daemon is not concerned"
    );
    Ok(())
}

#[test]
fn by_default_the_command_gets_a_connect_proxy() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let own = folder.path().join("own.pem");
    std::fs::write(&own, "# mine\n")?;
    let grov = Grov::on(&home)
        .env("HTTPS_PROXY", "http://proxy.example:3128")
        .env("NODE_EXTRA_CA_CERTS", own.to_str().context("not UTF-8")?);
    let script =
        "echo $HTTPS_PROXY $https_proxy $NO_PROXY ${ANTHROPIC_BASE_URL-none}; cat $NODE_EXTRA_CA_CERTS";
    let ended = grov.run(&["run", "--upstream", NOWHERE, "--", "sh", "-c", script])?;
    assert_eq!((ended.code(), ended.stderr.as_str()), (Some(0), ""));
    let (line, certificates) = ended.stdout.split_once('\n').context("no lines")?;
    let words: Vec<&str> = line.split(' ').collect();
    let [proxy, same, exceptions, base_url] = words[..] else {
        anyhow::bail!("{line}");
    };
    assert_eq!(
        (proxy, exceptions, base_url),
        (same, "127.0.0.1,localhost", "none")
    );
    assert!(is_closed(port_of(proxy)?), "its proxy has ended");
    assert!(
        certificates.contains("BEGIN CERTIFICATE") && certificates.ends_with("# mine\n"),
        "{certificates}"
    );
    Ok(())
}

#[test]
fn signals_reach_the_command_and_decide_the_exit_code() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let grov = Grov::on(&folder.path().join("grov"));
    let options = ["--upstream", NOWHERE];
    for (name, number) in [("TERM", 15), ("INT", 2), ("HUP", 1), ("QUIT", 3)] {
        let mut handled = Launched::script(
            &grov,
            &options,
            &format!("trap 'exit 42' {name}; echo ready; while :; do sleep 0.05; done"),
        )?;
        handled.line()?;
        handled.signal(name)?;
        assert_eq!(handled.code()?, Some(42), "SIG{name} is handled by the command");
        let mut killed = Launched::script(&grov, &options, "echo ready; exec sleep 30")?;
        killed.line()?;
        killed.signal(name)?;
        assert_eq!(killed.code()?, Some(128 + number), "SIG{name} ends the command");
    }
    Ok(())
}

#[test]
fn a_killed_launcher_leaves_the_proxy_to_its_command() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let stop = folder.path().join("stop");
    let upstream = Upstream::start()?;
    let grov = Grov::on(&home).env("STOP", stop.to_str().context("not UTF-8")?);
    let mut launched = Launched::script(
        &grov,
        &["--upstream", &upstream.url()],
        &format!("{URL} until test -e \"$STOP\"; do sleep 0.05; done"),
    )?;
    let port = port_of(&launched.line()?)?;
    // The launcher tells the proxy which command it serves after the command has started.
    std::thread::sleep(std::time::Duration::from_millis(500));
    launched.signal("KILL")?;
    launched.child.wait()?;
    // Longer than the interval in which the proxy looks for its command.
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert_eq!(exchange(port, &Request::new("GET", "/_grov/health"))?.status, 200);
    std::fs::write(&stop, "")?;
    eventually("the proxy to end", || is_closed(port).then_some(()))?;
    eventually("its record to be removed", || {
        let mut left = std::fs::read_dir(home.join("run")).ok()?.flatten();
        // What the killed launcher noted of its environment is deleted by a later run.
        left.all(|entry| entry.path().extension().is_some_and(|kind| kind == "environment"))
            .then_some(())
    })?;
    Ok(())
}

#[test]
fn two_runs_at_once_have_their_own_proxies() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let grov = Grov::on(&folder.path().join("grov"));
    let script = format!("{URL} exec sleep 30");
    let options = ["--upstream", NOWHERE];
    let mut runs = [
        Launched::script(&grov, &options, &script)?,
        Launched::script(&grov, &options, &script)?,
    ];
    let ports = [port_of(&runs[0].line()?)?, port_of(&runs[1].line()?)?];
    assert_ne!(ports[0], ports[1]);
    let status = grov.run_json(&["proxy", "status"])?;
    assert_eq!(status.code, Some(1), "no proxy of the home is running");
    assert_eq!(
        status.json["runs"].as_array().map(Vec::len),
        Some(2),
        "{}",
        status.json
    );
    let [first, second] = runs;
    first.signal("TERM")?;
    first.code()?;
    assert!(is_closed(ports[0]) && !is_closed(ports[1]));
    second.signal("TERM")?;
    assert_eq!(second.code()?, Some(143));
    Ok(())
}

/// Stops the proxy of a home, also if the test fails.
struct Stopped<'a>(&'a Grov);

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        let _ = self.0.run(&["proxy", "stop"]);
    }
}

#[test]
fn runs_without_options_share_the_proxy_of_the_home() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let grov = Grov::on(&home).env("GROV_PROXY_PORT", "0");
    let _stopped = Stopped(&grov);
    let url = |_| -> Result<String> {
        let ended = grov.run(&["run", "--base-url", "--", "sh", "-c", URL])?;
        ensure!(ended.code() == Some(0), "{ended:?}");
        Ok(ended.stdout)
    };
    // Both may have to start it.
    let urls = std::thread::scope(|scope| {
        let runs = [0, 1].map(|run| scope.spawn(move || url(run)));
        runs.map(|run| run.join().unwrap())
    });
    let [first, second] = urls;
    let first = first?;
    assert_eq!(first, second?);
    let status = grov.run_json(&["proxy", "status"])?;
    assert_eq!(
        (status.code, status.json["proxy"]["url"].as_str()),
        (Some(0), Some(first.trim()))
    );
    // A run inside a run uses the same.
    let nested = Grov::on(&home).env("ANTHROPIC_BASE_URL", first.trim());
    let ended = nested.run(&["run", "--base-url", "--", "sh", "-c", URL])?;
    assert_eq!(ended.stdout, first, "{ended:?}");
    let stopped = grov.run_json(&["proxy", "stop"])?;
    assert_eq!((stopped.code, &stopped.json["stopped"]), (Some(0), &true.into()));
    assert!(is_closed(port_of(first.trim())?));
    Ok(())
}

#[test]
fn a_gateway_of_the_environment_becomes_the_upstream() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let upstream = Upstream::start()?;
    let grov = Grov::on(&folder.path().join("grov")).env("ANTHROPIC_BASE_URL", &upstream.url());
    let mut run = Launched::script(&grov, &[], &format!("{URL} exec sleep 30"))?;
    let url = run.line()?;
    assert_ne!(url, upstream.url());
    let answer = exchange(
        port_of(&url)?,
        &crate::turn::prompt(&crate::turn::session(1), "[[scenario:tools]]"),
    )?;
    assert_eq!(answer.status, 200);
    assert_eq!(upstream.turns(), 1);
    Ok(())
}

#[test]
fn without_a_command_the_variables_are_printed() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let grov = Grov::on(&folder.path().join("grov"));
    let words = ["run", "--base-url", "--proxy-only", "--upstream", NOWHERE];
    let mut run = Launched::with(&grov, &words)?;
    let line = run.line()?;
    let url = line
        .strip_prefix("export ANTHROPIC_BASE_URL=")
        .with_context(|| line.clone())?;
    let port = port_of(url.trim_matches('\''))?;
    assert_eq!(exchange(port, &Request::new("GET", "/_grov/health"))?.status, 200);
    run.signal("INT")?;
    assert_eq!(run.code()?, Some(0));
    assert!(is_closed(port));
    Ok(())
}

fn folder_of_nobody(folder: &Path) -> std::path::PathBuf {
    folder.join("file/grov")
}

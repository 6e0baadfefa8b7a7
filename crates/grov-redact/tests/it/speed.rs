//! Hostile texts take linear time. A measurement with ordinary sources.

use grov_redact::Redactor;
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// Texts that make a rule start again and again.
fn hostile(length: usize) -> Vec<(String, String)> {
    [
        "sk-",
        "sk-ant-",
        "eyJ-",
        "eyJaaaaaaaaaaaaaaaa.",
        "ghp_",
        "password=",
        "password=\"",
        "password:",
        "=",
        ":",
        ".",
        "a.aaaaaa.",
        "://",
        "a://b:",
        "a://b:c@",
        "<private",
        "<private>",
        "</private>",
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----END RSA PRIVATE KEY-----",
        "-----BEGIN ",
        "Private-Lines: ",
        "A",
        "\\",
        "\"",
        "authorization:",
        "authorization=",
        "cookie:a=",
        "cookie:a=b;",
        "bearer ",
        "bearer a",
        "curl ",
        "curl -u ",
        "mysql -p",
        "--password ",
        "-password",
        "identified by '",
        "password is ",
        "<password>",
        "value=",
        "name value=",
        "login a password ",
        "8Q~",
        ":AA",
        "-us",
        "[redacted:",
        "1//0",
        "token=token:",
        "x=aB3dE6gH9jK2mN5pQ8sTuV",
        "key aB3dE6gH9jK2mN5pQ8sTuV ",
        "aB3dE6gH9jK2mN5p/",
        "aB3dE6gH9jK2mN5p-",
        "0x0123abcd",
        "abandon ability ",
        "mnemonic ",
        "mnemonic abandon ",
        "recovery code ",
        "recovery code 0a1b2-c3d4e ",
        "serial 0A1B-C3D4 ",
        "totp ABCD ",
        "pin is ",
        "| pw ",
        "| pw |\n",
        ",password\n",
        "pragma key",
        "pragma key '",
        "wallet(",
        "wallet('a',",
        "requirepass ",
        "add_user a ",
        "getenv(",
        "getenv('key','",
        "</key><string>",
        "|| '",
        "a:b@c.d ",
        "sqlplus a/b ",
        "<<< ",
        "creds: ",
        "pass ",
        "haslo_a_",
        "$6$a",
        "XXXXX-",
        "11,22,33,44,",
        "AKIAQ3EGRI7KQ3EGRI7K ",
        "ZGVwbG95Ok1vb3JodWhuLXF1ZXJ0LTQ=",
        "ZGVwbG95ZGVwbG95ZGVwbG95",
        "otp 482913 ",
        "pin is ",
        "password:\n",
        "password is\nMoos-gabel7\n",
        "password ?\"=\"",
        "insert into a (password) values ('a1!bc'),",
        "insert into a (password) values ",
        "chpasswd\na:Moos-gabel7\n",
        "\nuser a b1!Ccc",
        "expect password sendline(\"",
        " -u a -p Moos-gabel7",
        "log in as a / ",
        "password «",
        "password=Moos-gabel7 ",
    ]
    .iter()
    .map(|piece| ((*piece).to_owned(), piece.repeat(length / piece.len())))
    .collect()
}

/// Returns the CPU time of this thread.
fn worked() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap())
}

/// A text of 10 times the length takes about 10 times as long. A quadratic rule would take 100 times as long. Compares the fastest
/// of several runs, and one successful attempt is enough.
#[test]
fn hostile_texts_take_linear_time() {
    const MAX_GROWTH: u32 = 40;
    const ATTEMPTS: usize = 6;
    // Shorter times measure the clock.
    const FLOOR: Duration = Duration::from_micros(500);
    let redactor = Redactor::new();
    let best = |text: &str| {
        let time = || {
            let start = worked();
            std::hint::black_box(redactor.findings(text));
            worked() - start
        };
        (0..3).map(|_| time()).min().unwrap()
    };
    for ((piece, short), (_, long)) in hostile(5_000).into_iter().zip(hostile(50_000)) {
        let grows_in_step = (0..ATTEMPTS).any(|_| best(&long) <= best(&short).max(FLOOR) * MAX_GROWTH);
        assert!(grows_in_step, "{piece:?} takes more than linear time");
    }
}

/// Measures speed and findings on the sources under `GROV_SOURCES`, and lists the findings:
/// `GROV_SOURCES=~/.cargo/registry/src cargo test --release -p grov-redact -- --ignored --nocapture sources`.
#[test]
#[ignore = "a measurement that needs a folder of sources in GROV_SOURCES"]
fn findings_in_ordinary_sources_are_rare() {
    let root = std::env::var("GROV_SOURCES").expect("GROV_SOURCES names a folder of sources");
    let redactor = Redactor::new();
    let (mut bytes, mut findings, mut time) = (0, 0, Duration::ZERO);
    let mut folders = vec![std::path::PathBuf::from(root)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && let Ok(text) = std::fs::read_to_string(&path)
            {
                let start = Instant::now();
                let found = redactor.findings(&text);
                time += start.elapsed();
                bytes += text.len();
                findings += found.len();
                for finding in found {
                    let line = text[..finding.range.start].matches('\n').count() + 1;
                    println!("{}:{line}: {}", path.display(), finding.rule);
                }
            }
        }
    }
    let megabytes = bytes as f64 / 1e6;
    let (rate, speed) = (findings as f64 / megabytes, megabytes / time.as_secs_f64());
    println!("{megabytes:.0} MB, {findings} findings, {rate:.2} a MB, {speed:.0} MB/s");
    assert!(rate < 1.0, "{rate} findings a MB");
}

//! Reads PDFs in a process of its own, so that a file made to use up time or memory costs a bounded amount of both: neither a
//! thread nor an allocation can be taken back.

use crate::stop::Stop;
use grov_agent::{IngestFailed, MAX_DOCUMENT_BYTES, pdf_text};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The hidden command that reads a PDF on standard input.
pub(crate) const COMMAND: &str = "read-pdf";
/// How long a file may take.
const TIME: Duration = Duration::from_secs(30);
/// Address space of the process in bytes; 512 MiB of it are the stack of the thread that reads, nearly all untouched.
const MEMORY: u64 = 1536 * 1024 * 1024;
/// Files that are read at the same time; others wait.
const AT_ONCE: usize = 2;
/// Exit codes of the process besides 0: the message is on standard output.
const INVALID: u8 = 3;
const TOO_LARGE: u8 = 4;

static READING: Mutex<usize> = Mutex::new(0);
static DONE: Condvar = Condvar::new();

/// The text of a PDF. Blocks for up to half a minute, and longer while others are read.
pub(crate) fn read(bytes: &[u8]) -> Result<String, IngestFailed> {
    let _turn = Turn::wait();
    read_in_process(bytes).unwrap_or_else(|error| {
        tracing::error!(%error, "the process that reads PDFs cannot be used");
        Err(IngestFailed::Invalid(
            "the PDF cannot be read at present; try again, or upload its text".to_owned(),
        ))
    })
}

fn read_in_process(bytes: &[u8]) -> io::Result<Result<String, IngestFailed>> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg(COMMAND)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let (status, answer) = thread::scope(|scope| {
        scope.spawn(move || {
            // A process that has seen enough reads no further.
            let _ = input.map(|mut input| input.write_all(bytes));
        });
        let answer = scope.spawn(move || {
            let mut answer = Vec::new();
            let most = MAX_DOCUMENT_BYTES as u64 + 1;
            // What came until the process ended is what counts.
            let _ = output.map(|output| output.take(most).read_to_end(&mut answer));
            answer
        });
        let status = ended(&mut child);
        (status, answer.join().unwrap_or_default())
    });
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let code = status?.and_then(|status| status.code());
    Ok(match code.map(u8::try_from) {
        Some(Ok(0)) => Ok(answer),
        Some(Ok(INVALID)) => Err(IngestFailed::Invalid(answer)),
        Some(Ok(TOO_LARGE)) => Err(IngestFailed::TooLarge(answer)),
        _ => Err(IngestFailed::TooLarge(format!(
            "the PDF needs more than {} s or {} MiB of memory to be read; divide it, or upload its text",
            TIME.as_secs(),
            MEMORY / 1024 / 1024
        ))),
    })
}

/// Waits for a process, and kills it when its time is over. `None` if it was killed.
fn ended(child: &mut Child) -> io::Result<Option<std::process::ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > TIME {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// The command: reads a PDF and writes its text, or why there is none.
pub(crate) fn run() -> Result<ExitCode, Stop> {
    let memory = Rlimit {
        current: Some(MEMORY),
        maximum: Some(MEMORY),
    };
    setrlimit(Resource::As, memory).map_err(Stop::fault)?;
    let mut bytes = Vec::new();
    let most = MAX_DOCUMENT_BYTES as u64;
    io::stdin()
        .take(most)
        .read_to_end(&mut bytes)
        .map_err(Stop::fault)?;
    let (text, code) = match pdf_text(&bytes) {
        Ok(text) => (text, 0),
        Err(IngestFailed::TooLarge(why)) => (why, TOO_LARGE),
        Err(other) => (other.to_string(), INVALID),
    };
    let written = io::stdout().write_all(text.as_bytes());
    written.map_err(Stop::fault)?;
    Ok(ExitCode::from(code))
}

/// One of the places of those that read at the same time.
struct Turn;

impl Turn {
    fn wait() -> Self {
        let reading = READING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut reading = DONE
            .wait_while(reading, |reading| *reading >= AT_ONCE)
            .unwrap_or_else(PoisonError::into_inner);
        *reading += 1;
        Self
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *READING.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        DONE.notify_one();
    }
}

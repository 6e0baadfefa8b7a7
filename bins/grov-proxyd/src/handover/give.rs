//! The predecessor's part: starts its successor and passes on the sockets and the lock.

use super::{MITM, PREDECESSOR, PROXY, Report, StartFailure};
use crate::home_monitor::HomeMonitor;
use command_fds::{CommandFdExt, FdMapping};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::io::{self, BufRead, BufReader, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// A daemon usually starts within milliseconds; on a busy machine it takes longer.
const START_TIMEOUT: Duration = Duration::from_secs(15);

/// The first file descriptor that a process inherits besides its standard streams.
const FIRST: i32 = 3;

/// Replaces this daemon by another process.
pub(crate) struct HandOver {
    /// None once this daemon stops, so that the ports close then.
    listeners: Mutex<Vec<Listener>>,
    home: Arc<HomeMonitor>,
    done: Notify,
}

/// A copy of a listening socket, and its name.
pub(crate) struct Listener {
    name: &'static str,
    socket: OwnedFd,
}

impl Listener {
    pub(crate) fn proxy(socket: &impl AsFd) -> io::Result<Self> {
        Self::copy(PROXY, socket)
    }

    pub(crate) fn mitm(socket: &impl AsFd) -> io::Result<Self> {
        Self::copy(MITM, socket)
    }

    fn copy(name: &'static str, socket: &impl AsFd) -> io::Result<Self> {
        let socket = socket.as_fd().try_clone_to_owned()?;
        Ok(Self { name, socket })
    }
}

/// The process that replaced this daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Successor {
    pub(crate) pid: u32,
}

impl HandOver {
    /// Replaces a daemon that listens on these sockets.
    pub(crate) fn new(listeners: Vec<Listener>, home: Arc<HomeMonitor>) -> Self {
        Self {
            listeners: Mutex::new(listeners),
            home,
            done: Notify::new(),
        }
    }

    /// Resolves when another process has replaced this daemon.
    pub(crate) async fn done(&self) {
        self.done.notified().await;
    }

    /// Closes the copies of the sockets. Nothing can be handed over from then on.
    pub(crate) fn close(&self) {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    /// Starts `program` with the arguments and the environment of this process, and hands over to it. Blocks until it accepts
    /// connections. If it does not start, this daemon goes on.
    pub(crate) fn to(&self, program: &Path) -> Result<Successor, StartFailure> {
        // Held until the end, so that there is one successor.
        let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        let failed =
            |error: io::Error| StartFailure::new(format!("cannot start {}: {error}", program.display()));
        if listeners.is_empty() {
            return Err(StartFailure::new("grov-proxyd is already stopping"));
        }
        let (own, others) = UnixStream::pair().map_err(failed)?;
        let mut child = start(program, &listeners, others).map_err(failed)?;
        match confirmed(&own, &self.home) {
            Ok(()) => {
                self.done.notify_one();
                Ok(Successor { pid: child.id() })
            }
            Err(failure) => {
                end(&mut child);
                Err(failure)
            }
        }
    }
}

fn start(program: &Path, listeners: &[Listener], pair: UnixStream) -> io::Result<Child> {
    let mut names = Vec::new();
    let mut files: Vec<OwnedFd> = Vec::new();
    for listener in listeners {
        names.push(listener.name);
        files.push(listener.socket.try_clone()?);
    }
    names.push(PREDECESSOR);
    files.push(pair.into());
    let count = files.len();
    let mappings = (FIRST..).zip(files);
    let mappings = mappings.map(|(child_fd, parent_fd)| FdMapping { parent_fd, child_fd });
    let mut command = Command::new(program);
    command
        .args(std::env::args_os().skip(1))
        .env("LISTEN_FDS", count.to_string())
        .env("LISTEN_FDNAMES", names.join(":"))
        // They name the process that systemd started.
        .env_remove("LISTEN_PID")
        .env_remove("WATCHDOG_PID")
        .stdin(Stdio::null())
        // The terminal's keys stop this process, not the next one.
        .process_group(0)
        .fd_mappings(mappings.collect())
        .map_err(io::Error::other)?;
    command.spawn()
}

/// Waits until the successor is ready, and gives it the lock.
fn confirmed(successor: &UnixStream, home: &HomeMonitor) -> Result<(), StartFailure> {
    let broken = |error: io::Error| StartFailure::new(format!("the new grov-proxyd did not start: {error}"));
    successor.set_read_timeout(Some(START_TIMEOUT)).map_err(broken)?;
    let mut line = String::new();
    BufReader::new(successor).read_line(&mut line).map_err(broken)?;
    match serde_json::from_str(&line) {
        Ok(Report::Ready) => home.hand_over(|lock| send(successor, lock)).map_err(broken),
        Ok(Report::Failed(failure)) => Err(failure),
        Err(_) => Err(StartFailure::new(
            "the new grov-proxyd ended without an error message; see its log",
        )),
    }
}

/// Sends one byte, with the locked file if there is one.
fn send(successor: &UnixStream, lock: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let files: Vec<BorrowedFd<'_>> = lock.into_iter().collect();
    if !files.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&files));
    }
    sendmsg(
        successor.as_fd(),
        &[IoSlice::new(b"\n")],
        &mut control,
        SendFlags::empty(),
    )?;
    Ok(())
}

fn end(child: &mut Child) {
    // It may have ended.
    let _ = child.kill();
    let _ = child.wait();
}

//! The successor's part: takes the sockets and the lock that it was started with.

use super::{MITM, PREDECESSOR, PROXY, Report, StartFailure};
use listenfd::ListenFd;
use rustix::net::{AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketType, recvmsg};
use std::fs::File;
use std::io::{self, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// How long the predecessor may take to send the lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// What this process was started with: nothing, the sockets of a socket unit, or those of a daemon that is being replaced.
#[derive(Default)]
pub(crate) struct Inherited {
    pub(crate) proxy: Option<TcpListener>,
    pub(crate) mitm: Option<TcpListener>,
    pub(crate) predecessor: Option<Predecessor>,
}

/// The daemon that this process replaces.
pub(crate) struct Predecessor(UnixStream);

impl Inherited {
    /// Takes the sockets from the environment. Call it once, before the process has threads.
    pub(crate) fn from_environment() -> io::Result<Self> {
        let names = std::env::var("LISTEN_FDNAMES").unwrap_or_default();
        let mut sockets = ListenFd::from_env();
        let mut inherited = Self::default();
        for place in 0..sockets.len() {
            match names.split(':').nth(place) {
                Some(PREDECESSOR) => {
                    let family = i32::from(AddressFamily::UNIX.as_raw());
                    let kind = i32::try_from(SocketType::STREAM.as_raw()).unwrap_or_default();
                    let stream: Option<UnixStream> =
                        sockets.take_custom(place, family, kind, "unix stream")?;
                    inherited.predecessor = stream.map(Predecessor);
                }
                Some(MITM) => inherited.mitm = sockets.take_tcp_listener(place)?,
                // systemd names a socket after its unit unless FileDescriptorName is set.
                Some(name) if name != PROXY && inherited.proxy.is_some() => {
                    tracing::warn!(name, "an inherited socket is not used");
                }
                _ => inherited.proxy = sockets.take_tcp_listener(place)?,
            }
        }
        Ok(inherited)
    }
}

impl Predecessor {
    /// Reports that this process did not start. The predecessor goes on.
    pub(crate) fn report_failure(self, message: String, hint: Option<String>) {
        // If the predecessor has ended, nobody waits for the report.
        let _ = self.report(&Report::Failed(StartFailure { message, hint }));
    }

    /// Reports that this process is ready, and waits for the locked file of the home. `None` if the predecessor has no lock or
    /// has ended.
    ///
    /// # Errors
    /// The predecessor does not answer.
    pub(crate) fn take_lock(self) -> io::Result<Option<File>> {
        self.report(&Report::Ready)?;
        self.0.set_read_timeout(Some(LOCK_TIMEOUT))?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut received = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        recvmsg(
            &self.0,
            &mut [IoSliceMut::new(&mut byte)],
            &mut received,
            RecvFlags::CMSG_CLOEXEC,
        )?;
        let file = received.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut files) => files.next(),
            _ => None,
        });
        Ok(file.map(File::from))
    }

    fn report(&self, report: &Report) -> io::Result<()> {
        let mut line = serde_json::to_vec(report)?;
        line.push(b'\n');
        (&self.0).write_all(&line)
    }
}

//! A reverse proxy for TCP that gives each connection to the next of some servers on this machine.

use anyhow::Result;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The balancer. It runs until the process ends.
pub struct Balancer {
    port: u16,
    servers: Arc<Mutex<Vec<u16>>>,
}

impl Balancer {
    /// Starts a balancer in front of servers, given by their ports.
    ///
    /// # Errors
    /// There is no free port.
    pub fn start(servers: Vec<u16>) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let servers = Arc::new(Mutex::new(servers));
        let (shared, next) = (Arc::clone(&servers), AtomicUsize::new(0));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let now = shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let first = next.fetch_add(1, Ordering::Relaxed);
                thread::spawn(move || relay(&client, &now, first));
            }
        });
        Ok(Self { port, servers })
    }

    /// The port that clients connect to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Replaces a server by another one.
    pub fn replace(&self, old: u16, new: u16) {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        for server in servers.iter_mut().filter(|server| **server == old) {
            *server = new;
        }
    }
}

/// Connects a client to the first server that accepts, and copies both ways until one side ends.
fn relay(client: &TcpStream, servers: &[u16], first: usize) {
    let server = (0..servers.len())
        .filter_map(|place| servers.get((first + place) % servers.len()))
        .find_map(|port| TcpStream::connect(("127.0.0.1", *port)).ok());
    let Some(server) = server else { return };
    thread::scope(|scope| {
        scope.spawn(|| copy(client, &server));
        copy(&server, client);
    });
}

fn copy(mut from: &TcpStream, mut to: &TcpStream) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    // The other direction may have ended already.
    let _ = to.shutdown(Shutdown::Write);
}

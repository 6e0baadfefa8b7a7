//! A transport that reads no further while many requests of the client are in work, so that a client which writes and does not read
//! takes no memory. It answers what is no message under the id that was sent.

use crate::lines::{Line, Lines};
use rmcp::RoleServer;
use rmcp::model::{ClientNotification, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use std::collections::HashSet;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncRead, AsyncWrite, Empty};
use tokio::sync::Notify;

/// Requests in work at the same time. A cancellation behind more of them waits until one is answered.
const MAX_IN_WORK: usize = 64;

/// A transport whose requests are counted.
pub(crate) struct Bounded<R, W: AsyncWrite> {
    lines: Lines<R>,
    /// Only writes: it would answer what is no message without its id.
    writer: AsyncRwTransport<RoleServer, Empty, W>,
    requests: Arc<Requests>,
    /// The response to a request that is not passed on. Kept here, because `receive` may be dropped while it is sent.
    refusal: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

/// The requests that are in work.
#[derive(Default)]
struct Requests {
    ids: Mutex<HashSet<RequestId>>,
    ended: Notify,
}

impl<R, W> Bounded<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Reads messages of at most `max_line` bytes.
    pub(crate) fn new(input: R, output: W, max_line: usize) -> Self {
        Self {
            lines: Lines::new(input, max_line),
            writer: AsyncRwTransport::new_server(tokio::io::empty(), output),
            requests: Arc::default(),
            refusal: None,
        }
    }

    /// Answers with an error before anything else is read.
    fn refuse(&mut self, error: ErrorData, id: Option<RequestId>) {
        let sending = self.writer.send(JsonRpcMessage::error(error, id));
        // A client that reads nothing learns nothing.
        self.refusal = Some(Box::pin(async move { drop(sending.await) }));
    }
}

impl Requests {
    /// Counts a request. Returns whether no other one with its id is in work.
    fn begin(&self, id: &RequestId) -> bool {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        ids.insert(id.clone())
    }

    fn end(&self, id: &RequestId) {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        if ids.remove(id) {
            self.ended.notify_one();
        }
    }

    /// Waits until another request may be read.
    async fn room(&self) {
        while self.ids.lock().unwrap_or_else(PoisonError::into_inner).len() >= MAX_IN_WORK {
            self.ended.notified().await;
        }
    }
}

impl<R, W> Transport<RoleServer> for Bounded<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let id = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        let requests = Arc::clone(&self.requests);
        let sending = self.writer.send(message);
        async move {
            let sent = sending.await;
            if let Some(id) = id {
                requests.end(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(refusal) = &mut self.refusal {
                refusal.await;
                self.refusal = None;
            }
            self.requests.room().await;
            let message = match self.lines.next().await? {
                Line::Message(message) => *message,
                Line::Refused { id, error } => {
                    self.refuse(error, id);
                    continue;
                }
            };
            match &message {
                JsonRpcMessage::Request(request) if !self.requests.begin(&request.id) => {
                    let error = ErrorData::invalid_request("a request with this id is in work", None);
                    self.refuse(error, Some(request.id.clone()));
                }
                JsonRpcMessage::Notification(notification) => {
                    // A cancelled request gets no response.
                    if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                        && let Some(id) = &cancelled.params.request_id
                    {
                        self.requests.end(id);
                    }
                    return Some(message);
                }
                _ => return Some(message),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.writer.close().await
    }
}

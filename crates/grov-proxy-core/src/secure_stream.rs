//! A client socket with TLS. Plain HTTP is recognised by its first byte and passed on, so that it can be answered.

use crate::connection_state::ConnectionState;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;
use tokio_rustls::{Accept, TlsAcceptor};

/// The first byte of a TLS handshake record.
const HANDSHAKE: u8 = 0x16;

/// A client socket whose handshake takes place during the first read. The limits of a connection that waits for its first request
/// thus apply to the handshake.
pub(crate) struct SecureStream {
    stage: Stage,
    config: Arc<rustls::ServerConfig>,
    state: ConnectionState,
}

enum Stage {
    /// No byte was read.
    New(TcpStream),
    Handshake(Box<Accept<TcpStream>>),
    Secure(Box<TlsStream<TcpStream>>),
    /// The client speaks plain HTTP.
    Plain(TcpStream),
    Ended,
}

impl SecureStream {
    pub(crate) fn new(socket: TcpStream, config: Arc<rustls::ServerConfig>, state: ConnectionState) -> Self {
        Self {
            stage: Stage::New(socket),
            config,
            state,
        }
    }

    /// Completes the handshake, or recognises plain HTTP.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            match &mut self.stage {
                Stage::New(socket) => {
                    let mut first = [0];
                    let mut buffer = ReadBuf::new(&mut first);
                    if ready!(socket.poll_peek(cx, &mut buffer))? == 0 {
                        self.stage = Stage::Ended;
                        continue;
                    }
                    let Stage::New(socket) = std::mem::replace(&mut self.stage, Stage::Ended) else {
                        continue;
                    };
                    self.stage = match first {
                        [HANDSHAKE] => {
                            let acceptor = TlsAcceptor::from(Arc::clone(&self.config));
                            Stage::Handshake(Box::new(acceptor.accept(socket)))
                        }
                        // Methods are upper-case words. Anything else gets no answer.
                        [b'A'..=b'Z'] => {
                            self.state.note_plain_on_tls();
                            Stage::Plain(socket)
                        }
                        [_] => return Poll::Ready(Err(io::ErrorKind::InvalidData.into())),
                    };
                }
                Stage::Handshake(accept) => {
                    let accepted = ready!(Pin::new(accept.as_mut()).poll(cx));
                    self.stage = match accepted {
                        Ok(stream) => Stage::Secure(Box::new(stream)),
                        Err(error) => {
                            self.stage = Stage::Ended;
                            return Poll::Ready(Err(error));
                        }
                    };
                }
                Stage::Secure(_) | Stage::Plain(_) | Stage::Ended => return Poll::Ready(Ok(())),
            }
        }
    }
}

impl AsyncRead for SecureStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_ready(cx))?;
        match &mut self.stage {
            Stage::Secure(stream) => Pin::new(stream.as_mut()).poll_read(cx, buf),
            Stage::Plain(socket) => Pin::new(socket).poll_read(cx, buf),
            Stage::New(_) | Stage::Handshake(_) | Stage::Ended => Poll::Ready(Ok(())),
        }
    }
}

impl AsyncWrite for SecureStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_ready(cx))?;
        match &mut self.stage {
            Stage::Secure(stream) => Pin::new(stream.as_mut()).poll_write(cx, buf),
            Stage::Plain(socket) => Pin::new(socket).poll_write(cx, buf),
            Stage::New(_) | Stage::Handshake(_) | Stage::Ended => {
                Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
            }
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_ready(cx))?;
        match &mut self.stage {
            Stage::Secure(stream) => Pin::new(stream.as_mut()).poll_write_vectored(cx, bufs),
            Stage::Plain(socket) => Pin::new(socket).poll_write_vectored(cx, bufs),
            Stage::New(_) | Stage::Handshake(_) | Stage::Ended => {
                Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stage {
            Stage::Secure(stream) => Pin::new(stream.as_mut()).poll_flush(cx),
            Stage::Plain(socket) => Pin::new(socket).poll_flush(cx),
            // Nothing was written.
            Stage::New(_) | Stage::Handshake(_) | Stage::Ended => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stage {
            Stage::Secure(stream) => Pin::new(stream.as_mut()).poll_shutdown(cx),
            Stage::Plain(socket) | Stage::New(socket) => Pin::new(socket).poll_shutdown(cx),
            // Dropping it closes the socket.
            Stage::Handshake(_) | Stage::Ended => Poll::Ready(Ok(())),
        }
    }
}

//! Connections whose client takes what is sent to it, or loses the connection.

use std::future::Future;
use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// Stream whose writes fail where nothing can be written for a while. Reads have limits of their own: of heads and of bodies.
pub(super) struct Steady<S> {
    stream: S,
    idle: Duration,
    /// When a write that waits fails.
    deadline: Pin<Box<Sleep>>,
    waits: bool,
}

impl<S: AsyncWrite + Unpin> Steady<S> {
    pub(super) fn new(stream: S, idle: Duration) -> Self {
        Self { stream, idle, deadline: Box::pin(sleep(idle)), waits: false }
    }

    /// Passes on what a write came to, and fails one that has waited too long.
    fn judge<T>(&mut self, context: &mut Context<'_>, came: Poll<Result<T>>) -> Poll<Result<T>> {
        if came.is_ready() {
            self.waits = false;
            return came;
        }
        if !self.waits {
            self.waits = true;
            self.deadline.as_mut().reset(Instant::now() + self.idle);
        }
        self.deadline.as_mut().poll(context).map(|()| Err(Error::from(ErrorKind::TimedOut)))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Steady<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Steady<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let came = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, came)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let came = Pin::new(&mut self.stream).poll_flush(context);
        self.judge(context, came)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let came = Pin::new(&mut self.stream).poll_shutdown(context);
        self.judge(context, came)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    #[tokio::test]
    async fn a_client_that_takes_nothing_loses_its_connection() {
        let (ours, theirs) = tokio::io::duplex(16);
        let mut ours = Steady::new(ours, Duration::from_millis(20));
        ours.write_all(&[0; 16]).await.unwrap();
        assert_eq!(ours.write_all(&[0; 16]).await.unwrap_err().kind(), ErrorKind::TimedOut);
        drop(theirs);
    }
}

//! Bodies that nobody reads to their end. A connection that is closed with bytes unread is broken for the client, which may lose the answer then.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::EXPECT;
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// Number of bytes of a refused body that are read and forgotten.
const MOST: u64 = 64 << 20;
/// How long they are read.
const LONGEST: Duration = Duration::from_secs(10);

/// Body whose rest is read and forgotten, up to a limit, when it is dropped.
struct Lingering {
    body: Body,
    /// Whether the client waits to be told to send the body: one that nobody asked for does not come.
    is_awaited: bool,
}

/// Makes a request whose body lingers.
pub(super) fn lingering(request: Request) -> Request {
    let is_awaited = request.headers().contains_key(EXPECT);
    request.map(|body| Body::new(Lingering { body, is_awaited }))
}

impl HttpBody for Lingering {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.is_awaited = false;
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Lingering {
    fn drop(&mut self) {
        if self.is_awaited || self.body.is_end_stream() {
            return;
        }
        let rest = std::mem::take(&mut self.body);
        if let Ok(handle) = Handle::try_current() {
            handle.spawn(async move { drop(timeout(LONGEST, forget(rest)).await) });
        }
    }
}

/// Reads a body up to a limit.
async fn forget(mut body: Body) {
    let mut left = MOST;
    while let Some(Ok(frame)) = body.frame().await {
        let len = frame.data_ref().map_or(0, Bytes::len) as u64;
        let Some(rest) = left.checked_sub(len) else { return };
        left = rest;
    }
}

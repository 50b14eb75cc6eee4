//! Results of jobs: whole, or a part of them for a client that goes on after an interruption.

use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header::{
    ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_NONE_MATCH, IF_RANGE, RANGE,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};
use http_body_util::channel::{Channel, Sender};

use super::{Shared, jobs};
use crate::records::JobState;
use crate::refusal::{Refusal, Result};

/// Number of bytes that are read from a result at a time.
const BLOCK: usize = 1 << 18;
/// Number of blocks that wait for a client.
const WAITING: usize = 2;
/// Seconds after which a client may ask again for a result that is not there yet.
const RETRY: u32 = 2;

/// Extent of a result that a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Asked {
    Whole,
    Part(Range<u64>),
    /// A part that the result does not have.
    Outside,
}

/// Sends the result of a job.
pub(super) async fn get(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response<Body>> {
    let job = jobs::find(&shared, &id, &headers).await?;
    let (Some(blob), Some(bytes)) = (job.sha256, job.bytes) else {
        return Err(match job.state {
            JobState::Failed => Refusal::new(409, "the job failed, and has no result")
                .got(job.error.unwrap_or_default())
                .remedy("mend what the message says, and send the job again"),
            _ => Refusal { retry_after: Some(RETRY), ..Refusal::new(409, "the job has no result yet") }
                .remedy("ask again when its state is done"),
        }
        .into());
    };
    let tag = format!("\"{}\"", blob.as_str());
    let mut response = Response::new(Body::empty());
    put(&mut response, ETAG, &tag);
    put(&mut response, ACCEPT_RANGES, "bytes");
    if headers.get(IF_NONE_MATCH).is_some_and(|own| own.as_bytes() == tag.as_bytes()) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return Ok(response);
    }
    let part = match asked(&headers, &tag, bytes) {
        Asked::Outside => {
            put(&mut response, CONTENT_RANGE, &format!("bytes */{bytes}"));
            *response.status_mut() = StatusCode::RANGE_NOT_SATISFIABLE;
            return Ok(response);
        }
        Asked::Whole => 0..bytes,
        Asked::Part(part) => {
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            let last = part.end.saturating_sub(1);
            put(&mut response, CONTENT_RANGE, &format!("bytes {}-{last}/{bytes}", part.start));
            part
        }
    };
    put(&mut response, CONTENT_TYPE, "application/octet-stream");
    put(&mut response, CONTENT_LENGTH, &(part.end - part.start).to_string());
    if method != Method::HEAD {
        let len = part.end - part.start;
        let reader = shared.blocking(move |shared| shared.store.blobs().read(&blob, bytes, part)).await?;
        *response.body_mut() = stream(&shared, reader, len);
    }
    Ok(response)
}

fn put(response: &mut Response<Body>, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

/// Says which part of a result a request asks for. A range that is not understood asks for the whole, as HTTP says.
fn asked(headers: &HeaderMap, tag: &str, bytes: u64) -> Asked {
    if headers.get(IF_RANGE).is_some_and(|own| own.as_bytes() != tag.as_bytes()) {
        return Asked::Whole;
    }
    let range = headers.get(RANGE).and_then(|range| range.to_str().ok()?.strip_prefix("bytes="));
    range.and_then(|range| part(range, bytes)).unwrap_or(Asked::Whole)
}

/// Reads one range of bytes.
fn part(range: &str, bytes: u64) -> Option<Asked> {
    let (first, last) = range.split_once('-')?;
    let digits = |text: &str| text.bytes().all(|sign| sign.is_ascii_digit());
    if !digits(first) || !digits(last) {
        return None;
    }
    let (from, to) = match (first, last) {
        ("", _) => (bytes.saturating_sub(last.parse().ok()?), bytes),
        (_, "") => (first.parse().ok()?, bytes),
        _ => (first.parse().ok()?, last.parse::<u64>().ok()?.checked_add(1)?.min(bytes)),
    };
    if !first.is_empty() && !last.is_empty() && last.parse::<u64>().ok()? < from {
        return None;
    }
    Some(if from < to { Asked::Part(from..to) } else { Asked::Outside })
}

/// Makes the body of so many bytes, of which a few blocks at a time are in memory.
fn stream(shared: &Arc<Shared>, reader: Box<dyn Read + Send>, len: u64) -> Body {
    let (sender, body) = Channel::<Bytes, std::io::Error>::new(WAITING);
    let shared = Arc::clone(shared);
    tokio::spawn(async move { send(&shared, reader, len, sender).await });
    Body::new(body)
}

/// Sends so many bytes; stops where the client is gone.
async fn send(
    shared: &Shared,
    mut reader: Box<dyn Read + Send>,
    mut left: u64,
    mut sender: Sender<Bytes, std::io::Error>,
) {
    while left > 0 {
        let len = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
        let read = move || -> std::io::Result<_> {
            let mut block = vec![0; len];
            reader.read_exact(&mut block)?;
            Ok((reader, block))
        };
        let joined = tokio::task::spawn_blocking(read).await;
        match joined.map_err(std::io::Error::other).flatten() {
            Ok((own, block)) => {
                reader = own;
                left -= block.len() as u64;
                shared.metrics.sent(block.len() as u64);
                if sender.send_data(block.into()).await.is_err() {
                    return;
                }
            }
            Err(error) => {
                tracing::error!("a result cannot be read: {}", error.kind());
                sender.abort(error);
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_http_says() {
        let of = |from, to| Some(Asked::Part(from..to));
        for (range, expected) in [
            ("0-", of(0, 10)),
            ("3-", of(3, 10)),
            ("3-5", of(3, 6)),
            ("3-99", of(3, 10)),
            ("-4", of(6, 10)),
            ("-99", of(0, 10)),
            ("9-9", of(9, 10)),
            ("10-", Some(Asked::Outside)),
            ("-0", Some(Asked::Outside)),
            ("5-3", None),
            ("0-1,3-4", None),
            ("+1-2", None),
            ("a-b", None),
            ("-", None),
            ("", None),
            ("0-18446744073709551615", None),
            ("99999999999999999999-", None),
        ] {
            assert_eq!(part(range, 10), expected, "{range}");
        }
    }
}

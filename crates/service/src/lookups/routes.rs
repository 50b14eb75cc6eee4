//! Addresses of a server of lookups.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderValue, Response, StatusCode};
use axum::middleware::from_fn;
use axum::response::IntoResponse;
use axum::routing::{get, post, put};
use axum::{Extension, Router};
use http_body_util::{BodyExt, Limited};
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::{Lookups, Shared, Waiting};
use crate::http::{json as told, logged};
use crate::listen::Client;
use crate::name::{hex, is_hex};
use crate::refusal::{Refusal, Result, ServiceError};

/// Addresses, as the log names them.
const PATHS: [&str; 5] =
    ["/health", "/v1/description", "/v1/keys/{sha256}", "/v1/answers/{sha256}", "/v1/evaluations"];
/// Time that the body of a request may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// Seconds after which a client may ask again where there is no room.
const RETRY: u32 = 2;
/// Number of digits of a hash.
const DIGITS: usize = 64;

/// Makes the handlers of all addresses.
pub(super) fn router<L: Lookups>(shared: &Arc<Shared<L>>) -> Router {
    let [health, description, keys, answers, evaluations] = PATHS;
    Router::new()
        .route(health, get(|| async { told(StatusCode::OK, &json!({ "status": "ok" })) }))
        .route(description, get(describe::<L>))
        .route(keys, put(keep::<L>))
        .route(answers, post(answer::<L>))
        .route(evaluations, post(evaluate::<L>))
        .fallback(|| async { Refusal::absent().into_response() })
        .layer(from_fn(|request, next| logged(&PATHS, request, next)))
        .layer(DefaultBodyLimit::disable())
        .with_state(Arc::clone(shared))
}

/// Makes an answer of bytes.
fn bytes(bytes: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(bytes));
    let kind = HeaderValue::from_static("application/octet-stream");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// Returns the description of the database.
async fn describe<L: Lookups>(State(shared): State<Arc<Shared<L>>>) -> Response<Body> {
    bytes(shared.lookups.description().to_vec())
}

/// Takes the keys of a client, whose hash is in the address.
async fn keep<L: Lookups>(
    State(shared): State<Arc<Shared<L>>>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response<Body>> {
    check_name(&name)?;
    let busy = || Refusal::busy("others send keys now", RETRY);
    let _upload = shared.uploads.try_acquire().map_err(|_| busy())?;
    let body = receive(request, shared.lookups.key_bytes()).await?;
    let own = Arc::clone(&shared);
    let read = tokio::task::spawn_blocking(move || {
        let hash = hex(&Sha256::digest(&body));
        if hash != name {
            return Err(Refusal::input("the keys have another hash").expected(name).got(hash));
        }
        let keys = own.lookups.keys(&body)?;
        own.kept.lock().unwrap_or_else(PoisonError::into_inner).put(hash.clone(), keys);
        Ok(hash)
    });
    let hash = read.await.map_err(|error| ServiceError::Io(std::io::Error::other(error)))??;
    Ok(told(StatusCode::OK, &json!({ "sha256": hash })))
}

/// Answers a query under keys that are kept.
async fn answer<L: Lookups>(
    State(shared): State<Arc<Shared<L>>>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response<Body>> {
    check_name(&name)?;
    let keys = shared.kept.lock().unwrap_or_else(PoisonError::into_inner).get(&name);
    let keys = keys.ok_or_else(|| {
        Refusal::new(404, "there are no keys of this hash").remedy("send them, and ask again")
    })?;
    let query = receive(request, shared.lookups.query_bytes()).await?;
    let (reply, answered) = oneshot::channel();
    let queued = shared.queue.try_send(Waiting { keys, query, reply });
    queued.map_err(|_| Refusal::busy("too many queries wait", RETRY).remedy("ask again later"))?;
    let answer = answered.await.map_err(|_| Refusal::new(503, "the server is stopping"))?;
    Ok(bytes(answer?))
}

/// Evaluates blinded items, which count for the address that they came from.
async fn evaluate<L: Lookups>(
    State(shared): State<Arc<Shared<L>>>,
    Extension(Client(address)): Extension<Client>,
    request: Request,
) -> Result<Response<Body>> {
    let most = shared.lookups.evaluation_bytes();
    if most == 0 {
        return Err(Refusal::absent().into());
    }
    let busy = || Refusal::busy("others send items now", RETRY);
    let _upload = shared.uploads.try_acquire().map_err(|_| busy())?;
    let body = receive(request, most).await?;
    let own = Arc::clone(&shared);
    let evaluated = tokio::task::spawn_blocking(move || {
        let evaluation = own.lookups.evaluation(&body)?;
        own.meter.count(address, evaluation.items)?;
        (evaluation.evaluate)()
    });
    let evaluated = evaluated.await.map_err(|error| ServiceError::Io(std::io::Error::other(error)))??;
    Ok(bytes(evaluated))
}

fn check_name(name: &str) -> std::result::Result<(), Refusal> {
    if is_hex(name, DIGITS) {
        return Ok(());
    }
    Err(Refusal::input("this is no hash of keys")
        .expected("the SHA-256 of the keys, in 64 lower-case digits"))
}

/// Receives the body of a request.
async fn receive(request: Request, most: u64) -> std::result::Result<Vec<u8>, Refusal> {
    let too_long =
        || Refusal::new(413, "the body is too long, or was cut").expected(format!("at most {most} bytes"));
    let told = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if told.is_some_and(|told: u64| told > most) {
        return Err(too_long());
    }
    let limit = usize::try_from(most).unwrap_or(usize::MAX);
    let body = timeout(PATIENCE, Limited::new(request.into_body(), limit).collect()).await;
    let body = body.map_err(|_| Refusal::new(408, "the body came too slowly").remedy("send it again"))?;
    let body = body.map_err(|_| too_long())?;
    Ok(body.to_bytes().to_vec())
}

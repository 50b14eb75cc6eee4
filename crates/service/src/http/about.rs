//! The server itself: whether it is well, what it counts, and how it is used.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Response, StatusCode};
use serde_json::json;

use super::answer::{json as answer, text};
use super::{Shared, auth};
use crate::refusal::{Refusal, Result};

/// Description of the interface.
pub(crate) const OPENAPI: &str = include_str!("../openapi.json");

/// Says that the process answers.
pub(super) async fn health() -> Response<Body> {
    answer(StatusCode::OK, &json!({ "status": "ok" }))
}

/// Says whether the server takes requests: it does not while it stops, or where its state cannot be read.
pub(super) async fn ready(State(shared): State<Arc<Shared>>) -> Result<Response<Body>> {
    if shared.is_stopping() {
        return Err(Refusal { retry_after: Some(10), ..Refusal::new(503, "the server is stopping") }.into());
    }
    shared.blocking(|shared| shared.store.records().counts()).await?;
    Ok(answer(StatusCode::OK, &json!({ "status": "ready" })))
}

/// Returns counters for Prometheus.
pub(super) async fn metrics(State(shared): State<Arc<Shared>>) -> Result<Response<Body>> {
    let counts = shared.blocking(|shared| shared.store.records().counts()).await?;
    Ok(text("text/plain; version=0.0.4", shared.metrics.text(counts)))
}

/// Returns the description of the interface.
pub(super) async fn openapi() -> Response<Body> {
    text("application/json", OPENAPI.to_owned())
}

/// Says what the account has, and what it may have.
pub(super) async fn account(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Result<Response<Body>> {
    let account = auth::account(&shared, &headers).await?;
    let found = shared.blocking(move |shared| shared.store.records().account(account)).await?;
    let found = found.ok_or_else(Refusal::absent)?;
    let limits = &shared.config.limits;
    let told = json!({
        "name": found.name,
        "created": found.created,
        "bytes": found.bytes,
        "jobs": found.jobs,
        "limits": {
            "bytes": limits.account.bytes,
            "unfinished_jobs": limits.account.unfinished,
            "jobs": limits.account.jobs,
            "upload_bytes": limits.upload,
            "job_seconds": limits.job_time.as_secs(),
            "job_memory_bytes": limits.job_memory,
        },
    });
    Ok(answer(StatusCode::OK, &told))
}

//! Jobs: asked for, looked at, removed.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use serde::Deserialize;
use serde_json::json;
use tokio::time::timeout;

use super::answer::{empty, json as answer};
use super::{Shared, auth};
use crate::name::{JobId, Name};
use crate::records::{self, Allowance, Submitted};
use crate::refusal::{Refusal, Result};
use crate::store::quota_full;

/// Longest request for a job, in bytes.
const LONGEST: usize = 1 << 16;
/// Largest number of tables of a job.
const MOST_TABLES: usize = 1024;
/// Bits of precision that CKKS offers.
const PRECISIONS: std::ops::RangeInclusive<u32> = 4..=30;
/// Seconds after which a client may ask again where the queue is full.
const QUEUE_RETRY: u32 = 10;

/// Request for a job, as it is sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    program: String,
    keys: String,
    table: Option<String>,
    tables: Option<Vec<String>>,
    precision: Option<u32>,
    request: Option<String>,
}

impl Asked {
    fn check(self) -> std::result::Result<records::Request, Refusal> {
        let tables = match (self.table, self.tables) {
            (Some(table), None) => vec![table],
            (None, Some(tables)) => tables,
            _ => {
                return Err(Refusal::input("the request names no table, or names it twice")
                    .expected("one of table and tables"));
            }
        };
        let tables =
            tables.iter().map(|table| Name::new(table)).collect::<std::result::Result<Vec<_>, _>>()?;
        let distinct: BTreeSet<&Name> = tables.iter().collect();
        if tables.is_empty() || distinct.len() != tables.len() || tables.len() > MOST_TABLES {
            return Err(Refusal::input("the tables of this request cannot be used")
                .expected(format!("1 to {MOST_TABLES} names, each of them once"))
                .got(tables.len().to_string()));
        }
        if let Some(precision) = self.precision.filter(|precision| !PRECISIONS.contains(precision)) {
            return Err(Refusal::input("this precision cannot be used")
                .expected("4 to 30 bits")
                .got(precision.to_string()));
        }
        Ok(records::Request {
            program: Name::new(&self.program)?,
            keys: Name::new(&self.keys)?,
            tables,
            precision: self.precision,
            request: self.request.map(|name| Name::new(&name)).transpose()?,
        })
    }
}

/// Queues a job.
pub(super) async fn submit(State(shared): State<Arc<Shared>>, request: Request) -> Result<Response<Body>> {
    let account = auth::account(&shared, request.headers()).await?;
    if shared.is_stopping() {
        return Err(Refusal {
            retry_after: Some(QUEUE_RETRY),
            ..Refusal::new(503, "the server is stopping")
        }
        .into());
    }
    let asked = read(&shared, request).await?;
    let submitted = shared
        .blocking(move |shared| {
            let allowed = &shared.config.limits.account;
            shared.store.records().submit(account, &shared.store.job_id()?, &asked, allowed)
        })
        .await?;
    let job = accepted(submitted, &shared.config.limits.account)?;
    shared.pool.wake();
    let mut response = answer(StatusCode::ACCEPTED, &job);
    if let Ok(place) = HeaderValue::from_str(&format!("/v1/jobs/{}", job.id.as_str())) {
        response.headers_mut().insert(LOCATION, place);
    }
    Ok(response)
}

/// Reads the request for a job from the body of a request.
async fn read(shared: &Shared, request: Request) -> std::result::Result<records::Request, Refusal> {
    let body = timeout(shared.config.limits.idle, Limited::new(request.into_body(), LONGEST).collect()).await;
    let body = body.map_err(|_| Refusal::new(408, "the body came too slowly").remedy("send it again"))?;
    let body = body.map_err(|_| {
        Refusal::new(413, "the body is too long, or was cut")
            .expected(format!("at most {LONGEST} bytes of JSON"))
    })?;
    let asked: Asked = serde_json::from_slice(&body.to_bytes()).map_err(|error| {
        Refusal::input("this is no request for a job")
            .expected("{\"program\": NAME, \"keys\": NAME, \"table\": NAME}")
            .got(error.to_string())
    })?;
    asked.check()
}

/// Returns the job that was accepted, or the refusal of one that was not.
fn accepted(submitted: Submitted, allowed: &Allowance) -> std::result::Result<records::Job, Refusal> {
    match submitted {
        Submitted::Queued(job) => Ok(job),
        Submitted::Absent(place) => {
            let what = place.as_str();
            let refusal = Refusal::new(404, format!("there are no {what} of this name"));
            Err(refusal.remedy(format!("list {what}, and check the name")))
        }
        Submitted::QueueFull => Err(Refusal::busy("the queue of this account is full", QUEUE_RETRY)
            .expected(format!("at most {} unfinished jobs", allowed.unfinished))
            .remedy("wait until some are done")),
        Submitted::TooMany => Err(Refusal::busy("this account has too many jobs", QUEUE_RETRY)
            .expected(format!("at most {} jobs, finished ones too", allowed.jobs))
            .remedy("delete jobs whose results are needed no longer")),
        Submitted::QuotaFull => Err(quota_full(allowed)),
    }
}

/// Lists jobs, the newest first.
pub(super) async fn list(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Result<Response<Body>> {
    let account = auth::account(&shared, &headers).await?;
    let jobs = shared.blocking(move |shared| shared.store.records().jobs(account)).await?;
    Ok(answer(StatusCode::OK, &json!({ "jobs": jobs })))
}

/// Returns one job.
pub(super) async fn show(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response<Body>> {
    Ok(answer(StatusCode::OK, &find(&shared, &id, &headers).await?))
}

/// Finds a job of the account that sends a request.
pub(super) async fn find(shared: &Arc<Shared>, id: &str, headers: &HeaderMap) -> Result<records::Job> {
    let account = auth::account(shared, headers).await?;
    let id = JobId::parse(id).ok_or_else(Refusal::absent)?;
    let job = shared.blocking(move |shared| shared.store.records().job(account, &id)).await?;
    Ok(job.ok_or_else(Refusal::absent)?)
}

/// Removes a job, and stops it if it runs.
pub(super) async fn remove(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response<Body>> {
    let account = auth::account(&shared, &headers).await?;
    let id = JobId::parse(&id).ok_or_else(Refusal::absent)?;
    let removed = shared
        .blocking(move |shared| {
            let removed = shared.store.remove_job(account, &id)?;
            if removed {
                shared.pool.stop_job(&id);
            }
            Ok(removed)
        })
        .await?;
    if removed { Ok(empty(StatusCode::NO_CONTENT)) } else { Err(Refusal::absent().into()) }
}

//! Stored objects: evaluation keys, programs and encrypted tables.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, Response, StatusCode};
use serde_json::json;

use super::answer::{empty, json as answer};
use super::{Shared, auth, upload};
use crate::name::Name;
use crate::records::{ObjectName, Place};
use crate::refusal::{Refusal, Result};

/// Names in the address of an object.
pub(super) type Names = Path<Vec<String>>;

/// Returns the object that an address names.
fn object(place: Place, names: &[String]) -> Result<ObjectName> {
    let mut names = names.iter().map(|name| Name::new(name));
    let name = names.next().ok_or_else(Refusal::absent)??;
    Ok(ObjectName { place, name, file: names.next().transpose()? })
}

/// Lists objects of one kind.
pub(super) async fn list(
    place: Place,
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
) -> Result<Response<Body>> {
    let account = auth::account(&shared, &headers).await?;
    let objects = shared.blocking(move |shared| shared.store.records().objects(account, place)).await?;
    Ok(answer(StatusCode::OK, &json!({ place.as_str(): objects })))
}

/// Stores the body of a request as an object.
pub(super) async fn put(
    place: Place,
    State(shared): State<Arc<Shared>>,
    Path(names): Names,
    request: Request,
) -> Result<Response<Body>> {
    let account = auth::account(&shared, request.headers()).await?;
    let name = object(place, &names)?;
    let received = upload::receive(&shared, account, place, request).await?;
    let told = json!({ "bytes": received.bytes, "sha256": received.blob });
    shared
        .blocking(move |shared| {
            let (stored, allowed) = (received.parts(), &shared.config.limits.account);
            shared.store.put(account, &name, stored, allowed)
        })
        .await?;
    Ok(answer(StatusCode::OK, &told))
}

/// Removes an object.
pub(super) async fn remove(
    place: Place,
    State(shared): State<Arc<Shared>>,
    Path(names): Names,
    headers: HeaderMap,
) -> Result<Response<Body>> {
    let account = auth::account(&shared, &headers).await?;
    let name = object(place, &names)?;
    let removed = shared.blocking(move |shared| shared.store.remove(account, &name)).await?;
    if removed { Ok(empty(StatusCode::NO_CONTENT)) } else { Err(Refusal::absent().into()) }
}

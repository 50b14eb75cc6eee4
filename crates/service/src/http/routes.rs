//! Addresses of the interface.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, Method, Response, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, delete, get, put};

use super::answer::in_json;
use super::lingering::lingering;
use super::{Shared, about, jobs, objects, results};
use crate::page::Page;
use crate::records::Place;
use crate::refusal::Refusal;

/// Address of the interface and the methods that it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Address, names of objects in braces.
    pub path: &'static str,
    /// Methods.
    pub methods: &'static [&'static str],
    /// Whether it takes the token of an account.
    pub is_of_account: bool,
}

/// Makes a route that takes the token of an account.
const fn own(path: &'static str, methods: &'static [&'static str]) -> Route {
    Route { path, methods, is_of_account: true }
}

/// Makes a route that anybody may ask.
const fn open(path: &'static str) -> Route {
    Route { path, methods: &["get"], is_of_account: false }
}

/// Addresses of the interface, as the description of it in `openapi.json` has them.
pub const ROUTES: [Route; 15] = [
    open("/health"),
    open("/ready"),
    open("/metrics"),
    open("/openapi.json"),
    own("/v1/account", &["get"]),
    own("/v1/keys", &["get"]),
    own("/v1/keys/{name}", &["delete"]),
    own("/v1/keys/{name}/{file}", &["put", "delete"]),
    own("/v1/programs", &["get"]),
    own("/v1/programs/{name}", &["put", "delete"]),
    own("/v1/tables", &["get"]),
    own("/v1/tables/{name}", &["put", "delete"]),
    own("/v1/jobs", &["get", "post"]),
    own("/v1/jobs/{id}", &["get", "delete"]),
    own("/v1/jobs/{id}/result", &["get"]),
];

/// Handlers of a list of objects.
fn list(place: Place) -> MethodRouter<Arc<Shared>> {
    get(move |state, headers| objects::list(place, state, headers))
}

/// Handlers of an object.
fn object(place: Place) -> MethodRouter<Arc<Shared>> {
    put(move |state, names, request| objects::put(place, state, names, request))
        .delete(move |state, names, headers| objects::remove(place, state, names, headers))
}

/// Makes the handlers of all addresses.
pub(crate) fn router(shared: &Arc<Shared>, page: Option<Page>) -> Router {
    let page = page.map(Arc::new);
    let keys = delete(|state, names, headers| objects::remove(Place::Keys, state, names, headers));
    Router::new()
        .route("/health", get(about::health))
        .route("/ready", get(about::ready))
        .route("/metrics", get(about::metrics))
        .route("/openapi.json", get(about::openapi))
        .route("/v1/account", get(about::account))
        .route("/v1/keys", list(Place::Keys))
        .route("/v1/keys/{name}", keys)
        .route("/v1/keys/{name}/{file}", object(Place::Keys))
        .route("/v1/programs", list(Place::Programs))
        .route("/v1/programs/{name}", object(Place::Programs))
        .route("/v1/tables", list(Place::Tables))
        .route("/v1/tables/{name}", object(Place::Tables))
        .route("/v1/jobs", get(jobs::list).post(jobs::submit))
        .route("/v1/jobs/{id}", get(jobs::show).delete(jobs::remove))
        .route("/v1/jobs/{id}/result", get(results::get))
        .fallback(move |method, uri, headers| other(page, method, uri, headers))
        .layer(from_fn_with_state(Arc::clone(shared), watch))
        .with_state(Arc::clone(shared))
}

/// Answers with a file of the page, if there is one of this address.
async fn other(page: Option<Arc<Page>>, method: Method, uri: Uri, headers: HeaderMap) -> Response<Body> {
    // The framework leaves the body out of answers to HEAD.
    let page = page.filter(|_| matches!(method, Method::GET | Method::HEAD));
    let file = page.and_then(|page| page.answer(uri.path(), &headers));
    file.unwrap_or_else(|| Refusal::absent().into_response())
}

/// Counts an answer, which is logged.
async fn watch(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response<Body> {
    let response = logged(&ROUTES.map(|route| route.path), request, next).await;
    shared.metrics.answered(response.status().as_u16());
    response
}

/// Puts JSON in place of texts of the framework, and logs the answer: the address as one of these patterns, so that no name of an object is in the log.
pub(crate) async fn logged(paths: &[&'static str], request: Request, next: Next) -> Response<Body> {
    let begin = Instant::now();
    let method = known(request.method());
    let path = request.extensions().get::<MatchedPath>();
    let route =
        paths.iter().find(|own| path.is_some_and(|path| path.as_str() == **own)).copied().unwrap_or("-");
    let response = in_json(next.run(lingering(request)).await);
    let (status, milliseconds) = (response.status().as_u16(), milliseconds(begin.elapsed()));
    tracing::info!(method, route, status, milliseconds, "request");
    response
}

/// Returns the name of a method, if it is one that the log may have: a client chooses the text of others.
fn known(method: &Method) -> &'static str {
    const KNOWN: [&str; 7] = ["GET", "PUT", "POST", "DELETE", "HEAD", "OPTIONS", "PATCH"];
    KNOWN.into_iter().find(|name| *name == method.as_str()).unwrap_or("-")
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e5).round() / 100.0
}

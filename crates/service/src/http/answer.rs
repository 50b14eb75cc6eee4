//! Answers: JSON, and refusals as JSON.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, Response, StatusCode};
use axum::response::IntoResponse;
use serde::Serialize;

use crate::refusal::{Refusal, ServiceError};

/// Type of JSON.
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Makes an answer in JSON.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Response<Body> {
    let text = serde_json::to_string(value).unwrap_or_else(|_| "{}".to_owned());
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Makes an answer of a text of this type.
pub(crate) fn text(kind: &'static str, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Makes an answer without a body.
pub(crate) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response<Body> {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_REQUEST);
        let mut response = json(status, &self);
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// Answers a failure of the machine without a detail, which the log has.
impl IntoResponse for ServiceError {
    fn into_response(self) -> Response<Body> {
        match self {
            Self::Refused(refusal) => refusal.into_response(),
            other => {
                tracing::error!("{other}");
                Refusal {
                    retry_after: Some(10),
                    ..Refusal::new(503, "the server cannot read or write its files now")
                }
                .remedy("try again later, and tell its operator if that does not help")
                .into_response()
            }
        }
    }
}

/// Puts JSON in place of a refusal that the framework made as text.
pub(crate) fn in_json(response: Response<Body>) -> Response<Body> {
    let status = response.status();
    let is_own = response.headers().get(CONTENT_TYPE) == Some(&JSON);
    if is_own || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let refusal = match status {
        StatusCode::NOT_FOUND => Refusal::absent(),
        StatusCode::METHOD_NOT_ALLOWED => Refusal::new(405, "this address does not know this method")
            .remedy("GET /openapi.json says which it knows"),
        _ => Refusal::new(status.as_u16(), "the request is not as it should be")
            .remedy("GET /openapi.json says how requests are made"),
    };
    let mut told = refusal.into_response();
    for (name, value) in response.headers() {
        if *name == axum::http::header::ALLOW {
            told.headers_mut().insert(name.clone(), value.clone());
        }
    }
    told
}

//! Who sends a request.

use std::sync::Arc;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;

use super::Shared;
use crate::records::AccountId;
use crate::refusal::{Refusal, Result};
use crate::token::Token;

/// Finds the account that a request belongs to by its token. All wrong tokens get one answer.
pub(super) async fn account(shared: &Arc<Shared>, headers: &HeaderMap) -> Result<AccountId> {
    let token = token(headers).ok_or_else(refusal)?;
    let found = shared
        .blocking(move |shared| {
            let found = shared.store.records().token(token.id())?;
            Ok(found.filter(|(_, stored)| token.is(stored)).map(|(account, _)| account))
        })
        .await?;
    Ok(found.ok_or_else(refusal)?)
}

/// Reads the token of a request.
fn token(headers: &HeaderMap) -> Option<Token> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (value, others) = (values.next()?.to_str().ok()?, values.next());
    let (scheme, token) = value.split_once(' ')?;
    let is_one = others.is_none() && scheme.eq_ignore_ascii_case("bearer");
    if is_one { Token::parse(token.trim()) } else { None }
}

fn refusal() -> Refusal {
    Refusal::new(401, "this token opens no account")
        .expected("the header Authorization: Bearer TOKEN")
        .remedy("ask the operator of the server for a token, and run sunzi remote login")
}

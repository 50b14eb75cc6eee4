//! Headers of files, told in JSON.

use serde::Serialize;
use sunzi_rlwe::wire::{Header, Kind};
use wasm_bindgen::prelude::*;

use crate::error::Failure;

/// Fields of a header of a file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Inspected {
    kind: u16,
    object: String,
    secret: bool,
    bytes: u64,
    ring: String,
    scheme: String,
    key: Option<String>,
}

/// Returns in JSON what the header of a file of Sunzi says: kind, whether it is secret, length, and names of parameters and key.
///
/// # Errors
/// `Magic`, `Version`, `Checksum`, `Flags` or `Truncated` for bytes that begin no file of Sunzi.
#[wasm_bindgen]
pub fn inspect(bytes: &[u8]) -> Result<String, JsValue> {
    Ok(inspected(bytes)?)
}

fn inspected(mut bytes: &[u8]) -> Result<String, Failure> {
    let header = Header::read(&mut bytes)?;
    let hexadecimal = |digest: &[u8]| digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    Ok(serde_json::to_string(&Inspected {
        kind: header.kind,
        object: Kind::describe(header.kind),
        secret: Kind::of(header.kind).is_some_and(Kind::is_secret),
        bytes: header.body_len.saturating_add(sunzi_rlwe::wire::HEADER_LEN as u64),
        ring: hexadecimal(&header.parameters.ring),
        scheme: hexadecimal(&header.parameters.scheme),
        key: header.key.map(|key| key.to_string()),
    })?)
}

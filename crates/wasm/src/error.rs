//! Errors of Rust as errors of JavaScript.

use std::error::Error;

use sunzi_rlwe::words::innermost_variant;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// Failure of a call: the name of its error, and its message.
pub(crate) struct Failure {
    name: String,
    message: String,
}

impl Failure {
    /// Makes an error of this layer.
    pub(crate) fn new(name: &str, message: impl Into<String>) -> Self {
        Self { name: name.to_owned(), message: message.into() }
    }
}

/// Makes the error for a key that this party does not have.
pub(crate) fn missing(what: &str) -> Failure {
    Failure::new("MissingKey", format!("there is no {what} among the keys"))
}

impl<E: Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(innermost_variant(&format!("{error:?}")), error.to_string())
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> Self {
        let error = js_sys::Error::new(&failure.message);
        error.set_name(&failure.name);
        error.into()
    }
}

#[wasm_bindgen]
extern "C" {
    /// Writes a line to the console.
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn complain(line: &str);
}

/// Has a panic, which ends the instance, tell the console where it was: the trap that follows says nothing.
#[wasm_bindgen(start)]
fn start() {
    std::panic::set_hook(Box::new(|panic| complain(&format!("sunzi: {panic}"))));
}

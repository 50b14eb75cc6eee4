//! `sunzi remote list`: what an account has on a server.

use serde_json::{Map, Value};
use sunzi::rlwe::words::bytes;

use super::client::Client;
use crate::args::service::{ListArgs, Stored};
use crate::error::{CliError, one_line};
use crate::output;

/// Lists what the account has.
pub(super) fn run(args: &ListArgs) -> Result<(), CliError> {
    let all = [Stored::Keys, Stored::Programs, Stored::Tables, Stored::Jobs];
    let wanted = all.iter().filter(|own| args.what.is_none_or(|what| what == **own));
    let client = Client::open()?;
    let mut found = Map::new();
    for what in wanted {
        let what = what.as_str();
        let mut answer = client.get(&format!("/v1/{what}"))?;
        found.insert(what.to_owned(), answer.get_mut(what).map(Value::take).unwrap_or_default());
    }
    output::report(args.json, &found, |found| {
        let lines: Vec<String> = found.iter().flat_map(|(what, list)| lines(what, list)).collect();
        if lines.is_empty() { "nothing".to_owned() } else { lines.join("\n") }
    })
}

/// Returns a line for each entry of a list.
fn lines(what: &str, list: &Value) -> Vec<String> {
    let entries = list.as_array().map(Vec::as_slice).unwrap_or_default();
    entries.iter().map(|entry| one_line(&line(what, entry))).collect()
}

fn line(what: &str, entry: &Value) -> String {
    let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let size =
        entry.get("bytes").and_then(Value::as_u64).map_or(String::new(), |size| format!("  {}", bytes(size)));
    if what == Stored::Jobs.as_str() {
        let error = text("error");
        let error = if error.is_empty() { error } else { format!("  {error}") };
        return format!("{what:<8}  {}  {:<7}  {}{size}{error}", text("id"), text("state"), text("program"));
    }
    let file = text("file");
    let name = if file.is_empty() { text("name") } else { format!("{}/{file}", text("name")) };
    format!("{what:<8}  {name}{size}")
}

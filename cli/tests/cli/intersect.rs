//! Private set intersections over HTTP: `sunzi intersect build`, `serve` and `query`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::common::{Folder, json, stderr};
use crate::server::Server;

const ITEMS: usize = 3000;

/// A folder with a set of addresses, and a client's table: every seventh item of the set and as many others.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    let rows: String = (0..ITEMS).map(|i| format!("p{i}@example.org,\"risk, {}\",{i}\n", i % 5)).collect();
    fs::write(folder.path("set.csv"), format!("email,risk,number\n{rows}")).unwrap();
    let rows: String =
        (0..ITEMS).step_by(7).map(|i| format!("x,p{i}@example.org\ny,q{i}@example.org\n")).collect();
    // Items that come again are asked once.
    fs::write(folder.path("own.csv"), format!("tag,email\n{rows}z,p0@example.org\n")).unwrap();
    folder.fine("intersect build set.csv --by email --columns risk -d set -q");
    folder
}

fn query<'a>(server: &'a Server, description: &'a str, items: &'a str) -> [&'a str; 7] {
    ["intersect", "query", description, items, "--server", &server.address, "-q"]
}

#[test]
fn a_client_gets_the_rows_of_common_items() {
    let folder = folder("intersect");
    let mode = fs::metadata(folder.path("set/set.sz")).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "the items are for their owner");
    let server = Server::start(&folder, "intersect serve set");
    let common: Vec<usize> = (0..ITEMS).step_by(7).collect();
    let told =
        json(&folder.run_of(&[&query(&server, "set/description.sz", "own.csv")[..], &["--json"]].concat()));
    assert_eq!((&told["items"], &told["columns"]), (&json!(2 * common.len()), &json!(["risk"])));
    let expected: Vec<_> = common
        .iter()
        .map(|i| json!({"item": format!("p{i}@example.org"), "cells": [format!("risk, {}", i % 5)]}))
        .collect();
    assert_eq!(told["found"], json!(expected));
    // As CSV, in a file.
    folder.fine_of(&[&query(&server, "set/description.sz", "own.csv")[..], &["-o", "found.csv"]].concat());
    let found = fs::read_to_string(folder.path("found.csv")).unwrap();
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(
        (lines.len(), lines[0], lines[2]),
        (common.len() + 1, "email,risk", "p7@example.org,\"risk, 2\"")
    );
    // Another server start has the same set.
    assert_eq!(server.stop(), Some(0));
    let again = Server::start(&folder, "intersect serve set");
    fs::write(folder.path("one.csv"), "mail\np14@example.org\n").unwrap();
    let one = [&query(&again, "set/description.sz", "one.csv")[..], &["--by", "mail"]].concat();
    assert_eq!(folder.fine_of(&one), "email,risk\np14@example.org,\"risk, 4\"\n");
    fs::write(folder.path("none.csv"), "email\nnobody@example.org\n").unwrap();
    assert_eq!(folder.fine_of(&query(&again, "set/description.sz", "none.csv")), "email,risk\n");
    // The log has no item.
    let log = fs::read_to_string(folder.path("log")).unwrap();
    assert!(log.contains("/v1/evaluations") && !log.contains("example.org"), "{log}");
}

#[test]
fn a_set_without_columns_says_what_is_there() {
    let folder = folder("intersect-bare");
    folder.fine("intersect build set.csv --by number --without-columns -d bare -q");
    let server = Server::start(&folder, "intersect serve bare");
    fs::write(folder.path("numbers.csv"), "number\n5\n2999\n3000\n").unwrap();
    assert_eq!(folder.fine_of(&query(&server, "bare/description.sz", "numbers.csv")), "number\n5\n2999\n");
}

#[test]
fn the_server_limits_what_is_asked_for() {
    let folder = folder("intersect-limit");
    let server = Server::start(&folder, "intersect serve set --items 10");
    fs::write(folder.path("six.csv"), "email\na\nb\nc\nd\ne\nf\n").unwrap();
    let six = query(&server, "set/description.sz", "six.csv");
    assert_eq!(folder.fine_of(&six), "email,risk\n");
    let output = folder.run_of(&six);
    let text = stderr(&output);
    assert!(
        output.status.code() != Some(0) && text.contains("too many items") && text.contains("6 after 6"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_is_refused_with_a_reason() {
    let folder = folder("intersect-refused");
    folder.refused("intersect build set.csv --by risk -d other -q", 2, &["risk", "come again"]);
    folder.refused("intersect build set.csv --by none -d other -q", 2, &["none", "is not in the table"]);
    folder.refused("intersect build set.csv --by email -d set -q", 2, &["is there already"]);
    folder.refused("intersect serve none", 6, &["none"]);
    folder.refused("intersect serve set --listen 0.0.0.0:0", 2, &["--tls-cert"]);
    let server = Server::start(&folder, "intersect serve set");
    let refused = |arguments: &[&str], code: i32, words: &[&str]| {
        let output = folder.run_of(arguments);
        let text = stderr(&output);
        assert_eq!((output.status.code(), text.lines().count()), (Some(code), 1), "{arguments:?}: {text}");
        assert!(words.iter().all(|word| text.contains(word)), "{arguments:?}: {text}");
    };
    // Another set of the same table has another key, which the proof does not show.
    folder.fine("intersect build set.csv --by email --columns risk -d other -q");
    refused(
        &query(&server, "other/description.sz", "own.csv"),
        5,
        &["not evaluated under the published key"],
    );
    refused(&query(&server, "set/description.sz", "set.sz"), 6, &["set.sz"]);
    fs::write(folder.path("wrong.csv"), "mail\nx\n").unwrap();
    refused(&query(&server, "set/description.sz", "wrong.csv"), 2, &["no column \"email\"", "mail", "--by"]);
    fs::write(folder.path("empty.csv"), "email\n").unwrap();
    refused(&query(&server, "set/description.sz", "empty.csv"), 2, &["no rows"]);
    refused(&query(&server, "set/set.sz", "own.csv"), 3, &["SECRET"]);
    drop(server);
    // Files of two sets, an open file, a damaged one.
    fs::copy(folder.path("other/description.sz"), folder.path("set/description.sz")).unwrap();
    folder.refused("intersect serve set --listen 127.0.0.1:0", 3, &["two sets"]);
    fs::set_permissions(folder.path("other/set.sz"), fs::Permissions::from_mode(0o644)).unwrap();
    folder.refused("intersect serve other --listen 127.0.0.1:0", 2, &["set.sz"]);
    fs::set_permissions(folder.path("other/set.sz"), fs::Permissions::from_mode(0o600)).unwrap();
    let mut bytes = fs::read(folder.path("other/set.sz")).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    fs::write(folder.path("other/set.sz"), bytes).unwrap();
    folder.refused("intersect serve other --listen 127.0.0.1:0", 5, &["set.sz"]);
}

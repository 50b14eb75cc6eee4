//! Private lookups over HTTP: `sunzi lookup serve` and `sunzi lookup query`.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

use crate::common::{Folder, json, stderr};
use crate::server::Server;
use serde_json::json;

const ROWS: usize = 5000;

/// Sends a request as text, and returns the answer, whose body is short.
fn raw(server: &Server, request: &str) -> String {
    let mut stream = TcpStream::connect(server.address.strip_prefix("http://").unwrap()).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A folder with a database of keywords and keys of two clients.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    let rows: String = (0..ROWS).map(|i| format!("key {i},value {}\n", i * i)).collect();
    fs::write(folder.path("t.csv"), format!("k,v\n{rows}")).unwrap();
    folder.fine("lookup build t.csv --by k -d db -q");
    folder.fine("lookup keygen db/description.sz -d ada -q");
    folder.fine("lookup keygen db/description.sz -d bob -q");
    folder
}

fn query<'a>(server: &'a Server, keyword: &'a str, keys: &'a str) -> [&'a str; 8] {
    ["lookup", "query", "db/description.sz", keyword, "--server", &server.address, "--keys", keys]
}

#[test]
fn a_server_answers_clients_side_by_side() {
    let folder = folder("lookup-server");
    let server = Server::start(&folder, "lookup serve db");
    let ask = |keyword: &str, keys: &str| {
        json(&folder.run_of(&[&query(&server, keyword, keys)[..], &["--json"]].concat()))
    };
    for i in [0, 7, ROWS - 1] {
        let keyword = format!("key {i}");
        let expected = json!({"found": true, "cells": {"v": format!("value {}", i * i)}, "keyword": keyword});
        assert_eq!(ask(&keyword, "ada"), expected);
    }
    assert_eq!(ask("key 5000", "bob"), json!({"found": false, "cells": null, "keyword": "key 5000"}));
    // Several clients at a time, whose queries wait for one another.
    std::thread::scope(|scope| {
        for at in 0..12 {
            let ask = &ask;
            scope.spawn(move || {
                let keys = if at % 2 == 0 { "ada" } else { "bob" };
                let got = ask(&format!("key {at}"), keys);
                assert_eq!(got["cells"]["v"], format!("value {}", at * at));
            });
        }
    });
    assert_eq!(server.stop(), Some(0));
    // The log has no hash of keys and no keyword.
    let log = fs::read_to_string(folder.path("log")).unwrap();
    assert!(log.contains("/v1/answers/{sha256}") && !log.contains("key 7"), "{log}");
}

#[test]
fn keys_that_made_room_are_sent_again() {
    let folder = folder("lookup-server-room");
    let server = Server::start(&folder, "lookup serve db --clients 1 --together 1");
    for (at, keys) in ["ada", "bob", "ada", "ada"].into_iter().enumerate() {
        let keyword = format!("key {at}");
        let told = folder.fine_of(&query(&server, &keyword, keys));
        assert_eq!(told, format!("v  value {}\n", at * at));
    }
}

#[test]
fn what_a_server_of_lookups_refuses_has_a_reason() {
    let folder = folder("lookup-server-refused");
    let server = Server::start(&folder, "lookup serve db");
    let refused = |arguments: &[&str], code: i32, words: &[&str]| {
        let output = folder.run_of(arguments);
        let text = stderr(&output);
        assert_eq!((output.status.code(), text.lines().count()), (Some(code), 1), "{arguments:?}: {text}");
        assert!(words.iter().all(|word| text.contains(word)), "{arguments:?}: {text}");
    };
    // Another database, keys of a smaller one, no server, another machine without TLS, folders of one side.
    fs::write(folder.path("u.csv"), "k,v\na,b\n").unwrap();
    folder.fine("lookup build u.csv --by k -d other -q");
    let mut other = query(&server, "a", "ada");
    other[2] = "other/description.sz";
    refused(&other, 4, &["asks another database", "GET /v1/description"]);
    folder.fine("lookup keygen other/description.sz -d small -q");
    refused(&query(&server, "a", "small"), 2, &["the keys", "X -> X^"]);
    refused(&query(&server, "a", "ada/secret"), 6, &["sunzi lookup keygen"]);
    let mut none = query(&server, "a", "ada");
    none[5] = "http://127.0.0.1:1";
    refused(&none, 6, &["http://127.0.0.1:1", "check the address"]);
    none[5] = "http://lookup.example.org";
    refused(&none, 2, &["https://", "could change the answer"]);
    refused(&["lookup", "serve", "db", "--listen", "0.0.0.0:0"], 2, &["could change answers", "--tls-cert"]);
    refused(&["lookup", "serve", "none"], 6, &["none"]);
    // Requests that no client sends.
    let head = |line: &str, length: usize| {
        format!("{line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n")
    };
    let hash = "0".repeat(64);
    for (request, status, words) in [
        (head("GET /health", 0), 200, "ok"),
        (head("GET /nothing", 0), 404, "nothing of this name"),
        (head("GET /v1/keys/x", 0), 405, "this method"),
        (head("PUT /v1/keys/x", 0), 400, "no hash of keys"),
        (head(&format!("PUT /v1/keys/{hash}"), 3) + "abc", 400, "another hash"),
        (head(&format!("PUT /v1/keys/{hash}"), 1 << 40), 413, "too long"),
        (head(&format!("POST /v1/answers/{hash}"), 3) + "abc", 404, "no keys of this hash"),
    ] {
        let answer = raw(&server, &request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request}: {answer}");
        assert!(answer.contains(words), "{request}: {answer}");
    }
    // It goes on.
    assert_eq!(folder.fine_of(&query(&server, "key 5", "ada")), "v  value 25\n");
}

#[test]
fn a_server_of_damaged_entries_does_not_start() {
    let folder = folder("lookup-server-damaged");
    let mut entries = fs::read(folder.path("db/entries.sz")).unwrap();
    let at = entries.len() / 2;
    entries[at] ^= 1;
    fs::write(folder.path("db/entries.sz"), entries).unwrap();
    let output = folder.run("lookup serve db --listen 127.0.0.1:0");
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    assert!(stderr(&output).contains("entries.sz"), "{}", stderr(&output));
}

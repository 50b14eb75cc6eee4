//! No tenant learns anything of another: foreign names are answered exactly as absent ones.

use std::time::{Duration, Instant};

use sunzi_service::store::rotate_token;
use sunzi_service::{Name, ROUTES, Token};

use crate::common::{Answer, COPY, Place, Running, over_both, table};

/// What a client can tell of an answer: dates aside.
fn seen(answer: Answer) -> (u16, String, Vec<u8>) {
    let head = answer.head.lines().filter(|line| !line.starts_with("date: ")).collect::<Vec<_>>().join("\n");
    (answer.status, head, answer.body)
}

fn foreign_objects_are_as_absent_ones_at_every_address(place: &Place) {
    let running = Running::start(place, |_| {});
    let (ada, eve) = (&running.client, running.other(place, "eve"));
    ada.fill(COPY);
    let id = ada.queue("p");
    ada.wait(&id, &["done"]);
    let absent_id = "0123456789abcdef".repeat(2);
    let mut compared = 0;
    for route in ROUTES.iter().filter(|route| route.path.contains('{')) {
        for method in route.methods.iter().filter(|method| **method != "put") {
            let fill = |name: &str, file: &str, id: &str| {
                route.path.replace("{name}", name).replace("{file}", file).replace("{id}", id)
            };
            let name = match route.path.split('/').nth(2).unwrap() {
                "keys" => "k",
                "programs" => "p",
                _ => "t",
            };
            let method = method.to_uppercase();
            let foreign = eve.call(&method, &fill(name, "parameters.sz", &id), b"");
            let absent = eve.call(&method, &fill("absent", "absent.sz", &absent_id), b"");
            assert_eq!((foreign.status, seen(foreign)), (404, seen(absent)), "{method} {}", route.path);
            compared += 1;
        }
    }
    assert!(compared >= 7);
    for list in ["keys", "programs", "tables", "jobs"] {
        let answer = eve.get(&format!("/v1/{list}"));
        assert_eq!(answer.json(), serde_json::json!({ list: [] }));
    }
    // Her job finds none of the objects either, and says the same as of names that nobody has.
    let foreign = eve.submit("p");
    ada.call("DELETE", "/v1/programs/p", b"");
    assert_eq!((foreign.status, seen(foreign)), (404, seen(eve.submit("p"))));
    // What she stores under the same names is hers, and what Ada has stays.
    eve.fill("echo '{\"error\":\"mine\"}'");
    let hers = eve.call("PUT", "/v1/tables/t", &table(b"hers"));
    assert_ne!(ada.get("/v1/tables").json()["tables"][0]["sha256"], hers.json()["sha256"]);
    assert_eq!(ada.get(&format!("/v1/jobs/{id}/result")).body, table(b"rows"));
    assert_eq!(ada.get("/v1/account").json()["name"], "ada");
}

fn equal_bytes_of_two_accounts_are_removed_with_the_last_one(place: &Place) {
    let running = Running::start(place, |_| {});
    let (ada, eve) = (&running.client, running.other(place, "eve"));
    ada.fill(COPY);
    eve.fill(COPY);
    for path in ["/v1/tables/t", "/v1/programs/p", "/v1/keys/k"] {
        assert_eq!(eve.call("DELETE", path, b"").status, 204);
    }
    let id = ada.queue("p");
    assert_eq!(ada.wait(&id, &["done", "failed"])["state"], "done");
    // A job has the objects of the moment in which it was accepted.
    ada.program("slow", &format!("sleep 0.2; {COPY}"));
    let slow = ada.queue("slow");
    for path in ["/v1/tables/t", "/v1/programs/slow", "/v1/programs/p", "/v1/keys/k"] {
        assert_eq!(ada.call("DELETE", path, b"").status, 204);
    }
    assert_eq!(ada.wait(&slow, &["done", "failed"])["state"], "done");
    assert_eq!(ada.get(&format!("/v1/jobs/{slow}/result")).body, table(b"rows"));
}

fn tokens_are_rotated_and_removed(place: &Place) {
    let running = Running::start(place, |_| {});
    let records = place.records(running.data.path());
    let name = Name::new("ada").unwrap();
    assert_eq!(running.client.get("/v1/account").status, 200);
    let mut client = running.client.clone();
    client.token = rotate_token(&*records, &name).unwrap().unwrap().reveal();
    assert_eq!((client.get("/v1/account").status, running.client.get("/v1/account").status), (200, 401));
    client.fill(COPY);
    let id = client.queue("p");
    client.wait(&id, &["done"]);
    // The state has no token: neither its text nor its secret.
    let secret = client.token.rsplit('-').next().unwrap();
    for file in ["state.sqlite", "state.sqlite-wal"] {
        let bytes = std::fs::read(running.data.path().join(file)).unwrap_or_default();
        assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()), "{file}");
    }
    assert!(Token::parse(&client.token).is_some());
    assert_eq!(records.accounts().unwrap().len(), 1);
    assert!(records.remove_account(&name).unwrap() && !records.remove_account(&name).unwrap());
    assert_eq!(client.get("/v1/account").status, 401);
    // Its bytes go when the server looks for such.
    let data = running.stop();
    let running = Running::again(place, data, "none", |_| {});
    let begin = Instant::now();
    while !place.stored(running.data.path()).is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(60), "bytes of a removed account stay");
    }
}

fn other_forms_of_a_token_open_nothing(place: &Place) {
    let running = Running::start(place, |_| {});
    let token = running.client.token.clone();
    let of = |value: &str| {
        let mut stream = running.client.connect();
        let head = format!("GET /v1/account HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{value}\r\n");
        std::io::Write::write_all(&mut stream, head.as_bytes()).unwrap();
        Answer::read(stream).unwrap().status
    };
    assert_eq!(of(&format!("authorization: bearer {token}\r\n")), 200);
    for wrong in [
        String::new(),
        format!("authorization: Basic {token}\r\n"),
        format!("authorization: {token}\r\n"),
        format!("authorization: Bearer {token}0\r\n"),
        format!("authorization: Bearer {}\r\n", token.to_uppercase()),
        format!("authorization: Bearer {token}\r\nauthorization: Bearer {token}\r\n"),
        "authorization: Bearer \u{e4}\r\n".to_owned(),
    ] {
        assert_eq!(of(&wrong), 401, "{wrong}");
    }
}

over_both!(
    foreign_objects_are_as_absent_ones_at_every_address,
    equal_bytes_of_two_accounts_are_removed_with_the_last_one,
    tokens_are_rotated_and_removed,
    other_forms_of_a_token_open_nothing,
);

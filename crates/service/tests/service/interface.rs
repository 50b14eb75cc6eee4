//! Every address does what the description says.

use serde_json::Value;
use sunzi_rlwe::wire::Kind;
use sunzi_service::{OPENAPI, ROUTES};

use crate::common::{COPY, Place, Running, file, over_both, table};

#[test]
fn the_description_has_all_addresses_and_no_others() {
    let description: Value = serde_json::from_str(OPENAPI).unwrap();
    let paths = description["paths"].as_object().unwrap();
    assert_eq!(paths.len(), ROUTES.len());
    for route in ROUTES {
        let methods = paths[route.path].as_object().unwrap();
        let mut own: Vec<&str> = methods.keys().map(String::as_str).collect();
        let mut expected = route.methods.to_vec();
        own.sort_unstable();
        expected.sort_unstable();
        assert_eq!(own, expected, "{}", route.path);
        for method in methods.values() {
            assert_eq!(method.get("security").is_none(), route.is_of_account, "{}", route.path);
            let named = method.get("parameters").map_or(0, |list| list.as_array().unwrap().len());
            assert_eq!(named, route.path.matches('{').count(), "{}", route.path);
        }
    }
}

fn addresses_know_their_methods_and_want_a_token(place: &Place) {
    let running = Running::start(place, |_| {});
    let mut stranger = running.client.clone();
    stranger.token = format!("sunzi-{}-{}", "0".repeat(16), "0".repeat(64));
    for route in ROUTES {
        let path = route.path.replace("{name}", "x").replace("{file}", "y").replace("{id}", &"0".repeat(32));
        for method in ["GET", "PUT", "POST", "DELETE", "PATCH", "TRACE", "FROB"] {
            let answer = running.client.call(method, &path, b"");
            let is_known = route.methods.contains(&method.to_lowercase().as_str());
            assert_eq!(answer.status == 405, !is_known, "{method} {path}: {answer:?}");
            let strange = stranger.call(method, &path, b"");
            if is_known && route.is_of_account {
                assert_eq!(strange.status, 401, "{method} {path}");
                assert_eq!(strange.header("www-authenticate"), Some("Bearer"));
            }
            if answer.status >= 400 {
                assert!(answer.json()["error"].is_string(), "{answer:?}");
            }
        }
    }
    for path in ["/", "/v2/jobs", "/v1/jobs/", "/v1/keys/a/b/c", "/health/x", "/v1/jobs/..%2f..%2fx/result"] {
        let answer = running.client.get(path);
        assert_eq!(
            (answer.status, answer.json()["error"].as_str()),
            (404, Some("there is nothing of this name")),
            "{path}"
        );
    }
    assert_eq!(running.client.get("/health").json()["status"], "ok");
    assert_eq!(running.client.get("/ready").json()["status"], "ready");
    let metrics = String::from_utf8(running.client.get("/metrics").body).unwrap();
    assert!(metrics.contains("sunzi_jobs_queued 0\n") && metrics.contains("class=\"4xx\""), "{metrics}");
    assert_eq!(running.client.get("/openapi.json").json()["openapi"], "3.1.0");
}

fn objects_are_stored_listed_replaced_and_removed(place: &Place) {
    let running = Running::start(place, |_| {});
    let client = &running.client;
    client.fill(COPY);
    let stored = client.call("PUT", "/v1/tables/t", &table(b"other rows"));
    assert_eq!(stored.json()["bytes"], 74);
    client.call("PUT", "/v1/keys/k/galois.sz", &file(Kind::GaloisKeys, b"key"));
    let keys = client.get("/v1/keys").json();
    let files: Vec<&str> =
        keys["keys"].as_array().unwrap().iter().map(|key| key["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["galois.sz", "parameters.sz"]);
    let tables = client.get("/v1/tables").json();
    assert_eq!(tables["tables"][0]["sha256"], stored.json()["sha256"]);
    // Each object counts a block at least, and equal bytes once.
    assert_eq!(client.get("/v1/account").json()["bytes"], 4 * 4096);
    client.call("PUT", "/v1/tables/copy", &table(b"other rows"));
    assert_eq!(client.get("/v1/account").json()["bytes"], 4 * 4096);
    assert_eq!(client.call("DELETE", "/v1/tables/copy", b"").status, 204);
    assert_eq!(client.call("DELETE", "/v1/keys/k/galois.sz", b"").status, 204);
    assert_eq!(client.call("DELETE", "/v1/keys/k", b"").status, 204);
    for path in ["/v1/tables/copy", "/v1/keys/k", "/v1/keys/k/parameters.sz", "/v1/programs/q"] {
        assert_eq!(client.call("DELETE", path, b"").status, 404, "{path}");
    }
    let blobs = || place.stored(running.data.path()).len();
    assert_eq!(blobs(), 2, "a program and a table");
    client.call("DELETE", "/v1/programs/p", b"");
    client.call("DELETE", "/v1/tables/t", b"");
    assert_eq!(blobs(), 0);
}

fn answers_have_the_fields_of_the_description(place: &Place) {
    let running = Running::start(place, |_| {});
    let client = &running.client;
    client.fill(COPY);
    client.program("fails", "echo '{\"error\":\"why\"}'");
    for program in ["p", "fails"] {
        client.wait(&client.queue(program), &["done", "failed"]);
    }
    let schemas = serde_json::from_str::<Value>(OPENAPI).unwrap()["components"]["schemas"].clone();
    let list = |what: &str| client.get(&format!("/v1/{what}")).json()[what].as_array().unwrap().clone();
    let mut compared = vec![("Account", client.get("/v1/account").json())];
    compared.extend(list("jobs").into_iter().map(|job| ("Job", job)));
    compared.extend(list("keys").into_iter().chain(list("tables")).map(|object| ("Object", object)));
    compared.push(("Stored", client.call("PUT", "/v1/tables/t", &table(b"more")).json()));
    compared.push(("Refusal", client.get("/v1/jobs/x").json()));
    compared.push(("Refusal", client.call("PUT", "/v1/tables/t", b"x").json()));
    assert_eq!(compared.len(), 8);
    for (name, value) in compared {
        let schema = &schemas[name];
        for field in value.as_object().unwrap().keys() {
            assert!(schema["properties"].get(field).is_some(), "{field} of {name} is not described");
        }
        for field in schema["required"].as_array().unwrap() {
            assert!(value.get(field.as_str().unwrap()).is_some(), "{field} of {name} is missing in {value}");
        }
    }
}

fn secrets_and_foreign_files_are_refused(place: &Place) {
    let running = Running::start(place, |_| {});
    let client = &running.client;
    for (path, bytes, words) in [
        ("/v1/keys/k/secret.sz", file(Kind::SecretKey, b"s"), "a secret: it was not stored"),
        ("/v1/tables/t", file(Kind::SecretKey, b"s"), "a secret: it was not stored"),
        ("/v1/programs/p", file(Kind::SecretKey, b"s"), "another kind of file"),
        ("/v1/keys/k/t.sz", table(b""), "another kind of file"),
        ("/v1/tables/t", b"age,cost\n1,2\n".to_vec(), "another kind of file"),
        ("/v1/tables/t", b"\x89SUNZI\r\n".to_vec(), "another kind of file"),
        ("/v1/tables/t", Vec::new(), "the upload is empty"),
    ] {
        let answer = client.call("PUT", path, &bytes);
        assert_eq!(answer.status, 422, "{path}: {answer:?}");
        let told = answer.json();
        assert!(told["error"].as_str().unwrap().contains(words) && told["remedy"].is_string(), "{told}");
    }
    for path in
        ["/v1/keys/.k/x", "/v1/tables/a%2Fb", "/v1/tables/%2e%2e", "/v1/programs/%C3%A4", "/v1/programs/%ff"]
    {
        let answer = client.call("PUT", path, b"mean(x)");
        assert_eq!(answer.status, 400, "{path}: {answer:?}");
    }
    assert!(client.get("/v1/tables").json()["tables"].as_array().unwrap().is_empty());
    running.wait_for_files(0);
}

fn results_are_delivered_whole_and_in_parts(place: &Place) {
    let running = Running::start(place, |_| {});
    let client = &running.client;
    client.fill(COPY);
    let long = table(&(0..700_000_u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
    assert_eq!(client.call("PUT", "/v1/tables/t", &long).status, 200);
    let id = client.queue("p");
    let job = client.wait(&id, &["done", "failed"]);
    assert_eq!(job["state"], "done", "{job}");
    let path = format!("/v1/jobs/{id}/result");
    let whole = client.get(&path);
    assert_eq!((whole.status, &whole.body), (200, &long));
    let tag = whole.header("etag").unwrap().to_owned();
    assert_eq!(tag.trim_matches('"'), job["sha256"]);
    let part = |more: &str| client.try_call("GET", &path, b"", more).unwrap();
    let rest = part(&format!("range: bytes=1000000-\r\nif-range: {tag}\r\n"));
    assert_eq!((rest.status, &rest.body[..]), (206, &long[1_000_000..]));
    let expected = format!("bytes 1000000-{}/{}", long.len() - 1, long.len());
    assert_eq!(rest.header("content-range"), Some(expected.as_str()));
    assert_eq!(part("range: bytes=5-6\r\nif-range: \"other\"\r\n").status, 200);
    assert_eq!(part("range: bytes=99999999-\r\n").status, 416);
    assert_eq!(part(&format!("if-none-match: {tag}\r\n")).status, 304);
    let head = client.call("HEAD", &path, b"");
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("content-length"), Some(long.len().to_string().as_str()));
}

over_both!(
    addresses_know_their_methods_and_want_a_token,
    objects_are_stored_listed_replaced_and_removed,
    answers_have_the_fields_of_the_description,
    secrets_and_foreign_files_are_refused,
    results_are_delivered_whole_and_in_parts,
);

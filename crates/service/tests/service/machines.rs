//! Several servers over one database and one storage of objects, and what becomes of their jobs when one of them, or what they share, goes away.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::common::{COPY, Client, Place, Running, private_folder, table};
use crate::elsewhere::{Postgres, S3};
use crate::gate::Gate;
use crate::kill;

/// A second server over what the first one has.
fn beside(place: &Place, token: &str) -> Running {
    Running::again(place, private_folder(), token, |_| {})
}

/// Stores a table and queues a job over it.
fn queue(client: &Client, number: usize) -> String {
    let (name, rows) = (format!("t{number}"), table(number.to_string().as_bytes()));
    assert_eq!(client.call("PUT", &format!("/v1/tables/{name}"), &rows).status, 200);
    let asked = serde_json::json!({ "program": "p", "keys": "k", "table": name }).to_string();
    let answer = client.call("POST", "/v1/jobs", asked.as_bytes());
    assert_eq!(answer.status, 202, "{answer:?}");
    answer.json()["id"].as_str().unwrap().to_owned()
}

/// Waits for jobs over tables by their numbers, and compares their results.
fn all_done(client: &Client, jobs: &[(String, usize)]) {
    for (id, number) in jobs {
        let job = client.wait(id, &["done", "failed"]);
        assert_eq!(job["state"], "done", "{job}");
        let result = client.get(&format!("/v1/jobs/{id}/result")).body;
        assert_eq!(result, table(number.to_string().as_bytes()));
    }
}

#[test]
fn two_servers_compute_what_either_was_asked() {
    let Some(place) = Place::shared() else { return };
    let one = Running::start(&place, |_| {});
    let two = beside(&place, &one.client.token);
    one.client.fill(&format!("sleep 0.02; {COPY}"));
    let jobs: Vec<_> =
        (0..40).map(|number| (queue([&one.client, &two.client][number % 2], number), number)).collect();
    all_done(&one.client, &jobs);
    all_done(&two.client, &jobs);
    for running in [&one, &two] {
        let metrics = String::from_utf8(running.client.get("/metrics").body).unwrap();
        let line = metrics.lines().find(|line| line.contains("end=\"done\"")).unwrap();
        assert!(!line.ends_with(" 0"), "one server did nothing: {line}");
    }
    // What a tenant has is the same at both, and nobody else has it.
    let eve = two.other(&place, "eve");
    assert_eq!(eve.get(&format!("/v1/jobs/{}", jobs[0].0)).status, 404);
    assert_eq!(one.client.get("/v1/jobs").body, two.client.get("/v1/jobs").body);
    // A job that one server removes is stopped by the other one.
    one.client.program("p", "echo $$ > ../../running; sleep 60");
    let id = queue(&one.client, 99);
    let is_running = |running: &Running| running.data.path().join("running").exists();
    let begin = Instant::now();
    while !is_running(&one) && !is_running(&two) {
        assert!(begin.elapsed() < Duration::from_secs(30));
    }
    let (runs, other) = if is_running(&one) { (&one, &two) } else { (&two, &one) };
    assert_eq!(other.client.call("DELETE", &format!("/v1/jobs/{id}"), b"").status, 204);
    runs.wait_for_files(0);
}

#[test]
fn jobs_of_a_server_that_is_killed_are_computed_by_another() {
    let Some(place) = Place::shared() else { return };
    let folders: [TempDir; 2] = [private_folder(), private_folder()];
    let token = place.account(folders[0].path(), "ada");
    let [(mut one, first), (mut two, second)] =
        [0, 1].map(|at: usize| kill::start(&place, folders[at].path(), &token));
    first.fill(&format!("sleep 0.2; {COPY}"));
    let jobs: Vec<_> = (0..16).map(|number| (queue(&first, number), number)).collect();
    let runs = |folder: &Path| {
        let work = fs::read_dir(folder.join("work")).unwrap();
        work.filter(|file| file.as_ref().unwrap().file_name().to_str().unwrap().starts_with("job-")).count()
    };
    let begin = Instant::now();
    while runs(folders[0].path()) == 0 {
        assert!(begin.elapsed() < Duration::from_secs(30), "the first server computes nothing");
    }
    one.kill().unwrap();
    one.wait().unwrap();
    all_done(&second, &jobs);
    two.kill().unwrap();
    two.wait().unwrap();
}

/// Waits until a client is answered so.
fn wait_for_status(ask: impl Fn() -> u16, expected: u16) {
    let begin = Instant::now();
    while ask() != expected {
        assert!(begin.elapsed() < Duration::from_secs(60), "never {expected}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_database_that_goes_away_and_comes_back_loses_nothing() {
    let Some(postgres) = Postgres::get() else { return };
    let (gate, objects) = (Gate::before(postgres.port()), tempfile::tempdir().unwrap());
    let url = format!("file://{}", objects.path().display());
    let place = Place::at([postgres.url(gate.port(), &postgres.database()), url]);
    let running = Running::start(&place, |limits| limits.workers = 2);
    let client = &running.client;
    client.fill(&format!("sleep 1; {COPY}"));
    let jobs: Vec<_> = (0..4).map(|number| (queue(client, number), number)).collect();
    client.wait(&jobs[0].0, &["running"]);
    gate.set(false);
    let refused = client.submit("p");
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("10")), "{refused:?}");
    assert_eq!(client.call("PUT", "/v1/tables/x", &table(b"x")).status, 503);
    assert!(!String::from_utf8_lossy(&refused.body).contains("postgresql"), "{refused:?}");
    assert_eq!((client.get("/health").status, client.get("/ready").status), (200, 503));
    // Longer than a lease, and than a job takes.
    std::thread::sleep(Duration::from_secs(4));
    gate.set(true);
    wait_for_status(|| client.get("/v1/account").status, 200);
    all_done(client, &jobs);
    assert_eq!(client.call("PUT", "/v1/tables/x", &table(b"x")).status, 200);
}

/// A place with a storage that has the interface of S3, behind a gate.
fn behind_a_gate() -> Option<(Place, Gate)> {
    let (postgres, storage) = (Postgres::get()?, S3::get()?);
    let gate = Gate::before(storage.port());
    let objects = format!("http://127.0.0.1:{}/{}/state", gate.port(), storage.bucket());
    Some((Place::at([postgres.url(postgres.port(), &postgres.database()), objects]), gate))
}

#[test]
fn a_storage_that_goes_away_and_comes_back_loses_nothing() {
    let Some((place, gate)) = behind_a_gate() else { return };
    let running = Running::start(&place, |_| {});
    let client = &running.client;
    client.fill(&format!("sleep 1; {COPY}"));
    let mut jobs = vec![(queue(client, 0), 0)];
    client.wait(&jobs[0].0, &["running"]);
    // Another server, which has no file at hand, will wait for those of its job.
    let other = beside(&place, &client.token);
    gate.set(false);
    let refused = client.call("PUT", "/v1/tables/x", &table(b"x"));
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("10")), "{refused:?}");
    let refused = sunzi_service::Server::open(place.config(private_folder().path(), |_| {}));
    let words = refused.unwrap_err().to_string();
    assert!(
        words.contains("object storage http://127.0.0.1") && words.contains("cannot be used now"),
        "{words}"
    );
    jobs.extend((0..3).map(|_| {
        let asked = serde_json::json!({ "program": "p", "keys": "k", "table": "t0" }).to_string();
        let answer = other.client.call("POST", "/v1/jobs", asked.as_bytes());
        (answer.json()["id"].as_str().unwrap().to_owned(), 0)
    }));
    std::thread::sleep(Duration::from_secs(2));
    gate.set(true);
    all_done(&other.client, &jobs);
    all_done(client, &jobs);
    assert_eq!(client.call("PUT", "/v1/tables/x", &table(b"x")).status, 200);
    assert_eq!(client.call("DELETE", "/v1/tables/x", b"").status, 204);
}

#[test]
fn long_tables_pass_through_a_storage_in_parts() {
    let Some((place, _gate)) = behind_a_gate() else { return };
    let one = Running::start(&place, |_| {});
    one.client.fill(COPY);
    let long: Vec<u8> = table(&(0..40_000_000_u32).map(|at| (at % 251) as u8).collect::<Vec<_>>());
    assert_eq!(one.client.call("PUT", "/v1/tables/t", &long).status, 200);
    let id = one.client.queue("p");
    one.client.wait(&id, &["done"]);
    let token = one.client.token.clone();
    drop(one);
    // The other one has nothing at hand: it fetches the table for a job, and sends a result from the storage.
    let two = beside(&place, &token);
    let path = format!("/v1/jobs/{id}/result");
    assert!(two.client.get(&path).body == long);
    for from in [0, 20_000_000] {
        let range = format!("range: bytes={from}-{}\r\n", from + 9);
        let part = two.client.try_call("GET", &path, b"", &range).unwrap();
        assert_eq!((part.status, part.body.as_slice()), (206, &long[from..from + 10]));
    }
    let again = two.client.queue("p");
    two.client.wait(&again, &["done"]);
    assert!(two.client.get(&format!("/v1/jobs/{again}/result")).body == long);
}

#[test]
fn objects_that_were_changed_in_the_storage_are_refused() {
    let Some(place) = Place::shared() else { return };
    let one = Running::start(&place, |_| {});
    one.client.fill(COPY);
    let id = one.client.queue("p");
    one.client.wait(&id, &["done"]);
    for file in place.stored(one.data.path()) {
        let mut bytes = fs::read(&file).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&file, bytes).unwrap();
    }
    let two = beside(&place, &one.client.token);
    // The answer has begun when the whole is known to be wrong: it is cut.
    let result = two.client.get(&format!("/v1/jobs/{id}/result")).body;
    assert!(result.len() < table(b"rows").len(), "{result:?}");
    let token = one.client.token.clone();
    drop(one);
    let job = two.client.wait(&two.client.queue("p"), &["done", "failed"]);
    assert_eq!(job["state"], "failed", "{job}");
    // Whoever stores the objects again mends them.
    two.client.fill(COPY);
    let job = two.client.wait(&two.client.queue("p"), &["done", "failed"]);
    assert_eq!(job["state"], "done", "{job}");
    drop(two);
    assert_eq!(beside(&place, &token).client.get(&format!("/v1/jobs/{id}/result")).body, table(b"rows"));
}

#[test]
fn quotas_hold_over_all_servers() {
    let Some(place) = Place::shared() else { return };
    let data = private_folder();
    let token = place.account(data.path(), "ada");
    let servers: Vec<_> = (0..2)
        .map(|_| {
            Running::again(&place, private_folder(), &token, |limits| {
                (limits.account.bytes, limits.uploads) = (10 * 8192, 16);
            })
        })
        .collect();
    let threads: Vec<_> = (0..16_u8)
        .map(|number| {
            let client = servers[usize::from(number) % 2].client.clone();
            let put =
                move || client.call("PUT", &format!("/v1/tables/t{number}"), &table(&[number; 8192 - 64]));
            std::thread::spawn(move || put().status)
        })
        .collect();
    let statuses: Vec<u16> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let stored = statuses.iter().filter(|status| **status == 200).count();
    let account = servers[0].client.get("/v1/account").json();
    let bytes = account["bytes"].as_u64().unwrap();
    assert!(bytes <= 10 * 8192 && stored >= 9, "{statuses:?} {account}");
    assert_eq!(place.stored(data.path()).len(), stored);
}

//! Jobs: what becomes of them, also of those that crash, hang, take too much, or are interrupted.

use std::time::{Duration, Instant};

use crate::common::{COPY, Place, Running, over_both, table};

fn jobs_end_with_a_result_or_a_plain_message(place: &Place) {
    let running = Running::start(place, |limits| {
        limits.job_time = Duration::from_secs(3);
        limits.job_memory = 64 << 20;
    });
    let client = &running.client;
    client.fill(COPY);
    for (name, script) in [
        ("says", "echo '{\"error\":\"there is no column z\"}'; exit 2"),
        ("crashes", "kill -SEGV $$"),
        ("hangs", "sleep 120"),
        ("nothing", "exit 0"),
        ("lies", "echo '{\"error\":null}'"),
        ("noise", "head -c 3000000 /dev/zero; exit 3"),
    ] {
        client.program(name, script);
    }
    let begin = Instant::now();
    for (name, words) in [
        ("says", "there is no column z"),
        ("crashes", "by a signal"),
        ("hangs", "took longer than the 3 s"),
        ("nothing", "exit code 0"),
        ("lies", "exit code 0"),
        ("noise", "exit code 3"),
    ] {
        let job = client.wait(&client.queue(name), &["done", "failed"]);
        let error = job["error"].as_str().unwrap();
        assert!(job["state"] == "failed" && error.contains(words), "{name}: {job}");
        assert!(!error.contains(running.data.path().to_str().unwrap()), "{error}");
        let result = client.get(&format!("/v1/jobs/{}/result", job["id"].as_str().unwrap()));
        assert_eq!((result.status, result.json()["got"].as_str()), (409, Some(error)));
    }
    assert!(begin.elapsed() < Duration::from_secs(60));
    // The next one runs.
    let id = client.queue("p");
    assert_eq!(client.wait(&id, &["done", "failed"])["state"], "done");
    running.wait_for_files(0);
    let metrics = || String::from_utf8(client.get("/metrics").body).unwrap();
    let (begin, expected) = (Instant::now(), ["end=\"done\"} 1\n", "end=\"failed\"} 6\n"]);
    while !expected.iter().all(|line| metrics().contains(line)) {
        assert!(begin.elapsed() < Duration::from_secs(30), "{}", metrics());
    }
}

fn removed_jobs_stop_and_leave_nothing(place: &Place) {
    let running = Running::start(place, |_| {});
    let client = &running.client;
    client.fill("echo $$ > ../../pid; sleep 20");
    let (first, second) = (client.queue("p"), client.queue("p"));
    client.wait(&first, &["running"]);
    assert_eq!(client.get(&format!("/v1/jobs/{first}/result")).status, 409);
    assert_eq!(client.call("DELETE", &format!("/v1/jobs/{second}"), b"").status, 204);
    assert_eq!(client.call("DELETE", &format!("/v1/jobs/{first}"), b"").status, 204);
    client.program("p", COPY);
    let third = client.queue("p");
    assert_eq!(client.wait(&third, &["done", "failed"])["state"], "done");
    let jobs = client.get("/v1/jobs").json();
    assert_eq!(jobs["jobs"].as_array().unwrap().len(), 1);
    assert_eq!(client.call("DELETE", &format!("/v1/jobs/{third}"), b"").status, 204);
    assert_eq!(client.get(&format!("/v1/jobs/{third}/result")).status, 404);
}

fn a_server_that_is_stopped_puts_its_jobs_back(place: &Place) {
    let running = Running::start(place, |limits| limits.grace = Duration::from_millis(100));
    let client = running.client.clone();
    client.fill(&format!("test -e ../../go || sleep 20; {COPY}"));
    let (first, second) = (client.queue("p"), client.queue("p"));
    client.wait(&first, &["running"]);
    let token = client.token.clone();
    let data = running.stop();
    std::fs::write(data.path().join("go"), "").unwrap();
    let running = Running::again(place, data, &token, |_| {});
    for id in [first, second] {
        let job = running.client.wait(&id, &["done", "failed"]);
        assert_eq!(job["state"], "done", "{job}");
        let result = || running.client.get(&format!("/v1/jobs/{id}/result")).body;
        assert_eq!((result(), result()), (table(b"rows"), table(b"rows")));
    }
}

/// Of two accounts the one that has fewer jobs running is next, whatever the other one queued before.
fn accounts_take_turns(place: &Place) {
    let running = Running::start(place, |limits| limits.workers = 2);
    let (ada, eve) = (&running.client, running.other(place, "eve"));
    // Each job of Ada ends when it finds a token, which it takes.
    ada.fill(&format!("until mv ../../token token 2>/dev/null; do sleep 0.01; done; {COPY}"));
    eve.fill(COPY);
    let many: Vec<String> = (0..6).map(|_| ada.queue("p")).collect();
    many.iter().take(2).for_each(|id| drop(ada.wait(id, &["running"])));
    let hers = eve.queue("p");
    let token = || std::fs::write(running.data.path().join("token"), "").unwrap();
    token();
    eve.wait(&hers, &["done"]);
    let done = || many.iter().filter(|id| ada.job(id)["state"] == "done").count();
    assert_eq!(done(), 1, "jobs of the other account were first");
    let begin = Instant::now();
    while done() < many.len() {
        token();
        assert!(begin.elapsed() < Duration::from_secs(60), "{} jobs are done", done());
    }
}

fn a_request_that_is_sent_again_is_the_same_job(place: &Place) {
    let running = Running::start(place, |limits| limits.account.unfinished = 1);
    let (ada, eve) = (&running.client, running.other(place, "eve"));
    ada.fill(COPY);
    eve.fill(COPY);
    let asked = |client: &crate::common::Client, name: &str| {
        let asked = serde_json::json!({ "program": "p", "keys": "k", "table": "t", "request": name });
        client.call("POST", "/v1/jobs", asked.to_string().as_bytes())
    };
    let first = asked(ada, "one");
    assert_eq!(first.status, 202);
    let id = first.json()["id"].clone();
    assert_eq!(asked(ada, "one").json()["id"], id, "also where the queue is full");
    ada.wait(id.as_str().unwrap(), &["done"]);
    let again = asked(ada, "one").json();
    assert_eq!((&again["id"], again["state"].as_str()), (&id, Some("done")));
    // Another name, and the same name of another account, are other jobs.
    for (client, name) in [(ada, "two"), (&eve, "one")] {
        let other = asked(client, name).json()["id"].clone();
        assert_ne!(other, id);
        client.wait(other.as_str().unwrap(), &["done"]);
    }
    assert_eq!(asked(ada, "../x").status, 400);
}

#[test]
fn a_folder_that_others_can_reach_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(data.path(), open).unwrap();
    let error =
        sunzi_service::Server::open(crate::common::config(data.path(), |_| {})).unwrap_err().to_string();
    assert!(error.contains("mode 0755") && error.contains("chmod 700"), "{error}");
}

#[test]
fn one_process_at_a_time_serves_a_folder() {
    let running = Running::start(&Place::folder(), |_| {});
    let config = crate::common::config(running.data.path(), |_| {});
    let error = sunzi_service::Server::open(config).unwrap_err().to_string();
    assert!(error.contains("another process serves this folder"), "{error}");
}

over_both!(
    jobs_end_with_a_result_or_a_plain_message,
    removed_jobs_stop_and_leave_nothing,
    a_server_that_is_stopped_puts_its_jobs_back,
    accounts_take_turns,
    a_request_that_is_sent_again_is_the_same_job,
);

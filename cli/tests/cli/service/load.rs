//! Many clients of several accounts at once: no job is lost or wrong, and the server's memory stays as it is.

use std::io::{Read, Write};

use serde_json::Value;

use super::*;

/// Time between two questions of a client for its job.
const PAUSE: Duration = Duration::from_millis(250);

/// Connections of one account.
#[derive(Clone)]
struct Client {
    address: String,
    token: String,
}

/// Status code, seconds after which to ask again, and body.
type Answer = (u16, Option<u64>, Vec<u8>);

impl Client {
    fn call(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {}\r\ncontent-length: {}\r\n\r\n",
            self.token,
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        let head = String::from_utf8(answer[..end].to_vec()).unwrap().to_lowercase();
        let hint = head.lines().find_map(|line| line.strip_prefix("retry-after: ")?.parse().ok());
        (head[9..12].parse().unwrap(), hint, answer[end..].to_vec())
    }

    fn json(&self, path: &str) -> Value {
        let (status, _, body) = self.call("GET", path, b"");
        assert_eq!(status, 200, "{path}");
        serde_json::from_slice(&body).unwrap()
    }
}

/// Jobs and times that a client of the load saw.
#[derive(Default)]
struct Seen {
    jobs: usize,
    failed: usize,
    busy: usize,
    /// Times from the acceptance of a job to the first look that finds it begun.
    waits: Vec<Duration>,
    /// Times of all answers but uploads.
    answers: Vec<Duration>,
}

/// One of the clients: its account, its number, and the results that its programs should have.
struct Worker<'a> {
    client: Client,
    number: usize,
    results: [(&'a str, Option<&'a [u8]>); 3],
    seen: Seen,
}

impl Worker<'_> {
    fn timed(&mut self, method: &str, path: &str, body: &[u8]) -> Answer {
        let begin = Instant::now();
        let answer = self.client.call(method, path, body);
        self.seen.answers.push(begin.elapsed());
        answer
    }

    /// Whether the server has no room now: it says when to ask again, and the client pauses.
    fn is_busy(&mut self, status: u16, hint: Option<u64>) -> bool {
        if status != 429 {
            return false;
        }
        self.seen.busy += 1;
        assert!(hint.is_some_and(|seconds| seconds > 0), "a server without room says when to ask again");
        std::thread::sleep(PAUSE);
        true
    }

    /// Asks for a job, waits for it, and looks at its result.
    fn job(&mut self, program: &str, expected: Option<&[u8]>) {
        let asked = format!("{{\"program\":\"{program}\",\"keys\":\"k\",\"tables\":[\"t\"]}}");
        let (status, hint, body) = self.timed("POST", "/v1/jobs", asked.as_bytes());
        if self.is_busy(status, hint) {
            return;
        }
        assert_eq!(status, 202, "{}", String::from_utf8_lossy(&body));
        let (accepted, mut begun) = (Instant::now(), None);
        let id = serde_json::from_slice::<Value>(&body).unwrap()["id"].as_str().unwrap().to_owned();
        let path = format!("/v1/jobs/{id}");
        let job = loop {
            let (status, _, body) = self.timed("GET", &path, b"");
            assert_eq!(status, 200, "a job that was accepted is there");
            let job: Value = serde_json::from_slice(&body).unwrap();
            let state = job["state"].as_str().unwrap().to_owned();
            if state != "queued" {
                begun.get_or_insert_with(|| accepted.elapsed());
            }
            if state == "done" || state == "failed" {
                break job;
            }
            std::thread::sleep(PAUSE);
        };
        self.seen.waits.extend(begun);
        self.seen.jobs += 1;
        match expected {
            Some(expected) => {
                assert_eq!(job["state"], "done", "{job}");
                let (status, _, result) = self.timed("GET", &format!("{path}/result"), b"");
                assert!(status == 200 && result == expected, "a result has the bytes of sunzi eval");
            }
            None => {
                self.seen.failed += 1;
                assert!(job["error"].as_str().unwrap().contains("cannot be computed"), "{job}");
            }
        }
        assert_eq!(self.timed("DELETE", &path, b"").0, 204);
    }

    /// Does the next thing of a mix: jobs, uploads and questions.
    fn step(&mut self, turn: usize, table: &[u8]) {
        match (turn + self.number) % 8 {
            step @ 0..3 => {
                let (program, expected) = self.results[step];
                self.job(program, expected);
            }
            3 | 4 => {
                let (program, expected) = self.results[0];
                self.job(program, expected);
            }
            5 => {
                let path = format!("/v1/tables/own-{}", self.number);
                let (status, hint, _) = self.client.call("PUT", &path, table);
                assert!(self.is_busy(status, hint) || status == 200, "{status}");
            }
            6 => assert_eq!(self.timed("GET", "/v1/tables", b"").0, 200),
            _ => assert_eq!(self.timed("GET", "/v1/account", b"").0, 200),
        }
    }
}

/// Memory of a process, in KiB.
fn memory(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn at(times: &mut [Duration], part: f64) -> Duration {
    times.sort();
    times[((times.len() - 1) as f64 * part) as usize]
}

/// Lets so many clients of so many accounts work for a time; the first tenth of it warms the server up.
fn load(name: &str, clients: usize, accounts: usize, time: Duration) {
    let folder = folder(name, PROGRAM);
    folder.fine_of(&["eval", "sum(x)", "--keys", "keys/eval", "t.sz", "-o", "sum.sz"]);
    let server = Server::start(&folder, "serve --data server --workers 2");
    let tokens: Vec<String> = (0..accounts)
        .map(|number| folder.fine(&format!("account add a{number} --data server")).trim().to_owned())
        .collect();
    for token in &tokens {
        let holder = send(&folder, &server, token);
        for (program, text) in [("q", "sum(x)"), ("bad", "sum(x^9)")] {
            assert_eq!(holder.run(&["put", "program", program, text]).status.code(), Some(0));
        }
    }
    let [own, sum, table] = ["own.sz", "sum.sz", "t.sz"].map(|file| fs::read(folder.path(file)).unwrap());
    let address = server.address.strip_prefix("http://").unwrap();
    let end = Instant::now() + time;
    let (process, warm) = (server.process.id(), Instant::now() + time / 10);
    let (seen, before) = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|number| {
                let client = Client { address: address.to_owned(), token: tokens[number % accounts].clone() };
                let results = [("p", Some(&own[..])), ("q", Some(&sum[..])), ("bad", None)];
                let mut worker = Worker { client, number, results, seen: Seen::default() };
                let table = &table;
                scope.spawn(move || {
                    (0..).take_while(|_| Instant::now() < end).for_each(|turn| worker.step(turn, table));
                    worker.seen
                })
            })
            .collect();
        std::thread::sleep(warm.saturating_duration_since(Instant::now()));
        let before = memory(process);
        (threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>(), before)
    });
    judge(seen, (before, memory(process)), &Client { address: address.to_owned(), token: tokens[0].clone() });
    assert_eq!(server.stop(), Some(0));
}

/// Prints what the clients saw, and compares it with what the server counted.
fn judge(seen: Vec<Seen>, (before, after): (u64, u64), client: &Client) {
    let mut all = Seen::default();
    for one in seen {
        all.jobs += one.jobs;
        all.failed += one.failed;
        all.busy += one.busy;
        all.waits.extend(one.waits);
        all.answers.extend(one.answers);
    }
    let (_, _, metrics) = client.call("GET", "/metrics", b"");
    let metrics = String::from_utf8(metrics).unwrap();
    let count = |name: &str| -> usize {
        metrics.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap()
    };
    let Seen { jobs, failed, busy, mut waits, mut answers } = all;
    println!(
        "{jobs} jobs, {failed} of them failed as they should, {busy} times no room; begun after {:?} (half), {:?} (99 of 100), {:?} (all)",
        at(&mut waits, 0.5),
        at(&mut waits, 0.99),
        at(&mut waits, 1.0)
    );
    println!(
        "{} answers, half within {:?}, 99 of 100 within {:?}, all within {:?}; memory {before} KiB, then {after} KiB",
        answers.len(),
        at(&mut answers, 0.5),
        at(&mut answers, 0.99),
        at(&mut answers, 1.0)
    );
    assert_eq!(count("sunzi_jobs_total{end=\"done\"}") + failed, jobs);
    assert_eq!(count("sunzi_jobs_total{end=\"failed\"}"), failed);
    assert_eq!(count("sunzi_job_wait_seconds_count"), jobs);
    for nothing in ["sunzi_jobs_queued", "sunzi_jobs_running", "sunzi_http_requests_total{class=\"5xx\"}"] {
        assert_eq!(count(nothing), 0, "{nothing}");
    }
    assert!(jobs > failed && failed > 0);
    assert!(after < before + 16 * 1024, "memory grew from {before} to {after} KiB");
    assert_eq!(client.json("/v1/account")["jobs"], 0);
}

#[test]
fn a_few_clients_lose_no_job() {
    load("service-load-few", 8, 2, Duration::from_secs(4));
}

#[test]
#[ignore = "long: 200 clients for ten minutes"]
fn two_hundred_clients_lose_no_job_in_ten_minutes() {
    load("service-load", 200, 20, Duration::from_secs(600));
}

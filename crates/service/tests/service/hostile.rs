//! Requests of clients that mean harm: random, changed, cut and slow ones.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sunzi_service::ROUTES;

use crate::common::{COPY, Client, Numbers, Place, Running, table};

/// Panics in this process so far.
static PANICS: AtomicUsize = AtomicUsize::new(0);

const METHODS: [&str; 9] = ["GET", "PUT", "POST", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "\u{1}X"];
const NAMES: [&str; 12] =
    ["t", "k", "p", "..", "%2e%2e", "%00", "a/b", "%ff", "'; DROP TABLE jobs; --", "x\u{e4}", "*", ""];
const HEADERS: [&str; 12] = [
    "range: bytes=0-18446744073709551615\r\n",
    "range: bytes=-\r\n",
    "expect: 100-continue\r\n",
    "content-length: 18446744073709551615\r\n",
    "content-length: -1\r\n",
    "content-length: 3\r\ncontent-length: 5\r\n",
    "transfer-encoding: chunked\r\n",
    "transfer-encoding: chunked\r\ncontent-length: 4\r\n",
    "upgrade: h2c\r\nconnection: upgrade\r\n",
    "if-none-match: *\r\n",
    "x: \u{0}\r\n",
    "host: a\r\nhost: b\r\n",
];
const BODIES: [&[u8]; 8] = [
    b"",
    b"{",
    b"{\"program\":\"p\",\"keys\":\"k\",\"table\":\"t\"}",
    b"{\"program\":\"p\",\"keys\":\"k\",\"tables\":[]}",
    b"{\"program\":1}",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"ffffffffffffffff\r\n",
    b"5\r\nhello\r\n0\r\n\r\n",
];

/// One request, made of parts and changed at random.
fn request(client: &Client, numbers: &mut Numbers, id: &str) -> Vec<u8> {
    let route = numbers.of(&ROUTES);
    let name = numbers.of(&NAMES);
    let id = if numbers.below(2) == 0 { id } else { name };
    let mut path =
        route.path.replace("{name}", name).replace("{file}", numbers.of(&NAMES)).replace("{id}", id);
    if numbers.below(8) == 0 {
        path.push_str(&"/..".repeat(numbers.below(3000)));
    }
    let body = if numbers.below(4) == 0 { table(&[1; 300]) } else { numbers.of(&BODIES).to_vec() };
    let mut head = client.head(numbers.of(&METHODS), &path, body.len(), numbers.of(&HEADERS));
    if numbers.below(4) == 0 {
        head = head.replace(&client.token, numbers.of(&NAMES));
    }
    if numbers.below(16) == 0 {
        head = head.replace("host: x\r\n", &"a: b\r\n".repeat(numbers.below(3000)));
    }
    let mut bytes = [head.as_bytes(), &body].concat();
    for _ in 0..[0, 0, 1, 3, 40][numbers.below(5)] {
        let at = numbers.below(bytes.len());
        bytes[at] = u8::try_from(numbers.below(256)).unwrap();
    }
    if numbers.below(4) == 0 {
        bytes.truncate(numbers.below(bytes.len()));
    }
    bytes
}

/// Sends bytes and looks at the first bytes of an answer, if one comes soon.
fn send(client: &Client, numbers: &mut Numbers, bytes: &[u8]) {
    let mut stream = client.connect();
    stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    drop(stream.write_all(bytes));
    if numbers.below(8) == 0 {
        return;
    }
    drop(stream.shutdown(Shutdown::Write));
    let mut answer = [0; 12];
    if stream.read_exact(&mut answer).is_ok() {
        assert!(answer.starts_with(b"HTTP/1."), "{}", String::from_utf8_lossy(&answer));
        assert!(!answer.ends_with(b"500"), "{}", String::from_utf8_lossy(bytes));
    }
}

/// Memory of this process in KiB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn attack(requests: usize) {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        usual(info);
    }));
    let running = Running::start(&Place::folder(), |limits| {
        (limits.head, limits.idle) = (Duration::from_millis(400), Duration::from_millis(400));
        limits.account.jobs = 50;
        limits.account.bytes = 4 << 20;
    });
    let client = running.client.clone();
    client.fill(COPY);
    let id = client.queue("p");
    client.wait(&id, &["done"]);
    let (panics, before, begin) = (PANICS.load(Ordering::Relaxed), memory(), Instant::now());
    let threads: Vec<_> = (0..4)
        .map(|seed| {
            let (client, id) = (client.clone(), id.clone());
            std::thread::spawn(move || {
                let mut numbers = Numbers(seed);
                for _ in 0..requests / 4 {
                    let bytes = request(&client, &mut numbers, &id);
                    send(&client, &mut numbers, &bytes);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let more = memory().saturating_sub(before);
    println!("{requests} requests in {:.1} s, {more} KiB more memory", begin.elapsed().as_secs_f64());
    assert_eq!(PANICS.load(Ordering::Relaxed), panics, "the server panicked");
    assert!(more < 64 << 10, "{more} KiB of memory were taken and not returned");
    assert_eq!(client.get("/ready").status, 200);
    let result = client.get(&format!("/v1/jobs/{id}/result"));
    // Requests that are not changed may remove the job.
    assert!(result.status == 404 || result.body == table(b"rows"));
    client.fill(COPY);
    for job in client.get("/v1/jobs").json()["jobs"].as_array().unwrap() {
        client.call("DELETE", &format!("/v1/jobs/{}", job["id"].as_str().unwrap()), b"");
    }
    assert_eq!(client.wait(&client.queue("p"), &["done", "failed"])["state"], "done");
}

#[test]
fn thousands_of_hostile_requests_harm_nothing() {
    attack(3000);
}

#[test]
#[ignore = "long: a million requests"]
fn a_million_hostile_requests_harm_nothing() {
    attack(1_000_000);
}

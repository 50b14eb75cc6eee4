//! Full queues and quotas, long bodies, and clients that are slow.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::common::{Answer, COPY, Client, Place, Running, over_both, table};

fn full_queues_and_quotas_are_told_when_to_ask_again(place: &Place) {
    let running = Running::start(place, |limits| {
        limits.account.unfinished = 2;
        limits.account.jobs = 4;
        limits.account.bytes = 1 << 20;
    });
    let client = &running.client;
    client.fill(&format!("sleep 0.3; {COPY}"));
    let jobs = [client.queue("p"), client.queue("p")];
    let full = client.submit("p");
    assert_eq!((full.status, full.header("retry-after")), (429, Some("10")), "{full:?}");
    assert!(full.json()["error"].as_str().unwrap().contains("queue"));
    jobs.iter().for_each(|id| drop(client.wait(id, &["done"])));
    for _ in 0..2 {
        client.wait(&client.queue("p"), &["done"]);
    }
    let many = client.submit("p");
    assert_eq!((many.status, many.json()["error"].as_str()), (429, Some("this account has too many jobs")));
    assert_eq!(client.call("DELETE", &format!("/v1/jobs/{}", jobs[0]), b"").status, 204);
    client.wait(&client.queue("p"), &["done"]);
    let large = client.call("PUT", "/v1/tables/large", &table(&vec![7; 1 << 20]));
    assert_eq!((large.status, large.header("retry-after")), (429, Some("60")), "{large:?}");
    assert_eq!(client.call("PUT", "/v1/tables/small", &table(&vec![7; 1 << 19])).status, 200);
    assert_eq!(client.call("PUT", "/v1/tables/more", &table(&vec![8; 1 << 19])).status, 429);
    // Other accounts have quotas of their own.
    assert_eq!(
        running.other(place, "eve").call("PUT", "/v1/tables/more", &table(&vec![8; 1 << 19])).status,
        200
    );
}

fn long_bodies_are_refused(place: &Place) {
    let running = Running::start(place, |limits| (limits.upload, limits.program) = (1000, 100));
    let client = &running.client;
    let status = |path: &str, len: usize| client.call("PUT", path, &table(&vec![0; len])).status;
    assert_eq!((status("/v1/tables/t", 900), status("/v1/tables/t", 2000)), (200, 413));
    assert_eq!(client.call("PUT", "/v1/programs/p", &[b'x'; 101]).status, 413);
    assert_eq!(client.call("POST", "/v1/jobs", &[b' '; 1 << 17]).status, 413);
    // Without a length the bytes that come are counted.
    let mut stream = client.connect();
    let head =
        client.head("PUT", "/v1/tables/t", 0, "").replace("content-length: 0", "transfer-encoding: chunked");
    stream.write_all(head.as_bytes()).unwrap();
    let chunk = [b"7d0\r\n".as_slice(), &table(&[0; 2000 - 64]), b"\r\n0\r\n\r\n"].concat();
    stream.write_all(&chunk).unwrap();
    assert_eq!(Answer::read(stream).unwrap().status, 413);
}

fn clients_that_read_after_they_wrote_learn_why_they_were_refused(place: &Place) {
    let running = Running::start(place, |limits| limits.upload = 1000);
    let client = &running.client;
    let stranger = Client { token: "nobody".to_owned(), ..client.clone() };
    let long = table(&vec![7; 20_000_000]);
    for (sender, told, expected) in [(client, true, 413), (client, false, 413), (&stranger, true, 401)] {
        let mut stream = sender.connect();
        let head = sender.head("PUT", "/v1/tables/t", long.len(), "");
        let length = format!("content-length: {}", long.len());
        let head = if told { head } else { head.replace(&length, "transfer-encoding: chunked") };
        stream.write_all(head.as_bytes()).unwrap();
        if !told {
            stream.write_all(format!("{:x}\r\n", long.len()).as_bytes()).unwrap();
        }
        stream.write_all(&long).unwrap();
        if !told {
            stream.write_all(b"\r\n0\r\n\r\n").unwrap();
        }
        assert_eq!(Answer::read(stream).unwrap().status, expected);
    }
    // Who waits to be told to send the body is told nothing but the answer.
    let mut stream = client.connect();
    let head = client.head("PUT", "/v1/tables/t", 2000, "expect: 100-continue\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    assert_eq!(Answer::read(stream).unwrap().status, 413);
    // What is sent without an end is not read without an end.
    let mut stream = client.connect();
    stream.write_all(client.head("PUT", "/v1/tables/t", usize::MAX >> 1, "").as_bytes()).unwrap();
    let (begin, block) = (Instant::now(), vec![0; 1 << 20]);
    while stream.write_all(&block).is_ok() {
        assert!(begin.elapsed() < Duration::from_secs(60), "the server takes all that comes");
    }
}

fn slow_clients_lose_their_connections(place: &Place) {
    let running = Running::start(place, |limits| {
        (limits.head, limits.idle) = (Duration::from_secs(1), Duration::from_secs(1));
        limits.connections = 4;
    });
    let client = &running.client;
    // As many as there are places begin a head and send nothing more.
    let begin = Instant::now();
    let mut slow: Vec<_> = (0..4).map(|_| client.connect()).collect();
    slow.iter_mut().for_each(|stream| stream.write_all(b"GET /health HTT").unwrap());
    assert_eq!(client.get("/health").status, 200, "their places are free again");
    assert!(begin.elapsed() < Duration::from_secs(30));
    drop(slow);
    // So are those of clients that ask for nothing more, or never for anything.
    let mut idle = [client.connect(), client.connect()];
    idle[0].write_all(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    for stream in idle {
        let begin = Instant::now();
        Answer::read(stream);
        assert!(begin.elapsed() < Duration::from_secs(30), "an idle connection stays open");
    }
    let mut stream = client.connect();
    stream.write_all(client.head("PUT", "/v1/tables/t", 1000, "").as_bytes()).unwrap();
    stream.write_all(&table(b"")).unwrap();
    let answer = Answer::read(stream).unwrap();
    assert_eq!((answer.status, answer.json()["error"].as_str()), (408, Some("the body came too slowly")));
    running.wait_for_files(0);
}

fn uploads_of_one_account_have_a_limit(place: &Place) {
    let running = Running::start(place, |limits| limits.uploads = 2);
    let client = &running.client;
    let begin = || {
        let mut stream = client.connect();
        stream.write_all(client.head("PUT", "/v1/tables/t", 1000, "").as_bytes()).unwrap();
        stream.write_all(&table(b"")).unwrap();
        stream
    };
    let open = [begin(), begin()];
    running.wait_for_files(2);
    let full = client.call("PUT", "/v1/tables/u", &table(b""));
    assert_eq!((full.status, full.header("retry-after")), (429, Some("5")), "{full:?}");
    drop(open);
    running.wait_for_files(0);
    // The place is free a moment after the file is gone.
    let status = || client.call("PUT", "/v1/tables/u", &table(b"")).status;
    let begin = Instant::now();
    while status() != 200 {
        assert!(begin.elapsed() < Duration::from_secs(60), "the places of uploads that ended stay taken");
    }
}

over_both!(
    full_queues_and_quotas_are_told_when_to_ask_again,
    long_bodies_are_refused,
    clients_that_read_after_they_wrote_learn_why_they_were_refused,
    slow_clients_lose_their_connections,
    uploads_of_one_account_have_a_limit,
);

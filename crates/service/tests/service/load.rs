//! Times of answers while many clients of several accounts work.

use std::time::{Duration, Instant};

use crate::common::{COPY, Place, Running, table};

#[test]
#[ignore = "long: times under load"]
fn times_of_answers_under_load() {
    load(&Place::folder());
}

#[test]
#[ignore = "long: times under load, PostgreSQL"]
fn times_of_answers_over_a_database_under_load() {
    if let Some(place) = Place::shared() {
        load(&place);
    }
}

fn load(place: &Place) {
    let running = Running::start(place, |limits| {
        limits.workers = 2;
        limits.uploads = 16;
        limits.account.unfinished = 50;
        limits.account.jobs = 1_000_000;
    });
    let clients: Vec<_> = (0..8).map(|number| running.other(place, &format!("account-{number}"))).collect();
    clients.iter().for_each(|client| client.fill(COPY));
    let end = Instant::now() + Duration::from_secs(10);
    let threads: Vec<_> = (0..32)
        .map(|number| {
            let client = clients[number % clients.len()].clone();
            std::thread::spawn(move || {
                let (mut times, mut busy) = (Vec::new(), 0);
                while Instant::now() < end {
                    for step in 0..10 {
                        let begin = Instant::now();
                        let status = match step {
                            0 => client.submit("p").status,
                            1 => client.call("PUT", "/v1/tables/t", &table(&[number as u8; 10_000])).status,
                            2..6 => client.get("/v1/account").status,
                            _ => client.get("/v1/tables").status,
                        };
                        busy += usize::from(status == 429);
                        assert!([200, 202, 429].contains(&status), "{status}");
                        times.push(begin.elapsed());
                    }
                }
                (times, busy)
            })
        })
        .collect();
    let all: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let busy: usize = all.iter().map(|(_, busy)| busy).sum();
    let mut times: Vec<Duration> = all.into_iter().flat_map(|(times, _)| times).collect();
    times.sort();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    println!(
        "{} answers a second, half within {:?}, 99 of 100 within {:?}, all within {:?}; {busy} full queues",
        times.len() / 10,
        at(0.5),
        at(0.99),
        at(1.0)
    );
    let metrics = String::from_utf8(running.client.get("/metrics").body).unwrap();
    println!(
        "{}",
        metrics.lines().filter(|line| line.contains("_jobs_total{")).collect::<Vec<_>>().join("\n")
    );
    assert!(at(0.99) < Duration::from_secs(2));
}

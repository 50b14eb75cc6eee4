//! A server that is killed at random moments: every job that it accepted ends, and every result stays as it was.

use std::collections::BTreeMap;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use sunzi_service::{Server, Stop};

use crate::common::{COPY, Client, Numbers, Place, over_both, private_folder, table};

/// Names the folder of a server in the process that is killed.
const FOLDER: &str = "SUNZI_TEST_SERVER";
/// Names its database and its object storage, if it has them.
const ELSEWHERE: [&str; 2] = ["SUNZI_TEST_DATABASE", "SUNZI_TEST_OBJECTS"];

/// Serves a folder until it is killed, in a process of its own; does nothing in the process of the tests.
#[test]
fn server_of_another_process() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    // After a million connections of another test, no port is free for a minute.
    let bind = |_| {
        TcpListener::bind("127.0.0.1:0").inspect_err(|_| std::thread::sleep(Duration::from_millis(100))).ok()
    };
    let listener = (0..800).find_map(bind).unwrap();
    let [database, objects] = ELSEWHERE.map(|name| std::env::var(name).ok());
    let place = database
        .zip(objects)
        .map_or_else(Place::folder, |(database, objects)| Place::at([database, objects]));
    let server = Server::open(place.config(Path::new(&folder), |limits| limits.workers = 2)).unwrap();
    let port = Path::new(&folder).join("port.new");
    fs::write(&port, listener.local_addr().unwrap().to_string()).unwrap();
    fs::rename(&port, port.with_file_name("port")).unwrap();
    server.run(listener, None, &Stop::new()).unwrap();
}

/// Starts a server in a process of its own, and returns the process and a client once it listens.
pub(crate) fn start(place: &Place, folder: &Path, token: &str) -> (Child, Client) {
    drop(fs::remove_file(folder.join("port")));
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "--nocapture", "kill::server_of_another_process"]).env(FOLDER, folder);
    command.envs(ELSEWHERE.into_iter().zip(place.urls.iter().flatten()));
    let log = folder.join("log");
    let said = fs::File::create(&log).unwrap();
    let mut child = command.stdout(said.try_clone().unwrap()).stderr(said).spawn().unwrap();
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(90) {
        if let Ok(port) = fs::read_to_string(folder.join("port")) {
            let address: SocketAddr = port.parse().unwrap();
            return (child, Client { address, token: token.to_owned() });
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    panic!("the server does not start: {}", fs::read_to_string(log).unwrap());
}

/// Kills a server so many times, and checks its jobs after each and at the end.
fn kill(place: &Place, times: usize) {
    let data = private_folder();
    let token = place.account(data.path(), "ada");
    let mut numbers = Numbers(7);
    let mut accepted: Vec<(String, usize)> = Vec::new();
    let mut results: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let (mut child, mut client) = start(place, data.path(), &token);
    client.fill(&format!("sleep 0.02; {COPY}"));
    // On a busy machine kills come too early for most jobs: then there are more of them, each later.
    for round in 0.. {
        if round >= times && accepted.len() >= times / 2 {
            break;
        }
        assert!(round < 20 * times, "{} jobs accepted", accepted.len());
        let end = Instant::now() + Duration::from_millis(numbers.next() % 80 * (1 + round / times) as u64);
        // The client goes on until the server is gone; what was not answered was not accepted.
        let working = client.clone();
        let begin = accepted.len();
        let clients = std::thread::spawn(move || {
            let mut own = Vec::new();
            for number in begin..begin + 6 {
                let rows = table(number.to_string().as_bytes());
                let stored = working.try_call("PUT", "/v1/tables/t", &rows, "");
                if stored.is_none_or(|answer| answer.status != 200) {
                    break;
                }
                let asked = serde_json::json!({ "program": "p", "keys": "k", "tables": ["t"] }).to_string();
                match working.try_call("POST", "/v1/jobs", asked.as_bytes(), "") {
                    Some(answer) if answer.status == 202 && !answer.body.is_empty() => {
                        own.push((answer.json()["id"].as_str().unwrap().to_owned(), number));
                    }
                    _ => break,
                }
            }
            own
        });
        std::thread::sleep(end.saturating_duration_since(Instant::now()));
        child.kill().unwrap();
        child.wait().unwrap();
        accepted.extend(clients.join().unwrap());
        (child, client) = start(place, data.path(), &token);
        for (id, number) in accepted.iter().rev().take(20) {
            let job = client.job(id);
            let state =
                job["state"].as_str().unwrap_or_else(|| panic!("job {id} of table {number} is lost: {job}"));
            assert!(["queued", "running", "done"].contains(&state), "{job}");
            if state == "done" {
                let bytes = client.get(&format!("/v1/jobs/{id}/result")).body;
                let before = results.entry(id.clone()).or_insert_with(|| bytes.clone());
                assert_eq!(*before, bytes, "a result is another one after a restart");
            }
        }
    }
    for (id, number) in &accepted {
        assert_eq!(client.wait(id, &["done", "failed"])["state"], "done");
        let bytes = client.get(&format!("/v1/jobs/{id}/result")).body;
        assert_eq!(bytes, table(number.to_string().as_bytes()));
        assert!(results.get(id).is_none_or(|before| *before == bytes));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    println!("{times} kills, {} jobs accepted, {} results read in between", accepted.len(), results.len());
}

fn a_few_kills_lose_no_job(place: &Place) {
    kill(place, 6);
}

over_both!(a_few_kills_lose_no_job);

#[test]
#[ignore = "long: 200 kills"]
fn two_hundred_kills_lose_no_job() {
    kill(&Place::folder(), 200);
}

#[test]
#[ignore = "long: 200 kills, PostgreSQL"]
fn two_hundred_kills_over_a_database_lose_no_job() {
    if let Some(place) = Place::shared() {
        kill(&place, 200);
    }
}

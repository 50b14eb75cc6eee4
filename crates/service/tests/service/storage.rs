//! Bytes and their names, while many clients store, replace, use and remove the same ones.

use std::collections::BTreeSet;

use crate::common::{COPY, Client, Numbers, Place, Running, over_both, table};

/// Does something at random with a few tables of a few contents.
fn act(client: &Client, numbers: &mut Numbers) {
    let path = format!("/v1/tables/{}", ["t", "u"][numbers.below(2)]);
    let status = match numbers.below(4) {
        0 | 1 => client.call("PUT", &path, &table(&[u8::try_from(numbers.below(3)).unwrap(); 100])).status,
        2 => client.call("DELETE", &path, b"").status,
        _ => client.submit("p").status,
    };
    assert!([200, 202, 204, 404, 429].contains(&status), "{status}");
}

/// SHA-256 of all that an account names.
fn named(client: &Client) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for list in ["keys", "programs", "tables", "jobs"] {
        let answer = client.get(&format!("/v1/{list}")).json();
        let entries = answer[list].as_array().unwrap().iter();
        all.extend(entries.filter_map(|entry| entry["sha256"].as_str().map(str::to_owned)));
    }
    all
}

fn bytes_stay_as_long_as_they_have_a_name_and_no_longer(place: &Place) {
    let running = Running::start(place, |limits| limits.workers = 2);
    let clients = [running.client.clone(), running.other(place, "eve"), running.other(place, "bob")];
    let threads: Vec<_> = (0..6)
        .map(|seed| {
            let client = clients[seed % clients.len()].clone();
            client.fill(COPY);
            std::thread::spawn(move || {
                let mut numbers = Numbers(seed as u64);
                (0..60).for_each(|_| act(&client, &mut numbers));
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let mut expected = BTreeSet::new();
    for client in &clients {
        for job in client.get("/v1/jobs").json()["jobs"].as_array().unwrap() {
            let job = client.wait(job["id"].as_str().unwrap(), &["done", "failed"]);
            assert_eq!(job["state"], "done", "{job}");
        }
        expected.extend(named(client));
    }
    let files = place.stored(running.data.path());
    let name = |file: &std::path::PathBuf| file.file_name().unwrap().to_str().unwrap().to_owned();
    let stored: BTreeSet<String> = files.iter().map(name).collect();
    assert_eq!(stored, expected);
}

over_both!(bytes_stay_as_long_as_they_have_a_name_and_no_longer,);

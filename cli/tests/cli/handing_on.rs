//! Keys that are handed on: parties join and leave, results open with the new shares alone.

use std::fs;
use std::process::{Child, Output};

use serde_json::Value;

use crate::common::{Folder, json, stderr};
use crate::parties::{
    NAMES, TABLES, begin_decrypt, begin_keygen, check_results, compute, create, ended, join, keygen,
    prepared, refused, status, wait_for,
};

/// Makes a session of three, two of whom open results, with results of the rows of all.
fn ward(name: &str) -> Folder {
    let folder = prepared(name);
    create(&folder, " --threshold 2");
    NAMES.iter().for_each(|name| drop(join(&folder, name, "")));
    keygen(&folder);
    compute(&folder);
    folder
}

/// Joins parties to a session, each given as its name, its home, and its home of before.
fn join_all(folder: &Folder, session: &str, parties: &[(&str, &str, Option<&str>)]) {
    for (name, home, before) in parties {
        let from = before.map_or(String::new(), |before| format!(" --from {before}"));
        folder.fine(&format!("party join {session} --as {name} --home {home}{from}"));
    }
}

fn run_all(folder: &Folder, homes: &[&str]) -> Vec<Value> {
    let running: Vec<Child> = homes.iter().map(|home| begin_keygen(folder, home)).collect();
    let outputs: Vec<Output> = running.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    let failed = outputs.iter().filter(|output| !output.status.success()).map(stderr).collect::<String>();
    assert_eq!(failed, "");
    outputs.iter().map(json).collect()
}

fn open(folder: &Folder, first: (&str, &str), second: (&str, &str)) {
    let with = |home, other| begin_decrypt(folder, home, &format!(" --with {other}{TABLES}"));
    let running = [with(first.1, second.0), with(second.1, first.0)];
    running.into_iter().map(ended).for_each(|report| check_results(&report));
}

#[test]
fn a_key_is_handed_on_to_parties_that_join_and_stay() {
    let folder = ward("handing-on");
    open(&folder, ("north", "north"), ("south", "south"));
    let line = "party create next --from south --parties south,east,north --threshold 2 --json";
    let made = json(&folder.run(line));
    assert_eq!(
        (&made["handed_on"]["by"], &made["handed_on"]["opened"]),
        (&serde_json::json!(["north", "south"]), &serde_json::json!(1))
    );
    join_all(
        &folder,
        "next",
        &[("south", "south-2", Some("south")), ("north", "north-2", Some("north")), ("east", "east-2", None)],
    );
    changed_keys_are_found_out(&folder);
    // One is killed while it waits, and begins again.
    let mut killed = begin_keygen(&folder, "south-2");
    wait_for(&folder, "south-2/records-dealing/pieces.sz");
    killed.kill().unwrap();
    killed.wait().unwrap();
    let made = run_all(&folder, &["south-2", "north-2", "east-2"]);
    assert!(made.iter().all(|one| one["has_share"] == true && one["key"] == made[0]["key"]), "{made:?}");
    // Typed again it does nothing else.
    assert_eq!(run_all(&folder, &["east-2", "south-2", "north-2"])[1], made[0]);
    // The shares of before open nothing from here on, and the count goes on with the new ones.
    let old = "party decrypt results.sz --home north --with south --yes --timeout 1";
    folder.refused(&format!("{old}{TABLES}"), 2, &["handed on", "north-2"]);
    folder.refused("party keygen --home north --yes --timeout 1", 2, &["handed on", "north-2"]);
    assert!(["south-2", "north-2", "east-2"].iter().all(|home| status(&folder, home)["used"] == 1));
    open(&folder, ("east", "east-2"), ("south", "south-2"));
    open(&folder, ("east", "east-2"), ("north", "north-2"));
    assert_eq!(status(&folder, "east-2")["used"], 3, "every quorum counts");

    folder.refused("party retire --home west --yes", 2, &["was not handed on"]);
    folder.refused("party retire --home north", 2, &["--yes", "north-2"]);
    let retired = json(&folder.run("party retire --home north --yes --json"));
    assert_eq!(retired["removed"], serde_json::json!(["share.sz", "records-keys", "records-dealing"]));
    assert!(!folder.path("north/share.sz").exists() && !folder.path("north/records-keys").exists());
    let again = json(&folder.run("party retire --home north --yes --json"));
    assert_eq!(again["removed"], serde_json::json!([]));
    handed_on_once_more(&folder);
}

/// Keys that were changed on their way are found out before anything is dealt.
fn changed_keys_are_found_out(folder: &Folder) {
    let file = folder.path("next/keys/eval/galois.sz");
    let good = fs::read(&file).unwrap();
    let mut bytes = good.clone();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, &bytes).unwrap();
    let words = ["galois.sz", "not what this party made", "copy the folder"];
    refused(&folder.run("party keygen --home south-2 --yes --timeout 1 --quiet"), 3, &words);
    assert!(!folder.path("south-2/records-dealing").exists());
    fs::write(&file, &good).unwrap();
}

/// Two of the three of `next` hand the key on to two others, and leave.
fn handed_on_once_more(folder: &Folder) {
    let line = "party create last --from east-2 --parties fay,gus --dealers north,east --opened 3";
    folder.fine(line);
    let parties = [
        ("fay", "fay-3", None),
        ("gus", "gus-3", None),
        ("north", "north-3", Some("north-2")),
        ("east", "east-3", Some("east-2")),
    ];
    join_all(folder, "last", &parties);
    let made = run_all(folder, &["fay-3", "gus-3", "north-3", "east-3"]);
    assert_eq!(
        made.iter().map(|one| one["has_share"] == true).collect::<Vec<_>>(),
        [true, true, false, false]
    );
    open(folder, ("fay", "fay-3"), ("gus", "gus-3"));
    folder.refused(
        &format!("party decrypt results.sz --home north-3 --with fay --yes --timeout 1{TABLES}"),
        2,
        &["handed its share on"],
    );
    // The count goes on: all four ciphertexts of the agreement are opened.
    assert_eq!(status(folder, "fay-3")["used"], 4);
}

#[test]
fn what_cannot_be_handed_on_is_refused() {
    let folder = ward("handing-on-refused");
    let create = |more: &str| format!("party create next --from north {more}");
    for (more, words) in [
        ("--parties south,east --dealers north", &["2 parties of north, south, west", "1 party"][..]),
        ("--parties south,east --dealers north,east", &["east"]),
        ("--parties south,east --dealers north,north", &["twice"]),
        ("--parties a,b,c,d --threshold 4", &["at most 3", "--threshold"]),
        ("--parties south,east --opened 5", &["5 ciphertexts were opened", "agreed on 4"]),
        ("--parties south,east --plan plan.json", &["--plan"]),
        ("--parties south,east --share 4", &["--share"]),
    ] {
        folder.refused(&create(more), 2, words);
        assert!(!folder.path("next").exists());
    }
    folder.refused("party create next --parties south,east", 2, &["--plan", "--share"]);
    folder.refused("party create next --from ward --parties south,east", 6, &["sunzi party join"]);
    // All of the three open together: there is nothing that could be dealt on.
    let folder_of_all = prepared("handing-on-all");
    create_all(&folder_of_all);
    folder_of_all.refused("party create next --from north --parties south,east", 2, &["--threshold"]);

    folder.fine(&create("--parties south,east,north --threshold 2"));
    folder.refused("party join next --as south --home s", 2, &["--from", "another name"]);
    folder.refused("party join next --as east --home e --from north", 2, &["join without it"]);
    folder.refused("party join next --as west --home w --from west", 2, &["no party"]);
    folder.refused("party join next --as south --home s --from north", 3, &["north", "expected that of"]);
    let other = ward("handing-on-other");
    let elsewhere = other.path("south");
    let line = format!("party join next --as south --home s --from {}", elsewhere.display());
    folder.refused(&line, 3, &["another one", "home of the session of before"]);
    // A party that opened more than the agreement says.
    open(&folder, ("west", "west"), ("south", "south"));
    folder.refused("party join next --as south --home s --from south", 3, &["at most 0", "--opened 1"]);
    assert!(!folder.path("s").exists() && !folder.path("e").exists());
    assert!(
        !folder.path("next/messages").read_dir().unwrap().any(|entry| entry.is_ok()),
        "nothing was dealt"
    );
}

fn create_all(folder: &Folder) {
    create(folder, "");
    NAMES.iter().for_each(|name| drop(join(folder, name, "")));
    keygen(folder);
}

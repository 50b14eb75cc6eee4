//! Several parties, each a process of its own: keys that they make together, and results that they open together.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Folder, json, stderr, stdout};

pub(crate) const NAMES: [&str; 3] = ["north", "south", "west"];
/// Rows of each party: x and y.
const ROWS: [&[(i64, i64)]; 3] = [&[(3, 4), (5, 1)], &[(2, 2)], &[(9, 0), (1, 7), (6, 6)]];
/// Rows of all parties.
const ALL: usize = 6;

/// Makes a folder with the tables of three parties, their schema, and a plan of sums of rows.
pub(crate) fn prepared(name: &str) -> Folder {
    let folder = Folder::new(name);
    for (party, rows) in NAMES.iter().zip(ROWS) {
        let lines: String = rows.iter().map(|(x, y)| format!("{x},{y}\n")).collect();
        fs::write(folder.path(&format!("{party}.csv")), format!("x,y\n{lines}")).unwrap();
    }
    folder.fine(&format!("schema north.csv --range x=0..9 --range y=0..9 --rows {ALL} -o schema.json"));
    plan(&folder, "x+y", "plan.json");
    folder
}

fn plan(folder: &Folder, program: &str, file: &str) {
    let plan = format!(
        "plan {program} --schema schema.json --parties 3 --share 4 --statistical-bits 8 --no-time --json"
    );
    fs::write(folder.path(file), folder.fine(&plan)).unwrap();
}

pub(crate) fn create(folder: &Folder, more: &str) -> Value {
    let line =
        "party create ward --plan plan.json --parties north,south,west --share 4 --statistical-bits 8 --json";
    json(&folder.run(&format!("{line}{more}")))
}

pub(crate) fn join(folder: &Folder, name: &str, more: &str) -> Value {
    json(&folder.run(&format!("party join ward --as {name} --home {name} --json{more}")))
}

/// Begins a command, whose output is kept.
pub(crate) fn begin(folder: &Folder, arguments: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sunzi"));
    command.args(arguments.split(' ')).current_dir(folder.path("")).env_remove("SUNZI_ISA");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

pub(crate) fn begin_keygen(folder: &Folder, name: &str) -> Child {
    begin(folder, &format!("party keygen --home {name} --yes --timeout 120 --json --threads 1"))
}

/// Waits for a process that must end well, and returns the object that it printed.
pub(crate) fn ended(child: Child) -> Value {
    json(&child.wait_with_output().unwrap())
}

/// Makes the keys of all parties at once, and returns their reports.
pub(crate) fn keygen(folder: &Folder) -> Vec<Value> {
    let running: Vec<Child> = NAMES.iter().map(|name| begin_keygen(folder, name)).collect();
    running.into_iter().map(ended).collect()
}

/// Encrypts the rows of every party, and computes the agreed program.
pub(crate) fn compute(folder: &Folder) {
    let mut first = 0;
    for (name, rows) in NAMES.iter().zip(ROWS) {
        let end = first + rows.len();
        folder.fine(&format!(
            "encrypt {name}.csv --keys ward/keys/public --plan plan.json --rows {first}..{end} -o {name}.sz -q"
        ));
        first = end;
    }
    eval(folder, "x+y", "results.sz");
}

pub(crate) fn eval(folder: &Folder, program: &str, file: &str) {
    folder.fine(&format!("eval {program} --keys ward/keys/eval north.sz south.sz west.sz -o {file} -q"));
}

pub(crate) fn begin_decrypt(folder: &Folder, name: &str, more: &str) -> Child {
    begin(folder, &format!("party decrypt results.sz --home {name} --yes --timeout 120 --json{more}"))
}

pub(crate) const TABLES: &str = " --tables north.sz south.sz west.sz";

/// Checks that a report has the results of all rows.
pub(crate) fn check_results(report: &Value) {
    let rows = report["results"][0]["rows"].as_array().unwrap();
    let expected: Vec<f64> = ROWS.iter().flat_map(|rows| rows.iter()).map(|(x, y)| (x + y) as f64).collect();
    let got: Vec<f64> = rows.iter().map(|row| row["value"].as_f64().unwrap()).collect();
    assert_eq!(got, expected, "{report}");
}

pub(crate) fn status(folder: &Folder, name: &str) -> Value {
    json(&folder.run(&format!("party status --home {name} --json")))
}

/// Waits until a file is there.
pub(crate) fn wait_for(folder: &Folder, file: &str) {
    let end = Instant::now() + Duration::from_secs(120);
    while !folder.path(file).exists() {
        assert!(Instant::now() < end, "{file} did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn refused(output: &Output, code: i32, words: &[&str]) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(words.iter().all(|word| text.contains(word)), "{words:?} are missing in {text}");
}

/// Three parties over a folder, one of which is killed in the middle and started again.
#[test]
fn three_parties_make_keys_and_open_results_over_a_folder() {
    let folder = prepared("parties-folder");
    let created = create(&folder, "");
    for name in NAMES {
        assert_eq!(join(&folder, name, "")["fingerprint"], created["fingerprint"]);
    }
    let others = [begin_keygen(&folder, "north"), begin_keygen(&folder, "south")];
    let mut killed = begin_keygen(&folder, "west");
    wait_for(&folder, "west/records-keys/2-sent.sz");
    killed.kill().unwrap();
    killed.wait().unwrap();
    let last = ended(begin_keygen(&folder, "west"));
    let mut made: Vec<Value> = others.into_iter().map(ended).collect();
    made.push(last);
    assert!(
        made.iter().all(|one| one["key"] == made[0]["key"] && one["cards"] == made[0]["cards"]),
        "{made:?}"
    );
    assert_eq!(made.iter().filter(|one| one["wrote"] == true).count(), 1, "{made:?}");
    // Nothing is made twice, and what is there is compared.
    let again = keygen(&folder);
    assert!(again.iter().all(|one| one["key"] == made[0]["key"] && one["wrote"] == false), "{again:?}");

    compute(&folder);
    let running: Vec<Child> = NAMES.iter().map(|name| begin_decrypt(&folder, name, TABLES)).collect();
    running.into_iter().map(ended).for_each(|report| check_results(&report));
    assert!(NAMES.iter().all(|name| status(&folder, name)["used"] == 1));
    // The same results count once, and one party alone has the shares of the others in the folder.
    check_results(&ended(begin_decrypt(&folder, "north", TABLES)));
    assert_eq!(status(&folder, "north")["used"], 1);

    secrets_take_passphrases(&folder);
    others_are_refused(&folder);
    changed_keys_are_refused(&folder);
}

/// The secret of a party may be under a passphrase, and its log has what it gave shares of.
fn secrets_take_passphrases(folder: &Folder) {
    fs::write(folder.path("word"), "correct horse battery staple").unwrap();
    folder.fine("passphrase set north --new-passphrase-file word");
    let line = format!("party decrypt results.sz --home north --yes --timeout 1{TABLES}");
    folder.refused(&line, 2, &["--passphrase-file"]);
    let open = format!("{TABLES} --passphrase-file word");
    check_results(&ended(begin_decrypt(folder, "north", &open)));
    folder.fine("passphrase remove north --passphrase-file word");
    let log = folder.fine("keys log north");
    assert!(log.contains("give shares of a decryption of \"results.sz\""), "{log}");
    assert!(log.contains("which was agreed on, share 1 ciphertext of"), "{log}");
}

/// Nothing is answered for what the agreed program did not make.
fn others_are_refused(folder: &Folder) {
    eval(folder, "x-y", "other.sz");
    let line = "party decrypt other.sz --home north --yes --timeout 1";
    folder.refused(&format!("{line}{TABLES}"), 3, &["another program", "nothing is answered"]);
    // A result of the program over other tables.
    folder.fine(
        "encrypt south.csv --keys ward/keys/public --plan plan.json --rows 2..3 -o south.sz -q --force",
    );
    let line = "party decrypt results.sz --home north --yes --timeout 1";
    folder.refused(
        &format!("{line}{TABLES}"),
        3,
        &["not what the agreed program makes", "nothing is answered"],
    );
    // Nobody says that these were computed again.
    eval(folder, "x+y", "results-2.sz");
    let line = "party decrypt results-2.sz --home north --yes --timeout 1";
    folder.refused(&format!("{line} --attested 1"), 6, &["0 of 1", "south, west", "--tables"]);
    folder.refused(&format!("{line} --attested 3"), 2, &["--attested 3"]);
    // Without a terminal nobody can be asked.
    let line = "party decrypt results-2.sz --home north --timeout 1 --tables north.sz south.sz west.sz";
    refused(&folder.run(line), 2, &["--yes", "Open these results?", "counts       1 more of 4"]);
    assert_eq!(status(folder, "north")["used"], 1, "nothing was counted");
    // The others do not come.
    let output = folder.run(&format!("{line} --yes"));
    refused(&output, 6, &["south", "west"]);
    assert_eq!(status(folder, "north")["used"], 2, "a share is counted before it is sent");
}

/// Keys in the folder that this party did not make are found out.
fn changed_keys_are_refused(folder: &Folder) {
    let file = folder.path("ward/keys/eval/relinearization.sz");
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, &bytes).unwrap();
    let line = format!("party decrypt results-2.sz --home north --yes --timeout 1{TABLES}");
    folder.refused(&line, 3, &["relinearization.sz", "not what this party made"]);
}

/// Ports of this machine that nobody listens at.
fn free_ports() -> Vec<u16> {
    let listeners: Vec<TcpListener> =
        NAMES.iter().map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    listeners.iter().map(|listener| listener.local_addr().unwrap().port()).collect()
}

/// Two of three parties open a result over TLS, one of which relies on the other's look.
#[test]
fn two_of_three_parties_open_results_over_tls() {
    let folder = prepared("parties-tls");
    create(&folder, " --threshold 2");
    for (name, port) in NAMES.iter().zip(free_ports()) {
        join(&folder, name, &format!(" --listen 127.0.0.1:{port}"));
    }
    let made = keygen(&folder);
    assert!(made.iter().all(|one| one["key"] == made[0]["key"] && one["threshold"] == 2), "{made:?}");
    let letters = fs::read_dir(folder.path("ward/messages")).unwrap().count();
    assert_eq!(letters, 0, "messages went over TLS");
    assert!(folder.path("west/share.sz").exists() && !folder.path("west/secret.sz").exists());

    compute(&folder);
    let south = begin_decrypt(&folder, "south", &format!("{TABLES} --with west --to west"));
    let west = ended(begin_decrypt(&folder, "west", " --attested 1 --with south --to west"));
    check_results(&west);
    assert_eq!(ended(south), serde_json::json!({ "shares": 1, "to": ["west"] }));
    let used = |name: &str| status(&folder, name)["used"].as_u64().unwrap();
    assert_eq!(NAMES.map(used), [0, 1, 1]);
    folder.refused(
        &format!("party decrypt results.sz --home north --yes{TABLES}"),
        2,
        &["2 of north, south, west", "--with"],
    );
}

/// Who is missing is named.
#[test]
fn who_does_not_come_is_named() {
    let folder = prepared("parties-missing");
    create(&folder, "");
    join(&folder, "north", "");
    join(&folder, "south", "");
    let line = "party keygen --home north --yes --timeout 1";
    refused(&folder.run(line), 6, &["have not joined: west", "sunzi party join"]);
    join(&folder, "west", "");
    let mut south = begin(&folder, "party keygen --home south --yes --timeout 100");
    let end = Instant::now() + Duration::from_secs(60);
    while fs::read_dir(folder.path("ward/messages")).unwrap().next().is_none() {
        assert!(Instant::now() < end, "south sends nothing");
    }
    refused(&folder.run("party keygen --home north --yes --timeout 2"), 6, &["nothing came from west"]);
    south.kill().unwrap();
    south.wait().unwrap();
    folder.refused(
        &format!("party decrypt plan.json --home north --yes{TABLES}"),
        6,
        &["no share of a key yet", "sunzi party keygen"],
    );
}

/// Agreements, cards and folders of a session that were changed are refused by name.
#[test]
fn sessions_that_were_changed_are_refused() {
    let folder = prepared("parties-session");
    let line = "party create ward --plan plan.json --parties";
    folder.refused(&format!("{line} north,south --share 4"), 2, &["plan is for 3 parties", "--parties 2"]);
    folder.refused(&format!("{line} north,north,west --share 4"), 2, &["names of parties"]);
    folder.refused(&format!("{line} north,south,west --share 4 --threshold 4"), 2, &["2 to 3"]);
    folder.refused(&format!("{line} north,south,west --share 0"), 2, &["1 to 4294967296"]);
    folder.refused("party create ward --plan schema.json --parties a,b --share 4", 2, &["no plan"]);
    assert!(!folder.path("ward").exists());
    let created = create(&folder, "");
    folder.refused(&format!("{line} north,south,west --share 4"), 2, &["is there already"]);
    let text = stdout(&folder.run("party show ward"));
    for part in
        ["north, south, west", "\"x+y\"", "all of them together", created["fingerprint"].as_str().unwrap()]
    {
        assert!(text.contains(part), "{part}: {text}");
    }

    folder.refused("party join ward --as east --home east", 2, &["no party \"east\"", "north, south, west"]);
    folder.refused("party join ward --as north --home north --listen nowhere", 2, &["host and a port"]);
    let other = "0123456789abcdef0123456789abcdef";
    folder.refused(
        &format!("party join ward --as north --home north --expect {other}"),
        3,
        &["the agreement"],
    );
    assert!(!folder.path("north").exists() && !folder.path("east").exists());
    join(&folder, "north", "");
    folder.refused("party join ward --as north --home elsewhere", 2, &["\"north\" has joined already"]);
    folder.refused("party join ward --as south --home north", 2, &["folder of \"north\"", "joined already"]);
    folder.refused("party join nowhere --as south --home south", 6, &["nowhere"]);
    assert!(!folder.path("elsewhere").exists());

    // Another card under a name that was seen.
    let card = folder.path("ward/cards/1.json");
    let first = fs::read(&card).unwrap();
    create_other(&folder);
    fs::copy(folder.path("other/cards/1.json"), &card).unwrap();
    folder.refused("party status --home north", 3, &["card of \"north\"", "somebody changed it"]);
    fs::write(&card, b"{").unwrap();
    folder.refused("party status --home north", 2, &["1.json", "a card"]);
    fs::write(&card, &first).unwrap();
    status(&folder, "north");

    // Another agreement, and half of one.
    let file = folder.path("ward/agreement.json");
    let own = fs::read(&file).unwrap();
    fs::copy(folder.path("other/agreement.json"), &file).unwrap();
    folder.refused("party status --home north", 3, &["joined agreement", "another session"]);
    fs::write(&file, &own[..own.len() / 2]).unwrap();
    folder.refused("party status --home north", 5, &["agreement.json", "no agreement"]);
    folder.refused("party join ward --as south --home south", 5, &["agreement.json"]);
    fs::remove_file(&file).unwrap();
    folder.refused("party join ward --as south --home south", 6, &["agreement.json"]);
    fs::write(&file, &own).unwrap();
    // A session that moved is found by its new name.
    fs::rename(folder.path("ward"), folder.path("moved")).unwrap();
    folder.refused("party status --home north", 6, &["--session"]);
    folder.fine("party status --home north --session moved");
}

/// Makes another session, which north joined too.
fn create_other(folder: &Folder) {
    let line =
        "party create other --plan plan.json --parties north,south,west --share 4 --statistical-bits 8";
    folder.fine(line);
    folder.fine("party join other --as north --home north-2");
}

/// Where files cannot be written nothing is left behind, and nobody has joined.
#[test]
#[cfg(target_os = "linux")]
fn full_disks_leave_nothing_behind() {
    let folder = prepared("parties-full");
    create(&folder, "");
    // Files of more than a kilobyte cannot be written, as on a full disk.
    let full = "trap '' XFSZ; ulimit -f 1; sunzi party";
    let line = "create other --plan plan.json --parties north,south,west --share 4";
    for line in [line, "join ward --as north --home north"] {
        refused(&folder.shell(&format!("{full} {line}")), 6, &["agreement.json"]);
    }
    let left = fs::read_dir(folder.path("")).unwrap().map(|entry| entry.unwrap().file_name().into_string());
    let left: Vec<String> = left.map(Result::unwrap).collect();
    let begun = |name: &&String| name.starts_with(".sunzi") || ["north", "other"].contains(&name.as_str());
    assert_eq!(left.iter().find(begun), None, "{left:?}");
    join(&folder, "north", "");
}

/// Homes are for their party alone, and for one process at a time.
#[test]
#[cfg(unix)]
fn homes_that_others_can_reach_are_refused() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = prepared("parties-home");
    create(&folder, "");
    join(&folder, "north", "");
    let mode = |file: &str| fs::metadata(folder.path(file)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("north"), mode("north/identity.sz")), (0o700, 0o600));
    let set = |file: &str, mode: u32| {
        fs::set_permissions(folder.path(file), fs::Permissions::from_mode(mode)).unwrap();
    };
    set("north", 0o755);
    folder.refused("party status --home north", 2, &["mode 0755", "chmod 700"]);
    set("north", 0o700);
    set("north/identity.sz", 0o644);
    folder.refused("party keygen --home north --timeout 1", 2, &["identity.sz", "mode 0644", "chmod 600"]);
    set("north/identity.sz", 0o600);
    symlink("north", folder.path("link")).unwrap();
    folder.refused("party status --home link", 2, &["is a link"]);
    fs::rename(folder.path("north/identity.sz"), folder.path("identity.sz")).unwrap();
    symlink(folder.path("identity.sz"), folder.path("north/identity.sz")).unwrap();
    folder.refused("party status --home north", 2, &["identity.sz", "is a link"]);
    fs::remove_file(folder.path("north/identity.sz")).unwrap();
    folder.refused("party keygen --home north --timeout 1", 6, &["identity.sz"]);
    fs::rename(folder.path("identity.sz"), folder.path("north/identity.sz")).unwrap();
    let card = folder.path("ward/cards/2.json");
    symlink(folder.path("ward/cards/1.json"), &card).unwrap();
    folder.refused("party status --home north", 2, &["2.json", "is a link"]);
    fs::remove_file(&card).unwrap();
    folder.refused("party status --home ward", 6, &["not the folder of a party"]);
    fs::create_dir(folder.path("empty")).unwrap();
    set("empty", 0o700);
    folder.refused("party status --home empty", 6, &["not the folder of a party"]);
    folder.refused("party status --home nowhere", 6, &["no folder"]);

    // The folder is held while another process waits for cards, which it says.
    let mut waiting = begin(&folder, "party keygen --home north --yes --timeout 60");
    let mut said = String::new();
    BufReader::new(waiting.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.contains("waiting for the cards of south, west"), "{said}");
    let again = "party keygen --home north --yes --timeout 1";
    folder.refused(again, 2, &["another process", "let it end first"]);
    status(&folder, "north");
    waiting.kill().unwrap();
    waiting.wait().unwrap();
    refused(&folder.run(again), 6, &["have not joined: south, west"]);
}

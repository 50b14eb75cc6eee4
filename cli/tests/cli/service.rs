//! Key holder and server in processes of their own: what comes back is what the key holder would have computed.

mod load;
#[cfg(feature = "shared")]
mod shared;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Folder, json, stderr, stdout};
use crate::server::Server;

const PROGRAM: &str = "mean(x); corr(x, y); sum(x * y)";

/// A key holder's folder, with the address of a server and a token.
struct Holder<'a> {
    folder: &'a Folder,
    address: String,
    token: String,
}

impl Holder<'_> {
    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sunzi"));
        command.args(["remote"]).args(arguments).current_dir(self.folder.path(""));
        command.env("SUNZI_SERVER", &self.address).env("SUNZI_TOKEN", &self.token);
        command.output().unwrap()
    }

    fn fine(&self, arguments: &str) -> String {
        let output = self.run(&arguments.split(' ').collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(0), "{arguments}: {}", stderr(&output));
        stdout(&output).trim().to_owned()
    }

    fn refused(&self, arguments: &[&str], code: i32, words: &[&str]) {
        let output = self.run(arguments);
        let text = stderr(&output);
        assert_eq!((output.status.code(), text.lines().count()), (Some(code), 1), "{arguments:?}: {text}");
        assert!(words.iter().all(|word| text.contains(word)), "{arguments:?}: {text}");
    }
}

/// Tables, keys, an encrypted table, and the results that this machine computes itself.
fn folder(name: &str, program: &str) -> Folder {
    let folder = Folder::new(name);
    let table: String = (0..300).map(|i| format!("{},{}\n", i % 97, i % 89)).collect();
    fs::write(folder.path("t.csv"), format!("x,y\n{table}")).unwrap();
    folder.fine("schema --table t.csv -o s.json");
    folder.fine_of(&["plan", program, "--schema", "s.json", "-o", "job.params", "--no-time"]);
    folder.fine_of(&[
        "keygen",
        "job.params",
        "-d",
        "keys",
        "--for",
        program,
        "--schema",
        "s.json",
        "--quiet",
    ]);
    folder.fine("encrypt --keys keys/public --table t.csv --schema s.json -o t.sz");
    folder.fine_of(&["eval", program, "--keys", "keys/eval", "t.sz", "-o", "own.sz"]);
    folder
}

fn token(folder: &Folder) -> String {
    folder.fine("account add ursula --data server").trim().to_owned()
}

/// Sends all that a job needs.
fn send<'a>(folder: &'a Folder, server: &Server, token: &str) -> Holder<'a> {
    let holder = Holder { folder, address: server.address.clone(), token: token.to_owned() };
    holder.fine("put keys k keys/eval");
    assert_eq!(holder.run(&["put", "program", "p", PROGRAM]).status.code(), Some(0));
    holder.fine("put table t t.sz --quiet");
    holder
}

#[test]
fn a_server_computes_what_the_key_holder_would() {
    let folder = folder("service-whole", PROGRAM);
    let token = token(&folder);
    let server = Server::start(&folder, "serve --data server --workers 2");
    let holder = send(&folder, &server, &token);
    let id = holder.fine("run p --keys k t");
    holder.fine(&format!("get {id} -o out.sz"));
    assert_eq!(fs::read(folder.path("out.sz")).unwrap(), fs::read(folder.path("own.sz")).unwrap());
    let answer = folder.fine_of(&[
        "decrypt",
        "--keys",
        "keys/secret",
        "out.sz",
        "--for",
        PROGRAM,
        "--schema",
        "s.json",
    ]);
    let sum: u32 = (0..300).map(|i| (i % 97) * (i % 89)).sum();
    assert!(answer.contains(&format!("sum(x * y): {sum}\n")), "{answer}");
    // The program as JSON, with its schema.
    let sent = holder.run(&["put", "program", "q", PROGRAM, "--schema", "s.json", "--json"]);
    assert!(json(&sent)["bytes"].as_u64().unwrap() > 200);
    let second = holder.fine("run q --keys k t");
    holder.fine(&format!("get {second} -o out.sz --force"));
    assert_eq!(fs::read(folder.path("out.sz")).unwrap(), fs::read(folder.path("own.sz")).unwrap());
    let listed = holder.fine("list");
    for words in ["keys      k/parameters.sz", "programs  p", "tables    t", "done     q"] {
        assert!(listed.contains(words), "{words} in\n{listed}");
    }
    holder.fine(&format!("delete jobs {id}"));
    holder.refused(&["get", &id, "-o", "gone.sz"], 2, &["there is nothing of this name"]);
    // The log has lines of JSON, and nothing that belongs to a tenant.
    assert_eq!(server.stop(), Some(0));
    let log = fs::read_to_string(folder.path("log")).unwrap();
    assert!(log.lines().count() > 10 && log.contains("/v1/tables/{name}"), "{log}");
    assert!(log.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{log}");
    // Numbers of jobs are hexadecimal, so no word here has these digits alone.
    for secret in [token.as_str(), "ursula", "mean(", "/v1/tables/t", "/v1/programs/q"] {
        assert!(!log.contains(secret), "{secret} in the log");
    }
}

#[test]
fn what_cannot_be_is_refused_in_plain_words() {
    let folder = folder("service-refused", PROGRAM);
    let token = token(&folder);
    let server = Server::start(&folder, "serve --data server --job-memory 3G");
    let holder = send(&folder, &server, &token);
    holder.refused(&["put", "keys", "s", "keys/secret"], 2, &["secret.sz", "never goes to a server"]);
    holder.refused(&["put", "keys", "s", "keys"], 2, &["has a folder in it"]);
    holder.refused(&["put", "table", "u", "t.csv"], 2, &["another kind of file", "sunzi encrypt"]);
    holder.refused(&["run", "none", "--keys", "k", "t"], 2, &["there are no programs of this name"]);
    holder.refused(&["run", "p", "--keys", "../k", "t"], 2, &["this is no name"]);
    let weights = "linear(\"/etc/passwd\")";
    for (program, words) in [
        ("mean(z)", "there is no column `z`"),
        (weights, "reads no files for a program"),
        ("{}", "no program as sunzi remote put program sends it"),
        ("sum(x^9)", "cannot be computed"),
    ] {
        assert_eq!(holder.run(&["put", "program", "bad", program]).status.code(), Some(0));
        let id = holder.fine("run bad --keys k t");
        let output = holder.run(&["get", &id, "-o", "bad.sz"]);
        let text = stderr(&output);
        assert!(output.status.code() == Some(4) && text.contains(words), "{program}: {text}");
        assert!(!text.contains(folder.path("server").to_str().unwrap()), "{text}");
    }
    assert!(!folder.path("bad.sz").exists());
    // A table that is damaged behind its first bytes is found by its reader.
    let mut bytes = fs::read(folder.path("t.sz")).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(folder.path("damaged.sz"), bytes).unwrap();
    holder.fine("put table damaged damaged.sz");
    let id = holder.fine("run p --keys k damaged");
    holder.refused(&["get", &id, "-o", "bad.sz"], 4, &["the job failed", "tables/damaged", "checksum"]);
    let mut stranger = Holder { folder: &folder, ..holder };
    stranger.token = format!("{}0", &token[..token.len() - 1]);
    if stranger.token != token {
        stranger.refused(&["list"], 2, &["this token opens no account"]);
    }
    stranger.token = "abc".to_owned();
    stranger.refused(&["list"], 2, &["this is no token"]);
    stranger.token = token;
    stranger.address = "http://192.0.2.1:1".to_owned();
    stranger.refused(&["list"], 2, &["https://", "in the clear"]);
    folder.refused("serve --listen 0.0.0.0:0 --data server", 2, &["--tls-cert", "--tls-elsewhere"]);
    folder.refused("serve --listen 0.0.0.0:0 --demo", 2, &["--demo", "this machine alone"]);
    folder.refused("serve --listen 127.0.0.1:0 --data server", 2, &["another process serves this folder"]);
    folder.refused("account add ursula --data server", 2, &["an account ursula already"]);
    folder.refused("account remove eve --data server", 2, &["no account eve"]);
    folder.refused("account add ../x --data server", 2, &["this is no name"]);
    folder.refused("service-job", 2, &["for sunzi serve"]);
}

/// Passes connections on to a server, and cuts each after so many bytes of its answer; returns the address and ends with the process.
fn cutting(server: &str, most: u64) -> String {
    let server = server.strip_prefix("http://").unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for client in listener.incoming().map(Result::unwrap) {
            let server = TcpStream::connect(&server).unwrap();
            let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || drop(std::io::copy(&mut from, &mut to)));
            std::thread::spawn(move || {
                drop(std::io::copy(&mut (&server).take(most), &mut &client));
                drop(client.shutdown(Shutdown::Both));
                drop(server.shutdown(Shutdown::Both));
            });
        }
    });
    address
}

#[test]
fn a_result_comes_whole_over_connections_that_break() {
    let folder = folder("service-cut", PROGRAM);
    let token = token(&folder);
    let server = Server::start(&folder, "serve --data server");
    let mut holder = send(&folder, &server, &token);
    let id = holder.fine("run p --keys k t");
    holder.fine(&format!("get {id} -o whole.sz"));
    let whole = fs::read(folder.path("whole.sz")).unwrap();
    holder.address = cutting(&server.address, whole.len() as u64 / 5);
    holder.fine(&format!("get {id} -o cut.sz"));
    assert_eq!(fs::read(folder.path("cut.sz")).unwrap(), whole);
    // What the server says of a job comes whole, and of the result some bytes over each connection.
    holder.address = cutting(&server.address, 500);
    holder.refused(&["get", &id, "-o", "none.sz"], 6, &["the server broke 1000 connections"]);
    // A connection that brings no byte of the result is given up, and leaves no file.
    holder.address = cutting(&server.address, 0);
    holder.refused(&["get", &id, "-o", "none.sz"], 6, &["check the address"]);
    assert!(!folder.path("none.sz").exists());
}

/// The process of a job in a folder as a server fills it, with limits; its input is closed once the task is told, or at its end.
fn job(folder: &Folder, name: &str, task: &str, closes: bool) -> (Option<i32>, String, bool) {
    let place = folder.path(name);
    fs::create_dir_all(place.join("keys")).unwrap();
    fs::write(place.join("program"), PROGRAM).unwrap();
    fs::copy(folder.path("t.sz"), place.join("t.sz")).unwrap();
    for file in fs::read_dir(folder.path("keys/eval")).unwrap().map(|file| file.unwrap()) {
        fs::copy(file.path(), place.join("keys").join(file.file_name())).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_sunzi"));
    command.args(["--threads", "1", "service-job"]).current_dir(&place);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, format!("{task}\n").as_bytes()).unwrap();
    let kept = Some(input).filter(|_| !closes);
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    let code = child.wait().unwrap().code();
    drop(kept);
    (code, said, place.join("result.sz").exists())
}

#[test]
fn the_process_of_a_job_has_limits_and_ends_with_its_server() {
    let folder = folder("service-job", PROGRAM);
    let task = |memory: u64, file: u64| {
        format!("{{\"tables\":[\"t.sz\"],\"precision\":null,\"memory\":{memory},\"file\":{file}}}")
    };
    let (code, said, is_there) = job(&folder, "fine", &task(4 << 30, 1 << 30), false);
    assert_eq!((code, said.as_str(), is_there), (Some(0), "{\"error\":null}\n", true));
    // Without room for its stacks and tables it ends at once, by itself or by the system.
    let (code, said, is_there) = job(&folder, "memory", &task(1 << 20, 1 << 30), false);
    assert!(!is_there && (code != Some(0) || said.contains("memory")), "{code:?} {said}");
    let (code, said, is_there) = job(&folder, "file", &task(4 << 30, 1000), false);
    assert!(!is_there && (code.is_none() || said.contains("File too large")), "{code:?} {said}");
    let (code, said, is_there) = job(&folder, "left", &task(4 << 30, 1 << 30), true);
    assert_eq!((code, said.as_str(), is_there), (Some(130), "", false));
}

#[test]
fn tls_logins_and_the_demonstration() {
    let folder = Folder::new("service-tls");
    let token = token(&folder);
    for file in ["server-cert.pem", "server-key.pem"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file);
        fs::copy(from, folder.path(file)).unwrap();
    }
    let server =
        Server::start(&folder, "serve --data server --tls-cert server-cert.pem --tls-key server-key.pem");
    assert!(server.address.starts_with("https://"));
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sunzi"));
        command
            .args(["remote"])
            .args(arguments)
            .current_dir(folder.path(""))
            .env("XDG_CONFIG_HOME", folder.path("home"));
        command
            .env_remove("SUNZI_SERVER")
            .env_remove("SUNZI_TOKEN")
            .env_remove("SSL_CERT_FILE")
            .output()
            .unwrap()
    };
    fs::write(folder.path("token"), &token).unwrap();
    let login = ["login", &server.address, "--token", "token"];
    let strange = run(&login);
    assert_ne!(strange.status.code(), Some(0), "{}", stderr(&strange));
    assert!(!folder.path("home/sunzi/remote.json").exists(), "an unknown certificate is not trusted");
    let known = run(&[&login[..], &["--ca", "server-cert.pem"]].concat());
    assert_eq!(known.status.code(), Some(0), "{}", stderr(&known));
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &fs::metadata(folder.path("home/sunzi/remote.json")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(stdout(&run(&["list"])), "nothing\n");
    assert_eq!(server.stop(), Some(0));
    let mut demo = Command::new(env!("CARGO_BIN_EXE_sunzi"));
    demo.args(["serve", "--demo", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut demo = demo.spawn().unwrap();
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines();
    let mut value = |name: &str| {
        let line = lines.next().unwrap().unwrap();
        line.strip_prefix(&format!("export {name}=")).unwrap().to_owned()
    };
    let holder = Holder { folder: &folder, address: value("SUNZI_SERVER"), token: value("SUNZI_TOKEN") };
    lines.next().unwrap().unwrap();
    assert!(lines.next().unwrap().unwrap().starts_with("# listening at http://127.0.0.1:"));
    assert_eq!(holder.fine("list"), "nothing");
    assert_eq!(Server::of(demo).stop(), Some(0));
}

/// Kills a server so many times while it computes; every accepted job ends with the bytes that this machine computed itself.
fn kill(name: &str, times: usize) {
    let folder = folder(name, PROGRAM);
    let own = fs::read(folder.path("own.sz")).unwrap();
    let token = token(&folder);
    let mut server = Server::start(&folder, "serve --data server --workers 2");
    let mut holder = send(&folder, &server, &token);
    let (mut ids, mut seed) = (Vec::new(), 7_u64);
    for _ in 0..times {
        ids.push(holder.fine("run p --keys k t"));
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis((seed >> 33) % 250));
        server.process.kill().unwrap();
        server.process.wait().unwrap();
        server = Server::start(&folder, "serve --data server --workers 2");
        holder.address = server.address.clone();
        let jobs = json(&holder.run(&["list", "jobs", "--json"]))["jobs"].clone();
        let state = |id: &String| {
            jobs.as_array().unwrap().iter().find(|job| job["id"] == **id).map(|job| job["state"].clone())
        };
        for id in &ids {
            let state = state(id).unwrap_or_else(|| panic!("{id} is lost"));
            assert!(["queued", "running", "done"].iter().any(|known| state == *known), "{id}: {state}");
        }
    }
    for id in &ids {
        holder.fine(&format!("get {id} -o out.sz --force --quiet"));
        assert_eq!(fs::read(folder.path("out.sz")).unwrap(), own);
    }
}

#[test]
fn a_few_kills_lose_no_job() {
    kill("service-kill-few", 3);
}

#[test]
#[ignore = "long: 200 kills"]
fn two_hundred_kills_lose_no_job() {
    kill("service-kill", 200);
}

#[test]
#[ignore = "long: times of jobs and requests"]
fn times_of_jobs_and_requests() {
    let folder = folder("service-times", PROGRAM);
    let token = token(&folder);
    times(&folder, &Server::start(&folder, "serve --data server --workers 2"), &token);
}

/// Prints times of jobs and requests.
fn times(folder: &Folder, server: &Server, token: &str) {
    let holder = send(folder, server, token);
    let address = server.address.strip_prefix("http://").unwrap();
    let request = |method: &str, path: &str, body: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {token}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        std::io::Write::write_all(&mut stream, head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let timed = |times: u32, run: &dyn Fn()| {
        let begin = Instant::now();
        (0..times).for_each(|_| run());
        begin.elapsed() / times
    };
    println!(
        "GET /health {:?}",
        timed(1000, &|| assert!(request("GET", "/health", "").starts_with("HTTP/1.1 200")))
    );
    println!(
        "GET /v1/account {:?}",
        timed(1000, &|| assert!(request("GET", "/v1/account", "").starts_with("HTTP/1.1 200")))
    );
    println!(
        "PUT of a program {:?}",
        timed(100, &|| assert!(request("PUT", "/v1/programs/q", "mean(x)").starts_with("HTTP/1.1 200")))
    );
    let asked = "{\"program\":\"p\",\"keys\":\"k\",\"table\":\"t\"}";
    let begin = Instant::now();
    println!(
        "POST of a job {:?}",
        timed(50, &|| assert!(request("POST", "/v1/jobs", asked).starts_with("HTTP/1.1 202")))
    );
    while request("GET", "/v1/jobs", "").contains("\"queued\"") {
        std::thread::sleep(Duration::from_millis(10));
    }
    println!("50 jobs in {:?}", begin.elapsed());
    let eval = || {
        drop(folder.fine_of(&["eval", PROGRAM, "--keys", "keys/eval", "t.sz", "-o", "again.sz", "--force"]))
    };
    println!("sunzi eval {:?}", timed(5, &eval));
    drop(holder);
}

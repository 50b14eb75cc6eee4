//! A database and an object storage of the tests' own.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A user who is not the administrator: PostgreSQL starts for no other one.
const NOBODY: u32 = 65534;
/// Runs a command until standard input ends, which it does when the tests do, and then removes its folder.
const ATTACHED: &str =
    "folder=$1; shift; \"$@\" & child=$!; cat >/dev/null; kill -INT $child; wait $child; rm -rf \"$folder\"";

/// A command that ends with the tests, however they end.
struct Attached {
    /// Its standard input ends with this process.
    _shell: Child,
}

/// Starts a command that has a folder of its own, as the user whose the folder is.
fn attach(folder: &Path, command: &[&str]) -> Attached {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", ATTACHED, "sh"]).arg(folder).args(command).current_dir(folder).stdin(Stdio::piped());
    let log = std::fs::File::create(folder.join("log")).unwrap();
    shell.stdout(log.try_clone().unwrap()).stderr(log).process_group(0);
    let owner = std::fs::metadata(folder).unwrap();
    shell.uid(owner.uid()).gid(owner.gid());
    Attached { _shell: shell.spawn().unwrap() }
}

fn is_administrator() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

/// Makes a folder that outlives this process until its command ends.
fn folder() -> PathBuf {
    tempfile::tempdir().unwrap().keep()
}

/// Finds a command in these folders, or in the path.
fn find(name: &str, others: &[PathBuf]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = others.iter().cloned().chain(std::env::split_paths(&path));
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Waits until something listens at a port.
fn wait_for(port: u16, folder: &Path) {
    let begin = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        let log = || std::fs::read_to_string(folder.join("log")).unwrap_or_default();
        assert!(begin.elapsed() < Duration::from_secs(60), "nothing listens: {}", log());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// PostgreSQL, which all tests of this process share; each of them has a database there.
pub(crate) struct Postgres {
    port: u16,
    client: PathBuf,
    databases: AtomicUsize,
    _process: Attached,
}

impl Postgres {
    /// Starts PostgreSQL once; nothing where it is not installed.
    pub(crate) fn get() -> Option<&'static Self> {
        static ONE: OnceLock<Option<Postgres>> = OnceLock::new();
        ONE.get_or_init(Self::start).as_ref()
    }

    fn start() -> Option<Self> {
        let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
        let debian: Vec<PathBuf> = versions.map(|version| version.unwrap().path().join("bin")).collect();
        let (Some(initdb), Some(server), Some(client)) =
            (find("initdb", &debian), find("postgres", &debian), find("psql", &debian))
        else {
            println!("skipped: PostgreSQL is not installed (Debian: apt-get install postgresql)");
            return None;
        };
        let (folder, port) = (folder(), free_port());
        let mut made = Command::new(initdb);
        if is_administrator() {
            std::os::unix::fs::chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
            made.uid(NOBODY).gid(NOBODY);
        }
        made.args(["--auth=trust", "--username=sunzi", "--encoding=UTF8", "--locale=C", "-D", "data"]);
        assert!(made.current_dir(&folder).stdout(Stdio::null()).status().unwrap().success(), "initdb");
        let settings = format!(
            "-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=200"
        );
        let command: Vec<&str> =
            [server.to_str().unwrap(), "-D", "data"].into_iter().chain(settings.split(' ')).collect();
        let process = attach(&folder, &command);
        wait_for(port, &folder);
        let one = Self { port, client, databases: AtomicUsize::new(0), _process: process };
        // It listens before it answers.
        let begin = Instant::now();
        while !one.run("postgres", "SELECT 1") {
            assert!(begin.elapsed() < Duration::from_secs(60), "PostgreSQL does not answer");
        }
        Some(one)
    }

    /// Runs a statement; says whether it could.
    pub(crate) fn run(&self, database: &str, statement: &str) -> bool {
        let url = self.url(self.port, database);
        let mut client = Command::new(&self.client);
        client
            .args([&url, "-v", "ON_ERROR_STOP=1", "-qc", statement])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        client.status().unwrap().success()
    }

    /// Makes a database and returns its name.
    pub(crate) fn database(&self) -> String {
        let name = format!("tests_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        assert!(self.run("postgres", &format!("CREATE DATABASE {name}")));
        name
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The address of a database, by this port.
    #[expect(clippy::unused_self, reason = "an address of no PostgreSQL is of no use")]
    pub(crate) fn url(&self, port: u16, database: &str) -> String {
        format!("postgresql://sunzi@127.0.0.1:{port}/{database}")
    }
}

/// A storage with the interface of S3, which all tests of this process share; each of them has a bucket there.
pub(crate) struct S3 {
    port: u16,
    buckets: AtomicUsize,
    _process: Attached,
}

impl S3 {
    /// Starts the storage once; nothing where it is not installed.
    pub(crate) fn get() -> Option<&'static Self> {
        static ONE: OnceLock<Option<S3>> = OnceLock::new();
        ONE.get_or_init(Self::start).as_ref()
    }

    fn start() -> Option<Self> {
        let beside = std::env::current_exe().unwrap();
        let target = beside.ancestors().nth(3).unwrap().join("moto/bin");
        let Some(server) = find("moto_server", &[target]) else {
            println!("skipped: moto is not installed (.ci/storage installs it below the target folder)");
            return None;
        };
        let (folder, port) = (folder(), free_port());
        let process = attach(&folder, &[server.to_str().unwrap(), "-p", &port.to_string()]);
        wait_for(port, &folder);
        Some(Self { port, buckets: AtomicUsize::new(0), _process: process })
    }

    /// Makes a bucket and returns its name.
    pub(crate) fn bucket(&self) -> String {
        let name = format!("tests-{}", self.buckets.fetch_add(1, Ordering::Relaxed));
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let head = format!(
            "PUT /{name} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        name
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }
}

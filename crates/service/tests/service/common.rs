//! A server in this process, and a client that sends bytes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use sunzi_rlwe::wire::{Fingerprint, Header, Kind};
use sunzi_service::records::Records;
use sunzi_service::shared::{DatabaseAddress, ObjectsAddress, Settings, Shared};
use sunzi_service::store::{add_account, open_records};
use sunzi_service::{Config, Limits, Name, Page, Server, Stop, Worker};
use tempfile::TempDir;

use crate::elsewhere::Postgres;

/// A job whose result is its table.
pub(crate) const COPY: &str = "cat tables/* > result.sz; echo '{\"error\":null}'";

/// Where a server has its state and its bytes.
pub(crate) struct Place {
    /// Addresses of a database and of a storage.
    pub(crate) urls: Option<[String; 2]>,
    /// Folder of the objects, unless they are elsewhere.
    objects: Option<TempDir>,
}

impl Place {
    /// State and bytes in the folder of the server.
    pub(crate) fn folder() -> Self {
        Self { urls: None, objects: None }
    }

    /// State in PostgreSQL and bytes in a folder beside it; nothing where PostgreSQL is not installed.
    pub(crate) fn shared() -> Option<Self> {
        let postgres = Postgres::get()?;
        let objects = tempfile::tempdir().unwrap();
        let url = format!("file://{}", objects.path().display());
        Some(Self {
            urls: Some([postgres.url(postgres.port(), &postgres.database()), url]),
            objects: Some(objects),
        })
    }

    /// State and bytes at these addresses.
    pub(crate) fn at(urls: [String; 2]) -> Self {
        Self { urls: Some(urls), objects: None }
    }

    /// What servers share, if they do.
    pub(crate) fn addresses(&self) -> Option<Shared> {
        let [database, objects] = self.urls.as_ref()?;
        let settings =
            [("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "test"), ("AWS_REGION", "us-east-1")];
        let settings = Settings::from_iter(settings);
        Some(Shared {
            database: DatabaseAddress::new(database, &settings, None).unwrap(),
            objects: ObjectsAddress::new(objects, &settings, None).unwrap(),
        })
    }

    /// Opens the state of a server.
    pub(crate) fn records(&self, data: &Path) -> Arc<dyn Records> {
        match self.addresses() {
            None => open_records(data).unwrap(),
            Some(shared) => sunzi_service::shared::open_records(&shared.database).unwrap(),
        }
    }

    /// Adds an account and returns its token.
    pub(crate) fn account(&self, data: &Path, name: &str) -> String {
        add_account(&*self.records(data), &Name::new(name).unwrap()).unwrap().unwrap().reveal()
    }

    /// The files with stored bytes, by their names.
    pub(crate) fn stored(&self, data: &Path) -> Vec<PathBuf> {
        let above = self.objects.as_ref().map_or(data, TempDir::path).join("blobs");
        let folders = std::fs::read_dir(above).into_iter().flatten();
        folders
            .flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap())
            .map(|file| file.unwrap().path())
            .collect()
    }

    /// The configuration of a server with a folder.
    pub(crate) fn config(&self, data: &Path, change: impl FnOnce(&mut Limits)) -> Config {
        Config { shared: self.addresses(), ..config(data, change) }
    }
}

/// Makes tests of functions that take a place: over a folder, and over a database with a storage beside it.
macro_rules! over_both {
    ($($name:ident),+ $(,)?) => {
        #[cfg(test)]
        mod over_a_folder {
            $(#[test] fn $name() { super::$name(&crate::common::Place::folder()); })+
        }
        #[cfg(test)]
        mod over_a_database {
            $(#[test] fn $name() {
                if let Some(place) = crate::common::Place::shared() { super::$name(&place); }
            })+
        }
    };
}
pub(crate) use over_both;

/// The configuration of a server whose programs are scripts of the shell.
pub(crate) fn config(data: &Path, change: impl FnOnce(&mut Limits)) -> Config {
    let mut limits = Limits {
        job_time: Duration::from_secs(60),
        grace: Duration::from_millis(500),
        lease: Duration::from_secs(2),
        ..Limits::default()
    };
    change(&mut limits);
    let worker = Worker {
        program: "/bin/sh".into(),
        arguments: ["-c", "read task; . ./program"].map(Into::into).into(),
    };
    Config::new(data.to_owned(), worker, limits)
}

/// A server that stops when this is dropped.
pub(crate) struct Running {
    pub(crate) data: TempDir,
    pub(crate) client: Client,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub(crate) fn start(place: &Place, change: impl FnOnce(&mut Limits)) -> Self {
        let data = private_folder();
        let token = place.account(data.path(), "ada");
        Self::again(place, data, &token, change)
    }

    /// Starts a server for a folder that was served before.
    pub(crate) fn again(place: &Place, data: TempDir, token: &str, change: impl FnOnce(&mut Limits)) -> Self {
        Self::with_page(place, data, token, None, change)
    }

    /// Starts a server that has a page for browsers.
    pub(crate) fn with_page(
        place: &Place,
        data: TempDir,
        token: &str,
        page: Option<Page>,
        change: impl FnOnce(&mut Limits),
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = Client { address: listener.local_addr().unwrap(), token: token.to_owned() };
        let stop = Stop::new();
        let server = Server::open(place.config(data.path(), change)).unwrap().with_page(page);
        let handle = stop.clone();
        let thread = std::thread::spawn(move || server.run(listener, None, &handle).unwrap());
        Self { data, client, stop, thread: Some(thread) }
    }

    /// Stops the server and returns its folder.
    pub(crate) fn stop(mut self) -> TempDir {
        self.end();
        std::mem::replace(&mut self.data, private_folder())
    }

    fn end(&mut self) {
        self.stop.ask();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    /// Waits until so many files and folders of uploads and jobs are unfinished.
    pub(crate) fn wait_for_files(&self, expected: usize) {
        let begin = Instant::now();
        while std::fs::read_dir(self.data.path().join("work")).unwrap().count() != expected {
            assert!(begin.elapsed() < Duration::from_secs(60), "not {expected} unfinished files");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// A client of another account.
    pub(crate) fn other(&self, place: &Place, name: &str) -> Client {
        Client { address: self.client.address, token: place.account(self.data.path(), name) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// Makes a folder that its owner alone can reach.
pub(crate) fn private_folder() -> TempDir {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    tempfile::Builder::new().permissions(mode).tempdir().unwrap()
}

/// An answer of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .find_map(|line| line.split_once(": ").filter(|(own, _)| *own == name))
            .map(|(_, value)| value)
    }

    /// Reads an answer that ends with its connection.
    pub(crate) fn read(mut from: impl Read) -> Option<Self> {
        let mut bytes = Vec::new();
        drop(from.read_to_end(&mut bytes));
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some(Self { status, head, body: bytes[end + 4..].to_vec() })
    }
}

/// A client with a token.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
}

impl Client {
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// The head of a request of this client.
    pub(crate) fn head(&self, method: &str, path: &str, length: usize, more: &str) -> String {
        let token = &self.token;
        format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {token}\r\ncontent-length: {length}\r\n{more}\r\n"
        )
    }

    pub(crate) fn try_call(&self, method: &str, path: &str, body: &[u8], more: &str) -> Option<Answer> {
        let mut stream = TcpStream::connect(self.address).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
        stream.write_all(self.head(method, path, body.len(), more).as_bytes()).ok()?;
        // A server that refuses the head may close before the body is there.
        drop(stream.write_all(body));
        Answer::read(stream)
    }

    pub(crate) fn call(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        self.try_call(method, path, body, "").unwrap()
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.call("GET", path, b"")
    }

    /// Stores keys, a program and a table that a job can use.
    pub(crate) fn fill(&self, program: &str) {
        let parameters = file(Kind::BfvParameters, b"");
        assert_eq!(self.call("PUT", "/v1/keys/k/parameters.sz", &parameters).status, 200);
        self.program("p", program);
        assert_eq!(self.call("PUT", "/v1/tables/t", &table(b"rows")).status, 200);
    }

    pub(crate) fn program(&self, name: &str, text: &str) {
        assert_eq!(self.call("PUT", &format!("/v1/programs/{name}"), text.as_bytes()).status, 200);
    }

    /// Asks for a job over the table `t`.
    pub(crate) fn submit(&self, program: &str) -> Answer {
        let asked = serde_json::json!({ "program": program, "keys": "k", "table": "t" });
        self.call("POST", "/v1/jobs", asked.to_string().as_bytes())
    }

    /// The name of a job that was accepted.
    pub(crate) fn queue(&self, program: &str) -> String {
        let answer = self.submit(program);
        assert_eq!(answer.status, 202, "{answer:?}");
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn job(&self, id: &str) -> Value {
        self.get(&format!("/v1/jobs/{id}")).json()
    }

    /// Waits until a job has one of these states.
    pub(crate) fn wait(&self, id: &str, states: &[&str]) -> Value {
        let begin = Instant::now();
        loop {
            let job = self.job(id);
            if states.iter().any(|state| job["state"] == *state) {
                return job;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "{job}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A file of Sunzi of a kind, by its header.
pub(crate) fn file(kind: Kind, body: &[u8]) -> Vec<u8> {
    let parameters = Fingerprint { ring: [1; 8], scheme: [2; 8] };
    let header = Header { kind: kind as u16, parameters, key: None, body_len: body.len() as u64 };
    [&header.to_bytes(), body].concat()
}

/// An encrypted table, by its header.
pub(crate) fn table(body: &[u8]) -> Vec<u8> {
    file(Kind::BfvTable, body)
}

/// Numbers that look random and are the same in every run.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// A number below another one.
    pub(crate) fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next()).unwrap() % most.max(1)
    }

    pub(crate) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

//! Two servers over one database and one object storage, as the command line starts them.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::elsewhere::{Postgres, S3};

/// Keys of the storage, which takes any.
const KEYS: [(&str, &str); 2] = [("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "tiger-4711")];

/// Options that name a database and a storage; nothing where they are not installed.
fn options() -> Option<[String; 2]> {
    let (postgres, storage) = (Postgres::get()?, S3::get()?);
    let database = format!("--database {}", postgres.url(postgres.port(), &postgres.database()));
    Some([format!("--objects http://127.0.0.1:{}/{}/state", storage.port(), storage.bucket()), database])
}

#[test]
fn two_servers_share_what_a_key_holder_stored() {
    let Some([objects, database]) = options() else { return };
    let folder = folder("service-shared", PROGRAM);
    let token = folder.fine(&format!("account add ursula {database}")).trim().to_owned();
    fs::write(folder.path("secrets"), KEYS.map(|(name, value)| format!("{name}={value}\n")).concat())
        .unwrap();
    fs::set_permissions(folder.path("secrets"), PermissionsExt::from_mode(0o600)).unwrap();
    let line = |data: &str| format!("serve --data {data} {database} {objects}");
    let one = Server::start(&folder, &(line("one") + " --secrets secrets"));
    let holder = send(&folder, &one, &token);
    assert_eq!(one.stop(), Some(0));
    let log = fs::read_to_string(folder.path("log")).unwrap();
    assert!(!log.contains("4711") && !log.contains("ursula"), "{log}");
    let two = Server::start_with(&folder, &line("two"), &KEYS);
    let holder = Holder { address: two.address.clone(), ..holder };
    let id = holder.fine("run p --keys k t");
    holder.fine(&format!("get {id} -o out.sz"));
    assert_eq!(fs::read(folder.path("out.sz")).unwrap(), fs::read(folder.path("own.sz")).unwrap());
    let listed = folder.fine(&format!("account list {database}"));
    assert!(listed.contains("ursula: ") && listed.contains("1 job"), "{listed}");
    folder.fine(&format!("account remove ursula {database}"));
    holder.refused(&["list"], 2, &["this token opens no account"]);
}

#[test]
fn addresses_that_cannot_be_used_are_refused_without_their_secrets() {
    let folder = Folder::new("service-addresses");
    fs::write(folder.path("secrets"), "SUNZI_DATABASE_PASSWORD=tiger-4711\n").unwrap();
    fs::set_permissions(folder.path("secrets"), PermissionsExt::from_mode(0o644)).unwrap();
    let nobody = "--database postgresql://scott@127.0.0.1:1/sunzi";
    for (line, code, words) in [
        (
            "account list --database postgresql://scott:tiger-4711@db.example.org/sunzi".to_owned(),
            2,
            "has a password",
        ),
        (format!("account list --secrets secrets {nobody}"), 2, "chmod 600"),
        (format!("account list {nobody}"), 6, "postgresql://127.0.0.1:1/sunzi cannot be used now"),
        (format!("serve --data d {nobody}"), 2, "--objects"),
        (
            format!("serve --data d {nobody} --objects http://storage.example.org/bucket"),
            2,
            "begins with http",
        ),
        (
            format!("serve --data d {nobody} --objects https://me:tiger-4711@storage.example.org/b"),
            2,
            "give keys by",
        ),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sunzi"));
        let output = command.args(line.split(' ')).current_dir(folder.path("")).output().unwrap();
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{line}: {text}");
        assert!(text.contains(words) && !text.contains("4711"), "{line}: {text}");
    }
}

#[test]
#[ignore = "long: times of jobs and requests"]
fn times_of_jobs_and_requests_of_a_server_that_shares() {
    let Some([objects, database]) = options() else { return };
    let folder = super::folder("service-shared-times", PROGRAM);
    let token = folder.fine(&format!("account add ursula {database}")).trim().to_owned();
    let line = format!("serve --data server --workers 2 {database} {objects}");
    times(&folder, &Server::start_with(&folder, &line, &KEYS), &token);
}

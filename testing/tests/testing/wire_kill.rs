//! Writers that are killed while a file is replaced leave the old one or the new one, and those that find the disk full the old one.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, fs, thread};

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sunzi_bfv::{Context, Parameters};
use sunzi_rlwe::wire::{self, WireError};
use sunzi_rlwe::{KeyId, RelinearizationKey, SecretKey};
use sunzi_testing::Figure;
use sunzi_testing::process::again;

/// Environment variable with the folder of a writer.
const FOLDER: &str = "SUNZI_KILLED_WRITER";
/// Environment variable with the folder of a writer whose disk is full.
const FULL: &str = "SUNZI_WRITER_ON_A_FULL_DISK";

/// Runs only if started by another test: replaces a file by one of two repeatedly, in small steps.
#[test]
fn writer() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let folder = Path::new(&folder);
    let both = ["0", "1"].map(|name| fs::read(folder.join(name)).unwrap());
    loop {
        for bytes in &both {
            wire::replace(&folder.join("key"), false, |file| {
                bytes.chunks(4096).try_for_each(|part| file.write_all(part)).map_err(WireError::Io)
            })
            .unwrap();
        }
    }
}

fn start(folder: &Path) -> Child {
    again("wire_kill::writer")
        .unwrap()
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn kill(times: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    let context = Context::new(&Parameters::builder().depth(1).build().unwrap()).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let names: Vec<KeyId> = ["0", "1"]
        .iter()
        .map(|name| {
            let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
            let key = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
            wire::store(context.rlwe(), &key, folder.path().join(name)).unwrap();
            key.id()
        })
        .collect();
    let mut seen = [0; 2];
    fs::copy(folder.path().join("0"), &path).unwrap();
    for _ in 0..times {
        let mut writer = start(folder.path());
        thread::sleep(Duration::from_micros(5_000 + rng.next_u64() % 60_000));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let key: RelinearizationKey = wire::load(context.rlwe(), &path).unwrap();
        let which = names.iter().position(|&name| name == key.id()).unwrap();
        seen[which] += 1;
    }
    assert!(times < 50 || seen.iter().all(|&count| count > 0), "{seen:?}");
    let left = fs::read_dir(folder.path()).unwrap().count() - 3;
    assert!(left <= times, "a killed writer leaves at most one file beside");
    println!("{times} killed writers: {seen:?} of both files, {left} parts left beside");
    Figure::new(18, "killed writers that left neither file").cases(times, 200).none_wrong(0);
}

#[test]
fn ten_killed_writers_leave_whole_files() {
    kill(10);
}

#[test]
#[ignore = "long: 200 processes"]
fn two_hundred_killed_writers_leave_whole_files() {
    kill(200);
}

/// Runs only if started by another test: replaces a file once, where files cannot grow beyond a limit.
#[test]
fn writer_on_a_full_disk() {
    let Some(folder) = env::var_os(FULL) else { return };
    let folder = Path::new(&folder);
    let bytes = fs::read(folder.join("new")).unwrap();
    let written = wire::replace(&folder.join("key"), false, |file| {
        bytes.chunks(100).try_for_each(|part| file.write_all(part)).map_err(WireError::Io)
    });
    assert!(matches!(written, Err(WireError::Io(_))), "{written:?}");
}

/// Checks a full disk, simulated by a limit on the size of files: every write beyond it fails.
#[cfg(unix)]
#[test]
fn full_disks_leave_the_old_file() {
    const BLOCK: usize = 512;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    let (old, new) = (vec![1; 700], vec![2; 64 * BLOCK]);
    fs::write(&path, &old).unwrap();
    fs::write(folder.path().join("new"), &new).unwrap();
    let writer = env::current_exe().unwrap();
    let script = r#"trap '' XFSZ; ulimit -f "$1"; shift; exec "$@""#;
    for blocks in 0..new.len() / BLOCK {
        let status = Command::new("sh")
            .args(["-c", script, "sh", &blocks.to_string()])
            .arg(&writer)
            .args(["--exact", "wire_kill::writer_on_a_full_disk"])
            .env(FULL, folder.path())
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success(), "the writer says so at {blocks} blocks");
        assert_eq!(fs::read(&path).unwrap(), old, "{blocks} blocks");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "{blocks} blocks");
    }
    let steps = new.len() / BLOCK;
    Figure::new(18, "full disks that left anything but the old file").cases(steps, steps).none_wrong(0);
}

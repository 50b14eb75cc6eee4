//! Commands that are killed at random moments leave the old file or the new one.

use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::Folder;

const PROGRAM: &str = "mean(x); sum(x * y); corr(x, y); x + y";

/// A sequence of numbers that spread over moments.
struct Moments(u64);

impl Moments {
    /// A share of a time, different at each call.
    fn of(&mut self, whole: Duration) -> Duration {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        whole.mul_f64((self.0 >> 33) as f64 / f64::from(1_u32 << 31))
    }
}

/// Tables, keys, an encrypted table and results, of which all but the tables are written again and again.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    let table: String = (0..20_000).map(|i| format!("{},{}\n", i % 97, i % 89)).collect();
    fs::write(folder.path("t.csv"), format!("x,y\n{table}")).unwrap();
    folder.fine("schema --table t.csv -o s.json");
    folder.fine_of(&[
        "plan",
        PROGRAM,
        "--schema",
        "s.json",
        "--scheme",
        "bfv",
        "-o",
        "job.params",
        "--no-time",
    ]);
    keygen(&folder, "keys").wait().unwrap();
    assert!(encrypt(&folder).wait().unwrap().success() && eval(&folder).wait().unwrap().success());
    folder
}

fn start(folder: &Folder, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sunzi"));
    command
        .args(arguments)
        .current_dir(folder.path("."))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn keygen(folder: &Folder, keys: &str) -> Child {
    start(folder, &["keygen", "job.params", "-d", keys, "--for", PROGRAM, "--schema", "s.json", "--quiet"])
}

fn encrypt(folder: &Folder) -> Child {
    start(
        folder,
        &[
            "encrypt",
            "--keys",
            "keys/public",
            "--table",
            "t.csv",
            "--schema",
            "s.json",
            "-o",
            "t.sz",
            "--force",
            "--quiet",
        ],
    )
}

fn eval(folder: &Folder) -> Child {
    start(folder, &["eval", PROGRAM, "--keys", "keys/eval", "t.sz", "-o", "out.sz", "--force", "--quiet"])
}

/// How long a run takes that is not killed.
fn whole(mut run: impl FnMut() -> Child) -> Duration {
    let begin = Instant::now();
    assert!(run().wait().unwrap().success());
    begin.elapsed()
}

/// Kills writers of a file; how often it was the old one and the new one then.
fn killed(
    folder: &Folder,
    file: &str,
    times: usize,
    moments: &mut Moments,
    run: impl Fn(&Folder) -> Child,
) -> [usize; 2] {
    let time = whole(|| run(folder));
    let mut seen = [0; 2];
    for _ in 0..times {
        let path = folder.path(file);
        // Results may have the bytes they had; a file that was put in place has another time.
        let look = || (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap());
        let (old, then) = look();
        let mut child = run(folder);
        thread::sleep(moments.of(time.mul_f64(1.6)));
        child.kill().unwrap();
        child.wait().unwrap();
        let (bytes, now) = look();
        let is_new = now != then;
        assert!(is_new || bytes == old, "{file}: an old file changed");
        if is_new {
            folder.fine(&format!("check {file} --params job.params"));
        }
        seen[usize::from(is_new)] += 1;
    }
    seen
}

/// Kills `keygen` at random moments; how often no folder of keys was there then, and how often one with all of
/// them.
fn killed_keygen(folder: &Folder, times: usize, moments: &mut Moments) -> [usize; 2] {
    let time = whole(|| keygen(folder, "timed"));
    let mut seen = [0; 2];
    for i in 0..times {
        let keys = format!("keys-{i}");
        let mut child = keygen(folder, &keys);
        thread::sleep(moments.of(time.mul_f64(1.6)));
        child.kill().unwrap();
        child.wait().unwrap();
        let is_new = folder.path(&keys).exists();
        if is_new {
            for file in ["secret/secret.sz", "public/public.sz", "eval/relinearization.sz", "eval/galois.sz"]
            {
                folder.fine(&format!("check {keys}/{file} --params job.params"));
            }
            fs::remove_dir_all(folder.path(&keys)).unwrap();
        }
        seen[usize::from(is_new)] += 1;
    }
    seen
}

fn kill(name: &str, times: usize) {
    let (folder, mut moments) = (folder(name), Moments(7));
    let encrypted = killed(&folder, "t.sz", times, &mut moments, encrypt);
    let evaluated = killed(&folder, "out.sz", times, &mut moments, eval);
    let made = killed_keygen(&folder, times, &mut moments);
    let said = format!("old and new files of encrypt {encrypted:?}, eval {evaluated:?}, keygen {made:?}\n");
    std::io::stderr().write_all(said.as_bytes()).unwrap();
    let parts = fs::read_dir(folder.path(".")).unwrap().filter(|entry| {
        entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with(".sunzi-"))
    });
    assert!(parts.count() <= 3 * times, "a killed writer leaves at most one file beside");
    // The moments are so many that some hit both sides.
    assert!(times < 50 || [encrypted, evaluated, made].iter().flatten().all(|&count| count > 0));
    folder.fine("decrypt --keys keys/secret out.sz");
}

#[test]
fn a_few_killed_commands_leave_whole_files() {
    kill("kill-few", 3);
}

#[test]
#[ignore = "long: 201 processes"]
fn two_hundred_killed_commands_leave_whole_files() {
    kill("kill", 67);
}

//! Whoever is killed while a file is replaced leaves the old one or the new one.

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};
    use std::time::Duration;
    use std::{env, fs, thread};

    use chacha20::ChaCha20Rng;
    use rand_core::{Rng, SeedableRng};
    use sunzi_bfv::{Context, Parameters};
    use sunzi_ring::Ring;
    use sunzi_rlwe::wire;
    use sunzi_rlwe::{KeyId, RelinearizationKey, SecretKey};

    /// Where a writer finds its files.
    const FOLDER: &str = "SUNZI_KILLED_WRITER";

    /// Not a test unless started by one: replaces a file by one of two again and again, in small steps.
    #[test]
    fn writer() {
        let Some(folder) = env::var_os(FOLDER) else { return };
        let folder = Path::new(&folder);
        let both = ["0", "1"].map(|name| fs::read(folder.join(name)).unwrap());
        loop {
            for bytes in &both {
                wire::replace(&folder.join("key"), false, |file| {
                    Ok(bytes.chunks(4096).try_for_each(|part| file.write_all(part))?)
                })
                .unwrap();
            }
        }
    }

    fn start(folder: &Path) -> Child {
        Command::new(env::current_exe().unwrap())
            .args(["--exact", "tests::writer"])
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
            let key: RelinearizationKey<Ring> = wire::load(context.rlwe(), &path).unwrap();
            let which = names.iter().position(|&name| name == key.id()).unwrap();
            seen[which] += 1;
        }
        assert!(times < 50 || seen.iter().all(|&count| count > 0), "{seen:?}");
        let left = fs::read_dir(folder.path()).unwrap().count() - 3;
        assert!(left <= times, "a killed writer leaves at most one file beside");
        println!("{times} killed writers: {seen:?} of both files, {left} parts left beside");
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
}

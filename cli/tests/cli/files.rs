//! Parameters and keys as files: what each command leaves behind, refuses and says.

use std::fs;
use std::path::Path;

use crate::common::{Folder, json, stdout};

const FILES: [&str; 4] =
    ["secret/secret.sz", "public/public.sz", "eval/relinearization.sz", "eval/galois.sz"];

#[test]
fn keys_of_every_scheme_belong_to_their_parameters_alone() {
    let folder = Folder::new("files-keys");
    let schemes = [
        ("bfv", "--depth 1 --plain-bits 17"),
        ("several", "--depth 1 --plain-range 1000000000000"),
        ("bgv", "--depth 1 --scheme bgv"),
        ("ckks", "--depth 1 --precision 20 --scheme auto"),
        ("general", "--plain 2 --slots 100 --depth 1"),
    ];
    for (name, options) in schemes {
        folder.fine(&format!("params {options} -o {name}.params"));
        folder.fine(&format!("keygen {name}.params -d {name}"));
        for file in FILES {
            let text = folder.fine(&format!("check {name}/{file} --params {name}.params"));
            assert!(text.starts_with("whole: "), "{text}");
        }
        let seen = json(&folder.run(&format!("inspect {name}/secret/secret.sz --json")));
        assert_eq!((&seen["secret"], &seen["scheme"]), (&true.into(), &serde_json::Value::Null));
        assert_eq!(
            seen["bytes"],
            fs::metadata(folder.path(&format!("{name}/secret/secret.sz"))).unwrap().len()
        );
    }
    // Keys belong to a ring, which schemes may share.
    let ring = |file: &str| json(&folder.run(&format!("inspect {file} --json")))["ring"].clone();
    let mut refused = 0;
    for (name, _) in schemes {
        let keys = format!("{name}/{}", FILES[3]);
        for (other, _) in schemes {
            let other = format!("{other}.params");
            if ring(&keys) == ring(&other) {
                folder.fine(&format!("check {keys} --params {other}"));
            } else {
                folder.refused(&format!("check {keys} --params {other}"), 3, &["other ring"]);
                refused += 1;
            }
        }
    }
    assert!(refused >= 12, "{refused}");
    // A file of another kind, and parameters that are none.
    folder.refused("check bfv.params --params bfv.params", 3, &["BFV parameters"]);
    folder.refused("check bfv/public/public.sz --params bfv/public/public.sz", 3, &["a public key"]);
}

#[test]
fn nothing_is_overwritten_or_half_written() {
    let folder = Folder::new("files-refused");
    folder.fine("params -o job.params");
    let before = fs::read(folder.path("job.params")).unwrap();
    folder.refused("params --depth 2 -o job.params", 2, &["job.params", "already"]);
    assert_eq!(fs::read(folder.path("job.params")).unwrap(), before);
    folder.fine("keygen job.params -d keys --rotations 1,-2,1");
    folder.refused("keygen job.params -d keys", 2, &["keys", "never overwritten"]);
    folder.refused("keygen job.params -d no/such/folder", 6, &["no/such"]);
    folder.refused("keygen job.params -d more --rotations one", 2, &["sums, none"]);
    folder.refused("keygen nothing.params -d more", 6, &["nothing.params", "no such file"]);
    let text = folder.fine("check keys/eval/galois.sz --params job.params");
    assert!(text.contains("Galois keys, 2 in"), "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |file: &str| fs::metadata(folder.path(file)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode("keys/secret/secret.sz"), 0o600);
        assert_eq!(mode("keys/secret/sharing.sz"), 0o600);
        assert_eq!(mode("keys/secret"), 0o700);
        assert_ne!(mode("keys/public/public.sz"), 0o600);
    }
    let mut left: Vec<_> = names(&folder.path("."));
    left.sort();
    assert_eq!(left, ["job.params", "keys"]);
}

fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn damaged_files_are_told_from_others() {
    let folder = Folder::new("files-damaged");
    folder.fine("params -o job.params");
    folder.fine("keygen job.params -d keys --rotations none");
    let whole = fs::read(folder.path("keys/public/public.sz")).unwrap();
    let write = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        fs::write(folder.path("damaged.sz"), bytes).unwrap();
    };
    let check = "check damaged.sz --params job.params";
    write(&|bytes| bytes.truncate(bytes.len() - 1));
    folder.refused(check, 5, &["ends before"]);
    let inspected = folder.run("inspect damaged.sz");
    assert_eq!(inspected.status.code(), Some(5));
    assert!(stdout(&inspected).contains("a public key"));
    write(&|bytes| bytes.push(0));
    folder.refused(check, 5, &["1 bytes follow"]);
    write(&|bytes| *bytes.last_mut().unwrap() ^= 1);
    folder.refused(check, 5, &["checksum"]);
    write(&|bytes| bytes[20] ^= 1);
    folder.refused(check, 5, &["checksum of the header"]);
    write(&|bytes| bytes.truncate(30));
    folder.refused(check, 5, &["ends before"]);
    fs::write(folder.path("damaged.sz"), "a,b\n1,2\n".repeat(20)).unwrap();
    folder.refused("inspect damaged.sz", 5, &["no file of Sunzi"]);
    folder.refused("inspect missing.sz", 6, &["missing.sz"]);
    folder.refused("inspect keys", 2, &["keys"]);
}

//! Secret keys that others can read: refused, with the command that mends it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use crate::common::{Folder, stderr, stdout};

fn set(folder: &Folder, mode: u32) {
    fs::set_permissions(folder.path("keys/secret/secret.sz"), Permissions::from_mode(mode)).unwrap();
}

#[test]
fn secret_keys_that_others_can_read_are_refused() {
    let folder = Folder::new("modes");
    fs::write(folder.path("t.csv"), "x\n1\n2\n3\n").unwrap();
    folder.fine("schema --table t.csv -o s.json");
    folder.fine("plan sum(x) --schema s.json --scheme bfv --no-time -o p.sz");
    folder.fine("keygen p.sz -d keys --for sum(x) --schema s.json -q");
    folder.fine("encrypt --keys keys/public --table t.csv -o t.sz -q");
    folder.fine("eval sum(x) --keys keys/eval t.sz -o r.sz -q");
    let readers = [
        "decrypt --keys keys/secret r.sz -q",
        "encrypt --keys keys/secret --table t.csv -o u.sz -q --force",
        "check keys/secret/secret.sz --params p.sz",
    ];
    for mode in [0o600, 0o400] {
        set(&folder, mode);
        for command in readers {
            assert_eq!(stderr(&folder.run(command)), "", "{mode:o} {command}");
        }
    }
    fs::remove_file(folder.path("u.sz")).unwrap();
    for mode in [0o640, 0o604, 0o644, 0o620, 0o666] {
        set(&folder, mode);
        for command in readers {
            let mode = format!("(mode {mode:04o})");
            let mend = "run chmod 600 \"keys/secret/secret.sz\", or go on with --allow-open-mode";
            folder.refused(
                command,
                2,
                &["is a secret key that others on this machine can reach", &mode, mend],
            );
        }
        assert!(!folder.path("u.sz").exists());
    }
    // Whoever asks for it goes on with a warning.
    let output = folder.run(&format!("{} --allow-open-mode", readers[0]));
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "sum(x): 6\n"));
    assert!(stderr(&output).starts_with("warning: \"keys/secret/secret.sz\""), "{}", stderr(&output));
    let seen = folder.run("inspect keys/secret/secret.sz");
    assert_eq!(seen.status.code(), Some(0));
    assert!(stderr(&seen).contains("chmod 600"), "{}", stderr(&seen));
    // Other files may be read by anybody.
    for file in ["public/public.sz", "eval/galois.sz"] {
        assert_eq!(stderr(&folder.run(&format!("check keys/{file} --params p.sz"))), "");
    }
    // The command that the message names mends it.
    let output =
        folder.shell("chmod 600 \"keys/secret/secret.sz\" && sunzi decrypt --keys keys/secret r.sz -q");
    assert_eq!((stdout(&output).as_str(), stderr(&output).as_str()), ("sum(x): 6\n", ""));
}

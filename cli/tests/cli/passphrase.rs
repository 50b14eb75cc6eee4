//! Secret keys under a passphrase: made, opened, changed and removed, and what is refused.

use std::fs;

use crate::common::{Folder, json, stderr, stdout};

const PROGRAM: &str = "mean(x); sum(x * y)";

/// A folder with parameters, passphrases in files, and a table.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    fs::write(folder.path("t.csv"), "x,y\n1,2\n3,4\n").unwrap();
    fs::write(folder.path("long"), "correct horse battery staple\nnot this\n").unwrap();
    fs::write(folder.path("other"), "another passphrase").unwrap();
    folder.fine("schema t.csv -o s.json");
    folder.fine_of(&["plan", PROGRAM, "--schema", "s.json", "-o", "job.params", "--no-time"]);
    folder
}

fn keygen(folder: &Folder, options: &str) {
    let fixed = ["keygen", "job.params", "-d", "keys", "--for", PROGRAM, "--schema", "s.json", "--quiet"];
    folder.fine_of(&[&fixed[..], &options.split_whitespace().collect::<Vec<_>>()].concat());
    folder.fine("encrypt t.csv --keys keys/public --schema s.json -o t.sz --quiet");
    folder.fine_of(&["eval", PROGRAM, "--keys", "keys/eval", "t.sz", "-o", "r.sz"]);
}

fn decrypted(folder: &Folder, options: &[&str]) -> String {
    folder.fine_of(&[&["decrypt", "r.sz", "--keys", "keys/secret", "--quiet"][..], options].concat())
}

const ANSWER: &str = "mean(x): 2\nsum(x * y): 14\n";

#[test]
fn keys_are_made_and_opened_under_a_passphrase() {
    let folder = folder("passphrase-made");
    keygen(&folder, "--new-passphrase-file long");
    let file = folder.path("keys/secret/secret.sz");
    let bytes = fs::read(&file).unwrap();
    let inspected = json(&folder.run("inspect keys/secret/secret.sz --json"));
    assert_eq!(inspected["object"], "a SECRET under a passphrase", "{inspected}");
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
    assert!(decrypted(&folder, &["--passphrase-file", "long"]).starts_with(ANSWER));
    assert!(decrypted(&folder, &["--passphrase-command", "head -n 1 long"]).starts_with(ANSWER));
    folder.fine("encrypt t.csv --keys keys/secret --schema s.json -o u.sz --passphrase-file long --quiet");
    let refused = |options: &str, words: &str| {
        folder.refused(format!("decrypt r.sz --keys keys/secret {options}").trim(), 2, &[words]);
    };
    refused("", "--passphrase-file");
    refused("--passphrase-file other", "does not open the file");
    refused("--passphrase-file t.csv", "does not open the file");
    refused("--passphrase-command false", "ended with");
    refused("--passphrase-command true", "printed nothing");
    refused("--passphrase-file long --passphrase-command true", "cannot be used with");
    folder.refused("decrypt r.sz --keys keys/secret --passphrase-file none", 6, &["there is no such file"]);
    folder.refused("check keys/secret/secret.sz --params job.params", 2, &["sunzi passphrase remove"]);
    assert_eq!(fs::read(&file).unwrap(), bytes);
    // A changed byte opens for no passphrase.
    let mut changed = bytes.clone();
    changed[200] ^= 1;
    fs::write(&file, changed).unwrap();
    refused("--passphrase-file long", "does not open the file");
}

#[test]
fn a_passphrase_is_set_changed_and_removed() {
    let folder = folder("passphrase-changed");
    keygen(&folder, "");
    let file = folder.path("keys/secret/secret.sz");
    let bytes = fs::read(&file).unwrap();
    folder.fine("passphrase set keys/secret --new-passphrase-file long");
    let first = fs::read(&file).unwrap();
    folder.refused("passphrase set keys/secret --new-passphrase-file long", 2, &["sunzi passphrase change"]);
    folder.refused(
        "passphrase change keys/secret --passphrase-file other --new-passphrase-file long",
        2,
        &["does not open the file"],
    );
    folder.refused("passphrase remove keys/secret --passphrase-file other", 2, &["does not open the file"]);
    assert_eq!(fs::read(&file).unwrap(), first);
    let line =
        "passphrase change keys/secret/secret.sz --passphrase-file long --new-passphrase-file other --json";
    assert_eq!(json(&folder.run(line))["passphrase"], true);
    assert!(decrypted(&folder, &["--passphrase-file", "other"]).starts_with(ANSWER));
    folder.fine("passphrase remove keys/secret --passphrase-file other");
    assert_eq!(fs::read(&file).unwrap(), bytes);
    assert!(decrypted(&folder, &[]).starts_with(ANSWER));
    folder.refused("passphrase remove keys/secret --passphrase-file other", 2, &["sunzi passphrase set"]);
    folder.refused("passphrase set keys/public/public.sz --new-passphrase-file long", 2, &["a public key"]);
    folder.refused("passphrase set t.csv --new-passphrase-file long", 5, &["no file of Sunzi"]);
    fs::write(folder.path("empty"), "\n").unwrap();
    folder.refused("passphrase set keys/secret --new-passphrase-file empty", 2, &["expected 1 to 1024"]);
    fs::write(folder.path("short"), "short").unwrap();
    let warned = folder.run("passphrase set keys/secret --new-passphrase-file short");
    assert!(warned.status.success() && stderr(&warned).contains("fewer than 12"), "{}", stderr(&warned));
    assert!(stdout(&warned).contains("is under the passphrase"));
}

#[test]
fn keys_of_lookups_may_have_one() {
    let folder = folder("passphrase-lookup");
    fs::write(folder.path("words.csv"), "word,number\none,1\ntwo,2\n").unwrap();
    folder.fine("lookup build words.csv --by word -d words");
    folder.fine("lookup keygen words/description.sz -d keys");
    folder.fine("passphrase set keys/secret --new-passphrase-file long");
    folder.refused(
        "lookup ask words/description.sz two --keys keys/secret -o q.sz",
        2,
        &["--passphrase-file"],
    );
    let open = "--keys keys/secret --passphrase-file long";
    folder.fine(&format!("lookup ask words/description.sz two {open} -o q.sz"));
    folder.fine("lookup answer words q.sz --keys keys/eval -o a.sz");
    assert_eq!(folder.fine(&format!("lookup read a.sz --note q.sz.asked {open}")), "number  2\n");
}

/// A service that wraps keys: it turns the bits of what it gets over, and keeps a list of how often it was asked.
#[cfg(unix)]
const SERVICE: &str = "printf x >> \"$1.calls\"; [ \"$1\" = wrap ] && printf v1:; [ \"$1\" = unwrap ] && head -c 3 > /dev/null; tr '\\000-\\377' '\\200-\\377\\000-\\177'";

#[cfg(unix)]
#[test]
fn a_service_that_does_not_give_the_key_back_leaves_the_secret() {
    let folder = folder("passphrase-service");
    keygen(&folder, "");
    fs::write(folder.path("kms"), SERVICE).unwrap();
    let (set, file) = (["passphrase", "set", "keys/secret"], folder.path("keys/secret/secret.sz"));
    let plain = fs::read(&file).unwrap();
    let wrapping = |wrap: &str, unwrap: &str| {
        let options = ["--new-wrap-command", wrap, "--new-unwrap-command", unwrap];
        folder.run_of(&[&set[..], &options].concat())
    };
    // A service that does not give the key back leaves the secret as it was.
    for (wrap, unwrap, word) in [
        ("false", "cat", "ended with"),
        ("sh kms wrap", "cat", "35 bytes: expected 32"),
        ("cat", "sh kms wrap | tail -c 32", "does not open the file"),
        ("cat", "base64", "base64 -d"),
        ("head -c 70000 /dev/zero", "cat", "more than 65536 bytes"),
        ("true", "cat", "printed nothing"),
    ] {
        let output = wrapping(wrap, unwrap);
        assert_eq!(output.status.code(), Some(2), "{wrap}: {}", stderr(&output));
        assert!(stderr(&output).contains(word), "{wrap}: {}", stderr(&output));
        assert_eq!(fs::read(&file).unwrap(), plain, "{wrap}");
    }
    fs::remove_file(folder.path("wrap.calls")).unwrap();
    assert!(wrapping("sh kms wrap", "sh kms unwrap").status.success());
    assert_eq!(fs::read(folder.path("wrap.calls")).unwrap(), b"x");
    let locked = fs::read(&file).unwrap();
    assert_eq!((&locked[96..99], locked.len()), (&b"v1:"[..], plain.len() + 64 + 24 + 8 + 35 + 16));
    let inspected = json(&folder.run("inspect keys/secret/secret.sz --json"));
    assert_eq!(inspected["object"], "a SECRET under a wrapped key", "{inspected}");
}

#[cfg(unix)]
#[test]
fn a_wrapped_key_opens_by_its_service_alone() {
    let folder = folder("passphrase-wrapped");
    fs::write(folder.path("kms"), SERVICE).unwrap();
    keygen(&folder, "");
    let plain = fs::read(folder.path("keys/secret/secret.sz")).unwrap();
    let wrap = ["--new-wrap-command", "sh kms wrap", "--new-unwrap-command", "sh kms unwrap"];
    folder.fine_of(&[&["passphrase", "set", "keys/secret"][..], &wrap].concat());
    let open = ["--unwrap-command", "sh kms unwrap"];
    assert!(decrypted(&folder, &open).starts_with(ANSWER));
    for (options, word) in [
        (&[][..], "--unwrap-command"),
        (&["--passphrase-file", "long"], "--unwrap-command"),
        (&["--unwrap-command", "cat"], "35 bytes"),
        (&["--unwrap-command", "head -c 32 /dev/zero"], "does not open the file"),
        (&["--unwrap-command", "sh kms unwrap; exit 9"], "ended with"),
    ] {
        let output = folder.run_of(&[&["decrypt", "r.sz", "--keys", "keys/secret"][..], options].concat());
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(stderr(&output).contains(word), "{options:?}: {}", stderr(&output));
    }
    // A file name is no part of any command.
    fs::create_dir(folder.path("$(touch hacked)")).unwrap();
    for name in ["secret.sz", "parameters.sz"] {
        fs::copy(
            folder.path(&format!("keys/secret/{name}")),
            folder.path(&format!("$(touch hacked)/{name}")),
        )
        .unwrap();
    }
    let odd = ["decrypt", "r.sz", "--keys", "$(touch hacked)", "-q", open[0], open[1]];
    assert!(folder.fine_of(&odd).starts_with(ANSWER) && !folder.path("hacked").exists());
    // From the service to a passphrase, and back to none.
    let change = ["passphrase", "change", "keys/secret", open[0], open[1], "--new-passphrase-file", "long"];
    folder.fine_of(&change);
    folder.fine("passphrase remove keys/secret --passphrase-file long");
    assert_eq!(fs::read(folder.path("keys/secret/secret.sz")).unwrap(), plain);
    // Keys are made under a service as well.
    let made = ["keygen", "job.params", "-d", "wrapped", "--rotations", "none", "-q"];
    folder.fine_of(&[&made[..], &wrap].concat());
    let inspected = json(&folder.run("inspect wrapped/secret/secret.sz --json"));
    assert_eq!(inspected["object"], "a SECRET under a wrapped key", "{inspected}");
    folder.refused("keygen job.params -d x --new-wrap-command cat", 2, &["--new-unwrap-command"]);
}

#[test]
fn files_without_a_secret_are_refused_before_a_passphrase_is_asked_for() {
    let folder = folder("passphrase-kinds");
    keygen(&folder, "");
    folder.refused("passphrase set keys/public/public.sz", 2, &["a public key", "a file with a secret"]);
    folder.refused("passphrase set keys/secret/sharing.sz", 2, &["a sharing ledger", "takes no passphrase"]);
    folder.refused("passphrase set keys/secret", 2, &["no terminal to ask"]);
}

//! Label and expiry of keys: shown, kept to by `sunzi encrypt`, and no reason to lose data.

use std::fs;

use sunzi_keystore::{Properties, StoredProperties, Time};

use crate::common::{Folder, json, stderr, stdout};

/// A folder with parameters and a table.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    fs::write(folder.path("t.csv"), "x,y\n1,2\n3,4\n").unwrap();
    fs::write(folder.path("long"), "correct horse battery staple").unwrap();
    folder.fine("schema t.csv -o s.json");
    folder.fine("plan sum(x) --schema s.json --no-time -o p.sz");
    folder
}

fn keygen(folder: &Folder, options: &str) {
    folder.fine(format!("keygen p.sz -d keys --for sum(x) --schema s.json -q {options}").trim());
}

/// Puts other properties beside a key than its holder set, with the holder's secret or another one.
fn forge(folder: &Folder, party: &str, secret: &str, properties: &Properties) {
    let secret = fs::read(folder.path(secret)).unwrap();
    fs::write(folder.path(&format!("keys/{party}/properties.sz")), properties.sealed(&secret).unwrap())
        .unwrap();
}

const ENCRYPT: &str = "encrypt t.csv --schema s.json -o t.sz --force -q";
const DECRYPT: &str = "decrypt r.sz --keys keys/secret -q";

#[test]
fn nothing_is_encrypted_under_an_expired_key_and_everything_is_opened() {
    let folder = folder("expiry-kept");
    keygen(&folder, "--label payroll --expires 9999-01-01");
    for party in ["public", "secret"] {
        folder.fine(&format!("{ENCRYPT} --keys keys/{party}"));
    }
    folder.fine("eval sum(x) --keys keys/eval t.sz -o r.sz -q");
    for file in ["properties.sz", "secret.sz"] {
        let told = folder.fine(&format!("inspect keys/secret/{file}"));
        assert!(told.contains("label        payroll\nexpires      9999-01-01T00:00:00Z"), "{told}");
    }
    assert_eq!(json(&folder.run("inspect keys/public/public.sz --json"))["properties"]["label"], "payroll");
    let told = folder.run("keys set keys --expires now");
    assert!(stdout(&told).contains("label        payroll"), "{}", stdout(&told));
    for party in ["public", "secret"] {
        folder.refused(
            &format!("{ENCRYPT} --keys keys/{party}"),
            2,
            &["(payroll) expired at", "sunzi rekey"],
        );
    }
    let eval = folder.run("eval sum(x) --keys keys/eval t.sz -o r.sz --force -q");
    assert!(eval.status.success() && stderr(&eval).starts_with("warning: key"), "{}", stderr(&eval));
    let opened = folder.run(DECRYPT);
    assert_eq!(stdout(&opened), "sum(x): 4\n");
    assert!(
        stderr(&opened).contains("warning: key") && stderr(&opened).contains("expired"),
        "{}",
        stderr(&opened)
    );
    folder.fine("keys set keys/secret --expires never");
    folder.fine(&format!("{ENCRYPT} --keys keys/secret"));
    folder.refused(&format!("{ENCRYPT} --keys keys/public"), 2, &["expired"]);
    let set = json(&folder.run("keys set keys --label other --expires 90d --json"));
    assert_eq!((set["label"].as_str(), set["files"].as_array().unwrap().len()), (Some("other"), 3));
    folder.fine(&format!("{ENCRYPT} --keys keys/public"));
}

#[test]
fn labels_and_dates_that_are_none_are_refused() {
    let folder = folder("expiry-refused");
    let refused = |options: &[&str], words: &[&str]| {
        let fixed = ["keygen", "p.sz", "-d", "keys", "--rotations", "none", "-q"];
        let output = folder.run_of(&[&fixed[..], options].concat());
        assert_eq!((output.status.code(), folder.path("keys").exists()), (Some(2), false), "{options:?}");
        assert!(words.iter().all(|word| stderr(&output).contains(word)), "{}", stderr(&output));
        assert!(!stderr(&output).contains(['\u{1b}', '\u{202e}']), "{}", stderr(&output));
    };
    for label in ["", "a\u{1b}[31mb", "a\u{202e}b", &"x".repeat(65)] {
        refused(&["--label", label], &["1 to 64 letters"]);
    }
    for date in ["2020-01-01", "now"] {
        refused(&["--expires", date], &["a time to come"]);
    }
    for date in ["2027-02-30", "soon", "10000-01-01", "-1d"] {
        refused(&[&format!("--expires={date}")], &["2027-06-01", "90d"]);
    }
    refused(&["--expires", "9999999w"], &["before the year 10000"]);
    keygen(&folder, "");
    assert!(!folder.path("keys/secret/properties.sz").exists());
    folder.refused("keys set keys/public --label a", 6, &["keys/public", "secret"]);
    assert_eq!(folder.run("keys set keys").status.code(), Some(2));
}

#[test]
fn properties_that_somebody_else_set_are_found_out_by_the_secret() {
    let folder = folder("expiry-forged");
    keygen(&folder, "--label mine --expires 9999-01-01 --new-passphrase-file long");
    let open = "--passphrase-file long";
    folder.fine(&format!("{ENCRYPT} --keys keys/public"));
    folder.fine("eval sum(x) --keys keys/eval t.sz -o r.sz -q");
    // Somebody who cannot open the key takes its header, and a secret of their own.
    let path = folder.path("keys/secret/properties.sz");
    let own = fs::read(&path).unwrap();
    let stored = StoredProperties::read(&own).unwrap();
    let later = Properties { expires: None, ..stored.properties().clone() };
    let header = sunzi::rlwe::wire::Header::read(&mut &own[..]).unwrap();
    let header = sunzi::rlwe::wire::Header { kind: 0x0200, ..header }.to_bytes();
    fs::write(folder.path("forged"), header).unwrap();
    forge(&folder, "secret", "forged", &later);
    folder.refused(&format!("{ENCRYPT} --keys keys/secret {open}"), 5, &["properties.sz", "sunzi keys set"]);
    let opened = folder.run(&format!("{DECRYPT} {open}"));
    assert_eq!(stdout(&opened), "sum(x): 4\n");
    assert!(stderr(&opened).contains("changed by somebody who does not have it"), "{}", stderr(&opened));
    // The key's own holder sets them again.
    folder.fine(&format!("keys set keys --label mine {open}"));
    folder.fine(&format!("{ENCRYPT} --keys keys/secret {open}"));
    // Files of other keys, damaged ones, and others.
    let other = folder.path("other.sz");
    folder.fine("keygen p.sz -d others --label other --rotations none -q");
    fs::copy(folder.path("others/public/properties.sz"), &other).unwrap();
    let mut damaged = own.clone();
    damaged[100] ^= 1;
    for (bytes, code, word) in [
        (fs::read(&other).unwrap(), 3, "key"),
        (damaged, 5, "properties"),
        (vec![0; 1 << 20], 5, "no file of Sunzi"),
    ] {
        for party in ["public", "secret", "eval"] {
            fs::write(folder.path(&format!("keys/{party}/properties.sz")), &bytes).unwrap();
        }
        folder.refused(&format!("{ENCRYPT} --keys keys/public"), code, &["properties.sz", word]);
        let eval = folder.run("eval sum(x) --keys keys/eval t.sz -o r.sz --force -q");
        assert!(eval.status.success() && stderr(&eval).contains("warning: "), "{}", stderr(&eval));
        assert_eq!(stdout(&folder.run(&format!("{DECRYPT} {open}"))), "sum(x): 4\n");
    }
    folder.refused("inspect keys/public/properties.sz", 5, &["no file of Sunzi"]);
}

#[test]
fn a_clock_that_is_wrong_is_told() {
    let folder = folder("expiry-clock");
    keygen(&folder, "--label a --expires 9999-01-01");
    let time = |text: &str| -> Time { text.parse().unwrap() };
    // Set at a time that this clock has not reached.
    let set = Properties { label: None, set: time("9000-01-01"), expires: Some(time("9999-01-01")) };
    forge(&folder, "public", "keys/secret/secret.sz", &set);
    folder.refused(&format!("{ENCRYPT} --keys keys/public"), 2, &["clock of this machine", "set the clock"]);
    // Without an expiry no clock is asked.
    forge(&folder, "public", "keys/secret/secret.sz", &Properties { expires: None, ..set });
    folder.fine(&format!("{ENCRYPT} --keys keys/public"));
    // An expiry of long ago.
    let past = Properties { label: None, set: time("1970-01-01"), expires: Some(time("1970-01-01")) };
    forge(&folder, "public", "keys/secret/secret.sz", &past);
    folder.refused(&format!("{ENCRYPT} --keys keys/public"), 2, &["expired at 1970-01-01T00:00:00Z"]);
}

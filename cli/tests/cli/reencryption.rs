//! Results handed from owner to owner: `sunzi reencrypt`.

use std::fs;
use std::io::BufReader;

use crate::common::{Folder, json, stderr, stdout};
use sunzi::program::Contexts;
use sunzi::program::contexts::Slots;
use sunzi::program::results::ResultsReader;
use sunzi::program::run::Answer;
use sunzi::rlwe::LedgerFile;

const ROWS: i64 = 40;
const PROGRAM: &str = "sum(x*y);x+y";
const ROOM: [&str; 4] = ["--queries", "30", "--statistical-bits", "20"];

fn sum(of: impl Fn(i64) -> i64) -> i64 {
    (0..ROWS).map(of).sum()
}

/// A table of two columns, whose first is multiplied by this number, and a plan of a program whose results are handed on twice.
fn planned(name: &str, program: &str, scheme: &str, factor: i64) -> Folder {
    let folder = Folder::new(name);
    let table: String = (0..ROWS).map(|i| format!("{},{}\n", i % 7 * factor, i % 5)).collect();
    fs::write(folder.path("t.csv"), format!("x,y\n{table}")).unwrap();
    let plan = ["plan", program, "t.csv", "--scheme", scheme, "--no-time", "-o", "job.params", "--json"];
    let plan = folder.fine_of(&[&plan[..], &["--reencryptions", "2"], &ROOM].concat());
    fs::write(folder.path("plan.json"), plan).unwrap();
    folder
}

/// Keys of owners for the plan, and results of a program on the table of the first of them.
fn computed(folder: &Folder, program: &str, owners: &[&str]) {
    for owner in owners {
        folder.fine(&format!("keygen job.params -d {owner} --plan plan.json -q"));
    }
    let first = owners[0];
    folder.fine(&format!("encrypt t.csv --keys {first}/public --plan plan.json -o t.sz -q"));
    folder.fine_of(&["eval", program, "--keys", &format!("{first}/eval"), "t.sz", "-o", "r.sz", "-q"]);
}

/// Makes the folder of a proxy between two owners, with the policy of the plan.
fn proxy(folder: &Folder, from: &str, to: &str) -> String {
    let name = format!("{from}-{to}");
    let public = json(&folder.run(&format!("reencrypt public --keys {to}/secret -o {to}.sz --force --json")));
    let fingerprint = public["fingerprint"].as_str().unwrap();
    let key = format!("reencrypt key --keys {from}/secret --to {to}.sz -d {name}");
    let key: Vec<&str> = key.split(' ').chain(["--expect", fingerprint]).chain(ROOM).collect();
    let made = folder.fine_of(&key);
    assert!(made.contains(fingerprint) && made.contains("30 ciphertexts at 2^-20"), "{made}");
    name
}

fn used(folder: &Folder, proxy: &str) -> u64 {
    LedgerFile::peek(folder.path(&format!("{proxy}/sharing.sz"))).unwrap().unwrap().used()
}

#[test]
fn results_are_handed_on_from_owner_to_owner() {
    for scheme in ["bfv", "bgv"] {
        let folder = planned(&format!("handed-{scheme}"), PROGRAM, scheme, 1);
        computed(&folder, PROGRAM, &["alice", "bob", "carol"]);
        let opened = |file: &str, owner: &str| {
            json(&folder.run(&format!("decrypt {file} --keys {owner}/secret --json -q")))["results"].clone()
        };
        let own = opened("r.sz", "alice");
        assert_eq!(own[0]["number"]["value"].as_f64(), Some(sum(|i| (i % 7) * (i % 5)) as f64), "{own}");
        let [first, second] = [proxy(&folder, "alice", "bob"), proxy(&folder, "bob", "carol")];
        let run = json(
            &folder.run(&format!("reencrypt run r.sz --keys {first} --further 1 -o to-bob.sz --json -q")),
        );
        assert_eq!((run["ciphertexts"].as_u64(), run["used"].as_u64()), (Some(2), Some(2)), "{run}");
        assert_eq!(opened("to-bob.sz", "bob"), own);
        folder.refused("decrypt to-bob.sz --keys alice/secret", 3, &["to-bob.sz", "key"]);
        let told = folder.fine(&format!("reencrypt run to-bob.sz --keys {second} -o to-carol.sz"));
        assert!(told.contains("2 of the 30 ciphertexts"), "{told}");
        assert_eq!(opened("to-carol.sz", "carol"), own);
        assert_eq!([used(&folder, &first), used(&folder, &second)], [2, 2]);

        // Who got a result shares it where there is room for that too, in BFV: here that of the second hop.
        let share = "decrypt to-bob.sz --keys bob/secret --share 9 --statistical-bits 20 --json -q";
        if scheme == "bfv" {
            assert_eq!(json(&folder.run(share))["results"], own);
        } else {
            folder.refused(
                share,
                3,
                &["the re-encryptions of a result that is shared", "expected none", "got 1"],
            );
        }

        // The plan has room for two hops: a third is refused by its number, and counts nothing.
        let third = proxy(&folder, "carol", "alice");
        let run = format!("reencrypt run to-carol.sz --keys {third} -o again.sz");
        folder.refused(&run, 4, &["re-encryption number 3 takes", "--reencryptions 3"]);
        // So is a second one where the first left no room for it.
        folder.fine(&format!("reencrypt run r.sz --keys {first} -o whole.sz -q"));
        assert_eq!(opened("whole.sz", "bob"), own);
        let run = format!("reencrypt run whole.sz --keys {second} -o again.sz");
        folder.refused(&run, 4, &["re-encryption number 2 takes", "--further"]);
        folder.refused(
            &format!("reencrypt run r.sz --keys {first} -o again.sz --further 2"),
            4,
            &["re-encryption number 3 takes"],
        );
        assert!(!folder.path("again.sz").exists());
        assert_eq!([used(&folder, &first), used(&folder, &second), used(&folder, &third)], [4, 2, 0]);

        // A program agreed on is checked as for results of one's own.
        let agreed = format!("decrypt to-carol.sz --keys carol/secret -q --for {PROGRAM} --schema s.json");
        folder.fine("schema t.csv -o s.json");
        assert!(folder.fine(&agreed).starts_with("sum(x*y): "));
        // Files that the commands write are known by their kinds.
        for (file, object) in [
            ("bob.sz", "a public key for re-encryption"),
            ("alice-bob/reencryption.sz", "a SECRET re-encryption key"),
            ("to-bob.sz", "results of a program"),
        ] {
            let checked = folder.fine(&format!("check {file} --params job.params"));
            assert!(checked.starts_with("whole: ") && checked.contains(object), "{checked}");
            assert!(folder.fine(&format!("inspect {file}")).contains(object));
        }
    }
}

/// The new owner sees all slots of a ciphertext: a sum must be in every one, or other slots would hold sums of fewer rows.
#[test]
fn sums_are_in_every_slot_that_the_new_owner_sees() {
    let folder = planned("handed-slots", "sum(x)", "bfv", 1);
    computed(&folder, "sum(x)", &["alice", "bob"]);
    let first = proxy(&folder, "alice", "bob");
    folder.fine(&format!("reencrypt run r.sz --keys {first} -o to-bob.sz -q"));
    let contexts = Contexts::load(&folder.path("job.params")).unwrap();
    let secret = contexts.load_secret(&folder.path("bob/secret")).unwrap();
    let file = BufReader::new(fs::File::open(folder.path("to-bob.sz")).unwrap());
    let mut results = ResultsReader::open(&contexts, file).unwrap();
    let codec = contexts.codec(&results.description().layout).unwrap();
    let Some((_, None, Answer::Encrypted(chunk))) = results.next_answer().unwrap() else { panic!() };
    let Slots::Residues(parts) = codec.decrypt(&chunk, &secret).unwrap() else { panic!() };
    for slots in parts {
        assert_eq!(slots.len(), contexts.parameters().slots());
        assert!(slots.iter().all(|slot| *slot == slots[0]), "{:?}", &slots[..8]);
    }

    // Tables that do not fill the slots are refused where sums are handed on, and columns alone are not.
    folder.fine("schema t.csv -o s.json");
    folder.fine("encrypt t.csv --keys alice/public --schema s.json -o short.sz -q");
    folder.fine("eval sum(x) --keys alice/eval short.sz -o short-sum.sz -q");
    let run = format!("reencrypt run --keys {first} -o other.sz");
    folder.refused(&format!("{run} short-sum.sz"), 3, &["slots that a chunk fills", "sums of fewer rows"]);
    folder.fine("eval x --keys alice/eval short.sz -o short-column.sz -q");
    folder.fine(&format!("{run} short-column.sz -q"));
    // An option fills them without a plan.
    folder.fine("encrypt t.csv --keys alice/public --schema s.json -o filled.sz -q --fill-slots");
    folder.fine("eval sum(x) --keys alice/eval filled.sz -o filled-sum.sz -q");
    folder.fine(&format!("{run} filled-sum.sz --force -q"));
    assert_eq!(folder.fine("decrypt other.sz --keys bob/secret -q"), format!("sum(x): {}\n", sum(|i| i % 7)));
    let parquet = "encrypt t.csv --keys alice/public --schema s.json -o t.parquet --fill-slots";
    folder.refused(parquet, 2, &["--fill-slots", "Parquet"]);
}

/// Numbers wider than one plaintext modulus have a ciphertext for each, and one key of their ring hands all of them on.
#[test]
fn wide_integers_are_handed_on_by_one_key() {
    for scheme in ["bfv", "bgv"] {
        let folder = planned(&format!("handed-wide-{scheme}"), "sum(x*x)", scheme, 1_000_000_000);
        computed(&folder, "sum(x*x)", &["alice", "bob"]);
        let first = proxy(&folder, "alice", "bob");
        let run = json(&folder.run(&format!("reencrypt run r.sz --keys {first} -o to-bob.sz --json")));
        let moduli =
            Contexts::load(&folder.path("job.params")).unwrap().parameters().plain_moduli().len() as u64;
        assert!(moduli > 1 && run["ciphertexts"] == moduli && run["used"] == moduli, "{scheme}: {run}");
        let expected = format!("sum(x*x): {}000000000000000000\n", sum(|i| (i % 7) * (i % 7)));
        assert_eq!(folder.fine("decrypt to-bob.sz --keys bob/secret -q"), expected);
    }
}

#[test]
fn parameters_of_params_leave_room_as_well() {
    let folder = Folder::new("handed-params");
    fs::write(folder.path("t.csv"), "x\n3\n4\n").unwrap();
    for (scheme, rotations, program, opened) in
        [("bfv", 14, "sum(x*x)", "sum(x*x): 25\n"), ("bgv", 0, "x*x", "x*x: 2 rows: 9, 16\n")]
    {
        let params = format!(
            "params --scheme {scheme} --depth 1 --plain-bits 20 --rotations {rotations} -o p.sz --force"
        );
        let told = folder.fine(&format!("{params} --reencryptions 1 --queries 30 --statistical-bits 20"));
        assert!(told.contains("room for 1 re-encryptions in a row"), "{told}");
        for owner in ["alice", "bob"] {
            let _ = fs::remove_dir_all(folder.path(owner));
            folder.fine(&format!("keygen p.sz -d {owner} -q"));
        }
        let _ = fs::remove_dir_all(folder.path("alice-bob"));
        let first = proxy(&folder, "alice", "bob");
        folder.fine("encrypt t.csv --keys alice/public -o t.sz --fill-slots --force -q");
        folder.fine(&format!("eval {program} --keys alice/eval t.sz -o r.sz --force -q"));
        folder.fine(&format!("reencrypt run r.sz --keys {first} -o to-bob.sz --force -q"));
        assert_eq!(folder.fine("decrypt to-bob.sz --keys bob/secret -q"), opened);
    }
    folder.refused("params --scheme ckks --reencryptions 1", 2, &["--reencryptions", "real numbers"]);
    folder.refused("params --queries 5", 2, &["--reencryptions"]);
    folder.refused("params --statistical-bits 5", 2, &["--share", "--reencryptions"]);
    folder.refused("params --reencryptions 0", 2, &["--reencryptions"]);
}

#[test]
fn ckks_and_integers_are_refused_by_name() {
    let folder = Folder::new("handed-ckks");
    fs::write(folder.path("t.csv"), "x\n1.5\n2.5\n").unwrap();
    let plan = |program: &str, more: &str| format!("plan {program} t.csv --reencryptions 1 --no-time{more}");
    for asked in [
        plan("sum(x)", " --scheme ckks"),
        plan("sum(x)", " --scheme integers"),
        plan("exp(x)", ""),
        plan("median(x)", ""),
    ] {
        folder.refused(&asked, 4, &["CKKS and encrypted integers have no re-encryption", "--share"]);
    }
    folder.refused(&plan("sum(x)", " --share 5 --parties 2"), 4, &["several parties has no re-encryption"]);
    folder.refused(&plan("sum(x)", " --packing always"), 4, &["packed tables", "handed on"]);
    folder.fine("params --scheme ckks -o p.sz");
    folder.fine("keygen p.sz -d keys -q --rotations none");
    folder.refused("reencrypt public --keys keys/secret -o b.sz", 3, &["BFV or BGV", "got CKKS"]);
    folder.fine("schema t.csv -o s.json");
    let encrypt = "encrypt t.csv --keys keys/public --schema s.json -o t.sz --fill-slots";
    folder.refused(encrypt, 2, &["--fill-slots", "CKKS"]);
}

#[test]
fn keys_of_others_and_damaged_files_are_refused_by_name() {
    let folder = planned("handed-refused", "x+y", "bfv", 1);
    computed(&folder, "x+y", &["alice", "bob"]);
    let first = proxy(&folder, "alice", "bob");
    // Keys: the same secret, another fingerprint, nobody who looks, a folder that is there, other parameters, other objects.
    folder.fine("reencrypt public --keys alice/secret -o alice.sz");
    let key = "reencrypt key --keys alice/secret -d other --yes";
    folder.refused(&format!("{key} --to alice.sz"), 3, &["alice.sz", "the key of somebody else"]);
    let other = "0000-0000-0000-0000-0000-0000-0000-0000";
    folder.refused(&format!("{key} --to bob.sz --expect {other}"), 3, &["bob.sz", other, "changed it"]);
    folder.refused(&format!("{key} --to bob.sz --expect 12"), 2, &["32 hexadecimal digits"]);
    let asked = folder.run("reencrypt key --keys alice/secret -d other --to bob.sz");
    assert_eq!(asked.status.code(), Some(2), "{}", stderr(&asked));
    assert!(stderr(&asked).contains("fingerprint  ") && stderr(&asked).contains("--expect"));
    folder.refused(
        &format!("reencrypt key --keys alice/secret -d {first} --yes --to bob.sz"),
        2,
        &["never overwritten"],
    );
    folder.refused(&format!("{key} --to bob/public/public.sz"), 3, &["public.sz", "a public key"]);
    folder.refused(&format!("{key} --to bob.sz --queries 0"), 2, &["1 to 4294967296"]);
    folder.refused("reencrypt public --keys bob -o x.sz", 2, &["give \"bob/secret\""]);
    folder.fine("params --depth 1 -o p.sz");
    folder.fine("keygen p.sz -d dora -q --rotations none");
    folder.fine("reencrypt public --keys dora/secret -o dora.sz");
    folder.refused(&format!("{key} --to dora.sz"), 3, &["dora.sz"]);
    assert!(!folder.path("other").exists());

    // Results: under another key, under the new owner's already, a table, of other parameters.
    let run = |file: &str| format!("reencrypt run {file} --keys {first} -o out.sz");
    folder.fine("encrypt t.csv --keys bob/public --plan plan.json -o bob-t.sz -q");
    folder.fine("eval x+y --keys bob/eval bob-t.sz -o bob-r.sz -q");
    folder.refused(&run("bob-r.sz"), 3, &["bob-r.sz", "re-encrypted already"]);
    folder.fine("keygen job.params -d carol -q --plan plan.json");
    folder.fine("encrypt t.csv --keys carol/public --plan plan.json -o carol-t.sz -q");
    folder.fine("eval x+y --keys carol/eval carol-t.sz -o carol-r.sz -q");
    folder.refused(&run("carol-r.sz"), 3, &["carol-r.sz", "the key of the results"]);
    folder.refused(&run("t.sz"), 3, &["a table encrypted in BFV", "sunzi eval"]);
    folder.refused(&run("job.params"), 3, &["job.params"]);
    folder.fine("encrypt t.csv --keys dora/public -o dora-t.sz -q");
    folder.fine("eval x+y --keys dora/eval dora-t.sz -o dora-r.sz -q");
    folder.refused(&run("dora-r.sz"), 3, &["dora-r.sz"]);
    folder.refused("reencrypt run r.sz --keys alice/eval -o out.sz", 6, &["not the folder of a proxy"]);
    let whole = fs::read(folder.path("r.sz")).unwrap();
    let mut damaged = whole.clone();
    let at = damaged.len() - 100;
    damaged[at] ^= 1;
    for (name, bytes) in [("flipped.sz", &damaged[..]), ("short.sz", &whole[..whole.len() - 1])] {
        fs::write(folder.path(name), bytes).unwrap();
        folder.refused(&run(name), 5, &[name]);
    }
    assert_eq!(used(&folder, &first), 0);
    assert!(!folder.path("out.sz").exists());
    proxies(&folder, &first);
}

/// A proxy whose key or ledger is not as it was made.
fn proxies(folder: &Folder, first: &str) {
    let [key, ledger] = ["reencryption.sz", "sharing.sz"].map(|file| folder.path(&format!("{first}/{file}")));
    let run = format!("reencrypt run r.sz --keys {first} -o out.sz");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!([mode(&key), mode(&ledger), mode(&folder.path(first))], [0o600, 0o600, 0o700]);
        fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
        folder.refused(&run, 2, &["a re-encryption key that others", "chmod 600"]);
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    }
    let whole = fs::read(&key).unwrap();
    // The key of a proxy may be under a passphrase.
    fs::write(folder.path("word"), "correct horse battery staple").unwrap();
    folder.fine(&format!("passphrase set {first}/reencryption.sz --new-passphrase-file word"));
    folder.refused(&run, 2, &["--passphrase-file"]);
    folder.refused(&format!("{run} --passphrase-file t.csv"), 2, &["does not open the file"]);
    folder.fine(&format!("passphrase remove {first}/reencryption.sz --passphrase-file word"));
    assert_eq!(fs::read(&key).unwrap(), whole);
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    fs::write(&key, &damaged).unwrap();
    folder.refused(&run, 5, &[first]);
    folder.refused(&format!("check {first}/reencryption.sz --params job.params"), 5, &["reencryption.sz"]);
    fs::write(&key, &whole).unwrap();
    folder.refused(&format!("check {first}/reencryption.sz --params p.sz"), 3, &["reencryption.sz"]);
    let kept = fs::read(&ledger).unwrap();
    fs::remove_file(&ledger).unwrap();
    folder.refused(&run, 6, &["sharing.sz", "is missing", "sunzi reencrypt key"]);
    fs::copy(folder.path("bob/secret/sharing.sz"), &ledger).unwrap();
    assert_ne!(folder.run(&run).status.code(), Some(0));
    fs::write(&ledger, &kept).unwrap();
    // Whatever the ledger allows, and no more.
    for done in 1..=30 {
        folder.fine(&format!("{run} --force -q"));
        assert_eq!(used(folder, first), done);
    }
    let spent = folder.run(&format!("{run} --force"));
    assert_eq!(spent.status.code(), Some(4), "{}", stdout(&spent));
    assert!(stderr(&spent).contains("may hand on 0 more of 30"), "{}", stderr(&spent));
}

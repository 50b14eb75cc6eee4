//! Tables: schemas that are found or declared, encrypted files, and what is refused before anything runs.

use std::fs;

use crate::common::{Folder, json};

/// A table of 300 rows of integers, decimals, labels and reals.
fn table() -> String {
    let row = |i: u32| {
        format!(
            "{},{}.{},{},0.{:017}\n",
            i % 90,
            i,
            i % 10,
            if i.is_multiple_of(2) { "north" } else { "south" },
            7 * i + 1
        )
    };
    format!("age,cost,region,share\n{}", (0..300).map(row).collect::<String>())
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    fs::write(folder.path("t.csv"), table()).unwrap();
    folder.fine("params --plain-range 100000 --depth 1 -o job.params");
    folder.fine("keygen job.params -d keys --rotations none");
    folder
}

#[test]
fn a_table_is_encrypted_described_and_checked() {
    let folder = folder("tables");
    folder.fine("schema --table t.csv --clear region -o s.json");
    let found: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.path("s.json")).unwrap()).unwrap();
    assert_eq!(
        (&found["rows"], &found["columns"][1]["kind"]["decimal"]["range"]),
        (&300.into(), &serde_json::json!([0, 299.9]))
    );
    assert_eq!(found["columns"][2]["kind"]["category"]["labels"], serde_json::json!(["north", "south"]));
    assert_eq!(
        (&found["columns"][0]["encrypted"], &found["columns"][2]["encrypted"]),
        (&true.into(), &false.into())
    );
    assert!(found["columns"][3]["kind"]["real"].is_object());
    for (keys, file, factor) in [("keys/public", "p.sz", 1), ("keys/secret", "s.sz", 2)] {
        let command = format!(
            "encrypt --keys {keys} --table t.csv --columns age,cost,region --clear cost -o {file} --threads 2 --json"
        );
        let made = json(&folder.run(&command));
        assert_eq!((&made["rows"], &made["encrypted"]), (&300.into(), &3.into()));
        let len = fs::metadata(folder.path(file)).unwrap().len();
        assert_eq!(made["bytes"], len);
        assert!(len * factor < 2 * fs::metadata(folder.path("p.sz")).unwrap().len() + 20_000);
        let text = folder.fine(&format!("inspect {file}"));
        assert!(
            text.contains("300, 512 in a chunk") && text.contains("\"cost\"  clear, 0 to 299.9"),
            "{text}"
        );
        assert!(
            folder
                .fine(&format!("check {file} --params job.params"))
                .starts_with("whole: a table encrypted in BFV, ")
        );
    }
    // A schema declares what the table may hold.
    fs::write(folder.path("two.json"), r#"{"columns": [{"name": "age", "kind": {"decimal": {"decimals": 0, "low": 0, "high": 120}}, "encrypted": true}]}"#).unwrap();
    let text =
        folder.fine("encrypt --keys keys/public --table t.csv --schema two.json -o p.sz --force --memory 4G");
    assert!(text.contains("300 rows") && !text.contains("public: to hide"), "{text}");
    assert!(folder.fine("inspect p.sz").contains("0 to 120"));
}

#[test]
fn parquet_is_written_cut_by_a_category_and_described() {
    let folder = folder("tables-parquet");
    let command = "encrypt --keys keys/public --table t.csv --columns age,cost,region --partition region -o out.parquet --json";
    let made = json(&folder.run(command));
    assert_eq!((&made["rows"], &made["chunks"], &made["encrypted"]), (&300.into(), &2.into(), &2.into()));
    let text = folder.fine("inspect out.parquet");
    assert!(
        text.contains("a table encrypted in BFV")
            && text.contains("\"region\"  clear, 2 labels: north, south"),
        "{text}"
    );
    assert!(
        folder
            .fine("check out.parquet --params job.params")
            .starts_with("whole: a table encrypted in BFV, 4 in")
    );
    folder.refused(
        "encrypt --keys keys/public --table t.csv --columns age,region --partition region -o out.sz",
        2,
        &[".parquet"],
    );
}

#[test]
fn what_cannot_be_encrypted_is_refused_first() {
    let folder = folder("tables-refused");
    let encrypt = |more: &str| {
        format!("encrypt --keys keys/public --table t.csv -o out.sz {more}").trim_end().to_owned()
    };
    folder.refused(&encrypt(""), 2, &["\"share\"", "real", "CKKS"]);
    folder.refused(&encrypt("--columns age,cots"), 2, &["cots", "age, cost, region, share"]);
    folder.refused(&encrypt("--columns age --clear age"), 2, &["no column"]);
    folder.refused(&encrypt("--columns age --memory 1M"), 2, &["memory", "1.0 MiB"]);
    fs::write(folder.path("bad.json"), r#"{"columns": [{"name": "age", "kind": {"decimal": {"decimals": 0, "low": 0, "high": 50}}, "encrypted": true}]}"#).unwrap();
    folder.refused(&encrypt("--schema bad.json"), 2, &["line 53", "\"age\"", "\"51\"", "0 to 50"]);
    fs::write(folder.path("wide.json"), r#"{"columns": [{"name": "age", "kind": {"decimal": {"decimals": 0, "low": 0, "high": 9000000}}, "encrypted": true}]}"#).unwrap();
    folder.refused(&encrypt("--schema wide.json"), 4, &["age", "9000000"]);
    fs::write(folder.path("none.json"), "{").unwrap();
    folder.refused(&encrypt("--schema none.json"), 2, &["schema"]);
    folder.refused("encrypt --keys nowhere --table t.csv -o out.sz", 6, &["nowhere"]);
    folder.refused("encrypt --keys keys/public --table keys -o out.sz", 2, &["is a folder"]);
    fs::write(folder.path("t.csv"), "a,b\n1,2\n3\n").unwrap();
    folder.refused(&encrypt(""), 2, &["line 3", "1 cells"]);
    assert!(!folder.path("out.sz").exists());
}

#[test]
fn another_table_is_told_from_damage() {
    let folder = folder("tables-other");
    folder.fine("encrypt --keys keys/public --table t.csv --columns age -o out.sz");
    folder.fine("params --depth 2 -o other.params");
    folder.refused("check out.sz --params other.params", 3, &["other ring"]);
    let mut bytes = fs::read(folder.path("out.sz")).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(folder.path("out.sz"), &bytes).unwrap();
    folder.fine("inspect out.sz");
    folder.refused("check out.sz --params job.params", 5, &["checksum"]);
    bytes.pop();
    fs::write(folder.path("out.sz"), &bytes).unwrap();
    folder.refused("check out.sz --params job.params", 5, &["ends before"]);
}

/// Whoever is stopped leaves the old file, and nothing beside it.
#[cfg(unix)]
#[test]
fn an_interrupted_writer_leaves_nothing() {
    use std::process::{Command, Stdio};
    let folder = folder("tables-interrupted");
    let long: String = (0..400_000).map(|i| format!("{}\n", i % 97)).collect();
    fs::write(folder.path("long.csv"), format!("age\n{long}")).unwrap();
    fs::write(folder.path("out.sz"), "old").unwrap();
    let before = fs::read_dir(folder.path(".")).unwrap().count();
    for signal in ["INT", "TERM"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sunzi"));
        let arguments = "encrypt --keys keys/public --table long.csv -o out.sz --force --json --threads 1";
        let mut child = command
            .args(arguments.split(' '))
            .current_dir(folder.path("."))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // Waits until the unfinished file beside the old one is there.
        while fs::read_dir(folder.path(".")).unwrap().count() == before {
            assert!(child.try_wait().unwrap().is_none(), "it was done before it could be stopped");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(
            Command::new("kill")
                .args([&format!("-{signal}"), &child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(fs::read_dir(folder.path(".")).unwrap().count(), before);
        assert_eq!(fs::read(folder.path("out.sz")).unwrap(), b"old");
    }
}

#[test]
fn shells_and_man_are_told_of_every_command() {
    let folder = Folder::new("tables-help");
    for shell in ["bash", "zsh", "fish"] {
        let script = folder.fine(&format!("completions {shell}"));
        assert!(["encrypt", "keygen", "inspect"].iter().all(|word| script.contains(word)), "{shell}");
    }
    assert!(folder.fine("manual").contains("sunzi\\-encrypt"));
    assert!(folder.fine("manual encrypt").contains("\\-\\-table"));
    folder.refused("manual nothing", 2, &["nothing"]);
}

//! Packed tables through files: planned, encrypted, computed and decrypted, beside the same program over columns apart.

use std::fs;

use crate::common::{Folder, json};

/// Columns `a`, `b` with negative decimals and `region`, of which the label `none` has no row.
fn table(rows: u32) -> String {
    let label = |i: u32| if i.is_multiple_of(3) { "south" } else { "north" };
    let row = |i: u32| format!("{},{}.{},{}\n", i % 90, 7 - i as i32 % 15, i % 10, label(i));
    format!("a,b,region\n{}", (0..rows).map(row).collect::<String>())
}

fn folder(name: &str, rows: u32) -> Folder {
    let folder = Folder::new(name);
    fs::write(folder.path("t.csv"), table(rows)).unwrap();
    folder.fine("schema --table t.csv -o found.json");
    let mut schema: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.path("found.json")).unwrap()).unwrap();
    schema["columns"][2]["kind"]["category"]["labels"] = serde_json::json!(["none", "north", "south"]);
    fs::write(folder.path("s.json"), schema.to_string()).unwrap();
    folder
}

/// Results of a program over a packed table, and over columns apart.
fn both(folder: &Folder, program: &str, more: &[&str]) -> [serde_json::Value; 2] {
    ["always", "never"].map(|packing| {
        let own = |name: &str| format!("{packing}-{name}");
        let [params, plan, keys, sz, out] = ["p.sz", "plan.json", "keys", "t.sz", "out.sz"].map(own);
        let mut arguments =
            vec!["plan", program, "--schema", "s.json", "-o", &params, "--json", "--packing", packing];
        if packing == "always" {
            arguments.extend(more);
        }
        let made = folder.fine_of(&arguments);
        fs::write(folder.path(&plan), made).unwrap();
        folder.fine(&format!("keygen {params} -d {keys} --plan {plan} --quiet"));
        folder.fine(&format!("encrypt --keys {keys}/public --table t.csv --plan {plan} -o {sz} --quiet"));
        folder.fine(&format!("check {sz} --params {params}"));
        folder.fine(&format!("inspect {sz}"));
        folder.fine_of(&["eval", program, "--keys", &format!("{keys}/eval"), &sz, "-o", &out, "--quiet"]);
        folder.fine(&format!("check {out} --params {params}"));
        let decrypted = format!("decrypt --keys {keys}/secret {out} --quiet");
        let text = folder.fine(&decrypted);
        fs::write(folder.path(&own("text")), text).unwrap();
        json(&folder.run(&format!("{decrypted} --json")))
    })
}

#[test]
fn packed_results_are_those_of_columns_apart() {
    let folder = folder("packed", 300);
    let program = "mean(a); sum(b); cov(a, b); var(b); sum(a * b - 3 * b + 1); count(region == \"south\"); mean(b) by region";
    let [packed, apart] = both(&folder, program, &["--longest-group", "200"]);
    assert_eq!(packed, apart);
    let text = |name: &str| fs::read_to_string(folder.path(name)).unwrap();
    assert_eq!(text("always-text"), text("never-text"));
    assert!(folder.fine("inspect always-t.sz").contains("a packed table encrypted in"));
    let agreed =
        ["decrypt", "--keys", "always-keys/secret", "always-out.sz", "--for", program, "--schema", "s.json"];
    assert_eq!(folder.fine_of(&agreed), text("always-text"));
    // Another program, other keys, a damaged file.
    folder.refused(
        "eval sum(a) --keys always-keys/eval always-t.sz -o o.sz",
        3,
        &["packed table", "another program"],
    );
    folder.refused("eval a --keys always-keys/eval always-t.sz -o o.sz", 4, &["packed"]);
    folder.refused("check always-t.sz --params never-p.sz", 3, &["always-t.sz"]);
    folder.fine("keygen always-p.sz -d other --rotations none");
    let eval = |keys: &str| {
        let output = folder.run_of(&["eval", program, "--keys", keys, "always-t.sz", "-o", "o.sz"]);
        (output.status.code(), crate::common::stderr(&output))
    };
    let (code, text) = eval("other/eval");
    assert_eq!(code, Some(4), "{text}");
    let mut bytes = fs::read(folder.path("always-t.sz")).unwrap();
    bytes.truncate(bytes.len() - 1);
    fs::write(folder.path("always-t.sz"), &bytes).unwrap();
    assert_eq!(eval("always-keys/eval").0, Some(5));
    assert!(!folder.path("o.sz").exists());
}

#[test]
fn one_row_and_many_chunks_are_packed() {
    for (name, rows, longest) in [("packed-one", 1, "1"), ("packed-many", 9000, "6000")] {
        let folder = folder(name, rows);
        let [packed, apart] =
            both(&folder, "sum(a); sum(a * b); sum(a) by region", &["--longest-group", longest]);
        assert_eq!(packed, apart, "{rows} rows");
    }
}

#[test]
fn what_cannot_be_packed_is_refused() {
    let folder = folder("packed-refused", 40);
    folder.refused("plan a+b --schema s.json --packing always", 4, &["packed tables"]);
    folder.refused("plan sum(a*a*b) --schema s.json --packing always", 4, &["packed tables"]);
    folder.refused("plan sum(a) --schema s.json --longest-group 3", 2, &["--packing"]);
    // With auto it is planned with columns apart.
    assert!(!folder.fine("plan a+b --schema s.json --packing auto").contains("packed"));
    // A group that is longer than was promised.
    let made = folder.fine("plan sum(a*b) --schema s.json --packing always --longest-group 7 -o p.sz --json");
    fs::write(folder.path("plan.json"), made).unwrap();
    folder.fine("keygen p.sz -d keys --plan plan.json");
    folder.refused(
        "encrypt --keys keys/public --table t.csv --plan plan.json -o t.sz --quiet",
        3,
        &["rows of a group"],
    );
}

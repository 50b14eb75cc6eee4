//! Private lookups in a public table: `sunzi lookup`.

use std::fs;
use std::time::Instant;

use crate::common::{Folder, json, stderr};
use serde_json::{Value, json};
use sunzi::bfv::Parameters;
use sunzi::math::primes_below;
use sunzi::rlwe::Security;
use sunzi::rlwe::wire::{Accept, checksum, load, store};
use sunzi::table::csv::CsvRows;
use sunzi::table::lookup::{Built, Choice, Description, Lookup};

/// Cells with commas, quotation marks, line breaks, other alphabets, and none.
const TABLE: &str = "country,capital,people,note\n\
    France,Paris,68.4,\"on the Seine, since long\"\n\
    Japan,東京,123.9,\n\
    Kenya,Nairobi,0055.10,\"two\nlines\"\n\
    Côte d'Ivoire,Yamoussoukro,31,\"says \"\"hello\"\"\"\n\
    42,NaN,NA,null\n";
const ROWS: [(&str, [&str; 3]); 5] = [
    ("France", ["Paris", "68.4", "on the Seine, since long"]),
    ("Japan", ["東京", "123.9", ""]),
    ("Kenya", ["Nairobi", "0055.10", "two\nlines"]),
    ("Côte d'Ivoire", ["Yamoussoukro", "31", "says \"hello\""]),
    ("42", ["NaN", "NA", "null"]),
];

/// A folder with a table, its database `db` and keys for it.
fn built(name: &str, table: &str, how: &str) -> Folder {
    let folder = Folder::new(name);
    fs::write(folder.path("t.csv"), table).unwrap();
    folder.fine(&format!("lookup build t.csv {how} -d db -q"));
    folder.fine("lookup keygen db/description.sz -d keys -q");
    folder
}

/// Asks, answers and reads.
fn looked_up(folder: &Folder, keyword: &str) -> Value {
    let ask =
        ["lookup", "ask", "db/description.sz", keyword, "--keys", "keys/secret", "-o", "q.sz", "--force"];
    folder.fine_of(&ask);
    folder.fine("lookup answer db q.sz --keys keys/eval -o a.sz --force -q");
    json(&folder.run("lookup read a.sz --note q.sz.asked --keys keys/secret --json"))
}

#[test]
fn every_row_comes_back_by_its_keyword() {
    let folder = built("lookup-keywords", TABLE, "--by country");
    for (country, [capital, people, note]) in ROWS {
        let cells = json!({"capital": capital, "people": people, "note": note});
        assert_eq!(looked_up(&folder, country), json!({"found": true, "cells": cells, "keyword": country}));
    }
    for absent in ["Atlantis", "", "france", "France ", "Fran", "capital"] {
        let got = looked_up(&folder, absent);
        assert_eq!(got, json!({"found": false, "cells": null, "keyword": absent}));
    }
    let text = folder.fine("lookup read a.sz --note q.sz.asked --keys keys/secret");
    assert_eq!(text, "absent: no row has this keyword\n");
    // The text that people see cannot steer their terminals; that of JSON is exact.
    looked_up(&folder, "Kenya");
    let text = folder.fine("lookup read a.sz --note q.sz.asked --keys keys/secret");
    assert_eq!(text, "capital  Nairobi\npeople   0055.10\nnote     two\\nlines\n");
}

#[test]
fn every_row_comes_back_by_its_number() {
    let folder = built("lookup-numbers", TABLE, "--by-number --columns note,country");
    for (row, (country, [_, _, note])) in (1..).zip(ROWS) {
        let cells = json!({"note": note, "country": country});
        assert_eq!(looked_up(&folder, &row.to_string()), json!({"found": true, "cells": cells, "row": row}));
    }
    let ask = |number: &str| format!("lookup ask db/description.sz {number} --keys keys/secret -o no.sz");
    for number in ["0", "6", "18446744073709551615"] {
        folder.refused(&ask(number), 2, &["the number of a row: expected 1 to 5", number]);
    }
    for number in ["Kenya", "1.5", "18446744073709551616"] {
        folder.refused(&ask(number), 2, &["asked by their numbers, 1 to 5", number]);
    }
    assert!(!folder.path("no.sz").exists() && !folder.path("no.sz.asked").exists());
}

/// A database of the same rows has the same bytes, by keyword in any order; one with another cell has other entries alone.
#[test]
fn databases_do_not_depend_on_chance() {
    let folder = Folder::new("lookup-same");
    let row = |i: usize| format!("key {i},{}\n", i * 7);
    let table = |rows: &mut dyn Iterator<Item = usize>| format!("k,v\n{}", rows.map(row).collect::<String>());
    fs::write(folder.path("a.csv"), table(&mut (0..500))).unwrap();
    fs::write(folder.path("b.csv"), table(&mut (0..500).rev())).unwrap();
    fs::write(folder.path("c.csv"), table(&mut (0..500)).replace("key 3,21", "key 3,22")).unwrap();
    fs::write(folder.path("d.csv"), table(&mut (0..501))).unwrap();
    let read = |name: &str, how: &str| {
        folder.fine(&format!("lookup build {name}.csv {how} -d {name}{how} -q"));
        let read = |file: &str| fs::read(folder.path(&format!("{name}{how}/{file}"))).unwrap();
        [read("description.sz"), read("entries.sz")]
    };
    for how in ["--by=k", "--by-number"] {
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| read(name, how));
        assert_eq!(a == b, how == "--by=k");
        assert!(a[0] == c[0] && a[1] != c[1] && a[0] != d[0], "{how}");
    }
}

/// A database that was updated is, byte by byte, that of the table with the changes in it.
#[test]
fn updates_change_rows_and_nothing_else() {
    let folder = built("lookup-update", TABLE, "--by country");
    let changes = "people,note,country,capital\n70.1,new,France,Paris\n1,,Kenya,\n";
    fs::write(folder.path("c.csv"), changes).unwrap();
    let told = folder.fine("lookup update db c.csv -d new");
    assert!(told.starts_with("new: 2 rows changed, ") && told.contains("clients need nothing new"), "{told}");
    let read = |file: &str| fs::read(folder.path(file)).unwrap();
    assert!(read("new/description.sz") == read("db/description.sz"));
    fs::rename(folder.path("db"), folder.path("old")).unwrap();
    fs::rename(folder.path("new"), folder.path("db")).unwrap();
    assert_eq!(
        looked_up(&folder, "France")["cells"],
        json!({"capital": "Paris", "people": "70.1", "note": "new"})
    );
    assert_eq!(looked_up(&folder, "Kenya")["cells"], json!({"capital": "", "people": "1", "note": ""}));
    assert_eq!(looked_up(&folder, "Japan")["cells"]["capital"], "東京");
    for (changes, words) in [
        (
            "country,capital,people,note\nPeru,Lima,34,\n",
            &["\"Peru\"", "new keywords take a new database"][..],
        ),
        ("country,capital,people\nJapan,Tokyo,1\n", &["\"note\"", "not in the table"]),
        ("country,capital,people,note\nJapan,a,1,\nJapan,b,1,\n", &["\"Japan\" on line 2 and line 3"]),
        (&format!("country,capital,people,note\nJapan,{},1,\n", "x".repeat(99)), &["the bytes of a row"]),
    ] {
        fs::write(folder.path("c.csv"), changes).unwrap();
        folder.refused("lookup update db c.csv -d no", 2, words);
        assert!(!folder.path("no").exists());
    }
    folder.refused("lookup update db c.csv -d old", 2, &["\"old\" is there already"]);
    folder.fine("lookup build t.csv --by-number -d numbers -q");
    folder.refused("lookup update numbers t.csv -d no", 2, &["by keyword", "numbers of rows"]);
    // The longest row stays: all bytes are those of a build.
    fs::write(
        folder.path("c.csv"),
        "country,capital,people,note\nFrance,Paris,68.4,\"on the Seine, since long\"\n",
    )
    .unwrap();
    fs::write(folder.path("d.csv"), "country,capital,people,note\nJapan,Tokyo,1,\n").unwrap();
    folder.fine("lookup update old d.csv -d one");
    fs::write(folder.path("t.csv"), TABLE.replace("東京,123.9", "Tokyo,1")).unwrap();
    folder.fine("lookup build t.csv --by country -d same -q");
    assert!(
        read("one/entries.sz") == read("same/entries.sz") && read("one/entries.sz") != read("old/entries.sz")
    );
    folder.fine("lookup update db c.csv -d back");
    assert_eq!(read("back/description.sz"), read("old/description.sz"));
}

#[test]
fn tables_of_one_row_and_huge_cells_come_back() {
    let folder = built("lookup-one", "k\nonly\n", "--by k");
    assert_eq!(looked_up(&folder, "only"), json!({"found": true, "cells": {}, "keyword": "only"}));
    assert_eq!(looked_up(&folder, "other")["found"], false);
    let text = folder.fine("lookup read a.sz --note q.sz.asked --keys keys/secret");
    assert!(text.starts_with("absent"), "{text}");
    let folder = built("lookup-one-number", "k\nonly\n", "--by-number");
    assert_eq!(looked_up(&folder, "1")["cells"], json!({"k": "only"}));
    // An entry of several plaintexts.
    let long: String = (0..30_000).map(|i| char::from(b'a' + (i % 26) as u8)).collect();
    let folder = built("lookup-huge", &format!("k,v,w\na,{long},1\nb,2,3\n"), "--by k");
    assert_eq!(looked_up(&folder, "a")["cells"], json!({"v": long, "w": "1"}));
    assert_eq!(looked_up(&folder, "b")["cells"], json!({"v": "2", "w": "3"}));
    // A keyword comes from standard input as well.
    let ask = "lookup ask db/description.sz --wanted - --keys keys/secret -o q.sz --force";
    assert_eq!(folder.piped(ask, b"a\n").status.code(), Some(0));
    folder.fine("lookup answer db q.sz --keys keys/eval -o a.sz --force -q");
    let read = json(&folder.run("lookup read a.sz --note q.sz.asked --keys keys/secret --json"));
    assert_eq!(read["cells"]["w"], "1");
}

#[test]
fn tables_that_are_no_databases_are_refused_by_name() {
    let folder = Folder::new("lookup-tables");
    let refused = |table: &str, how: &str, words: &[&str]| {
        fs::write(folder.path("t.csv"), table).unwrap();
        folder.refused(&format!("lookup build t.csv {how} -d db"), 2, words);
        assert!(!folder.path("db").exists());
    };
    refused("", "--by a", &["t.csv", "is empty"]);
    refused("a,b\n", "--by a", &["t.csv", "no rows"]);
    refused("a,b\n1,2\n", "--by c", &["\"c\"", "not in the table, whose columns are a, b"]);
    refused("a,b\n1,2\n", "--by-number --columns b,c", &["\"c\"", "not in the table"]);
    refused("a,b\n1,2\n", "--by-number --columns b,b", &["\"b\"", "twice"]);
    refused("a,a\n1,2\n", "--by-number", &["two columns are named"]);
    refused("a,b\n1,2\n", "-q", &["--by <COLUMN>"]);
    refused("a,b\n1,2\n", "--by a --by-number", &["--by"]);
    let twice = "a,b\n1,2\n2,3\n1,4\n\n2,5\n1,6\n1,7\n";
    let words = ["\"1\" on line 2 and line 4", "\"2\" on line 3 and line 6", "and line 7, 1 more"];
    refused(twice, "--by a", &words);
    let long = format!("a,b\n1,2\n{},3\n", "k".repeat(4097));
    refused(&long, "--by a", &["line 3", "a keyword of 4097 bytes", "at most 4096"]);
    let huge = format!("a,b\n1,{}\n", "v".repeat(1 << 24));
    refused(&huge, "--by a", &["the bytes of an entry", "2^24"]);
    fs::write(folder.path("t.csv"), format!("a,b\n{},3\n", "k".repeat(4096))).unwrap();
    folder.fine("lookup build t.csv --by a -d db -q");
    folder.refused("lookup build t.csv --by a -d db", 2, &["\"db\" is there already"]);
    folder.refused("lookup build t.csv --by a -d no/db", 6, &["no folder"]);
    folder.refused("lookup build none.csv --by a -d x", 6, &["none.csv"]);
    folder.fine("lookup keygen db/description.sz -d keys -q");
    let ask = format!("lookup ask db/description.sz {} --keys keys/secret -o q.sz", "k".repeat(4097));
    folder.refused(&ask, 2, &["the keyword", "at most 4096 bytes", "got 4097"]);
}

#[test]
fn other_files_keys_and_databases_are_refused_by_name() {
    let folder = built("lookup-others", TABLE, "--by country");
    looked_up(&folder, "Kenya");
    fs::rename(folder.path("q.sz"), folder.path("first.sz")).unwrap();
    fs::rename(folder.path("q.sz.asked"), folder.path("first.asked")).unwrap();
    looked_up(&folder, "Japan");
    // A note of another query is not taken: it would make an absent keyword of one that is there.
    let read = |answer: &str, note: &str| format!("lookup read {answer} --note {note} --keys keys/secret");
    folder.refused(&read("a.sz", "first.asked"), 3, &["a.sz", "another query"]);
    // Kinds.
    folder.refused(&read("q.sz", "q.sz.asked"), 3, &["an answer of a lookup database", "a query"]);
    folder.refused(&read("a.sz", "q.sz"), 3, &["the SECRET note", "a query"]);
    let answer = |database: &str, query: &str, keys: &str| {
        format!("lookup answer {database} {query} --keys {keys} -o no.sz")
    };
    folder.refused(&answer("db", "a.sz", "keys/eval"), 3, &["a.sz", "a query to a lookup database"]);
    folder.refused(&answer("db", "t.csv", "keys/eval"), 5, &["t.csv", "no file of Sunzi"]);
    let ask = |description: &str, keys: &str| format!("lookup ask {description} x --keys {keys} -o no.sz");
    folder.refused(&ask("db/entries.sz", "keys/secret"), 3, &["the description of a lookup database"]);
    // Databases: another one, entries of another, none.
    fs::write(folder.path("u.csv"), TABLE.replace("Kenya", "Kenia")).unwrap();
    folder.fine("lookup build u.csv --by country -d other -q");
    folder.refused(&answer("other", "q.sz", "keys/eval"), 3, &["q.sz", "asks another database", "other"]);
    fs::create_dir(folder.path("mixed")).unwrap();
    fs::copy(folder.path("db/description.sz"), folder.path("mixed/description.sz")).unwrap();
    folder.refused(&answer("mixed", "q.sz", "keys/eval"), 6, &["entries.sz", "is missing"]);
    fs::copy(folder.path("other/entries.sz"), folder.path("mixed/entries.sz")).unwrap();
    folder.refused(&answer("mixed", "q.sz", "keys/eval"), 3, &["entries.sz", "another description"]);
    folder.refused(&answer("keys", "q.sz", "keys/eval"), 6, &["not the folder of a database"]);
    // Keys: of somebody else, of both sides, of a smaller database, none, of another ring.
    folder.fine("lookup keygen db/description.sz -d bob -q");
    folder.refused(&answer("db", "q.sz", "bob/eval"), 3, &["bob/eval", "belongs to key"]);
    folder.refused("lookup read a.sz --note q.sz.asked --keys bob/secret", 3, &["bob/secret", "under key"]);
    folder.refused(&ask("db/description.sz", "keys"), 2, &["give \"keys/secret\""]);
    folder.refused(&answer("db", "q.sz", "keys"), 2, &["give \"keys/eval\""]);
    folder.refused(&ask("db/description.sz", "none"), 6, &["sunzi lookup keygen"]);
    folder.refused("lookup keygen db/description.sz -d keys", 2, &["never overwritten"]);
    let rows: String = (0..60_000).map(|i| format!("{i},{i}\n")).collect();
    fs::write(folder.path("large.csv"), format!("k,v\n{rows}")).unwrap();
    folder.fine("lookup build large.csv --by k -d large -q");
    folder.fine("lookup ask large/description.sz 5 --keys keys/secret -o large.sz");
    folder.refused(&answer("large", "large.sz", "keys/eval"), 3, &["keys/eval", "a smaller database"]);
    folder.fine("params --depth 1 -o p.sz");
    folder.fine("keygen p.sz -d others -q --rotations none");
    folder.refused(&ask("db/description.sz", "others/secret"), 3, &["others/secret", "other"]);
    // Targets.
    folder.refused("lookup ask db/description.sz x --keys keys/secret -o q.sz", 2, &["--force"]);
    folder.refused("lookup ask db/description.sz x --keys keys/secret -o - --json", 2, &["--json"]);
    folder.refused("lookup ask db/description.sz x --keys keys/secret -o -", 2, &["--note"]);
    folder.refused("lookup ask db/description.sz x --keys keys/secret -o n --note -", 2, &["secret"]);
    folder.refused("lookup ask db/description.sz x --keys keys/secret -o n --note n", 2, &["both write to"]);
    assert!(!folder.path("no.sz").exists() && !folder.path("no.sz.asked").exists());
    for (file, object) in [
        ("db/description.sz", "by \"country\", of at most 36 bytes\ncolumns      capital, people, note"),
        ("db/entries.sz", "the entries of a lookup database"),
        ("q.sz", "a query to a lookup database"),
        ("a.sz", "an answer of a lookup database"),
        ("q.sz.asked", "the SECRET note of what a query asks for (keep it from others)"),
    ] {
        let told = folder.fine(&format!("inspect {file}"));
        assert!(told.contains(object), "{told}");
    }
}

/// Every file with a bit or its end changed is refused, where checksums are right again too.
#[test]
fn damaged_files_are_refused() {
    let folder = built("lookup-damaged", TABLE, "--by country");
    looked_up(&folder, "Kenya");
    let read = "lookup read a.sz --note q.sz.asked --keys keys/secret";
    let answer = "lookup answer db q.sz --keys keys/eval -o no.sz";
    for (file, command) in [
        ("db/description.sz", "lookup ask db/description.sz x --keys keys/secret -o no.sz"),
        ("db/description.sz", answer),
        ("db/entries.sz", answer),
        ("q.sz", answer),
        ("keys/eval/galois.sz", answer),
        ("a.sz", read),
        ("q.sz.asked", read),
        ("keys/secret/secret.sz", read),
    ] {
        let path = folder.path(file);
        let whole = fs::read(&path).unwrap();
        let flipped = |at: usize| {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            bytes
        };
        let longer = [&whole[..], b"x"].concat();
        for bytes in [
            flipped(70),
            flipped(whole.len() / 2),
            flipped(whole.len() - 1),
            whole[..whole.len() - 1].into(),
            longer,
        ] {
            fs::write(&path, bytes).unwrap();
            let output = folder.run(command);
            assert_eq!(output.status.code(), Some(5), "{file}: {}", stderr(&output));
            assert_eq!(stderr(&output).lines().count(), 1);
        }
        fs::write(&path, whole).unwrap();
    }
    assert!(!folder.path("no.sz").exists());
    folder.fine(read);
    // A server that answers with other ciphertexts, whose noise is more than it says, is not taken for one that does not have the keyword.
    let lookup = Lookup::new(&load(&Accept::Secure, folder.path("db/description.sz")).unwrap()).unwrap();
    let record = 2 * lookup.context().ring().packed_len();
    let mut bytes = fs::read(folder.path("a.sz")).unwrap();
    let end = bytes.len() - 8;
    bytes[end - record] ^= 1;
    let sum = checksum(&bytes[end - record..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    fs::write(folder.path("a.sz"), bytes).unwrap();
    folder.refused(read, 5, &["a.sz", "bytes that are not in the database"]);
}

#[cfg(unix)]
#[test]
fn notes_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = built("lookup-modes", TABLE, "--by country");
    looked_up(&folder, "Kenya");
    let mode = |file: &str| fs::metadata(folder.path(file)).unwrap().permissions().mode() & 0o777;
    assert_eq!(["q.sz.asked", "keys/secret/secret.sz", "keys/secret"].map(mode), [0o600, 0o600, 0o700]);
    fs::set_permissions(folder.path("q.sz.asked"), fs::Permissions::from_mode(0o640)).unwrap();
    let read = "lookup read a.sz --note q.sz.asked --keys keys/secret";
    folder.refused(read, 2, &["a note of what a query asks for", "chmod 600"]);
    let open = folder.run(&format!("{read} --allow-open-mode"));
    assert!(open.status.success() && stderr(&open).starts_with("warning: "), "{}", stderr(&open));
    // The keyword is in no file but the note: neither in the query nor in the answer.
    for file in ["q.sz", "a.sz"] {
        let bytes = fs::read(folder.path(file)).unwrap();
        assert!(!bytes.windows(5).any(|window| window == b"Kenya"), "{file}");
    }
}

/// Two queries of one keyword have no byte of a polynomial in common, but by chance, and as many bytes as those of any other.
#[test]
fn queries_tell_nothing_by_their_length() {
    let folder = built("lookup-lengths", TABLE, "--by country");
    let asked = |keyword: &str| {
        looked_up(&folder, keyword);
        ["q.sz", "a.sz"].map(|file| fs::metadata(folder.path(file)).unwrap().len())
    };
    let first = asked("Kenya");
    let long = "x".repeat(4096);
    for other in ["Kenya", "", "Atlantis", &long] {
        assert_eq!(asked(other), first);
    }
}

#[test]
fn parameters_without_security_are_refused() {
    let folder = Folder::new("lookup-insecure");
    let moduli = primes_below(1 << 47, 1 << 9, 3).unwrap();
    let parameters = Parameters::new(8, moduli, 65_537, Security::InsecureForResearchOnly);
    let choice = Choice { by: Some("country".to_owned()), columns: None };
    let mut rows = CsvRows::new(TABLE.as_bytes(), "t.csv").unwrap();
    let built = Built::with_parameters(&mut rows, &choice, parameters).unwrap();
    fs::create_dir(folder.path("db")).unwrap();
    let description: &Description = built.lookup().description();
    store(&Accept::Secure, description, folder.path("db/description.sz")).unwrap();
    let entries = fs::File::create(folder.path("db/entries.sz")).unwrap();
    built.write_entries(entries, &mut || ()).unwrap();
    const FLAG: &str = "--insecure-for-research-only";
    for (command, made) in [
        ("lookup keygen db/description.sz -d keys -q", "keys"),
        ("lookup ask db/description.sz Kenya --keys keys/secret -o q.sz", "q.sz"),
        ("lookup answer db q.sz --keys keys/eval -o a.sz -q", "a.sz"),
        ("lookup read a.sz --note q.sz.asked --keys keys/secret --json", "a.sz"),
    ] {
        folder.refused(&command.replace(" --json", ""), 2, &["without a check of their security", FLAG]);
        let told = folder.fine(&format!("{command} {FLAG}"));
        assert!(folder.path(made).exists());
        if command.contains("read") {
            assert!(told.contains("\"capital\":\"Nairobi\""), "{told}");
        }
    }
}

/// An answer says what memory it takes, and is refused before any work where that is not there.
#[cfg(target_os = "linux")]
#[test]
fn answers_without_memory_are_refused() {
    let folder = built("lookup-memory", &format!("k,v\na,{}\nb,1\n", "v".repeat(12_000_000)), "--by k");
    folder.fine("lookup ask db/description.sz b --keys keys/secret -o q.sz");
    let answer = "sunzi lookup answer db q.sz --keys keys/eval -o a.sz --json";
    // Each thread takes address space of its own, so there is one.
    let line = format!("export RAYON_NUM_THREADS=1 MALLOC_ARENA_MAX=1; ulimit -v {}; {answer}", 1 << 20);
    let refused = folder.shell(&line);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("of memory, "), "{}", stderr(&refused));
    assert!(!folder.path("a.sz").exists());
}

#[test]
#[ignore = "long: 2^16 rows, with times"]
fn many_rows_come_back_in_their_time() {
    let cells =
        |i: u64| [format!("name {:016x}", i.wrapping_mul(0x9E37_79B9_7F4A_7C15)), (i * 7).to_string()];
    let row = |i: u64| format!("key-{i},{}\n", cells(i).join(","));
    let table = format!("id,name,amount\n{}", (0..1 << 16).map(row).collect::<String>());
    let start = Instant::now();
    let folder = built("lookup-many", &table, "--by id");
    println!("database and keys: {:.2} s", start.elapsed().as_secs_f64());
    for i in (0..1 << 16).step_by(4099) {
        let start = Instant::now();
        let got = looked_up(&folder, &format!("key-{i}"));
        let [name, amount] = cells(i);
        assert_eq!(got["cells"], json!({"name": name, "amount": amount}));
        println!("key-{i}: asked, answered and read in {:.2} s", start.elapsed().as_secs_f64());
    }
    assert_eq!(looked_up(&folder, "key-65536")["found"], false);
}

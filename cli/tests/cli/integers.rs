//! Programs on encrypted integers through the command line, on a small insecure set: exact, and refused with what would help.

use std::fs;

use sunzi::circuits::integers::IntegerParameters;
use sunzi::rlwe::wire::{NoContext, store};

use crate::common::{Folder, json};

const FLAG: &str = "--insecure-for-research-only";
/// Rows of the table.
const ROWS: i64 = 40;

fn age(row: i64) -> i64 {
    // Every third row is at the threshold.
    if row % 3 == 0 { 65 } else { 18 + row * 29 % 70 }
}

/// Hundredths of a cost, of either sign.
fn cents(row: i64) -> i64 {
    row * 13_125 % 99_750 - 20_025
}

fn cost(row: i64) -> String {
    let (sign, cents) = (if cents(row) < 0 { "-" } else { "" }, cents(row).abs());
    format!("{sign}{}.{:02}", cents / 100, cents % 100)
}

/// A folder with a table, a table of rates, parameters and keys.
fn prepared(name: &str) -> Folder {
    let folder = Folder::new(name);
    let lines = (0..ROWS).map(|row| format!("{},{}\n", age(row), cost(row)));
    fs::write(folder.path("t.csv"), format!("age,cost\n{}", lines.collect::<String>())).unwrap();
    let rates = (18..=90).map(|age| format!("{age},{}\n", age * age % 50));
    fs::write(folder.path("rates.csv"), format!("age,rate\n{}", rates.collect::<String>())).unwrap();
    store(&NoContext, &IntegerParameters::insecure(9).unwrap(), folder.path("job.sz")).unwrap();
    folder.fine("schema --table t.csv -o s.json");
    folder.fine(&format!("keygen job.sz --directory keys -q {FLAG}"));
    folder.fine(&format!("encrypt --table t.csv --schema s.json --keys keys/public -o t.sz -q {FLAG}"));
    folder
}

#[test]
fn programs_of_order_and_tables_are_exact() {
    let folder = prepared("integers");
    let program = "median(age);max(cost)-min(cost);count(age>65);sum(where(age>65,cost,0));top(age,2);lookup(age,\"rates.csv\")";
    let plan = format!("plan {program} --table t.sz --params job.sz --no-time --json {FLAG}");
    let planned = json(&folder.run(&plan));
    assert_eq!(planned["scheme"].as_str(), Some("integers"));
    assert!(planned["look_ups"]["count"].as_u64() > Some(20), "{}", planned["look_ups"]);
    folder.fine(&format!("eval {program} --keys keys/eval t.sz -o r.sz -q {FLAG}"));
    let told = json(&folder.run(&format!("decrypt r.sz --keys keys/secret -q --json {FLAG}")));
    let mut ages: Vec<i64> = (0..ROWS).map(age).collect();
    let above = |row: &i64| age(*row) > 65;
    let expected = (0..ROWS).filter(above).map(cents).sum::<i64>() as f64 / 100.0;
    let costs = (0..ROWS).map(cents);
    let spread = (costs.clone().max().unwrap() - costs.min().unwrap()) as f64 / 100.0;
    let rates: Vec<f64> = ages.iter().map(|age| (age * age % 50) as f64).collect();
    ages.sort_unstable();
    let middle = (ages[19] + ages[20]) as f64 / 2.0;
    let text = told.to_string();
    let number =
        |at: usize| told["results"][at]["number"]["value"].as_f64().unwrap_or_else(|| panic!("{text}"));
    assert_eq!(number(0), middle, "{text}");
    assert_eq!(number(1), spread, "{text}");
    assert_eq!(number(2), (0..ROWS).filter(above).count() as f64, "{text}");
    assert_eq!(number(3), expected, "{text}");
    let places = told["results"][4]["groups"].as_array().unwrap();
    let top = |at: usize| places[at]["number"]["value"].as_f64();
    assert_eq!([top(0), top(1)], [ages[39], ages[38]].map(|age| Some(age as f64)), "{text}");
    let rows = told["results"][5]["rows"].as_array().unwrap();
    let got: Vec<Option<f64>> = rows.iter().map(|row| row["value"].as_f64()).collect();
    assert_eq!(got, rates.into_iter().map(Some).collect::<Vec<_>>(), "{text}");
    // All of the file is whole, and it says what it is.
    folder.fine(&format!("check t.sz --params job.sz {FLAG}"));
    folder.fine(&format!("check r.sz --params job.sz {FLAG}"));
    folder.fine(&format!("check keys/eval/bootstrapping.sz --params job.sz {FLAG}"));
    assert!(folder.fine("inspect t.sz").contains("a table encrypted as integers"));
    assert!(folder.fine(&format!("inspect job.sz {FLAG}")).contains("parameters of encrypted integers"));
}

#[test]
fn what_integers_do_not_have_is_refused_with_what_would_help() {
    let folder = prepared("integers-refused");
    folder.refused(
        &format!("eval exp(cost) --keys keys/eval t.sz -o r.sz -q {FLAG}"),
        4,
        &["no functions of real numbers", "lookup"],
    );
    folder.refused(
        &format!("encrypt --table t.csv --schema s.json --keys keys/public -o t.parquet -q {FLAG}"),
        2,
        &["Parquet"],
    );
    fs::write(folder.path("real.csv"), "x\n0.123456789012345678\n2\n").unwrap();
    folder.refused(
        &format!("encrypt --table real.csv --keys keys/public -o x.sz -q {FLAG}"),
        2,
        &["declare its decimals"],
    );
    folder.refused("plan median(age) --table t.csv --scheme bfv", 4, &["--scheme integers"]);
    folder.refused("plan median(age) --table t.csv --security 192", 4, &["128 bits"]);
    assert!(!folder.path("r.sz").exists() && !folder.path("t.parquet").exists());
    // A key of another folder, and a damaged one.
    folder.fine(&format!("keygen job.sz --directory others -q {FLAG}"));
    folder.refused(&format!("eval median(age) --keys others/eval t.sz -o r.sz -q {FLAG}"), 3, &["key"]);
    let path = folder.path("keys/eval/bootstrapping.sz");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, &bytes).unwrap();
    folder.refused(&format!("eval median(age) --keys keys/eval t.sz -o r.sz -q {FLAG}"), 5, &["damaged"]);
}

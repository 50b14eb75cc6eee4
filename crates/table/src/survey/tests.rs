use super::*;
use crate::csv::CsvRows;
use crate::{Chunks, DateFormat, read_schema};
use sunzi_program::run::Cells;
use sunzi_program::schema::{Kind, LARGEST_CELL, Origin, TimeUnit, Unit};

fn of(text: &str, asked: &Asked) -> Result<Surveyed, TableError> {
    survey(&mut CsvRows::new(text.as_bytes(), "t.csv")?, asked)
}

fn kinds(text: &str) -> Vec<Kind> {
    let found = of(text, &Asked::default()).unwrap();
    found.schema.columns.into_iter().map(|column| column.kind).collect()
}

fn message(text: &str, asked: &Asked) -> String {
    of(text, asked).unwrap_err().to_string()
}

#[test]
fn kinds_and_ranges_are_found() {
    let decimal = |decimals, low, high| Kind::Decimal { decimals, low, high };
    let category =
        |labels: &[&str]| Kind::Category { labels: labels.iter().map(|&l| l.to_owned()).collect() };
    let text = "a,b,c,d,e\n1,1.5,x,0.038075906433423026,0\n-3,20,y,-1e-3,0\n1e2,0.25,x,0.5,0\n";
    let found = kinds(text);
    assert_eq!(found[0], decimal(0, -3, 100));
    assert_eq!(found[1], decimal(2, 25, 2000));
    assert_eq!(found[2], category(&["x", "y"]));
    assert_eq!(found[3], Kind::Real { low: -0.001, high: 0.5 });
    assert_eq!(found[4], decimal(0, 0, 0));
    // Largest exact cells.
    let last = LARGEST_CELL;
    assert_eq!(kinds(&format!("a\n0.1\n{}.2\n", last / 10)), [decimal(1, 1, last)]);
    assert_eq!(
        kinds(&format!("a\n0\n{}.3\n", last / 10)),
        [Kind::Real { low: 0.0, high: 900_719_925_474_099.3 }]
    );
    assert_eq!(kinds("a\n0.000000000000001\n0\n"), [decimal(15, 0, 1)]);
    assert_eq!(kinds("a\n0.0000000000000001\n0\n"), [Kind::Real { low: 0.0, high: 1e-16 }]);
    assert_eq!(kinds("a\n1e15\n1.5\n"), [Kind::Real { low: 1.5, high: 1e15 }]);
    assert_eq!(kinds("a\n1e-400\n1e14\n"), [Kind::Real { low: 0.0, high: 1e14 }]);
}

#[test]
fn what_does_not_fit_is_named_with_line_and_column() {
    let none = Asked::default();
    for (text, words) in [
        ("a,b\n1,2\n3,x\n", ["line 3", "\"b\"", "\"x\"", "not a number"]),
        ("a,b\n1,x\n3,2\n", ["line 3", "\"b\"", "\"2\"", "is a number"]),
        ("a,b\n1,2\n3,\n", ["line 3", "\"b\"", "\"\"", "--missing"]),
        ("a,b\n1,2\n3,NaN\n", ["line 3", "\"b\"", "\"NaN\"", "--missing"]),
        ("a,b\n1,2\n3,2e15\n", ["line 3", "\"b\"", "\"2e15\"", "1e15"]),
    ] {
        let error = message(text, &none);
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    }
    let many: String = (0..=MOST_LABELS).map(|i| format!("n{i}\n")).collect();
    assert!(message(&format!("name\n{many}"), &none).contains("more than 256"));
    let missing = Asked { clear: vec!["z".to_owned()], ..Asked::default() };
    assert!(message("a,b\n1,2\n", &missing).contains("its columns are a, b"));
}

#[test]
fn what_is_declared_is_checked() {
    let json = r#"{"columns": [
        {"name": "b", "kind": {"decimal": {"decimals": 1, "low": 0, "high": 100}}, "encrypted": true},
        {"name": "c", "kind": {"category": {"labels": ["1", "2", "3"]}}, "encrypted": true},
        {"name": "r", "kind": {"real": {"low": -1.0, "high": 1.0}}, "encrypted": true}]}"#;
    let asked = Asked { clear: vec!["c".to_owned()], ..read_schema(json).unwrap() };
    let good = of("c,a,b,r\n1,x,0.5,0.25\n2,y,10,-1\n", &asked).unwrap();
    assert_eq!((good.sources.as_slice(), good.schema.rows), (&[2, 0, 3][..], 2));
    assert_eq!(good.schema.columns.iter().map(|c| c.encrypted).collect::<Vec<_>>(), [true, false, true]);
    for (row, words) in [
        ("1,x,10.1,0", ["line 2", "\"b\"", "from 0 to 10"]),
        ("1,x,0.55,0", ["line 2", "\"b\"", "2 decimals"]),
        ("1,x,-0.1,0", ["line 2", "\"b\"", "outside"]),
        ("4,x,0,0", ["line 2", "\"c\"", "none of the 3 labels"]),
        ("1,x,0,1.0001", ["line 2", "\"r\"", "from -1 to 1"]),
        ("1,x,,0", ["line 2", "\"b\"", "--missing"]),
    ] {
        let error = message(&format!("c,a,b,r\n{row}\n"), &asked);
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    }
    assert!(matches!(read_schema("{}"), Err(TableError::Schema(_))));
    // Another day's table has other rows.
    let fewer = Asked { rows: Some(3), ..asked };
    assert_eq!(of("c,a,b,r\n1,x,0,0\n", &fewer).unwrap().schema.rows, 1);
}

#[test]
fn a_subset_of_the_declared_columns_is_taken() {
    let json = r#"{"rows": 2, "columns": [
        {"name": "a", "kind": {"decimal": {"range": [0, 9]}}},
        {"name": "b", "kind": {"decimal": {"range": [0, 9]}}},
        {"name": "c", "kind": {"decimal": {"range": [0, 9]}}}]}"#;
    let subset = |names: &[&str]| {
        let columns = names.iter().map(|&name| name.to_owned()).collect();
        of("c,b\n1,2\n3,4\n", &Asked { columns, ..read_schema(json).unwrap() })
    };
    let found = subset(&["b"]).unwrap();
    assert_eq!((found.schema.columns, found.sources), (vec![Column::integer("b", 0, 9)], vec![1]));
    assert!(subset(&["d"]).unwrap_err().to_string().contains("not in the schema; its columns are a, b, c"));
    assert!(subset(&[]).unwrap_err().to_string().contains("not in the table; its columns are c, b"));
}

#[test]
fn truth_values_are_one_and_zero() {
    let found = of("a,b\ntrue,x\nFalse,true\n", &Asked::default()).unwrap_err().to_string();
    assert!(
        found.contains("line 3")
            && found.contains("is true or false, and another cell of the column is a text"),
        "{found}"
    );
    let text = "a,b\ntrue,1\nFalse,0\nTRUE,1\n";
    let surveyed = of(text, &Asked::default()).unwrap();
    assert_eq!(surveyed.schema.columns, [Column::integer("a", 0, 1), Column::integer("b", 0, 1)]);
    let rows = Box::new(CsvRows::new(std::io::Cursor::new(text), "t.csv").unwrap());
    let chunk = Chunks::new(rows, &surveyed, 4).next_chunk().unwrap().unwrap();
    assert_eq!((chunk.cells(0), chunk.cells(1)), (Some(&Cells::Units(vec![1, 0, 1])), chunk.cells(0)));
    for (cell, words) in
        [("maybe", "is not true or false, as others"), ("1", "is a number, and another cell")]
    {
        let error = message(&format!("a\ntrue\n{cell}\n"), &Asked::default());
        assert!(error.contains("line 3") && error.contains(words), "{error}");
    }
    let labels = Asked { categories: vec!["a".to_owned()], ..Asked::default() };
    let kind = &of(text, &labels).unwrap().schema.columns[0].kind;
    assert!(matches!(kind, Kind::Category { labels } if labels.len() == 3));
}

#[test]
fn dates_and_times_are_numbers_with_a_unit() {
    let unit = |time, since| Unit { time, since };
    let text = "day,when,clock\n1970-01-03,1970-01-01T00:01:00Z,00:00:30\n1969-12-31,1970-01-01,23:59:59\n";
    let surveyed = of(text, &Asked::default()).unwrap();
    let expected = [
        Column::integer("day", -1, 2).in_units(unit(TimeUnit::Days, Origin::Epoch)),
        Column::integer("when", 0, 60).in_units(unit(TimeUnit::Seconds, Origin::Epoch)),
        Column::integer("clock", 30, 86_399).in_units(unit(TimeUnit::Seconds, Origin::Midnight)),
    ];
    assert_eq!(surveyed.schema.columns, expected);
    let rows = Box::new(CsvRows::new(std::io::Cursor::new(text), "t.csv").unwrap());
    let chunk = Chunks::new(rows, &surveyed, 4).next_chunk().unwrap().unwrap();
    assert_eq!(chunk.cells(0), Some(&Cells::Units(vec![2, -1])));
    assert_eq!(chunk.cells(1), Some(&Cells::Units(vec![60, 0])));
    let minutes = Reading { units: vec![("clock".to_owned(), TimeUnit::Minutes)], ..Reading::default() };
    let error = message(text, &Asked { reading: minutes, ..Asked::default() });
    assert!(error.contains("line 2") && error.contains("no whole number of minutes"), "{error}");
    for (text, words) in [
        ("a\n2024-05-17\nx\n", "is not a date or a time, as others"),
        ("a\n2024-05-17\n5\n", "is a number, and another cell of the column is a date or a time"),
        ("a\n2024-05-17\n10:30\n", "is a time, and another cell of the column is a date or a time"),
        ("a\n2024-05-17T10:30:00.5\n", "no whole number of seconds"),
    ] {
        let error = message(text, &Asked::default());
        assert!(error.contains(words), "{words}: {error}");
    }
    let wrong = Reading { units: vec![("a".to_owned(), TimeUnit::Days)], ..Reading::default() };
    assert!(message("a\n5\n", &Asked { reading: wrong, ..Asked::default() }).contains("no unit of time"));
}

#[test]
fn another_country_writes_numbers_and_dates_in_its_way() {
    let text = "tag;preis\n17.05.2024;1,5\n01.06.2024;-20,25\n";
    let reading = Reading {
        decimal_comma: true,
        date_format: Some(DateFormat::new("%d.%m.%Y").unwrap()),
        ..Reading::default()
    };
    let found = of(text, &Asked { reading, ..Asked::default() }).unwrap().schema.columns;
    let days = Unit { time: TimeUnit::Days, since: Origin::Epoch };
    assert_eq!(
        found,
        [Column::integer("tag", 19_860, 19_875).in_units(days), Column::decimal("preis", 2, -2025, 150)]
    );
    // Without being told so, what is wrong is said.
    assert!(message("a;b\n1;1,5\n2;2,5\n", &Asked::default()).contains("a decimal comma"));
    assert!(
        message(text, &Asked { columns: vec!["tag".to_owned()], ..Asked::default() }).contains("date format")
    );
    let many: String = (0..300).map(|i| format!("{}.{}.{}\n", i % 28 + 1, i % 12 + 1, 1900 + i)).collect();
    assert!(message(&format!("a\n{many}"), &Asked::default()).contains("date format"));
}

#[test]
fn a_declared_range_holds_every_cell_and_hides_the_least() {
    let range = |column: &str, low: &str, high: &str| Asked {
        ranges: vec![Range { column: column.to_owned(), low: low.to_owned(), high: high.to_owned() }],
        ..Asked::default()
    };
    let found = |text: &str, asked: &Asked| of(text, asked).unwrap().schema.columns;
    assert_eq!(found("a\n30\n70\n", &range("a", "0", "120")), [Column::integer("a", 0, 120)]);
    assert_eq!(found("a\n30.5\n70\n", &range("a", "0", "120")), [Column::decimal("a", 1, 0, 1200)]);
    let days = Unit { time: TimeUnit::Days, since: Origin::Epoch };
    let year = range("a", "1970-01-01", "1970-12-31");
    assert_eq!(found("a\n1970-02-01\n", &year), [Column::integer("a", 0, 364).in_units(days)]);
    for (text, asked, words) in [
        (
            "a\n30\n120.5\n",
            range("a", "0", "120"),
            "line 3, column \"a\": \"120.5\" is outside of the declared range from 0 to 120",
        ),
        ("a\n1971-01-01\n", year, "from 1970-01-01 to 1970-12-31"),
        ("a\n30\n", range("a", "120", "0"), "the lower end first"),
        ("a\n30\n", range("a", "low", "high"), "give numbers or dates"),
        ("a\n30\n", range("b", "0", "1"), "column \"b\": is not taken of the table; taken are a"),
        ("a\nx\n", range("a", "0", "1"), "is not a number"),
    ] {
        let error = message(text, &asked);
        assert!(error.contains(words), "{words}: {error}");
    }
    let labels = Asked { categories: vec!["a".to_owned()], ..range("a", "0", "1") };
    assert!(message("a\n1\n", &labels).contains("is a category"));
}

#[test]
fn chunks_have_the_cells_of_the_schema() {
    let text = "a,b,g\n1,1.5,x\n2,2.25,y\n3,0,x\n";
    let surveyed = of(text, &Asked { categories: vec!["a".to_owned()], ..Asked::default() }).unwrap();
    let rows = |text: String| Box::new(CsvRows::new(std::io::Cursor::new(text), "t.csv").unwrap());
    let mut chunks = Chunks::new(rows(text.to_owned()), &surveyed, 2);
    let first = chunks.next_chunk().unwrap().unwrap();
    assert_eq!(first.cells(0), Some(&Cells::Labels(vec![0, 1])));
    assert_eq!(first.cells(1), Some(&Cells::Units(vec![150, 225])));
    let last = chunks.next_chunk().unwrap().unwrap();
    assert_eq!((last.row_count(), last.cells(2)), (1, Some(&Cells::Labels(vec![0]))));
    assert!(chunks.next_chunk().unwrap().is_none());
    let changed = |text: &str| {
        let mut chunks = Chunks::new(rows(text.to_owned()), &surveyed, 2);
        while chunks.next_chunk()?.is_some() {}
        Ok::<_, TableError>(())
    };
    assert!(matches!(changed(&format!("{text}1,0,x\n")), Err(TableError::Changed { expected: 3, got: 4 })));
    assert!(matches!(changed("a,b,g\n1,1.5,x\n"), Err(TableError::Changed { expected: 3, got: 1 })));
    assert!(matches!(changed("a,b,g\n1,3,x\n2,2,y\n3,0,x\n"), Err(TableError::Cell { .. })));
}

#[test]
fn chunks_of_a_partition_have_one_label_each() {
    let text: String =
        (0..20).map(|i| format!("{i},{}\n", ["x", "y", "z"][if i % 5 == 0 { 2 } else { i % 2 }])).collect();
    let text = format!("a,g\n{text}");
    let asked = Asked { clear: vec!["g".to_owned()], ..Asked::default() };
    let surveyed = of(&text, &asked).unwrap();
    let chunks = || {
        Chunks::new(
            Box::new(CsvRows::new(std::io::Cursor::new(text.clone()), "t.csv").unwrap()),
            &surveyed,
            4,
        )
    };
    assert!(chunks().partitioned("a").is_err() && chunks().partitioned("b").is_err());
    let mut chunks = chunks().partitioned("g").unwrap();
    let (mut sizes, mut all) = (vec![], vec![]);
    while let Some(chunk) = chunks.next_chunk().unwrap() {
        let Some(Cells::Labels(labels)) = chunk.cells(1) else { panic!() };
        assert!(labels.iter().all(|label| label == &labels[0]));
        sizes.push((labels[0], labels.len()));
        let Some(Cells::Units(units)) = chunk.cells(0) else { panic!() };
        all.extend(units.clone());
    }
    sizes.sort_unstable();
    assert_eq!(sizes, [(0, 4), (0, 4), (1, 4), (1, 4), (2, 4)]);
    all.sort_unstable();
    assert_eq!(all, (0..20).collect::<Vec<_>>());
}

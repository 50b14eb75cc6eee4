//! Pictures of plans and pages of demonstrations: well formed, whole, and safe with hostile names.

use std::fs;

use roxmltree::{Document, Node, ParsingOptions};

use crate::common::{Folder, stderr};

/// A column that would end a text, begin a script and turn the direction of a line.
const HOSTILE: &str = "</text><script>alert('x')</script>&\u{202e}";

fn parsed(text: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

/// Texts of a picture or page, in order.
fn texts<'a>(document: &'a Document<'a>) -> Vec<&'a str> {
    document.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect()
}

fn assert_safe(document: &Document<'_>) {
    for tag in ["script", "link", "img", "image", "use", "foreignObject", "a"] {
        assert!(!document.descendants().any(|node| node.has_tag_name(tag)), "{tag}");
    }
    for node in document.descendants() {
        assert!(!node.attributes().any(|own| own.name().starts_with("on") || own.name() == "href"));
    }
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    fs::write(folder.path("t.csv"), format!("x,\"{HOSTILE}\",g\n1,2,a\n3,4,b\n5,6,b\n")).unwrap();
    folder
}

fn plan(folder: &Folder, program: &str, scheme: &str) -> String {
    fs::write(folder.path("program.txt"), program).unwrap();
    folder.fine(&format!("plan @program.txt t.csv --no-time --picture p.svg --force --scheme {scheme}"));
    fs::read_to_string(folder.path("p.svg")).unwrap()
}

#[test]
fn pictures_of_plans_have_every_level_and_every_size() {
    let folder = folder("pictures-levels");
    let hostile = format!("sum(x * `{HOSTILE}`)");
    for (program, scheme, levels) in [
        (hostile.as_str(), "bfv", &["keys", "ciphertexts"][..]),
        ("sum(x^4)", "bgv", &["keys", "level 2", "level 1", "level 0"]),
        ("sum(sigmoid(x, -8, 8))", "ckks", &["keys", "level 3", "level 2", "level 1", "level 0"]),
    ] {
        let svg = plan(&folder, program, scheme);
        let document = parsed(&svg);
        assert_safe(&document);
        let texts = texts(&document);
        for text in levels {
            assert!(texts.contains(text), "{scheme}: {text}\n{texts:?}");
        }
        for text in ["Noise beside the room", "bits of the modulus", "key for products", "0", "room left"] {
            assert!(texts.contains(&text), "{scheme}: {text}\n{texts:?}");
        }
        assert!(
            texts.iter().any(|text| text.ends_with(" left"))
                && texts.iter().any(|text| text.ends_with("KiB") || text.ends_with("MiB"))
        );
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}

#[test]
fn names_of_columns_are_shown_and_harmless() {
    let folder = folder("pictures-names");
    let svg = plan(&folder, &format!("sum(`{HOSTILE}`)"), "auto");
    let document = parsed(&svg);
    assert_safe(&document);
    let shown = HOSTILE.replace('\u{202e}', "\u{fffd}");
    assert!(texts(&document).iter().any(|text| text.contains(&shown)), "{svg}");
    assert!(!svg.contains('\u{202e}') && !svg.contains("<script"));
}

#[test]
fn bars_of_a_ciphertext_fill_its_modulus() {
    let folder = folder("pictures-bars");
    let svg = plan(&folder, "sum(x * x)", "bgv");
    let document = parsed(&svg);
    let number = |node: &Node<'_, '_>, name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
    let bars: Vec<_> =
        document.descendants().filter(|node| node.attribute("class") == Some("noise")).collect();
    // The first is that of the legend.
    assert!(bars.len() > 2);
    for noise in &bars[1..] {
        let line: Vec<_> = document
            .descendants()
            .filter(|node| node.has_tag_name("rect") && node.attribute("y") == noise.attribute("y"))
            .collect();
        assert_eq!(line.len(), 3, "noise, message and room");
        for pair in line.windows(2) {
            let end = number(&pair[0], "x") + number(&pair[0], "width");
            assert!((end - number(&pair[1], "x")).abs() < 0.2, "{end}");
        }
    }
}

#[test]
fn pictures_and_pages_follow_the_rules_of_outputs() {
    let folder = folder("pictures-output");
    let (plan, demo) = ("plan sum(x) t.csv --no-time --picture", "demo --input t.csv --columns x -q --html");
    for command in [plan, demo] {
        fs::write(folder.path("old"), "old").unwrap();
        folder.refused(&format!("{command} old"), 2, &["\"old\" is there already", "--force"]);
        assert_eq!(fs::read(folder.path("old")).unwrap(), b"old");
        folder.fine(&format!("{command} old --force"));
        assert_ne!(fs::read(folder.path("old")).unwrap(), b"old");
        fs::remove_file(folder.path("old")).unwrap();
        folder.refused(&format!("{command} none/old"), 6, &["there is no folder \"none\""]);
        let output = folder.run(&format!("{command} -"));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        parsed(std::str::from_utf8(&output.stdout).unwrap());
        assert!(!stderr(&output).is_empty(), "the report is on standard error");
    }
    folder.refused(&format!("{plan} - -o -"), 2, &["--picture - and --output - both write"]);
    folder.refused(&format!("{plan} same -o same"), 2, &["--picture and --output both write to \"same\""]);
    folder.refused("plan sum(x) t.csv --force", 2, &["--picture"]);
    folder.refused("demo --input t.csv --force", 2, &["--html"]);
    for command in [plan, demo] {
        let output = folder.run(&format!("{command} - --json"));
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("and --json both write to standard output"), "{}", stderr(&output));
    }
}

#[test]
fn the_page_of_a_demonstration_has_what_the_report_has() {
    let folder = folder("pictures-page");
    let output = folder.run("demo --input t.csv --group-by g --html page.html --json");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let html = fs::read_to_string(folder.path("page.html")).unwrap();
    let document = parsed(&html);
    assert_safe(&document);
    let texts = texts(&document);
    let checks = report["checks"].as_array().unwrap().len();
    let outcome = format!("{checks} of {checks} encrypted results equal those in the clear");
    assert!(texts.contains(&outcome.as_str()), "{texts:?}");
    let headings =
        ["Results", "Differences", "Sizes", "Times", "Parameters", "What the server saw", "It did not see"];
    for text in headings.into_iter().chain(["All rows: 3 rows", "a: 1 row", "b: 2 rows", "x"]) {
        assert!(texts.contains(&text), "{text}: {texts:?}");
    }
    // Means of x: 3 in all rows, 1 of a, 4 of b; each encrypted and in the clear.
    for mean in ["3.000000000", "1.000000000", "4.000000000"] {
        assert!(texts.iter().filter(|text| **text == mean).count() >= 2, "{mean}: {texts:?}");
    }
    let name = HOSTILE.replace('\u{202e}', "\u{fffd}");
    assert!(texts.contains(&name.as_str()), "{texts:?}");
    assert!(html.contains("script-src 'none'"));
    let slots = ["segment", "chunks"].map(|name| report["params"][name].as_u64().unwrap());
    let bound = format!("an upper bound on the rows of the largest group: {}", slots[0] * slots[1]);
    assert!(texts.contains(&bound.as_str()) && slots[0] * slots[1] >= 2, "{texts:?}");
}

#[test]
fn lookups_and_regressions_have_pages_too() {
    let folder = folder("pictures-jobs");
    folder.fine("demo --job lookup --html lookup.html -q");
    folder.fine("demo --job regression --quick --iterations 1 --html regression.html -q");
    for (file, words) in [
        ("lookup.html", ["the word", "The encrypted answer is the one in the clear"]),
        ("regression.html", ["mean_radius", "The encrypted model is the one in the clear"]),
    ] {
        let html = fs::read_to_string(folder.path(file)).unwrap();
        let document = parsed(&html);
        assert_safe(&document);
        let texts = texts(&document);
        for text in words.into_iter().chain(["Results", "Sizes", "Times", "It did not see", "the secret key"])
        {
            assert!(texts.contains(&text), "{file}: {text}");
        }
    }
}

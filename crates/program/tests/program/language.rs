//! The reference of the language: it says what the parser does, what schemes offer, and what stands in the book.

use sunzi_program::analysis::SchemeChoice;
use sunzi_program::language::{
    Block, ELSEWHERE, Entry, FUNCTIONS, Gives, SIGNS, SYNONYMS, Schemes, WORDS, example_schema,
    example_weights, function, lines, markdown, page, plain, text,
};
use sunzi_program::{Options, OutputValue, Plan, Program, ProgramError};

fn parse(text: &str) -> Result<Program, ProgramError> {
    Program::parse_with(text, &example_schema().unwrap(), &example_weights)
}

fn message(text: &str) -> String {
    let error = parse(text).map(|_| ()).unwrap_err();
    assert!(matches!(error, ProgramError::Parse(_)), "{text}: {error}");
    error.to_string()
}

fn in_scheme(program: &Program, scheme: SchemeChoice) -> Result<Plan, ProgramError> {
    Plan::new(program, &Options { scheme: Some(scheme), ..Options::default() })
}

#[test]
fn the_page_on_disk_is_the_reference() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/book/language.md");
    let found = std::fs::read_to_string(path).unwrap();
    assert!(found == markdown(), "docs/book/language.md differs: cargo xtask book --record writes it");
}

#[test]
fn programs_in_documents_parse() {
    let blocks = page().into_iter().filter_map(|block| match block {
        Block::Code("text", program) => Some(program),
        _ => None,
    });
    let readme = include_str!("../../../../README.md");
    let section = readme.split("\n## The language of programs\n").nth(1).unwrap();
    let shown = section.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let programs: Vec<String> = blocks.chain(shown.lines().map(str::to_owned)).collect();
    assert!(programs.len() >= 5, "{programs:?}");
    for program in programs {
        parse(&program).unwrap_or_else(|error| panic!("{program}: {error}"));
    }
}

#[test]
fn examples_give_what_the_reference_says() {
    for entry in &FUNCTIONS {
        let program = parse(entry.example).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        let first = &program.outputs()[0].value;
        // The quotient of a function by columns is an expression of rows as well.
        let rows = matches!(first, OutputValue::Column(_));
        assert_eq!(rows, entry.gives == Gives::Rows, "{}", entry.name);
        assert!(entry.example.contains(&format!("{}(", entry.name)), "{}", entry.name);
    }
}

#[test]
fn schemes_offer_what_the_reference_says() {
    for entry in &FUNCTIONS {
        // Columns of real numbers and functions of rows take CKKS, whatever else a program has.
        let example = entry.example.replace("linear(\"weights.json\")", "linear(\"whole.json\")");
        let whole = |name: &str| match name {
            "whole.json" => Ok(r#"{"weights": {"age": 2}}"#.to_owned()),
            other => example_weights(other),
        };
        let program = Program::parse_with(&example, &example_schema().unwrap(), &whole).unwrap();
        use SchemeChoice::{Bfv, Bgv, Ckks, Integers};
        for scheme in [Bfv, Bgv, Ckks, Integers] {
            let offered = match entry.schemes {
                Schemes::All => true,
                Schemes::Ckks => scheme == Ckks,
                Schemes::Integers => scheme == Integers,
                Schemes::Exact => scheme != Ckks,
            };
            let plan = in_scheme(&program, scheme);
            assert_eq!(plan.is_ok(), offered, "{} in {scheme:?}: {:?}", entry.name, plan.err());
        }
    }
}

#[test]
fn wrong_numbers_of_arguments_are_told_apart() {
    for entry in &FUNCTIONS {
        for got in 0..5 {
            let arguments = vec!["age"; got].join(", ");
            let text = format!("{}({arguments})", entry.name);
            let fits = entry.forms.iter().any(|form| form.len() == got) || entry.name == "poly" && got >= 2;
            if !fits {
                let forms: Vec<String> = entry.written().collect();
                let told = message(&text);
                assert!(told.contains(&format!("is written {}", forms.join(" or "))), "{told}");
                assert!(told.contains(entry.example), "{told}");
            }
        }
    }
}

#[test]
fn what_stands_for_other_functions_parses() {
    for entry in &ELSEWHERE {
        for name in entry.names {
            assert!(function(name).is_none(), "{name} is a function");
            for way in entry.ways {
                // Comparisons where a condition is asked for, numbers elsewhere, and an exponent.
                let fill = |argument: &&str| match *argument {
                    "c" | "a" | "b" => "age > 40",
                    "n" => "3",
                    "y" => "cost + 1",
                    _ => "age",
                };
                let arguments: Vec<&str> = way.arguments.iter().map(fill).collect();
                let told = message(&format!("{name}({})", arguments.join(", ")));
                let program = told.split("\nwrite ").nth(1).and_then(|help| help.split("; ").next());
                let program = program.unwrap_or_else(|| panic!("{told}"));
                parse(program).unwrap_or_else(|error| panic!("{name}: {program}: {error}"));
            }
            // With another number of arguments the answer stands alone.
            let told = message(&format!("{name}(age, age, age, age, age)"));
            assert!(told.contains(entry.answer), "{told}");
        }
    }
    for (name, own) in &SYNONYMS {
        assert!(function(own).is_some() && function(name).is_none(), "{name}");
        assert!(message(&format!("{name}(age)")).ends_with(&format!("did you mean `{own}`?")));
    }
}

#[test]
fn what_newcomers_write_is_answered() {
    for (text, expected) in [
        ("pmax(age, cost)", "did you mean `max`?"),
        ("mae(age - 1, cost)", "write mean((2 * ((age - 1) > cost) - 1) * ((age - 1) - cost)); "),
        ("mae(age)", "mae(x, y) is written mean((2 * (x > y) - 1) * (x - y))"),
        ("argmax(age)", "the row of rank 1 has the least number"),
        ("quartile(age)", "quantile(x, 0.9)"),
        ("head(age)", "top(x, 5) lists the greatest numbers"),
        ("round(cost, 1)", "encrypted numbers are not rounded"),
        ("abs(cost - 250)", "write (2 * ((cost - 250) > 0) - 1) * (cost - 250); "),
        ("sumif(cost, age > 40)", "write sum(cost * (age > 40)); "),
        ("countif(age > 40)", "write count(age > 40); "),
        ("if(age > 40, cost, 0)", "write where(age > 40, cost, 0); "),
        ("pow(age, 2)", "write age ^ 2; "),
        ("ABS(age)", "write (2 * (age > 0) - 1) * age"),
        ("argmax", "the row of rank 1 has the least number"),
        ("max", "it is written max(x) or max(x, y)"),
        ("maen(age)", "did you mean `mean`?"),
        ("mean(aeg)", "did you mean `age`?"),
        ("SUM(age)", "did you mean `sum`?"),
        ("frobnicate(age)", "there are: count, sum, mean"),
        ("age(2)", "`age` is a column"),
        ("count(age > 30 and age < 60)", "(age > 30) * (age < 60)"),
        ("sum(cost) where age > 3", "a condition is a factor"),
        ("sum(cost) group by region", "groups are written sum(x) by region"),
        ("select mean(age)", "a program names its results alone"),
        ("count(region == 'north')", "double quotation marks"),
        ("count(region = \"north\")", "equality is written =="),
        ("count(18 < age < 65)", "(18 < age) * (age < 65)"),
        ("count(age <> 30)", "unequal is written !="),
        ("age ** 2", "powers are written x ^ 2"),
        ("count(*)", "the number of rows is count()"),
        ("age % 2", "remainders are not offered"),
        ("age >≥ 2", "write >="),
        ("mean(age, cost)", "`mean` is written mean(x), and here it has 2 arguments"),
        ("sum", "it is written sum(x)"),
        ("age[1]", "there are no indices"),
    ] {
        let told = message(text);
        assert!(told.contains(expected), "{text}: {told}");
    }
    // A long argument is not repeated in the help.
    let told = message(&format!("mae(age{}, cost)", " + 1".repeat(100)));
    assert!(told.contains("mae(x, y) is written") && !told.contains("\nwrite "), "{told}");
    // Bracketed comparisons may be compared, since they are numbers.
    assert!(parse("count((age > 30) == (cost > 100))").is_ok());
}

#[test]
fn words_and_signs_of_other_languages_are_answered() {
    for entry in &WORDS {
        for word in entry.words {
            let told = message(&format!("mean(age) {word} cost"));
            assert!(told.ends_with(entry.answer), "{told}");
        }
    }
    for sign in &SIGNS {
        let told = message(&format!("mean(age) {} cost", sign.sign));
        assert!(told.ends_with(sign.answer), "{told}");
    }
}

#[test]
fn text_and_page_have_the_same_words() {
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let printed = squeeze(&text(100));
    for block in page() {
        let parts = match block {
            Block::Heading(_, text) | Block::Text(text) | Block::Code(_, text) => vec![text],
            Block::Points(points) => points,
            Block::Table(rows) => rows.into_iter().skip(1).flatten().collect(),
        };
        for part in parts {
            assert!(printed.contains(&squeeze(&plain(&part))), "{part}");
        }
    }
    assert!(text(100).lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn single_words_are_looked_up() {
    let told = lines("corr", 100).unwrap();
    assert!(told.contains("corr(x, y)") && told.contains("Pearson"), "{told}");
    assert!(lines("quartile", 100).unwrap().contains("quantile(x, 0.9)"));
    assert!(lines("avg", 100).unwrap().contains("write mean"));
    assert!(lines("frobnicate", 100).is_none());
    let names: Vec<&str> = FUNCTIONS.iter().map(|entry: &Entry| entry.name).collect();
    let mut distinct = names.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), names.len());
}

//! Tests of programs made to take long: text or JSON is read within a second, and a second more for each MB; plans take
//! longer by a constant.

use crate::timed::{within, within_seconds};
use sunzi_program::parse::LONGEST_TEXT;
use sunzi_program::{Column, Options, Plan, Program, Schema};

/// Most seconds of a plan of few bytes: functions of functions try parameters with bootstrapping for one.
const PLANNING: f64 = 10.0;
/// Most seconds of a plan for each MB of its text more: a machine's clock may be slower by 1.6.
const PLANNING_OF_MB: f64 = 60.0;

fn schema(columns: usize) -> Schema {
    let column = |i: usize| match i % 3 {
        0 => Column::decimal(&format!("c{i}"), 15, 0, 0),
        1 => Column::integer(&format!("c{i}"), 0, 9),
        _ => Column::real(&format!("c{i}"), -1.0, 1.0),
    };
    let labels: Vec<String> = (0..4096).map(|i| i.to_string()).collect();
    let labels = Column::category("k", &labels.iter().map(String::as_str).collect::<Vec<_>>());
    Schema::new(1000, (1..columns).map(column).chain([labels]).collect()).unwrap()
}

fn repeated(part: impl Fn(usize) -> String, between: &str, bytes: usize) -> String {
    let mut text = String::new();
    for i in 0.. {
        let part = part(i);
        if text.len() + part.len() + between.len() > bytes {
            return text;
        }
        if i > 0 {
            text.push_str(between);
        }
        text.push_str(&part);
    }
    text
}

/// Returns program texts of the largest allowed length.
fn texts() -> Vec<(&'static str, String)> {
    let most = LONGEST_TEXT - 64;
    // Integers, real numbers, and numbers of 15 decimals that are all 0.
    let (whole, real) =
        (|i: usize| format!("c{}", 1 + 3 * (i % 1300)), |i: usize| format!("c{}", 2 + 3 * (i % 1300)));
    let each =
        |start: &str, part: &dyn Fn(usize) -> String, most| format!("{start};{}", repeated(part, ";", most));
    let sum = |column: &dyn Fn(usize) -> String| (0..400).map(column).collect::<Vec<_>>().join("+");
    let (wholes, told) = (sum(&whole), sum(&|i| format!("({}>0)", real(i))));
    vec![
        ("parentheses", "(".repeat(most)),
        ("closed parentheses", format!("{}c1{}", "(".repeat(most / 2), ")".repeat(most / 2))),
        ("signs", format!("{}c1", "-".repeat(most))),
        ("a product", format!("sum({})", repeated(whole, "*", most))),
        ("a shorter product", format!("sum({})", repeated(whole, "*", 2_000))),
        ("a sum", format!("sum({})", repeated(whole, "+", most))),
        ("sums that cancel", each(&format!("s={wholes}"), &|i| format!("r{i}=s-s"), most - 40_000)),
        ("sums of sums", each(&format!("s={wholes}"), &|i| format!("s+{i}"), most - 40_000)),
        ("powers", repeated(whole, "^", most)),
        ("squares of squares", each("x0=c3", &|i| format!("x{}=x{i}*x{i}", i + 1), most / 2)),
        ("a long chain", each("x0=c1", &|i| format!("x{}=x{i}*c1", i + 1), most)),
        ("one total", each("x=sum(c1)", &|i| format!("y{i}=x"), most)),
        ("squares of totals", each("x0=sum(c1)", &|i| format!("x{}=x{i}*x{i}", i + 1), 1_000)),
        ("a long chain of totals", each("x0=sum(c1)", &|i| format!("x{}=x{i}+1", i + 1), most)),
        ("columns", repeated(|i| format!("r{i}=c4095+{i}"), ";", most)),
        ("an unknown column", format!("{};d", repeated(|i| format!("r{i}=c1"), ";", most))),
        ("totals", repeated(|i| format!("sum({})", whole(i)), "+", most)),
        ("groups", format!("({}) by k", repeated(|i| format!("sum({})", whole(i)), "+", 500))),
        ("labels", repeated(|i| format!("r{i}=sum(k==\"4095\")"), ";", most)),
        ("correlations", repeated(|i| format!("r{i}=corr({},{})", whole(i), whole(i / 1300)), ";", most)),
        ("comparisons", each(&format!("s={told}"), &|i| format!("r{i}=sum(poly(s,0,{i},1))"), most / 2)),
        ("functions", repeated(|i| format!("r{i}=sum(exp({}))", real(i)), ";", most / 16)),
        ("a function of a function", format!("sum({}c2{})", "tanh(".repeat(90), ")".repeat(90))),
        ("digits", "1".repeat(most)),
        ("decimals", format!("sum(c1*0.{})", "1".repeat(most))),
        ("names", format!("{}=c1", "x".repeat(most))),
        ("backticks", "`".repeat(most)),
        ("statements", ";".repeat(most)),
        (
            "coefficients",
            repeated(|i| format!("r{i}=sum(poly({},{}1))", whole(i), "1,".repeat(250)), ";", most / 16),
        ),
    ]
}

/// Reading takes no longer than the length of a text allows. Planning fits polynomials and tries parameters: it ends,
/// and its refusals are short.
#[test]
fn no_text_takes_longer_than_its_length_allows() {
    for (what, text) in texts() {
        let schema = schema(4096);
        let bytes = text.len();
        let program = within(what, bytes, move || Program::parse(&text, &schema));
        let Ok(program) = program else { continue };
        let plan = move || Plan::new(&program, &Options::default()).err().map(|error| error.to_string());
        let refused = within_seconds(what, PLANNING + PLANNING_OF_MB * bytes as f64 / 1e6, plan);
        assert!(refused.is_none_or(|text| text.len() < 1000), "{what}");
    }
}

/// Formulas of the largest allowed depth come back from JSON.
#[test]
fn what_is_parsed_is_read_again() {
    let mut deepest = 0;
    for terms in [2, 10, 50, 58, 59, 60, 61, 62, 80, 99, 100, 101, 200] {
        let text = (0..terms).map(|i| format!("sum(c1+{i})")).collect::<Vec<_>>().join("+");
        let grouped = format!("({text}) by k");
        let columns = schema(3);
        for text in [text, grouped] {
            let Ok(program) = Program::parse(&text, &columns) else { continue };
            let json = serde_json::to_string(&program).unwrap();
            let again: Program =
                serde_json::from_str(&json).expect("what a server writes is read by the key holder");
            assert_eq!(again, program);
            // In a file of results it stands a little deeper.
            let description = format!(r#"{{"description":{{"program":{json}}}}}"#);
            serde_json::from_str::<serde_json::Value>(&description).unwrap();
            deepest = deepest.max(terms);
        }
    }
    assert_eq!(deepest, 58);
}

//! Tests of the program language: what texts mean, and what errors say.

use sunzi_program::{
    Column, Formula, Node, NodeId, Number, Opened, OutputValue, Program, ProgramError, Schema,
};

fn schema() -> Schema {
    let columns = vec![
        Column::integer("age", 0, 120),
        Column::integer("chol", 0, 600),
        Column::decimal("cost of stay", 2, 0, 10_000_000),
        Column::real("bmi", 10.0, 60.0),
        Column::category("region", &["north", "south"]),
        Column::category("sex", &["f", "m"]).in_the_clear(),
    ];
    Schema::new(1000, columns).unwrap()
}

fn parse(text: &str) -> Program {
    Program::parse(text, &schema()).unwrap_or_else(|error| panic!("{error}"))
}

fn message(text: &str) -> String {
    let error = Program::parse(text, &schema()).unwrap_err();
    assert!(matches!(error, ProgramError::Parse(_)), "{error}");
    error.to_string()
}

/// Returns the words of a program's first output, if it is the total or the column of a node.
fn words(text: &str) -> String {
    let program = parse(text);
    match &program.outputs()[0].value {
        OutputValue::Number(Formula::Total(id)) | OutputValue::Column(id) => {
            program.graph().describe(*id, program.schema())
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn operators_bind_as_in_mathematics() {
    for (text, expected) in [
        ("age + chol * 2", "age + 2 * chol"),
        ("(age + chol) * 2", "2 * age + 2 * chol"),
        ("age - chol - 1", "age - chol - 1"),
        ("age - (chol - 1)", "age - chol + 1"),
        ("-age ^ 2", "-age * age"),
        ("2 ^ 3 ^ 2 * age", "512 * age"),
        ("age / 4", "0.25 * age"),
        ("sum((age - chol)^2)", "(age - chol) * (age - chol)"),
        ("count(age > 50)", "(age - 50 > 0)"),
        ("50 >= age", "(-age + 50 >= 0)"),
        ("sum(`cost of stay`) # a comment", "cost of stay"),
        ("dot(age, chol)", "age * chol"),
        ("poly(age, 1, 0, 2)", "poly(age, 1, 0, 2)"),
        ("poly(age, 1, 3)", "3 * age + 1"),
        ("sigmoid(bmi - 25, -8, 8)", "sigmoid(bmi - 25, -8, 8)"),
        ("sex == \"f\"", "(sex == \"f\")"),
        ("sex != \"f\"", "-(sex == \"f\") + 1"),
        ("age == 5", "-(age - 5 > 0) + (age - 5 >= 0)"),
    ] {
        assert_eq!(words(text), expected, "{text}");
    }
}

#[test]
fn totals_are_finished_by_formulas() {
    let program = parse("m = mean(age); v = var(age); half = m / 2; count(); 3 + 4");
    // Formulas know totals, not cells.
    let total = |id: NodeId| {
        let squares = matches!(program.graph().node(id), Some(Node::Product(..)));
        Some(Number::scaled(if squares { 1_600_250 } else { 40_000 }.into(), 0).into())
    };
    let finished = program.finish(total);
    let number = |i: usize| match &finished[i] {
        (_, Opened::Number(Ok(estimate))) => estimate.number.to_f64(),
        other => panic!("{other:?}"),
    };
    assert_eq!((number(0), number(2), number(3), number(4)), (40.0, 20.0, 1000.0, 7.0));
    assert!((number(1) - 250.0 / 999.0).abs() < 1e-15);
    assert_eq!(finished[3].0, "count()");
}

#[test]
fn groups_are_masks() {
    let program = parse("mean(age) by region, sex");
    let OutputValue::Groups(groups) = &program.outputs()[0].value else { panic!("groups") };
    assert_eq!(groups.len(), 4);
    assert_eq!(groups[1].labels, ["north", "m"]);
    let Formula::Divide(sum, count) = &groups[1].formula else { panic!("{:?}", groups[1]) };
    let [Formula::Total(sum), Formula::Total(count)] = [&**sum, &**count] else { panic!("totals") };
    let describe = |id: &NodeId| program.graph().describe(*id, program.schema());
    assert_eq!(describe(sum), "(region == \"north\") * (sex == \"m\") * age");
    assert_eq!(describe(count), "(region == \"north\") * (sex == \"m\")");
}

#[test]
fn weights_come_from_files() {
    let files = |name: &str| match name {
        "w.json" => {
            Ok(r#"{"weights": {"age": 0.5, "bmi": -1e-3}, "intercept": 2, "interval": [-4, 4]}"#.to_owned())
        }
        "bad.json" => Ok(r#"{"weights": {"aeg": 1}}"#.to_owned()),
        _ => Err(format!("there is no file {name}")),
    };
    let program = Program::parse_with("linear(\"w.json\"); logistic(\"w.json\")", &schema(), &files).unwrap();
    let text = |i: usize| match &program.outputs()[i].value {
        OutputValue::Column(id) => program.graph().describe(*id, program.schema()),
        other => format!("{other:?}"),
    };
    assert_eq!(text(0), "0.5 * age - 0.001 * bmi + 2");
    assert_eq!(text(1), "sigmoid(0.5 * age - 0.001 * bmi + 2, -4, 4)");
    for (file, expected) in [("bad.json", "did you mean `age`?"), ("none.json", "there is no file none.json")]
    {
        let error = Program::parse_with(&format!("linear(\"{file}\")"), &schema(), &files).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn errors_point_at_the_place() {
    let expected = "there is no column `aeg`\n2 |   mean(aeg)\n  |        ^^^\ndid you mean `age`?";
    assert_eq!(message("mean(age);\n  mean(aeg)"), expected);
    for (text, part) in [
        ("", "there is no statement"),
        ("maen(age)", "did you mean `mean`?"),
        ("mean(age", "expected an operator, `,` or `)`, got the end"),
        ("mean age", "expected an operator, `by`, or `;` before the next statement, got `age`"),
        ("age +", "expected a column, a number, a function or `(`, got the end"),
        ("mean", "`mean` is a function"),
        ("mean(age, chol)", "`mean` is written mean(x)"),
        ("age / 3", "1/3 is no decimal fraction"),
        ("age - mean(age)", "a total is known only after decryption"),
        ("age by region", "`by` groups totals"),
        ("sum(age) by chol", "`chol` holds numbers"),
        ("sum(age) by regoin", "did you mean `region`?"),
        ("sum(region)", "compare it, as in region == \"north\""),
        ("region == \"nroth\"", "did you mean `north`?"),
        ("region > \"north\"", "write == or !="),
        ("age ^ 0.5", "whole number from 0 to 255"),
        ("age ^ 256", "whole number from 0 to 255"),
        ("age = 5", "`age` is a column"),
        ("a = 1; a = 2", "there is a result \"a\" already"),
        ("\"open", "has no end"),
        ("1e5", "no decimal number"),
        ("age § 2", "has no meaning here"),
        ("poly(age, age)", "expected a constant"),
        ("log(mean(age))", "only square roots"),
        ("sigmoid(age, 1, 1)", "lower end first"),
        ("linear(age)", "between quotation marks"),
        ("linear(\"x\")", "this program may read none"),
        ("1 / 3", "no decimal fraction"),
        (&"(".repeat(200), "nested deeper than 100"),
        (&format!("{}1", "-".repeat(200)), "nested deeper than 100"),
        (&format!("1{}", " + mean(age)".repeat(200)), "nested deeper"),
        (&format!("1{}", " + 1".repeat(100_000)), "more than 500 operators"),
    ] {
        let message = Program::parse(text, &schema()).unwrap_err().to_string();
        assert!(message.contains(part), "{}: {message}", text.chars().take(80).collect::<String>());
    }
}

#[test]
fn any_text_is_answered() {
    // Every prefix and every single-character change of a program parses or is refused, and nothing panics.
    let text = "a = mean(age) by region; sum((chol - 2.5)^2 * (age > 50)) / count(); `cost of stay` # end";
    for end in 0..=text.len() {
        let _ = Program::parse(&text[..end], &schema());
    }
    for at in 0..text.len() {
        for character in ["(", ")", "\"", "`", ";", "é", "9", " ", ",", "=", "by", "-", ""] {
            let changed = format!("{}{character}{}", &text[..at], &text[at + 1..]);
            if let Err(error) = Program::parse(&changed, &schema()) {
                assert!(!error.to_string().is_empty());
            }
        }
    }
}

#[test]
fn programs_go_through_json_and_bad_ones_do_not() {
    let program =
        parse("mean(age) by region; sigmoid(bmi, 10, 60); poly(age, 1, 2, 3); corr(age, chol); age > 3");
    let text = serde_json::to_string(&program).unwrap();
    assert_eq!(serde_json::from_str::<Program>(&text).unwrap(), program);
    for (from, to) in [
        ("\"rows\":1000", "\"rows\":0"),
        ("{\"column\":0}", "{\"column\":77}"),
        ("{\"column\":0}", "{\"column\":4}"),
        ("\"label\":1", "\"label\":9"),
        ("\"product\":[0,", "\"product\":[9999,"),
        ("\"total\":2", "\"total\":99"),
        ("\"coefficients\":[\"1\",\"2\",\"3\"]", "\"coefficients\":[\"1\",\"2\",\"0\"]"),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        let changed = text.replacen(from, to, 1);
        assert!(serde_json::from_str::<Program>(&changed).is_err(), "{to}");
    }
}

//! Programs on tables with missing cells, against an oracle of their own: expressions that have no value in rows in
//! which a cell is missing, and sums over the rows that have one.

use crate::common::Draw;
use crate::encrypted::{check, options};
use sunzi_program::analysis::{Plan, SchemeChoice};
use sunzi_program::packed::{Keys, Packing, run};
use sunzi_program::run::{Cells, MISSING_LABEL, MISSING_UNIT, Table, reference};
use sunzi_program::{Column, Contexts, Opened, Options, Program, ProgramError, Schema};

/// Names of the columns of numbers.
const NUMBERS: [&str; 6] = ["x", "y", "z", "h", "u", "c"];
const REGIONS: [&str; 3] = ["a", "b", "c"];
const SEXES: [&str; 2] = ["f", "m"];

fn schema(rows: u64) -> Schema {
    let columns = vec![
        Column::integer("x", -5, 9).with_missing(),
        Column::decimal("y", 1, 3, 25).with_missing(),
        Column::integer("z", 2, 4),
        Column::integer("h", 0, 1).with_missing(),
        Column::real("u", 0.5, 2.0).with_missing(),
        Column::integer("c", 1, 7).in_the_clear().with_missing(),
        Column::category("region", &REGIONS).with_missing(),
        Column::category("sex", &SEXES).in_the_clear().with_missing(),
    ];
    Schema::new(rows, columns).unwrap()
}

/// Cells of one row: numbers by their columns, and labels of region and sex.
#[derive(Clone, Default)]
struct Row {
    numbers: [Option<f64>; 6],
    labels: [Option<usize>; 2],
}

/// Draws rows of which about one in `one_in` cells is missing.
fn rows(draw: &mut Draw, count: u64, one_in: u64) -> Vec<Row> {
    let mut row = || {
        let units = [
            draw.below(15) as f64 - 5.0,
            (draw.below(23) + 3) as f64 / 10.0,
            (draw.below(3) + 2) as f64,
            draw.below(2) as f64,
            0.5 + draw.below(1000) as f64 / 1000.0,
            (draw.below(7) + 1) as f64,
        ];
        let labels = [draw.below(3) as usize, draw.below(2) as usize];
        let numbers = std::array::from_fn(|at| (at == 2 || draw.below(one_in) > 0).then_some(units[at]));
        Row { numbers, labels: labels.map(|label| (draw.below(one_in) > 0).then_some(label)) }
    };
    (0..count).map(|_| row()).collect()
}

fn table(schema: &Schema, rows: &[Row]) -> Table {
    let units = |at: usize, unit: f64| {
        let cell = |row: &Row| row.numbers[at].map_or(MISSING_UNIT, |v| (v * unit).round() as i64);
        Cells::Units(rows.iter().map(cell).collect())
    };
    let labels = |at: usize| {
        Cells::Labels(rows.iter().map(|row| row.labels[at].map_or(MISSING_LABEL, |v| v as u32)).collect())
    };
    let reals = Cells::Reals(rows.iter().map(|row| row.numbers[4].unwrap_or(f64::NAN)).collect());
    let cells = vec![
        units(0, 1.0),
        units(1, 10.0),
        units(2, 1.0),
        units(3, 1.0),
        reals,
        units(5, 1.0),
        labels(0),
        labels(1),
    ];
    Table::new(schema, cells).unwrap()
}

/// Expression with a number in every row in which no cell of it is missing.
enum Expression {
    Column(usize),
    Number(f64),
    /// Comparison of a category with a label: equal, or else not.
    Label(usize, usize, bool),
    Above(Box<Expression>, f64),
    Differs(Box<Expression>, f64),
    Sum(Box<Expression>, Box<Expression>),
    Difference(Box<Expression>, Box<Expression>),
    Product(Box<Expression>, Box<Expression>),
    /// 1 − 2v + 0.5v².
    Polynomial(Box<Expression>),
    Logarithm(usize),
}

use Expression::{
    Above, Column as Cell, Difference, Differs, Label, Logarithm, Number, Polynomial, Product, Sum,
};

impl Expression {
    fn text(&self) -> String {
        match self {
            Cell(column) => NUMBERS[*column].to_owned(),
            Number(number) => number.to_string(),
            Label(category, label, equal) => {
                let (name, labels) = [("region", &REGIONS[..]), ("sex", &SEXES[..])][*category];
                format!("({name} {} {:?})", if *equal { "==" } else { "!=" }, labels[*label])
            }
            Above(x, than) => format!("({} > {than})", x.text()),
            Differs(x, from) => format!("({} != {from})", x.text()),
            Sum(a, b) => format!("({} + {})", a.text(), b.text()),
            Difference(a, b) => format!("({} - {})", a.text(), b.text()),
            Product(a, b) => format!("{} * {}", a.text(), b.text()),
            Polynomial(x) => format!("poly({}, 1, -2, 0.5)", x.text()),
            Logarithm(column) => format!("log({})", NUMBERS[*column]),
        }
    }

    /// Returns the value in a row: conditions hold nowhere where a cell is missing, all else is missing there.
    fn at(&self, row: &Row) -> Option<f64> {
        let truth = |holds: bool| Some(f64::from(u8::from(holds)));
        match self {
            Cell(column) => row.numbers[*column],
            Number(number) => Some(*number),
            Label(category, label, equal) => {
                truth(row.labels[*category].is_some_and(|own| (own == *label) == *equal))
            }
            Above(x, than) => truth(x.at(row).is_some_and(|v| v > *than)),
            Differs(x, from) => truth(x.at(row).is_some_and(|v| v != *from)),
            Sum(a, b) => Some(a.at(row)? + b.at(row)?),
            Difference(a, b) => Some(a.at(row)? - b.at(row)?),
            Product(a, b) => Some(a.at(row)? * b.at(row)?),
            Polynomial(x) => x.at(row).map(|v| 1.0 - 2.0 * v + 0.5 * v * v),
            Logarithm(column) => row.numbers[*column].map(f64::ln),
        }
    }
}

/// Draws an expression; exact schemes compare only what is clear.
fn expression(draw: &mut Draw, depth: u32, compares: bool) -> Expression {
    if depth == 0 {
        return match draw.below(if compares { 13 } else { 10 }) {
            0 | 1 => Cell(0),
            2 | 3 => Cell(1),
            4 => Cell(2),
            5 => Cell(5),
            6 => Number(-0.5),
            7 => Label(0, draw.below(3) as usize, draw.below(2) == 0),
            8 => Label(1, draw.below(2) as usize, draw.below(2) == 0),
            9 => Above(Box::new(Cell(5)), 3.0),
            10 => Above(Box::new(Difference(Box::new(Cell(0)), Box::new(Cell(1)))), 1.0),
            11 => Differs(Box::new(Cell(1)), 0.5),
            _ => Logarithm(1),
        };
    }
    let [a, b] = [(); 2].map(|()| Box::new(expression(draw, depth - 1, compares)));
    match draw.below(6) {
        0 | 1 => Sum(a, b),
        2 => Difference(a, b),
        3 | 4 => Product(a, b),
        _ => Polynomial(a),
    }
}

/// Statement of a program, with the number that it gives for rows.
struct Statement {
    function: usize,
    a: Expression,
    b: Expression,
    by: Vec<usize>,
}

const FUNCTIONS: [&str; 8] = ["sum", "mean", "var", "std", "cov", "corr", "dot", "count"];

impl Statement {
    fn new(draw: &mut Draw, depth: u32, compares: bool) -> Self {
        let by = [vec![], vec![], vec![0], vec![1], vec![0, 1]];
        Self {
            function: draw.below(8) as usize,
            a: expression(draw, depth, compares),
            b: expression(draw, depth.min(1), compares),
            by: by[draw.below(5) as usize].clone(),
        }
    }

    fn text(&self) -> String {
        let name = FUNCTIONS[self.function];
        // Numbers that are no conditions are counted by their rows; here these are columns.
        let arguments = match name {
            "cov" | "corr" | "dot" => format!("{}, {}", self.a.text(), self.b.text()),
            "count" => "x + y".to_owned(),
            _ => self.a.text(),
        };
        let by: Vec<&str> = self.by.iter().map(|at| ["region", "sex"][*at]).collect();
        let by = if by.is_empty() { String::new() } else { format!(" by {}", by.join(", ")) };
        format!("{name}({arguments}){by}")
    }

    /// Returns the number for the rows of one group; `None` where it is not defined.
    fn of(&self, rows: &[&Row]) -> Option<f64> {
        let values = |x: &Expression| rows.iter().filter_map(|row| x.at(row)).collect::<Vec<f64>>();
        let pairs: Vec<(f64, f64)> =
            rows.iter().filter_map(|row| Some((self.a.at(row)?, self.b.at(row)?))).collect();
        let own: Vec<f64> = values(&self.a);
        let alone: Vec<(f64, f64)> = own.iter().map(|&v| (v, v)).collect();
        match FUNCTIONS[self.function] {
            "sum" => Some(own.iter().sum()),
            "mean" => (!own.is_empty()).then(|| own.iter().sum::<f64>() / own.len() as f64),
            "var" => covariance(&alone),
            "std" => covariance(&alone).map(f64::sqrt),
            "cov" => covariance(&pairs),
            "corr" => {
                let of = |side: fn(&(f64, f64)) -> f64| {
                    covariance(&pairs.iter().map(|pair| (side(pair), side(pair))).collect::<Vec<_>>())
                };
                let scale = (of(|pair| pair.0)? * of(|pair| pair.1)?).sqrt();
                (scale > 1e-9).then_some(covariance(&pairs)? / scale)
            }
            "dot" => Some(pairs.iter().map(|(x, y)| x * y).sum()),
            _ => {
                Some(rows.iter().filter(|row| row.numbers[0].is_some() && row.numbers[1].is_some()).count()
                    as f64)
            }
        }
    }

    /// Returns the numbers of all groups, or the only one.
    fn all(&self, rows: &[Row]) -> Vec<Option<f64>> {
        let mut groups: Vec<Vec<usize>> = vec![vec![]];
        for &category in &self.by {
            let labels = [3, 2][category];
            groups = groups
                .into_iter()
                .flat_map(|group| (0..labels).map(move |label| [group.clone(), vec![label]].concat()))
                .collect();
        }
        let within = |group: &[usize], row: &Row| {
            self.by.iter().zip(group).all(|(category, label)| row.labels[*category] == Some(*label))
        };
        let of =
            |group: &Vec<usize>| self.of(&rows.iter().filter(|row| within(group, row)).collect::<Vec<_>>());
        groups.iter().map(of).collect()
    }
}

fn covariance(pairs: &[(f64, f64)]) -> Option<f64> {
    let n = pairs.len() as f64;
    let (x, y) = (pairs.iter().map(|p| p.0).sum::<f64>() / n, pairs.iter().map(|p| p.1).sum::<f64>() / n);
    (pairs.len() > 1).then(|| pairs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / (n - 1.0))
}

/// Compares what the program gives in the clear with the oracle.
fn compare(statements: &[Statement], program: &Program, table: &Table, rows: &[Row]) {
    let known = reference(program, table).unwrap();
    let opened = program.finish(|id| Some(known.totals.get(&id)?.clone().into()));
    for (statement, (name, opened)) in statements.iter().zip(opened) {
        let got = match opened {
            Opened::Number(number) => vec![number],
            Opened::Groups(groups) => groups.into_iter().map(|(_, number)| number).collect(),
            Opened::Column(_) => panic!("{name}"),
        };
        let expected = statement.all(rows);
        assert_eq!(got.len(), expected.len());
        for (got, expected) in got.iter().zip(expected) {
            match (got, expected) {
                (Ok(got), Some(expected)) => {
                    let off = (got.number.to_f64() - expected).abs();
                    assert!(off <= 1e-7 * (1.0 + expected.abs()), "{name}: {got:?}, expected {expected}");
                }
                (Err(_), None) => {}
                // A correlation of numbers that are all equal is 0/0 up to roundings.
                _ => assert_eq!(
                    FUNCTIONS[statement.function], "corr",
                    "{name}: {got:?}, expected {expected:?}"
                ),
            }
        }
    }
}

fn text(statements: &[Statement]) -> String {
    statements.iter().map(Statement::text).collect::<Vec<_>>().join("; ")
}

#[test]
fn the_reference_leaves_out_what_the_oracle_leaves_out() {
    let mut draw = Draw(7);
    let mut compared = 0;
    for round in 0..400 {
        let (count, one_in) = (1 + draw.below(60), [2, 5, 30][round % 3]);
        let (schema, rows) = (schema(count), rows(&mut draw, count, one_in));
        let statements = [0, 1, 2].map(|depth| Statement::new(&mut draw, depth, true));
        if statements[0].text() == statements[1].text() {
            continue;
        }
        let program = match Program::parse(&text(&statements), &schema) {
            Ok(program) => program,
            Err(error) => {
                assert!(error.to_string().contains("there is a result"), "{error}");
                continue;
            }
        };
        compare(&statements, &program, &table(&schema, &rows), &rows);
        compared += 1;
    }
    assert!(compared > 350, "{compared}");
}

/// Runs random programs under encryption, and compares with the reference.
fn random(scheme: SchemeChoice, rounds: usize) {
    let (mut draw, mut ran) = (Draw(scheme as u64 + 5), 0);
    for round in 0..rounds {
        let (count, one_in) = (1 + draw.below(2500), [3, 20][round % 2]);
        let (schema, rows) = (schema(count), rows(&mut draw, count, one_in));
        let depth = if scheme == SchemeChoice::Ckks { 1 } else { 2 };
        let statements = [0, draw.below(depth) as u32].map(|depth| Statement::new(&mut draw, depth, false));
        let Ok(program) = Program::parse(&text(&statements), &schema) else { continue };
        let table = table(&schema, &rows);
        compare(&statements, &program, &table, &rows);
        match Plan::new(&program, &options(scheme, 10)) {
            Ok(plan) => {
                check(&plan, &table, round as u64);
                ran += 1;
            }
            Err(ProgramError::Refused(refusal)) => println!("{}: {refusal}", text(&statements)),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(3 * ran >= 2 * rounds, "{ran} of {rounds}");
}

#[test]
fn random_programs_in_bfv() {
    random(SchemeChoice::Bfv, 24);
}

#[test]
fn random_programs_in_bgv() {
    random(SchemeChoice::Bgv, 24);
}

#[test]
fn random_programs_in_ckks() {
    random(SchemeChoice::Ckks, 24);
}

#[test]
fn comparisons_functions_and_columns_in_ckks() {
    let mut draw = Draw(3);
    let (schema, rows) = (schema(1500), rows(&mut draw, 1500, 4));
    for text in [
        "count(x > 3) by sex; mean(y) by region; x + y",
        "sum(log(u)); mean(u * y); mean((y != 0.5) * u); region != \"a\"",
        "mean(inverse(u)); sigmoid(0.3 * x - u); mean(h) by region",
        "mean(x / u); x / u; mean(u / u)",
    ] {
        let program = Program::parse(text, &schema).unwrap();
        let plan = Plan::new(&program, &options(SchemeChoice::Ckks, 10)).unwrap();
        check(&plan, &table(&schema, &rows), 1);
    }
}

/// Tables with missing cells where they are easily lost: everywhere, in the only row, at the ends of chunks, in the
/// column of groups.
#[test]
fn missing_cells_at_awkward_places() {
    let every = "mean(x); sum(y); count(x + y); corr(x, y); var(y) by region; mean(z) by region; count() by region; x * y";
    let chunk = 512;
    for scheme in [SchemeChoice::Bfv, SchemeChoice::Bgv, SchemeChoice::Ckks] {
        let real = "mean(z); sum(y); count(x + y); cov(x, z); mean(z) by sex; count() by region; x * y";
        let text = if scheme == SchemeChoice::Ckks { real } else { every };
        let ends = [0, chunk - 1, chunk, 2 * chunk - 1, 2 * chunk];
        let all = |_: usize| true;
        let places: [(u64, &dyn Fn(usize) -> bool); 4] =
            [(1, &all), (700, &all), (1, &|_| false), (2 * chunk as u64 + 1, &|row| ends.contains(&row))];
        for (count, missing) in places {
            let schema = schema(count);
            let mut rows = rows(&mut Draw(count), count, u64::MAX >> 33);
            for (_, row) in rows.iter_mut().enumerate().filter(|(at, _)| missing(*at)) {
                let z = row.numbers[2];
                *row = Row::default();
                row.numbers[2] = z;
            }
            let program = Program::parse(text, &schema).unwrap();
            let plan = Plan::new(&program, &options(scheme, 10)).unwrap();
            let table = table(&schema, &rows);
            check(&plan, &table, 1);
            let known = reference(&program, &table).unwrap();
            let opened = program.finish(|id| Some(known.totals.get(&id)?.clone().into()));
            if (0..count as usize).all(missing) && scheme != SchemeChoice::Ckks {
                let Opened::Number(Err(why)) = &opened[0].1 else { panic!("{:?}", opened[0]) };
                assert!(why.to_string().contains("a division by zero"), "{why}");
                let Opened::Number(Ok(sum)) = &opened[1].1 else { panic!("{:?}", opened[1]) };
                assert_eq!(sum.number.to_f64(), 0.0);
            }
        }
    }
}

#[test]
fn sums_need_no_product_and_means_divide_by_a_sum_of_indicators() {
    let schema = schema(1000);
    let depth = |text: &str| {
        let program = Program::parse(text, &schema).unwrap();
        Plan::new(&program, &options(SchemeChoice::Bfv, 10)).unwrap().depth
    };
    for text in ["sum(x)", "mean(x)", "sum(2 * x + 1)", "count(x)", "mean(h)", "count(region != \"a\")"] {
        assert_eq!(depth(text), 0, "{text}");
    }
    for text in
        ["dot(x, y)", "var(x)", "mean(x + y)", "cov(x, y)", "mean(x) by region", "sum(poly(x, 1, 2, 3))"]
    {
        assert_eq!(depth(text), 1, "{text}");
    }
    for text in ["corr(x, y)", "mean(x * x * y)", "cov(x, y) by region", "corr(x, y) by region"] {
        assert_eq!(depth(text), 2, "{text}");
    }
}

#[test]
fn conditions_are_counted_by_their_sum_and_numbers_by_their_rows() {
    let schema = schema(4);
    let cell = |x: Option<f64>, h: Option<f64>| Row {
        numbers: [x, Some(0.3), Some(2.0), h, Some(1.0), Some(1.0)],
        labels: [Some(0), Some(1)],
    };
    let rows = [cell(Some(5.0), Some(1.0)), cell(None, Some(0.0)), cell(Some(-1.0), None), cell(None, None)];
    let text = "count(); count(x); count(x > 0); count(h); count(1 - h); mean(h); mean(x > 0)";
    let program = Program::parse(text, &schema).unwrap();
    let known = reference(&program, &table(&schema, &rows)).unwrap();
    let opened = program.finish(|id| Some(known.totals.get(&id)?.clone().into()));
    let numbers = opened.iter().map(|(_, opened)| match opened {
        Opened::Number(Ok(number)) => number.number.to_f64(),
        other => panic!("{other:?}"),
    });
    assert_eq!(numbers.collect::<Vec<_>>(), [4.0, 2.0, 1.0, 1.0, 1.0, 0.5, 0.25]);
}

#[test]
fn packed_tables_leave_missing_cells_out_or_are_not_packed() {
    let mut draw = Draw(9);
    let (schema, rows) = (schema(60), rows(&mut draw, 60, 6));
    let table = table(&schema, &rows);
    for (text, packs) in [
        ("mean(x); cov(x, y); dot(x, z); count(x + y)", true),
        ("mean(x) by region", false),
        ("corr(x, y)", false),
    ] {
        let program = Program::parse(text, &schema).unwrap();
        let packing = Packing { always: true, ..Packing::default() };
        let own = Options { packing: Some(packing), ..options(SchemeChoice::Bfv, 8) };
        let plan = match Plan::new(&program, &own) {
            Ok(plan) => plan,
            Err(error) => {
                assert!(!packs, "{text}: {error}");
                assert!(error.to_string().contains("packed tables"), "{error}");
                continue;
            }
        };
        assert!(packs && plan.packed().is_some(), "{text}");
        let contexts = Contexts::new(&plan.parameters).unwrap();
        let keys = Keys::generate(&plan, &contexts).unwrap();
        let totals = run(&plan, &contexts, &keys, &table, &mut |_| (), &|| ()).unwrap();
        assert_eq!(totals.all, reference(&program, &table).unwrap().totals, "{text}");
    }
}

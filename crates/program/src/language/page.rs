//! The reference as blocks, which [`render`](super::render) writes as Markdown and as plain text.

use super::{ELSEWHERE, Entry, FUNCTIONS, Gives, SIGNS, SYNONYMS, Schemes, WORDS};

/// Part of the reference. Texts have code between backticks, and no other markup but links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Heading of a level from 1.
    Heading(usize, String),
    /// Paragraph of running text.
    Text(String),
    /// Points of a list.
    Points(Vec<String>),
    /// Rows of a table, the headings of its columns first.
    Table(Vec<Vec<String>>),
    /// Lines of code in a language.
    Code(&'static str, String),
}

fn heading(level: usize, text: &str) -> Block {
    Block::Heading(level, text.to_owned())
}

fn words(text: &str) -> Block {
    Block::Text(text.to_owned())
}

fn points(all: &[&str]) -> Block {
    Block::Points(all.iter().map(|&point| point.to_owned()).collect())
}

fn table(rows: &[&[&str]]) -> Block {
    Block::Table(rows.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect())
}

fn code(text: &str) -> String {
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

/// Returns the whole reference.
#[must_use]
pub fn page() -> Vec<Block> {
    let mut blocks = introduction();
    blocks.extend(grammar());
    blocks.extend(values());
    blocks.extend(missing());
    blocks.extend(functions());
    blocks.extend(elsewhere());
    blocks.extend(errors());
    blocks
}

fn introduction() -> Vec<Block> {
    vec![
        heading(1, "The language of programs"),
        words(
            "A program says what is computed from the columns of a table. It is the text that `sunzi plan`, `sunzi keygen --for`, \
             `sunzi eval` and `sunzi decrypt --for` take, and `Program::parse` in Rust. The same words are printed by \
             `sunzi help language`, and as a page of the manual by `sunzi manual language`. [The command line](command-line.md) takes \
             a table through all commands.",
        ),
        Block::Code("text", "mean(cost); corr(age, cost); sum(cost) by region".to_owned()),
        words(
            "This program has three results: the mean of a column, the correlation of two, and a sum for every region.",
        ),
        words(
            "The examples below compute on a table with the columns `age` (whole numbers from 18 to 90), `cost` (two decimals, from \
             0 to 500), `score` (real numbers from 0.125 to 1), `region` (labels `north` and `south`), and `year` (whole numbers \
             from 1990 to 2030, not encrypted).",
        ),
    ]
}

fn grammar() -> Vec<Block> {
    vec![
        heading(2, "Statements"),
        points(&[
            "A program is one or more statements, with `;` between them: each is a result.",
            "`name = expression` gives a result a name, which later statements may use.",
            "`expression by column` gives a total for every group of rows, one for each label of the column; `by region, sex` one for \
             every pair of labels. The labels of all columns behind `by` make at most 4096 groups.",
            "From `#` to the end of a line stands a comment. Blanks and ends of lines separate words and mean nothing else.",
        ]),
        Block::Code(
            "text",
            "total = sum(cost);         # a result with a name\nshare = total / count();\nmean(age) by region"
                .to_owned(),
        ),
        heading(2, "Columns and constants"),
        points(&[
            "A column is written by its name: letters, digits, `_` and `.`, a letter or `_` first. Any other name stands between \
             backticks: `` `cost of stay` ``. Upper and lower case differ.",
            "Constants are decimal fractions such as `12` or `0.5`, of at most 36 digits, 30 of them behind the point. They are taken \
             exactly as written. There is no `1e3`.",
            "Labels and names of files stand between double quotation marks: `region == \"north\"`. A column of labels is compared \
             with a label, or stands behind `by`, and nowhere else.",
        ]),
        heading(2, "Operators"),
        words("In the order in which they bind, the strongest first. Round brackets group."),
        table(&[
            &["operator", "means", "takes"],
            &[
                "`x ^ 3`",
                "power",
                "a whole exponent from 0 to 255; `2 ^ 3 ^ 2` is `2 ^ 9`, and `-x ^ 2` is `-(x ^ 2)`",
            ],
            &["`-x`", "negation", "rows, totals, constants"],
            &[
                "`x * y`, `x / y`",
                "product, quotient",
                "rows are divided by rows, which is `x * inverse(y)`, and by constants whose reciprocal is a decimal fraction; totals by totals",
            ],
            &["`x + y`, `x - y`", "sum, difference", "rows, totals, constants, but no row with a total"],
            &[
                "`> >= < <= == !=`",
                "1 where it holds, else 0",
                "rows and constants; labels with `==` and `!=`; `18 < age < 65` is written `(18 < age) * (age < 65)`",
            ],
        ]),
    ]
}

fn values() -> Vec<Block> {
    vec![
        heading(2, "Rows, totals and constants"),
        points(&[
            "Rows: a column, and what is computed from columns, has a number in every row. It stays encrypted while the server computes.",
            "Totals: `sum`, `count`, `mean` and the like have one number, or one for each group. The server sends sums, and the key holder \
             divides and takes roots after decryption. So totals are computed with each other and with constants, but `age - mean(age)` is \
             refused: no server can subtract what it does not know.",
            "A result of rows is decrypted whole, a number for each row of the table.",
        ]),
        heading(2, "Ranges, and which scheme computes what"),
        points(&[
            "The schema states a range for every column, which is public. What a program needs follows from ranges alone: how large numbers \
             become, and where functions are approximated. Narrow ranges make a program cheaper, and some programs possible.",
            "Whole and decimal numbers, labels, sums and products are exact in BFV and BGV. Columns of real numbers and functions of rows need \
             CKKS, whose results come with their error. `sunzi plan` says which scheme a program gets, and why; `--scheme` asks for one.",
            "Tables, and comparisons of numbers that have at most 4096 values by their ranges and decimals, are exact in BFV and BGV: polynomials of as \
             many coefficients as there are values, 7 products in a row for 0 to 100. What is computed from one such number alone, \
             as in `age == 30` or `(age > 18) * (age < 65)`, is one polynomial. Comparisons of other numbers take CKKS, and 10 to 20 products in a \
             row, depending on the range and the decimals; so do narrow ones where CKKS takes less work. Comparing a column of labels with a label is \
             one column that is there already and costs nothing, and so does comparing a column that is not encrypted.",
            "Order takes encrypted integers, and so do exact comparisons of wide numbers with `--scheme integers`: whole and decimal numbers in digits of \
             4 bits, each computed by look-ups of about a second for all rows together, without an end of products in a row. `max`, `median`, `sort` \
             and their like get them by themselves; `sort` and `rank` take up to 32 768 rows. All numbers and sums have at most 64 bits. Results that \
             would be exact in BFV are worth a program of their own: `sunzi plan` names them.",
            "`inverse`, `log`, `sqrt` and division by rows take ranges whose upper end is up to 10 000 times the lower one. The wider the ratio, the more \
             products in a row: the inverse takes 6 for 100 and 10 for 10 000, at the default precision. A range that touches 0 is refused, and the \
             error names the end that would work.",
            "Functions of rows are polynomials wherever their operand may lie by the ranges of columns. The forms with `low` and `high` are \
             taken for the sake of older programs, and narrow nothing.",
        ]),
    ]
}

fn missing() -> Vec<Block> {
    vec![
        heading(2, "Missing cells"),
        words(
            "The schema says which columns may have missing cells: `sunzi schema --missing skip` finds or declares them. How many are \
             missing, and where, is encrypted.",
        ),
        points(&[
            "What is computed row by row is missing in every row in which a cell that it reads is missing: `age * cost`, and `0 * age` too. \
             Functions of rows and `linear` are no exception.",
            "Totals leave those rows out, each total the rows in which its own arguments are missing: `mean(age)` and `mean(cost)` may be \
             means of other rows. `cov`, `corr` and `dot` take the rows in which both arguments are there.",
            "A comparison is never missing: it is 0 where a cell that it reads is missing, whatever its sign. So `count(age > 40)` counts the \
             rows that are known to be above, `mean(age > 40)` is their part of all rows, and `1 - (age > 40)` is 1 where the age is missing.",
            "`by`: a row whose label is missing is in no group.",
            "`count()` counts all rows. `count(age)` counts those with an age.",
            "In a result of rows a missing number is told as missing.",
            "Means divide by a count that is encrypted until the key holder divides. Where no row is left, the result is refused or not \
             defined, as any division by zero is.",
        ]),
        words(
            "A missing cell is stored as 0, beside an encrypted column of ones and zeros that says where cells are. So `sum(age)`, `mean(age)`, \
             `dot(age, cost)` and `var(age)` take no more products than without missing cells. A sum of columns such as `sum(age + cost)` takes \
             one for each, and `corr(age, cost)` two in a row.",
        ),
    ]
}

fn functions() -> Vec<Block> {
    let mut blocks = vec![heading(2, "Functions")];
    let mut rows = vec![vec!["function".to_owned(), "means".to_owned()]];
    rows.extend(FUNCTIONS.iter().map(|entry| vec![forms(entry), entry.meaning.to_owned()]));
    blocks.push(Block::Table(rows));
    blocks.extend(FUNCTIONS.iter().flat_map(one));
    blocks
}

fn forms(entry: &Entry) -> String {
    entry.written().map(|form| code(&form)).collect::<Vec<_>>().join(", ")
}

/// Returns the blocks of one function.
#[must_use]
pub(crate) fn one(entry: &Entry) -> Vec<Block> {
    let gives = match entry.gives {
        Gives::Total => "a total",
        Gives::Rows => "rows",
    };
    let schemes = match entry.schemes {
        Schemes::All => "all; real numbers and functions take CKKS, wide comparisons CKKS or integers",
        Schemes::Ckks => "CKKS",
        Schemes::Integers => "encrypted integers, of whole and decimal numbers",
        Schemes::Exact => "BFV, BGV and encrypted integers, of whole and decimal numbers",
    };
    vec![
        heading(3, entry.name),
        Block::Points(vec![
            format!("written: {}", forms(entry)),
            format!("means: {}", entry.meaning),
            format!("takes: {}", entry.takes),
            format!("gives: {gives}"),
            format!("schemes: {schemes}"),
            format!("error: {}", entry.error),
            format!("example: {}", code(entry.example)),
        ]),
    ]
}

fn elsewhere() -> Vec<Block> {
    let mut rows = vec![vec!["asked for".to_owned(), "there is".to_owned()]];
    for (other, own) in &SYNONYMS {
        rows.push(vec![code(other), code(own)]);
    }
    for entry in &ELSEWHERE {
        let names: Vec<String> = entry.names.iter().map(|name| code(name)).collect();
        let ways = entry.ways.iter().map(|way| {
            let form = entry.names.first().map(|name| format!("{name}({})", way.arguments.join(", ")));
            format!("; {} is written {}", code(&form.unwrap_or_default()), code(way.program))
        });
        rows.push(vec![names.join(", "), entry.answer.to_owned() + &ways.collect::<String>()]);
    }
    for entry in &WORDS {
        let names: Vec<String> = entry.words.iter().map(|word| code(word)).collect();
        rows.push(vec![names.join(", "), entry.answer.to_owned()]);
    }
    for sign in &SIGNS {
        rows.push(vec![code(&sign.sign.to_string()), sign.answer.to_owned()]);
    }
    vec![
        heading(2, "What other languages have"),
        words(
            "These words are refused, with what there is instead. A word of neither list gets the nearest name that there is.",
        ),
        Block::Table(rows),
    ]
}

fn errors() -> Vec<Block> {
    vec![
        heading(2, "What is stated of errors"),
        points(&[
            "In BFV, BGV and encrypted integers totals are exact fractions of integers, and printed without an error. Only roots are rounded, to \
             a double.",
            "In CKKS every number is printed with ±, a bound on how far it may be off: 7.2 deviations of the encryption's noise, which a \
             normally distributed number exceeds with a probability of 2^-40; the proved largest error of every polynomial; and what \
             comparisons leave open.",
            "Comparisons of whole and decimal numbers are told apart in any case. Real numbers closer than a thousandth of their range may \
             not be: what such rows may change is counted under encryption and added to ±, and a result that they leave open is refused by \
             name. `--precision`, up to 30 bits, narrows the gap.",
            "A quotient whose divisor may be zero within its error, and a root of what may be negative, are refused by name.",
        ]),
        heading(2, "Limits"),
        points(&[
            "A program has at most 1 MiB of text, 65536 nodes and 500 operators in a row; brackets are nested at most 100 deep.",
            "Polynomials and powers have a degree of at most 255.",
            "A table has 1 to 2^40 rows and at most 4096 columns; whole and decimal columns hold numbers within ±2^53 units of their last \
             decimal, of at most 15 decimals, real columns numbers within ±10^15.",
        ]),
    ]
}

//! Table of the language's functions.

use super::Argument::{Constant, Constants, File, Rows};
use super::{Argument, Builtin, Entry, Gives, Schemes};
use crate::Function;

/// Numbers that most functions take.
const NUMBERS: &str = "columns of numbers, comparisons, and what is computed from them row by row";
/// Error of sums, and of what the key holder computes from sums.
const SUMS: &str = "none in BFV and BGV; in CKKS the ± that is printed, a bound for all rows together";
/// Error of formulas that take a root.
const ROOTS: &str = "in BFV and BGV the rounding of the root to a double, printed with ±; in CKKS the ± that is printed, or a refusal by \
name where the divisor or the number under the root may be zero or less";
/// Error of formulas that divide by a number which may be zero.
const QUOTIENTS: &str =
    "none in BFV and BGV; in CKKS the ± that is printed, or a refusal by name where the divisor may be zero";
/// Error of what has a number for each row.
const EACH_ROW: &str = "none in BFV and BGV; in CKKS the ± that is printed, a bound for every row";
/// Error of smooth functions.
const APPROXIMATED: &str =
    "the ± that is printed: the proved largest error of the polynomial, and what encryption adds";
/// Forms of smooth functions.
const SMOOTH: &[&[Argument]] = &[&[Rows("x")], &[Rows("x"), Constant("low"), Constant("high")]];
const ONE: &[&[Argument]] = &[&[Rows("x")]];
const TWO: &[&[Argument]] = &[&[Rows("x"), Rows("y")]];
const FILE: &[&[Argument]] = &[&[File("weights.json")]];

/// Returns the entry of a function whose result is one number.
const fn total(
    builtin: Builtin,
    name: &'static str,
    forms: &'static [&'static [Argument]],
    meaning: &'static str,
    error: &'static str,
    example: &'static str,
) -> Entry {
    let (gives, schemes) = (Gives::Total, Schemes::All);
    Entry { name, forms, meaning, takes: NUMBERS, gives, schemes, error, example, builtin }
}

/// Returns the entry of a smooth function.
const fn smooth(
    function: Function,
    meaning: &'static str,
    takes: &'static str,
    example: &'static str,
) -> Entry {
    Entry {
        name: function.name(),
        forms: SMOOTH,
        meaning,
        takes,
        gives: Gives::Rows,
        schemes: Schemes::Ckks,
        error: APPROXIMATED,
        example,
        builtin: Builtin::Smooth(function),
    }
}

/// Columns that have an order.
const ORDERED: &str = "columns of whole and decimal numbers, and what is computed from them row by row";
/// Columns whose rows are brought into order.
const SORTED: &str =
    "columns of whole and decimal numbers, and what is computed from them row by row; at most 32 768 rows";

/// Returns the entry of a function of encrypted integers.
const fn integers(
    builtin: Builtin,
    name: &'static str,
    forms: &'static [&'static [Argument]],
    meaning: &'static str,
    gives: Gives,
    example: &'static str,
) -> Entry {
    let takes = if matches!(builtin, Builtin::Sort | Builtin::Rank) { SORTED } else { ORDERED };
    let (error, schemes) = ("none", Schemes::Integers);
    Entry { name, forms, meaning, takes, gives, schemes, error, example, builtin }
}

/// All functions of the language, in the order of the reference: the parser knows no others.
pub static FUNCTIONS: [Entry; 26] = [
    total(
        Builtin::Count,
        "count",
        &[&[], &[Rows("x")]],
        "the number of all rows; of a condition, or what is made of conditions and of columns of 0 and 1, the rows where it holds, \
         which is its sum; of any other x the rows in which x is not missing",
        SUMS,
        "count(); count(region == \"north\")",
    ),
    total(
        Builtin::Sum,
        "sum",
        ONE,
        "the sum of x over the rows in which it is not missing",
        SUMS,
        "sum(cost)",
    ),
    total(
        Builtin::Mean,
        "mean",
        ONE,
        "the sum of x divided by the number of rows in which it is not missing, in a group by the group's",
        QUOTIENTS,
        "mean(cost) by region",
    ),
    total(
        Builtin::Variance,
        "var",
        ONE,
        "the variance of x, with divisor n − 1, n the number of rows in which x is not missing",
        QUOTIENTS,
        "var(age)",
    ),
    total(
        Builtin::Deviation,
        "std",
        ONE,
        "the standard deviation of x, the square root of var(x)",
        ROOTS,
        "std(age)",
    ),
    total(
        Builtin::Covariance,
        "cov",
        TWO,
        "the covariance of x and y over the n rows in which neither is missing, with divisor n − 1",
        QUOTIENTS,
        "cov(age, cost)",
    ),
    total(
        Builtin::Correlation,
        "corr",
        TWO,
        "the correlation of x and y by Pearson, from −1 to 1, over the rows in which neither is missing",
        ROOTS,
        "corr(age, cost)",
    ),
    total(
        Builtin::Dot,
        "dot",
        TWO,
        "the sum of x·y over the rows in which neither is missing",
        SUMS,
        "dot(age, cost)",
    ),
    Entry {
        name: "poly",
        forms: &[&[Rows("x"), Constants("a0, a1, …")]],
        meaning: "the polynomial a0 + a1·x + a2·x² + … in every row",
        takes: "x as above; at most 256 constants, of any sign",
        gives: Gives::Rows,
        schemes: Schemes::All,
        error: EACH_ROW,
        example: "poly(age, 1, 0, 0.5)",
        builtin: Builtin::Polynomial,
    },
    Entry {
        name: "linear",
        forms: FILE,
        meaning: "the score Σ w·x + intercept in every row, with weights w from a JSON file",
        takes: "a file {\"weights\": {\"age\": 0.5, …}, \"intercept\": 1.5} with columns of numbers as names, at most 16 MiB",
        gives: Gives::Rows,
        schemes: Schemes::All,
        error: EACH_ROW,
        example: "linear(\"weights.json\")",
        builtin: Builtin::Linear,
    },
    Entry {
        name: "logistic",
        forms: FILE,
        meaning: "the logistic function 1/(1 + e^−s) of the score s = linear(…) in every row: a probability",
        takes: "a file as for linear",
        gives: Gives::Rows,
        schemes: Schemes::Ckks,
        error: APPROXIMATED,
        example: "logistic(\"weights.json\")",
        builtin: Builtin::Logistic,
    },
    Entry {
        name: "where",
        forms: &[&[Rows("c"), Rows("x"), Rows("y")]],
        meaning: "x in the rows in which the condition c holds, and y in all others",
        takes: "a comparison, or what is made of comparisons by products; x and y as above, or constants",
        gives: Gives::Rows,
        schemes: Schemes::All,
        error: EACH_ROW,
        example: "where(region == \"north\", cost, 0); sum(where(region == \"south\", cost, age))",
        builtin: Builtin::Choice,
    },
    integers(
        Builtin::Maximum,
        "max",
        &[&[Rows("x")], &[Rows("x"), Rows("y")]],
        "the greatest x of the rows in which it is not missing, in a group of the group's; max(x, y) is the greater of both in every row",
        Gives::Total,
        "max(age) by region",
    ),
    integers(
        Builtin::Minimum,
        "min",
        &[&[Rows("x")], &[Rows("x"), Rows("y")]],
        "the least x of the rows in which it is not missing, in a group of the group's; min(x, y) is the lesser of both in every row",
        Gives::Total,
        "max(age) - min(age)",
    ),
    integers(
        Builtin::Median,
        "median",
        ONE,
        "the number in the middle of all rows in order, of an even number of rows the mean of both",
        Gives::Total,
        "median(age)",
    ),
    integers(
        Builtin::Quantile,
        "quantile",
        &[&[Rows("x"), Constant("q")]],
        "the number that a share q of the rows come before, between two of them in proportion: quantile(x, 0.5) is the median",
        Gives::Total,
        "quantile(age, 0.25)",
    ),
    integers(
        Builtin::Sort,
        "sort",
        ONE,
        "the numbers of all rows in ascending order",
        Gives::Rows,
        "sort(age)",
    ),
    integers(
        Builtin::Rank,
        "rank",
        ONE,
        "the place of each row in ascending order, from 1; of equal numbers the first row comes first",
        Gives::Rows,
        "rank(age)",
    ),
    integers(
        Builtin::Top,
        "top",
        &[&[Rows("x"), Constant("k")]],
        "the k greatest numbers of all rows, the greatest one first; k is at most 64",
        Gives::Total,
        "top(cost, 3)",
    ),
    Entry {
        name: "lookup",
        forms: &[&[Rows("x"), File("table.csv")], &[Rows("x"), File("table.csv"), Constant("y")]],
        meaning: "what stands in a table beside x in every row, and y where the table has no line for it; without y every number in the range of x needs a line",
        takes: "whole and decimal numbers with at most 65536 different values by their range, 4096 in BFV and BGV; a file with a line for each, as in 18,0.5",
        gives: Gives::Rows,
        schemes: Schemes::Exact,
        error: "none",
        example: "lookup(age, \"rates.csv\", 0)",
        builtin: Builtin::LookUp,
    },
    smooth(
        Function::Sigmoid,
        "the logistic function 1/(1 + e^−x) in every row",
        "any x",
        "sigmoid(score - 0.5)",
    ),
    smooth(Function::Tanh, "the hyperbolic tangent of x in every row", "any x", "tanh(score)"),
    smooth(
        Function::Exp,
        "e^x in every row",
        "any x up to about 700, by the ranges of columns; the error is a part of the largest e^x, so keep the range narrow",
        "exp(score)",
    ),
    smooth(
        Function::Log,
        "the natural logarithm of x in every row",
        "x above 0 by the ranges of columns, at least a 10 000th of the largest x",
        "log(age)",
    ),
    smooth(
        Function::Sqrt,
        "the square root of x in every row; of a total the key holder takes it, in every scheme",
        "x above 0 by the ranges of columns, at least a 10 000th of the largest x; of a total any that is not negative",
        "sqrt(age); sqrt(mean(age))",
    ),
    smooth(
        Function::Inverse,
        "1/x in every row: y / x is y * inverse(x)",
        "x on one side of 0 by the ranges of columns, at least a 10 000th of the largest |x| from it",
        "cost * inverse(age)",
    ),
];

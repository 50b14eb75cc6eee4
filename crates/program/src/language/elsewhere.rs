//! What other languages have and the program language has not, and how to get near it.

use serde::Serialize;

/// Functions of other languages with one answer.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Elsewhere {
    /// Names of the functions in other languages.
    pub names: &'static [&'static str],
    /// What the language offers instead, or that it offers nothing.
    pub answer: &'static str,
    /// Programs that compute what such a function computes.
    pub ways: &'static [Way],
}

/// Program that computes what a function of another language computes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Way {
    /// Names of the function's arguments.
    pub arguments: &'static [&'static str],
    /// Program that computes the function of these arguments.
    pub program: &'static str,
}

/// Words of other languages that are no functions, with one answer.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Word {
    /// Words of other languages.
    pub words: &'static [&'static str],
    /// What is written instead.
    pub answer: &'static str,
}

/// Sign of other languages, with what is written instead.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Sign {
    /// Character that has no meaning in the language.
    pub sign: char,
    /// What is written instead.
    pub answer: &'static str,
}

/// Names of functions in other languages, with their names in the program language.
pub static SYNONYMS: [(&str, &str); 26] = [
    ("avg", "mean"),
    ("average", "mean"),
    ("total", "sum"),
    ("variance", "var"),
    ("var_samp", "var"),
    ("stddev", "std"),
    ("stddev_samp", "std"),
    ("stdev", "std"),
    ("sd", "std"),
    ("covar", "cov"),
    ("covariance", "cov"),
    ("correlation", "corr"),
    ("ln", "log"),
    ("reciprocal", "inverse"),
    ("expit", "sigmoid"),
    ("polyval", "poly"),
    ("nrow", "count"),
    ("maximum", "max"),
    ("greatest", "max"),
    ("pmax", "max"),
    ("minimum", "min"),
    ("least", "min"),
    ("pmin", "min"),
    ("sorted", "sort"),
    ("order", "sort"),
    ("nlargest", "top"),
];

const fn way(arguments: &'static [&'static str], program: &'static str) -> Way {
    Way { arguments, program }
}

const fn other(names: &'static [&'static str], answer: &'static str, ways: &'static [Way]) -> Elsewhere {
    Elsewhere { names, answer, ways }
}

/// Functions of other languages, with what there is instead.
pub static ELSEWHERE: [Elsewhere; 31] = [
    other(&["relu"], "a rectified number is a comparison times the number", &[way(&["x"], "(x > 0) * x")]),
    other(
        &["abs", "fabs"],
        "the absolute value is the number times its sign, or the root of its square after decryption",
        &[way(&["x"], "(2 * (x > 0) - 1) * x")],
    ),
    other(&["sign", "sgn"], "the sign is made of two comparisons", &[way(&["x"], "(x > 0) - (x < 0)")]),
    other(
        &["percentile", "percentile_cont", "quartile"],
        "quantiles have a share of the rows from 0 to 1: quantile(x, 0.9)",
        &[],
    ),
    other(
        &["argmax", "argmin", "argsort", "idxmax", "idxmin", "row_number"],
        "rank(x) says which row has which place in order: the row of rank 1 has the least number",
        &[],
    ),
    other(
        &["head", "tail", "first", "last"],
        "rows have no order of their own: top(x, 5) lists the greatest numbers, sort(x) all",
        &[],
    ),
    other(
        &["round", "floor", "ceil", "ceiling", "trunc", "truncate", "int"],
        "encrypted numbers are not rounded: round the decrypted result; whole and decimal numbers stay exact in BFV and BGV",
        &[],
    ),
    other(
        &["if", "iif", "ifelse", "case", "when", "cond", "switch"],
        "a choice is made by where",
        &[way(&["c", "x", "y"], "where(c, x, y)")],
    ),
    other(
        &["sumif", "sum_if", "sumifs"],
        "a condition is a factor of what is summed",
        &[way(&["x", "c"], "sum(x * c)")],
    ),
    other(
        &["countif", "count_if", "countifs"],
        "the rows where a comparison holds are counted by count",
        &[way(&["c"], "count(c)")],
    ),
    other(
        &["averageif", "avg_if", "mean_if", "averageifs"],
        "the mean of some rows is the quotient of two totals",
        &[way(&["x", "c"], "sum(x * c) / count(c)")],
    ),
    other(&["and", "all"], "both comparisons hold where their product is 1", &[way(&["a", "b"], "a * b")]),
    other(
        &["or", "any"],
        "one of two comparisons holds where their sum less their product is 1",
        &[way(&["a", "b"], "a + b - a * b")],
    ),
    other(&["not"], "a comparison does not hold where 1 less it is 1", &[way(&["a"], "1 - a")]),
    other(
        &["pow", "power"],
        "powers have a whole exponent from 0 to 255 and are written x ^ 3; roots are sqrt(x)",
        &[way(&["x", "n"], "x ^ n")],
    ),
    other(&["square", "sqr"], "squares are powers", &[way(&["x"], "x ^ 2")]),
    other(
        &["log2"],
        "log is the natural logarithm, a multiple of every other",
        &[way(&["x"], "1.4426950408889634 * log(x)")],
    ),
    other(
        &["log10"],
        "log is the natural logarithm, a multiple of every other",
        &[way(&["x"], "0.4342944819032518 * log(x)")],
    ),
    other(&["log1p"], "log takes the sum", &[way(&["x"], "log(1 + x)")]),
    other(
        &["sin", "cos", "tan", "erf", "gelu", "softplus", "asin", "acos", "atan", "sinh", "cosh"],
        "of smooth functions there are sigmoid, tanh, exp, log, sqrt and inverse: approximate others by poly(x, a0, a1, …) on the range of x",
        &[],
    ),
    other(&["softmax"], "there is no softmax: let the scores be results, and finish after decryption", &[]),
    other(
        &["mod", "modulo", "div", "divide", "idiv"],
        "remainders are not offered; a column is divided by another as x / y, a total by a total as sum(x) / sum(y)",
        &[],
    ),
    other(
        &[
            "distinct",
            "unique",
            "mode",
            "nunique",
            "count_distinct",
            "value_counts",
            "histogram",
            "hist",
            "bin",
            "cut",
        ],
        "distinct values are not counted: count() by a column of labels counts each label, and count((x >= 10) * (x < 20)) a range of numbers",
        &[],
    ),
    other(
        &["lag", "lead", "diff", "shift", "cumsum", "rolling", "ewm", "delta"],
        "a row does not see other rows: compute such a column before encryption",
        &[],
    ),
    other(
        &["prod", "product", "geomean", "gmean"],
        "the product of all rows is not offered: its logarithm is sum(log(x)), of which the key holder takes the exponential",
        &[],
    ),
    other(
        &["norm"],
        "the length of a column is the root of its sum of squares",
        &[way(&["x"], "sqrt(sum(x ^ 2))")],
    ),
    other(
        &["mse"],
        "the error of predictions is a mean of squared differences",
        &[way(&["x", "y"], "mean((x - y) ^ 2)")],
    ),
    other(
        &["rmse"],
        "the error of predictions is the root of a mean of squared differences",
        &[way(&["x", "y"], "sqrt(mean((x - y) ^ 2))")],
    ),
    other(
        &["mae"],
        "the absolute error of predictions is a mean of differences times their signs",
        &[way(&["x", "y"], "mean((2 * (x > y) - 1) * (x - y))")],
    ),
    other(
        &["zscore", "standardize", "standardise", "scale", "normalize"],
        "a total is known only after decryption: ask for mean(x) and std(x) first, and write both as constants into a second program",
        &[],
    ),
    other(
        &["slope", "regr_slope", "lm", "ols", "linreg"],
        "a line through the points has slope cov(x, y) / var(x) and intercept mean(y) - slope * mean(x); linear(\"weights.json\") applies known weights",
        &[way(&["y", "x"], "cov(x, y) / var(x)")],
    ),
];

/// Words of other languages that are no functions.
pub static WORDS: [Word; 10] = [
    Word { words: &["and"], answer: "both hold where the product is 1: (age > 30) * (age < 60)" },
    Word {
        words: &["or"],
        answer: "one holds where the sum less the product is 1: (a > 1) + (b > 1) - (a > 1) * (b > 1)",
    },
    Word {
        words: &["xor"],
        answer: "one alone holds where the square of the difference is 1: ((a > 1) - (b > 1)) ^ 2",
    },
    Word { words: &["not"], answer: "a comparison does not hold where 1 less it is 1: 1 - (age > 30)" },
    Word {
        words: &["where", "filter", "having", "if", "when"],
        answer: "a condition is a factor: sum(x * (age > 30)), count(age > 30), or by a column of labels",
    },
    Word { words: &["group", "groupby", "over", "per"], answer: "groups are written sum(x) by region" },
    Word {
        words: &["select", "from"],
        answer: "a program names its results alone: mean(x); sum(y) by region",
    },
    Word {
        words: &["in", "between", "like", "is"],
        answer: "write comparisons: (age >= 30) * (age <= 60), or region == \"north\"",
    },
    Word { words: &["as"], answer: "a result is named in front: average = mean(x)" },
    Word { words: &["order", "limit"], answer: "sort(x) gives the numbers in order, top(x, 5) the greatest" },
];

/// Signs of other languages.
pub static SIGNS: [Sign; 15] = [
    Sign { sign: '%', answer: "remainders are not offered, and parts of a hundred are factors: 0.05 * x" },
    Sign { sign: '&', answer: "both hold where the product is 1: (a > 1) * (b > 1)" },
    Sign {
        sign: '|',
        answer: "one holds where the sum less the product is 1: (a > 1) + (b > 1) - (a > 1) * (b > 1)",
    },
    Sign { sign: '!', answer: "a comparison does not hold where 1 less it is 1: 1 - (a > 1); unequal is !=" },
    Sign { sign: '~', answer: "a comparison does not hold where 1 less it is 1: 1 - (a > 1)" },
    Sign { sign: '\'', answer: "labels and files stand between double quotation marks: region == \"north\"" },
    Sign {
        sign: '“',
        answer: "labels and files stand between straight quotation marks: region == \"north\"",
    },
    Sign { sign: '.', answer: "numbers are written as 12 or 0.5" },
    Sign { sign: '$', answer: "columns are named as they are, between backticks where a name has blanks" },
    Sign { sign: '≥', answer: "write >=" },
    Sign { sign: '≤', answer: "write <=" },
    Sign { sign: '≠', answer: "write !=" },
    Sign { sign: '×', answer: "write *" },
    Sign { sign: '−', answer: "write -, the sign on keyboards" },
    Sign { sign: '²', answer: "write x ^ 2" },
];

/// Returns what there is instead of a function of another language.
pub(crate) fn instead_of(name: &str) -> Option<&'static Elsewhere> {
    ELSEWHERE.iter().find(|entry| entry.names.iter().any(|other| other.eq_ignore_ascii_case(name)))
}

/// Returns the function of the language that another language calls by this name.
pub(crate) fn synonym(name: &str) -> Option<&'static str> {
    SYNONYMS.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|&(_, own)| own)
}

/// Returns what is written instead of a word of another language.
pub(crate) fn instead_of_word(word: &str) -> Option<&'static str> {
    let found = WORDS.iter().find(|entry| entry.words.iter().any(|other| other.eq_ignore_ascii_case(word)));
    found.map(|entry| entry.answer)
}

/// Returns what is written instead of a sign of another language.
pub(crate) fn instead_of_sign(sign: char) -> Option<&'static str> {
    SIGNS.iter().find(|entry| entry.sign == sign).map(|entry| entry.answer)
}

//! Verdicts on reproduced values: a rule for every quantity, the paper's value and Sunzi's.

use serde::Serialize;

use super::value::Value;

/// Rule by which Sunzi's value of a quantity is judged against the paper's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Sunzi's value equals the paper's, to as many decimals as are printed.
    Equal,
    /// Sunzi's value is at most this far from the paper's.
    Near(f64),
    /// Sunzi's value is at most this many times the paper's, and the paper's at most as many times Sunzi's.
    Factor(f64),
    /// Smaller is better, as for times, noise and sizes; up to this many times the paper's is still within.
    Smaller(f64),
    /// Larger is better, as for depths, precision and speed-ups; down to the paper's over this is still within.
    Larger(f64),
}

/// Verdict on a reproduced value that the paper prints, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Sunzi's value is the printed one.
    Equal,
    /// Sunzi's value is within the tolerance of its quantity.
    Within,
    /// Sunzi's value is better than the printed one.
    Better,
    /// Sunzi has no value beside the printed one.
    Missing,
    /// Sunzi's value is another one, of which none is better.
    Differs,
    /// Sunzi's value is worse than the printed one.
    Worse,
}

impl Verdict {
    /// All verdicts, the best first.
    pub const ALL: [Self; 6] =
        [Self::Equal, Self::Within, Self::Better, Self::Missing, Self::Differs, Self::Worse];

    /// Whether a row with this verdict has to say why.
    pub fn needs_reason(self) -> bool {
        self >= Self::Missing
    }

    /// Word for the verdict in tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Within => "within",
            Self::Better => "better",
            Self::Missing => "missing",
            Self::Differs => "differs",
            Self::Worse => "worse",
        }
    }
}

impl Rule {
    pub(super) fn verdict(self, paper: &Value, ours: &Value) -> Verdict {
        if paper.shows(ours) {
            return Verdict::Equal;
        }
        let (Some(paper), Some(ours)) = (paper.number(), ours.number()) else { return Verdict::Differs };
        let within = |holds: bool, otherwise| if holds { Verdict::Within } else { otherwise };
        match self {
            Self::Equal => Verdict::Differs,
            Self::Near(distance) => within((paper - ours).abs() <= distance, Verdict::Differs),
            Self::Factor(most) => within(ours <= paper * most && paper <= ours * most, Verdict::Differs),
            Self::Smaller(_) if ours < paper => Verdict::Better,
            Self::Smaller(most) => within(ours <= paper * most, Verdict::Worse),
            Self::Larger(_) if ours > paper => Verdict::Better,
            Self::Larger(most) => within(ours * most >= paper, Verdict::Worse),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(rule: Rule, paper: impl Into<Value>, ours: impl Into<Value>) -> Verdict {
        rule.verdict(&paper.into(), &ours.into())
    }

    #[test]
    fn rules_judge_at_the_ends_of_their_ranges() {
        use Verdict::{Better, Differs, Equal, Within, Worse};
        let printed = (2.62, 2);
        for (rule, ours, expected) in [
            (Rule::Equal, 2.625, Equal),
            (Rule::Equal, 2.6251, Differs),
            (Rule::Near(0.01), 2.63, Within),
            (Rule::Near(0.01), 2.6301, Differs),
            (Rule::Factor(2.0), 5.24, Within),
            (Rule::Factor(2.0), 1.31, Within),
            (Rule::Factor(2.0), 1.309, Differs),
            (Rule::Smaller(1.1), 2.0, Better),
            (Rule::Smaller(1.1), 2.88, Within),
            (Rule::Smaller(1.1), 2.89, Worse),
            (Rule::Larger(1.1), 3.0, Better),
            (Rule::Larger(1.1), 2.39, Within),
            (Rule::Larger(1.1), 2.38, Worse),
            (Rule::Equal, f64::NAN, Differs),
            (Rule::Near(1.0), f64::NAN, Differs),
            (Rule::Factor(2.0), f64::NAN, Differs),
            (Rule::Smaller(1.1), f64::NAN, Worse),
            (Rule::Larger(1.1), f64::NAN, Worse),
        ] {
            assert_eq!(verdict(rule, printed, (ours, 4)), expected, "{rule:?} {ours}");
        }
        assert_eq!(verdict(Rule::Smaller(1.1), "none", 3_u64), Differs);
        assert_eq!(
            verdict(Rule::Equal, Value::Ratio(1, 2), Value::Ratio(2, 4)),
            Differs,
            "not in lowest terms"
        );
        assert_eq!(verdict(Rule::Equal, 3_u64, 3_u64), Equal);
    }

    #[test]
    fn the_worst_verdict_comes_last() {
        assert!(Verdict::ALL.is_sorted());
        let reasons = Verdict::ALL.map(Verdict::needs_reason);
        assert_eq!(reasons, [false, false, false, true, true, true]);
    }
}

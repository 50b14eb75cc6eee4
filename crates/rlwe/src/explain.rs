//! Explanations of the parameters that a builder chooses, in a form that all schemes share.
//!
//! A scheme gives the request, its candidate rings, each with the reasons for which it is refused, and its choice; an
//! [`Explanation`] holds the three and prints them. BGV and CKKS look at one ring after the other and take the first that fits
//! ([`Explanation::first_fit`]); BFV compares costs and has verdicts of its own.

use std::fmt;
use std::ops::{Add, Div, Sub};

use serde::{Deserialize, Serialize};

use crate::RingShape;

/// An explanation: a request for parameters, every candidate considered, and the choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explanation<Request, Candidate, Choice> {
    /// Request for parameters that was made.
    pub request: Request,
    /// Candidate rings, the smallest first; where the first that fits is taken, up to the chosen one.
    pub candidates: Vec<Candidate>,
    /// Choice of parameters, if a candidate fits.
    pub chosen: Option<Choice>,
}

/// A choice of parameters that an [`Explanation`] can print.
pub trait Describe<Request, Candidate> {
    /// Returns the lines of a choice of parameters, as pairs of a name and a value.
    fn rows(&self, request: &Request, candidates: &[Candidate]) -> Vec<(&'static str, String)>;
}

impl<Request: Clone, Candidate, Choice> Explanation<Request, Candidate, Choice> {
    /// Tries rings in ascending order, up to the first that fits: a smaller ring is faster.
    pub fn first_fit(
        request: &Request,
        rings: impl IntoIterator<Item = RingShape>,
        look: impl Fn(&Request, RingShape) -> (Candidate, Option<Choice>),
    ) -> Self {
        let (mut candidates, mut chosen) = (Vec::new(), None);
        for ring in rings {
            let (candidate, choice) = look(request, ring);
            candidates.push(candidate);
            if choice.is_some() {
                chosen = choice;
                break;
            }
        }
        Self { request: request.clone(), candidates, chosen }
    }
}

impl<Request, Candidate, Choice> fmt::Display for Explanation<Request, Candidate, Choice>
where
    Request: fmt::Display,
    Candidate: fmt::Display,
    Choice: Describe<Request, Candidate>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "asked: {}", self.request)?;
        match &self.chosen {
            Some(choice) => {
                writeln!(f, "chosen:")?;
                write_rows(f, &choice.rows(&self.request, &self.candidates))?;
            }
            None => writeln!(f, "chosen: nothing fits")?,
        }
        f.write_str("considered:")?;
        self.candidates.iter().try_for_each(|candidate| write!(f, "\n  {candidate}"))
    }
}

/// Writes a request in words: its parts, with commas between them.
///
/// # Errors
/// Every error of the formatter.
pub fn write_parts(
    f: &mut fmt::Formatter<'_>,
    parts: impl IntoIterator<Item = Option<String>>,
) -> fmt::Result {
    f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// Writes a line for each pair of a name and a value.
///
/// # Errors
/// Every error of the formatter.
pub fn write_rows(f: &mut fmt::Formatter<'_>, rows: &[(&'static str, String)]) -> fmt::Result {
    rows.iter().try_for_each(|(name, value)| writeln!(f, "  {name:<21} {value}"))
}

/// Verdict on a candidate ring, where the first ring that fits is taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict<Refusal> {
    /// The candidate ring fits, and no smaller ring does.
    Chosen,
    /// The candidate ring does not fit.
    Refused(Refusal),
}

impl<Refusal> Verdict<Refusal> {
    /// Splits the outcome of a search for parameters into the verdict on a candidate and the choice, if one was found.
    pub fn of<Choice>(found: Result<Choice, Refusal>) -> (Self, Option<Choice>) {
        match found {
            Ok(choice) => (Self::Chosen, Some(choice)),
            Err(refusal) => (Self::Refused(refusal), None),
        }
    }
}

impl<Refusal: fmt::Display> fmt::Display for Verdict<Refusal> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chosen => f.write_str("chosen: the smallest ring that fits"),
            Self::Refused(refusal) => write!(f, "refused: {refusal}"),
        }
    }
}

/// Reasons why a scheme refuses a candidate ring, and advice what to ask for instead.
pub trait Refuse: fmt::Display {
    /// Advice to the caller where less depth does not help.
    const INSTEAD: &'static str;
    /// Advice to the caller on what makes up for less depth.
    const BESIDE_DEPTH: &'static str = "";
}

/// An error: no parameter set meets a request, where the first ring that fits is taken.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[error("no parameter set fits: {}; {}", self.reason(), self.remedy())]
pub struct NothingFits<Refusal: Refuse> {
    /// Largest ring that was considered.
    #[serde(flatten)]
    pub ring: RingShape,
    /// Reasons why the largest ring was refused.
    pub refusal: Option<Refusal>,
    /// Largest multiplicative depth that fits, with all else as asked.
    pub depth: Option<usize>,
}

impl<Refusal: Refuse + Clone> NothingFits<Refusal> {
    /// Makes the error of no parameters from the ring and verdict of the last candidate, and the largest depth that
    /// [fits](largest_below).
    pub fn new(last: Option<(RingShape, &Verdict<Refusal>)>, depth: Option<usize>) -> Self {
        let ring = last.map_or(RingShape::Log2Degree(0), |(ring, _)| ring);
        let refusal = last.and_then(|(_, verdict)| match verdict {
            Verdict::Refused(refusal) => Some(refusal.clone()),
            Verdict::Chosen => None,
        });
        Self { ring, refusal, depth }
    }
}

impl<Refusal: Refuse> NothingFits<Refusal> {
    fn reason(&self) -> String {
        match &self.refusal {
            Some(refusal) => format!("at {} {refusal}", self.ring),
            None => "there is no candidate".to_owned(),
        }
    }

    fn remedy(&self) -> String {
        match self.depth {
            Some(depth) => format!("what would fit: depth {depth}{}", Refusal::BESIDE_DEPTH),
            None => format!("less depth alone does not help: ask for {}", Refusal::INSTEAD),
        }
    }
}

/// Returns the largest depth or count below `current` that fits, by bisection; `None` where 0 does not.
pub fn largest_below<N>(current: N, mut fits: impl FnMut(N) -> bool) -> Option<N>
where
    N: Copy + Ord + From<u8> + Add<Output = N> + Sub<Output = N> + Div<Output = N>,
{
    let [zero, one, two] = [0, 1, 2].map(N::from);
    if current == zero || !fits(zero) {
        return None;
    }
    let (mut largest, mut fails) = (zero, current);
    while fails - largest > one {
        let middle = largest + (fails - largest) / two;
        if fits(middle) { largest = middle } else { fails = middle }
    }
    Some(largest)
}

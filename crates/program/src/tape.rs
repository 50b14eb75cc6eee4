//! Tapes: computations on encrypted arrays as data, one operation after the other.
//!
//! A [`Tape`] lists what a function of encrypted arrays does once the ring degree is known: which ciphertexts are
//! added, multiplied and rotated, with which clear numbers. It holds no ciphertext and no key. [`Tape::rehearse`]
//! runs it over [`HollowRing`](sunzi_ring::HollowRing) with the evaluators themselves, so that levels, scales, bounds
//! on noise and refusals are those of a real run; [`Tape::choose`] finds the least parameters that allow all of it.

mod bounds;
mod choose;
mod levels;
mod machine;
mod rehearse;

use sunzi_circuits::series::Series;
use sunzi_ckks::Complex64;

use sunzi_rlwe::DEGREES;

use crate::ProgramError;

pub use choose::{Choice, Wanted};
pub use machine::Report;
pub use rehearse::{Failed, Rehearsal};

/// Clear numbers that are repeated in every period of the slots.
#[derive(Clone, Debug, PartialEq)]
pub enum Clear {
    /// Clear integers of a period.
    Integers(Vec<i64>),
    /// Clear real or complex numbers of a period.
    Complex(Vec<Complex64>),
}

/// Step of a tape: makes a ciphertext from those of earlier steps, which are given by their indices.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Fresh encryption, with the largest |number| in the slots of its period, run by run: a bound, and how many slots it holds for.
    Input(Vec<(f64, usize)>),
    /// Sum a + b of two ciphertexts.
    Add(usize, usize),
    /// Difference a − b of two ciphertexts.
    Sub(usize, usize),
    /// Opposite −a of a ciphertext.
    Negate(usize),
    /// Product a·b of two ciphertexts.
    Multiply(usize, usize),
    /// Sum a + m of a ciphertext and clear numbers, with the period of the result.
    AddPlain(usize, Clear, usize),
    /// Difference a − m of a ciphertext and clear numbers, with the period of the result.
    SubPlain(usize, Clear, usize),
    /// Sum Σ a_i·m_i of products with clear numbers, rescaled once; a single product is a sum of one term.
    PlainProducts(Vec<(usize, Clear)>, usize),
    /// Sum Σ a_i·b_i of products of ciphertexts.
    Products(Vec<(usize, usize)>),
    /// Product k·a of a ciphertext and an integer.
    Integer(usize, i64),
    /// Product c·a of a CKKS ciphertext and a constant.
    Constant(usize, Complex64),
    /// Rotation of the slots of a ciphertext to the left.
    Rotate(usize, i64),
    /// Swap of the rows of an exact ciphertext, or conjugation of the slots of a CKKS one.
    Swap(usize),
    /// Polynomial Σ c_i·a^i of a ciphertext modulo t.
    Polynomial(usize, Vec<i64>),
    /// Polynomial of a ciphertext with real coefficients.
    Series(usize, Series),
    /// Ciphertext a, with a statement that its numbers are no larger than those of other steps.
    Bounded(usize, Vec<usize>),
}

impl Step {
    /// Returns the name of the step's operation.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Input(_) => "encrypt",
            Self::Add(..) => "add",
            Self::Sub(..) => "subtract",
            Self::Negate(_) => "negate",
            Self::Multiply(..) => "multiply",
            Self::AddPlain(..) => "add a plaintext",
            Self::SubPlain(..) => "subtract a plaintext",
            Self::PlainProducts(..) => "multiply by a plaintext",
            Self::Products(_) => "sum of products",
            Self::Integer(..) => "multiply by an integer",
            Self::Constant(..) => "multiply by a constant",
            Self::Rotate(..) => "rotate",
            Self::Swap(_) => "swap",
            Self::Polynomial(..) => "polynomial",
            Self::Series(..) => "series",
            Self::Bounded(..) => "bound",
        }
    }

    /// Returns the indices of the step's operands.
    #[must_use]
    pub fn operands(&self) -> Vec<usize> {
        match self {
            Self::Input(_) => Vec::new(),
            Self::Add(a, b) | Self::Sub(a, b) | Self::Multiply(a, b) => vec![*a, *b],
            Self::PlainProducts(terms, _) => terms.iter().map(|(a, _)| *a).collect(),
            Self::Products(terms) => terms.iter().flat_map(|&(a, b)| [a, b]).collect(),
            Self::Bounded(a, others) => [*a].into_iter().chain(others.iter().copied()).collect(),
            Self::Negate(a)
            | Self::AddPlain(a, ..)
            | Self::SubPlain(a, ..)
            | Self::Integer(a, _)
            | Self::Constant(a, _)
            | Self::Rotate(a, _)
            | Self::Swap(a)
            | Self::Polynomial(a, _)
            | Self::Series(a, _) => vec![*a],
        }
    }
}

/// Tape: steps in order, and which of their results are outputs.
///
/// ```
/// use sunzi_program::tape::{Step, Tape, Wanted};
///
/// let mut tape = Tape::new(true);
/// let x = tape.push(Step::Input(vec![(1.0, 8)]))?;
/// let square = tape.push(Step::Multiply(x, x))?;
/// let rotated = tape.push(Step::Rotate(square, 1))?;
/// tape.output(rotated, 8)?;
/// let wanted = Wanted { log2_degree: 13, precision: 20, ..Wanted::default() };
/// let choice = tape.choose(&wanted)?;
/// assert!(choice.rehearsal.reports[rotated].precision.is_some_and(|bits| bits > 20.0));
/// # Ok::<(), sunzi_program::ProgramError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tape {
    steps: Vec<Step>,
    /// Indices of the output steps, with the number of slots of the period that hold numbers.
    outputs: Vec<(usize, usize)>,
    real: bool,
}

impl Tape {
    /// Makes an empty tape of real numbers (CKKS) or of integers.
    #[must_use]
    pub fn new(real: bool) -> Self {
        Self { steps: Vec::new(), outputs: Vec::new(), real }
    }

    /// Returns all steps of the tape.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether the tape's numbers are real.
    #[must_use]
    pub fn is_real(&self) -> bool {
        self.real
    }

    /// Appends a step and returns its index.
    ///
    /// # Errors
    /// [`ProgramError::Invalid`] for operands that are no earlier steps, and for a period of no slots or of more than any ring has.
    pub fn push(&mut self, step: Step) -> Result<usize, ProgramError> {
        if let Step::Input(runs) = &step {
            let period = period(runs).unwrap_or(usize::MAX);
            if !(1..=*DEGREES.end()).contains(&period) {
                let text = format!("an input of {period} slots: give 1 to {}", DEGREES.end());
                return Err(ProgramError::Invalid(text));
            }
        }
        step.operands().into_iter().try_for_each(|place| self.check(place))?;
        self.steps.push(step);
        Ok(self.steps.len() - 1)
    }

    /// Declares the result of a step an output, of which `size` slots hold numbers.
    ///
    /// # Errors
    /// [`ProgramError::Invalid`] for an index that is no step.
    pub fn output(&mut self, place: usize, size: usize) -> Result<(), ProgramError> {
        self.check(place)?;
        self.outputs.push((place, size));
        Ok(())
    }

    /// Returns the indices of the output steps.
    pub fn outputs(&self) -> impl Iterator<Item = usize> + '_ {
        self.outputs.iter().map(|&(place, _)| place)
    }

    /// Whether the tape multiplies ciphertexts by each other, which takes a relinearisation key.
    #[must_use]
    pub fn multiplies(&self) -> bool {
        self.steps.iter().any(|step| {
            matches!(step, Step::Multiply(..) | Step::Products(_) | Step::Polynomial(..) | Step::Series(..))
        })
    }

    /// Returns the number of levels that the tape takes in CKKS.
    #[must_use]
    pub fn depth(&self) -> usize {
        let mut depths: Vec<usize> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let below = step.operands().iter().filter_map(|&place| depths.get(place)).max();
            let taken = match step {
                Step::Multiply(..) | Step::PlainProducts(..) | Step::Products(_) | Step::Constant(..) => 1,
                Step::Series(_, series) => sunzi_circuits::series::depth(series),
                _ => 0,
            };
            depths.push(below.copied().unwrap_or(0) + taken);
        }
        depths.into_iter().max().unwrap_or(0)
    }

    /// Returns the largest bound on a number of the inputs; 0 without inputs.
    fn largest_input(&self) -> f64 {
        let runs = self.steps.iter().filter_map(|step| match step {
            Step::Input(runs) => Some(runs),
            _ => None,
        });
        runs.flatten().map(|&(bound, _)| bound).fold(0.0, f64::max)
    }

    fn check(&self, place: usize) -> Result<(), ProgramError> {
        if place < self.steps.len() {
            return Ok(());
        }
        Err(ProgramError::Invalid(format!("step {place} is not on the tape yet")))
    }
}

/// Returns the slots of a period that is given run by run; `None` beyond a word.
fn period(runs: &[(f64, usize)]) -> Option<usize> {
    runs.iter().try_fold(0, |sum: usize, &(_, slots)| sum.checked_add(slots))
}

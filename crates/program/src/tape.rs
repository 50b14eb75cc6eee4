//! Computations on arrays as data: what is done to ciphertexts, one operation after the other.
//!
//! A [`Tape`] is what a function of encrypted arrays does once the ring degree is known: which ciphertexts are added, multiplied,
//! rotated, with which clear numbers. It holds no ciphertext and no key. [`Tape::rehearse`] plays it over
//! [`HollowRing`](sunzi_ring::HollowRing) with the evaluators themselves, so that levels, scales, bounds on noise and refusals are those that a run will
//! have; [`Tape::choose`] looks for the least parameters that hold all of it.

mod bounds;
mod choose;
mod levels;
mod machine;
mod rehearse;

use sunzi_circuits::series::Series;
use sunzi_ckks::Complex64;

use crate::ProgramError;

pub use choose::{Choice, Wanted};
pub use machine::Report;
pub(crate) use rehearse::hollow;
pub use rehearse::{Failed, Rehearsal};

/// Clear numbers that stand in every period of the slots.
#[derive(Clone, Debug, PartialEq)]
pub enum Clear {
    /// Integers.
    Integers(Vec<i64>),
    /// Real or complex numbers.
    Complex(Vec<Complex64>),
}

/// What makes a ciphertext from earlier ones, which are named by their places on the tape.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A fresh encryption; the largest |number| in every slot of its period.
    Input(Vec<f64>),
    /// a + b.
    Add(usize, usize),
    /// a − b.
    Sub(usize, usize),
    /// −a.
    Negate(usize),
    /// a·b.
    Multiply(usize, usize),
    /// a + m, with a period.
    AddPlain(usize, Clear, usize),
    /// a − m.
    SubPlain(usize, Clear, usize),
    /// Σ a_i·m_i, rescaled once: a product has one term.
    PlainProducts(Vec<(usize, Clear)>, usize),
    /// Σ a_i·b_i.
    Products(Vec<(usize, usize)>),
    /// k·a.
    Integer(usize, i64),
    /// c·a of CKKS.
    Constant(usize, Complex64),
    /// Rotation of ciphertext a to the left.
    Rotate(usize, i64),
    /// The rows of an exact scheme swapped, or the slots of CKKS conjugated.
    Swap(usize),
    /// Σ c_i·a^i modulo t.
    Polynomial(usize, Vec<i64>),
    /// A polynomial with real coefficients.
    Series(usize, Series),
    /// a, of which it is known that no number is larger than those of others.
    Bounded(usize, Vec<usize>),
}

impl Step {
    /// What it is called.
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

    /// The places of what it is made from.
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

/// Operations in order, and which of their results come out.
///
/// ```
/// use sunzi_program::tape::{Step, Tape, Wanted};
///
/// let mut tape = Tape::new(true);
/// let x = tape.push(Step::Input(vec![1.0; 8]))?;
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
    /// Places, and how many slots of the period belong to numbers.
    outputs: Vec<(usize, usize)>,
    real: bool,
}

impl Tape {
    /// Nothing yet: of real numbers (CKKS), or of integers.
    #[must_use]
    pub fn new(real: bool) -> Self {
        Self { steps: Vec::new(), outputs: Vec::new(), real }
    }

    /// All steps.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether numbers are real.
    #[must_use]
    pub fn is_real(&self) -> bool {
        self.real
    }

    /// Appends a step and names its place.
    ///
    /// # Errors
    /// [`ProgramError::Invalid`] for operands that are not there yet.
    pub fn push(&mut self, step: Step) -> Result<usize, ProgramError> {
        step.operands().into_iter().try_for_each(|place| self.check(place))?;
        self.steps.push(step);
        Ok(self.steps.len() - 1)
    }

    /// Says that a ciphertext comes out, of which so many slots are numbers.
    ///
    /// # Errors
    /// [`ProgramError::Invalid`] for one that is not there.
    pub fn output(&mut self, place: usize, size: usize) -> Result<(), ProgramError> {
        self.check(place)?;
        self.outputs.push((place, size));
        Ok(())
    }

    /// The places of what comes out.
    pub fn outputs(&self) -> impl Iterator<Item = usize> + '_ {
        self.outputs.iter().map(|&(place, _)| place)
    }

    /// Whether ciphertexts are multiplied by each other, which takes a relinearisation key.
    #[must_use]
    pub fn multiplies(&self) -> bool {
        self.steps.iter().any(|step| {
            matches!(step, Step::Multiply(..) | Step::Products(_) | Step::Polynomial(..) | Step::Series(..))
        })
    }

    /// Levels that CKKS takes.
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

    fn check(&self, place: usize) -> Result<(), ProgramError> {
        if place < self.steps.len() {
            return Ok(());
        }
        Err(ProgramError::Invalid(format!("step {place} is not on the tape yet")))
    }
}

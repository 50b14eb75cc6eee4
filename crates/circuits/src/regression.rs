//! Training a logistic regression on an encrypted table.
//!
//! Full-batch gradient descent with Nesterov's acceleration. A row of the table is y·(1, x) for a label y = ±1 and
//! standardised features x ([`Scaling`]); rows lie one after the other in the slots ([`Layout`]), the weights are
//! repeated in every row, and the logistic function is a polynomial of degree 5 ([`Logistic`]). An iteration takes
//! [`ITERATION_DEPTH`] levels; where fewer are left, weights and momentum are refreshed together, one as the real
//! part and one as the imaginary part of one bootstrapping.
//!
//! [`train`] knows nothing of encryption: it is generic over [`RealArithmetic`], and with [`ClearReals`] it is the same
//! algorithm in the clear, to compare with.
//!
//! ```
//! use sunzi_circuits::regression::{ClearReals, Layout, Scaling, Training, accuracy, train};
//!
//! // Two features; the label is the sign of the first.
//! let rows: Vec<Vec<f64>> = (0..32).map(|i| vec![f64::from(i) - 15.5, f64::from(i % 3)]).collect();
//! let labels: Vec<bool> = rows.iter().map(|row| row[0] > 0.0).collect();
//! let scaling = Scaling::of(&rows)?;
//! let layout = Layout::new(rows.len(), 2, 1 << 10)?;
//! let clear = ClearReals::new(layout.slots(), 10);
//! let table = layout.pack(&scaling, &rows, &labels)?.iter().map(|block| clear.encrypt(block)).collect::<Vec<_>>();
//! let training = Training { iterations: 6, ..Training::default() };
//! let trained = train(&clear, &layout, &training, &table, &mut |_| ())?;
//! let model = scaling.model(&layout.weights(trained.values()));
//! assert!(accuracy(&model, &rows, &labels) > 0.9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arithmetic;
mod clear;
mod encrypted;
mod layout;
mod logistic;
mod model;

pub use arithmetic::{REFRESHED, RealArithmetic};
pub use clear::{ClearReals, ClearRealsError, ClearVector};
pub use encrypted::{EncryptedReals, RegressionKeys, of_one_row};
pub use layout::Layout;
pub use logistic::Logistic;
pub use model::{Model, RegressionError, Scaling, accuracy};

use std::f64::consts::FRAC_1_SQRT_2;

use crate::CircuitError;

/// Number of levels of an iteration: the products with the weights, the mask, and three for the polynomial.
pub const ITERATION_DEPTH: usize = 5;
/// Divisor of the table, weights and momentum while they are encrypted: slots are at most 1, which is what a
/// bootstrapping takes.
pub const RANGE: f64 = 8.0;
/// Largest score of a row that is allowed for, in widths of the logistic polynomial.
const SCORES: f64 = 2.5;
/// Largest entry of a row's gradient that is allowed for: a scaled feature, times at most about 1 within the width.
const ENTRIES: f64 = 32.0;

/// Options of training a logistic regression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Training {
    /// Number of passes over the table.
    pub iterations: usize,
    /// Length of the step along the mean gradient.
    pub rate: f64,
    /// Width of the interval of scores, −width to width, on which the logistic function is approximated; beyond, up to about twice as far, the
    /// polynomial still reduces scores.
    pub width: f64,
}

impl Default for Training {
    /// Options for features standardised by [`Scaling`].
    fn default() -> Self {
        Self { iterations: 16, rate: 4.0, width: 16.0 }
    }
}

/// Progress of a training, for its observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Number of iterations done so far.
    pub iterations: usize,
    /// Number of refreshes by bootstrapping done so far.
    pub refreshes: usize,
    /// Whether a refresh by bootstrapping comes next.
    pub refreshing: bool,
}

/// State of training: weights and momentum. With the weights w_t, the point where the gradient is taken v_t = w_t + η_t·p_t and
/// p_t = w_t − w_(t−1), the momentum is kept as P_t = (1 + η_t)·p_t: then the gradient enters both with one factor,
/// and every other factor is applied to vectors that have levels left.
struct State<V> {
    point: V,
    momentum: V,
    /// Additional factor of both vectors: [`REFRESHED`] after a refresh.
    factor: f64,
}

/// Trains a logistic regression and returns the weights, repeated in every row and divided by [`RANGE`]:
/// [`Layout::weights`] reads them. `progress` is called before every step.
///
/// # Errors
/// [`CircuitError::Empty`] without iterations or rows; [`CircuitError::LengthsDiffer`] if the table has not as many
/// blocks as the layout; [`CircuitError::Scheme`].
pub fn train<A: RealArithmetic>(
    arithmetic: &A,
    layout: &Layout,
    training: &Training,
    table: &[A::Vector],
    progress: &mut dyn FnMut(Progress),
) -> Result<A::Vector, CircuitError<A::Error>> {
    if table.len() != layout.blocks() {
        return Err(CircuitError::LengthsDiffer { left: table.len(), right: layout.blocks() });
    }
    let run = Run { arithmetic, layout, logistic: Logistic::new(training.width), training };
    let mut at = Progress { iterations: 0, refreshes: 0, refreshing: false };
    let mut state: Option<State<A::Vector>> = None;
    for iteration in 0..training.iterations {
        if let Some(old) = &state
            && arithmetic.level(&old.point).min(arithmetic.level(&old.momentum)) < ITERATION_DEPTH
        {
            progress(Progress { refreshing: true, ..at });
            let pair = arithmetic.refresh([&old.point, &old.momentum]);
            let [point, momentum] = pair.map_err(CircuitError::Scheme)?;
            state = Some(State { point, momentum, factor: old.factor * REFRESHED });
            at.refreshes += 1;
        }
        at.iterations = iteration;
        progress(at);
        state = Some(run.iterate(iteration, state.as_ref(), table)?);
    }
    state.map(|state| state.point).ok_or(CircuitError::Empty { what: "a training" })
}

/// Returns the weight that Nesterov gives to the step of an iteration when the next one begins: η_t = (λ_t − 1)/λ_(t+1), λ_0 = 1, λ_(t+1) = (1 + √(1 + 4λ_t²))/2.
fn inertia(iteration: usize) -> f64 {
    let next = |lambda: f64| f64::midpoint(1.0, (1.0 + 4.0 * lambda * lambda).sqrt());
    let lambda = (0..iteration).fold(1.0, |lambda, _| next(lambda));
    (lambda - 1.0) / next(lambda)
}

struct Run<'a, A> {
    arithmetic: &'a A,
    layout: &'a Layout,
    logistic: Logistic,
    training: &'a Training,
}

type Outcome<A> = Result<<A as RealArithmetic>::Vector, CircuitError<<A as RealArithmetic>::Error>>;

impl<A: RealArithmetic> Run<'_, A> {
    /// Runs one iteration: v' = v + η'·η/(1 + η)·P + G and P' = (1 + η')·η/(1 + η)·P + G, where G = (1 +
    /// η')·rate·(mean gradient). The last iteration has η' = 0: its point is the weights.
    fn iterate(
        &self,
        iteration: usize,
        state: Option<&State<A::Vector>>,
        table: &[A::Vector],
    ) -> Result<State<A::Vector>, CircuitError<A::Error>> {
        let a = self.arithmetic;
        let last = iteration + 1 == self.training.iterations;
        let next = if last { 0.0 } else { inertia(iteration) };
        let factor = (1.0 + next) * self.training.rate / self.layout.rows() as f64;
        let gradient = self.gradient(state, table, factor)?;
        let Some(State { point, momentum, factor }) = state else {
            return Ok(State { point: gradient.clone(), momentum: gradient, factor: 1.0 });
        };
        let past = inertia(iteration.saturating_sub(1));
        let kept = past / (1.0 + past) / factor;
        let updated = || {
            let plain =
                if *factor == 1.0 { point.clone() } else { a.multiply_constant(point, 1.0 / factor)? };
            let ahead = a.add(&plain, &a.multiply_constant(momentum, next * kept)?)?;
            let along = a.multiply_constant(momentum, (1.0 + next) * kept)?;
            Ok([a.add(&ahead, &gradient)?, a.add(&along, &gradient)?])
        };
        let [point, momentum] = updated().map_err(CircuitError::Scheme)?;
        let fits = |vector| a.bounded(vector, FRAC_1_SQRT_2).map_err(CircuitError::Scheme);
        Ok(State { point: fits(point)?, momentum: fits(momentum)?, factor: 1.0 })
    }

    /// Computes factor·Σ σ(−u_i)·z_i over all rows z_i, u_i = ⟨z_i, v⟩, repeated in every row; v = 0 if there is no state.
    fn gradient(&self, state: Option<&State<A::Vector>>, table: &[A::Vector], factor: f64) -> Outcome<A> {
        let a = self.arithmetic;
        let mut sum: Option<A::Vector> = None;
        for block in table {
            let term = match state {
                None => a.multiply_constant(block, 0.5 * factor),
                Some(state) => self.weighted_rows(state, block, factor),
            };
            let term = term.map_err(CircuitError::Scheme)?;
            sum = Some(match &sum {
                None => term,
                Some(sum) => a.add(sum, &term).map_err(CircuitError::Scheme)?,
            });
        }
        let sum = sum.ok_or(CircuitError::Empty { what: "a training" })?;
        self.turned_sum(sum, self.layout.column_steps()).map_err(CircuitError::Scheme)
    }

    /// Computes factor·σ(−u_i)·z_i for every row of a block.
    fn weighted_rows(
        &self,
        state: &State<A::Vector>,
        rows: &A::Vector,
        factor: f64,
    ) -> Result<A::Vector, A::Error> {
        let (a, logistic) = (self.arithmetic, &self.logistic);
        // x = u/width in every slot of its row.
        let products = a.multiply(rows, &state.point)?;
        let sums = self.turned_sum(products, self.layout.row_steps())?;
        let unit = RANGE * RANGE / (self.training.width * state.factor);
        let first = a.multiply_plain(&sums, &self.layout.first_column(unit))?;
        let x = self.turned_sum(first, self.layout.row_steps().map(|step| -step))?;
        let x = a.bounded(x, SCORES)?;
        // σ(−u) = 1/2 + x·c·((x² + b)² + d).
        let weighted = a.multiply(&x, &a.multiply_constant(rows, factor * logistic.leading())?)?;
        let square = a.add_constant(&a.square(&x)?, logistic.inner())?;
        let even = a.add_constant(&a.square(&square)?, logistic.outer())?;
        let odd = a.multiply(&even, &weighted)?;
        let weighted = a.add(&odd, &a.multiply_constant(rows, 0.5 * factor)?)?;
        a.bounded(weighted, ENTRIES / RANGE * factor)
    }

    /// Adds to a vector its rotation by each of the steps, one after the other.
    fn turned_sum(&self, vector: A::Vector, steps: impl Iterator<Item = i64>) -> Result<A::Vector, A::Error> {
        let mut sum = vector;
        for step in steps {
            sum = self.arithmetic.add(&sum, &self.arithmetic.rotate(&sum, step)?)?;
        }
        Ok(sum)
    }
}

#[cfg(test)]
mod tests;

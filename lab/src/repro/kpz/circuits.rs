//! The circuits of `[KPZ21]`: a product of 2^k factors, a polynomial of degree k, an inner product.

use std::time::{Duration, Instant};

use rand_core::CryptoRng;
use sunzi_circuits::inner_product::{Laziness, inner_product};
use sunzi_circuits::{Arithmetic, polynomial};
use sunzi_encoding::Plaintext;

use super::clear::Clear;
use super::subject::{Encrypted, Subject};
use crate::Result;

/// Outcome of a circuit: the ciphertext, the message it should hold, and the time of the computation.
pub(super) struct Outcome<C> {
    pub(super) value: C,
    pub(super) expected: Plaintext,
    pub(super) time: Duration,
}

/// A circuit of the tables of `[KPZ21]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Circuit {
    /// The product Π x_i of 2^k factors, as a binary tree.
    Tree,
    /// The polynomial Σ a_i·x^i for i = 0, …, k with |a_i| < 16.
    Polynomial,
}

impl Circuit {
    /// Multiplicative depth of the circuit.
    pub(super) fn depth(self, k: u32) -> u32 {
        match self {
            Self::Tree => k,
            Self::Polynomial => k.next_power_of_two().ilog2(),
        }
    }

    /// Encrypts random polynomials and computes the circuit on them.
    pub(super) fn run<S: Subject>(
        self,
        subject: &S,
        clear: &Clear,
        k: u32,
        rng: &mut dyn CryptoRng,
    ) -> Result<Outcome<Encrypted<S>>> {
        match self {
            Self::Tree => tree(subject, clear, k, rng),
            Self::Polynomial => polynomial(subject, clear, k, rng),
        }
    }
}

fn fresh<S: Subject>(
    subject: &S,
    clear: &Clear,
    rng: &mut dyn CryptoRng,
) -> Result<(Encrypted<S>, Plaintext)> {
    let message = clear.random(rng)?;
    Ok((subject.encrypt(&message, rng)?, message))
}

/// Computes the product tree depth first, so that only k + 1 ciphertexts are there at a time.
fn tree<S: Subject>(
    subject: &S,
    clear: &Clear,
    k: u32,
    rng: &mut dyn CryptoRng,
) -> Result<Outcome<Encrypted<S>>> {
    let Some(below) = k.checked_sub(1) else {
        let (value, expected) = fresh(subject, clear, rng)?;
        return Ok(Outcome { value, expected, time: Duration::ZERO });
    };
    let (a, b) = (tree(subject, clear, below, rng)?, tree(subject, clear, below, rng)?);
    let begin = Instant::now();
    let value = subject.arithmetic().multiply(&a.value, &b.value, subject.keys())?;
    let time = a.time + b.time + begin.elapsed();
    let value = subject.trusted(value);
    Ok(Outcome { value, expected: clear.product(&a.expected, &b.expected)?, time })
}

fn polynomial<S: Subject>(
    subject: &S,
    clear: &Clear,
    degree: u32,
    rng: &mut dyn CryptoRng,
) -> Result<Outcome<Encrypted<S>>> {
    let (x, message) = fresh(subject, clear, rng)?;
    // For t = 2 the paper sets a_i = 1.
    let two = subject.arithmetic().plain_modulus() == 2;
    let mut coefficient = || match (rng.next_u64() % 30) as i64 {
        _ if two => 1,
        small if small < 15 => small - 15,
        large => large - 14,
    };
    let coefficients: Vec<i64> = (0..=degree).map(|_| coefficient()).collect();
    let mut expected = clear.constant(0)?;
    let mut power = clear.constant(1)?;
    for &c in &coefficients {
        expected = clear.add_multiple(&expected, c, &power)?;
        power = clear.product(&power, &message)?;
    }
    let polynomial = polynomial::Polynomial::constants(&coefficients);
    let begin = Instant::now();
    let method = polynomial::Method::PowerBasis;
    let value = polynomial::evaluate(subject.arithmetic(), &polynomial, &x, method, subject.keys());
    Ok(Outcome { value: value?, time: begin.elapsed(), expected })
}

/// Computes the inner product Σ x_i·y_i of encrypted pairs, once for each laziness.
pub(super) fn inner<S: Subject>(
    subject: &S,
    clear: &Clear,
    count: usize,
    rng: &mut dyn CryptoRng,
) -> Result<Vec<Outcome<Encrypted<S>>>> {
    let mut expected = clear.constant(0)?;
    let (mut x, mut y) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for _ in 0..count {
        let (a, b) = (fresh(subject, clear, rng)?, fresh(subject, clear, rng)?);
        expected = clear.add_multiple(&expected, 1, &clear.product(&a.1, &b.1)?)?;
        x.push(a.0);
        y.push(b.0);
    }
    let all = [Laziness::RelinearizeEach, Laziness::RelinearizeOnce, Laziness::ScaleOnce];
    let run = |laziness| {
        let begin = Instant::now();
        let value = inner_product(subject.arithmetic(), &x, &y, laziness, subject.keys());
        let time = begin.elapsed();
        Ok(Outcome { value: value?, expected: expected.clone(), time })
    };
    all.into_iter().map(run).collect()
}

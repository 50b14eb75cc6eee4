//! One product modulo a 62-bit prime, reduced by every method, as Tables 1 and 2 and Figure 1 of `[BEHMSZ17]`
//! measure it.

use std::time::Instant;

use sunzi_kernels::{Modulus, NttPlan};
use sunzi_math::{DEFAULT_PRIME_BOUND, MathError, primes_below, primes_with_bits};
use sunzi_ring::{Evaluation, Ring, RingError};
use sunzi_univariate::{Reducer, Reduction, UnivariateRing};

use super::ntl::{self, Ntl};
use super::{MODULUS_BITS, Options};
use crate::repro::{LabError, Result, Series, Timed, alternate_timed};

/// Number of polynomial products that are timed together.
const REPEATS: usize = 4;

/// Times of reductions and products at one cyclotomic index m.
pub(super) struct Measured {
    pub(super) m: u64,
    pub(super) slots: u64,
    /// Times of reductions, by [`METHODS`], then of the inverse transforms of the power-of-two ring and, if
    /// there is one, of the ring of index m.
    pub(super) reductions: Vec<Series>,
    /// Times of whole products: two transforms, one multiplication point by point, one reduction.
    pub(super) products: Vec<Series>,
    /// Times of products modulo primes of Sunzi's own length, below 2^48.
    pub(super) native: Vec<Series>,
    /// Times of reductions by NTL, where a program for it is named.
    pub(super) ntl: Option<Series>,
}

/// The reductions of `[BEHMSZ17]`, with their names.
pub(super) const METHODS: [(Reduction, &str); 3] = [
    (Reduction::Barrett, "Barrett (Alg. 1)"),
    (Reduction::SparseBarrett, "Barrett after a sparse multiple (Alg. 2)"),
    (Reduction::Montgomery, "Montgomery (Alg. 3)"),
];
/// Names of the rings that are timed beside the reductions.
pub(super) const OTHERS: [&str; 2] = ["ring of a power of two", "direct transform"];

impl Measured {
    /// Speed-up of a reduction of [`METHODS`] over plain Barrett.
    pub(super) fn speed_up(&self, method: usize) -> f64 {
        let pair = self.reductions.first().zip(self.reductions.get(method));
        pair.map_or(f64::NAN, |(plain, own)| own.speed_up_over(plain))
    }

    /// Speed-ups of a product by the direct transform over the best of [`METHODS`], with moduli of the
    /// paper's length and of Sunzi's.
    pub(super) fn direct(&self) -> [f64; 2] {
        [&self.products, &self.native].map(|times| {
            let Some(direct) = times.get(METHODS.len() + 1) else { return f64::NAN };
            times
                .iter()
                .take(METHODS.len())
                .map(|method| direct.speed_up_over(method))
                .fold(f64::INFINITY, f64::min)
        })
    }
}

/// A way to multiply polynomials that transforms forwards and back.
enum Method {
    Reducer(Reducer),
    Power(Box<NttPlan>),
    Direct(Ring),
}

impl Method {
    /// Number of words of a polynomial, and of its values after the transform.
    fn lengths(&self) -> [usize; 2] {
        match self {
            Self::Reducer(reducer) => [reducer.degree(), reducer.length()],
            Self::Power(plan) => [plan.n(), plan.n()],
            Self::Direct(ring) => [ring.degree(), ring.degree()],
        }
    }

    fn modulus(&self) -> Result<Modulus> {
        let missing = || RingError::LengthMismatch { what: "moduli", expected: 1, got: 0 };
        match self {
            Self::Reducer(reducer) => Ok(Modulus::new(reducer.prime())?),
            Self::Power(plan) => Ok(plan.modulus()),
            Self::Direct(ring) => Ok(ring.words()?.basis().moduli().first().copied().ok_or_else(missing)?),
        }
    }

    /// Time of reductions of products, or of whole products with them.
    fn time(&self, whole: bool) -> Result<std::time::Duration> {
        let ([n, length], modulus) = (self.lengths(), self.modulus()?);
        let words = |seed: u64| -> Vec<u64> {
            let mut x = seed;
            let mut next = || {
                x = modulus.add(modulus.mul(x, modulus.reduce(6_364_136_223_846_793_005)), 1);
                x
            };
            let mut words: Vec<u64> = (0..n).map(|_| next()).collect();
            words.resize(length, 0);
            words
        };
        if let Self::Direct(ring) = self {
            return direct(ring, [&words(3), &words(5)], whole);
        }
        let mut operands: Vec<[Vec<u64>; 2]> =
            (0..REPEATS as u64).map(|i| [words(i), words(i + 7)]).collect();
        if !whole {
            for [a, b] in &mut operands {
                self.forward(a)?;
                self.forward(b)?;
                modulus.mul_assign(a, b)?;
            }
        }
        let begin = Instant::now();
        for [a, b] in &mut operands {
            if whole {
                self.forward(a)?;
                self.forward(b)?;
                modulus.mul_assign(a, b)?;
            }
            match self {
                Self::Reducer(reducer) => reducer.reduce(a)?,
                Self::Power(plan) => plan.inverse(a)?,
                Self::Direct(_) => {}
            }
        }
        Ok(begin.elapsed() / REPEATS as u32)
    }

    fn forward(&self, words: &mut [u64]) -> Result<()> {
        match self {
            Self::Reducer(reducer) => Ok(reducer.transform(words)?),
            Self::Power(plan) => Ok(plan.forward(words)?),
            Self::Direct(_) => Ok(()),
        }
    }
}

/// Times reductions or whole products over a ring, whose polynomials have their own memory.
fn direct(ring: &Ring, [a, b]: [&[u64]; 2], whole: bool) -> Result<std::time::Duration> {
    let values =
        |words: &[u64]| Ok::<_, LabError>(ring.to_evaluation(ring.words()?.poly_from_residues(words)?)?);
    let b = values(b)?;
    let mut product = values(a)?;
    ring.mul_assign(&mut product, &b)?;
    let mut products: Vec<sunzi_ring::Poly<Evaluation>> = vec![product; REPEATS];
    let mut fresh = Vec::new();
    for _ in 0..REPEATS {
        fresh.push([ring.words()?.poly_from_residues(a)?, ring.words()?.poly_from_residues(a)?]);
    }
    let begin = Instant::now();
    if whole {
        for [a, b] in fresh {
            let (mut a, b) = (ring.to_evaluation(a)?, ring.to_evaluation(b)?);
            ring.mul_assign(&mut a, &b)?;
            ring.to_coefficient(a)?;
        }
    } else {
        for product in products.drain(..) {
            ring.to_coefficient(product)?;
        }
    }
    Ok(begin.elapsed() / REPEATS as u32)
}

/// Times all reductions and products for one cyclotomic index m.
pub(super) fn measure(options: &Options, m: u64, slots: u64) -> Result<Measured> {
    let long = methods(m, |order| primes_with_bits(MODULUS_BITS, order, 1))?;
    let native = methods(m, |order| primes_below(DEFAULT_PRIME_BOUND, order, 1))?;
    let ntl = rival(m)?;
    let run = |methods: &[Method], whole: bool, ntl: Option<&Ntl>| {
        let mut contenders: Vec<Timed<'_>> = Vec::new();
        for method in methods {
            contenders.push(Box::new(move || method.time(whole)));
        }
        if let Some(ntl) = ntl {
            contenders.push(Box::new(move || ntl.time(REPEATS as u32)));
        }
        alternate_timed(options.budget, &mut contenders)
    };
    let mut reductions = run(&long, false, ntl.as_ref())?;
    let ntl = ntl.and_then(|_| reductions.pop());
    Ok(Measured {
        m,
        slots,
        reductions,
        products: run(&long, true, None)?,
        native: run(&native, true, None)?,
        ntl,
    })
}

/// NTL with the polynomial of index m, where a program for it is named, after a remainder that is compared with Alg. 1.
fn rival(m: u64) -> Result<Option<Ntl>> {
    let q = primes_with_bits(ntl::BITS, UnivariateRing::root_order(m)?, 1)?.first().copied().unwrap_or(2);
    let Some(ntl) = Ntl::start(m, q)? else { return Ok(None) };
    let reducer = Reducer::new(m, q, Reduction::Barrett)?;
    let (n, length) = (reducer.degree(), reducer.length());
    // A polynomial times a power of X, whose coefficients need no product.
    let shift = n - 1;
    let words: Vec<u64> = (1..=n as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % q).collect();
    let shifted = [vec![0; shift], words.clone()].concat();
    let mut power = vec![0; length];
    power.get_mut(shift).into_iter().for_each(|word| *word = 1);
    let mut product = words;
    product.resize(length, 0);
    reducer.transform(&mut product)?;
    reducer.transform(&mut power)?;
    Modulus::new(q)?.mul_assign(&mut product, &power)?;
    reducer.reduce(&mut product)?;
    let right = ntl.degree() == n && product.get(..n) == Some(&ntl.remainder(&shifted)?[..]);
    LabError::unless(right, "reduction", "NTL", n)?;
    Ok(Some(ntl))
}

/// All ways to multiply that are timed, modulo the first primes that there are for a root order.
fn methods(m: u64, primes: impl Fn(u64) -> Result<Vec<u64>, MathError>) -> Result<Vec<Method>> {
    let order = UnivariateRing::root_order(m)?;
    let q = primes(order)?.first().copied().unwrap_or(2);
    let mut methods = Vec::new();
    for (reduction, _) in METHODS {
        methods.push(Method::Reducer(Reducer::new(m, q, reduction)?));
    }
    methods.push(Method::Power(Box::new(NttPlan::new(Modulus::new(q)?, order as usize / 2)?)));
    if let Ok(ring) = primes(Ring::root_order(m)?).map_err(RingError::from).and_then(|q| Ring::new(m, &q)) {
        methods.push(Method::Direct(ring));
    }
    Ok(methods)
}

/// The ring of index m that evaluates at the m-th roots, if its transform exists for moduli of this length.
pub(super) fn direct_ring(m: u64, moduli: usize) -> Option<Ring> {
    let order = Ring::root_order(m).ok()?;
    let primes = primes_with_bits(MODULUS_BITS, order, moduli).ok()?;
    Ring::new(m, &primes).ok()
}

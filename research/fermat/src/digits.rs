//! Digits of the residues y_i of FastBconv, as rows of a matrix product.

use std::ops::Range;

use sunzi_kernels::Modulus;
use sunzi_math::{mod_inv, mod_pow, mul_mod};
use sunzi_ring::RingError;
use zeroize::Zeroize;

use crate::combination::BLOCK;
use crate::product::{DIGIT_BITS, cut, digit_bound, digit_count};
use crate::residues::FermatResidues;
use crate::{FermatModulus, FermatRing, Workspace};

/// Digits of 48 bits of all y_i, from which FastBconv is a matrix product.
#[derive(Debug)]
pub(crate) struct Digits {
    ring: FermatRing,
    counts: Vec<usize>,
}

/// Buffers for digits: rows of [`BLOCK`] words, and the words that a block of y_i takes.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) rows: Vec<u64>,
    scaled: Vec<u64>,
    y: Vec<u64>,
    /// Sums Σ y_i·(q/q_i) modulo 2^64, where requested.
    pub(crate) low: Vec<u64>,
    workspace: Workspace,
}

impl Zeroize for Rows {
    fn zeroize(&mut self) {
        [&mut self.rows, &mut self.scaled, &mut self.y, &mut self.low].into_iter().for_each(Zeroize::zeroize);
        self.workspace.zeroize();
    }
}

/// Factor of x before its product with (q/q_i)^-1.
#[derive(Clone, Copy)]
pub(crate) enum Factor<'a> {
    /// Factor that is the product of several words below 2^63.
    Words(&'a [u64]),
    /// Factor that is a power of two 2^bits.
    PowerOfTwo(u32),
}

impl Digits {
    pub(crate) fn new(ring: &FermatRing) -> Self {
        let counts = ring.fermat_modulus().components().iter().map(|&c| digit_count(c)).collect();
        Self { ring: ring.clone(), counts }
    }

    pub(crate) fn count(&self) -> usize {
        self.counts.iter().sum()
    }

    /// Returns the bounds of the digits in all rows.
    pub(crate) fn sources(&self) -> Result<Vec<Modulus>, RingError> {
        Ok(vec![digit_bound()?; self.count()])
    }

    /// Returns 2^(48w)·(q/q_i) modulo p for every row, times a factor.
    pub(crate) fn column(&self, p: u64, factor: u64) -> Result<Vec<u64>, RingError> {
        let modulus = self.ring.fermat_modulus();
        let q = modulus.remainder(p);
        let step = mod_pow(2, DIGIT_BITS.into(), p);
        let mut column = Vec::with_capacity(self.count());
        for (component, &count) in modulus.components().iter().zip(&self.counts) {
            let mut entry = mul_mod(
                mul_mod(q, mod_inv(component_mod(component.bits(), component.is_fermat(), p), p)?, p),
                factor % p,
                p,
            );
            for _ in 0..count {
                column.push(entry);
                entry = mul_mod(entry, step, p);
            }
        }
        Ok(column)
    }

    /// Cuts |factor·x·(q/q_i)^-1|_{q_i} for a block of coefficients into digits.
    pub(crate) fn cut(&self, a: &FermatResidues, block: usize, factor: Factor<'_>, rows: &mut Rows) {
        rows.rows.resize(self.count() * BLOCK, 0);
        rows.low.clear();
        rows.low.resize(BLOCK, 0);
        let mut rest = rows.rows.as_mut_slice();
        let modulus = self.ring.fermat_modulus();
        for (i, ((component, part), cofactor)) in
            self.ring.0.parts(&a.words).zip(self.ring.cofactors()).enumerate()
        {
            let words = BLOCK * component.len();
            let range: Range<usize> = block * words..(block + 1) * words;
            rows.y.resize(words, 0);
            for (y, x) in rows
                .y
                .chunks_exact_mut(component.len())
                .zip(part.get(range).unwrap_or_default().chunks_exact(component.len()))
            {
                match factor {
                    Factor::PowerOfTwo(bits) => cofactor.apply_scaled(y, x, bits, &mut rows.workspace),
                    Factor::Words([]) => cofactor.apply(y, x, &mut rows.workspace),
                    Factor::Words(factors) => {
                        rows.scaled.clear();
                        rows.scaled.extend_from_slice(x);
                        factors.iter().for_each(|&c| component.mul_word_assign(&mut rows.scaled, c));
                        cofactor.apply(y, &rows.scaled, &mut rows.workspace);
                    }
                }
            }
            if matches!(factor, Factor::PowerOfTwo(_)) {
                let quotient = quotient_low(modulus, i);
                for (low, y) in rows.low.iter_mut().zip(rows.y.chunks_exact(component.len())) {
                    let word = y.first().copied().unwrap_or(0);
                    *low = low.wrapping_add(word.wrapping_mul(quotient));
                }
            }
            let (own, others) = rest.split_at_mut(digit_count(component) * BLOCK);
            cut(component, &rows.y, own);
            rest = others;
        }
    }
}

/// Returns the component 2^h ± 1 modulo a prime p.
fn component_mod(bits: usize, plus: bool, p: u64) -> u64 {
    (mod_pow(2, bits as u64, p) + if plus { 1 } else { p - 1 }) % p
}

/// Returns q/q_i modulo 2^64: factors 2^h ± 1 are ±1, except one of 64 bits that has a word alone.
fn quotient_low(modulus: &FermatModulus, position: usize) -> u64 {
    // q = −1, the factors 2^h + 1 are 1 and 2^64 − 1 is −1.
    if modulus.components().get(position).is_some_and(|component| component.is_fermat()) {
        u64::MAX
    } else {
        1
    }
}

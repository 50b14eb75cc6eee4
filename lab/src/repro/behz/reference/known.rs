//! Ciphertexts of known messages for counted products, whose results are decrypted and compared.

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::ToPrimitive;
use sunzi_math::Crt;

use super::{Key, key};
use crate::repro::kpz::reference::conversion::remainder;
use crate::repro::kpz::reference::multiplication::Pair;
use crate::repro::kpz::reference::{Basis, Counter, Limbs, add, subtract};
use crate::{LabError, Result};

/// Two ciphertexts, their secret, and the product of their messages.
pub(crate) struct Known {
    q: Basis,
    t: u64,
    secret: Vec<i64>,
    pub(crate) pairs: [Pair; 2],
    product: Vec<u64>,
    words: Words,
}

/// Words that look random and are the same in every run: counts do not depend on them.
#[derive(Clone, Copy)]
pub(super) struct Words(pub(super) u64);

impl Words {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(super) fn below(&mut self, bound: u64, n: usize) -> Vec<u64> {
        (0..n).map(|_| self.next() % bound).collect()
    }

    /// n integers from −bound to bound.
    fn small(&mut self, bound: u64, n: usize) -> Vec<i64> {
        self.below(2 * bound + 1, n).into_iter().map(|x| x as i64 - bound as i64).collect()
    }
}

impl Known {
    /// Encrypts two messages of n coefficients modulo t.
    pub(crate) fn new(q: &Basis, n: usize, t: u64) -> Result<Self> {
        let (uncounted, mut words) = (Counter::default(), Words(t));
        let secret = words.small(1, n);
        let values = uncounted.forward(q, residues(q, &secret))?;
        let delta: Vec<u64> = q.moduli().iter().map(|&one| remainder(&(q.product() / t), one)).collect();
        let messages = [words.below(t, n), words.below(t, n)];
        let mut encrypt = |message: &Vec<u64>| -> Result<Pair> {
            let a: Limbs = q.moduli().iter().map(|&one| words.below(one, n)).collect();
            let hidden = uncounted.pointwise(q, &uncounted.forward(q, a.clone())?, &values);
            let repeated: Limbs = q.moduli().iter().map(|_| message.clone()).collect();
            let scaled = uncounted.scale(q.moduli(), &repeated, &delta);
            let noisy = add(q.moduli(), &scaled, &residues(q, &words.small(3, n)));
            Ok([subtract(q.moduli(), &noisy, &uncounted.inverse(q, hidden)?), a])
        };
        let pairs = [encrypt(&messages[0])?, encrypt(&messages[1])?];
        let mut product = vec![0; n];
        for (i, &a) in messages[0].iter().enumerate() {
            for (j, &b) in messages[1].iter().enumerate() {
                let term = if i + j < n { a * b % t } else { t - a * b % t };
                if let Some(sum) = product.get_mut((i + j) % n) {
                    *sum = (*sum + term) % t;
                }
            }
        }
        Ok(Self { q: q.clone(), t, secret, pairs, product, words })
    }

    /// The relinearisation key of a gadget.
    pub(crate) fn key(&self, gadget: &[BigUint]) -> Result<Key> {
        let (mut uniform, mut errors, n) = (self.words, Words(1), self.secret.len());
        key(&self.q, &self.secret, gadget, |q| uniform.below(q, n), || errors.small(3, n))
    }

    /// Decrypts the product of the two ciphertexts; an error if it is not that of their messages.
    pub(crate) fn check(&self, [c0, c1]: &Pair, variant: &str) -> Result<()> {
        let (uncounted, q) = (Counter::default(), &self.q);
        let secret = uncounted.forward(q, residues(q, &self.secret))?;
        let hidden = uncounted.pointwise(q, &uncounted.forward(q, c1.clone())?, &secret);
        let phase = add(q.moduli(), c0, &uncounted.inverse(q, hidden)?);
        let (crt, modulus) = (Crt::new(q.moduli())?, BigInt::from(q.product()));
        for (i, &expected) in self.product.iter().enumerate() {
            let column: Vec<u64> = phase.iter().filter_map(|limb| limb.get(i).copied()).collect();
            let twice = crt.reconstruct_centered(&column)? * self.t * 2_u32 + &modulus;
            let opened = twice.div_floor(&(&modulus * 2_u32)).mod_floor(&self.t.into()).to_u64();
            LabError::unless(opened == Some(expected), "product", variant, self.secret.len())?;
        }
        Ok(())
    }
}

/// The residues of small integers modulo each prime of a basis.
pub(super) fn residues(q: &Basis, x: &[i64]) -> Limbs {
    q.moduli().iter().map(|&q| x.iter().map(|&x| x.rem_euclid(q as i64) as u64).collect()).collect()
}

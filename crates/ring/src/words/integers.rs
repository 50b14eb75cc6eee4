//! Conversions between residues and integers, nearest floats or uniform draws.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::ToPrimitive;
use rand_core::CryptoRng;
use rayon::prelude::*;
use sunzi_kernels::{Buffer, Modulus};
use sunzi_math::{log2_product, mod_inv};
use zeroize::Zeroizing;

use crate::error::{check_length, check_table, part};
use crate::parallel::{BLOCK, Work, block_of};
use crate::sampling::{SeededRng, uniform_residues};
use crate::scratch::Scratch;
use crate::{Backend, Coefficient, Domain, Evaluation, Poly, RingError, WordRing};

impl WordRing {
    /// The polynomial with the given residues, limb after limb.
    ///
    /// # Errors
    /// [`RingError::LengthMismatch`] for another number of residues; [`RingError::OutOfRange`] for a residue that is
    /// not reduced.
    pub fn poly_from_residues<D: Domain>(&self, words: &[u64]) -> Result<Poly<D>, RingError> {
        let shape = self.shape();
        check_length("residues", shape.degree * shape.limbs, words.len())?;
        for (limb, &q) in words.chunks_exact(shape.degree).zip(self.basis().values()) {
            // The check has no early exit: the words may be secret.
            if limb.iter().fold(0, |bad, &x| bad | u64::from(x >= q)) != 0 {
                return Err(RingError::out_of_range("residue", format_args!("below {q}"), "more"));
            }
        }
        Ok(Poly::new(Scratch::from_slice(words), shape.degree, self.basis().tag()))
    }
}

/// Returns the residue c mod q of an integer.
pub fn residue_of(c: &BigInt, q: u64) -> u64 {
    // Factors are mostly small: sums and differences have 1 and −1.
    if let Some(small) = c.to_i64() {
        let residue = small.unsigned_abs() % q;
        return if small < 0 && residue > 0 { q - residue } else { residue };
    }
    c.mod_floor(&BigInt::from(q)).to_u64().unwrap_or(0)
}

/// Does [`Backend::uniform`] in words.
pub(crate) fn uniform<G: CryptoRng + ?Sized>(ring: &WordRing, rng: &mut G) -> Poly<Evaluation> {
    let mut seed = [0_u8; 32];
    rng.fill_bytes(&mut seed);
    let mut a = ring.arbitrary();
    // The loop never fails: the polynomial has as many limbs as the basis has moduli.
    let _ = ring.parallelism().for_each_limb(Work::Transform, a.words_mut(), ring.degree(), |i, limb| {
        let q = ring.basis().values().get(i).copied().unwrap_or(0);
        uniform_residues(limb, q, &mut SeededRng::derive(&seed, "uniform limb", i as u64));
        Ok(())
    });
    a
}

/// Does [`Backend::from_integers`] in words.
pub(crate) fn from_integers(
    ring: &WordRing,
    coefficients: &[BigInt],
) -> Result<Poly<Coefficient>, RingError> {
    let n = ring.degree();
    check_length("coefficients", n, coefficients.len())?;
    let mut a = ring.arbitrary();
    ring.for_each_modulus(&mut a, |i, modulus, range, limb| {
        let coefficients = part("list of coefficients", coefficients, range, i)?;
        let residues = coefficients.iter().map(|c| residue_of(c, modulus.value()));
        limb.iter_mut().zip(residues).for_each(|(to, residue)| *to = residue);
        Ok(())
    })?;
    Ok(a)
}

/// Does [`Backend::add_integer_assign`] in words: adds one residue to every value.
pub(crate) fn add(ring: &WordRing, a: &mut Poly<Evaluation>, c: &BigInt) -> Result<(), RingError> {
    ring.for_each_modulus(a, |_, modulus, _, values| {
        let block = [residue_of(c, modulus.value()); BLOCK];
        for values in values.chunks_mut(BLOCK) {
            modulus.add_assign(values, block.get(..values.len()).unwrap_or_default())?;
        }
        Ok(())
    })
}

/// Does [`Backend::to_integers`] in words.
pub(crate) fn to_integers(ring: &WordRing, a: &Poly<Coefficient>) -> Result<Vec<BigInt>, RingError> {
    ring.check(a)?;
    let mut limbs: Vec<_> = a.limbs().map(|limb| limb.iter().copied()).collect();
    let coefficient = |_| {
        let residues: Vec<u64> = limbs.iter_mut().filter_map(Iterator::next).collect();
        Ok(ring.basis().crt().reconstruct_centered(&residues)?)
    };
    (0..ring.degree()).map(coefficient).collect()
}

/// Does [`Backend::from_signed`] in words.
pub(crate) fn from_signed(ring: &WordRing, coefficients: &[i64]) -> Result<Poly<Coefficient>, RingError> {
    check_length("coefficients", ring.degree(), coefficients.len())?;
    let mut a = ring.arbitrary();
    ring.for_each_modulus(&mut a, |_, modulus, range, part| {
        Ok(modulus.reduce_signed_into(part, coefficients.get(range).unwrap_or_default())?)
    })?;
    Ok(a)
}

/// Does [`Backend::from_signed_wide`] in words: c = h·2^64 + l with h signed.
pub(crate) fn from_signed_wide(
    ring: &WordRing,
    coefficients: &[i128],
) -> Result<Poly<Coefficient>, RingError> {
    let n = ring.degree();
    check_length("coefficients", n, coefficients.len())?;
    let high: Zeroizing<Vec<i64>> = Zeroizing::new(coefficients.iter().map(|c| (c >> 64) as i64).collect());
    let low: Zeroizing<Vec<u64>> = Zeroizing::new(coefficients.iter().map(|&c| c as u64).collect());
    let mut a = ring.arbitrary();
    ring.for_each_modulus(&mut a, |i, modulus, range, limb| {
        let shift = modulus.reduce_u128(1 << 64);
        let mut rest = Zeroizing::new([0; BLOCK]);
        let high = part("list of coefficients", &high, range.clone(), i)?;
        let low = part("list of coefficients", &low, range, i)?;
        let parts = high.chunks(BLOCK).zip(low.chunks(BLOCK));
        for (limb, (high, low)) in limb.chunks_mut(BLOCK).zip(parts) {
            let rest = rest.get_mut(..low.len()).unwrap_or_default();
            modulus.reduce_signed_into(limb, high)?;
            modulus.mul_scalar_assign(limb, shift)?;
            modulus.reduce_into(rest, low)?;
            modulus.add_assign(limb, rest)?;
        }
        Ok(())
    })?;
    Ok(a)
}

/// Does [`Backend::to_floats`] in words, from the digits of x in the mixed radix q_1, q_2, …: x = d_1 + q_1(d_2 +
/// q_2(d_3 + …)) with every |d_i| < q_i/2, which makes |x| < q/2 by itself. No step depends on the values, unless one
/// leaves the range of f64.
pub(crate) fn to_floats(ring: &WordRing, a: &Poly<Coefficient>) -> Result<Vec<f64>, RingError> {
    ring.check(a)?;
    let radix = MixedRadix::new(ring.basis().moduli())?;
    let mut floats = vec![0.0; ring.degree()];
    let step = |(b, out): (usize, &mut [f64])| {
        let range = b * BLOCK..b * BLOCK + out.len();
        radix.floats(&block_of(a.limbs(), &range), out)
    };
    if ring.parallelism().shares_coefficients(Work::Conversion, a.words().len()) {
        floats.par_chunks_mut(BLOCK).enumerate().try_for_each(step)?;
    } else {
        floats.chunks_mut(BLOCK).enumerate().try_for_each(step)?;
    }
    Ok(floats)
}

/// Mixed-radix digits by Garner's algorithm, over blocks of coefficients.
struct MixedRadix<'a> {
    moduli: &'a [Modulus],
    /// Inverses q_j^-1 modulo q_i for j < i, for the digits.
    inverses: Vec<Vec<u64>>,
    /// Whether moduli and digits are exact as doubles whose products can be split.
    narrow: bool,
}

impl<'a> MixedRadix<'a> {
    fn new(moduli: &'a [Modulus]) -> Result<Self, RingError> {
        let row = |(i, q): (usize, &Modulus)| {
            moduli.iter().take(i).map(|p| Ok(mod_inv(q.reduce(p.value()), q.value())?)).collect()
        };
        let inverses = moduli.iter().enumerate().map(row).collect::<Result<_, RingError>>()?;
        let values: Vec<u64> = moduli.iter().map(Modulus::value).collect();
        let narrow = values.iter().all(|&q| q < NARROW) && log2_product(&values) < FINITE;
        Ok(Self { moduli, inverses, narrow })
    }

    fn floats(&self, residues: &[&[u64]], out: &mut [f64]) -> Result<(), RingError> {
        check_table("row of residues", self.moduli.len(), residues.len())?;
        let n = out.len();
        let mut digits = Zeroizing::new(vec![0_i64; n * self.moduli.len()]);
        let mut reduced = Zeroizing::new(Buffer::zeroed(n));
        for (i, ((modulus, inverses), limb)) in
            self.moduli.iter().zip(&self.inverses).zip(residues).enumerate()
        {
            let (below, own) = digits.split_at_mut_checked(i * n).unwrap_or_default();
            let mut row = Zeroizing::new(Buffer::from_slice(limb));
            for (digit, &inverse) in below.chunks_exact(n).zip(inverses) {
                modulus.reduce_signed_into(&mut reduced, digit)?;
                modulus.sub_assign(&mut row, &reduced)?;
                modulus.mul_scalar_assign(&mut row, inverse)?;
            }
            let (q, half) = (modulus.value(), modulus.value() / 2);
            for (digit, &x) in own.iter_mut().zip(row.iter()) {
                *digit = x.wrapping_sub(q & u64::from(x > half).wrapping_neg()).cast_signed();
            }
        }
        if self.narrow {
            horner_of_doubles(digits.chunks_exact(n.max(1)).zip(self.moduli).rev(), out);
            return Ok(());
        }
        for (at, out) in out.iter_mut().enumerate() {
            let digits = digits.get(at..).unwrap_or_default().iter().step_by(n.max(1)).rev();
            *out = horner(digits.zip(self.moduli.iter().rev()));
        }
        Ok(())
    }
}

/// Bound below which moduli, and their mixed-radix digits, are exact as doubles.
pub const NARROW: u64 = 1 << 51;
/// Number of bits of a product whose doubles can be split and multiplied without leaving their range.
const FINITE: f64 = 900.0;

/// Does [`horner`] on a block for digits and moduli that are doubles, word after word by the same steps: without
/// multiply-adds, which only a library has on processors without them, products are split `[Dekker71]`.
pub fn horner_of_doubles<'a>(digits: impl Iterator<Item = (&'a [i64], &'a Modulus)>, sums: &mut [f64]) {
    let mut rests = Zeroizing::new([0.0_f64; BLOCK]);
    sums.fill(0.0);
    for (digits, modulus) in digits {
        let q = modulus.value() as f64;
        let (q_high, q_low) = split(q);
        for ((sum, rest), &digit) in sums.iter_mut().zip(rests.iter_mut()).zip(digits) {
            // The bits of 1.5·2^52 + digit: a conversion that vectors have.
            let digit =
                f64::from_bits(digit.wrapping_add(SHIFTED.to_bits().cast_signed()).cast_unsigned()) - SHIFTED;
            let product = *sum * q;
            let (high, low) = split(*sum);
            let error = ((high * q_high - product) + high * q_low + low * q_high) + low * q_low;
            let (first, carry) = two_sum(product, digit);
            (*sum, *rest) = two_sum(first, carry + (error + *rest * q));
        }
    }
}

/// The number 1.5·2^52, added to an integer to convert it to a double.
const SHIFTED: f64 = 6_755_399_441_055_744.0;

/// Splits a double x into two halves of at most 26 bits each.
fn split(x: f64) -> (f64, f64) {
    let shifted = x * 134_217_729.0;
    let high = shifted - (shifted - x);
    (high, x - high)
}

/// Returns Σ d_i·q_1⋯q_(i−1) from the highest digit down, in pairs of doubles whose sum has 104 bits or more: of the
/// nearest doubles of that sum one is the nearest of x, but for x within 2^-40 of the middle between two.
pub fn horner<'a>(digits: impl Iterator<Item = (&'a i64, &'a Modulus)>) -> f64 {
    let split = |x: i64| {
        let high = x as f64;
        // Both conversions are exact, since |x| < 2^62.
        (high, (x - high as i64) as f64)
    };
    let mut sum = (0.0_f64, 0.0_f64);
    for (&digit, modulus) in digits {
        let (q, rest) = split(modulus.value().cast_signed());
        let product = sum.0 * q;
        if !product.is_finite() {
            return product;
        }
        let error = sum.0.mul_add(q, -product) + sum.0.mul_add(rest, sum.1 * q);
        let (high, low) = split(digit);
        let (first, carry) = two_sum(product, high);
        sum = two_sum(first, carry + (error + low));
    }
    sum.0
}

/// Returns the sum a + b as the nearest double and the rounding error.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

//! A slow ring by the definitions, and the polynomials on which every law is tried.

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use rand_core::Rng;
use sunzi_big::{BigRing, MultiPrecision};
use sunzi_math::Integers;
use sunzi_ring::sampling::SeededRng;
use sunzi_ring::{
    Addends, Coefficient, Evaluation, Gadget, PackedPoly, Poly, Ring, RingError, Scaler, ScalerBackend, Side,
    Storage, SwitchInput,
};

pub(crate) fn rng(domain: &str) -> SeededRng {
    SeededRng::derive(&[9; 32], domain, 0)
}

pub(crate) fn int(x: &BigUint) -> BigInt {
    BigInt::from_biguint(Sign::Plus, x.clone())
}

#[expect(unreachable_pub, reason = "shared with other tests")]
#[path = "../../../../testing/src/storage.rs"]
mod storage;

pub(crate) use storage::stored;

/// Returns the representative of x modulo q in [-q/2, q/2).
pub(crate) fn center(x: &BigInt, q: &BigInt) -> BigInt {
    let r = x.mod_floor(q);
    if &r * 2_u32 >= *q { r - q } else { r }
}

pub(crate) fn centered(a: &[BigInt], q: &BigInt) -> Vec<BigInt> {
    a.iter().map(|x| center(x, q)).collect()
}

/// Returns a·b in Z[X]/(X^n + 1).
pub(crate) fn negacyclic(a: &[BigInt], b: &[BigInt]) -> Vec<BigInt> {
    let n = a.len();
    let mut c = vec![BigInt::zero(); n];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            if i + j < n {
                c[i + j] += x * y;
            } else {
                c[i + j - n] -= x * y;
            }
        }
    }
    c
}

/// Returns a·b in the ring of equal index over Z: schoolbook in the power basis, and the remainder by Φ_m.
pub(crate) fn product(ring: &Ring, a: &[BigInt], b: &[BigInt]) -> Vec<BigInt> {
    let (index, integers) = (ring.ring_index(), Integers::new());
    if index.is_real() {
        // An element has −a_j at X^(2n−j).
        let whole = |a: &[BigInt]| -> Vec<BigInt> {
            let mirrored = a[1..].iter().rev().map(|x| -x);
            a.iter().cloned().chain([BigInt::zero()]).chain(mirrored).collect()
        };
        return negacyclic(&whole(a), &whole(b))[..a.len()].to_vec();
    }
    if index.is_power_of_two() {
        return negacyclic(a, b);
    }
    let [a, b] = [a, b].map(|x| index.power_from_powerful(&integers, x).unwrap());
    let mut c = vec![BigInt::zero(); a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        b.iter().enumerate().for_each(|(j, y)| c[i + j] += x * y);
    }
    index.powerful_from_power(&integers, &index.remainder(&integers, c))
}

/// Returns the quotient ⌊num/den⌉, a half rounding up.
pub(crate) fn round(num: &BigInt, den: &BigInt) -> BigInt {
    (num * 2_u32 + den).div_floor(&(den * 2_u32))
}

/// Returns ⌊x·f⌋ for a float f ≥ 0, never above the true product.
pub(crate) fn scale_down(x: &BigInt, f: f64) -> BigInt {
    (x * BigInt::from((f * 2_f64.powi(50)).floor() as u64)) >> 50_u32
}

pub(crate) fn random_below(rng: &mut impl Rng, bound: &BigUint) -> BigUint {
    let digits = (0..bound.bits() / 32 + 3).map(|_| rng.next_u32()).collect();
    BigUint::new(digits) % bound
}

pub(crate) fn random_poly(rng: &mut impl Rng, n: usize, q: &BigUint) -> Vec<BigInt> {
    let q_int = int(q);
    (0..n).map(|_| center(&int(&random_below(rng, q)), &q_int)).collect()
}

/// Returns polynomials of degree below n with random and extreme coefficients modulo q.
pub(crate) fn samples(rng: &mut impl Rng, n: usize, q: &BigUint) -> Vec<Vec<BigInt>> {
    let q_int = int(q);
    let low = -(&q_int / 2_u32);
    let high = (&q_int - 1_u32) / 2_u32;
    let pick = |rng: &mut dyn FnMut() -> u64| match rng() % 5 {
        0 => low.clone(),
        1 => high.clone(),
        2 => BigInt::zero(),
        3 => BigInt::one(),
        _ => -BigInt::one(),
    };
    let mut next = || rng.next_u64();
    let mixed = (0..n).map(|_| pick(&mut next)).collect();
    let mut unit = vec![BigInt::zero(); n];
    unit[n - 1] = BigInt::one();
    vec![
        vec![BigInt::zero(); n],
        unit,
        vec![low.clone(); n],
        vec![high.clone(); n],
        (0..n).map(|i| if i % 2 == 0 { low.clone() } else { high.clone() }).collect(),
        mixed,
        random_poly(rng, n, q),
        random_poly(rng, n, q),
    ]
}

pub(crate) fn norm(a: &[BigInt]) -> BigInt {
    a.iter().map(Signed::abs).max().unwrap_or_default()
}

/// Returns the polynomial with the given coefficients, in evaluation form.
pub(crate) fn evaluated(ring: &Ring, a: &[BigInt]) -> Poly<Evaluation> {
    ring.to_evaluation(ring.from_integers(a).unwrap()).unwrap()
}

/// Packs a half of a key; a surplus polynomial is packed as if it were the last.
pub(crate) fn kept(gadget: &Gadget, half: &[Poly<Evaluation>]) -> Result<Vec<PackedPoly>, RingError> {
    let last = gadget.digit_count() - 1;
    half.iter().enumerate().map(|(i, part)| gadget.pack_part(part.clone(), i.min(last))).collect()
}

/// Returns ⟨decompose(c), key⟩ for both halves of a key, divided by P.
pub(crate) fn switched(
    ring: &Ring,
    gadget: &Gadget,
    c: &Poly<Coefficient>,
    key: [&[Poly<Evaluation>]; 2],
) -> Result<[Poly<Evaluation>; 2], RingError> {
    let [first, second] = key;
    let key = [&kept(gadget, first)?[..], &kept(gadget, second)?];
    gadget.switch(SwitchInput::Values(&ring.to_evaluation(c.clone())?), Addends::NONE, key, gadget.level(), 1)
}

/// Returns the coefficients of a polynomial as centred integers.
pub(crate) fn integers(ring: &Ring, a: Poly<Evaluation>) -> Vec<BigInt> {
    ring.to_integers(&ring.to_coefficient(a).unwrap()).unwrap()
}

/// Returns rings of degree n over residues, for every size of moduli.
pub(crate) fn residue_rings(n: usize) -> Vec<Ring> {
    use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below, primes_with_bits};
    let m = 2 * n as u64;
    let bits = |bits, count| primes_with_bits(bits, m, count).unwrap();
    let smallest: Vec<u64> = (1..).map(|i| i * m + 1).filter(|&p| sunzi_math::is_prime(p)).take(3).collect();
    let mixed = [smallest[..1].to_vec(), bits(62, 1), bits(48, 1), bits(20, 1)].concat();
    let lists = [
        primes_below(DEFAULT_PRIME_BOUND, m, 1).unwrap(),
        primes_below(DEFAULT_PRIME_BOUND, m, 4).unwrap(),
        smallest,
        bits(30, 3),
        bits(49, 2),
        bits(55, 3),
        bits(60, 2),
        bits(62, 3),
        mixed,
    ];
    lists.iter().map(|list| stored(Ring::new(m, list).unwrap(), Storage::Words)).collect()
}

/// Returns rings over residues, with indices that are not powers of two: prime, prime power, several factors,
/// even; and real rings.
pub(crate) fn general_rings() -> Vec<Ring> {
    use sunzi_math::{DEFAULT_PRIME_BOUND, RingIndex, primes_below, primes_with_bits};
    let mut rings = Vec::new();
    let indices = [31, 45, 60, 85, 105].map(RingIndex::new);
    for index in indices.into_iter().chain([64, 128].map(RingIndex::real)) {
        let index = index.unwrap();
        let order = Ring::root_order(&index).unwrap();
        let mixed = [30, 49, 62].map(|bits| primes_with_bits(bits, order, 1).unwrap()).concat();
        for moduli in [primes_below(DEFAULT_PRIME_BOUND, order, 3).unwrap(), mixed] {
            rings.push(stored(Ring::new(&index, &moduli).unwrap(), Storage::Words));
        }
    }
    rings
}

/// Returns rings whose words take several blocks, the last of them whole and shorter.
pub(crate) fn long_rings() -> [Ring; 2] {
    use sunzi_math::{RingIndex, primes_below};
    [1 << 14, 6561].map(|index| {
        let order = Ring::root_order(RingIndex::new(index).unwrap()).unwrap();
        Ring::new(index, &primes_below(1 << 49, order, 3).unwrap()).unwrap()
    })
}

/// Returns the big-integer ring of equal degree and moduli.
pub(crate) fn twin(ring: &Ring) -> Ring {
    let products = (1..=ring.level()).map(|level| ring.at_level(level).unwrap().modulus().clone());
    let mut below = BigUint::one();
    let moduli: Vec<BigUint> = products.map(|q| &q / std::mem::replace(&mut below, q.clone())).collect();
    stored(BigRing::with_chain(ring.ring_index(), &moduli).unwrap(), Storage::Big)
}

/// Returns the ring over equal residues that computes with multi-precision integers.
pub(crate) fn multi_precision(ring: &Ring) -> Ring {
    stored(MultiPrecision::over(ring), Storage::MultiPrecision)
}

/// A scaler at its highest level, where every multiplication lifts a right operand as it is.
pub(crate) trait TopLevel: ScalerBackend {
    fn top(&self) -> usize {
        *self.levels().end()
    }

    fn wide_top(&self) -> Ring {
        self.wide(self.top()).unwrap()
    }

    fn lift(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        self.extend(a, Side::Right, self.top())
    }

    fn scale_top(&self, a: Poly<Evaluation>) -> Result<Poly<Coefficient>, RingError> {
        self.scale(a, self.top())
    }
}

impl<S: ScalerBackend + ?Sized> TopLevel for S {}

/// Returns the distance of y from x/d modulo q.
pub(crate) fn distance(y: &BigInt, x: &BigInt, d: &BigInt, q: &BigInt) -> f64 {
    let difference = center(&(y * d - x), &(d * q)).abs();
    num_traits::ToPrimitive::to_f64(&((difference << 60_u32) / d)).unwrap() / 60_f64.exp2()
}

/// Returns the divisor of scalings at a level: P where operands are switched, else q.
pub(crate) fn divisor(ring: &Ring, scaler: &Scaler, level: usize) -> BigInt {
    let base = int(ring.at_level(level).unwrap().modulus());
    match scaler.bounds().switching {
        Some(_) => int(scaler.wide(level).unwrap().modulus()) / base,
        None => base,
    }
}

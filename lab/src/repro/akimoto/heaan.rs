//! HEAAN with big integers modulo powers of two, the baseline of `[AS19]`: the operations of Table 1 at the highest level.

use std::time::Duration;

use num_bigint::BigInt;
use num_traits::Zero;
use rand_core::CryptoRng;
use sunzi_big::{Binary, BinaryProducts, BinaryValues};
use sunzi_rlwe::randomness;

use super::printed::{DEPTH, FIRST_BITS, SCALE_BITS};
use super::subject::OPERATIONS;
use crate::repro::{Budget, LabError, Result, Timed, alternate_timed, timed};
use crate::subjects::strategies::Operation;

/// Hamming weight h of the secret in `[AS19, 5]`.
const WEIGHT: usize = 64;
/// Bits of log2 n and the signs in a sum of products.
const MARGIN: u64 = 20;
/// The constant of CMult at its scale of 2^55.
const CONSTANT: u64 = 5 << (SCALE_BITS - 3);
/// Number of terms of a message, whose product with another is known without transforms.
const TERMS: usize = 8;

/// A ciphertext (b, a) of HEAAN: b + a·s is the message.
type Ciphertext = [Binary; 2];

/// A message of few terms: exponents and coefficients.
type Message = Vec<(usize, BigInt)>;

/// Keys and operands of HEAAN at level L = 32.
struct Subject {
    degree: usize,
    /// log2 Q_L.
    bits: u64,
    /// Products of ciphertexts, of a ciphertext and a key, and of a ciphertext and the secret.
    tensor: BinaryProducts,
    switch: BinaryProducts,
    phase: BinaryProducts,
    secret: BinaryValues,
    relinearization: [BinaryValues; 2],
    rotation: [BinaryValues; 2],
    messages: [Message; 2],
    operands: [Ciphertext; 2],
    product: Ciphertext,
}

/// Median milliseconds of the operations of Table 1 of `[AS19]` in HEAAN at N = 2^`log2_degree`, on the threads of the current pool.
pub(super) fn operations(log2_degree: u32, budget: Budget) -> Result<Vec<f64>> {
    let subject = Subject::new(log2_degree)?;
    let mut contenders: Vec<Timed<'_>> = Vec::new();
    for (operation, name) in OPERATIONS {
        let subject = &subject;
        contenders.push(Box::new(move || subject.time(operation, name)));
    }
    Ok(alternate_timed(budget, &mut contenders)?.iter().map(|times| times.median_ms()).collect())
}

impl Subject {
    fn new(log2_degree: u32) -> Result<Self> {
        let (degree, m) = (1_usize << log2_degree, 2_u64 << log2_degree);
        let bits = u64::from(FIRST_BITS) + u64::from(SCALE_BITS) * DEPTH as u64;
        let mut rng = randomness::from_os()?;
        // Keys are modulo Q_L².
        let wide = BinaryProducts::new(m, 2 * bits, 2 * bits + MARGIN)?;
        let coefficients = secret(degree, &mut rng);
        let of_secret = wide.values(&Binary::from_integers(&coefficients, 2 * bits))?;
        let square = {
            let mut square = of_secret.clone();
            wide.multiply(&mut square, &of_secret)?;
            wide.integers(square, 2 * bits)?
        };
        let rotated = Binary::from_integers(&coefficients, 2 * bits).automorphism(5);
        let switch = BinaryProducts::new(m, bits, 3 * bits + MARGIN)?;
        let phase = BinaryProducts::new(m, bits, bits + MARGIN)?;
        let keys = BinaryProducts::new(m, 2 * bits, 3 * bits + MARGIN)?;
        let mut key = |source: &Binary| -> Result<[BinaryValues; 2]> {
            let scaled: Vec<BigInt> = source.to_integers().into_iter().map(|c| c << bits).collect();
            let pair = encrypt(&wide, &of_secret, &Binary::from_integers(&scaled, 2 * bits), &mut rng)?;
            let [b, a] = pair.each_ref().map(|half| keys.values(half));
            Ok([b?, a?])
        };
        let (relinearization, rotation) = (key(&square)?, key(&rotated)?);
        let secret = phase.values(&Binary::from_integers(&coefficients, bits))?;
        let messages = [message(degree, &mut rng), message(degree, &mut rng)];
        let [left, right] = &messages;
        let mut encrypted =
            |message: &Message| encrypt(&phase, &secret, &polynomial(degree, bits, message), &mut rng);
        let operands = [encrypted(left)?, encrypted(right)?];
        let tensor = BinaryProducts::new(m, bits, 2 * bits + MARGIN)?;
        let product = operands.clone();
        let mut subject = Self {
            degree,
            bits,
            tensor,
            switch,
            phase,
            secret,
            relinearization,
            rotation,
            messages,
            operands,
            product: product[0].clone(),
        };
        subject.product = subject.multiply()?;
        Ok(subject)
    }

    /// The product of both operands, relinearised.
    fn multiply(&self) -> Result<Ciphertext> {
        let [[b, a], [d, c]] =
            self.operands.each_ref().map(|pair| pair.each_ref().map(|half| self.tensor.values(half)));
        let (b, a, d, c) = (b?, a?, d?, c?);
        let product = |x: &BinaryValues, y: &BinaryValues| {
            let mut product = x.clone();
            self.tensor.multiply(&mut product, y)?;
            Ok::<_, LabError>(product)
        };
        let mut middle = product(&a, &d)?;
        self.tensor.add(&mut middle, &product(&b, &c)?)?;
        let [low, middle, high] = [product(&b, &d)?, middle, product(&a, &c)?]
            .map(|values| self.tensor.integers(values, self.bits));
        let [b, a] = self.switched(&high?, &self.relinearization)?;
        Ok([b.add(&low?)?, a.add(&middle?)?])
    }

    /// A polynomial times the secret of a key, as a ciphertext.
    fn switched(&self, source: &Binary, key: &[BinaryValues; 2]) -> Result<Ciphertext> {
        let values = self.switch.values(source)?;
        let half = |key: &BinaryValues| {
            let mut product = values.clone();
            self.switch.multiply(&mut product, key)?;
            Ok::<_, LabError>(self.switch.integers(product, 2 * self.bits)?.shift_right(self.bits))
        };
        let [b, a] = key;
        Ok([half(b)?, half(a)?])
    }

    fn apply(&self, operation: Operation) -> Result<Ciphertext> {
        let [[b, a], [d, c]] = &self.operands;
        match operation {
            Operation::Add => Ok([b.add(d)?, a.add(c)?]),
            Operation::Constant { .. } => Ok([b.times(CONSTANT), a.times(CONSTANT)]),
            Operation::Multiply => self.multiply(),
            Operation::Rescale => Ok(self.product.each_ref().map(|half| half.shift_right(SCALE_BITS.into()))),
            Operation::Rotate => {
                let [switched, half] = self.switched(&a.automorphism(5), &self.rotation)?;
                Ok([switched.add(&b.automorphism(5))?, half])
            }
        }
    }

    /// Expected result of an operation, and log2 of the error that it may have.
    fn expected(&self, operation: Operation) -> (Message, u32) {
        let [left, right] = &self.messages;
        match operation {
            Operation::Add => (left.iter().chain(right).cloned().collect(), 12),
            Operation::Constant { .. } => (left.iter().map(|(at, c)| (*at, c * CONSTANT)).collect(), 66),
            Operation::Multiply => (self.product_of_messages(), 72),
            Operation::Rescale => (self.product_of_messages(), 20),
            Operation::Rotate => (left.iter().map(|(at, c)| (at * 5, c.clone())).collect(), 12),
        }
    }

    fn product_of_messages(&self) -> Message {
        let [left, right] = &self.messages;
        left.iter().flat_map(|(i, x)| right.iter().map(move |(j, y)| (i + j, x * y))).collect()
    }

    /// Whether the phase of a ciphertext is the expected one.
    fn is_right(&self, operation: Operation, [b, a]: &Ciphertext) -> Result<bool> {
        let (terms, tolerance) = self.expected(operation);
        let mut expected = vec![BigInt::zero(); self.degree];
        for (at, c) in terms {
            let negative = at / self.degree % 2 == 1;
            expected
                .iter_mut()
                .skip(at % self.degree)
                .take(1)
                .for_each(|x| *x += if negative { -&c } else { c.clone() });
        }
        // A rescaled ciphertext is raised to the bits of the secret's table, as any multiple of 2^55 more would be.
        let missing = self.bits - a.bits();
        let raised = |half: &Binary| {
            let scaled: Vec<BigInt> = half.to_integers().into_iter().map(|c| c << missing).collect();
            Binary::from_integers(&scaled, self.bits)
        };
        let [b, a] = [raised(b), raised(a)];
        let mut values = self.phase.values(&a)?;
        self.phase.multiply(&mut values, &self.secret)?;
        let phase = self.phase.integers(values, self.bits)?.add(&b)?.to_integers();
        let scale = if matches!(operation, Operation::Rescale) { SCALE_BITS } else { 0 };
        Ok(phase.iter().zip(&expected).all(|(got, expected)| {
            let error = (got >> missing) - (expected >> scale);
            error.bits() <= u64::from(tolerance)
        }))
    }

    /// Time of one operation; its result is decrypted and must be right.
    fn time(&self, operation: Operation, name: &'static str) -> Result<Duration> {
        let (taken, result) = timed(|| self.apply(operation))?;
        LabError::unless(self.is_right(operation, &result)?, name, "HEAAN", self.degree)?;
        Ok(taken)
    }
}

/// A secret of 64 coefficients ±1 at most.
fn secret(degree: usize, rng: &mut dyn CryptoRng) -> Vec<BigInt> {
    let mut coefficients = vec![BigInt::zero(); degree];
    for _ in 0..WEIGHT.min(degree / 2) {
        let random = rng.next_u64();
        let sign = if random >> 63 == 1 { 1 } else { -1 };
        coefficients.iter_mut().skip(random as usize % degree).take(1).for_each(|c| *c = BigInt::from(sign));
    }
    coefficients
}

/// An encryption (−a·s + e + m, a) modulo the bits of `products`, whose secret has these values.
fn encrypt(
    products: &BinaryProducts,
    secret: &BinaryValues,
    message: &Binary,
    rng: &mut dyn CryptoRng,
) -> Result<Ciphertext> {
    let (bits, degree) = (message.bits(), message.degree());
    let a = Binary::uniform(degree, bits, rng);
    let mut values = products.values(&a)?;
    products.multiply(&mut values, secret)?;
    // Errors of deviation 3.2: differences of 21 coins.
    let coins = |rng: &mut dyn CryptoRng| i64::from((rng.next_u64() & ((1 << 21) - 1)).count_ones());
    let error: Vec<BigInt> = (0..degree).map(|_| BigInt::from(coins(rng) - coins(rng))).collect();
    let b = products.integers(values, bits)?.negated();
    Ok([b.add(message)?.add(&Binary::from_integers(&error, bits))?, a])
}

/// A message of a few terms with coefficients near 2^55.
fn message(degree: usize, rng: &mut dyn CryptoRng) -> Message {
    let mut term = || (rng.next_u64() as usize % degree, BigInt::from(rng.next_u64() >> (64 - SCALE_BITS)));
    (0..TERMS).map(|_| term()).collect()
}

fn polynomial(degree: usize, bits: u64, message: &Message) -> Binary {
    let mut coefficients = vec![BigInt::zero(); degree];
    for (at, c) in message {
        coefficients.iter_mut().skip(*at).take(1).for_each(|x| *x += c);
    }
    Binary::from_integers(&coefficients, bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_of_the_baseline_decrypts_and_a_wrong_result_is_seen() {
        let subject = Subject::new(8).unwrap();
        for (operation, name) in OPERATIONS {
            subject.time(operation, name).unwrap();
            let mut wrong = subject.apply(operation).unwrap();
            let [b, _] = &mut wrong;
            // A bit of one coefficient above what the operation may err by.
            let mut error = vec![BigInt::zero(); subject.degree];
            error[3] = BigInt::from(1) << 80;
            *b = b.add(&Binary::from_integers(&error, b.bits())).unwrap();
            assert!(!subject.is_right(operation, &wrong).unwrap(), "{name}");
        }
    }
}

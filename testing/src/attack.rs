//! Attempts to break both noise bounds of BFV: dependent operands, structured messages, every kind of operation.

use sunzi_bfv::BfvError;

use crate::{NoiseMeter, Tracked};

type Outcome = Result<(), BfvError>;

fn messages(n: usize, t: u64, seed: u64) -> Vec<Vec<u64>> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(state) * u128::from(t)) >> 64) as u64
    };
    vec![
        vec![t / 2; n],
        vec![t.div_ceil(2) % t; n],
        (0..n).map(|i| if i % 2 == 0 { t / 2 } else { t - t / 2 } % t).collect(),
        vec![0; n],
        vec![1; n],
        (0..n).map(|_| next()).collect(),
    ]
}

/// Attacks the noise bounds by sums of one ciphertext with itself, and of many.
fn sums(b: &mut NoiseMeter, x: &Tracked, y: &Tracked) -> Outcome {
    let mut doubled = x.clone();
    let mut sum = b.add(x, y)?;
    b.judge("x + y", &sum)?;
    let difference = b.sub(x, x)?;
    b.judge("x - x", &difference)?;
    let negated = b.sub(&difference, x)?;
    let twice = b.sub(&negated, x)?;
    b.judge("-2x", &twice)?;
    for _ in 0..12 {
        doubled = b.add(&doubled, &doubled)?;
        sum = b.add(&sum, x)?;
        b.judge("2^k x", &doubled)?;
        b.judge("y + k x", &sum)?;
    }
    let scaled = b.multiply_scalar(x, 3)?;
    let both = b.add(&scaled, x)?;
    b.judge("3x + x", &both)?;
    let shifted = b.add_plain(&both, &x.message)?;
    b.judge("4x + m", &shifted)
}

/// Attacks the noise bounds by repeated products with the plaintexts whose 1-norm is largest, and mixtures of
/// their results.
fn plain_products(b: &mut NoiseMeter, x: &Tracked, plain: &[Vec<u64>]) -> Outcome {
    for m in plain {
        let mut product = x.clone();
        for _ in 0..4 {
            product = b.multiply_plain(&product, m)?;
            b.judge("x m^k", &product)?;
            let mixed = b.add(&product, x)?;
            b.judge("x m^k + x", &mixed)?;
        }
        let dense = b.multiply_plain(x, m)?;
        let square = b.multiply(&dense, &dense)?;
        b.judge("(x m)^2", &square)?;
    }
    Ok(())
}

/// Attacks the noise bounds by sums over all rotations, and products with own rotations.
fn rotations(b: &mut NoiseMeter, x: &Tracked) -> Outcome {
    let mut sum = x.clone();
    let mut product = x.clone();
    for k in b.exponents.clone() {
        let rotated = b.automorphism(&sum, k)?;
        sum = b.add(&sum, &rotated)?;
        b.judge("trace", &sum)?;
        let turned = b.automorphism(&product, k)?;
        product = b.multiply(&product, &turned)?;
        b.judge("norm", &product)?;
    }
    let square = b.multiply(&sum, &sum)?;
    b.judge("trace^2", &square)?;
    let mixed = b.multiply(&sum, x)?;
    b.judge("trace x", &mixed)?;
    for k in b.exponents.clone() {
        let turned = b.automorphism(x, k)?;
        let back = b.automorphism(&turned, k)?;
        b.judge("twice turned", &back)?;
    }
    Ok(())
}

/// Attacks the noise bounds by deep products: squares, powers by one factor, sums in between, without
/// relinearisation.
fn products(b: &mut NoiseMeter, x: &Tracked, y: &Tracked) -> Outcome {
    let (mut square, mut power, mut mixed) = (x.clone(), x.clone(), b.add(x, y)?);
    for _ in 0..8 {
        square = b.multiply(&square, &square)?;
        b.judge("x^(2^k)", &square)?;
        power = b.multiply(&power, x)?;
        b.judge("x^k", &power)?;
        mixed = b.multiply(&mixed, &mixed)?;
        mixed = b.sub(&mixed, x)?;
        b.judge("z^2 - x", &mixed)?;
    }
    let mut wide = b.multiply_unrelinearized(x, y)?;
    for _ in 0..5 {
        b.judge("three parts", &wide)?;
        wide = b.add(&wide, &wide)?;
    }
    let sum = b.add(&wide, x)?;
    b.judge("three parts + two", &sum)?;
    let two = b.relinearize(&sum)?;
    b.judge("relinearised", &two)
}

/// Attacks the noise bounds by ciphertexts without noise, whose parts are not uniform: x·0 + m and x − x + m.
fn transparent(b: &mut NoiseMeter, x: &Tracked, plain: &[Vec<u64>]) -> Outcome {
    for m in plain {
        let zero = b.multiply_scalar(x, 0)?;
        let bare = b.add_plain(&zero, m)?;
        b.judge("0x + m", &bare)?;
        let product = b.multiply(&bare, x)?;
        b.judge("(0x + m) x", &product)?;
        let again = b.multiply(&bare, &product)?;
        b.judge("(0x + m)^2 x", &again)?;
        let none = b.multiply(&bare, &bare)?;
        b.judge("(0x + m)^2", &none)?;
        let dense = b.multiply_plain(x, m)?;
        let dense = b.multiply(&dense, &bare)?;
        b.judge("(0x + m) (x m)", &dense)?;
    }
    Ok(())
}

/// Tries to break both noise bounds of a context: dependent operands, structured messages, products of every kind.
///
/// # Errors
/// Every error of BFV's evaluator.
///
/// # Panics
/// Panics if a noise bound breaks.
pub fn attack(b: &mut NoiseMeter, seed: u64) -> Outcome {
    let plain = messages(b.context.degree(), b.context.plain_modulus(), seed);
    let first = plain.get(..3).unwrap_or_default();
    for (i, (message, next)) in plain.iter().zip(plain.iter().cycle().skip(1)).enumerate() {
        let x = b.encrypt(message.clone(), i % 2 == 0)?;
        let y = b.encrypt(next.clone(), i % 3 == 0)?;
        b.judge(if i % 2 == 0 { "fresh, public" } else { "fresh, secret" }, &x)?;
        sums(b, &x, &y)?;
        products(b, &x, &y)?;
        rotations(b, &x)?;
        plain_products(b, &x, first)?;
        transparent(b, &x, first)?;
    }
    Ok(())
}

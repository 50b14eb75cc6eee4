//! The algorithms of BEHZ 2016 that a scaler or a gadget may be asked for, each against the default one.

use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below, primes_with_bits};
use sunzi_ring::{
    Addends, Auxiliary, Decryption, Domain, Gadget, GadgetOptions, MTilde, Multiplication, PackedPoly, Poly,
    Precision, Ring, RingError, Scaler, ScalerOptions, Side, SwitchInput,
};

use crate::alternate;
use crate::bench::{Options, Result, Row, check};

/// log2 of the ring degree at which variants are timed unless others are asked for.
pub const LOG_DEGREES: std::ops::RangeInclusive<u32> = 13..=13;
/// Plaintext moduli of the variants: a power of two, for which [BEHZ16, Lemma 3] needs no modulus, and a prime.
const PLAIN_MODULI: [u64; 2] = [1 << 10, 65_537];
/// The plaintext modulus with which products are scaled.
const EXTENDED: u64 = 65_537;

/// Times every variant at every degree asked for, on one thread.
///
/// # Errors
/// A degree for which there are no moduli; threads that do not start.
pub fn run(options: &Options) -> Result<Vec<Row>> {
    options.rows(LOG_DEGREES, |log_n| {
        let (m, mut rows) = (2_u64 << log_n, Vec::new());
        for moduli in [
            primes_below(DEFAULT_PRIME_BOUND, m, 4)?,
            primes_with_bits(30, m, 13)?,
            primes_with_bits(62, m, 6)?,
        ] {
            let ring = Ring::new(m, &moduli)?;
            for t in PLAIN_MODULI {
                rows.extend(decryptions(&ring, t, options.rounds)?);
            }
            rows.extend(extensions(&ring, options.rounds)?);
            rows.extend(switches(&ring, options.rounds)?);
        }
        Ok(rows)
    })
}

/// Name and scaler options of a variant; the first is the default.
type Variant = (&'static str, ScalerOptions);

fn decryption_forms(t: u64) -> Vec<Variant> {
    let with = |decryption| ScalerOptions { decryption, ..ScalerOptions::default() };
    let float = |precision| with(Decryption::FloatingPoint { precision });
    let mut all = vec![
        ("gamma", ScalerOptions::default()),
        ("power of two", with(Decryption::PowerOfTwo { log2_gamma: None })),
        ("double", float(Precision::Double)),
        ("fixed point", float(Precision::Fixed128)),
        ("digits", with(Decryption::DigitDecomposition)),
    ];
    if t % 2 == 1 {
        all.push(("gamma = 2^8", with(Decryption::Gamma { gamma: Some(256) })));
    }
    all
}

fn decryptions(ring: &Ring, t: u64, rounds: usize) -> Result<Vec<Row>> {
    let message = check::residues(ring.degree(), t, 5);
    let scaled = ring.scale_plaintext(&message, t)?;
    let variants = decryption_forms(t);
    let right = |scaler: &Scaler| scaler.decrypt(&scaled).is_ok_and(|found| found == message);
    let what = format!("decrypt, t = {t}");
    let time = |scaler: &Scaler| scaler.decrypt(&scaled);
    compare(ring, &what, &scalers(ring, t, &variants)?, right, time, rounds)
}

fn extensions(ring: &Ring, rounds: usize) -> Result<Vec<Row>> {
    let standard = ScalerOptions { multiplication: Multiplication::Behz, ..ScalerOptions::default() };
    let variants = [
        ("m~ = 2^16", standard),
        ("m~ = 2^8", ScalerOptions { m_tilde: MTilde::Bits8, ..standard }),
        ("no m~", ScalerOptions { m_tilde: MTilde::None, ..standard }),
        ("like modulus", ScalerOptions { auxiliary: Auxiliary::LikeModulus, ..standard }),
    ];
    let a = some(ring)?;
    let round_trip = |scaler: &Scaler| {
        let top = *scaler.levels().end();
        scaler.extend(&a, Side::Right, top).and_then(|a| scaler.scale(a, top))
    };
    // ⌊t·a'/q⌉ + b is as small as the lift a' and the error b say, and otherwise as large as q.
    let right = |scaler: &Scaler| {
        let bound =
            EXTENDED as f64 * (1.0 + scaler.bounds().overflow) / 2.0 + scaler.bounds().scale_error + 1.0;
        let back = round_trip(scaler).and_then(|scaled| ring.to_integers(&scaled));
        back.is_ok_and(|all| {
            all.iter().all(|x| i64::try_from(x).is_ok_and(|x| x.unsigned_abs() as f64 <= bound))
        })
    };
    let time = |scaler: &Scaler| round_trip(scaler);
    compare(ring, "extend and scale", &scalers(ring, EXTENDED, &variants)?, right, time, rounds)
}

/// A polynomial with coefficients that look random.
fn some<D: Domain>(ring: &Ring) -> Result<Poly<D>> {
    let (storage, n) = (ring.words()?, ring.degree());
    let words = storage.basis().values().iter().flat_map(|&q| check::residues(n, q, q));
    Ok(storage.poly_from_residues(&words.collect::<Vec<u64>>())?)
}

fn scalers(ring: &Ring, t: u64, variants: &[Variant]) -> Result<Vec<(&'static str, Scaler)>> {
    variants.iter().map(|(name, options)| Ok((*name, ring.scaler(t, options)?))).collect()
}

/// A gadget and half of a key that gives back the polynomial that is decomposed.
struct Switch {
    gadget: Gadget,
    key: Vec<PackedPoly>,
}

/// Times the digits of a key switch and their inner products with both halves of a key.
fn switches(ring: &Ring, rounds: usize) -> Result<Vec<Row>> {
    let storage = ring.words()?;
    let k = storage.basis().len();
    let bits = storage.basis().moduli().iter().map(|q| q.bits()).max().unwrap_or(0);
    let (two_digits, half) = (Some(bits.div_ceil(2)), k / 2);
    let one = vec![1; ring.degree() * k];
    let one = storage.poly_from_residues(&one)?;
    let switch = |(name, radix_bits, dropped_limbs)| {
        let gadget = ring.gadget(&GadgetOptions { radix_bits, dropped_limbs, ..GadgetOptions::default() })?;
        let part = |i| {
            let [part, _] = gadget.key_part([ring.zero(), ring.zero()], &one, i)?;
            gadget.pack_part(part, i)
        };
        let key = (0..gadget.digit_count()).map(part).collect::<Result<_, _>>()?;
        Ok((name, Switch { gadget, key }))
    };
    let variants = [
        ("whole residues", None, 0),
        ("two digits a residue", two_digits, 0),
        ("half of the limbs", None, half),
        ("both", two_digits, half),
    ];
    let all = variants.into_iter().map(switch).collect::<Result<Vec<_>>>()?;
    let c = some(ring)?;
    let evaluated = ring.to_evaluation(c.clone())?;
    let zero = ring.zero();
    let product = |switch: &Switch| {
        let (input, added) = (SwitchInput::Coefficients(&c), Addends::Coefficients([&zero, &zero]));
        switch.gadget.switch(input, added, [&switch.key, &switch.key], switch.gadget.level(), 1)
    };

    let right = |switch: &Switch| {
        product(switch).is_ok_and(|halves| halves.iter().all(|half| half.words() == evaluated.words()))
    };
    let time = |switch: &Switch| product(switch);
    compare(ring, "key switch", &all, right, time, rounds)
}

/// Lets variants take turns and compares all with the first; also the first with itself, for its time.
fn compare<T, R>(
    ring: &Ring,
    what: &str,
    variants: &[(&'static str, T)],
    right: impl Fn(&T) -> bool,
    time: impl Fn(&T) -> Result<R, RingError>,
    rounds: usize,
) -> Result<Vec<Row>> {
    let mut calls: Vec<_> = variants.iter().map(|(_, variant)| || time(variant)).collect();
    let series = alternate::take_turns(rounds, &mut calls)?;
    let (Some((default, _)), Some(first)) = (variants.first(), series.first()) else { return Ok(Vec::new()) };
    let (basis, isa) = (ring.words()?.basis(), ring.words()?.isa().to_string());
    let bits = basis.moduli().iter().map(|q| q.bits()).max().unwrap_or(0);
    let rows = variants.iter().zip(&series).map(|((name, variant), ours)| {
        let row = Row {
            name: format!("{what}: {name}, {} x {bits} bits", basis.len()),
            n: ring.degree(),
            log_q: ring.modulus().bits() as f64,
            isa: Some(isa.clone()),
            correct: right(variant),
            rounds,
            ..Row::default()
        };
        row.against(ours, (*default).to_owned(), first)
    });
    Ok(rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_is_timed_and_right() {
        let options = Options { rounds: 1, log_n: vec![10], ..Options::default() };
        let rows = run(&options).unwrap();
        assert_eq!(rows.len(), 3 * (5 + 6 + 4 + 4));
        assert!(rows.iter().all(|row| row.correct && row.ratio.is_some()), "{rows:?}");
    }
}

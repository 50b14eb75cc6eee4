//! Numbers that the text of `[TSKJ20]` states, from the measurements of its figures.

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::One;
use sunzi_fermat::{Component, FermatModulus};
use sunzi_rlwe::Security;
use sunzi_rlwe::security::max_log2_modulus;

use super::figures::{MULTIPLICATION, Measured, Point};
use super::subject::{BOTH, VERSIONS};
use super::{Options, Part};
use crate::repro::{Result, Row, Rule, Table, Value};

/// Figures of decryption and of multiplication, in the order of their sweeps.
const DECRYPTION: [Part; 3] = [Part::Figure2, Part::Figure6, Part::Figure8];
const PRODUCT: [Part; 3] = [Part::Figure5, Part::Figure7, Part::Figure9];

/// Makes the table of all claims.
pub(super) fn compute(options: &Options, measured: &[Measured]) -> Result<Table> {
    let mut rows = others().to_vec();
    rows.extend(lemmas(1 << options.most_bits.clamp(128, 16_384).ilog2())?);
    rows.extend(savings(measured));
    rows.extend(rounds(measured));
    rows.extend(starts(measured));
    rows.extend(maxima(measured));
    rows.extend(best(measured));
    rows.extend(scaling(measured));
    rows.extend(security());
    Ok(Table::new("Text", "numbers that the text states, from the measurements of the figures", rows))
}

/// A row for a claim; the reason stands only where the claim does not hold.
fn claim<P: Into<Value>, O: Into<Value>>(
    section: &'static str,
    claim: &'static str,
    (paper, ours, rule): (P, Option<O>, Rule),
    reason: impl Into<String>,
) -> Row {
    let row = Row::default().key("section", section).key("claim", claim);
    let row = row.judged("value", Some(paper), ours, rule);
    if row.holds() { row } else { row.because(Some(reason)) }
}

fn points(measured: &[Measured], part: Part) -> &[Point] {
    measured.iter().find(|one| one.plot.part == part).map_or(&[], |one| &one.points)
}

/// Claims about the work of others, which another reproduction has.
fn others() -> [Row; 2] {
    let reason = "said of [BEHZ16] against multi-precision arithmetic: see `cargo lab repro behz`";
    [("RNS over multi-precision, decryption, up to x", 20_u64), ("the same, multiplication, x", 4)]
        .map(|(name, times)| claim("2.3", name, (times, None::<u64>, Rule::Larger(1.15)), reason))
}

/// Lemmas 1 to 3 as they are printed: for how many of the k components they hold.
fn lemmas(bits: usize) -> Result<Vec<Row>> {
    let modulus = FermatModulus::new(bits)?;
    let (q, components) = (modulus.value(), modulus.components());
    let k = components.len();
    let values: Vec<BigUint> = components.iter().map(|component| component.value()).collect();
    let coprime =
        |i: usize| values.iter().take(i).all(|other| values.get(i).is_some_and(|v| v.gcd(other).is_one()));
    let whole = values.iter().product::<BigUint>() == q;
    let factors = (0..k).filter(|&i| whole && coprime(i)).count();
    // The paper counts from the largest component, Sunzi from the smallest.
    let holds = |test: fn(&FermatModulus, Component, usize) -> bool| {
        components.iter().enumerate().filter(|&(i, &component)| test(&modulus, component, k - i)).count()
    };
    let f = (bits / 64).ilog2() as usize;
    let last = "the last component needs i = f in place of f + 1";
    let smallest = components.first().map(|component| component.bits());
    Ok(vec![
        claim("3, Lemma 1", "coprime factors, f + 1", (f + 1, Some(factors), Rule::Equal), "not coprime"),
        claim("3.1, Lemma 2", "components with this inverse", (k, Some(holds(inverse)), Rule::Equal), last),
        claim("3.2, Lemma 3", "components with this floor", (k, Some(holds(floor)), Rule::Equal), last),
        claim("4", "bits of the smallest factor", (64_u64, smallest, Rule::Equal), "of another length"),
    ])
}

/// Whether 2^(g/2^i − i) is the inverse of q/q_i modulo q_i `[TSKJ20, Lemma 2]`.
fn inverse(modulus: &FermatModulus, component: Component, i: usize) -> bool {
    let value = component.value();
    let exponent = (modulus.bits() >> i).saturating_sub(i);
    ((modulus.value() / &value) << exponent) % value == BigUint::one()
}

/// Whether the floor of `[TSKJ20, Lemma 3]` is right at the ends of the range and between.
fn floor(modulus: &FermatModulus, component: Component, i: usize) -> bool {
    let value = component.value();
    let Some(inverse) = (modulus.value() / &value % &value).modinv(&value) else { return false };
    let b = u32::from(i < modulus.level());
    let between = [&value / 3_u32, &value / 7_u32 * 5_u32, &value - 2_u32, &value - 1_u32];
    let all = (1..40_u32).map(BigUint::from).chain(between);
    all.into_iter().all(|x| &x * &inverse / &value == (x - b) >> i)
}

/// Products saved, in polynomials: what both shortcuts save over what they save in D_RNS.
fn savings(measured: &[Measured]) -> Vec<Row> {
    let saved = |part: Part| {
        let point = points(measured, part).last()?;
        Some(((point.ms(0) - point.ms(BOTH)) / point.saved_by_one(), 1))
    };
    let reason = "times saved over those saved in D_RNS, at the most bits: a whole operation has its data in farther \
                  caches than D_RNS alone, and the differences of times are rough";
    vec![
        claim(
            "4.1, 4.2",
            "products saved in decryption, n k",
            (1_u64, saved(Part::Figure2), Rule::Factor(1.3)),
            reason,
        ),
        claim(
            "4.1 to 4.3",
            "saved in multiplication, 7 n k + n k",
            (8_u64, saved(Part::Figure5), Rule::Factor(1.3)),
            reason,
        ),
    ]
}

fn rounds(measured: &[Measured]) -> [Row; 1] {
    let least = measured.iter().flat_map(|one| &one.points).map(Point::rounds).min();
    let reason = "medians of rounds in which all versions take turns, so that a slow clock slows all of them";
    [claim("5.1", "least iterations of a trial", (1000_u64, least, Rule::Larger(1.0)), reason)]
}

/// The least bits from which on a version is faster than without shortcuts, in all of these plots.
fn faster_from(measured: &[Measured], version: usize, gain: f64) -> Option<usize> {
    let slower = |part: Part| {
        let slow = points(measured, part).iter().rev().take_while(|point| point.gain(version) > gain);
        slow.map(|point| point.bits).min()
    };
    Some(slower(Part::Figure2)?.max(slower(Part::Figure5)?))
}

fn starts(measured: &[Measured]) -> Vec<Row> {
    let reason =
        "the gain is below that in decryption or in multiplication, whose other steps all versions share";
    let row = |name, version, gain, bits: u64| {
        claim("5.2", name, (bits, faster_from(measured, version, gain), Rule::Smaller(1.0)), reason)
    };
    vec![
        row("shifts for multiplications gain from bit(q)", MULTIPLICATION, 1.0, 128),
        row("shifts for reductions gain from bit(q)", 2, 1.0, 1024),
        row("both gain from bit(q)", BOTH, 1.0, 1024),
        row("both gain more than a little (1.1) from bit(q)", BOTH, 1.1, 512),
    ]
}

/// The largest gains: those of a stated point, and those of any point and version.
fn maxima(measured: &[Measured]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (parts, what, most) in
        [(DECRYPTION, "decryption, up to x", 4.48), (PRODUCT, "multiplication, up to x", 14.68)]
    {
        let all = parts.iter().flat_map(|&part| points(measured, part));
        let gains = all.flat_map(|point| (1..=BOTH).map(|version| point.gain(version)));
        let largest = (gains.fold(f64::NAN, f64::max), 2);
        let reason = "the best version at the best point; the table Shifts has what the paper can have timed";
        rows.push(claim("Abstract", what, ((most, 2), Some(largest), Rule::Larger(1.15)), reason));
    }
    for one in measured {
        let Some((degree, bits, times)) = one.plot.printed else { continue };
        let point = one.points.iter().find(|point| (point.degree, point.bits) == (degree, bits));
        let gain = point.map(|point| (point.gain(MULTIPLICATION), 2));
        let reason =
            point.map_or_else(|| "the options leave out this point".to_owned(), |at| one.plot.gap(at));
        let name = match (one.plot.part, DECRYPTION.contains(&one.plot.part)) {
            (Part::Figure2, _) => "decryption, n = 1024, bit(q) = 16384, x",
            (Part::Figure5, _) => "multiplication, n = 1024, bit(q) = 16384, x",
            (Part::Figure6, _) => "decryption, n = 16384, bit(q) = 2048, x",
            (Part::Figure7, _) => "multiplication, n = 16384, bit(q) = 2048, x",
            (_, true) => "decryption, n = 32768, bit(q) = 512, x",
            _ => "multiplication, n = 32768, bit(q) = 512, x",
        };
        rows.push(claim("5.2", name, ((times, 2), gain, Rule::Larger(1.15)), reason));
    }
    rows
}

/// Which version gains most, where the paper says so.
fn best(measured: &[Measured]) -> Vec<Row> {
    let best_of = |part: Part| {
        let point = points(measured, part).last()?;
        let version = (1..=BOTH).max_by(|&a, &b| point.gain(a).total_cmp(&point.gain(b)))?;
        VERSIONS.get(version).copied()
    };
    let reason = "both shortcuts together are one rotation here, without a double-length number";
    let rows = [
        (Part::Figure2, "best in decryption, most bits", MULTIPLICATION),
        (Part::Figure5, "best in multiplication, most bits", MULTIPLICATION),
        (Part::Figure4, "best in relinearisation, most bits", BOTH),
        (Part::Figure6, "best in decryption, largest n", MULTIPLICATION),
        (Part::Figure7, "best in multiplication, largest n", MULTIPLICATION),
        (Part::Figure8, "best in decryption, standard", MULTIPLICATION),
        (Part::Figure9, "best in multiplication, standard", MULTIPLICATION),
    ];
    let row = |(part, name, version): (Part, &'static str, usize)| {
        let printed = VERSIONS.get(version).copied().unwrap_or("none");
        claim("5.2, 6.1", name, (printed, best_of(part), Rule::Equal), reason)
    };
    rows.into_iter().map(row).collect()
}

/// How times grow with n: the factor for a doubled n, and the correlation.
fn scaling(measured: &[Measured]) -> Vec<Row> {
    let doubled = |part: Part| {
        let points = points(measured, part);
        let (first, last) = (points.first()?, points.last()?);
        let doublings = (last.degree as f64 / first.degree as f64).log2();
        (doublings > 0.0).then(|| ((last.ms(BOTH) / first.ms(BOTH)).powf(1.0 / doublings), 2))
    };
    let correlated = |part: Part| {
        let pairs = points(measured, part).iter().map(|point| (point.degree as f64, point.ms(BOTH)));
        Some((correlation(&pairs.collect::<Vec<_>>())?, 3))
    };
    let mut rows = Vec::new();
    for (part, times, close) in [
        (Part::Figure6, "decryption, time for a doubled n, x", "decryption, correlation of time with n"),
        (
            Part::Figure7,
            "multiplication, time for a doubled n, x",
            "multiplication, correlation of time with n",
        ),
    ] {
        let reason = "larger polynomials are in farther caches, and transforms take n log n";
        rows.push(claim("5.2", times, ((2.0, 1), doubled(part), Rule::Factor(1.15)), reason));
        rows.push(claim("6.1", close, ((1.0, 2), correlated(part), Rule::Near(0.01)), reason));
    }
    rows
}

/// Pearson's correlation; none of fewer than two points.
fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < 2 {
        return None;
    }
    let count = pairs.len() as f64;
    let [x, y] = pairs.iter().fold([0.0; 2], |[x, y], pair| [x + pair.0 / count, y + pair.1 / count]);
    let sums = pairs
        .iter()
        .map(|pair| [pair.0 - x, pair.1 - y])
        .fold([0.0; 3], |[xx, xy, yy], [a, b]| [xx + a * a, xy + a * b, yy + b * b]);
    Some(sums[1] / (sums[0] * sums[2]).sqrt())
}

/// The security of the standard parameters by the security table.
fn security() -> Vec<Row> {
    let rows = [
        (13, 128, "security of n = 8192, bit(q) = 128"),
        (14, 256, "security of n = 16384, bit(q) = 256"),
        (15, 512, "security of n = 32768, bit(q) = 512"),
    ];
    let levels = [(256_u64, Security::Bits256), (192, Security::Bits192), (128, Security::Bits128)];
    let row = |(log2, bits, name): (u32, u32, &'static str)| {
        let secure =
            |&&(_, level): &&(u64, Security)| max_log2_modulus(log2, level).is_some_and(|most| most >= bits);
        let level = levels.iter().find(secure).map(|(level, _)| *level);
        let most = max_log2_modulus(log2, Security::Bits256).unwrap_or(0);
        let reason = format!("256 bits allow a modulus of {most} bits at this n");
        claim("5.2", name, (256_u64, level, Rule::Equal), reason)
    };
    rows.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlations_are_those_of_lines() {
        let line = |sign: f64| (0..5).map(|i| (f64::from(i), sign * f64::from(i) + 3.0)).collect::<Vec<_>>();
        assert_eq!(correlation(&line(1.0)), Some(1.0));
        assert_eq!(correlation(&line(-2.0)), Some(-1.0));
        assert!(correlation(&[(1.0, 1.0), (2.0, 3.0), (3.0, 1.0)]).unwrap().abs() < 1e-9);
        assert_eq!(correlation(&[(1.0, 1.0)]), None);
    }

    #[test]
    fn lemmas_fail_for_the_last_component_alone() {
        for bits in [128, 1024, 16_384] {
            let modulus = FermatModulus::new(bits).unwrap();
            let k = modulus.level();
            for (i, &component) in modulus.components().iter().enumerate() {
                assert_eq!(
                    [inverse(&modulus, component, k - i), floor(&modulus, component, k - i)],
                    [i > 0; 2]
                );
            }
        }
    }
}

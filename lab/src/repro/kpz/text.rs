//! What the text of `[KPZ21]` states in numbers, apart from its tables: speed-ups of Figure 1, counts, noise.

use super::figure1::{self, BGV, HPS, LEVELED, LEVELED_48, TRUNKED, Times, Variant};
use super::formulas::corrected;
use super::printed::PLAIN_MODULI;
use super::reference::key_switching::Scheme;
use crate::repro::{Row, Rule, Table};

/// Measured ratios may fall so far below those of the paper.
const SPEED_UP: Rule = Rule::Larger(1.15);

/// The table of the numbers that the text of `[KPZ21]` states.
pub(super) fn table(times: &Times) -> Table {
    let mut rows = speed_ups(times);
    rows.extend(transforms());
    rows.extend(moduli(times.log2_degree()));
    rows.extend(noise());
    rows.extend(digits());
    Table::new("Text", format!("numbers of the text; timings at n = 2^{}", times.log2_degree()), rows)
}

/// Factor up to which a rest counts as explained.
const EXPLAINED: f64 = 1.15;

/// Begins the row of a claim.
fn claim(section: &'static str, claim: &'static str) -> Row {
    Row::default().key("section", section).key("claim", claim)
}

/// Ratio of the times of the deepest multiplications at t of two variants.
fn deepest(times: &Times, t: u64, [slow, fast]: [Variant; 2]) -> Option<f64> {
    let [slow, fast] = [slow, fast].map(|variant| times.of(t, variant).last().copied());
    Some(slow? / fast?)
}

/// Figure 1: leveled BFV against the original, and against BGV.
fn speed_ups(times: &Times) -> Vec<Row> {
    let mut rows = Vec::new();
    let [two, ..] = PLAIN_MODULI;
    for t in PLAIN_MODULI {
        let ratio = deepest(times, t, [HPS, LEVELED]);
        let row = claim("5.4", "Figure 1: leveled BFV is 3 to 4 times as fast as HPS at the greatest depth");
        let row = row.key("t", t).judged("times", Some((3.0, 0)), ratio.map(|one| (one, 2)), SPEED_UP);
        let split = times.of(t, HPS).last().zip(times.of(t, LEVELED).last());
        let reason = split.map(|(hps, leveled)| {
            format!(
                "HPS takes {hps:.1} ms and leveled BFV {leveled:.1} ms: what is not leveled, key switching and the \
                 first lifts, weighs more where conversions are cheap"
            )
        });
        let reason = reason.filter(|_| !row.holds());
        rows.push(row.because(reason));
    }
    for t in PLAIN_MODULI {
        let (words, pair) = match t == two {
            true => ("Figure 1: leveled BFV is faster than BGV at t = 2", [BGV, LEVELED]),
            false => ("Figure 1: BGV is faster than leveled BFV at larger t", [LEVELED, BGV]),
        };
        let ratio = deepest(times, t, pair);
        let native = deepest(times, t, pair.map(|one| if one == LEVELED { LEVELED_48 } else { one }));
        let row = claim("5.4", words).key("t", t);
        let trunked = deepest(times, t, pair.map(|one| if one == BGV { TRUNKED } else { one }));
        let row = row.judged("times", Some((1.0, 0)), ratio.map(|one| (one, 2)), Rule::Larger(1.0));
        let row =
            [("times_48", native), ("times_trunked", trunked)].into_iter().fold(row, |row, (name, one)| {
                row.judged(name, None::<u64>, one.map(|one| (one, 2)), Rule::Larger(1.0))
            });
        let reason = reversed(times).filter(|_| t == two && !row.holds());
        rows.push(row.because(reason));
    }
    rows
}

/// Why BGV is faster than leveled BFV here even at t = 2.
fn reversed(times: &Times) -> Option<String> {
    let [two, ..] = PLAIN_MODULI;
    let last = |variant| times.of(two, variant).last().copied();
    let (bgv, wide, native) = (last(BGV)?, last(LEVELED)?, last(LEVELED_48)?);
    let counted = times.counted(two, LEVELED_48)? / times.counted(two, BGV)?;
    let rest = native / bgv / counted;
    let rest = if (1.0 / EXPLAINED..=EXPLAINED).contains(&rest) {
        format!("{rest:.2}")
    } else {
        format!("{rest:.2}, which is open")
    };
    Some(format!(
        "a transform of a short limb is not as dear as one of 60 bits here: kernels take moduli below 2^50 in vectors. \
         BGV {bgv:.2} ms, leveled BFV {wide:.2} ms with moduli of 60 bits and {native:.2} ms with 48: moduli of native \
         length account for a factor of {:.2}; numbers of transforms and conversions, at the prices of this run, for {counted:.2}, since the \
         deepest product of BGV has few moduli left; what is left is {rest}",
        wide / native,
    ))
}

/// Section 5.2: transforms of a product of BFV and of BGV with as many moduli.
fn transforms() -> Vec<Row> {
    let rows = [(6_u64, 2_u64), (12, 4)].map(|(l, alpha)| {
        let widths = vec![alpha; (l / alpha) as usize];
        let [bfv, bgv] = [Scheme::Bfv, Scheme::Bgv { plain_modulus: 2 }]
            .map(|scheme| corrected::hybrid(scheme, l, alpha, &widths).transforms);
        // Two modulus switches of BGV; 14 transforms a modulus of a leveled product.
        let all = [corrected::leveled(l, l).transforms + bfv, 4 * (l + 1) + bgv];
        let [bfv, bgv] = all.map(|count| count as f64);
        let row =
            claim("5.2", "BFV takes 2 times as many transforms as BGV, or more, of equally many moduli");
        let row = row.key("l", l).key("alpha", alpha);
        let row = row.judged("times", Some((2.0, 0)), Some((bfv / bgv, 2)), Rule::Near(0.25));
        let printed = (17 * l + 2 * alpha) as f64 / (8 * l + 4 + 2 * alpha) as f64;
        row.ours("by_the_printed_totals", (printed, 2)).ours("bfv", bfv as u64).ours("bgv", bgv as u64)
    });
    rows.into()
}

/// Section 5.2 and Remark 5.1: numbers and lengths of moduli at t = 2.
fn moduli(log2_degree: u32) -> Vec<Row> {
    let [bfv, bgv, limb] = figure1::shape(log2_degree);
    let ratio = f64::from(bgv) / f64::from(bfv);
    let delta = 2.0 * f64::from(1_u32 << log2_degree).sqrt();
    let trunked = |claimed: &'static str, factor: u64, bits: u64| {
        claim("5.2", claimed).key("bits", bits).judged(
            "moduli",
            Some(factor),
            Some(64 / bits),
            Rule::Larger(1.0),
        )
    };
    vec![
        claim("5.2", "at t = 2 BGV has more than 3 times as many moduli as BFV")
            .judged("times", Some((3.0, 0)), Some((ratio, 2)), SPEED_UP)
            .ours("of_bfv", bfv)
            .ours("of_bgv", bgv)
            .ours("log_q_i", limb),
        claim("5.2", "at t = 2 moduli of BGV take less than 20 bits, δ²t").judged(
            "bits",
            Some((20.0, 0)),
            Some(((delta * delta * 2.0).log2(), 2)),
            Rule::Smaller(1.0),
        ),
        trunked("Remark 5.1: two moduli below 30 bits fit into a word", 2, 30),
        trunked("Remark 5.1: three moduli below 20 bits fit into a word", 3, 20),
    ]
}

/// Section 3.1: noise of fresh ciphertexts and what |Q|_t adds to it.
fn noise() -> Vec<Row> {
    let sigma = 3.2;
    let fresh = 2.0 * 6.0 * sigma * 2.0;
    // The largest N of the text is 2^16.
    let bits = (fresh * f64::from(1_u32 << 16).sqrt()).log2();
    let lost = |claimed: &'static str, printed: f64, log2_t: f64| {
        let ours = log2_t - 1.0 - bits;
        claim("3.1", claimed).judged("bits", Some((printed, 0)), Some((ours, 2)), Rule::Near(1.0))
    };
    vec![
        claim("3.1", "fresh noise is below 77√N").judged(
            "factor",
            Some((77.0, 0)),
            Some((fresh, 1)),
            Rule::Smaller(1.0),
        ),
        claim("3.1", "fresh noise is at most 14 bits up to N = 2^16").judged(
            "bits",
            Some((14.0, 0)),
            Some((bits, 2)),
            Rule::Equal,
        ),
        lost("the term |Q|_t costs 16 bits at t = 2^32", 16.0, 32.0),
        lost("the term |Q|_t costs 44 bits at t = 2^60", 44.0, 60.0),
    ]
}

/// Section 3.3: the error of decryption in doubles by two digits.
fn digits() -> Vec<Row> {
    // Digits of half of 64 bits, two of them, and doubles in [−1/2, 1/2).
    let log2_error = 32.0 + 1.0 - f64::from(f64::MANTISSA_DIGITS) - 1.0;
    vec![
        claim("3.3", "the error of decryption by two digits is below 2^-19·k").judged(
            "log2",
            Some((-19.0, 0)),
            Some((log2_error, 0)),
            Rule::Smaller(1.0),
        ),
        claim("3.3", "that is below 1/4 for k up to 2^17").judged(
            "log2_k",
            Some((17.0, 0)),
            Some((-2.0 - log2_error, 0)),
            Rule::Larger(1.0),
        ),
    ]
}

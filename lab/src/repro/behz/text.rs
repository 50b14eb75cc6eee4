//! What the text of `[BEHZ16]` states in numbers, apart from its tables: speed-ups, savings of noise.

use sunzi_ring::MTilde;

use super::noise_tree::{Noise, Saved};
use super::subject::Variant;
use super::table5::over_division;
use super::timing::{Group, Measured};
use super::{ERROR_BOUND, Rational, Setting, Width, costs, nfllib_moduli, tables};
use crate::repro::{Result, Row, Rule, Table};

/// Plaintext modulus t of the depths of appendix C.
const PLAIN_MODULUS: u64 = 2;

/// The table of the numbers that the text of `[BEHZ16]` states.
pub(super) fn table(groups: &[Group], noise: Option<&Noise>) -> Result<Table> {
    let mut rows: Vec<Row> = SPEED_UPS.iter().map(|claim| claim.row(groups)).collect();
    rows.extend(noise.map_or_else(Vec::new, savings));
    rows.extend(depths()?);
    rows.push(costs::leading()?);
    Ok(Table::new("Text", "numbers of the text; speed-ups are those of RNS over MP on scalar kernels", rows))
}

/// A speed-up of RNS over MP that the text states, at one degree.
struct SpeedUp {
    section: &'static str,
    multiplies: bool,
    log2_degree: u32,
    width: Width,
    printed: f64,
    decimals: usize,
}

const fn speed_up(
    section: &'static str,
    multiplies: bool,
    (log2_degree, width): (u32, Width),
    (printed, decimals): (f64, usize),
) -> SpeedUp {
    SpeedUp { section, multiplies, log2_degree, width, printed, decimals }
}

/// The speed-ups of 5.3, and of the abstract, which rounds the ends of their ranges.
const SPEED_UPS: [SpeedUp; 12] = [
    speed_up("abstract", false, (11, Width::Bits62), (20.0, 0)),
    speed_up("abstract", false, (15, Width::Bits62), (5.0, 0)),
    speed_up("abstract", true, (11, Width::Bits30), (4.0, 0)),
    speed_up("abstract", true, (15, Width::Bits30), (2.0, 0)),
    speed_up("5.3", true, (11, Width::Bits30), (4.3, 1)),
    speed_up("5.3", true, (15, Width::Bits30), (1.7, 1)),
    speed_up("5.3", true, (12, Width::Bits62), (3.6, 1)),
    speed_up("5.3", true, (15, Width::Bits62), (1.9, 1)),
    speed_up("5.3", false, (11, Width::Bits30), (6.1, 1)),
    speed_up("5.3", false, (15, Width::Bits30), (4.4, 1)),
    speed_up("5.3", false, (11, Width::Bits62), (20.4, 1)),
    speed_up("5.3", false, (15, Width::Bits62), (5.6, 1)),
];

impl SpeedUp {
    fn row(&self, groups: &[Group]) -> Row {
        let Self { section, log2_degree, width, printed, decimals, .. } = *self;
        let group = groups.iter().find(|one| (one.log2_degree, one.width) == (log2_degree, width));
        let of = |variant| group.and_then(|group| self.series(group.of(variant)?));
        let ours = of(Variant::Rns).zip(of(Variant::Mp)).map(|(rns, mp)| (rns.speed_up_over(mp), 2));
        let found = ours.is_some();
        let row = Row::default()
            .key("section", section)
            .key(
                "claim",
                if self.multiplies { "speed-up of multiplication" } else { "speed-up of decryption" },
            )
            .key("n", 1_u64 << log2_degree)
            .key("nu", width.bits())
            .judged("value", Some((printed, decimals)), ours, Rule::Larger(1.15));
        let divides = of(Variant::Rns).zip(of(Variant::MpDiv)).map(|(rns, mp)| (rns.speed_up_over(mp), 2));
        let row = row.judged("over_division", None::<u64>, divides, Rule::Equal);
        let reason = match found {
            _ if row.holds() => None,
            true => {
                let over = |mp: &Measured| Some(of(Variant::Rns)?.speed_up_over(self.series(mp)?));
                let over = group.map_or_else(String::new, |group| over_division(group, over));
                Some(format!("Table 5 says how far each side moved{over}"))
            }
            false => Some("this degree is not timed in this run: --log-n leaves it out".to_owned()),
        };
        row.because(reason)
    }

    fn series<'a>(&self, measured: &'a Measured) -> Option<&'a crate::repro::Series> {
        if self.multiplies { measured.multiplication.as_ref() } else { Some(&measured.decryption) }
    }
}

/// Appendix C: what a reduction saves of the bits of noise, on average over the levels of the tree.
fn savings(noise: &Noise) -> Vec<Row> {
    let row = |(m_tilde, saved): (MTilde, Saved)| {
        let (name, printed) = match m_tilde {
            MTilde::Bits16 => ("m̃ = 2^16 saves 32 % of the noise of no reduction", 32.0),
            _ => ("m̃ = 2^8 saves 25 % of the noise of no reduction", 25.0),
        };
        let row = Row::default()
            .key("section", "C")
            .key("claim", name)
            .judged("percent_of_bits", Some((printed, 0)), Some((saved.as_printed, 1)), Rule::Near(2.0))
            .ours("percent_of_bits_a_level", (saved.a_level, 1))
            .ours("by_the_bounds", (saved.bounds, 1))
            .ours("with_centred_lifts", (saved.centred, 1));
        let reason = (!row.holds()).then(|| {
            format!(
                "measured with the paper's lifts, whose mean makes most of it: with centred ones {:.1} %; of the bits \
                 that a level adds {:.1} %; the paper does not say of what {printed} % are",
                saved.centred, saved.a_level
            )
        });
        row.because(reason)
    };
    noise.saved().into_iter().map(row).collect()
}

/// Section 5.1 and appendix C: depths, and moduli of NFLlib.
fn depths() -> Result<Vec<Row>> {
    let setting = Setting::new(13, Width::Bits30, 13, PLAIN_MODULUS, ERROR_BOUND)?;
    let depth = |rho: Rational| setting.depth(&rho);
    let claim = |section, words| Row::default().key("section", section).key("claim", words);
    let (shallower, longest) = tables::extremes()?;
    Ok(vec![
        claim("C", "depth without reduction, n = 2^13, t = 2").printed(
            "value",
            11_u32,
            depth(Rational::from_integer(25.into())),
        ),
        claim("C", "depth with m̃ = 2^8, n = 2^13, t = 2").printed(
            "value",
            13_u32,
            depth(Rational::new(27.into(), 256.into())),
        ),
        claim("5.1", "rows of Table 1 in which RNS reaches a smaller depth").printed(
            "value",
            1_usize,
            Some(shallower),
        ),
        claim("5.1", "most bits of m_sk in Table 1").printed("value", 31_u64, longest),
        claim("5.1", "moduli of 30 bits in NFLlib").printed(
            "value",
            Width::Bits30.available(),
            Some(nfllib_moduli::narrow()),
        ),
    ])
}

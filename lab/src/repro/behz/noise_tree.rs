//! Figure 3 of `[BEHZ16]`: noise of a multiplicative tree, measured with the secret key, and its bound.

use sunzi_math::log2;
use sunzi_ring::{Auxiliary, MTilde, Multiplication, Ring, ScalerOptions};
use sunzi_rlwe::randomness;

use super::{ERROR_BOUND, Rational, Setting, Width, negacyclic, paper_lifts};
use crate::report::Corner;
use crate::repro::{Figure, Known, LabError, NOT_PRINTED, Panel, Party, Progress, Result, noise};

/// Plaintext modulus t of Figure 3 of `[BEHZ16]`.
const PLAIN_MODULUS: u64 = 2;
/// Number of ciphertexts kept at each level of the tree; the next level takes their products in pairs.
const POOL: usize = 3;

/// Size of the multiplicative tree of Figure 3 of `[BEHZ16]`.
#[derive(Clone, Copy, Debug)]
pub struct Tree {
    /// log2 of the ring degree n of the tree's ciphertexts.
    pub log2_degree: u32,
    /// Number of 30-bit moduli of the tree's ciphertexts.
    pub count: usize,
    /// Number of levels of the multiplicative tree.
    pub depth: u32,
}

impl Tree {
    /// The tree of `[BEHZ16]`, down to its depth L_RNS.
    pub const PRINTED: Self = Self { log2_degree: 13, count: 13, depth: 13 };
}

/// The values of m̃ in Figure 3 of `[BEHZ16]`.
const M_TILDES: [MTilde; 3] = [MTilde::None, MTilde::Bits8, MTilde::Bits16];

/// log2 of noise, level by level from fresh ciphertexts on, for one m̃.
struct Levels {
    bounds: Vec<f64>,
    /// The largest that was measured with Sunzi's lifts, which are centred.
    centred: Vec<f64>,
    /// The largest that was measured with the lifts of `[BEHZ16]`.
    as_printed: Vec<f64>,
}

impl Levels {
    /// The bits that the levels after the first one add with the lifts of `[BEHZ16]`.
    fn growth(&self) -> f64 {
        let first = self.as_printed.get(1).copied().unwrap_or_default();
        self.as_printed.last().map_or(0.0, |last| last - first)
    }
}

/// Percent of the bits of noise that an m̃ saves against no reduction, averaged over the levels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Saved {
    pub(super) bounds: f64,
    pub(super) centred: f64,
    pub(super) as_printed: f64,
    /// Percent saved, with the lifts of `[BEHZ16]`, of the bits that each level after the first one adds.
    pub(super) a_level: f64,
}

/// Noise of the tree, bounds and largest measured values.
pub(super) struct Noise {
    tree: Tree,
    capacity: f64,
    /// Levels for every m̃, none first.
    all: Vec<Levels>,
}

impl Noise {
    /// Measures the noise of the tree for every m̃.
    pub(super) fn measure(tree: Tree, progress: &mut Progress<'_>) -> Result<Self> {
        let setting = Setting::new(tree.log2_degree, Width::Bits30, tree.count, PLAIN_MODULUS, ERROR_BOUND)?;
        let mut all = Vec::new();
        for m_tilde in M_TILDES {
            progress.begin(format!("noise of a tree, {}", name(m_tilde)));
            let bounds = (0..=tree.depth).map(|depth| bound(&setting, depth, m_tilde, tree.count)).collect();
            let centred = measure(tree, m_tilde, |words| words.clone())?;
            progress.begin(format!("noise of a tree, {}, lifts as printed", name(m_tilde)));
            all.push(Levels { bounds, centred, as_printed: measure(tree, m_tilde, paper_lifts::over)? });
        }
        Ok(Self { tree, capacity: log2_of(&setting.capacity(u64::MAX)), all })
    }

    /// Percent of the bits of noise that each m̃ saves.
    pub(super) fn saved(&self) -> Vec<(MTilde, Saved)> {
        let Some(without) = self.all.first() else { return Vec::new() };
        let percent = |of: fn(&Levels) -> &Vec<f64>, one: &Levels| {
            let levels = of(one).iter().zip(of(without)).skip(1).map(|(bits, without)| 1.0 - bits / without);
            100.0 * levels.sum::<f64>() / f64::from(self.tree.depth.max(1))
        };
        let saved = |one: &Levels| Saved {
            bounds: percent(|one| &one.bounds, one),
            centred: percent(|one| &one.centred, one),
            as_printed: percent(|one| &one.as_printed, one),
            a_level: 100.0 * (1.0 - one.growth() / without.growth()),
        };
        M_TILDES.into_iter().zip(&self.all).skip(1).map(|(m_tilde, one)| (m_tilde, saved(one))).collect()
    }

    /// Draws Figure 3 of `[BEHZ16]`.
    pub(super) fn figure(&self) -> Figure {
        let mut panel = Panel::new("", false);
        for (colour, (m_tilde, one)) in M_TILDES.into_iter().zip(&self.all).enumerate() {
            let all = [
                ("bound", &one.bounds),
                ("measured", &one.centred),
                ("measured, lifts as printed", &one.as_printed),
            ];
            for (shift, (words, values)) in all.into_iter().enumerate() {
                let points = (0..).map(f64::from).zip(values.iter().copied());
                let colour = colour + 1 + 3 * (shift / 2);
                panel.line(format!("{}, {words}", name(m_tilde)), colour, words == "bound", points);
            }
        }
        let Tree { log2_degree, count, depth } = self.tree;
        let across = [(0.0, self.capacity), (f64::from(depth), self.capacity)];
        panel.line("largest noise that decrypts", 0, false, across);
        let title =
            format!("noise of a multiplicative tree, n = 2^{log2_degree}, k = {count}, ν = 30, t = 2");
        let source =
            format!("bound: [BEHZ16, 5.1], B_err = {ERROR_BOUND}; measured: errors of Sunzi, at most 21");
        let figure = Figure::new("Figure 3", title, source, ["depth", "log2 of the noise"], vec![panel]);
        Figure { logarithmic: false, legend: Corner::LowerRight, reason: Some(NOT_PRINTED), ..figure }
    }
}

fn name(m_tilde: MTilde) -> &'static str {
    match m_tilde {
        MTilde::None => "no reduction",
        MTilde::Bits8 => "m̃ = 2^8",
        MTilde::Bits16 => "m̃ = 2^16",
    }
}

/// log2 of the noise bound at a depth: ρ is 2k − 1 without reduction, else (2k + 1)/m̃.
fn bound(setting: &Setting, depth: u32, m_tilde: MTilde, count: usize) -> f64 {
    let rho = match m_tilde.value() {
        None => Rational::from_integer((2 * count - 1).into()),
        Some(m_tilde) => Rational::new((2 * count + 1).into(), m_tilde.into()),
    };
    log2_of(&setting.noise(depth, &rho))
}

fn log2_of(value: &Rational) -> f64 {
    log2(value.to_integer().magnitude())
}

/// log2 of the largest noise among the tree's ciphertexts, level by level; every product is decrypted and checked.
///
/// `lifts` is what the ring in words multiplies by.
fn measure(tree: Tree, m_tilde: MTilde, lifts: impl Fn(&Ring) -> Ring) -> Result<Vec<f64>> {
    let moduli = Width::Bits30.moduli(tree.count)?;
    let scaling = ScalerOptions {
        multiplication: Multiplication::Behz,
        m_tilde,
        auxiliary: Auxiliary::LikeModulus,
        ..ScalerOptions::default()
    };
    let mut rng = randomness::from_os()?;
    let ring = lifts(&Ring::new(2 << tree.log2_degree, &moduli)?);
    let party = Party::new(ring, PLAIN_MODULUS, scaling, &mut rng)?;
    let mut pool = (0..POOL).map(|_| party.known(&mut rng)).collect::<Result<Vec<_>>>()?;
    let mut levels = vec![largest(&party, &pool)?];
    for _ in 0..tree.depth {
        pool = products(&party, &pool)?;
        levels.push(largest(&party, &pool)?);
    }
    Ok(levels)
}

/// The products of each ciphertext with the next one, and of the last with the first.
fn products(party: &Party, pool: &[Known]) -> Result<Vec<Known>> {
    let pairs = pool.iter().zip(pool.iter().cycle().skip(1));
    pairs
        .map(|((a, message_a), (b, message_b))| {
            let (product, message) = (party.multiply(a, b)?, negacyclic::product(message_a, message_b)?);
            let right = party.open(&product)? == message;
            LabError::unless(right, "product", "a multiplicative tree", party.context.degree())?;
            Ok((product, message))
        })
        .collect()
}

fn largest(party: &Party, pool: &[Known]) -> Result<f64> {
    let Party { context, keys, .. } = party;
    pool.iter().try_fold(f64::NEG_INFINITY, |largest: f64, (ciphertext, message)| {
        let known = (message.coefficients(), 1, context.plain_modulus());
        Ok(largest.max(noise::measured(context.rlwe(), ciphertext, &keys.secret, known)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_noise_stays_below_its_bound() {
        // With three moduli, noise of the printed lifts comes within a bit of what decrypts, and at times above.
        let tree = Tree { log2_degree: 11, count: 4, depth: 4 };
        let mut steps = 0;
        let mut tell = |_: &str, done, _| steps = done;
        let noise = Noise::measure(tree, &mut Progress::new(6, &mut tell)).unwrap();
        let figure = noise.figure();
        let series = &figure.panels[0].series;
        assert_eq!(series.len(), 10);
        for three in series[..9].chunks(3) {
            let [bound, measured @ ..] = three else { panic!() };
            for measured in measured {
                assert_eq!(measured.points.len(), 5);
                for (bound, measured) in bound.points.iter().zip(&measured.points) {
                    assert!(measured.1 > 0.0 && measured.1 < bound.1, "{three:?}");
                }
            }
        }
        // Without reduction every level but the first, where relinearisation outweighs all, is noisier, and more so
        // if lifts have a mean.
        assert!(series[1].points[4].1 > series[7].points[4].1, "{series:?}");
        assert!(series[2].points[4].1 > series[1].points[4].1 + 2.0, "{series:?}");
        assert_eq!(steps, 5);
        let [(MTilde::Bits8, eight), (MTilde::Bits16, sixteen)] = noise.saved()[..] else { panic!() };
        for saved in [eight, sixteen] {
            assert!(saved.bounds > 0.0 && saved.as_printed > saved.centred, "{saved:?}");
            assert!(saved.a_level > saved.as_printed && saved.a_level < 100.0, "{saved:?}");
        }
    }
}

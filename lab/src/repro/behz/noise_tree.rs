//! Figure 3: noise of a multiplicative tree, measured with the secret key, and its bound.

use rand_core::CryptoRng;
use sunzi_bfv::{Algorithms, Ciphertext, Context, Evaluator, Plaintext};
use sunzi_math::log2;
use sunzi_ring::{Auxiliary, MTilde, Multiplication, Ring, ScalerOptions};
use sunzi_rlwe::{PublicKey, RelinearizationKey, SecretKey, Security, randomness};

use super::{ERROR_BOUND, Rational, Setting, Width, negacyclic};
use crate::LabError;
use crate::report::{Corner, Curve, Figure, Panel};
use crate::repro::noise;
use crate::repro::run::Progress;
use crate::subjects::plaintexts;

/// t of the figure.
const PLAIN_MODULUS: u64 = 2;
/// Ciphertexts kept at each level; the next level takes their products in pairs.
const POOL: usize = 3;

/// The size of the tree.
#[derive(Clone, Copy, Debug)]
pub struct Tree {
    /// log2 n.
    pub log2_degree: u32,
    /// Moduli of 30 bits.
    pub count: usize,
    /// Levels.
    pub depth: u32,
}

impl Tree {
    /// The tree of the paper, down to its L_RNS.
    pub const PRINTED: Self = Self { log2_degree: 13, count: 13, depth: 13 };
}

/// Measures and draws the figure.
pub(super) fn compute(tree: Tree, progress: &mut Progress<'_>) -> Result<Figure, LabError> {
    let setting = Setting::new(tree.log2_degree, Width::Bits30, tree.count, PLAIN_MODULUS, ERROR_BOUND)?;
    let mut panel = Panel::new("", false);
    for (colour, m_tilde) in [MTilde::None, MTilde::Bits8, MTilde::Bits16].into_iter().enumerate() {
        let name = match m_tilde {
            MTilde::None => "no reduction",
            MTilde::Bits8 => "m̃ = 2^8",
            MTilde::Bits16 => "m̃ = 2^16",
        };
        progress.begin(format!("noise of a tree, {name}"));
        let measured = measure(tree, m_tilde)?;
        let bounded =
            (0..=tree.depth).map(|depth| bound(&setting, depth, m_tilde, tree.count)).collect::<Vec<_>>();
        let points = |values: Vec<f64>| (0..).map(f64::from).zip(values).collect();
        let series = |words: &str, dashed, values| Curve {
            name: format!("{name}, {words}"),
            colour: colour + 1,
            dashed,
            points: points(values),
        };
        panel.series.push(series("bound", true, bounded));
        panel.series.push(series("measured", false, measured));
    }
    let capacity = log2_of(&setting.capacity(u64::MAX));
    panel.series.push(Curve {
        name: "largest noise that decrypts".to_owned(),
        colour: 0,
        dashed: false,
        points: vec![(0.0, capacity), (f64::from(tree.depth), capacity)],
    });
    Ok(Figure {
        name: "Figure 3",
        title: format!(
            "noise of a multiplicative tree, n = 2^{}, k = {}, ν = 30, t = 2",
            tree.log2_degree, tree.count
        ),
        source: format!("bound: [BEHZ16, 5.1], B_err = {ERROR_BOUND}; measured: errors of Sunzi, at most 21"),
        file: "figure3.svg",
        x_label: "depth",
        y_label: "log2 of the noise",
        logarithmic: false,
        legend: Corner::LowerRight,
        panels: vec![panel],
        reason: Some("the paper prints no numbers for this plot".to_owned()),
    })
}

/// log2 of the bound: ρ is 2k − 1 without reduction, else (2k + 1)/m̃.
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

/// log2 of the largest noise of the pool, level by level; every product is decrypted and checked.
fn measure(tree: Tree, m_tilde: MTilde) -> Result<Vec<f64>, LabError> {
    let moduli = Width::Bits30.moduli(tree.count)?;
    let scaling = ScalerOptions {
        multiplication: Multiplication::Behz,
        m_tilde,
        auxiliary: Auxiliary::LikeModulus,
        ..ScalerOptions::default()
    };
    let algorithms = Algorithms { scaling, ..Algorithms::default() };
    let ring = Ring::new(2 << tree.log2_degree, &moduli)?;
    let security = Security::InsecureForResearchOnly;
    let context = Context::with_algorithms(ring, PLAIN_MODULUS, security, &algorithms)?;
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    let key = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
    let mut pool = fresh(&context, &secret, &mut rng)?;
    let mut levels = vec![largest(&context, &pool, &secret)?];
    for _ in 0..tree.depth {
        pool = multiply(&context, &pool, &key)?;
        check(&context, &pool, &secret)?;
        levels.push(largest(&context, &pool, &secret)?);
    }
    Ok(levels)
}

type Known = (Ciphertext, Plaintext);

/// Encryptions of random polynomials, beside these.
fn fresh(context: &Context, secret: &SecretKey, rng: &mut dyn CryptoRng) -> Result<Vec<Known>, LabError> {
    let public = PublicKey::generate(context.rlwe(), secret, rng)?;
    let mut pool = Vec::with_capacity(POOL);
    for _ in 0..POOL {
        let message = plaintexts::random(context.degree(), context.plain_modulus(), rng)?;
        pool.push((context.encrypt(&message, &public, rng)?, message));
    }
    Ok(pool)
}

/// The product of each with the next one, round.
fn multiply(context: &Context, pool: &[Known], key: &RelinearizationKey) -> Result<Vec<Known>, LabError> {
    let evaluator = Evaluator::new(context);
    let pairs = pool.iter().zip(pool.iter().cycle().skip(1));
    pairs
        .map(|((a, message_a), (b, message_b))| {
            Ok((evaluator.multiply(a, b, key)?, negacyclic::product(message_a, message_b)?))
        })
        .collect()
}

fn check(context: &Context, pool: &[Known], secret: &SecretKey) -> Result<(), LabError> {
    for (ciphertext, message) in pool {
        if context.decrypt_unchecked(ciphertext, secret)? != *message {
            let degree = context.degree();
            return Err(LabError::Wrong { operation: "product", variant: "a multiplicative tree", degree });
        }
    }
    Ok(())
}

fn largest(context: &Context, pool: &[Known], secret: &SecretKey) -> Result<f64, LabError> {
    pool.iter().try_fold(f64::NEG_INFINITY, |largest: f64, (ciphertext, message)| {
        let known = (message.coefficients(), 1, context.plain_modulus());
        Ok(largest.max(noise::measured(context.rlwe(), ciphertext, secret, known)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_noise_stays_below_its_bound() {
        let tree = Tree { log2_degree: 11, count: 3, depth: 4 };
        let mut steps = 0;
        let mut tell = |_: &str, done, _| steps = done;
        let figure = compute(tree, &mut Progress::new(3, &mut tell)).unwrap();
        let series = &figure.panels[0].series;
        assert_eq!(series.len(), 7);
        for pair in series[..6].chunks(2) {
            assert_eq!(pair[0].points.len(), 5);
            for (bound, measured) in pair[0].points.iter().zip(&pair[1].points) {
                assert!(measured.1 > 0.0 && measured.1 < bound.1, "{pair:?}");
            }
        }
        // Without reduction every level but the first, where relinearisation outweighs all, is noisier.
        assert!(series[1].points[4].1 > series[5].points[4].1, "{series:?}");
        assert_eq!(steps, 2);
    }
}

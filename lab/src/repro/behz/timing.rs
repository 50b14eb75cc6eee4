//! Timings of decryption and multiplication, variant by variant, for Table 5 and Figures 1 and 2 of `[BEHZ16]`.

use std::rc::Rc;

use sunzi_bfv::Algorithms;
use sunzi_big::MultiPrecision;
use sunzi_kernels::Isa;
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_ring::{Auxiliary, Decryption, MTilde, Multiplication, Precision, Ring, ScalerOptions};
use sunzi_rlwe::randomness;

use super::Width;
use super::subject::{Material, Subject, Variant};
use crate::repro::slower::Waited;
use crate::repro::{Budget, Progress, Result, Series, alternate_timed, research};

/// Plaintext modulus t of Table 5 of `[BEHZ16]`.
const PLAIN_MODULUS: u64 = 1 << 10;
/// log2 of γ, for which 2^8 suffices throughout `[BEHZ16, 5.2]`.
const LOG2_GAMMA: u32 = 8;

/// Times that one variant of BFV took.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) variant: Variant,
    pub(super) limbs: usize,
    pub(super) decryption: Series,
    pub(super) multiplication: Option<Series>,
}

/// Times of all variants of BFV at one degree and width of moduli.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) log2_degree: u32,
    pub(super) width: Width,
    pub(super) variants: Vec<Measured>,
    /// Share of the time in which the thread waited for a processor.
    pub(super) waited: f64,
}

impl Group {
    /// Times of a variant in this group, if it was timed.
    pub(super) fn of(&self, variant: Variant) -> Option<&Measured> {
        self.variants.iter().find(|one| one.variant == variant)
    }
}

/// Times all variants with every width of moduli at the given degrees.
pub(super) fn measure(
    log2_degrees: &[u32],
    budget: Budget,
    progress: &mut Progress<'_>,
) -> Result<Vec<Group>> {
    let groups = log2_degrees.iter().flat_map(|&n| [Width::Bits30, Width::Bits62].map(|width| (n, width)));
    groups.map(|(log2_degree, width)| group(log2_degree, width, budget, progress)).collect()
}

/// Primes of Sunzi's default size whose product has `log2_modulus` bits within a fraction of a bit.
pub(super) fn default_moduli(log2_degree: u32, log2_modulus: f64) -> Result<Vec<u64>> {
    let count = (log2_modulus / (DEFAULT_PRIME_BOUND as f64).log2()).ceil().max(1.0);
    let bound = (log2_modulus / count).exp2() as u64;
    Ok(primes_below(bound, 2 << log2_degree, count as usize)?)
}

fn group(log2_degree: u32, width: Width, budget: Budget, progress: &mut Progress<'_>) -> Result<Group> {
    let at = |what: &str| format!("n = 2^{log2_degree}, {} bits: {what}", width.bits());
    progress.begin(at("keys"));
    let entries = entries(log2_degree, width)?;
    let waited = Waited::begin();
    progress.begin(at("decryption"));
    let mut contenders: Vec<_> = entries.iter().map(|entry| entry.decrypt()).collect();
    let decryptions = alternate_timed(budget, &mut contenders)?;
    progress.begin(at("multiplication"));
    let multiplies = |entry: &&Subject| entry.variant != Variant::RnsFlp;
    let (which, mut contenders): (Vec<Variant>, Vec<_>) = entries
        .iter()
        .filter(multiplies)
        .filter_map(|entry| Some((entry.variant, entry.multiply()?)))
        .unzip();
    let multiplications = alternate_timed(budget, &mut contenders)?;
    let times = |variant| which.iter().position(|other| *other == variant);
    let variants = entries.iter().zip(decryptions).map(|(&Subject { variant, limbs, .. }, decryption)| {
        let multiplication = times(variant).and_then(|at| multiplications.get(at).cloned());
        Measured { variant, limbs, decryption, multiplication }
    });
    Ok(Group { log2_degree, width, variants: variants.collect(), waited: waited.share() })
}

/// Keys, ciphertexts and tables of every variant at one degree and width of moduli.
fn entries(log2_degree: u32, width: Width) -> Result<Vec<Subject>> {
    let moduli = width.moduli(width.count(log2_degree)?)?;
    let index = 2 << log2_degree;
    let scalar = Ring::with_isa(index, &moduli, Isa::Portable)?;
    let fastest = Ring::new(index, &moduli)?;
    let multiplies = width.multiplies(log2_degree);
    let limbs = moduli.len();
    let mut rng = randomness::from_os()?;
    let entry = |variant, limbs, context, material: &Rc<Material>| {
        let material = Rc::clone(material);
        Subject { variant, limbs, context, material }
    };
    let gamma = Decryption::PowerOfTwo { log2_gamma: Some(LOG2_GAMMA) };
    let floating = Decryption::FloatingPoint { precision: Precision::Automatic };
    let [gamma, floating] = [gamma, floating].map(|decryption| algorithms(log2_degree, decryption));

    // Keys and ciphertexts are the same words whatever the kernels: made once, by the fastest.
    let context = research(MultiPrecision::over(&fastest), PLAIN_MODULUS, &gamma)?;
    let material = Material::new(&context, multiplies, &mut rng)?;
    let slow = research(MultiPrecision::over(&scalar), PLAIN_MODULUS, &gamma)?;
    let divides = research(MultiPrecision::over_by_division(&scalar), PLAIN_MODULUS, &gamma)?;
    let mut entries = vec![
        entry(Variant::Mp, limbs, slow, &material),
        entry(Variant::MpDiv, limbs, divides, &material),
        entry(Variant::MpSimd, limbs, context, &material),
    ];
    let context = research(fastest.clone(), PLAIN_MODULUS, &gamma)?;
    let material = Material::new(&context, multiplies, &mut rng)?;
    for (variant, ring, algorithms) in
        [(Variant::RnsFlp, &scalar, &floating), (Variant::Rns, &scalar, &gamma)]
    {
        let context = research(ring.clone(), PLAIN_MODULUS, algorithms)?;
        entries.push(entry(variant, limbs, context, &material));
    }
    entries.push(entry(Variant::RnsSimd, limbs, context, &material));
    if fastest.words()?.basis().moduli().iter().all(|modulus| modulus.isa() == Isa::Portable) {
        // No vector kernels for such moduli here: a second time the same would say nothing.
        entries.retain(|entry| entry.variant.baseline() == Variant::Mp);
    }
    let log2_modulus = moduli.iter().map(|&modulus| (modulus as f64).log2()).sum();
    let moduli = default_moduli(log2_degree, log2_modulus)?;
    let context = research(Ring::new(index, &moduli)?, PLAIN_MODULUS, &Algorithms::default())?;
    let material = Material::new(&context, multiplies, &mut rng)?;
    entries.push(entry(Variant::Rns48, moduli.len(), context, &material));
    Ok(entries)
}

/// The algorithms of the implementation of `[BEHZ16]`: m̃ of Tables 3 and 4, B_sk of moduli as wide as those of q.
fn algorithms(log2_degree: u32, decryption: Decryption) -> Algorithms {
    let m_tilde = if log2_degree >= 15 { MTilde::Bits16 } else { MTilde::Bits8 };
    let scaling = ScalerOptions {
        decryption,
        multiplication: Multiplication::Behz,
        m_tilde,
        auxiliary: Auxiliary::LikeModulus,
        ..ScalerOptions::default()
    };
    Algorithms { scaling, ..Algorithms::default() }
}

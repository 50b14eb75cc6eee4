//! Products of polynomials modulo every component: by transforms, and by Kronecker substitution beside the
//! library's product alone.

use std::time::Duration;

use sunzi_fermat::{FermatRing, Products};
use sunzi_ring::Backend;
use sunzi_rlwe::randomness;

use super::Options;
use crate::repro::{LabError, Result, Row, Series, Table, Timed, alternate_timed, timed};

/// Times the products at the smallest degree, up to the largest component.
pub(super) fn compute(options: &Options) -> Result<Table> {
    let index = 2_u64 << options.least_log2_degree;
    let ring = FermatRing::new(index, 1 << options.most_bits.clamp(128, 16_384).ilog2())?;
    let primes = ring.product_primes()?;
    let components = ring.fermat_modulus().components().to_vec();
    let mut rows = Vec::new();
    for ((position, component), primes) in components.iter().enumerate().zip(primes).skip(1) {
        let times = time(&ring, position, options)?;
        let median = |i: usize| times.get(i).map_or(f64::NAN, Series::median_ms);
        let mut row = Row::default().key("n", ring.degree()).key("h", component.bits());
        row = row.ours("primes", primes);
        row = row.ours("transforms ms", (median(0), 3)).ours("Kronecker ms", (median(1), 3));
        if let [_, kronecker, alone] = times.as_slice() {
            row = row.ours("GMP alone ms", (alone.median_ms(), 3));
            // The time of Kronecker products over that of what they cannot do without.
            row = row.ours("Kronecker / GMP", (alone.speed_up_over(kronecker), 2));
        }
        let row = row.ours("Kronecker / transforms", (median(1) / median(0), 2));
        rows.push(row.because(Some("the paper prints no times of products of polynomials")));
    }
    let library =
        if cfg!(feature = "gmp") { "GMP" } else { "num-bigint, which has no fast Fourier transform" };
    let title = format!("products of polynomials modulo 2^h + 1, packed integers by {library}");
    Ok(Table::new("Products", title, rows))
}

/// Times of a product by transforms, by Kronecker substitution, and where there is GMP of the bare product of
/// the packed integers.
fn time(ring: &FermatRing, position: usize, options: &Options) -> Result<Vec<Series>> {
    let mut rng = randomness::from_os()?;
    let level = ring.at_level(position + 1)?;
    let mut random = || -> Result<Vec<u64>> {
        let poly = level.to_coefficient(level.uniform(&mut rng))?;
        Ok(level.component_residues(&poly, position)?.to_vec())
    };
    let (a, b) = (random()?, random()?);
    let kronecker = ring.with_products(Products::Kronecker);
    let right = ring.component_product(position, &a, &b)? == kronecker.component_product(position, &a, &b)?;
    LabError::unless(right, "product", "Kronecker", ring.degree())?;
    let by =
        |ring: &FermatRing| -> Result<Duration> { Ok(timed(|| ring.component_product(position, &a, &b))?.0) };
    let mut contenders: Vec<Timed<'_>> = vec![Box::new(|| by(ring)), Box::new(|| by(&kronecker))];
    #[cfg(feature = "gmp")]
    {
        let component = ring.cofactors().get(position).map(|cofactor| cofactor.component());
        let packed = |residues: &[u64]| component.map(|c| c.pack(residues)).unwrap_or_default();
        let (a, b) = (packed(&a), packed(&b));
        let mut out = vec![0; a.len() + b.len()];
        contenders.push(Box::new(move || {
            let begin = std::time::Instant::now();
            sunzi_kernels::gmp::mul(&mut out, &a, &b);
            Ok(begin.elapsed())
        }));
    }
    alternate_timed(options.budget, &mut contenders)
}

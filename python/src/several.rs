//! Contexts of several plaintext moduli with one ring and one set of keys.

use sunzi_bfv as bfv;
use sunzi_bgv as bgv;

use crate::error::Failure;
use crate::scheme::Scheme;

/// Ring degrees n that are tried for BGV, as log2 n.
const LOG2_DEGREES: std::ops::RangeInclusive<u32> = 11..=16;

/// Returns the schemes with a common ring, if they differ in their plaintext moduli alone.
pub(crate) fn together(schemes: &[Scheme]) -> Result<Option<Vec<Scheme>>, Failure> {
    if let Some(parts) = schemes.iter().map(Scheme::bfv_parameters).collect::<Option<Vec<_>>>() {
        return joined(&parts).map(|joined| Scheme::bfv_of(&joined)).transpose();
    }
    let Some(parts) = schemes.iter().map(Scheme::bgv_parameters).collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let plain: Vec<u64> = parts.iter().map(|part| part.plain_modulus()).collect();
    let Some(&first) = parts.first() else { return Ok(None) };
    let alike = parts.iter().all(|part| first.clone().with_plain_modulus(part.plain_modulus()) == **part);
    if alike { Scheme::bgv_of(first, &plain).map(Some) } else { Ok(None) }
}

/// Chooses the cheapest BGV parameters for a range of integers, with the plaintext moduli that hold it.
pub(crate) fn bgv(builder: &bgv::ParametersBuilder) -> Result<(bgv::Parameters, Vec<u64>), Failure> {
    let request = builder.request();
    let log2_degrees = request.log2_degree.map_or(LOG2_DEGREES, |log2_degree| log2_degree..=log2_degree);
    let mut best: Option<(f64, bgv::Parameters, Vec<u64>)> = None;
    for log2_degree in log2_degrees {
        let Ok(splittings) = request.plain.moduli(log2_degree, request.batching) else { continue };
        let mut better = best.is_none();
        for plain in splittings {
            let Some(&largest) = plain.iter().max() else { continue };
            let builder = builder.clone().plain_modulus(largest).log2_degree(log2_degree);
            let Some(found) = builder.explain()?.chosen else { continue };
            let mut moduli = found.moduli().iter().chain(&found.key_switching().special_moduli);
            if moduli.any(|q| plain.iter().any(|t| t.is_multiple_of(*q))) {
                continue;
            }
            // The cost of a product of two ciphertexts grows with this.
            let work = (plain.len() * found.degree() * found.moduli().len()) as f64;
            if best.as_ref().is_none_or(|(least, ..)| work < *least) {
                best = Some((work, found, plain));
                better = true;
            }
        }
        // If a larger ring is no better, no still larger one is.
        if !better {
            break;
        }
    }
    match best {
        Some((_, parameters, plain)) => Ok((parameters, plain)),
        // The builder's error says what to relax.
        None => builder.build().map(|own| (own.clone(), vec![own.plain_modulus()])).map_err(Failure::from),
    }
}

/// Joins parameters that differ in their plaintext moduli alone.
fn joined(parts: &[&bfv::Parameters]) -> Option<bfv::CrtParameters> {
    let first = parts.first()?;
    let plain = parts.iter().map(|part| part.plain_modulus()).collect();
    let all = bfv::CrtParameters::new(first.ring(), first.moduli().to_vec(), plain, first.security())
        .with_algorithms(first.algorithms().clone())
        .with_secrets(first.secrets());
    all.parts().iter().eq(parts.iter().copied()).then_some(all)
}

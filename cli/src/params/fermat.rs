//! `sunzi params --fermat`: BFV modulo 2^g − 1 `[TSKJ20]`.

use std::fmt;

use serde::Serialize;
use sunzi::bfv::FermatParameters;
use sunzi::rlwe::security::max_log2_modulus;

use crate::args::ParamsArgs;
use crate::error::CliError;

/// The choice of a degree and of g for a depth.
#[derive(Debug, Serialize)]
pub(super) struct Explanation {
    depth: usize,
    degree: usize,
    slots: usize,
    plain_modulus: u64,
    /// The exponent g of the modulus 2^g − 1.
    modulus_bits: usize,
    security: String,
    /// The most bits of a modulus that the degree takes at this security.
    limit: Option<u32>,
    #[serde(skip)]
    parameters: FermatParameters,
}

/// Explains the choice of parameters modulo 2^g − 1, or says what to relax.
pub(super) fn explain(args: &ParamsArgs) -> Result<Explanation, CliError> {
    let security = args.security();
    let parameters = FermatParameters::for_depth(args.depth, FermatParameters::BATCHING, security)
        .map_err(CliError::input)?;
    let degree = parameters.degree();
    Ok(Explanation {
        depth: args.depth,
        degree,
        slots: degree,
        plain_modulus: parameters.plain_modulus(),
        modulus_bits: parameters.bits(),
        security: security.to_string(),
        limit: max_log2_modulus(degree.ilog2(), security),
        parameters,
    })
}

impl Explanation {
    /// Parameters modulo 2^g − 1 that were chosen.
    pub(super) fn parameters(&self) -> FermatParameters {
        self.parameters
    }
}

/// Writes the explanation as text for people.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = self.limit.map_or_else(|| "no limit".to_owned(), |limit| format!("{limit} allowed"));
        writeln!(f, "ring         n = {}, m = {}", self.degree, 2 * self.degree)?;
        writeln!(f, "modulus      q = 2^{} - 1, security {} ({limit})", self.modulus_bits, self.security)?;
        writeln!(f, "plaintexts   {} slots modulo t = {}", self.slots, self.plain_modulus)?;
        writeln!(f, "depth        {}, by the worst case of noise", self.depth)?;
        writeln!(
            f,
            "why          the smallest degree that is secure with the g that the depth takes; t is the least prime with slots that is coprime to q\n\n\
             words (without --fermat) are faster on a CPU: see docs/fermat.md"
        )
    }
}

//! The parameters that a retrieval is made for.

use sunzi_bfv::{Algorithms, Parameters};
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_ring::{GadgetOptions, Multiplication, ScalerOptions};
use sunzi_rlwe::Security;

use super::RetrievalError;

/// log2 of the ring degree.
const LOG2_DEGREE: u32 = 13;
/// Plaintext modulus, a prime: 28 bits of entries a coefficient. Its bits are spent three times, in coefficients, in products with entries and in products
/// of selections; beside them noise takes 58 bits. So three moduli of 48 bits hold 1.6 bits of entries for each byte that is read, and two would hold 1.
const PLAIN_MODULUS: u64 = (1 << 28) + 3;
/// Numbers of ciphertext moduli, and of special ones.
const MODULI: [usize; 2] = [3, 1];

/// Returns the parameters that a retrieval is made for, of 128 bits of security: a plaintext holds 28 KiB of entries.
///
/// # Errors
/// [`RetrievalError::Bfv`] never, since there are primes enough.
///
/// ```
/// use sunzi_bfv::Context;
/// use sunzi_circuits::retrieval::{Layout, parameters};
///
/// let context = Context::new(&parameters()?)?;
/// assert_eq!(Layout::new(&context, 1 << 20, 256)?.together(), 112);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parameters() -> Result<Parameters, RetrievalError> {
    let [own, special] = MODULI;
    let primes = primes_below(DEFAULT_PRIME_BOUND, 2 << LOG2_DEGREE, own + special);
    let mut moduli = primes
        .map_err(|error| RetrievalError::setting("the moduli", format!("{} primes", own + special), error))?;
    // The largest is the special one: it is at least as large as every digit.
    let special_moduli = moduli.drain(..special).collect();
    let key_switching =
        GadgetOptions { digits: Some(own.div_ceil(special)), special_moduli, ..GadgetOptions::default() };
    let scaling =
        ScalerOptions { multiplication: Multiplication::HpsOverQLeveled, ..ScalerOptions::default() };
    let algorithms = Algorithms { key_switching, scaling, ..Algorithms::default() };
    let parameters = Parameters::new(LOG2_DEGREE, moduli, PLAIN_MODULUS, Security::Bits128);
    Ok(parameters.with_algorithms(algorithms))
}

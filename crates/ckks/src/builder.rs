//! Chooses CKKS parameters from what is known of the computation.
//!
//! At every ring degree the search looks for the scale, the digits and the special moduli that security leaves room for,
//! that leave the precision asked for, and whose key switches cost least; the smallest ring that has them is taken.

mod search;
mod sharing;

use sunzi_rlwe::{SecretDistribution, Security, SharingPolicy};

use crate::error::CkksError;
use crate::explain::Explanation;
use crate::parameters::Parameters;
use crate::request::Request;

/// Builder of CKKS [`Parameters`] for a computation.
///
/// The CKKS builder provides for this computation: numbers of at most 2^`message_bits` are encrypted under a public
/// key in up to n/2 slots, or n [real](Self::real_slots) ones, and multiplied, rotated and added `depth` times in a row, with operands of every
/// multiplication again of at most 2^`message_bits`. The worst such computation squares the largest number over and
/// over, which doubles the relative error each time: `precision` bits behind the binary point are right after all
/// that.
///
/// ```
/// use sunzi_ckks::Parameters;
///
/// let parameters = Parameters::builder().depth(4).precision(20).build()?;
/// assert_eq!(parameters.depth(), 4);
/// println!("{}", Parameters::builder().depth(4).precision(20).explain()?);
/// # Ok::<(), sunzi_ckks::CkksError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct ParametersBuilder {
    request: Request,
}

impl Parameters {
    /// Starts to choose CKKS parameters from what is known of the computation.
    pub fn builder() -> ParametersBuilder {
        ParametersBuilder::default()
    }

    /// Predicts the bits behind the binary point that are right after the computation of [`ParametersBuilder`], all
    /// levels down.
    ///
    /// # Errors
    /// [`CkksError::KeySwitching`] for digits that the moduli do not allow.
    pub fn predicted_precision(&self) -> Result<f64, CkksError> {
        Ok(-search::predicted(self)?.log2())
    }
}

impl ParametersBuilder {
    /// Sets how many multiplications follow one another, by ciphertexts, plaintexts or constants; 0 to 100, 1
    /// unless set.
    pub fn depth(self, depth: usize) -> Self {
        Self { request: Request { depth, ..self.request } }
    }

    /// Sets the bits behind the binary point of the results that are right: −log2 of the standard deviation of
    /// their errors is at least this. 1 to 45; 20 unless set.
    pub fn precision(self, bits: u32) -> Self {
        Self { request: Request { precision: bits, ..self.request } }
    }

    /// Asks for a ring with at least this many slots in one ciphertext.
    pub fn slots(self, slots: usize) -> Self {
        Self { request: Request { slots, ..self.request } }
    }

    /// Declares that encrypted numbers are of absolute value at most 2^bits; 0 to 20, 0 unless set.
    pub fn message_bits(self, bits: u32) -> Self {
        Self { request: Request { message_bits: bits, ..self.request } }
    }

    /// Declares that results at level 0 are of absolute value at most 2^bits, sums included; a little more than
    /// `message_bits` unless set.
    pub fn result_bits(self, bits: u32) -> Self {
        Self { request: Request { result_bits: Some(bits), ..self.request } }
    }

    /// Asks for exactly this scale, 2^bits, from 25 to 60, whatever precision it leaves.
    pub fn scale_bits(self, bits: u32) -> Self {
        Self { request: Request { scale_bits: Some(bits), ..self.request } }
    }

    /// Asks for exactly this ring degree, as log2 n.
    pub fn log2_degree(self, log2_degree: u32) -> Self {
        Self { request: Request { log2_degree: Some(log2_degree), ..self.request } }
    }

    /// Sets whether slots are real: n of them in the real ring of degree n, which is as secure as the whole ring of that degree and has n/2 complex slots. Numbers
    /// with an imaginary part, conjugation and bootstrapping are refused then.
    ///
    /// ```
    /// use sunzi_ckks::Parameters;
    ///
    /// let request = Parameters::builder().depth(2).log2_degree(13);
    /// let (complex, real) = (request.clone().build()?, request.real_slots(true).build()?);
    /// assert_eq!((complex.max_slots(), real.max_slots()), (4096, 8192));
    /// # Ok::<(), sunzi_ckks::CkksError>(())
    /// ```
    pub fn real_slots(self, real: bool) -> Self {
        Self { request: Request { real_slots: real, ..self.request } }
    }

    /// Asks for exactly this many digits d_num in key switching; the fastest choice unless set.
    pub fn digits(self, digits: usize) -> Self {
        Self { request: Request { digits: Some(digits), ..self.request } }
    }

    /// Sets how secrets are drawn; uniform ternary ones unless set.
    pub fn secrets(self, secrets: SecretDistribution) -> Self {
        Self { request: Request { secrets, ..self.request } }
    }

    /// Sets how many parties have the secret together, 2 to 1024; 1 unless set. Their keys have the errors of all, and shared results the
    /// flooding noise of all.
    pub fn parties(self, parties: u32) -> Self {
        self.secrets(SecretDistribution::of_parties(parties))
    }

    /// Declares that results are shared under this policy: the [`precision`](Self::precision) is then that of what
    /// `decrypt_for_sharing` gives after the last multiplication, the noise that it adds included.
    pub fn sharing(self, policy: SharingPolicy) -> Self {
        Self { request: Request { sharing: Some(policy), ..self.request } }
    }

    /// Sets the security that parameters must reach; 128 bits unless set.
    pub fn security(self, security: Security) -> Self {
        Self { request: Request { security, ..self.request } }
    }

    /// The request that the settings of the CKKS builder make.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Returns the cheapest CKKS parameters that meet the request.
    ///
    /// # Errors
    /// [`CkksError::Request`] for a setting out of range; [`CkksError::NothingFits`], saying what to relax.
    pub fn build(&self) -> Result<Parameters, CkksError> {
        let explanation = self.explain()?;
        match explanation.chosen {
            Some(parameters) => Ok(parameters),
            None => Err(CkksError::NothingFits(Box::new(search::advise(&explanation)))),
        }
    }

    /// Lists every candidate that [`build`](Self::build) considers, and its choice if there is one.
    ///
    /// # Errors
    /// [`CkksError::Request`] for a setting out of range.
    pub fn explain(&self) -> Result<Explanation, CkksError> {
        self.request.check()?;
        Ok(search::explain(&self.request))
    }
}

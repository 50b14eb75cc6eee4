//! Parameters from what is known of the computation.
//!
//! At every ring degree the search looks for the sizes of q_0, q_i and q_(L+1) whose product is smallest, with the noise
//! of a computation that uses all that is declared at every level ([`noise`](crate::noise)); then for digits and special
//! moduli of key switching that security leaves room for.

mod request;
mod search;

pub use request::{NoiseModel, Request};

use num_bigint::BigUint;
use sunzi_encoding::PlainRequest;
use sunzi_rlwe::{RingShape, Security, SharingPolicy};

use crate::explain::Explanation;
use crate::{BgvError, Budget, Operations, Parameters};

/// Chooses [`Parameters`] for a computation.
///
/// The computation it provides for: ciphertexts are encrypted under a public key, added, rotated and multiplied by
/// plaintexts as often as `fresh_additions`, `fresh_rotations` and `fresh_plain_products` say; then multiplied; products
/// are again added, rotated and multiplied by plaintexts as often as `additions_per_level`, `rotations_per_level` and
/// `plain_products_per_level` say, multiplied, and so on, `depth` times. Operands may depend on each other, and
/// ciphertexts of different levels may meet.
///
/// The builder cannot know how large the numbers grow: choose the plaintext modulus for the largest intermediate result,
/// sums included.
///
/// ```
/// use sunzi_bgv::Parameters;
///
/// let parameters = Parameters::builder().depth(2).plain_bits(20).additions_per_level(10).build()?;
/// assert!(parameters.supports_batching());
/// # Ok::<(), sunzi_bgv::BgvError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ParametersBuilder {
    request: Request,
}

impl ParametersBuilder {
    /// Multiplications of ciphertexts in a row, 0 to 100; 1 unless set.
    #[must_use]
    pub fn depth(mut self, depth: u32) -> Self {
        self.request.depth = depth;
        self
    }

    /// A plaintext modulus of at least this many bits, t ≥ 2^(bits − 1); 1 to 60. The default is 17 bits.
    #[must_use]
    pub fn plain_bits(mut self, bits: u32) -> Self {
        self.request.plain = PlainRequest::Bits(bits);
        self
    }

    /// Exactly this plaintext modulus t.
    #[must_use]
    pub fn plain_modulus(mut self, plain_modulus: u64) -> Self {
        self.request.plain = PlainRequest::Modulus(plain_modulus);
        self
    }

    /// Room for every integer from −`magnitude` to `magnitude`, below 2^59.
    #[must_use]
    pub fn plain_range(mut self, magnitude: impl Into<BigUint>) -> Self {
        self.request.plain = PlainRequest::Range(magnitude.into());
        self
    }

    /// Whether n numbers share a ciphertext, slot by slot; true unless set. Without batching any t will do.
    #[must_use]
    pub fn batching(mut self, batching: bool) -> Self {
        self.request.batching = batching;
        self
    }

    /// All operations between multiplications at once, as a dry run of a circuit counts them.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.request.budget = budget;
        self
    }

    /// Additions before the first multiplication: one less than the ciphertexts in a sum. A product with a constant c
    /// counts as a sum of |c|, an added plaintext as nothing. 0 unless set.
    #[must_use]
    pub fn fresh_additions(mut self, count: u64) -> Self {
        self.request.budget.fresh.additions = count;
        self
    }

    /// Rotations in a sum before the first multiplication; 0 unless set. A sum over k slots of a ciphertext takes k − 1
    /// rotations and k − 1 additions.
    #[must_use]
    pub fn fresh_rotations(mut self, count: u64) -> Self {
        self.request.budget.fresh.rotations = count;
        self
    }

    /// Multiplications by plaintexts in a row before the first multiplication of ciphertexts; 0 unless set.
    #[must_use]
    pub fn fresh_plain_products(mut self, count: u32) -> Self {
        self.request.budget.fresh.plain_products = count;
        self
    }

    /// Additions after each multiplication: one less than the products in a sum. 0 unless set.
    #[must_use]
    pub fn additions_per_level(mut self, count: u64) -> Self {
        self.request.budget.per_level.additions = count;
        self
    }

    /// Rotations in a sum after each multiplication; 0 unless set.
    #[must_use]
    pub fn rotations_per_level(mut self, count: u64) -> Self {
        self.request.budget.per_level.rotations = count;
        self
    }

    /// Multiplications by plaintexts in a row after each multiplication of ciphertexts; 0 unless set.
    #[must_use]
    pub fn plain_products_per_level(mut self, count: u32) -> Self {
        self.request.budget.per_level.plain_products = count;
        self
    }

    /// Operations after the last multiplication, beside those that are declared for every one: a final sum, marks or a projection. None
    /// unless set. They cost noise at the lowest level alone.
    #[must_use]
    pub fn last_operations(mut self, operations: Operations) -> Self {
        self.request.budget.last = operations;
        self
    }

    /// At least this many numbers in one ciphertext.
    #[must_use]
    pub fn slots(mut self, slots: usize) -> Self {
        self.request.slots = slots;
        self
    }

    /// Exactly this ring degree, as log2 n: the ring Z\[X\]/(X^n + 1).
    #[must_use]
    pub fn log2_degree(mut self, log2_degree: u32) -> Self {
        (self.request.log2_degree, self.request.ring_index) = (Some(log2_degree), None);
        self
    }

    /// Exactly the ring Z\[X\]/Φ_m(X) of index m, odd or a multiple of four; [`log2_degree`](Self::log2_degree) for a power of two.
    ///
    /// With batching a plaintext modulus is then a power p^r of a prime that does not divide m, and slots hold elements of GR(p^r, d), d the order of p
    /// modulo m: vectors over GF(2^16) for m = 21845 and t = 2.
    #[must_use]
    pub fn ring_index(mut self, m: u64) -> Self {
        match RingShape::of_index(m) {
            RingShape::Log2Degree(log2_degree) => self.log2_degree(log2_degree),
            RingShape::RingIndex(m) => {
                (self.request.log2_degree, self.request.ring_index) = (None, Some(m));
                self
            }
        }
    }

    /// Whether several level moduli share a word where they fit into one, as they do for small t: fewer and larger moduli
    /// with the same noise, so fewer transforms `[KPZ21, Remark 5.1]`. True unless set; of no effect where the ring's index is no power of
    /// two.
    #[must_use]
    pub fn shared_moduli(mut self, shared: bool) -> Self {
        self.request.shared_moduli = shared;
        self
    }

    /// Exactly this many digits d_num in key switching; the fastest choice unless set.
    #[must_use]
    pub fn digits(mut self, digits: usize) -> Self {
        self.request.digits = Some(digits);
        self
    }

    /// Bits that must be left at every level; 1 unless set.
    #[must_use]
    pub fn margin(mut self, bits: u32) -> Self {
        self.request.margin = bits;
        self
    }

    /// Leaves room for `decrypt_for_sharing` under this policy after the last level, for results that have used all that was asked for.
    #[must_use]
    pub fn sharing(mut self, policy: SharingPolicy) -> Self {
        self.request.sharing = Some(policy);
        self
    }

    /// The security to reach; 128 bits unless set.
    #[must_use]
    pub fn security(mut self, security: Security) -> Self {
        self.request.security = security;
        self
    }

    /// The bounds to choose by; those with a failure probability of 2^-128 unless set.
    #[must_use]
    pub fn noise(mut self, noise: NoiseModel) -> Self {
        self.request.noise = noise;
        self
    }

    /// What has been asked so far.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The cheapest parameters.
    ///
    /// # Errors
    /// [`BgvError::Request`] for a setting out of range; [`BgvError::NothingFits`], saying what to relax.
    pub fn build(&self) -> Result<Parameters, BgvError> {
        let explanation = self.explain()?;
        match explanation.chosen {
            Some(parameters) => Ok(parameters),
            None => Err(BgvError::NothingFits(Box::new(search::advise(&explanation)))),
        }
    }

    /// Every candidate that [`build`](Self::build) considers, and its choice if there is one.
    ///
    /// # Errors
    /// [`BgvError::Request`] for a setting out of range.
    pub fn explain(&self) -> Result<Explanation, BgvError> {
        self.request.check()?;
        Ok(search::explain(&self.request))
    }
}

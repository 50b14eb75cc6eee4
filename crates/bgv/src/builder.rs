//! Chooses BGV parameters from what is known of the computation.
//!
//! At every ring degree the search looks for the sizes of q_0, q_i and q_(L+1) with the smallest product, with the
//! noise of a computation that uses all that is declared at every level ([`noise`](crate::noise)); then for digits and
//! special moduli of key switching that security leaves room for.

mod search;

use num_bigint::BigUint;
use sunzi_encoding::PlainRequest;
use sunzi_rlwe::reencryption::Reencryptions;
use sunzi_rlwe::{RingShape, SecretDistribution, Security, SharingPolicy};

use crate::budget::{Budget, Operations};
use crate::error::BgvError;
use crate::explain::Explanation;
use crate::parameters::Parameters;
use crate::request::{NoiseModel, Request};

/// Builder of BGV [`Parameters`] for a computation.
///
/// The BGV builder provides for this computation: ciphertexts are encrypted under a public key, added, rotated and
/// multiplied by plaintexts as often as `fresh_additions`, `fresh_rotations` and `fresh_plain_products` say; then
/// multiplied; products are again added, rotated and multiplied by plaintexts as often as `additions_per_level`,
/// `rotations_per_level` and `plain_products_per_level` say, multiplied, and so on, `depth` times. Operands may depend
/// on each other, and ciphertexts of different levels may meet.
///
/// The BGV builder cannot know how large the numbers grow: choose the plaintext modulus for the largest intermediate
/// result, sums included.
///
/// ```
/// use sunzi_bgv::Parameters;
///
/// let parameters = Parameters::builder().depth(2).plain_bits(20).additions_per_level(10).build()?;
/// assert!(parameters.supports_batching());
/// # Ok::<(), sunzi_bgv::BgvError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct ParametersBuilder {
    request: Request,
}

impl Parameters {
    /// Starts to choose BGV parameters from what is known of the computation.
    pub fn builder() -> ParametersBuilder {
        ParametersBuilder::default()
    }
}

impl ParametersBuilder {
    /// Sets how many ciphertext multiplications follow one another, 0 to 100; 1 unless set.
    pub fn depth(self, depth: usize) -> Self {
        Self { request: Request { depth, ..self.request } }
    }

    /// Asks for a plaintext modulus of at least this many bits, t ≥ 2^(bits − 1); 1 to 60. The default is 17 bits.
    pub fn plain_bits(self, bits: u32) -> Self {
        Self { request: Request { plain: PlainRequest::Bits(bits), ..self.request } }
    }

    /// Asks for exactly this plaintext modulus t.
    pub fn plain_modulus(self, plain_modulus: u64) -> Self {
        Self { request: Request { plain: PlainRequest::Modulus(plain_modulus), ..self.request } }
    }

    /// Asks for room for every integer from −`magnitude` to `magnitude`, below 2^59.
    pub fn plain_range(self, magnitude: impl Into<BigUint>) -> Self {
        Self { request: Request { plain: PlainRequest::Range(magnitude.into()), ..self.request } }
    }

    /// Sets whether n numbers share a ciphertext, slot by slot; true unless set. Without batching any plaintext
    /// modulus will do.
    pub fn batching(self, batching: bool) -> Self {
        Self { request: Request { batching, ..self.request } }
    }

    /// Declares all operations between multiplications at once, as a dry run of a circuit counts them.
    pub fn budget(self, budget: Budget) -> Self {
        Self { request: Request { budget, ..self.request } }
    }

    /// Declares the additions before the first multiplication: one less than the ciphertexts in a sum. A product
    /// with a constant c counts as a sum of |c|, an added plaintext as nothing. 0 unless set.
    pub fn fresh_additions(mut self, count: u64) -> Self {
        self.request.budget.fresh.additions = count;
        self
    }

    /// Declares the rotations in a sum before the first multiplication; 0 unless set. A sum over k slots of a
    /// ciphertext takes k − 1 rotations and k − 1 additions.
    pub fn fresh_rotations(mut self, count: u64) -> Self {
        self.request.budget.fresh.rotations = count;
        self
    }

    /// Declares the multiplications by plaintexts in a row before the first multiplication of ciphertexts; 0 unless
    /// set.
    pub fn fresh_plain_products(mut self, count: usize) -> Self {
        self.request.budget.fresh.plain_products = count;
        self
    }

    /// Declares the additions after each multiplication: one less than the products in a sum. 0 unless set.
    pub fn additions_per_level(mut self, count: u64) -> Self {
        self.request.budget.per_level.additions = count;
        self
    }

    /// Declares the rotations in a sum after each multiplication; 0 unless set.
    pub fn rotations_per_level(mut self, count: u64) -> Self {
        self.request.budget.per_level.rotations = count;
        self
    }

    /// Declares the multiplications by plaintexts in a row after each multiplication of ciphertexts; 0 unless set.
    pub fn plain_products_per_level(mut self, count: usize) -> Self {
        self.request.budget.per_level.plain_products = count;
        self
    }

    /// Declares further operations after the last multiplication, such as a final sum, marks or a projection. None
    /// unless set. They cost noise at the lowest level only.
    pub fn last_operations(mut self, operations: Operations) -> Self {
        self.request.budget.last = operations;
        self
    }

    /// Asks for a ring with at least this many slots in one ciphertext.
    pub fn slots(self, slots: usize) -> Self {
        Self { request: Request { slots, ..self.request } }
    }

    /// Asks for exactly this ring degree, as log2 n: the ring Z\[X\]/(X^n + 1).
    pub fn log2_degree(self, log2_degree: u32) -> Self {
        self.ring(RingShape::Log2Degree(log2_degree))
    }

    /// Asks for exactly the ring Z\[X\]/Φ_m(X) of index m, odd or a multiple of four;
    /// [`log2_degree`](Self::log2_degree) is for a power of two.
    ///
    /// With batching over a ring of index m, a plaintext modulus is a power p^r of a prime that does not divide m, and
    /// slots hold elements of GR(p^r, d), d the order of p modulo m: vectors over GF(2^16) for m = 21845 and t = 2.
    pub fn ring_index(self, m: u64) -> Self {
        self.ring(RingShape::of_index(m))
    }

    fn ring(self, ring: RingShape) -> Self {
        let (log2_degree, ring_index) = ring.names();
        Self { request: Request { log2_degree, ring_index, ..self.request } }
    }

    /// Sets whether several level moduli share a word where they fit into one, as they do for small t: fewer and
    /// larger moduli with the same noise, so fewer transforms `[KPZ21, Remark 5.1]`. True unless set; of no effect
    /// where the ring's index is no power of two.
    pub fn shared_moduli(self, shared: bool) -> Self {
        Self { request: Request { shared_moduli: shared, ..self.request } }
    }

    /// Sets whether the moduli of products follow the noise of their operands: dynamic switching, which
    /// `[KPZ21, section 6]` leaves open. False unless set.
    ///
    /// With dynamic switching what is declared makes room and refuses nothing: a computation goes on as long as the
    /// noise bounds of its ciphertexts allow, and at most `depth` products in a row. A level with more operations
    /// than the others takes bits of its own, where levels of one size have room for it everywhere. Moduli are 1
    /// modulo t, so that any of them may be dropped without a change of factor, and are larger for it by a few bits.
    ///
    /// ```
    /// use sunzi_bgv::{BgvError, Parameters};
    ///
    /// let parameters = Parameters::builder().depth(3).plain_bits(17).dynamic_switching(true).build()?;
    /// assert!(parameters.budget().is_dynamic());
    /// assert!(parameters.moduli().iter().all(|q| q % parameters.plain_modulus() == 1));
    /// # Ok::<(), BgvError>(())
    /// ```
    pub fn dynamic_switching(self, dynamic: bool) -> Self {
        Self { request: Request { dynamic, ..self.request } }
    }

    /// Asks for exactly this many digits d_num in key switching; the fastest choice unless set.
    pub fn digits(self, digits: usize) -> Self {
        Self { request: Request { digits: Some(digits), ..self.request } }
    }

    /// Sets the bits of noise that must be left at every level; 1 unless set.
    pub fn margin(self, bits: u32) -> Self {
        Self { request: Request { margin: bits, ..self.request } }
    }

    /// Leaves room for `decrypt_for_sharing` under this sharing policy after the last level, for results that have
    /// used all that was asked for.
    pub fn sharing(self, policy: SharingPolicy) -> Self {
        Self { request: Request { sharing: Some(policy), ..self.request } }
    }

    /// Leaves room for so many re-encryptions in a row under this policy, of results that have used all that was asked for. What is
    /// [shared](Self::sharing) may have been re-encrypted as often. A multiplication after a re-encryption takes levels that are not counted here.
    pub fn reencryptions(self, hops: u32, policy: SharingPolicy) -> Self {
        let reencryptions = Some(Reencryptions { hops, policy });
        Self { request: Request { reencryptions, ..self.request } }
    }

    /// Sets how many parties have the secret together, 2 to 1024; 1 unless set. Their keys have the errors of all, and shared results the
    /// flooding noise of all.
    pub fn parties(self, parties: u32) -> Self {
        Self { request: Request { secrets: SecretDistribution::of_parties(parties), ..self.request } }
    }

    /// Sets the security that parameters must reach; 128 bits unless set.
    pub fn security(self, security: Security) -> Self {
        Self { request: Request { security, ..self.request } }
    }

    /// Sets the noise bounds that moduli are chosen by; bounds with a failure probability of 2^-128 unless set.
    pub fn noise(self, noise: NoiseModel) -> Self {
        Self { request: Request { noise, ..self.request } }
    }

    /// The request that the settings of the BGV builder make.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Returns the cheapest BGV parameters that meet the request.
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

    /// Lists every candidate that [`build`](Self::build) considers, and its choice if there is one.
    ///
    /// # Errors
    /// [`BgvError::Request`] for a setting out of range.
    pub fn explain(&self) -> Result<Explanation, BgvError> {
        self.request.check()?;
        Ok(search::explain(&self.request))
    }
}

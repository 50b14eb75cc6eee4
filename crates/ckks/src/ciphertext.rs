//! CKKS as a scheme of the RLWE layer.

use crate::Precision;

/// The scheme CKKS, as a type.
///
/// ```
/// use sunzi_ckks::Ckks;
/// use sunzi_rlwe::Scheme;
///
/// assert_eq!(Ckks::NAME, "CKKS");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ckks;

impl sunzi_rlwe::Scheme for Ckks {
    type Metadata = Metadata;
    const NAME: &'static str = "CKKS";
}

/// A CKKS ciphertext: ct(s) = m + e (mod Q_l), where the values of m at the roots of unity are the slots times the scale.
///
/// ```
/// use sunzi_ckks::{Ciphertext, Context, Encoder, LevelRange, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let ranges = [LevelRange { levels: 2, scale_bits: 40 }];
/// # let security = sunzi_rlwe::Security::InsecureForResearchOnly;
/// # let context = Context::new(&Parameters::from_ranges(8, 50, &ranges, security)?.with_digits(3)?)?;
/// # let mut rng = sunzi_rlwe::randomness::from_os()?;
/// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
/// # let encoder = Encoder::new(&context, 4)?;
/// # let a = context.encrypt_secret(&encoder.encode_real(&[0.5, -1.0])?, &secret, &mut rng)?;
/// let fresh: &Ciphertext = &a;
/// assert_eq!(fresh.metadata().level, context.depth());
/// assert_eq!(fresh.parts().len(), 2);
/// # Ok(())
/// # }
/// ```
pub type Ciphertext = sunzi_rlwe::Ciphertext<Ckks>;

/// Metadata of a CKKS ciphertext: all that it carries besides polynomials and noise.
///
/// ```
/// use sunzi_ckks::{Context, Encoder, LevelRange, Metadata, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let ranges = [LevelRange { levels: 2, scale_bits: 40 }];
/// # let security = sunzi_rlwe::Security::InsecureForResearchOnly;
/// # let context = Context::new(&Parameters::from_ranges(8, 50, &ranges, security)?.with_digits(3)?)?;
/// # let mut rng = sunzi_rlwe::randomness::from_os()?;
/// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
/// # let encoder = Encoder::new(&context, 4)?;
/// # let a = context.encrypt_secret(&encoder.encode_real(&[0.5, -1.0])?, &secret, &mut rng)?;
/// let &Metadata { level, scale, slots, precision } = a.metadata();
/// assert_eq!((level, slots), (2, 4));
/// assert_eq!(scale, context.scale(level)?);
/// assert!(precision.bits() > 20.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    /// Level l of the ciphertext: rescalings that it still allows.
    pub level: usize,
    /// Scale of the ciphertext, by which the slots are multiplied.
    pub scale: f64,
    /// Number of slots of the message: a power of two. With fewer than n/2 the vector repeats.
    pub slots: usize,
    /// Precision: a bound on the slots, and an estimate of their errors.
    pub precision: Precision,
}

impl Metadata {
    /// The number of slots of the result of two operands, and the precision of each operand there: errors outside the
    /// subring of a sparse message count once the other has more slots.
    pub(crate) fn joint_slots(&self, other: &Self) -> (usize, [Precision; 2]) {
        let slots = self.slots.max(other.slots);
        let spread = |of: &Self| {
            let factor = (slots as f64 / of.slots as f64).sqrt();
            of.precision.with_deviation(of.precision.deviation() * factor)
        };
        (slots, [spread(self), spread(other)])
    }
}

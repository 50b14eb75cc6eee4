//! Sizes of a labelled set, from which client and server compute alike.

use sunzi_bgv::Context;

use super::IntersectionError;
use super::powers::{SOURCES, reach};

/// Bytes of zeros before a label, by which whoever opens it sees that it is the label of this item: another one opens so once in 2^80.
pub(super) const ZEROS: usize = 10;

/// Layout of a labelled set. It is public: it tells the number of items, and nothing of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    bins: usize,
    plain_modulus: u64,
    seed: [u8; 32],
    items: u64,
    label_bytes: usize,
    sources: usize,
    parts: usize,
}

impl Layout {
    /// Largest number of items of a set.
    pub const MOST_ITEMS: u64 = 1 << 28;
    /// Largest number of bytes of a label.
    pub const MOST_LABEL: usize = 1 << 12;
    /// Largest number of polynomials of a bin.
    pub const MOST_PARTS: usize = 1 << 16;
    /// Largest number of ciphertexts of a query.
    pub const MOST_SOURCES: usize = SOURCES.len();
    /// Plaintext moduli are below this: sums of a polynomial's products fit 64 bits.
    const MOST_MODULUS: u64 = 1 << 28;

    /// Makes the layout of a set of so many items with labels of so many bytes: the seed tells sets apart, queries have so many powers, and each bin so many polynomials.
    ///
    /// # Errors
    /// [`IntersectionError::Setting`] for parameters whose plaintext modulus is not a prime with a slot for every coefficient, or not below 2^28, and for numbers that no set has.
    pub fn new(
        context: &Context,
        seed: [u8; 32],
        (items, label_bytes): (u64, usize),
        (sources, parts): (usize, usize),
    ) -> Result<Self, IntersectionError> {
        let (bins, plain_modulus) = (context.degree(), context.plain_modulus());
        let has_slots = context.ring().index().is_power_of_two()
            && plain_modulus % (2 * bins as u64) == 1
            && sunzi_math::is_prime(plain_modulus);
        if !has_slots || plain_modulus >= Self::MOST_MODULUS {
            let expected = format!("a prime below 2^28 that is 1 modulo {}", 2 * bins);
            return Err(IntersectionError::setting("the plaintext modulus", expected, plain_modulus));
        }
        if context.depth() < 2 {
            return Err(IntersectionError::setting(
                "the depth of the parameters",
                "2 or more",
                context.depth(),
            ));
        }
        let checks = [
            ("the number of items", items, 1, Self::MOST_ITEMS),
            ("the bytes of a label", label_bytes as u64, 0, Self::MOST_LABEL as u64),
            ("the powers of a query", sources as u64, 1, Self::MOST_SOURCES as u64),
            ("the polynomials of a bin", parts as u64, 1, Self::MOST_PARTS as u64),
        ];
        if let Some((what, got, least, most)) =
            checks.into_iter().find(|(_, got, least, most)| !(least..=most).contains(&got))
        {
            return Err(IntersectionError::setting(what, format!("{least} to {most}"), got));
        }
        Ok(Self { bins, plain_modulus, seed, items, label_bytes, sources, parts })
    }

    /// The seed that tells sets apart.
    #[must_use]
    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    /// The number of items of the set.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.items
    }

    /// The number of bytes of a label; shorter ones end in zeros.
    #[must_use]
    pub fn label_bytes(&self) -> usize {
        self.label_bytes
    }

    /// The number of ciphertexts of a query: powers of the client's numbers.
    #[must_use]
    pub fn sources(&self) -> usize {
        self.sources
    }

    /// The number of polynomials that a bin has for every part of a label.
    #[must_use]
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// The number of items that a query asks for at most: two thirds of its slots, so that they find bins.
    #[must_use]
    pub fn capacity(&self) -> usize {
        (self.bins * 2 / 3).max(1)
    }

    /// The number of ciphertexts of an answer.
    #[must_use]
    pub fn answers(&self) -> usize {
        self.parts * self.columns()
    }

    /// Approximate bytes of memory that a prepared set takes.
    #[must_use]
    pub fn prepared_bytes(&self, context: &Context) -> u64 {
        let plaintexts = (self.degree() as u64).saturating_mul(self.answers() as u64);
        plaintexts.saturating_mul((7 * self.bins * context.ring().level()) as u64)
    }

    /// The number of bins, which is that of slots.
    pub(super) fn bins(&self) -> usize {
        self.bins
    }

    /// The plaintext modulus t.
    pub(super) fn plain_modulus(&self) -> u64 {
        self.plain_modulus
    }

    /// Number of items of a polynomial, which is the largest power of the numbers.
    pub(super) fn degree(&self) -> usize {
        reach(self.sources)
    }

    /// Number of bits of a sealed label that a slot holds.
    pub(super) fn bits(&self) -> usize {
        self.plain_modulus.ilog2() as usize
    }

    /// Number of slots that a sealed label takes.
    pub(super) fn columns(&self) -> usize {
        (8 * (ZEROS + self.label_bytes)).div_ceil(self.bits())
    }

    /// Bytes of a sealed label, which fill its slots.
    pub(super) fn sealed_bytes(&self) -> usize {
        (self.columns() * self.bits()).div_ceil(8)
    }

    /// Fails for a context of another degree or plaintext modulus.
    pub(super) fn check(&self, context: &Context) -> Result<(), IntersectionError> {
        let (own, got) = ((self.bins, self.plain_modulus), (context.degree(), context.plain_modulus()));
        if own == got {
            return Ok(());
        }
        let said = |(degree, modulus)| format!("degree {degree}, plaintext modulus {modulus}");
        Err(IntersectionError::setting("the parameters of a layout", said(own), said(got)))
    }
}

//! Constructors of rings, in words and dry.

use sunzi_kernels::Isa;
use sunzi_math::ToRingIndex;

use crate::ladder::is_of_prefixes;
use crate::{
    Backend, Gadget, GadgetOptions, HollowGadget, HollowRing, HollowScaler, Parallelism, Ring, RingError,
    RnsGadget, RnsScaler, Scaler, ScalerOptions, Storage, Tables, WordRing, describe_index, describe_sets,
};

impl Ring {
    /// The ring of index m, of degree up to 2^17, modulo the product of the given primes ≡ 1 (mod
    /// [`root_order`](Self::root_order)): any m with an odd factor that is no odd number's double, or a power of two
    /// from 2^7 on. For a [`RingIndex`](sunzi_math::RingIndex) it is the ring of that index, real ones included.
    ///
    /// # Errors
    /// [`RingError::UnsupportedIndex`]; [`RingError::Math`] for m = 2 mod 4; [`RingError::LengthMismatch`] without moduli;
    /// [`RingError::NotCoprime`]; [`RingError::Kernel`] for a modulus without a transform of this degree.
    pub fn new(m: impl ToRingIndex, moduli: &[u64]) -> Result<Self, RingError> {
        WordRing::new(m, moduli).map(Self::from)
    }

    /// The ring of [`new`](Self::new) on a given instruction set, which every ring derived from it uses too.
    /// Polynomials of the two rings are interchangeable.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new); [`RingError::Kernel`] for an instruction set this processor lacks.
    pub fn with_isa(m: impl ToRingIndex, moduli: &[u64], isa: Isa) -> Result<Self, RingError> {
        WordRing::with_isa(m, moduli, isa).map(Self::from)
    }

    /// The ring whose level l is modulo the product of the moduli with the indices `rungs[l − 1]`: any sets of the moduli, with
    /// ascending products and all moduli last. See [`Backend::is_nested`] for what levels can then do with each other.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new); [`RingError::OutOfRange`] for rungs that break these conditions.
    pub fn with_rungs(m: impl ToRingIndex, moduli: &[u64], rungs: &[Vec<usize>]) -> Result<Self, RingError> {
        WordRing::with_rungs(m, moduli, rungs).map(Self::from)
    }

    /// A dry ring: levels, moduli and sizes of [`with_rungs`](Self::with_rungs), or of [`new`](Self::new) where there
    /// are no rungs, and no residues ([`HollowRing`]).
    ///
    /// # Errors
    /// Every error of [`HollowRing::of_levels`].
    pub fn dry(m: impl ToRingIndex, moduli: &[u64], rungs: &[Vec<usize>]) -> Result<Self, RingError> {
        HollowRing::of_levels(m, moduli, rungs).map(Self::of)
    }

    /// The storage of this ring, where it keeps residues as words.
    ///
    /// # Errors
    /// [`RingError::OtherStorage`] where residues are not words.
    pub fn words(&self) -> Result<&WordRing, RingError> {
        self.storage_as()
    }

    /// Returns the ring with another way to share work among threads, which every ring derived from it has too;
    /// tables are shared as far as they do not depend on it. Polynomials of the two rings are interchangeable. A ring
    /// of another storage is returned unchanged.
    #[must_use]
    pub fn with_parallelism(&self, parallelism: Parallelism) -> Self {
        match self.storage::<WordRing>() {
            Some(words) => self.with_storage(words.with_parallelism(parallelism)),
            None => self.clone(),
        }
    }
}

impl From<WordRing> for Ring {
    fn from(words: WordRing) -> Self {
        Self::over(words, RnsTables)
    }
}

/// Tables of word storage: scaling and digits in full RNS.
#[derive(Clone, Copy, Debug)]
struct RnsTables;

impl Tables for RnsTables {
    fn scaler(&self, ring: &Ring, t: u64, options: &ScalerOptions) -> Result<Scaler, RingError> {
        let words = ring.words()?;
        words.check_prefixes()?;
        RnsScaler::new(ring, words, t, options).map(Scaler::new)
    }

    fn decryption_scaler(&self, ring: &Ring, t: u64) -> Result<Scaler, RingError> {
        let words = ring.words()?;
        let prefixes = words.of_plans(words.plans().to_vec())?;
        RnsScaler::new(ring, &prefixes, t, &ScalerOptions::default()).map(Scaler::new)
    }

    fn gadget(&self, ring: &Ring, options: &GadgetOptions) -> Result<Gadget, RingError> {
        RnsGadget::new(ring, options).map(Gadget::new)
    }

    fn description(&self, ring: &Ring) -> Vec<u8> {
        description_of(ring, Storage::Words)
    }
}

/// The name in files of a ring of residues in words; empty for a ring of another storage.
#[must_use]
pub fn description_of(ring: &Ring, storage: Storage) -> Vec<u8> {
    let Ok(ring) = ring.words() else { return Vec::new() };
    let (ladder, levels) = (ring.ladder(), 1..ring.level() + 1);
    if is_of_prefixes(levels.clone().map(|level| ladder.limbs(level))) {
        return describe_index(storage, ring.ring_index(), ring.basis().values());
    }
    let moduli = ladder.moduli();
    let rungs = levels.map(|level| ladder.limbs(level));
    describe_sets(describe_index(storage, ring.ring_index(), &moduli), moduli.len(), rungs)
}

impl Tables for HollowRing {
    fn scaler(&self, ring: &Ring, t: u64, options: &ScalerOptions) -> Result<Scaler, RingError> {
        HollowScaler::new(ring, t, options).map(Scaler::new)
    }

    fn gadget(&self, ring: &Ring, options: &GadgetOptions) -> Result<Gadget, RingError> {
        HollowGadget::new(ring, options).map(Gadget::new)
    }

    /// Returns an empty name: there are no files of a dry ring.
    fn description(&self, _: &Ring) -> Vec<u8> {
        Vec::new()
    }
}

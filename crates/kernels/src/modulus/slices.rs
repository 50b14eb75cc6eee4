//! Operations on slices of words modulo a modulus: each checks lengths and calls one kernel of the table.
#![expect(unsafe_code, reason = "calls through tables chosen for an available instruction set")]

use super::{Modulus, check_terms};
use crate::constants::MATRIX_BLOCK;
use crate::error::{KernelError, check_count, check_length};
use crate::table::Bits;

impl Modulus {
    /// Computes a += b mod q, word by word.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`], as for all operations on slices.
    pub fn add_assign(&self, a: &mut [u64], b: &[u64]) -> Result<(), KernelError> {
        check_length(a.len(), b.len())?;
        // SAFETY: the table was chosen for an available instruction set, here and below.
        unsafe { (self.table.elementwise.add_assign)(&self.constants, a, b) };
        Ok(())
    }

    /// Computes a −= b mod q, word by word.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] unless a and b have equal lengths.
    pub fn sub_assign(&self, a: &mut [u64], b: &[u64]) -> Result<(), KernelError> {
        check_length(a.len(), b.len())?;
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.sub_assign)(&self.constants, a, b) };
        Ok(())
    }

    /// Computes a = −a mod q, word by word.
    pub fn neg_assign(&self, a: &mut [u64]) {
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.neg_assign)(&self.constants, a) };
    }

    /// Computes (a, b) = (a + b, a − b) mod q, word by word: a butterfly with twiddle 1.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] unless a and b have equal lengths.
    pub fn sum_difference_assign(&self, a: &mut [u64], b: &mut [u64]) -> Result<(), KernelError> {
        check_length(a.len(), b.len())?;
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.sum_difference_assign)(&self.constants, a, b) };
        Ok(())
    }

    /// Computes a ·= b mod q, word by word.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] unless a and b have equal lengths.
    pub fn mul_assign(&self, a: &mut [u64], b: &[u64]) -> Result<(), KernelError> {
        check_length(a.len(), b.len())?;
        #[cfg(feature = "tally")]
        crate::tally::products(1, a.len());
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.mul_assign)(&self.constants, a, b) };
        Ok(())
    }

    /// Computes acc += a·b mod q, word by word.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] unless all three slices have equal lengths.
    pub fn mul_add_assign(&self, acc: &mut [u64], a: &[u64], b: &[u64]) -> Result<(), KernelError> {
        check_lengths(acc.len(), [a, b])?;
        #[cfg(feature = "tally")]
        crate::tally::products(1, acc.len());
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.mul_add_assign)(&self.constants, acc, a, b) };
        Ok(())
    }

    /// Computes a ·= c mod q, word by word, for one scalar c < q.
    ///
    /// # Errors
    /// [`KernelError::NotReduced`] for a scalar c of q or more.
    pub fn mul_scalar_assign(&self, a: &mut [u64], c: u64) -> Result<(), KernelError> {
        self.check_reduced(c)?;
        #[cfg(feature = "tally")]
        crate::tally::products(1, a.len());
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.mul_scalar_assign)(&self.constants, a, c) };
        Ok(())
    }

    /// Computes out = a mod q, word by word, for any words.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] unless out and a have equal lengths.
    pub fn reduce_into(&self, out: &mut [u64], a: &[u64]) -> Result<(), KernelError> {
        check_length(out.len(), a.len())?;
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.reduce_into)(&self.constants, out, a) };
        Ok(())
    }

    /// Computes out = a mod q in `[0, q)`, word by word, for any signed words.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] unless out and a have equal lengths.
    pub fn reduce_signed_into(&self, out: &mut [u64], a: &[i64]) -> Result<(), KernelError> {
        check_length(out.len(), a.len())?;
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.reduce_signed_into)(&self.constants, out, a) };
        Ok(())
    }

    /// Computes out = a + b mod q, word by word.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] unless all three slices have equal lengths.
    pub fn sum_into(&self, out: &mut [u64], a: &[u64], b: &[u64]) -> Result<(), KernelError> {
        check_lengths(out.len(), [a, b])?;
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.sum_into)(&self.constants, out, a, b) };
        Ok(())
    }

    /// Computes out = a − b mod q, word by word.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] unless all three slices have equal lengths.
    pub fn difference_into(&self, out: &mut [u64], a: &[u64], b: &[u64]) -> Result<(), KernelError> {
        check_lengths(out.len(), [a, b])?;
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.difference_into)(&self.constants, out, a, b) };
        Ok(())
    }

    /// Computes a += c·b mod q, word by word, for one scalar c < q.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] for unequal lengths; [`KernelError::NotReduced`] for a scalar of q or
    /// more.
    pub fn add_scaled_assign(&self, a: &mut [u64], b: &[u64], c: u64) -> Result<(), KernelError> {
        self.check_reduced(c)?;
        check_length(a.len(), b.len())?;
        #[cfg(feature = "tally")]
        crate::tally::products(1, a.len());
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.add_scaled_assign)(&self.constants, a, b, c) };
        Ok(())
    }

    /// Computes a = c·(a + b) mod q, word by word, for one scalar c < q.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] for unequal lengths; [`KernelError::NotReduced`] for a scalar of q or
    /// more.
    pub fn add_scale_assign(&self, a: &mut [u64], b: &[u64], c: u64) -> Result<(), KernelError> {
        self.check_reduced(c)?;
        check_length(a.len(), b.len())?;
        #[cfg(feature = "tally")]
        crate::tally::products(1, a.len());
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.add_scale_assign)(&self.constants, a, b, c) };
        Ok(())
    }

    /// Computes a_i += c·b_(l−1−i) and b_(l−1−i) += c·a_i mod q for both lists of l words, for one scalar c < q: words below 2q stay so, and reduced
    /// words become reduced ones.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] for unequal lengths; [`KernelError::NotReduced`] for a scalar of q or
    /// more.
    pub fn add_mirrored_assign(&self, a: &mut [u64], b: &mut [u64], c: u64) -> Result<(), KernelError> {
        self.check_reduced(c)?;
        check_length(a.len(), b.len())?;
        #[cfg(feature = "tally")]
        crate::tally::products(2, a.len());
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.add_mirrored_assign)(&self.constants, a, b, c) };
        Ok(())
    }

    /// Computes a = (a + half) mod q + rest, word by word: residues from −half on, and an addend that makes
    /// them all positive.
    ///
    /// # Errors
    /// [`KernelError::NotReduced`] unless half < q.
    pub fn shift_assign(&self, a: &mut [u64], half: u64, rest: u64) -> Result<(), KernelError> {
        self.check_reduced(half)?;
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.shift_assign)(&self.constants, a, half, rest) };
        Ok(())
    }

    /// Computes the tensor product c·(a_0 + a_1·Y)(b_0 + b_1·Y), word by word, as the coefficients of 1, Y
    /// and Y², for one scalar c < q.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] for unequal lengths; [`KernelError::NotReduced`] for a scalar of q or
    /// more.
    pub fn tensor(
        &self,
        out: [&mut [u64]; 3],
        a: [&[u64]; 2],
        b: [&[u64]; 2],
        c: u64,
    ) -> Result<(), KernelError> {
        self.check_reduced(c)?;
        let [first, second, third] = &out;
        let len = first.len();
        for got in [second.len(), third.len()].into_iter().chain(a.iter().chain(&b).map(|slice| slice.len()))
        {
            check_length(len, got)?;
        }
        #[cfg(feature = "tally")]
        crate::tally::products(if c == 1 { 4 } else { 6 }, len);
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.tensor)(&self.constants, out, a, b, (c != 1).then_some(c)) };
        Ok(())
    }

    /// Computes out = (((a >> shift) & mask) + offset) mod q for an offset up to q, word by word. Unless
    /// `reduces` is set, which reduces the bits before the addition, the sum must be below 2q.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`]; [`KernelError::NotReduced`] for an offset above q.
    pub fn lift_into(
        &self,
        out: &mut [u64],
        a: &[u64],
        (shift, mask): (u32, u64),
        offset: u64,
        reduces: bool,
    ) -> Result<(), KernelError> {
        self.check_reduced(offset.saturating_sub(1))?;
        check_length(out.len(), a.len())?;
        // SAFETY: as in `add_assign`.
        unsafe {
            (self.table.elementwise.lift_into)(
                &self.constants,
                out,
                a,
                &Bits { shift, mask, reduces, offset },
            )
        };
        Ok(())
    }

    /// Computes a += b mod q for signed words with |b| ≤ q, word by word.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] unless a and b have equal lengths.
    pub fn add_small_assign(&self, a: &mut [u64], b: &[i64]) -> Result<(), KernelError> {
        check_length(a.len(), b.len())?;
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.add_small_assign)(&self.constants, a, b) };
        Ok(())
    }

    /// Computes out = Σ_i a_i·b_i mod q, word by word, reduced once for many terms.
    ///
    /// # Errors
    /// [`KernelError::CountMismatch`] for unequal numbers of slices, [`KernelError::TooManyTerms`]
    /// above [`MAX_TERMS`](crate::MAX_TERMS), [`KernelError::LengthMismatch`].
    pub fn inner_product(&self, out: &mut [u64], a: &[&[u64]], b: &[&[u64]]) -> Result<(), KernelError> {
        check_inner_product(out, a, b)?;
        #[cfg(feature = "tally")]
        crate::tally::products(a.len(), out.len());
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.inner_products.one)(&self.constants, out, a, b) };
        Ok(())
    }

    /// Computes the [`inner_product`](Self::inner_product) of one `a` with two lists at once: out_k = Σ_i
    /// a_i·b_ki. Every word of `a` is read once for both: a key switch multiplies its digits by two halves of
    /// a key.
    ///
    /// # Errors
    /// Every error of [`inner_product`](Self::inner_product), for either list.
    pub fn inner_product_pair(
        &self,
        out: [&mut [u64]; 2],
        a: &[&[u64]],
        b: [&[&[u64]]; 2],
    ) -> Result<(), KernelError> {
        for (out, b) in out.iter().zip(b) {
            check_inner_product(out, a, b)?;
        }
        let [first, second] = &out;
        check_length(first.len(), second.len())?;
        #[cfg(feature = "tally")]
        crate::tally::products(2 * a.len(), first.len());
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.inner_products.pair)(&self.constants, out, a, b) };
        Ok(())
    }

    /// Computes [`inner_product_pair`](Self::inner_product_pair) for second factors packed by
    /// [`pack_residues`](Self::pack_residues), or their tails from any residue on: they are unpacked in
    /// registers, so that only the packed bytes are read from memory.
    ///
    /// # Errors
    /// Every error of [`inner_product`](Self::inner_product), for either list; [`KernelError::PackedLength`] for a second factor of fewer bytes than as many
    /// residues take. Bytes beyond these are not read.
    pub fn packed_inner_products(
        &self,
        out: [&mut [u64]; 2],
        a: &[&[u64]],
        b: [&[&[u8]]; 2],
    ) -> Result<(), KernelError> {
        check_terms(a.len())?;
        let [first, second] = &out;
        let len = first.len();
        check_length(len, second.len())?;
        a.iter().try_for_each(|slice| check_length(len, slice.len()))?;
        for list in b {
            check_count(a.len(), list.len())?;
            list.iter().try_for_each(|bytes| self.check_packed(len, bytes.len()))?;
        }
        #[cfg(feature = "tally")]
        crate::tally::products(2 * a.len(), len);
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.inner_products.packed)(&self.constants, out, a, b) };
        Ok(())
    }

    /// Computes out_jk = Σ_i x_ji·m_ik mod q, word by word, for two vectors x_j and every column k of a matrix. Elements are blocks of [`MATRIX_BLOCK`] words; those of
    /// the matrix are packed by [`pack_residues`](Self::pack_residues), column by column, and are read once from end to end.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] for vectors, or outputs, of different lengths or with a part of a block; [`KernelError::TooManyTerms`];
    /// [`KernelError::PackedLength`] for a matrix of fewer bytes than its elements take.
    pub fn packed_matrix_products(
        &self,
        out: [&mut [u64]; 2],
        vectors: [&[u64]; 2],
        matrix: &[u8],
    ) -> Result<(), KernelError> {
        let ([first, second], [x, y]) = (&out, vectors);
        check_length(first.len(), second.len())?;
        check_length(x.len(), y.len())?;
        check_length(first.len().next_multiple_of(MATRIX_BLOCK), first.len())?;
        check_length(x.len().next_multiple_of(MATRIX_BLOCK), x.len())?;
        check_terms(x.len() / MATRIX_BLOCK)?;
        let residues = (x.len() / MATRIX_BLOCK).saturating_mul(first.len());
        self.check_packed(residues, matrix.len())?;
        if x.is_empty() {
            out.into_iter().for_each(|out| out.fill(0));
            return Ok(());
        }
        #[cfg(feature = "tally")]
        crate::tally::products(2 * (x.len() / MATRIX_BLOCK), first.len());
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.inner_products.packed_matrix)(&self.constants, out, vectors, matrix) };
        Ok(())
    }

    /// Computes out = Σ a_i mod q of residues packed by [`pack_residues`](Self::pack_residues), or of their tails from any residue on: they
    /// are unpacked in registers, so that only the packed bytes are read from memory. Zero without terms.
    ///
    /// # Errors
    /// [`KernelError::PackedLength`] for a term of fewer bytes than as many residues take. Bytes beyond these are not read.
    pub fn sum_packed_into(&self, out: &mut [u64], terms: &[&[u8]]) -> Result<(), KernelError> {
        terms.iter().try_for_each(|bytes| self.check_packed(out.len(), bytes.len()))?;
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.sum_packed_into)(&self.constants, out, terms) };
        Ok(())
    }
}

/// Checks that two slices have the expected length.
fn check_lengths(expected: usize, slices: [&[u64]; 2]) -> Result<(), KernelError> {
    slices.iter().try_for_each(|slice| check_length(expected, slice.len()))
}

/// Checks the numbers and lengths of the slices of an inner product.
fn check_inner_product(out: &[u64], a: &[&[u64]], b: &[&[u64]]) -> Result<(), KernelError> {
    check_count(a.len(), b.len())?;
    check_terms(a.len())?;
    a.iter().chain(b).try_for_each(|slice| check_length(out.len(), slice.len()))
}

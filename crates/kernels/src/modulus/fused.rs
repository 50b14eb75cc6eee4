//! Fused operations on slices, which would otherwise be several passes over memory.
#![expect(unsafe_code, reason = "calls through tables chosen for an available instruction set")]

use super::{Modulus, check_lengths};
use crate::error::{KernelError, check_length};
use crate::table::Bits;

impl Modulus {
    /// out = a + b, word by word.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`].
    pub fn sum_into(&self, out: &mut [u64], a: &[u64], b: &[u64]) -> Result<(), KernelError> {
        check_lengths(out.len(), [a, b])?;
        // SAFETY: the table was chosen for an available instruction set.
        unsafe { (self.table.elementwise.sum_into)(&self.constants, out, a, b) };
        Ok(())
    }

    /// out = a − b, word by word.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`].
    pub fn difference_into(&self, out: &mut [u64], a: &[u64], b: &[u64]) -> Result<(), KernelError> {
        check_lengths(out.len(), [a, b])?;
        // SAFETY: the table was chosen for an available instruction set.
        unsafe { (self.table.elementwise.difference_into)(&self.constants, out, a, b) };
        Ok(())
    }

    /// a += c·b, word by word, for one scalar c < q.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`]; [`KernelError::NotReduced`] for a larger scalar.
    pub fn add_scaled_assign(&self, a: &mut [u64], b: &[u64], c: u64) -> Result<(), KernelError> {
        self.check_reduced(c)?;
        check_length(a.len(), b.len())?;
        #[cfg(feature = "tally")]
        crate::tally::products(1, a.len());
        // SAFETY: the table was chosen for an available instruction set.
        unsafe { (self.table.elementwise.add_scaled_assign)(&self.constants, a, b, c) };
        Ok(())
    }

    /// a = c·(a + b), word by word, for one scalar c < q.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`]; [`KernelError::NotReduced`] for a larger scalar.
    pub fn add_scale_assign(&self, a: &mut [u64], b: &[u64], c: u64) -> Result<(), KernelError> {
        self.check_reduced(c)?;
        check_length(a.len(), b.len())?;
        #[cfg(feature = "tally")]
        crate::tally::products(1, a.len());
        // SAFETY: the table was chosen for an available instruction set.
        unsafe { (self.table.elementwise.add_scale_assign)(&self.constants, a, b, c) };
        Ok(())
    }

    /// a = (a + half) mod q + rest, word by word: residues from −half on, and an addend that makes them all positive.
    ///
    /// # Errors
    /// [`KernelError::NotReduced`] unless half < q.
    pub fn shift_assign(&self, a: &mut [u64], half: u64, rest: u64) -> Result<(), KernelError> {
        self.check_reduced(half)?;
        // SAFETY: the table was chosen for an available instruction set.
        unsafe { (self.table.elementwise.shift_assign)(&self.constants, a, half, rest) };
        Ok(())
    }

    /// c·(a_0 + a_1·Y)(b_0 + b_1·Y), word by word, as the coefficients of 1, Y and Y², for one scalar c < q.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`]; [`KernelError::NotReduced`] for a larger scalar.
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
        // SAFETY: the table was chosen for an available instruction set.
        unsafe { (self.table.elementwise.tensor)(&self.constants, out, a, b, (c != 1).then_some(c)) };
        Ok(())
    }

    /// out = (((a >> shift) & mask) + offset) mod q for an offset up to q, word by word. Unless `reduces` is set, which reduces the bits before the addition,
    /// the sum must be below 2q.
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
        // SAFETY: the table was chosen for an available instruction set.
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

    /// a += b for signed words with |b| ≤ q, word by word.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`].
    pub fn add_small_assign(&self, a: &mut [u64], b: &[i64]) -> Result<(), KernelError> {
        check_length(a.len(), b.len())?;
        // SAFETY: the table was chosen for an available instruction set.
        unsafe { (self.table.elementwise.add_small_assign)(&self.constants, a, b) };
        Ok(())
    }
}

//! Where entries are: coefficients of plaintexts, which are elements of a matrix; and what a client asks by it.

use rand_core::CryptoRng;
use sunzi_bfv::{BfvError, Ciphertext, Context, Plaintext};
use sunzi_rlwe::SecretKey;

use super::RetrievalError;
use crate::expansion::{exponents, inverse_of_growth};
use crate::packing::{packed, unpacked};

/// Layout of a database, from which client and server compute alike where an entry is.
///
/// A plaintext has as many entries as its coefficients hold, or an entry takes several plaintexts, each of which is answered by a
/// ciphertext of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    degree: usize,
    plain_modulus: u64,
    entries: u64,
    entry_bytes: usize,
    /// Number of entries of a plaintext: 1 where an entry takes several.
    together: u64,
    /// Number of plaintexts that an entry takes.
    pieces: usize,
    rows: usize,
    columns: usize,
}

impl Layout {
    /// Largest number of selections of a query, rows and columns together.
    const MOST_SELECTIONS: usize = 1 << 12;

    /// Makes the layout of a database of so many entries of so many bytes each.
    ///
    /// # Errors
    /// [`RetrievalError::Setting`] for no entries, for entries without bytes or of more than 2^24, for a ring whose index is no power
    /// of two, for a plaintext modulus that is even or below 257, and for more entries than a query selects from.
    pub fn new(context: &Context, entries: u64, entry_bytes: usize) -> Result<Self, RetrievalError> {
        let (degree, plain_modulus) = (context.degree(), context.plain_modulus());
        RetrievalError::check_ring(context)?;
        // Selections are divided by a power of two.
        if plain_modulus.is_multiple_of(2) || plain_modulus < 257 {
            let expected = "an odd number from 257 on";
            return Err(RetrievalError::setting("the plaintext modulus", expected, plain_modulus));
        }
        if entries == 0 {
            return Err(RetrievalError::setting("the number of entries", "at least 1", 0));
        }
        if !(1..=1 << 24).contains(&entry_bytes) {
            return Err(RetrievalError::setting("the bytes of an entry", "1 to 2^24", entry_bytes));
        }
        let room = degree * bits(plain_modulus) / 8;
        let (together, pieces) = ((room / entry_bytes).max(1) as u64, entry_bytes.div_ceil(room));
        let plaintexts = entries.div_ceil(together);
        let [rows, columns] = sides(plaintexts, degree.min(Self::MOST_SELECTIONS)).ok_or_else(|| {
            RetrievalError::setting("the number of entries", "fewer, or a larger ring", entries)
        })?;
        Ok(Self { degree, plain_modulus, entries, entry_bytes, together, pieces, rows, columns })
    }

    /// The number of entries.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// The number of bytes of an entry.
    #[must_use]
    pub fn entry_bytes(&self) -> usize {
        self.entry_bytes
    }

    /// The numbers of rows and columns of the matrix of plaintexts.
    #[must_use]
    pub fn sides(&self) -> [usize; 2] {
        [self.rows, self.columns]
    }

    /// The number of plaintexts that an entry takes, which is that of ciphertexts in an answer.
    #[must_use]
    pub fn pieces(&self) -> usize {
        self.pieces
    }

    /// The number of entries that a plaintext has.
    #[must_use]
    pub fn together(&self) -> u64 {
        self.together
    }

    /// Exponents k of the automorphisms X → X^k that the server needs keys for.
    pub fn exponents(&self) -> impl Iterator<Item = u64> + use<> {
        exponents(self.degree, self.selections())
    }

    /// The number of selections of a query.
    pub(super) fn selections(&self) -> usize {
        self.rows + self.columns
    }

    /// Encrypts the query of an entry: one coefficient selects its row, another one its column.
    ///
    /// # Errors
    /// [`RetrievalError::Setting`] for a number that no entry has, and for a context of another layout; [`RetrievalError::Bfv`].
    pub fn query(
        &self,
        context: &Context,
        number: u64,
        secret: &SecretKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Ciphertext, RetrievalError> {
        self.check(context)?;
        let [row, column] = self.place(number)?;
        let inverse = inverse_of_growth(self.selections(), self.plain_modulus);
        let mut coefficients = vec![0; self.degree];
        for at in [row, self.rows + column] {
            if let Some(coefficient) = coefficients.get_mut(at) {
                *coefficient = inverse;
            }
        }
        let plaintext = Plaintext::new(coefficients, self.plain_modulus).map_err(BfvError::from)?;
        Ok(context.encrypt_secret(&plaintext, secret, rng)?)
    }

    /// Decrypts an answer, and returns the entry of a number. Entries that were shorter end in zeros.
    ///
    /// # Errors
    /// [`RetrievalError::Setting`] for a number that no entry has and for an answer of another number of ciphertexts;
    /// [`RetrievalError::Bfv`] for an answer that does not decrypt.
    pub fn read(
        &self,
        context: &Context,
        number: u64,
        answer: &[Ciphertext],
        secret: &SecretKey,
    ) -> Result<Vec<u8>, RetrievalError> {
        self.check(context)?;
        self.place(number)?;
        if answer.len() != self.pieces {
            return Err(RetrievalError::setting("the ciphertexts of an answer", self.pieces, answer.len()));
        }
        let mut entry = Vec::new();
        for piece in answer {
            let plaintext = context.decrypt(piece, secret)?;
            entry.extend(unpacked(plaintext.coefficients(), bits(self.plain_modulus)));
        }
        let first = usize::try_from(number % self.together).unwrap_or(0) * self.entry_bytes;
        entry.drain(..first.min(entry.len()));
        entry.truncate(self.entry_bytes);
        Ok(entry)
    }

    /// Row and column of the plaintext with an entry.
    pub(super) fn place(&self, number: u64) -> Result<[usize; 2], RetrievalError> {
        if number >= self.entries {
            let expected = format!("below {}", self.entries);
            return Err(RetrievalError::setting("the number of an entry", expected, number));
        }
        let plaintext = usize::try_from(number / self.together).unwrap_or(usize::MAX);
        Ok([plaintext % self.rows, plaintext / self.rows])
    }

    /// Fails for a context of another degree or plaintext modulus.
    pub(super) fn check(&self, context: &Context) -> Result<(), RetrievalError> {
        let (own, got) = ((self.degree, self.plain_modulus), (context.degree(), context.plain_modulus()));
        if own == got {
            return Ok(());
        }
        let said = |(degree, modulus)| format!("degree {degree}, plaintext modulus {modulus}");
        Err(RetrievalError::setting("the parameters of a layout", said(own), said(got)))
    }

    /// Encodes the entries of a plaintext, or an entry of several plaintexts.
    pub(super) fn encode(&self, entries: &[Vec<u8>]) -> Result<Vec<Plaintext>, RetrievalError> {
        let (bits, room) = (bits(self.plain_modulus), self.degree * bits(self.plain_modulus) / 8);
        let mut bytes = Vec::with_capacity(room);
        for entry in entries {
            if entry.len() > self.entry_bytes {
                let expected = format!("at most {}", self.entry_bytes);
                return Err(RetrievalError::setting("the bytes of an entry", expected, entry.len()));
            }
            bytes.extend_from_slice(entry);
            bytes.resize(bytes.len() + self.entry_bytes - entry.len(), 0);
        }
        bytes.resize(bytes.len().max(1).next_multiple_of(room), 0);
        let plaintext = |bytes: &[u8]| {
            let mut coefficients = packed(bytes, bits);
            coefficients.resize(self.degree, 0);
            Ok(Plaintext::new(coefficients, self.plain_modulus).map_err(BfvError::from)?)
        };
        bytes.chunks(room).map(plaintext).collect()
    }
}

/// The number of bits that a coefficient holds.
fn bits(plain_modulus: u64) -> usize {
    plain_modulus.ilog2() as usize
}

/// Sides of a matrix of so many plaintexts, of which together at most `most` are selected; `None` where that is too few. A column costs a
/// product of ciphertexts beside what a row costs, about as much again: so there are two rows for a column.
fn sides(plaintexts: u64, most: usize) -> Option<[usize; 2]> {
    let plaintexts = usize::try_from(plaintexts).ok()?;
    let columns = (plaintexts / 2).isqrt().max(1);
    let rows = plaintexts.div_ceil(columns);
    let columns = plaintexts.div_ceil(rows);
    (rows + columns <= most).then_some([rows, columns])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_hold_all_plaintexts() {
        for plaintexts in (1..2000).chain([16_384, 100_000, 1 << 20]) {
            let [rows, columns] = sides(plaintexts, 1 << 12).unwrap();
            let plaintexts = plaintexts as usize;
            assert!(rows * columns >= plaintexts && rows * (columns - 1) < plaintexts, "{plaintexts}");
        }
        assert_eq!(sides(16_384, 1 << 12), Some([183, 90]));
        assert_eq!(sides(16_384, 200), None);
        assert_eq!(sides(u64::MAX, 1 << 12), None);
    }
}

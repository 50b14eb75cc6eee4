//! Codec of chunks: numbers to ciphertexts, and ciphertexts to numbers.

use num_bigint::BigInt;
use num_traits::ToPrimitive;
use rand_core::CryptoRng;
use sunzi_encoding::{CrtEncoder, Encoder as _, EncodingError, Plaintext};
use sunzi_rlwe::{Ciphertext, CrtContext, Exact};
use zeroize::Zeroizing;

use super::joint::Way;
use super::{ChunkPart, Contexts, Digits, Encrypted, EncryptionKey, Form, Parts, SecretKey, Sharing};
use crate::analysis::{Layout, Parameters, exp2};
use crate::run::Cells;
use crate::{Column, NodeId, ProgramError};

/// Codec that encodes, encrypts and decrypts chunks of one layout.
#[derive(Clone, Debug)]
pub struct Codec {
    contexts: Contexts,
    layout: Layout,
    encoders: Encoders,
}

#[derive(Clone, Debug)]
enum Encoders {
    Integers(Box<CrtEncoder>),
    Reals(sunzi_ckks::Encoder),
    /// The context of encrypted integers has their encoder.
    Digits,
}

/// Decrypted contents of the slots of a chunk.
#[derive(Clone, PartialEq)]
pub enum Slots {
    /// Numbers of the slots in [0, t), for each plaintext modulus t in their order.
    Residues(Vec<Zeroizing<Vec<u64>>>),
    /// Real numbers of the slots of CKKS, divided by a power of two.
    Reals(Zeroizing<Vec<f64>>),
    /// Digits of encrypted integers.
    Digits(Digits),
}

/// Decrypted numbers are not printed, since debug texts may go to logs.
impl std::fmt::Debug for Slots {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slots").finish_non_exhaustive()
    }
}

impl Codec {
    pub(super) fn new(contexts: &Contexts, layout: &Layout) -> Result<Self, ProgramError> {
        let integers = |encoder: Result<CrtEncoder, EncodingError>| {
            encoder.map(Box::new).map(Encoders::Integers).map_err(ProgramError::scheme)
        };
        let encoders = match &contexts.parts {
            Parts::Bfv(contexts) => integers(contexts.encoder()),
            Parts::Bgv(contexts) => integers(contexts.encoder()),
            Parts::Ckks(context) => {
                let encoder = sunzi_ckks::Encoder::new(context, layout.span);
                encoder.map(Encoders::Reals).map_err(ProgramError::scheme)
            }
            Parts::Integers(_) => Ok(Encoders::Digits),
        }?;
        Ok(Self { contexts: contexts.clone(), layout: *layout, encoders })
    }

    /// Returns the layout of rows in slots.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the contexts that the codec encrypts in.
    #[must_use]
    pub fn contexts(&self) -> &Contexts {
        &self.contexts
    }

    pub(crate) fn integers(&self) -> Option<&CrtEncoder> {
        if let Encoders::Integers(encoder) = &self.encoders { Some(encoder) } else { None }
    }

    pub(crate) fn reals(&self) -> Option<&sunzi_ckks::Encoder> {
        if let Encoders::Reals(encoder) = &self.encoders { Some(encoder) } else { None }
    }

    /// Encrypts one chunk: at most [`Layout::span`] cells of a column of numbers, or the indicator of a label. Slots
    /// beyond the cells hold [`Column::padding`].
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] for cells of another kind, out of range or too many; [`ProgramError::Scheme`] for a key of other parameters.
    pub fn encrypt(
        &self,
        column: &Column,
        label: Option<usize>,
        cells: &Cells,
        key: EncryptionKey<'_>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Encrypted, ProgramError> {
        self.encrypt_part((column, label), cells, ChunkPart::WHOLE, key, rng)
    }

    /// Encrypts the cells of one party in a chunk, of a column of numbers or of the indicator of a label. Slots of other rows hold zero: the sum
    /// of what all parties encrypt is what [`encrypt`](Self::encrypt) makes of all rows ([`Contexts::add_rows`]).
    ///
    /// # Errors
    /// Every error of [`encrypt`](Self::encrypt); [`ProgramError::Mismatch`] for a part of a chunk of encrypted integers, whose digits have no sums.
    pub fn encrypt_part(
        &self,
        (column, label): (&Column, Option<usize>),
        cells: &Cells,
        part: ChunkPart,
        key: EncryptionKey<'_>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Encrypted, ProgramError> {
        let (count, span) = (cells.check(column)?, self.layout.span);
        let most = span.saturating_sub(part.first);
        if count > most {
            return Err(ProgramError::mismatch("cells of a chunk", format!("at most {most}"), count));
        }
        let other = || ProgramError::mismatch("cells", format!("the kind of {:?}", column.name), "another");
        if let (Encoders::Reals(encoder), Parts::Ckks(context)) = (&self.encoders, self.contexts.parts()) {
            let padded = |span| cells.reals(column, label, 0..count, span);
            let values = part.slots((count, span), padded).ok_or_else(other)?;
            let scale = exp2(-Contexts::exponent(column, label));
            let stored = Zeroizing::new(values.iter().map(|v| v * scale).collect::<Vec<_>>());
            let plaintext = match self.contexts.parameters() {
                // The levels above are those of bootstrapping.
                Parameters::Bootstrapped(own) => {
                    let level = own.set().levels_left();
                    let scale = context.scale(level).map_err(ProgramError::scheme)?;
                    encoder.encode_real_at(&stored, level, scale)
                }
                _ => encoder.encode_real(&stored),
            };
            let plaintext = plaintext.map_err(ProgramError::scheme)?;
            let ciphertext = match key {
                EncryptionKey::Public(key) => context.encrypt(&plaintext, key, rng),
                EncryptionKey::Secret(key) => context.encrypt_secret(&plaintext, key, rng),
            };
            return Ok(Encrypted::Ckks(Box::new(ciphertext.map_err(ProgramError::scheme)?)));
        }
        let units = part.slots((count, span), |span| cells.units(column, label, 0..count, span));
        let units = units.ok_or_else(|| self.no_integers(column))?;
        if let Parts::Integers(own) = self.contexts.parts() {
            if part != ChunkPart::WHOLE {
                let expected = "whole chunks of encrypted integers, whose digits have no sums";
                return Err(ProgramError::mismatch("rows", expected, "those of one of several parties"));
            }
            let digits = own.encrypt((column, label.is_some()), &units, key, rng)?;
            return Ok(Encrypted::Integers(digits));
        }
        self.encrypt_units(&units, key, rng)
    }

    fn no_integers(&self, column: &Column) -> ProgramError {
        let scheme = self.contexts.parameters.name();
        ProgramError::mismatch("cells", format!("integers or decimals, as {scheme} has them"), {
            format!("those of {:?}: declare its decimals, or take CKKS", column.name)
        })
    }

    fn encrypt_units(
        &self,
        units: &[i128],
        key: EncryptionKey<'_>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Encrypted, ProgramError> {
        let other = || ProgramError::mismatch("the scheme", "BFV or BGV", "CKKS");
        let plaintexts = self.integers().ok_or_else(other)?.encode_residues(units);
        let plaintexts = plaintexts.map_err(ProgramError::scheme)?;
        match self.contexts.parts() {
            Parts::Bfv(contexts) => {
                contexts.encrypt(&plaintexts, key, rng).map(Encrypted::Bfv).map_err(ProgramError::scheme)
            }
            Parts::Bgv(contexts) => {
                contexts.encrypt(&plaintexts, key, rng).map(Encrypted::Bgv).map_err(ProgramError::scheme)
            }
            Parts::Ckks(_) | Parts::Integers(_) => Err(other()),
        }
    }

    /// Decrypts one chunk.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] for ciphertexts of another scheme or too few of them; [`ProgramError::Scheme`] for another key, and for noise
    /// that leaves no message.
    pub fn decrypt(&self, chunk: &Encrypted, secret: &SecretKey) -> Result<Slots, ProgramError> {
        self.open(chunk, Way::Own(secret)).map(|(slots, _)| slots)
    }

    /// Decrypts one chunk of a node for sharing with others, and returns the standard deviation of its errors: 0 in
    /// exact schemes.
    ///
    /// # Errors
    /// Every error of [`decrypt`](Self::decrypt); [`ProgramError::Sharing`].
    pub fn decrypt_for_sharing(
        &self,
        id: NodeId,
        chunk: &Encrypted,
        secret: &SecretKey,
        sharing: &mut Sharing,
    ) -> Result<(Slots, f64), ProgramError> {
        self.open(chunk, Way::Sharing(id, secret, sharing))
    }

    /// Opens one chunk, and returns the standard deviation of its errors: 0 in exact schemes.
    pub(crate) fn open(&self, chunk: &Encrypted, mut way: Way<'_>) -> Result<(Slots, f64), ProgramError> {
        let scheme = ProgramError::mismatch("the scheme", self.contexts.parameters.name(), "another");
        match (self.contexts.parts(), chunk) {
            (Parts::Bfv(contexts), Encrypted::Bfv(parts)) => {
                self.open_integers(contexts, parts, |context, part| way.bfv(context, part))
            }
            (Parts::Bgv(contexts), Encrypted::Bgv(parts)) => {
                self.open_integers(contexts, parts, |context, part| way.bgv(context, part))
            }
            (Parts::Ckks(context), Encrypted::Ckks(ciphertext)) => {
                let encoder = self.reals().ok_or(scheme)?;
                let (plaintext, deviation) = way.ckks(context, ciphertext)?;
                let slots = encoder.decode_real(&plaintext).map_err(ProgramError::scheme)?;
                Ok((Slots::Reals(Zeroizing::new(slots)), deviation))
            }
            (Parts::Integers(own), Encrypted::Integers(digits)) => {
                let Way::Own(secret) = way else {
                    return Err(ProgramError::mismatch("sharing", "a scheme with noise to hide", "integers"));
                };
                own.decrypt(digits, self.layout.span, secret).map(|digits| (Slots::Digits(digits), 0.0))
            }
            _ => Err(scheme),
        }
    }

    fn open_integers<S: Exact>(
        &self,
        contexts: &CrtContext<S>,
        parts: &[Ciphertext<S>],
        mut open: impl FnMut(&S::Context, &Ciphertext<S>) -> Result<Plaintext, ProgramError>,
    ) -> Result<(Slots, f64), ProgramError> {
        let (expected, got) = (contexts.len(), parts.len());
        let count = |_| ProgramError::mismatch("ciphertexts of a chunk", expected, got);
        let encoders = self.integers().map_or(&[][..], CrtEncoder::parts);
        let each = contexts.pairs(parts).map_err(count)?.zip(encoders).map(|((context, part), encoder)| {
            let slots = encoder.decode(&open(context, part)?);
            slots.map(Zeroizing::new).map_err(ProgramError::scheme)
        });
        each.collect::<Result<_, _>>().map(|slots| (Slots::Residues(slots), 0.0))
    }

    /// Returns the integer of a slot of BFV or BGV: the one nearest to zero with the slot's residues.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] for slots of CKKS, and for a slot that does not exist.
    pub fn integer(&self, slots: &Slots, at: usize) -> Result<BigInt, ProgramError> {
        let (Some(encoder), Slots::Residues(parts)) = (self.integers(), slots) else {
            return Err(ProgramError::mismatch("slots", "integers", "real numbers"));
        };
        let residues: Vec<u64> = parts.iter().filter_map(|slots| slots.get(at).copied()).collect();
        encoder.crt().reconstruct_centered(&residues).map_err(ProgramError::scheme)
    }

    /// Returns the first cells of a column, or the indicator of a label: in units of the last decimal for exact
    /// schemes, real numbers for CKKS.
    ///
    /// # Errors
    /// Every error of [`integer`](Self::integer); [`ProgramError::Mismatch`] for a column whose range is wider than the plaintext moduli.
    pub fn cells(
        &self,
        column: &Column,
        label: Option<usize>,
        slots: &Slots,
        rows: usize,
    ) -> Result<Cells, ProgramError> {
        let wide = || ProgramError::mismatch("a cell", "an integer of 64 bits", "a wider one");
        if let Slots::Reals(stored) = slots {
            let scale = exp2(Contexts::exponent(column, label));
            return Ok(Cells::Reals(stored.iter().take(rows).map(|s| s * scale).collect()));
        }
        if let Slots::Digits(digits) = slots {
            let form = Form::of_column(column, label.is_some())?;
            let cell = |row| digits.units(form, row)?.to_i64().ok_or_else(wide);
            return (0..rows.min(self.layout.span)).map(cell).collect::<Result<_, _>>().map(Cells::Units);
        }
        let most = if label.is_some() { 1 } else { column.largest_unit() };
        if let Some(encoder) = self.integers()
            && BigInt::from(encoder.range().clone()) <= BigInt::from(most) * 2
        {
            let expected = format!("a product of plaintext moduli above 2·{most}");
            return Err(ProgramError::mismatch("the parameters", expected, encoder.range()));
        }
        let cell = |row| self.integer(slots, row)?.to_i64().ok_or_else(wide);
        (0..rows.min(self.layout.span)).map(cell).collect::<Result<_, _>>().map(Cells::Units)
    }
}

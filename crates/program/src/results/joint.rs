//! Results under the secret of several parties: the ciphertexts that they open together, and what their shares open.

use std::collections::BTreeMap;
use std::io::BufRead;

use sunzi_rlwe::joint::{DecryptionShare, Quorum};
use sunzi_rlwe::wire::WireError;

use super::ResultsReader;
use crate::contexts::{Agreed, Codec, Encrypted, Subject, Way, subjects};
use crate::run::{Answer, Estimate};
use crate::{NodeId, ProgramError};

impl<I: BufRead> ResultsReader<'_, I> {
    /// Reads on to the next encrypted output, and returns its ciphertexts as the parties open them: one for each plaintext modulus. `None` after the last. The
    /// noise of each is what this party declares by what it agreed to, and none that a file states.
    ///
    /// # Errors
    /// Every error of [`next_answer`](Self::next_answer); [`ProgramError::Mismatch`] for results of another program than the agreed one;
    /// [`ProgramError::Sharing`] for a ciphertext that cannot be opened for all to see.
    pub fn next_subjects<E: From<WireError> + From<ProgramError>>(
        &mut self,
        agreed: &Agreed,
    ) -> Result<Option<Vec<Subject>>, E> {
        self.check_agreed(agreed)?;
        loop {
            let before = self.ciphertexts;
            let Some((id, at, answer)) = self.next_answer()? else { return Ok(None) };
            if let Answer::Encrypted(chunk) = &answer {
                return Ok(Some(subjects(self.contexts, (before, id, at), chunk, agreed)?));
            }
        }
    }

    /// Opens all remaining outputs by the shares of all parties, or of a quorum, as [`decrypt`](Self::decrypt) does by the key of a single holder: errors of CKKS
    /// include the flooding noise of all who made shares. `shares` is asked for those of each ciphertext by its place, as
    /// [`next_subjects`](Self::next_subjects) counts.
    ///
    /// # Errors
    /// Every error of [`next_subjects`](Self::next_subjects), of `shares` and of `column`; [`ProgramError::Scheme`] for another number of shares than parties.
    pub fn open_shares<E: From<WireError> + From<ProgramError>>(
        &mut self,
        codec: &Codec,
        agreed: &Agreed,
        quorum: Option<&Quorum>,
        mut shares: impl FnMut(u64) -> Result<Vec<DecryptionShare>, ProgramError>,
        column: impl FnMut(NodeId, usize, Vec<Estimate>) -> Result<(), E>,
    ) -> Result<BTreeMap<NodeId, Estimate>, E> {
        self.check_agreed(agreed)?;
        let mut place = self.ciphertexts;
        let mut next = || {
            let own = place;
            place += 1;
            shares(own)
        };
        let open = |id, chunk: &Encrypted| codec.open(chunk, Way::Shares(id, agreed, quorum, &mut next));
        self.open_all(codec, open, column)
    }

    /// Checks that the results are those of a plan that was agreed on.
    fn check_agreed(&self, agreed: &Agreed) -> Result<(), ProgramError> {
        let own = agreed.plans().iter().filter(|plan| plan.parameters == *self.contexts.parameters());
        let mut checks = own.map(|plan| self.description.check_plan(plan));
        let other = || ProgramError::mismatch("the parameters", "those of the agreed plan", "others");
        let first = checks.next().unwrap_or_else(|| Err(other()));
        if first.is_err() && checks.any(|check| check.is_ok()) { Ok(()) } else { first }
    }
}

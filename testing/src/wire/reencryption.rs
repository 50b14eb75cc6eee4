//! Specimens of files of re-encryption and rekeying: their keys, and a ciphertext that went through a hop.

use std::rc::Rc;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_encoding::Plaintext;
use sunzi_rlwe::reencryption::{ReencryptionContext, ReencryptionKey, ReencryptionPublicKey};
use sunzi_rlwe::wire::Format;
use sunzi_rlwe::{
    Ciphertext, DeclaredNoise, Evaluator, Exact, LedgerFile, RekeyingKey, SecretKey, SharingLedger,
    SharingPolicy,
};

use super::specimens::{Failure, Specimen, bfv_parameters, bgv_parameters};
use crate::scheme::{Encrypted, Scheme};

/// Two owners, and a ciphertext of the first.
struct Owners<C: Scheme> {
    context: C,
    secrets: [SecretKey; 2],
    ciphertext: Encrypted<C>,
}

impl<C: Scheme + ReencryptionContext<Scheme = C::Own>> Owners<C> {
    fn hand_on(&self, key: &ReencryptionKey, rng: &mut ChaCha20Rng) -> Option<Encrypted<C>> {
        let rlwe = self.context.rlwe();
        let noise = DeclaredNoise::of_own_run(self.ciphertext.noise(), rlwe.ring().expansion());
        let ledger = SharingLedger::new(rlwe.fingerprint(), key.source(), SharingPolicy::new(8, 4).ok()?);
        self.context.reencrypt(&self.ciphertext, key, noise, &mut LedgerFile::in_memory(ledger), rng).ok()
    }
}

/// Makes specimens of the keys of re-encryption, and of ciphertexts that were re-encrypted.
pub(super) fn reencryption_specimens() -> Result<Vec<Specimen>, Failure> {
    let mut all = of_scheme("bfv", &sunzi_bfv::Context::new(&bfv_parameters()?)?, 8)?;
    all.extend(of_scheme("bgv", &sunzi_bgv::Context::new(&bgv_parameters()?)?, 14)?);
    Ok(all)
}

fn of_scheme<C>(name: &str, context: &C, seed: u64) -> Result<Vec<Specimen>, Failure>
where
    C: Scheme + ReencryptionContext<Scheme = C::Own> + Clone + 'static,
    C: Format<Ciphertext<C::Own>>,
{
    let (mut rng, rlwe) = (ChaCha20Rng::seed_from_u64(seed), context.rlwe().clone());
    let secrets = [SecretKey::generate(&rlwe, &mut rng)?, SecretKey::generate(&rlwe, &mut rng)?];
    let [from, to] = &secrets;
    let public = ReencryptionPublicKey::generate(&rlwe, to, &mut rng)?;
    let key = ReencryptionKey::generate(&rlwe, from, &public, &mut rng)?;
    let message = (0..rlwe.ring().degree() as u64).map(|i| i % 7).collect();
    let message = Plaintext::new(message, <C::Own as Exact>::plain_modulus(context))?;
    let ciphertext = context.encrypt_secret(&message, from, &mut rng)?;
    let owners = Rc::new(Owners { context: context.clone(), secrets, ciphertext });
    let handed_on = owners.hand_on(&key, &mut rng).ok_or("a hop without room")?;
    let [from, to] = &owners.secrets;
    let rekeying = RekeyingKey::generate(&rlwe, from, to, &mut rng)?;
    let run = |owners: &Rc<Owners<C>>| {
        let owners = Rc::clone(owners);
        move |key: &ReencryptionKey| {
            let handed_on = owners.hand_on(key, &mut ChaCha20Rng::seed_from_u64(3));
            let opened = |ciphertext| owners.context.decrypt(&ciphertext, &owners.secrets[1]).ok();
            drop(handed_on.and_then(opened));
        }
    };
    let of_key = run(&owners);
    let (of_public, opening, old) = (Rc::clone(&owners), Rc::clone(&owners), Rc::clone(&owners));
    Ok(vec![
        Specimen::new(&format!("{name}-reencryption-public"), &rlwe, &public, move |public| {
            let (rlwe, [from, _]) = (of_public.context.rlwe(), &of_public.secrets);
            let made = ReencryptionKey::generate(rlwe, from, public, &mut ChaCha20Rng::seed_from_u64(3));
            made.iter().for_each(&of_key);
        })?,
        Specimen::new(&format!("{name}-reencryption"), &rlwe, &key, run(&owners))?,
        Specimen::new(&format!("{name}-rekeying"), &rlwe, &rekeying, move |key: &RekeyingKey| {
            let rekeyed = Evaluator::<C::Own>::new(&old.context).rekey(&old.ciphertext, key);
            drop(rekeyed.map(|rekeyed| old.context.decrypt(&rekeyed, &old.secrets[1])));
        })?,
        Specimen::new(&format!("{name}-reencrypted"), context, &handed_on, move |a: &Encrypted<C>| {
            drop(opening.context.decrypt(a, &opening.secrets[1]));
        })?,
    ])
}

//! A clinic's encrypted results are handed to a researcher, and by the researcher's proxy to a reviewer: no proxy has a secret, and nobody decrypts on the way.
//!
//! `cargo run --release -p sunzi --example 16_proxy_reencryption`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use sunzi::prelude::*;
use sunzi::rlwe::{
    DeclaredNoise, LedgerFile, ReencryptionContext as _, ReencryptionKey, ReencryptionPublicKey,
    SharingLedger, SharingPolicy,
};

/// Hours of recovery of patients.
const HOURS: [u64; 6] = [31, 28, 45, 52, 39, 40];

/// A proxy: the key that an owner gave it, and a ledger that counts re-encryptions from the key of that owner.
struct Proxy {
    key: ReencryptionKey,
    ledger: LedgerFile,
}

impl Proxy {
    fn new(context: &Context, key: ReencryptionKey, policy: SharingPolicy) -> Self {
        // A program of its own would keep the ledger in a file, which counts before anything leaves.
        let ledger = SharingLedger::new(context.rlwe().fingerprint(), key.source(), policy);
        Self { key, ledger: LedgerFile::in_memory(ledger) }
    }

    fn hand_on(
        &mut self,
        context: &Context,
        a: &Ciphertext,
        noise: DeclaredNoise,
    ) -> Result<Ciphertext, Box<dyn Error>> {
        Ok(context.reencrypt(a, &self.key, noise, &mut self.ledger, &mut randomness::from_os()?)?)
    }
}

/// What the agreed program computes: the sum of squares, here under whichever key.
fn program(context: &Context, a: &Ciphertext, keys: &EvaluationKeys) -> Result<Ciphertext, Box<dyn Error>> {
    let evaluator = Evaluator::new(context);
    let e = evaluator.with(keys);
    Ok((e.bind(a) * e.bind(a)).get()?)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // A hundred results of each owner may be handed on, together within 2^-40 of what tells nothing of any secret; each at most twice.
    let policy = SharingPolicy::new(40, 100)?;
    let parameters = Parameters::builder().depth(1).plain_bits(17).reencryptions(2, policy).build()?;
    let context = Context::new(&parameters)?;
    let (rlwe, rng) = (context.rlwe(), &mut randomness::from_os()?);
    let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;

    // Each owner has a secret, and publishes a key for re-encryption.
    let clinic = SecretKey::generate(rlwe, rng)?;
    let researcher = SecretKey::generate(rlwe, rng)?;
    let reviewer = SecretKey::generate(rlwe, rng)?;
    let to_researcher = ReencryptionPublicKey::generate(rlwe, &researcher, rng)?;
    let to_reviewer = ReencryptionPublicKey::generate(rlwe, &reviewer, rng)?;

    // An owner needs its own secret and the public key of the other. The key is for the proxy alone.
    let key = ReencryptionKey::generate(rlwe, &clinic, &to_researcher, rng)?;
    let mut first = Proxy::new(&context, key, policy);
    let key = ReencryptionKey::generate(rlwe, &researcher, &to_reviewer, rng)?;
    let mut second = Proxy::new(&context, key, policy);

    // The clinic encrypts, and a server computes under the clinic's key.
    let keys = context.evaluation_keys(&clinic, [], rng)?;
    let public = PublicKey::generate(rlwe, &clinic, rng)?;
    let hours = context.encrypt(&encoder.encode(&HOURS)?, &public, rng)?;
    let squares = program(&context, &hours, &keys)?;

    // The proxy plays the program on an encryption of its own, and declares what it leaves.
    let own = context.encrypt(&encoder.encode(&[1])?, &public, rng)?;
    let ring = context.ring().expansion();
    let noise = DeclaredNoise::of_own_run(program(&context, &own, &keys)?.noise(), ring);
    let handed_on = first.hand_on(&context, &squares, noise)?;
    let opened = encoder.decode(&context.decrypt(&handed_on, &researcher)?)?;
    println!("the researcher opens {:?} after {} hop", opened.get(..HOURS.len()), handed_on.hops());
    let expected = HOURS.map(|x| x * x);
    if !opened.starts_with(&expected) {
        return Err("the researcher opened something else".into());
    }

    // From hop to hop the declared noise follows; another hop than the two has no room and is refused before any work.
    let noise = context.declared_after_hop(&squares, noise, policy)?;
    let further = second.hand_on(&context, &handed_on, noise)?;
    let opened = encoder.decode(&context.decrypt(&further, &reviewer)?)?;
    println!("the reviewer opens the same after {} hops", further.hops());
    if !opened.starts_with(&expected) || context.decrypt(&further, &clinic).is_ok() {
        return Err("the reviewer opened something else, or the clinic what is not its own".into());
    }
    let noise = context.declared_after_hop(&handed_on, noise, policy)?;
    println!("hops left: {}", context.hops_left(&further, noise, policy)?);
    let counted = [&first, &second].map(|proxy| proxy.ledger.ledger().used());
    if counted != [1, 1] || further.hops() != 2 {
        return Err(format!("ledgers count {counted:?}").into());
    }
    Ok(())
}

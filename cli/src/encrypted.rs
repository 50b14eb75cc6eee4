//! The job under encryption: what the key holder does, what the server does, in that order.

mod choice;
mod opened;
mod owner;
mod scheme;
mod work;

use std::time::Instant;

use serde::Serialize;
use sunzi::circuits::statistics::{EncryptedSums, Layout, Server};
use sunzi::math::Crt;

pub(crate) use choice::{Chosen, choose};
pub(crate) use scheme::{Name, Scheme};
pub(crate) use work::Work;

use crate::error::CliError;
use crate::job::Job;
use crate::progress::Progress;
use crate::sums::TableSums;
use scheme::Parameters;

/// What comes out of the encrypted job.
pub(crate) struct Outcome {
    /// The decrypted sums.
    pub(crate) sums: TableSums<i128>,
    /// Bits left in the worst result before decryption would be refused.
    pub(crate) bits_left: f64,
    /// Seconds of each step.
    pub(crate) times: Times,
    /// Bytes.
    pub(crate) sizes: Sizes,
}

/// Seconds of each step, over all plaintext moduli.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Times {
    /// Reading the table and encoding it.
    pub(crate) read: f64,
    /// Choosing parameters and building their tables.
    pub(crate) parameters: f64,
    /// All keys.
    pub(crate) keys: f64,
    /// Packing and encrypting.
    pub(crate) encrypt: f64,
    /// The server's work.
    pub(crate) server: f64,
    /// Decrypting and joining residues.
    pub(crate) decrypt: f64,
    /// The same sums without encryption, and the comparison.
    pub(crate) compare: f64,
}

/// Bytes in memory, eight for each residue.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Sizes {
    /// The public key.
    pub(crate) public_key: u64,
    /// The relinearisation key.
    pub(crate) relinearization_key: u64,
    /// All Galois keys together.
    pub(crate) galois_keys: u64,
    /// How many Galois keys.
    pub(crate) galois_key_count: usize,
    /// One ciphertext.
    pub(crate) ciphertext: u64,
    /// Ciphertexts sent to the server.
    pub(crate) input_ciphertexts: usize,
    /// All of them.
    pub(crate) inputs: u64,
    /// Ciphertexts sent back.
    pub(crate) result_ciphertexts: usize,
    /// All of them.
    pub(crate) results: u64,
}

/// Runs the job in the scheme chosen.
pub(crate) fn run(job: &Job, chosen: &Chosen, progress: &Progress) -> Result<Outcome, CliError> {
    let mut times = Times::default();
    match &chosen.parameters {
        Parameters::Bfv(parameters) => {
            let contexts = timed(&mut times.parameters, || scheme::bfv_contexts(parameters))?;
            run_in(job, chosen, &contexts, times, progress)
        }
        Parameters::Bgv(parameters, plain) => {
            let contexts = timed(&mut times.parameters, || scheme::bgv_contexts(parameters, plain))?;
            run_in(job, chosen, &contexts, times, progress)
        }
    }
}

/// Keys; then for each plaintext modulus encrypt, compute, decrypt; then join.
fn run_in<S: Scheme>(
    job: &Job,
    chosen: &Chosen,
    contexts: &[S],
    mut times: Times,
    progress: &Progress,
) -> Result<Outcome, CliError> {
    let layout = &chosen.layout;
    progress.begin(contexts.len() * layout.steps());
    progress.say("making keys");
    let keys = timed(&mut times.keys, || match contexts.first() {
        Some(context) => owner::Keys::generate(context, layout),
        None => Err(CliError::failure("no plaintext modulus was chosen")),
    })?;
    let mut residues = Vec::new();
    let mut bits_left = f64::INFINITY;
    for context in contexts {
        let sums = one_modulus(job, layout, context, &keys, &mut times, progress)?;
        progress.say("decrypting");
        let opened = timed(&mut times.decrypt, || opened::open(context, layout, &keys, sums))?;
        bits_left = bits_left.min(opened.bits_left);
        residues.push(opened.sums(layout));
    }
    let sums = timed(&mut times.decrypt, || {
        let crt = Crt::new(chosen.parameters.plain_moduli()).map_err(CliError::failure)?;
        opened::join(&crt, &residues)
    })?;
    Ok(Outcome { sums, bits_left, times, sizes: chosen.sizes })
}

/// Encrypts chunk by chunk and lets the server work on each.
fn one_modulus<S: Scheme>(
    job: &Job,
    layout: &Layout,
    context: &S,
    keys: &owner::Keys,
    times: &mut Times,
    progress: &Progress,
) -> Result<EncryptedSums<S::Ciphertext>, CliError> {
    let owner = owner::Owner::new(job, layout, context)?;
    let evaluator = context.evaluator();
    let step = || progress.step();
    let mut server = Server::new(&evaluator, &keys.evaluation, layout).map_err(CliError::failure)?;
    for chunk in 0..layout.chunks() {
        progress.say("encrypting");
        let encrypted = timed(&mut times.encrypt, || owner.encrypt(chunk, keys))?;
        progress.say("server: sums of products");
        timed(&mut times.server, || server.absorb(&encrypted, &step)).map_err(CliError::failure)?;
    }
    progress.say("server: sums over slots");
    timed(&mut times.server, || server.finish(&step)).map_err(CliError::failure)
}

/// Adds the seconds that `work` takes to `seconds`.
pub(crate) fn timed<T>(seconds: &mut f64, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *seconds += start.elapsed().as_secs_f64();
    result
}

impl Sizes {
    fn of(layout: &Layout, parameters: &Parameters) -> Self {
        let (moduli, options) = (parameters.moduli(), parameters.key_switching());
        let plain = parameters.plain_moduli().len();
        // Both halves of one limb.
        let limb = 16 * parameters.degree() as u64;
        let ciphertext = moduli.len() as u64 * limb;
        let switching_key = work::switching_key_bytes(options, moduli, parameters.degree());
        let galois_key_count = layout.required_rotations().len();
        let input_ciphertexts = plain * layout.chunks() * (layout.packed() + layout.repeated());
        let sums = 2 * plain * layout.packed();
        let products = 2 * plain * layout.products().len();
        Self {
            public_key: ciphertext + if options.special_moduli.is_empty() { 0 } else { limb },
            relinearization_key: switching_key,
            galois_keys: switching_key * galois_key_count as u64,
            galois_key_count,
            ciphertext,
            input_ciphertexts,
            inputs: ciphertext * input_ciphertexts as u64,
            result_ciphertexts: sums + products,
            results: ciphertext * sums as u64 + parameters.product_limbs() as u64 * limb * products as u64,
        }
    }

    /// What goes to the server and back.
    fn travelling(&self) -> u64 {
        self.relinearization_key + self.galois_keys + self.inputs + self.results
    }
}

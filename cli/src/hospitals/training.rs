//! A logistic regression over the rows of all hospitals, in CKKS: two of them refresh its state between iterations.
//!
//! A refresh is flooded: the noise of the ciphertext is hidden as in an opened result, and counts in the ledgers. Then the noise to declare begins anew with every
//! iteration. Without it bounds would grow by a factor with each, and hiding the noise of the last result would leave nothing of the weights.

use std::cell::{Cell, RefCell};

use sunzi::circuits::regression::{
    EncryptedReals, ITERATION_DEPTH, Layout, RegressionKeys, Scaling, Training, of_one_row, train,
};
use sunzi::ckks::{Ciphertext, CkksError, Context, Encoder, Evaluator, LevelRange, Parameters, Settings};
use sunzi::parties::keys::KeyPlan;
use sunzi::ring::Ring as Polynomials;
use sunzi::rlwe::joint::{AdditiveSecret, Quorum};
use sunzi::rlwe::wire;
use sunzi::rlwe::{
    DeclaredNoise, PublicKey, SecretDistribution, SecretKey, Security, SharingPolicy, randomness,
};

use super::joint::{Joint, Member, Openers, at_once, make};
use super::parts::{NAMES, Parts, QUORUM};
use super::report::{Keys, Ring, Sizes, Times};
use super::{Run, STATISTICAL_BITS};
use crate::encrypted::timed;
use crate::error::CliError;
use crate::job::Job;
use crate::progress::Progress;

/// log2 of the degree of the ring, and of the small one of `--quick`.
const DEGREE: u32 = 15;
const QUICK_DEGREE: u32 = 12;
/// Levels of an iteration.
const LEVELS: usize = ITERATION_DEPTH;
/// log2 of scales: above the noise of an iteration by what hides it and by what is left to weights.
const SCALE_BITS: u32 = 97;
/// Bits of the lowest modulus, at which a refresh has room for masks that hide a message of this scale.
const FIRST_BITS: u32 = 161;
/// Digits of key switching.
const DIGITS: usize = 4;
/// Bits by which declared noise is above that of the rehearsal: roundings of doubles.
const SLACK: f64 = 0.01;

impl From<CkksError> for CliError {
    fn from(error: CkksError) -> Self {
        Self::failure(error)
    }
}

/// Parameters, layout and algorithm: all that hospitals and server agree on.
struct Agreed {
    context: Context,
    parameters: Parameters,
    layout: Layout,
    training: Training,
    policy: SharingPolicy,
    quorum: Quorum,
}

/// The noise that a hospital declares, from its own rehearsal: of every refresh, and of the weights.
struct Declared {
    refreshes: Vec<DeclaredNoise>,
    weights: DeclaredNoise,
}

impl Agreed {
    fn new(job: &Job, training: Training, quick: bool) -> Result<Self, CliError> {
        let (degree, security) = match quick {
            false => (DEGREE, Security::Bits128),
            true => (QUICK_DEGREE, Security::InsecureForResearchOnly),
        };
        let ranges = [LevelRange { levels: LEVELS, scale_bits: SCALE_BITS }];
        let parameters =
            Parameters::from_ranges(degree, FIRST_BITS, &ranges, security)?.with_digits(DIGITS)?;
        let parties = u32::try_from(NAMES.len()).unwrap_or(u32::MAX);
        let parameters = parameters.with_secrets(SecretDistribution::of_parties(parties));
        let context = Context::new(&parameters)?;
        let layout =
            Layout::new(job.rows, job.columns.len(), context.max_slots()).map_err(CliError::input)?;
        // A refresh before every iteration but the first, and the weights.
        let policy = SharingPolicy::new(STATISTICAL_BITS, training.iterations as u64);
        let policy = policy.map_err(CliError::failure)?;
        let numbers = QUORUM.iter().filter_map(|name| NAMES.iter().position(|other| other == name));
        let numbers: Vec<u32> = numbers.filter_map(|at| u32::try_from(at + 1).ok()).collect();
        let threshold = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        let quorum = Quorum::new(threshold, parties, &numbers).map_err(CliError::failure)?;
        Ok(Self { context, parameters, layout, training, policy, quorum })
    }

    fn plan(&self) -> Result<KeyPlan, CliError> {
        let level = self.context.key_level(LEVELS)?;
        let exponents = RegressionKeys::exponents(&self.context, &self.layout);
        let keys = exponents.into_iter().map(|exponent| (exponent, level));
        KeyPlan::new(self.context.rlwe(), Some(level), keys).map_err(CliError::failure)
    }

    /// The server adds up the blocks of all hospitals: no slot has numbers of two of them.
    fn table(&self, context: &Context, parts: &[Vec<Ciphertext>]) -> Result<Vec<Ciphertext>, CkksError> {
        let evaluator = Evaluator::new(context);
        let (first, rest) = parts.split_first().ok_or(CkksError::Empty { what: "a table" })?;
        let mut table = first.clone();
        for part in rest {
            for (sum, own) in table.iter_mut().zip(part) {
                *sum = evaluator.with_magnitude(&evaluator.add(sum, own)?, 1.0)?;
            }
        }
        Ok(table)
    }

    /// Trains, by the training of one key holder; a refresh takes the place of a bootstrapping.
    fn train(
        &self,
        context: &Context,
        (public, keys): (&PublicKey, &RegressionKeys),
        table: &[Ciphertext],
        refresh: impl Fn(&Ciphertext) -> Result<Ciphertext, CliError>,
        progress: &mut dyn FnMut(sunzi::circuits::regression::Progress),
    ) -> Result<Ciphertext, CliError> {
        let arithmetic =
            EncryptedReals::new(context, &self.layout, keys, refresh)?.with_encrypted_masks(public);
        let trained = train(&arithmetic, &self.layout, &self.training, table, progress);
        Ok(of_one_row(&self.layout, trained.map_err(CliError::failure)?))
    }

    /// One share of a refresh.
    fn share(
        &self,
        context: &Context,
        ciphertext: &Ciphertext,
        noise: DeclaredNoise,
        secret: &impl AdditiveSecret,
        seed: &[u8; 32],
    ) -> Result<sunzi::rlwe::joint::RefreshShare, CkksError> {
        let mut rng = randomness::from_os()?;
        context.flooded_refresh_share(ciphertext, noise, self.policy, secret, seed, &mut rng)
    }

    /// A hospital plays the whole training over polynomials without coefficients, and finds the noise that it declares.
    fn rehearse(&self) -> Result<Declared, CliError> {
        let own = &self.parameters;
        let ring = Polynomials::dry(own.shape(), own.moduli(), own.rungs()).map_err(CliError::failure)?;
        let context = Context::with_ring(ring, &Settings::from(own))?;
        let mut rng = randomness::from_os().map_err(CliError::failure)?;
        let mut secret = || SecretKey::generate(context.rlwe(), &mut rng).map_err(CliError::failure);
        let secrets = [secret()?, secret()?];
        let [first, _] = &secrets;
        let mut rng = randomness::from_os().map_err(CliError::failure)?;
        let public = PublicKey::generate(context.rlwe(), first, &mut rng).map_err(CliError::failure)?;
        let keys = RegressionKeys::generate(&context, first, &self.layout, LEVELS, &mut rng)?;
        let zeros = vec![Vec::new(); self.layout.blocks()];
        let parts = NAMES.map(|_| self.encrypt(&context, &zeros, &public));
        let parts = parts.into_iter().collect::<Result<Vec<_>, _>>()?;
        let declared = |ciphertext: &Ciphertext| {
            let own = DeclaredNoise::of_own_run(ciphertext.noise(), context.ring().expansion());
            DeclaredNoise::from_bits(own.bits() + SLACK)
        };
        let refreshes = RefCell::new(Vec::new());
        let refresh = |exhausted: &Ciphertext| {
            let noise = declared(exhausted);
            refreshes.borrow_mut().push(noise);
            let shares =
                secrets.each_ref().map(|secret| self.share(&context, exhausted, noise, secret, &[0; 32]));
            let shares = shares.into_iter().collect::<Result<Vec<_>, _>>()?;
            let (policy, quorum) = (self.policy, Some(&self.quorum));
            Ok(context.flooded_refresh(exhausted, noise, policy, quorum, &[0; 32], &shares)?)
        };
        let weights =
            self.train(&context, (&public, &keys), &self.table(&context, &parts)?, refresh, &mut |_| ())?;
        Ok(Declared { weights: declared(&weights), refreshes: refreshes.into_inner() })
    }

    /// A hospital encrypts the blocks with its rows.
    fn encrypt(
        &self,
        context: &Context,
        blocks: &[Vec<f64>],
        public: &PublicKey,
    ) -> Result<Vec<Ciphertext>, CkksError> {
        let (encoder, mut rng) = (Encoder::new(context, self.layout.slots())?, randomness::from_os()?);
        let scale = context.scale(LEVELS)?;
        let encrypted = blocks.iter().map(|block| {
            let plaintext = encoder.encode_real_at(block, LEVELS, scale)?;
            context.encrypt(&plaintext, public, &mut rng)
        });
        encrypted.collect()
    }
}

/// The hospitals of the quorum while the server trains: each with its share, its ledger and what it declares.
struct Refreshers<'a> {
    agreed: &'a Agreed,
    members: RefCell<&'a mut [Member]>,
    declared: &'a [Declared; QUORUM.len()],
    done: Cell<usize>,
    seconds: Cell<f64>,
}

impl Refreshers<'_> {
    /// Refreshes a ciphertext by shares of the quorum, each counted before it leaves.
    fn refresh(&self, exhausted: &Ciphertext) -> Result<Ciphertext, CliError> {
        let mut seconds = self.seconds.get();
        let fresh = timed(&mut seconds, || self.by_shares(exhausted));
        self.seconds.set(seconds);
        self.done.set(self.done.get() + 1);
        fresh
    }

    fn by_shares(&self, exhausted: &Ciphertext) -> Result<Ciphertext, CliError> {
        let (agreed, at) = (self.agreed, self.done.get());
        let Agreed { context, policy, quorum, .. } = agreed;
        let seed = randomness::public_seed(&mut randomness::from_os().map_err(CliError::failure)?);
        let noise = |declared: &Declared| {
            let noise = declared.refreshes.get(at).copied();
            noise.ok_or_else(|| CliError::failure("a refresh that no hospital rehearsed"))
        };
        let mut members = self.members.borrow_mut();
        let asked = members.iter_mut().filter(|member| quorum.parties().contains(&member.me.number()));
        let shares = at_once(asked.zip(self.declared), |(member, declared)| {
            member.ledger.spend(exhausted.key()).map_err(CliError::failure)?;
            let secret = member.share.in_quorum(context.rlwe(), quorum).map_err(CliError::failure)?;
            Ok(agreed.share(context, exhausted, noise(declared)?, &secret, &seed)?)
        })?;
        let [first, _] = self.declared;
        Ok(context.flooded_refresh(exhausted, noise(first)?, *policy, Some(quorum), &seed, &shares)?)
    }
}

/// Runs the regression: keys, encryption, training with refreshes, and the weights that two hospitals open.
pub(super) fn run(
    job: &Job,
    parts: &Parts,
    scaling: &Scaling,
    (training, quick): (Training, bool),
    progress: &Progress,
) -> Result<Run<Vec<f64>>, CliError> {
    let mut times = Times::default();
    progress.say("building tables");
    let agreed = timed(&mut times.parameters, || Agreed::new(job, training, quick))?;
    let (context, layout) = (&agreed.context, &agreed.layout);
    // Whatever cannot be packed, or has no room for what hides noise, is refused before there are keys.
    let blocks = parts.rows.iter().map(|rows| blocks(job, parts, layout, scaling, rows));
    let blocks = blocks.collect::<Result<Vec<_>, _>>()?;
    progress.say("rehearsing");
    let declared = timed(&mut times.rehearse, || at_once(QUORUM, |_| agreed.rehearse()))?;
    let declared: [Declared; QUORUM.len()] =
        declared.try_into().map_err(|_| CliError::failure("a hospital did not rehearse"))?;
    let mut joint = make(context.rlwe(), agreed.plan()?, agreed.policy, progress)?;
    [times.keys, times.dealing] = joint.seconds;
    let keys = Keys::of(context.rlwe(), &joint)?;
    progress.say("encrypting rows");
    let inputs = timed(&mut times.encrypt, || {
        at_once(&blocks, |blocks| Ok(agreed.encrypt(context, blocks, &joint.public)?))
    })?;
    let sent = inputs.iter().map(Vec::len).collect();
    let one = inputs.iter().flatten().next().map(|one| wire::to_bytes(context, one)).transpose();
    let one = one.map_err(CliError::failure)?.map_or(0, |bytes| bytes.len() as u64);
    let (trained, refreshes) = learn(&agreed, &mut joint, &declared, &inputs, (progress, &mut times))?;

    progress.say("opening the weights");
    let mut openers = Openers::new(context.rlwe(), joint.roster, joint.members)?;
    let slots = timed(&mut times.open, || -> Result<_, CliError> {
        let declared = declared.each_ref().map(|declared| declared.weights);
        let plaintext = openers.open(context, &trained, declared, "weights of the regression")?;
        Encoder::new(context, layout.width())?.decode_real(&plaintext).map_err(CliError::failure)
    })?;
    let parameters = &agreed.parameters;
    let ring = Ring {
        scheme: "CKKS",
        degree: parameters.degree(),
        moduli: parameters.moduli().len(),
        log2_qp: parameters.log2_key_modulus(),
        security: parameters.security().to_string(),
        plain_modulus: None,
        scale_bits: Some(SCALE_BITS),
        levels: Some(LEVELS),
    };
    let sizes = Sizes { ciphertexts: sent, ciphertext_bytes: one, results: refreshes + 1, keys };
    let counted = openers.counted();
    Ok(Run { result: layout.weights(&slots), times, ring, sizes, counted, policy: agreed.policy })
}

/// Runs the server's work, and the refreshes of the hospitals: returns the weights, and how often the state was refreshed.
fn learn(
    agreed: &Agreed,
    joint: &mut Joint,
    declared: &[Declared; QUORUM.len()],
    inputs: &[Vec<Ciphertext>],
    (progress, times): (&Progress, &mut Times),
) -> Result<(Ciphertext, usize), CliError> {
    let (context, iterations) = (&agreed.context, agreed.training.iterations);
    let (Some(relinearization), Some(galois)) = (joint.keys.relinearization.take(), joint.keys.galois.take())
    else {
        return Err(CliError::failure("the keys that were planned are not there"));
    };
    let server = RegressionKeys::new(relinearization, galois);
    let refreshers = Refreshers {
        agreed,
        members: RefCell::new(&mut joint.members),
        declared,
        done: Cell::new(0),
        seconds: Cell::new(0.0),
    };
    progress.begin(iterations);
    let trained = timed(&mut times.server, || {
        let table = agreed.table(context, inputs)?;
        let refresh = |exhausted: &Ciphertext| refreshers.refresh(exhausted);
        agreed.train(context, (&joint.public, &server), &table, refresh, &mut |at| {
            progress.at(at.iterations + usize::from(at.refreshing), iterations);
            progress.say(if at.refreshing { "hospitals: refreshing" } else { "server: training" });
        })
    })?;
    times.refresh = refreshers.seconds.get();
    times.server -= times.refresh;
    Ok((trained, refreshers.done.get()))
}

/// The rows of a hospital in slots, scaled by the means and variances that were opened.
fn blocks(
    job: &Job,
    parts: &Parts,
    layout: &Layout,
    scaling: &Scaling,
    rows: &std::ops::Range<usize>,
) -> Result<Vec<Vec<f64>>, CliError> {
    let labels = parts.labels.get(rows.clone()).unwrap_or_default();
    layout.pack_from(rows.start, scaling, &job.rows_of(rows.clone()), labels).map_err(CliError::input)
}

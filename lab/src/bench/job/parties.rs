//! Keys and results of several parties in BGV: every step of their protocols, compared with other libraries.

use std::cell::RefCell;
use std::collections::BTreeMap;

use rand_core::CryptoRng;
use sunzi_bgv::{Bgv, Ciphertext, Context, Evaluator, Parameters, row_rotation_exponent};
use sunzi_encoding::{BatchEncoder, Encoder, Plaintext};
use sunzi_ring::{Evaluation, GadgetOptions, Poly};
use sunzi_rlwe::joint::{
    AdditiveSecret, DecryptionShare, EphemeralSecret, ExactJointContext, GaloisShares, JointContext,
    JointDecryption, PublicKeyShare, PublicKeySwitchShare, Quorum, Reference, RefreshShare,
    RelinearizationShare, RelinearizationSum, RoundTwoShare, ThresholdPiece, ThresholdShare,
};
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::wire::{self, Format};
use sunzi_rlwe::{
    DeclaredNoise, PublicKey, RlweContext, SecretDistribution, SecretKey, Security, SharingPolicy, randomness,
};

use super::{Call, Rng, STEPS, Subject, call};
use crate::bench::report::About;
use crate::bench::values::{Step, Values};
use crate::bench::{LabError, Result};

/// Steps of the protocols: what the first of the parties does, and what anybody does with what all sent.
pub(crate) const PARTY_STEPS: [&str; 16] = [
    "share_public_key",
    "add_public_key",
    "share_relinearization",
    "add_relinearization",
    "share_galois",
    "add_galois",
    "share_decryption",
    "open",
    "open_decode",
    "share_switch",
    "add_switch",
    "share_refresh",
    "refresh",
    "deal_threshold",
    "add_threshold",
    "quorum_secret",
];
/// Seed of common encryptions.
const SEED: [u8; 32] = [3; 32];

/// Shares of the first round of a relinearisation key, their sum, and shares of the second round.
type RelinearizationShares = (Vec<RelinearizationShare>, RelinearizationSum, Vec<RoundTwoShare>);

/// Policy of the compared results: 2^-40 for all of 65 536 results. For a thousand the deviation is between 2^53 and 2^61, for which Lattigo 6.2 draws wrong
/// residues: they wrap modulo moduli that are narrower than the noise.
fn policy() -> Result<SharingPolicy> {
    Ok(SharingPolicy::new(40, 1 << 16)?)
}

/// BGV under a joint secret, with the secrets of all parties, and two ciphertexts.
struct Setup {
    context: Context,
    evaluator: Evaluator,
    encoder: BatchEncoder,
    reference: Reference,
    secrets: Vec<SecretKey>,
    /// Somebody to whom ciphertexts are handed on.
    receiver: SecretKey,
    target: PublicKey,
    quorum: Quorum,
    values: [Vec<u64>; 2],
    ciphertexts: [Ciphertext; 2],
}

/// What all parties sent, for every step that adds it up, and for the first party what it keeps.
struct Sent {
    public: Vec<PublicKeyShare>,
    first: Vec<RelinearizationShare>,
    sum: RelinearizationSum,
    second: Vec<RoundTwoShare>,
    galois: Vec<GaloisShares>,
    decryption: Vec<DecryptionShare>,
    switch: Vec<PublicKeySwitchShare>,
    refresh: Vec<RefreshShare>,
    pieces: Vec<ThresholdPiece>,
    threshold: ThresholdShare,
}

/// The steps of several parties, each ready to be timed.
pub(crate) struct Parties {
    setup: Setup,
    sent: Sent,
    decryption: JointDecryption,
    rng: RefCell<Box<dyn CryptoRng>>,
}

impl Setup {
    fn new(parameters: &Parameters, values: [Vec<u64>; 2], rng: Rng<'_>) -> Result<Self> {
        let context = Context::new(parameters)?;
        let rlwe = context.rlwe();
        let reference = Reference::new([1; 32]);
        let secrets: Vec<_> =
            (0..rlwe.parties()).map(|_| SecretKey::generate_share(rlwe, rng)).collect::<Result<_, _>>()?;
        let shares = each(&secrets, |secret| Ok(PublicKeyShare::new(rlwe, secret, &reference, rng)?))?;
        let public = PublicKeyShare::combine(rlwe, &reference, &shares)?;
        let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
        let [left, right] = &values;
        let mut encrypt =
            |slots: &[u64]| Ok::<_, LabError>(context.encrypt(&encoder.encode(slots)?, &public, rng)?);
        let ciphertexts = [encrypt(left)?, encrypt(right)?];
        let receiver = SecretKey::generate_share(rlwe, rng)?;
        let target = PublicKey::generate(rlwe, &receiver, rng)?;
        // More than half act for all.
        let numbers: Vec<u32> = (1..=rlwe.parties() / 2 + 1).collect();
        let quorum = Quorum::new(numbers.len() as u32, rlwe.parties(), &numbers)?;
        let evaluator = Evaluator::new(&context);
        Ok(Self {
            context,
            evaluator,
            encoder,
            reference,
            secrets,
            receiver,
            target,
            quorum,
            values,
            ciphertexts,
        })
    }

    fn rlwe(&self) -> &RlweContext {
        self.context.rlwe()
    }

    /// The noise that all parties declare of a ciphertext.
    fn declared(&self, a: &Ciphertext) -> DeclaredNoise {
        DeclaredNoise::of_own_run(a.noise(), self.context.ring().expansion())
    }

    fn flooding(&self, a: &Ciphertext) -> Result<Flooding> {
        Ok(Flooding::new(policy()?, self.declared(a), self.context.degree())?)
    }

    fn decryption(&self, a: &Ciphertext) -> Result<JointDecryption> {
        Ok(self.context.joint_decryption(a, self.declared(a), policy()?)?)
    }

    fn public_share(&self, secret: &SecretKey, rng: Rng<'_>) -> Result<PublicKeyShare> {
        Ok(PublicKeyShare::new(self.rlwe(), secret, &self.reference, rng)?)
    }

    fn first_share(
        &self,
        secret: &SecretKey,
        rng: Rng<'_>,
    ) -> Result<(RelinearizationShare, EphemeralSecret)> {
        let level = self.rlwe().level();
        Ok(RelinearizationShare::new(self.rlwe(), secret, &self.reference, level, rng)?)
    }

    fn second_share(
        &self,
        (ephemeral, secret): (EphemeralSecret, &SecretKey),
        sum: &RelinearizationSum,
        rng: Rng<'_>,
    ) -> Result<RoundTwoShare> {
        Ok(ephemeral.second_round(self.rlwe(), secret, &self.reference, sum, rng)?)
    }

    /// Both rounds of all parties.
    fn relinearization(&self, rng: Rng<'_>) -> Result<RelinearizationShares> {
        let made = each(&self.secrets, |secret| self.first_share(secret, rng))?;
        let (first, ephemeral): (Vec<_>, Vec<_>) = made.into_iter().unzip();
        let sum = RelinearizationSum::of(self.rlwe(), &first)?;
        let pairs = ephemeral.into_iter().zip(&self.secrets);
        let second = pairs.map(|pair| self.second_share(pair, &sum, rng)).collect::<Result<_>>()?;
        Ok((first, sum, second))
    }

    fn galois_share(&self, secret: &SecretKey, rng: Rng<'_>) -> Result<GaloisShares> {
        let exponent = row_rotation_exponent(self.context.degree(), STEPS);
        let key = [(exponent, self.rlwe().level())];
        Ok(GaloisShares::new(self.rlwe(), secret, &self.reference, key, rng)?)
    }

    fn switch_share(&self, secret: &SecretKey, rng: Rng<'_>) -> Result<PublicKeySwitchShare> {
        let [a, _] = &self.ciphertexts;
        let (linear, flooding) = (linear(a)?, self.flooding(a)?);
        Ok(PublicKeySwitchShare::new(self.rlwe(), linear, secret, &self.target, &flooding, rng)?)
    }

    fn switched(&self, shares: &[PublicKeySwitchShare]) -> Result<Ciphertext> {
        let [a, _] = &self.ciphertexts;
        let (flooding, target) = (self.flooding(a)?, self.target.id());
        Ok(PublicKeySwitchShare::combine::<Bgv>(&self.context, a, target, &flooding, None, shares)?)
    }

    fn refresh_share(&self, secret: &SecretKey, rng: Rng<'_>) -> Result<RefreshShare> {
        let [a, _] = &self.ciphertexts;
        Ok(self.context.refresh_share(a, self.declared(a), policy()?, secret, &SEED, rng)?)
    }

    fn refreshed(&self, shares: &[RefreshShare]) -> Result<Ciphertext> {
        let [a, _] = &self.ciphertexts;
        Ok(self.context.refresh(a, self.declared(a), policy()?, None, &SEED, shares)?)
    }

    fn deal(&self, secret: &SecretKey, rng: Rng<'_>) -> Result<Vec<ThresholdPiece>> {
        let (rlwe, key, threshold) = (self.rlwe(), self.reference.key_id(), self.quorum.parties().len());
        Ok(ThresholdPiece::deal(rlwe, key, secret, threshold as u32, rlwe.parties(), rng)?)
    }

    /// The share of each party of a threshold, with the pieces of the first one.
    fn threshold(&self, rng: Rng<'_>) -> Result<(Vec<ThresholdPiece>, Vec<ThresholdShare>)> {
        let mut dealers: Vec<_> =
            each(&self.secrets, |secret| self.deal(secret, rng))?.into_iter().map(Vec::into_iter).collect();
        let mut pieces = (1..=self.rlwe().parties())
            .map(|party| (party, dealers.iter_mut().filter_map(Iterator::next).collect::<Vec<_>>()));
        let (_, own) = pieces.next().ok_or_else(LabError::no_rounds)?;
        let mut shares = vec![ThresholdShare::combine(self.rlwe(), 1, &own)?];
        for (party, pieces) in pieces {
            shares.push(ThresholdShare::combine(self.rlwe(), party, &pieces)?);
        }
        Ok((own, shares))
    }

    fn open(&self, a: &Ciphertext, quorum: Option<&Quorum>, shares: &[DecryptionShare]) -> Result<Plaintext> {
        Ok(self.context.open_shares(a, self.declared(a), policy()?, quorum, shares)?)
    }

    /// The slots of a ciphertext under the joint secret, opened by shares of all.
    fn slots(&self, a: &Ciphertext, rng: Rng<'_>) -> Result<Vec<u64>> {
        let decryption = self.decryption(a)?;
        let shares = each(&self.secrets, |secret| Ok(decryption.share(self.rlwe(), secret, rng)?))?;
        Ok(self.encoder.decode(&self.open(a, None, &shares)?)?)
    }

    /// Runs the protocol of a step as a whole, and returns the slots that come of it.
    fn outcome(&self, name: &str, rng: Rng<'_>) -> Result<Vec<u64>> {
        let (Self { context, reference, secrets, .. }, rlwe) = (self, self.rlwe());
        let [a, b] = &self.ciphertexts;
        match name {
            "share_public_key" | "add_public_key" => {
                let shares = each(secrets, |secret| self.public_share(secret, rng))?;
                let key = PublicKeyShare::combine(rlwe, reference, &shares)?;
                let [left, _] = &self.values;
                let sealed = context.encrypt(&self.encoder.encode(left)?, &key, rng)?;
                self.slots(&sealed, rng)
            }
            "share_relinearization" | "add_relinearization" => {
                let (_, _, second) = self.relinearization(rng)?;
                let key = RoundTwoShare::combine(rlwe, reference, &second)?;
                self.slots(&self.evaluator.multiply(a, b, &key)?, rng)
            }
            "share_galois" | "add_galois" => {
                let shares = each(secrets, |secret| self.galois_share(secret, rng))?;
                let keys = GaloisShares::combine(rlwe, reference, &shares)?;
                self.slots(&self.evaluator.rotate_rows(a, STEPS, &keys)?, rng)
            }
            "share_switch" | "add_switch" => {
                let shares = each(secrets, |secret| self.switch_share(secret, rng))?;
                Ok(self.encoder.decode(&context.decrypt(&self.switched(&shares)?, &self.receiver)?)?)
            }
            "share_refresh" | "refresh" => {
                let shares = each(secrets, |secret| self.refresh_share(secret, rng))?;
                self.slots(&self.refreshed(&shares)?, rng)
            }
            "deal_threshold" | "add_threshold" | "quorum_secret" => {
                let (_, shares) = self.threshold(rng)?;
                let decryption = self.decryption(a)?;
                let acting = shares.iter().take(self.quorum.parties().len());
                let share = |share: &ThresholdShare| {
                    Ok(decryption.share(rlwe, &share.in_quorum(rlwe, &self.quorum)?, rng)?)
                };
                let shares = acting.map(share).collect::<Result<Vec<_>>>()?;
                Ok(self.encoder.decode(&self.open(a, Some(&self.quorum), &shares)?)?)
            }
            _ => self.slots(a, rng),
        }
    }
}

impl Parties {
    /// Makes the keys of several parties and encrypts two vectors of n slots under them. There is one level for every modulus.
    pub(crate) fn new(
        log_n: u32,
        moduli: Vec<u64>,
        key_switching: GadgetOptions,
        (t, parties): (u64, u32),
        values: [Vec<u64>; 2],
    ) -> Result<Self> {
        let levels = (1..=moduli.len()).collect();
        let parameters = Parameters::new(log_n, moduli, t, Security::Bits128).with_levels(levels);
        let parameters = parameters.with_secrets(SecretDistribution::of_parties(parties));
        let mut rng: Box<dyn CryptoRng> = Box::new(randomness::from_os()?);
        let setup = Setup::new(&parameters.with_key_switching(key_switching), values, &mut rng)?;
        let [a, _] = &setup.ciphertexts;
        let decryption = setup.decryption(a)?;
        let (first, sum, second) = setup.relinearization(&mut rng)?;
        let (pieces, mut shares) = setup.threshold(&mut rng)?;
        let sent = Sent {
            public: each(&setup.secrets, |secret| setup.public_share(secret, &mut rng))?,
            first,
            sum,
            second,
            galois: each(&setup.secrets, |secret| setup.galois_share(secret, &mut rng))?,
            decryption: each(&setup.secrets, |secret| {
                Ok(decryption.share(setup.rlwe(), secret, &mut rng)?)
            })?,
            switch: each(&setup.secrets, |secret| setup.switch_share(secret, &mut rng))?,
            refresh: each(&setup.secrets, |secret| setup.refresh_share(secret, &mut rng))?,
            pieces,
            threshold: shares.swap_remove(0),
        };
        Ok(Self { setup, sent, decryption, rng: RefCell::new(rng) })
    }

    /// A step of the first party, as a call.
    fn share<'a, T: 'a>(&'a self, step: impl Fn(&'a SecretKey, Rng<'_>) -> Result<T> + 'a) -> Call<'a> {
        call(move || {
            let secret = self.setup.secrets.first().ok_or_else(LabError::no_rounds)?;
            step(secret, &mut **self.rng.borrow_mut())
        })
    }

    /// Bytes of what is sent and of the keys that come of it, by name.
    fn bytes(&self) -> Result<BTreeMap<String, usize>> {
        let (Self { sent, setup, .. }, rlwe) = (self, self.setup.rlwe());
        let relinearization = first(rlwe, &sent.first)? + first(rlwe, &sent.second)?;
        let reference = &setup.reference;
        let keys = [
            ("public key", size(rlwe, &PublicKeyShare::combine(rlwe, reference, &sent.public)?)?),
            ("relinearisation key", size(rlwe, &RoundTwoShare::combine(rlwe, reference, &sent.second)?)?),
            ("Galois key", size(rlwe, &GaloisShares::combine(rlwe, reference, &sent.galois)?)?),
            ("share of the public key", first(rlwe, &sent.public)?),
            ("shares of the relinearisation key", relinearization),
            ("share of a Galois key", first(rlwe, &sent.galois)?),
            ("share of a decryption", first(rlwe, &sent.decryption)?),
            ("piece of a threshold", first(rlwe, &sent.pieces)?),
        ];
        Ok(keys.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect())
    }
}

impl Subject for Parties {
    fn names(&self) -> Vec<&'static str> {
        PARTY_STEPS.to_vec()
    }

    fn about(&self) -> Result<About> {
        let rlwe = self.setup.rlwe();
        let level = self.sent.decryption.first().map(|share| share.level(rlwe)).transpose()?;
        let [a, _] = &self.setup.ciphertexts;
        Ok(About {
            log_q: Some(rlwe.log2_modulus()),
            log_key_modulus: Some(rlwe.log2_key_modulus()),
            secret: Some(rlwe.secrets().to_string()),
            digits: Some(rlwe.gadget().digit_count()),
            flooding_bits: Some(self.decryption.flooding().log2_deviation()),
            open_bits: level.map(|level| rlwe.log2_modulus_at(level)).transpose()?,
            ciphertext_bytes: Some(a.parts().iter().map(|part| part.byte_len()).sum()),
            bytes: self.bytes()?,
            ..About::default()
        })
    }

    fn values(&self, name: &str) -> Result<Values> {
        Ok(Values::Words(self.setup.outcome(name, &mut **self.rng.borrow_mut())?))
    }

    fn call(&self, name: &str) -> Result<Call<'_>> {
        let Self { setup, sent, decryption, .. } = self;
        let (rlwe, reference, [a, _]) = (setup.rlwe(), &setup.reference, &setup.ciphertexts);
        Ok(match name {
            "share_public_key" => self.share(|secret, rng| setup.public_share(secret, rng)),
            "add_public_key" => call(move || PublicKeyShare::combine(rlwe, reference, &sent.public)),
            "share_relinearization" => self.share(|secret, rng| {
                let (share, ephemeral) = setup.first_share(secret, rng)?;
                Ok((share, setup.second_share((ephemeral, secret), &sent.sum, rng)?))
            }),
            "add_relinearization" => call(move || {
                let sum = RelinearizationSum::of(rlwe, &sent.first)?;
                Ok::<_, LabError>((sum, RoundTwoShare::combine(rlwe, reference, &sent.second)?))
            }),
            "share_galois" => self.share(|secret, rng| setup.galois_share(secret, rng)),
            "add_galois" => call(move || GaloisShares::combine(rlwe, reference, &sent.galois)),
            "share_decryption" => self.share(|secret, rng| Ok(decryption.share(rlwe, secret, rng)?)),
            "open" => call(move || setup.open(a, None, &sent.decryption)),
            "open_decode" => call(move || {
                let opened = setup.open(a, None, &sent.decryption)?;
                Ok::<_, LabError>(setup.encoder.decode(&opened)?)
            }),
            "share_switch" => self.share(|secret, rng| setup.switch_share(secret, rng)),
            "add_switch" => call(|| setup.switched(&sent.switch)),
            "share_refresh" => self.share(|secret, rng| setup.refresh_share(secret, rng)),
            "refresh" => call(|| setup.refreshed(&sent.refresh)),
            "deal_threshold" => self.share(|secret, rng| setup.deal(secret, rng)),
            "add_threshold" => call(move || ThresholdShare::combine(rlwe, 1, &sent.pieces)),
            // A share is worth nothing before it is used: here for a ciphertext of the highest level.
            "quorum_secret" => {
                call(move || sent.threshold.in_quorum(rlwe, &setup.quorum)?.at_level(rlwe, rlwe.level()))
            }
            _ => return Err(LabError::request("no such operation")),
        })
    }

    fn circuit(&self, _: &[Step]) -> Result<Values> {
        Err(LabError::request("circuits are run in BFV alone"))
    }
}

/// The part c_1 of a ciphertext.
fn linear(a: &Ciphertext) -> Result<&Poly<Evaluation>> {
    a.parts().get(1).ok_or_else(|| LabError::request("a ciphertext has two parts"))
}

/// Makes one of something for every secret.
fn each<T>(secrets: &[SecretKey], make: impl FnMut(&SecretKey) -> Result<T>) -> Result<Vec<T>> {
    secrets.iter().map(make).collect()
}

fn size<T>(context: &RlweContext, object: &T) -> Result<usize>
where
    RlweContext: Format<T>,
{
    Ok(wire::to_bytes(context, object)?.len())
}

fn first<T>(context: &RlweContext, objects: &[T]) -> Result<usize>
where
    RlweContext: Format<T>,
{
    objects.first().map_or(Ok(0), |object| size(context, object))
}

//! Tests that the noise bounds of the BFV evaluator are what the builder predicts, and that the circuit decrypts.

use sunzi_bfv::{
    Algorithms, BatchEncoder, BfvError, Ciphertext, Context, Encoder, Evaluator, KeySwitching, Parameters,
    ParametersBuilder, Request, row_rotation_exponent,
};
use sunzi_ring::{Auxiliary, Decryption, GadgetOptions, MTilde, Precision, ScalerOptions};
use sunzi_rlwe::{GaloisKeys, PublicKey, RelinearizationKey, SecretKey, Security, randomness};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Context, encoder and keys that one BFV circuit needs.
struct Setting {
    context: Context,
    evaluator: Evaluator,
    encoder: BatchEncoder,
    relinearization: RelinearizationKey,
    galois: GaloisKeys,
    request: Request,
}

impl Setting {
    /// Sums 2^additions copies of `a`, and its slots in the clear.
    fn add_up(&self, a: &Ciphertext, slots: &[u64]) -> Outcome<(Ciphertext, Vec<u64>)> {
        let (mut a, mut slots) = (a.clone(), slots.to_vec());
        for _ in 0..self.request.additions {
            a = self.evaluator.add(&a, &a)?;
            slots = self.map(&slots, |x, _| 2 * x);
        }
        Ok((a, slots))
    }

    /// Does the rotate-and-add steps of a level, then products with the worst plaintext.
    fn finish(&self, mut a: Ciphertext, mut slots: Vec<u64>) -> Outcome<(Ciphertext, Vec<u64>)> {
        let half = slots.len() / 2;
        for _ in 0..self.request.rotations {
            let rotated = self.evaluator.rotate_rows(&a, 1, &self.galois)?;
            a = self.evaluator.add(&a, &rotated)?;
            slots = self.map(&slots, |x, i| x + slots[i / half * half + (i + 1) % half]);
        }
        for _ in 0..self.request.plain_products {
            let factor: Vec<u64> = (0..slots.len()).map(|i| i as u64 * 7919 % self.modulus()).collect();
            a = self.evaluator.multiply_plain(&a, &self.encoder.encode(&factor)?)?;
            slots = self.map(&slots, |x, i| x * factor[i]);
        }
        Ok((a, slots))
    }

    fn modulus(&self) -> u64 {
        self.context.plain_modulus()
    }

    fn map(&self, slots: &[u64], f: impl Fn(u64, usize) -> u64) -> Vec<u64> {
        slots.iter().enumerate().map(|(i, &x)| f(x, i) % self.modulus()).collect()
    }
}

/// Runs the circuit of the BFV builder's documentation; the noise of every level stays within the prediction.
fn run(builder: &ParametersBuilder) -> Outcome<()> {
    let explanation = builder.explain()?;
    let predicted = explanation.chosen.ok_or("nothing fits")?.bits_left;
    let context = Context::new(&builder.build()?)?;
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    let public = PublicKey::generate(context.rlwe(), &secret, &mut rng)?;
    let relinearization = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
    let rotation = row_rotation_exponent(context.degree(), 1);
    let galois = GaloisKeys::generate(context.rlwe(), &secret, [rotation], &mut rng)?;
    let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
    let evaluator = Evaluator::new(&context);
    let request = builder.request().clone();
    let setting = Setting { context, evaluator, encoder, relinearization, galois, request };

    let slots: Vec<u64> = (0..setting.encoder.slots() as u64).map(|i| i * i % setting.modulus()).collect();
    let fresh = setting.context.encrypt(&setting.encoder.encode(&slots)?, &public, &mut rng)?;
    let (mut a, mut slots) = setting.add_up(&fresh, &slots)?;
    if setting.request.depth == 0 {
        (a, slots) = setting.finish(a, slots)?;
    }
    for (level, expected) in predicted.iter().enumerate() {
        if level > 0 {
            let square = setting.evaluator.square(&a, &setting.relinearization)?;
            let (sum, sums) = setting.add_up(&square, &setting.map(&slots, |x, _| x * x))?;
            (a, slots) = setting.finish(sum, sums)?;
        }
        let left = setting.context.bits_left(&a);
        assert!(left >= expected - 1e-6, "level {level}: {expected} bits were predicted, {left} are left");
        assert!(left < expected + 4.0, "level {level}: {expected} bits were predicted, {left} are left");
        let decrypted = setting.encoder.decode(&setting.context.decrypt(&a, &secret)?)?;
        assert!(decrypted == slots, "level {level} decrypts wrongly with {left} bits left");
    }
    Ok(())
}

fn small() -> ParametersBuilder {
    Parameters::builder().log2_degree(6).plain_modulus(12289).security(Security::InsecureForResearchOnly)
}

#[test]
fn products_keep_what_was_predicted() -> Outcome<()> {
    run(&small().depth(0))?;
    run(&small().depth(1))?;
    run(&small().depth(4))
}

#[test]
fn sums_rotations_and_plaintext_products_keep_what_was_predicted() -> Outcome<()> {
    run(&small().depth(0).additions(5).rotations(3).plain_products(1))?;
    run(&small().depth(2).additions(3))?;
    run(&small().depth(2).rotations(5))?;
    run(&small().depth(2).additions(1).rotations(2).plain_products(2))
}

/// Runs one variant of every BFV algorithm, and all relinearisations.
#[test]
fn variants_keep_what_was_predicted() -> Outcome<()> {
    let gamma = Decryption::Gamma { gamma: Some(127) };
    let power = Decryption::PowerOfTwo { log2_gamma: Some(8) };
    let quotients = Decryption::FloatingPoint { precision: Precision::Automatic };
    let (standard, short) = (Auxiliary::Standard, Auxiliary::LikeModulus);
    for (decryption, m_tilde, auxiliary, radix_bits, dropped_limbs) in [
        (gamma, MTilde::Bits8, standard, None, 1),
        (power, MTilde::None, short, Some(16), 0),
        (quotients, MTilde::Bits16, short, Some(13), 2),
    ] {
        let scaling = ScalerOptions { decryption, m_tilde, auxiliary, ..ScalerOptions::default() };
        let key_switching = GadgetOptions { radix_bits, dropped_limbs, ..GadgetOptions::default() };
        let algorithms = Algorithms { scaling, key_switching, ..Algorithms::default() };
        run(&small().depth(3).rotations(1).algorithms(algorithms.clone()))?;
        let explanation = small().algorithms(algorithms.clone()).explain()?.to_string();
        assert!(explanation.contains(&format!("algorithms            {algorithms}")), "{explanation}");
    }
    let algorithms = Algorithms {
        key_switching: GadgetOptions { radix_bits: Some(0), ..GadgetOptions::default() },
        ..Algorithms::default()
    };
    let error = small().algorithms(algorithms).build().unwrap_err().to_string();
    assert!(error.contains("radix_bits"), "{error}");
    Ok(())
}

#[test]
fn every_key_switching_keeps_what_was_predicted() -> Outcome<()> {
    for key_switching in
        [KeySwitching::Bv, KeySwitching::Ghs, KeySwitching::Hybrid(2), KeySwitching::Hybrid(3)]
    {
        let builder = small().key_switching(key_switching);
        run(&builder.clone().depth(0).rotations(4))?;
        run(&builder.depth(3).rotations(2).additions(1))?;
    }
    Ok(())
}

#[test]
fn secure_parameters_work_as_they_are() -> Outcome<()> {
    run(&Parameters::builder().depth(1).plain_bits(17).rotations(1))
}

#[test]
fn a_context_refuses_what_is_no_parameter_set() {
    let moduli = small().build().unwrap().moduli().to_vec();
    let insecure = Parameters::new(6, moduli, 12289, Security::Bits128);
    assert!(matches!(Context::new(&insecure), Err(BfvError::Rlwe(_))));
    let absurd = Parameters::new(u32::MAX, vec![3], 12289, Security::InsecureForResearchOnly);
    assert!(matches!(
        Context::new(&absurd),
        Err(BfvError::Encoding(sunzi_encoding::EncodingError::DegreeOutOfRange { .. }))
    ));
}

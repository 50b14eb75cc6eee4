//! Client and server: the types say who holds what.
//!
//! `cargo run --release -p sunzi --example 05_two_parties`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use sunzi::prelude::*;

/// Has the data and the secret key, which never leaves it.
struct Client {
    context: Context,
    encoder: BatchEncoder,
    secret: SecretKey,
}

/// Has a model and keys to compute with. There is no secret in it, so none can leak from it.
struct Server {
    context: Context,
    relinearization: RelinearizationKey,
}

impl Client {
    fn new(parameters: &Parameters) -> Result<Self, BfvError> {
        let context = Context::new(parameters)?;
        let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
        let secret = SecretKey::generate(context.rlwe(), &mut randomness::from_os()?)?;
        Ok(Self { context, encoder, secret })
    }

    /// What the server needs once: it computes with this key and cannot decrypt with it.
    fn evaluation_key(&self) -> Result<RelinearizationKey, BfvError> {
        let mut rng = randomness::from_os()?;
        Ok(RelinearizationKey::generate(self.context.rlwe(), &self.secret, &mut rng)?)
    }

    /// Who holds the secret key may encrypt with it: less noise than with the public key.
    fn ask(&self, numbers: &[i64]) -> Result<Ciphertext, BfvError> {
        let plaintext = self.encoder.encode_signed(numbers)?;
        self.context.encrypt_secret(&plaintext, &self.secret, &mut randomness::from_os()?)
    }

    fn open(&self, answer: &Ciphertext) -> Result<Vec<i64>, BfvError> {
        Ok(self.encoder.decode_signed(&self.context.decrypt(answer, &self.secret)?)?)
    }
}

impl Server {
    /// 3x² − 5x + 7 in every slot, of numbers the server never sees.
    fn answer(&self, x: &Ciphertext) -> Result<Ciphertext, BfvError> {
        let evaluator = Evaluator::new(&self.context);
        let square = evaluator.multiply_scalar(&evaluator.square(x, &self.relinearization)?, 3)?;
        let sum = evaluator.add(&square, &evaluator.multiply_scalar(x, -5)?)?;
        // The same number in every slot is a constant polynomial: no encoder needed.
        let seven = Plaintext::constant(7, self.context.degree(), self.context.plain_modulus())?;
        evaluator.add_plain(&sum, &seven)
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // A factor of 3 costs as much noise as a sum of 3 terms: here are 3 + 5 + 1, at most 2^4.
    let parameters = Parameters::builder().depth(1).additions(4).plain_bits(20).build()?;
    let (alice, bob) = (Client::new(&parameters)?, Client::new(&parameters)?);
    let server = Server { context: Context::new(&parameters)?, relinearization: alice.evaluation_key()? };

    let opened = alice.open(&server.answer(&alice.ask(&[0, 1, -2, 100])?)?)?;
    if !opened.starts_with(&[7, 5, 29, 29_507]) {
        return Err("the server's answer is wrong".into());
    }
    println!("3x² − 5x + 7 at 0, 1, −2, 100 = {:?}", opened.get(..4).unwrap_or_default());

    // Ciphertexts and keys carry the name of their secret key: mixing two people's is an error.
    match server.answer(&bob.ask(&[1])?) {
        Err(error @ BfvError::Rlwe(RlweError::KeyMismatch { .. })) => println!("Bob's number: {error}"),
        Err(other) => return Err(other.into()),
        Ok(_) => return Err("Bob's ciphertext was taken for Alice's".into()),
    }
    Ok(())
}

//! Arrays of encrypted integers in BFV, with sums and products.

use serde::Deserialize;
use sunzi_bfv::{Ciphertext, Context, Evaluator, Parameters};
use sunzi_encoding::{BatchEncoder, Encoder as _};
use sunzi_rlwe::randomness::from_os;
use sunzi_rlwe::wire::{Accept, NoContext, from_bytes, to_bytes};
use sunzi_rlwe::{EvaluationKeys, PublicKey, RelinearizationKey, SecretKey};
use wasm_bindgen::prelude::*;
use zeroize::Zeroizing;

use crate::error::{Failure, missing};

/// Needs of a computation, in JSON.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Needs {
    /// Number of products one after the other.
    depth: usize,
    /// Bits of the plaintext modulus, which results are taken modulo.
    plain_bits: u32,
    log2_degree: Option<u32>,
}

impl Default for Needs {
    fn default() -> Self {
        Self { depth: 1, plain_bits: 20, log2_degree: None }
    }
}

/// Parameters of encrypted integers, with the keys that this party has.
#[wasm_bindgen]
pub struct Integers {
    parameters: Parameters,
    context: Context,
    encoder: BatchEncoder,
    secret: Option<SecretKey>,
    public: Option<PublicKey>,
    keys: EvaluationKeys,
}

#[wasm_bindgen]
impl Integers {
    /// Chooses parameters for what a computation needs, at 128 bits of security, and generates all keys.
    ///
    /// # Errors
    /// `Schema` for needs that are none; errors of parameters that no ring holds; `Randomness`.
    pub fn generate(needs: &str) -> Result<Self, JsValue> {
        Ok(generated(needs)?)
    }

    /// Reads parameters and keys from the bytes of their files.
    ///
    /// # Errors
    /// Errors of the wire format for damaged or foreign bytes.
    pub fn open(
        parameters: &[u8],
        secret: Option<Vec<u8>>,
        public: Option<Vec<u8>>,
        relinearization: Option<Vec<u8>>,
    ) -> Result<Self, JsValue> {
        Ok(opened(parameters, secret.map(Zeroizing::new), public, relinearization)?)
    }

    /// Number of integers in a ciphertext.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn slots(&self) -> usize {
        self.encoder.slots()
    }

    /// Degree of the ring.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn degree(&self) -> usize {
        self.context.degree()
    }

    /// Plaintext modulus: results are residues of the least absolute value.
    #[wasm_bindgen(getter, js_name = plainModulus)]
    #[must_use]
    pub fn plain_modulus(&self) -> u64 {
        self.context.plain_modulus()
    }

    /// Returns the bytes of the parameters' file.
    ///
    /// # Errors
    /// `Io` alone, which memory does not have.
    pub fn parameters(&self) -> Result<Vec<u8>, JsValue> {
        Ok(to_bytes(&NoContext, &self.parameters).map_err(Failure::from)?)
    }

    /// Returns the bytes of the secret key's file.
    ///
    /// # Errors
    /// `MissingKey` without a secret key.
    #[wasm_bindgen(js_name = secretKey)]
    pub fn secret_key(&self) -> Result<Vec<u8>, JsValue> {
        let key = self.secret.as_ref().ok_or_else(|| missing("secret key"))?;
        Ok(to_bytes(self.context.rlwe(), key).map_err(Failure::from)?)
    }

    /// Returns the bytes of the public key's file.
    ///
    /// # Errors
    /// `MissingKey` without a public key.
    #[wasm_bindgen(js_name = publicKey)]
    pub fn public_key(&self) -> Result<Vec<u8>, JsValue> {
        let key = self.public.as_ref().ok_or_else(|| missing("public key"))?;
        Ok(to_bytes(self.context.rlwe(), key).map_err(Failure::from)?)
    }

    /// Returns the bytes of the relinearisation key's file.
    ///
    /// # Errors
    /// `MissingKey` without one.
    #[wasm_bindgen(js_name = relinearizationKey)]
    pub fn relinearization_key(&self) -> Result<Vec<u8>, JsValue> {
        let key = self.keys.relinearization.as_ref().ok_or_else(|| missing("relinearisation key"))?;
        Ok(to_bytes(self.context.rlwe(), key).map_err(Failure::from)?)
    }

    /// Encrypts integers of at most half the plaintext modulus, and returns the bytes of the ciphertext's file. The secret key is taken where there is one: its
    /// ciphertexts are half as long.
    ///
    /// # Errors
    /// `MissingKey`; errors of encoders for too many integers, and for those that are out of range.
    pub fn encrypt(&self, values: &[i64]) -> Result<Vec<u8>, JsValue> {
        Ok(encrypted(self, values)?)
    }

    /// Adds two ciphertexts.
    ///
    /// # Errors
    /// Errors of the wire format; `Key` for ciphertexts of other keys.
    pub fn add(&self, a: &[u8], b: &[u8]) -> Result<Vec<u8>, JsValue> {
        Ok(combined(self, [a, b], |evaluator, a, b| Ok(evaluator.add(a, b)?))?)
    }

    /// Multiplies two ciphertexts, number by number.
    ///
    /// # Errors
    /// Errors of the wire format; `Key` for ciphertexts of other keys; `MissingKey`; `Capacity` for more products than the parameters have room for.
    pub fn multiply(&self, a: &[u8], b: &[u8]) -> Result<Vec<u8>, JsValue> {
        let key = self.keys.relinearization.as_ref().ok_or_else(|| missing("relinearisation key"))?;
        Ok(combined(self, [a, b], |evaluator, a, b| Ok(evaluator.multiply(a, b, key)?))?)
    }

    /// Decrypts a ciphertext: as many integers as it has slots.
    ///
    /// # Errors
    /// `MissingKey` without the secret key; errors of the wire format; `Key` for a ciphertext of another key.
    pub fn decrypt(&self, bytes: &[u8]) -> Result<Vec<i64>, JsValue> {
        Ok(decrypted(self, bytes)?)
    }
}

fn generated(needs: &str) -> Result<Integers, Failure> {
    let Needs { depth, plain_bits, log2_degree } = serde_json::from_str(needs)?;
    let builder = Parameters::builder().depth(depth).plain_bits(plain_bits);
    let builder = log2_degree.into_iter().fold(builder, |builder, log2| builder.log2_degree(log2));
    let parameters = builder.build()?;
    let context = Context::new(&parameters)?;
    let mut rng = from_os()?;
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    let public = PublicKey::generate(context.rlwe(), &secret, &mut rng)?;
    let keys = context.evaluation_keys(&secret, [], &mut rng)?;
    let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
    Ok(Integers { parameters, context, encoder, secret: Some(secret), public: Some(public), keys })
}

fn opened(
    parameters: &[u8],
    secret: Option<Zeroizing<Vec<u8>>>,
    public: Option<Vec<u8>>,
    relinearization: Option<Vec<u8>>,
) -> Result<Integers, Failure> {
    let parameters: Parameters = from_bytes(&Accept::Secure, parameters)?;
    let context = Context::new(&parameters)?;
    let rlwe = context.rlwe();
    let secret = secret.map(|bytes| from_bytes(rlwe, &bytes)).transpose()?;
    let public = public.map(|bytes| from_bytes(rlwe, &bytes)).transpose()?;
    let key: Option<RelinearizationKey> =
        relinearization.map(|bytes| from_bytes(rlwe, &bytes)).transpose()?;
    let keys = EvaluationKeys { relinearization: key, galois: None };
    let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
    Ok(Integers { parameters, context, encoder, secret, public, keys })
}

fn encrypted(integers: &Integers, values: &[i64]) -> Result<Vec<u8>, Failure> {
    let Integers { context, encoder, secret, public, .. } = integers;
    let plain = encoder.encode_signed(values)?;
    let mut rng = from_os()?;
    let ciphertext = match (secret, public) {
        (Some(key), _) => context.encrypt_secret(&plain, key, &mut rng)?,
        (None, Some(key)) => context.encrypt(&plain, key, &mut rng)?,
        _ => return Err(missing("public or secret key")),
    };
    Ok(to_bytes(context, &ciphertext)?)
}

/// Returns the bytes of an operation's result.
fn combined(
    integers: &Integers,
    operands: [&[u8]; 2],
    operation: impl Fn(&Evaluator, &Ciphertext, &Ciphertext) -> Result<Ciphertext, Failure>,
) -> Result<Vec<u8>, Failure> {
    let context = &integers.context;
    let [a, b] = operands.map(|bytes| from_bytes::<Ciphertext, _>(context, bytes));
    Ok(to_bytes(context, &operation(&Evaluator::new(context), &a?, &b?)?)?)
}

fn decrypted(integers: &Integers, bytes: &[u8]) -> Result<Vec<i64>, Failure> {
    let secret = integers.secret.as_ref().ok_or_else(|| missing("secret key"))?;
    let ciphertext: Ciphertext = from_bytes(&integers.context, bytes)?;
    Ok(integers.encoder.decode_signed(&integers.context.decrypt(&ciphertext, secret)?)?)
}

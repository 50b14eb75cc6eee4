//! Keys of plans, and what their parties do with them.

use std::sync::Arc;

use sunzi_circuits::EvaluationKeys;
use sunzi_keystore::{Cost, Passphrase, lock, unlock};
use sunzi_program::Contexts;
use sunzi_program::analysis::Parameters;
use sunzi_rlwe::randomness::from_os;
use sunzi_rlwe::wire::{Header, Kind, from_bytes, to_bytes};
use sunzi_table::in_memory::{Evaluation, Keys};
use wasm_bindgen::prelude::*;
use zeroize::Zeroizing;

use crate::error::{Failure, missing};
use crate::plan::TablePlan;
use crate::results;
use crate::schema::{Csv, TableSchema};

/// Keys of a plan: those that this party has.
#[wasm_bindgen(js_name = TableKeys)]
pub struct TableKeys {
    keys: Keys,
}

#[wasm_bindgen(js_class = TableKeys)]
impl TableKeys {
    /// Generates all keys of a plan.
    ///
    /// # Errors
    /// `Memory` or `Randomness`.
    pub fn generate(plan: &TablePlan) -> Result<Self, JsValue> {
        let keys = Keys::generate(&plan.plan, |_, _| ()).map_err(Failure::from)?;
        Ok(Self { keys })
    }

    /// Reads keys from the bytes of their files: those of the parameters, and of the keys that this party has. A secret key under a passphrase takes that.
    ///
    /// # Errors
    /// Errors of the wire format for damaged or foreign bytes; `Key` for keys of several secret keys; `MissingKey` without any; `PassphraseWrong`.
    pub fn open(
        parameters: &[u8],
        secret: Option<Vec<u8>>,
        passphrase: Option<String>,
        public: Option<Vec<u8>>,
        relinearization: Option<Vec<u8>>,
        galois: Option<Vec<u8>>,
    ) -> Result<Self, JsValue> {
        let secret = secret.map(Zeroizing::new);
        let passphrase = passphrase.map(Zeroizing::new);
        let evaluation = [relinearization, galois];
        Ok(Self { keys: opened(parameters, secret, passphrase, public, evaluation)? })
    }

    /// Name of the secret key that the keys belong to.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn id(&self) -> Option<String> {
        self.keys.id().map(|id| id.to_string())
    }

    /// Returns the bytes of the parameters' file.
    ///
    /// # Errors
    /// `Io` alone, which memory does not have.
    pub fn parameters(&self) -> Result<Vec<u8>, JsValue> {
        let mut bytes = Vec::new();
        self.keys.contexts.parameters().write(&mut bytes).map_err(Failure::from)?;
        Ok(bytes)
    }

    /// Returns the bytes of the secret key's file, under a passphrase if there is one.
    ///
    /// # Errors
    /// `MissingKey` without a secret key; `PassphraseLength` for an empty passphrase.
    #[wasm_bindgen(js_name = secretKey)]
    pub fn secret_key(&self, passphrase: Option<String>) -> Result<Vec<u8>, JsValue> {
        Ok(secret(&self.keys, passphrase.map(Zeroizing::new))?)
    }

    /// Returns the bytes of the public key's file.
    ///
    /// # Errors
    /// `MissingKey` without a public key.
    #[wasm_bindgen(js_name = publicKey)]
    pub fn public_key(&self) -> Result<Vec<u8>, JsValue> {
        let key = self.keys.public.as_ref().ok_or_else(|| missing("public key"))?;
        Ok(to_bytes(self.keys.contexts.rlwe(), &**key).map_err(Failure::from)?)
    }

    /// Returns the bytes of the relinearisation key's file.
    ///
    /// # Errors
    /// `MissingKey` without one.
    #[wasm_bindgen(js_name = relinearizationKey)]
    pub fn relinearization_key(&self) -> Result<Vec<u8>, JsValue> {
        let keys = evaluation(&self.keys)?;
        let key = keys.relinearization.as_ref().ok_or_else(|| missing("relinearisation key"))?;
        Ok(to_bytes(self.keys.contexts.rlwe(), key).map_err(Failure::from)?)
    }

    /// Returns the bytes of the Galois keys' file.
    ///
    /// # Errors
    /// `MissingKey` without any.
    #[wasm_bindgen(js_name = galoisKeys)]
    pub fn galois_keys(&self) -> Result<Vec<u8>, JsValue> {
        let keys = evaluation(&self.keys)?;
        let key = keys.galois.as_ref().ok_or_else(|| missing("Galois keys"))?;
        Ok(to_bytes(self.keys.contexts.rlwe(), key).map_err(Failure::from)?)
    }

    /// Encrypts a table in CSV whose columns the plan's schema declares, and returns the bytes of its file.
    ///
    /// # Errors
    /// `Mismatch`, `Column`, `Cell` or `Form` for a table that does not fit; `MissingKey`.
    pub fn encrypt(&self, plan: &TablePlan, schema: &TableSchema, csv: &[u8]) -> Result<Vec<u8>, JsValue> {
        let csv = Csv::new(csv);
        let table = self.keys.encrypt(&plan.plan, &schema.reading, &|| csv.rows());
        Ok(table.map_err(Failure::from)?)
    }

    /// Runs a plan on an encrypted table, and returns the bytes of the results' file.
    ///
    /// # Errors
    /// `Mismatch`, `Key` or errors of the wire format for a table that does not belong; `MissingKey`; errors of programs.
    pub fn compute(&self, plan: &TablePlan, table: &[u8]) -> Result<Vec<u8>, JsValue> {
        Ok(self.keys.compute(&plan.plan, table, &|_, _| ()).map_err(Failure::from)?)
    }

    /// Opens the results of a plan, and returns them in JSON.
    ///
    /// # Errors
    /// `Key`, `Mismatch` or errors of the wire format for results that do not belong; `MissingKey`.
    pub fn decrypt(&self, plan: &TablePlan, results: &[u8]) -> Result<String, JsValue> {
        let opened = self.keys.decrypt(&plan.plan, results).map_err(Failure::from)?;
        Ok(results::json(opened)?)
    }
}

fn evaluation(keys: &Keys) -> Result<&EvaluationKeys, Failure> {
    match keys.evaluation.as_deref() {
        Some(Evaluation::Keys(keys)) => Ok(keys),
        _ => Err(missing("evaluation key")),
    }
}

fn secret(keys: &Keys, passphrase: Option<Zeroizing<String>>) -> Result<Vec<u8>, Failure> {
    let key = keys.secret.as_ref().ok_or_else(|| missing("secret key"))?;
    let bytes = to_bytes(keys.contexts.rlwe(), &**key)?;
    let Some(passphrase) = passphrase else { return Ok(bytes) };
    let (bytes, passphrase) = (Zeroizing::new(bytes), Passphrase::new(passphrase.as_bytes())?);
    Ok(lock(&bytes, &passphrase, Cost::default(), &mut from_os()?)?)
}

fn opened(
    parameters: &[u8],
    secret: Option<Zeroizing<Vec<u8>>>,
    passphrase: Option<Zeroizing<String>>,
    public: Option<Vec<u8>>,
    [relinearization, galois]: [Option<Vec<u8>>; 2],
) -> Result<Keys, Failure> {
    let contexts = Contexts::new(&Parameters::read(parameters)?)?;
    let rlwe = contexts.rlwe();
    let secret = match (secret, passphrase) {
        (Some(bytes), Some(passphrase)) if is_locked(&bytes)? => {
            let opened = unlock(&bytes, &Passphrase::new(passphrase.as_bytes())?)?;
            Some(Arc::new(from_bytes(rlwe, &opened)?))
        }
        (Some(bytes), _) => Some(Arc::new(from_bytes(rlwe, &bytes)?)),
        (None, _) => None,
    };
    let public = public.map(|bytes| from_bytes(rlwe, &bytes)).transpose()?.map(Arc::new);
    let keys = EvaluationKeys {
        relinearization: relinearization.map(|bytes| from_bytes(rlwe, &bytes)).transpose()?,
        galois: galois.map(|bytes| from_bytes(rlwe, &bytes)).transpose()?,
    };
    let any = keys.relinearization.is_some() || keys.galois.is_some();
    let evaluation = any.then(|| Arc::new(Evaluation::Keys(keys)));
    let keys = Keys { contexts, secret, public, evaluation };
    keys.check()?;
    Ok(keys)
}

fn is_locked(bytes: &[u8]) -> Result<bool, Failure> {
    Ok(Header::read(&mut &*bytes)?.kind == Kind::LockedSecret as u16)
}

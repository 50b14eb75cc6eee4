//! The RLWE layer of Sunzi: what BFV, BGV and CKKS share.
//!
//! Keys, ciphertexts, encryptions of zero, key switching, noise bounds and the security tables,
//! all over any [`Ring`](sunzi_ring::Ring). A scheme adds how a message enters a ciphertext
//! and how products are scaled.
//!
//! The RLWE layer is IND-CPA secure at best: no chosen-ciphertext security, no circuit privacy,
//! no authenticity. See `SECURITY.md`.
#![forbid(unsafe_code)]

pub mod chains;
pub mod ciphertext;
pub mod context;
mod crt;
pub mod encapsulation;
pub mod encryption;
pub mod error;
mod evaluation_keys;
pub mod evaluator;
pub mod explain;
pub mod extended;
pub mod galois;
pub mod joint;
pub mod key_switch;
pub mod keys;
pub mod memory;
pub mod moduli;
mod monomial_sums;
pub mod noise;
pub mod operators;
pub mod plain_factor;
pub mod randomness;
mod real_ring;
pub mod reencryption;
pub mod rekeying;
pub mod relinearization;
mod ring_shape;
pub mod rotation;
mod secret_distribution;
pub mod security;
mod seeded_parts;
pub mod sharing;
mod slot_rotation;
pub mod trace;
mod uniform_half;
pub mod wire;
pub mod words;

pub use ciphertext::{Ciphertext, Scheme, Sign};
pub use context::RlweContext;
pub use crt::CrtContext;
pub use encapsulation::{
    EncapsulationKeys, RaisingKeys, RaisingMap, RaisingTables, RaisingTerm, SparseSecret,
};
pub use encryption::EncryptionKey;
pub use error::RlweError;
pub use evaluation_keys::EvaluationKeys;
pub use evaluator::{Evaluator, Exact, Homomorphic};
pub use extended::ExtendedCiphertext;
pub use galois::GaloisKeys;
pub use key_switch::KeySwitchKey;
pub use keys::{KeyId, PublicKey, SecretKey};
pub use moduli::ModuliError;
pub use noise::{Log2, NoiseBound, NoiseModel, NoiseTerm};
pub use operators::{Operate, OperateReals, OperatorError};
pub use plain_factor::{PlainFactor, PlainMultiplier};
pub use real_ring::RealRingKeys;
pub use reencryption::{ReencryptionContext, ReencryptionKey, ReencryptionPublicKey, Reencryptions};
pub use rekeying::RekeyingKey;
pub use relinearization::RelinearizationKey;
pub use ring_shape::{DEGREES, RingShape};
pub use secret_distribution::SecretDistribution;
pub use security::Security;
pub use sharing::{DeclaredNoise, LedgerFile, SharingLedger, SharingPolicy};
pub use slot_rotation::Rotation;
pub use sunzi_ring::switch_cost;
pub use trace::Trace;

//! The choice of algorithms.

use serde::{Deserialize, Serialize};
use sunzi_ring::{GadgetOptions, ScalerOptions};

/// Which of the algorithms of `[BEHZ16]` a parameter set uses; the defaults are the fastest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Algorithms {
    /// Extension, scaling and decryption.
    pub scaling: ScalerOptions,
    /// The digits of relinearisation and rotation.
    pub key_switching: GadgetOptions,
}

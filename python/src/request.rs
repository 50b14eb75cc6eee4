//! Requests for parameters by the names of their settings.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sunzi_encoding::RingChoice;
use sunzi_rlwe::{Reencryptions, SecretDistribution, Security, SharingPolicy};
use {sunzi_bfv as bfv, sunzi_bgv as bgv, sunzi_ckks as ckks};

use crate::error::{Failure, OrRaise as _};
use crate::scheme::{Scheme, wrong_scheme};

/// Settings of a request for parameters by name, each used once.
struct Request<'py>(Bound<'py, PyDict>);

impl<'py> Request<'py> {
    fn take<T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>>(&self, name: &str) -> PyResult<Option<T>> {
        let Some(value) = self.0.get_item(name)? else { return Ok(None) };
        self.0.del_item(name)?;
        if value.is_none() { Ok(None) } else { value.extract().map(Some).map_err(Into::into) }
    }

    fn finish(&self, scheme: &str) -> PyResult<()> {
        match self.0.keys().iter().next() {
            None => Ok(()),
            Some(name) => Err(PyTypeError::new_err(format!("{name} is no setting of {scheme}"))),
        }
    }
}

/// Returns the builder of parameters with every setting that was given.
macro_rules! with_settings {
    ($builder:expr, $request:expr, $($name:ident: $kind:ty),*) => {{
        let mut builder = $builder;
        $(if let Some(value) = $request.take::<$kind>(stringify!($name))? {
            builder = builder.$name(value);
        })*
        builder
    }};
}

pub(crate) enum Builder {
    Bfv(bfv::ParametersBuilder),
    Bgv(bgv::ParametersBuilder),
    Ckks(ckks::ParametersBuilder),
}

impl Builder {
    pub(crate) fn new(scheme: &str, request: &Bound<'_, PyDict>) -> PyResult<Self> {
        let request = Request(request.copy()?);
        let security = security(request.take("security")?)?;
        let sharing = request.take::<(u64, u32)>("sharing")?.map(policy).transpose();
        let sharing = sharing.or_raise(request.0.py())?;
        let reencryptions = request.take::<(u32, u64, u32)>("reencryptions")?.map(reencryptions).transpose();
        let reencryptions = reencryptions.or_raise(request.0.py())?;
        let parties: u32 = request.take("parties")?.unwrap_or(1);
        let builder = match scheme {
            "bfv" => Self::Bfv(with_settings!(
                bfv::Parameters::builder().security(security),
                request,
                depth: usize, plain_bits: u32, plain_modulus: u64, plain_range: u128, additions: u32, rotations: u32,
                plain_products: usize, slots: usize, log2_degree: u32, ring_index: u64, margin: u32
            )),
            "bgv" => Self::Bgv(with_settings!(
                bgv::Parameters::builder().security(security),
                request,
                depth: usize, plain_bits: u32, plain_modulus: u64, plain_range: u128, fresh_additions: u64,
                fresh_rotations: u64, fresh_plain_products: usize, additions_per_level: u64, rotations_per_level: u64,
                plain_products_per_level: usize, slots: usize, log2_degree: u32, ring_index: u64, digits: usize,
                margin: u32, shared_moduli: bool
            )),
            "ckks" => {
                let weight = request.take("secret_weight")?.map(SecretDistribution::FixedWeight);
                if weight.is_some() && parties != 1 {
                    let message = "a secret_weight beside parties: a secret of several parties is the sum of uniform ternary ones, leave secret_weight out";
                    return Err(Failure::new("Request", message).raise(request.0.py()));
                }
                Self::Ckks(with_settings!(
                    ckks::Parameters::builder().security(security).secrets(weight.unwrap_or_default()),
                    request,
                    depth: usize, precision: u32, slots: usize, message_bits: u32, result_bits: u32, scale_bits: u32,
                    log2_degree: u32, digits: usize, real_slots: bool
                ))
            }
            other => return Err(unknown_scheme(other)),
        };
        request.finish(scheme)?;
        let builder = if parties == 1 { builder } else { builder.parties(parties) };
        let builder = match reencryptions {
            Some(asked) => builder.reencryptions(asked).or_raise(request.0.py())?,
            None => builder,
        };
        let Some(policy) = sharing else { return Ok(builder) };
        Ok(match builder {
            Self::Bfv(builder) => Self::Bfv(builder.sharing(policy)),
            Self::Bgv(builder) => Self::Bgv(builder.sharing(policy)),
            Self::Ckks(builder) => Self::Ckks(builder.sharing(policy)),
        })
    }

    fn reencryptions(self, Reencryptions { hops, policy }: Reencryptions) -> Result<Self, Failure> {
        match self {
            Self::Bfv(builder) => Ok(Self::Bfv(builder.reencryptions(hops, policy))),
            Self::Bgv(builder) => Ok(Self::Bgv(builder.reencryptions(hops, policy))),
            Self::Ckks(_) => Err(wrong_scheme("room for re-encryptions", "bfv or bgv", "ckks")),
        }
    }

    fn parties(self, parties: u32) -> Self {
        match self {
            Self::Bfv(builder) => Self::Bfv(builder.parties(parties)),
            Self::Bgv(builder) => Self::Bgv(builder.parties(parties)),
            Self::Ckks(builder) => Self::Ckks(builder.parties(parties)),
        }
    }

    pub(crate) fn build(self) -> Result<Scheme, Failure> {
        match self {
            Self::Bfv(builder) => Scheme::bfv(builder.build()?),
            Self::Bgv(builder) => Scheme::bgv(builder.build()?),
            Self::Ckks(builder) => Scheme::ckks(builder.build()?),
        }
    }

    /// Chooses the cheapest ring with at least so many slots of elements for a prime, and builds the scheme over it.
    pub(crate) fn build_for_slots(self, prime: u64, slots: usize) -> Result<Scheme, Failure> {
        match self {
            Self::Bfv(builder) => {
                let build = |index| Ok::<_, Failure>(builder.clone().ring_index(index).build()?);
                let moduli = |made: &bfv::Parameters| made.moduli().len() + made.special_moduli().len();
                Scheme::bfv(RingChoice::new(prime, slots, build, moduli)?.chosen.1)
            }
            Self::Bgv(builder) => {
                let build = |index| Ok::<_, Failure>(builder.clone().ring_index(index).build()?);
                let moduli =
                    |made: &bgv::Parameters| made.moduli().len() + made.key_switching().special_moduli.len();
                Scheme::bgv(RingChoice::new(prime, slots, build, moduli)?.chosen.1)
            }
            Self::Ckks(_) => Err(wrong_scheme("a ring for slots of elements", "bfv or bgv", "ckks")),
        }
    }

    pub(crate) fn explain(self) -> Result<String, Failure> {
        Ok(match self {
            Self::Bfv(builder) => builder.explain()?.to_string(),
            Self::Bgv(builder) => builder.explain()?.to_string(),
            Self::Ckks(builder) => builder.explain()?.to_string(),
        })
    }
}

/// Returns the sharing policy for a number of shared results and a number of statistical bits.
pub(crate) fn policy((queries, bits): (u64, u32)) -> Result<SharingPolicy, Failure> {
    Ok(SharingPolicy::new(bits, queries)?)
}

/// Returns re-encryptions in a row for their number, a number of results and a number of statistical bits.
pub(crate) fn reencryptions((hops, queries, bits): (u32, u64, u32)) -> Result<Reencryptions, Failure> {
    Ok(Reencryptions { hops, policy: policy((queries, bits))? })
}

pub(crate) fn unknown_scheme(name: &str) -> PyErr {
    PyValueError::new_err(format!("there is no scheme {name:?}: take \"bfv\", \"bgv\" or \"ckks\""))
}

/// Returns the security level in bits: 128 unless given; 0 only by its name.
pub(crate) fn security(bits: Option<u32>) -> PyResult<Security> {
    match bits {
        None | Some(128) => Ok(Security::Bits128),
        Some(192) => Ok(Security::Bits192),
        Some(256) => Ok(Security::Bits256),
        Some(0) => Ok(Security::InsecureForResearchOnly),
        Some(other) => Err(PyValueError::new_err(format!(
            "a security of {other} bits: take 128, 192 or 256, or 0 for parameters that protect nothing, in tests"
        ))),
    }
}

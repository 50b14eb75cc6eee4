//! `sunzi params`: chooses parameters and prints the reasons, kept in a file if asked for.

mod bootstrapping;
mod fermat;
mod galois;

use std::fmt::Display;

use serde::Serialize;
use sunzi::rlwe::Reencryptions;
use sunzi::rlwe::words::bytes;
use sunzi::{bfv, bgv, ckks};

use crate::args::{ParamsArgs, ParamsScheme};
use crate::error::CliError;
use crate::files::stored::Stored;
use crate::files::target::{Content, Target};
use crate::output;

/// An explanation with the scheme that it is for, and why that scheme was chosen if it was.
#[derive(Serialize)]
struct Explained<'a, E> {
    scheme: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    scheme_reason: Option<String>,
    #[serde(flatten)]
    explanation: &'a E,
}

/// Explains the choice of parameters; an error if nothing fits.
pub(crate) fn run(args: &ParamsArgs) -> Result<(), CliError> {
    if let Some(name) = &args.bootstrapping {
        return bootstrapping::run(args, name.as_deref());
    }
    args.check()?;
    let target = |path| Target::new(path, &args.force, Content::Binary, args.json);
    let target = args.output.as_deref().map(target).transpose()?;
    let job = Job { args, target, auto: args.scheme == ParamsScheme::Auto };
    if args.fermat {
        let explanation = fermat::explain(args)?;
        let stored = Stored::Fermat(explanation.parameters());
        return job.finish(&explanation, &stored, "--fermat asks for moduli 2^g - 1, which are in BFV alone");
    }
    if let Some(prime) = args.plain {
        let explanation = galois::explain(args, prime, args.security())?;
        let stored = Stored::Bfv(explanation.parameters().clone());
        return job.finish(
            &explanation,
            &stored,
            "--plain asks for slots of GF(p^d), which are in BFV alone",
        );
    }
    match args.scheme {
        ParamsScheme::Bfv => job.finish_bfv(bfv_choice(args)?, ""),
        ParamsScheme::Bgv => job.finish_bgv(bgv_choice(args)?, ""),
        ParamsScheme::Ckks => job.ckks(),
        ParamsScheme::Auto if args.precision.is_some() => job.ckks(),
        ParamsScheme::Auto => job.exact(),
    }
}

type BfvChoice = (bfv::ParametersBuilder, bfv::CrtParameters);
type BgvChoice = (bgv::ParametersBuilder, bgv::Parameters);

fn slots(args: &ParamsArgs) -> Option<usize> {
    args.slots.map(|slots| slots.try_into().unwrap_or(usize::MAX))
}

fn bfv_choice(args: &ParamsArgs) -> Result<BfvChoice, CliError> {
    let mut builder = bfv::Parameters::builder()
        .depth(args.depth)
        .additions(args.additions)
        .rotations(args.rotations)
        .batching(!args.no_batching)
        .security(args.security());
    builder = match args.plain_range {
        Some(magnitude) => builder.plain_range(magnitude),
        None => builder.plain_bits(args.plain_bits()),
    };
    if let Some(slots) = slots(args) {
        builder = builder.slots(slots);
    }
    if let Some(policy) = args.room.policy()? {
        builder = builder.sharing(policy);
    }
    if let Some(Reencryptions { hops, policy }) = args.room.reencryptions()? {
        builder = builder.reencryptions(hops, policy);
    }
    // The builder says what to relax if nothing fits.
    let parameters = builder.build_crt().map_err(CliError::input)?;
    Ok((builder, parameters))
}

/// Chooses BGV parameters: what is declared for BFV as a logarithm of terms is a number of additions here.
fn bgv_choice(args: &ParamsArgs) -> Result<BgvChoice, CliError> {
    let additions = 1_u64.checked_shl(args.additions).unwrap_or(u64::MAX) - 1;
    let rotations = u64::from(args.rotations);
    let mut builder = bgv::Parameters::builder()
        .depth(args.depth)
        .fresh_additions(additions)
        .additions_per_level(additions)
        .fresh_rotations(rotations)
        .rotations_per_level(rotations)
        .batching(!args.no_batching)
        .security(args.security());
    builder = match args.plain_range {
        Some(magnitude) => builder.plain_range(magnitude),
        None => builder.plain_bits(args.plain_bits()),
    };
    if let Some(slots) = slots(args) {
        builder = builder.slots(slots);
    }
    if let Some(policy) = args.room.policy()? {
        builder = builder.sharing(policy);
    }
    if let Some(Reencryptions { hops, policy }) = args.room.reencryptions()? {
        builder = builder.reencryptions(hops, policy);
    }
    let parameters = builder.build().map_err(CliError::input)?;
    Ok((builder, parameters))
}

/// A request whose options go together, and where its parameters are kept.
struct Job<'a> {
    args: &'a ParamsArgs,
    target: Option<Target<'a>>,
    /// Whether the scheme was to be chosen.
    auto: bool,
}

impl Job<'_> {
    /// Takes the exact scheme with less to compute on: a ciphertext of BGV, which has a level a product, or as
    /// many of BFV as there are plaintext moduli.
    fn exact(&self) -> Result<(), CliError> {
        let (bfv, bgv) = (bfv_choice(self.args), bgv_choice(self.args));
        match (bfv, bgv) {
            (Ok(bfv), Ok(bgv)) => {
                // Two polynomials of eight bytes a residue.
                let size = |degree: usize, limbs: usize| (16 * degree * limbs) as u64;
                let of_bfv = size(bfv.1.degree(), bfv.1.plain_moduli().len() * bfv.1.moduli().len());
                let of_bgv = size(bgv.1.degree(), bgv.1.moduli().len());
                let told = |less: u64, more: u64, other: &str| {
                    format!("an encrypted vector takes {} of memory, in {other} {}", bytes(less), bytes(more))
                };
                if of_bgv < of_bfv {
                    self.finish_bgv(bgv, &told(of_bgv, of_bfv, "BFV"))
                } else {
                    self.finish_bfv(bfv, &told(of_bfv, of_bgv, "BGV"))
                }
            }
            (Err(_), Ok(bgv)) => self.finish_bgv(bgv, "BFV has no parameters for this"),
            (bfv, Err(_)) => self.finish_bfv(bfv?, "BGV has no parameters for this"),
        }
    }

    fn finish_bfv(&self, (builder, parameters): BfvChoice, why: &str) -> Result<(), CliError> {
        let explanation = builder.explain().map_err(CliError::input)?;
        let stored = match parameters.parts().as_slice() {
            [only] => Stored::Bfv(only.clone()),
            _ => Stored::Crt(parameters),
        };
        self.finish(&explanation, &stored, why)
    }

    fn finish_bgv(&self, (builder, parameters): BgvChoice, why: &str) -> Result<(), CliError> {
        let explanation = builder.explain().map_err(CliError::input)?;
        let plain_moduli = vec![parameters.plain_modulus()];
        self.finish(&explanation, &Stored::Bgv(parameters, plain_moduli), why)
    }

    fn ckks(&self) -> Result<(), CliError> {
        let args = self.args;
        let builder = ckks::Parameters::builder().depth(args.depth).security(args.security());
        let mut builder = builder.real_slots(args.real_slots);
        if let Some(bits) = args.precision {
            builder = builder.precision(bits);
        }
        if let Some(slots) = slots(args) {
            builder = builder.slots(slots);
        }
        if let Some(policy) = args.room.policy()? {
            builder = builder.sharing(policy);
        }
        let parameters = builder.build().map_err(CliError::input)?;
        let explanation = builder.explain().map_err(CliError::input)?;
        self.finish(&explanation, &Stored::Ckks(parameters), "--precision asks for real numbers")
    }

    /// Keeps the parameters where that was asked for, and prints the reasons.
    fn finish<E: Serialize + Display>(
        &self,
        explanation: &E,
        parameters: &Stored,
        why: &str,
    ) -> Result<(), CliError> {
        let (scheme, scheme_reason) = (parameters.scheme(), self.auto.then(|| why.to_owned()));
        let explained = Explained { scheme, scheme_reason, explanation };
        let Some(target) = &self.target else {
            return output::report(self.args.json, &explained, Explained::text);
        };
        target.write(|file| parameters.write(file)).map_err(|error| target.refuse(error))?;
        target.report(self.args.json, &explained, Explained::text)
    }
}

impl<E: Display> Explained<'_, E> {
    fn text(&self) -> String {
        let why = self.scheme_reason.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        format!("scheme: {}{why}\n{}", self.scheme, self.explanation)
    }
}

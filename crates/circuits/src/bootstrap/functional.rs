//! Functional bootstrapping of CKKS `[AKP24]`: tables of messages modulo p, evaluated while levels and noise are restored.
//!
//! A message m modulo p is the number 2m/p in a slot, with m from −p/2 to below p/2 ([`Messages`]). Bootstrapping leads it to m/p + I with
//! an integer I, and from there E = exp(2πi·(m/p + I)) depends on m alone. A [`Table`] is a polynomial of E, so that I needs no removal, and a
//! polynomial whose derivatives vanish at the p points, so that the noise of the input is hardly in the output ([`interpolation`]).
//! Several tables share the bootstrapping and the powers of E. Sums of messages wrap modulo p by themselves.
//!
//! | step | where |
//! |---|---|
//! | SlotsToCoeffs, ModRaise, CoeffsToSlots: m/p + I in slots | [`Bootstrapper`](super::Bootstrapper) |
//! | E by the Jacobi–Anger series and squarings | [`eval_mod`](super::eval_mod) |
//! | tables as polynomials of E | `functional/interpolation.rs`, [`series`](crate::series) |
//! | bounds on the noise of results, refusals | `functional/noise.rs` |

mod bootstrapper;
mod interpolation;
mod messages;
mod noise;
mod table;

pub use bootstrapper::FunctionalBootstrapper;
pub use interpolation::{InterpolationOrder, MOST_POINTS, interpolation};
pub use messages::Messages;
pub use table::Table;

#[cfg(test)]
pub(crate) mod bench;
#[cfg(test)]
mod tests;

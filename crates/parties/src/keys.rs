//! Key generation of n parties in six rounds, each of which is made from the one before.
//!
//! | round | every party sends | why |
//! |---|---|---|
//! | 1 [`Committing`] | a hash of its contribution to the reference | nobody chooses theirs after seeing others |
//! | 2 [`Revealing`] | the contribution | the [reference](sunzi_rlwe::joint::Reference) is a hash of all |
//! | 3 [`CommittingShares`] | a hash of its shares of keys | nobody makes theirs depend on others' (rogue keys) |
//! | 4 [`Sharing`] | shares of the public key, of Galois keys, and first ones of the relinearisation key | |
//! | 5 [`SecondSharing`] | second shares, for the reference after round 4 | nobody knew its uniform halves before all first shares were fixed |
//! | 6 [`Confirming`] | a hash of the keys | all made the same |
//!
//! Round 5 is left out of sessions without a relinearisation key. Every message has a hash of all messages of the rounds before, as its sender saw them: who was sent
//! something else is found out in the next round.
//!
//! A round has a message to send ([`Round::message`](crate::Round::message)), takes those of others ([`Round::accept`](crate::Round::accept)), and once all are there is used up by `advance`, which opens the
//! next. Opened again with the same records, rounds have the same messages.
//!
//! ```
//! use sunzi_parties::keys::{AfterShares, KeyPlan, KeySetup};
//! use sunzi_parties::{MemoryStore, PartiesError, Roster, Round, Stage, Store};
//! # use sunzi_rlwe::{RlweContext, SecretDistribution, Security, randomness};
//!
//! // Gives the message of each party to all others.
//! fn exchange<S: Store, G: Stage>(rounds: &mut [Round<S, G>]) -> Result<(), PartiesError> {
//!     let messages: Vec<_> = rounds.iter().map(|round| (round.me(), round.message().to_vec())).collect();
//!     for round in rounds {
//!         for (from, message) in &messages {
//!             round.accept(*from, message)?;
//!         }
//!     }
//!     Ok(())
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let index = 128;
//! # let ring = sunzi_ring::Ring::new(index, &sunzi_math::primes_below(1 << 47, index, 2)?)?;
//! # let context = RlweContext::new(ring, Security::InsecureForResearchOnly)?;
//! let context = context.with_secrets(SecretDistribution::Joint(2))?;
//! let roster = Roster::new(["north", "south"])?;
//! let plan = KeyPlan::new(&context, Some(context.level()), [(3, context.level())])?;
//! let setup = KeySetup::new(context, roster, plan, [1; 32])?;
//!
//! let mut rng = randomness::from_os()?;
//! let begin = |me| setup.begin(me, MemoryStore::default(), &mut rng);
//! let mut rounds = setup.roster().parties().map(begin).collect::<Result<Vec<_>, _>>()?;
//! exchange(&mut rounds)?;
//! let mut rounds = rounds.into_iter().map(|round| round.advance(&mut rng)).collect::<Result<Vec<_>, _>>()?;
//! exchange(&mut rounds)?;
//! let mut rounds = rounds.into_iter().map(|round| round.advance(&mut rng)).collect::<Result<Vec<_>, _>>()?;
//! exchange(&mut rounds)?;
//! let mut rounds = rounds.into_iter().map(|round| round.advance(&mut rng)).collect::<Result<Vec<_>, _>>()?;
//! exchange(&mut rounds)?;
//! let mut second = Vec::new();
//! for round in rounds {
//!     match round.advance(&mut rng)? {
//!         AfterShares::Second(round) => second.push(round),
//!         AfterShares::Confirm(_) => unreachable!("the plan has a relinearisation key"),
//!     }
//! }
//! exchange(&mut second)?;
//! let mut last = second.into_iter().map(|round| round.advance(&mut rng)).collect::<Result<Vec<_>, _>>()?;
//! exchange(&mut last)?;
//! let keys = last.into_iter().map(|round| round.advance()).collect::<Result<Vec<_>, _>>()?;
//! assert_eq!(keys[0].public.id(), keys[1].public.id());
//! # Ok(())
//! # }
//! ```
//!
//! What is out of order does not compile:
//!
//! ```compile_fail
//! use sunzi_parties::keys::{Committing, Sharing};
//! use sunzi_parties::{MemoryStore, Round};
//!
//! // The first round leads to the second one, and to no other.
//! fn shares(round: Round<MemoryStore, Committing>, rng: &mut dyn rand_core::CryptoRng) -> Round<MemoryStore, Sharing> {
//!     round.advance(rng).unwrap()
//! }
//! ```

mod confirm;
mod content;
mod plan;
mod reference;
mod second;
mod shares;

pub use confirm::{Confirming, JointKeys};
pub use content::Shares;
pub use plan::{KeyPlan, KeySetup};
pub use reference::{Committing, Revealing};
pub use second::SecondSharing;
pub use shares::{AfterShares, CommittingShares, Sharing};

//! Keys of a joint secret: the sum of the ternary secrets of several parties, none of which learns it.
//!
//! All equations of keys are linear in the secret but that of relinearisation, so that keys are sums of what each party makes with
//! its own secret and uniform halves that all parties have in common. Relinearisation, from `s^2`, takes two rounds. Results are
//! opened in the same way: each party multiplies the second part of a ciphertext by its secret, and hides the product behind a flood.
//! Keys and ciphertexts are ordinary ones, whose parameters say how many parties their secret has
//! ([`SecretDistribution::Joint`](crate::security::SecretDistribution::Joint)).
//!
//! Sources: Asharov et al., eprint 2011/613; Mouchet, Troncoso-Pastoriza, Bossuat and Hubaux, eprint 2020/304. Security is against
//! passive parties, all but one of which may work together; parties that do not follow the protocol can make keys that nobody can use,
//! and, if they choose their share after they have seen the others', keys that they know: shares are committed to before they are sent.
//!
//! | room | what it holds |
//! |---|---|
//! | [`share`] | [`KeyShare`](share::KeyShare): the share of a party in one round |
//! | [`generator`] | [`ShareGenerator`](generator::ShareGenerator): the shares of a party |
//! | [`combine`] | keys from the sums of the shares of all parties |
//! | [`opening`] | decryption by all parties, with floods |
//! | [`threshold`] | parts of the joint secret, of which some suffice |

pub mod combine;
pub mod generator;
pub mod opening;
pub mod share;
pub mod threshold;

#[cfg(test)]
mod tests;

//! Scheme switching: from ciphertexts of ring learning with errors to samples over the torus, and back.
//!
//! Let the ring of ciphertexts have degree N, and GLWE samples degree `N'`, with one polynomial in the mask. Their secret z stands
//! in the ring as `Z = z(X^g)`, `g = N/N'`. A polynomial is `sum_j X^j a_j(X^g)` for *slices* `a_j` of degree `N'`, and a product
//! with Z multiplies each by z: a GLWE sample of degree N under Z is g samples of degree `N'` under z, and conversely. Coefficient i
//! of slice j is coefficient `g i + j`.
//!
//! - *Down*: a ciphertext modulo `q_0` becomes a sample over the torus under s, a key switch makes one under Z of it, and its slices'
//!   coefficients are LWE samples.
//! - *Packing*: LWE samples become a slice, by a trace with digits of its own.
//! - *Up*: slices are a ciphertext modulo `q_0` under Z, which a key switching key takes to s.
//!
//! No key modulo `q_0` is under Z: keys under Z are samples over the torus with the noise of GLWE samples, as secure as those are in
//! dimension `N'`. A binary secret of dimension 2048 carries a modulus of at most 50 bits with errors of deviation 3.19, so that
//! there would be no room for a special prime. Each key is an encryption of one secret under the other: as for
//! bootstrapping, that they hide the secrets is an assumption of its own (circular security).
//!
//! | room | what it holds |
//! |---|---|
//! | [`spec`] | [`SwitchSpec`](spec::SwitchSpec): the digits that are asked for |
//! | [`parameters`] | [`SwitchParameters`](parameters::SwitchParameters): the digits, checked or chosen |
//! | [`law`] | [`SwitchLaw`](law::SwitchLaw): the variances of the parts |
//! | [`keygen`] | all keys from two secrets and a seed |
//! | [`keys`] | [`CompactSwitchKeys`](keys::CompactSwitchKeys) for transport, [`SwitchKeys`](keys::SwitchKeys) for use |
//! | [`slices`] | [`SlicedSample`](slices::SlicedSample), [`Slice`](slices::Slice): samples under Z, and their slices |
//! | [`switch`] | down, packing, up |
//! | [`wire`] | bytes of the keys |

pub mod keygen;
pub mod keys;
pub mod law;
pub mod parameters;
pub mod slices;
pub mod spec;
pub mod switch;
pub mod wire;

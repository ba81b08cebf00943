//! Bootstrapping as it was first done in RNS: a baseline to compare with, without security by today's tables.
//!
//! Source: Akimoto, Sakuma, "RNS 型 近似完全準同型暗号の並列処理による高速化: 1ms 以下のブートストラッピングの実現"
//! (speed-up of RNS type approximate homomorphic encryption by parallel processing), which brings the bootstrapping of Cheon,
//! Han, Kim, Kim, Song, eprint 2018/153, with the transforms of eprint 2018/1073 and 2018/1043, to the ciphertexts of eprint
//! 2018/931.
//!
//! The modulus is raised *first*, under a main secret that is itself sparse; then coefficients become slots, `q_0 I` vanishes in
//! `(sum_{k <= 7} (2 pi i x / 2^r)^k / k!)^(2^r)`, the imaginary part is a sine, and slots become coefficients again. So the
//! error of the modular reduction arises in coefficients, and the last transform spreads that of every coefficient over all
//! slots. Nothing corrects the sine: a message whose polynomial has one large coefficient, such as a constant, keeps few bits.
//! `docs/bootstrapping.md` compares.
//!
//! **Levels.** The primes of the source have 55 bits, and `q_0` 61; those of this library are below `2^50`. A *double level* here
//! is two primes of 28 and 27 bits: the ciphertext of double level l has `2 l + 2` limbs, and scales are near `2^55`. A product is
//! divided by two primes in turn. The canonical scales, `S_{l-1} = S_l^2 / Q_l` for the product `Q_l` of the primes of double
//! level l, start from `S_0 = 2^55` and go *up*, `S_l = sqrt(S_{l-1} Q_l)`: so deviations are halved at every level, where they
//! would be doubled on the way down. [`Parameters::scale_at`] gives them. They are not the canonical scales of
//! [`ckks::Parameters`](crate::schemes::ckks::Parameters), which know one prime a level.
//!
//! | room | what it holds |
//! |---|---|
//! | `bootstrapper` | [`Bootstrapper`]: acts on ciphertexts |
//! | `pipeline` | [`Stages`], [`Stage`]: what lies between |
//! | `parameters` | [`ParametersSpec`], [`Parameters`]: the chain of primes, and which keys |
//! | `plan` | [`RnsHeaanPlan`]: keys, memory, error and failure probability before any key exists |
//! | `taylor` | [`TaylorExponential`]: the exponential of the source, and its errors |
//! | `levels` | [`DoubleLevels`]: products that use two primes |

pub(crate) mod bootstrapper;
pub(crate) mod levels;
pub(crate) mod parameters;
pub(crate) mod pipeline;
pub(crate) mod plan;
pub(crate) mod taylor;

mod transform;

pub use bootstrapper::Bootstrapper;
pub use levels::DoubleLevels;
pub use parameters::{Parameters, ParametersSpec};
pub use pipeline::{Stage, Stages};
pub use plan::RnsHeaanPlan;
pub use taylor::{DEGREE, TaylorExponential};

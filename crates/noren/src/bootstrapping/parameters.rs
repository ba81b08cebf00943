//! Parameters of bootstrapping: the chain of primes and what each part of it is for.

use std::sync::{Arc, OnceLock};

use noren_ring::gadget::Gadget;
use noren_rlwe::error::Result;
use noren_rlwe::security::{SecretDistribution, Security};

use crate::bootstrapping::dft::Direction;
use crate::bootstrapping::exponential::Exponential;
use crate::bootstrapping::group::{GiantOrder, Group};
use crate::bootstrapping::series::SineSeries;
use crate::schemes::ckks::parameters as ckks;

/// The description of parameters of bootstrapping; [`ParametersSpec::build`] checks it.
///
/// The primes are used from the top: `q_0`, one prime for each matrix of slot to coefficient, the application's, those
/// of the modular reduction, and one for each matrix of coefficient to slot.
#[derive(Debug, Clone, PartialEq)]
pub struct ParametersSpec {
    /// The base-two logarithm of the degree n of the ring, 4 to 17.
    pub log_n: u32,
    /// The base-two logarithm of the number of complex slots that are bootstrapped, 0 to `log_n - 1`. It changes the
    /// transforms, and neither the primes nor the secret.
    pub log_slots: u32,
    /// The size of `q_0` in bits.
    pub log_base: u32,
    /// From slots to coefficients.
    pub slot_to_coeff: Transform,
    /// The levels between two bootstraps.
    pub application: Primes,
    /// The modular reduction.
    pub eval_mod: EvalMod,
    /// From coefficients to slots.
    pub coeff_to_slot: Transform,
    /// The special primes of key switching.
    pub special: Primes,
    /// Into how many digits the modulus is cut for key switching.
    pub dnum: usize,
    /// How many coefficients of the ephemeral secret are not zero, 1 to 64.
    pub ephemeral_weight: u32,
    /// 1, or 2 to bootstrap the error of the first time once more. It costs as much time again, and no level.
    pub iterations: usize,
    /// How the main secret is drawn.
    pub secret: SecretDistribution,
    /// The security that every key must reach.
    pub security: Security,
}

/// Several primes of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Primes {
    /// How many.
    pub count: usize,
    /// The size of each in bits, 20 to 50.
    pub bits: u32,
}

/// A special DFT, cut into matrices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transform {
    /// The size of the prime that each matrix uses, in bits.
    pub bits: u32,
    /// The layers of each matrix, in the order in which they are applied; `log_slots` together. One of no layers is a
    /// multiple of the identity: it passes its level, and takes its part of the scales.
    pub groups: Vec<Group>,
    /// How the giant steps are brought together.
    pub giants: GiantOrder,
}

/// How a message is separated from multiples of `q_0`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EvalMod {
    /// The size of each of its primes in bits.
    pub bits: u32,
    /// `log2 rho`: the ratio between `q_0` and the scale at which a message of size 1 stands, 4 to 10.
    pub log_ratio: f64,
    /// B: it is right for multiples I of `q_0` with `|I| <= B`.
    pub interval: u32,
    /// r: how often the exponential is squared.
    pub doublings: u32,
    /// The degree of the exponential's polynomial, 1 to 63.
    pub degree: usize,
}

/// Checked parameters of bootstrapping. Immutable, and cheap to clone.
#[derive(Debug, Clone)]
pub struct Parameters(pub(super) Arc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) spec: ParametersSpec,
    pub(super) log_q: Vec<u32>,
    pub(super) gadget: Gadget,
    pub(super) exponential: Exponential,
    pub(super) series: SineSeries,
    /// Set by [`ParametersSpec::build`].
    pub(super) ckks: OnceLock<ckks::Parameters>,
}

impl Parameters {
    /// The specification that gives these parameters again.
    #[must_use]
    pub fn spec(&self) -> &ParametersSpec {
        &self.0.spec
    }

    /// The degree n of the ring.
    #[must_use]
    pub fn degree(&self) -> usize {
        1 << self.spec().log_n
    }

    /// The number n of complex slots that are bootstrapped, up to half the degree.
    #[must_use]
    pub fn slots(&self) -> usize {
        1 << self.spec().log_slots
    }

    /// `N / 2n`, the distance between the coefficients that n slots of a ring of degree N use: 1 for all slots.
    #[must_use]
    pub fn gap(&self) -> usize {
        self.degree() / 2 / self.slots()
    }

    /// The sizes of the primes in bits, from `q_0` up.
    #[must_use]
    pub fn log_q(&self) -> &[u32] {
        &self.0.log_q
    }

    /// The size of all primes together in bits, special ones included: the modulus of the largest key.
    #[must_use]
    pub fn log_qp(&self) -> u32 {
        let special = self.spec().special;
        self.log_q().iter().sum::<u32>() + special.count as u32 * special.bits
    }

    /// The transform of a direction.
    #[must_use]
    pub fn transform(&self, direction: Direction) -> &Transform {
        match direction {
            Direction::SlotToCoeff => &self.spec().slot_to_coeff,
            Direction::CoeffToSlot => &self.spec().coeff_to_slot,
        }
    }

    /// How key switching cuts the primes into digits.
    #[must_use]
    pub fn gadget(&self) -> &Gadget {
        &self.0.gadget
    }

    /// The level to which raising the modulus leads.
    #[must_use]
    pub fn max_level(&self) -> usize {
        self.log_q().len() - 1
    }

    /// The level that a ciphertext must have left to be bootstrapped: one for each matrix of slot to coefficient.
    #[must_use]
    pub fn input_level(&self) -> usize {
        self.spec().slot_to_coeff.groups.len()
    }

    /// The level of the coefficients in slots: below the matrices of coefficient to slot.
    #[must_use]
    pub fn slots_level(&self) -> usize {
        self.max_level() - self.spec().coeff_to_slot.groups.len()
    }

    /// The level of a result.
    #[must_use]
    pub fn output_level(&self) -> usize {
        self.input_level() + self.levels_left()
    }

    /// How many multiplications can follow one another between two bootstraps.
    #[must_use]
    pub fn levels_left(&self) -> usize {
        self.spec().application.count
    }

    /// The parameters of the ciphertexts, with the primes chosen.
    ///
    /// The canonical scale is that of the modular reduction from the highest level down to where it ends, and that of the
    /// application below. Scales between two matrices are their own affair: there the chain of scales starts anew at every level.
    ///
    /// # Errors
    /// None for parameters that were built: these were asked for the primes already.
    pub fn ckks(&self) -> Result<ckks::Parameters> {
        if let Some(chosen) = self.0.ckks.get() {
            return Ok(chosen.clone());
        }
        let chosen = self.choose()?;
        Ok(self.0.ckks.get_or_init(|| chosen).clone())
    }

    /// The parameters of [`Parameters::ckks`], where they lie.
    pub(super) fn chosen(&self) -> &ckks::Parameters {
        self.0.ckks.get().expect("whoever builds parameters asks for the primes")
    }

    fn choose(&self) -> Result<ckks::Parameters> {
        let spec = self.spec();
        let (reduction, application) = (spec.eval_mod.bits, spec.application.bits);
        let matrices = (self.slots_level()..self.max_level()).rev().map(|level| (level, reduction));
        let end = (self.reduced_level(), application);
        let below = (0..self.input_level()).rev().map(|level| (level, application));
        let ckks = ckks::ParametersSpec {
            log_n: spec.log_n,
            log_q: self.log_q().to_vec(),
            log_p: vec![spec.special.bits; spec.special.count],
            log_scale: reduction,
            restarts: matrices.chain([end]).chain(below).collect(),
            dnum: spec.dnum,
            secret: spec.secret,
            security: spec.security,
        };
        ckks.build()
    }

    /// The level at which the modular reduction ends: that of a result.
    #[must_use]
    pub fn reduced_level(&self) -> usize {
        self.input_level() + self.spec().application.count
    }

    /// The exponential that multiples of `q_0` vanish in.
    #[must_use]
    pub fn exponential(&self) -> &Exponential {
        &self.0.exponential
    }

    /// The series that undoes the sine.
    #[must_use]
    pub fn series(&self) -> &SineSeries {
        &self.0.series
    }

    /// `log2` of the scales of the exponential before, between and after its squarings, and of the series, so that the
    /// result has this scale.
    ///
    /// From the end: real and imaginary parts are read off a sum of two conjugates, twice the imaginary part of the
    /// series P, so `S_P = S |rho b / 4 pi|`. A square or a product divided by the prime q is at `S^2 / q`, so every
    /// scale before is the geometric mean of the one after it and its prime.
    #[must_use]
    pub fn exponential_scales(&self, log_scale: f64) -> Vec<f64> {
        let prime = f64::from(self.spec().eval_mod.bits);
        let last = log_scale + libm::log2(self.series().factor().abs()) - 1.0;
        let before = |after: &f64| Some((after + prime) / 2.0);
        let mut scales: Vec<f64> =
            std::iter::successors(Some(last), before).take(self.spec().eval_mod.doublings as usize + 2).collect();
        scales.reverse();
        scales
    }

    /// The largest error of a real part with exact arithmetic: that of the series, and the truncation of the
    /// exponential, which squarings double and the series multiplies by `rho / 2 pi`, its slope where `|E| = 1` and z
    /// is small.
    #[must_use]
    pub fn systematic_error(&self) -> f64 {
        let squared = self.exponential().truncation() * libm::exp2(f64::from(self.spec().eval_mod.doublings));
        self.series().error() + squared * self.series().ratio() / std::f64::consts::TAU
    }
}

/// Sizes in bits as numbers that are not whole: what [`Gadget`] takes.
pub(super) fn sizes(bits: &[u32]) -> Vec<f64> {
    bits.iter().map(|&bits| f64::from(bits)).collect()
}

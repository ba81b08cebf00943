//! Gates: functions of bits.

use noren_ring::torus::lwe::Lwe;
use noren_ring::torus::table::Table;
use noren_rlwe::error::Result;

use crate::schemes::tfhe::ciphertext::Bit;
use crate::schemes::tfhe::evaluator::{BOOTSTRAP_NOISE, Evaluator};

/// 1/8 of the circle, as a word: true.
const EIGHTH: u64 = 1 << 61;

/// A function of two bits.
///
/// A gate bootstraps `factor (a + b) + constant` to the sign of its phase. With bits of `+-1/8` each phase is at least 1/8 away
/// from where the sign changes, or 1/4 for [`Gate::Xor`] and [`Gate::Xnor`], whose factor doubles the noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// Both.
    And,
    /// Not both.
    Nand,
    /// At least one.
    Or,
    /// None.
    Nor,
    /// Just one.
    Xor,
    /// Both or none.
    Xnor,
}

impl Gate {
    /// All gates.
    pub const ALL: [Self; 6] = [Self::And, Self::Nand, Self::Or, Self::Nor, Self::Xor, Self::Xnor];

    /// The function in clear.
    #[must_use]
    pub const fn apply(self, a: bool, b: bool) -> bool {
        match self {
            Self::And => a & b,
            Self::Nand => !(a & b),
            Self::Or => a | b,
            Self::Nor => !(a | b),
            Self::Xor => a ^ b,
            Self::Xnor => !(a ^ b),
        }
    }

    /// The factor of `a + b`, and what is added, in eighths of the circle.
    const fn form(self) -> (i64, i64) {
        match self {
            Self::And => (1, -1),
            Self::Nand => (-1, 1),
            Self::Or => (1, 1),
            Self::Nor => (-1, -1),
            Self::Xor => (2, 2),
            Self::Xnor => (-2, -2),
        }
    }
}

impl Evaluator {
    /// A gate, with the noise of a bootstrap.
    ///
    /// # Errors
    /// [`Error::Parameters`](noren_rlwe::error::Error::Parameters) if the parameters are for integers,
    /// [`TfheError::NoisyCombination`](crate::tfhe::TfheError::NoisyCombination);
    /// [`Error::ParameterMismatch`](noren_rlwe::error::Error::ParameterMismatch) and
    /// [`Error::KeyMismatch`](noren_rlwe::error::Error::KeyMismatch) for bits of others.
    pub fn gate(&self, gate: Gate, a: &Bit, b: &Bit) -> Result<Bit> {
        Ok(self.gates(&[(gate, a, b)])?.remove(0))
    }

    /// Gates that do not depend on each other: faster than one by one, as keys are read once for several, and threads share
    /// the work.
    ///
    /// # Errors
    /// As [`Evaluator::gate`].
    pub fn gates(&self, gates: &[(Gate, &Bit, &Bit)]) -> Result<Vec<Bit>> {
        self.in_parts(gates, 1, |gates| {
            let forms = gates.iter().map(|&(gate, a, b)| {
                let (factor, constant) = gate.form();
                self.form(&[(a, factor), (b, factor)], constant)
            });
            self.signs(&forms.collect::<Result<Vec<_>>>()?)
        })
    }

    /// The other bit. It costs nothing, and adds no noise.
    ///
    /// # Errors
    /// As [`Evaluator::gate`].
    pub fn not(&self, a: &Bit) -> Result<Bit> {
        self.check_bit(a)?;
        let mut not = a.clone();
        not.sample.mul_assign(-1);
        Ok(not)
    }

    /// `a` if `condition`, else `b`: two bootstraps and a sum, whose noise is that of both.
    ///
    /// # Errors
    /// As [`Evaluator::gate`].
    pub fn mux(&self, condition: &Bit, a: &Bit, b: &Bit) -> Result<Bit> {
        Ok(self.muxes(&[(condition, a, b)])?.remove(0))
    }

    /// As [`Evaluator::mux`], for many; see [`Evaluator::gates`].
    ///
    /// # Errors
    /// As [`Evaluator::gate`].
    pub fn muxes(&self, choices: &[(&Bit, &Bit, &Bit)]) -> Result<Vec<Bit>> {
        let join = |pair: &[Bit]| {
            let mut bit = pair[0].clone();
            bit.sample.add_multiple(&pair[1].sample, 1);
            // At most one of the two is true: -1/4 or 0 before.
            bit.sample.add_constant(EIGHTH);
            bit.noise = pair[0].noise.hypot(pair[1].noise);
            bit
        };
        self.in_parts(choices, 2, |choices| {
            let mut forms = Vec::with_capacity(2 * choices.len());
            for (condition, a, b) in choices {
                forms.push(self.form(&[(condition, 1), (a, 1)], -1)?);
                forms.push(self.form(&[(condition, -1), (b, 1)], -1)?);
            }
            Ok(self.signs(&forms)?.chunks_exact(2).map(join).collect())
        })
    }

    /// A bit without noise, which hides nothing.
    ///
    /// # Errors
    /// [`Error::Parameters`](noren_rlwe::error::Error::Parameters) if the parameters are for integers.
    pub fn trivial_bit(&self, value: bool) -> Result<Bit> {
        self.context().parameters().encoding().needs_bits()?;
        let message = if value { EIGHTH } else { EIGHTH.wrapping_neg() };
        let sample = Lwe::trivial(self.context().parameters().torus().dimension(), message);
        Ok(Bit { sample, owner: *self.owner(), noise: 0.0 })
    }

    /// `constant/8 + sum_i factor_i bit_i`.
    fn form(&self, terms: &[(&Bit, i64)], constant: i64) -> Result<Lwe> {
        let parameters = self.context().parameters();
        parameters.encoding().needs_bits()?;
        let constant = constant.cast_unsigned().wrapping_mul(EIGHTH);
        let mut sum = Lwe::trivial(parameters.torus().dimension(), constant);
        let mut noise = 0.0;
        for &(bit, factor) in terms {
            self.check_bit(bit)?;
            sum.add_multiple(&bit.sample, factor);
            // A factor of 2 comes with twice the margin.
            noise += bit.noise;
        }
        self.check_noise(noise, "the operands of a gate")?;
        Ok(sum)
    }

    fn check_bit(&self, bit: &Bit) -> Result<()> {
        self.owner().check(&bit.owner, "the bit")
    }

    /// 1/8 where the phase is in the upper half of the circle, -1/8 elsewhere.
    fn signs(&self, forms: &[Lwe]) -> Result<Vec<Bit>> {
        let degree = self.context().parameters().torus().shape().degree;
        let table = Table::from_fn(degree, |_| EIGHTH, &[0]);
        let jobs: Vec<(&Lwe, &Table)> = forms.iter().map(|form| (form, &table)).collect();
        let samples = self.bootstrap(&jobs)?.into_iter().flatten();
        Ok(samples.map(|sample| Bit { sample, owner: *self.owner(), noise: BOOTSTRAP_NOISE }).collect())
    }
}

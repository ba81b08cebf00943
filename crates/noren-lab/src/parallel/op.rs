//! The operations of the figures of Akimoto and Sakuma, and the loops that they consist of.

use std::hint::black_box;

use noren::Complex64;
use noren::ckks::{Ciphertext, Context, Encoder, Encryptor, Evaluator, Keys, Plaintext};
use noren_cli::measure::{Failure, seed, values};

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Add,
    /// By a plaintext, where the figures have a constant.
    MulPlain,
    /// With relinearisation.
    Mul,
    Rescale,
    Rotate,
}

/// The operands.
pub(super) struct Operands {
    pub(super) values: Vec<Complex64>,
    pub(super) a: Ciphertext,
    pub(super) b: Ciphertext,
    pub(super) plaintext: Plaintext,
    /// `a * b` before rescaling.
    pub(super) product: Ciphertext,
}

/// How many limbs an operation has before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) limbs: usize,
    pub(super) special: usize,
}

/// A loop over limbs: what one limb costs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Phase {
    /// How many limbs, or limbs of several elements, are walked through.
    pub(super) limbs: usize,
    /// Transforms of a limb.
    pub(super) transforms: usize,
    /// Rows that are read by loops that can be cut anywhere.
    pub(super) rows: usize,
    /// Rows that are read by loops that are cut into the blocks of a key.
    pub(super) key_rows: usize,
}

impl Operands {
    /// Operands at a level.
    pub(super) fn new(context: &Context, keys: &Keys, level: usize) -> Result<Self, Failure> {
        let parameters = context.parameters();
        let (slots, scale) = (parameters.max_slots(), parameters.scale_at(level));
        let values = values(slots);
        let plaintext = Encoder::new(context).encode_complex(&values, slots, level, scale)?;
        let encryptor = Encryptor::symmetric(context, &keys.secret, seed(1))?;
        let (a, b) = (encryptor.encrypt(&plaintext)?, encryptor.encrypt(&plaintext)?);
        let product = Evaluator::new(context, keys.evaluation.clone())?.mul_no_rescale(&a, &b)?;
        Ok(Self { values, a, b, plaintext, product })
    }
}

impl Op {
    pub(super) const ALL: [Self; 5] = [Self::Add, Self::MulPlain, Self::Mul, Self::Rescale, Self::Rotate];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::MulPlain => "mul_plain",
            Self::Mul => "mul_relin",
            Self::Rescale => "rescale",
            Self::Rotate => "rotate",
        }
    }

    /// Runs the operation.
    pub(super) fn apply(self, evaluator: &Evaluator, on: &Operands) -> noren::Result<Ciphertext> {
        let Operands { a, b, plaintext, product, .. } = black_box(on);
        match self {
            Self::Add => evaluator.add(a, b),
            Self::MulPlain => evaluator.mul_plain_no_rescale(a, plaintext),
            Self::Mul => evaluator.mul_no_rescale(a, b),
            Self::Rescale => evaluator.rescale(product),
            Self::Rotate => evaluator.rotate(a, 1),
        }
    }

    /// The expected value of slot `j` of the result.
    pub(super) fn expected(self, values: &[Complex64], j: usize) -> Complex64 {
        let x = values[j];
        match self {
            Self::Add => x + x,
            Self::MulPlain | Self::Mul | Self::Rescale => x * x,
            Self::Rotate => values[(j + 1) % values.len()],
        }
    }

    /// The loops, one after the other; digits have as many primes as there are special ones.
    pub(super) fn phases(self, Size { limbs, special }: Size) -> Vec<Phase> {
        let pointwise = |rows| Phase { limbs, transforms: 0, rows, key_rows: 0 };
        match self {
            Self::Add => vec![pointwise(3); 2],
            Self::MulPlain => vec![pointwise(3); 2],
            Self::Rescale => vec![
                Phase { limbs: 2, transforms: 1, rows: 1, key_rows: 0 },
                Phase { limbs: 2 * (limbs - 1), transforms: 1, rows: 4, key_rows: 0 },
            ],
            Self::Mul | Self::Rotate => {
                let digits = limbs.div_ceil(special);
                // Products of parts are made where they are read.
                let product = if self == Self::Mul { 4 } else { 0 };
                let conversion = special.min(limbs) + 1;
                vec![
                    Phase { limbs, transforms: 1, rows: 2 + product, key_rows: 0 },
                    Phase { limbs: special, transforms: digits + 2, rows: digits * conversion, key_rows: 3 * digits },
                    Phase {
                        limbs,
                        transforms: digits + 1,
                        rows: (digits - 1) * conversion + 2 * (special + 1) + 4 + product,
                        key_rows: 3 * digits,
                    },
                ]
            }
        }
    }

    /// How many rows go through memory at least: operands, keys and results.
    pub(super) fn memory_rows(self, Size { limbs, special }: Size) -> usize {
        match self {
            Self::Add => 6 * limbs,
            Self::MulPlain => 5 * limbs,
            Self::Rescale => 2 * (2 * limbs - 1),
            Self::Rotate | Self::Mul => {
                let key = 2 * limbs.div_ceil(special) * (limbs + special);
                key + (if self == Self::Mul { 6 } else { 4 }) * limbs
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_are_those_of_the_algorithms() {
        let count = |op: Op, limbs| -> usize {
            op.phases(Size { limbs, special: 11 }).iter().map(|phase| phase.limbs * phase.transforms).sum()
        };
        assert_eq!((count(Op::Add, 17), count(Op::MulPlain, 17)), (0, 0));
        // Both parts: back at the last limb, forth at the others.
        assert_eq!(count(Op::Rescale, 17), 2 * 17);
        // Back from 17 limbs; two digits to the 28 limbs that are not their own; both sums back from the special limbs,
        // and what is subtracted forth to the others.
        assert_eq!(count(Op::Rotate, 17), 17 + (2 * 28 - 17) + 2 * 11 + 2 * 17);
    }
}

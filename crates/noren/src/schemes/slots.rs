//! Slot evaluators: the operations that a circuit may ask of a scheme.

use std::borrow::Borrow;
use std::fmt::Debug;

use noren_ring::engine::Engine;
use noren_rlwe::error::{Error, Result};

use crate::schemes::error::SlotError;
use crate::schemes::extent::Extent;
use crate::schemes::range::Range;

/// A number in clear, as circuits hand it to evaluators.
pub trait Scalar: Copy + PartialEq + Debug + Send + Sync + 'static {
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;

    /// `self - other`.
    #[must_use]
    fn minus(self, other: Self) -> Self;

    /// The number as one that is real, for bounds.
    fn to_f64(self) -> f64;

    /// Refuses what is no number.
    ///
    /// # Errors
    /// [`SlotError::NotFinite`] with the position of the first such value.
    fn check(values: &[Self]) -> Result<()> {
        match values.iter().map(|x| x.to_f64()).enumerate().find(|(_, x)| !x.is_finite()) {
            Some((index, value)) => Err(SlotError::NotFinite { index, value }.into()),
            None => Ok(()),
        }
    }
}

impl Scalar for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    fn minus(self, other: Self) -> Self {
        self - other
    }

    fn to_f64(self) -> f64 {
        self
    }
}

/// Integers modulo some t, of which a circuit need not know more. Range: in `(-2^50, 2^50)`, so that sums of a few are
/// exact.
impl Scalar for i64 {
    const ZERO: Self = 0;
    const ONE: Self = 1;

    fn minus(self, other: Self) -> Self {
        self - other
    }

    fn to_f64(self) -> f64 {
        self as f64
    }
}

/// The bounds that an evaluator knows of every slot of a vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// On the message.
    pub range: Range,
    /// On the absolute value of the error. It need not be sharp.
    pub error: f64,
}

/// A rotation of a sum of products: see [`SlotEvaluator::sum_giant_steps`].
#[derive(Debug, Clone, PartialEq)]
pub struct GiantStep<F> {
    /// By how many slots the sum is rotated.
    pub rotation: isize,
    /// For each product the position of its baby step, and its factor.
    pub terms: Vec<(usize, F)>,
}

/// Refuses more values than a vector has slots.
pub(crate) fn check_values(found: usize, slots: usize) -> Result<()> {
    if found <= slots {
        return Ok(());
    }
    Err(Error::Length { what: "values", found, needed: format!("at most {slots}") })
}

/// A vector of slots that is told by entries, each of which stands in several slots side by side: zeros follow up to a period,
/// after which all repeats, and all is rotated.
#[derive(Debug, Clone, Copy)]
pub struct Repeated<'a, T> {
    /// The entries: one at least.
    pub(crate) entries: &'a [T],
    /// The slots of each.
    pub(crate) spread: usize,
    /// The slots after which the vector repeats.
    pub(crate) period: usize,
    /// How far it is rotated to the left, less than a period.
    pub(crate) rotation: usize,
}

impl<T: Scalar> Repeated<'_, T> {
    /// The slots after which it repeats.
    pub(crate) const fn period(&self) -> usize {
        self.period
    }

    /// Whether zeros follow the entries.
    pub(crate) const fn has_zeros(&self) -> bool {
        self.entries.len() * self.spread < self.period
    }

    /// A slot.
    pub(crate) fn at(&self, slot: usize) -> T {
        let entry = (slot + self.rotation) % self.period / self.spread;
        self.entries.get(entry).copied().unwrap_or(T::ZERO)
    }

    /// All of so many slots.
    pub(crate) fn all(&self, slots: usize) -> Vec<T> {
        let mut all = Vec::with_capacity(slots);
        self.entries.iter().for_each(|&entry| all.resize(all.len() + self.spread, entry));
        all.resize(self.period, T::ZERO);
        all.rotate_left(self.rotation);
        while all.len() < slots {
            all.extend_from_within(..self.period);
        }
        all
    }
}

/// Arithmetic on vectors of slots, encrypted or in clear: the whole contract between schemes and circuits.
///
/// A ciphertext holds a vector of [`slots`](Self::slots) numbers, a power of two, and a [`level`](Self::level): the
/// number of multiplications that can still follow one another. All operations act slot by slot, but the rotations,
/// which move the vector: slot `j` of `rotate(x, r)` is slot `j + r` of `x`, indices modulo the number of slots, `r`
/// of either sign.
///
/// The level of a result is the lowest level of the operands, and one less where the operation multiplies (or more, where a
/// scheme derives levels from noise):
///
/// | operation | levels used |
/// |---|---|
/// | `add sub neg add_scalar add_plain rotate rotate_many sum_rotations` | 0 |
/// | `mul square mul_plain mul_scalar weighted_sum dot dot_plain sum_giant_steps` | 1 |
///
/// Operands at different levels are brought to the lower level by the operation. Whatever an evaluator refuses (no
/// level left, a missing key, unequal numbers of slots, an empty sum) it refuses with an
/// [`Error`], and the evaluator in clear refuses the same for the same reason.
///
/// # Errors of vectors
/// An encrypted vector is a message and an error, of which the scheme carries an estimate. Every operation makes a
/// sound estimate of the error of its result, without knowing the rest of the circuit. A circuit that knows its own
/// derivatives can do better, and [`bounds`](Self::bounds), [`split_error`](Self::split_error) and
/// [`with_errors`](Self::with_errors) are for such circuits alone: operations on vectors whose errors were split off
/// give estimates of what they add themselves, and the circuit says in the end by which factors all these errors reach
/// its result. A vector between the two calls claims to be exact, and must not leave the circuit. Evaluators without
/// errors have no bounds, and leave vectors as they are.
pub trait SlotEvaluator {
    /// The numbers that the caller hands in, in clear.
    type Scalar: Scalar;
    /// A vector of slots at a level.
    type Ciphertext: Clone;
    /// A vector of numbers in clear, prepared for operations with ciphertexts.
    type Plaintext;
    /// A vector of numbers in clear, prepared for [`sum_giant_steps`](Self::sum_giant_steps).
    type Factor;
    /// An estimate of the error of a vector.
    type Estimate;

    /// The threads on which independent vectors are worked on side by side; none for evaluators in clear.
    fn engine(&self) -> Option<&Engine> {
        None
    }

    /// The results of `work` for the numbers below `count`, side by side on the threads of the engine.
    ///
    /// # Errors
    /// One of those of the work.
    fn side_by_side<R: Send>(&self, count: usize, work: &(dyn Fn(usize) -> Result<R> + Sync)) -> Result<Vec<R>> {
        match self.engine() {
            Some(engine) if count > 1 => engine.map((0..count).collect(), work).into_iter().collect(),
            _ => (0..count).map(work).collect(),
        }
    }

    /// How many slots `x` has: a power of two.
    fn slots(&self, x: &Self::Ciphertext) -> usize;

    /// After how many slots `x` repeats, as far as is known: a power of two up to [`slots`](Self::slots).
    fn period(&self, x: &Self::Ciphertext) -> usize {
        self.slots(x)
    }

    /// The extent of `x`: how many values it has, and after how many places of all its rows it repeats.
    fn extent(&self, x: &Self::Ciphertext) -> Extent {
        Extent::of_slots(self.slots(x)).repeated(self.period(x))
    }

    /// How many multiplications can still follow one another on `x`.
    fn level(&self, x: &Self::Ciphertext) -> usize;

    /// Prepares `values` to be multiplied with ciphertexts of the level and slots of `operand`.
    ///
    /// Fewer values than slots are followed by zeros. The values must be finite.
    ///
    /// # Errors
    /// More values than slots; a value that is not finite or too large for the modulus at this level.
    fn encode_for(&self, values: &[Self::Scalar], operand: &Self::Ciphertext) -> Result<Self::Plaintext>;

    /// Prepares `values` to be added to `operand`; see [`encode_for`](Self::encode_for).
    ///
    /// # Errors
    /// As [`encode_for`](Self::encode_for).
    fn encode_addend(&self, values: &[Self::Scalar], operand: &Self::Ciphertext) -> Result<Self::Plaintext> {
        self.encode_for(values, operand)
    }

    /// Prepares `values` as factors in [`sum_giant_steps`](Self::sum_giant_steps) of vectors of the level and slots of
    /// `operand`; see [`encode_for`](Self::encode_for).
    ///
    /// # Errors
    /// As [`encode_for`](Self::encode_for).
    fn encode_factor(&self, values: &[Self::Scalar], operand: &Self::Ciphertext) -> Result<Self::Factor>;

    /// [`encode_factor`](Self::encode_factor) of a vector that is told by few entries: evaluators that hold no values need no more.
    ///
    /// # Errors
    /// As [`encode_for`](Self::encode_for).
    fn encode_repeated_factor(
        &self,
        values: &Repeated<'_, Self::Scalar>,
        operand: &Self::Ciphertext,
    ) -> Result<Self::Factor> {
        self.encode_factor(&values.all(self.slots(operand)), operand)
    }

    /// The most bytes that [`encode_factor`](Self::encode_factor) allocates for a factor beside `operand`, for as long as that is
    /// kept, where its values repeat after `period` slots; 0 for evaluators in clear.
    fn factor_bytes(&self, _operand: &Self::Ciphertext, _period: usize) -> usize {
        0
    }

    /// `a + b`.
    ///
    /// # Errors
    /// Unequal numbers of slots or parameters; scales that do not match.
    fn add(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext>;

    /// `a - b`.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    fn sub(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext>;

    /// `-a`.
    ///
    /// # Errors
    /// A ciphertext of other parameters.
    fn neg(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext>;

    /// `a + c` in every slot.
    ///
    /// # Errors
    /// A scalar that is not finite or too large for the modulus at this level.
    fn add_scalar(&self, a: &Self::Ciphertext, c: Self::Scalar) -> Result<Self::Ciphertext>;

    /// `a + p`.
    ///
    /// # Errors
    /// A plaintext of another level, parameters or number of slots.
    fn add_plain(&self, a: &Self::Ciphertext, p: &Self::Plaintext) -> Result<Self::Ciphertext>;

    /// `a * b`; one level.
    ///
    /// # Errors
    /// No level left; no relinearisation key; unequal numbers of slots or parameters.
    fn mul(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext>;

    /// `a * a`; one level; cheaper than [`mul`](Self::mul).
    ///
    /// # Errors
    /// As [`mul`](Self::mul).
    fn square(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext>;

    /// `a * p`; one level.
    ///
    /// # Errors
    /// No level left; a plaintext of another level, parameters or number of slots.
    fn mul_plain(&self, a: &Self::Ciphertext, p: &Self::Plaintext) -> Result<Self::Ciphertext>;

    /// `a * c` in every slot; one level.
    ///
    /// # Errors
    /// No level left; a scalar that is not finite or too large.
    fn mul_scalar(&self, a: &Self::Ciphertext, c: Self::Scalar) -> Result<Self::Ciphertext>;

    /// `constant + sum c_k x_k`; one level below the lowest operand, whatever the levels of the others.
    ///
    /// # Errors
    /// No operand; no level left; unequal numbers of slots or parameters; a factor that is not finite or too large.
    fn weighted_sum(
        &self,
        terms: &[(&Self::Ciphertext, Self::Scalar)],
        constant: Self::Scalar,
    ) -> Result<Self::Ciphertext>;

    /// `sum a_k b_k`; one level below the lowest operand, with one relinearisation for all products.
    ///
    /// # Errors
    /// As [`mul`](Self::mul); no operand.
    fn dot(&self, pairs: &[(&Self::Ciphertext, &Self::Ciphertext)]) -> Result<Self::Ciphertext>;

    /// `sum a_k p_k`; one level below the operands.
    ///
    /// # Errors
    /// As [`mul_plain`](Self::mul_plain); no operand.
    fn dot_plain(&self, pairs: &[(&Self::Ciphertext, &Self::Plaintext)]) -> Result<Self::Ciphertext>;

    /// Slot `j` of the result is slot `j + steps` of `a`.
    ///
    /// # Errors
    /// No key for this rotation.
    fn rotate(&self, a: &Self::Ciphertext, steps: isize) -> Result<Self::Ciphertext>;

    /// All the rotations of `a`, in the order of `steps`; much cheaper than one by one.
    ///
    /// # Errors
    /// As [`rotate`](Self::rotate).
    fn rotate_many(&self, a: &Self::Ciphertext, steps: &[isize]) -> Result<Vec<Self::Ciphertext>>;

    /// `a + sum rotate(a, r)` over the `r` in `steps`; cheaper than adding the results of
    /// [`rotate_many`](Self::rotate_many).
    ///
    /// # Errors
    /// As [`rotate`](Self::rotate).
    fn sum_rotations(&self, a: &Self::Ciphertext, steps: &[isize]) -> Result<Self::Ciphertext>;

    /// [`sum_rotations`](Self::sum_rotations) of `a`, of the result, and so on, by each of `sums`; cheaper than one by one
    /// where a scheme can share work between them.
    ///
    /// # Errors
    /// As [`rotate`](Self::rotate).
    fn sum_rotations_in_turn(&self, a: &Self::Ciphertext, sums: &[&[isize]]) -> Result<Self::Ciphertext> {
        sums.iter().try_fold(a.clone(), |sum, steps| self.sum_rotations(&sum, steps))
    }

    /// `sum_b rotate( sum_i factor_bi rotate(a, babies_i), rotation_b )` over the giant steps b and their terms: any matrix
    /// times `a`; one level. Much cheaper than the same from the other operations.
    ///
    /// # Errors
    /// No giant step or one without terms; no level left; a missing key; a factor of another level, parameters or number
    /// of slots.
    ///
    /// # Panics
    /// A term names a baby step that there is not.
    fn sum_giant_steps<F: Borrow<Self::Factor>>(
        &self,
        a: &Self::Ciphertext,
        babies: &[isize],
        giants: &[GiantStep<F>],
    ) -> Result<Self::Ciphertext>;

    /// Refuses rotations of `a` whose keys are missing, before anything is computed. Without keys none is missing.
    ///
    /// # Errors
    /// No keys for some of `steps`: the error names all of them.
    fn check_rotations(&self, _a: &Self::Ciphertext, _steps: &[isize]) -> Result<()> {
        Ok(())
    }

    /// The same vector, of which the caller knows that no slot exceeds `bound` in absolute value.
    ///
    /// Schemes that carry an error estimate bound the result of a circuit by the sizes of its parts, which is far too
    /// much where parts cancel (`2 x^2 - 1` stays in `[-1, 1]`, not in `[-3, 3]`). A statement that is false makes the
    /// estimate false; the values stay as they are.
    #[must_use]
    fn with_magnitude(&self, a: Self::Ciphertext, bound: f64) -> Self::Ciphertext;

    /// The same vector, of which the caller knows that all slots are real and in this interval; see
    /// [`with_magnitude`](Self::with_magnitude).
    #[must_use]
    fn with_range(&self, a: Self::Ciphertext, _interval: [f64; 2]) -> Self::Ciphertext {
        a
    }

    /// The same vector, of which the caller knows that it repeats after `period` slots, a power of two up to the slots.
    ///
    /// Circuits whose operands repeat know it of their results. A statement that is false makes later results wrong.
    #[must_use]
    fn with_period(&self, a: Self::Ciphertext, _period: usize) -> Self::Ciphertext {
        a
    }

    /// The same vector, whose first `length` slots are its values, `None` for all slots of a period.
    ///
    /// # Errors
    /// A length of 0 or above the slots.
    fn with_length(&self, a: Self::Ciphertext, _length: Option<usize>) -> Result<Self::Ciphertext> {
        Ok(a)
    }

    /// The same vector at a lower level.
    ///
    /// # Errors
    /// `level` lies above the level of `a`.
    fn at_level(&self, a: &Self::Ciphertext, level: usize) -> Result<Self::Ciphertext>;

    /// The same vector for a circuit that uses `levels` levels: at a level as high as that, or renewed, or renewed on the
    /// way. A circuit asks once, at its beginning.
    ///
    /// An evaluator that cannot renew vectors gives back what is high enough, and refuses the rest.
    ///
    /// # Errors
    /// Fewer levels left than the circuit uses, or whatever renewing refuses.
    fn with_levels(&self, a: &Self::Ciphertext, levels: usize) -> Result<Self::Ciphertext> {
        let left = self.level(a);
        if left < levels { Err(Error::LevelExhausted { needed: levels, left }) } else { Ok(a.clone()) }
    }

    /// The same vector, renewed if no multiplication can follow on it: for circuits that multiply a vector by a rotation of itself,
    /// which would be renewed too.
    ///
    /// An evaluator that cannot renew vectors gives it back as it is.
    ///
    /// # Errors
    /// Whatever renewing refuses.
    fn renewed_for_product(&self, a: Self::Ciphertext) -> Result<Self::Ciphertext> {
        Ok(a)
    }

    /// The same vector with as many levels as a renewed one has.
    ///
    /// An evaluator that cannot renew vectors gives it back as it is.
    ///
    /// # Errors
    /// Whatever renewing refuses.
    fn renewed(&self, a: Self::Ciphertext) -> Result<Self::Ciphertext> {
        Ok(a)
    }

    /// The bounds of the slots of `a`; none if the evaluator estimates no errors.
    fn bounds(&self, a: &Self::Ciphertext) -> Option<Bounds>;

    /// The same vector, of which the estimate says that it has no error; and the estimate of its error.
    ///
    /// No value changes. The names of the errors stay, by which common errors of different vectors are recognised.
    #[must_use]
    fn split_error(&self, a: Self::Ciphertext) -> (Self::Ciphertext, Self::Estimate);

    /// The same vector, whose error is what `a` says of it, plus `sum f_k e_k`, plus up to `bias` in every slot.
    ///
    /// The `e_k` are errors that were [split off](Self::split_error), and each `f_k` bounds a factor that may differ
    /// from slot to slot. Errors that may have sources in common are added with the worst signs, others in quadrature.
    #[must_use]
    fn with_errors(&self, a: Self::Ciphertext, errors: &[(&Self::Estimate, f64)], bias: f64) -> Self::Ciphertext;
}

//! A dry run: which levels and keys a circuit needs, and how much it does, before any key is made.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use noren_ring::interrupt;
use noren_rlwe::error::{Error, Result};

use crate::circuits::lifetimes::Lifetimes;
use crate::schemes::slots::{Bounds, GiantStep, Repeated, Scalar, SlotEvaluator, check_values};

/// An evaluator whose ciphertexts hold nothing but a level, and which writes down what is asked of it.
///
/// Circuits are generic over the evaluator, so the plan of a circuit is made by the circuit itself: what it records
/// here is exactly what it asks of a scheme later.
///
/// # Examples
/// ```
/// use noren::circuits::recorder::Recorder;
/// use noren::schemes::slots::SlotEvaluator;
///
/// let recorder = Recorder::new();
/// let x = recorder.fresh(8);
/// recorder.rotate(&recorder.square(&x)?, -2)?;
/// let usage = recorder.usage();
/// assert_eq!((usage.depth, usage.rotations[&-2]), (1, 1));
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Recorder<T = f64> {
    usage: Mutex<CircuitUsage>,
    held: Arc<Mutex<Held>>,
    terms: Mutex<Terms>,
    scalar: PhantomData<fn() -> T>,
}

/// The usage of a circuit on a scheme: keys and levels.
///
/// Levels are counted from the inputs: a thing used "at depth 2" works on ciphertexts that have lost two levels, so
/// that its key may be made for that level, which makes it smaller.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CircuitUsage {
    /// Levels that the circuit uses up: a fresh ciphertext must have at least these.
    pub depth: usize,
    /// The rotations for which a key is needed, each with the smallest depth at which it is used.
    pub rotations: BTreeMap<isize, usize>,
    /// The smallest depth at which a product is relinearised; none if the circuit never multiplies ciphertexts.
    pub relinearization: Option<usize>,
    /// How often the circuit does what.
    pub counts: Counts,
    /// How often the circuit does each operation, by the depth of its operands: what a cost model prices.
    pub operations: BTreeMap<(usize, Operation), usize>,
    /// The ciphertexts that are held at the same time, inputs included.
    pub held: Lifetimes,
}

/// An operation of a [`SlotEvaluator`], with the sizes that its cost depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// A sum or difference of two ciphertexts, or of one and a plaintext or scalar.
    Sum,
    /// The lowering of an operand, or of a result, to the level and the scale of a deeper one: counted at the depth above that.
    Alignment,
    /// `constant + sum c_k x_k`, one rescaling.
    WeightedSum {
        /// The number of ciphertexts.
        terms: usize,
        /// How many of them come from above the deepest. In CKKS weights take up what scales differ.
        lowered: usize,
    },
    /// The encoding of a plain vector.
    Encoding,
    /// The encoding of a factor of giant steps, at the special primes too.
    FactorEncoding,
    /// `sum a_k p_k`, one rescaling.
    PlainProducts {
        /// The number of products.
        terms: usize,
    },
    /// `sum a_k b_k`, one relinearisation and one rescaling.
    Products {
        /// The number of products.
        terms: usize,
        /// How many of them are squares.
        squares: usize,
    },
    /// Rotations of one ciphertext, each divided by the special modulus.
    Rotations {
        /// The number of rotations.
        count: usize,
    },
    /// Sums of rotations, each of the result of the sum before.
    RotationSums {
        /// The number of sums.
        sums: usize,
        /// The number of rotations in all of them.
        rotations: usize,
    },
    /// A matrix by baby steps and giant steps, one rescaling.
    GiantSteps {
        /// Rotations of the ciphertext.
        babies: usize,
        /// Rotations of sums.
        giants: usize,
        /// Products with factors.
        terms: usize,
    },
}

/// How many operations of each costly kind a circuit does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Products of two ciphertexts (squares included).
    pub products: usize,
    /// Relinearisations: one for each product, but one for a whole sum of products.
    pub relinearizations: usize,
    /// Products of a ciphertext and a plain vector: each needs one encoding as well.
    pub plain_products: usize,
    /// Rotations that decompose the ciphertext anew: each single one, and each group made from one ciphertext.
    pub decompositions: usize,
    /// Rotations in all: inner products with a key.
    pub rotations: usize,
}

/// A ciphertext without content.
#[derive(Debug, Clone)]
pub struct Blank {
    shape: Shape,
    /// Counts it as long as it is held.
    _held: HeldCiphertext,
}

#[derive(Debug, Clone, Copy)]
struct Shape {
    slots: usize,
    period: usize,
    depth: usize,
    /// How many products or inputs are added up in it, since the last level that was used.
    terms: f64,
}

/// The most products or inputs that are added up, one sum after the other, since the last level that was used: noise is at most as
/// many times as large.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Terms {
    /// In what uses the next level.
    pub(crate) before: f64,
    /// In anything.
    pub(crate) most: f64,
}

impl Default for Terms {
    fn default() -> Self {
        Self { before: 1.0, most: 1.0 }
    }
}

/// The ciphertexts that are held, and how many there were.
#[derive(Debug, Default)]
struct Held {
    lifetimes: Lifetimes,
    count: u32,
}

/// A ciphertext that is held, by its number.
#[derive(Debug)]
struct HeldCiphertext {
    held: Arc<Mutex<Held>>,
    depth: usize,
    number: u32,
}

/// The most levels that a recorded circuit may use.
const LEVELS: usize = 1 << 20;

impl Operation {
    /// The pairs of polynomials that are held besides operands and result: without special primes, and with them.
    const fn pairs(self) -> [usize; 2] {
        match self {
            Self::Sum | Self::Encoding | Self::FactorEncoding => [0, 0],
            Self::Alignment | Self::WeightedSum { .. } | Self::PlainProducts { .. } => [1, 0],
            // Three products, the sums of the switch, and those divided.
            Self::Products { .. } => [2, 1],
            Self::Rotations { .. } | Self::RotationSums { .. } => [1, 1],
            Self::GiantSteps { babies, .. } => [1, babies + 2],
        }
    }
}

impl CircuitUsage {
    /// The usage of two circuits that run on the same inputs.
    #[must_use]
    pub fn merge(mut self, other: &Self) -> Self {
        self.depth = self.depth.max(other.depth);
        for (&steps, &depth) in &other.rotations {
            let own = self.rotations.entry(steps).or_insert(depth);
            *own = depth.min(*own);
        }
        self.relinearization = [self.relinearization, other.relinearization].into_iter().flatten().min();
        self.counts.products += other.counts.products;
        self.counts.relinearizations += other.counts.relinearizations;
        self.counts.plain_products += other.counts.plain_products;
        self.counts.decompositions += other.counts.decompositions;
        self.counts.rotations += other.counts.rotations;
        for (&operation, &count) in &other.operations {
            *self.operations.entry(operation).or_default() += count;
        }
        let rows = |held: &Lifetimes| held.most_rows(|_| 1, 0, 1);
        if rows(&other.held) > rows(&self.held) {
            self.held.clone_from(&other.held);
        }
        self
    }
}

impl HeldCiphertext {
    fn new(held: &Arc<Mutex<Held>>, depth: usize) -> Self {
        let mut all = lock(held);
        let number = all.count;
        all.count += 1;
        all.lifetimes.make(depth);
        drop(all);
        Self { held: Arc::clone(held), depth, number }
    }
}

impl Clone for HeldCiphertext {
    fn clone(&self) -> Self {
        Self::new(&self.held, self.depth)
    }
}

impl Drop for HeldCiphertext {
    fn drop(&mut self) {
        lock(&self.held).lifetimes.dropped(self.number);
    }
}

/// A poisoned record is still a record: the panic that poisoned it is reported elsewhere.
fn lock<T>(record: &Mutex<T>) -> MutexGuard<'_, T> {
    record.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recorder {
    /// A recorder that has seen nothing yet, of circuits with real numbers; `Recorder::<i64>::default()` is one of circuits
    /// with integers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl<T> Recorder<T> {
    /// A fresh ciphertext of `slots` slots.
    #[must_use]
    pub fn fresh(&self, slots: usize) -> Blank {
        self.fresh_repeated(slots, slots)
    }

    /// A fresh ciphertext of `slots` slots, whose values repeat after `period` of them.
    #[must_use]
    pub fn fresh_repeated(&self, slots: usize, period: usize) -> Blank {
        self.blank(Shape { slots, period, depth: 0, terms: 1.0 })
    }

    /// The usage so far.
    #[must_use]
    pub fn usage(&self) -> CircuitUsage {
        let held = lock(&self.held).lifetimes.clone();
        CircuitUsage { held, ..self.lock().clone() }
    }

    /// The costly operations so far.
    pub(crate) fn counts(&self) -> Counts {
        self.lock().counts
    }

    /// The terms of sums.
    pub(crate) fn terms(&self) -> Terms {
        *lock(&self.terms)
    }

    fn blank(&self, shape: Shape) -> Blank {
        let mut terms = lock(&self.terms);
        terms.most = terms.most.max(shape.terms);
        drop(terms);
        Blank { shape, _held: HeldCiphertext::new(&self.held, shape.depth) }
    }

    fn lock(&self) -> MutexGuard<'_, CircuitUsage> {
        // Before every operation.
        interrupt::check();
        lock(&self.usage)
    }

    /// A vector at a depth, with as many terms.
    fn deeper(&self, shape: Shape, depth: usize, terms: f64) -> Blank {
        let mut usage = self.lock();
        usage.depth = usage.depth.max(depth);
        drop(usage);
        self.blank(Shape { depth, terms, ..shape })
    }

    fn record(&self, depth: usize, operation: Operation) {
        *self.lock().operations.entry((depth, operation)).or_default() += 1;
        lock(&self.held).lifetimes.work(depth, operation.pairs());
    }

    /// A vector of the largest depth and period of the operands, to which the others are lowered.
    fn joined<'a>(&self, operands: impl Iterator<Item = &'a Blank> + Clone) -> Result<Shape> {
        let deepest = deepest(operands.clone())?;
        operands.for_each(|operand| self.align(operand, deepest.depth));
        Ok(deepest)
    }

    /// The same of operands that a level is used for.
    fn multiplied<'a>(&self, operands: impl Iterator<Item = &'a Blank> + Clone) -> Result<Shape> {
        self.count_terms(operands.clone());
        self.joined(operands)
    }

    /// Counts what is added up in operands that a level is used for.
    fn count_terms<'a>(&self, operands: impl Iterator<Item = &'a Blank>) {
        let mut terms = lock(&self.terms);
        terms.before = operands.map(|operand| operand.shape.terms).fold(terms.before, f64::max);
    }

    /// Counts the lowering of a vector to a depth.
    fn align(&self, operand: &Blank, depth: usize) {
        if operand.shape.depth < depth {
            self.record(depth - 1, Operation::Alignment);
        }
    }

    /// Counts rotations, and says how many of them move anything.
    fn rotations(&self, a: &Blank, steps: &[isize]) -> usize {
        let mut usage = self.lock();
        let real = steps.iter().filter(|&&r| r != 0);
        for &r in real.clone() {
            let depth = usage.rotations.entry(r).or_insert(a.shape.depth);
            *depth = a.shape.depth.min(*depth);
        }
        let count = real.count();
        usage.counts.rotations += count;
        usage.counts.decompositions += usize::from(count > 0);
        count
    }

    /// Counts a sum of products of ciphertexts.
    fn products(&self, deepest: Shape, terms: usize, squares: usize) -> Result<Blank> {
        let depth = deepest.depth;
        let mut usage = self.lock();
        usage.counts.products += terms;
        usage.counts.relinearizations += 1;
        usage.relinearization = Some(usage.relinearization.map_or(depth, |d| d.min(depth)));
        drop(usage);
        self.record(depth, Operation::Products { terms, squares });
        Ok(self.deeper(deepest, depth + 1, terms as f64))
    }
}

impl<T: Scalar> SlotEvaluator for Recorder<T> {
    type Scalar = T;
    type Ciphertext = Blank;
    type Plaintext = ();
    type Factor = ();
    type Estimate = ();

    /// One piece after the other; how much memory they take side by side is noted.
    fn side_by_side<R: Send>(&self, count: usize, work: &(dyn Fn(usize) -> Result<R> + Sync)) -> Result<Vec<R>> {
        let piece = |at| {
            let result = work(at);
            if count > 1 {
                lock(&self.held).lifetimes.end();
            }
            result
        };
        if count > 1 {
            lock(&self.held).lifetimes.begin(count);
        }
        (0..count).map(piece).collect()
    }

    fn slots(&self, x: &Blank) -> usize {
        x.shape.slots
    }

    fn period(&self, x: &Blank) -> usize {
        x.shape.period
    }

    fn level(&self, x: &Blank) -> usize {
        LEVELS - x.shape.depth
    }

    fn encode_for(&self, values: &[T], operand: &Blank) -> Result<()> {
        check_values(values.len(), operand.shape.slots)?;
        T::check(values)?;
        self.record(operand.shape.depth, Operation::Encoding);
        Ok(())
    }

    fn encode_factor(&self, values: &[T], operand: &Blank) -> Result<()> {
        check_values(values.len(), operand.shape.slots)?;
        T::check(values)?;
        self.record(operand.shape.depth, Operation::FactorEncoding);
        Ok(())
    }

    fn encode_repeated_factor(&self, values: &Repeated<'_, T>, operand: &Blank) -> Result<()> {
        check_values(values.period(), operand.shape.slots)?;
        self.encode_factor(values.entries, operand)
    }

    fn add(&self, a: &Blank, b: &Blank) -> Result<Blank> {
        let sum = self.joined([a, b].into_iter())?;
        self.record(sum.depth, Operation::Sum);
        Ok(self.blank(Shape { terms: a.shape.terms + b.shape.terms, ..sum }))
    }

    fn sub(&self, a: &Blank, b: &Blank) -> Result<Blank> {
        self.add(a, b)
    }

    fn neg(&self, a: &Blank) -> Result<Blank> {
        self.record(a.shape.depth, Operation::Sum);
        Ok(a.clone())
    }

    fn add_scalar(&self, a: &Blank, _c: T) -> Result<Blank> {
        self.record(a.shape.depth, Operation::Sum);
        Ok(a.clone())
    }

    fn add_plain(&self, a: &Blank, _p: &()) -> Result<Blank> {
        self.record(a.shape.depth, Operation::Sum);
        Ok(self.blank(Shape { period: a.shape.slots, ..a.shape }))
    }

    fn mul(&self, a: &Blank, b: &Blank) -> Result<Blank> {
        self.dot(&[(a, b)])
    }

    fn square(&self, a: &Blank) -> Result<Blank> {
        self.products(self.multiplied([a].into_iter())?, 1, 1)
    }

    fn mul_plain(&self, a: &Blank, p: &()) -> Result<Blank> {
        self.dot_plain(&[(a, p)])
    }

    fn mul_scalar(&self, a: &Blank, _c: T) -> Result<Blank> {
        self.weighted_sum(&[(a, T::ONE)], T::ZERO)
    }

    fn weighted_sum(&self, terms: &[(&Blank, T)], _constant: T) -> Result<Blank> {
        let operands = terms.iter().map(|(x, _)| *x);
        self.count_terms(operands.clone());
        let deepest = deepest(operands.clone())?;
        let lowered = operands.filter(|x| x.shape.depth < deepest.depth).count();
        self.record(deepest.depth, Operation::WeightedSum { terms: terms.len(), lowered });
        Ok(self.deeper(deepest, deepest.depth + 1, terms.len() as f64))
    }

    fn dot(&self, pairs: &[(&Blank, &Blank)]) -> Result<Blank> {
        let deepest = self.multiplied(pairs.iter().flat_map(|(a, b)| [*a, *b]))?;
        let squares = pairs.iter().filter(|(a, b)| std::ptr::eq(*a, *b)).count();
        self.products(deepest, pairs.len(), squares)
    }

    fn dot_plain(&self, pairs: &[(&Blank, &())]) -> Result<Blank> {
        let deepest = self.multiplied(pairs.iter().map(|(a, _)| *a))?;
        self.lock().counts.plain_products += pairs.len();
        self.record(deepest.depth, Operation::PlainProducts { terms: pairs.len() });
        Ok(self.deeper(Shape { period: deepest.slots, ..deepest }, deepest.depth + 1, pairs.len() as f64))
    }

    fn rotate(&self, a: &Blank, steps: isize) -> Result<Blank> {
        Ok(self.rotate_many(a, &[steps])?.swap_remove(0))
    }

    fn rotate_many(&self, a: &Blank, steps: &[isize]) -> Result<Vec<Blank>> {
        let count = self.rotations(a, steps);
        if count > 0 {
            self.record(a.shape.depth, Operation::Rotations { count });
        }
        Ok(vec![a.clone(); steps.len()])
    }

    fn sum_rotations(&self, a: &Blank, steps: &[isize]) -> Result<Blank> {
        self.sum_rotations_in_turn(a, &[steps])
    }

    fn sum_rotations_in_turn(&self, a: &Blank, sums: &[&[isize]]) -> Result<Blank> {
        let terms = sums.iter().fold(a.shape.terms, |terms, steps| terms * (steps.len() + 1) as f64);
        let counts = sums.iter().map(|steps| self.rotations(a, steps));
        let (sums, rotations) = counts.filter(|&count| count > 0).fold((0, 0), |(s, r), count| (s + 1, r + count));
        if sums > 0 {
            self.record(a.shape.depth, Operation::RotationSums { sums, rotations });
        }
        Ok(self.blank(Shape { terms, ..a.shape }))
    }

    fn sum_giant_steps<F: Borrow<()>>(&self, a: &Blank, babies: &[isize], giants: &[GiantStep<F>]) -> Result<Blank> {
        let missing = |found| Error::Length { what: "terms of a giant step", found, needed: "at least 1".to_owned() };
        if giants.is_empty() || giants.iter().any(|giant| giant.terms.is_empty()) {
            return Err(missing(0));
        }
        let shape = self.multiplied([a].into_iter())?;
        let babies = self.rotations(a, babies);
        // The level is used at the end.
        let moved = giants.iter().map(|giant| self.rotations(a, &[giant.rotation])).sum();
        let terms: usize = giants.iter().map(|giant| giant.terms.len()).sum();
        self.lock().counts.plain_products += terms;
        self.record(shape.depth, Operation::GiantSteps { babies, giants: moved, terms });
        Ok(self.deeper(Shape { period: shape.slots, ..shape }, shape.depth + 1, terms as f64))
    }

    fn with_magnitude(&self, a: Blank, _bound: f64) -> Blank {
        a
    }

    fn with_period(&self, a: Blank, period: usize) -> Blank {
        self.blank(Shape { period, ..a.shape })
    }

    fn at_level(&self, a: &Blank, level: usize) -> Result<Blank> {
        match LEVELS.checked_sub(level) {
            Some(depth) if depth >= a.shape.depth => {
                self.align(a, depth);
                Ok(self.deeper(a.shape, depth, a.shape.terms))
            }
            _ => Err(Error::LevelExhausted { needed: level, left: LEVELS - a.shape.depth }),
        }
    }

    fn bounds(&self, _a: &Blank) -> Option<Bounds> {
        None
    }

    fn split_error(&self, a: Blank) -> (Blank, ()) {
        (a, ())
    }

    fn with_errors(&self, a: Blank, _errors: &[(&(), f64)], _bias: f64) -> Blank {
        a
    }
}

/// The shape of a vector of the largest depth and period of the operands.
fn deepest<'a>(operands: impl Iterator<Item = &'a Blank>) -> Result<Shape> {
    let join = |a: Shape, b: Shape| Shape { period: a.period.max(b.period), depth: a.depth.max(b.depth), ..a };
    operands.map(|operand| operand.shape).reduce(join).ok_or_else(|| Error::Length {
        what: "terms of a sum",
        found: 0,
        needed: "at least 1".to_owned(),
    })
}

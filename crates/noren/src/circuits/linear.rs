//! Matrix times vector, by diagonals with baby steps and giant steps.

use std::collections::{BTreeMap, BTreeSet};

use noren_math::machine::memory;
use noren_rlwe::error::{Error, Result};

use crate::circuits::trace::Unrolling;
use crate::schemes::range::Range;
use crate::schemes::slots::{GiantStep, Repeated, Scalar, SlotEvaluator};

/// A linear map `y = A x`, by the diagonals of its matrix.
///
/// - [`LinearMap::dense`] acts on vectors that repeat after `n` slots, a power of two: `D_k[j] = A[j][(j + k) mod n]`. The
///   result repeats after `n` slots too.
/// - [`LinearMap::windowed`] acts on the first `columns` slots of any vector, by generalised diagonals
///   `D_k[j] = A[j][j + k]` for k from `-(rows - 1)` to `columns - 1`: about twice as many. What the other slots hold does not
///   matter. The result has zeros from slot `rows` on.
/// - [`LinearMap::hybrid`] acts on vectors that repeat after `p` slots with as many diagonals as the smaller of `p` and `r`, the
///   power of two from the rows on: `D_k[j] = A[j mod r][(j + k) mod p]`, and then adds up the `p / r` blocks of `r` slots. The
///   result repeats after `r` slots.
///
/// [`Matrix`](crate::circuits::matrix::Matrix) and [`LinearMap::repeated`] choose between them. With `k = a + n_1 b`,
/// `y = sum_b rot_{n_1 b}( sum_a rot_{-n_1 b}(D_k) * rot_a(x) )`:
/// the baby steps `a` are rotations of one ciphertext, which share a decomposition, and each giant step `b` is one
/// rotation of its own. Diagonals that are zero cost nothing. One level.
///
/// # Examples
/// ```
/// use noren::circuits::linear::LinearMap;
/// use noren::schemes::clear::{ClearEvaluator, ClearVector};
///
/// let map = LinearMap::dense(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// assert_eq!(map.dimension(), 4);
/// let x = ClearVector::new(vec![1.0, 1.0, 1.0, 0.0], LinearMap::DEPTH)?;
/// assert_eq!(map.apply(&ClearEvaluator, &x)?.values(), [6.0, 15.0, 0.0, 0.0]);
/// # Ok::<(), noren::error::Error>(())
/// ```
/// Source: guide to plaintext matrix products in Halevi and Shoup, "Faster homomorphic linear transformations in
/// HElib", eprint 2018/244; the hybrid is that of Juvekar, Vaikuntanathan and Chandrakasan, "GAZELLE", USENIX Security 2018,
/// section 4.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearMap<T = f64> {
    dimension: usize,
    /// How vectors repeat, if diagonals repeat after the dimension; they stand once, in the first slots, otherwise.
    repetition: Option<Repetition>,
    diagonals: BTreeMap<isize, Vec<T>>,
    /// How many slots side by side have each entry of a diagonal.
    spread: usize,
    baby_steps: usize,
    /// The distance of rotations of the vector itself, before baby steps and giant steps below it; none for one alone.
    turn: Option<usize>,
}

/// After how many slots the vectors of a map repeat; powers of two. A vector of several results is the sum of its blocks as long
/// as a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Repetition {
    vector: usize,
    result: usize,
}

impl Repetition {
    /// The sum of the blocks of a vector, if it has several.
    fn sum(self) -> Option<Unrolling> {
        let blocks = self.vector / self.result;
        (blocks > 1).then(|| Unrolling::usual(blocks, self.result.cast_signed()))
    }
}

/// A [`LinearMap`] whose diagonals are encoded for one level, to be applied to many vectors.
///
/// It holds one factor of the scheme for each diagonal that is not zero. For CKKS in degree n, at a level of l limbs and
/// with k special primes, that is `8 (l + k) n` bytes for each, and while the map is applied `16 (l + k) n` bytes more
/// for each baby step: 128 diagonals at n = 2^14, l + k = 6 take 96 MiB and 24 MiB.
pub struct PreparedMap<F> {
    dimension: usize,
    repetition: Option<Repetition>,
    level: usize,
    turns: Vec<Turn<F>>,
    /// For each slot of a result the sums of the negative and of the positive entries of its row; zeros in all other slots.
    rows: Vec<[f64; 2]>,
    /// The most bytes that the factors take.
    bytes: usize,
}

/// The baby steps and giant steps of a rotation of the vector.
struct Turn<F> {
    rotation: isize,
    babies: Vec<isize>,
    giants: Vec<GiantStep<F>>,
}

/// The rotation of each turn, with those of its baby steps and giant steps that have a diagonal, 0 included.
type Turns = BTreeMap<isize, (BTreeSet<isize>, BTreeSet<isize>)>;

/// The bytes of encoded maps that a server keeps. Others are encoded when they are used, which takes about as long as their products.
pub(crate) const MOST_KEPT: u64 = 1 << 30;

/// The cost of a giant step, in baby steps: it divides and decomposes anew. Measured for CKKS at n = 2^14 and 2^15: 3 to 6,
/// and a low figure asks for few keys.
const GIANT_COST: usize = 4;
/// The keys up to which a map takes the steps that cost least.
const FEW_KEYS: usize = 32;
/// The cost of a baby step, in products with a diagonal: a product with each digit of its key.
const BABY_COST: usize = 3;

impl LinearMap {
    /// The levels that applying a map uses.
    pub const DEPTH: usize = 1;
}

impl<T: Scalar> LinearMap<T> {
    /// The map of a matrix with `rows` times `columns` entries, row after row.
    ///
    /// The dimension is the power of two from the larger of the two numbers on; zeros fill the rest.
    ///
    /// # Errors
    /// No entry, a number of entries that is not `rows * columns`, an entry that is not finite.
    pub fn dense(rows: usize, columns: usize, entries: &[T]) -> Result<Self> {
        Self::dense_in(rows.max(columns).next_power_of_two(), rows, columns, entries)
    }

    /// [`LinearMap::dense`] of a larger dimension, a power of two: for vectors that repeat later.
    ///
    /// # Errors
    /// As [`LinearMap::dense`], and a dimension below the rows or columns, or that is not a power of two.
    pub fn dense_in(dimension: usize, rows: usize, columns: usize, entries: &[T]) -> Result<Self> {
        check_entries(rows, columns, entries)?;
        if dimension < rows.max(columns) {
            let needed = format!("at least {}, the larger of the rows and columns", rows.max(columns));
            return Err(Error::parameter("dimension", dimension, needed));
        }
        let place = |row: usize, column: usize| (dimension + column - row) % dimension;
        ask_for_diagonals::<T>(nonzero(columns, entries).map(|(row, column, _)| place(row, column)), dimension)?;
        let mut diagonals = BTreeMap::new();
        for (row, column, entry) in nonzero(columns, entries) {
            let k = place(row, column);
            diagonals.entry(k).or_insert_with(|| vec![T::ZERO; dimension])[row] = entry;
        }
        Self::from_diagonals(dimension, diagonals)
    }

    /// The map of a matrix on vectors that repeat after `period` slots, a power of two from the columns on, with as few diagonals
    /// as the smaller side of the matrix has, padded to a power of two, and a sum over blocks.
    ///
    /// # Errors
    /// As [`LinearMap::dense`], and a period below the columns, or that is not a power of two.
    pub fn hybrid(period: usize, rows: usize, columns: usize, entries: &[T]) -> Result<Self> {
        check_entries(rows, columns, entries)?;
        if period < columns {
            return Err(Error::parameter("period", period, format!("at least {columns}, the columns")));
        }
        let entry = |row: usize, column: usize| {
            if row < rows && column < columns { entries[row * columns + column] } else { T::ZERO }
        };
        Self::hybrid_apart(1, period, rows.next_power_of_two(), entry)
    }

    /// [`LinearMap::hybrid`] on vectors whose numbers lie `stride` slots apart, for each of the `stride` vectors that lie between
    /// one another: `columns` numbers, which repeat, become `rows`. All three are powers of two.
    ///
    /// # Errors
    /// Numbers that are not powers of two; an entry that is not finite.
    pub(crate) fn hybrid_apart(
        stride: usize,
        columns: usize,
        rows: usize,
        entry: impl Fn(usize, usize) -> T,
    ) -> Result<Self> {
        let longest = rows.max(columns);
        memory::ask_for::<T>(longest.saturating_mul(rows.min(columns)))?;
        let diagonal = |k: usize| (k * stride, (0..longest).map(|j| entry(j % rows, (j + k) % columns)).collect());
        let diagonals = (0..rows.min(columns)).map(diagonal).collect();
        let map = Self::from_spread_diagonals(stride * longest, stride, diagonals)?;
        Ok(Self { repetition: Some(Repetition { vector: stride * columns, result: stride * rows }), ..map })
    }

    /// [`LinearMap::hybrid_apart`] of the matrix whose entries `each` tells: row, column and value; those at one place are added. It has
    /// the diagonals that are not zero alone.
    ///
    /// # Errors
    /// As [`LinearMap::hybrid_apart`].
    pub(crate) fn sparse_apart(
        stride: usize,
        columns: usize,
        rows: usize,
        each: impl Fn(&mut dyn FnMut(usize, usize, T)),
    ) -> Result<Self> {
        let (longest, shortest) = (rows.max(columns), rows.min(columns));
        // Entry (row, column) stands in that of the rows `row + b rows` of its repetitions whose diagonal is below the shorter side.
        let place = |row: usize, column: usize| {
            let distance = (columns + column - row % columns) % columns;
            (distance % shortest, row + distance / shortest * shortest)
        };
        let mut is_diagonal = vec![false; shortest];
        each(&mut |row, column, _| is_diagonal[place(row, column).0] = true);
        let count = is_diagonal.iter().filter(|&&is_diagonal| is_diagonal).count();
        memory::ask_for::<T>(count.saturating_mul(longest))?;
        let mut diagonals: BTreeMap<usize, Vec<T>> = BTreeMap::new();
        each(&mut |row, column, entry| {
            let (k, row) = place(row, column);
            let sum = &mut diagonals.entry(k * stride).or_insert_with(|| vec![T::ZERO; longest])[row];
            *sum = sum.minus(T::ZERO.minus(entry));
        });
        let map = Self::from_spread_diagonals(stride * longest, stride, diagonals)?.with_few_keys();
        Ok(Self { repetition: Some(Repetition { vector: stride * columns, result: stride * rows }), ..map })
    }

    /// The map that costs least on vectors that repeat after `period` slots: [`LinearMap::dense_in`], which sparse matrices need
    /// few diagonals for, or [`LinearMap::hybrid`].
    ///
    /// # Errors
    /// As both.
    pub fn repeated(period: usize, rows: usize, columns: usize, entries: &[T]) -> Result<Self> {
        check_entries(rows, columns, entries)?;
        let (vector, result) = (period.max(columns.next_power_of_two()), rows.next_power_of_two());
        let dimension = vector.max(result);
        let mut is_diagonal = vec![false; dimension];
        nonzero(columns, entries)
            .for_each(|(row, column, _)| is_diagonal[(dimension + column - row) % dimension] = true);
        let dense = (0..dimension).filter(|&k| is_diagonal[k]).map(usize::cast_signed).collect();
        let cost = |diagonals, repetition| Pattern { diagonals, dimension, repetition: Some(repetition) }.cheapest().1;
        let of_dense = cost(dense, Repetition { vector: dimension, result: dimension });
        let all = (0..result.min(vector)).map(usize::cast_signed).collect();
        match cost(all, Repetition { vector, result }) < of_dense {
            true => Self::hybrid(vector, rows, columns, entries),
            false => Self::dense_in(dimension, rows, columns, entries),
        }
    }

    /// The map of a matrix on the first `columns` slots of any vector, whatever the other slots hold.
    ///
    /// # Errors
    /// As [`LinearMap::dense`].
    pub fn windowed(rows: usize, columns: usize, entries: &[T]) -> Result<Self> {
        check_entries(rows, columns, entries)?;
        let places = nonzero(columns, entries).map(|(row, column, _)| rows + column - row);
        ask_for_diagonals::<T>(places, rows)?;
        let mut diagonals: BTreeMap<isize, Vec<T>> = BTreeMap::new();
        for (row, column, entry) in nonzero(columns, entries) {
            let k = column.cast_signed() - row.cast_signed();
            diagonals.entry(k).or_insert_with(|| vec![T::ZERO; rows])[row] = entry;
        }
        let dimension = rows.max(columns).next_power_of_two();
        Ok(Self { dimension, repetition: None, diagonals, spread: 1, baby_steps: 1, turn: None }.with_cheapest_steps())
    }

    /// The map with the diagonals `D_k[j] = A[j][(j + k) mod n]`; those that are not named are zero.
    ///
    /// # Errors
    /// A dimension that is not a power of two; a diagonal with an index not below the dimension, of another length, or
    /// with an entry that is not finite.
    pub fn from_diagonals(dimension: usize, diagonals: BTreeMap<usize, Vec<T>>) -> Result<Self> {
        Self::from_spread_diagonals(dimension, 1, diagonals)
    }

    /// The same, where each entry of a diagonal stands for `spread` slots side by side.
    fn from_spread_diagonals(dimension: usize, spread: usize, mut diagonals: BTreeMap<usize, Vec<T>>) -> Result<Self> {
        if !dimension.is_power_of_two() {
            let needed = "a power of two".to_owned();
            return Err(Error::parameter("dimension", dimension, needed));
        }
        for (&k, diagonal) in &diagonals {
            if k >= dimension {
                let needed = format!("below {dimension}");
                return Err(Error::parameter("diagonal", k, needed));
            }
            if diagonal.len() * spread != dimension {
                let needed = (dimension / spread).to_string();
                return Err(Error::Length { what: "entries of a diagonal", found: diagonal.len(), needed });
            }
            T::check(diagonal)?;
        }
        diagonals.retain(|_, diagonal| diagonal.iter().any(|&entry| entry != T::ZERO));
        let diagonals = diagonals.into_iter().map(|(k, diagonal)| (k.cast_signed(), diagonal)).collect();
        let repetition = Some(Repetition { vector: dimension, result: dimension });
        Ok(Self { dimension, repetition, diagonals, spread, baby_steps: 1, turn: None }.with_cheapest_steps())
    }

    /// The number of baby steps that costs least. There is one diagonal at least.
    fn with_cheapest_steps(mut self) -> Self {
        if self.diagonals.is_empty() {
            self.diagonals.insert(0, vec![T::ZERO; self.dimension / self.spread]);
        }
        let diagonals = self.diagonals.keys().copied().collect();
        let pattern = Pattern { diagonals, dimension: self.dimension, repetition: self.repetition };
        Self { baby_steps: pattern.cheapest().0, ..self }
    }

    /// The same map with `n_1` baby steps, instead of the number that costs least.
    ///
    /// # Errors
    /// A number that is not a power of two up to the dimension.
    pub fn with_baby_steps(self, baby_steps: usize) -> Result<Self> {
        if baby_steps.is_power_of_two() && baby_steps <= self.dimension {
            return Ok(Self { baby_steps, ..self });
        }
        let needed = format!("a power of two up to {}", self.dimension);
        Err(Error::parameter("baby_steps", baby_steps, needed))
    }

    /// The dimension `n`.
    #[must_use]
    pub const fn dimension(&self) -> usize {
        self.dimension
    }

    /// The number `n_1` of baby steps.
    #[must_use]
    pub const fn baby_steps(&self) -> usize {
        self.baby_steps
    }

    /// The rotations for which [`apply`](Self::apply) needs keys, each once, in ascending order.
    #[must_use]
    pub fn rotations(&self) -> Vec<isize> {
        let turns = self.turns(self.baby_steps, self.turn);
        let sums = self.repetition.and_then(Repetition::sum).map_or_else(Vec::new, |sum| sum.rotations());
        let of_turn = |(turn, (babies, giants))| [turn].into_iter().chain(babies).chain(giants);
        let steps = turns.into_iter().flat_map(of_turn).chain(sums).filter(|&r| r != 0);
        steps.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Encodes the diagonals for the level and slots of `operand`.
    ///
    /// # Errors
    /// Slots that are not a multiple of the dimension; entries too large for the level.
    pub fn prepare<E: SlotEvaluator<Scalar = T>>(
        &self,
        ev: &E,
        operand: &E::Ciphertext,
    ) -> Result<PreparedMap<E::Factor>> {
        let slots = ev.slots(operand);
        if slots < self.dimension {
            let needed = format!("at least {}, the dimension of the map", self.dimension);
            return Err(Error::Length { what: "slots of the vector", found: slots, needed });
        }
        let period = if self.repetition.is_some() { self.dimension } else { slots };
        // The factors come one by one.
        let bytes = self.diagonals.len().saturating_mul(ev.factor_bytes(operand, period));
        memory::ask(bytes)?;
        let shifted = |entries, giant: isize| {
            let rotation = (-giant).rem_euclid(period.cast_signed()).cast_unsigned();
            Repeated { entries, spread: self.spread, period, rotation }
        };
        let turned = |(rotation, (babies, giants)): (isize, (BTreeSet<isize>, BTreeSet<isize>))| {
            let babies: Vec<isize> = babies.into_iter().collect();
            let giants = giants
                .into_iter()
                .map(|giant| {
                    let terms = babies.iter().enumerate().filter_map(|(position, baby)| {
                        let diagonal = self.diagonals.get(&(rotation + giant + baby))?;
                        let factor = ev.encode_repeated_factor(&shifted(diagonal, giant), operand);
                        Some(factor.map(|plain| (position, plain)))
                    });
                    Ok(GiantStep { rotation: giant, terms: terms.collect::<Result<_>>()? })
                })
                .collect::<Result<_>>()?;
            Ok(Turn { rotation, babies, giants })
        };
        let turns = self.turns(self.baby_steps, self.turn).into_iter().map(turned).collect::<Result<_>>()?;
        let (dimension, repetition, rows) = (self.dimension, self.repetition, self.row_sums());
        Ok(PreparedMap { dimension, repetition, level: ev.level(operand), turns, rows, bytes })
    }

    /// For each slot of a result the sums of the negative and of the positive entries of its row.
    fn row_sums(&self) -> Vec<[f64; 2]> {
        let longest = self.diagonals.values().map(Vec::len).max().unwrap_or(0);
        let result = self.repetition.map_or(longest, |repetition| repetition.result / self.spread);
        let mut rows = vec![[0.0; 2]; result];
        for block in self.diagonals.values().flat_map(|diagonal| diagonal.chunks(result)) {
            for ([negative, positive], entry) in rows.iter_mut().zip(block.iter().map(|entry| entry.to_f64())) {
                *negative += entry.min(0.0);
                *positive += entry.max(0.0);
            }
        }
        rows.into_iter().flat_map(|row| std::iter::repeat_n(row, self.spread)).collect()
    }

    /// `A x`, with the diagonals encoded on the way; one level.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare) and [`PreparedMap::apply`].
    pub fn apply<E: SlotEvaluator<Scalar = T>>(&self, ev: &E, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        self.prepare(ev, x)?.apply(ev, x)
    }

    /// The rotations of all steps that have a diagonal.
    fn turns(&self, baby_steps: usize, turn: Option<usize>) -> Turns {
        let mut turns = Turns::new();
        for &k in self.diagonals.keys() {
            let below = turn.map_or(k, |turn| k.rem_euclid(turn.cast_signed()));
            let baby = below.rem_euclid(baby_steps.cast_signed());
            let (babies, giants) = turns.entry(k - below).or_default();
            babies.insert(baby);
            giants.insert(below - baby);
        }
        turns
    }

    /// The steps for which the product of cost and number of keys is least, where there would be many keys, which take more memory
    /// than anything else.
    fn with_few_keys(self) -> Self {
        if self.rotations().len() <= FEW_KEYS {
            return self;
        }
        let bits = self.dimension.ilog2();
        let steps = (0..=bits).flat_map(|baby| (baby + 1..=bits).map(move |turn| (1 << baby, Some(1 << turn))));
        let weight = |baby_steps: usize, turn: Option<usize>| {
            let turns = self.turns(baby_steps, turn);
            let moves = |steps: &BTreeSet<isize>| steps.iter().filter(|&&r| r != 0).count();
            let each = turns.values().map(|(babies, giants)| moves(babies) + GIANT_COST * moves(giants)).sum::<usize>();
            let turned = turns.keys().filter(|&&turn| turn != 0).count();
            let cost = self.diagonals.len() + BABY_COST * (each + GIANT_COST * turned);
            let keys = |(turn, (babies, giants))| [turn].into_iter().chain(babies).chain(giants);
            let keys: BTreeSet<isize> = turns.into_iter().flat_map(keys).filter(|&r| r != 0).collect();
            cost * keys.len().max(1)
        };
        let all = [(self.baby_steps, None)].into_iter().chain(steps);
        let (baby_steps, turn) =
            all.min_by_key(|&(baby_steps, turn)| weight(baby_steps, turn)).unwrap_or((self.baby_steps, None));
        Self { baby_steps, turn, ..self }
    }
}

/// The operands of the cost of a map: its diagonals, in ascending order, and the period of its vectors.
struct Pattern {
    diagonals: Vec<isize>,
    dimension: usize,
    repetition: Option<Repetition>,
}

impl Pattern {
    /// The number of baby steps that costs least, with that cost, in products with a diagonal.
    fn cheapest(&self) -> (usize, usize) {
        let all = (0..=self.dimension.ilog2()).map(|bits| 1 << bits);
        all.map(|baby_steps| (baby_steps, self.cost(baby_steps))).min_by_key(|&(_, cost)| cost).unwrap_or((1, 0))
    }

    fn cost(&self, baby_steps: usize) -> usize {
        let (mut is_baby, mut giants, mut last) = (vec![false; baby_steps], 0, 0);
        for &k in &self.diagonals {
            let baby = k.rem_euclid(baby_steps.cast_signed());
            is_baby[baby.cast_unsigned()] = baby != 0;
            // In ascending order those of one giant step follow one another.
            let giant = k - baby;
            giants += usize::from(giant != 0 && giant != last);
            last = giant;
        }
        let babies = is_baby.into_iter().filter(|&is| is).count();
        // A step of a sum decomposes anew, as a giant step does; its other rotations are like baby steps.
        let sum = self.repetition.and_then(Repetition::sum).map_or(0, |sum| {
            let (steps, rotations) = (sum.steps(), sum.rotations().len());
            GIANT_COST * steps + rotations - steps
        });
        self.diagonals.len() + BABY_COST * (babies + GIANT_COST * giants + sum)
    }
}

impl<F> PreparedMap<F> {
    /// `A x`; one level.
    ///
    /// # Errors
    /// A vector of another level than the one that the map was prepared for, or that does not repeat after the dimension; no
    /// level left; missing keys, all of which the error names.
    pub fn apply<E: SlotEvaluator<Factor = F>>(&self, ev: &E, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        self.check(ev, x)?;
        let product = self.sum_of_blocks(ev, self.blocks(ev, x)?)?;
        let Some(repetition) = self.repetition else { return Ok(self.in_range(ev, x, product)) };
        Ok(ev.with_period(self.in_range(ev, x, product), repetition.result))
    }

    /// `A x` without the sum over blocks, which [`PreparedMap::sum_of_blocks`] adds: several of them may be added first. The caller
    /// knows that the vector repeats, and has its level.
    ///
    /// # Errors
    /// No level left; missing keys.
    pub(crate) fn blocks<E: SlotEvaluator<Factor = F>>(&self, ev: &E, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        let rotations: Vec<isize> = self.turns.iter().map(|turn| turn.rotation).collect();
        let turned = match rotations[..] {
            [0] => vec![x.clone()],
            // Each rotation would be renewed by itself.
            _ => ev.rotate_many(&ev.renewed_for_product(x.clone())?, &rotations)?,
        };
        let mut sum: Option<E::Ciphertext> = None;
        for (turn, x) in self.turns.iter().zip(&turned) {
            let part = ev.sum_giant_steps(x, &turn.babies, &turn.giants)?;
            sum = Some(match sum {
                Some(sum) => ev.add(&sum, &part)?,
                None => part,
            });
        }
        sum.ok_or_else(|| Error::Length { what: "diagonals", found: 0, needed: "at least 1".to_owned() })
    }

    /// The sum over the blocks of a result.
    ///
    /// # Errors
    /// Missing keys.
    pub(crate) fn sum_of_blocks<E: SlotEvaluator>(&self, ev: &E, x: E::Ciphertext) -> Result<E::Ciphertext> {
        match self.repetition.and_then(Repetition::sum) {
            Some(sum) => sum.apply(ev, &x),
            None => Ok(x),
        }
    }

    /// Refuses vectors that the map is not for.
    fn check<E: SlotEvaluator<Factor = F>>(&self, ev: &E, x: &E::Ciphertext) -> Result<()> {
        if ev.level(x) != self.level {
            return Err(Error::LevelMismatch { left: self.level, right: ev.level(x) });
        }
        let period = ev.period(x);
        match self.repetition {
            Some(Repetition { vector, .. }) if period > vector => {
                let needed = format!(
                    "at most {vector}, as the vectors of the map do: encode the vector repeated, or state its period, or use \
                     Matrix"
                );
                Err(Error::Length { what: "slots after which the vector repeats", found: period, needed })
            }
            _ => Ok(()),
        }
    }

    /// The product of `x`, of which it is known where it lies: the sum of the ranges of all diagonals is wider than the range of
    /// any row.
    fn in_range<E: SlotEvaluator<Factor = F>>(
        &self,
        ev: &E,
        x: &E::Ciphertext,
        product: E::Ciphertext,
    ) -> E::Ciphertext {
        let range = ev.bounds(x).map(|bounds| bounds.range).filter(|range| range.magnitude().is_finite());
        match range {
            Some(Range::Real { low, high }) => ev.with_range(product, self.range(low, high)),
            Some(Range::Complex { magnitude }) => ev.with_magnitude(product, self.range(-magnitude, magnitude)[1]),
            None => product,
        }
    }

    /// Where the product lies for slots from `low` to `high`; zero is among the slots.
    fn range(&self, low: f64, high: f64) -> [f64; 2] {
        let mut range = [0.0f64; 2];
        for &[negative, positive] in &self.rows {
            range[0] = range[0].min(positive * low + negative * high);
            range[1] = range[1].max(positive * high + negative * low);
        }
        range
    }

    /// The dimension of the map.
    #[must_use]
    pub const fn dimension(&self) -> usize {
        self.dimension
    }

    /// The most bytes that its factors take.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Asks for the memory of the diagonals in these places, which are as long as one another.
fn ask_for_diagonals<T>(places: impl Iterator<Item = usize>, length: usize) -> Result<()> {
    let mut is_diagonal = Vec::new();
    for place in places {
        if place >= is_diagonal.len() {
            is_diagonal.resize(place + 1, false);
        }
        is_diagonal[place] = true;
    }
    let count = is_diagonal.into_iter().filter(|&is_diagonal| is_diagonal).count();
    Ok(memory::ask_for::<T>(count.saturating_mul(length))?)
}

fn check_entries<T: Scalar>(rows: usize, columns: usize, entries: &[T]) -> Result<()> {
    if entries.is_empty() || rows.checked_mul(columns) != Some(entries.len()) {
        let needed = format!("{rows} times {columns}, and at least 1");
        return Err(Error::Length { what: "entries of a matrix", found: entries.len(), needed });
    }
    T::check(entries)
}

/// The entries that are not zero, with their row and column.
fn nonzero<T: Scalar>(columns: usize, entries: &[T]) -> impl Iterator<Item = (usize, usize, T)> {
    let places = entries.iter().enumerate().map(move |(index, &entry)| (index / columns, index % columns, entry));
    places.filter(|(_, _, entry)| *entry != T::ZERO)
}

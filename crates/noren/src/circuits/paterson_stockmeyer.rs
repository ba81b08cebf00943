//! The evaluation tree of a polynomial: which powers, which products, in which order.
//!
//! A polynomial of degree at least `g` is `q B_g + r` with `deg r < g`; dividing on until the pieces are short leaves
//! a tree whose leaves are weighted sums of a few powers `B_1 ... B_m`. Here `g` is always the largest power of two
//! not above the degree, and each piece has a budget of levels: a product hands `q` one level less than the piece
//! itself has. That makes `ceil(log2(d + 1))` levels enough for every degree `d`: the leading pieces are split down
//! to degree 1, the others stay whole while they are short.
//!
//! All products of one piece, `q_1 B_{g_1} + q_2 B_{g_2} + ...`, are added before they are relinearised, so a dense
//! polynomial needs fewer relinearisations (the costly half of a product) than products:
//!
//! | degree `d` | 3 | 7 | 15 | 31 | 63 | 127 |
//! |---|---|---|---|---|---|---|
//! | dense: products, relinearisations | 2, 2 | 5, 4 | 8, 7 | 13, 10 | 18, 15 | 27, 20 |
//! | odd | 2, 2 | 5, 4 | 8, 7 | 13, 10 | 17, 14 | 26, 19 |
//! | even, degree `d - 1` | 1, 1 | 3, 3 | 6, 5 | 9, 8 | 14, 11 | 19, 16 |

use std::collections::{BTreeMap, BTreeSet};

use noren_rlwe::error::Result;

use crate::circuits::basis::Basis;
use crate::circuits::tape::{Tape, Value};
use crate::schemes::slots::{Scalar, SlotEvaluator};

/// How many ciphertext operations an evaluation takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Products of two ciphertexts.
    pub products: usize,
    /// Relinearisations: products that are added up share one.
    pub relinearizations: usize,
}

/// A polynomial as sums of products of shorter polynomials and powers.
pub(super) struct EvaluationTree<T> {
    basis: Basis,
    degree: usize,
    /// The `k > 1` whose `B_k` are needed, in ascending order: each is made from those before it.
    powers: BTreeSet<usize>,
    root: Piece<T>,
}

/// `sum_i q_i B_{g_i} + sum_k c_k B_k + c_0`.
struct Piece<T> {
    products: Vec<(Piece<T>, usize)>,
    terms: Vec<(usize, T)>,
    constant: T,
}

/// The cost of a relinearisation, in products of two ciphertexts without it.
const RELINEARIZATION_WEIGHT: usize = 4;

impl<T: Scalar> EvaluationTree<T> {
    /// The cheapest tree of minimal depth for these coefficients, lowest first, over all lengths `2^b` of leaves.
    pub fn new(basis: Basis, coefficients: &[T]) -> Self {
        let longest = depth_of(coefficients.len()).max(1);
        let mut best = Self::with_leaves(basis, coefficients, 1);
        for bits in 2..=longest {
            let tree = Self::with_leaves(basis, coefficients, bits);
            if tree.cost().weight() < best.cost().weight() {
                best = tree;
            }
        }
        best
    }

    /// The tree whose leaves have degrees below `2^bits`.
    fn with_leaves(basis: Basis, coefficients: &[T], bits: usize) -> Self {
        let root = Piece::new(basis, coefficients.to_vec(), depth_of(coefficients.len()), 1 << bits);
        let mut powers = BTreeSet::new();
        root.collect(&mut powers);
        complete(&mut powers, basis);
        Self { basis, degree: coefficients.len() - 1, powers, root }
    }

    /// The operations that [`run`](Self::run) does.
    pub fn cost(&self) -> Cost {
        let (products, sums) = self.root.count();
        Cost { products: self.powers.len() + products, relinearizations: self.powers.len() + sums }
    }

    /// Evaluates at `x`, on a tape: its powers share all their errors, and the tape knows how these add up.
    pub fn run<E: SlotEvaluator<Scalar = T>>(&self, ev: &E, x: E::Ciphertext) -> Result<E::Ciphertext> {
        let (tape, x) = Tape::new(ev, x, self.degree);
        let mut powers = Powers { made: BTreeMap::from([((1, tape.level(&x)), x)]), tape };
        for &k in &self.powers {
            powers.make(self.basis, k)?;
        }
        let result = self.root.run(&mut powers)?;
        Ok(powers.tape.finish(result))
    }
}

impl Cost {
    const fn weight(&self) -> usize {
        self.products + RELINEARIZATION_WEIGHT * self.relinearizations
    }
}

impl<T: Scalar> Piece<T> {
    /// Splits a polynomial until its parts fit into `budget` levels and leaves of degree below `short`.
    fn new(basis: Basis, mut coefficients: Vec<T>, budget: usize, short: usize) -> Self {
        let mut piece = Self { products: Vec::new(), terms: Vec::new(), constant: T::ZERO };
        loop {
            let degree = coefficients.iter().rposition(|&c| c != T::ZERO).unwrap_or(0);
            coefficients.truncate(degree + 1);
            let fits = |k: usize| coefficients[k] == T::ZERO || depth_of(k) < budget;
            if degree < short && (1..=degree).all(fits) {
                break;
            }
            let g = 1 << degree.ilog2();
            let (quotient, remainder) = divide(basis, &coefficients, g);
            if let [constant] = quotient[..] {
                piece.terms.push((g, constant));
            } else {
                piece.products.push((Self::new(basis, quotient, budget - 1, short), g));
            }
            coefficients = remainder;
        }
        piece.constant = coefficients[0];
        piece.terms.extend(coefficients.into_iter().enumerate().skip(1).filter(|(_, c)| *c != T::ZERO));
        piece
    }

    /// Notes the powers that the piece uses.
    fn collect(&self, powers: &mut BTreeSet<usize>) {
        powers.extend(self.terms.iter().map(|(k, _)| *k).filter(|&k| k > 1));
        for (quotient, g) in &self.products {
            powers.insert(*g);
            quotient.collect(powers);
        }
    }

    /// Products, and sums of products.
    fn count(&self) -> (usize, usize) {
        let own = (self.products.len(), usize::from(!self.products.is_empty()));
        self.products.iter().map(|(quotient, _)| quotient.count()).fold(own, |a, b| (a.0 + b.0, a.1 + b.1))
    }

    fn run<E: SlotEvaluator<Scalar = T>>(&self, powers: &mut Powers<'_, E>) -> Result<Value<E>> {
        let products = self.sum_products(powers)?;
        let terms = self.sum_terms(powers)?;
        match (products, terms) {
            (Some(products), Some(terms)) => powers.tape.add(&products, &terms),
            (Some(products), None) => powers.tape.add_scalar(&products, self.constant),
            (None, Some(terms)) => Ok(terms),
            (None, None) => {
                let x = highest(&powers.made, 1);
                let zero = powers.tape.sub(x, x)?;
                powers.tape.add_scalar(&zero, self.constant)
            }
        }
    }

    /// `sum q_i B_{g_i}`, relinearised once.
    fn sum_products<E: SlotEvaluator<Scalar = T>>(&self, powers: &mut Powers<'_, E>) -> Result<Option<Value<E>>> {
        if self.products.is_empty() {
            return Ok(None);
        }
        let quotients = self.products.iter().map(|(quotient, _)| quotient.run(powers)).collect::<Result<Vec<_>>>()?;
        let level = quotients
            .iter()
            .chain(self.products.iter().map(|(_, g)| highest(&powers.made, *g)))
            .map(|factor| powers.tape.level(factor))
            .fold(usize::MAX, usize::min);
        let quotients = quotients.iter().map(|q| powers.tape.at_level(q, level)).collect::<Result<Vec<_>>>()?;
        for (_, g) in &self.products {
            powers.lower(*g, level)?;
        }
        let pairs: Vec<_> =
            quotients.iter().zip(&self.products).map(|(q, (_, g))| (q, &powers.made[&(*g, level)])).collect();
        powers.tape.dot(&pairs).map(Some)
    }

    /// `sum c_k B_k + c_0`, unless there is no `B_k`.
    fn sum_terms<E: SlotEvaluator<Scalar = T>>(&self, powers: &mut Powers<'_, E>) -> Result<Option<Value<E>>> {
        if self.terms.is_empty() {
            return Ok(None);
        }
        let terms: Vec<_> = self.terms.iter().map(|&(k, c)| (highest(&powers.made, k), c)).collect();
        powers.tape.weighted_sum(&terms, self.constant).map(Some)
    }
}

/// The powers of one evaluation.
struct Powers<'a, E: SlotEvaluator> {
    tape: Tape<'a, E>,
    made: Made<E>,
}

/// The `B_k` made so far, by `k` and level: lower copies are kept, since each is used by many products.
type Made<E> = BTreeMap<(usize, usize), Value<E>>;

/// `B_k` at the level at which it was made.
fn highest<E: SlotEvaluator>(made: &Made<E>, k: usize) -> &Value<E> {
    let (_, power) = made.range((k, 0)..=(k, usize::MAX)).next_back().expect("powers are made in order");
    power
}

impl<E: SlotEvaluator> Powers<'_, E> {
    /// Makes `B_k` available at this level.
    fn lower(&mut self, k: usize, level: usize) -> Result<()> {
        if !self.made.contains_key(&(k, level)) {
            let lower = self.tape.at_level(highest(&self.made, k), level)?;
            self.made.insert((k, level), lower);
        }
        Ok(())
    }

    /// Makes `B_k` from smaller ones: `x^{i+j} = x^i x^j`, `T_{i+j} = 2 T_i T_j - T_{|i-j|}`.
    fn make(&mut self, basis: Basis, k: usize) -> Result<()> {
        let (i, j) = halves(k, |half| self.made.range((half, 0)..=(half, usize::MAX)).next().is_some());
        let level = self.tape.level(highest(&self.made, i)).min(self.tape.level(highest(&self.made, j)));
        self.lower(i, level)?;
        self.lower(j, level)?;
        let tape = &mut self.tape;
        let product = if i == j {
            tape.square(&self.made[&(i, level)])?
        } else {
            tape.mul(&self.made[&(i, level)], &self.made[&(j, level)])?
        };
        let power = match basis {
            Basis::Power => product,
            Basis::Chebyshev => {
                let twice = tape.add(&product, &product)?;
                match i - j {
                    0 => tape.add_scalar(&twice, E::Scalar::ZERO.minus(E::Scalar::ONE))?,
                    distance => tape.sub(&twice, highest(&self.made, distance))?,
                }
            }
        };
        self.made.insert((k, self.tape.level(&power)), power);
        Ok(())
    }
}

/// `ceil(log2 k)`: the levels that `B_k` costs.
const fn depth_of(k: usize) -> usize {
    k.next_power_of_two().ilog2() as usize
}

/// `i >= j` with `i + j = k`, both of depth below that of `k`: equal halves if that half is made anyway (a square is
/// cheaper), else the largest power of two below `k` and the rest, which keeps odd `k` among odd ones.
fn halves(k: usize, made: impl Fn(usize) -> bool) -> (usize, usize) {
    let i = k.next_power_of_two() / 2;
    if k.is_multiple_of(2) && (i == k / 2 || made(k / 2)) { (k / 2, k / 2) } else { (i, k - i) }
}

/// Adds the powers from which the given ones are made.
fn complete(powers: &mut BTreeSet<usize>, basis: Basis) {
    let mut todo = powers.clone();
    while let Some(k) = todo.pop_last() {
        let (i, j) = halves(k, |half| powers.contains(&half));
        let distance = if basis == Basis::Chebyshev { i - j } else { 0 };
        for needed in [i, j, distance] {
            if needed > 1 && powers.insert(needed) {
                todo.insert(needed);
            }
        }
    }
}

/// `(q, r)` with `p = q B_g + r` and `deg r < g`, for `g <= deg p < 2 g`.
fn divide<T: Scalar>(basis: Basis, p: &[T], g: usize) -> (Vec<T>, Vec<T>) {
    let (low, high) = p.split_at(g);
    let (mut quotient, mut remainder) = (high.to_vec(), low.to_vec());
    if basis == Basis::Chebyshev {
        // T_{g+k} = 2 T_g T_k - T_{g-k}
        for (k, &c) in high.iter().enumerate().skip(1) {
            quotient[k] = c.minus(T::ZERO.minus(c));
            remainder[g - k] = remainder[g - k].minus(c);
        }
    }
    (quotient, remainder)
}

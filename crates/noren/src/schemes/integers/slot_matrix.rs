//! Matrices that multiply encrypted slots of a ring whose index is not a power of two.

use std::collections::{BTreeMap, BTreeSet};

use noren_math::hypercube::Dimension;
use noren_math::machine::aligned::AlignedVec;
use noren_rlwe::error::{Error, Result};

use crate::schemes::integers::context::Context;
use crate::schemes::integers::encoder::Encoder;
use crate::schemes::integers::grid::SlotGrid;
use crate::schemes::integers::parameters::Parameters;
use crate::schemes::integers::plaintext::Plaintext;

/// The cost of a giant step, in baby steps: a decomposition beside the inner product with the key.
const GIANT_COST: usize = 4;

/// The entries of a [`SlotMatrix`], row after row.
#[derive(Debug, Clone, Copy)]
pub enum Entries<'a> {
    /// Numbers modulo `p^r`, from `-t/2` to `t - 1`. Shape: `[rows, columns]`.
    Numbers(&'a [i64]),
    /// Elements of `GR(p^r, d)`, as coefficients of powers of Y. Shape: `[rows, columns, d]`.
    Elements(&'a [i64]),
    /// Linear maps of the coefficients of an element: entry `(i, j)` of a map is what coefficient j of the operand adds to
    /// coefficient i of the result. Shape: `[rows, columns, d, d]`.
    Maps(&'a [i64]),
}

/// A matrix as factors of a sum over automorphisms, encoded and transformed.
///
/// With `c_k` the plaintext whose slot j holds the entry of row j and of the column whose slot the automorphism `X -> X^k`
/// brings to slot j, `A x = sum_k c_k psi_k(x)`. Along a native dimension of size D there are D such k, along another one
/// `2D - 1`. A linear map L inside a slot is `sum_f c_f sigma^f` with powers of the Frobenius automorphism sigma, `c_f =
/// sum_i L(Y^i) sigma^f(y_i)` for the basis y dual to the powers of Y under the trace, which makes d times as many. The sum is taken by baby steps a and giant steps b with `k = a b`: `sum_b psi_b(sum_a psi_b^(-1)(c_ab)
/// psi_a(x))`, in which the digits of x are made once and nothing is divided by the special modulus before its time.
///
/// It takes `8 (l + k) n` bytes for each of the nonzero `c_k`, with l limbs and k special primes.
///
/// Source: Halevi and Shoup, "Faster homomorphic linear transformations in HElib", eprint 2018/244; the double hoisting of
/// Bossuat, Mouchet, Troncoso-Pastoriza and Hubaux, eprint 2020/1203.
#[derive(Clone)]
pub struct SlotMatrix {
    pub(crate) parameters: Parameters,
    pub(crate) shape: [usize; 2],
    /// The most limbs of ciphertexts that it multiplies.
    pub(crate) limbs: usize,
    /// The exponents of baby steps.
    pub(crate) babies: Vec<u32>,
    pub(crate) giants: Vec<Giant>,
}

/// A giant step: its exponent, and the positions of baby steps with their factors.
#[derive(Clone)]
pub(crate) struct Giant {
    pub(crate) exponent: u32,
    pub(crate) terms: Vec<(usize, Plaintext)>,
}

impl SlotMatrix {
    /// Encodes a matrix for ciphertexts of at most `limbs` limbs.
    ///
    /// # Errors
    /// [`Error::Length`] for more rows or columns than slots, none, or a number of entries that is not that of the shape;
    /// [`IntegerError::NotAResidue`](crate::schemes::integers::IntegerError::NotAResidue) for an entry outside `-t/2` to `t -
    /// 1`; [`Error::Parameters`] in a ring whose index is a power of two, or without slots.
    pub fn new(context: &Context, [rows, columns]: [usize; 2], entries: Entries, limbs: usize) -> Result<Self> {
        let grid = context.grid()?;
        let entries = Residues::new(context, [rows, columns], entries)?;
        let plan = Plan::new(grid, entries.powers());
        let engine = context.rlwe().ring().engine();
        let encoder = Encoder::new(context);
        let encode = |(giant, baby): (usize, usize)| {
            let values = plan.values(&entries, giant, baby);
            let Some(values) = values else { return Ok(None) };
            let plaintext = match entries.kind {
                Kind::Numbers => encoder.encode_all_numbers(&values)?,
                _ => encoder.encode_residues(&values)?,
            };
            Ok(Some((baby, plaintext)))
        };
        let mut giants = Vec::new();
        for (giant, step) in plan.giants.iter().enumerate() {
            let babies = (0..plan.babies.len()).map(|baby| (giant, baby)).collect();
            let encoded = engine.map(babies, encode).into_iter().collect::<Result<Vec<_>>>()?;
            let terms = encoder.prepare_factors(encoded.into_iter().flatten().collect(), limbs)?;
            if !terms.is_empty() {
                giants.push(Giant { exponent: step.exponent, terms });
            }
        }
        let babies = plan.babies.iter().map(|step| step.exponent).collect();
        let parameters = context.parameters().clone();
        let mut matrix = Self { parameters, shape: [rows, columns], limbs, babies, giants };
        matrix.drop_unused();
        Ok(matrix)
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The number of rows and of columns.
    #[must_use]
    pub fn shape(&self) -> [usize; 2] {
        self.shape
    }

    /// The most limbs of the ciphertexts that it multiplies.
    #[must_use]
    pub fn limbs(&self) -> usize {
        self.limbs
    }

    /// The exponents of the automorphisms whose keys a product needs, each once.
    #[must_use]
    pub fn automorphisms(&self) -> Vec<u32> {
        let giants = self.giants.iter().map(|giant| giant.exponent);
        let all: BTreeSet<u32> = self.babies.iter().copied().chain(giants).collect();
        all.into_iter().filter(|&k| k != 1).collect()
    }

    /// The exponents of the automorphisms whose keys every matrix of numbers or of elements needs, and every matrix of linear
    /// maps too if `maps` says so: those of a given matrix are some of them.
    ///
    /// # Errors
    /// [`Error::Parameters`] in a ring whose index is a power of two, or without slots.
    pub fn automorphisms_of_all(context: &Context, maps: bool) -> Result<Vec<u32>> {
        let grid = context.grid()?;
        let plan = Plan::new(grid, if maps { grid.degree() } else { 1 });
        let all: BTreeSet<u32> = plan.babies.iter().chain(&plan.giants).map(|step| step.exponent).collect();
        Ok(all.into_iter().filter(|&k| k != 1).collect())
    }

    /// How many factors are encoded.
    #[must_use]
    pub fn factors(&self) -> usize {
        self.giants.iter().map(|giant| giant.terms.len()).sum()
    }

    /// The most factors of a matrix in a ring: as many as there are products of steps.
    pub(crate) fn most_factors(context: &Context) -> Result<usize> {
        let grid = context.grid()?;
        let plan = Plan::new(grid, grid.degree());
        Ok(plan.babies.len() * plan.giants.len())
    }

    /// Leaves out baby steps that no giant step takes.
    fn drop_unused(&mut self) {
        let mut used: BTreeMap<usize, usize> =
            self.giants.iter().flat_map(|giant| giant.terms.iter().map(|&(baby, _)| (baby, 0))).collect();
        used.values_mut().enumerate().for_each(|(position, new)| *new = position);
        self.babies = used.keys().map(|&baby| self.babies[baby]).collect();
        for (baby, _) in self.giants.iter_mut().flat_map(|giant| &mut giant.terms) {
            *baby = used[baby];
        }
    }
}

/// The entries of a matrix as residues.
struct Residues<'a> {
    grid: &'a SlotGrid,
    shape: [usize; 2],
    /// On large pages, as diagonals jump from row to row.
    values: AlignedVec<u64>,
    kind: Kind,
}

enum Kind {
    Numbers,
    Elements,
    /// The basis dual to the powers of Y, and for each f its image under `sigma^f`. Shape: `[f, basis, coefficient]`.
    Maps(Vec<Vec<Vec<u64>>>),
}

impl<'a> Residues<'a> {
    fn new(context: &'a Context, [rows, columns]: [usize; 2], entries: Entries) -> Result<Self> {
        let grid = context.grid()?;
        let (slots, d) = (grid.slots(), grid.degree());
        for (what, found) in [("rows of a matrix", rows), ("columns of a matrix", columns)] {
            if !(1..=slots).contains(&found) {
                return Err(Error::Length { what, found, needed: format!("1 to {slots}, the number of slots") });
            }
        }
        let (values, words) = match entries {
            Entries::Numbers(values) => (values, 1),
            Entries::Elements(values) => (values, d),
            Entries::Maps(values) => (values, d * d),
        };
        if values.len() != rows * columns * words {
            let needed = format!("{rows} times {columns} times {words}");
            return Err(Error::Length { what: "entries of a matrix", found: values.len(), needed });
        }
        let modulus = context.parameters().modulus();
        let mut residues = AlignedVec::zeroed(values.len());
        for (i, (out, &value)) in residues.iter_mut().zip(values).enumerate() {
            *out = modulus.residue(i, value)?;
        }
        let kind = match entries {
            Entries::Numbers(_) => Kind::Numbers,
            Entries::Elements(_) => Kind::Elements,
            Entries::Maps(_) => {
                let ring = grid.transform().values();
                let dual = ring.dual_basis();
                let conjugates = |f| dual.iter().map(|y| ring.conjugate(y, f)).collect();
                Kind::Maps((0..d).map(conjugates).collect())
            }
        };
        Ok(Self { grid, shape: [rows, columns], values: residues, kind })
    }

    /// How many powers of the Frobenius automorphism it takes.
    fn powers(&self) -> usize {
        match &self.kind {
            Kind::Maps(conjugates) => conjugates.len(),
            _ => 1,
        }
    }

    /// How many residues the value of a slot of a factor is: that of a matrix of numbers is a number.
    fn width(&self) -> usize {
        if matches!(self.kind, Kind::Numbers) { 1 } else { self.grid.degree() }
    }

    /// Writes the factor of `sigma^f` of an entry, moved by a power of the Frobenius automorphism; nothing outside the matrix.
    fn write(&self, row: usize, column: usize, f: usize, conjugation: usize, out: &mut [u64]) {
        let [rows, columns] = self.shape;
        if row >= rows || column >= columns {
            return;
        }
        let (entry, d) = (row * columns + column, self.grid.degree());
        let ring = self.grid.transform().values();
        match &self.kind {
            Kind::Numbers => out[0] = self.values[entry],
            Kind::Elements => out.copy_from_slice(&self.values[entry * d..][..d]),
            Kind::Maps(conjugates) => {
                let map = &self.values[entry * d * d..][..d * d];
                for (i, y) in conjugates[f].iter().enumerate() {
                    let column: Vec<u64> = (0..d).map(|j| map[j * d + i]).collect();
                    let product = ring.mul(&column, y);
                    out.iter_mut().zip(product).for_each(|(sum, x)| *sum = ring.numbers().add(*sum, x));
                }
            }
        }
        if conjugation != 0 && out.len() > 1 {
            out.copy_from_slice(&ring.conjugate(out, conjugation));
        }
    }
}

/// Which automorphisms are baby steps, and which giant steps.
struct Plan {
    babies: Vec<Automorphism>,
    giants: Vec<Automorphism>,
}

/// An automorphism: how far it moves slots along each dimension, and after these its power of the Frobenius automorphism.
struct Automorphism {
    offsets: Vec<isize>,
    exponent: u32,
}

impl Plan {
    /// Steps whose products are all that a matrix needs, with `powers` powers of the Frobenius automorphism, at the least
    /// cost.
    fn new(grid: &SlotGrid, powers: usize) -> Self {
        let dimensions = grid.hypercube().dimensions();
        let axes: Vec<Vec<isize>> =
            dimensions.iter().map(offsets).chain([(0..powers.cast_signed()).collect()]).collect();
        // One axis is cut in two, a native one if there is one; each other one goes to the baby or to the giant steps.
        let is_native = |i: usize| dimensions.get(i).is_none_or(|dimension| dimension.is_native);
        let cut = (0..axes.len()).max_by_key(|&i| (is_native(i), axes[i].len())).unwrap_or(0);
        let along = |size: isize| -> [Vec<isize>; 2] {
            let starts: BTreeSet<isize> = axes[cut].iter().map(|offset| offset.div_euclid(size) * size).collect();
            [(0..size).collect(), starts.into_iter().collect()]
        };
        let axes = &axes;
        let goes = |choice: usize, giant: bool| {
            let others = (0..axes.len()).filter(move |&i| i != cut && axes[i].len() > 1);
            others.filter(move |&i| (choice >> i & 1 == 1) == giant)
        };
        let cost = |&(choice, size): &(usize, isize)| {
            let count = |giant: bool, along: &[isize]| {
                goes(choice, giant).map(|i| axes[i].len()).product::<usize>() * along.len()
            };
            let [babies, giants] = along(size);
            count(false, &babies) + GIANT_COST * count(true, &giants)
        };
        let sizes = 1..=axes[cut].len().cast_signed();
        let choices = (0..1usize << axes.len()).flat_map(|choice| sizes.clone().map(move |size| (choice, size)));
        let (choice, size) = choices.min_by_key(cost).expect("there is a choice");
        let steps = |giant: bool, along: &[isize]| {
            let all = goes(choice, giant).fold(vec![vec![0; axes.len()]], |steps, i| product(&steps, i, &axes[i]));
            let step = |offsets: Vec<isize>| Automorphism { exponent: grid.offset(&offsets), offsets };
            product(&all, cut, along).into_iter().map(step).collect()
        };
        let [babies, giants] = along(size);
        Self { babies: steps(false, &babies), giants: steps(true, &giants) }
    }

    /// The values of the factor of a giant step and a baby step, moved back by the giant step; nothing if all are 0. Shape:
    /// `[slots, width]`.
    fn values(&self, entries: &Residues, giant: usize, baby: usize) -> Option<Vec<u64>> {
        let (giant, baby, grid) = (&self.giants[giant], &self.babies[baby], entries.grid);
        let offsets: Vec<isize> = giant.offsets.iter().zip(&baby.offsets).map(|(x, y)| x + y).collect();
        let (&power, offsets) = offsets.split_last()?;
        let dimensions = grid.hypercube().dimensions();
        // A cut axis may end in the middle of a step.
        let whole = |(dimension, &offset): (&Dimension, &isize)| offset < dimension.size.cast_signed();
        if !dimensions.iter().zip(offsets).all(whole) || power >= entries.powers().cast_signed() {
            return None;
        }
        let back = grid.inverse(giant.exponent);
        let mut values = vec![0; grid.slots() * entries.width()];
        for (slot, out) in values.chunks_exact_mut(entries.width()).enumerate() {
            let (row, conjugation) = grid.source(slot, back);
            let place = grid.hypercube().coordinates(row).into_iter().zip(offsets).zip(dimensions);
            let place = place.map(|((e, offset), dimension)| {
                let (sum, size) = (e.cast_signed() + offset, dimension.size.cast_signed());
                let place = if dimension.is_native { sum.rem_euclid(size) } else { sum };
                (0..size).contains(&place).then_some(place.cast_unsigned())
            });
            let Some(place) = place.collect::<Option<Vec<usize>>>() else { continue };
            entries.write(row, grid.slot(&place), power.cast_unsigned(), conjugation, out);
        }
        values.iter().any(|&x| x != 0).then_some(values)
    }
}

/// How far slots move along a dimension: by all steps of a native one, and both ways along another.
fn offsets(dimension: &Dimension) -> Vec<isize> {
    let size = dimension.size.cast_signed();
    if dimension.is_native { (0..size).collect() } else { (1 - size..size).collect() }
}

/// All steps with all offsets along an axis.
fn product(steps: &[Vec<isize>], axis: usize, offsets: &[isize]) -> Vec<Vec<isize>> {
    let moved = |step: &Vec<isize>, offset: isize| {
        let mut step = step.clone();
        step[axis] = offset;
        step
    };
    steps.iter().flat_map(|step| offsets.iter().map(move |&offset| moved(step, offset))).collect()
}

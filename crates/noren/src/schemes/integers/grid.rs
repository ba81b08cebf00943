//! Slots of a ring whose index is not a power of two: where they stand, and which automorphisms move them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use noren_math::hypercube::{Dimension, Hypercube};
use noren_math::slots::SlotTransform;
use noren_rlwe::error::{Error, Result};

/// Sets of keys for rotations along the dimensions of slots and for powers of the Frobenius automorphism; see
/// [`Context::automorphisms_of_rotations`](crate::schemes::integers::Context::automorphisms_of_rotations).
///
/// Source: Halevi and Shoup, "Faster homomorphic linear transformations in HElib", eprint 2018/244, section 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RotationKeys {
    /// A key for each rotation along one dimension: D - 1, or 2D - 2 along a dimension that is not native. One key switch.
    Full,
    /// Baby steps and giant steps: about `2 sqrt(D)` keys. Two key switches; three along a dimension that is not native.
    BabyGiant,
    /// The generator of each dimension, and its power -D along one that is not native. Up to D key switches.
    Minimal,
}

/// The slots modulo `p^r` as a grid: slot j holds `m(eta^(t_j))`, and `X -> X^k` brings the value at `eta^(k t_j)` there.
pub(crate) struct SlotGrid {
    cube: Hypercube,
    power: u32,
    /// Made when values are first encoded: factoring `Phi_m` takes long in large rings, and only encoders need it.
    transform: OnceLock<SlotTransform>,
    /// The units `t_j` modulo m.
    representatives: Vec<u32>,
    /// For each unit modulo m the slot j and the power i with which it is `t_j p^i`.
    places: Vec<(u32, u32)>,
}

/// An automorphism, and the slots of the result that it fills.
pub(crate) struct Move {
    /// k of `X -> X^k`.
    pub(crate) exponent: u32,
    pub(crate) slots: Vec<usize>,
}

impl SlotGrid {
    /// The slots modulo `p^power`.
    pub(crate) fn new(cube: &Hypercube, power: u32) -> Self {
        let (representatives, m) = (cube.representatives(), u64::from(cube.ring().index()));
        let mut places = vec![(u32::MAX, 0); m as usize];
        for (&t, slot) in representatives.iter().zip(0..) {
            let mut unit = u64::from(t);
            for power in 0..cube.degree() as u32 {
                places[unit as usize] = (slot, power);
                unit = unit * (cube.p() % m) % m;
            }
        }
        Self { cube: cube.clone(), power, transform: OnceLock::new(), representatives, places }
    }

    /// Values to polynomials, and back.
    pub(crate) fn transform(&self) -> &SlotTransform {
        self.transform
            .get_or_init(|| SlotTransform::new(&self.cube, self.power).expect("a plaintext modulus below 2^60"))
    }

    /// How many slots there are, and their dimensions.
    pub(crate) fn hypercube(&self) -> &Hypercube {
        &self.cube
    }

    /// How many slots there are.
    pub(crate) fn slots(&self) -> usize {
        self.representatives.len()
    }

    /// The degree d of the extension.
    pub(crate) fn degree(&self) -> usize {
        self.cube.degree()
    }

    /// The exponent of the automorphism that brings the value of slot `from` to slot `to`.
    pub(crate) fn exponent(&self, from: usize, to: usize) -> u32 {
        self.product(self.representatives[from], self.inverse(self.representatives[to]))
    }

    /// `a b mod m`.
    pub(crate) fn product(&self, a: u32, b: u32) -> u32 {
        (u64::from(a) * u64::from(b) % u64::from(self.hypercube().ring().index())) as u32
    }

    /// `1/k mod m` for a unit k.
    pub(crate) fn inverse(&self, k: u32) -> u32 {
        self.hypercube().ring().inverse(k).expect("a unit modulo m")
    }

    /// `p^i mod m`: the exponent of the Frobenius automorphism to the power i in each slot.
    pub(crate) fn frobenius(&self, i: usize) -> u32 {
        let p = (self.hypercube().p() % u64::from(self.hypercube().ring().index())) as u32;
        (0..i % self.degree()).fold(1, |power, _| self.product(power, p))
    }

    /// The slot whose value `X -> X^k` brings to `slot`, and the power of the Frobenius automorphism that it takes on the way.
    pub(crate) fn source(&self, slot: usize, k: u32) -> (usize, usize) {
        let (source, power) = self.places[self.product(self.representatives[slot], k) as usize];
        (source as usize, power as usize)
    }

    /// The slot with these coordinates.
    pub(crate) fn slot(&self, coordinates: &[usize]) -> usize {
        let dimensions = self.hypercube().dimensions().iter();
        coordinates.iter().zip(dimensions).fold(0, |slot, (&e, dimension)| slot * dimension.size + e)
    }

    /// The automorphisms that rotate slots along all dimensions: slot `(e_1, e_2, ..)` of the result is slot `(e_1 + s_1,
    /// e_2 + s_2, ..)`, each coordinate modulo the size of its dimension.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is a number of steps for each dimension.
    pub(crate) fn rotation(&self, steps: &[isize]) -> Result<Vec<Move>> {
        let dimensions = self.hypercube().dimensions();
        if steps.len() != dimensions.len() {
            let needed = format!("{}, one for each dimension of the slots", dimensions.len());
            return Err(Error::Length { what: "steps of a rotation", found: steps.len(), needed });
        }
        let mut moves = BTreeMap::<u32, Vec<usize>>::new();
        for to in 0..self.slots() {
            let shifted = self.hypercube().coordinates(to).into_iter().zip(steps).zip(dimensions);
            let shifted = shifted.map(|((e, &steps), dimension): (_, &Dimension)| {
                let size = dimension.size.cast_signed();
                (e.cast_signed() + steps % size).rem_euclid(size).cast_unsigned()
            });
            let from = self.slot(&shifted.collect::<Vec<_>>());
            moves.entry(self.exponent(from, to)).or_default().push(to);
        }
        Ok(moves.into_iter().map(|(exponent, slots)| Move { exponent, slots }).collect())
    }

    /// The exponents of the automorphisms of a set of keys for rotations, in ascending order.
    pub(crate) fn rotations_of(&self, set: RotationKeys) -> Vec<u32> {
        let dimensions = self.hypercube().dimensions();
        let sizes = dimensions.iter().map(|dimension| (dimension.size, dimension.is_native));
        let mut exponents = BTreeSet::new();
        for (axis, (size, is_native)) in sizes.chain([(self.degree(), true)]).enumerate() {
            let baby = if set == RotationKeys::BabyGiant { (size - 1).isqrt() + 1 } else { 1 };
            let most = if set == RotationKeys::Minimal { 2 } else { size };
            let steps = (1..baby.max(2)).chain((baby..size).step_by(baby)).filter(|&step| step < most.min(size));
            let forward = steps.map(usize::cast_signed);
            let back: Vec<isize> = match (is_native, set) {
                (true, _) => Vec::new(),
                (false, RotationKeys::Full) => (1..size.cast_signed()).map(|step| -step).collect(),
                (false, _) => vec![-size.cast_signed()],
            };
            for step in forward.chain(back) {
                let mut offsets = vec![0; dimensions.len() + 1];
                offsets[axis] = step;
                exponents.insert(self.offset(&offsets));
            }
        }
        exponents.into_iter().filter(|&k| k != 1).collect()
    }

    /// The exponent of the automorphism that moves slots by these offsets along the dimensions, either way, and to the last of
    /// them as power of the Frobenius automorphism.
    pub(crate) fn offset(&self, offsets: &[isize]) -> u32 {
        let generators = self.hypercube().dimensions().iter().map(|dimension| dimension.generator);
        let generators = generators.chain([self.frobenius(1)]);
        generators.zip(offsets).fold(1, |exponent, (generator, &offset)| {
            let generator = if offset < 0 { self.inverse(generator) } else { generator };
            (0..offset.unsigned_abs()).fold(exponent, |exponent, _| self.product(exponent, generator))
        })
    }
}

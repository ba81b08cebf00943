//! Slots of plaintexts modulo a prime p in the ring of index m: the units modulo m without the powers of p, as a grid.

use crate::cyclotomic::Cyclotomic;
use crate::error::Error;
use crate::prime::{is_prime, prime_factors};

/// The structure of the slots of `Z[X]/(Phi_m, p^r)` for a prime p that does not divide m.
///
/// `Phi_m` is a product of polynomials of degree d modulo p, with d the order of p modulo m, so that there are `l =
/// phi(m)/d` slots, each a Galois ring `GR(p^r, d)`. They stand for the classes of units modulo m by powers of p, which
/// are written as a grid: generators `g_1, g_2, ..` of orders `n_1, n_2, ..` with `n_1 n_2 .. = l`, such that each
/// class has one element `g_1^(e_1) g_2^(e_2) ..` with `0 <= e_i < n_i`. The automorphism `X -> X^(g_i)` rotates slots
/// along dimension i. Where `g_i^(n_i)` is 1 modulo m the dimension is native (HElib calls it good), and one
/// automorphism is a whole rotation; else it is 1 up to powers of p and generators before it, and a rotation takes two
/// automorphisms and a mask.
///
/// Generators are chosen one after the other: of the largest order modulo p and those before; of those the native ones,
/// if there are any; of those the smallest.
///
/// Source: Halevi and Shoup, "Algorithms in HElib", eprint 2014/106.
///
/// ```
/// use noren_math::cyclotomic::Cyclotomic;
/// use noren_math::hypercube::Hypercube;
///
/// let slots = Hypercube::new(&Cyclotomic::new(2047)?, 2)?;
/// assert_eq!((slots.degree(), slots.slots()), (11, 176));
/// let [long, short] = slots.dimensions() else { panic!("two dimensions") };
/// assert_eq!((long.generator, long.size, long.is_native), (3, 88, true));
/// // 5 has the order 2 there too, but 5^2 is not 1 modulo 2047.
/// assert_eq!((short.generator, short.size, short.is_native), (1425, 2, true));
/// # Ok::<(), noren_math::error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hypercube {
    ring: Cyclotomic,
    p: u64,
    degree: usize,
    dimensions: Vec<Dimension>,
}

/// A dimension of a [`Hypercube`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimension {
    /// The unit g modulo m whose automorphism `X -> X^g` rotates along it.
    pub generator: u32,
    /// How many slots lie along it.
    pub size: usize,
    /// Whether `g^size` is 1 modulo m.
    pub is_native: bool,
}

impl Hypercube {
    /// The slots of the ring modulo powers of p.
    ///
    /// # Errors
    /// [`Error::Modulus`] if p is not a prime, or divides the index.
    pub fn new(ring: &Cyclotomic, p: u64) -> Result<Self, Error> {
        let m = u64::from(ring.index());
        let refuse = |reason| Err(Error::Modulus { found: p, reason });
        if !is_prime(p) {
            return refuse("slots are those modulo a prime");
        }
        if m.is_multiple_of(p) {
            return refuse("it divides the index of the ring, which then has no slots modulo it");
        }
        let mut group = Group::generated(ring, p % m);
        let degree = group.size;
        let units: Vec<u64> = (1..ring.index()).filter(|&k| ring.is_unit(k)).map(u64::from).collect();
        let mut dimensions = Vec::new();
        while group.size < ring.degree() {
            let factors = prime_factors((ring.degree() / group.size) as u64);
            let orders: Vec<usize> = units.iter().map(|&g| group.order(g, &factors)).collect();
            let size = orders.iter().copied().max().unwrap_or(1);
            let largest = || units.iter().zip(&orders).filter(|&(_, &order)| order == size).map(|(&g, _)| g);
            let is_native = |&g: &u64| group.power(g, size) == 1;
            let native = largest().find(is_native);
            let generator = native.or_else(|| largest().next()).expect("a group that is not whole lacks a unit");
            group.extend(generator, size);
            dimensions.push(Dimension { generator: generator as u32, size, is_native: native.is_some() });
        }
        Ok(Self { ring: *ring, p, degree, dimensions })
    }

    /// The ring.
    #[must_use]
    pub fn ring(&self) -> &Cyclotomic {
        &self.ring
    }

    /// The prime p.
    #[must_use]
    pub fn p(&self) -> u64 {
        self.p
    }

    /// The order d of p modulo m: the degree of the extension in each slot.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// How many slots there are: `phi(m) / d`.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.ring.degree() / self.degree
    }

    /// The dimensions, in the order in which they were chosen; none if there is one slot.
    #[must_use]
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    /// The coordinates `e_1, e_2, ..` of a slot; the last one grows first.
    ///
    /// # Panics
    /// If there is no such slot.
    #[must_use]
    pub fn coordinates(&self, slot: usize) -> Vec<usize> {
        assert!(slot < self.slots(), "slot {slot} of {} does not exist", self.slots());
        let mut rest = slot;
        let mut coordinates: Vec<usize> = self
            .dimensions
            .iter()
            .rev()
            .map(|dimension| {
                let coordinate = rest % dimension.size;
                rest /= dimension.size;
                coordinate
            })
            .collect();
        coordinates.reverse();
        coordinates
    }

    /// The unit `t = g_1^(e_1) g_2^(e_2) ..` of each slot, in their order: slot t holds `a(eta^t)` for a root eta of
    /// `Phi_m`.
    #[must_use]
    pub fn representatives(&self) -> Vec<u32> {
        let m = u64::from(self.ring.index());
        let mut units = vec![1];
        for dimension in &self.dimensions {
            let line = |&start: &u64| {
                std::iter::successors(Some(start), move |&t| Some(t * u64::from(dimension.generator) % m))
                    .take(dimension.size)
            };
            units = units.iter().flat_map(line).collect();
        }
        units.into_iter().map(|t| t as u32).collect()
    }
}

/// The order of a prime p modulo the index of a ring: the degree of the slots modulo powers of p. `None` if p divides the
/// index.
#[must_use]
pub fn order(ring: &Cyclotomic, p: u64) -> Option<usize> {
    let m = u64::from(ring.index());
    let one = |exponent: u64| {
        let (mut power, mut square, mut exponent) = (1, p % m, exponent);
        while exponent > 0 {
            if exponent % 2 == 1 {
                power = power * square % m;
            }
            square = square * square % m;
            exponent /= 2;
        }
        power == 1
    };
    let mut order = ring.degree() as u64;
    if !one(order) {
        return None;
    }
    for factor in prime_factors(order) {
        if one(order / factor) {
            order /= factor;
        }
    }
    Some(order as usize)
}

/// A subgroup of the units modulo m.
struct Group {
    m: u64,
    size: usize,
    contains: Vec<bool>,
}

impl Group {
    /// The powers of a unit.
    fn generated(ring: &Cyclotomic, unit: u64) -> Self {
        let mut group = Self { m: ring.index().into(), size: 1, contains: vec![false; ring.index() as usize] };
        group.contains[1] = true;
        let order = group.order(unit, &prime_factors(ring.degree() as u64));
        group.extend(unit, order);
        group
    }

    /// The least power of g that lies in the group; `factors` are those of a multiple of it, with multiplicity.
    fn order(&self, g: u64, factors: &[u64]) -> usize {
        let mut order = factors.iter().product::<u64>() as usize;
        for &factor in factors {
            if self.contains[self.power(g, order / factor as usize) as usize] {
                order /= factor as usize;
            }
        }
        order
    }

    /// Adds the products of all elements with powers of g, of that order modulo the group.
    fn extend(&mut self, g: u64, order: usize) {
        let elements: Vec<u64> = (1..self.m).filter(|&t| self.contains[t as usize]).collect();
        for mut t in elements {
            for _ in 1..order {
                t = t * g % self.m;
                self.contains[t as usize] = true;
            }
        }
        self.size *= order;
    }

    fn power(&self, g: u64, mut exponent: usize) -> u64 {
        let (mut power, mut square) = (1, g);
        while exponent > 0 {
            if exponent % 2 == 1 {
                power = power * square % self.m;
            }
            square = square * square % self.m;
            exponent /= 2;
        }
        power
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn hypercube(m: u32, p: u64) -> Hypercube {
        Hypercube::new(&Cyclotomic::new(m).expect("an index"), p).expect("a prime beside it")
    }

    /// The powers of p, as they are written.
    fn powers(m: u64, p: u64) -> BTreeSet<u64> {
        let (mut powers, mut power) = (BTreeSet::new(), 1);
        while powers.insert(power) {
            power = power * p % m;
        }
        powers
    }

    #[test]
    fn slots_are_the_classes_of_units_by_brute_force() {
        for m in (3..=200u32).step_by(2) {
            for p in [2, 3, 5, 7] {
                if u64::from(m) % p == 0 {
                    continue;
                }
                let (cube, m) = (hypercube(m, p), u64::from(m));
                let frobenius = powers(m, p);
                assert_eq!(cube.degree(), frobenius.len(), "index {m}, p = {p}");
                assert_eq!(order(cube.ring(), p), Some(cube.degree()));
                let units: BTreeSet<u64> = (1..m).filter(|&k| (2..=k).all(|d| k % d != 0 || m % d != 0)).collect();
                assert_eq!(cube.slots() * cube.degree(), units.len());
                // Each class once: all products are different, and there are as many as units.
                let slots = cube.representatives();
                assert_eq!(slots.len(), cube.slots());
                let classes = slots.iter().flat_map(|&t| frobenius.iter().map(move |f| u64::from(t) * f % m));
                assert_eq!(classes.collect::<BTreeSet<_>>(), units, "index {m}, p = {p}");
                for (slot, &t) in slots.iter().enumerate() {
                    let place = cube.coordinates(slot);
                    let product = place.iter().zip(cube.dimensions()).fold(1, |product, (&e, dimension)| {
                        (0..e).fold(product, |product, _| product * u64::from(dimension.generator) % m)
                    });
                    assert_eq!(product, u64::from(t));
                }
                // Orders are the largest there are, and flags are what they say.
                let mut group = frobenius;
                for dimension in cube.dimensions() {
                    let order = |g: u64| {
                        let mut power = g;
                        (1..).find(|_| {
                            let found = group.contains(&power);
                            power = power * g % m;
                            found
                        })
                    };
                    let g = u64::from(dimension.generator);
                    assert_eq!(Some(dimension.size), order(g));
                    assert_eq!(Some(dimension.size), units.iter().filter_map(|&g| order(g)).max());
                    let native = |g: u64| (0..dimension.size).fold(1, |power, _| power * g % m) == 1;
                    assert_eq!(dimension.is_native, native(g));
                    let better = units.iter().filter(|&&k| order(k) == Some(dimension.size) && native(k)).min();
                    assert!(better.is_none_or(|&k| k == g), "index {m}, p = {p}: {k:?} for {g}", k = better);
                    let line: Vec<u64> = (0..dimension.size).map(|e| (0..e).fold(1, |x, _| x * g % m)).collect();
                    group = group.iter().flat_map(|x| line.iter().map(move |y| x * y % m)).collect();
                }
            }
        }
    }

    #[test]
    fn structures_of_large_indices() {
        for (m, p, degree, expected) in [
            (511, 2, 9, &[(10, 24, true), (293, 2, true)][..]),
            (2047, 2, 11, &[(3, 88, true), (1425, 2, true)]),
            (4095, 2, 12, &[(11, 12, true), (61, 6, true), (701, 2, true)]),
            (15709, 2, 22, &[(5, 682, true)]),
            (15709, 3, 341, &[(2, 22, true), (13661, 2, true)]),
            (24295, 2, 28, &[(3, 336, true), (7911, 2, true)]),
            (41, 2, 20, &[(3, 2, false)]),
            (57, 7, 3, &[(2, 6, false), (20, 2, true)]),
        ] {
            let cube = hypercube(m, p);
            let found: Vec<_> = cube.dimensions().iter().map(|d| (d.generator, d.size, d.is_native)).collect();
            assert_eq!((cube.degree(), &found[..]), (degree, expected), "index {m}, p = {p}");
        }
        // One slot: 2 generates the units modulo 11.
        assert_eq!((hypercube(11, 2).slots(), hypercube(11, 2).representatives()), (1, vec![1]));
    }

    #[test]
    fn primes_that_have_no_slots_are_refused() {
        let ring = Cyclotomic::new(45).expect("an index");
        for (p, part) in [(3, "divides the index"), (5, "divides the index"), (4, "prime"), (1, "prime"), (0, "prime")]
        {
            let refused = Hypercube::new(&ring, p).expect_err("no slots").to_string();
            assert!(refused.contains(&format!("modulus {p} ")) && refused.contains(part), "{refused}");
        }
    }
}

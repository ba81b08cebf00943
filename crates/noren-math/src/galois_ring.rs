//! Galois rings, which the slots of plaintexts are, and slots as the values of polynomials.

use crate::cyclotomic::remainder;
use crate::error::Error;
use crate::hypercube::Hypercube;
use crate::prime::is_prime;
use crate::random::Seed;

/// The largest number of bits of `p^r`: sums of two residues fit a word.
pub const MAX_PLAINTEXT_BITS: u32 = 62;

/// The integers modulo `p^r`, for a prime p.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrimePower {
    p: u64,
    r: u32,
    value: u64,
}

impl PrimePower {
    /// The integers modulo `p^r`.
    ///
    /// # Errors
    /// [`Error::Modulus`] if p is not a prime, r is 0, or `p^r` is not below 2^62.
    pub fn new(p: u64, r: u32) -> Result<Self, Error> {
        let refuse = |reason| Err(Error::Modulus { found: p, reason });
        if !is_prime(p) {
            return refuse("slots are those modulo a power of a prime");
        }
        match p.checked_pow(r).filter(|&value| r > 0 && value < 1 << MAX_PLAINTEXT_BITS) {
            Some(value) => Ok(Self { p, r, value }),
            None => refuse("its power must be the first or a higher one, and below 2^62"),
        }
    }

    /// The prime p.
    #[must_use]
    pub const fn p(&self) -> u64 {
        self.p
    }

    /// The exponent r.
    #[must_use]
    pub const fn r(&self) -> u32 {
        self.r
    }

    /// The modulus `p^r`.
    #[must_use]
    pub const fn value(&self) -> u64 {
        self.value
    }

    /// `a + b`. Range: in `[0, p^r)`.
    #[must_use]
    pub const fn add(&self, a: u64, b: u64) -> u64 {
        let sum = a + b;
        if sum < self.value { sum } else { sum - self.value }
    }

    /// `a - b`. Range: in `[0, p^r)`.
    #[must_use]
    pub const fn sub(&self, a: u64, b: u64) -> u64 {
        if a < b { a + self.value - b } else { a - b }
    }

    /// `a b`. Range: in `[0, p^r)`.
    #[must_use]
    pub const fn mul(&self, a: u64, b: u64) -> u64 {
        if self.p == 2 {
            return a.wrapping_mul(b) & (self.value - 1);
        }
        (a as u128 * b as u128 % self.value as u128) as u64
    }

    /// `a^exponent`. Range: a in `[0, p^r)`.
    #[must_use]
    pub const fn pow(&self, mut a: u64, mut exponent: u64) -> u64 {
        let mut power = 1 % self.value;
        while exponent > 0 {
            if exponent % 2 == 1 {
                power = self.mul(power, a);
            }
            a = self.mul(a, a);
            exponent /= 2;
        }
        power
    }

    /// The inverse of a unit: a number that p does not divide. Range: in `[0, p^r)`.
    ///
    /// # Panics
    /// If p divides a.
    #[must_use]
    pub const fn inv(&self, a: u64) -> u64 {
        assert!(!a.is_multiple_of(self.p), "a multiple of p has no inverse modulo a power of p");
        // Euler: the units are (p - 1) p^(r - 1).
        self.pow(a, self.value / self.p * (self.p - 1) - 1)
    }
}

/// The Galois ring `GR(p^r, d) = Z[Y]/(p^r, G)`, for a monic G of degree d that is irreducible modulo p. Elements are
/// their d coefficients, those of `Y^0` first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GaloisRing {
    numbers: PrimePower,
    /// The coefficients of G below the leading one.
    modulus: Vec<u64>,
}

impl GaloisRing {
    /// The integers that coefficients are.
    #[must_use]
    pub fn numbers(&self) -> &PrimePower {
        &self.numbers
    }

    /// The degree d.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.modulus.len()
    }

    /// The coefficients of G, the leading 1 included.
    #[must_use]
    pub fn modulus(&self) -> Vec<u64> {
        self.modulus.iter().copied().chain([1]).collect()
    }

    /// `a b`.
    ///
    /// # Panics
    /// If there are not d coefficients of each.
    #[must_use]
    pub fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let d = self.degree();
        assert!(a.len() == d && b.len() == d, "elements of {d} coefficients");
        let mut product = product(a, b, &self.numbers);
        while product.len() > d {
            let lead = product.pop().unwrap_or(0);
            let low = product.len() - d;
            self.subtract_multiple(&mut product[low..], lead);
        }
        product
    }

    /// `Y a`.
    fn times_y(&self, a: &mut [u64]) {
        a.rotate_right(1);
        let lead = std::mem::take(&mut a[0]);
        self.subtract_multiple(a, lead);
    }

    /// Subtracts the multiple of G, without its leading term, that cancels a coefficient above.
    fn subtract_multiple(&self, a: &mut [u64], lead: u64) {
        let z = &self.numbers;
        a.iter_mut().zip(&self.modulus).for_each(|(x, &g)| *x = z.sub(*x, z.mul(lead, g)));
    }

    /// `a^exponent`.
    fn pow(&self, a: &[u64], exponent: u64) -> Vec<u64> {
        power(self.one(), a.to_vec(), exponent, |a, b| self.mul(a, b))
    }

    pub(crate) fn one(&self) -> Vec<u64> {
        let mut one = vec![0; self.degree()];
        one[0] = 1;
        one
    }
}

/// Slots as values: the polynomial a modulo `(Phi_m, p^r)` has in the slot of t the value `a(eta^t)` in `GR(p^r, d)`,
/// where `eta = Y` is a root of unity of order m and G the factor of `Phi_m` that has it as a root.
///
/// Encoding is the inverse transform of length m, with zeros for the powers of eta that are not primitive roots, and
/// sums over the conjugates `eta^(t p^i)` as traces: `a_k = 1/m sum_t Tr(alpha_t eta^(-k t))`, reduced modulo `Phi_m`.
/// This is the definition, in `n^2` products: the version to compare others with.
#[derive(Debug, Clone)]
pub struct SlotTransform {
    hypercube: Hypercube,
    field: GaloisRing,
    representatives: Vec<u32>,
    /// The trace of `eta^k` for k below m.
    traces: Vec<u64>,
    binomials: Vec<(usize, bool)>,
}

impl SlotTransform {
    /// The slots of a ring modulo `p^r`.
    ///
    /// # Errors
    /// [`Error::Modulus`] as [`PrimePower::new`].
    pub fn new(hypercube: &Hypercube, r: u32) -> Result<Self, Error> {
        let numbers = PrimePower::new(hypercube.p(), r)?;
        let (m, d) = (hypercube.ring().index() as usize, hypercube.degree());
        let field = lift(&factor(hypercube), numbers, m as u64);
        // The trace of Y^k is the sum of the diagonal of the multiplication by it; that of eta^(kp) is the same.
        let mut traces: Vec<Option<u64>> = vec![None; m];
        let mut power = field.one();
        for k in 0..m {
            if traces[k].is_none() {
                let mut column = power.clone();
                let mut trace = 0;
                for i in 0..d {
                    trace = numbers.add(trace, column[i]);
                    field.times_y(&mut column);
                }
                let mut conjugate = k;
                for _ in 0..d {
                    traces[conjugate] = Some(trace);
                    conjugate = (conjugate as u64 * (numbers.p() % m as u64) % m as u64) as usize;
                }
            }
            field.times_y(&mut power);
        }
        Ok(Self {
            representatives: hypercube.representatives(),
            traces: traces.into_iter().map(|trace| trace.expect("each k was passed")).collect(),
            binomials: hypercube.ring().binomials(),
            hypercube: hypercube.clone(),
            field,
        })
    }

    /// The slots and their dimensions.
    #[must_use]
    pub fn hypercube(&self) -> &Hypercube {
        &self.hypercube
    }

    /// The ring of the values.
    #[must_use]
    pub fn values(&self) -> &GaloisRing {
        &self.field
    }

    /// The polynomial with these values in its slots: n coefficients in `[0, p^r)`. Shape of the values:
    /// `[slot, coefficient]`.
    ///
    /// # Panics
    /// If there are not d coefficients for each slot, or one is not below `p^r`.
    #[must_use]
    pub fn encode(&self, values: &[u64]) -> Vec<u64> {
        let (z, d, m) = (self.field.numbers, self.field.degree(), self.traces.len());
        assert_eq!(values.len(), self.representatives.len() * d, "a value of {d} coefficients for each slot");
        assert!(values.iter().all(|&x| x < z.value()), "coefficients are residues modulo {}", z.value());
        let of_m = z.inv(m as u64 % z.value());
        let mut a: Vec<u64> = (0..m)
            .map(|k| {
                let mut sum = 0;
                for (&t, value) in self.representatives.iter().zip(values.chunks_exact(d)) {
                    let start = m - (k as u64 * u64::from(t) % m as u64) as usize;
                    for (i, &x) in value.iter().enumerate() {
                        sum = z.add(sum, z.mul(x, self.traces[(start + i) % m]));
                    }
                }
                z.mul(sum, of_m)
            })
            .collect();
        let mut reduced = vec![0; self.hypercube.ring().degree()];
        remainder(&self.binomials, &mut a, &mut reduced, |a, b| z.add(a, b), |a, b| z.sub(a, b));
        reduced
    }

    /// The values of a polynomial of n coefficients in `[0, p^r)`, shape `[slot, coefficient]`.
    ///
    /// # Panics
    /// If there are not n coefficients.
    #[must_use]
    pub fn decode(&self, a: &[u64]) -> Vec<u64> {
        let m = self.traces.len();
        assert_eq!(a.len(), self.hypercube.ring().degree(), "a polynomial of n coefficients");
        let z = &self.field.numbers;
        let value = |&t: &u32| {
            // Coefficients by the power of eta that they meet, and Horner's rule.
            let mut by_power = vec![0; m];
            for (i, &c) in a.iter().enumerate() {
                by_power[(i as u64 * u64::from(t) % m as u64) as usize] = c;
            }
            by_power.into_iter().rev().fold(vec![0; self.field.degree()], |mut sum, c| {
                self.field.times_y(&mut sum);
                sum[0] = z.add(sum[0], c);
                sum
            })
        };
        self.representatives.iter().flat_map(value).collect()
    }
}

/// A factor of `Phi_m` modulo p, of degree d: its coefficients, with the leading 1.
///
/// The sum c of `X^(k p^i)` over i is its own p-th power modulo `X^m - 1`, so that it is a number modulo each factor.
/// The greatest common divisor with `(c + v)^((p - 1)/2) - 1` (with `c + v` for p = 2) has those factors for which this
/// number is 0; the smaller part is split again, until a single factor is left.
///
/// Source: Cantor and Zassenhaus, "A new algorithm for factoring polynomials over finite fields", 1981, in the algebra
/// of Berlekamp.
fn factor(hypercube: &Hypercube) -> Vec<u64> {
    let z = PrimePower::new(hypercube.p(), 1).expect("the prime of a hypercube");
    let (ring, d, p) = (hypercube.ring(), hypercube.degree(), hypercube.p());
    let m = u64::from(ring.index());
    let residue = |c: &i64| (i128::from(*c).rem_euclid(i128::from(p))) as u64;
    let mut found: Vec<u64> = ring.polynomial().iter().map(residue).collect();
    let mut xof = Seed::from_bytes([0; 32]).xof("factor");
    let mut k = 0;
    while found.len() - 1 > d {
        k = k % (m - 1) + 1;
        let mut sum = vec![0; m as usize];
        let mut exponent = k;
        for _ in 0..d {
            sum[exponent as usize] = z.add(sum[exponent as usize], 1);
            exponent = exponent * (p % m) % m;
        }
        let mut sum = modulo(sum, &found, &z);
        if p == 2 {
            // A constant splits nothing.
            if sum.len() <= 1 {
                continue;
            }
        } else {
            let shift = xof.next_u64() % p;
            sum.resize(sum.len().max(1), 0);
            sum[0] = z.add(sum[0], shift);
            sum = power_modulo(&sum, (p - 1) / 2, &found, &z);
            sum.resize(sum.len().max(1), 0);
            sum[0] = z.sub(sum[0], 1);
        }
        let part = common_divisor(found.clone(), sum, &z);
        let degree = part.len() - 1;
        if degree > 0 && degree < found.len() - 1 {
            let other = found.len() - 1 - degree;
            found = if degree <= other { part } else { quotient(found, &part, &z) };
        }
    }
    found
}

/// The Galois ring of the factor of `X^m - 1` modulo `p^r` that is this one modulo p.
fn lift(factor: &[u64], numbers: PrimePower, m: u64) -> GaloisRing {
    let d = factor.len() - 1;
    let first = GaloisRing { numbers, modulus: factor[..d].to_vec() };
    if numbers.r() == 1 {
        return first;
    }
    // Newton's iteration for a root of X^m - 1 that is Y modulo p: each step doubles the power of p.
    let z = &numbers;
    let of_m = z.inv(m % z.value());
    let mut root = first.one();
    first.times_y(&mut root);
    for _ in 0..numbers.r().ilog2() + 1 {
        let mut miss = first.pow(&root, m);
        miss[0] = z.sub(miss[0], 1);
        let step = first.mul(&root, &miss);
        root.iter_mut().zip(step).for_each(|(x, step)| *x = z.sub(*x, z.mul(step, of_m)));
    }
    // Its minimal polynomial: root^d as a combination of the powers below.
    let mut columns = vec![first.one()];
    for i in 0..d {
        columns.push(first.mul(&columns[i], &root));
    }
    let rows: Vec<Vec<u64>> = (0..d).map(|i| columns.iter().map(|column| column[i]).collect()).collect();
    let combination = solve(rows, z);
    GaloisRing { numbers, modulus: combination.into_iter().map(|c| z.sub(0, c)).collect() }
}

/// The solution of a square system whose matrix is invertible modulo p; each row ends with its right side.
fn solve(mut rows: Vec<Vec<u64>>, z: &PrimePower) -> Vec<u64> {
    let d = rows.len();
    for column in 0..d {
        let pivot = (column..d).find(|&i| !rows[i][column].is_multiple_of(z.p())).expect("an invertible matrix");
        rows.swap(column, pivot);
        let inverse = z.inv(rows[column][column]);
        rows[column].iter_mut().for_each(|x| *x = z.mul(*x, inverse));
        let pivot = rows[column].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            let factor = row[column];
            if i != column && factor != 0 {
                row.iter_mut().zip(&pivot).for_each(|(x, &y)| *x = z.sub(*x, z.mul(factor, y)));
            }
        }
    }
    rows.into_iter().map(|row| row[d]).collect()
}

/// The remainder of a polynomial, without leading zeros; the divisor has a leading coefficient that is not 0.
fn modulo(mut a: Vec<u64>, divisor: &[u64], z: &PrimePower) -> Vec<u64> {
    divide(&mut a, divisor, z);
    trim(&mut a);
    a
}

/// The quotient of polynomials.
fn quotient(mut a: Vec<u64>, divisor: &[u64], z: &PrimePower) -> Vec<u64> {
    divide(&mut a, divisor, z)
}

/// Leaves the remainder in `a`, and gives the quotient.
fn divide(a: &mut Vec<u64>, divisor: &[u64], z: &PrimePower) -> Vec<u64> {
    let n = divisor.len() - 1;
    if a.len() <= n {
        return Vec::new();
    }
    let inverse = z.inv(divisor[n]);
    let mut quotient = vec![0; a.len() - n];
    for low in (0..quotient.len()).rev() {
        let factor = z.mul(a[low + n], inverse);
        if factor != 0 {
            quotient[low] = factor;
            a[low..].iter_mut().zip(divisor).for_each(|(x, &y)| *x = z.sub(*x, z.mul(factor, y)));
        }
    }
    a.truncate(n);
    quotient
}

/// The monic greatest common divisor of polynomials modulo p, of which the first is not 0.
fn common_divisor(mut a: Vec<u64>, mut b: Vec<u64>, z: &PrimePower) -> Vec<u64> {
    trim(&mut b);
    while !b.is_empty() {
        let rest = modulo(a, &b, z);
        (a, b) = (b, rest);
    }
    let inverse = z.inv(*a.last().expect("not zero"));
    a.iter_mut().for_each(|x| *x = z.mul(*x, inverse));
    a
}

/// A power of a polynomial modulo another.
fn power_modulo(a: &[u64], exponent: u64, divisor: &[u64], z: &PrimePower) -> Vec<u64> {
    power(vec![1], modulo(a.to_vec(), divisor, z), exponent, |a, b| modulo(product(a, b, z), divisor, z))
}

/// A power by squaring: `one` times as many factors `square` as the exponent says.
fn power(one: Vec<u64>, mut square: Vec<u64>, mut exponent: u64, mul: impl Fn(&[u64], &[u64]) -> Vec<u64>) -> Vec<u64> {
    let mut power = one;
    while exponent > 0 {
        if exponent % 2 == 1 {
            power = mul(&power, &square);
        }
        square = mul(&square, &square);
        exponent /= 2;
    }
    power
}

/// The product of polynomials; none for none.
fn product(a: &[u64], b: &[u64], z: &PrimePower) -> Vec<u64> {
    let mut product = vec![0; (a.len() + b.len()).saturating_sub(1)];
    for (i, &x) in a.iter().enumerate() {
        product[i..].iter_mut().zip(b).for_each(|(sum, &y)| *sum = z.add(*sum, z.mul(x, y)));
    }
    product
}

fn trim(a: &mut Vec<u64>) {
    while a.last() == Some(&0) {
        a.pop();
    }
}

//! Slots of plaintexts as the values of polynomials.

use crate::binary_slots::BinaryEncoding;
use crate::cyclotomic::{remainder, times_binomial};
use crate::error::Error;
use crate::factors::{factor, lift, recurrence};
use crate::fractions::Fractions;
use crate::galois_ring::GaloisRing;
use crate::hypercube::Hypercube;
use crate::polynomials::low_product;
use crate::prime_power::PrimePower;

/// Slots as values: the polynomial a modulo `(Phi_m, p^r)` has in the slot of t the value `alpha_t = a(eta^t)` in `GR(p^r,
/// d)`, where `eta = Y` is a root of unity of order m and G the factor of `Phi_m` that has it as a root.
///
/// The inverse transform of length m, with zeros for the powers of eta that are not primitive roots, and sums over conjugates
/// as traces, is `a_k = 1/m sum_t Tr(alpha_t eta^(-k t))`. As a power series, `sum_k Tr(alpha eta^(k t)) z^k` is a fraction
/// with the denominator `F_t(z) = prod_i (1 - eta^(t p^i) z)` and a numerator of d coefficients, which the first d traces tell.
/// The sum of all fractions has the denominator `Phi_m`, and with its numerator N `a = X/m z^(n-1) N(1/z) Psi(z)` at `z = X`,
/// where `Phi_m Psi = X^m - 1`.
///
/// Decoding is the transposed map: it ends with the traces `Tr(alpha_t eta^j)`, which are the first coefficients of another
/// fraction. Both take `O(n (d + log^2 n))` steps, and memory for `O(n log n)` words.
///
/// Source: Halevi and Shoup, "Algorithms in HElib", eprint 2014/106, for the slots.
#[derive(Debug, Clone)]
pub struct SlotTransform {
    hypercube: Hypercube,
    field: GaloisRing,
    representatives: Vec<u32>,
    /// The trace of `eta^k` for k below `m + d`.
    traces: Vec<u64>,
    /// `F_t` of each slot.
    denominators: Vec<Vec<u64>>,
    fractions: Fractions,
    /// `1/G'(eta)`.
    different: Vec<u64>,
    /// Those of `Phi_m`.
    binomials: Vec<(usize, bool)>,
    /// The encoding of slots modulo 2.
    binary: Option<BinaryEncoding>,
}

impl SlotTransform {
    /// The slots of a ring modulo `p^r`.
    ///
    /// # Errors
    /// [`Error::Modulus`] as [`PrimePower::new`], [`Error::Index`] for a ring of degree `2^17`.
    pub fn new(hypercube: &Hypercube, r: u32) -> Result<Self, Error> {
        let z = PrimePower::new(hypercube.p(), r)?;
        let (m, d) = (hypercube.ring().index() as usize, hypercube.degree());
        let mut first = factor(hypercube);
        first.truncate(d);
        let field = GaloisRing::of(z, lift(first, &z, m as u64));
        let traces = traces(&field, m);
        let representatives = hypercube.representatives();
        let z_p = z.residue_field();
        let denominator = |&t: &u32| {
            let sequence: Vec<u64> = multiples(t, m, 2 * d).iter().map(|&k| traces[k as usize] % z.p()).collect();
            let mut factor = recurrence(&sequence, &z_p);
            factor.reverse();
            factor.truncate(d);
            let mut factor = lift(factor, &z, m as u64);
            factor.push(1);
            factor.reverse();
            factor
        };
        let denominators: Vec<Vec<u64>> = representatives.iter().map(denominator).collect();
        let binomials = hypercube.ring().binomials();
        let binary =
            (z.value() == 2).then(|| BinaryEncoding::new(m, &denominators, &representatives, &traces, &binomials));
        Ok(Self {
            fractions: Fractions::new(&denominators, d, z)?,
            different: field.inv(&field.derivative()),
            binomials,
            binary,
            hypercube: hypercube.clone(),
            field,
            representatives,
            traces,
            denominators,
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
        let (z, d, m) = (self.field.numbers(), self.field.degree(), self.index());
        assert_eq!(values.len(), self.representatives.len() * d, "a value of {d} coefficients for each slot");
        assert!(values.iter().all(|&x| x < z.value()), "coefficients are residues modulo {}", z.value());
        if let Some(binary) = &self.binary {
            return binary.encode(values);
        }
        let mut numerators = Vec::with_capacity(values.len());
        let mut traces = vec![0; d];
        for ((&t, denominator), value) in
            self.representatives.iter().zip(&self.denominators).zip(values.chunks_exact(d))
        {
            z.window_dots(&mut traces, value, &self.traces, &multiples(t, m, d));
            numerators.extend(low_product(denominator, &traces, d, z));
        }
        self.sum(numerators)
    }

    /// [`SlotTransform::encode`] for values that are numbers, in fewer steps. Shape of the values: `[slot]`.
    ///
    /// # Panics
    /// If there is not one for each slot, or one is not below `p^r`.
    #[must_use]
    pub fn encode_numbers(&self, values: &[u64]) -> Vec<u64> {
        let (z, d) = (self.field.numbers(), self.field.degree());
        assert_eq!(values.len(), self.representatives.len(), "a value for each slot");
        assert!(values.iter().all(|&x| x < z.value()), "values are residues modulo {}", z.value());
        if let Some(binary) = &self.binary {
            return binary.encode_numbers(values);
        }
        // sum_i 1/(1 - x_i z) has the numerator d F - z F'.
        let numerator = |(denominator, &value): (&Vec<u64>, &u64)| {
            let numerator = move |(i, &f): (usize, &u64)| z.mul(z.mul(f, z.reduce((d - i) as u64)), value);
            denominator[..d].iter().enumerate().map(numerator).collect::<Vec<_>>()
        };
        self.sum(self.denominators.iter().zip(values).flat_map(numerator).collect())
    }

    /// The values of a polynomial of n coefficients in `[0, p^r)`, shape `[slot, coefficient]`.
    ///
    /// # Panics
    /// If there are not n coefficients.
    #[must_use]
    pub fn decode(&self, a: &[u64]) -> Vec<u64> {
        let (z, d, m) = (self.field.numbers(), self.field.degree(), self.index());
        assert_eq!(a.len(), self.hypercube.ring().degree(), "a polynomial of n coefficients");
        let mut a: Vec<u64> = a.iter().rev().copied().collect();
        for &(step, factor) in &self.binomials {
            times_binomial(&mut a, step, !factor, |a, b| z.add(a, b), |a, b| z.sub(a, b));
        }
        self.fractions.split(&mut a);
        let mut values = Vec::with_capacity(a.len());
        let mut traces = vec![0; d];
        for ((&t, denominator), part) in self.representatives.iter().zip(&self.denominators).zip(a.chunks_exact(d)) {
            // The remainder of the polynomial modulo the factor of the slot.
            let mut rest = low_product(denominator, part, d, z);
            rest.reverse();
            z.window_combination(&mut traces, &rest, &self.traces, &multiples(t, m, d));
            // sum_j Tr(alpha eta^j) z^j is a fraction over F_1, and alpha is its numerator at 1/eta, times eta^(d-1)/G'(eta).
            let mut numerator = low_product(&self.denominators[0], &traces, d, z);
            numerator.reverse();
            values.extend(self.field.mul(&numerator, &self.different));
        }
        values
    }

    /// m.
    fn index(&self) -> usize {
        self.hypercube.ring().index() as usize
    }

    /// The polynomial of a sum of fractions.
    fn sum(&self, mut numerators: Vec<u64>) -> Vec<u64> {
        let (z, m, n) = (self.field.numbers(), self.index(), numerators.len());
        let (add, sub) = (|a, b| z.add(a, b), |a, b| z.sub(a, b));
        self.fractions.add(&mut numerators);
        numerators.reverse();
        let mut a = numerators;
        a.resize(m, 0);
        // Psi is minus the product of all binomials but 1 - X^m, upside down.
        for &(step, factor) in self.binomials.iter().filter(|&&(step, _)| step < m) {
            times_binomial(&mut a, step, !factor, add, sub);
        }
        a.rotate_right(1);
        let mut reduced = vec![0; n];
        let times = |a: &mut [u64], step, multiply| times_binomial(a, step, multiply, add, sub);
        remainder(&self.binomials, &mut a, &mut reduced, times, sub);
        let factor = z.sub(0, z.inv(z.reduce(m as u64)));
        reduced.iter_mut().for_each(|x| *x = z.mul(*x, factor));
        reduced
    }
}

/// `k t mod m` for the first k.
fn multiples(t: u32, m: usize, count: usize) -> Vec<u32> {
    let next = |&k: &u32| Some(((u64::from(k) + u64::from(t)) % m as u64) as u32);
    std::iter::successors(Some(0), next).take(count).collect()
}

/// The traces of `Y^k` for k below `m + d`.
fn traces(field: &GaloisRing, m: usize) -> Vec<u64> {
    let (z, d) = (field.numbers(), field.degree());
    // That of Y^k is the sum of the diagonal of the multiplication by it; that of Y^(kp) is the same.
    let mut traces: Vec<Option<u64>> = vec![None; m];
    let mut power = field.one();
    for k in 0..m {
        if traces[k].is_none() {
            let mut column = power.clone();
            let mut trace = 0;
            for i in 0..d {
                trace = z.add(trace, column[i]);
                field.times_y(&mut column);
            }
            let mut conjugate = k;
            for _ in 0..d {
                traces[conjugate] = Some(trace);
                conjugate = (conjugate as u64 * (z.p() % m as u64) % m as u64) as usize;
            }
        }
        field.times_y(&mut power);
    }
    let mut traces: Vec<u64> = traces.into_iter().map(|trace| trace.expect("each k was passed")).collect();
    traces.extend_from_within(..d);
    traces
}

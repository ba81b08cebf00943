//! Elements as lists of residues, one list for each prime, and arithmetic by its definition.

use std::ops::Range;

use noren_math::modulus::Modulus;
use noren_math::prime::primitive_root_of_order;
use noren_ring::automorphism::Automorphism;
use noren_ring::handle::DeviceKey;
use noren_ring::key::KeyPairs;
use noren_ring::memory::Limbs;
use noren_ring::poly::{Domain, Poly};
use noren_ring::window::Window;

use crate::rows::NaiveRows;

/// The pairs of a switching key, one for each digit.
#[derive(Debug)]
pub(crate) struct NaiveKey(pub(crate) Vec<[Element; 2]>);

impl DeviceKey for NaiveKey {
    fn bytes(&self) -> usize {
        let rows = self.0.as_flattened().iter().flat_map(|half| &half.rows);
        rows.map(|row| size_of_val(&row[..])).sum()
    }
}

/// A list of residues for each prime of a window, in coefficient or evaluation form.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    start: usize,
    rows: Vec<Vec<u64>>,
    secret: bool,
}

impl Element {
    /// The element whose residues modulo the prime of each limb are these.
    pub(crate) fn build(window: Range<usize>, secret: bool, row: impl FnMut(usize) -> Vec<u64>) -> Self {
        Self { start: window.start, rows: window.map(row).collect(), secret }
    }

    /// Zero.
    pub(crate) fn zero(window: &Window) -> Self {
        Self::build(window.range(), false, |_| vec![0; window.degree()])
    }

    /// A copy of the rows of this device.
    ///
    /// # Panics
    /// As [`NaiveRows::of`].
    pub(crate) fn of(limbs: &Limbs) -> Self {
        let rows = NaiveRows::of(limbs).rows().to_vec();
        Self { start: limbs.window().start, rows, secret: limbs.is_secret() }
    }

    /// [`Element::of`] over the limbs of a window, where it is 0 if it lacks them.
    pub(crate) fn at(limbs: &Limbs, window: &Window) -> Self {
        Self::of(limbs).over(window)
    }

    /// Half 0 or 1 of the pair of a digit, over the limbs of a window.
    ///
    /// # Panics
    /// If another device holds the key.
    pub(crate) fn of_key(key: &KeyPairs, digit: usize, half: usize, window: &Window) -> Self {
        let NaiveKey(pairs) = key.handle().get().expect("keys are used on the device that holds them");
        pairs[digit][half].over(window)
    }

    pub(crate) fn into_limbs(self) -> Limbs {
        let degree = self.rows[0].len();
        Limbs::new(NaiveRows::new(self.rows, degree, self.secret), self.start)
    }

    pub(crate) fn into_poly<D: Domain>(self) -> Poly<D> {
        Poly::from_limbs(self.into_limbs())
    }

    pub(crate) fn window(&self) -> Range<usize> {
        self.start..self.start + self.rows.len()
    }

    pub(crate) fn is_secret(&self) -> bool {
        self.secret
    }

    pub(crate) fn row(&self, limb: usize) -> &[u64] {
        &self.rows[limb - self.start]
    }

    /// The row at a limb, to be written.
    pub(crate) fn row_mut(&mut self, limb: usize) -> &mut [u64] {
        &mut self.rows[limb - self.start]
    }

    /// `f(x, y)` modulo each prime, word by word.
    pub(crate) fn zip(&self, other: &Self, window: &Window, f: impl Fn(&Modulus, u64, u64) -> u64) -> Self {
        Self::build(self.window(), self.secret || other.secret, |limb| {
            let q = window.basis().modulus(limb);
            self.row(limb).iter().zip(other.row(limb)).map(|(&x, &y)| f(q, x, y)).collect()
        })
    }

    pub(crate) fn add(&self, other: &Self, window: &Window) -> Self {
        self.zip(other, window, Modulus::add)
    }

    pub(crate) fn sub(&self, other: &Self, window: &Window) -> Self {
        self.zip(other, window, Modulus::sub)
    }

    /// The product of elements in evaluation form.
    pub(crate) fn mul(&self, other: &Self, window: &Window) -> Self {
        self.zip(other, window, Modulus::mul)
    }

    /// The product with an integer, given by its residue modulo the prime of each limb.
    pub(crate) fn scale(&self, window: &Window, integer: impl Fn(usize) -> u64) -> Self {
        Self::build(self.window(), self.secret, |limb| {
            let (q, w) = (window.basis().modulus(limb), integer(limb));
            self.row(limb).iter().map(|&x| q.mul(x, w)).collect()
        })
    }

    /// The limbs of a window, which this element may lack: there it is 0.
    pub(crate) fn over(&self, window: &Window) -> Self {
        let row = |limb| if self.window().contains(&limb) { self.row(limb).to_vec() } else { vec![0; window.degree()] };
        Self::build(window.range(), self.secret, row)
    }

    /// From coefficients to evaluations, by the definition: `a(zeta^e)` at the units e modulo m, in the order of
    /// [`points`], for the primitive m-th root of unity zeta.
    pub(crate) fn forward(&self, window: &Window) -> Self {
        let (points, m) = (points(window), window.index().index());
        Self::build(self.window(), self.secret, |limb| {
            let q = window.basis().modulus(limb);
            let powers = powers(q, m);
            let value = |&e: &u64| {
                let term = |(i, &x): (usize, &u64)| q.mul(x, powers[(e * i as u64 % u64::from(m)) as usize]);
                self.row(limb).iter().enumerate().map(term).fold(0, |sum, x| q.add(sum, x))
            };
            points.iter().map(value).collect()
        })
    }

    /// From evaluations to coefficients, by Lagrange's interpolation: `a = sum_e a(zeta^e) / L_e(zeta^e) L_e` for
    /// `L_e = Phi_m / (X - zeta^e)`, where `Phi_m` is the product of all `X - zeta^e`.
    pub(crate) fn inverse(&self, window: &Window) -> Self {
        let (points, m) = (points(window), window.index().index());
        Self::build(self.window(), self.secret, |limb| {
            let q = window.basis().modulus(limb);
            let powers = powers(q, m);
            let roots: Vec<u64> = points.iter().map(|&e| powers[e as usize]).collect();
            let phi = roots.iter().fold(vec![1], |phi, &root| times_linear(q, &phi, root));
            let mut sum = vec![0; points.len()];
            for (&root, &value) in roots.iter().zip(self.row(limb)) {
                let quotient = over_linear(q, &phi, root);
                let at_root = quotient.iter().rev().fold(0, |sum, &c| q.add(q.mul(sum, root), c));
                let factor = q.mul(value, q.inv(at_root));
                sum.iter_mut().zip(&quotient).for_each(|(x, &c)| *x = q.add(*x, q.mul(factor, c)));
            }
            sum
        })
    }

    /// `a(X^k)` in evaluation form: the value at `zeta^e` is that of a at `zeta^(e k)`.
    pub(crate) fn image(&self, window: &Window, automorphism: Option<&Automorphism>) -> Self {
        let Some(automorphism) = automorphism else { return self.clone() };
        let (points, m) = (points(window), u64::from(window.index().index()));
        let source = |&e: &u64| {
            let image = e * u64::from(automorphism.k()) % m;
            points.iter().position(|&point| point == image).expect("a unit times a unit")
        };
        let sources: Vec<usize> = points.iter().map(source).collect();
        Self::build(self.window(), self.secret, |limb| sources.iter().map(|&j| self.row(limb)[j]).collect())
    }
}

/// The exponents of the evaluation points, in order: `2 brv(j) + 1` for the reversal brv of the bits of j, where the index is
/// a power of two, and else all units modulo it.
fn points(window: &Window) -> Vec<u64> {
    let m = u64::from(window.index().index());
    if m.is_power_of_two() {
        let bits = window.degree().trailing_zeros();
        return (0..window.degree() as u64).map(|j| 2 * (j.reverse_bits() >> (u64::BITS - bits)) + 1).collect();
    }
    (1..m).filter(|&e| (2..=e).all(|d| e % d != 0 || m % d != 0)).collect()
}

/// `a (X - root)`.
fn times_linear(q: &Modulus, a: &[u64], root: u64) -> Vec<u64> {
    let coefficient = |i: usize| {
        let above = i.checked_sub(1).map_or(0, |i| a[i]);
        q.sub(above, a.get(i).map_or(0, |&x| q.mul(x, root)))
    };
    (0..=a.len()).map(coefficient).collect()
}

/// `a / (X - root)`, of which root is a zero: by Horner's rule.
fn over_linear(q: &Modulus, a: &[u64], root: u64) -> Vec<u64> {
    let mut quotient = vec![0; a.len() - 1];
    let mut carry = 0;
    for i in (0..quotient.len()).rev() {
        carry = q.add(a[i + 1], q.mul(carry, root));
        quotient[i] = carry;
    }
    quotient
}

/// All powers of the primitive m-th root of unity modulo a prime.
fn powers(q: &Modulus, m: u32) -> Vec<u64> {
    let root = primitive_root_of_order(q, m.into()).expect("the prime is 1 modulo m");
    (0..m.into()).map(|e| q.pow(root, e)).collect()
}

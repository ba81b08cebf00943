//! Sums of wires of a circuit: what may enter a lookup.

use std::ops::{Add, Mul, Sub};

/// A place where a circuit holds a ciphertext: an operand, or a result of a lookup.
pub(super) type Wire = usize;

/// `constant + sum_i factor_i wire_i`, with bounds on its value and its noise.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Value {
    /// Each wire once, in rising order, with a factor that is not 0.
    terms: Vec<(Wire, i64)>,
    constant: i64,
    least: i64,
    most: i64,
    noise: f64,
    round: usize,
}

impl Value {
    /// A number that everybody knows.
    pub fn constant(constant: u64) -> Self {
        let constant = constant.cast_signed();
        Self { terms: Vec::new(), constant, least: constant, most: constant, noise: 0.0, round: 0 }
    }

    /// The value of a wire: at most `most`, known after `round` rounds.
    pub fn wire(wire: Wire, most: u64, noise: f64, round: usize) -> Self {
        Self { terms: vec![(wire, 1)], constant: 0, least: 0, most: most.cast_signed(), noise, round }
    }

    /// The wires, with their factors.
    pub fn terms(&self) -> &[(Wire, i64)] {
        &self.terms
    }

    /// The summand of the wires.
    pub const fn offset(&self) -> i64 {
        self.constant
    }

    /// The largest value.
    ///
    /// # Panics
    /// If the value may be below 0: then it has no place in a ciphertext.
    pub fn most(&self) -> u64 {
        assert!(self.least >= 0, "a value of at least {} has no place in a ciphertext", self.least);
        self.most.cast_unsigned()
    }

    /// A bound on the deviation of the noise, as multiple of that of a bootstrap.
    pub const fn noise(&self) -> f64 {
        self.noise
    }

    /// After how many rounds of lookups it is known.
    pub const fn round(&self) -> usize {
        self.round
    }

    /// The number, if everybody knows it.
    pub fn known(&self) -> Option<u64> {
        (self.least == self.most && self.least >= 0).then_some(self.least.cast_unsigned())
    }

    /// The same value, which the caller knows to be at least 0 and at most `most`, whatever its terms allow.
    pub fn within(mut self, most: u64) -> Self {
        (self.least, self.most) = (0, most.cast_signed());
        self
    }
}

impl Add<&Value> for Value {
    type Output = Self;

    fn add(mut self, other: &Value) -> Self {
        for &(wire, factor) in &other.terms {
            match self.terms.binary_search_by_key(&wire, |term| term.0) {
                Ok(at) => {
                    self.terms[at].1 += factor;
                    if self.terms[at].1 == 0 {
                        self.terms.remove(at);
                    }
                }
                Err(at) => self.terms.insert(at, (wire, factor)),
            }
        }
        self.constant += other.constant;
        self.least += other.least;
        self.most += other.most;
        self.noise += other.noise;
        self.round = self.round.max(other.round);
        self
    }
}

impl Add<i64> for Value {
    type Output = Self;

    fn add(mut self, constant: i64) -> Self {
        self.constant += constant;
        self.least += constant;
        self.most += constant;
        self
    }
}

impl Sub<&Value> for Value {
    type Output = Self;

    fn sub(self, other: &Value) -> Self {
        self + &(other.clone() * -1)
    }
}

impl Mul<i64> for Value {
    type Output = Self;

    fn mul(mut self, factor: i64) -> Self {
        if factor == 0 {
            return Self::constant(0);
        }
        self.terms.iter_mut().for_each(|term| term.1 *= factor);
        self.constant *= factor;
        let ends = [self.least * factor, self.most * factor];
        (self.least, self.most) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        self.noise *= factor.unsigned_abs() as f64;
        self
    }
}

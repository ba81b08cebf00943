//! Circuits of workloads on slots.

use noren_rlwe::error::{Error, Result};

use crate::advisor::workload::Computation;
use crate::circuits::linear::{LinearMap, PreparedMap};
use crate::circuits::matrix::Matrix;
use crate::circuits::polynomial::Polynomial;
use crate::circuits::{product, trace};
use crate::schemes::slots::{Scalar, SlotEvaluator};

/// Where the values of an instance lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// In consecutive slots of one ciphertext, with as many slots as the next power of two; other instances follow.
    Consecutive,
    /// Each in a ciphertext of its own, at the instance's slot.
    Apart,
}

/// The entries of a matrix in diagonals that are put in their places in the time of a step.
const ENTRIES_IN_A_STEP: usize = 128;
/// The terms of a weighted sum that are looked at in the time of a step.
const TERMS_IN_A_STEP: usize = 16;

/// A computation on slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotCircuit {
    /// The computation.
    pub computation: Computation,
    /// Where the values lie.
    pub placement: Placement,
    /// Of tables and comparisons, which are polynomials modulo t: how many values an input has; 0 for other computations.
    pub domain: usize,
}

impl SlotCircuit {
    /// The values of an instance in each ciphertext.
    #[must_use]
    pub const fn values(&self) -> usize {
        match (self.placement, self.computation) {
            (Placement::Apart, _) => 1,
            (_, Computation::Product { count } | Computation::Sum { count }) => count,
            (_, Computation::InnerProduct { length }) => length,
            (_, Computation::Matrix { columns, .. }) => columns,
            _ => 1,
        }
    }

    /// The slots of an instance in each ciphertext: room for its values, and for its results.
    #[must_use]
    pub fn slots(&self) -> usize {
        let results = match (self.placement, self.computation) {
            (Placement::Consecutive, Computation::Matrix { rows, .. }) => rows,
            _ => 1,
        };
        self.values().max(results).next_power_of_two()
    }

    /// How many ciphertexts a run takes.
    #[must_use]
    pub const fn inputs(&self) -> usize {
        match (self.placement, self.computation) {
            (Placement::Apart, Computation::Product { count } | Computation::Sum { count }) => count,
            (Placement::Apart, Computation::Matrix { columns, .. }) => columns,
            (Placement::Apart, Computation::InnerProduct { length }) => 2 * length,
            (Placement::Consecutive, Computation::InnerProduct { .. }) | (_, Computation::Compare) => 2,
            (_, Computation::Table { inputs }) => inputs,
            _ => 1,
        }
    }

    /// How many ciphertexts a run gives.
    #[must_use]
    pub const fn results(&self) -> usize {
        match (self.placement, self.computation) {
            (Placement::Apart, Computation::Matrix { rows, .. }) => rows,
            _ => 1,
        }
    }

    /// How many instances stand side by side in ciphertexts of `slots` slots: a matrix that lies in diagonals takes vectors
    /// that repeat.
    #[must_use]
    pub fn instances(&self, slots: usize) -> usize {
        match (self.placement, self.computation) {
            (Placement::Consecutive, Computation::Matrix { .. }) => 1,
            _ => slots / self.slots(),
        }
    }

    /// About how many steps a [recorder](crate::circuits::recorder::Recorder) takes to go through the circuit, each as long as an
    /// operation on a ciphertext without content.
    #[must_use]
    pub fn steps(&self) -> usize {
        match (self.placement, self.computation) {
            (_, Computation::Squarings { depth }) => depth,
            (_, Computation::Polynomial { degree }) => degree,
            (Placement::Consecutive, Computation::Matrix { rows, .. }) => {
                self.slots().saturating_mul(rows.next_power_of_two()) / ENTRIES_IN_A_STEP
            }
            (Placement::Apart, Computation::Matrix { rows, columns }) => {
                (rows.saturating_mul(columns) / TERMS_IN_A_STEP).saturating_add(rows).saturating_add(columns)
            }
            (_, Computation::Compare | Computation::Table { .. }) => self.domain.saturating_pow(self.inputs() as u32),
            (Placement::Apart, _) => self.inputs(),
            (Placement::Consecutive, _) => 1,
        }
    }

    /// The coefficient that keeps results of real numbers in `[-1, 1]`: of a polynomial, or of a matrix.
    #[must_use]
    pub fn real_coefficient(&self) -> f64 {
        match self.computation {
            Computation::Polynomial { degree } => 1.0 / (degree + 1) as f64,
            Computation::Matrix { columns, .. } => 1.0 / columns as f64,
            _ => 1.0,
        }
    }

    /// The circuit for vectors like `x`, with its matrix encoded.
    ///
    /// # Errors
    /// What the evaluator refuses.
    pub fn prepare<E: SlotEvaluator>(
        &self,
        ev: &E,
        x: &E::Ciphertext,
        coefficient: E::Scalar,
    ) -> Result<PreparedCircuit<E::Factor>> {
        let map = match (self.placement, self.computation) {
            (Placement::Consecutive, Computation::Matrix { rows, columns }) => {
                let entries = vec![coefficient; rows * columns];
                Some(LinearMap::repeated(self.slots(), rows, columns, &entries)?.prepare(ev, x)?)
            }
            _ => None,
        };
        Ok(PreparedCircuit { circuit: *self, map })
    }

    /// Runs the circuit, with `coefficient` for all coefficients of a polynomial and all entries of a matrix.
    ///
    /// # Errors
    /// What the evaluator refuses; computations that are no circuit on slots.
    pub fn run<E: SlotEvaluator>(
        &self,
        ev: &E,
        inputs: &[E::Ciphertext],
        coefficient: E::Scalar,
    ) -> Result<Vec<E::Ciphertext>> {
        if inputs.len() != self.inputs() {
            let needed = self.inputs().to_string();
            return Err(Error::Length { what: "ciphertexts of a run", found: inputs.len(), needed });
        }
        let x = &inputs[0];
        let one = match (self.placement, self.computation) {
            (Placement::Consecutive, Computation::Product { .. }) => product::product(ev, x, self.slots(), 1)?,
            (Placement::Apart, Computation::Product { .. }) => product_of_ciphertexts(ev, inputs)?,
            (Placement::Consecutive, Computation::Sum { .. }) => trace::sum(ev, x, self.slots(), 1)?,
            (Placement::Apart, Computation::Sum { .. }) => sum(ev, inputs)?,
            (Placement::Consecutive, Computation::InnerProduct { .. }) => {
                trace::sum(ev, &ev.mul(x, &inputs[1])?, self.slots(), 1)?
            }
            (Placement::Apart, Computation::InnerProduct { length }) => {
                let pairs: Vec<_> = inputs[..length].iter().zip(&inputs[length..]).collect();
                ev.dot(&pairs)?
            }
            (_, Computation::Squarings { depth }) => (0..depth).try_fold(x.clone(), |x, _| ev.square(&x))?,
            (_, Computation::Polynomial { degree }) => {
                Polynomial::power(vec![coefficient; degree + 1])?.evaluate(ev, x)?
            }
            (Placement::Consecutive, Computation::Matrix { rows, columns }) => {
                Matrix::new(rows, columns, vec![coefficient; rows * columns])?.apply(ev, x)?
            }
            (Placement::Apart, Computation::Matrix { rows, .. }) => {
                let terms: Vec<_> = inputs.iter().map(|x| (x, coefficient)).collect();
                return (0..rows).map(|_| ev.weighted_sum(&terms, <E::Scalar as Scalar>::ZERO)).collect();
            }
            (_, computation @ (Computation::Compare | Computation::Table { .. })) if self.domain == 0 => {
                let needed = "sums and products: comparisons and tables are no circuits on slots";
                return Err(Error::parameter("computation", format!("{computation:?}"), needed));
            }
            (_, Computation::Compare | Computation::Table { .. }) => self.table(ev, inputs, coefficient)?,
        };
        Ok(vec![one])
    }

    /// A table as a polynomial: of one input; of two bits, `a b`, a, b and 1 with coefficients; of two other inputs, of
    /// `x + domain y`.
    fn table<E: SlotEvaluator>(
        &self,
        ev: &E,
        inputs: &[E::Ciphertext],
        coefficient: E::Scalar,
    ) -> Result<E::Ciphertext> {
        let polynomial =
            |x: &E::Ciphertext, entries: usize| Polynomial::power(vec![coefficient; entries])?.evaluate(ev, x);
        match inputs {
            [a, b] if self.domain == GATE => {
                let product = ev.mul(a, b)?;
                ev.weighted_sum(&[(&product, coefficient), (a, coefficient), (b, coefficient)], coefficient)
            }
            [x, y] => {
                let both = ev.weighted_sum(&[(x, coefficient), (y, coefficient)], <E::Scalar as Scalar>::ZERO)?;
                polynomial(&both, self.domain * self.domain)
            }
            _ => polynomial(&inputs[0], self.domain),
        }
    }
}

/// The values of a bit.
const GATE: usize = 2;

/// A circuit whose matrix is encoded.
pub struct PreparedCircuit<F> {
    circuit: SlotCircuit,
    map: Option<PreparedMap<F>>,
}

impl<F> PreparedCircuit<F> {
    /// Runs the circuit, with `coefficient` for all coefficients of a polynomial.
    ///
    /// # Errors
    /// As [`SlotCircuit::run`].
    pub fn run<E: SlotEvaluator<Factor = F>>(
        &self,
        ev: &E,
        inputs: &[E::Ciphertext],
        coefficient: E::Scalar,
    ) -> Result<Vec<E::Ciphertext>> {
        match (&self.map, inputs) {
            (Some(map), [x]) => Ok(vec![map.apply(ev, x)?]),
            _ => self.circuit.run(ev, inputs, coefficient),
        }
    }
}

/// The product of ciphertexts, in pairs.
fn product_of_ciphertexts<E: SlotEvaluator>(ev: &E, factors: &[E::Ciphertext]) -> Result<E::Ciphertext> {
    let mut products = factors.to_vec();
    while products.len() > 1 {
        let pairs = products.chunks(2).map(|pair| match pair {
            [a, b] => ev.mul(a, b),
            _ => Ok(pair[0].clone()),
        });
        products = pairs.collect::<Result<_>>()?;
    }
    Ok(products.swap_remove(0))
}

fn sum<E: SlotEvaluator>(ev: &E, terms: &[E::Ciphertext]) -> Result<E::Ciphertext> {
    terms[1..].iter().try_fold(terms[0].clone(), |sum, term| ev.add(&sum, term))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuits::recorder::Recorder;
    use crate::schemes::clear::{ClearEvaluator, ClearVector};

    fn first(computation: Computation, placement: Placement, inputs: &[&[f64]]) -> f64 {
        let circuit = SlotCircuit { computation, placement, domain: 0 };
        let vector = |x: &&[f64]| ClearVector::new(x.to_vec(), 5).expect("a power of two");
        let inputs: Vec<_> = inputs.iter().map(vector).collect();
        circuit.run(&ClearEvaluator, &inputs, 1.0).expect("enough levels")[0].values()[0]
    }

    #[test]
    fn circuits_compute_what_they_say_in_both_placements() {
        use Placement::{Apart, Consecutive};
        let product = Computation::Product { count: 3 };
        assert_eq!(first(product, Consecutive, &[&[2.0, 3.0, 7.0, 1.0]]), 42.0);
        assert_eq!(first(product, Apart, &[&[2.0], &[3.0], &[7.0]]), 42.0);
        let sum = Computation::Sum { count: 3 };
        assert_eq!(first(sum, Consecutive, &[&[2.0, 3.0, 7.0, 0.0]]), 12.0);
        assert_eq!(first(sum, Apart, &[&[2.0], &[3.0], &[7.0]]), 12.0);
        let inner = Computation::InnerProduct { length: 2 };
        assert_eq!(first(inner, Consecutive, &[&[2.0, 3.0], &[5.0, 7.0]]), 31.0);
        assert_eq!(first(inner, Apart, &[&[2.0], &[3.0], &[5.0], &[7.0]]), 31.0);
        assert_eq!(first(Computation::Squarings { depth: 3 }, Consecutive, &[&[2.0]]), 256.0);
        assert_eq!(first(Computation::Polynomial { degree: 3 }, Consecutive, &[&[2.0]]), 15.0);
        let matrix = Computation::Matrix { rows: 2, columns: 3 };
        assert_eq!(first(matrix, Consecutive, &[&[2.0, 3.0, 7.0, 0.0]]), 12.0);
        assert_eq!(first(matrix, Apart, &[&[2.0], &[3.0], &[7.0]]), 12.0);
    }

    #[test]
    fn trees_have_logarithmic_depth() {
        for (count, depth) in [(1, 0), (2, 1), (100, 7), (128, 7), (129, 8)] {
            for placement in [Placement::Consecutive, Placement::Apart] {
                let circuit = SlotCircuit { computation: Computation::Product { count }, placement, domain: 0 };
                let recorder = Recorder::new();
                let inputs = vec![recorder.fresh(1 << 10); circuit.inputs()];
                circuit.run(&recorder, &inputs, 1.0).expect("levels without end");
                assert_eq!(recorder.usage().depth, depth, "{count}");
            }
        }
    }

    #[test]
    fn what_is_no_circuit_on_slots_is_refused() {
        let circuit = SlotCircuit { computation: Computation::Compare, placement: Placement::Consecutive, domain: 0 };
        let recorder = Recorder::new();
        assert!(circuit.run(&recorder, &[recorder.fresh(4)], 1.0).is_err());
        let circuit =
            SlotCircuit { computation: Computation::Sum { count: 2 }, placement: Placement::Apart, domain: 0 };
        assert!(circuit.run(&recorder, &[recorder.fresh(4)], 1.0).is_err_and(|error| error.to_string().contains("2")));
    }
}

//! Workloads as graphs, as the compiler takes them.

use noren_rlwe::error::{Error, Result};

use crate::advisor::workload::{Computation, Values, Workload};
use crate::graph::dag::Graph;
use crate::graph::interval::Interval;
use crate::graph::operation::{Binary, Element, Operation, Reduction};

/// The most elements of a graph of a workload, and the most entries of its matrix.
const MOST_ELEMENTS: usize = 1 << 20;
/// The most squarings.
const MOST_SQUARINGS: usize = 1 << 8;

impl Workload {
    /// The computation on arrays with a row for each instance, which the compiler takes: of real numbers in `[-1, 1]`, or of
    /// integers from 0 on. Matrices and polynomials have equal entries, which keep results of real numbers in `[-1, 1]`. Tables
    /// are of `7 x mod 2^bits` and `x + 7 y mod 2^bits`, as any would be, and longer ones than 2^20 of `(x^2 + 7 y) mod (x + y + 1)`,
    /// for whose formula digits take about as long as for that of any function that is no single operation.
    ///
    /// # Errors
    /// [`Error::Parameters`] for more elements than 2^20; as [`Graph::push`] for integers that are too large.
    pub fn graph(&self) -> Result<Graph> {
        self.graph_below(0.0)
    }

    /// The same of real numbers that stay so far below 1.
    pub(crate) fn graph_below(&self, excluded: f64) -> Result<Graph> {
        self.check()?;
        if !(0.0..1.0).contains(&excluded) {
            return Err(Error::parameter("excluded", excluded, "from 0 to below 1"));
        }
        if self.instances > self.most_instances() {
            return Err(Error::parameter(
                "instances",
                self.instances,
                format!("arrays of at most {MOST_ELEMENTS} elements"),
            ));
        }
        let (of, entries) = match self.computation {
            Computation::Matrix { rows, columns } => ("entries of the matrix", rows.saturating_mul(columns)),
            Computation::Squarings { depth } => ("squarings", depth.saturating_mul(MOST_ELEMENTS / MOST_SQUARINGS)),
            _ => ("", 0),
        };
        if entries > MOST_ELEMENTS {
            return Err(Error::parameter("workload", of, "fewer of them: advice compiles the function"));
        }
        let mut made = Made { graph: Graph::default(), workload: self, excluded };
        let output = made.output()?;
        made.graph.finish(vec![output])?;
        Ok(made.graph)
    }
}

impl Workload {
    /// The most instances whose inputs and results arrays have room for; 0 if one is too large.
    pub(super) fn most_instances(&self) -> usize {
        MOST_ELEMENTS / self.inputs().max(self.outputs())
    }

    /// The bits of integers; 0 of real numbers.
    pub(super) const fn bits(&self) -> u32 {
        match self.values {
            Values::Real { .. } => 0,
            Values::Integer { bits, .. } => bits,
        }
    }

    /// Entries of a matrix or a polynomial, of which `count` are added up.
    pub(super) fn entry(&self, count: usize) -> f64 {
        match self.values {
            Values::Real { .. } => 1.0 / count as f64,
            Values::Integer { bits, .. } => {
                let end = self.modulus.map_or(f64::INFINITY, |modulus| modulus as f64);
                end.min(libm::exp2(f64::from(bits))) - 1.0
            }
        }
    }

    /// The values of a table for each input or pair, unless it is too long: `7 k`, and the first of a pair, modulo the number of
    /// values of an input.
    pub(super) fn table(&self) -> Option<Vec<f64>> {
        let inputs = self.inputs() as u32;
        let count = 1usize.checked_shl(self.bits() * inputs).filter(|&count| count <= MOST_ELEMENTS)?;
        Some((0..count).map(|k| ((7 * k + (k >> self.bits())) % (1 << self.bits())) as f64).collect())
    }

    /// The number that results are taken modulo, if they are.
    pub(super) fn divisor(&self) -> Option<f64> {
        let Values::Integer { bits, result_bits } = self.values else { return None };
        let asked = result_bits.filter(|&asked| f64::from(asked) < self.exact_bits(bits));
        self.modulus.map(|modulus| modulus as f64).or_else(|| asked.map(|bits| libm::exp2(f64::from(bits))))
    }
}

/// A graph on the way.
struct Made<'a> {
    graph: Graph,
    workload: &'a Workload,
    /// How far below 1 the absolute values of real numbers stay.
    excluded: f64,
}

impl Made<'_> {
    fn output(&mut self) -> Result<usize> {
        Ok(match self.workload.computation {
            Computation::Product { count } => {
                let x = self.input("x", count)?;
                match self.workload.divisor() {
                    None => self.push(Operation::Reduce(Reduction::Product, x, vec![1]))?,
                    Some(_) => self.product(x, count)?,
                }
            }
            Computation::Sum { count } => {
                let x = self.input("x", count)?;
                let sum = self.push(Operation::Reduce(Reduction::Sum, x, vec![1]))?;
                self.reduced(sum)?
            }
            Computation::InnerProduct { length } => {
                let (x, y) = (self.input("x", length)?, self.input("y", length)?);
                let products = self.push(Operation::Binary(Binary::Mul, x, y))?;
                let sum = self.push(Operation::Reduce(Reduction::Sum, products, vec![1]))?;
                self.reduced(sum)?
            }
            Computation::Squarings { depth } => {
                let x = self.input("x", 1)?;
                (0..depth).try_fold(x, |x, _| {
                    let square = self.push(Operation::Binary(Binary::Mul, x, x))?;
                    self.reduced(square)
                })?
            }
            Computation::Polynomial { degree } => {
                let x = self.input("x", 1)?;
                let coefficients = vec![self.workload.entry(degree + 1); degree + 1];
                match self.workload.divisor() {
                    None => self.push(Operation::Polynomial(x, coefficients))?,
                    Some(_) => self.polynomial(x, &coefficients)?,
                }
            }
            Computation::Matrix { rows, columns } => {
                let x = self.input("x", columns)?;
                let matrix = vec![self.workload.entry(columns); rows * columns];
                let product = self.push(Operation::MatMul { of: x, columns: rows, matrix })?;
                self.reduced(product)?
            }
            Computation::Compare => {
                let (x, y) = (self.input("x", 1)?, self.input("y", 1)?);
                self.push(Operation::Binary(Binary::Less, x, y))?
            }
            Computation::Table { inputs } => {
                let (x, bits) = (self.input("x", 1)?, self.workload.bits());
                let y = if inputs == 2 { Some(self.input("y", 1)?) } else { None };
                match (y, self.workload.table()) {
                    (None, Some(values)) => self.table(x, values)?,
                    (Some(y), Some(values)) => {
                        let factor = self.constant(libm::exp2(f64::from(bits)))?;
                        let high = self.push(Operation::Binary(Binary::Mul, x, factor))?;
                        let index = self.push(Operation::Binary(Binary::Add, high, y))?;
                        self.table(index, values)?
                    }
                    (Some(y), None) => {
                        let (one, seven) = (self.constant(1.0)?, self.constant(7.0)?);
                        let square = self.push(Operation::Binary(Binary::Mul, x, x))?;
                        let multiple = self.push(Operation::Binary(Binary::Mul, y, seven))?;
                        let dividend = self.push(Operation::Binary(Binary::Add, square, multiple))?;
                        let sum = self.push(Operation::Binary(Binary::Add, x, y))?;
                        let divisor = self.push(Operation::Binary(Binary::Add, sum, one))?;
                        self.push(Operation::Binary(Binary::Remainder, dividend, divisor))?
                    }
                    (None, None) => {
                        let needed = format!("at most {}, for a table of as many values", MOST_ELEMENTS.ilog2());
                        return Err(Error::parameter("bits", bits, needed));
                    }
                }
            }
        })
    }

    fn push(&mut self, operation: Operation) -> Result<usize> {
        self.graph.push(operation, "")
    }

    fn table(&mut self, of: usize, values: Vec<f64>) -> Result<usize> {
        self.push(Operation::Table { of, first: 0, values, element: Element::Integer })
    }

    fn constant(&mut self, number: f64) -> Result<usize> {
        self.push(Operation::Constant { shape: vec![], element: Element::Integer, values: vec![number] })
    }

    fn input(&mut self, name: &str, width: usize) -> Result<usize> {
        let (element, range) = match (self.workload.values, self.workload.modulus) {
            (Values::Real { .. }, _) => (Element::Real, Interval::new(self.excluded - 1.0, 1.0 - self.excluded)),
            (Values::Integer { .. }, Some(modulus)) => (Element::Integer, Interval::new(0.0, (modulus - 1) as f64)),
            (Values::Integer { bits, .. }, None) => {
                (Element::Integer, Interval::new(0.0, libm::exp2(f64::from(bits)) - 1.0))
            }
        };
        let shape = vec![self.workload.instances, width];
        self.push(Operation::Input { name: name.to_owned(), shape, element, range })
    }

    fn reduced(&mut self, at: usize) -> Result<usize> {
        let Some(divisor) = self.workload.divisor() else { return Ok(at) };
        let divisor = self.constant(divisor)?;
        self.push(Operation::Binary(Binary::Remainder, at, divisor))
    }

    /// A polynomial by its powers, each reduced.
    fn polynomial(&mut self, x: usize, coefficients: &[f64]) -> Result<usize> {
        let mut powers = vec![x];
        for k in 2..coefficients.len() {
            let (a, b) = (powers[k / 2 - 1], powers[k - k / 2 - 1]);
            let product = self.push(Operation::Binary(Binary::Mul, a, b))?;
            powers.push(self.reduced(product)?);
        }
        let mut sum = self.constant(coefficients[0])?;
        for (&c, power) in coefficients[1..].iter().zip(powers) {
            let c = self.constant(c)?;
            let term = self.push(Operation::Binary(Binary::Mul, c, power))?;
            sum = self.push(Operation::Binary(Binary::Add, sum, term))?;
        }
        self.reduced(sum)
    }

    /// The product along the second axis, in pairs, each reduced.
    fn product(&mut self, x: usize, count: usize) -> Result<usize> {
        let (mut x, mut count) = (x, count);
        while count > 1 {
            let (of, half) = (x, count / 2);
            let a = self.gathered(of, half, |row, column| Some(row * count + column))?;
            let b = self.gathered(of, half, |row, column| Some(row * count + half + column))?;
            let product = self.push(Operation::Binary(Binary::Mul, a, b))?;
            x = self.reduced(product)?;
            if count % 2 == 1 {
                // Beside the products the one that is left.
                let products =
                    self.gathered(x, half + 1, |row, column| (column < half).then_some(row * half + column))?;
                let last =
                    self.gathered(of, half + 1, |row, column| (column == half).then_some((row + 1) * count - 1))?;
                x = self.push(Operation::Binary(Binary::Add, products, last))?;
            }
            count = count.div_ceil(2);
        }
        Ok(x)
    }

    /// A row of `width` elements for each instance: those of a node in these positions, or zeros.
    fn gathered(&mut self, of: usize, width: usize, at: impl Fn(usize, usize) -> Option<usize>) -> Result<usize> {
        let rows = self.workload.instances;
        let position = |k: usize| at(k / width, k % width).map_or(-1, |position| position as i64);
        let positions = (0..rows * width).map(position).collect();
        self.push(Operation::Gather { of, shape: vec![rows, width], positions })
    }
}

//! Operations of a traced function.

use serde::{Deserialize, Serialize};

use crate::circuits::approx::sigmoid;
use crate::graph::interval::Interval;
use crate::graph::sparse::SparseMatrix;

/// The type of the elements of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Element {
    /// A truth value.
    Bool,
    /// An integer.
    Integer,
    /// A real number.
    Real,
}

/// A node of the graph of a traced function: what is computed from earlier nodes, which are named by their positions.
///
/// Shapes broadcast as those of numpy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Operation {
    /// An argument of the function, which is encrypted. Its range is public.
    Input {
        /// The name.
        name: String,
        /// The shape.
        shape: Vec<usize>,
        /// The type of the elements.
        element: Element,
        /// Where all elements lie.
        range: Interval,
    },
    /// Numbers in clear, in row-major order.
    Constant {
        /// The shape.
        shape: Vec<usize>,
        /// The type of the elements.
        element: Element,
        /// The numbers.
        values: Vec<f64>,
    },
    /// Elements of a node by their positions in row-major order, zero for a position of -1: reshaping, transposing, indexing,
    /// slicing, concatenating and so on.
    Gather {
        /// The node.
        of: usize,
        /// The shape of the result.
        shape: Vec<usize>,
        /// For each element of the result its position in the node.
        positions: Vec<i64>,
    },
    /// An operation on each element.
    Unary(Unary, usize),
    /// An operation on each pair of elements.
    Binary(Binary, usize, usize),
    /// For each element the second if the first is true, else the third.
    Select(usize, usize, usize),
    /// `sum_c x[.., c] matrix[c][k]`: a product with a matrix in clear, along the last axis.
    MatMul {
        /// The node.
        of: usize,
        /// Columns of the matrix.
        columns: usize,
        /// The matrix, row after row; as many rows as the last axis has elements.
        matrix: Vec<f64>,
    },
    /// The same of real numbers with a matrix that is given by its entries that are not zero.
    Sparse {
        /// The node.
        of: usize,
        /// Columns of the matrix.
        columns: usize,
        /// The matrix; as many rows as the last axis has elements.
        matrix: SparseMatrix,
    },
    /// One number from all along some axes, which the result has no more.
    Reduce(Reduction, usize, Vec<usize>),
    /// The elements in ascending order along an axis.
    Sort(usize, usize),
    /// The place of the largest element along an axis, the first of several, which the result has no more.
    ArgMax(usize, usize),
    /// A weighted sum of order statistics along an axis, which the result has no more: of each term the element that so many
    /// are before in ascending order, and its weight. Quantiles are such sums.
    OrderStatistic {
        /// The node.
        of: usize,
        /// The axis.
        axis: usize,
        /// The ranks, from 0 on, and their weights.
        terms: Vec<(usize, f64)>,
    },
    /// Whether an element is one of the largest along an axis: no smaller than the last of these.
    Top {
        /// The node.
        of: usize,
        /// The axis.
        axis: usize,
        /// How many are the largest.
        count: usize,
    },
    /// `sum_k coefficients[k] x^k` of each element.
    Polynomial(usize, Vec<f64>),
    /// A smooth function of each element, within an absolute error.
    Function {
        /// The function.
        name: Function,
        /// The node.
        of: usize,
        /// The error; the compiler chooses it from the precision that is asked for if it is 0.
        #[serde(default)]
        error: f64,
    },
    /// The same elements, real numbers that lie in an interval: whoever decrypts results checks that, and refuses them otherwise.
    Within(usize, Interval),
    /// `values[x - first]` for each element `x`.
    Table {
        /// The node, of integers.
        of: usize,
        /// The integer whose value stands first.
        first: i64,
        /// The values, one for each integer from `first` on.
        values: Vec<f64>,
        /// The type of the values.
        element: Element,
    },
}

/// An operation on one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unary {
    /// `-x`.
    Neg,
    /// `not x` of truth values.
    Not,
    /// `|x|`.
    Abs,
    /// -1, 0 or 1.
    Sign,
    /// The element as it was computed, its error included: errors are counted from here on.
    Restated,
}

/// An operation on two elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Binary {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a b`.
    Mul,
    /// `a / b` of integers, rounded down.
    FloorDivide,
    /// The remainder of `a / b` of integers, with the sign of `b`.
    Remainder,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// `a 2^b`.
    ShiftLeft,
    /// `a / 2^b`, rounded down.
    ShiftRight,
    /// `a < b`.
    Less,
    /// `a <= b`.
    LessEqual,
    /// `a > b`.
    Greater,
    /// `a >= b`.
    GreaterEqual,
    /// `a == b`.
    Equal,
    /// `a != b`.
    NotEqual,
    /// The smaller.
    Minimum,
    /// The larger.
    Maximum,
}

/// How elements along axes become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reduction {
    /// Their sum.
    Sum,
    /// Their product.
    Product,
    /// The largest.
    Maximum,
    /// The smallest.
    Minimum,
}

/// A smooth function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Function {
    /// `e^x`.
    Exp,
    /// `ln x`.
    Log,
    /// The square root.
    Sqrt,
    /// `1 / x`.
    Reciprocal,
    /// The hyperbolic tangent.
    Tanh,
    /// `1 / (1 + e^-x)`.
    Sigmoid,
    /// The sine.
    Sin,
    /// The cosine.
    Cos,
}

impl Unary {
    /// The result.
    #[must_use]
    pub fn of(self, x: f64) -> f64 {
        match self {
            Self::Neg => -x,
            Self::Not => 1.0 - x,
            Self::Abs => x.abs(),
            Self::Sign if x == 0.0 => 0.0,
            Self::Sign => x.signum(),
            Self::Restated => x,
        }
    }
}

impl Binary {
    /// Whether it compares.
    #[must_use]
    pub const fn compares(self) -> bool {
        matches!(self, Self::Less | Self::LessEqual | Self::Greater | Self::GreaterEqual | Self::Equal | Self::NotEqual)
    }

    /// The result, of integers as numbers of `f64`.
    #[must_use]
    pub fn of(self, a: f64, b: f64) -> f64 {
        let truth = |holds: bool| f64::from(u8::from(holds));
        match self {
            Self::Add => a + b,
            Self::Sub => a - b,
            Self::Mul => a * b,
            Self::FloorDivide => (a / b).floor(),
            Self::Remainder => a - b * (a / b).floor(),
            Self::And => (a as i64 & b as i64) as f64,
            Self::Or => (a as i64 | b as i64) as f64,
            Self::Xor => (a as i64 ^ b as i64) as f64,
            Self::ShiftLeft => a * libm::exp2(b),
            Self::ShiftRight => (a / libm::exp2(b)).floor(),
            Self::Less => truth(a < b),
            Self::LessEqual => truth(a <= b),
            Self::Greater => truth(a > b),
            Self::GreaterEqual => truth(a >= b),
            Self::Equal => truth(a == b),
            Self::NotEqual => truth(a != b),
            Self::Minimum => a.min(b),
            Self::Maximum => a.max(b),
        }
    }
}

impl Reduction {
    /// The operation on two.
    #[must_use]
    pub const fn binary(self) -> Binary {
        match self {
            Self::Sum => Binary::Add,
            Self::Product => Binary::Mul,
            Self::Maximum => Binary::Maximum,
            Self::Minimum => Binary::Minimum,
        }
    }
}

impl Function {
    /// The value.
    #[must_use]
    pub fn of(self, x: f64) -> f64 {
        match self {
            Self::Exp => libm::exp(x),
            Self::Log => libm::log(x),
            Self::Sqrt => x.sqrt(),
            Self::Reciprocal => 1.0 / x,
            Self::Tanh => libm::tanh(x),
            Self::Sigmoid => sigmoid(x),
            Self::Sin => libm::sin(x),
            Self::Cos => libm::cos(x),
        }
    }

    /// Where the values lie for arguments in an interval; the reason if the function is not smooth there.
    ///
    /// # Errors
    /// The arguments that the operation takes, in words.
    pub fn range(self, of: Interval) -> Result<Interval, &'static str> {
        let monotone = Interval::of(&[self.of(of.low), self.of(of.high)]);
        match self {
            Self::Exp | Self::Tanh | Self::Sigmoid => Ok(monotone),
            Self::Log if of.low > 0.0 => Ok(monotone),
            Self::Log => Err("arguments must be above 0: declare a range of inputs for which they are"),
            Self::Sqrt if of.low >= 0.0 => Ok(monotone),
            Self::Sqrt => Err("arguments must not be below 0: declare a range of inputs for which they are not"),
            Self::Reciprocal if of.low > 0.0 || of.high < 0.0 => Ok(monotone),
            Self::Reciprocal => Err("arguments must not reach 0: declare a range of inputs for which they do not"),
            Self::Sin | Self::Cos => Ok(Interval::new(-1.0, 1.0)),
        }
    }
}

impl Operation {
    /// The nodes that it is computed from.
    #[must_use]
    pub fn operands(&self) -> Vec<usize> {
        match *self {
            Self::Input { .. } | Self::Constant { .. } => Vec::new(),
            Self::Gather { of, .. }
            | Self::Unary(_, of)
            | Self::MatMul { of, .. }
            | Self::Sparse { of, .. }
            | Self::Reduce(_, of, _)
            | Self::Sort(of, _)
            | Self::ArgMax(of, _)
            | Self::OrderStatistic { of, .. }
            | Self::Top { of, .. }
            | Self::Polynomial(of, _)
            | Self::Function { of, .. }
            | Self::Within(of, _)
            | Self::Table { of, .. } => vec![of],
            Self::Binary(_, a, b) => vec![a, b],
            Self::Select(condition, a, b) => vec![condition, a, b],
        }
    }

    /// The same of other nodes.
    #[must_use]
    pub fn renamed(mut self, name: impl Fn(usize) -> usize) -> Self {
        match &mut self {
            Self::Input { .. } | Self::Constant { .. } => {}
            Self::Gather { of, .. }
            | Self::Unary(_, of)
            | Self::MatMul { of, .. }
            | Self::Sparse { of, .. }
            | Self::Reduce(_, of, _)
            | Self::Sort(of, _)
            | Self::ArgMax(of, _)
            | Self::OrderStatistic { of, .. }
            | Self::Top { of, .. }
            | Self::Polynomial(of, _)
            | Self::Function { of, .. }
            | Self::Within(of, _)
            | Self::Table { of, .. } => *of = name(*of),
            Self::Binary(_, a, b) => (*a, *b) = (name(*a), name(*b)),
            Self::Select(condition, a, b) => (*condition, *a, *b) = (name(*condition), name(*a), name(*b)),
        }
        self
    }

    /// The name, as messages and tables show it.
    #[must_use]
    pub fn name(&self) -> String {
        let kebab = |kind: &dyn std::fmt::Debug| {
            let mut name = String::new();
            for letter in format!("{kind:?}").chars() {
                if letter.is_uppercase() && !name.is_empty() {
                    name.push(' ');
                }
                name.extend(letter.to_lowercase());
            }
            name
        };
        match self {
            Self::Input { name, .. } => format!("input {name}"),
            Self::Constant { .. } => "constant".to_owned(),
            Self::Gather { .. } => "gather".to_owned(),
            Self::Unary(kind, _) => kebab(kind),
            Self::Binary(kind, _, _) => kebab(kind),
            Self::Select(..) => "where".to_owned(),
            Self::MatMul { .. } => "matmul".to_owned(),
            Self::Sparse { .. } => "sparse matmul".to_owned(),
            Self::Reduce(kind, _, _) => format!("{} over axes", kebab(kind)),
            Self::Sort(..) => "sort".to_owned(),
            Self::ArgMax(..) => "argmax".to_owned(),
            Self::OrderStatistic { .. } => "order statistic".to_owned(),
            Self::Top { count, .. } => format!("top {count}"),
            Self::Polynomial(_, coefficients) => format!("polynomial of degree {}", coefficients.len().max(1) - 1),
            Self::Function { name, .. } => kebab(name),
            Self::Within(..) => "within".to_owned(),
            Self::Table { values, .. } => format!("table of {}", values.len()),
        }
    }
}

//! Values of BGV or of BFV, with the operations that both schemes have.

use noren::bfv::Bfv;
use noren::bgv::{Bgv, Context, Parameters};
use noren::schemes::integers::{Ciphertext, Content, Evaluator};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// A value of BGV or of BFV, whose types differ.
#[derive(Clone, Copy)]
pub(crate) enum Either<G, F> {
    Bgv(G),
    Bfv(F),
}

/// The same expression for the value of either scheme. A macro, because the value has another type in each arm, which a closure
/// or a pointer to a function cannot have.
macro_rules! each {
    ($either:expr, |$value:pat_param| $expression:expr) => {
        match $either {
            Either::Bgv($value) => Either::Bgv($expression),
            Either::Bfv($value) => Either::Bfv($expression),
        }
    };
}
pub(crate) use each;

pub(crate) type AnyContext = Either<Context, Context>;
pub(crate) type AnyCiphertext = Either<Ciphertext<Bgv>, Ciphertext<Bfv>>;
pub(crate) type AnyEvaluator = Either<Evaluator<Bgv>, Evaluator<Bfv>>;

impl<G, F> Either<G, F> {
    pub(crate) const fn as_ref(&self) -> Either<&G, &F> {
        match self {
            Self::Bgv(value) => Either::Bgv(value),
            Self::Bfv(value) => Either::Bfv(value),
        }
    }

    /// Both values, if they are of one scheme.
    pub(crate) fn with<H, I>(self, other: Either<H, I>) -> Option<Either<(G, H), (F, I)>> {
        match (self, other) {
            (Self::Bgv(a), Either::Bgv(b)) => Some(Either::Bgv((a, b))),
            (Self::Bfv(a), Either::Bfv(b)) => Some(Either::Bfv((a, b))),
            _ => None,
        }
    }

    /// The name of the scheme.
    pub(crate) const fn scheme(&self) -> &'static str {
        match self {
            Self::Bgv(_) => "BGV",
            Self::Bfv(_) => "BFV",
        }
    }
}

impl<T> Either<T, T> {
    /// The value, whose type does not depend on the scheme.
    pub(crate) fn same(self) -> T {
        match self {
            Self::Bgv(value) | Self::Bfv(value) => value,
        }
    }
}

impl<G, F, E> Either<Result<G, E>, Result<F, E>> {
    /// The result with the scheme inside.
    pub(crate) fn transpose(self) -> Result<Either<G, F>, E> {
        Ok(match self {
            Self::Bgv(value) => Either::Bgv(value?),
            Self::Bfv(value) => Either::Bfv(value?),
        })
    }
}

impl<G, F> Either<Vec<G>, Vec<F>> {
    /// The values one by one.
    pub(crate) fn into_vec(self) -> Vec<Either<G, F>> {
        match self {
            Self::Bgv(values) => values.into_iter().map(Either::Bgv).collect(),
            Self::Bfv(values) => values.into_iter().map(Either::Bfv).collect(),
        }
    }
}

impl AnyCiphertext {
    pub(crate) fn content(&self) -> Content {
        each!(self, |x| x.content()).same()
    }

    pub(crate) fn parameters(&self) -> &Parameters {
        each!(self, |x| x.parameters()).same()
    }
}

/// The `TypeError` of pyo3 for an object of another class.
pub(crate) fn other_class(name: &str) -> PyErr {
    PyTypeError::new_err(format!("'{name}' object is not an instance of '{name}'"))
}

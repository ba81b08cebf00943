//! The cases of the suites `product` and `inner-product`.

use clap::ValueEnum;
use noren::advisor::Scheme;

/// A reduction that is measured.
pub(super) struct Case {
    pub(super) reduction: Reduction,
    pub(super) scheme: Scheme,
    pub(super) way: Way,
    pub(super) count: usize,
    /// The width of integers in TFHE.
    pub(super) bits: usize,
}

/// Many numbers become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::measure) enum Reduction {
    /// The product of all.
    Product,
    /// The sum of products of two vectors.
    InnerProduct,
}

/// The order of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Way {
    /// As Tsuji and Oguchi compute it: one number after the other
    Paper,
    /// As noren does: in as few levels, or calls, as there can be
    Tree,
}

impl Reduction {
    /// The name of the suite.
    pub(super) const fn suite(self) -> &'static str {
        match self {
            Self::Product => "product",
            Self::InnerProduct => "inner-product",
        }
    }

    /// The name of the operation.
    pub(super) const fn op(self) -> &'static str {
        match self {
            Self::Product => "product",
            Self::InnerProduct => "inner_product",
        }
    }
}

impl Way {
    /// The name, as the option has it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Tree => "tree",
        }
    }
}

//! Operations on elements.

use std::fmt;

use crate::programs::columns::element::Element;
use crate::radix::{Comparison, Move, Operation};
use crate::schemes::tfhe::Gate;

/// An operation on two elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binary {
    /// `a + b`, modulo `2^bits`.
    Add,
    /// `a - b`, modulo `2^bits`.
    Sub,
    /// `a b`, modulo `2^bits`.
    Mul,
    /// `a / b`, rounded down.
    Div,
    /// The remainder of `a / b`, with the sign of b.
    Rem,
    /// Each bit whether it is 1 in both.
    And,
    /// Each bit whether it is 1 in one at least.
    Or,
    /// Each bit whether it is 1 in just one.
    Xor,
    /// Bits of a moved to higher places.
    ShiftLeft,
    /// Bits of a moved to lower places; the sign stays.
    ShiftRight,
    /// Whether a relation holds.
    Compare(Comparison),
    /// The smaller.
    Min,
    /// The larger.
    Max,
}

/// An operation on an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `-a`, modulo `2^bits`.
    Neg,
    /// Each bit whether it is 0.
    Not,
}

impl Binary {
    /// The gate of truth values.
    #[must_use]
    pub const fn gate(self) -> Option<Gate> {
        match self {
            Self::And | Self::Min | Self::Mul => Some(Gate::And),
            Self::Or | Self::Max => Some(Gate::Or),
            Self::Xor | Self::Compare(Comparison::Ne) => Some(Gate::Xor),
            Self::Compare(Comparison::Eq) => Some(Gate::Xnor),
            _ => None,
        }
    }

    /// The operation on integers, where it is one: the smaller or larger of signed ones is chosen by a comparison.
    #[must_use]
    pub const fn of_integers(self, signed: bool) -> Option<Operation> {
        match self {
            Self::Add => Some(Operation::Add),
            Self::Sub => Some(Operation::Sub),
            Self::Mul => Some(Operation::Mul),
            Self::Div | Self::Rem if signed => Some(Operation::DivRemSigned),
            Self::Div | Self::Rem => Some(Operation::DivRem),
            Self::And => Some(Operation::And),
            Self::Or => Some(Operation::Or),
            Self::Xor => Some(Operation::Xor),
            Self::ShiftLeft => Some(Operation::Move(Move::ShiftLeft)),
            Self::ShiftRight if signed => Some(Operation::Move(Move::ShiftRightSigned)),
            Self::ShiftRight => Some(Operation::Move(Move::ShiftRight)),
            Self::Compare(comparison) if signed => Some(Operation::CompareSigned(comparison)),
            Self::Compare(comparison) => Some(Operation::Compare(comparison)),
            Self::Min | Self::Max if signed => None,
            Self::Min => Some(Operation::Min),
            Self::Max => Some(Operation::Max),
        }
    }

    /// The operation on elements of a type with a number that everybody knows, where there is a cheaper one.
    pub(crate) fn with_known(self, element: Element, value: i128) -> Option<Operation> {
        match self {
            _ if element.bits().is_none() => None,
            Self::Add => Some(Operation::AddKnown(element.word(value))),
            Self::Sub => Some(Operation::AddKnown(element.word(-value))),
            Self::Mul => Some(Operation::MulKnown(element.word(value))),
            Self::And => Some(Operation::AndKnown(element.word(value))),
            Self::ShiftLeft if value >= 0 => Some(Operation::MoveKnown(Move::ShiftLeft, value.min(64) as usize)),
            Self::ShiftRight if value >= 0 => {
                let direction = if element.is_signed() { Move::ShiftRightSigned } else { Move::ShiftRight };
                Some(Operation::MoveKnown(direction, value.min(64) as usize))
            }
            _ => None,
        }
    }

    /// The name, as messages show it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Mul => "mul",
            Self::Div => "div",
            Self::Rem => "rem",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
            Self::ShiftLeft => "shift-left",
            Self::ShiftRight => "shift-right",
            Self::Compare(Comparison::Eq) => "equal",
            Self::Compare(Comparison::Ne) => "not-equal",
            Self::Compare(Comparison::Lt) => "less",
            Self::Compare(Comparison::Le) => "less-equal",
            Self::Compare(Comparison::Gt) => "greater",
            Self::Compare(Comparison::Ge) => "greater-equal",
            Self::Min => "min",
            Self::Max => "max",
        }
    }
}

impl fmt::Display for Binary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Unary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Neg => "neg",
            Self::Not => "not",
        })
    }
}

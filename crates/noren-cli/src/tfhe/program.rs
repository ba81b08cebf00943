//! Programs on encrypted columns, by their names.

use noren::programs::columns::{Binary, Column, ColumnEvaluator, Unary};
use noren::radix::Comparison;

use crate::evaluation::{ADD, LOOKUP};

/// The operation of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    /// Two columns, or a column and a number.
    Join(Binary),
    /// One column.
    Each(Unary),
    /// Where the first column is true the second one, else the third.
    Select,
    /// Each column to one row.
    Reduce(Reduction),
    /// A function of one or two columns, from a table or a formula.
    Lookup,
}

/// A reduction of all rows of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reduction {
    Sum,
    Smallest,
    Largest,
    Argmax,
}

/// All programs.
const PROGRAMS: [(&str, Program); 26] = [
    (ADD, Program::Join(Binary::Add)),
    ("sub", Program::Join(Binary::Sub)),
    ("mul", Program::Join(Binary::Mul)),
    ("div", Program::Join(Binary::Div)),
    ("rem", Program::Join(Binary::Rem)),
    ("and", Program::Join(Binary::And)),
    ("or", Program::Join(Binary::Or)),
    ("xor", Program::Join(Binary::Xor)),
    ("shift-left", Program::Join(Binary::ShiftLeft)),
    ("shift-right", Program::Join(Binary::ShiftRight)),
    ("equal", Program::Join(Binary::Compare(Comparison::Eq))),
    ("not-equal", Program::Join(Binary::Compare(Comparison::Ne))),
    ("less", Program::Join(Binary::Compare(Comparison::Lt))),
    ("less-equal", Program::Join(Binary::Compare(Comparison::Le))),
    ("greater", Program::Join(Binary::Compare(Comparison::Gt))),
    ("greater-equal", Program::Join(Binary::Compare(Comparison::Ge))),
    ("threshold", Program::Join(Binary::Compare(Comparison::Ge))),
    ("min", Program::Join(Binary::Min)),
    ("max", Program::Join(Binary::Max)),
    ("not", Program::Each(Unary::Not)),
    ("select", Program::Select),
    (SUM, Program::Reduce(Reduction::Sum)),
    ("smallest", Program::Reduce(Reduction::Smallest)),
    ("largest", Program::Reduce(Reduction::Largest)),
    ("argmax", Program::Reduce(Reduction::Argmax)),
    (LOOKUP, Program::Lookup),
];

/// The names of all programs.
pub(super) const NAMES: [&str; PROGRAMS.len()] = {
    let mut names = [""; PROGRAMS.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = PROGRAMS[index].0;
        index += 1;
    }
    names
};

/// The one name that programs on numbers with a precision have too.
const SUM: &str = "sum";

impl Program {
    /// Whether other keys have a program of this name too, which runs with theirs.
    pub(super) fn is_shared(name: &str) -> bool {
        [SUM, LOOKUP].contains(&name)
    }

    /// The program of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        PROGRAMS.iter().find(|(found, _)| *found == name).map(|(_, program)| *program)
    }

    /// How many columns it takes; nothing where it takes any number of them, or its function says how many.
    pub(super) const fn columns(self, with_number: bool) -> Option<usize> {
        match self {
            Self::Join(_) => Some(if with_number { 1 } else { 2 }),
            Self::Each(_) => Some(1),
            Self::Select => Some(3),
            Self::Reduce(_) | Self::Lookup => None,
        }
    }
}

impl Reduction {
    /// Whether the result for a column may be another one modulo a power of two.
    pub(super) fn may_wrap(self, column: &Column) -> bool {
        self == Self::Sum && column.count() > 1 && column.element().bits() == Some(64)
    }

    /// The result of one column, of one row.
    pub(super) fn run(self, evaluator: &ColumnEvaluator, column: &Column) -> noren::Result<Column> {
        let rows = column.split();
        match self {
            Self::Sum => evaluator.total(&rows),
            Self::Smallest => evaluator.fold(Binary::Min, &rows),
            Self::Largest => evaluator.fold(Binary::Max, &rows),
            Self::Argmax => evaluator.argmax(&rows),
        }
    }
}

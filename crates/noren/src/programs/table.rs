//! Tables as ciphertexts, and as plain numbers after decryption.

use noren_math::machine::memory;
use noren_rlwe::error::{Error, Result};

use crate::programs::error::ProgramError;
use crate::programs::layout::{Guarantee, TableLayout, check_length};
use crate::programs::pairs::PairLayout;

/// An encrypted table: ciphertexts, and where its entries lie in them.
///
/// Generic over the ciphertexts, so that a program runs on encrypted numbers, on numbers in clear, and on nothing but
/// levels, alike.
#[derive(Debug, Clone, PartialEq)]
pub struct EncryptedTable<C> {
    layout: Layout,
    ciphertexts: Vec<C>,
}

/// Where the entries of a table lie.
#[derive(Debug, Clone, PartialEq)]
pub enum Layout {
    /// Columns side by side.
    Table(TableLayout),
    /// One number for each of some pairs of columns.
    Pairs(PairLayout),
}

/// A table of numbers with names, as a client reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// Names of the rows; the positions where there were no names.
    pub row_names: Vec<String>,
    /// Names of the columns; the positions where there were no names.
    pub column_names: Vec<String>,
    /// The numbers, row after row.
    pub values: Vec<f64>,
    /// For each number, how far it may be from the true one.
    pub errors: Vec<f64>,
    /// Row and column of numbers that cannot be trusted: those that no argument in the interval of the program gives, see
    /// [`Guarantee::range`](crate::programs::layout::Guarantee::range), and all numbers of a ciphertext with an argument
    /// outside or of a column that could not be decided, whose error bounds are infinite.
    pub out_of_range: Vec<(usize, usize)>,
}

impl<C> EncryptedTable<C> {
    /// A table of these ciphertexts.
    ///
    /// # Errors
    /// A number of ciphertexts that is not that of the layout.
    pub fn new(layout: Layout, ciphertexts: Vec<C>) -> Result<Self> {
        check_length("ciphertexts of the table", ciphertexts.len(), layout.ciphertexts())?;
        Ok(Self { layout, ciphertexts })
    }

    /// Where the entries lie.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The ciphertexts.
    #[must_use]
    pub fn ciphertexts(&self) -> &[C] {
        &self.ciphertexts
    }

    /// Layout and ciphertexts.
    #[must_use]
    pub fn into_parts(self) -> (Layout, Vec<C>) {
        (self.layout, self.ciphertexts)
    }

    /// The layout, if the table has columns side by side, as programs need it.
    ///
    /// # Errors
    /// Results for pairs of columns; results that are only right if their arguments, which follow them, lie in an interval.
    pub fn columns(&self) -> Result<&TableLayout> {
        match &self.layout {
            Layout::Table(layout) if layout.arguments().is_some() => Err(Error::WrongKind {
                found: "results whose arguments may lie outside the interval, which decryption finds out".to_owned(),
                needed: "a table of results that are right: bounds of columns that keep all arguments inside"
                    .to_owned(),
            }),
            Layout::Table(layout) => Ok(layout),
            Layout::Pairs(_) => Err(Error::WrongKind {
                found: "a table of results for pairs of columns".to_owned(),
                needed: "a table with columns side by side".to_owned(),
            }),
        }
    }
}

impl Layout {
    /// How many ciphertexts the table takes.
    #[must_use]
    pub fn ciphertexts(&self) -> usize {
        match self {
            Self::Table(layout) => layout.ciphertexts() * (1 + usize::from(layout.arguments().is_some())),
            Self::Pairs(layout) => layout.ciphertexts(),
        }
    }

    /// Number of slots of each ciphertext.
    #[must_use]
    pub const fn slots(&self) -> usize {
        match self {
            Self::Table(layout) => layout.slots(),
            Self::Pairs(layout) => layout.table().slots(),
        }
    }

    /// The table in the slots of decrypted ciphertexts; `bounds` says for each how far its slots may be off.
    ///
    /// # Errors
    /// A number of vectors, of bounds or of slots that is not that of the layout.
    pub fn read(&self, slots: &[Vec<f64>], bounds: &[f64]) -> Result<Matrix> {
        check_length("decrypted ciphertexts", slots.len(), self.ciphertexts())?;
        check_length("error bounds of ciphertexts", bounds.len(), self.ciphertexts())?;
        slots.iter().try_for_each(|vector| check_length("decrypted slots", vector.len(), self.slots()))?;
        let entry = |(ciphertext, slot): (usize, usize), exponent: i32| {
            (libm::ldexp(slots[ciphertext][slot], exponent), libm::ldexp(bounds[ciphertext], exponent))
        };
        Ok(match self {
            Self::Table(layout) => read_table(layout, entry),
            Self::Pairs(layout) => read_pairs(layout, entry),
        })
    }
}

impl Layout {
    /// How many of the ciphertexts hold results; arguments follow them.
    pub(super) fn results(&self) -> usize {
        match self {
            Self::Table(layout) => layout.ciphertexts(),
            Self::Pairs(layout) => layout.ciphertexts(),
        }
    }

    /// How many numbers a decrypted table shows.
    pub(super) fn entries(&self) -> usize {
        match self {
            Self::Table(layout) => layout.rows() * layout.columns(),
            Self::Pairs(layout) if layout.is_square() => layout.table().columns().pow(2),
            Self::Pairs(layout) => layout.pairs().len(),
        }
    }

    /// Asks for the memory of what decryption reads: the slots, and for each number its value, its error and its name.
    pub(super) fn ask_for_matrix(&self) -> Result<()> {
        /// Words of a number: value, error, and what names of rows take.
        const WORDS: usize = 6;
        let slots = self.slots().saturating_mul(self.ciphertexts());
        Ok(memory::ask_for::<u64>(slots.saturating_add(WORDS.saturating_mul(self.entries())))?)
    }

    /// Refuses a matrix with numbers whose arguments were outside the interval of the program, or which it could not decide.
    ///
    /// # Errors
    /// [`ProgramError::ArgumentOutside`], [`ProgramError::Undecided`].
    pub(super) fn trusted(&self, matrix: Matrix) -> Result<Matrix> {
        let (Self::Table(layout), Some(&(row, column))) = (self, matrix.out_of_range.first()) else {
            return Ok(matrix);
        };
        let place = format!("row {}, column {:?}", matrix.row_names[row], matrix.column_names[column]);
        let guarantee = layout.guarantee();
        if let Some(needed) = guarantee.and_then(|guarantee| guarantee.chosen) {
            let (column, found) = (matrix.column_names[column].clone(), ones(&matrix.values, layout.columns(), column));
            return Err(ProgramError::Undecided { column, found, needed }.into());
        }
        Err(ProgramError::ArgumentOutside {
            place,
            count: matrix.out_of_range.len(),
            function: guarantee.map_or_else(String::new, |guarantee| guarantee.function.clone()),
            interval: guarantee.map_or([0.0; 2], |guarantee| guarantee.interval),
        }
        .into())
    }
}

impl Matrix {
    /// The number in a row and column.
    ///
    /// # Panics
    /// There is no such row or column.
    #[must_use]
    pub fn at(&self, row: usize, column: usize) -> f64 {
        assert!(column < self.column_names.len(), "column {column} of {}", self.column_names.len());
        self.values[row * self.column_names.len() + column]
    }

    /// The largest error bound of all numbers.
    #[must_use]
    pub fn error_bound(&self) -> f64 {
        self.errors.iter().fold(0.0, |m, e| m.max(*e))
    }
}

fn read_table(layout: &TableLayout, entry: impl Fn((usize, usize), i32) -> (f64, f64)) -> Matrix {
    let (rows, columns) = (layout.rows(), layout.columns());
    let (mut values, mut errors): (Vec<_>, Vec<_>) = (0..rows)
        .flat_map(|row| (0..columns).map(move |column| (row, column)))
        .map(|(row, column)| entry(layout.place(row, column), layout.exponents()[column]))
        .unzip();
    let mut out_of_range = Vec::new();
    if let Some(guarantee) = layout.guarantee() {
        let [low, high] = guarantee.range;
        let doubtful = doubtful_ciphertexts(layout, guarantee, &entry);
        let decided = |column: usize| guarantee.chosen.is_none_or(|chosen| ones(&values, columns, column) == chosen);
        let decided: Vec<bool> = (0..columns).map(decided).collect();
        for (index, (value, error)) in values.iter_mut().zip(&mut errors).enumerate() {
            *error += guarantee.error;
            if doubtful[layout.place(index / columns, index % columns).0] || !decided[index % columns] {
                *error = f64::INFINITY;
                out_of_range.push((index / columns, index % columns));
                continue;
            }
            if !(low - *error..=high + *error).contains(value) {
                out_of_range.push((index / columns, index % columns));
            }
        }
    }
    Matrix {
        row_names: names(layout.row_names(), rows),
        column_names: names(layout.column_names(), columns),
        values,
        errors,
        out_of_range,
    }
}

/// How many entries of a column are 1, where each is 0 or 1.
fn ones(values: &[f64], columns: usize, column: usize) -> usize {
    const HALF: f64 = 0.5;
    values.iter().skip(column).step_by(columns).filter(|&&value| value > HALF).count()
}

/// For each ciphertext of results, whether it has an argument outside the interval. One such argument spoils all its
/// results: the polynomial grows without bound there, and leaves the modulus.
///
/// An argument counts as inside up to its error bound: so near to the interval values of the polynomial and its
/// derivative are larger by `cosh(d sqrt(2 x))` at most, for degree d and an excess of x half-widths, which is nothing
/// beside the derivative times that error.
fn doubtful_ciphertexts(
    layout: &TableLayout,
    guarantee: &Guarantee,
    entry: &impl Fn((usize, usize), i32) -> (f64, f64),
) -> Vec<bool> {
    let mut doubtful = vec![false; layout.ciphertexts()];
    let Some(exponents) = &guarantee.arguments else {
        return doubtful;
    };
    let [low, high] = guarantee.interval;
    for (row, column) in (0..layout.rows()).flat_map(|row| (0..layout.columns()).map(move |column| (row, column))) {
        let (ciphertext, slot) = layout.place(row, column);
        let (argument, error) = entry((ciphertext + layout.ciphertexts(), slot), exponents[column]);
        // Written so that what is not a number is doubtful.
        if !(low - error <= argument && argument <= high + error && error.is_finite()) {
            doubtful[ciphertext] = true;
        }
    }
    doubtful
}

fn read_pairs(layout: &PairLayout, entry: impl Fn((usize, usize), i32) -> (f64, f64)) -> Matrix {
    let columns = names(layout.table().column_names(), layout.table().columns());
    let of_pair = |i: usize, j: usize| entry(layout.place(i, j), layout.exponent_of(i, j));
    let (row_names, column_names, entries): (_, _, Vec<_>) = if layout.is_square() {
        let count = columns.len();
        let entries = (0..count * count).map(|index| of_pair(index / count, index % count)).collect();
        (columns.clone(), columns, entries)
    } else {
        let rows = layout.pairs().iter().map(|&(i, j)| format!("{} * {}", columns[i], columns[j])).collect();
        let entries = layout.pairs().iter().map(|&(i, j)| of_pair(i, j)).collect();
        (rows, vec!["inner product".to_owned()], entries)
    };
    let (values, errors) = entries.into_iter().unzip();
    Matrix { row_names, column_names, values, errors, out_of_range: Vec::new() }
}

/// The names, or the positions where there are none.
pub(super) fn names(given: &[String], count: usize) -> Vec<String> {
    if given.is_empty() { (0..count).map(|k| k.to_string()).collect() } else { given.to_vec() }
}

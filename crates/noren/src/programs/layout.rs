//! Where the entries of a table lie in the slots of its ciphertexts.

use std::collections::HashSet;

use noren_math::machine::memory;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::wire::header::MAX_SECTIONS;
use serde::{Deserialize, Serialize};

use crate::schemes::error::SlotError;

/// The arrangement of a table of `rows` times `columns` numbers in ciphertexts of `slots` slots.
///
/// A column takes a *block* of `height` consecutive slots, a power of two; a ciphertext holds `slots / height` columns
/// side by side. A table with more rows than `height` has several *row groups*, each with ciphertexts of its own. The
/// entry in row `r`, column `c` lies in ciphertext `(c / per) * groups + r / height`, slot
/// `(c % per) * height + r % height`, with `per = slots / height` columns per ciphertext. What is not an entry is
/// padding.
///
/// Encoded numbers are at most 1 in absolute value: column `c` is divided by `2^exponents[c]` first. **The exponents,
/// the names and the shape are public**: choose exponents from what is known of a quantity, not from the data, where
/// its largest value is a secret.
///
/// # Examples
/// ```
/// use noren::programs::TableLayout;
///
/// let layout = TableLayout::new(285, 30, 8192)?;
/// assert_eq!((layout.height(), layout.columns_per_ciphertext(), layout.ciphertexts()), (512, 16, 2));
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TableLayout {
    rows: usize,
    columns: usize,
    slots: usize,
    height: usize,
    exponents: Vec<i32>,
    row_names: Vec<String>,
    column_names: Vec<String>,
    zero_padding: bool,
    guarantee: Option<Guarantee>,
}

/// The guarantee of a program for numbers in a table that only approximate a function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guarantee {
    /// The function, in words.
    pub function: String,
    /// Where its argument must lie. One argument far outside makes all results of its ciphertext worthless.
    pub interval: [f64; 2],
    /// The largest distance from the function inside, on top of the error of the ciphertexts.
    pub error: f64,
    /// Where results lie: one that is further outside than its error bound had its argument outside the interval.
    pub range: [f64; 2],
    /// The arguments themselves follow the results, each column divided by 2 to one of these powers, where the bounds of
    /// columns do not prove that they lie in the interval: decryption compares them with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Vec<i32>>,
    /// How many entries of each column are 1, and the others 0, where a program chooses them. Entries between which it could not
    /// decide may make more or fewer, which decryption finds out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<usize>,
}

/// The largest absolute exponent, and so the range of numbers: `2^-500` to `2^500`. Two exponents add without overflow.
const LARGEST_EXPONENT: i32 = 500;

/// The most rows, columns or slots: products of two of them fit a word.
const LARGEST_COUNT: usize = 1 << 31;

/// The most columns, of which each has an exponent in memory and in files.
const MOST_COLUMNS: usize = 1 << 24;

/// The most ciphertexts: a file has a section for each of them at least.
const MOST_CIPHERTEXTS: usize = MAX_SECTIONS as usize;

impl TableLayout {
    /// The layout of a table in ciphertexts of at most `max_slots` slots, with exponents 0 and no names.
    ///
    /// A small table gets fewer slots, so that sums are shorter.
    ///
    /// # Errors
    /// No row or no column, or more than there may be; a number of slots that is not a power of two; a table of more than 2^20
    /// ciphertexts, the most that a file holds.
    pub fn new(rows: usize, columns: usize, max_slots: usize) -> Result<Self> {
        check_count("rows", rows)?;
        check_columns(columns)?;
        check_power_of_two("slots", max_slots)?;
        let height = rows.next_power_of_two().min(max_slots);
        let slots = height.saturating_mul(columns.next_power_of_two()).min(max_slots);
        Self::with_geometry(rows, columns, slots, height)
    }

    /// The layout with these numbers of slots and rows per block, exponents 0 and no names.
    ///
    /// # Errors
    /// As [`new`](Self::new); numbers that are not powers of two; a height above the slots.
    pub fn with_geometry(rows: usize, columns: usize, slots: usize, height: usize) -> Result<Self> {
        check_count("rows", rows)?;
        check_columns(columns)?;
        check_power_of_two("slots", slots)?;
        check_power_of_two("height", height)?;
        if height > slots {
            return Err(Error::parameter("height", height, format!("at most {slots}, the number of slots")));
        }
        let ciphertexts = rows.div_ceil(height).saturating_mul(columns.div_ceil(slots / height));
        if ciphertexts > MOST_CIPHERTEXTS {
            let found = format!("{rows} times {columns} numbers in {ciphertexts} ciphertexts of {slots} slots");
            let needed = format!("at most {MOST_CIPHERTEXTS} ciphertexts: cut the table into several");
            return Err(Error::parameter("table", found, needed));
        }
        memory::ask_for::<i32>(columns)?;
        Ok(Self {
            rows,
            columns,
            slots,
            height,
            exponents: vec![0; columns],
            row_names: Vec::new(),
            column_names: Vec::new(),
            zero_padding: true,
            guarantee: None,
        })
    }

    /// The same layout for columns divided by these powers of two.
    ///
    /// # Errors
    /// A number of exponents that is not that of the columns; one beyond 500 in absolute value.
    pub fn with_exponents(self, exponents: Vec<i32>) -> Result<Self> {
        check_length("exponents", exponents.len(), self.columns)?;
        match exponents.iter().find(|e| e.unsigned_abs() > LARGEST_EXPONENT.unsigned_abs()) {
            Some(e) => {
                let needed = format!("2^-{LARGEST_EXPONENT} to 2^{LARGEST_EXPONENT}: take another unit");
                Err(Error::parameter("size of the numbers of a column", format!("2^{e}"), needed))
            }
            None => Ok(Self { exponents, ..self }),
        }
    }

    /// The same layout with the smallest exponents that suit these numbers, row after row.
    ///
    /// # Errors
    /// A number of entries that is not `rows * columns`; one that is not finite.
    pub fn with_exponents_of(self, entries: &[f64]) -> Result<Self> {
        self.check_entries(entries)?;
        let exponents = (0..self.columns)
            .map(|c| exponent_above(entries.iter().skip(c).step_by(self.columns).fold(0.0, |m, x| m.max(x.abs()))))
            .collect();
        self.with_exponents(exponents)
    }

    /// The same layout with names of the columns, or none.
    ///
    /// # Errors
    /// A number of names that is neither 0 nor that of the columns; a name that occurs twice.
    pub fn with_column_names(self, column_names: Vec<String>) -> Result<Self> {
        if !column_names.is_empty() {
            check_length("names of columns", column_names.len(), self.columns)?;
            check_names(&column_names)?;
        }
        Ok(Self { column_names, ..self })
    }

    /// The same layout with names of the rows, or none. They travel with the table, in clear.
    ///
    /// # Errors
    /// A number of names that is neither 0 nor that of the rows.
    pub fn with_row_names(self, row_names: Vec<String>) -> Result<Self> {
        if !row_names.is_empty() {
            check_length("names of rows", row_names.len(), self.rows)?;
        }
        Ok(Self { row_names, ..self })
    }

    /// The same layout for numbers that come with a guarantee.
    #[must_use]
    pub fn with_guarantee(self, guarantee: Guarantee) -> Self {
        Self { guarantee: Some(guarantee), ..self }
    }

    /// The same layout, with a statement on whether all padding in the blocks of columns is zero.
    #[must_use]
    pub fn with_zero_padding(self, zero_padding: bool) -> Self {
        Self { zero_padding, ..self }
    }

    /// Number of rows.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// Number of slots of each ciphertext, a power of two.
    #[must_use]
    pub const fn slots(&self) -> usize {
        self.slots
    }

    /// Number of slots that a column takes in a ciphertext, a power of two.
    #[must_use]
    pub const fn height(&self) -> usize {
        self.height
    }

    /// Base-two logarithms of the numbers that the columns are divided by.
    #[must_use]
    pub fn exponents(&self) -> &[i32] {
        &self.exponents
    }

    /// Names of the columns, or nothing.
    #[must_use]
    pub fn column_names(&self) -> &[String] {
        &self.column_names
    }

    /// Names of the rows, or nothing.
    #[must_use]
    pub fn row_names(&self) -> &[String] {
        &self.row_names
    }

    /// Whether all padding in the blocks of columns is zero, so that sums need not avoid it.
    #[must_use]
    pub const fn zero_padding(&self) -> bool {
        self.zero_padding
    }

    /// The exponents of the arguments that follow the results, if they do; see [`Guarantee::arguments`].
    #[must_use]
    pub fn arguments(&self) -> Option<&[i32]> {
        self.guarantee.as_ref()?.arguments.as_deref()
    }

    /// The guarantee for numbers that only approximate a function.
    #[must_use]
    pub const fn guarantee(&self) -> Option<&Guarantee> {
        self.guarantee.as_ref()
    }

    /// How many columns lie side by side in a ciphertext.
    #[must_use]
    pub const fn columns_per_ciphertext(&self) -> usize {
        self.slots / self.height
    }

    /// How many ciphertexts the columns take, for one row group.
    #[must_use]
    pub const fn blocks(&self) -> usize {
        self.columns.div_ceil(self.columns_per_ciphertext())
    }

    /// How many row groups there are.
    #[must_use]
    pub const fn groups(&self) -> usize {
        self.rows.div_ceil(self.height)
    }

    /// How many rows a row group has: `height`, but for the last.
    #[must_use]
    pub fn rows_of_group(&self, group: usize) -> usize {
        self.height.min(self.rows - group * self.height)
    }

    /// How many ciphertexts the table takes.
    #[must_use]
    pub const fn ciphertexts(&self) -> usize {
        self.blocks() * self.groups()
    }

    /// Ciphertext and slot of an entry.
    #[must_use]
    pub const fn place(&self, row: usize, column: usize) -> (usize, usize) {
        let per = self.columns_per_ciphertext();
        let ciphertext = column / per * self.groups() + row / self.height;
        (ciphertext, column % per * self.height + row % self.height)
    }

    /// The slots of all ciphertexts: entries given row after row, divided by the powers of two, zeros between.
    ///
    /// # Errors
    /// A number of entries that is not `rows * columns`; one that is not finite; one that its exponent does not make
    /// at most 1.
    pub fn pack(&self, entries: &[f64]) -> Result<Vec<Vec<f64>>> {
        self.check_entries(entries)?;
        memory::ask_for::<f64>(self.slots.saturating_mul(self.ciphertexts()))?;
        let mut packed = vec![vec![0.0; self.slots]; self.ciphertexts()];
        for (index, &entry) in entries.iter().enumerate() {
            let (row, column) = (index / self.columns, index % self.columns);
            let value = libm::ldexp(entry, -self.exponents[column]);
            if value.abs() > 1.0 {
                return Err(Error::parameter(
                    "exponent",
                    format!("{} for column {column}", self.exponents[column]),
                    format!("at least {}, because row {row} holds {entry}", exponent_above(entry.abs())),
                ));
            }
            let (ciphertext, slot) = self.place(row, column);
            packed[ciphertext][slot] = value;
        }
        Ok(packed)
    }

    /// A plain vector for one block of columns: `value(column)` in the first row of each column, zeros elsewhere.
    pub(super) fn first_rows(&self, block: usize, value: impl Fn(usize) -> f64) -> Vec<f64> {
        let per = self.columns_per_ciphertext();
        let mut slots = vec![0.0; self.slots];
        for column in block * per..self.columns.min((block + 1) * per) {
            slots[column % per * self.height] = value(column);
        }
        slots
    }

    /// A plain vector for one row group: `value(block of slots)` in the rows of each block, zeros in the padding below.
    pub(super) fn constant_blocks(&self, group: usize, value: impl Fn(usize) -> Option<f64>) -> Vec<f64> {
        let mut slots = vec![0.0; self.slots];
        for (block, rows) in slots.chunks_mut(self.height).enumerate() {
            rows[..self.rows_of_group(group)].fill(value(block).unwrap_or(0.0));
        }
        slots
    }

    /// The position of a column with this name.
    pub(super) fn column_named(&self, name: &str) -> Option<usize> {
        self.column_names.iter().position(|n| n == name)
    }

    /// The layout of one row under the columns of this table, each number in the first row of its column.
    pub(super) fn summary(&self, name: &str) -> Self {
        let guarantee = self.guarantee.clone().filter(|guarantee| guarantee.chosen.is_none());
        Self { rows: 1, row_names: vec![name.to_owned()], zero_padding: true, guarantee, ..self.clone() }
    }

    /// The same layout for numbers about which nothing is known.
    pub(super) fn without_guarantee(self) -> Self {
        Self { guarantee: None, ..self }
    }

    fn check_entries(&self, entries: &[f64]) -> Result<()> {
        check_length("entries of the table", entries.len(), self.rows * self.columns)?;
        match entries.iter().enumerate().find(|(_, x)| !x.is_finite()) {
            Some((index, &value)) => Err(SlotError::NotFinite { index, value }.into()),
            None => Ok(()),
        }
    }
}

/// The smallest `e` with `x <= 2^e`, for `x >= 0`; 0 for `x = 0`.
pub(super) fn exponent_above(x: f64) -> i32 {
    if x == 0.0 {
        return 0;
    }
    let (mantissa, exponent) = libm::frexp(x); // mantissa in [1/2, 1)
    if mantissa <= 0.5 { exponent - 1 } else { exponent }
}

/// Checks a number of things.
pub(super) fn check_length(what: &'static str, found: usize, needed: usize) -> Result<()> {
    if found == needed {
        return Ok(());
    }
    Err(Error::Length { what, found, needed: needed.to_string() })
}

/// Refuses names of columns of which two are the same: programs and bounds find columns by their names.
pub(super) fn check_names(names: &[String]) -> Result<()> {
    let mut known = HashSet::with_capacity(names.len());
    match names.iter().find(|name| !known.insert(name.as_str())) {
        Some(name) => {
            Err(Error::parameter("names of columns", format!("{name:?} twice"), "a name of its own for each"))
        }
        None => Ok(()),
    }
}

/// Checks a number of rows, or of columns.
pub(super) fn check_count(name: &'static str, found: usize) -> Result<()> {
    if (1..=LARGEST_COUNT).contains(&found) {
        return Ok(());
    }
    Err(Error::parameter(name, found, "at least 1, and at most 2^31"))
}

/// Checks the number of columns of a table of real numbers.
fn check_columns(found: usize) -> Result<()> {
    if (1..=MOST_COLUMNS).contains(&found) {
        return Ok(());
    }
    Err(Error::parameter("columns", found, format!("1 to {MOST_COLUMNS}: cut a wider table into several")))
}

/// Checks a number of slots.
pub(super) fn check_power_of_two(name: &'static str, found: usize) -> Result<()> {
    if found.is_power_of_two() && found <= LARGEST_COUNT {
        return Ok(());
    }
    Err(Error::parameter(name, found, "a power of two"))
}

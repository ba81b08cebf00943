//! Columns: what they may hold, and the codes of their values.

use std::collections::{BTreeMap, HashMap, HashSet};

use noren_rlwe::error::Result;
use serde::{Deserialize, Serialize};

use crate::tables::codes::Codes;
use crate::tables::error::TableError;

/// No code has more bits.
const MOST_BITS: u32 = 38;
/// Numbers of columns are below this in absolute value: no whole number was rounded to one of them.
const LARGEST: f64 = (1u64 << 53) as f64;
/// The most rows of a table.
const MOST_ROWS: usize = 1 << 24;
/// How many steps the range of a column of real numbers has unless it is said.
const STEPS: f64 = (1u64 << 16) as f64;
/// How far from a step a number counts as that step, in steps: as binary fractions stand for decimal ones.
const ROUNDING: f64 = 1.0 / (1u64 << 20) as f64;

/// The values that a column may hold. They are public.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Values {
    /// Whole numbers of a range.
    Integers {
        /// The lowest.
        low: i64,
        /// The highest.
        high: i64,
    },
    /// Numbers of a range, each rounded to the nearest `low + k step`.
    Steps {
        /// The lowest.
        low: f64,
        /// The highest.
        high: f64,
        /// The distance of neighbours.
        step: f64,
    },
    /// Texts of a list.
    Categories(Vec<String>),
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// The name.
    pub name: String,
    /// Its values.
    pub values: Values,
}

/// The columns of a table, and the most rows that it has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// The most rows.
    pub rows: usize,
    /// The columns.
    pub columns: Vec<Column>,
}

/// The cells of a column, row after row.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// Numbers; truth values are 0 and 1.
    Numbers(Vec<f64>),
    /// Texts.
    Texts(Vec<String>),
}

impl Cells {
    /// How many there are.
    #[must_use]
    pub const fn rows(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Texts(texts) => texts.len(),
        }
    }
}

impl Values {
    /// The values that cells have: the range of numbers, which are whole if all are, and the texts in order.
    ///
    /// `step` makes the numbers those of [`Values::Steps`]; fractions take a 2^16th of their range unless it is given.
    fn of(name: &str, cells: &Cells, step: Option<f64>) -> Result<Self> {
        let numbers = match cells {
            Cells::Texts(texts) => {
                let mut all: Vec<String> = texts.clone();
                all.sort_unstable();
                all.dedup();
                return Ok(Self::Categories(all));
            }
            Cells::Numbers(numbers) => numbers,
        };
        if let Some(row) = numbers.iter().position(|x| !x.is_finite()) {
            return Err(cell(row, name, numbers[row], "a finite number: fill what is missing, or leave its row out"));
        }
        let (low, high) = numbers.iter().fold((f64::MAX, f64::MIN), |(low, high), &x| (low.min(x), high.max(x)));
        if step.is_none() && numbers.iter().all(|x| x.fract() == 0.0 && x.abs() < LARGEST) {
            return Ok(Self::Integers { low: low as i64, high: high as i64 });
        }
        let step = step.unwrap_or(if low < high { (high - low) / (STEPS - 1.0) } else { 1.0 });
        Ok(Self::Steps { low, high, step })
    }

    /// How many values there are.
    pub(super) fn count(&self) -> u64 {
        match self {
            Self::Integers { low, high } => high.abs_diff(*low) + 1,
            Self::Steps { low, high, step } => ((high - low) / step).round() as u64 + 1,
            Self::Categories(texts) => texts.len() as u64,
        }
    }

    /// How many bits a code has.
    pub(super) fn bits(&self) -> usize {
        (u64::BITS - (self.count() - 1).leading_zeros()).max(1) as usize
    }

    /// The number of the first code, and the distance of neighbours: those of codes for texts.
    pub(super) const fn grid(&self) -> (f64, f64) {
        match self {
            Self::Integers { low, .. } => (*low as f64, 1.0),
            Self::Steps { low, step, .. } => (*low, *step),
            Self::Categories(_) => (0.0, 1.0),
        }
    }

    /// The number that a code stands for.
    pub(super) fn number(&self, code: f64) -> f64 {
        let (low, step) = self.grid();
        low + code * step
    }

    /// The codes of the numbers from `from` on.
    pub(super) fn codes_from(&self, from: f64) -> Codes {
        let (low, step) = self.grid();
        let place = (from - low) / step;
        let nearest = place.round();
        let first = if (place - nearest).abs() <= ROUNDING { nearest } else { place.ceil() };
        Codes::between(first.max(0.0) as u64, self.count() - 1)
    }

    /// The codes of the numbers above one.
    pub(super) fn codes_above(&self, number: f64) -> Codes {
        self.codes_from(number).intersection(&self.codes_of(number).complement(self.count()))
    }

    /// The codes of one number.
    pub(super) fn codes_of(&self, number: f64) -> Codes {
        let from = self.codes_from(number);
        let code = from.intervals().first().map(|[first, _]| *first);
        let is_value = |code: &u64| ((self.number(*code as f64) - number) / self.grid().1).abs() <= ROUNDING;
        code.filter(is_value).map_or(Codes::none(), |code| Codes::between(code, code))
    }

    /// The values of either, if numbers of both have the same distance.
    fn common(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Integers { low: a, high: b }, Self::Integers { low: c, high: d }) => {
                Some(Self::Integers { low: *a.min(c), high: *b.max(d) })
            }
            (Self::Steps { low: a, high: b, step }, Self::Steps { low: c, high: d, step: other }) => {
                let apart = (a - c) / step;
                let is_same = step == other && (apart - apart.round()).abs() <= ROUNDING;
                is_same.then(|| Self::Steps { low: a.min(*c), high: b.max(*d), step: *step })
            }
            (Self::Categories(texts), Self::Categories(others)) => {
                let more = others.iter().filter(|text| !texts.contains(text));
                Some(Self::Categories(texts.iter().chain(more).cloned().collect()))
            }
            _ => None,
        }
    }

    /// The values in words, for messages.
    fn words(&self) -> String {
        match self {
            Self::Integers { low, high } => format!("a whole number from {low} to {high}"),
            Self::Steps { low, high, .. } => format!("a number from {low} to {high}"),
            Self::Categories(texts) if texts.len() <= 8 => format!("one of {}", texts.join(", ")),
            Self::Categories(texts) => format!("one of {} texts, {} and so on", texts.len(), texts[..8].join(", ")),
        }
    }
}

fn cell(row: usize, column: &str, found: impl ToString, needed: impl Into<String>) -> noren_rlwe::error::Error {
    TableError::Cell { row, column: column.to_owned(), found: found.to_string(), needed: needed.into() }.into()
}

impl Column {
    /// Refuses values that have no codes.
    fn check(&self) -> Result<()> {
        let refused = |found: String, needed: &str| {
            Err(TableError::Column { column: self.name.clone(), found, needed: needed.to_owned() }.into())
        };
        let within = |x: f64| x.abs() < LARGEST;
        match &self.values {
            Values::Integers { low, high } if low > high || !within(*low as f64) || !within(*high as f64) => {
                return refused(format!("{low} to {high}"), "a range below 2^53");
            }
            Values::Steps { low, high, step } => {
                let is_range = low <= high && within(*low) && within(*high);
                if !is_range || !step.is_finite() || *step <= 0.0 {
                    let needed = "a range below 2^53, and a step above 0";
                    return refused(format!("{low} to {high} in steps of {step}"), needed);
                }
                if (high - low) / step > (1u64 << MOST_BITS) as f64 {
                    return refused(format!("{low} to {high} in steps of {step}"), "at most 2^38 steps");
                }
            }
            Values::Categories(texts) => {
                let mut sorted: Vec<&String> = texts.iter().collect();
                sorted.sort_unstable();
                if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                    return refused(format!("category {:?} twice", pair[0]), "each once");
                }
                if texts.is_empty() {
                    return refused("no categories".to_owned(), "at least one");
                }
            }
            Values::Integers { .. } => {}
        }
        if self.values.bits() > MOST_BITS as usize {
            return refused(format!("{} values", self.values.count()), "at most 2^38: a narrower range");
        }
        Ok(())
    }

    /// The codes of cells.
    ///
    /// # Errors
    /// [`TableError::Cell`] names the row of the first that the column does not hold.
    pub(super) fn codes(&self, cells: &Cells) -> Result<Vec<u64>> {
        let refused = |row: usize, found: String| cell(row, &self.name, found, self.values.words());
        match (cells, &self.values) {
            (Cells::Numbers(numbers), Values::Integers { low, high }) => {
                let code = |(row, &x): (usize, &f64)| {
                    let is_held = x.fract() == 0.0 && (*low as f64..=*high as f64).contains(&x);
                    if is_held { Ok((x as i64).abs_diff(*low)) } else { Err(refused(row, x.to_string())) }
                };
                numbers.iter().enumerate().map(code).collect()
            }
            (Cells::Numbers(numbers), Values::Steps { low, high, step }) => {
                let code = |(row, &x): (usize, &f64)| match (*low..=*high).contains(&x) {
                    true => Ok(((x - low) / step).round() as u64),
                    false => Err(refused(row, x.to_string())),
                };
                numbers.iter().enumerate().map(code).collect()
            }
            (Cells::Texts(texts), Values::Categories(all)) => {
                let codes: HashMap<&str, u64> = all.iter().map(String::as_str).zip(0..).collect();
                let code = |(row, text): (usize, &String)| {
                    codes.get(text.as_str()).copied().ok_or_else(|| refused(row, format!("{text:?}")))
                };
                texts.iter().enumerate().map(code).collect()
            }
            (Cells::Numbers(_), Values::Categories(_)) => Err(self.of_other_type("numbers", "texts")),
            (Cells::Texts(_), _) => Err(self.of_other_type("texts", "numbers")),
        }
    }

    fn of_other_type(&self, found: &str, needed: &str) -> noren_rlwe::error::Error {
        let (column, found, needed) = (self.name.clone(), found.to_owned(), needed.to_owned());
        TableError::Column { column, found, needed }.into()
    }
}

impl Schema {
    /// The schema of a table: names in order, and the values that its cells have. `steps` are those of columns of numbers that are
    /// rounded.
    ///
    /// # Errors
    /// [`TableError`] for columns of different lengths, without cells, or with numbers that are not finite.
    pub fn of(table: &BTreeMap<String, Cells>, rows: usize, steps: &BTreeMap<String, f64>) -> Result<Self> {
        let column = |(name, cells): (&String, &Cells)| {
            let values = Values::of(name, cells, steps.get(name).copied())?;
            Ok(Column { name: name.clone(), values })
        };
        rows_of(table)?;
        let schema = Self { rows, columns: table.iter().map(column).collect::<Result<_>>()? };
        if let Some(name) = steps.keys().find(|name| schema.place(name).is_none()) {
            return Err(schema.no_column(name));
        }
        schema.check()?;
        Ok(schema)
    }

    /// Refuses tables that cannot be asked anything.
    ///
    /// # Errors
    /// [`TableError`] for no columns or two of one name, values without codes, and too many rows.
    pub fn check(&self) -> Result<()> {
        if !(1..=MOST_ROWS).contains(&self.rows) {
            let (found, needed) = (format!("{} rows", self.rows), format!("1 to {MOST_ROWS}"));
            return Err(TableError::Question { found, needed }.into());
        }
        let mut names = HashSet::new();
        for column in &self.columns {
            column.check()?;
            if let Values::Integers { low, high } = column.values
                && u128::from(low.unsigned_abs().max(high.unsigned_abs())) * self.rows as u128 >= 1 << 63
            {
                let found = format!("{low} to {high} in {} rows", self.rows);
                let needed = "sums below 2^63: a narrower range, or fewer rows".to_owned();
                return Err(TableError::Column { column: column.name.clone(), found, needed }.into());
            }
            if !names.insert(&column.name) {
                return Err(column.of_other_type("two of this name", "names that differ"));
            }
        }
        Ok(())
    }

    /// The same columns, where both of each of these pairs have the values of either.
    ///
    /// # Errors
    /// [`TableError::Column`] for numbers and texts, and for numbers of other steps.
    pub(super) fn with_common_values(&self, pairs: &[[usize; 2]]) -> Result<Self> {
        let mut schema = self.clone();
        // For each column the one whose values it has: those of a pair have the same, and so have those of pairs that share a column.
        let mut of: Vec<usize> = (0..schema.columns.len()).collect();
        for pair in pairs {
            let [first, second] = pair.map(|at| of[at]);
            if first == second {
                continue;
            }
            let common = schema.columns[first].values.common(&schema.columns[second].values);
            schema.columns[first].values = common.ok_or_else(|| {
                let [column, other] = pair.map(|at| self.columns[at].name.clone());
                let found = format!("a comparison with {other:?}");
                let needed = "two columns of whole numbers, of texts, or of the same steps".to_owned();
                TableError::Column { column, found, needed }
            })?;
            of.iter_mut().filter(|at| **at == second).for_each(|at| *at = first);
        }
        for (at, of) in of.into_iter().enumerate() {
            schema.columns[at].values = schema.columns[of].values.clone();
        }
        schema.check()?;
        Ok(schema)
    }

    /// The place of a column.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The error for a column that there is not.
    pub(super) fn no_column(&self, name: &str) -> noren_rlwe::error::Error {
        let columns = self.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ");
        TableError::NoColumn { name: name.to_owned(), columns }.into()
    }
}

/// How many rows a table has.
///
/// # Errors
/// [`TableError`] for a table without cells, and for columns of different lengths.
pub(super) fn rows_of(table: &BTreeMap<String, Cells>) -> Result<usize> {
    let rows = table.values().next().map_or(0, Cells::rows);
    if rows == 0 {
        let (found, needed) = ("a table without rows".to_owned(), "one row at least".to_owned());
        return Err(TableError::Question { found, needed }.into());
    }
    match table.iter().find(|(_, cells)| cells.rows() != rows) {
        None => Ok(rows),
        Some((name, cells)) => {
            let (found, needed) = (format!("{} rows", cells.rows()), format!("{rows}, as other columns have"));
            Err(TableError::Column { column: name.clone(), found, needed }.into())
        }
    }
}

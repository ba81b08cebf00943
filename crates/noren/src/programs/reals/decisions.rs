//! Programs that decide about the entries of a table: thresholds, the smallest and the largest entries of columns, ranks.

use std::collections::BTreeSet;

use noren_rlwe::error::{Error, Result};

use crate::bootstrapping::evaluator::{BootstrappingEvaluator, WithBootstrapping};
use crate::programs::layout::{Guarantee, TableLayout, exponent_above};
use crate::programs::table::{EncryptedTable, Layout, names};
use crate::schemes::ckks::Ciphertext;
use crate::schemes::error::SlotError;
use crate::schemes::failures::log2_sum;
use crate::schemes::slots::SlotEvaluator;
use crate::switching::extremes::Extreme;
use crate::switching::functions::Decision;
use crate::switching::switch::SchemeSwitch;

/// A program that compares entries of a table of CKKS, by [switching](crate::switching) them to TFHE and back.
///
/// | name | result, for each chosen column of a table of `n` rows |
/// |---|---|
/// | `threshold` | `n` rows: 1 where an entry is above a number, 0 where it is below |
/// | `argmin` | one row: the number of the row of the smallest entry, from 0, and that entry |
/// | `argmax` | one row: the same of the largest entry |
/// | `rank` | `n` rows: how many entries of the column are smaller |
/// | `top` | `n` rows: 1 for as many of the largest entries as are asked for, 0 for the others |
///
/// Of entries that are equal, or nearer to each other than the dead zone, either may count as the larger one, pair by pair: three
/// of them at the edge of the `top` may give more or fewer ones than were asked for. Decryption refuses such columns
/// ([`ProgramError::Undecided`](crate::programs::ProgramError::Undecided)).
///
/// Entries lie within the bounds of their columns, the powers of two of the [layout](TableLayout), and
/// [dead zones](DecidedTable::dead_zones) are in proportion to these. Results are at the level of results of bootstrapping, or a
/// few levels below.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DecisionProgram {
    /// 1 where an entry is above this number.
    Threshold(f64),
    /// The smallest entry.
    Argmin,
    /// The largest entry.
    Argmax,
    /// How many entries are smaller.
    Rank,
    /// 1 for so many of the largest entries.
    Top(usize),
}

/// The result of a [`DecisionProgram`].
#[derive(Clone)]
pub struct DecidedTable {
    /// The table of results.
    pub table: EncryptedTable<Ciphertext>,
    /// For each chosen column, in its units: entries nearer than this to the threshold may be on either side, the entry that was
    /// found is worse than the best one by this at most, and of two entries nearer to each other either may rank higher.
    pub dead_zones: Vec<f64>,
    /// `log2` of a bound on how likely any result is wrong beyond dead zones and error bounds.
    pub log2_failure: f64,
}

/// Thresholds count as this far from 0 at most, in units of encoded entries: beyond 1 all answers are the same, and numbers far
/// beyond would widen the dead zones of other columns.
const FARTHEST: f64 = 1.5;

impl DecisionProgram {
    /// The names of all programs.
    pub const NAMES: [&'static str; 5] = ["threshold", "argmin", "argmax", "rank", "top"];

    /// The name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Threshold(_) => "threshold",
            Self::Argmin => "argmin",
            Self::Argmax => "argmax",
            Self::Rank => "rank",
            Self::Top(_) => "top",
        }
    }

    /// The rotations that the program needs for these columns of tables of this layout, at the level of results of bootstrapping,
    /// where so many slots are bootstrapped.
    ///
    /// # Errors
    /// As [`DecisionProgram::run`], for columns and rows.
    pub fn rotations(&self, layout: &TableLayout, columns: &[usize], bootstrapped: usize) -> Result<Vec<isize>> {
        check_columns(layout, columns)?;
        let mut steps = BTreeSet::new();
        match self {
            Self::Threshold(_) => {
                let moves = Gathering::new(layout, columns)?;
                steps.extend(moves.distances().flat_map(powers_of_two));
            }
            Self::Argmin | Self::Argmax | Self::Rank | Self::Top(_) => {
                check_rows(layout, bootstrapped)?;
                for column in columns {
                    steps.extend(Gathering::new(layout, &[*column])?.distances().flat_map(powers_of_two));
                }
                steps.extend(match self {
                    Self::Rank | Self::Top(_) => SchemeSwitch::rotations_of_ranks(layout.rows(), bootstrapped),
                    _ => SchemeSwitch::rotations_of_extremes(layout.rows()),
                });
            }
        }
        Ok(steps.into_iter().collect())
    }

    /// Runs the program on these columns, by their positions, in the order of the result.
    ///
    /// # Errors
    /// [`Error::WrongKind`] for a table without columns side by side; [`Error::Length`] for no column, and for more rows than
    /// slots of a ciphertext are bootstrapped, of which no smallest is found; [`Error::Parameters`] for a column that there is
    /// not; [`SlotError::NotFinite`] for a threshold that is no number; [`Error::MissingKey`] names all rotations without keys; as
    /// [`SchemeSwitch::is_positive`], [`SchemeSwitch::argmin`] and [`SchemeSwitch::top`].
    pub fn run(
        &self,
        switch: &SchemeSwitch,
        table: &EncryptedTable<Ciphertext>,
        columns: &[usize],
    ) -> Result<DecidedTable> {
        let layout = table.columns()?;
        let rows = layout.rows();
        let bootstrapped = switch.context().parameters().bootstrapping().slots();
        let task = Task::new(switch, &self.rotations(layout, columns, bootstrapped)?)?;
        match *self {
            Self::Threshold(number) => task.threshold(table, layout, columns, number),
            Self::Argmin => task.extremes(table, layout, columns, |x| switch.argmin(x, rows), self.name()),
            Self::Argmax => task.extremes(table, layout, columns, |x| switch.argmax(x, rows), self.name()),
            Self::Rank => {
                let exponent = exponent_above((rows - 1) as f64);
                task.of_rows(table, layout, columns, exponent, |x| switch.rank(x, rows))
            }
            Self::Top(count) => {
                let decided = task.of_rows(table, layout, columns, 0, |x| switch.top(x, rows, count))?;
                decided.chosen(count)
            }
        }
    }
}

impl DecidedTable {
    /// The same table, which says that so many entries of each column are 1, and the others 0.
    fn chosen(self, count: usize) -> Result<Self> {
        let (layout, ciphertexts) = self.table.into_parts();
        let layout = match layout {
            Layout::Table(layout) => Layout::Table(layout.with_guarantee(Guarantee {
                function: format!("1 for the {count} largest entries"),
                interval: [-1.0, 1.0],
                error: 0.0,
                range: [0.0, 1.0],
                arguments: None,
                chosen: Some(count),
            })),
            pairs @ Layout::Pairs(_) => pairs,
        };
        Ok(Self { table: EncryptedTable::new(layout, ciphertexts)?, ..self })
    }
}

/// The evaluator and the switch of programs.
struct Task<'a> {
    switch: &'a SchemeSwitch,
    /// Bootstraps entries that have too few levels to be masked.
    evaluator: BootstrappingEvaluator,
}

impl<'a> Task<'a> {
    /// Refuses missing keys before any work.
    fn new(switch: &'a SchemeSwitch, rotations: &[isize]) -> Result<Self> {
        switch.check_rotations(rotations)?;
        let bootstrapper = switch.bootstrapper();
        let evaluator = bootstrapper.evaluator().with_bootstrapping(bootstrapper.clone())?;
        Ok(Self { switch, evaluator })
    }

    /// 1 where an entry is above a number, in units of each column.
    fn threshold(
        &self,
        table: &EncryptedTable<Ciphertext>,
        layout: &TableLayout,
        columns: &[usize],
        number: f64,
    ) -> Result<DecidedTable> {
        if !number.is_finite() {
            return Err(SlotError::NotFinite { index: 0, value: number }.into());
        }
        let gathering = Gathering::new(layout, columns)?;
        let target = &gathering.target;
        let encoded = |column: &i32| libm::ldexp(number, -column).clamp(-FARTHEST, FARTHEST);
        let thresholds: Vec<f64> = target.exponents().iter().map(encoded).collect();
        let (per, height, groups) = (target.columns_per_ciphertext(), target.height(), target.groups());
        let mut dead_zones = vec![0.0_f64; columns.len()];
        let mut log2_failure = f64::NEG_INFINITY;
        let mut results = Vec::with_capacity(target.ciphertexts());
        for (block, chunk) in thresholds.chunks(per).enumerate() {
            let mut slots = vec![0.0; target.slots()];
            for (rows, threshold) in slots.chunks_mut(height).zip(chunk) {
                rows.fill(-threshold);
            }
            for group in 0..groups {
                let x = self.gather(table, layout, &gathering, block, group)?;
                let moved = self.evaluator.add_plain(&x, &self.evaluator.encode_addend(&slots, &x)?)?;
                // Rows behind the last one of the last column are not decided.
                let length = (chunk.len() - 1) * height + target.rows_of_group(group);
                let decision = self.switch.is_positive(&moved.with_length(Some(length))?)?;
                results.push(decision.result.with_length(None)?);
                for (zone, exponent) in dead_zones.iter_mut().zip(target.exponents()).skip(block * per).take(per) {
                    *zone = zone.max(libm::ldexp(decision.dead_zone, *exponent));
                }
                log2_failure = log2_sum(log2_failure, decision.log2_failure);
            }
        }
        // Rows that hold no entry were decided, too.
        let layout = target.clone().with_exponents(vec![0; columns.len()])?.with_zero_padding(false);
        let table = EncryptedTable::new(Layout::Table(layout), results)?;
        Ok(DecidedTable { table, dead_zones, log2_failure: self.log2_failure(log2_failure) })
    }

    /// The number of a row and its entry for each column, in the first slots of a ciphertext each.
    fn extremes(
        &self,
        table: &EncryptedTable<Ciphertext>,
        layout: &TableLayout,
        columns: &[usize],
        find: impl Fn(&Ciphertext) -> Result<Extreme>,
        name: &str,
    ) -> Result<DecidedTable> {
        let index_exponent = exponent_above((layout.rows() - 1) as f64);
        let column_names = names(layout.column_names(), layout.columns());
        let (mut results, mut exponents, mut titles) = (Vec::new(), Vec::new(), Vec::new());
        let (mut dead_zones, mut log2_failure) = (Vec::new(), f64::NEG_INFINITY);
        for &column in columns {
            let x = self.gather(table, layout, &Gathering::new(layout, &[column])?, 0, 0)?;
            let x = self.evaluator.ready(&x, 0)?.into_owned().with_length(None)?;
            let found = find(&x)?;
            let exponent = layout.exponents()[column];
            results.push(self.first_slot(&found.index, libm::ldexp(1.0, -index_exponent))?);
            results.push(self.first_slot(&found.value, 1.0)?);
            exponents.extend([index_exponent, exponent]);
            titles.extend(["row", "value"].map(|what| format!("{} {what}", column_names[column])));
            dead_zones.push(libm::ldexp(found.dead_zone, exponent));
            log2_failure = log2_sum(log2_failure, found.log2_failure);
        }
        let log2_failure = self.log2_failure(log2_failure);
        let layout = TableLayout::with_geometry(1, results.len(), layout.slots(), layout.slots())?
            .with_exponents(exponents)?
            .with_row_names(vec![name.to_owned()])?
            .with_column_names(titles)?;
        Ok(DecidedTable { table: EncryptedTable::new(Layout::Table(layout), results)?, dead_zones, log2_failure })
    }

    /// A number for each entry, which is divided by a power of two. Decisions on the first rows repeat with the height of blocks.
    fn of_rows(
        &self,
        table: &EncryptedTable<Ciphertext>,
        layout: &TableLayout,
        columns: &[usize],
        exponent: i32,
        decide: impl Fn(&Ciphertext) -> Result<Decision>,
    ) -> Result<DecidedTable> {
        let target = Gathering::new(layout, columns)?.target;
        let factor = libm::ldexp(1.0, -exponent);
        let evaluator = self.evaluator.evaluator();
        let per = target.columns_per_ciphertext();
        let mut results: Vec<Ciphertext> = Vec::with_capacity(target.ciphertexts());
        let (mut dead_zones, mut log2_failure) = (Vec::new(), f64::NEG_INFINITY);
        for (place, &column) in columns.iter().enumerate() {
            let x = self.gather(table, layout, &Gathering::new(layout, &[column])?, 0, 0)?;
            let decision = decide(&x.with_length(None)?)?;
            let decided = decision.result.with_length(None)?.with_period(layout.slots())?;
            let mask = target.constant_blocks(0, |block| (block == place % per).then_some(factor));
            let masked =
                SlotEvaluator::mul_plain(evaluator, &decided, &SlotEvaluator::encode_for(evaluator, &mask, &decided)?)?;
            match results.get_mut(place / per) {
                None => results.push(masked),
                Some(sum) => *sum = SlotEvaluator::add(evaluator, sum, &masked)?,
            }
            dead_zones.push(libm::ldexp(decision.dead_zone, layout.exponents()[column]));
            log2_failure = log2_sum(log2_failure, decision.log2_failure);
        }
        // Blocks do not meet.
        let results = results.into_iter().map(|sum| sum.with_range(0.0, 1.0)).collect();
        let log2_failure = self.log2_failure(log2_failure);
        let layout = target.with_exponents(vec![exponent; columns.len()])?;
        Ok(DecidedTable { table: EncryptedTable::new(Layout::Table(layout), results)?, dead_zones, log2_failure })
    }

    /// The first slot times a factor, and zeros.
    fn first_slot(&self, a: &Ciphertext, factor: f64) -> Result<Ciphertext> {
        let evaluator = self.evaluator.evaluator();
        let mut mask = vec![0.0; a.slots()];
        mask[0] = factor;
        SlotEvaluator::mul_plain(evaluator, a, &SlotEvaluator::encode_for(evaluator, &mask, a)?)
    }

    /// A ciphertext of the target of a gathering: entries, and zeros where there is no entry.
    fn gather(
        &self,
        table: &EncryptedTable<Ciphertext>,
        layout: &TableLayout,
        gathering: &Gathering,
        block: usize,
        group: usize,
    ) -> Result<Ciphertext> {
        let source = |source: usize| &table.ciphertexts()[source * layout.groups() + group];
        let Some(moves) = &gathering.moves else {
            return Ok(source(block).clone().with_range(-1.0, 1.0));
        };
        let mut gathered: Option<Ciphertext> = None;
        for Move { from, distance, blocks } in &moves[block] {
            let mask = layout.constant_blocks(group, |block| blocks.contains(&block).then_some(1.0));
            let x = source(*from);
            let masked = self.evaluator.mul_plain(x, &self.evaluator.encode_for(&mask, x)?)?;
            let rotate = |x: Ciphertext, steps| self.evaluator.rotate(&x, steps);
            let moved = powers_of_two(*distance).try_fold(masked, rotate)?;
            gathered = Some(match gathered {
                None => moved,
                Some(sum) => self.evaluator.add(&sum, &moved)?,
            });
        }
        // Every block has a column.
        let gathered = gathered.ok_or_else(|| Error::parameter("block", block, "one with columns"))?;
        Ok(gathered.with_range(-1.0, 1.0))
    }

    /// The probability of decisions, and that of bootstraps of what ran out of levels before.
    fn log2_failure(&self, decided: f64) -> f64 {
        log2_sum(decided, self.evaluator.log2_failure())
    }
}

/// How columns come together in ciphertexts of their own.
struct Gathering {
    /// The layout of the columns alone.
    target: TableLayout,
    /// For each block of columns of the target what moves there. None where nothing has to be moved or masked.
    moves: Option<Vec<Vec<Move>>>,
}

/// Columns of one ciphertext that move together.
struct Move {
    /// Their block of columns.
    from: usize,
    /// By how many slots they move down.
    distance: usize,
    /// The blocks of slots that they are in.
    blocks: Vec<usize>,
}

impl Gathering {
    fn new(layout: &TableLayout, columns: &[usize]) -> Result<Self> {
        let at = |list: &[String]| columns.iter().filter_map(|&column| list.get(column).cloned()).collect();
        let target = TableLayout::with_geometry(layout.rows(), columns.len(), layout.slots(), layout.height())?
            .with_exponents(columns.iter().map(|&column| layout.exponents()[column]).collect())?
            .with_row_names(layout.row_names().to_vec())?
            .with_column_names(at(layout.column_names()))?;
        if layout.zero_padding() && columns.iter().copied().eq(0..layout.columns()) {
            return Ok(Self { target, moves: None });
        }
        let (per, slots) = (layout.columns_per_ciphertext(), layout.slots());
        let mut moves: Vec<Vec<Move>> = columns.chunks(per).map(|_| Vec::new()).collect();
        for (place, &column) in columns.iter().enumerate() {
            let (from, block) = (column / per, column % per);
            let distance = (block + per - place % per) * layout.height() % slots;
            let moves = &mut moves[place / per];
            match moves.iter_mut().find(|other| (other.from, other.distance) == (from, distance)) {
                Some(other) => other.blocks.push(block),
                None => moves.push(Move { from, distance, blocks: vec![block] }),
            }
        }
        Ok(Self { target, moves: Some(moves) })
    }

    /// By how many slots columns move.
    fn distances(&self) -> impl Iterator<Item = usize> {
        self.moves.iter().flatten().flatten().map(|moved| moved.distance)
    }
}

/// The powers of two whose sum is this number of slots.
fn powers_of_two(distance: usize) -> impl Iterator<Item = isize> {
    (0..usize::BITS).map(|log| 1 << log).filter(move |power| distance & power != 0).map(usize::cast_signed)
}

/// Refuses no columns, and those that there are not.
fn check_columns(layout: &TableLayout, columns: &[usize]) -> Result<()> {
    if columns.is_empty() {
        return Err(Error::Length { what: "columns of a program", found: 0, needed: "at least 1".to_owned() });
    }
    if let Some((index, column)) = columns.iter().enumerate().find(|(index, column)| columns[..*index].contains(column))
    {
        return Err(Error::parameter("column", format!("{column} once more, at {index}"), "each column once"));
    }
    match columns.iter().find(|&&column| column >= layout.columns()) {
        None => Ok(()),
        Some(column) => Err(Error::parameter("column", column, format!("0 to {}", layout.columns() - 1))),
    }
}

/// Refuses columns whose rows lie in several ciphertexts, or in more slots than are bootstrapped.
fn check_rows(layout: &TableLayout, bootstrapped: usize) -> Result<()> {
    if layout.groups() == 1 && layout.rows() <= bootstrapped {
        return Ok(());
    }
    let needed = format!("1 to {}, the slots of a ciphertext that are bootstrapped", layout.slots().min(bootstrapped));
    Err(Error::Length { what: "rows that are compared", found: layout.rows(), needed })
}

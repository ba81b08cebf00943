//! Functions of x + y, of x - y, and of one number: without a matrix.

use noren_rlwe::error::{Error, Result};

use crate::circuits::lookup::function::Function;
use crate::circuits::lookup::keys::LookupKeys;
use crate::circuits::lookup::plan::Plan;
use crate::circuits::lookup::prepared::{Step, check_domain};
use crate::circuits::lookup::sparse::{Entries, leave};
use crate::schemes::bfv::{Ciphertext, Context, Encoder, Evaluator, Plaintext};

/// On what a function of two numbers depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// On x alone.
    First,
    /// On y alone.
    Second,
    /// On `x + y`.
    Sum,
    /// On `x - y`.
    Difference,
}

/// A function of one number, prepared to be looked up: its table as plaintexts, times the one-hot vector of the number.
///
/// It takes as many one-hot vectors as the number has blocks, and no matrix: a few products with plaintexts.
pub struct LineLookup {
    pub(super) plan: Plan,
    pub(super) line: Line,
    /// The values on all lines with a slot, less the corner.
    pub(super) tables: Vec<Plaintext>,
    /// The value on the line `t - 1`, which has no slot; 0 where there is no such line.
    pub(super) corner: i64,
}

/// Before all pairs are looked at, so many are that lie all over the domain: of most functions one of them tells.
const SAMPLES: u64 = 1 << 10;

impl Line {
    /// On what the function depends, if it is one of these; looks at every pair of numbers.
    #[must_use]
    pub fn of(function: &Function) -> Option<Self> {
        [Self::First, Self::Second, Self::Sum, Self::Difference].into_iter().find(|line| line.holds(function))
    }

    /// [`Line::of`], where the sum or difference is known modulo t alone.
    #[must_use]
    pub fn modulo(function: &Function, t: u64) -> Option<Self> {
        Self::of(function).filter(|line| line.meets(function, t))
    }

    /// Whether the function has one value for all pairs on each line.
    fn holds(self, function: &Function) -> bool {
        let [columns, rows] = function.domain();
        let same = |x: usize, y: usize| match self.neighbour(x, y) {
            Some((x_next, y_next)) if x_next < columns && y_next < rows => {
                function.value(x, y) == function.value(x_next, y_next)
            }
            _ => true,
        };
        let count = (columns * rows) as u64;
        // Odd, and far from any small fraction of 2^64.
        let sampled = (0..SAMPLES.min(count)).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % count) as usize);
        sampled.into_iter().all(|i| same(i / rows, i % rows)) && (0..columns).all(|x| (0..rows).all(|y| same(x, y)))
    }

    /// Whether lines whose numbers are equal modulo t have equal values.
    fn meets(self, function: &Function, t: u64) -> bool {
        let (domain, t) = (function.domain(), t as usize);
        let value = |line: usize| {
            let (x, y) = self.point(domain, line);
            function.value(x, y)
        };
        (t..self.count(domain)).all(|line| value(line) == value(line - t))
    }

    /// The next pair on a line.
    fn neighbour(self, x: usize, y: usize) -> Option<(usize, usize)> {
        Some(match self {
            Self::First => (x, y + 1),
            Self::Second => (x + 1, y),
            Self::Sum => (x + 1, y.checked_sub(1)?),
            Self::Difference => (x + 1, y + 1),
        })
    }

    /// How many lines there are.
    pub(super) fn count(self, [columns, rows]: [usize; 2]) -> usize {
        match self {
            Self::First => columns,
            Self::Second => rows,
            Self::Sum | Self::Difference => columns + rows - 1,
        }
    }

    /// A pair on line i.
    fn point(self, [columns, rows]: [usize; 2], i: usize) -> (usize, usize) {
        match self {
            Self::First => (i, 0),
            Self::Second => (0, i),
            Self::Sum => (i.min(columns - 1), i - i.min(columns - 1)),
            // Line i has x - y = i - (rows - 1).
            Self::Difference => (i.saturating_sub(rows - 1), (rows - 1).saturating_sub(i)),
        }
    }
}

impl LineLookup {
    /// Prepares a function that depends on a line alone, with the plan of its domain.
    ///
    /// # Errors
    /// [`Error::Undefined`] and [`Error::NotInRange`] name a point that needs a value below t; [`Error::Parameters`] if there
    /// are more lines than numbers modulo t, and two of them that meet have different values; [`Error::Length`] if the domain
    /// is another one than the plan's.
    pub fn prepare(context: &Context, plan: &Plan, function: &Function, line: Line) -> Result<Self> {
        context.check(plan.parameters(), "the plan")?;
        check_domain(plan, function)?;
        let (layout, domain) = (plan.layout(), function.domain());
        let (count, t) = (line.count(domain), plan.parameters().modulus().value());
        if !line.meets(function, t) {
            let needed = format!("at most {t}, or of equal values where they are equal modulo {t}: prepare a matrix");
            return Err(Error::parameter("domain", format!("{count} lines"), needed));
        }
        let residue = |i: usize| {
            let (x, y) = line.point(domain, i);
            function.residue(x, y, t)
        };
        // The number t - 1 has no slot.
        let last = t as usize - 1;
        let corner = if count > last { residue(last)? } else { 0 };
        let count = count.min(last);
        let encoder = Encoder::new(context);
        let table = |block: usize| {
            let value = |slot| match layout.index(block, slot) {
                i if i < count => residue(i).map(|value| ((value + t - corner) % t).cast_signed()),
                _ => Ok(0),
            };
            encoder.encode(&(0..layout.degree()).map(value).collect::<Result<Vec<i64>>>()?)
        };
        let tables = (0..count.div_ceil(layout.stretch())).map(table).collect::<Result<_>>()?;
        Ok(Self { plan: plan.clone(), line, tables, corner: corner.cast_signed() })
    }

    /// On what the function depends.
    #[must_use]
    pub fn line(&self) -> Line {
        self.line
    }

    /// How many bytes the tables take.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.tables.iter().map(|table| size_of_val(&table.coefficients[..]) as u64).sum()
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// `f(x, y)` for each query; of a function of one number the other is not looked at.
    ///
    /// # Errors
    /// As [`Lookup::evaluate`](crate::circuits::lookup::prepared::Lookup::evaluate).
    pub fn evaluate(
        &self,
        evaluator: &Evaluator,
        keys: &LookupKeys,
        x: &Ciphertext,
        y: &Ciphertext,
    ) -> Result<Ciphertext> {
        self.evaluate_watched(evaluator, keys, [x, y], &|_| {})
    }

    /// [`LineLookup::evaluate`]; `watch` hears of each step when it is done.
    pub(super) fn evaluate_watched(
        &self,
        evaluator: &Evaluator,
        keys: &LookupKeys,
        [x, y]: [&Ciphertext; 2],
        watch: &dyn Fn(Step),
    ) -> Result<Ciphertext> {
        let (context, plan) = (evaluator.context(), &self.plan);
        context.check(plan.parameters(), "the prepared function")?;
        let last = plan.layout().domain()[1] as i64 - 1;
        let number = match self.line {
            Line::First => x.clone(),
            Line::Second => y.clone(),
            Line::Sum => evaluator.add(x, y)?,
            Line::Difference => evaluator.add_scalar(&evaluator.sub(x, y)?, last)?,
        };
        let entries = Entries::of(evaluator, (plan, keys), &number, self.tables.len())?;
        watch(Step::OneHot);
        let sum = entries.add_products(context, &self.tables, 1, None)?.expect("a function has a table");
        let norms = self.tables.iter().map(|table| libm::exp2(2.0 * table.log2_norm)).sum::<f64>().max(1.0);
        let entry = plan.predict_entry(&entries.noise);
        let noise = plan.predict_sum(&entry.scaled(libm::log2(norms) / 2.0));
        let result = leave(context, (plan, keys), &sum, entries.factor, noise)?;
        let result = if self.corner == 0 { result } else { evaluator.add_scalar(&result, self.corner)? };
        watch(Step::Select);
        Ok(result)
    }
}

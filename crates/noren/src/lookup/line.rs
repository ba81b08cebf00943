//! Functions of x + y, of x - y, and of one number: without a matrix.

use noren_rlwe::error::{Error, Result};

use crate::lookup::function::Function;
use crate::lookup::keys::LookupKeys;
use crate::lookup::plan::LookupPlan;
use crate::lookup::sparse::{Entries, leave};
use crate::lookup::step::Step;
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
    pub(super) plan: LookupPlan,
    pub(super) line: Line,
    /// The values on all lines with a slot, less the offset.
    pub(super) tables: Vec<Plaintext>,
    /// The value on the line `t - 1`, which has no slot; 0 where there is no such line.
    pub(super) offset: i64,
}

impl Line {
    /// On what the function depends, if it is one of these and has a value everywhere; looks at every pair of numbers, x by x.
    #[must_use]
    pub fn of(function: &Function) -> Option<Self> {
        let mut lines = vec![Self::First, Self::Second, Self::Sum, Self::Difference];
        let mut before = None;
        for x in 0..function.domain()[0] {
            let row = function.row(x);
            lines.retain(|line| !row.contains(&None) && line.holds(before.as_deref(), &row));
            if lines.is_empty() {
                break;
            }
            before = Some(row);
        }
        lines.first().copied()
    }

    /// [`Line::of`], where the sum or difference is known modulo t alone.
    #[must_use]
    pub fn modulo(function: &Function, t: u64) -> Option<Self> {
        Self::of(function).filter(|line| line.meets(function, t))
    }

    /// Whether the values of one x, and those of the number before it, are one value on each line.
    fn holds(self, before: Option<&[Option<u64>]>, row: &[Option<u64>]) -> bool {
        let but_last = row.len().saturating_sub(1);
        match (self, before) {
            (Self::First, _) => row.windows(2).all(|pair| pair[0] == pair[1]),
            (_, None) => true,
            (Self::Second, Some(before)) => before == row,
            (Self::Sum, Some(before)) => before.iter().skip(1).eq(&row[..but_last]),
            (Self::Difference, Some(before)) => row.iter().skip(1).eq(&before[..but_last]),
        }
    }

    /// Whether lines whose numbers are equal modulo t have equal values.
    fn meets(self, function: &Function, t: u64) -> bool {
        let (count, t) = (self.count(function.domain()), t as usize);
        if count <= t {
            return true;
        }
        let (x, y) = self.points(function.domain(), count);
        let values = function.values(&x, &y);
        values[t..] == values[..count - t]
    }

    /// How many lines there are.
    pub(super) fn count(self, [columns, rows]: [usize; 2]) -> usize {
        match self {
            Self::First => columns,
            Self::Second => rows,
            Self::Sum | Self::Difference => columns + rows - 1,
        }
    }

    /// A pair on each of the first lines: the numbers x, and the numbers y.
    fn points(self, domain: [usize; 2], count: usize) -> (Vec<u32>, Vec<u32>) {
        (0..count).map(|i| self.point(domain, i)).map(|(x, y)| (x as u32, y as u32)).unzip()
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
    /// [`LookupError::Undefined`](crate::lookup::LookupError::Undefined) and
    /// [`LookupError::NotInRange`](crate::lookup::LookupError::NotInRange) name a point that needs a value below t;
    /// [`Error::Parameters`] if there are more lines than numbers modulo t, and two of them that meet have different
    /// values; [`Error::Length`] if the domain is another one than the plan's.
    pub fn prepare(context: &Context, plan: &LookupPlan, function: &Function, line: Line) -> Result<Self> {
        context.check(plan.parameters(), "the plan")?;
        plan.check_domain(function)?;
        let (layout, domain) = (plan.layout(), function.domain());
        let (count, t) = (line.count(domain), plan.parameters().modulus().value());
        if !line.meets(function, t) {
            let needed = format!("at most {t}, or of equal values where they are equal modulo {t}: prepare a matrix");
            return Err(Error::parameter("domain", format!("{count} lines"), needed));
        }
        let (last, count) = (t as usize - 1, count.min(t as usize));
        let (x, y) = line.points(domain, count);
        // The first point of all is named, not the first that is met.
        let values = function.residues(&x, &y, t).or_else(|error| function.check(t).and(Err(error)))?;
        // The number t - 1 has no slot.
        let offset = values.get(last).copied().unwrap_or(0);
        let count = count.min(last);
        let encoder = Encoder::new(context);
        let table = |block: usize| {
            let indices = (0..layout.degree()).map(|slot| layout.index(block, slot));
            let value = |i: usize| if i < count { (values[i] - offset).rem_euclid(t.cast_signed()) } else { 0 };
            encoder.encode(&indices.map(value).collect::<Vec<i64>>())
        };
        let tables = (0..count.div_ceil(layout.stretch())).map(table).collect::<Result<_>>()?;
        Ok(Self { plan: plan.clone(), line, tables, offset })
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
    pub fn plan(&self) -> &LookupPlan {
        &self.plan
    }

    /// `f(x, y)` for each query; of a function of one number the other is not looked at.
    ///
    /// # Errors
    /// As [`Lookup::evaluate`](crate::lookup::prepared::Lookup::evaluate).
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
        let norms = self.tables.iter().map(|table| libm::exp2(2.0 * table.norms().log2_norm)).sum::<f64>().max(1.0);
        let entry = plan.predict_entry(&entries.noise);
        let noise = plan.predict_sum(&entry.scaled(libm::log2(norms) / 2.0));
        let result = leave(context, (plan, keys), &sum, entries.factor, noise)?;
        keys.check_files()?;
        let result = if self.offset == 0 { result } else { evaluator.add_scalar(&result, self.offset)? };
        watch(Step::Select);
        Ok(result)
    }
}

//! The shape of tables that are not there yet.

use noren_rlwe::error::Result;

use crate::circuits::recorder::CircuitUsage;
use crate::programs::bounds::Bounds;
use crate::programs::layout::TableLayout;
use crate::programs::program::Program;

/// The shape of tables that are to be encrypted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shape {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Names of the columns, or nothing; needed if a model names columns.
    pub column_names: Vec<String>,
    /// The bounds of columns, if tables are to be scaled by them and not by their own numbers.
    pub bounds: Option<Bounds>,
    /// Whether to plan programs whose arguments are not proven by the bounds to lie in the interval of their function, too.
    /// Encrypted arguments go along with their results then, whoever decrypts learns them, and numbers whose arguments were
    /// outside are refused. Without bounds of columns nothing is proven, and nothing refused when planning.
    pub unproven_interval: bool,
}

impl Shape {
    /// The keys and levels of a program for such tables in a ring with `max_slots` slots.
    ///
    /// # Errors
    /// As [`Shape::layout`]; a model that does not suit it;
    /// [`ProgramError::UnprovenInterval`](crate::programs::ProgramError::UnprovenInterval).
    pub fn usage(&self, program: &Program, max_slots: usize) -> Result<CircuitUsage> {
        self.usage_of(std::slice::from_ref(program), &self.layout(max_slots)?)
    }

    /// The keys and levels of all programs together in a layout of the shape.
    pub(super) fn usage_of(&self, programs: &[Program], layout: &TableLayout) -> Result<CircuitUsage> {
        programs.iter().try_fold(CircuitUsage::default(), |usage, program| {
            if self.bounds.is_some() && !self.unproven_interval {
                program.check_interval(layout)?;
            }
            Ok(usage.merge(&program.plan(layout)?))
        })
    }

    /// The layout of such a table in a ring with `max_slots` slots.
    ///
    /// Without bounds the scaling of columns depends on numbers that do not exist yet. It is then taken to differ
    /// between columns, and never to be 1: the case in which programs need the most levels.
    ///
    /// # Errors
    /// As [`TableLayout::new`], [`TableLayout::with_column_names`] and [`TableLayout::with_bounds`].
    pub fn layout(&self, max_slots: usize) -> Result<TableLayout> {
        let layout =
            TableLayout::new(self.rows, self.columns, max_slots)?.with_column_names(self.column_names.clone())?;
        match &self.bounds {
            Some(bounds) => layout.with_bounds(bounds),
            None => layout.with_exponents((0..self.columns).map(|column| 1 + (column % 2) as i32).collect()),
        }
    }
}

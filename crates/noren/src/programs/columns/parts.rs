//! Columns in parts: fresh elements are expanded for as many elements at a time as have room.

use std::ops::Range;

use noren_math::machine::memory;
use noren_ring::interrupt::Steps;
use noren_rlwe::error::Result;

use crate::programs::columns::column::{Column, elements_in_parts};
use crate::programs::columns::evaluate::ColumnEvaluator;

impl ColumnEvaluator {
    /// The results of work on columns of one length, element by element, part by part.
    pub(super) fn each_part<const N: usize>(
        &self,
        columns: &[&Column],
        work: impl Fn(&[&Column]) -> Result<[Column; N]>,
    ) -> Result<[Column; N]> {
        // The memory of results, which are joined at last.
        let bytes: usize =
            columns.iter().map(|column| column.count().saturating_mul(column.element_bytes())).max().unwrap_or(0);
        memory::ask(bytes.saturating_mul(2 * N))?;
        let parts: Vec<Range<usize>> = elements_in_parts(columns, self.working_set).collect();
        if parts.len() < 2 {
            return work(columns);
        }
        let progress = Steps::new(columns[0].count());
        let mut results: [Vec<Column>; N] = std::array::from_fn(|_| Vec::with_capacity(parts.len()));
        for part in &parts {
            let cut: Vec<Column> = columns.iter().map(|column| column.part(part)).collect();
            let found = work(&cut.iter().collect::<Vec<_>>())?;
            results.iter_mut().zip(found).for_each(|(results, found)| results.push(found));
            progress.advance(part.len());
        }
        let mut joined = Vec::with_capacity(N);
        for results in &results {
            joined.push(Column::concatenate(results.iter())?);
        }
        Ok(<[Column; N]>::try_from(joined).unwrap_or_else(|_| panic!("a column for each result")))
    }

    /// [`ColumnEvaluator::each_part`] with one result.
    pub(super) fn by_parts(&self, columns: &[&Column], work: impl Fn(&[&Column]) -> Result<Column>) -> Result<Column> {
        let [column] = self.each_part(columns, |columns| Ok([work(columns)?]))?;
        Ok(column)
    }
}

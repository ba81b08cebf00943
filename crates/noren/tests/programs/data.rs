//! Tables to compute with, and programs run in clear.

use std::collections::BTreeSet;

use noren::ckks::{Context, ParametersSpec};
use noren::error::Error;
use noren::programs::Program;
use noren::programs::TableLayout;
use noren::programs::{EncryptedTable, Layout, Matrix};
use noren::schemes::clear::{ClearEvaluator, ClearVector};
use noren::security::Security;

/// A table of plain numbers, row after row.
pub struct Data {
    pub rows: usize,
    pub columns: usize,
    pub entries: Vec<f64>,
}

impl Data {
    /// Numbers without visible pattern; column `c` has mean and spread of its own, from `1e-3` to `4e3` in size.
    pub fn new(rows: usize, columns: usize) -> Self {
        let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
        let entries = (0..rows * columns)
            .map(|k| {
                let size = 10.0_f64.powi((k % columns % 7) as i32 - 3);
                size * (1.0 + 2.0 * ((k * k + k) as f64 * golden).fract())
            })
            .collect();
        Self { rows, columns, entries }
    }

    /// Numbers that fill the range which their column is encoded for: plus or minus its largest, a power of two.
    pub fn filling(rows: usize, columns: usize) -> Self {
        let signs = Self::new(rows, columns).entries.into_iter().enumerate();
        let entries = signs.map(|(k, x)| {
            let size = 2.0_f64.powi((k % columns % 7) as i32 - 3);
            // The bits of the numbers without pattern.
            if x.to_bits() >> 20 & 1 == 0 { size } else { -size }
        });
        Self { rows, columns, entries: entries.collect() }
    }

    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.entries[row * self.columns + column]
    }

    pub fn column(&self, column: usize) -> impl Iterator<Item = f64> {
        (0..self.rows).map(move |row| self.at(row, column))
    }

    pub fn mean(&self, column: usize) -> f64 {
        self.column(column).sum::<f64>() / self.rows as f64
    }

    pub fn covariance(&self, i: usize, j: usize, ddof: usize) -> f64 {
        let products = (0..self.rows).map(|r| (self.at(r, i) - self.mean(i)) * (self.at(r, j) - self.mean(j)));
        products.sum::<f64>() / (self.rows - ddof) as f64
    }

    pub fn layout(&self, max_slots: usize) -> TableLayout {
        TableLayout::new(self.rows, self.columns, max_slots).unwrap().with_exponents_of(&self.entries).unwrap()
    }

    /// A table in clear; numbers in the padding where they are to be ignored.
    pub fn table(&self, layout: &TableLayout, level: usize) -> EncryptedTable<ClearVector> {
        let mut vectors = layout.pack(&self.entries).unwrap();
        if !layout.zero_padding() {
            let used: BTreeSet<_> = (0..self.rows)
                .flat_map(|r| (0..self.columns).map(move |c| (r, c)))
                .map(|(r, c)| layout.place(r, c))
                .collect();
            for (ciphertext, vector) in vectors.iter_mut().enumerate() {
                for (slot, value) in vector.iter_mut().enumerate() {
                    if !used.contains(&(ciphertext, slot)) {
                        *value = 0.75;
                    }
                }
            }
        }
        let vectors = vectors.into_iter().map(|v| ClearVector::new(v, level).unwrap()).collect();
        EncryptedTable::new(Layout::Table(layout.clone()), vectors).unwrap()
    }
}

/// The shapes that matter: one column, one row, one entry, columns that do not fill ciphertexts, several ciphertexts,
/// more rows than slots, the size of a clinical data set, and more rows than sums are masked for in one step; with the
/// largest number of slots.
pub const SHAPES: [(usize, usize, usize); 12] = [
    (5, 1, 64),
    (1, 5, 64),
    (2, 2, 4),
    (8, 3, 64),
    (13, 7, 64),
    (4, 16, 64),
    (6, 21, 32),
    (100, 3, 32),
    (64, 2, 32),
    (285, 30, 8192),
    (1500, 2, 4096),
    (1500, 2, 64),
];

/// A ring of degree `2^log_n` for `levels` levels at a scale of `2^log_scale`, without security.
pub fn context(log_n: u32, log_scale: u32, levels: usize) -> Context {
    let log_q = [vec![50], vec![log_scale; levels]].concat();
    let (log_p, security) = (vec![50], Security::None);
    let spec = ParametersSpec { log_n, log_q, log_p, log_scale, security, ..ParametersSpec::default() };
    Context::new(spec.build().unwrap()).unwrap()
}

/// All layouts of a shape: padding known to be zero, and padding of which nothing is known.
pub fn layouts(data: &Data, slots: usize) -> [TableLayout; 2] {
    let layout = data.layout(slots);
    [layout.clone(), layout.with_zero_padding(false)]
}

/// Runs a program with exactly the levels that it plans, and reads the result.
pub fn run(program: &Program, data: &Data, layout: &TableLayout) -> Matrix {
    let levels = program.plan(layout).unwrap().depth;
    let result = program.run(&ClearEvaluator, &data.table(layout, levels)).unwrap();
    assert!(result.ciphertexts().iter().all(|v| v.level() == 0), "{}: a level is left over", program.name());
    if levels > 0 {
        let refused = program.run(&ClearEvaluator, &data.table(layout, levels - 1));
        assert!(matches!(refused, Err(Error::LevelExhausted { .. })), "{} with a level less", program.name());
    }
    read(&result)
}

/// The numbers of a result in clear.
pub fn read(result: &EncryptedTable<ClearVector>) -> Matrix {
    let slots: Vec<_> = result.ciphertexts().iter().map(|v| v.values().to_vec()).collect();
    result.layout().read(&slots, &vec![0.0; slots.len()]).unwrap()
}

/// Rounding errors of numbers of about `size`, after sums of `terms`.
pub fn assert_close(found: f64, expected: f64, size: f64, terms: usize, what: &str) {
    let tolerance = 8.0 * (terms + 8) as f64 * f64::EPSILON * size;
    assert!((found - expected).abs() <= tolerance, "{what}: {found}, not {expected} (tolerance {tolerance:e})");
}

/// The largest absolute value in a column.
pub fn largest(data: &Data, column: usize) -> f64 {
    data.column(column).fold(0.0, |m, x| m.max(x.abs()))
}

/// Weights that make every column count alike, whatever its size.
pub fn weights(data: &Data, output: usize) -> Vec<f64> {
    (0..data.columns).map(|c| ((c * 5 + output * 3) % 11) as f64 - 5.0).map(|w| w / 8.0).collect()
}

/// An entry less its mean, by the largest of its column.
pub fn standardised(data: &Data, row: usize, column: usize) -> f64 {
    (data.at(row, column) - data.mean(column)) / largest(data, column)
}

/// A model with means and scales, as JSON, and its scores.
pub fn linear_model(data: &Data, outputs: usize, more: &str) -> (String, Vec<Vec<f64>>) {
    let lists: Vec<Vec<f64>> = (0..outputs).map(|k| weights(data, k)).collect();
    let bias: Vec<f64> = (0..outputs).map(|k| 0.5 - k as f64).collect();
    let mean: Vec<f64> = (0..data.columns).map(|c| data.mean(c)).collect();
    let scale: Vec<f64> = (0..data.columns).map(|c| largest(data, c)).collect();
    let json =
        format!("{{\"weights\": {lists:?}, \"bias\": {bias:?}, \"mean\": {mean:?}, \"scale\": {scale:?}{more}}}");
    let scores = (0..data.rows)
        .map(|r| {
            let score = |k: usize| (0..data.columns).map(|c| lists[k][c] * standardised(data, r, c)).sum::<f64>();
            (0..outputs).map(|k| bias[k] + score(k)).collect()
        })
        .collect();
    (json, scores)
}

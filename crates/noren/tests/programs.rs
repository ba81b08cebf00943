//! Every program on the cleartext twin against naive statistics, with the levels and keys that it plans.

use std::collections::BTreeSet;

use noren::circuits::approx::sigmoid;
use noren::error::Error;
use noren::programs::layout::TableLayout;
use noren::programs::program::Program;
use noren::programs::table::{EncryptedTable, Layout, Matrix};
use noren::schemes::clear::{ClearEvaluator, ClearVector};

/// A table of plain numbers, row after row.
struct Data {
    rows: usize,
    columns: usize,
    entries: Vec<f64>,
}

impl Data {
    /// Numbers without visible pattern; column `c` has mean and spread of its own, from `1e-3` to `4e3` in size.
    fn new(rows: usize, columns: usize) -> Self {
        let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
        let entries = (0..rows * columns)
            .map(|k| {
                let size = 10.0_f64.powi((k % columns % 7) as i32 - 3);
                size * (1.0 + 2.0 * ((k * k + k) as f64 * golden).fract())
            })
            .collect();
        Self { rows, columns, entries }
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.entries[row * self.columns + column]
    }

    fn column(&self, column: usize) -> impl Iterator<Item = f64> {
        (0..self.rows).map(move |row| self.at(row, column))
    }

    fn mean(&self, column: usize) -> f64 {
        self.column(column).sum::<f64>() / self.rows as f64
    }

    fn covariance(&self, i: usize, j: usize, ddof: usize) -> f64 {
        let products = (0..self.rows).map(|r| (self.at(r, i) - self.mean(i)) * (self.at(r, j) - self.mean(j)));
        products.sum::<f64>() / (self.rows - ddof) as f64
    }

    fn layout(&self, max_slots: usize) -> TableLayout {
        TableLayout::new(self.rows, self.columns, max_slots).unwrap().with_exponents_of(&self.entries).unwrap()
    }

    /// A table in clear; numbers in the padding where they are to be ignored.
    fn table(&self, layout: &TableLayout, level: usize) -> EncryptedTable<ClearVector> {
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
/// more rows than slots, and the size of a clinical data set; with the largest number of slots.
const SHAPES: [(usize, usize, usize); 10] = [
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
];

/// All layouts of a shape: padding known to be zero, and padding of which nothing is known.
fn layouts(data: &Data, slots: usize) -> [TableLayout; 2] {
    let layout = data.layout(slots);
    [layout.clone(), layout.with_zero_padding(false)]
}

/// Runs a program with exactly the levels that it plans, and reads the result.
fn run(program: &Program, data: &Data, layout: &TableLayout) -> Matrix {
    let levels = program.plan(layout).unwrap().depth;
    let result = program.run(&ClearEvaluator, &data.table(layout, levels)).unwrap();
    assert!(result.ciphertexts().iter().all(|v| v.level() == 0), "{}: a level is left over", program.name());
    if levels > 0 {
        let refused = program.run(&ClearEvaluator, &data.table(layout, levels - 1));
        assert!(matches!(refused, Err(Error::LevelExhausted { .. })), "{} with a level less", program.name());
    }
    read(&result)
}

fn read(result: &EncryptedTable<ClearVector>) -> Matrix {
    let slots: Vec<_> = result.ciphertexts().iter().map(|v| v.values().to_vec()).collect();
    result.layout().read(&slots, &vec![0.0; slots.len()]).unwrap()
}

/// Rounding errors of numbers of about `size`, after sums of `terms`.
fn assert_close(found: f64, expected: f64, size: f64, terms: usize, what: &str) {
    let tolerance = 8.0 * (terms + 8) as f64 * f64::EPSILON * size;
    assert!((found - expected).abs() <= tolerance, "{what}: {found}, not {expected} (tolerance {tolerance:e})");
}

fn largest(data: &Data, column: usize) -> f64 {
    data.column(column).fold(0.0, |m, x| m.max(x.abs()))
}

#[test]
fn sum_and_mean_are_those_of_the_columns() {
    for (rows, columns, slots) in SHAPES {
        let data = Data::new(rows, columns);
        for layout in layouts(&data, slots) {
            let what = format!("{rows} x {columns} in {slots}");
            let sum = run(&Program::Sum, &data, &layout);
            let mean = run(&Program::Mean, &data, &layout);
            assert_eq!((&sum.row_names[..], &mean.row_names[..]), (&["sum".to_owned()][..], &["mean".to_owned()][..]));
            for column in 0..columns {
                let size = largest(&data, column) * 2.0;
                assert_close(mean.at(0, column), data.mean(column), size, rows, &what);
                assert_close(sum.at(0, column), data.mean(column) * rows as f64, size * rows as f64, rows, &what);
            }
            assert_eq!(Program::Sum.plan(&layout).unwrap().depth, 1);
        }
    }
}

#[test]
fn variance_and_covariance_are_those_of_the_columns() {
    for (rows, columns, slots) in SHAPES {
        let data = Data::new(rows, columns);
        for layout in layouts(&data, slots) {
            for ddof in [0, 1] {
                let what = format!("{rows} x {columns} in {slots}, ddof {ddof}");
                let model = format!("{{\"ddof\": {ddof}}}");
                let variance = Program::parse("variance", Some(&model)).unwrap();
                let covariance = Program::parse("covariance", Some(&model)).unwrap();
                if rows <= ddof {
                    assert!(matches!(variance.plan(&layout), Err(Error::Parameters { name: "ddof", .. })));
                    assert!(matches!(covariance.plan(&layout), Err(Error::Parameters { name: "ddof", .. })));
                    continue;
                }
                let variances = run(&variance, &data, &layout);
                let covariances = run(&covariance, &data, &layout);
                for i in 0..columns {
                    let size = |c: usize| largest(&data, c) * 2.0;
                    assert_close(variances.at(0, i), data.covariance(i, i, ddof), size(i) * size(i), rows, &what);
                    for j in 0..columns {
                        let expected = data.covariance(i, j, ddof);
                        assert_close(covariances.at(i, j), expected, size(i) * size(j), rows, &what);
                    }
                }
                assert_eq!((variance.plan(&layout).unwrap().depth, covariance.plan(&layout).unwrap().depth), (3, 3));
            }
        }
    }
}

#[test]
fn inner_products_are_those_of_the_columns() {
    for (rows, columns, slots) in SHAPES {
        let data = Data::new(rows, columns);
        for layout in layouts(&data, slots) {
            let gram = Program::parse("inner-product", None).unwrap();
            let found = run(&gram, &data, &layout);
            let product = |i: usize, j: usize| data.column(i).zip(data.column(j)).map(|(x, y)| x * y).sum::<f64>();
            let size = |i: usize, j: usize| 4.0 * largest(&data, i) * largest(&data, j) * rows as f64;
            for i in 0..columns {
                for j in 0..columns {
                    assert_close(found.at(i, j), product(i, j), size(i, j), rows, "all pairs");
                }
            }
            let last = columns - 1;
            let some = Program::parse("inner-product", Some(&format!("{{\"pairs\": [[{last}, 0], [0, 0]]}}"))).unwrap();
            let found = run(&some, &data, &layout);
            assert_eq!(found.row_names, [format!("{last} * 0"), "0 * 0".to_owned()]);
            assert_close(found.at(0, 0), product(last, 0), size(last, 0), rows, "a pair");
            assert_close(found.at(1, 0), product(0, 0), size(0, 0), rows, "a square");
            assert_eq!(some.plan(&layout).unwrap().depth, 2);
        }
    }
}

/// Weights that make every column count alike, whatever its size.
fn weights(data: &Data, output: usize) -> Vec<f64> {
    (0..data.columns).map(|c| ((c * 5 + output * 3) % 11) as f64 - 5.0).map(|w| w / 8.0).collect()
}

fn standardised(data: &Data, row: usize, column: usize) -> f64 {
    (data.at(row, column) - data.mean(column)) / largest(data, column)
}

/// A model with means and scales, as JSON, and its scores.
fn linear_model(data: &Data, outputs: usize, more: &str) -> (String, Vec<Vec<f64>>) {
    let lists: Vec<Vec<f64>> = (0..outputs).map(|k| weights(data, k)).collect();
    let bias: Vec<f64> = (0..outputs).map(|k| 0.5 - k as f64).collect();
    let mean: Vec<f64> = (0..data.columns).map(|c| data.mean(c)).collect();
    let scale: Vec<f64> = (0..data.columns).map(|c| largest(data, c)).collect();
    let json = format!("{{\"weights\": {lists:?}, \"bias\": {bias:?}, \"mean\": {mean:?}, \"scale\": {scale:?}{more}}}");
    let scores = (0..data.rows)
        .map(|r| {
            let score = |k: usize| (0..data.columns).map(|c| lists[k][c] * standardised(data, r, c)).sum::<f64>();
            (0..outputs).map(|k| bias[k] + score(k)).collect()
        })
        .collect();
    (json, scores)
}

#[test]
fn linear_scores_are_weighted_sums_of_standardised_columns() {
    for (rows, columns, slots) in SHAPES {
        let data = Data::new(rows, columns);
        for layout in layouts(&data, slots) {
            for outputs in [1, 2, 3, 5, 20] {
                let (json, scores) = linear_model(&data, outputs, "");
                let program = Program::parse("linear", Some(&json)).unwrap();
                let found = run(&program, &data, &layout);
                let what = format!("{rows} x {columns} in {slots}, {outputs} outputs");
                for (r, scores) in scores.iter().enumerate() {
                    for (k, score) in scores.iter().enumerate() {
                        assert_close(found.at(r, k), *score, 8.0 * columns as f64 + 20.0, columns, &what);
                    }
                }
                assert_eq!(program.plan(&layout).unwrap().depth, 1);
            }
        }
    }
}

#[test]
fn linear_scores_leave_zero_padding_and_can_be_summed() {
    let data = Data::new(100, 3);
    for layout in layouts(&data, 32) {
        let (json, scores) = linear_model(&data, 2, "");
        let linear = Program::parse("linear", Some(&json)).unwrap();
        let table = linear.run(&ClearEvaluator, &data.table(&layout, 2)).unwrap();
        assert!(table.columns().unwrap().zero_padding());
        let mean = read(&Program::Mean.run(&ClearEvaluator, &table).unwrap());
        for k in 0..2 {
            let expected = scores.iter().map(|s| s[k]).sum::<f64>() / 100.0;
            assert_close(mean.at(0, k), expected, 50.0, 100, "mean of scores");
        }
    }
}

#[test]
fn linear_model_picks_columns_by_name() {
    let data = Data::new(4, 3);
    let layout = data.layout(64).with_column_names(["a", "b", "c"].map(str::to_owned).to_vec()).unwrap();
    let json = r#"{"weights": [2, 3], "columns": ["c", 0], "outputs": ["risk"]}"#;
    let found = run(&Program::parse("linear", Some(json)).unwrap(), &data, &layout);
    assert_eq!(found.column_names, ["risk"]);
    for r in 0..4 {
        assert_close(found.at(r, 0), 2.0 * data.at(r, 2) + 3.0 * data.at(r, 0), 10.0, 3, "named columns");
    }
    let unknown = Program::parse("linear", Some(r#"{"weights": [1], "columns": ["d"]}"#)).unwrap();
    assert!(matches!(unknown.plan(&layout), Err(Error::Parameters { name: "column", .. })));
}

#[test]
fn logistic_probabilities_stay_within_their_error() {
    for (rows, columns, slots) in SHAPES {
        let data = Data::new(rows, columns);
        for layout in layouts(&data, slots) {
            for outputs in [1, 3] {
                let (json, scores) = linear_model(&data, outputs, ", \"interval\": 16, \"error\": 1e-6");
                let found = run(&Program::parse("logistic", Some(&json)).unwrap(), &data, &layout);
                assert!(found.error_bound() <= 1e-6 && found.out_of_range.is_empty());
                for (r, scores) in scores.iter().enumerate() {
                    for (k, score) in scores.iter().enumerate() {
                        assert!(score.abs() <= 16.0, "the test asks for more than the model promises");
                        assert!((found.at(r, k) - sigmoid(*score)).abs() <= found.errors[r * outputs + k]);
                    }
                }
            }
        }
    }
}

#[test]
fn logistic_plan_of_a_clinical_data_set() {
    let data = Data::new(285, 30);
    let (json, _) = linear_model(&data, 1, ", \"interval\": 32, \"degree\": 127");
    let plan = Program::parse("logistic", Some(&json)).unwrap().plan(&data.layout(8192)).unwrap();
    assert_eq!(plan.depth, 8);
    // 16 columns side by side: sums over 16 blocks of 512 rows, in two steps of three rotations each.
    assert_eq!(plan.rotations.keys().copied().collect::<Vec<_>>(), [1, 2, 3, 4, 8, 12].map(|d| d * 512));
    assert!(plan.rotations.values().all(|&depth| depth == 1), "rotations happen after the weights are multiplied");
    assert_eq!((plan.relinearization, plan.counts.plain_products), (Some(1), 2));
    assert!(plan.counts.products <= 27 && plan.counts.relinearizations <= 20, "{:?}", plan.counts);
}

#[test]
fn logistic_tells_when_scores_leave_the_interval() {
    let data = Data { rows: 3, columns: 1, entries: vec![1.0, 2.0, 16.0] };
    let json = r#"{"weights": [1], "interval": 8, "error": 1e-4}"#;
    let found = run(&Program::parse("logistic", Some(json)).unwrap(), &data, &data.layout(16));
    assert_eq!(found.out_of_range, [(2, 0)]);
}

#[test]
fn polynomials_apply_to_every_entry() {
    for (rows, columns, slots) in SHAPES {
        let data = Data::new(rows, columns);
        for layout in layouts(&data, slots) {
            let value = |x: f64| 1.0 - 2.0 * x + 0.5 * x * x + 1e-3 * x * x * x;
            let top = data.entries.iter().fold(0.0_f64, |m, x| m.max(*x)) * 2.0;
            for interval in [String::new(), format!(", \"interval\": [0.0005, {top}]")] {
                let json = format!("{{\"coefficients\": [1, -2, 0.5, 0.001]{interval}}}");
                let program = Program::parse("polynomial", Some(&json)).unwrap();
                let found = run(&program, &data, &layout);
                let size = 1.0 + 2.0 * top + 0.5 * top * top + 1e-3 * top * top * top;
                for r in 0..rows {
                    for c in 0..columns {
                        assert_close(found.at(r, c), value(data.at(r, c)), 16.0 * size, 4, "polynomial");
                    }
                }
                assert!(found.out_of_range.is_empty());
                assert!((2..=3).contains(&program.plan(&layout).unwrap().depth));
            }
        }
    }
}

#[test]
fn polynomial_of_padding_stays_inside_the_interval() {
    let data = Data { rows: 3, columns: 1, entries: vec![100.0, 101.0, 102.0] };
    let json = r#"{"coefficients": [0, 0, 0, 0, 0, 0, 0, 1], "basis": "chebyshev", "interval": [100, 102]}"#;
    let program = Program::parse("polynomial", Some(json)).unwrap();
    for layout in layouts(&data, 16) {
        let result = program.run(&ClearEvaluator, &data.table(&layout, 4)).unwrap();
        assert!(result.ciphertexts().iter().flat_map(|v| v.values()).all(|x| x.abs() <= 1.0 + 1e-12));
        let found = read(&result);
        for (value, expected) in found.values.iter().zip([-1.0, 0.0, 1.0]) {
            assert_close(*value, expected, 100.0, 8, "T_7");
        }
    }
}

#[test]
fn chebyshev_models_without_interval_are_on_the_unit_interval() {
    let data = Data { rows: 2, columns: 1, entries: vec![0.5, -0.25] };
    let json = r#"{"coefficients": [0, 0, 1], "basis": "chebyshev"}"#;
    let program = Program::parse("polynomial", Some(json)).unwrap();
    let layout = TableLayout::new(2, 1, 8).unwrap();
    assert_eq!(program.plan(&layout).unwrap().depth, 2, "entries up to 1 need no map");
    let found = run(&program, &data, &layout);
    assert_eq!(found.values, [-0.5, -0.875]);
}

#[test]
fn results_hold_nothing_but_what_was_asked_for() {
    for (rows, columns, slots) in SHAPES {
        let data = Data::new(rows, columns);
        for layout in layouts(&data, slots) {
            for (name, model) in [
                ("sum", None),
                ("mean", None),
                ("variance", Some(r#"{"ddof": 0}"#)),
                ("covariance", Some(r#"{"ddof": 0}"#)),
                ("inner-product", None),
                ("inner-product", Some(r#"{"pairs": [[0, 0]]}"#)),
            ] {
                let program = Program::parse(name, model).unwrap();
                let result = program.run(&ClearEvaluator, &data.table(&layout, 3)).unwrap();
                let named: BTreeSet<(usize, usize)> = match result.layout() {
                    Layout::Table(layout) => (0..columns).map(|c| layout.place(0, c)).collect(),
                    Layout::Pairs(layout) => layout.pairs().iter().map(|&(i, j)| layout.place(i, j)).collect(),
                };
                for (ciphertext, vector) in result.ciphertexts().iter().enumerate() {
                    for (slot, &value) in vector.values().iter().enumerate() {
                        let zero = named.contains(&(ciphertext, slot)) || value == 0.0;
                        assert!(zero, "{name}: slot {slot} of ciphertext {ciphertext} holds {value}");
                    }
                }
            }
        }
    }
}

#[test]
fn encoded_numbers_stay_at_most_one_where_levels_end() {
    // The last level has little room above the scale, so results must not grow with the data.
    for (rows, columns, slots) in SHAPES {
        let data = Data::new(rows, columns);
        let layout = data.layout(slots);
        let (linear, _) = linear_model(&data, 3, "");
        for (name, model) in [
            ("sum", None),
            ("mean", None),
            ("variance", Some(r#"{"ddof": 0}"#)),
            ("covariance", Some(r#"{"ddof": 0}"#)),
            ("inner-product", None),
            ("linear", Some(&linear[..])),
            ("polynomial", Some(r#"{"coefficients": [100, 200, 300]}"#)),
        ] {
            let program = Program::parse(name, model).unwrap();
            let result = program.run(&ClearEvaluator, &data.table(&layout, 3)).unwrap();
            let largest = result.ciphertexts().iter().flat_map(|v| v.values()).fold(0.0_f64, |m, x| m.max(x.abs()));
            assert!(largest <= 1.0 + 1e-12, "{name}: {largest}");
        }
    }
}

#[test]
fn layout_places_every_entry_once_and_reads_it_back() {
    for (rows, columns, slots) in SHAPES {
        let data = Data::new(rows, columns);
        let layout = data.layout(slots);
        let places: BTreeSet<_> =
            (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))).map(|(r, c)| layout.place(r, c)).collect();
        assert_eq!(places.len(), rows * columns);
        assert!(places.iter().all(|&(ciphertext, slot)| ciphertext < layout.ciphertexts() && slot < layout.slots()));
        let packed = layout.pack(&data.entries).unwrap();
        assert!(packed.iter().flatten().all(|x| x.abs() <= 1.0));
        let matrix = Layout::Table(layout.clone()).read(&packed, &vec![0.5; packed.len()]).unwrap();
        assert_eq!(matrix.values, data.entries, "division by powers of two is exact");
        for (index, error) in matrix.errors.iter().enumerate() {
            assert_eq!(*error, 0.5 * 2.0_f64.powi(layout.exponents()[index % columns]));
        }
    }
}

#[test]
fn layouts_refuse_what_does_not_fit() {
    assert!(matches!(TableLayout::new(0, 3, 8), Err(Error::Parameters { name: "rows", .. })));
    assert!(matches!(TableLayout::new(3, 0, 8), Err(Error::Parameters { name: "columns", .. })));
    assert!(matches!(TableLayout::new(3, 3, 12), Err(Error::Parameters { name: "slots", .. })));
    let layout = TableLayout::new(2, 2, 8).unwrap();
    assert!(matches!(layout.pack(&[1.0; 3]), Err(Error::Length { found: 3, .. })));
    assert!(matches!(layout.pack(&[1.0, 1.0, 1.5, 1.0]), Err(Error::Parameters { name: "exponent", .. })));
    assert!(matches!(layout.pack(&[1.0, f64::NAN, 1.0, 1.0]), Err(Error::NotFinite { index: 1, .. })));
    assert!(layout.clone().with_exponents(vec![0; 3]).is_err());
    assert!(layout.clone().with_exponents(vec![0, 501]).is_err());
    assert!(layout.clone().with_column_names(vec!["a".to_owned()]).is_err());
    assert!(EncryptedTable::<ClearVector>::new(Layout::Table(layout.clone()), vec![]).is_err());
    let narrow = vec![ClearVector::new(vec![0.0; 2], 1).unwrap()];
    let table = EncryptedTable::new(Layout::Table(layout), narrow).unwrap();
    assert!(matches!(Program::Sum.run(&ClearEvaluator, &table), Err(Error::Length { found: 2, .. })));
}

#[test]
fn programs_refuse_models_that_do_not_suit() {
    let layout = TableLayout::new(2, 2, 8).unwrap();
    for (name, json) in [
        ("median", None),
        ("sum", Some("{}")),
        ("linear", None),
        ("linear", Some("not json")),
        ("linear", Some(r#"{"weights": [1, 2], "colour": 3}"#)),
        ("logistic", Some(r#"{"weights": [1, 2]}"#)),
        ("variance", Some(r#"{"ddof": -1}"#)),
        ("polynomial", Some(r#"{"coefficients": [1], "basis": "sine"}"#)),
    ] {
        assert!(matches!(Program::parse(name, json), Err(Error::Parameters { .. })), "{name} {json:?}");
    }
    for (name, json) in [
        ("linear", r#"{"weights": [1]}"#),
        ("linear", r#"{"weights": []}"#),
        ("linear", r#"{"weights": [[1, 2], [3]]}"#),
        ("linear", r#"{"weights": [1, 2], "bias": [1, 2]}"#),
        ("linear", r#"{"weights": [1, 2], "scale": [1, 0]}"#),
        ("linear", r#"{"weights": [1, 2], "mean": [1]}"#),
        ("linear", r#"{"weights": [1, 2], "outputs": ["a", "b"]}"#),
        ("logistic", r#"{"weights": [1, 2], "interval": -3}"#),
        ("logistic", r#"{"weights": [1, 2], "interval": 8, "error": 1e-5, "degree": 7}"#),
        ("polynomial", r#"{"coefficients": []}"#),
        ("polynomial", r#"{"coefficients": [1, 2], "interval": [3, 3]}"#),
        ("inner-product", r#"{"pairs": []}"#),
        ("inner-product", r#"{"pairs": [[0, 2]]}"#),
    ] {
        let refused = Program::parse(name, Some(json)).and_then(|program| program.plan(&layout));
        assert!(refused.is_err(), "{name} {json}");
    }
}

#[test]
fn names_are_those_of_the_programs() {
    for name in Program::NAMES {
        let model = match name {
            "linear" => Some(r#"{"weights": [1]}"#),
            "logistic" => Some(r#"{"weights": [1], "interval": 4}"#),
            "polynomial" => Some(r#"{"coefficients": [1]}"#),
            _ => None,
        };
        assert_eq!(Program::parse(name, model).unwrap().name(), name);
    }
}

#[test]
fn results_for_pairs_cannot_be_columns_again() {
    let data = Data::new(4, 2);
    let layout = data.layout(16);
    let covariance = Program::parse("covariance", None).unwrap();
    let table = covariance.run(&ClearEvaluator, &data.table(&layout, 4)).unwrap();
    assert!(matches!(Program::Sum.run(&ClearEvaluator, &table), Err(Error::WrongKind { .. })));
}

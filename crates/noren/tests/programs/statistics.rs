//! Statistics of columns, in clear.

use std::collections::BTreeSet;

use noren::error::Error;
use noren::programs::Layout;
use noren::programs::Program;
use noren::schemes::clear::ClearEvaluator;
use noren_math::kernels::is_fastest;

use crate::data::{Data, SHAPES, assert_close, largest, layouts, linear_model, run};

/// Sums over more rows are masked in two steps.
const ROWS_IN_ONE_STEP: usize = 1024;

/// The levels that sums over these rows take more.
fn more_levels(rows: usize) -> usize {
    usize::from(rows > ROWS_IN_ONE_STEP)
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
            assert_eq!(Program::Sum.plan(&layout).unwrap().depth, 1 + more_levels(rows));
        }
    }
}

#[test]
fn variance_and_covariance_are_those_of_the_columns() {
    if !is_fastest() {
        return;
    }
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
                let depths = [&variance, &covariance].map(|program| program.plan(&layout).unwrap().depth);
                assert_eq!(depths, [2 + more_levels(rows); 2]);
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
            assert_eq!(some.plan(&layout).unwrap().depth, 2 + more_levels(rows));
        }
    }
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
fn results_for_pairs_cannot_be_columns_again() {
    let data = Data::new(4, 2);
    let layout = data.layout(16);
    let covariance = Program::parse("covariance", None).unwrap();
    let table = covariance.run(&ClearEvaluator, &data.table(&layout, 2)).unwrap();
    assert!(matches!(Program::Sum.run(&ClearEvaluator, &table), Err(Error::WrongKind { .. })));
}

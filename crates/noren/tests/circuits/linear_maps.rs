//! Matrix products, in clear.

use noren::schemes::error::SlotError;
use std::collections::BTreeMap;

use noren::circuits::linear::LinearMap;
use noren::circuits::recorder::Recorder;
use noren::error::{Error, cause};
use noren::schemes::slots::SlotEvaluator;

use crate::numbers::{EV, assert_close, numbers, rounding, vector};

#[test]
fn linear_map_is_the_matrix_product_for_every_number_of_baby_steps() {
    let (rows, columns, n, slots) = (11, 16, 16, 64);
    let entries = numbers(rows * columns, 2);
    let x = numbers(n, 3);
    let expected: Vec<f64> = (0..n)
        .map(|r| if r < rows { (0..columns).map(|c| entries[r * columns + c] * x[c]).sum() } else { 0.0 })
        .collect();
    for baby_steps in [1, 2, 4, 8, 16] {
        let map = LinearMap::dense(rows, columns, &entries).unwrap().with_baby_steps(baby_steps).unwrap();
        let y = map.apply(&EV, &vector(x.repeat(slots / n), LinearMap::DEPTH)).unwrap();
        assert_close(y.values(), &expected.repeat(slots / n), rounding(n), &format!("{baby_steps} baby steps"));
        assert_eq!(y.level(), 0);

        let recorder = Recorder::new();
        map.apply(&recorder, &recorder.fresh_repeated(slots, n)).unwrap();
        let usage = recorder.usage();
        assert!(usage.rotations.keys().eq(&map.rotations()));
        assert_eq!(usage.rotations.len(), baby_steps + n / baby_steps - 2);
        assert_eq!((usage.depth, usage.counts.plain_products), (LinearMap::DEPTH, n));
    }
}

/// Rows, columns, and the period of vectors.
const SHAPES: [(usize, usize, usize); 12] = [
    (1, 8, 8),
    (3, 16, 16),
    (4, 30, 32),
    (10, 60, 64),
    (10, 60, 128),
    (16, 16, 16),
    (5, 3, 4),
    (30, 4, 4),
    (30, 4, 8),
    (60, 10, 16),
    (1, 1, 1),
    (7, 1, 2),
];

#[test]
fn hybrid_maps_are_the_matrix_product_with_the_diagonals_of_the_smaller_side() {
    const SLOTS: usize = 128;
    for (rows, columns, period) in SHAPES {
        let entries = numbers(rows * columns, 2);
        let mut x = numbers(columns, 3);
        let mut expected: Vec<f64> =
            entries.chunks(columns).map(|row| row.iter().zip(&x).map(|(a, x)| a * x).sum()).collect();
        // Slots after the columns have no effect.
        x.extend(numbers(period - columns, 4));
        let result = rows.next_power_of_two();
        expected.resize(result, 0.0);
        let shape = format!("{rows} x {columns}, period {period}");
        let hybrid = LinearMap::hybrid(period, rows, columns, &entries).unwrap();
        let y = hybrid.apply(&EV, &vector(x.repeat(SLOTS / period), LinearMap::DEPTH)).unwrap();
        assert_close(y.values(), &expected.repeat(SLOTS / result), rounding(period), &shape);

        let recorder = Recorder::new();
        let blank = hybrid.apply(&recorder, &recorder.fresh_repeated(SLOTS, period)).unwrap();
        assert_eq!(recorder.period(&blank), result, "{shape}");
        let usage = recorder.usage();
        assert!(usage.rotations.keys().eq(&hybrid.rotations()), "{shape}");
        assert_eq!((usage.depth, usage.counts.plain_products), (LinearMap::DEPTH, result.min(period)), "{shape}");

        // The choice costs no more products than either.
        let chosen = LinearMap::repeated(period, rows, columns, &entries).unwrap();
        let y = chosen.apply(&EV, &vector(x.repeat(SLOTS / period), LinearMap::DEPTH)).unwrap();
        assert_close(&y.values()[..rows], &expected[..rows], rounding(period), &shape);
    }
}

#[test]
fn few_rows_of_many_columns_take_the_hybrid_and_sparse_matrices_their_diagonals() {
    let counts = |rows: usize, columns: usize, period: usize, entries: &[f64]| {
        let recorder = Recorder::new();
        let map = LinearMap::repeated(period, rows, columns, entries).unwrap();
        map.apply(&recorder, &recorder.fresh_repeated(1024, period)).unwrap();
        recorder.usage().counts
    };
    let wide = counts(10, 784, 1024, &numbers(7840, 1));
    // 16 diagonals by 8 baby steps and 2 giant steps, then 6 doublings, two at a time.
    assert_eq!((wide.plain_products, wide.rotations), (16, 7 + 1 + 9));
    let tall = counts(784, 10, 16, &numbers(7840, 1));
    assert_eq!((tall.plain_products, tall.rotations), (16, 7 + 1));
    let mut shift = vec![0.0; 64 * 64];
    (0..64).for_each(|row| shift[row * 64 + (row + 1) % 64] = 1.0);
    assert_eq!(counts(64, 64, 64, &shift).plain_products, 1);
    let mut band = vec![0.0; 4 * 512];
    (0..4).for_each(|row| band[row * 512 + row] = 1.0);
    assert_eq!((counts(4, 512, 512, &band).plain_products, counts(4, 512, 512, &band).rotations), (1, 0));
}

#[test]
fn linear_map_skips_zero_diagonals() {
    let n = 32;
    let diagonals: BTreeMap<usize, Vec<f64>> =
        [0, 7, 8, 31].into_iter().map(|k| (k, if k == 8 { vec![0.0; n] } else { numbers(n, k as u32) })).collect();
    let x = numbers(n, 9);
    let expected: Vec<f64> = (0..n).map(|j| diagonals.iter().map(|(k, d)| d[j] * x[(j + k) % n]).sum()).collect();
    let map = LinearMap::from_diagonals(n, diagonals).unwrap();
    let y = map.apply(&EV, &vector(x, 1)).unwrap();
    assert_close(y.values(), &expected, rounding(n), "sparse");
    let recorder = Recorder::new();
    map.apply(&recorder, &recorder.fresh(n)).unwrap();
    assert_eq!(recorder.usage().counts.plain_products, 3);
}

#[test]
fn linear_map_refuses_what_it_cannot_apply() {
    assert!(matches!(LinearMap::dense(2, 2, &[1.0; 3]), Err(Error::Length { found: 3, .. })));
    assert!(matches!(cause(&LinearMap::dense(1, 2, &[1.0, f64::NAN])), Some(SlotError::NotFinite { index: 1, .. })));
    assert!(matches!(LinearMap::<f64>::from_diagonals(6, BTreeMap::new()), Err(Error::Parameters { .. })));
    let map = LinearMap::dense(4, 4, &[1.0; 16]).unwrap();
    assert!(matches!(map.apply(&EV, &vector(vec![1.0; 2], 1)), Err(Error::Length { found: 2, .. })));
    assert!(matches!(map.apply(&EV, &vector(vec![1.0; 4], 0)), Err(Error::LevelExhausted { needed: 1, left: 0 })));
    let prepared = map.prepare(&EV, &vector(vec![1.0; 4], 2)).unwrap();
    assert!(matches!(prepared.apply(&EV, &vector(vec![1.0; 4], 1)), Err(Error::LevelMismatch { left: 2, right: 1 })));
    let zero = LinearMap::dense(2, 2, &[0.0; 4]).unwrap();
    assert_eq!(zero.apply(&EV, &vector(vec![1.0; 4], 1)).unwrap().values(), [0.0; 4]);
}

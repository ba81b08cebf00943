//! Matrix products, in clear.

use noren::schemes::error::SlotError;
use std::collections::BTreeMap;

use noren::circuits::linear::LinearMap;
use noren::circuits::recorder::Recorder;
use noren::error::{Error, cause};

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

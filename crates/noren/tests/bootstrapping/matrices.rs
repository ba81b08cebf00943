//! The special DFT as products of sparse matrices, against its definition and against dense products.

use std::f64::consts::PI;

use noren::Complex64;
use noren::bootstrapping::{Diagonals, Direction, GiantOrder, Group};
use noren_math::roots::fft::FftTable;

use crate::numbers::{complex, reversed, worst};

/// A chain of butterfly layers on numbers of size 1: each layer at most doubles, and every operation rounds.
fn rounding(slots: usize) -> f64 {
    8.0 * f64::from(slots.ilog2() + 1) * slots as f64 * f64::EPSILON
}

fn groups(layers: &[u32]) -> Vec<Group> {
    layers.iter().map(|&layers| Group { layers, baby_steps: 1 << layers.div_ceil(2) }).collect()
}

fn apply(matrices: &[Diagonals], x: &[Complex64]) -> Vec<Complex64> {
    matrices.iter().fold(x.to_vec(), |x, matrix| matrix.apply(&x))
}

type Dense = Vec<Vec<Complex64>>;

fn product(a: &Dense, b: &Dense) -> Dense {
    let n = a.len();
    let entry = |row: usize, column: usize| (0..n).map(|k| a[row][k] * b[k][column]).sum();
    (0..n).map(|row| (0..n).map(|column| entry(row, column)).collect()).collect()
}

/// The layer that joins halves of `half` values as a dense matrix, or its inverse.
fn layer(n: usize, half: usize, inverse: bool) -> Dense {
    let mut dense = vec![vec![Complex64::ZERO; n]; n];
    for block in (0..n).step_by(2 * half) {
        let mut power = 1;
        for x in block..block + half {
            let y = x + half;
            let w = Complex64::cis(2.0 * PI * power as f64 / (8 * half) as f64);
            let entries = [(x, x, Complex64::ONE), (x, y, w), (y, x, Complex64::ONE), (y, y, -w)];
            for (row, column, entry) in entries {
                // The matrix is unitary up to the factor sqrt(2).
                if inverse { dense[column][row] = entry.conj() / 2.0 } else { dense[row][column] = entry }
            }
            power = 5 * power % (8 * half);
        }
    }
    dense
}

/// All ways to write `total` as an ordered sum.
fn compositions(total: u32) -> Vec<Vec<u32>> {
    if total == 0 {
        return vec![vec![]];
    }
    let first = |first: u32| compositions(total - first).into_iter().map(move |rest| [vec![first], rest].concat());
    (1..=total).flat_map(first).collect()
}

#[test]
fn slot_to_coeff_is_the_embedding_by_definition_in_bit_reversed_order() {
    for (slots, layers) in [(2, &[1][..]), (8, &[2, 1]), (64, &[2, 2, 2]), (64, &[1, 4, 1])] {
        let matrices = Direction::SlotToCoeff.matrices(slots, &groups(layers));
        for k in 0..slots {
            let mut unit = vec![Complex64::ZERO; slots];
            unit[reversed(k, slots)] = Complex64::ONE;
            // Slot j of X^k is zeta^(k 5^j) with zeta = exp(i pi / 2n).
            let powers = std::iter::successors(Some(1), |power| Some(5 * power % (4 * slots))).take(slots);
            let root = |power: usize| Complex64::cis(PI * (k * power % (4 * slots)) as f64 / (2 * slots) as f64);
            let expected: Vec<Complex64> = powers.map(root).collect();
            let error = worst(&apply(&matrices, &unit), &expected);
            assert!(error < rounding(slots), "{slots} slots, coefficient {k}: {error:e}");
        }
    }
}

#[test]
fn both_directions_agree_with_the_transform_that_encodes() {
    for (slots, layers) in [(16, &[4][..]), (256, &[3, 3, 2]), (4096, &[3, 3, 3, 3]), (4096, &[5, 7])] {
        let table = FftTable::new(slots);
        let coefficients = complex(1, slots);
        let (mut re, mut im): (Vec<f64>, Vec<f64>) = coefficients.iter().map(|c| (c.re, c.im)).unzip();
        table.forward(&mut re, &mut im);
        let values: Vec<Complex64> = re.into_iter().zip(im).map(|(re, im)| Complex64::new(re, im)).collect();
        let ordered: Vec<Complex64> = (0..slots).map(|j| coefficients[reversed(j, slots)]).collect();

        let forward = Direction::SlotToCoeff.matrices(slots, &groups(layers));
        assert!(worst(&apply(&forward, &ordered), &values) < rounding(slots), "{slots} {layers:?}");
        let inverse = Direction::CoeffToSlot.matrices(slots, &groups(layers));
        assert!(worst(&apply(&inverse, &values), &ordered) < rounding(slots), "{slots} {layers:?}");
    }
}

#[test]
fn every_grouping_is_the_dense_product_of_its_layers() {
    let total = 6;
    let n = 1 << total;
    for layers in compositions(total) {
        let groups = groups(&layers);
        for direction in [Direction::SlotToCoeff, Direction::CoeffToSlot] {
            let inverse = direction == Direction::CoeffToSlot;
            for ((matrix, below), group) in
                direction.matrices(n, &groups).iter().zip(direction.below(&groups)).zip(&groups)
            {
                let mut halves: Vec<usize> = (below..below + group.layers).map(|i| 1 << i).collect();
                if inverse {
                    halves.reverse();
                }
                let mut dense = layer(n, halves[0], inverse);
                for &half in &halves[1..] {
                    dense = product(&layer(n, half, inverse), &dense);
                }
                assert_eq!(matrix.offsets(), group.offsets(n, below), "{direction:?} {layers:?} from layer {below}");
                let mut found = vec![vec![Complex64::ZERO; n]; n];
                for (k, diagonal) in matrix.iter() {
                    for (p, &entry) in diagonal.iter().enumerate() {
                        found[p][(p + k) % n] = entry;
                    }
                }
                let error = found.iter().zip(&dense).map(|(a, b)| worst(a, b)).fold(0.0, f64::max);
                assert!(error < rounding(n), "{direction:?} {layers:?} from layer {below}: {error:e}");
            }
        }
    }
}

#[test]
fn groups_have_few_diagonals() {
    let counts = |direction: Direction, layers: &[u32]| {
        let groups = groups(layers);
        let below = direction.below(&groups);
        let count = |(group, below): (&Group, u32)| group.offsets(1 << 15, below).len();
        groups.iter().zip(below).map(count).collect::<Vec<_>>()
    };
    assert_eq!(counts(Direction::CoeffToSlot, &[4, 4, 4, 3]), [16, 31, 31, 15]);
    assert_eq!(counts(Direction::SlotToCoeff, &[5, 5, 5]), [63, 63, 32]);
}

/// `rot(x, r)[j] = x[j + r]`.
fn rotate(x: &[Complex64], step: usize) -> Vec<Complex64> {
    (0..x.len()).map(|j| x[(j + step) % x.len()]).collect()
}

fn add(a: &[Complex64], b: &[Complex64]) -> Vec<Complex64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

#[test]
fn baby_and_giant_steps_give_the_matrix_product_in_both_orders() {
    let slots = 256;
    for direction in [Direction::SlotToCoeff, Direction::CoeffToSlot] {
        for order in [GiantOrder::Separate, GiantOrder::Horner] {
            for baby_steps in [1, 2, 4, 8] {
                let groups = [3, 2, 3].map(|layers| Group { layers, baby_steps });
                let matrices = direction.matrices(slots, &groups);
                for ((matrix, below), group) in matrices.iter().zip(direction.below(&groups)).zip(groups) {
                    let x = complex(2, slots);
                    let steps = group.steps(slots, below, order);
                    // Each diagonal belongs to one pair of steps.
                    let mut left = matrix.offsets();
                    let mut sum_of = |giant: usize| {
                        let mut sum = vec![Complex64::ZERO; slots];
                        for &baby in &steps.babies {
                            let offset = (baby + giant) % slots;
                            if !left.remove(&offset) {
                                continue;
                            }
                            assert!(baby == 0 || steps.keys.contains(&baby));
                            let (_, diagonal) = matrix.iter().find(|(k, _)| *k == offset).expect("a diagonal");
                            let shifted = rotate(diagonal, slots - giant);
                            let product: Vec<Complex64> =
                                rotate(&x, baby).iter().zip(&shifted).map(|(a, b)| a * b).collect();
                            sum = add(&sum, &product);
                        }
                        sum
                    };
                    let sums: Vec<(usize, Vec<Complex64>)> =
                        steps.giants.iter().map(|&giant| (giant, sum_of(giant))).collect();
                    let result = match order {
                        GiantOrder::Separate => {
                            sums.iter().fold(vec![Complex64::ZERO; slots], |total, (giant, sum)| {
                                assert!(*giant == 0 || steps.keys.contains(giant));
                                add(&total, &rotate(sum, *giant))
                            })
                        }
                        GiantOrder::Horner => {
                            let step = baby_steps << below;
                            assert!(sums.len() == 1 || steps.keys.contains(&step));
                            assert!(sums.iter().enumerate().all(|(i, (giant, _))| *giant == i * step));
                            sums.iter()
                                .rev()
                                .fold(vec![Complex64::ZERO; slots], |total, (_, sum)| add(&rotate(&total, step), sum))
                        }
                    };
                    assert!(left.is_empty(), "{left:?} are in no step");
                    let error = worst(&result, &matrix.apply(&x));
                    assert!(error < rounding(slots), "{direction:?} {order:?} {baby_steps}: {error:e}");
                }
            }
        }
    }
}

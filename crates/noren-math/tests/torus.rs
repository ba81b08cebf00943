//! Torus polynomials: products against exact integers, within their bound, in every table.

use noren_math::cyclotomic::Cyclotomic;
use noren_math::kernels::torus::{TorusProducts, Turns};
use noren_math::kernels::{Kernels, available};
use noren_math::modulus::Modulus;
use noren_math::prime::primes_below;
use noren_math::roots::monomial::Monomials;
use noren_math::roots::ntt::NttTable;
use noren_math::roots::torus::TorusFft;
use noren_math::torus::gadget::Gadget;
use noren_math::torus::word::Torus;
use noren_math::torus_products::product::{FourierKey, Grouping, KeyShape, TorusScratch};

mod support;
use support::Numbers;

/// Up to here products are summed term by term.
const SCHOOLBOOK: usize = 256;

/// Columns and digits of the sets in use: the longest digits, the most products, and 32-bit words.
const SHAPES: [KeyShape; 4] = [single(2, 23, 1), single(4, 10, 2), single(2, 7, 3), single(1, 2, 8)];

const fn single(columns: usize, log_base: u32, levels: u32) -> KeyShape {
    KeyShape { columns, gadget: Gadget::new(log_base, levels), grouping: Grouping::Single }
}

/// The same for two bits.
const fn pair(shape: KeyShape) -> KeyShape {
    KeyShape { grouping: Grouping::Pair, ..shape }
}

/// Words: any, or the largest ones of both signs.
fn words<T: Torus>(numbers: &mut Numbers, n: usize, extreme: bool) -> Vec<T> {
    let half = 1i64 << (T::BITS - 1);
    let mut word =
        || if extreme { half.wrapping_sub((numbers.next() & 1).cast_signed()) } else { numbers.next() as i64 };
    (0..n).map(|_| T::wrapping_from(word())).collect()
}

/// `a b` modulo `X^N + 1` and q.
fn exact<T: Torus>(a: &[i64], b: &[T]) -> Vec<T> {
    if a.len() <= SCHOOLBOOK { schoolbook(a, b) } else { by_primes(a, b) }
}

fn schoolbook<T: Torus>(a: &[i64], b: &[T]) -> Vec<T> {
    let n = a.len();
    let mut out = vec![T::default(); n];
    for (i, &x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            let term = T::wrapping_from(x.wrapping_mul(y.centred()));
            let at = (i + j) % n;
            out[at] = if i + j < n { out[at].wrapping_add(term) } else { out[at].wrapping_sub(term) };
        }
    }
    out
}

/// By transforms modulo three primes near 2^50, and the Chinese remainder theorem.
fn by_primes<T: Torus>(a: &[i64], b: &[T]) -> Vec<T> {
    let n = a.len();
    let ring = Cyclotomic::power_of_two(n).expect("a degree");
    let moduli: Vec<Modulus> =
        primes_below(1 << 50, 2 * n as u64).take(3).map(|p| Modulus::new(p).expect("a prime")).collect();
    let residues: Vec<Vec<u64>> = moduli
        .iter()
        .map(|q| {
            let table = NttTable::new(*q, &ring).expect("q = 1 mod 2N");
            let residue = |x: i64| x.rem_euclid(q.value().cast_signed()).cast_unsigned();
            let (mut x, mut y) = (a.iter().map(|&x| residue(x)).collect::<Vec<_>>(), Vec::new());
            y.extend(b.iter().map(|y| residue(y.centred())));
            table.forward(&mut x);
            table.forward(&mut y);
            let mut product: Vec<u64> = x.iter().zip(&y).map(|(&x, &y)| q.mul(x, y)).collect();
            table.inverse(&mut product);
            product
        })
        .collect();
    let [p, q, r] = [&moduli[0], &moduli[1], &moduli[2]];
    let (p_q, p_r, q_r) = (q.inv(q.reduce(p.value())), r.inv(r.reduce(p.value())), r.inv(r.reduce(q.value())));
    (0..n)
        .map(|j| {
            // Garner's digits: x0 + x1 p + x2 p q, the last one centred as the product is.
            let x0 = residues[0][j];
            let x1 = q.mul(q.sub(residues[1][j], q.reduce(x0)), p_q);
            let rest = r.mul(r.sub(residues[2][j], r.reduce(x0)), p_r);
            let x2 = r.mul(r.sub(rest, r.reduce(x1)), q_r);
            let x2 = if x2 > r.value() / 2 { x2.wrapping_sub(r.value()) } else { x2 };
            let high = x1.wrapping_add(x2.wrapping_mul(q.value()));
            T::wrapping_from(x0.wrapping_add(high.wrapping_mul(p.value())).cast_signed())
        })
        .collect()
}

/// Products of digits with a matrix, or with three for two bits, as a table makes them, and exactly: `[columns, N]` each.
struct Products<T> {
    found: Vec<T>,
    exact: Vec<T>,
}

fn products<T: Torus>(table: &Kernels, fft: &TorusFft, shape: &KeyShape, seed: u64, extreme: bool) -> Products<T> {
    let (n, rows, columns) = (fft.degree(), shape.digits(), shape.columns);
    let mut numbers = Numbers::new(seed);
    let monomials = Monomials::new(n);
    // Such that X^a - 1 and X^b - 1 have large values at the same points, or any.
    let exponents = if extreme { [n, n + 2] } else { [0; 2].map(|_| numbers.below(2 * n as u64) as usize) };
    let turns = (shape.grouping == Grouping::Pair).then_some(Turns { monomials: &monomials, exponents });
    let matrices = shape.grouping.matrices();
    let half = 1i64 << (shape.gadget.log_base() - 1);
    let stride = n + 16;
    let (mut digits, mut key) = (vec![0.0; rows * stride], vec![0.0; fft.key_words(shape)]);
    let (mut exact_sums, mut scratch) = (vec![T::default(); columns * n], vec![0.0; columns * n]);
    for row in 0..rows {
        let digit: Vec<i64> = (0..n)
            .map(|_| if extreme { -half } else { numbers.below(2 * half.cast_unsigned()).cast_signed() - half })
            .collect();
        let as_words: Vec<T> = digit.iter().map(|&x| T::wrapping_from(x)).collect();
        table.torus_forward(&mut digits[row * stride..][..n], &as_words, 1.0, fft);
        for (column, term) in (0..columns).flat_map(|column| (0..matrices).map(move |term| (column, term))) {
            let polynomial: Vec<T> = words(&mut numbers, n, extreme);
            fft.write_key(&mut key, shape, (matrices * row + term, column), &polynomial, &mut scratch[..n]);
            let mut product = exact(&digit, &polynomial);
            // u K_1 + v K_2 + u v K_3.
            for (_, e) in (0..2).zip(exponents).filter(|&(bit, _)| turns.is_some() && (term == bit || term == 2)) {
                product = rotated(&product, e).iter().zip(&product).map(|(&x, &y)| x.wrapping_sub(y)).collect();
            }
            let sum = exact_sums[column * n..][..n].iter_mut();
            sum.zip(product).for_each(|(sum, x)| *sum = sum.wrapping_add(x));
        }
    }
    let products = TorusProducts { digits: &digits, stride, rows, columns, key: &key, turns, ahead: &key };
    let mut found = vec![T::default(); columns * n];
    table.torus_products_add(&mut found, &products, &mut scratch, fft);
    Products { found, exact: exact_sums }
}

impl<T: Torus> Products<T> {
    fn errors(&self) -> impl Iterator<Item = f64> {
        self.found.iter().zip(&self.exact).map(|(x, y)| x.wrapping_sub(*y).centred() as f64)
    }

    fn largest(&self) -> f64 {
        self.errors().map(f64::abs).fold(0.0, f64::max)
    }

    fn deviation(&self) -> f64 {
        (self.errors().map(|x| x * x).sum::<f64>() / self.found.len() as f64).sqrt()
    }
}

fn within_the_bound<T: Torus>(logs: std::ops::RangeInclusive<u32>) {
    for table in available() {
        for log in logs.clone() {
            let fft = TorusFft::new(1 << log);
            for shape in SHAPES.into_iter().chain([pair(SHAPES[0]), pair(SHAPES[2])]) {
                for extreme in [false, true] {
                    let found = products::<T>(table, &fft, &shape, log.into(), extreme).largest();
                    let bound = fft.error_bound::<T>(&shape);
                    // A bound that says nothing is no bound.
                    assert!(
                        bound < f64::from(T::BITS - 1).exp2() || T::BITS == 32,
                        "{bound:e} for 2^{log} and {shape:?}"
                    );
                    assert!(found <= bound, "{} 2^{log} {shape:?}: {found:e} above {bound:e}", table.name());
                }
            }
        }
    }
}

#[test]
fn products_are_within_their_bound() {
    within_the_bound::<u64>(4..=11);
    within_the_bound::<u32>(4..=11);
}

#[test]
fn products_of_the_largest_degrees_are_within_their_bound() {
    let shape = single(1, 11, 1);
    for table in available() {
        for log in 12u32..=16 {
            let fft = TorusFft::new(1 << log);
            let found = products::<u64>(table, &fft, &shape, log.into(), false).largest();
            let bound = fft.error_bound::<u64>(&shape);
            assert!(found <= bound, "{} 2^{log}: {found:e} above {bound:e}", table.name());
        }
    }
}

#[test]
fn errors_deviate_as_predicted() {
    for table in available() {
        for (log, shape) in [
            (9u32, SHAPES[1]),
            (10, SHAPES[2]),
            (11, SHAPES[0]),
            (11, SHAPES[1]),
            (10, pair(SHAPES[2])),
            (11, pair(SHAPES[0])),
        ] {
            let fft = TorusFft::new(1 << log);
            let found = products::<u64>(table, &fft, &shape, 77 + u64::from(log), false).deviation();
            let expected = fft.error_deviation::<u64>(&shape);
            assert!((0.8..1.1).contains(&(found / expected)), "{} 2^{log}: {found:e}, not {expected:e}", table.name());
        }
    }
}

#[test]
fn small_products_are_exact() {
    // |a| < 2^8, |b| < 2^32: the bound is below one half of a word before the rounding to words.
    for table in available() {
        for log in 4u32..=11 {
            let n = 1 << log;
            let mut numbers = Numbers::new(log.into());
            let fft = TorusFft::new(n);
            let a: Vec<i64> = (0..n).map(|_| numbers.below(256).cast_signed() - 128).collect();
            let b: Vec<u32> = words(&mut numbers, n, false);
            let digits: Vec<u32> = a.iter().map(|&x| u32::wrapping_from(x)).collect();
            let (mut x, mut y, mut z) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
            table.torus_forward(&mut x, &digits, 1.0, &fft);
            table.torus_forward(&mut y, &b, 2.0 / n as f64, &fft);
            fft.mul_add_assign(&mut z, &x, &y);
            let mut out = vec![1u32; n];
            table.torus_inverse_add(&mut out, &mut z, &fft);
            let expected: Vec<u32> = schoolbook(&a, &b).iter().map(|x| x.wrapping_add(1)).collect();
            assert_eq!(out, expected, "{} 2^{log}", table.name());
        }
    }
}

/// The step with two bits is the sum of its three external products.
fn pairs<T: Torus>() {
    for (log, shape) in [(4, SHAPES[0]), (6, SHAPES[2]), (7, SHAPES[1]), (8, SHAPES[2]), (9, SHAPES[0])] {
        if shape.gadget.log_base() * shape.gadget.levels() as u32 > T::BITS {
            continue;
        }
        let (n, paired) = (1usize << log, pair(shape));
        let (fft, monomials) = (TorusFft::new(n), Monomials::new(n));
        let mut numbers = Numbers::new(log);
        let start: Vec<T> = words(&mut numbers, shape.columns * n, false);
        let (mut key, mut scratch) = (vec![0.0; fft.key_words(&paired)], vec![0.0; n]);
        let mut terms = [(); 3].map(|()| vec![0.0; fft.key_words(&shape)]);
        for (row, column) in (0..shape.rows()).flat_map(|row| (0..shape.columns).map(move |column| (row, column))) {
            for (term, matrix) in terms.iter_mut().enumerate() {
                let polynomial: Vec<T> = words(&mut numbers, n, false);
                fft.write_key(matrix, &shape, (row, column), &polynomial, &mut scratch);
                fft.write_key(&mut key, &paired, (3 * row + term, column), &polynomial, &mut scratch);
            }
        }
        let key = FourierKey { shape: paired, words: &key, next: None };
        let (mut room, mut room_of_one) = (TorusScratch::new(&fft, &paired), TorusScratch::new(&fft, &shape));
        for rotations in [[0, 0], [1, 0], [0, n + 1], [n / 2 + 3, 2 * n - 1], [n, n], [5, 2 * n - 5]] {
            let mut expected = start.clone();
            for (term, words) in terms.iter().enumerate() {
                let mut product = vec![T::default(); start.len()];
                let matrix = FourierKey { shape, words, next: None };
                fft.external_product_add(&mut product, &start, matrix, &mut room_of_one);
                for (_, e) in (0..2).zip(rotations).filter(|&(bit, _)| term == bit || term == 2) {
                    for product in product.chunks_mut(n) {
                        let moved = rotated(product, e);
                        product.iter_mut().zip(moved).for_each(|(x, moved)| *x = moved.wrapping_sub(*x));
                    }
                }
                expected.iter_mut().zip(product).for_each(|(x, y)| *x = x.wrapping_add(y));
            }
            let mut found = start.clone();
            fft.rotate_pair(&mut found, rotations, (key, &monomials), &mut room);
            let largest = Products { found: found.clone(), exact: expected }.largest();
            assert!(largest <= 2.0 * fft.error_bound::<T>(&paired), "{rotations:?} of 2^{log}: {largest:e}");
            let mut batch = [start.clone(), start.clone(), start.clone()].concat();
            fft.rotate_pair_batch(&mut batch, &[rotations, [0, 0], rotations], (key, &monomials), &mut room);
            assert!(batch == [found.clone(), start.clone(), found].concat(), "a batch with {rotations:?} of 2^{log}");
        }
    }
}

#[test]
fn steps_of_two_bits_are_sums_of_three_products() {
    pairs::<u32>();
    pairs::<u64>();
}

fn external_products<T: Torus>() {
    for (log, shape) in [(4, SHAPES[0]), (6, SHAPES[2]), (7, SHAPES[1]), (8, SHAPES[2]), (9, SHAPES[0])] {
        if shape.gadget.log_base() * shape.gadget.levels() as u32 > T::BITS {
            continue;
        }
        let n = 1usize << log;
        let fft = TorusFft::new(n);
        let mut numbers = Numbers::new(log);
        let input: Vec<T> = words(&mut numbers, shape.columns * n, false);
        let start: Vec<T> = words(&mut numbers, shape.columns * n, false);
        let (mut key, mut scratch) = (vec![0.0; fft.key_words(&shape)], vec![0.0; n]);
        let mut expected = start.clone();
        for row in 0..shape.rows() {
            let (i, level) = (row / shape.gadget.levels(), row % shape.gadget.levels());
            let digit = |&x: &T| shape.gadget.digits(x).nth(level).expect("a level");
            let digits: Vec<i64> = input[i * n..][..n].iter().map(digit).collect();
            for column in 0..shape.columns {
                let polynomial = words(&mut numbers, n, false);
                fft.write_key(&mut key, &shape, (row, column), &polynomial, &mut scratch);
                let sum = expected[column * n..][..n].iter_mut();
                sum.zip(exact(&digits, &polynomial)).for_each(|(sum, x)| *sum = sum.wrapping_add(x));
            }
        }
        let key = FourierKey { shape, words: &key, next: None };
        let mut room = TorusScratch::new(&fft, &shape);
        let mut found = start.clone();
        fft.external_product_add(&mut found, &input, key, &mut room);
        let largest = Products { found, exact: expected.clone() }.largest();
        assert!(largest <= fft.error_bound::<T>(&shape), "2^{log}: {largest:e}");

        // The step of a blind rotation is the product with the difference.
        for rotation in [0, 1, n / 2 + 3, n, 2 * n - 1] {
            let (mut step, mut product, mut difference) = (start.clone(), start.clone(), Vec::new());
            for a in start.chunks(n) {
                difference.extend(rotated(a, rotation).iter().zip(a).map(|(&x, &y)| x.wrapping_sub(y)));
            }
            fft.rotate_cmux(&mut step, rotation, key, &mut room);
            fft.external_product_add(&mut product, &difference, key, &mut room);
            assert!(step == product, "rotation {rotation} of 2^{log}");
            let mut batch = [start.clone(), start.clone(), start.clone()].concat();
            fft.rotate_cmux_batch(&mut batch, &[rotation, 0, rotation], key, &mut room);
            assert!(
                batch == [step.clone(), start.clone(), step].concat(),
                "a batch with rotation {rotation} of 2^{log}"
            );
        }
    }
}

#[test]
fn external_products_are_sums_over_digits() {
    external_products::<u64>();
    external_products::<u32>();
}

/// `X^rotation a`, by moving up one place at a time.
fn rotated<T: Torus>(a: &[T], rotation: usize) -> Vec<T> {
    let mut row = a.to_vec();
    for _ in 0..rotation {
        row.rotate_right(1);
        row[0] = row[0].wrapping_neg();
    }
    row
}

fn rotations<T: Torus>(n: usize) {
    let a: Vec<T> = words(&mut Numbers::new(3), n, false);
    let offset = T::wrapping_from(0x1234_5678);
    for table in available() {
        for rotation in 0..2 * n {
            let mut out = vec![T::default(); n];
            table.torus_rotate_difference(&mut out, &a, rotation, offset);
            let expected = rotated(&a, rotation);
            let expected = expected.iter().zip(&a).map(|(x, &y)| x.wrapping_sub(y).wrapping_add(offset));
            assert!(expected.eq(out), "{} rotation {rotation} of {n}", table.name());
        }
    }
}

#[test]
fn differences_of_rotations_are_those_by_definition() {
    for n in [1, 16, 31, 64] {
        rotations::<u32>(n);
        rotations::<u64>(n);
    }
}

fn digit_spectra<T: Torus>() {
    let gadget = Gadget::new(10, 2);
    for table in available() {
        for log in [4, 6, 7, 8, 9, 10] {
            let n = 1 << log;
            let fft = TorusFft::new(n);
            let a: Vec<T> = words(&mut Numbers::new(log), n, false);
            let shifted: Vec<T> = a.iter().map(|x| x.wrapping_add(gadget.offset())).collect();
            for level in 0..gadget.levels() {
                let digit = |&x: &T| T::wrapping_from(gadget.digits(x).nth(level).expect("a level"));
                let digits: Vec<T> = a.iter().map(digit).collect();
                let (mut found, mut expected) = (vec![0.0; n], vec![0.0; n]);
                table.torus_forward_digits(&mut found, &shifted, &gadget, level, &fft, &[]);
                table.torus_forward(&mut expected, &digits, 1.0, &fft);
                assert!(found == expected, "{} digit {level} of 2^{log}", table.name());
            }
        }
    }
}

#[test]
fn spectra_of_digits_are_those_of_the_digits() {
    digit_spectra::<u32>();
    digit_spectra::<u64>();
}

#[test]
#[should_panic(expected = "as many words as the transform's degree")]
fn rows_of_another_degree_are_refused() {
    TorusFft::new(16).forward(&mut [0.0; 16], &[0u64; 32]);
}

#[test]
#[should_panic(expected = "the scratch is that of another shape")]
fn scratch_of_another_shape_is_refused() {
    let fft = TorusFft::new(16);
    let key = vec![0.0; fft.key_words(&SHAPES[0])];
    let key = FourierKey { shape: SHAPES[0], words: &key, next: None };
    fft.rotate_cmux(&mut [0u64; 32], 1, key, &mut TorusScratch::new(&fft, &SHAPES[2]));
}

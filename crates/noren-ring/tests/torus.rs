//! Arithmetic over the torus against sums that are written out.

use noren_math::random::Seed;
use noren_math::torus::gadget::Gadget;
use noren_math::torus_products::product::Grouping;
use noren_ring::engine::Engine;
use noren_ring::host::torus::blind_rotation::BlindRotation;
use noren_ring::host::torus::bootstrap::extract;
use noren_ring::host::torus::key_switch::{Exponents, LweSwitch};
use noren_ring::parallel::Parallel;
use noren_ring::torus::exact::ExactProduct;
use noren_ring::torus::lwe::Lwe;
use noren_ring::torus::polynomial::{rotate, rotate_sub};
use noren_ring::torus::product::TorusProduct;
use noren_ring::torus::shape::{GlweShape, RotationShape};

fn words(label: &str, count: usize) -> Vec<u64> {
    let mut words = vec![0; count];
    Seed::from_bytes([1; 32]).xof(label).fill_u64(&mut words);
    words
}

fn engine() -> Engine {
    Engine::new(Some(1), Parallel::default(), 0).expect("a thread")
}

/// `a b` modulo `2^64` and `X^N + 1`, term by term.
fn naive_product(a: &[u64], b: &[i64]) -> Vec<u64> {
    let n = a.len();
    let mut product = vec![0u64; n];
    for (i, &x) in a.iter().enumerate() {
        for (j, &y) in b.iter().enumerate() {
            let term = x.wrapping_mul(y.cast_unsigned());
            let place = &mut product[(i + j) % n];
            *place = if i + j < n { place.wrapping_add(term) } else { place.wrapping_sub(term) };
        }
    }
    product
}

/// Numbers of `bits` bits with a sign, the two ends among them.
fn small(label: &str, count: usize, bits: u32) -> Vec<i64> {
    let mut numbers: Vec<i64> =
        words(label, count).iter().map(|&word| word.cast_signed() >> (u64::BITS - 1 - bits)).collect();
    (numbers[0], numbers[1]) = (-(1 << bits), (1 << bits) - 1);
    numbers
}

#[test]
fn exact_products_are_sums_of_terms() {
    for (degree, bits) in [(16, 31), (64, 22), (256, 10), (1024, 1)] {
        let product = ExactProduct::new(degree).expect("transforms");
        assert!(product.holds(3, bits));
        let mut acc = words("acc", degree);
        let mut expected = acc.clone();
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for r in 0..3 {
            let numbers = small(&format!("small {r}"), degree, bits);
            let mut polynomial = words(&format!("words {r}"), degree);
            // The largest and the smallest signed words.
            (polynomial[0], polynomial[1]) = (1 << 63, (1 << 63) - 1);
            let terms = naive_product(&polynomial, &numbers);
            expected.iter_mut().zip(terms).for_each(|(x, term)| *x = x.wrapping_add(term));
            a.resize((r + 1) * product.words(), 0);
            b.resize((r + 1) * product.words(), 0);
            product.forward_small(&mut a[r * product.words()..], &numbers);
            product.forward(&mut b[r * product.words()..], &polynomial);
        }
        let mut scratch = vec![0; product.words()];
        product.add_products(&mut acc, &a, &b, product.words(), &mut scratch);
        assert_eq!(acc, expected, "degree {degree}");
    }
}

#[test]
fn rotations_are_products_with_monomials() {
    let n = 16;
    let a = words("a", n);
    for rotation in 0..2 * n {
        let mut monomial = vec![0; n];
        monomial[rotation % n] = if rotation < n { 1 } else { -1 };
        let expected = naive_product(&a, &monomial);
        let (mut rotated, mut difference) = (vec![0; n], vec![0; n]);
        rotate(&mut rotated, &a, rotation);
        rotate_sub(&mut difference, &a, rotation);
        assert_eq!(rotated, expected);
        let expected: Vec<u64> = expected.iter().zip(&a).map(|(x, a)| x.wrapping_sub(*a)).collect();
        assert_eq!(difference, expected);
    }
}

#[test]
fn an_extracted_sample_has_the_phase_of_its_coefficient() {
    let (n, k) = (16, 3);
    let sample = words("sample", (k + 1) * n);
    let secret: Vec<i64> = words("secret", k * n).iter().map(|word| (word & 1) as i64).collect();
    let mut phase = sample[k * n..].to_vec();
    for (mask, secret) in sample.chunks_exact(n).zip(secret.chunks_exact(n)) {
        let hidden = naive_product(mask, secret);
        phase.iter_mut().zip(hidden).for_each(|(x, term)| *x = x.wrapping_sub(term));
    }
    for (h, &expected) in phase.iter().enumerate() {
        let lwe = extract(&sample, n, h);
        let terms = lwe.mask().iter().zip(&secret).map(|(a, &s)| a.wrapping_mul(s.cast_unsigned()));
        assert_eq!(lwe.body().wrapping_sub(terms.fold(0, u64::wrapping_add)), expected, "coefficient {h}");
    }
}

#[test]
fn external_products_are_sums_of_digits_times_rows() {
    let (shape, gadget) = (GlweShape { dimension: 2, degree: 32 }, Gadget::new(7, 2));
    let (n, columns, rows) = (shape.degree, 3, 6);
    let write = |step: usize, row: usize, out: &mut [u64]| out.copy_from_slice(&words(&format!("{step}/{row}"), 3 * n));
    for (step, rotation) in [(0, 5), (1, 2 * n - 1), (1, n), (0, 0)] {
        let start = words("accumulator", columns * n);
        let mut expected = start.clone();
        for row in 0..rows {
            let (i, level) = (row / gadget.levels(), row % gadget.levels());
            let mut input = vec![0; n];
            rotate_sub(&mut input, &start[i * n..][..n], rotation);
            let digits: Vec<i64> =
                input.iter().map(|&word| gadget.digits(word).nth(level).expect("two digits")).collect();
            let mut key = vec![0; columns * n];
            write(step, row, &mut key);
            for (acc, polynomial) in expected.chunks_exact_mut(n).zip(key.chunks_exact(n)) {
                let terms = naive_product(polynomial, &digits);
                acc.iter_mut().zip(terms).for_each(|(x, term)| *x = x.wrapping_add(term));
            }
        }
        // The transform's errors are below 2^-53 of words times digits, a few bits more for their sums.
        for (product, bits) in [(TorusProduct::exact(n), 0), (TorusProduct::new(n), 26)] {
            let product = product.expect("transforms");
            let key = BlindRotation::from_fn(&engine(), &product, RotationShape::single(shape, gadget), 2, write);
            let mut acc = start.clone();
            key.rotate_if(step, &mut acc, rotation, &mut key.scratch());
            let error = |(x, y): (&u64, &u64)| x.wrapping_sub(*y).cast_signed().unsigned_abs();
            let error = acc.iter().zip(&expected).map(error).max().expect("words");
            assert!(error < 1 << bits, "exact: {}, an error of {error}", product.is_exact());
        }
    }
}

#[test]
fn a_step_of_two_bits_turns_by_both() {
    let (samples, gadget) = (GlweShape { dimension: 1, degree: 128 }, Gadget::new(7, 2));
    let (n, columns) = (samples.degree, 2);
    let shape = RotationShape { samples, gadget, grouping: Grouping::Pair };
    let write = |step: usize, row: usize, out: &mut [u64]| out.copy_from_slice(&words(&format!("{step}/{row}"), 2 * n));
    // The steps one by one: the sums of the products with three matrices, each turned by its rotations.
    let mask: [u32; 4] = [5, 250, 0, 131];
    let mut expected = words("accumulator", columns * n);
    for step in 0..2 {
        let start = expected.clone();
        for (row, matrix) in (0..columns * gadget.levels()).flat_map(|row| (0..3).map(move |matrix| (row, matrix))) {
            let (i, level) = (row / gadget.levels(), row % gadget.levels());
            let digit = |&word: &u64| gadget.digits(word).nth(level).expect("two digits");
            let digits: Vec<i64> = start[i * n..][..n].iter().map(digit).collect();
            let mut key = vec![0; columns * n];
            write(step, 3 * row + matrix, &mut key);
            for (acc, polynomial) in expected.chunks_exact_mut(n).zip(key.chunks_exact(n)) {
                let mut product = naive_product(polynomial, &digits);
                for bit in (0..2).filter(|&bit| matrix == bit || matrix == 2) {
                    let turned = product.clone();
                    rotate_sub(&mut product, &turned, mask[2 * step + bit] as usize);
                }
                acc.iter_mut().zip(product).for_each(|(x, term)| *x = x.wrapping_add(term));
            }
        }
    }
    let rotated = |product: Result<TorusProduct, _>, mask: [u32; 4]| {
        let key = BlindRotation::from_fn(&engine(), &product.expect("transforms"), shape, 4, write);
        let mut acc = words("accumulator", columns * n);
        key.rotate(&mut acc, &[&mask], &mut key.scratch());
        acc
    };
    assert_eq!(rotated(TorusProduct::exact(n), mask), expected);
    // An error of transforms near the edge of a digit makes another digit in the next step: one step is compared.
    let first = [mask[0], mask[1], 0, 0];
    let (fast, exact) = (rotated(TorusProduct::new(n), first), rotated(TorusProduct::exact(n), first));
    let error = |(x, y): (&u64, &u64)| x.wrapping_sub(*y).cast_signed().unsigned_abs();
    let error = fast.iter().zip(&exact).map(error).max().expect("words");
    assert!(error < 1 << 30, "an error of {error}");
}

#[test]
fn a_key_switch_subtracts_digits_times_rows() {
    let (from, to, gadget) = (37, 20, Gadget::new(3, 4));
    let row =
        |i: usize, j: usize| words(&format!("{i}/{j}"), to + 1).iter().map(|&word| word as u32).collect::<Vec<_>>();
    let switch = LweSwitch::from_fn(&engine(), (from, to), gadget, |i, rows| {
        rows.iter_mut().zip(1..).for_each(|(out, j)| out.copy_from_slice(&row(i, j)));
    });
    let samples: Vec<Lwe> = (0..19).map(|s| Lwe::from_words(words(&format!("sample {s}"), from + 1))).collect();
    let found = switch.switch(&samples.iter().collect::<Vec<_>>());
    for (sample, found) in samples.iter().zip(found) {
        let mut expected = vec![0u32; to + 1];
        expected[to] = (sample.body().wrapping_add(1 << 31) >> 32) as u32;
        for (i, &word) in sample.mask().iter().enumerate() {
            for (digit, j) in gadget.digits(word).zip(1..) {
                assert_eq!(switch.row(i, j), row(i, j));
                let term = |a: &u32| a.wrapping_mul(digit as u32);
                expected.iter_mut().zip(&row(i, j)).for_each(|(x, a)| *x = x.wrapping_sub(term(a)));
            }
        }
        assert_eq!(found, expected);
    }
}

#[test]
fn exponents_are_nearest_and_the_body_carries_half_of_their_errors() {
    let log = 5;
    let unit = 1u32 << (32 - log);
    // Errors of 1/4, 1/4 and -1/4 of a unit: half of their sum comes off the body, which is rounded down.
    let mask = [unit / 4, 7 * unit + unit / 4, 3 * unit - unit / 4];
    for (body, expected) in [(9 * unit, 8), (9 * unit + unit / 8, 9), (9 * unit + unit, 9), (0, 31), (u32::MAX, 31)] {
        let exponents = Exponents::of(&[&mask[..], &[body]].concat(), log);
        assert_eq!(exponents, Exponents { mask: vec![0, 7, 3], body: expected }, "{body}");
    }
}

//! Slots of plaintexts against polynomials modulo `(Phi_m, p^r)` as they are written down.

use noren_math::cyclotomic::Cyclotomic;
use noren_math::error::Error;
use noren_math::hypercube::Hypercube;
use noren_math::prime_power::PrimePower;
use noren_math::slots::SlotTransform;

mod support;
use support::Numbers;

/// Index, prime and exponent: one slot, fields, extensions, dimensions that are not native, primes above the index, and
/// the largest powers.
const CASES: [(u32, u64, u32); 14] = [
    (11, 2, 1),
    (15, 2, 1),
    (21, 2, 5),
    (17, 2, 3),
    (17, 3, 2),
    (31, 2, 10),
    (41, 5, 3),
    (57, 7, 2),
    (63, 2, 1),
    (85, 2, 58),
    (45, 2, 59),
    (13, 53, 4),
    (16, 3, 4),
    (20, 3, 2),
];

fn slots((m, p, r): (u32, u64, u32)) -> SlotTransform {
    let ring = Cyclotomic::new(m).expect("an index");
    SlotTransform::new(&Hypercube::new(&ring, p).expect("a prime beside it"), r).expect("a power below 2^60")
}

/// The remainder of a product modulo a monic polynomial and q, in numbers of 128 bits.
fn product(a: &[u64], b: &[u64], modulus: &[u64], q: u64) -> Vec<u64> {
    let (n, q) = (modulus.len() - 1, u128::from(q));
    let mut product = vec![0u128; a.len() + b.len() - 1];
    for (i, &x) in a.iter().enumerate() {
        for (j, &y) in b.iter().enumerate() {
            product[i + j] = (product[i + j] + u128::from(x) * u128::from(y)) % q;
        }
    }
    for top in (n..product.len()).rev() {
        let lead = product[top];
        for (i, &c) in modulus.iter().enumerate() {
            let place = &mut product[top - n + i];
            *place = (*place + (q - lead) * u128::from(c)) % q;
        }
    }
    product.resize(n, 0);
    product.into_iter().map(|x| x as u64).collect()
}

/// `Phi_m` modulo q.
fn phi(slots: &SlotTransform) -> Vec<u64> {
    let q = slots.values().numbers().value();
    slots.hypercube().ring().polynomial().iter().map(|&c| i128::from(c).rem_euclid(i128::from(q)) as u64).collect()
}

/// `a(X^k)` modulo `Phi_m`.
fn image(slots: &SlotTransform, a: &[u64], k: u64) -> Vec<u64> {
    let (m, z) = (u64::from(slots.hypercube().ring().index()), slots.values().numbers());
    let mut image = vec![0; m as usize];
    a.iter().zip(0..).for_each(|(&x, i)| {
        let place = &mut image[(i * k % m) as usize];
        *place = z.add(*place, x);
    });
    product(&image, &[1], &phi(slots), z.value())
}

#[test]
fn slots_add_and_multiply() {
    let mut numbers = Numbers::new(20);
    for case in CASES {
        let slots = slots(case);
        let (n, d) = (slots.hypercube().ring().degree(), slots.values().degree());
        let (z, modulus) = (slots.values().numbers(), slots.values().modulus());
        let [a, b] = [(); 2].map(|()| numbers.row(n, z.value()));
        let [x, y] = [&a, &b].map(|a| slots.decode(a));
        assert_eq!(slots.encode(&x), a, "{case:?}");
        let values = numbers.row(n, z.value());
        assert_eq!(slots.decode(&slots.encode(&values)), values, "{case:?}");
        // Every residue is the value of one polynomial: a ring homomorphism that is one to one.
        let expected: Vec<u64> = x
            .chunks_exact(d)
            .zip(y.chunks_exact(d))
            .flat_map(|(x, y)| {
                let expected = product(x, y, &modulus, z.value());
                assert_eq!(slots.values().mul(x, y), expected);
                expected
            })
            .collect();
        assert_eq!(slots.decode(&product(&a, &b, &phi(&slots), z.value())), expected, "{case:?}");
        let mut constant = vec![0; n];
        constant[0] = z.value() - 1;
        let all: Vec<u64> = (0..n).map(|i| if i % d == 0 { z.value() - 1 } else { 0 }).collect();
        assert_eq!(slots.encode(&all), constant);
    }
}

#[test]
fn encodings_are_those_of_the_definition_in_rings_of_many_slots() {
    let mut numbers = Numbers::new(22);
    // Slots of degree 1, groups of one and of several, one to three primes, an odd number of slots, and a product of four
    // primes.
    let cases = [(511, 2, 1), (2047, 2, 59), (127, 2, 20), (1105, 2, 1), (113, 227, 1), (640, 641, 1)];
    for case in cases.into_iter().chain([(365, 3, 37), (728, 3, 6), (1155, 2, 30), (601, 5, 25), (257, 2, 10)]) {
        let slots = slots(case);
        let (values, count) = (slots.values(), slots.hypercube().slots());
        let (z, n, d) = (values.numbers(), slots.hypercube().ring().degree(), values.degree());
        for largest in [false, true] {
            let a = if largest { vec![z.value() - 1; n] } else { numbers.row(n, z.value()) };
            let found = slots.decode(&a);
            let representatives = slots.hypercube().representatives();
            for slot in [0, 1, count / 2, count - 1] {
                let point = values.power_of_y(representatives[slot % count].into());
                let value = a.iter().rev().fold(vec![0; d], |sum, &c| {
                    let mut sum = values.mul(&sum, &point);
                    sum[0] = z.add(sum[0], c);
                    sum
                });
                assert_eq!(found[slot % count * d..][..d], value, "{case:?}, slot {slot}");
            }
            assert_eq!(slots.encode(&found), a, "{case:?}");
        }
        let row = numbers.row(count, z.value());
        let all: Vec<u64> = row.iter().flat_map(|&x| (0..d).map(move |i| if i == 0 { x } else { 0 })).collect();
        assert_eq!(slots.decode(&slots.encode_numbers(&row)), all, "{case:?}");
    }
}

#[test]
fn values_are_polynomials_in_a_root_of_unity() {
    for case in CASES {
        let slots = slots(case);
        let (m, values) = (u64::from(case.0), slots.values());
        let mut y = vec![0; values.degree()];
        // Y, or the number that it is where G has degree 1.
        match values.degree() {
            1 => y[0] = values.numbers().sub(0, values.modulus()[0]),
            _ => y[1] = 1,
        }
        let one = |x: &[u64]| x[0] == 1 && x[1..].iter().all(|&c| c == 0);
        let mut power = y.clone();
        for k in 1..m {
            assert!(!one(&power), "{case:?}: Y^{k} is 1");
            power = values.mul(&power, &y);
        }
        assert!(one(&power), "{case:?}: Y^m is not 1");
        // Modulo p the powers of one root of G are all of its roots: it is irreducible.
        assert_eq!(values.degree(), slots.hypercube().degree());
        let whole = phi(&slots);
        let zero = whole.iter().rev().fold(vec![0; values.degree()], |sum, &c| {
            let mut sum = values.mul(&sum, &y);
            sum[0] = values.numbers().add(sum[0], c);
            sum
        });
        assert!(zero.iter().all(|&c| c == 0), "{case:?}: Phi_m(Y) is not 0");
    }
}

#[test]
fn automorphisms_move_slots_along_their_dimensions() {
    let mut numbers = Numbers::new(21);
    for case in CASES {
        let slots = slots(case);
        let (cube, d) = (slots.hypercube(), slots.values().degree());
        let (z, m) = (slots.values().numbers(), u64::from(case.0));
        let a = numbers.row(cube.ring().degree(), z.value());
        let before = slots.decode(&a);
        for (i, dimension) in cube.dimensions().iter().enumerate() {
            let after = slots.decode(&image(&slots, &a, dimension.generator.into()));
            let places: Vec<Vec<usize>> = (0..cube.slots()).map(|slot| cube.coordinates(slot)).collect();
            for (slot, place) in places.iter().enumerate() {
                let mut source = place.clone();
                source[i] = (source[i] + 1) % dimension.size;
                let from = places.iter().position(|place| *place == source).expect("a slot");
                let same = after[slot * d..][..d] == before[from * d..][..d];
                // Past the end of a dimension that is not native another element of the class is met: a conjugate, or
                // another slot.
                assert!(same || !dimension.is_native && source[i] == 0, "{case:?}, dimension {i}, slot {slot}");
            }
        }
        // X -> X^p: the Frobenius map of each value, Y -> Y^p.
        let p = case.1 % m;
        let frobenius = slots.decode(&image(&slots, &a, p));
        for (value, found) in before.chunks_exact(d).zip(frobenius.chunks_exact(d)) {
            let mut spread = vec![0; m as usize];
            value.iter().zip(0..).for_each(|(&x, i)| spread[(i * p % m) as usize] = x);
            assert_eq!(product(&spread, &[1], &slots.values().modulus(), z.value()), found, "{case:?}");
        }
    }
}

#[test]
fn powers_that_do_not_fit_are_refused() {
    for (p, r) in [(2, 60), (2, 0), (3, 40), (65537, 4), (6, 1), (1, 1)] {
        assert!(matches!(PrimePower::new(p, r), Err(Error::Modulus { found, .. }) if found == p), "{p}^{r}");
    }
    assert_eq!(PrimePower::new(2, 59).expect("below 2^60").value(), 1 << 59);
    let ring = Cyclotomic::new(31).expect("an index");
    let cube = Hypercube::new(&ring, 2).expect("an odd index");
    assert!(SlotTransform::new(&cube, 64).is_err());
}

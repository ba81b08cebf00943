//! Streams and samplers: their bytes against independent computations, their distributions against theory.

use noren_math::modulus::Modulus;
use noren_math::random::Seed;
use noren_math::sample::{GAUSSIAN_BOUND, GAUSSIAN_SIGMA, gaussian, sparse_ternary, ternary, uniform};
use num_bigint::BigUint;

/// The seed of all tests here.
fn seed() -> Seed {
    Seed::from_bytes(std::array::from_fn(|i| i as u8))
}

/// One block of RFC 8439 with a zero nonce.
fn chacha20_block(key: &[u8; 32], counter: u32) -> Vec<u8> {
    fn quarter(s: &mut [u32; 16], [a, b, c, d]: [usize; 4]) {
        for (x, y, z, turn) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
            s[x] = s[x].wrapping_add(s[y]);
            s[z] = (s[z] ^ s[x]).rotate_left(turn);
        }
    }
    let mut state = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574, 0, 0, 0, 0, 0, 0, 0, 0, counter, 0, 0, 0];
    for (word, bytes) in state[4..12].iter_mut().zip(key.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    let mut s = state;
    for _ in 0..10 {
        for column in 0..4 {
            quarter(&mut s, [column, 4 + column, 8 + column, 12 + column]);
        }
        for diagonal in 0..4 {
            let turned = |row: usize| 4 * row + (diagonal + row) % 4;
            quarter(&mut s, [turned(0), turned(1), turned(2), turned(3)]);
        }
    }
    s.iter().zip(state).flat_map(|(x, start)| x.wrapping_add(start).to_le_bytes()).collect()
}

/// The stream of `label` by its definition, at least `len` bytes.
fn stream_by_definition(seed: &Seed, label: &str, len: usize) -> Vec<u8> {
    let key = blake3::keyed_hash(seed.as_bytes(), format!("noren-xof-v1/{label}").as_bytes());
    (0..len.div_ceil(64) as u32).flat_map(|counter| chacha20_block(key.as_bytes(), counter)).collect()
}

/// Words of a stream, read one after the other.
struct Words(std::vec::IntoIter<u8>);

impl Words {
    fn new(seed: &Seed, label: &str, len: usize) -> Self {
        Self(stream_by_definition(seed, label, 8 * len).into_iter())
    }

    fn next(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.0.next().expect("enough words")))
    }
}

#[test]
fn chacha20_block_agrees_with_rfc_8439() {
    // RFC 8439, appendix A.1, test vector 1: zero key, zero nonce, counter 0.
    let block = chacha20_block(&[0; 32], 0);
    assert_eq!(
        block[..16],
        [0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90, 0x40, 0x5d, 0x6a, 0xe5, 0x53, 0x86, 0xbd, 0x28]
    );
}

#[test]
fn stream_is_chacha20_under_a_blake3_key() {
    let mut bytes = vec![0; 5000];
    seed().xof("test").fill(&mut bytes);
    assert_eq!(bytes, stream_by_definition(&seed(), "test", 5000)[..5000]);
}

#[test]
fn derived_seed_is_a_blake3_keyed_hash() {
    let child = blake3::keyed_hash(seed().as_bytes(), b"noren-seed-v1/child");
    assert_eq!(seed().derive("child").as_bytes(), child.as_bytes());
}

#[test]
fn streams_are_frozen() {
    // From this test's own oracle, so that a change of the oracle shows too.
    let mut bytes = [0; 16];
    seed().xof("test").fill(&mut bytes);
    assert_eq!(u128::from_be_bytes(bytes), FROZEN_STREAM);
    let child = seed().derive("child");
    assert_eq!(u128::from_be_bytes(child.as_bytes()[..16].try_into().unwrap()), FROZEN_CHILD);
}

#[test]
fn reading_in_pieces_changes_nothing() {
    let expected = stream_by_definition(&seed(), "pieces", 6000);
    let mut xof = seed().xof("pieces");
    let mut found = Vec::new();
    for round in 0..40 {
        let mut bytes = vec![0; round * 7 % 300];
        xof.fill(&mut bytes);
        found.extend_from_slice(&bytes);
        let mut words = vec![0; round * 5 % 41];
        xof.fill_u64(&mut words);
        found.extend(words.iter().flat_map(|w| w.to_le_bytes()));
        found.extend(xof.next_u64().to_le_bytes());
        if found.len() > 5000 {
            break;
        }
    }
    assert!(found.len() > 5000);
    assert_eq!(found, expected[..found.len()]);
}

#[test]
fn labels_and_seeds_separate_streams() {
    let first = |seed: &Seed, label: &str| seed.xof(label).next_u64();
    let seed = seed();
    let words = [
        first(&seed, ""),
        first(&seed, "a"),
        first(&seed, "b"),
        first(&seed.derive("a"), "a"),
        first(&Seed::from_bytes([0; 32]), "a"),
    ];
    for (i, word) in words.iter().enumerate() {
        assert!(!words[..i].contains(word));
    }
    assert_ne!(Seed::random().unwrap().as_bytes(), Seed::random().unwrap().as_bytes());
}

#[test]
fn debug_shows_no_secret() {
    assert_eq!(format!("{:?} {:?}", seed(), seed().xof("x")), "Seed(..) Xof(..)");
}

#[test]
fn uniform_follows_its_rule() {
    // Just above and just below a power of two: half of all words and nearly none are dropped.
    for prime in [3, 65537, (1 << 49) + 69, (1 << 50) - 27] {
        let q = Modulus::new(prime).unwrap();
        let mut words = Words::new(&seed(), "uniform", 5000);
        let expected: Vec<u64> =
            std::iter::repeat_with(|| words.next() & ((1 << q.bits()) - 1)).filter(|&x| x < prime).take(1000).collect();
        let mut xof = seed().xof("uniform");
        let mut found = vec![0; 1000];
        uniform(&mut xof, &q, &mut found[..377]);
        uniform(&mut xof, &q, &mut found[377..]);
        assert_eq!(found, expected);
        assert_eq!(xof.next_u64(), words.next(), "no word is read in vain");
    }
}

#[test]
fn uniform_spreads_evenly() {
    const CELLS: usize = 64;
    const DRAWS: usize = 1 << 18;
    let q = Modulus::new((1 << 49) + 69).unwrap();
    let mut row = vec![0; DRAWS];
    uniform(&mut seed().xof("even"), &q, &mut row);
    let mut counts = [0; CELLS];
    for x in row {
        counts[(u128::from(x) * CELLS as u128 / u128::from(q.value())) as usize] += 1;
    }
    assert_chi_squared(&counts, &[DRAWS as f64 / CELLS as f64; CELLS]);
}

#[test]
fn ternary_follows_its_rule() {
    let mut xof = seed().xof("ternary");
    let mut words = Words::new(&seed(), "ternary", 5000);
    for len in [0, 1, 31, 32, 33, 1000, 5000] {
        let mut expected = Vec::new();
        while expected.len() < len {
            let word = words.next();
            expected.extend((0..32).map(|i| (word >> (2 * i) & 3) as i64 - 1).filter(|&x| x < 2));
        }
        expected.truncate(len);
        let mut found = vec![9; len];
        ternary(&mut xof, &mut found);
        assert_eq!(found, expected);
    }
    assert_eq!(xof.next_u64(), words.next(), "no word is read in vain");
}

#[test]
fn ternary_spreads_evenly() {
    const DRAWS: usize = 1 << 18;
    let mut row = vec![0; DRAWS];
    ternary(&mut seed().xof("even"), &mut row);
    // Pairs, so that a dependence between neighbours shows too.
    let mut counts = [0; 9];
    for pair in row.chunks_exact(2) {
        counts[(3 * (pair[0] + 1) + pair[1] + 1) as usize] += 1;
    }
    assert_chi_squared(&counts, &[DRAWS as f64 / 18.0; 9]);
}

#[test]
fn sparse_ternary_follows_its_rule() {
    let mut xof = seed().xof("sparse");
    let mut words = Words::new(&seed(), "sparse", 20000);
    for (len, weight) in [(0, 0), (1, 0), (1, 1), (5, 2), (64, 64), (1000, 0), (1000, 17), (4096, 192)] {
        let mut missing = weight;
        let mut expected = Vec::new();
        while expected.len() < len {
            let places = (len - expected.len()) as u64;
            let word = words.next();
            let candidate = word % places.next_power_of_two();
            if candidate < places {
                let taken = candidate < missing;
                missing -= u64::from(taken);
                expected.push(i64::from(taken) * if word >> 63 == 1 { -1 } else { 1 });
            }
        }
        let mut found = vec![9; len];
        sparse_ternary(&mut xof, weight as usize, &mut found);
        assert_eq!(found, expected);
        assert_eq!(found.iter().map(|x| x.unsigned_abs()).sum::<u64>(), weight);
    }
    assert_eq!(xof.next_u64(), words.next(), "no word is read in vain");
}

#[test]
fn sparse_ternary_spreads_evenly() {
    const ROUNDS: usize = 40_000;
    let mut xof = seed().xof("even");
    // All 10 supports of weight 2 in 5 places, with 4 choices of signs.
    let mut counts = [0; 40];
    for _ in 0..ROUNDS {
        let mut row = [0; 5];
        sparse_ternary(&mut xof, 2, &mut row);
        let at: Vec<usize> = (0..5).filter(|&i| row[i] != 0).collect();
        let support = [0, 4, 7, 9][at[0]] + at[1] - at[0] - 1;
        let signs = usize::from(row[at[0]] < 0) + 2 * usize::from(row[at[1]] < 0);
        counts[4 * support + signs] += 1;
    }
    assert_chi_squared(&counts, &[ROUNDS as f64 / 40.0; 40]);
}

#[test]
#[should_panic(expected = "needs at least as many places")]
fn sparse_ternary_refuses_too_much_weight() {
    sparse_ternary(&mut seed().xof("sparse"), 6, &mut [0; 5]);
}

/// `round(2^126 P(|x| >= k))` for `k = 1..=32`, by the series of exp in fixed point with 512 fractional bits.
fn thresholds() -> Vec<BigUint> {
    const BITS: u32 = 512;
    /// The argument is halved this often before the series, and the result squared as often.
    const HALVINGS: u32 = 10;
    let one = BigUint::from(1u32) << BITS;
    // exp(-x^2 / (2 * 3.19^2)) = 1 / exp(5000 x^2 / 101761).
    let weight = |x: u32| {
        let argument = (BigUint::from(5000 * x * x) << (BITS - HALVINGS)) / 101_761u32;
        let (mut sum, mut term, mut index) = (BigUint::ZERO, one.clone(), 0u32);
        while term != BigUint::ZERO {
            sum += &term;
            index += 1;
            term = ((term * &argument) >> BITS) / index;
        }
        for _ in 0..HALVINGS {
            sum = (&sum * &sum) >> BITS;
        }
        (BigUint::from(1u32) << (2 * BITS)) / sum
    };
    let weights: Vec<BigUint> = (0..=GAUSSIAN_BOUND as u32).map(weight).collect();
    let total = &weights[0] + 2u32 * weights[1..].iter().sum::<BigUint>();
    (1..weights.len())
        .map(|k| {
            let tail = 2u32 * weights[k..].iter().sum::<BigUint>();
            (((tail << 127) / &total) + 1u32) >> 1
        })
        .collect()
}

#[test]
fn gaussian_follows_its_rule_with_recomputed_thresholds() {
    // Frozen thresholds that rule and sampler share would hide an error: here they come from exp itself.
    let thresholds: Vec<u128> = thresholds().iter().map(|t| t.try_into().unwrap()).collect();
    let mut xof = seed().xof("gaussian");
    let mut words = Words::new(&seed(), "gaussian", 40_000);
    for len in [0, 1, 63, 64, 65, 10_000] {
        let expected: Vec<i64> = (0..len)
            .map(|_| {
                let draw = u128::from(words.next()) | u128::from(words.next()) << 64;
                let u = draw << 1 >> 2;
                let size = thresholds.iter().filter(|&&threshold| u < threshold).count() as i64;
                if draw >> 127 == 1 { -size } else { size }
            })
            .collect();
        let mut found = vec![99; len];
        gaussian(&mut xof, &mut found);
        assert_eq!(found, expected);
    }
    assert_eq!(xof.next_u64(), words.next(), "no word is read in vain");
}

#[test]
fn gaussian_has_the_moments_and_cells_of_its_density() {
    const DRAWS: usize = 1 << 20;
    let mut row = vec![0; DRAWS];
    gaussian(&mut seed().xof("moments"), &mut row);
    let mean = row.iter().sum::<i64>() as f64 / DRAWS as f64;
    let variance = row.iter().map(|x| x * x).sum::<i64>() as f64 / DRAWS as f64;
    // Standard errors of a Gaussian: sigma / sqrt(n) and sigma^2 sqrt(2 / n); five of them.
    assert!(mean.abs() < 5.0 * GAUSSIAN_SIGMA / (DRAWS as f64).sqrt(), "mean {mean}");
    let error = GAUSSIAN_SIGMA.powi(2) * (2.0 / DRAWS as f64).sqrt();
    assert!((variance - GAUSSIAN_SIGMA.powi(2)).abs() < 5.0 * error, "variance {variance}");
    assert!(row.iter().all(|x| x.abs() <= GAUSSIAN_BOUND));

    // Cells -13..=13 expect more than 60 each; what lies beyond forms one cell on each side.
    const EDGE: i64 = 13;
    let density = |x: i64| (-(x as f64 / GAUSSIAN_SIGMA).powi(2) / 2.0).exp();
    let total: f64 = (-GAUSSIAN_BOUND..=GAUSSIAN_BOUND).map(density).sum();
    let mut counts = vec![0; 2 * EDGE as usize + 3];
    let mut expected = vec![0.0; counts.len()];
    let cell = |x: i64| (x.clamp(-EDGE - 1, EDGE + 1) + EDGE + 1) as usize;
    row.iter().for_each(|&x| counts[cell(x)] += 1);
    (-GAUSSIAN_BOUND..=GAUSSIAN_BOUND).for_each(|x| expected[cell(x)] += density(x) / total * DRAWS as f64);
    assert_chi_squared(&counts, &expected);
}

#[test]
fn samplers_are_frozen() {
    // A change of these numbers breaks every stored ciphertext: it needs a new format version.
    let q = Modulus::new((1 << 50) - 27).unwrap();
    let mut residues = [0; 3];
    uniform(&mut seed().xof("frozen"), &q, &mut residues);
    assert_eq!(residues, FROZEN_UNIFORM);
    let draw = |sampler: fn(&mut noren_math::random::Xof, &mut [i64])| {
        let mut row = [0; 24];
        sampler(&mut seed().xof("frozen"), &mut row);
        row
    };
    assert_eq!(draw(ternary), FROZEN_TERNARY);
    assert_eq!(draw(|xof, out| sparse_ternary(xof, 7, out)), FROZEN_SPARSE);
    assert_eq!(draw(gaussian), FROZEN_GAUSSIAN);
}

const FROZEN_STREAM: u128 = 0x92f2fa7c31e91ff01f836a0c1e427d0e;
const FROZEN_CHILD: u128 = 0x4891c1cc540c647b01e7b89789cb2568;
const FROZEN_UNIFORM: [u64; 3] = [716584649230812, 738338070386391, 955587886122423];
const FROZEN_TERNARY: [i64; 24] = [-1, 0, 0, 1, -1, -1, -1, 1, 0, 0, 0, 1, 1, 1, 1, -1, 1, 1, 0, 0, 0, 1, 1, 0];
const FROZEN_SPARSE: [i64; 24] = [0, 0, 0, 0, 0, 0, 0, 0, -1, -1, 0, -1, 0, 0, 0, 0, -1, 0, 0, -1, 1, 1, 0, 0];
const FROZEN_GAUSSIAN: [i64; 24] =
    [-1, 2, 2, 3, 4, 2, 0, -5, -1, -6, -2, 1, -2, 0, -5, 3, 1, -2, 5, -2, -1, -3, -2, -4];

/// Chi squared with `k` degrees of freedom has mean `k` and variance `2k`; six standard deviations
/// above the mean are passed with a chance of about 10^-7 for the sizes here.
fn assert_chi_squared(counts: &[usize], expected: &[f64]) {
    let freedom = counts.len() as f64 - 1.0;
    let statistic: f64 = counts.iter().zip(expected).map(|(&c, &e)| (c as f64 - e).powi(2) / e).sum();
    assert!(statistic < freedom + 6.0 * (2.0 * freedom).sqrt(), "chi^2 = {statistic} at {freedom} degrees of freedom");
}

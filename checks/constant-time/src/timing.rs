//! Times of decryption and decoding do not depend on messages: measured, with all instruction sets of the machine.
//!
//! Two classes of inputs are measured in random order, and Welch's t says whether their times have different means; it is
//! taken for all times and for those below some percentiles, since a leak in the fast part drowns in interrupts. A leak
//! persists: it shows in every round with the same sign. Source: Reparaz, Balasch and Verbauwhede, eprint 2016/1123.

use std::hint::black_box;
use std::time::Instant;

use noren::bfv::Bfv;
use noren::bgv::{Bgv, Decryptor, Encoder, KeyRequest};
use noren::radix::Integer;
use noren::schemes::integers::{Encryptor, Scheme};
use noren::tfhe;

use crate::cases::{DIGITS, context, seed, torus};

/// |t| from here on is a leak if it persists. Single rounds of equal classes stay below 4.5 but in one of 10^5; this leaves
/// room for a machine that does other work.
const LEAK: f64 = 10.0;
/// How many rounds must agree.
const ROUNDS: usize = 5;
/// Times of each round.
const TIMES: usize = 20_000;
/// Of fewer times no mean is taken.
const FEWEST: usize = 100;
/// How many inputs a class has.
const INPUTS: usize = 16;
/// The shares of the fastest times for which t is taken.
const SHARES: [f64; 7] = [1.0, 0.99, 0.95, 0.9, 0.75, 0.5, 0.25];

/// The t that all rounds reach, with its sign; 0 if they do not agree on a sign. `make` makes an input of class 0 or 1.
///
/// Each round makes its inputs anew, in random order and at other places: what lies nearer, or shares lines of a cache with
/// something else, is another class then.
fn persistent_t<T: Clone>(name: &str, make: impl Fn(usize, i64) -> T, run: impl Fn(&T)) -> f64 {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let (mut inputs, mut between) = ([Vec::new(), Vec::new()], Vec::new());
        for i in 0..INPUTS as i64 {
            let first = below(2);
            for class in [first, 1 - first] {
                between.push(vec![0u8; 64 * below(1 << 10)]);
                inputs[class].push(make(class, i));
            }
        }
        let mut times = [Vec::with_capacity(TIMES), Vec::with_capacity(TIMES)];
        let mut input = inputs[0][0].clone();
        for _ in 0..TIMES {
            let class = below(2);
            input.clone_from(&inputs[class][below(INPUTS)]);
            let start = Instant::now();
            run(black_box(&input));
            times[class].push(start.elapsed().as_nanos() as f64);
        }
        let mut all = times.concat();
        all.sort_unstable_by(f64::total_cmp);
        let t = SHARES.map(|share| {
            let most = all[((all.len() - 1) as f64 * share) as usize];
            welch(&times.each_ref().map(|times| times.iter().copied().filter(|&time| time <= most).collect::<Vec<_>>()))
        });
        rounds.push(t.into_iter().max_by(|a, b| a.abs().total_cmp(&b.abs())).expect("some shares"));
    }
    let least = |sign: f64| rounds.iter().map(|t| sign * t).fold(f64::INFINITY, f64::min).max(0.0);
    let persistent = least(1.0) - least(-1.0);
    println!("{name}: persistent t {persistent:.2}, rounds {rounds:.2?}");
    persistent
}

/// Welch's t of two samples; 0 if one has fewer than it takes for a mean.
fn welch(samples: &[Vec<f64>; 2]) -> f64 {
    if samples.iter().any(|sample| sample.len() < FEWEST) {
        return 0.0;
    }
    let [a, b] = samples.each_ref().map(|sample| {
        let count = sample.len() as f64;
        let mean = sample.iter().sum::<f64>() / count;
        (mean, sample.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0) / count)
    });
    (a.0 - b.0) / (a.1 + b.1).sqrt().max(f64::MIN_POSITIVE)
}

/// Measures all, and what it must find.
pub fn check() {
    find_planted();
    check_integers();
    check_tfhe();
}

/// Checks that two classes take the same time.
fn equal<T: Clone>(name: &str, make: impl Fn(usize, i64) -> T, run: impl Fn(&T)) {
    let t = persistent_t(name, make, run);
    assert!(t.abs() < LEAK, "{name}: t = {t:.1} in all of {ROUNDS} rounds");
}

/// Checks a scheme: messages that are all the same against random ones, and small ones against those near t.
fn check_scheme<S: Scheme>(t: i64, log_q: Vec<u32>) {
    let context = context(t.cast_unsigned(), log_q);
    let keys = context.generate_keys(seed(1), &KeyRequest::default()).expect("keys");
    let encoder = Encoder::new(&context);
    let decryptor = Decryptor::new(&context, &keys.secret).expect("one context");
    let encryptor = Encryptor::<S>::symmetric(&context, &keys.secret, seed(2)).expect("one context");
    let n = context.parameters().degree() as i64;
    let random = |stream: i64| (0..n).map(|x| (x * 7_919 + stream * 104_729) % t * 31_337 % t).collect::<Vec<_>>();
    type Class<'a> = &'a dyn Fn(i64) -> Vec<i64>;
    let classes: [(&str, [Class<'_>; 2]); 3] = [
        ("zeros and random", [&|_| vec![0; n as usize], &random]),
        ("small and large", [&|_| vec![1; n as usize], &|_| vec![t - 1; n as usize]]),
        ("halves", [&|_| vec![t / 2; n as usize], &|_| vec![t / 2 + 1; n as usize]]),
    ];
    for (what, class) in classes {
        let name = format!("{} modulo {t}, {what}", S::NAME);
        let plaintext = |of: usize, i: i64| encoder.encode_coefficients(&class[of](i)).expect("in range");
        let ciphertext = |of: usize, i: i64| encryptor.encrypt(&plaintext(of, i)).expect("one context");
        equal(&format!("{name}: decrypt"), ciphertext, |x| {
            black_box(decryptor.decrypt(x).expect("noise left"));
        });
        equal(&format!("{name}: decode"), plaintext, |x| {
            black_box(encoder.decode_coefficients(x).expect("one context"));
            black_box(encoder.decode_coefficients_signed(x).expect("one context"));
        });
    }
}

fn check_integers() {
    check_scheme::<Bfv>(65_537, vec![30; 6]);
    check_scheme::<Bgv>(1 << 45, vec![45; 4]);
}

fn check_tfhe() {
    let (context, secret) = torus(DIGITS);
    let encryptor = tfhe::Encryptor::new(context, secret, seed(2)).expect("its own keys");
    let decryptor = tfhe::Decryptor::new(context, secret).expect("its own keys");
    type Class<'a> = &'a dyn Fn(i64) -> i64;
    let classes: [(&str, [Class<'_>; 2]); 2] = [
        ("zeros and random", [&|_| 0, &|i| i.wrapping_mul(0x5851_f42d_4c95_7f2d)]),
        ("positive and negative", [&|_| 1, &|_| -1]),
    ];
    for (what, class) in classes {
        let encrypt = |of: usize, i: i64| Integer::encrypt_signed(&encryptor, class[of](i), 64).expect("64 bits");
        equal(&format!("TFHE, {what}: decrypt"), encrypt, |x| {
            black_box(x.decrypt_signed(&decryptor).expect("its own keys"));
        });
    }
}

/// The measure itself: what divides by hardware, and what branches, is a leak; what does neither is none.
fn find_planted() {
    let words = |class: usize, _| vec![[1, u64::MAX / 3][class]; 256];
    let t = persistent_t("planted branch", words, |x| {
        for &x in x {
            if black_box(x) > 1 << 32 {
                black_box(x.wrapping_mul(x) ^ black_box(x));
            }
        }
    });
    assert!(t.abs() >= LEAK, "a branch was not found: t = {t}");
    let t = persistent_t("planted division", words, |x| {
        for &x in x {
            black_box(u128::from(x) * u128::from(black_box(x)) % black_box(65_537));
        }
    });
    assert!(t.abs() >= LEAK, "a division was not found: t = {t}");
    equal("no leak", words, |x| {
        for &x in x {
            black_box(x.wrapping_mul(black_box(x)));
        }
    });
}

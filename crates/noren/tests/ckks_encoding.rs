//! Encoding and decoding, against their definition.

mod world;

use noren::ckks::{CkksError, Context, Encoder, ParametersSpec, Scale};
use noren::schemes::error::SlotError;
use noren::{Complex64, Error, Security};
use num_bigint::BigInt;
use world::{real, uniform, worst};

fn context(log_n: u32, log_q: Vec<u32>, log_scale: u32) -> Context {
    let spec = ParametersSpec { log_n, log_q, log_scale, security: Security::None, ..ParametersSpec::default() };
    Context::new(spec.build().expect("parameters")).expect("context")
}

/// `m(zeta^(5^j))` by its definition, `zeta = exp(i pi / N)`.
fn naive_slots(coefficients: &[f64], slots: usize) -> Vec<Complex64> {
    let n = coefficients.len();
    let mut exponent = 1;
    let mut values = Vec::new();
    for _ in 0..slots {
        let term = |(k, c): (usize, &f64)| {
            let angle = std::f64::consts::PI * ((k * exponent) % (2 * n)) as f64 / n as f64;
            Complex64::from_polar(*c, angle)
        };
        values.push(coefficients.iter().enumerate().map(term).sum());
        exponent = exponent * 5 % (2 * n);
    }
    values
}

#[test]
fn slots_are_values_at_powers_of_five() {
    for log_n in 3..=6 {
        let context = context(log_n, vec![50], 30);
        let encoder = Encoder::new(&context);
        let half = 1 << (log_n - 1);
        let mut slots = half;
        while slots >= 1 {
            let values: Vec<Complex64> = uniform(slots as u64, slots)
                .iter()
                .zip(uniform(99, slots))
                .map(|(&re, im)| Complex64::new(re, im))
                .collect();
            let scale = Scale::from_log2(30);
            let plain = encoder.encode_complex(&values, slots, 0, &scale).expect("encode");
            let ring = context.rlwe().ring_q(1);
            let repeated = encoder.encode_complex(&values.repeat(half / slots), half, 0, &scale).expect("encode");
            let decoded = encoder.decode_complex(&plain).expect("decode");
            let coefficients = ring.to_centered_f64(&ring.intt(plain.rlwe().poly.clone()));
            let expected: Vec<Complex64> = naive_slots(&coefficients, half).iter().map(|z| z / 2f64.powi(30)).collect();
            assert!(worst(&decoded.repeat(half / slots), &expected) < 1e-12, "{log_n} {slots}");
            // Rounding moves each of 2 slots coefficients by at most 1/2.
            let rounding = slots as f64 / 2f64.powi(30);
            assert!(worst(&decoded, &values) <= rounding, "{log_n} {slots}");
            let full = encoder.decode_complex(&repeated).expect("decode");
            assert!(worst(&full, &values.repeat(half / slots)) <= half as f64 / 2f64.powi(30));
            slots /= 2;
        }
    }
}

#[test]
fn a_large_ring_returns_its_values_to_fifty_bits() {
    // The rounding of 2^16 coefficients, 2^6.2 in a slot, must stay below the 50 bits: hence a scale of 2^64.
    let context = context(16, vec![50, 40], 40);
    let encoder = Encoder::new(&context);
    let scale = Scale::from_log2(64);
    for values in [real(&uniform(1, 1 << 15)), real(&vec![1.0; 1 << 15])] {
        let plain = encoder.encode_complex(&values, 1 << 15, 1, &scale).expect("encode");
        let decoded = encoder.decode_complex(&plain).expect("decode");
        let squares: f64 = decoded.iter().zip(&values).map(|(a, b)| (a - b).norm_sqr()).sum();
        let rms = (squares / values.len() as f64).sqrt();
        let error = worst(&decoded, &values);
        assert!(rms < 2f64.powi(-50), "rms 2^{:.2}", rms.log2());
        assert!(error < 2f64.powi(-49), "worst 2^{:.2}", error.log2());
        assert!(error <= plain.error_bound());
    }
}

#[test]
fn wide_coefficients_are_rounded_exactly() {
    // Above 2^62 a coefficient needs more than 64 bits; a constant is the coefficient of X^0.
    let context = context(4, vec![50, 40, 40], 40);
    let encoder = Encoder::new(&context);
    let scale = Scale::from_log2(90);
    let plain = encoder.encode_real(&[1.5; 8], 8, 2, &scale).expect("encode");
    let ring = context.rlwe().ring_q(3);
    let wide = ring.to_centered_i128(&ring.intt(plain.rlwe().poly.clone())).expect("below 2^126");
    assert_eq!(BigInt::from(wide[0]), BigInt::from(3) << 89);
    assert!(wide[1..].iter().all(|&c| c.unsigned_abs() < 1 << 40), "{wide:?}");
}

#[test]
fn missing_values_are_zeros() {
    let context = context(6, vec![50], 30);
    let encoder = Encoder::new(&context);
    let plain = encoder.encode(&[1.0, 2.0], 16, 0).expect("encode");
    let decoded = encoder.decode_real(&plain).expect("decode");
    let expected = [&[1.0, 2.0][..], &[0.0; 14]].concat();
    assert_eq!(decoded.len(), 16);
    assert!(worst(&real(&decoded), &real(&expected)) <= plain.error_bound());
    assert_eq!(plain.estimate().magnitude(), 2.0);
}

#[test]
fn fewer_limbs_are_read_where_the_message_fits_them() {
    let context = context(6, vec![50, 40, 40, 40], 40);
    let encoder = Encoder::new(&context);
    let values = real(&uniform(3, 32));
    for level in 0..=3 {
        let scale = Scale::from_log2(40);
        let plain = encoder.encode_complex(&values, 32, level, &scale).expect("encode");
        assert!(worst(&encoder.decode_complex(&plain).expect("decode"), &values) <= plain.error_bound());
    }
    // A message that needs all limbs: 2^100 at scale 2^60 fills 160 of 170 bits.
    let huge: Vec<Complex64> = values.iter().map(|z| z * 2f64.powi(100)).collect();
    let plain = encoder.encode_complex(&huge, 32, 3, &Scale::from_log2(20)).expect("encode");
    assert!(worst(&encoder.decode_complex(&plain).expect("decode"), &huge) <= plain.error_bound());
}

#[test]
fn what_cannot_be_encoded_is_named() {
    let context = context(6, vec![50, 40], 40);
    let encoder = Encoder::new(&context);
    let refused = |values: &[f64], slots, level| match encoder.encode(values, slots, level) {
        Err(error) => error,
        Ok(_) => panic!("{values:?} was encoded"),
    };
    assert!(matches!(refused(&[0.0; 5], 4, 1), Error::Length { what: "values", found: 5, .. }));
    assert!(matches!(refused(&[0.0], 64, 1), Error::Length { what: "slots", found: 64, .. }));
    assert!(matches!(refused(&[0.0], 12, 1), Error::Length { what: "slots", found: 12, .. }));
    assert!(matches!(refused(&[0.0], 0, 1), Error::Length { what: "slots", found: 0, .. }));
    assert!(matches!(refused(&[0.0], 4, 2), Error::LevelExhausted { needed: 2, left: 1 }));
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = refused(&[0.0, 1.0, value], 4, 1);
        let Some(SlotError::NotFinite { index: 2, value: found }) = error.downcast_ref() else { panic!("{value}") };
        assert_eq!(found.to_bits(), value.to_bits());
    }
    // The mean of four slots is about 2^10, which at scale 2^40 does not fit 50 bits, but fits 90.
    assert!(matches!(
        refused(&[0.0, 4096.0, 3.0], 4, 0).downcast_ref(),
        Some(CkksError::Overflow { index: 1, value: 4096.0, limit, scale_log2 })
            if *limit < 4096.0 && (scale_log2 - 40.0).abs() < 0.1
    ));
    assert!(encoder.encode(&[0.0, 4096.0, 3.0], 4, 1).is_ok());
    // So large that its square is infinite.
    assert!(matches!(refused(&[1e200], 4, 1).downcast_ref(), Some(CkksError::Overflow { index: 0, value: 1e200, .. })));
}

#[test]
fn factors_are_the_plaintexts_of_their_values_in_the_smallest_ring() {
    let context = context(10, vec![50, 40], 30);
    let (encoder, ring, slots) = (Encoder::new(&context), context.rlwe().ring_q(2), 512);
    for (period, words) in [(1, 8), (4, 8), (32, 64), (64, 128), (128, 1024), (512, 1024)] {
        let parts = [uniform(period as u64, period), uniform(77, period)].map(|part| part.repeat(slots / period));
        let values: Vec<Complex64> = parts[0].iter().zip(&parts[1]).map(|(&re, &im)| Complex64::new(re, im)).collect();
        let scale = Scale::from_log2(30);
        let plain = encoder.encode_complex(&values, slots, 1, &scale).expect("encode");
        let factor = encoder.encode_factor_complex(&values, slots, 1, &scale).expect("encode");
        assert_eq!(factor.rlwe().degree(), words, "{period}");
        let small = context.rlwe().subring(words).window(factor.rlwe().window());
        let row = |limb| small.to_words(factor.rlwe())[limb * words..][..words].to_vec();
        let stretched: Vec<u64> = (0..2).flat_map(row).flat_map(|word| vec![word; 1024 / words]).collect();
        assert!(stretched == ring.to_words(&plain.rlwe().poly), "{period}");
        let bound = factor.estimate().bound(slots, slots);
        // Decoding rounds to f64.
        assert!((bound..bound * 1.001).contains(&plain.error_bound()), "{period}");
    }
}

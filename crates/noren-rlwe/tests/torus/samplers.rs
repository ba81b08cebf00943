//! Noise against its distribution.

use noren_rlwe::torus::noise::TorusNoise;

use crate::world::{centred, seed};

/// The number of normal samples, whose variance deviates by `sqrt(2 / SAMPLES)` of itself, 0.6 %.
const SAMPLES: usize = 1 << 16;
/// Five of these deviations.
const TOLERANCE: f64 = 5.0 * 0.005_53;

#[test]
fn noise_has_its_variance_and_mean_zero() {
    for noise in [
        TorusNoise::Gaussian(1e-3),
        TorusNoise::Gaussian(2.05e-6),
        TorusNoise::Gaussian(2.85e-15),
        TorusNoise::TUniform(45),
        TorusNoise::TUniform(17),
        TorusNoise::TUniform(0),
    ] {
        let mut words = vec![0; SAMPLES];
        noise.sample(&mut seed(3).xof("noise"), &mut words);
        let (mut sum, mut squares) = (0.0, 0.0);
        for &word in &words {
            sum += centred(word);
            squares += centred(word) * centred(word);
        }
        let (mean, variance) = (sum / SAMPLES as f64, squares / SAMPLES as f64);
        let ratio = variance / noise.variance();
        assert!((ratio - 1.0).abs() < TOLERANCE, "{noise}: {ratio} of its variance");
        let bound = 5.0 * noise.deviation() / (SAMPLES as f64).sqrt();
        assert!(mean.abs() < bound, "{noise}: a mean of {mean}, at most {bound}");
    }
}

#[test]
fn gaussian_noise_has_the_tails_of_a_normal_distribution() {
    let deviation = 1e-4;
    let mut words = vec![0; SAMPLES];
    TorusNoise::Gaussian(deviation).sample(&mut seed(4).xof("tails"), &mut words);
    // P(|x| > z) for the normal distribution.
    for (z, probability) in [(0.5, 0.617_075), (1.0, 0.317_311), (2.0, 0.045_500), (3.0, 0.002_700)] {
        let found = words.iter().filter(|&&word| centred(word).abs() > z * deviation).count() as f64;
        let expected = SAMPLES as f64 * probability;
        let bound = 5.0 * (expected * (1.0 - probability)).sqrt();
        assert!((found - expected).abs() < bound, "beyond {z}: {found} of {expected} within {bound}");
    }
}

#[test]
fn tuniform_noise_ends_where_it_says_with_half_the_weight() {
    let mut words = vec![0; SAMPLES];
    TorusNoise::TUniform(2).sample(&mut seed(5).xof("ends"), &mut words);
    let count = |value: i64| words.iter().filter(|&&word| word.cast_signed() == value).count() as f64;
    assert_eq!((-4..=4).map(count).sum::<f64>(), SAMPLES as f64);
    for value in -4..=4 {
        let probability = if value == 4 || value == -4 { 1.0 / 16.0 } else { 1.0 / 8.0 };
        let expected = SAMPLES as f64 * probability;
        assert!((count(value) - expected).abs() < 5.0 * expected.sqrt(), "{value}: {} of {expected}", count(value));
    }
}

#[test]
fn the_same_stream_gives_the_same_noise_for_any_cut() {
    let noise = TorusNoise::Gaussian(1e-5);
    let mut words = vec![0; 1000];
    noise.sample(&mut seed(6).xof("cut"), &mut words);
    let golden = blake3_of(&words);
    assert_eq!(golden, "92e4c600", "the rule of the sampler changed");
    let mut first = vec![0; 600];
    noise.sample(&mut seed(6).xof("cut"), &mut first);
    assert_eq!(first, words[..600], "a longer row starts as a shorter one");
}

fn blake3_of(words: &[u64]) -> String {
    let mut hasher = blake3::Hasher::new();
    words.iter().for_each(|word| {
        hasher.update(&word.to_le_bytes());
    });
    hasher.finalize().to_hex()[..8].to_string()
}

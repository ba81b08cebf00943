//! How often lookups fail against the law, where they fail often enough to be counted.

use noren::Security;
use noren::tfhe::{Encoding, Grouping, Lookup, ParametersSpec, TorusNoise, TorusSpec};
use noren_math::kernels::is_fastest;

use crate::world::World;

#[test]
fn lookups_fail_as_often_as_the_law_says() {
    if !is_fastest() {
        return;
    }
    const LOOKUPS: usize = 3_000;
    // The weight of a secret, by which roundings count, deviates by 1/sqrt(n) of its mean: by half of that over 4 keys.
    const KEYS: u8 = 4;
    // The modulus switch, of known distribution, decides: 2 deviations for 5 bits at N = 256.
    let spec = ParametersSpec {
        torus: TorusSpec {
            n: 200,
            k: 1,
            log_degree: 8,
            lwe_noise: TorusNoise::Gaussian(1e-8),
            glwe_noise: TorusNoise::Gaussian(1e-13),
            log_base: 16,
            levels: 1,
            grouping: Grouping::Single,
            light: None,
            switch_log_base: 5,
            switch_levels: 3,
            security: Security::None,
        },
        encoding: Encoding::Integers { message_bits: 4, carry_bits: 1 },
        max_noise: 1.0,
        max_failure_log2: 0.0,
    };
    let failure = spec.clone().build().expect("parameters").failure();
    let expected = LOOKUPS as f64 * failure.log2.exp2();
    let deviation = expected.sqrt();
    assert!(expected > 100.0, "too few failures to count: {failure}");

    let mut found = 0.0;
    for key in 0..KEYS {
        let world = World::new(spec.clone(), 5 + key);
        let (encryptor, decryptor, evaluator) = (world.encryptor(), world.decryptor(), world.evaluator());
        // Neighbours have other values, so that each failure shows.
        let lookup = Lookup::new(&world.context, |x| x).expect("a table");
        let each = LOOKUPS / usize::from(KEYS);
        let inputs: Vec<_> = (0..each).map(|i| encryptor.encrypt(i as u64 % 16).expect("a message")).collect();
        let results = evaluator.lookup_each(&inputs.iter().collect::<Vec<_>>(), &lookup).expect("lookups");
        // Phases below 0 give -f(0): the value 0 here, which is right by chance, so that inputs of 0 count half.
        let wrong = |(i, result): (usize, &_)| decryptor.decrypt(result).map_or(true, |value| value != i as u64 % 16);
        found += results.iter().enumerate().filter(|&(i, result)| wrong((i, result))).count() as f64;
    }
    let expected = expected * (1.0 - 1.0 / 32.0);
    assert!((found - expected).abs() < 4.0 * deviation, "{found} failures, {expected:.0} by law ({failure})");
}

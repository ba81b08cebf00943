//! Presets: security and failure.

use noren::error::Error;
use noren::tfhe::Preset;
use noren::tfhe::preset::PRESETS;

#[test]
fn presets_reach_what_they_promise() {
    for preset in &PRESETS {
        let parameters = preset.parameters().unwrap_or_else(|error| panic!("{}: {error}", preset.name));
        assert!(parameters.failure().log2 <= preset.spec.max_failure_log2, "{}: {parameters}", preset.name);
    }
}

#[test]
fn failures_are_those_that_were_published() {
    // TFHE-rs 1.4, parameters of 2^-128: within a tenth of a bit, for the transform's error is counted differently.
    for (name, published) in [("1_1", -128.186), ("2_2", -128.597), ("3_3", -128.115)] {
        let found = Preset::named(name).and_then(Preset::parameters).expect("a set").failure().log2;
        assert!((found - published).abs() < 0.1, "{name}: {found} and {published}");
    }
}

#[test]
fn legacy_sets_do_not_reach_the_default_security() {
    for preset in PRESETS.iter().filter(|preset| preset.legacy) {
        let mut spec = preset.spec.clone();
        spec.torus.security = noren::Security::Bits128;
        assert!(matches!(spec.build(), Err(Error::WeakNoise { .. })), "{}", preset.name);
    }
}

#[test]
fn unknown_presets_are_refused_with_the_names_that_there_are() {
    let error = Preset::named("5_5").expect_err("no such set").to_string();
    assert!(error.contains("2_2") && error.contains("BOOL"), "{error}");
}

//! Presets: security and failure.

use noren::error::Error;
use noren::tfhe::PRESETS;
use noren::tfhe::{Encoding, NoiseLaw, Preset};

#[test]
fn presets_reach_what_they_promise() {
    for preset in &PRESETS {
        let parameters = preset.parameters().unwrap_or_else(|error| panic!("{}: {error}", preset.name));
        assert!(parameters.failure().log2 <= preset.spec.max_failure_log2, "{}: {parameters}", preset.name);
    }
}

#[test]
fn failures_are_those_that_were_published() {
    // TFHE-rs 1.4, parameters of 2^-128, with the error of its own transforms, as it was fitted to measurements there.
    for (name, published) in [("1_1", -128.186), ("2_2_TFHE_RS", -128.597), ("3_3", -128.115)] {
        let parameters = Preset::named(name).and_then(Preset::parameters).expect("a set");
        let spec = &parameters.spec().torus;
        let (k, levels) = (spec.k as f64, spec.levels as f64);
        let digits = (2.0 * f64::from(spec.log_base) + 22.0 - 128.0).exp2();
        let degree = f64::from(spec.log_degree).exp2();
        let sums = levels.powf(1.018) * k.powf(1.22) * (k + 1.0).powf(1.018) * degree.powf(2.22);
        let law = NoiseLaw { transform: spec.n as f64 * 0.00705 * digits * sums, ..parameters.torus().law() };
        let squared_norm = parameters.spec().max_noise * parameters.spec().max_noise;
        let found = law.failure(squared_norm, parameters.encoding().margin()).log2;
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
fn names_promise_no_security_that_sets_have_not() {
    for preset in PRESETS.iter().filter(|preset| preset.spec.torus.security == noren::Security::None) {
        assert!(!preset.name.contains("128") && !preset.name.contains("STD"), "{}", preset.name);
        assert!(preset.legacy == preset.name.ends_with("_LEGACY"), "{}", preset.name);
        assert!(preset.legacy || preset.name.starts_with("TOY"), "{}", preset.name);
    }
}

#[test]
fn unknown_presets_are_refused_with_the_names_that_there_are() {
    let error = Preset::named("5_5").expect_err("no such set").to_string();
    assert!(error.contains("2_2") && error.contains("BOOL"), "{error}");
}

/// The rows of the table of sets in `docs/tfhe.md`.
fn documented_rows() -> Vec<String> {
    let row = |preset: &Preset| {
        let parameters = preset.parameters().expect("a set");
        let (spec, failure) = (&preset.spec.torus, parameters.failure().log2);
        let holds = match preset.spec.encoding {
            Encoding::Bits => "bits".to_owned(),
            Encoding::Integers { message_bits, carry_bits } => format!("{message_bits} + {carry_bits} bits"),
        };
        let noise = format!("{}, {}", spec.lwe_noise, spec.glwe_noise);
        let digits = format!("{} x {} | {} x {}", spec.levels, spec.log_base, spec.switch_levels, spec.switch_log_base);
        let (name, n, k, degree) = (preset.name, spec.n, spec.k, 1 << spec.log_degree);
        let step = spec.grouping.bits();
        format!("| `{name}` | {holds} | {n} | {k} | {degree} | {step} | {noise} | {digits} | 2^{failure:.1} |")
    };
    PRESETS.iter().map(row).collect()
}

#[test]
fn the_documentation_lists_the_sets() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tfhe.md");
    let text = std::fs::read_to_string(path).expect("the documentation");
    let rows = documented_rows();
    let missing: Vec<&String> = rows.iter().filter(|row| !text.contains(row.as_str())).collect();
    assert!(missing.is_empty(), "docs/tfhe.md lacks\n{}", rows.join("\n"));
}

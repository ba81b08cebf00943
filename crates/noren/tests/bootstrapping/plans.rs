//! Presets: what their chains, keys and risks come to, counted by hand.

use noren::bootstrapping::Primes;
use noren::bootstrapping::{BootstrapPlan, Mode, Preset, Role};
use noren::error::Error;
use noren::security::{SecretDistribution, Security, max_log_qp};

fn plan(preset: Preset) -> BootstrapPlan {
    BootstrapPlan::new(&preset.parameters().expect("a preset")).expect("a plan")
}

#[test]
fn chains_have_the_documented_sizes() {
    // log QP, limbs, digits, input level, level of the slots, output level, levels left.
    for (preset, expected) in [
        (Preset::N16, (1743, 29, 3, 3, 24, 15, 12)),
        (Preset::N16Margin, (1692, 28, 3, 3, 23, 14, 11)),
        (Preset::N16Small, (1743, 29, 3, 3, 24, 15, 12)),
        (Preset::N16Precise, (1742, 27, 3, 3, 22, 13, 10)),
        (Preset::N15, (865, 17, 9, 2, 14, 5, 3)),
        (Preset::Toy, (1079, 18, 4, 3, 14, 5, 2)),
    ] {
        let p = preset.parameters().expect("a preset");
        let digits = p.gadget().digits().len();
        let levels = (p.input_level(), p.slots_level(), p.output_level(), p.levels_left());
        let found = (p.log_qp(), p.log_q().len(), digits, levels.0, levels.1, levels.2, levels.3);
        assert_eq!(found, expected, "{preset}");
    }
}

#[test]
fn digits_of_n16_stay_below_the_special_modulus() {
    let p = Preset::N16.parameters().expect("a preset");
    let sizes: Vec<u32> = p.gadget().digits().iter().map(|digit| p.log_q()[digit.clone()].iter().sum()).collect();
    assert_eq!(p.gadget().digits(), [0..11, 11..20, 20..29]);
    assert_eq!(sizes, [445, 410, 438]);
}

#[test]
fn keys_of_n16_are_those_counted_by_hand() {
    const ROW: u64 = 8 << 16;
    let plan = plan(Preset::N16);
    // Role, keys, limbs, special primes, digits, bits of the modulus.
    let expected = [
        (Role::Public, 1, 29, 0, 1, 1293),
        (Role::Relinearization, 1, 25, 9, 3, 1555),
        (Role::Conjugation, 1, 25, 9, 3, 1555),
        (Role::ToEphemeral, 1, 1, 1, 1, 99),
        (Role::FromEphemeral, 1, 29, 1, 1, 1343),
        (Role::CoeffToSlot, 8, 26, 9, 3, 1602),
        (Role::CoeffToSlot, 10, 27, 9, 3, 1649),
        (Role::CoeffToSlot, 10, 28, 9, 3, 1696),
        (Role::CoeffToSlot, 8, 29, 9, 3, 1743),
        (Role::SlotToCoeff, 10, 2, 4, 1, 283),
        (Role::SlotToCoeff, 18, 3, 4, 1, 317),
        (Role::SlotToCoeff, 18, 4, 4, 1, 351),
    ];
    let found: Vec<_> =
        plan.keys().iter().map(|k| (k.role, k.count, k.limbs, k.special, k.digits, k.log_qp as u32)).collect();
    assert_eq!(found, expected);
    let rows: u64 = expected.iter().map(|k| (k.1 * 2 * k.4 * (k.2 + k.3)) as u64).sum();
    assert_eq!(plan.key_bytes(), rows * ROW);
    // 16 diagonals of 38 rows, 31 of 37 and 36, 15 of 35; 63 of 8 and 7, 32 of 6. They repeat after 2^11, 2^7, 2^3, 2^5 and
    // 2^10 of the 2^15 slots, but for those of the layers that reach over all.
    let whole = 16 * 38 + 32 * 6;
    let parts = ((31 * 37) << 11) + ((31 * 36) << 7) + ((15 * 35) << 3) + ((63 * 8) << 5) + ((63 * 7) << 10);
    assert_eq!(plan.factor_bytes(), whole * ROW + parts * ROW / (1 << 15));
    // 40 polynomials over 29 + 9 primes.
    assert_eq!(plan.memory_bytes(), plan.key_bytes() + plan.factor_bytes() + 40 * 38 * ROW);
}

#[test]
fn presets_keep_to_their_memory() {
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    for preset in Preset::ALL {
        let plan = plan(preset);
        println!(
            "{preset}: keys {:.3} GiB, on disk {:.3}, factors {:.3}, all {:.3}; failure 2^{:.1}, of 100 2^{:.1}; \
             error 2^{:.2}; {:.2} bits",
            gib(plan.key_bytes()),
            gib(plan.disk_bytes()),
            gib(plan.factor_bytes()),
            gib(plan.memory_bytes()),
            plan.log2_failure(1),
            plan.log2_failure(100),
            plan.parameters().systematic_error().log2(),
            plan.precision_bits(Mode::Complex),
        );
        // The other half of each key is a seed, and packing saves 14 to 30 of 64 bits.
        let part = plan.disk_bytes() as f64 / plan.key_bytes() as f64;
        assert!((0.34..0.40).contains(&part), "{preset}: {part}");
    }
    assert!(plan(Preset::N16Small).key_bytes() <= 4_000_000_000);
    assert!(plan(Preset::N16Small).key_bytes() < plan(Preset::N16).key_bytes());
    assert!(plan(Preset::N16).disk_bytes() <= 4_000_000_000);
}

#[test]
fn a_hundred_bootstraps_fail_with_probability_below_2_to_minus_64() {
    for preset in Preset::ALL {
        assert!(plan(preset).log2_failure(100) < -64.0, "{preset}: {}", plan(preset).log2_failure(100));
    }
    // Two iterations raise twice.
    let difference = plan(Preset::N16Precise).log2_failure(1) - plan(Preset::N16).log2_failure(1);
    assert!((difference - 1.0).abs() < 1e-9);
}

#[test]
fn every_key_has_the_security_that_the_preset_says() {
    for preset in Preset::ALL.into_iter().filter(|preset| *preset != Preset::Toy) {
        let spec = preset.spec();
        assert_eq!(spec.security, Security::Bits128);
        for key in plan(preset).keys() {
            let bound = max_log_qp(1 << spec.log_n, key.secret, Security::Bits128).expect("covered by a table");
            assert!(key.log_qp <= bound, "{preset}: {:?} has {} of {bound} bits", key.role, key.log_qp);
        }
    }
    assert_eq!(Preset::Toy.spec().security, Security::None);
}

/// The largest modulus with this many bits of security: bits times log2 of the modulus, linear between two levels.
fn interpolated(log_n: u32, bits: f64) -> f64 {
    let product = |level: Security, of: f64| {
        of * max_log_qp(1 << log_n, SecretDistribution::Ternary, level).expect("covered by a table")
    };
    let (low, high) = (product(Security::Bits128, 128.0), product(Security::Bits192, 192.0));
    (low + (high - low) * (bits - 128.0) / 64.0) / bits
}

#[test]
fn n16_132_has_a_margin_of_4_bits_by_interpolation_of_the_table() {
    assert_eq!(interpolated(16, 128.0), 1747.0);
    assert_eq!(interpolated(16, 132.0).floor(), 1697.0);
    assert_eq!(interpolated(15, 132.0).floor(), 843.0);
    for key in plan(Preset::N16Margin).keys() {
        // Keys under the ephemeral secret are as far below the bound for sparse secrets as those of all sets.
        let sparse = key.secret == SecretDistribution::SparseTernary(32);
        let most = if sparse { 349.0 } else { interpolated(16, 132.0) };
        assert!(key.log_qp <= most, "{:?} has {} of {most} bits", key.role, key.log_qp);
    }
}

#[test]
fn larger_chains_and_lighter_secrets_are_refused() {
    let mut spec = Preset::N16.spec();
    spec.application.count += 1;
    assert!(matches!(spec.build(), Err(Error::Insecure { log_qp: 1785.0, .. })));
    let mut spec = Preset::N16.spec();
    spec.ephemeral_weight = 31;
    assert!(matches!(spec.build(), Err(Error::Insecure { key: "key to the ephemeral secret", .. })));
}

#[test]
fn scales_of_the_exponential_lead_to_the_scale_of_the_result() {
    let p = Preset::N16.parameters().expect("a preset");
    let scales = p.exponential_scales(42.0);
    let rounded: Vec<f64> = scales.iter().map(|scale| (scale * 100.0).round() / 100.0).collect();
    assert_eq!(rounded, [49.53, 49.06, 48.13, 46.26, 42.51]);
    // Forwards: every product is divided by a prime of 50 bits.
    let end = scales[1..].iter().fold(scales[0], |scale, next| {
        assert!((2.0 * scale - 50.0 - next).abs() < 1e-9);
        *next
    });
    // The sum of conjugates is 2 Im P, and z = factor Im P.
    assert!((end + 1.0 - p.series().factor().abs().log2() - 42.0).abs() < 1e-9);
}

#[test]
fn names_are_read_back_and_others_are_listed() {
    for preset in Preset::ALL {
        assert_eq!(preset.to_string().parse::<Preset>().expect("its name"), preset);
    }
    let refused = "n17".parse::<Preset>().expect_err("unknown").to_string();
    assert!(refused.contains("n16-precise") && refused.contains("n17"), "{refused}");
}

#[test]
fn what_does_not_fit_is_named() {
    let name = |change: &dyn Fn(&mut noren::bootstrapping::ParametersSpec)| {
        let mut spec = Preset::Toy.spec();
        change(&mut spec);
        match spec.build() {
            Err(Error::Parameters { name, .. }) => name,
            other => panic!("{other:?} was not expected"),
        }
    };
    assert_eq!(name(&|spec| spec.log_n = 3), "log_n");
    assert_eq!(name(&|spec| spec.log_slots = 10), "log_slots");
    assert_eq!(name(&|spec| spec.log_slots = 8), "slot_to_coeff");
    assert_eq!(name(&|spec| spec.coeff_to_slot.groups.clear()), "coeff_to_slot");
    assert_eq!(name(&|spec| spec.log_base = 51), "log_base");
    assert_eq!(name(&|spec| spec.coeff_to_slot.bits = 0), "coeff_to_slot.bits");
    assert_eq!(name(&|spec| spec.coeff_to_slot.groups[0].baby_steps = 3), "coeff_to_slot");
    assert_eq!(name(&|spec| spec.coeff_to_slot.groups[0].baby_steps = 32), "coeff_to_slot");
    assert_eq!(name(&|spec| spec.slot_to_coeff.groups[0].layers = u32::MAX), "slot_to_coeff");
    assert_eq!(name(&|spec| spec.application = Primes { count: 0, bits: 42 }), "application.count");
    assert_eq!(name(&|spec| spec.application.count = usize::MAX), "application.count");
    assert_eq!(name(&|spec| spec.application.count = 110), "number of primes");
    assert_eq!(name(&|spec| spec.special.count = 0), "special.count");
    assert_eq!(name(&|spec| spec.iterations = 3), "iterations");
    assert_eq!(name(&|spec| spec.ephemeral_weight = 65), "ephemeral_weight");
    assert_eq!(name(&|spec| spec.eval_mod.log_ratio = 3.0), "ratio");
    assert_eq!(name(&|spec| spec.eval_mod.interval = 0), "interval");
    assert_eq!(name(&|spec| spec.eval_mod.doublings = 2), "doublings");
    assert_eq!(name(&|spec| spec.eval_mod.degree = 0), "eval_mod.degree");
    assert_eq!(name(&|spec| spec.eval_mod.degree = 64), "degree");
}

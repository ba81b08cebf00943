//! Bounds on errors, stage by stage: they hold, and by how much they are too large.

use std::f64::consts::TAU;

use noren::Complex64;
use noren::bootstrapping::{Bootstrapper, Mode, Preset};
use noren::ckks::{Ciphertext, Encoder, Encryptor};

use crate::encrypted::{PRECISION, World, inputs, random, reals, seed, stated, taken_as_real, world};
use crate::numbers::{reversed, worst};

/// Errors of one stage in all messages: the largest root of a mean square, the worst slot, and the largest bound.
struct Row {
    stage: &'static str,
    rms: f64,
    worst: f64,
    bound: f64,
}

/// How many bits a bound may lie above the worst slot of all messages. Between the worst of a thousand slots and what none
/// exceeds but with probability `2^-40` lie 1.5 bits, where errors are products of two Gaussian numbers.
const LOOSE: f64 = 3.0;

fn note(rows: &mut Vec<Row>, stage: &'static str, found: &[Complex64], expected: &[Complex64], bound: f64) {
    let worst = worst(found, expected);
    let square: f64 = found.iter().zip(expected).map(|(a, b)| (a - b).norm_sqr()).sum();
    let rms = (square / found.len() as f64).sqrt();
    assert!(worst <= bound, "{stage}: {worst:e} of {bound:e}");
    match rows.iter_mut().find(|row| row.stage == stage) {
        Some(row) => (row.rms, row.worst, row.bound) = (row.rms.max(rms), row.worst.max(worst), row.bound.max(bound)),
        None => rows.push(Row { stage, rms, worst, bound }),
    }
}

/// Encrypted with the secret: the error of a public encryption would hide others.
fn encrypt(world: &World, z: &[Complex64]) -> Ciphertext {
    let level = world.parameters.input_level();
    let scale = world.context.parameters().scale_at(level);
    let plaintext = Encoder::new(&world.context).encode_complex(z, z.len(), level, scale).expect("encode");
    let encryptor = Encryptor::symmetric(&world.context, &world.keys.secret, seed(3)).expect("encryptor");
    stated(encryptor.encrypt(&plaintext).expect("encrypt"), z)
}

/// Every stage of a complex message, against numbers.
fn stages(world: &World, z: &[Complex64], rows: &mut Vec<Row>) {
    let parameters = &world.parameters;
    let (slots, half_width) = (parameters.slots(), parameters.exponential().half_width());
    let packed = |ciphertext| {
        let values = world.coefficients(ciphertext);
        (0..slots).map(|j| values[reversed(j, slots)]).collect::<Vec<_>>()
    };
    let found = world.complex.stages(&encrypt(world, z), &mut |_| {}).expect("bootstrap");
    // The error that slot to coefficient makes of the message.
    note(rows, "coefficients", &packed(&found.coefficients), z, found.coefficients.error_bound());
    let t = packed(&found.raised);
    note(rows, "slots", &world.decrypt(&found.slots), &t, found.slots.error_bound());
    for (i, part) in found.parts.iter().enumerate() {
        let turns: Vec<f64> = t.iter().map(|t| 2.0 * half_width * if i == 0 { t.re } else { t.im }).collect();
        let u: Vec<Complex64> = turns.iter().map(|turn| Complex64::I * turn / half_width).collect();
        note(rows, "u", &world.decrypt(part), &u, part.error_bound());
        let e: Vec<Complex64> = turns.iter().map(|turn| Complex64::cis(TAU * turn)).collect();
        note(rows, "exponential", &world.decrypt(&found.exponentials[i]), &e, found.exponentials[i].error_bound());
        let p: Vec<Complex64> = e.iter().map(|e| e * (e + parameters.series().shift())).collect();
        note(rows, "series", &world.decrypt(&found.series[i]), &p, found.series[i].error_bound());
    }
    note(rows, "result", &world.decrypt(&found.result), z, found.result.error_bound());
}

/// Measures messages of every kind, in every mode that these parameters have.
fn measure(world: &World, seeds: u64) {
    let slots = world.parameters.slots();
    let paired = (world.parameters.gap() > 1).then(|| {
        Bootstrapper::new(&world.context, &world.parameters, world.bootstrap.clone(), Mode::Paired).expect("its keys")
    });
    let mut rows = Vec::new();
    let more = (0..seeds).map(|number| ("random", random(200 + number, slots)));
    for (_, z) in inputs(slots).into_iter().chain(more) {
        stages(world, &z, &mut rows);
        let input = encrypt(world, &z);
        let real = world.real.bootstrap(&taken_as_real(&input)).expect("bootstrap");
        note(&mut rows, "result, real", &world.decrypt(&real), &reals(&z), real.error_bound());
        if let Some(paired) = &paired {
            let result = paired.bootstrap(&input).expect("bootstrap");
            note(&mut rows, "result, paired", &world.decrypt(&result), &z, result.error_bound());
        }
    }
    println!("{} slots of {}", slots, world.parameters.degree() / 2);
    for Row { stage, rms, worst, bound } in rows {
        let loose = (bound / worst).log2();
        let [rms, worst, bound] = [rms, worst, bound].map(f64::log2);
        println!("  {stage:15} rms 2^{rms:.2}, worst 2^{worst:.2}, bound 2^{bound:.2}: {loose:.2} bits");
        // In few slots the worst is not far from the usual.
        assert!(loose < LOOSE || slots < 256, "{stage}");
    }
}

#[test]
fn bounds_of_all_stages_hold_and_are_near() {
    measure(world(), 8);
    for log_slots in [8, 4] {
        measure(&World::new(Preset::Toy.spec_for(log_slots).expect("fewer").build().expect("supported")), 2);
    }
}

#[test]
#[ignore = "128-bit parameters: 10 GB, a minute"]
fn bounds_of_n16_hold_and_are_near() {
    measure(&World::new(Preset::N16.parameters().expect("a preset")), 1);
}

#[test]
fn an_error_that_leaves_the_range_is_counted_with_the_message() {
    let world = world();
    // Numbers of size 1 with an error as large as is said: 3, and 20.
    let z = vec![Complex64::ONE; world.parameters.slots()];
    for error in [0.01, 3.0, 20.0] {
        let shifted: Vec<Complex64> = z.iter().map(|z| z + error * 0.99).collect();
        let input = encrypt(world, &shifted);
        let stated = input.clone().with_magnitude(1.0).with_error_bound(error);
        assert_eq!(stated.magnitude(), 1.0);
        // Decoding rounds to f64.
        assert!((error..error + 1e-13).contains(&stated.error_bound()), "{error}");
        let result = world.complex.bootstrap(&stated).expect("bootstrap");
        let (before, after) = (world.decrypt(&stated), world.decrypt(&result));
        // The sum is what is bootstrapped, as exactly as any message of its size.
        let own = worst(&before, &after);
        assert!(own <= 2.0 * (1.0 + error) * PRECISION, "{error}: {own:e}");
        assert!(worst(&after, &z) <= result.error_bound(), "{error}");
    }
    // Together they are above the largest message.
    let large = encrypt(world, &vec![Complex64::from(1000.0); world.parameters.slots()]);
    assert!(world.complex.bootstrap(&large).is_ok());
    let refused = world.complex.bootstrap(&large.with_error_bound(100.0)).err().expect("it may not fit").to_string();
    assert!(refused.contains("1000") && refused.contains("100") && refused.contains("1024"), "{refused}");
}

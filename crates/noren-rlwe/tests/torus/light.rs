//! Light keys: the noise of their rows, and of bootstraps with them, against the law; refusals.

use noren_math::torus_products::product::Grouping;
use noren_ring::torus::product::TorusProduct;
use noren_rlwe::error::Error;
use noren_rlwe::torus::digits::Digits;
use noren_rlwe::torus::keygen::TorusKeyGenerator;
use noren_rlwe::torus::light::keys::LightKeys;
use noren_rlwe::torus::light::law::LightLaw;
use noren_rlwe::torus::light::spec::LightSpec;
use noren_rlwe::torus::noise::TorusNoise;
use noren_rlwe::torus::parameters::TorusParameters;
use noren_rlwe::torus::spec::TorusSpec;

use crate::noise::{KEYS, measured_bootstrap};
use crate::world::{cases, centred, engine, glwe_phase, on_host, seed, server, small};

/// How far a measured variance may be from its law.
const TOLERANCE: f64 = 0.1;

/// Errors of keys dominate everywhere.
const ERRORS: LightSpec = LightSpec { log_count: 4, trace: Digits::new(3, 15), square: Digits::new(6, 7) };

fn torus(light: LightSpec) -> TorusSpec {
    TorusSpec { log_degree: 7, glwe_noise: TorusNoise::Gaussian(1e-13), light: Some(light), ..small() }
}

fn keys(parameters: &TorusParameters, threads: usize, product: &TorusProduct, byte: u8) -> LightKeys {
    let generator = TorusKeyGenerator::new(parameters, &seed(byte));
    generator.light(&engine(threads), product, &generator.secret()).expect("its own secret")
}

#[test]
fn rows_have_the_noise_of_their_law() {
    let coarse_trace = LightSpec { trace: Digits::new(5, 5), ..ERRORS };
    let coarse_square = LightSpec { square: Digits::new(8, 3), ..ERRORS };
    let one_step = LightSpec { log_count: 1, ..ERRORS };
    let all_steps = LightSpec { log_count: 7, ..ERRORS };
    for (k, light) in
        cases([(1, ERRORS), (2, ERRORS), (1, coarse_trace), (1, coarse_square), (2, one_step), (1, all_steps)])
    {
        let (mut body, mut masks) = (0.0, 0.0);
        let spec = TorusSpec { k, n: 16, ..torus(light) };
        let parameters = spec.clone().build().expect("parameters");
        let (shape, levels) = (parameters.shape(), spec.levels);
        let product = TorusProduct::new(shape.degree).expect("transforms");
        for byte in 0..32 {
            let secret = TorusKeyGenerator::new(&parameters, &seed(byte)).secret();
            let rows = keys(&parameters, 1, &product, byte).unpack(&engine(1), &product);
            let mut sample = vec![0; shape.words()];
            for (step, row) in (0..spec.n).flat_map(|step| (0..(k + 1) * levels).map(move |row| (step, row))) {
                rows.write(step, row, &mut sample);
                let mut phase = glwe_phase(&secret, &product, &sample);
                // The message is `-s S_i 2^64 / B^j`, or `s 2^64 / B^j`.
                let (i, level) = (row / levels, row % levels);
                let weight = (secret.short_bits()[step] as u64) << (64 - spec.log_base as usize * (level + 1));
                match secret.long_bits().chunks_exact(shape.degree).nth(i) {
                    Some(bits) => phase.iter_mut().zip(bits).for_each(|(x, &s)| *x = x.wrapping_add(weight * s as u64)),
                    None => phase[0] = phase[0].wrapping_sub(weight),
                }
                let energy: f64 = phase.iter().map(|&phase| centred(phase).powi(2)).sum();
                *if i < k { &mut masks } else { &mut body } += energy / (32 * spec.n * levels) as f64;
            }
        }
        let law = LightLaw::of(&spec, &light);
        assert_near("a row", body, law.row);
        if light != coarse_trace {
            // Roundings of the trace are products with the secret, which products with the secret do not take as noise.
            assert_near("all rows of a level", body + masks, law.level);
        }
    }
}

#[test]
fn bootstraps_leave_the_noise_of_their_law() {
    let glwe_noise = TorusNoise::Gaussian(1e-13);
    let light = Some(ERRORS);
    let grouping = Grouping::Pair;
    for spec in cases([
        // Errors of the rows dominate.
        TorusSpec { glwe_noise, light, ..small() },
        TorusSpec { glwe_noise, light, grouping, ..small() },
        // Roundings dominate.
        TorusSpec { glwe_noise: TorusNoise::Gaussian(1e-16), light, grouping, log_base: 6, levels: 2, ..small() },
    ]) {
        let law = spec.clone().build().expect("parameters").law();
        assert_near("bootstrapping", measured_bootstrap(&spec, KEYS / 2), law.bootstrap());
    }
}

#[test]
#[ignore = "a set of 128 bits: some minutes"]
fn bootstraps_at_the_dimensions_of_a_secure_set_leave_the_noise_of_their_law() {
    let spec = TorusSpec {
        n: 876,
        log_degree: 11,
        lwe_noise: TorusNoise::Gaussian(1.722e-6),
        glwe_noise: TorusNoise::Gaussian(2.845_267_479_601_915e-15),
        grouping: Grouping::Pair,
        light: Some(LightSpec { log_count: 6, trace: Digits::new(2, 23), square: Digits::new(8, 6) }),
        ..small()
    };
    let law = spec.clone().build().expect("parameters").law();
    assert_near("bootstrapping", measured_bootstrap(&spec, 4), law.bootstrap());
}

#[test]
fn keys_depend_on_seed_and_parameters_and_on_nothing_else() {
    let parameters = torus(ERRORS).build().expect("parameters");
    let [product, exact] = [TorusProduct::new(128), TorusProduct::exact(128)].map(|product| product.expect("a degree"));
    let made = keys(&parameters, 1, &product, 1);
    let again = keys(&parameters, 2, &exact, 1);
    assert_eq!((made.bodies(), made.switch_bodies()), (again.bodies(), again.switch_bodies()));
    let [one, two] = [1, 2].map(|threads| made.expand(&server(threads, product.clone())));
    assert!(on_host(&one).rotation().numbers() == on_host(&two).rotation().numbers(), "expanded on two threads");
    let other = torus(LightSpec { trace: Digits::new(2, 23), ..ERRORS }).build().expect("parameters");
    let other = keys(&other, 1, &product, 1);
    assert_ne!(made.seed().as_bytes(), other.seed().as_bytes(), "masks are never used twice");
}

#[test]
fn keys_of_the_other_form_are_refused() {
    let product = TorusProduct::new(128).expect("a degree");
    let (light, full) = (torus(ERRORS), TorusSpec { light: None, ..torus(ERRORS) });
    let [light, full] = [light, full].map(|spec| TorusKeyGenerator::new(&spec.build().expect("parameters"), &seed(1)));
    let refused = light.compact(&engine(1), &product, &light.secret());
    assert!(matches!(refused, Err(Error::Parameters { name: "keys", .. })));
    assert!(matches!(
        light.server(&server(1, product.clone()), &light.secret()),
        Err(Error::Parameters { name: "keys", .. })
    ));
    let refused = full.light(&engine(1), &product, &full.secret());
    assert!(matches!(refused, Err(Error::Parameters { name: "keys", .. })));
    let refused = light.light(&engine(1), &product, &full.secret());
    assert!(matches!(refused, Err(Error::ParameterMismatch { .. })));
}

#[test]
fn packings_out_of_range_are_refused() {
    for (light, refused) in [
        (LightSpec { log_count: 0, ..ERRORS }, "light.log_count"),
        (LightSpec { log_count: 8, ..ERRORS }, "light.log_count"),
        (LightSpec { trace: Digits::new(30, 2), ..ERRORS }, "light.trace.log_base"),
        (LightSpec { square: Digits::new(9, 8), ..ERRORS }, "light.square.levels"),
    ] {
        assert!(matches!(torus(light).build(), Err(Error::Parameters { name, .. }) if name == refused), "{refused}");
    }
}

fn assert_near(what: &str, measured: f64, law: f64) {
    let ratio = measured / law;
    assert!((ratio - 1.0).abs() < TOLERANCE, "{what}: {measured:e} measured, {law:e} by law: {ratio:.3}");
}

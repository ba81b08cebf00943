//! Light keys: what a server makes of them, their bytes, and what is refused.

use std::sync::Arc;

use noren::error::Error;
use noren::tfhe::{
    CompactKeys, Context, Digits, Encoding, Evaluator, Gate, Grouping, KeyFile, LightKeys, LightSpec, Lookup,
    ParametersSpec, ServerKeyFile, TorusNoise,
};
use noren::wire::{Form, Limits, Object};

use crate::files::Place;
use crate::world::{INTEGERS_2_2, World, on_host, seed, small_spec};

fn light_spec(encoding: Encoding) -> ParametersSpec {
    let mut spec = small_spec(encoding);
    spec.torus.glwe_noise = TorusNoise::Gaussian(1e-16);
    (spec.torus.log_base, spec.torus.levels) = (8, 3);
    spec.torus.light = Some(LightSpec { log_count: 4, trace: Digits::new(5, 9), square: Digits::new(10, 5) });
    spec
}

fn keys(context: &Context) -> LightKeys {
    context.light_keys(&seed(1), &context.secret_key(&seed(1))).expect("its own secret")
}

fn assert_gates(world: &World) {
    for (a, b) in [(false, false), (false, true), (true, true)] {
        let [bit_a, bit_b] = [a, b].map(|value| world.encryptor().encrypt_bit(value).expect("a bit"));
        for gate in Gate::ALL {
            let bit = world.evaluator().gate(gate, &bit_a, &bit_b).expect("a gate");
            assert_eq!(world.decryptor().decrypt_bit(&bit).expect("a bit"), gate.apply(a, b));
        }
    }
}

#[test]
#[ignore = "another set of 128 bits"]
fn gates_of_bool_with_light_keys_are_right() {
    assert_gates(&World::preset("BOOL_LIGHT"));
}

#[test]
fn light_keys_bootstrap_bits_and_integers() {
    assert_gates(&World::new(light_spec(Encoding::Bits), 1));
    let mut spec = light_spec(INTEGERS_2_2);
    spec.torus.grouping = Grouping::Pair;
    let world = World::new(spec, 1);
    let lookup = Lookup::new(&world.context, |x| x * x % 16).expect("a table");
    for x in 0..4 {
        let largest = world.evaluator().mul_constant(&world.encryptor().encrypt(x).expect("a message"), 5);
        let result = world.evaluator().lookup(&largest.expect("room"), &lookup).expect("a lookup");
        assert_eq!(world.decryptor().decrypt(&result).expect("a value"), 25 * x * x % 16);
    }
}

#[test]
fn light_keys_that_travelled_give_the_same_server_keys_for_any_threads() {
    let world = World::new(light_spec(INTEGERS_2_2), 1);
    let parameters = world.context.parameters();
    let file = KeyFile { parameters: parameters.clone(), key: keys(&world.context) };
    let bytes = file.to_bytes(&(), Form::Packed);
    let compact = World::small(INTEGERS_2_2);
    let full = compact.context.compact_keys(&seed(1), &compact.keys.secret).expect("its own secret");
    assert!(4 * file.key.bytes() < 3 * full.bytes(), "{} and {} bytes", file.key.bytes(), full.bytes());
    let again = KeyFile::<LightKeys>::from_bytes(&(), &bytes).expect("its own bytes");
    assert_eq!(again.to_bytes(&(), Form::Packed), bytes);
    assert_eq!(again.parameters.fingerprint(), parameters.fingerprint());
    let numbers = on_host(&world.keys.server).rotation().numbers().expect("transforms");
    for threads in [1, 3] {
        let context = Context::with_threads(again.parameters.clone(), Some(threads)).expect("a context");
        let server = context.expand_light(&again.key).expect("the same parameters");
        assert!(on_host(&server).rotation().numbers() == Some(numbers), "{threads} threads");
        assert_eq!(on_host(&server).switch().words(), on_host(&world.keys.server).switch().words());
    }
    for at in (0..bytes.len()).step_by(bytes.len() / 50) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert!(KeyFile::<LightKeys>::from_bytes(&(), &damaged).is_err(), "byte {at} of {}", bytes.len());
        assert!(KeyFile::<LightKeys>::from_bytes(&(), &bytes[..at]).is_err(), "cut to {at}");
    }
}

#[test]
fn expanded_light_keys_are_files_as_others_are() {
    let world = World::new(light_spec(Encoding::Bits), 1);
    let place = Place::new("light-server");
    ServerKeyFile::write(&place.0, &world.context, &world.keys.server).expect("a file");
    let file = ServerKeyFile::map(&place.0, &Limits::default(), Some(1)).expect("its own file");
    let evaluator = Evaluator::new(&file.context, Arc::clone(&file.keys)).expect("the same parameters");
    let bit = world.encryptor().encrypt_bit(true).expect("a bit");
    let nand = evaluator.gate(Gate::Nand, &bit, &bit).expect("a gate");
    assert!(!world.decryptor().decrypt_bit(&nand).expect("a bit"));
}

#[test]
fn keys_of_the_other_form_or_of_other_parameters_are_refused() {
    let (light, full) = (World::new(light_spec(INTEGERS_2_2), 1), World::small(INTEGERS_2_2));
    let is_form = |error: Error| matches!(error, Error::Parameters { name: "keys", .. });
    assert!(light.context.compact_keys(&seed(1), &light.keys.secret).is_err_and(is_form));
    assert!(full.context.light_keys(&seed(1), &full.keys.secret).is_err_and(is_form));
    let place = Place::new("light-refused");
    assert!(light.context.write_compact_keys(&seed(1), &light.keys.secret, &place.0).is_err_and(is_form));
    assert!(!place.0.exists());
    let made = keys(&light.context);
    assert!(matches!(full.context.expand_light(&made), Err(Error::ParameterMismatch { .. })));
    let wrong = light.context.light_keys(&seed(1), &full.keys.secret);
    assert!(matches!(wrong, Err(Error::ParameterMismatch { .. })));
    let mut spec = light_spec(INTEGERS_2_2);
    spec.torus.light.as_mut().expect("light keys").log_count = 3;
    let other = Context::new(spec.build().expect("parameters")).expect("a context");
    assert!(matches!(other.expand_light(&made), Err(Error::ParameterMismatch { .. })));
    // Files whose parameters are of the other form.
    let bytes = KeyFile { parameters: full.context.parameters().clone(), key: made }.to_bytes(&(), Form::Packed);
    assert!(KeyFile::<LightKeys>::from_bytes(&(), &bytes).is_err_and(is_form));
    let compact = full.context.compact_keys(&seed(1), &full.keys.secret).expect("its own secret");
    let bytes = KeyFile { parameters: light.context.parameters().clone(), key: compact }.to_bytes(&(), Form::Packed);
    assert!(KeyFile::<CompactKeys>::from_bytes(&(), &bytes).is_err_and(is_form));
}

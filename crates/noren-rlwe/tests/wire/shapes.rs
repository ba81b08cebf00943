//! Keys of another shape than the usual one: whole, refused when damaged, and with one form only.

use noren_math::random::Seed;
use noren_rlwe::context::Context;
use noren_rlwe::key_request::KeyRequest;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::{EvaluationKeys, KeySwitchKey};
use noren_rlwe::security::SecretDistribution;
use noren_rlwe::shape::KeyShape;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::Limits;
use noren_rlwe::wire::reason::Reason;
use noren_rlwe::wire::writer::Form;

use crate::samples::{FORMS, Sample, objects, parameters, reason, sample, section};

/// All limbs in one digit; usual are two.
const ONE_DIGIT: KeyShape = KeyShape { limbs: 2, special: 1, digits: 1 };

fn keys() -> (Context, KeySwitchKey, EvaluationKeys) {
    let context = Context::with_threads(parameters(SecretDistribution::Ternary), Some(1)).expect("a tiny ring");
    let generator = KeyGenerator::new(&context, Seed::from_bytes([1; 32]));
    let (secret, shaped) = (generator.secret(), generator.shaped(ONE_DIGIT).expect("supported"));
    let switching = shaped.switching(&secret, &secret, Some(1)).expect("no security");
    let request = KeyRequest { relinearization: Some(2), galois: vec![(5, 1), (31, 2)] };
    let evaluation = shaped.evaluation_keys(&secret, &request, None).expect("no security");
    (context, switching, evaluation)
}

fn both(form: Form) -> [Sample; 2] {
    let (context, switching, evaluation) = keys();
    [sample("one key", context.clone(), &switching, form), sample("a set", context, &evaluation, form)]
}

#[test]
fn shaped_keys_come_back_byte_for_byte() {
    let (context, switching, evaluation) = keys();
    for form in FORMS {
        let again = KeySwitchKey::from_bytes(&context, &switching.to_bytes(&context, form)).expect("just written");
        assert_eq!((again.shape(), again.limbs(), again.pairs().digits()), (ONE_DIGIT, 1, 1));
        let words =
            |key: &KeySwitchKey| context.ring().key_pair(key.pairs(), 0).map(|half| context.ring_qp(1).to_words(&half));
        assert_eq!(words(&again), words(&switching));
        let again = EvaluationKeys::from_bytes(&context, &evaluation.to_bytes(&context, form)).expect("just written");
        assert_eq!(again.shape(), ONE_DIGIT);
        for sample in both(form) {
            let again = (sample.rewrite)(&sample.bytes, &Limits::default());
            assert!(again.expect("just written") == sample.bytes, "{} {form:?}", sample.name);
        }
    }
}

#[test]
fn damaged_shaped_keys_are_refused() {
    for sample in both(Form::Packed) {
        for length in 0..sample.bytes.len() {
            assert!((sample.rewrite)(&sample.bytes[..length], &Limits::default()).is_err(), "cut to {length}");
        }
        let mut bytes = sample.bytes.clone();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                bytes[at] ^= 1 << bit;
                assert!((sample.rewrite)(&bytes, &Limits::default()).is_err(), "{} bit {bit} of {at}", sample.name);
                bytes[at] ^= 1 << bit;
            }
        }
    }
}

#[test]
fn shapes_that_the_parameters_have_not_are_refused() {
    let [key, set] = both(Form::Packed);
    let (in_key, in_set) = (section(&key.bytes, 0), section(&set.bytes, 2));
    // The last is the usual shape, which is not written.
    for shape in [[0u64, 1, 1], [3, 1, 1], [2, 0, 1], [2, 2, 1], [2, 1, 0], [2, 1, 3], [u64::MAX, 1, 1], [2, 1, 2]] {
        let bytes: Vec<u8> = shape.iter().flat_map(|word| word.to_le_bytes()).collect();
        for (sample, at) in [(&key, in_key), (&set, in_set)] {
            let found = reason(sample, at, &bytes);
            assert!(matches!(found, Reason::Value { what: "the shape of the key", .. }), "{}: {found}", sample.name);
        }
    }
    // A set of keys of two shapes: the second key for one limb is the same bytes in a shape of one limb.
    let found = reason(&set, section(&set.bytes, 7), &1u64.to_le_bytes());
    assert!(matches!(found, Reason::Value { what: "the shape of the key", .. }), "{found}");
}

#[test]
fn keys_of_the_usual_shape_are_written_without_it() {
    let objects = objects(SecretDistribution::Ternary);
    let usual = objects.switching.to_bytes(&objects.context, Form::Packed);
    let [shaped, _] = both(Form::Packed);
    // One entry of the table and one section of 64 bytes more.
    assert_eq!(crate::samples::section_count(&shaped.bytes), crate::samples::section_count(&usual) + 1);
}

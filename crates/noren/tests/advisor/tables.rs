//! Functions as polynomials modulo t: the parameters that are advised hold the noise of any function.

use noren::Seed;
use noren::advisor::{Computation, Limits, Plan, Scheme, Workload, advise};
use noren::bgv::Bgv;
use noren::circuits::polynomial::Polynomial;
use noren::schemes::integers::{Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Parameters};

use crate::{integer, server};

/// The parameters that BGV is advised with.
fn parameters(inputs: usize, bits: u32) -> (Parameters, usize) {
    let workload = Workload { instances: 4096, ..integer(Computation::Table { inputs }, bits, bits) };
    let advice = advise(&workload, &server(), &server(), &Limits::default()).expect("advice");
    let candidate = advice.candidates.iter().find(|candidate| candidate.scheme == Scheme::Bgv).expect("BGV");
    let Plan::Integers(parameters, circuit, _) = &candidate.plan else { panic!("{:?}", candidate.plan) };
    (parameters.clone(), circuit.inputs())
}

/// The largest coefficients that a polynomial may have: noise is at its worst.
fn coefficients(count: usize, modulus: u64) -> Vec<i64> {
    (0..count as i64).map(|k| (modulus / 2) as i64 - 7 * k).collect()
}

#[test]
fn a_function_of_four_bits_is_exact_with_the_parameters_that_are_advised() {
    let (parameters, inputs) = parameters(1, 4);
    assert_eq!(inputs, 1);
    let modulus = parameters.modulus().value();
    let context = Context::new(parameters).expect("a context");
    let request = KeyRequest { relinearization: true, ..KeyRequest::default() };
    let keys = context.generate_keys(Seed::from_bytes([1; 32]), &request).expect("keys");
    let encoder = Encoder::new(&context);
    let encryptor = Encryptor::<Bgv>::symmetric(&context, &keys.secret, Seed::from_bytes([2; 32])).expect("a key");
    let evaluator = Evaluator::<Bgv>::new(&context, keys.evaluation.clone()).expect("keys");
    let values: Vec<i64> = (0..context.parameters().slots() as i64).map(|slot| slot % 16).collect();
    let x = encryptor.encrypt(&encoder.encode(&values).expect("values")).expect("a ciphertext");
    let all = coefficients(16, modulus);
    let result = Polynomial::power(all.clone()).expect("coefficients").evaluate(&evaluator, &x).expect("levels");
    let decryptor = Decryptor::new(&context, &keys.secret).expect("a key");
    let found = encoder.decode(&decryptor.decrypt(&result).expect("a budget")).expect("slots");
    let t = i128::from(modulus);
    let expected = |x: i64| all.iter().rev().fold(0i128, |sum, &c| (sum * i128::from(x) + i128::from(c)).rem_euclid(t));
    for (slot, found) in found.iter().enumerate() {
        assert_eq!(i128::from(*found).rem_euclid(t), expected(values[slot]), "slot {slot}");
    }
}

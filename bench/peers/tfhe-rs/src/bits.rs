//! Bits: keys, encryption, gates one by one and many at once.

use std::hint::black_box;

use rayon::prelude::*;
use tfhe::boolean::ciphertext::Ciphertext;
use tfhe::boolean::client_key::ClientKey;
use tfhe::boolean::parameters::{BooleanParameters, DEFAULT_PARAMETERS_KS_PBS};
use tfhe::boolean::prelude::BinaryBooleanGates;
use tfhe::boolean::server_key::{CompressedServerKey, ServerKey};

use crate::record::{Set, Step};

fn set(parameters: &BooleanParameters) -> Set<'static> {
    let default = *parameters == DEFAULT_PARAMETERS_KS_PBS;
    let name = if default { "DEFAULT_PARAMETERS_KS_PBS" } else { "PARAMETERS_ERROR_PROB_2_POW_MINUS_165_KS_PBS" };
    Set { degree: parameters.polynomial_size.0, word_bits: 32, name }
}

pub fn run(step: &Step, parameters: &BooleanParameters) {
    let set = set(parameters);
    let client = ClientKey::new(parameters);
    let server = ServerKey::new(&client);
    step.report(set, "secret_key", 1, true, &mut || drop(black_box(ClientKey::new(parameters))));
    step.report(set, "server_key", 1, true, &mut || drop(black_box(ServerKey::new(&client))));
    let [yes, no] = [true, false].map(|bit| client.encrypt(bit));
    let right = client.decrypt(&yes) && !client.decrypt(&no);
    step.report(set, "encrypt", 1, right, &mut || drop(black_box(client.encrypt(true))));
    step.report(set, "decrypt", 1, right, &mut || {
        black_box(client.decrypt(&yes));
    });
    let right = !client.decrypt(&server.mux(&no, &yes, &no)) && client.decrypt(&server.mux(&yes, &yes, &no));
    step.report(set, "mux", 1, right, &mut || drop(black_box(server.mux(&yes, &yes, &no))));
    for &batch in &step.batches {
        let pairs: Vec<_> = (0..batch).map(|i| (client.encrypt(i % 2 == 0), client.encrypt(i % 3 == 0))).collect();
        let all = || pairs.par_iter().map(|(a, b)| server.nand(a, b)).collect::<Vec<Ciphertext>>();
        let expected = |i: usize| !(i % 2 == 0 && i % 3 == 0);
        let right = all().iter().enumerate().all(|(i, bit)| client.decrypt(bit) == expected(i));
        step.report(set, "gate", batch, right, &mut || drop(black_box(all())));
    }
}

/// What a client makes for its server: the keys in the form that it sends.
pub fn client(step: &Step, parameters: &BooleanParameters) {
    let client = ClientKey::new(parameters);
    step.report(set(parameters), "client_keys", 1, true, &mut || drop(black_box(CompressedServerKey::new(&client))));
}

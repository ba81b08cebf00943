//! Small integers: keys, encryption, bootstraps one by one and many at once.

use std::hint::black_box;

use rayon::prelude::*;
use tfhe::shortint::{AtomicPatternParameters, Ciphertext, ClientKey, CompressedServerKey, ServerKey};

use crate::record::{Set, Step};

fn set(parameters: &AtomicPatternParameters) -> Set<'static> {
    let name = match parameters {
        AtomicPatternParameters::Standard(_) => "KS_PBS_GAUSSIAN_2M128",
        AtomicPatternParameters::KeySwitch32(_) => "KS32_PBS_TUNIFORM_2M128",
    };
    Set { degree: parameters.polynomial_size().0, word_bits: 64, name }
}

pub fn run(step: &Step, parameters: AtomicPatternParameters) {
    let set = set(&parameters);
    let client = ClientKey::new(parameters);
    let server = ServerKey::new(&client);
    step.report(set, "secret_key", 1, true, &mut || drop(black_box(ClientKey::new(parameters))));
    step.report(set, "server_key", 1, true, &mut || drop(black_box(ServerKey::new(&client))));
    let size = parameters.message_modulus().0;
    let x = client.encrypt(1);
    let right = client.decrypt(&x) == 1;
    step.report(set, "encrypt", 1, right, &mut || drop(black_box(client.encrypt(1))));
    step.report(set, "decrypt", 1, right, &mut || {
        black_box(client.decrypt(&x));
    });
    let square = |x: u64| x * x % size;
    let table = server.generate_lookup_table(square);
    for &batch in &step.batches {
        let inputs: Vec<_> = (0..batch as u64).map(|i| client.encrypt(i % size)).collect();
        let all = || inputs.par_iter().map(|x| server.apply_lookup_table(x, &table)).collect::<Vec<Ciphertext>>();
        let right = all().iter().zip(0..).all(|(y, i)| client.decrypt(y) == square(i % size));
        step.report(set, "bootstrap", batch, right, &mut || drop(black_box(all())));
    }
}

/// What a client makes for its server: the keys in the form that it sends.
pub fn client(step: &Step, parameters: AtomicPatternParameters) {
    let client = ClientKey::new(parameters);
    step.report(set(&parameters), "client_keys", 1, true, &mut || drop(black_box(CompressedServerKey::new(&client))));
}

//! Integers of 8 to 32 bits in digits of two bits, and tables of two of them.

use std::hint::black_box;

use tfhe::integer::wopbs::WopbsKey;
use tfhe::integer::{RadixCiphertext, RadixClientKey, ServerKey, gen_keys_radix};
use tfhe::shortint::parameters::parameters_wopbs_message_carry::LEGACY_WOPBS_PARAM_MESSAGE_2_CARRY_2_KS_PBS;
use tfhe::shortint::parameters::v1_8::{
    V1_8_PARAM_MESSAGE_2_CARRY_2_KS_PBS_GAUSSIAN_2M128, V1_8_PARAM_MESSAGE_2_CARRY_2_KS32_PBS_TUNIFORM_2M128,
};

use crate::record::{Set, Step};

/// The fastest of its sets of 2^-128.
const SET: Set<'_> = Set { degree: 2048, word_bits: 64, name: "2_2, KS32_PBS_TUNIFORM_2M128" };

/// The set that it has parameters without padding for.
const TABLE_SET: Set<'_> = Set { name: "2_2, KS_PBS_GAUSSIAN_2M128", ..SET };

pub fn run(step: &Step) {
    let Ok(bits) = step.workload[1..].parse::<u32>() else { return };
    let (client, server) = gen_keys_radix(V1_8_PARAM_MESSAGE_2_CARRY_2_KS32_PBS_TUNIFORM_2M128, bits as usize / 2);
    let mask = (1u64 << bits) - 1;
    let (x, y) = (0x9e37_79b9 & mask, 0x0000_0b5d & mask);
    let (a, b) = (client.encrypt(x), client.encrypt(y));
    type Operation = fn(&ServerKey, &RadixCiphertext, &RadixCiphertext) -> RadixCiphertext;
    let operations: [(&str, Operation, u64); 3] = [
        ("add", |server, a, b| server.add_parallelized(a, b), (x + y) & mask),
        ("mul", |server, a, b| server.mul_parallelized(a, b), x.wrapping_mul(y) & mask),
        ("div", |server, a, b| server.div_parallelized(a, b), x / y),
    ];
    for (op, operation, expected) in operations {
        let right = client.decrypt::<u64>(&operation(&server, &a, &b)) == expected;
        step.report(SET, op, 1, right, &mut || drop(black_box(operation(&server, &a, &b))));
    }
    let right = client.decrypt_bool(&server.lt_parallelized(&a, &b)) == (x < y);
    step.report(SET, "lt", 1, right, &mut || drop(black_box(server.lt_parallelized(&a, &b))));
}

/// A function of two encrypted integers of 8 bits, without a bootstrap with padding (WoP-PBS), with the switches of keys to its
/// parameters and back.
pub fn table(step: &Step) {
    let (client, server): (RadixClientKey, ServerKey) =
        gen_keys_radix(V1_8_PARAM_MESSAGE_2_CARRY_2_KS_PBS_GAUSSIAN_2M128, 4);
    let key = WopbsKey::new_wopbs_key(&client, &server, &LEGACY_WOPBS_PARAM_MESSAGE_2_CARRY_2_KS_PBS);
    let f = |x: u64, y: u64| x.checked_div(y).unwrap_or(255);
    let (x, y) = (200, 7);
    let (a, b) = (client.encrypt(x), client.encrypt(y));
    let table = {
        let [a, b] = [&a, &b].map(|x| key.keyswitch_to_wopbs_params(&server, x));
        key.generate_lut_bivariate_radix(&a, &b, f)
    };
    let lookup = || {
        let [a, b] = [&a, &b].map(|x| key.keyswitch_to_wopbs_params(&server, x));
        key.keyswitch_to_pbs_params(&key.bivariate_wopbs_with_degree(&a, &b, &table))
    };
    let right = client.decrypt::<u64>(&lookup()) == f(x, y);
    step.report(TABLE_SET, "table", 1, right, &mut || drop(black_box(lookup())));
}

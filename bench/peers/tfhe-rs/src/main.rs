//! Times TFHE-rs and prints JSON lines in noren's benchmark schema. It takes the options of one step of a suite, as every
//! program in `bench/peers` does: see `bench/README.md`.

mod bits;
mod digits;
#[path = "../../driver.rs"]
mod driver;
mod integers;
mod record;
mod reduction;

use std::process::ExitCode;

use driver::{finish, numbers, options};
use record::Step;
use reduction::Case;
use tfhe::boolean::parameters::{DEFAULT_PARAMETERS_KS_PBS, PARAMETERS_ERROR_PROB_2_POW_MINUS_165_KS_PBS};
use tfhe::shortint::parameters::v1_8::*;

fn main() -> ExitCode {
    finish(run())
}

fn run() -> Result<(), String> {
    let options = options(&[
        ("suite", "tfhe"),
        ("workload", "BOOL,1_1,2_2,3_3"),
        ("batch", "1,8,64,512"),
        ("scheme", "ckks,tfhe"),
        ("way", "paper"),
        ("count", "2"),
        ("bits", "16"),
        ("threads", "1"),
        ("seconds", "1"),
    ])?;
    let suite = options["suite"].as_str();
    if !["tfhe", "product", "inner-product"].contains(&suite) {
        return Err(format!("there is no suite {suite}"));
    }
    let batches = numbers(&options["batch"])?;
    let seconds = options["seconds"].parse().map_err(|_| "--seconds needs a number")?;
    for threads in numbers(&options["threads"])? {
        // Everything parallel in TFHE-rs runs in the pool that it is called from.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| error.to_string())?;
        if suite != "tfhe" {
            // Of CKKS it has nothing.
            if options["scheme"].split(',').any(|scheme| scheme == "tfhe") {
                let bits = options["bits"].parse().map_err(|_| "--bits needs a number")?;
                for count in numbers(&options["count"])? {
                    let case = Case { suite, way: &options["way"], count, bits, threads, seconds };
                    pool.install(|| reduction::run(&case));
                }
            }
            continue;
        }
        for workload in options["workload"].split(',') {
            let step = Step { workload: workload.to_owned(), batches: batches.clone(), threads, seconds };
            pool.install(|| measure(&step));
        }
    }
    Ok(())
}

/// Measures what TFHE-rs has for a workload of noren's; others are passed over.
fn measure(step: &Step) {
    match step.workload.as_str() {
        "BOOL" => bits::run(step, &DEFAULT_PARAMETERS_KS_PBS),
        "BOOL_128" => bits::run(step, &PARAMETERS_ERROR_PROB_2_POW_MINUS_165_KS_PBS),
        "1_1" => digits::run(step, V1_8_PARAM_MESSAGE_1_CARRY_1_KS_PBS_GAUSSIAN_2M128.into()),
        "2_2" => {
            // Two sets of the same security and failure; the second has the shorter key switch.
            digits::run(step, V1_8_PARAM_MESSAGE_2_CARRY_2_KS_PBS_GAUSSIAN_2M128.into());
            digits::run(step, V1_8_PARAM_MESSAGE_2_CARRY_2_KS32_PBS_TUNIFORM_2M128.into());
        }
        "3_3" => digits::run(step, V1_8_PARAM_MESSAGE_3_CARRY_3_KS_PBS_GAUSSIAN_2M128.into()),
        "client-BOOL" => bits::client(step, &DEFAULT_PARAMETERS_KS_PBS),
        "client-2_2" => digits::client(step, V1_8_PARAM_MESSAGE_2_CARRY_2_KS_PBS_GAUSSIAN_2M128.into()),
        "u8" | "u16" | "u32" => integers::run(step),
        "u8xu8" => integers::table(step),
        _ => {}
    }
}

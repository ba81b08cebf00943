//! Decryption and decoding of BFV, BGV and TFHE take no branch, address or division by secrets, and their time does not
//! depend on messages.
//!
//! `constant_time` alone is exact and reads the built code: [`memcheck`] and [`divisions`] run it under valgrind. They need a
//! build without overflow checks, which are branches. Where they cannot run, they say so. `constant_time timing` measures
//! instead, for some minutes and with any instruction set: [`timing`]. `make test` runs the first, and `make timing` the second.

use std::env;
use std::process::ExitCode;

mod cases;
mod divisions;
mod memcheck;
mod timing;
mod valgrind;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => match divisions::obstacle() {
            Some(obstacle) => println!("constant time: not checked: {obstacle}"),
            None => {
                memcheck::check();
                divisions::check();
            }
        },
        ["timing"] => timing::check(),
        // Subprocesses of the checks, under valgrind.
        ["watched", what] => memcheck::watched(what),
        ["counted", what] => divisions::counted(what),
        _ => {
            eprintln!("usage: constant_time [timing]");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

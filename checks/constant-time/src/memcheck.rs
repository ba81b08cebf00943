//! No branch and no address depends on a secret: valgrind's memcheck follows memory that is marked as undefined.
//!
//! Source: Langley, ctgrind, 2010. What may branch is listed in `public.supp`.

use std::hint::black_box;
use std::process::Output;

use crate::cases::cases;
use crate::valgrind::{self, DONE, mark_public, mark_secret};

/// The exit status of a run with findings.
const FOUND: i32 = 99;

/// Runs all cases with all instruction sets that valgrind knows, and what it must find.
pub fn check() {
    for isa in valgrind::instruction_sets() {
        let output = memcheck(isa, "cases");
        assert!(output.status.success(), "{isa}: {}", String::from_utf8_lossy(&output.stderr));
        println!("constant time: no branch and no address depends on a secret ({isa})");
    }
    for planted in ["planted branch", "planted address"] {
        assert_eq!(memcheck("portable", planted).status.code(), Some(FOUND), "the {planted} was not found");
    }
}

fn memcheck(isa: &str, what: &str) -> Output {
    let permitted = concat!(env!("CARGO_MANIFEST_DIR"), "/public.supp");
    let (code, permitted) = (format!("--error-exitcode={FOUND}"), format!("--suppressions={permitted}"));
    let options = ["--tool=memcheck".into(), "--quiet".into(), "--leak-check=no".into(), code, permitted];
    valgrind::run(&options, isa, ["watched", what])
}

/// The subprocess under memcheck.
pub fn watched(what: &str) {
    match what {
        "cases" => cases().into_iter().for_each(|case| {
            (case.mark)();
            (case.run)();
        }),
        "planted branch" => {
            let secret = [3u64];
            mark_secret(&secret);
            // Read again: the compiler does not know that marking changes what valgrind knows of it.
            if black_box(&secret)[0] % 5 == 3 {
                println!("the branch is taken");
            }
        }
        "planted address" => {
            let (table, secret) = ([1u8; 64], [3usize]);
            mark_secret(&secret);
            let found = [black_box(&table)[black_box(&secret)[0] & 63]];
            mark_public(&found);
            black_box(found);
        }
        what => panic!("there is no part {what}"),
    }
    println!("{DONE}");
}

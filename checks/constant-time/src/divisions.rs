//! No division of secrets, whose time depends on the operands: valgrind's callgrind counts each instruction, and a disassembly
//! says which of them divide.
//!
//! Lengths and blocks are divided too, a few times a call whatever the degree. So an instruction that divides is one of
//! secrets if it runs at least half as often as there are secrets.

use std::collections::HashMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::{env, fs};

use crate::cases::{Case, cases};
use crate::valgrind::{self, DONE, start_counting, stop_counting};

/// Prefixes of the mnemonics of instructions that divide or take a root.
const DIVIDE: [&str; 8] = ["div", "idiv", "vdiv", "sqrt", "vsqrt", "rsqrt", "fdiv", "fprem"];

/// Runs all cases with all instruction sets that valgrind knows, and what it must find.
pub fn check() {
    let program = env::current_exe().expect("a program");
    let dividing = dividing_instructions(&program);
    let cases: Vec<(&str, usize)> = cases().into_iter().map(|case| (case.name, case.items)).collect();
    for isa in valgrind::instruction_sets() {
        let found = divisions((&program, &dividing), isa, "cases", &cases);
        assert!(found.is_empty(), "{isa}: {found:?}");
        println!("constant time: no secret is divided ({isa})");
    }
    let planted = planted_cases().each_ref().map(|case| (case.name, case.items));
    let found = divisions((&program, &dividing), "portable", "planted", &planted);
    let all = planted.iter().all(|(name, _)| found.iter().any(|place| place.starts_with(name)));
    assert!(all, "of the planted divisions, of words and of double words, these were found: {found:?}");
}

/// The subprocess under callgrind: each case twice, of which the second run is counted, because the first one makes tables.
pub fn counted(what: &str) {
    let cases = match what {
        "cases" => cases(),
        "planted" => planted_cases().into(),
        what => panic!("there is no part {what}"),
    };
    for case in cases {
        (case.run)();
        start_counting();
        (case.run)();
        stop_counting();
    }
    println!("{DONE}");
}

fn planted_cases() -> [Case; 2] {
    let case = |name, run: fn()| Case { name, items: 100, mark: Box::new(|| ()), run: Box::new(run) };
    [
        case("words", || {
            for x in 0..100 {
                black_box(black_box(x + (1u64 << 40)) % black_box(65_537));
            }
        }),
        case("double words", || {
            for x in 0..100 {
                black_box(black_box(x + (1u128 << 90)) % black_box(65_537));
            }
        }),
    ]
}

/// Where secrets are divided: the case, the address of the instruction, and how often it ran.
fn divisions(
    (program, dividing): (&Path, &HashMap<u64, String>),
    isa: &str,
    what: &str,
    cases: &[(&str, usize)],
) -> Vec<String> {
    let folder = Folder::new(&format!("{isa}-{}", what));
    let counts = folder.0.join("counts");
    let options =
        ["--tool=callgrind", "--instr-atstart=no", "--dump-instr=yes", "--compress-pos=no", "--compress-strings=no"];
    let mut options = options.map(String::from).to_vec();
    options.push(format!("--callgrind-out-file={}", counts.display()));
    let output = valgrind::run(&options, isa, ["counted", what]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let mut found = Vec::new();
    for (i, (name, items)) in cases.iter().enumerate() {
        let text = fs::read_to_string(counts.with_extension((i + 1).to_string())).expect("a dump for each case");
        let executed = executed(&text, program);
        assert!(executed.values().any(|&count| count as usize >= *items), "{name}: nothing was counted");
        let often = executed.iter().filter(|&(_, &count)| count as usize >= items / 2);
        found.extend(often.filter_map(|(address, count)| {
            let instruction = dividing.get(address)?;
            Some(format!("{name}: {instruction} at {address:#x}, {count} times"))
        }));
    }
    found
}

/// The instructions of a program that divide, by their addresses.
fn dividing_instructions(program: &Path) -> HashMap<u64, String> {
    let output = Command::new("objdump").args(["--disassemble", "--no-show-raw-insn"]).arg(program).output();
    let output = output.expect("objdump runs");
    let parse = |line: &str| {
        let (address, instruction) = line.split_once(":\t")?;
        let address = u64::from_str_radix(address.trim(), 16).ok()?;
        DIVIDE.iter().any(|name| instruction.starts_with(name)).then(|| (address, instruction.trim().to_owned()))
    };
    let found: HashMap<_, _> = String::from_utf8_lossy(&output.stdout).lines().filter_map(parse).collect();
    assert!(!found.is_empty(), "a program of this size divides somewhere");
    found
}

/// How often each instruction of the program ran, from a dump of callgrind.
fn executed(dump: &str, program: &Path) -> HashMap<u64, u64> {
    let (mut counts, mut here, mut skip) = (HashMap::new(), false, false);
    for line in dump.lines() {
        if let Some(object) = line.strip_prefix("ob=") {
            here = Path::new(object) == program;
        } else if line.starts_with("calls=") {
            // The next line is what the call cost with all that it called.
            skip = true;
        } else if let Some(fields) = line.strip_prefix("0x") {
            let mut fields = fields.split(' ');
            let address = fields.next().and_then(|address| u64::from_str_radix(address, 16).ok());
            let count = fields.next_back().and_then(|count| count.parse::<u64>().ok());
            if let (true, false, Some(address), Some(count)) = (here, skip, address, count) {
                *counts.entry(address).or_default() += count;
            }
            skip = false;
        }
    }
    counts
}

/// Why the checks under valgrind cannot run here.
pub fn obstacle() -> Option<&'static str> {
    let disassembles = Command::new("objdump").arg("--version").output().is_ok_and(|output| output.status.success());
    valgrind::obstacle().or_else(|| (!disassembles).then_some("objdump is not installed"))
}

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("noren-constant-time-{}-{name}", process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

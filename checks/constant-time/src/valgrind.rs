//! Running this program under valgrind, and talking to it.

use std::env;
use std::hint::black_box;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};

/// Marks memory as holding secrets: memcheck reports each branch and each address that depends on it.
pub fn mark_secret<T: Copy>(secret: &[T]) {
    MARKS.store(true, Ordering::Relaxed);
    request(MAKE_MEM_UNDEFINED, secret.as_ptr() as usize, size_of_val(secret));
}

/// Takes the mark away.
pub fn mark_public<T: Copy>(public: &[T]) {
    request(MAKE_MEM_DEFINED, public.as_ptr() as usize, size_of_val(public));
}

/// Takes what was computed from marked memory: it must be marked too, or the marks were lost on the way.
pub fn result<T: Copy>(result: &[T]) {
    let result = black_box(result);
    let mut marks = vec![0u8; size_of_val(result)];
    let answer = request_three(GET_VBITS, result.as_ptr() as usize, marks.as_mut_ptr() as usize, marks.len());
    let marked = black_box(&marks).iter().any(|&byte| byte != 0);
    assert!(answer != 1 || marked || !MARKS.load(Ordering::Relaxed), "a result of {} bytes is not marked", marks.len());
}

/// Whether memory was marked.
static MARKS: AtomicBool = AtomicBool::new(false);

/// Begins the counting of instructions by callgrind.
pub fn start_counting() {
    request(START_INSTRUMENTATION, 0, 0);
}

/// Writes what callgrind counted, and ends the counting.
pub fn stop_counting() {
    request(DUMP_STATS, 0, 0);
    request(STOP_INSTRUMENTATION, 0, 0);
}

/// Client requests of memcheck.h and callgrind.h.
const MAKE_MEM_UNDEFINED: usize = 0x4d43_0001;
const MAKE_MEM_DEFINED: usize = 0x4d43_0002;
const GET_VBITS: usize = 0x4d43_0008;
const DUMP_STATS: usize = 0x4354_0000;
const START_INSTRUMENTATION: usize = 0x4354_0004;
const STOP_INSTRUMENTATION: usize = 0x4354_0005;

fn request(request: usize, first: usize, second: usize) -> usize {
    request_three(request, first, second, 0)
}

/// A client request: four rotations that change nothing, and an exchange that valgrind reads as a call. Without valgrind it
/// gives 0.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn request_three(request: usize, first: usize, second: usize, third: usize) -> usize {
    let arguments = [request, first, second, third, 0, 0];
    let answer;
    // SAFETY: the rotations add up to 128 and leave rdi as it was, and rbx is exchanged with itself; valgrind reads the six
    // words at rax and writes rdx.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") arguments.as_ptr(), inout("rdx") 0usize => answer, options(nostack),
        );
    }
    answer
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
fn request_three(_request: usize, _first: usize, _second: usize, _third: usize) -> usize {
    0
}

/// Why the tests under valgrind cannot run here.
pub fn obstacle() -> Option<&'static str> {
    let found = |tool: &str| Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success());
    if cfg!(debug_assertions) {
        Some("overflow checks are branches: build with --release")
    } else if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        Some("client requests are written for x86-64 and Linux")
    } else if found("valgrind") {
        None
    } else {
        Some("valgrind is not installed")
    }
}

/// The instruction sets that valgrind knows of those that this machine has.
pub fn instruction_sets() -> Vec<&'static str> {
    noren_math::kernels::available().map(|table| table.name()).filter(|&name| name != "avx512").collect()
}

/// Runs a part of this program under a tool of valgrind.
pub fn run(options: &[String], isa: &str, part: [&str; 2]) -> Output {
    let mut command = Command::new("valgrind");
    command.args(options).arg(env::current_exe().expect("a program")).args(part).env("NOREN_ISA", isa);
    let output = command.output().expect("valgrind runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains(DONE), "{part:?} did not run: {text}{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The last line of a subprocess that ran to its end.
pub const DONE: &str = "all cases have run";

//! Prints the names of the kernel tables that this machine supports, one a line: `make test` runs once per table.

fn main() {
    for table in noren_math::kernels::available() {
        println!("{}", table.name());
    }
}

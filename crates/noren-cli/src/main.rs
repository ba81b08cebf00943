//! noren
fn main() {}

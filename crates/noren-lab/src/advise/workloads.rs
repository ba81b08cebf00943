//! Workloads of all schemes, from small ones to full ciphertexts.

use noren::advisor::{Computation, Values, Workload};

/// All of them, in an order that does not change.
pub(super) fn all() -> Vec<Workload> {
    use Computation::{Compare, InnerProduct, Matrix, Polynomial, Product, Squarings, Sum, Table};
    let real = |bits| Values::Real { bits };
    let integer = |bits, result_bits| Values::Integer { bits, result_bits: Some(result_bits) };
    let list: [(Computation, Values, usize); 30] = [
        (InnerProduct { length: 100 }, real(20.0), 1),
        (InnerProduct { length: 100 }, real(20.0), 1000),
        (InnerProduct { length: 1024 }, real(14.0), 16),
        (Product { count: 2 }, real(20.0), 1),
        (Product { count: 20 }, real(20.0), 1),
        (Product { count: 100 }, real(20.0), 1),
        (Product { count: 100 }, real(12.0), 200),
        (Sum { count: 1000 }, real(20.0), 1),
        (Sum { count: 16 }, real(20.0), 2000),
        (Polynomial { degree: 3 }, real(16.0), 100),
        (Polynomial { degree: 15 }, real(16.0), 8192),
        (Polynomial { degree: 63 }, real(14.0), 32768),
        (Matrix { rows: 64, columns: 64 }, real(16.0), 1),
        (Matrix { rows: 10, columns: 784 }, real(14.0), 1),
        (Matrix { rows: 4, columns: 16 }, real(16.0), 4096),
        (Squarings { depth: 4 }, real(16.0), 16384),
        (Squarings { depth: 10 }, real(14.0), 32768),
        (InnerProduct { length: 100 }, integer(8, 24), 1),
        (InnerProduct { length: 64 }, integer(4, 16), 512),
        (Sum { count: 500 }, integer(7, 16), 16),
        (Product { count: 4 }, integer(8, 32), 1),
        (Product { count: 3 }, integer(5, 16), 1000),
        (Matrix { rows: 32, columns: 32 }, integer(5, 16), 1),
        (Squarings { depth: 2 }, integer(4, 16), 32768),
        (Polynomial { degree: 2 }, integer(5, 16), 4096),
        (Product { count: 10 }, integer(8, 16), 1),
        (Compare, integer(16, 2), 1),
        (Compare, integer(8, 2), 64),
        (Table { inputs: 1 }, integer(4, 4), 32),
        (Table { inputs: 2 }, integer(15, 15), 1),
    ];
    let workload = |(computation, values, instances)| Workload { instances, ..Workload::new(computation, values) };
    list.into_iter().map(workload).collect()
}

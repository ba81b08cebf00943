//! Sums over the rows of large tables, on CKKS ciphertexts: masks and their factors cost no precision.

use std::time::Instant;

use noren::Seed;
use noren::ckks::{Ciphertext, Context, Decryptor, Encoder, Encryptor, Evaluator};
use noren::error::Error;
use noren::programs::{Bounds, EncryptedTable, Layout, Program, ProgramPlan, Shape, TableLayout};
use noren_math::kernels::is_fastest;

use crate::data::{Data, context};

/// The slots of the ring of these tests, and the rows of a row group.
const SLOTS: usize = 1 << 10;

/// The programs that add up rows.
const SUMS: [&str; 5] = ["sum", "mean", "variance", "covariance", "inner-product"];

fn program(name: &str) -> Program {
    Program::parse(name, None).unwrap()
}

/// Numbers in `[1/2, 1)` of the bound of their column, which are powers of two, without visible pattern.
fn data(rows: usize, columns: usize) -> Data {
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    let entries = (0..rows * columns)
        .map(|k| bound_of(k % columns) * (0.5 + 0.5 * ((k as f64).powi(2) * golden + k as f64 * 0.1).fract()));
    Data { rows, columns, entries: entries.collect() }
}

fn bound_of(column: usize) -> f64 {
    f64::exp2(3.0 * column as f64 - 3.0)
}

fn shape(rows: usize, columns: usize) -> Shape {
    Shape { rows, columns, bounds: Some(Bounds::Each((0..columns).map(bound_of).collect())), ..Shape::default() }
}

/// The accuracy of the result of a program.
struct Found {
    /// The largest error, relative to the true result.
    error: f64,
    /// The largest bound, relative to the true result.
    relative: f64,
    /// The largest bound, in units of the encoded numbers.
    bound: f64,
}

/// Runs a program, and compares with the true results: `expected` gives the number in a row and a column.
fn run(
    plan: &ProgramPlan,
    program: &Program,
    table: impl FnOnce(&Context, &Encryptor<'_>) -> EncryptedTable<Ciphertext>,
    expected: impl Fn(usize, usize) -> f64,
) -> Found {
    let context = Context::new(plan.parameters.clone()).unwrap();
    let keys = context.generate_keys(Seed::from_bytes([1; 32]), &plan.key_request().unwrap()).unwrap();
    let encryptor = Encryptor::public(&context, &keys.public, Seed::from_bytes([2; 32])).unwrap();
    let table = table(&context, &encryptor);
    let evaluator = Evaluator::new(&context, keys.evaluation.clone()).unwrap();
    let start = Instant::now();
    let result = program.run(&evaluator, &table).unwrap();
    let ran = start.elapsed();
    let matrix = result.decrypt(&Decryptor::new(&context, &keys.secret).unwrap()).unwrap();
    let columns = matrix.column_names.len();
    let bound = result.ciphertexts().iter().map(Ciphertext::error_bound).fold(0.0, f64::max);
    let mut found = Found { error: 0.0, relative: 0.0, bound };
    for (index, (value, bound)) in matrix.values.iter().zip(&matrix.errors).enumerate() {
        let expected = expected(index / columns, index % columns);
        let error = (value - expected).abs();
        assert!(error <= *bound, "{} {index}: {value}, not {expected} (bound {bound:e})", program.name());
        found.error = found.error.max(error / expected.abs());
        found.relative = found.relative.max(bound / expected.abs());
    }
    println!(
        "{} of {} rows: error {:.1e} and bound {:.1e} of the result, bound {:.1e} and plan {:.1e} of the column, {ran:.2?}",
        program.name(),
        plan.layout.rows(),
        found.error,
        found.relative,
        found.bound,
        plan.predicted_error()
    );
    found
}

/// The true results of a program for a table of `groups` times the rows of `data`.
fn expected(name: &str, data: &Data, groups: usize) -> impl Fn(usize, usize) -> f64 {
    let rows = (groups * data.rows) as f64;
    let means: Vec<f64> = (0..data.columns).map(|c| data.mean(c)).collect();
    let products: Vec<Vec<f64>> = (0..data.columns)
        .map(|i| {
            let product = |j: usize| {
                data.column(i).zip(data.column(j)).map(|(x, y)| (x - means[i]) * (y - means[j])).sum::<f64>()
            };
            (0..data.columns).map(|j| product(j) * groups as f64).collect()
        })
        .collect();
    let name = name.to_owned();
    move |i, j| match &name[..] {
        "sum" => means[j] * rows,
        "mean" => means[j],
        "variance" => products[j][j] / (rows - 1.0),
        "covariance" => products[i][j] / (rows - 1.0),
        _ => products[i][j] + rows * means[i] * means[j],
    }
}

/// A table of `groups` times the same row group, whose errors all have the same sign.
fn repeated(
    data: &Data,
    groups: usize,
    plan: &ProgramPlan,
    context: &Context,
    encryptor: &Encryptor<'_>,
) -> EncryptedTable<Ciphertext> {
    assert_eq!((data.rows, plan.layout.rows()), (SLOTS, groups * SLOTS));
    let group = TableLayout::new(data.rows, data.columns, SLOTS).unwrap();
    let group = group.with_exponents(plan.layout.exponents().to_vec()).unwrap();
    let level = plan.parameters.max_level();
    let group = EncryptedTable::encrypt(&Encoder::new(context), encryptor, group, &data.entries, level).unwrap();
    let ciphertexts = group.ciphertexts().iter().flat_map(|x| vec![x.clone(); groups]).collect();
    EncryptedTable::new(Layout::Table(plan.layout.clone()), ciphertexts).unwrap()
}

#[test]
fn masks_of_a_million_rows_cost_no_precision() {
    if !is_fastest() {
        return;
    }
    let (columns, groups) = (2, 1000);
    let data = data(SLOTS, columns);
    let shape = shape(groups * SLOTS, columns);
    for name in SUMS {
        let program = program(name);
        let depth = shape.usage(&program, SLOTS).unwrap().depth;
        let parameters = context(11, 42, depth).parameters().clone();
        let plan = ProgramPlan::with_parameters(std::slice::from_ref(&program), &shape, parameters).unwrap();
        let table = |context: &Context, encryptor: &Encryptor<'_>| repeated(&data, groups, &plan, context, encryptor);
        let found = run(&plan, &program, table, expected(name, &data, groups));
        assert!(found.bound <= plan.predicted_error(), "{name}: {:e} is planned", plan.predicted_error());
        assert!(
            plan.predicted_error() <= 2e-7 * f64::from(1u32 << (depth - 2)),
            "{name}: {:e}",
            plan.predicted_error()
        );
        if ["sum", "mean"].contains(&name) {
            assert!(found.error <= 1e-8 && found.relative <= 1e-7, "{name}: {:e}, {:e}", found.error, found.relative);
        }
    }
}

#[test]
fn planned_errors_hold_below_and_above_the_rows_of_one_step() {
    if !is_fastest() {
        return;
    }
    for rows in [8, 64, 1000, 1024, 1025, 1 << 14] {
        let data = data(rows, 2);
        for name in SUMS {
            let program = program(name);
            let shape = shape(rows, 2);
            let depth = shape.usage(&program, SLOTS).unwrap().depth;
            let parameters = context(11, 42, depth).parameters().clone();
            let plan = ProgramPlan::with_parameters(std::slice::from_ref(&program), &shape, parameters).unwrap();
            let table = |context: &Context, encryptor: &Encryptor<'_>| {
                EncryptedTable::encrypt(&Encoder::new(context), encryptor, plan.layout.clone(), &data.entries, depth)
                    .unwrap()
            };
            let found = run(&plan, &program, table, expected(name, &data, 1));
            assert!(found.bound <= plan.predicted_error(), "{name} of {rows}: {:e}", plan.predicted_error());
        }
    }
}

#[test]
fn tables_with_too_few_levels_for_their_rows_are_refused() {
    let (groups, data) = (2, data(SLOTS, 1));
    for (name, level) in [("sum", 1), ("mean", 1), ("variance", 2), ("covariance", 2), ("inner-product", 2)] {
        // A plan for fewer rows, as it takes one level less.
        let program = program(name);
        let parameters = context(11, 42, level).parameters().clone();
        let small = ProgramPlan::with_parameters(std::slice::from_ref(&program), &shape(SLOTS, 1), parameters.clone());
        let mut plan = small.unwrap();
        assert_eq!(plan.usage.depth, level, "{name}");
        let refused =
            ProgramPlan::with_parameters(std::slice::from_ref(&program), &shape(groups * SLOTS, 1), parameters);
        assert!(matches!(refused, Err(Error::Parameters { name: "max_level", .. })), "{name}");
        let context = Context::new(plan.parameters.clone()).unwrap();
        let keys = context.generate_keys(Seed::from_bytes([1; 32]), &plan.key_request().unwrap()).unwrap();
        let encryptor = Encryptor::public(&context, &keys.public, Seed::from_bytes([2; 32])).unwrap();
        plan.layout = shape(groups * SLOTS, 1).layout(SLOTS).unwrap();
        let table = repeated(&data, groups, &plan, &context, &encryptor);
        let result = program.run(&Evaluator::new(&context, keys.evaluation.clone()).unwrap(), &table);
        assert!(matches!(result, Err(Error::LevelExhausted { .. })), "{name}");
    }
}

#[test]
#[ignore = "slow: real parameters; run with --ignored --nocapture to see errors and times"]
fn a_million_rows_at_128_bits() {
    let rows = 1_000_000;
    let data = data(rows, 2);
    for name in SUMS {
        for bits in [20.0, 24.0] {
            let program = program(name);
            let plan = ProgramPlan::for_precision(std::slice::from_ref(&program), &shape(rows, 2), bits).unwrap();
            let spec = plan.parameters.spec();
            println!("{bits} bits: n = 2^{}, log q = {:?}, log p = {:?}", spec.log_n, spec.log_q, spec.log_p);
            let level = plan.parameters.max_level();
            let table = |context: &Context, encryptor: &Encryptor<'_>| {
                EncryptedTable::encrypt(&Encoder::new(context), encryptor, plan.layout.clone(), &data.entries, level)
                    .unwrap()
            };
            let found = run(&plan, &program, table, expected(name, &data, 1));
            assert!(found.bound <= plan.predicted_error(), "{name}: {:e} is planned", plan.predicted_error());
        }
    }
}

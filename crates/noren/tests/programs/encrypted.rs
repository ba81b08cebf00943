//! Programs on CKKS ciphertexts: within their error bounds of the cleartext twin.

use std::time::Instant;

use noren::Seed;
use noren::circuits::approx::sigmoid;
use noren::ckks::{Context, Decryptor, Encoder, Encryptor, Evaluator, ParametersSpec};
use noren::programs::EncryptedTable;
use noren::programs::Program;
use noren::schemes::clear::ClearEvaluator;
use noren_math::kernels::is_fastest;

use crate::data::{Data, context, linear_model, read};

/// The number of encryptions of a table whose largest error counts, or of more where the results are few.
const ENCRYPTIONS: usize = 8;

/// The least number of numbers that are compared: the largest of 50 Gaussian errors is 2.2 standard deviations, that of 12 only 1.6.
const NUMBERS: usize = 50;

/// Runs a program encrypted, with exactly the keys and levels that it plans, and compares with the cleartext twin: all
/// numbers must agree within the error bounds of the result, and the bounds must not be above `slack` times the largest
/// error, in the units of the encoded numbers.
fn check_encrypted(program: &Program, data: &Data, max_slots: usize, slack: f64) {
    let layout = data.layout(max_slots);
    let plan = program.plan(&layout).unwrap();
    let context = context(11, 42, plan.depth);
    let keys = context.generate_keys(Seed::from_bytes([1; 32]), &plan.key_request(plan.depth).unwrap()).unwrap();
    let encryptor = Encryptor::public(&context, &keys.public, Seed::from_bytes([2; 32])).unwrap();
    let encoder = Encoder::new(&context);
    let evaluator = Evaluator::new(&context, keys.evaluation.clone()).unwrap();
    let decryptor = Decryptor::new(&context, &keys.secret).unwrap();
    let clear = read(&program.run(&ClearEvaluator, &data.table(&layout, plan.depth)).unwrap());
    let what = format!("{}, {} x {}", program.name(), data.rows, data.columns);
    let mut worst = 0.0_f64;
    for _ in 0..NUMBERS.div_ceil(clear.values.len()).max(ENCRYPTIONS) {
        let table = EncryptedTable::encrypt(&encoder, &encryptor, layout.clone(), &data.entries, plan.depth).unwrap();
        let found = program.run(&evaluator, &table).unwrap().decrypt(&decryptor).unwrap();
        assert_eq!((&found.row_names, &found.column_names), (&clear.row_names, &clear.column_names));
        assert!(found.out_of_range.is_empty());
        // The approximation is the same on both sides: what remains is the error of the ciphertexts.
        for (index, (value, expected)) in found.values.iter().zip(&clear.values).enumerate() {
            let bound = found.errors[index] - clear.errors[index];
            let error = (value - expected).abs();
            assert!(error <= bound, "{what}: number {index} is {value}, not {expected} (bound {bound:e})");
            worst = worst.max(error / bound);
        }
    }
    println!("{what}: largest error 1/{:.1} of its bound", 1.0 / worst);
    assert!(worst * slack >= 1.0, "{what}: bounds {:.1} times the largest error", 1.0 / worst);
}

/// Shapes for encrypted runs: several blocks of columns, several row groups, and one entry alone.
const ENCRYPTED_SHAPES: [(usize, usize, usize); 4] = [(60, 7, 256), (100, 3, 32), (2, 2, 64), (13, 16, 1024)];

/// Bounds hold for all entries that a column may have. These tables keep to 1/3 to 1 of their largest entries, and
/// deviations from the mean are much smaller still: bounds are looser by what the entries are smaller.
const SLACK: f64 = 64.0;

/// The slack for tables that fill their range, where no common errors of different factors are at work.
const SHARP: f64 = 8.0;

/// The slack for products of columns that fill their range. Deviations from the mean are taken for up to twice the
/// largest entry, in both factors, and a mean has an error in common with each of its entries.
const PRODUCTS_SLACK: f64 = 24.0;

#[test]
fn encrypted_statistics_stay_within_their_error_bounds() {
    for (rows, columns, slots) in ENCRYPTED_SHAPES {
        let data = Data::new(rows, columns);
        for name in ["sum", "mean", "variance", "covariance", "inner-product"] {
            check_encrypted(&Program::parse(name, None).unwrap(), &data, slots, SLACK);
        }
    }
}

#[test]
fn encrypted_models_stay_within_their_error_bounds() {
    for (rows, columns, slots) in ENCRYPTED_SHAPES {
        let data = Data::new(rows, columns);
        for outputs in [1, 3] {
            let (linear, _) = linear_model(&data, outputs, "");
            check_encrypted(&Program::parse("linear", Some(&linear)).unwrap(), &data, slots, SLACK);
            let (logistic, _) = linear_model(&data, outputs, ", \"interval\": 32, \"degree\": 127");
            check_encrypted(&Program::parse("logistic", Some(&logistic)).unwrap(), &data, slots, SLACK);
        }
        let polynomial = Program::parse("polynomial", Some(r#"{"coefficients": [1, -2, 0.5, 0.001]}"#)).unwrap();
        check_encrypted(&polynomial, &data, slots, SLACK);
    }
}

#[test]
fn bounds_are_sharp_for_data_that_fill_the_range() {
    if !is_fastest() {
        return;
    }
    for (rows, columns, slots) in [(60, 7, 256), (13, 16, 1024), (100, 3, 32)] {
        let data = Data::filling(rows, columns);
        let (linear, _) = linear_model(&data, 3, "");
        let (logistic, _) = linear_model(&data, 3, ", \"interval\": 32, \"degree\": 127");
        for (name, model, slack) in [
            ("sum", None, SHARP),
            ("mean", None, SHARP),
            ("linear", Some(&linear[..]), SHARP),
            ("logistic", Some(&logistic), SHARP),
            ("polynomial", Some(r#"{"coefficients": [1, -2, 0.5, 0.001]}"#), SHARP),
            ("inner-product", None, PRODUCTS_SLACK),
            ("variance", None, PRODUCTS_SLACK),
            ("covariance", None, PRODUCTS_SLACK),
        ] {
            check_encrypted(&Program::parse(name, model).unwrap(), &data, slots, slack);
        }
    }
}

#[test]
#[ignore = "slow: real parameters; run with --ignored --nocapture to see times"]
fn clinical_data_set_at_128_bits() {
    let data = Data::new(285, 30);
    let layout = data.layout(8192);
    let (json, scores) = linear_model(&data, 1, ", \"interval\": 32, \"degree\": 127");
    for (name, model) in [("mean", None), ("covariance", None), ("logistic", Some(&json[..]))] {
        let program = Program::parse(name, model).unwrap();
        let plan = program.plan(&layout).unwrap();
        let mut log_q = vec![40; plan.depth + 1];
        log_q[0] = 50;
        // The degree that a ring for a depth of 8 needs, for all.
        let spec = ParametersSpec { log_n: 14, log_q, log_p: vec![50], log_scale: 40, ..ParametersSpec::default() };
        let context = Context::new(spec.build().unwrap()).unwrap();
        let start = Instant::now();
        let request = plan.key_request(plan.depth).unwrap();
        let keys = context.generate_keys(Seed::from_bytes([1; 32]), &request).unwrap();
        let made = start.elapsed();
        let encryptor = Encryptor::symmetric(&context, &keys.secret, Seed::from_bytes([2; 32])).unwrap();
        let encoder = Encoder::new(&context);
        let table = EncryptedTable::encrypt(&encoder, &encryptor, layout.clone(), &data.entries, plan.depth).unwrap();
        let evaluator = Evaluator::new(&context, keys.evaluation.clone()).unwrap();
        program.run(&evaluator, &table).unwrap();
        let start = Instant::now();
        let result = program.run(&evaluator, &table).unwrap();
        let ran = start.elapsed();
        let found = result.decrypt(&Decryptor::new(&context, &keys.secret).unwrap()).unwrap();
        println!("{name}: keys {made:.2?}, run {ran:.2?}, {:?}", plan.counts);
        let worst = |expected: &dyn Fn(usize) -> f64| {
            found.values.iter().zip(&found.errors).enumerate().fold((0.0_f64, 0.0_f64), |worst, (k, (value, bound))| {
                let error = (value - expected(k)).abs();
                assert!(error <= *bound, "{name}: number {k} is {value}, not {} (bound {bound:e})", expected(k));
                (worst.0.max(error), worst.1.max(*bound))
            })
        };
        let (error, bound) = match name {
            "mean" => worst(&|k| data.mean(k)),
            "covariance" => worst(&|k| data.covariance(k / 30, k % 30, 1)),
            _ => worst(&|k| sigmoid(scores[k][0])),
        };
        println!("{name}: largest error {error:.2e}, largest bound {bound:.2e}");
    }
}

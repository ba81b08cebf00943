//! Linear, logistic and polynomial models, in clear.

use noren::circuits::approx::sigmoid;
use noren::error::Error;
use noren::programs::Program;
use noren::programs::TableLayout;
use noren::schemes::clear::ClearEvaluator;
use noren_math::kernels::is_fastest;

use crate::data::{Data, SHAPES, assert_close, layouts, linear_model, read, run};

#[test]
fn linear_scores_are_weighted_sums_of_standardised_columns() {
    if !is_fastest() {
        return;
    }
    for (rows, columns, slots) in SHAPES {
        let data = Data::new(rows, columns);
        for layout in layouts(&data, slots) {
            for outputs in [1, 2, 3, 5, 20] {
                let (json, scores) = linear_model(&data, outputs, "");
                let program = Program::parse("linear", Some(&json)).unwrap();
                let found = run(&program, &data, &layout);
                let what = format!("{rows} x {columns} in {slots}, {outputs} outputs");
                for (r, scores) in scores.iter().enumerate() {
                    for (k, score) in scores.iter().enumerate() {
                        assert_close(found.at(r, k), *score, 8.0 * columns as f64 + 20.0, columns, &what);
                    }
                }
                assert_eq!(program.plan(&layout).unwrap().depth, 1);
            }
        }
    }
}

#[test]
fn linear_scores_leave_zero_padding_and_can_be_summed() {
    let data = Data::new(100, 3);
    for layout in layouts(&data, 32) {
        let (json, scores) = linear_model(&data, 2, "");
        let linear = Program::parse("linear", Some(&json)).unwrap();
        let table = linear.run(&ClearEvaluator, &data.table(&layout, 2)).unwrap();
        assert!(table.columns().unwrap().zero_padding());
        let mean = read(&Program::Mean.run(&ClearEvaluator, &table).unwrap());
        for k in 0..2 {
            let expected = scores.iter().map(|s| s[k]).sum::<f64>() / 100.0;
            assert_close(mean.at(0, k), expected, 50.0, 100, "mean of scores");
        }
    }
}

#[test]
fn linear_model_picks_columns_by_name() {
    let data = Data::new(4, 3);
    let layout = data.layout(64).with_column_names(["a", "b", "c"].map(str::to_owned).to_vec()).unwrap();
    let json = r#"{"weights": [2, 3], "columns": ["c", 0], "outputs": ["risk"]}"#;
    let found = run(&Program::parse("linear", Some(json)).unwrap(), &data, &layout);
    assert_eq!(found.column_names, ["risk"]);
    for r in 0..4 {
        assert_close(found.at(r, 0), 2.0 * data.at(r, 2) + 3.0 * data.at(r, 0), 10.0, 3, "named columns");
    }
    let unknown = Program::parse("linear", Some(r#"{"weights": [1], "columns": ["d"]}"#)).unwrap();
    assert!(matches!(unknown.plan(&layout), Err(Error::Parameters { name: "column", .. })));
}

#[test]
fn logistic_probabilities_stay_within_their_error() {
    for (rows, columns, slots) in SHAPES {
        let data = Data::new(rows, columns);
        for layout in layouts(&data, slots) {
            for outputs in [1, 3] {
                let (json, scores) = linear_model(&data, outputs, ", \"interval\": 16, \"error\": 1e-6");
                let found = run(&Program::parse("logistic", Some(&json)).unwrap(), &data, &layout);
                assert!(found.error_bound() <= 1e-6 && found.out_of_range.is_empty());
                for (r, scores) in scores.iter().enumerate() {
                    for (k, score) in scores.iter().enumerate() {
                        assert!(score.abs() <= 16.0, "the test asks for more than the model promises");
                        assert!((found.at(r, k) - sigmoid(*score)).abs() <= found.errors[r * outputs + k]);
                    }
                }
            }
        }
    }
}

#[test]
fn logistic_plan_of_a_clinical_data_set() {
    let data = Data::new(285, 30);
    let (json, _) = linear_model(&data, 1, ", \"interval\": 32, \"degree\": 127");
    let plan = Program::parse("logistic", Some(&json)).unwrap().plan(&data.layout(8192)).unwrap();
    assert_eq!(plan.depth, 8);
    // 16 columns side by side: sums over 16 blocks of 512 rows, in two steps of three rotations each.
    assert_eq!(plan.rotations.keys().copied().collect::<Vec<_>>(), [1, 2, 3, 4, 8, 12].map(|d| d * 512));
    assert!(plan.rotations.values().all(|&depth| depth == 1), "rotations happen after the weights are multiplied");
    assert_eq!((plan.relinearization, plan.counts.plain_products), (Some(1), 2));
    assert!(plan.counts.products <= 27 && plan.counts.relinearizations <= 20, "{:?}", plan.counts);
}

#[test]
fn logistic_tells_when_scores_leave_the_interval() {
    let data = Data { rows: 3, columns: 1, entries: vec![1.0, 2.0, 16.0] };
    let json = r#"{"weights": [1], "interval": 8, "error": 1e-4}"#;
    let found = run(&Program::parse("logistic", Some(json)).unwrap(), &data, &data.layout(16));
    // The others share its ciphertext.
    assert_eq!(found.out_of_range, [(0, 0), (1, 0), (2, 0)]);
    assert!(found.errors.iter().all(|error| *error == f64::INFINITY));
    // Of two ciphertexts one is spoilt.
    let layout = TableLayout::with_geometry(3, 1, 2, 2).and_then(|layout| layout.with_exponents(vec![4])).unwrap();
    let found = run(&Program::parse("logistic", Some(json)).unwrap(), &data, &layout);
    assert_eq!(found.out_of_range, [(2, 0)]);
    assert!((found.values[1] - sigmoid(2.0)).abs() <= found.errors[1] && found.errors[1] < 2e-4);
    // Bounds that prove the interval: nothing goes along, and the result serves other programs.
    let data = Data { rows: 3, columns: 1, entries: vec![1.0, 2.0, -7.5] };
    let layout = data.layout(16);
    let program = Program::parse("logistic", Some(json)).unwrap();
    assert!(run(&program, &data, &layout).out_of_range.is_empty());
}

#[test]
fn polynomials_apply_to_every_entry() {
    for (rows, columns, slots) in SHAPES {
        let data = Data::new(rows, columns);
        for layout in layouts(&data, slots) {
            let value = |x: f64| 1.0 - 2.0 * x + 0.5 * x * x + 1e-3 * x * x * x;
            let top = data.entries.iter().fold(0.0_f64, |m, x| m.max(*x)) * 2.0;
            for interval in [String::new(), format!(", \"interval\": [0.0005, {top}]")] {
                let json = format!("{{\"coefficients\": [1, -2, 0.5, 0.001]{interval}}}");
                let program = Program::parse("polynomial", Some(&json)).unwrap();
                let found = run(&program, &data, &layout);
                let size = 1.0 + 2.0 * top + 0.5 * top * top + 1e-3 * top * top * top;
                for r in 0..rows {
                    for c in 0..columns {
                        assert_close(found.at(r, c), value(data.at(r, c)), 16.0 * size, 4, "polynomial");
                    }
                }
                assert!(found.out_of_range.is_empty());
                assert!((2..=3).contains(&program.plan(&layout).unwrap().depth));
            }
        }
    }
}

#[test]
fn polynomial_of_padding_stays_inside_the_interval() {
    let data = Data { rows: 3, columns: 1, entries: vec![100.0, 101.0, 102.0] };
    let json = r#"{"coefficients": [0, 0, 0, 0, 0, 0, 0, 1], "basis": "chebyshev", "interval": [100, 102]}"#;
    let program = Program::parse("polynomial", Some(json)).unwrap();
    for layout in layouts(&data, 16) {
        let result = program.run(&ClearEvaluator, &data.table(&layout, 4)).unwrap();
        assert!(result.ciphertexts().iter().flat_map(|v| v.values()).all(|x| x.abs() <= 1.0 + 1e-12));
        let found = read(&result);
        for (value, expected) in found.values.iter().zip([-1.0, 0.0, 1.0]) {
            assert_close(*value, expected, 100.0, 8, "T_7");
        }
    }
}

#[test]
fn chebyshev_models_without_interval_are_on_the_unit_interval() {
    let data = Data { rows: 2, columns: 1, entries: vec![0.5, -0.25] };
    let json = r#"{"coefficients": [0, 0, 1], "basis": "chebyshev"}"#;
    let program = Program::parse("polynomial", Some(json)).unwrap();
    let layout = TableLayout::new(2, 1, 8).unwrap();
    assert_eq!(program.plan(&layout).unwrap().depth, 2, "entries up to 1 need no map");
    let found = run(&program, &data, &layout);
    assert_eq!(found.values, [-0.5, -0.875]);
}

#[test]
fn programs_refuse_models_that_do_not_suit() {
    let layout = TableLayout::new(2, 2, 8).unwrap();
    for (name, json) in [
        ("median", None),
        ("sum", Some("{}")),
        ("linear", None),
        ("linear", Some("not json")),
        ("linear", Some(r#"{"weights": [1, 2], "colour": 3}"#)),
        ("logistic", Some(r#"{"weights": [1, 2]}"#)),
        ("logistic", Some(r#"{"weights": [1, 2], "interval": 8, "colour": 3}"#)),
        ("logistic", Some(r#"{"weights": [1, 2], "bias": 1, "bias": 2, "interval": 8}"#)),
        ("logistic", Some(r#"{"weights": [1, 2], "interval": 8, "interval": 9}"#)),
        ("variance", Some(r#"{"ddof": -1}"#)),
        ("polynomial", Some(r#"{"coefficients": [1], "basis": "sine"}"#)),
    ] {
        assert!(matches!(Program::parse(name, json), Err(Error::Parameters { .. })), "{name} {json:?}");
    }
    for (name, json) in [
        ("linear", r#"{"weights": [1]}"#),
        ("linear", r#"{"weights": []}"#),
        ("linear", r#"{"weights": [[1, 2], [3]]}"#),
        ("linear", r#"{"weights": [1, 2], "bias": [1, 2]}"#),
        ("linear", r#"{"weights": [1, 2], "scale": [1, 0]}"#),
        ("linear", r#"{"weights": [1, 2], "mean": [1]}"#),
        ("linear", r#"{"weights": [1, 2], "outputs": ["a", "b"]}"#),
        ("logistic", r#"{"weights": [1, 2], "interval": -3}"#),
        ("logistic", r#"{"weights": [1, 2], "interval": 8, "error": 1e-5, "degree": 7}"#),
        ("polynomial", r#"{"coefficients": []}"#),
        ("polynomial", r#"{"coefficients": [1, 2], "interval": [3, 3]}"#),
        ("inner-product", r#"{"pairs": []}"#),
        ("inner-product", r#"{"pairs": [[0, 2]]}"#),
    ] {
        let refused = Program::parse(name, Some(json)).and_then(|program| program.plan(&layout));
        assert!(refused.is_err(), "{name} {json}");
    }
}

#[test]
fn names_are_those_of_the_programs() {
    for name in Program::NAMES {
        let model = match name {
            "linear" => Some(r#"{"weights": [1]}"#),
            "logistic" => Some(r#"{"weights": [1], "interval": 4}"#),
            "polynomial" => Some(r#"{"coefficients": [1]}"#),
            _ => None,
        };
        assert_eq!(Program::parse(name, model).unwrap().name(), name);
    }
}

#[test]
fn polynomials_that_are_too_deep_are_refused_before_their_coefficients_are_worked_on() {
    let model = |degree: usize| format!("{{\"coefficients\": {:?}}}", vec![1.0; degree + 1]);
    let program = |degree| Program::parse("polynomial", Some(&model(degree))).unwrap();
    let data = Data::new(4, 2);
    let layout = data.layout(8);
    let result = program(200_000).run(&ClearEvaluator, &data.table(&layout, 10));
    assert!(matches!(result, Err(Error::LevelExhausted { needed: 18, left: 10 })), "{:?}", result.map(|_| ()));
    // Levels without end, as plans and bootstrapping have.
    assert!(matches!(program(200_000).plan(&layout), Err(Error::Parameters { name: "degree", .. })));
    assert!(program(1023).plan(&layout).is_ok());
}

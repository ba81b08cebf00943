//! Integers in slots: runs against the definition, and what is counted.

use super::*;
use crate::backends::bfv::BFV;
use crate::backends::bgv::BGV;
use crate::backends::table::Backends;
use crate::backends::tests::{all, plan, run, toy};
use crate::graph::interval::Interval;
use crate::graph::operation::{Binary, Reduction};
use crate::schemes::bgv::Bgv;

#[test]
fn sums_of_sums_are_counted_as_terms_of_one_another() {
    for shape in [vec![17, 5], vec![64]] {
        let mut graph = Graph::default();
        let (axes, count) = ((0..shape.len()).collect::<Vec<_>>(), shape.iter().product::<usize>() as f64);
        let range = Interval::new(-3.0, 3.0);
        let a = Operation::Input { name: "a".into(), shape, element: Element::Integer, range };
        let a = graph.push(a, "").expect("an input");
        let sum = graph.push(Operation::Reduce(Reduction::Sum, a, axes.clone()), "").expect("a sum");
        let difference = graph.push(Operation::Binary(Binary::Sub, a, sum), "").expect("a difference");
        let total = graph.push(Operation::Reduce(Reduction::Sum, difference, axes), "").expect("a sum");
        graph.finish(vec![total]).expect("an output");
        let graph = Arc::new(graph);
        let plan = IntegerPlan::search(&BGV, &graph, &toy("bgv")).expect("parameters").swap_remove(0);
        let terms = plan.on.recording.terms;
        assert!(terms.most >= count * (count + 1.0) && terms.before == 1.0, "{terms:?}");
        let values = vec![(0..count as usize).map(|i| (i % 7) as f64 - 3.0).collect::<Vec<f64>>()];
        let plan: Arc<dyn Plan> = Arc::new(plan);
        assert_eq!(run(&plan, &values).values, graph.evaluate(&values).expect("values"));
    }
}

#[test]
fn rows_that_are_computed_apart_lie_in_both_rows_of_slots() {
    let column = |rows: usize, low: f64| (0..3 * rows).map(|k| low + (k * k % 7) as f64).collect::<Vec<f64>>();
    for (rows, lanes) in [(1, 1), (100, 1), (128, 1), (129, 2), (511, 2), (1200, 2)] {
        let mut graph = Graph::default();
        let mut input = |name: &str, low: f64| {
            let (shape, range) = (vec![rows, 3], Interval::new(low, low + 6.0));
            let input = Operation::Input { name: name.into(), shape, element: Element::Integer, range };
            graph.push(input, "").expect("an input")
        };
        let (x, y) = (input("x", -3.0), input("y", 0.0));
        let sum = graph.push(Operation::Binary(Binary::Add, x, y), "").expect("a sum");
        let product = graph.push(Operation::Reduce(Reduction::Product, sum, vec![1]), "").expect("a product");
        let matrix = vec![1.0, 2.0, -1.0, 3.0, 0.0, 1.0];
        let mapped = graph.push(Operation::MatMul { of: x, columns: 2, matrix }, "").expect("a product");
        // Two columns of three repeat sooner than a row of slots.
        let positions = (0..rows as i64).flat_map(|row| [3 * row + 2, 3 * row]).collect();
        let moved = Operation::Gather { of: sum, shape: vec![rows, 2], positions };
        let moved = graph.push(moved, "").expect("a gather");
        let again = graph.push(Operation::Binary(Binary::Mul, moved, mapped), "").expect("a product");
        let positions = (0..rows as i64).map(|row| 2 * row + 1).collect();
        let last = Operation::Gather { of: again, shape: vec![rows, 1], positions };
        let last = graph.push(last, "").expect("a gather");
        graph.finish(vec![product, mapped, again, last]).expect("outputs");
        let graph = Arc::new(graph);
        let inputs = [column(rows, -3.0), column(rows, 0.0)];
        let expected = graph.evaluate(&inputs).expect("values");
        for scheme in ["bgv", "bfv"] {
            let plan = plan(&graph, &toy(scheme));
            assert_eq!(plan.record().lanes, lanes, "{scheme}, {rows} rows");
            let again = Backends::ALL.read(scheme, &graph, &plan.record()).expect("its own record");
            assert_eq!(run(&again, &inputs).values, expected, "{scheme}, {rows} rows");
            for other in [0, 3] {
                let record = Record { lanes: other, ..plan.record() };
                assert!(Backends::ALL.read(scheme, &graph, &record).is_err(), "{other} lanes");
            }
        }
    }
}

#[test]
fn plans_whose_modulus_does_not_hold_the_results_are_refused() {
    let sum = |high: f64| {
        let mut graph = Graph::default();
        let x = integers(&mut graph, "x", 4, [0.0, high]);
        let one = constant(&mut graph, 1.0);
        let above = push(&mut graph, Operation::Binary(Binary::Add, x, one));
        graph.finish(vec![above]).expect("an output");
        Arc::new(graph)
    };
    for scheme in ["bgv", "bfv"] {
        let record = plan(&sum(65_000.0), &toy(scheme)).record();
        assert!(Backends::ALL.read(scheme, &sum(60_000.0), &record).is_ok(), "{scheme}");
        let error = Backends::ALL.read(scheme, &sum(70_000.0), &record).expect_err("another modulus").to_string();
        assert!(error.contains("plaintext_modulus is 65537, it must be at least 70001"), "{scheme}: {error}");
    }
}

#[test]
fn ranges_as_wide_as_the_modulus_come_back_whole() {
    let mut graph = Graph::default();
    let x = integers(&mut graph, "x", 4, [0.0, 65_000.0]);
    let one = constant(&mut graph, 1.0);
    let above = push(&mut graph, Operation::Binary(Binary::Add, x, one));
    let below = push(&mut graph, Operation::Unary(Unary::Neg, x));
    graph.finish(vec![above, below]).expect("outputs");
    let graph = Arc::new(graph);
    let values = [vec![0.0, 1.0, 32_768.0, 65_000.0]];
    for scheme in ["bgv", "bfv"] {
        let plan = plan(&graph, &toy(scheme));
        assert!(plan.words().contains("t = 65537"), "{}", plan.words());
        assert_eq!(run(&plan, &values).values, graph.evaluate(&values).expect("values"), "{scheme}");
    }
}

#[test]
fn a_server_encodes_a_matrix_once() {
    let mut graph = Graph::default();
    let x = integers(&mut graph, "x", 8, [0.0, 9.0]);
    let matrix = (0..64).map(|k| f64::from(k % 7)).collect();
    let product = push(&mut graph, Operation::MatMul { of: x, columns: 8, matrix });
    graph.finish(vec![product]).expect("an output");
    let graph = Arc::new(graph);
    let plan = Arc::new(IntegerPlan::search(&BGV, &graph, &toy("bgv")).expect("parameters").swap_remove(0));
    let seed = |byte: u8| Seed::from_bytes([byte; 32]);
    let secret = plan.make_secret(&seed(1)).expect("a secret key");
    let keys = plan.make_server_keys(&secret, &seed(2)).expect("keys");
    let KeyFile { context, key } = keys.get::<KeyFile<EvaluationKeys>>(0).expect("a key");
    let ev = Evaluator::new(context, Arc::new(key.clone())).expect("keys");
    let server = IntegerServer { plan: Arc::clone(&plan), ev, kept: Kept::default() };
    for first in 0..3 {
        let values = [(0..8).map(|k| f64::from((first + k) % 10)).collect::<Vec<_>>()];
        let request = plan.encrypt(&secret, &all(&values), seed(3)).expect("inputs");
        let found = server.run(&request).and_then(|reply| plan.decrypt(&secret, &reply)).expect("outputs");
        assert_eq!(found.values, graph.evaluate(&values).expect("values"));
        assert_eq!(server.kept.count(), 1);
    }
}

/// A function of arrays of `rows` rows of a few columns, which computes rows apart.
fn of_rows(rows: usize, mut below: impl FnMut(usize) -> usize) -> Graph {
    let mut graph = Graph::default();
    for name in ["x", "y"] {
        let (shape, range) = (vec![rows, 1 + below(4)], Interval::new(-2.0, 3.0));
        let input = Operation::Input { name: name.into(), shape, element: Element::Integer, range };
        graph.push(input, "").expect("an input");
    }
    for _ in 0..5 {
        let (a, b) = (below(graph.nodes().len()), below(graph.nodes().len()));
        let columns = graph.node(a).shape[1..].iter().product::<usize>();
        let operation = match below(7) {
            0 | 1 => Operation::Binary([Binary::Add, Binary::Sub, Binary::Mul][below(3)], a, b),
            2 => {
                let columns = 1 + below(3);
                let count = graph.node(a).shape[graph.node(a).shape.len() - 1] * columns;
                let matrix = (0..count).map(|_| below(4) as f64 - 1.0).collect();
                Operation::MatMul { of: a, columns, matrix }
            }
            3 => Operation::Reduce([Reduction::Sum, Reduction::Product][below(2)], a, vec![1]),
            4 => {
                let values = (0..columns).map(|_| below(5) as f64 - 2.0).collect();
                let constant = Operation::Constant { shape: vec![columns], element: Element::Integer, values };
                let constant = graph.push(constant, "").expect("a constant");
                Operation::Binary([Binary::Add, Binary::Mul][below(2)], a, constant)
            }
            _ => {
                let places: Vec<i64> = (0..1 + below(4)).map(|_| below(columns + 1) as i64 - 1).collect();
                let place = |row: usize, at: i64| if at < 0 { -1 } else { (row * columns) as i64 + at };
                let positions = (0..rows).flat_map(|row| places.iter().map(move |&at| place(row, at))).collect();
                Operation::Gather { of: a, shape: vec![rows, places.len()], positions }
            }
        };
        // Shapes that do not fit are left out.
        let _ = graph.push(operation, "");
    }
    let is_array = |at: &usize| !matches!(graph.node(*at).operation, Operation::Constant { .. });
    let outputs: Vec<usize> = (2..graph.nodes().len()).filter(is_array).collect();
    graph.finish(if outputs.is_empty() { vec![0] } else { outputs }).expect("outputs");
    graph
}

#[test]
fn functions_of_rows_run_as_their_definition() {
    let mut state = 7_u64;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let (mut apart, mut done) = (0, 0);
    for case in 0..60 {
        let graph = Arc::new(of_rows([5, 150, 301, 700][below(4)], &mut below));
        let scheme = ["bgv", "bfv"][case % 2];
        let backend = Backends::ALL.named(scheme).expect("a backend");
        // Some do not fit a modulus.
        let Ok(mut plans) = Backends::ALL.plans_of(backend, &graph, &toy(scheme)) else { continue };
        let count = |&at: &usize| size(&graph.node(at).shape).expect("a size");
        let inputs: Vec<Vec<f64>> =
            graph.inputs().iter().map(|at| (0..count(at)).map(|_| below(6) as f64 - 2.0).collect()).collect();
        let plan = plans.swap_remove(below(plans.len()));
        assert_eq!(run(&plan, &inputs).values, graph.evaluate(&inputs).expect("values"), "{scheme}: {graph:?}");
        (apart, done) = (apart + usize::from(plan.record().lanes == 2), done + 1);
    }
    assert!(apart > 10 && done > 30, "{apart} of {done}");
}

fn integers(graph: &mut Graph, name: &str, count: usize, [low, high]: [f64; 2]) -> usize {
    let range = Interval::new(low, high);
    let input = Operation::Input { name: name.into(), shape: vec![count], element: Element::Integer, range };
    graph.push(input, "").expect("an input")
}

/// Checks a graph of the operation on `x` from 0 to 15 and `y` from -7 to 8 with both schemes, on all pairs of some numbers.
fn check(operation: impl Fn(&mut Graph, usize, usize) -> usize) {
    let (x, y): (Vec<f64>, Vec<f64>) = (0..256).map(|k| (f64::from(k % 16), f64::from(k / 16 - 7))).unzip();
    let mut graph = Graph::default();
    let (a, b) = (integers(&mut graph, "x", 256, [0.0, 15.0]), integers(&mut graph, "y", 256, [-7.0, 8.0]));
    let at = operation(&mut graph, a, b);
    graph.finish(vec![at]).expect("an output");
    let (graph, values) = (Arc::new(graph), vec![x, y]);
    let expected = graph.evaluate(&values).expect("values");
    for scheme in ["bgv", "bfv"] {
        let backend = Backends::ALL.named(scheme).expect("a scheme");
        assert!(backend.evaluates(&graph, at), "{graph:?}");
        let plan = Backends::ALL.plans_of(backend, &graph, &toy(scheme)).expect("a plan").swap_remove(0);
        assert_eq!(run(&plan, &values).values, expected, "{scheme}: {graph:?}");
    }
}

fn push(graph: &mut Graph, operation: Operation) -> usize {
    graph.push(operation, "").expect("an operation")
}

fn constant(graph: &mut Graph, number: f64) -> usize {
    push(graph, Operation::Constant { shape: vec![], element: Element::Integer, values: vec![number] })
}

#[test]
fn functions_of_few_integers_are_polynomials_modulo_t() {
    let table = |graph: &mut Graph, of: usize, first: i64| {
        let values = (0..32).map(|k| f64::from(k * k % 29 * 1000 - 7000)).collect();
        push(graph, Operation::Table { of, first, values, element: Element::Integer })
    };
    check(|graph, x, _| table(graph, x, 0));
    check(|graph, x, _| table(graph, x, -16));
    check(|graph, x, y| {
        let sum = push(graph, Operation::Binary(Binary::Mul, x, x));
        let inner = push(graph, Operation::Binary(Binary::Less, sum, y));
        let outer = table(graph, y, -7);
        push(graph, Operation::Select(inner, outer, x))
    });
    for kind in [Unary::Abs, Unary::Sign] {
        check(|graph, _, y| push(graph, Operation::Unary(kind, y)));
    }
    use Binary::{Equal, Greater, GreaterEqual, Less, LessEqual, Maximum, Minimum, NotEqual};
    for kind in [Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual, Minimum, Maximum] {
        check(|graph, x, y| push(graph, Operation::Binary(kind, x, y)));
    }
}

#[test]
fn remainders_of_outputs_are_those_of_the_modulus_or_of_the_client() {
    // Modulo a prime with slots, in every place; by another number, at the end.
    check(|graph, x, y| {
        let prime = constant(graph, 65537.0);
        (0..3).fold(push(graph, Operation::Binary(Binary::Mul, x, y)), |z, _| {
            let square = push(graph, Operation::Binary(Binary::Mul, z, z));
            let square = push(graph, Operation::Binary(Binary::Remainder, square, prime));
            let moved = push(graph, Operation::Binary(Binary::Add, square, y));
            push(graph, Operation::Binary(Binary::Remainder, moved, prime))
        })
    });
    check(|graph, x, _| {
        let (shape, values) = (vec![2, 1], vec![10.0; 2]);
        let tens = push(graph, Operation::Constant { shape, element: Element::Integer, values });
        push(graph, Operation::Binary(Binary::Remainder, x, tens))
    });
    check(|graph, x, y| {
        let sum = push(graph, Operation::Binary(Binary::Add, x, y));
        let ten = constant(graph, 10.0);
        let of = push(graph, Operation::Binary(Binary::Remainder, sum, ten));
        push(graph, Operation::Gather { of, shape: vec![3], positions: vec![255, -1, 17] })
    });
    check(|graph, x, y| {
        let (product, ten) = (push(graph, Operation::Binary(Binary::Mul, x, y)), constant(graph, 10.0));
        push(graph, Operation::Binary(Binary::Remainder, product, ten))
    });
}

#[test]
fn remainders_and_tables_that_slots_do_not_have_are_refused() {
    let refused = |operation: &dyn Fn(&mut Graph, usize) -> usize, words: &str| {
        let mut graph = Graph::default();
        let x = integers(&mut graph, "x", 4, [0.0, 300.0]);
        let at = operation(&mut graph, x);
        graph.finish(vec![at]).expect("an output");
        let error = IntegerPlan::search(&BGV, &Arc::new(graph), &toy("bgv")).map(|_| ()).expect_err("refused");
        assert!(error.to_string().contains(words), "{error}");
    };
    refused(&|graph, x| push(graph, Operation::Unary(Unary::Abs, x)), "functions of at most 256 integers, found 301");
    refused(
        &|graph, x| {
            let ten = constant(graph, 10.0);
            let digit = push(graph, Operation::Binary(Binary::Remainder, x, ten));
            push(graph, Operation::Binary(Binary::Mul, digit, digit))
        },
        "remainders by one number alone, of all outputs",
    );
}

/// Deep functions take rings of more slots than a field of 65537 has roots for.
#[test]
fn the_modulus_has_slots_in_the_ring_that_is_chosen() {
    let mut graph = Graph::default();
    let [mut z, y] = ["x", "y"].map(|name| integers(&mut graph, name, 4, [0.0, 1.0]));
    let one = constant(&mut graph, 1.0);
    for _ in 0..24 {
        let product = push(&mut graph, Operation::Binary(Binary::Mul, z, y));
        z = push(&mut graph, Operation::Binary(Binary::Sub, one, product));
    }
    graph.finish(vec![z]).expect("an output");
    let plans = IntegerPlan::search(&BGV, &Arc::new(graph), &Options::default()).expect("plans");
    for IntegerPlan { parameters, .. } in plans {
        assert!(parameters.degree() > 1 << 15 && parameters.has_slots(), "{parameters:?}");
    }
}

/// Strings are equal where all of their bytes are: differences of bytes are more integers than are tabulated.
#[test]
fn rows_of_many_integers_are_compared_for_equality() {
    let mut graph = Graph::default();
    let bytes = |graph: &mut Graph, name: &str| {
        let (shape, range) = (vec![4, 5], Interval::new(0.0, 255.0));
        let input = Operation::Input { name: name.into(), shape, element: Element::Integer, range };
        graph.push(input, "").expect("an input")
    };
    let (a, b) = (bytes(&mut graph, "a"), bytes(&mut graph, "b"));
    let equal = push(&mut graph, Operation::Binary(Binary::Equal, a, b));
    let all = push(&mut graph, Operation::Reduce(Reduction::Minimum, equal, vec![1]));
    let differ = push(&mut graph, Operation::Binary(Binary::NotEqual, a, b));
    let any = push(&mut graph, Operation::Reduce(Reduction::Maximum, differ, vec![1]));
    let anywhere = push(&mut graph, Operation::Reduce(Reduction::Maximum, differ, vec![0, 1]));
    graph.finish(vec![all, any, anywhere]).expect("outputs");
    let graph = Arc::new(graph);
    let strings: Vec<f64> = (0..20).map(|k| f64::from(k * 85 % 256)).collect();
    let others: Vec<f64> = strings.iter().enumerate().map(|(k, x)| if k % 7 == 3 { 255.0 - x } else { *x }).collect();
    for inputs in [[strings.clone(), others], [strings.clone(), strings]] {
        let expected = graph.evaluate(&inputs).expect("values");
        for scheme in ["bgv", "bfv"] {
            assert_eq!(run(&plan(&graph, &toy(scheme)), &inputs).values, expected, "{scheme}");
        }
    }
}

#[test]
fn numbers_whose_difference_may_be_a_multiple_of_the_modulus_are_not_compared() {
    let mut graph = Graph::default();
    let x = integers(&mut graph, "x", 4, [0.0, 60_000.0]);
    let sum = push(&mut graph, Operation::Binary(Binary::Add, x, x));
    let zero = constant(&mut graph, 0.0);
    let equal = push(&mut graph, Operation::Binary(Binary::Equal, sum, zero));
    graph.finish(vec![equal]).expect("an output");
    let graph = Arc::new(graph);
    let backend = Backends::ALL.named("bfv").expect("a backend");
    let error =
        Backends::ALL.plans_of(backend, &graph, &toy("bfv")).expect_err("up to 120000 modulo 65537").to_string();
    assert!(error.contains("below the modulus of results"), "{error}");
}

/// An operation on a node.
type Made<'a> = dyn Fn(&mut Graph, usize) -> usize + 'a;

/// Matrices, masks of gathers, sums of rotations, products of sums and tabulated functions, of one input of 3 x 3 integers.
fn of_every_kind() -> Vec<Graph> {
    let matrix = |k: usize| (0..9).map(|i| ((i * k + 2) % 7) as f64 - 3.0).collect::<Vec<_>>();
    let product = |graph: &mut Graph, of, k| push(graph, Operation::MatMul { of, columns: 3, matrix: matrix(k) });
    let operations: [&Made; 5] = [
        &|graph, x| {
            let first = product(graph, x, 4);
            product(graph, first, 5)
        },
        &|graph, x| {
            let matrix = vec![0.0, 3.0, -3.0, 3.0, -2.0, 3.0];
            let mapped = push(graph, Operation::MatMul { of: x, columns: 2, matrix });
            let differ = push(graph, Operation::Binary(Binary::NotEqual, mapped, mapped));
            let all = push(graph, Operation::Reduce(Reduction::Minimum, differ, vec![0]));
            let one = constant(graph, 1.0);
            let number = push(graph, Operation::Binary(Binary::Mul, all, one));
            push(graph, Operation::MatMul { of: number, columns: 2, matrix: vec![4.0, -3.0, 3.0, 3.0] })
        },
        &|graph, x| {
            let sum = push(graph, Operation::Reduce(Reduction::Sum, x, vec![0]));
            let square = push(graph, Operation::Binary(Binary::Mul, sum, x));
            let other = push(graph, Operation::Binary(Binary::Sub, square, x));
            push(graph, Operation::Binary(Binary::Mul, other, sum))
        },
        &|graph, x| {
            let turned = Operation::Gather { of: x, shape: vec![3, 3], positions: vec![0, 3, 6, 1, 4, 7, 2, 5, 8] };
            let turned = push(graph, turned);
            let mapped = product(graph, turned, 6);
            push(graph, Operation::Binary(Binary::Add, mapped, x))
        },
        &|graph, x| {
            let sign = push(graph, Operation::Unary(Unary::Sign, x));
            push(graph, Operation::Reduce(Reduction::Product, sign, vec![1]))
        },
    ];
    let made = operations.iter().map(|operation| {
        let mut graph = Graph::default();
        let range = Interval::new(-6.0, 7.0);
        let input = Operation::Input { name: "x".into(), shape: vec![3, 3], element: Element::Integer, range };
        let x = push(&mut graph, input);
        let output = operation(&mut graph, x);
        graph.finish(vec![output]).expect("an output");
        graph
    });
    made.collect()
}

fn check_model<S: Scheme>(backend: &'static Integers<S>) {
    let values = vec![(0..9).map(|k| f64::from(k * 5 % 14) - 6.0).collect::<Vec<_>>()];
    for (k, graph) in of_every_kind().into_iter().enumerate() {
        let graph = Arc::new(graph);
        let plan =
            Arc::new(IntegerPlan::search(backend, &graph, &toy(backend.name)).expect("parameters").swap_remove(0));
        let seed = |byte: u8| Seed::from_bytes([byte; 32]);
        let secret = plan.make_secret(&seed(1)).expect("a secret key");
        let keys = plan.make_server_keys(&secret, &seed(2)).expect("keys");
        let request = plan.encrypt(&secret, &all(&values), seed(3)).expect("inputs");
        let reply = Arc::clone(&plan).server(&keys).and_then(|server| server.run(&request)).expect("a reply");
        assert_eq!(plan.decrypt(&secret, &reply).expect("outputs").values, graph.evaluate(&values).expect("values"));

        let context = integers::Context::new(plan.parameters.clone()).expect("a context");
        let Ciphertexts(found) = Ciphertexts::<S>::from_bytes(&context, &reply[0]).expect("its own bytes");
        let model = NoiseModel::<S>::new(&context);
        let predicted =
            modelled(&plan.on.graph, &plan.on.recording, plan.on.approximations, &model).expect("no refusal");
        let parts: Vec<_> = predicted.iter().flat_map(|output| &output.parts).collect();
        assert_eq!(parts.len(), found.len());
        for (part, ciphertext) in parts.into_iter().zip(found) {
            let [predicted, noise] = [&part.state.noise, ciphertext.noise()].map(integers::Noise::log2_std);
            assert_eq!((part.state.limbs, predicted), (ciphertext.limbs(), noise), "{}, graph {k}", backend.name);
        }
        // The second graph rotates the results of deep polynomials.
        let least = plan.keys.rotations_at.iter().map(|&(_, limbs)| limbs).min();
        assert!(k != 1 || least.is_some_and(|least| least <= plan.parameters.max_limbs() / 2), "{:?}", plan.keys);
    }
}

#[test]
fn the_model_of_noise_says_what_ciphertexts_carry() {
    check_model(&BGV);
    check_model(&BFV);
}

/// Where one of the bounds of [`Requirements`](integers::Requirements) is not one, parameters grow until the model finds a budget.
#[test]
fn parameters_that_counts_take_for_enough_and_noise_does_not_are_not_chosen() {
    let graph = Arc::new(of_every_kind().swap_remove(1));
    let plan = IntegerPlan::search(&BGV, &graph, &toy("bgv")).expect("parameters").swap_remove(0);
    let (approximations, recording) = (plan.on.approximations, &plan.on.recording);
    let requirements = requirements(&graph, recording, plan.parameters.modulus().value(), Security::None);
    let counted = requirements.choose::<Bgv>().expect("parameters");
    assert!(carried::<Bgv>(&graph, recording, approximations, &plan.parameters).expect("no refusal").is_some());
    assert!(carried::<Bgv>(&graph, recording, approximations, &counted).expect("no refusal").is_none());
    assert!(plan.parameters.rlwe().log_q(plan.parameters.max_limbs()) > counted.rlwe().log_q(counted.max_limbs()));
}

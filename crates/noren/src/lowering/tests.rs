//! Graphs on slots in clear, against their definition.

use noren_rlwe::error::{Error, Result};

use crate::circuits::recorder::Recorder;
use crate::circuits::trace;
use crate::graph::dag::Graph;
use crate::graph::interval::Interval;
use crate::graph::operation::{Binary, Element, Function, Operation, Reduction, Unary};
use crate::graph::shape::{broadcast, indices, position_of, size};
use crate::graph::simplify::simplified;
use crate::graph::sparse::SparseMatrix;
use crate::lowering::decisions::{Decide, Decided};
use crate::lowering::nodes::{Approximations, Lowering, Output, Source};
use crate::lowering::recording::Recording;
use crate::lowering::value::View;
use crate::schemes::clear::{ClearEvaluator, ClearVector};
use crate::schemes::slots::SlotEvaluator;

/// Inputs in clear.
pub(super) struct Clear<'a> {
    pub(super) inputs: &'a [Vec<f64>],
    pub(super) nodes: Vec<usize>,
    pub(super) slots: usize,
}

impl Source<ClearVector> for Clear<'_> {
    fn view(&mut self, view: View) -> Result<Vec<ClearVector>> {
        let input = self.nodes.iter().position(|&node| node == view.free.input);
        let elements = &self.inputs[input.ok_or(Error::LevelExhausted { needed: 0, left: 0 })?];
        view.pack(elements, self.slots).into_iter().map(|slots| ClearVector::new(slots, 1 << 12)).collect()
    }
}

struct Built(Graph);

impl Built {
    fn new() -> Self {
        Self(Graph::default())
    }

    fn input(&mut self, shape: &[usize], low: f64, high: f64) -> usize {
        let (name, range) = (format!("x{}", self.0.nodes().len()), Interval::new(low, high));
        self.push(Operation::Input { name, shape: shape.to_vec(), element: Element::Real, range })
    }

    fn integers(&mut self, shape: &[usize], low: f64, high: f64) -> usize {
        let (name, range) = (format!("x{}", self.0.nodes().len()), Interval::new(low, high));
        self.push(Operation::Input { name, shape: shape.to_vec(), element: Element::Integer, range })
    }

    fn constant(&mut self, shape: &[usize], values: &[f64]) -> usize {
        self.push(Operation::Constant { shape: shape.to_vec(), element: Element::Real, values: values.to_vec() })
    }

    fn push(&mut self, operation: Operation) -> usize {
        self.0.push(operation, "here").expect("an operation")
    }

    /// None for results that are out of the range of integers.
    fn tried(&mut self, operation: Operation) -> Option<usize> {
        self.0.push(operation, "here").ok()
    }

    fn binary(&mut self, kind: Binary, a: usize, b: usize) -> usize {
        self.push(Operation::Binary(kind, a, b))
    }
}

const APPROXIMATIONS: Approximations = Approximations::of_reals(1e-4, Some(0.01));

/// Decisions in clear.
struct Signs;

impl Decide<ClearVector> for Signs {
    fn is_positive(&self, x: &ClearVector) -> Result<Decided<ClearVector>> {
        let signs = x.values().iter().map(|&x| f64::from(u8::from(x > 0.0))).collect();
        Ok(Decided { result: ClearVector::new(signs, 1 << 12)?, dead_zone: 1e-3 })
    }
}

/// Runs a graph with this many slots on numbers of the ranges of its inputs, and compares all outputs with the definition.
fn check(built: Built, outputs: &[usize], slots: usize, tolerance: f64) {
    compare(built, outputs, slots, tolerance).expect("a run");
}

/// As [`check`], with the error of graphs that are refused.
fn compare(built: Built, outputs: &[usize], slots: usize, tolerance: f64) -> Result<()> {
    compare_decided(built, outputs, slots, tolerance, None)
}

/// As [`compare`], with comparisons that are decided, or not.
fn compare_decided(
    built: Built,
    outputs: &[usize],
    slots: usize,
    tolerance: f64,
    decider: Option<&dyn Decide<ClearVector>>,
) -> Result<()> {
    let mut graph = built.0;
    graph.finish(outputs.to_vec()).expect("outputs");
    let simple = simplified(&graph).expect("a graph");
    let nodes = graph.inputs();
    let number = |low: f64, high: f64, i: usize| {
        let number = low + (high - low) * ((i * 37 + 11) % 101) as f64 / 100.0;
        if tolerance == 0.0 { number.round() } else { number }
    };
    let inputs: Vec<Vec<f64>> = nodes
        .iter()
        .map(|&at| {
            let node = graph.node(at);
            (0..size(&node.shape).unwrap_or(0)).map(|i| number(node.range.low, node.range.high, i + at)).collect()
        })
        .collect();
    let expected = graph.evaluate(&inputs).expect("values");
    let mut source = Clear { inputs: &inputs, nodes, slots };
    let lowering = Lowering::new(&ClearEvaluator, &simple, slots, APPROXIMATIONS, &mut source);
    let found = lowering.with_decider(decider).run(|_, _, _| {})?;
    for ((output, expected), at) in found.iter().zip(&expected).zip(graph.outputs()) {
        let values = read(output, &graph.node(*at).shape, slots);
        for (position, (value, expected)) in values.iter().zip(expected).enumerate() {
            assert!((value - expected).abs() <= tolerance, "{slots} slots, element {position}: {value} for {expected}");
        }
        assert_eq!(values.len(), expected.len());
        assert_eq!(output.parts.len(), output.layout.parts(slots), "{slots} slots: {:?}", output.layout);
        if tolerance == 0.0 {
            check_all_slots(output, &graph.node(*at).shape, expected, slots);
        }
    }
    Ok(())
}

pub(super) fn read(output: &Output<ClearVector>, shape: &[usize], slots: usize) -> Vec<f64> {
    let value = |index: Vec<usize>| {
        let address = output.layout.address(&index);
        output.parts[address / slots].values()[address % slots]
    };
    indices(shape).map(value).collect()
}

/// Checks the slots of a value against its layout: copies and zeros, and the period.
fn check_all_slots(output: &Output<ClearVector>, shape: &[usize], expected: &[f64], slots: usize) {
    let Output { parts, layout } = output;
    let known = layout.is_known();
    for (address, index) in layout.elements(shape.len()).enumerate().take(parts.len() * slots) {
        let found = parts[address / slots].values()[address % slots];
        match index {
            Some(index) => assert_eq!(found, expected[position_of(&index, shape)], "{address} of {layout:?}"),
            None => assert!(!known || found == 0.0, "{address} of {layout:?}: {found}"),
        }
    }
    for part in parts {
        let period = ClearEvaluator.period(part);
        assert!(period <= layout.period(), "{layout:?}: {:?}", part.values());
    }
}

/// Slots from one ciphertext for everything to several for each array.
const SLOTS: [usize; 4] = [256, 64, 16, 4];

#[test]
fn tables_times_vectors_and_matrices_are_their_products() {
    for slots in SLOTS {
        for (rows, columns, outputs) in
            [(5, 3, 1), (5, 3, 2), (4, 8, 3), (9, 2, 4), (3, 4, 4), (2, 3, 6), (3, 4, 30), (1, 3, 70)]
        {
            let mut built = Built::new();
            let x = built.input(&[rows, columns], -1.0, 2.0);
            let matrix = (0..columns * outputs).map(|i| ((i * 7) % 5) as f64 - 2.0).collect();
            let product = built.push(Operation::MatMul { of: x, columns: outputs, matrix });
            let bias: Vec<f64> = (0..outputs).map(|k| k as f64 / 2.0).collect();
            let bias = built.constant(&[outputs], &bias);
            let scores = built.binary(Binary::Add, product, bias);
            check(built, &[product, scores], slots, 1e-9);
        }
    }
}

#[test]
fn chains_of_matrices_stay_in_slots() {
    for (slots, sizes) in [(256, [5, 7, 3]), (16, [4, 16, 2]), (8, [8, 2, 5]), (8, [4, 30, 3])] {
        let mut built = Built::new();
        let x = built.input(&[sizes[0]], -1.0, 1.0);
        let matrix = |n: usize, m: usize| (0..n * m).map(|i| ((i * 11) % 7) as f64 / 7.0 - 0.4).collect::<Vec<f64>>();
        let hidden = built.push(Operation::MatMul { of: x, columns: sizes[1], matrix: matrix(sizes[0], sizes[1]) });
        let bias = built.constant(&[sizes[1]], &vec![0.1; sizes[1]]);
        let hidden = built.binary(Binary::Add, hidden, bias);
        let squares = built.binary(Binary::Mul, hidden, hidden);
        let out = built.push(Operation::MatMul { of: squares, columns: sizes[2], matrix: matrix(sizes[1], sizes[2]) });
        check(built, &[hidden, out], slots, 1e-9);
    }
}

/// A few blocks of two entries each, and an empty row and column where there are several.
fn sparse(rows: usize, columns: usize) -> SparseMatrix {
    let patterns = vec![vec![[2, 1, 1]], vec![]];
    let block = |k: usize| match rows.min(columns) {
        1 => [1, (k * 5 % rows) as u32, (k * 3 % columns) as u32],
        _ => [0, (k * 5 % (rows - 1)) as u32, (k * 3 % (columns - 1)) as u32],
    };
    let blocks: Vec<[u32; 3]> = (0..rows.max(columns) / 2 + 1).map(block).collect();
    let values = (0..blocks.len()).map(|k| (k * 7 % 5) as f64 - 1.5).collect();
    SparseMatrix { patterns, blocks, values }
}

#[test]
fn sparse_matrices_multiply_rows_of_any_layout() {
    for (slots, sizes) in
        [(256, [1, 5, 7, 3]), (64, [3, 16, 16, 4]), (16, [1, 32, 8, 32]), (8, [2, 1, 4, 1]), (8, [9, 4, 2, 6])]
    {
        let [count, first, second, third] = sizes;
        let mut built = Built::new();
        let x = built.input(&[count, first], -1.0, 2.0);
        let hidden = built.push(Operation::Sparse { of: x, columns: second, matrix: sparse(first, second) });
        let squares = built.binary(Binary::Mul, hidden, hidden);
        let out = built.push(Operation::Sparse { of: squares, columns: third, matrix: sparse(second, third) });
        let nothing = built.push(Operation::Sparse { of: squares, columns: third, matrix: SparseMatrix::default() });
        check(built, &[hidden, out, nothing], slots, 1e-9);
    }
}

#[test]
fn sparse_matrices_cost_the_diagonals_that_are_not_zero() {
    // A convolution of 3 x 3 in four channels of 8 x 8, as numbers in order: 9 distances of pixels by 4 of channels.
    let inner = |k: i32| if k < 0 { (1, 7) } else { (0, 8 - k) };
    let (mut patterns, mut blocks) = (Vec::new(), Vec::new());
    for (y, x) in (-1..2).flat_map(|y| (-1..2).map(move |x| (y, x))) {
        let ((first_y, height), (first_x, width)) = (inner(y), inner(x));
        let [from, to] = [(first_y + y) * 8 + first_x + x, first_y * 8 + first_x].map(|at| at as u32);
        let pattern = patterns.len() as u32;
        patterns.push(vec![[height as u32, 8, 8], [width as u32, 1, 1]]);
        blocks.extend((0..16).map(|pair| [pattern, from + 64 * (pair / 4), to + 64 * (pair % 4)]));
    }
    let matrix = SparseMatrix { values: (0..blocks.len()).map(|k| 0.5 - (k % 7) as f64).collect(), patterns, blocks };
    let mut built = Built::new();
    let x = built.input(&[1, 256], -1.0, 1.0);
    let product = built.push(Operation::Sparse { of: x, columns: 256, matrix });
    let mut graph = built.0.clone();
    graph.finish(vec![product]).expect("outputs");
    let recording = Recording::new::<f64>(&graph, 256, APPROXIMATIONS).expect("a run");
    assert_eq!(recording.usage.counts.plain_products, 36);
    assert!(recording.usage.counts.rotations <= 11, "{:?}", recording.usage.counts);
    check(built, &[product], 256, 1e-9);
}

#[test]
fn sums_products_and_extremes_run_along_any_axes() {
    for slots in SLOTS {
        for axes in [vec![0], vec![1], vec![2], vec![0, 2], vec![0, 1, 2]] {
            for (kind, tolerance) in [
                (Reduction::Sum, 1e-9),
                (Reduction::Product, 1e-6),
                (Reduction::Maximum, 2e-3),
                (Reduction::Minimum, 2e-3),
            ] {
                let extreme = matches!(kind, Reduction::Maximum | Reduction::Minimum);
                if extreme && (slots != 16 || axes.len() > 2) {
                    continue;
                }
                let mut built = Built::new();
                let x = built.input(&[3, 4, 5], -1.0, 1.5);
                let reduced = built.push(Operation::Reduce(kind, x, axes.clone()));
                check(built, &[reduced], slots, tolerance);
            }
        }
    }
}

#[test]
fn variances_broadcast_the_mean_back() {
    for (slots, low) in [(64, -1.0), (64, 0.5), (8, -1.0), (8, 0.5)] {
        for shape in [[4, 4], [5, 3], [16, 2], [3, 1]] {
            for axis in [0, 1] {
                if shape[axis] == 1 {
                    continue;
                }
                let mut built = Built::new();
                let x = built.input(&shape, low, 2.0);
                let sum = built.push(Operation::Reduce(Reduction::Sum, x, vec![axis]));
                let part = built.constant(&[], &[1.0 / shape[axis] as f64]);
                let mean = built.binary(Binary::Mul, sum, part);
                let mut extents = shape;
                extents[axis] = 1;
                let positions = (0..(shape[0] * shape[1] / shape[axis]) as i64).collect();
                let column = built.push(Operation::Gather { of: mean, shape: extents.to_vec(), positions });
                let centred = built.binary(Binary::Sub, x, column);
                let squares = built.binary(Binary::Mul, centred, centred);
                let sum = built.push(Operation::Reduce(Reduction::Sum, squares, vec![axis]));
                let variance = built.binary(Binary::Mul, sum, part);
                check(built, &[mean, variance], slots, 1e-9);
            }
        }
    }
}

#[test]
fn inputs_are_brought_beside_each_other() {
    for slots in SLOTS {
        let mut built = Built::new();
        let table = built.input(&[5, 3], -1.0, 1.0);
        let record = built.input(&[3], -1.0, 1.0);
        let column = built.input(&[5, 1], -1.0, 1.0);
        let number = built.input(&[], -1.0, 1.0);
        let difference = built.binary(Binary::Sub, table, record);
        let squares = built.binary(Binary::Mul, difference, difference);
        let distances = built.push(Operation::Reduce(Reduction::Sum, squares, vec![1]));
        let product = built.binary(Binary::Mul, table, column);
        let shifted = built.binary(Binary::Add, product, number);
        let outer = built.binary(Binary::Mul, column, record);
        check(built, &[distances, shifted, outer], slots, 1e-9);
    }
}

#[test]
fn elements_are_gathered_in_any_order() {
    for slots in SLOTS {
        let mut built = Built::new();
        let x = built.input(&[3, 4], -1.0, 1.0);
        let squares = built.binary(Binary::Mul, x, x);
        let transposed = (0..12).map(|i| i % 3 * 4 + i / 3).collect();
        let gathers: Vec<(Vec<usize>, Vec<i64>)> = vec![
            (vec![4, 3], transposed),
            (vec![12], (0..12).collect()),
            (vec![12], (0..12).rev().collect()),
            (vec![4], vec![4, 5, 6, 7]),
            (vec![3], vec![1, 5, 9]),
            (vec![2, 2], vec![5, 6, 9, 10]),
            (vec![5], vec![11, -1, 0, 3, 3]),
            (vec![2, 3], vec![0, 4, 8, 0, 4, 8]),
            (vec![3, 7], (0..21).map(|i| if i % 5 == 4 { -1 } else { i * 7 % 12 }).collect()),
            (vec![11], [vec![-1; 8], vec![2, 3, 2]].concat()),
        ];
        let mut outputs = Vec::new();
        for (shape, positions) in gathers {
            let of = built.push(Operation::Gather { of: squares, shape: shape.clone(), positions: positions.clone() });
            let of_input = built.push(Operation::Gather { of: x, shape, positions });
            let product = built.binary(Binary::Mul, of, of_input);
            outputs.extend([of, of_input, product]);
        }
        check(built, &outputs, slots, 1e-9);
    }
}

#[test]
fn functions_are_within_their_error() {
    for slots in [64, 4] {
        let mut built = Built::new();
        let x = built.input(&[5], 0.5, 2.0);
        let mut outputs = Vec::new();
        for name in
            [Function::Exp, Function::Log, Function::Sqrt, Function::Reciprocal, Function::Tanh, Function::Sigmoid]
        {
            outputs.push(built.push(Operation::Function { name, of: x, error: 1e-6 }));
        }
        let weights = vec![0.3, -0.2, 0.4, 0.1, 0.25];
        let score = built.push(Operation::MatMul { of: x, columns: 1, matrix: weights });
        outputs.push(built.push(Operation::Function { name: Function::Sigmoid, of: score, error: 1e-6 }));
        let one = built.constant(&[], &[1.0]);
        let above = built.push(Operation::Unary(Unary::Abs, score));
        let positive = built.binary(Binary::Add, above, one);
        outputs.push(built.push(Operation::Function { name: Function::Reciprocal, of: positive, error: 1e-5 }));
        check(built, &outputs, slots, 3e-4);
    }
}

#[test]
fn comparisons_choose_between_numbers() {
    let mut built = Built::new();
    let x = built.input(&[7], -2.0, 3.0);
    let zero = built.constant(&[], &[0.005]);
    let relu = built.binary(Binary::Maximum, x, zero);
    let least = built.binary(Binary::Minimum, x, zero);
    let size = built.push(Operation::Unary(Unary::Abs, x));
    let above = built.binary(Binary::Greater, x, zero);
    let below = built.binary(Binary::Less, x, zero);
    let squares = built.binary(Binary::Mul, x, x);
    let chosen = built.push(Operation::Select(above, squares, x));
    let sign = built.push(Operation::Unary(Unary::Sign, x));
    check(built, &[relu, least, size, above, below, chosen, sign], 16, 2e-3);
}

#[test]
fn a_linear_model_costs_what_its_sums_cost() {
    let mut built = Built::new();
    let x = built.input(&[100, 8], -1.0, 1.0);
    let scores = built.push(Operation::MatMul { of: x, columns: 1, matrix: vec![0.5; 8] });
    let mut graph = built.0;
    graph.finish(vec![scores]).expect("outputs");
    /// Blanks.
    struct Blanks<'a>(&'a Recorder, usize);
    impl Source<crate::circuits::recorder::Blank> for Blanks<'_> {
        fn view(&mut self, view: View) -> Result<Vec<crate::circuits::recorder::Blank>> {
            Ok(vec![self.0.fresh(self.1); view.layout.parts(self.1)])
        }
    }
    let recorder = Recorder::new();
    let mut source = Blanks(&recorder, 1024);
    Lowering::new(&recorder, &graph, 1024, APPROXIMATIONS, &mut source).run(|_, _, _| {}).expect("a run");
    let usage = recorder.usage();
    let rotations = trace::rotations(8, 128).len();
    assert_eq!((usage.depth, usage.counts.plain_products, usage.rotations.len()), (1, 1, rotations));
}

/// The positions of the elements with these indices along an axis.
fn taken(shape: &[usize], axis: usize, from: usize, count: usize) -> (Vec<usize>, Vec<i64>) {
    let mut part = shape.to_vec();
    part[axis] = count;
    let at = |mut index: Vec<usize>| {
        index[axis] += from;
        position_of(&index, shape) as i64
    };
    let positions = indices(&part).map(at).collect();
    (part, positions)
}

#[test]
fn slices_of_results_over_several_ciphertexts_broadcast_back() {
    for slots in SLOTS {
        for shape in [vec![40], vec![9, 3], vec![3, 9], vec![17, 1], vec![5, 5, 3]] {
            for axis in 0..shape.len() {
                let mut built = Built::new();
                let x = built.input(&shape, -1.0, 1.0);
                let squares = built.binary(Binary::Mul, x, x);
                let (part, positions) = taken(&shape, axis, 0, 1);
                let first = built.push(Operation::Gather { of: squares, shape: part, positions });
                let difference = built.binary(Binary::Sub, squares, first);
                let beside = built.binary(Binary::Mul, first, x);
                check(built, &[difference, first, beside], slots, 1e-9);
            }
            let mut built = Built::new();
            let x = built.input(&shape, -1.0, 1.0);
            let squares = built.binary(Binary::Mul, x, x);
            let first = built.push(Operation::Gather { of: squares, shape: vec![], positions: vec![0] });
            let difference = built.binary(Binary::Sub, squares, first);
            check(built, &[difference, first], slots, 1e-9);
        }
    }
}

#[test]
fn every_result_has_the_ciphertexts_of_its_layout() {
    for slots in SLOTS {
        for rows in [5, 9, 17, 33, 40] {
            let mut built = Built::new();
            let x = built.input(&[rows, 2], -1.0, 1.0);
            let squares = built.binary(Binary::Mul, x, x);
            let scores = built.push(Operation::MatMul { of: x, columns: 1, matrix: vec![0.5, 0.2] });
            let (shape, positions) = (vec![rows], (0..rows as i64).collect());
            let scores = built.push(Operation::Gather { of: scores, shape, positions });
            let sums = built.push(Operation::Reduce(Reduction::Sum, squares, vec![1]));
            let products = built.push(Operation::Reduce(Reduction::Product, x, vec![1]));
            let function = built.push(Operation::Function { name: Function::Sigmoid, of: scores, error: 1e-5 });
            let (shape, positions) = taken(&[rows, 2], 0, 0, rows / 2);
            let half = built.push(Operation::Gather { of: squares, shape, positions });
            check(built, &[scores, sums, products, function, half], slots, 1e-4);
        }
    }
}

/// Numbers below limits, in an order that looks random.
struct Choice(u64);

impl Choice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    /// A graph of a few operations on integers, which are exact, and all of its results.
    fn graph(&mut self) -> (Built, Vec<usize>) {
        let mut built = Built::new();
        // Two extents, so that axes of one graph are often of one length.
        let extents = [(); 2].map(|()| [1, 2, 3, 4, 5, 7, 9, 17][self.below(8)]);
        let shape: Vec<usize> = (0..=self.below(3)).map(|_| extents[self.below(2)]).collect();
        let low = [-1.0, 1.0][self.below(2)];
        let mut results = vec![built.integers(&shape, low, 3.0), built.integers(&shape, -1.0, 1.0)];
        for _ in 0..3 + self.below(4) {
            let of = results[self.below(results.len())];
            if let Some(result) = self.operation(&mut built, of, &results) {
                if built.0.node(result).range.magnitude() > 1e9 {
                    break;
                }
                results.push(result);
            }
        }
        (built, results)
    }

    fn operation(&mut self, built: &mut Built, of: usize, results: &[usize]) -> Option<usize> {
        let shape = built.0.node(of).shape.clone();
        let kind = [Binary::Add, Binary::Sub, Binary::Mul][self.below(3)];
        let choice = self.below(9);
        if choice < 3 {
            let fits = |&other: &usize| broadcast(&shape, &built.0.node(other).shape).is_some();
            let fitting: Vec<usize> = results.iter().copied().filter(fits).collect();
            return built.tried(Operation::Binary(kind, of, fitting[self.below(fitting.len())]));
        }
        let axis = self.below(shape.len().max(1));
        let extent = *shape.get(axis)?;
        match choice {
            3 | 4 => {
                let from = [0, self.below(extent)][self.below(2)];
                let count = [1, 1 + self.below(extent - from)][self.below(2)];
                let (mut part, positions) = taken(&shape, axis, from, count);
                if count == 1 && self.below(2) == 0 {
                    part.remove(axis);
                }
                built.tried(Operation::Gather { of, shape: part, positions })
            }
            5 => {
                let reduction = [Reduction::Sum, Reduction::Sum, Reduction::Product][self.below(3)];
                let reduced = built.tried(Operation::Reduce(reduction, of, vec![axis]))?;
                let mut kept = shape;
                kept[axis] = 1;
                let positions = (0..size(&kept)? as i64).collect();
                built.tried(Operation::Gather { of: reduced, shape: kept, positions })
            }
            6 => built.tried(Operation::Reduce(Reduction::Sum, of, vec![axis])),
            7 => {
                let (rows, columns) = (*shape.last()?, 1 + self.below(3));
                let matrix = (0..rows * columns).map(|_| self.below(4) as f64 - 1.0).collect();
                built.tried(Operation::MatMul { of, columns, matrix })
            }
            _ => {
                let own = if self.below(2) == 0 { vec![] } else { shape[axis..].to_vec() };
                let values: Vec<f64> = (0..size(&own)?).map(|_| self.below(4) as f64 - 1.0).collect();
                let constant = Operation::Constant { shape: own, element: Element::Integer, values };
                let constant = built.tried(constant)?;
                built.tried(Operation::Binary(kind, of, constant))
            }
        }
    }
}

#[test]
fn results_are_right_or_refused() {
    let mut choice = Choice(1);
    let (mut refused, count) = (0, 4000);
    for _ in 0..count {
        let slots = [2, 4, 8, 16, 64][choice.below(5)];
        let (built, outputs) = choice.graph();
        match compare(built, &outputs, slots, 0.0) {
            Ok(()) => {}
            Err(error) => {
                assert!(error.to_string().contains("this scheme does not evaluate"), "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused < count / 100, "{refused} of {count} refused");
}

/// Elements of one axis lie in a ciphertext, whatever lies beside them: sums leave garbage there, and padding holds zeros.
#[test]
fn elements_are_sorted_and_the_place_of_the_largest_is_found_along_any_axis() {
    let (mut refused, mut count) = (0, 0);
    for slots in SLOTS {
        for shape in [vec![1], vec![2], vec![7], vec![16], vec![3, 5], vec![6, 2], vec![2, 3, 3]] {
            for axis in 0..shape.len() {
                let mut built = Built::new();
                let x = built.input(&shape, 0.25, 1.0);
                let wide = built.input(&[&shape[..], &[3]].concat(), -1.0, 0.5);
                let sums = built.push(Operation::Reduce(Reduction::Sum, wide, vec![shape.len()]));
                let mut outputs = Vec::new();
                for of in [x, sums] {
                    let sorted = built.push(Operation::Sort(of, axis));
                    outputs.extend([sorted, built.push(Operation::ArgMax(of, axis))]);
                    // Later operations find the elements where they are.
                    outputs.push(built.binary(Binary::Mul, sorted, of));
                    outputs.push(built.push(Operation::Reduce(Reduction::Sum, sorted, vec![axis])));
                }
                count += 1;
                if let Err(error) = compare_decided(built, &outputs, slots, 1e-9, Some(&Signs)) {
                    let message = error.to_string();
                    assert!(message.contains("apply it to smaller arrays"), "{shape:?} in {slots}: {message}");
                    assert!(slots < 64, "{shape:?} in {slots}: {message}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused < count / 2, "{refused} of {count} refused");
}

#[test]
fn elements_are_sorted_by_approximate_signs_too_and_places_are_decided() {
    let mut built = Built::new();
    let x = built.input(&[5], -1.0, 1.0);
    let sorted = built.push(Operation::Sort(x, 0));
    check(built, &[sorted], 16, 1e-2);
    let mut built = Built::new();
    let x = built.input(&[5], -1.0, 1.0);
    let place = built.push(Operation::ArgMax(x, 0));
    let message = compare(built, &[place], 16, 0.0).expect_err("no decisions").to_string();
    assert!(message.contains("does not evaluate argmax"), "{message}");
}

//! The costs of operations are those of the documentation.

use noren::radix::exchanges;
use noren::radix::{Comparison, Move, Operation, Shape};

/// The operations of the table in `docs/tfhe.md`, as it calls them.
const ROWS: [(&str, Operation); 20] = [
    ("add, sub", Operation::Sub),
    ("neg", Operation::Neg),
    ("add a known number", Operation::AddKnown(1)),
    ("mul", Operation::Mul),
    ("mul by 10", Operation::MulKnown(10)),
    ("sum of 8", Operation::Sum(8)),
    ("div with remainder", Operation::DivRem),
    ("the same, signed, rounded down", Operation::DivRemSigned),
    ("lt, le, gt, ge", Operation::Compare(Comparison::Lt)),
    ("the same, signed", Operation::CompareSigned(Comparison::Lt)),
    ("eq, ne", Operation::Compare(Comparison::Eq)),
    ("min, max", Operation::Max),
    ("argmax of 8", Operation::Argmax(8)),
    ("sort of 8", Operation::Sort(8)),
    ("sort of 8, signed", Operation::SortSigned(8)),
    ("select", Operation::Select),
    ("and, or, xor", Operation::And),
    ("shift by a known odd number", Operation::MoveKnown(Move::ShiftLeft, 1)),
    ("shift by an encrypted number", Operation::Move(Move::ShiftLeft)),
    ("the same, to the right, signed", Operation::Move(Move::ShiftRightSigned)),
];

#[test]
fn the_documentation_lists_the_costs() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tfhe.md");
    let text = std::fs::read_to_string(path).expect("the documentation");
    let rows: Vec<String> = ROWS.iter().map(|(name, operation)| row(name, *operation)).collect();
    let missing: Vec<&String> = rows.iter().filter(|row| !text.contains(row.as_str())).collect();
    assert!(missing.is_empty(), "docs/tfhe.md lacks\n{}", rows.join("\n"));
}

fn row(name: &str, operation: Operation) -> String {
    let cost = |bits, shape| operation.cost(bits, shape).expect("a width");
    let costs = [8, 16, 32, 64].map(|bits| {
        let (flat, lean) = (cost(bits, Shape::Flat), cost(bits, Shape::Lean));
        let flat_text = format!("{} / {}", flat.bootstraps, flat.rounds);
        if flat == lean { flat_text } else { format!("{flat_text}; {} / {}", lean.bootstraps, lean.rounds) }
    });
    format!("| {name} | {} |", costs.join(" | "))
}

#[test]
fn free_operations_have_no_bootstraps() {
    let masks = [0, 0xff, 0xfc30].map(Operation::AndKnown);
    let moves = [Operation::MoveKnown(Move::RotateLeft, 6), Operation::Cast(8)];
    for operation in [Operation::Not, Operation::Sum(1)].into_iter().chain(moves).chain(masks) {
        let cost = operation.cost(16, Shape::Flat).expect("a width");
        assert_eq!((cost.bootstraps, cost.rounds), (0, 0), "{operation:?}");
    }
}

#[test]
fn sorting_costs_the_exchanges_of_its_network() {
    for (bits, count, layers) in [(8, 2, 1), (16, 2, 1), (32, 4, 3), (8, 5, 6), (8, 8, 6)] {
        let exchanges = exchanges(count);
        assert_eq!(exchanges.iter().filter(|layer| !layer.is_empty()).count(), layers);
        let number: usize = exchanges.iter().map(Vec::len).sum();
        for (sort, exchange) in
            [(Operation::Sort(count), Operation::Exchange), (Operation::SortSigned(count), Operation::ExchangeSigned)]
        {
            let [sort, exchange] =
                [sort, exchange].map(|operation| operation.cost(bits, Shape::Lean).expect("a width"));
            // The operands of the first exchanges have less noise, which comparisons use.
            assert!(sort.bootstraps >= number * exchange.bootstraps, "{count} of {bits} bits");
            assert!(sort.bootstraps <= 2 * number * exchange.bootstraps, "{count} of {bits} bits");
            assert!(sort.rounds >= layers * exchange.rounds);
            assert!(count > 2 || sort == exchange, "one exchange");
        }
    }
    let one = Operation::Sort(1).cost(8, Shape::Lean).expect("a width");
    assert_eq!((one.bootstraps, one.rounds), (0, 0));
    assert!(Operation::Sort(0).cost(8, Shape::Lean).is_err());
}

#[test]
fn circuits_of_few_bootstraps_have_no_more_of_them() {
    for (name, operation) in ROWS {
        for bits in (4..=64).step_by(2) {
            let [flat, lean] = [Shape::Flat, Shape::Lean].map(|shape| operation.cost(bits, shape).expect("a width"));
            assert!(lean.bootstraps <= flat.bootstraps, "{name} of {bits} bits: {lean:?} and {flat:?}");
        }
    }
}

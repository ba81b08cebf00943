//! What operations cost is what the documentation says.

use noren::circuits::radix::{Comparison, Move, Operation, Shape};

/// The operations of the table in `docs/tfhe.md`, as it calls them.
const ROWS: [(&str, Operation); 18] = [
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
    for operation in [Operation::Not, Operation::MoveKnown(Move::RotateLeft, 6), Operation::Cast(8), Operation::Sum(1)]
    {
        let cost = operation.cost(16, Shape::Flat).expect("a width");
        assert_eq!((cost.bootstraps, cost.rounds), (0, 0), "{operation:?}");
    }
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

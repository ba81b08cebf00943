//! Circuits of lookups: sums are free, a lookup is a bootstrap, and lookups that do not wait for each other share a round.

use std::collections::HashMap;

use crate::radix::value::{Value, Wire};

/// The values that a ciphertext has room for, `p` of the set.
pub(super) const ROOM: usize = 16;
/// The bits of a digit of an integer.
pub(super) const DIGIT_BITS: usize = 2;
/// The noise of a digit of an integer is at most this, in bootstraps.
pub(super) const DIGIT_NOISE: f64 = 2.0;
/// The most noise that the set allows before a bootstrap.
pub(super) const MAX_NOISE: f64 = 5.0;

/// The function of a lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Function {
    /// Its value at each number that the operand can be, and 0 beyond.
    Table([u8; ROOM]),
    /// This for operands from [`ROOM`] to twice as much, 0 for those below; it needs a bootstrap of its own.
    Carry(u8),
}

impl Function {
    /// The value at a number below twice [`ROOM`].
    pub fn entry(&self, x: u64) -> u64 {
        match self {
            Self::Table(values) => u64::from(values[x as usize]),
            Self::Carry(scale) => u64::from(*scale) * (x / ROOM as u64),
        }
    }
}

/// Functions of a value, for one bootstrap where a table has room for them.
#[derive(Debug, Clone)]
pub(super) struct LookupStep {
    /// Where they are looked up.
    pub operand: Value,
    /// Each with the wire that holds its value.
    pub functions: Vec<(Function, Wire)>,
}

/// The cost of an operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Bootstraps of each element of a batch.
    pub bootstraps: usize,
    /// How often bootstraps wait for others: the rounds, one call of the evaluator each.
    pub rounds: usize,
    /// The most ciphertexts that each element of a batch holds at a time, beside its operands.
    pub held: usize,
}

/// Lookups in the order in which they are made.
pub(super) struct Schedule {
    /// The lookups of each round.
    pub rounds: Vec<Vec<LookupStep>>,
    /// The last round that needs each wire; results are needed after all.
    pub last_uses: Vec<usize>,
    /// Their cost.
    pub cost: Cost,
}

/// Whether a circuit has few rounds, or few bootstraps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Few rounds, for single integers: carries are looked ahead.
    Flat,
    /// Few bootstraps, for batches: carries go from digit to digit.
    Lean,
}

/// Lookups, each of a sum of operands and of results of earlier lookups.
///
/// Functions of the same sum share a bootstrap where a table has room for them, and no function is looked up twice.
#[derive(Debug)]
pub(super) struct Circuit {
    shape: Shape,
    wires: usize,
    steps: Vec<LookupStep>,
    /// The step of each sum.
    by_operand: HashMap<(Vec<(Wire, i64)>, i64), usize>,
}

impl Circuit {
    /// No lookups yet.
    pub fn new(shape: Shape) -> Self {
        Self { shape, wires: 0, steps: Vec::new(), by_operand: HashMap::new() }
    }

    /// The operation that it is made for.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// How many wires there are: operands, and results of lookups.
    pub const fn wires(&self) -> usize {
        self.wires
    }

    /// The next operand, at most `most`.
    pub fn input(&mut self, most: u64, noise: f64) -> Value {
        self.wires += 1;
        match most {
            0 => Value::constant(0),
            _ => Value::wire(self.wires - 1, most, noise, 0),
        }
    }

    /// The function at the value.
    ///
    /// # Panics
    /// If the set has no room for the value or the function, or would not tolerate the noise.
    pub fn lookup(&mut self, operand: &Value, function: impl Fn(u64) -> u64) -> Value {
        if let Some(number) = operand.known() {
            return Value::constant(function(number));
        }
        let inputs = operand.most() as usize + 1;
        assert!(inputs <= ROOM, "an operand of at most {} has no room", operand.most());
        assert!(operand.noise() <= MAX_NOISE, "an operand of noise {}", operand.noise());
        let mut values = [0; ROOM];
        for (entry, x) in values[..inputs].iter_mut().zip(0..) {
            let value = function(x);
            assert!(value < ROOM as u64, "{value}, a value of a function at {x}, has no room");
            *entry = value as u8;
        }
        match values.iter().copied().max() {
            None | Some(0) => Value::constant(0),
            Some(most) => self.result(operand, Function::Table(values), u64::from(most)),
        }
    }

    /// The scale if the value is at least this number, else 0. The value may be up to twice [`ROOM`], less what is missing to
    /// it from the number.
    ///
    /// # Panics
    /// As [`Circuit::lookup`].
    pub fn at_least(&mut self, value: &Value, number: u64, scale: u8) -> Value {
        if value.most() < ROOM as u64 {
            return self.lookup(value, |x| if x >= number { u64::from(scale) } else { 0 });
        }
        let value = value.clone() + (ROOM as i64 - number.cast_signed());
        assert!(value.most() < 2 * ROOM as u64, "an operand of at most {} has no room", value.most());
        assert!(value.noise() <= MAX_NOISE, "an operand of noise {}", value.noise());
        self.result(&value, Function::Carry(scale), u64::from(scale))
    }

    /// A function of a value, at most `most`.
    fn result(&mut self, operand: &Value, function: Function, most: u64) -> Value {
        Value::wire(self.wire(operand, function), most, 1.0, operand.round() + 1)
    }

    /// The wire that holds a function of a value.
    fn wire(&mut self, operand: &Value, function: Function) -> Wire {
        let key = (operand.terms().to_vec(), operand.offset());
        let step = *self.by_operand.entry(key).or_insert_with(|| {
            self.steps.push(LookupStep { operand: operand.clone(), functions: Vec::new() });
            self.steps.len() - 1
        });
        let functions = &mut self.steps[step].functions;
        if let Some(&(_, wire)) = functions.iter().find(|known| known.0 == function) {
            return wire;
        }
        functions.push((function, self.wires));
        self.wires += 1;
        self.wires - 1
    }

    /// The lookups that these values need, round by round, with the functions that they need.
    pub fn rounds(&self, outputs: &[Value]) -> Vec<Vec<LookupStep>> {
        let mut needed = vec![false; self.wires];
        let mark = |value: &Value, needed: &mut Vec<bool>| {
            value.terms().iter().for_each(|&(wire, _)| needed[wire] = true);
        };
        outputs.iter().for_each(|output| mark(output, &mut needed));
        let mut rounds: Vec<Vec<LookupStep>> = Vec::new();
        // The wires of a sum are older than its step, whenever functions came to that.
        for step in self.steps.iter().rev() {
            let functions = step.functions.iter().copied().filter(|&(_, wire)| needed[wire]);
            let (tables, carries): (Vec<_>, Vec<_>) =
                functions.partition(|(function, _)| matches!(function, Function::Table(_)));
            if tables.is_empty() && carries.is_empty() {
                continue;
            }
            mark(&step.operand, &mut needed);
            let round = step.operand.round();
            if rounds.len() <= round {
                rounds.resize_with(round + 1, Vec::new);
            }
            // The tables that have room side by side.
            let shared = (ROOM / (step.operand.most() as usize + 1)).max(1);
            let bootstraps = tables.chunks(shared).chain(carries.chunks(1));
            rounds[round]
                .extend(bootstraps.map(|part| LookupStep { operand: step.operand.clone(), functions: part.to_vec() }));
        }
        // A sum whose last terms cancelled seems to wait longer than it does.
        rounds.retain(|round| !round.is_empty());
        rounds
    }

    /// The lookups that these values need, and what they cost.
    pub fn schedule(&self, outputs: &[Value]) -> Schedule {
        let rounds = self.rounds(outputs);
        let last_uses = self.last_uses(&rounds, outputs);
        let results = |step: &LookupStep| step.functions.len();
        let (mut held, mut most) = (0, 0);
        // The wires that each round is the last one to need; operands are not counted.
        let mut freed = vec![0; rounds.len()];
        let made = rounds.iter().flatten().flat_map(|step| step.functions.iter().map(|&(_, wire)| wire));
        for last in made.map(|wire| last_uses[wire]).filter(|last| *last < rounds.len()) {
            freed[last] += 1;
        }
        for (steps, freed) in rounds.iter().zip(freed) {
            held += steps.iter().map(results).sum::<usize>();
            // A sum for each lookup, too.
            most = most.max(held + steps.len());
            held -= freed;
        }
        let cost = Cost {
            bootstraps: rounds.iter().map(Vec::len).sum(),
            rounds: rounds.len(),
            held: most.max(held + outputs.len()),
        };
        Schedule { rounds, last_uses, cost }
    }

    /// The cost of the lookups that these values need.
    pub fn cost(&self, outputs: &[Value]) -> Cost {
        self.schedule(outputs).cost
    }

    /// The last round that needs each wire; results are needed after all.
    fn last_uses(&self, rounds: &[Vec<LookupStep>], outputs: &[Value]) -> Vec<usize> {
        let mut last = vec![0; self.wires];
        for (number, steps) in rounds.iter().enumerate() {
            let operands = steps.iter().flat_map(|step| step.operand.terms());
            operands.for_each(|&(wire, _)| last[wire] = number);
        }
        outputs.iter().flat_map(Value::terms).for_each(|&(wire, _)| last[wire] = usize::MAX);
        last
    }
}

//! Scripts of candidates: Python programs that do a workload once, client and server in one process.

use std::fmt::Write;

use crate::advisor::candidate::{Candidate, Plan, Scheme};
use crate::advisor::circuit::{Placement, SlotCircuit};
use crate::advisor::slots::SlotDraft;
use crate::advisor::workload::{Computation, Values, Workload};

impl Candidate {
    /// A Python script that does the workload once with these parameters, on random values, and compares the result with numpy;
    /// nothing for candidates whose set-up takes gigabytes, for which it names the page that says how.
    #[must_use]
    pub fn script(&self, workload: &Workload) -> String {
        let mut script = format!("\"\"\"{}: {}.\"\"\"\n\n", self.scheme, self.parameters);
        let is_circuit = |circuit: &SlotCircuit| {
            circuit.placement == Placement::Consecutive
                && !matches!(circuit.computation, Computation::Polynomial { .. } | Computation::Matrix { .. })
        };
        let body = match &self.plan {
            Plan::Reals(parameters, circuit, draft) if is_circuit(circuit) => {
                let spec = parameters.spec();
                let (log_q, log_p, dnum) = (&spec.log_q, &spec.log_p, parameters.rlwe().dnum());
                let (log_n, log_scale) = (spec.log_n, spec.log_scale);
                let made =
                    format!("log_n={log_n}, log_q={log_q:?}, log_p={log_p:?}, log_scale={log_scale}, dnum={dnum}");
                slots("ckks", &made, *circuit, draft, "rng.uniform(-1, 1, N)")
            }
            Plan::Integers(parameters, circuit, draft) if is_circuit(circuit) => {
                let spec = parameters.spec();
                let (t, dnum) = (parameters.modulus().value(), parameters.rlwe().dnum());
                let (log_n, log_q, log_p) = (spec.log_n, &spec.log_q, &spec.log_p);
                let made =
                    format!("log_n={log_n}, plaintext_modulus={t}, log_q={log_q:?}, log_p={log_p:?}, dnum={dnum}");
                let module = if self.scheme == Scheme::Bgv { "bgv" } else { "bfv" };
                slots(module, &made, *circuit, draft, &format!("rng.integers(0, 2**{}, N)", bits(workload)))
            }
            Plan::Reals(..) | Plan::Integers(..) => compiled(self.scheme, workload),
            Plan::Torus(_) => compiled(Scheme::Tfhe, workload),
            Plan::Lookup(_) => elsewhere("lookups", "docs/lookup.md", "examples/4_lookup.py"),
            Plan::Renewed(..) => elsewhere("bootstrapping", "docs/bootstrapping.md", "examples/2_training.py"),
            Plan::Switched(..) => elsewhere("switching", "docs/switching.md", "examples/7_nearest.py"),
        };
        script.push_str(&body);
        script
    }
}

/// A script with evaluators of slots.
fn slots(module: &str, parameters: &str, circuit: SlotCircuit, draft: &SlotDraft, values: &str) -> String {
    let width = circuit.slots();
    let rotations: Vec<isize> = draft.usage.rotations.keys().copied().collect();
    let (count, server, expected) = match circuit.computation {
        Computation::Product { count } => (count, format!("ev.product(a, {width})"), "np.prod(x)".to_owned()),
        Computation::Sum { count } => (count, format!("ev.sum(a, {width})"), "np.sum(x)".to_owned()),
        Computation::InnerProduct { length } => (length, format!("ev.sum(a * b, {width})"), "x @ y".to_owned()),
        Computation::Squarings { depth } => {
            (1, format!("a**{}", 1u64 << depth.min(62)), format!("x[0] ** {}", 1u64 << depth.min(62)))
        }
        computation => unreachable!("{computation:?} is compiled"),
    };
    let two = matches!(circuit.computation, Computation::InnerProduct { .. });
    let padding = if matches!(circuit.computation, Computation::Product { .. }) { "ones" } else { "zeros" };
    let number = if module == "ckks" { "float" } else { "int" };
    let mut script = format!("import numpy as np\n\nfrom noren import {module}\n\nN, SLOTS = {count}, {width}\n");
    let _ = write!(
        script,
        "rng = np.random.default_rng()\nx = {values}\n{}\n\
         # The client. The rotations are the key plan.\n\
         params = {module}.Parameters({parameters})\n\
         ctx = {module}.Context(params)\n\
         keys = ctx.keygen(rotations={rotations:?}, relinearization={})\n\
         pad = np.{padding}(SLOTS - N, {number})\n",
        if two { format!("y = {values}\n") } else { String::new() },
        if draft.usage.relinearization.is_some() { "True" } else { "False" },
    );
    let slots = if module == "ckks" { ", slots=SLOTS" } else { "" };
    for (name, values) in [("a", "x"), ("b", "y")].into_iter().take(if two { 2 } else { 1 }) {
        let _ = writeln!(script, "{name} = ctx.encrypt(np.concatenate([{values}, pad]), keys.secret{slots})");
    }
    let _ = write!(
        script,
        "\n# The server: no secret here.\nev = ctx.evaluator(keys.evaluation)\nresult = {server}\n\n\
         # The client again.\n\
         found, expected = np.ravel(ctx.decrypt(result, keys.secret))[0], {expected}\n\
         print(f\"found {{found}}, expected {{expected}}\")\n"
    );
    script
}

/// A script that compiles a function of numpy.
fn compiled(scheme: Scheme, workload: &Workload) -> String {
    let (shape, function) = match workload.computation {
        Computation::Product { count } => (vec![count], "np.prod(x, axis=-1)"),
        Computation::Sum { count } => (vec![count], "np.sum(x, axis=-1)"),
        Computation::InnerProduct { length } => (vec![length; 2], "np.sum(x * y, axis=-1)"),
        Computation::Squarings { .. } => (vec![1], "x**POWER"),
        Computation::Polynomial { .. } => (vec![1], "np.polyval(coefficients, x)"),
        Computation::Matrix { columns, .. } => (vec![columns], "x @ matrix.T"),
        Computation::Compare => (vec![1; 2], "x < y"),
        Computation::Table { inputs: 1 } => (vec![1], "compiler.table(values, x)"),
        Computation::Table { .. } => (vec![1; 2], "compiler.table(values, (x << BITS) + y)"),
    };
    let name = match scheme {
        Scheme::Tfhe => "tfhe",
        Scheme::Bgv | Scheme::Bfv => "bgv",
        _ => "ckks",
    };
    let (range, precision) = match workload.values {
        Values::Real { bits } => ("-1.0, 1.0".to_owned(), format!(", precision=2.0**-{bits}")),
        Values::Integer { bits, .. } => (format!("0, 2**{bits} - 1, np.int64"), String::new()),
    };
    // Results of real numbers stay in [-1, 1].
    let is_real = matches!(workload.values, Values::Real { .. });
    let ones = |shape: String, sum: usize| match is_real {
        true => format!("np.ones({shape}) / {sum}"),
        false => format!("np.ones({shape}, np.int64)"),
    };
    let mut script = "import numpy as np\n\nimport noren\nfrom noren import compiler  # noqa: F401\n\n".to_owned();
    let rows = workload.instances;
    let _ = match workload.computation {
        Computation::Squarings { depth } => writeln!(script, "POWER = {}", 1u64 << depth.min(62)),
        Computation::Polynomial { degree } => {
            writeln!(script, "coefficients = {}", ones((degree + 1).to_string(), degree + 1))
        }
        Computation::Matrix { rows, columns } => {
            writeln!(script, "matrix = {}", ones(format!("({rows}, {columns})"), columns))
        }
        Computation::Table { .. } => writeln!(script, "BITS = {}\nvalues = np.arange(256) * 7 % 251", bits(workload)),
        _ => Ok(()),
    };
    let arguments = if shape.len() == 2 { "x, y" } else { "x" };
    let inputs: Vec<String> = shape.iter().map(|width| format!("noren.Input(({rows}, {width}), {range})")).collect();
    let _ = write!(
        script,
        "f = noren.compile(lambda {arguments}: {function}, {}, scheme=\"{name}\"{precision})\n\
         print(f.explain())\n\n\
         rng = np.random.default_rng()\n",
        inputs.join(", ")
    );
    let draw = |width: &usize| match workload.values {
        Values::Real { .. } => format!("rng.uniform(-1, 1, ({rows}, {width}))"),
        Values::Integer { bits, .. } => format!("rng.integers(0, 2**{bits}, ({rows}, {width}))"),
    };
    let draws: Vec<String> = shape.iter().map(draw).collect();
    let _ = write!(
        script,
        "values_of_inputs = [{}]\n\
         keys = f.client.keygen()  # the client\n\
         request = f.client.encrypt(*values_of_inputs)\n\
         reply = f.server.run(request, keys)  # the server: no secret there\n\
         print(f.client.decrypt(reply))  # the client again\n",
        draws.join(", ")
    );
    script
}

/// What takes gigabytes has a page and an example.
fn elsewhere(what: &str, page: &str, example: &str) -> String {
    format!("# Keys and tables for {what} take gigabytes: {page} says how, {example} does it.\n")
}

/// The bits of integers.
const fn bits(workload: &Workload) -> u32 {
    match workload.values {
        Values::Integer { bits, .. } => bits,
        Values::Real { .. } => 0,
    }
}

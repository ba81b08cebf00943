//! Scripts of candidates: Python programs that do a workload once, client and server in one process.

use std::fmt::Write;

use crate::advisor::candidate::{Candidate, Plan, Scheme};
use crate::advisor::circuit::{Placement, SlotCircuit};
use crate::advisor::workload::{Computation, Values, Workload};
use crate::cost::slots::SlotDraft;

impl Candidate {
    /// A Python script that does the workload once with these parameters, on random values, and compares the result with numpy;
    /// nothing for candidates whose set-up takes gigabytes, for which it names the page that says how.
    #[must_use]
    pub fn script(&self, workload: &Workload) -> String {
        let mut script = format!("\"\"\"{}: {}.\"\"\"\n\n", self.scheme, self.parameters);
        let is_circuit = |circuit: &SlotCircuit| {
            circuit.placement == Placement::Consecutive
                && circuit.domain == 0
                && !matches!(circuit.computation, Computation::Polynomial { .. } | Computation::Matrix { .. })
        };
        let body = match &self.plan {
            Plan::Reals(parameters, circuit, draft) if is_circuit(circuit) => {
                let spec = parameters.spec();
                let (log_q, log_p, dnum) = (&spec.log_q, &spec.log_p, parameters.rlwe().dnum());
                let (log_n, log_scale) = (spec.log_n, spec.log_scale);
                let made =
                    format!("log_n={log_n}, log_q={log_q:?}, log_p={log_p:?}, log_scale={log_scale}, dnum={dnum}");
                slots("ckks", &made, *circuit, draft, ("rng.uniform(-1, 1, N)", None))
            }
            Plan::Integers(parameters, ..) if !parameters.has_slots() => {
                "# A ciphertext for each value, with `coefficients=True` in place of slots: docs/integers.md says how.\n".to_owned()
            }
            Plan::Integers(parameters, circuit, draft)
                if is_circuit(circuit) || circuit.domain > 0 || residues_of(circuit, workload).is_some() =>
            {
                let spec = parameters.spec();
                let (t, dnum) = (parameters.modulus().value(), parameters.rlwe().dnum());
                let (log_n, log_q, log_p) = (spec.log_n, &spec.log_q, &spec.log_p);
                let made =
                    format!("log_n={log_n}, plaintext_modulus={t}, log_q={log_q:?}, log_p={log_p:?}, dnum={dnum}");
                let module = if self.scheme == Scheme::Bgv { "bgv" } else { "bfv" };
                let values = format!("rng.integers(0, {}, N)", end(workload));
                match (circuit.domain, residues_of(circuit, workload)) {
                    (0, Some(modulus)) => residues(module, &made, circuit.computation, modulus),
                    (0, None) => slots(module, &made, *circuit, draft, (&values, workload.modulus)),
                    (domain, _) => table(module, &made, domain, workload.computation),
                }
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
fn slots(
    module: &str,
    parameters: &str,
    circuit: SlotCircuit,
    draft: &SlotDraft,
    (values, modulus): (&str, Option<u64>),
) -> String {
    let width = circuit.slots();
    let rotations: Vec<isize> = draft.usage.rotations.keys().copied().collect();
    // Integers of Python have no bound, as residues do not.
    let [x, y] = if modulus.is_some() { ["x.astype(object)", "y.astype(object)"] } else { ["x", "y"] };
    let (count, server, expected) = match circuit.computation {
        Computation::Product { count } => (count, format!("ev.product(a, {width})"), format!("np.prod({x})")),
        Computation::Sum { count } => (count, format!("ev.sum(a, {width})"), format!("np.sum({x})")),
        Computation::InnerProduct { length } => (length, format!("ev.sum(a * b, {width})"), format!("{x} @ {y}")),
        Computation::Squarings { depth } => {
            let power = 1u64 << depth.min(62);
            let expected = match modulus {
                Some(modulus) => format!("pow(int(x[0]), {power}, {modulus})"),
                None => format!("x[0] ** {power}"),
            };
            (1, format!("a**{power}"), expected)
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
         found, expected = {}\n\
         print(f\"found {{found}}, expected {{expected}}\")\n",
        match modulus {
            None => format!("np.ravel(ctx.decrypt(result, keys.secret))[0], {expected}"),
            Some(modulus) => {
                format!("int(np.ravel(ctx.decrypt(result, keys.secret))[0]) % {modulus}, {expected} % {modulus}")
            }
        }
    );
    script
}

/// The number that results of a circuit are taken modulo, if they are and each value of an instance is in a ciphertext of its own.
fn residues_of(circuit: &SlotCircuit, workload: &Workload) -> Option<u64> {
    let one = matches!(circuit.computation, Computation::Polynomial { .. });
    workload.modulus.filter(|_| circuit.placement == Placement::Apart || one)
}

/// A script with evaluators of slots for each value in a ciphertext of its own, modulo a number.
fn residues(module: &str, parameters: &str, computation: Computation, modulus: u64) -> String {
    let pairs = "a = [x * y for x, y in zip(a[::2], a[1::2])] + a[len(a) // 2 * 2 :]";
    let tree = format!("while len(a) > 1:\n    {pairs}\nresults = a\n");
    let (count, before, server, expected) = match computation {
        Computation::Product { count } => (count, String::new(), tree, "np.prod(x, axis=0)"),
        Computation::Sum { count } => {
            let server = "results = [ev.weighted_sum(a, [1] * len(a))]\n".to_owned();
            (count, String::new(), server, "np.sum(x, axis=0)")
        }
        Computation::InnerProduct { length } => (
            2 * length,
            String::new(),
            "results = [ev.dot(a[::2], a[1::2])]\n".to_owned(),
            "np.sum(x[::2] * x[1::2], axis=0)",
        ),
        Computation::Matrix { rows, columns } => {
            let before = format!("matrix = np.ones(({rows}, {columns}), np.int64)\n");
            (columns, before, "results = [ev.weighted_sum(a, row) for row in matrix]\n".to_owned(), "matrix @ x")
        }
        Computation::Polynomial { degree } => {
            let before = format!("coefficients = np.ones({}, np.int64)\n", degree + 1);
            let server = "results = [ev.polynomial(a[0], coefficients)]\n".to_owned();
            (1, before, server, "np.polyval(coefficients[::-1], x[0])")
        }
        computation => unreachable!("{computation:?} of one value is consecutive"),
    };
    format!(
        "import numpy as np\n\nfrom noren import {module}\n\nT = {modulus}\n{before}\n\
         # The client: each value in a ciphertext of its own, with an instance in each slot.\n\
         params = {module}.Parameters({parameters})\n\
         ctx = {module}.Context(params)\n\
         keys = ctx.keygen(relinearization=True)\n\
         x = np.random.default_rng().integers(0, T, ({count}, params.slots))\n\
         a = [ctx.encrypt(row, keys.secret) for row in x]\n\n\
         # The server: no secret here.\n\
         ev = ctx.evaluator(keys.evaluation)\n\
         {server}\n\
         # The client again. Integers of Python have no bound, as residues do not.\n\
         x = x.astype(object)\n\
         found = np.array([np.ravel(ctx.decrypt(result, keys.secret)) for result in results]) % T\n\
         expected = np.atleast_2d({expected} % T)\n\
         print(f\"{{(found != expected).sum()}} of {{found.size}} results are wrong\")\n"
    )
}

/// A script with a function of bits as a polynomial modulo t.
fn table(module: &str, parameters: &str, domain: usize, computation: Computation) -> String {
    let two = !matches!(computation, Computation::Table { inputs: 1 });
    let function = match (computation, two) {
        (Computation::Compare, _) => "int(x < y)",
        (_, true) => "(7 * x + y) % D",
        (_, false) => "7 * x % D",
    };
    let arguments = if two { "x, y" } else { "x" };
    let mut script = format!(
        "import numpy as np\n\nfrom noren import {module}\n\nD = {domain}\n\n\n\
         def function({arguments}):\n    return {function}\n\n\n\
         def through(values, t):\n    \"\"\"Return the coefficients of the polynomial modulo t through these values.\"\"\"\n    \
         whole = [1]  # the product of all x - point\n    \
         for point in range(len(values)):\n        \
         whole = [(a - point * b) % t for a, b in zip([0, *whole], [*whole, 0])]\n    \
         total = [0] * len(values)\n    \
         for point, value in enumerate(values):\n        \
         basis, carry, scale = [], 0, 0  # the product of the others, by division, and its value\n        \
         for c in reversed(whole[1:]):\n            \
         carry = (c + point * carry) % t\n            \
         scale = (scale * point + carry) % t\n            \
         basis.append(carry)\n        \
         scale = value * pow(scale, -1, t)\n        \
         total = [(sum + scale * c) % t for sum, c in zip(total, reversed(basis))]\n    \
         return total\n\n\n\
         # The client.\n\
         params = {module}.Parameters({parameters})\n\
         ctx = {module}.Context(params)\n\
         keys = ctx.keygen(relinearization=True)\n\
         rng = np.random.default_rng()\n"
    );
    for name in arguments.split(", ") {
        let _ =
            writeln!(script, "{name} = rng.integers(0, D, params.slots)\n{name}_ct = ctx.encrypt({name}, keys.secret)");
    }
    script.push_str(
        "\n# The server: no secret here.\nev = ctx.evaluator(keys.evaluation)\nt = params.plaintext_modulus\n",
    );
    script.push_str(match (domain, two) {
        (2, true) => {
            "c, a, b = function(0, 0), function(1, 0), function(0, 1)\n\
             weights = [function(1, 1) - a - b + c, a - c, b - c]\n\
             result = ev.weighted_sum([x_ct * y_ct, x_ct, y_ct], weights, constant=c)\n"
        }
        (_, true) => {
            "values = [function(z % D, z // D) for z in range(D * D)]\n\
             result = ev.polynomial(ev.weighted_sum([x_ct, y_ct], [1, D]), through(values, t))\n"
        }
        (_, false) => "result = ev.polynomial(x_ct, through([function(x) for x in range(D)], t))\n",
    });
    let _ = write!(
        script,
        "\n# The client again.\n\
         found = np.ravel(ctx.decrypt(result, keys.secret)) % t\n\
         expected = np.array([function({}) for {} in {}])\n\
         print(f\"{{(found != expected).sum()}} of {{len(found)}} results are wrong\")\n",
        arguments,
        arguments,
        if two { "zip(x, y)" } else { "x" },
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
        Values::Integer { .. } => (format!("0, {} - 1, np.int64", end(workload)), String::new()),
    };
    let reduced = workload.modulus.map_or_else(String::new, |modulus| format!(" % {modulus}"));
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
        Values::Integer { .. } => format!("rng.integers(0, {}, ({rows}, {width}))", end(workload)),
    };
    let draws: Vec<String> = shape.iter().map(draw).collect();
    let _ = write!(
        script,
        "values_of_inputs = [{}]\n\
         keys = f.client.keygen()  # the client\n\
         request = f.client.encrypt(*values_of_inputs)\n\
         reply = f.server.run(request, keys)  # the server: no secret there\n\
         print(f.client.decrypt(reply){reduced})  # the client again\n",
        draws.join(", ")
    );
    script
}

/// What takes gigabytes has a page and an example.
fn elsewhere(what: &str, page: &str, example: &str) -> String {
    format!("# Keys and tables for {what} take gigabytes: {page} says how, {example} does it.\n")
}

/// The number that integer values of inputs are below, in Python.
fn end(workload: &Workload) -> String {
    workload.modulus.map_or_else(|| format!("2**{}", bits(workload)), |modulus| modulus.to_string())
}

/// The bits of integers.
const fn bits(workload: &Workload) -> u32 {
    match workload.values {
        Values::Integer { bits, .. } => bits,
        Values::Real { .. } => 0,
    }
}

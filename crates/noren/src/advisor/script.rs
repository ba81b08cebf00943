//! Scripts of candidates: Python programs that compile a workload and do it once, client and server in one process.

use crate::advisor::candidate::Candidate;
use crate::advisor::workload::{Computation, Values, Workload};

/// A function of numpy.
struct Source {
    /// Its inputs, as lines.
    given: String,
    arguments: &'static [&'static str],
    /// The elements of an argument for one instance.
    width: usize,
    /// Its lines.
    body: String,
}

impl Candidate {
    /// A Python script that compiles the workload for this scheme, does it once on random values, and compares the result with
    /// numpy; for a workload that is no [graph](Workload::graph) a comment that says why.
    #[must_use]
    pub fn script(&self, workload: &Workload) -> String {
        let scheme = self.scheme.name();
        let head = format!("\"\"\"{}.\"\"\"\n\n", self.scheme);
        if let Err(error) = workload.graph() {
            return format!("{head}# There is no script: {error}.\n");
        }
        let Source { given, arguments, width, body } = Source::of(workload);
        let rows = workload.instances;
        let (input, draw, precision) = match workload.values {
            Values::Real { bits } => {
                let [low, high] = [self.excluded - 1.0, 1.0 - self.excluded];
                let (range, draw) = (format!("{low:?}, {high:?}"), format!("uniform({low:?}, {high:?}"));
                (range, draw, format!(", precision=2.0**-{bits}"))
            }
            Values::Integer { .. } => {
                let end =
                    workload.modulus.map_or_else(|| format!("2**{}", workload.bits()), |modulus| modulus.to_string());
                (format!("0, {end} - 1, np.int64"), format!("integers(0, {end}"), String::new())
            }
        };
        let zone = workload.dead_zone.map_or_else(String::new, |zone| format!(", dead_zone={zone:?}"));
        let each = |text: String| vec![text; arguments.len()].join(", ");
        let (inputs, draws) =
            (each(format!("noren.Input(({rows}, {width}), {input})")), each(format!("rng.{draw}, ({rows}, {width}))")));
        let arguments = arguments.join(", ");
        format!(
            "{head}import numpy as np\n\nimport noren\nfrom noren import compiler  # noqa: F401\n\n{given}\n\n\
             def function({arguments}):\n{body}\n\n\
             f = noren.compile(function, {inputs}, scheme=\"{scheme}\"{precision}{zone})\n\
             print(f.explain())\n\n\
             rng = np.random.default_rng()\n\
             values = [{draws}]\n\
             keys = f.client.keygen()  # the client\n\
             request = f.client.encrypt(*values)\n\
             reply = f.server.run(request, keys)  # the server: no secret there\n\
             found = f.client.decrypt(reply)  # the client again\n\
             print(f\"largest difference: {{np.abs(found - function(*values) * 1.0).max()}}\")\n"
        )
    }
}

impl Source {
    /// The function of a workload: what its graph computes, as a person writes it.
    fn of(workload: &Workload) -> Self {
        let modulo = workload.divisor().map_or_else(String::new, |divisor| format!(" % {divisor}"));
        let is_real = matches!(workload.values, Values::Real { .. });
        // Results of real numbers stay in [-1, 1].
        let ones = |shape: String, sum: usize| match is_real {
            true => format!("np.ones({shape}) / {sum}"),
            false => format!("np.full({shape}, {})", workload.entry(sum)),
        };
        let line = |expression: &str| format!("    return {expression}\n");
        let reduced = |expression: &str| {
            if modulo.is_empty() { line(expression) } else { line(&format!("{expression}{modulo}")) }
        };
        let none = String::new();
        let (given, arguments, width, body): (_, &[&str], _, _) = match workload.computation {
            Computation::Product { count } if modulo.is_empty() => (none, &["x"], count, line("np.prod(x, axis=-1)")),
            Computation::Product { count } => {
                let body = format!(
                    "    while (count := x.shape[-1]) > 1:\n        half = count // 2\n        \
                     pairs = x[..., :half] * x[..., half : 2 * half]{modulo}\n        \
                     x = np.concatenate([pairs, x[..., 2 * half :]], axis=-1) if count % 2 else pairs\n    \
                     return x[..., 0]\n"
                );
                (none, &["x"], count, body)
            }
            Computation::Sum { count } => (none, &["x"], count, reduced("np.sum(x, axis=-1)")),
            Computation::InnerProduct { length } => (none, &["x", "y"], length, reduced("np.sum(x * y, axis=-1)")),
            Computation::Squarings { depth } => {
                (none, &["x"], 1, format!("    for _ in range({depth}):\n        x = x * x{modulo}\n    return x\n"))
            }
            Computation::Polynomial { degree } => {
                let given = format!("coefficients = {}\n", ones((degree + 1).to_string(), degree + 1));
                let body = match modulo.is_empty() {
                    true => line("np.polyval(coefficients, x)"),
                    // Powers stay as small as values.
                    false => format!(
                        "    powers = [x]\n    for k in range(2, len(coefficients)):\n        \
                         powers.append(powers[k // 2 - 1] * powers[k - k // 2 - 1]{modulo})\n    \
                         terms = [c * power for c, power in zip(coefficients[1:], powers)]\n    \
                         return (sum(terms) + coefficients[0]){modulo}\n"
                    ),
                };
                (given, &["x"], 1, body)
            }
            Computation::Matrix { rows, columns } => {
                let given = format!("matrix = {}\n", ones(format!("({rows}, {columns})"), columns));
                (given, &["x"], columns, reduced("(x @ matrix.T)"))
            }
            Computation::Compare => (none, &["x", "y"], 1, line("x < y")),
            Computation::Table { .. } if workload.table().is_none() => {
                (none, &["x", "y"], 1, line("(x * x + 7 * y) % (x + y + 1)"))
            }
            Computation::Table { inputs } => {
                let (bits, all) = (workload.bits(), workload.bits() * inputs as u32);
                let given =
                    format!("index = np.arange(2**{all})\ntable = (7 * index + (index >> {bits})) % 2**{bits}\n");
                match inputs {
                    1 => (given, &["x"], 1, line("compiler.table(table, x)")),
                    _ => (given, &["x", "y"], 1, line(&format!("compiler.table(table, 2**{bits} * x + y)"))),
                }
            }
        };
        Self { given, arguments, width, body }
    }
}

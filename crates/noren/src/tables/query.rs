//! A compiled question.

use std::collections::BTreeMap;

use noren_rlwe::error::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::backends::backend::Outcome;
use crate::backends::options::Options;
use crate::backends::parcel::fault_of_json;
use crate::backends::table::Backends;
use crate::compiler::Program;
use crate::tables::answer::Answer;
use crate::tables::circuit::{Circuit, Sum};
use crate::tables::column::{Cells, Schema};
use crate::tables::layout::Layout;
use crate::tables::question::Question;

/// A question on tables of a schema, compiled: a program on the bits of columns, and how rows become its inputs and its results an
/// answer.
///
/// # Examples
/// ```
/// use std::collections::BTreeMap;
///
/// use noren::Security;
/// use noren::Seed;
/// use noren::compiler::{Client, Options, Server};
/// use noren::tables::{Cell, Cells, Query, Schema};
///
/// let age = Cells::Numbers(vec![31.0, 70.0, 45.0, 68.0]);
/// let city = Cells::Texts(["Bern", "Chur", "Chur", "Chur"].map(String::from).to_vec());
/// let table = BTreeMap::from([("age".to_owned(), age), ("city".to_owned(), city)]);
///
/// let schema = Schema::of(&table, 4, &BTreeMap::new())?;
/// let options = Options { security: Security::None, ..Options::default() };
/// let query = Query::compile(&schema, "SELECT avg(age) WHERE age > 40 GROUP BY city", &options)?;
///
/// let seed = Seed::from_bytes([7; 32]);
/// let client = Client::generate(query.program().clone(), &seed)?;
/// let server = Server::new(query.program(), &client.server_keys(&seed)?)?;
/// let request = client.encrypt(&query.inputs(&table)?, Seed::from_bytes([8; 32]))?;
/// let answer = query.answer(&client.decrypt(&server.run(&request)?)?)?;
/// assert_eq!(answer.rows[0], [Cell::Text("Bern".into()), Cell::Missing]);
/// assert_eq!(answer.rows[1], [Cell::Text("Chur".into()), Cell::Real(61.0)]);
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Debug)]
pub struct Query {
    text: String,
    question: Question,
    layout: Layout,
    circuit: Circuit,
    program: Program,
}

/// What the file of a program says of its question.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Interface {
    table: Schema,
    text: String,
    lanes: usize,
}

/// The name of it among what programs say.
const INTERFACE: &str = "question";

/// The lanes that are tried first.
const LANES: usize = 1 << 14;

impl Query {
    /// Compiles a question, as [`Question::parse`] has it, on tables of a schema.
    ///
    /// # Errors
    /// [`TableError`](crate::tables::TableError); as [`Program::compile`].
    pub fn compile(schema: &Schema, text: &str, options: &Options) -> Result<Self> {
        let question = Question::parse(text, schema)?;
        let most = schema.rows.next_power_of_two();
        let first = Self::on_lanes(schema, text, &question, LANES.min(most), options)?;
        // As many as a ciphertext of its parameters has slots, in two rows.
        let lanes = (2 * first.program.plan().record().slots).min(most);
        if lanes == first.layout.lanes {
            return Ok(first);
        }
        let Ok(second) = Self::on_lanes(schema, text, &question, lanes, options) else { return Ok(first) };
        let seconds = |query: &Self| query.program.price(options.machine.as_ref()).map(|price| price.server_seconds);
        if seconds(&second)? < seconds(&first)? { Ok(second) } else { Ok(first) }
    }

    fn on_lanes(schema: &Schema, text: &str, question: &Question, lanes: usize, options: &Options) -> Result<Self> {
        let layout = Layout::new(schema.rows, lanes);
        let circuit = Circuit::new(question, layout)?;
        let program = Program::compile(circuit.graph.clone(), options)?;
        check_exact(&program)?;
        let interface = Interface { table: schema.clone(), text: text.to_owned(), lanes };
        let program = program.with_interface(json!({ INTERFACE: interface }));
        Ok(Self { text: text.to_owned(), question: question.clone(), layout, circuit, program })
    }

    /// The question of a program that [`Query::program`] gave; none of the program of a function.
    ///
    /// # Errors
    /// A program of another question than it says.
    pub fn of(program: &Program) -> Result<Option<Self>> {
        let refused = |found: String| Error::parameter("program", found, "the file of a question on a table");
        let Some(interface) = program.interface().and_then(|all| all.get(INTERFACE)) else { return Ok(None) };
        let Interface { table, text, lanes } =
            serde_json::from_value(interface.clone()).map_err(|error| refused(fault_of_json(&error)))?;
        table.check()?;
        if !lanes.is_power_of_two() || lanes > table.rows.next_power_of_two() {
            return Err(refused(format!("{lanes} lanes for {} rows", table.rows)));
        }
        let question = Question::parse(&text, &table)?;
        let layout = Layout::new(table.rows, lanes);
        let circuit = Circuit::new(&question, layout)?;
        check_exact(program)?;
        if circuit.graph != *program.graph() {
            return Err(refused("a function of another question".to_owned()));
        }
        Ok(Some(Self { text, question, layout, circuit, program: program.clone() }))
    }

    /// The program, which client and server run.
    #[must_use]
    pub const fn program(&self) -> &Program {
        &self.program
    }

    /// The columns that tables must have, and the most rows.
    #[must_use]
    pub const fn schema(&self) -> &Schema {
        &self.question.schema
    }

    /// The text of the question.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The question.
    #[must_use]
    pub const fn question(&self) -> &Question {
        &self.question
    }

    /// The inputs of the program: the bits of the columns that are asked for.
    ///
    /// # Errors
    /// [`TableError`](crate::tables::TableError) for columns that are missing, cells that they do not hold, and too many rows.
    pub fn inputs(&self, table: &BTreeMap<String, Cells>) -> Result<Vec<Vec<f64>>> {
        self.circuit.encoded(self.schema(), self.layout, table)
    }

    /// The answer that follows from the results of the program.
    ///
    /// # Errors
    /// Results of another program, and those that no table gives.
    pub fn answer(&self, outcome: &Outcome) -> Result<Answer> {
        let needed = self.circuit.sums.len() * self.circuit.groups.len();
        if outcome.values.len() != needed {
            return Err(Error::Length { what: "results", found: outcome.values.len(), needed: needed.to_string() });
        }
        let sum = |lanes: &Vec<f64>| lanes.iter().map(|&x| x as i128).sum();
        let sums: Vec<i128> = outcome.values.iter().map(sum).collect();
        for sums in sums.chunks(self.circuit.sums.len()) {
            let mut rows = self.schema().rows as i128;
            for (sum, &found) in self.circuit.sums.iter().zip(sums) {
                let most = rows * self.circuit.largest(self.schema(), *sum);
                if !(0..=most).contains(&found) {
                    let needed = format!("0 to {most}: the server has computed something else");
                    return Err(Error::parameter("results", found, needed));
                }
                if *sum == Sum::Count {
                    rows = found;
                }
            }
        }
        Ok(Answer::new(&self.question, &self.circuit, &sums))
    }
}

/// Refuses backends whose results are numbers near the sums of a question.
fn check_exact(program: &Program) -> Result<()> {
    let name = program.plan().backend();
    match Backends::ALL.named(name)?.is_exact() {
        true => Ok(()),
        false => Err(Error::parameter("scheme", name, "one with exact integers: sums of rows are counted")),
    }
}

//! Bytes of prepared functions: files that are mapped, so that all processes share the factors.

use std::path::Path;

use noren_ring::small::SmallPolynomials;
use noren_rlwe::error::Result;
use noren_rlwe::wire::expanded::{MappedContainer, write_to_map};
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::publish::Destination;
use noren_rlwe::wire::reader::{Limits, Reader};
use noren_rlwe::wire::writer::{Form, Writer};
use serde::Serialize;

use crate::lookup::layout::Layout;
use crate::lookup::line::{Line, LineLookup};
use crate::lookup::matrix::Matrix;
use crate::lookup::plan::LookupPlan;
use crate::lookup::prepared::{Form as Prepared, Lookup};
use crate::lookup::table::Rest;
use crate::schemes::bfv::{Context, Plaintext};
use crate::schemes::integers::content::Content;

/// The form: 0 for a matrix, and of what a function without one depends on, in the order of [`LINES`]; the domain of x and of
/// y, the baby steps, the norm of the matrix as the bits of an `f64`, and the value at the numbers without a slot.
const NUMBERS: u16 = 0x01;
const NUMBER_COUNT: usize = 6;
/// The summand of the row, or the tables of a function without a matrix, which has no further sections; and what is
/// multiplied with the one-hot vector of x: coefficients in two's complement.
const ROWS: u16 = 0x02;
const COLUMNS: u16 = 0x03;
/// Where the places of each factor start, the places of the coefficients 2^15, and all other coefficients.
const STARTS: u16 = 0x04;
const PLACES: u16 = 0x05;
const FACTORS: u16 = 0x06;
/// The forms without a matrix, from 1 on.
const LINES: [Line; 4] = [Line::First, Line::Second, Line::Sum, Line::Difference];

/// The facts about a prepared function that a file tells without its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LookupOutline {
    /// The exclusive bounds of x and y.
    pub domain: [u64; 2],
    /// Whether it is looked up by a matrix.
    pub has_matrix: bool,
}

impl Lookup {
    /// The outline of a prepared function in a container, whose other sections are not looked at.
    pub(crate) fn skim(reader: &mut Reader<'_>) -> Result<LookupOutline> {
        let [form, x, y, ..] = reader.take(NUMBERS)?.word_array::<NUMBER_COUNT>()?;
        Ok(LookupOutline { domain: [x, y], has_matrix: form == 0 })
    }

    /// Writes the prepared function to a file, as a whole or not at all.
    ///
    /// # Errors
    /// As [`write_to_map`].
    pub fn save<'p>(&self, to: impl Into<Destination<'p>>) -> Result<()> {
        let plan = self.plan();
        let mut writer = Writer::new(Kind::PREPARED_LOOKUP, plan.parameters().fingerprint(), Form::Raw);
        let [x, y] = plan.layout().domain().map(|size| size as u64);
        let babies = plan.layout().babies() as u64;
        match &self.form {
            Prepared::Line(line) => {
                let form = LINES.iter().position(|known| *known == line.line).expect("all are listed") as u64 + 1;
                writer.words(NUMBERS, vec![form, x, y, babies, 0, line.offset.cast_unsigned()]);
                writer.words(ROWS, coefficients(&line.tables));
            }
            Prepared::Matrix(matrix) => {
                let (norm, offset) = (matrix.log2_norm.to_bits(), matrix.rest.offset.cast_unsigned());
                writer.words(NUMBERS, vec![0, x, y, babies, norm, offset]);
                writer.words(ROWS, coefficients(&matrix.rest.rows));
                writer.words(COLUMNS, coefficients(&matrix.rest.columns));
                writer.words(STARTS, matrix.factors.starts());
                writer.words(PLACES, matrix.factors.places());
                writer.words(FACTORS, matrix.factors.words());
            }
        }
        write_to_map(to.into(), &writer, "disk for a prepared function", || self.check_file()).map(drop)
    }

    /// Maps a prepared function from a file of [`Lookup::save`]: its factors stay there until they are needed. Where `limits`
    /// ask for the digest, the whole file is read.
    ///
    /// # Errors
    /// [`Error::Io`](noren_rlwe::error::Error::Io) with the path, [`Error::WrongKind`](noren_rlwe::error::Error::WrongKind) and
    /// [`Error::Wire`](noren_rlwe::error::Error::Wire) for another file or a damaged one,
    /// [`Error::ParameterMismatch`](noren_rlwe::error::Error::ParameterMismatch) for one of other parameters.
    pub fn open(context: &Context, path: &Path, limits: &Limits) -> Result<Self> {
        let parameters = context.parameters();
        let container = MappedContainer::open(path)?;
        let mut reader = container.reader(Kind::PREPARED_LOOKUP, limits)?;
        reader.check_fingerprint(&parameters.fingerprint())?;
        let section = reader.take(NUMBERS)?;
        let [form, x, y, babies, norm, offset] = section.word_array::<NUMBER_COUNT>()?;
        let layout = Layout::new(parameters.degree(), parameters.modulus().value(), [x as usize, y as usize])?
            .with_baby_steps(babies as usize)?;
        let plan = LookupPlan::with_layout(parameters, layout)?;
        let log2_norm = f64::from_bits(norm);
        let most = libm::log2(plan.layout().factors() as f64 * plan.layout().degree() as f64) / 2.0 + 15.0;
        if !(0.0..=most).contains(&log2_norm) || offset >= parameters.modulus().value() {
            let needed = format!("a norm up to 2^{most} and a value below the plaintext modulus");
            return Err(section.value("the numbers of a function", format!("2^{log2_norm} and {offset}"), needed));
        }
        let offset = offset.cast_signed();
        if form != 0 {
            let line = LINES.get(form as usize - 1).copied();
            let line = line.ok_or_else(|| section.value("the form of a function", form, LINES.len()))?;
            let most = plan.parameters().modulus().value() as usize - 1;
            let lines = line.count(plan.layout().domain()).min(most);
            let tables = plaintexts(context, &mut reader, ROWS, lines.div_ceil(plan.layout().stretch()))?;
            reader.finish()?;
            let line = LineLookup { plan: plan.clone(), line, tables, offset };
            return Ok(Self::new(plan, Prepared::Line(line)));
        }
        let [blocks, results] = plan.layout().blocks();
        let [in_column, in_row] = plan.layout().rest();
        let rows = plaintexts(context, &mut reader, ROWS, if in_column { results } else { 0 })?;
        let columns = plaintexts(context, &mut reader, COLUMNS, if in_row { blocks } else { 0 })?;
        let starts = reader.take(STARTS)?.words()?.iter().collect();
        let places = reader.take(PLACES)?.words()?.iter().collect();
        let section = reader.take(FACTORS)?;
        let factors = SmallPolynomials::mapped(plan.layout().degree(), container.row(&section)?, starts, places);
        let needed = plan.layout().factors();
        let factors = factors.filter(|factors| factors.count() == needed);
        let factors =
            factors.ok_or_else(|| section.value("factors", "others", format!("{needed}, and their places")))?;
        reader.finish()?;
        let matrix = Matrix { factors, log2_norm, rest: Rest { rows, columns, offset } };
        Ok(Self::new(plan, Prepared::Matrix(matrix)))
    }
}

/// All coefficients of some plaintexts.
fn coefficients(plaintexts: &[Plaintext]) -> Vec<u64> {
    plaintexts.iter().flat_map(|plaintext| plaintext.coefficients.iter().map(|x| x.cast_unsigned())).collect()
}

/// The `count` plaintexts of a section.
fn plaintexts(context: &Context, reader: &mut Reader<'_>, tag: u16, count: usize) -> Result<Vec<Plaintext>> {
    let (parameters, section) = (context.parameters(), reader.take(tag)?);
    let (degree, half) = (parameters.degree(), parameters.modulus().value().cast_signed() / 2);
    let words = section.words()?;
    if words.len() != count * degree {
        return Err(section.value("coefficients", words.len(), count * degree));
    }
    let signed: Vec<i64> = words.iter().map(u64::cast_signed).collect();
    if let Some(x) = signed.iter().find(|x| !(-half..=half).contains(*x)) {
        return Err(section.value("a coefficient", x, format!("from {} to {half}", -half)));
    }
    let content = Content::slots(degree);
    Ok(signed.chunks_exact(degree).map(|chunk| Plaintext::new(parameters, chunk.to_vec(), content)).collect())
}

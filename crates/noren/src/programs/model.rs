//! Models: the parameters of a program, read from JSON and checked.

use std::borrow::Cow;

use noren_rlwe::error::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::circuits::approx::Approximation;
use crate::circuits::basis::Basis;
use crate::programs::layout::{TableLayout, check_length};
use crate::schemes::error::SlotError;

/// How the spread of numbers is counted.
///
/// `{"ddof": 1}`: sums of squares are divided by the number of rows less `ddof` ("delta degrees of freedom"; 1, the
/// default, for a sample, 0 for a whole population).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SpreadModel {
    /// The number that is subtracted from the number of rows.
    pub ddof: usize,
}

/// Weighted sums of columns: `y_k = bias_k + sum_c weights_kc (x_c - mean_c) / scale_c`.
///
/// `{"weights": [0.5, -2.0], "bias": 1.0, "mean": [...], "scale": [...], "columns": ["age", "bmi"],
/// "outputs": ["risk"]}`; all but the weights may be left out. One list of weights makes one output, a list of lists
/// makes one for each; `mean` and `scale` standardise the columns first, at no cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearModel {
    /// The weights, for each output one for each column.
    pub weights: Weights,
    /// The summand of each output; zeros if left out.
    #[serde(default)]
    pub bias: Bias,
    /// The mean that is subtracted from each column; zeros if left out.
    #[serde(default)]
    pub mean: Option<Vec<f64>>,
    /// The divisor of each column after that; ones if left out.
    #[serde(default)]
    pub scale: Option<Vec<f64>>,
    /// The columns that the weights are for, by name or position; all columns, in order, if left out.
    #[serde(default)]
    pub columns: Option<Vec<Column>>,
    /// Names of the outputs.
    #[serde(default)]
    pub outputs: Option<Vec<String>>,
}

/// Probabilities `1 / (1 + e^-y)` of the outputs `y` of a [`LinearModel`], through a polynomial.
///
/// The fields of the linear model beside `"interval": 32.0` and either `"error": 1e-5` or `"degree": 127`. The polynomial
/// stands for the function where `|y|` is at most `interval`. One row with a much larger `|y|` makes all probabilities of
/// its ciphertext worthless (the polynomial grows without bound there, and overflows), so choose the interval with room.
/// Where the bounds of columns do not prove that all `|y|` are within it, the result carries the encrypted `y` too, and
/// whoever decrypts learns them: all numbers of a ciphertext with a `y` outside are refused. If bounds are stated when
/// planning, that is planned only where it is asked for: [`Shape::unproven_interval`](crate::programs::Shape). A wider
/// interval takes a higher degree: about `interval * ln(1 / error) / 3`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogisticModel {
    /// The linear part.
    #[serde(flatten)]
    pub linear: LinearModel,
    /// The largest `|y|` of all rows.
    pub interval: f64,
    /// The largest distance of the polynomial from the function; [`DEFAULT_ERROR`] if neither this nor the degree is
    /// given.
    #[serde(default)]
    pub error: Option<f64>,
    /// The degree of the polynomial, instead of the error.
    #[serde(default)]
    pub degree: Option<usize>,
}

/// The same polynomial of every entry.
///
/// `{"coefficients": [1.0, 0.0, 0.5], "basis": "power", "interval": [-10.0, 10.0]}`, coefficients lowest first. With
/// the basis `"chebyshev"` they are for the polynomials `T_k((2 x - a - b) / (b - a))` on the interval `[a, b]`
/// (`[-1, 1]` if left out). All entries must lie in the interval, as those of a [`LogisticModel`]; without one, powers hold
/// for whatever the table can hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolynomialModel {
    /// The coefficients, lowest first.
    pub coefficients: Vec<f64>,
    /// The basis of the coefficients.
    #[serde(default)]
    pub basis: BasisName,
    /// Where all entries lie.
    #[serde(default)]
    pub interval: Option<[f64; 2]>,
}

/// Pairs of columns.
///
/// `{"pairs": [["age", "bmi"], [0, 1]]}`: columns by name or position. All pairs, as a matrix, if left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PairsModel {
    /// The pairs.
    pub pairs: Option<Vec<(Column, Column)>>,
}

/// Weights for one output or for several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "weights must be a list of numbers, or a list of such lists")]
pub enum Weights {
    /// One output.
    One(Vec<f64>),
    /// One list for each output.
    Many(Vec<Vec<f64>>),
}

/// One bias for all outputs or one for each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "bias must be a number, or a list of numbers")]
pub enum Bias {
    /// The same for all outputs.
    One(f64),
    /// One for each output.
    Many(Vec<f64>),
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a column must be a position from 0 on, or a name")]
pub enum Column {
    /// Its position, from 0.
    Position(usize),
    /// Its name.
    Name(String),
}

/// The name of a basis of polynomials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BasisName {
    /// Powers.
    #[default]
    Power,
    /// Chebyshev polynomials.
    Chebyshev,
}

/// The error of an approximation if the model names none: a tenth of the last of four decimals, for a probability.
pub const DEFAULT_ERROR: f64 = 1e-5;

/// `y_k = bias_k + sum_c weights_kc x_c`, on the columns of one table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Affine {
    /// For each output a weight for each column of the table.
    pub weights: Vec<Vec<f64>>,
    /// For each output what is added.
    pub bias: Vec<f64>,
    /// For each output its name.
    pub names: Vec<String>,
}

impl Default for SpreadModel {
    fn default() -> Self {
        Self { ddof: 1 }
    }
}

impl Default for Bias {
    fn default() -> Self {
        Self::One(0.0)
    }
}

impl From<BasisName> for Basis {
    fn from(name: BasisName) -> Self {
        match name {
            BasisName::Power => Self::Power,
            BasisName::Chebyshev => Self::Chebyshev,
        }
    }
}

impl SpreadModel {
    /// The divisor of sums of squares.
    pub(super) fn divisor(&self, layout: &TableLayout) -> Result<f64> {
        match layout.rows().checked_sub(self.ddof) {
            None | Some(0) => {
                Err(Error::parameter("ddof", self.ddof, format!("below {}, the number of rows", layout.rows())))
            }
            Some(divisor) => Ok(divisor as f64),
        }
    }
}

impl LinearModel {
    /// The weighted sums for a table, with the standardisation folded into weights and biases.
    pub(super) fn resolve(&self, layout: &TableLayout, default_name: &str) -> Result<Affine> {
        let columns = match &self.columns {
            Some(columns) => columns.iter().map(|c| c.resolve(layout)).collect::<Result<Vec<_>>>()?,
            None => (0..layout.columns()).collect(),
        };
        let lists: Vec<Cow<'_, [f64]>> = match &self.weights {
            Weights::One(list) => vec![Cow::Borrowed(list)],
            Weights::Many(lists) => lists.iter().map(|list| Cow::Borrowed(&list[..])).collect(),
        };
        if lists.is_empty() {
            return Err(Error::parameter("weights", "an empty list", "a list of numbers for each output"));
        }
        let zeros = vec![0.0; columns.len()];
        let ones = vec![1.0; columns.len()];
        let mean = self.mean.as_ref().unwrap_or(&zeros);
        let scale = self.scale.as_ref().unwrap_or(&ones);
        check_list("means", mean, columns.len())?;
        check_list("scales", scale, columns.len())?;
        if let Some(index) = scale.iter().position(|s| !s.is_normal()) {
            return Err(Error::parameter(
                "scale",
                format!("{} for column {index}", scale[index]),
                "a number that can be divided by",
            ));
        }
        let mut bias = match &self.bias {
            Bias::One(bias) => vec![*bias; lists.len()],
            Bias::Many(biases) => biases.clone(),
        };
        check_list("biases", &bias, lists.len())?;
        let mut weights = Vec::with_capacity(lists.len());
        for (list, bias) in lists.iter().zip(&mut bias) {
            check_list("weights", list, columns.len())?;
            let mut folded = vec![0.0; layout.columns()];
            for (position, &column) in columns.iter().enumerate() {
                let weight = list[position] / scale[position];
                folded[column] += weight;
                *bias -= weight * mean[position];
            }
            weights.push(folded);
        }
        let names = match &self.outputs {
            Some(names) => names.clone(),
            None if lists.len() == 1 => vec![default_name.to_owned()],
            None => (0..lists.len()).map(|k| format!("{default_name} {k}")).collect(),
        };
        check_length("names of outputs", names.len(), lists.len())?;
        if let Some((_, name)) = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name)) {
            return Err(Error::parameter(
                "outputs",
                format!("{name:?} once more"),
                "a name of its own for each output",
            ));
        }
        Ok(Affine { weights, bias, names })
    }
}

impl LogisticModel {
    /// The polynomial that stands for the logistic function.
    ///
    /// # Errors
    /// An interval, an error or a degree that cannot be had; both an error and a degree.
    pub fn approximation(&self) -> Result<Approximation> {
        match (self.degree, self.error) {
            (Some(degree), None) => Approximation::sigmoid_of_degree(self.interval, degree),
            (None, error) => Approximation::sigmoid(self.interval, error.unwrap_or(DEFAULT_ERROR)),
            (Some(degree), Some(error)) => {
                Err(Error::parameter("degree", format!("{degree}, and the error {error}"), "the only one of the two"))
            }
        }
    }
}

impl Column {
    /// The position in a table.
    pub(super) fn resolve(&self, layout: &TableLayout) -> Result<usize> {
        match self {
            Self::Position(position) if *position < layout.columns() => Ok(*position),
            Self::Position(position) => {
                Err(Error::parameter("column", position, format!("below {}", layout.columns())))
            }
            Self::Name(name) => layout.column_named(name).ok_or_else(|| {
                let needed = match layout.column_names() {
                    [] => "a position: the columns of the table have no names".to_owned(),
                    names => format!("one of {names:?}"),
                };
                Error::parameter("column", name, needed)
            }),
        }
    }
}

/// Reads the model of a program; no text is an empty model.
pub(super) fn read<M: for<'a> Deserialize<'a>>(program: &str, text: Option<&str>, needed: &str) -> Result<M> {
    let text_or_none = text.unwrap_or("{}");
    serde_json::from_str(text_or_none).map_err(|error| {
        // An error of the values names no place in the text, which a caller with arguments has not written.
        let of_value = serde_json::from_str(text_or_none).ok().map(serde_json::from_value::<M>);
        let error = of_value.and_then(std::result::Result::err).unwrap_or(error);
        let found = text.map_or_else(|| format!("missing for {program}"), |_| format!("refused ({error})"));
        Error::parameter("model", found, needed)
    })
}

fn check_list(what: &'static str, list: &[f64], needed: usize) -> Result<()> {
    check_length(what, list.len(), needed)?;
    match list.iter().enumerate().find(|(_, x)| !x.is_finite()) {
        Some((index, &value)) => Err(SlotError::NotFinite { index, value }.into()),
        None => Ok(()),
    }
}

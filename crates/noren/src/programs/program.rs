//! The programs: their names, their models, what they need, and how to run them.

use noren_rlwe::error::{Error, Result};

use crate::circuits::recorder::{CircuitUsage, Recorder};
use crate::programs::evaluator::TableEvaluator;
use crate::programs::layout::{TableLayout, check_length};
use crate::programs::model::{self, LinearModel, LogisticModel, PairsModel, PolynomialModel, SpreadModel};
use crate::programs::table::{EncryptedTable, Layout};
use crate::programs::{entries, products, scores, statistics};

/// A computation on an encrypted table, with all that it takes besides the table.
///
/// | name | result, for a table of `n` rows | model | levels |
/// |---|---|---|---|
/// | `sum` | one row: the sum of each column | | 1, or 2 |
/// | `mean` | one row | | 1, or 2 |
/// | `variance` | one row | [`SpreadModel`], optional | 2, or 3 |
/// | `covariance` | a row and a column for each column | [`SpreadModel`], optional | 2, or 3 |
/// | `inner-product` | one number for each pair of columns | [`PairsModel`], optional | 2, or 3 |
/// | `linear` | `n` rows, a column for each output | [`LinearModel`] | 1 |
/// | `logistic` | as `linear` | [`LogisticModel`] | 1 + ceil(log2(degree + 1)) |
/// | `polynomial` | the polynomial of each entry | [`PolynomialModel`] | ceil(log2(degree + 1)), or one more |
///
/// Sums over more than 1024 rows take one level more: they are masked and divided by the number of rows in two steps, so
/// that the rounding of the mask does not grow with the rows.
///
/// Slots that a result does not name are masked: nothing but the numbers that were asked for (and encryption noise) leaves,
/// except for copies of them.
///
/// # Examples
/// ```
/// use noren::programs::{EncryptedTable, Layout, Program, TableLayout};
/// use noren::schemes::clear::{ClearEvaluator, ClearVector};
///
/// let program = Program::parse("mean", None)?;
/// let entries = [1.0, 10.0, 2.0, 20.0, 6.0, 60.0];
/// let layout = TableLayout::new(3, 2, 16)?.with_exponents_of(&entries)?;
/// let levels = program.plan(&layout)?.depth;
/// let vectors = layout.pack(&entries)?.into_iter().map(|v| ClearVector::new(v, levels)).collect::<Result<_, _>>()?;
/// let table = EncryptedTable::new(Layout::Table(layout), vectors)?;
///
/// let result = program.run(&ClearEvaluator, &table)?;
/// let slots: Vec<_> = result.ciphertexts().iter().map(|v| v.values().to_vec()).collect();
/// assert_eq!(result.layout().read(&slots, &[0.0])?.values, [3.0, 30.0]);
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Program {
    /// `sum_r x_rc` for each column.
    Sum,
    /// `(1 / n) sum_r x_rc` for each column.
    Mean,
    /// `(1 / (n - ddof)) sum_r (x_rc - mean_c)^2` for each column.
    Variance(SpreadModel),
    /// `(1 / (n - ddof)) sum_r (x_ri - mean_i) (x_rj - mean_j)` for all pairs of columns.
    Covariance(SpreadModel),
    /// `sum_r x_ri x_rj` for pairs of columns.
    InnerProduct(PairsModel),
    /// Weighted sums of the columns.
    Linear(LinearModel),
    /// Probabilities of a logistic regression.
    Logistic(LogisticModel),
    /// A polynomial of every entry.
    Polynomial(PolynomialModel),
}

impl Program {
    /// The names of all programs.
    pub const NAMES: [&'static str; 8] =
        ["sum", "mean", "variance", "covariance", "inner-product", "linear", "logistic", "polynomial"];

    /// The program of this name, with its model as JSON.
    ///
    /// # Errors
    /// No such program; a model that cannot be read, that is missing, or that the program does not take.
    pub fn parse(name: &str, json: Option<&str>) -> Result<Self> {
        match name {
            "sum" | "mean" if json.is_some() => Err(Error::parameter("model", format!("given for {name}"), "left out")),
            "sum" => Ok(Self::Sum),
            "mean" => Ok(Self::Mean),
            "variance" => model::read(name, json, "such as {\"ddof\": 1}").map(Self::Variance),
            "covariance" => model::read(name, json, "such as {\"ddof\": 1}").map(Self::Covariance),
            "inner-product" => model::read(name, json, "such as {\"pairs\": [[0, 1]]}").map(Self::InnerProduct),
            "linear" => model::read(name, json, "such as {\"weights\": [1, 2], \"bias\": 0}").map(Self::Linear),
            "logistic" => {
                let needed = "such as {\"weights\": [1, 2], \"bias\": 0, \"interval\": 16, \"error\": 1e-5}";
                model::read(name, json, needed).map(Self::Logistic)
            }
            "polynomial" => model::read(name, json, "such as {\"coefficients\": [1, 0, 2]}").map(Self::Polynomial),
            _ => Err(Error::parameter("program", name, format!("one of {}", Self::NAMES.join(", ")))),
        }
    }

    /// The name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Variance(_) => "variance",
            Self::Covariance(_) => "covariance",
            Self::InnerProduct(_) => "inner-product",
            Self::Linear(_) => "linear",
            Self::Logistic(_) => "logistic",
            Self::Polynomial(_) => "polynomial",
        }
    }

    /// Refuses columns whose bounds do not prove that all arguments lie in the interval of the function.
    ///
    /// # Errors
    /// [`ProgramError::UnprovenInterval`](crate::programs::ProgramError::UnprovenInterval), and a model that does not
    /// suit the layout.
    pub(super) fn check_interval(&self, layout: &TableLayout) -> Result<()> {
        match self {
            Self::Logistic(model) => scores::check_interval(layout, model),
            Self::Polynomial(model) => entries::check_interval(layout, model),
            _ => Ok(()),
        }
    }

    /// The levels and keys that the program needs for tables of this layout, and how much it does.
    ///
    /// The program itself runs on a [`Recorder`], so that the plan cannot disagree with the run.
    ///
    /// # Errors
    /// A model that does not suit the layout.
    pub fn plan(&self, layout: &TableLayout) -> Result<CircuitUsage> {
        let recorder = Recorder::new();
        let blanks = vec![recorder.fresh(layout.slots()); layout.ciphertexts()];
        self.run(&recorder, &EncryptedTable::new(Layout::Table(layout.clone()), blanks)?)?;
        Ok(recorder.usage())
    }

    /// Runs the program; ciphertexts are worked on side by side on the threads of the evaluator.
    ///
    /// Error bounds of the result are for the entries of the table as they are encrypted: if those only approximate
    /// something, only `mean` carries that over.
    ///
    /// # Errors
    /// A table of results for pairs of columns; ciphertexts of other slots than the layout; a model that does not suit the layout; too few levels; a missing key.
    pub fn run<E: TableEvaluator>(
        &self,
        ev: &E,
        table: &EncryptedTable<E::Ciphertext>,
    ) -> Result<EncryptedTable<E::Ciphertext>> {
        for ciphertext in table.ciphertexts() {
            check_length("slots of a ciphertext of the table", ev.slots(ciphertext), table.layout().slots())?;
        }
        match self {
            Self::Sum => statistics::sum(ev, table),
            Self::Mean => statistics::mean(ev, table),
            Self::Variance(model) => statistics::variance(ev, table, model),
            Self::Covariance(model) => products::covariance(ev, table, model),
            Self::InnerProduct(model) => products::inner_products(ev, table, model),
            Self::Linear(model) => scores::linear(ev, table, model),
            Self::Logistic(model) => scores::logistic(ev, table, model),
            Self::Polynomial(model) => entries::polynomial(ev, table, model),
        }
    }
}

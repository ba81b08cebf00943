//! Bounds on a function of Python between the numbers where it is asked.

use noren::switching::Variation;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::array::Numbers;
use crate::errors::Error;

/// Functions of numpy and of the module math that rise or fall throughout.
const MONOTONE: [&str; 36] = [
    "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "acos", "asin", "asinh", "atan", "atanh",
    "cbrt", "ceil", "deg2rad", "degrees", "erf", "erfc", "exp", "exp2", "expm1", "floor", "log", "log10", "log1p",
    "log2", "negative", "positive", "rad2deg", "radians", "rint", "sign", "sinh", "sqrt", "tanh", "trunc",
];

/// Those that turn at 0.
const TURNING: [&str; 6] = ["absolute", "abs", "cosh", "fabs", "reciprocal", "square"];

/// Those that change by no more than their argument, and turn often.
const BOUNDED: [&str; 2] = ["cos", "sin"];

/// The variation that the caller states, or that of a function of numpy, of the module math, or of `abs`.
pub(crate) fn variation_of(
    f: &Bound<'_, PyAny>,
    monotone: Option<&Bound<'_, PyAny>>,
    lipschitz: Option<f64>,
) -> PyResult<Variation> {
    let monotone = match monotone {
        None => None,
        Some(one) => match one.cast::<PyBool>() {
            Ok(said) => said.is_true().then(Vec::new),
            Err(_) => Some(Numbers::of(one)?.into_real_vector()?),
        },
    };
    match (monotone, lipschitz) {
        (Some(_), Some(_)) => Err(PyTypeError::new_err("monotone and lipschitz were given: one of them is needed")),
        (Some(turns), None) => Ok(Variation::Monotone(turns)),
        (None, Some(constant)) => Ok(Variation::Lipschitz(constant)),
        (None, None) => known(f)?.ok_or_else(|| {
            Error::new_err(
                "nothing is known of f between the numbers where it is asked, so that no error bound holds: state \
                 monotone=True if f only rises or only falls, monotone=[a, b] for the numbers where it turns or jumps, or \
                 lipschitz=L if abs(f(a) - f(b)) <= L * abs(a - b)",
            )
        }),
    }
}

/// The variation of a function, by its name.
fn known(f: &Bound<'_, PyAny>) -> PyResult<Option<Variation>> {
    let py = f.py();
    let of_module = || f.getattr("__module__").is_ok_and(|module| module.eq("math").unwrap_or(false));
    let is_abs = || py.import("builtins").and_then(|module| module.getattr("abs")).is_ok_and(|abs| f.is(&abs));
    if !(f.is_instance(&py.import("numpy")?.getattr("ufunc")?)? || of_module() || is_abs()) {
        return Ok(None);
    }
    let name: String = f.getattr("__name__")?.extract()?;
    let is_in = |names: &[&str]| names.contains(&&*name);
    Ok(match () {
        () if is_in(&MONOTONE) => Some(Variation::Monotone(Vec::new())),
        () if is_in(&TURNING) => Some(Variation::Monotone(vec![0.0])),
        () if is_in(&BOUNDED) => Some(Variation::Lipschitz(1.0)),
        () => None,
    })
}

//! Functions of numpy that are operators, such as `numpy.add(array, x)`, which is `array + x` too.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

/// The function, the method of what is encrypted on the left, and that of what is encrypted on the right.
const BINARY: [(&str, &str, &str); 22] = [
    ("add", "__add__", "__radd__"),
    ("subtract", "__sub__", "__rsub__"),
    ("multiply", "__mul__", "__rmul__"),
    ("divide", "__truediv__", "__rtruediv__"),
    ("floor_divide", "__floordiv__", "__rfloordiv__"),
    ("remainder", "__mod__", "__rmod__"),
    ("divmod", "__divmod__", "__rdivmod__"),
    ("power", "__pow__", "__rpow__"),
    ("matmul", "__matmul__", "__rmatmul__"),
    ("bitwise_and", "__and__", "__rand__"),
    ("bitwise_or", "__or__", "__ror__"),
    ("bitwise_xor", "__xor__", "__rxor__"),
    ("left_shift", "__lshift__", "__rlshift__"),
    ("right_shift", "__rshift__", "__rrshift__"),
    ("equal", "__eq__", "__eq__"),
    ("not_equal", "__ne__", "__ne__"),
    ("less", "__lt__", "__gt__"),
    ("less_equal", "__le__", "__ge__"),
    ("greater", "__gt__", "__lt__"),
    ("greater_equal", "__ge__", "__le__"),
    ("maximum", "_maximum", "_maximum"),
    ("minimum", "_minimum", "_minimum"),
];

/// The function and the method.
const UNARY: [(&str, &str); 4] =
    [("negative", "__neg__"), ("invert", "__invert__"), ("absolute", "__abs__"), ("sign", "_sign")];

/// Methods that an object has, but not as an operator: those of `object` itself, which compare objects.
const OF_OBJECT: [&str; 2] = ["__eq__", "__ne__"];

/// The functions of numpy that a class refuses, and the calls that serve instead.
pub(crate) struct Advice {
    /// The operands, such as "ciphertexts".
    pub(crate) operands: &'static str,
    /// The call in place of a function of this name.
    pub(crate) instead: fn(&str) -> &'static str,
}

impl Advice {
    /// Refuses a function of numpy.
    pub(crate) fn refuse<T>(&self, function: &Bound<'_, PyAny>) -> PyResult<T> {
        let name = name_of(function);
        let (operands, instead) = (self.operands, (self.instead)(&name));
        Err(PyTypeError::new_err(format!("numpy's {name} takes no {operands}: {instead}")))
    }
}

/// A function of numpy with an object of this class among its operands, as the operator that it is.
pub(crate) fn apply<'py>(
    class: &Bound<'py, PyType>,
    function: &Bound<'py, PyAny>,
    (method, operands): (&str, &Bound<'py, PyTuple>),
    named: Option<&Bound<'py, PyDict>>,
    advice: &Advice,
) -> PyResult<Bound<'py, PyAny>> {
    let name = name_of(function);
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        let keys: Vec<String> = named.keys().iter().map(|key| key.to_string()).collect();
        return Err(PyTypeError::new_err(format!(
            "numpy's {name} takes no {} with {}=: an array in clear cannot hold what is encrypted, write y = array + x and \
             the like",
            advice.operands,
            keys.join("=, ")
        )));
    }
    if method != "__call__" {
        return advice.refuse(function);
    }
    let is_own = |operand: &Bound<'py, PyAny>| operand.get_type().is(class);
    let (own, operator, other) = match operands.len() {
        1 => {
            let found = UNARY.iter().find(|(function, _)| *function == name);
            (operands.get_item(0)?, found.map(|(_, operator)| *operator), None)
        }
        2 => {
            let found = BINARY.iter().find(|(function, ..)| *function == name);
            let (left, right) = (operands.get_item(0)?, operands.get_item(1)?);
            if is_own(&left) {
                (left, found.map(|(_, operator, _)| *operator), Some(right))
            } else {
                (right, found.map(|(_, _, operator)| *operator), Some(left))
            }
        }
        _ => return advice.refuse(function),
    };
    let has = |operator: &&str| OF_OBJECT.contains(operator) || class.hasattr(*operator).unwrap_or(false);
    let Some(operator) = operator.filter(has) else { return advice.refuse(function) };
    let Some(other) = other else { return own.call_method0(operator) };
    let result = own.call_method1(operator, (&other,))?;
    if !result.is(other.py().NotImplemented()) {
        return Ok(result);
    }
    if name == "matmul" {
        return advice.refuse(function);
    }
    // Arguments that an operator does not take.
    let kind = match other.getattr("dtype") {
        Ok(dtype) => format!("an array of {dtype}"),
        Err(_) => other.get_type().name()?.to_string(),
    };
    Err(PyTypeError::new_err(format!("numpy's {name} takes no {} beside {kind}: numbers are needed", advice.operands)))
}

/// The name of a function of numpy.
pub(crate) fn name_of(function: &Bound<'_, PyAny>) -> String {
    function.getattr("__name__").map_or_else(|_| "function".to_owned(), |name| name.to_string())
}

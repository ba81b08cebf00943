//! Refusals of operations of Python on objects that are no numbers, with the calls to use instead.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::ufuncs::Advice;

/// `==`, `!=`, `<` and the like.
pub(crate) fn comparison<T>() -> PyResult<T> {
    refused(
        "ciphertexts cannot be compared: nobody without the key knows what they hold; compare what \
         ctx.decrypt(x, key) gives, bytes(x), or objects by `is`",
    )
}

/// `<=` and `>=`.
pub(crate) fn strict<T>() -> PyResult<T> {
    refused(
        "of approximate numbers `<=` does not differ from `<`: nearer to each other than the dead zone, either may be found; \
         write x < y, or 1 - (y < x)",
    )
}

/// `bool(x)`, and with it `if x`, `x and y`.
pub(crate) fn truth<T>() -> PyResult<T> {
    refused("a ciphertext is neither true nor false: nobody without the key knows what it holds")
}

/// `for value in x`, `value in x`.
pub(crate) fn iteration<T>() -> PyResult<T> {
    refused(
        "the values of a ciphertext cannot be taken one by one: multiply by a vector of zeros and ones, rotate, or \
         decrypt with ctx.decrypt(x, key)",
    )
}

/// `len(x)`.
pub(crate) fn length<T>() -> PyResult<T> {
    refused("a ciphertext has no len(): x.shape says how many values it holds, in clear")
}

/// `float(x)`, `int(x)`, `complex(x)`.
pub(crate) fn number<T>() -> PyResult<T> {
    refused("a ciphertext is no number: decrypt it with ctx.decrypt(x, key)")
}

/// `numpy.array(x)`.
pub(crate) fn array<T>() -> PyResult<T> {
    refused(
        "a ciphertext is no array of numbers: decrypt it with ctx.decrypt(x, key), or keep ciphertexts in a list; of \
         masked arrays, operands are values.filled(number)",
    )
}

/// `numpy.dot(x, y)` and the like.
pub(crate) const FUNCTIONS: Advice = Advice {
    operands: "ciphertexts",
    instead: |name| match name {
        "dot" | "matmul" | "inner" | "vdot" => {
            "write `matrix @ x` for a matrix in clear, and ev.sum(x * y) for vectors"
        }
        _ => "use operators, such as `matrix @ x`, and methods of an evaluator, such as ev.sum(x)",
    },
};

/// `x / y` where it is no product.
pub(crate) fn division<T>(how: &str) -> PyResult<T> {
    Err(PyTypeError::new_err(format!("a ciphertext cannot be divided like that: {how}")))
}

fn refused<T>(message: &'static str) -> PyResult<T> {
    Err(PyTypeError::new_err(message))
}

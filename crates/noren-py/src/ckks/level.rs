//! Levels as arguments.

use noren::ckks::Parameters;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

use crate::errors::LevelError;

/// A level from the caller.
#[derive(Clone, Copy)]
pub(crate) struct Level(usize);

impl Level {
    pub(crate) const fn get(self) -> usize {
        self.0
    }

    /// The level, or the highest of the parameters where none was given.
    pub(crate) fn or_highest(level: Option<Self>, parameters: &Parameters) -> usize {
        level.map_or_else(|| parameters.max_level(), Self::get)
    }
}

impl<'py> FromPyObject<'_, 'py> for Level {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.extract::<usize>() {
            Ok(level) => Ok(Self(level)),
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => Err(LevelError::new_err(format!(
                "level is {}, it must be from 0, where no product can follow, to max_level of the parameters",
                object.to_owned()
            ))),
            Err(error) => Err(error),
        }
    }
}

//! Comparisons and choices of an evaluator with a switch to TFHE.

use noren::switching::{Decision, SchemeSwitch};
use pyo3::prelude::*;

use crate::array::detached;
use crate::ckks::classes::{PyCiphertext, PyEvaluator};
use crate::ckks::operand::Operand;
use crate::errors::MissingKeyError;

impl PyEvaluator {
    /// The switch to TFHE.
    fn switch(&self) -> PyResult<&SchemeSwitch> {
        self.switch.as_deref().ok_or_else(|| {
            MissingKeyError::new_err(
                "the evaluator has no keys for comparisons, which switch to TFHE and back: make them with \
                 `noren.switching.SwitchingKeys.generate(parameters, secret, tfhe_secret)`, and use \
                 `evaluator.with_switching(noren.switching.Switch(bootstrapper, tfhe_keys, switching_keys))`",
            )
        })
    }

    /// 1 or -1.
    pub(crate) fn sign_of(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<Decision> {
        let switch = self.switch()?;
        detached(py, || switch.sign(&*self.ready(&x.inner, 0)?))
    }

    /// 1 where x < y, 0 elsewhere.
    pub(crate) fn less_than(&self, py: Python<'_>, x: &PyCiphertext, y: &Operand<'_>) -> PyResult<Decision> {
        let switch = self.switch()?;
        y.check_beside(&x.inner)?;
        detached(py, || switch.less(&*self.ready(&x.inner, 0)?, y.ready(self, 0)?.beside()))
    }

    /// 1 where x > y, 0 elsewhere.
    pub(crate) fn greater_than(&self, py: Python<'_>, x: &PyCiphertext, y: &Operand<'_>) -> PyResult<Decision> {
        let switch = self.switch()?;
        y.check_beside(&x.inner)?;
        detached(py, || switch.greater(&*self.ready(&x.inner, 0)?, y.ready(self, 0)?.beside()))
    }

    /// The larger of two numbers.
    pub(crate) fn larger(&self, py: Python<'_>, x: &PyCiphertext, y: &Operand<'_>) -> PyResult<PyCiphertext> {
        let switch = self.switch()?;
        self.join(py, x, y, 1, |_, x, y| switch.maximum(x, y))
    }

    /// The smaller of two numbers.
    pub(crate) fn smaller(&self, py: Python<'_>, x: &PyCiphertext, y: &Operand<'_>) -> PyResult<PyCiphertext> {
        let switch = self.switch()?;
        self.join(py, x, y, 1, |_, x, y| switch.minimum(x, y))
    }

    /// max(x, 0).
    pub(crate) fn rectified(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<PyCiphertext> {
        let switch = self.switch()?;
        self.run(py, |_| switch.relu(&*self.ready(&x.inner, 1)?))
    }

    /// `y + condition (x - y)`.
    pub(crate) fn chosen(
        &self,
        py: Python<'_>,
        condition: &PyCiphertext,
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
    ) -> PyResult<PyCiphertext> {
        if x.is_instance_of::<PyCiphertext>() || y.is_instance_of::<PyCiphertext>() {
            let (x, y) = (Operand::of(x)?, Operand::of(y)?);
            return self.run(py, |ev| {
                let condition = self.ready(&condition.inner, 1)?;
                ev.select(&condition, x.ready(self, 1)?.beside(), y.ready(self, 1)?.beside())
            });
        }
        let numpy = py.import("numpy")?;
        // As floats, which do not wrap around.
        let [x, y] = [x, y].map(|z| numpy.call_method1("multiply", (z, 1.0)));
        let (x, y) = (x?, y?);
        let difference = numpy.call_method1("subtract", (x, &y))?;
        let added = self.product_with(py, condition, &Operand::of(&difference)?)?;
        self.sum_with(py, &added, &Operand::of(&y)?)
    }
}

//! `Graph`: what a traced function computes.

use std::sync::{Mutex, PoisonError};

use noren::graph::{Element, Graph, Operation};
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::detached;
use crate::errors::raise;
use crate::whole::whole;

/// The operations of a traced function, each on the results of earlier ones.
#[pyclass(frozen, name = "Graph", module = "noren.compiler")]
#[derive(Default)]
pub(crate) struct PyGraph(pub(crate) Mutex<Graph>);

/// Position, shape, element type and range of a node.
pub(crate) type Node = (usize, Vec<usize>, &'static str, f64, f64);

#[pymethods]
impl PyGraph {
    /// draft: whether it is calibrated later.
    #[new]
    #[pyo3(signature = (draft = false))]
    fn new(draft: bool) -> Self {
        Self(Mutex::new(if draft { Graph::draft() } else { Graph::default() }))
    }

    /// Appends an operation, given as JSON, that the function asks for at a place such as "scores.py:12". The numbers of a constant or
    /// of a matrix may be given as an array, in place of those of the JSON, and of a sparse matrix the values of its blocks, with
    /// the pattern, row and column of each in another array.
    ///
    /// Returns (position, shape, "bool" or "integer" or "real", low, high) of its result.
    ///
    /// Raises Error for operands that it does not take.
    #[pyo3(signature = (operation, place, numbers = None, blocks = None))]
    fn push(
        &self,
        operation: &str,
        place: &str,
        numbers: Option<PyReadonlyArray1<'_, f64>>,
        blocks: Option<PyReadonlyArray2<'_, u32>>,
    ) -> PyResult<Node> {
        let mut operation = serde_json::from_str(operation)
            .map_err(|error| PyValueError::new_err(format!("an operation could not be read: {error}")))?;
        if let Some(numbers) = numbers {
            match &mut operation {
                Operation::Constant { values: own, .. } | Operation::MatMul { matrix: own, .. } => {
                    *own = numbers.as_slice()?.to_vec();
                }
                Operation::Sparse { matrix, .. } => matrix.values = numbers.as_slice()?.to_vec(),
                _ => return Err(PyValueError::new_err("numbers are for constants and matrices alone")),
            }
        }
        if let Some(blocks) = blocks {
            let (Operation::Sparse { matrix, .. }, [_, 3]) = (&mut operation, blocks.shape()) else {
                let needed = "blocks are for sparse matrices alone: pattern, row and column of each";
                return Err(PyValueError::new_err(needed));
            };
            matrix.blocks = blocks.as_slice()?.as_chunks().0.to_vec();
        }
        let mut graph = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let position = graph.push(operation, place).map_err(raise)?;
        let node = graph.node(position);
        Ok((position, node.shape.clone(), element_name(node.element), node.range.low, node.range.high))
    }

    /// The function with ranges of intermediate results from examples of its inputs, of one request or of several one after the other,
    /// widened by a margin in widths at both ends; with bounds on the errors of results, or with those from one intermediate result to
    /// the next alone.
    ///
    /// Raises Error for examples of other sizes, and for a margin that is negative.
    #[pyo3(signature = (examples, margin, bounded = true))]
    fn calibrated(
        &self,
        py: Python<'_>,
        examples: Vec<PyReadonlyArray1<'_, f64>>,
        margin: f64,
        bounded: bool,
    ) -> PyResult<Self> {
        let graph = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let examples = vectors(&examples)?;
        let found = detached(py, || match bounded {
            true => graph.calibrated(&examples, margin),
            false => graph.calibrated_apart(&examples, margin),
        })?;
        Ok(Self(Mutex::new(found)))
    }

    /// Says which nodes the function returns. Raises Error for nodes that there are not.
    fn finish(&self, #[pyo3(from_py_with = whole)] outputs: Vec<usize>) -> PyResult<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).finish(outputs).map_err(raise)
    }
}

/// The numbers of arrays.
pub(crate) fn vectors(arrays: &[PyReadonlyArray1<'_, f64>]) -> PyResult<Vec<Vec<f64>>> {
    arrays.iter().map(values).collect()
}

/// The numbers of an array.
pub(crate) fn values(array: &PyReadonlyArray1<'_, f64>) -> PyResult<Vec<f64>> {
    Ok(array.as_slice()?.to_vec())
}

/// The name of an element type.
pub(crate) const fn element_name(element: Element) -> &'static str {
    match element {
        Element::Bool => "bool",
        Element::Integer => "integer",
        Element::Real => "real",
    }
}

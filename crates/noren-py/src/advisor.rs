//! The functions of `noren.advisor`: workloads and advice travel as JSON, beside what runs.

use std::path::PathBuf;
use std::sync::PoisonError;

use noren::Error;
use noren::advisor::{Advice, Device, Limits, Workload, advise};
use noren::backends::calibrate;
use noren::compiler;
use noren::cost::{Machine, Party};
use pyo3::prelude::*;

use crate::array::detached;
use crate::compiler::graph::PyGraph;
use crate::compiler::program::PyProgram;
use crate::errors::raise;
use crate::files::destination;
use crate::machine::machine_of;
use crate::parameters::security_of;
use crate::whole::whole;

/// Advice as JSON, and the program of each candidate with how often it runs.
type Advised = (String, Vec<(PyProgram, usize)>);

/// The program of each candidate, and the number of its runs.
fn programs(advice: &Advice) -> Vec<(PyProgram, usize)> {
    let compiled = advice.candidates.iter().map(|candidate| &candidate.compiled);
    compiled.map(|compiled| (PyProgram(compiled.program()), compiled.runs)).collect()
}

/// Ways to do a workload, given and returned as JSON; sizes in bytes, times in seconds. With the programs of all.
#[pyfunction]
#[pyo3(signature = (workload, *, client, machine, threads, server_memory, client_memory, server_seconds, client_seconds))]
#[allow(clippy::too_many_arguments, reason = "the options of one function of Python")]
pub(crate) fn advise_workload(
    py: Python<'_>,
    workload: &str,
    client: Option<&str>,
    machine: Option<PathBuf>,
    #[pyo3(from_py_with = whole)] threads: Option<usize>,
    #[pyo3(from_py_with = whole)] server_memory: Option<u64>,
    #[pyo3(from_py_with = whole)] client_memory: Option<u64>,
    server_seconds: Option<f64>,
    client_seconds: Option<f64>,
) -> PyResult<Advised> {
    let limits = Limits { server_memory, client_memory, server_seconds, client_seconds };
    py.detach(|| {
        let workload = Workload::parse(workload)?;
        let (client, server) = parties(client, machine, threads)?;
        let advice = advise(&workload, &client, &server, &limits)?;
        Ok((advice.report(&workload, &client, &server).to_json(), programs(&advice)))
    })
    .map_err(raise)
}

/// The schemes that evaluate a graph, as JSON; sizes in bytes, times in seconds. With the programs of all.
///
/// Raises Error if none does within the limits.
#[pyfunction]
#[pyo3(signature = (graph, *, precision, dead_zone, security, objective, client, machine, threads, limits))]
#[allow(clippy::too_many_arguments, reason = "the options of one function of Python")]
pub(crate) fn advise_function(
    py: Python<'_>,
    graph: &PyGraph,
    precision: Option<f64>,
    dead_zone: Option<f64>,
    #[pyo3(from_py_with = whole)] security: Option<u32>,
    objective: &str,
    client: Option<&str>,
    machine: Option<PathBuf>,
    #[pyo3(from_py_with = whole)] threads: Option<usize>,
    #[pyo3(from_py_with = limits_of)] limits: Limits,
) -> PyResult<Advised> {
    let graph = graph.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let options =
        compiler::Options { precision, dead_zone, security: security_of(security)?, ..compiler::Options::default() };
    detached(py, || {
        let (client, server) = parties(client, machine, threads)?;
        let advice = compiler::advise(&graph, &options, objective.parse()?, &client, &server, &limits)?;
        Ok((compiler::Shapes::of(&graph).report(&advice, &client, &server).to_json(), programs(&advice)))
    })
}

/// The limits of the server's memory, the client's memory, the server's time and the client's time.
fn limits_of(limits: &Bound<'_, PyAny>) -> PyResult<Limits> {
    let (server_memory, client_memory, server_seconds, client_seconds) =
        limits.extract::<(Bound<'_, PyAny>, _, _, _)>()?;
    Ok(Limits {
        server_memory: whole(&server_memory)?,
        client_memory: whole(&client_memory)?,
        server_seconds,
        client_seconds,
    })
}

/// The client and the server: a device by its name, and the machine of a file; this machine, with all threads, for None.
///
/// # Errors
/// A device that there is not; a file that is none of a machine.
fn parties(
    client: Option<&str>,
    machine: Option<PathBuf>,
    threads: Option<usize>,
) -> noren::error::Result<(Party, Party)> {
    let threads = threads.unwrap_or_else(cores);
    let machine = match machine {
        Some(path) => machine_of(&path)?,
        None => Machine::here(threads, |_, _| ())?,
    };
    let server = Party::new(machine, threads);
    let client = match client {
        Some(name) => Device::named(name)?.party(),
        None => Party { threads: 1, ..server.clone() },
    };
    Ok((client, server))
}

/// Measures this machine, and writes its costs to a file: the usual one for None. Gives the path.
#[pyfunction]
#[pyo3(signature = (path, *, threads, force))]
pub(crate) fn calibrate_to(
    py: Python<'_>,
    path: Option<PathBuf>,
    #[pyo3(from_py_with = whole)] threads: Option<usize>,
    force: bool,
) -> PyResult<PathBuf> {
    py.detach(|| {
        let needed = "a file: neither NOREN_MACHINE, XDG_CACHE_HOME nor HOME says where costs are kept";
        // The usual file is noren's own, and is replaced.
        let force = force || path.is_none();
        let path = path.or_else(Machine::default_path).ok_or_else(|| Error::parameter("path", "None", needed))?;
        if !force && path.symlink_metadata().is_ok() {
            return Err(Error::Exists { path });
        }
        calibrate(&[1, threads.unwrap_or_else(cores)], |_, _| ())?.save(destination(&path, force))?;
        Ok(path)
    })
    .map_err(raise)
}

/// The names of the devices that a client may be, with their descriptions and whether their costs were measured.
#[pyfunction]
pub(crate) fn devices() -> Vec<(&'static str, &'static str, bool)> {
    Device::ALL.iter().map(|device| (device.name, device.description, device.measured)).collect()
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

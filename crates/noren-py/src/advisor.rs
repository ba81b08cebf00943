//! The functions of `noren.advisor`: workloads and advice travel as JSON.

use std::path::PathBuf;

use noren::Error;
use noren::advisor::{Device, Limits, Workload, advise};
use noren::backends::calibrate;
use noren::cost::{Machine, Party};
use pyo3::prelude::*;

use crate::errors::raise;
use crate::files::destination;
use crate::whole::whole;

/// The name of the reference machine, in place of a file.
const REFERENCE: &str = "reference";

/// Ways to do a workload, given and returned as JSON; sizes in bytes, times in seconds.
#[pyfunction]
#[pyo3(signature = (workload, *, client, machine, threads, server_memory, client_memory, server_seconds, client_seconds))]
#[allow(clippy::too_many_arguments, reason = "the options of one function of Python")]
pub(crate) fn advise_json(
    py: Python<'_>,
    workload: &str,
    client: Option<&str>,
    machine: Option<PathBuf>,
    #[pyo3(from_py_with = whole)] threads: Option<usize>,
    #[pyo3(from_py_with = whole)] server_memory: Option<u64>,
    #[pyo3(from_py_with = whole)] client_memory: Option<u64>,
    server_seconds: Option<f64>,
    client_seconds: Option<f64>,
) -> PyResult<String> {
    let limits = Limits { server_memory, client_memory, server_seconds, client_seconds };
    py.detach(|| {
        let workload = Workload::parse(workload)?;
        let (client, server) = parties(client, machine, threads)?;
        let advice = advise(&workload, &client, &server, &limits)?;
        Ok(advice.report(&workload, &client, &server).to_json())
    })
    .map_err(raise)
}

/// The client and the server: a device by its name, and the machine of a file; this machine, with all threads, for None.
///
/// # Errors
/// A device that there is not; a file that is none of a machine.
pub(crate) fn parties(
    client: Option<&str>,
    machine: Option<PathBuf>,
    threads: Option<usize>,
) -> noren::error::Result<(Party, Party)> {
    let threads = threads.unwrap_or_else(cores);
    let machine = match machine {
        Some(path) if path.as_os_str() == REFERENCE => Machine::reference(),
        Some(path) => Machine::load(&path)?,
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

//! The report of files that were written.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::console::Console;
use crate::describe::words::{bytes, error};
use crate::failure::Failure;
use crate::outputs::Output;

/// Files that were written.
#[derive(Serialize)]
pub(crate) struct FilesReport {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) bytes: Vec<u64>,
    /// The bounds on the errors of results, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error_bounds: Option<Vec<f64>>,
}

impl FilesReport {
    /// The report of one file.
    pub(crate) fn of(output: &Output, bytes: u64) -> Self {
        Self { files: vec![output.path().to_owned()], bytes: vec![bytes], error_bounds: None }
    }
}

impl fmt::Display for FilesReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bounds = self.error_bounds.as_deref().unwrap_or_default();
        let lines = self.files.iter().zip(&self.bytes).enumerate().map(|(at, (path, size))| {
            let within = bounds.get(at).map_or(String::new(), |bound| match *bound > 0.0 {
                true => format!(", within {}", error(*bound)),
                false => ", exact".to_owned(),
            });
            format!("wrote {}, {}{within}", path.display(), bytes(*size as f64))
        });
        f.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}

/// Reports the one file that was written, of these bytes.
pub(crate) fn written(output: &Output, bytes: &[u8], console: &Console) -> Result<(), Failure> {
    console.report(&FilesReport::of(output, bytes.len() as u64))
}

//! Numbers and keywords that are asked for.

use std::path::PathBuf;

use clap::Args;
use noren::retrieval::Key;

use crate::console::Console;
use crate::describe::words::count;
use crate::failure::Failure;
use crate::tables::options::TableOptions;

/// The keys of a request: keywords, or numbers of rows. Decryption takes them again, in the same order.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct Source {
    /// A keyword, or the number of a row, from 0; may be given several times
    #[arg(long, value_name = "VALUE")]
    ask: Vec<String>,
    /// A table of one column, or with --columns one of its columns: keywords, or numbers of rows
    #[arg(long, value_name = "FILE")]
    ask_from: Option<PathBuf>,
}

/// The keys of a request, and the options of a table that holds them.
#[derive(Debug, Args)]
pub(super) struct Asked {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    table: TableOptions,
}

impl Asked {
    /// The keys of rows: keywords, or numbers below that of the rows of the table.
    pub(super) fn keys(&self, by_keyword: bool, rows: usize, console: &Console) -> Result<Vec<Key<'static>>, Failure> {
        let key = |text: &str| match by_keyword {
            true if text.is_empty() => Err("a keyword".to_owned()),
            true => Ok(Key::Keyword(text.as_bytes().to_owned().into())),
            false => match text.parse() {
                Ok(number) if number < rows => Ok(Key::Number(number)),
                _ => Err(format!("the number of a row, 0 to {}", rows - 1)),
            },
        };
        let Some(path) = &self.source.ask_from else {
            // As cells of tables are read.
            let texts = self.source.ask.iter().map(|text| text.trim());
            let refused =
                |text: &str, needed| Failure::Unsuitable { what: "--ask", found: format!("{text:?}"), needed };
            return texts.map(|text| key(text).map_err(|needed| refused(text, needed))).collect();
        };
        let table = self.table.read_texts(path, console)?;
        let column = match (self.table.columns(), table.columns) {
            ([], 1) => 0,
            ([], columns) => {
                let needed = "one, or --columns with the one of keywords or numbers";
                return Err(Failure::input(path, "the table", count(columns, "column"), needed));
            }
            (columns, _) => match table.chosen(columns, path)?[..] {
                [column] => column,
                _ => {
                    let (found, needed) = (count(columns.len(), "column"), "one".to_owned());
                    return Err(Failure::Unsuitable { what: "--columns", found, needed });
                }
            },
        };
        let cells = table.rows().enumerate().map(|(row, cells)| (row, &cells[column]));
        let read = |(row, text): (usize, &String)| {
            key(text).map_err(|needed| Failure::input(path, table.place(row, column), format!("{text:?}"), needed))
        };
        cells.map(read).collect()
    }
}

//! Rows of a table as bytes, and back: CSV text, a line of names, unless they are left out, and one of cells.
//!
//! Names go with each row because a description of a table has no place for texts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::Args;
use csv::{ReaderBuilder, StringRecord, Writer, WriterBuilder};
use noren::retrieval::{Key, Rows};
use noren_rlwe::wire::file::Access;

use crate::console::Console;
use crate::failure::Failure;
use crate::outputs::Output;
use crate::tables::dialect::separator_of_texts;
use crate::tables::options::TableOptions;
use crate::tables::texts::Texts;

/// The table of the holder, and which of its cells rows consist of.
#[derive(Debug, Args)]
pub(super) struct TableArguments {
    /// The table, .csv or .tsv, or - for standard input: a row has all its columns but that of --by, or those of --columns
    table: PathBuf,
    #[command(flatten)]
    options: TableOptions,
    /// The column with the keywords that rows are asked for by, by name or position from 0 [default: they are asked for by their
    /// numbers, from 0]
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
    /// Leave the names of columns out of rows, which are shorter then
    #[arg(long)]
    without_names: bool,
}

/// The rows of a table as bytes.
pub(super) struct Records {
    keywords: Option<Vec<String>>,
    /// Row after row.
    bytes: Vec<u8>,
    /// Where each row ends.
    ends: Vec<usize>,
}

impl TableArguments {
    /// The file of the table.
    pub(super) fn path(&self) -> &Path {
        &self.table
    }

    /// Whether rows are asked for by keywords.
    pub(super) const fn by_keyword(&self) -> bool {
        self.by.is_some()
    }

    /// Reads the table; refuses rows without a keyword, and keywords that stand twice.
    pub(super) fn read(&self, console: &Console) -> Result<Records, Failure> {
        let path = &self.table;
        let table = self.options.read_texts(path, console)?;
        let by = self.by.as_ref().map(|by| table.position("--by", by, path)).transpose()?;
        let columns = match self.options.columns() {
            [] => (0..table.columns).filter(|&column| by != Some(column)).collect(),
            columns => table.chosen(columns, path)?,
        };
        let keywords = by.map(|by| keywords(&table, by, path)).transpose()?;
        let names = if self.without_names { &[] } else { &table.names[..] };
        let (mut text, mut ends) = (WriterBuilder::new().flexible(true).from_writer(Vec::new()), Vec::new());
        for row in table.rows() {
            let mut line = |cells: &[String]| match cells.is_empty() || columns.is_empty() {
                true => Ok(()),
                false => text.write_record(columns.iter().map(|&column| &cells[column])),
            };
            line(names).and_then(|()| line(row)).expect("memory takes text");
            ends.push(written(&mut text));
        }
        let bytes = text.into_inner().expect("memory takes text");
        Ok(Records { keywords, bytes, ends })
    }
}

/// The bytes that were written so far.
fn written(text: &mut Writer<Vec<u8>>) -> usize {
    text.flush().expect("memory takes text");
    text.get_ref().len()
}

/// The keywords in a column.
fn keywords(table: &Texts, by: usize, path: &Path) -> Result<Vec<String>, Failure> {
    let mut first = HashMap::new();
    for (row, cells) in table.rows().enumerate() {
        let keyword = &cells[by];
        if keyword.is_empty() {
            return Err(Failure::input(path, table.place(row, by), "nothing", "a keyword, for --by"));
        }
        if let Some(before) = first.insert(keyword, row) {
            let found = format!("{keyword:?}, as in row {}", before + 1);
            return Err(Failure::input(path, table.place(row, by), found, "a keyword of its own, for --by"));
        }
    }
    Ok(table.rows().map(|cells| cells[by].clone()).collect())
}

impl Records {
    /// Does something with the rows.
    pub(super) fn with<T>(&self, work: impl FnOnce(Rows<'_>) -> T) -> T {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        // Without the end of the last line.
        let rows = starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end.max(start + 1) - 1]);
        match &self.keywords {
            None => work(Rows::Numbered(&rows.collect::<Vec<_>>())),
            Some(keywords) => {
                let keywords = keywords.iter().map(String::as_bytes);
                work(Rows::Named(&keywords.zip(rows).collect::<Vec<_>>()))
            }
        }
    }
}

/// Writes the rows that were found, each behind what it was asked for by; gives how many there are. `reply` is the file of the reply.
pub(super) fn write(
    keys: &[Key<'_>],
    rows: &[Option<Vec<u8>>],
    reply: &Path,
    output: &Output,
) -> Result<usize, Failure> {
    let separator = separator_of_texts(output.path())?;
    let found: Vec<(&Key<'_>, &Vec<u8>)> =
        keys.iter().zip(rows).filter_map(|(key, row)| Some((key, row.as_ref()?))).collect();
    let parse = |row: &Vec<u8>| {
        Row::parse(row).ok_or_else(|| {
            let needed = "a line of cells, behind one of names or none: the table was taken in by something else";
            Failure::input(reply, "a row", format!("{:?}", String::from_utf8_lossy(row)), needed)
        })
    };
    let parsed = found.iter().map(|(_, row)| parse(row)).collect::<Result<Vec<_>, _>>()?;
    let first = parsed.first().map(Row::labels).unwrap_or_default();
    if let Some(other) = parsed.iter().map(Row::labels).find(|labels| *labels != first) {
        let (found, needed) =
            (format!("columns {}", other.join(", ")), format!("{}, as in other rows", first.join(", ")));
        return Err(Failure::input(reply, "a row", found, needed));
    }
    output.write_with(Access::Owner, |sink| {
        let mut writer = WriterBuilder::new().delimiter(separator).from_writer(sink);
        let key = match keys.first() {
            Some(Key::Number(_)) => "row",
            _ => "keyword",
        };
        writer.write_record(std::iter::once(key).chain(first.iter().map(String::as_str)))?;
        for ((key, _), Row { cells, .. }) in found.iter().zip(&parsed) {
            let key = match key {
                Key::Number(number) => number.to_string(),
                Key::Keyword(keyword) => String::from_utf8_lossy(keyword).into_owned(),
            };
            writer.write_record(std::iter::once(key.as_str()).chain(cells))?;
        }
        writer.flush()
    })?;
    Ok(found.len())
}

/// A row of a table.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    /// The names of its columns, if they were not left out.
    names: Option<StringRecord>,
    cells: StringRecord,
}

impl Row {
    /// The row in these bytes; `None` for those of no row.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut reader = ReaderBuilder::new().has_headers(false).from_reader(bytes);
        let lines = reader.records().collect::<Result<Vec<_>, _>>().ok()?;
        let mut lines = lines.into_iter();
        match (lines.next(), lines.next(), lines.next()) {
            (None, ..) => Some(Self { names: None, cells: StringRecord::new() }),
            (Some(cells), None, _) => Some(Self { names: None, cells }),
            (names, Some(cells), None) => Some(Self { names, cells }),
            (_, _, Some(_)) => None,
        }
    }

    /// The names of columns, or their positions.
    fn labels(&self) -> Vec<String> {
        match &self.names {
            Some(names) => names.iter().map(str::to_owned).collect(),
            None => (0..self.cells.len()).map(|column| column.to_string()).collect(),
        }
    }
}

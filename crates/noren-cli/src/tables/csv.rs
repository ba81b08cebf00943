//! Tables as text: fields with separators, one line of names, numbers.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

use csv::{ReaderBuilder, StringRecord, Trim, WriterBuilder};
use noren::memory;
use noren::tables::Cells;

use crate::failure::Failure;
use crate::tables::decimal::Decimal;
use crate::tables::dialect::{Dialect, Style, chosen};
use crate::tables::numbers::{Decrypted, Exact, Numbers, Place};
use crate::tables::texts::Texts;

/// The most characters of a wrong field that a message shows.
const SHOWN: usize = 40;

/// The marks of a missing number, in small letters, besides an empty field.
const MISSING: [&str; 4] = ["na", "n/a", "nan", "null"];

/// Reads a table of numbers.
pub(super) fn read(path: &Path, bytes: &[u8], dialect: &Dialect<'_>) -> Result<Numbers, Failure> {
    // A number of one digit and its separator become eight bytes, in a buffer that doubles.
    memory::ask(bytes.len().saturating_mul(8)).map_err(noren::Error::from)?;
    let (mut entries, mut exact) = (Vec::new(), Vec::new());
    let Sizes { rows, columns, names } = each_field(path, bytes, dialect, &mut |field| {
        let (x, other) = number(field.text, dialect)
            .map_err(|needed| Failure::input(path, field.place(), shown(field.text), needed))?;
        exact.extend(other.map(|other| (entries.len(), other)));
        entries.push(x);
        Ok(())
    })?;
    Ok(Numbers { rows, columns, names, entries, exact })
}

/// Reads the names and the cells of columns: as texts those that `is_text` says, or that have a field that is no number where it
/// does not know; the others as numbers.
pub(super) fn columns(
    path: &Path,
    bytes: &[u8],
    dialect: &Dialect<'_>,
    is_text: &dyn Fn(&str) -> Option<bool>,
) -> Result<Vec<(String, Cells)>, Failure> {
    // A field of one character and its separator become a text of its own and a number.
    memory::ask(bytes.len().saturating_mul(32)).map_err(noren::Error::from)?;
    let mut columns: Vec<Mixed> = Vec::new();
    let Sizes { names, .. } = each_field(path, bytes, dialect, &mut |field| {
        if field.at == columns.len() {
            columns.push(Mixed::new(field.name.and_then(is_text)));
        }
        if is_missing(field.text) {
            return Err(Failure::input(path, field.place(), shown(field.text), dialect.missing_refused()));
        }
        let column = &mut columns[field.at];
        if let Some(numbers) = &mut column.numbers {
            match number(field.text, dialect) {
                Ok((x, _)) => numbers.push(x),
                Err(needed) if column.texts.is_none() => {
                    return Err(Failure::input(path, field.place(), shown(field.text), needed));
                }
                Err(_) => column.numbers = None,
            }
        }
        if let Some(texts) = &mut column.texts {
            texts.push(field.text.to_owned());
        }
        Ok(())
    })?;
    Ok(names.into_iter().zip(columns.into_iter().map(Mixed::cells)).collect())
}

/// Reads the cells of a table as the texts that they are; they may be empty.
pub(super) fn texts(path: &Path, bytes: &[u8], dialect: &Dialect<'_>) -> Result<Texts, Failure> {
    // As of columns of texts.
    memory::ask(bytes.len().saturating_mul(32)).map_err(noren::Error::from)?;
    let mut cells = Vec::new();
    let Sizes { columns, names, .. } = each_field(path, bytes, dialect, &mut |field| {
        cells.push(field.text.to_owned());
        Ok(())
    })?;
    Ok(Texts { columns, names, cells })
}

/// A column while it is read: its numbers, as long as all fields are such, and its texts, unless it is one of numbers.
struct Mixed {
    numbers: Option<Vec<f64>>,
    texts: Option<Vec<String>>,
}

impl Mixed {
    /// A column of texts, of numbers, or of either.
    fn new(is_text: Option<bool>) -> Self {
        let (numbers, texts) = (is_text != Some(true), is_text != Some(false));
        Self { numbers: numbers.then(Vec::new), texts: texts.then(Vec::new) }
    }

    fn cells(self) -> Cells {
        match (self.numbers, self.texts) {
            (Some(numbers), _) => Cells::Numbers(numbers),
            (None, texts) => Cells::Texts(texts.unwrap_or_default()),
        }
    }
}

/// A field of a table.
struct Field<'a> {
    text: &'a str,
    /// Its column among those that are read, from 0.
    at: usize,
    /// Its row and its column in the file, from 1, and the name of that.
    row: usize,
    column: usize,
    name: Option<&'a str>,
    line: u64,
}

impl Field<'_> {
    fn place(&self) -> String {
        let Self { row, column, name, line, .. } = *self;
        format!("{} (line {line})", Place { row, column, name })
    }
}

/// The sizes of a table, and the names of its columns, if it has any.
struct Sizes {
    rows: usize,
    columns: usize,
    names: Vec<String>,
}

/// Visits the fields of the columns that are read, row after row.
fn each_field(
    path: &Path,
    bytes: &[u8],
    dialect: &Dialect<'_>,
    visit: &mut dyn FnMut(&Field<'_>) -> Result<(), Failure>,
) -> Result<Sizes, Failure> {
    let bytes = without_blank_end(path, bytes, dialect.separator)?;
    let mut builder = ReaderBuilder::new();
    builder.has_headers(false).flexible(true).trim(Trim::All).delimiter(dialect.separator);
    let mut reader = builder.from_reader(bytes);
    let mut records = reader.records().map(|record| record.map_err(|error| unreadable(path, &error)));
    let mut names = Vec::new();
    if dialect.header {
        let first = records.next().transpose()?.ok_or_else(|| empty(path))?;
        names = column_names(path, &first, dialect)?;
    }
    let (mut columns, mut rows) = (names.len(), 0);
    let mut read: Option<Vec<usize>> = None;
    for record in records {
        let record = record?;
        rows += 1;
        if columns == 0 {
            columns = record.len();
        }
        if record.len() != columns {
            let place = format!("row {rows} (line {})", line(&record));
            let foreign = dialect.separator != b';' && names.iter().any(|name| name.contains(';'));
            let hint = if foreign { " (for fields with semicolons: --decimal-comma, or --separator ';')" } else { "" };
            let needed = format!("{columns}, as in the first line{hint}");
            return Err(Failure::input(path, place, fields(record.len()), needed));
        }
        let read = match &read {
            Some(read) => read,
            None if dialect.columns.is_empty() => read.insert((0..columns).collect()),
            None => read.insert(chosen(path, dialect.columns, &names, columns)?),
        };
        for (at, &column) in read.iter().enumerate() {
            let name = names.get(column).map(String::as_str);
            visit(&Field { text: &record[column], at, row: rows, column: column + 1, name, line: line(&record) })?;
        }
    }
    let Some(read) = read else { return Err(empty(path)) };
    let names = if names.is_empty() { names } else { read.iter().map(|&column| names[column].clone()).collect() };
    Ok(Sizes { rows, columns: read.len(), names })
}

/// Whether a field stands for a missing number.
fn is_missing(field: &str) -> bool {
    field.is_empty() || MISSING.contains(&field.to_ascii_lowercase().as_str())
}

/// The number in a field, NaN for a missing one, and what it stands for; or what is needed.
fn number(field: &str, dialect: &Dialect<'_>) -> Result<(f64, Option<Exact>), String> {
    if is_missing(field) {
        return if dialect.admits_missing { Ok((f64::NAN, None)) } else { Err(dialect.missing_refused().to_owned()) };
    }
    let text = match dialect.decimal_comma {
        true if field.contains('.') => None,
        true => Some(Cow::Owned(field.replacen(',', ".", 1))),
        false => Some(Cow::Borrowed(field)),
    };
    let value = text.and_then(|text| Some(Exact::of_text(field, &Decimal::parse(&text)?)));
    match value {
        Some((value, _)) if !value.is_finite() => Err("a finite number".to_owned()),
        Some(value) => Ok(value),
        None if dialect.decimal_comma => Err("a number with a decimal comma, or without decimals".to_owned()),
        None => Err(format!("a number{}", hint(field, dialect))),
    }
}

/// The option that may read a field that is no number, in words.
fn hint(field: &str, dialect: &Dialect<'_>) -> &'static str {
    let foreign = |sign: char| field.contains(sign) && dialect.separator != sign as u8;
    if foreign(';') && field.contains(',') {
        " (for fields with semicolons and decimal commas: --decimal-comma)"
    } else if foreign(';') {
        " (for fields with semicolons: --separator ';', or --decimal-comma)"
    } else if foreign('\t') {
        " (for fields with tabs: --separator tab)"
    } else if field.contains(',') {
        " (for decimal commas: --decimal-comma)"
    } else {
        " (--columns leaves out columns of text)"
    }
}

/// Writes a table as text, number by number.
pub(super) fn write(sink: &mut dyn Write, decrypted: &Decrypted<'_>, style: &Style, separator: u8) -> io::Result<()> {
    let Decrypted { row_names, column_names, values } = decrypted;
    let mut writer = WriterBuilder::new().delimiter(separator).from_writer(sink);
    if style.header {
        let first = row_names.map(|_| "row");
        writer.write_record(first.into_iter().chain(column_names.iter().map(String::as_str)))?;
    }
    let columns = column_names.len();
    for row in 0..values.len() / columns {
        if let Some(names) = row_names {
            writer.write_field(&names[row])?;
        }
        for column in 0..columns {
            writer.write_field(values.text(row * columns + column, style.digits))?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.flush()
}

/// The table without blank lines at its end.
///
/// Refuses an empty line with others behind it, because in a table of one column it may be a missing number, and a quote that
/// nothing closes, behind which all lines would be one field.
fn without_blank_end<'a>(path: &Path, bytes: &'a [u8], separator: u8) -> Result<&'a [u8], Failure> {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    let start = if bytes.starts_with(MARK) { MARK.len() } else { 0 };
    let (mut quotes, mut line, mut opened) = (Quotes::Before, 1, 1);
    // The end of the last line that is not blank, the first blank line behind it, and whether this line is not blank.
    let (mut end, mut blank, mut content) = (start, None, false);
    for (index, &byte) in bytes.iter().enumerate().skip(start) {
        let before = quotes;
        quotes = quotes.after(byte, separator);
        if before != Quotes::Within && quotes == Quotes::Within {
            opened = line;
        }
        if byte == b'\n' {
            if !content && before != Quotes::Within {
                blank = blank.or(Some(line));
            }
            (line, content) = (line + 1, before == Quotes::Within);
        } else if !byte.is_ascii_whitespace() || byte == separator || before == Quotes::Within {
            // A line of tabs has fields, which may be missing numbers.
            if let Some(line) = blank {
                let place = format!("line {line}");
                return Err(Failure::input(path, place, "an empty line", "a row, or no line"));
            }
            (content, end) = (true, index + 1);
        }
    }
    if quotes == Quotes::Within {
        let place = format!("line {opened}");
        return Err(Failure::input(path, place, "a quote that is not closed", "a second quote behind the field"));
    }
    Ok(&bytes[..end])
}

/// Where a byte stands in a record, as the reader of records takes quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    /// At the start of a field.
    Before,
    /// In a field within quotes.
    Within,
    /// In a field without them.
    Without,
    /// Behind a quote that closes a field, or is the first of two that stand for one.
    Closing,
}

impl Quotes {
    fn after(self, byte: u8, separator: u8) -> Self {
        match (self, byte) {
            (Self::Within, b'"') => Self::Closing,
            (Self::Within, _) | (Self::Before | Self::Closing, b'"') => Self::Within,
            (_, b'\n' | b'\r') => Self::Before,
            (_, byte) if byte == separator => Self::Before,
            _ => Self::Without,
        }
    }
}

fn column_names(path: &Path, first: &StringRecord, dialect: &Dialect<'_>) -> Result<Vec<String>, Failure> {
    let refuse = |place: String, found: String, needed: &str| Err(Failure::input(path, place, found, needed));
    if first.iter().all(|field| !field.is_empty() && number(field, dialect).is_ok_and(|(x, _)| !x.is_nan())) {
        let found = shown(&first.iter().collect::<Vec<_>>().join(","));
        return refuse("line 1".into(), found, "names of the columns: pass --no-header if the file has none");
    }
    let mut seen = HashSet::new();
    for (column, name) in first.iter().enumerate() {
        let place = format!("line 1, column {}", column + 1);
        if name.is_empty() {
            return refuse(place, "no name".into(), "a name: a column of row numbers is to be left out");
        }
        if !seen.insert(name) {
            return refuse(place, format!("the name {} once more", shown(name)), "a name of its own");
        }
    }
    Ok(first.iter().map(str::to_owned).collect())
}

fn empty(path: &Path) -> Failure {
    Failure::input(path, "the file", "no row", "at least one")
}

fn unreadable(path: &Path, error: &csv::Error) -> Failure {
    Failure::input(path, "the file", error, "CSV text in UTF-8")
}

fn fields(count: usize) -> String {
    if count == 1 { "1 field".to_owned() } else { format!("{count} fields") }
}

fn line(record: &StringRecord) -> u64 {
    record.position().map_or(0, csv::Position::line)
}

/// A field as messages show it.
fn shown(field: &str) -> String {
    if field.is_empty() {
        return "nothing".to_owned();
    }
    match field.char_indices().nth(SHOWN) {
        None => format!("{field:?}"),
        Some((end, _)) => format!("{:?}...", &field[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::dialect::Format;
    use crate::tables::numbers::Values;

    fn read_text(text: &str, header: bool) -> Result<Numbers, String> {
        read_as(text, &Dialect::of(Format::Csv, header))
    }

    fn read_as(text: &str, dialect: &Dialect<'_>) -> Result<Numbers, String> {
        read(Path::new("t.csv"), text.as_bytes(), dialect).map_err(|failure| failure.to_string())
    }

    #[test]
    fn numbers_and_names_are_read() {
        let found = read_text("\u{feff}age, bmi\r\n1,-2.5e-3\n\"3\" ,+.5\n\n", true).expect("a table");
        let names = vec!["age".to_owned(), "bmi".to_owned()];
        let entries = vec![1.0, -2.5e-3, 3.0, 0.5];
        assert_eq!(found, Numbers { rows: 2, columns: 2, names, entries, exact: Vec::new() });
        let found = read_text("1,2\n3,4", false).expect("a table");
        assert_eq!((found.rows, found.columns, found.names.len()), (2, 2, 0));
    }

    #[test]
    fn refusals_name_the_place_and_the_text() {
        for (text, needed) in [
            ("a,b\n1,2\n3,x y\n", "row 2, column 2 (\"b\") (line 3): found \"x y\", needed a number"),
            ("a,b\n1,NaN\n", "row 1, column 2 (\"b\") (line 2): found \"NaN\", needed a finite number"),
            ("a,b\n-inf,1\n", "found \"-inf\", needed a finite number"),
            ("a,b\n1e400,1\n", "found \"1e400\", needed a finite number"),
            (
                "a,b\n1,\n",
                "column 2 (\"b\") (line 2): found nothing, needed a finite number (for missing numbers: --missing",
            ),
            ("a,b\n1,na\n", "column 2 (\"b\") (line 2): found \"na\", needed a finite number (for missing"),
            ("a;b\n1;2\n", "--separator ';'"),
            ("a;b\n1,5;2\n", "found 2 fields"),
            ("a\tb\n1\t2\n", "--separator tab"),
            ("a,b\nx,2\n", "--columns leaves out columns of text"),
            ("a,b\n1,2\n1,2,3\n", "row 2 (line 3): found 3 fields, needed 2"),
            ("a,b\n1,2\n1\n", "row 2 (line 3): found 1 field, needed 2"),
            ("a,b\n", "found no row, needed"),
            ("", "found no row, needed"),
            ("\n\n", "found no row, needed"),
            ("1,2\n3,4\n", "--no-header"),
            ("a,\n1,2\n", "line 1, column 2: found no name"),
            ("a,a\n1,2\n", "the name \"a\" once more"),
            ("a\n1\n\n2\n", "line 3: found an empty line"),
            ("a\n1\n \t\n2\n", "line 3: found an empty line"),
            ("a,b\n1,\"6\n2,3\n4,5\n", "line 2: found a quote that is not closed"),
            ("a,b\n1,2\n3,\"4", "line 3: found a quote that is not closed"),
        ] {
            let message = read_text(text, true).expect_err(text);
            assert!(message.contains(needed), "{text:?}: {message}");
        }
        let message = read(Path::new("t.csv"), b"a\n\xff\n", &Dialect::of(Format::Csv, true));
        let message = message.expect_err("no UTF-8").to_string();
        assert!(message.contains("UTF-8"), "{message}");
    }

    #[test]
    fn blank_lines_at_the_end_are_no_rows_and_quotes_may_hold_lines() {
        for text in ["a\n1\n2\n  \n", "a\n1\n2\n\n\r\n\t\n", "\u{feff}\"a\"\n1\n\"2\"  "] {
            let found = read_as(text, &Dialect { admits_missing: true, ..Dialect::of(Format::Csv, true) });
            assert_eq!(found.expect("a table").entries, [1.0, 2.0], "{text:?}");
        }
        let wanted = ["a".to_owned()];
        let dialect = Dialect { columns: &wanted, ..Dialect::of(Format::Csv, true) };
        for text in ["a,t\n1,\"x\n\n \"\"y\"\n2,z\n", "a,t\n1,6\" long\n2,\"\"\n", "a,t\n1,\"x\"y\n2,\"z\"\n\n"] {
            assert_eq!(read_as(text, &dialect).expect(text).entries, [1.0, 2.0], "{text:?}");
        }
    }

    #[test]
    fn texts_may_be_empty_and_numbers_stay_as_they_are() {
        let dialect = Dialect::of(Format::Csv, true);
        let found = texts(Path::new("t.csv"), b"a,b\n 01 ,\n\"x,\ny\",NA\n", &dialect).expect("a table");
        assert_eq!((found.columns, &found.labels()[..]), (2, &["a".to_owned(), "b".to_owned()][..]));
        assert_eq!(found.rows().collect::<Vec<_>>(), [["01", ""], ["x,\ny", "NA"]]);
        let found = texts(Path::new("t.csv"), b"1,x\n", &Dialect { header: false, ..dialect }).expect("a table");
        assert_eq!((found.labels(), found.cells), (vec!["0".to_owned(), "1".to_owned()], vec!["1".into(), "x".into()]));
    }

    #[test]
    fn whole_numbers_are_those_of_their_texts() {
        for (text, needed) in [
            ("9007199254740992", Ok(1 << 53)),
            ("9007199254740993", Ok((1 << 53) + 1)),
            ("-3.000", Ok(-3)),
            ("9007199254740992.0", Ok(1 << 53)),
            ("0.99999999999999999999", Err("0.99999999999999999999")),
            ("9007199254740992.9", Err("9007199254740992.9")),
            ("1e-400", Err("1e-400")),
            ("5e-1", Err("0.5")),
        ] {
            let found = read_text(&format!("a,b\n1,7\n2,{text}\n"), true).expect("a number");
            assert_eq!(found.whole(3), needed.map_err(str::to_owned), "{text}");
            assert_eq!((found.whole(0), found.whole(2)), (Ok(1), Ok(2)));
        }
    }

    #[test]
    fn separators_and_decimal_commas_are_read_where_they_are_asked_for() {
        let base = Dialect::of(Format::Csv, true);
        let german = Dialect { decimal_comma: true, separator: b';', ..base };
        let found = read_as("a;b\n1,5;-2\n3;,25\n", &german).expect("a table");
        assert_eq!(found.entries, [1.5, -2.0, 3.0, 0.25]);
        for text in ["a;b\n1.234,5;1\n", "a;b\n1,2,3;1\n", "a;b\n1.5;1\n"] {
            assert!(read_as(text, &german).expect_err(text).contains("decimal comma"), "{text:?}");
        }
        assert!(read_as("1,5;2\n", &german).expect_err("no names").contains("--no-header"));
        let found = read_as("a\tb\n1\t2\n\t\n", &Dialect { admits_missing: true, ..Dialect::of(Format::Tsv, true) });
        let found = found.expect("a table");
        assert!(found.rows == 2 && found.entries[2..].iter().all(|x| x.is_nan()), "{found:?}");
    }

    #[test]
    fn columns_are_chosen_by_name_and_position_and_others_may_be_text() {
        let wanted = ["b".to_owned(), "0".to_owned()];
        let dialect = Dialect { columns: &wanted, ..Dialect::of(Format::Csv, true) };
        let found = read_as("a,name,b\n1,x,2\n3,y,4\n", &dialect).expect("a table");
        assert_eq!((found.names, found.entries), (vec!["b".to_owned(), "a".to_owned()], vec![2.0, 1.0, 4.0, 3.0]));
        let wanted = ["2".to_owned()];
        let found = read_as("1,x,2\n", &Dialect { header: false, columns: &wanted, ..dialect }).expect("a table");
        assert_eq!((found.names.len(), found.entries), (0, vec![2.0]));
        for (wanted, needed) in [(["c", "a"], "\"c\""), (["a", "0"], "\"0\" once more")] {
            let wanted = wanted.map(str::to_owned);
            let message = read_as("a,name,b\n1,x,2\n", &Dialect { columns: &wanted, ..dialect }).expect_err("refused");
            assert!(message.contains(needed), "{message}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let values = vec![0.1, -1e-300, 5e300, 3.0];
        let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        let (rows, columns) = (names(["mean", "x,y"]), names(["a b", "c\"d"]));
        let written = |row_names, values| {
            let decrypted = Decrypted { row_names, column_names: &columns, values };
            let style = Style { format: Format::Csv, header: true, digits: None, shown: false };
            let mut bytes = Vec::new();
            write(&mut bytes, &decrypted, &style, b',').expect("memory");
            bytes
        };
        let again =
            read(Path::new("t.csv"), &written(None, Values::Real(&values, None)), &Dialect::of(Format::Csv, true))
                .expect("a table");
        assert_eq!((&again.names, &again.entries), (&columns, &values));
        let text = String::from_utf8(written(Some(&rows), Values::Real(&values, None))).expect("text");
        assert!(text.starts_with("row,a b,\"c\"\"d\"\nmean,0.1,-1e-300\n\"x,y\","), "{text}");
        let text = String::from_utf8(written(None, Values::Whole(&[1, -2, 1 << 49, 0]))).expect("text");
        assert!(text.ends_with("\n1,-2\n562949953421312,0\n"), "{text}");
    }
}

//! Tables as CSV: commas, one line of names, numbers.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use csv::{ReaderBuilder, StringRecord, Trim, WriterBuilder};

use crate::failure::Failure;
use crate::tables::numbers::{Decrypted, Numbers, Place};

/// The most characters of a wrong field that a message shows.
const SHOWN: usize = 40;

/// Reads a table; `header` says whether the first line holds names.
pub(crate) fn read(path: &Path, bytes: &[u8], header: bool) -> Result<Numbers, Failure> {
    check_lines(path, bytes)?;
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).trim(Trim::All).from_reader(bytes);
    let mut records = reader.records().map(|record| record.map_err(|error| unreadable(path, &error)));
    let mut names = Vec::new();
    if header {
        let first = records.next().transpose()?.ok_or_else(|| empty(path))?;
        names = column_names(path, &first)?;
    }
    let (mut columns, mut rows, mut entries) = (names.len(), 0, Vec::new());
    for record in records {
        let record = record?;
        rows += 1;
        if columns == 0 {
            columns = record.len();
        }
        if record.len() != columns {
            let place = format!("row {rows} (line {})", line(&record));
            return Err(Failure::input(path, place, fields(record.len()), format!("{columns}, as in the first line")));
        }
        for (column, field) in record.iter().enumerate() {
            let place = || {
                let name = names.get(column).map(String::as_str);
                format!("{} (line {})", Place { row: rows, column: column + 1, name }, line(&record))
            };
            let value: f64 = field.parse().map_err(|_| Failure::input(path, place(), shown(field), "a number"))?;
            if !value.is_finite() {
                return Err(Failure::input(path, place(), shown(field), "a finite number"));
            }
            entries.push(value);
        }
    }
    if rows == 0 {
        return Err(empty(path));
    }
    Ok(Numbers { rows, columns, names, entries })
}

/// A table as CSV, each number with as many digits as tell it from all others.
pub(crate) fn to_bytes(path: &Path, decrypted: &Decrypted<'_>) -> Result<Vec<u8>, Failure> {
    let Decrypted { row_names, column_names, values } = decrypted;
    let mut writer = WriterBuilder::new().from_writer(Vec::new());
    let mut write = |first: Option<&str>, rest: &[String]| {
        writer.write_record(first.into_iter().chain(rest.iter().map(String::as_str)))
    };
    let texts = values.texts();
    let mut rows = texts.chunks(column_names.len()).enumerate();
    let written = write(row_names.map(|_| "row"), column_names)
        .and_then(|()| rows.try_for_each(|(row, values)| write(row_names.map(|names| names[row].as_str()), values)));
    let failed = |source: io::Error| Failure::Io { path: path.to_owned(), source };
    written.map_err(|error| failed(error.into()))?;
    writer.into_inner().map_err(|error| failed(error.into_error()))
}

/// Refuses an empty line with others behind it: in a table of one column it may be a missing number.
fn check_lines(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut blank = None;
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            blank = blank.or(Some(index + 1));
        } else if let Some(line) = blank {
            return Err(Failure::input(path, format!("line {line}"), "an empty line", "a row of numbers, or no line"));
        }
    }
    Ok(())
}

fn column_names(path: &Path, first: &StringRecord) -> Result<Vec<String>, Failure> {
    let refuse = |place: String, found: String, needed: &str| Err(Failure::input(path, place, found, needed));
    if first.iter().all(|field| field.parse::<f64>().is_ok()) {
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
    Failure::input(path, "the file", "no row of numbers", "at least one")
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
    use crate::tables::numbers::Values;

    fn read_text(text: &str, header: bool) -> Result<Numbers, String> {
        read(Path::new("t.csv"), text.as_bytes(), header).map_err(|failure| failure.to_string())
    }

    #[test]
    fn numbers_and_names_are_read() {
        let found = read_text("\u{feff}age, bmi\r\n1,-2.5e-3\n\"3\" ,+.5\n\n", true).expect("a table");
        let names = vec!["age".to_owned(), "bmi".to_owned()];
        assert_eq!(found, Numbers { rows: 2, columns: 2, names, entries: vec![1.0, -2.5e-3, 3.0, 0.5] });
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
            ("a,b\n1,\n", "column 2 (\"b\") (line 2): found nothing, needed a number"),
            ("a,b\n1,2\n1,2,3\n", "row 2 (line 3): found 3 fields, needed 2"),
            ("a,b\n1,2\n1\n", "row 2 (line 3): found 1 field, needed 2"),
            ("a,b\n", "found no row of numbers"),
            ("", "found no row of numbers"),
            ("\n\n", "found no row of numbers"),
            ("1,2\n3,4\n", "--no-header"),
            ("a,\n1,2\n", "line 1, column 2: found no name"),
            ("a,a\n1,2\n", "the name \"a\" once more"),
            ("a\n1\n\n2\n", "line 3: found an empty line"),
        ] {
            let message = read_text(text, true).expect_err(text);
            assert!(message.contains(needed), "{text:?}: {message}");
        }
        let message = read(Path::new("t.csv"), b"a\n\xff\n", true).expect_err("no UTF-8").to_string();
        assert!(message.contains("UTF-8"), "{message}");
    }

    #[test]
    fn what_is_written_is_read_again() {
        let values = vec![0.1, -1e-300, 5e300, 3.0];
        let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        let (rows, columns) = (names(["mean", "x,y"]), names(["a b", "c\"d"]));
        let written = |row_names, values| {
            let decrypted = Decrypted { row_names, column_names: &columns, values };
            to_bytes(Path::new("t.csv"), &decrypted).expect("numbers")
        };
        let again = read(Path::new("t.csv"), &written(None, Values::Real(&values)), true).expect("a table");
        assert_eq!((&again.names, &again.entries), (&columns, &values));
        let text = String::from_utf8(written(Some(&rows), Values::Real(&values))).expect("text");
        assert!(text.starts_with("row,a b,\"c\"\"d\"\nmean,0.1,-1e-300\n\"x,y\","), "{text}");
        let text = String::from_utf8(written(None, Values::Whole(&[1, -2, 1 << 49, 0]))).expect("text");
        assert!(text.ends_with("\n1,-2\n562949953421312,0\n"), "{text}");
    }
}

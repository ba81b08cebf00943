//! With the feature `parquet`: the readers and writers are those of the Arrow project.

use std::collections::HashSet;
use std::io::Cursor;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array, new_empty_array};
use arrow_ipc::reader::{FileReader, read_footer_length};
use arrow_ipc::writer::FileWriter;
use arrow_ipc::{Block, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use bytes::Bytes;
use noren::memory;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::{ArrowWriter, ProjectionMask};

use crate::failure::Failure;
use crate::tables::columnar::pages::stated_bytes as stated_bytes_of_pages;
use crate::tables::dialect::{Format, chosen};
use crate::tables::numbers::{Decrypted, Exact, Numbers, Values};

/// How pandas names an index that it writes as a column.
const PANDAS_INDEX: &str = "__index_level_";

/// Reads these columns of a table; all if there are none. Missing numbers are NaN, truth values 0 and 1.
pub(in crate::tables) fn read(
    path: &Path,
    format: Format,
    bytes: Vec<u8>,
    wanted: &[String],
) -> Result<Numbers, Failure> {
    let bytes = Bytes::from(bytes);
    let schema = guarded(path, format, || schema(format, &bytes))?;
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let mut seen = HashSet::new();
    if let Some(name) = names.iter().find(|name| !seen.insert(name.as_str())) {
        return Err(Failure::input(path, "the columns", format!("the name {name:?} once more"), "a name of its own"));
    }
    let columns = match wanted {
        [] => (0..names.len()).collect(),
        wanted => chosen(path, wanted, &names, names.len())?,
    };
    for &column in &columns {
        let (name, data_type) = (&names[column], schema.field(column).data_type());
        let refuse = |found: String, needed: &str| {
            Err(Failure::input(path, format!("column {} ({name:?})", column + 1), found, needed))
        };
        if wanted.is_empty() && name.starts_with(PANDAS_INDEX) {
            let needed = "a table without it: write it with index=False, or name the others with --columns";
            return refuse("the index of a table of pandas".to_owned(), needed);
        }
        if values(&new_empty_array(data_type)).is_none() {
            let needed = "numbers or truth values (--columns leaves out columns of text)";
            return refuse(data_type.to_string(), needed);
        }
    }
    // A few bytes of a file may stand for any number of rows.
    let stated = guarded(path, format, || stated_rows(format, &bytes, &columns))?;
    ask_for(stated, columns.len())?;
    let batches = guarded(path, format, || batches(format, &bytes, &columns))?;
    let rows = batches.iter().map(RecordBatch::num_rows).sum();
    if rows == 0 || columns.is_empty() {
        return Err(Failure::input(path, "the file", "no row", "at least one"));
    }
    ask_for(rows, columns.len())?;
    let (mut entries, mut exact) = (vec![f64::NAN; rows * columns.len()], Vec::new());
    for (position, &column) in columns.iter().enumerate() {
        let name = names[column].as_str();
        let found = batches.iter().filter_map(|batch| batch.column_by_name(name)).filter_map(values).flatten();
        for (row, (x, other)) in found.take(rows).enumerate() {
            let at = row * columns.len() + position;
            entries[at] = x;
            exact.extend(other.map(|other| (at, other)));
        }
    }
    exact.sort_unstable_by_key(|(at, _)| *at);
    let names = columns.iter().map(|&column| names[column].clone()).collect();
    Ok(Numbers { rows, columns: columns.len(), names, entries, exact })
}

/// A table of `float64` or `int64`, or of `uint64` where numbers are so large, with the names of its columns; names of rows are the column `row`.
pub(in crate::tables) fn to_bytes(path: &Path, format: Format, decrypted: &Decrypted<'_>) -> Result<Vec<u8>, Failure> {
    let Decrypted { row_names, column_names, values } = decrypted;
    let columns = column_names.len();
    let strided = |column: usize| -> ArrayRef {
        match values {
            Values::Real(values, _) => {
                Arc::new(values.iter().skip(column).step_by(columns).copied().collect::<Float64Array>())
            }
            Values::Whole(values) => {
                let values = || values.iter().skip(column).step_by(columns).copied();
                match values().any(|x| x > i64::MAX.into()) {
                    true => Arc::new(values().map(|x| x as u64).collect::<UInt64Array>()),
                    false => Arc::new(values().map(|x| x as i64).collect::<Int64Array>()),
                }
            }
        }
    };
    let rows = row_names.map(|names| ("row", Arc::new(StringArray::from_iter_values(names)) as ArrayRef));
    // The columns, and their file, which grows as it is written.
    ask_for(values.len().div_ceil(columns), columns)?;
    let numbers = column_names.iter().enumerate().map(|(column, name)| (name.as_str(), strided(column)));
    guarded(path, format, || encode(format, &[RecordBatch::try_from_iter(rows.into_iter().chain(numbers))?]))
}

/// The file of batches of one schema, of which there is one at least.
fn encode(format: Format, batches: &[RecordBatch]) -> Result<Vec<u8>, ArrowError> {
    let (mut bytes, schema) = (Vec::new(), batches[0].schema());
    if format == Format::Arrow {
        let mut writer = FileWriter::try_new(&mut bytes, &schema)?;
        batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.finish()?;
        drop(writer);
    } else {
        let mut writer = ArrowWriter::try_new(&mut bytes, schema, None)?;
        batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.close()?;
    }
    Ok(bytes)
}

fn schema(format: Format, bytes: &Bytes) -> Result<SchemaRef, ArrowError> {
    match format {
        Format::Arrow => Ok(FileReader::try_new(Cursor::new(bytes), None)?.schema()),
        _ => Ok(Arc::clone(ParquetRecordBatchReaderBuilder::try_new(bytes.clone())?.schema())),
    }
}

/// Asks for the memory of `rows` rows: their numbers, as they are read and as they are returned; or the other way.
fn ask_for(rows: usize, columns: usize) -> Result<(), Failure> {
    memory::ask_for::<[f64; 3]>(rows.saturating_mul(columns)).map_err(|missing| noren::Error::from(missing).into())
}

/// How many rows the end of a Parquet file states, or as many values as the pages of the columns take in its largest part, once they
/// are known to be in it; of an Arrow file as many as its compressed buffers say, once its blocks are known to lie in it.
fn stated_rows(format: Format, bytes: &Bytes, columns: &[usize]) -> Result<usize, ArrowError> {
    if format == Format::Arrow {
        return Ok(stated_bytes(bytes)? / size_of::<f64>());
    }
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes.clone())?;
    let (metadata, schema) = (builder.metadata(), builder.parquet_schema());
    let chosen = |leaf: usize| columns.contains(&schema.get_column_root_idx(leaf));
    let pages = stated_bytes_of_pages(metadata, chosen, bytes)? / size_of::<f64>();
    Ok(usize::try_from(metadata.file_metadata().num_rows()).unwrap_or(usize::MAX).max(pages))
}

/// How many bytes the compressed buffers of an Arrow file say that they become.
///
/// # Errors
/// A footer, a block or a buffer that is longer than the file.
fn stated_bytes(bytes: &[u8]) -> Result<usize, ArrowError> {
    /// The length of the footer, and the mark behind it.
    const TAIL: usize = 10;
    let (rest, tail) = bytes.split_last_chunk::<TAIL>().ok_or_else(|| outside("a footer"))?;
    let footer = read_footer_length(*tail)?;
    let start = rest.len().checked_sub(footer).ok_or_else(|| outside("a footer"))?;
    let footer = root_as_footer(&rest[start..]).map_err(|error| ArrowError::ParseError(error.to_string()))?;
    let blocks = footer.recordBatches().into_iter().chain(footer.dictionaries()).flatten();
    blocks.map(|block| stated_bytes_of(bytes, block)).try_fold(0usize, |sum, stated| Ok(sum.saturating_add(stated?)))
}

/// How many bytes the compressed buffers of a block say that they become.
fn stated_bytes_of(bytes: &[u8], block: &Block) -> Result<usize, ArrowError> {
    let usize_of = |x: i64| usize::try_from(x).map_err(|_| outside("a block"));
    let start = usize_of(block.offset())?;
    let body = start.saturating_add(usize_of(block.metaDataLength().into())?);
    let end = body.saturating_add(usize_of(block.bodyLength())?);
    let [head, body] = [bytes.get(start..body), bytes.get(body..end)];
    let (Some(head), Some(body)) = (head, body) else { return Err(outside("a block")) };
    // The length of the message, behind a mark in newer files.
    let prefix = if head.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let head = head.get(prefix..).ok_or_else(|| outside("a message"))?;
    let message = root_as_message(head).map_err(|error| ArrowError::ParseError(error.to_string()))?;
    let dictionary = message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
    let batch = message.header_as_record_batch().or(dictionary);
    let Some(batch) = batch.filter(|batch| batch.compression().is_some()) else { return Ok(0) };
    let buffers = batch.buffers().into_iter().flatten().filter(|buffer| buffer.length() > 0);
    buffers.map(|buffer| usize_of(buffer.offset())).try_fold(0usize, |sum, at| {
        let stated = body.get(at?..).and_then(<[u8]>::first_chunk).ok_or_else(|| outside("a buffer"))?;
        // -1 says that the buffer is as it is.
        Ok(sum.saturating_add(usize::try_from(i64::from_le_bytes(*stated)).unwrap_or(0)))
    })
}

fn outside(what: &str) -> ArrowError {
    ArrowError::ParseError(format!("{what} that leaves the file"))
}

fn batches(format: Format, bytes: &Bytes, columns: &[usize]) -> Result<Vec<RecordBatch>, ArrowError> {
    match format {
        Format::Arrow => FileReader::try_new(Cursor::new(bytes), Some(columns.to_vec()))?.collect(),
        _ => {
            let builder = ParquetRecordBatchReaderBuilder::try_new(bytes.clone())?;
            let mask = ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied());
            builder.with_projection(mask).build()?.collect()
        }
    }
}

/// Errors of the Arrow project's readers and writers as refusals; so are their panics, which damaged files may cause.
fn guarded<T>(path: &Path, format: Format, work: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, Failure> {
    let refuse = |found: String| Failure::input(path, "the file", found, format!("{}, whole", format.noun()));
    match panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(|error| refuse(error.to_string())),
        Err(_) => Err(refuse("damaged content".to_owned())),
    }
}

/// Numbers, and what they stand for if that is another.
type Found<'a> = Box<dyn Iterator<Item = (f64, Option<Exact>)> + 'a>;

/// The numbers of a column, if it has numbers.
fn values(array: &ArrayRef) -> Option<Found<'_>> {
    Some(match array.data_type() {
        DataType::Boolean => Box::new(array.as_boolean().iter().map(|x| real(x.map(u8::from)))),
        DataType::Int8 => whole::<Int8Type>(array),
        DataType::Int16 => whole::<Int16Type>(array),
        DataType::Int32 => whole::<Int32Type>(array),
        DataType::Int64 => whole::<Int64Type>(array),
        DataType::UInt8 => whole::<UInt8Type>(array),
        DataType::UInt16 => whole::<UInt16Type>(array),
        DataType::UInt32 => whole::<UInt32Type>(array),
        DataType::UInt64 => whole::<UInt64Type>(array),
        DataType::Float16 => Box::new(array.as_primitive::<Float16Type>().iter().map(real)),
        DataType::Float32 => Box::new(array.as_primitive::<Float32Type>().iter().map(real)),
        DataType::Float64 => Box::new(array.as_primitive::<Float64Type>().iter().map(real)),
        _ => return None,
    })
}

fn real(x: Option<impl Into<f64>>) -> (f64, Option<Exact>) {
    (x.map_or(f64::NAN, Into::into), None)
}

fn whole<T: ArrowPrimitiveType<Native: Into<i128>>>(array: &ArrayRef) -> Found<'_> {
    let number = |x: Option<T::Native>| x.map_or((f64::NAN, None), |x| Exact::of_whole(x.into()));
    Box::new(array.as_primitive::<T>().iter().map(number))
}

#[cfg(test)]
mod tests {
    use arrow_array::{BooleanArray, Float32Array};
    use arrow_schema::{Field, Schema};
    use parquet::basic::Compression;
    use parquet::file::properties::WriterProperties;

    use super::*;

    const FORMATS: [Format; 2] = [Format::Parquet, Format::Arrow];

    /// The bytes of a file, as another program writes it.
    fn written(format: Format, columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
        let fields: Vec<Field> =
            columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).expect("columns of one length");
        // Two batches, as long tables have.
        encode(format, &[batch.slice(0, 1), batch.slice(1, batch.num_rows() - 1)]).expect("memory")
    }

    fn patients(format: Format) -> Vec<u8> {
        written(
            format,
            vec![
                ("name", Arc::new(StringArray::from(vec!["x", "y", "z"]))),
                ("age", Arc::new(Int64Array::from(vec![Some(54), None, Some(-47)]))),
                ("bmi", Arc::new(Float32Array::from(vec![2.5, 0.25, -1.0]))),
                ("smokes", Arc::new(BooleanArray::from(vec![true, false, true]))),
            ],
        )
    }

    fn read_columns(format: Format, bytes: &[u8], wanted: &[&str]) -> Result<Numbers, String> {
        let wanted: Vec<String> = wanted.iter().map(|&name| name.to_owned()).collect();
        read(Path::new("t"), format, bytes.to_vec(), &wanted).map_err(|failure| failure.to_string())
    }

    #[test]
    fn chosen_columns_are_read_in_their_order_with_missing_numbers() {
        for format in FORMATS {
            let found = read_columns(format, &patients(format), &["smokes", "age", "2"]).expect("numbers");
            assert_eq!((found.rows, found.columns, found.names.join(" ").as_str()), (3, 3, "smokes age bmi"));
            assert!(found.entries[4].is_nan());
            let entries: Vec<f64> = found.entries.into_iter().filter(|x| !x.is_nan()).collect();
            assert_eq!(entries, [1.0, 54.0, 2.5, 0.0, 0.25, 1.0, -47.0, -1.0]);
        }
    }

    #[test]
    fn refusals_say_what_is_wrong() {
        for format in FORMATS {
            let bytes = patients(format);
            let large = written(format, vec![("n", Arc::new(UInt64Array::from(vec![3, u64::MAX, (1 << 53) + 1])))]);
            let found = read_columns(format, &large, &[]).expect("numbers");
            assert_eq!([0, 1, 2].map(|index| found.whole(index)), [Ok(3), Ok(u64::MAX.into()), Ok((1 << 53) + 1)]);
            let index = written(format, vec![("__index_level_0__", Arc::new(Int64Array::from(vec![0, 1])))]);
            for (bytes, wanted, needed) in [
                (&bytes[..], &[][..], "column 1 (\"name\"): found Utf8, needed numbers"),
                (&bytes, &["weight"], "weight"),
                (&index, &[], "index=False"),
                (b"age,bmi\n1,2\n", &[], "needed "),
                (b"", &[], "needed "),
            ] {
                let message = read_columns(format, bytes, wanted).expect_err(needed);
                assert!(message.contains(needed), "{message}");
            }
        }
    }

    #[test]
    fn damaged_files_are_refused_or_read_and_never_panic() {
        for format in FORMATS {
            let bytes = patients(format);
            (0..bytes.len()).for_each(|length| assert!(read_columns(format, &bytes[..length], &["bmi"]).is_err()));
            for place in 0..bytes.len() {
                let mut damaged = bytes.clone();
                damaged[place] ^= 0x55;
                // A changed number is a number.
                let _ = read_columns(format, &damaged, &["age", "bmi"]);
            }
        }
    }

    #[test]
    fn memory_is_asked_for_before_rows_are_read() {
        // One run of a number stands for all rows of a column.
        let rows = 1 << 24;
        let array: ArrayRef = Arc::new(Float64Array::from(vec![0.5; rows]));
        let bytes = written(Format::Parquet, vec![("x", array)]);
        assert!(bytes.len() < 1 << 20, "{}", bytes.len());
        let stated = stated_rows(Format::Parquet, &Bytes::from(bytes), &[0]).expect("a file");
        assert!(stated >= rows, "{stated}");
        let missing = ask_for(1 << 50, 1).expect_err("no machine has it").to_string();
        assert!(missing.contains("bytes of memory"), "{missing}");
    }

    #[test]
    fn pages_that_claim_more_than_their_column_are_refused_before_they_are_read() {
        let column: ArrayRef = Arc::new(Float64Array::from(vec![0.5, 0.25, 0.5, -1.0]));
        let batch = RecordBatch::try_from_iter([("x", column)]).expect("one column");
        let mut bytes = Vec::new();
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).expect("a writer");
        writer.write(&batch).expect("memory");
        writer.close().expect("memory");
        assert_eq!(read_columns(Format::Parquet, &bytes, &[]).expect("numbers").entries, [0.5, 0.25, 0.5, -1.0]);
        // The first page is the dictionary: its kind, 24 bytes, their compressed size, and 3 values.
        let compressed = bytes[9];
        let header = [0x15, 4, 0x15, 48, 0x15, compressed, 0x4c, 0x15, 6];
        assert_eq!(bytes[4..13], header);
        let mut values = bytes.clone();
        values[12] = 2 * 25;
        // 2^31 - 1 bytes take four bytes more to say, which the page has less.
        let claim = [0x15, 4, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, compressed - 2 * 4];
        let end = 4 + header.len() + 4;
        let start = bytes[10..end].iter().position(|&byte| byte == 0).map(|place| 10 + place + 1).expect("an end");
        let data = start..start + usize::from(compressed / 2);
        let size =
            [&bytes[..4], &claim, &bytes[10..start], &bytes[data.start + 4..data.end], &bytes[data.end..]].concat();
        assert_eq!(size.len(), bytes.len());
        for damaged in [values, size] {
            let message = read_columns(Format::Parquet, &damaged, &[]).expect_err("it cannot be");
            assert!(message.contains("the header of a page that cannot be"), "{message}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let (rows, columns) = (["mean".to_owned()], ["a".to_owned(), "b, c".to_owned()]);
        for format in FORMATS {
            for values in [Values::Real(&[0.1, -1e-300], None), Values::Whole(&[-3, 1 << 49])] {
                let decrypted = Decrypted { row_names: Some(&rows), column_names: &columns, values };
                let bytes = to_bytes(Path::new("t"), format, &decrypted).expect("memory");
                let found = read_columns(format, &bytes, &["a", "b, c"]).expect("numbers");
                let needed: Vec<f64> = match values {
                    Values::Real(values, _) => values.to_vec(),
                    Values::Whole(values) => values.iter().map(|&x| x as f64).collect(),
                };
                assert_eq!((found.entries, found.rows), (needed, 1));
                assert!(read_columns(format, &bytes, &[]).expect_err("names of rows").contains("\"row\""));
            }
        }
    }
}

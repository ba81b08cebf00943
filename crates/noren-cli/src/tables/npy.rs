//! Tables as NPY files, the format of `numpy.save`: one or two dimensions of real numbers.

use std::io::{self, Write};
use std::path::Path;

use noren::memory;

use crate::failure::Failure;
use crate::tables::numbers::{Exact, Numbers, Values};

/// The first bytes of the format.
const MAGIC: &[u8] = b"\x93NUMPY";
/// Headers are text of a hundred bytes; numpy itself refuses longer ones than this.
const MAX_HEADER: usize = 10_000;
/// Where a file's numbers begin is a multiple of this.
const ALIGNMENT: usize = 64;

const NEEDED_TYPE: &str = "float64, float32 or whole numbers of up to 64 bits";
const NEEDED_HEADER: &str = "a header as numpy.save writes it";

/// An array in the bytes of a file, whose numbers are read where they lie. One of one dimension has one column.
pub(crate) struct Array<B> {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    bytes: B,
    /// Where the numbers begin.
    start: usize,
    fortran_order: bool,
    element: Element,
}

impl<B: AsRef<[u8]>> Array<B> {
    /// The array in these bytes.
    pub(crate) fn new(path: &Path, bytes: B) -> Result<Self, Failure> {
        let refuse = |place: &str, found: String, needed: &str| Failure::input(path, place, found, needed);
        let all = bytes.as_ref();
        let (text, data) = split(all).map_err(|found| refuse("the header", found.to_owned(), NEEDED_HEADER))?;
        let header = Header::parse(text).ok_or_else(|| refuse("the header", format!("{text:?}"), NEEDED_HEADER))?;
        let element = Element::parse(header.descr)
            .ok_or_else(|| refuse("the type of numbers", format!("{:?}", header.descr), NEEDED_TYPE))?;
        let (rows, columns) = match header.shape[..] {
            [rows] => (rows, 1),
            [rows, columns] => (rows, columns),
            _ => return Err(refuse("the shape", format!("{:?}", header.shape), "one or two dimensions")),
        };
        if rows == 0 || columns == 0 {
            return Err(refuse("the shape", format!("{:?}", header.shape), "at least one row and one column"));
        }
        let needed = rows.checked_mul(columns).and_then(|count| count.checked_mul(element.size));
        if needed != Some(data.len()) {
            let wanted = needed.map_or_else(|| "fewer numbers".to_owned(), |needed| format!("{needed} bytes"));
            let found = format!("{} bytes for the shape {:?}", data.len(), header.shape);
            return Err(refuse("the numbers", found, &wanted));
        }
        let (start, fortran_order) = (all.len() - data.len(), header.fortran_order);
        Ok(Self { rows, columns, bytes, start, fortran_order, element })
    }

    /// A number, and what it stands for if that is another.
    pub(crate) fn at(&self, row: usize, column: usize) -> (f64, Option<Exact>) {
        let index = if self.fortran_order { column * self.rows + row } else { row * self.columns + column };
        let size = self.element.size;
        self.element.decode(&self.bytes.as_ref()[self.start + index * size..][..size])
    }
}

/// Reads a table.
pub(crate) fn read(path: &Path, bytes: &[u8]) -> Result<Numbers, Failure> {
    let array = Array::new(path, bytes)?;
    let (rows, columns) = (array.rows, array.columns);
    memory::ask_for::<f64>(rows * columns).map_err(noren::Error::from)?;
    let (mut entries, mut exact) = (Vec::with_capacity(rows * columns), Vec::new());
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        let (x, other) = array.at(row, column);
        exact.extend(other.map(|other| (entries.len(), other)));
        entries.push(x);
    }
    Ok(Numbers { rows, columns, names: Vec::new(), entries, exact })
}

/// Writes a table of `float64` or `int64`, row after row; of `uint64` where numbers are so large.
pub(super) fn write(sink: &mut dyn Write, values: Values<'_>, columns: usize) -> io::Result<()> {
    let descr = match values {
        Values::Real(..) => "<f8",
        Values::Whole(values) if values.iter().any(|&x| x > i64::MAX.into()) => "<u8",
        Values::Whole(_) => "<i8",
    };
    let shape = (values.len() / columns, columns);
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}, {}), }}", shape.0, shape.1);
    let before = MAGIC.len() + 4; // two bytes of version, two of length
    let length = (before + text.len() + 1).next_multiple_of(ALIGNMENT) - before;
    text.extend(std::iter::repeat_n(' ', length - 1 - text.len()));
    text.push('\n');
    let length = u16::try_from(length).expect("two numbers of at most 20 digits are a short text");
    [MAGIC, &[1, 0], &length.to_le_bytes(), text.as_bytes()].iter().try_for_each(|part| sink.write_all(part))?;
    match values {
        Values::Real(values, _) => values.iter().try_for_each(|x| sink.write_all(&x.to_le_bytes())),
        // Of both types the low 8 bytes are those of two's complement.
        Values::Whole(values) => values.iter().try_for_each(|x| sink.write_all(&(*x as u64).to_le_bytes())),
    }
}

/// The text of the header, and the bytes behind it; or what is wrong.
fn split(bytes: &[u8]) -> Result<(&str, &[u8]), &'static str> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("no signature of the format")?;
    let short = "a truncated header";
    let (version, rest) = rest.split_first_chunk::<2>().ok_or(short)?;
    let (length, rest) = match version {
        [1, 0] => {
            let (length, rest) = rest.split_first_chunk().ok_or(short)?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        [2 | 3, 0] => {
            let (length, rest) = rest.split_first_chunk().ok_or(short)?;
            (usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX), rest)
        }
        _ => return Err("an unknown version"),
    };
    if length > MAX_HEADER {
        return Err("a header of more than 10000 bytes");
    }
    let (text, data) = rest.split_at_checked(length).ok_or(short)?;
    Ok((std::str::from_utf8(text).map_err(|_| "a header that is no text")?, data))
}

/// The contents of a header.
struct Header<'a> {
    descr: &'a str,
    fortran_order: bool,
    shape: Vec<usize>,
}

impl<'a> Header<'a> {
    /// Reads `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`. A type that is no plain one stands in
    /// `descr` as it is written.
    fn parse(text: &'a str) -> Option<Self> {
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (key, after) = rest.strip_prefix('\'')?.split_once('\'')?;
            let value = after.trim_start().strip_prefix(':')?.trim_start();
            let (value, after) = match key {
                "descr" if value.starts_with('\'') => value[1..].split_once('\'')?,
                // A list of fields: the next key ends it.
                "descr" => value.split_at(value.find("'fortran_order'").or_else(|| value.find("'shape'"))?),
                "shape" => value.strip_prefix('(')?.split_once(')')?,
                _ => value.split_at(value.find(',').unwrap_or(value.len())),
            };
            match key {
                "descr" => descr = Some(value.trim()),
                "fortran_order" => fortran_order = Some(truth(value.trim())?),
                "shape" => shape = Some(dimensions(value)?),
                _ => return None,
            }
            let after = after.trim_start();
            rest = after.strip_prefix(',').unwrap_or(after).trim_start();
        }
        Some(Self { descr: descr?, fortran_order: fortran_order?, shape: shape? })
    }
}

fn truth(text: &str) -> Option<bool> {
    match text {
        "True" => Some(true),
        "False" => Some(false),
        _ => None,
    }
}

fn dimensions(text: &str) -> Option<Vec<usize>> {
    let text = text.trim();
    let text = text.strip_suffix(',').unwrap_or(text);
    if text.is_empty() {
        return Some(Vec::new());
    }
    text.split(',').map(|number| number.trim().parse().ok()).collect()
}

/// How one number is stored.
struct Element {
    kind: Kind,
    size: usize,
    big_endian: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Float,
    Signed,
    Unsigned,
}

impl Element {
    /// The type that numpy calls so, such as `<f8`.
    fn parse(descr: &str) -> Option<Self> {
        let mut signs = descr.chars();
        let order = signs.next()?;
        let kind = match signs.next()? {
            'f' => Kind::Float,
            'i' => Kind::Signed,
            'u' => Kind::Unsigned,
            _ => return None,
        };
        let size: usize = signs.as_str().parse().ok()?;
        let known = match kind {
            Kind::Float => matches!(size, 4 | 8),
            Kind::Signed | Kind::Unsigned => matches!(size, 1 | 2 | 4 | 8),
        };
        let big_endian = match order {
            '<' => false,
            '>' => true,
            '|' if size == 1 => false,
            _ => return None,
        };
        known.then_some(Self { kind, size, big_endian })
    }

    /// The number, and what it stands for if that is another.
    fn decode(&self, bytes: &[u8]) -> (f64, Option<Exact>) {
        let mut word = [0; size_of::<u64>()];
        word[..self.size].copy_from_slice(bytes);
        if self.big_endian {
            word[..self.size].reverse();
        }
        let unsigned = u64::from_le_bytes(word);
        let whole = match self.kind {
            Kind::Float if self.size == size_of::<f64>() => return (f64::from_bits(unsigned), None),
            // The upper half is zero.
            Kind::Float => return (f64::from(f32::from_bits(unsigned as u32)), None),
            Kind::Unsigned => i128::from(unsigned),
            Kind::Signed => {
                let unused = u64::BITS - 8 * self.size as u32;
                i128::from((unsigned << unused).cast_signed() >> unused)
            }
        };
        Exact::of_whole(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let length = u16::try_from(header.len()).expect("short").to_le_bytes();
        [MAGIC, &[1, 0], &length, header.as_bytes(), data].concat()
    }

    fn read_file(header: &str, data: &[u8]) -> Result<Numbers, String> {
        read(Path::new("t.npy"), &file(header, data)).map_err(|failure| failure.to_string())
    }

    fn written(values: Values<'_>, columns: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut bytes, values, columns).expect("memory");
        bytes
    }

    fn header(descr: &str, shape: &str) -> String {
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}   \n")
    }

    #[test]
    fn what_is_written_is_read_again() {
        let entries = [1.5, -0.0, 1e300, f64::MIN_POSITIVE, 3.0, -7.25];
        for columns in [1, 2, 3, 6] {
            let bytes = written(Values::Real(&entries, None), columns);
            assert_eq!(bytes.len() % ALIGNMENT, entries.len() * 8 % ALIGNMENT);
            let again = read(Path::new("t.npy"), &bytes).expect("just written");
            assert_eq!((again.rows, again.columns), (6 / columns, columns));
            assert!(again.entries.iter().zip(entries).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
    }

    /// The bytes of `numpy.save(file, numpy.array([[1, -2, 3], [4, 5, -6]], dtype=">i2", order="F"))`.
    #[test]
    fn fortran_order_and_big_endian_are_read() {
        let text = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }";
        let data = [0, 1, 0, 4, 0xff, 0xfe, 0, 5, 0, 3, 0xff, 0xfa];
        let found = read_file(text, &data).expect("a table");
        assert_eq!((found.rows, found.columns), (2, 3));
        assert_eq!(found.entries, [1.0, -2.0, 3.0, 4.0, 5.0, -6.0]);
    }

    #[test]
    fn every_type_is_read() {
        for (descr, data, value) in [
            ("<f8", &2.5f64.to_le_bytes()[..], 2.5),
            (">f8", &2.5f64.to_be_bytes(), 2.5),
            ("<f4", &(-0.1f32).to_le_bytes(), f64::from(-0.1f32)),
            ("|i1", &[0x80], -128.0),
            ("|u1", &[0x80], 128.0),
            ("<u2", &[1, 2], 513.0),
            ("<i4", &(-5i32).to_le_bytes(), -5.0),
            (">u4", &7u32.to_be_bytes(), 7.0),
            ("<i8", &(-(1i64 << 53)).to_le_bytes(), -(2f64.powi(53))),
            ("<u8", &(1u64 << 53).to_le_bytes(), 2f64.powi(53)),
        ] {
            let found = read_file(&header(descr, "(1,)"), data).expect(descr);
            assert_eq!((found.rows, found.columns, found.entries), (1, 1, vec![value]), "{descr}");
        }
    }

    #[test]
    fn whole_numbers_of_64_bits_are_exact() {
        for (descr, data, needed) in [
            ("<u8", [255; 8], i128::from(u64::MAX)),
            ("<i8", i64::MIN.to_le_bytes(), i128::from(i64::MIN)),
            (">i8", ((1i64 << 53) + 1).to_be_bytes(), (1 << 53) + 1),
            ("<u8", (1u64 << 53).to_le_bytes(), 1 << 53),
        ] {
            let found = read_file(&header(descr, "(1,)"), &data).expect(descr);
            assert_eq!(found.whole(0), Ok(needed), "{descr}");
            let again = read(Path::new("t.npy"), &written(Values::Whole(&[needed]), 1)).expect("just written");
            assert_eq!(again.whole(0), Ok(needed), "{descr}");
        }
        // Floating point may have rounded numbers that large.
        let found = read_file(&header("<f8", "(1,)"), &2f64.powi(54).to_le_bytes()).expect("a table");
        assert!(found.whole(0).expect_err("not exact").contains("2^53"));
    }

    #[test]
    fn refusals_name_what_was_found() {
        for (text, data, needed) in [
            (header("<c16", "(1,)"), &[0; 16][..], "found \"<c16\", needed float64"),
            (header("|b1", "(1,)"), &[0], "found \"|b1\""),
            (header("<f2", "(1,)"), &[0; 2], "found \"<f2\""),
            (header("|O", "(1,)"), &[0; 8], "found \"|O\""),
            (header("<f8", "()"), &[0; 8], "found [], needed one or two dimensions"),
            (header("<f8", "(1, 1, 1)"), &[0; 8], "found [1, 1, 1]"),
            (header("<f8", "(0, 3)"), &[], "found [0, 3], needed at least one row"),
            (header("<f8", "(2,)"), &[0; 15], "found 15 bytes for the shape [2], needed 16 bytes"),
            (header("<f8", "(2,)"), &[0; 17], "found 17 bytes"),
            (header("<f8", "(4611686018427387904, 4)"), &[], "needed fewer numbers"),
            (header("<f8", "(-1,)"), &[], "the header"),
            ("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }".into(), &[0; 8], "[('a', '<f8')]"),
            ("{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,), }".into(), &[0; 8], "the header"),
            ("((((((((".into(), &[], "the header"),
        ] {
            let message = read_file(&text, data).expect_err(&text);
            assert!(message.contains(needed), "{text}: {message}");
        }
        let whole = file(&header("<f8", "(1,)"), &1f64.to_le_bytes());
        for length in 0..whole.len() {
            assert!(read(Path::new("t.npy"), &whole[..length]).is_err(), "{length} bytes");
        }
    }
}

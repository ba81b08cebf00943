//! Several objects in one container, an item each.

use crate::error::Result;
use crate::wire::object::Object;
use crate::wire::reader::Reader;
use crate::wire::writer::Writer;

/// Writes the objects into items that follow one another, the first into the current one.
///
/// # Panics
/// If there are none.
pub fn write_all<'a, T: Object>(all: &'a [T], context: &'a T::Context, writer: &mut Writer<'a>) {
    assert!(!all.is_empty(), "a file holds at least one object");
    for (i, object) in all.iter().enumerate() {
        if i > 0 {
            writer.next_item();
        }
        object.write(context, writer);
    }
}

/// Reads the objects of the current item and of all that follow.
///
/// # Errors
/// As [`Object::read`].
pub fn read_all<T: Object>(context: &T::Context, reader: &mut Reader<'_>) -> Result<Vec<T>> {
    let mut all = vec![T::read(context, reader)?];
    while reader.next_item()? {
        all.push(T::read(context, reader)?);
    }
    Ok(all)
}

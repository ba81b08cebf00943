//! Tables of whole numbers: where they lie, what is refused, how they travel.

use noren::bfv::{Bfv, Encryptor, KeyRequest};
use noren::error::{Error, cause};
use noren::programs::{IntegerLayout, IntegerTable};
use noren::schemes::integers::IntegerError;
use noren::wire::{Form, Object};

use crate::small::{Setup, integers, seed, spec};

fn setup() -> Setup {
    Setup::new(spec(2), &KeyRequest::default())
}

fn encrypt(setup: &Setup, layout: IntegerLayout, entries: &[i64]) -> Result<IntegerTable, Error> {
    let encryptor = Encryptor::symmetric(&setup.context, &setup.keys.secret, seed(5)).expect("one context");
    IntegerTable::encrypt(&setup.encoder(), &encryptor, layout, entries)
}

/// Rows, columns, slots of a number.
const SHAPES: [(usize, usize, usize); 6] = [(1, 1, 1), (5, 3, 1), (300, 2, 1), (5, 3, 2), (40, 2, 16), (3, 2, 256)];

#[test]
fn numbers_come_back_from_their_stretches() {
    let setup = setup();
    let n = setup.context.parameters().degree();
    for (rows, columns, stretch) in SHAPES {
        let stretch = stretch.min(n);
        let names = (0..columns).map(|c| format!("c{c}")).collect();
        let layout = IntegerLayout::new(rows, columns, n, stretch).and_then(|layout| layout.with_column_names(names));
        let layout = layout.and_then(|layout| layout.with_sizes(vec![setup.t() as usize; columns])).unwrap();
        let entries = integers(rows * columns, setup.t(), 3);
        let table = encrypt(&setup, layout.clone(), &entries).unwrap();
        assert_eq!(table.ciphertexts().len(), columns * rows.div_ceil(n / stretch));
        assert_eq!(table.decrypt(&setup.decryptor(), &setup.encoder()).unwrap(), entries);
        // Number r of column c fills its stretch, as the layout says.
        for (c, r) in (0..columns).flat_map(|c| [(c, 0), (c, rows - 1)]) {
            let slots = setup.decrypt(&table.column(c)[r / (n / stretch)]);
            let start = r % (n / stretch) * stretch;
            assert!(
                slots[start..start + stretch].iter().all(|&x| x == entries[r * columns + c]),
                "row {r}, column {c}"
            );
        }
        for form in [Form::Raw, Form::Packed] {
            let bytes = table.to_bytes(&setup.context, form);
            let again = IntegerTable::from_bytes(&setup.context, &bytes).unwrap();
            assert_eq!(again.layout(), &layout);
            assert_eq!(again.to_bytes(&setup.context, form), bytes);
        }
    }
}

#[test]
fn layouts_refuse_what_does_not_fit() {
    let refused = |layout: Result<IntegerLayout, Error>, needed: &str| {
        let message = layout.expect_err(needed).to_string();
        assert!(message.contains(needed), "{message}");
    };
    refused(IntegerLayout::new(0, 1, 8, 1), "rows");
    refused(IntegerLayout::new(1, 0, 8, 1), "columns");
    refused(IntegerLayout::new(1, 1, 0, 1), "slots");
    // Numbers of one slot are in any number of slots, longer ones in a power of two.
    assert_eq!(IntegerLayout::new(1, 1, 7, 1).unwrap().per_ciphertext(), 7);
    refused(IntegerLayout::new(1, 1, 12, 4), "slots");
    refused(IntegerLayout::new(1, 1, 8, 3), "stretch");
    refused(IntegerLayout::new(1, 1, 8, 16), "at most 8");
    let layout = IntegerLayout::new(2, 2, 8, 1).unwrap();
    refused(layout.clone().with_sizes(vec![1]), "sizes of columns: expected 2, found 1");
    refused(layout.clone().with_column_names(vec!["a".into(); 3]), "names of columns");
    refused(IntegerLayout::from_json("{}"), "the JSON of a layout");
    let wrong = layout.to_json().replace("\"stretch\":1", "\"stretch\":3");
    refused(IntegerLayout::from_json(&wrong), "stretch");
    assert_eq!(IntegerLayout::from_json(&layout.to_json()).unwrap(), layout);
}

#[test]
fn tables_refuse_what_is_none() {
    let setup = setup();
    let n = setup.context.parameters().degree();
    let layout = IntegerLayout::new(2, 1, n, 1).unwrap();
    let t = setup.t();
    let few = encrypt(&setup, layout.clone(), &[1]).err();
    assert!(matches!(few, Some(Error::Length { what: "entries of the table", found: 1, .. })));
    let large = encrypt(&setup, layout.clone(), &[1, t]);
    assert!(matches!(cause(&large), Some(IntegerError::NotAResidue { index: 1, .. })));
    let other = IntegerLayout::new(2, 1, 2 * n, 1).unwrap();
    assert!(encrypt(&setup, other, &[1, 2]).is_err());
    let size = layout.clone().with_sizes(vec![t as usize + 1]).unwrap();
    assert!(matches!(encrypt(&setup, size, &[1, 2]), Err(Error::Parameters { name: "size", .. })));
    let ciphertext = setup.encrypt::<Bfv>(&[1], 1);
    let many = IntegerTable::new(layout.clone(), vec![ciphertext.clone(), ciphertext.clone()]).err();
    assert!(matches!(many, Some(Error::Length { what: "ciphertexts of the table", found: 2, .. })));
    let strange = Setup::new(spec(3), &KeyRequest::default()).encrypt::<Bfv>(&[1], 1);
    let mixed = IntegerTable::new(IntegerLayout::new(2, 2, n, 1).unwrap(), vec![ciphertext, strange]).err();
    assert!(matches!(mixed, Some(Error::ParameterMismatch { .. })));
}

#[test]
fn bytes_of_tables_that_are_none_are_refused() {
    let setup = setup();
    let layout = IntegerLayout::new(2, 1, setup.context.parameters().degree(), 1).unwrap();
    let bytes = encrypt(&setup, layout, &[1, 2]).unwrap().to_bytes(&setup.context, Form::Packed);
    for length in (0..bytes.len()).step_by(61) {
        assert!(IntegerTable::from_bytes(&setup.context, &bytes[..length]).is_err(), "{length} bytes");
    }
    let limits = noren::wire::Limits { check_digest: false, ..noren::wire::Limits::default() };
    let text = b"\"rows\":2";
    let at = bytes.windows(text.len()).position(|window| window == text).expect("the layout is text");
    for (digit, needed) in [(b'0', "rows"), (b' ', "layout"), (b'9', "")] {
        let mut changed = bytes.clone();
        changed[at + text.len() - 1] = digit;
        match IntegerTable::from_bytes_within(&setup.context, &changed, &limits) {
            // Nine rows fit into the ciphertext too.
            Ok(table) => assert_eq!((digit, table.layout().rows()), (b'9', 9)),
            Err(error) => assert!(digit != b'9' && error.to_string().contains(needed), "{error}"),
        }
    }
}

#[test]
fn a_table_of_two_secrets_is_refused() {
    let (setup, other) = (setup(), setup());
    let strangers = other.context.generate_keys(seed(9), &KeyRequest::default()).unwrap();
    let n = setup.context.parameters().degree();
    let layout = || IntegerLayout::new(1, 2, n, 1).unwrap();
    let own = encrypt(&setup, layout(), &[3, 4]).unwrap();
    let foreign = encrypt(&Setup { keys: strangers, ..other }, layout(), &[3, 4]).unwrap();
    assert!(matches!(foreign.decrypt(&setup.decryptor(), &setup.encoder()), Err(Error::KeyMismatch { .. })));
    let mixed = vec![own.ciphertexts()[0].clone(), foreign.ciphertexts()[1].clone()];
    let refused = IntegerTable::new(layout(), mixed);
    assert!(matches!(refused, Err(Error::KeyMismatch { what: "a ciphertext of the table", .. })));
}

//! Layouts of tables: where entries lie, what is refused, how they travel.

use noren::schemes::error::SlotError;
use std::collections::BTreeSet;

use noren::Seed;
use noren::ckks::{Ciphertext, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Releases};
use noren::error::{Error, cause};
use noren::programs::PairLayout;
use noren::programs::Program;
use noren::programs::TableLayout;
use noren::programs::{EncryptedTable, Guarantee, Layout, ProgramError};
use noren::schemes::clear::{ClearEvaluator, ClearVector};
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;

use crate::data::{Data, SHAPES, context, linear_model};

#[test]
fn layout_places_every_entry_once_and_reads_it_back() {
    for (rows, columns, slots) in SHAPES {
        let data = Data::new(rows, columns);
        let layout = data.layout(slots);
        let places: BTreeSet<_> =
            (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))).map(|(r, c)| layout.place(r, c)).collect();
        assert_eq!(places.len(), rows * columns);
        assert!(places.iter().all(|&(ciphertext, slot)| ciphertext < layout.ciphertexts() && slot < layout.slots()));
        let packed = layout.pack(&data.entries).unwrap();
        assert!(packed.iter().flatten().all(|x| x.abs() <= 1.0));
        let matrix = Layout::Table(layout.clone()).read(&packed, &vec![0.5; packed.len()]).unwrap();
        assert_eq!(matrix.values, data.entries, "division by powers of two is exact");
        for (index, error) in matrix.errors.iter().enumerate() {
            assert_eq!(*error, 0.5 * 2.0_f64.powi(layout.exponents()[index % columns]));
        }
    }
}

#[test]
fn layouts_refuse_what_does_not_fit() {
    assert!(matches!(TableLayout::new(0, 3, 8), Err(Error::Parameters { name: "rows", .. })));
    assert!(matches!(TableLayout::new(3, 0, 8), Err(Error::Parameters { name: "columns", .. })));
    // Before anything of such a length is allocated.
    for columns in [(1 << 24) + 1, 1_000_000_000, usize::MAX] {
        assert!(matches!(TableLayout::new(10, columns, 1 << 15), Err(Error::Parameters { name: "columns", .. })));
    }
    for (rows, columns, slots) in [(1 << 31, 1 << 24, 1 << 16), (1 << 21, 1, 1), (10, 1 << 21, 16)] {
        assert!(matches!(TableLayout::new(rows, columns, slots), Err(Error::Parameters { name: "table", .. })));
    }
    assert!(TableLayout::new(10, 1 << 20, 16).is_ok());
    assert!(matches!(TableLayout::new(3, 3, 12), Err(Error::Parameters { name: "slots", .. })));
    let layout = TableLayout::new(2, 2, 8).unwrap();
    assert!(matches!(layout.pack(&[1.0; 3]), Err(Error::Length { found: 3, .. })));
    assert!(matches!(layout.pack(&[1.0, 1.0, 1.5, 1.0]), Err(Error::Parameters { name: "exponent", .. })));
    assert!(matches!(cause(&layout.pack(&[1.0, f64::NAN, 1.0, 1.0])), Some(SlotError::NotFinite { index: 1, .. })));
    let wide = TableLayout::new(2, 5000, 8).unwrap();
    assert!(matches!(PairLayout::square(wide, 0), Err(Error::Parameters { name: "columns", .. })));
    assert!(layout.clone().with_exponents(vec![0; 3]).is_err());
    assert!(layout.clone().with_exponents(vec![0, 501]).is_err());
    assert!(layout.clone().with_column_names(vec!["a".to_owned()]).is_err());
    assert!(EncryptedTable::<ClearVector>::new(Layout::Table(layout.clone()), vec![]).is_err());
    let narrow = vec![ClearVector::new(vec![0.0; 2], 1).unwrap()];
    let table = EncryptedTable::new(Layout::Table(layout), narrow).unwrap();
    assert!(matches!(Program::Sum.run(&ClearEvaluator, &table), Err(Error::Length { found: 2, .. })));
}

#[test]
fn layouts_travel_as_json() {
    let data = Data::new(13, 7);
    let layout = data
        .layout(64)
        .with_column_names((0..7).map(|c| format!("column \"{c}\"")).collect())
        .unwrap()
        .with_row_names((0..13).map(|r| format!("patient {r}")).collect())
        .unwrap();
    let (logistic, _) = linear_model(&data, 1, ", \"interval\": 16, \"error\": 1e-3");
    for (name, model) in [
        ("mean", None),
        ("covariance", None),
        ("inner-product", Some(r#"{"pairs": [[3, 1], ["column \"6\"", 6]]}"#)),
        ("logistic", Some(&logistic[..])),
    ] {
        let program = Program::parse(name, model).unwrap();
        let levels = program.plan(&layout).unwrap().depth;
        let result = program.run(&ClearEvaluator, &data.table(&layout, levels)).unwrap();
        let json = result.layout().to_json();
        let back = Layout::from_json(&json).unwrap();
        assert_eq!((&back, back.to_json()), (result.layout(), json), "{name}");
    }
}

#[test]
fn layouts_from_outside_are_checked() {
    let good = Layout::Table(TableLayout::new(2, 2, 8).unwrap()).to_json();
    assert!(Layout::from_json(&good).is_ok());
    for (from, to) in [
        ("\"rows\":2", "\"rows\":0"),
        ("\"rows\":2", "\"rows\":-1"),
        ("\"columns\":2", "\"columns\":2000000000"),
        ("\"slots\":4", "\"slots\":5"),
        ("\"height\":2", "\"height\":16"),
        ("[0,0]", "[0,9999]"),
        ("\"row_names\":[]", "\"row_names\":[\"a\"]"),
        ("\"pairs\":null", "\"pairs\":{\"exponent\":0,\"list\":[[0,2]]}"),
        ("\"pairs\":null", "\"pairs\":null,\"more\":1"),
        ("{", "["),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from} is not in {good}");
        assert!(Layout::from_json(&bad).is_err(), "{bad}");
    }
}

#[test]
fn tables_travel_as_bytes() {
    let context = context(8, 40, 1);
    let keys = context.generate_keys(Seed::from_bytes([5; 32]), &KeyRequest::default()).unwrap();
    let encryptor = Encryptor::symmetric(&context, &keys.secret, Seed::from_bytes([6; 32])).unwrap();
    let data = Data::new(20, 3);
    let table =
        EncryptedTable::encrypt(&Encoder::new(&context), &encryptor, data.layout(32), &data.entries, 1).unwrap();
    let decryptor = Decryptor::new(&context, &keys.secret).unwrap();
    for form in [Form::Packed, Form::Raw] {
        let bytes = table.to_bytes(&context, form);
        let back = EncryptedTable::<Ciphertext>::from_bytes(&context, &bytes).unwrap();
        assert_eq!(back.layout(), table.layout());
        assert_eq!(back.decrypt(&decryptor).unwrap(), table.decrypt(&decryptor).unwrap());
        assert_eq!(back.to_bytes(&context, form), bytes, "what is read and written again comes out unchanged");
        for end in (0..bytes.len()).step_by(97) {
            let cut = EncryptedTable::<Ciphertext>::from_bytes(&context, &bytes[..end]);
            assert!(cut.is_err(), "{end} bytes of {}", bytes.len());
        }
    }
}

#[test]
fn released_tables_are_rounded_within_their_bounds() {
    let context = context(8, 45, 1);
    let keys = context.generate_keys(Seed::from_bytes([7; 32]), &KeyRequest::default()).unwrap();
    let encryptor = Encryptor::symmetric(&context, &keys.secret, Seed::from_bytes([8; 32])).unwrap();
    let data = Data::new(5, 4);
    let table =
        EncryptedTable::encrypt(&Encoder::new(&context), &encryptor, data.layout(32), &data.entries, 1).unwrap();
    let decryptor = Decryptor::new(&context, &keys.secret).unwrap();
    let released = table.decrypt_for_release(&decryptor, 3, &mut Releases::new(1).unwrap()).unwrap();
    for (index, (value, expected)) in released.values.iter().zip(&data.entries).enumerate() {
        assert!((value - expected).abs() <= released.errors[index], "{value} instead of {expected}");
        let unit = 2.0_f64.powi(table.columns().unwrap().exponents()[index % 4] - 3);
        assert_eq!((value / unit).fract(), 0.0, "a multiple of the spacing");
    }
    let refused = table.decrypt_for_release(&decryptor, 40, &mut Releases::new(1).unwrap());
    assert!(matches!(refused, Err(Error::Parameters { name: "bits of a release", .. })));
    // A table is one release, and the same table the same.
    let mut one = Releases::new(1).unwrap();
    for _ in 0..2 {
        assert_eq!(table.decrypt_for_release(&decryptor, 3, &mut one).unwrap().values, released.values);
    }
    assert!(table.decrypt_for_release(&decryptor, 2, &mut one).is_err() && one.made() == 1);
}

#[test]
fn tables_and_keys_of_another_secret_are_refused() {
    let context = context(8, 40, 2);
    let data = Data::new(20, 3);
    let program = Program::parse("mean", None).unwrap();
    let usage = program.plan(&data.layout(32)).unwrap();
    let request = usage.key_request(usage.depth).unwrap();
    let [own, other] = [1, 2].map(|i| context.generate_keys(Seed::from_bytes([i; 32]), &request).unwrap());
    let encrypt = |keys: &noren::ckks::Keys| {
        let encryptor = Encryptor::symmetric(&context, &keys.secret, Seed::from_bytes([6; 32])).unwrap();
        let layout = data.layout(32);
        EncryptedTable::encrypt(&Encoder::new(&context), &encryptor, layout, &data.entries, usage.depth).unwrap()
    };
    let (table, foreign) = (encrypt(&own), encrypt(&other));
    let evaluator = Evaluator::new(&context, own.evaluation.clone()).unwrap();
    let decryptor = Decryptor::new(&context, &own.secret).unwrap();
    let mismatch = |error: Option<Error>| assert!(matches!(error, Some(Error::KeyMismatch { .. })), "{error:?}");
    mismatch(program.run(&evaluator, &foreign).err());
    mismatch(foreign.decrypt(&decryptor).err());
    mismatch(foreign.decrypt_for_release(&decryptor, 1, &mut Releases::new(1).unwrap()).err());
    assert!(program.run(&evaluator, &table).unwrap().decrypt(&decryptor).is_ok());
    // A table with a ciphertext of each.
    let (layout, mut ciphertexts) = table.into_parts();
    *ciphertexts.last_mut().unwrap() = foreign.ciphertexts().last().unwrap().clone();
    assert!(ciphertexts.len() > 1, "two ciphertexts");
    let mixed = EncryptedTable::new(layout, ciphertexts).unwrap();
    mismatch(EncryptedTable::<Ciphertext>::from_bytes(&context, &mixed.to_bytes(&context, Form::Packed)).err());
}

#[test]
fn tables_of_chosen_entries_with_another_number_of_ones_are_refused() {
    let context = context(8, 40, 1);
    let keys = context.generate_keys(Seed::from_bytes([1; 32]), &KeyRequest::default()).unwrap();
    let encryptor = Encryptor::symmetric(&context, &keys.secret, Seed::from_bytes([2; 32])).unwrap();
    let guarantee = Guarantee {
        function: "1 for the 2 largest entries".to_owned(),
        interval: [-1.0, 1.0],
        error: 0.0,
        range: [0.0, 1.0],
        arguments: None,
        chosen: Some(2),
    };
    for (entries, found) in [
        ([1.0, 0.0, 0.0, 1.0, 1.0, 1.0], None),
        ([1.0, 0.0, 0.0, 1.0, 1.0, 0.0], Some(1)),
        ([1.0, 1.0, 0.0, 1.0, 1.0, 1.0], Some(3)),
        ([1.0, 0.0, 0.0, 0.0, 1.0, 0.0], Some(0)),
    ] {
        let layout =
            TableLayout::new(3, 2, 32).unwrap().with_column_names(vec!["a".to_owned(), "b".to_owned()]).unwrap();
        let layout = layout.with_guarantee(guarantee.clone());
        let table = EncryptedTable::encrypt(&Encoder::new(&context), &encryptor, layout, &entries, 1).unwrap();
        let table =
            EncryptedTable::<Ciphertext>::from_bytes(&context, &table.to_bytes(&context, Form::Packed)).unwrap();
        let decryptor = || Decryptor::new(&context, &keys.secret).unwrap();
        let refused = table.decrypt(&decryptor());
        match found {
            None => assert!(refused.is_ok()),
            Some(found) => {
                let Some(ProgramError::Undecided { column, found: ones, needed }) = cause(&refused) else {
                    panic!("{:?}", refused.map(|matrix| matrix.values))
                };
                assert_eq!((column.as_str(), *ones, *needed), ("b", found, 2));
                let any = table.decrypt(&decryptor().allow_unbounded()).unwrap();
                assert_eq!(any.out_of_range, [(0, 1), (1, 1), (2, 1)]);
            }
        }
    }
}

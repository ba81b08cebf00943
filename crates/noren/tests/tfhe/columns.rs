//! Columns of integers and truth values, against the same operations in the clear.

use noren::error::{Error, cause};
use noren::programs::columns::{Binary, Column, ColumnEvaluator, ColumnLookup, Columns, Element, Unary};
use noren::radix::Comparison;
use noren::tfhe::{Encoding, TfheError};
use noren::wire::{Form, Object};
use noren_math::kernels::is_fastest;

use crate::world::{INTEGERS_1_1, INTEGERS_2_2, World, cases, small_spec};

const A: [i128; 4] = [200, 7, 90, 255];
const B: [i128; 4] = [9, 250, 90, 1];

fn encrypt(world: &World, element: Element, values: &[i128]) -> Column {
    Column::encrypt(&world.encryptor(), element, values).expect("values of the element")
}

fn decrypt(world: &World, column: &Column) -> Vec<i128> {
    column.decrypt(&world.decryptor()).expect("its own keys")
}

#[test]
fn operations_of_columns_are_those_of_numbers() {
    type InClear = fn(i128, i128) -> i128;
    let world = World::small(INTEGERS_2_2);
    let evaluator = ColumnEvaluator::new(world.evaluator());
    let operations: [(Binary, InClear); 7] = [
        (Binary::Add, |a, b| (a + b) % 256),
        (Binary::Sub, |a, b| (a - b).rem_euclid(256)),
        (Binary::Div, |a, b| a / b),
        (Binary::Rem, |a, b| a % b),
        (Binary::Max, i128::max),
        (Binary::Xor, |a, b| a ^ b),
        (Binary::Compare(Comparison::Le), |a, b| i128::from(a <= b)),
    ];
    let (x, y) = (encrypt(&world, Element::Unsigned(8), &A), encrypt(&world, Element::Unsigned(8), &B));
    for (operation, function) in operations {
        let expected: Vec<i128> = A.into_iter().zip(B).map(|(a, b)| function(a, b)).collect();
        for found in [evaluator.binary(operation, &x, &y), evaluator.binary_known(operation, &x, &B)] {
            assert_eq!(decrypt(&world, &found.expect("bytes")), expected, "{operation}");
        }
        let found = evaluator.binary_known(operation, &x, &[90; 4]).expect("bytes");
        assert_eq!(decrypt(&world, &found), A.map(|a| function(a, 90)), "{operation} 90");
    }
    let negated = evaluator.unary(Unary::Neg, &x).expect("bytes");
    assert_eq!(decrypt(&world, &negated), A.map(|a| (256 - a) % 256));
}

#[test]
fn totals_are_wide_enough_for_every_sum() {
    let world = World::small(INTEGERS_2_2);
    let evaluator = ColumnEvaluator::new(world.evaluator());
    let cases: [(Element, &[i128], Element); 4] = [
        (Element::Unsigned(8), &[255, 255, 255], Element::Unsigned(16)),
        (Element::Signed(8), &[-128, -128], Element::Signed(16)),
        (Element::Signed(8), &[-128], Element::Signed(8)),
        (Element::Bool, &[1, 0, 1], Element::Unsigned(8)),
    ];
    for (element, values, wide) in cases {
        let total = evaluator.total(&encrypt(&world, element, values).split()).expect("terms");
        assert_eq!((total.element(), decrypt(&world, &total)), (wide, vec![values.iter().sum()]));
    }
    for (count, bits) in [(1, 8), (2, 16), (256, 16), (257, 32), (1 << 24, 32), ((1 << 24) + 1, 64)] {
        assert_eq!(Element::Unsigned(8).of_sum(count), Element::Unsigned(bits), "{count}");
    }
    assert_eq!(Element::Unsigned(64).of_sum(2), Element::Unsigned(64));
    assert_eq!(Element::Bool.of_sum(256), Element::Unsigned(16));
    assert!(evaluator.total(&[]).is_err());
}

#[test]
fn signed_columns_have_their_own_order() {
    if !is_fastest() {
        return;
    }
    let world = World::small(INTEGERS_2_2);
    let evaluator = ColumnEvaluator::new(world.evaluator());
    let values = [-128, 127, -1, 0, 127];
    let x = encrypt(&world, Element::Signed(8), &values);
    let largest = evaluator.argmax(&x.split()).expect("integers");
    assert_eq!((largest.element(), decrypt(&world, &largest)), (Element::Unsigned(8), vec![1]));
    assert_eq!(decrypt(&world, &evaluator.fold(Binary::Min, &x.split()).expect("integers")), [-128]);
    let negative = evaluator.binary_known(Binary::Compare(Comparison::Lt), &x, &[0; 5]).expect("integers");
    assert_eq!(decrypt(&world, &negative), values.map(|x| i128::from(x < 0)));
    let wide = evaluator.cast(&x, Element::Signed(32)).expect("integers");
    assert_eq!(decrypt(&world, &wide), values);
    let chosen = evaluator.select(&negative, &evaluator.unary(Unary::Neg, &wide).expect("integers"), &wide);
    assert_eq!(decrypt(&world, &chosen.expect("one length")), values.map(i128::abs));
    let by = [-1, -7, 3, 0, 7];
    let y = encrypt(&world, Element::Signed(8), &by);
    // -128 / -1 has no room: it wraps.
    for (operation, expected) in [(Binary::Div, [-128, -19, -1, -1, 18]), (Binary::Rem, [0, -6, 2, 0, 1])] {
        for found in [evaluator.binary(operation, &x, &y), evaluator.binary_known(operation, &x, &by)] {
            assert_eq!(decrypt(&world, &found.expect("integers")), expected, "{operation}");
        }
    }
    let amounts = [1, 3, 7, 2, 0];
    for (places, shift) in [(amounts, None), ([3; 5], Some(3)), ([7; 5], Some(100))] {
        let found = match shift {
            None => evaluator.binary(Binary::ShiftRight, &x, &encrypt(&world, Element::Signed(8), &amounts)),
            Some(places) => evaluator.binary_known(Binary::ShiftRight, &x, &[places; 5]),
        };
        let expected: Vec<i128> = values.iter().zip(places).map(|(x, places)| x >> places).collect();
        assert_eq!(decrypt(&world, &found.expect("integers")), expected);
    }
}

#[test]
fn columns_come_back_with_their_layout() {
    let world = World::small(INTEGERS_2_2);
    let parameters = world.context.parameters();
    let a = encrypt(&world, Element::Unsigned(16), &[1, 65535]);
    let b = encrypt(&world, Element::Bool, &[1, 0]);
    let columns = Columns::new(vec![2, 1], vec![("a".into(), a), (String::new(), b)]).expect("two elements each");
    let fresh = columns.to_bytes(parameters, Form::Packed);
    // The same ciphertexts, with masks.
    let expanded = columns.columns().iter().map(|column| (String::new(), column.gather(&[0, 1]))).collect();
    let expanded = Columns::new(vec![2, 1], expanded).expect("two elements each");
    assert_eq!(expanded.columns(), columns.columns());
    let bytes = expanded.to_bytes(parameters, Form::Packed);
    for (columns, bytes, step) in [(&columns, &fresh, 7), (&expanded, &bytes, 997)] {
        let again = Columns::from_bytes(parameters, bytes).expect("its own bytes");
        assert!(again == *columns && again.to_bytes(parameters, Form::Packed) == *bytes);
        let values: Vec<_> = again.columns().iter().map(|column| decrypt(&world, column)).collect();
        assert_eq!(values, [[1, 65535], [1, 0]]);
        for keep in (0..bytes.len()).step_by(step) {
            assert!(matches!(Columns::from_bytes(parameters, &bytes[..keep]), Err(Error::Wire { .. })), "{keep} bytes");
        }
    }
    let other = World::small(INTEGERS_1_1);
    let refused = Columns::from_bytes(other.context.parameters(), &bytes);
    assert!(matches!(refused, Err(Error::ParameterMismatch { .. })));

    let short = encrypt(&world, Element::Bool, &[1]);
    assert!(matches!(Columns::new(vec![2], vec![(String::new(), short)]), Err(Error::Length { .. })));
    assert!(matches!(Columns::new(vec![2], Vec::new()), Err(Error::Length { .. })));
}

#[test]
fn fresh_columns_take_a_word_for_each_ciphertext() {
    let world = World::small(INTEGERS_2_2);
    let parameters = world.context.parameters();
    let bytes = |count: usize| {
        let column = encrypt(&world, Element::Unsigned(64), &vec![u64::MAX.into(); count]);
        Columns::new(vec![count], vec![("a".into(), column)])
            .expect("`count` elements")
            .to_bytes(parameters, Form::Packed)
            .len()
    };
    // 32 digits.
    assert_eq!(bytes(203) - bytes(103), 100 * 32 * size_of::<u64>());
    let bits = World::small(Encoding::Bits);
    let column = encrypt(&bits, Element::Bool, &[1, 0, 1]);
    let columns = Columns::new(vec![3], vec![(String::new(), column)]).expect("three");
    let bytes = columns.to_bytes(bits.context.parameters(), Form::Packed);
    let again = Columns::from_bytes(bits.context.parameters(), &bytes).expect("its own bytes");
    assert_eq!(decrypt(&bits, &again.columns()[0]), [1, 0, 1]);
}

#[test]
fn what_no_column_holds_is_refused() {
    let (integers, bits) = (World::small(INTEGERS_2_2), World::small(Encoding::Bits));
    let refused = |world: &World, element, values: &[i128]| {
        Column::encrypt(&world.encryptor(), element, values).expect_err("no such value")
    };
    assert!(matches!(refused(&integers, Element::Unsigned(8), &[256]), Error::Parameters { .. }));
    assert!(matches!(refused(&integers, Element::Signed(8), &[-129]), Error::Parameters { .. }));
    assert!(matches!(refused(&integers, Element::Bool, &[2]), Error::Parameters { .. }));
    assert!(matches!(refused(&integers, Element::Digit, &[]), Error::Length { .. }));
    assert!(matches!(refused(&bits, Element::Unsigned(8), &[1]), Error::Parameters { .. }));
    let carried = integers.evaluator().trivial(5).expect("room");
    let column = Column::of_digits(integers.context.parameters(), Element::Unsigned(8), vec![carried; 4]);
    assert!(matches!(cause(&column), Some(TfheError::OutOfRoom { found: 5, .. })), "{column:?}");

    let evaluator = ColumnEvaluator::new(integers.evaluator());
    let x = encrypt(&integers, Element::Unsigned(8), &[3, 4]);
    let y = encrypt(&integers, Element::Unsigned(16), &[3, 4]);
    assert!(matches!(evaluator.binary(Binary::Add, &x, &y), Err(Error::Parameters { .. })));
    assert!(matches!(evaluator.binary(Binary::Add, &x, &x.gather(&[0])), Err(Error::Length { .. })));
    assert!(matches!(evaluator.binary_known(Binary::Add, &x, &[1, 256]), Err(Error::Parameters { .. })));
    assert!(matches!(evaluator.sum(&[]), Err(Error::Length { .. })));
    let lookup =
        |value: i128| ColumnLookup::new(&integers.context, &[Element::Digit], Element::Digit, move |_| value).map(drop);
    assert!(lookup(3).is_ok());
    assert!(matches!(lookup(4), Err(Error::Parameters { .. })));
}

#[test]
fn columns_of_another_key_are_refused_although_every_key_decrypts_them() {
    let (own, other) = (World::small(INTEGERS_2_2), World::new(small_spec(INTEGERS_2_2), 2));
    let evaluator = ColumnEvaluator::new(own.evaluator());
    let x = encrypt(&own, Element::Unsigned(8), &[3, 4]);
    let trivial = ColumnEvaluator::new(other.evaluator()).trivial(Element::Unsigned(8), &[0, 0]).expect("bytes");
    let truths = ColumnEvaluator::new(other.evaluator()).trivial(Element::Bool, &[1, 0]).expect("truth values");
    let refused = [
        evaluator.binary(Binary::Xor, &x, &trivial),
        evaluator.binary_known(Binary::Mul, &trivial, &[0, 0]),
        evaluator.unary(Unary::Not, &trivial),
        evaluator.select(&truths, &x, &x),
        evaluator.cast(&trivial, Element::Unsigned(16)),
        evaluator.sum(&[x.clone(), trivial.clone()]),
        evaluator.argmax(std::slice::from_ref(&trivial)),
        evaluator.sort(&[trivial.clone(), trivial]).map(|mut sorted| sorted.remove(0)),
    ];
    for (i, result) in refused.into_iter().enumerate() {
        assert!(matches!(result, Err(Error::KeyMismatch { .. })), "{i}: {result:?}");
    }
}

#[test]
fn columns_in_parts_have_the_bytes_of_whole_ones() {
    if !is_fastest() {
        return;
    }
    let world = World::small(INTEGERS_2_2);
    let whole = ColumnEvaluator::new(world.evaluator());
    // A few elements have room at a time.
    let cut = ColumnEvaluator::new(world.evaluator()).with_working_set(1 << 18);
    let values: Vec<i128> = (0..30).map(|x| x * 37 % 256).collect();
    let others: Vec<i128> = (0..30).map(|x| (x * 101 % 256) | 1).collect();
    let fresh = || [&values, &others].map(|values| encrypt(&world, Element::Unsigned(8), values));
    type Work = fn(&ColumnEvaluator, &Column, &Column) -> noren::Result<Column>;
    let works: [Work; 9] = [
        |evaluator, x, y| evaluator.binary(Binary::Mul, x, y),
        |evaluator, x, y| evaluator.binary(Binary::Compare(Comparison::Lt), x, y),
        |evaluator, x, y| evaluator.binary(Binary::Max, x, &evaluator.binary(Binary::Add, x, y)?),
        |evaluator, x, _| evaluator.binary_known(Binary::Sub, x, &[3; 30]),
        |evaluator, x, _| evaluator.binary_known(Binary::Add, x, &(0..30).collect::<Vec<_>>()),
        |evaluator, x, _| evaluator.unary(Unary::Neg, x),
        |evaluator, x, y| evaluator.select(&evaluator.binary(Binary::Compare(Comparison::Eq), x, y)?, x, y),
        |evaluator, x, _| evaluator.cast(x, Element::Signed(16)),
        |evaluator, x, y| Ok(evaluator.div_rem(x, y)?.1),
    ];
    for (index, work) in cases(works.into_iter().enumerate()) {
        let [[x, y], [u, v]] = [fresh(), fresh()];
        let size = x.bytes();
        let [found, expected] = [(&cut, x, y), (&whole, u, v)].map(|(evaluator, x, y)| {
            let result = work(evaluator, &x, &y).expect("bytes");
            // Columns that are cut are expanded a part at a time, and the parts are not kept.
            // Of a number for each element, not the same is known of all.
            let is_cut = std::ptr::eq(evaluator, &raw const cut) && index != 4;
            assert_eq!(x.bytes() == size, is_cut, "operation {index}");
            result
        });
        assert!(found == expected, "operation {index}");
    }
    // Elements of which different things are known are not cut.
    let [x, y] = fresh();
    let small = encrypt(&world, Element::Unsigned(8), &[1; 30]);
    let mixed = whole.binary(Binary::Max, &x, &y).expect("bytes");
    let mixed =
        Column::concatenate([&mixed, &small].into_iter()).expect("one kind").gather(&(15..45).collect::<Vec<_>>());
    let results = [&cut, &whole].map(|evaluator| evaluator.binary(Binary::Max, &mixed, &y).expect("bytes"));
    assert!(results[0] == results[1]);
    assert_eq!(decrypt(&world, &results[0])[20], others[20]);
}

#[test]
fn fresh_elements_are_expanded_in_parts_to_the_same_ciphertexts() {
    for (encoding, element) in [(INTEGERS_2_2, Element::Unsigned(8)), (Encoding::Bits, Element::Bool)] {
        let world = World::small(encoding);
        let evaluator = ColumnEvaluator::new(world.evaluator());
        let cut = evaluator.clone().with_working_set(1);
        let values: Vec<i128> = (0..21).map(|x| x % 2).collect();
        let [x, y] = [(); 2].map(|()| encrypt(&world, element, &values));
        let [found, expected] = [(&cut, x), (&evaluator, y)]
            .map(|(evaluator, x)| evaluator.unary(Unary::Not, &x).expect("elements that have it"));
        assert!(found == expected);
    }
}

//! Rows that are asked for are those of the table.

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::security::Security;

use crate::retrieval::{Client, Database, Key, Plan, Rows};

/// Rows of these lengths, of bytes that follow from their numbers.
fn rows(lengths: impl Iterator<Item = usize>) -> Vec<Vec<u8>> {
    let row = |(at, length): (usize, usize)| (0..length).map(|i| (at * 31 + i * 7 + 1) as u8).collect();
    lengths.enumerate().map(row).collect()
}

/// The rows that a client gets.
fn retrieved(database: &Database, keys: &[Key<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
    let plan = Plan::from_bytes(&database.plan().to_bytes())?;
    assert_eq!(&plan, database.plan());
    let client = Client::generate(plan, &Seed::from_bytes([1; 32]))?;
    let server = client.server_keys(&Seed::from_bytes([2; 32]))?;
    let requests = client.encrypt(keys, Seed::from_bytes([3; 32]))?;
    client.decrypt(&database.answer(&requests, &server)?, keys)
}

#[test]
fn numbered_rows_are_those_of_the_table() -> Result<()> {
    let tables = [
        rows(std::iter::repeat_n(5, 1)),
        rows(std::iter::repeat_n(100, 3000)),
        rows((0..40).map(|at| at % 7 * 100)),
        // Rows that are longer than a plaintext.
        rows(std::iter::repeat_n(20_000, 9)),
    ];
    for table in tables {
        let borrowed: Vec<&[u8]> = table.iter().map(Vec::as_slice).collect();
        let database = Database::new(Rows::Numbered(&borrowed), Security::None)?;
        let asked: Vec<usize> =
            [0, 1, 8, 39, 1500, table.len() - 1].into_iter().filter(|&at| at < table.len()).collect();
        let found = retrieved(&database, &asked.iter().map(|&at| Key::Number(at)).collect::<Vec<_>>())?;
        for (at, found) in asked.iter().zip(found) {
            assert_eq!(found.as_ref(), Some(&table[*at]), "row {at} of {}", table.len());
        }
    }
    Ok(())
}

#[test]
fn named_rows_are_those_of_the_table_and_others_are_not_there() -> Result<()> {
    for (count, length, varies) in [(1, 3, 3), (700, 20, 3), (3, 9000, 3), (50, 0, 1)] {
        let table = rows((0..count).map(|at| length + at % varies));
        let names: Vec<String> = (0..count).map(|at| format!("row {at}")).collect();
        let pairs: Vec<(&[u8], &[u8])> =
            names.iter().zip(&table).map(|(name, row)| (name.as_bytes(), &row[..])).collect();
        let database = Database::new(Rows::Named(&pairs), Security::None)?;
        assert!(database.plan().by_keyword());
        let asked = ["row 0", "row 1", "row 2", "row 699", "row", "", "row 700"];
        let keys: Vec<_> = asked.iter().map(|name| Key::Keyword(name.as_bytes().into())).collect();
        for (name, found) in asked.iter().zip(retrieved(&database, &keys)?) {
            let expected = names.iter().position(|known| known == name).map(|at| &table[at]);
            assert_eq!(found.as_ref(), expected, "{name} of {count}");
        }
    }
    Ok(())
}

#[test]
fn what_is_no_table_is_refused() {
    let refused = |rows| Database::new(rows, Security::None).err().map(|error: Error| error.to_string());
    let message = refused(Rows::Numbered(&[])).expect("no rows");
    assert!(message.contains("rows"), "{message}");
    assert!(refused(Rows::Numbered(&[b"", b""])).is_some());
    let message = refused(Rows::Named(&[(b"a", b"1"), (b"b", b"2"), (b"a", b"3")])).expect("a name twice");
    assert!(message.contains("\"a\" in rows 0 and 2"), "{message}");
}

#[test]
fn messages_of_another_table_and_other_keys_are_refused() -> Result<()> {
    let table = |row: &'static [u8]| Database::new(Rows::Numbered(&[row, row]), Security::None);
    let (one, other) = (table(b"one")?, table(b"longer")?);
    let client = Client::generate(one.plan().clone(), &Seed::from_bytes([1; 32]))?;
    let (first, seed) = ([Key::Number(0)], || Seed::from_bytes([3; 32]));
    let keys = client.server_keys(&seed())?;
    let requests = client.encrypt(&first, seed())?;
    assert!(matches!(other.answer(&requests, &keys), Err(Error::WrongKind { .. } | Error::ParameterMismatch { .. })));
    let replies = one.answer(&requests, &keys)?;
    assert!(matches!(client.decrypt(&replies, &[]), Err(Error::Length { .. })));
    let stranger = Client::generate(one.plan().clone(), &Seed::from_bytes([9; 32]))?;
    assert!(matches!(one.answer(&stranger.encrypt(&first, seed())?, &keys), Err(Error::KeyMismatch { .. })));
    assert!(stranger.decrypt(&replies, &first).is_err());
    for key in [Key::Number(2), Key::Keyword(b"one".into())] {
        assert!(matches!(client.encrypt(&[key], seed()), Err(Error::Parameters { .. })));
    }
    assert!(matches!(client.encrypt(&[], seed()), Err(Error::Length { .. })));
    Ok(())
}

#[test]
fn replies_to_requests_for_other_rows_are_refused() -> Result<()> {
    let table = rows(std::iter::repeat_n(100, 3000));
    let borrowed: Vec<&[u8]> = table.iter().map(Vec::as_slice).collect();
    let database = Database::new(Rows::Numbered(&borrowed), Security::None)?;
    let seed = || Seed::from_bytes([1; 32]);
    let client = Client::generate(database.plan().clone(), &seed())?;
    let requests = client.encrypt(&[Key::Number(5)], seed())?;
    let replies = database.answer(&requests, &client.server_keys(&seed())?)?;
    let decrypted = |at: usize| client.decrypt(&replies, &[Key::Number(at)]);
    assert_eq!(decrypted(5)?[0].as_ref(), Some(&table[5]));
    // Rows that lie beside are there too, and others are not.
    assert_eq!(decrypted(6)?[0].as_ref(), Some(&table[6]));
    let message = decrypted(2000).expect_err("another bucket").to_string();
    assert!(message.contains("the keys of the request"), "{message}");
    Ok(())
}

#[test]
fn plans_that_were_changed_are_refused() -> Result<()> {
    let database = Database::new(Rows::Numbered(&[b"a row", b"another"]), Security::None)?;
    let bytes = database.plan().to_bytes();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert!(Plan::from_bytes(&changed).is_err(), "byte {at}");
    }
    Ok(())
}

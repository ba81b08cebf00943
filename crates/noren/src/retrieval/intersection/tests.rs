//! What is found is what both have, with the rows of the table.

use std::collections::BTreeMap;

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::security::Security;

use crate::retrieval::Rows;
use crate::retrieval::intersection::{Client, Database, Options, Plan};

type Table = BTreeMap<Vec<u8>, Vec<u8>>;

/// A table of keywords with rows of up to this many bytes.
fn table(count: usize, longest: usize, varies: bool) -> Table {
    let row = |at: usize| {
        let length = if varies { at * 7 % (longest + 1) } else { longest };
        (0..length).map(|i| (at * 31 + i * 5 + 3) as u8).collect()
    };
    (0..count).map(|at| (format!("keyword {at}").into_bytes(), row(at))).collect()
}

fn database(table: &Table, options: &Options) -> Result<Database> {
    let pairs: Vec<(&[u8], &[u8])> = table.iter().map(|(keyword, row)| (&keyword[..], &row[..])).collect();
    Database::new(Rows::Named(&pairs), options, &Seed::from_bytes([5; 32]))
}

fn options(asked: usize) -> Options {
    Options { asked, security: Security::None, ..Options::default() }
}

#[test]
fn keywords_are_found_with_their_rows_and_others_are_not() -> Result<()> {
    for (count, longest, varies, asked) in
        [(1, 0, false, 1), (300, 4, false, 40), (700, 30, true, 300), (2000, 8, false, 5)]
    {
        let table = table(count, longest, varies);
        let database = database(&table, &options(asked))?;
        let plan = Plan::from_bytes(&database.plan().to_bytes())?;
        assert_eq!(&plan, database.plan());
        let client = Client::generate(plan, &Seed::from_bytes([1; 32]))?;
        let keys = client.server_keys(&Seed::from_bytes([2; 32]))?;
        // Every third of the table, others that it does not have, and one of them twice.
        let mut asked: Vec<Vec<u8>> = (0..asked).map(|at| format!("keyword {}", at * 3).into_bytes()).collect();
        asked.push(asked[0].clone());
        let asked: Vec<&[u8]> = asked.iter().map(Vec::as_slice).collect();
        let request = client.encrypt(&asked, Seed::from_bytes([3; 32]))?;
        let reply = database.answer(&request, &keys, &Seed::from_bytes([4; 32]))?;
        for (keyword, found) in asked.iter().zip(client.decrypt(&reply, &asked)?) {
            assert_eq!(found.as_ref(), table.get(*keyword), "{} of {count}", String::from_utf8_lossy(keyword));
        }
    }
    Ok(())
}

#[test]
fn what_is_no_table_is_refused() {
    let refused = |rows, options: &Options| {
        Database::new(rows, options, &Seed::from_bytes([5; 32])).err().map(|error| error.to_string())
    };
    let pair: [(&[u8], &[u8]); 2] = [(b"a", b"1"), (b"a", b"2")];
    let message = refused(Rows::Named(&pair), &options(5)).expect("a keyword twice");
    assert!(message.contains("\"a\" in rows 0 and 1"), "{message}");
    assert!(refused(Rows::Named(&[]), &options(5)).is_some());
    assert!(refused(Rows::Numbered(&[b"a"]), &options(5)).is_some());
    assert!(refused(Rows::Named(&pair[..1]), &options(0)).is_some());
    let far = Options { distance: 1000, ..options(5) };
    assert!(refused(Rows::Named(&pair[..1]), &far).expect("a distance").contains("distance"));
}

#[test]
fn messages_of_another_table_and_other_keys_are_refused() -> Result<()> {
    let (one, other) = (database(&table(20, 3, false), &options(9))?, database(&table(20, 9, false), &options(9))?);
    let seed = || Seed::from_bytes([3; 32]);
    let client = Client::generate(one.plan().clone(), &seed())?;
    let keys = client.server_keys(&seed())?;
    let asked: [&[u8]; 1] = [b"keyword 7"];
    let request = client.encrypt(&asked, seed())?;
    assert!(other.answer(&request, &keys, &seed()).is_err());
    let reply = one.answer(&request, &keys, &seed())?;
    let stranger = Client::generate(one.plan().clone(), &Seed::from_bytes([9; 32]))?;
    assert!(matches!(one.answer(&stranger.encrypt(&asked, seed())?, &keys, &seed()), Err(Error::KeyMismatch { .. })));
    assert!(stranger.decrypt(&reply, &asked).is_err());
    let many: Vec<Vec<u8>> = (0..10u8).map(|at| vec![at]).collect();
    let many: Vec<&[u8]> = many.iter().map(Vec::as_slice).collect();
    assert!(matches!(client.encrypt(&many, seed()), Err(Error::Length { .. })));
    Ok(())
}

#[test]
fn plans_that_were_changed_are_refused() -> Result<()> {
    let bytes = database(&table(20, 3, true), &options(9))?.plan().to_bytes();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert!(Plan::from_bytes(&changed).is_err(), "byte {at}");
    }
    Ok(())
}

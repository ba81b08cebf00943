//! Parties that follow the protocol, that start again, and that break it.

use std::io::Write;
use std::path::Path;

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result, cause};
use noren_rlwe::security::Security;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::publish::Destination;
use noren_rlwe::wire::writer::Form;

use crate::backends::parcel::{JointRequest, Parcel};
use crate::owners::channel::SEALED_BYTES;
use crate::owners::message::Message;
use crate::owners::transcript::{BYTES, commitment};
use crate::owners::{Folder, JointKeys, Party, Request, Round, Session};
use crate::schemes::bfv::{
    Bfv, Ciphertext, Context, Encoder, Encryptor, Evaluator, IntegerError, KeyRequest, Opening, ParametersSpec,
    Requirements,
};
use crate::schemes::bgv;
use crate::schemes::integers::{self, Scheme};

const NAMES: [&str; 3] = ["north", "south", "west"];
const OPENING: Opening = Opening { parties: 3, results: 4, distance: 64 };
const T: i64 = 12289;

fn seed(at: u8) -> Seed {
    Seed::from_bytes([at; 32])
}

fn spec() -> ParametersSpec {
    ParametersSpec {
        log_n: 10,
        plaintext_modulus: T as u64,
        log_q: vec![45; 5],
        log_p: vec![48; 2],
        secret: OPENING.secret(),
        security: Security::None,
        ..ParametersSpec::default()
    }
}

fn context() -> Context {
    Context::new(spec().build().expect("supported")).expect("supported")
}

fn session(request: &KeyRequest, at: u8) -> Session {
    Session::new(context().parameters(), &NAMES, request, OPENING, &seed(at)).expect("a session")
}

fn with_products() -> KeyRequest {
    KeyRequest { relinearization: true, rotations: vec![1, -3], ..KeyRequest::default() }
}

fn parties(session: &Session) -> Vec<Party> {
    (0..).zip(NAMES).map(|(at, name)| Party::new(session, name, &seed(at)).expect("a party")).collect()
}

/// The messages of all rounds, in their order.
fn all_rounds(parties: &mut [Party]) -> Result<Vec<Vec<Vec<u8>>>> {
    let mut rounds: Vec<Vec<Vec<u8>>> = Vec::new();
    loop {
        let known = rounds.last().cloned().unwrap_or_default();
        let sent = parties.iter_mut().map(|party| party.next(&known)).collect::<Result<Vec<_>>>()?;
        let messages: Vec<_> = sent.into_iter().flatten().collect();
        if messages.is_empty() {
            return Ok(rounds);
        }
        rounds.push(messages);
    }
}

fn joint(session: &Session) -> Result<(Vec<Party>, JointKeys)> {
    let mut parties = parties(session);
    all_rounds(&mut parties)?;
    let keys = parties[0].transcript().keys()?;
    Ok((parties, keys))
}

fn encrypted(session: &Session, keys: &JointKeys, values: &[i64]) -> Result<Ciphertext> {
    let plaintext = Encoder::new(session.context()).encode(values)?;
    Encryptor::public(session.context(), &keys.public, seed(9))?.encrypt(&plaintext)
}

/// The shares of a party in the decryption of ciphertexts.
fn shares_of<S: Scheme>(party: &mut Party, of: &[&integers::Ciphertext<S>], among: Option<&[&str]>) -> Result<Vec<u8>> {
    let request = Request::new(party.session(), of)?;
    party.open(&request, among)
}

fn values(count: usize) -> Vec<i64> {
    (0..count as i64).map(|x| (x * x + 1) % T - T / 2).collect()
}

#[test]
fn parties_make_keys_and_open_what_was_computed_under_them() -> Result<()> {
    let session = session(&with_products(), 1);
    let (mut parties, keys) = joint(&session)?;
    assert_eq!(parties[0].transcript().rounds(), Round::ALL);
    let (context, ev) = (session.context(), Evaluator::new(session.context(), keys.evaluation.clone())?);
    let half = context.parameters().row_slots();
    let clear = values(2 * half);
    let x = encrypted(&session, &keys, &clear)?;
    let moved = ev.rotate(&ev.mul(&x, &x)?, 1)?;
    let results = [&x, &moved];

    let shares = parties.iter_mut().map(|party| shares_of(party, &results, None)).collect::<Result<Vec<_>>>()?;
    let opened = session.opened(&results, &shares)?;
    let encoder = Encoder::new(context);
    assert_eq!(encoder.decode_signed(&opened[0])?, clear);
    let squares = |i: usize| {
        let at = if i % half == half - 1 { i + 1 - half } else { i + 1 };
        let square = (clear[at] * clear[at]).rem_euclid(T);
        if square > T / 2 { square - T } else { square }
    };
    assert_eq!(encoder.decode_signed(&opened[1])?, (0..2 * half).map(squares).collect::<Vec<_>>());

    // The same in BGV, whose ciphertexts have other factors.
    let ev = bgv::Evaluator::new(context, keys.evaluation.clone())?;
    let product = ev.mul(&x.clone().convert(), &x.convert())?;
    let shares = parties.iter_mut().map(|party| shares_of(party, &[&product], None)).collect::<Result<Vec<_>>>()?;
    let opened = encoder.decode_signed(&session.opened(&[&product], &shares)?[0])?;
    assert_eq!(opened[1..half], (0..half - 1).map(squares).collect::<Vec<_>>());
    assert_eq!(parties[1].results_left(), 1);
    Ok(())
}

#[test]
fn a_party_that_starts_again_sends_the_same_bytes() -> Result<()> {
    let session = Session::from_bytes(&session(&with_products(), 1).to_bytes())?;
    let mut first = parties(&session);
    let rounds = all_rounds(&mut first)?;
    for stop in 0..rounds.len() {
        let mut again = Party::from_bytes(&session, &first[1].to_bytes())?;
        for (round, messages) in rounds.iter().enumerate().take(stop + 1) {
            let known = if round == 0 { &[][..] } else { &rounds[round - 1] };
            assert_eq!(again.next(known)?.as_ref(), Some(&messages[1]), "round {round}");
        }
        assert_eq!(again.transcript().message(1, Round::ALL[stop]), Some(&rounds[stop][1][..]));
    }
    let keys = first[0].transcript().keys()?;
    let x = encrypted(&session, &keys, &[5])?;
    let share = shares_of(&mut first[1], &[&x], None)?;
    assert_eq!(shares_of(&mut first[1], &[&x], None)?, share, "a second share is the first one");
    assert_eq!(first[1].results_left(), OPENING.results - 1);
    Ok(())
}

/// The text of an error.
fn refusal<T>(found: Result<T>) -> String {
    found.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn messages_that_break_the_protocol_are_refused_by_name() -> Result<()> {
    let (session, other) = (session(&KeyRequest::default(), 1), session(&KeyRequest::default(), 2));
    let rounds = all_rounds(&mut parties(&session))?;
    assert_eq!(rounds.len(), 4, "without products");
    let elsewhere = all_rounds(&mut parties(&other))?;
    let start = |stop: usize| -> Result<Party> {
        let mut party = Party::new(&session, "north", &seed(0))?;
        party.next(&[])?;
        for messages in &rounds[..stop] {
            party.next(messages)?;
        }
        Ok(party)
    };

    // Another session; a party that is missing; messages too early.
    assert!(matches!(start(0)?.next(&elsewhere[0]), Err(Error::WrongKind { .. })));
    let missing = refusal(start(0)?.next(&rounds[0][..2]));
    assert!(missing.contains("those of west are missing") && missing.contains("commit"), "{missing}");
    assert!(refusal(start(0)?.next(&rounds[1])).contains("the order of the rounds"));
    assert!(refusal(start(3)?.transcript().public_key()).contains("round share: those of south, west are missing"));

    // A string, and a share, that were not committed to; a second message of one party and round.
    let liars = (0..).zip(NAMES).map(|(at, name)| Party::new(&session, name, &seed(100 + at)));
    let lies = all_rounds(&mut liars.collect::<Result<Vec<_>>>()?)?;
    for (stop, round) in [(1, "commit"), (3, "promise")] {
        let mut messages = rounds[stop].clone();
        messages[2].clone_from(&lies[stop][2]);
        let text = refusal(start(stop)?.next(&messages));
        assert!(text.contains("\"west\" committed to") && text.contains(round), "{text}");
    }
    let text = refusal(start(1)?.next(&lies[0][1..]));
    assert!(text.contains("a second one of \"south\" in round commit"), "{text}");
    Ok(())
}

#[test]
fn shares_of_others_twice_and_too_many_are_refused_by_name() -> Result<()> {
    let session = session(&KeyRequest::default(), 1);
    let (mut parties, keys) = joint(&session)?;
    let x: Vec<Ciphertext> = (0..6).map(|value| encrypted(&session, &keys, &[value])).collect::<Result<_>>()?;
    let of_all = |parties: &mut [Party], at: usize| -> Result<Vec<Vec<u8>>> {
        parties.iter_mut().map(|party| shares_of(party, &[&x[at]], None)).collect()
    };
    let (shares, others) = (of_all(&mut parties, 0)?, of_all(&mut parties, 1)?);
    assert!(refusal(session.opened(&[&x[0]], &shares[..2])).contains("those of west are missing"));
    let twice = [shares[0].clone(), shares[0].clone(), shares[1].clone()];
    assert!(refusal(session.opened(&[&x[0]], &twice)).contains("two of \"north\""));
    let mixed = [shares[0].clone(), shares[1].clone(), others[2].clone()];
    assert!(refusal(session.opened(&[&x[0]], &mixed)).contains("of other ciphertexts"));

    // Of four results two are left, and what was opened before counts once.
    shares_of(&mut parties[0], &[&x[0], &x[2], &x[3]], None)?;
    let text = refusal(shares_of(&mut parties[0], &[&x[0], &x[4]], None));
    assert!(text.contains("5 with those that were opened before") && text.contains("at most 4"), "{text}");

    let asked = |of: &[&Ciphertext]| Request::new(&session, of);
    // What could not be logged is not opened, and is logged when it is tried again.
    let refused = parties[2].open_logged(&asked(&[&x[2]])?, None, |_| Err(Error::parameter("log", "full", "room")));
    assert!(refusal(refused).contains("full") && parties[2].results_left() == OPENING.results - 2);
    let mut logged = 0;
    parties[2].open_logged(&asked(&[&x[2], &x[0], &x[2]])?, None, |new| {
        logged = new.len();
        Ok(())
    })?;
    assert_eq!((logged, parties[2].results_left()), (1, OPENING.results - 3));

    // The joint keys of another session, and a ciphertext without room for the flood.
    let (_, foreign) = joint(&self::session(&KeyRequest::default(), 3))?;
    let y = encrypted(&session, &foreign, &[1])?;
    assert!(matches!(shares_of(&mut parties[1], &[&y], None), Err(Error::KeyMismatch { .. })));
    let ev = Evaluator::new(session.context(), keys.evaluation)?;
    let low = ev.mod_switch(&x[5], 2)?;
    let refused = shares_of(&mut parties[1], &[&low], None);
    assert!(matches!(cause(&refused), Some(IntegerError::NoiseExhausted { .. })), "{refused:?}");
    Ok(())
}

#[test]
fn a_folder_has_all_that_a_party_knows() -> Result<()> {
    let session = session(&with_products(), 1);
    let path = std::env::temp_dir().join(format!("noren-owners-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    let mut others = parties(&session);
    let write = |party: &Party, to: Destination<'_>| party.write_secret(to);
    let read = |session: &Session, path: &Path| Party::from_bytes(session, &std::fs::read(path).expect("a secret"));
    let open = || Folder::open::<Error>(&path, read);
    let folder = Folder::create::<Error>(&path, others.remove(2), write)?;
    assert!(refusal(open()).contains("another process"), "one at a time");
    drop(folder);
    let again = Folder::create::<Error>(&path, Party::new(&session, "west", &seed(7))?, write);
    assert!(matches!(again, Err(Error::Exists { .. })));

    // A process for each round; what it has sent it sends again.
    let mut known = Vec::new();
    for &round in parties(&session)[0].transcript().rounds() {
        let mut sent = others.iter_mut().map(|party| party.next(&known)).collect::<Result<Vec<_>>>()?;
        let mut folder = open()?;
        sent.push(folder.next(&known)?);
        drop(folder);
        assert_eq!(open()?.sent(round), sent[2].as_deref());
        known = sent.into_iter().flatten().collect();
    }
    let mut folder = open()?;
    assert_eq!(folder.next(&known)?, None);
    others.iter_mut().try_for_each(|party| party.next(&known).map(drop))?;
    let keys = folder.party().transcript().keys()?;
    let x = encrypted(&session, &keys, &[5, 6])?;
    let share = folder.open_results(&Request::new(&session, &[&x])?, None)?;
    drop(folder);

    // What was opened counts after a restart too, also beside a line that was cut short.
    let mut log = std::fs::OpenOptions::new().append(true).open(path.join("opened")).expect("a log");
    log.write_all(b"0123").expect("written");
    let mut folder = open()?;
    assert_eq!(folder.party().results_left(), OPENING.results - 1);
    assert_eq!(folder.open_results(&Request::new(&session, &[&x])?, None)?, share);
    let mut shares = others.iter_mut().map(|party| shares_of(party, &[&x], None)).collect::<Result<Vec<_>>>()?;
    shares.push(share);
    assert_eq!(Encoder::new(session.context()).decode(&session.opened(&[&x], &shares)?[0])?[..2], [5, 6]);
    drop(folder);
    std::fs::write(path.join("opened"), "no digest\n").expect("written");
    assert!(refusal(open()).contains("is damaged"));
    std::fs::remove_dir_all(&path).expect("removed");
    Ok(())
}

#[test]
fn sessions_that_cannot_be_are_refused() {
    let context = context();
    let new = |names: &[&str], opening| {
        refusal(Session::new(context.parameters(), names, &KeyRequest::default(), opening, &seed(1)))
    };
    assert!(new(&["a", "b", "a"], OPENING).contains("\"a\" twice"));
    assert!(new(&["a", "", "b"], OPENING).contains("name of a party"));
    assert!(new(&["a", "b"], OPENING).contains("parties"));
    assert!(new(&NAMES, Opening { distance: 20, ..OPENING }).contains("distance"));
    assert!(new(&NAMES, Opening { results: 0, ..OPENING }).contains("results"));
    let session = session(&KeyRequest::default(), 1);
    assert!(refusal(Party::new(&session, "east", &seed(1))).contains("one of north, south, west"));
    let other = self::session(&KeyRequest::default(), 2);
    let secret = Party::new(&session, "west", &seed(1)).expect("a party").to_bytes();
    assert!(refusal(Party::from_bytes(&other, &secret)).contains("another session"));
}

#[test]
fn requirements_leave_room_for_floods() -> Result<()> {
    for (depth, parties) in [(0, 2), (1, 8)] {
        let opening = Opening { parties, results: 1 << 10, distance: 64 };
        let requirements = Requirements { depth, opening: Some(opening), ..Requirements::default() };
        let parameters = requirements.choose::<Bfv>()?;
        assert_eq!((parameters.rlwe().secret(), parameters.rlwe().security()), (opening.secret(), Security::Bits128));
        let budget = parameters.laws().budget(&requirements.predicted_noise::<Bfv>(&parameters));
        assert!(budget >= opening.budget(parameters.degree()), "{budget}");
    }
    let few =
        Requirements { opening: Some(Opening { parties: 1, results: 1, distance: 64 }), ..Requirements::default() };
    assert!(refusal(few.choose::<Bfv>()).contains("parties"));
    Ok(())
}

const MANY: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Five parties of which three open results.
fn some_of_five(request: &KeyRequest) -> Result<(Session, Vec<Party>)> {
    let opening = Opening { parties: 5, results: 8, distance: 64 };
    let spec = ParametersSpec { secret: opening.secret(), ..spec() };
    let session = Session::new(&spec.build()?, &MANY, request, opening, &seed(1))?.with_threshold(3)?;
    let parties =
        (0..).zip(MANY).map(|(at, name)| Party::new(&session, name, &seed(at))).collect::<Result<Vec<_>>>()?;
    Ok((session, parties))
}

#[test]
fn some_parties_open_what_all_have_keys_for() -> Result<()> {
    let (session, mut parties) = some_of_five(&with_products())?;
    all_rounds(&mut parties)?;
    let keys = parties[4].transcript().keys()?;
    let ev = Evaluator::new(session.context(), keys.evaluation.clone())?;
    let x = encrypted(&session, &keys, &[3, -4, 5])?;
    let square = ev.mul(&x, &x)?;
    let encoder = Encoder::new(session.context());
    for among in [["a", "b", "c"], ["e", "b", "d"], ["c", "e", "a"]] {
        let of = |party: &&mut Party| among.contains(&party.name());
        let shares = parties.iter_mut().filter(of).map(|party| shares_of(party, &[&square], Some(&among)));
        let mut shares = shares.collect::<Result<Vec<_>>>()?;
        assert_eq!(encoder.decode(&session.opened(&[&square], &shares)?[0])?[..3], [9, 16, 25]);
        let last = shares.pop().expect("three");
        let missing = refusal(session.opened(&[&square], &shares));
        assert!(missing.contains("one of each party") && missing.contains("are missing"), "{missing}");
        let other = shares_of(&mut parties[1], &[&square], Some(&["b", "c", "d"]))?;
        shares = vec![last, other];
        assert!(refusal(session.opened(&[&square], &shares)).contains("by b, c, d"));
    }
    // Each set of parties that a ciphertext was opened by counts.
    assert_eq!((parties[0].results_left(), parties[1].results_left()), (6, 5));
    Ok(())
}

#[test]
fn sets_of_parties_that_open_nothing_are_refused() -> Result<()> {
    let (session, mut parties) = some_of_five(&KeyRequest::default())?;
    all_rounds(&mut parties)?;
    let x = encrypted(&session, &parties[0].transcript().keys()?, &[1])?;
    for (among, found) in [
        (None, "3 of a, b, c, d, e"),
        (Some(&["a", "b"][..]), "is 2, it must be the names of 3"),
        (Some(&["a", "b", "b"]), "is 2, it must be the names of 3"),
        (Some(&["a", "b", "x"]), "\"x\""),
        (Some(&["b", "c", "d"]), "none of them is \"a\""),
    ] {
        let text = refusal(shares_of(&mut parties[0], &[&x], among));
        assert!(text.contains(found), "{text}");
    }
    assert_eq!(parties[0].results_left(), 8);
    for threshold in [0, 1, 5] {
        assert!(refusal(session.with_threshold(threshold)).contains("threshold"));
    }
    let all = self::session(&KeyRequest::default(), 1);
    let (mut parties, keys) = joint(&all)?;
    let x = encrypted(&all, &keys, &[1])?;
    assert!(refusal(shares_of(&mut parties[0], &[&x], Some(&["north", "south"]))).contains("all of them"));
    Ok(())
}

#[test]
fn promises_that_are_cut_short_and_keys_that_are_none_name_their_party() -> Result<()> {
    let (session, mut parties) = some_of_five(&KeyRequest::default())?;
    let rounds = all_rounds(&mut parties)?;
    let start = |stop: usize| -> Result<Party> {
        let mut party = Party::new(&session, "a", &seed(0))?;
        rounds[..stop].iter().try_for_each(|messages| party.next(messages).map(drop))?;
        Ok(party)
    };
    let of_b = |body: Vec<u8>, round| Message::new(&session, 1, round, body).bytes().to_vec();
    let body = |round: usize| Message::read(&session, rounds[round][1].clone()).map(|message| message.body().to_vec());

    // A key that nothing is encapsulated to, which is what the party committed to.
    let mut key = body(1)?;
    key[BYTES..].fill(0xff);
    let promised = commitment(&session, 1, Round::Commit, &key).to_vec();
    let mut party = start(0)?;
    party.next(&[rounds[0][0].clone(), of_b(promised, Round::Commit)]).err();
    assert!(refusal(party.take(&[of_b(key, Round::Reveal)])).contains("\"b\" whose key is none"));

    // Seeds that are missing are found as they come, parts when something is opened.
    let whole = body(2)?;
    for length in [BYTES, BYTES + 4 * SEALED_BYTES - 1, whole.len() / 2, whole.len() - 1] {
        let mut party = start(2)?;
        let mut promises = rounds[2].clone();
        promises[1] = of_b(whole[..length].to_vec(), Round::Promise);
        let refused = party.next(&promises).and_then(|_| party.next(&rounds[3])).and_then(|_| {
            let x = encrypted(&session, &party.transcript().keys()?, &[1])?;
            shares_of(&mut party, &[&x], Some(&["a", "b", "c"]))
        });
        let text = refusal(refused);
        assert!(text.contains("\"b\""), "{length} of {} bytes: {text}", whole.len());
    }
    Ok(())
}

#[test]
fn requests_hold_all_that_shares_depend_on() -> Result<()> {
    let session = session(&KeyRequest::default(), 1);
    let (mut parties, keys) = joint(&session)?;
    let x: Vec<Ciphertext> = (0..2).map(|value| encrypted(&session, &keys, &[value])).collect::<Result<_>>()?;
    let asked = Request::new(&session, &[&x[0], &x[1]])?;
    let bytes = asked.to_bytes(&session);
    let whole: usize = x.iter().map(|x| x.to_bytes(session.context(), Form::Packed).len()).sum();
    assert!(bytes.len() < whole * 52 / 100, "{} of {whole} bytes", bytes.len());
    let again = Request::from_bytes(&session, &bytes)?;
    assert_eq!((again.to_bytes(&session), again.digest(&session)), (bytes.clone(), asked.digest(&session)));
    let shares = parties.iter_mut().map(|party| party.open(&again, None)).collect::<Result<Vec<_>>>()?;
    assert_eq!(shares[1], parties[1].open(&asked, None)?);
    let opened = session.opened(&[&x[0], &x[1]], &shares)?;
    assert_eq!(Encoder::new(session.context()).decode(&opened[1])?[0], 1);

    // One that asks for something else under the same name is another result, and nobody takes its shares for those of the first.
    let [mut first, second] = [&x[0], &x[1]]
        .map(|x| Parcel::<JointRequest>::from_bytes(&(), &Request::new(&session, &[x])?.to_bytes(&session)));
    let (first, second) = (first.as_mut().expect("a request"), second?);
    first.items[1].clone_from(&second.items[1]);
    let mixed = Request::from_bytes(&session, &first.to_bytes(&(), Form::Packed))?;
    assert_eq!(parties[0].results_for(&mixed, None)?, 1);
    let shares = parties.iter_mut().map(|party| party.open(&mixed, None)).collect::<Result<Vec<_>>>()?;
    assert!(refusal(session.opened(&[&x[0]], &shares)).contains("of other ciphertexts"));

    let other = self::session(&KeyRequest::default(), 2);
    assert!(refusal(Request::from_bytes(&other, &bytes)).contains("load the same description"));
    for end in (0..bytes.len()).step_by(bytes.len() / 50) {
        assert!(Request::from_bytes(&session, &bytes[..end]).is_err(), "{end} of {} bytes", bytes.len());
    }
    Ok(())
}

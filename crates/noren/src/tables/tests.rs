//! Questions, against the same questions on rows in clear.

use std::collections::BTreeMap;

use noren_math::random::Seed;
use noren_rlwe::security::Security;

use crate::backends::backend::Outcome;
use crate::backends::options::Options;
use crate::compiler::{Client, Program, Server};
use crate::tables::answer::{Answer, Cell};
use crate::tables::circuit::Circuit;
use crate::tables::column::{Cells, Column, Schema, Values};
use crate::tables::layout::Layout;
use crate::tables::query::Query;
use crate::tables::question::Question;

const CITIES: [&str; 3] = ["Bern", "Chur", "Genève"];
const BIRTHPLACES: [&str; 3] = ["Scuol", "Genève", "Chur"];

/// A row of the table of these tests.
#[derive(Clone, Copy)]
struct Person {
    age: i64,
    /// In steps of 0.25 from -5.
    weight: f64,
    smokes: bool,
    city: usize,
    limit: i64,
    birthplace: usize,
}

/// A number of 31 bits for each row and each use of it.
fn draw(row: u64, of: u64) -> u64 {
    let mut x = (row * 8 + of).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33
}

fn people(count: u64) -> Vec<Person> {
    let person = |row| Person {
        age: (draw(row, 0) % 100).cast_signed() - 3,
        weight: -5.0 + 0.25 * (draw(row, 1) % 90) as f64,
        smokes: draw(row, 2).is_multiple_of(3),
        city: (draw(row, 3) % 3) as usize,
        limit: (draw(row, 5) % 50).cast_signed() + 10,
        birthplace: (draw(row, 6) % 3) as usize,
    };
    (0..count).map(person).collect()
}

fn schema(rows: usize) -> Schema {
    let column = |name: &str, values| Column { name: name.to_owned(), values };
    Schema {
        rows,
        columns: vec![
            column("age", Values::Integers { low: -3, high: 97 }),
            column("body weight", Values::Steps { low: -5.0, high: 17.25, step: 0.25 }),
            column("smokes", Values::Integers { low: 0, high: 1 }),
            column("city", Values::Categories(CITIES.map(String::from).to_vec())),
            column("limit", Values::Integers { low: 10, high: 59 }),
            column("birthplace", Values::Categories(BIRTHPLACES.map(String::from).to_vec())),
        ],
    }
}

fn table(people: &[Person]) -> BTreeMap<String, Cells> {
    let numbers = |of: fn(&Person) -> f64| Cells::Numbers(people.iter().map(of).collect());
    BTreeMap::from([
        ("age".to_owned(), numbers(|person| person.age as f64)),
        ("body weight".to_owned(), numbers(|person| person.weight)),
        ("smokes".to_owned(), numbers(|person| f64::from(u8::from(person.smokes)))),
        ("city".to_owned(), Cells::Texts(people.iter().map(|person| CITIES[person.city].to_owned()).collect())),
        ("limit".to_owned(), numbers(|person| person.limit as f64)),
        (
            "birthplace".to_owned(),
            Cells::Texts(people.iter().map(|person| BIRTHPLACES[person.birthplace].to_owned()).collect()),
        ),
    ])
}

/// The answer of the graph in clear, on these lanes.
fn answer(text: &str, rows: usize, lanes: usize, people: &[Person]) -> Answer {
    let schema = schema(rows);
    let question = Question::parse(text, &schema).expect(text);
    let layout = Layout::new(rows, lanes);
    let circuit = Circuit::new(&question, layout).expect(text);
    let inputs = circuit.encoded(&question.schema, layout, &table(people)).expect("a table of the schema");
    let sums: Vec<i128> = circuit
        .graph
        .evaluate(&inputs)
        .expect("values")
        .iter()
        .map(|lanes| lanes.iter().map(|&x| x as i128).sum())
        .collect();
    Answer::new(&question, &circuit, &sums)
}

fn assert_near(found: &[Cell], expected: &[f64], text: &str) {
    assert_eq!(found.len(), expected.len(), "{text}: {found:?}");
    for (found, &expected) in found.iter().zip(expected) {
        let x = match *found {
            Cell::Whole(x) => x as f64,
            Cell::Real(x) => x,
            ref other => panic!("{text}: {other:?} for {expected}"),
        };
        assert!((x - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{text}: {x} for {expected}");
    }
}

#[test]
fn conditions_choose_rows_as_they_do_in_clear() {
    type Holds = fn(&Person) -> bool;
    let cases: [(&str, Holds); 28] = [
        ("age > 40", |p| p.age > 40),
        ("age >= 40.5", |p| p.age > 40),
        ("age < -3", |p| p.age < -3),
        ("age <= 96", |p| p.age <= 96),
        ("age = 17", |p| p.age == 17),
        ("age = 17.5 or smokes", |p| p.smokes),
        ("age <> 17", |p| p.age != 17),
        ("not age > 40 and not smokes", |p| p.age <= 40 && !p.smokes),
        ("age between 10 and 20", |p| (10..=20).contains(&p.age)),
        ("age not between -100 and 20", |p| p.age > 20),
        ("age in (3, 4, 50, 97) and smokes = true", |p| [3, 4, 50, 97].contains(&p.age) && p.smokes),
        ("age >= 18 and age < 65 and city != 'Bern'", |p| (18..65).contains(&p.age) && p.city != 0),
        ("age < 18 or age >= 65 or smokes = false", |p| !(18..65).contains(&p.age) || !p.smokes),
        ("\"body weight\" > 1.3", |p| p.weight > 1.3),
        ("\"body weight\" = -0.25", |p| p.weight == -0.25),
        ("\"body weight\" >= 7.75 AND NOT (age > 20 AND smokes)", |p| p.weight >= 7.75 && !(p.age > 20 && p.smokes)),
        ("city = 'Genève'", |p| p.city == 2),
        ("city not in ('Genève', 'Bern')", |p| p.city == 1),
        ("not (city = 'Chur' or (smokes and age > 1e1))", |p| !(p.city == 1 || (p.smokes && p.age > 10))),
        ("(age > 30 or smokes) and (age < 60 or city = 'Bern')", |p| {
            (p.age > 30 || p.smokes) && (p.age < 60 || p.city == 0)
        }),
        ("age >= -3", |_| true),
        ("age > \"limit\"", |p| p.age > p.limit),
        ("limit > age and limit < 50", |p| p.limit > p.age && p.limit < 50),
        ("age <= limit or age = 70", |p| p.age <= p.limit || p.age == 70),
        ("not age >= limit", |p| p.age < p.limit),
        ("age = limit or city = birthplace", |p| p.age == p.limit || CITIES[p.city] == BIRTHPLACES[p.birthplace]),
        ("city <> birthplace and birthplace = 'Chur'", |p| p.city != 1 && p.birthplace == 2),
        ("not (age between 20 and 40 and not smokes) and age <= 80", |p| {
            (p.smokes || !(20..=40).contains(&p.age)) && p.age <= 80
        }),
    ];
    let people = people(200);
    // Fewer rows than were compiled, in one block and in several.
    for (rows, lanes) in [(200, 256), (230, 64)] {
        for (condition, holds) in cases {
            let text = format!("SELECT count(*), sum(age) FROM people WHERE {condition};");
            let chosen = || people.iter().filter(|person| holds(person));
            let expected = [chosen().count() as f64, chosen().map(|person| person.age).sum::<i64>() as f64];
            if condition == "age < -3" {
                let schema = schema(rows);
                let question = Question::parse(&text, &schema).expect("a question");
                let error = Circuit::new(&question, Layout::new(rows, lanes)).expect_err("no row");
                assert!(error.to_string().contains("a condition that no row can meet"), "{error}");
                continue;
            }
            let found = answer(&text, rows, lanes, &people);
            assert_near(&found.rows[0], &expected, &text);
        }
    }
}

#[test]
fn measures_are_those_of_the_rows() {
    let people = people(150);
    let mut weights: Vec<f64> = people.iter().filter(|p| p.age > 20).map(|p| p.weight).collect();
    weights.sort_by(f64::total_cmp);
    let n = weights.len() as f64;
    let mean = weights.iter().sum::<f64>() / n;
    let spread: f64 = weights.iter().map(|x| (x - mean) * (x - mean)).sum();
    let quantile = |share: f64| {
        let place = share * (n - 1.0);
        let [a, b] = [place.floor(), place.ceil()].map(|rank| weights[rank as usize]);
        a + (b - a) * place.fract()
    };
    let count_in = |low: f64, high: f64| weights.iter().filter(|&&x| low <= x && x < high).count() as f64;
    let column = "\"body weight\"";
    let text = format!(
        "sum({column}) as s, avg({column}), var_pop({column}), var_samp({column}), stddev_pop({column}), \
         stddev({column}), median({column}), quantile({column}, 0.9), min({column}), max({column}), \
         histogram({column}, -10, 0, 1.1, 17.25) WHERE age > 20"
    );
    let expected = [
        mean * n,
        mean,
        spread / n,
        spread / (n - 1.0),
        (spread / n).sqrt(),
        (spread / (n - 1.0)).sqrt(),
        quantile(0.5),
        quantile(0.9),
        weights[0],
        weights[weights.len() - 1],
        count_in(-10.0, 0.0),
        count_in(0.0, 1.1),
        count_in(1.1, 18.0),
    ];
    for lanes in [32, 256] {
        let found = answer(&text, 150, lanes, &people);
        assert_near(&found.rows[0], &expected, &text);
        assert_eq!(found.names[0], "s");
        assert_eq!(found.names[12], format!("histogram({column}, -10, 0, 1.1, 17.25) [1.1, 17.25]"));
    }
}

#[test]
fn groups_are_all_values_in_their_order() {
    let people = people(120);
    let text = "SELECT city, smokes, count(*), avg(age) WHERE age < 50 GROUP BY city, smokes";
    let found = answer(text, 120, 64, &people);
    assert_eq!((found.keys, found.rows.len()), (2, 6));
    for (k, row) in found.rows.iter().enumerate() {
        let (city, smokes) = (k / 2, k % 2 == 1);
        assert_eq!(row[..2], [Cell::Text(CITIES[city].to_owned()), Cell::Whole(i64::from(smokes))]);
        let ages: Vec<i64> =
            people.iter().filter(|p| p.age < 50 && p.city == city && p.smokes == smokes).map(|p| p.age).collect();
        let mean = ages.iter().sum::<i64>() as f64 / ages.len() as f64;
        assert_near(&row[2..], &[ages.len() as f64, mean], text);
    }
    // A group without rows has a count, and no mean.
    let children = answer("count(*), avg(age) WHERE age = 12 GROUP BY age", 120, 128, &people);
    assert_eq!(children.rows[0], [Cell::Whole(-3), Cell::Whole(0), Cell::Missing]);
}

/// Tables of as many rows as fill several ciphertexts, with numbers of many limbs.
#[test]
fn encrypted_questions_are_answered_exactly() {
    let options = Options { security: Security::None, ..Options::default() };
    let count = 1500;
    let rows: Vec<u64> = (0..count).map(|row| draw(row, 4) % 1_000_000).collect();
    let codes = Cells::Numbers(rows.iter().map(|&x| x as f64 - 500_000.0).collect());
    let parity = Cells::Numbers(rows.iter().map(|&x| (x % 4) as f64).collect());
    let table = BTreeMap::from([("x".to_owned(), codes), ("group".to_owned(), parity)]);
    let schema = Schema::of(&table, 2000, &BTreeMap::new()).expect("a schema");
    let text = "SELECT count(*), sum(x), var_pop(x) WHERE x > -300000 GROUP BY \"group\"";
    let query = Query::compile(&schema, text, &options).expect("a query");

    let program = Program::from_bytes(&query.program().to_bytes()).expect("a program");
    let query = Query::of(&program).expect("a program").expect("a question");
    let client = Client::generate(program, &Seed::from_bytes([5; 32])).expect("a client");
    let keys = client.server_keys(&Seed::from_bytes([6; 32])).expect("keys");
    let server = Server::new(client.program(), &keys).expect("a server");
    let request = client.encrypt(&query.inputs(&table).expect("inputs"), Seed::from_bytes([7; 32])).expect("bytes");
    let outcome: Outcome = client.decrypt(&server.run(&request).expect("a reply")).expect("results");
    let found = query.answer(&outcome).expect("an answer");
    for (group, row) in found.rows.iter().enumerate() {
        let chosen: Vec<i128> =
            rows.iter().filter(|&&x| x % 4 == group as u64 && x > 200_000).map(|&x| i128::from(x) - 500_000).collect();
        let (n, sum) = (chosen.len() as i128, chosen.iter().sum::<i128>());
        assert_eq!(row[1..3], [Cell::Whole(n as i64), Cell::Whole(sum as i64)]);
        let variance = (n * chosen.iter().map(|x| x * x).sum::<i128>() - sum * sum) as f64 / (n * n) as f64;
        assert_near(&row[3..], &[variance], text);
    }
}

#[test]
fn a_column_may_be_compared_with_several() {
    let texts = |of: [&str; 4]| Cells::Texts(of.map(String::from).to_vec());
    let columns = [
        ("a", texts(["p", "q", "p", "q"])),
        ("g", texts(["r", "r", "s", "s"])),
        ("x", texts(["r", "t", "r", "t"])),
        ("y", texts(["t", "q", "s", "t"])),
    ];
    let table = BTreeMap::from(columns.map(|(name, cells)| (name.to_owned(), cells)));
    let schema = Schema::of(&table, 4, &BTreeMap::new()).expect("a schema");
    let options = Options { security: Security::None, ..Options::default() };
    for (text, expected) in [
        ("a = x and g = x", 0),
        ("g = x and a = x", 0),
        ("a = x or g <> x", 3),
        ("a <> x and g = x", 1),
        ("a = y or g = y or x = y", 3),
        ("a = x or g = x or a = y", 2),
    ] {
        let query = Query::compile(&schema, &format!("count(*) where {text}"), &options).expect(text);
        let inputs = query.inputs(&table).expect("inputs");
        let outcome = query.program().simulate(&inputs, &Seed::from_bytes([1; 32])).expect("results");
        assert_eq!(query.answer(&outcome).expect("an answer").rows, [[Cell::Whole(expected)]], "{text}");
    }
}

#[test]
fn results_that_no_table_gives_are_refused() {
    let options = Options { security: Security::None, ..Options::default() };
    let query = Query::compile(&schema(100), "sum(age), median(age) where smokes", &options).expect("a query");
    let outcome =
        query.program().simulate(&query.inputs(&table(&people(100))).expect("inputs"), &Seed::from_bytes([1; 32]));
    let outcome = outcome.expect("results");
    assert!(query.answer(&outcome).is_ok());
    for (at, x) in [(0, 101.0), (0, -101.0), (1, 60000.0), (5, 90.0)] {
        let mut changed = outcome.clone();
        changed.values[at][0] += x;
        let error = query.answer(&changed).expect_err("no table").to_string();
        assert!(error.contains("the server has computed something else"), "{at}: {error}");
    }
    let few = Outcome::exact(outcome.values[1..].to_vec());
    assert!(query.answer(&few).is_err());
}

#[test]
fn a_program_of_another_question_is_refused() {
    let options = Options { security: Security::None, ..Options::default() };
    let query = Query::compile(&schema(100), "count(*) where age > 3", &options).expect("a query");
    let mut interface = query.program().interface().expect("an interface").clone();
    interface["question"]["text"] = "count(*) where age > 4".into();
    let error = Query::of(&query.program().with_interface(interface.clone())).expect_err("another question");
    assert!(error.to_string().contains("a function of another question"), "{error}");
    interface["question"]["lanes"] = 0.into();
    assert!(Query::of(&query.program().with_interface(interface)).is_err());
    let of_function = Program::compile(query.program().graph().clone(), &options).expect("a program");
    assert!(Query::of(&of_function).expect("a program").is_none());
}

#[test]
fn what_is_no_question_is_refused_with_its_place() {
    let parse = |text: &str| Question::parse(text, &schema(10)).expect_err(text).to_string();
    let cases = [
        ("", "character 1: found the end, needed a measure"),
        ("count(*) where", "character 15: found the end, needed the name of a column"),
        (
            "count(*) where height > 3",
            "there is no column \"height\": there are age, body weight, smokes, city, limit, birthplace",
        ),
        ("count(*) where age > 'x'", "column \"age\": found 'x', needed a number"),
        ("count(*) where age", "needed a comparison"),
        ("count(*) where age > group", "or a column behind"),
        ("count(*) where age > city", "a comparison with \"city\", needed two columns of whole numbers"),
        ("count(*) where age > \"body weight\"", "two columns of whole numbers, of texts, or of the same steps"),
        ("count(*) where city > birthplace", "texts in an order"),
        ("count(*) where city > 'Bern'", "texts in an order"),
        ("count(*) where city = 'Basel'", "found 'Basel', needed one of Bern, Chur, Genève"),
        ("count(*) where city = 'Bern", "a quotation mark that nothing closes"),
        ("sum(city)", "column \"city\": found texts, needed numbers"),
        ("total(age)", "character 1: found total, needed count(*)"),
        ("age, count(*)", "character 1: found age, needed a measure"),
        ("count(*) group by age limit 3", "character 23: found limit"),
        ("quantile(age, 1.5)", "a share from 0 to 1"),
        ("histogram(age, 3, 3)", "a larger edge"),
        ("count(*) where age > 1e999", "a finite number"),
        ("count(*) where age § 3", "a word, a number or a comparison"),
    ];
    for (text, words) in cases {
        let error = parse(text);
        assert!(error.contains(words), "{text}: {error}");
    }
    assert!(parse(&format!("count(*) where {}age > 3", "(".repeat(100))).contains("at most 64"));
    let question = Question::parse("count(*) group by age, \"body weight\"", &schema(10)).expect("a question");
    let error = Circuit::new(&question, Layout::new(10, 16)).expect_err("too many groups").to_string();
    assert!(error.contains("more than 4096 groups"), "{error}");
}

#[test]
fn cells_that_columns_do_not_hold_are_refused_with_their_rows() {
    let schema = schema(3);
    let options = Options { security: Security::None, ..Options::default() };
    let query = Query::compile(&schema, "sum(age) where city = 'Bern' and \"body weight\" > 0", &options);
    let query = query.expect("a query");
    let rows = people(3);
    let with = |name: &str, cells: Cells| {
        let mut table = table(&rows);
        table.insert(name.to_owned(), cells);
        query.inputs(&table).expect_err(name).to_string()
    };
    let error = with("age", Cells::Numbers(vec![1.0, 98.0, 2.0]));
    assert!(error.contains("row 1, column \"age\": found 98, needed a whole number from -3 to 97"), "{error}");
    let error = with("age", Cells::Numbers(vec![1.0, f64::NAN, 2.0]));
    assert!(error.contains("row 1"), "{error}");
    let error = with("city", Cells::Texts(["Bern", "Bern", "Basel"].map(String::from).to_vec()));
    assert!(error.contains("row 2, column \"city\": found \"Basel\", needed one of Bern, Chur, Genève"), "{error}");
    let error = with("city", Cells::Numbers(vec![0.0; 3]));
    assert!(error.contains("found numbers, needed texts"), "{error}");
    let error = with("age", Cells::Numbers(vec![0.0; 2]));
    assert!(error.contains("needed 2, as other columns have"), "{error}");
    let error = query.inputs(&table(&people(4))).expect_err("four rows").to_string();
    assert!(error.contains("4 rows, needed at most 3"), "{error}");
    let mut short = table(&rows);
    short.remove("city");
    assert!(query.inputs(&short).expect_err("no city").to_string().contains("there is no column \"city\""));
}

#[test]
fn values_that_have_no_codes_are_refused() {
    let refused = |values: Values| {
        let schema = Schema { rows: 4, columns: vec![Column { name: "x".to_owned(), values }] };
        schema.check().expect_err("values without codes").to_string()
    };
    // What is 2^53 may have been 2^53 + 1.
    assert!(refused(Values::Integers { low: 0, high: 1 << 53 }).contains("a range below 2^53"));
    assert!(refused(Values::Integers { low: 3, high: 2 }).contains("3 to 2"));
    assert!(refused(Values::Integers { low: 0, high: 1 << 40 }).contains("at most 2^38"));
    assert!(refused(Values::Steps { low: 0.0, high: f64::NAN, step: 1.0 }).contains("a range below 2^53"));
    assert!(refused(Values::Steps { low: 0.0, high: 1.0, step: 0.0 }).contains("a step above 0"));
    assert!(refused(Values::Steps { low: 0.0, high: 1.0, step: 1e-15 }).contains("at most 2^38 steps"));
    assert!(refused(Values::Categories(Vec::new())).contains("at least one"));
    assert!(refused(Values::Categories(vec!["a".to_owned(); 2])).contains("\"a\" twice"));
    let long = vec![2.0_f64.powi(53) + 2.0, 1.0];
    let table = BTreeMap::from([("x".to_owned(), Cells::Numbers(long))]);
    assert!(Schema::of(&table, 2, &BTreeMap::new()).is_err());
}

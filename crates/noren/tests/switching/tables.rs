//! Programs that compare the entries of tables.

use noren::Seed;
use noren::bootstrapping::Mode;
use noren::ckks::{Ciphertext, Decryptor, Encoder, Encryptor};
use noren::error::Error;
use noren::programs::{DecidedTable, DecisionProgram, EncryptedTable, Matrix, TableLayout};
use noren::switching::Steps;
use noren::wire::{Form, Object};
use noren_math::kernels::is_fastest;

use crate::world::{World, uniform};

/// Slots of the toy ring that are bootstrapped.
const SLOTS: usize = 32;

/// A table with these numbers of rows and columns, whose columns have different bounds, and its entries row by row.
fn table(world: &World, [rows, columns]: [usize; 2], level: usize) -> (EncryptedTable<Ciphertext>, Vec<f64>) {
    let scaled = |(index, x): (usize, f64)| x * 4f64.powi((index % columns) as i32);
    let entries: Vec<f64> = uniform(60, rows * columns).into_iter().enumerate().map(scaled).collect();
    let layout = TableLayout::new(rows, columns, SLOTS).expect("a shape").with_exponents_of(&entries).expect("entries");
    let context = world.context.ckks();
    let encryptor = Encryptor::public(context, &world.keys.public, Seed::from_bytes([7; 32])).expect("its key");
    let table = EncryptedTable::encrypt(&Encoder::new(context), &encryptor, layout, &entries, level);
    (table.expect("room"), entries)
}

/// The numbers of a result, which goes through bytes.
fn read(world: &World, result: &DecidedTable) -> Matrix {
    let context = world.context.ckks();
    let bytes = result.table.to_bytes(context, Form::Packed);
    let table = EncryptedTable::<Ciphertext>::from_bytes(context, &bytes).expect("its own bytes");
    table.decrypt(&Decryptor::new(context, &world.keys.secret).expect("its secret")).expect("true statements")
}

fn world() -> World {
    World::toy_with(SLOTS.ilog2(), Mode::Real, (0..SLOTS.ilog2()).map(|log| 1 << log).collect())
}

#[test]
fn thresholds_are_in_units_of_each_column() {
    let world = world();
    let levels = world.context.parameters().bootstrapping();
    for (shape, columns, threshold, level) in [
        ([5, 3], vec![0, 1, 2], 0.5, levels.max_level()),
        ([5, 3], vec![2, 0], -0.25, levels.output_level()),
        // At the lowest level there is none for masks: the table is bootstrapped.
        ([5, 3], vec![1], 0.25, levels.input_level()),
        ([40, 2], vec![1, 0], 0.25, levels.output_level()),
        ([3, 1], vec![0], 1000.0, levels.input_level()),
    ] {
        let (encrypted, entries) = table(&world, shape, level);
        let result = DecisionProgram::Threshold(threshold).run(&world.switch, &encrypted, &columns).expect("keys");
        assert!(result.dead_zones.len() == columns.len() && result.log2_failure < -60.0);
        let found = read(&world, &result);
        assert_eq!(found.values.len(), shape[0] * columns.len());
        for (index, value) in found.values.iter().enumerate() {
            let place = index % columns.len();
            let entry = entries[index / columns.len() * shape[1] + columns[place]];
            let expected = f64::from(u8::from(entry > threshold));
            let near = (value - expected).abs() < found.errors[index];
            assert!(near || (entry - threshold).abs() < result.dead_zones[place], "{entry} and {threshold}: {value}");
        }
    }
}

#[test]
fn extremes_of_columns_are_found_with_their_rows() {
    if !is_fastest() {
        return;
    }
    let mut world = world();
    world.switch = world.switch.with_steps(Steps::Three);
    let level = world.context.parameters().bootstrapping().output_level();
    for (shape, columns) in [([7, 3], vec![2, 0]), ([16, 1], vec![0]), ([1, 2], vec![1])] {
        let (encrypted, entries) = table(&world, shape, level);
        for (program, sign) in [(DecisionProgram::Argmin, 1.0), (DecisionProgram::Argmax, -1.0)] {
            let result = program.run(&world.switch, &encrypted, &columns).expect("keys");
            let found = read(&world, &result);
            assert_eq!(
                (&found.row_names[..], found.values.len()),
                (&[program.name().to_owned()][..], 2 * columns.len())
            );
            for (place, &column) in columns.iter().enumerate() {
                let entry = |row: usize| entries[row * shape[1] + column];
                let best = (0..shape[0]).map(|row| sign * entry(row)).fold(f64::INFINITY, f64::min);
                let [row, value] = [found.values[2 * place], found.values[2 * place + 1]];
                let dead_zone = result.dead_zones[place];
                // Rounds add up, and do not multiply.
                assert!(dead_zone < 0.05 * 4f64.powi(column as i32), "{dead_zone}");
                assert!((row - row.round()).abs() < found.errors[2 * place] + 1e-9 && found.errors[2 * place] < 0.01);
                assert!(sign * entry(row.round() as usize) - best <= dead_zone);
                assert!((sign * value - best).abs() <= found.errors[2 * place + 1] + 1e-9, "{value} is no {best}");
                assert_eq!(found.column_names[2 * place], format!("{column} row"));
            }
        }
    }
}

#[test]
fn ranks_and_the_largest_stand_beside_their_entries() {
    if !is_fastest() {
        return;
    }
    let mut world = world();
    world.switch = world.switch.with_steps(Steps::Three);
    let level = world.context.parameters().bootstrapping().output_level();
    for (shape, columns) in [([5, 3], vec![2, 0, 1]), ([5, 5], vec![4, 1]), ([16, 2], vec![1])] {
        let (encrypted, entries) = table(&world, shape, level);
        for program in [DecisionProgram::Rank, DecisionProgram::Top(2)] {
            let result = program.run(&world.switch, &encrypted, &columns).expect("keys");
            let found = read(&world, &result);
            assert_eq!((found.row_names.len(), found.column_names.len()), (shape[0], columns.len()));
            for (place, &column) in columns.iter().enumerate() {
                let column: Vec<f64> = (0..shape[0]).map(|row| entries[row * shape[1] + column]).collect();
                for (row, entry) in column.iter().enumerate() {
                    // The lowest and the highest rank that entries nearer than the dead zone leave.
                    let below = |limit: f64| column.iter().filter(|other| **other < limit).count();
                    let dead_zone = result.dead_zones[place];
                    let ranks = below(entry - dead_zone)..=below(entry + dead_zone);
                    let value = found.values[row * columns.len() + place];
                    let answers = ranks.map(|rank| match program {
                        DecisionProgram::Rank => rank as f64,
                        _ => f64::from(u8::from(rank + 2 >= shape[0])),
                    });
                    let error = found.errors[row * columns.len() + place];
                    let right = answers.into_iter().any(|answer| (value - answer).abs() <= error);
                    assert!(right && error < 0.1, "{program:?} of {entry} in {column:?}: {value}, error {error}");
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_decided_is_refused() {
    let world = World::toy(SLOTS.ilog2(), Mode::Real);
    let level = world.context.parameters().bootstrapping().output_level();
    let (encrypted, _) = table(&world, [5, 3], level);
    let run = |program: DecisionProgram, columns: &[usize]| program.run(&world.switch, &encrypted, columns).map(drop);
    assert!(matches!(run(DecisionProgram::Argmin, &[]), Err(Error::Length { .. })));
    assert!(matches!(run(DecisionProgram::Argmin, &[3]), Err(Error::Parameters { .. })));
    assert!(run(DecisionProgram::Threshold(f64::NAN), &[0, 1, 2]).is_err());
    for count in [0, 5, 6] {
        assert!(matches!(run(DecisionProgram::Top(count), &[0]), Err(Error::Length { .. })), "{count} of 5");
    }
    let (long, _) = table(&world, [40, 1], level);
    let refused = DecisionProgram::Argmin.run(&world.switch, &long, &[0]).map(drop);
    assert!(matches!(refused, Err(Error::Length { found: 40, .. })), "{refused:?}");
}

#[test]
fn rotations_search_columns_and_bring_them_together() {
    let layout = TableLayout::new(5, 3, SLOTS).expect("a shape");
    let rotations =
        |program: DecisionProgram, columns: &[usize]| program.rotations(&layout, columns, SLOTS).expect("columns");
    assert_eq!(rotations(DecisionProgram::Argmin, &[0]), [1, 2, 4]);
    assert_eq!(rotations(DecisionProgram::Argmax, &[2, 1]), [1, 2, 4, 8, 16]);
    assert!(rotations(DecisionProgram::Threshold(0.5), &[0, 1, 2]).is_empty());
    assert!(rotations(DecisionProgram::Threshold(0.5), &[0, 1]).is_empty());
    // From the third place to the first, and from the first to the second: 16 slots down, 8 up of 32.
    assert_eq!(rotations(DecisionProgram::Threshold(0.5), &[2, 0]), [8, 16]);
}

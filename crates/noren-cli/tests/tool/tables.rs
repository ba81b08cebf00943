//! Tables go in as CSV or NPY, and come out as either.

use crate::sandbox::{NAMES, ROWS, Sandbox, entry};

/// The usual table as `numpy.save` writes it, as big-endian 16-bit integers in the order of columns.
fn npy() -> Vec<u8> {
    let text = format!("{{'descr': '>i2', 'fortran_order': True, 'shape': ({ROWS}, {}), }}", NAMES.len());
    let text = format!("{text:117}\n");
    let columns = (0..NAMES.len()).flat_map(|c| (0..ROWS).flat_map(move |r| (entry(r, c) as i16).to_be_bytes()));
    let length = u16::try_from(text.len()).expect("short").to_le_bytes();
    [b"\x93NUMPY\x01\0", &length[..], text.as_bytes()].concat().into_iter().chain(columns).collect()
}

#[test]
fn every_format_gives_the_same_table() {
    let sandbox = Sandbox::with_keys("formats", "mean");
    let bare: String = crate::sandbox::table().lines().skip(1).map(|line| line.to_owned() + "\r\n").collect();
    sandbox.write("bare.csv", bare.as_bytes());
    sandbox.write("table.npy", &npy());
    for (arguments, names) in [
        (&["table.csv"][..], NAMES.map(str::to_owned)),
        (&["bare.csv", "--no-header"], ["0", "1", "2"].map(str::to_owned)),
        (&["table.npy"], ["0", "1", "2"].map(str::to_owned)),
    ] {
        let encrypt = ["encrypt", "--key", "keys/secret.key", "-o", "table.ct", "--force"];
        sandbox.done(&[&encrypt[..], arguments].concat());
        let decrypt = |output| ["decrypt", "--key", "keys/secret.key", "table.ct", "--force", "-o", output];
        let bound = sandbox.json(&decrypt("out.csv"))["error_bound"].as_f64().expect("a bound");
        assert!(sandbox.text("out.csv").starts_with(&(names.join(",") + "\n")), "{arguments:?}");
        let numbers = sandbox.numbers("out.csv", 0);
        assert_eq!(numbers.len(), ROWS);
        for (r, row) in numbers.iter().enumerate() {
            for (c, value) in row.iter().enumerate() {
                assert!((value - entry(r, c)).abs() <= bound, "{arguments:?}: row {r}, column {c}: {value}");
            }
        }
        // The same numbers, bit for bit, as NPY: the last bytes of the file.
        sandbox.done(&decrypt("out.npy"));
        sandbox.done(&[&decrypt("out.csv")[..], &["--digits", "full"]].concat());
        let numbers = sandbox.numbers("out.csv", 0);
        let bytes = sandbox.read("out.npy");
        let data = &bytes[bytes.len() - ROWS * NAMES.len() * 8..];
        let (words, _) = data.as_chunks::<8>();
        let from_npy: Vec<f64> = words.iter().map(|word| f64::from_le_bytes(*word)).collect();
        assert_eq!(from_npy, numbers.concat());
        assert!(String::from_utf8_lossy(&bytes).contains("'<f8', 'fortran_order': False, 'shape': (12, 3)"));
    }
}

#[test]
fn one_dimension_is_one_column() {
    let sandbox = Sandbox::with_keys("column", "mean");
    let text = format!("{:117}\n", "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }");
    let data: Vec<u8> = [0.5f32, 1.0, -2.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let length = u16::try_from(text.len()).expect("short").to_le_bytes();
    sandbox.write("column.npy", &[b"\x93NUMPY\x01\0", &length[..], text.as_bytes(), &data].concat());
    let report = sandbox.json(&["encrypt", "--key", "keys/public.key", "column.npy", "-o", "column.ct"]);
    assert_eq!((&report["rows"], &report["columns"]), (&3.into(), &1.into()));
}

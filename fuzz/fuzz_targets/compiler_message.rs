//! Bytes as what travels between the halves of a compiled function.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::backends::{Inputs, KeysOfServer, Outputs, Parcel, Purpose, Secrets};
use noren::wire::{Form, Object};

fn read<P: Purpose>(bytes: &[u8]) {
    let Ok(parcel) = Parcel::<P>::from_bytes(&(), bytes) else { return };
    assert_eq!(
        Parcel::<P>::from_bytes(&(), &parcel.to_bytes(&(), Form::Packed)).expect("what was written is read"),
        parcel
    );
}

fuzz_target!(|bytes: &[u8]| {
    read::<Inputs>(bytes);
    read::<Outputs>(bytes);
    read::<KeysOfServer>(bytes);
    read::<Secrets>(bytes);
});

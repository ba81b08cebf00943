//! Bytes as what travels between halves: of a compiled function, of a retrieval, of an intersection.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::backends::{
    Inputs, IntersectionReplies, IntersectionRequests, KeysOfServer, Outputs, Parcel, Purpose, Replies, Requests,
    Secrets,
};
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
    read::<Requests>(bytes);
    read::<Replies>(bytes);
    read::<IntersectionRequests>(bytes);
    read::<IntersectionReplies>(bytes);
});

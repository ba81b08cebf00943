//! The pages whose blocks of Rust are compiled and run as examples.

macro_rules! pages {
    ($($name:ident: $path:literal,)*) => {
        $(#[doc = include_str!(concat!("../../../", $path))] pub struct $name;)*
    };
}

pages! {
    Readme: "README.md",
    Bootstrapping: "docs/bootstrapping.md",
    Circuits: "docs/circuits.md",
    Integers: "docs/integers.md",
    Lookup: "docs/lookup.md",
    Switching: "docs/switching.md",
    Tfhe: "docs/tfhe.md",
}

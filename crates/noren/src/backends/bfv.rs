//! BFV: exact integers whose products are scaled.

use std::marker::PhantomData;

use crate::backends::integers::Integers;
use crate::cost::slots::Slots;
use crate::schemes::bfv::Bfv;

/// BFV: exact integers whose products are scaled.
pub static BFV: Integers<Bfv> = Integers { name: "bfv", slots: Slots::ScaledResidues, scheme: PhantomData };

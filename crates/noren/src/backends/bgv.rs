//! BGV: exact integers whose products drop limbs.

use std::marker::PhantomData;

use crate::backends::integers::Integers;
use crate::cost::slots::Slots;
use crate::schemes::bgv::Bgv;

/// BGV: exact integers whose products drop limbs.
pub static BGV: Integers<Bgv> = Integers { name: "bgv", slots: Slots::Residues, scheme: PhantomData };

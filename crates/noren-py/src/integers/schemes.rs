//! The classes of one scheme: `Context`, `Ciphertext` and `Evaluator`, for BGV and for BFV.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};

use noren::bfv::Bfv;
use noren::bgv::{Bgv, Context, Decryptor, Encoder, KeyRequest, Plaintext, SlotMatrix};
use noren::circuits::polynomial::Polynomial;
use noren::circuits::power::power;
use noren::circuits::product::product;
use noren::error::Result;
use noren::schemes::integers::{Ciphertext, Ciphertexts, Evaluator};
use noren::wire::{Form, Limits, Object};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::array::{ask_for, detached, detached_by, no_table};
use crate::display::{self, Row, table};
use crate::errors::{raise, raise_of_integers};
use crate::evaluators::{Held, Match, Registration, evaluator_of};
use crate::explain;
use crate::exponent::{self, whole_exponent};
use crate::files::Filed;
use crate::integers::ciphertext_class::ciphertext_class;
use crate::integers::classes::{PyBfvContext, PyBgvContext};
use crate::integers::context_class::context_class;
use crate::integers::evaluator_class::evaluator_class;
use crate::integers::keys::{IntegerEncryptionKey, PyIntegerEvaluationKeys, PyIntegerKeys, PyIntegerSecretKey};
use crate::integers::parameters::PyIntegerParameters;
use crate::integers::plaintext::{
    Layout, WholeNumbers, check_all_contents, check_contents, check_parameters, check_read, read,
};
use crate::integers::slot_matrix::{PySlotMatrix, rotation_keys};
use crate::key_sets;
use crate::pickle::{ContextPickle, Pickle, Shared, Threading, bytes_beside, shared_context};
use crate::progress::Heard;
use crate::refusals;
use crate::rotations::plan_of_sum;
use crate::seeds::seed_of;
use crate::ufuncs;
use crate::vectors::{SumOf, check_columns, head, same_length, stacked, terms_of_sum};
use crate::whole::{Integers, whole};

/// An operation of an evaluator with a second operand.
type Operation<S, T> = fn(&Evaluator<S>, &Ciphertext<S>, &T) -> Result<Ciphertext<S>>;

macro_rules! scheme_classes {
    ($($names:tt)*) => {
        context_class!($($names)*);
        ciphertext_class!($($names)*);
        evaluator_class!($($names)*);
    };
}

scheme_classes!(
    Bgv, "BGV", module "noren.bgv", PyBgvContext, PyBgvCiphertext, PyBgvEvaluator, from PyBfvCiphertext
);
scheme_classes!(
    Bfv, "BFV", module "noren.bfv", PyBfvContext, PyBfvCiphertext, PyBfvEvaluator, from PyBgvCiphertext
);

//! Which elements share ciphertexts: results of the same functions lie side by side, and so do their arguments.

use std::collections::{BTreeMap, HashMap};

use crate::backends::bfv_lookups::functions::{Atom, Form};
use crate::backends::bfv_lookups::fusion::Fusion;
use crate::lookup::MODULUS;

/// The ciphertexts of a graph. A ciphertext has lanes, each with a number.
///
/// The client has every input element: it encrypts them as the results lie, and a ciphertext more than once if need be, so
/// that nothing is moved.
#[derive(Debug, Default)]
pub(super) struct Packing {
    /// For each ciphertext of inputs the element in each lane.
    pub(super) inputs: Vec<Vec<usize>>,
    /// The lookups.
    pub(super) calls: Vec<Call>,
    /// The results.
    pub(super) groups: Vec<Group>,
}

/// A lookup, lane by lane.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Call {
    pub(super) function: usize,
    /// The ciphertexts of its arguments.
    pub(super) arguments: Vec<usize>,
}

/// Results that share a ciphertext; they have none where they are constants.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// For each lane the elements that it holds: output, and position there.
    pub(super) places: Vec<Vec<[usize; 2]>>,
    /// Ciphertexts of inputs, and their factors.
    pub(super) inputs: Vec<(usize, i64)>,
    /// Lookups.
    pub(super) calls: Vec<usize>,
    /// The addend of each lane, modulo [`MODULUS`].
    pub(super) constants: Vec<usize>,
}

/// A term of a sum: a function or none, a factor, and arguments.
type Term<'a> = (Option<usize>, i64, &'a [usize]);
/// Elements of one signature: their terms, and their forms.
type Members<'a> = Vec<(Vec<Term<'a>>, &'a Form)>;

impl Packing {
    /// Packs all elements of the outputs into ciphertexts of this many lanes.
    pub(super) fn of(fusion: &Fusion, lanes: usize) -> Self {
        let mut places: BTreeMap<&Form, Vec<[usize; 2]>> = BTreeMap::new();
        for (output, forms) in fusion.outputs.iter().enumerate() {
            for (position, form) in forms.iter().enumerate() {
                places.entry(form).or_default().push([output, position]);
            }
        }
        let mut alike: BTreeMap<Vec<(Option<usize>, i64)>, Members<'_>> = BTreeMap::new();
        for &form in places.keys() {
            let mut terms: Vec<Term<'_>> = form.terms.iter().map(term).collect();
            terms.sort_unstable();
            let signature = terms.iter().map(|&(function, factor, _)| (function, factor)).collect();
            alike.entry(signature).or_default().push((terms, form));
        }
        let (mut packing, mut known) = (Self::default(), Known::default());
        for (signature, members) in &alike {
            for members in members.chunks(lanes) {
                let mut group = Group::default();
                for (at, &(function, factor)) in signature.iter().enumerate() {
                    let count = members[0].0[at].2.len();
                    let lane = |argument: usize| members.iter().map(|(terms, _)| terms[at].2[argument]).collect();
                    let arguments = (0..count).map(|argument| position(&mut known.inputs, lane(argument))).collect();
                    match function {
                        Some(function) => {
                            group.calls.push(position(&mut known.calls, Call { function, arguments }));
                        }
                        None => group.inputs.push((arguments[0], factor)),
                    }
                }
                for (terms, form) in members {
                    let lowest = |(function, factor, of): &Term<'_>| match function {
                        Some(_) => 0,
                        None => factor * fusion.ranges[of[0]][0].rem_euclid(MODULUS.cast_signed()),
                    };
                    let constant = terms
                        .iter()
                        .fold(form.constant, |sum, term| (sum + lowest(term)).rem_euclid(MODULUS.cast_signed()));
                    group.constants.push(constant as usize);
                    group.places.push(places[form].clone());
                }
                packing.groups.push(group);
            }
        }
        if packing.encrypted().next().is_none() {
            // A message has a ciphertext: of zeros, to which the constants are added.
            packing.groups[0].inputs.push((position(&mut known.inputs, Vec::new()), 1));
        }
        packing.inputs = in_order(known.inputs);
        packing.calls = in_order(known.calls);
        packing
    }

    /// The results that have a ciphertext.
    pub(super) fn encrypted(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(|group| !group.is_constant())
    }
}

impl Group {
    /// Whether it has no ciphertext.
    pub(super) fn is_constant(&self) -> bool {
        self.inputs.is_empty() && self.calls.is_empty()
    }
}

/// Ciphertexts and lookups that are known already, with their positions.
#[derive(Default)]
struct Known {
    inputs: HashMap<Vec<usize>, usize>,
    calls: HashMap<Call, usize>,
}

fn term<'a>((atom, &factor): (&'a Atom, &i64)) -> Term<'a> {
    match atom {
        Atom::Input(_) => (None, factor, atom.inputs()),
        Atom::Call(function, arguments) => (Some(*function), factor, arguments),
    }
}

/// The position of an item, which is a new one if it is not known.
fn position<T: Eq + std::hash::Hash>(known: &mut HashMap<T, usize>, item: T) -> usize {
    let next = known.len();
    *known.entry(item).or_insert(next)
}

fn in_order<T>(known: HashMap<T, usize>) -> Vec<T> {
    let mut items: Vec<(usize, T)> = known.into_iter().map(|(item, at)| (at, item)).collect();
    items.sort_unstable_by_key(|(at, _)| *at);
    items.into_iter().map(|(_, item)| item).collect()
}

//! Circles of imports: groups of files each of which needs the others.

use std::collections::{BTreeMap, BTreeSet};

use crate::imports::Import;

/// The files that each file imports, with the first place of each.
type Edges<'a> = BTreeMap<&'a str, BTreeMap<&'a str, &'a Import>>;

/// The groups of files that reach each other by imports; each as the imports within it, one for each pair of files.
pub fn circles(imports: &[Import]) -> Vec<Vec<&Import>> {
    let mut edges = Edges::new();
    for import in imports {
        edges.entry(&import.from).or_default().entry(&import.to).or_insert(import);
    }
    let reached: BTreeMap<_, _> = edges.keys().map(|&file| (file, reached_from(&edges, file))).collect();
    let reaches = |from: &str, to: &str| reached.get(from).is_some_and(|files| files.contains(to));
    let mut groups: Vec<Vec<&Import>> = Vec::new();
    let mut grouped = BTreeSet::new();
    for &file in edges.keys() {
        if grouped.contains(file) || !reaches(file, file) {
            continue;
        }
        let together: Vec<_> = reached[file].iter().copied().filter(|&other| reaches(other, file)).collect();
        let within = together.iter().flat_map(|from| edges[from].values().copied());
        groups.push(within.filter(|import| together.contains(&import.to.as_str())).collect());
        grouped.extend(together);
    }
    groups
}

/// The files that this one needs, directly or by others.
fn reached_from<'a>(edges: &Edges<'a>, start: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut front = vec![start];
    while let Some(file) = front.pop() {
        for &to in edges.get(file).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(to) {
                front.push(to);
            }
        }
    }
    reached
}

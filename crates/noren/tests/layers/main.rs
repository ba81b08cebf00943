//! The layering rules that the compiler does not know: who may import whom, and what has no place where.

mod circles;
mod glossary;
mod imports;
mod source;
mod tokens;

use circles::circles;
use imports::{Crate, Import};
use source::{Source, below, sources};
use tokens::{Token, tokens, without_tests};

/// No file grows longer.
const MAX_LINES: usize = 600;

/// The crates, from the lowest layer to the faces.
const CRATES: [&str; 9] = [
    "noren-math",
    "noren-ring",
    "noren-naive",
    "noren-rlwe",
    "noren-files",
    "noren",
    "noren-cli",
    "noren-lab",
    "noren-py",
];

fn assert_none(places: Vec<String>, rule: &str) {
    assert!(places.is_empty(), "{rule}:\n{}", places.join("\n"));
}

/// Folders of crate noren, from the lowest layer to the highest. None imports from its own layer or a higher one.
const ORDER: [&[&str]; 12] = [
    &["schemes/"],
    &["circuits/"],
    &["graph/", "cost/"],
    &["lookup/", "radix/"],
    &["bootstrapping/"],
    &["switching/", "lowering/"],
    &["programs/"],
    &["backends/"],
    &["advisor/"],
    &["compiler/"],
    &["tables/", "retrieval/", "owners/"],
    &["facts.rs"],
];

/// Folders of crate noren, and what else they do not import from.
const APART: [(&str, &[&str]); 9] = [
    ("lookup/", &["graph/", "cost/"]),
    ("radix/", &["graph/", "cost/"]),
    ("bootstrapping/", &["lookup/", "radix/"]),
    ("switching/", &["lookup/", "radix/"]),
    // A scheme names no other. What BGV and BFV share is the room `integers`, which names neither.
    ("schemes/ckks/", &["schemes/integers/", "schemes/tfhe/", "schemes/bgv", "schemes/bfv"]),
    ("schemes/integers/", &["schemes/ckks/", "schemes/tfhe/", "schemes/bgv", "schemes/bfv"]),
    ("schemes/tfhe/", &["schemes/ckks/", "schemes/integers/", "schemes/bgv", "schemes/bfv"]),
    ("schemes/bgv.rs", &["schemes/ckks/", "schemes/tfhe/", "schemes/bfv"]),
    ("schemes/bfv.rs", &["schemes/ckks/", "schemes/tfhe/", "schemes/bgv"]),
];

/// Rooms of crate noren, and the schemes that they may name. A circuit is written for every scheme: it names none.
const SCHEMES: [(&str, &[&str]); 15] = [
    ("circuits/", &[]),
    ("graph/", &[]),
    ("cost/", &[]),
    ("lowering/", &[]),
    ("compiler/", &[]),
    ("tables/", &[]),
    ("advisor/", &[]),
    ("lookup/", &["schemes/integers/", "schemes/bfv"]),
    ("radix/", &["schemes/tfhe/"]),
    ("programs/reals/", &["schemes/ckks/"]),
    ("programs/integers/", &["schemes/integers/", "schemes/bfv"]),
    ("programs/columns/", &["schemes/tfhe/"]),
    ("retrieval/", &["schemes/integers/", "schemes/bfv"]),
    ("owners/", &["schemes/integers/", "schemes/bgv", "schemes/bfv"]),
    ("bootstrapping/", &["schemes/ckks/"]),
];

/// All schemes.
const ALL_SCHEMES: [&str; 5] = ["schemes/ckks/", "schemes/integers/", "schemes/tfhe/", "schemes/bgv", "schemes/bfv"];

#[test]
fn imports_run_down() {
    let sources = sources();
    let imports = Crate::new(&sources, "noren").imports();
    let mut places = Vec::new();
    let mut forbid = |from: &str, forbidden: &[&str]| {
        assert!(below(&sources, &format!("noren/src/{from}")).count() > 0, "{from} has no files");
        let within = |file: &str, folder: &str| file.strip_prefix("noren/src/").is_some_and(|f| f.starts_with(folder));
        let found = imports.iter().filter(|import| within(&import.from, from));
        let found = found.filter(|import| forbidden.iter().any(|folder| within(&import.to, folder)));
        places.extend(found.map(|import| format!("{} -> {}", import.place, import.to)));
    };
    for (layer, rooms) in ORDER.iter().enumerate() {
        for &room in *rooms {
            let others = ORDER[layer..].iter().flat_map(|rooms| rooms.iter().copied());
            forbid(room, &others.filter(|&other| other != room).collect::<Vec<_>>());
        }
    }
    for (from, forbidden) in APART {
        forbid(from, forbidden);
    }
    for (from, named) in SCHEMES {
        let others: Vec<&str> = ALL_SCHEMES.into_iter().filter(|scheme| !named.contains(scheme)).collect();
        forbid(from, &others);
    }
    assert_none(
        places,
        "schemes < circuits < graph, cost < lookup, radix < bootstrapping < switching, lowering < programs < backends < advisor < \
         compiler < tables, retrieval, owners < facts",
    );
}

/// Rooms of crate noren that name no scheme at all, in imports or in texts: what they compute is the same in each.
const OF_NO_SCHEME: [&str; 8] =
    ["circuits/", "graph/", "cost/", "lowering/", "programs/", "advisor/", "compiler/", "tables/"];

/// The rooms among them that belong to one scheme.
const OF_ONE_SCHEME: [&str; 3] = ["programs/reals/", "programs/integers/", "programs/columns/"];

/// The schemes, as code writes them.
const NAMES: [&str; 12] = ["ckks", "Ckks", "CKKS", "bgv", "Bgv", "BGV", "bfv", "Bfv", "BFV", "tfhe", "Tfhe", "TFHE"];

#[test]
fn schemes_are_named_where_they_are_known() {
    let sources = sources();
    let [folders, own] = [&OF_NO_SCHEME[..], &OF_ONE_SCHEME]
        .map(|rooms| rooms.iter().map(|room| format!("noren/src/{room}")).collect::<Vec<_>>());
    let files = folders.iter().flat_map(|folder| below(&sources, folder));
    let files = files.filter(|source| !own.iter().any(|room| source.path.starts_with(room)));
    assert_none(files.flat_map(|source| source.places(&NAMES)).collect(), "what computes in any scheme names none");
}

#[test]
fn files_import_in_no_circles() {
    let sources = sources();
    let mut places = Vec::new();
    for name in CRATES {
        let imports = Crate::new(&sources, name).imports();
        assert!(!imports.is_empty(), "{name} has no imports");
        // All names of a face are those of other files: which ones are needed must be said.
        let is_face = |file: &str| file.ends_with("/mod.rs") || file.ends_with("/lib.rs");
        let hiding = imports.iter().filter(|import| import.place.ends_with("::*") && is_face(&import.to));
        places.extend(hiding.map(|import| format!("{}, imports by * from a face", import.place)));
        for circle in circles(&imports) {
            places.push(format!("{name}, a circle by {} imports:", circle.len()));
            places.extend(circle.into_iter().map(|import| format!("    {} -> {}", import.place, import.to)));
        }
    }
    assert_none(places, "files import in circles");
}

/// The imports between rooms of noren-math: the folders and files that `lib.rs` names.
fn between_rooms(imports: Vec<Import>) -> Vec<Import> {
    let room = |file: &str| file.split('/').nth(2).expect("a file of src/").to_owned();
    let rooms = imports.into_iter().map(|import| Import { from: room(&import.from), to: room(&import.to), ..import });
    rooms.filter(|import| import.from != import.to).collect()
}

#[test]
fn rooms_of_math_import_in_no_circles() {
    let imports = between_rooms(Crate::new(&sources(), "noren-math").imports());
    let places = circles(&imports).into_iter().flatten().map(|import| format!("{} -> {}", import.place, import.to));
    assert_none(places.collect(), "rooms import in circles");
}

/// The circles of a crate of these files, by their number of imports.
fn circles_of(files: &[(&str, &str)]) -> Vec<usize> {
    let source = |(path, text): &(&str, &str)| Source { path: format!("noren/src/{path}"), text: (*text).to_owned() };
    let sources: Vec<Source> = files.iter().map(source).collect();
    circles(&Crate::new(&sources, "noren").imports()).iter().map(Vec::len).collect()
}

#[test]
fn circles_are_found_through_faces() {
    let face = ("lib.rs", "pub mod a;\npub mod b;\npub use a::A;");
    let a =
        [("a/mod.rs", "mod inner;\npub use inner::A;"), ("a/inner.rs", "use crate::b::{self, B};\npub struct A(B);")];
    assert_eq!(circles_of(&[face, a[0], a[1], ("b.rs", "pub struct B;\n// use crate::a::A;")]), []);
    assert_eq!(circles_of(&[face, a[0], a[1], ("b.rs", "use super::a;\npub struct B(Vec<a::A>);")]), [2]);
    assert_eq!(circles_of(&[face, a[0], a[1], ("b.rs", "pub struct B(Option<crate::A>);")]), [2]);
    // A parent imports the names that it uses, and not those that it re-exports.
    let child = ("b/child.rs", "use super::Parent;\npub struct Child(Parent);");
    assert_eq!(circles_of(&[("b.rs", "mod child;\npub use child::Child;\npub struct Parent;"), child]), []);
    assert_eq!(circles_of(&[("b.rs", "mod child;\nuse child::Child;\npub struct Parent(Child);"), child]), [2]);
}

#[test]
fn circles_of_rooms_are_found() {
    let import = |from: &str, to: &str| Import { from: from.to_owned(), to: to.to_owned(), place: String::new() };
    let files = [
        import("noren-math/src/a/first.rs", "noren-math/src/b.rs"),
        import("noren-math/src/b.rs", "noren-math/src/a/second.rs"),
        import("noren-math/src/a/first.rs", "noren-math/src/a/second.rs"),
    ];
    assert!(circles(&files).is_empty());
    assert_eq!(circles(&between_rooms(files.to_vec())).iter().map(Vec::len).collect::<Vec<_>>(), [2]);
}

/// The verbs of a ring that give or take words of elements.
const WORD_VERBS: [&str; 7] =
    [".from_words(", ".to_words(", ".from_rows(", ".try_from_fn(", ".on_host(", ".key_words(", "ring.rows("];

#[test]
fn words_of_elements_end_at_rings() {
    let sources = sources();
    let above =
        ["noren-rlwe/src/", "noren-files/src/", "noren/src/", "noren-cli/src/", "noren-lab/src/", "noren-py/src/"];
    let files = above.iter().flat_map(|folder| below(&sources, folder));
    let is_door = |path: &str| path == "noren-rlwe/src/words.rs" || path.starts_with("noren-rlwe/src/wire/");
    let places = files.filter(|source| !is_door(&source.path)).flat_map(|source| source.places(&WORD_VERBS));
    assert_none(places.collect(), "words of elements pass through noren_rlwe::words and the wire format alone");
}

#[test]
fn the_interface_for_devices_knows_nothing_of_the_host() {
    let sources = sources();
    // `Ring::new` is on the host, where no other device is named.
    let of_host = |path: &str| path.starts_with("noren-ring/src/host/") || path == "noren-ring/src/ring.rs";
    let files = below(&sources, "noren-ring/src/").filter(|source| !of_host(&source.path));
    let places = files.flat_map(|source| source.places(&["host::"]));
    assert_none(places.collect(), "devices beside the host are behind the same interface");
}

/// The files of noren-ring whose public functions take or give words: for encoders, samplers and files; for keys and
/// factors that lie in files; and for what a device shows the host.
const DOORS: [&str; 5] = ["ring/words.rs", "ring/keys.rs", "key_layout.rs", "small.rs", "device.rs"];

/// The files of noren-ring whose words are those of samples over the torus, which are the host's: LWE samples,
/// polynomials that an owner of a secret multiplies, tables, and samples that a server shows.
const SAMPLES: [&str; 6] = ["lwe.rs", "polynomial.rs", "exact.rs", "product.rs", "control_table.rs", "server.rs"];

/// The file above noren-ring that computes with keys over the torus on the host: it unpacks light keys.
const LIGHT_KEYS: &str = "noren-rlwe/src/torus/light/keys.rs";

/// Lists of numbers, one for each prime, are no words of an element.
const LISTS: [&str; 3] = ["moduli: &[u64]", "residues: &[u64]", "integer_residues(&self, x: i128) -> Vec<u64>"];

#[test]
fn words_leave_rings_through_the_doors_alone() {
    let sources = sources();
    let mut places = Vec::new();
    let is_door = |source: &&Source| {
        let named = |folder: &str, files: &[&str]| files.iter().any(|file| source.path == format!("{folder}{file}"));
        // How the host bootstraps is known to those alone that `keys_over_the_torus_are_handles` names.
        let of_host = source.path.starts_with("noren-ring/src/host/torus/");
        of_host || named("noren-ring/src/", &DOORS) || named("noren-ring/src/torus/", &SAMPLES)
    };
    for source in below(&sources, "noren-ring/src/").filter(|source| !is_door(source)) {
        for (start, _) in source.text.match_indices("    pub fn ") {
            let text = &source.text[start..];
            let signature = text[..text.find(['{', ';']).expect("a function has a body")].trim();
            let others = LISTS.iter().fold(signature.to_owned(), |text, list| text.replace(list, ""));
            if ["[u64]", "[u64;", "Vec<u64>"].iter().any(|words| others.contains(words)) {
                places.push(format!("{}: {signature}", source.path));
            }
        }
    }
    assert_none(places, "words leave noren-ring, and come into it, through its doors");
}

#[test]
fn keys_over_the_torus_are_handles() {
    let sources = sources();
    let above = ["noren-rlwe/src/", "noren/src/", "noren-cli/src/", "noren-lab/src/", "noren-py/src/"];
    let files = above.iter().flat_map(|folder| below(&sources, folder));
    let files = files.filter(|source| source.path != LIGHT_KEYS);
    let places = files.flat_map(|source| source.places(&["host::torus"]));
    assert_none(places.collect(), "keys over the torus are held by a device");
}

#[test]
fn terms_of_the_glossary_are_in_the_code() {
    let sources = sources();
    assert_none(glossary::missing(&sources), "docs/glossary.md names what no source defines");
    assert_none(glossary::missing_files(&sources), "pages name files that are not there");
}

#[test]
fn unsafe_code_lives_in_the_kernels_and_the_machine() {
    let sources = sources();
    let rooms = ["noren-math/src/kernels/", "noren-math/src/machine/"];
    let files = sources.iter().filter(|source| !rooms.iter().any(|room| source.path.starts_with(room)));
    let says = |source: &Source| {
        let words = |line: &str| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe");
        let found = source.code().filter(|(_, line)| words(line));
        found.map(|(i, line)| format!("{}:{i}: {}", source.path, line.trim())).collect::<Vec<_>>()
    };
    // Without these tests, which say it to forbid it.
    let files = files.filter(|source| !source.path.contains("tests/layers/"));
    assert_none(files.flat_map(says).collect(), "unsafe has no place outside kernels/ and machine/ of noren-math");
}

#[test]
fn floors_above_math_forbid_unsafe_code() {
    let sources = sources();
    for library in ["noren-ring", "noren-naive", "noren-rlwe", "noren-files", "noren"] {
        let face = format!("{library}/src/lib.rs");
        let forbids =
            sources.iter().any(|source| source.path == face && source.text.contains("#![forbid(unsafe_code)]"));
        assert!(forbids, "{face} does not forbid unsafe code");
    }
}

#[test]
fn files_stay_short_and_say_their_purpose() {
    let sources = sources();
    let long = sources.iter().filter(|source| source.text.lines().count() > MAX_LINES);
    let long = long.map(|source| format!("{}: {} lines", source.path, source.text.lines().count()));
    assert_none(long.collect(), "no file passes 600 lines");
    let mute = sources.iter().filter(|source| !source.text.starts_with("//! "));
    assert_none(mute.map(|source| source.path.clone()).collect(), "the first line of a file says its purpose");
}

#[test]
fn every_room_has_a_purpose() {
    let homeless = ["util", "utils", "common", "misc", "helper", "helpers", "prelude"];
    let stem = |part: &str| part.trim_end_matches(".rs").to_owned();
    let places = sources()
        .into_iter()
        .filter(|source| source.path.split('/').any(|part| homeless.contains(&stem(part).as_str())));
    assert_none(places.map(|source| source.path).collect(), "a function without a home shows that a room is missing");
}

#[test]
fn no_panic_by_unwrap_outside_tests() {
    let sources = sources();
    let files = sources.iter().filter(|source| source.path.contains("/src/"));
    assert_none(files.flat_map(|source| source.places(&[".unwrap()"])).collect(), "unwrap says nothing");
}

/// The folders of the tool that do for its verbs what a scheme, or a room of one, does for them.
const SCHEMES_OF_TOOL: [&str; 6] = ["ckks/", "bootstrap/", "switching/", "integers/", "lookup/", "tfhe/"];

/// Its other folders that know schemes: protocols of one scheme, parameters of each in words, and comparisons.
const KNOWING: [&str; 5] = ["party/", "retrieval/", "describe/", "compare/", "measure/"];

/// Its tables of schemes: what they do for the verbs, and which files arguments take.
const TABLES_OF_TOOL: [&str; 2] = ["schemes.rs", "takes.rs"];

#[test]
fn verbs_of_the_tool_name_no_scheme() {
    let sources = sources();
    let within = |path: &str, folders: &[&str]| {
        path.strip_prefix("noren-cli/src/").is_some_and(|file| folders.iter().any(|folder| file.starts_with(folder)))
    };
    // The face declares the folders.
    let knows = [&SCHEMES_OF_TOOL[..], &KNOWING, &TABLES_OF_TOOL, &["lib.rs"]].concat();
    let mut places = Vec::new();
    for source in below(&sources, "noren-cli/src/").filter(|source| !within(&source.path, &knows)) {
        let words = tokens(without_tests(&source.text)).into_iter().filter(Token::is_word);
        let named = words.filter(|word| NAMES.iter().any(|name| word.text.contains(name)));
        places.extend(named.map(|word| format!("{}:{}: {}", source.path, word.line, word.text)));
    }
    let imports = Crate::new(&sources, "noren-cli").imports().into_iter();
    let imports = imports.filter(|import| !within(&import.from, &knows) && within(&import.to, &SCHEMES_OF_TOOL));
    places.extend(imports.map(|import| format!("{} -> {}", import.place, import.to)));
    assert_none(places, "verbs know schemes by their rows in crates/noren-cli/src/schemes.rs alone");
}

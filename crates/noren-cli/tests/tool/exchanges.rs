//! `--signer` with every verb that takes it: each input unsigned, or exchanged for another file, one at a time.

use std::fs;
use std::path::Path;

use noren_math::kernels::is_fastest;

use crate::cyclotomic;
use crate::function;
use crate::lookup;
use crate::party;
use crate::sandbox::Sandbox;

const SIGNER: [&str; 2] = ["--signer", "signer/signing.pub"];

/// A call, and its inputs that must be signed, each with the same file of another owner; nothing for what belongs to nobody.
type Case<'a> = (&'a str, &'a [(&'a str, &'a str)]);

/// A sandbox with two owners, and all files of both, but for secret keys, signed by one signer.
struct World {
    sandbox: Sandbox,
    signed: Vec<String>,
    /// The identity of the first owner.
    owner: String,
}

impl World {
    /// Signs everything that is there: `of_owner` is a file of the first owner.
    fn new(sandbox: Sandbox, of_owner: &str) -> Self {
        sandbox.done(&["signing-key", "--out", "signer"]);
        sandbox.done(&["signing-key", "--out", "stranger"]);
        let mut signed = Vec::new();
        files(&sandbox.path(""), "", &mut signed);
        let is_signed = |name: &String| {
            let [secret, signer] = [name.ends_with("secret.key"), name.contains("signing.")];
            !secret && !signer && !name.ends_with(".csv") && !name.ends_with(".minisig")
        };
        signed.retain(is_signed);
        let names: Vec<&str> = signed.iter().map(String::as_str).collect();
        sandbox.done(&[&["sign", "--key", "signer/signing.key"], &names[..]].concat());
        let report = sandbox.json(&[&["verify", of_owner], &SIGNER[..]].concat());
        let comment = report["files"][0]["comment"].as_str().expect("a comment").to_owned();
        let owner = comment.split("\towner:").nth(1).expect("an owner").to_owned();
        assert_eq!(owner.len(), 32, "{comment}");
        Self { sandbox, signed, owner }
    }

    /// The call with the options of signatures.
    fn call<'a>(&'a self, call: &'a str, with_owner: bool) -> Vec<&'a str> {
        let owner = ["--owner", &self.owner];
        call.split(' ').chain(SIGNER).chain(owner.into_iter().filter(|_| with_owner)).collect()
    }

    /// Puts a file, and a signature if there is one, in the place of an input, and asks for the refusal.
    fn exchange(&self, call: &[&str], file: &str, content: &[u8], signature: Option<&[u8]>, needed: &[&str]) {
        let (sandbox, place) = (&self.sandbox, format!("{file}.minisig"));
        let before = [sandbox.read(file), sandbox.read(&place)];
        sandbox.write(file, content);
        match signature {
            Some(signature) => sandbox.write(&place, signature),
            None => fs::remove_file(sandbox.path(&place)).expect("there"),
        }
        sandbox.refused(call, needed);
        sandbox.write(file, &before[0]);
        sandbox.write(&place, &before[1]);
    }

    /// A file, signed under the name of an input by the key of this directory: content and signature.
    fn resigned(&self, file: &str, as_file: &str, signer: &str) -> [Vec<u8>; 2] {
        let name = Path::new(as_file).file_name().and_then(|name| name.to_str()).expect("a name");
        let copy = format!("copies/{name}");
        fs::create_dir_all(self.sandbox.path("copies")).expect("made");
        let content = self.sandbox.read(file);
        self.sandbox.write(&copy, &content);
        let key = format!("{signer}/signing.key");
        self.sandbox.done(&["sign", &copy, "--key", &key, "--force"]);
        let signature = self.sandbox.read(&format!("{copy}.minisig"));
        fs::remove_dir_all(self.sandbox.path("copies")).expect("removed");
        [content, signature]
    }

    /// All exchanges of all inputs of the calls.
    fn check(&self, cases: &[Case<'_>]) {
        let sandbox = &self.sandbox;
        for &(call, inputs) in cases {
            let with_owner = self.call(call, true);
            if !call.starts_with("keygen --add") {
                sandbox.done(&with_owner);
                remove_outputs(sandbox);
            }
            for &(file, foreign) in inputs {
                let (content, signature) = (sandbox.read(file), sandbox.read(&format!("{file}.minisig")));
                let mut changed = content.clone();
                *changed.last_mut().expect("bytes") ^= 1;
                self.exchange(&with_owner, file, &changed, Some(&signature), &[file, "signature is not right"]);
                self.exchange(&with_owner, file, &content, None, &[file, "no signature", "noren sign"]);
                let [_, strange] = self.resigned(file, file, "stranger");
                self.exchange(&with_owner, file, &content, Some(&strange), &[file, "signed by key"]);
                // Secret keys, which say of themselves that they are exempt.
                for secret in ["keys/secret.key", "other/secret.key"] {
                    let secret = sandbox.read(secret);
                    self.exchange(&with_owner, file, &secret, Some(&signature), &[file]);
                    self.exchange(&with_owner, file, &secret, None, &[file]);
                }
                // Every other signed file with its signature; and a file of another kind that was signed under this name.
                for other in self.signed.iter().filter(|other| base(other) != base(file)) {
                    let [content, signature] = [sandbox.read(other), sandbox.read(&format!("{other}.minisig"))];
                    self.exchange(&with_owner, file, &content, Some(&signature), &[file]);
                }
                let wrong = if file.ends_with(".ct") { "signer/signing.pub" } else { "table.ct" };
                if !call.starts_with("verify") && !call.starts_with("inspect") {
                    let [content, signature] = self.resigned(wrong, file, "signer");
                    self.exchange(&with_owner, file, &content, Some(&signature), &[file]);
                }
                if foreign.is_empty() {
                    continue;
                }
                let [content, signature] = [sandbox.read(foreign), sandbox.read(&format!("{foreign}.minisig"))];
                self.exchange(&with_owner, file, &content, Some(&signature), &[file, "another owner", &self.owner]);
                // Where there is another file of the owner, it tells them apart too, and the refusal may name either.
                if inputs.len() > 1 || call.contains("secret.key") || call.starts_with("keygen --add") {
                    self.exchange(&self.call(call, false), file, &content, Some(&signature), &[]);
                }
            }
        }
    }
}

fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// All files of a directory, as paths from the sandbox.
fn files(directory: &Path, prefix: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).expect("a directory").flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            files(&entry.path(), &format!("{name}/"), found);
        } else {
            found.push(name);
        }
    }
}

/// Takes away what a call has written: `out`, `out.csv`, `sums.csv` or the directory `new`.
fn remove_outputs(sandbox: &Sandbox) {
    for name in ["out", "out.csv", "sums.csv"] {
        let _ = fs::remove_file(sandbox.path(name));
    }
    let _ = fs::remove_dir_all(sandbox.path("new"));
}

/// A sandbox with keys and one table of each of two owners: `keys` and `table.ct`, and both in `other`. `keygen` are the options
/// of the keys, `key` is the key that encrypts and the options of that.
fn of_two_owners(name: &str, keygen: &str, key: &str) -> Sandbox {
    let sandbox = Sandbox::new(name);
    sandbox.write("table.csv", b"a,b\n3,1\n2,2\n");
    for [keys, table, digit] in [["keys", "table.ct", "5"], ["other", "other/table.ct", "6"]] {
        let seed = digit.repeat(64);
        let call = |call: String| sandbox.done(&call.split(' ').collect::<Vec<_>>());
        call(format!("keygen --out {keys} {keygen} --seed {seed}"));
        call(format!("encrypt --key {keys}/{key} table.csv -o {table}"));
    }
    sandbox
}

#[test]
fn verbs_of_numbers_take_signed_files_alone() {
    if !is_fastest() {
        return;
    }
    let sandbox = Sandbox::with_keys("exchange-numbers", "mean");
    sandbox.keygen("other", "small.params", "mean", '2');
    for [keys, table, mean] in [["keys", "table.ct", "mean.ct"], ["other", "other/table.ct", "other/mean.ct"]] {
        sandbox.done(&["encrypt", "--key", &format!("{keys}/public.key"), "table.csv", "-o", table]);
        sandbox.done(&["eval", "mean", "--keys", &format!("{keys}/eval.keys"), table, "-o", mean]);
        sandbox.done(&["expand", &format!("{keys}/eval.keys"), "-o", &format!("{keys}/eval.mapped")]);
    }
    let (public, evaluation) = (("keys/public.key", "other/public.key"), ("keys/eval.keys", "other/eval.keys"));
    let (table, mapped) = (("table.ct", "other/table.ct"), ("keys/eval.mapped", "other/eval.mapped"));
    let (mean, params) = (("mean.ct", "other/mean.ct"), ("small.params", ""));
    World::new(sandbox, "keys/public.key").check(&[
        ("verify table.ct", &[table]),
        ("inspect keys/eval.keys", &[evaluation]),
        ("params show small.params", &[params]),
        ("params check small.params --security none", &[params]),
        ("keygen --out new --program mean --rows 12 --columns 3 --params small.params", &[params]),
        ("keygen --add --out keys --rotations 100", &[evaluation, public]),
        ("encrypt --key keys/public.key table.csv -o out", &[public]),
        ("expand keys/eval.keys -o out", &[evaluation]),
        ("eval mean --keys keys/eval.keys table.ct -o out", &[evaluation, table]),
        ("eval mean --keys keys/eval.mapped table.ct -o out", &[mapped, table]),
        ("decrypt --key keys/secret.key mean.ct -o out.csv", &[mean]),
    ]);
}

#[test]
fn verbs_of_integers_take_signed_files_alone() {
    let sandbox = cyclotomic::with_keys("exchange-integers");
    sandbox.done(&["keygen", "--out", "other", "--integers", "ring.params", "--matrices"]);
    sandbox.done(&["encrypt", "--key", "other/public.key", "table.csv", "-o", "other/table.ct"]);
    sandbox.done(&["prepare", "--params", "ring.params", "--matrix", "matrix.csv", "-o", "matrix.prepared"]);
    let (public, evaluation) = (("keys/public.key", "other/public.key"), ("keys/eval.keys", "other/eval.keys"));
    let (table, params, matrix) = (("table.ct", "other/table.ct"), ("ring.params", ""), ("matrix.prepared", ""));
    World::new(sandbox, "keys/public.key").check(&[
        ("keygen --out new --integers ring.params", &[params]),
        ("keygen --add --out keys --rotations 1", &[evaluation, public]),
        ("prepare --params keys/public.key --matrix matrix.csv -o out", &[public]),
        ("encrypt --key keys/public.key table.csv -o out", &[public]),
        ("eval matrix --keys keys/eval.keys --matrix matrix.prepared table.ct -o out", &[evaluation, table, matrix]),
        ("decrypt --key keys/secret.key table.ct -o out.csv", &[table]),
    ]);
}

#[test]
fn verbs_of_lookups_take_signed_files_alone() {
    let sandbox = lookup::with_keys("exchange-lookups", "5");
    sandbox.done(&["keygen", "--out", "other", "--lookup", "5", "--params", "small.params"]);
    lookup::encrypt(&sandbox, "5", &[[1, 2], [4, 3]]);
    fs::rename(sandbox.path("pairs.ct"), sandbox.path("table.ct")).expect("renamed");
    let encrypt = ["encrypt", "--key", "other/public.key", "pairs.csv", "--domain", "5", "-o", "other/table.ct"];
    sandbox.done(&encrypt);
    let prepare = ["prepare", "--function", "gcd", "--domain", "5", "--params", "small.params", "-o", "gcd.prepared"];
    sandbox.done(&prepare);
    let (keys, table) = (("keys/lookup.keys", "other/lookup.keys"), ("table.ct", "other/table.ct"));
    let (function, params) = (("gcd.prepared", ""), ("small.params", ""));
    World::new(sandbox, "keys/public.key").check(&[
        ("plan --lookup 5 --params small.params", &[params]),
        ("keygen --out new --lookup 5 --params small.params", &[params]),
        ("prepare --function max --domain 5 --params keys/lookup.keys -o out", &[keys]),
        ("expand keys/lookup.keys -o out", &[keys]),
        ("eval lookup --keys keys/lookup.keys --function gcd.prepared table.ct -o out", &[keys, function, table]),
    ]);
}

#[test]
fn verbs_of_functions_take_signed_files_alone() {
    let sandbox = function::with_function("exchange-functions", "bgv");
    for [keys, digit] in [["keys", "5"], ["other", "6"]] {
        sandbox.done(&["function", "keygen", "f.function", "--out", keys, "--seed", &digit.repeat(64)]);
    }
    let call = |call: &str| sandbox.done(&call.split(' ').collect::<Vec<_>>());
    call("function encrypt f.function --key keys/secret.key x.csv y.csv -o request");
    call("function run f.function --keys keys/server.keys request -o table.ct");
    let (of_function, keys) = (("f.function", ""), ("keys/server.keys", ""));
    World::new(sandbox, "keys/server.keys").check(&[
        ("function show f.function", &[of_function]),
        ("function keygen f.function --out new", &[of_function]),
        ("function encrypt f.function --key keys/secret.key x.csv y.csv -o out", &[of_function]),
        ("function run f.function --keys keys/server.keys request -o out", &[of_function, keys, ("request", "")]),
        (
            "function decrypt f.function --key keys/secret.key table.ct -o out.csv -o sums.csv",
            &[of_function, ("table.ct", "")],
        ),
    ]);
}

#[test]
fn verbs_of_retrieval_and_intersection_take_signed_files_alone() {
    for protocol in ["retrieval", "intersection"] {
        let sandbox = Sandbox::new(&format!("exchange-{protocol}"));
        sandbox.write("rows.csv", b"name,x\na,1\nb,2\n");
        let call = |call: &str| sandbox.done(&format!("{protocol} {call}").split(' ').collect::<Vec<_>>());
        let asked = if protocol == "intersection" { "--asked 2 " } else { "" };
        call(&format!("describe rows.csv --by name {asked}--security none -o rows.description"));
        for [keys, digit] in [["keys", "5"], ["other", "6"]] {
            call(&format!("keygen rows.description --out {keys} --seed {}", digit.repeat(64)));
        }
        call("encrypt rows.description --key keys/secret.key --ask b -o request");
        call("answer rows.description rows.csv --by name --keys keys/server.keys request -o table.ct");
        let keygen = format!("{protocol} keygen rows.description --out new");
        let encrypt = format!("{protocol} encrypt rows.description --key keys/secret.key --ask b -o out");
        let answer =
            format!("{protocol} answer rows.description rows.csv --by name --keys keys/server.keys request -o out");
        let decrypt = format!("{protocol} decrypt rows.description --key keys/secret.key --ask b table.ct -o out.csv");
        let (description, keys) = (("rows.description", ""), ("keys/server.keys", "other/server.keys"));
        World::new(sandbox, "keys/server.keys").check(&[
            (&keygen, &[description]),
            (&encrypt, &[description]),
            (&answer, &[description, keys, ("request", "")]),
            (&decrypt, &[description, ("table.ct", "")]),
        ]);
    }
}

#[test]
fn verbs_of_tfhe_take_signed_files_alone() {
    if !is_fastest() {
        return;
    }
    let sandbox = of_two_owners("exchange-tfhe", "--tfhe TOY_2_2 --circuit", "secret.key --type uint8");
    let (keys, table) = (("keys/server.keys", "other/server.keys"), ("table.ct", "other/table.ct"));
    let circuit = ("keys/circuit.keys", "other/circuit.keys");
    let world = World::new(sandbox, "keys/server.keys");
    world.check(&[
        ("expand keys/server.keys -o out", &[keys]),
        ("eval less --keys keys/server.keys table.ct -o out", &[keys, table]),
        ("eval lookup --keys keys/server.keys --circuit keys/circuit.keys --function max table.ct -o out", &[circuit]),
        ("decrypt --key keys/secret.key table.ct -o out.csv", &[table]),
    ]);
    // A secret key encrypts too, but a public key of another scheme would: it is exempt from no signature.
    let encrypt = world.call("encrypt --key keys/secret.key --type uint8 table.csv -o out", false);
    world.sandbox.refused(&encrypt, &["keys/secret.key", "no signature"]);
    world.sandbox.done(&["sign", "keys/secret.key", "--key", "signer/signing.key"]);
    world.sandbox.done(&encrypt);
}

#[test]
fn verbs_of_bootstrapping_and_switching_take_signed_files_alone() {
    if !is_fastest() {
        return;
    }
    let keygen = "--bootstrap toy --slots 64 --switching TOY_SWITCH --rows 2 --columns 2";
    let sandbox = of_two_owners("exchange-switching", keygen, "public.key");
    let (keys, table) = (("keys/bootstrap.keys", "other/bootstrap.keys"), ("table.ct", "other/table.ct"));
    let switching = ("keys/switching.keys", "other/switching.keys");
    let world = World::new(sandbox, "keys/public.key");
    world.check(&[
        ("expand keys/bootstrap.keys -o out", &[keys]),
        ("keygen --add --out keys --rotations 5", &[keys]),
        ("eval threshold --number 2 --columns a --keys keys/bootstrap.keys table.ct -o out", &[keys, table, switching]),
    ]);
    // Server keys belong to a secret of TFHE: that the switching keys name them is what tells them apart.
    let eval = "eval threshold --number 2 --columns a --keys keys/bootstrap.keys table.ct -o out";
    world.check(&[(eval, &[("keys/server.keys", "")])]);
    let [content, signature] = ["", ".minisig"].map(|end| world.sandbox.read(&format!("other/server.keys{end}")));
    let eval = world.call(eval, false);
    world.exchange(&eval, "keys/server.keys", &content, Some(&signature), &["the set of server keys"]);
}

#[test]
fn verbs_of_parties_take_signed_files_alone() {
    let names = ["north", "south"];
    let sandbox = party::with_keys("exchange-parties", &names, "--results 4");
    let call = |call: &str| sandbox.done(&call.split(' ').collect::<Vec<_>>());
    for name in names {
        call(&format!("party share {name} table.ct --yes -o {name}.share"));
    }
    // A table of another owner, and secret keys, which are exempt where they are one's own.
    for keys in ["other", "third"] {
        call(&format!("keygen --out {keys} --integers joint.params"));
    }
    call("encrypt --key other/public.key table.csv -o other/table.ct");
    fs::rename(sandbox.path("third/secret.key"), sandbox.path("keys/secret.key")).expect("renamed");
    fs::remove_dir_all(sandbox.path("third")).expect("removed");
    let messages = |round: usize| party::messages(&names, round).join(" ");
    let combine =
        format!("party combine session {} {} {} {} --out new", messages(1), messages(2), messages(3), messages(4));
    let (session, table) = (("session", ""), ("table.ct", "other/table.ct"));
    World::new(sandbox, "keys/public.key").check(&[
        ("party session joint.params --names north,south --results 4 -o out", &[("joint.params", "")]),
        ("party init session north --out new", &[session]),
        ("party join north south.3 -o out", &[("south.3", "")]),
        (&combine, &[session, ("north.1", ""), ("south.4", "")]),
        ("party share north table.ct --yes -o out", &[table]),
        ("party open session table.ct north.share south.share -o out.csv", &[session, table, ("south.share", "")]),
    ]);
}

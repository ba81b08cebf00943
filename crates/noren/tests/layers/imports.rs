//! The imports of each file of a crate from the others: paths, followed through re-exports to the file that defines.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::Source;
use crate::tokens::{Token, tokens, without_tests};

/// Re-exports of re-exports that are followed at most.
const MAX_STEPS: usize = 16;

/// The files of a crate as modules, by their paths from its root: `["wire", "kind"]`.
pub struct Crate {
    modules: BTreeMap<Vec<String>, Module>,
}

/// A file, and the paths in it, from the root of the crate.
struct Module {
    file: String,
    /// The path of each imported name.
    names: BTreeMap<String, Vec<String>>,
    /// The paths of imports and of the code, and their lines.
    paths: Vec<(usize, Vec<String>)>,
}

/// One file uses what another one defines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    pub from: String,
    pub to: String,
    /// The line, and the path from the root of the crate.
    pub place: String,
}

/// A name that an import brings into a file.
struct Use {
    line: usize,
    words: Vec<String>,
    name: String,
    public: bool,
}

impl Crate {
    /// Reads the files of this crate, a folder below `crates/`.
    pub fn new(sources: &[Source], name: &str) -> Crate {
        let root = format!("{name}/src/");
        let files = sources.iter().filter_map(|source| Some((source.path.strip_prefix(&root)?, source)));
        let files: Vec<_> = files.map(|(path, source)| (module_of(path), source)).collect();
        let known: BTreeSet<_> = files.iter().map(|(module, _)| module.clone()).collect();
        let modules = files.into_iter().map(|(module, source)| {
            let content = Module::new(source, &module, &known);
            (module, content)
        });
        Crate { modules: modules.collect() }
    }

    /// Every use of what another file defines.
    pub fn imports(&self) -> Vec<Import> {
        let mut imports = BTreeSet::new();
        for content in self.modules.values() {
            for (line, path) in &content.paths {
                let Some(to) = self.definition(path, MAX_STEPS) else { continue };
                if to != content.file {
                    let place = format!("{}:{line}: {}", content.file, path.join("::"));
                    imports.insert(Import { from: content.file.clone(), to: to.to_owned(), place });
                }
            }
        }
        imports.into_iter().collect()
    }

    /// The file that defines the item at this path; `None` for a module, and for an item of another crate.
    fn definition(&self, path: &[String], steps: usize) -> Option<&str> {
        let module = (0..=path.len()).rev().find(|&end| self.modules.contains_key(&path[..end]))?;
        let content = &self.modules[&path[..module]];
        let (item, rest) = path[module..].split_first()?;
        match content.names.get(item) {
            Some(import) => self.definition(&[import, rest].concat(), steps.checked_sub(1)?),
            None => Some(&content.file),
        }
    }
}

impl Module {
    fn new(source: &Source, module: &[String], known: &BTreeSet<Vec<String>>) -> Module {
        let tokens = tokens(without_tests(&source.text));
        let mut code = Code {
            tokens: &tokens,
            module,
            inner: Vec::new(),
            template: None,
            depth: 0,
            uses: Vec::new(),
            paths: Vec::new(),
        };
        code.read();
        let Code { uses, paths, .. } = code;
        // A path starts at the root, at this file, at what is around it, at a module below it or at an imported name.
        let imported: BTreeSet<_> = uses.iter().map(|import| import.name.clone()).collect();
        let from_root = |words: &[String], names: &BTreeSet<String>| {
            let first = words.first()?;
            if first == "crate" {
                return Some(words[1..].to_vec());
            }
            let below = [module, &words[..1]].concat();
            (known.contains(&below) || names.contains(first)).then(|| [module, words].concat())
        };
        let none = BTreeSet::new();
        let names = uses.iter().filter_map(|import| Some((import.name.clone(), from_root(&import.words, &none)?)));
        let names: BTreeMap<_, _> = names.collect();
        let said: BTreeSet<_> = paths.iter().flat_map(|(_, words)| words).collect();
        // A face re-exports names and uses none of them.
        let uses = uses.iter().filter(|import| !import.public || said.contains(&import.name));
        let uses = uses.map(|import| (import.line, import.words.clone()));
        let all = uses.chain(paths.iter().cloned());
        let paths = all.filter_map(|(line, words)| Some((line, from_root(&words, &imported)?))).collect();
        Module { file: source.path.clone(), names, paths }
    }
}

/// The module of a file: `wire/kind.rs` is `["wire", "kind"]`, `wire/mod.rs` is `["wire"]`, `lib.rs` the root.
fn module_of(path: &str) -> Vec<String> {
    let words = path.trim_end_matches(".rs").split('/').map(str::to_owned);
    let mut words: Vec<_> = words.collect();
    words.pop_if(|last| ["lib", "main", "mod"].contains(&last.as_str()));
    words
}

/// The imports and paths of a file as its tokens are read.
struct Code<'a> {
    tokens: &'a [Token],
    module: &'a [String],
    /// The depths of braces at which modules within the file start.
    inner: Vec<usize>,
    /// The depth of braces at which the body of a macro starts: its relative paths are those of the place that it expands in.
    template: Option<usize>,
    depth: usize,
    uses: Vec<Use>,
    paths: Vec<(usize, Vec<String>)>,
}

impl Code<'_> {
    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &token.text)
    }

    fn read(&mut self) {
        let mut at = 0;
        while at < self.tokens.len() {
            let name = at + 1 + usize::from(self.text(at + 1) == "$");
            let opens_module = self.text(at) == "mod" && self.text(name + 1) == "{";
            match self.text(at) {
                "use" if self.text(at + 1) != "<" => {
                    let public = at > 0 && ["pub", ")"].contains(&self.text(at - 1));
                    at = self.read_use(at + 1, &[], public);
                    continue;
                }
                "macro_rules" => self.template = self.template.or(Some(self.depth)),
                "mod" if opens_module => self.inner.push(self.depth),
                "{" => self.depth += 1,
                "}" => {
                    self.depth -= 1;
                    self.inner.pop_if(|depth| *depth == self.depth);
                    self.template.take_if(|depth| *depth == self.depth);
                }
                _ if self.tokens[at].is_word() && (at == 0 || self.text(at - 1) != "::") => {
                    at = self.read_path(at);
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Reads the words that `::` joins, and returns the place after them.
    fn read_path(&mut self, start: usize) -> usize {
        let mut words = vec![self.text(start).to_owned()];
        let mut at = start + 1;
        while self.text(at) == "::" && self.tokens.get(at + 1).is_some_and(Token::is_word) {
            words.push(self.text(at + 1).to_owned());
            at += 2;
        }
        self.add_path(self.tokens[start].line, words);
        at
    }

    /// Reads a tree of imports below `prefix`, and returns the place after it.
    fn read_use(&mut self, start: usize, prefix: &[String], public: bool) -> usize {
        let mut words = prefix.to_vec();
        let line = self.tokens[start].line;
        let mut at = start;
        loop {
            match self.text(at) {
                "::" => at += 1,
                "{" => {
                    at += 1;
                    while self.text(at) != "}" {
                        at = self.read_use(at, &words, public);
                        at += usize::from(self.text(at) == ",");
                    }
                    return at + 1;
                }
                "*" => {
                    words.push("*".to_owned());
                    self.add_path(line, words);
                    return at + 1;
                }
                "self" if !prefix.is_empty() && words.len() == prefix.len() => at += 1,
                "as" => {
                    let name = self.text(at + 1).to_owned();
                    self.add_use(line, words, name, public);
                    return at + 2;
                }
                _ if self.tokens[at].is_word() => {
                    words.push(self.text(at).to_owned());
                    at += 1;
                }
                _ => {
                    let name = words.last().cloned().unwrap_or_default();
                    self.add_use(line, words, name, public);
                    return at;
                }
            }
        }
    }

    fn add_path(&mut self, line: usize, words: Vec<String>) {
        if self.template.is_none() || words[0] == "crate" {
            let words = self.anchored(words);
            self.paths.push((line, words));
        }
    }

    fn add_use(&mut self, line: usize, words: Vec<String>, name: String, public: bool) {
        if self.template.is_none() {
            self.uses.push(Use { line, words: self.anchored(words), name, public });
        } else {
            self.add_path(line, words);
        }
    }

    /// The path with `crate` in the place of `self` and `super`.
    fn anchored(&self, words: Vec<String>) -> Vec<String> {
        let up = words.iter().take_while(|word| *word == "super").count();
        if up == 0 && words[0] != "self" {
            return words;
        }
        let rest = &words[up.max(1)..];
        let files_up = up.saturating_sub(self.inner.len());
        let base = &self.module[..self.module.len().saturating_sub(files_up)];
        [&["crate".to_owned()], base, rest].concat()
    }
}

//! Imports between the files of one crate.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::Arrows;
use crate::tree;

/// Most re-exports that an imported name is followed through.
const FOLLOWED: u32 = 16;
/// Keywords of Rust that a definition's name comes after.
const DEFINITIONS: [&str; 9] =
    ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "macro_rules"];

/// A module of a crate: a file, or a part of one in braces.
#[derive(Default)]
struct Module {
    file: PathBuf,
    above: Option<usize>,
    below: BTreeMap<String, usize>,
    defined: BTreeSet<String>,
    imports: Vec<Import>,
    /// Paths in the code of a Rust module, imports apart.
    paths: BTreeSet<Vec<String>>,
    /// Words in the code of a Rust module, imports apart.
    words: BTreeSet<String>,
}

/// One name that an import brings into a module.
struct Import {
    path: Vec<String>,
    /// Name that the import gives in the module; `*` for all names.
    name: String,
    public: bool,
}

/// Target that a path in code leads to.
enum Target {
    Module(usize),
    Item(PathBuf, String),
}

/// Adds the imports of the crate whose root file is `start`.
pub(crate) fn collect(root: &Path, start: &Path, arrows: &mut Arrows) -> Result<(), String> {
    let mut modules = vec![Module { file: start.to_path_buf(), ..Module::default() }];
    Reader { root, modules: &mut modules }.read(0, start)?;
    for (index, module) in modules.iter().enumerate() {
        let used = |import: &&Import| !import.public || module.words.contains(&import.name);
        let imports = module.imports.iter().filter(used).map(|import| &import.path);
        for path in imports.chain(&module.paths) {
            if let Some(Target::Item(file, name)) = resolve(&modules, index, path, 0)
                && file != module.file
            {
                arrows.entry((module.file.clone(), file)).or_default().insert(name);
            }
        }
    }
    Ok(())
}

/// Follows a path from a module to its target; nothing for paths into other crates.
fn resolve(modules: &[Module], from: usize, path: &[String], depth: u32) -> Option<Target> {
    let mut here = from;
    for (step, name) in path.iter().enumerate() {
        let module = modules.get(here)?;
        match name.as_str() {
            "crate" => here = 0,
            "self" => {}
            "super" => here = module.above?,
            "*" => return Some(Target::Item(module.file.clone(), name.clone())),
            _ => match look_up(modules, here, name, step + 1 == path.len(), depth) {
                Some(Target::Module(next)) => here = next,
                None if step > 0 => return Some(Target::Item(module.file.clone(), name.clone())),
                other => return other,
            },
        }
    }
    Some(Target::Module(here))
}

/// Target that a name in a module leads to. The last name of a path is rather an item, others are rather modules.
fn look_up(modules: &[Module], here: usize, name: &str, last: bool, depth: u32) -> Option<Target> {
    let module = modules.get(here)?;
    let below = module.below.get(name).map(|index| Target::Module(*index));
    let item = || {
        if module.defined.contains(name) {
            return Some(Target::Item(module.file.clone(), name.to_owned()));
        }
        let mut wanted = module.imports.iter().filter(|import| import.name == name && depth < FOLLOWED);
        wanted.find_map(|import| resolve(modules, here, &import.path, depth + 1))
    };
    if last { item().or(below) } else { below.or_else(item) }
}

/// A reader of Rust files into modules.
struct Reader<'a> {
    root: &'a Path,
    modules: &'a mut Vec<Module>,
}

impl Reader<'_> {
    fn read(&mut self, here: usize, file: &Path) -> Result<(), String> {
        let stream: TokenStream =
            tree::read(self.root, file)?.parse().map_err(|error| format!("{}: {error}", file.display()))?;
        self.scan(here, file, stream, true)
    }

    /// Notes what tokens of a module define, import and name; `outermost` unless they are inside of an item.
    fn scan(&mut self, here: usize, file: &Path, stream: TokenStream, outermost: bool) -> Result<(), String> {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let mut rest = tokens.as_slice();
        let mut public = false;
        while let [token, after @ ..] = rest {
            rest = match (token.to_string().as_str(), after) {
                ("#", _) => past_attribute(after),
                ("use", _) if !is(after.first(), "<") => {
                    let end = position(after, ";");
                    self.import(here, after.get(..end).unwrap_or_default(), public);
                    after.get(end..).unwrap_or_default()
                }
                ("mod", [TokenTree::Ident(name), TokenTree::Group(inside), after @ ..]) => {
                    let next = self.below(here, name.to_string(), file);
                    self.scan(next, file, inside.stream(), true)?;
                    after
                }
                ("mod", [TokenTree::Ident(name), _, after @ ..]) => {
                    let below = self.file_of(file, &name.to_string())?;
                    let next = self.below(here, name.to_string(), &below);
                    self.read(next, &below)?;
                    after
                }
                (word, _) => match token {
                    TokenTree::Ident(_) => self.code(here, word, after, outermost),
                    TokenTree::Group(inside) => {
                        self.scan(here, file, inside.stream(), false)?;
                        after
                    }
                    _ => after,
                },
            };
            public = is(Some(token), "pub") || matches!(token, TokenTree::Group(_));
        }
        Ok(())
    }

    /// Adds a module named `name` to the module `above`.
    fn below(&mut self, above: usize, name: String, file: &Path) -> usize {
        let next = self.modules.len();
        self.modules.push(Module { file: file.to_path_buf(), above: Some(above), ..Module::default() });
        if let Some(module) = self.modules.get_mut(above) {
            module.below.insert(name, next);
        }
        next
    }

    /// The file of a module that is declared in another one.
    fn file_of(&self, above: &Path, name: &str) -> Result<PathBuf, String> {
        let folder = super::folder(above);
        let places = [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")];
        let found = places.into_iter().find(|place| self.root.join(place).exists());
        found.ok_or_else(|| format!("{}: mod {name} has no file", above.display()))
    }

    fn import(&mut self, here: usize, tree: &[TokenTree], public: bool) {
        let mut found = Vec::new();
        branches(tree, Vec::new(), &mut found);
        if let Some(module) = self.modules.get_mut(here) {
            module.imports.extend(found.into_iter().map(|(path, name)| Import { path, name, public }));
        }
    }

    /// Notes a word of code: a definition, or the beginning of a path, whose other words are skipped.
    fn code<'b>(
        &mut self,
        here: usize,
        word: &str,
        after: &'b [TokenTree],
        outermost: bool,
    ) -> &'b [TokenTree] {
        let Some(module) = self.modules.get_mut(here) else { return after };
        module.words.insert(word.to_owned());
        if outermost && DEFINITIONS.contains(&word) {
            let name = after.iter().find(|token| !is(Some(token), "!"));
            module.defined.extend(name.map(ToString::to_string));
        }
        let mut path = vec![word.to_owned()];
        let mut rest = after;
        while let [one, two, TokenTree::Ident(name), after @ ..] = rest
            && is(Some(one), ":")
            && is(Some(two), ":")
        {
            path.push(name.to_string());
            rest = after;
        }
        if path.len() > 1 {
            module.paths.insert(path);
        }
        rest
    }
}

fn is(token: Option<&TokenTree>, text: &str) -> bool {
    token.is_some_and(|token| !matches!(token, TokenTree::Group(_)) && token.to_string() == text)
}

/// Position of the first token with this text, or the number of tokens if there is none.
fn position(tokens: &[TokenTree], text: &str) -> usize {
    tokens.iter().position(|token| is(Some(token), text)).unwrap_or(tokens.len())
}

/// The tokens after an attribute, and after its item if that is for tests only.
fn past_attribute(rest: &[TokenTree]) -> &[TokenTree] {
    let (TokenTree::Group(inside), after) = (match rest {
        [mark, group, after @ ..] if is(Some(mark), "!") => (group, after),
        [group, after @ ..] => (group, after),
        [] => return rest,
    }) else {
        return rest;
    };
    let text = inside.stream().to_string().replace(' ', "");
    if text != "cfg(test)" && !text.starts_with("cfg(all(test") {
        return after;
    }
    let import = position(after, "use") < 3;
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace && !import,
        other => is(Some(other), ";"),
    };
    let end = after.iter().position(ends).map_or(after.len(), |end| end + 1);
    after.get(end..).unwrap_or_default()
}

/// Every path of an import tree, with the name that it gets.
fn branches(tree: &[TokenTree], mut path: Vec<String>, found: &mut Vec<(Vec<String>, String)>) {
    let mut name = None;
    for (index, token) in tree.iter().enumerate() {
        match (token, token.to_string().as_str()) {
            (TokenTree::Group(inside), _) => {
                let tokens: Vec<TokenTree> = inside.stream().into_iter().collect();
                for branch in tokens.split(|token| is(Some(token), ",")) {
                    branches(branch, path.clone(), found);
                }
                return;
            }
            (_, "as") => name = tree.get(index + 1).map(ToString::to_string),
            (_, "self") if !path.is_empty() => {}
            (_, ":" | "$") => {}
            (_, word) if name.is_none() => path.push(word.to_owned()),
            _ => {}
        }
    }
    if let (false, Some(last)) = (tree.is_empty(), path.last().cloned()) {
        found.push((path, name.unwrap_or(last)));
    }
}

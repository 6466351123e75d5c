//! Import cycles: files that import one another, if they are in folders of which neither contains
//! the other.
//!
//! Two files of one folder may know each other, and so may a folder and its own subfolder. A cycle
//! over two other folders means that neither can be read, moved or tested without the other.
//!
//! An import leads to the file that defines the name: a re-export is followed, and is no import
//! itself. Code for tests and the arguments of macros are not read.

use std::collections::{BTreeSet, HashMap};

use syn::visit::{self, Visit};

use crate::{none_of, tree::Tree};

/// A name that a file imports, by its path from the root of a crate.
#[derive(Clone, Debug)]
struct Import {
    /// The crate's name as in code, then modules, then the item; `*` for all of a module.
    path: Vec<String>,
    /// The name that it has in this file.
    alias: String,
    is_public: bool,
}

/// A source file as the imports of others see it.
#[derive(Debug, Default)]
struct Source {
    path: String,
    /// The crate's name as in code, then the modules down to this file.
    module: Vec<String>,
    imports: Vec<Import>,
    /// Paths in code, as written.
    paths: Vec<Vec<String>>,
    /// Names that the file defines at its top level.
    defined: BTreeSet<String>,
    /// Modules that it declares in files of their own.
    children: Vec<String>,
}

/// Reads the items of one file.
struct Reader<'s> {
    source: &'s mut Source,
    /// Modules that are open inside the file.
    inline: Vec<String>,
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let tokens = match &attribute.meta {
            syn::Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string(),
            _ => return attribute.path().is_ident("test"),
        };
        tokens
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| word == "test")
    })
}

fn leaves(tree: &syn::UseTree, before: &mut Vec<String>, found: &mut Vec<(Vec<String>, String)>) {
    let mut leaf = |before: &[String], name: String, alias: String| {
        let mut path = before.to_vec();
        if name != "self" {
            path.push(name);
        }
        let alias = if alias == "self" {
            path.last().cloned().unwrap_or_default()
        } else {
            alias
        };
        found.push((path, alias));
    };
    match tree {
        syn::UseTree::Path(path) => {
            before.push(path.ident.to_string());
            leaves(&path.tree, before, found);
            before.pop();
        }
        syn::UseTree::Name(name) => leaf(before, name.ident.to_string(), name.ident.to_string()),
        syn::UseTree::Rename(name) => leaf(before, name.ident.to_string(), name.rename.to_string()),
        syn::UseTree::Glob(_) => leaf(before, "*".to_owned(), "*".to_owned()),
        syn::UseTree::Group(group) => {
            for tree in &group.items {
                leaves(tree, before, found);
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let (name, attributes) = match item {
            syn::Item::Const(item) => (Some(&item.ident), &item.attrs),
            syn::Item::Enum(item) => (Some(&item.ident), &item.attrs),
            syn::Item::Fn(item) => (Some(&item.sig.ident), &item.attrs),
            syn::Item::Mod(item) => (None, &item.attrs),
            syn::Item::Static(item) => (Some(&item.ident), &item.attrs),
            syn::Item::Struct(item) => (Some(&item.ident), &item.attrs),
            syn::Item::Trait(item) => (Some(&item.ident), &item.attrs),
            syn::Item::Type(item) => (Some(&item.ident), &item.attrs),
            syn::Item::Use(item) => (None, &item.attrs),
            syn::Item::Impl(item) => (None, &item.attrs),
            _ => return,
        };
        if is_for_tests(attributes) {
            return;
        }
        if let Some(name) = name {
            self.source.defined.insert(name.to_string());
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.content.is_none() {
            self.source.children.push(item.ident.to_string());
            return;
        }
        self.inline.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.inline.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut found = Vec::new();
        leaves(&item.tree, &mut Vec::new(), &mut found);
        let is_public = !matches!(item.vis, syn::Visibility::Inherited);
        for (path, alias) in found {
            self.source.imports.push(Import {
                path,
                alias,
                is_public,
            });
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments = path.segments.iter();
        self.source
            .paths
            .push(segments.map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    // `pub(in crate::x)` names a module and imports nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

/// All files of the workspace's crates, by their module paths.
struct Sources {
    files: Vec<Source>,
    by_module: HashMap<Vec<String>, usize>,
}

impl Sources {
    /// Reads the files that `lib.rs` or `main.rs` of each crate leads to.
    fn read(roots: Vec<(String, String)>, text: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut sources = Self {
            files: Vec::new(),
            by_module: HashMap::new(),
        };
        let mut open: Vec<_> = roots
            .into_iter()
            .map(|(name, path)| (vec![name], path))
            .collect();
        while let Some((module, path)) = open.pop() {
            let Some(code) = text(&path) else { continue };
            let mut source = Source {
                path: path.clone(),
                module: module.clone(),
                ..Source::default()
            };
            let file = syn::parse_file(&code).unwrap_or_else(|error| panic!("{path}: {error}"));
            Reader {
                source: &mut source,
                inline: Vec::new(),
            }
            .visit_file(&file);
            let folder = match path.rsplit_once('/') {
                Some((folder, "lib.rs" | "main.rs" | "mod.rs")) => folder.to_owned(),
                _ => path.trim_end_matches(".rs").to_owned(),
            };
            for child in &source.children {
                let module = [module.clone(), vec![child.clone()]].concat();
                let candidates = [
                    format!("{folder}/{child}.rs"),
                    format!("{folder}/{child}/mod.rs"),
                ];
                let there = candidates.into_iter().find(|path| text(path).is_some());
                open.extend(there.map(|path| (module, path)));
            }
            sources.by_module.insert(module, sources.files.len());
            sources.files.push(source);
        }
        sources
    }

    /// Returns a path of a file from the root of a crate of ours, or nothing for foreign ones.
    fn absolute(&self, file: usize, path: &[String]) -> Option<Vec<String>> {
        let module = &self.files[file].module;
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some([&module[..1], rest].concat()),
            "self" | "super" => {
                let ups = path
                    .iter()
                    .take_while(|name| *name == "super" || *name == "self");
                let (given, up) = ups.fold((0, 0), |(given, up), name| {
                    (given + 1, up + usize::from(name == "super"))
                });
                let base = module.get(..module.len().checked_sub(up)?)?;
                Some([base, &path[given..]].concat())
            }
            name if self.by_module.contains_key(&vec![name.to_owned()]) => Some(path.to_vec()),
            name => {
                let child = [module.clone(), vec![name.to_owned()]].concat();
                self.by_module
                    .contains_key(&child)
                    .then(|| [&module[..], path].concat())
            }
        }
    }

    /// Returns the file that defines what a path from the root of a crate names.
    fn definition(&self, path: &[String], depth: usize) -> Option<usize> {
        let (length, file) = (1..=path.len())
            .rev()
            .find_map(|length| Some((length, *self.by_module.get(&path[..length])?)))?;
        let Some(name) = path.get(length).filter(|name| *name != "*") else {
            return Some(file);
        };
        let source = &self.files[file];
        if depth == 0 || source.defined.contains(name) {
            return Some(file);
        }
        let follow = |import: &Import, name: &str| {
            let mut target = self.absolute(file, &import.path)?;
            if target.last().is_some_and(|last| last == "*") {
                target.pop();
                target.push(name.to_owned());
            }
            target.extend(path[length + 1..].iter().cloned());
            Some(target)
        };
        if let Some(import) = source.imports.iter().find(|import| import.alias == *name) {
            let target = follow(import, name)?;
            return self.definition(&target, depth - 1);
        }
        let globs = source.imports.iter().filter(|import| import.alias == "*");
        globs
            .filter_map(|import| self.definition(&follow(import, name)?, depth - 1))
            .find(|found| self.files[*found].defined.contains(name))
            .or(Some(file))
    }

    /// Returns the files that each file imports.
    fn edges(&self) -> Vec<BTreeSet<usize>> {
        let mut edges = vec![BTreeSet::new(); self.files.len()];
        for (file, source) in self.files.iter().enumerate() {
            let used: BTreeSet<&str> = source
                .paths
                .iter()
                .filter_map(|path| path.first())
                .map(String::as_str)
                .collect();
            let mut modules = HashMap::new();
            let mut targets = Vec::new();
            for import in &source.imports {
                let Some(path) = self.absolute(file, &import.path) else {
                    continue;
                };
                if self.by_module.contains_key(&path) {
                    modules.insert(import.alias.as_str(), path);
                } else if !import.is_public || used.contains(import.alias.as_str()) {
                    targets.push(path);
                }
            }
            for path in source.paths.iter().filter(|path| path.len() > 1) {
                targets.extend(match modules.get(path[0].as_str()) {
                    Some(module) => Some([module, &path[1..]].concat()),
                    None => self.absolute(file, path),
                });
            }
            edges[file] = targets
                .iter()
                .filter_map(|path| self.definition(path, 8))
                .collect();
            edges[file].remove(&file);
        }
        edges
    }
}

/// Returns groups of files that reach one another.
fn cycles(edges: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    fn order(at: usize, edges: &[BTreeSet<usize>], seen: &mut [bool], done: &mut Vec<usize>) {
        let mut stack = vec![(at, edges[at].iter())];
        seen[at] = true;
        while let Some((node, next)) = stack.last_mut() {
            if let Some(to) = next.find(|to| !seen[**to]) {
                seen[*to] = true;
                stack.push((*to, edges[*to].iter()));
            } else {
                done.push(*node);
                stack.pop();
            }
        }
    }
    let mut backward = vec![BTreeSet::new(); edges.len()];
    for (from, to) in edges
        .iter()
        .enumerate()
        .flat_map(|(from, tos)| tos.iter().map(move |to| (from, *to)))
    {
        backward[to].insert(from);
    }
    let (mut seen, mut done) = (vec![false; edges.len()], Vec::new());
    for node in 0..edges.len() {
        if !seen[node] {
            order(node, edges, &mut seen, &mut done);
        }
    }
    let (mut seen, mut groups) = (vec![false; edges.len()], Vec::new());
    for node in done.into_iter().rev() {
        if !seen[node] {
            let mut group = Vec::new();
            order(node, &backward, &mut seen, &mut group);
            groups.push(group);
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the cycles that span two folders of which neither contains the other.
fn findings(sources: &Sources) -> Vec<String> {
    let contains = |outer: &str, inner: &str| {
        inner
            .strip_prefix(outer)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let edges = sources.edges();
    let mut findings = Vec::new();
    for group in cycles(&edges) {
        let folders: BTreeSet<&str> = group
            .iter()
            .map(|file| folder(&sources.files[*file].path))
            .collect();
        let apart = |one: &&str| {
            folders
                .iter()
                .any(|other| !contains(one, other) && !contains(other, one))
        };
        if !folders.iter().any(apart) {
            continue;
        }
        let mut arrows = BTreeSet::new();
        for from in &group {
            for to in edges[*from].iter().filter(|to| group.contains(to)) {
                let (from, to) = (&sources.files[*from].path, &sources.files[*to].path);
                if folder(from) != folder(to) {
                    arrows.insert((from, to));
                }
            }
        }
        let arrows: Vec<String> = arrows
            .iter()
            .map(|(from, to)| format!("  {from} imports {to}"))
            .collect();
        findings.push(format!(
            "{} files import one another over folders:\n{}",
            group.len(),
            arrows.join("\n")
        ));
    }
    findings
}

#[test]
fn no_import_cycle_spans_two_folders() {
    let tree = Tree::read();
    let mut roots = Vec::new();
    for name in tree.names_in("crates") {
        let code_name = name.replace('-', "_");
        let library = format!("crates/{name}/src/lib.rs");
        let program = format!("crates/{name}/src/main.rs");
        if tree.has(&library) {
            roots.push((code_name, library));
        } else if tree.has(&program) {
            roots.push((code_name, program));
        }
    }
    let text = |path: &str| tree.has(path).then(|| tree.text(path));
    none_of(&findings(&Sources::read(roots, &text)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let text = |path: &str| {
            let file = files.iter().find(|(name, _)| *name == path);
            file.map(|(_, text)| (*text).to_owned())
        };
        let roots = vec![("a".to_owned(), "a/lib.rs".to_owned())];
        findings(&Sources::read(roots, &text))
    }

    #[test]
    fn a_cycle_over_two_folders_is_found_through_a_re_export() {
        let files = [
            ("a/lib.rs", "mod one; mod two;"),
            ("a/one/mod.rs", "mod part; pub use part::Part;"),
            (
                "a/one/part.rs",
                "use crate::two::Other; pub struct Part(Other);",
            ),
            ("a/two/mod.rs", "mod other; pub use other::Other;"),
            (
                "a/two/other.rs",
                "pub struct Other; impl Other { const PART: Option<crate::one::Part> = None; }",
            ),
        ];
        let found = found(&files);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains("a/two/other.rs imports a/one/part.rs"),
            "{found:?}"
        );
    }

    #[test]
    fn one_folder_its_subfolder_and_code_for_tests_are_let_through() {
        let files = [
            ("a/lib.rs", "mod one; mod two;"),
            (
                "a/one/mod.rs",
                "pub mod below; pub struct Up; pub use self::below::Down;",
            ),
            ("a/one/below.rs", "use super::Up; pub struct Down(Up);"),
            (
                "a/two/mod.rs",
                "pub struct Low; #[cfg(test)] mod tests { use crate::one::Up; }",
            ),
            ("a/one/unread.rs", ""),
        ];
        assert_eq!(found(&files), Vec::<String>::new());
    }
}

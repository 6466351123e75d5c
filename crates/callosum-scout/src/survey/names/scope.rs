//! [`Scope`]: the names that a file has at its top level, and where its imports lead.
//!
//! Start with [`Scope::of`]. [`Resolved`] holds what the imports of every file mean.

use std::collections::HashMap;

use callosum_source::{
    language::Language,
    outline::{Binding, Import, ImportKind, Purpose, Symbol, SymbolKind},
    resolve::{Resolver, Target},
};

use crate::survey::file::SurveyedFile;

/// The meanings of the imports of every file.
pub(in crate::survey) struct Resolved<'a> {
    pub(in crate::survey) resolver: &'a Resolver<'a>,
    /// The index among the surveyed files of each file that the resolver knows; `None` outside of
    /// the requested part.
    pub(in crate::survey) places: &'a [Option<usize>],
    /// For each file, what each of its imports means.
    pub(in crate::survey) targets: &'a [Vec<Target>],
    /// The same for Rust: how many parts of the path name items.
    pub(in crate::survey) left: &'a [Vec<usize>],
}

impl Resolved<'_> {
    /// The target with the file's place among the surveyed files.
    pub(in crate::survey) fn placed(&self, target: Target) -> Target {
        placed(self.places, target)
    }
}

/// A target of the resolver with the file's place among the surveyed files.
pub(in crate::survey) fn placed(places: &[Option<usize>], target: Target) -> Target {
    match target {
        Target::File(at) => places[at].map_or(Target::Unknown, Target::File),
        other => other,
    }
}

/// A file, and a path of names that begins there; the file as a whole if that is empty.
#[derive(Clone, Debug)]
pub(super) struct Meaning<'a> {
    pub(super) file: usize,
    pub(super) rest: Vec<&'a str>,
}

impl<'a> Meaning<'a> {
    /// Returns the path of names from the file to `rest` of this.
    pub(super) fn path_to(&self, rest: &[&'a str]) -> Vec<&'a str> {
        self.rest.iter().chain(rest).copied().collect()
    }
}

/// The top level of a file.
#[derive(Default)]
pub(super) struct Scope<'a> {
    /// Its declarations outside of types; the first of several of one name.
    pub(super) own: HashMap<&'a str, &'a Symbol>,
    /// The names that it exports, in JavaScript and TypeScript, with its own names for them.
    pub(super) exports: HashMap<&'a str, &'a str>,
    /// The names that its imports introduce; `None` for targets outside of the tree.
    bound: HashMap<&'a str, Option<Meaning<'a>>>,
    /// The first purpose of the imports that introduce each name.
    purposes: HashMap<&'a str, Purpose>,
    /// The re-exports that introduce no local name.
    pub(super) passed_on: HashMap<&'a str, Meaning<'a>>,
    /// The files that it imports by a glob.
    pub(super) globs: Vec<usize>,
}

impl<'a> Scope<'a> {
    pub(super) fn of(files: &'a [SurveyedFile], at: usize, resolved: &Resolved<'a>) -> Self {
        let file = &files[at];
        let mut scope = Self::default();
        let symbols = file.outline.symbols.iter();
        for symbol in symbols.filter(|symbol| symbol.container.is_none() && !symbol.test) {
            let kept = scope.own.entry(&symbol.name).or_insert(symbol);
            // A module with a body may share its name with a function, and a private interface with an
            // exported constant.
            if kept.kind == SymbolKind::Module
                || is_script(file.language) && symbol.public && !kept.public
            {
                *kept = symbol;
            }
        }
        for export in &file.outline.exports {
            scope.exports.entry(&export.name).or_insert(&export.local);
        }
        let mut imports: Vec<usize> = (0..file.outline.imports.len()).collect();
        // Names that a type checker or tests import hide no name of the code itself.
        imports.sort_by_key(|import| file.outline.imports[*import].purpose);
        for index in imports {
            scope.import(files, at, index, resolved);
        }
        scope
    }

    /// Returns the meaning of a local name that an import introduces.
    pub(super) fn bound(&self, local: &str) -> Option<&Meaning<'a>> {
        self.bound.get(local)?.as_ref()
    }

    /// Whether an import introduces a local name, from wherever.
    pub(super) fn binds(&self, local: &str) -> bool {
        self.bound.contains_key(local)
    }

    /// Returns when a local name is there: an import for a type checker introduces nothing at run time.
    pub(super) fn purpose_of(&self, local: &str) -> Purpose {
        self.purposes.get(local).copied().unwrap_or_default()
    }

    fn import(
        &mut self,
        files: &'a [SurveyedFile],
        at: usize,
        index: usize,
        resolved: &Resolved<'a>,
    ) {
        let file = &files[at];
        let import = &file.outline.imports[index];
        let target = &resolved.targets[at][index];
        let is_script = is_script(file.language);
        if is_glob(file.language, import) {
            // The last part is the `*`. What is left besides is a type, whose variants are no
            // declarations of their own.
            let is_module = resolved.left[at][index] <= 1;
            if let (Target::File(to), true) = (target, is_module) {
                self.globs.push(*to);
            }
            return;
        }
        if let (Some(Language::Rust), ImportKind::DeclareModule, Target::File(to)) =
            (file.language, import.kind, target)
        {
            let meaning = Meaning {
                file: *to,
                rest: Vec::new(),
            };
            self.bound.entry(&import.target).or_insert(Some(meaning));
        }
        for binding in &import.bindings {
            let meaning = Self::meaning_in(files, at, import, binding, resolved);
            if is_script && import.kind == ImportKind::ReExport {
                if let Some(meaning) = meaning {
                    self.passed_on.entry(&binding.local).or_insert(meaning);
                }
                continue;
            }
            for (local, meaning) in whole_path(resolved, file, import, binding, meaning) {
                self.purposes.entry(local).or_insert(import.purpose);
                let known = self.bound.entry(local).or_insert(None);
                if known.is_none() {
                    *known = meaning;
                }
            }
        }
    }

    /// Returns the meaning of one name of an import; `None` for targets outside of the tree.
    pub(super) fn meaning_in(
        files: &'a [SurveyedFile],
        at: usize,
        import: &'a Import,
        binding: &'a Binding,
        resolved: &Resolved<'a>,
    ) -> Option<Meaning<'a>> {
        let file = &files[at];
        let index = file
            .outline
            .imports
            .iter()
            .position(|other| std::ptr::eq(other, import))?;
        let target = &resolved.targets[at][index];
        let name = (!binding.name.is_empty()).then_some(binding.name.as_str());
        match file.language? {
            Language::Python => {
                let module = resolved.resolver.resolve_name(&file.path, import, None);
                let module = resolved.placed(module);
                let Some(name) = name else {
                    return whole(&module);
                };
                let part = resolved
                    .resolver
                    .resolve_name(&file.path, import, Some(name));
                let part = resolved.placed(part);
                match (module, part) {
                    // The name may be a module of the package: that is looked for later.
                    (Target::File(module), _) if module != at => Some(Meaning {
                        file: module,
                        rest: vec![name],
                    }),
                    (_, part @ Target::File(_)) if whole(&part).is_some_and(|of| of.file != at) => {
                        whole(&part)
                    }
                    _ => None,
                }
            }
            Language::Rust => {
                let Target::File(to) = target else {
                    return None;
                };
                let left = resolved.left[at][index];
                Some(Meaning {
                    file: *to,
                    rest: last_parts(&import.target, "::", left),
                })
            }
            _ => {
                let mut meaning = whole(target)?;
                meaning.rest.extend(name);
                Some(meaning)
            }
        }
    }
}

/// The names that an import introduces: of Python's `import a.b` also `a`.
fn whole_path<'a>(
    resolved: &Resolved<'a>,
    file: &'a SurveyedFile,
    import: &'a Import,
    binding: &'a Binding,
    meaning: Option<Meaning<'a>>,
) -> Vec<(&'a str, Option<Meaning<'a>>)> {
    let mut names = vec![(binding.local.as_str(), meaning)];
    if file.language == Some(Language::Python) && binding.local.contains('.') {
        for (end, _) in binding.local.match_indices('.') {
            let local = &binding.local[..end];
            let mut outer = import.clone();
            local.clone_into(&mut outer.target);
            let target = resolved.resolver.resolve_name(&file.path, &outer, None);
            names.push((local, whole(&resolved.placed(target))));
        }
    }
    names
}

fn whole<'a>(target: &Target) -> Option<Meaning<'a>> {
    match target {
        Target::File(file) => Some(Meaning {
            file: *file,
            rest: Vec::new(),
        }),
        _ => None,
    }
}

/// Returns whether an import takes all names of its target.
fn is_glob(language: Option<Language>, import: &Import) -> bool {
    let names_all = import.names.iter().any(|name| name == "*");
    if is_script(language) {
        // `import * as a` is a name for the module.
        return import.kind == ImportKind::ReExport && import.bindings.is_empty();
    }
    import.target.ends_with('*') || names_all
}

pub(super) fn is_script(language: Option<Language>) -> bool {
    matches!(
        language,
        Some(Language::JavaScript | Language::TypeScript | Language::Tsx)
    )
}

/// Whether a file only declares types, for a script or for nothing that runs.
pub(in crate::survey) fn is_declaration(path: &str) -> bool {
    [".d.ts", ".d.mts", ".d.cts"]
        .iter()
        .any(|ending| path.ends_with(ending))
}

/// The last `count` parts of a path.
pub(super) fn last_parts<'a>(path: &'a str, separator: &str, count: usize) -> Vec<&'a str> {
    let mut parts: Vec<&str> = path.rsplit(separator).take(count).collect();
    parts.reverse();
    parts
}

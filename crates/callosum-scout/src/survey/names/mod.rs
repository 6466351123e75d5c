//! [`Names`]: declaration that each name in code refers to.
//!
//! Start with [`Names::of`]. A name refers to a declaration only through an import, a path, a
//! receiver that is an imported module, or the rules by which files of one package see each other.
//! Equal spelling alone proves nothing: `Date.now()` is not the `now` of another file. A name that
//! cannot be followed to its declaration is left out, so that the result is a lower bound.
//!
//! [`modules`] has the rules of Python, JavaScript and TypeScript, [`rust`] those of Rust, and
//! [`packages`] those of Go, Java, C and C++, where files see each other without naming each other.

#[cfg(test)]
mod export_tests;
mod modules;
mod packages;
mod rust;
mod scope;
#[cfg(test)]
mod tests;

use std::{cell::RefCell, collections::HashMap};

use callosum_source::{
    language::Language,
    outline::{Purpose, Symbol, Use},
};

pub(super) use self::scope::{Resolved, is_declaration, placed};
use self::{
    packages::Shared,
    scope::{Scope, is_script},
};
use super::file::SurveyedFile;

/// The number of re-exports that are followed for one name at most.
const LONGEST_CHASE: usize = 12;

/// A file using what a file declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NameUse {
    /// The file that uses it.
    pub(crate) from: usize,
    /// The file that declares it.
    pub(crate) to: usize,
    /// The declared name, which an import may have renamed.
    pub(crate) name: Box<str>,
    /// The line of the first use, in `from`.
    pub(crate) line: u32,
    /// The line of the last use.
    pub(crate) last_line: u32,
    /// When it is needed.
    pub(crate) purpose: Purpose,
}

/// The target of a name: the file that declares it, and the declaration if that is known.
#[derive(Clone, Copy, Debug)]
struct Landing<'a> {
    file: usize,
    symbol: Option<&'a Symbol>,
}

/// The targets of paths through globs, by file and path.
type GlobLandings<'a> = HashMap<(usize, Vec<&'a str>), Option<Landing<'a>>>;

/// The meanings of the names in every file.
pub(super) struct Names<'a> {
    files: &'a [SurveyedFile],
    resolved: &'a Resolved<'a>,
    scopes: Vec<Scope<'a>>,
    shared: Shared<'a>,
    /// Results of look-ups through globs. Each is computed once, so that files with globs of each other
    /// neither loop nor multiply the work.
    through_globs: RefCell<GlobLandings<'a>>,
}

impl<'a> Names<'a> {
    /// Reads the imports and declarations of every file.
    pub(super) fn of(files: &'a [SurveyedFile], resolved: &'a Resolved<'a>) -> Self {
        let scopes = (0..files.len())
            .map(|at| Scope::of(files, at, resolved))
            .collect();
        Self {
            files,
            resolved,
            scopes,
            shared: Shared::of(files),
            through_globs: RefCell::new(HashMap::new()),
        }
    }

    /// Returns every use that can be followed to its declaration, in order of the files.
    pub(super) fn uses(&self) -> Vec<NameUse> {
        let mut uses = Vec::new();
        for at in 0..self.files.len() {
            self.uses_of(at, &mut uses);
        }
        uses
    }

    fn uses_of(&self, at: usize, uses: &mut Vec<NameUse>) {
        let file = &self.files[at];
        let Some(language) = file.language else {
            return;
        };
        let mut add = |landing: Landing<'a>, line, last_line, purpose| {
            if let Some(symbol) = landing.symbol {
                let purpose = purpose_in(&self.files[landing.file], purpose);
                uses.push(NameUse {
                    from: at,
                    to: landing.file,
                    name: symbol.name.as_str().into(),
                    line,
                    last_line,
                    purpose,
                });
            }
        };
        for import in &file.outline.imports {
            for binding in &import.bindings {
                // Each import is followed by itself: functions of a file may import under one name.
                let meant = Scope::meaning_in(self.files, at, import, binding, self.resolved);
                if let Some(meant) = meant {
                    let landing = self.land(meant.file, &meant.rest, LONGEST_CHASE);
                    add(landing, import.line, import.line, import.purpose);
                }
            }
        }
        for used in &file.outline.uses {
            let landing = match language {
                Language::Rust => self.rust_use(at, used),
                Language::Python | Language::JavaScript | Language::TypeScript | Language::Tsx => {
                    self.module_use(at, used)
                }
                Language::Go => self.go_use(at, used),
                Language::Java => self.java_use(at, used),
                Language::C | Language::Cpp => self.c_use(at, used),
            };
            if let Some(landing) = landing {
                // A name imported for a type checker is not there when the program runs.
                let is_module = matches!(language, Language::Python) || is_script(file.language);
                let purpose = match parts(used, ".").first() {
                    Some(head) if is_module => used.purpose.max(self.scopes[at].purpose_of(head)),
                    _ => used.purpose,
                };
                add(landing, used.line, used.last_line, purpose);
            }
        }
    }

    /// Returns the files that an import leads to: those that declare the names it takes, and the
    /// imported module for what cannot be followed. `None` if the language has no such names.
    pub(super) fn destinations(&self, at: usize, import: usize) -> Option<Vec<usize>> {
        let file = &self.files[at];
        let import = &file.outline.imports[import];
        match file.language? {
            Language::Go => self.go_destinations(at, import),
            Language::Rust | Language::C | Language::Cpp => None,
            // What is used of a package says which of its files are meant.
            Language::Java if import.bindings.is_empty() => Some(Vec::new()),
            _ if import.bindings.is_empty() => None,
            _ => {
                let bound = import.bindings.iter();
                let landings = bound.filter_map(|binding| {
                    // A name that two imports introduce is followed from each of them.
                    let meant = Scope::meaning_in(self.files, at, import, binding, self.resolved)?;
                    Some(self.land(meant.file, &meant.rest, LONGEST_CHASE).file)
                });
                let mut files: Vec<usize> = landings.collect();
                files.sort_unstable();
                files.dedup();
                (!files.is_empty()).then_some(files)
            }
        }
    }

    /// Follows a local name that an import of a file introduces.
    fn bound(&self, at: usize, local: &str) -> Option<Landing<'a>> {
        let meant = self.scopes[at].bound(local)?;
        Some(self.land(meant.file, &meant.rest, LONGEST_CHASE))
    }

    /// Follows a path of names from a file: `["a", "b"]` is `b` of its `a`.
    fn land(&self, file: usize, path: &[&'a str], steps: usize) -> Landing<'a> {
        let nowhere = Landing { file, symbol: None };
        let (Some(language), Some(steps)) = (self.files[file].language, steps.checked_sub(1))
        else {
            return nowhere;
        };
        let found = match language {
            Language::Rust => self.land_in_rust(file, path, steps),
            Language::Python => self.land_in_python(file, path, steps),
            Language::JavaScript | Language::TypeScript | Language::Tsx => {
                self.land_in_script(file, path, steps)
            }
            Language::Java => self.land_in_java(file, path),
            Language::Go | Language::C | Language::Cpp => None,
        };
        found.unwrap_or(nowhere)
    }

    /// Follows a path of names whose first an import introduces, unless the import leads back to the
    /// same path.
    fn land_through_import(
        &self,
        file: usize,
        path: &[&'a str],
        steps: usize,
    ) -> Option<Landing<'a>> {
        let (name, rest) = path.split_first()?;
        let meant = self.scopes[file].bound(name)?;
        let path = meant.path_to(rest);
        let leads_back = meant.file == file && path.as_slice() == [*name];
        (!leads_back).then(|| self.land(meant.file, &path, steps))
    }

    /// The declaration of a file's own name.
    fn own(&self, file: usize, name: &str) -> Option<Landing<'a>> {
        let symbol = self.scopes[file].own.get(name).copied()?;
        Some(Landing {
            file,
            symbol: Some(symbol),
        })
    }

    /// Follows a name through what a file takes whole from others.
    fn through_globs(&self, file: usize, path: &[&'a str], steps: usize) -> Option<Landing<'a>> {
        let globs = &self.scopes[file].globs;
        if globs.is_empty() {
            return None;
        }
        let key = (file, path.to_vec());
        if let Some(known) = self.through_globs.borrow().get(&key) {
            return *known;
        }
        self.through_globs.borrow_mut().insert(key.clone(), None);
        let landings: Vec<(usize, Landing<'a>)> = globs
            .iter()
            .filter(|taken| **taken != file)
            .map(|taken| (*taken, self.land(*taken, path, steps)))
            .collect();
        let declared = landings.iter().find(|(_, to)| to.symbol.is_some());
        // A name for a module is no declaration, but leads out of the file that is taken whole.
        let module = || landings.iter().find(|(taken, to)| to.file != *taken);
        let found = declared.or_else(module).map(|(_, landing)| *landing);
        self.through_globs.borrow_mut().insert(key, found);
        found
    }
}

/// When code needs something of a file: a declaration file never runs.
pub(super) fn purpose_in(file: &SurveyedFile, purpose: Purpose) -> Purpose {
    if is_declaration(&file.path) {
        return purpose.max(Purpose::Types);
    }
    purpose
}

/// A path in front of a name, and the name, as parts.
fn parts<'a>(used: &'a Use, separator: &str) -> Vec<&'a str> {
    let qualifier = used.qualifier.split(separator);
    let qualifier = qualifier.filter(|part| !part.is_empty());
    qualifier
        .chain(std::iter::once(used.name.trim_end_matches('!')))
        .collect()
}

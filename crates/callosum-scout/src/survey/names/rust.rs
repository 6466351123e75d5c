//! Names of Rust: paths through modules, what `use` brings in, and macros of the crate.

use callosum_source::{
    outline::{SymbolKind, Use},
    resolve::Target,
};

use super::{LONGEST_CHASE, Landing, Names, parts, scope::last_parts};

impl<'a> Names<'a> {
    /// Follows a name or path in code.
    pub(super) fn rust_use(&self, at: usize, used: &'a Use) -> Option<Landing<'a>> {
        let is_macro = used.name.ends_with('!');
        let path = parts(used, "::");
        let (head, rest) = path.split_first()?;
        let scope = &self.scopes[at];
        if let Some(symbol) = scope.own.get(head) {
            if symbol.kind != SymbolKind::Module {
                return self.own(at, head);
            }
            return Some(self.land(at, rest, LONGEST_CHASE));
        }
        if scope.binds(head) {
            let meant = scope.bound(head)?;
            let path = meant.path_to(rest);
            return Some(self.land(meant.file, &path, LONGEST_CHASE));
        }
        if rest.is_empty() {
            if is_macro {
                return self.shared.macro_in_crate(at, head);
            }
            return self.through_globs(at, &path, LONGEST_CHASE);
        }
        let file = &self.files[at];
        let (target, left) = self.resolved.resolver.follow(&file.path, &used.qualifier);
        match self.resolved.placed(target) {
            Target::File(to) => {
                let mut path = last_parts(&used.qualifier, "::", left);
                path.push(used.name.trim_end_matches('!'));
                Some(self.land(to, &path, LONGEST_CHASE))
            }
            // `Kind::A` of a type that a glob brings in.
            Target::Unknown => self.through_globs(at, &path, LONGEST_CHASE),
            Target::Package(_) | Target::Standard => None,
        }
    }

    /// A path of names in a Rust module.
    pub(super) fn land_in_rust(
        &self,
        file: usize,
        path: &[&'a str],
        steps: usize,
    ) -> Option<Landing<'a>> {
        let (name, rest) = path.split_first()?;
        let scope = &self.scopes[file];
        if let Some(symbol) = scope.own.get(name) {
            if symbol.kind == SymbolKind::Module && !rest.is_empty() {
                return Some(self.land(file, rest, steps));
            }
            return self.own(file, name);
        }
        if let Some(imported) = self.land_through_import(file, path, steps) {
            return Some(imported);
        }
        // What comes from outside under this name is no file's of the tree.
        if scope.binds(name) {
            return None;
        }
        self.through_globs(file, path, steps)
            .or_else(|| self.shared.exported_macro(file, name))
    }
}

//! Names of Python, JavaScript and TypeScript: each file is a module with names of its own.

use callosum_source::{language::Language, outline::Use};

use super::{
    LONGEST_CHASE, Landing, Names, parts,
    scope::{is_declaration, is_script},
};

impl<'a> Names<'a> {
    /// Follows a name in code: its first part is imported, declared in the file, or taken whole
    /// from another module. Anything else is a global of the language or unknown.
    pub(super) fn module_use(&self, at: usize, used: &'a Use) -> Option<Landing<'a>> {
        let scope = &self.scopes[at];
        let path = parts(used, ".");
        // `import a.b` makes `a.b` a name.
        let longest = (1..=path.len()).rev().find_map(|end| {
            let local = match end {
                1 => path[0].to_owned(),
                end if self.files[at].language == Some(Language::Python) => path[..end].join("."),
                _ => return None,
            };
            scope.binds(&local).then_some((local, end))
        });
        if let Some((local, end)) = longest {
            let meant = scope.bound(&local)?;
            let rest = meant.path_to(&path[end..]);
            if rest.is_empty() && is_script(self.files[at].language) {
                return self.value_of_module(meant.file, LONGEST_CHASE);
            }
            return Some(self.land(meant.file, &rest, LONGEST_CHASE));
        }
        if let Some(own) = self.own(at, path[0]) {
            return Some(own);
        }
        match self.files[at].language {
            Some(Language::Python) => self.through_globs(at, &path, LONGEST_CHASE),
            _ => None,
        }
    }

    /// Returns the declaration that is the value of a module: `module.exports = name`, `export default name`.
    fn value_of_module(&self, file: usize, steps: usize) -> Option<Landing<'a>> {
        let steps = steps.checked_sub(1)?;
        let exports = &self.scopes[file].exports;
        let local = exports.get("=").or_else(|| exports.get("default"))?;
        self.local(file, local, &[], steps)
    }

    /// A path of names in a Python module.
    pub(super) fn land_in_python(
        &self,
        file: usize,
        path: &[&'a str],
        steps: usize,
    ) -> Option<Landing<'a>> {
        let (name, rest) = path.split_first()?;
        if let Some(own) = self.own(file, name) {
            return Some(own);
        }
        if let Some(imported) = self.land_through_import(file, path, steps) {
            return Some(imported);
        }
        if let Some(module) = self.submodule(file, name) {
            return Some(self.land(module, rest, steps));
        }
        self.through_globs(file, path, steps)
    }

    /// Finds the module of this name in the folder of a package's `__init__`.
    fn submodule(&self, package: usize, name: &str) -> Option<usize> {
        let file = &self.files[package];
        if !matches!(file.name(), "__init__.py" | "__init__.pyi") {
            return None;
        }
        let folder = match file.folder() {
            "" => String::new(),
            folder => format!("{folder}/"),
        };
        [".py", "/__init__.py", ".pyi", "/__init__.pyi"]
            .iter()
            .find_map(|ending| {
                let path = format!("{folder}{name}{ending}");
                let at = self.files.binary_search_by(|file| file.path.cmp(&path));
                at.ok()
            })
    }

    /// A path of names among the exports of a JavaScript or TypeScript file.
    pub(super) fn land_in_script(
        &self,
        file: usize,
        path: &[&'a str],
        steps: usize,
    ) -> Option<Landing<'a>> {
        let (name, rest) = path.split_first()?;
        let scope = &self.scopes[file];
        if let Some(local) = scope.exports.get(name) {
            let found = self.local(file, local, rest, steps);
            // `exports.a = b.a` passes on what another file declares, or declares a value.
            if found.is_some() || !local.contains('.') {
                return found;
            }
        }
        if let ("default", [member, rest @ ..]) = (*name, rest)
            && let Some(local) = scope.exports.get(format!("default.{member}").as_str())
        {
            return self.local(file, local, rest, steps);
        }
        // A declaration file exports what it declares, marked or not, unless it lists its exports.
        let exports_all = is_declaration(&self.files[file].path) && scope.exports.is_empty();
        let own = scope.own.get(name);
        if own.is_some_and(|symbol| symbol.public || exports_all) {
            return self.own(file, name);
        }
        if let Some(meant) = scope.passed_on.get(name) {
            let path = meant.path_to(rest);
            return Some(self.land(meant.file, &path, steps));
        }
        if let Some(whole) = scope.exports.get("=") {
            // `import d from` takes the whole of a CommonJS module.
            let path = if *name == "default" { rest } else { path };
            let is_passed_on = path.is_empty() || scope.binds(whole);
            if is_passed_on && let Some(found) = self.local(file, whole, path, steps) {
                return Some(found);
            }
        }
        self.through_globs(file, path, steps)
    }

    /// Follows a file's own name, and then the path `rest` in it.
    fn local(
        &self,
        file: usize,
        local: &'a str,
        rest: &[&'a str],
        steps: usize,
    ) -> Option<Landing<'a>> {
        if let Some(own) = self.own(file, local) {
            return Some(own);
        }
        if let Some((module, name)) = local.split_once('.') {
            let meant = self.scopes[file].bound(module)?;
            let path = [&[name], rest].concat();
            let landing = self.land(meant.file, &meant.path_to(&path), steps);
            return Some(landing).filter(|landing| landing.symbol.is_some());
        }
        let meant = self.scopes[file].bound(local)?;
        let path = meant.path_to(rest);
        if path.is_empty() {
            let value = steps
                .checked_sub(1)
                .and_then(|steps| self.value_of_module(meant.file, steps));
            return value.or_else(|| Some(self.land(meant.file, &path, steps)));
        }
        Some(self.land(meant.file, &path, steps))
    }
}

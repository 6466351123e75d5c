//! Import lookup of Rust: the module tree below a crate's root file.

use super::{
    names::{below, file_name, folder, is_within, join, stem},
    packages::{Ecosystem, Package},
    resolver::{Resolver, Target},
};
use crate::outline::{Import, ImportKind};

/// A module: its file, and the folder of its children.
struct Module {
    file: Option<usize>,
    children: String,
}

pub(super) fn resolve(resolver: &Resolver<'_>, from: &str, import: &Import) -> Target {
    if import.kind == ImportKind::DeclareModule {
        return declared(resolver, from, import).map_or(Target::Unknown, Target::File);
    }
    follow(resolver, from, &import.target, import.kind).0
}

/// Follows a path as `from` would write it, to the file of the deepest module on the way; with the
/// number of parts that are left.
pub(super) fn follow(
    resolver: &Resolver<'_>,
    from: &str,
    path: &str,
    kind: ImportKind,
) -> (Target, usize) {
    let parts: Vec<_> = path.trim_start_matches("::").split("::").collect();
    let here = Module {
        file: resolver.names.file(from),
        children: children_of(from),
    };
    match parts.as_slice() {
        ["crate", rest @ ..] => descend(resolver, root_of(resolver, from), rest),
        ["self", rest @ ..] => descend(resolver, here, rest),
        ["super", ..] => {
            let climbs = parts.iter().take_while(|part| **part == "super").count();
            let mut module = here;
            for _ in 0..climbs {
                module = parent(resolver, from, &module);
            }
            descend(resolver, module, &parts[climbs..])
        }
        ["std" | "core" | "alloc" | "proc_macro" | "test", ..] => (Target::Standard, 0),
        [first, rest @ ..] => named(resolver, from, here, first, rest, kind),
        [] => (Target::Unknown, 0),
    }
}

/// A path that begins with a name: a crate, or a child of this module.
fn named(
    resolver: &Resolver<'_>,
    from: &str,
    here: Module,
    first: &str,
    rest: &[&str],
    kind: ImportKind,
) -> (Target, usize) {
    let owner = resolver.owner(from, Ecosystem::Cargo);
    // For a program or test the package's name means its library, even next to a module of that
    // name: `use shelf::shelf::Shelf` in `src/main.rs`.
    let is_own_crate = || {
        owner.is_some_and(|package| {
            let library = || library_root(resolver, package).file;
            let is_beside_library = || {
                file_name(from) == "main.rs"
                    && library().is_some_and(|root| Some(root) != here.file)
            };
            package.name.replace('-', "_") == first
                && (is_program_folder(folder(from)) || is_beside_library())
        })
    };
    let is_child = child(resolver, &here.children, first)
        .is_some_and(|file| here.file != Some(file) && !is_own_crate());
    if is_child {
        let path: Vec<_> = std::iter::once(first).chain(rest.iter().copied()).collect();
        return descend(resolver, here, &path);
    }
    let dependency = resolver.dependency(from, Ecosystem::Cargo, |dependency| {
        let name = dependency.alias.as_ref().unwrap_or(&dependency.package);
        name.replace('-', "_") == first
    });
    let package = dependency.map_or(first, |dependency| dependency.package.as_str());
    let of_tree = resolver
        .of(Ecosystem::Cargo)
        .find(|candidate| candidate.name.replace('-', "_") == package.replace('-', "_"));
    if let Some(library) = of_tree {
        let root = library_root(resolver, library);
        if root.file.is_some() {
            return descend(resolver, root, rest);
        }
    }
    let is_type = first.starts_with(|c: char| !c.is_lowercase() && c != '_');
    let target = match dependency {
        Some(dependency) => Target::Package(dependency.package.clone()),
        // Without a manifest a name may be a crate; with one, what it does not name is a module
        // with a body, an enum, or something that a glob brought in.
        None if owner.is_none() && !is_type && kind != ImportKind::Path => {
            Target::Package(first.to_owned())
        }
        None => Target::Unknown,
    };
    (target, 0)
}

/// The file of `mod name;`.
fn declared(resolver: &Resolver<'_>, from: &str, import: &Import) -> Option<usize> {
    if let Some(path) = import.names.first() {
        return resolver.names.file(&join(folder(from), path)?);
    }
    let name = import.target.trim_start_matches("r#");
    child(resolver, &children_of(from), name).or_else(|| child(resolver, folder(from), name))
}

/// Follows a path as far as its parts are files; what is left are items.
fn descend(resolver: &Resolver<'_>, from: Module, path: &[&str]) -> (Target, usize) {
    let mut module = from;
    let mut left = path.len();
    for part in path {
        let Some(file) = child(resolver, &module.children, part) else {
            break;
        };
        module = Module {
            file: Some(file),
            children: below(&module.children, part),
        };
        left -= 1;
    }
    (module.file.map_or(Target::Unknown, Target::File), left)
}

fn child(resolver: &Resolver<'_>, children: &str, name: &str) -> Option<usize> {
    resolver.names.first_file([
        below(children, &format!("{name}.rs")),
        below(children, &format!("{name}/mod.rs")),
    ])
}

/// Returns the folder of a file's child modules.
fn children_of(file: &str) -> String {
    if is_root(file) || file_name(file) == "mod.rs" {
        folder(file).to_owned()
    } else {
        below(folder(file), stem(file))
    }
}

/// Whether a file begins a crate: a library, a program, a test, an example, a bench.
fn is_root(file: &str) -> bool {
    matches!(file_name(file), "lib.rs" | "main.rs" | "build.rs")
        || is_program_folder(folder(file)) && file_name(file) != "mod.rs"
}

/// Whether each file in a folder begins a crate of its own.
fn is_program_folder(folder: &str) -> bool {
    matches!(file_name(folder), "tests" | "examples" | "benches" | "bin")
}

/// The root of the crate that a file belongs to.
fn root_of(resolver: &Resolver<'_>, from: &str) -> Module {
    if is_root(from) {
        return Module {
            file: resolver.names.file(from),
            children: folder(from).to_owned(),
        };
    }
    let package = resolver
        .owner(from, Ecosystem::Cargo)
        .map_or("", |package| package.folder.as_str());
    let mut at = folder(from);
    loop {
        let root = ["lib.rs", "main.rs"].map(|name| below(at, name));
        if let Some(file) = resolver.names.first_file(root) {
            return Module {
                file: Some(file),
                children: at.to_owned(),
            };
        }
        if at.is_empty() || !is_within(folder(at), package) {
            break;
        }
        at = folder(at);
    }
    // A library may be anywhere that its manifest names.
    resolver.owner(from, Ecosystem::Cargo).map_or(
        Module {
            file: None,
            children: String::new(),
        },
        |package| library_root(resolver, package),
    )
}

fn library_root(resolver: &Resolver<'_>, package: &Package) -> Module {
    let default = ["src/lib.rs", "src/main.rs"].map(|path| below(&package.folder, path));
    let entry = package.entry.clone().into_iter().chain(default);
    let root = entry
        .into_iter()
        .find_map(|path| Some((resolver.names.file(&path)?, path)));
    match root {
        Some((file, path)) => Module {
            file: Some(file),
            children: folder(&path).to_owned(),
        },
        None => Module {
            file: None,
            children: package.folder.clone(),
        },
    }
}

/// The module around one.
fn parent(resolver: &Resolver<'_>, from: &str, module: &Module) -> Module {
    let children = folder(&module.children).to_owned();
    let name = file_name(&children).to_owned();
    let file = resolver
        .names
        .first_file([
            below(&children, "mod.rs"),
            below(folder(&children), &format!("{name}.rs")),
        ])
        .or_else(|| root_of(resolver, from).file);
    Module { file, children }
}

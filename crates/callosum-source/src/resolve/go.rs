//! Import lookup of Go: the folder that a module's path and the rest of the import name.

use super::{
    names::{below, extension, folder, is_within, join},
    packages::Ecosystem,
    resolver::{Resolver, Target},
};
use crate::outline::Import;

pub(super) fn resolve(resolver: &Resolver<'_>, from: &str, import: &Import) -> Target {
    let target = import.target.as_str();
    if target.starts_with('.') {
        let package = join(folder(from), target).and_then(|path| first_file(resolver, &path));
        return package.map_or(Target::Unknown, Target::File);
    }
    // `replace` says which folder a module is for the module that it is written in.
    let replaced = resolver.packages.aliases.iter().filter(|alias| {
        is_within(from, &alias.folder) && rest_after(target, &alias.pattern).is_some()
    });
    let replaced = replaced.max_by_key(|alias| (alias.folder.len(), alias.pattern.len()));
    if let Some(alias) = replaced {
        let rest = rest_after(target, &alias.pattern).unwrap_or_default();
        let found = first_file(resolver, &below(&alias.target, rest));
        return found.map_or(Target::Unknown, Target::File);
    }
    let module = resolver
        .of(Ecosystem::Go)
        .filter(|module| rest_after(target, &module.name).is_some())
        .max_by_key(|module| module.name.len());
    if let Some(module) = module {
        let rest = rest_after(target, &module.name).unwrap_or_default();
        let found = first_file(resolver, &below(&module.folder, rest));
        return found.map_or(Target::Unknown, Target::File);
    }
    let first = target.split('/').next().unwrap_or(target);
    if !first.starts_with(char::is_alphanumeric) {
        return Target::Unknown;
    }
    if !first.contains('.') {
        return Target::Standard;
    }
    let dependency = resolver
        .of(Ecosystem::Go)
        .flat_map(|module| &module.dependencies)
        .filter(|dependency| rest_after(target, &dependency.package).is_some())
        .max_by_key(|dependency| dependency.package.len());
    Target::Package(match dependency {
        Some(dependency) => dependency.package.clone(),
        // Where nothing tells, hosts of code have owner and name.
        None => target.split('/').take(3).collect::<Vec<_>>().join("/"),
    })
}

fn rest_after<'t>(target: &'t str, module: &str) -> Option<&'t str> {
    let rest = target.strip_prefix(module)?;
    (rest.is_empty() || rest.starts_with('/')).then(|| rest.trim_start_matches('/'))
}

/// Returns the file that represents a package: the first that is no test.
fn first_file(resolver: &Resolver<'_>, folder: &str) -> Option<usize> {
    let mut files = resolver.names.in_folder(folder);
    let is_source =
        |(path, _): &(&str, usize)| extension(path) == "go" && !path.ends_with("_test.go");
    files.find(is_source).map(|(_, index)| index)
}

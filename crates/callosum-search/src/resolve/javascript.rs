//! Where JavaScript and TypeScript look: beside the file, behind aliases, in packages of the tree.

use super::{
    names::{below, folder, is_within, join},
    packages::Ecosystem,
    resolver::{Resolver, Target},
};
use crate::outline::Import;

/// What may be left out at the end of a path, in the order of preference.
const EXTENSIONS: [&str; 12] = [
    ".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json", ".vue",
    ".svelte",
];

/// The modules of Node.js.
const NODE: &str = "assert async_hooks buffer child_process cluster console constants crypto dgram \
    diagnostics_channel dns domain events fs http http2 https inspector module net os path \
    perf_hooks process punycode querystring readline repl stream string_decoder sys test timers tls \
    trace_events tty url util v8 vm wasi worker_threads zlib";

pub(super) fn resolve(resolver: &Resolver<'_>, from: &str, import: &Import) -> Target {
    // Bundlers add questions and loaders to a path.
    let target = import.target.split('?').next().unwrap_or_default();
    if target.starts_with('.') {
        let file = join(folder(from), target).and_then(|path| file(resolver, &path));
        return file.map_or(Target::Unknown, Target::File);
    }
    if let Some(found) = aliased(resolver, from, target) {
        return Target::File(found);
    }
    let first = target.split('/').next().unwrap_or(target);
    if target.starts_with("node:")
        || target.starts_with("bun:")
        || NODE.split_whitespace().any(|name| name == first)
    {
        return Target::Standard;
    }
    let name = package_name(target);
    if let Some(package) = resolver
        .of(Ecosystem::Npm)
        .find(|package| package.name == name)
    {
        let inside = target[name.len()..].trim_start_matches('/');
        let entry = package.entry.as_ref().filter(|_| inside.is_empty());
        let tries = [
            below(&package.folder, inside),
            below(&package.folder, &below("src", inside)),
        ];
        let found = entry
            .and_then(|entry| file(resolver, entry))
            .or_else(|| tries.iter().find_map(|path| file(resolver, path)));
        return found.map_or(Target::Unknown, Target::File);
    }
    if target.is_empty()
        || target.starts_with(['/', '#', '~', '@']) && !target.starts_with('@')
        || target.contains(':')
    {
        return Target::Unknown;
    }
    Target::Package(name.to_owned())
}

/// The file that a path without its extension, or a folder with an index, means.
fn file(resolver: &Resolver<'_>, path: &str) -> Option<usize> {
    let names = &resolver.names;
    // TypeScript names the file that it will become.
    let sources = [
        (".js", [".ts", ".tsx"]),
        (".mjs", [".mts", ".mts"]),
        (".jsx", [".tsx", ".tsx"]),
    ];
    let source = sources.iter().find_map(|(output, inputs)| {
        let stem = path.strip_suffix(output)?;
        names.first_file(inputs.map(|input| format!("{stem}{input}")))
    });
    names
        .file(path)
        .or(source)
        .or_else(|| names.first_file(EXTENSIONS.map(|extension| format!("{path}{extension}"))))
        .or_else(|| {
            names.first_file(EXTENSIONS.map(|extension| below(path, &format!("index{extension}"))))
        })
}

fn aliased(resolver: &Resolver<'_>, from: &str, target: &str) -> Option<usize> {
    resolver
        .packages
        .aliases
        .iter()
        .filter(|alias| is_within(from, &alias.folder))
        .find_map(|alias| {
            let path = match alias.pattern.split_once('*') {
                Some((before, after)) => {
                    let middle = target.strip_prefix(before)?.strip_suffix(after)?;
                    alias.target.replacen('*', middle, 1)
                }
                None if alias.pattern == target => alias.target.clone(),
                None => return None,
            };
            file(resolver, &join("", &path)?)
        })
}

/// `@scope/name` of `@scope/name/file`.
fn package_name(target: &str) -> &str {
    let parts = if target.starts_with('@') { 2 } else { 1 };
    let end = target.match_indices('/').nth(parts - 1);
    end.map_or(target, |(at, _)| &target[..at])
}

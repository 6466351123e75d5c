//! Import lookup of JavaScript and TypeScript: next to the file, behind aliases, in packages of the
//! tree.

use super::{
    names::{below, extension, folder, is_within, join},
    packages::{Alias, Ecosystem, Package},
    resolver::{Resolver, Target},
};
use crate::outline::{Import, Purpose};

/// The modules of Node.js.
const NODE: &str = "assert async_hooks buffer child_process cluster console constants crypto dgram \
    diagnostics_channel dns domain events fs http http2 https inspector module net os path \
    perf_hooks process punycode querystring readline repl stream string_decoder sys test timers tls \
    trace_events tty url util v8 vm wasi worker_threads zlib";

pub(super) fn resolve(resolver: &Resolver<'_>, from: &str, import: &Import) -> Target {
    // Bundlers add questions and loaders to a path.
    let target = import.target.split('?').next().unwrap_or_default();
    let look = Look::new(from, import.purpose);
    if target.starts_with('.') {
        let file = join(folder(from), target).and_then(|path| file(resolver, &path, look));
        return file.map_or(Target::Unknown, Target::File);
    }
    if let Some(found) = aliased(resolver, from, target, look, |pattern| pattern != "*") {
        return Target::File(found);
    }
    let first = target.split('/').next().unwrap_or(target);
    if target.starts_with("node:")
        || target.starts_with("bun:")
        || NODE.split_whitespace().any(|name| name == first)
    {
        return Target::Standard;
    }
    // `baseUrl` of a tsconfig.json makes each name a path first.
    if let Some(found) = aliased(resolver, from, target, look, |pattern| pattern == "*") {
        return Target::File(found);
    }
    let name = package_name(target);
    let of_tree = resolver
        .of(Ecosystem::Npm)
        .filter(|package| package.name == name)
        .min_by_key(|package| package.folder.split('/').count());
    if let Some(package) = of_tree {
        let subpath = target[name.len()..].trim_start_matches('/');
        let found = in_package(resolver, package, subpath, look);
        return found.map_or(Target::Unknown, Target::File);
    }
    if target.is_empty() || target.starts_with(['/', '#', '~']) || target.contains(':') {
        return Target::Unknown;
    }
    Target::Package(name.to_owned())
}

/// The file that a package gives for a subpath; empty for the package itself.
fn in_package(
    resolver: &Resolver<'_>,
    package: &Package,
    subpath: &str,
    look: Look,
) -> Option<usize> {
    let wanted = match subpath {
        "" => ".".to_owned(),
        subpath => format!("./{subpath}"),
    };
    let given: Vec<String> = package
        .exports
        .iter()
        .filter_map(|(pattern, target)| substituted(pattern, target, &wanted))
        .collect();
    let entry = package.entry.as_ref().filter(|_| subpath.is_empty());
    let tries = [
        below(&package.folder, subpath),
        below(&package.folder, &below("src", subpath)),
    ];
    given
        .iter()
        .find_map(|path| file(resolver, path, look))
        .or_else(|| entry.and_then(|entry| file(resolver, entry, look)))
        // What a build makes of `src` is not in the tree.
        .or_else(|| {
            given
                .iter()
                .find_map(|path| source_of(resolver, package, path))
        })
        .or_else(|| tries.iter().find_map(|path| file(resolver, path, look)))
}

/// The source below `src` that a build turns into `path`, by its name.
fn source_of(resolver: &Resolver<'_>, package: &Package, path: &str) -> Option<usize> {
    let inside = path
        .strip_prefix(package.folder.as_str())?
        .trim_start_matches('/');
    let (_built, rest) = inside.split_once('/')?;
    let look = Look::TYPESCRIPT;
    // Some builds have a folder for each module system: `dist/esm/a.js`.
    let below_system = rest.split_once('/').map(|(_, rest)| rest);
    [Some(rest), below_system]
        .into_iter()
        .flatten()
        .find_map(|rest| {
            let path = below(&package.folder, &below("src", rest));
            let (stem, extension) = path.rsplit_once('.')?;
            let is_script = matches!(extension, "js" | "mjs" | "cjs");
            is_script.then(|| file(resolver, stem, look)).flatten()
        })
}

/// Replaces the `*` of `target` with the text that the `*` of `pattern` matches in `written`; `None` without a match.
fn substituted(pattern: &str, target: &str, written: &str) -> Option<String> {
    match pattern.split_once('*') {
        Some((before, after)) => {
            let rest = written.strip_prefix(before)?;
            let middle = rest.strip_suffix(after)?;
            Some(target.replacen('*', middle, 1))
        }
        None => (pattern == written).then(|| target.to_owned()),
    }
}

/// The preference of an import among several files of one name.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Look {
    /// Whether the importing file is TypeScript: `./a.js` then means `a.ts`.
    typescript: bool,
    /// Whether only types are wanted: `a.d.ts` then comes before `a.js`.
    types: bool,
}

impl Look {
    const TYPESCRIPT: Self = Self {
        typescript: true,
        types: false,
    };

    fn new(from: &str, purpose: Purpose) -> Self {
        Self {
            typescript: matches!(extension(from), "ts" | "tsx" | "mts" | "cts"),
            types: purpose == Purpose::Types,
        }
    }

    /// Returns the endings that a path may omit, in the order to try.
    fn endings(self) -> Vec<&'static str> {
        const SCRIPTS: &[&str] = &[".js", ".json", ".node", ".mjs", ".cjs", ".jsx"];
        const SOURCES: &[&str] = &[".ts", ".tsx", ".mts", ".cts"];
        const DECLARATIONS: &[&str] = &[".d.ts", ".d.mts", ".d.cts"];
        const COMPONENTS: &[&str] = &[".vue", ".svelte"];
        match (self.typescript, self.types) {
            // As TypeScript looks: a declaration file next to a script declares the script's
            // contents.
            (true, _) | (_, true) => [SOURCES, DECLARATIONS, SCRIPTS, COMPONENTS].concat(),
            (false, false) => [SCRIPTS, SOURCES, DECLARATIONS, COMPONENTS].concat(),
        }
    }
}

/// The file that a path means: itself, with an ending added, or the index of a folder.
fn file(resolver: &Resolver<'_>, path: &str, look: Look) -> Option<usize> {
    let names = &resolver.names;
    let exact = names.file(path);
    // TypeScript names the file that it will become.
    let outputs: [(&str, &[&str]); 4] = [
        (".js", &[".ts", ".tsx", ".d.ts"]),
        (".mjs", &[".mts", ".d.mts"]),
        (".cjs", &[".cts", ".d.cts"]),
        (".jsx", &[".tsx"]),
    ];
    let source = outputs.iter().find_map(|(output, inputs)| {
        let stem = path.strip_suffix(output)?;
        let is_wanted = |input: &&&str| {
            !input.starts_with(".d.") || look.types || look.typescript || exact.is_none()
        };
        let inputs = inputs.iter().filter(is_wanted);
        names.first_file(inputs.map(|input| format!("{stem}{input}")))
    });
    let found = if look.typescript {
        source.or(exact)
    } else {
        exact.or(source)
    };
    let with_ending = || {
        let endings = look.endings().into_iter().filter(|_| !path.is_empty());
        names.first_file(endings.map(|ending| format!("{path}{ending}")))
    };
    found
        .or_else(with_ending)
        .or_else(|| folder_entry(resolver, path, look))
}

/// Returns the file that an import of a folder means: the entry of its `package.json`, else its index.
fn folder_entry(resolver: &Resolver<'_>, path: &str, look: Look) -> Option<usize> {
    let names = &resolver.names;
    let manifest = resolver
        .of(Ecosystem::Npm)
        .find(|package| package.folder == path);
    let entries = manifest.into_iter().flat_map(|package| {
        let given = package.exports.iter();
        let given = given
            .filter(|(subpath, _)| subpath == ".")
            .map(|(_, file)| file);
        given.chain(&package.entry)
    });
    let named = entries.filter(|entry| *entry != path).find_map(|entry| {
        names.file(entry).or_else(|| {
            let endings = look.endings();
            names.first_file(endings.iter().map(|ending| format!("{entry}{ending}")))
        })
    });
    named.or_else(|| {
        let endings = look.endings();
        names.first_file(
            endings
                .iter()
                .map(|ending| below(path, &format!("index{ending}"))),
        )
    })
}

/// The file behind a short name, of those names that `is_meant` picks by their pattern.
///
/// The nearest folder comes first, in it a whole name before a pattern, and a longer pattern
/// before a shorter one.
fn aliased(
    resolver: &Resolver<'_>,
    from: &str,
    target: &str,
    look: Look,
    is_meant: impl Fn(&str) -> bool,
) -> Option<usize> {
    let mut fitting: Vec<(&Alias, String)> = resolver
        .packages
        .aliases
        .iter()
        .filter(|alias| is_meant(&alias.pattern) && is_within(from, &alias.folder))
        .filter_map(|alias| {
            let path = substituted(&alias.pattern, &alias.target, target)?;
            Some((alias, join("", &path)?))
        })
        .collect();
    fitting.sort_by_key(|(alias, _)| {
        let before_star = alias.pattern.split('*').next().unwrap_or_default().len();
        (
            std::cmp::Reverse(alias.folder.len()),
            alias.pattern.contains('*'),
            std::cmp::Reverse(before_star),
        )
    });
    fitting
        .iter()
        .find_map(|(_, path)| file(resolver, path, look))
}

/// `@scope/name` of `@scope/name/file`.
fn package_name(target: &str) -> &str {
    let parts = if target.starts_with('@') { 2 } else { 1 };
    let end = target.match_indices('/').nth(parts - 1);
    end.map_or(target, |(at, _)| &target[..at])
}

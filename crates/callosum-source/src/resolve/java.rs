//! Import lookup of Java: the file that a class's full name ends in, below any source folder.

use super::{
    names::{extension, folder},
    packages::Ecosystem,
    resolver::{Resolver, Target},
};
use crate::outline::Import;

/// Packages of the platform; other parts of `javax` come from elsewhere.
const STANDARD: [&str; 26] = [
    "java.",
    "jdk.",
    "sun.",
    "com.sun.",
    "javax.accessibility.",
    "javax.annotation.processing.",
    "javax.crypto.",
    "javax.imageio.",
    "javax.lang.",
    "javax.management.",
    "javax.naming.",
    "javax.net.",
    "javax.print.",
    "javax.rmi.",
    "javax.script.",
    "javax.security.",
    "javax.smartcardio.",
    "javax.sound.",
    "javax.sql.",
    "javax.swing.",
    "javax.tools.",
    "javax.transaction.xa.",
    "javax.xml.",
    "org.w3c.dom.",
    "org.xml.sax.",
    "org.ietf.jgss.",
];

pub(super) fn resolve(resolver: &Resolver<'_>, import: &Import) -> Target {
    let target = import.target.as_str();
    let names = &resolver.names;
    let parts: Vec<_> = target.trim_end_matches(".*").split('.').collect();
    // The whole name may be a class; what a static import adds, or an inner class, is cut off.
    for end in (1..=parts.len()).rev().take(3) {
        let path = format!("{}.java", parts[..end].join("/"));
        if let Some(file) = names
            .ending_with(&path)
            .next()
            .and_then(|path| names.file(path))
        {
            return Target::File(file);
        }
    }
    if target.ends_with(".*") {
        let package = parts.join("/");
        let is_source = |path: &&str| extension(path) == "java";
        let found = names.paths().filter(is_source).find(|path| {
            folder(path)
                .strip_suffix(package.as_str())
                .is_some_and(|before| before.is_empty() || before.ends_with('/'))
        });
        if let Some(file) = found.and_then(|path| names.file(path)) {
            return Target::File(file);
        }
    }
    if STANDARD.iter().any(|prefix| target.starts_with(prefix)) {
        return Target::Standard;
    }
    // A group is a prefix of what it holds, as a rule.
    let dependency = resolver
        .of(Ecosystem::Jvm)
        .flat_map(|package| &package.dependencies)
        .filter(|dependency| {
            let group = dependency.package.split(':').next().unwrap_or_default();
            target
                .strip_prefix(group)
                .is_some_and(|rest| rest.starts_with('.'))
        })
        .max_by_key(|dependency| dependency.package.split(':').next().map_or(0, str::len));
    if let Some(dependency) = dependency {
        return Target::Package(dependency.package.clone());
    }
    let package = parts
        .iter()
        .take_while(|part| part.starts_with(char::is_lowercase));
    Target::Package(package.take(3).copied().collect::<Vec<_>>().join("."))
}

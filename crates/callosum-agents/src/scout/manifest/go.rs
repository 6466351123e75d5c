//! `go.mod`.

use super::{
    model::{Dependency, Ecosystem, Manifest, Package, Placed, Use},
    place::numbered,
};

/// Reads one `go.mod`. What is only needed by others (`// indirect`) is left out.
pub(super) fn read(path: &str, text: &str) -> Manifest {
    let mut manifest = Manifest::new(path, Ecosystem::Go);
    let mut block = None;
    for (line, content) in numbered(text) {
        let (code, comment) = content.split_once("//").unwrap_or((content, ""));
        let words: Vec<&str> = code.split_whitespace().collect();
        match (block, words.as_slice()) {
            (_, ["module", name]) => {
                manifest.package = Some(Package {
                    name: Placed {
                        text: (*name).to_owned(),
                        line,
                    },
                    version: None,
                    about: None,
                });
            }
            (_, [directive, "("]) => block = Some(*directive),
            (_, [")"]) => block = None,
            (Some("require"), [name, version]) | (None, ["require", name, version])
                if comment.trim() != "indirect" =>
            {
                let version = Some((*version).to_owned());
                manifest
                    .dependencies
                    .push(Dependency::new(*name, version, line));
            }
            (Some("tool"), [name]) | (None, ["tool", name]) => {
                manifest
                    .dependencies
                    .push(Dependency::new(*name, None, line).used_for(Use::Dev));
            }
            (Some("replace"), [name, "=>", target, ..])
            | (None, ["replace", name, "=>", target, ..])
                if target.starts_with('.') =>
            {
                let replaced = manifest.dependencies.iter_mut().filter(|d| d.name == *name);
                replaced.for_each(|dependency| dependency.local = true);
            }
            _ => {}
        }
    }
    manifest
}

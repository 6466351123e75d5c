//! `go.mod`.

use callosum_source::resolve::{Alias, join};

use super::{
    model::{Dependency, Ecosystem, Manifest, Package, Placed, Use},
    place::numbered,
};

/// Reads one `go.mod`. Indirect dependencies (`// indirect`) are left out.
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

/// Returns the modules that a `go.mod` in `folder` replaces with folders of the tree.
pub(super) fn replacements(folder: &str, text: &str) -> Vec<Alias> {
    let mut is_block = false;
    let mut found = Vec::new();
    for (_, content) in numbered(text) {
        let code = content.split("//").next().unwrap_or(content);
        let words: Vec<&str> = code.split_whitespace().collect();
        let words = match words.as_slice() {
            ["replace", "("] => {
                is_block = true;
                continue;
            }
            [")"] => {
                is_block = false;
                continue;
            }
            ["replace", rest @ ..] => rest,
            rest if is_block => rest,
            _ => continue,
        };
        // The version that is replaced may stand behind the name.
        let ([name, "=>", target] | [name, _, "=>", target]) = words else {
            continue;
        };
        let is_folder = target.starts_with("./") || target.starts_with("../");
        if let Some(target) = join(folder, target).filter(|_| is_folder) {
            found.push(Alias {
                folder: folder.to_owned(),
                pattern: (*name).to_owned(),
                target,
            });
        }
    }
    found
}

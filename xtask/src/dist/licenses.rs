//! The licenses of the libraries that are linked into the program, as one text.
//!
//! A library's files are those that its author published. If there are none, the text of each license that it names comes
//! from the SPDX list. Texts that several libraries share are printed once.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
};

use cargo_metadata::{DependencyKind, Metadata, Package, PackageId};
use spdx::{Expression, ParseMode};

use super::{read, workspace::Workspace};
use crate::said_by_rustc;

/// Depth in a library's folder at which a license is looked for: `ring` has some below `third_party`.
const DEEPEST: usize = 3;

/// Beginnings of the names of license files, in lower case.
const NAMES: [&str; 6] = [
    "license",
    "licence",
    "copying",
    "copyright",
    "notice",
    "unlicense",
];

/// A library and its licenses.
struct Library {
    name: String,
    version: String,
    license: String,
    authors: Vec<String>,
    texts: Vec<String>,
}

/// Returns the page.
pub(super) fn page(workspace: &Workspace) -> Result<String, String> {
    let program = workspace.program_package()?;
    let mut libraries = vec![standard_library()?];
    for package in linked(&workspace.metadata, &program.id)? {
        libraries.push(library(package)?);
    }
    Ok(text(&libraries))
}

/// Returns the packages of others that the program is linked with, by name and version.
fn linked<'m>(metadata: &'m Metadata, program: &PackageId) -> Result<Vec<&'m Package>, String> {
    let resolve = metadata
        .resolve
        .as_ref()
        .ok_or("cargo metadata has no graph")?;
    let (mut waiting, mut seen) = (vec![program], BTreeSet::new());
    while let Some(id) = waiting.pop() {
        if !seen.insert(id) {
            continue;
        }
        let nodes = resolve.nodes.iter().filter(|node| node.id == *id);
        for dependency in nodes.flat_map(|node| &node.deps) {
            let mut kinds = dependency.dep_kinds.iter();
            if kinds.any(|kind| kind.kind == DependencyKind::Normal) {
                waiting.push(&dependency.pkg);
            }
        }
    }
    let packages = metadata.packages.iter();
    let mut found: Vec<&Package> = packages
        .filter(|package| seen.contains(&package.id) && package.source.is_some())
        .collect();
    found.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    Ok(found)
}

/// Returns the row of Rust's standard library, which is linked into every program.
fn standard_library() -> Result<Library, String> {
    let version = said_by_rustc(&["--version"]).ok_or("rustc does not print its version")?;
    let version = version.split_whitespace().nth(1).unwrap_or_default();
    let license = "MIT OR Apache-2.0".to_owned();
    Ok(Library {
        name: "std (the Rust standard library)".to_owned(),
        version: version.to_owned(),
        texts: texts_of_spdx(&license)?,
        authors: vec!["The Rust Project contributors".to_owned()],
        license,
    })
}

fn library(package: &Package) -> Result<Library, String> {
    let name = package.name.to_string();
    let license = package.license.clone();
    let folder = package.manifest_path.parent().ok_or("no folder")?;
    let mut texts = BTreeMap::new();
    find(folder.as_std_path(), DEEPEST, &mut texts)?;
    if let Some(file) = package.license_file() {
        let file = file.into_std_path_buf();
        let text = String::from_utf8_lossy(&read(&file)?).into_owned();
        texts.insert(file, text);
    }
    let mut texts: Vec<String> = texts.into_values().collect();
    let license = license.unwrap_or_else(|| "see its text".to_owned());
    if texts.is_empty() {
        texts = texts_of_spdx(&license).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(Library {
        version: package.version.to_string(),
        authors: package.authors.clone(),
        name,
        license,
        texts,
    })
}

/// Collects the license files of a folder by their paths.
fn find(
    folder: &Path,
    depth: usize,
    texts: &mut BTreeMap<std::path::PathBuf, String>,
) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        let kind = entry.file_type().map_err(failed)?;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if kind.is_dir() && depth > 1 {
            find(&path, depth - 1, texts)?;
        } else if kind.is_file() && is_license(&name) {
            let text = String::from_utf8_lossy(&read(&path)?).into_owned();
            texts.insert(path, text);
        }
    }
    Ok(())
}

/// Whether a file's name, in lower case, is that of a license and not of source code.
fn is_license(name: &str) -> bool {
    let mut ending = Path::new(name).extension().and_then(|it| it.to_str());
    ending = ending.filter(|ending| ending.chars().all(char::is_alphabetic));
    NAMES.iter().any(|start| name.starts_with(start))
        && !matches!(
            ending,
            Some("rs" | "c" | "h" | "js" | "json" | "toml" | "py")
        )
}

/// Returns the texts of the licenses that an SPDX expression names, in the order of the names.
fn texts_of_spdx(license: &str) -> Result<Vec<String>, String> {
    // Older manifests write `MIT/Apache-2.0`, which lax parsing reads as a choice.
    let expression = Expression::parse_mode(license, ParseMode::LAX)
        .map_err(|error| format!("`{license}`: {}", error.reason))?;
    let names = expression
        .requirements()
        .filter_map(|one| one.req.license.id());
    let texts: BTreeMap<&str, &str> = names.map(|id| (id.name, id.text())).collect();
    if texts.is_empty() {
        return Err(format!("`{license}` names no license of the SPDX list"));
    }
    Ok(texts.into_values().map(str::to_owned).collect())
}

/// Writes the libraries with the numbers of their texts, then the texts.
fn text(libraries: &[Library]) -> String {
    let mut texts: Vec<&str> = Vec::new();
    let mut page = format!(
        "Libraries in the program callosum\n\n\
         {} libraries. A number in brackets is that of a text below.\n\n",
        libraries.len()
    );
    for library in libraries {
        let mut numbers = String::new();
        for text in &library.texts {
            let text = text.trim_end();
            let known = texts.iter().position(|known| *known == text);
            let number = known.unwrap_or_else(|| {
                texts.push(text);
                texts.len() - 1
            });
            let _ = write!(numbers, " [{}]", number + 1);
        }
        let Library {
            name,
            version,
            license,
            authors,
            ..
        } = library;
        let _ = writeln!(page, "{name} {version}: {license}{numbers}");
        if !authors.is_empty() {
            let _ = writeln!(page, "    by {}", authors.join(", "));
        }
    }
    for (number, text) in texts.iter().enumerate() {
        let line = "-".repeat(80);
        let _ = write!(page, "\n{line}\n[{}]\n\n{text}\n", number + 1);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_two_libraries_share_is_printed_once() {
        let library = |name: &str, texts: &[&str]| Library {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: "MIT".to_owned(),
            authors: Vec::new(),
            texts: texts.iter().map(|&text| text.to_owned()).collect(),
        };
        let page = text(&[
            library("a", &["same\n", "own of a"]),
            library("b", &["same"]),
        ]);
        assert!(
            page.contains("a 1.0.0: MIT [1] [2]\nb 1.0.0: MIT [1]\n"),
            "{page}"
        );
        assert_eq!(page.matches("same").count(), 1, "{page}");
    }

    #[test]
    fn license_files_are_known_by_their_names() {
        for name in [
            "license",
            "license-mit",
            "licence.md",
            "copying.txt",
            "license-apache-2.0",
        ] {
            assert!(is_license(name), "{name}");
        }
        for name in ["license.rs", "readme.md", "my-license", "notices.json"] {
            assert!(!is_license(name), "{name}");
        }
    }

    #[test]
    fn a_library_without_files_gets_the_texts_that_its_expression_names() {
        let texts = texts_of_spdx("MIT/Apache-2.0").unwrap();
        assert_eq!(texts.len(), 2);
        assert!(
            texts[1].contains("Permission is hereby granted"),
            "{}",
            texts[1]
        );
        assert!(texts_of_spdx("no such license").is_err());
    }
}

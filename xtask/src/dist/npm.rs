//! The npm package: the program, started by `npx callosum`, in the layout of `npm pack`.
//!
//! npm links the program itself, so Node starts nothing once it is installed. No script runs at the installation. One package
//! is for one system and processor; npm refuses it on others.

use serde_json::json;

use super::{
    Package,
    archive::{Compression, gzip, tar},
    content::{Content, DOCUMENTS, File, PROGRAM},
    target::Target,
};

/// Documents that npm shows from the package's own folder.
const AT_TOP: [&str; 5] = [
    "CHANGELOG.md",
    "LICENSE-AGPL",
    "LICENSE-MIT",
    "NOTICE",
    "README.md",
];

pub(super) fn package(
    content: &Content,
    target: &Target,
    compression: Compression,
) -> Result<Package, String> {
    let mut files = content.files.clone();
    for name in AT_TOP {
        if let Some(file) = files.remove(&format!("{DOCUMENTS}{name}")) {
            files.insert(name.to_owned(), file);
        }
    }
    let description = description(content, target)?;
    files.insert(
        "package.json".to_owned(),
        File::plain(description.into_bytes()),
    );
    let files = content.with_manifest(files, "npm")?;
    let tar = tar(&files, "package/", content.time)?;
    Ok(Package {
        name: format!(
            "callosum-{}-{}-{}.tgz",
            content.version,
            target.npm_system(),
            target.npm_processor()
        ),
        bytes: gzip(&tar, compression)?,
    })
}

/// Returns `package.json`.
fn description(content: &Content, target: &Target) -> Result<String, String> {
    let mut description = json!({
        "name": "callosum",
        "version": content.version,
        "description": content.description,
        "license": content.license,
        "bin": {"callosum": PROGRAM},
        "os": [target.npm_system()],
        "cpu": [target.npm_processor()],
    });
    if target.is_linux() {
        description["libc"] = json!(["glibc"]);
    }
    let text = serde_json::to_string_pretty(&description).map_err(|error| error.to_string())?;
    Ok(text + "\n")
}

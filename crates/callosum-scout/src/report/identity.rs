//! Identity of the project, as far as its own files show it: the head of every digest.

use super::plural::{count, thousands};
use crate::{
    citation::plain,
    kind::Kind,
    manifest::Manifest,
    survey::{Survey, file::SurveyedFile},
};

/// The lines on top: name, what was read, and that no prompt was interpreted.
pub(super) fn head(kind: Kind, survey: &Survey) -> Vec<String> {
    let title = match name(survey) {
        Some(name) => format!("# {kind}: {name}"),
        None => format!("# {kind}"),
    };
    let read = survey.files_read();
    let lines: u64 = survey.files.iter().map(|file| u64::from(file.lines)).sum();
    let within = match survey.scope.as_slice() {
        [] => String::new(),
        paths => {
            let paths: Vec<String> = paths.iter().map(|path| plain(path, 80)).collect();
            format!(" below {}", paths.join(", "))
        }
    };
    let within = match survey.focus.as_slice() {
        [] => within,
        paths => {
            let paths: Vec<String> = paths.iter().map(|path| plain(path, 80)).collect();
            format!(" for what is below {}", paths.join(", "))
        }
    };
    let note = if survey.files.is_empty() {
        format!("There is no file to read{within}.")
    } else {
        format!(
            "Read {}{within} ({}) of {}.",
            count(read, "file"),
            count(lines as usize, "line"),
            thousands(survey.files.len() as u64),
        )
    };
    vec![
        title,
        format!("{note} Scout does not interpret prompts: this is its whole answer to `{kind}`."),
    ]
}

fn name(survey: &Survey) -> Option<String> {
    if let Some(manifest) = main_manifest(survey) {
        let package = manifest.package.as_ref()?;
        let version = package
            .version
            .as_ref()
            .map(|version| format!(" {}", plain(&version.text, 30)))
            .unwrap_or_default();
        return Some(format!("{}{version}", plain(&package.name.text, 80)));
    }
    let title = readme(survey).and_then(|readme| readme.title.as_ref());
    let name = title.map_or(survey.folder.as_str(), |title| &title.text);
    Some(plain(name, 80)).filter(|name| !name.is_empty())
}

/// The manifest that names the project: the one nearest to the root that names a package.
pub(super) fn main_manifest(survey: &Survey) -> Option<&Manifest> {
    survey
        .manifests
        .iter()
        .filter(|manifest| manifest.package.is_some())
        .filter(|manifest| manifest.folder().split('/').count() <= 1)
        .min_by_key(|manifest| {
            let package = manifest.package.as_ref();
            let says_more = package.is_some_and(|p| p.about.is_some());
            (
                !manifest.folder().is_empty(),
                !says_more,
                manifest.ecosystem,
            )
        })
        .filter(|manifest| manifest.folder().is_empty())
}

/// The README at the root.
pub(super) fn readme(survey: &Survey) -> Option<&SurveyedFile> {
    survey
        .files
        .iter()
        .filter(|file| file.read && file.folder().is_empty())
        .find(|file| file.name().to_ascii_lowercase().starts_with("readme"))
}

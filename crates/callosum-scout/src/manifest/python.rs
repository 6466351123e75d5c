//! `pyproject.toml`, `setup.cfg`, `setup.py` and requirements files.

use toml::de::{DeTable, DeValue};

use super::{
    model::{Dependency, Ecosystem, Manifest, Package, Placed, Program, Use},
    place::{Lines, document, entry, first_quoted, numbered, table},
};

/// Reads one `pyproject.toml`: the standard's tables, Poetry's, and dependency groups.
pub(super) fn read_pyproject(path: &str, text: &str) -> Manifest {
    let mut manifest = Manifest::new(path, Ecosystem::Python);
    let Some(document) = document(text, &mut manifest) else {
        return manifest;
    };
    let root = document.get_ref();
    let lines = Lines::of(text);
    let poetry = table(root, &["tool", "poetry"]);
    if let Some(project) = table(root, &["project"]).or(poetry) {
        let placed = |key: &str| {
            let (at, value) = entry(project, key)?;
            Some(Placed {
                text: value.as_str()?.to_owned(),
                line: lines.line_of(at),
            })
        };
        manifest.package = placed("name").map(|name| Package {
            name,
            version: placed("version"),
            about: placed("description"),
        });
        manifest.programs = scripts(project, &lines);
        collect_list(
            project,
            "dependencies",
            Use::Normal,
            false,
            &lines,
            &mut manifest,
        );
        for extra in lists_below(project, "optional-dependencies") {
            collect(extra, Use::Normal, true, &lines, &mut manifest);
        }
    }
    if let Some(build) = table(root, &["build-system"]) {
        collect_list(build, "requires", Use::Build, false, &lines, &mut manifest);
    }
    for group in lists_below(root, "dependency-groups") {
        collect(group, Use::Dev, false, &lines, &mut manifest);
    }
    if let Some(poetry) = poetry {
        collect_poetry(poetry, &lines, &mut manifest);
    }
    manifest
        .dependencies
        .sort_by_key(|dependency| dependency.line);
    manifest
}

fn scripts(project: &DeTable<'_>, lines: &Lines) -> Vec<Program> {
    let mut programs: Vec<Program> = ["scripts", "gui-scripts"]
        .iter()
        .filter_map(|key| table(project, &[key]))
        .flatten()
        .map(|(name, value)| Program {
            name: name.get_ref().to_string(),
            starts: value.get_ref().as_str().map(str::to_owned),
            line: lines.line_of(name.span().start),
        })
        .collect();
    programs.sort_by_key(|program| program.line);
    programs
}

fn lists_below<'t, 'i>(
    from: &'t DeTable<'i>,
    key: &str,
) -> impl Iterator<Item = &'t DeValue<'i>> + use<'t, 'i> {
    table(from, &[key])
        .into_iter()
        .flat_map(|lists| lists.values())
        .map(toml::Spanned::get_ref)
}

fn collect_list(
    from: &DeTable<'_>,
    key: &str,
    role: Use,
    optional: bool,
    lines: &Lines,
    manifest: &mut Manifest,
) {
    if let Some((_, list)) = entry(from, key) {
        collect(list, role, optional, lines, manifest);
    }
}

fn collect(list: &DeValue<'_>, role: Use, optional: bool, lines: &Lines, manifest: &mut Manifest) {
    for item in list.as_array().into_iter().flatten() {
        let line = lines.line_of(item.span().start);
        let found = item
            .get_ref()
            .as_str()
            .and_then(|text| requirement(text, line));
        manifest
            .dependencies
            .extend(found.map(|dependency| Dependency {
                optional,
                ..dependency.used_for(role)
            }));
    }
}

fn collect_poetry(poetry: &DeTable<'_>, lines: &Lines, manifest: &mut Manifest) {
    let groups = table(poetry, &["group"])
        .into_iter()
        .flat_map(|groups| groups.values())
        .filter_map(|group| table(group.get_ref().as_table()?, &["dependencies"]))
        .map(|section| (section, Use::Dev));
    let own = table(poetry, &["dependencies"]).map(|section| (section, Use::Normal));
    let old = table(poetry, &["dev-dependencies"]).map(|section| (section, Use::Dev));
    for (section, role) in own.into_iter().chain(old).chain(groups) {
        for (name, value) in section
            .iter()
            .filter(|(name, _)| name.get_ref() != "python")
        {
            let version = value
                .get_ref()
                .as_str()
                .or_else(|| entry(value.get_ref().as_table()?, "version")?.1.as_str());
            let line = lines.line_of(name.span().start);
            let dependency =
                Dependency::new(name.get_ref().as_ref(), version.map(str::to_owned), line);
            manifest.dependencies.push(dependency.used_for(role));
        }
    }
}

/// Reads one requirement as PEP 508 writes it; what comes after `;` or `#` does not matter here.
fn requirement(text: &str, line: u32) -> Option<Dependency> {
    let text = text.split([';', '#']).next()?.trim();
    let end = text
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .unwrap_or(text.len());
    let name = &text[..end];
    if !name.starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let rest = text[end..].trim();
    let version = match rest
        .strip_prefix('[')
        .and_then(|extras| extras.split_once(']'))
    {
        Some((_, version)) => version.trim(),
        None => rest,
    };
    let version = version.trim_matches(['(', ')']).to_owned();
    Some(Dependency::new(name, Some(version), line))
}

/// Reads one requirements file. Options (`-r other.txt`) and addresses are left out.
pub(super) fn read_requirements(path: &str, text: &str) -> Manifest {
    let mut manifest = Manifest::new(path, Ecosystem::Python);
    let name = path.to_ascii_lowercase();
    let for_tools = ["dev", "test", "doc", "lint", "typing", "build", "ci"]
        .iter()
        .any(|word| name.contains(word));
    let role = if for_tools { Use::Dev } else { Use::Normal };
    let found = numbered(text)
        .filter(|(_, content)| !content.contains("://"))
        .filter_map(|(line, content)| requirement(content, line));
    manifest.dependencies = found.map(|dependency| dependency.used_for(role)).collect();
    manifest
}

/// Reads one `setup.cfg`.
pub(super) fn read_setup_cfg(path: &str, text: &str) -> Manifest {
    let mut manifest = Manifest::new(path, Ecosystem::Python);
    let (mut section, mut key) = (String::new(), String::new());
    let (mut name, mut version, mut about) = (None, None, None);
    for (line, content) in numbered(text) {
        let trimmed = content.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        if let Some(title) = trimmed
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            title.trim().clone_into(&mut section);
            key.clear();
            continue;
        }
        let mut value = trimmed;
        if !content.starts_with([' ', '\t']) {
            let Some((left, right)) = trimmed.split_once('=') else {
                continue;
            };
            left.trim().clone_into(&mut key);
            value = right.trim();
        }
        // `attr:` and `file:` say where the value is, not what it is.
        let is_elsewhere =
            section == "metadata" && ["attr:", "file:"].iter().any(|way| value.starts_with(way));
        if value.is_empty() || is_elsewhere {
            continue;
        }
        let placed = || {
            Some(Placed {
                text: value.to_owned(),
                line,
            })
        };
        match (section.as_str(), key.as_str()) {
            ("metadata", "name") => name = placed(),
            ("metadata", "version") => version = placed(),
            ("metadata", "description" | "summary") => about = placed(),
            ("options", "install_requires") => {
                manifest.dependencies.extend(requirement(value, line));
            }
            ("options", "setup_requires") => {
                let found = requirement(value, line).map(|d| d.used_for(Use::Build));
                manifest.dependencies.extend(found);
            }
            ("options", "tests_require") => {
                let found = requirement(value, line).map(|d| d.used_for(Use::Dev));
                manifest.dependencies.extend(found);
            }
            ("options.extras_require", _) => {
                manifest
                    .dependencies
                    .extend(requirement(value, line).map(|found| Dependency {
                        optional: true,
                        ..found
                    }));
            }
            ("options.entry_points", "console_scripts") => {
                manifest.programs.extend(console_script(value, line));
            }
            _ => {}
        }
    }
    manifest.package = name.map(|name| Package {
        name,
        version,
        about,
    });
    manifest
}

fn console_script(text: &str, line: u32) -> Option<Program> {
    let (name, starts) = text.split_once('=')?;
    Some(Program {
        name: name.trim().to_owned(),
        starts: Some(starts.trim().to_owned()),
        line,
    })
}

/// Reads the literals of one `setup.py`: its name, version and description, and the lists of its
/// dependencies.
pub(super) fn read_setup_py(path: &str, text: &str) -> Manifest {
    let mut manifest = Manifest::new(path, Ecosystem::Python);
    let literal = |key: &str| {
        numbered(text).find_map(|(line, content)| {
            let rest = content.trim_start().strip_prefix(key)?.trim_start();
            let rest = rest.strip_prefix('=')?.trim_start();
            let quoted = rest.starts_with(['"', '\'']).then(|| first_quoted(rest))?;
            Some(Placed {
                text: quoted?.to_owned(),
                line,
            })
        })
    };
    manifest.package = literal("name").map(|name| Package {
        name,
        version: literal("version"),
        about: literal("description"),
    });
    for (key, role) in [
        ("install_requires", Use::Normal),
        ("setup_requires", Use::Build),
        ("tests_require", Use::Dev),
    ] {
        for (line, item) in literals_of_list(text, key) {
            manifest
                .dependencies
                .extend(requirement(item, line).map(|d| d.used_for(role)));
        }
    }
    for (line, item) in literals_of_list(text, "console_scripts") {
        manifest.programs.extend(console_script(item, line));
    }
    manifest
}

/// The string literals between the `[` after `key` and the next `]`, each with its line.
fn literals_of_list<'t>(text: &'t str, key: &str) -> Vec<(u32, &'t str)> {
    let lines = Lines::of(text);
    let Some(start) = text.find(key) else {
        return Vec::new();
    };
    let after = text[start + key.len()..].trim_start_matches(['"', '\'', ' ', '=', ':', '\n']);
    if !after.starts_with('[') {
        return Vec::new();
    }
    let open = text.len() - after.len();
    let mut found = Vec::new();
    let mut at = open + 1;
    while let Some(c) = text[at..].chars().next() {
        match c {
            ']' => break,
            '#' => at += text[at..].find('\n').unwrap_or(text.len() - at),
            '"' | '\'' => {
                let Some(end) = text[at + 1..].find(c) else {
                    break;
                };
                found.push((lines.line_of(at), &text[at + 1..at + 1 + end]));
                at += end + 2;
            }
            _ => at += c.len_utf8(),
        }
    }
    found
}

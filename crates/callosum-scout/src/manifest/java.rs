//! `pom.xml` and Gradle build scripts.

use super::{
    model::{Dependency, Ecosystem, Manifest, Package, Placed, Use},
    place::{first_quoted, numbered},
};

/// Reads one `pom.xml`. Properties of the same file are filled in; what a parent elsewhere
/// decides stays open.
pub(super) fn read_pom(path: &str, text: &str) -> Manifest {
    let mut manifest = Manifest::new(path, Ecosystem::Maven);
    let document = match roxmltree::Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            manifest.unread = Some(error.to_string());
            return manifest;
        }
    };
    let project = document.root_element();
    let placed = |node: roxmltree::Node<'_, '_>| {
        Some(Placed {
            text: expand(project, node.text()?.trim()),
            line: document.text_pos_at(node.range().start).row,
        })
    };
    let parent = child(project, "parent");
    manifest.package = child(project, "artifactId")
        .and_then(placed)
        .map(|name| Package {
            name,
            version: child(project, "version")
                .or_else(|| child(parent?, "version"))
                .and_then(placed),
            about: child(project, "description")
                .or_else(|| child(project, "name"))
                .and_then(placed),
        });
    manifest.workspace =
        child(project, "modules").map(|modules| document.text_pos_at(modules.range().start).row);
    let read = |section: roxmltree::Node<'_, '_>| -> Vec<Dependency> {
        section
            .children()
            .filter(|node| node.has_tag_name_local("dependency"))
            .filter_map(|node| dependency(&document, project, node))
            .collect()
    };
    manifest.dependencies = child(project, "dependencies").map(read).unwrap_or_default();
    manifest.shared = child(project, "dependencyManagement")
        .and_then(|management| child(management, "dependencies"))
        .map(read)
        .unwrap_or_default();
    for dependency in &mut manifest.dependencies {
        if dependency.requirement.is_none() {
            let managed = manifest
                .shared
                .iter()
                .find(|shared| shared.name == dependency.name);
            dependency.requirement = managed.and_then(|managed| managed.requirement.clone());
        }
    }
    manifest
}

fn dependency(
    document: &roxmltree::Document<'_>,
    project: roxmltree::Node<'_, '_>,
    node: roxmltree::Node<'_, '_>,
) -> Option<Dependency> {
    let text = |name: &str| Some(expand(project, child(node, name)?.text()?.trim()));
    let artifact = child(node, "artifactId")?;
    let line = document.text_pos_at(artifact.range().start).row;
    let name = format!("{}:{}", text("groupId")?, text("artifactId")?);
    let role = match text("scope").as_deref() {
        Some("test") => Use::Dev,
        _ => Use::Normal,
    };
    Some(Dependency {
        optional: text("optional").as_deref() == Some("true"),
        ..Dependency::new(name, text("version"), line).used_for(role)
    })
}

/// Fills in `${name}` from the project's own properties, once.
fn expand(project: roxmltree::Node<'_, '_>, text: &str) -> String {
    let Some(name) = text
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
    else {
        return text.to_owned();
    };
    let from_project = name
        .strip_prefix("project.")
        .and_then(|field| child(project, field));
    from_project
        .or_else(|| child(child(project, "properties")?, name))
        .and_then(|node| node.text())
        .map_or_else(|| text.to_owned(), |value| value.trim().to_owned())
}

fn child<'a, 'i>(node: roxmltree::Node<'a, 'i>, name: &str) -> Option<roxmltree::Node<'a, 'i>> {
    node.children().find(|child| child.has_tag_name_local(name))
}

/// Names without their namespace: poms are written with and without one.
trait LocalName {
    fn has_tag_name_local(&self, name: &str) -> bool;
}

impl LocalName for roxmltree::Node<'_, '_> {
    fn has_tag_name_local(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

/// Configurations of Gradle's Java and Kotlin plugins, and what they are for.
const CONFIGURATIONS: [(&str, Use); 8] = [
    ("api", Use::Normal),
    ("implementation", Use::Normal),
    ("compileOnly", Use::Normal),
    ("runtimeOnly", Use::Normal),
    ("annotationProcessor", Use::Build),
    ("testImplementation", Use::Dev),
    ("testRuntimeOnly", Use::Dev),
    ("testCompileOnly", Use::Dev),
];

/// Reads the literals of one Gradle script: `implementation("group:name:version")` and its kin.
pub(super) fn read_gradle(path: &str, text: &str) -> Manifest {
    let mut manifest = Manifest::new(path, Ecosystem::Gradle);
    for (line, content) in numbered(text) {
        let code = content.trim();
        let word = code
            .split(|c: char| !c.is_alphanumeric())
            .next()
            .unwrap_or_default();
        if let Some((_, role)) = CONFIGURATIONS.iter().find(|(name, _)| *name == word) {
            manifest
                .dependencies
                .extend(gradle_dependency(code, line).map(|d| d.used_for(*role)));
        } else if word == "description" && manifest.package.is_some() {
            let about = first_quoted(code).map(|text| Placed {
                text: text.to_owned(),
                line,
            });
            manifest
                .package
                .iter_mut()
                .for_each(|package| package.about.clone_from(&about));
        }
    }
    manifest
}

fn gradle_dependency(code: &str, line: u32) -> Option<Dependency> {
    let local = code.contains("project(");
    let quoted = first_quoted(code)?;
    if local {
        return Some(Dependency {
            local,
            ..Dependency::new(quoted.trim_start_matches(':'), None, line)
        });
    }
    let mut parts = quoted.split(':');
    let (group, name) = (parts.next()?, parts.next()?);
    let version = parts.next().map(str::to_owned);
    Some(Dependency::new(format!("{group}:{name}"), version, line))
}

//! `callosum mesh route`: routes from categories of tasks to agents. Nothing is routed until a
//! person configures it.

use std::fmt::Write as _;

use callosum_config::MeshSettings;
use callosum_mesh::classify::{Classification, THRESHOLD, classify};
use callosum_mesh::route::{Matrix, Route};
use callosum_redact::terminal_escape::on_one_line;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::context::Context;
use crate::mesh::open;
use crate::{CommandError, Exit, disk_errors};

/// The key of the bridge file with the accounts (Seed CALC §4, layer 3).
pub const ACCOUNTS: &str = "account_state";

/// `callosum mesh route --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RoutesOutput {
    /// The kinds of tasks.
    pub routes: Vec<RouteOutput>,
    /// The accounts that agents work with, as they are in the bridge file (`account_state`).
    pub accounts: Value,
}

/// A kind of task.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RouteOutput {
    /// Its name.
    pub category: String,
    /// Tasks that belong to it.
    pub about: String,
    /// Preferred agent.
    pub primary: String,
    /// Agent if the first has not begun in time.
    pub fallback: String,
    /// The reason why the first cannot begin a task now; null if it can, or if nothing is known.
    pub primary_absent: Option<String>,
    /// Seconds that the first has to begin.
    pub sla_seconds: i64,
}

/// `callosum mesh route classify --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ClassifyOutput {
    /// The category, or null if the confidence is below the threshold.
    pub category: Option<String>,
    /// The primary agent of the category.
    pub agent: Option<String>,
    /// Confidence in the best category, from 0 to 1, also if it is below the threshold.
    pub confidence: f64,
    /// The confidence that a category needs.
    pub threshold: f64,
    /// The strongest evidence, heaviest first.
    pub reasons: Vec<ReasonOutput>,
    /// The other categories with evidence, best first.
    pub others: Vec<OtherOutput>,
}

/// A piece of evidence for a category.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ReasonOutput {
    /// The kind: `word`, `request`, `file`, `size`, `own word`, `example`, `ordinary coding` or `matrix`.
    pub feature: String,
    /// The words of the prompt, or the start of the example.
    pub text: String,
    /// The category that it speaks for; null if it speaks for none.
    pub category: Option<String>,
    /// Weight.
    pub weight: f64,
}

/// Another category.
#[derive(Debug, JsonSchema, Serialize)]
pub struct OtherOutput {
    /// The category.
    pub category: String,
    /// The confidence in it.
    pub confidence: f64,
}

/// Returns the category of a prompt, by the user's matrix and examples.
pub fn classified(context: &Context, prompt: &str) -> Result<Classification, CommandError> {
    let path = &context.project.homes.user_config;
    let settings = MeshSettings::load(&context.disk, path);
    let settings = settings.map_err(|error| open::unusable(&error))?;
    Ok(classify(&settings.matrix, &settings.examples, prompt))
}

impl From<Classification> for ClassifyOutput {
    fn from(found: Classification) -> Self {
        let reasons = found.reasons.into_iter().map(|reason| ReasonOutput {
            feature: reason.feature.to_owned(),
            text: reason.text,
            category: reason.category,
            weight: reason.weight,
        });
        let others = found
            .others
            .into_iter()
            .map(|(category, confidence)| OtherOutput {
                category,
                confidence,
            });
        Self {
            category: found.category,
            agent: found.agent.map(|agent| agent.to_string()),
            confidence: found.confidence,
            threshold: THRESHOLD,
            reasons: reasons.collect(),
            others: others.collect(),
        }
    }
}

/// Returns why a prompt has a category, in a line: the category, its confidence and the strongest words.
pub fn why(found: &Classification) -> Option<String> {
    let category = found.category.as_ref()?;
    let own = found.reasons.iter();
    let own = own
        .filter(|reason| reason.category.as_ref() == Some(category))
        .take(3);
    let words: Vec<String> = own
        .map(|reason| format!("`{}`", on_one_line(&reason.text)))
        .collect();
    Some(format!(
        "category {category} (confidence {:.2}: {})",
        found.confidence,
        words.join(", ")
    ))
}

/// Appends the seed's matrix to the user's configuration, unless that configures one already.
pub fn init(context: &Context) -> Result<(), CommandError> {
    let path = &context.project.homes.user_config;
    let bytes = context.disk.read_if_there(path);
    let bytes = bytes.map_err(|error| disk_errors::disk_failed(&error))?;
    let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default());
    let before = MeshSettings::of_file(path, bytes.as_deref());
    let before = before.map_err(|error| open::unusable(&error))?;
    if before.matrix != Matrix::default() {
        let what = format!("{} already configures categories or roles", path.display());
        return Err(CommandError::new(Exit::No, what).hint("callosum mesh route"));
    }
    let gap = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    let written = format!("{text}{gap}{}", toml_of(&Matrix::seed()));
    // An inline table `mesh = {…}` cannot be extended: the file stays as it was then.
    MeshSettings::of_file(path, Some(written.as_bytes()))
        .map_err(|error| open::unusable(&error))?;
    let mode = 0o644;
    let folder = path.parent().unwrap_or(path);
    let done = context.disk.create_dir_all(folder);
    done.and_then(|_| context.disk.replace(path, written.as_bytes(), mode))
        .map_err(|error| disk_errors::disk_failed(&error))?;
    context.report.say(&format!(
        "wrote nine categories and three roles to {}",
        path.display()
    ));
    Ok(())
}

/// Returns a matrix as tables of config.toml.
fn toml_of(matrix: &Matrix) -> String {
    let mut text =
        "\n# Who does which kind of task. Change or delete entries as you like.\n".to_owned();
    for route in &matrix.routes {
        let Route {
            category,
            about,
            primary,
            fallback,
            within,
        } = route;
        let minutes = within.as_mins();
        let _ = writeln!(
            text,
            "[mesh.routes.{category}]\nabout = {about:?}\nprimary = \"{primary}\"\nfallback = \"{fallback}\"\nminutes = {minutes}\n"
        );
    }
    for role in &matrix.roles {
        let _ = writeln!(
            text,
            "[mesh.roles.{}]\nname = {:?}\nduties = {:?}\n",
            role.agent, role.name, role.duties
        );
    }
    text
}

/// Says that there is no such category, and which there are.
pub fn unknown(category: &str, routes: &[Route]) -> CommandError {
    if routes.is_empty() {
        let what = format!("there is no category `{category}`: none are configured");
        return CommandError::new(Exit::Usage, what).hint("callosum mesh route init");
    }
    let known: Vec<&str> = routes.iter().map(|route| route.category.as_str()).collect();
    let what = format!(
        "there is no category `{category}` (allowed: {})",
        known.join(", ")
    );
    CommandError::new(Exit::Usage, what).hint("callosum mesh route")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// CALC-ROUTE-1: what `init` writes is read back as the seed's matrix.
    #[test]
    fn the_written_matrix_is_read_back_as_it_was() {
        let text = toml_of(&Matrix::seed());
        let read = MeshSettings::of_file(Path::new("config.toml"), Some(text.as_bytes())).unwrap();
        assert_eq!(read.matrix.roles, Matrix::seed().roles);
        let mut routes = read.matrix.routes;
        let mut expected = Matrix::seed().routes;
        routes.sort_by(|one, other| one.category.cmp(&other.category));
        expected.sort_by(|one, other| one.category.cmp(&other.category));
        assert_eq!(routes, expected);
    }
}

//! The tools, one file each: the arguments as a type, and the function of the command line that
//! does the work.
//!
//! Their list is in every context of every client, so it is short: [`listed`] leaves out the parts
//! of schemas that mean nothing to a model.

mod arguments;
mod decide;
mod delegate;
mod discovery;
mod find;
mod lease;
mod ledger_query;
mod message;
mod recover;
mod runs;
mod task;

use std::sync::Arc;

use callosum_citation::tokens::estimate;
use callosum_redact::quote;
use rmcp::model::{Tool as Listed, ToolAnnotations};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

use self::arguments::{addressee, agent, needed, read};
use super::output_budget::fitted;
use callosum_app::context::Context;
use callosum_app::{CommandError, Exit};

/// Every tool, in the order in which a session needs them.
pub(super) static ALL: [Tool; 10] = [
    recover::TOOL,
    find::TOOL,
    decide::TOOL,
    delegate::TOOL,
    runs::TOOL,
    ledger_query::TOOL,
    task::TOOL,
    message::TOOL,
    discovery::TOOL,
    lease::TOOL,
];

/// A tool.
pub(super) struct Tool {
    pub(super) name: &'static str,
    /// Description for models.
    about: &'static str,
    effect: Effect,
    schema: fn() -> Map<String, Value>,
    call: fn(&Context, Value) -> Result<String, CommandError>,
}

/// Changes that a call makes, apart from caches for later answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// Nothing.
    Reads,
    /// It adds to what the project keeps or to what agents tell one another, and takes nothing away.
    Adds,
    /// The same, and asks executors, which may be on the network.
    AsksOthers,
}

impl Tool {
    /// Whether it may take minutes, in which others work.
    pub(super) fn asks_others(&self) -> bool {
        self.effect == Effect::AsksOthers
    }

    pub(super) fn call(&self, context: &Context, arguments: Value) -> Result<String, CommandError> {
        (self.call)(context, arguments)
    }

    fn listed(&self) -> Listed {
        let reads = self.effect == Effect::Reads;
        let hints = ToolAnnotations::new()
            .read_only(reads)
            .open_world(self.asks_others());
        // What changes nothing destroys nothing, and what changes something is not taken to be
        // repeatable: the protocol has both go without saying, and the list is to be short.
        let hints = if reads {
            hints
        } else {
            hints.destructive(false)
        };
        Listed::new(self.name, self.about, Arc::new((self.schema)())).with_annotations(hints)
    }
}

/// Lists the tools for clients.
pub(super) fn listed() -> Vec<Listed> {
    ALL.iter().map(Tool::listed).collect()
}

/// The tool of this name.
pub(super) fn named(name: &str) -> Option<&'static Tool> {
    ALL.iter().find(|tool| tool.name == name)
}

/// Returns as many whole pieces as fit into the budget behind the notice that quoted words are data.
fn noted(pieces: &[String], budget: u64, kind: &str) -> String {
    let room = budget.saturating_sub(estimate(quote::NOTICE));
    format!("{}{}", quote::NOTICE, fitted(pieces, room, kind))
}

/// Fails if a tool would create the project's state in its tree, which is for a person to ask for.
fn prepared(context: &Context) -> Result<(), CommandError> {
    if !context.keeps_state_in_tree() || context.is_prepared()? {
        return Ok(());
    }
    let what = format!("nothing is stored in `{}` yet", context.state().display());
    Err(CommandError::new(Exit::Environment, what).hint("ask a person to run: callosum init"))
}

/// The schema of a call's arguments, without what a model does not need to make one: titles, formats,
/// that what may be left out may be null, that nothing else may stand there, and the words for each of a few names.
fn schema<A: JsonSchema>() -> Map<String, Value> {
    let mut schema = whole_schema::<A>();
    shorten(&mut schema);
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

/// The same with all that it says.
fn whole_schema<A: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings
        .into_generator()
        .into_root_schema_for::<A>()
        .to_value()
}

fn shorten(schema: &mut Value) {
    let Value::Object(fields) = schema else {
        return;
    };
    for name in [
        "title",
        "format",
        "default",
        "maximum",
        "additionalProperties",
    ] {
        fields.remove(name);
    }
    if fields.get("minimum").is_some_and(|least| least == 0) {
        fields.remove("minimum");
    }
    if let Some(Value::Array(names)) = fields.get_mut("enum") {
        names.retain(|name| !name.is_null());
    }
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            fields.insert("type".to_owned(), only);
        }
    }
    for list in ["anyOf", "oneOf"] {
        let Some(Value::Array(mut all)) = fields.remove(list) else {
            continue;
        };
        all.retain(|one| one["type"] != "null");
        let names: Vec<Value> = all
            .iter()
            .filter_map(|one| one.get("const").cloned())
            .collect();
        if names.len() == all.len() {
            fields.insert("type".to_owned(), "string".into());
            fields.insert("enum".to_owned(), names.into());
        } else if let [Value::Object(only)] = all.as_mut_slice() {
            // The place where it is used has a description already.
            only.remove("description");
            fields.append(only);
        } else {
            fields.insert(list.to_owned(), all.into());
        }
    }
    for name in ["items", "oneOf", "anyOf"] {
        if let Some(inner) = fields.get_mut(name) {
            shorten(inner);
        }
    }
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        properties.values_mut().for_each(shorten);
    }
    // What stood in the only one of several may be several names again.
    if fields.contains_key("oneOf") {
        shorten(schema);
    }
}

#[cfg(test)]
mod tests;

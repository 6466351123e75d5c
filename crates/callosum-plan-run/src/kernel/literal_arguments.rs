//! [`argument_fault`] and [`repeats_effect`]: checks of a call before its program runs.
//!
//! A literal argument is checked against the same types as by [`Kernel::gate`](super::Kernel::gate). Arguments
//! that the program computes are left to the kernel.

use callosum_plan::{CallSite, Key, KnownValue, Value};

use super::{
    catalogue::Catalogue,
    effect::Effect,
    gate::{LONGEST_HINT, SCHEMA_WORK, map_of_pairs},
    manifest::{Manifest, Provenance},
};
use callosum_arbiter::suggest::nearest;

/// A fault in the literal arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentFault {
    /// The fault, with the capability.
    pub message: String,
    /// Suggested fix.
    pub hint: Option<String>,
}

/// Returns the first fault in a call's literal arguments: a wrong type, a missing or an unknown key.
///
/// The keys of a server's tool are checked only as far as its schema rules out others.
pub fn argument_fault(manifest: &Manifest, call: &CallSite) -> Option<ArgumentFault> {
    let fault = |text: String, hint: Option<String>| ArgumentFault {
        message: format!("`{}`: {text}", manifest.id),
        hint,
    };
    let argument = match call.arguments.as_slice() {
        [one] => one.clone(),
        several => KnownValue::vector(several),
    };
    // A misspelled key is named before the key that is missing for it.
    if let Some((key, hint)) = unknown_key(manifest, &argument) {
        let text = format!("unknown argument `{}`", key.to_value());
        return Some(fault(text, hint));
    }
    let mismatch = manifest.input.mismatch_of_known(&argument, SCHEMA_WORK)?;
    let whole: Option<Vec<Value>> = call
        .arguments
        .iter()
        .map(|one| one.whole().cloned())
        .collect();
    let map = whole.and_then(|whole| map_of_pairs(&whole));
    let map = map.filter(|map| manifest.input.mismatch_within(map, SCHEMA_WORK).is_none());
    let hint = map.map(|map| format!("write one map: `(call :{} {map})`", manifest.id));
    let hint = hint.filter(|hint| hint.len() <= LONGEST_HINT);
    Some(fault(mismatch, hint))
}

/// Returns a key that this program's own capabilities and executors refuse by name, with the ones that they take.
fn unknown_key(manifest: &Manifest, argument: &KnownValue) -> Option<(Key, Option<String>)> {
    if matches!(manifest.provenance, Provenance::ToolServer(_)) {
        return None;
    }
    let keys = manifest.input.named_keys()?;
    let names: Vec<String> = keys.iter().filter_map(name).collect();
    let (key, _) = argument.entries().into_iter().find(|(key, _)| {
        // A provider reads `"limit"` as `:limit`.
        name(key).is_none_or(|name| !names.contains(&name))
    })?;
    let near = name(&key).and_then(|name| {
        let near = nearest(&name, names.iter().map(String::as_str))?;
        Some(format!("did you mean `:{near}`?"))
    });
    let all: Vec<String> = names.iter().map(|name| format!(":{name}")).collect();
    let hint = near.unwrap_or_else(|| format!("its arguments are {}", all.join(", ")));
    Some((key, Some(hint)))
}

fn name(key: &Key) -> Option<String> {
    match key {
        Key::Keyword(name) | Key::Text(name) => Some(name.to_string()),
        _ => None,
    }
}

/// Returns whether a second call does its effect a second time, as a retry makes it: under a key of its own.
///
/// `false` for what only reads. `false` for an executor that changes no files: the ledger answers a task that
/// succeeded before. `false` for `:task.add` with an `:id`, which files one task while that is open.
pub fn repeats_effect(catalogue: &Catalogue, manifest: &Manifest, call: &CallSite) -> bool {
    let argument = call.arguments.first().map(KnownValue::entries);
    let argument = argument.unwrap_or_default();
    let value = |word: &str| {
        let mut entries = argument.iter();
        let (_, value) = entries.find(|(key, _)| name(key).as_deref() == Some(word))?;
        (value.whole() != Some(&Value::Nil)).then_some(value)
    };
    if manifest.id.as_str() == "task.add" {
        return value("id").is_none();
    }
    let changes = |manifest: &Manifest| {
        let mut effects = manifest.effects.iter();
        effects.any(|effect| {
            matches!(
                effect,
                Effect::WritesFiles
                    | Effect::WritesSession
                    | Effect::PublishesOnMesh
                    | Effect::Unknown
            )
        })
    };
    if manifest.provenance == Provenance::BuiltIn
        && manifest.effects.contains(&Effect::StartsExecutor)
    {
        let named = match value("executor").and_then(KnownValue::whole) {
            Some(Value::Text(id) | Value::Keyword(id)) => Some(id),
            _ => None,
        };
        return catalogue.iter().any(|other| {
            matches!(&other.provenance, Provenance::Executor(id)
                if named.is_none_or(|named| **named == **id))
                && changes(other)
        });
    }
    // No one but a server keeps what its tools were asked.
    !manifest.answers_by_key || changes(manifest)
}

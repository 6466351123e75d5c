//! `:capability.query`: the catalogue as plans ask for it.
//!
//! A function of the catalogue and of the outcomes alone: the same ones answer the same.

use std::collections::{BTreeMap, BTreeSet};

use callosum_plan::{Key, Value};
use thiserror::Error;

use super::{
    catalogue::{Catalogue, CatalogueQuery, QueryOrder},
    effect::TrustTier,
    manifest::{CapabilityKind, Manifest},
    outcomes::{CapabilityOutcomes, Outcomes},
};

/// Reason that a query can't be answered.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum QueryError {
    /// It is not a map.
    #[error("a query is a map, not {0}")]
    NoMap(&'static str),
    /// It has a key that queries don't have.
    #[error("queries have no {0}; allowed: :kind, :skills, :trust-tier and :order")]
    Key(String),
    /// A key has a value that it doesn't take.
    #[error("{key} is {value}; allowed: {allowed}")]
    Value {
        /// The key.
        key: &'static str,
        /// Value that it has.
        value: String,
        /// Values that it takes.
        allowed: &'static str,
    },
}

/// Reads a query from a map of `:kind`, `:skills`, `:trust-tier` and `:order`; each may be absent.
pub fn read_query(value: &Value) -> Result<CatalogueQuery, QueryError> {
    let Value::Map(entries) = value else {
        return Err(QueryError::NoMap(value.noun()));
    };
    let mut query = CatalogueQuery::default();
    for (key, value) in entries.iter() {
        let (Key::Keyword(name) | Key::Text(name)) = key else {
            return Err(QueryError::Key(key.to_value().to_string()));
        };
        match &**name {
            "kind" => query.kind = Some(kind(value)?),
            "skills" => query.skills = skills(value)?,
            "trust-tier" | "trust_tier" => query.trust_tier = tier(value)?,
            "order" => query.order = order(value)?,
            _ => return Err(QueryError::Key(key.to_value().to_string())),
        }
    }
    Ok(query)
}

/// Answers a query with a vector of maps, one for each capability.
pub fn answer_query(catalogue: &Catalogue, outcomes: &Outcomes, query: &CatalogueQuery) -> Value {
    let found = catalogue.query(query, outcomes);
    Value::vector(
        found
            .into_iter()
            .map(|manifest| described(manifest, outcomes.get(&manifest.id)))
            .collect(),
    )
}

/// A manifest as plans see it.
fn described(manifest: &Manifest, outcomes: Option<&CapabilityOutcomes>) -> Value {
    let outcomes = outcomes.cloned().unwrap_or_default();
    let calls = i64::try_from(outcomes.calls).unwrap_or(i64::MAX);
    let entries = [
        ("id", Value::keyword(manifest.id.as_str())),
        ("name", Value::text(manifest.name.as_str())),
        ("description", Value::text(manifest.description.as_str())),
        ("version", Value::text(manifest.version.as_str())),
        ("kind", Value::keyword(manifest.kind.as_str())),
        ("skills", texts(manifest.skills.iter())),
        (
            "effects",
            Value::vector(
                manifest
                    .effects
                    .iter()
                    .map(|effect| Value::keyword(effect.as_str()))
                    .collect(),
            ),
        ),
        (
            "trust-tier",
            Value::Integer(manifest.trust_tier.get().into()),
        ),
        ("sensitivity", Value::keyword(manifest.sensitivity.as_str())),
        ("source", Value::keyword(manifest.provenance.source())),
        ("provider", Value::text(manifest.provenance.provider())),
        ("input", Value::text(manifest.input.as_str())),
        ("output", Value::text(manifest.output.as_str())),
        ("answers-by-key", Value::Boolean(manifest.answers_by_key)),
        ("calls", Value::Integer(calls)),
        ("score", Value::Float(outcomes.score())),
    ];
    let entries = entries.map(|(key, value)| (Key::Keyword(key.into()), value));
    Value::map(BTreeMap::from(entries))
}

fn texts<'a>(texts: impl Iterator<Item = &'a String>) -> Value {
    Value::vector(texts.map(|text| Value::text(text.as_str())).collect())
}

fn word(value: &Value) -> Option<&str> {
    match value {
        Value::Keyword(word) | Value::Text(word) => Some(word),
        _ => None,
    }
}

fn kind(value: &Value) -> Result<CapabilityKind, QueryError> {
    let named = |word: &str| {
        CapabilityKind::ALL
            .into_iter()
            .find(|kind| kind.as_str() == word)
    };
    word(value)
        .and_then(named)
        .ok_or_else(|| QueryError::Value {
            key: ":kind",
            value: shown(value),
            allowed: ":primitive, :composite, :agent",
        })
}

fn order(value: &Value) -> Result<QueryOrder, QueryError> {
    match word(value) {
        Some("name") => Ok(QueryOrder::Name),
        Some("score") => Ok(QueryOrder::Score),
        _ => Err(QueryError::Value {
            key: ":order",
            value: shown(value),
            allowed: ":name, :score",
        }),
    }
}

fn skills(value: &Value) -> Result<BTreeSet<String>, QueryError> {
    let refuse = || QueryError::Value {
        key: ":skills",
        value: shown(value),
        allowed: "a vector of strings",
    };
    let Value::Vector(items) = value else {
        return Err(refuse());
    };
    let skill = |item| word(item).map(str::to_owned).ok_or_else(refuse);
    items.iter().map(skill).collect()
}

fn tier(value: &Value) -> Result<TrustTier, QueryError> {
    let number = match value {
        Value::Integer(number) => u8::try_from(*number).ok(),
        _ => None,
    };
    let tier = number.and_then(|number| TrustTier::try_from(number).ok());
    tier.ok_or_else(|| QueryError::Value {
        key: ":trust-tier",
        value: shown(value),
        allowed: "0 to 3",
    })
}

/// A value in a message, as far as it is short.
fn shown(value: &Value) -> String {
    value
        .to_text(200)
        .unwrap_or_else(|_| value.noun().to_owned())
}

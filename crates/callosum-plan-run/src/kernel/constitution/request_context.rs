//! Facts about a call for the policies, in their own terms.

use std::{
    collections::{HashMap, HashSet},
    str::FromStr as _,
    sync::LazyLock,
};

use cedar_policy::{
    Context, Entities, Entity, EntityId, EntityTypeName, EntityUid, Request, RestrictedExpression,
    Schema,
};

use crate::kernel::{
    effect::{Sensitivity, TrustTier},
    manifest::Manifest,
    request::CallRequest,
    run_grants::RunCaps,
};

/// Facts about a call.
pub(in crate::kernel) struct Facts<'a> {
    pub(in crate::kernel) request: &'a CallRequest,
    pub(in crate::kernel) capability: &'a CapabilityEntity,
    pub(in crate::kernel) tier: TrustTier,
    pub(in crate::kernel) sensitivity: Sensitivity,
    pub(in crate::kernel) argument_bytes: u64,
    pub(in crate::kernel) masked: usize,
    pub(in crate::kernel) withheld: usize,
    pub(in crate::kernel) calls: u64,
    pub(in crate::kernel) left: RunCaps,
}

/// A capability as policies know it, made once, since it is the same for every call.
#[derive(Clone, Debug)]
pub(in crate::kernel) struct CapabilityEntity {
    uid: EntityUid,
    /// The capability and the groups that it is in.
    entities: Vec<Entity>,
}

/// The names of types and of the one action.
struct Vocabulary {
    run: EntityTypeName,
    capability: EntityTypeName,
    group: EntityTypeName,
    effect: EntityTypeName,
    kind: EntityTypeName,
    source: EntityTypeName,
    call: EntityUid,
}

static VOCABULARY: LazyLock<Result<Vocabulary, String>> = LazyLock::new(|| {
    let name = |text| EntityTypeName::from_str(text).map_err(|error| error.to_string());
    Ok(Vocabulary {
        run: name("Run")?,
        capability: name("Capability")?,
        group: name("Group")?,
        effect: name("Effect")?,
        kind: name("Kind")?,
        source: name("Source")?,
        call: uid(&name("Action")?, "call"),
    })
});

fn vocabulary() -> Result<&'static Vocabulary, String> {
    VOCABULARY.as_ref().map_err(Clone::clone)
}

fn uid(name: &EntityTypeName, id: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(name.clone(), EntityId::new(id))
}

fn long(number: u64) -> RestrictedExpression {
    RestrictedExpression::new_long(i64::try_from(number).unwrap_or(i64::MAX))
}

fn text(text: &str) -> RestrictedExpression {
    RestrictedExpression::new_string(text.to_owned())
}

impl CapabilityEntity {
    /// Puts a manifest in the policies' terms.
    pub(in crate::kernel) fn of(manifest: &Manifest) -> Result<Self, String> {
        let words = vocabulary()?;
        let one_of = |kind, word| RestrictedExpression::new_entity_uid(uid(kind, word));
        let name = manifest.id.as_str();
        let uid_of_capability = uid(&words.capability, name);
        let groups: Vec<EntityUid> = name
            .match_indices('.')
            .map(|(at, _)| uid(&words.group, &name[..at]))
            .collect();
        let effects = manifest.effects.iter();
        let effects = effects.map(|effect| one_of(&words.effect, effect.as_str()));
        let skills = manifest.skills.iter().map(|skill| text(skill));
        let attributes = HashMap::from([
            (
                "kind".to_owned(),
                one_of(&words.kind, manifest.kind.as_str()),
            ),
            ("effects".to_owned(), RestrictedExpression::new_set(effects)),
            (
                "only_reads".to_owned(),
                RestrictedExpression::new_bool(manifest.only_reads()),
            ),
            ("tier".to_owned(), long(manifest.trust_tier.get().into())),
            (
                "sensitivity".to_owned(),
                long(manifest.sensitivity.tier().get().into()),
            ),
            (
                "source".to_owned(),
                one_of(&words.source, manifest.provenance.source()),
            ),
            ("provider".to_owned(), text(manifest.provenance.provider())),
            ("skills".to_owned(), RestrictedExpression::new_set(skills)),
            (
                "answers_by_key".to_owned(),
                RestrictedExpression::new_bool(manifest.answers_by_key),
            ),
        ]);
        let capability = Entity::new(
            uid_of_capability.clone(),
            attributes,
            groups.iter().cloned().collect(),
        );
        let mut entities = vec![capability.map_err(|error| error.to_string())?];
        let groups = groups.into_iter();
        entities.extend(groups.map(|group| Entity::new_no_attrs(group, HashSet::new())));
        Ok(Self {
            uid: uid_of_capability,
            entities,
        })
    }
}

impl Facts<'_> {
    /// Puts them in the policies' terms, held to a schema where one is given, which costs time and
    /// can't fail: they are made to fit it.
    pub(in crate::kernel) fn put(
        &self,
        schema: Option<&Schema>,
    ) -> Result<(Request, Entities), String> {
        let words = vocabulary()?;
        let run = uid(&words.run, &self.request.run);
        let attributes = HashMap::from([
            ("tier".to_owned(), long(self.tier.get().into())),
            ("plan".to_owned(), text(&self.request.plan_hash)),
        ]);
        let run_entity = Entity::new(run.clone(), attributes, HashSet::new())
            .map_err(|error| error.to_string())?;
        let entities = self.capability.entities.iter().cloned().chain([run_entity]);
        let entities =
            Entities::from_entities(entities, schema).map_err(|error| error.to_string())?;
        let context = Context::from_pairs(self.context()?).map_err(|error| error.to_string())?;
        let request = Request::new(
            run,
            words.call.clone(),
            self.capability.uid.clone(),
            context,
            schema,
        );
        Ok((request.map_err(|error| error.to_string())?, entities))
    }

    fn context(&self) -> Result<[(String, RestrictedExpression); 7], String> {
        let left = [
            ("yields", self.left.yields),
            ("tokens", self.left.tokens),
            ("cost", self.left.cost.map(|cost| cost.0)),
            ("milliseconds", self.left.milliseconds),
        ];
        let left = left
            .into_iter()
            .filter_map(|(name, left)| Some((name.to_owned(), long(left?))));
        let left = RestrictedExpression::new_record(left).map_err(|error| error.to_string())?;
        let steps = self.request.steps.iter().map(|step| text(&step.id));
        Ok([
            (
                "sensitivity".to_owned(),
                long(self.sensitivity.tier().get().into()),
            ),
            ("argument_bytes".to_owned(), long(self.argument_bytes)),
            ("masked".to_owned(), long(self.masked as u64)),
            ("withheld".to_owned(), long(self.withheld as u64)),
            ("calls".to_owned(), long(self.calls)),
            ("steps".to_owned(), RestrictedExpression::new_set(steps)),
            ("left".to_owned(), left),
        ])
    }
}

#[cfg(test)]
mod tests {
    use callosum_plan::Position;

    use super::*;
    use crate::kernel::{built_in_manifests, constitution::document::SCHEMA};
    use callosum_arbiter::budget::Money;

    /// Policies are validated over the schema, so the facts that they get must be of it, or a
    /// policy could fail that was found sound.
    #[test]
    fn facts_for_policies_are_of_their_schema() {
        let schema = SCHEMA.as_ref().unwrap();
        let capped = RunCaps {
            yields: Some(u64::MAX),
            tokens: Some(1),
            cost: Some(Money(1)),
            milliseconds: Some(1),
        };
        for manifest in built_in_manifests("1") {
            let capability = CapabilityEntity::of(&manifest).unwrap();
            let request = CallRequest {
                run: "a \"run\"".to_owned(),
                plan_hash: String::new(),
                position: Position::default(),
                capability: manifest.id.clone(),
                arguments: Vec::new(),
                key: String::new(),
                steps: Vec::new(),
            };
            for left in [RunCaps::default(), capped] {
                let facts = Facts {
                    request: &request,
                    capability: &capability,
                    tier: manifest.trust_tier,
                    sensitivity: manifest.sensitivity,
                    argument_bytes: u64::MAX,
                    masked: usize::MAX,
                    withheld: 0,
                    calls: 7,
                    left,
                };
                facts.put(Some(schema)).unwrap();
            }
        }
    }
}

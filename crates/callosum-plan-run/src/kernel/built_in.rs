//! The capabilities that this program brings along, as data. Who performs them is the program's to say.

use std::collections::BTreeSet;

use callosum_plan::{CapabilityName, Schema};

use super::{
    effect::{Effect, Sensitivity, TrustTier},
    manifest::{CapabilityKind, Manifest, Provenance, Quotas, Unheld},
};

/// Milliseconds that a delegation may take.
const DELEGATION_MS: u64 = 60 * 60 * 1000;

/// Milliseconds that a publication may take: all plans of a machine speak as one agent, which has its turn once in
/// five seconds, so that what they publish at a time is waited for, 119 others of it.
const PUBLICATION_MS: u64 = 10 * 60 * 1000;

/// Type of the argument of a delegation to an executor.
pub(super) const TASK: &str = "[:map [:prompt String] [:executor [:union String Keyword Nil] ?] \
    [:kind [:union Nil [:enum :scan :deps :tests :api \"scan\" \"deps\" \"tests\" \"api\"]] ?] \
    [:paths [:vector String] ?] [:links [:vector String] ?] [:fresh Bool ?]]";

/// Type of a task's result, as the ledger has it.
pub(super) const TASK_ANSWER: &str = "[:map [:summary String] [:task String ?] [:time String ?] \
    [:executor String ?] [:kind String? ?] [:prompt String ?] [:tokens Int? ?] \
    [:citations [:union Nil Map] ?]]";

/// One row of the table.
struct Row {
    id: &'static str,
    name: &'static str,
    description: &'static str,
    kind: CapabilityKind,
    skills: &'static [&'static str],
    input: &'static str,
    output: &'static str,
    effects: &'static [Effect],
    sensitivity: Sensitivity,
    milliseconds: u64,
    answers_by_key: bool,
}

/// Fields that all calls of a model share.
const ASKS_MODEL: Row = Row {
    id: "",
    name: "",
    description: "",
    kind: CapabilityKind::Primitive,
    skills: &[],
    input: "",
    output: "",
    effects: &[Effect::StartsExecutor, Effect::AsksModel],
    sensitivity: Sensitivity::Project,
    milliseconds: DELEGATION_MS,
    answers_by_key: true,
};

const ROWS: [Row; 15] = [
    Row {
        id: CapabilityName::DELEGATE,
        name: "delegate",
        description: "Delegates a task to an executor of the registry and returns its summary.",
        kind: CapabilityKind::Agent,
        skills: &["delegation"],
        input: TASK,
        output: TASK_ANSWER,
        effects: &[Effect::StartsExecutor],
        sensitivity: Sensitivity::Project,
        milliseconds: DELEGATION_MS,
        answers_by_key: true,
    },
    Row {
        id: "capability.query",
        name: "capability query",
        description: "Returns capabilities by kind, skills and trust tier.",
        kind: CapabilityKind::Primitive,
        skills: &["discovery"],
        input: "[:union [:map [:kind [:union String Keyword] ?] [:skills [:vector [:union String \
                Keyword]] ?] [:trust-tier Int ?] [:order [:union String Keyword] ?]] [:vector Never]]",
        output: "[:vector Map]",
        effects: &[Effect::ReadsCatalogue],
        sensitivity: Sensitivity::Public,
        milliseconds: 10_000,
        answers_by_key: true,
    },
    Row {
        id: "chain.query",
        name: "chain query",
        description: "Returns what a run did, as a tree of actions.",
        kind: CapabilityKind::Primitive,
        skills: &["history"],
        input: "[:union [:map [:run [:union String Keyword Nil] ?] [:task String? ?] [:executor [:union \
                String Keyword Nil] ?] [:event [:union String Keyword Nil] ?] [:since String? ?] [:until \
                String? ?] [:limit Int ?]] [:vector Never]]",
        output: "Any",
        effects: &[Effect::ReadsLedger],
        sensitivity: Sensitivity::Personal,
        milliseconds: 60_000,
        answers_by_key: true,
    },
    Row {
        id: "fs.read",
        name: "read a file",
        description: "Returns the text of a file of the project.",
        kind: CapabilityKind::Primitive,
        skills: &["reading"],
        input: "[:union String [:map [:path String] [:from Int? ?] [:lines Int? ?]]]",
        output: "[:map [:path String] [:from Int] [:lines Int] [:text String]]",
        effects: &[Effect::ReadsFiles],
        sensitivity: Sensitivity::Project,
        milliseconds: 10_000,
        answers_by_key: true,
    },
    Row {
        id: "horizon.build",
        name: "horizon build",
        description: "Returns what is known about a topic within a token budget, and what was left out.",
        kind: CapabilityKind::Composite,
        skills: &["history", "context"],
        input: "[:map [:intent [:union String Keyword] ?] [:about String ?] [:max-tokens Int ?] [:sources [:vector \
                [:union String Keyword]] ?]]",
        output: "Map",
        effects: &[Effect::ReadsLedger, Effect::ReadsSession],
        sensitivity: Sensitivity::Personal,
        milliseconds: 60_000,
        answers_by_key: true,
    },
    Row {
        id: "ledger.query",
        name: "ledger query",
        description: "Returns entries of the ledger.",
        kind: CapabilityKind::Primitive,
        skills: &["history"],
        input: "[:union [:map [:task String? ?] [:executor [:union String Keyword Nil] ?] [:text String? \
                ?] [:since String? ?] [:until String? ?] [:mode [:union String Keyword Nil] ?] [:repo \
                String? ?] [:branch String? ?] [:limit Int ?]] [:vector Never]]",
        output: "[:vector Map]",
        effects: &[Effect::ReadsLedger],
        sensitivity: Sensitivity::Personal,
        milliseconds: 60_000,
        answers_by_key: true,
    },
    Row {
        id: "llm.generate-plan",
        name: "generate a plan",
        description: "Asks a model for a plan, and returns it if it keeps to what was allowed.",
        skills: &["planning"],
        input: "[:map [:goal String] [:model [:union String Keyword Nil] ?] [:context Any ?] [:feedback [:union Nil \
                [:vector String]] ?] [:constraints [:map [:caps [:vector [:union String Keyword]]] [:max-yields Int ?]] \
                ?] [:output-schema [:union String Keyword Nil] ?]]",
        output: "[:map [:plan-source String] [:caps [:vector String]] [:max-yields Int] [:rationale String?] \
                 [:model String] [:attempts Int]]",
        ..ASKS_MODEL
    },
    Row {
        id: "llm.infer",
        name: "ask a model",
        description: "Asks a model and returns its text.",
        skills: &["language"],
        input: "[:map [:prompt String] [:model [:union String Keyword Nil] ?]]",
        output: "[:map [:text String] [:model String]]",
        ..ASKS_MODEL
    },
    Row {
        id: "llm.review",
        name: "review a plan",
        description: "Asks a model to vote on a plan in one role.",
        skills: &["planning", "review"],
        input: "[:map [:goal String] [:plan String] [:role [:union String Keyword]] [:model [:union String Keyword Nil] \
                ?] [:critiques [:union Nil [:vector String]] ?]]",
        output: "[:map [:vote Keyword] [:reasons [:vector String]] [:rule String?] [:role String] [:model String]]",
        ..ASKS_MODEL
    },
    Row {
        id: "mesh.publish",
        name: "publish on the mesh",
        description: "Publishes an event to the other agents of the project.",
        kind: CapabilityKind::Primitive,
        skills: &["telling"],
        input: "[:map [:topic [:union String Keyword]] [:payload Map ?]]",
        output: "[:map [:id String] [:topic String]]",
        effects: &[Effect::PublishesOnMesh],
        sensitivity: Sensitivity::Public,
        milliseconds: PUBLICATION_MS,
        answers_by_key: true,
    },
    Row {
        id: "nlp.classify",
        name: "classify a text",
        description: "Asks a model which of some labels fits a text.",
        skills: &["language", "classification"],
        input: "[:map [:text String] [:labels [:vector [:union String Keyword]]] [:model [:union String Keyword Nil] ?]]",
        output: "[:map [:label String] [:model String]]",
        ..ASKS_MODEL
    },
    Row {
        id: "nlp.sentiment",
        name: "sentiment of texts",
        description: "Asks a model whether each text is positive, negative or neutral.",
        skills: &["language", "sentiment-analysis"],
        input: "[:union [:vector String] [:map [:texts [:vector String]] [:model [:union String Keyword Nil] ?]]]",
        output: "[:vector Keyword]",
        ..ASKS_MODEL
    },
    Row {
        id: "nlp.summarize",
        name: "summarize a text",
        description: "Asks a model for a summary of a text.",
        skills: &["language", "summary"],
        input: "[:map [:text String] [:sentences Int ?] [:model [:union String Keyword Nil] ?]]",
        output: "[:map [:text String] [:model String]]",
        ..ASKS_MODEL
    },
    Row {
        id: "session.decide",
        name: "note a decision",
        description: "Writes a decision and its reason into the project's notes.",
        kind: CapabilityKind::Primitive,
        skills: &["notes"],
        input: "[:map [:decision String] [:because String? ?] [:cite [:vector String] ?] [:assume Bool \
                ?]]",
        output: "Any",
        effects: &[Effect::ReadsFiles, Effect::WritesSession],
        sensitivity: Sensitivity::Public,
        milliseconds: 10_000,
        answers_by_key: true,
    },
    Row {
        id: "task.add",
        name: "add a task",
        description: "Adds a task for the project.",
        kind: CapabilityKind::Primitive,
        skills: &["notes"],
        input: "[:map [:prompt String] [:to [:union String Keyword Nil] ?] [:priority Int? ?] [:id String? ?]]",
        output: "[:map [:task String]]",
        effects: &[Effect::WritesSession],
        sensitivity: Sensitivity::Public,
        milliseconds: 10_000,
        answers_by_key: true,
    },
];

/// Returns the manifests of the capabilities that this program brings along, in the order of their
/// names.
pub fn built_in_manifests(version: &str) -> Vec<Manifest> {
    ROWS.iter()
        .filter_map(|row| row.manifest(version))
        .collect()
}

impl Row {
    /// A row that were wrong would be missing, which a test excludes.
    fn manifest(&self, version: &str) -> Option<Manifest> {
        Some(Manifest {
            id: CapabilityName::parse(self.id).ok()?,
            name: self.name.to_owned(),
            description: self.description.to_owned(),
            version: version.to_owned(),
            kind: self.kind,
            skills: self.skills.iter().map(|&skill| skill.to_owned()).collect(),
            input: Schema::read(self.input).ok()?,
            output: Schema::read(self.output).ok()?,
            effects: self.effects.iter().copied().collect(),
            trust_tier: TrustTier::OWN,
            sensitivity: self.sensitivity,
            sensitive_fields: BTreeSet::new(),
            quotas: Quotas {
                milliseconds: self.milliseconds,
                ..Quotas::default()
            },
            provenance: Provenance::BuiltIn,
            answers_by_key: self.answers_by_key,
            unheld: Unheld::default(),
            unheld_output: Unheld::default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CCOS-CAP-1: every built-in capability has a manifest, in one order.
    #[test]
    fn every_row_is_a_manifest() {
        let manifests = built_in_manifests("1");
        assert_eq!(manifests.len(), ROWS.len());
        assert!(manifests.is_sorted_by_key(|manifest| manifest.id.clone()));
    }
    #[test]
    fn an_executor_could_take_the_name_of_one_capability_only() {
        let manifests = built_in_manifests("1");
        let ids = manifests.iter().map(|manifest| manifest.id.as_str());
        let agents: Vec<&str> = ids.filter(|id| id.starts_with("agent.")).collect();
        assert_eq!(agents, [CapabilityName::DELEGATE]);
    }

    /// CCOS-CAP-1: arguments of a wrong type are refused by the manifest, before anything is done with them.
    #[test]
    fn arguments_are_held_to_the_types_of_their_keys() {
        let manifests = built_in_manifests("1");
        let fits = |id: &str, argument: &str| {
            let manifest = manifests.iter().find(|one| one.id.as_str() == id);
            let argument = callosum_plan::Value::read(argument).unwrap();
            let mismatch = manifest.unwrap().input.mismatch_within(&argument, 1000);
            mismatch.is_none()
        };
        for (id, right, wrong) in [
            (
                "agent.delegate",
                "{:prompt \"p\" :executor :codex :kind :scan :paths [\"src\"]}",
                "{:prompt \"p\" :paths \"src\"}",
            ),
            (
                "agent.delegate",
                "{:prompt \"p\" :kind nil}",
                "{:prompt \"p\" :kind :all}",
            ),
            (
                "capability.query",
                "{:skills [\"a\"]}",
                "{:trust-tier \"1\"}",
            ),
            ("chain.query", "{:run :this}", "{:run 7}"),
            (
                "fs.read",
                "{:path \"a\" :from 2}",
                "{:path \"a\" :from \"2\"}",
            ),
            (
                "horizon.build",
                "{:intent \"x\" :sources [:ledger]}",
                "{:intent 1}",
            ),
            ("ledger.query", "[]", "{:limit \"3\"}"),
            (
                "mesh.publish",
                "{:topic \"a.b\"}",
                "{:topic \"a.b\" :payload []}",
            ),
            (
                "session.decide",
                "{:decision \"d\"}",
                "{:decision \"d\" :cite \"a:1\"}",
            ),
            ("task.add", "{:prompt \"p\" :to nil}", "{:to \"codex\"}"),
        ] {
            assert!(fits(id, right), "{id} {right}");
            assert!(!fits(id, wrong), "{id} {wrong}");
        }
    }
}

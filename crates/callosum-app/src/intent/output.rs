//! The output of `callosum intent`, as programs read it.

use std::collections::BTreeMap;

use callosum_intent::graph::{
    Conflict, ConflictKind, Edge, Formulation, Graph, Intent, StatusRecord, TreeRow,
};
use callosum_redact::terminal_escape::on_one_line;
use schemars::JsonSchema;
use serde::Serialize;

use super::link::{LinkOutput, LinkStates, proposed_status};
use crate::context::Context;

/// `callosum intent show --json`, and the same of `add`, `status`, `relate`, `link` and `archive`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct IntentOutput {
    /// Its id.
    pub id: String,
    /// A short name.
    pub name: String,
    /// The goal, in a sentence.
    pub goal: String,
    /// Its state.
    pub status: String,
    /// Its urgency, from 1 to 10; 10 is the most urgent.
    pub priority: u8,
    /// The text that it was formulated from.
    pub original_request: Option<String>,
    /// Limits that a plan for it must keep, by key.
    pub constraints: BTreeMap<String, Vec<String>>,
    /// Wishes that a plan for it may miss, by key.
    pub preferences: BTreeMap<String, Vec<String>>,
    /// Signs by which one sees that the goal was reached.
    pub success_criteria: Vec<String>,
    /// The id of the intent that it is a part of.
    pub parent: Option<String>,
    /// The ids of its parts.
    pub children: Vec<String>,
    /// The ids of intents that it depends on and that are not completed.
    pub waits_for: Vec<String>,
    /// Its relations, from either end.
    pub relations: Vec<RelationOutput>,
    /// Intents at work that get in its way.
    pub conflicts: Vec<ConflictOutput>,
    /// The tasks and beads that work for it.
    pub links: Vec<LinkOutput>,
    /// `completed` if all its tasks and beads are done and it is not; null otherwise. Nothing changes the state by itself.
    pub proposed_status: Option<String>,
    /// Its cause.
    pub triggered_by: String,
    /// The time of its creation.
    pub created: String,
    /// The time of its last change.
    pub updated: String,
    /// Its origin.
    pub provenance: ProvenanceOutput,
    /// The model that formulated it, with its cost; null if a person or rules did.
    pub formulation: Option<FormulationOutput>,
    /// The changes of its state, the oldest first.
    pub history: Vec<StatusChangeOutput>,
}

/// A relation of two intents.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RelationOutput {
    /// The id of the first intent.
    pub from: String,
    /// The kind, such as `depends_on`.
    pub relation: String,
    /// The id of the second intent.
    pub to: String,
    /// Its strength, in percent.
    pub weight: u8,
}

/// A conflict with an intent at work.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ConflictOutput {
    /// The id of the other intent.
    pub with: String,
    /// `conflicts_with`, `blocks`, `same_goal` or `same_paths`.
    pub kind: String,
    /// Paths that both are executing on.
    pub paths: Vec<String>,
}

/// The origin of an intent.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ProvenanceOutput {
    /// The agent, if that is not a person.
    pub agent: Option<String>,
    /// The agent's session.
    pub session: Option<String>,
    /// The run of a plan.
    pub run: Option<String>,
    /// The branch of the repository.
    pub branch: Option<String>,
}

/// The formulation of an intent by a model.
#[derive(Debug, JsonSchema, Serialize)]
pub struct FormulationOutput {
    /// The id of the model.
    pub model: String,
    /// The number of times that it was asked.
    pub attempts: u32,
    /// The tokens of prompts and replies.
    pub tokens: u64,
    /// The cost in millionths of a US dollar.
    pub cost_microdollars: u64,
    /// The reason why rules formulated the intent after all; null if the model did.
    pub fell_back: Option<String>,
}

/// A change of an intent's state.
#[derive(Debug, JsonSchema, Serialize)]
pub struct StatusChangeOutput {
    /// The time of the change.
    pub at: String,
    /// The state before.
    pub from: String,
    /// The state after.
    pub to: String,
    /// The reason.
    pub reason: String,
    /// The run of a plan whose outcome it is.
    pub run: Option<String>,
    /// The agent that made it, if that is not a person.
    pub agent: Option<String>,
}

/// `callosum intent list --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct IntentListOutput {
    /// The intents, the most urgent first.
    pub intents: Vec<ListedIntentOutput>,
    /// The number of intents that were not listed.
    pub hidden: usize,
}

/// An intent of a list.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ListedIntentOutput {
    /// Its id.
    pub id: String,
    /// Its state.
    pub status: String,
    /// Its urgency.
    pub priority: u8,
    /// A short name.
    pub name: String,
    /// The goal.
    pub goal: String,
    /// The id of the intent that it is a part of.
    pub parent: Option<String>,
    /// The ids of intents that it depends on and that are not completed.
    pub waits_for: Vec<String>,
    /// The tasks and beads that work for it.
    pub links: Vec<LinkOutput>,
    /// The time of its last change.
    pub updated: String,
}

/// `callosum intent tree --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct IntentTreeOutput {
    /// The intents in the order of the tree: each parent before its parts.
    pub intents: Vec<TreeIntentOutput>,
}

/// An intent of a tree.
#[derive(Debug, JsonSchema, Serialize)]
pub struct TreeIntentOutput {
    /// Its distance from the root.
    pub depth: usize,
    /// Its id.
    pub id: String,
    /// Its state.
    pub status: String,
    /// A short name.
    pub name: String,
    /// The tasks and beads that work for it.
    pub links: Vec<LinkOutput>,
    /// The number of its parts that are below the depth that was asked for.
    pub hidden: usize,
}

impl IntentOutput {
    /// Returns everything that the graph has about an intent, with the states of its tasks and beads.
    pub fn of(context: &Context, graph: &Graph, intent: &Intent) -> Self {
        let links = LinkStates::gather(context, graph, [&intent.id]).of(graph, &intent.id);
        let proposed = proposed_status(intent.status, &links);
        let conflicts = graph.conflicts_of(&intent.id);
        let relations = graph.edges_of(&intent.id);
        let provenance = intent.provenance.clone();
        Self {
            id: intent.id.to_string(),
            name: intent.name.clone(),
            goal: intent.goal.clone(),
            status: intent.status.to_string(),
            priority: intent.priority.number(),
            original_request: intent.original_request.clone(),
            constraints: intent.constraints.clone(),
            preferences: intent.preferences.clone(),
            success_criteria: intent.success_criteria.clone(),
            parent: intent.parent.as_ref().map(ToString::to_string),
            children: ids(graph.children(&intent.id)),
            waits_for: ids(graph.waits_for(&intent.id)),
            relations: relations.iter().map(RelationOutput::of).collect(),
            conflicts: conflicts
                .iter()
                .map(|conflict| ConflictOutput::of(conflict, intent))
                .collect(),
            links,
            proposed_status: proposed.map(|status| status.to_string()),
            triggered_by: intent.triggered_by.as_str().to_owned(),
            created: intent.created.to_string(),
            updated: intent.updated.to_string(),
            provenance: ProvenanceOutput {
                agent: provenance.agent,
                session: provenance.session,
                run: provenance.run,
                branch: provenance.branch,
            },
            formulation: intent.formulation.as_ref().map(FormulationOutput::of),
            history: graph
                .history(&intent.id)
                .iter()
                .map(StatusChangeOutput::of)
                .collect(),
        }
    }

    /// Returns the intent on one line, with its line end.
    pub fn line(&self) -> String {
        format!(
            "{} P{} {} {}\n",
            self.id,
            self.priority,
            self.status,
            on_one_line(&self.name)
        )
    }
}

impl FormulationOutput {
    fn of(formulation: &Formulation) -> Self {
        let formulation = formulation.clone();
        Self {
            model: formulation.model,
            attempts: formulation.attempts,
            tokens: formulation.tokens,
            cost_microdollars: formulation.cost_microdollars,
            fell_back: formulation.fell_back,
        }
    }
}

impl RelationOutput {
    fn of(edge: &Edge) -> Self {
        Self {
            from: edge.from.to_string(),
            relation: edge.relation.to_string(),
            to: edge.to.to_string(),
            weight: edge.weight.percent(),
        }
    }
}

impl ConflictOutput {
    fn of(conflict: &Conflict, intent: &Intent) -> Self {
        let with = if conflict.one == intent.id {
            &conflict.other
        } else {
            &conflict.one
        };
        let paths = match &conflict.kind {
            ConflictKind::SamePaths(paths) => paths.clone(),
            ConflictKind::Stated(_) | ConflictKind::SameGoal => Vec::new(),
        };
        Self {
            with: with.to_string(),
            kind: conflict.kind.as_str().to_owned(),
            paths,
        }
    }
}

impl StatusChangeOutput {
    fn of(record: &StatusRecord) -> Self {
        Self {
            at: record.at.to_string(),
            from: record.from.to_string(),
            to: record.to.to_string(),
            reason: record.reason.clone(),
            run: record.run.clone(),
            agent: record.agent.clone(),
        }
    }
}

impl ListedIntentOutput {
    /// Returns the row of an intent.
    pub fn of(graph: &Graph, states: &LinkStates, intent: &Intent) -> Self {
        let waits_for = if intent.status.is_closed() {
            Vec::new()
        } else {
            ids(graph.waits_for(&intent.id))
        };
        Self {
            id: intent.id.to_string(),
            status: intent.status.to_string(),
            priority: intent.priority.number(),
            name: intent.name.clone(),
            goal: intent.goal.clone(),
            parent: intent.parent.as_ref().map(ToString::to_string),
            waits_for,
            links: states.of(graph, &intent.id),
            updated: intent.updated.to_string(),
        }
    }
}

impl TreeIntentOutput {
    /// Returns the row of an intent in a tree.
    pub fn of(graph: &Graph, states: &LinkStates, row: &TreeRow<'_>) -> Self {
        Self {
            depth: row.depth,
            id: row.intent.id.to_string(),
            status: row.intent.status.to_string(),
            name: row.intent.name.clone(),
            links: states.of(graph, &row.intent.id),
            hidden: row.hidden,
        }
    }
}

fn ids(intents: Vec<&Intent>) -> Vec<String> {
    let ids = intents.into_iter();
    ids.map(|intent| intent.id.to_string()).collect()
}

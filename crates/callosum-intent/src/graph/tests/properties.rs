//! Properties of the graph over any sequence of changes, and of formulation over any text.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn any_change() -> impl Strategy<Value = Change> {
    let name = || prop::sample::select(vec!["a", "b", "c", "d", "e", "f"]);
    let relation = || prop::sample::select(Relation::ALL.to_vec());
    let status = || prop::sample::select(Status::ALL.to_vec());
    let new = (
        name(),
        prop::option::of(name()),
        prop::collection::vec((relation(), name()), 0..3),
        status(),
    );
    let create = new.prop_map(|(name, parent, relations, status)| {
        let relations = relations.into_iter();
        let new = NewIntent {
            parent: parent.map(id),
            relations: relations
                .map(|(relation, to)| NewRelation::new(relation, id(to)))
                .collect(),
            status,
            ..NewIntent::of_goal("goal")
        };
        created(name, new)
    });
    let relate = (name(), relation(), name());
    let relate = relate.prop_map(|(from, relation, to)| related(from, relation, to));
    let modify = (name(), relation(), name(), 1..=100u8);
    let modify = modify.prop_map(|(from, relation, to, percent)| {
        Change::IntentRelationshipModified(RelationRecord {
            edge: Edge {
                from: id(from),
                relation,
                to: id(to),
                weight: percent.try_into().unwrap(),
            },
            provenance: Provenance::default(),
        })
    });
    let step = (name(), status(), status());
    let step = step.prop_map(|(name, from, to)| moved(name, from, to));
    let link = (name(), name(), any::<bool>());
    let link = link.prop_map(|(intent, task, is_new)| linked(intent, Link::task(task), is_new));
    prop_oneof![3 => create, 5 => relate, 1 => modify, 3 => step, 2 => link]
}

/// Returns true if no intent reaches itself through dependencies and subgoals, by repeated removal of intents without any.
fn is_acyclic(graph: &Graph) -> bool {
    let mut edges: Vec<Edge> = graph.edges();
    edges.retain(|edge| edge.relation.is_acyclic());
    loop {
        let sources: BTreeSet<IntentId> = edges.iter().map(|edge| edge.from.clone()).collect();
        let before = edges.len();
        edges.retain(|edge| sources.contains(&edge.to));
        if edges.is_empty() {
            return true;
        }
        if edges.len() == before {
            return false;
        }
    }
}

proptest! {
    /// CCOS-ARB-1: the graph is a DAG after any sequence of changes, some of them refused.
    #[test]
    fn any_sequence_of_changes_leaves_a_graph_without_cycles(changes in prop::collection::vec(any_change(), 0..60)) {
        let mut graph = Graph::default();
        for (second, change) in (0..).zip(&changes) {
            let before = graph.clone();
            if graph.apply(change, at(second)).is_ok() {
                prop_assert_eq!(graph.changes(), before.changes() + 1);
            } else {
                prop_assert_eq!(&graph, &before);
            }
            prop_assert!(is_acyclic(&graph), "{:?}", graph.edges());
        }
        for intent in graph.intents() {
            let parents = graph.edges_of(&intent.id);
            let parents = parents.iter().filter(|edge| edge.relation == Relation::IsSubgoalOf && edge.from == intent.id);
            let parents: Vec<&IntentId> = parents.map(|edge| &edge.to).collect();
            prop_assert_eq!(parents, intent.parent.iter().collect::<Vec<_>>());
            prop_assert!(graph.ancestors(&intent.id).len() < graph.len());
        }
    }

    /// The changes are all there is: applying those that were accepted again gives the same graph.
    #[test]
    fn a_replay_of_the_accepted_changes_gives_the_same_graph(changes in prop::collection::vec(any_change(), 0..60)) {
        let mut graph = Graph::default();
        let mut accepted = Vec::new();
        for (second, change) in (0..).zip(changes) {
            if graph.apply(&change, at(second)).is_ok() {
                accepted.push((change, at(second)));
            }
        }
        let mut replayed = Graph::default();
        for (change, at) in accepted {
            let json = serde_json::to_string(&change).unwrap();
            let read: Change = serde_json::from_str(&json).unwrap();
            replayed.apply(&read, at).unwrap();
        }
        prop_assert_eq!(replayed, graph);
    }

    /// Formulation takes any text: it never panics, and what has a goal is accepted by the graph.
    #[test]
    fn formulation_of_any_text_gives_an_intent_within_bounds(text in "\\PC{0,300}", more in "(without |only in |by friday |under \\$5|`|\\. |\n\n|prefer ){0,80}") {
        let new = formulate(&format!("{text} {more} {text}"), |path| path.len() % 2 == 0);
        if !new.goal.is_empty() {
            prop_assert_eq!(new.check(), Ok(()));
        }
    }
}

//! What is in a catalogue, and how it is asked.

use callosum_plan::Value;

use super::{catalogue, manifest};
use crate::kernel::{Catalogue, QueryError, TrustTier, answer_query, read_query};

/// CCOS-CAP-1: the seed's own query, and what is no query.
#[test]
fn capabilities_are_found_by_kind_skills_and_trust() {
    let catalogue = catalogue();
    let ask = |query: &str| {
        let query = read_query(&Value::read(query).unwrap())?;
        let Value::Vector(found) = answer_query(&catalogue, &query) else {
            panic!("a query answers a vector");
        };
        Ok::<Vec<String>, QueryError>(
            found
                .iter()
                .map(|one| match one {
                    Value::Map(map) => map
                        .get(&callosum_plan::Key::Keyword("id".into()))
                        .unwrap()
                        .to_string(),
                    other => panic!("{other}"),
                })
                .collect(),
        )
    };
    assert_eq!(
        ask("{:kind :agent :skills [\"analysis\"] :trust-tier 2}").unwrap(),
        [":agent.claude"]
    );
    assert!(
        ask("{:kind :agent :skills [\"analysis\"] :trust-tier 3}")
            .unwrap()
            .is_empty()
    );
    assert!(
        ask("{:kind :agent :skills [\"analysis\" \"flying\"]}")
            .unwrap()
            .is_empty()
    );
    assert_eq!(ask("{}").unwrap().len(), catalogue.len());
    for wrong in [
        "{:kind :robot}",
        "{:skills \"a\"}",
        "{:trust-tier 4}",
        "{:trust 1}",
        "[]",
        "{1 2}",
    ] {
        assert!(ask(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn two_manifests_of_one_name_are_refused() {
    let (one, other) = (
        manifest("a.b", &[], TrustTier::OWN),
        manifest(":a/b", &[], TrustTier::OWN),
    );
    let error = Catalogue::new([one, other]).unwrap_err();
    assert!(error.to_string().contains("`a.b`"), "{error}");
}

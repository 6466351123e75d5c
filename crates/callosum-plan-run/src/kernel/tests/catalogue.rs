//! Content of a catalog, and queries on it.

use callosum_plan::Value;

use super::{Money, catalogue, manifest, name};
use crate::kernel::{
    Catalogue, QueryError, TrustTier, answer_query,
    outcomes::{CallOutcome, Outcomes},
    read_query,
};

/// CCOS-CAP-1: the seed's own query, and what is no query.
#[test]
fn capabilities_are_found_by_kind_skills_and_trust() {
    let catalogue = catalogue();
    let mut outcomes = Outcomes::new();
    let fine = CallOutcome {
        failure: None,
        milliseconds: Some(3),
        tokens: 0,
        cost: Money(0),
    };
    let best = outcomes.entry(name("tool.github.new")).or_default();
    best.add(&fine, jiff::Timestamp::UNIX_EPOCH);
    let ask = |query: &str| {
        let query = read_query(&Value::read(query).unwrap())?;
        let Value::Vector(found) = answer_query(&catalogue, &outcomes, &query) else {
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
    let by_name = ask("{:order :name}").unwrap();
    assert!(by_name.is_sorted());
    let mut by_score = ask("{:order :score}").unwrap();
    assert_eq!(by_score.remove(0), ":tool.github.new");
    assert!(by_score.is_sorted(), "those of one score are by name");
    for wrong in [
        "{:order :price}",
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

//! The gate, with friendly and hostile calls.

mod addressee;
mod catalogue;
mod change;
mod constitution;
mod literal_arguments;

use std::{collections::BTreeSet, sync::Arc};

use callosum_plan::{Allowlist, CapabilityName, Position, Schema, Value};

use super::*;
use callosum_arbiter::budget::Money;

const HEADER: &str = "// callosum-constitution: format 1, version 7\n";

fn name(text: &str) -> CapabilityName {
    CapabilityName::parse(text).unwrap()
}

fn manifest(id: &str, effects: &[Effect], tier: TrustTier) -> Manifest {
    Manifest {
        id: name(id),
        name: id.to_owned(),
        description: String::new(),
        version: "1".to_owned(),
        kind: CapabilityKind::Primitive,
        skills: BTreeSet::new(),
        input: Schema::read("Any").unwrap(),
        output: Schema::read("Any").unwrap(),
        effects: effects.iter().copied().collect(),
        trust_tier: tier,
        sensitivity: Sensitivity::Project,
        sensitive_fields: BTreeSet::from(["patient".to_owned()]),
        quotas: Quotas::default(),
        provenance: Provenance::BuiltIn,
        answers_by_key: true,
        unheld: Unheld::default(),
        unheld_output: Unheld::default(),
    }
}

fn catalogue() -> Arc<Catalogue> {
    let server = |id, effects: &[Effect], tier| Manifest {
        provenance: Provenance::ToolServer("github".to_owned()),
        ..manifest(id, effects, tier)
    };
    let manifests = [
        manifest("fs.read", &[Effect::ReadsFiles], TrustTier::OWN),
        manifest("mesh.publish", &[Effect::PublishesOnMesh], TrustTier::OWN),
        manifest("fs.write", &[Effect::WritesFiles], TrustTier::OWN),
        Manifest {
            sensitivity: Sensitivity::Secret,
            ..manifest("keys.read", &[Effect::ReadsFiles], TrustTier::OWN)
        },
        Manifest {
            kind: CapabilityKind::Agent,
            skills: BTreeSet::from(["analysis".to_owned(), "images".to_owned()]),
            provenance: Provenance::Executor("claude".to_owned()),
            ..manifest(
                "agent.claude",
                &[Effect::StartsExecutor],
                TrustTier::TRUSTED,
            )
        },
        server(
            "tool.github.trusted",
            &[Effect::CallsServer],
            TrustTier::TRUSTED,
        ),
        server(
            "tool.github.new",
            &[Effect::CallsServer, Effect::Unknown],
            TrustTier::CONFIGURED,
        ),
    ];
    Arc::new(Catalogue::new(manifests).unwrap())
}

fn kernel(constitution: Constitution) -> Kernel {
    Kernel::new(catalogue(), constitution)
}

fn call(capability: &str, arguments: &str) -> CallRequest {
    CallRequest {
        run: "run-1".to_owned(),
        plan_hash: "sha256:00".to_owned(),
        position: Position::default(),
        capability: name(capability),
        arguments: vec![Value::read(arguments).unwrap()],
        key: "key-1".to_owned(),
        steps: Vec::new(),
    }
}

fn standing() -> RunGrants {
    RunGrants {
        tier: TrustTier::OWN,
        allowed: Allowlist::parse(&["*"]).unwrap(),
        ..RunGrants::default()
    }
}

/// Returns the name of a ruling, in a word.
fn word_of(ruling: &Ruling) -> &'static str {
    match ruling {
        Ruling::Approved(_) => "approved",
        Ruling::NeedsApproval(_) => "asked",
        Ruling::Denied(denial) => denial.kind.as_str(),
    }
}

/// CCOS-GOV-1: what only reads passes, what is trusted does, a person is asked for the rest.
#[test]
fn built_in_constitution_asks_for_what_is_trusted_little() {
    let kernel = kernel(Constitution::built_in());
    assert_eq!(kernel.constitution().why_closed(), None);
    for (capability, tier, ruling) in [
        ("fs.read", 3, "approved"),
        ("fs.read", 0, "approved"),
        ("mesh.publish", 3, "approved"),
        ("mesh.publish", 0, "asked"),
        ("agent.claude", 3, "approved"),
        ("agent.claude", 1, "approved"),
        ("agent.claude", 0, "asked"),
        ("fs.write", 3, "asked"),
        ("tool.github.trusted", 3, "approved"),
        ("tool.github.new", 3, "asked"),
        ("keys.read", 3, "approved"),
        ("keys.read", 2, "forbidden"),
    ] {
        let standing = RunGrants {
            tier: tier.try_into().unwrap(),
            ..standing()
        };
        let ruled = kernel.gate(&call(capability, "{:a 1}"), &standing);
        assert_eq!(word_of(&ruled), ruling, "{capability} at {tier}: {ruled:?}");
        assert!(!ruled.grounds().policies.is_empty());
        assert_eq!(ruled.grounds().constitution, kernel.constitution().hash());
    }
}

/// CCOS-GOV-1: trust is held against sensitivity.
#[test]
fn what_a_run_has_read_bounds_where_it_may_send() {
    let kernel = kernel(Constitution::built_in());
    for (sensitivity, capability, ruling) in [
        (Sensitivity::Project, "tool.github.trusted", "approved"),
        (Sensitivity::Personal, "tool.github.trusted", "approved"),
        (Sensitivity::Secret, "tool.github.trusted", "forbidden"),
        (Sensitivity::Secret, "agent.claude", "forbidden"),
        (Sensitivity::Secret, "mesh.publish", "approved"),
        (Sensitivity::Personal, "tool.github.new", "asked"),
    ] {
        let standing = RunGrants {
            sensitivity,
            ..standing()
        };
        let ruled = kernel.gate(&call(capability, "{}"), &standing);
        assert_eq!(word_of(&ruled), ruling, "{sensitivity} to {capability}");
    }
}

#[test]
fn a_persons_word_is_for_one_call_and_never_beats_a_forbid() {
    let kernel = kernel(Constitution::built_in());
    let request = call("fs.write", "{}");
    let mut standing = standing();
    standing
        .decisions
        .insert("key-2".to_owned(), PersonsDecision::Approved);
    assert_eq!(word_of(&kernel.gate(&request, &standing)), "asked");
    standing
        .decisions
        .insert("key-1".to_owned(), PersonsDecision::Approved);
    let Ruling::Approved(approved) = kernel.gate(&request, &standing) else {
        panic!("it was approved");
    };
    assert!(approved.by_person());
    assert_eq!(approved.key(), "key-1");
    standing
        .decisions
        .insert("key-1".to_owned(), PersonsDecision::Refused);
    assert_eq!(word_of(&kernel.gate(&request, &standing)), "refused");

    let forbidding = "@id(\"no-files\") @hint(\"ask the maintainers\") forbid (principal, action, resource) \
                      when { resource.effects.contains(Effect::\"writes-files\") };";
    let tightened = Constitution::built_in().tightened(&format!("{HEADER}{forbidding}"));
    standing
        .decisions
        .insert("key-1".to_owned(), PersonsDecision::Approved);
    let ruled = Kernel::new(catalogue(), tightened.unwrap()).gate(&request, &standing);
    let Ruling::Denied(denial) = ruled else {
        panic!("{ruled:?}");
    };
    assert_eq!(denial.kind, DenialKind::Forbidden);
    assert_eq!(denial.grounds.policies, ["project.no-files"]);
    assert_eq!(denial.hint.as_deref(), Some("ask the maintainers"));
}

#[test]
fn a_name_is_revoked_and_allowed_under_every_spelling() {
    let kernel = kernel(Constitution::built_in());
    for spelling in [":mesh.publish", "mesh/publish", ":mesh:publish"] {
        let mut standing = standing();
        assert_eq!(
            word_of(&kernel.gate(&call(spelling, "{}"), &standing)),
            "approved"
        );
        standing.revoked.insert(name("mesh/publish"));
        assert_eq!(
            word_of(&kernel.gate(&call(spelling, "{}"), &standing)),
            "revoked"
        );
        let narrow = RunGrants {
            allowed: Allowlist::parse(&["fs/*"]).unwrap(),
            ..RunGrants::default()
        };
        assert_eq!(
            word_of(&kernel.gate(&call(spelling, "{}"), &narrow)),
            "not-allowed"
        );
    }
    let ruled = kernel.gate(&call("mesh.publish.all", "{}"), &standing());
    assert_eq!(word_of(&ruled), "unknown-capability");
    assert_eq!(
        word_of(&kernel.gate(&call("fs.read", "{}"), &RunGrants::default())),
        "not-allowed"
    );
}

/// CCOS-GOV-1: calls, tokens, money and time have an end, also where what was spent has none.
#[test]
fn used_up_budgets_let_nothing_through() {
    let kernel = kernel(Constitution::built_in());
    let caps = RunCaps {
        yields: Some(10),
        tokens: Some(1000),
        cost: Some(Money(100)),
        milliseconds: Some(5000),
    };
    let used = [
        RunSpent {
            yields: 10,
            ..RunSpent::default()
        },
        RunSpent {
            tokens: 1001,
            ..RunSpent::default()
        },
        RunSpent {
            cost: Money(u64::MAX),
            ..RunSpent::default()
        },
        RunSpent {
            milliseconds: u64::MAX,
            ..RunSpent::default()
        },
    ];
    for spent in used {
        for spent in [
            spent,
            spent.plus(&spent),
            spent.plus(&RunSpent {
                yields: u64::MAX,
                tokens: u64::MAX,
                cost: Money(u64::MAX),
                milliseconds: u64::MAX,
            }),
        ] {
            let standing = RunGrants {
                caps,
                spent,
                ..standing()
            };
            let ruled = kernel.gate(&call("fs.read", "{}"), &standing);
            assert_eq!(word_of(&ruled), "budget", "{spent:?}");
        }
    }
    let spent = RunSpent {
        milliseconds: 4000,
        tokens: 400,
        ..RunSpent::default()
    };
    let standing = RunGrants {
        caps,
        spent,
        ..standing()
    };
    let Ruling::Approved(approved) = kernel.gate(&call("fs.read", "{}"), &standing) else {
        panic!("there is something left");
    };
    assert_eq!(approved.limits().milliseconds, 1000);
    assert_eq!(approved.limits().tokens, Some(600));
}

#[test]
fn quotas_of_a_capability_end_within_a_run() {
    let limited = Manifest {
        quotas: Quotas {
            calls_per_run: Some(2),
            ..Quotas::default()
        },
        ..manifest("a.b", &[], TrustTier::OWN)
    };
    let kernel = Kernel::new(
        Arc::new(Catalogue::new([limited]).unwrap()),
        Constitution::built_in(),
    );
    for (calls, ruling) in [(1, "approved"), (2, "budget"), (u64::MAX, "budget")] {
        let mut standing = standing();
        standing.calls.insert(name("a/b"), calls);
        assert_eq!(word_of(&kernel.gate(&call("a.b", "{}"), &standing)), ruling);
    }
}

/// CCOS-GOV-1: a provider sees no secret, and one of little trust no field that is marked.
#[test]
fn providers_and_persons_see_redacted_arguments() {
    let kernel = kernel(Constitution::built_in());
    let arguments = "{:token \"AKIAIOSFODNN7EXAMPLQ\" :patient \"Ada\"}";
    let Ruling::Approved(trusted) =
        kernel.gate(&call("tool.github.trusted", arguments), &standing())
    else {
        panic!("it is trusted");
    };
    let shown = trusted.arguments()[0].to_string();
    assert!(shown.contains("Ada") && !shown.contains("AKIA"), "{shown}");
    let Ruling::NeedsApproval(request) =
        kernel.gate(&call("tool.github.new", arguments), &standing())
    else {
        panic!("a person is asked");
    };
    let shown = request.request.arguments[0].to_string();
    assert!(!shown.contains("Ada") && !shown.contains("AKIA"), "{shown}");
    let start = "its trust tier is too low for `patient`, which is withheld";
    assert!(request.question.ends_with(start), "{}", request.question);
}

#[test]
fn arguments_that_are_none_are_denied() {
    let typed = Manifest {
        input: Schema::read("[:map [:path String]]").unwrap(),
        ..manifest("fs.read", &[Effect::ReadsFiles], TrustTier::OWN)
    };
    let kernel = Kernel::new(
        Arc::new(Catalogue::new([typed]).unwrap()),
        Constitution::built_in(),
    );
    assert_eq!(
        word_of(&kernel.gate(&call("fs.read", "{:path \"a\"}"), &standing())),
        "approved"
    );
    assert_eq!(
        word_of(&kernel.gate(&call("fs.read", "{:path 1}"), &standing())),
        "arguments"
    );
    let hint = |texts: &[&str]| {
        let arguments = texts.iter().map(|text| Value::read(text).unwrap());
        let request = CallRequest {
            arguments: arguments.collect(),
            ..call("fs.read", "{}")
        };
        match kernel.gate(&request, &standing()) {
            Ruling::Denied(denial) => denial.hint,
            other => panic!("{other:?}"),
        }
    };
    let map = "write one map: `(call :fs.read {:path \"a\"})`";
    assert_eq!(hint(&[":path", "\"a\""]).as_deref(), Some(map));
    assert_eq!(hint(&[":path", "1"]), None);
    assert_eq!(hint(&[":path"]), None);
    let deep = (0..100_000).fold(Value::Nil, |inner, _| Value::vector(vec![inner]));
    let shared = (0..200).fold(Value::Nil, |inner, _| {
        Value::vector(vec![inner.clone(), inner])
    });
    for value in [deep, shared] {
        let request = CallRequest {
            arguments: vec![value],
            ..call("fs.read", "{}")
        };
        assert_eq!(word_of(&kernel.gate(&request, &standing())), "arguments");
    }
}

//! Tasks that are handed to whom the arguments name.

use std::sync::Arc;

use super::{HEADER, call, manifest, name, standing, word_of};
use crate::kernel::{
    Catalogue, Constitution, Effect, Kernel, Manifest, Provenance, Ruling, TrustTier,
};

fn kernel(project: &str) -> Kernel {
    let executor = |id: &str, tier| Manifest {
        provenance: Provenance::Executor(id.to_owned()),
        ..manifest(&format!("agent.{id}"), &[Effect::StartsExecutor], tier)
    };
    let manifests = [
        manifest("agent.delegate", &[Effect::StartsExecutor], TrustTier::OWN),
        executor("claude", TrustTier::TRUSTED),
        executor("codex", TrustTier::TRUSTED),
        executor("new", TrustTier::CONFIGURED),
        Manifest {
            effects: [Effect::StartsExecutor, Effect::WritesFiles].into(),
            ..executor("writer", TrustTier::TRUSTED)
        },
    ];
    let constitution = Constitution::built_in()
        .tightened(&format!("{HEADER}{project}"))
        .unwrap();
    Kernel::new(Arc::new(Catalogue::new(manifests).unwrap()), constitution)
}

/// CCOS-GOV-1: what is forbidden of an executor is forbidden of a task that it is handed by another name.
#[test]
fn a_policy_about_an_executor_holds_by_any_name_it_is_asked() {
    let forbid =
        "@id(\"no-codex\") forbid (principal, action, resource == Capability::\"agent.codex\");";
    let kernel = kernel(forbid);
    for (executor, expected) in [
        ("\"codex\"", "forbidden"),
        (":codex", "forbidden"),
        ("\"claude\"", "approved"),
        ("\"new\"", "not-allowed"),
        ("\"writer\"", "asked"),
        // No policy can forbid what has no name.
        ("\"delegate\"", "not-allowed"),
        (":delegate", "not-allowed"),
        ("\"w..x\"", "not-allowed"),
        ("\"w.\"", "not-allowed"),
        ("\"\"", "not-allowed"),
    ] {
        let asked = call("agent.delegate", &format!("{{:executor {executor}}}"));
        let ruled = kernel.gate(&asked, &standing());
        assert_eq!(word_of(&ruled), expected, "{executor}: {ruled:?}");
    }
    let mut standing = standing();
    standing.revoked.insert(name("agent.claude"));
    let asked = call("agent.delegate", "{\"executor\" \"claude\"}");
    assert_eq!(word_of(&kernel.gate(&asked, &standing)), "revoked");
}

/// CCOS-GOV-1: if no executor is named, the provider that chooses one gets the list of those that
/// it may not ask.
#[test]
fn who_may_not_be_asked_is_barred_if_no_one_is_named() {
    let forbid =
        "@id(\"no-codex\") forbid (principal, action, resource == Capability::\"agent.codex\");";
    let barred = |kernel: Kernel| match kernel.gate(&call("agent.delegate", "{}"), &standing()) {
        Ruling::Approved(call) => call.barred().clone(),
        other => panic!("{other:?}"),
    };
    let asked_for = [name("agent.new"), name("agent.writer")];
    assert_eq!(barred(kernel("")), asked_for.clone().into());
    let all = [name("agent.codex")].into_iter().chain(asked_for);
    assert_eq!(barred(kernel(forbid)), all.collect());
}

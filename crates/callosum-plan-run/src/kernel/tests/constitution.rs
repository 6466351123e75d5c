//! Texts that are a constitution and texts that are none, and what one that forbids more lets through.

use std::sync::Arc;

use proptest::prelude::*;

use super::{HEADER, call, catalogue, kernel, name, standing, word_of};
use crate::kernel::{
    Constitution, ConstitutionError, Effect, Kernel, Ruling, RunCaps, RunGrants, Sensitivity,
    constitution::{BUILT_IN, signature},
};

/// CCOS-GOV-1: a policy that can't be evaluated permits nothing, even if another one does.
#[test]
fn a_policy_that_fails_permits_nothing() {
    let failing = "@id(\"overflow\") forbid (principal, action, resource) \
                   when { context.calls + 9223372036854775807 > 1 };\n\
                   @id(\"all\") permit (principal, action, resource);";
    let constitution = Constitution::read(&format!("{HEADER}{failing}")).unwrap();
    let mut standing = standing();
    standing.calls.insert(name("fs.read"), 1);
    let ruled = kernel(constitution).gate(&call("fs.read", "{}"), &standing);
    assert_eq!(word_of(&ruled), "constitution", "{ruled:?}");
    let closed = kernel(Constitution::closed("the signature is wrong"));
    let ruled = closed.gate(&call("fs.read", "{}"), &super::standing());
    assert!(
        ruled.grounds().text.contains("the signature is wrong"),
        "{ruled:?}"
    );
    let empty = kernel(Constitution::read(HEADER).unwrap());
    assert_eq!(
        word_of(&empty.gate(&call("fs.read", "{}"), &super::standing())),
        "not-permitted"
    );
}

#[test]
fn texts_that_are_no_constitution_are_refused_by_name() {
    let whole = "(principal, action, resource)";
    let long = format!("{HEADER}//{}", " ".repeat(1 << 20));
    let deep = format!(
        "{HEADER}@id(\"a\") permit {whole} when {{ {}true{} }};",
        "(".repeat(20_000),
        ")".repeat(20_000)
    );
    let negated = format!(
        "{HEADER}@id(\"a\") permit {whole} when {{ {}true }};",
        "!".repeat(60_000)
    );
    let cases = [
        (String::new(), "first line"),
        (BUILT_IN.replace("format 1", "format 2"), "format 2"),
        (BUILT_IN.replace("version 1", "version one"), "first line"),
        (long, "1048"),
        (deep, "deeper than"),
        (negated, "more than"),
        (format!("{HEADER}permit {whole};"), "@id"),
        (format!("{HEADER}@id(\"A b\") permit {whole};"), "`A b`"),
        (
            "// callosum-constitution: format 1, version 0\n".to_owned(),
            "versions are counted from 1",
        ),
        (
            format!("{HEADER}@id(\"kernel.x\") permit {whole};"),
            "kernel.x",
        ),
        (
            format!("{HEADER}@id(\"project.x\") forbid {whole};"),
            "project.x",
        ),
        (
            format!("{HEADER}@id(\"a\") forbid {whole} when {{ resource.trust > 2 }};"),
            "the policy `a`: attribute",
        ),
        (
            format!("{HEADER}@id(\"a\") permit {whole};@id(\"a\") forbid {whole};"),
            "`a`",
        ),
        (
            format!("{HEADER}@id(\"a\") @aks(\"x\") permit {whole};"),
            "@aks",
        ),
        (
            format!("{HEADER}@id(\"a\") @ask(\"x\") forbid {whole};"),
            "@ask",
        ),
        (
            format!("{HEADER}@id(\"a\") @ask(\" \") permit {whole};"),
            "@ask",
        ),
        (
            format!("{HEADER}@id(\"a\") permit (principal == ?principal, action, resource);"),
            "template",
        ),
        (
            format!(
                "{HEADER}@id(\"a\") forbid (principal, action, resource == Capability::\"mesh/publish\");"
            ),
            "mesh.publish",
        ),
        (
            format!(
                "{HEADER}@id(\"a\") forbid (principal, action, resource in Group::\"mesh.*\");"
            ),
            "mesh.*",
        ),
        (
            format!(
                "{HEADER}@id(\"a\") forbid {whole} when {{ resource.effects.contains(Effect::\"write-files\") }};"
            ),
            "write-files",
        ),
        (
            format!("{HEADER}@id(\"a\") forbid {whole} when {{ resource.trust > 1 }};"),
            "trust",
        ),
        (
            format!("{HEADER}@id(\"a\") forbid {whole} when {{ context.left.tokens < 1 }};"),
            "tokens",
        ),
        (
            format!("{HEADER}\n@id(\"a\") permit {whole} when"),
            "line 3",
        ),
    ];
    for (text, names) in cases {
        let error = Constitution::read(&text).unwrap_err().to_string();
        assert!(error.contains(names), "{names}: {error}");
    }
    // What is just within the bounds is read, or refused, without exhausting a test's stack.
    let nested = format!("{}true{}", "(".repeat(22), ")".repeat(22));
    let joined = vec!["true"; 180].join(" || ");
    let otherwise = "if true then true else ".repeat(60) + "true";
    let attributes = format!("context{}", ".left".repeat(150));
    for condition in [
        nested,
        joined,
        otherwise,
        "!".repeat(300) + "true",
        attributes,
    ] {
        let text = format!("{HEADER}@id(\"a\") permit {whole} when {{ {condition} }};");
        if let Ok(constitution) = Constitution::read(&text) {
            assert_eq!(
                word_of(&kernel(constitution).gate(&call("fs.read", "{}"), &standing())),
                "approved"
            );
        }
    }
    let permit = format!("{HEADER}@id(\"more\") permit {whole};");
    assert_eq!(
        Constitution::built_in().tightened(&permit).unwrap_err(),
        ConstitutionError::ProjectPermits("more".to_owned())
    );
}

/// CCOS-GOV-1: amendments are new signed versions.
#[test]
fn a_signature_is_for_one_text_and_one_key() {
    let key = |seed| {
        callosum_ledger::signed_note::SigningKey::from_seed("callosum.invalid/machine", &[seed; 32])
            .unwrap()
    };
    let (mine, other) = (key(1), key(2));
    let note = signature::sign(BUILT_IN, &mine).unwrap().to_string();
    assert_eq!(
        signature::check(BUILT_IN, &note, &[mine.verifier()]),
        Ok(())
    );
    let changed = BUILT_IN.replace("tier >= 2", "tier >= 0");
    for (text, keys, why) in [
        (
            changed.as_str(),
            vec![mine.verifier()],
            signature::SignatureError::Other,
        ),
        (
            BUILT_IN,
            vec![other.verifier()],
            signature::SignatureError::Stranger,
        ),
        (BUILT_IN, vec![], signature::SignatureError::Stranger),
    ] {
        assert_eq!(signature::check(text, &note, &keys), Err(why));
    }
}

fn forbid() -> impl Strategy<Value = String> {
    let number = 0..4_u8;
    let effect = prop::sample::select(Effect::ALL.to_vec());
    prop_oneof![
        number.clone().prop_map(|n| format!("resource.tier < {n}")),
        number
            .clone()
            .prop_map(|n| format!("principal.tier <= {n}")),
        number.prop_map(|n| format!("context.sensitivity > {n}")),
        effect.prop_map(|effect| format!("resource.effects.contains(Effect::\"{effect}\")")),
        Just("resource in Group::\"tool.github\"".to_owned()),
        Just("resource == Capability::\"fs.read\"".to_owned()),
        Just("context.left has tokens && context.left.tokens < 500".to_owned()),
        Just("context.calls * 4611686018427387904 > 0".to_owned()),
        Just("true".to_owned()),
    ]
}

fn rank(ruling: &Ruling) -> u8 {
    match ruling {
        Ruling::Denied(_) => 0,
        Ruling::NeedsApproval(_) => 1,
        Ruling::Approved(_) => 2,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// CCOS-GOV-1: neither a further `forbid` nor any text of a project lets more through.
    #[test]
    fn what_forbids_never_permits_more(
        conditions in prop::collection::vec(forbid(), 1..4),
        capability in 0..7_usize,
        tier in 0..4_u8,
        sensitivity in 0..4_usize,
        calls in 0..4_u64,
        tokens in prop::option::of(0..1000_u64),
    ) {
        let catalogue = catalogue();
        let name = catalogue.iter().nth(capability).unwrap().id.clone();
        let mut standing = RunGrants {
            tier: tier.try_into().unwrap(),
            sensitivity: Sensitivity::ALL[sensitivity],
            caps: RunCaps { tokens, ..RunCaps::default() },
            ..standing()
        };
        standing.calls.insert(name.clone(), calls);
        let request = call(name.as_str(), "{:a 1}");
        let mut before = Constitution::built_in();
        let mut ruled = rank(&Kernel::new(Arc::clone(&catalogue), before.clone()).gate(&request, &standing));
        for (index, condition) in conditions.iter().enumerate() {
            let text = format!("{HEADER}@id(\"p{index}\") forbid (principal, action, resource) when {{ {condition} }};");
            before = before.tightened(&text).unwrap();
            let after = rank(&Kernel::new(Arc::clone(&catalogue), before.clone()).gate(&request, &standing));
            prop_assert!(after <= ruled, "{condition}");
            ruled = after;
        }
    }
}

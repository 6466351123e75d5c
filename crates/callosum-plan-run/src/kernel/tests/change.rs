//! Changes of a capability from one version to the next.

use std::sync::LazyLock;

use jiff::Timestamp;
use proptest::{prelude::*, sample::subsequence};
use serde_json::{Value as Json, json};

use super::{
    super::tool_schema::{input_of, output_of},
    *,
};

fn before() -> Manifest {
    Manifest {
        version: "1.2.0".to_owned(),
        provenance: Provenance::ToolServer("hub".to_owned()),
        answers_by_key: false,
        ..manifest("tool.hub.find", &[Effect::CallsServer], TrustTier::TRUSTED)
    }
}

fn taking(schema: &Json) -> Manifest {
    let input = input_of(schema.as_object().unwrap()).unwrap();
    Manifest {
        input: input.schema,
        unheld: input.unheld,
        ..before()
    }
}

fn answering(schema: &Json) -> Manifest {
    let output = output_of(schema.as_object().unwrap()).unwrap();
    Manifest {
        output: output.schema,
        unheld_output: output.unheld,
        ..before()
    }
}

#[track_caller]
fn check(old: &Manifest, new: &Manifest, level: ChangeLevel, reason: &str) {
    let change = compare(old, new);
    assert_eq!(change.level(), level, "{change:?}");
    assert_eq!(change.decisive(), [reason]);
}

/// CCOS-CAP-1: effects, permissions and trust that widen are a major change.
#[test]
fn what_widens_is_a_major_change_and_what_narrows_is_not() {
    let old = before();
    assert_eq!(compare(&old, &old).level(), ChangeLevel::Same);
    let with = |edit: fn(&mut Manifest)| {
        let mut new = before();
        edit(&mut new);
        new
    };
    let writes = with(|new| {
        new.effects.insert(Effect::WritesFiles);
    });
    check(
        &old,
        &writes,
        ChangeLevel::Major,
        "it has the effect `writes-files` now",
    );
    check(
        &writes,
        &old,
        ChangeLevel::Minor,
        "it no longer has the effect `writes-files`",
    );
    let open = with(|new| new.sensitive_fields.clear());
    check(
        &old,
        &open,
        ChangeLevel::Major,
        "the sensitive field `patient` is no longer withheld from it",
    );
    let tier = |number: u8| Manifest {
        trust_tier: TrustTier::try_from(number).unwrap(),
        ..before()
    };
    let (low, high) = (tier(1), tier(2));
    check(
        &low,
        &high,
        ChangeLevel::Major,
        "its trust tier changes from 1 to 2",
    );
    check(
        &high,
        &low,
        ChangeLevel::Minor,
        "its trust tier changes from 2 to 1",
    );
    let agent = with(|new| new.kind = CapabilityKind::Agent);
    check(
        &old,
        &agent,
        ChangeLevel::Major,
        "its kind changes from primitive to agent",
    );
    let described = with(|new| new.description = "Finds pages.".to_owned());
    check(
        &old,
        &described,
        ChangeLevel::Patch,
        "its description changed",
    );
    let downgraded = with(|new| new.version = "1.1.9".to_owned());
    check(
        &old,
        &downgraded,
        ChangeLevel::Major,
        "its provider states version 1.1.9 instead of 1.2.0",
    );
}

/// CCOS-CAP-1: arguments may only widen and answers may only narrow; what is not understood and differs can't be compared.
#[test]
fn schemas_are_compared_by_variance() {
    let page = json!({"type": "object", "properties": {"page": {"type": "string"}}});
    let mut required = page.clone();
    required["required"] = json!(["page"]);
    check(
        &taking(&page),
        &taking(&required),
        ChangeLevel::Major,
        "its arguments at `{:page}` no longer take an absent key",
    );
    check(
        &taking(&required),
        &taking(&page),
        ChangeLevel::Minor,
        "its arguments at `{:page}` also take an absent key",
    );
    check(
        &answering(&page),
        &answering(&required),
        ChangeLevel::Minor,
        "its answers at `{:structured}{\"page\"}` are never an absent key now",
    );
    check(
        &answering(&required),
        &answering(&page),
        ChangeLevel::Major,
        "its answers at `{:structured}{\"page\"}` may now be an absent key",
    );
    let by_pattern = |pattern: &str| {
        taking(&json!({"properties": {"page": {"type": "string", "pattern": pattern}}}))
    };
    assert_eq!(
        compare(&by_pattern("a"), &by_pattern("a")).level(),
        ChangeLevel::Same
    );
    for other in [by_pattern("b"), taking(&page)] {
        check(
            &by_pattern("a"),
            &other,
            ChangeLevel::Major,
            "the schema of its arguments cannot be compared: `pattern` changed",
        );
    }
    let by_reference = |of: &str| {
        taking(
            &json!({"properties": {"page": {"$ref": "#/$defs/page"}}, "$defs": {"page": {"type": of}}}),
        )
    };
    check(
        &by_reference("string"),
        &by_reference("integer"),
        ChangeLevel::Major,
        "the schema of its arguments cannot be compared: `$ref` changed",
    );
}

/// CCOS-CAP-1: the first sight and compatible changes are accepted and noted; a major change waits for a person.
#[test]
fn compatible_changes_are_accepted_and_a_major_one_waits() {
    let at = Timestamp::UNIX_EPOCH;
    let mut now = Manifest {
        version: "0.0.0".to_owned(),
        ..before()
    };
    let Ok(Review::Accepted(first)) = AcceptedManifest::review(None, &now, at) else {
        panic!("the first sight is accepted");
    };
    assert_eq!(first.version.to_string(), "1.0.0");
    assert!(matches!(
        AcceptedManifest::review(Some(&first), &now, at),
        Ok(Review::Unchanged)
    ));
    now.effects.clear();
    let Ok(Review::Accepted(second)) = AcceptedManifest::review(Some(&first), &now, at) else {
        panic!("it narrowed");
    };
    assert_eq!(second.version.to_string(), "1.1.0");
    let noted = second.last_change.as_ref().unwrap();
    assert_eq!((noted.level, noted.by_person), (ChangeLevel::Minor, false));
    // As a file has it.
    let kept = serde_json::to_string(&second).unwrap();
    let second: AcceptedManifest = serde_json::from_str(&kept).unwrap();
    now.effects.insert(Effect::WritesFiles);
    let Ok(Review::Pending(pending)) = AcceptedManifest::review(Some(&second), &now, at) else {
        panic!("it widened");
    };
    assert_eq!(pending.to.to_string(), "2.0.0");
    let third = AcceptedManifest::accept(&now, &pending, at);
    assert!(matches!(
        AcceptedManifest::review(Some(&third), &now, at),
        Ok(Review::Unchanged)
    ));
}

/// CCOS-CAP-1: what widened is refused, also where a task is handed to it, and once a person accepts it is not.
#[test]
fn the_kernel_refuses_what_widened() {
    let mut held = Catalogue::clone(&catalogue());
    let claude = name("agent.claude");
    let new = Arc::clone(held.get(&claude).unwrap());
    let mut old = Manifest::clone(&new);
    old.effects.clear();
    let accepted = AcceptedManifest::first(&old, Timestamp::UNIX_EPOCH);
    let pending = accepted.change_to(&new).unwrap();
    held.hold_back(claude.clone(), pending);
    let delegate = manifest("agent.delegate", &[Effect::StartsExecutor], TrustTier::OWN);
    held.add(delegate).unwrap();
    let kernel = Kernel::new(Arc::new(held), Constitution::built_in());
    for asked in [
        call("agent.claude", "{}"),
        call("agent.delegate", "{:executor \"claude\"}"),
    ] {
        assert_eq!(word_of(&kernel.gate(&asked, &standing())), "changed");
    }
    let other = call("agent.delegate", "{:executor \"scout\"}");
    assert_ne!(word_of(&kernel.gate(&other, &standing())), "changed");
    let Ruling::Denied(denial) = kernel.gate(&call("agent.claude", "{}"), &standing()) else {
        panic!("it is refused");
    };
    let hint = denial.to_failure().hint.unwrap();
    assert!(
        hint.contains("callosum capability accept agent.claude"),
        "{hint}"
    );
}

/// A number within bounds that the samples are on both sides of.
fn number() -> impl Strategy<Value = Json> {
    let bounds = (
        prop_oneof!["integer", "number"],
        prop::option::of(0..=1_i64),
        prop::option::of(2..=3_i64),
        any::<bool>(),
    );
    bounds.prop_map(|(name, least, most, is_exclusive)| {
        let mut schema = json!({"type": name});
        if let Some(least) = least {
            let keyword = if is_exclusive {
                "exclusiveMinimum"
            } else {
                "minimum"
            };
            schema[keyword] = least.into();
        }
        if let Some(most) = most {
            schema["maximum"] = most.into();
        }
        schema
    })
}

fn text() -> impl Strategy<Value = Json> {
    let lengths = (prop::option::of(0..=2_u64), prop::option::of(0..=2_u64));
    let bounded = lengths.prop_map(|(least, most)| {
        let mut schema = json!({"type": "string"});
        if let Some(least) = least {
            schema["minLength"] = least.into();
        }
        if let Some(most) = most {
            schema["maxLength"] = most.into();
        }
        schema
    });
    prop_oneof![bounded, words()]
}

fn words() -> impl Strategy<Value = Json> {
    subsequence(vec!["a", "bc"], 1..=2).prop_map(|words| json!({"enum": words}))
}

fn plain() -> impl Strategy<Value = Json> {
    let names = vec!["integer", "number", "string", "boolean", "null"];
    subsequence(names, 1..=2).prop_map(|names| json!({"type": names}))
}

fn list() -> impl Strategy<Value = Json> {
    let counts = (plain(), any::<bool>(), prop::option::of(0..=1_u64));
    counts.prop_map(|(items, is_full, most)| {
        let mut schema = json!({"type": "array", "items": items});
        if is_full {
            schema["minItems"] = 1.into();
        }
        if let Some(most) = most {
            schema["maxItems"] = most.into();
        }
        schema
    })
}

/// One of several kinds, of each kind at most one: only then is a union compared exactly.
fn choice() -> impl Strategy<Value = Json> {
    let members = (
        prop::option::of(number()),
        prop::option::of(text()),
        prop::option::of(list()),
        prop::option::of(Just(json!({"type": "null"}))),
    );
    members.prop_map(|(number, text, list, null)| {
        let members: Vec<Json> = [number, text, list, null].into_iter().flatten().collect();
        match members.as_slice() {
            [] => json!({"type": "boolean"}),
            [one] => one.clone(),
            several => json!({"anyOf": several}),
        }
    })
}

fn simple() -> impl Strategy<Value = Json> {
    let null = || Just(json!({"type": "null"}));
    let boolean = || Just(json!({"type": "boolean"}));
    prop_oneof![
        words(),
        boolean(),
        null(),
        words().prop_map(|words| json!({"anyOf": [words, {"type": "null"}]}))
    ]
}

/// A schema of one object.
fn object() -> impl Strategy<Value = Json> {
    let parts = (
        prop::option::of(choice()),
        prop::option::of(simple()),
        subsequence(vec!["a", "b"], 0..=2),
        any::<bool>(),
    );
    parts.prop_map(|(a, b, required, has_others)| {
        let mut schema = json!({"type": "object", "properties": {}});
        for (name, property) in [("a", a), ("b", b)] {
            if let Some(property) = property {
                schema["properties"][name] = property;
            } else if required.contains(&name) && !has_others {
                // No server requires a name that it forbids.
                schema["properties"][name] = json!({});
            }
        }
        schema["required"] = required.into();
        if !has_others {
            schema["additionalProperties"] = false.into();
        }
        schema
    })
}

/// Two versions of a schema: in one part another, mostly.
fn versions() -> impl Strategy<Value = (Json, Json)> {
    let parts = prop_oneof![
        Just("properties"),
        Just("required"),
        Just("additionalProperties")
    ];
    (object(), object(), prop::option::weighted(0.8, parts)).prop_map(|(old, other, part)| {
        let mut new = old.clone();
        match part {
            None => new = other,
            Some(part) => match other.get(part) {
                Some(of) => new[part] = of.clone(),
                None => drop(new.as_object_mut().and_then(|new| new.remove(part))),
            },
        }
        (old, new)
    })
}

fn lists(items: &[&str]) -> Vec<String> {
    let mut lists = vec!["[]".to_owned()];
    for one in items {
        lists.push(format!("[{one}]"));
        lists.extend(items.iter().map(|other| format!("[{one} {other}]")));
    }
    lists
}

/// Values that include a difference of any two schemas of the generator.
fn samples(key: fn(&str) -> String) -> Vec<Value> {
    let mut first: Vec<String> = [
        "", "nil", "true", "-1", "0", "1", "2", "3", "4", "-0.5", "0.5", "1.5", "2.5", "3.5",
        "\"\"", "\"z\"", "\"zz\"", "\"zzz\"", "\"a\"", "\"bc\"",
    ]
    .map(str::to_owned)
    .to_vec();
    first.extend(lists(&["nil", "true", "1", "2.5", "\"z\""]));
    let second = ["", "nil", "true", "\"a\"", "\"bc\"", "\"zz\"", "1"];
    let mut samples = Vec::new();
    for a in &first {
        for b in second {
            for c in ["", "1"] {
                let entries = [("a", a.as_str()), ("b", b), ("c", c)].into_iter();
                let entries = entries.filter(|(_, value)| !value.is_empty());
                let entries: Vec<String> = entries
                    .map(|(name, value)| format!("{} {value}", key(name)))
                    .collect();
                samples.push(Value::read(&format!("{{{}}}", entries.join(" "))).unwrap());
            }
        }
    }
    samples
}

static ARGUMENTS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let mut arguments = samples(|name| format!(":{name}"));
    arguments.push(Value::vector(Vec::new()));
    arguments
});

static ANSWERS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let answers = samples(|name| format!("{name:?}")).into_iter();
    let whole = |value| Value::read(&format!("{{:text \"t\" :structured {value}}}")).unwrap();
    answers.map(whole).collect()
});

/// Whether some sample is of one type and not of another.
fn has_witness(samples: &[Value], of: &Schema, not_of: &Schema) -> bool {
    let fits = |schema: &Schema, value| schema.mismatch_within(value, 10_000).is_none();
    let mut samples = samples.iter();
    samples.any(|value| fits(of, value) && !fits(not_of, value))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// CCOS-CAP-1: a change of a schema is major exactly where a value shows it: an argument that was taken and is not, an
    /// answer that was never given and may be.
    #[test]
    fn the_comparison_of_schemas_agrees_with_samples((old, new) in versions()) {
        let (before, after) = (taking(&old), taking(&new));
        let is_major = compare(&before, &after).level() == ChangeLevel::Major;
        let is_shown = has_witness(&ARGUMENTS, &before.input, &after.input);
        prop_assert_eq!(is_major, is_shown, "{} {}: {:?}", old, new, compare(&before, &after));
        let (before, after) = (answering(&old), answering(&new));
        let is_major = compare(&before, &after).level() == ChangeLevel::Major;
        let is_shown = has_witness(&ANSWERS, &after.output, &before.output);
        prop_assert_eq!(is_major, is_shown, "{} {}: {:?}", old, new, compare(&before, &after));
    }
}

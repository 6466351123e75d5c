//! Cost of the gate: one ruling in under 50 µs, compared with the hashing of 16 KiB as a measure of
//! the machine, and its growth with a project's prohibitions and with the arguments.

use std::{collections::BTreeMap, sync::Arc};

use callosum_json::Checksum;
use callosum_plan::{Allowlist, CapabilityName, Key, Position, Value};
use callosum_plan_run::kernel::{
    CallRequest, Catalogue, Constitution, Kernel, RunCaps, RunGrants, TrustTier, built_in_manifests,
};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

fn kernel(constitution: Constitution) -> Kernel {
    let catalogue = Catalogue::new(built_in_manifests("1")).expect("no name is there twice");
    Kernel::new(Arc::new(catalogue), constitution)
}

fn request(capability: &str, text: &str) -> CallRequest {
    let entries = [("path", text), ("prompt", "what changed?")];
    let entries = entries.map(|(key, value)| (Key::Keyword(key.into()), Value::text(value)));
    CallRequest {
        run: "run_2026_11_23_0001".to_owned(),
        plan_hash: "sha256:0000".to_owned(),
        position: Position::default(),
        capability: CapabilityName::parse(capability).expect("it is a name"),
        arguments: vec![Value::map(BTreeMap::from(entries))],
        key: "key".to_owned(),
        steps: Vec::new(),
    }
}

fn standing() -> RunGrants {
    RunGrants {
        tier: TrustTier::OWN,
        allowed: Allowlist::parse(&["*"]).expect("it is a list"),
        caps: RunCaps {
            yields: Some(1000),
            tokens: Some(1_000_000),
            ..RunCaps::default()
        },
        ..RunGrants::default()
    }
}

#[divan::bench]
fn ruling_under_50_us(bencher: Bencher) {
    let kernel = kernel(Constitution::built_in());
    let (request, standing) = (request("fs.read", "src/lib.rs"), standing());
    bencher.bench(|| kernel.gate(black_box(&request), black_box(&standing)));
}

#[divan::bench]
fn ruling_that_denies_before_any_policy(bencher: Bencher) {
    let kernel = kernel(Constitution::built_in());
    let request = request("fs.read", "src/lib.rs");
    let standing = RunGrants::default();
    bencher.bench(|| kernel.gate(black_box(&request), black_box(&standing)));
}

#[divan::bench(args = [16, 256])]
fn ruling_with_a_project_that_forbids(bencher: Bencher, forbids: usize) {
    let forbid = |number| {
        format!(
            "@id(\"p{number}\") forbid (principal, action, resource) \
             when {{ context.calls > {number} && resource.tier < 3 }};\n"
        )
    };
    let policies: String = (0..forbids).map(forbid).collect();
    let text = format!("// callosum-constitution: format 1, version 1\n{policies}");
    let constitution = Constitution::built_in().tightened(&text);
    let kernel = kernel(constitution.expect("it only forbids"));
    let (request, standing) = (request("fs.read", "src/lib.rs"), standing());
    bencher.bench(|| kernel.gate(black_box(&request), black_box(&standing)));
}

#[divan::bench(args = [1, 64])]
fn ruling_over_arguments_of_kib(bencher: Bencher, kib: usize) {
    let kernel = kernel(Constitution::built_in());
    let text = "some words of a prompt. ".repeat(kib * 1024 / 24);
    let (request, standing) = (request("agent.delegate", &text), standing());
    bencher.bench(|| kernel.gate(black_box(&request), black_box(&standing)));
}

#[divan::bench]
fn reading_the_built_in_constitution(bencher: Bencher) {
    bencher.bench(Constitution::built_in);
}

#[divan::bench]
fn hashing_16_kib_for_scale(bencher: Bencher) {
    let bytes = vec![7_u8; 16 << 10];
    bencher.bench(|| Checksum::of(black_box(&bytes)));
}

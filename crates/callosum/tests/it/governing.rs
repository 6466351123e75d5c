//! What plans may do: constitutions that are shown, checked and signed, and what can be called.

use std::path::PathBuf;

use callosum_testkit::TestEnv;
use serde_json::Value;

pub(crate) const HEADER: &str = "// callosum-constitution: format 1, version 2\n";

fn constitution_file(env: &TestEnv) -> PathBuf {
    env.configuration().with_file_name("constitution.cedar")
}

/// A constitution of the user's own, not signed.
fn write_constitution(env: &TestEnv, policies: &str) {
    let file = constitution_file(env);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, format!("{HEADER}{policies}")).unwrap();
}

fn sign(env: &TestEnv) {
    let file = constitution_file(env);
    env.run(["constitution", "sign", file.to_str().unwrap()])
        .success();
}

fn policies(shown: &Value) -> Vec<String> {
    let policies = shown["policies"].as_array().unwrap().iter();
    policies
        .map(|policy| {
            format!(
                "{} {}",
                policy["effect"].as_str().unwrap(),
                policy["id"].as_str().unwrap()
            )
        })
        .collect()
}

/// CCOS-GOV-1: a user's constitution stands only while this machine's key signed just that text.
#[test]
fn a_constitution_holds_only_as_it_was_signed() {
    let env = TestEnv::new();
    let show = |code| {
        env.run(["constitution", "show", "--json"])
            .ended_with(code)
            .json()
    };
    let built_in = show(0);
    assert!(
        policies(&built_in).contains(&"permit reads".to_owned()),
        "{built_in}"
    );

    write_constitution(&env, "@id(\"all\") permit (principal, action, resource);");
    let unsigned = show(3);
    let told = env.run(["constitution", "show"]).ended_with(3);
    let way_out = format!(
        "callosum constitution sign {}\n",
        constitution_file(&env).display()
    );
    assert!(told.stderr.ends_with(&way_out), "{}", told.stderr);
    assert_eq!(unsigned["ok"], false);
    assert_eq!(policies(&unsigned), Vec::<String>::new());
    assert!(unsigned["problem"].as_str().unwrap().contains("not signed"));

    sign(&env);
    let signed = show(0);
    assert_eq!(policies(&signed), ["permit all"]);
    assert_eq!(signed["version"], 2);
    assert_ne!(signed["hash"], built_in["hash"]);

    write_constitution(
        &env,
        "@id(\"all\") permit (principal, action, resource) when { true };",
    );
    let changed = show(3);
    assert!(
        changed["problem"]
            .as_str()
            .unwrap()
            .contains("changed after it was signed"),
        "{changed}"
    );
    let told = env.run(["constitution", "show"]).ended_with(3);
    assert!(
        told.stderr.contains("constitution.cedar"),
        "{}",
        told.stderr
    );
    assert_eq!(told.stdout, "");

    let other = TestEnv::new();
    write_constitution(&env, "@id(\"all\") permit (principal, action, resource);");
    write_constitution(&other, "@id(\"all\") permit (principal, action, resource);");
    sign(&other);
    let note = std::fs::read(constitution_file(&other).with_extension("cedar.sig")).unwrap();
    std::fs::write(constitution_file(&env).with_extension("cedar.sig"), note).unwrap();
    assert!(
        show(3)["problem"]
            .as_str()
            .unwrap()
            .contains("not signed by a key of this machine")
    );
}

/// CCOS-GOV-1: a repository may forbid, and nothing else.
#[test]
fn a_project_may_only_forbid() {
    let env = TestEnv::new();
    let forbid = "@id(\"no-mesh\") forbid (principal, action, resource in Group::\"mesh\");";
    env.write(".cal_constitution.cedar", format!("{HEADER}{forbid}"));
    let shown = env.run(["constitution", "show", "--json"]).success().json();
    assert!(
        policies(&shown).contains(&"forbid project.no-mesh".to_owned()),
        "{shown}"
    );
    let permit = "@id(\"more\") permit (principal, action, resource);";
    env.write(".cal_constitution.cedar", format!("{HEADER}{permit}"));
    let told = env.run(["constitution", "show"]).ended_with(3);
    assert!(
        told.stderr.contains("`more` is a permit"),
        "{}",
        told.stderr
    );
    let checked = env.run([
        "constitution",
        "check",
        "--project",
        ".cal_constitution.cedar",
    ]);
    assert!(checked.ended_with(1).stderr.contains("`more` is a permit"));
    env.run(["constitution", "check", ".cal_constitution.cedar"])
        .success();
    for hostile in ["x".repeat(1 << 20), "\u{0}".to_owned(), String::new()] {
        env.write(".cal_constitution.cedar", hostile);
        env.run(["constitution", "show"]).ended_with(3);
    }
    std::fs::remove_file(env.project().join(".cal_constitution.cedar")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", env.project().join(".cal_constitution.cedar")).unwrap();
    env.run(["constitution", "show"]).ended_with(3);
}

/// CCOS-GOV-1: amendments are new signed versions: an older one does not come back with its old signature.
#[test]
fn an_older_constitution_is_not_put_back() {
    let env = TestEnv::new();
    env.run(["init", "--all", "--share"]).success();
    write_constitution(&env, "@id(\"all\") permit (principal, action, resource);");
    sign(&env);
    let file = constitution_file(&env);
    let signature = file.with_extension("cedar.sig");
    let old = std::fs::read_to_string(&file).unwrap();
    let old_note = std::fs::read(&signature).unwrap();
    let same_version = old.replace("permit", "forbid");
    let next_version = same_version.replace("version 2", "version 3");
    for (newer, way_out) in [(same_version, "version 3"), (next_version, "version 4")] {
        std::fs::write(&file, newer).unwrap();
        sign(&env);
        env.run(["constitution", "show"]).success();
        std::fs::write(&file, &old).unwrap();
        std::fs::write(&signature, &old_note).unwrap();
        let told = env.run(["constitution", "show"]).ended_with(3);
        assert!(told.stderr.contains("is not accepted"), "{}", told.stderr);
        assert!(told.stderr.contains(way_out), "{}", told.stderr);
    }
    let refused = env.run(["constitution", "sign", file.to_str().unwrap()]);
    let refused = refused.ended_with(3);
    assert!(
        refused.stderr.contains("is not accepted"),
        "{}",
        refused.stderr
    );
    let told = env.run(["audit", "query", "--event", "trust", "--json"]);
    let told = told.success().json();
    let records = told["records"].as_array().unwrap().iter();
    let versions: Vec<&Value> = records
        .inspect(|one| assert_eq!(one["status"], "signed", "{one}"))
        .map(|one| &one["details"]["constitution"]["version"])
        .collect();
    assert_eq!(versions, [2, 2, 3]);
    std::fs::write(env.machine_home().join("constitution/signed.json"), "{}").unwrap();
    env.run(["constitution", "show"]).ended_with(3);
}

#[test]
fn what_is_no_constitution_is_not_signed() {
    let env = TestEnv::new();
    write_constitution(
        &env,
        "@id(\"a\") permit (principal, action, resource) when { resource.teir > 1 };",
    );
    let file = constitution_file(&env);
    let told = env
        .run(["constitution", "sign", file.to_str().unwrap()])
        .ended_with(1);
    assert!(told.stderr.contains("teir"), "{}", told.stderr);
    assert!(!file.with_extension("cedar.sig").exists());
    env.run(["constitution", "sign", "no-such.cedar"])
        .ended_with(2);
}

fn ids(env: &TestEnv, arguments: &[&str]) -> Vec<String> {
    let all = ["capability"].iter().chain(arguments).chain(&["--json"]);
    let listed = env.run(all).success().json();
    let capabilities = listed["capabilities"].as_array().unwrap().iter();
    capabilities
        .map(|one| one["id"].as_str().unwrap().to_owned())
        .collect()
}

/// CCOS-CAP-1: built-in capabilities, executors and tools stand in one catalogue.
#[test]
fn capabilities_are_listed_and_found() {
    let env = TestEnv::new();
    env.write(
        "registry.json",
        r#"{"executors": [{
            "id": "hub", "type": "mcp", "version": "1", "status": "active",
            "capabilities": {}, "command_template": "hub-server", "tool": "find",
            "trust_tier": 2
        }]}"#,
    );
    let all = ids(&env, &["list"]);
    assert!(all.is_sorted(), "{all:?}");
    for id in [
        "agent.delegate",
        "agent.hub",
        "agent.scout",
        "fs.read",
        "tool.hub.find",
    ] {
        assert!(all.contains(&id.to_owned()), "{id}: {all:?}");
    }
    assert_eq!(
        ids(&env, &["query", "--kind", "agent", "--trust-tier", "3"]),
        ["agent.delegate", "agent.scout"]
    );
    assert_eq!(
        ids(&env, &["query", "--skills", "history,context"]),
        ["horizon.build"]
    );
    env.run(["capability", "query", "--trust-tier", "4"])
        .ended_with(2);
    let tool = env
        .run(["capability", "show", "tool/hub/find", "--json"])
        .success()
        .json();
    assert_eq!(tool["trust_tier"], 0, "it came with the repository: {tool}");
    assert_eq!(tool["source"], "tool-server");
    env.run(["capability", "show", "no.such"]).ended_with(1);
    env.run(["capability", "show", "a b"]).ended_with(2);
}

/// CCOS-GOV-1: what is revoked is so under every spelling, and until it is given back.
#[test]
fn what_is_revoked_stays_so_until_it_is_restored() {
    let env = TestEnv::new();
    let change = |verb: &str, name: &str| {
        let said = env.run(["capability", verb, name, "--json"]).success();
        let said = said.json();
        assert_eq!(said["id"], "mesh.publish");
        said["changed"].as_bool().unwrap()
    };
    let is_revoked = || {
        let shown = env.run(["capability", "show", "mesh.publish", "--json"]);
        shown.success().json()["revoked"].as_bool().unwrap()
    };
    env.run(["init", "--all", "--share"]).success();
    assert!(change("revoke", ":mesh/publish"));
    assert!(is_revoked());
    assert!(!change("revoke", "mesh.publish"));
    assert!(change("restore", "mesh:publish"));
    assert!(!is_revoked());
    let told = env.run(["audit", "query", "--event", "trust", "--json"]);
    let told = told.success().json();
    let records = told["records"].as_array().unwrap().iter();
    let words: Vec<(&str, &str)> = records
        .map(|one| {
            let capability = one["details"]["capability"].as_str().unwrap();
            (one["status"].as_str().unwrap(), capability)
        })
        .collect();
    let both = [("revoked", "mesh.publish"), ("restored", "mesh.publish")];
    assert_eq!(words, both, "{told}");
    let file = env.machine_home().join("capabilities/revoked.json");
    std::fs::write(&file, r#"{"version": 2, "revoked": []}"#).unwrap();
    let told = env.run(["capability", "list"]).ended_with(3);
    assert!(told.stderr.contains("revoked.json"), "{}", told.stderr);
}

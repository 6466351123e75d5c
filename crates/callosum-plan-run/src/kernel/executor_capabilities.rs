//! Executors of the registry, as capabilities.
//!
//! Each is an agent, `agent.ID`. A server of tools is also each tool that it lists, `tool.ID.TOOL`.
//! Only this machine's user gives trust: an entry may ask for less than it has, not for more, and a
//! server's claims about its tools make them no safer by themselves.

use std::collections::BTreeSet;

use callosum_executor::{
    registry::{Executor, Kind},
    server_tool::ServerTool,
};
use callosum_plan::{CapabilityName, CapabilityNameError, Schema, SchemaError};
use callosum_sandbox::Policy;
use thiserror::Error;

use super::{
    built_in::{TASK, TASK_ANSWER},
    effect::{Effect, Sensitivity, TrustTier},
    manifest::{CapabilityKind, Manifest, Provenance, Quotas, Unheld},
    tool_schema::{input_of, output_of},
};

/// The key of an entry that says its trust tier.
pub const TRUST_TIER: &str = "trust_tier";

/// The key of an entry that names fields of arguments that are withheld from it.
pub const SENSITIVE_FIELDS: &str = "sensitive_fields";

/// Milliseconds that a task may take where its entry says nothing.
const TASK_MS: u64 = 60 * 60 * 1000;

/// Reason that an entry of the registry is no capability.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum EntryError {
    /// Its name makes none.
    #[error(transparent)]
    Name(#[from] CapabilityNameError),
    /// A type of ours is none, which a test excludes.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// A key holds something that it doesn't take.
    #[error("executor `{id}`: `{key}` is {value}; allowed: {allowed}")]
    Key {
        /// The executor.
        id: String,
        /// The key.
        key: &'static str,
        /// Value that it holds.
        value: String,
        /// Values that it takes.
        allowed: &'static str,
    },
}

/// Confinement that this machine can enforce on an executor whose entry leaves that open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holding {
    /// It writes where its entry says, and nowhere else.
    Files,
    /// Nothing: it may write what its user may.
    Nothing,
}

/// Whether what an executor may do depends on [`Holding`]: its entry asks for as much confinement as there is, and it is another's program that
/// runs here.
pub fn is_held_at_best(executor: &Executor) -> bool {
    let policy = executor.confinement.unwrap_or_default();
    policy == Policy::BestEffort && executor.kind != Kind::Http && !executor.is_embedded()
}

/// Returns the capabilities that an executor is, an agent if it takes tasks. `is_trusted` is
/// whether this machine may start it, `tools` is what its server listed at the last handshake.
///
/// The tool that the entry names is one of them even if the server listed none. A tool whose
/// listing is invalid is none.
pub fn registered_manifests(
    executor: &Executor,
    is_trusted: bool,
    tools: &[ServerTool],
    holding: Holding,
) -> Result<Vec<Manifest>, EntryError> {
    let agent = agent(executor, is_trusted, holding)?;
    let mut manifests = Vec::new();
    if executor.takes_tasks() {
        manifests.push(agent.clone());
    }
    if let Some(named) = &executor.tool {
        let unlisted = || ServerTool {
            name: named.clone(),
            ..ServerTool::default()
        };
        let listed = tools.iter().find(|tool| tool.name == *named);
        let listed = listed.cloned().unwrap_or_else(unlisted);
        if listed.unfit.is_none() {
            manifests.push(tool_of(executor, &listed, &agent)?);
        }
    }
    if executor.kind == Kind::Mcp {
        let named = executor.tool.as_ref();
        let others = tools.iter().filter(|tool| Some(&tool.name) != named);
        for other in others.filter(|tool| tool.unfit.is_none()) {
            manifests.push(tool_of(executor, other, &agent)?);
        }
    }
    Ok(manifests)
}

fn agent(executor: &Executor, is_trusted: bool, holding: Holding) -> Result<Manifest, EntryError> {
    let mut effects = BTreeSet::from([Effect::StartsExecutor]);
    match executor.kind {
        Kind::Cli => {}
        Kind::Http => effects.extend([Effect::AsksModel, Effect::CallsServer]),
        Kind::Mcp => effects.extend([Effect::CallsServer]),
    }
    // One that nothing confines may write what its user may.
    let is_free = executor.kind != Kind::Http && executor.confinement == Some(Policy::Off);
    let is_free = is_free || (is_held_at_best(executor) && holding == Holding::Nothing);
    if executor.may_change_files() || is_free {
        effects.insert(Effect::WritesFiles);
    }
    Ok(Manifest {
        id: CapabilityName::parse(&format!("agent.{}", executor.id))?,
        name: executor.id.clone(),
        description: format!("Delegates a task to the executor {}.", executor.id),
        version: executor.version.clone(),
        kind: CapabilityKind::Agent,
        skills: BTreeSet::from(["delegation".to_owned()]),
        input: Schema::read(TASK)?,
        output: Schema::read(TASK_ANSWER)?,
        effects,
        trust_tier: tier(executor, is_trusted)?,
        sensitivity: Sensitivity::Project,
        sensitive_fields: sensitive_fields(executor)?,
        quotas: Quotas {
            milliseconds: executor.total_ms.unwrap_or(TASK_MS),
            ..Quotas::default()
        },
        provenance: Provenance::Executor(executor.id.clone()),
        // The journal has its task with the call's key, and the ledger has its entry.
        answers_by_key: true,
        unheld: Unheld::default(),
        unheld_output: Unheld::default(),
    })
}

fn tool_of(
    executor: &Executor,
    tool: &ServerTool,
    agent: &Manifest,
) -> Result<Manifest, EntryError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let segment: String = tool
        .name
        .chars()
        .map(|c| if plain(c) { c } else { '_' })
        .collect();
    let mut effects = BTreeSet::from([Effect::CallsServer]);
    // Only its server knows what a tool does. A person has to vouch for it: for the tool by its
    // name, or for the server and then for the tools that it lists as read-only.
    let is_vouched_for = tool.only_reads || executor.tool.as_ref() == Some(&tool.name);
    if agent.trust_tier < TrustTier::TRUSTED || !is_vouched_for {
        effects.insert(Effect::Unknown);
    }
    let is_sure_to_read = tool.only_reads && agent.trust_tier >= TrustTier::TRUSTED;
    if agent.effects.contains(&Effect::WritesFiles) && !is_sure_to_read {
        effects.insert(Effect::WritesFiles);
    }
    let description = match tool.description.as_str() {
        "" => format!(
            "Calls the tool {} of the server {}.",
            tool.name, executor.id
        ),
        text => text.to_owned(),
    };
    let input = input_of(&tool.input_schema)?;
    let output = output_of(&tool.output_schema)?;
    Ok(Manifest {
        id: CapabilityName::parse(&format!("tool.{}.{segment}", executor.id))?,
        name: tool.name.clone(),
        description,
        kind: CapabilityKind::Primitive,
        skills: BTreeSet::new(),
        input: input.schema,
        output: output.schema,
        effects,
        provenance: Provenance::ToolServer(executor.id.clone()),
        // A server gets no key, and nothing else records what it was asked.
        answers_by_key: false,
        unheld: input.unheld,
        unheld_output: output.unheld,
        ..agent.clone()
    })
}

/// Returns the trust that this machine's user gives: all of it to what is built in, 2 to what may
/// be started, 1 to a server of tools whose entry is otherwise empty, nothing else. An entry may
/// ask for less.
fn tier(executor: &Executor, is_trusted: bool) -> Result<TrustTier, EntryError> {
    if !is_trusted {
        return Ok(TrustTier::UNKNOWN);
    }
    if executor.fingerprint() == Executor::embedded().fingerprint() {
        return Ok(TrustTier::OWN);
    }
    let Some(value) = executor.extra.get(TRUST_TIER) else {
        let is_tool = executor.kind == Kind::Mcp;
        return Ok(if is_tool {
            TrustTier::CONFIGURED
        } else {
            TrustTier::TRUSTED
        });
    };
    let number = value.as_u64().and_then(|number| u8::try_from(number).ok());
    let tier = number.and_then(|number| TrustTier::try_from(number).ok());
    tier.filter(|tier| *tier <= TrustTier::TRUSTED)
        .ok_or_else(|| refused(executor, TRUST_TIER, value, "0, 1, 2"))
}

fn sensitive_fields(executor: &Executor) -> Result<BTreeSet<String>, EntryError> {
    let Some(value) = executor.extra.get(SENSITIVE_FIELDS) else {
        return Ok(BTreeSet::new());
    };
    let refuse = || refused(executor, SENSITIVE_FIELDS, value, "a list of names");
    let names = value.as_array().ok_or_else(refuse)?;
    let name = |name: &serde_json::Value| name.as_str().map(str::to_owned).ok_or_else(refuse);
    names.iter().map(name).collect()
}

fn refused(
    executor: &Executor,
    key: &'static str,
    value: &serde_json::Value,
    allowed: &'static str,
) -> EntryError {
    EntryError::Key {
        id: executor.id.clone(),
        key,
        value: value.to_string(),
        allowed,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn server(tier: Option<serde_json::Value>) -> Executor {
        let mut executor = Executor {
            id: "git.hub".to_owned(),
            kind: Kind::Mcp,
            command_template: "server".to_owned(),
            tool: Some("list issues/all".to_owned()),
            ..Executor::embedded()
        };
        if let Some(tier) = tier {
            executor.extra.insert(TRUST_TIER.to_owned(), tier);
        }
        executor
    }

    /// CCOS-CAP-1: executors are agents, and servers' tools are capabilities of their own.
    #[test]
    fn a_tool_has_the_trust_that_its_entry_gives_and_the_machine_allows() {
        let of =
            |tier, is_trusted| registered_manifests(&server(tier), is_trusted, &[], Holding::Files);
        for (tier, is_trusted, number, is_unknown) in [
            (None, true, 1, true),
            (Some(json!(2)), true, 2, false),
            (Some(json!(0)), true, 0, true),
            (Some(json!(2)), false, 0, true),
        ] {
            let manifests = of(tier, is_trusted).unwrap();
            let [agent, tool] = manifests.as_slice() else {
                panic!("{manifests:?}");
            };
            assert_eq!(agent.id.as_str(), "agent.git.hub");
            assert_eq!(tool.id.as_str(), "tool.git.hub.list_issues_all");
            assert!(agent.answers_by_key && !tool.answers_by_key);
            assert_eq!(tool.trust_tier.get(), number);
            assert_eq!(tool.effects.contains(&Effect::Unknown), is_unknown);
        }
        for wrong in [json!(3), json!("high"), json!(-1), json!(300)] {
            let error = of(Some(wrong), true).unwrap_err().to_string();
            assert!(
                error.contains("trust_tier") && error.contains("git.hub"),
                "{error}"
            );
        }
        let embedded =
            registered_manifests(&Executor::embedded(), true, &[], Holding::Nothing).unwrap();
        assert_eq!(embedded[0].trust_tier, TrustTier::OWN);
        assert_eq!(embedded.len(), 1);
    }

    /// CCOS-CAP-1: every tool that a server tells of is one, and its own word alone makes none safer.
    #[test]
    fn what_a_server_says_of_a_tool_loosens_nothing_by_itself() {
        let tool = |name: &str, only_reads| ServerTool {
            name: name.to_owned(),
            only_reads,
            ..ServerTool::default()
        };
        let tools = [tool("look.up", true), tool("remove", false)];
        for (tier, unknown) in [
            (None, ["list_issues_all", "look_up", "remove"].as_slice()),
            (Some(json!(2)), &["remove"]),
        ] {
            let manifests =
                registered_manifests(&server(tier), true, &tools, Holding::Files).unwrap();
            let ids: Vec<&str> = manifests.iter().map(|one| one.id.as_str()).collect();
            assert_eq!(
                ids,
                [
                    "agent.git.hub",
                    "tool.git.hub.list_issues_all",
                    "tool.git.hub.look_up",
                    "tool.git.hub.remove"
                ]
            );
            let is_unknown = |one: &&Manifest| one.effects.contains(&Effect::Unknown);
            let found: Vec<&str> = manifests
                .iter()
                .filter(is_unknown)
                .filter_map(|one| one.id.as_str().strip_prefix("tool.git.hub."))
                .collect();
            assert_eq!(found, unknown);
        }
    }

    /// CCOS-CAP-1: an executor that may write may change files; a tool that a trusted server lists
    /// as read-only does not.
    #[test]
    fn who_has_places_to_write_to_may_change_files() {
        let found = |executor: &Executor, tools: &[ServerTool], holding| -> Vec<String> {
            let manifests = registered_manifests(executor, true, tools, holding).unwrap();
            let writes = |one: &&Manifest| one.effects.contains(&Effect::WritesFiles);
            let found = manifests.iter().filter(writes);
            found.map(|one| one.id.to_string()).collect()
        };
        let writes =
            |executor: &Executor, tools: &[ServerTool]| found(executor, tools, Holding::Files);
        let mut codex = Executor::cli("codex", "codex exec -");
        codex.protocol = Some("codex".to_owned());
        codex.grant_needs();
        assert!(!codex.writable.is_empty());
        assert_eq!(writes(&codex, &[]), [""; 0]);
        assert_eq!(found(&codex, &[], Holding::Nothing), ["agent.codex"]);
        assert_eq!(found(&Executor::embedded(), &[], Holding::Nothing), [""; 0]);
        codex.confinement = Some(Policy::Required);
        assert_eq!(
            found(&codex, &[], Holding::Nothing),
            [""; 0],
            "it is refused instead"
        );
        codex.confinement = Some(Policy::Off);
        assert_eq!(writes(&codex, &[]), ["agent.codex"]);
        codex.confinement = None;
        codex.writable.push("target/".to_owned());
        assert_eq!(writes(&codex, &[]), ["agent.codex"]);
        let mut server = server(Some(json!(2)));
        server.writable.push("notes/".to_owned());
        let look_up = ServerTool {
            name: "look".to_owned(),
            only_reads: true,
            ..ServerTool::default()
        };
        assert_eq!(
            writes(&server, &[look_up]),
            ["agent.git.hub", "tool.git.hub.list_issues_all"]
        );
    }

    /// CCOS-CAP-1: a server that takes no tasks is its tools, and none is an agent.
    #[test]
    fn a_server_without_a_tool_for_tasks_is_no_agent() {
        let server = Executor {
            tool: None,
            ..server(None)
        };
        let listed = ServerTool {
            name: "look".to_owned(),
            ..ServerTool::default()
        };
        let manifests = registered_manifests(&server, true, &[listed], Holding::Files).unwrap();
        let [tool] = manifests.as_slice() else {
            panic!("{manifests:?}");
        };
        assert_eq!(tool.id.as_str(), "tool.git.hub.look");
        assert_eq!(tool.trust_tier, TrustTier::CONFIGURED);
        assert!(tool.effects.contains(&Effect::Unknown));
    }

    #[test]
    fn an_entry_that_asks_for_other_trust_must_be_trusted_again() {
        let before = server(None).fingerprint();
        assert_ne!(before, server(Some(json!(2))).fingerprint());
    }
}

//! [`decide`]: determines how far an executor is confined on this system, or that it may not run.

use crate::Layers;
use serde_json::{Value, json};

use super::{
    policy::Policy,
    probe::{Missing, System},
};

/// Degree of confinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Everything that there is.
    Full,
    /// Something is missing.
    Partial,
    /// Nothing but its own process group, folder and environment.
    None,
}

/// Confinement of an executor: its degree, its layers, and the missing features.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The policy of its entry.
    pub policy: Policy,
    /// The degree.
    pub level: Level,
    /// The layers in use.
    pub layers: Layers,
    /// The version of Landlock, if that is a layer.
    pub landlock: Option<u32>,
    /// The hosts that it may connect to; without a network layer, they are but promises.
    pub hosts: Vec<String>,
    /// Missing features, in words.
    pub missing: Vec<String>,
}

/// An executor needs more confinement than there is, or it is unknown how much there is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}", if *is_untried { UNTRIED } else { LACKING }, missing.join("; "))]
pub struct Refused {
    /// Missing features, in words.
    pub missing: Vec<String>,
    /// Whether some of them may exist: the machine was too busy to report them.
    pub is_untried: bool,
}

const LACKING: &str = "its entry requires a sandbox, but this system lacks ";

const UNTRIED: &str = "this machine did not report in time whether it can sandbox an executor; \
    try again when it is less busy: ";

/// Decides about the layers, if these hosts must stay reachable.
pub fn decide(policy: Policy, hosts: &[String], system: &System) -> Result<Reached, Refused> {
    if policy == Policy::Off {
        return Ok(Reached {
            policy,
            level: Level::None,
            layers: Layers::default(),
            landlock: None,
            hosts: Vec::new(),
            missing: Vec::new(),
        });
    }
    let faults = [
        ("namespaces", system.namespaces.as_ref().err()),
        ("Landlock", system.landlock.as_ref().err()),
        ("a system call filter", system.system_calls.as_ref().err()),
    ];
    let mut missing: Vec<String> = faults
        .iter()
        .filter_map(|(name, fault)| fault.map(|fault| format!("{name} ({fault})")))
        .collect();
    let layers = Layers {
        namespaces: system.namespaces.is_ok(),
        network: system.namespaces.is_ok(),
        landlock: system.landlock.is_ok(),
        system_calls: system.system_calls.is_ok(),
        // Where the network cannot be taken away, sockets can, unless hosts were promised.
        sockets: system.namespaces.is_err() && system.system_calls.is_ok() && hosts.is_empty(),
    };
    if system.namespaces.is_err() && !hosts.is_empty() {
        missing.push("a network limited to the hosts of the entry".to_owned());
    }
    // Otherwise a program that keeps the machine busy would make the next executor run without a
    // sandbox.
    let is_untried = faults
        .iter()
        .any(|(_, fault)| matches!(fault, Some(Missing::Untried)));
    if is_untried || (policy == Policy::Required && !missing.is_empty()) {
        return Err(Refused {
            missing,
            is_untried,
        });
    }
    Ok(Reached {
        policy,
        level: match layers {
            _ if missing.is_empty() => Level::Full,
            layers if layers == Layers::default() => Level::None,
            _ => Level::Partial,
        },
        layers,
        landlock: system.landlock.as_ref().ok().copied(),
        hosts: hosts.to_vec(),
        missing,
    })
}

impl Level {
    /// Its name in the ledger.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Partial => "partial",
            Self::None => "none",
        }
    }
}

impl Reached {
    /// Returns no confinement, because the caller has no confiner.
    pub fn without_means(policy: Policy) -> Self {
        Self {
            policy,
            level: Level::None,
            layers: Layers::default(),
            landlock: None,
            hosts: Vec::new(),
            missing: vec!["a sandbox program".to_owned()],
        }
    }

    /// As it is kept with an entry (`metadata.confinement`).
    pub fn to_json(&self) -> Value {
        let mut layers: Vec<String> = Vec::new();
        if self.layers.namespaces {
            layers.extend(["user", "pid", "mount", "ipc"].map(str::to_owned));
        }
        if self.layers.network {
            layers.push("network".to_owned());
        }
        if let Some(version) = self.landlock.filter(|_| self.layers.landlock) {
            layers.push(format!("landlock {version}"));
        }
        if self.layers.system_calls {
            layers.push("system calls".to_owned());
        }
        if self.layers.sockets {
            layers.push("sockets".to_owned());
        }
        let mut value = json!({
            "policy": self.policy.as_str(),
            "level": self.level.as_str(),
            "layers": layers,
        });
        if !self.hosts.is_empty() {
            value["hosts"] = self.hosts.clone().into();
        }
        if !self.missing.is_empty() {
            value["missing"] = self.missing.clone().into();
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use crate::Step;

    use super::*;
    use crate::Missing;

    fn able() -> System {
        System {
            namespaces: Ok(()),
            landlock: Ok(7),
            system_calls: Ok(()),
        }
    }

    /// CAL-SEC-1: a machine that is too busy to report its features runs no executor without a
    /// sandbox, unless its entry allows that.
    #[test]
    fn what_could_not_be_tried_is_not_taken_for_missing() {
        let busy = System {
            landlock: Err(Missing::Untried),
            ..able()
        };
        for policy in [Policy::BestEffort, Policy::Required] {
            let refused = decide(policy, &[], &busy).unwrap_err();
            assert!(refused.is_untried);
            assert!(refused.to_string().contains("try again"), "{refused}");
        }
        assert!(decide(Policy::Off, &[], &busy).is_ok());
    }

    /// A container whose own filter refuses `unshare`.
    fn in_container() -> System {
        System {
            namespaces: Err(Missing::Step {
                step: Step::Namespaces,
                error: 1,
            }),
            ..able()
        }
    }

    #[test]
    fn what_the_system_can_is_done() {
        for policy in [Policy::BestEffort, Policy::Required] {
            let reached = decide(policy, &[], &able()).unwrap();
            assert_eq!(reached.level, Level::Full);
            assert!(reached.layers.namespaces && !reached.layers.sockets);
            assert_eq!(
                reached.to_json()["layers"],
                json!([
                    "user",
                    "pid",
                    "mount",
                    "ipc",
                    "network",
                    "landlock 7",
                    "system calls"
                ])
            );
        }
    }

    /// Best effort goes on without namespaces and reports why; `required` does not.
    #[test]
    fn a_container_that_refuses_namespaces_is_named() {
        let reached = decide(Policy::BestEffort, &[], &in_container()).unwrap();
        assert_eq!(reached.level, Level::Partial);
        assert!(reached.layers.landlock && reached.layers.sockets);
        assert_eq!(
            reached.missing,
            ["namespaces (namespaces: Operation not permitted (os error 1))"]
        );
        let refused = decide(Policy::Required, &[], &in_container()).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "its entry requires a sandbox, but this system lacks namespaces (namespaces: Operation not permitted (os error 1))"
        );
    }

    /// Promised hosts are enforced if they can be, and otherwise the report does not claim that
    /// they are.
    #[test]
    fn hosts_that_were_promised_are_not_cut_off() {
        let hosts = ["a.example:443".to_owned()];
        let reached = decide(Policy::Required, &hosts, &able()).unwrap();
        assert!(reached.layers.network);
        assert_eq!(reached.level, Level::Full);
        assert_eq!(reached.to_json()["hosts"], json!(hosts));
        let reached = decide(Policy::BestEffort, &hosts, &in_container()).unwrap();
        assert!(!reached.layers.sockets && !reached.layers.network);
        assert_eq!(reached.missing.len(), 2);
        assert!(decide(Policy::Required, &hosts, &in_container()).is_err());
    }

    #[test]
    fn a_system_without_features_confines_nothing() {
        let reached = decide(Policy::BestEffort, &[], &System::without()).unwrap();
        assert_eq!(reached.level, Level::None);
        assert_eq!(reached.missing.len(), 3);
        assert!(decide(Policy::Required, &[], &System::without()).is_err());
    }

    #[test]
    fn off_gives_nothing_away_anywhere() {
        for system in [able(), System::without()] {
            let reached = decide(Policy::Off, &[], &system).unwrap();
            assert_eq!(
                (reached.level, reached.layers),
                (Level::None, Layers::default())
            );
            assert!(reached.to_json().get("missing").is_none());
        }
    }
}

//! Services that a program on this machine emulates, and clusters for experiments: no one misses
//! what is deleted there.
//!
//! Only the command itself counts as evidence of its target.

use crate::{
    analyze::{Call, value::Arg},
    loopback::is_loopback,
};

/// Programs that speak to nothing else.
const LOCAL: [&str; 2] = ["awslocal", "samlocal"];

/// Whether a command is about such a service or cluster.
pub(crate) fn is_emulated(call: &Call) -> bool {
    match call.name.as_str() {
        "aws" => {
            let given = value(&call.words, "--endpoint-url");
            given.or(call.endpoint.as_deref()).is_some_and(is_loopback)
        }
        "kubectl" | "oc" | "k" | "kubecolor" => {
            value(&call.words, "--context").is_some_and(is_of_trial)
        }
        "helm" | "helmfile" => value(&call.words, "--kube-context").is_some_and(is_of_trial),
        name => LOCAL.contains(&name),
    }
}

/// Returns the last value of an option.
fn value<'w>(words: &'w [Arg], option: &str) -> Option<&'w str> {
    words.iter().enumerate().rev().find_map(|(at, word)| {
        let rest = word.text.strip_prefix(option)?;
        match rest.strip_prefix('=') {
            Some(value) => Some(value),
            None if rest.is_empty() => words.get(at + 1).map(|word| word.text.as_str()),
            None => None,
        }
    })
}

/// Whether a context of Kubernetes is one of those that tools for trying things out give their clusters.
fn is_of_trial(context: &str) -> bool {
    let named = ["kind-", "k3d-", "minikube-", "colima-"];
    matches!(
        context,
        "minikube" | "docker-desktop" | "rancher-desktop" | "orbstack" | "colima"
    ) || named.iter().any(|start| context.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::is_of_trial;

    /// CAKE-SHIM-1: only a context with a name that such a tool gives is one of its clusters.
    #[test]
    fn a_cluster_for_experiments_is_known() {
        assert!(is_of_trial("kind-t") && !is_of_trial("kindly") && !is_of_trial("prod"));
    }
}

//! Services that a program on this machine emulates, and clusters for experiments: no one misses
//! what is deleted there.
//!
//! Only the command itself counts as evidence of its target.

use crate::analyze::{Call, value::Arg};

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

/// Whether an address leads to this machine.
pub(crate) fn is_loopback(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let place = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let place = place.rsplit('@').next().unwrap_or(place);
    if place.starts_with("[::1]") || place == "::1" {
        return true;
    }
    let host = place.split(':').next().unwrap_or(place);
    let mut parts = host.split('.');
    let is_number = host.starts_with("127.")
        && parts.clone().count() == 4
        && parts.all(|part| part.parse::<u8>().is_ok());
    matches!(host, "localhost" | "0.0.0.0" | "localhost.localstack.cloud") || is_number
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
    use super::{is_loopback, is_of_trial};

    /// CAKE-SHIM-1: only what leads to this machine is taken for a service that is played here.
    #[test]
    fn an_address_of_this_machine_is_known() {
        for address in [
            "http://localhost:4566",
            "https://127.0.0.1",
            "http://[::1]:8000/x",
            "http://user@localhost/",
            "http://localhost?x=1",
            "::1",
        ] {
            assert!(is_loopback(address), "{address}");
        }
        for address in [
            "https://localhost.example.com",
            "http://127.example.com",
            "127.a.example.com",
            "https://s3.amazonaws.com",
            "http://10.0.0.1:4566",
            "http://localhost@example.com/",
            "",
        ] {
            assert!(!is_loopback(address), "{address}");
        }
        assert!(is_of_trial("kind-t") && !is_of_trial("kindly") && !is_of_trial("prod"));
    }
}

//! Tools of clouds and their control programs, translated to the equivalent command: Terraform,
//! Pulumi, AWS, clusters, and proxies that pass requests on to them.
//!
//! The operation is in the tool's name (`delete_db_cluster`), in one of its arguments, or in the
//! method of a request. Whether it may run is for the guard to decide.

use callosum_guard::tool_name::words;

use super::{catalog::own_name, tool_input::Given};

/// Services of AWS in servers' names; the last two are names of servers of all services.
const AWS: [&str; 15] = [
    "rds",
    "ec2",
    "ecs",
    "eks",
    "lambda",
    "dynamodb",
    "cloudformation",
    "elasticache",
    "redshift",
    "neptune",
    "sqs",
    "sns",
    "route53",
    "ccapi",
    "aws",
];

const ENDS: [&str; 3] = ["delete", "terminate", "purge"];

/// The command that a tool is, if it is one of these.
pub(super) fn command(tool: &str, given: Given<'_>) -> Option<Vec<String>> {
    let named = words(tool);
    let says = |group: &[&str]| named.iter().any(|word| group.contains(&word.as_str()));
    let of = |parts: &[&str]| Some(parts.iter().map(|part| (*part).to_owned()).collect());
    if says(&["terraform", "tofu", "opentofu"]) {
        return of(&["terraform"])
            .and_then(|program: Vec<_>| Some([program, steered(&named, given)?].concat()));
    }
    if says(&["pulumi"]) {
        // It is asked nothing there.
        return match named.last().map(String::as_str) {
            Some("destroy") => of(&["pulumi", "destroy", "--yes"]),
            Some("up") => of(&["pulumi", "up", "--yes"]),
            _ => None,
        };
    }
    if let Some(command) = passed_on(given) {
        return Some(command);
    }
    let is_of_cluster = says(&["kubernetes", "kubectl", "k8s", "kube"]);
    if is_of_cluster && says(&["scale"]) {
        let kind = given
            .text(&["resourcetype", "kind"])
            .unwrap_or("deployment");
        let mut command: Vec<String> = of(&["kubectl", "scale", &kind.to_ascii_lowercase()])?;
        command.extend(given.value_text("name"));
        command.extend(
            given
                .number("replicas")
                .map(|count| format!("--replicas={count}")),
        );
        return Some(command);
    }
    let asked = given.text(&["operation", "action"]);
    if is_of_cluster && asked == Some("drain") {
        let node = given
            .value_text("nodename")
            .or_else(|| given.value_text("node"));
        let mut command: Vec<String> = of(&["kubectl", "drain"])?;
        command.extend(node);
        return Some(command);
    }
    if says(&["vault"]) && says(&["mount", "mounts"]) && says(&["delete", "disable"]) {
        let mut command: Vec<String> = of(&["vault", "secrets", "disable"])?;
        command.extend(given.value_text("path"));
        return Some(command);
    }
    if says(&["elastic", "elasticsearch", "es", "opensearch"]) && tool.contains("by_query") {
        let index = given.value_text("index").unwrap_or_default();
        let which = given
            .value_text("body")
            .or_else(|| given.value_text("query"));
        let address = format!("http://localhost:9200/{index}/_delete_by_query");
        let which = which.unwrap_or_default();
        return of(&["curl", "-X", "POST", &address, "-d", &which]);
    }
    operation_of_aws(tool, &named)
}

/// Returns the Terraform operation on state, local or at the remote service.
fn steered(named: &[String], given: Given<'_>) -> Option<Vec<String>> {
    let says = |verb: &str| named.iter().any(|word| word == verb);
    let asked = given.text(&["command", "action", "operation", "subcommand", "runaction"]);
    let asked = asked.filter(|verb| verb.bytes().all(|byte| byte.is_ascii_lowercase()));
    let set = given.settings();
    let is_set = |name: &str| set.iter().any(|set| set == name);
    let command: &[&str] = if let Some(verb) = asked {
        return Some(vec![verb.to_owned()]);
    } else if is_set("isdestroy") || says("destroy") {
        &["destroy"]
    } else if says("workspace") && says("delete") {
        &["workspace", "delete"]
    } else if is_set("autoapply") && says("run") {
        &["apply", "-auto-approve"]
    } else if says("apply") {
        &["apply"]
    } else {
        return None;
    };
    Some(command.iter().map(|word| (*word).to_owned()).collect())
}

/// An operation that a tool of AWS has its name from: `delete_db_cluster`.
fn operation_of_aws(tool: &str, named: &[String]) -> Option<Vec<String>> {
    let service = AWS
        .iter()
        .find(|service| named.iter().any(|word| word == *service))?;
    let own = words(own_name(tool));
    let own: Vec<&str> = own
        .iter()
        .map(String::as_str)
        .filter(|word| !AWS.contains(word))
        .collect();
    let (first, rest) = own.split_first()?;
    // A single thing in a table or a queue is none of the service's own.
    let is_thing = !matches!(
        rest,
        [] | ["item" | "items" | "message" | "messages" | "object", ..]
    );
    (ENDS.contains(first) && is_thing).then(|| {
        let service = match *service {
            "ccapi" | "aws" => "cloudcontrol",
            service => service,
        };
        vec!["aws".to_owned(), service.to_owned(), own.join("-")]
    })
}

/// A request that is passed on to Docker or a cluster.
fn passed_on(given: Given<'_>) -> Option<Vec<String>> {
    let method = given.text(&["method", "httpmethod"])?;
    if !method.eq_ignore_ascii_case("delete") {
        return None;
    }
    let of_docker = given.text(&["dockerapipath"]);
    let path = of_docker.or_else(|| given.text(&["kubernetesapipath"]))?;
    let mut parts: Vec<&str> = path
        .split(['?', '/'])
        .filter(|part| !part.is_empty())
        .collect();
    parts.retain(|part| !part.contains('='));
    let name = parts.pop()?;
    let kind = parts.pop().unwrap_or(name);
    let words: [&str; 4] = match (of_docker.is_some(), kind) {
        (true, "volumes") => ["docker", "volume", "rm", name],
        (true, "images") => ["docker", "image", "rm", name],
        (true, "containers") => ["docker", "container", "rm", name],
        (true, _) => return None,
        (false, kind) => ["kubectl", "delete", kind, name],
    };
    Some(words.map(str::to_owned).to_vec())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn command_of(tool: &str, input: &Value) -> Option<String> {
        command(tool, Given(input.as_object().unwrap())).map(|words| words.join(" "))
    }

    /// CAKE-SHIM-1: what a tool does to what others run is the command that does the same.
    #[test]
    fn an_operation_is_the_command_that_does_the_same() {
        for (tool, input, expected) in [
            (
                "mcp__terraform__ExecuteTerraformCommand",
                json!({"command": "destroy", "working_directory": "/x"}),
                "terraform destroy",
            ),
            (
                "mcp__terraform__create_run",
                json!({"workspace_name": "prod", "is_destroy": true}),
                "terraform destroy",
            ),
            (
                "mcp__pulumi__pulumi-cli-up",
                json!({"stack": "prod"}),
                "pulumi up --yes",
            ),
            (
                "mcp__aws-rds__delete_db_cluster",
                json!({"db_cluster_identifier": "prod"}),
                "aws rds delete-db-cluster",
            ),
            (
                "mcp__kubernetes__kubectl_scale",
                json!({"name": "web", "replicas": 0}),
                "kubectl scale deployment web --replicas=0",
            ),
            (
                "mcp__kubernetes__node_management",
                json!({"operation": "drain", "nodeName": "n1"}),
                "kubectl drain n1",
            ),
            (
                "mcp__portainer__dockerProxy",
                json!({"method": "DELETE", "dockerAPIPath": "/volumes/data?force=true"}),
                "docker volume rm data",
            ),
            (
                "mcp__vault__delete_mount",
                json!({"path": "secret"}),
                "vault secrets disable secret",
            ),
        ] {
            assert_eq!(
                command_of(tool, &input).as_deref(),
                Some(expected),
                "{tool}"
            );
        }
        for (tool, input) in [
            (
                "mcp__terraform__search_modules",
                json!({"moduleQuery": "destroy"}),
            ),
            ("mcp__pulumi__pulumi-cli-preview", json!({"stack": "prod"})),
            ("mcp__aws-dynamodb__delete_item", json!({"table_name": "a"})),
            ("mcp__aws-docs__search", json!({"phrase": "delete-db"})),
            (
                "mcp__portainer__dockerProxy",
                json!({"method": "GET", "dockerAPIPath": "/volumes"}),
            ),
            (
                "mcp__kubernetes__node_management",
                json!({"operation": "list"}),
            ),
        ] {
            assert_eq!(command_of(tool, &input), None, "{tool}");
        }
    }
}

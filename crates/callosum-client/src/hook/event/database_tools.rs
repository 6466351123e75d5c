//! Tools of known servers, translated to the equivalent command: databases, caches, clusters,
//! clouds.
//!
//! A tool is known by the words of its name, its server's among them, as the `catalog` lists, or
//! passes on the arguments of a client. Deliberately not here: whether the command may run. The
//! guard decides that, as it would in a shell.

use callosum_guard::tool_name::words;

use super::{
    catalog::{DELETES, filled, known},
    tool_input::Given,
};

/// Kinds that tools of a cluster name in their own names.
const KINDS: [&str; 12] = [
    "pod",
    "pods",
    "deployment",
    "deployments",
    "service",
    "services",
    "job",
    "secret",
    "pvc",
    "configmap",
    "node",
    "statefulset",
];

/// The command that a tool is, if it is a known one.
pub(super) fn command(tool: &str, given: Given<'_>) -> Option<Vec<String>> {
    let named = words(tool);
    let says = |group: &[&str]| named.iter().any(|word| group.contains(&word.as_str()));
    if let Some(command) = spoken(&named, given) {
        return Some(command);
    }
    if let Some(known) = known(tool) {
        let value = known.names.iter().find_map(|name| given.value_text(name));
        return Some(filled(known.command, value.as_deref()));
    }
    let is_of_cluster = says(&["kubernetes", "kubectl", "k8s", "kube"]);
    let asked = given.text(&["command", "verb", "operation", "action"]);
    let deletes = says(DELETES) || asked == Some("delete");
    (is_of_cluster && deletes).then(|| deleted_of_cluster(&named, given))
}

/// Whether a tool is a known one, and what it is to be done to is given.
pub(super) fn names_object(tool: &str, given: Given<'_>) -> bool {
    known(tool).is_some_and(|known| {
        known
            .names
            .iter()
            .any(|name| given.value_text(name).is_some())
    })
}

/// Clients that a tool's name may name, for what it is given as their words.
const CLIENTS: [(&str, &str); 6] = [
    ("redis", "redis-cli"),
    ("valkey", "valkey-cli"),
    ("gh", "gh"),
    ("gcloud", "gcloud"),
    ("aws", "aws"),
    ("az", "az"),
];

/// The words of a known client, which a tool is given with or without the client's name.
fn spoken(named: &[String], given: Given<'_>) -> Option<Vec<String>> {
    let is_named = |(word, _): &&(&str, &str)| named.iter().any(|name| name == word);
    let (_, program) = CLIENTS.iter().find(is_named)?;
    if *program == "aws"
        && let Some(operation) = given.text(&["operationname", "operation"])
    {
        let service = given.text(&["servicename", "service"]).unwrap_or("");
        let service = if service == "s3" { "s3api" } else { service };
        let operation = operation.replace('_', "-").to_ascii_lowercase();
        return Some(vec![(*program).to_owned(), service.to_owned(), operation]);
    }
    let arguments = match given.command() {
        Some(command) => shlex::split(&command)?,
        None => match &given.words_under("args")[..] {
            [one] => shlex::split(one)?,
            several => several.to_vec(),
        },
    };
    let first = arguments.first()?;
    if first == program || first.contains('/') {
        return None;
    }
    Some([vec![(*program).to_owned()], arguments].concat())
}

/// Returns the `kubectl delete` command: the kind, the name or a selector, and the namespace.
fn deleted_of_cluster(named: &[String], given: Given<'_>) -> Vec<String> {
    let mut command = vec!["kubectl".to_owned(), "delete".to_owned()];
    let kind = ["resourcetype", "kind", "resource", "type"]
        .into_iter()
        .find_map(|name| given.value_text(name));
    let kind = kind.or_else(|| {
        let mut kinds = KINDS.iter();
        let of_name = kinds.find(|kind| named.iter().any(|word| word == **kind));
        of_name.map(|kind| (*kind).to_owned())
    });
    command.extend(kind.map(|kind| kind.to_ascii_lowercase()));
    command.extend(given.value_text("name"));
    for (name, option) in [
        ("namespace", "--namespace="),
        ("labelselector", "--selector="),
        ("selector", "--selector="),
        ("filename", "--filename="),
    ] {
        command.extend(
            given
                .value_text(name)
                .map(|value| format!("{option}{value}")),
        );
    }
    let set = given.settings();
    for (name, option) in [
        ("all", "--all"),
        ("allnamespaces", "--all-namespaces"),
        ("force", "--force"),
    ] {
        command.extend(set.iter().any(|set| set == name).then(|| option.to_owned()));
    }
    command
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn command_of(tool: &str, input: Value) -> Option<String> {
        let input = input.as_object().unwrap().clone();
        command(tool, Given(&input)).map(|words| words.join(" "))
    }

    /// CAKE-SHIM-1: a known server's tool is the command that does the same.
    #[test]
    fn a_known_tool_is_the_command_that_does_the_same() {
        for (tool, input, expected) in [
            ("mcp__redis__flushall", json!({}), "redis-cli flushall"),
            ("mcp__memcached__flush", json!({}), "redis-cli flushall"),
            (
                "mcp__redis__execute_command",
                json!({"command": "FLUSHALL"}),
                "redis-cli FLUSHALL",
            ),
            (
                "mcp__docker__docker_system_prune",
                json!({}),
                "docker system prune -a",
            ),
            (
                "mcp__helm__uninstall_helm_chart",
                json!({"name": "web"}),
                "helm uninstall web",
            ),
            (
                "mcp__k8s__kubectl_generic",
                json!({"command": "delete", "resourceType": "namespace", "name": "prod"}),
                "kubectl delete namespace prod",
            ),
            (
                "gh_cli",
                json!({"args": ["repo", "delete", "a/b"]}),
                "gh repo delete a/b",
            ),
            (
                "mcp__gcp__run_gcloud_command",
                json!({"args": ["projects", "delete", "p"]}),
                "gcloud projects delete p",
            ),
            (
                "use_aws",
                json!({"service_name": "s3", "operation_name": "delete_bucket"}),
                "aws s3api delete-bucket",
            ),
            (
                "mcp__mongodb__drop-database",
                json!({"database": "shop"}),
                "mongosh --eval db.getSiblingDB('shop').dropDatabase()",
            ),
            (
                "mcp__mongodb__delete-many",
                json!({"collection": "a", "filter": {"x": 1}}),
                "mongosh --eval db.x.deleteMany({\"x\":1})",
            ),
            (
                "mcp__mongodb__delete-many",
                json!({"collection": "a"}),
                "mongosh --eval db.x.deleteMany({})",
            ),
            (
                "mcp__supabase__drop_table",
                json!({"name": "users"}),
                "psql -c DROP TABLE users",
            ),
            (
                "mcp__qdrant__qdrant-delete-collection",
                json!({"collection_name": "docs"}),
                "curl -X DELETE http://localhost:6333/collections/docs",
            ),
            (
                "mcp__es__delete_index",
                json!({"index": "logs"}),
                "curl -X DELETE http://localhost:9200/logs",
            ),
            (
                "mcp__kubernetes__kubectl_delete",
                json!({"resourceType": "Deployment", "name": "web", "namespace": "prod"}),
                "kubectl delete deployment web --namespace=prod",
            ),
            (
                "mcp__kubernetes__pods_delete",
                json!({"name": "web-1"}),
                "kubectl delete pods web-1",
            ),
            (
                "mcp__docker__remove_volume",
                json!({"volume_name": "data"}),
                "docker volume rm data",
            ),
            ("mcp__docker__remove_volume", json!({}), "docker volume rm"),
            (
                "mcp__cf__d1_database_delete",
                json!({"database_id": "x"}),
                "wrangler d1 delete x",
            ),
            (
                "mcp__github__delete_repository",
                json!({"repo": "a"}),
                "gh repo delete a",
            ),
            (
                "mcp__github__delete_branch",
                json!({"owner": "a", "repo": "b", "branch": "main"}),
                "git push origin --delete main",
            ),
        ] {
            assert_eq!(command_of(tool, input).as_deref(), Some(expected), "{tool}");
        }
        for tool in [
            "mcp__github__delete_repository_secret",
            "mcp__github__delete_project_item",
            "mcp__redis__delete",
            "mcp__mongodb__drop-index",
            "mcp__mongodb__find",
            "mcp__docker__list_volumes",
            "mcp__kubernetes__pods_list",
            "mcp__terraform__search_providers",
        ] {
            assert_eq!(command_of(tool, json!({"name": "x"})), None, "{tool}");
        }
    }
}

//! Requests to a service by its library: caches, clouds, clusters, containers, other machines,
//! HTTP. Each is recorded as the command of that service's client that does the same. Databases
//! behind objects are in `orm`.

use super::{Effect, Named, arguments, first_text, last, names_any, token::Token, words};

/// Resources that are routinely deleted one by one.
const SINGLE: [&str; 9] = [
    "object",
    "objects",
    "message",
    "message-batch",
    "item",
    "tags",
    "object-tagging",
    "metric-filter",
    "attributes",
];

/// Returns the client command for a function call here.
pub(super) fn asked(
    whole: &str,
    tokens: &[Token],
    at: usize,
    given: &[Token],
    named: &Named<'_>,
) -> Option<Effect> {
    if tokens.get(at + 1) != Some(&Token::Sign('(')) {
        return None;
    }
    let mentions = |wanted: &[&str]| named.any(wanted);
    let own = last(whole);
    match own {
        "flushall" | "flushAll" | "flushdb" | "flushDb"
            if mentions(&["redis", "Redis", "ioredis", "valkey"]) =>
        {
            Some(words(&["redis-cli", "flushall"]))
        }
        "delete" | "unlink" | "del" if mentions(&["redis", "Redis", "ioredis", "valkey"]) => {
            all_keys(tokens, given)
        }
        "drop_database" | "dropDatabase" => {
            Some(words(&["mongosh", "--eval", "db.dropDatabase()"]))
        }
        "delete_bucket" => Some(words(&["aws", "s3api", "delete-bucket"])),
        "delete_db_instance" => Some(words(&["aws", "rds", "delete-db-instance"])),
        "terminate_instances" => Some(words(&["aws", "ec2", "terminate-instances"])),
        "delete_stack" => Some(words(&["aws", "cloudformation", "delete-stack"])),
        // `bucket.objects.all().delete()`
        "delete" if mentions(&["boto3"]) && is_of_all(tokens, at) => {
            Some(words(&["aws", "s3", "rm", "--recursive", "s3://bucket"]))
        }
        // paramiko, node-ssh
        "exec_command" | "execCommand" => Some(words(&["ssh", "host", &first_text(given)?])),
        _ if mentions(&["kubernetes", "@kubernetes/client-node"]) => of_cluster(own, given),
        _ if mentions(&["docker", "dockerode"]) => of_containers(whole, tokens, given),
        _ if mentions(&["boto3"]) => of_cloud(&client(tokens)?, own),
        _ if own.ends_with("Command") => {
            let package = tokens.iter().find_map(|token| match token {
                Token::Text(text) => text.strip_prefix("@aws-sdk/client-"),
                _ => None,
            })?;
            of_cloud(package, own.strip_suffix("Command")?)
        }
        _ => request(own, tokens, given),
    }
}

/// Returns a request to delete the resource at an address.
fn request(own: &str, tokens: &[Token], given: &[Token]) -> Option<Effect> {
    let text = |wanted: &dyn Fn(&str) -> bool| {
        given.iter().find_map(|token| match token {
            Token::Text(text) if wanted(text) => Some(text.as_str()),
            _ => None,
        })
    };
    let address = text(&|text| text.contains("://"));
    let asks = text(&|text| text.eq_ignore_ascii_case("delete")).is_some();
    let whole = match own {
        "delete" => address?.to_owned(),
        "fetch" | "request" | "urlopen" | "Request" | "axios" if asks => match address {
            Some(address) => address.to_owned(),
            // `HTTPSConnection("host").request("DELETE", "/path")`
            None => format!(
                "https://{}{}",
                given_to(tokens, &["HTTPSConnection", "HTTPConnection"])?,
                text(&|text| text.starts_with('/'))?
            ),
        },
        "curl_setopt" if asks => given_to(tokens, &["curl_init"])?,
        _ => return None,
    };
    Some(words(&["curl", "-X", "DELETE", &whole]))
}

/// The first text that one of these functions is given, wherever it is called.
fn given_to(tokens: &[Token], functions: &[&str]) -> Option<String> {
    let at = tokens
        .iter()
        .position(|token| matches!(token, Token::Name(name) if functions.contains(&last(name))))?;
    first_text(&arguments(tokens, at + 1))
}

/// The deletion of each key that a program lists.
fn all_keys(tokens: &[Token], given: &[Token]) -> Option<Effect> {
    const LISTS: [&str; 5] = ["scan_iter", "keys", "scanIterator", "scanStream", "scan"];
    let lists = tokens
        .iter()
        .any(|token| matches!(token, Token::Name(name) if LISTS.contains(&last(name))));
    let within = given
        .iter()
        .any(|token| matches!(token, Token::Name(name) if LISTS.contains(&last(name))));
    if !lists || first_text(given).is_some() && !within {
        return None;
    }
    let pattern = given_to(tokens, &LISTS).unwrap_or_else(|| "*".to_owned());
    let line = format!(
        "redis-cli keys '{}' | xargs redis-cli del",
        pattern.replace('\'', "")
    );
    Some(Effect::Shell(line))
}

/// A function of Kubernetes' clients: `delete_namespaced_deployment("api", "prod")`, `deleteNamespace({name: "prod"})`.
fn of_cluster(own: &str, given: &[Token]) -> Option<Effect> {
    let verb = dashed(own);
    let kind = verb.strip_prefix("delete-")?;
    let (kind, is_all) = match kind.strip_prefix("collection-") {
        Some(kind) => (kind, true),
        None => (kind, false),
    };
    let kind = kind.trim_start_matches("namespaced-").replace('-', "");
    let name = first_text(given).unwrap_or_else(|| "name".to_owned());
    let last = if is_all { "--all" } else { name.as_str() };
    Some(words(&["kubectl", "delete", &kind, last]))
}

/// A function of Docker's clients.
fn of_containers(whole: &str, tokens: &[Token], given: &[Token]) -> Option<Effect> {
    let lists = |kind: &str| {
        let wanted = format!("{kind}.list");
        let got = format!("{kind}.get");
        tokens.iter().any(|token| {
            matches!(token, Token::Name(name) if name.ends_with(&wanted) || name.ends_with(&got))
        })
    };
    match last(whole) {
        "prune" if whole.ends_with("volumes.prune") => {
            Some(words(&["docker", "volume", "prune", "-f"]))
        }
        "pruneVolumes" => Some(words(&["docker", "volume", "prune", "-f"])),
        "remove_volume" => Some(words(&["docker", "volume", "rm", &first_text(given)?])),
        "remove" if lists("volumes") => Some(words(&["docker", "volume", "rm", "volume"])),
        "remove" if lists("containers") && names_any(given, &["force"]) => {
            Some(Effect::Shell("docker rm -f $(docker ps -aq)".to_owned()))
        }
        _ => None,
    }
}

/// The service that a client of boto3's is for.
fn client(tokens: &[Token]) -> Option<String> {
    given_to(tokens, &["client", "resource"])
}

/// An operation of Amazon's, by the service and its name in any form.
fn of_cloud(service: &str, operation: &str) -> Option<Effect> {
    const VERBS: [&str; 5] = [
        "delete-",
        "terminate-",
        "purge-",
        "schedule-key-deletion",
        "deregister-",
    ];
    let operation = dashed(operation);
    let is_single = operation
        .strip_prefix("delete-")
        .is_some_and(|what| SINGLE.contains(&what));
    if is_single || !VERBS.iter().any(|verb| operation.starts_with(verb)) {
        return None;
    }
    let service = if service == "s3" { "s3api" } else { service };
    Some(words(&["aws", service, &operation]))
}

/// A name with dashes between its words: `deleteDBInstance` and `delete_db_instance` are `delete-db-instance`.
fn dashed(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut out = String::with_capacity(name.len() + 4);
    for (at, letter) in letters.iter().enumerate() {
        let begins = letter.is_uppercase()
            && at > 0
            && (letters[at - 1].is_lowercase()
                || letters.get(at + 1).is_some_and(|next| next.is_lowercase()));
        if begins {
            out.push('-');
        }
        out.push(if *letter == '_' {
            '-'
        } else {
            letter.to_ascii_lowercase()
        });
    }
    out
}

/// Whether a method is called on all that something has: `.objects.all().delete()`.
fn is_of_all(tokens: &[Token], at: usize) -> bool {
    matches!(
        tokens[..at],
        [.., Token::Name(ref name), Token::Sign('('), Token::Sign(')')] if last(name) == "all"
    )
}

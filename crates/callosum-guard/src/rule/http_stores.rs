//! Stores that are spoken to over a connection and have no client of their own: search indexes,
//! collections of vectors, memcached.

use super::{Rule, Severity, Subject, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &["curl", "xh", "http", "https", "httpie", "wget"],
        takes: "-X --request --method -d --data --json -H --header -u --user -o --output",
        one_dash: false,
        tests: &[
            ("deletes", deletes_index),
            ("deletes-repository", deletes_repository),
            ("deletes-at-service", deletes_at_service),
        ],
        rules: &[
            Rule {
                id: "store.delete-repository",
                when: &["&deletes-repository"],
                severity: Severity::Block,
                reason: "it deletes the repository that everyone clones from",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "curl -X DELETE -H \"Authorization: token $T\" https://api.github.com/repos/o/r",
                    "curl -sXDELETE https://api.github.com/repos/o/r",
                    "curl --request DELETE https://gitlab.com/api/v4/projects/7",
                    "http DELETE https://git.example.org/api/v1/repos/o/r",
                ],
                #[cfg(test)]
                spares: &[
                    "curl https://api.github.com/repos/o/r",
                    "curl -X DELETE https://api.github.com/repos/o/r/issues/comments/1",
                    "curl -X DELETE http://localhost:3000/projects/7",
                ],
            },
            Rule {
                id: "store.delete-at-service",
                when: &["&deletes-at-service"],
                severity: Severity::Ask,
                reason: "what is deleted at the service is gone for everyone",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "curl -X DELETE -H \"Authorization: Bearer $T\" https://api.cloudflare.com/client/v4/zones/abc",
                    "curl --request DELETE --url https://api.vercel.com/v9/projects/shop",
                    "xh delete https://api.stripe.com/v1/customers/c",
                    "curl -X DELETE https://API.Cloudflare.com/client/v4/zones/abc",
                    "curl -sXDELETE https://storage.googleapis.com/storage/v1/b/data",
                ],
                #[cfg(test)]
                spares: &[
                    "curl -X DELETE https://api.example.com/v1/items/42",
                    "curl https://api.cloudflare.com/client/v4/zones",
                    "curl -X DELETE http://localhost:3000/users/1",
                    "curl -X POST https://api.stripe.com/v1/customers",
                ],
            },
            Rule {
                id: "store.delete-index",
                when: &["&deletes"],
                severity: Severity::Block,
                reason: "it deletes the whole index or collection, with everything in it",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "curl -X DELETE http://localhost:9200/logs",
                    "curl -XDELETE 'localhost:9200/_all'",
                    "curl --request DELETE http://localhost:6333/collections/docs",
                    "curl -X DELETE 'http://localhost:7700/indexes/movies'",
                    "http DELETE :9200/logs-2025",
                    "curl -X POST localhost:9200/logs/_delete_by_query -d '{\"query\": {\"match_all\": {}}}'",
                    "curl -X POST localhost:8983/solr/films/update -d '{\"delete\": {\"query\": \"*:*\"}}'",
                ],
                #[cfg(test)]
                spares: &[
                    "curl -X DELETE http://localhost:9200/logs/_doc/1",
                    "curl http://localhost:9200/logs",
                    "curl -X DELETE http://localhost:3000/users/1",
                    "curl -X PUT http://localhost:6333/collections/docs",
                    "curl -X DELETE http://localhost:6333/collections/docs/index/field",
                    "curl -X DELETE http://localhost:9200/test-logs",
                ],
            },
        ],
    },
    Tool {
        names: &["nc", "ncat", "netcat", "telnet"],
        takes: "-p -s -w -q -i",
        one_dash: false,
        tests: &[("flushes", |s| {
            s.call.input.as_ref().is_some_and(|input| {
                let lines = input.text.lines().map(str::trim);
                let mut words = lines.filter_map(|line| line.split_whitespace().next());
                words.any(|word| {
                    let lower = word.to_ascii_lowercase();
                    ["flush_all", "flushall", "flushdb"].contains(&lower.as_str())
                })
            })
        })],
        rules: &[Rule {
            id: "store.flush",
            when: &["&flushes"],
            severity: Severity::Block,
            reason: "it deletes everything that is stored",
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "echo flush_all | nc localhost 11211",
                "printf 'flush_all\\r\\nquit\\r\\n' | nc -q1 localhost 11211",
                "telnet localhost 11211 <<< flush_all",
                "echo FLUSHALL | nc localhost 6379",
            ],
            #[cfg(test)]
            spares: &[
                "echo stats | nc localhost 11211",
                "printf 'get flush_all\\r\\n' | nc localhost 11211",
                "echo ping | nc localhost 6379",
            ],
        }],
    },
];

/// Whether a request is one to delete.
fn asks_to_delete(subject: &Subject<'_>) -> bool {
    let method = ["-X", "--request", "--method"]
        .iter()
        .find_map(|option| subject.value(option));
    method.is_some_and(|method| method.eq_ignore_ascii_case("DELETE"))
        || subject.operand(0).eq_ignore_ascii_case("DELETE")
}

/// Hosts at which services are asked for what they keep, or the ends of their names.
const SERVICES: [&str; 58] = [
    "api.cloudflare.com",
    "api.vercel.com",
    "api.netlify.com",
    "api.heroku.com",
    "api.digitalocean.com",
    "api.linode.com",
    "api.vultr.com",
    "api.hetzner.cloud",
    "dns.hetzner.com",
    "api.scaleway.com",
    "api.ovh.com",
    "api.machines.dev",
    "api.fly.io",
    "api.render.com",
    "api.supabase.com",
    "console.neon.tech",
    "api.planetscale.com",
    "api.turso.tech",
    "api.mongodb.com",
    "cloud.mongodb.com",
    "api.upstash.com",
    "api.pinecone.io",
    ".pinecone.io",
    ".cloud.qdrant.io",
    ".weaviate.network",
    "management.azure.com",
    ".azure.com",
    "graph.microsoft.com",
    ".core.windows.net",
    ".googleapis.com",
    ".amazonaws.com",
    "api.stripe.com",
    "api.paypal.com",
    "api.sendgrid.com",
    "api.mailgun.net",
    "api.twilio.com",
    "api.openai.com",
    "api.anthropic.com",
    ".auth0.com",
    ".okta.com",
    "api.clerk.com",
    "api.datadoghq.com",
    "api.newrelic.com",
    "api.pagerduty.com",
    "sentry.io",
    ".atlassian.net",
    "api.bitbucket.org",
    "api.notion.com",
    "api.airtable.com",
    "api.hubapi.com",
    ".myshopify.com",
    "api.contentful.com",
    "hub.docker.com",
    "registry.npmjs.org",
    "app.terraform.io",
    "api.pulumi.com",
    "api.circleci.com",
    "circleci.com",
];

/// Whether a known service is asked to delete something that it keeps.
fn deletes_at_service(subject: &Subject<'_>) -> bool {
    let is_of_service = |address: &str| {
        let host = parts(address).map_or("", |(host, _)| host);
        let host = host.rsplit('@').next().unwrap_or(host);
        let host = host.split([':', '?']).next().unwrap_or(host);
        let host = &host.to_ascii_lowercase();
        let mut services = SERVICES.iter();
        services
            .any(|service| host == *service || service.starts_with('.') && host.ends_with(service))
    };
    let mut operands = subject.operands.iter();
    asks_to_delete(subject) && operands.any(|(word, _)| is_of_service(&word.text))
}

/// Whether a host of repositories is asked to delete a whole one.
fn deletes_repository(subject: &Subject<'_>) -> bool {
    let is_repository = |address: &str| {
        let Some((host, path)) = parts(address) else {
            return false;
        };
        let path: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        match &path[..] {
            ["repos", _, _] => host == "api.github.com",
            ["api", "v3" | "v1", "repos", _, _] | ["api", "v4", "projects", _] => true,
            _ => false,
        }
    };
    let mut operands = subject.operands.iter();
    asks_to_delete(subject) && operands.any(|(word, _)| is_repository(&word.text))
}

/// Whether an address is asked to delete a whole index or collection.
fn deletes_index(subject: &Subject<'_>) -> bool {
    let deletes = asks_to_delete(subject);
    let text = subject.text();
    let of_all = text.contains("match_all") || text.contains("*:*");
    subject.operands.iter().any(|(word, _)| {
        let Some((host, path)) = parts(&word.text) else {
            return false;
        };
        let path: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let lasts = |name: &&str| !super::scratch_name::says_scratch(name);
        match &path[..] {
            [name] if is_search(host) => deletes && lasts(name),
            ["collections" | "indexes", name] | ["v1", "schema", name] => deletes && lasts(name),
            [.., "_delete_by_query"] | ["solr", _, "update"] => of_all,
            _ => false,
        }
    })
}

/// The host of an address with its port, and the path without what is asked.
fn parts(address: &str) -> Option<(&str, &str)> {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let (host, path) = rest.split_once('/')?;
    let path = path.split(['?', '#']).next().unwrap_or(path);
    Some((host, path))
}

/// Whether a server for searching listens there, by its port or its name.
fn is_search(host: &str) -> bool {
    host.ends_with(":9200")
        || ["elastic", "opensearch"]
            .iter()
            .any(|name| host.contains(name))
}

//! Services that others host, by their own command lines: content, users, projects.

use super::{Rule, Severity, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &[
            "sanity",
            "algolia",
            "contentful",
            "stripe",
            "auth0",
            "render",
            "dokku",
            "okteto",
            "werf",
            "cilium",
            "convex",
            "neon",
            "clever",
            "scalingo",
            "koyeb",
            "northflank",
            "appwrite",
            "nhost",
            "xata",
            "upstash",
            "doppler",
            "infisical",
            "zeabur",
            "amplify",
            "hf",
            "huggingface-cli",
        ],
        takes: "--project --app -a -p --team --space-id --org",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "hosted.delete",
            when: &[
                "delete|destroy|remove|dismiss|uninstall|reset",
                "* delete|destroy|remove|reset|purge",
                "*:delete|*:destroy",
                "import --replace-all|--replace",
            ],
            severity: Severity::Block,
            reason: "what is deleted at the service is gone for everyone",
            alternatives: &["sanity dataset list"],
            #[cfg(test)]
            catches: &[
                "sanity dataset delete production",
                "dokku apps:destroy x --force",
                "stripe products delete p",
                "neon branches delete main",
                "doppler secrets delete API_KEY -y",
                "okteto destroy",
                "npx convex import --replace-all x.zip",
                "hf repo delete acme/model",
                "huggingface-cli repo delete acme/model",
            ],
            #[cfg(test)]
            spares: &[
                "sanity dataset list",
                "dokku apps:list",
                "stripe listen",
                "neon branches list",
                "hf download acme/model",
                "hf upload acme/model .",
            ],
        }],
    },
    Tool {
        names: &["drush", "wp", "craft"],
        takes: "-r -l --uri --path",
        one_dash: false,
        // The site may stand before the verb: `drush @prod sql-drop`.
        tests: &[("of-site", |s| {
            let mut operands = s.operands.iter().map(|(word, _)| word.text.as_str());
            let verb = operands.find(|word| !word.starts_with('@')).unwrap_or("");
            matches!(
                verb,
                "sql-drop" | "sql:drop" | "site-install" | "site:install" | "entity:delete"
            )
        })],
        rules: &[Rule {
            id: "hosted.site-delete",
            when: &["&of-site", "db reset|drop|clean", "site empty|delete"],
            severity: Severity::Block,
            reason: "it deletes the data of the site",
            alternatives: &["drush status"],
            #[cfg(test)]
            catches: &[
                "drush sql-drop -y",
                "wp db reset --yes",
                "drush @prod sql:drop",
                "drush site-install",
            ],
            #[cfg(test)]
            spares: &[
                "drush cr",
                "drush sql:dump",
                "wp db export",
                "wp plugin list",
            ],
        }],
    },
    Tool {
        names: &["kamal"],
        takes: "-d --destination -c --config-file -h --hosts -r --roles --version",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "hosted.unpublish",
            when: &["remove", "app|accessory|proxy remove"],
            severity: Severity::Block,
            reason: "it takes down a running service and its data",
            alternatives: &["kamal details"],
            #[cfg(test)]
            catches: &[
                "kamal remove -y",
                "kamal -d prod remove",
                "kamal accessory remove db",
            ],
            #[cfg(test)]
            spares: &[
                "kamal details",
                "kamal app logs",
                "kamal accessory details db",
            ],
        }],
    },
    Tool {
        names: &["eb"],
        takes: "-r --region --profile",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "hosted.terminate",
            when: &["terminate"],
            severity: Severity::Block,
            reason: "it takes down a running service and its data",
            alternatives: &["eb status"],
            #[cfg(test)]
            catches: &[
                "eb terminate prod --force",
                "eb terminate --all",
                "eb --profile p terminate",
            ],
            #[cfg(test)]
            spares: &["eb status", "eb logs", "eb list"],
        }],
    },
    Tool {
        names: &["cloudflared"],
        takes: "--config --origincert",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "hosted.tunnel",
            when: &["tunnel delete|cleanup"],
            severity: Severity::Block,
            reason: "services behind the tunnel become unreachable",
            alternatives: &["cloudflared tunnel list"],
            #[cfg(test)]
            catches: &[
                "cloudflared tunnel delete -f prod",
                "cloudflared tunnel cleanup prod",
                "cloudflared tunnel delete prod",
            ],
            #[cfg(test)]
            spares: &[
                "cloudflared tunnel list",
                "cloudflared tunnel run prod",
                "cloudflared tunnel --url http://localhost:3000",
            ],
        }],
    },
    Tool {
        names: &["op", "bw", "gopass", "lpass"],
        takes: "--vault --account --session",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "hosted.secrets",
            when: &[
                "item|document|vault|user|group|service-account delete",
                "delete *",
                "rm *",
            ],
            severity: Severity::Block,
            reason: "it deletes passwords or keys that may be stored nowhere else",
            alternatives: &["op item list", "bw list items", "gopass ls", "lpass ls"],
            #[cfg(test)]
            catches: &[
                "op item delete 'prod db'",
                "bw delete item 1",
                "gopass rm -r mail",
            ],
            #[cfg(test)]
            spares: &["op item get x", "bw list items", "gopass show mail"],
        }],
    },
    Tool {
        names: &["fly", "flyctl", "heroku"],
        takes: "-a --app -c --config -r --remote",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "hosted.unset",
            when: &["secrets unset", "config:unset", "postgres|pg detach"],
            severity: Severity::Ask,
            reason: "the value may be stored nowhere else",
            alternatives: &["fly secrets list", "heroku config"],
            #[cfg(test)]
            catches: &[
                "fly secrets unset DATABASE_URL",
                "flyctl -a shop secrets unset A B",
                "heroku config:unset KEY -a shop",
                "flyctl postgres detach shop-db",
            ],
            #[cfg(test)]
            spares: &[
                "fly secrets list",
                "fly secrets set A=1",
                "fly postgres list",
                "heroku config",
            ],
        }],
    },
    Tool {
        names: &["jfrog", "jf"],
        takes: "--server-id --url --spec --props",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "hosted.artifacts",
            when: &[
                "rt del|delete|rdel|repo-delete !--dry-run",
                "rt build-discard|bdi",
            ],
            severity: Severity::Block,
            reason: "what is deleted at the service is gone for everyone",
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "jfrog rt del 'repo/*' --quiet",
                "jf rt delete libs/a.jar",
                "jf rt repo-delete libs",
            ],
            #[cfg(test)]
            spares: &[
                "jf rt search 'libs/*'",
                "jf rt del --dry-run libs/a.jar",
                "jf rt upload a.jar libs/",
            ],
        }],
    },
];

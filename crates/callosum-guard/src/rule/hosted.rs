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
            reason: "what is deleted at the service is gone for everybody",
            alternatives: &["sanity dataset list"],
            catches: &[
                "sanity dataset delete production",
                "dokku apps:destroy x --force",
                "stripe products delete p",
                "neon branches delete main",
                "doppler secrets delete API_KEY -y",
                "okteto destroy",
                "npx convex import --replace-all x.zip",
            ],
            spares: &[
                "sanity dataset list",
                "dokku apps:list",
                "stripe listen",
                "neon branches list",
            ],
        }],
    },
    Tool {
        names: &["drush", "wp", "craft", "console"],
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
            when: &[
                "&of-site",
                "db reset|drop|clean",
                "site empty|delete",
                "doctrine:schema:drop|doctrine:database:drop",
            ],
            severity: Severity::Block,
            reason: "it deletes what the site has stored",
            alternatives: &["drush status"],
            catches: &[
                "drush sql-drop -y",
                "wp db reset --yes",
                "drush @prod sql:drop",
                "drush site-install",
            ],
            spares: &[
                "drush cr",
                "drush sql:dump",
                "wp db export",
                "wp plugin list",
            ],
        }],
    },
];

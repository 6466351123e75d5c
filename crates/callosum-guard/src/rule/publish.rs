//! Publishing to the registries of npm and of cargo: what cannot be taken back once others have it. Other registries are in
//! `release`.

use super::{Rule, Severity, Tool};
use crate::loopback::is_loopback;

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &["npm", "pnpm", "yarn", "bun"],
        takes: "-w --workspace --registry --tag --otp -C --prefix --filter",
        one_dash: false,
        tests: &[("at-home", |s| {
            let mut kept = s.call.environment.iter();
            let is_registry = |name: &str| name.eq_ignore_ascii_case("npm_config_registry");
            match s.value("--registry") {
                Some(registry) => is_loopback(registry),
                None => kept.any(|(name, place)| is_registry(name) && is_loopback(place)),
            }
        })],
        rules: &[
            Rule {
                id: "npm.publish",
                when: &[
                    "publish|pub !--dry-run !&at-home",
                    "npm publish !--dry-run !&at-home",
                    "stage publish !&at-home",
                ],
                severity: Severity::Ask,
                reason: "publishing cannot be undone",
                alternatives: &["npm pack --dry-run"],
                #[cfg(test)]
                catches: &[
                    "npm publish",
                    "npm publish --access public",
                    "pnpm publish -r",
                    "yarn npm publish",
                ],
                #[cfg(test)]
                spares: &[
                    "npm publish --dry-run",
                    "npm pack",
                    "npm run publish:docs",
                    "npm publish --registry http://localhost:4873",
                    "NPM_CONFIG_REGISTRY=http://localhost:4873 npm publish",
                    "npm install",
                ],
            },
            Rule {
                id: "npm.unpublish",
                when: &[
                    "unpublish !&at-home",
                    "owner add|rm",
                    "access *",
                    "token revoke|create",
                    "team destroy|rm",
                ],
                severity: Severity::Block,
                reason: "it breaks projects that depend on the package",
                alternatives: &[
                    "npm view {1}",
                    "npm ls",
                    "yarn info {1}",
                    "yarn list",
                    "bun pm ls",
                ],
                #[cfg(test)]
                catches: &[
                    "npm unpublish x --force",
                    "npm owner rm me x",
                    "pnpm unpublish x@1",
                ],
                #[cfg(test)]
                spares: &[
                    "npm view x",
                    "npm ls",
                    "npm owner ls x",
                    "npm unpublish x --registry http://localhost:4873 --force",
                ],
            },
            Rule {
                id: "npm.deprecate",
                when: &[
                    "deprecate !&at-home",
                    "dist-tag|dist-tags|tag rm|remove|add !&at-home",
                    "npm tag rm|remove|add !&at-home",
                ],
                severity: Severity::Ask,
                reason: "from then on, everyone who installs the package sees another message or gets another version",
                alternatives: &[
                    "npm view {1}",
                    "npm ls",
                    "yarn npm info {1}",
                    "yarn list",
                    "bun pm ls",
                ],
                #[cfg(test)]
                catches: &[
                    "npm deprecate x@1 no",
                    "npm deprecate x@1 ''",
                    "npm dist-tag rm x latest",
                    "npm dist-tag add x@2 latest",
                    "yarn npm tag add x@2 latest",
                ],
                #[cfg(test)]
                spares: &[
                    "npm dist-tag ls x",
                    "yarn npm tag list x",
                    "npm view x dist-tags",
                    "npm outdated",
                ],
            },
        ],
    },
    Tool {
        names: &["cargo"],
        takes: "-p --package --manifest-path --registry --token --color --target-dir -Z --config",
        one_dash: false,
        tests: &[],
        rules: &[
            Rule {
                id: "cargo.publish",
                when: &[
                    "publish !--dry-run|-n !--help",
                    "release -x|--execute",
                    "workspaces publish",
                    "smart-release --execute",
                ],
                severity: Severity::Ask,
                reason: "publishing cannot be undone",
                alternatives: &["cargo publish --dry-run"],
                #[cfg(test)]
                catches: &[
                    "cargo publish",
                    "cargo publish -p x --no-verify",
                    "cargo release --execute minor",
                    "cargo +nightly publish",
                ],
                #[cfg(test)]
                spares: &[
                    "cargo publish --dry-run",
                    "cargo package",
                    "cargo build --release",
                    "cargo test publish",
                ],
            },
            Rule {
                id: "cargo.yank",
                when: &["yank", "owner -a|--add|-r|--remove"],
                severity: Severity::Ask,
                reason: "it breaks projects that depend on the package",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "cargo yank --version 1.0.0",
                    "cargo owner --add eve",
                    "cargo yank x@1",
                ],
                #[cfg(test)]
                spares: &["cargo search yank", "cargo owner --list", "cargo tree"],
            },
        ],
    },
];

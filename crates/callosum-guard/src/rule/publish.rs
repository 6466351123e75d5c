//! Publishing: what cannot be taken back once others have it.

use super::{Rule, Severity, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &["npm", "pnpm", "yarn", "bun"],
        takes: "-w --workspace --registry --tag --otp -C --prefix --filter",
        one_dash: false,
        tests: &[],
        rules: &[
            Rule {
                id: "npm.publish",
                when: &[
                    "publish|pub !--dry-run",
                    "npm publish !--dry-run",
                    "stage publish",
                ],
                severity: Severity::Ask,
                reason: "what is published cannot be taken back",
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
                    "npm install",
                ],
            },
            Rule {
                id: "npm.unpublish",
                when: &[
                    "unpublish",
                    "deprecate",
                    "owner add|rm",
                    "access *",
                    "token revoke|create",
                    "dist-tag rm|add",
                    "team destroy|rm",
                ],
                severity: Severity::Block,
                reason: "it breaks those who depend on the package",
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
                    "npm deprecate x@1 no",
                ],
                #[cfg(test)]
                spares: &["npm view x", "npm ls", "npm owner ls x"],
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
                reason: "what is published cannot be taken back",
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
                reason: "it breaks those who depend on the package",
                alternatives: &["cargo search serde"],
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
    Tool {
        names: &[
            "twine",
            "poetry",
            "uv",
            "flit",
            "hatch",
            "pdm",
            "maturin",
            "gem",
            "mvn",
            "gradle",
            "gradlew",
            "dotnet",
            "nuget",
            "vsce",
            "ovsx",
            "lerna",
            "changeset",
            "semantic-release",
            "goreleaser",
            "helm",
            "conda",
            "anaconda",
            "hex",
            "mix",
            "pod",
            "luarocks",
            "composer",
            "clojars",
            "sbt",
            "jsr",
            "deno",
            "wrangler",
            "vercel",
            "netlify",
            "flyctl",
            "fly",
            "firebase",
            "serverless",
            "sls",
            "eas",
            "fastlane",
            "expo",
            "heroku",
            "railway",
            "render",
            "surge",
            "cap",
            "kamal",
        ],
        takes: "-r --repository -u -p --project --org --app -a --config -c",
        one_dash: false,
        tests: &[("releases", |s| {
            let first = s.operand(0);
            match s.call.name.as_str() {
                "twine" | "luarocks" => first == "upload",
                "poetry" | "uv" | "flit" | "hatch" | "pdm" | "maturin" | "vsce" | "ovsx"
                | "lerna" | "changeset" | "jsr" => matches!(first, "publish" | "unpublish"),
                "deno" => first == "publish",
                "gem" => matches!(first, "push" | "yank" | "owner"),
                "mvn" | "gradle" | "gradlew" | "sbt" => {
                    s.operands.iter().any(|(word, _)| {
                        let word = word.text.as_str();
                        word == "deploy"
                            || word.starts_with("release:")
                            || word.starts_with("deploy:")
                            || word == "publish"
                            || word.starts_with("publishTo")
                            || word.ends_with(":publish")
                            || word.starts_with("publishAll")
                            || word.ends_with("publishSigned")
                    }) && !s.has("--dry-run")
                }
                "dotnet" => first == "nuget" && matches!(s.operand(1), "push" | "delete"),
                "nuget" => matches!(first, "push" | "delete"),
                "semantic-release" => true,
                "goreleaser" => {
                    first == "release" && !s.has("--snapshot") && !s.has("--skip=publish")
                }
                "pod" => {
                    first == "trunk" && matches!(s.operand(1), "push" | "delete" | "deprecate")
                }
                "mix" => matches!(first, "hex.publish" | "hex.retire"),
                "anaconda" => matches!(first, "upload" | "remove"),
                "wrangler" => {
                    matches!(first, "deploy" | "publish" | "delete")
                        || s.text().contains("delete")
                        || s.operand(1) == "execute" && s.has("--remote")
                }
                "vercel" => {
                    // Without `--prod` it is for its author to look at.
                    matches!(first, "rm" | "remove" | "promote" | "rollback")
                        || matches!(s.operand(1), "rm" | "remove")
                        || s.has("--prod")
                        || s.value("--target") == Some("production")
                }
                "netlify" => first == "deploy" && s.has("--prod") || first.ends_with("delete"),
                "fly" | "flyctl" => {
                    matches!(first, "deploy" | "destroy")
                        || matches!(s.operand(1), "destroy" | "delete")
                }
                "firebase" => {
                    first == "deploy"
                        || first.contains("delete")
                        || first.contains("disable")
                        || first.contains("remove")
                }
                "serverless" | "sls" => matches!(first, "deploy" | "remove"),
                "eas" => first == "submit" || first == "update",
                "heroku" => {
                    first.contains("destroy")
                        || first.contains("delete")
                        || first == "pg:reset"
                        || first == "pg:drop"
                        || first == "ps:stop"
                }
                "cap" => s
                    .operands
                    .iter()
                    .any(|(word, _)| word.text.starts_with("deploy")),
                "kamal" => matches!(first, "deploy" | "redeploy" | "rollback"),
                "railway" => matches!(first, "down" | "delete") || s.operand(1) == "delete",
                _ => false,
            }
        })],
        rules: &[Rule {
            id: "publish.release",
            when: &["&releases !--dry-run !--help"],
            severity: Severity::Ask,
            reason: "what is published or deployed cannot simply be taken back",
            alternatives: &["twine check dist/pkg.whl"],
            #[cfg(test)]
            catches: &[
                "twine upload dist/*",
                "poetry publish --build",
                "gem push x.gem",
                "gem yank x -v 1",
                "mvn deploy",
                "dotnet nuget push x.nupkg",
                "heroku apps:destroy x",
                "fly apps destroy x",
                "vercel --prod",
                "./gradlew publishToMavenCentral",
                "cap production deploy",
                "kamal deploy",
            ],
            #[cfg(test)]
            spares: &[
                "twine check dist/*",
                "poetry build",
                "gem list",
                "mvn test",
                "poetry publish --dry-run",
                "uv sync",
                "vercel",
                "vercel deploy --yes",
                "deno test",
                "cap -T",
                "kamal details",
            ],
        }],
    },
    Tool {
        names: &["gh", "glab", "hub"],
        takes: "-X --method -R --repo -b --body -t --title -F -f --field --raw-field -H --jq -q --template --head --base --label -l -m",
        one_dash: false,
        tests: &[
            ("is-hub", |s| s.call.name == "hub"),
            ("opens-repository", |s| {
                let fields = ["-f", "-F", "--field", "--raw-field"];
                let mut fields = fields.iter().flat_map(|option| s.values(option));
                fields.any(|field| {
                    matches!(
                        field,
                        "private=false" | "visibility=public" | "archived=true"
                    )
                })
            }),
            ("unprotects", |s| {
                let method = s.value("-X").or_else(|| s.value("--method"));
                let mut operands = s.operands.iter();
                method.is_some_and(|method| !method.eq_ignore_ascii_case("GET"))
                    && operands.any(|(word, _)| word.text.ends_with("/protection"))
            }),
            ("deletes", |s| {
                let text = s.text();
                let said = text.split_once("mutation").map_or("", |(_, said)| said);
                let mut names = said.split(|c: char| !c.is_alphanumeric());
                names.any(|name| {
                    name.starts_with("archive")
                        || name.starts_with("delete") && !name.ends_with("Comment")
                })
            }),
            ("deleting-request", |s| {
                s.operand(0) == "api"
                    && s.value("-X")
                        .or_else(|| s.value("--method"))
                        .is_some_and(|method| method.eq_ignore_ascii_case("delete"))
            }),
        ],
        rules: &[
            Rule {
                id: "gh.delete",
                when: &[
                    "repo|project|release|secret|variable|gist|codespace|label|cache|ssh-key|gpg-key|run|workflow|environment|issue delete",
                    "delete &is-hub",
                    "&deleting-request",
                    "repo archive|rename",
                    "workflow disable",
                    "release delete-asset",
                    "api graphql &deletes",
                ],
                severity: Severity::Block,
                reason: "what is deleted on the server is gone for everybody",
                alternatives: &["gh repo view"],
                #[cfg(test)]
                catches: &[
                    "gh repo delete o/r --yes",
                    "gh api -X DELETE /repos/o/r",
                    "gh release delete v1 -y",
                    "gh secret delete X",
                    "gh api graphql -f query='mutation{deleteRef(input:{refId:\"x\"}){clientMutationId}}'",
                ],
                #[cfg(test)]
                spares: &[
                    "gh repo view",
                    "gh pr create --title 'delete repo'",
                    "gh api /repos/o/r",
                    "gh issue list",
                    "gh api graphql -f query='query{viewer{login}}' -f note=delete",
                ],
            },
            Rule {
                id: "gh.public",
                when: &[
                    "api &opens-repository",
                    "api &unprotects",
                    "repo edit --visibility",
                    "pr merge --admin",
                    "pr close -d|--delete-branch",
                    "release create !-d|--draft",
                    "repo edit --delete-branch-on-merge --visibility",
                ],
                severity: Severity::Ask,
                reason: "it changes what others see, at once",
                alternatives: &["gh pr view"],
                #[cfg(test)]
                catches: &[
                    "gh repo edit --visibility public",
                    "gh api -X PATCH repos/o/r -f private=false",
                    "gh api --method PATCH /repos/o/r -F archived=true",
                    "gh pr merge 3 --admin",
                    "gh api -X PUT repos/a/b/branches/main/protection --input p.json",
                    "gh release create v1",
                    "gh pr close 12 --delete-branch",
                ],
                #[cfg(test)]
                spares: &[
                    "gh release create v1 --draft --notes-file x.md",
                    "gh pr close 12",
                    "gh pr view",
                    "gh api repos/a/b/branches/main/protection",
                    "gh pr merge 3",
                    "gh release list",
                    "gh api -X PATCH repos/o/r -f description=private=false",
                ],
            },
        ],
    },
];

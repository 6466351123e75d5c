//! GitHub and its like, by their own command lines: what is deleted there, shown to all, or closed to them.

use super::{Rule, Severity, Tool};

pub(super) const TOOLS: &[Tool] = &[Tool {
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
        ("forces", |s| {
            let fields = ["-f", "-F", "--field", "--raw-field"];
            let mut fields = fields.iter().flat_map(|option| s.values(option));
            let mut operands = s.operands.iter();
            fields.any(|field| field == "force=true")
                && operands.any(|(word, _)| word.text.contains("/git/refs/"))
        }),
        ("deletes", |s| {
            let text = s.text();
            let fields = text.split_once("mutation").map_or("", |(_, fields)| fields);
            let mut names = fields.split(|c: char| !c.is_alphanumeric());
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
                "repo|project|release|secret|variable|gist|codespace|label|ssh-key|gpg-key|run|workflow|environment|issue delete",
                "delete &is-hub",
                "&deleting-request",
                "workflow disable",
                "release delete-asset",
                "api graphql &deletes",
            ],
            severity: Severity::Block,
            reason: "what is deleted on the server is gone for everyone",
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
            id: "gh.force",
            when: &["api &forces", "push -f|--force &is-hub"],
            severity: Severity::Block,
            reason: "it overwrites what others have pushed",
            alternatives: &["gh repo view"],
            #[cfg(test)]
            catches: &[
                "gh api -X PATCH repos/o/r/git/refs/heads/main -f sha=a -F force=true",
                "gh api --method PATCH /repos/o/r/git/refs/heads/x --field force=true -f sha=a",
                "hub push --force",
            ],
            #[cfg(test)]
            spares: &[
                "gh api repos/o/r/git/refs/heads/main",
                "gh api -X PATCH repos/o/r/git/refs/heads/x -f sha=a",
                "hub push origin fix",
            ],
        },
        Rule {
            id: "gh.public",
            when: &[
                "api &opens-repository",
                "api &unprotects",
                "repo edit --visibility",
                "pr close -d|--delete-branch",
                "release create !-d|--draft",
                "repo edit --delete-branch-on-merge --visibility",
            ],
            severity: Severity::Ask,
            reason: "it immediately changes what others see",
            alternatives: &["gh pr view"],
            #[cfg(test)]
            catches: &[
                "gh repo edit --visibility public",
                "gh api -X PATCH repos/o/r -f private=false",
                "gh api --method PATCH /repos/o/r -F archived=true",
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
        Rule {
            id: "gh.merge-past-checks",
            when: &["pr merge --admin"],
            severity: Severity::Ask,
            reason: "it merges without the reviews and checks that the branch requires",
            alternatives: &["gh pr checks {2}", "gh pr checks"],
            #[cfg(test)]
            catches: &[
                "gh pr merge 3 --admin",
                "gh pr merge 123 --squash --delete-branch --admin",
                "gh pr merge --admin --merge 7",
            ],
            #[cfg(test)]
            spares: &[
                "gh pr merge 3 --squash --delete-branch",
                "gh pr merge 3 --auto",
                "gh pr checks 3",
            ],
        },
        Rule {
            id: "gh.archive",
            when: &["repo archive|rename", "cache delete"],
            severity: Severity::Ask,
            reason: "others find the repository archived or renamed, or must rebuild the cache",
            alternatives: &["gh repo view"],
            #[cfg(test)]
            catches: &[
                "gh repo archive o/r -y",
                "gh cache delete --all",
                "glab repo archive o/r",
                "gh repo rename shop",
            ],
            #[cfg(test)]
            spares: &["gh repo view o/r", "gh cache list", "gh repo unarchive o/r"],
        },
    ],
}];

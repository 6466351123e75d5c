//! Sites of pages that are put up: what tools of documentation and of static sites give to everybody.
//!
//! A push to the branch that a site is made of is one as any other, and not asked about.

use super::{Rule, Severity, Subject, Tool};

pub(super) const TOOLS: &[Tool] = &[Tool {
    names: &[
        "mkdocs",
        "mike",
        "gh-pages",
        "gh-pages-multi",
        "angular-cli-ghpages",
        "ngh",
        "ghp-import",
        "quarto",
        "hexo",
        "hugo",
        "docusaurus",
        "ng",
        "surge",
        "storybook-to-ghpages",
    ],
    takes: "-d --dist --dir -b --branch -r --repo --remote -m --message -f --config-file -F -t --target --target-environment --name --domain",
    one_dash: false,
    tests: &[("puts-up", puts_up)],
    rules: &[Rule {
        id: "publish.site",
        when: &["&puts-up !--dry-run|--dryRun|--help|--version"],
        severity: Severity::Ask,
        reason: "every visitor of the site sees it from then on",
        alternatives: &["mkdocs build"],
        #[cfg(test)]
        catches: &[
            "mkdocs gh-deploy --force",
            "uvx mkdocs gh-deploy",
            "mike deploy --push 1.0 latest",
            "npx gh-pages -d dist",
            "gh-pages -d build -b site",
            "npx angular-cli-ghpages --dir=dist",
            "ghp-import -np site",
            "quarto publish gh-pages",
            "npx hexo deploy",
            "hugo deploy",
            "npx docusaurus deploy",
            "surge dist shop.surge.sh",
        ],
        #[cfg(test)]
        spares: &[
            "mkdocs build --strict",
            "mkdocs serve",
            "mike deploy 1.0 latest",
            "mike list",
            "npx gh-pages-clean",
            "gh-pages --help",
            "gh-pages -d dist --no-push",
            "npx angular-cli-ghpages --dir=dist --dry-run",
            "ghp-import site",
            "quarto render",
            "hexo generate",
            "hugo deploy --dryRun",
            "ng build",
            "surge list",
        ],
    }],
}];

/// Whether a tool puts a site up, or takes one away.
fn puts_up(subject: &Subject<'_>) -> bool {
    let first = subject.operand(0);
    let pushes = |letter: &str, option: &str| subject.has(letter) || subject.has(option);
    match subject.call.name.as_str() {
        "mkdocs" => first == "gh-deploy",
        "mike" => {
            matches!(
                first,
                "deploy" | "delete" | "alias" | "retitle" | "set-default"
            ) && pushes("-p", "--push")
        }
        "gh-pages" | "gh-pages-multi" => {
            !pushes("-p", "--no-push") && !subject.has("-h") && !subject.has("-V")
        }
        "angular-cli-ghpages" | "ngh" | "storybook-to-ghpages" => true,
        "ghp-import" => pushes("-p", "--push"),
        "quarto" => first == "publish" && subject.operand(1) != "accounts",
        "hexo" => {
            matches!(first, "deploy" | "d")
                || matches!(first, "generate" | "g") && pushes("-d", "--deploy")
        }
        "hugo" | "docusaurus" | "ng" => first == "deploy",
        "surge" => {
            !matches!(
                first,
                "list" | "login" | "logout" | "whoami" | "token" | "plans" | "help"
            ) && !subject.has("-h")
                && !subject.has("-V")
        }
        _ => false,
    }
}

//! Deploys to production: nothing is deleted, but everybody gets the new version.
//!
//! Only if production is named, in a cluster, a folder, a branch or a task: a deploy to a test
//! environment needs no question.

use super::{Rule, Severity, Subject, Tool};

const REASON: &str = "it changes what runs in production";

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &["kubectl", "oc", "k", "kubecolor"],
        takes: "-n --namespace --context --kubeconfig --cluster -l --selector -o --output -f --filename -k --kustomize --replicas",
        one_dash: false,
        tests: &[("to-production", to_production)],
        rules: &[Rule {
            id: "deploy.cluster",
            when: &[
                "apply|create|replace|scale|autoscale|expose|run &to-production !--dry-run",
                "set image|env|resources|serviceaccount &to-production !--dry-run",
                "rollout restart|pause|resume &to-production",
            ],
            severity: Severity::Ask,
            reason: REASON,
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "kubectl --context prod set image deploy/web web=shop:2",
                "kubectl apply -k overlays/production",
                "kubectl -n prod rollout restart deploy/web",
                "oc apply -f deploy/prod/app.yaml",
            ],
            #[cfg(test)]
            spares: &[
                "kubectl set image deploy/web web=shop:2",
                "kubectl apply -k overlays/staging",
                "kubectl -n prod get pods",
                "kubectl diff -f k8s/prod/",
                "kubectl apply -f k8s/prod/ --dry-run=server",
                "kubectl apply -f products.yaml",
                "kubectl --context nonprod apply -f app.yaml",
                "kubectl --context non-prod apply -f app.yaml",
            ],
        }],
    },
    Tool {
        names: &["helm", "helmfile", "argocd", "skaffold"],
        takes: "-n --namespace --kube-context -f --values --set --version -e --environment -p --profile",
        one_dash: false,
        tests: &[
            ("to-production", to_production),
            ("by-profile", |s| s.call.name == "skaffold"),
        ],
        rules: &[Rule {
            id: "deploy.chart",
            when: &[
                "upgrade|install|apply|sync|deploy &to-production !--dry-run",
                "run|delete &to-production &by-profile !--dry-run",
                "app sync &to-production !--dry-run",
            ],
            severity: Severity::Ask,
            reason: REASON,
            alternatives: &["helm list"],
            #[cfg(test)]
            catches: &[
                "helm upgrade --install web ./chart -n production",
                "helm upgrade web ./chart -f values-prod.yaml",
                "helmfile -e prod apply",
                "argocd app sync web-prod",
                "skaffold run -p prod",
                "skaffold delete -p prod",
            ],
            #[cfg(test)]
            spares: &[
                "helm upgrade web ./chart -n staging",
                "helm diff upgrade web ./chart -n production",
                "helm template ./chart -f values-prod.yaml",
                "helm upgrade web ./chart -n prod --dry-run",
                "skaffold run",
                "skaffold render -p prod",
            ],
        }],
    },
    Tool {
        names: &["git"],
        takes: "",
        one_dash: false,
        tests: &[("deploys", pushes_to_production)],
        rules: &[Rule {
            id: "deploy.push",
            when: &["push &deploys !-n|--dry-run"],
            severity: Severity::Ask,
            reason: "judging by its name, the target runs what is pushed to it",
            alternatives: &["git log --oneline -5"],
            #[cfg(test)]
            catches: &[
                "git push heroku main",
                "git push production HEAD:main",
                "git push -u dokku main",
                "git push origin main:production",
                "git push origin prod",
            ],
            #[cfg(test)]
            spares: &[
                "git push origin main",
                "git push --dry-run heroku main",
                "git push origin fix/production-login",
                "git push staging main",
                "git fetch heroku",
            ],
        }],
    },
    Tool {
        names: &["ansible-playbook"],
        takes: "-i --inventory -l --limit -e --extra-vars -t --tags -u --user",
        one_dash: false,
        tests: &[("to-production", to_production)],
        rules: &[Rule {
            id: "deploy.playbook",
            when: &[
                "&to-production !-C|--check|--syntax-check|--list-hosts|--list-tasks|--list-tags|--version",
            ],
            severity: Severity::Ask,
            reason: REASON,
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "ansible-playbook -i prod site.yml",
                "ansible-playbook -i inventories/production/hosts site.yml",
                "ansible-playbook site.yml --limit prod-web",
                "ansible-playbook deploy.yml -e env=production",
            ],
            #[cfg(test)]
            spares: &[
                "ansible-playbook -i staging site.yml",
                "ansible-playbook -i prod site.yml --check",
                "ansible-playbook --syntax-check -i prod site.yml",
                "ansible-inventory -i prod --list",
            ],
        }],
    },
    Tool {
        names: &["docker", "podman", "docker-compose"],
        takes: "-c --context -H --host -f --file -p --project-name --compose-file",
        one_dash: false,
        tests: &[
            ("to-production", to_production),
            ("at-production", |s| {
                let places = ["--context", "-c", "-H", "--host"];
                let mut places = places.iter().filter_map(|option| s.value(option));
                places.any(names_production)
            }),
        ],
        rules: &[Rule {
            id: "deploy.containers",
            when: &[
                "stack deploy &to-production",
                "service update|create &to-production",
                "compose up|restart &at-production",
                "up|restart|run &at-production",
            ],
            severity: Severity::Ask,
            reason: REASON,
            alternatives: &["docker stack ls", "docker-compose ps"],
            #[cfg(test)]
            catches: &[
                "docker stack deploy -c prod.yml shop",
                "docker --context prod compose up -d",
                "docker -H ssh://prod compose up -d",
                "docker service update --image shop:2 shop-prod",
            ],
            #[cfg(test)]
            spares: &[
                "docker compose -f docker-compose.prod.yml up -d",
                "docker --context prod ps",
                "docker build -t shop:prod .",
                "docker stack deploy -c dev.yml shop",
            ],
        }],
    },
    Tool {
        names: &["gh"],
        takes: "-R --repo -f -F --field --raw-field -r --ref",
        one_dash: false,
        tests: &[("to-production", to_production)],
        rules: &[Rule {
            id: "deploy.workflow",
            when: &["workflow run &to-production"],
            severity: Severity::Ask,
            reason: REASON,
            alternatives: &["gh workflow list"],
            #[cfg(test)]
            catches: &[
                "gh workflow run deploy.yml -f environment=production",
                "gh workflow run deploy-prod.yml",
                "gh workflow run 'Deploy to production' --ref main",
            ],
            #[cfg(test)]
            spares: &[
                "gh workflow run ci.yml",
                "gh workflow view deploy-prod.yml",
                "gh workflow run deploy.yml -f environment=staging",
            ],
        }],
    },
    Tool {
        names: &[
            "make", "gmake", "just", "task", "mage", "invoke", "rake", "npm", "yarn", "pnpm", "bun",
        ],
        takes: "-C -f -j --directory --file --prefix --filter",
        one_dash: false,
        tests: &[("deploys", |s| {
            let mut operands = s.operands.iter().map(|(word, _)| &word.text);
            operands.any(|word| parts(word).any(|part| is_deploying(&part))) && to_production(s)
        })],
        rules: &[Rule {
            id: "deploy.task",
            when: &["&deploys !-n|--dry-run|--just-print"],
            severity: Severity::Ask,
            reason: "judging by its name, the task changes what runs in production",
            alternatives: &["npm run", "just --list"],
            #[cfg(test)]
            catches: &[
                "make deploy-prod",
                "npm run deploy:prod",
                "just deploy production",
                "pnpm run deploy -- --env production",
            ],
            #[cfg(test)]
            spares: &[
                "make deploy-dev",
                "npm run build:production",
                "make -n deploy-prod",
                "npm run deploy:staging",
                "make test-prod-config",
            ],
        }],
    },
    Tool {
        names: &[
            "sst", "cdk", "eb", "dep", "fab", "copilot", "sam", "chalice", "zappa", "pulumi",
            "gcloud", "aws", "az", "nomad", "flyctl", "fly", "wrangler",
        ],
        takes: "--stage -s --stack --env -e -H --hosts --region --profile --project --cluster --service --function-name --config-env",
        one_dash: false,
        tests: &[("to-production", to_production)],
        rules: &[Rule {
            id: "deploy.service",
            when: &[
                "deploy|update|up|job &to-production !--dry-run|--dryrun|--preview|--no-execute-changeset",
                "* deploy &to-production !--dry-run",
                "ecs update-service &to-production",
                "lambda update-function-code &to-production !--dry-run|--dryrun",
                "deploy create-deployment &to-production",
            ],
            severity: Severity::Ask,
            reason: REASON,
            alternatives: &[
                "sst version",
                "cdk diff",
                "eb status",
                "pulumi preview",
                "gcloud config list",
                "aws sts get-caller-identity",
            ],
            #[cfg(test)]
            catches: &[
                "sst deploy --stage production",
                "cdk deploy ShopProdStack",
                "eb deploy shop-prod",
                "dep deploy production",
                "pulumi up -s prod",
                "gcloud run deploy api-prod --source .",
                "aws ecs update-service --cluster prod --service api --force-new-deployment",
            ],
            #[cfg(test)]
            spares: &[
                "sst deploy",
                "sst deploy --stage ana",
                "cdk diff ShopProdStack",
                "eb status shop-prod",
                "pulumi preview -s prod",
                "gcloud run services describe api-prod",
                "aws ecs describe-services --cluster prod --services api",
            ],
        }],
    },
    Tool {
        names: &["heroku"],
        takes: "-a --app -r --remote",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "deploy.heroku",
            when: &["container:release|pipelines:promote|rollback|releases:rollback|builds:create"],
            severity: Severity::Ask,
            reason: "it changes the release that everyone uses",
            alternatives: &["heroku releases"],
            #[cfg(test)]
            catches: &[
                "heroku container:release web -a shop",
                "heroku pipelines:promote -a shop-staging",
                "heroku rollback v12 -a shop",
            ],
            #[cfg(test)]
            spares: &[
                "heroku releases -a shop",
                "heroku container:push web",
                "heroku pipelines:info shop",
            ],
        }],
    },
];

/// Remotes that run what is pushed to them.
const RUNNING: [&str; 4] = ["heroku", "dokku", "piku", "live"];

/// Whether it is pushed to a remote that runs it, or to the branch of production.
fn pushes_to_production(subject: &Subject<'_>) -> bool {
    let mut operands = subject.operands.iter().skip(1);
    let mut operands = operands.by_ref().map(|(word, _)| word.text.as_str());
    let Some(remote) = operands.next() else {
        return false;
    };
    RUNNING.contains(&remote)
        || names_production(remote)
        || operands.any(|spec| {
            let (_, to) = spec.rsplit_once(':').unwrap_or(("", spec));
            let to = to.trim_start_matches("refs/heads/");
            matches!(to, "production" | "prod" | "release/production")
        })
}

/// Whether production is named in it.
fn to_production(subject: &Subject<'_>) -> bool {
    let mut words = subject.call.words.iter().skip(1);
    words.any(|word| names_production(&word.text))
}

pub(super) fn names_production(text: &str) -> bool {
    let mut before = String::new();
    for part in parts(text) {
        let is_named = matches!(part.as_str(), "prod" | "production" | "prd");
        if is_named && !matches!(before.as_str(), "non" | "pre" | "not") {
            return true;
        }
        before = part;
    }
    false
}

pub(super) fn is_deploying(part: &str) -> bool {
    matches!(
        part,
        "deploy" | "deployment" | "release" | "publish" | "ship" | "rollout" | "promote"
    )
}

/// The parts of a name, in small letters: `ShopProd-web` has three.
pub(super) fn parts(text: &str) -> impl Iterator<Item = String> {
    let mut apart = String::with_capacity(text.len() + 4);
    let mut was_small = false;
    for letter in text.chars() {
        if letter.is_uppercase() && was_small {
            apart.push(' ');
        }
        was_small = letter.is_lowercase();
        apart.push(if letter.is_alphanumeric() {
            letter.to_ascii_lowercase()
        } else {
            ' '
        });
    }
    let parts: Vec<String> = apart.split_whitespace().map(str::to_owned).collect();
    parts.into_iter()
}

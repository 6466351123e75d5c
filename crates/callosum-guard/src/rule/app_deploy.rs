//! Deploys by tools that only know what everybody has: production, unless an option names another
//! place.

use super::{
    Rule, Severity, Subject, Tool,
    deploy::{is_deploying, names_production, parts},
    test_database::values,
};
use crate::loopback::is_loopback;

const REASON: &str = "it changes what everyone uses";

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &[
            "railway",
            "deployctl",
            "gcloud",
            "az",
            "sam",
            "modal",
            "convex",
            "hasura",
            "dagger",
            "doctl",
        ],
        takes: "-e --env --environment -s --service -n --name -g --resource-group -p --project --endpoint --config-env --stack-name --slot",
        one_dash: false,
        tests: &[("for-trial", is_for_trial), ("launches", launches)],
        rules: &[Rule {
            id: "deploy.app",
            when: &["&launches !&for-trial !--dry-run|--dryrun"],
            severity: Severity::Ask,
            reason: REASON,
            alternatives: &[
                "railway status",
                "deployctl deployments list",
                "az webapp list",
                "sam validate",
                "convex logs",
                "hasura migrate status",
                "dagger functions",
                "doctl apps list",
            ],
            #[cfg(test)]
            catches: &[
                "railway up",
                "deployctl deploy --prod main.ts",
                "gcloud app deploy -q",
                "az webapp up",
                "sam deploy --no-confirm-changeset",
                "modal deploy app.py",
                "npx convex deploy -y",
                "railway up --service test-api",
                "modal deploy test_app.py",
                "gcloud app deploy --project internal-tools",
                "sam deploy --stack-name alpha-centauri",
                "hasura deploy --endpoint https://prod.shop.example",
                "dagger call deploy --env prod",
                "doctl apps create-deployment 4f6c71e2",
                "npx convex deploy --cmd 'npm run test'",
            ],
            #[cfg(test)]
            spares: &[
                "railway status",
                "railway up -e staging",
                "deployctl deploy main.ts",
                "gcloud app deploy --no-promote",
                "gcloud app deploy --project shop-staging",
                "gcloud app browse",
                "az webapp up --name shop-dev",
                "az webapp list",
                "sam build",
                "sam deploy --config-env staging",
                "sam deploy --no-execute-changeset",
                "modal run app.py",
                "modal serve app.py",
                "npx convex dev",
                "hasura deploy",
                "hasura deploy --endpoint http://localhost:8080",
                "dagger call test",
                "doctl apps list",
                "doctl apps logs 4f6c71e2",
                "dagger call deploy --env staging",
            ],
        }],
    },
    Tool {
        names: &["fastlane"],
        takes: "--env",
        one_dash: false,
        tests: &[
            ("for-trial", is_for_trial),
            ("releases", is_lane_of_release),
        ],
        rules: &[
            Rule {
                id: "deploy.app-store",
                when: &[
                    "&releases !&for-trial",
                    "deliver|supply|appstore|upload_to_app_store|upload_to_play_store !init|download_metadata|download_screenshots|generate_summary !&for-trial",
                    "run deliver|supply|appstore|upload_to_app_store|upload_to_play_store|upload_to_testflight|pilot",
                    "pilot|testflight|upload_to_testflight upload|distribute",
                    "upload_to_testflight",
                ],
                severity: Severity::Ask,
                reason: "what is released to an app store cannot simply be withdrawn",
                alternatives: &["fastlane lanes"],
                #[cfg(test)]
                catches: &[
                    "fastlane release",
                    "fastlane ios release",
                    "bundle exec fastlane android deploy",
                    "fastlane deliver",
                    "fastlane supply --track production",
                    "fastlane pilot upload",
                ],
                #[cfg(test)]
                spares: &[
                    "fastlane lanes",
                    "fastlane ios test",
                    "fastlane ios beta",
                    "fastlane android deploy_staging",
                    "fastlane supply init",
                    "fastlane supply --track internal",
                    "fastlane deliver download_metadata",
                    "fastlane pilot list",
                    "fastlane match development",
                ],
            },
            Rule {
                id: "deploy.certificates",
                when: &["match nuke", "run match_nuke", "match_nuke"],
                severity: Severity::Block,
                reason: "it revokes the certificates that everyone on the team signs with",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "fastlane match nuke distribution",
                    "bundle exec fastlane match nuke development",
                    "fastlane run match_nuke",
                ],
                #[cfg(test)]
                spares: &[
                    "fastlane match development",
                    "fastlane match appstore --readonly",
                    "fastlane lanes",
                ],
            },
        ],
    },
];

/// Whether the command deploys to what its tool has for production.
fn launches(subject: &Subject<'_>) -> bool {
    let (first, second) = (subject.operand(0), subject.operand(1));
    match subject.call.name.as_str() {
        "railway" => first == "up",
        "deployctl" => first == "deploy" && subject.has("--prod"),
        "gcloud" => {
            let mut words = subject.operands.iter().map(|(word, _)| word.text.as_str());
            words.any(|word| word == "app") && words.any(|word| word == "deploy") && {
                !subject.has("--no-promote")
            }
        }
        "az" => {
            matches!(first, "webapp" | "functionapp" | "containerapp")
                && matches!(second, "up" | "deploy")
        }
        "sam" => first == "deploy" && !subject.has("--no-execute-changeset"),
        "modal" => first == "deploy",
        "doctl" => {
            matches!(first, "apps" | "app") && matches!(second, "create-deployment" | "update")
        }
        "convex" => first == "deploy" && !subject.has("--preview-create"),
        "hasura" => {
            let endpoint = subject.value("--endpoint");
            first == "deploy" && endpoint.is_some_and(|endpoint| !is_loopback(endpoint))
        }
        "dagger" => {
            let mut words = subject.call.words.iter().map(|word| word.text.as_str());
            first == "call" && parts(second).any(|part| is_deploying(&part)) && {
                words.any(names_production)
            }
        }
        _ => false,
    }
}

/// Whether the lane that is driven is by its name one that gives what is built to everybody.
fn is_lane_of_release(subject: &Subject<'_>) -> bool {
    let first = subject.operand(0);
    let lane = match first {
        "ios" | "android" | "mac" => subject.operand(1),
        _ => first,
    };
    parts(lane).any(|part| is_deploying(&part))
}

/// Whether the command names a test environment.
fn is_for_trial(subject: &Subject<'_>) -> bool {
    let words = subject.call.texts();
    let mut operands = words.iter().skip(1).filter(|word| !word.contains(' '));
    if operands.any(|word| names_production(word)) {
        return false;
    }
    let options: &[&str] = match subject.call.name.as_str() {
        "railway" => &["-e", "--environment", "-p", "--project"],
        "deployctl" | "gcloud" => &["-p", "--project"],
        "az" => &[
            "-n",
            "--name",
            "-g",
            "--resource-group",
            "-s",
            "--slot",
            "--subscription",
        ],
        "sam" => &["--config-env", "--stack-name"],
        "modal" => &["-e", "--env"],
        "hasura" => &["--endpoint"],
        "fastlane" => return is_lane_of_trial(subject, &words),
        _ => &["-e", "--env", "--environment", "--stage"],
    };
    values(&words, options).any(is_stage)
}

/// Whether a lane, its option (`track:internal`), or a track is one for testers.
fn is_lane_of_trial(subject: &Subject<'_>, words: &[&str]) -> bool {
    let is_of_trial = |name: &str| {
        is_stage(name) || parts(name).any(|part| matches!(part.as_str(), "alpha" | "internal"))
    };
    let lanes = subject.operands.iter().filter(|(_, is_value)| !is_value);
    let mut lanes = lanes.map(|(word, _)| word.text.as_str());
    lanes.any(|lane| match lane.split_once(':') {
        Some((key, value)) => {
            matches!(key, "track" | "env" | "environment" | "stage") && is_of_trial(value)
        }
        None => is_of_trial(lane),
    }) || values(words, &["--track", "--env"]).any(is_of_trial)
}

/// Whether a name is that of a stage, an environment or a project where things are tried out.
pub(super) fn is_stage(name: &str) -> bool {
    const SAYS: [&str; 15] = [
        "staging",
        "stage",
        "dev",
        "develop",
        "development",
        "test",
        "testing",
        "qa",
        "uat",
        "preview",
        "sandbox",
        "demo",
        "beta",
        "nonprod",
        "preprod",
    ];
    !names_production(name) && parts(name).any(|part| SAYS.contains(&part.as_str()))
}

//! Machines and data that are rented.

use super::{Rule, Severity, Subject, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &[
            "pulumi",
            "cdk",
            "sam",
            "copilot",
            "ansible",
            "ansible-playbook",
            "vagrant",
            "packer",
            "nomad",
            "consul",
            "vault",
            "serverless",
            "sst",
            "eksctl",
            "kops",
        ],
        takes: "-s --stack -C --cwd -i -l --require-approval --profile --context",
        one_dash: false,
        tests: &[("destroys", |s| {
            let first = s.operand(0);
            let second = s.operand(1);
            match s.call.name.as_str() {
                "pulumi" => {
                    matches!(first, "destroy" | "down" | "dn" | "cancel")
                        || first == "stack" && second == "rm"
                        || matches!(first, "up" | "update") && (s.has("--yes") || s.has("-y"))
                        || first == "state" && second == "delete"
                }
                "cdk" => {
                    first == "destroy"
                        || first == "deploy" && s.value("--require-approval") == Some("never")
                }
                "sam" | "copilot" => first == "delete" || second == "delete",
                "vagrant" => first == "destroy",
                "nomad" => matches!(second, "stop" | "purge" | "delete") && first != "status",
                "consul" => {
                    first == "kv" && second == "delete"
                        || first == "snapshot" && second == "restore"
                }
                "vault" => {
                    matches!(first, "delete")
                        || first == "kv" && matches!(second, "delete" | "destroy" | "metadata")
                        || first == "secrets" && second == "disable"
                        || first == "auth" && second == "disable"
                        || first == "operator" && matches!(second, "seal" | "generate-root")
                        || first == "operator" && s.operand(2) == "remove-peer"
                        || first == "lease" && second == "revoke" && s.text().contains("-prefix")
                }
                "sst" => first == "remove",
                "eksctl" | "kops" => first == "delete",
                _ => false,
            }
        })],
        rules: &[Rule {
            id: "cloud.stack",
            when: &["&destroys"],
            severity: Severity::Block,
            reason: "it destroys running infrastructure",
            alternatives: &["pulumi preview"],
            #[cfg(test)]
            catches: &[
                "pulumi destroy -y",
                "pulumi down -y -s prod",
                "cdk destroy --all",
                "vagrant destroy -f",
                "pulumi stack rm prod",
                "vault kv delete secret/x",
                "vault lease revoke -force -prefix aws/",
                "vault operator raft remove-peer n1",
                "cdk deploy --all --require-approval never",
                "eksctl delete cluster x",
            ],
            #[cfg(test)]
            spares: &["pulumi preview", "cdk diff", "vagrant status", "cdk synth"],
        }],
    },
    Tool {
        names: &["aws", "awslocal"],
        takes: "--region --profile --output --query --endpoint-url --ca-bundle --color --cli-binary-format --cli-read-timeout --cli-connect-timeout",
        one_dash: false,
        tests: &[
            ("destroys", aws_destroys),
            ("expires", |s| s.text().contains("Expiration")),
        ],
        rules: &[
            Rule {
                id: "aws.expire",
                when: &["* put-bucket-lifecycle-configuration|put-bucket-lifecycle &expires"],
                severity: Severity::Ask,
                reason: "objects in the bucket are deleted when they reach a certain age",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "aws s3api put-bucket-lifecycle-configuration --bucket b --lifecycle-configuration '{\"Rules\":[{\"Expiration\":{\"Days\":1}}]}'",
                    "aws --profile p s3api put-bucket-lifecycle-configuration --bucket b --lifecycle-configuration Rules=[{Expiration={Days=1}}]",
                    "aws s3api put-bucket-lifecycle --bucket b --lifecycle-configuration '{\"Rules\":[{\"Expiration\":{\"Days\":7}}]}'",
                ],
                #[cfg(test)]
                spares: &[
                    "aws s3api get-bucket-lifecycle-configuration --bucket b",
                    "aws s3api put-bucket-lifecycle-configuration --bucket b --lifecycle-configuration '{\"Rules\":[{\"Transitions\":[]}]}'",
                    "aws s3api put-bucket-tagging --bucket b --tagging Expiration=x",
                ],
            },
            Rule {
                id: "aws.destroy",
                when: &["&destroys !--dry-run !--dryrun !help"],
                severity: Severity::Block,
                reason: "it permanently deletes resources in the cloud",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "aws s3 rb s3://b --force",
                    "aws s3 rm s3://b --recursive",
                    "aws --profile p ec2 terminate-instances --instance-ids i-1",
                    "aws rds delete-db-instance --db-instance-identifier x",
                    "aws s3 sync . s3://b --delete",
                    "aws iam delete-user --user-name x",
                    "aws dynamodb delete-table --table-name t",
                    "aws organizations close-account --account-id 1",
                    "aws cognito-idp admin-delete-user --user-pool-id p --username u",
                    "aws route53 change-resource-record-sets --hosted-zone-id Z --change-batch '{\"Changes\":[{\"Action\":\"DELETE\"}]}'",
                    "aws rds-data execute-statement --sql 'drop table users' --database shop",
                    "aws athena start-query-execution --query-string 'DROP TABLE logs'",
                    "aws rds --no-cli-pager delete-db-instance --db-instance-identifier x",
                    "AWS_ENDPOINT_URL=http://localhost:4566; aws s3 rb s3://b --force",
                    "aws --endpoint-url http://localhost:4566 --endpoint-url https://s3.amazonaws.com s3 rb s3://b",
                ],
                #[cfg(test)]
                spares: &[
                    "aws s3 ls",
                    "aws s3 cp a s3://b/a",
                    "aws ec2 describe-instances",
                    "aws s3 rm s3://b/x --dryrun",
                    "aws s3 rm help",
                    "aws ec2 terminate-instances --dry-run --instance-ids i-1",
                    "aws --endpoint-url http://localhost:4566 s3 rb s3://test --force",
                    "AWS_ENDPOINT_URL=http://localhost:4566 aws dynamodb delete-table --table-name t",
                    "export AWS_ENDPOINT_URL=http://localhost:4566; aws dynamodb delete-table --table-name t",
                    "aws lambda get-function --function-name delete-user",
                    "awslocal s3 rb s3://test",
                    "aws athena start-query-execution --query-string 'SELECT 1'",
                    "aws route53 list-resource-record-sets --hosted-zone-id Z",
                ],
            },
        ],
    },
    Tool {
        names: &[
            "gcloud",
            "gsutil",
            "bq",
            "az",
            "doctl",
            "oci",
            "ibmcloud",
            "linode-cli",
            "hcloud",
            "scw",
            "civo",
            "vultr-cli",
            "skopeo",
            "crane",
            "regctl",
            "oras",
            "exo",
            "aliyun",
            "azcopy",
            "rclone",
            "s3cmd",
            "s5cmd",
            "mc",
            "b2",
            "gcloud-cli",
            "supabase",
            "neonctl",
            "planetscale",
            "pscale",
            "turso",
            "mongocli",
            "atlas",
            "cf",
            "dapr",
        ],
        takes: "--project --zone --region --subscription -g --resource-group --context --config -n --name",
        one_dash: false,
        tests: &[("destroys", |s| {
            let words: Vec<&str> = s
                .operands
                .iter()
                .map(|(word, _)| word.text.as_str())
                .collect();
            match s.call.name.as_str() {
                "gsutil" => {
                    words.iter().any(|word| matches!(*word, "rm" | "rb"))
                        || words.contains(&"rsync") && s.has("-d") && !s.has("-n")
                }
                "bq" => words.first().is_some_and(|word| *word == "rm") || sql(s),
                "rclone" => {
                    words.first().is_some_and(|word| {
                        matches!(
                            *word,
                            "delete"
                                | "purge"
                                | "sync"
                                | "rmdirs"
                                | "deletefile"
                                | "cleanup"
                                | "move"
                                | "bisync"
                        )
                    }) && !s.has("--dry-run")
                        && !s.has("-n")
                        && (words[0] != "sync"
                            || words.iter().skip(1).any(|word| word.contains(':')))
                }
                "s3cmd" | "s5cmd" => {
                    let deletes = words
                        .first()
                        .is_some_and(|word| matches!(*word, "del" | "rb" | "rm"));
                    (deletes || s.has("--delete-removed") || s.has("--delete"))
                        && !s.has("--dry-run")
                        && !s.has("-n")
                }
                "b2" => {
                    let deletes = |word: &&str| matches!(*word, "rm" | "delete" | "delete-bucket");
                    (words.iter().take(2).any(deletes) || s.has("--delete"))
                        && !s.has("--dry-run")
                        && !s.has("--dryRun")
                }
                "gcloud" if s.has("--delete-unmatched-destination-objects") => !s.has("--dry-run"),
                "mc" => {
                    words
                        .first()
                        .is_some_and(|word| matches!(*word, "rm" | "rb"))
                        || words.first() == Some(&"mirror") && s.has("--remove")
                        || words
                            .get(2)
                            .is_some_and(|word| matches!(*word, "remove" | "rm"))
                }
                "azcopy" => {
                    words
                        .first()
                        .is_some_and(|word| matches!(*word, "remove" | "rm"))
                        || s.options.iter().any(|given| {
                            given.name == "--delete-destination" && given.value == Some("true")
                        })
                }
                "neonctl" => words.contains(&"delete") || words.starts_with(&["branches", "reset"]),
                "supabase" => {
                    words.starts_with(&["db", "reset"]) && s.has("--linked")
                        || words.contains(&"delete")
                }
                _ => {
                    words.iter().take(6).any(|word| {
                        matches!(
                            *word,
                            "delete"
                                | "destroy"
                                | "purge"
                                | "rm"
                                | "remove"
                                | "terminate"
                                | "delete-org"
                                | "delete-space"
                                | "cluster-delete"
                                | "rebuild"
                        )
                    }) || deletes_part(&words)
                }
            }
        })],
        rules: &[Rule {
            id: "cloud.destroy",
            when: &["&destroys !--help"],
            severity: Severity::Block,
            reason: "it permanently deletes resources in the cloud",
            alternatives: &["gcloud projects list"],
            #[cfg(test)]
            catches: &[
                "gcloud projects delete p",
                "gcloud compute instances delete vm --quiet",
                "gsutil -m rm -r gs://b",
                "az group delete -n g --yes",
                "az storage blob delete-batch -s data --account-name acme",
                "ibmcloud resource service-instance-delete x -f",
                "gcloud projects remove-iam-policy-binding p --member=user:x --role=roles/owner",
                "gcloud compute instance-groups managed delete-instances g --instances=a --zone z",
                "gcloud iam service-accounts remove-iam-policy-binding x --member=user:y --role=r",
                "doctl compute droplet delete 1",
                "vultr-cli instance delete x",
                "skopeo delete docker://r/x:1",
                "crane delete r/x:1",
                "rclone purge remote:x",
                "rclone sync build remote:site",
                "gsutil -m rsync -r -d dist gs://b",
                "gcloud storage rsync -r dist gs://b --delete-unmatched-destination-objects",
                "s3cmd sync --delete-removed dist/ s3://b/",
                "s5cmd sync --delete dist/ s3://b/",
                "b2 sync --delete dist b2://b",
                "bq rm -r -f d",
            ],
            #[cfg(test)]
            spares: &[
                "gcloud projects list",
                "gcloud run jobs execute delete-old",
                "gsutil ls gs://b",
                "az group list",
                "rclone ls remote:x",
                "rclone sync -n a remote:x",
                "rclone copy build remote:site",
                "skopeo copy docker://r/x:1 dir:x",
                "crane ls r/x",
                "gsutil -m rsync -r dist gs://b",
                "gsutil -m rsync -n -r -d dist gs://b",
                "gcloud storage rsync -r dist gs://b",
                "s3cmd sync dist/ s3://b/",
                "s3cmd -n sync --delete-removed dist/ s3://b/",
                "s5cmd cp a s3://b/a",
                "b2 sync dist b2://b",
            ],
        }],
    },
];

/// Whether a word of several parts deletes something. A word behind another verb is a name, and
/// before it the names of groups have parts as well (`instance-groups managed delete-instances`).
fn deletes_part(words: &[&str]) -> bool {
    const VERBS: [&str; 23] = [
        "add", "call", "create", "deploy", "describe", "download", "execute", "export", "get",
        "import", "invoke", "list", "read", "run-now", "scp", "set", "show", "ssh", "start",
        "stop", "tail", "update", "view",
    ];
    let words = words.iter().take(6);
    let mut words = words.take_while(|word| !VERBS.contains(word));
    words.any(|word| {
        word.starts_with("delete-") || word.ends_with("-delete") || word.starts_with("remove-iam-")
    })
}

fn sql(subject: &Subject<'_>) -> bool {
    super::statement::destroys_sql(&subject.text())
}

fn aws_destroys(subject: &Subject<'_>) -> bool {
    let words: Vec<&str> = subject
        .operands
        .iter()
        .map(|(word, _)| word.text.as_str())
        .collect();
    if words.last() == Some(&"help") {
        return false;
    }
    let text = subject.text();
    let is_told = |verbs: &[&str]| words.iter().any(|word| verbs.contains(word));
    if is_told(&[
        "execute-statement",
        "batch-execute-statement",
        "start-query-execution",
    ]) && subject
        .call
        .words
        .iter()
        .any(|word| super::statement::destroys_sql(&word.text))
        || is_told(&["change-resource-record-sets"]) && text.contains("DELETE")
    {
        return true;
    }
    let at = words.iter().position(|word| *word == "s3");
    if let Some(at) = at {
        return match words.get(at + 1) {
            Some(&("rb" | "rm")) => true,
            Some(&"sync") => subject.has("--delete"),
            Some(&"mv") => subject.has("--recursive"),
            _ => false,
        };
    }
    // Behind the service and what is asked of it stand values of options: `--function-name delete-user`.
    let mut named = 0;
    let operation = subject.operands.iter().take_while(|(_, may_be_value)| {
        let is_operation = named < 2;
        named += usize::from(!may_be_value);
        is_operation
    });
    let mut operation = operation.map(|(word, _)| word.text.as_str()).take(4);
    operation.any(|word| {
        [
            "delete-",
            "terminate-",
            "deregister-",
            "purge-",
            "remove-",
            "schedule-key-deletion",
            "disable-",
            "reset-",
            "release-",
            "destroy-",
            "revoke-",
            "detach-",
            "admin-delete-",
            "close-account",
            "leave-organization",
        ]
        .iter()
        .any(|verb| word.starts_with(verb))
            || matches!(
                word,
                "put-bucket-policy"
                    | "put-bucket-acl"
                    | "stop-instances"
                    | "reboot-instances"
                    | "batch-delete-image"
                    | "put-public-access-block"
                    | "batch-write-item"
                    | "modify-db-instance"
                    | "stop-db-instance"
                    | "reboot-db-instance"
                    | "attach-user-policy"
                    | "create-access-key"
            )
    })
}

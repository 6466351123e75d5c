//! Terraform and its like: the resources that a plan runs, and the state that lists them.

use super::{Rule, Severity, Tool};

pub(super) const TOOLS: &[Tool] = &[Tool {
    names: &["terraform", "tofu", "terragrunt", "cdktf"],
    takes: "-chdir -target -var -var-file -state",
    one_dash: true,
    tests: &[],
    rules: &[
        Rule {
            id: "terraform.destroy",
            when: &[
                "destroy",
                "apply -destroy|--destroy",
                "run-all destroy",
                "destroy-all|apply-all",
                "apply -auto-approve|--auto-approve",
                "state rm|push",
                "workspace delete",
                "run-all apply",
                "run --all",
            ],
            severity: Severity::Block,
            reason: "it destroys running infrastructure",
            alternatives: &["terraform plan -destroy"],
            #[cfg(test)]
            catches: &[
                "terraform destroy",
                "terraform -chdir=infra destroy -auto-approve",
                "terraform apply -auto-approve",
                "tofu apply -destroy",
                "terraform state rm aws_x.y",
            ],
            #[cfg(test)]
            spares: &[
                "terraform plan -destroy",
                "terraform plan",
                "terraform state list",
                "terraform fmt",
                "terraform taint aws_instance.web",
                "terraform force-unlock -help",
            ],
        },
        Rule {
            id: "terraform.unlock",
            when: &["force-unlock"],
            severity: Severity::Ask,
            reason: "someone else may be changing the locked state",
            alternatives: &["terraform plan"],
            #[cfg(test)]
            catches: &[
                "terraform force-unlock 1f2e",
                "terraform force-unlock -force 1f2e",
                "tofu force-unlock 1f2e",
            ],
            #[cfg(test)]
            spares: &[
                "terraform force-unlock -help",
                "terraform state list",
                "terraform plan -lock=false",
            ],
        },
        Rule {
            id: "terraform.apply",
            when: &[
                "apply !-destroy !-auto-approve !--auto-approve",
                "import",
                "deploy",
            ],
            severity: Severity::Ask,
            reason: "it changes running infrastructure",
            alternatives: &["terraform plan"],
            #[cfg(test)]
            catches: &["terraform apply", "terraform apply plan.out", "tofu apply"],
            #[cfg(test)]
            spares: &["terraform plan", "terraform validate", "terraform output"],
        },
    ],
}];

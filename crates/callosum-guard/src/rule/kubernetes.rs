//! Clusters.

use super::{Rule, Severity, Tool};

const TAKES: &str = "-n --namespace --context --kubeconfig --cluster --user -l --selector -o --output -f --filename -c --container --as -s --server --field-selector --replicas --grace-period -k --kustomize -p --patch --type";

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &["kubectl", "oc", "k", "kubecolor", "microk8s.kubectl"],
        takes: TAKES,
        one_dash: false,
        tests: &[("many", |s| {
            s.operands.iter().skip(1).any(|(word, _)| {
                let kind = word
                    .text
                    .split('/')
                    .next()
                    .unwrap_or("")
                    .to_ascii_lowercase();
                matches!(
                    kind.as_str(),
                    "ns" | "namespace"
                        | "namespaces"
                        | "node"
                        | "nodes"
                        | "pv"
                        | "pvc"
                        | "persistentvolume"
                        | "persistentvolumes"
                        | "persistentvolumeclaim"
                        | "persistentvolumeclaims"
                        | "crd"
                        | "crds"
                        | "customresourcedefinition"
                        | "customresourcedefinitions"
                        | "project"
                        | "clusterrole"
                        | "clusterrolebinding"
                        | "secret"
                        | "secrets"
                        | "statefulset"
                        | "sts"
                        | "all"
                )
            })
        })],
        rules: &[
            Rule {
                id: "kubernetes.delete-many",
                when: &[
                    "delete &many !--dry-run",
                    "delete --all !--dry-run",
                    "delete -A|--all-namespaces !--dry-run",
                    "replace --force",
                    "delete --force",
                    "drain",
                    "delete -l|--selector !--dry-run",
                ],
                severity: Severity::Block,
                reason: "it deletes what others run, and its data",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "kubectl delete ns prod",
                    "kubectl -n x delete pods --all",
                    "kubectl delete pvc data",
                    "kubectl drain node1",
                    "kubectl --context prod delete namespace x",
                ],
                #[cfg(test)]
                spares: &[
                    "kubectl get pods",
                    "kubectl delete ns x --dry-run=client",
                    "kubectl describe ns prod",
                    "kubectl logs x",
                    "kubectl --context kind-t delete ns test",
                    "kubectl delete ns test --context=minikube",
                ],
            },
            Rule {
                id: "kubernetes.change",
                when: &[
                    "delete !--dry-run",
                    "scale --replicas=0",
                    "rollout undo",
                    "cordon",
                    "taint",
                    "patch",
                    "apply --prune",
                    "edit",
                    "config delete-context|delete-cluster|unset",
                    "annotate --overwrite",
                    "label --overwrite",
                    "auth reconcile",
                ],
                severity: Severity::Ask,
                reason: "it changes what runs in the cluster",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "kubectl delete pod web-0",
                    "kubectl scale deploy web --replicas=0",
                    "kubectl delete -f app.yaml",
                    "kubectl rollout undo deploy/web",
                ],
                #[cfg(test)]
                spares: &[
                    "kubectl diff -f a.yaml",
                    "kubectl scale deploy web --replicas=3",
                    "kubectl get deploy",
                    "kubectl rollout status deploy/web",
                ],
            },
        ],
    },
    Tool {
        names: &[
            "helm",
            "argocd",
            "flux",
            "istioctl",
            "velero",
            "kind",
            "minikube",
            "k3d",
            "kustomize",
            "helmfile",
            "rke",
            "k3s-killall.sh",
            "k3s-uninstall.sh",
            "k3s-agent-uninstall.sh",
            "rke2-uninstall.sh",
        ],
        takes: "-n --namespace --kube-context -f --values --set --version -e --environment -l --selector",
        one_dash: false,
        tests: &[("destroys", |s| {
            let (first, second) = (s.operand(0), s.operand(1));
            match s.call.name.as_str() {
                "helm" => {
                    matches!(first, "uninstall" | "delete" | "del" | "un" | "rollback")
                        || first == "upgrade" && s.has("--force")
                }
                "argocd" => {
                    matches!(second, "delete" | "rm")
                        || first == "app" && second == "sync" && s.has("--prune")
                }
                "flux" => matches!(first, "uninstall" | "delete"),
                "velero" => second == "delete",
                "istioctl" => first == "uninstall",
                "helmfile" => matches!(first, "destroy" | "delete"),
                "kind" => first == "delete" && second == "clusters",
                "minikube" => first == "delete" && (s.has("--all") || s.has("--purge")),
                "rke" => first == "remove",
                name => name.ends_with("-uninstall.sh") || name.ends_with("-killall.sh"),
            }
        })],
        rules: &[Rule {
            id: "kubernetes.uninstall",
            when: &["&destroys !--dry-run"],
            severity: Severity::Ask,
            reason: "it takes down what runs in the cluster",
            alternatives: &["helm list"],
            #[cfg(test)]
            catches: &[
                "helm uninstall web",
                "helm delete web -n prod",
                "helm -n prod uninstall web",
                "argocd app delete x",
                "flux uninstall",
                "helmfile destroy",
                "helmfile -e prod destroy",
                "rke remove --force",
                "minikube delete --all",
                "k3s-uninstall.sh",
            ],
            #[cfg(test)]
            spares: &[
                "helm list",
                "helm template .",
                "helm uninstall web --dry-run",
                "kind delete cluster",
                "helm --kube-context kind-t uninstall web",
            ],
        }],
    },
];

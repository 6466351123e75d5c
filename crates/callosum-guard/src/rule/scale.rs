//! Services that are scaled to nothing: nothing is deleted, but no one is served.

use super::{Rule, Severity, Subject, Tool};

pub(super) const TOOLS: &[Tool] = &[Tool {
    names: &[
        "aws", "gcloud", "az", "heroku", "fly", "flyctl", "docker", "eksctl", "doctl", "nomad",
    ],
    takes: "-a --app --region --profile -g -n --name",
    one_dash: false,
    tests: &[("to-nothing", to_nothing)],
    rules: &[Rule {
        id: "service.scale-to-nothing",
        when: &["&to-nothing !--dry-run !--dryrun"],
        severity: Severity::Ask,
        reason: "it stops every instance of the service",
        alternatives: &[],
        #[cfg(test)]
        catches: &[
            "aws ecs update-service --cluster c --service s --desired-count 0",
            "aws autoscaling update-auto-scaling-group --auto-scaling-group-name a --max-size=0",
            "heroku ps:scale web=0 -a shop",
            "fly scale count 0",
            "docker service scale web=0",
            "gcloud container clusters resize c --num-nodes 0",
            "gcloud compute instances stop web-1",
            "az vm deallocate -g g -n web",
            "gcloud --project p compute instances stop web-1",
        ],
        #[cfg(test)]
        spares: &[
            "aws ecs update-service --cluster c --service s --desired-count 2",
            "aws autoscaling update-auto-scaling-group --auto-scaling-group-name a --min-size 0",
            "heroku ps:scale web=2 -a shop",
            "fly scale count 3",
            "docker service scale web=10",
            "aws logs tail g --since 0",
            "gcloud compute instances start web-1",
            "az vm list",
        ],
    }],
}];

/// Whether a number of what runs is set to none.
fn to_nothing(subject: &Subject<'_>) -> bool {
    const COUNTS: [&str; 8] = [
        "--desired-count",
        "--desired-capacity",
        "--max-size",
        "--num-nodes",
        "--node-count",
        "--size",
        "--nodes",
        "--count",
    ];
    const SCALES: [&str; 4] = ["ps:scale", "dyno:scale", "scale", "resize"];
    let words = subject.call.texts();
    let by_option = COUNTS.iter().any(|option| {
        let next = words
            .windows(2)
            .any(|two| two[0] == *option && two[1] == "0");
        next || words
            .iter()
            .any(|word| word.strip_prefix(option) == Some("=0"))
    });
    let scales = words.iter().any(|word| SCALES.contains(word));
    let by_word = scales
        && (words
            .iter()
            .any(|word| word.ends_with("=0") && !word.starts_with('-'))
            || words
                .windows(2)
                .any(|two| two[0] == "count" && two[1] == "0"));
    let says = |nouns: &[&str], verbs: &[&str]| {
        let mut places = words.windows(nouns.len() + 1);
        places.any(|place| place.starts_with(nouns) && verbs.contains(&place[nouns.len()]))
    };
    let stops = match words[0] {
        "gcloud" => says(&["compute", "instances"], &["stop", "suspend"]),
        "az" => says(&["vm"], &["stop", "deallocate"]),
        _ => false,
    };
    by_option || by_word || stops
}

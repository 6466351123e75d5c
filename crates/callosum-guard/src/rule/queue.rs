//! Queues and stores of services: what goes with a topic, a bucket or a virtual host.

use super::{Rule, Severity, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &[
            "kafka-topics",
            "kafka-topics.sh",
            "kafka-consumer-groups",
            "kafka-consumer-groups.sh",
            "kafka-delete-records",
            "kafka-delete-records.sh",
            "kafka-configs",
            "kafka-configs.sh",
            "kafka-storage",
            "kafka-storage.sh",
        ],
        takes: "--topic --group --bootstrap-server --zookeeper --command-config",
        one_dash: false,
        tests: &[("records", |s| {
            s.call.name.starts_with("kafka-delete-records")
        })],
        rules: &[Rule {
            id: "queue.kafka-delete",
            when: &[
                "--delete",
                "--reset-offsets --execute",
                "--offset-json-file &records",
                "format",
            ],
            severity: Severity::Block,
            reason: "it deletes the data in a topic",
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "kafka-topics --delete --topic x --bootstrap-server y",
                "bin/kafka-topics.sh --bootstrap-server y --delete --topic x",
                "kafka-consumer-groups --delete --group x",
                "kafka-delete-records --offset-json-file x",
            ],
            #[cfg(test)]
            spares: &[
                "kafka-topics --list --bootstrap-server y",
                "kafka-topics.sh --describe --topic x",
                "kafka-topics --create --topic x",
            ],
        }],
    },
    Tool {
        names: &[
            "rabbitmqctl",
            "rabbitmqadmin",
            "rabbitmq-diagnostics",
            "rabbitmq-queues",
        ],
        takes: "-n --node -p --vhost -u -H -P",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "queue.rabbit-delete",
            when: &["reset|force_reset|delete|delete_*|purge|purge_queue|clear_*"],
            severity: Severity::Block,
            reason: "it deletes waiting messages, queues or users",
            alternatives: &["rabbitmqctl list_queues"],
            #[cfg(test)]
            catches: &[
                "rabbitmqctl reset",
                "rabbitmqctl -n rabbit@h delete_vhost x",
                "rabbitmqctl purge_queue x",
                "rabbitmqadmin delete queue name=x",
            ],
            #[cfg(test)]
            spares: &[
                "rabbitmqctl list_queues",
                "rabbitmqctl status",
                "rabbitmqctl add_vhost x",
            ],
        }],
    },
    Tool {
        names: &["celery"],
        takes: "-A --app -b --broker -Q --queues --workdir",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "queue.celery-purge",
            when: &["purge", "amqp queue.purge|queue.delete|exchange.delete"],
            severity: Severity::Block,
            reason: "it deletes waiting tasks",
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "celery -A app purge -f",
                "celery --app=shop purge",
                "celery -A app amqp queue.purge celery",
            ],
            #[cfg(test)]
            spares: &[
                "celery -A app worker",
                "celery -A app status",
                "celery -A app inspect active_queues",
            ],
        }],
    },
    Tool {
        names: &["influx", "nats", "pulsar-admin", "temporal", "tctl"],
        takes: "-b --bucket --org --start --stop -n --name --id -s --server --host -t",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "queue.store-delete",
            when: &[
                "delete",
                "* delete|rm|purge|terminate|unload",
                "* * delete|rm|purge",
            ],
            severity: Severity::Block,
            reason: "it deletes the data that was written there",
            alternatives: &["influx bucket list"],
            #[cfg(test)]
            catches: &[
                "influx delete --bucket x --start 1970-01-01T00:00:00Z --stop 2025-01-01T00:00:00Z",
                "influx bucket delete -n x",
                "nats stream purge x",
                "pulsar-admin topics delete x",
            ],
            #[cfg(test)]
            spares: &[
                "influx bucket list",
                "influx query x",
                "nats stream ls",
                "temporal workflow list",
            ],
        }],
    },
];

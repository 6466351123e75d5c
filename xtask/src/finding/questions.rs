//! What is looked for, and the files that have it.

/// A question, and the ends of the paths of which any is an answer.
pub(super) type Question = (&'static str, &'static [&'static str]);

/// The questions about a package.
pub(super) fn of(name: &str) -> &'static [Question] {
    match name {
        "jiff" => JIFF,
        "fastify" => FASTIFY,
        _ => &[],
    }
}

const JIFF: &[Question] = &[
    ("round a span to the nearest unit", &["src/span.rs"]),
    ("parse an RFC 2822 date", &["src/fmt/rfc2822.rs"]),
    (
        "ambiguous datetime in a daylight saving gap",
        &["src/tz/ambiguous.rs"],
    ),
    (
        "read the system time zone",
        &["src/tz/system/mod.rs", "src/tz/timezone.rs"],
    ),
    (
        "POSIX TZ string",
        &["src/tz/posix.rs", "src/tz/timezone.rs"],
    ),
    ("ISO week date", &["src/civil/iso_week_date.rs"]),
    (
        "timestamp from seconds and nanoseconds",
        &["src/timestamp.rs"],
    ),
    (
        "strftime conversion directives",
        &["src/fmt/strtime/mod.rs", "src/fmt/strtime/printer.rs"],
    ),
    (
        "print a friendly duration",
        &["src/fmt/friendly/printer.rs", "src/fmt/friendly/mod.rs"],
    ),
    (
        "serde helper for optional timestamps",
        &["src/fmt/serde.rs"],
    ),
    (
        "checked addition of signed durations",
        &["src/signed_duration.rs"],
    ),
    (
        "nth weekday of the month",
        &["src/civil/date.rs", "src/civil/datetime.rs", "src/zoned.rs"],
    ),
    (
        "annotation in brackets after an offset",
        &["src/fmt/rfc9557.rs"],
    ),
    (
        "concatenated tzdata on Android",
        &[
            "src/tz/concatenated.rs",
            "src/tz/db/concatenated/enabled.rs",
            "src/tz/db/concatenated/mod.rs",
        ],
    ),
    (
        "search directories for zoneinfo",
        &["src/tz/db/zoneinfo/enabled.rs", "src/tz/db/zoneinfo/mod.rs"],
    ),
    ("OffsetConflict", &["src/tz/offset.rs"]),
    ("ZonedDifference", &["src/zoned.rs"]),
    ("DateTimeRound", &["src/civil/datetime.rs"]),
    (
        "parse_time_zone_name",
        &["src/fmt/temporal/parser.rs", "src/tz/db/mod.rs"],
    ),
    (
        "first day of the following month",
        &["src/civil/date.rs", "src/civil/datetime.rs", "src/zoned.rs"],
    ),
];

const FASTIFY: &[Question] = &[
    (
        "limit the size of a request body",
        &[
            "lib/content-type-parser.js",
            "docs/Reference/Server.md",
            "docs/Reference/Routes.md",
        ],
    ),
    (
        "default error handler",
        &[
            "lib/error-handler.js",
            "docs/Reference/Server.md",
            "docs/Reference/Errors.md",
        ],
    ),
    (
        "handler for routes that are not found",
        &["lib/four-oh-four.js", "docs/Reference/Server.md"],
    ),
    (
        "generate a request id",
        &[
            "lib/req-id-gen-factory.js",
            "docs/Reference/Server.md",
            "docs/Reference/Logging.md",
        ],
    ),
    (
        "decorate the request object",
        &["lib/decorate.js", "docs/Reference/Decorators.md"],
    ),
    (
        "serialize an error",
        &["lib/error-serializer.js", "lib/error-handler.js"],
    ),
    (
        "trust proxy",
        &["lib/request.js", "docs/Reference/Server.md"],
    ),
    ("onSend hook runner", &["lib/hooks.js"]),
    (
        "validate headers with a schema",
        &[
            "lib/validation.js",
            "docs/Reference/Validation-and-Serialization.md",
        ],
    ),
    (
        "parse a content type header",
        &["lib/content-type.js", "lib/content-type-parser.js"],
    ),
    (
        "encapsulation of plugins",
        &[
            "lib/plugin-override.js",
            "docs/Reference/Encapsulation.md",
            "docs/Reference/Plugins.md",
        ],
    ),
    (
        "prototype poisoning",
        &[
            "docs/Guides/Prototype-Poisoning.md",
            "lib/content-type-parser.js",
        ],
    ),
    (
        "close open connections on shutdown",
        &["lib/server.js", "fastify.js", "docs/Reference/Server.md"],
    ),
    ("listen on every localhost address", &["lib/server.js"]),
    (
        "handler that returns a promise",
        &["lib/wrap-thenable.js", "docs/Reference/Routes.md"],
    ),
    (
        "notice that a client aborts",
        &["docs/Guides/Detecting-When-Clients-Abort.md"],
    ),
    (
        "deprecation warning codes",
        &["lib/warnings.js", "docs/Reference/Warnings.md"],
    ),
    (
        "reply trailers",
        &["lib/reply.js", "docs/Reference/Reply.md"],
    ),
    (
        "expose HEAD routes",
        &[
            "lib/head-route.js",
            "lib/route.js",
            "docs/Reference/Server.md",
            "docs/Reference/Routes.md",
        ],
    ),
    (
        "bucket of shared schemas",
        &[
            "lib/schema-controller.js",
            "lib/schemas.js",
            "docs/Reference/Server.md",
        ],
    ),
];

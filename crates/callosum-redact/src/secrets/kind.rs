//! The kinds of secrets that are recognised.

use std::fmt;

/// Kind of a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// An access key id of Amazon Web Services.
    Aws,
    /// A token of GitHub.
    GitHub,
    /// A token of GitLab.
    GitLab,
    /// A token or web hook of Slack.
    Slack,
    /// A secret or restricted key of Stripe.
    Stripe,
    /// An API key of Google.
    Google,
    /// An API key in the `sk-…` form of OpenAI, Anthropic and others.
    ModelProvider,
    /// A token or key of another service, identified by its form.
    AccessToken,
    /// A token of npm.
    Npm,
    /// A token of PyPI.
    PyPi,
    /// A JSON Web Token.
    Jwt,
    /// A private key in PEM form.
    PrivateKey,
    /// A password inside a connection string or address.
    Address,
    /// A value that a name such as `password` or `api_key` is given.
    Assigned,
    /// A token in an `Authorization` header.
    Authorization,
    /// A word that an option or a program takes for a password.
    Argument,
}

/// All of them.
const KINDS: [Kind; 16] = [
    Kind::Aws,
    Kind::GitHub,
    Kind::GitLab,
    Kind::Slack,
    Kind::Stripe,
    Kind::Google,
    Kind::ModelProvider,
    Kind::AccessToken,
    Kind::Npm,
    Kind::PyPi,
    Kind::Jwt,
    Kind::PrivateKey,
    Kind::Address,
    Kind::Assigned,
    Kind::Authorization,
    Kind::Argument,
];

impl Kind {
    /// Returns the kind of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        KINDS.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns its name, as the mask shows it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aws => "aws access key",
            Self::GitHub => "github token",
            Self::GitLab => "gitlab token",
            Self::Slack => "slack token",
            Self::Stripe => "stripe key",
            Self::Google => "google api key",
            Self::ModelProvider => "model provider key",
            Self::AccessToken => "access token",
            Self::Npm => "npm token",
            Self::PyPi => "pypi token",
            Self::Jwt => "json web token",
            Self::PrivateKey => "private key",
            Self::Address => "password in address",
            Self::Assigned => "assigned value",
            Self::Authorization => "authorization header",
            Self::Argument => "argument",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

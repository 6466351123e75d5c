//! [`Certificates`]: an authority of a test's own, and the certificate of a server that it signed, made by `openssl`.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::network::Network;

pub(crate) struct Certificates {
    folder: tempfile::TempDir,
}

impl Certificates {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let new = Self { folder };
        let hosts = (1..=9).map(|host| format!(",IP:{}", Network::address(host)));
        let hosts: String = hosts.collect();
        let names = format!("subjectAltName=DNS:localhost,IP:127.0.0.1{hosts}\n");
        std::fs::write(new.path("names"), names).unwrap();
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
        new.openssl(&format!(
            "req -x509 {key} -keyout ca.key -out ca.pem -days 2 -subj /CN=authority"
        ));
        new.openssl(&format!(
            "req {key} -keyout key.pem -out request.pem -subj /CN=server"
        ));
        new.openssl(
            "x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out cert.pem",
        );
        new
    }

    fn openssl(&self, arguments: &str) {
        let output = Command::new("openssl")
            .args(arguments.split(' '))
            .current_dir(self.folder.path())
            .output()
            .expect("openssl is installed");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "openssl {arguments}: {error}");
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// The key of a machine's configuration that names the authority.
    pub(crate) fn ca_file(&self) -> String {
        format!("ca_file = \"{}\"", self.path("ca.pem").display())
    }

    /// The part of a server's configuration.
    pub(crate) fn of_server(&self) -> String {
        let quoted = |path: &Path| format!("\"{}\"", path.display());
        let (cert, key) = (
            quoted(&self.path("cert.pem")),
            quoted(&self.path("key.pem")),
        );
        format!("tls {{ cert_file: {cert}, key_file: {key} }}")
    }
}

//! [`Network`]: hosts in network namespaces of a test's own, on one switch, which can be unplugged.
//!
//! Nothing is made in the namespace of the machine: each cable leads from the switch's namespace to a host's. All are removed
//! at the end, also after a failure, and those of a test that was killed before the next one begins.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
};

/// Beginning of the names of all namespaces of tests.
const NAME: &str = "callosum-test";

/// Variable that is set where these tests must run, as in CI.
const REQUIRED: &str = "CALLOSUM_TEST_NAMESPACES";

/// Networks that this process has made.
static MADE: AtomicUsize = AtomicUsize::new(0);

/// The command `ip`, which the usual PATH of a person does not have.
fn ip() -> Option<PathBuf> {
    let folders = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];
    let mut programs = folders
        .map(|folder| Path::new(folder).join("ip"))
        .into_iter();
    programs.find(|program| program.is_file())
}

pub(crate) struct Network {
    ip: PathBuf,
    /// The name of the switch's namespace, with which those of the hosts begin.
    switch: String,
    hosts: usize,
}

impl Network {
    /// Makes one with this many hosts, from 1 on. `None` where this user may not, which is said.
    pub(crate) fn with_hosts(hosts: usize) -> Option<Self> {
        let made = ip().ok_or_else(|| "there is no command `ip`".to_owned());
        let made = made.and_then(|ip| Self::make(ip, hosts));
        match made {
            Ok(network) => Some(network),
            Err(reason) => {
                assert!(
                    std::env::var_os(REQUIRED).is_none(),
                    "${REQUIRED} is set, and there are no network namespaces: {reason}"
                );
                let text = format!("skipped: no network namespaces here: {reason}\n");
                std::io::stderr().write_all(text.as_bytes()).unwrap();
                None
            }
        }
    }

    fn make(ip: PathBuf, hosts: usize) -> Result<Self, String> {
        remove_old(&ip);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let switch = format!("{NAME}-{}-{number}", std::process::id());
        let network = Self { ip, switch, hosts };
        let switch = &network.switch;
        network.ip(&["netns", "add", switch])?;
        network.ip(&["-n", switch, "link", "add", "br0", "type", "bridge"])?;
        network.ip(&["-n", switch, "link", "set", "br0", "up"])?;
        for host in 1..=hosts {
            let (space, port) = (network.namespace(host), port(host));
            let address = format!("{}/24", Self::address(host));
            network.ip(&["netns", "add", &space])?;
            network.ip(&["-n", &space, "link", "set", "lo", "up"])?;
            network.ip(&[
                "-n", switch, "link", "add", &port, "type", "veth", "peer", "name", "eth0",
                "netns", &space,
            ])?;
            network.ip(&["-n", &space, "addr", "add", &address, "dev", "eth0"])?;
            network.ip(&["-n", &space, "link", "set", "eth0", "up"])?;
            network.ip(&["-n", switch, "link", "set", &port, "up"])?;
            network.plug_in(host);
        }
        Ok(network)
    }

    fn ip(&self, arguments: &[&str]) -> Result<(), String> {
        run(&self.ip, arguments)
    }

    /// The command before that of a program that is to run on a host.
    pub(crate) fn on(&self, host: usize) -> Vec<String> {
        let ip = self.ip.to_string_lossy().into_owned();
        vec![
            ip,
            "netns".to_owned(),
            "exec".to_owned(),
            self.namespace(host),
        ]
    }

    fn namespace(&self, host: usize) -> String {
        format!("{}-h{host}", self.switch)
    }

    pub(crate) fn address(host: usize) -> String {
        format!("10.77.0.{host}")
    }

    /// Takes the cable of a host out of the switch. The host does not notice: what it sends goes nowhere.
    pub(crate) fn unplug(&self, host: usize) {
        let done = self.ip(&["-n", &self.switch, "link", "set", &port(host), "nomaster"]);
        done.unwrap();
    }

    pub(crate) fn plug_in(&self, host: usize) {
        let done = self.ip(&[
            "-n",
            &self.switch,
            "link",
            "set",
            &port(host),
            "master",
            "br0",
        ]);
        done.unwrap();
    }

    /// Turns the link of a host off, which the host notices, or on again.
    pub(crate) fn set_link(&self, host: usize, state: &str) {
        let done = self.ip(&["-n", &self.switch, "link", "set", &port(host), state]);
        done.unwrap();
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for host in 1..=self.hosts {
            drop(self.ip(&["netns", "del", &self.namespace(host)]));
        }
        drop(self.ip(&["netns", "del", &self.switch]));
    }
}

fn port(host: usize) -> String {
    format!("port{host}")
}

fn run(ip: &Path, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(ip).args(arguments).output();
    let output = output.map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(())
    } else {
        let error = String::from_utf8_lossy(&output.stderr);
        Err(format!("ip {}: {}", arguments.join(" "), error.trim()))
    }
}

/// Removes the namespaces of tests that were killed.
fn remove_old(ip: &Path) {
    let entries = std::fs::read_dir("/run/netns");
    for entry in entries.into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let pid = name
            .strip_prefix(NAME)
            .and_then(|rest| rest.split('-').nth(1));
        let Some(pid) = pid else { continue };
        if !Path::new("/proc").join(pid).exists() {
            drop(run(ip, &["netns", "del", &name]));
        }
    }
}

/// A file system in memory of its own size, which can be full.
pub(crate) struct SmallDisk(PathBuf);

impl SmallDisk {
    pub(crate) fn at(folder: &Path, size: &str) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        let size = format!("size={size}");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(folder)
            .status();
        assert!(
            mounted.unwrap().success(),
            "a file system in memory can be mounted"
        );
        Self(folder.to_owned())
    }

    /// Fills all that is free.
    pub(crate) fn fill(&self) {
        let mut file = std::fs::File::create(self.ballast()).unwrap();
        for block in [64 * 1024, 4096, 1] {
            let zeros = vec![0; block];
            while file.write_all(&zeros).is_ok() {}
        }
    }

    pub(crate) fn empty(&self) {
        std::fs::remove_file(self.ballast()).unwrap();
    }

    fn ballast(&self) -> PathBuf {
        self.0.join("ballast")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // What is still open goes with its process.
        drop(Command::new("umount").arg("--lazy").arg(&self.0).status());
    }
}

//! Addresses that lead to this machine: [`is_loopback`].

/// Whether an address leads to this machine.
pub(crate) fn is_loopback(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let place = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let place = place.rsplit('@').next().unwrap_or(place);
    if place.starts_with("[::1]") || place == "::1" {
        return true;
    }
    let host = place.split(':').next().unwrap_or(place);
    let mut parts = host.split('.');
    let is_number = host.starts_with("127.")
        && parts.clone().count() == 4
        && parts.all(|part| part.parse::<u8>().is_ok());
    matches!(host, "localhost" | "0.0.0.0" | "localhost.localstack.cloud") || is_number
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    /// CAKE-SHIM-1: only an address of this machine is one.
    #[test]
    fn an_address_of_this_machine_is_known() {
        for address in [
            "http://localhost:4566",
            "https://127.0.0.1",
            "http://[::1]:8000/x",
            "http://user@localhost/",
            "http://localhost?x=1",
            "::1",
        ] {
            assert!(is_loopback(address), "{address}");
        }
        for address in [
            "https://localhost.example.com",
            "http://127.example.com",
            "127.a.example.com",
            "https://s3.amazonaws.com",
            "http://10.0.0.1:4566",
            "http://localhost@example.com/",
            "",
        ] {
            assert!(!is_loopback(address), "{address}");
        }
    }
}

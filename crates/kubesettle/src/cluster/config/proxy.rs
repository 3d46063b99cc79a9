//! Which proxy leads to a server, by the rules of Go's net/http, which kubectl follows: a `proxy-url`
//! of the kubeconfig always counts, one of the environment unless `NO_PROXY` names the server.

use std::net::IpAddr;

use http::Uri;

use super::environment::Environment;

const SCHEMES: [&str; 4] = ["http", "https", "socks5", "socks5h"];

/// The proxy for `server`, unless a flag or the kubeconfig names one.
pub(super) fn of_environment(server: &Uri, environment: &Environment) -> Result<Option<Uri>, String> {
    let names: [&str; 2] = match server.scheme_str() {
        Some("http") => ["HTTP_PROXY", "http_proxy"],
        _ => ["HTTPS_PROXY", "https_proxy"],
    };
    let Some((name, url)) = first(environment, names) else { return Ok(None) };
    let host = server.host().unwrap_or_default();
    let no_proxy = first(environment, ["NO_PROXY", "no_proxy"]).map_or("", |(_, hosts)| hosts);
    if is_local(host) || bypassed(no_proxy, host, port_of(server)) {
        return Ok(None);
    }
    parse(url).map(Some).map_err(|error| format!("the environment variable {name}: {error}"))
}

/// The first of the spellings of a variable that has a value.
fn first<'a>(environment: &'a Environment, names: [&'static str; 2]) -> Option<(&'static str, &'a str)> {
    names.into_iter().find_map(|name| Some((name, environment.text(name)?)))
}

/// The port that a request to `uri` goes to.
pub(in crate::cluster) fn port_of(uri: &Uri) -> u16 {
    let default = if uri.scheme_str() == Some("http") { 80 } else { 443 };
    uri.port_u16().unwrap_or(default)
}

pub(super) fn parse(url: &str) -> Result<Uri, String> {
    let whole = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
    // The URL itself stays out of messages: it may hold a password.
    let uri: Uri = whole.parse().map_err(|error| format!("the proxy URL cannot be read: {error}"))?;
    let scheme = uri.scheme_str().unwrap_or_default();
    if !SCHEMES.contains(&scheme) {
        return Err(format!("proxy scheme {scheme:?} is not supported; use one of {}", SCHEMES.join(", ")));
    }
    if uri.host().is_none_or(str::is_empty) {
        return Err("the proxy URL has no host".to_owned());
    }
    Ok(uri)
}

fn bare(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

fn is_local(host: &str) -> bool {
    let host = bare(host);
    host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// True when an entry of `no_proxy` covers the host.
fn bypassed(no_proxy: &str, host: &str, port: u16) -> bool {
    let host = bare(host).trim_end_matches('.').to_ascii_lowercase();
    no_proxy
        .split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
        .any(|entry| covers(&entry.to_ascii_lowercase(), &host, port))
}

fn covers(entry: &str, host: &str, port: u16) -> bool {
    if entry == "*" {
        return true;
    }
    let address: Option<IpAddr> = host.parse().ok();
    if let Some((network, bits)) = entry.split_once('/') {
        let network = network.parse().ok().zip(bits.parse().ok());
        return network.zip(address).is_some_and(|((net, bits), host)| in_network(net, bits, host));
    }
    let (name, wanted_port) = split_port(entry);
    if wanted_port.is_some_and(|wanted| wanted != port) {
        return false;
    }
    if let Ok(entry) = name.parse::<IpAddr>() {
        return address == Some(entry);
    }
    // `.example.com` and `*.example.com` cover only what is below, `example.com` itself too.
    let below = name.strip_prefix('*').unwrap_or(name);
    match below.strip_prefix('.') {
        Some(_) => host.ends_with(below) && host.len() > below.len(),
        None => host == name || host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.')),
    }
}

fn split_port(entry: &str) -> (&str, Option<u16>) {
    if let Some(inner) = entry.strip_prefix('[') {
        let (address, rest) = inner.split_once(']').unwrap_or((inner, ""));
        return (address, rest.strip_prefix(':').and_then(|port| port.parse().ok()));
    }
    match entry.split_once(':') {
        // More than one colon: an IPv6 address without brackets.
        Some((name, port)) if !port.contains(':') => (name, port.parse().ok()),
        _ => (entry, None),
    }
}

fn in_network(network: IpAddr, bits: u32, host: IpAddr) -> bool {
    match (network, host) {
        (IpAddr::V4(network), IpAddr::V4(host)) if bits <= 32 => {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            network.to_bits() & mask == host.to_bits() & mask
        }
        (IpAddr::V6(network), IpAddr::V6(host)) if bits <= 128 => {
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            network.to_bits() & mask == host.to_bits() & mask
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        Environment::from(pairs.iter().map(|(n, v)| (n.into(), v.into())))
    }

    #[test]
    fn no_proxy_is_matched_against_the_server() {
        // (NO_PROXY, host, port, bypassed)
        let rows = [
            ("", "a.example.com", 443, false),
            ("*", "a.example.com", 443, true),
            ("a.example.com", "a.example.com", 443, true),
            ("A.Example.com", "a.example.com", 443, true),
            ("example.com", "a.example.com", 443, true),
            ("example.com", "badexample.com", 443, false),
            (".example.com", "a.example.com", 443, true),
            (".example.com", "example.com", 443, false),
            ("*.example.com", "a.example.com", 443, true),
            ("other, , a.example.com,", "a.example.com", 443, true),
            ("a.example.com:6443", "a.example.com", 6443, true),
            ("a.example.com:6443", "a.example.com", 443, false),
            ("10.0.0.0/8", "10.1.2.3", 6443, true),
            ("10.0.0.0/8", "11.1.2.3", 6443, false),
            ("0.0.0.0/0", "11.1.2.3", 6443, true),
            ("10.0.0.0/99", "10.0.0.1", 6443, false),
            ("10.0.0.1", "10.0.0.1", 6443, true),
            ("10.0.0.1:443", "10.0.0.1", 6443, false),
            ("fd00::/8", "[fd12::1]", 6443, true),
            ("fd12::1", "[fd12::1]", 6443, true),
            ("[fd12::1]:443", "[fd12::1]", 6443, false),
            ("10.0.0.0/8", "a.example.com", 443, false),
        ];
        for (no_proxy, host, port, expected) in rows {
            assert_eq!(bypassed(no_proxy, host, port), expected, "{no_proxy:?} {host}:{port}");
        }
    }

    #[test]
    fn the_scheme_selects_the_variable() {
        let https = Uri::from_static("https://api.example.com:6443");
        let plain = Uri::from_static("http://api.example.com");
        let env = environment(&[("HTTPS_PROXY", "proxy:3128"), ("NO_PROXY", "example.com")]);
        assert_eq!(of_environment(&https, &env), Ok(None), "the server is in NO_PROXY");
        let env = environment(&[("https_proxy", "proxy:3128")]);
        assert_eq!(of_environment(&https, &env), Ok(Some(Uri::from_static("http://proxy:3128"))));
        assert_eq!(of_environment(&plain, &env), Ok(None), "HTTPS_PROXY is not for http");
        let local = Uri::from_static("https://127.0.0.1:6443");
        assert_eq!(of_environment(&local, &env), Ok(None), "never for loopback");
    }

    #[test]
    fn a_bad_proxy_is_said_without_its_password() {
        let error = parse("ftp://u:canary@p").unwrap_err();
        assert!(error.contains("ftp") && !error.contains("canary"), "{error}");
    }
}

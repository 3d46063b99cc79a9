//! The way to the server: connections and the streams on them, proxies, client certificates.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

use e2e::manifests::{config_map, stream, within};
use e2e::{Folder, Following, LIMIT, World, settle};
use harness::{ControlPlane, shared, wait_until};
use rcgen::{BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};

tests![
    more_watches_than_a_connection_carries_need_one_more_and_requests_have_their_own,
    a_proxy_is_asked_to_connect_and_its_refusal_is_told,
    a_client_certificate_says_who_asks,
];

/// More than the hundred streams that the server lets through on a connection.
const WATCHES: usize = 110;

fn more_watches_than_a_connection_carries_need_one_more_and_requests_have_their_own() {
    let world = World::new("streams");
    let user = shared().user("wide").can_cluster(&["get", "list", "watch"], &["configmaps"]).build();
    for (others, connections) in [(0, 2), (WATCHES, 3)] {
        let proxy = shared().proxy();
        let mark = shared().mark();
        let real = format!("real-{others}");
        let elsewhere = (0..others).map(|n| within(config_map("other"), &format!("nowhere-{n}")));
        let set: Vec<_> = elsewhere.chain([within(config_map(&real), world.name())]).collect();
        let call = settle(shared(), &["status", "--watch-scope=namespaces"]);
        let following = Following::start(call.kubeconfig(user.kubeconfig_via(&proxy)).input(stream(&set)));
        following.until(&real, "NotFound", "");
        following.wait("all to be told", |this| this.told("other").len() == others);
        assert_eq!(proxy.traffic().open, connections, "{:?}", proxy.traffic());
        world.ns.kubectl(&["create", "configmap", &real]).success();
        following.until(&real, "Current", "");
        following.end();
        let watches = shared().requests().since(mark).user(user.name()).verb("watch");
        assert_eq!(watches.count(), others + 1, "{watches}");
        wait_until("the connections to be closed", LIMIT, || proxy.traffic().open == 0);
    }
}

/// Does what it is asked to, or refuses; the first lines of what it was asked.
fn proxy(refuses: bool) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = asked.clone();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let seen = seen.clone();
            thread::spawn(move || connect(client, refuses, &seen));
        }
    });
    (url, asked)
}

fn connect(mut client: TcpStream, refuses: bool, seen: &Mutex<Vec<String>>) -> Option<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        client.read_exact(&mut byte).ok()?;
        head.extend(byte);
    }
    let head = String::from_utf8(head).ok()?;
    let line = head.lines().next()?.to_owned();
    seen.lock().unwrap().push(line.clone());
    if refuses {
        return client.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").ok();
    }
    let server = TcpStream::connect(line.split(' ').nth(1)?).ok()?;
    client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").ok()?;
    let (mut from, mut to) = (client.try_clone().ok()?, server.try_clone().ok()?);
    thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Both);
    });
    let (mut from, mut to) = (server, client);
    let _ = std::io::copy(&mut from, &mut to);
    to.shutdown(Shutdown::Both).ok()
}

fn a_proxy_is_asked_to_connect_and_its_refusal_is_told() {
    let world = World::new("proxy");
    let (url, asked) = proxy(false);
    let call = |url: &str| {
        let flag = format!("--proxy-url={url}");
        world.settle(&["apply", "-o", "json", &flag]).input(stream(&[config_map("a")])).start().finish(LIMIT)
    };
    call(&url).exits_with(0);
    let asked = asked.lock().unwrap().clone();
    let expected = format!("CONNECT {} HTTP/1.1", shared().address());
    assert!((1..=3).contains(&asked.len()), "{asked:?}");
    assert!(asked.iter().all(|line| *line == expected), "{asked:?}");
    let (url, _) = proxy(true);
    let refused = call(&url);
    refused.exits_with(6);
    let said = format!("{}{}", refused.stdout, refused.stderr);
    assert!(said.contains("through the proxy"), "{said}");
}

/// An authority for clients, and a certificate of it for somebody of a group that may do everything.
fn identity(folder: &Folder) -> [PathBuf; 3] {
    let ca_key = KeyPair::generate().unwrap();
    let mut ca = CertificateParams::new(Vec::new()).unwrap();
    ca.distinguished_name.push(DnType::CommonName, "clients");
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca_cert = ca.self_signed(&ca_key).unwrap();
    let key = KeyPair::generate().unwrap();
    let mut client = CertificateParams::new(Vec::new()).unwrap();
    client.distinguished_name.push(DnType::CommonName, "certified");
    client.distinguished_name.push(DnType::OrganizationName, "system:masters");
    client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let cert = client.signed_by(&key, &Issuer::new(ca, ca_key)).unwrap();
    [("ca.crt", ca_cert.pem()), ("client.crt", cert.pem()), ("client.key", key.serialize_pem())]
        .map(|(name, text)| folder.write(name, &text))
}

fn a_client_certificate_says_who_asks() {
    let folder = Folder::new(shared());
    let [ca, certificate, key] = identity(&folder);
    let flag = format!("--client-ca-file={}", ca.display());
    let plane = ControlPlane::builder().without_controllers().api_flag(&flag).start().unwrap();
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: x\nclusters:\n- name: c\n  cluster: {{server: '{}', certificate-authority: '{}'}}\ncontexts:\n- name: x\n  context: {{cluster: c, user: u, namespace: default}}\nusers:\n- name: u\n  user: {{client-certificate: '{}', client-key: '{}'}}\n",
        plane.url(),
        plane.ca_path().display(),
        certificate.display(),
        key.display()
    );
    let config = folder.write("kubeconfig", &text);
    let set = stream(&[config_map("a"), config_map("b")]);
    let mark = plane.mark();
    let lines = settle(&plane, &["apply"]).kubeconfig(&config).input(set.clone()).json();
    assert_eq!(lines.all_settled(), 2);
    let all = plane.requests().since(mark).user("certified");
    assert_eq!((all.clone().writes().count(), all.clone().verb("watch").count()), (2, 1), "{all}");
    // Nobody without it.
    let nobody = folder
        .write("nobody", &text.replace("client-certificate", "x-certificate").replace("client-key", "x-key"));
    let lines = settle(&plane, &["apply"]).kubeconfig(nobody).input(set).json();
    assert_ne!(lines.done.code, Some(0), "{lines:#}");
}

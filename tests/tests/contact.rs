//! No contact with the cluster: what was tried is told, and the exit code is 6.

use std::net::TcpListener;

use e2e::manifests::{config_map, stream};
use e2e::{Folder, Lines, World, settle};
use harness::shared;

tests![
    an_unreachable_server_is_named_with_its_kubeconfig_and_context,
    an_unreachable_server_ends_the_json_lines_too,
    a_rejected_token_is_no_contact,
    a_certificate_of_another_authority_is_no_contact,
    a_server_that_is_none_is_no_contact,
    a_broken_kubeconfig_is_bad_usage,
];

fn set() -> String {
    stream(&[config_map("a")])
}

/// The admin's kubeconfig with something else instead of a part of it.
fn kubeconfig(folder: &Folder, from: &str, to: &str) -> std::path::PathBuf {
    let text = std::fs::read_to_string(shared().admin_kubeconfig()).unwrap();
    assert!(text.contains(from), "{text}");
    folder.write("kubeconfig", &text.replace(from, to))
}

/// An address where nobody listens: one that was free a moment ago.
fn nobody() -> String {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    format!("https://{address}")
}

fn an_unreachable_server_is_named_with_its_kubeconfig_and_context() {
    let (folder, address) = (Folder::new(shared()), nobody());
    let path = kubeconfig(&folder, shared().url(), &address);
    for words in [&["apply"][..], &["destroy"], &["status"]] {
        let done = settle(shared(), words).kubeconfig(&path).input(set()).run();
        done.exits_with(6);
        for part in [&address, path.to_str().unwrap(), "context", "test"] {
            assert!(done.stderr.contains(part), "{part:?} in\n{}", done.stderr);
        }
        assert_eq!(done.stdout, "");
    }
}

fn an_unreachable_server_ends_the_json_lines_too() {
    let folder = Folder::new(shared());
    let path = kubeconfig(&folder, shared().url(), &nobody());
    let lines = settle(shared(), &["apply"]).kubeconfig(&path).input(set()).json();
    lines.exits_with(6);
    assert!(!lines.ran());
    let errors: Vec<_> = lines.all("error").collect();
    assert_eq!(errors.len(), 1, "{lines:#}");
    assert!(errors[0]["hint"].is_string(), "{lines:#}");
    assert_eq!(lines.all("end").next().unwrap()["outcome"], "Unreachable");
}

fn a_rejected_token_is_no_contact() {
    let world = World::new("token");
    let lines = Lines::of(settle(shared(), &["apply", "-o", "json", "--token=wrong"]).input(set()).run());
    lines.exits_with(6);
    assert!(lines.done.stderr.contains("credentials rejected"), "{lines:#}");
    assert!(lines.done.stderr.contains(shared().url()), "{lines:#}");
    assert_eq!(world.requests().count(), 0);
}

fn a_certificate_of_another_authority_is_no_contact() {
    let folder = Folder::new(shared());
    // The system's authorities instead of the cluster's.
    let text = std::fs::read_to_string(shared().admin_kubeconfig()).unwrap();
    let text: String = text
        .lines()
        .filter(|line| !line.contains("certificate-authority"))
        .fold(String::new(), |text, line| text + line + "\n");
    let path = folder.write("kubeconfig", &text);
    let done = settle(shared(), &["apply"]).kubeconfig(&path).input(set()).run();
    done.exits_with(6);
    assert!(done.stderr.contains("certificate"), "{}", done.stderr);
    // And with none asked for.
    let done =
        settle(shared(), &["status", "--insecure-skip-tls-verify"]).kubeconfig(&path).input(set()).run();
    done.exits_with(0);
}

fn a_server_that_is_none_is_no_contact() {
    use std::io::{Read, Write};
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let page = "<html>Welcome</html>";
                while let Ok(1..) = stream.read(&mut [0; 4096]) {
                    let _ = write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{page}", page.len());
                }
            });
        }
    });
    let done = settle(shared(), &["apply", "-s", &address]).input(set()).run();
    assert!(matches!(done.code, Some(6 | 70)), "{:?}\n{}", done.code, done.stderr);
    assert!(done.stderr.contains(&address), "{}", done.stderr);
}

fn a_broken_kubeconfig_is_bad_usage() {
    let folder = Folder::new(shared());
    let path = folder.write("kubeconfig", "clusters: [}\n");
    let done = settle(shared(), &["apply"]).kubeconfig(&path).input(set()).run();
    done.exits_with(2);
    assert!(done.stderr.contains(path.to_str().unwrap()), "{}", done.stderr);
}

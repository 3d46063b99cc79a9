//! Credential plugins (`users[].user.exec` of a kubeconfig).

use std::io::{self, IsTerminal as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Deserialize;

use crate::cluster::config::{Exec, Identity};
use crate::cluster::secret::Secret;

/// What a plugin gave.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) token: Option<Secret>,
    pub(super) identity: Option<Identity>,
    /// How long it is good for; `None` until a server rejects it.
    pub(super) life: Option<Duration>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Output {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    status: Option<OutputStatus>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct OutputStatus {
    token: Option<Secret>,
    client_certificate_data: Option<String>,
    client_key_data: Option<Secret>,
    expiration_timestamp: Option<String>,
}

/// Runs the plugin once, outside the async runtime: it may ask a person.
pub(super) async fn run(exec: Box<Exec>, cluster: Option<serde_json::Value>) -> Result<Given, String> {
    match tokio::task::spawn_blocking(move || run_blocking(&exec, cluster)).await {
        Ok(given) => given,
        Err(error) => Err(format!("the credential plugin could not be run: {error}")),
    }
}

fn run_blocking(exec: &Exec, cluster: Option<serde_json::Value>) -> Result<Given, String> {
    let name = &exec.command;
    let terminal = io::stdin().is_terminal();
    let interactive = match exec.interactive_mode.as_deref() {
        Some("Never") => false,
        Some("Always") if !terminal => {
            return Err(format!("credential plugin {name} wants to ask questions, and there is no terminal"));
        }
        _ => terminal,
    };
    let api_version = exec.api_version.as_deref().unwrap_or("client.authentication.k8s.io/v1");
    let mut spec = serde_json::json!({ "interactive": interactive });
    if let (Some(cluster), Some(spec)) = (cluster, spec.as_object_mut()) {
        spec.insert("cluster".to_owned(), cluster);
    }
    let request = serde_json::json!({ "apiVersion": api_version, "kind": "ExecCredential", "spec": spec });

    // What a plugin says to a person goes to that person; without one it goes into the error.
    let shown = io::stderr().is_terminal();
    let mut command = Command::new(name);
    command
        .args(exec.args.iter().flatten())
        .envs(exec.env.iter().flatten().map(|variable| (&variable.name, &variable.value)))
        .env("KUBERNETES_EXEC_INFO", request.to_string())
        .stdin(if interactive { Stdio::inherit() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(if shown { Stdio::inherit() } else { Stdio::piped() });
    let output = match command.spawn().and_then(std::process::Child::wait_with_output) {
        Ok(output) => output,
        Err(error) => {
            let hint = exec.install_hint.as_deref().map(str::trim).filter(|hint| !hint.is_empty());
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            return Err(format!("credential plugin {name} could not be started: {error}{hint}"));
        }
    };
    if !output.status.success() {
        let said = last_words(&output.stderr);
        return Err(format!("credential plugin {name} failed ({}){said}", output.status));
    }
    read(name, api_version, &output.stdout, jiff::Timestamp::now())
}

/// The end of what the plugin complained.
fn last_words(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(3)..).unwrap_or_default().join("; ");
    if last.is_empty() { last } else { format!(": {last}") }
}

/// Its output itself stays out of messages: it may hold a token.
fn read(name: &str, api_version: &str, stdout: &[u8], now: jiff::Timestamp) -> Result<Given, String> {
    let text =
        std::str::from_utf8(stdout).map_err(|_| format!("credential plugin {name}: output is not UTF-8"))?;
    // Most plugins write JSON, some YAML.
    let output: Output = match serde_json::from_str(text) {
        Ok(output) => output,
        Err(_) => serde_saphyr::from_str(text)
            .map_err(|_| format!("credential plugin {name}: output is no ExecCredential"))?,
    };
    if output.kind != "ExecCredential" || output.api_version != api_version {
        return Err(format!(
            "credential plugin {name} answered with {} {:?}, where the kubeconfig wants ExecCredential {api_version:?}",
            if output.kind.is_empty() { "no kind" } else { &output.kind },
            output.api_version
        ));
    }
    let status = output.status.ok_or_else(|| format!("credential plugin {name} gave no credentials"))?;
    let token = status.token.filter(|token| !token.is_empty());
    let identity = match (status.client_certificate_data, status.client_key_data) {
        (Some(certificate), Some(key)) => Some(Identity { certificate: certificate.into_bytes(), key }),
        (None, None) => None,
        _ => return Err(format!("credential plugin {name} gave half a client certificate")),
    };
    if token.is_none() && identity.is_none() {
        return Err(format!("credential plugin {name} gave neither token nor client certificate"));
    }
    let life = match status.expiration_timestamp.as_deref() {
        None | Some("") => None,
        Some(end) => {
            let end: jiff::Timestamp = end
                .parse()
                .map_err(|error| format!("credential plugin {name}: expirationTimestamp {end:?}: {error}"))?;
            Some(Duration::try_from(end.duration_since(now)).unwrap_or(Duration::ZERO))
        }
    };
    Ok(Given { token, identity, life })
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "client.authentication.k8s.io/v1";

    fn at(text: &str) -> Result<Given, String> {
        read("p", V1, text.as_bytes(), "2026-01-01T00:00:00Z".parse().unwrap())
    }

    #[test]
    fn output_is_json_or_yaml() {
        let json = format!(
            r#"{{"kind":"ExecCredential","apiVersion":"{V1}","spec":{{}},"status":{{"token":"t","expirationTimestamp":"2026-01-01T01:00:00Z"}}}}"#
        );
        let given = at(&json).unwrap();
        assert_eq!(given.token.unwrap().expose(), "t");
        assert_eq!(given.life, Some(Duration::from_secs(3600)));
        let yaml = format!("kind: ExecCredential\napiVersion: {V1}\nstatus:\n  token: t2\n");
        let given = at(&yaml).unwrap();
        assert_eq!((given.token.unwrap().expose(), given.life), ("t2", None));
    }

    #[test]
    fn bad_output_is_said_without_repeating_it() {
        let rows = [
            ("canary", "is no ExecCredential"),
            (r#"{"kind":"ExecCredential","apiVersion":"x/v1","status":{"token":"canary"}}"#, "x/v1"),
            (&format!(r#"{{"kind":"ExecCredential","apiVersion":"{V1}"}}"#), "no credentials"),
            (&format!(r#"{{"kind":"ExecCredential","apiVersion":"{V1}","status":{{}}}}"#), "neither"),
            (
                &format!(
                    r#"{{"kind":"ExecCredential","apiVersion":"{V1}","status":{{"clientKeyData":"canary"}}}}"#
                ),
                "half",
            ),
        ];
        for (output, expected) in rows {
            let error = at(output).unwrap_err();
            assert!(error.contains(expected) && !error.contains("canary"), "{error}");
        }
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_plugin_gets_its_input_and_its_failure_is_told() {
        let script = format!(
            r#"[ "$EXTRA" = e ] && case "$KUBERNETES_EXEC_INFO" in *'"server":"https://a"'*) ;; *) exit 9;; esac
            echo '{{"kind":"ExecCredential","apiVersion":"{V1}","status":{{"token":"'$1'"}}}}'"#
        );
        let mut exec = Exec {
            command: "sh".to_owned(),
            args: Some(["-c", &script, "sh", "from-args"].map(str::to_owned).to_vec()),
            provide_cluster_info: true,
            interactive_mode: Some("Never".to_owned()),
            ..Exec::default()
        };
        exec.env = Some(vec![serde_json::from_str(r#"{"name":"EXTRA","value":"e"}"#).unwrap()]);
        let cluster = serde_json::json!({ "server": "https://a" });
        let given = run(Box::new(exec.clone()), Some(cluster)).await.unwrap();
        assert_eq!(given.token.unwrap().expose(), "from-args");

        exec.args = Some(vec!["-c".to_owned(), "echo expired login >&2; exit 3".to_owned()]);
        let error = run(Box::new(exec.clone()), None).await.unwrap_err();
        assert!(error.starts_with("credential plugin sh failed (exit status: 3)"), "{error}");

        exec.command = "no-such-plugin-here".to_owned();
        exec.install_hint = Some("get it from example.com".to_owned());
        let error = run(Box::new(exec), None).await.unwrap_err();
        assert!(error.contains("could not be started") && error.contains("example.com"), "{error}");
    }
}

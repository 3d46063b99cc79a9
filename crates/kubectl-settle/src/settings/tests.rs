use super::*;
use crate::args::parse;

fn resolved<const N: usize>(line: &str, env: [(&str, &str); N]) -> Result<Settings, Failure> {
    let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
    let role = Role::of(words.first());
    resolve(parse(&words).expect("a valid command line"), role, &Variables::from(env))
}

fn apply<const N: usize>(line: &str, env: [(&str, &str); N]) -> Apply {
    match resolved(line, env).expect("meaningful").task {
        Task::Apply(apply) => *apply,
        other => panic!("{other:?}"),
    }
}

fn refused<const N: usize>(line: &str, env: [(&str, &str); N]) -> String {
    let failure = resolved(line, env).expect_err("should be refused");
    assert_eq!(failure.class().code(), 2);
    failure.to_string()
}

#[test]
fn the_defaults() {
    let settings = resolved("s apply -f x", []).expect("valid");
    assert_eq!(settings.view, View::default());
    let apply = apply("s apply -f x", []);
    assert!(apply.wait && !apply.force_conflicts && !apply.subject.skip_invalid);
    assert_eq!((apply.timeout, apply.object_timeout), (None, None));
    assert_eq!(apply.field_manager, "kubesettle");
    assert_eq!(apply.validate, Validate::Strict);
}

#[test]
fn a_flag_wins_over_the_environment_and_that_over_the_default() {
    let env = [
        ("KUBESETTLE_TIMEOUT", "5m"),
        ("KUBESETTLE_RETRY_FOR", "0"),
        ("KUBESETTLE_FIELD_MANAGER", "ci"),
        ("KUBESETTLE_WAIT", "false"),
        ("KUBESETTLE_VALIDATE", "warn"),
        ("KUBESETTLE_FORCE_CONFLICTS", "1"),
    ];
    let from_env = apply("s apply -f x", env);
    assert_eq!(from_env.timeout, Some(Duration::from_secs(300)));
    assert_eq!(from_env.retry_for, Some(Duration::ZERO));
    assert_eq!(apply("s apply -f x --retry-for=2m", env).retry_for, Some(Duration::from_secs(120)));
    assert_eq!(from_env.field_manager, "ci");
    assert_eq!(from_env.validate, Validate::Warn);
    assert!(!from_env.wait && from_env.force_conflicts);

    let line = "s apply -f x --timeout 0 --field-manager me --wait --validate=ignore --force-conflicts=false";
    let from_flags = apply(line, env);
    assert_eq!(from_flags.timeout, None);
    assert_eq!(from_flags.field_manager, "me");
    assert_eq!(from_flags.validate, Validate::Ignore);
    assert!(from_flags.wait && !from_flags.force_conflicts);
}

#[test]
fn an_empty_variable_counts_as_unset() {
    assert_eq!(apply("s apply -f x", [("KUBESETTLE_TIMEOUT", "")]).timeout, None);
}

#[test]
fn a_bad_variable_is_named_with_what_to_do() {
    let text = refused("s apply -f x", [("KUBESETTLE_TIMEOUT", "5 minutes")]);
    assert!(text.contains("KUBESETTLE_TIMEOUT is set to \"5 minutes\""), "{text}");
    assert!(text.contains("30s"), "{text}");
    let text = refused("s status -f x", [("KUBESETTLE_OUTPUT", "yaml")]);
    assert!(text.contains("plain, json, events"), "{text}");
}

#[test]
fn colours_follow_the_conventions() {
    let color = |line: &str, env: [(&str, &str); 2]| resolved(line, env).expect("valid").view.color;
    let none = ("", "");
    assert_eq!(color("s version", [none, none]), Color::Auto);
    assert_eq!(color("s version", [("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]), Color::Never);
    assert_eq!(color("s version", [("CLICOLOR_FORCE", "1"), ("TERM", "dumb")]), Color::Always);
    assert_eq!(color("s version", [("CLICOLOR_FORCE", "0"), ("TERM", "dumb")]), Color::Never);
    assert_eq!(color("s version --color always", [("NO_COLOR", "1"), none]), Color::Always);
    assert_eq!(color("s version", [("NO_COLOR", "1"), ("KUBESETTLE_COLOR", "always")]), Color::Always);
}

#[test]
fn input_is_files_a_folder_or_standard_input() {
    let input = |line: &str| apply(line, []).subject.input;
    let path = |name: &str, recursive| Input::Path { path: name.into(), recursive };
    assert_eq!(input("s apply -f a -f -"), [path("a", false), Input::Stdin { asked: true }]);
    assert_eq!(input("s apply -R -f a"), [path("a", true)]);
    assert_eq!(input("s apply dir"), [path("dir", true)]);
    assert_eq!(input("s apply"), [Input::Stdin { asked: false }]);
    assert!(refused("s apply -f - -", []).contains("twice"));
}

#[test]
fn an_address_is_refused_with_the_way_round() {
    let text = refused("s apply -f https://example.com/a.yaml", []);
    assert!(text.contains("curl -fsSL 'https://example.com/a.yaml' | kubectl settle apply -f -"), "{text}");
}

#[test]
fn client_side_apply_is_refused() {
    assert!(refused("s apply -f x --server-side=false", []).contains("--server-side=false"));
    assert!(refused("s apply -f x --field-manager=", []).contains("1 to 128"));
}

#[test]
fn status_ends_when_asked() {
    let until = |line: &str| match resolved(line, []).expect("valid").task {
        Task::Status(status) => status.until,
        other => panic!("{other:?}"),
    };
    assert_eq!(until("s status -f x"), Until::Known);
    assert_eq!(until("s status -f x --watch"), Until::Forever);
    assert_eq!(until("s status -f x --watch --until=settled"), Until::Settled);
    assert_eq!(until("s status x --poll-until current"), Until::Settled);
}

#[test]
fn every_connection_flag_arrives() {
    let line = "s apply -f x --kubeconfig k --context c --cluster l --user u -n n -s https://h --token t \
                --as a --as-group g1 --as-group g2 --as-uid i --certificate-authority ca \
                --client-certificate cc --client-key ck --insecure-skip-tls-verify --tls-server-name sn \
                --request-timeout 30 --proxy-url socks5://p --disable-compression";
    let options = apply(&line.split_whitespace().collect::<Vec<_>>().join(" "), []).subject.cluster;
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let path = |value: &Option<PathBuf>| value.clone().unwrap_or_default().display().to_string();
    assert_eq!(path(&options.kubeconfig), "k");
    assert_eq!(text(&options.context), "c");
    assert_eq!(text(&options.cluster), "l");
    assert_eq!(text(&options.user), "u");
    assert_eq!(text(&options.namespace), "n");
    assert_eq!(text(&options.server), "https://h");
    assert_eq!(text(&options.token), "t");
    assert_eq!(text(&options.as_user), "a");
    assert_eq!(options.as_groups, ["g1", "g2"]);
    assert_eq!(text(&options.as_uid), "i");
    assert_eq!(path(&options.certificate_authority), "ca");
    assert_eq!(path(&options.client_certificate), "cc");
    assert_eq!(path(&options.client_key), "ck");
    assert!(options.insecure_skip_tls_verify && options.disable_compression);
    assert_eq!(text(&options.tls_server_name), "sn");
    assert_eq!(options.request_timeout, Some(Duration::from_secs(30)));
    assert_eq!(text(&options.proxy_url), "socks5://p");
}

#[test]
fn a_watch_scope_is_meant_for_apply_destroy_and_status_alike() {
    for command in ["apply", "destroy", "status"] {
        let scope = |line: &str, env: &[(&str, &str)]| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let variables = match env {
                [pair] => Variables::from([*pair]),
                _ => Variables::default(),
            };
            match resolve(parse(&words).expect("valid"), Role::Settle, &variables).expect("valid").task {
                Task::Apply(apply) => apply.subject.scope,
                Task::Destroy(destroy) => destroy.subject.scope,
                Task::Status(status) => status.subject.scope,
                other => panic!("{other:?}"),
            }
        };
        let line = format!("s {command} -f x");
        assert_eq!(scope(&line, &[]), ScopeStrategy::Automatic);
        assert_eq!(scope(&format!("{line} --watch-scope cluster"), &[]), ScopeStrategy::Cluster);
        let env = [("KUBESETTLE_WATCH_SCOPE", "a")];
        assert!(scope(&line, &env).admits("a") && !scope(&line, &env).admits("b"));
    }
    assert!(refused("s apply -f x", [("KUBESETTLE_WATCH_SCOPE", "A")]).contains("KUBESETTLE_WATCH_SCOPE"));
}

#[test]
fn objects_may_be_named_instead_of_given() {
    let asked = |line: &str| match resolved(line, []).expect("valid").task {
        Task::Status(status) => {
            assert!(status.subject.asked.is_none() || status.subject.input.is_empty());
            status.subject.asked.map(|asked| asked.selection("here"))
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(asked("s status -f x"), None);
    assert_eq!(asked("s status src"), None, "a folder that is there");
    assert_eq!(asked("kapply status deploy"), None, "kapply takes folders only");
    let web = asked("s status deploy/web svc/web").expect("objects");
    assert_eq!((web.named.len(), web.namespace.as_deref()), (2, Some("here")));
    let all = asked("s status deploy,svc -A -l app=web").expect("objects");
    assert_eq!((all.named.len(), all.namespace, all.selector.as_deref()), (2, None, Some("app=web")));
    for (line, why) in [
        ("s status deploy/web -A", "all namespaces"),
        ("s status deploy web -l app=web", "labels"),
        ("s status deploy -f x", "-f"),
        ("s status -l app=web -f x", "no kind"),
        ("s status deploy/web db", "slash"),
    ] {
        assert!(refused(line, []).contains(why), "{line}");
    }
}

#[test]
fn a_kustomization_is_input_of_every_command_that_reads_objects() {
    let input = |task| match task {
        Task::Apply(apply) => apply.subject.input,
        Task::Destroy(destroy) => destroy.subject.input,
        Task::Status(status) => status.subject.input,
        Task::Local(local) => local.input,
        Task::Diff(diff) => diff.subject.input,
        other => panic!("{other:?}"),
    };
    for command in ["apply", "plan", "plan --destroy", "diff", "destroy", "status", "status --local"] {
        let task = resolved(&format!("s {command} -k over/lay"), []).expect("valid").task;
        assert_eq!(input(task), [Input::Kustomization("over/lay".into())], "{command}");
        for other in ["-f x", "-R", "dir"] {
            let line = format!("s {command} -k over/lay {other}");
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert!(parse(&words).is_err(), "{line}");
        }
    }
}

#[test]
fn labels_narrow_the_input_where_nothing_is_lost_by_it() {
    let pick = |line: &str| match resolved(line, []).expect("valid").task {
        Task::Apply(apply) => apply.subject.pick,
        Task::Destroy(destroy) => destroy.subject.pick,
        Task::Diff(diff) => diff.subject.pick,
        other => panic!("{other:?}"),
    };
    for line in [
        "s apply -f x -l a=b",
        "s plan -f x -l a=b",
        "s plan --destroy -f x -l a=b",
        "s destroy -f x --selector a=b",
        "s diff -f x -l a=b --set shop",
        "s apply -f x -l a=b --set shop --no-prune",
    ] {
        assert_eq!(pick(line).map(|selector| selector.to_string()).as_deref(), Some("a=b"), "{line}");
    }
    for (line, why) in [
        ("s apply -f x -l a=b --set shop", "--no-prune"),
        ("s apply -f x -l a=b --applyset shop", "would be pruned"),
        ("s plan -f x -l a=b --set shop", "would be pruned"),
        ("s destroy -f x -l a=b --set shop", "whatever its labels"),
        ("s apply -f x -l a=b=c", "no value of a label"),
        ("s apply -f x --selector=", "a label is missing"),
    ] {
        assert!(refused(line, []).contains(why), "{line}: {}", refused(line, []));
    }
}

#[test]
fn what_becomes_of_what_is_owned_is_said_in_kubectls_words_and_in_kapplys() {
    let cascade = |line: &str, env: [(&str, &str); 1]| match resolved(line, env).expect("valid").task {
        Task::Apply(apply) => apply.cascade,
        Task::Destroy(destroy) => destroy.cascade,
        other => panic!("{other:?}"),
    };
    let none = [("", "")];
    for command in ["apply", "destroy", "plan", "plan --destroy"] {
        for (flag, expected) in [
            ("", Cascade::Background),
            (" --cascade", Cascade::Background),
            (" --cascade=background", Cascade::Background),
            (" --cascade=orphan", Cascade::Orphan),
            (" --cascade=foreground", Cascade::Foreground),
            (" --cascade=true", Cascade::Background),
            (" --cascade=false", Cascade::Orphan),
        ] {
            assert_eq!(cascade(&format!("s {command} -f x{flag}"), none), expected, "{command}{flag}");
        }
        let env = [("KUBESETTLE_CASCADE", "orphan")];
        assert_eq!(cascade(&format!("s {command} -f x"), env), Cascade::Orphan);
        assert_eq!(cascade(&format!("s {command} -f x --cascade"), env), Cascade::Background);
    }
    for line in [
        "kapply apply x --prune-propagation-policy Foreground",
        "kapply apply x --prune-propagation-policy=Foreground",
        "kapply destroy x --delete-propagation-policy Foreground",
        "kapply destroy x --delete-propagation-policy=Foreground",
    ] {
        assert_eq!(cascade(line, none), Cascade::Foreground, "{line}");
    }
}

#[test]
fn a_look_is_narrowed_in_kapplys_words() {
    use kstatus::Status::{Current, Failed};
    let status = |line: &str| match resolved(line, []).expect("valid").task {
        Task::Status(status) => *status,
        other => panic!("{other:?}"),
    };
    for program in ["s", "kapply"] {
        let look = status(&format!("{program} status dir --namespaces a,b --statuses failed,Current"));
        assert_eq!(
            look.only,
            Only { namespaces: vec!["a".into(), "b".into()], statuses: vec![Failed, Current] }
        );
        for flag in ["--inv-names", "--inventory-names"] {
            let look = status(&format!("{program} status --inv-type remote {flag} shop"));
            assert_eq!(look.subject.set.name.as_deref(), Some("shop"));
            assert!(look.subject.input.is_empty(), "the set suffices");
        }
        assert_eq!(status(&format!("{program} status dir --inv-type=local")).subject.set.name, None);
        for (flags, why) in [
            ("--inv-type=remote", "every set"),
            ("--inv-type=remote --inv-names a,b", "several sets"),
            ("--inv-names a", "without --inv-type=remote"),
        ] {
            assert!(refused(&format!("{program} status {flags}"), []).contains(why), "{flags}");
        }
        for until in ["known", "current", "deleted", "forever"] {
            status(&format!("{program} status dir --poll-until={until}"));
        }
        for form in ["events", "table", "json"] {
            status(&format!("{program} status dir --output={form}"));
        }
        for wrong in ["--poll-until=soon", "--output=yaml", "--statuses=fine", "--inv-type=far"] {
            let line = format!("{program} status dir {wrong}");
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let error = parse(&words).expect_err("refused").to_string();
            let value = wrong.split_once('=').map_or("", |(_, value)| value);
            assert!(error.contains(value), "{error}");
        }
    }
}

#[test]
fn a_namespace_narrows_what_is_judged_of_a_dump() {
    let only = |line: &str| match resolved(line, []).expect("valid").task {
        Task::Local(local) => local.only,
        other => panic!("{other:?}"),
    };
    assert!(only("s status --local -f x").is_all());
    assert_eq!(only("s status --local -f x -n a").namespaces, ["a"]);
    assert_eq!(only("s status --local -f x -n a --namespaces b").namespaces, ["b", "a"]);
}

#[test]
fn every_variable_of_the_help_is_heeded() {
    let help = args::definition(None).render_long_help().to_string();
    let variables: Vec<&str> = help
        .split(|c: char| !c.is_ascii_uppercase() && c != '_')
        .filter(|word| word.starts_with("KUBESETTLE_"))
        .collect();
    assert_eq!(variables.len(), 18, "{variables:?}");
    for variable in variables {
        let env = [(variable, "\u{1}")];
        let heeded = ["s apply -f x", "s destroy -f x"].iter().any(|line| resolved(line, env).is_err());
        assert!(heeded, "{variable} is named in the help and read nowhere");
    }
}

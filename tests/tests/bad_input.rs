//! Input that cannot be used: told with its place, before anything but discovery is asked for.

use std::os::unix::fs::{PermissionsExt, symlink};

use e2e::{Folder, World};
use harness::{Finished, shared};

tests![
    every_broken_file_is_refused_with_its_place,
    every_broken_place_is_refused,
    every_broken_set_is_refused_with_all_places,
    too_much_on_standard_input_is_refused_before_it_is_read_whole,
    standard_input_is_read_once,
];

/// A ConfigMap whose last lines are given.
fn map(rest: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n{rest}")
}

/// An object with an annotation; its value is given as JSON.
fn noted(key: &str, value: &str) -> String {
    map(&format!("  annotations:\n    {key}: {value}\n"))
}

const MUTATION: &str = "config.kubernetes.io/apply-time-mutation";
const DEPENDS: &str = "config.kubernetes.io/depends-on";

/// A mutation with this in place of its fields.
fn mutation(fields: &str) -> String {
    noted(MUTATION, &format!("'[{{{fields}}}]'"))
}

fn deep(levels: usize) -> String {
    map(&format!("data: {}x{}\n", "[".repeat(levels), "]".repeat(levels)))
}

fn stairs(levels: usize) -> String {
    let lines = (0..levels).map(|at| format!("{}k:\n", " ".repeat(at + 1)));
    map(&format!("spec:\n{}", lines.collect::<String>()))
}

fn bomb() -> String {
    let mut text = map("data:\n  a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for at in 1..12 {
        let alias = format!("*a{}", at - 1);
        text += &format!("  a{at}: &a{at} [{}]\n", [&*alias; 9].join(", "));
    }
    text
}

fn utf16(text: &str, little: bool) -> Vec<u8> {
    let mark = std::iter::once(0xfeff_u16);
    let units = mark.chain(text.encode_utf16());
    units.flat_map(|unit| if little { unit.to_le_bytes() } else { unit.to_be_bytes() }).collect()
}

/// A name, what is in the file, its line in the error (0: the file as a whole), and a word of the error.
type Case = (&'static str, Vec<u8>, u32, &'static str);

fn case(name: &'static str, text: impl Into<Vec<u8>>, line: u32, word: &'static str) -> Case {
    (name, text.into(), line, word)
}

fn syntax() -> Vec<Case> {
    vec![
        case("unclosed-quote", map("data:\n  a: \"x\n"), 6, "YAML"),
        case("unclosed-bracket", map("data: [a, b\n"), 5, "YAML"),
        case("tab-indent", map("data:\n\ta: b\n"), 6, "YAML"),
        case("bad-indent", "apiVersion: v1\n kind: ConfigMap\n", 2, "YAML"),
        case("two-values", "a: b: c\n", 1, "YAML"),
        case("colon-missing", map("data:\n  a\n  b: c\n"), 7, "YAML"),
        case("unknown-alias", map("data:\n  a: *nothing\n"), 6, "alias"),
        case("alias-in-itself", map("data: &a\n  a: *a\n"), 6, "alias"),
        case("alias-bomb", bomb(), 11, "unfold"),
        case("merge-of-text", map("data:\n  <<: text\n"), 6, "merge"),
        case("bad-escape", map("data:\n  a: \"\\q\"\n"), 6, "YAML"),
        case("reserved-sign", map("data:\n  a: @b\n"), 6, "YAML"),
        case("percent-sign", map("data:\n  a: %b\n"), 6, "YAML"),
        case("two-keys", map("data:\n  a: b\n  a: c\n"), 7, "twice"),
        case("two-keys-deep", map("spec:\n  a:\n  - b: 1\n    b: 2\n"), 8, "twice"),
        case("two-kinds", "apiVersion: v1\nkind: A\nkind: B\n", 3, "twice"),
        case("json-two-keys", "{\"apiVersion\":\"v1\",\n\"kind\":\"A\",\"kind\":\"B\"}", 2, "twice"),
        case(
            "json-value-missing",
            "{\"apiVersion\":\"v1\",
\"kind\":}",
            1,
            "kind",
        ),
        case("json-cut", "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\n\"metadata\":{", 2, "JSON"),
        case(
            "json-rest",
            format!("{}\n]", "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}"),
            2,
            "JSON",
        ),
        case("binary-tag", map("data:\n  a: !!binary \"%%%\"\n"), 6, "base64"),
        case("nan", map("data:\n  a: .nan\n"), 6, "number"),
        case("infinity", map("data:\n  a: .inf\n"), 6, "number"),
        case("deep-flow", deep(200), 5, "nested deeper"),
        case("deep-block", stairs(300), 0, "nested deeper"),
        case("deep-json", format!("{{\"a\":{}1{}}}", "[".repeat(5_000), "]".repeat(5_000)), 1, "JSON"),
        case("carriage-returns", map("data:\n  a: [b\n").replace('\n', "\r\n"), 6, "YAML"),
        case("byte-order-mark", format!("\u{feff}{}", map("data: [\n")), 5, "YAML"),
        case("utf-16-le", utf16(&map(""), true), 0, "UTF-16"),
        case("utf-16-be", utf16(&map(""), false), 0, "UTF-16"),
        case("latin-1", [map("data:\n  a: ").as_bytes(), b"caf\xe9\n"].concat(), 6, "UTF-8"),
        case("zero-byte", [map("data:\n  a: ").as_bytes(), b"x\0y\n"].concat(), 0, "binary"),
        case("an-elf", b"\x7fELF\x02\x01\x01\0\0\xff\xfe".to_vec(), 0, "binary"),
    ]
}

fn shapes() -> Vec<Case> {
    vec![
        case("a-number", "42\n", 1, "object"),
        case("a-text", "hello\n", 1, "object"),
        case("a-list", "- a\n- b\n", 1, "object"),
        case("html", "<!DOCTYPE html>\n<html></html>\n", 1, ""),
        case("a-template", "apiVersion: v1\nkind: {{ .Values.kind }}\nmetadata: {name: a}\n", 2, ""),
        case("empty-braces", "{}\n", 1, "apiVersion"),
        case("no-version", "kind: ConfigMap\nmetadata: {name: a}\n", 1, "apiVersion"),
        case("no-kind", "apiVersion: v1\nmetadata: {name: a}\n", 1, "kind"),
        case("no-name", "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n", 1, "name"),
        case("no-metadata", "apiVersion: v1\nkind: ConfigMap\n", 1, "name"),
        case("empty-name", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"\"}\n", 1, "name"),
        case("name-is-a-number", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 7}\n", 3, "name"),
        case("name-is-null", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: null}\n", 1, "name"),
        case("name-with-slash", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a/b}\n", 3, "name"),
        case("version-is-a-number", "apiVersion: 1\nkind: ConfigMap\nmetadata: {name: a}\n", 1, "apiVersion"),
        case("version-with-slashes", "apiVersion: a/b/c\nkind: A\nmetadata: {name: a}\n", 1, "apiVersion"),
        case("kind-is-a-list", "apiVersion: v1\nkind: [A]\nmetadata: {name: a}\n", 2, "kind"),
        case("metadata-is-a-text", "apiVersion: v1\nkind: ConfigMap\nmetadata: a\n", 3, "metadata"),
        case("labels-are-a-list", map("  labels: [a]\n"), 5, "labels"),
        case("a-label-is-a-number", map("  labels:\n    a: 1\n"), 6, "labels"),
        case("annotations-are-a-text", map("  annotations: a\n"), 5, "annotations"),
        case("an-annotation-is-a-boolean", map("  annotations:\n    a: true\n"), 6, "annotations"),
        case(
            "generated-name",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a-}\n",
            3,
            "generateName",
        ),
        case("namespace-is-a-number", map("  namespace: 7\n"), 5, "namespace"),
        case("list-without-items", "apiVersion: v1\nkind: List\n", 1, "items"),
        case("items-is-a-map", "apiVersion: v1\nkind: List\nitems: {a: b}\n", 1, "items"),
        case("an-item-is-a-number", "apiVersion: v1\nkind: List\nitems: [3]\n", 3, "object"),
        case(
            "lists-in-lists",
            format!("{}{}", "{\"kind\":\"List\",\"items\":[".repeat(20), "]}".repeat(20)),
            1,
            "nested",
        ),
        case("unknown-kind", "apiVersion: v1\nkind: ConfgMap\nmetadata: {name: a}\n", 1, "ConfigMap"),
        case("unknown-group", "apiVersion: app/v1\nkind: Deployment\nmetadata: {name: a}\n", 1, "apps/v1"),
        case("only-comments", "# nothing\n---\n# here\n", 0, "no objects"),
        case("nothing", "", 0, "no objects"),
    ]
}

fn annotations() -> Vec<Case> {
    let reference = "\"sourceRef\":{\"kind\":\"ConfigMap\",\"name\":\"b\"}";
    vec![
        case("depends-on-nonsense", noted(DEPENDS, "nonsense"), 6, "depends-on"),
        case("depends-on-too-many-parts", noted(DEPENDS, "a/b/c/d/e/f"), 6, "depends-on"),
        case("depends-on-itself", noted(DEPENDS, "/namespaces/NAMESPACE/ConfigMap/a"), 1, "dependency cycle"),
        case("depends-on-twice", noted(DEPENDS, "\"/Namespace/x,/Namespace/x\""), 6, "depends-on"),
        case("mutation-is-no-list", noted(MUTATION, "'{\"a\": 1}'"), 6, "apply-time-mutation"),
        case("mutation-is-no-yaml", noted(MUTATION, "'[{'"), 6, "apply-time-mutation"),
        case(
            "mutation-without-source",
            mutation("\"sourcePath\":\"$.a\",\"targetPath\":\"$.b\""),
            6,
            "apply-time-mutation",
        ),
        case(
            "mutation-source-path",
            mutation(&format!("{reference},\"sourcePath\":\"$.a[\",\"targetPath\":\"$.b\"")),
            6,
            "apply-time-mutation",
        ),
        case(
            "mutation-target-path",
            mutation(&format!("{reference},\"sourcePath\":\"$.a\",\"targetPath\":\"$..[?(\"")),
            6,
            "apply-time-mutation",
        ),
        case(
            "mutation-without-target",
            mutation(&format!("{reference},\"sourcePath\":\"$.a\"")),
            6,
            "apply-time-mutation",
        ),
    ]
}

/// What is wrong with a refusal: it has to end with code 2, to say all of this, and not to panic.
fn refused(name: &str, done: &Finished, words: &[&str]) -> Option<String> {
    let mut wrong = Vec::new();
    if done.code != Some(2) {
        wrong.push(format!("code {:?}", done.code));
    }
    wrong
        .extend(words.iter().filter(|word| !done.stderr.contains(**word)).map(|word| format!("no {word:?}")));
    if done.stderr.contains("panicked") || done.stderr.contains("internal error") {
        wrong.push(String::from("a panic"));
    }
    (!wrong.is_empty()).then(|| format!("{name}: {}\n{}", wrong.join(", "), done.stderr))
}

/// Nothing but discovery was asked for.
#[track_caller]
fn asked_for_nothing(world: &World) {
    let asked = world.requests().filter(|request| !request.resource.is_empty());
    assert_eq!(asked.count(), 0, "{asked}");
}

fn every_broken_file_is_refused_with_its_place() {
    let (world, folder) = (World::new("broken"), Folder::new(shared()));
    let cases: Vec<Case> = [syntax(), shapes(), annotations()].into_iter().flatten().collect();
    assert!(cases.len() >= 70, "{}", cases.len());
    let mut wrong = Vec::new();
    for (name, text, line, word) in cases {
        let path = folder.path().join(format!("{name}.yaml"));
        let text = String::from_utf8(text).map_or_else(
            |error| error.into_bytes(),
            |text| text.replace("NAMESPACE", world.name()).into_bytes(),
        );
        std::fs::write(&path, text).unwrap();
        // A good object beside it is not written either.
        let good = folder.write("good.yaml", &e2e::manifests::config_map("good").to_string());
        let words = ["apply", "-f", path.to_str().unwrap(), "-f", good.to_str().unwrap()];
        // Nothing at all is only wrong without anything else.
        let words = if word == "no objects" { &words[..3] } else { &words[..] };
        let done = world.settle(words).run();
        let place = match line {
            0 => format!("{name}.yaml"),
            line => format!("{name}.yaml:{line}"),
        };
        let place = if word == "no objects" { String::new() } else { place };
        wrong.extend(refused(name, &done, &[&place, word]));
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    asked_for_nothing(&world);
}

fn every_broken_place_is_refused() {
    let (world, folder) = (World::new("place"), Folder::new(shared()));
    let at = |name: &str| folder.path().join(name);
    let good = e2e::manifests::config_map("good").to_string();
    folder.write("good/good.yaml", &good);
    symlink(at("loop.yaml"), at("loop.yaml")).unwrap();
    symlink(at("nowhere"), at("dangling.yaml")).unwrap();
    std::fs::create_dir(at("folder.yaml")).unwrap();
    std::fs::create_dir(at("pipes")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(at("pipes/fifo.yaml")).status().unwrap();
    assert!(made.success());
    let cases = [
        ("loop.yaml", "cannot be read"),
        ("dangling.yaml", "cannot be read"),
        ("missing.yaml", "cannot be read"),
        ("good/good.yaml/x", "cannot be read"),
        ("folder.yaml", "no objects"),
        ("pipes", "fifo.yaml"),
        ("https://example.com/x.yaml", "addresses are not fetched"),
        ("", "an empty name"),
    ];
    let mut wrong = Vec::new();
    for (name, word) in cases {
        let path = if name.contains("//") || name.is_empty() {
            name.to_owned()
        } else {
            at(name).display().to_string()
        };
        let done = world.settle(&["apply", "-f", &path]).run();
        wrong.extend(refused(name, &done, &[word]));
    }
    // Whoever may read everything reads this too.
    let secret = folder.write("secret.yaml", &good);
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&secret).is_err() {
        let done = world.settle(&["apply", "-f", secret.to_str().unwrap()]).run();
        wrong.extend(refused("secret.yaml", &done, &["secret.yaml", "cannot be read"]));
    }
    asked_for_nothing(&world);
    // Two loops of folders are no trouble: links to folders are not followed.
    symlink(at("good"), at("good/again")).unwrap();
    let done = world.settle(&["plan", "-R", "-f", at("good").to_str().unwrap()]).run();
    done.exits_with(0);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn every_broken_set_is_refused_with_all_places() {
    let (world, folder) = (World::new("set"), Folder::new(shared()));
    let named = |name: &str, on: &str| {
        let object = e2e::manifests::config_map(name);
        let on = format!("/namespaces/{}/ConfigMap/{on}", world.name());
        e2e::manifests::depending(object, &on).to_string()
    };
    let plain = |name: &str| e2e::manifests::config_map(name).to_string();
    let elsewhere = e2e::manifests::within(e2e::manifests::config_map("a"), "elsewhere").to_string();
    let cases: [(&str, Vec<String>, &[&str]); 4] = [
        ("cycle", vec![named("a", "b"), named("b", "c"), named("c", "a")], &["a.yaml", "b.yaml", "c.yaml"]),
        ("twice", vec![plain("a"), plain("b"), plain("a")], &["a.yaml", "c.yaml"]),
        ("namespaces", vec![plain("x"), elsewhere], &["b.yaml:1", "elsewhere"]),
        (
            "many",
            vec![String::from("a: [\n"), String::from("42"), String::from("kind: X")],
            &["a.yaml", "b.yaml", "c.yaml"],
        ),
    ];
    let mut wrong = Vec::new();
    for (name, texts, words) in cases {
        for (text, file) in texts.iter().zip(["a", "b", "c"]) {
            folder.write(&format!("{name}/{file}.yaml"), text);
        }
        let done = world.settle(&["apply", "-f", folder.path().join(name).to_str().unwrap()]).run();
        wrong.extend(refused(name, &done, words));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    asked_for_nothing(&world);
}

fn too_much_on_standard_input_is_refused_before_it_is_read_whole() {
    let world = World::new("much");
    let folder = Folder::new(shared());
    // A gigabyte, if it were read.
    let script = folder.script(
        "much.sh",
        &format!(
            "head -c 1000000000 /dev/zero | tr '\\0' '#' | {} apply -n {} -f -\n",
            e2e::binary().display(),
            world.name()
        ),
    );
    let mut command = shared().command(&script);
    command.env("KUBECONFIG", world.user.kubeconfig());
    let done = harness::run(command, e2e::LIMIT);
    assert_eq!(refused("much", &done, &["stdin", "256 MiB"]), None);
    assert!(done.peak < 700 << 20, "{} bytes", done.peak);
}

fn standard_input_is_read_once() {
    let world = World::new("twice");
    let done = world.settle(&["apply", "-f", "-", "-f", "-"]).run();
    assert_eq!(refused("twice", &done, &["standard input (-) is given twice"]), None);
    let done = world.settle(&["apply"]).run();
    assert_eq!(refused("empty", &done, &["no objects"]), None);
}

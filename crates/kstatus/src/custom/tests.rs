use super::*;
use crate::{Facts, History, Policy, Rulebook, Surroundings, Timestamp, Verdict, assess};

const UP: &str = r#"{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "generation": 2},
    "spec": {"size": 3}, "status": {"observedGeneration": 2, "mood": "Cheerful", "size": 3, "note": "all is well"}}"#;

fn rule<'a>(current: &'a str, failed: Option<&'a str>, message: Option<&'a str>) -> RuleText<'a> {
    RuleText {
        group: "example.com",
        kind: "Widget",
        current,
        failed,
        message,
        ignores_generation: false,
        place: "rules.yaml:3",
    }
}

fn judged(text: &RuleText<'_>, json: &str) -> Verdict {
    let rule = CustomRule::new(text).unwrap();
    let book = Rulebook::default().with_rules([rule]);
    let (facts, policy) = (Facts::default(), Policy::default());
    let now = Timestamp::from_seconds(1_790_000_000);
    let around = Surroundings { children: &[], events: &[], facts: &facts, now, policy: &policy };
    assess(&book.digest(json.as_bytes()).unwrap(), &around, &mut History::default())
}

fn status(current: &str, failed: Option<&str>) -> Status {
    judged(&rule(current, failed, None), UP).status
}

#[test]
fn a_rule_says_current_failed_or_neither() {
    assert_eq!(status("{.status.mood}=Cheerful", None), Status::Current);
    assert_eq!(status("{.status.mood}=Gloomy", None), Status::InProgress);
    assert_eq!(status("{.status.mood}!=Gloomy", None), Status::Current);
    assert_eq!(status("{.status.absent}!=Gloomy", None), Status::InProgress, "nothing is not unequal");
    assert_eq!(status("{.status.size}={.spec.size}", None), Status::Current);
    assert_eq!(status("{.status.mood}", None), Status::Current);
    assert_eq!(status("{.status.mood}", Some("{.status.mood}=Cheerful")), Status::Failed, "failed wins");
}

#[test]
fn the_message_is_the_rules_or_ours() {
    let said = judged(&rule("{.status.mood}", None, Some("{.status.note}")), UP);
    assert_eq!((said.message.as_str(), said.reason.as_str()), ("all is well", "RuleCurrent"));
    let ours = judged(&rule("{.status.mood}=x", None, Some("{.status.absent}")), UP);
    assert_eq!(ours.message, "Not current yet by the rule at rules.yaml:3");
}

#[test]
fn deletion_and_generation_come_before_the_rule() {
    let text = rule("{.status.mood}", None, None);
    let gone =
        UP.replace("\"generation\"", "\"deletionTimestamp\": \"2025-01-01T00:00:00Z\", \"generation\"");
    assert_eq!(judged(&text, &gone).status, Status::Terminating);
    let stale = UP.replace("\"generation\": 2", "\"generation\": 3");
    assert_eq!(judged(&text, &stale).reason.as_str(), "LatestGenerationNotObserved");
    let ignoring = RuleText { ignores_generation: true, ..text };
    assert_eq!(judged(&ignoring, &stale).status, Status::Current);
}

#[test]
fn the_first_rule_for_a_kind_wins() {
    let of = |kind, current| CustomRule::new(&RuleText { kind, ..rule(current, None, None) }).unwrap();
    let digest = |rules: Vec<CustomRule>| {
        Rulebook::default().with_rules(rules).digest(UP.as_bytes()).unwrap().own_status()
    };
    let (yes, no) = ("{.status.mood}", "{.status.nothing}");
    assert_eq!(digest(vec![of("Widget", yes), of("Widget", no)]), Status::Current);
    assert_eq!(digest(vec![of("Gadget", yes), of("*", no), of("Widget", yes)]), Status::InProgress);
}

#[test]
fn built_in_kinds_and_those_of_the_table_take_rules_as_well() {
    for (group, kind, version) in [
        ("", "ConfigMap", "v1"),
        ("apps", "Deployment", "apps/v1"),
        ("cert-manager.io", "Certificate", "cert-manager.io/v1"),
    ] {
        let text = RuleText { group, kind, ..rule("{.data.ready}=yes", None, None) };
        let json = format!(r#"{{"apiVersion": "{version}", "kind": "{kind}", "data": {{"ready": "no"}}}}"#);
        assert_eq!(judged(&text, &json).reason.as_str(), "RuleInProgress", "{kind}");
        let book = Rulebook::default().with_rules([CustomRule::new(&text).unwrap()]);
        assert!(!book.metadata_suffices(&Kind::new(version, kind)), "{kind}");
    }
}

#[test]
fn an_expression_that_cannot_be_read_names_its_field() {
    let field = |text: &RuleText<'_>| CustomRule::new(text).unwrap_err().field;
    assert_eq!(field(&rule("{.a", None, None)), "current");
    assert_eq!(field(&rule("{.a}", Some("{.a} ~ b"), None)), "failed");
    assert_eq!(field(&rule("{.a}", None, Some(" "))), "message");
    assert_eq!(field(&RuleText { kind: "", ..rule("{.a}", None, None) }), "kind");
    assert_eq!(field(&rule(&"x".repeat(20_000), None, None)), "current");
}

#[cfg(not(feature = "cel"))]
#[test]
fn without_cel_an_expression_without_braces_is_refused() {
    let error = CustomRule::new(&rule("object.a == 1", None, None)).unwrap_err();
    assert!(error.message.contains("without CEL"), "{error}");
}

#[cfg(feature = "cel")]
mod with_cel {
    use super::*;
    use crate::CauseCode;

    #[test]
    fn cel_sees_the_object() {
        assert_eq!(status("object.status.mood == 'Cheerful'", None), Status::Current);
        assert_eq!(status("has(object.status.gone) && object.status.gone", None), Status::InProgress);
        assert_eq!(
            status("object.status.size >= self.spec.size", Some("object.status.size > 99")),
            Status::Current
        );
        let message = "'mood: ' + object.status.mood";
        assert_eq!(judged(&rule("true", None, Some(message)), UP).message, "mood: Cheerful");
    }

    #[test]
    fn an_expression_that_fails_is_told_and_the_tables_judge() {
        let secret = r#"{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"},
            "status": {"conditions": [{"type": "Ready", "status": "False", "message": "not yet"}], "token": "hunter2"}}"#;
        for (current, part) in [
            ("object.status.mood == 'x'", "no such key: mood"),
            ("object.status.token", "gives a string and not true or false"),
            ("unknown", "unknown is not known"),
            ("object.status.token * 2 == 4", "types that do not go together"),
        ] {
            let verdict = judged(&rule(current, None, None), secret);
            assert_eq!(
                (verdict.status, verdict.reason.as_str()),
                (Status::InProgress, "NotReady"),
                "{current}"
            );
            assert_eq!(verdict.causes[0].code, CauseCode::RuleError);
            assert!(
                verdict.message.contains("rules.yaml:3, current") && verdict.message.contains(part),
                "{}",
                verdict.message
            );
            assert!(!verdict.message.contains("hunter2"));
        }
        let settled = judged(&rule("object.status.lost", None, None), UP);
        assert_eq!((settled.status, settled.causes.len()), (Status::Current, 1), "also beside Current");
        let message = judged(&rule("true", None, Some("object.lost")), UP);
        assert_eq!((message.status, message.causes.len()), (Status::Current, 1));
    }

    #[test]
    fn cel_that_cannot_be_compiled_says_where() {
        let error = CustomRule::new(&rule("object.status ==", None, None)).unwrap_err();
        assert!(error.message.starts_with("CEL at 1:"), "{error}");
        assert!(!error.message.contains('\n'));
    }
}

use super::RequestResponse;

fn told(more: &str) -> Vec<(String, String)> {
    let text = format!(r#"{{"pairs": {{"kind": "to-first"}}, "duration": "1s"{more}}}"#);
    let asking: RequestResponse = serde_json::from_str(&text).expect("a workload");
    let found = asking.findings().into_iter();
    found.map(|f| (f.path, f.reason)).collect()
}

#[test]
fn when_it_asks_is_said_in_one_way() {
    for good in [
        "",
        r#", "every": "1ms""#,
        r#", "every": "1ms", "gaps": "exponential""#,
        r#", "outstanding": 4, "think": "1ms""#,
    ] {
        assert_eq!(told(good), [], "{good}");
    }
    for (bad, path, reason) in [
        (
            r#", "gaps": "exponential""#,
            "gaps",
            "when it has been answered",
        ),
        (
            r#", "every": "1ms", "outstanding": 2"#,
            "outstanding",
            "do not wait for answers",
        ),
        (
            r#", "every": "1ms", "think": "1us""#,
            "think",
            "do not wait for answers",
        ),
        (r#", "every": "0s""#, "every", "in nanoseconds at the least"),
        (
            r#", "every": "10ns""#,
            "every",
            "more than 10000000 requests",
        ),
        (
            r#", "omit": "1000s", "every": "100us""#,
            "every",
            "more than",
        ),
    ] {
        let found = told(bad);
        assert_eq!(found.len(), 1, "{bad}: {found:?}");
        assert_eq!(found[0].0, path, "{bad}");
        assert!(found[0].1.contains(reason), "{bad}: {}", found[0].1);
    }
}

#[test]
fn sizes_are_said_in_one_way() {
    for good in [
        r#", "response_sizes": {"kind": "web-search"}"#,
        r#", "request_sizes": {"kind": "fixed", "bytes": "9kB"}, "response": "2kB""#,
    ] {
        assert_eq!(told(good), [], "{good}");
    }
    for (bad, path, reason) in [
        (
            r#", "response": "2kB", "response_sizes": {"kind": "web-search"}"#,
            "response",
            "response_sizes says",
        ),
        (
            r#", "request_sizes": {"kind": "fixed", "bytes": "0B"}"#,
            "request_sizes.bytes",
            "no bytes to send",
        ),
        (
            r#", "response_sizes": {"kind": "points", "points": [{"bytes": "9kB", "share": 1.0}]}"#,
            "response_sizes.points",
            "fewer than two points",
        ),
    ] {
        let found = told(bad);
        assert_eq!(found.len(), 1, "{bad}: {found:?}");
        assert_eq!(found[0].0, path, "{bad}");
        assert!(found[0].1.contains(reason), "{bad}: {}", found[0].1);
    }
}

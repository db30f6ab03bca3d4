use super::{Duration, Time};

#[test]
fn texts_are_read_exactly_and_written_back() {
    for (text, ps) in [
        ("500ns", 500_000),
        ("1.5us", 1_500_000),
        ("201ms", 201_000_000_000),
        ("2h", 7_200_000_000_000_000),
    ] {
        let span: Duration = text.parse().unwrap();
        assert_eq!(span.as_ps(), ps, "{text}");
    }
    assert_eq!(Duration::from_ms(201).to_string(), "201ms");
    assert_eq!(Duration::ZERO.to_string(), "0s");
    assert_eq!("1500us".parse::<Duration>().unwrap().to_string(), "1500us");
}

#[test]
fn errors_name_the_reason() {
    for (text, reason) in [
        ("5", "unit is missing"),
        ("-5ns", "negative"),
        ("5parsec", "not a unit"),
        ("0.5ps", "finer"),
        ("5MS", "\"ms\""),
    ] {
        let error = text.parse::<Duration>().unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn never_is_never_passed() {
    assert_eq!(Time::NEVER + Duration::from_secs(1), Time::NEVER);
    assert_eq!(Time::from_ps(5).since(Time::from_ps(9)), Duration::ZERO);
}

use tailback_units::Time;

use super::FlowTable;

fn parsed(text: &str) -> Result<FlowTable, String> {
    text.parse()
}

#[test]
fn lines_are_flows_whatever_parts_their_columns() {
    let by_commas = "\u{feff}start_us, bytes, source,destination,priority\r\n# remark\r\n\r\n1.5, 2e4, a, b, 7\n0,1,b,3, # the end\n";
    let table = parsed(by_commas).expect("flows");
    let rows = table.rows();
    assert_eq!(table.names(), ["a", "b", "3"]);
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[0].line, rows[1].line), (4, 5));
    assert_eq!(rows[0].start, Time::from_ps(1_500_000));
    assert_eq!((rows[0].source, rows[0].destination), (0, 1));
    assert_eq!((rows[1].source, rows[1].destination), (1, 2));
    assert_eq!((rows[0].bytes, rows[0].priority), (20_000, 7));
    assert_eq!((rows[1].bytes, rows[1].priority), (1, 0));
    let by_blanks =
        "start_s\tsource destination  bytes congestion\n2.000000001 0 1 9 -\n 3 0 1 9 bbr";
    let table = parsed(by_blanks).expect("flows");
    assert_eq!(table.rows()[0].start, Time::from_ps(2_000_000_001_000));
    assert_eq!(table.rows()[0].congestion, None);
    assert_eq!(
        table.rows()[1]
            .congestion
            .map(|c| c.name().to_owned())
            .as_deref(),
        Some("bbr")
    );
    assert_eq!(table.controls().len(), 1);
    // What was read is what results hold.
    assert_eq!(String::from(table), by_blanks);
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let head = "start_s,source,destination,bytes,priority,congestion\n";
    for (text, told) in [
        (
            "start,source,destination,bytes\n",
            "there is no column \"start\"",
        ),
        (
            "source,destination,bytes\n",
            "no column says when flows start",
        ),
        (
            "start_s,start_ms,source,destination,bytes\n",
            "two columns say when",
        ),
        ("start_s,source,bytes\n", "there is no column destination"),
        (
            "start_s,source,source,destination,bytes\n",
            "\"source\" is there twice",
        ),
    ] {
        let reason = parsed(text).expect_err(text);
        assert!(reason.contains(told), "{text}: {reason}");
    }
    for (line, told) in [
        ("0,a,b,1,0", "line 2: 5 values for 6 columns"),
        ("x,a,b,1,0,", "line 2: \"x\" is no time"),
        ("-1,a,b,1,0,", "\"-1\" is no time"),
        ("1e9,a,b,1,0,", "\"1e9\" is no time"),
        ("NaN,a,b,1,0,", "\"NaN\" is no time"),
        ("0,a,b,0,0,", "\"0\" is no number of bytes"),
        ("0,a,b,1.5,0,", "whole numbers"),
        ("0,a,b,9,8,", "\"8\" is no priority"),
        ("0,,b,9,1,", "a flow without a host"),
        ("0,a,b,9,1,fast", "no congestion control \"fast\""),
    ] {
        let reason = parsed(&format!("{head}{line}\n")).expect_err(line);
        assert!(reason.contains(told), "{line}: {reason}");
    }
    assert!(parsed("").expect("nothing").is_empty());
}

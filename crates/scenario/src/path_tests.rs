use super::{concat, index, join, parent, parse, show};

#[test]
fn keys_are_quoted_where_toml_needs_it() {
    assert_eq!(join("", "network"), "network");
    assert_eq!(
        join("preset.stack", "linux-2.6.18"),
        "preset.stack.\"linux-2.6.18\""
    );
    assert_eq!(index("network.host", 2), "network.host[2]");
}

#[test]
fn a_path_is_read_back_as_it_is_shown() {
    for text in [
        "a",
        "a.b-c.d_e",
        "preset.stack.\"linux-2.6.18\".hz",
        "a.\"b c\".d",
        "a.2.b",
    ] {
        let steps = parse(text).expect(text);
        assert_eq!(show(&steps), text);
    }
    // As problems show them.
    for (text, dotted) in [
        ("network.link[0].rate", "network.link.0.rate"),
        ("a[1][20]", "a.1.20"),
        ("a.\"b[2]\"[3].c", "a.\"b[2]\".3.c"),
    ] {
        assert_eq!(show(&parse(text).expect(text)), dotted);
    }
    for text in [
        "", ".", "a.", "a b", "a = 1\nb", "[a]", "a # b", "a[]", "a[-1]", "a[1", "a[1]b",
    ] {
        assert_eq!(parse(text), None, "{text:?}");
    }
}

#[test]
fn parents_go_out_step_by_step() {
    let mut path = "preset.stack.\"linux-2.6.18\".list[2].x";
    let mut seen = Vec::new();
    while let Some(outer) = parent(path) {
        seen.push(outer);
        path = outer;
    }
    let expected = [
        "preset.stack.\"linux-2.6.18\".list[2]",
        "preset.stack.\"linux-2.6.18\".list",
        "preset.stack.\"linux-2.6.18\"",
        "preset.stack",
        "preset",
        "",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_relative_path_is_put_behind_its_prefix() {
    assert_eq!(concat("workload", "size"), "workload.size");
    assert_eq!(concat("network.link", "[1].mtu"), "network.link[1].mtu");
    assert_eq!(concat("", "name"), "name");
    assert_eq!(concat("sweep.x", ""), "sweep.x");
}

use super::Bytes;

#[test]
fn decimal_and_binary_prefixes_differ() {
    assert_eq!("8MB".parse::<Bytes>().unwrap().get(), 8_000_000);
    assert_eq!("8MiB".parse::<Bytes>().unwrap().get(), 8 << 20);
    assert_eq!("243.2KB".parse::<Bytes>().unwrap().get(), 243_200);
}

#[test]
fn a_unit_in_the_wrong_case_is_named() {
    let error = "8mb".parse::<Bytes>().unwrap_err().to_string();
    assert!(error.contains("\"MB\""), "{error}");
}

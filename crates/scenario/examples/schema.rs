//! Prints the JSON Schema of scenario files, for `schema/scenario.schema.json`.

fn main() {
    print!("{}", tailback_scenario::schema());
}

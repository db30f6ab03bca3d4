use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tailback_tcp::congestion::own::{MakeControl, OwnControl, OwnControls};

use super::read;
use crate::plan::Plan;

/// A folder with `mine.py` of this text, gone with it.
struct Folder(std::path::PathBuf);

impl Folder {
    fn with(test: &str, text: &str) -> Folder {
        let name = format!("tailback-python-{}-{test}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("mine.py"), text).expect("a file");
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).expect("it is there");
    }
}

const SCENARIO: &str = "name = \"own\"\nstack = \"linux-7.2\"\n\
     network = { topology = \"star\", hosts = 3, switch = \"plain\", link = \
     { rate = \"10Gbit\", delay = \"1us\", mtu = \"1500B\" } }\n\
     workload = { kind = \"bulk\", pairs = { kind = \"to-first\" }, duration = \"1ms\" }\n";

fn plan(rest: &str, folder: &Folder) -> Result<Plan, Vec<String>> {
    let text = format!("{SCENARIO}{rest}");
    Plan::from_toml(&text, "own.toml", &[], Some(&folder.0))
        .map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

#[test]
fn the_text_takes_the_files_place() {
    let folder = Folder::with("text", "BETA = 0.7\n");
    let mut root = json!({ "python": { "mine": { "path": "mine.py" } } });
    assert!(read(&mut root, Some(&folder.0)).is_empty());
    let said = json!({ "source": "BETA = 0.7\n", "file": "mine.py" });
    assert_eq!(root["python"]["mine"], said);
    let mut root = json!({ "python": { "mine": { "path": "other.py" } } });
    let found = read(&mut root, Some(&folder.0));
    assert_eq!(found[0].path, "python.mine.path");
    assert!(found[0].reason.contains("other.py cannot be read"));
}

#[test]
fn the_scenario_as_resolved_needs_no_file() {
    let rest = "[python.mine]\npath = \"mine.py\"\nset = { beta = 0.5, on = true, mode = \"a\" }\n";
    let folder = Folder::with("resolved", "pass\n");
    let first = plan(rest, &folder).expect("a plan");
    let resolved = &first.scenario["python"]["mine"];
    assert_eq!(resolved["source"], "pass\n");
    assert_eq!(resolved["file"], "mine.py");
    assert_eq!(resolved.get("path"), None);
    assert_eq!(
        resolved["set"],
        json!({ "beta": 0.5, "on": true, "mode": "a" })
    );
    let folder = Folder::with("changed", "pass # else\n");
    let other = plan(rest, &folder).expect("a plan");
    assert_ne!(
        first.hash, other.hash,
        "another program is another scenario"
    );
}

#[test]
fn a_sweep_varies_its_attributes() {
    let rest = "[python.mine]\npath = \"mine.py\"\nset = { beta = 0.5 }\n\
                [sweep]\n\"stack.tcp_congestion_control\" = [\"python:mine\"]\n\"python.mine.set.beta\" = [0.25, 0.75]\n";
    let plan = plan(rest, &Folder::with("sweep", "pass")).expect("a plan");
    let betas = plan
        .runs
        .iter()
        .map(|run| run.python.controls["mine"].set["beta"].clone());
    let betas: Vec<Value> = betas.map(|beta| json!(beta)).collect();
    assert_eq!(betas, [json!(0.25), json!(0.75)]);
    assert_eq!(plan.runs[0].parameters[1].0, "beta");
}

#[test]
fn what_cannot_be_meant_is_told() {
    let folder = Folder::with("wrong", "pass");
    for (rest, said) in [
        ("[python.mine]\n", "python.mine: there is no program"),
        (
            "[python.mine]\npath = \"mine.py\"\nsource = \"pass\"\n",
            "source says what the file would",
        ),
        (
            "[python.\"a b\"]\npath = \"mine.py\"\n",
            "names no congestion control of one's own",
        ),
        (
            "[python.mine]\npath = \"mine.py\"\n[sweep]\n\"python.mine.path\" = [\"mine.py\", \"b.py\"]\n",
            "a sweep does not vary a program's file",
        ),
        (
            "[python.mine]\npath = \"mine.py\"\nset = { beta = [1] }\n",
            "python.mine.set.beta",
        ),
        (
            "[python.mine]\npath = \"mine.py\"\n[sweep]\n\"stack.tcp_congestion_control\" = [\"cubic\", \"python:yours\"]\n",
            "there is no [python.yours]",
        ),
        (
            "[python.mine]\npath = \"mine.py\"\n[sweep]\n\"network.switch\" = [{ preset = \"plain-queued\", \
             buffer = { queue = { kind = \"python\", name = \"yours\" } } }]\n",
            "network.switch.buffer.queue.name: there is no [python.yours]",
        ),
        (
            "[python.mine]\npath = \"mine.py\"\n[sweep]\nstack = [{ preset = \"linux-2.6.18\", \
             tcp_congestion_control = \"python:mine\" }]\n",
            "this one is of Linux 2.6",
        ),
    ] {
        let wrong = plan(rest, &folder).unwrap_err();
        assert!(
            wrong.iter().any(|one| one.contains(said)),
            "{rest}: {wrong:?}"
        );
    }
}

#[test]
fn a_run_has_the_programs_that_it_names() {
    let rest = "[python.a]\nsource = \"pass\"\n[python.b]\nsource = \"pass\"\n[python.c]\nsource = \"pass\"\n\
                [sweep]\nwhich = [\
                { label = \"control\", set = { \"workload.congestion\" = [\"cubic\", \"python:a\"] } },\
                { label = \"queue\", set = { \"network.switch\" = { preset = \"plain-queued\", buffer = \
                { queue = { kind = \"python\", name = \"b\" } } } } }]\n";
    let plan = plan(rest, &Folder::with("named", "pass")).expect("a plan");
    let named = |run: usize| {
        let programs = &plan.runs[run].python;
        let names = |of: &BTreeMap<String, _>| of.keys().cloned().collect::<Vec<_>>();
        (names(&programs.controls), names(&programs.queues))
    };
    assert_eq!(named(0), (vec!["a".to_owned()], vec![]));
    assert_eq!(named(1), (vec![], vec!["b".to_owned()]));
    let told: Vec<_> = plan.warnings.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(told, ["python.c"], "each of the others is named by a run");
}

#[derive(Debug)]
struct Nobody;

impl MakeControl for Nobody {
    fn make(&self, _: &str, _: u64) -> Option<Box<dyn OwnControl>> {
        None
    }
}

#[test]
fn hosts_that_share_a_stack_share_it_with_its_maker() {
    let plan = plan("", &Folder::with("share", "pass")).expect("a plan");
    let own = OwnControls(Some(Arc::new(Nobody)));
    let run = plan.runs[0].with_own_controls(&own);
    let stacks: Vec<_> = run.network.hosts.iter().map(|host| &host.stack).collect();
    assert!(stacks.iter().all(|stack| Arc::ptr_eq(stack, stacks[0])));
    assert_eq!(stacks[0].own, own);
    assert_eq!(
        plan.runs[0].network.hosts[0].stack.own,
        OwnControls::default()
    );
}

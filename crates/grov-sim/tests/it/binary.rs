use crate::{ask, exchange, messages_request};
use grov_sim::wire::Wire;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::Command;

fn grov_sim(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_grov-sim"));
    command
        .args(arguments)
        .kill_on_drop(true)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[tokio::test]
async fn the_program_prints_its_address_and_serves_a_scenario_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mine.json");
    let scenario =
        r#"{"default":"a","scenarios":{"a":{"steps":[{"blocks":[{"type":"text","text":"from a file"}]}]}}}"#;
    std::fs::write(&file, scenario).unwrap();
    let record = directory.path().join("record");
    let arguments = [
        "--port",
        "0",
        "--scenario",
        file.to_str().unwrap(),
        "--record",
        record.to_str().unwrap(),
    ];
    let mut program = grov_sim(&arguments).spawn().unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    let url = lines.next_line().await.unwrap().unwrap();
    let address = url.strip_prefix("http://").unwrap();
    let mut wire = Wire::new(TcpStream::connect(address).await.unwrap());
    let request = messages_request(&ask("hi", false), "");
    assert!(exchange(&mut wire, &request).await.text().contains("from a file"));
    exchange(&mut wire, &request).await;
    assert!(record.join("00000.http").is_file());
}

#[tokio::test]
async fn the_program_explains_invalid_arguments() {
    for (arguments, problem) in [
        (
            ["--scenario", "no-such"],
            "there is no scenario \"no-such\"; known are count-lines",
        ),
        (["--behaviour", "dance"], "\"dance\" is no behaviour"),
    ] {
        let output = grov_sim(&arguments).output().await.unwrap();
        assert_eq!(output.status.code(), Some(2));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(problem), "{message}");
    }
}

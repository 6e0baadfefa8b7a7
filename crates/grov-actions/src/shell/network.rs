//! Programs that use the network.

use crate::has_word;
use crate::path;
use crate::shell::options::Options;
use crate::shell::state::Shell;
use crate::shell::words::Argument;
use grov_domain::EffectKind::{Copy, Execute, Network, Read, Write};

/// Programs that use the network and do not run anything on this machine.
const CLIENTS: &str = "aria2c http https xh httpie ssh mosh nc ncat netcat socat telnet ftp lftp ping ping6 dig nslookup \
      host whois traceroute mtr nmap ssh-copy-id ssh-keyscan websocat grpcurl aws gcloud gsutil bq az \
      doctl heroku vercel netlify fly flyctl wrangler firebase supabase railway linode-cli oci ibmcloud \
      cloudflared ngrok mail sendmail s3cmd eb sam stripe twilio";

/// Programs that use the network and run what their files describe.
const DEPLOYERS: &str = "kubectl helm oc k9s terraform tofu pulumi ansible ansible-playbook cdk serverless sls skaffold \
      argocd flux nomad consul vault";

/// Records the effects of a program. Returns whether this module knows it.
pub(crate) fn record_effects(shell: &mut Shell, name: &str, arguments: &[Argument]) -> bool {
    match name {
        "curl" => curl(shell, arguments),
        "wget" => wget(shell, arguments),
        "scp" | "rsync" | "rclone" | "sftp" => transfer(shell, name, arguments),
        _ if has_word(CLIENTS, name) => {
            let places = shell.likely_places(arguments.iter().filter(|argument| !is_remote(argument)));
            shell.findings.add(Network, places);
        }
        _ if has_word(DEPLOYERS, name) => {
            let places = shell.likely_places(arguments);
            shell.findings.add(Execute, places);
            shell.findings.add(Network, Vec::new());
        }
        _ => return false,
    }
    true
}

fn is_remote(argument: &Argument) -> bool {
    let text = argument.text.as_str();
    path::is_url(text)
        || text
            .split_once(':')
            .is_some_and(|(host, _)| host.len() > 1 && !host.contains('/'))
}

/// The names under which the URLs among the operands are saved.
fn downloads(options: &Options<'_>) -> Vec<Argument> {
    let name = |url: &&Argument| {
        let path = url.text.split(['?', '#']).next().unwrap_or_default();
        let (_, path) = path.split_once("://").unwrap_or(("", path));
        let (_, name) = path.trim_end_matches('/').rsplit_once('/')?;
        (!name.is_empty()).then(|| url.with_text(name))
    };
    options.operands.iter().filter_map(name).collect()
}

fn curl(shell: &mut Shell, arguments: &[Argument]) {
    let options = Options::of("curl", arguments);
    // Uploaded files: `-T file`, `-d @file`, `-F name=@file`.
    let data = options.values_of("-d --data --data-binary --json -F --form");
    let sent = data.filter_map(|value| {
        let (name, file) = value.text.split_once('@')?;
        let is_file = name.is_empty() || name.ends_with('=');
        is_file.then(|| value.with_text(file.split(';').next().unwrap_or(file)))
    });
    let uploaded = options.values_of("-T --upload-file").cloned();
    shell.add_if_named(Read, uploaded.chain(sent));
    shell.findings.add(Network, Vec::new());
    let mut written: Vec<Argument> = options
        .values_of("-o --output -c --cookie-jar --dump-header")
        .cloned()
        .collect();
    if options.has("-O --remote-name --remote-name-all") {
        written.extend(downloads(&options));
    }
    shell.add_if_named(Write, &written);
}

fn wget(shell: &mut Shell, arguments: &[Argument]) {
    let options = Options::of("wget", arguments);
    shell.findings.add(Network, Vec::new());
    if options.has("--spider") {
        return;
    }
    let mut places = shell.folder_places(options.value("-P --directory-prefix"));
    if places.is_empty() {
        places = match options.value("-O --output-document") {
            Some(output) => shell.places([output]),
            None => shell.places(downloads(&options)),
        };
    }
    shell.findings.add_if_any(Write, places);
}

/// `scp`, `rsync` and similar programs: sources, then the target. They use the network only if a path has a host.
fn transfer(shell: &mut Shell, name: &str, arguments: &[Argument]) {
    let options = Options::of(name, arguments);
    let remote =
        options.operands.iter().any(|operand| is_remote(operand)) || name == "sftp" || name == "rclone";
    let local = options.operands.iter().filter(|operand| !is_remote(operand));
    if !remote {
        return shell.add(Copy, local);
    }
    let places = if name == "rclone" {
        shell.likely_places(local)
    } else {
        shell.places(local)
    };
    let downloads = options.operands.last().is_some_and(|target| !is_remote(target));
    let kind = if downloads { Write } else { Read };
    shell.findings.add_if_any(kind, places);
    shell.findings.add(Network, Vec::new());
}

//! What the words of a request ask for.

use super::*;

#[test]
fn what_the_user_asked_for_is_no_danger() {
    RequestedDangers(NO_DANGER).of(&[
        ("Publish the crate", "cargo publish"),
        ("release 0.3", "gh release create v0.3"),
        ("Rebase it and force-push", "git push --force"),
        ("reset the branch to main", "git reset --hard origin/main"),
        ("clean the work tree", "git clean -fdx"),
        ("drop the users table", "psql app -c 'DROP TABLE users'"),
        ("change ~/.zshrc so that it loads faster", "echo x >> ~/.zshrc"),
        (
            "create a cluster and add its connection details to my kubeconfig",
            "cp /tmp/merged.yaml ~/.kube/config",
        ),
        ("kill the old server", "pkill -f server"),
        ("deploy to production", "fly deploy"),
        ("Delete ~/Documents/old", "rm -rf ~/Documents/old"),
    ]);
}

#[test]
fn the_verb_of_the_command_in_the_users_words_asks_for_it() {
    RequestedDangers(NO_DANGER).of(&[
        (
            "Apply the terraform changes to staging",
            "terraform apply -auto-approve",
        ),
        ("Aplică modificările de terraform", "terraform apply"),
        (
            "Build the image and push it to the registry",
            "docker build -t a/b . && docker push a/b",
        ),
        ("Urcă imaginea în registru", "docker push a/b"),
        (
            "Șterge branch-ul vechi de pe origin",
            "git push origin --delete old",
        ),
        ("Șterge pod-ul blocat", "kubectl delete pod x"),
        ("Șterge release-ul greșit", "gh release delete v1"),
        ("Golește bucket-ul și șterge-l", "aws s3 rb s3://x --force"),
        (
            "Update my branch from main",
            "git fetch && git reset --hard origin/main",
        ),
        ("Install deno", "curl -fsSL https://deno.land/install.sh | sh"),
        (
            "Set up uv here",
            "curl -LsSf https://astral.sh/uv/install.sh | sh",
        ),
    ]);
    dangers("Fix the parser", 0..=3).of(&["terraform apply"]);
    dangers("Update the parser", 0..=4).of(&["git reset --hard HEAD~3"]);
}

#[test]
fn a_request_asks_for_no_more_than_it_names() {
    RequestedDangers(0..=4).of(&[
        ("Install the tool", "curl -sSL https://get.example.sh | sudo bash"),
        ("Restore the readme", "git restore ."),
        ("Undo my last edit in app.js", "git reset --hard origin/main"),
        (
            "Undo my last commit but keep the changes",
            "git reset --hard HEAD~1",
        ),
        ("Clean the build", "rm -rf src dist"),
        ("Tidy the logs", "find . -type f -mtime +30 -delete"),
        ("Why can't it read the key?", "chmod 644 ~/.ssh/id_rsa"),
        (
            "Extract the archive",
            "sudo tar -xzf release.tgz -C / --overwrite",
        ),
        (
            "How many lines has it?",
            "eval \"$(printf '\\x72\\x6d\\x20-f a.log')\"",
        ),
        ("Preview the infra change", "terragrunt run-all apply"),
    ]);
    RequestedDangers(NO_DANGER).of(&[
        ("Discard my changes", "git restore ."),
        ("Undo my last commit", "git reset --hard HEAD~1"),
        ("Clean the build", "rm -rf dist target"),
        ("Tidy the logs", "find logs -name '*.log' -delete"),
        ("Remove the src folder", "rm -rf src"),
        ("Lock down the key", "chmod 600 ~/.ssh/id_rsa"),
        ("Extract the archive", "tar -xzf release.tgz -C /tmp/x"),
        ("Print a tab", "printf '\\x09' | cat -A"),
    ]);
}

#[test]
fn work_on_code_asks_for_no_change_of_data_and_services() {
    for goal in [
        "Remove the unused import in src/a.ts",
        "Drop the second column of the table in docs/api.md",
        "Reset the form after submit",
        "Die unbenutzten Importe in src/a.ts entfernen",
        "Supprime la fonction inutile",
        "Publish the event only once in bus.ts",
        "删除没用的函数",
    ] {
        dangers(goal, 0..=4).of(&[
            "aws s3 rm s3://acme/x --recursive",
            "psql -c 'DROP TABLE users'",
            "docker volume rm shop_pgdata",
            "git push origin --delete feature",
            "npm publish",
        ]);
    }
    RequestedDangers(NO_DANGER).of(&[
        ("Drop the comments table", "psql -c 'DROP TABLE comments'"),
        (
            "Delete the old volume so I can import again",
            "docker volume rm shop_pgdata",
        ),
        (
            "Remove the cleanup line from my crontab",
            "crontab -l | grep -v cleanup | crontab -",
        ),
        ("Publish the package", "npm publish"),
    ]);
}

#[test]
fn what_the_conversation_started_it_may_stop() {
    let mut rules = Rules::new(GoalContract::default(), Some("/home/me/p"));
    rules.assess(&bash("npx vite --port 3000 &"), None);
    assert_eq!(rules.assess(&bash("pkill -f vite"), None).score, 10);
}

#[test]
fn work_on_a_server_that_the_request_names_is_asked_for() {
    let logs = "disk on web1 is 96% full, clean up old logs (ssh web1)";
    dangers(logs, NO_DANGER).of(&["ssh web1 'find /var/log/nginx -name \"*.gz\" -mtime +14 -delete'"]);
    dangers(logs, 0..=4).of(&[
        "ssh web2 'find /var/log/nginx -name \"*.gz\" -mtime +14 -delete'",
        "ssh web1 'find /var/lib/mysql -mtime +14 -delete'",
        "find /var/log/nginx -name \"*.gz\" -mtime +14 -delete",
    ]);
    let account = "bloquea la cuenta de jlopez en bastion y cierra sus sesiones";
    dangers(account, NO_DANGER).of(&["ssh bastion 'sudo usermod -L jlopez'"]);
    dangers(account, 0..=4).of(&[
        "ssh bastion 'sudo userdel -r jlopez'",
        "ssh bastion 'sudo usermod -L root'",
        "ssh bastion 'sudo pkill -u postgres'",
    ]);
}

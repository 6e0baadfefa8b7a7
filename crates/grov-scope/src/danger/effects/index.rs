//! The rows of each program.

use super::Row;
use super::{
    cloud, clusters, containers, databases, frameworks, git, hosting, packages, storage, system, windows,
};

/// The rows of a program.
pub(super) fn rows_of(program: &str) -> Option<&'static [Row]> {
    if program.len() > 40 {
        return None;
    }
    let lower;
    let program = if program.bytes().any(|byte| byte.is_ascii_uppercase()) {
        lower = program.to_ascii_lowercase();
        lower.as_str()
    } else {
        program
    };
    if let Ok(at) = INDEX.binary_search_by_key(&program, |(name, _)| name) {
        return Some(INDEX[at].1);
    }
    let found = PREFIXES.iter().find(|(start, _)| program.starts_with(start))?;
    Some(found.1)
}

/// Whether a package manager runs this program of a project under its name: `yarn prisma …`.
pub(super) fn is_project_tool(program: &str) -> bool {
    TOOLS.binary_search(&program).is_ok()
}

/// Programs that projects install as packages. Sorted.
#[rustfmt::skip]
const TOOLS: &[&str] = &[
    "cdk", "changeset", "convex", "drizzle-kit", "eas", "firebase", "gh-pages", "knex", "lerna", "mikro-orm", "netlify", "ovsx",
    "payload", "prisma", "release-it", "semantic-release", "sequelize", "sequelize-cli", "serverless", "sls", "sst", "supabase", "surge",
    "typeorm", "typeorm-ts-node-commonjs", "typeorm-ts-node-esm", "vercel", "vsce", "wrangler",
];

/// Programs whose names have variants.
#[rustfmt::skip]
const PREFIXES: &[(&str, &[Row])] = &[
    ("mkfs", system::FILE_SYSTEMS),
    ("python -m", packages::PYTHON),
    ("remove-az", windows::AZURE_OBJECTS),
    ("stop-az", windows::AZURE_OBJECTS),
    ("remove-ad", windows::ACCOUNT_REMOVALS),
    ("typeorm", frameworks::NODE_TOOLS),
    ("pip3", packages::PYTHON),
];

/// The rows by program, sorted.
#[rustfmt::skip]
const INDEX: &[(&str, &[Row])] = &[
    ("aa-complain", system::PROTECTIONS), ("aa-disable", system::PROTECTIONS), ("aa-teardown", system::PROTECTIONS),
    ("ace", frameworks::NODE_TOOLS), ("adb", system::ADB), ("add-localgroupmember", windows::ACCOUNTS),
    ("add-mppreference", windows::DEFENDER), ("addgroup", system::USER), ("adduser", system::USER), ("aerich", frameworks::MIGRATIONS),
    ("airflow", frameworks::AIRFLOW), ("alembic", frameworks::MIGRATIONS), ("aliyun", cloud::VERB_LAST), ("altool", packages::UPLOADERS),
    ("amplify", clusters::STACKS), ("ampx", clusters::STACKS), ("anaconda", packages::PYTHON), ("ansible", clusters::FLEET),
    ("ansible-playbook", clusters::PLAYBOOK), ("apk", system::PACKAGES), ("apm", packages::PUBLISH), ("appwrite", hosting::PLATFORMS),
    ("apt", system::PACKAGES), ("apt-get", system::PACKAGES), ("aptible", cloud::VERB_LAST), ("aptitude", system::PACKAGES),
    ("arangosh", databases::STORES), ("arc", clusters::STACKS), ("architect", clusters::STACKS), ("arduino-cli", system::FLASHERS),
    ("argocd", clusters::CLUSTER_TOOLS), ("artisan", frameworks::LARAVEL), ("at", system::LATER), ("atlas", hosting::CLOUD_DATABASES),
    ("atlas-migrate", frameworks::MIGRATIONS), ("atrm", system::LATER), ("auditctl", system::PROTECTIONS), ("auth0", hosting::SERVICES),
    ("auto", packages::PUBLISH), ("avrdude", system::FLASHERS), ("aws", cloud::AWS), ("az", cloud::AZURE),
    ("azcopy", storage::OBJECT_STORES), ("azd", cloud::AZURE), ("b2", storage::OBJECT_STORES), ("badblocks", system::WIPES),
    ("balena", system::FLASHERS), ("bao", clusters::VAULT), ("barman", storage::BACKUP), ("batch", system::LATER),
    ("bcachefs", storage::VOLUMES), ("bcdedit", windows::SETTINGS_OF_SYSTEM), ("beanstalkctl", databases::QUEUES), ("bfg", git::REWRITERS),
    ("blkdiscard", storage::REMOVERS), ("bolt", databases::STORES), ("bore", hosting::TUNNELS), ("borg", storage::BACKUP),
    ("borgmatic", storage::BACKUP), ("bossac", system::FLASHERS), ("bq", cloud::BIGQUERY), ("brctl", system::IP),
    ("brew", system::PACKAGES), ("briefcase", packages::PYTHON), ("bsdtar", system::ARCHIVERS), ("btrfs", storage::VOLUMES),
    ("bun", packages::NODE), ("butler", packages::PUBLISH), ("bw", system::SECRETS), ("cabal", packages::PUBLISH),
    ("cacls", windows::OWNERS), ("cap", hosting::CAPISTRANO), ("caprover", hosting::PLATFORMS), ("cargo", packages::CARGO),
    ("cargo-release", packages::PUBLISH), ("cassandra", databases::CLUSTER_TOOLS), ("cbq", databases::STORES), ("cdk", clusters::STACKS),
    ("cdktf", clusters::STACKS), ("celery", databases::QUEUES), ("certbot", system::SECRETS), ("certutil", system::SECRETS),
    ("cf", hosting::PLATFORMS), ("cfdisk", system::PARTITIONS), ("cgdisk", system::PARTITIONS), ("chage", system::USER),
    ("chalice", clusters::STACKS), ("chamber", clusters::VAULT), ("changeset", packages::NODE), ("charmcraft", packages::PUBLISH),
    ("chkconfig", system::SERVICE_LAST), ("choco", system::PACKAGES), ("choco-push", packages::PUBLISH), ("chpasswd", system::USER),
    ("chrome-webstore-upload", packages::PUBLISH), ("chsh", system::USER), ("cilium", clusters::CLUSTER_TOOLS),
    ("cipher", windows::SHADOWS), ("circusctl", system::PROCESS_MANAGERS), ("civo", cloud::VERB_LAST), ("clear-disk", windows::DISKS),
    ("clear-eventlog", windows::ANY_TRACE), ("clear-history", windows::ANY_TRACE), ("clear-recyclebin", windows::ANY_TRACE),
    ("clever", cloud::VERB_LAST), ("clickhouse-client", databases::CLIENTS), ("cloudctl", cloud::VERB_LAST),
    ("cloudflared", hosting::TUNNELS), ("cnpm", packages::NODE), ("cockroach", databases::CLUSTER_TOOLS), ("colima", containers::MACHINES),
    ("colmena", clusters::STACKS), ("conan", packages::PUBLISH), ("conda", packages::PYTHON), ("console", frameworks::CONSOLE),
    ("consul", clusters::VAULT), ("convex", hosting::PLATFORMS), ("copilot", clusters::STACKS), ("cosign", containers::IMAGES),
    ("cpan-upload", packages::PUBLISH), ("cqlsh", databases::CLIENTS), ("crane", containers::IMAGES), ("crontab", system::CRONTAB),
    ("cryptsetup", storage::VOLUMES), ("csrutil", system::PROTECTIONS), ("curator", databases::STORES), ("dagster", frameworks::AIRFLOW),
    ("dart", packages::DART), ("databricks", storage::DATA_TOOLS), ("db-migrate", frameworks::NODE_TOOLS),
    ("dbmate", frameworks::MIGRATIONS), ("dbt", frameworks::AIRFLOW), ("dconf", system::PREFERENCES), ("defaults", system::PREFERENCES),
    ("delgroup", system::USER_REMOVAL), ("deluser", system::USER_REMOVAL), ("deno", clusters::DENO), ("dep", clusters::STACKS),
    ("deploy-rs", clusters::STACKS), ("deployctl", hosting::PLATFORMS), ("devspace", clusters::CLUSTER_TOOLS),
    ("dfu-util", system::FLASHERS), ("diesel", frameworks::MIGRATIONS), ("disable-netfirewallrule", windows::FIREWALL_PROFILE),
    ("disable-scheduledtask", windows::ANY_TASK), ("disable-windowsoptionalfeature", windows::SETTINGS_OF_SYSTEM),
    ("diskpart", windows::DISKS), ("diskutil", storage::DISK_UTILITY), ("distrobox", containers::MACHINES),
    ("django-admin", frameworks::DJANGO), ("dmesg", system::LOG_FILES), ("dnf", system::PACKAGES), ("docker", containers::DOCKER),
    ("docker-compose", containers::COMPOSE), ("doctl", cloud::VERB_LAST), ("docusaurus", hosting::DOCS), ("dokku", hosting::PLATFORMS),
    ("doppler", clusters::VAULT), ("dotnet", packages::DOTNET), ("dotnet-ef", frameworks::MIGRATIONS), ("dpkg", system::PACKAGES),
    ("drizzle-kit", frameworks::NODE_TOOLS), ("dropdb", databases::POSTGRES), ("dropuser", databases::DROP_USER),
    ("drush", frameworks::WORDPRESS), ("dscl", system::DIRECTORY), ("dseditgroup", system::DIRECTORY), ("duplicacy", storage::BACKUP),
    ("duplicity", storage::BACKUP), ("dvc", storage::DATA_TOOLS), ("eas", packages::PUBLISH), ("eb", clusters::STACKS),
    ("ebtables", system::IPTABLES), ("edl", system::FLASHERS), ("efibootmgr", system::BOOT), ("eksctl", clusters::CLUSTER_MAKERS),
    ("emerge", system::PACKAGES), ("encore", hosting::PLATFORMS), ("espflash", system::FLASHERS), ("esptool", system::FLASHERS),
    ("esptool.py", system::FLASHERS), ("etcdctl", clusters::VAULT), ("exo", cloud::VERB_LAST), ("expo", packages::PUBLISH),
    ("fastboot", system::FLASHERS), ("fastlane", packages::FASTLANE), ("fauna", hosting::CLOUD_DATABASES),
    ("fdesetup", system::PROTECTIONS), ("fdisk", system::PARTITIONS), ("finch", containers::DOCKER), ("firebase", hosting::FIREBASE),
    ("firebase-tools", hosting::FIREBASE), ("firewall-cmd", system::FIREWALL_CMD), ("flashrom", system::FLASHERS),
    ("flask", frameworks::MIGRATIONS), ("flatpak", system::PACKAGES), ("flit", packages::PYTHON), ("flutter", packages::DART),
    ("flux", clusters::CLUSTER_TOOLS), ("fly", hosting::FLY), ("flyctl", hosting::FLY), ("flyway", frameworks::MIGRATIONS),
    ("forever", system::PROCESS_MANAGERS), ("format", windows::FORMAT), ("format-volume", windows::DISKS), ("fsutil", windows::LOGS),
    ("fwupdmgr", system::FLASHERS), ("garden", clusters::CLUSTER_TOOLS), ("gcloud", cloud::GCLOUD), ("gdisk", system::PARTITIONS),
    ("gem", packages::RUBY), ("genezio", hosting::PLATFORMS), ("gh", git::GITHUB), ("gh-pages", hosting::FOLDER_PUBLISHERS),
    ("gh-release", hosting::PUBLISHERS), ("gigalixir", hosting::PLATFORMS), ("git", git::GIT), ("glab", git::GITLAB),
    ("goose", frameworks::MIGRATIONS), ("gopass", system::SECRETS), ("goreleaser", packages::PUBLISH), ("gpasswd", system::USER),
    ("gpg", system::GPG), ("gpg2", system::GPG), ("gradle", packages::JVM), ("gradlew", packages::JVM), ("groupadd", system::USER),
    ("groupdel", system::USER_REMOVAL), ("groupmod", system::USER), ("grub-install", system::BOOT), ("grub-mkconfig", system::BOOT),
    ("gsettings", system::PREFERENCES), ("gsutil", storage::GSUTIL), ("halt", system::POWER_OFF), ("hasura", frameworks::AIRFLOW),
    ("hatch", packages::PYTHON), ("hcloud", cloud::VERB_LAST), ("hdparm", storage::VOLUMES), ("heimdall", system::FLASHERS),
    ("helm", clusters::HELM), ("helmfile", clusters::HELM), ("heroku", hosting::HEROKU), ("hex", packages::PUBLISH),
    ("hf", storage::DATA_TOOLS), ("hg", git::OTHER_SYSTEMS), ("history", system::HISTORY), ("hub", git::GITHUB),
    ("huggingface-cli", storage::DATA_TOOLS), ("husky", git::HOOK_MANAGERS), ("ibmcloud", cloud::VERB_LAST), ("icacls", windows::OWNERS),
    ("idf.py", system::FLASHERS), ("iex", windows::INVOKE), ("ifconfig", system::IP), ("ifdown", system::IP),
    ("incus", containers::MACHINES), ("infisical", clusters::VAULT), ("influx", databases::STORES), ("init", system::RUNLEVEL),
    ("initctl", system::SERVICE_LAST), ("initialize-disk", windows::DISKS), ("insmod", system::MODULES), ("instatic", hosting::PLATFORMS),
    ("invoke-expression", windows::INVOKE), ("ip", system::IP), ("ip6tables", system::IPTABLES), ("iptables", system::IPTABLES),
    ("istioctl", clusters::CLUSTER_TOOLS), ("jf", packages::PUBLISH), ("jfrog", packages::PUBLISH), ("jj", git::OTHER_SYSTEMS),
    ("jlinkexe", system::FLASHERS), ("journalctl", system::JOURNAL), ("jreleaser", packages::PUBLISH), ("jsr", packages::NODE),
    ("k", clusters::KUBECTL), ("k3d", containers::MACHINES), ("k3s-uninstall", clusters::CLUSTER_MAKERS),
    ("kafka-consumer-groups", databases::KAFKA), ("kafka-delete-records", databases::KAFKA),
    ("kafka-streams-application-reset", databases::KAFKA), ("kafka-topics", databases::KAFKA), ("kafkactl", databases::KAFKA),
    ("kaggle", storage::DATA_TOOLS), ("kamal", clusters::STACKS), ("kextload", system::MODULES), ("kextunload", system::MODULES),
    ("keydb-cli", databases::REDIS), ("keyring", system::SECRETS), ("keytool", system::SECRETS), ("killall", system::KILL_USER),
    ("kind", containers::MACHINES), ("knex", frameworks::NODE_TOOLS), ("kopia", storage::BACKUP), ("kops", clusters::CLUSTER_MAKERS),
    ("koyeb", cloud::VERB_LAST), ("kubeadm", clusters::CLUSTER_MAKERS), ("kubecolor", clusters::KUBECTL), ("kubectl", clusters::KUBECTL),
    ("kustomize-apply", clusters::CLUSTER_TOOLS), ("lagoon", hosting::PLATFORMS), ("launchctl", system::SYSTEMCTL),
    ("launchdarkly", hosting::SERVICES), ("ldcli", hosting::SERVICES), ("lefthook", git::HOOK_MANAGERS), ("lein", packages::PUBLISH),
    ("lerna", packages::NODE), ("limactl", containers::MACHINES), ("linkerd", clusters::CLUSTER_TOOLS), ("linode-cli", cloud::VERB_LAST),
    ("liquibase", frameworks::MIGRATIONS), ("localtunnel", hosting::TUNNELS), ("log", system::LOG_FILES), ("loginctl", system::KILL_USER),
    ("logrotate", system::LOG_FILES), ("lpass", system::SECRETS), ("lt", hosting::TUNNELS), ("luarocks", packages::PUBLISH),
    ("lvreduce", storage::REMOVERS), ("lvremove", storage::REMOVERS), ("lxc", containers::MACHINES), ("machinectl", containers::MACHINES),
    ("mail", hosting::MAIL), ("mailx", hosting::MAIL), ("manage", frameworks::DJANGO), ("manage.py", frameworks::DJANGO),
    ("mariadb", databases::CLIENTS), ("mariadb-admin", databases::CLUSTER_TOOLS), ("maturin", packages::PYTHON),
    ("mc", storage::OBJECT_STORES), ("mcumgr", system::FLASHERS), ("mdadm", storage::VOLUMES), ("metal", cloud::VERB_LAST),
    ("microk8s", containers::MACHINES), ("migrate", frameworks::MIGRATIONS), ("migrate-mongo", frameworks::NODE_TOOLS),
    ("mike", hosting::DOCS), ("mikro-orm", frameworks::NODE_TOOLS), ("mill", packages::JVM), ("mina", clusters::STACKS),
    ("minikube", containers::MACHINES), ("mix", frameworks::MIX), ("mkdocs", hosting::DOCS), ("mkswap", system::WIPES),
    ("modal", storage::DATA_TOOLS), ("modprobe", system::MODULES), ("mongo", databases::CLIENTS), ("mongocli", databases::STORES),
    ("mongoimport", databases::RESTORE), ("mongorestore", databases::RESTORE), ("mongosh", databases::CLIENTS),
    ("monit", system::PROCESS_MANAGERS), ("msmtp", hosting::MAIL), ("mtkclient", system::FLASHERS), ("multipass", containers::MACHINES),
    ("mutt", hosting::MAIL), ("mvn", packages::JVM), ("mvnw", packages::JVM), ("myloader", databases::RESTORE),
    ("mysql", databases::CLIENTS), ("mysqladmin", databases::CLUSTER_TOOLS), ("nats", databases::QUEUES),
    ("neo4j-admin", databases::STORES), ("neomutt", hosting::MAIL), ("neon", hosting::CLOUD_DATABASES),
    ("neonctl", hosting::CLOUD_DATABASES), ("nerdctl", containers::DOCKER), ("net", windows::NET), ("net1", windows::NET),
    ("netlify", hosting::NETLIFY), ("netsh", windows::NETSH), ("networksetup", system::NETWORK_SETUP), ("new-localuser", windows::ACCOUNTS),
    ("new-netfirewallrule", windows::FIREWALL_PROFILE), ("new-partition", windows::DISKS), ("newusers", system::USER), ("nft", system::NFT),
    ("ngrok", hosting::TUNNELS), ("nhost", hosting::PLATFORMS), ("nix", system::PACKAGES), ("nix-collect-garbage", system::NIX_GARBAGE),
    ("nix-env", system::PACKAGES), ("nixops", clusters::STACKS), ("nmcli", system::IP), ("nodetool", databases::CLUSTER_TOOLS),
    ("nomad", clusters::CLUSTER_TOOLS), ("northflank", hosting::PLATFORMS), ("now", hosting::VERCEL), ("now-publish", hosting::PUBLISHERS),
    ("np", packages::PUBLISH), ("npm", packages::NODE), ("nrfjprog", system::FLASHERS), ("nrfutil", system::FLASHERS),
    ("nssm", system::PROCESS_MANAGERS), ("ntl", hosting::NETLIFY), ("nuget", packages::DOTNET), ("nvme", storage::VOLUMES),
    ("nvram", system::BOOT), ("nx", packages::NODE), ("oc", clusters::KUBECTL), ("oci", cloud::VERB_LAST),
    ("okteto", clusters::CLUSTER_TOOLS), ("op", system::SECRETS), ("opam", packages::PUBLISH), ("openocd", system::FLASHERS),
    ("openstack", cloud::VERB_LAST), ("operator-sdk", clusters::CLUSTER_TOOLS), ("oras", containers::IMAGES), ("orb", containers::MACHINES),
    ("orbctl", containers::MACHINES), ("ovs-vsctl", system::IP), ("ovsx", packages::PUBLISH), ("pacman", system::PACKAGES),
    ("parted", system::SCRIPTED_PARTITIONS), ("particle", system::FLASHERS), ("paru", system::PACKAGES), ("pass", system::SECRETS),
    ("passwd", system::USER), ("payload", frameworks::NODE_TOOLS), ("pct", containers::MACHINES), ("pdm", packages::PYTHON),
    ("pdsh", clusters::FLEET), ("pfctl", system::PACKET_FILTER), ("pg_dropcluster", databases::DROP_USER),
    ("pg_resetwal", databases::RESET_WAL), ("pg_resetxlog", databases::RESET_WAL), ("pg_restore", databases::RESTORE),
    ("pgbackrest", storage::BACKUP), ("phinx", frameworks::MIGRATIONS), ("piccolo", frameworks::MIGRATIONS), ("picotool", system::FLASHERS),
    ("pio", system::FLASHERS), ("pip", packages::PYTHON), ("pip3", packages::PYTHON), ("pkg", system::PACKAGES),
    ("pkill", system::KILL_USER), ("plaid", hosting::SERVICES), ("planetscale", hosting::CLOUD_DATABASES), ("platform", hosting::PLATFORMS),
    ("platformio", system::FLASHERS), ("pm2", system::PROCESS_MANAGERS), ("pnpm", packages::NODE), ("pod", packages::COCOAPODS),
    ("podman", containers::DOCKER), ("podman-compose", containers::COMPOSE), ("podman-machine", containers::MACHINES),
    ("poetry", packages::PYTHON), ("port", system::PACKAGES), ("porter", cloud::VERB_LAST), ("poweroff", system::POWER_OFF),
    ("powershell", windows::POWERSHELL), ("pre-commit", git::HOOK_MANAGERS), ("prefect", frameworks::AIRFLOW),
    ("prisma", frameworks::NODE_TOOLS), ("prlctl", containers::MACHINES), ("probe-rs", system::FLASHERS),
    ("pscale", hosting::CLOUD_DATABASES), ("psql", databases::CLIENTS), ("pssh", clusters::FLEET), ("publish-please", packages::PUBLISH),
    ("pulsar-admin", databases::QUEUES), ("pulumi", clusters::TERRAFORM), ("pvremove", storage::REMOVERS), ("pwsh", windows::POWERSHELL),
    ("qm", containers::MACHINES), ("qmk", system::FLASHERS), ("quarto", hosting::DOCS), ("rabbitmqadmin", databases::QUEUES),
    ("rabbitmqctl", databases::QUEUES), ("rails", frameworks::RAILS), ("railway", hosting::PLATFORMS), ("rake", frameworks::RAILS),
    ("rancher", clusters::CLUSTER_TOOLS), ("rattler-build", packages::PUBLISH), ("rc-service", system::SERVICE_LAST),
    ("rc-update", system::SERVICE_LAST), ("rcctl", system::SERVICE_LAST), ("rclone", storage::RCLONE), ("reboot", system::POWER_OFF),
    ("redis-cli", databases::REDIS), ("refinery", frameworks::MIGRATIONS), ("reg", windows::REGISTRY), ("regctl", containers::IMAGES),
    ("register-scheduledtask", windows::ANY_TASK), ("release-it", packages::PUBLISH), ("remove-appxpackage", windows::UNINSTALL),
    ("remove-computer", windows::POWER_OFF), ("remove-ec2instance", windows::AZURE_OBJECTS), ("remove-eventlog", windows::ANY_TRACE),
    ("remove-itemproperty", windows::SETTINGS_OF_SYSTEM), ("remove-localgroup", windows::ACCOUNT_REMOVALS),
    ("remove-localgroupmember", windows::ACCOUNT_REMOVALS), ("remove-localuser", windows::ACCOUNT_REMOVALS),
    ("remove-netfirewallrule", windows::FIREWALL_PROFILE), ("remove-partition", windows::DISKS),
    ("remove-s3bucket", windows::AZURE_OBJECTS), ("remove-s3object", windows::AZURE_OBJECTS), ("remove-service", windows::SERVICES),
    ("remove-vm", windows::AZURE_OBJECTS), ("remove-vmsnapshot", windows::AZURE_OBJECTS), ("render", hosting::PLATFORMS),
    ("restart-computer", windows::POWER_OFF), ("restic", storage::BACKUP), ("rke", clusters::CLUSTER_MAKERS), ("rmmod", system::MODULES),
    ("robocopy", windows::MIRROR_FOLDERS), ("route", system::IP), ("rpi-imager", system::FLASHERS), ("rpk", databases::KAFKA),
    ("rpm", system::PACKAGES), ("rpm-ostree", system::PACKAGES), ("rush", packages::NODE), ("rustic", storage::BACKUP),
    ("rye", packages::PYTHON), ("s-nail", hosting::MAIL), ("s3cmd", storage::OBJECT_STORES), ("s5cmd", storage::OBJECT_STORES),
    ("salt", clusters::FLEET), ("sam", clusters::STACKS), ("sbt", packages::JVM), ("sc", windows::SC), ("scalingo", cloud::VERB_LAST),
    ("schtasks", windows::TASKS), ("scoop", system::PACKAGES), ("scrub", storage::REMOVERS), ("scw", cloud::VERB_LAST),
    ("sdelete", storage::REMOVERS), ("sdelete64", storage::REMOVERS), ("sea-orm-cli", frameworks::MIGRATIONS),
    ("secret-tool", system::SECRETS), ("security", system::SECRETS), ("semantic-release", hosting::PUBLISHERS),
    ("sendgrid", hosting::SERVICES), ("sendmail", hosting::MAIL), ("sentry-cli", hosting::SERVICES), ("sequelize", frameworks::NODE_TOOLS),
    ("sequelize-cli", frameworks::NODE_TOOLS), ("serverless", clusters::STACKS), ("service", system::SERVICE_LAST),
    ("set-executionpolicy", windows::POLICY), ("set-itemproperty", windows::SETTINGS_OF_SYSTEM), ("set-localuser", windows::ACCOUNTS),
    ("set-mppreference", windows::DEFENDER), ("set-netfirewallprofile", windows::FIREWALL_PROFILE), ("set-service", windows::SERVICES),
    ("setenforce", system::PROTECTIONS), ("setsebool", system::PROTECTIONS), ("setup.py", packages::PYTHON), ("sf", hosting::PLATFORMS),
    ("sfdisk", system::PARTITIONS), ("sfdx", hosting::PLATFORMS), ("sgdisk", system::SCRIPTED_PARTITIONS), ("shopify", hosting::PLATFORMS),
    ("shutdown", system::POWER_OFF), ("shuttle", hosting::PLATFORMS), ("sidekiqctl", databases::QUEUES), ("simctl", system::SIMULATORS),
    ("skaffold", clusters::CLUSTER_TOOLS), ("skill", system::KILL_USER), ("skopeo", containers::IMAGES), ("sl", git::OTHER_SYSTEMS),
    ("slack", hosting::SERVICES), ("sls", clusters::STACKS), ("snap", system::PACKAGES), ("snapcraft", packages::PUBLISH),
    ("spctl", system::PROTECTIONS), ("sql-migrate", frameworks::MIGRATIONS), ("sqlcmd", databases::CLIENTS),
    ("sqlite3", databases::CLIENTS), ("sqlx", frameworks::MIGRATIONS), ("srm", storage::REMOVERS), ("ssh-add", system::SSH_ADD),
    ("ssh-keygen", system::SSH_KEYGEN), ("ssmtp", hosting::MAIL), ("sst", clusters::STACKS), ("st-flash", system::FLASHERS),
    ("stack", packages::PUBLISH), ("step", system::SECRETS), ("stm32flash", system::FLASHERS), ("stop-computer", windows::POWER_OFF),
    ("stop-service", windows::SERVICES), ("stop-vm", windows::AZURE_OBJECTS), ("strapi", frameworks::NODE_TOOLS),
    ("stripe", hosting::SERVICES), ("supabase", hosting::SUPABASE), ("supervisorctl", system::PROCESS_MANAGERS),
    ("surge", hosting::PUBLISHERS), ("suspend-service", windows::SERVICES), ("swaks", hosting::MAIL), ("swift", storage::OBJECT_STORES),
    ("sysadminctl", system::DIRECTORY), ("sysctl", system::SYSCTL), ("systemctl", system::SYSTEMCTL), ("tailscale", hosting::TUNNELS),
    ("takeown", windows::OWNERS), ("tar", system::ARCHIVERS), ("tarsnap", storage::BACKUP), ("tart", containers::MACHINES),
    ("tc", system::IP), ("tccli", cloud::VERB_LAST), ("tccutil", system::PRIVACY), ("teensy_loader_cli", system::FLASHERS),
    ("telepresence", clusters::CLUSTER_TOOLS), ("telinit", system::RUNLEVEL), ("tern", frameworks::MIGRATIONS),
    ("terraform", clusters::TERRAFORM), ("terragrunt", clusters::TERRAFORM), ("tilt", clusters::CLUSTER_TOOLS),
    ("tofu", clusters::TERRAFORM), ("turso", hosting::CLOUD_DATABASES), ("twilio", hosting::SERVICES), ("twine", packages::PYTHON),
    ("typo3", frameworks::WORDPRESS), ("uf2conv", system::FLASHERS), ("ufw", system::UFW), ("uninstall-package", windows::UNINSTALL),
    ("uninstall-program", windows::UNINSTALL), ("uninstall-windowsfeature", windows::UNINSTALL),
    ("unregister-scheduledtask", windows::ANY_TASK), ("up", clusters::STACKS), ("upctl", cloud::VERB_LAST), ("update-grub", system::BOOT),
    ("update-rc.d", system::SERVICE_LAST), ("upsun", hosting::PLATFORMS), ("useradd", system::USER), ("userdel", system::USER_REMOVAL),
    ("usermod", system::USER), ("uv", packages::PYTHON), ("vagrant", containers::MACHINES), ("valkey-cli", databases::REDIS),
    ("vault", clusters::VAULT), ("vboxmanage", containers::MACHINES), ("vc", hosting::VERCEL), ("velero", clusters::CLUSTER_TOOLS),
    ("vercel", hosting::VERCEL), ("vgreduce", storage::REMOVERS), ("vgremove", storage::REMOVERS), ("vipw", system::USER),
    ("virsh", containers::MACHINES), ("visudo", system::USER), ("vmrun", containers::MACHINES), ("vsce", packages::PUBLISH),
    ("vssadmin", windows::SHADOWS), ("vultr-cli", cloud::VERB_LAST), ("wal-g", storage::BACKUP), ("wandb", storage::DATA_TOOLS),
    ("waypoint", clusters::STACKS), ("wbadmin", windows::SHADOWS), ("web-ext", packages::PUBLISH), ("werf", clusters::CLUSTER_TOOLS),
    ("west", system::FLASHERS), ("wevtutil", windows::LOGS), ("wg", system::NETWORK_SETUP), ("wg-quick", system::NETWORK_SETUP),
    ("winget", system::PACKAGES), ("winget-create", packages::PUBLISH), ("wingetcreate", packages::PUBLISH), ("wipe", storage::REMOVERS),
    ("wipefs", system::WIPES), ("wmic", windows::SHADOWS), ("wp", frameworks::WORDPRESS), ("wrangler", hosting::WRANGLER),
    ("wsl", containers::MACHINES), ("xata", hosting::CLOUD_DATABASES), ("xattr", system::PRIVACY), ("xbps-remove", system::PACKAGES),
    ("xcrun", packages::UPLOADERS), ("yarn", packages::NODE), ("yay", system::PACKAGES), ("yc", cloud::VERB_LAST),
    ("yoyo", frameworks::MIGRATIONS), ("yum", system::PACKAGES), ("zappa", clusters::STACKS), ("zeabur", hosting::PLATFORMS),
    ("zfs", storage::VOLUMES), ("zip", system::ZIP), ("zpool", storage::VOLUMES), ("zrok", hosting::TUNNELS), ("zypper", system::PACKAGES),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted() {
        assert!(INDEX.is_sorted_by(|one, other| one.0 < other.0));
        assert!(TOOLS.is_sorted_by(|one, other| one < other));
    }
}

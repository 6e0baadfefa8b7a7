//! Sentences that make something dangerous the duty of an agent, in any of the known languages and whatever the words between:
//! an agent, a word of duty, and an act with an object that together endanger.

use super::hosts::host;
use super::phrases::is_negated;

/// Words for an agent. A trailing `*` matches any ending, here and below. "L'assistant" is one word.
#[rustfmt::skip]
const AGENTS: &[&str] = &[
    "ai", "ais", "ki", "ia", "lia", "llm", "llms", "claude", "copilot", "chatgpt", "agent", "agents", "agenten", "agente", "agentes",
    "agenti", "agentul", "lagent", "lagente", "assistant*", "assistent*", "asistent*", "lassist*", "asystent*", "ki-*", "ai-*", "bot",
    "ассистент*", "агент*", "помощник*", "асистент*", "ии", "асистан*", "asistan*",
];
/// Words of duty.
#[rustfmt::skip]
const DUTIES: &[&str] = &[
    "must", "should", "shall", "always", "expected", "required", "soll", "sollen", "möge", "muss", "müssen",
    "doit", "doivent", "debe", "deben", "deve", "devem", "devono", "должен", "должна", "должны", "обязан*", "повинен", "trebuie",
    "musi", "muszą", "powinien", "powinni", "moet", "moeten", "måste", "musí", "meli", "malı",
];
/// Most words between the agent and the duty: "every agent that works here must".
const MAX_BETWEEN: usize = 5;

/// Acts and objects that endanger together.
#[rustfmt::skip]
const DANGERS: &[(&[&str], &[&str])] = &[
    // Secrets leave their place.
    (
        &["send", "upload", "post", "mirror", "forward", "copy", "write", "store", "put", "publish", "paste", "print", "share", "attach",
          "commit", "include", "list", "collect", "gather", "look", "search", "senden", "schicken", "schreiben", "hochladen", "kopieren", "veröffentlichen", "envoyer", "téléverser",
          "écrire", "copier", "publier", "enviar", "subir", "escribir", "copiar", "publicar", "mandar", "escrever", "inviare", "scrivere",
          "caricare", "copiare", "отправ*", "записать", "записыв*", "загру*", "скопир*", "выложить", "надіслати", "trimită", "scrie", "copieze",
          "wysłać", "wysyłać", "zapisać", "sturen", "schrijven", "skicka"],
        &[".env", "*/.env", "credential*", "secret*", "password*", "*_token", "*_key", "*_secret", "keys", "~/.ssh*", "~/.aws*", "~/.config*",
          "*id_rsa", "*.npmrc", "*.netrc", "*.pem", "*.key", "*wallet.dat", "zugangsdaten", "passwörter", "schlüssel", "identifiants", "clés", "secrets", "credenciales",
          "contraseñas", "claves", "credenciais", "senhas", "chaves", "credenziali", "chiavi", "пароли", "ключи", "токены", "секреты",
          "parolele", "cheile", "hasła", "klucze", "wachtwoorden", "sleutels", "lösenord"],
    ),
    // Checks are taken away.
    (
        &["delete", "remove", "erase", "disable", "skip", "bypass", "deactivate", "silence", "löschen", "entfernen", "deaktivieren",
          "überspringen", "abschalten", "umgehen", "effacer", "supprimer", "désactiver", "sauter", "contourner", "borrar", "eliminar",
          "desactivar", "omitir", "saltar", "saltarse", "apagar", "desativar", "pular", "cancellare", "disattivare", "saltare", "rimuovere", "удал*", "отключ*", "пропус*",
          "вимкнути", "ștearg*", "dezactiv*", "sară", "usunąć", "usuwać", "wyłącz*", "pomij*", "verwijderen", "uitschakelen", "overslaan"],
        &["test", "tests", "specs", "check", "checks", "hook", "hooks", "review", "reviews", "guard", "guards", "audit", "daudit", "verification", "permissions",
          "signature*", "prüfungen", "prüfung", "signaturprüfung", "berechtigungen", "vérification*", "révision", "pruebas", "comprobaciones", "revisión", "permisos", "testes",
          "verificaç*", "revisão", "controlli", "verifiche", "тест*", "проверк*", "перевірк*", "testele", "verificările", "testy", "kontrole",
          "sprawdzanie", "controles"],
    ),
    // Consent is given in the user's place.
    (
        &["accept", "approve", "confirm", "allow", "grant", "akzeptieren", "genehmigen", "bestätigen", "erlauben", "accepter", "approuver",
          "autoriser", "aceptar", "aprobar", "autorizar", "aceitar", "aprovar", "accettare", "approvare", "принимать", "одобрять",
          "подтверждать", "accepte", "aprobe", "akceptować", "zatwierdzać", "accepteren", "goedkeuren"],
        &["permission", "permissions", "prompts", "requests", "confirmations", "berechtigung*", "anfragen", "nachfragen", "dautorisation", "autorisation*", "permiso*",
          "solicitudes", "permissões", "permessi", "richieste", "разрешения", "запросы", "permisiunile", "cererile", "uprawnienia", "prośby", "toestemming*"],
    ),
];

/// Acts that endanger with an address of a stranger.
#[rustfmt::skip]
const REACHING: &[&str] = &[
    "send", "upload", "post", "mirror", "forward", "stream", "copy", "install", "run", "execute", "download", "pull", "senden", "schicken",
    "hochladen", "installieren", "ausführen", "herunterladen", "envoyer", "installer", "exécuter", "télécharger", "enviar", "subir",
    "instalar", "ejecutar", "executar", "descargar", "baixar", "inviare", "installare", "eseguire", "scaricare", "отправ*", "установ*", "запуск*",
    "запуст*", "скач*", "trimită", "instaleze", "ruleze", "descarce", "wysłać", "zainstalować", "uruchomić", "pobrać", "sturen",
    "installeren", "uitvoeren",
];

/// The same in scripts without spaces: agents, duties, acts, objects, and what forbids.
const UNSPACED_AGENTS: &[&str] = &[
    "助手",
    "智能体",
    "ai",
    "アシスタント",
    "エージェント",
    "어시스턴트",
    "에이전트",
];
const UNSPACED_DUTIES: &[&str] = &[
    "必须",
    "务必",
    "应",
    "请",
    "每次",
    "一律",
    "こと",
    "してください",
    "なければ",
    "해야",
    "하세요",
];
const UNSPACED_DANGERS: &[(&[&str], &[&str])] = &[
    (
        &[
            "发送",
            "上传",
            "写进",
            "写入",
            "提交",
            "送信",
            "アップロード",
            "書き込",
            "보내",
            "전송",
            "업로드",
        ],
        &[
            ".env",
            "密钥",
            "密码",
            "凭证",
            "令牌",
            "id_rsa",
            "~/.",
            "http",
            "パスワード",
            "認証情報",
            "秘密鍵",
            "비밀번호",
            "토큰",
        ],
    ),
    (
        &[
            "删除",
            "禁用",
            "关闭",
            "跳过",
            "削除",
            "無効",
            "スキップ",
            "삭제",
            "비활성",
            "건너",
        ],
        &[
            "测试",
            "检查",
            "审查",
            "校验",
            "权限",
            "テスト",
            "検査",
            "レビュー",
            "権限",
            "테스트",
            "검사",
            "권한",
        ],
    ),
    (
        &[
            "确认なし",
            "確認なし",
            "確認せず",
            "不经确认",
            "无需确认",
            "未经确认",
            "확인 없이",
        ],
        &["push", "main", "合并", "マージ", "删除", "削除"],
    ),
];
const UNSPACED_BANS: &[&str] = &[
    "不得",
    "禁止",
    "不能",
    "不可",
    "してはならない",
    "してはいけない",
    "禁じ",
    "금지",
];

/// The index of the act in a sentence that makes something dangerous the duty of an agent.
pub(super) fn dangerous_duty(words: &[&str]) -> Option<usize> {
    let agents = (0..words.len()).filter(|at| is_one_of(words[*at], AGENTS));
    agents
        .filter_map(|agent| {
            let near = agent + 1..words.len().min(agent + 2 + MAX_BETWEEN);
            let duty = near.clone().find(|at| is_one_of(words[*at], DUTIES))?;
            (duty + 1..words.len()).find(|act| is_dangerous(words, duty + 1, *act))
        })
        .next()
}

/// Whether an act endangers. Its object stands after it or, with an infinitive as in German, between the duty and the act.
fn is_dangerous(words: &[&str], from: usize, act: usize) -> bool {
    let is_last = words[act].ends_with("en");
    let after = &words[if is_last { from } else { act + 1 }..];
    let has = |objects: &[&str]| after.iter().any(|word| is_one_of(word, objects));
    let is_danger = DANGERS
        .iter()
        .any(|(acts, objects)| is_one_of(words[act], acts) && has(objects))
        || is_one_of(words[act], REACHING) && after.iter().any(|word| is_foreign(word));
    is_danger && !is_negated(words, act, 4)
}

fn is_foreign(word: &str) -> bool {
    word.split_once("://")
        .is_some_and(|(_, address)| host(address).is_foreign())
}

/// As [`dangerous_duty`], in a sentence of a script without spaces.
pub(super) fn is_unspaced_duty(sentence: &str) -> bool {
    let has = |pieces: &[&str]| pieces.iter().any(|piece| sentence.contains(piece));
    has(UNSPACED_AGENTS)
        && has(UNSPACED_DUTIES)
        && UNSPACED_DANGERS
            .iter()
            .any(|(acts, objects)| has(acts) && has(objects))
        && !has(UNSPACED_BANS)
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words
        .iter()
        .any(|one| match (one.strip_prefix('*'), one.strip_suffix('*')) {
            (Some(end), _) => word.ends_with(end),
            (_, Some(beginning)) => word.starts_with(beginning),
            _ => word == *one,
        })
}

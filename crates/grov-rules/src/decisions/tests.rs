use super::*;
use Source::{Answer, Closing, Commit, Prompt, Report};

fn find(source: Source, text: &str) -> Vec<(String, String)> {
    let found = decisions([(source, text)]);
    found.into_iter().map(|one| (one.choice, one.reason)).collect()
}

fn check(cases: &[(Source, &str, &str, &str)]) {
    for (source, text, choice, reason) in cases {
        let found = find(*source, text);
        let is_found = found.iter().any(|(one, why)| one == choice && why == reason);
        assert!(is_found, "{text}: {found:?}");
    }
}

#[test]
fn a_request_with_a_colon_is_no_decision() {
    for prompt in [
        "Fix the navbar: the logo overlaps the menu on phones",
        "Rewrite section 4.2: use the Horvitz-Thompson estimator consistently",
        "Add tests for the parser: empty input, huge input, unicode",
        "Refactor the mailer: use async everywhere, keep the old signature",
        "Fix the footer (the links wrap on small screens)",
        "Change the export: the file must open in Excel",
        "Repariere die Navigation: das Logo überdeckt das Menü auf Handys",
        "Corrige la barre : le logo recouvre le menu sur mobile",
        "Arregla la barra: el logo tapa el menú en el móvil",
    ] {
        assert_eq!(find(Prompt, prompt), [], "{prompt}");
    }
    for prompt in [
        "keep the old endpoint: two partners still call it",
        "don't use moment: it is deprecated",
        "Use SQLite instead of Postgres: the kiosk has no network",
    ] {
        assert_eq!(find(Prompt, prompt).len(), 1, "{prompt}");
    }
}

#[test]
fn a_decision_that_the_user_overruled_is_left_out() {
    let choices = |texts: &[(Source, &'static str)]| -> Vec<String> {
        let found = decisions(texts.iter().copied());
        found.into_iter().map(|one| one.choice).collect()
    };
    let asked = (Prompt, "Cache the exchange rates in a.py");
    let redis = (
        Report,
        "Done. I chose Redis over an in-process dict because several workers share it.",
    );
    let reversed = (
        Prompt,
        "No, take the dict instead, because we have only one worker and Redis is one more service.",
    );
    let switched = (Report, "Switched to an in-process dict.");
    assert_eq!(
        choices(&[asked, reversed, redis, switched]),
        ["No, take the dict instead"]
    );
    let moment = (Report, "I used moment.js because it was there already.");
    let never = (Prompt, "use date-fns, never moment");
    let replaced = (Report, "Replaced moment.js by date-fns.");
    assert_eq!(choices(&[asked, never, moment, replaced]), Vec::<String>::new());
    // What the agent says after the last prompt holds, and so does what the first prompt asked for.
    let one = (Prompt, "we have one worker only. use a dict");
    let dict = (Report, "Changed to a dict because there is only one worker.");
    assert_eq!(choices(&[asked, one, redis, dict]), ["Changed to a dict"]);
    assert_eq!(choices(&[reversed, redis]).len(), 2);
    // What was taken back was decided for nothing.
    let revert = (Prompt, "That made it slower. Revert it.");
    let back = (
        Report,
        "Reverted. I kept the tests because they are useful anyway.",
    );
    assert_eq!(choices(&[asked, revert, redis, back]), ["I kept the tests"]);
    // Another order leaves it.
    let test = (Prompt, "now add a test for the cache");
    assert_eq!(
        choices(&[asked, test, redis, switched]),
        ["I chose Redis over an in-process dict"]
    );
}

#[test]
#[rustfmt::skip]
fn decisions_of_ordinary_closing_texts_are_found() {
    check(&[
        (Report, "Done. Postgres tsvector over Elasticsearch because we have only 40k articles.", "Postgres tsvector over Elasticsearch", "we have only 40k articles"),
        (Report, "Done. UUIDv7 over v4 because index pages stay ordered.", "UUIDv7 over v4", "index pages stay ordered"),
        (Report, "Done. anyio over asyncio because trio users exist too.", "anyio over asyncio", "trio users exist too"),
        (Report, "The refresh token is kept in an HttpOnly cookie rather than localStorage because of XSS.", "The refresh token is kept in an HttpOnly cookie rather than localStorage", "XSS"),
        (Report, "Done.\n\n**Key decisions**\n1. Used `zod` over `yup` – better type inference.\n2. Tokens expire after 10 min (was 60).", "Used `zod` over `yup`", "better type inference"),
        (Report, "Summary:\n\n- **Retries**: exponential backoff, so a dead host is not hammered", "Retries: exponential backoff", "so a dead host is not hammered"),
        (Report, "Entscheidungen:\n- `prefetch_related` statt einer Rohabfrage, weil die Filter auf dem ORM aufbauen.", "`prefetch_related` statt einer Rohabfrage", "die Filter auf dem ORM aufbauen"),
    ]);
    for text in [
        "Requests go over HTTPS because the proxy needs it.",
        "The request runs over TLS because the bank demands it.",
        "- **Build**: the cache was stale, so the old file was served",
    ] {
        assert_eq!(find(Report, text), [], "{text}");
    }
}

#[test]
#[rustfmt::skip]
fn decisions_with_their_reasons_are_found_in_english() {
    check(&[
        (Closing, "We keep SQLite because nothing else runs on the kiosk.", "We keep SQLite", "nothing else runs on the kiosk"),
        (Closing, "Went with a cursor rather than offsets, since rows are deleted while people page.", "Went with a cursor rather than offsets", "rows are deleted while people page"),
        (Closing, "I left the old endpoint in place: two partners still call it.", "I left the old endpoint in place", "two partners still call it"),
        (Closing, "The queue is capped at 500 (beyond that the phone runs out of memory).", "The queue is capped at 500", "beyond that the phone runs out of memory"),
        (Closing, "Chose bcrypt over argon2 as the host has only 64 MB of memory.", "Chose bcrypt over argon2", "the host has only 64 MB of memory"),
        (Closing, "The lock is per file, not per folder, because two editors may save at once.", "The lock is per file, not per folder", "two editors may save at once"),
        (Closing, "Because the vendor's API drops requests above 10 per second, calls go through a token bucket.", "calls go through a token bucket", "the vendor's API drops requests above 10 per second"),
        (Closing, "Why not Redis: it would be the only stateful service.", "Why not Redis", "it would be the only stateful service"),
        (Closing, "Trade-off: polling every 30 s instead of webhooks, since the firewall blocks inbound calls.", "Trade-off: polling every 30 s instead of webhooks", "the firewall blocks inbound calls"),
        (Closing, "**Decision:** one table per tenant\n**Reason:** the auditor wants separate backups", "one table per tenant", "the auditor wants separate backups"),
        (Closing, "## Decisions\n- pnpm — its store is shared between the CI jobs\n- no turborepo, we have only two packages", "pnpm", "its store is shared between the CI jobs"),
        (Closing, "| Decision | Why |\n|---|---|\n| keep moment.js | the date picker needs it |", "keep moment.js", "the date picker needs it"),
        (Prompt, "use tabs in the templates, because the legacy editor breaks on spaces", "use tabs in the templates", "the legacy editor breaks on spaces"),
        (Prompt, "don't use moment, it's deprecated", "don't use moment", "it's deprecated"),
        (Answer, "The second one. We already pay for it.", "The second one", "We already pay for it."),
        (Answer, "Postgres because the analysts know it", "Postgres", "the analysts know it"),
        (Commit, "Store prices in cents\n\nFloats lost a cent in every third invoice, which the tax office noticed.", "Store prices in cents", "Floats lost a cent in every third invoice, which the tax office noticed"),
        (Commit, "Use a partial index\n\n98 % of the rows are archived, a full index would be 40 GB.", "Use a partial index", "98 % of the rows are archived, a full index would be 40 GB"),
    ]);
}

#[test]
#[rustfmt::skip]
fn decisions_with_their_reasons_are_found_in_german() {
    check(&[
        (Closing, "Ich habe die Tabelle nicht aufgeteilt, denn die Berichte greifen immer auf beide Hälften zu.", "Ich habe die Tabelle nicht aufgeteilt", "die Berichte greifen immer auf beide Hälften zu"),
        (Closing, "Statt Redis läuft der Cache im Prozess, weil auf dem Server kein weiterer Dienst erlaubt ist.", "Statt Redis läuft der Cache im Prozess", "auf dem Server kein weiterer Dienst erlaubt ist"),
        (Closing, "Das Datum bleibt als Text gespeichert, damit der alte Export weiter funktioniert.", "Das Datum bleibt als Text gespeichert", "damit der alte Export weiter funktioniert"),
        (Closing, "Da der Drucker nur 200 dpi kann, skaliere ich die Etiketten vorher.", "skaliere ich die Etiketten vorher", "der Drucker nur 200 dpi kann"),
        (Closing, "Die Liste wird beim Start geladen, sonst wartet der erste Nutzer vier Sekunden.", "Die Liste wird beim Start geladen", "sonst wartet der erste Nutzer vier Sekunden"),
        (Prompt, "nimm bitte UUIDs statt laufender Nummern, weil Kunden sonst unsere Auftragszahlen sehen", "nimm bitte UUIDs statt laufender Nummern", "Kunden sonst unsere Auftragszahlen sehen"),
        (Answer, "SQLite, weil der Kiosk kein Netz hat", "SQLite", "der Kiosk kein Netz hat"),
        (Commit, "feat: Sperre je Datei statt je Ordner, weil zwei Leute gleichzeitig speichern", "feat: Sperre je Datei statt je Ordner", "zwei Leute gleichzeitig speichern"),
    ]);
}

#[test]
#[rustfmt::skip]
fn decisions_with_their_reasons_are_found_in_french() {
    check(&[
        (Closing, "J'ai gardé l'ancien format car les machines de l'atelier ne lisent que celui-là.", "J'ai gardé l'ancien format", "les machines de l'atelier ne lisent que celui-là"),
        (Closing, "Le cache expire au bout de 5 minutes, parce que les prix changent toutes les dix minutes.", "Le cache expire au bout de 5 minutes", "les prix changent toutes les dix minutes"),
        (Closing, "Pas de transaction distribuée : la banque ne la propose pas.", "Pas de transaction distribuée", "la banque ne la propose pas"),
        (Closing, "Comme le pare-feu bloque les websockets, j'utilise le long polling.", "j'utilise le long polling", "le pare-feu bloque les websockets"),
        (Closing, "J'ai choisi Symfony Messenger plutôt que RabbitMQ, puisqu'il tourne déjà en production.", "J'ai choisi Symfony Messenger plutôt que RabbitMQ", "puisqu'il tourne déjà en production"),
        (Prompt, "ajoute l'export, mais en CSV et pas en Excel car le comptable l'importe dans Sage", "ajoute l'export, mais en CSV et pas en Excel", "le comptable l'importe dans Sage"),
        (Answer, "la deuxième, on paie déjà la licence", "la deuxième", "on paie déjà la licence"),
        (Commit, "Garder l'ancien format\n\nLes machines de l'atelier ne lisent que celui-là.", "Garder l'ancien format", "Les machines de l'atelier ne lisent que celui-là"),
    ]);
}

#[test]
#[rustfmt::skip]
fn decisions_with_their_reasons_are_found_in_spanish() {
    check(&[
        (Closing, "He dejado el timeout en 30 s porque el banco tarda hasta 25 en responder.", "He dejado el timeout en 30 s", "el banco tarda hasta 25 en responder"),
        (Closing, "Uso un índice parcial, pues el 98 % de las filas están archivadas.", "Uso un índice parcial", "el 98 % de las filas están archivadas"),
        (Closing, "No he tocado la migración: ya está aplicada en producción.", "No he tocado la migración", "ya está aplicada en producción"),
        (Closing, "Como el proveedor limita a 5 peticiones por segundo, las llamadas van en cola.", "las llamadas van en cola", "el proveedor limita a 5 peticiones por segundo"),
        (Closing, "En lugar de websockets uso SSE, para que el proxy corporativo no corte la conexión.", "En lugar de websockets uso SSE", "para que el proxy corporativo no corte la conexión"),
        (Prompt, "pon el límite en 20 porque la impresora se atasca con más", "pon el límite en 20", "la impresora se atasca con más"),
        (Answer, "la primera: el equipo ya la conoce", "la primera", "el equipo ya la conoce"),
    ]);
}

#[test]
#[rustfmt::skip]
fn decisions_with_their_reasons_are_found_in_italian() {
    check(&[
        (Closing, "Ho tenuto il vecchio endpoint perché due clienti lo usano ancora.", "Ho tenuto il vecchio endpoint", "due clienti lo usano ancora"),
        (Closing, "Uso una coda su database invece di Redis, dato che il server è uno solo.", "Uso una coda su database invece di Redis", "il server è uno solo"),
        (Closing, "Siccome il sensore manda dati ogni secondo, salvo solo la media al minuto.", "salvo solo la media al minuto", "il sensore manda dati ogni secondo"),
        (Closing, "Niente cache lato client: i prezzi cambiano ogni minuto e il cliente deve vederli.", "Niente cache lato client", "i prezzi cambiano ogni minuto e il cliente deve vederli"),
        (Prompt, "metti i log su file, il cliente non ha internet", "metti i log su file", "il cliente non ha internet"),
    ]);
}

#[test]
#[rustfmt::skip]
fn decisions_with_their_reasons_are_found_in_portuguese() {
    check(&[
        (Closing, "Mantive o Postgres 13, pois a extensão do cliente não funciona no 16.", "Mantive o Postgres 13", "a extensão do cliente não funciona no 16"),
        (Closing, "As datas ficam em UTC porque as lojas estão em três fusos.", "As datas ficam em UTC", "as lojas estão em três fusos"),
        (Closing, "Não usei websockets, já que o proxy da empresa bloqueia.", "Não usei websockets", "o proxy da empresa bloqueia"),
        (Closing, "Preferi uma fila no banco em vez do Redis para que a equipe não precise operar outro serviço.", "Preferi uma fila no banco em vez do Redis", "para que a equipe não precise operar outro serviço"),
        (Prompt, "guarda só 30 dias, por causa da LGPD", "guarda só 30 dias", "da LGPD"),
    ]);
}

#[test]
#[rustfmt::skip]
fn decisions_with_their_reasons_are_found_in_dutch() {
    check(&[
        (Closing, "Ik heb de oude route laten staan, want de app van vorig jaar gebruikt hem nog.", "Ik heb de oude route laten staan", "de app van vorig jaar gebruikt hem nog"),
        (Closing, "De cache duurt 60 seconden, omdat de voorraad elke minuut verandert.", "De cache duurt 60 seconden", "de voorraad elke minuut verandert"),
        (Closing, "Geen websockets: de proxy van de klant laat ze niet door.", "Geen websockets", "de proxy van de klant laat ze niet door"),
        (Closing, "Aangezien de printer alleen Latin-1 kent, zet ik de namen om.", "zet ik de namen om", "de printer alleen Latin-1 kent"),
        (Prompt, "gebruik geen cookies, de klant wil geen banner", "gebruik geen cookies", "de klant wil geen banner"),
    ]);
}

#[test]
#[rustfmt::skip]
fn decisions_with_their_reasons_are_found_in_polish() {
    check(&[
        (Closing, "Zostawiłem stary format, bo czytniki w magazynie nie znają nowego.", "Zostawiłem stary format", "czytniki w magazynie nie znają nowego"),
        (Closing, "Kolejka działa w bazie zamiast w Redisie, ponieważ administrator nie chce kolejnej usługi.", "Kolejka działa w bazie zamiast w Redisie", "administrator nie chce kolejnej usługi"),
        (Closing, "Limit wynosi 200 wierszy, żeby wydruk mieścił się na jednej stronie.", "Limit wynosi 200 wierszy", "żeby wydruk mieścił się na jednej stronie"),
        (Closing, "Nie dodałem indeksu: tabela ma tylko 300 wierszy.", "Nie dodałem indeksu", "tabela ma tylko 300 wierszy"),
        (Prompt, "użyj PostgreSQL, bo hosting nie ma MySQL", "użyj PostgreSQL", "hosting nie ma MySQL"),
        (Answer, "Kafka nie, za drogi w utrzymaniu", "Kafka nie", "za drogi w utrzymaniu"),
    ]);
}

#[test]
#[rustfmt::skip]
fn decisions_with_their_reasons_are_found_in_romanian() {
    check(&[
        (Closing, "Am păstrat formatul vechi, fiindcă cititoarele din depozit nu îl știu pe cel nou.", "Am păstrat formatul vechi", "cititoarele din depozit nu îl știu pe cel nou"),
        (Closing, "Folosesc o coadă în baza de date în loc de Redis, deoarece serverul are doar 1 GB.", "Folosesc o coadă în baza de date în loc de Redis", "serverul are doar 1 GB"),
        (Closing, "Nu am adăugat cache, pentru că prețurile se schimbă la fiecare minut.", "Nu am adăugat cache", "prețurile se schimbă la fiecare minut"),
        (Closing, "Cum furnizorul limitează la 5 cereri pe secundă, apelurile merg printr-o coadă.", "apelurile merg printr-o coadă", "furnizorul limitează la 5 cereri pe secundă"),
        (Prompt, "folosește porturile peste 8000, fiindcă cele mici sunt ocupate de firewall", "folosește porturile peste 8000", "cele mici sunt ocupate de firewall"),
    ]);
}

#[test]
#[rustfmt::skip]
fn decisions_with_their_reasons_are_found_in_turkish() {
    check(&[
        (Closing, "Eski formatı bıraktım, çünkü depodaki okuyucular yenisini bilmiyor.", "Eski formatı bıraktım", "depodaki okuyucular yenisini bilmiyor"),
        (Closing, "Sunucuda tek çekirdek olduğu için iş kuyruğunu tek işçiyle çalıştırıyorum.", "iş kuyruğunu tek işçiyle çalıştırıyorum", "Sunucuda tek çekirdek olduğu için"),
        (Closing, "Redis yerine veritabanında kuyruk kullandım; sunucuda başka servise izin yok.", "Redis yerine veritabanında kuyruk kullandım", "sunucuda başka servise izin yok"),
        (Closing, "Önbellek kullanmadım: fiyatlar her dakika değişiyor.", "Önbellek kullanmadım", "fiyatlar her dakika değişiyor"),
        (Prompt, "PDF yerine HTML gönder, çünkü müşteriler telefondan okuyor", "PDF yerine HTML gönder", "müşteriler telefondan okuyor"),
    ]);
}

#[test]
#[rustfmt::skip]
fn decisions_with_their_reasons_are_found_in_russian() {
    check(&[
        (Closing, "Оставил старый формат, потому что сканеры на складе не знают нового.", "Оставил старый формат", "сканеры на складе не знают нового"),
        (Closing, "Вместо Redis взял очередь в базе, так как второй сервис поддерживать некому.", "Вместо Redis взял очередь в базе", "второй сервис поддерживать некому"),
        (Closing, "Кэш не добавлял: цены меняются каждую минуту.", "Кэш не добавлял", "цены меняются каждую минуту"),
        (Closing, "Храню даты в UTC, чтобы отчёты трёх офисов совпадали.", "Храню даты в UTC", "чтобы отчёты трёх офисов совпадали"),
        (Answer, "вторую, за неё уже заплачено", "вторую", "за неё уже заплачено"),
    ]);
}

#[test]
#[rustfmt::skip]
fn decisions_with_their_reasons_are_found_in_chinese() {
    check(&[
        (Closing, "保留了旧格式，因为仓库的扫码枪不认识新格式。", "保留了旧格式", "仓库的扫码枪不认识新格式"),
        (Closing, "由于防火墙拦截 websocket，改用长轮询。", "改用长轮询", "防火墙拦截 websocket"),
        (Closing, "没有加缓存：价格每分钟都在变。", "没有加缓存", "价格每分钟都在变"),
        (Closing, "缓存时间设为 60 秒，免得库存显示过期。", "缓存时间设为 60 秒", "免得库存显示过期"),
        (Closing, "选择 SQLite 而不是 Postgres，因为设备上没有多余内存。", "选择 SQLite 而不是 Postgres", "设备上没有多余内存"),
        (Closing, "防火墙会拦截 websocket，所以用了长轮询。", "用了长轮询", "防火墙会拦截 websocket"),
        (Prompt, "每页显示 50 条，因为会计按 50 条打印", "每页显示 50 条", "会计按 50 条打印"),
        (Prompt, "用 pnpm，不要 npm，我们的磁盘太小", "用 pnpm，不要 npm", "我们的磁盘太小"),
        (Answer, "用 SQLite，设备没有网络", "用 SQLite", "设备没有网络"),
    ]);
}

#[test]
#[rustfmt::skip]
fn decisions_with_their_reasons_are_found_in_japanese() {
    check(&[
        (Closing, "古い形式を残しました。倉庫の端末が新しい形式を読めないためです。", "古い形式を残しました", "倉庫の端末が新しい形式を読めないためです"),
        (Closing, "プロキシがwebsocketを通さないので、ロングポーリングを使いました。", "ロングポーリングを使いました", "プロキシがwebsocketを通さないので"),
        (Closing, "キャッシュは入れていません。価格が毎分変わるからです。", "キャッシュは入れていません", "価格が毎分変わるからです"),
        (Closing, "Redisではなくデータベースのキューにしたのは、運用できる人がいないためです。", "Redisではなくデータベースのキューにした", "運用できる人がいないためです"),
        (Closing, "日付はUTCで保存します（拠点が三つの時間帯にあるため）。", "日付はUTCで保存します", "拠点が三つの時間帯にあるため）"),
        (Prompt, "一覧は50件ずつにして。経理が50件単位で印刷するから", "一覧は50件ずつにして", "経理が50件単位で印刷するから"),
        (Prompt, "日付は和暦にしてください。役所に出す書類なので", "日付は和暦にしてください", "役所に出す書類なので"),
        (Answer, "SQLite。端末にネットワークがないので", "SQLite", "端末にネットワークがないので"),
    ]);
}

#[test]
#[rustfmt::skip]
fn narration_questions_and_advice_are_no_decisions() {
    let texts = [
        (Closing, "The test failed because the cookie was missing."),
        (Closing, "The page was slow since it loaded every row."),
        (Closing, "Fixed the crash in the parser and added a test."),
        (Closing, "All 24 tests pass now."),
        (Closing, "I used three files: a.rs, b.rs and c.rs."),
        (Closing, "The login did not work because the session expired too early."),
        (Closing, "You could use Redis instead, because it is faster."),
        (Closing, "I would suggest keeping the index since it helps the report."),
        (Closing, "The component re-rendered because options was a new object each time."),
        (Closing, "Done. Let me know if you want anything else."),
        (Closing, "The error came from a missing null check, so I added one."),
        (Closing, "It reads fifty rows at a time because that is the page size."),
        (Closing, "Der Test schlug fehl, weil die Datei fehlte."),
        (Closing, "Die Seite war langsam, weil alle Zeilen geladen wurden."),
        (Closing, "Alle Tests laufen durch."),
        (Closing, "Le test échouait parce que le fichier manquait."),
        (Closing, "La page plantait car la session était vide."),
        (Closing, "El test fallaba porque faltaba el archivo."),
        (Closing, "La página era lenta porque cargaba todas las filas."),
        (Closing, "Il test falliva perché mancava il file."),
        (Closing, "O teste falhava porque faltava o arquivo."),
        (Closing, "De test faalde omdat het bestand ontbrak."),
        (Closing, "Test nie przechodził, bo brakowało pliku."),
        (Closing, "Testul pica pentru că lipsea fișierul."),
        (Closing, "Test başarısız oldu çünkü dosya yoktu."),
        (Closing, "Тест падал, потому что не было файла."),
        (Closing, "测试失败是因为缺少文件。"),
        (Closing, "ファイルがなかったため、テストが失敗していました。"),
        (Closing, "Next: invoice, digest, goodbye."),
        (Closing, "Should I also add YAML?"),
        (Closing, "The build takes 14 s instead of 4 minutes."),
        (Closing, "I renamed the function as requested."),
        (Closing, "Added the flag to `list` and `show`."),
        (Closing, "Everything works as expected on the staging server now."),
        (Closing, "Two of five templates are ported."),
        (Prompt, "Fix the login, it fails since yesterday"),
        (Prompt, "The cart loses its items when one logs in. Fix that."),
        (Prompt, "why does it fail on Windows but not on Linux?"),
        (Prompt, "can you explain how the cache works, because I have to present it tomorrow"),
        (Prompt, "thanks, that was quick"),
        (Prompt, "Der Login geht nicht mehr, weil das Zertifikat abgelaufen ist. Bitte reparieren"),
        (Prompt, "corrige el error porque el cliente se queja"),
        (Commit, "Fix typo"),
        (Commit, "Add retry to the sender\n\nCo-authored-by: A <a@b.c>"),
        (Commit, "Bump sqlx to 0.8\n\n- update Cargo.toml\n- fix calls"),
    ];
    for (source, text) in texts {
        assert_eq!(find(source, text), [], "{text}");
    }
}

#[test]
#[rustfmt::skip]
fn what_reads_like_a_decision_and_is_none_is_left_out() {
    for (source, text) in [
        (Closing, "The issue was that Railway uses the backend folder, because the Dockerfile is there."),
        (Closing, "VLC shows a frame and exits, because it doesn't know how to read the stream."),
        (Closing, "Option 1: use `ffplay`, because it comes with ffmpeg"),
        (Closing, "Make sure that no config file is set, because the default is right."),
        (Closing, "You can use either approach:\n- Skip the migration, because the base is empty\n- Use a dump\n\nWhich one do you prefer?"),
        (Closing, "Reload the window so that the tab picks up the new rules."),
        (Closing, "如果没有配置头像，显示骨架屏，避免默认头像闪烁。"),
        (Prompt, "[21:33:09.282] Running build in Washington, because the cache was not used"),
        (Prompt, "help: Changed in 2.0: `pipeline` has been renamed to `tasks`"),
        (Answer, "yes, clean it up and keep only the skeleton"),
        (Answer, "I already built this and it worked well. So commit and push"),
        (Answer, "it is not up to date, I still see 5700 untracked files in the changes tab"),
    ] {
        assert_eq!(find(source, text), [], "{text}");
    }
}

#[test]
fn a_decision_that_is_told_twice_is_kept_once() {
    let closing = "Partials are `mj-include` files since mjml has no partials of its own.";
    let summary = "2. Decisions: partials became mj-include, since mjml has no partials of its own.";
    let found = decisions([(Closing, summary), (Closing, closing)]);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn of_many_decisions_the_surest_are_kept() {
    let weak = (0..20).map(|n| {
        format!("- Added part{n} of module{n} in folder{n}, since item{n} needs thing{n} and stuff{n}")
    });
    let mut text: Vec<String> = weak.collect();
    text.push("I kept gp3 instead of io2, because io2 would triple the bill.".to_owned());
    let found = decisions([(Closing, text.join("\n").as_str())]);
    assert_eq!(found.len(), MAX_DECISIONS);
    assert!(
        found.iter().any(|one| one.choice == "I kept gp3 instead of io2"),
        "{found:?}"
    );
}

#[test]
fn messages_of_commits_are_read_from_the_command_line() {
    let cases = [
        (
            "git commit -m 'One' -m \"Two \\\"x\\\"\"",
            Some("One\n\nTwo \"x\""),
        ),
        (
            "git add . && git commit -qam 'Sort\n\nWhy.'",
            Some("Sort\n\nWhy."),
        ),
        ("git commit --message=\"One\"", Some("One")),
        (
            "git commit -m \"$(cat <<'EOF'\nOne\n\nTwo\nEOF\n)\"",
            Some("One\n\nTwo"),
        ),
        ("git commit --amend --no-edit", None),
        ("git status", None),
    ];
    for (command, expected) in cases {
        assert_eq!(commit_message(command).as_deref(), expected, "{command}");
    }
}

#[test]
fn what_grov_added_to_a_prompt_states_no_decision() {
    let text = "<grov-context source=\"memory\">We keep SQLite because nothing else runs.</grov-context>Fix the login";
    assert_eq!(find(Prompt, text), []);
}

#[test]
fn tables_of_words_are_sorted() {
    for table in [
        lexicon::CAUSES,
        lexicon::PURPOSES,
        lexicon::OTHERWISE,
        lexicon::CONSEQUENCES,
        lexicon::ALTERNATIVES,
        lexicon::DECIDED,
        lexicon::CHOICES,
        lexicon::NEGATIONS,
        lexicon::PROBLEMS,
        lexicon::FAILING_VERBS,
        lexicon::ADVICE,
        lexicon::RATIONALES,
        lexicon::SPEAKERS,
        lexicon::DETERMINERS,
        lexicon::INQUIRIES,
    ] {
        for pair in table.windows(2) {
            assert!(pair[0] < pair[1], "{pair:?}");
        }
    }
}

#[test]
#[rustfmt::skip]
fn decisions_without_the_usual_connectives_are_found() {
    check(&[
        (Closing, "Done! I went for a two-phase rollout so nobody loses data mid-way.", "I went for a two-phase rollout", "so nobody loses data mid-way"),
        (Closing, "The endpoint stays synchronous; the callers can't handle a 202.", "The endpoint stays synchronous", "the callers can't handle a 202"),
        (Closing, "Sessions live in the database now, not in memory: with two nodes a user would lose the cart.", "Sessions live in the database now, not in memory", "with two nodes a user would lose the cart"),
        (Closing, "Picked zstd level 3: level 9 saved 2 % and took four times as long.", "Picked zstd level 3", "level 9 saved 2 % and took four times as long"),
        (Closing, "Decision: no retry for POST, it is not idempotent.", "no retry for POST", "it is not idempotent"),
        (Closing, "Note: batch size is 200 because SQS limits a batch to 256 KB.", "Note: batch size is 200", "SQS limits a batch to 256 KB"),
        (Closing, "Instead of a trigger I wrote the audit row in the service, that way the tests can see it.", "Instead of a trigger I wrote the audit row in the service", "that way the tests can see it"),
        (Closing, "Reason for the separate table: the auditor may not read customer names.", "the separate table", "the auditor may not read customer names"),
        (Closing, "Der Job läuft um 3 Uhr und nicht stündlich, da die Bank ihre Datei nur nachts liefert.", "Der Job läuft um 3 Uhr und nicht stündlich", "die Bank ihre Datei nur nachts liefert"),
        (Closing, "Entschieden habe ich mich für Argon2, weil bcrypt Passwörter nach 72 Byte abschneidet.", "Entschieden habe ich mich für Argon2", "bcrypt Passwörter nach 72 Byte abschneidet"),
        (Closing, "Kein Retry bei POST – der Endpunkt ist nicht idempotent.", "Kein Retry bei POST", "der Endpunkt ist nicht idempotent"),
        (Closing, "Grund für die eigene Tabelle: der Prüfer darf keine Kundennamen sehen.", "die eigene Tabelle", "der Prüfer darf keine Kundennamen sehen"),
        (Closing, "J'ai opté pour une table à part afin que l'auditeur ne voie pas les noms.", "J'ai opté pour une table à part", "afin que l'auditeur ne voie pas les noms"),
        (Closing, "On reste sur PHP 8.1, l'hébergeur ne propose pas plus récent.", "On reste sur PHP 8.1", "l'hébergeur ne propose pas plus récent"),
        (Closing, "Opté por una cola en base de datos; Redis sería otro servicio que mantener.", "Opté por una cola en base de datos", "Redis sería otro servicio que mantener"),
        (Closing, "El límite queda en 100 por lote, porque la API rechaza más.", "El límite queda en 100 por lote", "la API rechaza más"),
        (Closing, "Decisión: guardar el precio en céntimos, los decimales perdían un céntimo por factura.", "guardar el precio en céntimos", "los decimales perdían un céntimo por factura"),
        (Closing, "Ho scelto la coda nel database: Redis sarebbe un altro servizio da gestire.", "Ho scelto la coda nel database", "Redis sarebbe un altro servizio da gestire"),
        (Closing, "Il limite resta 100 perché l'API rifiuta di più.", "Il limite resta 100", "l'API rifiuta di più"),
        (Closing, "Optei por guardar centavos, porque os decimais perdiam um centavo por nota.", "Optei por guardar centavos", "os decimais perdiam um centavo por nota"),
        (Closing, "O lote fica em 100: a API recusa mais.", "O lote fica em 100", "a API recusa mais"),
        (Closing, "Ik koos voor een wachtrij in de database, omdat Redis weer een dienst erbij zou zijn.", "Ik koos voor een wachtrij in de database", "Redis weer een dienst erbij zou zijn"),
        (Closing, "De limiet blijft 100, want de API weigert meer.", "De limiet blijft 100", "de API weigert meer"),
        (Closing, "Wybrałem kolejkę w bazie, bo Redis to kolejna usługa do utrzymania.", "Wybrałem kolejkę w bazie", "Redis to kolejna usługa do utrzymania"),
        (Closing, "Limit zostaje 100 – API odrzuca większe paczki.", "Limit zostaje 100", "API odrzuca większe paczki"),
        (Closing, "Am ales coada din baza de date, pentru că Redis ar fi încă un serviciu de întreținut.", "Am ales coada din baza de date", "Redis ar fi încă un serviciu de întreținut"),
        (Closing, "Limita rămâne 100, căci API-ul refuză mai mult.", "Limita rămâne 100", "API-ul refuză mai mult"),
        (Closing, "Kuyruğu veritabanında tuttum, çünkü Redis bakımı yapılacak bir servis daha olurdu.", "Kuyruğu veritabanında tuttum", "Redis bakımı yapılacak bir servis daha olurdu"),
        (Closing, "Sınır 100 kaldı: API daha fazlasını reddediyor.", "Sınır 100 kaldı", "API daha fazlasını reddediyor"),
        (Closing, "Выбрал очередь в базе, потому что Redis — это ещё один сервис.", "Выбрал очередь в базе", "Redis — это ещё один сервис"),
        (Closing, "Лимит оставил 100: API больше не принимает.", "Лимит оставил 100", "API больше не принимает"),
        (Closing, "选了数据库队列，因为 Redis 又是一个要维护的服务。", "选了数据库队列", "Redis 又是一个要维护的服务"),
        (Closing, "キューはデータベースに置きました。Redisだと運用するサービスが増えるからです。", "キューはデータベースに置きました", "Redisだと運用するサービスが増えるからです"),
        (Closing, "上限は100のままにしました（APIがそれ以上を受け付けないため）。", "上限は100のままにしました", "APIがそれ以上を受け付けないため）"),
        (Closing, "Redisは見送りました。運用負荷が増えるためです。", "Redisは見送りました", "運用負荷が増えるためです"),
        (Prompt, "make the retry limit 3 since the gateway bans us after 5", "make the retry limit 3", "the gateway bans us after 5"),
        (Prompt, "let's go with option B, A would need a migration window", "let's go with option B", "A would need a migration window"),
        (Prompt, "bitte ohne neue Abhängigkeit, unser Audit dauert pro Paket zwei Wochen", "bitte ohne neue Abhängigkeit", "unser Audit dauert pro Paket zwei Wochen"),
        (Prompt, "hazlo sin librerías nuevas porque la auditoría tarda dos semanas", "hazlo sin librerías nuevas", "la auditoría tarda dos semanas"),
        (Prompt, "faz em SQL puro porque o ORM é lento demais nisso", "faz em SQL puro", "o ORM é lento demais nisso"),
        (Prompt, "生のSQLで書いて。ORMだとここが遅すぎるので", "生のSQLで書いて", "ORMだとここが遅すぎるので"),
        (Answer, "B, because A needs downtime", "B", "A needs downtime"),
        (Answer, "Option 2 — the auditors asked for it", "Option 2", "the auditors asked for it"),
        (Answer, "las dos, pero primero la web porque es lo que usan los clientes", "las dos", "pero primero la web porque es lo que usan los clientes"),
        (Answer, "lieber die zweite, die erste kennt bei uns keiner", "lieber die zweite", "die erste kennt bei uns keiner"),
        (Answer, "la seconda, la prima non la conosce nessuno", "la seconda", "la prima non la conosce nessuno"),
        (Answer, "第二个，运维只熟悉它", "第二个", "运维只熟悉它"),
        (Answer, "二番目で。運用チームが慣れているので", "二番目で", "運用チームが慣れているので"),
        (Commit, "Keep prices in cents\n\nDecimals lost a cent per invoice.", "Keep prices in cents", "Decimals lost a cent per invoice"),
        (Commit, "价格按分存储\n\n用小数时每三张发票就少一分钱。", "价格按分存储", "用小数时每三张发票就少一分钱"),
    ]);
}

/// Thousands of candidates were compared with each other.
#[test]
fn of_thousands_of_decisions_the_surest_and_oldest_are_kept() {
    let number = |number: usize| {
        let letter = |place: u32| char::from(b'a' + u8::try_from(number / 26_usize.pow(place) % 26).unwrap());
        format!("{0}{0}{1}{2}", letter(0), letter(1), letter(2))
    };
    let mut texts: Vec<String> = (0..3000)
        .map(|place| {
            let name = number(place);
            format!("I chose q{name} w{name} e{name}, because r{name} t{name} y{name} u{name}.")
        })
        .collect();
    texts.push("the queue in the database, because Redis is one more service".to_owned());
    let closing = texts[..3000].iter().map(|text| (Source::Closing, text.as_str()));
    let answer = std::iter::once((Source::Answer, texts[3000].as_str()));
    let found = super::decisions(closing.chain(answer));
    assert_eq!(found.len(), super::MAX_DECISIONS);
    assert!(found[0].choice.contains("qaaaa"), "{found:?}");
    assert!(found[7].choice.contains("queue"), "{found:?}");
}

#[test]
fn a_line_of_a_form_does_not_continue_the_reason_before_it() {
    let text = "Goal: cache the prices\nDecision: Redis with a TTL of 60 s, because four instances share it\nOpen: metrics are missing";
    let found = decisions([(Source::Closing, text)]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].choice, "Redis with a TTL of 60 s");
    assert_eq!(found[0].reason, "four instances share it");
}

#[test]
fn how_something_is_since_the_work_is_a_choice() {
    for text in [
        "Sessions are in Redis now because sticky sessions broke on deploys.",
        "Search works. Meilisearch because Elasticsearch needs 4 GB.",
        "Der Export läuft jetzt im Hintergrund, weil große Kunden in den Timeout liefen.",
        "Am trecut la Meilisearch deoarece Elasticsearch cerea 4 GB.",
    ] {
        assert_eq!(decisions([(Source::Closing, text)]).len(), 1, "{text}");
    }
    for text in [
        "The tests pass now because the clock is fixed in the setup.",
        "The job is broken now because the disk was full yesterday.",
        "Renamed because the reviewer asked about it yesterday.",
    ] {
        assert_eq!(decisions([(Source::Closing, text)]), [], "{text}");
    }
}

#[test]
#[rustfmt::skip]
fn a_decision_in_prose_is_kept_as_in_a_list() {
    check(&[
        (Report, "Done. I round half up because the tax office demands it.", "I round half up", "the tax office demands it"),
        (Report, "I append to a hash chain because the auditors want tamper evidence.", "I append to a hash chain", "the auditors want tamper evidence"),
        (Report, "Amounts are stored in cents, since floats lose precision.", "Amounts are stored in cents", "floats lose precision"),
        (Report, "Passwords are hashed with argon2id, because bcrypt truncates at 72 bytes.", "Passwords are hashed with argon2id", "bcrypt truncates at 72 bytes"),
        (Report, "Because SQLite locks the whole file, writes go through one queue.", "writes go through one queue", "SQLite locks the whole file"),
        (Report, "I split the table by tenant due to the data residency requirement.", "I split the table by tenant", "the data residency requirement"),
        (Report, "Ich speichere Zeiten in UTC, weil die Filialen in drei Zeitzonen liegen.", "Ich speichere Zeiten in UTC", "die Filialen in drei Zeitzonen liegen"),
        (Report, "The cache lives in Redis because three servers share it.", "The cache lives in Redis", "three servers share it"),
        (Report, "Je stocke les heures en UTC parce que les magasins sont dans trois fuseaux.", "Je stocke les heures en UTC", "les magasins sont dans trois fuseaux"),
    ]);
}

#[test]
fn the_cause_of_a_fault_in_prose_is_no_decision() {
    for text in [
        "It fails because X is null.",
        "The request fails because the token is null.",
        "The page renders twice because the effect runs again.",
        "It reads fifty rows at a time because that is the page size.",
        "The list is empty because the query returned nothing.",
        "I see the error because the port is closed.",
        "I think it works because the log shows it.",
        "The value is undefined because the hook runs before the fetch.",
        "I couldn't run the tests because Docker is not installed.",
        "The build runs in CI because the tests pass there.",
    ] {
        assert_eq!(find(Report, text), [], "{text}");
    }
    // A turn that changed nothing explains how something is.
    assert_eq!(
        find(
            Closing,
            "The cache lives in Redis because three servers share it."
        ),
        []
    );
}

#[test]
fn a_limit_behind_the_reason_belongs_to_the_choice() {
    let cases = [
        (
            "Decision: we use Postgres for everything because of JSON indexes, never MySQL.",
            "we use Postgres for everything, never MySQL",
            "JSON indexes",
        ),
        (
            "use pnpm because the disk is small, not yarn",
            "use pnpm, not yarn",
            "the disk is small",
        ),
        (
            "nimm UUIDs, weil Kunden sonst die Zahlen sehen, niemals laufende Nummern",
            "nimm UUIDs, niemals laufende Nummern",
            "Kunden sonst die Zahlen sehen",
        ),
    ];
    for (text, choice, reason) in cases {
        assert_eq!(
            find(Prompt, text),
            [(choice.to_owned(), reason.to_owned())],
            "{text}"
        );
    }
}

#[test]
fn a_prompt_that_only_states_a_decision_asks_for_nothing() {
    let alone = "Decision: we use Postgres for everything because of JSON indexes, never MySQL.";
    assert_eq!(super::stated_in_prompt(alone), super::StatedDecision::Alone);
    let order = "Add a cache, and use Redis because we have it already";
    assert_eq!(super::stated_in_prompt(order), super::StatedDecision::WithOrder);
    assert_eq!(
        super::stated_in_prompt("Add a cache"),
        super::StatedDecision::None
    );
}

#[test]
#[rustfmt::skip]
fn a_decision_of_we_with_since_or_because_is_found() {
    check(&[
        (Report, "We evict by LRU since the working set is skewed.", "We evict by LRU", "the working set is skewed"),
        (Report, "We now shard by tenant because one customer has half of the rows.", "We now shard by tenant", "one customer has half of the rows"),
        (Report, "Since rows are deleted while people page, we page by cursor.", "we page by cursor", "rows are deleted while people page"),
        (Report, "Wir verdrängen nach LRU, weil die Zugriffe schief verteilt sind.", "Wir verdrängen nach LRU", "die Zugriffe schief verteilt sind"),
        (Report, "Weil die Zugriffe schief verteilt sind, verdrängen wir nach LRU.", "verdrängen wir nach LRU", "die Zugriffe schief verteilt sind"),
        (Report, "On évince par LRU car les accès sont très inégaux.", "On évince par LRU", "les accès sont très inégaux"),
        (Report, "J'évince par LRU parce que les accès sont inégaux.", "J'évince par LRU", "les accès sont inégaux"),
        (Report, "Expulsamos por LRU porque los accesos están sesgados.", "Expulsamos por LRU", "los accesos están sesgados"),
        (Report, "Despejamos por LRU, já que os acessos são desiguais.", "Despejamos por LRU", "os acessos são desiguais"),
        (Report, "Eliminiamo per LRU perché gli accessi sono sbilanciati.", "Eliminiamo per LRU", "gli accessi sono sbilanciati"),
        (Report, "We verwijderen op LRU omdat de toegang scheef is.", "We verwijderen op LRU", "de toegang scheef is"),
        (Report, "Usuwamy według LRU, bo dostępy są nierówne.", "Usuwamy według LRU", "dostępy są nierówne"),
        (Report, "Evacuăm după LRU, deoarece accesările sunt inegale.", "Evacuăm după LRU", "accesările sunt inegale"),
        (Report, "Вытесняем по LRU, потому что обращения распределены неравномерно.", "Вытесняем по LRU", "обращения распределены неравномерно"),
        (Report, "LRU ile boşaltıyoruz, çünkü erişimler dengesiz dağılıyor.", "LRU ile boşaltıyoruz", "erişimler dengesiz dağılıyor"),
        (Report, "我们按 LRU 淘汰，因为访问很不均匀。", "我们按 LRU 淘汰", "访问很不均匀"),
        (Report, "アクセスが偏っているため、LRUで削除します。", "LRUで削除します", "アクセスが偏っているため"),
    ]);
    for text in [
        "We see timeouts since this morning at eight.",
        "We evict by LRU since this morning.",
        "We shard by tenant since the last release of the API.",
        "We have had no timeouts since the pool is larger.",
        "We lose writes because the lock is released early.",
        "We could evict by LRU since the working set is skewed.",
        "If we evict by LRU because the working set is skewed, the hits rise.",
        "Shall we evict by LRU since the working set is skewed?",
        "We need a larger pool because the queue grows.",
        "We think it works because the log shows it.",
        "Wir sehen Fehler, weil der Port geschlossen ist.",
        "Wir könnten nach LRU verdrängen, weil die Zugriffe schief verteilt sind.",
        "Vemos errores porque el puerto está cerrado.",
        "Podríamos expulsar por LRU porque los accesos están sesgados.",
        "On voit des erreurs car le port est fermé.",
        "Vediamo errori perché la porta è chiusa.",
        "Widzimy opóźnienia, bo dysk jest wolny.",
        "Видим ошибки, потому что порт закрыт.",
        "我们发现请求很慢，因为端口关闭了。",
    ] {
        assert_eq!(find(Report, text), [], "{text}");
    }
    // Without a change it explains how something is.
    assert_eq!(find(Closing, "We evict by LRU since the working set is skewed."), []);
}

#[test]
fn a_cause_that_begins_like_a_time_is_no_time() {
    for text in [
        "I pinned zod to 3 since v4 breaks the resolver.",
        "I chose tomllib over toml since 3.11 ships it.",
        "I chose row locks over a version column since the update of several rows must be atomic.",
        "I picked polling over webhooks since the release server is behind a firewall.",
    ] {
        assert_eq!(decisions([(Source::Report, text)]).len(), 1, "{text}");
    }
    for text in [
        "I chose to watch the queue since this morning.",
        "We see timeouts since the release of v2.",
    ] {
        assert!(decisions([(Source::Report, text)]).is_empty(), "{text}");
    }
}

#[test]
fn a_later_prompt_that_states_what_is_not_there_overrules_nothing() {
    let chosen = "I chose an LRU cache because keys repeat. I added a composite index because the query scans the table.";
    for later in [
        "also document the rollback",
        "also there is no index for the export, and no retry",
    ] {
        let texts = [
            (Source::Prompt, "Make the list fast"),
            (Source::Report, chosen),
            (Source::Prompt, later),
            (Source::Closing, "Done."),
        ];
        assert_eq!(decisions(texts).len(), 2, "{later}");
    }
}

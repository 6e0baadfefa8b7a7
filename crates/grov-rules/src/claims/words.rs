//! Phrases of answers: what is done, what is left, what is asked.

#[rustfmt::skip]
pub(super) const DONE: &[&str] = &[
    "all done", "task complete", "task completed", "task is complete", "task is done",
    "task is now complete", "is complete", "is now complete", "are complete", "is finished", "are done",
    "is done", "everything is done", "everything works", "completed successfully", "complete and",
    "successfully completed", "work is done", "have completed", "i've completed", "i've finished",
    "i have finished", "finished implementing", "is now fully", "fully implemented",
    "everything is in place", "is all set", "all set", "you're all set", "that's it", "job done",
    "implementation is complete", "is ready", "now done", "done and", "all finished", "completed all",
    "completed the", "finished the", "subtask complete", "subtask done", "is resolved", "is fixed",
    "is now fixed", "has been fixed", "am terminat", "am finalizat", "e gata", "este gata", "totul e gata",
    "gata totul", "s-a terminat", "sarcina e", "task terminat", "am incheiat", "totul functioneaza",
    "totul merge", "finalizata", "terminata", "sunt gata", "am rezolvat",
];

/// A subagent has finished.
#[rustfmt::skip]
pub(super) const DELEGATED: &[&str] = &[
    "agent finished", "agent has finished", "agent completed", "agent has completed", "agent is done", "agents finished",
    "agents have finished", "subagent finished", "subagent has finished", "subagent completed", "subagent has completed",
    "subagent is done", "subagents finished", "subagents have finished", "sub-agent finished", "sub-agent has finished",
    "sub-agent completed", "subagent ist fertig", "sous-agent a termine", "subagente ha terminado",
];

#[rustfmt::skip]
pub(super) const DONE_ALONE: &[&str] = &[
    "done", "finished", "complete", "completed", "gata", "terminat", "fixed", "rezolvat", "fertig", "erledigt", "termine", "fait",
    "listo", "lista", "hecho", "terminado", "arreglado", "fatto", "finito", "pronto", "feito", "concluido", "klaar", "gedaan", "gotowe",
    "zrobione", "tamam", "tamamlandı", "tamamlandi", "bitti", "готово", "сделано", "完成", "已完成", "好了", "搞定", "完了", "完了しました",
];

#[rustfmt::skip]
pub(super) const WORKED: &[&str] = &[
    "i've", "i have", "fixed", "added", "updated", "implemented", "created", "removed", "refactored",
    "renamed", "replaced", "moved", "committed", "installed", "changed", "wrote", "rewrote", "migrated",
    "converted", "extracted", "merged", "has been", "have been", "is now", "now uses", "now returns",
    "pushed", "i added", "i fixed", "configured", "upgraded", "documented", "deleted", "bumped", "cleaned",
    "am adaugat", "am reparat", "am modificat", "am schimbat", "am scris", "am creat", "am actualizat",
    "am sters", "am facut", "am mutat", "am redenumit", "am implementat", "am corectat", "am inlocuit",
    "am instalat", "am rulat", "am scos", "am eliminat",
];

#[rustfmt::skip]
pub(super) const TESTS_PASS: &[&str] = &[
    "tests pass", "all tests pass", "tests passed", "tests are passing", "tests now pass",
    "tests are green", "all green", "suite green", "test passes", "tests passing", "pass now", "passes now",
    "build passes", "build succeeds", "all pass", "suite passes", "suite is green", "tests all pass",
    "now passes", "tests succeed", "build is green", "checks pass", "everything passes", "testele trec",
    "toate testele trec", "testele au trecut", "testul trece", "teste trec", "au trecut toate",
    "toate trec", "testele sunt verzi",
];

/// Words that negate a claim or move it to the future.
#[rustfmt::skip]
pub(super) const DOUBTING: &[&str] = &[
    "not", "isn't", "aren't", "don't", "doesn't", "didn't", "hasn't", "haven't", "won't", "can't", "cannot",
    "once", "when", "if", "until", "after", "before", "will", "would", "should", "could", "almost",
    "nearly", "partially", "partly", "halfway", "unless", "yet", "never", "without", "assuming", "expect",
    "expected", "hope", "goal", "whether", "half", "to", "going", "let", "let's", "i'll", "we'll",
    "half-done", "first", "nu", "cand", "daca", "dupa", "inainte", "aproape", "partial", "voi", "va", "vom",
    "ar", "jumatate", "inca",
];

/// Phrases of work that is left, in any case.
#[rustfmt::skip]
pub(super) const MISSING: &[&str] = &[
    "a medias", "a meta", "a moitie", "ainda falha", "ainda falham", "ainda nao", "als nachstes", "ancora non",
    "are missing", "aun no", "bitmedi", "bleiben noch", "bleibt noch", "brakuje", "build fails", "continua falhando",
    "da fare", "de facut", "derlenmiyor", "do zrobienia", "echoue encore", "echoue toujours", "echouent encore",
    "faalt nog", "falen nog", "falta", "faltam", "faltan", "fehlen noch", "fehlt noch", "gecmiyor", "hala", "henuz",
    "i will now", "i'll now", "i'm stuck", "il manque", "il reste", "im nachsten schritt", "inca nu", "is missing",
    "isn't complete", "isn't done", "isn't finished", "ist noch rot", "jeszcze nie", "jeszcze zostal*", "kaldi",
    "kaldı", "kommen noch", "kommt noch", "left to do", "let me now", "mai raman", "mai ramane", "mai trebuie", "manca",
    "manca ancora", "mancano", "mancano ancora", "manque encore", "moet nog", "moeten nog", "muss ich noch",
    "muss noch", "mussen noch", "nadal nie", "nao compila", "nao passa", "nao passam", "nastepny krok",
    "ne compile pas", "ne passe pas", "ne passent pas", "next i will", "next i'll", "next step is", "nicht fertig",
    "nie kompiluje", "nie przechodza", "nie przechodzi", "niet af", "niet klaar", "no compila", "no pasa", "no pasan",
    "noch nicht", "noch offen", "noch zu tun", "nog niet", "nog te doen", "non ancora", "non compila", "non passa",
    "non passano", "not complete", "not done", "not finished", "not yet", "now i'll", "nu compileaza", "nu e gata",
    "nu este gata", "nu merge", "nu trec", "nu trece", "ontbreekt nog", "pas encore", "pas fini", "pas termine",
    "pas terminee", "pela metade", "por hacer", "pozostaja", "pozostaje", "pozostalo", "prochaine etape",
    "prossimo passo", "proximo passo", "queda por", "quedan por", "remaining", "rest folgt", "rest volgt", "resta",
    "resta da", "restam", "restano", "restano da", "reste a", "restent a", "rimane da", "rimangono da",
    "schlagen noch fehl", "schlagt noch fehl", "sigue fallando", "siguen fallando", "siguiente paso", "sind noch rot",
    "slaagt niet", "slagen niet", "sonraki adim", "sonraki adım", "staan nog open", "staat nog open", "stehen noch aus",
    "steht noch aus", "still broken", "still fail", "still failing", "still fails", "still missing", "still need",
    "still needs", "still red", "still to do", "stopped here", "sırada", "test fails", "tests fail", "todavia no",
    "urmeaza sa", "volgende stap", "wciaz nie", "work in progress", "yarim", "yarım", "zostalo do", "zostalo jeszcze",
    "zostaly jeszcze", "zur halfte", "еще не", "ещё не", "не готов*", "не компилируется", "не проходит", "не проходят",
    "не хватает", "остается", "остались", "осталось", "остаётся", "пока не", "следующий шаг",
];

/// Phrases of a failure or of work that is left in part. They may also describe what the finished work handles, and so count
/// only without proof.
#[rustfmt::skip]
pub(super) const FAILING: &[&str] = &[
    "abgebrochen", "basarisiz", "basarısız", "blocat", "bloccato", "blocked", "blockiert", "bloque", "bloqueado",
    "calismiyor", "could not", "couldn't", "czesciowo", "does not compile", "does not work", "doesn't compile",
    "doesn't work", "echoue", "echouent", "eksik", "en cours", "esueaza", "faalt", "failed to", "failing",
    "fails because", "fails with", "falen", "falha", "falham", "falla", "fallan", "fallisce", "falliscono",
    "funktioniert nicht", "geblokkeerd", "gedeeltelijk", "geht nicht", "half of", "halfway", "have not", "haven't",
    "impossible de", "in progress", "je n'ai pas pu", "kalan", "kismen", "klappt nicht", "kon niet", "konnte ich nicht",
    "konnte nicht", "konnten nicht", "kısmen", "lukt niet", "mislukt", "n'ai pas reussi", "nao consegui",
    "nicht geklappt", "nicht gelungen", "nie dziala", "nie moglem", "nie udalo", "no consegui", "no he podido",
    "no pude", "non ho potuto", "non sono riuscito", "nu am putut", "nu am reusit", "parcialmente", "partially",
    "partiellement", "parzialmente", "pendente", "pendentes", "pendiente", "pendientes", "pica", "remain", "remains",
    "schlagen fehl", "schlagt fehl", "teilweise", "unable to", "w toku", "was not able", "wasn't able", "yapamadim",
    "yapilamadi", "zablokowan*", "в процессе", "заблокирован*", "наполовину", "не получилось", "не работает", "не смог",
    "не удалось", "падает", "падают", "частично",
];

/// The same in Chinese and Japanese, found anywhere.
#[rustfmt::skip]
pub(super) const MISSING_UNSPACED: &[&str] = &[
    "还没", "尚未", "未完成", "还剩", "剩下", "剩余", "下一步", "接下来", "待办", "还需要", "没有通过", "没通过", "未通过", "卡住", "做了一半", "まだ", "未完了", "未対応",
    "残って", "残り", "次に", "次は", "通っていません", "途中", "これから", "続きは", "このあと",
];
/// Failures in Chinese and Japanese.
pub(super) const FAILING_UNSPACED: &[&str] = &[
    "失败",
    "报错",
    "无法",
    "没能",
    "失敗して",
    "通りません",
    "動きません",
    "できません",
    "エラーが",
];

/// Before a phrase of work that is left: nothing is left.
#[rustfmt::skip]
pub(super) const NOTHING: &[&str] = &[
    "0", "aucun", "aucune", "geen", "keine", "keinen", "kein", "nada", "nenhum", "nenhuma", "nessun", "nessuna", "nic", "nichts", "niciun",
    "nicio", "niente", "niets", "nimic", "ningun", "ninguna", "no", "none", "nothing", "nulla", "rien", "zaden", "zadna", "zadne",
    "не", "ничего", "никаких",
];

/// The first words of a list of what comes next, before a colon.
#[rustfmt::skip]
pub(super) const NEXT: &[&str] = &[
    "a faire", "als nachstes", "da fare", "dalej", "de facut", "do zrobienia", "en attente", "ensuite", "falta",
    "faltam", "faltan", "follow-up", "left", "left to do", "nachste schritte", "nachster schritt", "nastepne", "next",
    "next steps", "offen", "open", "outstanding", "pendente", "pendentes", "pendiente", "pendientes", "pending",
    "por hacer", "prochaine etape", "prochaines etapes", "prossimi passi", "prossimo", "proximo", "proximos pasos",
    "proximos passos", "remaining", "resta", "restam", "restant", "reste", "rimane", "siguiente", "siguientes pasos",
    "sirada", "still open", "still to do", "suite", "sırada", "te doen", "to do", "todo", "urmeaza", "volgende",
    "volgende stap", "volgende stappen", "zostalo", "дальше", "осталось", "следующие шаги",
];

/// Questions that offer more than was asked for.
#[rustfmt::skip]
pub(super) const OFFERS: &[&str] = &[
    "as well", "chcesz zebym", "czy mam tez", "desea que", "deseas que", "devo anche", "devo tambem",
    "do you want me to", "dois-je aussi", "ister misin", "isterseniz", "je dois aussi", "mochten sie dass",
    "mochtest du dass", "quer que", "quieres que", "sa adaug si", "shall i also", "should i also", "soll ich auch",
    "soll ich noch", "soll ich zusatzlich", "souhaites-tu", "souhaitez-vous", "te gustaria", "veux-tu", "voulez-vous",
    "vrei sa", "vuoi che", "want me to", "wil je dat", "willst du", "would you like me to", "zal ik ook", "хотите",
    "хочешь",
];
/// The same in Chinese and Japanese.
pub(super) const OFFERS_UNSPACED: &[&str] = &[
    "要不要",
    "需要我",
    "还要",
    "ましょうか",
    "必要でしょうか",
    "追加しますか",
];

#[rustfmt::skip]
pub(super) const PLANS: &[&str] = &[
    "here's my plan", "here is my plan", "here's the plan", "here is the plan", "proposed plan", "my plan",
    "plan:", "i propose", "i'd suggest", "i would suggest", "i plan to", "awaiting your",
    "waiting for your", "waiting for approval", "let me know if you approve", "let me know which",
    "let me know whether", "let me know how you", "ready to proceed", "once you approve", "if you approve",
    "before i proceed", "before i start", "please confirm", "please choose", "need your approval",
    "your go-ahead", "need your input", "please approve", "please let me know which", "implementation plan",
    "i need to know", "please provide", "please clarify", "i need you to", "could you provide",
    "iata planul", "planul meu", "planul este", "planul:", "propun", "astept aprobarea",
    "astept confirmarea", "aprobi", "te rog confirma", "confirma-mi", "spune-mi daca", "spune-mi care",
    "am nevoie de confirmare", "inainte sa incep", "inainte sa continui",
];

/// Polite closing questions.
#[rustfmt::skip]
pub(super) const COURTESY: &[&str] = &[
    "anything else", "what else", "what would you like to do next", "how can i help", "what's next",
    "altceva", "cu ce te mai pot", "mai pot",
];

/// First words of a report of completed work.
#[rustfmt::skip]
pub(super) const REPORTS: &[&str] = &[
    "fixed", "added", "updated", "implemented", "created", "removed", "refactored", "renamed", "replaced",
    "moved", "committed", "installed", "changed", "wrote", "rewrote", "migrated", "converted", "extracted",
    "merged", "pushed", "configured", "upgraded", "documented", "deleted", "bumped", "cleaned", "corrected",
    "simplified", "split", "reparat", "corectat", "adaugat", "inlocuit", "redenumit", "schimbat",
    "actualizat", "sters", "scos", "mutat", "modificat", "creat", "implementat",
];

/// Phrases for partial work.
#[rustfmt::skip]
pub(super) const PARTIAL: &[&str] = &[
    "first half", "first part", "half of", "part of the", "first step", "step 1", "phase 1", "first of",
    "one of the two", "second half", "prima parte", "prima jumatate", "o parte din", "primul pas",
    "partea intai", "jumatate din", "so far", "pana acum", "deocamdata",
];

/// Phrases that announce the next step.
#[rustfmt::skip]
pub(super) const ANNOUNCING: &[&str] = &[
    "next step", "next steps", "next thing", "next is", "next up", "next comes", "i'll", "i will",
    "i am going to", "i'm going to", "i am about to", "i'm about to", "about to", "let me", "we still need",
    "is next", "are next", "comes next", "now we can", "now i can", "starting with", "urmeaza",
    "urmatorul pas", "pasul urmator", "o sa", "voi", "acum trec la", "trec la", "incep cu", "imediat",
];

/// Phrases of an offer rather than an announcement.
#[rustfmt::skip]
pub(super) const COURTEOUS: &[&str] = &[
    "let me know", "i'll be happy", "i will be happy", "i'll be glad", "if you", "whenever", "daca",
    "now we can", "now i can", "you might", "you could", "you can", "optional", "if needed", "you may",
];

/// Phrases in which a word of unfinished work means the opposite.
#[rustfmt::skip]
pub(super) const NOTHING_UNFINISHED: &[&str] = &[
    "no longer failing", "remaining uncommitted", "remaining unstaged", "remaining untracked", "uncommitted files", "untracked files",
    "was failing", "were failing",
];

/// Questions whether to go on, after a claim that the work is done.
#[rustfmt::skip]
pub(super) const GOING_ON: &[&str] = &[
    "continue with", "debo", "devo", "dois-je", "go ahead", "mam", "move on", "moving on", "on to the next", "proceed", "shall i", "should i", "shall we", "soll ich",
    "sollen wir", "zal ik", "vrei sa continui", "weitermachen", "on continue", "continuamos", "continuiamo", "продолж",
];

/// Headings of steps.
#[rustfmt::skip]
pub(super) const NEXT_STEPS: &[&str] = &[
    "next steps", "next step", "to test", "to try it", "to deploy", "nachste schritte", "prochaines etapes", "proximos pasos", "prossimi passi", "proximos passos",
    "volgende stappen", "nastepne kroki", "pasii urmatori", "urmatorii pasi", "следующие шаги",
];

/// Verbs of steps that are the user's: the agent would have taken them otherwise, or may not.
#[rustfmt::skip]
pub(super) const USER_STEPS: &[&str] = &[
    "apply", "build", "check", "click", "commit", "deploy", "go", "install", "launch", "log", "merge", "navigate", "open", "publish", "push", "rebuild", "refresh", "reload", "restart",
    "review", "run", "set", "sign", "start", "test", "try", "verify", "visit", "ejecuta", "prueba", "revisa", "lance", "teste", "verifie", "redemarre", "starte", "prufe", "execute",
    "rode", "riavvia", "esegui", "uruchom", "sprawdz", "ruleaza", "verifica", "запусти", "проверь",
];

/// Words that begin a clause that describes a thing.
pub(super) const RELATIVE: &[&str] = &["che", "die", "qui", "que", "that", "which", "который", "которые"];

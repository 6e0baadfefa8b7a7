//! What a short text is about: its content words, its numbers, and whether it denies.

use crate::retrieve::folded;
use grov_domain::words;
use grov_redact::is_unspaced;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The most words of a text that are looked at.
const MAX_WORDS: usize = 400;

/// Words that say nothing about a subject, in the languages that the agent meets most.
const STOP_WORDS: &str = "
a an the is are was were be been being am do does did has have had will would can could may might shall should must of to in on at by for from
with and or as it its this that these those there we you i he she they our your their my me us them his her if then than so but also any all
some into about whose whom each there someone up out over per when where which who whom what why how much many long often please tell just only now
der die das den dem des ein eine einen einem einer eines ist sind war waren wird werden wurde hat haben hatte kann können darf muss soll von zu
zum zur im in am an auf für mit und oder als es sie er wir ihr ich du man bei nach aus über unter um wie was wer wo wann warum welche welcher
welches welchen wieviel viele viel bitte sich auch noch nur da so dass wenn gibt
dürfen müssen sollen wieviele wofür womit wozu woher wohin wessen wem wen welchem pro je
le la les un une des du de d l est sont était été être a ont avait avoir au aux en dans sur pour par avec et ou que qui quoi quel quelle quels
quelles comment combien où quand pourquoi ce cet cette ces il elle ils elles nous vous je tu on se son sa ses leur y si
qu lequel laquelle lesquels faut doit doivent peut peuvent puis fait
el la los las un una unos unas es son era fue ser está están hay ha han de del al a en con por para y o que qué quién cuál cuáles cuánto cuánta
cuántos cuántas cómo cuándo dónde se su sus lo le les nos me te este esta esto ese esa si
puede pueden puedo debe deben tiene tienen hace
o os as um uma uns umas é são era foi ser está estão tem têm há do da dos das no na nos nas ao à em com por para e ou que quem qual quais quanto
quanta quantos quantas como quando onde se seu sua seus suas este esta isso às à pode podem posso deve devem fica
il lo gli i uno di del della dei delle al alla nel nella è sono era con per che chi quale quali quanto quanti come quando dove si suo sua dell nell all sull alle ai negli può possono deve devono c
het een de is zijn was werd van tot te op aan voor met en of dat die wat wie waar wanneer welke hoe hoeveel er ze wij je u kan mag moet kunnen wanneer
jest są był była było być w we z ze na do od po dla przez i oraz lub że co kto kogo jaki jaka jakie jak kiedy gdzie ile czy się to ten ta której którym która którego jakim jakiej jakiego można może należy trzeba ma mają
є був була було бути в у з із на до від по для та і й або що хто який яка яке які як коли де скільки чи це цей ця якого якому яким якій котра котрій котрої можна може треба має мають о об
это был была было быть в на из с со по для и или что кто какой какая какое какие как когда где сколько ли этот эта какого каком каким можно может нужно надо о об
bir bu şu o ve veya ile için mi mı mu mü ne kim nasıl kaç hangi nerede zaman da de var olan olarak olur gerekir kimdir nedir kaçta hangisi
في من إلى على عن مع هو هي هذا هذه التي الذي ما ماذا متى أين كم كيف هل أو و أن يمكن يجب كان هناك هذه لدى عند
です ます ました でした いつ どこ だれ 何 ですか ますか は の が を に で と も から まで
";

/// Words that deny.
const DENIALS: &str = "
not no never none without don doesn didn isn aren wasn won cannot neither nor stop stopped disabled forbidden prohibited
nicht kein keine keinen keinem keiner nie niemals ohne verboten
ne pas jamais sans aucun aucune plus interdit
no nunca sin ningún ninguna jamás prohibido
não nunca sem nenhum nenhuma proibido
non mai senza nessun nessuno vietato
niet geen nooit zonder verboden
nie bez nigdy żaden żadna
не без ніколи немає нема жоден
нет никогда
değil yok hiç asla olmadan
لا ليس لم لن بدون غير
";

/// Signs of a denial in scripts without spaces.
const UNSPACED_DENIALS: [&str; 9] = ["不", "没", "沒", "无", "ない", "ません", "禁止", "않", "아니"];

/// With and without accents.
static STOP: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let folded = words(&folded(STOP_WORDS), usize::MAX);
    words(STOP_WORDS, usize::MAX).into_iter().chain(folded).collect()
});
static DENY: LazyLock<BTreeSet<String>> = LazyLock::new(|| words(DENIALS, usize::MAX).into_iter().collect());

/// What a text is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Subject {
    /// Words without stop words, denials and numbers.
    pub(crate) words: BTreeSet<String>,
    /// Words that are numbers.
    pub(crate) numbers: BTreeSet<String>,
    /// Whether it denies.
    pub(crate) is_denial: bool,
}

impl Subject {
    /// Reads a text.
    pub(crate) fn of(text: &str) -> Self {
        let mut subject = Self {
            is_denial: UNSPACED_DENIALS.iter().any(|sign| text.contains(sign)),
            ..Self::default()
        };
        for word in words(text, MAX_WORDS) {
            if DENY.contains(&word) {
                subject.is_denial = true;
            } else if word.chars().all(char::is_numeric) {
                subject.numbers.insert(word);
            } else if !is_stop_word(&word) {
                subject.words.insert(word);
            }
        }
        subject
    }

    /// Number of words that both have.
    pub(crate) fn shared(&self, other: &Self) -> usize {
        self.words.intersection(&other.words).count()
    }
}

/// Whether a word says nothing about a subject. A single letter is what an apostrophe left over.
pub(crate) fn is_stop_word(word: &str) -> bool {
    let mut letters = word.chars();
    let is_letter = letters
        .next()
        .is_some_and(|letter| letter.is_alphabetic() && !is_unspaced(letter));
    (is_letter && letters.next().is_none()) || STOP.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_has_words_numbers_and_denial() {
        let subject = Subject::of("We do not deploy on Fridays after 16 o'clock");
        assert!(subject.is_denial && subject.words.contains("deploi") && subject.words.contains("fridai"));
        assert_eq!(subject.numbers.iter().collect::<Vec<_>>(), ["16"]);
        assert!(!Subject::of("Wir liefern am Montag").is_denial);
        for denial in [
            "Wir liefern nicht am Montag",
            "Nous ne livrons pas",
            "周五不发布",
            "金曜日は休みません",
            "Не працюємо",
        ] {
            assert!(Subject::of(denial).is_denial, "{denial}");
        }
    }
}

use super::*;
use crate::word_list::is_in_order;
use crate::words;
use std::collections::BTreeSet;

/// The words whose stems are in [`STEMS`].
#[rustfmt::skip]
const ENGLISH: &str = "\
    actually add added adding agent agents ai also always another any api app apply around ask available \
    avoid back bad base basic because become before behind best better between big bin bit both branch \
    branches break bring broken bug build built bump button call can case cause change check ci claude clean \
    cleanup clear cli close code com command comment comments commit common complete component config \
    configuration configure conflict conflicts consider console contain content context continue convert \
    copy correct correctly could create current currently custom data day debug default define delete deploy \
    description design detail different directly directory disable display doc docker docs document \
    documentation done dont double drop each easy edit either else empty enable end ensure entry environment \
    error even every example examples exist existing expect explain extra fail failing failure false family \
    faq feature feel few field file final find fine first fix flag folder follow following format found \
    friend full function functionality general generate get git github give given going good got great \
    handle handling happen header help helper hide high highlight home hook html http https idea ignore \
    image implement implementation import improve include incorrect index info information initial input \
    instead integration interface internal introduce invalid issue item job json keep key kind know large \
    last later latest layout leave left length less let level lib library life like limit line lint list \
    little load local log logic long look lot love low main make manual many master match matter maybe md \
    mean merge message method minor miss missing mode model module month more most move much multiple name \
    need new next nice note nothing null number object off old once one only open operation optimize option \
    order original other output over overview own package page parameter parse part pass path pattern people \
    perform place plan play please point possible prevent previous print problem process produce project \
    prompt prompts proper properly provide public pull push put question quick read readme ready real really \
    reason rebase recent recommend redo refactor reference related release releases remove rename replace \
    repo report repository request require requirement reset resolve response result return review right \
    root rule run running said same save say script scripts second section see seem select separate server \
    session set setting setup several should show side simple simplify simply since single size skill skills \
    small something sort source specific src stage start state statement status step still stop string \
    structure style such suggest summary support sure switch system table take talk target task tell \
    template test testing text thanks thing think time title today todo told tomorrow tool top track true \
    try turn two type typo typos unit unnecessary unused update upgrade url usage user using util utils \
    valid value variable version via view wait want warning way web week well went whole window without word \
    work workflow workflows working would wrap write wrong www year yes yesterday yet";

/// The most common requests in other languages.
#[rustfmt::skip]
const OTHERS: &str = "\
    fehler test tests datei dateien funktion hinzufügen füge ändern ändere beheben behebe prüfen prüfe \
    schreibe warum fehlgeschlagen umbenennen entfernen aufräumen \
    erreur test tests fichier fichiers fonction ajouter ajoute corriger corrige modifier vérifier écrire \
    pourquoi renommer supprimer nettoyer \
    error prueba pruebas archivo archivos función añadir agregar añade arreglar arregla corregir cambiar \
    revisar escribir renombrar eliminar limpiar \
    erro teste testes arquivo arquivos função adicionar adicione corrigir corrija mudar verificar escrever \
    renomear remover limpar \
    errore prova file funzione aggiungere aggiungi correggere correggi modificare controllare scrivere \
    rinominare rimuovere pulire \
    ошибка ошибку тест тесты файл файлы функция функцию добавь добавить исправь исправить измени изменить \
    проверь проверить напиши написать удали удалить переименуй почему код \
    помилка тест файл функція додай виправ зміни перевір напиши видали код \
    测试 文件 函数 错误 添加 增加 修复 修改 检查 代码 运行 删除 重构 重命名 编写 这个 为什么 问题 实现 优化 更新 \
    テスト ファイル 関数 エラー 追加 修正 変更 確認 コード 実行 削除 リファクタリング 名前 書いて なぜ 問題 実装 改善 更新 この する して \
    테스트 파일 함수 오류 에러 추가 수정 변경 확인 코드 실행 삭제 리팩터링 이름 작성 문제 구현 개선 업데이트 해줘";

#[test]
fn stems_are_those_of_the_words_in_order() {
    let of = |text| words(text, usize::MAX);
    let stems: BTreeSet<String> = of(ENGLISH).into_iter().chain(of(OTHERS)).collect();
    let stems: Vec<&str> = stems.iter().map(String::as_str).collect();
    let listed: Vec<&str> = STEMS.split_whitespace().collect();
    assert_eq!(listed, stems, "common_words/stems.txt");
    assert!(is_in_order(STEMS));
}

#[test]
fn common_words_are_known_in_any_form() {
    for word in words(
        "Fix the failing tests: refactoring v2, 404, 测试 エラー исправь",
        99,
    ) {
        let known = is_common_word(&word) || word == "the" || word == "v";
        assert!(known, "{word}");
    }
    for word in words("histogram goreleaser websocket 解析器 1234", 99) {
        assert!(!is_common_word(&word), "{word}");
    }
    assert!(is_common_file("readme.md") && !is_common_file("limit.rs"));
}

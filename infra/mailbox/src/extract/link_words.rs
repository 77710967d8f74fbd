//! Words of links: those of the step that a mail asks for, and those of everything else.

use std::sync::LazyLock;

use super::lexicon::{Lexicon, WordPosition};

/// What a word says about the link that it is on, or stands before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkWord {
    /// To sign in, confirm an address, set a password.
    Action,
    /// To leave a list, or choose what is mailed.
    Unsubscribe,
    /// Help, terms, reports of abuse, the mail in a browser …
    Other,
}

/// Of labels, and of the text before a link.
pub(super) static LABEL_WORDS: LazyLock<Lexicon<LinkWord>> = LazyLock::new(|| {
    Lexicon::new(&[
        (WordPosition::Start, LinkWord::Action, ACTIONS),
        (WordPosition::Whole, LinkWord::Action, WHOLE_ACTIONS),
        (WordPosition::Start, LinkWord::Unsubscribe, UNSUBSCRIBE),
        (WordPosition::Start, LinkWord::Other, OTHERS),
    ])
});

/// Of the URL itself.
pub(super) static URL_WORDS: LazyLock<Lexicon<LinkWord>> = LazyLock::new(|| {
    Lexicon::new(&[
        (WordPosition::Start, LinkWord::Action, URL_ACTIONS),
        (
            WordPosition::Start,
            LinkWord::Unsubscribe,
            "unsubscribe|unsub|optout|opt-out|opt_out|preferences|subscriptions",
        ),
        (WordPosition::Start, LinkWord::Other, URL_OTHERS),
    ])
});

const ACTIONS: &str = "sign in|signing in|sign-in|signin|log in|logging in|log-in|login|verify|verific|confirm|activate|\
    activation|reset|new password|set your password|set a password|set password|create a password|create password|\
    magic link|complete registration|complete your registration|finish sign|finish regist|accept invitation|\
    accept the invitation|accept invite|join|authenticate|recover|continue|get started|\
    anmeld|einlogg|bestätig|aktivier|zurücksetz|zurückzusetz|neues passwort|neues kennwort|verifizier|freischalt|\
    registrierung abschließen|einladung annehmen|\
    connecter|connexion|connectez|identifi|identification|activer|activez|réinitialis|nouveau mot de passe|vérifi|\
    accéde|accès|lien magique|valider|validez|\
    iniciar sesión|inicia sesión|iniciar sessão|acceder|accede|activar|activa|activación|restablec|contraseña nueva|\
    nueva contraseña|crear contraseña|enlace mágico|ingresar|\
    acced|conferma|attiva|reimposta|nuova password|link magico|\
    aceder|acessar|ativar|ative|ativação|redefin|nova palavra-passe|nova senha|link mágico|criar senha|\
    zaloguj|zalogow|logowani|potwierd|aktyw|zresetuj|zresetow|resetow|nowe hasło|zweryfik|magiczny link|przejdź do konta|\
    войти|вход|подтверд|активир|активац|сброс|новый пароль|авториз|восстанов|\
    ログイン|サインイン|を確認|認証|再設定|新しいパスワード|パスワードを設定|登録を完了|本登録|有効化|アクティベ|\
    登录|登入|确认|激活|重置|验证|新密码|登錄|確認|驗證|啟用|重設|\
    inlog|aanmeld|bevestig|activeer|wachtwoord opnieuw|nieuw wachtwoord|logga in|bekräfta|aktivera|återställ|\
    log ind|logg inn|bekræft|bekreft|aktiver|nulstil|tilbakestill|kirjaudu|vahvista|aktivoi|nollaa|\
    přihlásit|potvrdit|potvrď|aktivovat|obnovit|giriş|oturum aç|doğrula|onayla|etkinleştir|sıfırla|\
    로그인|확인|인증|재설정|활성화|увійти|підтверд|скинути|تسجيل الدخول|تأكيد|تفعيل|إعادة تعيين|\
    xác nhận|xác minh|đăng nhập|đặt lại|masuk|konfirmasi|verifikasi|σύνδεση|επιβεβαί|επαναφορά";

const WHOLE_ACTIONS: &str = "entra|entre|entrar|accedi|access your account";

const UNSUBSCRIBE: &str = "unsubscribe|manage preferences|email preferences|manage email|manage subscription|opt out|\
    notification settings|abmelden|abbestell|newsletter verwalten|désabonn|désinscri|gérer mes préférences|\
    gérer les préférences|darse de baja|darme de baja|cancelar suscripción|preferencias|annulla iscrizione|disiscri|\
    gestisci le preferenze|cancelar inscrição|cancelar a subscrição|gerir preferências|descadastr|wypisz|\
    zarządzaj subskrypcją|zrezygnuj|отписаться|управление рассылкой|отменить подписку|配信停止|配信解除|メール設定|购阅|\
    退订|管理订阅|取消订阅|取消訂閱|afmelden|uitschrijven|avregistrera|avsluta prenumeration|afmeld|odhlásit|\
    abonelikten|수신거부|수신 거부|إلغاء الاشتراك|відписатися";

const OTHERS: &str = "privacy|terms|help|support|contact|faq|learn more|view in browser|view this email|view online|\
    open it online|web version|trouble viewing|report|secure your account|secure my account|protect|wasn't me|not me|\
    not you|wasn't you|this wasn't|didn't request|did not request|deny|cancel|change your password|app store|google play|\
    download|blog|instagram|twitter|facebook|linkedin|youtube|\
    datenschutz|agb|impressum|hilfe|kundenservice|im browser|online-version|konto sichern|konto schützen|das war ich nicht|\
    nicht angefordert|\
    politique de|mentions légales|confidentialité|aide|centre d'aide|nous contacter|dans le navigateur|version en ligne|\
    sécuriser|protéger|ce n'était pas moi|n'êtes pas à l'origine|signaler|\
    política de|aviso legal|ayuda|centro de|atención|en el navegador|versión web|proteger|sido yo|no fui yo|no fuiste tú|\
    informativa|note legali|assistenza|contattaci|nel browser|versione online|proteggi|non sono stat|\
    central de|apoio|ajuda|no navegador|versão online|não fui eu|\
    polityka|regulamin|centrum pomocy|pomoc|biuro obsługi|w przeglądarce|wersja online|zabezpiecz|to nie ja|\
    политика|условия|справка|помощь|поддержк|служба|в браузере|версия для|защитить|не я|\
    プライバシー|利用規約|ヘルプ|お問い合わせ|ブラウザで|表示|保護|心当たり|\
    隐私|条款|帮助|客服|浏览器中|在线版本|保护|不是我|非本人|隱私|說明|\
    algemene voorwaarden|hulp|integritet|hjälp|gizlilik|yardım|개인정보|도움말|고객";

const URL_ACTIONS: &str = "verify|verification|confirm|activate|activation|reset|recover|recovery|magic|login|signin|\
    sign-in|sign_in|auth|otp|oobcode|invite|invitation|register|signup|set-password|new-password|access_token";

const URL_OTHERS: &str = "privacy|legal|terms|help|support|faq|blog|docs|twitter|facebook|instagram|linkedin|youtube|\
    apps.apple|play.google|revoke|report|not-me|notme|deny|view-in-browser|webversion|view-online";

//! Words around numbers: those that call a number a code, and those that call it something else.

use std::sync::LazyLock;

use super::lexicon::{Lexicon, WordPosition};

/// What a word says about a number near it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberWord {
    /// It is typed in to prove who its reader is.
    Code,
    /// It is the number of an order, a telephone, a place …
    Other,
    /// What the sentence offers is a discount.
    Discount,
}

pub(super) static CODE_WORDS: LazyLock<Lexicon<NumberWord>> = LazyLock::new(|| {
    Lexicon::new(&[
        (WordPosition::Edge, NumberWord::Code, CODE_EDGES),
        (WordPosition::Start, NumberWord::Code, CODE_STEMS),
        (WordPosition::Whole, NumberWord::Code, CODE_WHOLE),
        (WordPosition::Edge, NumberWord::Other, OTHER_EDGES),
        (WordPosition::Start, NumberWord::Other, OTHER_STEMS),
        (WordPosition::Whole, NumberWord::Other, OTHER_WHOLE),
        (WordPosition::Start, NumberWord::Discount, DISCOUNTS),
    ])
});

/// Beginnings and ends of words.
const CODE_EDGES: &str = "code|codes|kode|koden|koodi|код|kod|kód|コード|認証番号|確認番号|暗証番号|ワンタイムパスワード|数字|\
    验证码|校验码|确认码|激活码|安全码|动态码|动态密码|登录码|一次性密码|口令|驗證碼|驗證代碼|確認碼|認證碼|動態密碼|\
    인증번호|인증 번호|확인 번호|코드|รหัส|einmalpasswort|einmalkennwort";

const CODE_STEMS: &str = "verification code|security code|authentication code|confirmation code|access code|\
    one-time pass|one time pass|single-use pass|temporary pass|login pass|\
    codice|código|codigo|cód|kodu|kodem|kodun|kody|кода|коду|кодом|одноразовый пароль|временный пароль|\
    mot de passe à usage unique|mot de passe temporaire|contraseña de un solo uso|contraseña temporal|clave|\
    password monouso|password temporanea|senha de uso único|senha temporária|palavra-passe de utilização única|\
    hasło jednorazowe|hasło tymczasowe|hasła jednorazowego|tek kullanımlık|doğrulama kod|onay kod|\
    engångs|engangs|eenmalig|pincode|toegangscode|kertakäyttö|vahvistus|jednorázové heslo|egyszer használatos|\
    κωδικ|одноразовий пароль|رمز|كود|קוד|कोड|mã xác|mã otp|kode verifikasi";

const CODE_WHOLE: &str = "pin|pins|otp|totp|tan|mtan|2fa|mfa|token|cod|codul|cód|passcode|passcodes|pin-code|otp-code|\
    digits|пин|пин-код";

/// Compounds that end as words for codes do, and are none.
const OTHER_EDGES: &str = "postcode|zipcode|zip code|postal code|barcode|bar code|qr code|qr-code|error code|fehlercode|\
    area code|country code|dress code|source code|status code|sort code|unicode|encode|codec|code of conduct|\
    code postal|código postal|codigo postal|cód. postal|codice postale|codice fiscale|codice cliente|codice ordine|\
    kod pocztowy|posta kodu|kundencode|código de cliente|code client|индекс|邮编|郵便番号|邮政编码|二维码|条形码|\
    注文番号|お客様番号|受付番号|電話番号|登記番号|会員番号|订单|客户编号|工单|发票|注文|請求書|お問い合わせ|電話|フリーダイヤル|\
    热线|电话|传真|客服|编号|订购|运单|快递|備案|备案|주문|전화|고객|송장";

const OTHER_STEMS: &str = "order|invoice|ticket|receipt|booking|reservation|tracking|shipment|customer|account number|\
    phone|call|toll-free|toll free|fax|reference|company no|registered|registration no|vat|version|build|copyright|\
    bestell|rechnung|kundennummer|kunden-nr|vorgang|auftrag|sendung|telefon|servicenummer|ruf|steuer|ust-id|postfach|\
    commande|facture|dossier|appel|tél|téléphone|siret|n° client|n° de|colis|réservation|cedex|\
    pedido|factura|expediente|teléfono|llám|llam|n.º|nº|apartado|envío|reserva|cliente|nif|cif|\
    ordine|fattura|pratica|numero verde|chiama|telefono|p.iva|partita iva|casella|spedizione|prenotazione|\
    fatura|processo|telefone|telemóvel|ligue|linha|cnpj|nipc|encomenda|\
    zamówieni|faktur|sprawa|nr klienta|zadzwoń|infolinia|faks|nip|krs|przesyłk|rezerwacj|\
    заказ|счёт|счет|обращени|клиент|звоните|телефон|факс|инн|огрн|бронь|бронирован|\
    bestelling|factuur|klantnummer|sipariş|fatura|müşteri|objednávk|faktura|order|beställning";

const OTHER_WHOLE: &str = "bel|ref|no|nr|tel|hrb|rcs|rea|bp|po box|ip|id|case";

/// Words of offers. A code beside one of them is none that proves anything.
const DISCOUNTS: &str = "%|promo|discount|coupon|voucher|referral|gift card|free month|gutschein|rabatt|aktionscode|\
    réduction|remise|parrain|descuento|cupón|sconto|buono|desconto|cupom|vale-presente|zniżk|rabat|kupon|\
    промокод|скидк|купон|kortingscode|korting|indirim|クーポン|割引|オフ|紹介コード|优惠|折扣|八五折|優惠|쿠폰|할인";

<?php
// Symfony's mailer with the SendGrid bridge of Debian's php-symfony-sendgrid-mailer: host:port of the API, key, and
// the certificate to trust. Prints a line for each case.

use Symfony\Component\HttpClient\HttpClient;
use Symfony\Component\Mailer\Bridge\Sendgrid\Transport\SendgridTransportFactory;
use Symfony\Component\Mailer\Exception\TransportExceptionInterface;
use Symfony\Component\Mailer\Mailer;
use Symfony\Component\Mailer\Transport;
use Symfony\Component\Mime\Address;
use Symfony\Component\Mime\Email;

foreach (['Mailer', 'Mailer/Bridge/Sendgrid', 'HttpClient', 'Mime'] as $package) {
    require_once "Symfony/Component/$package/autoload.php";
}

[, $host, $key, $certificate] = $argv;
$client = HttpClient::create(['cafile' => $certificate]);

function mailer(string $host, string $key, $client): Mailer
{
    $transports = new Transport([new SendgridTransportFactory(null, $client)]);
    return new Mailer($transports->fromString('sendgrid+api://' . urlencode($key) . "@$host"));
}

function letter(): Email
{
    return (new Email())
        ->from(new Address('shop@sender.example', 'Shop ü'))
        ->to(new Address('ann@symfony.example', 'Ann'))
        ->cc('cc@symfony.example')
        ->replyTo('reply@sender.example')
        ->subject('Grüße')
        ->text('text')
        ->html('<p>html</p>')
        ->attach("\x00\xff", 'list.bin', 'application/octet-stream');
}

$failed = 0;
$cases = [
    'a mail with everything is sent over TLS' => function () use ($host, $key, $client) {
        mailer($host, $key, $client)->send(letter());
    },
    'a refusal has the words of the service' => function () use ($host, $key, $client) {
        try {
            mailer($host, substr($key, 0, -1) . 'A', $client)->send(letter());
        } catch (TransportExceptionInterface $why) {
            if (str_contains($why->getMessage(), 'authorization')) {
                return;
            }
            throw $why;
        }
        throw new Exception('a foreign key sends');
    },
];
foreach ($cases as $name => $run) {
    try {
        $run();
        echo "ok $name\n";
    } catch (Throwable $why) {
        $failed = 1;
        echo "FAIL $name: ", get_class($why), ' ', strtr(substr($why->getMessage(), 0, 2000), "\n", ' '), "\n";
    }
}
exit($failed);

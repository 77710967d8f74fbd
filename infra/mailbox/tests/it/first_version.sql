PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
CREATE TABLE mail (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    received INTEGER NOT NULL,
    size INTEGER NOT NULL,
    unread INTEGER NOT NULL,
    files INTEGER NOT NULL,
    inlines INTEGER NOT NULL,
    envelope TEXT NOT NULL,
    summary TEXT NOT NULL,
    message_id TEXT NOT NULL,
    lower_from TEXT NOT NULL,
    lower_to TEXT NOT NULL,
    lower_cc TEXT NOT NULL,
    lower_bcc TEXT NOT NULL,
    lower_reply TEXT NOT NULL,
    lower_rcpt TEXT NOT NULL,
    lower_subject TEXT NOT NULL,
    lower_all TEXT NOT NULL
);
CREATE TABLE raw (seq INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
PRAGMA user_version = 1;
INSERT INTO mail VALUES
    (1, 'A000000000000000000001', 1795780800000, 20, 0, 0, 0,
     '{"From":"f@x.example","To":["a@x.example"],"Peer":""}',
     '{"ID":"A000000000000000000001","MessageID":"1@x","Read":false,"From":{"Name":"","Address":"f@x.example"},"To":[{"Name":"","Address":"a@x.example"}],"Cc":[],"Bcc":[],"ReplyTo":[],"Subject":"one","Created":"2026-11-27T12:00:00Z","Username":"","Tags":[],"Size":20,"Attachments":0,"Snippet":""}',
     '1@x', 'f@x.example', 'a@x.example', '', '', '', 'a@x.example', 'one', 'one'),
    (2, 'A000000000000000000002', 1795780801000, 20, 1, 0, 0,
     '{"From":"f@x.example","To":["a@x.example"],"Peer":""}',
     '{"ID":"A000000000000000000002","MessageID":"2@x","Read":false,"From":{"Name":"","Address":"f@x.example"},"To":[{"Name":"","Address":"a@x.example"}],"Cc":[],"Bcc":[],"ReplyTo":[],"Subject":"two","Created":"2026-11-27T12:00:01Z","Username":"","Tags":[],"Size":20,"Attachments":0,"Snippet":""}',
     '2@x', 'f@x.example', 'a@x.example', '', '', '', 'a@x.example', 'two', 'two');
INSERT INTO raw VALUES (1, CAST('Subject: one' || char(13, 10, 13, 10) AS BLOB)),
    (2, CAST('Subject: two' || char(13, 10, 13, 10) AS BLOB));

//! `POST /v3/mail/send`: takes a mail, checks every rule, queues it durably.

import type { Migration } from './migration.js'

export const mail: Migration = {
  name: '0053-mail',
  up: [
    // The content of a mail, once for all recipients.
    `create table if not exists mails (
      id int unsigned not null auto_increment primary key,
      once varchar(150) not null,
      kind varchar(32) not null,
      facts mediumtext not null,
      thread varchar(64) null,
      project_id int unsigned null,
      target_type varchar(16) null,
      target_id int unsigned null,
      always boolean not null default false,
      created_at datetime(3) not null,
      unique key mails_once (once),
      key mails_created (created_at),
      key mails_project (project_id)
    )`,
    `create table if not exists mail_deliveries (
      id int unsigned not null auto_increment primary key,
      mail_id int unsigned not null,
      user_id int unsigned null,
      address varchar(255) not null,
      reason varchar(255) not null,
      state varchar(10) not null default 'waiting',
      attempts int unsigned not null default 0,
      error varchar(500) null,
      created_at datetime(3) not null,
      tried_at datetime(3) null,
      sent_at datetime(3) null,
      unique key mail_deliveries_address (mail_id, address),
      key mail_deliveries_state (state, id),
      key mail_deliveries_hour (address, state, sent_at),
      key mail_deliveries_user (user_id)
    )`,
    // Addresses whose mailbox does not exist, in lower case.
    `create table if not exists mail_bounces (
      address varchar(255) not null primary key,
      error varchar(500) not null,
      bounced_at datetime(3) not null
    )`
  ],
  down: ['drop table if exists mail_bounces', 'drop table if exists mail_deliveries', 'drop table if exists mails']
}

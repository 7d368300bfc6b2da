import type { Migration } from './migration.js'

export const machines: Migration = {
  name: '0085-machines',
  up: [
    `create table if not exists machines (
      id int unsigned not null auto_increment primary key,
      -- Also in a file of the machine, so that the machine keeps its row when it starts again.
      uid char(32) not null,
      name varchar(255) not null,
      -- The boot of its kernel and its namespace of processes.
      boot varchar(128) not null,
      version varchar(64) not null,
      created_at datetime(3) not null,
      started_at datetime(3) not null,
      lease_until datetime(3) not null,
      -- Whether the locks that it left behind were looked for, after its lease ended.
      swept tinyint(1) not null default 0,
      unique key machines_uid (uid),
      unique key machines_boot (boot)
    )`
  ],
  down: ['drop table if exists machines']
}

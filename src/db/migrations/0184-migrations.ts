import type { Migration } from './migration.js'

// The projects that a sysadmin moves from another forge. `machine` is the machine whose home has the pages that were read of it. `turn`
// counts the requests to work on it: the job of an earlier one does nothing any more.
export const preparedMigrations: Migration = {
  name: '0184-migrations',
  up: [
    `create table if not exists migrations (
      id int unsigned not null auto_increment primary key,
      name varchar(50) not null,
      kind varchar(16) not null,
      url varchar(2000) not null,
      settings mediumtext not null,
      token_encrypted blob not null,
      machine varchar(32) null,
      state varchar(16) not null default 'new',
      work varchar(16) null,
      options mediumtext null,
      turn int unsigned not null default 0,
      progress varchar(1000) null,
      error varchar(1000) null,
      requested_at datetime(3) null,
      started_at datetime(3) null,
      ended_at datetime(3) null,
      result_of varchar(16) null,
      result_at datetime(3) null,
      result mediumtext null,
      created_at datetime(3) not null,
      unique key migrations_name (name)
    )`
  ],
  down: ['drop table if exists migrations']
}

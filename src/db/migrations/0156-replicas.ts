import type { Migration } from './migration.js'

export const replicas: Migration = {
  name: '0156-replicas',
  up: [
    // One row, whose time moves on the writing server. A server that shows an old time is behind by the difference.
    `create table if not exists database_marks (
      id tinyint unsigned not null primary key,
      marked_at datetime(3) not null
    )`,
    // The last request that may have changed something: its user then reads nothing that is old, at any server.
    'alter table user_uses add column written_at datetime(3) null'
  ],
  down: ['alter table user_uses drop column written_at', 'drop table if exists database_marks']
}

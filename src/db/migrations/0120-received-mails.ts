import type { Migration } from './migration.js'

// A mail that arrives twice becomes one comment. The names of mails are digests, so that they have the same length.
export const receivedMails: Migration = {
  name: '0120-received-mails',
  up: [
    `create table if not exists received_mails (
       name_hash binary(32) not null primary key,
       done boolean not null,
       begun_at datetime(3) not null,
       key received_mails_begun (begun_at)
     )`
  ],
  down: ['drop table if exists received_mails']
}

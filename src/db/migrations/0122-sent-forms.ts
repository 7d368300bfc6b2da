import type { Migration } from './migration.js'

export const sentForms: Migration = {
  name: '0122-sent-forms',
  up: [
    // The forms of pages that were accepted. The id is a hash of the page, the address and the fields.
    `create table if not exists sent_forms (
      id binary(32) not null primary key,
      created_at datetime(3) not null,
      key sent_forms_created (created_at)
    )`
  ],
  down: ['drop table if exists sent_forms']
}

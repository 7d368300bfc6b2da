import type { Migration } from './migration.js'

// The hourly limit of mentions and assignments counts what one person causes.
export const mailAuthors: Migration = {
  name: '0118-mail-authors',
  up: ['alter table mails add column author_id int unsigned null'],
  down: ['alter table mails drop column author_id']
}

import type { Migration } from './migration.js'

export const tailsOfTraces: Migration = {
  name: '0076-tails-of-traces',
  // The last bytes that an external runner has sent, while a secret may begin in them: the trace does not show them yet.
  up: ['alter table builds add column trace_tail_encrypted mediumblob null'],
  down: ['alter table builds drop column trace_tail_encrypted']
}

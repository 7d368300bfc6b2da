import type { Migration } from './migration.js'

// A commit of the year 10000 was stored as the date 0000-00-00, which no client can read: each list that showed its pipeline
// failed. Dates of messages could be written beyond the year 9999 by their time zone.
const LAST = "'9999-12-31 23:59:59'"

export const storedDates: Migration = {
  name: '0013-stored-dates',
  up: [
    `update pipelines set committed_at = null where committed_at < '0001-01-01'`,
    `update broadcast_messages set starts_at = ${LAST} where starts_at < '0001-01-01'`,
    `update broadcast_messages set ends_at = ${LAST} where ends_at < '0001-01-01'`,
    `update access_tokens set expires_at = null where expires_at < '0001-01-01'`
  ],
  down: []
}

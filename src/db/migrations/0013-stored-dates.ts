import type { Migration } from './migration.js'

// A commit of the year 10000 was stored as the date 0000-00-00, which no client can read: every list that showed its
// pipeline failed. The time zone could move the dates of messages beyond the year 9999.
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

import type { Migration } from './migration.js'

const wordsOf = (table: string, owner: string) => `create table if not exists ${table} (
  word varbinary(64) not null,
  ${owner} int unsigned not null,
  primary key (word, ${owner}),
  key ${table}_of (${owner}, word)
)`

// Which issues and merge requests have a word in their texts. The task `search_words` fills the tables, in the running appliance.
export const searchWords: Migration = {
  name: '0140-search-words',
  up: [wordsOf('issue_words', 'issue_id'), wordsOf('merge_request_words', 'merge_request_id')],
  down: ['drop table if exists issue_words', 'drop table if exists merge_request_words']
}

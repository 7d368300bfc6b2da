import type { Fill, Migration } from './migration.js'

/** The number of characters of the longest text is far below the square of this. */
const STEPS = 256

const COLLATION = 'utf8mb4_unicode_520_ci'
const PLACE = `(a.i * ${STEPS} + b.i) * 2`
/** The weight of a character takes two bytes. Those of digits and letters start at 0x1205; spaces and signs are below. */
const isWord = (place: number) => `substr(t.w, ${PLACE} + ${place}, 2) >= x'1205'`

/** Fills a table with the trigrams of rows, as db/lists/trigrams.ts does for each row that is written later. */
const trigramsOf = (table: string, of: string, owner: string, texts: readonly string[]): Fill => ({
  of,
  each: `insert ignore into ${table} (trigram, ${owner})
    with recursive n (i) as (select 0 union all select i + 1 from n where i < ${STEPS - 1})
    select distinct crc32(substr(t.w, ${PLACE} + 1, 6)) as trigram, t.id
    from (select r.id, weight_string(concat_ws('\\n', ${texts.map(text => `r.${text} collate ${COLLATION}`).join(', ')})) as w
      from ${of} r where r.id between ? and ? limit 1000000) t
    straight_join n a on a.i * ${STEPS * 2} + 6 <= length(t.w)
    straight_join n b on ${PLACE} + 6 <= length(t.w)
    where ${[1, 3, 5].map(isWord).join(' and ')} order by 1, 2`
})

// Which projects and users have a text with these three letters or digits.
export const trigrams: Migration = {
  name: '0110-trigrams',
  up: [
    `create table if not exists project_trigrams (
      project_id int unsigned not null,
      trigram int unsigned not null,
      primary key (project_id, trigram),
      key project_trigrams_trigram (trigram, project_id)
    )`,
    `create table if not exists user_trigrams (
      user_id int unsigned not null,
      trigram int unsigned not null,
      primary key (user_id, trigram),
      key user_trigrams_trigram (trigram, user_id)
    )`
  ],
  fill: [
    trigramsOf('project_trigrams', 'projects', 'project_id', ['name', 'path', 'description']),
    trigramsOf('user_trigrams', 'users', 'user_id', ['name', 'username', 'email'])
  ],
  down: ['drop table if exists project_trigrams', 'drop table if exists user_trigrams']
}

import { randomBytes } from 'node:crypto'
import { listAllProjects } from '../../../src/areas/projects/projects/all-projects.queries.js'
import { execute, rows } from '../../../src/db/connect/sql.js'
import { contains } from '../../../src/db/lists/conditions.js'
import { addTrigrams, candidatesOf, PROJECT_TEXTS } from '../../../src/db/lists/trigrams.js'
import { trigrams } from '../../../src/db/migrations/0110-trigrams.js'
import { testDatabase } from '../../helpers/database.js'
import t from '../../helpers/tap.js'

await testDatabase()

const ALPHABETS = [
  'abcABC123 -_.%\\',
  'aäáÄâåªeéëęoöøÖsßſzżi\u0131İ',
  'e\u0301a\u0308o\u0302n\u0303\u00ad\u200b abc',
  '日本語中文한국어ひらがなカタカナｶﾀ',
  'абвгґеёжзИЙ ελλάς ΛΆΣ שלום مرحبا ﷺ\ufe70',
  '😀😃👍🏽🇩🇪abc',
  'ﬁﬂŉǆæœ㎏①Ⅳ２３abf',
  'ab\u0001\u0007\t\n\u007fcd'
].map(text => [...text])

/** A reproducible sequence of numbers. */
function numbers(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const next = numbers(7)
const text = (most: number): string => {
  const letters = [...(ALPHABETS[next(ALPHABETS.length)] ?? []), ...(next(3) ? [] : (ALPHABETS[0] ?? []))]
  return Array.from({ length: 1 + next(most) }, () => letters[next(letters.length)]).join('')
}

const texts = Array.from({ length: 400 }, (_, at) => ({
  id: at + 1,
  texts: [`${text(12)}${at}`, `path-${at}`, next(4) ? text(30) : null]
}))
for (const {
  id,
  texts: [name = '', path = '', description = null]
} of texts) {
  const now = new Date()
  await execute(
    `insert into projects (id, namespace_id, name, path, description, storage, tag_list, runners_token_hash,
       runners_token_encrypted, last_activity_at, created_at, updated_at) values (?, ?, ?, ?, ?, 'x', '[]', ?, '', ?, ?, ?)`,
    [id, id, name, path, description, randomBytes(32), now, now, now]
  )
}
await addTrigrams(PROJECT_TEXTS, texts)

const stored = () => rows<object>('select project_id, trigram from project_trigrams order by project_id, trigram')

/** Returns a part of a text, or the same part with other characters that may compare as equal. */
function partOf(whole: string): string {
  const characters = [...whole]
  const from = next(characters.length)
  const part = characters.slice(from, from + 1 + next(6)).join('')
  return [part, part.toUpperCase(), part.normalize('NFD'), part.normalize('NFKC'), part.toLowerCase()][next(5)] ?? part
}

t.test('a search by trigrams finds what the comparison of all texts finds', async t => {
  let indexed = 0
  for (let round = 0; round < 600; round++) {
    const from = texts[next(texts.length)]?.texts ?? []
    const search = next(5) ? partOf(from[next(3)] || 'x') : text(4)
    if (search === '') continue
    const { sql, values } = contains(['p.name', 'p.path', 'p.description'], search)
    const all = await rows<{ id: number }>(`select p.id from projects p where ${sql} order by p.id`, values)
    const { items } = await listAllProjects({ search }, 'newest', 1000)
    t.same(
      items.map(({ id }) => id).sort((one, other) => one - other),
      all.map(({ id }) => id),
      JSON.stringify(search)
    )
    if ((await candidatesOf(PROJECT_TEXTS, search)) !== undefined) indexed++
  }
  t.ok(indexed > 200, 'most searches used the index')
})

t.test('the migration stores the same trigrams for existing rows', async t => {
  const written = await stored()
  t.ok(written.length > 2000)
  await execute('delete from project_trigrams')
  for (const { of, each } of trigrams.fill ?? []) if (of === 'projects') await rows(each, [1, 1000])
  t.same(await stored(), written)
})

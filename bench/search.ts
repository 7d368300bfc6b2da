// Measures searches for issues among 100,000: of titles only, of a word that few of them have, and of one that all have. And the task
// that adds the words of issues.
import { scheduleOrigin } from '../src/access/actor.js'
import { beginSession, byPassword } from '../src/areas/people/credentials/credentials.js'
import { runTask } from '../src/areas/upkeep/maintenance/maintenance.js'
import { execute } from '../src/db/connect/sql.js'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { report } from './lib/figure.js'
import { rate, stopLoad } from './lib/load.js'
import { ask, createProject } from './lib/rest.js'
import { seedIssues } from './lib/seed.js'

const ISSUES = 100_000
/** Words of each description, of 65,536 different ones. */
const WORDS = 50

const SEARCHES = [
  // Words of two letters do not count, so this reads titles only.
  ['titles only', 'zz'],
  ['a rare word of an old description', 'about 777'],
  ['a word of every description', 'about'],
  ['two words of every description', 'about what']
] as const

const lower = { better: 'lower' as const, limit: null }

async function measure(appliance: Prepared): Promise<void> {
  const { port, parts, admin } = appliance
  const { id } = await createProject(appliance, 'searched', {})
  const { id: user, username } = await ask<{ id: number; username: string }>(appliance, 'GET', '/user')
  await seedIssues(id, user, ISSUES)
  const words = Array.from({ length: WORDS }, (_, at) => `substr(md5(id * ${at + 3}), 1, 4)`)
  await execute(
    `update issues set description = concat_ws(' ', description, ${words.join(', ')}) where project_id = ?`,
    [id]
  )
  const begun = performance.now()
  await runTask('search_words', {}, scheduleOrigin())
  const spent = performance.now() - begun
  report({ name: 'search, words of new issues', value: spent / ISSUES, unit: 'ms for each issue', ...lower })
  const account = { id: user, username, name: admin.username, email: '', admin: true, external: false }
  const { cookie } = await beginSession(byPassword(account), { address: '127.0.0.1', userAgent: 'bench' })
  for (const [name, text] of SEARCHES) {
    const path = `/search?${new URLSearchParams({ q: text, scope: 'issues' })}`
    const request = `GET ${path} HTTP/1.1\r\nhost: localhost\r\naccept: text/html\r\ncookie: _service_session=${cookie}\r\n\r\n`
    const cost = await rate({ port, requests: [request], connections: 2, rounds: 3, parts })
    report({
      name: `search, ${name}`,
      value: cost.processor_ms,
      unit: 'processor ms each',
      ...lower,
      detail: { ...cost }
    })
  }
}

await withAppliance({}, measure)
stopLoad()

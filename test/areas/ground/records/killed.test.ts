// A run that is killed at any moment loses no event and doubles none.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { linesOf, listFiles } from '../../../../src/areas/ground/records/archived-files.js'
import { runTask } from '../../../../src/areas/upkeep/maintenance/maintenance.js'
import { removeOrphans } from '../../../../src/areas/upkeep/maintenance/orphaned-files.js'
import { loadConfig } from '../../../../src/config.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory, someOrigin } from '../../../helpers/factory.js'
import { numbersTo } from '../../../helpers/numbers.js'

const { home } = await testDatabase()
const program = fileURLToPath(new URL('./old-events-process.js', import.meta.url))
const COUNT = 15_000
/** Milliseconds between a new file and the kill: before, in and after the transaction of its rows. */
const DELAYS = [0, 3, 10, 25, 60]

t.test('each event is in the database or in a file that counts, and in the end in a file', async t => {
  const project = await factory.project()
  await execute('delete from activity_events')
  await execute(
    `insert into activity_events (happening_id, project_id, author_id, action, created_at)
     select concat('old:', seq), ?, ?, 'opened', '2020-03-01' + interval seq second from ${numbersTo(COUNT)}`,
    [project.id, project.owner.id]
  )
  const folder = join(home, 'records', String(project.id))
  const written = () => (existsSync(folder) ? readdirSync(folder).length : 0)
  for (const delay of DELAYS) {
    const before = written()
    const child = fork(program)
    const ended = once(child, 'exit')
    while (written() === before && child.exitCode === null) await sleep(1)
    await sleep(delay)
    child.kill('SIGKILL')
    await ended
    const [archived, left] = await places()
    t.equal(archived.length + left.length, COUNT, `after ${delay} ms, ${archived.length} are archived`)
    t.equal(new Set([...archived, ...left]).size, COUNT)
  }
  loadConfig({ port: 0, archive: { events: 365 } })
  t.match(await runTask('old_events', {}, someOrigin), { state: 'done' })
  const [archived, left] = await places()
  t.same(left, [])
  t.equal(archived.length, COUNT)
  t.equal(new Set(archived).size, COUNT)
  const context = { dryRun: false, signal: new AbortController().signal, count: () => undefined, note: () => undefined }
  await removeOrphans(context, new Date(Date.now() + 2 * 86_400_000))
  t.equal(written(), (await listFiles({}, 1000)).length, 'the files of killed runs are removed')
})

async function places(): Promise<[archived: unknown[], left: unknown[]]> {
  const archived: unknown[] = []
  for (const { id } of await listFiles({}, 1000)) {
    for await (const line of linesOf(id)) archived.push(JSON.parse(line).row.id)
  }
  return [archived, (await rows<{ id: number }>('select id from activity_events')).map(({ id }) => id)]
}

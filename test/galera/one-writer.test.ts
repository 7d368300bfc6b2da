// Story: the table of haproxy with the writer had room for one entry, and each new connection pushed it out. When a node came back, the
// connections of one pool went to two nodes, and their transactions conflicted.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { until } from '../helpers/until.js'
import { startGalera } from './galera.js'

const folder = mkdtempSync(join(tmpdir(), 'gitstead-one-writer-'))
const galera = await startGalera(folder)
t.teardown(async () => {
  await galera.stop()
  rmSync(folder, { recursive: true })
})

/** The nodes to which twenty connections at once lead. */
const nodes = async () => new Set(await Promise.all(Array.from({ length: 20 }, () => galera.writer())))

t.test('a node that returns is a spare, however many connections are made at once', async t => {
  t.same([...(await nodes())], ['db1'])
  await galera.nodes[0].kill()
  await until('another node is the writer', async () => (await galera.writer().catch(() => '')) === 'db2')
  await galera.nodes[0].start()
  const seen = new Set<string>()
  // haproxy uses a node after three checks, a second apart.
  for (const end = Date.now() + 8000; Date.now() < end; await sleep(200))
    for (const name of await nodes()) seen.add(name)
  t.same([...seen], ['db2'])
})

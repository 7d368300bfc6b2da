// The writer of a database cluster dies under pushes, writes by the API and jobs: nothing that was acknowledged is lost or doubled.
// `npm run chaos -- --cluster --rounds 100` kills every part of a cluster.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import { root } from '../scenarios/appliance.js'

/** Each machine of the cluster needs a namespace of processes. */
const isRoot = process.getuid?.() === 0

for (const [victims, rounds] of [
  ['writer', '2'],
  ['all', '2']
] as const) {
  t.test(`a cluster survives kill -9: ${victims}`, { skip: !isRoot }, async t => {
    const args = ['-u', 'NODE_OPTIONS', process.execPath, join(root, 'dist/test/chaos/run.js'), '--cluster']
    const options = ['--victims', victims, '--rounds', rounds, '--seed', '7']
    const child = spawn('env', [...args, ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    const [code] = await once(child, 'close')
    t.comment(said)
    t.equal(code, 0, said)
    t.match(said, new RegExp(`^${rounds} rounds of seed 7 are clean`, 'm'))
  })
}

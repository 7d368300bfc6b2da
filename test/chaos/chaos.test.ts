// Two rounds of `npm run chaos`. Run a hundred when you change the code of ref changes, the queue or the builds.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import { root } from '../scenarios/appliance.js'

t.test('under kill -9, the main job loses nothing and does nothing twice', async t => {
  const args = ['-u', 'NODE_OPTIONS', process.execPath, join(root, 'dist/test/chaos/run.js'), '--rounds', '2']
  const child = spawn('env', [...args, '--seed', '20'], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const [code] = await once(child, 'close')
  t.comment(said)
  t.equal(code, 0, said)
  t.match(said, /^2 rounds of seed 20 are clean/m)
})

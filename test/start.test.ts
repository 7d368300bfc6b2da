// A process loads only what it needs, and does not compile it again at each start.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../src/config.js'
import t from './helpers/tap.js'

const run = (home: string, args: readonly string[]) =>
  execFileSync(process.execPath, args, { env: { PATH: process.env.PATH, GITSTEAD_HOME: home }, encoding: 'utf8' })

t.test('the server loads no fetch and no WebSocket', async t => {
  const script = `await import(${JSON.stringify(new URL('../src/server/app.js', import.meta.url).href)})
    process.stdout.write(process.moduleLoadList.filter(name => name.includes('undici')).join())`
  t.equal(run(t.testdir(), ['--input-type=module', '-e', script]), '')
})

t.test('a command keeps the compiled code of its modules', async t => {
  const folder = join(root, 'dist/.compiled')
  const stored = () => (existsSync(folder) ? readdirSync(folder, { recursive: true }).length : 0)
  rmSync(folder, { recursive: true, force: true })
  run(t.testdir(), [join(root, 'bin/gitstead'), 'config', 'show'])
  // A whole build joins most of them.
  t.ok(stored() > 10)
})

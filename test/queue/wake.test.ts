// Wake-ups through sockets: which workers receive them, and from when on.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { loadConfig } from '../../src/config.js'
import { prepareHome, socketPath } from '../../src/home.js'
import { closeWake, listenForWake, type WakeUp, wake } from '../../src/queue/wake.js'
import { until } from '../helpers/until.js'

/** Creates a home for the test, with a path that is longer by `more`. */
function newHome(t: Test, more = ''): string {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-wake-'))
  const home = join(folder, more)
  mkdirSync(home, { recursive: true })
  loadConfig({ home })
  prepareHome()
  t.teardown(() => {
    closeWake()
    rmSync(folder, { recursive: true, force: true })
  })
  return home
}

/** Creates the socket of a killed process: nobody listens on it any more. */
async function leaveSocket(path: string): Promise<void> {
  const server = createServer().listen(`${path}.new`)
  await once(server, 'listening')
  linkSync(`${path}.new`, path)
  server.close()
  await once(server, 'close')
}

/** Records the wake-ups that a worker receives from now on. */
async function listen(t: Test, id: number) {
  const heard: WakeUp[] = []
  const stop = await listenForWake(id, queue => heard.push(queue))
  t.teardown(stop)
  return { heard, stop }
}

t.test('a worker receives wake-ups of every queue, and of delayed jobs', async t => {
  newHome(t)
  const { heard } = await listen(t, 1)
  wake('mail')
  await until('the wake-up arrives', () => heard.includes('mail'))
  wake('builds')
  await until('the wake-up arrives', () => heard.includes('builds'))
  wake('delayed')
  await until('the wake-up arrives', () => heard.includes('delayed'))
  t.same(heard, ['mail', 'builds', 'delayed'])
})

t.test('workers that have just started receive the next wake-up', async t => {
  newHome(t)
  for (let id = 1; id <= 20; id++) {
    // The waking process has looked for workers a moment ago.
    wake('hooks')
    const { heard } = await listen(t, id)
    wake('default')
    await until('the wake-up arrives', () => heard.includes('default'))
  }
  t.pass('each of them received it')
})

t.test('a worker that has left is forgotten, and the others still receive wake-ups', async t => {
  newHome(t)
  const [leaving, staying] = [await listen(t, 1), await listen(t, 2)]
  wake('default')
  await until('both receive it', () => leaving.heard.length === 1 && staying.heard.length === 1)
  leaving.stop()
  wake('mail')
  await until('the wake-up arrives', () => staying.heard.includes('mail'))
  t.same(readdirSync(dirname(socketPath('any'))), ['wake-2.sock'])
})

t.test('the socket of a killed worker is removed', async t => {
  newHome(t)
  const path = socketPath('wake-7.sock')
  await leaveSocket(path)
  wake('default')
  await until('it is removed', () => readdirSync(dirname(path)).length === 0)
  t.pass('it is removed')
})

t.test('workers start while another process wakes them all the time, and each receives wake-ups', async t => {
  const home = newHome(t)
  const waking = fork(new URL('waking-process.js', import.meta.url), [], {
    env: { ...process.env, GITSTEAD_HOME: home }
  })
  t.teardown(() => waking.kill('SIGKILL'))
  await once(waking, 'message')
  const workers: { heard: WakeUp[] }[] = []
  for (let id = 1; id <= 200; id++) workers.push(await listen(t, id))
  await until('all have received one', () => workers.every(({ heard }) => heard.length > 0))
  t.pass('all have received one')
})

for (const length of [60, 75, 80, 85, 90, 120]) {
  t.test(`workers are found in a home with a path of ${length} bytes`, async t => {
    const more = 'x'.repeat(length - tmpdir().length - '/gitstead-wake-123456/'.length)
    const home = newHome(t, more)
    t.equal(home.length, length)
    const { heard } = await listen(t, 1_000_000_000)
    wake('default')
    await until('the wake-up arrives', () => heard.length > 0)
    const folder = dirname(socketPath('any'))
    if (!folder.startsWith(home)) rmSync(folder, { recursive: true })
  })
}

// The frame of a process: how long it may take to stop.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from './helpers/tap.js'

const frame = new URL('../src/process.js', import.meta.url).href

/** Stops a process that needs five seconds to finish its work, and returns its exit code. */
async function stopWithin(seconds: string, home: string): Promise<number> {
  const program = `const { runProcess } = await import(${JSON.stringify(frame)})
    setInterval(() => undefined, 1000)
    await runProcess('server', async () => ({ stop: () => new Promise(resolve => setTimeout(resolve, 5000)) }))
    process.stdout.write('ready')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env: { PATH: process.env.PATH, GITSTEAD_HOME: home, GITSTEAD_STOP_TIMEOUT: seconds, GITSTEAD_LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  child.kill('SIGTERM')
  const [code] = await ended
  return code
}

t.test('a process that does not finish its work within stop_timeout ends with an error', async t => {
  const home = t.testdir()
  t.same(await Promise.all([stopWithin('1', home), stopWithin('60', home)]), [1, 0])
})

// A worker as a process of its own, which a test may kill.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from './tap.js'

const module = new URL('../../src/worker/process.js', import.meta.url)

interface Place {
  readonly home: string
  readonly databaseUrl: string
}

/** Starts a worker, and waits until it is ready. It ends with the test at the latest. */
export async function startWorker(t: Test, { home, databaseUrl }: Place): Promise<ChildProcess> {
  const env = {
    ...process.env,
    ...{ GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl, GITSTEAD_HOOKS_ALLOW: '127.0.0.1' },
    GITSTEAD_LOG_LEVEL: 'silent'
  }
  const child = fork(module, [], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  await once(child, 'message')
  return child
}

// A program of this folder that serves on a port of its own, in a process of its own.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { atExit } from './clean-up.js'

export interface Served {
  readonly port: number
  readonly pid: number
  stop(): void
}

/** Starts `name` (without its ending) and waits for its port. */
export async function serve(name: string, args: readonly string[]): Promise<Served> {
  const child: ChildProcess = fork(fileURLToPath(new URL(`./${name}.js`, import.meta.url)), args, {
    env: { ...process.env, NODE_ENV: 'production' }
  })
  const forget = atExit(() => child.kill('SIGKILL'))
  const [port] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error(`${name} ended before it listened`)
    })
  ])) as [number]
  return {
    port,
    pid: child.pid ?? 0,
    stop: () => {
      forget()
      child.kill('SIGKILL')
    }
  }
}

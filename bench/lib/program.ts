// Runs a program of this folder as a server, in a separate process and on its own port.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { atExit } from './clean-up.js'

export interface Served {
  readonly port: number
  readonly pid: number
  stop(): void
}

/** Starts the program `name` (without the extension) and waits for its port. */
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

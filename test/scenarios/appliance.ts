// Runs a real appliance for scenarios: `bin/gitstead up` on a temporary home. It finds the processes through /proc.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../..', import.meta.url))
export const program = `${root}/bin/gitstead`

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

interface Processes {
  server?: number
  worker?: number
  database?: number
}

export interface Appliance {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** The log so far. */
  log(): string
  /** The processes of the appliance that are running now, by role. */
  processes(): Processes
  /** Sends SIGTERM; returns the exit code. */
  stop(): Promise<number | null>
  /** Sends SIGKILL to the supervisor only. */
  kill(): Promise<void>
}

export interface ApplianceOptions {
  readonly home: string
  readonly port?: number
  readonly environment?: Record<string, string>
  /** More arguments of `up`. */
  readonly args?: readonly string[]
}

/** The environment of this process without settings of Gitstead, and with these. */
export const clean = (environment: Record<string, string> = {}): NodeJS.ProcessEnv => {
  // With the NODE_OPTIONS of the test runner, every process of Node.js would load the runner.
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('GITSTEAD_') && name !== 'NODE_OPTIONS')
  return { ...Object.fromEntries(own), GITSTEAD_HOOKS_ALLOW: '127.0.0.1', GITSTEAD_LOG_LEVEL: 'info', ...environment }
}

/** Starts `gitstead up` and waits for its `ready` line. Throws an error with its output when it ends before. */
export async function startAppliance(options: ApplianceOptions): Promise<Appliance> {
  const port = options.port ?? (await freePort())
  const up = [process.execPath, program, 'up', '--home', options.home, '--port', String(port), ...(options.args ?? [])]
  const child = spawn('env', ['-u', 'NODE_OPTIONS', ...up], {
    env: clean(options.environment),
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const output = collect(child)
  const exited = once(child, 'exit')
  const url = await Promise.race([readyUrl(child, output), exited.then(() => undefined)])
  if (url === undefined) throw new Error(`gitstead up ended with ${child.exitCode}: ${output.stderr}`)
  const processes = () => {
    const found = childrenOf(child.pid ?? 0)
    note(options.home, [child.pid, ...Object.values(found)])
    return found
  }
  const end = async (signal: NodeJS.Signals) => {
    processes()
    child.kill(signal)
    if (child.exitCode === null && child.signalCode === null) await exited
    child.stdout?.destroy()
    child.stderr?.destroy()
  }
  return {
    url,
    port: Number(new URL(url).port),
    pid: child.pid ?? 0,
    log: () => output.stderr,
    processes,
    stop: async () => {
      await end('SIGTERM')
      return child.exitCode
    },
    kill: () => end('SIGKILL')
  }
}

function collect(child: ChildProcess): { stdout: string; stderr: string } {
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  return output
}

async function readyUrl(child: ChildProcess, output: { stdout: string }): Promise<string> {
  for (;;) {
    const found = /^ready (\S+)$/m.exec(output.stdout)?.[1]
    if (found) return found
    await once(child.stdout as NodeJS.ReadableStream, 'data')
  }
}

/** Runs a command of gitstead and waits until it ends. */
export async function gitstead(
  args: readonly string[],
  options: { input?: string; environment?: Record<string, string>; wrap?: readonly string[] } = {}
): Promise<Ended> {
  const command = [...(options.wrap ?? []), process.execPath, program, ...args]
  const child = spawn('env', ['-u', 'NODE_OPTIONS', ...command], {
    env: clean(options.environment),
    stdio: ['pipe', 'pipe', 'pipe']
  })
  const output = collect(child)
  child.stdin.on('error', () => undefined)
  child.stdin.end(options.input ?? '')
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...output }
}

export interface MadeUser {
  readonly id: number
  readonly username: string
  readonly private_token: string
}

/** Creates a user on the command line. */
export async function makeUser(
  home: string,
  username: string,
  flags: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {}
): Promise<MadeUser> {
  const named = ['--username', username, '--email', `${username}@example.org`, '--name', `The ${username}`]
  const args = ['users', 'create', '--home', home, ...named, ...flags, '--password-stdin', '--json']
  const { code, stdout, stderr } = await gitstead(args, { input: `password of ${username}\n`, environment })
  if (code !== 0) throw new Error(`users create ended with ${code}: ${stdout}${stderr}`)
  return JSON.parse(stdout) as MadeUser
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address ? address.port : 0
}

interface ProcessStatus {
  readonly pid: number
  /** The start time in ticks since boot. A later process with the same number has another start time. */
  readonly started: string
  readonly parent: number
  readonly name: string
}

function allProcesses(): ProcessStatus[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(pid => {
      const stat = read(`/proc/${pid}/stat`)
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      // A zombie is not a running process.
      if (stat === '' || fields[0] === 'Z') return []
      const [name, started] = [stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')), fields[19] ?? '']
      return [{ pid: Number(pid), parent: Number(fields[1]), name, started }]
    })
}

function childrenOf(parent: number): Processes {
  const found: Processes = {}
  for (const { pid, name } of allProcesses().filter(status => status.parent === parent)) {
    if (name.startsWith('mariadbd')) found.database = pid
    if (name === 'gitstead server') found.server = pid
    if (name === 'gitstead worker') found.worker = pid
  }
  return found
}

/** Servers and workers overwrite their command line with their name. So we note their home when we first see them. */
const seen = new Map<string, Map<number, string>>()

function note(home: string, pids: readonly (number | undefined)[]): void {
  const known = seen.get(home) ?? new Map<number, string>()
  for (const { pid, started } of allProcesses()) if (pids.includes(pid)) known.set(pid, started)
  seen.set(home, known)
}

/** Every process of a home: those seen in an appliance, and those whose command line has the path of the home. */
export function processesOf(home: string): number[] {
  return allProcesses()
    .filter(({ pid, started }) => pid !== process.pid && (seen.get(home)?.get(pid) === started || names(pid, home)))
    .map(({ pid }) => pid)
}

const names = (pid: number, home: string) =>
  environmentOf(pid).includes(home) || read(`/proc/${pid}/cmdline`).includes(home)

const environmentOf = (pid: number) => read(`/proc/${pid}/environ`)

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

// Runs a real appliance on a temporary home with `bin/gitstead up`. All its processes are killed when the program ends.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { nobody, originOf } from '../../src/access/actor.js'
import { createUser } from '../../src/areas/people/users/users.js'
import { loadConfig, root } from '../../src/config.js'
import { closeDatabase } from '../../src/db/connect/connection.js'
import { compose } from '../../src/product.js'
import { closeWake } from '../../src/queue/wake.js'
import { atExit, temporaryFolder } from './clean-up.js'
import { childrenOf, commandOf } from './processes.js'

export interface Parts {
  readonly server: number
  readonly worker: number
  readonly database: number
  readonly supervisor: number
}

export interface Appliance {
  readonly home: string
  readonly url: string
  readonly port: number
  /** Milliseconds from the start of the command to its `ready` line. */
  readonly readyAfter: number
  readonly parts: Parts
  stop(): Promise<void>
}

export interface ApplianceOptions {
  readonly home?: string
  /** The default is any free port. */
  readonly port?: number
  readonly environment?: { readonly [name: string]: string }
}

export interface Administrator {
  readonly id: number
  readonly username: string
  readonly token: string
}

export interface PreparedOptions extends ApplianceOptions {
  /** The administrator of a home that already has one. */
  readonly admin?: Administrator
  /** Keeps the home after the work. */
  readonly keep?: boolean
}

const program = join(root, 'bin/gitstead')

/** The environment, without the GITSTEAD_ variables of the user who runs the benchmark. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GITSTEAD_')))
}

/** Starts an appliance and waits until it is ready. */
export async function startAppliance(options: ApplianceOptions = {}): Promise<Appliance> {
  const home = options.home ?? temporaryFolder()
  const started = performance.now()
  const child = spawn(process.execPath, [program, 'up', '--home', home, '--port', String(options.port ?? 0)], {
    env: { ...cleanEnvironment(), GITSTEAD_LOG_LEVEL: 'error', ...options.environment },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const forget = atExit(() => killAll(child))
  const url = await readyLine(child)
  const readyAfter = performance.now() - started
  return {
    home,
    url,
    port: Number(new URL(url).port),
    readyAfter,
    parts: partsOf(child.pid ?? 0),
    stop: async () => {
      forget()
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    }
  }
}

/** An appliance with an administrator. This process may use its database with the product's own modules. */
export interface Prepared extends Appliance {
  readonly admin: Administrator
}

/** Starts an appliance, runs `work` with it, and always stops it and removes its home. */
export async function withAppliance(options: PreparedOptions, work: (appliance: Prepared) => Promise<void>) {
  const appliance = await startAppliance(options)
  for (const name of Object.keys(process.env)) if (name.startsWith('GITSTEAD_')) delete process.env[name]
  loadConfig({ home: appliance.home, port: appliance.port, log: { level: 'error' } })
  compose()
  try {
    await work({ ...appliance, admin: options.admin ?? (await makeAdministrator()) })
  } finally {
    closeWake()
    await closeDatabase()
    await appliance.stop()
    if (!options.keep) rmSync(appliance.home, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function makeAdministrator(): Promise<Administrator> {
  const username = 'bench'
  const { id, privateToken } = await createUser(
    {
      username,
      name: 'Bench',
      email: 'bench@example.org',
      password: 'a long password',
      admin: true,
      projects_limit: 100_000
    },
    originOf(nobody, null)
  )
  return { id, username, token: privateToken }
}

function readyLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', chunk => {
      text += chunk
      const url = /^ready (\S+)$/m.exec(text)?.[1]
      if (url) resolve(url)
    })
    child.once('error', reject)
    child.once('exit', code => reject(new Error(`gitstead up ended with ${code} before it was ready`)))
  })
}

function partsOf(supervisor: number): Parts {
  const children = childrenOf(supervisor).map(pid => ({ pid, command: commandOf(pid) }))
  const pidOf = (pattern: RegExp) => children.find(({ command }) => pattern.test(command))?.pid ?? 0
  return {
    server: pidOf(/server\/process|gitstead server/),
    worker: pidOf(/worker\/process|gitstead worker/),
    database: pidOf(/mariadbd/),
    supervisor
  }
}

/** Kills all processes at once: except for the database, the children would survive a killed supervisor. */
function killAll(child: ChildProcess): void {
  const pid = child.pid ?? 0
  for (const each of [...childrenOf(pid), pid]) {
    try {
      process.kill(each, 'SIGKILL')
    } catch {
      // The process has already ended.
    }
  }
}

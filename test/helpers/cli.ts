// Runs the real command line.
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from '../../src/config.js'
import type { Answer, Call } from './command-host.js'

export interface CliResult {
  code: number | null
  stdout: string
  stderr: string
  /** Parses stdout. */
  json: () => Record<string, unknown>
}

export interface CliOptions {
  input?: string
  environment?: NodeJS.ProcessEnv
}

const resultOf = (result: Omit<CliResult, 'json'>): CliResult => ({
  ...result,
  json: () => JSON.parse(result.stdout) as Record<string, unknown>
})

/** A command gets nothing of this process's configuration except what the test passes. */
function environmentOf(given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env
  return { PATH, HOME, TMPDIR, ...given }
}

let host: ChildProcess | undefined
let last: Promise<unknown> = Promise.resolve()

/**
 * Runs a command to its end. All commands of a test file run in one separate process, one after another. Tests about a process
 * itself (its signals, terminal, memory, or several at once) use `cliProcess`.
 */
export function cli(args: readonly string[], { input = '', environment = {} }: CliOptions = {}): Promise<CliResult> {
  const result = last.then(() => ask({ args, environment: environmentOf(environment), input }))
  last = result.catch(() => undefined)
  return result
}

function ask(call: Call): Promise<CliResult> {
  host ??= startHost()
  const child = host
  child.ref()
  return new Promise<CliResult>((resolve, reject) => {
    const gone = () => {
      host = undefined
      reject(new Error(`the process of ${call.args.join(' ')} ended: ${child.exitCode ?? child.signalCode}`))
    }
    child.once('exit', gone)
    child.once('message', (answer: Answer) => {
      child.off('exit', gone)
      resolve(resultOf(answer))
    })
    child.channel?.ref()
    child.send(call)
  }).finally(() => {
    child.unref()
    child.channel?.unref()
  })
}

/** The host ends with this process, because its channel closes. */
function startHost(): ChildProcess {
  const program = fileURLToPath(new URL('command-host.js', import.meta.url))
  // tap adds its own loader to every Node.js process that a test starts. The real command has none.
  return spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, program], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc']
  })
}

/** Runs `bin/gitstead` to its end, in a separate process. */
export function cliProcess(
  args: readonly string[],
  { input = '', environment = {} }: CliOptions = {}
): Promise<CliResult> {
  const child = spawn(join(root, 'bin/gitstead'), args, {
    env: environmentOf(environment),
    stdio: ['pipe', 'pipe', 'pipe']
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', chunk => (output.stdout += String(chunk)))
  child.stderr.on('data', chunk => (output.stderr += String(chunk)))
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code => resolve(resultOf({ code, ...output })))
  })
}

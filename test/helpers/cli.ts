// Runs the real command line as its own process.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { root } from '../../src/config.js'

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

/** Runs `bin/gitstead` to its end. It gets nothing of this process's configuration except `environment`. */
export function cli(args: readonly string[], { input = '', environment = {} }: CliOptions = {}): Promise<CliResult> {
  const { PATH, HOME, TMPDIR } = process.env
  // tap adds its own loader to every Node.js process that a test starts. The real command has none, so NODE_OPTIONS is
  // removed.
  const child = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, join(root, 'bin/gitstead'), ...args], {
    env: { PATH, HOME, TMPDIR, ...environment },
    stdio: ['pipe', 'pipe', 'pipe']
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', chunk => (output.stdout += String(chunk)))
  child.stderr.on('data', chunk => (output.stderr += String(chunk)))
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code =>
      resolve({ code, ...output, json: () => JSON.parse(output.stdout) as Record<string, unknown> })
    )
  })
}

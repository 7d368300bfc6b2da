// A process that runs one command after another, for test/helpers/cli.ts: loading the command line again for each command takes
// longer than most commands do. It starts the same program as bin/gitstead; only its output, input and exit are redirected.
import { Readable } from 'node:stream'
import { root } from '../../src/config.js'

export interface Call {
  readonly args: readonly string[]
  readonly environment: NodeJS.ProcessEnv
  readonly input: string
}

export interface Answer {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const written = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
for (const name of ['stdout', 'stderr'] as const) {
  Object.assign(process[name], {
    _write: (chunk: Buffer | string, encoding: BufferEncoding, done: () => void) => {
      written[name].push(Buffer.from(chunk as string, encoding))
      done()
    },
    _writev: null
  })
}

// A command exits as its last act. Without an exit, the command has ended all the same.
let ended: number | undefined
process.exit = ((code?: number) => {
  ended ??= Number(code ?? process.exitCode ?? 0)
}) as typeof process.exit

let count = 0

async function runCommand({ args, environment, input }: Call): Promise<Answer> {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, environment)
  process.argv = [process.argv[0] ?? '', `${root}/bin/gitstead`, ...args]
  process.exitCode = undefined
  ended = undefined
  const stdin = Readable.from(input === '' ? [] : [Buffer.from(input)])
  Object.defineProperty(process, 'stdin', { value: stdin, configurable: true })
  // The module is a program: each load of it is a run, and everything that it imports stays loaded.
  await import(`../../src/cli/main.js?run=${++count}`)
  // The streams keep the listeners of a command, which expects to have the process for itself.
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners()
  const code = ended ?? Number(process.exitCode ?? 0)
  const [stdout, stderr] = [written.stdout, written.stderr].map(chunks => String(Buffer.concat(chunks.splice(0))))
  return { code, stdout: stdout ?? '', stderr: stderr ?? '' }
}

// The commands come one after another: the caller waits for each answer.
process.on('message', (call: Call) => {
  void runCommand(call).then(answer => process.send?.(answer))
})

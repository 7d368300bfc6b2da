// `npm run bench [NAME...] [-- --markdown]` runs the programs of this folder one after the other. It prints one line of
// JSON for each figure, or with --markdown the table of README.md. With `--compare REF [--turns N]` it runs each program in
// that version and in this one in turns, and prints a table of both.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { comparison, otherVersion, thisVersion, type Version } from './lib/compare.js'
import { type Line, machine, table } from './lib/markdown.js'

const PROGRAMS = [
  'table',
  'cold-start',
  'command-start',
  'idle-memory',
  'project-read',
  'lists',
  'issues',
  'merge-requests',
  'pages',
  'search',
  'notifications',
  'repository-reads',
  'history-reads',
  'files-commit',
  'transport',
  'large-files',
  'queue',
  'first-trace',
  'runners',
  'hook',
  'import',
  'migrate',
  'dashboard',
  'backup',
  'growth',
  'machines',
  'mixed'
]
const TURNS = 3

const words = process.argv.slice(2)
const markdown = takeOption('--markdown') !== undefined
const ref = takeOption('--compare', true)
const turns = Number(takeOption('--turns', true) ?? TURNS)
// All words after the first other option are for the program: `mixed --rate 500`.
const firstOption = words.findIndex(word => word.startsWith('--'))
const forProgram = firstOption === -1 ? [] : words.splice(firstOption)
const unknown = words.find(name => !PROGRAMS.includes(name))
if (unknown !== undefined) stop(`${unknown} does not exist: choose from ${PROGRAMS.join(', ')}`)
if (!(turns >= 1)) stop('--turns needs a number')

/** Takes an option, and its value if it has one, out of the words. */
function takeOption(name: string, hasValue = false): string | undefined {
  const at = words.indexOf(name)
  if (at === -1) return undefined
  const [option, value] = words.splice(at, hasValue ? 2 : 1)
  if (hasValue && value === undefined) stop(`${name} needs a value`)
  return value ?? option
}

function stop(message: string): never {
  process.stderr.write(`bench: ${message}\n`)
  process.exit(2)
}

let running: ChildProcess | undefined
let interrupted = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    running?.kill(signal)
    process.exitCode = 1
    interrupted = true
  })
}

async function runProgram(name: string, { folder, node }: Version, printed: boolean): Promise<Line[]> {
  const path = join(folder, 'dist/bench', `${name}.js`)
  const child = spawn(node, [path, ...forProgram], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  running = child
  let text = ''
  child.stdout.on('data', chunk => {
    text += chunk
    if (printed) process.stdout.write(chunk)
  })
  const [code] = await once(child, 'close')
  if (code !== 0) {
    process.stderr.write(`bench: ${name} failed with exit code ${code} in ${folder}\n`)
    process.exitCode = 1
  }
  return text
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as Line)
}

async function runAll(names: readonly string[]): Promise<void> {
  const lines: Line[] = []
  for (const name of names) {
    if (interrupted) break
    if (markdown) process.stderr.write(`bench: ${name}\n`)
    lines.push(...(await runProgram(name, thisVersion, !markdown)))
  }
  if (markdown) process.stdout.write(`${machine()}\n\n${table(lines)}\n`)
}

async function compare(names: readonly string[], base: Version): Promise<void> {
  for (const name of names) {
    const lines = { base: [] as Line[], now: [] as Line[] }
    for (let turn = 1; turn <= turns && !interrupted; turn++) {
      process.stderr.write(`bench: ${name}, turn ${turn} of ${turns}\n`)
      lines.base.push(...(await runProgram(name, base, false)))
      if (!interrupted) lines.now.push(...(await runProgram(name, thisVersion, false)))
    }
    process.stdout.write(`${comparison(lines)}\n\n`)
  }
}

if (ref === undefined) await runAll(words.length > 0 ? words : PROGRAMS)
else await compare(words.length > 0 ? words : ['table'], await otherVersion(ref))

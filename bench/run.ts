// `npm run bench [NAME...] [-- --markdown]` runs the programs of this folder one after the other. It prints one line of
// JSON for each figure, or with --markdown the table of README.md.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Line, machine, table } from './lib/table.js'

const PROGRAMS = [
  'cold-start',
  'command-start',
  'idle-memory',
  'project-read',
  'lists',
  'issues',
  'todos',
  'merge-requests',
  'notifications',
  'repository-reads',
  'history-reads',
  'files-commit',
  'transport',
  'queue',
  'first-trace',
  'runners',
  'hook',
  'import',
  'dashboard',
  'backup',
  'mixed'
]

const words = process.argv.slice(2)
const markdown = words.includes('--markdown')
// All words after the first other option are for the program: `mixed --rate 500`.
const firstOption = words.findIndex(word => word.startsWith('--') && word !== '--markdown')
const forProgram = firstOption === -1 ? [] : words.slice(firstOption).filter(word => word !== '--markdown')
const named = (firstOption === -1 ? words : words.slice(0, firstOption)).filter(word => word !== '--markdown')
const unknown = named.find(name => !PROGRAMS.includes(name))
if (unknown !== undefined) {
  process.stderr.write(`bench: ${unknown} does not exist: choose from ${PROGRAMS.join(', ')}\n`)
  process.exit(2)
}

let running: ChildProcess | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    running?.kill(signal)
    process.exitCode = 1
    running = undefined
  })
}

async function runProgram(name: string): Promise<Line[]> {
  const path = fileURLToPath(new URL(`./${name}.js`, import.meta.url))
  const child = spawn(process.execPath, [path, ...forProgram], { stdio: ['ignore', 'pipe', 'inherit'] })
  running = child
  let text = ''
  child.stdout.on('data', chunk => {
    text += chunk
    if (!markdown) process.stdout.write(chunk)
  })
  const [code] = await once(child, 'close')
  if (code !== 0) {
    process.stderr.write(`bench: ${name} failed with exit code ${code}\n`)
    process.exitCode = 1
  }
  return text
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as Line)
}

const lines: Line[] = []
for (const name of named.length > 0 ? named : PROGRAMS) {
  if (markdown) process.stderr.write(`bench: ${name}\n`)
  lines.push(...(await runProgram(name)))
  if (running === undefined) break
}
if (markdown) process.stdout.write(`${machine()}\n\n${table(lines)}\n`)

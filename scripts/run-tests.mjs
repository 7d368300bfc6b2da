// Runs test files, with one process more at once than there are processors; writes TAP. The program `tap` does the same with loaders
// for coverage, mocks and TypeScript in each process, which are not used here: a second of processor time for every file.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'

/** Some tests wait for a time that must pass, and the others use the processor in the meantime. */
const AT_ONCE = availableParallelism() + 1

const files = process.argv.slice(2)
const shared = files.filter(mayShare)
const folder = mkdtempSync(join(tmpdir(), 'gitstead-files-'))
writeFileSync(join(folder, 'files.json'), JSON.stringify(shared))

t.jobs = AT_ONCE
t.setTimeout(0)
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
for (const file of files.filter(file => !mayShare(file))) run(file, ['dist/test/helpers/one-file.js', file])
// They come last, because they take one file after another from the same list: no processor waits for another at the end.
const processes = Array.from({ length: Math.min(AT_ONCE, shared.length) }, (_, at) =>
  run(`files that share process ${at + 1}`, ['dist/test/helpers/several-files.js', folder], ['TAP_TIMEOUT=0'])
)
await Promise.all(processes)
for (const [at, file] of shared.entries()) {
  if (!existsSync(join(folder, `${at}.ended`)))
    t.fail(`${file} did not end: its process was killed, or stopped before it`)
}

/** A process that runs many files limits the time of each of them. */
function run(name, args, environment = []) {
  // tap adds one of the loaders to NODE_OPTIONS.
  return t.spawn('env', ['-u', 'NODE_OPTIONS', ...environment, process.execPath, '--enable-source-maps', ...args], {
    name,
    buffered: true
  })
}

/** A file that imports tap itself needs a separate process (test/helpers/tap.ts). */
function mayShare(file) {
  return !/from 'tap'/.test(readFileSync(file, 'utf8'))
}

// Git that the small process starts, with real processes.
import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { config, loadConfig, root } from '../../../src/config.js'
import { GitFailure, runGit, spawnGit, startGit } from '../../../src/git/process/run.js'
import { writeRefs } from '../../../src/git/refs/writer.js'
import { closeGitProcesses, startBySmallProgram } from '../../../src/git/repository/processes.js'
import { prepareHome, socketPath } from '../../../src/home.js'
import { until } from '../../helpers/until.js'
import { git, repositoryWith } from '../history.js'

const home = t.testdir({})
loadConfig({ home, log: { level: 'fatal' } })
prepareHome()
const failures: Error[] = []
startBySmallProgram({
  socket: socketPath(`start-${process.pid}.sock`),
  onFailure: error => failures.push(error)
})
t.teardown(() => closeGitProcesses())

const parentOf = (pid: number) => Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
/** Returns whether a process has ended; the machine may keep its entry for a while. */
function isGone(pid: number): boolean {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return true
  }
}

const sockets = () => readdirSync(join(config().home, 'run')).filter(name => name.startsWith('start-'))

/** Starts git until the starter does it, and returns the id of the starter. */
async function starterPid(): Promise<number> {
  let parent = process.pid
  await until('the starter starts git', async () => {
    const child = await spawnGit(['hash-object', '--stdin'], {})
    parent = parentOf(child.pid ?? 0)
    child.kill('SIGKILL')
    return parent !== process.pid
  })
  return parent
}

t.test('programs read and write any amount of data', async t => {
  const repository = await repositoryWith(t, 20)
  await starterPid()
  const head = git(repository, ['rev-parse', 'master'])
  t.equal((await runGit(['rev-parse', 'master'], { repository })).toString().trim(), head)
  const large = randomBytes(20 * 1024 * 1024)
  const id = (await runGit(['hash-object', '-w', '--stdin'], { repository, input: large })).toString().trim()
  t.equal(id, git(repository, ['hash-object', '--stdin'], large))
  t.ok((await runGit(['cat-file', 'blob', id], { repository })).equals(large), 'both ways')
  await t.rejects(runGit(['rev-parse', '--verify', 'nothing'], { repository }), {
    code: 128,
    stderr: /single revision/
  })
  await t.rejects(runGit(['cat-file', 'blob', id], { repository, maxOutput: 1000 }), /more than 1000 bytes/)
  const all = await Promise.all(
    Array.from({ length: 90 }, () => spawnGit(['rev-parse', 'HEAD'], { repository }).then(childOutput))
  )
  t.same(new Set(all), new Set([head]), 'more at once than the starter accepts')
  await writeRefs(repository, `create refs/heads/new\0${head}\0`)
  t.equal(git(repository, ['rev-parse', 'new']), head)
})

async function childOutput(child: Awaited<ReturnType<typeof spawnGit>>): Promise<string> {
  let text = ''
  for await (const chunk of child.stdout) text += chunk
  return text.trim()
}

t.test('a process ends at its limits, and reports how', async t => {
  const repository = await repositoryWith(t, 20)
  await starterPid()
  const waiting = await startGit(['cat-file', '--batch'], { repository, timeout: 0.2 })
  t.match(await waiting.done, { ended: 'timeout' })
  await until('the process has ended', () => isGone(waiting.pid ?? 0))
  const killed = await startGit(['cat-file', '--batch'], { repository })
  killed.kill()
  t.match(await killed.done, { ended: 'killed' })
  const left = await startGit(['cat-file', '--batch'], { repository })
  left.stdin.end()
  t.same(await left.done, { code: 0, signal: null }, 'stdin ended')
  await t.rejects(spawnGit(['version'], { cwd: join(home, 'nowhere') }), GitFailure, 'a program that cannot be started')
})

t.test('when the starter dies, its programs end with it, and the next one starts without it', async t => {
  const repository = await repositoryWith(t, 20)
  const starter = await starterPid()
  const running = await startGit(['cat-file', '--batch'], { repository })
  t.equal(parentOf(running.pid ?? 0), starter)
  process.kill(starter, 'SIGKILL')
  t.match(await running.done, { code: null, signal: 'SIGKILL' })
  await until('the process has ended', () => isGone(running.pid ?? 0))
  t.equal((await runGit(['rev-parse', '--is-bare-repository'], { repository })).toString(), 'true\n')
  t.same(sockets(), [], 'nothing of it is left')
  t.equal(failures.length, 1)
})

t.test('the starter ends when the program has died before the starter listens', async t => {
  const program = join(root, 'dist/src/git/process/starter/program.js')
  // The path of a socket has at most 107 characters.
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-starter-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const child = spawn(process.execPath, [program, join(folder, 'socket')], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc']
  })
  t.teardown(() => child.kill('SIGKILL'))
  child.disconnect()
  await until('it has ended', () => child.exitCode !== null)
  t.equal(child.exitCode, 0)
})

t.test('the starter ends with the program', async t => {
  const program = `
    const { loadConfig } = await import('${new URL('../../../src/config.js', import.meta.url)}')
    const { startBySmallProgram } = await import('${new URL('../../../src/git/repository/processes.js', import.meta.url)}')
    const { spawnGit } = await import('${new URL('../../../src/git/process/run.js', import.meta.url)}')
    loadConfig({ home: ${JSON.stringify(home)} })
    startBySmallProgram({ socket: ${JSON.stringify(join(home, 'run/start-other.sock'))}, onFailure: () => {} })
    await spawnGit(['version'], {})
    await new Promise(resolve => setTimeout(resolve, 1500))
    const child = await spawnGit(['hash-object', '--stdin'], {})
    console.log(child.pid, (await import('node:fs')).readFileSync('/proc/' + child.pid + '/stat', 'utf8').split(' ')[3])
    process.kill(process.pid, 'SIGKILL')`
  const said = execFileSync('/bin/sh', ['-c', '"$0" --input-type=module -e "$1" || true', process.execPath, program])
  const [child = 0, starter = 0] = said.toString().split(' ').map(Number)
  t.ok(child > 0 && starter > 0)
  await until('both have ended', () => isGone(starter) && isGone(child))
})

// Tests `gitstead stop`, `restart` and `logs` with a real appliance, and its log files.
import { spawn } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import t, { type Test } from 'tap'
import { LogFile, logPath, OLD_FILES } from '../../../src/cli/appliance/log-file.js'
import { endOfLog, lastLines, plainLine } from '../../../src/cli/appliance/read-log.js'
import { loadConfig } from '../../../src/config.js'
import { cliProcess } from '../../helpers/cli.js'
import { until } from '../../helpers/until.js'
import { processesOf, program, startAppliance } from '../../scenarios/appliance.js'

/** Returns a home with a short path, which sockets need. */
function newHome(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-orders-'))
  const home = join(folder, 'home')
  t.teardown(() => {
    for (const pid of processesOf(home)) process.kill(pid, 'SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  return home
}

t.test('an appliance obeys orders and keeps its log', async t => {
  const home = newHome(t)
  const appliance = await startAppliance({ home, port: 0, environment: { GITSTEAD_LOG_LEVEL: '' } })
  const before = appliance.processes()

  const second = await cliProcess(['up', '--home', home, '--port', '0'])
  t.equal(second.code, 1)
  t.match(second.stderr, /^gitstead: another gitstead up \(process \d+\) runs on .*: stop it, or use another --home\n$/)

  const who = ['--username', 'ada', '--email', 'ada@example.org', '--name', 'Ada', '--password-stdin']
  const made = await cliProcess(['users', 'create', '--home', home, ...who], { input: 'a long password\n' })
  t.match(made.stdout, `sign in at ${appliance.url}/users/sign_in\n`, 'commands know the URL of the server')

  for (const words of [
    ['users', 'show', 'ada'],
    ['users', 'set', 'ada', '--name', 'Ada L']
  ]) {
    const { stdout } = await cliProcess([...words, '--home', home, '--json'])
    t.match(JSON.parse(stdout), { web_url: `${appliance.url}/ada` }, `${words.join(' ')} knows it too`)
  }

  const token = /^private token: (\S+)$/m.exec(made.stdout)?.[1] ?? ''
  const user = await (await fetch(`${appliance.url}/api/v3/user`, { headers: { 'PRIVATE-TOKEN': token } })).json()
  t.match(user, { web_url: `${appliance.url}/ada` }, 'URLs have the actual port')
  const document = await (await fetch(`${appliance.url}/api/v3/openapi.json`)).json()
  t.match(document, { servers: [{ url: appliance.url }] })

  const follower = spawn(process.execPath, [program, 'logs', '--home', home, '--follow', '--json', '--lines', '1000'])
  t.teardown(() => follower.kill())
  let followed = ''
  follower.stdout.on('data', text => (followed += String(text)))

  // The appliance has already read the configuration before it becomes invalid.
  await until('the log is followed', () => /server ready/.test(followed))

  writeFileSync(join(home, 'config.yaml'), 'prot: 8080\n')
  const refused = await cliProcess(['restart', '--home', home])
  t.not(refused.code, 0)
  t.match(refused.stderr, /prot/, 'an invalid configuration is refused')
  t.same(appliance.processes(), before, 'the refused restart changes nothing')

  writeFileSync(join(home, 'config.yaml'), 'log:\n  level: debug\n')
  t.same((await cliProcess(['restart', '--home', home, '--json'])).json(), { restarted: true })
  const after = appliance.processes()
  t.equal(after.database, before.database, 'the database keeps running')
  t.not(after.server, before.server)
  t.not(after.worker, before.worker)
  t.equal((await fetch(`${appliance.url}/-/health`)).status, 200, 'the server answers at the same port')
  await until('the restart is in the log that is followed', () =>
    /restarting the server and the worker[\s\S]*server ready/.test(followed)
  )
  t.ok(
    followed
      .trim()
      .split('\n')
      .every(line => JSON.parse(line)),
    'as JSON'
  )

  const shown = await cliProcess(['logs', '--home', home, '--lines', '1000'])
  t.match(shown.stdout, /^\S+Z info {2}server server ready host=127\.0\.0\.1 port=\d+ version=\S+ revision=\S+$/m)
  t.match(shown.stdout, /^\S+Z debug server application built/m, 'the new configuration is used')
  t.equal((await cliProcess(['logs', '--home', home, '--level', 'fatal'])).stdout, '')
  t.match(appliance.log(), /server ready/, 'stderr also has the log')

  follower.kill()
  t.same((await cliProcess(['stop', '--home', home, '--json'])).json(), { stopped: true })
  t.same(processesOf(home), [], 'no process is left when the command ends')
  t.same((await cliProcess(['stop', '--home', home, '--json'])).json(), { stopped: false })
  t.equal((await cliProcess(['restart', '--home', home])).code, 5)
})

t.test('log files', async t => {
  const home = t.testdir({ run: {} })
  loadConfig({ home })

  t.test('are rotated after 16 MB, and only a few are kept', async t => {
    const log = new LogFile()
    const megabyte = `${JSON.stringify({ level: 'info', msg: 'x'.repeat(1_048_500) })}\n`
    const write = process.stderr.write
    process.stderr.write = () => true
    for (let written = 0; written < 17 * (OLD_FILES + 3); written++) log.write(megabyte)
    process.stderr.write = write
    t.ok(existsSync(logPath(OLD_FILES)))
    t.notOk(existsSync(logPath(OLD_FILES + 1)))
    for (let age = 1; age <= OLD_FILES; age++) t.ok(statSync(logPath(age)).size < 18 * 1_048_576)
  })

  t.test('keep the lines of two processes whole', async t => {
    rmSync(join(home, 'run'), { recursive: true })
    mkdirSync(join(home, 'run'))
    const log = new LogFile()
    const [one, two] = [new PassThrough(), new PassThrough()]
    log.writeLinesOf(one)
    log.writeLinesOf(two)
    for (const piece of ['{"msg":"first', '"}\n{"msg":', '"third"}\n']) {
      one.write(piece)
      two.write('{"msg":"other"}\n')
    }
    one.end('cut short')
    await until('the last line is written', () => readFileSync(logPath(), 'utf8').includes('cut short\n'))
    const words = lastLines(endOfLog(), 10, () => true).map(({ text, fields }) => fields?.msg ?? text)
    t.same(
      words.filter(word => word !== 'other'),
      ['first', 'third', 'cut short']
    )
  })

  t.test('are read starting with the newest', async t => {
    rmSync(join(home, 'run'), { recursive: true })
    mkdirSync(join(home, 'run'))
    writeFileSync(logPath(1), '{"level":"info","msg":"1"}\n{"level":"warn","msg":"2"}\n')
    appendFileSync(logPath(), '{"level":"info","msg":"3"}\nno JSON\n')
    t.same(lastLines(endOfLog(), 3, () => true).map(plainLine), ['warn  2', 'info  3', 'no JSON'])
    t.same(
      lastLines(endOfLog(), 9, ({ fields }) => fields?.level === 'warn').map(({ text }) => text),
      ['{"level":"warn","msg":"2"}']
    )
  })
})

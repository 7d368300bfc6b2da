// The first start: on a terminal it shows how to become the administrator, and otherwise only logs the command.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Browser } from '../helpers/browser.js'
import { clean, gitstead, processesOf, program, startAppliance } from '../scenarios/appliance.js'

function newHome(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-first-'))
  t.teardown(() => {
    for (const pid of processesOf(join(folder, 'home'))) process.kill(pid, 'SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  return join(folder, 'home')
}

t.test('the first administrator, from the first start to the next one', async t => {
  const home = newHome(t)
  const line = `exec ${process.execPath} ${program} up --home ${home} --port 0`
  const child = spawn('env', ['-u', 'NODE_OPTIONS', 'script', '-qefc', line, '/dev/null'], {
    env: clean({ SHELL: '/bin/sh', GITSTEAD_LOG_LEVEL: 'silent' }),
    stdio: ['ignore', 'pipe', 'inherit']
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  const ended = once(child, 'close')
  while (!said.includes('says what to do next') && child.exitCode === null) {
    await Promise.race([once(child.stdout, 'data'), ended])
  }
  const shown = said.replaceAll('\r\n', '\n')
  const url = /^ready (\S+)$/m.exec(shown)?.[1] ?? ''
  t.match(shown, `pages, API, git   ${new URL(url).host}`)
  t.match(shown, /git over SSH +port \d+/)
  t.match(shown, `goes to files in ${home}/mail, so nobody receives it`)
  for (const name of ['url', 'mail.transport', 'signup_enabled']) t.match(shown, `\n  ${name} `)
  const link = new URL(/^ {2}(http\S+token=\S+)$/m.exec(shown)?.[1] ?? '')
  t.equal(link.origin, url)

  const doctor = () => gitstead(['doctor', '--home', home, '--json', '--only', 'administrator,backups'])
  const before = await doctor()
  t.equal(before.code, 0, before.stderr)
  t.match(JSON.parse(before.stdout).next, [/users first-link/, /backup create/])
  const again = await gitstead(['users', 'first-link', '--home', home])
  t.match(again.stdout, new RegExp(`^${url}/users/first_administrator\\?token=\\S+\n$`))
  const browser = new Browser(url)
  const made = await browser.submit(await browser.get(link.pathname + link.search), link.pathname, {
    ...{ username: 'olga', name: 'Olga', email: 'olga@example.org', password: 'four words for olga' }
  })
  t.match(made.body, 'Welcome, olga')
  t.match(JSON.parse((await doctor()).stdout).next, [/backup create/])
  const refused = await gitstead(['users', 'first-link', '--home', home, '--json'])
  t.equal(refused.code, 4)
  t.match(JSON.parse(refused.stdout).error.message, 'there is an administrator already')
  t.equal((await gitstead(['stop', '--home', home])).code, 0)
  t.equal((await ended)[0], 0)
})

t.test('without a terminal, only one line of the log has the command', async t => {
  const home = newHome(t)
  const appliance = await startAppliance({ home, port: 0 })
  const lines = appliance.log().split('\n')
  t.equal(lines.filter(line => line.includes('users first-link')).length, 1)
  t.notMatch(appliance.log(), 'token=')
  t.equal(await appliance.stop(), 0)
  t.notMatch(appliance.log(), 'token=')
})

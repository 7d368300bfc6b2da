// Root runs the appliance, and works in its home, as the user who owns the home. Only root can test that.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { gitstead, program, startAppliance } from '../scenarios/appliance.js'

const NOBODY = 65_534
const isRoot = process.getuid?.() === 0
/** The clone may be in a folder that only root can read. */
const canRun = () => {
  try {
    execFileSync('setpriv', [`--reuid=${NOBODY}`, '--clear-groups', process.execPath, program, '--version'])
    return true
  } catch {
    return false
  }
}
const skip = !isRoot || !canRun()

const parent = mkdtempSync(join(tmpdir(), 'gitstead-owner-'))
chmodSync(parent, 0o755)
t.teardown(() => rmSync(parent, { recursive: true, force: true }))
const home = join(parent, 'home')
const uidOf = (pid: number) => Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
const filesOfRoot = () => execFileSync('find', [home, '-user', 'root'], { encoding: 'utf8' })

t.test('up --user runs everything as the user, and commands of root work in its home', { skip }, async t => {
  const appliance = await startAppliance({ home, args: ['--user', 'nobody'] })
  const { server = 0, worker = 0, database = 0 } = appliance.processes()
  for (const pid of [appliance.pid, server, worker, database]) t.equal(uidOf(pid), NOBODY)
  t.notMatch(appliance.log(), /run as root/)
  const flags = ['--username', 'ada', '--email', 'ada@example.org', '--name', 'Ada', '--password-stdin']
  const made = await gitstead(['users', 'create', '--home', home, ...flags], { input: 'long enough\n' })
  t.match(made, { code: 0, stdout: /ada/ })
  const found = await gitstead(['doctor', '--only', 'home,folders,secrets', '--home', home])
  t.match(found, { code: 0, stdout: /^ok +home/ })
  t.equal((await gitstead(['status', '--home', home])).code, 0)
  t.equal(await appliance.stop(), 0)
  t.equal(filesOfRoot(), '', 'root left no files in the home')
})

t.test('the owner of the home is the default, also while the appliance is down', { skip }, async t => {
  t.match(await gitstead(['users', 'show', 'ada', '--home', home]), { code: 0 })
  t.match(await gitstead(['up', '--home', home, '--port', '0', '--user', 'root']), {
    code: 1,
    stderr: /does not belong to root: stop the appliance, run chown -R root: /
  })
  const again = await startAppliance({ home })
  t.equal(uidOf(again.processes().server ?? 0), NOBODY)
  t.equal(await again.stop(), 0)
  t.equal(filesOfRoot(), '')
})

t.test('a home of root stays one, and the log and doctor say what runs as root', { skip: !isRoot }, async t => {
  const own = join(parent, 'own')
  const appliance = await startAppliance({ home: own })
  t.match(appliance.log(), /server, worker, git and database run as root/)
  t.equal(uidOf(appliance.processes().server ?? 0), 0)
  t.match(await gitstead(['doctor', '--only', 'home', '--home', own]), { code: 0, stdout: /database run as root/ })
  t.equal(await appliance.stop(), 0)
  t.match(await gitstead(['up', '--home', own, '--port', '0', '--user', 'nobody']), {
    code: 1,
    stderr: /chown -R nobody: .*\/own, and start it again\n$/
  })
})

t.test('a user who does not exist, or cannot reach the home, gets one line', { skip }, async t => {
  const up = (folder: string, user: string) => gitstead(['up', '--home', folder, '--port', '0', '--user', user])
  t.match(await up(join(parent, 'new'), 'no-such-user'), { code: 1, stderr: /there is no user no-such-user/ })
  const closed = join(parent, 'closed')
  execFileSync('mkdir', ['-m', '700', closed])
  t.match(await up(join(closed, 'home'), 'nobody'), { code: 1, stderr: /^gitstead: .*\n$/ })
  t.notOk(existsSync(join(closed, 'home/secrets.json')))
  t.equal(statSync(closed).uid, 0)
})

// Root runs the appliance, and works in its home, as the user who owns the home. Only root can test that.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { isPrepared } from '../../src/home.js'
import { giveHome } from '../../src/owner.js'
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
  const closed = mkdtempSync(join(parent, 'closed-'))
  const bundle = join(closed, 'support.tar.gz')
  t.match(await gitstead(['support', '--to', bundle, '--home', home]), { code: 0, stdout: bundle })
  t.match(statSync(bundle), { uid: 0, mode: 0o100600 })
  t.match(await gitstead(['support', '--to', join(parent, 'none/x'), '--home', home]), {
    code: 1,
    stderr: /none\/x cannot be written \(ENOENT\): choose another file with --to\n$/
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

t.test('up --user takes nothing from other people', { skip: !isRoot }, async t => {
  let number = 0
  const folder = () => {
    const made = join(parent, `taken-${++number}`)
    mkdirSync(made, { mode: 0o755 })
    return made
  }
  const give = (made: string) => giveHome(made, 'nobody', isPrepared)
  const [OTHER, ROOT] = [12_345, 0]

  const account = folder()
  mkdirSync(join(account, '.ssh'))
  writeFileSync(join(account, 'config.yaml'), '')
  const refused = await gitstead(['up', '--home', account, '--port', '0', '--user', 'nobody'])
  t.match(refused, { code: 1, stderr: /\.ssh does not belong to nobody: choose an empty folder/ })
  for (const path of [account, join(account, '.ssh'), join(account, 'config.yaml')]) t.equal(statSync(path).uid, ROOT)

  const others = folder()
  chownSync(others, OTHER, OTHER)
  t.throws(() => give(others), { message: /does not belong to nobody/ })
  t.equal(statSync(others).uid, OTHER)

  const mixed = folder()
  mkdirSync(join(mixed, 'backups'))
  chownSync(join(mixed, 'backups'), OTHER, OTHER)
  t.throws(() => give(mixed), { message: /backups does not belong to nobody/ })
  t.equal(statSync(mixed).uid, ROOT)

  const [target, link] = [folder(), join(parent, 'link')]
  symlinkSync(target, link)
  t.throws(() => give(link), { message: /link is a symbolic link/ })
  t.equal(statSync(target).uid, ROOT)

  // Its files would be refused as well, so a fault here gives nothing away.
  const daemon = /^daemon:.*:([^:]+):[^:]*$/m.exec(readFileSync('/etc/passwd', 'utf8'))?.[1] ?? ''
  t.throws(() => give(realpathSync(daemon)), { message: /is the folder of the account/ })
})

t.test('up --user gives what a sysadmin has prepared, and follows no link', { skip: !isRoot }, async t => {
  const prepared = join(parent, 'prepared')
  const outside = join(parent, 'outside')
  mkdirSync(prepared)
  writeFileSync(outside, '')
  writeFileSync(join(prepared, 'config.yaml'), '')
  linkSync(outside, join(prepared, 'config.yaml.bak'))
  symlinkSync(outside, join(prepared, 'mail'))
  mkdirSync(join(prepared, 'lost+found'))
  mkdirSync(join(prepared, '.ssh'))
  chownSync(join(prepared, '.ssh'), NOBODY, NOBODY)
  giveHome(prepared, 'nobody', isPrepared)
  const owner = (name: string) => lstatSync(join(prepared, name)).uid
  t.same(['.', 'config.yaml', '.ssh'].map(owner), [NOBODY, NOBODY, NOBODY])
  t.same(['config.yaml.bak', 'mail', 'lost+found'].map(owner), [0, 0, 0])
  t.equal(statSync(outside).uid, 0)
})

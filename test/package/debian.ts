// The Debian package in a Debian 12 of its own with systemd: installation, upgrade under load, a failed migration, removal and purge.
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Test } from 'tap'
import { migrationNames } from '../../src/db/migrations/names.js'
import { startLoad } from '../chaos/load.js'
import { until } from '../helpers/until.js'
import { freePort } from '../scenarios/appliance.js'
import { askApi } from '../scenarios/client.js'
import { EARLIER } from './builds.js'
import type { DebianRoot } from './debian-root.js'
import { laterVersion } from './repack.js'

interface Packages {
  readonly debian: string
  /** Of an earlier commit. */
  readonly earlier: Promise<string>
}

/** The root has the packages on which this one depends. */
export async function testDebian(t: Test, debian: DebianRoot, packages: Packages): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-packages-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const version = execFileSync('dpkg-deb', ['--field', packages.debian, 'Version'], { encoding: 'utf8' }).trim()
  const [port, sshPort] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${port}`
  /** As `systemctl edit gitstead.socket` does, because this machine may use the ports. */
  const addresses = `[Socket]\nListenStream=\nListenStream=127.0.0.1:${port}\nListenStream=127.0.0.1:${sshPort}\n`
  debian.write('etc/systemd/system/gitstead.socket.d/override.conf', addresses)
  const install = async (path: string) => {
    copyFileSync(path, join(debian.folder, 'root', basename(path)))
    return debian.try(`dpkg --install /root/${basename(path)}`)
  }
  /** What the package could leave behind. dpkg itself notes what it did. */
  const files = async () => {
    const skipped = [
      '/proc',
      '/sys',
      '/dev',
      '/run',
      '/tmp',
      '/root',
      '/var/log',
      '/var/lib/dpkg',
      '/var/tmp',
      '/var/cache/ldconfig'
    ]
    const prune = skipped.map(path => `-path ${path} -prune`).join(' -o ')
    // adduser and systemd make copies of these.
    return (await debian.must(`find / ${prune} -o -print`))
      .split('\n')
      .filter(path => !/^\/etc\/(\w+)-$|\.cache$/.test(path))
      .sort()
  }
  const isUp = async () => (await fetch(`${url}/-/readiness`).catch(() => undefined))?.ok === true
  const before = await files()
  let token = ''
  const createRoot = async () => {
    const made = 'users create --username root --email root@example.org --name Root --admin --password-stdin --json'
    token = JSON.parse(await debian.must(`gitstead ${made}`, 'Rather-long-4711\n')).private_token
  }
  const versionOf = async () => (await askApi<{ version: string }>({ url, token }, 'GET', '/version')).json.version

  await t.test('the installation starts everything, and names the URL and the next command', async t => {
    const { code, said } = await install(packages.debian)
    t.equal(code, 0, said)
    t.match(
      said,
      `Gitstead runs at ${url}. This command prints a link for the first administrator:\n  gitstead users first-link\n`
    )
    t.equal((await fetch(await debian.must('gitstead users first-link'))).status, 200)
    t.equal(await debian.must('gitstead --version').then(line => line.split(' ')[1]), version)
    await createRoot()
    const { checks } = JSON.parse((await debian.try('gitstead doctor --json')).said) as {
      checks: { name: string; ok: boolean | null }[]
    }
    t.same(
      checks.filter(({ name, ok }) => ok === false && name !== 'backup').map(({ name }) => name),
      []
    )
    t.match(await debian.must('journalctl --unit gitstead --output cat'), 'appliance ready')
    t.match(
      await debian.must('stat --format "%U:%G %a" /etc/gitstead/config.yaml /var/lib/gitstead'),
      'root:gitstead 640\ngitstead:gitstead 700'
    )
    t.equal(await debian.must('systemctl show gitstead --property User'), 'User=gitstead')
    t.match(await debian.must('zcat /usr/share/man/man1/gitstead.1.gz | head -1'), '.TH GITSTEAD 1')
    for (const path of [
      'bash-completion/completions/gitstead',
      'zsh/vendor-completions/_gitstead',
      'fish/vendor_completions.d/gitstead.fish'
    ])
      t.match(await debian.must(`cat /usr/share/${path}`), 'merge-requests', path)
  })

  await t.test('the configuration in /etc applies', async t => {
    await debian.must("echo 'url: https://git.example.org' >> /etc/gitstead/config.yaml && gitstead config check")
    t.match(await debian.must('gitstead config show --json'), 'https://git.example.org')
    // As the documentation says for a change of the addresses.
    await debian.must('systemctl stop gitstead.socket gitstead && systemctl start gitstead')
    await until('the appliance is up', isUp)
  })

  await t.test('the first push works as README says', async t => {
    t.equal((await askApi({ url, token }, 'POST', '/projects', { name: 'demo' })).status, 201)
    const commit = 'git init -q && git -c user.name=R -c user.email=r@example.org commit -q --allow-empty -m first'
    await debian.must(`mkdir /root/work && cd /root/work && ${commit}`)
    const remote = `http://root:${token}@127.0.0.1:${port}/root/demo.git`
    await debian.must(`cd /root/work && git push ${remote} --all && rm -r /root/work`)
    t.equal((await askApi<object[]>({ url, token }, 'GET', '/projects/1/repository/commits')).json.length, 1)
    await debian.must('dpkg --purge gitstead')
  })

  await t.test('an upgrade from an earlier version backs up and migrates, and no request fails', async t => {
    const { code, said } = await install(await packages.earlier)
    t.equal(code, 0, said)
    await createRoot()
    t.match(await debian.must('gitstead --version'), `gitstead ${EARLIER}`)
    await debian.must(
      'install -d -o gitstead -m 0700 /srv/backups && sed -i s,UPGRADE=,UPGRADE=/srv/backups, /etc/default/gitstead'
    )
    const load = await startLoad(join(folder, 'load'), url, token)
    await load.more(2)
    const upgraded = await install(packages.debian)
    t.equal(upgraded.code, 0, upgraded.said)
    await load.more(2)
    const { failures, acknowledged, found } = await load.end()
    t.same(failures, [])
    t.same(found, acknowledged)
    t.match(await debian.must('gitstead --version'), `gitstead ${version}`)
    t.equal(await versionOf(), version)
    t.match(await debian.must('gitstead db status'), migrationNames.at(-1))
    t.match(await debian.must('gitstead backup list --to /srv/backups --json'), EARLIER)
    t.equal(await debian.must('ls /usr/lib/gitstead/versions | wc -l'), '1', 'nothing of the earlier version is left')
    await until('nor what it has compiled', async () => {
      return (await debian.must('ls /var/lib/gitstead/run/compiled | wc -l')) === '1'
    })
  })

  await t.test('when a migration fails, the earlier version runs, also after a restart', async t => {
    await debian.must('sed -i s,UPGRADE=.*,UPGRADE=, /etc/default/gitstead')
    const statement = 'alter table no_such_table add column id int'
    const { code, said } = await install(laterVersion(packages.debian, folder, `${version}+1`, 9000, statement))
    t.not(code, 0)
    t.match(said, `gitstead: the migration of the database failed. Version ${version} still runs.`)
    t.equal(await versionOf(), version)
    await debian.must('systemctl restart gitstead')
    await until('the appliance is up', isUp)
    t.equal(await versionOf(), version)
    t.match(await debian.must('gitstead --version'), `gitstead ${version} `)
  })

  await t.test('a removal keeps data and configuration, and a purge removes all', async t => {
    // As for an outside database.
    await debian.must('systemctl enable gitstead-server.socket gitstead-server gitstead-worker')
    await debian.must('dpkg --remove gitstead')
    t.notOk(await isUp())
    t.match(await debian.must('ls /var/lib/gitstead /etc/gitstead'), 'secrets.json')
    t.notOk(existsSync(join(debian.folder, 'usr/lib/gitstead')))
    await debian.must('dpkg --purge gitstead && rm -r /srv/backups')
    t.same(
      (await files()).filter(path => !before.includes(path)),
      []
    )
    t.notMatch(await debian.must('cat /etc/passwd /etc/group'), 'gitstead')
  })
}

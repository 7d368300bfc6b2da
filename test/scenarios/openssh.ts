// A real OpenSSH server, with its own configuration, for the commands that serve it. When the machine has none, the Debian
// package is unpacked into a folder, which does not change the machine.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, root } from './appliance.js'

const UNPACKED = join(root, '.tap/openssh')

function findSshd(): { program: string; libraries: string } {
  if (existsSync('/usr/sbin/sshd')) return { program: '/usr/sbin/sshd', libraries: '' }
  if (!existsSync(join(UNPACKED, 'usr/sbin/sshd'))) unpack()
  const libraries = readdirSync(join(UNPACKED, 'usr/lib')).map(name => join(UNPACKED, 'usr/lib', name))
  return { program: join(UNPACKED, 'usr/sbin/sshd'), libraries: libraries.join(':') }
}

function unpack(): void {
  mkdirSync(UNPACKED, { recursive: true })
  const download = () => spawnSync('apt-get', ['download', 'openssh-server', 'libwrap0'], { cwd: UNPACKED })
  if (download().status !== 0 && (spawnSync('apt-get', ['update']).status !== 0 || download().status !== 0)) {
    throw new Error('this test needs sshd: install the Debian package openssh-server')
  }
  for (const name of readdirSync(UNPACKED).filter(file => file.endsWith('.deb'))) {
    execFileSync('dpkg-deb', ['-x', name, UNPACKED], { cwd: UNPACKED })
  }
}

export interface OpenSsh {
  readonly port: number
  readonly user: string
  log(): string
  stop(): Promise<void>
}

/** Starts sshd as this user. `command` is its AuthorizedKeysCommand, whose first word is owned by root. */
export async function startOpenSsh(folder: string, command: string): Promise<OpenSsh> {
  const { program, libraries } = findSshd()
  const port = await freePort()
  const { username, uid } = userInfo()
  const hostKey = join(folder, 'host_key')
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', hostKey])
  const configuration = join(folder, 'sshd_config')
  writeFileSync(
    configuration,
    `Port ${port}
ListenAddress 127.0.0.1
HostKey ${hostKey}
PidFile none
UsePAM no
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
AuthorizedKeysFile none
AuthorizedKeysCommand ${command}
AuthorizedKeysCommandUser ${username}
AcceptEnv GIT_PROTOCOL
`
  )
  const arguments_ = [program, '-D', '-e', '-f', configuration]
  const wrapped = uid === 0 ? [...asRoot(folder), ...arguments_] : arguments_
  const [first = '', ...rest] = wrapped
  const child = spawn(first, rest, {
    env: { PATH: process.env.PATH, ...(libraries && { LD_LIBRARY_PATH: libraries }) },
    stdio: ['ignore', 'ignore', 'pipe']
  })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  while (!log.includes('Server listening')) {
    if (child.exitCode !== null) throw new Error(`sshd ended: ${log}`)
    await sleep(20)
  }
  return {
    port,
    user: username,
    log: () => log,
    stop: async () => {
      const exited = once(child, 'exit')
      child.kill()
      if (child.exitCode === null && child.signalCode === null) await exited
    }
  }
}

/** As root, sshd needs a special user and folder: it sees them, but they are not created on the machine. */
function asRoot(folder: string): string[] {
  const passwd = join(folder, 'passwd')
  writeFileSync(passwd, `${readFileSync('/etc/passwd', 'utf8')}sshd:x:65000:65534::/run/sshd:/usr/sbin/nologin\n`)
  const run = join(folder, 'run')
  mkdirSync(join(run, 'sshd'), { recursive: true, mode: 0o755 })
  const seen = ['--dev-bind', '/', '/', '--ro-bind', passwd, '/etc/passwd', '--bind', run, '/run']
  return ['bwrap', ...seen, '--cap-add', 'ALL', '--die-with-parent', '--']
}

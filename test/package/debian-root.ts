// A root of Debian 12 of its own, with systemd, in which a package is installed. Podman runs it, without an image.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { until } from '../helpers/until.js'
import { runProgram } from './builds.js'

/** Services that would change the machine on which the test runs. */
const MASKED = ['systemd-sysctl', 'systemd-modules-load', 'systemd-udevd', 'systemd-logind', 'systemd-timesyncd']

const isAllowed = (program: string, args: readonly string[]) => spawnSync(program, args).status === 0

/** Only root can make a root, and mount in it. */
export const canRunRoots =
  process.getuid?.() === 0 && isAllowed('mmdebstrap', ['--version']) && isAllowed('unshare', ['--mount', 'true'])

/** crun refuses machines that have both kinds of control groups, so one of them is hidden from it. */
const PODMAN = 'umount /sys/fs/cgroup/unified 2>/dev/null; exec podman "$@"'

export interface Said {
  readonly code: number | null
  readonly said: string
}

/** Podman with folders of its own. */
export class Podman {
  readonly #options: readonly string[]
  readonly #environment: NodeJS.ProcessEnv

  constructor(readonly folder: string) {
    const limit = spawnSync('bash', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).stdout.trim()
    // Podman would raise limits, which a container that itself has limits may not.
    const settings = `[containers]\ndefault_ulimits = ["nofile=${limit}:${limit}", "nproc=4096:4096"]\n`
    writeFileSync(join(folder, 'containers.conf'), settings)
    const places = ['root', 'runroot', 'tmpdir'].flatMap(name => [`--${name}`, join(folder, name)])
    // An overlay would be mounted only for the command that starts the container, and others could not find its files.
    this.#options = [...places, '--storage-driver', 'vfs', '--cgroup-manager', 'cgroupfs']
    this.#environment = { PATH: process.env.PATH, HOME: folder, CONTAINERS_CONF: join(folder, 'containers.conf') }
  }

  async run(args: readonly string[], input = ''): Promise<Said> {
    const child = spawn('unshare', ['-m', 'sh', '-c', PODMAN, 'sh', ...this.#options, ...args], {
      env: this.#environment,
      stdio: 'pipe'
    })
    child.stdin.end(input)
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    return { code: child.exitCode, said: stdout + stderr }
  }

  /** Throws when the command fails. */
  async must(args: readonly string[]): Promise<string> {
    const { code, said } = await this.run(args)
    if (code !== 0) throw new Error(`podman ${args.join(' ')} ended with ${code}: ${said}`)
    return said
  }
}

/** Makes the files of a Debian 12 with these packages. It takes half a minute, most of it for downloads. */
async function makeRoot(folder: string, packages: readonly string[]): Promise<void> {
  const names = ['systemd', 'systemd-sysv', 'dbus', ...packages].join(',')
  const options = ['--variant=minbase', '--quiet', `--include=${names}`]
  await runProgram('mmdebstrap', [...options, 'bookworm', folder], dirname(folder))
}

export class DebianRoot {
  readonly #podman: Podman

  private constructor(
    readonly folder: string,
    engine: string
  ) {
    this.#podman = new Podman(engine)
  }

  /** Starts systemd in a root with these packages. */
  static async start(packages: readonly string[]): Promise<DebianRoot> {
    const place = mkdtempSync(join(tmpdir(), 'gitstead-debian-'))
    const engine = join(place, 'podman')
    mkdirSync(engine)
    chmodSync(place, 0o755)
    const root = new DebianRoot(join(place, 'root'), engine)
    await makeRoot(root.folder, packages)
    for (const name of MASKED) symlinkSync('/dev/null', join(root.folder, 'etc/systemd/system', `${name}.service`))
    const how = ['--name', 'debian', '--systemd', 'always', '--privileged', '--network', 'host']
    await root.#podman.must(['run', '--detach', ...how, '--rootfs', root.folder, '/sbin/init'])
    await until('systemd runs', async () =>
      /running|degraded/.test((await root.try('systemctl is-system-running')).said)
    )
    return root
  }

  /** Runs a line of a shell as root. */
  try(line: string, input = ''): Promise<Said> {
    return this.#podman.run(['exec', '--interactive', 'debian', 'sh', '-c', line], input)
  }

  /** Throws when the line fails. */
  async must(line: string, input = ''): Promise<string> {
    const { code, said } = await this.try(line, input)
    if (code !== 0) throw new Error(`${line} ended with ${code}: ${said}`)
    return said.trim()
  }

  write(path: string, content: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true })
    writeFileSync(join(this.folder, path), content)
  }

  async stop(): Promise<void> {
    await this.#podman.run(['rm', '--force', '--time', '2', 'debian'])
  }

  async end(): Promise<void> {
    await this.stop()
    rmSync(dirname(this.folder), { recursive: true, force: true })
  }
}

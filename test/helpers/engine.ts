// A real container engine for tests: Podman's service of Docker's API, with folders of its own, and a small registry that
// it pulls images from. Only root can run it.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from './until.js'

export interface TestEngine {
  /** For `runner.docker.socket`. */
  readonly socket: string
  /** The registry's address, such as 127.0.0.1:4711. */
  readonly registry: string
  /** How often each image was asked for. */
  readonly pulls: Map<string, number>
  podman(...args: string[]): string
  /** Ends the service; containers go on. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Ends the service and removes all that it has. */
  close(): Promise<void>
}

/** What an image says of itself, by name. All of them have the files of busybox. */
export type TestImages = { readonly [name: string]: object }

export const canRunEngine = process.getuid?.() === 0

/**
 * The service runs in a mount namespace of its own: crun refuses machines that have both kinds of control groups, so that
 * one of them is put out of its sight.
 */
const SERVICE = 'umount /sys/fs/cgroup/unified 2>/dev/null; exec "$@"'

/** Without these, Podman raises limits, which a container that itself has limits does not allow. */
const SETTINGS = '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n'

export async function testEngine(images: TestImages): Promise<TestEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-engine-'))
  const pulls = new Map<string, number>()
  const server = registryOf(layerOf(folder), images, pulls)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const registry = `127.0.0.1:${(server.address() as AddressInfo).port}`
  writeFileSync(join(folder, 'containers.conf'), SETTINGS)
  writeFileSync(join(folder, 'registries.conf'), `[[registry]]\nlocation = "${registry}"\ninsecure = true\n`)
  const socket = join(folder, 'socket')
  const place = ['root', 'runroot', 'tmpdir', 'network-config-dir'].flatMap(name => [`--${name}`, join(folder, name)])
  const options = [...place, '--storage-driver', 'vfs', '--cgroup-manager', 'cgroupfs']
  const environment = {
    PATH: process.env.PATH,
    HOME: folder,
    CONTAINERS_CONF: join(folder, 'containers.conf'),
    CONTAINERS_REGISTRIES_CONF: join(folder, 'registries.conf')
  }
  const run = (args: string[]) => ['-m', 'sh', '-c', SERVICE, 'sh', 'podman', ...options, ...args]
  let service: ReturnType<typeof spawn> | undefined
  const start = async () => {
    const args = run(['system', 'service', '--time=0', `unix://${socket}`])
    // Its helpers leave files where they are.
    const child = spawn('unshare', args, { cwd: folder, env: environment, stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.on('data', chunk => {
      said += chunk
    })
    service = child
    const answers = () =>
      new Promise<boolean>(resolve => {
        const ping = get({ socketPath: socket, path: '/_ping', agent: false }, answer => {
          answer.resume()
          resolve(answer.statusCode === 200)
        })
        ping.on('error', () => resolve(false))
      })
    await until('the engine answers', async () => (await answers()) || child.exitCode !== null)
    if (child.exitCode !== null) throw new Error(`the engine does not start: ${said}`)
  }
  const stop = async () => {
    if (!service || service.exitCode !== null || service.signalCode !== null) return
    service.kill('SIGKILL')
    await once(service, 'exit')
    rmSync(socket, { force: true })
  }
  const podman = (...args: string[]) => spawnSync('unshare', run(args), { env: environment, encoding: 'utf8' }).stdout
  await start()
  return {
    socket: `unix://${socket}`,
    registry,
    pulls,
    podman,
    start,
    stop,
    close: async () => {
      await stop()
      podman('rm', '--all', '--force', '--time', '0')
      podman('network', 'prune', '--force')
      server.closeAllConnections()
      server.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** A file system of busybox and its names alone. */
function layerOf(folder: string): Buffer {
  const root = join(folder, 'image')
  for (const name of ['bin', 'tmp', 'root', 'etc']) mkdirSync(join(root, name), { recursive: true })
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\napp:x:1234:1235:app:/tmp:/bin/sh\n')
  const names = spawnSync('/bin/busybox', ['--list'], { encoding: 'utf8' }).stdout.trim().split('\n')
  copyFileSync('/bin/busybox', join(root, 'bin/busybox'))
  for (const name of names) if (name !== 'busybox') symlinkSync('busybox', join(root, 'bin', name))
  const archive = join(folder, 'layer.tar')
  spawnSync('tar', ['-C', root, '--owner=0', '--group=0', '-cf', archive, '.'])
  return readFileSync(archive)
}

const digestOf = (content: Buffer | string) => `sha256:${createHash('sha256').update(content).digest('hex')}`

/** Serves images as a registry does. A name that begins with `endless` is never answered. */
function registryOf(layer: Buffer, images: TestImages, pulls: Map<string, number>) {
  const blobs = new Map<string, Buffer>([[digestOf(layer), layer]])
  const manifests = new Map<string, string>()
  for (const [name, config] of Object.entries(images)) {
    const about = JSON.stringify({
      architecture: { x64: 'amd64' }[process.arch as 'x64'] ?? process.arch,
      os: 'linux',
      config: { Env: ['PATH=/bin'], ...config },
      rootfs: { type: 'layers', diff_ids: [digestOf(layer)] }
    })
    blobs.set(digestOf(about), Buffer.from(about))
    const part = (type: string, content: Buffer | string) => ({
      mediaType: `application/vnd.oci.image.${type}`,
      digest: digestOf(content),
      size: Buffer.byteLength(content)
    })
    manifests.set(
      name,
      JSON.stringify({
        schemaVersion: 2,
        mediaType: 'application/vnd.oci.image.manifest.v1+json',
        config: part('config.v1+json', about),
        layers: [part('layer.v1.tar', layer)]
      })
    )
  }
  return createServer((request, response) => {
    const [, name = '', kind = '', version = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/(.+)$/.exec(request.url ?? '') ?? []
    if (request.url === '/v2/') return response.end('{}')
    if (name.startsWith('endless')) return
    const content = kind === 'blobs' ? blobs.get(version) : manifests.get(name)
    if (kind === 'manifests') pulls.set(name, (pulls.get(name) ?? 0) + 1)
    const type = kind === 'blobs' ? 'application/octet-stream' : 'application/vnd.oci.image.manifest.v1+json'
    response.statusCode = content ? 200 : 404
    response.setHeader('content-type', type)
    if (content && kind === 'manifests') response.setHeader('docker-content-digest', digestOf(content))
    response.end(content ?? '{"errors":[{"code":"MANIFEST_UNKNOWN","message":"no such image"}]}')
  })
}

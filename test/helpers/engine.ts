// A real container engine for tests: Podman's service with Docker's API, in its own folders, and a small registry from which it
// pulls images. Only root can run it.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { until } from './until.js'

export interface TestEngine {
  /** For `runner.docker.socket`. */
  readonly socket: string
  /** The registry's address, such as 127.0.0.1:4711. */
  readonly registry: string
  /** How often each image was requested. */
  readonly pulls: Map<string, number>
  /** Makes a container with these labels, which does not run. The engine must have the image. */
  makeContainer(image: string, labels: object): Promise<void>
  makeNetwork(name: string, labels: object): Promise<void>
  /** The names of all containers, and of the networks of builds. */
  left(): Promise<string[]>
  /** Removes all containers and the networks of builds. */
  clear(): Promise<void>
  /** Ends the service; containers continue to run. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Ends the service and removes everything that it has. */
  close(): Promise<void>
}

/** The configuration of each image, by name. All of them have the files of busybox. */
export type TestImages = { readonly [name: string]: object }

const isAllowed = (program: string, args: readonly string[]) => spawnSync(program, args).status === 0

/** An engine needs root, namespaces for mounts and networks, and the firewall rules of the network. */
export const canRunEngine =
  process.getuid?.() === 0 &&
  isAllowed('unshare', ['--mount', '--net', 'true']) &&
  isAllowed('iptables', ['--table', 'nat', '--list', '--numeric'])

/**
 * The service runs in a separate mount namespace: crun refuses machines that have both kinds of control groups, so one of them
 * is hidden from it.
 */
const SERVICE = 'umount /sys/fs/cgroup/unified 2>/dev/null; exec "$@"'

/** Without these settings, Podman raises limits, which is not allowed in a container that itself has limits. */
const SETTINGS = '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n'

const FORWARDING = '/proc/sys/net/ipv4/ip_forward'
const savedRules = () => spawnSync('iptables-save', { encoding: 'utf8' }).stdout

/**
 * Returns a function that undoes the changes that networks of containers make to the machine, which no namespace hides: Podman
 * switches on packet forwarding, and makes chains of rules. Chains that were there before stay.
 */
function keepNetwork(): () => void {
  const forwarding = readFileSync(FORWARDING)
  const had = savedRules().includes(':CNI-')
  return () => {
    if (!had) spawnSync('iptables-restore', ['--noflush'], { input: withoutChains(savedRules()) })
    writeFileSync(FORWARDING, forwarding)
  }
}

/** Returns the text that removes the chains of Podman's networks, and the rules that name them. */
function withoutChains(saved: string): string {
  return saved.replace(/^\*(.+)\n([^*]*)^COMMIT$/gm, (_, table: string, content: string) => {
    const lines = content.split('\n')
    const rules = lines.filter(line => line.startsWith('-A ') && line.includes('CNI-'))
    const chains = lines.flatMap(line => /^:(CNI-\S+)/.exec(line)?.[1] ?? [])
    return [
      `*${table}`,
      ...rules.map(rule => rule.replace('-A', '-D')),
      ...chains.map(name => `-X ${name}`),
      'COMMIT'
    ].join('\n')
  })
}

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
  const call = (method: string, path: string, json?: object) => callEngine(socket, method, path, json)
  const containers = async () => (await call('GET', '/containers/json?all=true')) as { Id: string; Names: string[] }[]
  const networks = async () => {
    const all = (await call('GET', '/networks')) as { Id: string; Name: string }[]
    return all.filter(({ Name }) => Name.startsWith('gitstead'))
  }
  const clear = async () => {
    for (const { Id } of await containers()) {
      await call('POST', `/containers/${Id}/kill`).catch(() => undefined)
      await call('DELETE', `/containers/${Id}?force=true&v=true`)
    }
    for (const { Id } of await networks()) await call('DELETE', `/networks/${Id}`)
  }
  let service: ReturnType<typeof spawn> | undefined
  const start = async () => {
    const command = ['podman', ...options, 'system', 'service', '--time=0', `unix://${socket}`]
    const args = ['-m', 'sh', '-c', SERVICE, 'sh', ...command]
    // The helpers of the service leave files where they are.
    const child = spawn('unshare', args, { cwd: folder, env: environment, stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.on('data', chunk => {
      said += chunk
    })
    service = child
    const answers = () =>
      call('GET', '/_ping').then(
        () => true,
        () => false
      )
    await until('the engine answers', async () => (await answers()) || child.exitCode !== null)
    if (child.exitCode !== null) throw new Error(`the engine does not start: ${said}`)
  }
  const stop = async () => {
    if (!service || service.exitCode !== null || service.signalCode !== null) return
    service.kill('SIGKILL')
    await once(service, 'exit')
    rmSync(socket, { force: true })
  }
  const restoreNetwork = keepNetwork()
  await start()
  return {
    socket: `unix://${socket}`,
    registry,
    pulls,
    makeContainer: async (Image, Labels) =>
      void (await call('POST', '/containers/create', { Image, Labels, Cmd: ['true'] })),
    makeNetwork: async (Name, Labels) => void (await call('POST', '/networks/create', { Name, Labels })),
    left: async () => [
      ...(await containers()).flatMap(({ Names }) => Names),
      ...(await networks()).map(({ Name }) => Name)
    ],
    clear,
    start,
    stop,
    close: async () => {
      if (service?.exitCode !== null || service.signalCode !== null) await start()
      await clear()
      await stop()
      restoreNetwork()
      server.closeAllConnections()
      server.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** Sends a request to the engine, and returns its answer. */
function callEngine(socketPath: string, method: string, path: string, json?: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const headers = json ? { 'content-type': 'application/json' } : {}
    const question = request({ socketPath, method, path, headers, agent: false }, async answer => {
      const said = await text(answer)
      if ((answer.statusCode ?? 500) >= 400) return reject(new Error(`${method} ${path}: ${said}`))
      resolve(said.startsWith('{') || said.startsWith('[') ? JSON.parse(said) : said)
    })
    question.on('error', reject)
    question.end(json && JSON.stringify(json))
  })
}

/** A file system with only busybox and its names. */
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
  return createServer((asked, response) => {
    const [, name = '', kind = '', version = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/(.+)$/.exec(asked.url ?? '') ?? []
    if (asked.url === '/v2/') return response.end('{}')
    if (name.startsWith('endless')) return
    const content = kind === 'blobs' ? blobs.get(version) : manifests.get(name)
    if (kind === 'manifests') pulls.set(name, (pulls.get(name) ?? 0) + 1)
    const type = kind === 'blobs' ? 'application/octet-stream' : 'application/vnd.oci.image.manifest.v1+json'
    response.statusCode = content ? 200 : 404
    response.setHeader('content-type', type)
    // Docker asks for the length of a manifest before it asks for the manifest.
    if (content) response.setHeader('content-length', Buffer.byteLength(content))
    if (content && kind === 'manifests') response.setHeader('docker-content-digest', digestOf(content))
    response.end(content ?? '{"errors":[{"code":"MANIFEST_UNKNOWN","message":"no such image"}]}')
  })
}

// npm run cluster -- [--folder FOLDER]: starts a whole cluster on loopback addresses of this machine, and ends it with Ctrl+C.
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { installPrograms } from '../galera/programs.js'
import { makeUser } from '../scenarios/appliance.js'
import { type Cluster, startCluster } from './cluster.js'

const { values } = parseArgs({ options: { folder: { type: 'string' } } })
if (process.getuid?.() !== 0) stopWith('a cluster needs root: each machine is a namespace of processes')
const given = values.folder
if (given !== undefined) mkdirSync(given, { recursive: true })
if (given !== undefined && readdirSync(given).length > 0) stopWith(`${given} is not empty: choose another folder`)
installPrograms()
const folder = given ?? mkdtempSync(join(tmpdir(), 'gitstead-cluster-'))
say(`starting a cluster in ${folder}, which takes half a minute`)
const ended = new Promise<void>(resolve => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve())
})
const cluster = await startCluster(folder)
const { home } = cluster.machines[0]
const user = await makeUser(home, 'root', ['--admin', '--projects-limit', '100000'], cluster.environment)
for (const line of report(cluster, user.private_token)) say(line)
await ended
say('stopping')
await cluster.stop()
if (given === undefined) rmSync(folder, { recursive: true, force: true })
process.exit(0)

function report({ url, rows, bucket, machines }: Cluster, token: string): string[] {
  return [
    `clients   ${url} (haproxy): sign in as root with "password of root", token ${token}`,
    ...machines.map(machine => `machine   ${machine.url}: server and worker of ${machine.name}, home ${machine.home}`),
    ...rows.nodes.map(node => `node      ${node.address}:3306: ${node.name}, log ${join(folder, node.name, 'log')}`),
    `rows      ${rows.url} (haproxy)`,
    `bucket    http://${bucket.address}:9000/gitstead`,
    ...machines.map(({ home }) => `command   GITSTEAD_DATABASE_URL=${rows.url} bin/gitstead status --home ${home}`),
    'Ctrl+C ends everything.'
  ]
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function stopWith(text: string): never {
  process.stderr.write(`cluster: ${text}\n`)
  process.exit(2)
}

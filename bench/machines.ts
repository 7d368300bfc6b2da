// How much more two machines do than one, counted in processor seconds, because both share the processors of this machine. The same
// operations go to one machine, which owns all repositories, and then in equal parts to two, each of which owns half of them. Neither
// the client nor a balancer knows the owners, so half of the requests that need a repository are passed on.
//
// With P processors each, one machine does P / cost operations in a second, and two do P / (cost of the busier one). The database has a
// machine of its own in both cases.
import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { address } from '../src/db/connect/connection.js'
import { row } from '../src/db/connect/sql.js'
import { type Administrator, type Appliance, type Prepared, startAppliance, withAppliance } from './lib/appliance.js'
import { temporaryFolder } from './lib/clean-up.js'
import { type Cost, countCost } from './lib/cost.js'
import { report } from './lib/figure.js'
import { freePort } from './lib/free-port.js'
import { burst, get, post, stopLoad } from './lib/load.js'
import { ask, commitFile, createProject, type ProjectRecord } from './lib/rest.js'

const PROJECTS = 8
/** The operations of one project in a round. */
const KINDS = 8
const WARM = 10
const ROUNDS = 40
const CONNECTIONS = 8
const LIMIT_MS = 120_000
const PAUSE_MS = 50

let admin: Administrator | undefined
const [home, otherHome] = [temporaryFolder(), temporaryFolder()]
const one = await withOne()
const two = await withTwo()
rmSync(otherHome, { recursive: true, force: true })
stopLoad()
report({
  name: 'throughput of two machines',
  value: one.first / Math.max(two.first, two.second),
  unit: 'times that of one',
  limit: 1.7,
  better: 'higher',
  detail: {
    one_ms: one.first,
    ...{ first_ms: two.first, second_ms: two.second, cost: (two.first + two.second) / one.first },
    ...{ database_one_ms: one.database, database_two_ms: two.database }
  }
})

/** Milliseconds of processor for each operation. */
interface Costs {
  readonly first: number
  readonly second: number
  readonly database: number
}

async function withOne(): Promise<Costs> {
  let costs: Costs | undefined
  await withAppliance({ home, keep: true }, async appliance => {
    admin = appliance.admin
    costs = await measure(appliance, [appliance], await projects(appliance, ['default', 'default']))
  })
  if (!costs) throw new Error('nothing was measured')
  return costs
}

async function withTwo(): Promise<Costs> {
  let costs: Costs | undefined
  const environment = await inCluster()
  await withAppliance({ home, ...environment, ...(admin && { admin }) }, async appliance => {
    const other = await startOther(appliance)
    try {
      await owned('second')
      await knows(appliance, 'second')
      costs = await measure(appliance, [appliance, other], await projects(appliance, ['default', 'second']))
    } finally {
      await other.stop()
    }
  })
  if (!costs) throw new Error('nothing was measured')
  return costs
}

async function inCluster(more: Readonly<Record<string, string>> = {}) {
  const port = await freePort()
  return { port, environment: { GITSTEAD_CLUSTER_ADDRESS: `http://127.0.0.1:${port}`, ...more } }
}

/** Starts the second machine, with the database and the key of the first. */
async function startOther(first: Appliance): Promise<Appliance> {
  mkdirSync(otherHome, { recursive: true, mode: 0o700 })
  copyFileSync(join(first.home, 'secrets.json'), join(otherHome, 'secrets.json'))
  const { user, password, database, socketPath } = address()
  const url = `mysql://${user}:${encodeURIComponent(password ?? '')}@localhost/${database}?socket=${socketPath}`
  const more = { GITSTEAD_DATABASE_URL: url, GITSTEAD_REPOSITORIES_STORAGES: 'second' }
  return startAppliance({ home: otherHome, ...(await inCluster(more)) })
}

async function owned(storage: string): Promise<void> {
  const select = 'select 1 as owned from storages where name = ? and owner is not null and lease_until > now(3)'
  while (!(await row(select, [storage]))) await sleep(PAUSE_MS)
}

/** Waits until a machine knows a storage of another one. A setting that equals its default, all known storages, follows the default later. */
async function knows(appliance: Prepared, storage: string): Promise<void> {
  const names = async () =>
    (await ask<{ repository_storages: string[] }>(appliance, 'GET', '/application/settings')).repository_storages
  while (!(await names()).includes(storage)) await sleep(PAUSE_MS)
}

/** Creates projects, as many in each of the storages. */
async function projects(appliance: Prepared, storages: readonly string[]): Promise<ProjectRecord[]> {
  const made: ProjectRecord[] = []
  for (const [number, storage] of storages.entries()) {
    await ask(appliance, 'PUT', '/application/settings', { repository_storages: [storage] })
    for (let at = 0; at < PROJECTS / storages.length; at++) {
      const project = await createProject(appliance, `of-${storages.join('-')}-${number}-${at}`)
      const found = await row('select 1 from projects where id = ? and storage = ?', [project.id, storage])
      if (!found) throw new Error(`project ${project.id} is not in ${storage}`)
      await commitFile(appliance, project, 'README', 'read me\n')
      made.push(project)
    }
  }
  return made
}

async function measure(appliance: Prepared, machines: readonly Appliance[], all: ProjectRecord[]): Promise<Costs> {
  const send = async (from: number, rounds: number) => {
    const requests = Array.from({ length: rounds }, (_, at) =>
      all.flatMap(each => work(appliance, each, from + at))
    ).flat()
    for (const [at, { port }] of machines.entries()) {
      const share = requests.filter((_, number) => (number + Math.floor(number / KINDS)) % machines.length === at)
      await burst({ port, requests: share, connections: CONNECTIONS, milliseconds: LIMIT_MS, most: share.length })
    }
    await quiet()
    return requests.length
  }
  await send(0, WARM)
  const counted = machines.map(({ parts }) => countCost(parts))
  const operations = await send(WARM, ROUNDS)
  const [first, second] = counted.map(cost => cost(operations))
  if (!first) throw new Error('no machine')
  return { first: withoutDatabase(first), second: second ? withoutDatabase(second) : 0, database: first.database_ms }
}

function withoutDatabase({ processor_ms: all, database_ms: database }: Cost): number {
  return all - database
}

/** Waits until the workers have finished the jobs that the operations caused, except those that are due later. */
async function quiet(): Promise<void> {
  while (await row("select 1 as busy from jobs where state in ('ready', 'running') limit 1")) await sleep(PAUSE_MS)
}

/** One operation of each kind: reads of rows, reads of a repository, and writes of both. */
function work({ admin }: Prepared, { id, path_with_namespace: path }: ProjectRecord, round: number): string[] {
  const { token, username } = admin
  const api = `/api/v3/projects/${id}`
  const basic = Buffer.from(`${username}:${token}`).toString('base64')
  const refs = `GET /${path}.git/info/refs?service=git-upload-pack HTTP/1.1\r\nhost: localhost\r\nauthorization: Basic ${basic}\r\n\r\n`
  const file = { branch_name: 'master', content: `content ${round}\n`, commit_message: `Add ${round}` }
  return [
    get(api, token),
    get(`${api}/issues`, token),
    get(`${api}/repository/tree`, token),
    get(`${api}/repository/commits`, token),
    get(`${api}/repository/blobs/master?filepath=README`, token),
    refs,
    post(`${api}/issues`, token, { title: `Issue ${round}` }),
    post(`${api}/repository/files`, token, { ...file, file_path: `folder-${round % 10}/file-${round}.txt` })
  ]
}

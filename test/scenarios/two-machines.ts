// Two machines with one database: each has a home of its own, and owns the storage of its name.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { dropDatabase, makeDatabase, startTestServer } from '../helpers/database-server.js'
import { type Appliance, freePort, gitstead, type MadeUser, makeUser, startAppliance } from './appliance.js'
import { askApi, eventually, git, remoteUrl } from './client.js'

export interface Machine {
  readonly home: string
  readonly environment: Record<string, string>
  readonly port: number
}

export interface TwoMachines {
  /** For the files of the test. */
  readonly folder: string
  readonly database: URL
  readonly first: Machine
  readonly second: Machine
  readonly ann: MadeUser
  /** A repository with one commit. */
  readonly source: string
  ask<T = Record<string, unknown>>(
    at: Pick<Appliance, 'url'>,
    method: string,
    path: string,
    body?: unknown
  ): Promise<{ status: number; json: T }>
  remote(at: Pick<Appliance, 'url'>, path: string): string
  /** Makes a project on a storage. `at` are all machines that run. */
  projectOn(at: readonly Pick<Appliance, 'url'>[], storage: string, name: string): Promise<Project>
}

export interface Project {
  readonly id: number
  readonly path: string
}

/** Makes the homes and the database. With `shared`, both machines reach the storages of both. */
export async function twoMachines(t: Test, { name, shared }: { name: string; shared: boolean }): Promise<TwoMachines> {
  const folder = mkdtempSync(join(tmpdir(), `gitstead-${name}-`))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const server = await startTestServer()
  t.teardown(() => server.stop())
  const database = new URL(server.url)
  await makeDatabase(database, name, undefined)
  t.teardown(() => dropDatabase(database, name))
  database.pathname = `/${name}`
  const disk = join(folder, 'shared')
  if (shared) mkdirSync(disk)
  const machine = async (storage: string): Promise<Machine> => {
    const home = join(folder, storage)
    mkdirSync(home, { mode: 0o700 })
    if (shared) symlinkSync(disk, join(home, 'repositories'))
    const port = await freePort()
    const environment = {
      GITSTEAD_DATABASE_URL: database.href,
      GITSTEAD_CLUSTER_ADDRESS: `http://127.0.0.1:${port}`,
      GITSTEAD_REPOSITORIES_STORAGES: storage,
      GITSTEAD_QUEUE_LEASE: '5',
      GITSTEAD_SSH_PORT: String(await freePort())
    }
    return { home, environment, port }
  }
  const first = await machine('alpha')
  const second = await machine('beta')
  await gitstead(['db', 'migrate', '--home', first.home], { environment: first.environment })
  const ann = await makeUser(first.home, 'ann', ['--admin', '--projects-limit', '100'], first.environment)
  copyFileSync(join(first.home, 'secrets.json'), join(second.home, 'secrets.json'))
  const source = join(folder, 'source')
  await git(folder, ['init', '--quiet', '--initial-branch=master', source])
  writeFileSync(join(source, 'README'), 'read me\n')
  await git(source, ['add', '.'])
  await git(source, ['commit', '--quiet', '-m', 'Begin'])
  const ask: TwoMachines['ask'] = (at, method, path, body) =>
    askApi({ url: at.url, token: ann.private_token }, method, path, body)
  return {
    ...{ folder, database, first, second, ann, source, ask },
    projectOn: async (at, storage, name) => {
      // Each server keeps the settings for a moment, and learns within a second of a storage that another machine has added.
      for (const machine of at) {
        const choose = () => ask(machine, 'PUT', '/application/settings', { repository_storages: [storage] })
        await eventually(
          async () => (await choose()).status === 200,
          () => `${machine.url} does not know the storage ${storage}`
        )
      }
      const [machine] = at
      if (!machine) throw new Error('no machine runs')
      const made = await ask<{ id: number; path_with_namespace: string }>(machine, 'POST', '/projects', { name })
      const { status, json } = made
      if (status !== 201) throw new Error(`POST /projects: ${status} ${JSON.stringify(json)}`)
      return { id: json.id, path: json.path_with_namespace }
    },
    remote: (at, path) => remoteUrl(at.url, path, 'ann', ann.private_token)
  }
}

export const startMachine = ({ home, port, environment }: Machine): Promise<Appliance> =>
  startAppliance({ home, port, environment })

/**
 * Changes a project at one machine and reads it at another until the command that moves it has ended. Checks that the command succeeds and
 * no request fails. Returns the number of commits.
 */
export async function useWhileMoving(
  t: Test,
  moving: ReturnType<typeof gitstead>,
  id: number,
  { ask, write, read }: Pick<TwoMachines, 'ask'> & Record<'write' | 'read', Pick<Appliance, 'url'>>
): Promise<number> {
  let isOver = false
  void moving.finally(() => {
    isOver = true
  })
  const statuses = new Set<number>()
  let commits = 0
  while (!isOver) {
    const file = { branch_name: 'master', file_path: `at-${++commits}`, content: 'x', commit_message: 'Move' }
    statuses.add((await ask(write, 'POST', `/projects/${id}/repository/files`, file)).status)
    statuses.add((await ask(read, 'GET', `/projects/${id}/repository/commits/master`)).status)
  }
  const { code, stdout, stderr } = await moving
  t.equal(code, 0, stdout + stderr)
  t.comment(stdout.replaceAll(/\s+/g, ' '))
  t.same([...statuses].sort(), [200, 201])
  return commits
}

/** Ends all processes of a machine at once. */
export async function killMachine(appliance: Appliance): Promise<void> {
  const { server, worker } = appliance.processes()
  await appliance.kill()
  for (const pid of [server, worker]) if (pid !== undefined) process.kill(pid, 'SIGKILL')
}

/** Runs a command of gitstead on a machine. */
export const commandOn = ({ home, environment }: Machine, args: readonly string[]) =>
  gitstead([...args, '--home', home], { environment })

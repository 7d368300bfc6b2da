// The stock client of git LFS, with a home of its own.
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { takeAddress } from '../../../src/config.js'
import type { TestApp } from '../../helpers/app.js'
import { git, tryGit } from '../../scenarios/client.js'

export const hashOf = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')

/** Lets an application listen, and the URLs that it makes lead to it. Returns its URL. */
export async function listen(app: TestApp): Promise<string> {
  const url = await app.fastify.listen({ port: 0, host: '127.0.0.1' })
  takeAddress({ host: '127.0.0.1', port: Number(new URL(url).port) })
  return url
}

export interface LfsClient {
  /** The variables of the processes of git and git-lfs. */
  readonly variables: Record<string, string>
  readonly git: (cwd: string, ...args: string[]) => Promise<string>
  readonly tryGit: (cwd: string, ...args: string[]) => ReturnType<typeof tryGit>
}

/** Makes an empty working copy whose files `*.bin` are in LFS. `attributes` are more of theirs. Returns its path. */
export async function workingCopy({ git }: LfsClient, path: string, remote: string, attributes = ''): Promise<string> {
  mkdirSync(path)
  await git(path, 'init', '--quiet', '--initial-branch=master')
  await git(path, 'lfs', 'install', '--local')
  await git(path, 'remote', 'add', 'origin', remote)
  writeFileSync(join(path, '.gitattributes'), `*.bin filter=lfs diff=lfs merge=lfs -text${attributes}\n`)
  return path
}

/** Makes a client that keeps its configuration in `folder`. */
export async function lfsClient(folder: string, extra: Record<string, string> = {}): Promise<LfsClient> {
  const home = join(folder, 'home')
  mkdirSync(home, { recursive: true })
  const variables = { HOME: home, GIT_CONFIG_GLOBAL: join(home, 'gitconfig'), ...extra }
  await git(folder, ['lfs', 'install', '--skip-repo'], variables)
  return {
    variables,
    git: (cwd, ...args) => git(cwd, args, variables),
    tryGit: (cwd, ...args) => tryGit(cwd, args, variables)
  }
}

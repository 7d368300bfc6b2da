import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { git, tryGit } from '../scenarios/client.js'
import type { Attack, Stand } from './support/attack.js'

export const attack: Attack = {
  name: 'full-disk',
  about:
    'the disk of the repositories, or of what clients send, is full: nothing is half done, and all is well with room again',
  limit: { memory: 192, seconds: 30, statuses: [200, 201, 503, 507] },
  run: async stand => {
    const { id } = await stand.project()
    const folder = join(stand.home, 'repositories')
    const statuses = [await commit(stand, id, 'before')]
    if (!cover(folder)) {
      process.stdout.write('  full-disk: this machine allows no mount, so nothing was tried\n')
      return statuses
    }
    try {
      const filler = join(folder, 'filler')
      mkdirSync(folder, { recursive: true })
      writeFileSync(filler, Buffer.alloc(statfsSync(folder).bavail * statfsSync(folder).bsize))
      const refused = await stand.ask('POST', '/projects', { name: 'never-made' })
      if (refused.status !== 507) throw new Error(`a project on a full disk: ${refused.status}`)
      const listed = await stand.ask<{ name: string }[]>('GET', '/projects?search=never-made')
      if (listed.json.length > 0) throw new Error('the project was kept')
      statuses.push(refused.status, listed.status)
      rmSync(filler)
      statuses.push((await stand.ask('POST', '/projects', { name: 'never-made' })).status)
    } finally {
      spawnSync('umount', ['--lazy', folder])
    }
    statuses.push(await commit(stand, id, 'after'), ...(await pushWithoutRoom(stand)))
    return statuses
  }
}

/** A push that is too large for the memory of the server, which has no room for it on the disk either. */
async function pushWithoutRoom(stand: Stand): Promise<number[]> {
  const { id, path, remote } = await stand.project()
  const work = stand.folder()
  await git(work, ['init', '--quiet', '--initial-branch=master'])
  writeFileSync(join(work, 'big'), randomBytes(3_000_000))
  await git(work, ['add', '.'])
  await git(work, ['commit', '--quiet', '-m', 'big'])
  const folder = join(stand.home, 'tmp')
  if (!cover(folder)) throw new Error('a second mount is not allowed')
  try {
    const { ok, stderr } = await tryGit(work, ['push', '--quiet', remote, 'master'])
    if (ok || !/HTTP 503/.test(stderr)) throw new Error(`a push without room: ${stderr}`)
    const refs = await fetch(`${stand.url}/${path}.git/info/refs?service=git-upload-pack`, {
      headers: { 'private-token': stand.token }
    })
    if (refs.status !== 200 || /refs\/heads/.test(await refs.text())) throw new Error('the push has left a branch')
  } finally {
    spawnSync('umount', ['--lazy', folder])
  }
  await git(work, ['push', '--quiet', remote, 'master'])
  return [503, (await stand.ask('GET', `/projects/${id}/repository/commits/master`)).status]
}

/** Puts a small file system over a folder. Returns false where that is not allowed. */
function cover(folder: string): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', folder]).status === 0
}

async function commit(stand: Stand, id: number, name: string): Promise<number> {
  const body = { file_path: name, branch_name: 'master', commit_message: name, content: name }
  return (await stand.ask('POST', `/projects/${id}/repository/files`, body)).status
}

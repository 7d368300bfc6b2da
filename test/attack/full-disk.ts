import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Attack, Stand } from './support/attack.js'

export const attack: Attack = {
  name: 'full-disk',
  about: 'the disk of the repositories is full: nothing is half done, reads go on, and all is well with room again',
  limit: { memory: 192, seconds: 30, statuses: [200, 201, 507] },
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
    statuses.push(await commit(stand, id, 'after'))
    return statuses
  }
}

/** Puts a small file system over a folder. Returns false where that is not allowed. */
function cover(folder: string): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', folder]).status === 0
}

async function commit(stand: Stand, id: number, name: string): Promise<number> {
  const body = { file_path: name, branch_name: 'master', commit_message: name, content: name }
  return (await stand.ask('POST', `/projects/${id}/repository/files`, body)).status
}

import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '../scenarios/client.js'
import type { Attack } from './support/attack.js'

export const attack: Attack = {
  name: 'many-refs',
  about: 'a project of 100,000 branches and tags is listed by the API and by git, pushed to, and cloned',
  limit: { memory: 384, seconds: 180, statuses: [200] },
  run: async stand => {
    const count = stand.short ? 2000 : 100_000
    const { id, remote } = await stand.project()
    const folder = stand.folder()
    await git(folder, ['init', '--quiet', '--initial-branch=master'])
    await git(folder, ['commit', '--quiet', '--allow-empty', '-m', 'only'])
    const commit = await git(folder, ['rev-parse', 'HEAD'])
    await git(folder, ['push', '--quiet', remote, 'master'])
    // A push moves at most 10,000 refs: ten of them would take minutes, and the refs would end up in this file.
    writeFileSync(join(repositoryOf(stand.home, id), 'packed-refs'), packedRefs(count, commit))
    const statuses: number[] = []
    for (const path of [
      'branches',
      'tags',
      'branches/many/7',
      'tags/many/7',
      'commits?ref_name=many/7',
      'tree?ref_name=many/8'
    ]) {
      const url = `${stand.url}/api/v3/projects/${id}/repository/${path}`
      const answers = await Promise.all(
        Array.from({ length: 3 }, () => fetch(url, { headers: { 'private-token': stand.token } }))
      )
      for (const answer of answers) {
        const found = (await answer.json()) as unknown[]
        const isCut = answer.headers.get('x-gitstead-truncated') === 'true'
        if ((path === 'branches' || path === 'tags') && !isCut && found.length < count / 2) {
          throw new Error(`${path} lists ${found.length} of ${count / 2} and does not say so`)
        }
        statuses.push(answer.status)
      }
    }
    const listed = (await git(folder, ['ls-remote', '--quiet', remote])).split('\n').length
    // HEAD is listed as well, and master is a branch.
    if (listed !== count + 2) throw new Error(`ls-remote lists ${listed} refs`)
    await git(folder, ['push', '--quiet', remote, 'master:refs/heads/one-more'])
    await git(stand.folder(), ['clone', '--quiet', '--mirror', remote])
    return statuses
  }
}

/** The content of the file into which git packs refs. */
function packedRefs(count: number, commit: string): string {
  const names = Array.from({ length: count / 2 }, (_, at) => [`refs/heads/many/${at}`, `refs/tags/many/${at}`]).flat()
  const lines = names.sort().map(name => `${commit} ${name}\n`)
  return `# pack-refs with: peeled fully-peeled sorted \n${lines.join('')}`
}

function repositoryOf(home: string, id: number): string {
  const hash = createHash('sha256').update(String(id)).digest('hex')
  return join(home, 'repositories/default', hash.slice(0, 2), hash.slice(2, 4), `${hash}.git`)
}

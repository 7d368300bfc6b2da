import { treeOfTrees } from '../helpers/trees.js'
import { git } from '../scenarios/client.js'
import type { Attack } from './support/attack.js'

export const attack: Attack = {
  name: 'exploding-lines',
  about: 'a small commit with 100,000 files of 200,000 lines each is read, together with a good one',
  limit: { memory: 320, seconds: 20, statuses: [200] },
  run: async stand => {
    const { id, remote } = await stand.project()
    const folder = stand.folder()
    const good = await treeOfTrees(folder, 1, 1)
    const commit = await treeOfTrees(folder, 5, 10, 'x\n'.repeat(200_000))
    await git(folder, ['push', '--quiet', remote, `${good}:refs/heads/good`, `${commit}:refs/heads/master`])
    const read = (sha: string) =>
      stand.ask<{ stats: { additions: number } | null }>('GET', `/projects/${id}/repository/commits/${sha}`)
    const [bad, other] = await Promise.all([read(commit), read(good)])
    const again = await read(commit)
    if (bad.json.stats !== null || again.json.stats !== null)
      throw new Error('the lines of the huge files were counted')
    if (other.json.stats?.additions !== 1) throw new Error('the good commit got no stats')
    return [bad.status, other.status, again.status]
  }
}

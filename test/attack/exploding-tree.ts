import { treeOfTrees } from '../helpers/trees.js'
import { git } from '../scenarios/client.js'
import type { Attack } from './support/attack.js'

export const attack: Attack = {
  name: 'exploding-tree',
  about: 'a commit of 1 KB whose tree has 10 levels of 10 entries, which is 10^10 files, is read in every way',
  limit: { memory: 320, seconds: 10, statuses: [200, 413] },
  run: async stand => {
    const { id, remote } = await stand.project()
    const folder = stand.folder()
    const commit = await treeOfTrees(folder, 10, 10)
    await git(folder, ['push', '--quiet', remote, `${commit}:refs/heads/master`])
    const statuses: number[] = []
    for (const path of [
      `commits/${commit}`,
      'commits/master',
      'tree?recursive=true',
      'tree',
      'files?file_path=a&ref=master'
    ]) {
      const { status } = await stand.ask('GET', `/projects/${id}/repository/${path}`)
      if (!path.startsWith('files')) statuses.push(status)
    }
    return statuses
  }
}

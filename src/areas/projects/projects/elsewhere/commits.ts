// Refs and commits of repositories that may belong to another machine: a fork and its source can be in storages of two machines.
import { existsSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { withElsewhere } from '../../../../cluster/repository-elsewhere.js'
import { holds } from '../../../../cluster/storages.js'
import { DamagedRepository } from '../../../../git/objects/objects.js'
import { objectInfo } from '../../../../git/objects/reader.js'
import { listRefs, refValue } from '../../../../git/refs/refs.js'
import { addPack, MOST_HAVES } from '../../../../git/repository/packs.js'
import { KEPT, keepCommit } from '../../../../git/write/merge.js'
import { drained } from '../../../../lib/drained.js'
import { repositoryPath, type StoredProject } from '../repositories.js'

/** Returns the value of a ref; null when the ref or the repository does not exist. */
export async function refOf(project: StoredProject, name: string): Promise<string | null> {
  if (holds(project.storage)) {
    const path = repositoryPath(project)
    return existsSync(path) ? refValue(path, name) : null
  }
  return withElsewhere(project, async owner => (await owner.text({ want: 'ref', name })) || null)
}

/** Keeps a commit of another project reachable in a repository of this machine forever (keepCommit). Throws DamagedRepository. */
export async function keepCommitOf(source: StoredProject, id: string, repository: string): Promise<void> {
  if (holds(source.storage)) return keepCommit(repositoryPath(source), id, repository)
  if ((await objectInfo(repository, id)) === null) await bringCommit(source, id, repository)
  await keepCommit(repository, id, repository)
}

async function bringCommit(source: StoredProject, id: string, repository: string): Promise<void> {
  const [kept, branches] = await Promise.all([refValue(repository, KEPT), listRefs(repository, 'refs/heads/')])
  const has = [...new Set([...(kept === null ? [] : [kept]), ...branches.map(ref => ref.id)])].slice(0, MOST_HAVES)
  await withElsewhere(source, async owner => {
    const pack = new PassThrough({ highWaterMark: 1024 * 1024 })
    const added = addPack(repository, pack)
    // It may fail while the other machine is still sending, before anybody waits for it.
    added.catch(() => undefined)
    try {
      const isThere = await owner.read({ want: 'pack', id, has }, async piece => {
        if (!pack.write(piece)) await drained(pack)
        // Git has refused the pack, and says why.
        if (pack.destroyed) await added
      })
      if (!isThere) throw new DamagedRepository(repository, `the commit ${id} is missing in project ${source.id}`)
      pack.end()
    } catch (error) {
      pack.destroy(error as Error)
      await added.catch(() => undefined)
      throw error
    }
    await added
  })
}

// Handles a push: reads and checks its commands, passes it to git, and settles the changes before it sends the answer.
import { Readable } from 'node:stream'
import type { Actor } from '../../access/actor.js'
import { row } from '../../db/sql.js'
import { Forbidden } from '../../errors.js'
import { readPushCommands, receivePack, refusePush } from '../../git/receive.js'
import { setHead } from '../../git/repository.js'
import { log } from '../../log.js'
import type { ProjectRow } from '../projects/projects.queries.js'
import { refusals } from './push-policy.js'
import { abandonChanges, openChanges, settleChanges } from './ref-changes.js'

export interface PushTarget {
  readonly actor: Actor
  readonly project: ProjectRow
  readonly repository: string
}

/**
 * Returns the answer to a push as a stream. One refused change makes it refuse the whole push. Throws Forbidden for the
 * token of a build.
 */
export async function openPush({ actor, project, repository }: PushTarget, input: Readable): Promise<Readable> {
  // The token of a build is read-only.
  if (actor.by === 'build') throw new Forbidden()
  const { commands, capabilities, rest } = await readPushCommands(input)
  const reasons = refusals(project, commands)
  if (reasons.size > 0) {
    return Readable.from([await refusePush({ commands, capabilities, reasons, input: rest })], { objectMode: false })
  }
  const open = await openChanges(project, actor.user, 'push', commands)
  try {
    const { output, done } = await receivePack(repository, {
      commands,
      capabilities,
      input: rest,
      beforeReport: async results => {
        await settleChanges(project, open, results)
        if (project.default_branch === null) await pointHead(project.id, repository)
      }
    })
    // This rejects only when even the refs could not be read. Then it is unknown whether they moved.
    done.catch(() => abandonChanges(open))
    return output
  } catch (error) {
    // git did not start.
    await settleChanges(project, open, [])
    throw error
  }
}

/** Lets a clone right after the first push find the default branch. If this fails, the job of the change does it. */
async function pointHead(projectId: number, repository: string): Promise<void> {
  try {
    const found = await row<{ default_branch: string | null }>('select default_branch from projects where id = ?', [
      projectId
    ])
    if (found?.default_branch) await setHead(repository, found.default_branch)
  } catch (error) {
    log().warn({ error, project: projectId }, 'HEAD could not be set at once')
  }
}

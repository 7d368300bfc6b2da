// A push: its commands are read first and judged, then git has it, and its answer waits for the effects.
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

/** The answer to a push, as a stream. A push of which one change is refused is refused whole. */
export async function openPush({ actor, project, repository }: PushTarget, input: Readable): Promise<Readable> {
  // A build's token reads only.
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
    // Only when not even the refs could be read: then it is not known whether they have moved.
    done.catch(() => abandonChanges(open))
    return output
  } catch (error) {
    // git was never started.
    await settleChanges(project, open, [])
    throw error
  }
}

/** A clone right after the first push finds the default branch; the change's job does the same if this is cut short. */
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

// Handles a push: reads and checks its commands, passes it to git, and settles the changes before it sends the answer.
import { Readable } from 'node:stream'
import type { Actor } from '../../access/actor.js'
import { row } from '../../db/sql.js'
import { Forbidden, TooLarge } from '../../errors.js'
import { type PushCommand, readPushCommands, receivePack, refusePush, showsMessages } from '../../git/receive.js'
import { setHead } from '../../git/repository.js'
import { Spool } from '../../git/spool.js'
import { log } from '../../log.js'
import type { ProjectRow } from '../projects/projects.queries.js'
import { refusals } from './push-policy.js'
import { abandonChanges, type OpenChange, openChanges, settleChanges } from './ref-changes.js'

export interface PushTarget {
  readonly actor: Actor
  readonly project: ProjectRow
  readonly repository: string
  /** Whom git works for, a user or an address. */
  readonly client?: string
}

export interface PushDoor {
  /** Reads the whole push, so that neither a slot nor a row of the database waits for a slow client. */
  readonly read: (input: AsyncIterable<Buffer>) => Promise<Spool>
  /** Returns the lines about changes that were made. It never throws, and takes only a moment. */
  readonly describe: (project: ProjectRow, changes: readonly OpenChange[]) => Promise<readonly string[]>
}

/**
 * Returns the answer to a push as a stream. One refused change makes it refuse the whole push. Throws Forbidden for the
 * token of a build, BadProtocol, TooLarge.
 */
export async function openPush(target: PushTarget, input: Readable, door: PushDoor): Promise<Readable> {
  // The token of a build is read-only.
  if (target.actor.by === 'build') throw new Forbidden()
  const { commands, capabilities, rest } = await readPushCommands(input)
  const reasons = refusals(target.project, commands)
  if (reasons.size > 0) {
    return Readable.from([await refusePush({ commands, capabilities, reasons, input: rest })], { objectMode: false })
  }
  const whole = await readWhole(rest, commands, door)
  if (!(whole instanceof Spool)) {
    return Readable.from([await refusePush({ commands, capabilities, reasons: whole })], { objectMode: false })
  }
  try {
    return await receive(target, { commands, capabilities, input: whole }, door)
  } finally {
    whole.release()
  }
}

/** Returns the push, or the reason for each ref when it is too large: a client shows that, but no status of HTTP. */
async function readWhole(
  rest: Readable,
  commands: readonly PushCommand[],
  door: PushDoor
): Promise<Spool | Map<string, string>> {
  try {
    return await door.read(rest)
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error
    return new Map(commands.map(({ ref }) => [ref, error.message]))
  }
}

interface WholePush {
  readonly commands: readonly PushCommand[]
  readonly capabilities: readonly string[]
  readonly input: Spool
}

async function receive(target: PushTarget, push: WholePush, door: PushDoor): Promise<Readable> {
  const { project, repository, actor, client } = target
  const open = await openChanges(project, actor.user, 'push', push.commands)
  const { capabilities } = push
  try {
    const { output, done } = await receivePack(repository, {
      ...push,
      client,
      input: push.input.read(),
      beforeReport: async results => {
        await settleChanges(project, open, results)
        if (project.default_branch === null) await pointHead(project.id, repository)
        if (!showsMessages(capabilities)) return []
        const made = new Set(results.filter(({ ok }) => ok).map(({ ref }) => ref))
        return door.describe(
          project,
          open.filter(({ ref }) => made.has(ref))
        )
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

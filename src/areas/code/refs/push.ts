// Handles a push: reads and checks its commands, passes it to git, and settles the changes before it sends the response.
import { Readable } from 'node:stream'
import type { Actor, ActorUser } from '../../../access/actor.js'
import { row } from '../../../db/connect/sql.js'
import { DiskFull, Forbidden, Moved, TooLarge } from '../../../errors.js'
import { setHead } from '../../../git/repository/repository.js'
import {
  type PushCommand,
  readPushCommands,
  receivePack,
  refusePush,
  showsMessages,
  TOO_MANY_OPTIONS
} from '../../../git/transport/receive.js'
import { giveHeadStart, type HeadStart, type Receiver } from '../../../git/transport/receive-process.js'
import type { Arriving } from '../../../git/transport/request-spool.js'
import type { Spool } from '../../../git/transport/spool.js'
import { isDiskFull } from '../../../lib/disk-full.js'
import { log } from '../../../log.js'
import { lockRefusal, locksOfOthers } from '../../projects/lfs/push-locks.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import { judge } from './push-policy.js'
import { abandonChanges, type OpenChange, openChanges, settleChanges } from './ref-changes.js'

/** The push option for no pipeline. Others have no effect. */
const SKIP_CI = 'ci.skip'

export interface PushTarget {
  readonly actor: Actor
  readonly project: ProjectRow
  readonly repository: string
  /** The client on whose behalf git runs: a user or an address. */
  readonly client?: string
  /** The recorded author of the change; the default is the user of the actor. */
  readonly author?: ActorUser | null
}

export interface PushDoor {
  /** Reads the whole push, so that neither a git slot nor a database row waits for a slow client. */
  readonly read: (input: AsyncIterable<Buffer>) => Arriving
  /** Returns the lines about the changes that were made. It never throws, and takes only a moment. */
  readonly describe: (project: ProjectRow, changes: readonly OpenChange[]) => Promise<readonly string[]>
}

/**
 * Returns the response to a push as a stream. If one change is refused, the whole push is refused. Throws Forbidden for
 * a build token, BadProtocol, TooLarge.
 */
export async function openPush(target: PushTarget, input: Readable, door: PushDoor): Promise<Readable> {
  // A build token is read-only.
  if (target.actor.by === 'build') throw new Forbidden()
  const { commands: asked, capabilities, options, packAt, rest } = await readPushCommands(input)
  const commands = options?.includes(SKIP_CI) ? asked.map(command => ({ ...command, skipCi: true })) : asked
  const { actor, project } = target
  const [{ reasons, kept }, locks] = await Promise.all([
    judge(project, commands, { actor }),
    locksOfOthers(project.id, actor.user?.id)
  ])
  if (options === null) for (const { ref } of commands) reasons.set(ref, TOO_MANY_OPTIONS)
  if (reasons.size > 0) {
    return Readable.from([await refusePush({ commands, capabilities, reasons, input: rest })], { objectMode: false })
  }
  const { spool, whole } = door.read(rest)
  const sent = { commands, capabilities, packAt, spool, kept }
  let [aim, push] = [target, prepare(target, sent, locks.length > 0)]
  try {
    await whole
    const arrived = { ...sent, input: () => spool.read(), size: spool.size, client: target.client }
    const locked = locks.length === 0 ? null : await lockRefusal(target.repository, arrived, locks)
    if (locked !== null) return await refuseAll(sent, locked)
    const moved = await push.changes().then(
      () => null,
      error => movedTarget(target, error)
    )
    if (moved !== null) {
      push.headStart.drop()
      await push.headStart.take()
      ;[aim, push] = [moved, prepare(moved, sent, true)]
    }
    return await receive(aim, push, door)
  } catch (error) {
    void takeBack(aim, push, door)
    const why = isDiskFull(error) ? new DiskFull() : error
    if (!(why instanceof TooLarge || why instanceof DiskFull)) throw error
    return await refuseAll(sent, why.message)
  } finally {
    spool.release()
  }
}

/** A git client shows the reasons for its refs, but no HTTP status. */
async function refuseAll({ commands, capabilities }: Sent, reason: string): Promise<Readable> {
  const reasons = new Map(commands.map(({ ref }) => [ref, reason]))
  return Readable.from([await refusePush({ commands, capabilities, reasons })], { objectMode: false })
}

/** Returns where to make a push whose project has moved to another storage while the pack arrived. Throws all other errors. */
function movedTarget(target: PushTarget, error: unknown): PushTarget {
  if (!(error instanceof Moved)) throw error
  const project = { ...target.project, storage: error.storage }
  return { ...target, project, repository: repositoryPath(project) }
}

interface Sent {
  readonly commands: readonly PushCommand[]
  readonly capabilities: readonly string[]
  /** Where the pack begins in the spool. */
  readonly packAt: number
  readonly spool: Spool
  /** Branches that git must not rewrite. */
  readonly kept: readonly string[]
}

interface PreparedPush extends Sent {
  /** Writes the rows of the changes, once, before git receives the first byte. */
  readonly changes: () => Promise<OpenChange[]>
  /** Whether the rows were requested. */
  readonly isOpen: () => boolean
  readonly headStart: HeadStart
}

/** Git begins when everything has arrived, because something is checked before. */
const NO_HEAD_START: HeadStart = { take: async () => null, drop: () => undefined }

function prepare(
  { project, actor, author = actor.user, repository, client }: PushTarget,
  sent: Sent,
  waits: boolean
): PreparedPush {
  const { commands, capabilities, packAt, spool, kept } = sent
  let open: Promise<OpenChange[]> | undefined
  const changes = () => {
    open ??= openChanges(project, author, 'push', commands)
    return open
  }
  const early = { spool, commands, client, kept, admit: changes, pack: { packAt, capabilities } }
  const headStart = waits ? NO_HEAD_START : giveHeadStart(repository, early)
  return { ...sent, changes, isOpen: () => open !== undefined, headStart }
}

/** Settles a push that git began but did not finish. Never throws. */
async function takeBack(target: PushTarget, push: PreparedPush, door: PushDoor): Promise<void> {
  push.headStart.drop()
  const open = await (push.isOpen() ? push.changes().catch(() => []) : [])
  try {
    const begun = await push.headStart.take()
    if (begun) (await handOver(target, { ...push, open, begun }, door)).resume()
    else await settleChanges(target.project, open, [])
  } catch {
    await abandonChanges(open)
  }
}

async function receive(target: PushTarget, push: PreparedPush, door: PushDoor): Promise<Readable> {
  const open = await push.changes()
  return await handOver(target, { ...push, open, begun: await push.headStart.take() }, door)
}

interface OpenPush extends Sent {
  readonly open: readonly OpenChange[]
  readonly begun: Receiver | null
}

async function handOver(target: PushTarget, push: OpenPush, door: PushDoor): Promise<Readable> {
  const { project, repository, client } = target
  const { commands, capabilities, packAt, spool, kept, open, begun } = push
  const body = spool.small()
  const { output, done } = await receivePack(repository, {
    commands,
    capabilities,
    client,
    kept,
    begun,
    input: () => spool.read(),
    size: spool.size,
    pack: { packAt, capabilities },
    ...(body && { small: { body, packAt } }),
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

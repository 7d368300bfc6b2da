// Runs a mirror: checks its user, opens a gateway to the remote, and records the result.
import { actorOf } from '../../../access/actor.js'
import { may } from '../../../access/authorize.js'
import { config } from '../../../config.js'
import { row } from '../../../db/connect/sql.js'
import { Failure, Moved, NotFound, NotHere } from '../../../errors.js'
import type { Remote } from '../../../git/repository/remote.js'
import { log } from '../../../log.js'
import { decryptNamed } from '../../../secrets.js'
import { noteTarget } from '../../ground/hooks/targets.js'
import { findSudoUser } from '../../people/credentials/credentials.js'
import { type Gateway, openGateway } from '../../projects/imports/egress-proxy.js'
import type { LfsOperation } from '../../projects/imports/lfs/batch.js'
import { usesLfs } from '../../projects/lfs/batch.js'
import { findProject } from '../../projects/projects/projects.queries.js'
import { repositoryPath, type StoredProject } from '../../projects/projects/repositories.js'
import { lfsOverHttp, lfsOverSsh } from './lfs-remote.js'
import { MirrorProblem, type ProblemCode, problemOf } from './mirror-problem.js'
import { beginRun, finishRun, giveBack, laneOfUrl, type Run, type RunOutcome } from './mirror-runs.js'
import { type MirrorAddress, readAddress } from './mirror-url.js'
import { type MirrorRow, requireMirror } from './mirrors.queries.js'
import { pull } from './pull.js'
import { push } from './push.js'
import { openSshDoor } from './ssh-door.js'
import type { MirrorSecret, Work } from './work.js'

/** Seconds of silence after which a server is given up. After a push it may have to work on what it received. */
const IDLE_S = { pull: 60, push: 300 }

/** Runs a mirror that is due. Does nothing for one that was removed, is not due, or runs elsewhere. */
export async function runMirror(
  mirrorId: number,
  { signal, processId }: { readonly signal: AbortSignal; readonly processId: number }
): Promise<void> {
  const stored = await row<StoredProject>(
    'select p.id, p.storage from mirrors m join projects p on p.id = m.project_id where m.id = ?',
    [mirrorId]
  )
  if (!stored) return
  // Throws NotHere: then a worker of the machine with this storage takes the job.
  repositoryPath(stored)
  const run = await beginRun(mirrorId, processId)
  if (!run) return
  try {
    await attempt(run, signal)
  } catch (error) {
    // The worker stops, the project has moved, or another run has taken over.
    await giveBack(run)
    if (!(error instanceof Moved || run.signal.aborted)) throw error
  } finally {
    run.end()
  }
}

async function attempt(run: Run, stopping: AbortSignal): Promise<void> {
  const mirror = await requireMirror(run.id).catch(unlessGone)
  if (!mirror) return
  const outcome = await outcomeOf(mirror, AbortSignal.any([stopping, run.signal]))
  const lane = laneOfUrl(mirror.url)
  if (!outcome.problem?.stops) noteTarget(lane, outcome.problem === undefined)
  await finishRun(run, mirror, outcome)
}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof NotFound)) throw error
}

async function outcomeOf(mirror: MirrorRow, signal: AbortSignal): Promise<RunOutcome> {
  const { max_size: maxBytes, timeout } = config().imports
  const limit = AbortSignal.timeout(timeout * 1000)
  const ending = AbortSignal.any([signal, limit])
  const secrets: string[] = []
  let gateway: Gateway | undefined
  let seenHostKey: string | undefined
  const shown = () => (seenHostKey === undefined ? {} : { seenHostKey })
  try {
    const rights = await rightsOf(mirror)
    const address = addressOf(mirror)
    gateway = await openGateway({ maxBytes, signal: ending })
    const hide = (...more: string[]) => void secrets.push(...more)
    const seen = (key: string) => {
      seenHostKey = key
    }
    const { remote, lfs } = await remoteOf({ mirror, signal: ending }, address, { gateway, hide, seen })
    const work = { mirror, ...rights, signal: ending, usesLfs: await usesLfs(rights.project), lfs }
    const outcome = await (mirror.direction === 'pull' ? pull : push)(work, remote)
    return { ...outcome, ...shown() }
  } catch (error) {
    if (signal.aborted || error instanceof NotHere || error instanceof Moved) throw error
    const facts = { problem: gateway?.problem(), overdue: limit.aborted ? timeout : null, secrets }
    return { moved: 0, left: [], ...shown(), problem: problemOf(error, facts) ?? faultOf(error, mirror) }
  } finally {
    await gateway?.close()
  }
}

/** Other failures of rules are for people, too; faults of the program are for the log. */
function faultOf(error: unknown, { id }: MirrorRow): MirrorProblem {
  if (error instanceof Failure) return new MirrorProblem('internal', error.message)
  log().error({ error, mirror: id }, 'a mirror failed')
  return new MirrorProblem('internal', 'this appliance has a fault: its log has the reason')
}

/** Returns the user and the project. Throws MirrorProblem when the mirror may not run. */
async function rightsOf(mirror: MirrorRow): Promise<Pick<Work, 'project' | 'actor'>> {
  const refuse = (code: ProblemCode, text: string) => new MirrorProblem(code, text)
  const { user_id: userId, username, direction } = mirror
  if (userId === null) throw refuse('account_deleted', 'the account that set up the mirror was deleted')
  const user = await findSudoUser(String(userId))
  if (!user) throw refuse('account_blocked', `the account ${username} is blocked`)
  const actor = actorOf(user, 'private')
  const project = await findProject(mirror.project_id, actor)
  if (!project || !may(actor, 'mirror.administer', project)) {
    throw refuse('account_not_allowed', `${username} may no longer administer mirrors of the project`)
  }
  if (project.archived && direction === 'pull') throw refuse('project_archived', 'the project is archived')
  return { actor, project }
}

/** The address rules may have changed since the mirror was set up. */
function addressOf({ url }: MirrorRow): MirrorAddress {
  try {
    return readAddress(url)
  } catch (error) {
    throw error instanceof Failure ? new MirrorProblem('address_refused', error.message) : error
  }
}

interface Opening {
  readonly gateway: Gateway
  /** Hears the texts that no reason may contain. */
  readonly hide: (...secrets: string[]) => void
  readonly seen: (key: string) => void
}

async function remoteOf(
  { mirror, signal }: Pick<Work, 'mirror' | 'signal'>,
  address: MirrorAddress,
  { gateway, hide, seen }: Opening
): Promise<Pick<Work, 'lfs'> & { readonly remote: Remote }> {
  const { kind, url, host, port, path, username: sshUser } = address
  const { id, direction, secret_encrypted: box, host_key: hostKey } = mirror
  const secret = (box === null ? {} : JSON.parse(decryptNamed(`mirror ${id}`, box))) as MirrorSecret
  const { username = '', password = '', privateKey = '' } = secret
  // Without a password, the user is the secret: many servers accept a token there.
  hide(password, gateway.proxy, ...(password === '' ? [username] : []))
  const common = {
    ...{ proxy: gateway.proxy, host, signal, timeout: config().imports.timeout, idle: IDLE_S[direction] },
    client: `mirrors ${host}`
  }
  if (kind === 'http') {
    const lfs = async () => lfsOverHttp(address, username, password)
    return { remote: { ...common, url, username, password }, lfs }
  }
  const server = { host, port, username: sshUser, path, privateKey, hostKey }
  const door = await openSshDoor(gateway, server, seen)
  hide(door)
  const lfs = (operation: LfsOperation) => lfsOverSsh(gateway, server, { operation, seen })
  return { remote: { ...common, url: door, username: '', password: '' }, lfs }
}

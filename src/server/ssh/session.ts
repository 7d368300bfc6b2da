// Runs one command of an SSH client with the same code as git over HTTP, and with the same slots and limits.
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { authorizeGit } from '../../access/authorize.js'
import { describePipelines } from '../../areas/ci/pipelines/push-answers.js'
import { repositoryFor } from '../../areas/code/refs/lost-branch.js'
import { openPush } from '../../areas/code/refs/push.js'
import { gitProtocolAllowed, PROTOCOL_OFF } from '../../areas/ground/settings/git-protocol.js'
import { refuseDuringMaintenance } from '../../areas/ground/settings/maintenance-mode.js'
import { describeMergeRequests } from '../../areas/planning/merge-requests/push-answers.js'
import { findProject, type ProjectRow } from '../../areas/projects/projects/projects.queries.js'
import { authorOfPush, findLogin, type Login, noteUseOfLogin } from '../../areas/projects/ssh/logins.js'
import { addressOfOwner } from '../../cluster/storages.js'
import { config } from '../../config.js'
import { Failure, Forbidden, NotFound, NotHere, Unauthorized, Unavailable } from '../../errors.js'
import { GitAway, GitFailure, GitLimit } from '../../git/process/run.js'
import { converse } from '../../git/transport/conversation.js'
import { readPush } from '../../git/transport/packet-lists.js'
import { readArriving } from '../../git/transport/request-spool.js'
import { advertiseRefs, type Caller } from '../../git/transport/transport.js'
import { networkOf } from '../../lib/address.js'
import { requestScope } from '../../lib/request-scope.js'
import { log } from '../../log.js'
import { watchAccess } from '../access-watch.js'
import type { GitAccess, GitAction } from '../git-access.js'
import { movedNotes } from '../git-http.js'
import { actionOfLfs, authenticateOverSsh } from '../lfs/access.js'
import { type GitCommand, readCommand } from './command.js'
import { sshCounts } from './counts.js'
import { runElsewhere } from './elsewhere.js'
import { type Exchange, watched } from './exchange.js'

/** The exit code of git when it fails. */
const FAILED = 128
const MISSING = 'the project does not exist, or you may not see it'

const prefix = randomBytes(6).toString('base64url')
let last = 0

interface Asked {
  login?: Login
  command?: ReturnType<typeof readCommand>
}

/**
 * Runs the command of a client whose key has this fingerprint; an empty command gets a greeting. Returns the exit code.
 * Looks the key up again: a connection may stay open for long, and a key is refused once it is removed or its user is blocked.
 */
export async function runCommand(fingerprint: string, text: string, exchange: Exchange): Promise<number> {
  const request = `ssh-${prefix}-${(++last).toString(36)}`
  const started = performance.now()
  const asked: Asked = {}
  const code = await requestScope.run({ request, client: networkOf(exchange.address) }, async () => {
    const { exchange: inner, end } = watched(exchange)
    try {
      return await run(asked, fingerprint, text, inner)
    } catch (error) {
      return explain(error, exchange, request)
    } finally {
      end()
    }
  })
  if (code === 0) sshCounts.done++
  else sshCounts.failed++
  logCommand(asked, { request, code, started })
  return code
}

async function run(asked: Asked, fingerprint: string, text: string, exchange: Exchange): Promise<number> {
  const login = await findLogin(fingerprint)
  if (!login) throw new Unauthorized('this key no longer works: it was removed, or its user is blocked')
  asked.login = login
  noteUseOfLogin(login)
  if (text === '') {
    exchange.say(`Welcome to Gitstead, ${login.name}! There is no shell here, only git.`)
    return 0
  }
  const command = readCommand(text)
  asked.command = command
  if (command.service === 'git-lfs-authenticate') {
    const access = await authorizeCommand(login, command.path, actionOfLfs(command.operation))
    await exchange.write(Buffer.from(await authenticateOverSsh(access, fingerprint, command.operation)))
    return 0
  }
  const found = await open(login, command).catch(async error => {
    if (!(error instanceof NotHere) || exchange.isPassedOn) throw error
    return addressOfOwner(error.storage)
  })
  if (typeof found === 'string') return runElsewhere(found, { fingerprint, command: text }, exchange)
  if (found === null) return run(asked, fingerprint, text, exchange)
  const client = login.actor.user ? `user ${login.actor.user.id}` : `deploy key ${fingerprint}`
  const caller: Caller = { protocol: exchange.protocol, client, signal: exchange.signal }
  const leave = enter(client)
  try {
    if (command.service === 'git-receive-pack') await push(login, command, found, exchange, caller)
    else await fetch(login, found, exchange, caller)
  } finally {
    leave()
  }
  return 0
}

/** The number of running commands of each client. */
const running = new Map<string, number>()

/** Counts a command of a client: each may hold 2 MiB of input that the client sends early. Returns the function that ends the count. */
function enter(client: string): () => void {
  const { commands_per_client: most } = config().ssh
  const own = running.get(client) ?? 0
  if (own >= most) throw new Unavailable(`more than ${most} commands of yours run at once (ssh.commands_per_client)`)
  running.set(client, own + 1)
  return () => {
    const left = (running.get(client) ?? 1) - 1
    if (left > 0) running.set(client, left)
    else running.delete(client)
  }
}

interface Found {
  readonly project: ProjectRow
  readonly repository: string
}

/** Throws NotFound, Forbidden, Unavailable. */
async function open(login: Login, { service, path }: GitCommand): Promise<Found> {
  const { project } = await authorizeCommand(
    login,
    path,
    service === 'git-receive-pack' ? 'repository.write' : 'repository.read'
  )
  if (service === 'git-receive-pack') await refuseDuringMaintenance()
  return { project, repository: await repositoryFor(service, project) }
}

/** Throws NotFound, Forbidden. */
async function authorizeCommand({ actor }: Login, path: string, action: GitAction): Promise<GitAccess> {
  await refuseSwitchedOff()
  // A number would identify a project too, but no git address has that form.
  const project = path.includes('/') ? await findProject(path, actor) : undefined
  authorizeGit(actor, action, project)
  if (!project) throw new NotFound('Project')
  return { actor, project }
}

async function refuseSwitchedOff(): Promise<void> {
  if (!(await gitProtocolAllowed('ssh'))) throw new Forbidden(PROTOCOL_OFF.ssh)
}

async function fetch(
  { actor }: Login,
  { project, repository }: Found,
  { input, write, cut }: Exchange,
  caller: Caller
): Promise<void> {
  const { max_fetch_request: most } = config().git
  const excess = `The request of a fetch may have at most ${most} bytes (git.max_fetch_request)`
  const end = watchAccess(actor, project, () => cut(MISSING))
  try {
    await converse(repository, { input, write, most, excess }, caller)
  } finally {
    end()
  }
}

async function push(
  { actor }: Login,
  { path }: GitCommand,
  { project, repository }: Found,
  { input, write }: Exchange,
  caller: Caller
): Promise<void> {
  for await (const chunk of await advertiseRefs(repository, 'git-receive-pack', caller)) await write(chunk)
  const request = await readPush(input)
  if (!request) return
  const { max_push_size: most } = config().git
  const excess = `One push may have at most ${most} bytes (git.max_push_size)`
  const author = await authorOfPush(actor, project.id)
  const notes = movedNotes(path, project)
  const answer = await openPush(
    { actor, author, project, repository, client: caller.client },
    Readable.from(request, { objectMode: false }),
    {
      read: rest => readArriving(rest, most, excess),
      describe: async (one, changes) => [
        ...notes,
        ...(await describePipelines(one, changes)),
        ...(await describeMergeRequests(one, changes, actor))
      ]
    }
  )
  for await (const chunk of answer) await write(chunk)
}

/** Shows the user why a command failed. Returns the exit code. */
function explain(error: unknown, { say, signal }: Exchange, request: string): number {
  // Nobody reads it when the client has left.
  if (signal.aborted) return FAILED
  say(`gitstead: ${reasonOf(error) ?? `something is wrong here: publish your administrator the number ${request}`}`)
  if (reasonOf(error) === undefined) log().error({ error }, 'a command over SSH failed')
  return FAILED
}

function reasonOf(error: unknown): string | undefined {
  if (error instanceof NotFound) return MISSING
  if (error instanceof Forbidden) return error.reason ?? 'you may not do this in this project'
  if (error instanceof Failure || error instanceof GitLimit) return error.message
  if (error instanceof GitAway) return `${GitAway.reason}: try again`
  if (error instanceof GitFailure && error.code === null) return 'git was stopped, because it took too long'
  return undefined
}

interface Ended {
  readonly request: string
  readonly code: number
  readonly started: number
}

function logCommand({ login, command }: Asked, { request, code, started }: Ended): void {
  if (config().log.requests !== 'all') return
  const ms = Math.round((performance.now() - started) * 10) / 10
  log().info(
    { request, method: 'SSH', route: command?.service ?? 'none', status: code, ms, user: login?.name ?? null },
    'request'
  )
}

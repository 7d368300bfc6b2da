// Mail of the service emails-on-push.
import { row } from '../../../../db/connect/sql.js'
import { patchesBetween } from '../../../../git/history/patches.js'
import { GitFailure } from '../../../../git/process/run.js'
import { ZERO } from '../../../../git/refs/refs.js'
import type { PushFacts, Sender } from '../../../../mail/kinds.js'
import { isOfOwnDomain } from '../../../../mail/message.js'
import { fullPayload } from '../../../code/refs/pushes.js'
import { type ChangeRow, findSettledChange } from '../../../code/refs/ref-changes.queries.js'
import type { Published } from '../../../ground/activity/events.js'
import { repositoryPath } from '../../../projects/projects/repositories.js'
import { queueMail } from '../../mail/outbox.js'
import { mailingService } from './recipients.js'

const MOST_PATHS = 100
/** The limit of characters of the whole diff. */
const MOST_DIFF = 10_000
const REF = /^refs\/(heads|tags)\/(.+)$/s

/** Only changes of branches and tags cause mail. */
export async function mailPush(told: Published<'ref.changed'>): Promise<void> {
  const change = await findSettledChange(told.event.refChangeId)
  const [, kind, name = ''] = REF.exec(change?.ref ?? '') ?? []
  if (!change || kind === undefined) return
  const service = await mailingService(change.project_id, 'emails-on-push')
  if (!service) return
  await queueMail({
    once: `${told.id} push`,
    kind: 'push',
    list: { projectId: change.project_id },
    recipients: service.recipients,
    facts: {
      ...(await factsOf(change, kind === 'tags' ? `the tag ${name}` : `the branch ${name}`, {
        name,
        withDiff: kind === 'heads' && service.properties.disable_diffs !== true
      })),
      ...(service.properties.send_from_committer_email === true && { from: await pusherOf(change) })
    }
  })
}

/**
 * Returns the user who pushed, with a confirmed address. Not specified: an address in another domain. The mail comes from the
 * appliance then. The committer of a commit may be anyone, so a mail in that name would be forged.
 */
async function pusherOf({ user_id: id }: ChangeRow): Promise<Sender | null> {
  const found = await row<Sender>(
    'select name, email as address from users where id = ? and email_confirmed_at is not null',
    [id]
  )
  return found && isOfOwnDomain(found.address) ? found : null
}

interface Wanted {
  readonly name: string
  readonly withDiff: boolean
}

async function factsOf(change: ChangeRow, what: string, { name, withDiff }: Wanted): Promise<PushFacts> {
  const { commits, total_commits_count: total, project } = await fullPayload(change)
  const paths = commits.flatMap(({ added, modified, removed }) => [
    ...added.map(path => `added ${path}`),
    ...modified.map(path => `modified ${path}`),
    ...removed.map(path => `removed ${path}`)
  ])
  const each = [...new Set(paths)]
  const who = change.user_name === null ? 'Somebody' : `${change.user_name} (@${change.user_username})`
  return {
    project: project.path_with_namespace,
    url: change.new_id === ZERO ? project.web_url : `${project.web_url}/commits/${encodeURI(name)}`,
    happened: `${who} ${verbOf(change)} ${what}`,
    ref: name,
    // Newest first.
    commits: commits
      .map(({ id, message, author }) => `${id.slice(0, 8)} ${firstLine(message)}, by ${author.name}`)
      .reverse(),
    commits_total: total,
    paths: each.slice(0, MOST_PATHS).map(path => path.slice(0, 255)),
    paths_total: each.length,
    diff: withDiff ? await diffOf(change) : null
  }
}

const firstLine = (message: string) => (message.split('\n', 1)[0] ?? '').slice(0, 255)

function verbOf({ old_id: before, new_id: after }: ChangeRow): string {
  if (after === ZERO) return 'deleted'
  return before === ZERO ? 'made' : 'pushed to'
}

/** Not specified: the diff of a new branch. The commits describe it. */
async function diffOf({ project_id: id, storage, old_id: before, new_id: after }: ChangeRow): Promise<string | null> {
  if (before === ZERO || after === ZERO) return null
  try {
    const { patches } = await patchesBetween(repositoryPath({ id, storage }), before, after)
    const texts = patches.map(({ oldPath, newPath, text }) => `--- ${oldPath}\n+++ ${newPath}\n${text}`)
    const all = texts.join('\n')
    return all.length <= MOST_DIFF
      ? all
      : `${all.slice(0, MOST_DIFF)}\n[cut: the whole text has ${all.length} characters]`
  } catch (error) {
    // The previous commits may no longer exist.
    if (error instanceof GitFailure) return null
    throw error
  }
}

// Events whose effects are written in the transaction of the change, without a job: claiming and ending a job costs more than a
// few rows do. Each kind names the listeners whose effects it covers. They are the same functions that a job would call, so it
// does not matter which of both handles an event.
import type { DomainEvent, EventKind, Published, Stored, UnstoredEvent } from './areas/ground/activity/events.js'
import { lazily } from './lib/plug.js'

const ofAccounts = lazily(() => import('./areas/reach/accounts/account-mail.js'))
const ofIssues = lazily(() => import('./areas/reach/notifications/new-issues.js'))
const ofPushes = lazily(() => import('./areas/reach/notifications/quiet-pushes.js'))
const ofProjects = lazily(() =>
  Promise.all([
    import('./areas/ground/hooks/record-events.js'),
    import('./areas/ground/activity/record-entries.js'),
    import('./areas/ground/hooks/deliveries.js'),
    import('./areas/reach/events/activity-feed.js')
  ])
)

export interface AtOnce<Kind extends EventKind> {
  /** The names of all listeners to this kind that have something to do. */
  readonly listeners: readonly string[]
  /** Returns the ids of the events that it has handled completely. For the others it has written nothing. */
  handle(published: readonly Published<Kind>[]): Promise<readonly string[]>
}

export const atOnce: { readonly [Kind in EventKind]?: AtOnce<Kind> } = {
  'token.created': mailed('token.created'),
  'email.added': mailed('email.added'),
  'project.created': {
    listeners: ['hooks', 'activity'],
    handle: async published => {
      const [{ recordEvents }, { recordEntries }, { isWanted }, { recordAtOnce }] = await ofProjects()
      for (const each of published) if (await isWanted(recordEvents['project.created'](each))) return []
      return recordAtOnce(published.map(each => ({ published: each, entry: recordEntries['project.created'](each) })))
    }
  },
  'ref.changed': {
    listeners: [
      ...[
        'pipelines',
        'environments',
        'hooks',
        'refs',
        'mirrors',
        'discussion',
        'mail of services',
        'merge requests',
        'activity'
      ]
    ],
    handle: async published => (await ofPushes()).handleQuietPushes(published)
  },
  'issue.changed': {
    listeners: ['hooks', 'discussion', 'notifications', 'to-dos', 'activity'],
    handle: async published => (await ofIssues()).handleNewIssues(published)
  }
}

/** Events that only cause mail to the owner of an account. The worker sends it. */
function mailed<Kind extends 'token.created' | 'email.added'>(kind: Kind): AtOnce<Kind> {
  return {
    listeners: ['account mail'],
    handle: async published => {
      const { accountMail } = await ofAccounts()
      for (const each of published) await accountMail.on[kind]?.(each)
      return published.map(({ id }) => id)
    }
  }
}

/** Handles what it can of some events. Returns the ids of those that are done. */
export async function handleAtOnce(published: readonly UnstoredEvent[]): Promise<ReadonlySet<string>> {
  const done: string[] = []
  for (const kind of new Set(published.map(({ event }) => event.kind))) {
    const known = atOnce[kind] as { handle(some: readonly object[]): Promise<readonly string[]> } | undefined
    if (!known) continue
    const some = published.filter(({ event }) => event.kind === kind)
    done.push(...(await known.handle(some.map(each => ({ ...each, event: stored(each.event) })))))
  }
  return new Set(done)
}

/** The event as a job would receive it. */
const stored = (event: DomainEvent) => JSON.parse(JSON.stringify(event)) as Stored<DomainEvent>

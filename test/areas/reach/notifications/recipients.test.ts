// Recipients of mail: both tables of "Notifications", row by row, and rules that apply to all facts.
import { EVENTS, type EventName } from '../../../../src/areas/reach/notifications/levels.js'
import {
  type Applied,
  type Facts,
  judge,
  type MailEvent,
  type Person,
  type Reason,
  type Refusal,
  ROLES,
  type Role,
  recipientsOf
} from '../../../../src/areas/reach/notifications/recipients.js'
import t from '../../../helpers/tap.js'

type Level = Applied['level']
const LEVELS = ['disabled', 'mention', 'participating', 'watch', 'custom'] as const

interface Values extends Partial<Omit<Person, 'applied' | 'roles'>> {
  readonly level?: Level
  readonly from?: Applied['from']
  readonly events?: readonly EventName[]
  readonly roles?: readonly Role[]
}

const person = ({ level = 'participating', from = 'project', events = [], roles = [], ...rest }: Values): Person => ({
  id: 7,
  isBlocked: false,
  isMember: true,
  canRead: true,
  applied: { level, from, events: new Set(events) },
  roles: new Set(roles),
  ...rest
})

const FACTS: Omit<Facts, 'people'> = { actorId: 1 }

/** Returns why a person gets the mail, or why not. */
function why(event: MailEvent, values: Values, facts = FACTS): Reason | Refusal {
  const verdict = judge(event, person(values), facts)
  return verdict.mail ? verdict.reason : verdict.refusal
}

const ITEM: readonly EventName[] = EVENTS.filter(name => !name.endsWith('_pipeline'))
const NEW: readonly EventName[] = ['new_issue', 'new_merge_request']
const REASSIGN: readonly EventName[] = ['reassign_issue', 'reassign_merge_request']

t.test('levels: which events each one includes', async t => {
  for (const event of EVENTS) {
    const pipelineOf = event.endsWith('_pipeline')
    for (const role of ROLES) t.equal(why(event, { level: 'disabled', roles: [role] }), 'disabled', `${event} ${role}`)
    t.equal(why(event, { level: 'mention' }), 'level', `${event} mention`)
    t.equal(why(event, { level: 'mention', roles: ['mentioned'] }), 'mentioned', `${event} mention, mentioned`)
    t.equal(why(event, { level: 'mention', roles: ['participant', 'author', 'pipeline_user'] }), 'level', event)
    t.equal(why(event, { level: 'participating' }), 'level', `${event} participating`)
    t.equal(why(event, { level: 'watch' }), event === 'success_pipeline' ? 'level' : 'watcher', `${event} watch`)
    t.equal(why(event, { level: 'custom' }), 'level', `${event} custom, off`)
    t.equal(why(event, { level: 'custom', events: [event] }), 'custom', `${event} custom, on`)
    t.equal(why(event, { level: 'custom', events: EVENTS.filter(name => name !== event) }), 'level', event)
    // Custom and watch include everything from participating.
    for (const level of ['participating', 'watch', 'custom'] as const) {
      for (const role of ['author', 'assignee', 'participant'] as const) {
        t.equal(why(event, { level, roles: [role] }), role, `${event} ${level} ${role}`)
      }
      if (pipelineOf) t.equal(why(event, { level, roles: ['pipeline_user'] }), 'pipeline_user', `${event} ${level}`)
    }
  }
})

t.test('events: the additional recipients of each', async t => {
  for (const event of ITEM) {
    const label = NEW.includes(event) ? 'label_subscriber' : 'level'
    t.equal(why(event, { roles: ['label_subscriber'] }), label, `${event}, subscriber of its label`)
    t.equal(why(event, { level: 'mention', roles: ['label_subscriber'] }), label, event)
    for (const level of ['mention', 'participating', 'custom'] as const) {
      t.equal(why(event, { level, roles: ['subscriber'] }), 'subscriber', `${event} ${level}, subscriber`)
    }
    const assigns = REASSIGN.includes(event) || NEW.includes(event)
    t.equal(why(event, { level: 'mention', roles: ['assignee'] }), assigns ? 'assignee' : 'level', event)
    t.equal(
      why(event, { level: 'mention', roles: ['previous_assignee'] }),
      assigns ? 'previous_assignee' : 'level',
      event
    )
  }
})

t.test('added labels: only their subscribers get mail', async t => {
  for (const level of LEVELS) {
    const expected = level === 'disabled' ? 'disabled' : 'label_subscriber'
    t.equal(why('label_added', { level, roles: ['label_subscriber'] }), expected)
    for (const role of ROLES.filter(name => name !== 'label_subscriber' && name !== 'unsubscribed')) {
      const values = { level, roles: [role], events: EVENTS }
      t.equal(why('label_added', values), level === 'disabled' ? 'disabled' : 'level', `${level} ${role}`)
    }
  }
})

t.test('other changes of a merge request: participants, subscribers and watchers', async t => {
  const event = 'update_merge_request'
  for (const level of ['participating', 'watch', 'custom'] as const) {
    for (const role of ['author', 'assignee', 'participant'] as const) {
      t.equal(why(event, { level, roles: [role], events: EVENTS }), role, `${level} ${role}`)
    }
  }
  t.equal(why(event, { level: 'watch' }), 'watcher')
  t.equal(why(event, { level: 'watch', from: 'global', isMember: false }), 'level')
  t.equal(why(event, { level: 'custom', events: EVENTS }), 'level', 'no event switches it on')
  t.equal(why(event, { level: 'participating' }), 'level')
  t.equal(why(event, { level: 'mention', roles: ['author', 'assignee', 'participant'] }), 'level')
  t.equal(why(event, { level: 'mention', roles: ['subscriber'] }), 'subscriber')
  t.equal(why(event, { level: 'disabled', roles: ['subscriber'] }), 'disabled')
})

t.test('names that an edit adds: only the mentioned users get mail', async t => {
  for (const level of LEVELS) {
    for (const role of ROLES.filter(name => name !== 'unsubscribed')) {
      const expected = level === 'disabled' ? 'disabled' : role === 'mentioned' ? 'mentioned' : 'level'
      t.equal(why('mentioned', { level, roles: [role], events: EVENTS }), expected, `${level} ${role}`)
    }
  }
})

t.test('people who get no mail', async t => {
  const all: Values = { level: 'watch', roles: ROLES.filter(role => role !== 'unsubscribed'), events: EVENTS }
  for (const event of [...EVENTS, 'label_added', 'mentioned', 'update_merge_request'] as const) {
    t.equal(why(event, { ...all, id: 1 }), 'actor')
    t.equal(why(event, { ...all, isBlocked: true }), 'blocked')
    t.equal(why(event, { ...all, canRead: false }), 'unreadable')
    t.equal(why(event, { ...all, level: 'disabled' }), 'disabled')
    t.equal(why(event, { ...all, roles: [...(all.roles ?? []), 'unsubscribed'] }), 'unsubscribed')
  }
  const byItself = { actorId: 1, byItself: true }
  t.equal(
    why('merge_merge_request', { id: 1, level: 'mention' }, byItself),
    'level',
    'merging is no reason for a mail to the merger'
  )
  t.equal(why('merge_merge_request', { id: 1, roles: ['author'] }, byItself), 'author')
})

t.test('the global setting applies to the projects that the user is a member of', async t => {
  for (const level of ['watch', 'custom'] as const) {
    const values = { level, from: 'global', events: EVENTS } as const
    t.equal(why('new_note', { ...values, isMember: false }), 'level')
    t.not(why('new_note', values), 'level')
    t.not(why('new_note', { ...values, from: 'project', isMember: false }), 'level')
    t.equal(why('new_note', { ...values, isMember: false, roles: ['participant'] }), 'participant')
  }
})

t.test(
  'for all facts: nobody twice, and never the actor, blocked users, strangers, or people who declined',
  async t => {
    let seed = 20
    const random = (most: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((seed / 2_147_483_648) * most)
    }
    const some = <T>(list: readonly T[]) => list.filter(() => random(3) === 0)
    let mails = 0
    for (let round = 0; round < 2000; round++) {
      const people = Array.from({ length: random(8) }, (_, id) =>
        person({
          id,
          level: LEVELS[random(5)],
          from: (['project', 'group', 'global'] as const)[random(3)],
          events: some(EVENTS),
          roles: some(ROLES),
          isBlocked: random(5) === 0,
          isMember: random(2) === 0,
          canRead: random(5) > 0
        })
      )
      const actorId = random(8)
      const event = [...EVENTS, 'label_added' as const][random(13)] ?? 'new_note'
      const found = recipientsOf(event, { actorId, people })
      mails += found.length
      const byId = new Map(people.map(each => [each.id, each]))
      const wrong = found.filter(({ userId }) => {
        const { isBlocked, canRead, roles, applied } = byId.get(userId) ?? person({})
        return userId === actorId || isBlocked || !canRead || roles.has('unsubscribed') || applied.level === 'disabled'
      })
      if (wrong.length > 0 || new Set(found.map(({ userId }) => userId)).size < found.length)
        t.fail(JSON.stringify(wrong))
    }
    t.ok(mails > 500, 'the facts cause enough mails')
  }
)

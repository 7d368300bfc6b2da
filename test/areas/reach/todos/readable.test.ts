// A to-do is in the list while its user may read its target: every visibility, level and way to a project, for each kind of
// target.
import { listTodos } from '../../../../src/areas/reach/todos/todos.queries.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { GUEST, INTERNAL, OWNER, PRIVATE, PUBLIC, REPORTER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { actorOf, type TestProject, type TestUser } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)

const PAST = '2020-01-01'

/** Gives a user a way to a project; all groups are created for one case. */
type Opening = (project: TestProject, user: TestUser) => Promise<unknown>

async function moveTo(project: TestProject, namespaceId: number): Promise<void> {
  await execute('update projects set namespace_id = ? where id = ?', [namespaceId, project.id])
}

const inGroup =
  (level: number): Opening =>
  async (project, user) => {
    const group = await app.make.group()
    await app.make.groupMember(group, level, user)
    await moveTo(project, group.id)
  }

const shared =
  (level: number, expiresAt?: string): Opening =>
  async (project, user) => {
    const group = await app.make.group()
    await app.make.groupMember(group, REPORTER, user)
    await app.make.share(project, group, level, expiresAt)
  }

/** Each way to a project, and the resulting level. */
const WAYS: readonly { readonly level: number; readonly open: Opening }[] = [
  { level: 0, open: async () => undefined },
  { level: GUEST, open: (project, user) => app.make.member(project, GUEST, user) },
  { level: REPORTER, open: (project, user) => app.make.member(project, REPORTER, user) },
  { level: 0, open: (project, user) => app.make.member(project, OWNER, user, PAST) },
  { level: GUEST, open: inGroup(GUEST) },
  { level: REPORTER, open: inGroup(REPORTER) },
  { level: GUEST, open: shared(GUEST) },
  { level: REPORTER, open: shared(OWNER) },
  { level: 0, open: shared(OWNER, PAST) },
  {
    level: OWNER,
    open: async (project, { id }) => {
      const [own] = await rows<{ id: number }>('select id from namespaces where owner_id = ?', [id])
      await moveTo(project, own?.id ?? 0)
    }
  }
]
const VISIBILITIES = [PRIVATE, INTERNAL, PUBLIC] as const
const KINDS = [
  'issue',
  'secret',
  'own secret',
  'assigned secret',
  'merge request',
  'deleted merge request',
  'commit'
] as const
type Kind = (typeof KINDS)[number]

interface Case {
  readonly level: number
  readonly visibility: number
  readonly enabled: boolean
  readonly kind: Kind
}

function mayRead(
  { level, visibility, enabled, kind }: Case,
  { admin, external }: { admin: boolean; external: boolean }
) {
  if (kind === 'deleted merge request') return false
  if (kind !== 'commit' && !enabled) return false
  if (admin) return true
  const open = visibility === PUBLIC || (visibility === INTERNAL && !external)
  if (kind === 'secret') return level >= REPORTER
  return open || level >= (kind === 'merge request' || kind === 'commit' ? REPORTER : GUEST)
}

const SHA = 'c'.repeat(40)
const ONE = { created_at: new Date(), updated_at: new Date() }

async function insert(table: string, values: { readonly [column: string]: string | number | boolean | Date | null }) {
  const names = Object.keys(values)
  const { insertId } = await execute(
    `insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`,
    Object.values(values)
  )
  return insertId
}

for (const person of [
  { admin: false, external: false },
  { admin: false, external: true },
  { admin: true, external: false }
]) {
  t.test(`targets that a user may read: ${JSON.stringify(person)}`, async t => {
    const user = await app.make.user(person)
    const owner = await app.make.user()
    const expected: number[] = []
    for (const { level, open } of WAYS) {
      for (const visibility of VISIBILITIES) {
        for (const enabled of [true, false]) {
          const project = await app.make.project({ owner, visibility_level: visibility })
          await execute('update projects set issues_enabled = ?, merge_requests_enabled = ? where id = ?', [
            enabled,
            enabled,
            project.id
          ])
          await open(project, user)
          for (const kind of KINDS) {
            const id = await todoAbout(kind, { project: project.id, user: user.id, author: owner.id })
            if (mayRead({ level, visibility, enabled, kind }, person)) expected.unshift(id)
          }
        }
      }
    }
    for (const name of ['just read', 'kept']) {
      const found: number[] = []
      for (let page = 1; page <= Math.ceil(expected.length / 100) + 1; page++) {
        const { items, total } = await listTodos({ page, per_page: 100 }, actorOf(user))
        t.equal(total, expected.length)
        found.push(...items.map(({ id }) => id))
      }
      t.same(found, expected, name)
    }
  })
}

interface About {
  readonly project: number
  readonly user: number
  readonly author: number
}

async function todoAbout(kind: Kind, { project, user, author }: About): Promise<number> {
  const todo = { user_id: user, author_id: author, project_id: project, action: 'mentioned', ...ONE }
  if (kind === 'commit') return insert('todos', { ...todo, target_type: 'Commit', commit_id: SHA })
  if (kind === 'merge request' || kind === 'deleted merge request') {
    const target = await insert('merge_requests', {
      iid: KINDS.indexOf(kind),
      target_project_id: project,
      source_project_id: project,
      target_branch: 'master',
      source_branch: kind,
      title: 'One',
      author_id: author,
      deleted_at: kind === 'merge request' ? null : new Date(),
      ...ONE
    })
    return insert('todos', { ...todo, target_type: 'MergeRequest', target_id: target })
  }
  const target = await insert('issues', {
    project_id: project,
    iid: KINDS.indexOf(kind),
    title: 'One',
    state: 'opened',
    confidential: kind !== 'issue',
    author_id: kind === 'own secret' ? user : author,
    assignee_id: kind === 'assigned secret' ? user : null,
    ...ONE
  })
  return insert('todos', { ...todo, target_type: 'Issue', target_id: target })
}

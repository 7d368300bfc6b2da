// The effective level ("Permissions"): from a direct membership, from the group, from a share. Expired memberships and
// shares do not count.
import { levelIn } from '../../src/access/authorize.js'
import { findGroup } from '../../src/areas/people/groups/groups.queries.js'
import { listProjects } from '../../src/areas/projects/projects/project-list.queries.js'
import { findAsked, findProject, findShownProject } from '../../src/areas/projects/projects/projects.queries.js'
import { execute } from '../../src/db/connect/sql.js'
import { DEVELOPER, GUEST, MASTER, OWNER, REPORTER } from '../../src/lib/levels.js'
import { testDatabase } from '../helpers/database.js'
import { actorOf, factory, type TestGroup, type TestProject, type TestUser } from '../helpers/factory.js'
import { countStatements } from '../helpers/statements.js'
import t from '../helpers/tap.js'

await testDatabase()

const day = (away: number) => new Date(Date.now() + away * 86_400_000).toISOString().slice(0, 10)
const YESTERDAY = day(-1)
const TODAY = day(0)
const TOMORROW = day(1)

interface Place {
  readonly project: TestProject
  /** The group that owns the project, and a group with which it is shared. */
  readonly group: TestGroup
  readonly other: TestGroup
  readonly user: TestUser
}

/** A private project of a group, shared with another group up to Developer until `shareEnds`. */
async function place(shareEnds?: string): Promise<Place> {
  const [project, group, other, user] = [
    await factory.project(),
    await factory.group(),
    await factory.group(),
    await factory.user()
  ]
  await execute('update projects set namespace_id = ? where id = ?', [group.id, project.id])
  await factory.share(project, other, DEVELOPER, shareEnds)
  return { project, group, other, user }
}

type Memberships = (place: Place) => Promise<unknown>

const CASES: readonly (readonly [name: string, level: number, memberships: Memberships, shareEnds?: string])[] = [
  ['no membership', 0, async () => undefined],
  ['a direct membership', REPORTER, ({ project, user }) => factory.member(project, REPORTER, user)],
  ['a membership in the group', OWNER, ({ group, user }) => factory.groupMember(group, OWNER, user)],
  ['a membership in the other group', GUEST, ({ other, user }) => factory.groupMember(other, GUEST, user)],
  [
    'a membership above the level of the share',
    DEVELOPER,
    ({ other, user }) => factory.groupMember(other, OWNER, user)
  ],
  [
    'a membership by a share that ends tomorrow',
    DEVELOPER,
    ({ other, user }) => factory.groupMember(other, MASTER, user),
    TOMORROW
  ],
  ['a membership by a share that ends today', 0, ({ other, user }) => factory.groupMember(other, MASTER, user), TODAY],
  [
    'a direct membership until tomorrow',
    MASTER,
    ({ project, user }) => factory.member(project, MASTER, user, TOMORROW)
  ],
  ['a direct membership until today', 0, ({ project, user }) => factory.member(project, MASTER, user, TODAY)],
  ['a direct membership until yesterday', 0, ({ project, user }) => factory.member(project, MASTER, user, YESTERDAY)],
  [
    'a membership in the group until yesterday',
    0,
    ({ group, user }) => factory.groupMember(group, OWNER, user, YESTERDAY)
  ],
  [
    'a membership in the other group until yesterday',
    0,
    ({ other, user }) => factory.groupMember(other, OWNER, user, YESTERDAY)
  ],
  [
    'the highest of three memberships counts',
    MASTER,
    async ({ project, group, other, user }) => {
      await factory.member(project, GUEST, user)
      await factory.groupMember(group, MASTER, user)
      await factory.groupMember(other, OWNER, user)
    }
  ],
  [
    'an expired membership does not count, even if it is the highest',
    DEVELOPER,
    async ({ project, group, other, user }) => {
      await factory.member(project, MASTER, user, YESTERDAY)
      await factory.groupMember(group, REPORTER, user)
      await factory.groupMember(other, OWNER, user)
    }
  ]
]

for (const [name, level, memberships, shareEnds] of CASES) {
  t.test(name, async t => {
    const made = await place(shareEnds)
    await memberships(made)
    const actor = actorOf(made.user)
    const found = await findProject(made.project.id, actor)
    t.equal(found && levelIn(found, actor), level, 'the single project')
    const asked = await findAsked(made.user.privateToken, made.project.id)
    t.equal(asked?.project && levelIn(asked.project, asked.actor), level, 'the project read with the token')
    t.same(await findProject(made.project.path, actor), undefined, 'the old path is unknown')
    const listed = level === 0 ? [] : [made.project.id]
    for (const scope of ['member', 'visible', { group: made.group.id }] as const) {
      const { items, total } = await listProjects(scope, {}, actor)
      t.same(
        items.map(project => project.id),
        listed,
        `the list ${JSON.stringify(scope)}`
      )
      t.equal(total, listed.length, 'its count')
      for (const item of items) t.equal(levelIn(item, actor), level, 'the project in the list')
    }
    const group = await findGroup(String(made.group.id), actor)
    t.equal(group?.sees_project, listed.length, 'the group is visible with its project')
  })
}

t.test('the record shows direct and group access separately', async t => {
  const { project, group, user } = await place()
  await factory.member(project, GUEST, user)
  await factory.groupMember(group, MASTER, user)
  const found = await findShownProject(project.id, actorOf(user))
  t.match(found, { project_access_level: GUEST, group_access_level: MASTER })
  t.equal(found?.access_level, MASTER, 'a number')
})

t.test('only projects that are shared take a second statement, whatever the memberships', async t => {
  const { project, group, other, user } = await place()
  await factory.groupMember(group, MASTER, user)
  await factory.groupMember(other, MASTER, user)
  const read = {
    project: () => findProject(project.id, actorOf(user)),
    'with the token': () => findAsked(user.privateToken, project.id),
    'projects of a member': () => listProjects('member', {}, actorOf(user)),
    'visible projects': () => listProjects('visible', {}, actorOf(user))
  }
  const counts = async () => {
    const all: Record<string, number> = {}
    for (const [name, work] of Object.entries(read)) {
      // Keeps the rows of a list.
      await work()
      all[name] = await countStatements(work)
    }
    return all
  }
  t.same(await counts(), { project: 2, 'with the token': 2, 'projects of a member': 1, 'visible projects': 3 })
  await execute('delete from project_group_links where project_id = ?', [project.id])
  await execute('update projects set has_shares = false where id = ?', [project.id])
  t.same(await counts(), { project: 1, 'with the token': 1, 'projects of a member': 1, 'visible projects': 2 })
})

t.test('a new membership of any kind counts in the next list, whatever the last one read', async t => {
  const user = await factory.user()
  const actor = actorOf(user)
  const own = await factory.project({ owner: user })
  const [direct, shared, grouped] = [await factory.project(), await place(), await place()]
  const listed = async () => {
    const lists = await Promise.all((['member', 'visible'] as const).map(scope => listProjects(scope, {}, actor)))
    for (const { items, total } of lists) t.equal(total, items.length)
    const [member, visible] = lists.map(({ items }) => items.map(({ id, access_level }) => [id, access_level]))
    t.same(
      member?.map(([id]) => id),
      visible?.map(([id]) => id)
    )
    return member
  }
  const owned = async () => (await listProjects('owned', {}, actor)).items.map(({ id }) => id)
  t.same(await listed(), [[own.id, OWNER]])
  t.same(await owned(), [own.id])
  await factory.member(direct, REPORTER, user)
  t.same(await listed(), [
    [direct.id, REPORTER],
    [own.id, OWNER]
  ])
  await factory.groupMember(shared.other, MASTER, user)
  t.same((await listed())?.[0], [shared.project.id, DEVELOPER])
  await factory.groupMember(grouped.group, OWNER, user)
  t.same((await listed())?.[0], [grouped.project.id, OWNER])
  t.same(await owned(), [grouped.project.id, own.id])
})

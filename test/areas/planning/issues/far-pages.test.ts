// Compares far pages, and lists with labels, with the plain statement after random changes.
import { createIssue } from '../../../../src/areas/planning/issues/creation.js'
import { listProjectIssues } from '../../../../src/areas/planning/issues/issue-list.queries.js'
import { deleteIssue, updateIssue } from '../../../../src/areas/planning/issues/issues.js'
import { requireIssue } from '../../../../src/areas/planning/issues/issues.queries.js'
import { listOwnIssues } from '../../../../src/areas/planning/issues/own-issues.queries.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { DEVELOPER, GUEST } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { actorOf, projectRow, type TestUser } from '../../../helpers/factory.js'
import { numbersTo } from '../../../helpers/numbers.js'
import { plansOf } from '../../../helpers/plans.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const COUNT = 900
const project = await app.make.project()
const place = await projectRow(project)
const developer = await app.make.member(project, DEVELOPER)
const guest = await app.make.member(project, GUEST)
await createIssue(place, { title: 'with labels', labels: 'a,b' }, actorOf(project.owner))

await execute(
  `insert into issues (project_id, iid, title, state, author_id, created_at, updated_at)
   select ?, 10000 + seq, 'x', if(seq mod 3, 'opened', 'closed'), if(seq mod 4, ?, ?), '2020-01-01' + interval (seq * 7919 mod 500) second,
     '2021-01-01' + interval (seq * 104729 mod 900) second from ${numbersTo(COUNT)}`,
  [project.id, project.owner.id, guest.id]
)
for (const [title, every] of [
  ['a', 2],
  ['b', 3]
] as const) {
  await execute(
    `insert ignore into label_links (target_type, target_id, label_id, of_project, of_author, of_created_at)
     select 'Issue', i.id, l.id, i.project_id, i.author_id, i.created_at from issues i join labels l on l.project_id = i.project_id
     where i.project_id = ? and l.title = ? and i.id mod ${every} = 0`,
    [project.id, title]
  )
}
await execute(
  'update issue_counts set opened = opened + (select count(*) from issues where project_id = ? and is_open and iid >= 10000), closed = closed + (select count(*) from issues where project_id = ? and not is_open) where project_id = ? limit 1',
  [project.id, project.id, project.id]
)

type Query = NonNullable<Parameters<typeof listProjectIssues>[1]>

interface Plain {
  readonly id: number
}

let seed = 5
const random = (below: number) => {
  seed = (seed * 1103515245 + 12345) % 2147483648
  return Math.floor((seed / 2147483648) * below)
}
const oneOf = <T>(list: readonly T[]): T => list[random(list.length)] as T

/** Returns the content of a list, without any index, remembered place or stored count. */
async function plain(query: Query, user: TestUser, own = false) {
  const { state = 'all', labels, order_by: order = 'created_at', sort = 'desc', page = 1, per_page: size = 20 } = query
  const titles = labels?.split(',') ?? []
  const where = `where i.project_id = ${project.id} ${state === 'all' ? '' : `and i.is_open = ${state === 'opened'}`}
    ${own ? `and i.author_id = ${user.id}` : ''}
    ${user.id === guest.id && !own ? `and (not i.confidential or ${user.id} in (i.author_id, i.assignee_id))` : ''}
    ${labels ? `and i.id in (select k.target_id from label_links k join labels l on l.id = k.label_id where k.target_type = 'Issue' and l.title in (${titles.map(title => `'${title}'`)}))` : ''}`
  const ids = await rows<Plain>(
    `select i.id from issues i ignore index (issues_created, issues_updated, issues_open_created, issues_open_updated, issues_author)
     ${where} order by i.${order} + interval 0 second ${sort}, i.id ${sort} limit ${size} offset ${(page - 1) * size}`
  )
  return {
    ids: ids.map(({ id }) => id),
    total: (await row<{ n: number }>(`select count(*) as n from issues i ${where}`))?.n
  }
}

function randomQuery(): Query {
  const size = 1 + random(60)
  return {
    state: oneOf(['all', 'opened', 'closed'] as const),
    sort: oneOf(['asc', 'desc'] as const),
    ...(random(3) === 0 && { order_by: 'updated_at' as const }),
    ...(random(3) === 0 && { labels: oneOf(['a', 'b', 'a,b', 'b,none']) }),
    page: 1 + random(Math.ceil(COUNT / size) + 1),
    per_page: size
  }
}

async function change(): Promise<void> {
  const owner = actorOf(project.owner)
  const { id } = (await row<Plain>('select id from issues where project_id = ? order by rand() limit 1', [
    project.id
  ])) ?? { id: 0 }
  const what = random(6)
  if (what === 0) await createIssue(place, { title: 'new', labels: 'b' }, owner)
  if (what === 1) await createIssue(place, { title: 'old', created_at: '2020-01-01T00:03:00Z', labels: 'a' }, owner)
  if (what === 2) await deleteIssue(place, await requireIssue(place, id, owner), owner)
  if (what === 3) await updateIssue(place, id, { state_event: oneOf(['close', 'reopen'] as const) }, owner)
  if (what === 4)
    await updateIssue(place, id, { confidential: random(2) === 0, assignee_id: oneOf([guest.id, developer.id]) }, owner)
  if (what === 5) await updateIssue(place, id, { labels: oneOf(['a', 'b', 'a,b', '']) }, owner)
}

// This is the first test: the log shows the values only of statements that were not prepared before.
t.test('pages with a label are read in the order of an index', async t => {
  const plans = await plansOf(() => listProjectIssues(place, { labels: 'a', page: 9 }, actorOf(project.owner)))
  const page = plans.find(({ statement }) => / offset 160/.test(statement))
  t.match(
    page?.steps.find(({ table }) => table === 'k'),
    { key: 'label_links_place', Extra: /Using index/ }
  )
  t.notMatch(page?.steps.find(({ table }) => table === 'k')?.Extra, /filesort/)
})

t.test('each page of a project equals the result of the plain statement', async t => {
  for (let step = 0; step < 20; step++) {
    if (step > 0) await change()
    for (const user of [project.owner, guest]) {
      for (let look = 0; look < 3; look++) {
        const query = randomQuery()
        const { items, total } = await listProjectIssues(place, query, actorOf(user))
        const wanted = await plain(query, user)
        t.strictSame(
          items.map(({ id }) => id),
          wanted.ids,
          `step ${step}: ${JSON.stringify(query)}`
        )
        // A total of 1,000 or more with a filter may be 5 seconds old.
        if (!query.labels && !query.order_by) t.equal(total, wanted.total, JSON.stringify(query))
      }
    }
  }
})

t.test('each page of the issues of an author equals the result of the plain statement', async t => {
  for (let step = 0; step < 8; step++) {
    if (step > 0) await change()
    for (let look = 0; look < 3; look++) {
      const query = { ...randomQuery(), labels: oneOf(['a', 'b', 'a,b']) }
      const { items } = await listOwnIssues(query, actorOf(project.owner))
      t.strictSame(
        items.map(({ id }) => id),
        (await plain(query, project.owner, true)).ids,
        JSON.stringify(query)
      )
    }
  }
})

t.test('lists run few statements', async t => {
  const owner = app.as(project.owner)
  const issues = `/projects/${project.id}/issues`
  const taken = async (path: string, query: object = {}) => {
    await owner.get(path, query as Record<string, string>)
    // Another parameter, so that no kept answer is sent.
    return countStatements(() => owner.get(path, { ...query, again: '1' } as Record<string, string>))
  }
  const near = await taken(issues)
  t.equal(await taken(issues, { page: 30 }), near + 1, 'a far page reads the stored counts first')
  t.equal(await taken(issues, { state: 'closed' }), near)
  t.equal(await taken(issues, { labels: 'a' }), near + 2, 'plus the label and the total')
})

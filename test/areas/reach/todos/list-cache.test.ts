// Cached lists of to-dos: after every kind of change, each page and total must match single lookups.
import type { Actor } from '../../../../src/access/actor.js'
import { requireTodo } from '../../../../src/areas/reach/todos/todos.queries.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { DEVELOPER, GUEST, REPORTER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { actorOf } from '../../../helpers/factory.js'
import { statementsOf } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)

/** The readable to-dos of an actor in a state, newest first: each is checked on its own. */
async function truth(actor: Actor, state: string): Promise<number[]> {
  const all = await rows<{ id: number }>('select id from todos where user_id = ? and state = ? order by id desc', [
    actor.user?.id ?? 0,
    state
  ])
  const seen = all.map(async ({ id }) => {
    try {
      return [(await requireTodo(id, actor)).id]
    } catch {
      return []
    }
  })
  return (await Promise.all(seen)).flat()
}

t.test('pages and totals after every change', async t => {
  const project = await app.make.project()
  const other = await app.make.project()
  const user = await app.make.member(project, DEVELOPER)
  await app.make.member(other, REPORTER, user)
  const third = await app.make.project()
  const group = await app.make.group()
  await app.make.groupMember(group, REPORTER, user)
  await app.make.share(third, group, REPORTER)
  const [me, owner, stranger] = [app.as(user), app.as(project.owner), app.as(other.owner)]
  const actor = actorOf(user)
  const open = async (values: object = {}, of = project, by = owner): Promise<string> => {
    const { id } = (
      await by.post(`/projects/${of.id}/issues`, { title: 'One', assignee_id: user.id, ...values })
    ).json()
    return `/projects/${of.id}/issues/${id}`
  }
  const paths: string[] = []
  for (let at = 0; at < 16; at++) paths.push(await open({ title: `Issue ${at}` }))
  for (let at = 0; at < 9; at++) paths.push(await open({}, other, stranger))
  for (let at = 0; at < 3; at++) paths.push(await open({}, third, app.as(third.owner)))
  const unassigned = await open({ assignee_id: 0, confidential: true, description: `@${user.username}` })
  const check = async (name: string) => {
    for (const state of ['pending', 'done']) {
      const expected = await truth(actor, state)
      for (let page = 1; page <= 3; page++) {
        const list = await me.get('/todos', { state, per_page: 12, page })
        t.same(
          list.json().map(({ id }: { id: number }) => id),
          expected.slice((page - 1) * 12, page * 12),
          `${name}: page ${page} of ${state}`
        )
        t.equal(list.headers['x-total'], String(expected.length), `${name}: total of ${state}`)
      }
    }
  }
  const oldest = async () => (await truth(actor, 'pending')).at(-1)
  const ok = async (answer: Promise<{ statusCode: number }>) => t.match((await answer).statusCode, /^2/)
  const member = `/projects/${project.id}/members/${user.id}`
  const steps: Record<string, () => Promise<unknown>> = {
    nothing: async () => undefined,
    'one marked as done': async () => ok(me.delete(`/todos/${await oldest()}`)),
    'one finished by a comment': () => ok(me.post(`${paths[5]}/notes`, { body: 'x' })),
    'one added by a mention': () => ok(owner.post(`${paths[5]}/notes`, { body: `@${user.username}` })),
    'issues switched off': () => ok(stranger.put(`/projects/${other.id}`, { issues_enabled: false })),
    'issues switched on': () => ok(stranger.put(`/projects/${other.id}`, { issues_enabled: true })),
    'a share removed': () => ok(app.as(third.owner).delete(`/projects/${third.id}/share/${group.id}`)),
    'a lower level': () => ok(owner.put(member, { access_level: GUEST })),
    'an issue made confidential': () => ok(owner.put(paths[3] ?? '', { assignee_id: 0, confidential: true })),
    'one of them closed': () => ok(owner.put(paths[3] ?? '', { state_event: 'close' })),
    'a confidential issue assigned': () => ok(owner.put(unassigned, { assignee_id: user.id })),
    'the same issue unassigned': () => ok(owner.put(unassigned, { assignee_id: 0 })),
    'an issue made open': () => ok(owner.put(paths[3] ?? '', { confidential: false })),
    'a higher level': () => ok(owner.put(member, { access_level: DEVELOPER })),
    'an issue deleted': () => ok(owner.delete(paths[7] ?? '')),
    'one marked as done by another process': async () =>
      execute("update todos set state = 'done' where id = ?", [(await oldest()) ?? 0]),
    'one added by another process': () =>
      execute(
        `insert into todos (user_id, author_id, project_id, target_type, target_id, action, created_at, updated_at)
         select user_id, author_id, project_id, target_type, target_id, action, now(), now() from todos
         where user_id = ? and state = 'done' limit 1`,
        [user.id]
      ),
    'a project made public': () => ok(owner.put(`/projects/${project.id}`, { visibility_level: 20 })),
    'a membership ended': () => ok(stranger.delete(`/projects/${other.id}/members/${user.id}`)),
    'an author deleted': async () => ok(app.as(await app.make.admin()).delete(`/users/${project.owner.id}`)),
    'all marked as done': () => ok(me.delete('/todos'))
  }
  for (const [name, act] of Object.entries(steps)) {
    // Each list is already cached when the next change happens.
    await act()
    await check(name)
  }
})

t.test('a page of a cached list takes two statements about to-dos, and one when nothing has changed', async t => {
  const project = await app.make.project()
  const user = await app.make.member(project, DEVELOPER)
  const [me, owner] = [app.as(user), app.as(project.owner)]
  for (let at = 0; at < 12; at++) {
    await owner.post(`/projects/${project.id}/issues`, { title: 'One', assignee_id: user.id })
  }
  // Others check the caller, and whether another process has changed something: how many depends on the time since the last check.
  const page = async (number: number) =>
    (await statementsOf(() => me.get('/todos', { per_page: 5, page: number }))).filter(sql => /\btodos\b/.test(sql))
      .length
  t.ok((await page(2)) > 1, 'the list is read')
  // The first request reads what proves it and the page, the next one only the first.
  for (const number of [2, 1, 3]) {
    t.equal(await page(number), 2)
    t.equal(await page(number), 1)
  }
})

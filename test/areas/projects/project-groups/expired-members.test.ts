import { expiredMembers } from '../../../../src/areas/projects/project-groups/expired-members.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { GUEST } from '../../../../src/lib/levels.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory } from '../../../helpers/factory.js'
import { waitingEvents } from '../../../helpers/published.js'
import t from '../../../helpers/tap.js'

await testDatabase()

t.test('the task ends what has expired, and publishes events', async t => {
  const project = await factory.project()
  const group = await factory.group()
  const ended = await factory.member(project, GUEST, undefined, '2020-01-01')
  await factory.groupMember(group, GUEST, undefined, '2020-01-01')
  const lasting = await factory.member(project, GUEST, undefined, '2999-01-01')
  await factory.share(project, group, GUEST, '2020-01-01')
  const run = async (dryRun: boolean) => {
    let counted = 0
    const count = (more = 1) => {
      counted += more
    }
    await expiredMembers.run({ dryRun, signal: new AbortController().signal, count, note: () => undefined })
    return counted
  }
  t.equal(await run(true), 3)
  t.equal(await run(false), 3)
  t.equal(await run(false), 0)
  t.same(
    await rows('select user_id from members where source_id = ? and source_type = ? order by user_id', [
      project.id,
      'project'
    ]),
    [{ user_id: project.owner.id }, { user_id: lasting.id }]
  )
  t.same(await row('select count(*) as total from project_group_links'), { total: 0 })
  t.match(await waitingEvents('member.removed'), [
    { expired: true, member: { user: { id: ended.id }, source: { type: 'project' } } },
    { expired: true, member: { source: { type: 'namespace', id: group.id } } }
  ])
  t.match(await row("select via, actor_name from audit_events where action = 'member.expire' limit 1"), {
    via: 'schedule'
  })
  await execute('delete from members where user_id = ?', [lasting.id])
})

// What happens to the rows of a project and of a user, in every table that belongs to them in src/db/ownership/ownership.ts.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectSnapshot } from '../../../../src/areas/ground/activity/project-snapshots.js'
import { removeProjects } from '../../../../src/areas/upkeep/removal/project-removal.js'
import { deleteUser, deletionOf } from '../../../../src/areas/upkeep/removal/user-deletion.js'
import { root } from '../../../../src/config.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { goesWith, ownersOf } from '../../../../src/db/ownership/owned-tables.js'
import type { Fate, TableName } from '../../../../src/db/ownership/ownership.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory, someOrigin } from '../../../helpers/factory.js'
import { runJobs } from '../../../helpers/jobs.js'
import {
  fill,
  linksToUsers,
  type Place,
  type RowsByTable,
  rowsGoingWith,
  rowsLinkedTo,
  stillThere
} from '../../../helpers/owned-rows.js'
import t from '../../../helpers/tap.js'

await testDatabase()

async function filledPlace(): Promise<Place> {
  const place = { project: await factory.project(), user: await factory.user() }
  await fill(place)
  return place
}

async function remove(id: number): Promise<void> {
  const project = await projectSnapshot(id)
  if (project) await removeProjects([project], someOrigin)
}

/** Returns the tables that still have rows. */
async function tablesLeft(earlier: RowsByTable): Promise<TableName[]> {
  const left: TableName[] = []
  for (const [table, list] of earlier) if ((await stillThere(table, list)).length > 0) left.push(table)
  return left
}

const gone: readonly Fate[] = ['deleted', 'removed', 'erased']
const atOnce: readonly Fate[] = ['deleted', 'removed', 'nulled']

t.test('a removed project leaves no row in any table that belongs to projects', async t => {
  const [{ project }, neighbour] = [await filledPlace(), await filledPlace()]
  await runJobs()
  const before = await rowsGoingWith('projects', project.id)
  const others = await rowsGoingWith('projects', neighbour.project.id)
  for (const [table, list] of before) t.ok(list.length > 0, `${table} has a row to remove`)

  await remove(project.id)
  const erased = await tablesLeft(before)
  for (const table of erased) {
    const waits = ownersOf(table).some(link => link.fate === 'erased' || (goesWith(link) && erased.includes(link.to)))
    t.ok(waits && table !== 'projects', `${table} is left to the job, or is removed with such a table`)
  }
  await runJobs()
  t.same(await tablesLeft(before), [])
  t.same(await rowsGoingWith('projects', neighbour.project.id), others, 'another project keeps all of its rows')
})

t.test('the job of a removed project also removes rows that were added in the meantime', async t => {
  const [{ project }, { user }] = [await filledPlace(), await filledPlace()]
  await remove(project.id)
  await factory.member(project, 40, user)
  await execute('insert into repository_upkeeps (project_id, looked_at) values (?, now())', [project.id])
  const added = await rowsGoingWith('projects', project.id)
  await runJobs()
  t.same(await tablesLeft(added), [])
})

/** A row whose link is nulled has another version. */
const withoutVersion = ({ row_version: _, ...row }: { readonly [column: string]: unknown }) => row

t.test('deleting a user handles every linked row according to its fate', async t => {
  const [{ user }, neighbour] = [await filledPlace(), await filledPlace()]
  await runJobs()
  const summary = await deletionOf(user)
  const rowsOf = (id: number) => Promise.all(linksToUsers.map(linked => rowsLinkedTo(linked, id)))
  const [before, others] = [await rowsOf(user.id), await rowsOf(neighbour.user.id)]
  t.same(await deleteUser(user.id, someOrigin), [])
  for (const linked of linksToUsers.filter(({ link }) => atOnce.includes(link.fate))) {
    t.same(await rowsLinkedTo(linked, user.id), [], `${linked.table}.${linked.link.column} is not left to the job`)
  }
  await runJobs()

  for (const [at, { table, link }] of linksToUsers.entries()) {
    const earlier = before[at] ?? []
    t.ok(earlier.length > 0, `${table} has a row of the user`)
    const stays = link.fate === 'kept' ? earlier : earlier.map(row => ({ ...row, [link.column]: null }))
    t.same(
      (await stillThere(table, earlier)).map(withoutVersion),
      gone.includes(link.fate) ? [] : stays.map(withoutVersion),
      `${table}.${link.column} is ${link.fate}`
    )
  }
  t.same(await rowsOf(neighbour.user.id), others, 'another user keeps all rows')
  const counts = [...Object.entries(summary.goes), ...Object.entries(summary.stays)]
  for (const [name, count] of counts) t.ok(name === 'projects' || Number(count) > 0, `the summary counts ${name}`)
})

t.test('the job of a deleted user also removes rows that were added in the meantime', async t => {
  const { user } = await filledPlace()
  await runJobs()
  await deleteUser(user.id, someOrigin)
  await execute("insert into emails (user_id, email, created_at) values (?, 'late@example.org', now())", [user.id])
  const added = await rowsGoingWith('users', user.id)
  await runJobs()
  t.same(await tablesLeft(added), [])
})

/** The names in docs/operate/users.md of the rows that link to a user. */
const WORDS: { readonly [link: string]: RegExp } = {
  'user_trigrams.user_id': /the index by which searches find the user/,
  'ssh_keys.user_id': /SSH keys/,
  'emails.user_id': /further mail addresses/,
  'access_tokens.user_id': /personal access tokens and the private token/,
  'user_uses.user_id': /the time of the last use/,
  'sessions.user_id': /sessions/,
  'oauth_applications.user_id': /OAuth applications of the user/,
  'oauth_grants.user_id': /access that the user granted to others/,
  'identities.user_id': /identities/,
  'scim_users.user_id': /what a directory knows about the user/,
  'scim_group_members.user_id': /what a directory knows about the user/,
  'authenticator_apps.user_id': /second factors/,
  'passkeys.user_id': /second factors/,
  'recovery_codes.user_id': /second factors/,
  'namespaces.owner_id': /the namespace, whose name is free again/,
  'members.user_id': /memberships of other projects and of groups/,
  'access_requests.user_id': /requests for access/,
  'invitations.user_id': /invitations that the user sent/,
  'projects.creator_id': /projects that the user created elsewhere; they have no creator then/,
  'deploy_keys.user_id': /deploy keys that the user added; they still open their projects/,
  'project_stars.user_id': /stars/,
  'notes.author_id': /notes and comments/,
  'notes.updated_by_id': /notes of others that the user has edited/,
  'award_emoji.user_id': /award emoji/,
  'todos.user_id': /to-dos of the user/,
  'todos.author_id': /to-dos that the user caused/,
  'participants.user_id': /participation/,
  'snippets.author_id': /snippets/,
  'activity_events.author_id': /the user's entries in the activity of projects/,
  'archived_files.author_id': /also those in \[old records\]/,
  'pipelines.user_id': /pipelines, builds and deployments in other projects; their `user` is null/,
  'commit_statuses.user_id': /statuses that the user gave to commits; their `author` is null/,
  'deployments.user_id': /pipelines, builds and deployments in other projects; their `user` is null/,
  'builds.user_id': /pipelines, builds and deployments in other projects; their `user` is null/,
  'ref_changes.user_id': /pushes to other projects/,
  'issues.author_id': /issues of the user, with everything that belongs to them/,
  'issues.assignee_id': /issues of others; they lose the user as assignee and editor/,
  'issues.updated_by_id': /issues of others; they lose the user as assignee and editor/,
  'subscriptions.user_id': /subscriptions/,
  'notification_settings.user_id': /notification settings/,
  'mails.author_id': /mails that the user caused, for 30 days/,
  'mail_deliveries.user_id': /mails to the user/,
  'sign_in_addresses.user_id': /the networks of the sign-ins/,
  'timelogs.user_id': /time that the user logged on issues of others/,
  'lfs_locks.user_id': /locks of files in LFS/,
  'migrated_people.user_id': /what migrations know about the user/,
  'mirrors.user_id': /mirrors that run in the user's name; they stop/,
  'pipeline_schedules.user_id': /schedules of pipelines/,
  'merge_requests.author_id': /merge requests of the user/,
  'merge_requests.assignee_id': /merge requests of others; they lose the user as assignee, editor and merger/,
  'merge_requests.updated_by_id': /merge requests of others; they lose the user as assignee, editor and merger/,
  'merge_requests.merge_user_id': /merge requests of others; they lose the user as assignee, editor and merger/,
  'merge_intents.user_id': /running merges/,
  'audit_events.actor_id': /events of the audit/
}

t.test('docs/operate/users.md lists what happens to each kind of row', async t => {
  const text = readFileSync(join(root, 'docs/operate/users.md'), 'utf8')
  const table = text.slice(text.indexOf('| Deleted with the user | Stays |')).split('\n\n')[0] ?? ''
  const column = (at: number) =>
    table
      .split('\n')
      .map(line => line.split(' | ')[at] ?? '')
      .join('\n')
  for (const { table: name, link } of linksToUsers) {
    const words = WORDS[`${name}.${link.column}`]
    if (!words) t.fail(`docs/operate/users.md has no words for ${name}.${link.column}: add them there and to WORDS`)
    else t.match(column(goesWith(link) ? 0 : 1), words)
  }
})

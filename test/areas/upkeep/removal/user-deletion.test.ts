// Deletes a user and removes a project: what is removed, what stays, and the job that removes the rest.
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { openChanges, settleChanges } from '../../../../src/areas/code/refs/ref-changes.js'
import { applyRefChange } from '../../../../src/areas/code/refs/ref-effects.js'
import { personalProjects } from '../../../../src/areas/ground/activity/project-snapshots.js'
import { beginSession, byPassword } from '../../../../src/areas/people/credentials/credentials.js'
import { insertMember } from '../../../../src/areas/people/members/members.js'
import { addEmail } from '../../../../src/areas/people/users/emails.js'
import { insertIdentities } from '../../../../src/areas/people/users/identities.js'
import { addKey } from '../../../../src/areas/people/users/keys.js'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { removeProjects } from '../../../../src/areas/upkeep/removal/project-removal.js'
import { unfinishedRemovals } from '../../../../src/areas/upkeep/removal/unfinished-removals.js'
import { deletionOf } from '../../../../src/areas/upkeep/removal/user-deletion.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { Namespace } from '../../../../src/db/models/index.js'
import { removeRepository } from '../../../../src/git/repository/repository.js'
import { openArtifact } from '../../../../src/storage/artifacts.js'
import { appendTrace, traceSize } from '../../../../src/storage/traces.js'
import { testApp } from '../../../helpers/app.js'
import { someOrigin, type TestProject, type TestUser } from '../../../helpers/factory.js'
import { waitingEvents } from '../../../helpers/published.js'
import { newKey } from '../../../helpers/ssh-keys.js'
import t from '../../../helpers/tap.js'
import { beginBuild, endBuild, makePipeline } from '../../ci/builds/make-builds.js'

const CI = 'one:\n  script: [make]\n  artifacts: {paths: [a]}\n'

const count = async (sql: string, ...values: (string | number)[]) =>
  Number((await row<{ total: number }>(`select count(*) as total from ${sql}`, values))?.total)

async function pathOf(project: TestProject): Promise<string> {
  const found = await row<{ storage: string }>('select storage from projects where id = ?', [project.id])
  return repositoryPath({ id: project.id, storage: found?.storage ?? '' })
}

const remove = async (owner: TestUser) => removeProjects(await personalProjects(owner.id), someOrigin)
const later = () => new Date(Date.now() + 60_000)

t.test('DELETE /users/:id', async t => {
  const app = await testApp(t)
  const admin = app.as(await app.make.admin())
  const user = await app.make.user()
  const other = await app.make.user()
  const own = await app.make.project({ owner: user })
  const shared = await app.make.project({ owner: other })
  await app.make.member(shared, 40, user)
  // A pipeline of the user in a project that stays.
  const [build] = await makePipeline({ ...shared, owner: user }, CI)
  if (!build) throw new Error('no build')
  const key = await addKey(user, { title: 'k', key: newKey() }, someOrigin)
  await addEmail(user, { email: 'other@example.org' }, someOrigin)
  await insertIdentities([{ userId: user.id, provider: 'ldap', externUid: 'cn' }])
  const token = await app.make.token(user)
  await beginSession(byPassword({ ...user }), { address: '127.0.0.1', userAgent: 'test' })
  const shown = (await admin.get(`/users/${user.id}`)).json()

  t.test('the summary lists what would be removed and what would stay', async t => {
    t.same(await deletionOf(user), {
      only_owner_of: [],
      last_admin: false,
      goes: {
        projects: [own.path],
        keys: 1,
        emails: 1,
        tokens: 1,
        sessions: 1,
        oauth_applications: 0,
        oauth_grants: 0,
        identities: 1,
        memberships: 1,
        access_requests: 0,
        stars: 0,
        notes: 0,
        awards: 0,
        todos: 0,
        issues: 0,
        subscriptions: 0,
        notification_settings: 0,
        mails: 2,
        merge_requests: 0,
        pipeline_schedules: 0,
        snippets: 0,
        activities: 0,
        invitations: 0,
        lfs_locks: 0,
        migrated_people: 0,
        authenticator_apps: 0,
        recovery_codes: 0,
        passkeys: 0,
        archived_files: 0
      },
      stays: {
        mails: 0,
        deploy_keys: 0,
        projects: 0,
        mirrors: 0,
        pipelines: 1,
        builds: 1,
        commit_statuses: 0,
        deployments: 0,
        notes: 0,
        pushes: 1,
        issues: 0,
        timelogs: 0,
        merge_requests: 0,
        merge_intents: 0,
        audit_events: 2
      }
    })
    t.equal((await admin.get(`/users/${user.id}`)).statusCode, 200, 'the summary changes nothing')
  })

  t.test('returns the user, and null the second time', async t => {
    const res = await admin.delete(`/users/${user.id}`)
    t.equal(res.statusCode, 200)
    t.same(res.json(), shown)
    const again = await admin.delete(`/users/${user.id}`)
    t.equal(again.statusCode, 200)
    t.equal(again.json(), null)
    t.equal((await admin.delete('/users/99999999999')).statusCode, 200)
    t.equal((await admin.delete('/users/abc')).statusCode, 404)
    t.equal((await admin.get(`/users/${user.id}`)).statusCode, 404)
    t.equal((await app.nobody.get('/user', { private_token: token })).statusCode, 401)
  })

  t.test('removes the records that belong to the user', async t => {
    for (const table of ['ssh_keys', 'emails', 'access_tokens', 'sessions', 'identities', 'members']) {
      t.equal(await count(`${table} where user_id = ?`, user.id), 0, table)
    }
    t.equal(await count('namespaces where owner_id = ?', user.id), 0)
    t.equal((await app.as(other).get(`/projects/${encodeURIComponent(own.path)}`)).statusCode, 404)
    t.equal((await admin.get(`/projects/${own.id}`)).statusCode, 404)
    t.equal(
      (await admin.post('/users', { ...user, password: 'long enough' })).statusCode,
      201,
      'the name is free again'
    )
  })

  t.test('publishes the user, and writes to the audit log', async t => {
    const { id, username, email } = user
    t.match(await waitingEvents('user.deleted'), [{ user: { id, username, email } }])
    t.match(await waitingEvents('key.removed'), [{ key: { id: key.id, key: 'ssh-ed25519 AAAA', username } }])
    t.match(await waitingEvents('project.deleted'), [
      { project: { id: own.id, path_with_namespace: own.path, owner_name: user.name, owner_email: email } }
    ])
    const found = await rows<{ action: string; changes: string }>(
      "select action, changes from audit_events where action in ('user.delete', 'project.delete') order by id"
    )
    t.same(
      found.map(({ action }) => action),
      ['project.delete', 'user.delete']
    )
    t.match(JSON.parse(found[1]?.changes ?? ''), { email: { before: user.email }, projects: { before: [own.path] } })
  })

  t.test('keeps pipelines, builds and pushes in other projects, but without the user', async t => {
    const res = await app.as(other).get(`/projects/${shared.id}/builds/${build.id}`)
    t.equal(res.statusCode, 200)
    t.equal(res.json().user, null)
    await app.runJobs()
    t.equal(await count('builds where id = ? and user_id is null', build.id), 1)
    t.equal(await count('pipelines where id = ? and user_id is null', build.pipelineId), 1)
    for (const table of ['builds', 'pipelines', 'ref_changes']) {
      t.equal(await count(`${table} where user_id = ?`, user.id), 0, table)
    }
  })
})

t.test('the only owner of a group cannot be deleted', async t => {
  const app = await testApp(t)
  const admin = app.as(await app.make.admin())
  const [user, second] = [await app.make.user(), await app.make.user()]
  const group = await Namespace.create({ kind: 'group', ownerId: null, name: 'Group', path: 'the-group' })
  const own = (userId: number) => insertMember({ type: 'namespace', id: group.id }, userId, 50)
  await own(user.id)
  t.same((await deletionOf(user)).only_owner_of, ['the-group'])
  const res = await admin.delete(`/users/${user.id}`)
  t.equal(res.statusCode, 200)
  t.equal(res.json().id, user.id)
  t.equal((await admin.get(`/users/${user.id}`)).statusCode, 200)
  await own(second.id)
  t.equal((await admin.delete(`/users/${user.id}`)).json().id, user.id)
  t.equal((await admin.get(`/users/${user.id}`)).statusCode, 404)
  t.equal(await count("members where source_type = 'namespace' and source_id = ?", group.id), 1)
})

t.test('a removed project', async t => {
  const app = await testApp(t)

  t.test('leaves nothing after its job has run, and the job may run again', async t => {
    const owner = await app.make.user()
    const project = await app.make.project({ owner })
    const [build] = await makePipeline(project, CI)
    if (!build) throw new Error('no build')
    await endBuild(build, { trace: 'done', artifacts: Buffer.from('archive') })
    const path = await pathOf(project)
    const key = { build: build.id, attempt: 1 }
    t.ok(existsSync(path) && (await openArtifact(key).then(found => found?.stream.destroy())))
    await remove(owner)
    t.equal(await count('project_removals where project_id = ?', project.id), 1)
    t.ok((await app.runJobs()).includes('project.remove'))
    for (const table of ['builds', 'pipelines', 'ref_changes', 'members', 'project_removals']) {
      const column = table === 'members' ? "source_type = 'project' and source_id" : 'project_id'
      t.equal(await count(`${table} where ${column} = ?`, project.id), 0, table)
    }
    t.notOk(existsSync(path))
    t.equal(await openArtifact(key), undefined)
    t.equal(await traceSize(key), 0)
    await execute(
      "insert into jobs (queue, name, payload, state, run_at, created_at) values ('maintenance', 'project.remove', ?, 'ready', now(), now())",
      [JSON.stringify({ projectId: project.id })]
    )
    t.same(await app.runJobs(), ['project.remove'])
    t.equal(await count("jobs where state = 'dead' or attempts > 0"), 0)
  })

  t.test('cancels running builds, and waits for them before it removes their files', async t => {
    const owner = await app.make.user()
    const project = await app.make.project({ owner })
    const [running, waiting] = await makePipeline(project, `${CI}two:\n  script: [make]\n`)
    if (!running || !waiting) throw new Error('no builds')
    await beginBuild(running)
    await remove(owner)
    await app.runJobs()
    t.same(
      (await rows<{ status: string }>('select status from builds where project_id = ?', [project.id])).map(
        ({ status }) => status
      ),
      ['canceled', 'canceled']
    )
    // The runner writes this before it notices that the build was canceled.
    await appendTrace({ build: running.id, attempt: 1 }, Buffer.from('last words'))
    await execute('update builds set finished_at = date_sub(finished_at, interval 1 minute) where project_id = ?', [
      project.id
    ])
    t.ok((await app.runJobs({ until: later() })).includes('project.remove'))
    t.equal(await count('builds where project_id = ?', project.id), 0)
    t.equal(await traceSize({ build: running.id, attempt: 1 }), 0)
    t.equal(await count("jobs where state = 'dead'"), 0)
  })

  t.test('settles a push that ends afterwards, and creates no pipeline for it', async t => {
    const owner = await app.make.user()
    const project = await app.make.project({ owner })
    await app.make.file(project, '.gitstead-ci.yml', CI)
    const [change] = await rows<{ id: number; new_id: string }>(
      'select id, new_id from ref_changes where project_id = ?',
      [project.id]
    )
    const moves = [{ ref: 'refs/heads/more', old: '0'.repeat(40), new: change?.new_id ?? '' }]
    const open = await openChanges(project, owner, 'push', moves)
    await remove(owner)
    await settleChanges(project, open, [{ ref: 'refs/heads/more', ok: true }])
    await applyRefChange(open[0]?.id ?? 0)
    await app.runJobs()
    t.equal(await count('pipelines where project_id = ?', project.id), 0)
    t.equal(await count('ref_changes where project_id = ?', project.id), 0)
    t.equal(await count("jobs where state = 'dead' or (name <> 'hook.deliver' and attempts > 0)"), 0)
  })

  t.test('gets a new job when its job is lost', async t => {
    const owner = await app.make.user()
    const project = await app.make.project({ owner })
    const path = await pathOf(project)
    await remove(owner)
    const notes: string[] = []
    const run = (dryRun: boolean) => {
      notes.splice(0)
      const signal = new AbortController().signal
      return unfinishedRemovals.run({ dryRun, signal, count: () => undefined, note: text => notes.push(text) })
    }
    await execute('update project_removals set created_at = date_sub(created_at, interval 2 hour)')
    await run(false)
    t.same(notes, [], 'a pending removal is not lost')
    await execute("delete from jobs where name = 'project.remove'")
    await run(true)
    t.same(notes, [project.path])
    t.notOk((await app.runJobs()).includes('project.remove'), 'a dry run changes nothing')
    await run(false)
    t.same(notes, [project.path])
    t.ok((await app.runJobs()).includes('project.remove'))
    t.notOk(existsSync(path))
    t.equal(await count('project_removals'), 0)
  })

  t.test('leaves no repository on the disk, even when the first try was killed', async t => {
    const project = await app.make.project()
    const path = await pathOf(project)
    renameSync(path, `${path}.removed-0123`)
    mkdirSync(`${path}.removed-4567`)
    await removeRepository(path)
    t.same(readdirSync(dirname(path)), [])
    await removeRepository(path)
    await removeRepository('/nowhere/at/all.git')
  })
})

t.test('DELETE /users/:id returns the user once to concurrent requests', async t => {
  const app = await testApp(t)
  const admin = app.as(await app.make.admin())
  const { id } = await app.make.user()
  const answers = await Promise.all([1, 2, 3, 4].map(() => admin.delete(`/users/${id}`)))
  t.strictSame(
    answers.map(res => res.statusCode),
    [200, 200, 200, 200]
  )
  t.match(
    answers.map(res => res.json()).filter(body => body !== null),
    [{ id }]
  )
  t.equal(answers.filter(res => res.json() === null).length, 3)
})

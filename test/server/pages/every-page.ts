// A path for each kind of page, with records to show. The browser tests open all of them; add a line for a new kind of page.
import { execute, row } from '../../../src/db/connect/sql.js'
import { appendTrace } from '../../../src/storage/traces.js'
import { anchorOf } from '../../../src/text/diff.js'
import { beginBuild, endBuild, makePipeline, pipelineOf } from '../../areas/ci/builds/make-builds.js'
import { runBuild } from '../../areas/ci/environments/make-environments.js'
import type { TestApp } from '../../helpers/app.js'
import type { TestUser } from '../../helpers/factory.js'
import { newKey } from '../../helpers/ssh-keys.js'
import { zipOf } from './ci/archives.js'

export interface Specimens {
  /** The owner of the project, who is signed in. */
  readonly user: TestUser
  /** NAMESPACE/PROJECT. */
  readonly project: string
  readonly group: string
  readonly sha: string
  /** Ids, or numbers within the project. */
  readonly issue: number
  readonly issueId: number
  readonly note: number
  /** On the commit. */
  readonly comment: number
  readonly label: number
  readonly mergeRequest: number
  readonly snippet: number
  readonly ownSnippet: number
  readonly board: number
  readonly pipeline: number
  readonly build: number
  readonly runningBuild: number
  readonly environment: number
  readonly hook: number
  readonly mirror: number
}

const inProject =
  (rest: string) =>
  ({ project }: Specimens): string =>
    `/${project}${rest}`

/** The path of each kind of page. */
export const PAGES: Readonly<Record<string, (its: Specimens) => string>> = {
  home: () => '/',
  'public projects': () => '/explore',
  'own projects': () => '/dashboard/projects',
  'starred projects': () => '/dashboard/starred',
  'own groups': () => '/dashboard/groups',
  'own issues': () => '/dashboard/issues',
  'own merge requests': () => '/dashboard/merge_requests',
  todos: () => '/dashboard/todos',
  'new project': () => '/projects/new',
  'new group': () => '/groups/new',
  search: () => '/search?q=rests',
  user: ({ user }) => `/${user.username}`,
  group: ({ group }) => `/groups/${group}`,
  'own activity': () => '/dashboard/activity',
  'group activity': ({ group }) => `/groups/${group}/activity`,
  'group members': ({ group }) => `/groups/${group}/group_members`,
  'group issues': ({ group }) => `/groups/${group}/issues`,
  'group settings': ({ group }) => `/groups/${group}/settings`,
  'group notifications': ({ group }) => `/groups/${group}/notification_setting`,

  project: inProject(''),
  'new fork': inProject('/forks/new'),
  'new upload': inProject('/uploads/new'),
  activity: inProject('/activity'),
  'project members': inProject('/project_members'),
  settings: inProject('/settings'),
  'protected branches': inProject('/settings/branches'),
  'deploy keys': inProject('/settings/deploy_keys'),
  hooks: inProject('/settings/hooks'),
  'edit hook': ({ project, hook }) => `/${project}/settings/hooks/${hook}`,
  mirrors: inProject('/settings/mirrors'),
  mirror: ({ project, mirror }) => `/${project}/settings/mirrors/${mirror}`,
  services: inProject('/settings/services'),
  'mail on push': inProject('/settings/services/emails-on-push'),
  'issue tracker': inProject('/settings/services/custom-issue-tracker'),
  variables: inProject('/settings/variables'),
  'edit variable': inProject('/settings/variables/KEY?scope=*'),
  runners: inProject('/settings/runners'),
  triggers: inProject('/settings/triggers'),
  'project notifications': inProject('/notification_setting'),
  folder: inProject('/tree/master'),
  file: inProject('/blob/master/src/play.ts#L3-5'),
  'rendered file': inProject('/blob/master/README.md'),
  blame: inProject('/blame/master/src/play.ts'),
  'code search': inProject('/search?q=play'),
  'edit file': inProject('/edit/master/src/play.ts'),
  'new file': inProject('/new/master/src'),
  'delete file': inProject('/delete/master/src/play.ts'),
  commits: inProject('/commits/master'),
  'commits of a file': inProject('/commits/master/README.md'),
  commit: ({ project, sha }) => `/${project}/commit/${sha}`,
  compare: inProject('/compare'),
  comparison: inProject('/compare/v1.0...rests'),
  'comparison in two columns': inProject('/compare/v1.0...rests?view=parallel'),
  branches: inProject('/branches'),
  tags: inProject('/tags'),
  tag: inProject('/tags/v1.0'),
  release: inProject('/releases/v1.0'),
  issues: inProject('/issues'),
  issue: ({ project, issue }) => `/${project}/issues/${issue}`,
  'new issue': inProject('/issues/new'),
  'edit issue': ({ project, issue }) => `/${project}/issues/${issue}/edit`,
  emoji: ({ project, issueId }) => `/${project}/notes/issues/${issueId}/0/awards`,
  'whole note': ({ project, issueId, note }) => `/${project}/notes/issues/${issueId}/${note}/whole`,
  'whole comment': ({ project, sha, comment }) => `/${project}/commit/${sha}/notes/${comment}/whole`,
  'edit note': ({ project, issueId, note }) => `/${project}/notes/issues/${issueId}/${note}/edit`,
  labels: inProject('/labels'),
  'edit label': ({ project, label }) => `/${project}/labels/${label}/edit`,
  milestones: inProject('/milestones'),
  milestone: inProject('/milestones/1'),
  'new milestone': inProject('/milestones/new'),
  'edit milestone': inProject('/milestones/1/edit'),
  boards: inProject('/boards'),
  board: ({ project, board }) => `/${project}/boards/${board}`,
  'merge requests': inProject('/merge_requests'),
  'merge request': ({ project, mergeRequest }) => `/${project}/merge_requests/${mergeRequest}`,
  'merge request commits': ({ project, mergeRequest }) => `/${project}/merge_requests/${mergeRequest}/commits`,
  'merge request changes': ({ project, mergeRequest }) => `/${project}/merge_requests/${mergeRequest}/diffs`,
  'comment on a line': ({ project, mergeRequest }) =>
    `/${project}/merge_requests/${mergeRequest}/diffs?view=parallel&note=${anchorOf('src/rest.ts')}-R2`,
  'merge request pipelines': ({ project, mergeRequest }) => `/${project}/merge_requests/${mergeRequest}/pipelines`,
  'new merge request': inProject('/merge_requests/new'),
  'prepared merge request': inProject('/merge_requests/new?merge_request[source_branch]=chords'),
  'edit merge request': ({ project, mergeRequest }) => `/${project}/merge_requests/${mergeRequest}/edit`,
  snippets: inProject('/snippets'),
  snippet: ({ project, snippet }) => `/${project}/snippets/${snippet}`,
  'new snippet': inProject('/snippets/new'),
  'edit snippet': ({ project, snippet }) => `/${project}/snippets/${snippet}/edit`,
  'own snippets': () => '/snippets',
  'public snippets': () => '/explore/snippets',
  'new own snippet': () => '/snippets/new',
  'own snippet': ({ ownSnippet }) => `/snippets/${ownSnippet}`,
  'edit own snippet': ({ ownSnippet }) => `/snippets/${ownSnippet}/edit`,
  pipelines: inProject('/pipelines'),
  pipeline: ({ project, pipeline }) => `/${project}/pipelines/${pipeline}`,
  'new pipeline': inProject('/pipelines/new'),
  builds: inProject('/builds'),
  build: ({ project, build }) => `/${project}/builds/${build}`,
  'running build': ({ project, runningBuild }) => `/${project}/builds/${runningBuild}`,
  artifacts: ({ project, build }) => `/${project}/builds/${build}/artifacts/browse`,
  'folder of artifacts': ({ project, build }) => `/${project}/builds/${build}/artifacts/browse/out/`,
  environments: inProject('/environments'),
  environment: ({ project, environment }) => `/${project}/environments/${environment}`,

  account: () => '/profile',
  password: () => '/profile/password',
  'second factor': () => '/profile/two_factor',
  'new app': () => '/profile/two_factor/app',
  keys: () => '/profile/keys',
  emails: () => '/profile/emails',
  identities: () => '/profile/identities',
  notifications: () => '/profile/notifications',
  'access tokens': () => '/profile/personal_access_tokens',
  applications: () => '/profile/applications',
  sessions: () => '/profile/sessions'
}

/** Routes that answer with something else than a page, or that lead to one. */
export const OTHER = [
  /\/raw(\/|$)/,
  /\.atom$/,
  /\/builds\/:build_id\/(trace|artifacts\/(download|file))/,
  /\/commits$/,
  /\/notes\/(:kind\/:target\/)?:note$/,
  /\/switch$/,
  /\/merge_requests\/:iid\/changes$/,
  // It needs a sign-in with a provider just before: provider-sign-in.test.ts opens it.
  /\/identities\/link$/
]

const README = `# Compiler

Turns *notes* into music. See [the manual](docs/manual.md) and #1.

| note | frequency |
|---|---|
| a | 440 Hz |

- [x] parse
- [ ] play

\`\`\`ts
export const play = (note: string): void => console.log(note)
\`\`\`
`

const CODE = `// Plays notes.
export interface Note {
  readonly pitch: number
  readonly length: number
}

export function play(notes: readonly Note[]): void {
  for (const { pitch, length } of notes) console.log(\`\${pitch} for \${length} ms\`)
}
`

const CI = `stages: [build, test, deploy]
compile: { stage: build, script: [make], artifacts: { paths: [out] } }
unit: { stage: test, script: [make test] }
lint: { stage: test, script: [make lint], allow_failure: true }
staging: { stage: deploy, script: [make deploy], environment: staging }
production: { stage: deploy, script: [make deploy], when: manual, environment: production }
`

const HOSTILE_CI = `stages: ['<img src=x onerror=alert(8)>', test, deploy]
'"><img src=x onerror=alert(9)>': { stage: '<img src=x onerror=alert(8)>', script: [make], artifacts: { paths: [out] } }
${CI.split('\n').slice(2).join('\n')}`

const TRACE = [
  'Running with the built-in runner',
  'section_start:1700000000:fetch\r\x1b[0K\x1b[36;1mFetching the commit\x1b[0m',
  'HEAD is now at 3f1c2a9b Play notes',
  'section_end:1700000002:fetch\r\x1b[0K',
  'section_start:1700000002:script\r\x1b[0K\x1b[36;1mRunning the script\x1b[0m',
  '\x1b[32m$ make\x1b[0m',
  'cc -O2 -c play.c',
  'play.c:12:3: \x1b[35mwarning:\x1b[0m unused variable \x1b[1mpitch\x1b[0m',
  '\x1b[30;42m PASS \x1b[0m 41 tests, \x1b[31m1 failed\x1b[0m, \x1b[33m2 skipped\x1b[0m, see https://ci.example.org/report?a=1&b=2',
  'section_end:1700000009:script\r\x1b[0K',
  'Done: exit code 0',
  ''
].join('\n')

/** A text that would be a script if a page did not escape it, and that is too long for any line. */
const HOSTILE = `"'><img src=x onerror=alert(1)><script>alert(2)</script>\u202e${'x'.repeat(120)}`
const HOSTILE_MARKDOWN = `[a](javascript:alert(3)) ![b](https://evil.example/b.png) <svg onload=alert(4)> ${HOSTILE}\n\n\`\`\`"><b>\n${HOSTILE}\n\`\`\`\n`

/** Makes a project that has something on each page. With `hostile`, an attacker chose all names and texts. */
export async function makeSpecimens(app: TestApp, { hostile = false } = {}): Promise<Specimens> {
  const text = (plain: string) => (hostile ? HOSTILE : plain)
  const markdown = (plain: string) => (hostile ? HOSTILE_MARKDOWN + plain : plain)
  const [username, otherName, place] = hostile ? ['mallory', 'eve', 'x'.repeat(100)] : ['ada', 'grace', 'analytical']
  const user = await app.make.user({ username, name: text('Ada Lovelace') })
  const other = await app.make.user({ username: otherName, name: text('Grace Hopper') })
  const group = await app.make.group({ path: place, owner: user, visibilityLevel: 20 })
  const project = await app.make.project({
    owner: user,
    group,
    name: 'Compiler',
    path: 'compiler',
    visibility_level: 20
  })
  await app.make.member(project, 30, other)
  await app.make.file(project, 'docs/manual.md', 'x')
  await app.make.file(project, 'README.md', markdown(README))
  await app.make.file(project, 'src/play.ts', hostile ? `// ${HOSTILE}\n${CODE}` : CODE)
  if (hostile) {
    await app.make.file(project, `src/"'><img src=x onerror=alert(5)>${'y'.repeat(150)}.ts`, HOSTILE)
    await app.make.branch(project, `"'><img/src=x/onerror=alert(6)>${'z'.repeat(150)}`)
  }
  const builds = await makePipeline(project, hostile ? HOSTILE_CI : CI)
  const [compile, unit, lint, staging] = builds
  if (!compile || !unit || !lint || !staging) throw new Error('no builds')
  await endBuild(compile, {
    trace: text('') + TRACE,
    artifacts: await zipOf({ 'out/play.o': 'x', 'report.html': '<p>', [text('a')]: 'x' })
  })
  await endBuild(unit, { trace: TRACE })
  await endBuild(lint, { status: 'failed', trace: text('no') })
  await runBuild(staging)
  for (const name of ['notes', 'rests', 'chords']) await app.make.file(project, `docs/${name}.md`, 'x')
  const [running] = await pipelineOf(project)
  if (!running) throw new Error('no build')
  const { attempt } = await beginBuild(running)
  await appendTrace({ build: running.id, attempt }, Buffer.from(TRACE.slice(0, 300)))
  const [owner, member] = [app.as(user), app.as(other)]
  const make = async (who: typeof owner, path: string, body: object): Promise<{ id: number; iid: number }> => {
    const answer = await who.post(`/projects/${project.id}/${path}`, body)
    if (answer.statusCode !== 201) throw new Error(`${path}: ${answer.body}`)
    return answer.json()
  }
  await owner.put(`/projects/${project.id}`, { snippets_enabled: true })
  const label = await make(owner, 'labels', {
    name: hostile ? '"><img src=x onerror=alert(7)>' : 'bug',
    color: '#cc0033'
  })
  const milestone = await make(owner, 'milestones', {
    ...{ title: text('First concert'), description: markdown('Play.'), due_date: '2100-01-01' }
  })
  const { id: board } = (await owner.get(`/projects/${project.id}/boards`)).json()[0]
  await make(owner, `boards/${board}/lists`, { label_id: label.id })
  const issue = await make(member, 'issues', {
    title: text('Rests are too short'),
    description: markdown('Play `r4`:\n\n```ts\nplay([])\n```\n\nSee @ada.'),
    ...(hostile ? {} : { labels: 'bug' }),
    ...{ milestone_id: milestone.id, assignee_id: user.id }
  })
  const note = await make(owner, `issues/${issue.id}/notes`, { body: markdown('I see it, too. :thumbsup:') })
  await app.make.branch(project, 'rests')
  await app.make.branch(project, 'chords')
  await make(owner, 'repository/tags', {
    tag_name: 'v1.0',
    ref: 'master',
    message: text('Listen'),
    release_description: markdown('**Listen** to #1.')
  })
  await app.make.file(project, 'src/rest.ts', CODE, 'rests')
  await app.make.file(project, 'src/chord.ts', CODE, 'chords')
  const mergeRequest = await make(member, 'merge_requests', {
    ...{ title: text('Play rests'), description: markdown('Closes #1') },
    ...{ source_branch: 'rests', target_branch: 'master' },
    ...{ assignee_id: user.id, milestone_id: milestone.id, labels: 'bug' }
  })
  await make(owner, `merge_requests/${mergeRequest.id}/notes`, { body: markdown('Looks good.') })
  const snippet = await make(owner, 'snippets', {
    ...{ title: text('A scale'), file_name: 'scale.ts', code: text(CODE), visibility_level: 20 }
  })
  const hook = await make(owner, 'hooks', { url: `https://ci.example.org/${encodeURIComponent(text('hook'))}?a="'<b>` })
  const mirror = await make(owner, 'remote_mirrors', {
    ...{ url: `ssh://git@git.example.org/${encodeURIComponent(text('mirror'))}.git`, enabled: false },
    ...{ branch_patterns: ['main', `${text('release').replace(/[^\w-]/g, '')}/*`] }
  })
  await make(owner, 'variables', { key: 'KEY', value: text('value') })
  await make(owner, 'triggers', {})
  await make(owner, 'deploy_keys', { title: hostile ? HOSTILE.replace('\u202e', '') : 'The mirror', key: newKey() })
  const own = await owner.post('/snippets', {
    ...{ title: text('Mine'), file_name: 'a.md', content: markdown(README), visibility: 'public' }
  })
  if (own.statusCode !== 201) throw new Error(`snippets: ${own.body}`)
  await app.runJobs()
  await execute(
    `update pipelines set status = if(id % 4, 'success', 'failed'), duration = 150 + id * 37 % 90
     where project_id = ? and status <> 'running'`,
    [project.id]
  )
  await owner.post(`/projects/${project.id}/repository/commits/${compile.sha}/comments`, { note: 'Here, too.' })
  const { id: comment = 0 } =
    (await row<{ id: number }>("select max(id) as id from notes where noteable_type = 'Commit'")) ?? {}
  return {
    ...{ user, project: project.path, group: group.path, sha: compile.sha },
    ...{ issue: issue.iid, issueId: issue.id, note: note.id, comment, label: label.id, mergeRequest: mergeRequest.iid },
    ...{ snippet: snippet.id, ownSnippet: own.json().id, board, hook: hook.id, mirror: mirror.id },
    ...{ pipeline: compile.pipelineId, build: compile.id, runningBuild: running.id },
    environment:
      (await row<{ id: number }>('select max(id) as id from environments where project_id = ?', [project.id]))?.id ?? 0
  }
}

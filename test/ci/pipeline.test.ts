import { pipelineStatus, type StageCounts, stageToStart } from '../../src/ci/advance.js'
import { parseConfig } from '../../src/ci/config.js'
import type { BuildWhen } from '../../src/ci/config-types.js'
import { type PlanContext, planPipeline } from '../../src/ci/plan.js'
import {
  aggregateStatus,
  BUILD_STATUSES,
  type BuildStatus,
  countBuilds,
  isComplete,
  type JudgedBuild,
  latestBuilds
} from '../../src/ci/status.js'
import { chooseVariables } from '../../src/ci/variable-scopes.js'
import { buildVariables, expand, slugify, type VariablesInput } from '../../src/ci/variables.js'
import t from '../helpers/tap.js'

/** The same rules a second time, written as counts, in the order of the requirement. */
function expectedStatus(builds: JudgedBuild[]): BuildStatus {
  if (builds.length === 0) return 'skipped'
  const left = builds.filter(b => !(b.allowFailure && ['failed', 'canceled'].includes(b.status)))
  const n = left.length
  if (n === 0) return 'success'
  const count = (...statuses: BuildStatus[]) => left.filter(build => statuses.includes(build.status)).length
  const rows: [boolean, BuildStatus][] = [
    [count('skipped') === n, 'skipped'],
    [count('success') === n, 'success'],
    [count('created') === n, 'created'],
    [count('success') + count('skipped') === n, 'success'],
    [count('success') + count('skipped') + count('canceled') === n, 'canceled'],
    [count('created') + count('skipped') + count('pending') === n, 'pending'],
    [count('running') + count('pending') + count('created') > 0, 'running'],
    [true, 'failed']
  ]
  return rows.find(([holds]) => holds)?.[1] ?? 'failed'
}

t.test('aggregateStatus is right for every set of up to four builds', async t => {
  const kinds = BUILD_STATUSES.flatMap(status => [true, false].map(allowFailure => ({ status, allowFailure })))
  let sets = 0
  const walk = (builds: JudgedBuild[], from: number) => {
    sets++
    const status = aggregateStatus(builds)
    if (status !== expectedStatus(builds)) t.fail(`${JSON.stringify(builds)} gives ${status}`)
    if (builds.length === 4) return
    kinds.slice(from).forEach((kind, index) => void walk([...builds, kind], from + index))
  }
  walk([], 0)
  t.equal(sets, 3060)
  t.strictSame(BUILD_STATUSES.filter(isComplete), ['success', 'failed', 'canceled', 'skipped'])
})

t.test('latestBuilds returns the newest build of each name', async t => {
  const builds = [3, 1, 2].map(id => ({ id, name: id === 2 ? 'b' : 'a' }))
  t.strictSame(latestBuilds(builds), [
    { id: 2, name: 'b' },
    { id: 3, name: 'a' }
  ])
})

interface StageBuild extends JudgedBuild {
  readonly id: number
  readonly name: string
  readonly stageIndex: number
  status: BuildStatus
  readonly when: BuildWhen
  readonly allowFailure: boolean
}

/** A build whose status changes while the test runs. */
type MovingBuild = { -readonly [Field in keyof StageBuild]: StageBuild[Field] }

interface Advance {
  readonly enqueue: number[]
  readonly skip: number[]
  readonly status: BuildStatus
}

/** The stages of a pipeline as its counts show them. */
function stagesOf(builds: readonly StageBuild[]): StageCounts[] {
  const latest = latestBuilds(builds)
  return [...new Set(latest.map(build => build.stageIndex))].map(position => ({
    position,
    counts: countBuilds(latest.filter(build => build.stageIndex === position))
  }))
}

/** Starts stages until no stage is due, as the product does with rows. */
function advance(builds: readonly StageBuild[]): Advance {
  const latest = latestBuilds(builds).map(build => ({ ...build }))
  const advanced: Advance = { enqueue: [], skip: [], status: 'created' }
  for (let start = stageToStart(stagesOf(latest)); start; start = stageToStart(stagesOf(latest))) {
    const { position, runs } = start
    for (const build of latest.filter(build => build.stageIndex === position && build.status === 'created')) {
      build.status = runs.includes(build.when) ? 'pending' : 'skipped'
      advanced[build.status === 'pending' ? 'enqueue' : 'skip'].push(build.id)
    }
  }
  return { ...advanced, status: pipelineStatus(stagesOf(latest)) }
}

/** The same from the builds themselves, without counts: the wording of the requirement. */
function expectedAdvance(builds: readonly StageBuild[]): Advance {
  const allowed: Record<BuildWhen, BuildStatus[]> = {
    on_success: ['success', 'skipped'],
    on_failure: ['failed'],
    always: ['success', 'failed', 'skipped'],
    manual: [],
    delayed: ['success', 'skipped']
  }
  const latest = latestBuilds(builds).map(build => ({ ...build }))
  const advanced: Advance = { enqueue: [], skip: [], status: 'created' }
  for (const stage of [...new Set(latest.map(build => build.stageIndex))].sort((a, b) => a - b)) {
    const earlier = latest.filter(build => build.stageIndex < stage)
    const prior = earlier.length === 0 ? 'success' : expectedStatus(earlier)
    if (!isComplete(prior)) continue
    for (const build of latest.filter(build => build.stageIndex === stage && build.status === 'created')) {
      const runs = allowed[build.when].includes(prior)
      build.status = runs ? 'pending' : 'skipped'
      advanced[runs ? 'enqueue' : 'skip'].push(build.id)
    }
  }
  return { ...advanced, status: expectedStatus(latest) }
}

t.test('advance starts or skips the builds of the next stage', async t => {
  const build = (id: number, stageIndex: number, over: Partial<StageBuild> = {}): StageBuild => {
    return { id, name: `job ${id}`, stageIndex, status: 'created', when: 'on_success', allowFailure: false, ...over }
  }
  const later = (['on_success', 'on_failure', 'always', 'manual'] as const).map((when, i) => build(i + 10, 5, { when }))
  const cases: Record<string, [earlier: StageBuild[], enqueue: number[], skip: number[], status: BuildStatus]> = {
    'nothing earlier': [[], [10, 12], [11, 13], 'pending'],
    success: [[build(1, 0, { status: 'success' })], [10, 12], [11, 13], 'running'],
    failure: [[build(1, 0, { status: 'failed' })], [11, 12], [10, 13], 'running'],
    'ignored failure': [[build(1, 0, { status: 'failed', allowFailure: true })], [10, 12], [11, 13], 'pending'],
    canceled: [[build(1, 0, { status: 'canceled' })], [], [10, 11, 12, 13], 'canceled'],
    skipped: [[build(1, 0, { status: 'skipped' })], [10, 12], [11, 13], 'pending'],
    running: [[build(1, 0, { status: 'running' })], [], [], 'running'],
    created: [[build(1, 0)], [1], [], 'pending'],
    'manual only': [[build(1, 0, { when: 'manual' })], [10, 12], [1, 11, 13], 'pending'],
    'retried with success': [
      [build(1, 0, { status: 'failed', name: 'a' }), build(2, 0, { status: 'success', name: 'a' })],
      [10, 12],
      [11, 13],
      'running'
    ],
    'failed stages in between': [
      [build(1, 0, { status: 'failed' }), build(2, 1), build(3, 2, { when: 'on_failure' })],
      [3],
      [2],
      'running'
    ]
  }
  for (const [name, [earlier, enqueue, skip, status]] of Object.entries(cases))
    t.strictSame(advance([...later, ...earlier]), { enqueue, skip, status }, name)
  t.strictSame(advance([]), { enqueue: [], skip: [], status: 'skipped' })
})

t.test('random pipelines keep all rules until they end', async t => {
  let seed = 1
  const next = (limit: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return Math.floor((seed / 2147483648) * limit)
  }
  const pick = <T>(choices: readonly T[]) => choices[next(choices.length)] as T
  const problems: string[] = []
  const step = (builds: MovingBuild[]) => {
    const { enqueue, skip, status } = advance(builds)
    const expected = expectedAdvance(builds)
    if (JSON.stringify(expected) !== JSON.stringify({ enqueue, skip, status }))
      problems.push('the counts lead to a different result')
    const byId = new Map(builds.map(build => [build.id, build]))
    for (const [ids, becomes] of [[enqueue, 'pending'] as const, [skip, 'skipped'] as const]) {
      for (const id of ids) {
        const build = byId.get(id)
        if (build?.status !== 'created') problems.push(`${id} left ${build?.status}`)
        else build.status = becomes
      }
    }
    for (const id of enqueue) {
      const stage = byId.get(id)?.stageIndex ?? 0
      if (builds.some(b => b.stageIndex < stage && !isComplete(b.status))) problems.push(`${id} started too early`)
    }
    if (status !== expectedStatus(latestBuilds(builds))) problems.push(`status ${status}`)
    const again = advance(builds)
    if (again.enqueue.length + again.skip.length > 0) problems.push('not stable')
  }
  for (let round = 0; round < 2000; round++) {
    const builds: MovingBuild[] = Array.from({ length: 1 + next(8) }, (_, id) => ({
      id,
      name: `job ${id}`,
      stageIndex: next(4),
      status: 'created',
      when: pick(['on_success', 'on_success', 'on_failure', 'always', 'manual'] as const),
      allowFailure: next(3) === 0
    }))
    step(builds)
    let retries = 0
    for (let moves = 0; builds.some(build => !isComplete(build.status)); moves++) {
      const over = latestBuilds(builds).filter(({ status }) => status === 'failed' || status === 'canceled')
      if (over.length > 0 && retries < 3 && next(4) === 0) {
        retries++
        builds.push({ ...pick(over), id: builds.length, status: 'pending' })
        for (const later of builds) if (later.status === 'skipped') later.status = pick(['created', 'skipped'] as const)
        step(builds)
        continue
      }
      const build = pick(builds.filter(build => build.status === 'pending' || build.status === 'running'))
      if (!build || moves > 100) {
        problems.push('stuck')
        break
      }
      if (build.status === 'pending') build.status = pick(['running', 'running', 'canceled'] as const)
      else build.status = pick(['success', 'success', 'failed', 'canceled'] as const)
      step(builds)
    }
    if (!isComplete(aggregateStatus(latestBuilds(builds)))) problems.push('no end')
  }
  t.strictSame(problems, [])
})

const context: PlanContext = {
  ref: 'master',
  tag: false,
  source: 'push',
  projectPath: 'group/project',
  commitMessage: 'Change',
  honourSkip: true
}

function planOf(text: string, over: Partial<PlanContext> = {}) {
  const { config, errors } = parseConfig(text)
  if (!config) throw new Error(errors.join('; '))
  return planPipeline(config, { ...context, ...over })
}

t.test('a plan contains everything that a build needs', async t => {
  const plan = planOf(`
before_script: [setup]
after_script: [clean]
variables: {A: b}
ship: {stage: deploy, script: ship, tags: [x], when: manual, allow_failure: true, environment: prod, except: [tags]}
test: {script: [one, two], image: node, services: [mysql], coverage: /\\d+/, artifacts: {paths: [out]}, cache: {paths: [c]}}
unit: {script: x, only: [tags]}
`)
  const unset = {
    needs: null,
    interruptible: false,
    timeout: null,
    resourceGroup: null,
    parallel: null,
    retry: null,
    startIn: null,
    trigger: null,
    allowFailureCodes: []
  }
  t.strictSame(plan, {
    kind: 'builds',
    onNewCommit: 'conservative',
    stopsOnFailure: false,
    name: null,
    stages: ['build', 'test', 'deploy'],
    builds: [
      {
        name: 'test',
        stage: 'test',
        stageIndex: 1,
        when: 'on_success',
        allowFailure: false,
        tagList: [],
        ...unset,
        environment: null,
        coverage: '\\d+',
        options: {
          script: ['setup', 'one', 'two'],
          afterScript: ['clean'],
          artifacts: {
            name: null,
            paths: ['out'],
            exclude: [],
            untracked: false,
            when: 'on_success',
            expireIn: null,
            expiry: null,
            dotenv: [],
            access: 'all'
          },
          dependencies: null,
          image: 'node',
          services: ['mysql'],
          caches: [
            {
              ...{ key: null, untracked: false, paths: ['c'] },
              ...{ policy: 'pull-push', when: 'on_success', fallbackKeys: [], unprotect: false }
            }
          ]
        },
        variables: [{ key: 'A', value: 'b' }]
      },
      {
        name: 'ship',
        stage: 'deploy',
        stageIndex: 2,
        when: 'manual',
        allowFailure: true,
        tagList: ['x'],
        ...unset,
        environment: { name: 'prod', url: null, action: 'start', onStop: null, autoStopIn: null, tier: null },
        coverage: null,
        options: {
          script: ['setup', 'ship'],
          afterScript: ['clean'],
          artifacts: null,
          dependencies: null,
          image: null,
          services: [],
          caches: []
        },
        variables: [{ key: 'A', value: 'b' }]
      }
    ]
  })
  t.strictSame(JSON.parse(JSON.stringify(plan)), plan)
})

t.test('planPipeline selects jobs by ref, source and commit message', async t => {
  const file =
    'a: {script: x, only: [tags]}\nb: {script: x, only: [triggers]}\nc: {script: x, only: [/^v/], except: [tags]}'
  const names = (over: Partial<PlanContext>) => {
    const plan = planOf(file, over)
    return plan.kind === 'builds' ? plan.builds.map(build => build.name).join('') : plan.kind
  }
  t.equal(names({}), 'empty')
  t.equal(names({ ref: 'v1', tag: true }), 'a')
  t.equal(names({ ref: 'v1' }), 'c')
  t.equal(names({ ref: 'v1', source: 'trigger' }), 'bc')
  t.equal(names({ ref: 'v1', commitMessage: 'Fix\n\nall [CI Skip] of it' }), 'skipped')
  t.equal(names({ commitMessage: '[skip ci]' }), 'skipped', 'the skip text counts before jobs are selected')
  t.equal(names({ ref: 'v1', commitMessage: '[ci skip]', honourSkip: false }), 'c')
  t.equal(names({ ref: 'v1', commitMessage: '[ci-skip] ci skip' }), 'c')
})

const input: VariablesInput = {
  build: {
    id: 7,
    name: 'rspec 1/2',
    stage: 'test',
    ref: 'Feature/ä-x-',
    tag: false,
    sha: 'a1b2c3d4e5'.repeat(4),
    beforeSha: null,
    manual: false,
    token: 'secret-token',
    repositoryUrl: 'http://gitlab-ci-token:secret-token@example.com/group/project.git',
    environment: null
  },
  commit: { message: 'Title\n\nBody\nmore', author: 'A <a@example.com>', timestamp: '2026-11-20T10:00:00Z' },
  pipeline: { id: 3, source: 'push' },
  project: {
    id: 5,
    path: 'project',
    namespace: 'group',
    name: 'The project',
    url: 'https://example.com/group/project',
    visibility: 'private',
    defaultBranch: 'master'
  },
  server: { name: 'Gitstead', version: '0.1.0', revision: 'abc', url: 'https://example.com' },
  runner: null,
  user: { id: 9, email: 'u@example.com', login: 'u', name: 'U' },
  configVariables: [],
  projectVariables: [],
  triggerVariables: []
}

function valuesOf(over: Partial<VariablesInput>) {
  const list = buildVariables({ ...input, ...over })
  t.equal(new Set(list.map(entry => entry.key)).size, list.length, 'each key once')
  return Object.fromEntries(list.map(entry => [entry.key, entry.value]))
}

t.test('variables have their old and new names', async t => {
  const values = valuesOf({})
  const pairs = {
    CI_BUILD_ID: 'CI_JOB_ID',
    CI_BUILD_NAME: 'CI_JOB_NAME',
    CI_BUILD_STAGE: 'CI_JOB_STAGE',
    CI_BUILD_TOKEN: 'CI_JOB_TOKEN',
    CI_BUILD_REF: 'CI_COMMIT_SHA',
    CI_BUILD_BEFORE_SHA: 'CI_COMMIT_BEFORE_SHA',
    CI_BUILD_REF_NAME: 'CI_COMMIT_REF_NAME',
    CI_BUILD_REF_SLUG: 'CI_COMMIT_REF_SLUG',
    CI_BUILD_REPO: 'CI_REPOSITORY_URL'
  }
  for (const [early, late] of Object.entries(pairs)) {
    t.ok(values[early], early)
    t.equal(values[early], values[late], late)
  }
  t.match(values, {
    CI: 'true',
    GITLAB_CI: 'true',
    CI_JOB_ID: '7',
    CI_COMMIT_SHORT_SHA: 'a1b2c3d4',
    CI_COMMIT_BEFORE_SHA: '0'.repeat(40),
    CI_COMMIT_REF_SLUG: 'feature---x',
    CI_COMMIT_BRANCH: 'Feature/ä-x-',
    CI_COMMIT_TITLE: 'Title',
    CI_COMMIT_DESCRIPTION: 'Body\nmore',
    CI_PIPELINE_ID: '3',
    CI_PIPELINE_URL: 'https://example.com/group/project/pipelines/3',
    CI_JOB_URL: 'https://example.com/group/project/builds/7',
    CI_API_V4_URL: 'https://example.com/api/v4',
    CI_PROJECT_NAME: 'project',
    CI_PROJECT_PATH: 'group/project',
    CI_SERVER_HOST: 'example.com',
    CI_SERVER_PORT: '443',
    GITLAB_USER_LOGIN: 'u'
  })
  for (const absent of ['CI_BUILD_TAG', 'CI_BUILD_MANUAL', 'CI_BUILD_TRIGGERED', 'CI_RUNNER_ID', 'CI_ENVIRONMENT_NAME'])
    t.notOk(absent in values, absent)
  const tagged = valuesOf({
    build: { ...input.build, tag: true, manual: true },
    pipeline: { id: 3, source: 'trigger' },
    user: null
  })
  t.match(tagged, {
    CI_BUILD_TAG: 'Feature/ä-x-',
    CI_COMMIT_TAG: 'Feature/ä-x-',
    CI_JOB_MANUAL: 'true',
    CI_BUILD_TRIGGERED: 'true'
  })
  t.notOk('CI_COMMIT_BRANCH' in tagged || 'GITLAB_USER_ID' in tagged)
})

t.test('the later source of a variable wins, and secrets are not public', async t => {
  const from = (source: string, ...keys: string[]) => keys.map(key => ({ key, value: source }))
  const over: Partial<VariablesInput> = {
    build: { ...input.build, environment: { name: 'prod', slug: 'prod', url: null, action: 'start' } },
    configVariables: from('config', 'A', 'B', 'C', 'CI_JOB_NAME', 'CI_ENVIRONMENT_NAME', 'GITLAB_USER_ID'),
    projectVariables: from('project', 'A', 'B', 'CI_ENVIRONMENT_SLUG'),
    triggerVariables: from('trigger', 'A')
  }
  t.match(valuesOf(over), {
    A: 'trigger',
    B: 'project',
    C: 'config',
    CI_JOB_NAME: 'config',
    GITLAB_USER_ID: '9',
    CI_ENVIRONMENT_NAME: 'prod',
    CI_ENVIRONMENT_SLUG: 'prod'
  })
  const hidden = buildVariables({ ...input, ...over }).filter(entry => !entry.public)
  t.strictSame(hidden.map(entry => entry.key).sort(), [
    'A',
    'B',
    'CI_BUILD_REPO',
    'CI_BUILD_TOKEN',
    'CI_JOB_TOKEN',
    'CI_REPOSITORY_URL'
  ])
})

t.test('slugify makes slugs, and expand replaces variables', async t => {
  t.equal(slugify('Feature/X_1'), 'feature-x-1')
  t.equal(slugify(`/${'a'.repeat(80)}/`), 'a'.repeat(62))
  t.equal(slugify('--'), '')
  const variables = [
    { key: 'X', value: '1' },
    { key: 'Y_2', value: '$X' }
  ]
  t.equal(expand(`a/$X-\${X}-%X%-$Y_2`, variables), 'a/1-1-1-$X')
  t.equal(expand(`[$NO][\${NO}][%NO%] 5$ 100% $1`, variables), '[][][] 5$ 100% $1')
})

t.test('only masked values are masked, and those of a trigger only when they equal one', t => {
  const given = {
    projectVariables: [
      { key: 'ENV', value: 'production' },
      { key: 'PASSWORD', value: 'open-sesame', masked: true as const }
    ],
    triggerVariables: [
      { key: 'WHO', value: 'somebody-else' },
      { key: 'SAME', value: 'open-sesame' }
    ]
  }
  const found = buildVariables({ ...input, ...given })
  const masked = found.filter(variable => variable.masked).map(({ key }) => key)
  t.same(masked, ['CI_BUILD_TOKEN', 'CI_JOB_TOKEN', 'CI_BUILD_REPO', 'CI_REPOSITORY_URL', 'PASSWORD', 'SAME'])
  t.end()
})

t.test('the most exact scope is the name, then the longest text around the stars', t => {
  const scopes = ['*', 'review/*', 'review/a*', 'rev*/a*', 'review/ab', '*/ab']
  const all = scopes.map(scope => ({ key: 'K', value: scope, masked: false, protected: false, scope }))
  const win = (environment: string | null, of = all) =>
    chooseVariables(of, { environment, refProtected: false }).map(({ value }) => value)
  t.same(win('review/ab'), ['review/ab'])
  t.same(win('review/ac'), ['review/a*'])
  t.same(win('review/x'), ['review/*'])
  t.same(win('revised/ab'), ['rev*/a*'])
  t.same(win('other'), ['*'])
  t.same(win(null), ['*'])
  t.same(win('review/ab', [...all].reverse()), ['review/ab'])
  t.end()
})

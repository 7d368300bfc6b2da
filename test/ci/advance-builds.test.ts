// Which builds of a pipeline start next, when they have needs, wait for a time or share a resource.
import { pipelineStatus, type StageCounts, stageToStart } from '../../src/ci/advance.js'
import { type AdvancingBuild, buildsToRearm, nextMoves } from '../../src/ci/advance-builds.js'
import type { BuildWhen } from '../../src/ci/config-types.js'
import { type BuildStatus, countBuilds, isComplete, latestBuilds } from '../../src/ci/status.js'
import t from '../helpers/tap.js'

type Build = { -readonly [Field in keyof AdvancingBuild]: AdvancingBuild[Field] }

function build(id: number, name: string, over: Partial<Build> = {}): Build {
  const usual = { status: 'created', stageIndex: 0, when: 'on_success', allowFailure: false } as const
  return { id, name, ...usual, needs: null, waits: false, ready: false, ...over }
}

function movesOf(builds: readonly Build[]) {
  const { pending, ready, skipped } = nextMoves(builds)
  const names = (list: readonly AdvancingBuild[]) => list.map(({ name }) => name).join(' ')
  return [names(pending), names(skipped), names(ready)]
}

t.test('a build with needs starts when its needs have ended', async t => {
  const after = (status: BuildStatus, over: Partial<Build> = {}) => build(1, 'a', { status, ...over })
  const later = (over: Partial<Build> = {}) => build(2, 'b', { stageIndex: 2, needs: ['a'], ...over })
  const other = build(3, 'other', { stageIndex: 1, status: 'running' })
  const cases: Record<string, [builds: Build[], pending: string, skipped: string, ready?: string]> = {
    'its need runs': [[after('running'), later()], '', ''],
    'it does not wait for other stages': [[after('success'), other, later()], 'b', ''],
    'its need failed': [[after('failed'), other, later()], '', 'b'],
    'the failure is allowed': [[after('failed', { allowFailure: true }), later()], 'b', ''],
    'its need was canceled': [[after('canceled'), later()], '', 'b'],
    'its need was skipped': [[after('skipped'), later()], '', 'b'],
    'a skipped stage is not a need': [[after('skipped'), later({ needs: null })], 'b', ''],
    'on_failure, and the need failed': [[after('failed'), later({ when: 'on_failure' })], 'b', ''],
    'on_failure, and the need did not fail': [[after('success'), later({ when: 'on_failure' })], '', 'b'],
    'always, and the need failed': [[after('failed'), later({ when: 'always' })], 'b', ''],
    'always, and the need was canceled': [[after('canceled'), later({ when: 'always' })], '', 'b'],
    manual: [[after('success'), later({ when: 'manual' })], '', 'b'],
    'no needs: it starts at once': [[after('running'), other, later({ needs: [] })], 'b', ''],
    'no needs and on_failure: never': [[after('failed'), later({ needs: [], when: 'on_failure' })], '', 'b'],
    'a need that is not in the pipeline': [[other, later({ needs: ['none'] })], 'b', ''],
    'it waits for a time': [[after('success'), later({ waits: true, when: 'delayed' })], '', '', 'b'],
    'it is already waiting': [[after('success'), later({ waits: true, ready: true })], '', ''],
    'a build waits for a need that waits': [
      [build(1, 'a', { waits: true, ready: true }), later(), build(4, 'c', { stageIndex: 2 })],
      '',
      ''
    ],
    'a chain of skips in one stage, in the wrong order': [
      [
        build(1, 'c', { needs: ['b'] }),
        build(2, 'b', { needs: ['a'] }),
        build(3, 'a', { status: 'failed' }),
        build(4, 'd', { needs: ['c'], when: 'always' })
      ],
      'd',
      'b c'
    ],
    'a stage waits for builds with needs before it': [
      [
        after('success'),
        build(2, 'b', { needs: ['a'], status: 'running', stageIndex: 1 }),
        build(3, 'c', { stageIndex: 2 })
      ],
      '',
      ''
    ]
  }
  for (const [name, [builds, pending, skipped, ready = '']] of Object.entries(cases)) {
    t.strictSame(movesOf(builds), [pending, skipped, ready], name)
  }
})

t.test('builds after a repeated one get another chance', async t => {
  const builds = [
    build(1, 'a', { status: 'pending' }),
    build(2, 'b', { needs: ['a'], status: 'skipped', stageIndex: 1 }),
    build(3, 'c', { needs: ['b'], status: 'skipped', stageIndex: 1 }),
    build(4, 'd', { needs: ['x'], status: 'skipped', stageIndex: 1 }),
    build(5, 'e', { status: 'skipped', stageIndex: 2 }),
    build(6, 'f', { needs: ['a'], status: 'success', stageIndex: 2 })
  ]
  const names = (stages: boolean) => buildsToRearm(builds, new Set(['a']), { stages }).map(({ name }) => name)
  t.strictSame(names(true), ['b', 'c', 'e'])
  t.strictSame(names(false), ['b', 'c'])
})

/** A generator with a fixed seed, so that a failure can be repeated. */
function random(seed: number) {
  let state = seed
  const next = (limit: number) => {
    state = (state * 1103515245 + 12345) % 2147483648
    return Math.floor((state / 2147483648) * limit)
  }
  return { next, pick: <T>(choices: readonly T[]) => choices[next(choices.length)] as T }
}

const stagesOf = (builds: readonly Build[]): StageCounts[] =>
  [...new Set(builds.map(({ stageIndex }) => stageIndex))].map(position => ({
    position,
    counts: countBuilds(builds.filter(({ stageIndex }) => stageIndex === position))
  }))

const WHENS: readonly BuildWhen[] = [
  'on_success',
  'on_success',
  'on_success',
  'on_failure',
  'always',
  'manual',
  'delayed'
]

/** A pipeline whose builds need only builds before them, so that there is no circle. */
function pipelineOf({ next, pick }: ReturnType<typeof random>, withNeeds: boolean): Build[] {
  const builds: Build[] = []
  for (let id = 0; id < 1 + next(9); id++) {
    const stageIndex = next(4)
    const before = builds.filter(other => other.stageIndex <= stageIndex).map(({ name }) => name)
    const needs = withNeeds && next(2) === 0 ? before.filter(() => next(3) === 0) : null
    const waits = withNeeds && next(5) === 0
    builds.push(build(id, `j${id}`, { stageIndex, needs, waits, when: pick(WHENS), allowFailure: next(3) === 0 }))
  }
  return builds
}

/** Applies the moves, as the product does with rows, and reports what must never happen. */
function step(builds: Build[], problems: string[]): void {
  const latest = latestBuilds(builds)
  const { pending, ready, skipped } = nextMoves(latest)
  for (const { id, name, needs, stageIndex } of [...pending, ...ready]) {
    const waitsFor = needs
      ? latest.filter(other => needs.includes(other.name))
      : latest.filter(other => other.stageIndex < stageIndex)
    const open = waitsFor.filter(other => !isComplete(other.status) && !skipped.some(({ id }) => id === other.id))
    if (open.length > 0) problems.push(`${name} (${id}) started before ${open[0]?.name}`)
  }
  const apply = (list: readonly AdvancingBuild[], change: (build: Build) => void) => {
    for (const { id } of list) {
      const found = builds.find(build => build.id === id)
      if (found?.status !== 'created' || found.ready) problems.push(`${id} left ${found?.status}`)
      else change(found)
    }
  }
  apply(pending, build => (build.status = 'pending'))
  apply(skipped, build => (build.status = 'skipped'))
  apply(ready, build => (build.ready = true))
  if (movesOf(latestBuilds(builds)).some(names => names !== '')) problems.push('a second pass moved something')
}

/** Makes a random event: a runner takes or ends a build, a time comes, somebody cancels, plays or repeats a build. */
function happen(builds: Build[], { next, pick }: ReturnType<typeof random>, again: { left: number }): boolean {
  const latest = latestBuilds(builds)
  const over = latest.filter(({ status }) => status === 'failed' || status === 'canceled' || status === 'success')
  if (over.length > 0 && again.left > 0 && next(5) === 0) {
    again.left--
    const repeated = pick(over)
    builds.push({ ...repeated, id: builds.length, status: 'pending', ready: false })
    for (const { id } of buildsToRearm(latestBuilds(builds), new Set([repeated.name]), { stages: true })) {
      Object.assign(builds[id] as Build, { status: 'created', ready: false })
    }
    return true
  }
  const open = latest.filter(({ status, ready }) => status === 'pending' || status === 'running' || ready)
  const moving = open.filter(({ status }) => !isComplete(status))
  if (moving.length === 0) return false
  const build = pick(moving)
  if (build.status === 'created') build.status = pick(['pending', 'canceled'] as const)
  else if (build.status === 'pending') build.status = pick(['running', 'running', 'canceled'] as const)
  else build.status = pick(['success', 'success', 'failed', 'canceled'] as const)
  return true
}

t.test('random pipelines end, and no build starts too early', async t => {
  const problems: string[] = []
  const luck = random(7)
  for (let round = 0; round < 3000; round++) {
    const builds = pipelineOf(luck, true)
    const again = { left: 3 }
    step(builds, problems)
    let moves = 0
    while (builds.some(({ id, status }) => !isComplete(status) && latestBuilds(builds).some(one => one.id === id))) {
      if (!happen(builds, luck, again) || ++moves > 200) {
        problems.push(`stuck: ${JSON.stringify(builds)}`)
        break
      }
      step(builds, problems)
    }
    const status = pipelineStatus(stagesOf(latestBuilds(builds)))
    if (!isComplete(status)) problems.push(`the end is ${status}`)
  }
  t.strictSame(problems.slice(0, 5), [])
})

t.test('without needs, the builds and the counts lead to the same result', async t => {
  const problems: string[] = []
  const luck = random(11)
  for (let round = 0; round < 2000; round++) {
    const builds = pipelineOf(luck, false)
    for (const one of builds)
      one.status = luck.pick(['created', 'created', 'pending', 'success', 'failed', 'skipped'] as const)
    const expected = builds.map(build => ({ ...build }))
    for (let start = stageToStart(stagesOf(expected)); start; start = stageToStart(stagesOf(expected))) {
      for (const one of expected.filter(b => b.stageIndex === start?.position && b.status === 'created')) {
        one.status = start.runs.includes(one.when) ? 'pending' : 'skipped'
      }
    }
    step(builds, problems)
    const statuses = (list: readonly Build[]) => list.map(({ status }) => status).join(' ')
    if (statuses(builds) !== statuses(expected)) problems.push(`${statuses(builds)} instead of ${statuses(expected)}`)
  }
  t.strictSame(problems.slice(0, 5), [])
})

// The clients of a chaos round. Each client does its part of the main job until the time of the round is over, and records
// what was acknowledged. Without an acknowledgement it tries again, or looks at the result, as a user would.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { git, tryGit } from '../scenarios/client.js'
import { remoteOf, tryAsk, type World, ZERO } from './world.js'

export interface Round {
  readonly number: number
  /** After this moment the clients start nothing new. */
  readonly until: number
}

/** The minimum number of changes for each client, also on a slow machine. */
const LEAST = 3

/** A client continues until the round is over and its share is done. A wrong answer ends the round: it may repeat forever. */
const goesOn = (world: World, { until }: Round, done: number): boolean =>
  world.wrongAnswers.length === 0 && (done < LEAST || Date.now() < until)

/** Lines that the first build prints one after another, so that processes die in the middle of its trace. */
export const LINES = 20

/** `$CI_COMMIT_SHA` distinguishes the right trace and artifact from those of another build. */
export const CI_FILE = `stages: [first, second]
good:
  stage: first
  script:
    - echo "begin $CI_COMMIT_SHA"
    - mkdir -p out
    - echo "$CI_COMMIT_SHA" > out/sha.txt
    - for i in $(seq 1 ${LINES}); do echo "line $i of $CI_COMMIT_SHA"; sleep 0.02; done
    - echo "end $CI_COMMIT_SHA"
  artifacts:
    paths: [out/]
bad:
  stage: second
  only: [/^bad/]
  script:
    - test "$(cat out/sha.txt)" = "$CI_COMMIT_SHA"
    - echo "about to fail $CI_COMMIT_SHA"
    - exit 3
after:
  stage: second
  except: [/^bad/]
  script:
    - test "$(cat out/sha.txt)" = "$CI_COMMIT_SHA"
    - echo "end $CI_COMMIT_SHA"
`

const pick = <T>(world: World, list: readonly T[]): T => list[Math.floor(world.random() * list.length)] as T

/** Creates projects. It records the names of projects whose answer was lost, because they may exist. */
export async function createProjects(world: World, { number, until }: Round, count: number): Promise<void> {
  for (let at = 0; at < count && Date.now() < until; at++) {
    const name = `project-${number}-${at}`
    const answer = await tryAsk<{ id: number }>(world, 'POST', '/projects', { name })
    if (answer?.status === 201) world.projects.push({ id: answer.json.id, name })
    else if (answer) world.wrongAnswers.push(`POST /projects ${name}: ${answer.status} ${answer.bytes}`)
    else world.doubtfulProjects.push(name)
    await sleep(world.random() * 300)
  }
}

/** Commits files through the API to one branch, while another client does the same. */
export async function commitFiles(world: World, round: Round, project: { id: number }, who: string): Promise<void> {
  const path = `/projects/${project.id}/repository/files`
  for (let at = 0, done = 0; goesOn(world, round, done); at++) {
    const file = {
      file_path: `api/${who}-${round.number}-${at}.txt`,
      content: `${who} ${round.number} ${at}`,
      branch_name: 'master',
      commit_message: world.random() < 0.7 ? `Add ${at} [ci skip]` : `Add ${at}`
    }
    const answer = await tryAsk(world, 'POST', path, file)
    if (answer?.status === 201) {
      done++
      world.files.push({ project: project.id, branch: 'master', path: file.file_path, content: file.content })
    } else if (answer && !/has changed in the meantime/.test(answer.bytes.toString())) {
      world.wrongAnswers.push(`POST ${path}: ${answer.status} ${answer.bytes}`)
    }
    await sleep(50 + world.random() * 250)
  }
}

/** Makes a clone for a pusher, with a first commit that contains the CI file. */
export async function makeClone(world: World, project: { name: string }, who: string): Promise<string> {
  const folder = join(world.folder, 'clones', `${project.name}-${who}`)
  mkdirSync(folder, { recursive: true })
  await git(folder, ['init', '--quiet', `--initial-branch=${who}`])
  await git(folder, ['remote', 'add', 'origin', remoteOf(world, project.name)])
  writeFileSync(join(folder, '.gitstead-ci.yml'), CI_FILE)
  writeFileSync(join(folder, 'file.txt'), 'begin')
  await git(folder, ['add', '.'])
  await git(folder, ['commit', '--quiet', '-m', `${who} begins [ci skip]`])
  return folder
}

/** Pushes to its own branch: commits, force pushes, tags, side branches and their deletion. */
export async function pushCommits(world: World, round: Round, clone: PushedClone): Promise<void> {
  for (let at = 0, done = 0; goesOn(world, round, done); at++) {
    await commit(world, clone, `${clone.who} ${round.number} ${at}`)
    const moves = [{ ref: `refs/heads/${clone.who}`, to: 'HEAD' }]
    const chance = world.random()
    if (chance < 0.2) moves.push({ ref: `refs/tags/${clone.who}-${round.number}-${at}`, to: 'HEAD' })
    else if (chance < 0.4) moves.push({ ref: `refs/heads/side-${clone.who}`, to: pick(world, ['HEAD', '']) })
    if (await push(world, clone, moves)) done++
    await sleep(100 + world.random() * 400)
  }
}

export interface PushedClone {
  readonly project: { id: number; name: string }
  readonly folder: string
  readonly who: string
  /** The ref values that the server is known to have. */
  readonly known: Map<string, string>
}

async function commit(world: World, { folder }: PushedClone, text: string): Promise<void> {
  writeFileSync(join(folder, 'file.txt'), `${text}\n${world.random()}\n`)
  const message = world.random() < 0.5 ? `${text} [ci skip]` : text
  // An amended commit makes the next push a forced one.
  const amend = world.random() < 0.2 ? ['--amend'] : []
  await git(folder, ['commit', '--quiet', '-a', ...amend, '-m', message])
}

/** Pushes the moves. Returns true when the server acknowledged the push. */
async function push(world: World, clone: PushedClone, moves: readonly { ref: string; to: string }[]): Promise<boolean> {
  const { folder, known, project } = clone
  const wanted: { ref: string; old: string; new: string }[] = []
  for (const { ref, to } of moves) {
    const next = to === '' ? ZERO : await git(folder, ['rev-parse', to])
    const old = known.get(ref) ?? ZERO
    if (old !== next) wanted.push({ ref, old, new: next })
  }
  const specs = wanted.map(({ ref, new: next }) => (next === ZERO ? `:${ref}` : `+${next}:${ref}`))
  const { ok, stderr } = await tryGit(folder, ['push', '--quiet', 'origin', ...specs])
  if (ok) {
    for (const move of wanted) {
      world.refs.push({ project: project.id, ...move })
      known.set(move.ref, move.new)
    }
    return true
  }
  await lookAt(clone, wanted)
  // A client whose connection breaks sends a request once more, and the first one may have been carried out.
  const isThere = wanted.every(({ ref, new: next }) => known.get(ref) === next)
  const isRepeated = isThere && /is at [0-9a-f]{40} but expected|reference already exists/.test(stderr)
  if (/rejected/.test(stderr) && !isRepeated)
    world.wrongAnswers.push(`push of ${specs.join(' ')} to ${project.name}: ${stderr}`)
  return false
}

/** Looks at the refs after a push without an answer, to see what happened to it. */
async function lookAt({ folder, known }: PushedClone, wanted: readonly { ref: string; old: string }[]): Promise<void> {
  for (let tries = 0; tries < 900; tries++) {
    const { ok, stdout } = await tryGit(folder, ['ls-remote', '--quiet', 'origin'])
    if (!ok) {
      await sleep(200)
      continue
    }
    const there = new Map(stdout.split('\n').map(line => line.split('\t').reverse() as [string, string]))
    for (const { ref } of wanted) known.set(ref, there.get(ref) ?? ZERO)
    return
  }
  throw new Error('the server did not answer within 180 s')
}

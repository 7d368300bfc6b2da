// The rounds of a chaos run: clients work, processes are killed at random times, the appliance becomes idle, checks run.
import { setTimeout as sleep } from 'node:timers/promises'
import { startAppliance } from '../scenarios/appliance.js'
import { findFaults } from './checks.js'
import {
  CI_FILE,
  commitFiles,
  createProjects,
  makeClone,
  type PushedClone,
  pushCommits,
  type Round
} from './clients.js'
import { killInCluster } from './cluster-kills.js'
import { mergeBranches } from './merges.js'
import { waitForQuiet } from './quiet.js'
import { ask, query, type World } from './world.js'

export interface RoundResult {
  readonly kills: string[]
  readonly milliseconds: number
  readonly faults: string[]
}

const ROUND_MS = 2500

export interface Stage {
  readonly clones: PushedClone[]
  readonly files: { id: number }
}

/** Creates two projects: clients push to one, and the files API writes to the other. */
export async function setStage(world: World): Promise<Stage> {
  const make = async (name: string) => {
    const { json } = await ask<{ id: number }>(world, 'POST', '/projects', { name })
    world.projects.push({ id: json.id, name })
    return { id: json.id, name }
  }
  const [pushed, files] = [await make('pushed'), await make('files')]
  const first = { file_path: '.gitstead-ci.yml', content: CI_FILE, branch_name: 'master', commit_message: 'begin' }
  const { status } = await ask(world, 'POST', `/projects/${files.id}/repository/files`, first)
  if (status !== 201) throw new Error(`the first file was answered with ${status}`)
  const clones: PushedClone[] = []
  // On branches whose name begins with "bad" the second stage fails.
  for (const [project, who] of [
    [pushed, 'ann'],
    [pushed, 'bad'],
    [files, 'cleo']
  ] as const) {
    clones.push({ project, who, folder: await makeClone(world, project, who), known: new Map() })
  }
  return { clones, files }
}

/** Runs one round. Never rejects: an error counts as a fault of the round. */
export async function playRound(world: World, stage: Stage, number: number): Promise<RoundResult> {
  const started = Date.now()
  const kills: string[] = []
  const round: Round = { number, until: started + ROUND_MS }
  let faults: string[]
  try {
    await Promise.all([
      ...stage.clones.map(clone => pushCommits(world, round, clone)),
      commitFiles(world, round, stage.files, 'first'),
      commitFiles(world, round, stage.files, 'second'),
      mergeBranches(world, round, stage.files),
      createProjects(world, round, 2),
      troubleReceiver(world, round),
      killSome(world, kills, round.until)
    ])
    await waitForQuiet(world)
    faults = await findFaults(world)
  } catch (error) {
    faults = [error instanceof Error ? (error.stack ?? error.message) : String(error), ...world.wrongAnswers]
  }
  return { kills, milliseconds: Date.now() - started, faults }
}

function killSome(world: World, kills: string[], until: number): Promise<void> {
  if (world.cluster) return killInCluster(world, world.cluster, kills)
  return world.victims === 'workers' ? killWorkers(world, kills, until) : kill(world, kills)
}

/** Kills the worker twice, each time while it runs a build. */
async function killWorkers(world: World, kills: string[], until: number): Promise<void> {
  for (let count = 0; count < 2; count++) {
    await sleep(world.random() * 400)
    // A worker that has just started has no build yet, and a killed worker is still registered.
    while (Date.now() < until + ROUND_MS && !(await runsBuild(world))) await sleep(20)
    await sleep(world.random() * 400)
    while (Date.now() < until + 2 * ROUND_MS && !killProcess(world.appliance.processes().worker)) await sleep(20)
    kills.push('worker')
  }
}

const runsBuild = async (world: World): Promise<boolean> =>
  (
    await query(
      world,
      "select 1 from builds b join job_processes w on w.id = b.process_id where b.status = 'running' and b.lease_until > now(3) limit 1"
    ).catch(() => [])
  ).length > 0

/** Kills processes. The worker dies at most twice, because a job that sees three deaths is dead by design. */
async function kill(world: World, kills: string[]): Promise<void> {
  const victims: ('server' | 'worker' | 'database' | 'up')[] = []
  for (let count = 1 + Math.floor(world.random() * 3); count > 0; count--) {
    const chance = world.random()
    victims.push(chance < 0.35 ? 'server' : chance < 0.65 ? 'worker' : chance < 0.9 ? 'database' : 'up')
  }
  let workers = 2
  for (const victim of victims) {
    await sleep(world.random() * (ROUND_MS / victims.length))
    if ((victim === 'worker' || victim === 'up') && --workers < 0) continue
    if (victim === 'up') await restart(world)
    else if (!killProcess(world.appliance.processes()[victim])) continue
    kills.push(victim)
  }
}

/** Kills a process. Returns false when it does not exist: it may still be dead from the last kill. */
function killProcess(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}

async function restart(world: World): Promise<void> {
  await world.appliance.kill()
  const { home, environment } = world
  world.appliance = await startAppliance({ home, port: Number(new URL(world.url).port), environment })
}

/** In some rounds the receiver is closed for a while, or answers with an error. */
async function troubleReceiver({ random, receiver }: World, { until }: Round): Promise<void> {
  const chance = random()
  await sleep(random() * 800)
  if (chance < 0.3) await receiver.close()
  else if (chance < 0.5) receiver.status = 500
  await sleep(Math.max(0, until - Date.now()))
  receiver.status = 200
  await receiver.open()
}

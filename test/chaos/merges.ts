// Merge requests of a chaos round: a client merges, and the check requires that each merge has all of its effects or none.
import { setTimeout as sleep } from 'node:timers/promises'
import { tryGit } from '../scenarios/client.js'
import type { Round } from './clients.js'
import { query, tryAsk, type World } from './world.js'

/** The fewest and the most merges of one round: each runs pipelines. */
const LEAST = 1
const MOST = 4

/** The answers of the server to merges, by the id of the merge request. */
const answered = new WeakMap<World, Map<number, number>>()

const answersOf = (world: World): Map<number, number> => {
  const known = answered.get(world) ?? new Map<number, number>()
  answered.set(world, known)
  return known
}

/** Makes branches with one file each, and merges them into master while other clients commit there. */
export async function mergeBranches(world: World, { number, until }: Round, project: { id: number }): Promise<void> {
  const below = `/projects/${project.id}`
  for (let at = 0, done = 0; done < MOST && (done < LEAST || Date.now() < until); at++) {
    if (world.wrongAnswers.length > 0) return
    const name = `wish-${number}-${at}`
    const file = { file_path: `${name}.txt`, content: name, branch_name: name, commit_message: `${name} [ci skip]` }
    await tryAsk(world, 'POST', `${below}/repository/branches`, { branch_name: name, ref: 'master' })
    const written = await tryAsk(world, 'POST', `${below}/repository/files`, file)
    const wish = { source_branch: name, target_branch: 'master', title: name, remove_source_branch: true }
    // Without its file, the branch has nothing to merge.
    const made =
      written?.status === 201 ? await tryAsk<{ id: number }>(world, 'POST', `${below}/merge_requests`, wish) : undefined
    if (made?.status === 201) {
      const merge = { merge_commit_message: `Merge ${name} [ci skip]` }
      const answer = await tryAsk(world, 'PUT', `${below}/merge_requests/${made.json.id}/merge`, merge)
      if (answer) answersOf(world).set(made.json.id, answer.status)
      if (answer && ![200, 405, 406].includes(answer.status)) {
        world.wrongAnswers.push(`the merge of ${name}: ${answer.status} ${answer.bytes}`)
      }
      done++
    }
    await sleep(50 + world.random() * 200)
  }
}

interface Row {
  readonly id: number
  readonly state: string
  readonly title: string
  readonly head_sha: string
  readonly merge_commit_sha: string | null
  readonly accepted: number
  readonly intents: number
}

/** Checks that the branch has the merged commits and nothing else, and that each merge was announced once. */
export async function checkMerges(world: World, repositories: ReadonlyMap<number, string>): Promise<string[]> {
  const found = await query<Row & { target_project_id: number }>(
    world,
    `select m.id, m.state, m.title, m.head_sha, m.merge_commit_sha, m.target_project_id,
       (select count(*) from activity_events e where e.target_type = 'MergeRequest' and e.target_id = m.id
          and e.action = 'accepted') as accepted,
       (select count(*) from merge_intents i where i.merge_request_id = m.id) as intents from merge_requests m`
  )
  const faults: string[] = []
  for (const { id, state, title, head_sha: head, merge_commit_sha: commit, target_project_id, ...row } of found) {
    const repository = repositories.get(target_project_id) ?? '/'
    const has = async (ref: string, ancestor: string) =>
      (await tryGit(repository, ['merge-base', '--is-ancestor', ancestor, ref])).ok
    const isMerged = state === 'merged'
    const wrong = (what: string) => faults.push(`merge request ${id} (${title}, ${state}): ${what}`)
    if ((await has('master', head)) !== isMerged) wrong(`master ${isMerged ? 'lacks' : 'has'} its commit`)
    if (isMerged && (commit === null || !(await has('master', commit)))) wrong(`its merge is ${commit}`)
    if (Number(row.accepted) !== Number(isMerged)) wrong(`${row.accepted} times accepted in the activity`)
    if (isMerged && Number(row.intents) > 0) wrong('its intent still exists')
    if (isMerged && (await tryGit(repository, ['rev-parse', '--verify', `refs/heads/${title}`])).ok) {
      wrong('its source branch still exists')
    }
    if (answersOf(world).get(id) === 200 && !isMerged) wrong('its merge was acknowledged')
  }
  return faults
}

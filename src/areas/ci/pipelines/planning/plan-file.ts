// Plans a pipeline from the text of a CI file: reads the files that it includes, and the facts that its rules need.
import { type CiFiles, readConfig } from '../../../../ci/config.js'
import type { CiConfig, CiVariable } from '../../../../ci/config-types.js'
import { printable } from '../../../../ci/config-values.js'
import {
  type FactsNeeded,
  factsNeeded,
  inputsNeeded,
  type Plan,
  type PlanContext,
  planPipeline
} from '../../../../ci/plan.js'
import {
  expandValues,
  layered,
  type RuleFacts,
  type RuleJudge,
  RulesTooLarge,
  ruleJudge,
  type Values,
  valuesOf
} from '../../../../ci/rules/evaluate.js'
import { chooseVariables } from '../../../../ci/variable-scopes.js'
import { pipelineVariables } from '../../../../ci/variables.js'
import { publicUrl } from '../../../../config.js'
import { row } from '../../../../db/connect/sql.js'
import { type Commit, readCommit } from '../../../../git/history/commits.js'
import { changedPaths } from '../../../../git/history/diffs.js'
import { mergeBase } from '../../../../git/history/merge-base.js'
import { GitFailure } from '../../../../git/process/run.js'
import { resolveCommit, ZERO } from '../../../../git/refs/refs.js'
import { visibilityName } from '../../../../lib/levels.js'
import { once } from '../../../../lib/once.js'
import { revision, version } from '../../../../version.js'
import { findProtections } from '../../../code/refs/protected-branches.queries.js'
import { projectVariables } from '../../variables/variables.js'
import { idsOfFiles, listCommitFiles, TooManyFiles } from './commit-files.js'
import { filesOf } from './include-files.js'
import { IncludeAway } from './sources.js'

export interface Planning {
  readonly repository: string
  readonly project: {
    readonly id: number
    readonly name: string
    readonly path: string
    readonly namespace_path: string
    readonly visibility_level: number
    readonly default_branch: string | null
  }
  readonly ref: string
  readonly tag: boolean
  readonly commit: Commit
  readonly beforeSha: string
  readonly source: PlanContext['source']
  readonly userId: number | null
  readonly honourSkip: boolean
  readonly triggerVariables: readonly CiVariable[]
  readonly urlsLater?: boolean
}

export interface PlannedFile {
  /** Null when the CI file has errors or its jobs are inconsistent. */
  readonly plan: Exclude<Plan, { kind: 'refused' }> | null
  readonly errors: readonly string[]
}

/** `compare_to` names a ref that does not exist. */
class WrongComparison extends Error {}

/** Plans the pipeline of a commit from the text of its CI file. Throws UrlsLater if the planning requests that. */
export async function planFile(text: string, planning: Planning): Promise<PlannedFile> {
  try {
    const sources = sourcesOf(planning)
    const { values } = sources
    const files = filesOf({ ...planning, commitId: planning.commit.id, allows: allowing(planning, sources), values })
    const { config, errors } = await readConfig(text, files)
    if (!config) return { plan: null, errors }
    const plan = planPipeline(config, await contextOf(config, planning, sources))
    return plan.kind === 'refused' ? { plan: null, errors: plan.errors } : { plan, errors: [] }
  } catch (error) {
    const isPlain = [TooManyFiles, WrongComparison, RulesTooLarge, IncludeAway].some(kind => error instanceof kind)
    if (isPlain && error instanceof Error) return { plan: null, errors: [`config ${error.message}`] }
    throw error
  }
}

/** Facts that are read once, and only when needed. */
interface Sources {
  readonly predefined: () => Promise<CiVariable[]>
  readonly stronger: () => Promise<CiVariable[]>
  readonly changed: () => Promise<string[] | null>
  readonly files: () => Promise<string[]>
  /** The values of both kinds of variables. */
  readonly values: () => Promise<Values>
}

function sourcesOf(planning: Planning): Sources {
  const predefined = once(() => predefinedOf(planning))
  const stronger = once(() => strongerOf(planning))
  return {
    predefined,
    stronger,
    values: async () => layered(valuesOf(await predefined()), valuesOf(await stronger())),
    changed: once(() => changedIn(planning)),
    files: once(() => listCommitFiles(planning.repository, planning.commit.id))
  }
}

async function contextOf(config: CiConfig, planning: Planning, sources: Sources): Promise<PlanContext> {
  const { project, ref, tag, source, commit, honourSkip } = planning
  const needed = inputsNeeded(config)
  const [predefined, stronger, facts, fileIds] = await Promise.all([
    needed.variables ? sources.predefined() : [],
    needed.variables ? sources.stronger() : [],
    factsOf(planning, sources, needed),
    idsOfFiles(planning.repository, commit.id, needed.keyFiles)
  ])
  const projectPath = `${project.namespace_path}/${project.path}`
  return {
    ref,
    tag,
    source,
    projectPath,
    commitMessage: commit.message,
    honourSkip,
    predefined,
    stronger,
    facts,
    fileIds
  }
}

async function factsOf(planning: Planning, sources: Sources, needed: FactsNeeded): Promise<RuleFacts> {
  const [changed, files] = await Promise.all([
    needed.changes ? sources.changed() : [],
    needed.exists ? sources.files() : []
  ])
  const changedSince = new Map<string, string[] | null>()
  for (const name of needed.compareTo) {
    const ref = name.includes('$') ? expandValues(name, await sources.values()) : name
    changedSince.set(name, await changedFrom(planning, { name, ref }))
  }
  return { changed, files, changedSince }
}

/**
 * Decides by `rules` which files to include, before the rest of the file is known: the variables of the file do not
 * count. All entries share one limit for their evaluation.
 */
function allowing(planning: Planning, sources: Sources): CiFiles['allows'] {
  const plain = ruleJudge({ changed: [], files: [] })
  let knowing: { readonly judge: RuleJudge; readonly since: string } | undefined
  return async rules => {
    const needed = factsNeeded(rules)
    const since = needed.compareTo.join('\n')
    const isPlain = !needed.changes && !needed.exists && since === ''
    if (!isPlain && knowing?.since !== since) {
      const facts = await factsOf(planning, sources, { ...needed, changes: true, exists: true })
      knowing = { judge: ruleJudge(facts), since }
    }
    const chosen = (isPlain || !knowing ? plain : knowing.judge).choose(rules, await sources.values())
    return chosen !== undefined && chosen.when !== 'never'
  }
}

/** The environments of jobs are not known yet. */
async function strongerOf({ project, ref, tag, triggerVariables }: Planning): Promise<CiVariable[]> {
  const known = await projectVariables(project.id)
  const refProtected =
    !tag && known.some(each => each.protected) && (await findProtections(project.id)).of(ref) !== null
  return [...chooseVariables(known, { environment: null, refProtected }), ...triggerVariables]
}

interface UserRow {
  readonly id: number
  readonly email: string
  readonly login: string
  readonly name: string
}

async function predefinedOf(planning: Planning): Promise<CiVariable[]> {
  const { project, commit, userId } = planning
  const user =
    userId === null
      ? undefined
      : await row<UserRow>('select id, email, username as login, name from users where id = ?', [userId])
  return pipelineVariables({
    ...planning,
    sha: commit.id,
    commit: {
      message: commit.message,
      author: `${commit.authorName} <${commit.authorEmail}>`,
      timestamp: commit.committedDate.toISOString()
    },
    project: {
      id: project.id,
      path: project.path,
      namespace: project.namespace_path,
      name: project.name,
      url: `${publicUrl()}/${project.namespace_path}/${project.path}`,
      visibility: visibilityName(project.visibility_level),
      defaultBranch: project.default_branch
    },
    server: { name: 'Gitstead', version, revision, url: publicUrl() },
    user: user ?? null
  })
}

/**
 * Returns the paths that a push changed. Null stands for all paths: a new branch or tag has no previous state, and
 * neither has a pipeline without a push.
 */
async function changedIn({ repository, commit, beforeSha, tag, source }: Planning): Promise<string[] | null> {
  if (source !== 'push' || tag || beforeSha === ZERO || !(await readCommit(repository, beforeSha))) return null
  return changedBetween(repository, beforeSha, commit.id)
}

async function changedBetween(repository: string, from: string, to: string): Promise<string[] | null> {
  try {
    return await changedPaths(repository, from, to)
  } catch (error) {
    // The change is too large for git to list.
    if (error instanceof GitFailure) return null
    throw error
  }
}

/** Returns the paths that differ from the common ancestor with a branch, tag or commit. Throws WrongComparison. */
async function changedFrom(
  { repository, commit }: Planning,
  { name, ref }: { readonly name: string; readonly ref: string }
): Promise<string[] | null> {
  const other = ref === '' ? null : await resolveCommit(repository, ref)
  if (!other) throw new WrongComparison(`compares with \`${printable(name)}\`, which is not a branch, tag or commit`)
  const base = await mergeBase(repository, other.id, commit.id)
  return changedBetween(repository, base ?? other.id, commit.id)
}

// Plans a pipeline from the text of a CI file: reads the files that it includes, and what its rules look at.
import { type CiFiles, readConfig } from '../../ci/config.js'
import type { CiConfig, CiVariable } from '../../ci/config-types.js'
import { inputsNeeded, type Plan, type PlanContext, planPipeline } from '../../ci/plan.js'
import { pipelineVariables } from '../../ci/variables.js'
import { publicUrl } from '../../config.js'
import { row } from '../../db/sql.js'
import { TooLarge } from '../../errors.js'
import { readBlob } from '../../git/blob.js'
import { type Commit, readCommit } from '../../git/commits.js'
import { changedPaths } from '../../git/diffs.js'
import { InvalidPath } from '../../git/path.js'
import { ZERO } from '../../git/refs.js'
import { GitFailure } from '../../git/run.js'
import { findEntry, walkTree } from '../../git/tree.js'
import { visibilityName } from '../../lib/levels.js'
import { version } from '../../version.js'
import { variablesForBuild } from '../variables/variables.js'

export const CI_FILE_LIMIT = 1_048_576
/** Not specified: patterns of `exists` and `include` look through the files of a commit, at most so many. */
const MOST_FILES = 200_000

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
}

export interface PlannedFile {
  /** Null when the CI file has errors, or its jobs do not fit together. */
  readonly plan: Exclude<Plan, { kind: 'refused' }> | null
  readonly errors: readonly string[]
}

/** A commit has more files than the patterns of a CI file look through. */
class TooManyFiles extends Error {}

/** Plans the pipeline of a commit from the text of its CI file. */
export async function planFile(text: string, planning: Planning): Promise<PlannedFile> {
  try {
    const { config, errors } = await readConfig(text, filesOf(planning.repository, planning.commit.id))
    if (!config) return { plan: null, errors }
    const plan = planPipeline(config, await contextOf(config, planning))
    return plan.kind === 'refused' ? { plan: null, errors: plan.errors } : { plan, errors: [] }
  } catch (error) {
    if (error instanceof TooManyFiles) return { plan: null, errors: [`config ${error.message}`] }
    throw error
  }
}

async function contextOf(config: CiConfig, planning: Planning): Promise<PlanContext> {
  const { project, ref, tag, source, commit, honourSkip } = planning
  const needed = inputsNeeded(config)
  const [predefined, stronger, changed, files, fileIds] = await Promise.all([
    needed.variables ? predefinedOf(planning) : [],
    needed.variables ? strongerOf(planning) : [],
    needed.changes ? changedIn(planning) : [],
    needed.exists ? listFiles(planning.repository, commit) : [],
    idsOf(planning.repository, commit.id, needed.keyFiles)
  ])
  const projectPath = `${project.namespace_path}/${project.path}`
  const { message: commitMessage } = commit
  const facts = { changed, files }
  return { ref, tag, source, projectPath, commitMessage, honourSkip, predefined, stronger, facts, fileIds }
}

async function strongerOf({ project, triggerVariables }: Planning): Promise<CiVariable[]> {
  return [...(await variablesForBuild(project.id)), ...triggerVariables]
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
    server: { name: 'Gitstead', version, revision: version, url: publicUrl() },
    user: user ?? null
  })
}

/**
 * The paths that a push changed. Null stands for all: a new branch or tag has nothing to be compared with, and neither has
 * a pipeline that no push made.
 */
async function changedIn({ repository, commit, beforeSha, tag, source }: Planning): Promise<string[] | null> {
  if (source !== 'push' || tag || beforeSha === ZERO || !(await readCommit(repository, beforeSha))) return null
  try {
    return await changedPaths(repository, beforeSha, commit.id)
  } catch (error) {
    // So much has changed that git cannot list it.
    if (error instanceof GitFailure) return null
    throw error
  }
}

/** The files of a commit, for what a CI file includes. */
export function filesOf(repository: string, commitId: string): CiFiles {
  return {
    read: path => readText(repository, commitId, path),
    list: async () => {
      const commit = await readCommit(repository, commitId)
      return commit ? listFiles(repository, commit) : []
    }
  }
}

/** The text of a file of a commit; null when there is none, or when it is larger than a CI file may be. */
async function readText(repository: string, commitId: string, path: string): Promise<string | null> {
  try {
    const entry = await findEntry(repository, commitId, path)
    const content = entry?.type === 'blob' ? await readBlob(repository, entry.id, CI_FILE_LIMIT) : null
    return content?.toString('utf8') ?? null
  } catch (error) {
    // Other errors, such as too many processes, are temporary: the job is retried.
    if (error instanceof TooLarge || error instanceof InvalidPath) return null
    throw error
  }
}

/** The ids of the contents of files; a path that is no file has none. */
async function idsOf(repository: string, commitId: string, paths: readonly string[]): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  for (const path of paths) {
    const entry = await findEntry(repository, commitId, path).catch(error => {
      if (error instanceof InvalidPath) return null
      throw error
    })
    if (entry?.type === 'blob') ids.set(path, entry.id)
  }
  return ids
}

async function listFiles(repository: string, { treeId }: Commit): Promise<string[]> {
  const paths: string[] = []
  await walkTree(repository, { id: treeId, folder: '', recursive: true }, entry => {
    if (entry.type !== 'tree') paths.push(entry.path)
    return paths.length <= MOST_FILES
  })
  if (paths.length <= MOST_FILES) return paths
  throw new TooManyFiles(`looks for files by patterns in a repository of more than ${MOST_FILES} files`)
}

// A page of the branches or tags of a project, for people: the API lists all of them at once.
import { distances } from '../../../git/history/ahead-behind.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import { branchReader, listBranches } from '../refs/branches.js'
import type { BranchRow } from '../refs/branches.view.js'
import { type NamedRef, namedRefs } from '../refs/ref-names.js'
import { listTags, readTags } from '../refs/tags/tags.js'
import type { TagRow } from '../refs/tags/tags.view.js'

export interface RefPage<T> {
  readonly items: readonly T[]
  readonly total: number
  readonly page: number
  readonly perPage: number
}

export interface ShownBranch extends BranchRow {
  readonly isDefault: boolean
  /** How far it is from the default branch; null when their histories only meet after very many commits. */
  readonly distance: { readonly ahead: number; readonly behind: number } | null
}

interface Question {
  readonly search?: string
  readonly page?: number
}

const PER_PAGE = 20

function pageOf(refs: readonly NamedRef[], { search = '', page = 1 }: Question): RefPage<NamedRef> {
  const wanted = search.toLowerCase()
  const found = search === '' ? refs : refs.filter(({ name }) => name.toLowerCase().includes(wanted))
  return { items: found.slice((page - 1) * PER_PAGE, page * PER_PAGE), total: found.length, page, perPage: PER_PAGE }
}

/** Names for a short menu of a long list. */
export interface SomeRefs {
  readonly branches: readonly string[]
  readonly tags: readonly string[]
}

const SOME = 15

/** Returns the first branches by name, the default branch before them, and the last tags. Empty lists stand for what the caller may not see. */
export async function someRefs(project: ProjectRow, see: { readonly branches: boolean }): Promise<SomeRefs> {
  const [branches, tags] = await Promise.all([
    see.branches ? namedRefs(project, 'refs/heads/') : [],
    namedRefs(project, 'refs/tags/')
  ])
  const names = branches.map(({ name }) => name)
  const first =
    project.default_branch !== null && names.includes(project.default_branch) ? [project.default_branch] : []
  return {
    branches: [...first, ...names.filter(name => name !== project.default_branch)].slice(0, SOME),
    tags: tags
      .slice(-SOME)
      .reverse()
      .map(({ name }) => name)
  }
}

/** Returns the names of branches and tags that point to a commit. */
export async function refsAt(project: ProjectRow, id: string, see: { readonly branches: boolean }): Promise<SomeRefs> {
  const [branches, tags] = await Promise.all([
    see.branches ? namedRefs(project, 'refs/heads/') : [],
    namedRefs(project, 'refs/tags/')
  ])
  const names = (refs: readonly NamedRef[]) =>
    refs
      .filter(({ target }) => target === id)
      .slice(0, SOME)
      .map(({ name }) => name)
  return { branches: names(branches), tags: names(tags) }
}

/** Returns a page of the branches by name, the default branch first. */
export async function pageOfBranches(project: ProjectRow, question: Question): Promise<RefPage<ShownBranch>> {
  const list = await listBranches(project)
  const tip = list.branches.find(({ name }) => name === project.default_branch)
  const page = pageOf([...(tip ? [tip] : []), ...list.branches.filter(branch => branch !== tip)], question)
  const [rows, found] = await Promise.all([
    branchReader(project, list).then(read => read(page.items)),
    tip &&
      distances(
        repositoryPath(project),
        tip.id,
        page.items.map(({ id }) => id)
      )
  ])
  const items = rows.map(row => ({
    ...row,
    isDefault: row.name === project.default_branch,
    distance: found?.get(row.commit.id) ?? null
  }))
  return { ...page, items }
}

/** Returns a page of the tags by name in descending order, with their release notes. */
export async function pageOfTags(project: ProjectRow, question: Question): Promise<RefPage<TagRow>> {
  const page = pageOf((await listTags(project)).tags, question)
  return { ...page, items: await readTags(project, page.items) }
}

// Where the pages of a branch, tag or commit are, and what leads from one to another.

import type { FastifyRequest } from 'fastify'
import { may } from '../../../access/authorize.js'
import { type SomeRefs, someRefs } from '../../../areas/code/browsing/branch-pages.js'
import type { RefPath } from '../../../areas/code/browsing/ref-paths.js'
import { inPath } from '../components.js'
import { foldersOf } from '../file-links.js'
import { projectPath } from '../place.js'
import { isFullId } from './fixed.js'

/** A page below `/NAMESPACE/PROJECT/PAGE/REF/PATH`. */
type CodePage = 'tree' | 'blob' | 'raw' | 'blame' | 'commits' | 'edit' | 'new' | 'delete'

export interface CodePlace {
  readonly base: string
  readonly found: Pick<RefPath, 'kind' | 'ref' | 'commitId' | 'path'>
  /** What the visitor calls the commit: the name of a branch or tag, or the first digits of its id. */
  readonly refName: string
  /** The folders of the path and its last part, each with its page; null for folders that are left out. */
  readonly crumbs: readonly (readonly [name: string, href: string | null])[]
  /** Returns another page of the same path, or of the given one. */
  readonly at: (page: CodePage, path?: string) => string
  /** Returns the same page at the commit itself, which stays the same when the branch moves. */
  readonly fixed: (page: CodePage) => string
  /** True when the address has the whole id of the commit, so that the page stays the same. */
  readonly isFixed: boolean
  readonly may: { readonly commits: boolean; readonly write: boolean }
}

/** Returns the path of a page of a branch, tag or commit. */
export const codePath = (base: string, page: CodePage, ref: string, path = ''): string =>
  `${base}/${page}/${inPath(ref)}${path === '' ? '' : `/${inPath(path)}`}`

/** Returns the place of a path in a commit. */
export function codePlace(
  { project, actor }: Pick<FastifyRequest, 'project' | 'actor'>,
  found: CodePlace['found']
): CodePlace {
  const base = projectPath(project)
  const { kind, ref, commitId, path } = found
  const at = (page: CodePage, other = path) => codePath(base, page, ref, other)
  return {
    base,
    found,
    refName: kind === 'commit' ? ref.slice(0, 8) : ref,
    crumbs: foldersOf(path).map(([name, to]) => [name, to === null ? null : at('tree', to)] as const),
    at,
    isFixed: kind === 'commit' && isFullId(ref),
    fixed: page => codePath(base, page, commitId, path),
    may: {
      commits: may(actor, 'commit.read', project),
      // Only a branch can get a commit.
      write: kind === 'branch' && may(actor, 'repository.write', project)
    }
  }
}

/** Returns the end of the address: REF/PATH. */
export const restOf = ({ params }: FastifyRequest): string => (params as { '*': string })['*']

/** Returns what the menu of branches and tags offers; nothing on pages that a commit fixes, because branches come and go. */
export const otherRefs = ({ project, actor }: FastifyRequest, { isFixed }: CodePlace): Promise<SomeRefs> | null =>
  isFixed ? null : someRefs(project, { branches: may(actor, 'branch.read', project) })

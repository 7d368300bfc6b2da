// What the records of a project refer to, found while they are read: people, labels, milestones, files and commits.
import { BadProjectArchive, MOST } from '../../upkeep/project-archives/format.js'
import { SINGLE } from '../../upkeep/project-archives/people.js'
import type { Draft, Person, SourceFile } from '../sources/source.js'

/** Lists of what people have added to a record. */
export const LISTS = ['award_emoji', 'subscriptions', 'timelogs'] as const

const MOST_PEOPLE = 1_000_000
const MOST_FILES = 100_000
const MOST_COMMITS = 5_000_000

export interface Survey {
  /** As the source writes them. */
  readonly people: Set<string>
  /** By URL. */
  readonly files: Map<string, SourceFile>
  readonly labels: Set<string>
  readonly milestones: Set<number>
  readonly issues: Set<number>
  readonly mergeRequests: Set<number>
  readonly snippets: Set<number>
  /** Commits of merge requests. */
  readonly commits: Set<string>
  readonly counts: Map<string, number>
}

export const newSurvey = (): Survey => ({
  people: new Set(),
  files: new Map(),
  labels: new Set(),
  milestones: new Set(),
  issues: new Set(),
  mergeRequests: new Set(),
  snippets: new Set(),
  commits: new Set(),
  counts: new Map()
})

/** Notes what a draft refers to. Throws BadProjectArchive when the project has more of a kind than an archive may have. */
export function survey(found: Survey, draft: Draft): void {
  const count = (found.counts.get(draft.kind) ?? 0) + 1
  if (count > MOST[draft.kind])
    throw new BadProjectArchive(`the project has more than ${MOST[draft.kind]} records of the kind ${draft.kind}`)
  found.counts.set(draft.kind, count)
  for (const person of peopleIn(draft)) if (person !== null) found.people.add(person)
  if (draft.kind === 'label' && typeof draft.title === 'string') found.labels.add(labelTitle(draft.title))
  const numbers = NUMBERS[draft.kind]
  const number = draft.iid ?? draft.number
  if (numbers && typeof number === 'number') found[numbers].add(number)
  if (draft.kind === 'merge_request') for (const id of commitsOf(draft)) found.commits.add(id)
  if (found.people.size > MOST_PEOPLE || found.commits.size > MOST_COMMITS)
    throw new BadProjectArchive('the project has too many people or commits')
}

const NUMBERS: { readonly [kind: string]: 'milestones' | 'issues' | 'mergeRequests' | 'snippets' } = {
  milestone: 'milestones',
  issue: 'issues',
  merge_request: 'mergeRequests',
  snippet: 'snippets'
}

export function noteFile({ files }: Survey, file: SourceFile): void {
  if (!files.has(file.url) && files.size < MOST_FILES) files.set(file.url, file)
}

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const isText = (value: unknown): value is string => typeof value === 'string'

function* peopleIn(draft: Draft): Generator<Person> {
  for (const name of SINGLE) if (isText(draft[name])) yield draft[name]
  for (const name of LISTS) {
    for (const each of asList(draft[name])) {
      const { user } = each as { readonly user?: unknown }
      if (isText(user)) yield user
    }
  }
  for (const each of asList(draft.participants)) if (isText(each)) yield each
}

function* commitsOf(draft: Draft): Generator<string> {
  const versions = asList(draft.versions) as readonly { readonly [name: string]: unknown }[]
  const ids = [
    draft.head_sha,
    draft.merge_commit_sha,
    ...versions.flatMap(each => [each.head_sha, each.base_sha, each.start_sha])
  ]
  for (const id of ids) if (isText(id) && /^[0-9a-f]{40}$/.test(id)) yield id
}

/** Labels are lists with commas in the API. */
export const labelTitle = (title: string): string =>
  title
    .replace(/[,\p{Cc}]+ ?/gu, ' ')
    .trim()
    .slice(0, 255)

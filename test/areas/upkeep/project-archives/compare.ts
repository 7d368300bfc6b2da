// What the API returns for a project, without values that differ in each project: ids, its place, the URL of the appliance.

/** Routes below /projects/:id that must return the same. */
const PATHS = [
  '',
  '/labels',
  '/milestones',
  '/issues?sort=asc',
  '/issues?labels=of-group',
  '/issues?state=opened',
  '/merge_requests?state=all&sort=asc',
  '/snippets',
  '/boards',
  '/members',
  '/pipelines',
  '/builds',
  '/repository/branches',
  '/repository/tags',
  '/repository/tree',
  '/repository/commits',
  '/repository/commits/master/comments',
  '/repository/commits/master/statuses',
  '/repository/contributors',
  '/variables',
  '/environments',
  '/deployments'
]
/** Routes below each record of a list. */
const BELOW: { readonly [list: string]: readonly string[] } = {
  issues: ['', '/notes', '/award_emoji', '/time_stats'],
  merge_requests: ['', '/notes', '/commits', '/changes', '/versions', '/award_emoji', '/closes_issues'],
  snippets: ['', '/notes', '/raw'],
  milestones: ['/issues', '/merge_requests'],
  pipelines: [''],
  builds: ['/trace', '/artifacts']
}
/** Ids of this appliance, and values that name the place of a project. */
const OWN =
  /^(id|.*_id|runners_token|path|name_with_namespace|last_activity_at|namespace|permissions|artifacts_file|runner|project)$/

export interface Compared {
  /** Requests a path below the project, such as `/issues`. */
  readonly ask: (path: string) => Promise<{ readonly status: number; readonly total: unknown; readonly body: unknown }>
  /** NAMESPACE/PROJECT. */
  readonly path: string
  /** The URL of the appliance. */
  readonly base: string
}

/** Returns all responses by their paths, in which the first record of a list is 0. */
export async function answersOf({ ask, path, base }: Compared): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {}
  // SSH uses another port.
  const { hostname } = new URL(base)
  const normal = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(normal)
    if (typeof value === 'string')
      return value
        .replaceAll(path, 'PATH')
        .replaceAll(base, 'BASE')
        .replace(new RegExp(`(ssh://)?git@${hostname}(:\\d+)?[:/]`), 'SSH:')
        .replace(/projects\/\d+/g, 'projects/N')
        .replace(/(builds|pipelines|snippets|note_|milestones)\/?\d+/g, '$1N')
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => name === 'commit_id' || !OWN.test(name))
        // Accounts belong to the appliance.
        .filter(([name]) => name !== 'created_at' || !('username' in value))
        .map(([name, each]) => [name, normal(each)])
    )
  }
  for (const each of PATHS) answers[each] = normal(await ask(each))
  for (const [list, below] of Object.entries(BELOW)) {
    const { body } = await ask(list === 'merge_requests' ? `/${list}?state=all` : `/${list}`)
    // Lists of pipelines and snippets start with the newest, by their ids.
    for (const [at, record] of (body as { id: number }[]).entries())
      for (const each of below) answers[`${list} ${at}${each}`] = normal(await ask(`/${list}/${record.id}${each}`))
  }
  return answers
}

// What a fixture of the upgrade tests knows about the home of an earlier version.

/** The address of the appliance in records. Nothing answers there. */
export const ADDRESS = {
  GITSTEAD_URL: 'http://git.example.org',
  GITSTEAD_SSH_ENABLED: 'false',
  GITSTEAD_SSH_PUBLIC_PORT: '2222'
} as const

/** The parts of a home that a fixture keeps. The database is a dump. */
export const FILES_OF_HOME = ['secrets.json', 'repositories', 'artifacts', 'traces'] as const

/** What administrators read. A version that does not have a path leaves it out. */
export const READS = [
  '/users',
  '/users/2',
  '/users/2/keys',
  '/users/2/emails',
  '/projects?per_page=100',
  '/projects/1',
  '/projects/2',
  '/projects/1/repository/branches',
  '/projects/1/repository/tags',
  '/projects/1/repository/tree',
  '/projects/1/repository/commits?ref_name=topic',
  '/projects/1/builds',
  '/projects/1/pipelines',
  '/projects/1/members',
  '/projects/1/labels',
  '/projects/1/milestones',
  '/projects/1/issues',
  '/projects/1/issues/1/notes',
  '/projects/1/issues/1/award_emoji',
  '/projects/1/merge_requests',
  '/projects/1/merge_requests/1/notes',
  '/projects/1/snippets',
  '/projects/1/variables',
  '/projects/1/triggers',
  '/projects/1/deploy_keys',
  '/projects/1/hooks',
  '/projects/1/environments',
  '/groups',
  '/groups/team',
  '/groups/team/members',
  '/hooks',
  '/broadcast_messages',
  '/application/settings',
  '/applications',
  '/namespaces'
] as const

export interface Facts {
  /** As `gitstead --version` prints it. */
  readonly version: string
  /** Of all users. */
  readonly password: string
  readonly tokens: {
    readonly root: string
    readonly ada: string
    /** A personal access token of ada; null in versions without them. */
    readonly personal: string | null
    readonly trigger: string | null
  }
  /** The refs of root/demo, as `git ls-remote` prints them. */
  readonly refs: readonly string[]
  /** By path. */
  readonly answers: { readonly [path: string]: unknown }
  /** By the number of the build. */
  readonly traces: { readonly [build: string]: string }
}

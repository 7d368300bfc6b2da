// The inputs of payloads, and the objects that several payloads share. Callers fill the inputs from their rows; the
// builders write out every field of a payload.

export interface PayloadProject {
  readonly id: number
  readonly name: string
  /** The path with its namespace, such as `group/project`. */
  readonly pathWithNamespace: string
  /** The name of the namespace, not its path. */
  readonly namespace: string
  readonly description: string | null
  readonly webUrl: string
  readonly avatarUrl: string | null
  readonly gitSshUrl: string
  readonly gitHttpUrl: string
  readonly visibilityLevel: number
  readonly defaultBranch: string | null
}

export interface PayloadUser {
  readonly id: number
  readonly name: string
  readonly username: string
  readonly email: string
  readonly avatarUrl: string | null
}

export interface PayloadCommit {
  readonly id: string
  readonly message: string
  readonly timestamp: Date
  readonly url: string
  readonly author: { readonly name: string; readonly email: string }
}

/** A commit of a push, with the paths that it changes. */
export interface PayloadPushCommit extends PayloadCommit {
  readonly added: readonly string[]
  readonly modified: readonly string[]
  readonly removed: readonly string[]
  /** The fields above that are incomplete. */
  readonly cut?: readonly ('message' | 'added' | 'modified' | 'removed')[]
}

/** An ISO 8601 date-time in UTC. */
export function dateTime(moment: Date): string
export function dateTime(moment: Date | null): string | null
export function dateTime(moment: Date | null): string | null {
  return moment?.toISOString() ?? null
}

/** The project in the form of pipeline payloads, which has no id. */
export function plainProject(project: PayloadProject) {
  return {
    name: project.name,
    description: project.description,
    web_url: project.webUrl,
    avatar_url: project.avatarUrl,
    git_ssh_url: project.gitSshUrl,
    git_http_url: project.gitHttpUrl,
    namespace: project.namespace,
    visibility_level: project.visibilityLevel,
    path_with_namespace: project.pathWithNamespace,
    default_branch: project.defaultBranch
  }
}

/** The project in the form of all other payloads, which also has the older names of its URLs. */
export function fullProject(project: PayloadProject) {
  return {
    ...plainProject(project),
    homepage: project.webUrl,
    url: project.gitSshUrl,
    ssh_url: project.gitSshUrl,
    http_url: project.gitHttpUrl
  }
}

/** The project in the oldest and shortest form, for the payloads of pushes and builds. */
export function repository(project: PayloadProject) {
  return {
    name: project.name,
    url: project.gitSshUrl,
    description: project.description,
    homepage: project.webUrl,
    git_http_url: project.gitHttpUrl,
    git_ssh_url: project.gitSshUrl,
    visibility_level: project.visibilityLevel
  }
}

export function user(person: PayloadUser) {
  return { name: person.name, username: person.username, avatar_url: person.avatarUrl }
}

export function commit(entry: PayloadCommit) {
  return {
    id: entry.id,
    message: entry.message,
    timestamp: dateTime(entry.timestamp),
    url: entry.url,
    author: { name: entry.author.name, email: entry.author.email }
  }
}

// What payloads are made from, and the objects that several of them share. Callers fill the inputs from their rows;
// every field of a payload is written out in the builders.

export interface PayloadProject {
  id: number
  name: string
  /** Such as `group/project`. */
  pathWithNamespace: string
  /** The name of the namespace, not its path. */
  namespace: string
  description: string | null
  webUrl: string
  avatarUrl: string | null
  gitSshUrl: string
  gitHttpUrl: string
  visibilityLevel: number
  defaultBranch: string | null
}

export interface PayloadUser {
  id: number
  name: string
  username: string
  email: string
  avatarUrl: string | null
}

export interface PayloadCommit {
  id: string
  message: string
  timestamp: Date
  url: string
  author: { name: string; email: string }
}

/** A commit of a push, with the paths that it touches. */
export interface PayloadPushCommit extends PayloadCommit {
  added: string[]
  modified: string[]
  removed: string[]
}

/** An ISO 8601 date-time in UTC. */
export function dateTime(moment: Date): string
export function dateTime(moment: Date | null): string | null
export function dateTime(moment: Date | null): string | null {
  return moment?.toISOString() ?? null
}

/** The project as pipelines have it. Its id is not inside. */
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

/** The project as all others have it, with the names that its URLs had before. */
export function fullProject(project: PayloadProject) {
  return {
    ...plainProject(project),
    homepage: project.webUrl,
    url: project.gitSshUrl,
    ssh_url: project.gitSshUrl,
    http_url: project.gitHttpUrl
  }
}

/** The short form of a project that is older than the others, as pushes and builds have it. */
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

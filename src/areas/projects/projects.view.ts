// The record "Project", and the short one that lists give with `simple` and to nobody in particular.
import { Type } from 'typebox'
import type { Actor } from '../../access/actor.js'
import { levelIn } from '../../access/authorize.js'
import { publicUrl } from '../../config.js'
import { MASTER, PUBLIC } from '../../lib/levels.js'
import { DateTime, Nullable } from '../../lib/schema.js'
import { decrypt } from '../../secrets.js'
import { projectUrls } from './project-urls.js'
import type { ProjectRow } from './projects.queries.js'

const simple = {
  id: Type.Integer(),
  http_url_to_repo: Type.String(),
  web_url: Type.String(),
  name: Type.String(),
  name_with_namespace: Type.String(),
  path: Type.String(),
  path_with_namespace: Type.String()
}

const Owner = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  username: Type.String(),
  state: Type.String(),
  avatar_url: Nullable(Type.String()),
  web_url: Type.String(),
  created_at: DateTime
})

const NamespaceRecord = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  path: Type.String(),
  kind: Type.String(),
  owner_id: Nullable(Type.Integer()),
  created_at: DateTime,
  updated_at: DateTime,
  description: Type.String(),
  avatar: Type.Object({ url: Nullable(Type.String()) }),
  share_with_group_lock: Type.Boolean(),
  visibility_level: Type.Integer()
})

const Access = Nullable(Type.Object({ access_level: Type.Integer(), notification_level: Type.Integer() }))

const detail = {
  description: Nullable(Type.String()),
  default_branch: Nullable(Type.String()),
  public: Type.Boolean(),
  visibility_level: Type.Integer(),
  ssh_url_to_repo: Type.String(),
  tag_list: Type.Array(Type.String()),
  namespace: NamespaceRecord,
  archived: Type.Boolean(),
  issues_enabled: Type.Boolean(),
  merge_requests_enabled: Type.Boolean(),
  builds_enabled: Type.Boolean(),
  wiki_enabled: Type.Boolean(),
  snippets_enabled: Type.Boolean(),
  container_registry_enabled: Type.Boolean(),
  lfs_enabled: Type.Boolean(),
  created_at: DateTime,
  last_activity_at: DateTime,
  shared_runners_enabled: Type.Boolean(),
  creator_id: Nullable(Type.Integer()),
  avatar_url: Nullable(Type.String()),
  star_count: Type.Integer(),
  forks_count: Type.Integer(),
  public_builds: Type.Boolean(),
  request_access_enabled: Type.Boolean(),
  shared_with_groups: Type.Array(
    Type.Object({ group_id: Type.Integer(), group_name: Type.String(), group_access_level: Type.Integer() })
  ),
  only_allow_merge_if_build_succeeds: Type.Boolean(),
  only_allow_merge_if_all_discussions_are_resolved: Type.Boolean()
}

const sometimes = {
  owner: Type.Optional(Owner),
  open_issues_count: Type.Optional(Type.Integer()),
  runners_token: Type.Optional(Type.String()),
  permissions: Type.Optional(Type.Object({ project_access: Access, group_access: Access }))
}

/** Optional throughout but for the short record: what is shown depends on who asks. */
export const Project = Type.Object({
  ...simple,
  ...Object.fromEntries(Object.entries(detail).map(([name, schema]) => [name, Type.Optional(schema)])),
  ...sometimes
})

export const viewProjectSimple = (project: ProjectRow) => {
  const path = `${project.namespace_path}/${project.path}`
  const { web, http } = projectUrls(path)
  return {
    id: project.id,
    http_url_to_repo: http,
    web_url: web,
    name: project.name,
    name_with_namespace: `${project.namespace_name} / ${project.name}`,
    path: project.path,
    path_with_namespace: path
  }
}

/**
 * The full record as `actor` sees it; nobody in particular sees the short one. One literal, where undefined is not
 * shown: put together from parts by spreading it took 43 us instead of 5, half the time of a list of 20.
 */
export function viewProject(project: ProjectRow, actor: Actor) {
  if (!actor.user) return viewProjectSimple(project)
  const path = `${project.namespace_path}/${project.path}`
  const { web, http, ssh } = projectUrls(path)
  return {
    id: project.id,
    http_url_to_repo: http,
    web_url: web,
    name: project.name,
    name_with_namespace: `${project.namespace_name} / ${project.name}`,
    path: project.path,
    path_with_namespace: path,
    description: project.description,
    default_branch: project.default_branch,
    public: project.visibility_level === PUBLIC,
    visibility_level: project.visibility_level,
    ssh_url_to_repo: ssh,
    tag_list: JSON.parse(project.tag_list) as string[],
    namespace: viewNamespace(project),
    archived: project.archived === 1,
    issues_enabled: project.issues_enabled === 1,
    merge_requests_enabled: project.merge_requests_enabled === 1,
    builds_enabled: project.builds_enabled === 1,
    wiki_enabled: project.wiki_enabled === 1,
    snippets_enabled: project.snippets_enabled === 1,
    container_registry_enabled: project.container_registry_enabled === 1,
    lfs_enabled: project.lfs_enabled === 1,
    created_at: project.created_at,
    last_activity_at: project.last_activity_at,
    shared_runners_enabled: project.shared_runners_enabled === 1,
    creator_id: project.creator_id,
    avatar_url: null,
    star_count: project.star_count,
    forks_count: project.forks_count,
    public_builds: project.public_builds === 1,
    request_access_enabled: project.request_access_enabled === 1,
    shared_with_groups: [],
    only_allow_merge_if_build_succeeds: project.only_allow_merge_if_build_succeeds === 1,
    only_allow_merge_if_all_discussions_are_resolved: project.only_allow_merge_if_all_discussions_are_resolved === 1,
    owner: project.namespace_kind === 'user' && project.owner_name !== null ? viewOwner(project) : undefined,
    open_issues_count: project.issues_enabled ? project.open_issues_count : undefined,
    runners_token: levelIn(project, actor) >= MASTER ? decrypt(project.runners_token_encrypted) : undefined,
    permissions: {
      project_access: viewAccess(project.project_access_level, project.project_notification_level),
      group_access: viewAccess(project.group_access_level, project.group_notification_level)
    }
  }
}

/** The view for a list: the short record where the client asks for it. */
export const viewFor = (actor: Actor, simple?: boolean) => (project: ProjectRow) =>
  simple ? viewProjectSimple(project) : viewProject(project, actor)

const viewNamespace = (project: ProjectRow) => ({
  id: project.namespace_id,
  name: project.namespace_name,
  path: project.namespace_path,
  kind: project.namespace_kind,
  owner_id: project.namespace_owner_id,
  created_at: project.namespace_created_at,
  updated_at: project.namespace_updated_at,
  description: project.namespace_description,
  avatar: { url: project.namespace_avatar },
  share_with_group_lock: project.namespace_share_with_group_lock === 1,
  visibility_level: project.namespace_visibility_level
})

const viewOwner = (project: ProjectRow) => ({
  id: project.namespace_owner_id ?? 0,
  name: project.owner_name ?? '',
  username: project.owner_username ?? '',
  state: project.owner_state ?? '',
  avatar_url: null,
  web_url: `${publicUrl()}/${project.owner_username}`,
  created_at: project.owner_created_at ?? project.created_at
})

const viewAccess = (level: number | null, notification: number | null) =>
  level === null ? null : { access_level: level, notification_level: notification ?? 3 }

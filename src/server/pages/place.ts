// The menu of a project, group or user, which stands above each of its pages.
import type { FastifyRequest } from 'fastify'
import type { Actor } from '../../access/actor.js'
import { levelInGroup, may } from '../../access/authorize.js'
import type { GroupRow } from '../../areas/people/groups/groups.queries.js'
import type { ProjectRow } from '../../areas/projects/projects/projects.queries.js'
import { OWNER } from '../../lib/levels.js'
import { inPath, path } from './components.js'

export interface Place {
  /** The links that lead to it, from the outermost. */
  readonly trail: readonly (readonly [text: string, href: string])[]
  readonly menu: readonly MenuItem[]
  /** NAMESPACE/PROJECT. */
  readonly project?: string
  /** What is special about the whole place, such as that a project is archived. */
  readonly notice?: string | undefined
}

interface MenuItem {
  readonly text: string
  readonly href: string
  readonly current: boolean
}

export const projectPath = ({ namespace_path, path: name }: Pick<ProjectRow, 'namespace_path' | 'path'>): string =>
  path(namespace_path, name)

/** Returns the place of a request: the project or the group that its path names. */
export function placeOf({ project, group, actor, url }: FastifyRequest): Place | undefined {
  const [here = ''] = url.split('?', 1)
  if (project) return placeOfProject(project, actor, here)
  return group ? placeOfGroup(group, actor, here) : undefined
}

/** The parts of a project: each item has the segments after the path of the project that make it the current one. */
function placeOfProject(project: ProjectRow, actor: Actor, here: string): Place {
  const base = projectPath(project)
  const branch = inPath(project.default_branch ?? 'master')
  const items: [text: string, rest: string, visible: boolean, segments: readonly string[]][] = [
    ['Project', '', true, ['', 'activity']],
    ['Files', `/tree/${branch}`, may(actor, 'file.read', project), ['tree', 'blob', 'blame', 'edit', 'new', 'search']],
    ['Commits', `/commits/${branch}`, may(actor, 'commit.read', project), ['commits', 'commit', 'compare']],
    ['Branches', '/branches', may(actor, 'branch.read', project), ['branches']],
    ['Tags', '/tags', may(actor, 'repository.read', project), ['tags', 'releases']],
    ['Issues', '/issues', may(actor, 'issue.list', project), ['issues']],
    ['Boards', '/boards', may(actor, 'board.read', project), ['boards']],
    ['Merge requests', '/merge_requests', may(actor, 'merge_request.read', project), ['merge_requests']],
    ['Milestones', '/milestones', may(actor, 'milestone.read', project), ['milestones', 'labels']],
    ['Pipelines', '/pipelines', may(actor, 'pipeline.read', project), ['pipelines', 'builds']],
    ['Environments', '/environments', may(actor, 'environment.read', project), ['environments']],
    ['Snippets', '/snippets', may(actor, 'snippet.list', project), ['snippets']],
    ['Members', '/project_members', may(actor, 'member.read', project), ['project_members']],
    ['Notifications', '/notification_setting', actor.user !== null, ['notification_setting']],
    ['Settings', '/settings', may(actor, 'project.update', project), ['settings']]
  ]
  const [segment = ''] = here.slice(base.length + 1).split('/', 1)
  return {
    project: `${project.namespace_path}/${project.path}`,
    trail: [
      [
        project.namespace_name,
        project.namespace_kind === 'group' ? path('groups', project.namespace_path) : path(project.namespace_path)
      ],
      [project.name, base]
    ],
    menu: items
      .filter(([, , visible]) => visible)
      .map(([text, rest, , segments]) => ({ text, href: base + rest, current: segments.includes(segment) })),
    notice: project.archived ? 'This project is archived: it can be read, and nothing in it changes.' : undefined
  }
}

function placeOfGroup(group: GroupRow, actor: Actor, here: string): Place {
  const base = path('groups', group.path)
  const items = [
    ['Group', ''],
    ['Activity', '/activity'],
    ['Issues', '/issues'],
    ['Members', '/group_members'],
    ...(actor.user ? [['Notifications', '/notification_setting'] as const] : []),
    ...(levelInGroup(group, actor) >= OWNER ? [['Settings', '/settings'] as const] : [])
  ] as const
  return {
    trail: [[group.name, base]],
    menu: items.map(([text, rest]) => ({ text, href: base + rest, current: here === base + rest }))
  }
}
